"""Serve over HTTP, and refuse requests that must not reach the server."""

from __future__ import annotations

import asyncio
import hmac
import signal
import time
from contextlib import contextmanager
from hashlib import sha256
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import PARSE_ERROR
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...immutable import Value
from ...json_reading import repeated_key
from ..http_requests import body_of, headers_of, listen, refuse, replayed, status_of_sender, uvicorn_server

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


LARGEST_BODY = 16 * 2**20
"""The maximum size of a request, in bytes."""

SECONDS_FOR_BODY = 30.0
"""Seconds in which the whole body of a request has to arrive after its headers."""

_PORT_OF_HTTP = 80
_PREFLIGHT = b"access-control-request-method"
_LOOKED_AT = (b"host", b"origin", b"authorization", _PREFLIGHT)

_UNKNOWN = 401
REASONS = {
    _UNKNOWN: "the bearer token is missing or wrong",
    403: "this Origin isn't allowed",
    408: "the request took too long to arrive",
    413: "the request is too large",
    421: "this Host isn't served here",
}


def hosts_of(names: Iterable[str], port: int) -> frozenset[str]:
    """Return the allowed values of the header `Host`.

    Args:
        names: the names of this server; a name with its own port (behind a proxy) is used unchanged.
        port: the port of the server.
    """
    folded = [name.lower() for name in names]
    return frozenset([*folded, *[f"{name}:{port}" for name in folded]])


def origins_of(names: Iterable[str], port: int) -> list[str]:
    """Return the values of the header `Origin` for pages of this server itself.

    Pages on another port or scheme of this machine may belong to somebody else.

    Args:
        names: the names under which the server is reached without a proxy.
        port: the port of the server; browsers leave out 80.
    """
    shown = "" if port == _PORT_OF_HTTP else f":{port}"
    return [f"http://{name.lower()}{shown}" for name in names]


def origins_behind(names: Iterable[str], port: int) -> list[str]:
    """Return the values of the header `Origin` for pages of a proxy in front of the server.

    Args:
        names: the names of the proxy, as for `hosts_of`.
        port: the port of the server.
    """
    return [f"{scheme}://{host}" for scheme in ("http", "https") for host in sorted(hosts_of(names, port))]


