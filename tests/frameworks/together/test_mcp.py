"""mcp: a server over a registry of ours, asked by the SDK's own client."""

from __future__ import annotations

import base64
import math
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import lifespan as no_lifespan
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ListToolsResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
    ToolListChangedNotification,
)

from operator_schema import (
    Audio,
    CallError,
    Executor,
    File,
    Image,
    Progress,
    RawCall,
    Registry,
    Resource,
    Text,
    skip,
    tool,
)

PATIENCE = 20  # seconds, on a machine that has much to do
LEGACY, MODERN = "legacy", "2026-07-28"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(20)

both_protocols = pytest.mark.parametrize("mode", [LEGACY, MODERN])


def content_of(part):
    """Return one of our parts as one of theirs."""
    match part:
        case Text():
            return TextContent(type="text", text=part.text)
        case Image():
            return ImageContent(type="image", data=part.base64, mime_type=part.media_type)
        case Audio():
            return AudioContent(type="audio", data=part.base64, mime_type=part.media_type)
        case File():
            blob = BlobResourceContents(
                uri=f"file:///{part.name}", mime_type=part.media_type, blob=part.base64
            )
            return EmbeddedResource(type="resource", resource=blob)
        case Resource(text=str()):
            text = TextResourceContents(uri=part.uri, mime_type=part.media_type, text=part.text)
            return EmbeddedResource(type="resource", resource=text)
        case Resource():
            return ResourceLink(type="resource_link", name=part.uri, uri=part.uri, mime_type=part.media_type)


def described(offered):
    """Return one of our tools as one of theirs."""
    said = offered.annotations
    structured = offered.structured_output()
    return Tool(
        name=offered.name,
        title=said.title,
        description=offered.definition()["description"],
        inputSchema=offered.input_schema(),
        outputSchema=None if structured is None else structured.schema,
        annotations=ToolAnnotations(
            read_only_hint=said.read_only,
            destructive_hint=said.destructive,
            idempotent_hint=said.idempotent,
            open_world_hint=said.open_world,
        ),
        _meta=dict(said.meta) or None,
    )


def server_of(registry, *, on_subscriptions_listen=None, lifespan=no_lifespan, seen=None, **options):
    executor = Executor(registry, pass_through=(MCPError,), **options)

    async def list_tools(ctx, params):
        if seen is not None:
            seen(ctx)
        return ListToolsResult(tools=[described(offered) for offered in registry.offered()])

    async def call_tool(ctx, params):
        call = RawCall(str(ctx.request_id), params.name, params.arguments)
        send, updates = anyio.create_memory_object_stream(math.inf)

        async def report():
            with updates:
                async for update in updates:
                    await ctx.session.report_progress(update.done, update.total, update.message)

        async with anyio.create_task_group() as group:
            group.start_soon(report)
            with send:
                (result,) = await executor.execute_all(
                    [call],
                    context={ServerRequestContext: ctx},
                    on_progress=lambda _call, update: send.send_nowait(update),
                    return_exceptions=True,  # the group would wrap what is raised in it
                )
        if isinstance(result, BaseException):
            raise result
        content = [content_of(part) for part in result.parts]
        structured = None if result.is_error else registry[params.name].structured_output()
        return CallToolResult(
            content=content,
            structured_content=None if structured is None else structured.of(result.json),
            is_error=result.is_error,
        )

    return Server(
        "test",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=on_subscriptions_listen,
        lifespan=lifespan,
    )


def ask(question, *tools, mode=LEGACY, backend="asyncio", **options):
    """Return what a client's question gets from a server of these tools."""

    async def main():
        async with Client(server_of(Registry(tools), **options), mode=mode) as client:
            return await question(client)

    return anyio.run(main, backend=backend)


def call(made, arguments=None, **options):
    return ask(lambda client: client.call_tool(made.name, arguments or {}), made, **options)


@dataclass
class Node:
    name: str
    children: list[Node]


RESULTS = [
    (int, 5, {"result": 5}),
    (list[int], [1, 2], {"result": [1, 2]}),
    (int | None, None, {"result": None}),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Node, Node("a", [Node("b", [])]), {"name": "a", "children": [{"name": "b", "children": []}]}),
    (list[Node], [Node("a", [])], {"result": [{"name": "a", "children": []}]}),
    (Node | None, None, {"result": None}),
]


@both_protocols
@pytest.mark.parametrize(("output", "value", "expected"), RESULTS)
def test_structured_output_is_an_object_that_the_client_accepts(output, value, expected, mode):
    @tool
    def give() -> output:
        """Give it."""
        return value

    async def question(client):
        listed = await client.list_tools()  # from then on the client checks what comes against the schema
        return listed.tools[0], await client.call_tool("give", {})

    offered, result = ask(question, give, mode=mode)
    assert offered.output_schema["type"] == "object"
    assert result.structured_content == expected
    assert not result.is_error


