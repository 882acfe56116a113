"""Results that are objects of the protocol reach a client as what they are, also through a gateway."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import anyio
import pytest
from mcp import Client, MCPError, types
from mcp.server.mcpserver import Image as McpImage

from operator_schema import Codec, Executor, RawCall, Registry, RunNormally, tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.content import blocks_of
from operator_schema.adapters.mcp.tool_server import _outcome
from operator_schema.adapters.mcp_client import tools_from
from operator_schema.content import Image

LEGACY, MODERN = "legacy", "2026-07-28"
both_protocols = pytest.mark.parametrize("mode", [LEGACY, MODERN])
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
DATA = base64.b64encode(PNG).decode()

TEXT = types.TextContent(type="text", text="here", annotations=types.Annotations(priority=1.0))
PICTURE = types.ImageContent(type="image", data=DATA, mime_type="image/png", _meta={"a": 1})
SOUND = types.AudioContent(type="audio", data=DATA, mime_type="audio/wav")
LINK = types.ResourceLink(
    type="resource_link", uri="file:///a", name="A", title="The A", description="All of it"
)
HELD = types.EmbeddedResource(
    type="resource", resource=types.TextResourceContents(uri="file:///b", text="b", mime_type="text/plain")
)
BLOB = types.EmbeddedResource(
    type="resource", resource=types.BlobResourceContents(uri="file:///c", blob=DATA)
)
FORM = {"type": "object", "properties": {}}
BLOCKS = [TEXT, PICTURE, SOUND, LINK, HELD, BLOB]


@dataclass
class Row:
    name: str


def giving(value, output=Any, **options):
    def give() -> output:
        """Give it."""
        return value

    return tool(give, **options)


def asked(made, mode=LEGACY, **options):
    """Return what a client gets of a tool, and what it gets by a gateway before the server."""
    return all_asked([made], mode, **options)["give"]


def all_asked(tools, mode, **options):
    """Return what a client gets of each tool, and what it gets by a gateway before the server."""

    async def main():
        async with Client(server(tools, **options), mode=mode) as client:
            listed = (await client.list_tools()).tools  # from then on it checks what comes
            direct = {each.name: await client.call_tool(each.name, {}) for each in tools}
            gateway = server(Registry(await tools_from(client)), **options)
            async with Client(gateway, mode=mode) as behind:
                assert [one.output_schema for one in (await behind.list_tools()).tools] == [
                    one.output_schema for one in listed
                ]
                return {name: (found, await behind.call_tool(name, {})) for name, found in direct.items()}

    return anyio.run(main)


def bare(result):
    """Return a result without what a server says about itself."""
    return result.model_dump(exclude={"meta"}, by_alias=True)


OUTPUTS = {"Any": lambda _: Any, "object": lambda _: object, "own": type}


@cache
def blocks_asked(mode):
    tools = [
        giving(block, declared(block)).with_(name=f"{output}_{number}")
        for number, block in enumerate(BLOCKS)
        for output, declared in OUTPUTS.items()
    ]
    return all_asked(tools, mode)


@both_protocols
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("number", range(len(BLOCKS)), ids=[block.type for block in BLOCKS])
def test_a_block_stays_what_it_is(number, output, mode):
    block = BLOCKS[number]
    direct, behind = blocks_asked(mode)[f"{output}_{number}"]
    assert direct.content == [block]
    assert bare(direct) == bare(behind)
    assert not direct.is_error


@both_protocols
def test_a_list_may_hold_blocks_and_anything_else(mode):
    made = giving(["text", PICTURE, Row("a"), Image(PNG, "image/png"), (LINK, 5)], list)
    direct, behind = asked(made, mode)
    text = [one.text for one in direct.content if one.type == "text"]
    assert [one.type for one in direct.content] == ["text", "image", "text", "image", "resource_link", "text"]
    assert text == ["text", '{"name":"a"}', "5"]
    assert (direct.content[1], direct.content[4]) == (PICTURE, LINK)
    assert bare(direct) == bare(behind)


@both_protocols
@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize("data", [None, {"total": 3}])
def test_a_whole_result_keeps_its_mark_and_its_data(data, is_error, mode):
    whole = types.CallToolResult(content=BLOCKS, structured_content=data, is_error=is_error)
    direct, behind = asked(giving(whole, types.CallToolResult), mode)
    assert bare(direct) == bare(whole)
    assert bare(behind) == bare(whole)


def test_data_that_are_no_object_are_for_clients_that_take_them():
    whole = types.CallToolResult(content=[TEXT], structured_content=[1, 2])
    assert asked(giving(whole), MODERN)[0].structured_content == [1, 2]
    assert asked(giving(whole), LEGACY)[0].structured_content is None
    assert asked(giving(whole), MODERN, structured="none")[0].structured_content is None


@both_protocols
def test_a_result_without_the_data_that_its_tool_declares_is_an_error(mode):
    """A client would refuse it, and show nothing."""
    made = giving(types.CallToolResult(content=[TEXT]), Row)
    direct, behind = asked(made, mode)
    assert (direct.content, direct.is_error) == ([TEXT], True)
    assert behind.is_error


@both_protocols
def test_a_result_with_the_data_that_its_tool_declares(mode):
    made = giving(types.CallToolResult(content=[TEXT], structured_content={"name": "a"}), Row)
    for result in asked(made, mode):
        assert (result.content, result.structured_content) == ([TEXT], {"name": "a"})
        assert not result.is_error


PAIR = {"type": "object", "additionalProperties": {"type": "integer"}}


@both_protocols
@pytest.mark.parametrize(
    ("data_type", "data", "schema"),
    [
        (Row, {"name": "a"}, Codec(Row).json_schema()),
        (dict[str, int], {"a": 1}, PAIR),
        (Row | None, {"name": "a"}, None),
    ],
)
def test_a_whole_result_may_declare_the_type_of_its_data(data_type, data, schema, mode):
    annotation = Annotated[types.CallToolResult, data_type]
    whole = types.CallToolResult(content=[TEXT], structured_content=data)
    made = giving(whole, annotation)
    assert made.output_schema() == giving(None, data_type).output_schema()
    assert schema is None or made.output_schema() == schema
    if schema is not None:
        for result in asked(made, mode):
            assert (result.content, result.structured_content) == ([TEXT], data)
            assert not result.is_error
        without = giving(types.CallToolResult(content=[TEXT]), annotation)
        assert asked(without, mode)[0].is_error
    call = RawCall("1", "give", {})
    as_before = Executor(giving(whole, types.CallToolResult)).run_sync(call)
    assert Executor(made).run_sync(call).content == as_before.content


def test_other_words_about_a_whole_result_declare_nothing():
    for words in (("What it is",), (5,), ({"a": 1}, "b"), (None,)):
        assert giving(None, Annotated[(types.CallToolResult, *words)]).output_schema() == {}
    assert (
        giving(None, Annotated[types.CallToolResult, "The row", Row]).output_schema()
        == Codec(Row).json_schema()
    )


def test_a_question_of_the_protocol_is_asked():
    request = types.ElicitRequest(
        params=types.ElicitRequestFormParams(message="Which?", requested_schema=FORM)
    )
    question = types.InputRequiredResult(input_requests={"which": request}, request_state="here")

    async def main():
        async with Client(server([giving(question)]), mode=MODERN) as client:
            return await client.session.call_tool("give", {}, allow_input_required=True)

    assert anyio.run(main).request_state == "here"


def test_an_image_of_the_sdk():
    direct, behind = asked(giving(McpImage(data=PNG, format="png")))
    assert direct.content == [types.ImageContent(type="image", data=DATA, mime_type="image/png")]
    assert bare(direct) == bare(behind)


@pytest.mark.parametrize(
    "wrong",
    [
        [PICTURE, object()],
        McpImage(path="/nowhere/at/all.png"),
        types.TextContent(type="text", text="\ud800"),
        types.CallToolResult(content=[], structured_content={"a": "\ud800"}),
        types.TextContent(type="text", text="a", _meta={"a": object()}),
    ],
)
def test_what_cant_be_sent_is_an_error_that_says_so(wrong, caplog):
    for result in asked(giving(wrong)):
        assert result.is_error
        assert "give did its work, but its result can't be shown" in result.content[0].text
    assert "give: its result can't be sent" in caplog.text


LONG = types.TextContent(type="text", text="x" * 1000)


@pytest.mark.parametrize("is_error", [False, True])
def test_a_result_has_a_maximum_size(is_error):
    whole = types.CallToolResult(
        content=[LONG, PICTURE, LONG, HELD], structured_content={"a": "b"}, is_error=is_error
    )
    for result in asked(giving(whole, max_content=1500)):
        texts = [one.text for one in result.content if one.type == "text"]
        assert texts[0] == LONG.text
        assert 0 < len(texts[1]) < 500
        left_out = "2,001 characters, and its data is left out"
        assert texts[-1] == f"[cut: the whole result has {left_out}; ask for less of it]"
        assert sum(map(len, texts)) == 1500
        assert PICTURE in result.content
        assert HELD not in result.content
        assert (result.structured_content, result.is_error) == (None, is_error)


def test_the_executor_has_a_maximum_size_for_all_of_them():
    whole = giving([LONG, LONG])
    executor = Executor([whole], max_content=500)

    async def main(**options):
        async with Client(server(executor.registry, **options)) as client:
            return await client.call_tool("give", {})

    texts = [one.text for one in anyio.run(lambda: main(executor=executor)).content]
    assert sum(map(len, texts)) == 500
    assert [one.text for one in anyio.run(main).content] == [LONG.text, LONG.text]


@both_protocols
def test_an_error_of_the_server_behind_keeps_its_pictures(mode):
    failed = types.CallToolResult(content=[TEXT, PICTURE], structured_content={"why": "full"}, is_error=True)

    async def main():
        async with Client(server([giving(failed)]), mode=mode) as client:
            return await Executor(await tools_from(client)).run(RawCall("1", "give", {}))

    result = anyio.run(main)
    assert result.is_error
    assert result.content == "here\n[image image/png, 28 bytes]"
    assert asked(giving(failed), mode)[1].content == [TEXT, PICTURE]


def test_an_error_of_the_protocol_stays_one():
    @tool
    def give() -> types.CallToolResult:
        """Give it."""
        raise MCPError(-32050, "no")

    async def main():
        async with Client(server([give])) as client:
            with pytest.raises(MCPError, match="no"):
                await client.call_tool("give", {})

    anyio.run(main)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "null"),
        ({1: 2}, '{"1":2}'),
        ("a\ud800", "a\ufffd"),
        (None, "null"),
        (5, "5"),
        ("five", "five"),
        ({"a": [1]}, '{"a":[1]}'),
    ],
)
def test_what_stands_among_blocks_becomes_a_text_if_it_can(value, text):
    assert blocks_of([TEXT, value]) == [TEXT, types.TextContent(type="text", text=text)]


@pytest.mark.parametrize("call_id", ["7", None])
def test_a_tool_that_ends_the_process_has_failed(call_id):
    async def ends():
        raise SystemExit(3)

    result = anyio.run(_outcome, call_id, "leave", ends())
    assert (result.call_id, result.name, result.code) == (call_id or "", "leave", "execution_failed")
    assert (result.is_error, result.content) == (True, "leave failed: SystemExit")


@both_protocols
@pytest.mark.parametrize(
    "kind", ["a text", "data", "a result of its own", "a failure of its own", "an image"]
)
def test_a_client_reads_what_a_hook_changed_also_by_a_gateway(mode, kind):
    own = {"content": [TEXT, PICTURE], "structured_content": {"name": "new"}}
    made = {
        "a text": "here",
        "data": Row("new"),
        "a result of its own": types.CallToolResult(**own),
        "a failure of its own": types.CallToolResult(**own, is_error=True),
        "an image": Image(PNG, "image/png"),
    }

    output = {"data": Row}.get(kind, Any)

    def give(word: str) -> output:
        """Give it."""
        return made[kind]

    def rename(call):
        return RunNormally(call.tool.decode({"word": "new"}))

    async def main():
        own_tools = Registry([tool(give)])
        direct = server(own_tools, executor=Executor(own_tools, hooks=rename))
        async with Client(direct, mode=mode) as client, Client(server([tool(give)]), mode=mode) as plain:
            await client.list_tools()
            tools = Registry(await tools_from(plain))
            gateway = server(tools, executor=Executor(tools, hooks=rename))
            async with Client(gateway, mode=mode) as behind:
                await behind.list_tools()
                return [await one.call_tool("give", {"word": "old"}) for one in (client, behind, plain)]

    *changed, plain = anyio.run(main)
    for found in changed:
        assert (found.is_error, found.structured_content) == (plain.is_error, plain.structured_content)
        texts = [block.text for block in found.content if isinstance(block, types.TextContent)]
        told, may_not_have_run = (
            "The program changed word before it ran.",
            "The program changed word in this call.",
        )
        assert texts[0].startswith((told, may_not_have_run) if plain.is_error else told)
        rest = [block for block in found.content if not isinstance(block, types.TextContent)]
        assert rest == [block for block in plain.content if not isinstance(block, types.TextContent)]
        said = [block.text for block in plain.content if isinstance(block, types.TextContent)]
        assert texts[-1].endswith(said[-1] if said else told)
