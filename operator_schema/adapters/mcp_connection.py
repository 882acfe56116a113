"""Connect to an MCP server: by its URL, by the command that starts it, or by a transport of the SDK."""

from __future__ import annotations

import errno
import os
import sys
from collections import deque
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import cache
from inspect import signature
from secrets import token_hex
from shutil import which
from signal import Signals
from threading import Event, Lock, Thread
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

import httpx2
from anyio import to_thread
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client

from ..lazy import answer_misnamed
from .mcp_http_answers import make_readable
from .mcp_streams import LONGEST_ANSWER, answered, whole_lines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
    from ssl import SSLContext
    from types import TracebackType
    from typing import TextIO

    from mcp import ClientSession
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams

__all__ = [
    "ServerEndedError",
    "Source",
    "certificates",
    "connected",
    "end_of",
    "over_http",
    "transport_of",
]

answer_misnamed(__name__)

_SECONDS_TO_CONNECT = 30.0
_SECONDS_TO_READ = 300.0
_HAS_LIMIT = "max_sse_event_size" in signature(streamable_http_client).parameters  # from mcp 2.3 on
_LONGER: dict[str, Any] = {"max_sse_event_size": LONGEST_ANSWER} if _HAS_LIMIT else {}
"""The longest answer in a stream of events; the SDK's limit is 1 MiB."""

Source: TypeAlias = "str | Sequence[str] | StdioServerParameters | Callable[[], Transport]"
"""The URL of a server, a command that starts one, or a function that makes a transport of the SDK."""


@asynccontextmanager
async def transport_of(source: Source) -> AsyncGenerator[TransportStreams]:
    """Connect to a server, or start it; its log goes to standard error.

    Args:
        source: the URL of a server, the words of a command that starts one, its parameters, or a function
            that makes a transport.

    Yields:
        Streams of messages, to read and to write.
    """
    with ExitStack() as files:
        if isinstance(source, str):
            made: Any = over_http(source, certificates())
        elif isinstance(source, StdioServerParameters):
            made = stdio_client(_kept(_lenient(source)), _error_stream(files))
        elif callable(source):
            made = source()
        else:
            command = StdioServerParameters(command=source[0], args=[*source[1:]])
            made = stdio_client(_kept(_lenient(command)), _error_stream(files))
        async with made as streams:
            yield answered(streams)


def certificates() -> Callable[[], SSLContext]:
    """Return a function that reads the trusted certificates once, and then returns the same context.

    Reading them takes 25 ms or more of processor time. With this context, as by default in httpx2, a server
    must have a certificate that is valid for its name.
    """
    return cache(httpx2.create_ssl_context)


@asynccontextmanager
async def over_http(
    url: str, trusted: Callable[[], SSLContext], headers: Mapping[str, str] | None = None
) -> AsyncGenerator[TransportStreams]:
    """Connect to a server by its URL, with certificates that several connections share.

    Args:
        url: the URL of the server.
        trusted: the function from `certificates`.
        headers: headers of all requests.

    Yields:
        Streams of messages, to read and to write.
    """
    waits = httpx2.Timeout(_SECONDS_TO_CONNECT, read=_SECONDS_TO_READ)  # the answer may be a stream
    hooks = {"response": [make_readable]}
    client = httpx2.AsyncClient(headers=headers, timeout=waits, verify=trusted(), event_hooks=hooks)
    async with client as http, streamable_http_client(url, http_client=http, **_LONGER) as streams:
        yield streams


def _error_stream(files: ExitStack) -> TextIO:
    """Return a file to which a process can write its errors.

    The SDK uses the `sys.stderr` from the time of its import. If a test runner or a notebook had replaced it
    by an object of its own, a process can't write to it.
    """
    for stream in (sys.stderr, sys.__stderr__):
        with suppress(AttributeError, OSError, ValueError):
            if stream is not None and stream.fileno() >= 0:
                return stream
    return files.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123  # not a path


# --- a program that is started here --------------------------------------------------------------

