"""Which server does a target mean: a command, a URL, a module, or tools?"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ...errors import SchemaError, ToolError
from ...execution import Executor
from ...json_values import is_array
from ...message_text import escape, one_line
from ...rounds import Registry
from .. import PACKAGE
from .channel import HttpChannel, PipeChannel, ProcessChannel
from .folders import ServerFolders
from .probe_error import ProbeError, in_empty_folder
from .probe_options import MEMORY
from .subject import Server

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .channel import Channel


def server_of(target: Any, **options: Any) -> Server:
    """Return the server that a target means.

    Args:
        target: a URL; `mcp:COMMAND`, or a command as words; `process:COMMAND`, a program of `tools_of`;
            `MODULE:REGISTRY`; or tools themselves.
        options: options of `Server`, and `headers` for a URL.

    Raises:
        ProbeError: it can't be read, or an option isn't for such a target.
        TypeError: the target has another type.
    """
    headers: Mapping[str, str] = options.pop("headers", None) or {}
    target = checked_target(target, headers=headers, **options)
    match _kind_of(target):
        case "url":
            return of_url(target, headers, **options)
        case "words":
            return of_command(target, shlex.join(target), **options)
        case "command":
            return of_command(_words(target.removeprefix("mcp:")), target, **options)
        case "process":
            return _of_program(_words(target.removeprefix("process:")), target, options)
        case "module":
            return of_registry(target, **options)
        case "tools":
            return in_process(target, f"{type(target).__name__} in this process", **options)


def checked_target(target: Any, **options: Any) -> Any:
    """Check that a target can have some options; return it, with tools as a registry or an executor.

    Args:
        target: as for `server_of`.
        options: options of a probe.

    Raises:
        ProbeError: an option isn't for such a target.
        TypeError: the target has another type.
    """
    kind = _kind_of(target)
    for name, (option, kinds, what) in _FOR.items():
        if options.get(name) and kind not in kinds:
            raise ProbeError(*[f"{each} is for {what}" for each in (name, option)])
    if kind != "tools" or isinstance(target, (Executor, Registry)):
        return target
    try:
        return Registry(target)
    except TypeError as error:
        message = f"a target is a command, a URL, MODULE:REGISTRY or tools; as tools: {error}"
        raise TypeError(message) from None


_Kind: TypeAlias = Literal["url", "command", "words", "process", "module", "tools"]
_STARTED: Final[tuple[_Kind, ...]] = ("command", "words", "process", "module")
_FOR: Final[Mapping[str, tuple[str, tuple[_Kind, ...], str]]] = {
    "headers": ("--header", ("url",), "a URL: this target gets no requests of HTTP"),
    "context": (
        "--context",
        ("module",),
        "the tools of a module: another server has what it needs, and an executor has its own",
    ),
    "setup": ("--setup", _STARTED, "a server that is started here"),
    "env": ("--env", _STARTED, "a server that is started here"),
}
"""Options of a probe: the option of the command, the kinds of targets that have it, and these in words."""


def _kind_of(target: Any) -> _Kind:
    if not isinstance(target, str):
        are_words = is_array(target) and bool(target) and all(isinstance(word, str) for word in target)
        return "words" if are_words else "tools"
    if target.lower().startswith(("http://", "https://")):
        return "url"
    if target.startswith("process:"):
        return "process"
    # A command, rather than the name of a module, has several words, or is the name of a program.
    is_program = not target.endswith(".py") and shutil.which(target) is not None
    is_command = target.startswith("mcp:") or " " in target.strip() or is_program
    return "command" if is_command else "module"


# --- kinds of targets ----------------------------------------------------------------------------


def of_url(url: str, headers: Mapping[str, str], **options: Any) -> Server:
    """Return a server behind a URL."""

    def connect(_: ServerFolders | None, __: Mapping[str, str]) -> Channel:
        return HttpChannel(url, headers, options.get("timeout", 10.0))

    return Server(url, "url", connect, None, headers=headers, **options)


def of_command(
    words: Sequence[str], target: str, kind: Literal["command", "module"] = "command", **options: Any
) -> Server:
    """Return a server that a command starts.

    Args:
        words: the command. Names of files that exist here are completed, since the server works in another
            folder; `{folder}` stands for that folder.
        target: the target, as the user wrote it.
        kind: the kind of server.
        options: options of `Server`.
    """
    whole = _whole(words)

    def connect(place: ServerFolders | None, env: Mapping[str, str]) -> Channel:
        assert place is not None  # noqa: S101  # made below
        work = str(place.work)
        words = [word.replace("{folder}", work) for word in whole]
        return ProcessChannel(words, work, env, options.get("memory", MEMORY))

    return Server(target, kind, connect, ServerFolders.new(), words=whole, **options)


def _whole(words: Sequence[str]) -> list[str]:
    """Make paths of files absolute, since the server works in another folder; don't follow links."""
    return [os.path.abspath(word) if os.path.isfile(word) else word for word in words]  # noqa: PTH100, PTH113  # links stay, and a word may be too long for a name


def of_registry(target: str, **options: Any) -> Server:
    """Return a server of tools that a module has, in a process of its own.

    Args:
        target: `MODULE:REGISTRY`, as `operator-schema serve` takes it.
        options: options of `Server`.
    """
    context = options.get("context")
    given = [] if context is None else ["--context", context]
    words = [sys.executable, "-m", PACKAGE, "serve", *given, target]
    return of_command(words, target, "module", modules=str(Path.cwd()), **options)


def in_process(tools: Any, target: str, **options: Any) -> Server:
    """Return a server of tools in this process, which speaks the protocol over pipes.

    Args:
        tools: a registry, a toolset, an executor or any iterable of tools.
        target: the name of the target.
        options: options of `Server`.
    """

    def connect(_: ServerFolders | None, __: Mapping[str, str]) -> Channel:
        from ...adapters import mcp

        theirs, ours = os.pipe(), os.pipe()
        source, sink = os.fdopen(theirs[0], "rb"), os.fdopen(ours[1], "wb", 0)

        def serve() -> None:
            with source, sink:
                asyncio.run(mcp.serve_stdio(mcp.server(tools), source, sink))

        Thread(target=serve, daemon=True, name="probed server").start()
        return PipeChannel(os.fdopen(ours[0], "rb"), os.fdopen(theirs[1], "wb", 0))

    return Server(target, "objects", connect, None, **options)


def _of_program(words: list[str], target: str, options: dict[str, Any]) -> Server:
    from ...adapters.process import tools_of

    place = ServerFolders.new()
    try:
        env = place.environment(options.get("env", {}))
        tools = tools_of(_whole(words), cwd=place.work, env=env, timeout=options.get("timeout", 10.0))
    except BaseException as error:  # a signal, too: nobody else knows the folder yet
        place.remove()
        if not isinstance(error, (OSError, SchemaError, ToolError, ValueError)):
            raise
        said = error.message if isinstance(error, ToolError) else str(error)
        raise in_empty_folder(one_line(said, 700)) from None
    found = in_process(tools, target, **options)
    found.place = place
    return found


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        message = f"{escape(command)} isn't a command: {error}"
        raise ProbeError(message) from None
    if not words:
        message = 'write the command after the colon, as in mcp:"uvx mcp-server-time"'
        raise ProbeError(message)
    return words