class HttpGuard:
    """An ASGI application that refuses requests that must not reach the server behind it.

    A web page that a user of this machine opens can send requests here: from its own address, which `Origin`
    shows, or by a name that resolves to this machine (DNS rebinding), which `Host` shows. Refusals are logged
    without any data from the client.

    Args:
        app: the application behind the guard.
        hosts: the values that `Host` may have, in lower case.
        origins: the values that `Origin` may have if there is one, in lower case.
        token: the token that clients must send as `Authorization: Bearer …`; None if they need none.
        answers_preflights: whether the application answers the requests with which browsers find out what a
            page of another origin may send (CORS). They have no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str],
        origins: Collection[str],
        token: str | None,
        *,
        answers_preflights: bool,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins
        self._answers_preflights = answers_preflights
        # Digests have a fixed length, so that the time of a comparison doesn't reveal the token's length.
        self._digest = None if token is None else sha256(token.encode()).digest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, body = self._status_of(scope["method"], scope["headers"]), b""
        if status is None:
            status, body = await body_of(receive, LARGEST_BODY, SECONDS_FOR_BODY)
        if status is not None:
            await refuse(
                scope, _asking_for_a_token(send) if status == _UNKNOWN else send, status, REASONS[status]
            )
            return
        repeated = repeated_key(body) if body else None
        if repeated is not None:
            error = {"code": PARSE_ERROR, "message": repeated}
            await JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)(scope, receive, send)
            return
        await self._app(scope, replayed(receive, body), send)

    def _status_of(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
        """Return the status for refused headers; None if they are allowed."""
        found = headers_of(headers, _LOOKED_AT)
        status = status_of_sender(found, self._hosts, self._origins)
        if status is not None:
            return status
        is_preflight = method == "OPTIONS" and bool(found[_PREFLIGHT]) and self._answers_preflights
        is_known = self._digest is None or is_preflight or self._is_known(found[b"authorization"])
        return None if is_known else _UNKNOWN

    def _is_known(self, given: list[str]) -> bool:
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        digest = sha256(token.encode("latin-1").strip()).digest()
        return hmac.compare_digest(digest, self._digest or b"") and scheme.lower() == "bearer"


def _asking_for_a_token(send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"www-authenticate", b"Bearer")]}
        await send(message)

    return answer


PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104  # it is recognised, not bound
MOST_CONNECTIONS = 1000
MOST_STREAMS = 500
"""The maximum number of open streams, so that connections are left for requests."""

MOST_SESSIONS = 1000
SECONDS_IDLE = 1800.0
_SESSION = b"mcp-session-id"
_RESUMED = b"last-event-id"
_TO_BEGIN = 2
"""The number of requests of a client that has only opened its session."""

SECONDS_FOR_HEADERS = 10.0
_ENDED = (frozenset({404}), frozenset({200, 202, 204, 404}))
"""The statuses that show the end of a session: for any request, and for a request to end it."""

GRACE = 5
"""Seconds that open requests get when the server shuts down."""


class Address(Value):
    """The address and port of a server, and its rules for clients.

    Attributes:
        host: the name or address to listen on.
        port: the port; 0 for any free one.
        token: the bearer token that clients must send, or None.
        allowed_hosts: further names of this server, besides those of this machine, as clients write them.
        allowed_origins: origins of web pages that may send requests, such as `https://inspector.example`.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether only programs of this machine can reach it."""
        return self.host in _LOOPBACK or self.host == "::1"

    def __repr__(self) -> str:
        return f"Address({self.host!r}, {self.port!r}, {'…' if self.token else None})"


async def serve_http(server: Server[Any], address: Address, announce: Callable[[str], object]) -> int:
    """Serve clients until a signal arrives.

    Args:
        server: the server.
        address: its address, and the rules for clients.
        announce: a function that gets the URL once clients can connect.

    Returns:
        The exit status: 128 and the number of the signal; 0 if there was none.

    Raises:
        OSError: the server can't listen there.
    """
    listening = listen(address.host.strip("[]"), address.port, MOST_CONNECTIONS)
    port: int = listening.getsockname()[1]
    own = () if address.host in _EVERYWHERE else (_bracketed(address.host),)
    names = [*_LOOPBACK, *own]
    hosts = hosts_of([*names, *address.allowed_hosts], port)
    # The guard checks Host and Origin, for all paths and before a byte of the body is read.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=security,
        max_request_body_size=LARGEST_BODY,
    )
    app = Sessions(Streams(app))
    pages = [page.lower().rstrip("/") for page in address.allowed_origins]
    if pages:  # their browsers send a preflight, and show a page only answers that name it
        methods = ("GET", "POST", "DELETE")
        app = CORSMiddleware(app, pages, methods, allow_headers=["*"], expose_headers=["Mcp-Session-Id"])
    origins = [*origins_of(names, port), *origins_behind(address.allowed_hosts, port), *pages]
    guarded = HttpGuard(app, hosts, frozenset(origins), address.token, answers_preflights=bool(pages))
    serving = uvicorn_server(guarded, most=MOST_CONNECTIONS, grace=GRACE, has_lifespan=True, http=_Punctual)
    shown = own[0] if own else "127.0.0.1"
    announce(f"http://{shown}:{port}{PATH}")
    with listening, _taken_signals() as taken:
        await serving.serve(sockets=[listening])
    return 128 + taken[0] if taken else 0


@contextmanager
def _taken_signals() -> Generator[list[int]]:
    """Catch the signals that uvicorn raises again at its end, so that the program can clean up first.

    Yields:
        A list that later contains the numbers of the signals.
    """
    taken: list[int] = []
    if current_thread() is not main_thread():  # only the main thread can do this, also in uvicorn
        yield taken
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda got, _: taken.append(got)) for number in numbers}
    try:
        yield taken
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


class _Punctual(H11Protocol):
    """A connection that is closed if the headers of a request take too long to arrive."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
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