_KEEPER = """
import os, signal, subprocess, sys, threading, time

mark, parent = sys.argv[1], int(sys.argv[2])
program = None

def send(number):
    # Only to a group that the program has made for itself, and as long as nobody else can have its number.
    try:
        if program is not None and program.returncode is None and os.getpgid(program.pid) == program.pid:
            os.killpg(program.pid, number)
            return True
    except (OSError, AttributeError):  # it has ended; Windows has no groups
        pass
    return False

def end(*_):
    if send(signal.SIGTERM):
        killer = threading.Timer(1, send, [signal.SIGKILL])
        killer.daemon = True
        killer.start()

for number in {signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)}:
    signal.signal(number, lambda *_: None)
signal.signal(signal.SIGTERM, end)

def keep():
    while os.getppid() == parent:
        time.sleep(0.5)
    time.sleep(2)
    os.killpg(0, signal.SIGTERM)
    time.sleep(1.5)
    os.killpg(0, signal.SIGKILL)

try:
    program = subprocess.Popen(sys.argv[3:])
except OSError as error:
    status = 127
    sys.stderr.write(f"{error}\\n")
else:
    os.close(0)
    os.close(1)
    if hasattr(os, "getpgrp") and os.getpgrp() == os.getpid():
        threading.Thread(target=keep, daemon=True).start()
    status = program.wait()
if mark:
    sys.stderr.write(f"\\n\\0{mark}{status}\\n")
sys.exit(status if status >= 0 else 128 - status)
"""
"""A program that starts another one, and ends it, with its whole group, when this process is gone.

The SDK ends a program with its connection. If this process is killed, nobody ends it, and a program that
hangs doesn't notice the end of its input. With a mark, the exit status follows the standard error, since the
SDK doesn't report it. A signal that the program ignores doesn't end the keeper first. If the program were the
leader of the group, it couldn't leave it; here, a program that leaves it, such as `timeout` of coreutils,
gets the signals too.
"""


def _keeping(mark: str, words: Sequence[str]) -> list[str]:
    """Return the arguments with which Python starts a program and watches over it."""
    return ["-I", "-S", "-c", _KEEPER, mark, str(os.getpid()), *words]


def _lenient(server: StdioServerParameters) -> StdioServerParameters:
    """Return a program whose undecodable bytes are replaced, and whose answers may be long.

    Options that its parameters set are unchanged.
    """
    given, own = server.model_fields_set, {"encoding_error_handler": "replace", "encoding": whole_lines()}
    return server.model_copy(update={name: value for name, value in own.items() if name not in given})


def _kept(server: StdioServerParameters) -> StdioServerParameters:
    """Return a program that ends together with this process; unchanged if the system ensures that.

    Raises:
        FileNotFoundError: the program or its working directory doesn't exist.
        NotADirectoryError: its working directory isn't a folder.
        PermissionError: the program can't be run.
    """
    if server.cwd is not None and not os.path.isdir(server.cwd):  # noqa: PTH112  # a text, in most cases
        is_there = os.path.exists(server.cwd)  # noqa: PTH110  # as above
        code = errno.ENOTDIR if is_there else errno.ENOENT
        what = "its working directory (cwd) isn't a folder" if is_there else "no such working directory (cwd)"
        raise OSError(code, what, str(server.cwd))
    # On Windows, the SDK puts it into a job, which ends with this process. A frozen program isn't Python.
    if os.name == "nt" or getattr(sys, "frozen", False) or not sys.executable:
        return server
    path = {**get_default_environment(), **(server.env or {})}.get("PATH")
    program = server.command
    if os.sep in program:  # the path is relative to the folder in which it starts
        program = os.path.join(server.cwd or "", program)  # noqa: PTH118  # a Path would lose a "./"
    if which(program, path=path) is None:  # otherwise the keeper would fail, with another error
        code = errno.EACCES if os.sep in program and os.path.exists(program) else errno.ENOENT  # noqa: PTH110  # as above
        raise OSError(code, os.strerror(code), server.command)
    words = _keeping("", [server.command, *server.args])
    return server.model_copy(update={"command": sys.executable, "args": words})


class ServerEndedError(ConnectionError):
    """The program of a server ended too early.

    Attributes:
        status: its exit status; below 0, the number of the signal that ended it; None if it only closed its
            output.
        errors: the end of its standard error, at most 1,000 characters.
    """

    def __init__(self, status: int | None, errors: str) -> None:
        how = "closed its output" if status is None else f"ended with {_status_in_words(status)}"
        said = f"; its standard error ends with:\n{errors}" if errors else "; its standard error is empty"
        super().__init__(f"the program {how}{said}")
        self.status = status
        self.errors = errors


