"""Which requests reach the page? Only those of the page itself, in a browser that knows the token."""

from __future__ import annotations

import hmac
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from ...adapters.http_requests import body_of, headers_of, refuse, replayed, status_of_sender

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 4 * 2**20
"""The maximum size of a request, in bytes."""

_SECONDS_FOR_BODY = 10.0
_LONGEST_QUERY = 8_192

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer: only the page's own files may be run or loaded, and no page may frame this one."""

_REASONS = {
    401: "open the address that the inspector printed: it has a token",
    403: "this page may not ask the inspector",
    408: "the request took too long to arrive",
    413: "the request is too large",
    415: "a request that changes something has to be JSON",
    421: "this Host isn't served here",
}


class PageGuard:
    """An ASGI application that passes on only the requests of the page itself.

    Another page in the same browser can send requests here: `Origin` shows its address, and `Host` shows a
    name of its own that resolves to this machine. A browser that opens the address with the token gets a
    cookie, which it sends only with requests of the page. Refusals are logged without the data that were
    sent.

    Args:
        app: the application behind the guard.
        port: the port of the server.
        token: the token in the address.
    """

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._digest = _digest(token)
        # A cookie is sent to all ports of a machine, so it doesn't have the token itself.
        self._session = _digest(f"session of {token}").hex()
        self._cookie = f"inspector_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope["headers"], _LOOKED_AT)
        is_new = self._has_token(scope)
        status = self._status_of(scope["method"], headers, is_new=is_new)
        body = b""
        if status is None:
            status, body = await body_of(receive, LARGEST_BODY, _SECONDS_FOR_BODY)
        answer = self._with_headers(send, is_new=is_new and status is None)
        if status is not None:
            await refuse(scope, answer, status, _REASONS[status])
            return
        await self._app(scope, replayed(receive, body), answer)

    def _status_of(self, method: str, headers: dict[bytes, list[str]], *, is_new: bool) -> int | None:
        """Return the status for a refused request; None if it is allowed."""
        origins = {f"http://{host.lower()}" for host in headers[b"host"]} & self._origins
        status = status_of_sender(headers, self._hosts, origins)
        if status is not None:
            return status
        if any(site not in {"same-origin", "none"} for site in headers[b"sec-fetch-site"]) and not is_new:
            return 403
        if not is_new and not self._has_cookie(headers[b"cookie"]):
            return 401
        if method in {"GET", "HEAD"}:
            return None
        kinds = [kind.partition(";")[0].strip().lower() for kind in headers[b"content-type"]]
        return None if kinds == ["application/json"] and not is_new else 415

    def _has_token(self, scope: Scope) -> bool:
        query = scope["query_string"]
        if scope["method"] != "GET" or scope["path"] != "/" or not 0 < len(query) <= _LONGEST_QUERY:
            return False
        given = parse_qs(query.decode("latin-1"), max_num_fields=10).get("token", [])
        return len(given) == 1 and hmac.compare_digest(_digest(given[0]), self._digest)

    def _has_cookie(self, cookies: list[str]) -> bool:
        for text in cookies:
            try:
                found = SimpleCookie(text).get(self._cookie)
            except CookieError:
                continue
            if found is not None and hmac.compare_digest(_digest(found.value), _digest(self._session)):
                return True
        return False

    def _with_headers(self, send: Send, *, is_new: bool) -> Send:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                if is_new:
                    cookie = f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
                    own.append((b"set-cookie", cookie.encode()))
                names = {name for name, _ in own}
                kept = [(name, value) for name, value in message.get("headers", ()) if name not in names]
                message = {**message, "headers": [*kept, *own]}
            await send(message)

        return answer


_LOOKED_AT = (b"host", b"origin", b"cookie", b"content-type", b"sec-fetch-site")


def _digest(text: str) -> bytes:
    # All digests have the same length, so the time of a comparison doesn't reveal the length of the text.
    return sha256(text.encode(errors="replace")).digest()
