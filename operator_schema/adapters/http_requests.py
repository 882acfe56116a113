"""The common HTTP parts of the MCP server and the inspector: checking requests, and listening."""

from __future__ import annotations

import asyncio
import os
import socket
from typing import TYPE_CHECKING, Any, Literal

import uvicorn

from ..tools import WARNING, write_log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send


def headers_of(headers: Iterable[tuple[bytes, bytes]], names: Iterable[bytes]) -> dict[bytes, list[str]]:
    """Return the values of some headers, each as often as it was sent.

    Args:
        headers: as ASGI gives them, with names in lower case.
        names: names of the headers to return.
    """
    found: dict[bytes, list[str]] = {name: [] for name in names}
    for name, value in headers:
        if name in found:
            found[name].append(value.decode("latin-1"))
    return found


def status_of_sender(
    headers: Mapping[bytes, list[str]], hosts: Collection[str], origins: Collection[str]
) -> int | None:
    """Return the status for refusing a request from a foreign web page; None for other requests.

    A page in a browser on this machine can send requests here under a name of its own that resolves to this
    machine (DNS rebinding), which `Host` reveals, or from its own address, which `Origin` reveals.

    Args:
        headers: the result of `headers_of` for `host` and `origin`.
        hosts: the values that `Host` may have, in lower case.
        origins: the values that `Origin` may have if it is sent, in lower case.
    """
    given = headers[b"host"]
    if len(given) != 1 or given[0].lower() not in hosts:
        return 421
    return 403 if any(origin.lower() not in origins for origin in headers[b"origin"]) else None


async def body_of(receive: Receive, most: int, seconds: float) -> tuple[int | None, bytes]:
    """Read a request.

    Args:
        receive: the `receive` of the request.
        most: how many bytes it may have.
        seconds: how long the whole request may take to arrive.

    Returns:
        The status for refusing the request and no bytes, or None and the whole body.
    """
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message: Any = await receive()
                if message["type"] != "http.request":
                    return 408, b""  # the client has gone: nobody reads this
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > most:
                    return 413, b""
                if not message.get("more_body", False):
                    return None, b"".join(parts)
    except TimeoutError:
        return 408, b""


def replayed(receive: Receive, body: bytes) -> Receive:
    """Return a `receive` that first returns a body that was read already, and then the later messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def refuse(scope: Scope, send: Send, status: int, reason: str) -> None:
    """Refuse a request, close its connection, and log this without any text from the client."""
    peer = (scope.get("client") or ("somebody",))[0]
    write_log(WARNING, "a request of %s is refused with %s: %s", peer, status, reason)
    body = f"{reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def listen(host: str, port: int, most: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: a name or address; an IPv6 address is recognized by its colon.
        port: the port; 0 for any free one.
        most: how many connections may wait.

    Raises:
        OSError: the socket can't listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Not by `create_server`: asyncio sends small answers at once only where the protocol is named.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(most)
    except BaseException:  # an interrupt too: the socket must not stay open
        listening.close()
        raise
    listening.settimeout(0)
    return listening


def uvicorn_server(
    app: ASGIApp,
    *,
    most: int,
    grace: int,
    has_lifespan: bool,
    http: type[asyncio.Protocol] | Literal["auto"] = "auto",
) -> uvicorn.Server:
    """Return a server that trusts no proxy headers, doesn't log requests, and refuses WebSockets.

    Args:
        app: the application that it serves.
        most: open connections; it refuses others with status 503.
        grace: seconds that open requests get to finish when the server stops.
        has_lifespan: whether the application takes the events of ASGI's lifespan.
        http: the protocol class of a connection.
    """
    config = uvicorn.Config(
        app,
        http=http,
        ws="none",
        lifespan="on" if has_lifespan else "off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=most,
        timeout_graceful_shutdown=grace,
    )
    return uvicorn.Server(config)
