"""How is one client served over standard input and output?"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from contextlib import contextmanager, redirect_stdout, suppress
from io import BufferedReader, RawIOBase
from select import select
from threading import BoundedSemaphore, Condition, Thread, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from ...processes import kept_from_children
from . import stdio_lines
from .stdio_lines import UnreadableLine, message_of
from .tool_server import server

if TYPE_CHECKING:
    from collections.abc import Generator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

    from ..base import Tools

_WAITING_LINES = 16
WAITING_BYTES = 2**20
_SECONDS_TO_OPEN = 1.0
MOST_TO_OPEN = 2**20
"""The maximum number of bytes of an opening request that are searched."""
_READ_AT_ONCE = 2**16
GRACE = 5.0
"""The seconds that tools get to clean up after a signal; then the process ends in any case."""


def serve(tools: Tools, /, **options: Any) -> int:
    """Serve tools over standard input and output until the client that started this program disconnects.

    Args:
        tools: tools, a toolset, a registry or an executor, as for `server`.
        options: options, as for `server`.

    Returns:
        The exit status for `sys.exit`: 0, or 128 and the number of the signal that ended it.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has a wrong type.
        ValueError: an argument is out of range, or the executor has other tools.
    """
    made = server(tools, **options)
    with taken_streams() as streams, kept_from_children():
        return asyncio.run(serve_stdio(made, *streams))


def opening_request(source: BufferedReader[Any]) -> tuple[types.JSONRPCRequest | None, BufferedReader[Any]]:
    """Return the first request of a client, and a stream that still contains it.

    Args:
        source: the stream of messages; after this, read only from the returned stream.

    Returns:
        The request is None if there is no whole line within a second, if it is typed at a terminal, is longer
        than 1 MiB or isn't a request: a client that starts a server sends it at once.
    """
    taken, end = b"", monotonic() + _SECONDS_TO_OPEN
    with suppress(OSError, ValueError):  # on Windows, only sockets can be waited for
        while b"\n" not in taken and len(taken) < MOST_TO_OPEN and not source.isatty():
            if not select([source], [], [], max(0, end - monotonic()))[0]:
                break
            part = source.read1(_READ_AT_ONCE)
            if not part:
                break
            taken += part
    line, is_whole, _ = taken.partition(b"\n")
    found = message_of(line) if is_whole else None
    whole = BufferedReader(_After(taken, source), _READ_AT_ONCE)
    return found if isinstance(found, types.JSONRPCRequest) else None, whole


class _After(RawIOBase):
    """A stream of bytes that were read already, followed by the rest of the stream.

    Args:
        taken: the bytes that were read before.
        rest: the rest of the stream.
    """

    def __init__(self, taken: bytes, rest: BufferedReader[Any]) -> None:
        self._taken, self._rest = taken, rest

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; none at the end."""
        view = memoryview(buffer)
        part = self._taken[: len(view)] or self._rest.read1(len(view))
        self._taken = self._taken[len(part) :]
        view[: len(part)] = part
        return len(part)


@contextmanager
def taken_streams() -> Generator[tuple[BufferedReader[Any], BinaryIO]]:
    """Reserve standard input and output for the protocol in this process.

    Everything else that is written to standard output, by `print`, by C code or by a child process, goes to
    standard error; everything else that reads standard input finds it empty. This lasts until the process
    ends, since buffered output must not reach the client later.

    Yields:
        The stream for reading messages, and the stream for writing them.
    """
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)  # the lowest free number: standard error, if there is none
    source, sink = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if nothing > 2:  # noqa: PLR2004  # a standard stream
        os.close(nothing)
    # Not closed: a thread may still read from one when the server ends.
    reader, writer = os.fdopen(source, "rb", closefd=False), os.fdopen(sink, "wb", 0, closefd=False)
    with redirect_stdout(sys.stderr):
        yield reader, writer


async def serve_stdio(server: Server[Any], source: BinaryIO, sink: BinaryIO) -> int:
    """Serve one client until it closes the connection or a signal arrives.

    Args:
        server: the server.
        source: the stream from which messages are read.
        sink: the stream to which messages are written.

    Returns:
        The exit status: 0, or 128 and the number of the signal.
    """
    lines, writer = _StreamLines(source), ThreadedWriter(sink)
    sent, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, answers = anyio.create_memory_object_stream[SessionMessage]()
    with _cancelled_by_signals() as stop, stop.scope:
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_take_all, lines, sent, writer)
                group.start_soon(_write_all, answers, writer)
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* OSError:  # the client doesn't read any more
            pass
        await writer.drain()
    return stop.status


