"""How does a message of JSON-RPC reach a server, and how does the answer come back?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from queue import SimpleQueue
from threading import Condition, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from ...json_reading import read_distinct
from ...json_values import is_object
from ...processes import kill_group
from .outcomes import METHOD_NOT_FOUND, ProbedOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_LONGEST_LINE: Final = 64 * 2**20
_MOST_NOISE: Final = 50
_MOST_ERRORS: Final = 4000
_CHUNK: Final = 2**16
_SECONDS_TO_END: Final = 2.0
_PATIENCE: Final = 3
"""While parts of an answer come, its end is waited for so many times as long as usual."""


class Channel(ABC):
    """A connection to a server.

    Attributes:
        noise: lines that aren't messages of JSON-RPC, and second answers.
    """

    def __init__(self) -> None:
        self.noise: list[str] = []
        self._inbox = _Inbox()

    def send(self, method: str, params: Any) -> int:
        """Send a request, and return its id."""
        request = self._inbox.new_id()
        self._write(_line_of(_message(method, params, request)), request)
        return request

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._write(_line_of(_message(method, params)))

    def wait(self, request: int, seconds: float) -> ProbedOutcome:
        """Wait for the answer to a request."""
        return self._inbox.wait(request, seconds)

    @abstractmethod
    def close(self) -> str:
        """End the connection, and the process if there is one; return the end of its standard error."""

    @abstractmethod
    def _write(self, line: bytes, request: int | None = None) -> None:
        """Send a message without waiting; `request` is the id of a request."""

    def _take(self, text: bytes) -> None:
        """Take a message of the server: an answer, a request, or something else."""
        message = read_message(text)
        if message is None:
            if text.strip():
                self._add_noise("", text)
        elif "method" in message:
            if "id" in message:
                self._write(self._inbox.answer(message))
        elif isinstance(message.get("id"), int):
            if self._inbox.is_answered(message["id"]):
                self._add_noise("a second answer: ", text)
            kind: Literal["error", "result"] = "error" if "error" in message else "result"
            self._inbox.put(message["id"], ProbedOutcome(kind, message.get(kind), len(text)))

    def _add_noise(self, what: str, text: bytes) -> None:
        if len(self.noise) < _MOST_NOISE:
            self.noise.append(f"{what}{text[:500].decode(errors='replace').rstrip()}")


class PipeChannel(Channel):
    """A connection to a server that reads lines from one stream and writes lines to another.

    Args:
        source: the stream with the server's messages.
        sink: the stream for messages to the server.
    """

    def __init__(self, source: IO[bytes], sink: IO[bytes]) -> None:
        super().__init__()
        self._source, self._sink = source, sink
        self._outgoing: SimpleQueue[bytes | None] = SimpleQueue()
        self._threads = [
            Thread(target=work, daemon=True, name="probe channel")
            for work in (self._read_all, self._write_all)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> str:
        """End the connection, and give the server time to end."""
        self._hang_up()
        self._threads[0].join(_SECONDS_TO_END)
        return ""

    def _hang_up(self) -> None:
        self._outgoing.put(None)
        self._threads[1].join(_SECONDS_TO_END)

    def _read_all(self) -> None:
        reason = "it closed its standard output"
        number = self._source.fileno()
        try:
            for line in _lines(iter(lambda: os.read(number, _CHUNK), b""), self._inbox.hear):
                self._take(line)
        except _LongLineError:
            reason = f"it wrote a line of more than {_LONGEST_LINE:,} bytes"
        except (OSError, ValueError):
            pass
        self._inbox.end(reason)
        with suppress(OSError, ValueError):
            self._source.close()

    def _write(self, line: bytes, request: int | None = None) -> None:  # noqa: ARG002  # all are sent alike
        self._outgoing.put(line)

    def _write_all(self) -> None:
        with suppress(OSError, ValueError):
            while (line := self._outgoing.get()) is not None:
                self._sink.write(line)
                self._sink.flush()
        with suppress(OSError, ValueError):
            self._sink.close()


class ProcessChannel(PipeChannel):
    """A connection to a server that is started here, in a process group of its own.

    Args:
        words: the command.
        cwd: the working directory.
        env: all environment variables.
        memory: the limit for each process, in megabytes; only on Linux.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self, words: Sequence[str], cwd: str, env: Mapping[str, str], memory: int) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # that is what it is for
            list(words),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _limit_memory(self._process.pid, memory)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018  # they are pipes
        self._errors: deque[bytes] = deque(maxlen=_MOST_ERRORS // 100)
        self._listener = Thread(target=self._hear, args=(self._process.stderr,), daemon=True)
        self._listener.start()
        super().__init__(self._process.stdout, self._process.stdin)

    def errors(self) -> str:
        """Return the end of its standard error so far."""
        return b"".join(self._errors.copy())[-_MOST_ERRORS:].decode(errors="replace")

    def close(self) -> str:
        """End the process and its children; return the end of its standard error."""
        self._hang_up()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        kill_group(self._process, "SIGTERM")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        kill_group(self._process)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_SECONDS_TO_END)
        for thread in (self._threads[0], self._listener):  # each closes what it reads
            thread.join(_SECONDS_TO_END)
        return self.errors()

    def _hear(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while chunk := stream.readline(_MOST_ERRORS):
                self._errors.append(chunk)


def _limit_memory(process: int, megabytes: int) -> None:
    """Limit the memory of a new process, and of its children."""
    if sys.platform == "linux":
        import resource

        size = megabytes * 2**20
        with suppress(OSError, ValueError):  # it has ended, or has a lower limit
            resource.prlimit(process, resource.RLIMIT_DATA, (size, size))


class HttpChannel(Channel):
    """A connection to a server behind a URL, by the transport "Streamable HTTP" of MCP.

    Args:
        url: `http://` or `https://`.
        headers: headers of each request, such as `Authorization`.
        seconds: the maximum time of a request.

    Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
    """

    def __init__(self, url: str, headers: Mapping[str, str], seconds: float) -> None:
        super().__init__()
        self.version = ""
        self._url, self._headers, self._seconds = url, headers, seconds
        self._session = ""

    def close(self) -> str:
        """End the session."""
        if self._session:
            request = urllib.request.Request(self._url, headers=self._own_headers(), method="DELETE")  # noqa: S310  # the user's URL
            with suppress(OSError, ValueError), urllib.request.urlopen(request, timeout=_SECONDS_TO_END):  # noqa: S310  # the same
                pass
        return ""

    def _own_headers(self) -> dict[str, str]:
        found = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self._headers,
        }
        if self._session:
            found["Mcp-Session-Id"] = self._session
        if self.version:
            found["MCP-Protocol-Version"] = self.version
        return found

    def _post(self, body: bytes) -> Any:
        request = urllib.request.Request(self._url, body, self._own_headers(), method="POST")  # noqa: S310  # the user's URL
        return urllib.request.urlopen(request, timeout=self._seconds)  # noqa: S310  # the same

    def _write(self, line: bytes, request: int | None = None) -> None:
        if request is None:
            with suppress(OSError, ValueError), self._post(line) as response:
                response.read(_LONGEST_LINE)
        else:  # in a thread of its own, which also takes the answer
            Thread(target=self._ask, args=(request, line), daemon=True, name="probe request").start()

    def _ask(self, request: int, body: bytes) -> None:
        try:
            with self._post(body) as response:
                self._session = response.headers.get("Mcp-Session-Id") or self._session
                for text in _messages_in(response, self._inbox.hear):
                    self._take(text)
            self._inbox.put(request, ProbedOutcome("closed", "the response ended without an answer"))
        except urllib.error.HTTPError as error:
            text = error.read(_MOST_ERRORS)
            message = read_message(text)
            if message is not None and "error" in message:
                outcome = ProbedOutcome("error", message["error"], len(text))
            else:
                said = text[:200].decode(errors="replace")
                outcome = ProbedOutcome("closed", f"HTTP {error.code}: {said}")
            self._inbox.put(request, outcome)
        except TimeoutError:
            return
        except (OSError, ValueError) as error:
            self._inbox.put(request, ProbedOutcome("closed", str(error)))


