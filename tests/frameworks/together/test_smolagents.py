"""smolagents: our tools in its agents, which call by position, by name, and from code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
import smolagents
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    get_tool_json_schema,
)

from operator_schema import Executor, RawCall, Registry, tool


class OperatorTool(smolagents.Tool):
    skip_forward_signature_validation = True

    def __init__(self, made, executor):
        self.name = made.name
        self.description = made.definition()["description"]
        self.output_type = "any"
        self.output_schema = made.output_schema()
        schema = made.input_schema(inline=True, boolean_schemas=False)
        self.inputs = {
            name: {
                "type": "any",
                "description": "",
                **part,
                **({} if name in schema.get("required", ()) else {"nullable": True}),
            }
            for name, part in schema["properties"].items()
        }
        self.signature = made.signature
        self.executor = executor
        super().__init__()

    def forward(self, *args, **kwargs):
        arguments = self.signature.bind_partial(*args, **kwargs).arguments
        result = self.executor.execute_sync(RawCall(name=self.name, arguments=arguments))
        if result.is_error:
            raise ValueError(result.content)
        return result.json


class Scripted(smolagents.Model):
    """A model that says one thing after another."""

    def __init__(self, *messages):
        super().__init__(model_id="scripted")
        self.messages = list(messages)
        self.seen = []

    def generate(
        self, messages, stop_sequences=None, response_format=None, tools_to_call_from=None, **kwargs
    ):
        self.seen.append((messages, tools_to_call_from))
        said = self.messages.pop(0)
        if isinstance(said, str):
            return ChatMessage(role=MessageRole.ASSISTANT, content=said)
        name, arguments = said
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id="c1", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


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


def theirs(*tools):
    executor = Executor(Registry(tools))
    return [OperatorTool(made, executor) for made in tools]


def call_in_steps(*said):
    agent = smolagents.ToolCallingAgent(theirs(weather), Scripted(*said), verbosity_level=0)
    return agent.run("go"), agent


def test_a_call_of_the_model_gives_a_json_value():
    answer, agent = call_in_steps(
        ("weather", {"place": {"city": "Rome"}}), ("final_answer", {"answer": "done"})
    )
    assert answer == "done"
    assert agent.memory.steps[1].observations == "{'days': 1, 'Rome': 20}"


def test_wrong_arguments_are_told_in_our_words():
    _, agent = call_in_steps(("weather", {"place": {"city": 5}}), ("final_answer", {"answer": "done"}))
    assert "weather: 1 problem with the arguments" in str(agent.memory.steps[1].error)


@pytest.mark.parametrize(
    "code",
    [
        'weather({"city": "Rome"}, 3)["days"]',
        'weather(days=3, place={"city": "Rome"})["days"]',
        'weather({"city": "Rome"}, days=3)["days"]',
    ],
)
def test_code_calls_by_position_and_by_name_and_reads_the_fields_of_the_result(code):
    agent = smolagents.CodeAgent(
        theirs(weather), Scripted(f"<code>\nfinal_answer({code})\n</code>"), verbosity_level=0
    )
    assert agent.run("go") == 3


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
        code = "<code>\nfinal_answer(wait(0.01))\n</code>"
        return smolagents.CodeAgent(theirs(wait), Scripted(code), verbosity_level=0).run("go")

    assert asyncio.run(main()) == 0.01


def test_the_schema_keeps_what_is_nested():
    (made,) = theirs(weather)
    shown = get_tool_json_schema(made)["function"]["parameters"]
    assert shown["required"] == ["place"]
    assert shown["properties"]["place"] == {
        **weather.input_schema(inline=True)["properties"]["place"],
        "type": "object",
    }
    assert "$ref" not in str(shown)
