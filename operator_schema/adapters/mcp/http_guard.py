"""Which HTTP requests must not reach the server?"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING

from mcp.types import PARSE_ERROR
from starlette.responses import JSONResponse

from ...json_reading import repeated_key
from ..http_requests import body_of, headers_of, refuse, replayed, status_of_sender

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

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
