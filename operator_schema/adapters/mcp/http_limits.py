"""How many sessions and streams may be open over HTTP, and how long may a client take for its headers?"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH = "/mcp"
"""The path at which clients reach the server."""

MOST_STREAMS = 500
"""The maximum number of open streams, so that connections are left for requests."""

MOST_SESSIONS = 1000
SECONDS_IDLE = 1800.0
SECONDS_FOR_HEADERS = 10.0

_SESSION = b"mcp-session-id"
_RESUMED = b"last-event-id"
_TO_BEGIN = 2
"""The number of requests of a client that has only opened its session."""

_ENDED = (frozenset({404}), frozenset({200, 202, 204, 404}))
"""The statuses that show the end of a session: for any request, and for a request to end it."""


class Sessions:
    """An ASGI application that limits the open sessions, but always has room for a new one.

    Clients before version 2026-07-28 open a session, and few of them close it. If there are too many, a new
    session ends the one that has been idle for longest, and first those that were never used. So a client
    that opens thousands of sessions only ends its own. A client whose session has ended gets 404, and then
    opens another one.

    Args:
        app: the application behind this one; its answer to a request that opens a session has the header
            `Mcp-Session-Id`.
        most: the maximum number of open idle sessions. More may be in use.
        seconds_idle: how long a session may be idle before it ends.
    """

    def __init__(
        self, app: ASGIApp, *, most: int = MOST_SESSIONS, seconds_idle: float = SECONDS_IDLE
    ) -> None:
        self._app = app
        self._most = most
        self._seconds_idle = seconds_idle
        self._running: dict[bytes, int] = {}  # sessions in use, with the number of their open requests
        self._idle: dict[bytes, float] = {}  # idle sessions and since when, the longest first
        self._requests: dict[bytes, int] = {}  # all open sessions, with the number of their requests so far

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session = _session_of(scope["headers"])
        if session is not None and session not in self._requests:
            await self._app(scope, receive, send)
            return
        is_over = False

        async def watch(message: Message) -> None:
            nonlocal session, is_over
            if message["type"] == "http.response.start":
                if session is None and (opened := _session_of(message["headers"])) is not None:
                    session = opened
                    self._begin(opened)
                    await self._make_room()
                is_over = message["status"] in _ENDED[scope["method"] == "DELETE"]
            await send(message)

        if session is not None:
            self._begin(session)
        try:
            await self._app(scope, receive, watch)
        finally:
            if session is not None:
                self._leave(session, is_over=is_over)

    def _begin(self, session: bytes) -> None:
        self._idle.pop(session, None)
        self._running[session] = self._running.get(session, 0) + 1
        self._requests[session] = self._requests.get(session, 0) + 1

    def _leave(self, session: bytes, *, is_over: bool) -> None:
        self._running[session] -= 1
        if not self._running[session]:
            del self._running[session]
            if is_over:
                del self._requests[session]
            else:
                self._idle[session] = time.monotonic()

    async def _make_room(self) -> None:
        """End sessions that have been idle for too long, and one more if there are too many."""
        latest = time.monotonic() - self._seconds_idle
        while self._idle and next(iter(self._idle.values())) < latest:
            await self._end(next(iter(self._idle)))
        if self._idle and len(self._requests) > self._most:
            unused = (session for session in self._idle if self._requests[session] <= _TO_BEGIN)
            await self._end(next(unused, next(iter(self._idle))))

    async def _end(self, session: bytes) -> None:
        """End a session in the same way as its own client."""
        del self._idle[session], self._requests[session]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "DELETE",
            "scheme": "http",
            "path": PATH,
            "raw_path": PATH.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(_SESSION, session)],
            "client": None,
            "server": None,
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(_: Message) -> None:
            pass

        await self._app(scope, receive, send)


class Streams:
    """An ASGI application that limits the open streams: the oldest one ends for a new one.

    A client that listens for messages keeps a stream open with GET. When it has ended, the client can open
    another one, which repeats nothing.

    Args:
        app: the application behind this one; it ends a stream when its client has disconnected.
        most: the maximum number of open streams.
    """

    def __init__(self, app: ASGIApp, *, most: int = MOST_STREAMS) -> None:
        self._app = app
        self._most = most
        self._open: dict[asyncio.Event, None] = {}  # the oldest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        # No sent messages are kept, so a stream to be resumed starts again; the SDK would fail.
        headers = [(name, value) for name, value in scope["headers"] if name.lower() != _RESUMED]
        scope = {**scope, "headers": headers}
        if len(self._open) >= self._most:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.set()
        ended = asyncio.Event()
        self._open[ended] = None

        async def receive_or_end() -> Message:
            message, end = asyncio.ensure_future(receive()), asyncio.ensure_future(ended.wait())
            try:
                await asyncio.wait([message, end], return_when=asyncio.FIRST_COMPLETED)
                return message.result() if message.done() else {"type": "http.disconnect"}
            finally:
                message.cancel()
                end.cancel()

        try:
            await self._app(scope, receive_or_end, send)
        finally:
            self._open.pop(ended, None)


def _session_of(headers: Any) -> bytes | None:
    return next((value for name, value in headers if name.lower() == _SESSION), None)


class PunctualProtocol(H11Protocol):
    """A connection that is closed if the headers of a request take too long to arrive."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the time limit for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and start or end the time limit."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the time limit."""
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Start the time limit for headers: with the connection, or with their first byte."""
        if self._is_served():
            self._forget()
        elif self._timer is None:
            self._timer = self.loop.call_later(SECONDS_FOR_HEADERS, self._close)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._timer = None
        if not self._is_served():
            self.transport.close()

    def _is_served(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete
