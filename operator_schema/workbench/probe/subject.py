"""How is a server reached and started anew, in which folder does it work, and which tools does it have?"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from ...errors import SchemaError, ToolError
from ...execution import Executor
from ...json_values import is_array, is_object
from ...message_text import escape, kind, one_line, received
from ...rounds import Registry
from ...similar_names import nearest
from .. import PACKAGE
from .channel import HttpChannel, PipeChannel, ProbedOutcome, ProcessChannel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from .channel import Channel

__all__ = [
    "MEMORY",
    "ServerFolders",
    "ProbeError",
    "Server",
    "VERSION",
    "check_options",
    "checked_target",
    "in_process",
    "of_command",
    "of_url",
]

VERSION: Final = "2025-11-25"
"""Of the protocol."""

MEMORY: Final = 4096
"""Megabytes that each process of a server may have, if nobody says another number."""

_SECONDS_TO_START: Final = 30.0
_MOST_PAGES: Final = 100
_MOST_TOOLS: Final = 1000
_SERVING: Final = "operator-schema: serving "
_FOLDERS: Final = ("work", "home", "tmp")
_MOST_FILES: Final = 2000
_MOST_HASHED: Final = 5_000_000
_KEPT_VARIABLES: Final = (
    *("PATH", "PATHEXT", "SYSTEMROOT", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "NODE_PATH"),
    *("PYTHONPATH", "UV_CACHE_DIR", "npm_config_cache", "PYTHONDONTWRITEBYTECODE"),
)

_MODULES: Final = ('env={"PYTHONPATH": os.getcwd()}', '--env PYTHONPATH="$PWD"')
"""How the modules of this folder are found: in Python, and with the command."""


class ProbeError(Exception):
    """Raised if a target can't be probed: it can't be started, doesn't answer, or has no tools.

    Args:
        message: what is wrong; it names arguments of `probe`.
        in_command: the same with the options of the command; the message itself if it names no argument.

    Attributes:
        in_command: see above.
    """

    def __init__(self, message: str, in_command: str | None = None) -> None:
        super().__init__(message)
        self.in_command = message if in_command is None else in_command


def _in_empty_folder(said: str) -> ProbeError:
    """Return the error of a program that may look for something in the folder of the user."""
    hint = "it is started in an empty folder: write full paths of files, and"
    return ProbeError(*[f"{said}; {hint} {modules} for modules of this folder" for modules in _MODULES])


@dataclass(frozen=True)
class ServerFolders:
    """The folders of a server that is started here; they are made anew each time it is.

    Attributes:
        root: below which everything is.
        work: its working directory, whose files are compared.
    """

    root: Path
    work: Path

    @classmethod
    def new(cls) -> Self:
        """Make the folders."""
        root = Path(tempfile.mkdtemp(prefix="probe-")).resolve()
        for name in _FOLDERS:
            (root / name).mkdir()
        return cls(root, root / "work")

    def fill(self, setup: str | None, env: Mapping[str, str]) -> None:
        """Make the folders anew, and run the command that prepares the working directory.

        Raises:
            ProbeError: the command fails.
        """
        for name in _FOLDERS:
            shutil.rmtree(self.root / name, ignore_errors=True)
            (self.root / name).mkdir()
        (self.work / "notes.txt").write_text("first line\nsecond line\n", encoding="utf-8")
        (self.work / "folder").mkdir()
        if setup is None:
            return
        done = subprocess.run(  # noqa: S602  # the user's own command line
            setup, shell=True, cwd=self.work, env=dict(env), capture_output=True, check=False
        )
        if done.returncode:
            reason = one_line(done.stderr.decode(errors="replace").strip(), 300)
            message = f"the setup command ended with status {done.returncode}{reason and f': {reason}'}"
            raise ProbeError(message)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the server: what is needed to start programs, and its own folders."""
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        home, tmp = str(self.root / "home"), str(self.root / "tmp")
        own = {"HOME": home, "USERPROFILE": home, "TMPDIR": tmp, "TEMP": tmp, "TMP": tmp}
        given = {name: value.replace("{folder}", str(self.work)) for name, value in more.items()}
        return {**_caches(), **kept, **own, **given}

    def files(self) -> dict[str, str]:
        """Return what is in the working directory: path to a digest of the content."""
        found: dict[str, str] = {}
        for folder, folders, files in os.walk(self.work):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in sorted(folders):
                found[f"{(Path(folder) / name).relative_to(self.work)}/"] = ""
            for name in sorted(files):
                path = Path(folder) / name
                found[str(path.relative_to(self.work))] = _digest(path, self.work)
            if len(found) > _MOST_FILES:
                break
        return found

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.root, ignore_errors=True)


