"""How does a server talk over standard input and output?"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from contextlib import contextmanager, redirect_stdout, suppress
from threading import BoundedSemaphore, Condition, Thread, Timer
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio
from mcp.server.stdio import stdio_server

from ...tools.log import WARNING, write_log

if TYPE_CHECKING:
    from collections.abc import Generator

    from mcp.server.lowlevel import Server

__all__ = ["serve_stdio", "taken_streams"]

LONGEST_LINE = 64 * 2**20
"""Bytes of one message at most; a longer one is dropped, and the next one is read."""

_WAITING_LINES = 16
_WAITING_BYTES = 2**20
_GRACE = 5.0
"""Seconds that tools get to clean up after a signal; then the process ends all the same."""


@contextmanager
def taken_streams() -> Generator[tuple[BinaryIO, BinaryIO]]:
    """Take standard input and output for the protocol, away from everything else in this process.

    Whatever else is written to standard output, by `print`, by C code or by a child process, goes to
    standard error; whatever else reads standard input finds it empty. This lasts until the process ends:
    what is still buffered somewhere must not reach the client later.

    Yields:
        Where messages are read, and where they are written.
    """
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    # Not closed: a thread may still read from one when the server ends.
    reader, writer = os.fdopen(source, "rb", closefd=False), os.fdopen(sink, "wb", 0, closefd=False)
    with redirect_stdout(sys.stderr):
        yield reader, writer


async def serve_stdio(server: Server[Any], source: BinaryIO, sink: BinaryIO) -> int:
    """Serve one client until it closes its end, or a signal asks for the end.

    Args:
        server: what it serves.
        source: where messages are read.
        sink: where messages are written.

    Returns:
        The exit status: 0, or 128 and the number of the signal.
    """
    lines, writer = _Lines(source), _Writer(sink)
    # Of an `AsyncFile`, the SDK needs only what these have.
    streams = stdio_server(cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str]", writer))
    with _cancelled_by_signals() as stop, stop.scope:
        try:
            async with streams as (read_stream, write_stream):
                options = server.create_initialization_options()
                await server.run(read_stream, write_stream, options)
        except* OSError:  # the client doesn't read any more
            pass
        await writer.drain()
    return stop.status


class _Stop:
    """What a signal cancels.

    Attributes:
        scope: is cancelled by the first signal.
        status: exit status.
    """

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.status = 0

    def __call__(self, number: int) -> None:
        self.status = 128 + number
        self.scope.cancel()
        end = Timer(_GRACE, os._exit, [self.status])  # a thread that can't be stopped may hold the process
        end.daemon = True
        end.start()


@contextmanager
def _cancelled_by_signals() -> Generator[_Stop]:
    stop, loop = _Stop(), asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    with suppress(NotImplementedError, RuntimeError):  # Windows has none, other threads may not
        for number in numbers:
            loop.add_signal_handler(number, stop, number)
    try:
        yield stop
    finally:
        with suppress(NotImplementedError, RuntimeError):
            for number in numbers:
                loop.remove_signal_handler(number)


class _Lines:
    """The lines of a stream, read in a thread that doesn't keep the process from ending."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = BoundedSemaphore(_WAITING_LINES)
        Thread(target=self._read, name="reader of MCP messages", daemon=True).start()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        if line is None:
            raise StopAsyncIteration
        self._room.release()
        return line

    def _read(self) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            try:
                while line := self._source.readline(LONGEST_LINE):
                    if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                        self._skip_rest()
                        continue
                    self._room.acquire()
                    self._put(line.decode("utf-8", "replace"))
            except (OSError, ValueError):
                pass
            self._put(None)

    def _skip_rest(self) -> None:
        write_log(WARNING, "a message of more than %s bytes is dropped", LONGEST_LINE)
        while (line := self._source.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
            pass

    def _put(self, line: str | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, line)


class _Writer:
    """A stream that is written to in a thread: one that nobody reads stops nothing else."""

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
        """Have a text written; wait if too much is waiting already."""
        data = text.encode("utf-8", "replace")
        await self._has_room.wait()
        if self._error is not None:
            raise self._error
        with self._changed:
            self._waiting.append(data)
            self._size += len(data)
            if self._size > _WAITING_BYTES:
                self._has_room.clear()
            self._changed.notify()

    async def flush(self) -> None:
        """Do nothing: what is written is on its way."""

    async def drain(self) -> None:
        """Wait until everything is written, or can't be."""
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
                    _write_all(self._sink, data)
                except (OSError, ValueError) as error:
                    self._error = error if isinstance(error, OSError) else OSError(str(error))
                with self._changed:
                    self._size -= len(data)
                self._loop.call_soon_threadsafe(self._has_room.set)


def _write_all(sink: BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[sink.write(rest) :]