async def _take_all(
    lines: _StreamLines, sent: MemoryObjectSendStream[SessionMessage | Exception], writer: ThreadedWriter
) -> None:
    """Pass on the messages of the client; answer lines that contain no readable message."""
    async with sent:
        async for line in lines:
            message = message_of(line)
            if isinstance(message, UnreadableLine):
                await writer.write(message.answer())
            elif message is not None:
                await sent.send(SessionMessage(message))


async def _write_all(answers: MemoryObjectReceiveStream[SessionMessage], writer: ThreadedWriter) -> None:
    async with answers:
        async for answer in answers:
            text = answer.message.model_dump_json(by_alias=True, exclude_unset=True)
            await writer.write(f"{text}\n")


class _Stop:
    """The work that a signal cancels.

    Attributes:
        scope: the scope that the first signal cancels.
        status: the exit status.
    """

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.status = 0

    def __call__(self, number: int) -> None:
        self.status = 128 + number
        self.scope.cancel()
        end = Timer(
            GRACE, os._exit, [self.status]
        )  # a thread that can't be stopped may keep the process alive
        end.daemon = True
        end.start()


@contextmanager
def _cancelled_by_signals() -> Generator[_Stop]:
    stop, loop = _Stop(), asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    with suppress(NotImplementedError, RuntimeError):  # not on Windows, nor in other threads
        for number in numbers:
            loop.add_signal_handler(number, stop, number)
    try:
        yield stop
    finally:
        with suppress(NotImplementedError, RuntimeError):
            for number in numbers:
                loop.remove_signal_handler(number)


class _StreamLines:
    """The lines of a stream, read in a thread that doesn't keep the process from ending.

    A line that is too long is empty here, without a line end.
    """

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = BoundedSemaphore(_WAITING_LINES)
        Thread(target=self._read, name="reader of MCP messages", daemon=True).start()

    def __aiter__(self) -> _StreamLines:
        return self

    async def __anext__(self) -> bytes:
        line = await self._queue.get()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            try:
                while line := self._source.readline(stdio_lines.LONGEST_LINE):
                    if len(line) == stdio_lines.LONGEST_LINE and not line.endswith(b"\n"):
                        self._skip_rest()
                        line = b""
                    self._room.acquire()
                    self._put(line)
            except (OSError, ValueError):
                pass
            self._put(None)

    def _skip_rest(self) -> None:
        while (line := self._source.readline(stdio_lines.LONGEST_LINE)) and not line.endswith(b"\n"):
            pass

    def _put(self, line: bytes | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


class ThreadedWriter:
    """A stream that is written in a thread, so that it blocks nothing else if nobody reads it."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._changed = Condition()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._error: OSError | None = None
        Thread(target=self._write, name="writer of MCP messages", daemon=True).start()

    async def write(self, text: str) -> None:
        """Queue a text for writing; wait if too much is queued already."""
        data = text.encode("utf-8", "replace")
        await self._has_room.wait()
        if self._error is not None:
            raise self._error
        with self._changed:
            self._waiting.append(data)
            self._size += len(data)
            if self._size > WAITING_BYTES:
                self._has_room.clear()
            self._changed.notify()

    async def drain(self) -> None:
        """Wait until everything is written or writing fails."""
        while self._size and self._error is None:
            self._has_room.clear()
            await self._has_room.wait()

    def _write(self) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            while self._error is None:
                with self._changed:
                    while not self._waiting:
                        self._changed.wait()
                    data = b"".join(self._waiting)
                    self._waiting.clear()
                try:
                    _write_out(self._sink, data)
                except (OSError, ValueError) as error:
                    self._error = error if isinstance(error, OSError) else OSError(str(error))
                with self._changed:
                    self._size -= len(data)
                self._loop.call_soon_threadsafe(self._has_room.set)


def _write_out(sink: BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[sink.write(rest) :]
