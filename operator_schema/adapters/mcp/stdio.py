"""Serve one client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections import deque
from contextlib import contextmanager, redirect_stdout, suppress
from io import BufferedReader, RawIOBase
from select import select
from threading import BoundedSemaphore, Condition, Thread, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ...json_reading import repeated_key
from ...processes import kept_from_children
from ...tools import WARNING, write_log
from .server import server

if TYPE_CHECKING:
    from collections.abc import Generator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

    from ..base import Tools

LONGEST_LINE = 64 * 2**20
"""The maximum size of one message, in bytes; a longer one gets an error, and the next one is read."""

_MOST_DIGITS = 4000
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


# --- a line ------------------------------------------------------------------------------------------

_SHAPE = (
    'a message is one object of JSON-RPC 2.0: {"jsonrpc": "2.0", "id": a string or an integer, '
    '"method": a string, "params": an object}'
)


class UnreadableLine(NamedTuple):
    """A line that isn't a message: the error, and the id of the intended request.

    Attributes:
        code: the error code of JSON-RPC.
        reason: the error, for the author of the client.
        request_id: the id; None if there is none, or it can't be read.
    """

    code: int
    reason: str
    request_id: str | int | None = None

    def answer(self) -> str:
        """Return the line of the answer."""
        error = {"code": self.code, "message": self.reason}
        return f"{json.dumps({'jsonrpc': '2.0', 'id': self.request_id, 'error': error})}\n"


def message_of(line: bytes) -> types.JSONRPCMessage | UnreadableLine | None:
    """Return the message of a line, or the error in it; None for a line that needs no answer.

    Args:
        line: a line; empty, without even its end, if it was too long.
    """
    if not line:
        return UnreadableLine(types.PARSE_ERROR, f"the message has more than {LONGEST_LINE:,} bytes")
    if line.isspace():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        is_json = first["type"] != "json_invalid"
        value = _loaded(line)
        if value is None and not is_json:
            value = _begun(line)
        return _unread(value, None if is_json else first["msg"])
    repeated = repeated_key(line)
    if repeated is not None:
        return _unread(_loaded(line), repeated)
    if isinstance(message, types.JSONRPCNotification) and "id" in (_loaded(line) or {}):
        return UnreadableLine(types.INVALID_REQUEST, f"its id can't be answered: {_SHAPE}")
    return message


def _unread(value: Any, trouble: str | None) -> types.JSONRPCMessage | UnreadableLine | None:
    """Return the answer to a line that isn't a message.

    Args:
        value: the sent value, as far as Python can read it.
        trouble: the reason why it isn't JSON with distinct keys; None if it is.
    """
    if isinstance(value, list) and trouble is None:
        reason = "batches aren't part of this protocol: send each message in a line of its own"
        return UnreadableLine(types.INVALID_REQUEST, reason)
    sent = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    found = sent.get("id")
    known = found if type(found) in {int, str} else None
    if "method" not in sent and (
        "result" in sent or "error" in sent
    ):  # the sender, who waits for this answer, must not wait forever
        write_log(WARNING, "an answer of the client can't be read")
        error = types.ErrorData(code=types.INVALID_REQUEST, message="the answer can't be read")
        return None if known is None else types.JSONRPCError(jsonrpc="2.0", id=known, error=error)
    if trouble is not None:
        return UnreadableLine(types.PARSE_ERROR, trouble, known)
    return UnreadableLine(types.INVALID_REQUEST, _SHAPE, known)


def _loaded(line: bytes) -> Any:
    """Return the JSON value of a line, since Python accepts more than the SDK; None if it can't be read."""
    try:
        return json.loads(line, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


_DECODER = json.JSONDecoder(parse_int=_number)
_SPACE = re.compile(r"[ \t\r\n]*")
_KINDS = {"method", "result", "error"}
_MOST_KEYS = 16
"""The number of keys that are searched for an id; a message has four."""


def _begun(line: bytes) -> dict[str, Any]:
    """Return the readable beginning of an object; its last key may have no value.

    Its id is left out if the kind of the message isn't known: an answer of the client has an id of the
    server.
    """
    text = line.decode("utf-8-sig", "replace")
    found: dict[str, Any] = {}
    mark, place = "{", 0
    with suppress(ValueError, RecursionError):
        for _ in range(_MOST_KEYS):
            key, place = _next(text, place, mark)
            found[str(key)] = None
            value, place = _next(text, place, ":")
            if not text.startswith((",", "}"), _after_space(text, place)):
                break  # a number may continue
            found[str(key)] = value
            mark = ","
    return found if _KINDS & found.keys() else {}


def _next(text: str, place: int, mark: str) -> tuple[Any, int]:
    """Return the value after a mark, and where it ends.

    Raises:
        ValueError: there is no such mark, or no value after it.
    """
    start = _after_space(text, place)
    if not text.startswith(mark, start):
        raise ValueError
    value: tuple[Any, int] = _DECODER.raw_decode(text, _after_space(text, start + 1))
    return value


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()


# --- the process -------------------------------------------------------------------------------------


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
                while line := self._source.readline(LONGEST_LINE):
                    if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                        self._skip_rest()
                        line = b""
                    self._room.acquire()
                    self._put(line)
            except (OSError, ValueError):
                pass
            self._put(None)

    def _skip_rest(self) -> None:
        while (line := self._source.readline(LONGEST_LINE)) and not line.endswith(b"\n"):
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
