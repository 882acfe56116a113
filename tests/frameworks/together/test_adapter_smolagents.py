"""smolagents: our tools in its agents, which call by position, by name, and from code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import PIL.Image
import pytest
import smolagents
from chat_turns import asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver
from smolagents.models import ChatMessage, MessageRole, get_tool_json_schema
from turn_table import run_section
from turns import CALLS, OURS, TOOLS, Answer, Call, check_schemas

from operator_schema import tool
from operator_schema.adapters import smolagents as adapter
from operator_schema.adapters.smolagents import to_tool, to_tools
from operator_schema.content import Image

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": OURS,
    "unknown": "its own text: Unknown tool ad",
    "call_error": OURS,
    "exception": OURS,
    "parallel": "an error ends the step and hides the other results, unless raise_errors=False",
    "context": OURS,
    "cancelled": "can't happen: an agent stops between steps only",
    "rich": "a lone image becomes its AgentImage, everything else its text",
    "approval": OURS,
}
SCHEMA = "it marks what isn't required as nullable, and drops keywords beside properties and required"


class Scripted(smolagents.Model):
    """A model that says one thing after another."""

    def __init__(self, *messages):
        super().__init__(model_id="scripted")
        self.messages = list(messages)

    def generate(
        self, messages, stop_sequences=None, response_format=None, tools_to_call_from=None, **kwargs
    ):
        said = self.messages.pop(0)
        if isinstance(said, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=said)
        made = asked(said)["choices"][0]["message"]
        return ChatMessage.from_dict({"role": "assistant", "content": "", "tool_calls": made["tool_calls"]})


END = [Call("final_answer", {"answer": "done"})]


def talk(tools, calls):
    """Return what the model reads of the calls of one step."""
    agent = smolagents.ToolCallingAgent(tools, Scripted(calls, END), verbosity_level=0)
    assert agent.run("go") == "done"
    step = agent.memory.steps[1]
    return step.observations, None if step.error is None else str(step.error)


def turn_of(tools, calls, _is_async, **options):
    told, error = talk(to_tools(tools, **options), calls)
    return [Answer(error or told, error is not None)]


DRIVER = Driver(adapter, TURNS, turn_of, (False,))


def test_an_unknown_tool_is_told_in_its_words():
    _, error = talk(to_tools(TOOLS), CALLS["unknown"])
    assert error.startswith("Unknown tool ad, should be one of: add, book")


def test_an_error_among_several_calls_ends_the_step():
    told, error = talk(to_tools(TOOLS), CALLS["parallel"])
    assert told is None
    assert "add: 1 problem with the arguments" in error


def test_no_result_is_lost_where_errors_are_results():
    told, error = talk(to_tools(TOOLS, raise_errors=False), CALLS["parallel"])
    assert error is None
    assert {"0.02", "1"} < set(told.splitlines())
    assert "add: 1 problem with the arguments" in told


def test_an_image_is_theirs_and_text_with_an_image_is_text():
    drawn = BytesIO()
    PIL.Image.new("RGB", (2, 3)).save(drawn, "PNG")

    @tool
    def look() -> Image:
        """Look."""
        return Image.from_bytes(drawn.getvalue())

    assert to_tool(look)().to_raw().size == (2, 3)
    told, error = talk([to_tool(look)], CALLS["rich"])
    assert (told, error) == ("Stored 'image.png' in memory.", None)
    assert "Here:\n[image image/png" in to_tool(TOOLS[-1])()


@dataclass
class Place:
    city: str
    zip: str = ""


@tool
def weather(place: Place, days: int = 1) -> dict[str, int]:
    """Get the weather.

    Args:
        place: Where.
        days: How long.
    """
    return {"days": days, place.city: 20}


def run_code(code, *tools):
    agent = smolagents.CodeAgent(
        to_tools(tools), Scripted(f"<code>\nfinal_answer({code})\n</code>"), verbosity_level=0, max_steps=1
    )
    return agent.run("go"), agent


@pytest.mark.parametrize(
    "code",
    [
        'weather({"city": "Rome"}, 3)["days"]',
        'weather(days=3, place={"city": "Rome"})["days"]',
        'weather({"city": "Rome"}, days=3)["days"]',
    ],
)
def test_code_calls_by_position_and_by_name_and_reads_the_fields_of_the_result(code):
    assert run_code(code, weather)[0] == 3


def test_code_reads_of_the_types():
    prompt = to_tool(weather).to_code_prompt()
    assert prompt.startswith("def weather(place: object, days: integer) -> dict:")
    assert "place: Where." in prompt


@pytest.mark.parametrize("code", ["weather(1, 2, 3)", "weather(nowhere=1)"])
def test_what_is_wrong_with_a_call_from_code_is_told_in_our_words(code):
    with pytest.raises(ValueError, match=r"weather: \d problems? with the arguments"):
        eval(code, {"weather": to_tool(weather)})  # noqa: S307  # as an agent does


def test_an_agent_in_a_running_event_loop_calls_plain_and_async_tools():
    @tool
    async def wait(seconds: float) -> float:
        """Wait.

        Args:
            seconds: How long.
        """
        await asyncio.sleep(seconds)
        return seconds

    async def main():
        return run_code("wait(0.01)", wait)[0]

    assert asyncio.run(main()) == 0.01


def test_the_schema_on_the_wire_has_all_of_ours():
    shown = get_tool_json_schema(to_tool(weather))["function"]["parameters"]
    ours = weather.input_schema(inline=True)
    assert shown["required"] == ours["required"]
    assert shown["properties"]["place"] == ours["properties"]["place"]
    assert shown["properties"]["days"] == {**ours["properties"]["days"], "nullable": True}
    assert "$ref" not in str(shown)
    sent = [get_tool_json_schema(one)["function"] for one in to_tools(TOOLS)]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in sent})


def test_unions_and_any_keep_their_meaning():
    @tool
    def put(what: int | Place, more: Any, rest: Any = None) -> int:
        """Put.

        Args:
            what: What.
            more: More.
        """
        return 1

    shown = get_tool_json_schema(to_tool(put))["function"]["parameters"]["properties"]
    ours = put.input_schema(inline=True)["properties"]
    assert shown["what"]["allOf"] == [{"anyOf": ours["what"]["anyOf"]}]
    assert shown["more"]["type"] == shown["rest"]["type"]
    assert "object" in shown["more"]["type"]
    assert shown["rest"]["description"] == ""


@dataclass
class Tree:
    children: list[Tree]


def test_a_recursive_type_is_refused():
    @tool
    def plant(tree: Tree) -> int:
        """Plant.

        Args:
            tree: What.
        """
        return 1

    with pytest.raises(ValueError, match="plant takes one"):
        to_tool(plant)


def test_the_example_of_the_page_works():
    names = run_section("smolagents")
    assert [one.name for one in names["tools"]] == ["weather"]
    assert names["tools"][0]("Rome")["degrees"] == 20


@pytest.mark.parametrize("name", ["self", "sanitize_inputs_outputs"])
def test_a_parameter_whose_name_it_needs_itself_is_refused(name):
    @dataclass
    class Wanted:
        text: str = field(metadata={"alias": name})

    @tool
    def find(wanted: Wanted) -> str:
        """Find."""
        return wanted.text

    with pytest.raises(ValueError, match=f"^smolagents can't call find: it needs the name {name} itself"):
        to_tool(find)