def _messages_in(response: Any, hear: Callable[[], None]) -> Iterator[bytes]:
    """Yield the messages of a response: its body, or the data of its events.

    Args:
        response: a response of HTTP.
        hear: called after each part of a message.
    """
    chunks = iter(lambda: response.read1(_CHUNK), b"")
    if "text/event-stream" not in (response.headers.get("Content-Type") or ""):
        yield b"".join(_lines(chunks, hear))
        return
    data: list[bytes] = []
    for whole in _lines(chunks, hear):
        line = whole.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []
    if data:
        yield b"\n".join(data)


# --- messages ------------------------------------------------------------------------------------


class _Inbox:
    """Keeps answers by the ids of their requests: one thread puts them in, and another one waits for them."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._replies: dict[int, ProbedOutcome] = {}
        self._answered: set[int] = set()
        self._open: set[int] = set()
        self._refused: set[int] = set()
        self._end: str | None = None
        self._heard = 0.0
        self._last = 0

    def new_id(self) -> int:
        """Return the id for a new request."""
        with self._condition:
            self._last += 1
            self._open.add(self._last)
            return self._last

    def put(self, request: int, reply: ProbedOutcome) -> None:
        """Keep the first answer to a request, and ignore later ones."""
        with self._condition:
            if request not in self._answered:
                self._answered.add(request)
                self._open.discard(request)
                self._replies[request] = reply._replace(was_refused=request in self._refused)
                self._condition.notify_all()

    def is_answered(self, request: int) -> bool:
        """Return whether a request has an answer."""
        with self._condition:
            return request in self._answered

    def answer(self, message: Mapping[str, Any]) -> bytes:
        """Return the answer to a request of the server; a refusal is noted for each open call."""
        if message["method"] != "ping":
            with self._condition:
                self._refused |= self._open
        return _line_of(_answer_to(message))

    def hear(self) -> None:
        """Note that a part of a message has come, but not its end."""
        with self._condition:
            self._heard = monotonic()
            self._condition.notify_all()

    def end(self, reason: str) -> None:
        """Note that no more messages come."""
        with self._condition:
            self._end = reason
            self._condition.notify_all()

    def wait(self, request: int, seconds: float) -> ProbedOutcome:
        """Wait for the answer to a request.

        Args:
            request: the id of the request.
            seconds: the time limit; three times as long while parts of a message come.
        """
        begin = monotonic()
        with self._condition:
            while request not in self._replies:
                if self._end is not None:
                    return ProbedOutcome("closed", self._end)
                until = min(max(begin, self._heard) + seconds, begin + seconds * _PATIENCE)
                left = until - monotonic()
                if left <= 0:
                    return ProbedOutcome("silent", f"no answer within {seconds:g} s")
                self._condition.wait(left)
            return self._replies.pop(request)


def _message(method: str, params: Any, request: int | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if request is not None:
        found["id"] = request
    if params is not None:
        found["params"] = params
    return found


class _LongLineError(ValueError):
    """Raised if a line is too long to be kept."""


def _lines(chunks: Iterable[bytes], hear: Callable[[], None]) -> Iterator[bytes]:
    """Yield the lines of a stream, with their ends.

    Args:
        chunks: the parts of the stream, in their order.
        hear: called after each part of a line.

    Raises:
        _LongLineError: a line is too long.
    """
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for end in whole:
            yield b"".join([*parts, end, b"\n"])
            parts, size = [], 0
        if rest:
            parts.append(rest)
            size += len(rest)
            hear()
        if size >= _LONGEST_LINE:
            raise _LongLineError
    if parts:
        yield b"".join(parts)


def _line_of(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def read_message(text: bytes) -> dict[str, Any] | None:
    """Return a message of JSON-RPC; None for anything else."""
    try:
        found = read_distinct(text)
    except (ValueError, RecursionError):
        return None
    return found if is_object(found) and found.get("jsonrpc") == "2.0" else None


def _answer_to(message: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request of the server: with a result for a ping, else with an error."""
    if message["method"] == "ping":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
    return {"jsonrpc": "2.0", "id": message["id"], "error": error}
