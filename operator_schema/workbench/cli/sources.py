"""Which tools does a target have: a module, a file of definitions or an MCP server?"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, Final, cast

from ...immutable import Value
from ...message_text import clip, escape, show_error
from ...tools import Tool, place_of_tool, tool_of_document
from ..compare.snapshot import SnapshotError, read_snapshot, snapshot_of
from .arguments import MCP, REGISTRY, is_server, is_url, programs_named
from .lookup import find_tools
from .module_loading import WrongUse
from .text_files import json_in, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..compare.snapshot import Snapshot
    from ..tool_definitions import Described

_SECONDS: Final = 60
_MOST_SHOWN: Final = 300


def snapshot_at(target: str, *, show_traceback: bool) -> Snapshot:
    """Return the tools of a target as a snapshot.

    Args:
        target: a target from `TARGETS`.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there are no tools, or they can't be read.
    """
    data = _definitions_of(target)
    if data is None:
        return snapshot_of(_tools_of_module(target, show_traceback=show_traceback))
    return _snapshot_from(data, target)


class ToolSource(Value):
    """A target whose tools can be read in this process and in others.

    Attributes:
        target: a target from `TARGETS`.
        described: a snapshot, as text, of tools that have only definitions; None if the target is a module.
        show_traceback: as for `load_module`.
    """

    target: str
    described: str | None
    show_traceback: bool

    def __call__(self) -> list[Tool[..., Any]]:
        """Return the tools; tools that have only definitions decode their arguments, and can't be run.

        Raises:
            WrongUse: there are no tools, or they can't be imported.
        """
        if self.described is None:
            return _tools_of_module(self.target, show_traceback=self.show_traceback)
        from ..tool_definitions import not_run

        return [
            tool_of_document(not_run, each.input_schema, None, name=each.name, description=each.description)
            for each in snapshot_in(self.described, self.target).tools
        ]


def tool_source(target: str, *, show_traceback: bool) -> ToolSource:
    """Return the source of a target's tools; a file or a server is read now, and only once.

    Args:
        target: a target from `TARGETS`.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there are no tools, or they can't be read.
    """
    data = _definitions_of(target)
    if data is None:
        return ToolSource(target, None, show_traceback)
    described = _snapshot_from(data, target)
    if not described.tools:
        raise empty_list(target)
    return ToolSource(target, described.as_text(), show_traceback)


def empty_list(target: str) -> WrongUse:
    """Return the error for a file or a server that describes no tools."""
    return WrongUse(f"there are no tools in {escape(target)}: its list is empty")


def described_tools_of(target: str) -> Described | None:
    """Return the tools that a file or a server describes, each read separately; None for a module.

    Args:
        target: a target from `TARGETS`.

    Raises:
        WrongUse: there are no tools, or the file or the server can't be read.
    """
    data = _definitions_of(target)
    if data is None:
        return None
    from ..tool_definitions import read_described

    try:
        found = read_described(data)
    except SnapshotError as error:
        message = f"{escape(target)}: {error.reason}"
        raise WrongUse(message) from None
    if not found.tools and not found.findings:
        raise empty_list(target)
    return found


def is_module(target: str) -> bool:
    """Return whether a target is a module, rather than a file of definitions or a server."""
    is_other_file = Path(target).is_file() and not target.endswith(".py")
    return not (is_server(target) or target == "-" or target.endswith(".json") or is_other_file)


def places_at(target: str) -> dict[str, tuple[str, str]]:
    """Return the file and line of each tool of a target, as far as they are known."""
    if is_module(target):
        places = {tool.name: place_of_tool(tool) for tool in _tools_of_module(target, show_traceback=False)}
        parted = {name: place.rpartition(":") for name, place in places.items() if place}
        return {name: (_seen_from_here(file), line) for name, (file, _, line) in parted.items()}
    if target == "-" or is_server(target):
        return {}
    lines = read_text(target).splitlines()
    named = [(_NAMED.search(line), str(number)) for number, line in enumerate(lines, 1)]
    return {match[1]: (target, number) for match, number in reversed(named) if match}


_NAMED: Final = re.compile(r'"name":\s*"([^"\\]+)"')


def _seen_from_here(file: str) -> str:
    """Return the path of a file, relative to the current folder if the file is below it."""
    here, path = Path.cwd(), Path(file)
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _definitions_of(target: str) -> Any:
    """Return the JSON in which a file or a server describes tools; None if the target is a module."""
    if is_server(target):
        return {"tools": _tools_of_server(target)}
    if is_module(target):
        return None
    with programs_named(target):
        return _definitions_in(read_text(target), target)


def _tools_of_module(target: str, *, show_traceback: bool) -> list[Tool[..., Any]]:
    with programs_named(target):
        return find_tools(REGISTRY.convert(target, None, None), show_traceback=show_traceback)[0]


def snapshot_in(text: str, name: str) -> Snapshot:
    """Read the tools in a JSON text.

    Args:
        text: JSON.
        name: the name of the file, for messages.

    Raises:
        WrongUse: the text isn't JSON, or has no tools.
    """
    return _snapshot_from(_definitions_in(text, name), name)


def _definitions_in(text: str, name: str) -> Any:
    found = json_in(text, name)
    return {} if found is None else found  # neither has tools


def _snapshot_from(data: Any, name: str) -> Snapshot:
    try:
        return read_snapshot(data)
    except SnapshotError as error:
        message = f"{escape(name)}: {error.reason}"
        raise WrongUse(message) from None


def _tools_of_server(target: str) -> list[dict[str, Any]]:
    """Return the tools that an MCP server lists."""
    source = server_source(target)
    try:
        import anyio

        from ...adapters.mcp_client import described_tools
    except ImportError:
        message = "to use an MCP server, install the extra: pip install 'operator-schema[mcp]'"
        raise WrongUse(message) from None

    async def ask() -> list[dict[str, Any]]:
        with anyio.fail_after(_SECONDS):
            return await described_tools(source)

    try:
        return anyio.run(ask)
    except TimeoutError:
        message = f"{escape(target)} gave no answer within {_SECONDS} seconds"
        raise WrongUse(message) from None
    except Exception as error:  # noqa: BLE001  # whatever the server, or the connection to it, does
        message = f"{escape(target)} can't be used: {why_no_server(error, source)}"
        raise WrongUse(message) from None


def server_source(target: str) -> str | list[str]:
    """Return the URL of a server, or the words of the command that starts it.

    Args:
        target: a target that `is_server` accepts.

    Raises:
        WrongUse: the target is neither a URL nor a command, or there is no such command.
    """
    try:
        source = target if is_url(target) else shlex.split(target.removeprefix(MCP))
    except ValueError as error:
        message = f"{escape(target)} isn't a command: {error}"
        raise WrongUse(message) from None
    if source and is_url(source[0]):
        message = f"write the URL without mcp: {escape(source[0])}"
        raise WrongUse(message)
    if not source:
        message = 'write the command after "mcp:", as in mcp:"uvx mcp-server-time"'
        raise WrongUse(message)
    if not isinstance(source, str) and which(source[0]) is None and not Path(source[0]).exists():
        command = escape(clip(source[0], _MOST_SHOWN))
        about = (
            f"{escape(target)}: " if target.startswith(MCP) else f"there is no file {escape(target)}, and "
        )
        message = f"{about}the command {command} isn't found"
        raise WrongUse(message)
    return source


def why_no_server(error: BaseException, source: str | Sequence[str]) -> str:
    """Return why a server can't be used, in a form that is safe to print.

    Args:
        error: the exception that was raised.
        source: the URL, or the words of the command that starts the server.
    """
    found = _first_error(error)
    if isinstance(found, TimeoutError):
        return "it doesn't answer"
    if isinstance(found, ConnectionError) and not isinstance(source, str):
        return "\n".join([escape(line) for line in str(found).split("\n")])
    return show_error(found, _MOST_SHOWN)


def _first_error(error: BaseException) -> BaseException:
    """Return the first error inside the groups of task groups."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return error
