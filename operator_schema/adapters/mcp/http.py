"""How is a server served over HTTP, to clients of this machine or of others?"""

from __future__ import annotations

import signal
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.middleware.cors import CORSMiddleware

from ...immutable import Value
from ..http_requests import listen, uvicorn_server
from .http_guard import LARGEST_BODY, HttpGuard, hosts_of, origins_behind, origins_of
from .http_limits import PATH, PunctualProtocol, Sessions, Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp


_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = frozenset({"0.0.0.0", "::", ""})  # noqa: S104  # it is recognised, not bound
MOST_CONNECTIONS = 1000
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
    serving = uvicorn_server(
        guarded, most=MOST_CONNECTIONS, grace=GRACE, has_lifespan=True, http=PunctualProtocol
    )
    shown = own[0] if own else "127.0.0.1"
    announce(f"http://{shown}:{port}{PATH}")
    with listening, _taken_signals() as taken:
        await serving.serve(sockets=[listening])
    return 128 + taken[0] if taken else 0


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


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
