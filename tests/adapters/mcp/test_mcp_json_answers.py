"""Calls over HTTP are answered with JSON where nothing is lost by it, and with a stream otherwise."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import partial
from itertools import combinations
from typing import Annotated, Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from patience import until
from starlette.middleware import Middleware

from operator_schema import Executor, Registry, skip, tool
from operator_schema.adapters.mcp import Handlers, json_answers, server
from operator_schema.types import Progress

BOTH = "application/json, text/event-stream"
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
LOG = logging.getLogger("acme.json_answers")


class Speaker:
    """What a program injects that reaches the client."""

    def __init__(self, ctx):
        self.ctx = ctx

    async def say(self, text):
        params = types.LoggingMessageNotificationParams(level="info", data=text)
        notification = types.LoggingMessageNotification(params=params)
        await self.ctx.session.send_notification(notification, self.ctx.request_id)


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(name="work", number=2, **meta):
    return request(number, "tools/call", name=name, arguments={}, **({"_meta": meta} if meta else {}))


MODERN = "2026-07-28"


def modern(message):
    """Return a call as clients from version 2026-07-28 on send it."""
    about = {
        types.PROTOCOL_VERSION_META_KEY: MODERN,
        types.CLIENT_CAPABILITIES_META_KEY: {},
        types.CLIENT_INFO_META_KEY: OPENING["clientInfo"],
    }
    params = message["params"]
    return {**message, "params": {**params, "_meta": {**params.get("_meta", {}), **about}}}


def headers_for(message):
    names = {"Mcp-Method": message["method"], "Mcp-Name": message["params"]["name"]}
    return {"Accept": BOTH, "MCP-Protocol-Version": MODERN, **names}


def messages_of(answer):
    if answer.headers["content-type"] == "application/json":
        return [answer.json()]
    lines = answer.text.splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def exchange(app, talk):
    """Open a session, and return what `talk` returns: it takes a function that posts a message."""

    async def main():
        transport = httpx2.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
        ):
            opened = await client.post(
                "/mcp", json=request(1, "initialize", **OPENING), headers={"Accept": BOTH}
            )
            session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Accept": BOTH}

            async def post(message, **headers):
                return await client.post("/mcp", json=message, headers={**session, **headers})

            await post({"jsonrpc": "2.0", "method": "notifications/initialized"})

            async def post_modern(message):
                return await client.post("/mcp", json=modern(message), headers=headers_for(message))

            post.modern = post_modern
            post.delete = partial(client.delete, "/mcp", headers=session)
            return await talk(post)

    return asyncio.run(main())


WAYS = ("reports", "has a token", "takes the context", "logs", "gets a speaker", "has middleware", "asks")


def speaking(ways):
    """Return a server with one tool that speaks in some ways before its result."""

    async def work(
        progress: Annotated[Progress | None, skip] = None,
        ctx: Annotated[ServerRequestContext[Any, Any] | None, skip] = None,
        speaker: Annotated[Speaker | None, skip] = None,
    ) -> str:
        """Work."""
        if "takes the context" in ways:
            await Speaker(ctx).say("the context")
        if "gets a speaker" in ways:
            await speaker.say("the speaker")
        LOG.warning("logged")
        if progress is not None:
            progress(1, 2)
        return "done"

    async def plain() -> str:
        """Work."""
        LOG.warning("logged")
        return "done"

    async def reporting(progress: Annotated[Progress, skip]) -> str:
        """Work."""
        progress(1, 2)
        return "done"

    injects = {"takes the context", "gets a speaker"} & ways
    function = work if injects else reporting if "reports" in ways else plain
    options = {"context": lambda ctx: {Speaker: Speaker(ctx)}} if "gets a speaker" in ways else {}
    if "logs" in ways:
        options["logger"] = LOG.name
    made = server([tool(function, name="work", confirm="asks" in ways)], **options)

    async def speak_first(ctx, call_next):
        if ctx.method == "tools/call":
            await Speaker(ctx).say("the middleware")
        return await call_next(ctx)

    if "has middleware" in ways:
        made.middleware.append(speak_first)
    return made


PAIRS = [set(chosen) for size in range(3) for chosen in combinations(WAYS, size)]


@pytest.mark.slow("opens a session for each two ways, in both forms")
def test_whatever_a_call_sends_before_its_result_arrives_in_either_form():
    """All ways in which a call can speak before its result, alone and in twos."""
    as_json = set()
    for ways in PAIRS:
        message = call(progressToken=7) if "has a token" in ways else call()

        async def talk(post, message=message):
            return [await post(message), await post.modern(message)]

        made = speaking(ways)
        streamed = exchange(Server.streamable_http_app(made), talk)
        answers = exchange(made.streamable_http_app(), talk)
        for answer, of_the_sdk in zip(answers, streamed, strict=True):
            assert messages_of(answer) == messages_of(of_the_sdk), ways
            assert messages_of(answer)[-1]["id"] == 2
        if answers[0].headers["content-type"] == "application/json":
            as_json.add(frozenset(ways))
    assert as_json == {frozenset(), frozenset({"has a token"}), frozenset({"reports"})}


@tool
def add(a: int = 1, b: int = 2) -> int:
    """Add."""
    return a + b


def form_of(app, message, **headers):
    async def talk(post):
        return await post(message, **headers)

    answer = exchange(app, talk)
    return answer.status_code, answer.headers["content-type"].partition(";")[0]


JSON, STREAM = (200, "application/json"), (200, "text/event-stream")


def hook(found):
    return None


@pytest.mark.parametrize(
    ("message", "headers", "form"),
    [
        (call("add"), {}, JSON),
        (call("nothing"), {}, STREAM),
        (call(5), {}, STREAM),
        (request(2, "tools/list"), {}, STREAM),
        (request(2, "tools/call"), {}, STREAM),
        ({**call("add"), "params": [1]}, {}, (400, "application/json")),
        (["add"], {}, (400, "application/json")),
        (call("add"), {"Accept": "application/json"}, (406, "application/json")),
        ({**call("add"), "more": "x" * json_answers.MOST_READ}, {}, STREAM),
    ],
)
def test_only_a_call_of_a_tool_that_sends_nothing_is_answered_with_json(message, headers, form):
    assert form_of(server([add]).streamable_http_app(), message, **headers) == form


@pytest.mark.parametrize(
    "made",
    [
        lambda: server([add], executor=Executor([add], hooks=hook, strict_results=True)),
        lambda: server([add], on_call_tool=server([add]).handlers.call_tool),
        lambda: server([add], executor=type("Own", (Executor,), {})([add])),
    ],
    ids=["hooks", "a handler of one's own", "an executor of one's own"],
)
def test_where_code_of_your_own_may_send_something_it_is_a_stream(made):
    assert form_of(made().streamable_http_app(), call("add")) == STREAM


def test_the_options_of_the_sdk_still_choose_the_form():
    assert form_of(server([add]).streamable_http_app(json_response=True), request(2, "ping")) == JSON
    assert form_of(server([add]).streamable_http_app(), request(2, "ping")) == STREAM


def test_a_tool_that_is_replaced_while_its_call_begins_sends_nothing(monkeypatch):
    """The form has been promised for another tool by then, so the client sends the call again."""
    registry = Registry([add])
    made = server(registry)
    found = made.handlers.silent_tool

    @tool(name="add")
    def other() -> str:
        """Add otherwise."""
        return "other"

    def silent_tool(_, params):
        silent = found(params)
        registry.unregister("add")
        registry.register(other)
        return silent

    monkeypatch.setattr(Handlers, "silent_tool", silent_tool)

    async def talk(post):
        return await post(call("add"))

    (message,) = messages_of(exchange(made.streamable_http_app(), talk))
    assert message["error"]["message"] == "the tools have just changed: send the call again"


def test_a_tool_may_call_another_server_in_this_process():
    inner = server([add])

    @tool
    async def ask() -> str:
        """Ask another server."""
        async with Client(inner) as client:
            return (await client.call_tool("add")).content[0].text

    async def talk(post):
        return await post(call("ask"))

    (message,) = messages_of(exchange(server([ask]).streamable_http_app(), talk))
    assert message["result"]["content"][0]["text"] == "3"


class Browser:
    """One request to an ASGI application, whose answer is read while it is being made."""

    def __init__(self, app, session, message):
        self.app = app
        own = headers_for(message) if session is None else {"Accept": BOTH, "Mcp-Session-Id": session}
        self.headers = [(name.lower().encode(), value.encode()) for name, value in own.items()]
        self.parts, self.gone = asyncio.Queue(), asyncio.Event()
        message = modern(message) if session is None else message
        self.sent = [{"type": "http.request", "body": json.dumps(message).encode()}]

    async def receive(self):
        if self.sent:
            return self.sent.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def __aenter__(self):
        headers = [
            (b"host", b"127.0.0.1:8000"),
            (b"content-type", b"application/json"),
            *self.headers,
        ]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "http_version": "1.1",
            "scheme": "http",
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8000),
            "asgi": {"version": "3.0"},
        }
        self.task = asyncio.create_task(self.app(scope, self.receive, self.parts.put))
        return self

    async def __aexit__(self, *_):
        await self.task


@pytest.mark.parametrize("ended", [False, True, None], ids=["it ends", "its session ends", "no session"])
def test_a_call_that_takes_long_becomes_a_stream(monkeypatch, ended):
    monkeypatch.setattr(json_answers, "SECONDS_WITHOUT_A_BYTE", 0.001)
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        await go_on.wait()
        return "done"

    app = server([wait]).streamable_http_app()

    async def talk(post):
        opened = await post(request(9, "tools/list"))
        session = None if ended is None else opened.headers["mcp-session-id"]
        async with Browser(app, session, call("wait")) as browser:
            start, *pings = [await browser.parts.get() for _ in range(3)]
            await begun.wait()
            if ended:
                await post.delete()
            go_on.set()
        rest = [browser.parts.get_nowait() for _ in range(browser.parts.qsize())]
        return session, start, pings, rest

    session, start, pings, rest = exchange(app, talk)
    assert start["status"] == 200
    assert dict(start["headers"])[b"content-type"] == b"text/event-stream"
    assert dict(start["headers"]).get(b"mcp-session-id") == (None if session is None else session.encode())
    *more, last = rest
    assert {part["body"] for part in [*pings, *more]} == {b": ping\r\n\r\n"}
    assert not last["more_body"]
    if ended:
        assert last["body"] == b""
    else:
        event = last["body"].decode()
        assert event.startswith("event: message\r\ndata: {")
        assert json.loads(event.split("data: ")[1])["result"]["content"][0]["text"] == "done"


def test_a_client_that_goes_before_its_request_is_complete_gets_what_the_sdk_says():
    made = server([add])

    def parts_of(app):
        async def talk(post):
            opened = await post(request(9, "tools/list"))
            browser = Browser(app, opened.headers["mcp-session-id"], call("add"))
            browser.sent = [{"type": "http.disconnect"}]
            async with browser:
                pass
            return [browser.parts.get_nowait()["type"] for _ in range(browser.parts.qsize())]

        return exchange(app, talk)

    assert parts_of(made.streamable_http_app()) == parts_of(Server.streamable_http_app(made))


@pytest.mark.parametrize("own", [True, False], ids=["ours", "the SDK's"])
def test_a_client_without_a_session_cancels_a_call_by_going(own):
    begun, cancelled = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    made = server([wait])
    app = made.streamable_http_app() if own else Server.streamable_http_app(made)

    async def talk(_):
        async with Browser(app, None, call("wait")) as browser:
            await begun.wait()
            browser.gone.set()
            await cancelled.wait()
        return browser.parts.qsize()

    assert exchange(app, talk) == 0


def test_a_request_that_is_checked_for_long_before_it_is_read_stays_whole(monkeypatch):
    """Somebody looks whether the client has gone while a middleware, such as a token check, still waits."""
    monkeypatch.setattr(json_answers, "SECONDS_UNWATCHED", 0)
    app = server([add]).streamable_http_app()
    is_looked_at = asyncio.Event()

    class Watched(Browser):
        async def receive(self):
            if not self.sent:
                is_looked_at.set()
            return await super().receive()

    def checked(inner):
        async def check(scope, receive, send):
            if scope["type"] == "http" and scope["raw_path"] == b"/mcp" and is_checking:
                await is_looked_at.wait()
            await inner(scope, receive, send)

        return check

    is_checking = []
    app.user_middleware.append(Middleware(checked))

    async def talk(_):
        is_checking.append(True)
        async with Watched(app, None, call("add")) as browser:
            await is_looked_at.wait()
            await until(lambda: not browser.parts.empty())  # without a body, there is no answer
            browser.gone.set()
        return browser.parts.get_nowait()["status"]

    assert exchange(app, talk) == 200
