"""Tools that a command line names: in a module, a file of Python or JSON, or an MCP server."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ..compare.snapshot import SnapshotError, read_snapshot, read_tools, snapshot_of
from ..errors import SchemaError
from ..findings import Finding
from ..immutable import Value
from ..message_text import clip, escape
from ..schema.document_codec import DocumentCodec
from ..tools import Tool, document_tool
from .arguments import REGISTRY
from .lookup import find_tools
from .modules import WrongUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..compare.snapshot import Snapshot, ToolSnapshot

__all__ = [
    "MCP",
    "SOURCES",
    "Described",
    "ToolSource",
    "described_tools_of",
    "empty_list",
    "is_server",
    "snapshot_at",
    "snapshot_in",
    "text_of",
    "tool_source",
]

MCP: Final = "mcp:"
"""Stands before the command of a server."""

SOURCES = """\b
A target is one of these:
  tools, tools.py         a module by its name or its file
  app:registry            a registry, a toolset or an executor in it
  app:registry.search     one tool
  tools.json              a snapshot, the result of tools/list, or a request to a provider
  https://example.com/mcp an MCP server
  mcp:"COMMAND …"         a command that starts an MCP server
"""

_MAX_FILE: Final = 50_000_000
_SECONDS: Final = 60
_NAME_RULE: Final = "1 to 64 characters: A to Z, a to z, 0 to 9, _ and -"


def snapshot_at(target: str, *, show_traceback: bool) -> Snapshot:
    """Return the tools of a target as a snapshot.

    Args:
        target: one of `SOURCES`.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there are none, or they can't be read.
    """
    data = _definitions_of(target)
    if data is None:
        return snapshot_of(_defined(target, show_traceback=show_traceback))
    return _read(data, target)


class ToolSource(Value):
    """Where tools come from, in a form that another process can use.

    Attributes:
        target: one of `SOURCES`.
        described: a snapshot, as text, of tools that are only described; None if the target is a module.
        show_traceback: as for `load_module`.
    """

    target: str
    described: str | None
    show_traceback: bool

    def __call__(self) -> list[Tool[..., Any]]:
        """Return the tools; those that are only described decode their arguments, and can't be run.

        Raises:
            WrongUse: there are none, or they can't be imported.
        """
        if self.described is None:
            return _defined(self.target, show_traceback=self.show_traceback)
        return [
            document_tool(_not_run, each.input_schema, name=each.name, description=each.description)
            for each in snapshot_in(self.described, self.target).tools
        ]


def tool_source(target: str, *, show_traceback: bool) -> ToolSource:
    """Return where the tools of a target come from; a file or a server is asked now, and only once.

    Args:
        target: one of `SOURCES`.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: there are none, or they can't be read.
    """
    data = _definitions_of(target)
    if data is None:
        return ToolSource(target, None, show_traceback)
    described = _read(data, target)
    if not described.tools:
        raise empty_list(target)
    return ToolSource(target, described.as_text(), show_traceback)


def empty_list(target: str) -> WrongUse:
    """Return that a file or a server describes no tools."""
    return WrongUse(f"there are no tools in {escape(target)}: its list is empty")


class Described(NamedTuple):
    """Tools of others, as far as their definitions can be read.

    Attributes:
        tools: that decode their arguments, and can't be run.
        originals: name of each of these tools to its own name, which providers may refuse.
        findings: what is wrong with definitions and names.
    """

    tools: list[Tool[..., Any]]
    originals: dict[str, str]
    findings: list[Finding]


def described_tools_of(target: str) -> Described | None:
    """Return the tools that a file or a server describes, each judged on its own; None for a module.

    Args:
        target: one of `SOURCES`.

    Raises:
        WrongUse: there are none, or the file or the server can't be read.
    """
    data = _definitions_of(target)
    if data is None:
        return None
    try:
        read, findings = read_tools(data)
    except SnapshotError as error:
        message = f"{escape(target)}: {error.reason}"
        raise WrongUse(message) from None
    if not read and not findings:
        raise empty_list(target)
    from ..adapters.foreign_names import NameGiver

    names = NameGiver("")
    tools: list[Tool[..., Any]] = []
    originals: dict[str, str] = {}
    for each in read:
        name = names.give(each.name)
        if name != each.name:
            findings.append(_renamed(each.name))
        try:
            tools.append(_tool(each, name))
            originals[name] = each.name
            findings += _unchecked(tools[-1], each.name)
        except SchemaError as error:
            findings += [finding.replace(tool=each.name, where=None) for finding in error.findings]
    return Described(tools, originals, findings)


def _unchecked(tool: Tool[..., Any], name: str) -> list[Finding]:
    """Return what the schema of a tool says and nobody can read, a note for each keyword."""
    left = tool.codec.left if isinstance(tool.codec, DocumentCodec) else ()
    return [
        one.replace(tool=name, where=None, message=f"its {one.keyword} isn't checked: {one.message}")
        for one in left
    ]


def _renamed(name: str) -> Finding:
    message = "providers refuse its name, so each program has to give it another one"
    return Finding((), "bad_name", message, remedy=f"Rename it: {_NAME_RULE}", severity="warning", tool=name)


def _tool(described: ToolSnapshot, name: str) -> Tool[..., Any]:
    hints: Mapping[str, Any] = described.hints
    if hints.get("read_only"):  # where it means nothing of a tool whether it is destructive
        hints = {hint: value for hint, value in hints.items() if hint != "destructive"}
    options: dict[str, Any] = {"name": name, "description": described.description, **hints}
    return document_tool(_not_run, described.input_schema, output_schema=described.output_schema, **options)


def _not_run(**arguments: Any) -> Any:  # of whatever result
    """Stand for the function of a tool that is only described."""


def is_server(target: str) -> bool:
    """Return whether a target is an MCP server."""
    return target.startswith((MCP, "http://", "https://"))


def _definitions_of(target: str) -> Any:
    """Return the JSON in which a file or a server describes tools; None if the target is a module."""
    if is_server(target):
        return {"tools": _listed_by(target)}
    is_other_file = Path(target).is_file() and not target.endswith(".py")
    if target == "-" or target.endswith(".json") or is_other_file:
        return _json_in(text_of(target), target)
    return None


def _defined(target: str, *, show_traceback: bool) -> list[Tool[..., Any]]:
    return find_tools(REGISTRY.convert(target, None, None), show_traceback=show_traceback)[0]


def text_of(file: str) -> str:
    """Return the text of a file, or of standard input if its name is `-`.

    Raises:
        WrongUse: it can't be read, or is too large.
    """
    if file == "-":
        return sys.stdin.read(_MAX_FILE)
    try:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(_MAX_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it isn't UTF-8"
        message = f"{escape(file)} can't be read: {reason}"
        raise WrongUse(message) from None
    if len(text) > _MAX_FILE:
        message = f"{escape(file)} is too large: more than {_MAX_FILE:,} characters"
        raise WrongUse(message)
    return text


def snapshot_in(text: str, name: str) -> Snapshot:
    """Read the tools that a JSON text describes.

    Args:
        text: JSON.
        name: of the file, for messages.

    Raises:
        WrongUse: it isn't JSON, or has no tools.
    """
    return _read(_json_in(text, name), name)


def _json_in(text: str, name: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"{escape(name)} isn't JSON: {escape(clip(str(error), 200))}"
        raise WrongUse(message) from None
    return {} if found is None else found  # neither has tools


def _read(data: Any, name: str) -> Snapshot:
    try:
        return read_snapshot(data)
    except SnapshotError as error:
        message = f"{escape(name)}: {error.reason}"
        raise WrongUse(message) from None


def _listed_by(target: str) -> list[dict[str, Any]]:
    """Return the tools that an MCP server lists."""
    try:
        source = target if target.startswith("http") else shlex.split(target.removeprefix(MCP))
    except ValueError as error:
        message = f"{escape(target)} isn't a command: {error}"
        raise WrongUse(message) from None
    if source and source[0].startswith(("http://", "https://")):
        message = f"write the URL without mcp: {escape(source[0])}"
        raise WrongUse(message)
    if not source:
        message = 'write the command behind "mcp:", as in mcp:"uvx mcp-server-time"'
        raise WrongUse(message)
    try:
        import anyio

        from ..adapters.mcp_client import described_tools
    except ImportError:
        message = "to ask an MCP server, install the extra: pip install 'operator-schema[mcp]'"
        raise WrongUse(message) from None

    async def ask() -> list[dict[str, Any]]:
        with anyio.fail_after(_SECONDS):
            return await described_tools(source)

    try:
        return anyio.run(ask)
    except TimeoutError:
        message = f"{escape(target)} gave no answer within {_SECONDS} seconds"
        raise WrongUse(message) from None
    except Exception as error:  # noqa: BLE001  # of a server, or of the way to it
        message = f"{escape(target)} can't be asked: {escape(clip(_reason(error), 300))}"
        raise WrongUse(message) from None


def _reason(error: BaseException) -> str:
    """Return the first fault that isn't a group of others."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return f"{type(error).__name__}: {error}".rstrip(": ")
