"""semantic-kernel: our tools as functions of its kernel; needs the extra `semantic-kernel`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from .base import check_parameters, flat_definition, needing, runner_of, runner_of_one

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

from ..tools.injection import register_injected

if TYPE_CHECKING:
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, Runner, Tools

__all__ = ["OperatorFunction", "kernel_plugin", "to_tool", "to_tools"]

for _host in (Kernel, KernelArguments):
    register_injected(_host)


class OperatorFunction(KernelFunction):
    """One of our tools as a function of a kernel; made by `to_tool`, `to_tools` and `kernel_plugin`."""

    operator_runner: Any
    operator_name: str

    @property
    def parameters(self) -> list[Any]:
        """The parameters for its check of calls, none of them required: we say what is missing."""
        return [one.model_copy(update={"is_required": False}) for one in self.metadata.parameters]

    async def _invoke_internal(self, context: Any) -> None:
        runner: Runner = self.operator_runner
        own = {Kernel: context.kernel, KernelArguments: context.arguments}
        arguments = dict(context.arguments)
        result = await runner.run(self.operator_name, arguments, own, host=context)
        context.result = FunctionResult(
            function=self.metadata,
            value=result.content,
            metadata={
                "is_error": result.is_error,
                "json": result.json,
                "value": result.value,
                "arguments": context.arguments,
            },
        )

    async def _invoke_internal_stream(self, context: Any) -> NoReturn:
        message = "a tool gives one result: use kernel.invoke, not invoke_stream"
        raise NotImplementedError(message)


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    plugin_name: str | None = None,
    **native: Any,
) -> OperatorFunction:
    """Return a function for `Kernel.add_function`.

    What it gives is the text for the model; `FunctionResult.metadata` has the `value`, its `json`, and
    whether it `is_error`.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the
            `FunctionInvocationContext` and returns that. The `Kernel` and the `KernelArguments` are there
            by their types anyway.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        plugin_name: of the plugin; the model reads the function as `plugin-function`.
        native: what `KernelFunctionMetadata` takes, such as `additional_properties`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool, or it takes a recursive type.
    """
    runner = runner_of_one(tool, context, executor, {}, confirm)
    return _made(tool, runner, plugin_name, native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    plugin_name: str | None = None,
    **native: Any,
) -> list[OperatorFunction]:
    """Return functions for the tools that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools, or one takes a recursive type.
    """
    runner = runner_of(tools, context, executor, {}, confirm)
    offered = runner.executor.registry.offered()
    return [_made(tool, runner, plugin_name, native) for tool in offered]


def kernel_plugin(
    tools: Tools,
    /,
    name: str = "tools",
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    description: str | None = None,
    **native: Any,
) -> Any:
    """Return a plugin of the tools that are switched on now, for `Kernel.add_plugin`.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        name: of the plugin.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        description: of the plugin.
        native: as for `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools, or one takes a recursive type.
    """
    made = to_tools(tools, context=context, executor=executor, confirm=confirm, plugin_name=name, **native)
    return KernelPlugin(name=name, description=description, functions=made)


def _made(
    tool: Tool[..., Any], runner: Runner, plugin_name: str | None, native: dict[str, Any]
) -> OperatorFunction:
    check_parameters(tool, "semantic-kernel", ("self", "settings"))
    definition = flat_definition(tool, "semantic-kernel")
    schema = definition["input_schema"]
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
        **{
            "name": tool.name,
            "plugin_name": plugin_name,
            "description": definition["description"],
            "parameters": parameters,
            "is_prompt": False,
            "is_asynchronous": True,
            "return_parameter": KernelParameterMetadata(
                name="return", schema_data=tool.output_schema() or {}
            ),
            **native,
        }
    )
    return OperatorFunction(metadata=metadata, operator_runner=runner, operator_name=tool.name)
