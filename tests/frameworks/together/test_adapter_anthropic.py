"""anthropic: our tools in the SDK's tool runner, and its rewriting of schemas."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_tool, transform_schema
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver
from local_server import serving
from patience import cancelled_once
from pydantic import PydanticUserError
from turn_table import run_section
from turns import CALLS, OURS, PNG, TOOLS, Answer, add, check_schemas

from operator_schema import Executor, RawCall, Registry, SchemaError, providers, tool
from operator_schema.adapters import anthropic as adapter
from operator_schema.adapters.anthropic import to_tool, to_tools
from operator_schema.content import Image
from operator_schema.tools import document_tool

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: the API gives objects",
    "unknown": "its own text: Error: Tool 'ad' not found",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": OURS,
}
SCHEMA = OURS


def message(*content, reason):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": list(content),
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def uses(*calls):
    content = [{"type": "tool_use", "id": f"t{i}", "name": n, "input": a} for i, (n, a) in enumerate(calls)]
    return message(*content, reason="tool_use")


DONE = message({"type": "text", "text": "done"}, reason="end_turn")
ASK = {"model": "claude", "max_tokens": 100, "messages": [{"role": "user", "content": "go"}]}


def run(tools, *calls, is_async=False, **options):
    """Return the results that the model gets for its calls of one turn."""
    with serving(uses(*calls), DONE) as (address, requests):
        if is_async:

            async def main():
                async with AsyncAnthropic(base_url=address, api_key="x") as client:
                    made = to_tools(tools, is_async=True, **options)
                    return await client.beta.messages.tool_runner(tools=made, **ASK).until_done()

            final = asyncio.run(main())
        else:
            with Anthropic(base_url=address, api_key="x") as client:
                made = to_tools(tools, **options)
                final = client.beta.messages.tool_runner(tools=made, **ASK).until_done()
        assert final.content[0].text == "done"
        registry = tools.registry if isinstance(tools, Executor) else Registry(tools)
        assert requests[0]["tools"] == registry.definitions()
        return requests[1]["messages"][-1]["content"]


def text_of(content):
    return content if isinstance(content, str) else "".join([part.get("text", "") for part in content])


def turn_of(tools, calls, is_async, **options):
    return [
        Answer(text_of(one["content"]), bool(one.get("is_error")), "image" in str(one["content"]))
        for one in run(tools, *calls, is_async=is_async, **options)
    ]


DRIVER = Driver(adapter, TURNS, turn_of, (False, True))


def test_an_unknown_tool_is_told_in_its_words():
    (result,) = run(TOOLS, *CALLS["unknown"])
    assert "Tool 'ad' not found" in text_of(result["content"])
    assert result["is_error"]


def test_cancelling_the_runner_cancels_the_tool():
    begun, ended = [], []

    @tool
    async def hang() -> int:
        """Hang."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)
        return 1

    async def main(address):
        async with AsyncAnthropic(base_url=address, api_key="x") as client:
            runner = client.beta.messages.tool_runner(tools=to_tools([hang], is_async=True), **ASK)
            await cancelled_once(begun, runner.until_done())

    with serving(uses(("hang", {})), DONE) as (address, _):
        asyncio.run(main(address))
    assert ended == [True]


@pytest.mark.parametrize("is_async", [False, True])
def test_calls_without_an_id_get_results_and_errors_in_our_words(is_async):
    good, bad = run([add], ("add", {"a": 2}), ("add", {"a": "x", "b": "y"}), is_async=is_async)
    assert (good["tool_use_id"], good["content"]) == ("t0", "2")
    assert bad["is_error"]
    assert str(bad["content"]).count("add: 2 problems with the arguments") == 1


def test_the_plain_runner_works_where_an_event_loop_runs():
    async def main():
        return run([add], ("add", {"a": 2}))

    (good,) = asyncio.run(main())
    assert good["content"] == "2"


def test_an_image_arrives_as_a_block():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG)]

    (result,) = run([look], ("look", {}))
    text, image = result["content"]
    assert text == {"type": "text", "text": "Here:"}
    assert image["source"]["media_type"] == "image/png"


def test_made_ids_differ():
    assert RawCall(name="add").id != RawCall(name="add").id


@dataclass
class Line:
    start: tuple[int, str]
    extra: Any
    more: dict[str, Any]
    none: tuple[()]


def test_the_schemas_on_the_wire_are_ours():
    with serving(DONE) as (address, requests), Anthropic(base_url=address, api_key="x") as client:
        client.beta.messages.tool_runner(**ASK, tools=to_tools(TOOLS)).until_done()
    check_schemas(SCHEMA, {one["name"]: one["input_schema"] for one in requests[0]["tools"]})


def test_their_rewriting_of_schemas_takes_ours_without_boolean_and_empty_ones():
    @tool
    def draw(line: Line, anything: object, rest: list[Any]) -> int:
        """Draw.

        Args:
            line: A line.
            anything: Anything.
            rest: All else.
        """
        return 1

    shown = transform_schema(draw.input_schema(boolean_schemas=False, empty_schemas=False))
    assert set(shown["properties"]) == {"line", "anything", "rest"}
    assert set(shown["properties"]["line"]["properties"]) == {"start", "extra", "more", "none"}


@pytest.mark.parametrize("annotation", [tuple[int, str], object])
def test_it_does_not_take_the_usual_ones(annotation):
    # When this fails, the test above needs its options no longer.
    @tool
    def draw(x: annotation) -> int:
        """Draw.

        Args:
            x: What.
        """
        return 1

    with pytest.raises((TypeError, ValueError)):
        transform_schema(draw.input_schema())


def test_a_tool_where_a_function_is_expected_is_refused_by_name():
    with pytest.raises(PydanticUserError, match=r"AddTool 'add'.*should be applied to functions"):
        beta_tool(add)


def test_options_of_theirs_are_sent():
    assert to_tool(add, cache_control={"type": "ephemeral"}).to_dict()["cache_control"] == {
        "type": "ephemeral"
    }


def test_the_examples_of_the_page_run():
    (made,) = run_section("anthropic")["tools"]
    assert made.name == "search"


COMPOSED = {
    "type": "object",
    "properties": {"mode": {"type": "string"}, "size": {"type": "integer"}},
    "anyOf": [{"required": ["mode"]}, {"required": ["size"]}],
}


def test_what_the_api_refuses_at_the_root_of_a_schema_is_left_out_as_for_the_provider():
    foreign = document_tool(lambda arguments: "ok", COMPOSED, name="foreign", description="Do it.")
    ours = providers.anthropic.request([foreign])["tools"][0]
    assert "anyOf" not in ours["input_schema"]
    assert to_tool(foreign).to_dict() == ours
    text = document_tool(lambda arguments: "ok", {"anyOf": [{"type": "string"}]}, name="a", description="b")
    with pytest.raises(SchemaError, match="Anthropic takes only arguments that are an object"):
        to_tool(text).to_dict()
