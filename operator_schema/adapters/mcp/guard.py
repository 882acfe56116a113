"""Which HTTP requests reach the server at all?"""

from __future__ import annotations

import asyncio
import hmac
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ...tools.log import WARNING, write_log

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "hosts_of", "origins_behind", "origins_of"]

LARGEST_BODY = 16 * 2**20
"""Bytes of a request at most."""

SECONDS_FOR_BODY = 30.0
"""Seconds in which a whole request has to arrive after its headers."""

_PORT_OF_HTTP = 80
_PREFLIGHT = b"access-control-request-method"
_LOOKED_AT = (b"host", b"origin", b"authorization", _PREFLIGHT)

_REASONS = {
    401: "the bearer token is missing or wrong",
    403: "this Origin isn't allowed",
    408: "the request took too long to arrive",
    413: "the request is too large",
    421: "this Host isn't served here",
}


def hosts_of(names: Iterable[str], port: int) -> frozenset[str]:
    """Return the values that the header `Host` may have.

    Args:
        names: of this server; one with a port of its own (behind a proxy) stands for itself.
        port: that it listens on.
    """
    folded = [name.lower() for name in names]
    return frozenset([*folded, *[f"{name}:{port}" for name in folded]])


def origins_of(names: Iterable[str], port: int) -> list[str]:
    """Return the values that the header `Origin` has for pages of this server itself.

    Pages of another port or scheme of this machine are somebody else's.

    Args:
        names: by which it is reached without anything in between.
        port: that it listens on; browsers leave out 80.
    """
    shown = "" if port == _PORT_OF_HTTP else f":{port}"
    return [f"http://{name.lower()}{shown}" for name in names]


def origins_behind(names: Iterable[str], port: int) -> list[str]:
    """Return the values that `Origin` has for pages of a proxy in front of the server.

    Args:
        names: of the proxy, as for `hosts_of`.
        port: that the server listens on.
    """
    return [f"{scheme}://{host}" for scheme in ("http", "https") for host in sorted(hosts_of(names, port))]


class Guard:
    """An ASGI application that refuses what must not reach the server behind it.

    A web page that a user of this machine opens can send requests here: by its own address, which `Origin`
    shows, or by a name that leads to this machine (DNS rebinding), which `Host` shows. What is refused
    is logged without anything that the client sent.

    Args:
        app: what is behind it.
        hosts: the values that `Host` may have, in lower case.
        origins: the values that `Origin` may have if there is one, in lower case.
        token: what has to be sent as `Authorization: Bearer …`; None if everybody may come.
        answers_preflights: whether the application answers the questions by which browsers find out what a
            page of another origin may send (CORS). They come without a token.
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
        # Digests are of one length, so that the time of a comparison doesn't show that of the token.
        self._digest = None if token is None else sha256(token.encode()).digest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, body = self._status_of(scope["method"], scope["headers"]), b""
        if status is None:
            status, body = await self._body_of(receive)
        if status is not None:
            await _refuse(scope, send, status)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    def _status_of(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
        """Return the status with which headers are refused, None if they are not."""
        found: dict[bytes, list[bytes]] = {name: [] for name in _LOOKED_AT}
        for name, value in headers:
            if name in found:
                found[name].append(value)
        hosts = [host.decode("latin-1").lower() for host in found[b"host"]]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421
        if any(origin.decode("latin-1").lower() not in self._origins for origin in found[b"origin"]):
            return 403
        is_preflight = method == "OPTIONS" and bool(found[_PREFLIGHT]) and self._answers_preflights
        is_known = self._digest is None or is_preflight or self._is_known(found[b"authorization"])
        return None if is_known else 401

    def _is_known(self, given: list[bytes]) -> bool:
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        digest = sha256(token.strip()).digest()
        return hmac.compare_digest(digest, self._digest or b"") and scheme.lower() == b"bearer"

    async def _body_of(self, receive: Receive) -> tuple[int | None, bytes]:
        """Read a request; its status if it is refused, else None and the whole of it."""
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(SECONDS_FOR_BODY):
                while True:
                    message: Any = await receive()
                    if message["type"] != "http.request":
                        return 408, b""  # the client has gone: nobody reads this
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > LARGEST_BODY:
                        return 413, b""
                    if not message.get("more_body", False):
                        return None, b"".join(parts)
        except TimeoutError:
            return 408, b""


async def _refuse(scope: Scope, send: Send, status: int) -> None:
    reason = _REASONS[status]
    peer = (scope.get("client") or ("somebody",))[0]
    write_log(WARNING, "a request of %s is refused with %s: %s", peer, status, reason)
    body = f"{reason}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if status == 401:  # noqa: PLR2004  # its name would say less
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