@both_protocols
def test_text_and_undeclared_results_have_no_output_schema(mode):
    @tool
    def say() -> str:
        """Say it."""
        return "hello"

    @tool
    def give():
        """Give it."""
        return {"a": 1}

    async def question(client):
        listed = await client.list_tools()
        return listed.tools, [await client.call_tool(name, {}) for name in ("say", "give")]

    offered, (said, given) = ask(question, say, give, mode=mode)
    assert [one.output_schema for one in offered] == [None, None]
    assert (said.content[0].text, said.structured_content) == ("hello", None)
    assert (given.content[0].text, given.structured_content) == ('{"a":1}', None)


def test_what_a_tool_says_about_itself_reaches_the_client():
    @tool(title="Delete a row", read_only=False, destructive=True, idempotent=True, meta={"acme/team": "db"})
    def delete(name: str) -> str:
        """Delete.

        Args:
            name: What to delete.
        """
        return name

    @tool(read_only=True, open_world=False)
    def look() -> str:
        """Look."""
        return ""

    first, second = ask(lambda client: client.list_tools(), delete, look).tools
    assert first.title == "Delete a row"
    assert first.meta == {"acme/team": "db"}
    assert first.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": False,
        "destructive_hint": True,
        "idempotent_hint": True,
    }
    assert second.title is None
    assert second.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": True,
        "open_world_hint": False,
    }


@both_protocols
def test_images_and_recordings_arrive_as_content(mode):
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG), Audio.from_bytes(WAV)]

    text, image, audio = call(look, mode=mode).content
    assert text.text == "Here:"
    assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)
    assert (audio.mime_type, base64.b64decode(audio.data)) == ("audio/wav", WAV)


@both_protocols
def test_files_and_resources_arrive_as_content(mode):
    @tool
    def find() -> Any:
        """Find."""
        return [
            File.from_bytes(b"a,b", "text/csv", "table.csv"),
            Resource("note://1", text="Buy milk."),
            Resource("https://example.com/a"),
        ]

    file, note, link = call(find, mode=mode).content
    assert (file.resource.uri, file.resource.mime_type) == ("file:///table.csv", "text/csv")
    assert base64.b64decode(file.resource.blob) == b"a,b"
    assert (note.resource.uri, note.resource.text) == ("note://1", "Buy milk.")
    assert (link.type, link.uri) == ("resource_link", "https://example.com/a")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
class TestBackends:
    """The server of a host that runs trio calls our tools as that of one that runs asyncio."""

    @both_protocols
    def test_async_and_plain_functions(self, backend, mode):
        @tool
        async def wait(seconds: float) -> float:
            """Wait.

            Args:
                seconds: How long.
            """
            await anyio.sleep(seconds)
            return seconds

        @tool
        def add(a: int, b: int = 0) -> int:
            """Add.

            Args:
                a: One.
                b: Another.
            """
            return a + b

        async def question(client):
            return [
                await client.call_tool("wait", {"seconds": 0.01}),
                await client.call_tool("add", {"a": 2}),
            ]

        waited, added = ask(question, wait, add, backend=backend, mode=mode)
        assert (waited.content[0].text, waited.is_error) == ("0.01", False)
        assert (added.content[0].text, added.is_error) == ("2", False)

    def test_calls_run_side_by_side(self, backend):
        arrived, everybody = [], None

        @tool
        async def meet() -> int:
            """Wait for the others."""
            arrived.append(1)
            if len(arrived) == 3:
                everybody.set()
            with anyio.fail_after(PATIENCE):
                await everybody.wait()
            return len(arrived)

        async def question(client):
            nonlocal everybody
            everybody = anyio.Event()
            results = []

            async def one():
                results.append(await client.call_tool("meet", {}))

            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(one)
            return results

        assert [one.content[0].text for one in ask(question, meet, backend=backend)] == ["3", "3", "3"]

    @both_protocols
    @pytest.mark.parametrize("is_async", [False, True])
    def test_progress_reaches_the_client(self, backend, mode, is_async):
        def count(to: int, progress: Annotated[Progress, skip]) -> int:
            """Count.

            Args:
                to: How far.
            """
            for number in range(1, to + 1):
                progress(number, to, f"number {number}")
            return to

        async def count_async(to: int, progress: Annotated[Progress, skip]) -> int:
            """Count.

            Args:
                to: How far.
            """
            return count(to, progress)

        told = []

        async def tell(done, total, message):
            told.append((done, total, message))

        made = tool(count_async if is_async else count, name="count")

        async def question(client):
            return await client.call_tool("count", {"to": 2}, progress_callback=tell)

        result = ask(question, made, backend=backend, mode=mode)
        assert result.content[0].text == "2"
        assert told == [(1, 2, "number 1"), (2, 2, "number 2")]

    def test_a_time_limit_ends_the_call(self, backend):
        ended = []

        @tool(timeout=0.1)
        async def hang() -> None:
            """Hang."""
            try:
                await anyio.sleep(60)
            finally:
                ended.append(True)

        result = call(hang, backend=backend)
        assert result.is_error
        assert "hang" in result.content[0].text
        assert ended == [True]

    def test_a_client_that_gives_up_cancels_the_tool(self, backend):
        started = ended = None

        @tool
        async def hang() -> None:
            """Hang."""
            started.set()
            try:
                await anyio.sleep(60)
            finally:
                ended.set()

        async def question(client):
            nonlocal started, ended
            started, ended = anyio.Event(), anyio.Event()
            with anyio.fail_after(PATIENCE):
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "hang", {})
                    await started.wait()
                    group.cancel_scope.cancel()
                await ended.wait()

        ask(question, hang, backend=backend)
        assert ended.is_set()

    def test_errors_are_told_in_our_words(self, backend):
        @tool
        def add(a: int) -> int:
            """Add.

            Args:
                a: One.
            """
            raise CallError("Not today.")

        async def question(client):
            asked = [("add", {"a": "x"}), ("add", {"a": 1}), ("ad", {})]
            return [await client.call_tool(name, arguments) for name, arguments in asked]

        wrong, failed, unknown = ask(question, add, backend=backend)
        assert wrong.content[0].text.startswith("add: 1 problem with the arguments")
        assert failed.content[0].text == "Not today."
        assert unknown.content[0].text == 'tool "ad" not found; did you mean "add"?'
        assert (wrong.is_error, failed.is_error, unknown.is_error) == (True, True, True)


