"""semantic-kernel: our tools as functions of its kernel, called as its chat services call them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_calling_utils import (
    kernel_function_metadata_to_function_call_format,
)
from semantic_kernel.contents import ChatHistory, FunctionCallContent
from semantic_kernel.functions import (
    FunctionResult,
    KernelArguments,
    KernelFunction,
    KernelFunctionMetadata,
    KernelParameterMetadata,
    KernelPlugin,
    kernel_function,
)

from operator_schema import Executor, RawCall, Registry, skip, tool


class OperatorFunction(KernelFunction):
    made: Any
    executor: Any

    @classmethod
    def of(cls, made, executor, plugin):
        # `$defs` of a parameter's schema are dropped on this way.
        schema = made.input_schema(inline=True)
        required = schema.get("required", ())
        parameters = [
            KernelParameterMetadata(
                name=name,
                description=part.get("description"),
                is_required=name in required,
                schema_data=part,
            )
            for name, part in schema["properties"].items()
        ]
        metadata = KernelFunctionMetadata(
            name=made.name,
            plugin_name=plugin,
            description=made.definition()["description"],
            parameters=parameters,
            is_prompt=False,
            is_asynchronous=True,
            return_parameter=KernelParameterMetadata(name="return", schema_data=made.output_schema() or {}),
        )
        return cls(metadata=metadata, made=made, executor=executor)

    async def _invoke_internal(self, context):
        call = RawCall(name=self.made.name, arguments=dict(context.arguments))
        result = await self.executor.execute(call, context={Kernel: context.kernel})
        value = result.content if result.is_error else result.value
        metadata = {"text": result.content, "is_error": result.is_error}
        context.result = FunctionResult(function=self.metadata, value=value, metadata=metadata)

    async def _invoke_internal_stream(self, context):
        raise NotImplementedError


def kernel_with(*tools):
    executor = Executor(Registry(tools))
    functions = [OperatorFunction.of(made, executor, "ours") for made in tools]
    kernel = Kernel()
    kernel.add_plugin(KernelPlugin(name="ours", functions=functions))
    return kernel


@dataclass
class Place:
    city: str
    zip: str = ""


@tool
def weather(place: Place, kernel: Annotated[Kernel, skip], days: int = 1) -> Place:
    """Get the weather.

    Args:
        place: Where.
        days: How long.
    """
    return Place(place.city.upper(), f"{days} {type(kernel).__name__}")


def test_the_value_itself_is_the_result():
    kernel = kernel_with(weather)
    arguments = KernelArguments(place={"city": "Rome"})
    result = asyncio.run(kernel.invoke(plugin_name="ours", function_name="weather", arguments=arguments))
    assert result.value == Place("ROME", "1 Kernel")
    assert result.metadata["text"] == '{"city":"ROME","zip":"1 Kernel"}'


def test_a_call_of_the_model_is_told_in_our_words_what_is_wrong():
    kernel, history = kernel_with(weather), ChatHistory()
    call = FunctionCallContent(
        id="c1", plugin_name="ours", function_name="weather", arguments='{"place": {"city": 5}}'
    )
    asyncio.run(kernel.invoke_function_call(call, history))
    (item,) = history.messages[-1].items
    assert item.result.startswith("weather: 1 problem with the arguments")


def test_the_schema_that_the_model_gets_is_whole_without_definitions():
    kernel = kernel_with(weather)
    (metadata,) = kernel.get_full_list_of_function_metadata()
    shown = kernel_function_metadata_to_function_call_format(metadata)["function"]["parameters"]
    ours = weather.input_schema(inline=True)
    assert shown["required"] == ["place"]
    assert shown["properties"] == ours["properties"]
    assert "$ref" not in str(shown)


def test_a_tool_where_a_function_is_expected_says_what_to_give_instead():
    with pytest.raises(AttributeError, match="a Tool isn't a function, and __kernel_function__ can't be set"):
        kernel_function(weather)
