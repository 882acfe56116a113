"""pydantic-ai: our tools as one of its toolsets; needs the extra `pydantic-ai`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from .base import check_native, needing, runner_of, runner_of_one

with needing("pydantic_ai", "pydantic-ai-slim 2.68 or newer", "pydantic-ai"):
    from pydantic_ai import (
        ApprovalRequired,
        BinaryContent,
        CallDeferred,
        ModelRetry,
        RunContext,
        ToolDefinition,
        ToolFailed,
        ToolReturn,
    )
    from pydantic_ai.messages import MULTI_MODAL_CONTENT_TYPES
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from ..errors import DecodeError
from ..tools.content import Text
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import ToolResult
    from ..tools.execution.executor import Executor
    from ..tools.registry import Registry
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Tools

__all__ = ["Toolset", "to_tool", "to_tools"]

register_injected(cast("Any", RunContext))

_NATIVE = (ToolReturn, *MULTI_MODAL_CONTENT_TYPES)
_OPTIONS: ExecutorOptions = {
    "native_results": _NATIVE,
    "pass_through": (ApprovalRequired, CallDeferred, ModelRetry, ToolFailed),
}
_RETRIES = 3


class Toolset(AbstractToolset[Any]):
    """The tools of a registry, for `Agent(toolsets=[Toolset(registry)])`.

    What is registered or switched later is seen with the next step. Wrong arguments are told to the model as
    `ModelRetry`, which counts against `max_retries`; each other error as `ToolFailed`, which doesn't.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: what your program injects, by type or by name; or a plain function that takes the
            `RunContext` and returns that. The `RunContext` and its `deps` are there anyway, by their types.
        executor: what runs the calls; its registry has these tools.
        id: of the toolset, which durable execution asks for.
        max_retries: how often a model may correct the arguments of one tool; then the run ends.
        native: what `ToolDefinition` takes, for each tool; a function gets the tool and returns the value.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """

    def __init__(
        self,
        tools: Tools,
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        id: str | None = None,  # noqa: A002  # its name there
        max_retries: int = _RETRIES,
        **native: Any,
    ) -> None:
        check_native(native, [field.name for field in fields(ToolDefinition)], "ToolDefinition")
        self._runner = runner_of(tools, context, executor, _OPTIONS)
        self._id = id
        self._max_retries = max_retries
        self._native = native

    @property
    def id(self) -> str | None:
        """Name of the toolset; None if it has none."""
        return self._id

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._runner.executor.registry

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """Return the tools that are switched on now."""
        context = self._runner.context_of(_own(ctx), ctx)
        return {tool.name: self._made(tool, ctx) for tool in self.registry.offered(context=context)}

    def _made(self, tool: Tool[..., Any], ctx: Any) -> Any:
        waits = bool(tool.annotations.confirm) and not ctx.tool_call_approved
        native = {key: value(tool) if callable(value) else value for key, value in self._native.items()}
        definition = ToolDefinition(
            **{
                "name": tool.name,
                "description": tool.definition()["description"],
                "parameters_json_schema": tool.input_schema(),
                "strict": False,  # otherwise objects are closed, or everything becomes required
                "kind": "unapproved" if waits else "function",
                "return_schema": tool.output_schema(),
                **native,
            }
        )
        validator = _Validator(tool)
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=self._max_retries, args_validator=validator
        )

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:  # noqa: ARG002  # as it is called
        """Run a call.

        Raises:
            ToolFailed: it has no result.
        """
        own = _own(ctx)
        result = await self._runner.run(
            name, tool_args, own, call_id=ctx.tool_call_id, host=ctx, confirm="run"
        )
        if result.is_error:
            raise ToolFailed(result.content)
        return _returned(result)


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> Any:
    """Return a toolset of one tool: only a toolset of pydantic-ai can check arguments by itself.

    Args:
        tool: one of ours.
        context: as `Toolset` takes it.
        executor: what runs the calls, for limits of your own; it has this tool.
        native: as `Toolset` takes it.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    runner_of_one(tool, context, executor, _OPTIONS)
    if executor is None:
        return Toolset([tool], context=context, **native)
    name = tool.name
    whole = Toolset(executor.registry, context=context, executor=executor, **native)
    return whole.filtered(lambda _ctx, definition: definition.name == name)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> list[Toolset]:
    """Return a list with one `Toolset`, for `Agent(toolsets=to_tools(registry))`.

    The arguments are those of `Toolset`.
    """
    return [Toolset(tools, context=context, executor=executor, **native)]


class _Validator:
    """Checks arguments with our decoder: JSON in, JSON out, since hooks and approvals look at it.

    Args:
        tool: whose arguments they are.
    """

    def __init__(self, tool: Tool[..., Any]) -> None:
        self._tool = tool

    def validate_json(self, text: Any, **_: Any) -> Any:
        """Check JSON text."""
        return self._validated(text)

    def validate_python(self, arguments: Any, **_: Any) -> Any:
        """Check arguments that are parsed."""
        return self._validated(arguments)

    def _validated(self, arguments: Any) -> Any:
        try:
            return self._tool.encode_input(self._tool.decode(arguments))
        except DecodeError as error:
            raise ModelRetry(str(error)) from None


def _own(ctx: Any) -> Mapping[Any, Any]:
    own: dict[Any, Any] = {} if ctx.deps is None else {type(ctx.deps): ctx.deps}
    return {**own, RunContext: ctx}


def _returned(result: ToolResult) -> Any:
    value: Any = result.value
    if isinstance(value, _NATIVE):
        return value
    if isinstance(value, list) and any(isinstance(one, _NATIVE) for one in value):
        return value
    if all(isinstance(part, Text) for part in result.parts):
        return result.json
    return [_part(part) for part in result.parts]


def _part(part: Any) -> Any:
    if isinstance(part, Text):
        return part.text
    data = getattr(part, "data", None)
    return BinaryContent(data, media_type=part.media_type) if isinstance(data, bytes) else str(part)