def _digest(path: Path, root: Path) -> str:
    """Return what is compared of a file; of hidden ones, such as caches, only whether they are empty."""
    try:
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            return "" if path.lstat().st_size == 0 else "something"
        if path.is_symlink() or path.stat().st_size > _MOST_HASHED:
            return str(path.lstat().st_size)
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def _caches() -> dict[str, str]:
    """Return where `uvx` and `npx` have what they downloaded before; the home folder is another one."""
    places = {"UV_CACHE_DIR": Path.home() / ".cache" / "uv", "npm_config_cache": Path.home() / ".npm"}
    return {name: str(place) for name, place in places.items() if place.is_dir()}


@dataclass
class Server:
    """A server that is probed.

    Attributes:
        target: as it was named.
        kind: how it is reached.
        open: connects to it, with the folder for it.
        place: its folders; None if it isn't started here.
        setup: a command line that prepares the working directory.
        timeout: seconds that one call may take.
        words: of the command that starts it, if it is one.
        env: environment variables of the server, beside those that it needs.
        headers: of HTTP requests.
        modules: a folder whose modules it imports; empty for none.
        tools: as it describes them.
        restarts: how often it was started again.
        noise: lines on the channel that aren't messages, not yet looked at.
        errors: the end of what it last wrote to standard error.
        seconds_to_start: how long the last start took.
        context: what `serve` injects into the tools of a module, as `MODULE:NAME`; None for nothing.
        memory: megabytes that each process of it may have.
    """

    target: str
    kind: Literal["command", "url", "module", "objects"]
    open: Callable[[ServerFolders | None, Mapping[str, str]], Channel]
    place: ServerFolders | None
    setup: str | None = None
    timeout: float = 10.0
    words: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    modules: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    restarts: int = -1
    errors: str = ""
    seconds_to_start: float = 0.0
    context: str | None = None
    memory: int = MEMORY
    _channel: Channel | None = None

    @property
    def channel(self) -> Channel:
        """The connection.

        Raises:
            ProbeError: there is none.
        """
        if self._channel is None:
            message = "it isn't running"
            raise ProbeError(message)
        return self._channel

    def start(self) -> None:
        """Start the server, or start it again, in an empty folder; do the handshake.

        Raises:
            ProbeError: it can't be started, or doesn't answer.
        """
        begin = monotonic()
        self.stop()
        self.restarts += 1
        env: dict[str, str] = {}
        if self.place is not None:
            env = self.place.environment(self.env)
            if self.modules:
                env["PYTHONPATH"] = os.pathsep.join(filter(None, [self.modules, env.get("PYTHONPATH")]))
            self.place.fill(self.setup, env)
        try:
            self._channel = self.open(self.place, env)
        except (OSError, ValueError) as error:
            message = f"it can't be started: {error}"
            raise self._failed(message) from None
        params = {
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "operator-schema probe", "version": "1"},
        }
        result = self._asked("initialize", params)
        if isinstance(self._channel, HttpChannel):
            self._channel.version = str(result.get("protocolVersion", ""))
        self._channel.notify("notifications/initialized", None)
        self.seconds_to_start = monotonic() - begin

    def stop(self) -> None:
        """End the connection, and the process."""
        if self._channel is not None:
            channel, self._channel = self._channel, None
            self.errors = channel.close() or self.errors

    def close(self) -> None:
        """End everything, and remove the folders."""
        self.stop()
        if self.place is not None:
            self.place.remove()

    def list_tools(self) -> list[dict[str, Any]]:
        """Ask for the tools, of all pages.

        Raises:
            ProbeError: there are none, or the answer isn't a list of tools.
        """
        found: list[dict[str, Any]] = []
        cursor: Any = None
        for _ in range(_MOST_PAGES):
            result = self._asked("tools/list", {} if cursor is None else {"cursor": cursor})
            page = result.get("tools")
            if not is_array(page):
                message = "its answer to tools/list has no list of tools"
                raise ProbeError(message)
            found += [each for each in page if is_object(each) and isinstance(each.get("name"), str)]
            cursor = result.get("nextCursor")
            if not cursor or len(found) > _MOST_TOOLS:
                break
        if not found:
            message = "it has no tools"
            raise ProbeError(message)
        self.tools = found
        return found

    def call(self, tool: str, arguments: Any, seconds: float | None = None) -> ProbedOutcome:
        """Call a tool, and wait for the answer."""
        return self.wait(self.send(tool, arguments), seconds)

    def send(self, tool: str, arguments: Any) -> int:
        """Send a call."""
        return self.channel.send("tools/call", {"name": tool, "arguments": arguments})

    def wait(self, request: int, seconds: float | None = None) -> ProbedOutcome:
        """Wait for the answer to a call."""
        return ProbedOutcome(self.channel.wait(request, self.timeout if seconds is None else seconds))

    def answers(self) -> bool:
        """Return whether it answers a ping."""
        return not self.ping().is_lost

    def ping(self) -> ProbedOutcome:
        """Send a ping, and wait for the answer."""
        return self.wait(self.channel.send("ping", None))

    def noise(self) -> list[str]:
        """Return the lines that came since the last time and aren't messages."""
        if self._channel is None:
            return []
        found = list(self._channel.noise)
        del self._channel.noise[: len(found)]
        return found

    def notes(self) -> list[str]:
        """Return what `serve` warned of before it served the tools of a module, such as missing context."""
        if self.kind != "module" or not isinstance(self._channel, ProcessChannel):
            return []
        before, mark, _ = self._channel.errors().partition(_SERVING)
        return [one_line(line, 300) for line in before.splitlines() if line.strip()] if mark else []

    def files(self) -> dict[str, str]:
        """Return the files of its working directory, as far as they are known here."""
        return {} if self.place is None else self.place.files()

    def _asked(self, method: str, params: Any) -> dict[str, Any]:
        reply = self.channel.wait(self.channel.send(method, params), max(self.timeout, _SECONDS_TO_START))
        if reply.kind == "result" and is_object(reply.value):
            return reply.value
        noise = "; ".join(self.channel.noise[:2])
        self.stop()
        hints = [str(reply.value)]
        if noise:
            hints.append(f"it wrote {noise!r}")
        if self.errors.strip():
            hints.append(f"standard error ends with {self.errors.strip()[-300:]!r}")
        message = f"{method} failed: {one_line('; '.join(hints), 700)}"
        raise self._failed(message) if method == "initialize" else ProbeError(message)

    def _failed(self, said: str) -> ProbeError:
        """Return the error of a server that doesn't start."""
        return _in_empty_folder(said) if self.kind == "command" else ProbeError(said)


