"""Answer short calls over HTTP with plain JSON instead of a stream of events."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ...json_values import is_object
from ..http_requests import headers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["JsonAnswers", "PerRequest"]

SECONDS_WITHOUT_A_BYTE = 15.0
"""Seconds until a call becomes a stream, and between its comments: proxies close silent connections."""

MOST_READ = 2**16
"""The largest request, in bytes, that may get JSON; a larger one always gets a stream."""

_SESSION, _ACCEPT = b"mcp-session-id", b"accept"
_FORMS = ("application/json", "text/event-stream")
_PING = b": ping\r\n\r\n"


class PerRequest:
    """A value for `json_response` of the SDK that decides for each request whether its answer is JSON.

    The SDK reads it in the task of the request.
    """

    def __init__(self) -> None:
        self._is_json = ContextVar("operator_schema_mcp_is_json", default=False)

    def __bool__(self) -> bool:
        return self._is_json.get()

    def set(self, *, is_json: bool) -> None:
        """Choose the form of the answer to the request of this task."""
        self._is_json.set(is_json)


class JsonAnswers:
    """An ASGI application that answers a call with JSON if nothing is sent before the result.

    A stream of events costs the SDK about half as much as everything else in a short call. It is only needed
    for messages before the result, and for a call that takes long. This is for clients before version
    2026-07-28; for later ones the SDK makes the same decision.

    Args:
        app: the application of the SDK.
        form: the value for `json_response` of the SDK.
        is_silent: a function that returns, from the parameters of a call, whether it can't send anything
            before its result.
    """

    def __init__(
        self,
        app: ASGIApp,
        form: PerRequest,
        is_silent: Callable[[Mapping[Any, Any]], bool],
    ) -> None:
        self._app = app
        self._form = form
        self._is_silent = is_silent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        session = _session_of(scope)
        if session is None:
            self._form.set(is_json=False)
            await self._app(scope, receive, send)
            return
        body, receive = await _looked_at(receive)
        is_json = self._is_quiet_call(body)
        self._form.set(is_json=is_json)
        answer = _Answer(send, session) if is_json else None
        try:
            await self._app(scope, receive, send if answer is None else answer.send)
        finally:
            if answer is not None:
                await answer.end()

    def _is_quiet_call(self, body: bytes) -> bool:
        try:
            sent = json.loads(body)
        except (ValueError, RecursionError):
            return False
        is_call = is_object(sent) and sent.get("method") == "tools/call" and is_object(sent.get("params"))
        return is_call and self._is_silent(sent["params"])


def _session_of(scope: Scope) -> bytes | None:
    """Return the session of a request that may be a call, if its client accepts both forms of an answer."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    headers = headers_of(scope["headers"], (_SESSION, _ACCEPT))
    accepted = ",".join(headers[_ACCEPT])
    is_known = len(headers[_SESSION]) == 1 and all(form in accepted for form in _FORMS)
    return headers[_SESSION][0].encode("latin-1") if is_known else None


async def _looked_at(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body of a request, empty if it is too large, and a function that delivers it again."""
    messages: list[Message] = []
    size, is_whole = 0, False
    while not is_whole and size <= MOST_READ:
        messages.append(await receive())
        size += len(messages[-1].get("body", b""))
        is_whole = not messages[-1].get("more_body", False)
    left = deque(messages)

    async def replay() -> Message:
        return left.popleft() if left else await receive()

    is_small = size <= MOST_READ
    return b"".join([message.get("body", b"") for message in messages]) if is_small else b"", replay


class _Answer:
    """The answer to a call: JSON, or events once the call has taken too long.

    Args:
        send: a function that sends the answer.
        session: the session of the client.
    """

    def __init__(self, send: Send, session: bytes) -> None:
        self._send = send
        self._session = session
        self._status = 0
        self._pings: asyncio.Task[None] | None = None
        self._is_stream = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SECONDS_WITHOUT_A_BYTE, self._start_pings)

    async def send(self, message: Message) -> None:
        """Send a part of the SDK's answer, in the present form of the answer."""
        await self.end()
        if not self._is_stream:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._status = message["status"]
        else:  # an error of the transport isn't an answer, and ends the stream without one
            event = b"event: message\r\ndata: " + message["body"] + b"\r\n\r\n"
            body = event if self._status == 200 else b""  # noqa: PLR2004  # OK
            await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def end(self) -> None:
        """Stop waiting."""
        self._timer.cancel()
        if self._pings is not None:
            self._pings.cancel()
            await asyncio.wait([self._pings])
            self._pings = None

    def _start_pings(self) -> None:
        self._pings = asyncio.get_running_loop().create_task(self._ping())

    async def _ping(self) -> None:
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-cache, no-transform"),
            (_SESSION, self._session),
        ]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        self._is_stream = True
        while True:
            await self._send({"type": "http.response.body", "body": _PING, "more_body": True})
            await asyncio.sleep(SECONDS_WITHOUT_A_BYTE)
