"""fastmcp: a provider over a registry of ours, asked by its own client."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from fastmcp import Client, Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_context
from fastmcp.server.providers import Provider
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.types import Image as TheirImage
from mcp.types import ImageContent, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from operator_schema import Executor, Image, RawCall, Registry, Text, skip, tool

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
NATIVE = (TheirImage, ToolResult)


def content_of(part):
    match part:
        case Text():
            return TextContent(type="text", text=part.text)
        case Image():
            return ImageContent(type="image", data=part.base64, mime_type=part.media_type)
        case _:
            raise NotImplementedError(type(part))


class OperatorTool(Tool):
    _made: Any = PrivateAttr()
    _executor: Any = PrivateAttr()

    @classmethod
    def of(cls, made, executor):
        structured, said = made.structured_output(), made.annotations
        output = None
        if structured is not None:
            output = {
                **structured.schema,
                **({"x-fastmcp-wrap-result": True} if structured.is_wrapped else {}),
            }
        self = cls(
            name=made.name,
            title=said.title,
            description=made.definition()["description"],
            parameters=made.input_schema(),
            output_schema=output,
            annotations=ToolAnnotations(
                read_only_hint=said.read_only,
                destructive_hint=said.destructive,
                idempotent_hint=said.idempotent,
                open_world_hint=said.open_world,
            ),
            meta=dict(said.meta) or None,
        )
        self._made, self._executor = made, executor
        return self

    async def run(self, arguments):
        ctx = get_context()
        call = RawCall(ctx.request_id, self.name, arguments)
        result = await self._executor.execute(call, context={Context: ctx})
        if result.is_error:
            return ToolResult(content=result.content, is_error=True)
        if isinstance(result.value, ToolResult):
            return result.value
        if isinstance(result.value, NATIVE):
            return ToolResult(content=[result.value])
        if isinstance(result.value, list) and any(isinstance(one, NATIVE) for one in result.value):
            return ToolResult(content=result.value)
        structured = self._made.structured_output()
        return ToolResult(
            content=[content_of(part) for part in result.parts],
            structured_content=None if structured is None else structured.of(result.json),
            meta={"fastmcp": {"wrap_result": True}}
            if structured is not None and structured.is_wrapped
            else None,
        )


class RegistryProvider(Provider):
    def __init__(self, registry):
        super().__init__()
        self.executor = Executor(registry, pass_through=(ToolError,), native_results=NATIVE)

    async def _list_tools(self):
        return [OperatorTool.of(made, self.executor) for made in self.executor.registry.offered()]


def app_of(*tools):
    app = FastMCP("test")
    app.add_provider(RegistryProvider(Registry(tools)))
    return app


def call(made, arguments=None, **options):
    async def main():
        async with Client(app_of(made)) as client:
            return await client.call_tool(made.name, arguments or {}, **options)

    return asyncio.run(main())


@dataclass
class Meeting:
    start: datetime
    attendees: list[str]


@pytest.mark.parametrize(
    ("output", "value", "expected"),
    [
        (int, 5, 5),
        (list[int], [1, 2], [1, 2]),
        (int | None, None, None),
        (dict[str, int], {"a": 1}, {"a": 1}),
    ],
)
def test_a_result_is_the_same_value_for_the_client(output, value, expected):
    @tool
    def give() -> output:
        """Give it."""
        return value

    assert call(give).data == expected


def test_a_result_is_typed_again_for_the_client():
    @tool
    def meet() -> Meeting:
        """Meet."""
        return Meeting(datetime(2026, 1, 2, tzinfo=UTC), ["Ada"])

    got = call(meet)
    assert got.structured_content == {"start": "2026-01-02T00:00:00+00:00", "attendees": ["Ada"]}
    assert got.data.start == datetime(2026, 1, 2, tzinfo=UTC)


def test_the_context_is_found():
    @tool
    async def who(ctx: Annotated[Context, skip]) -> str:
        """Say who asks."""
        return ctx.fastmcp.name

    assert call(who).content[0].text == "test"


def test_their_images_arrive_untouched():
    @tool
    def look() -> Any:
        """Look."""
        return TheirImage(data=PNG, format="png")

    @tool
    def compare() -> Any:
        """Compare."""
        return ["Two:", TheirImage(data=PNG, format="png"), TheirImage(data=PNG, format="png")]

    (image,) = call(look).content
    assert (image.type, image.mime_type) == ("image", "image/png")
    assert [one.type for one in call(compare).content] == ["text", "image", "image"]


def test_our_images_arrive_as_content():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG)]

    text, image = call(look).content
    assert (text.text, image.mime_type) == ("Here:", "image/png")


def test_their_tool_error_passes_through():
    @tool
    def refuse() -> str:
        """Refuse."""
        raise ToolError("not you")

    got = call(refuse, raise_on_error=False)
    assert got.is_error
    assert got.content[0].text == "not you"


def test_what_a_tool_says_about_itself_reaches_the_client():
    @tool(title="Delete a row", destructive=True, meta={"team": "db"})
    def delete() -> int:
        """Delete."""
        return 1

    async def main():
        async with Client(app_of(delete)) as client:
            return await client.list_tools()

    (offered,) = asyncio.run(main())
    assert offered.title == "Delete a row"
    assert offered.annotations.destructive_hint is True
    assert offered.annotations.read_only_hint is None
    assert offered.meta["team"] == "db"


def test_a_switch_is_seen_at_once():
    @tool
    def find() -> int:
        """Find."""
        return 1

    registry = Registry([find])
    app = FastMCP("test")
    app.add_provider(RegistryProvider(registry))

    async def main():
        async with Client(app) as client:
            before = await client.list_tools()
            registry.switch("find", enabled=False)
            return len(before), await client.list_tools()

    assert asyncio.run(main()) == (1, [])