# --- targets -------------------------------------------------------------------------------------


def of_command(
    words: Sequence[str], target: str, kind: Literal["command", "module"] = "command", **options: Any
) -> Server:
    """Return a server that a command starts.

    Args:
        words: the command. Names of files that exist here are completed, since the server works in another
            folder; `{folder}` stands for that folder.
        target: as it was named.
        kind: of the server.
        options: of `Server`.
    """
    whole = _whole(words)

    def connect(place: ServerFolders | None, env: Mapping[str, str]) -> Channel:
        assert place is not None  # noqa: S101  # made below
        work = str(place.work)
        words = [word.replace("{folder}", work) for word in whole]
        return ProcessChannel(words, work, env, options.get("memory", MEMORY))

    return Server(target, kind, connect, ServerFolders.new(), words=whole, **options)


def _whole(words: Sequence[str]) -> list[str]:
    """Complete the names of files, since the server works in another folder; a link stays one."""
    return [os.path.abspath(word) if os.path.isfile(word) else word for word in words]  # noqa: PTH100, PTH113  # links stay, and a word may be too long for a name


def of_url(url: str, headers: Mapping[str, str], **options: Any) -> Server:
    """Return a server behind a URL."""

    def connect(_: ServerFolders | None, __: Mapping[str, str]) -> Channel:
        return HttpChannel(url, headers, options.get("timeout", 10.0))

    return Server(url, "url", connect, None, headers=headers, **options)


def of_registry(target: str, **options: Any) -> Server:
    """Return a server of tools that a module has, in a process of its own.

    Args:
        target: `MODULE:REGISTRY`, as `operator-schema serve` takes it.
        options: of `Server`.
    """
    context = options.get("context")
    given = [] if context is None else ["--context", context]
    words = [sys.executable, "-m", PACKAGE, "serve", *given, target]
    return of_command(words, target, "module", modules=str(Path.cwd()), **options)