@both_protocols
def test_the_request_context_is_found(mode):
    @tool
    async def work(ctx: Annotated[ServerRequestContext[Any], skip]) -> str:
        """Work."""
        return ctx.method

    assert call(work, mode=mode).content[0].text == "tools/call"


def test_an_error_of_the_protocol_passes_through():
    @tool
    async def refuse() -> str:
        """Refuse."""
        raise MCPError(-32042, "log in first", {"url": "https://example.com"})

    async def question(client):
        with pytest.raises(MCPError, match="log in first") as caught:
            await client.call_tool("refuse", {})
        return caught.value.error

    assert ask(question, refuse).code == -32042


@pytest.mark.parametrize("value", [object(), "text", None])
def test_a_result_that_does_not_fit_its_schema_is_an_error_of_the_tool_alone(value):
    @tool
    def give() -> dict[str, int]:
        """Give it."""
        return value

    async def question(client):
        await client.list_tools()
        return await client.call_tool("give", {})

    result = ask(question, give, strict_results=True)
    assert result.is_error
    assert result.structured_content is None


class Announcer:
    """Tells the client of a server when the tools change, in the way of its protocol."""

    def __init__(self, registry):
        self.bus = InMemorySubscriptionBus()
        self.session = None
        self.send, self.changes = anyio.create_memory_object_stream(math.inf)
        self.stop = registry.on_change(self.send.send_nowait)

    def seen(self, ctx):
        if ctx.protocol_version != MODERN:
            self.session = ctx.session

    @asynccontextmanager
    async def lifespan(self, _server):
        async with anyio.create_task_group() as group:
            group.start_soon(self.announce)
            yield {}
            self.stop()
            group.cancel_scope.cancel()

    async def announce(self):
        with self.send, self.changes:
            async for _ in self.changes:
                await self.bus.publish(ToolsListChanged())
                if self.session is not None:
                    await self.session.send_tool_list_changed()


@both_protocols
def test_a_client_is_told_when_the_tools_change(mode):
    registry = Registry()

    @tool
    def late() -> int:
        """Come late."""
        return 1

    @registry.register
    @tool
    async def load() -> None:
        """Load more tools."""
        registry.register(late)

    async def main():
        told = anyio.Event()

        async def handle(message):
            if isinstance(message, ToolListChangedNotification):
                told.set()

        async def listen(client, *, task_status):
            async with client.listen(tools_list_changed=True) as events:
                task_status.started()
                async for _ in events:
                    told.set()

        announcer = Announcer(registry)
        server = server_of(
            registry,
            on_subscriptions_listen=ListenHandler(announcer.bus),
            lifespan=announcer.lifespan,
            seen=announcer.seen,
        )
        async with Client(server, mode=mode, message_handler=handle) as client:
            async with anyio.create_task_group() as group:
                if mode == MODERN:
                    await group.start(listen, client)
                before = await client.list_tools()
                await client.call_tool("load", {})
                with anyio.fail_after(PATIENCE):
                    await told.wait()
                group.cancel_scope.cancel()
            after = await client.list_tools()
        return [[one.name for one in listed.tools] for listed in (before, after)]

    assert anyio.run(main) == [["load"], ["load", "late"]]
