"""haystack-ai: our tools in its agent, with a model on this machine."""

from __future__ import annotations

import asyncio
import threading
from base64 import b64decode, b64encode
from typing import Annotated, Any

import pytest
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver
from haystack.components.agents import Agent
from haystack.components.agents.state import State
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, ImageContent, TextContent
from haystack.utils import Secret
from local_server import serving
from patience import cancelled_once
from turn_table import run_section
from turns import CALLS, CONTEXT, OURS, PNG, TOOLS, Call, Db, check_schemas

from operator_schema import Registry, skip, tool
from operator_schema.adapters import haystack_ai as adapter
from operator_schema.adapters.haystack_ai import Toolset, to_tool, to_tools, told

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "the call is dropped, with a warning in its log",
    "unknown": "its own text: Tool 'ad' not found",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": "text, because OpenAI's chat completions refuse images; content of Haystack with blocks=True",
    "approval": OURS,
}
SCHEMA = OURS


def agent_with(tools, address, **options):
    generator = OpenAIChatGenerator(
        api_key=Secret.from_token("x"), api_base_url=address, http_client_kwargs={"trust_env": False}
    )
    return Agent(chat_generator=generator, tools=tools, **options)


def talk(tools, calls, *, is_async=True, **options):
    """Return what the model reads of its calls, the first request and the end."""
    with serving(asked(calls), DONE) as (address, requests):
        agent = agent_with(tools, address, **options)
        go = [ChatMessage.from_user("go")]
        end = asyncio.run(agent.run_async(messages=go)) if is_async else agent.run(messages=go)
        assert end["last_message"].text == "done"
        results = [message.tool_call_result for message in end["messages"] if message.tool_call_results]
    pairs = zip(answers(requests[1]), results, strict=True)
    return [answer._replace(is_error=result.error) for answer, result in pairs], requests[0], end


def turn_of(tools, calls, is_async, **options):
    return talk(Toolset(tools, **options), calls, is_async=is_async)[0]


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    (True, False),
    host=State,
    live=Toolset,
    live_names=lambda made: [one.name for one in made],
    native=lambda: TextContent("all"),
)


def test_an_unknown_tool_is_told_in_its_words():
    (answer,), _, _ = talk(Toolset(TOOLS), CALLS["unknown"])
    assert answer.text.startswith("Tool 'ad' not found")
    assert answer.is_error


def test_a_call_that_is_no_json_is_dropped():
    # When this fails, the model may be told in our words.
    with serving(asked(CALLS["malformed"]), DONE) as (address, requests):
        agent_with(Toolset(TOOLS), address).run(messages=[ChatMessage.from_user("go")])
    assert all(not answers(request) for request in requests)


def test_cancelling_the_run_cancels_the_tool():
    begun, ended = [], []

    @tool
    async def wait() -> int:
        """Wait."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(True)
            raise
        return 1

    async def main():
        with serving(asked([Call("wait", {})])) as (address, _):
            run = agent_with([to_tool(wait)], address).run_async(messages=[ChatMessage.from_user("go")])
            await cancelled_once(begun, run)

    asyncio.run(main())
    assert ended == [True]


def test_the_schemas_on_the_wire_are_ours():
    _, request, _ = talk(Toolset(TOOLS), CALLS["good"])
    offered = [one["function"] for one in request["tools"]]
    assert [(one["name"], one["description"], one["parameters"]) for one in offered] == [
        (one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()
    ]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in offered})


def test_the_state_is_injected_and_takes_results():
    @tool
    def find(word: str, state: State) -> dict[str, list[str]]:
        """Find.

        Args:
            word: What.
        """
        state.set("seen", word)
        return {"found": [word, word]}

    made = to_tool(find, outputs_to_state={"found": {"source": "found"}})
    schema = {"seen": {"type": str}, "found": {"type": list[str]}}
    (answer,), _, end = talk([made], [Call("find", {"word": "ä"})], state_schema=schema)
    assert answer.text == '{"found":["ä","ä"]}'
    assert (end["seen"], end["found"]) == ("ä", ["ä", "ä"])


def test_a_switch_is_seen_at_once():
    registry = Registry(TOOLS[:2])
    toolset = Toolset(registry)
    assert [len(toolset), "book" in toolset] == [2, True]
    registry.switch("book", enabled=False)
    assert [len(toolset), "book" in toolset, toolset[0].name] == [1, False, "add"]
    assert [one.name for one in to_tools(registry)] == ["add"]
    with pytest.raises(TypeError, match="follows a registry"):
        toolset.add(to_tool(TOOLS[0]))


@pytest.mark.parametrize("blocks", [True, False])
def test_an_image_is_a_block_where_that_is_wanted(blocks):
    (made,) = to_tools(TOOLS[-1:], blocks=blocks)
    shown = told(made.invoke())
    if blocks:
        assert [type(one) for one in shown] == [TextContent, ImageContent]
        assert b64decode(shown[1].base64_image) == PNG
    else:
        assert shown.startswith("Here:\n[image image/png")


def test_their_content_arrives_untouched():
    picture = ImageContent(b64encode(PNG).decode(), mime_type="image/png")

    @tool
    def look() -> Any:
        """Look."""
        return picture

    @tool
    def compare() -> Any:
        """Compare."""
        return ["Two:", picture, picture]

    assert told(to_tool(look).invoke()) == [picture]
    assert told(to_tool(compare).invoke()) == [TextContent("Two:"), picture, picture]


def test_it_is_not_saved_with_a_pipeline():
    with pytest.raises(ValueError, match="can't be saved with a pipeline"):
        to_tool(TOOLS[0]).to_dict()
    with pytest.raises(ValueError, match="can't be saved with a pipeline"):
        Toolset(TOOLS).to_dict()


def test_the_example_of_the_page_works():
    names = run_section("haystack-ai")
    (answer,), _, _ = talk(names["toolset"], [Call("weather", {"city": "Rome"})])
    assert answer.text == '{"degrees":20}'


@pytest.mark.parametrize("is_async", [True, False])
def test_a_parameter_of_any_name_arrives(is_async):
    @tool
    def odd(self: int, kwargs: int, state: int) -> list[int]:
        """Take odd names."""
        return [self, kwargs, state]

    calls = [Call("odd", {"self": 1, "kwargs": 2, "state": 3})]
    ((found,), *_) = talk(to_tools([odd]), calls, is_async=is_async)
    assert found.text == "[1,2,3]"


@pytest.mark.parametrize("is_async", [True, False])
def test_calls_of_a_turn_run_side_by_side(is_async):
    together = threading.Barrier(3, timeout=10)

    @tool
    def meet(db: Annotated[Db, skip]) -> str:
        """Meet."""
        together.wait()  # all three, or it breaks
        return "met"

    tools = Toolset([meet], context=CONTEXT)
    found, _, _ = talk(tools, [Call("meet", {})] * 3, is_async=is_async)
    assert [one.text for one in found] == ["met"] * 3