def in_process(tools: Any, target: str, **options: Any) -> Server:
    """Return a server of tools in this process, which speaks the protocol over pipes.

    Args:
        tools: a registry, a toolset, an executor or any iterable of tools.
        target: how it is called.
        options: of `Server`.
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


def server_of(target: Any, **options: Any) -> Server:
    """Return the server that a target means.

    Args:
        target: a URL; `mcp:COMMAND`, or a command as words; `process:COMMAND`, a program of `tools_of`;
            `MODULE:REGISTRY`; or tools themselves.
        options: of `Server`, and `headers` for a URL.

    Raises:
        ProbeError: it can't be read, or an option isn't for such a target.
        TypeError: it is of another kind.
    """
    headers: Mapping[str, str] = options.pop("headers", None) or {}
    target = checked_target(target, headers=headers, **options)
    if not isinstance(target, str):
        return _of_objects(target, options)
    if _is_url(target):
        return of_url(target, headers, **options)
    kind, _, command = target.partition(":")
    if kind in ("mcp", "process"):
        words = _words(command)
        return of_command(words, target, **options) if kind == "mcp" else _of_program(words, target, options)
    return (
        of_command(_words(target), target, **options)
        if _is_command(target)
        else of_registry(target, **options)
    )


def checked_target(target: Any, **options: Any) -> Any:
    """Return a target that has the options that are given; tools as a registry or an executor.

    Args:
        target: as for `server_of`.
        options: of a probe.

    Raises:
        ProbeError: an option isn't for such a target.
        TypeError: it is of another kind.
    """
    if options.get("headers") and not _is_url(target):
        what = "a URL: this target gets no requests of HTTP"
        raise _not_for(what, "headers", "--header")
    if options.get("context") and not _is_module(target):
        what = "the tools of a module: another server has what it needs, and an executor has its own"
        raise _not_for(what, "context", "--context")
    is_started = isinstance(target, str) or _are_words(target)
    for name in ("setup", "env"):
        if options.get(name) and (_is_url(target) or not is_started):
            what = "a server that is started here"
            raise _not_for(what, name, f"--{name}")
    if is_started or isinstance(target, (Executor, Registry)):
        return target
    try:
        return Registry(target)
    except TypeError as error:
        message = f"a target is a command, a URL, MODULE:REGISTRY or tools; as tools: {error}"
        raise TypeError(message) from None


def _is_module(target: Any) -> bool:
    """Return whether a target is the name of a module, with or without a name in it."""
    if not isinstance(target, str) or _is_url(target) or target.startswith(("mcp:", "process:")):
        return False
    return not _is_command(target)


def _is_number(value: Any, kinds: type | tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Collection):
        return False
    return all(isinstance(each, str) for each in cast("Collection[object]", value))


def _is_text_map(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    pairs = cast("Mapping[object, object]", value)
    return _is_texts(pairs) and _is_texts(list(pairs.values()))


_KINDS: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "allow": ('a list of names, such as ["create_note"]', _is_texts),
    "allow_all": ("True or False", lambda value: isinstance(value, bool)),
    "seconds": ("a number", lambda value: _is_number(value, (int, float))),
    "calls": ("a whole number", lambda value: _is_number(value, int)),
    "timeout": ("a number", lambda value: _is_number(value, (int, float))),
    "most_bytes": ("a whole number", lambda value: _is_number(value, int)),
    "seed": ("a whole number", lambda value: _is_number(value, int)),
    "setup": ("a command line", lambda value: value is None or isinstance(value, str)),
    "context": (
        'the name of what is injected, such as "app:make_context"',
        lambda value: value is None or isinstance(value, str),
    ),
    "memory": ("a whole number", lambda value: _is_number(value, int)),
    "env": ("a dict of names and texts", lambda value: value is None or _is_text_map(value)),
    "headers": ("a dict of names and texts", lambda value: value is None or _is_text_map(value)),
    "on_progress": ("a function", lambda value: value is None or callable(value)),
}
"""Options of a probe: what they take, and whether a value is that."""

_MAY_BE_SECRET: Final = frozenset({"env", "headers"})
_ABOVE_0: Final = frozenset({"seconds", "calls", "timeout", "most_bytes", "memory"})


def check_options(options: Mapping[str, Any], more: Sequence[str] = ()) -> None:
    """Refuse options of a probe that are of another kind, before anything is started.

    Args:
        options: by their names.
        more: names of other options that may have been meant.

    Raises:
        TypeError: there is no such option, or its value is of another kind.
        ValueError: a number isn't above 0.
    """
    for name, value in options.items():
        if name not in _KINDS:
            known = [*_KINDS, *more]
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
            message = f"a probe has no option {name!r}; {hint}"
            raise TypeError(message)
        what, is_right = _KINDS[name]
        if not is_right(value):
            given = kind(value) if name in _MAY_BE_SECRET else received(value)
            message = f"{name} takes {what}, not {given}"
            raise TypeError(message)
        if name in _ABOVE_0 and not value > 0:
            message = f"{name} is above 0, not {value}"
            raise ValueError(message)


def _is_url(target: Any) -> bool:
    return isinstance(target, str) and target.lower().startswith(("http://", "https://"))


def _not_for(what: str, argument: str, option: str) -> ProbeError:
    return ProbeError(*[f"{name} is for {what}" for name in (argument, option)])


def _is_command(target: str) -> bool:
    """Return whether a target is a command, rather than the name of a module."""
    return " " in target.strip() or (not target.endswith(".py") and shutil.which(target) is not None)


def _are_words(target: Any) -> bool:
    """Return whether a target is the words of a command, rather than tools."""
    return is_array(target) and bool(target) and all(isinstance(word, str) for word in target)


def _of_objects(target: Any, options: dict[str, Any]) -> Server:
    if _are_words(target):
        words: list[str] = target
        return of_command(words, shlex.join(words), **options)
    return in_process(target, f"{type(target).__name__} in this process", **options)


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
        raise _in_empty_folder(one_line(said, 700)) from None
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
