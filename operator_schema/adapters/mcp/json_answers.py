"""Which calls over HTTP are answered with plain JSON instead of a stream of events?"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from anyio import CancelScope

from ...immutable import Value
from ...json_values import is_object
from ..http_requests import headers_of
from .generations import is_modern

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS_WITHOUT_A_BYTE = 15.0
"""Seconds until a call becomes a stream, and between its comments: proxies close silent connections."""

MOST_READ = 2**16
"""The largest request, in bytes, that may get JSON; a larger one always gets a stream."""

SECONDS_UNWATCHED = 0.05
"""Seconds until somebody looks whether the client of a call has gone: most calls end before."""

_SESSION, _ACCEPT, _VERSION = b"mcp-session-id", b"accept", b"mcp-protocol-version"
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
    for messages before the result, and for a call that takes long. For clients from version 2026-07-28 on,
    the SDK decides after the call, and prepares a stream for each. Such a client cancels a call by closing
    its connection.

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
        client = _client_of(scope)
        if client is None:
            self._form.set(is_json=False)
            await self._app(scope, receive, send)
            return
        body, replay = await _looked_at(receive)
        is_json = self._is_quiet_call(body)
        self._form.set(is_json=is_json)
        if not is_json:
            await self._app(scope, replay, send)
            return
        with CancelScope() as running:
            answer = _Answer(send, client)
            if client.is_modern:
                answer.watch(receive, running)  # not `replay`: the application may not have read the body yet
            try:
                await self._app(scope, replay, answer.send)
            finally:
                await answer.end()

    def _is_quiet_call(self, body: bytes) -> bool:
        try:
            sent = json.loads(body)
        except (ValueError, RecursionError):
            return False
        is_call = is_object(sent) and sent.get("method") == "tools/call" and is_object(sent.get("params"))
        return is_call and self._is_silent(sent["params"])


class _Client(Value):
    """The client that sent a request which may be a call.

    Attributes:
        session: its session, as in the header; None from version 2026-07-28 on.
    """

    session: bytes | None

    @property
    def is_modern(self) -> bool:
        """Whether it speaks version 2026-07-28 or a later one."""
        return self.session is None


def _client_of(scope: Scope) -> _Client | None:
    """Return the client of a request that may be a call, if it accepts both forms of an answer."""
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    headers = headers_of(scope["headers"], (_SESSION, _ACCEPT, _VERSION))
    accepted = ",".join(headers[_ACCEPT])
    if not all(form in accepted for form in _FORMS):
        return None
    if len(headers[_VERSION]) == 1 and is_modern(headers[_VERSION][0]):
        return _Client(None)
    return _Client(headers[_SESSION][0].encode("latin-1")) if len(headers[_SESSION]) == 1 else None


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
        client: the client.
    """

    def __init__(self, send: Send, client: _Client) -> None:
        self._send = send
        self._client = client
        self._status = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._is_stream = False
        self._timers: list[asyncio.TimerHandle] = []
        self._after(SECONDS_WITHOUT_A_BYTE, self._ping)

    def watch(self, receive: Receive, running: CancelScope) -> None:
        """Cancel the call if its client goes before its result.

        Args:
            receive: a function that says when the client has gone; the whole request was read from it.
            running: the scope that is cancelled.
        """

        async def cancel_when_gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            running.cancel()

        self._after(SECONDS_UNWATCHED, cancel_when_gone)

    def _after(self, seconds: float, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start a task after some seconds, unless the answer has begun by then."""
        loop = asyncio.get_running_loop()
        self._timers.append(loop.call_later(seconds, lambda: self._tasks.append(loop.create_task(work()))))

    async def send(self, message: Message) -> None:
        """Send a part of the SDK's answer, in the present form of the answer."""
        await self.end()
        if not self._is_stream:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._status = message["status"]
        else:  # an error of a session's transport isn't an answer, and ends the stream without one
            event = b"event: message\r\ndata: " + message["body"] + b"\r\n\r\n"
            body = event if self._client.is_modern or self._status == 200 else b""  # noqa: PLR2004  # OK
            await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def end(self) -> None:
        """Stop waiting."""
        for timer in self._timers:
            timer.cancel()
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _ping(self) -> None:
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-cache, no-transform"),
        ]
        if self._client.session is not None:
            headers.append((_SESSION, self._client.session))
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        self._is_stream = True
        while True:
            await self._send({"type": "http.response.body", "body": _PING, "more_body": True})
            await asyncio.sleep(SECONDS_WITHOUT_A_BYTE)
