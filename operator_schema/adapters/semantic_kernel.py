"""semantic-kernel: our tools as functions of its kernel; needs the extra `semantic-kernel`.

`to_tool` takes the options of `KernelFunctionMetadata`, such as `additional_properties`, and `plugin_name`;
the model reads the function as `plugin-function`. The result of a function is the text for the model;
`FunctionResult.metadata` has the `value`, its `json`, and whether it `is_error`. Each call can inject the
`Kernel` and the `KernelArguments` by their types. semantic-kernel doesn't support recursive types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ..lazy import answer_misnamed
from .base import Adapter, needing
from .conversions import flat_definition

with needing("semantic_kernel", "semantic-kernel 1.45 or newer", "semantic-kernel"):
    from semantic_kernel import Kernel
    from semantic_kernel.functions import (
        FunctionResult,
        KernelArguments,
        KernelFunction,
        KernelFunctionMetadata,
        KernelParameterMetadata,
        KernelPlugin,
    )

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools import Tool
    from .base import Tools
    from .runner import Runner

__all__ = ["OperatorFunction", "kernel_plugin", "to_tool", "to_tools"]

answer_misnamed(__name__)


class OperatorFunction(KernelFunction):
    """One of our tools as a function of a kernel; made by `to_tool`, `to_tools` and `kernel_plugin`."""

    operator_runner: Any
    operator_name: str

    @property
    def parameters(self) -> list[Any]:
        """The parameters for the kernel's check of calls; none is required, as we report missing ones."""
        return [one.model_copy(update={"is_required": False}) for one in self.metadata.parameters]

    async def _invoke_internal(self, context: Any) -> None:
        arguments = context.arguments
        result = await self.operator_runner.run(self.operator_name, dict(arguments), context)
        about = {"is_error": result.is_error, "json": result.json, "value": result.value}
        context.result = FunctionResult(
            function=self.metadata, value=result.content, metadata={**about, "arguments": arguments}
        )

    async def _invoke_internal_stream(self, context: Any) -> NoReturn:
        message = "a tool gives one result: use kernel.invoke, not invoke_stream"
        raise NotImplementedError(message)


def _make_tool(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> OperatorFunction:
    definition = flat_definition(tool, "semantic-kernel")
    returned = KernelParameterMetadata(name="return", schema_data=tool.output_schema() or {})
    own = {
        "name": tool.name,
        "plugin_name": None,
        "description": definition["description"],
        "parameters": _parameters(definition["input_schema"]),
        "is_prompt": False,
        "is_asynchronous": True,
        "return_parameter": returned,
    }
    metadata = KernelFunctionMetadata(**{**own, **native})
    return OperatorFunction(metadata=metadata, operator_runner=runner, operator_name=tool.name)


def _parameters(schema: Mapping[str, Any]) -> list[Any]:
    required = frozenset(schema.get("required", ()))
    return [
        KernelParameterMetadata(
            name=name, description=part.get("description"), is_required=name in required, schema_data=part
        )
        for name, part in schema["properties"].items()
    ]


_adapter = Adapter[OperatorFunction](
    "semantic-kernel",
    _make_tool,
    own=lambda context: {Kernel: context.kernel, KernelArguments: context.arguments},
    hosts=(Kernel, KernelArguments),
    taken=("self", "settings"),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


def kernel_plugin(
    tools: Tools, /, name: str = "tools", *, description: str | None = None, **options: Any
) -> Any:
    """Return a plugin of the tools that are switched on now, for `Kernel.add_plugin`.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        name: name of the plugin.
        description: description of the plugin.
        options: as for `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has the wrong type.
        ValueError: the executor has other tools, or a tool takes a recursive type.
    """
    made = to_tools(tools, plugin_name=name, **options)
    return KernelPlugin(name=name, description=description, functions=made)
