"""semantic-kernel: our tools as functions of its kernel, called by its chat service."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver
from local_server import serving
from openai import AsyncOpenAI
from patience import cancelled_once
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
from semantic_kernel.contents import ChatHistory
from semantic_kernel.filters import FunctionInvocationContext
from semantic_kernel.functions import KernelArguments, kernel_function
from turn_table import run_section
from turns import CALLS, OURS, TOOLS, Call, check_schemas

from operator_schema import Registry, tool
from operator_schema.adapters import semantic_kernel as adapter
from operator_schema.adapters.semantic_kernel import kernel_plugin, to_tool

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "its own text, which asks for JSON",
    "unknown": "its own text, which asks for a name that is there",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": "text",
    "approval": OURS,
}
SCHEMA = "it drops keywords beside properties and required"


def talk(plugin, calls):
    """Return what the model reads of its calls, and its first request."""

    async def main(address):
        kernel = Kernel()
        kernel.add_plugin(plugin)
        client = AsyncOpenAI(api_key="x", base_url=address)
        chat = OpenAIChatCompletion(ai_model_id="gpt", async_client=client)
        settings = OpenAIChatPromptExecutionSettings(function_choice_behavior=FunctionChoiceBehavior.Auto())
        history = ChatHistory()
        history.add_user_message("go")
        return await chat.get_chat_message_content(history, settings, kernel=kernel)

    named = [Call(f"{plugin.name}-{name}", arguments) for name, arguments in calls]
    with serving(asked(named), DONE) as (address, requests):
        assert asyncio.run(main(address)).content == "done"
    return answers(requests[1]), requests[0]


def turn_of(tools, calls, _is_async, **options):
    return talk(kernel_plugin(tools, **options), calls)[0]


DRIVER = Driver(adapter, TURNS, turn_of, host=FunctionInvocationContext)


def test_what_is_missing_is_told_in_our_words():
    ((answer,), _) = talk(kernel_plugin(TOOLS), [Call("add", {"b": "x"})])
    assert answer.text.startswith("add: 2 problems with the arguments")


def test_what_is_no_call_is_told_in_its_words():
    ((malformed,), _) = talk(kernel_plugin(TOOLS), CALLS["malformed"])
    assert "Arguments must be in JSON format" in malformed.text
    ((unknown,), _) = talk(kernel_plugin(TOOLS), CALLS["unknown"])
    assert "not part of the provided tools" in unknown.text
    ((extra,), _) = talk(kernel_plugin(TOOLS), [Call("add", {"a": 1, "c": 1})])
    assert "Received unexpected argument(s): ['c']" in extra.text


def test_an_image_is_told_in_words():
    ((answer,), _) = talk(kernel_plugin(TOOLS), CALLS["rich"])
    assert answer.text == "Here:\n[image image/png, 28 bytes]"


def test_cancelling_the_call_cancels_the_tool():
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
        kernel = Kernel()
        kernel.add_plugin(kernel_plugin([wait]))
        await cancelled_once(begun, kernel.invoke(plugin_name="tools", function_name="wait"))

    asyncio.run(main())
    assert ended == [True]


@dataclass
class Place:
    city: str
    zip: str = ""


@tool
def weather(place: Place, kernel: Kernel, days: int = 1) -> Place:
    """Get the weather.

    Args:
        place: Where.
        days: How long.
    """
    return Place(place.city.upper(), f"{days} {type(kernel).__name__}")


def test_the_text_is_the_result_and_the_value_beside_it():
    kernel = Kernel()
    kernel.add_function("ours", to_tool(weather, plugin_name="ours"))
    arguments = KernelArguments(place={"city": "Rome"})
    result = asyncio.run(kernel.invoke(plugin_name="ours", function_name="weather", arguments=arguments))
    assert result.value == '{"city":"ROME","zip":"1 Kernel"}'
    assert result.metadata["value"] == Place("ROME", "1 Kernel")
    assert result.metadata["json"] == {"city": "ROME", "zip": "1 Kernel"}
    assert result.metadata["is_error"] is False


def test_the_schema_that_the_model_gets_is_whole_without_definitions():
    _, request = talk(kernel_plugin([weather]), [Call("weather", {"place": {"city": "Rome"}})])
    (shown,) = request["tools"]
    ours = weather.input_schema(inline=True)
    assert shown["function"]["name"] == "tools-weather"
    assert shown["function"]["parameters"]["required"] == ["place"]
    assert shown["function"]["parameters"]["properties"] == ours["properties"]
    assert "$ref" not in str(shown)
    _, request = talk(kernel_plugin(TOOLS), CALLS["good"])
    sent = [one["function"] for one in request["tools"]]
    check_schemas(SCHEMA, {one["name"].partition("-")[2]: one["parameters"] for one in sent})


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

    with pytest.raises(ValueError, match="semantic-kernel can't show recursive types, and plant takes one"):
        to_tool(plant)


def test_a_plugin_has_what_is_switched_on():
    registry = Registry(TOOLS[:2])
    registry.switch("book", enabled=False)
    assert list(kernel_plugin(registry, "ours", description="All.").functions) == ["add"]


def test_a_tool_where_a_function_is_expected_says_what_to_give_instead():
    with pytest.raises(AttributeError, match="a Tool isn't a function, and __kernel_function__ can't be set"):
        kernel_function(weather)


def test_the_example_of_the_page_works():
    names = run_section("semantic-kernel")
    ((answer,), _) = talk(names["plugin"], [Call("weather", {"city": "Rome"})])
    assert answer.text == '{"degrees":20}'


@pytest.mark.parametrize("name", ["self", "settings"])
def test_a_parameter_whose_name_it_needs_itself_is_refused(name):
    @dataclass
    class Wanted:
        text: str = field(metadata={"alias": name})

    @tool
    def find(wanted: Wanted) -> str:
        """Find."""
        return wanted.text

    with pytest.raises(ValueError, match=f"^semantic-kernel can't call find: it needs the name {name}"):
        to_tool(find)