def _status_in_words(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {-status} ({Signals(-status).name})"
    except ValueError:
        return f"signal {-status}"


_PROGRAMS: dict[int, _ServerProcess] = {}
"""The program of the server for the `id` of each open client, and of its session."""

_MAX_ERRORS = 1000
_SECONDS_TO_END = 1.0


class _ServerProcess:
    """The transport to a server that a command starts; it can report how the program ended.

    The standard error of the program is held back until `pass_on`; from then on, it goes to that of this
    process.

    Args:
        words: the command.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._mark = f"{token_hex(8)}:"
        self._arguments = _keeping(self._mark, words)
        self._lines: deque[str] = deque(maxlen=_MAX_ERRORS)
        self._is_passed_on = self._is_asked_to_end = False
        self.status: int | None = None
        self._ended = Event()
        self._lock = Lock()

    async def __aenter__(self) -> Any:
        """Start the program, and return the streams of its messages."""
        source, sink = os.pipe()
        Thread(target=self._listen, args=(os.fdopen(source, "rb"),), daemon=True).start()
        with os.fdopen(sink, "w", encoding="utf-8") as errors:
            parameters = _lenient(StdioServerParameters(command=sys.executable, args=self._arguments))
            self._manager = stdio_client(parameters, errors)
            return answered(await self._manager.__aenter__())

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End the program; if the connection has failed, give it time to report how it ended."""
        if error is not None and _is_closed(error):
            await self.end()
        self._is_asked_to_end = True
        return await self._manager.__aexit__(kind, error, trace)

    async def end(self) -> ServerEndedError:
        """Wait a moment for the program to end, and return the error that describes the end."""
        await to_thread.run_sync(self._ended.wait, _SECONDS_TO_END)
        text = "".join(self._lines).strip()
        errors = text if len(text) <= _MAX_ERRORS else f"…{text[1 - _MAX_ERRORS :]}"
        return ServerEndedError(self.status, errors)

    def _listen(self, source: IO[bytes]) -> None:
        with suppress(OSError, ValueError), source:
            held, is_whole = "", True  # an empty line that isn't the program's if the mark follows
            while line := source.readline(_MAX_ERRORS):
                text = line.decode(errors="replace")
                before, mark, status = text.partition(f"\0{self._mark}")
                if mark and not self._is_asked_to_end:
                    self.status = int(status)
                if mark:
                    self._keep(before)
                    break
                self._keep(held)
                held = before if is_whole and before == "\n" else ""
                is_whole = before.endswith("\n")
                self._keep("" if held else before)
            else:
                self._keep(held)
        self._ended.set()

    def _keep(self, text: str) -> None:
        if not text:
            return
        with self._lock:
            self._lines.append(text)
            if self._is_passed_on:
                _write_error(text)

    def pass_on(self) -> None:
        """Write the program's standard error so far to ours, and everything that follows."""
        with self._lock:
            _write_error("".join(self._lines))
            self._is_passed_on = True


def _write_error(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # it is closed, or doesn't exist
        sys.stderr.write(text)


@asynccontextmanager
async def connected(source: str | Sequence[str]) -> AsyncGenerator[Client]:
    """Connect to a server while the context lasts.

    Args:
        source: the URL of a server, or the words of a command that starts one.

    Yields:
        The client.

    Raises:
        ServerEndedError: the program ended too early.
    """
    if isinstance(source, str):
        async with Client(over_http(source, certificates())) as client:
            yield client
        return
    program = _ServerProcess(source)
    try:
        async with Client(program) as client:
            program.pass_on()
            names = [id(client), id(client.session)]
            _PROGRAMS.update(dict.fromkeys(names, program))
            try:
                yield client
            finally:
                for name in names:
                    del _PROGRAMS[name]
    except Exception as error:  # the SDK has several classes for a closed connection
        if _is_closed(error):
            raise await program.end() from error
        raise


async def end_of(session: ClientSession | Client, error: BaseException) -> ServerEndedError | None:
    """Return how the program of a session ended, if an error means that the connection was closed.

    Args:
        session: the client that `connected` yields, or its session.
        error: the exception of a request.

    Returns:
        None for any other error, and for a server that `connected` didn't start.
    """
    program = _PROGRAMS.get(id(session))
    return await program.end() if program is not None and _is_closed(error) else None


def _is_closed(error: BaseException) -> bool:
    """Return whether an error means that the connection was closed."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(_is_closed, group.exceptions))
    return isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED
