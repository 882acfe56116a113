"""Connect to an MCP server: by its URL, by the command that starts it, or by a transport of the SDK."""

from __future__ import annotations

import os
import sys
from collections import deque
from contextlib import ExitStack, asynccontextmanager, suppress
from secrets import token_hex
from signal import Signals
from threading import Event, Lock, Thread
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from mcp import MCPError, types

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from types import TracebackType
    from typing import TextIO

    from mcp import ClientSession, StdioServerParameters
    from mcp.client import Client, Transport
    from mcp.client._transport import TransportStreams

__all__ = ["ServerEndedError", "Source", "connected", "end_of", "transport_of"]

Source: TypeAlias = "str | Sequence[str] | StdioServerParameters | Callable[[], Transport]"
"""The URL of a server, a command that starts one, or a function that makes a transport of the SDK."""


@asynccontextmanager
async def transport_of(source: Source) -> AsyncGenerator[TransportStreams]:
    """Connect to a server, or start it; what a server that is started here logs goes to standard error.

    Args:
        source: the URL of a server, the words of a command that starts one, its parameters, or a function
            that makes a transport.

    Yields:
        Streams of messages, to read and to write.
    """
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    with ExitStack() as files:
        if isinstance(source, str):
            made: Any = streamable_http_client(source)
        elif isinstance(source, StdioServerParameters):
            made = stdio_client(source, _error_stream(files))
        elif callable(source):
            made = source()
        else:
            command = StdioServerParameters(command=source[0], args=[*source[1:]])
            made = stdio_client(command, _error_stream(files))
        async with made as streams:
            yield streams


def _error_stream(files: ExitStack) -> TextIO:
    """Return where a process can write its errors.

    The SDK takes what `sys.stderr` was when it was imported, which a process can't write to if a test
    runner or a notebook had put an object of its own there.
    """
    for stream in (sys.stderr, sys.__stderr__):
        with suppress(AttributeError, OSError, ValueError):
            if stream is not None and stream.fileno() >= 0:
                return stream
    return files.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123  # not a path


# --- a program that is started here --------------------------------------------------------------


class ServerEndedError(ConnectionError):
    """The program of a server ended before it was asked to.

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


_WATCH = """
import os, subprocess, sys
try:
    program = subprocess.Popen(sys.argv[2:])
except OSError as error:
    status = 127
    sys.stderr.write(str(error))
else:
    os.close(0)
    os.close(1)
    status = program.wait()
sys.stderr.write(f"\\n\\0{sys.argv[1]}{status}\\n")
"""
"""Starts a program, and writes its exit status behind its standard error: the SDK doesn't say it."""

_PROGRAMS: dict[int, _Program] = {}
"""The `id` of an open client, and of its session, to the program of its server."""

_MAX_ERRORS = 1000
_SECONDS_TO_END = 1.0


class _Program:
    """The transport to a server that a command starts, which knows how the program ends.

    Its standard error is kept back until `pass_on`, and goes to that of this process from then on.

    Args:
        words: the command.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._mark = f"{token_hex(8)}:"
        self._arguments = ["-I", "-S", "-c", _WATCH, self._mark, *words]
        self._lines: deque[str] = deque(maxlen=_MAX_ERRORS)
        self._is_passed_on = self._is_asked_to_end = False
        self.status: int | None = None
        self._ended = Event()
        self._lock = Lock()

    async def __aenter__(self) -> Any:
        """Start the program, and return the streams of its messages."""
        from mcp import StdioServerParameters, stdio_client

        source, sink = os.pipe()
        Thread(target=self._listen, args=(os.fdopen(source, "rb"),), daemon=True).start()
        with os.fdopen(sink, "w", encoding="utf-8") as errors:
            parameters = StdioServerParameters(command=sys.executable, args=self._arguments)
            self._manager = stdio_client(parameters, errors)
            return await self._manager.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End the program; if the connection has failed, give it time to say how it ended."""
        if error is not None and _is_closed(error):
            await self.end()
        self._is_asked_to_end = True
        return await self._manager.__aexit__(kind, error, trace)

    async def end(self) -> ServerEndedError:
        """Wait a moment for the program to end, and return the error that says how it did."""
        from anyio import to_thread

        await to_thread.run_sync(self._ended.wait, _SECONDS_TO_END)
        text = "".join(self._lines).strip()
        errors = text if len(text) <= _MAX_ERRORS else f"…{text[1 - _MAX_ERRORS :]}"
        return ServerEndedError(self.status, errors)

    def _listen(self, source: IO[bytes]) -> None:
        with suppress(OSError, ValueError), source:
            while line := source.readline(_MAX_ERRORS):
                text = line.decode(errors="replace")
                before, mark, status = text.partition(f"\0{self._mark}")
                if mark and not self._is_asked_to_end:
                    self.status = int(status)
                if before:
                    self._keep(before)
                if mark:
                    break
        self._ended.set()

    def _keep(self, text: str) -> None:
        with self._lock:
            self._lines.append(text)
            if self._is_passed_on:
                _write_error(text)

    def pass_on(self) -> None:
        """Write to standard error what the program wrote there, and writes from now on."""
        with self._lock:
            _write_error("".join(self._lines))
            self._is_passed_on = True


def _write_error(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # it is closed, or there is none
        sys.stderr.write(text)


@asynccontextmanager
async def connected(source: str | Sequence[str]) -> AsyncGenerator[Client]:
    """Connect to a server while the context lasts.

    Args:
        source: the URL of a server, or the words of a command that starts one.

    Yields:
        The client.

    Raises:
        ServerEndedError: the program ended before it was asked to.
    """
    from mcp import Client

    if isinstance(source, str):
        async with Client(source) as client:
            yield client
        return
    program = _Program(source)
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
    except Exception as error:  # the SDK has no one class for a connection that closed
        if _is_closed(error):
            raise await program.end() from error
        raise


async def end_of(session: ClientSession | Client, error: BaseException) -> ServerEndedError | None:
    """Return how the program of a session ended, if an error says that the connection was closed.

    Args:
        session: the client that `connected` yields, or its session.
        error: what a request raised.

    Returns:
        None for any other error, and for a server that wasn't started by `connected`.
    """
    program = _PROGRAMS.get(id(session))
    return await program.end() if program is not None and _is_closed(error) else None


def _is_closed(error: BaseException) -> bool:
    """Return whether an error says that the connection was closed."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return any(map(_is_closed, group.exceptions))
    return isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED
