"""openai-agents: our tools as its function tools; needs the extra `openai-agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .base import needing, runner_of, runner_of_one

with needing("agents", "openai-agents 0.24 or newer", "openai-agents"):
    from agents import (
        FunctionTool,
        RunContextWrapper,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
        UserError,
    )
    from agents.exceptions import AgentsException
    from agents.tool_context import ToolContext
    from agents.tracing import SpanError, get_current_span

from ..tools.content import Audio, File, Image, Resource, Text
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..tools.calls import ToolResult
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["answer_of_unknown_tool", "to_tool", "to_tools"]

for _host in (RunContextWrapper, ToolContext):
    register_injected(cast("Any", _host))

_NATIVE = (ToolOutputFileContent, ToolOutputImage, ToolOutputText)
_OPTIONS: ExecutorOptions = {"native_results": _NATIVE, "pass_through": (AgentsException,)}


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> Any:
    """Return a `FunctionTool` of openai-agents.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the
            `ToolContext` and returns that. The `ToolContext` and the context object of the run are there
            anyway, by their types.
        executor: what runs the calls, for limits of your own; it has this tool.
        native: what `FunctionTool` takes, such as `tool_input_guardrails` and `needs_approval`, which is
            that of the tool (`confirm=True`) by default.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return _made(tool, runner_of_one(tool, context, executor, _OPTIONS), native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> list[Any]:
    """Return function tools for all tools; a run is offered those that are switched on when it asks.

    The arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    runner = runner_of(tools, context, executor, _OPTIONS)
    return [_made(tool, runner, native) for tool in runner.executor.registry]


def answer_of_unknown_tool(tools: Tools, /) -> Callable[[Any], str | None]:
    """Return a `tool_error_formatter` that names the tool which was probably meant.

    Give it to `RunConfig(tool_not_found_behavior="return_error_to_model", tool_error_formatter=…)`; without
    that setting, a call of an unknown tool ends the run.

    Args:
        tools: those of the agent.
    """
    from ..errors import ToolNotFoundError
    from .base import registry_of

    registry = registry_of(tools)

    def formatter(arguments: Any) -> str | None:
        if arguments.kind != "tool_not_found":
            return None
        try:
            registry.get(arguments.tool_name)
        except ToolNotFoundError as error:
            return str(error)
        return None

    return formatter


def _made(tool: Tool[..., Any], runner: Runner, native: dict[str, Any]) -> Any:
    if native.get("strict_json_schema"):
        message = "strict_json_schema=True makes all parameters required without null: leave it out"
        raise UserError(message)
    name, registry = tool.name, runner.executor.registry

    async def invoke(ctx: Any, arguments: str) -> Any:
        result = await runner.run(
            name, arguments, _own(ctx), call_id=ctx.tool_call_id, host=ctx, confirm="run"
        )
        span = get_current_span() if result.is_error else None
        if span is not None:
            span.set_error(SpanError(message=result.code or "error", data={"tool_name": name}))
        return _output(result)

    def is_enabled(ctx: Any, _agent: Any) -> bool:
        return registry.is_enabled(name, context=runner.context_of(_own(ctx), ctx))

    return FunctionTool(
        **{
            "name": name,
            "description": tool.definition()["description"],
            "params_json_schema": tool.input_schema(),
            "on_invoke_tool": invoke,
            "strict_json_schema": False,
            "needs_approval": bool(tool.annotations.confirm),
            "is_enabled": is_enabled,
            **native,
        }
    )


def _own(ctx: Any) -> Mapping[Any, Any]:
    own: dict[Any, Any] = {} if ctx.context is None else {type(ctx.context): ctx.context}
    return {**own, type(ctx): ctx}


def _output(result: ToolResult) -> Any:
    """Return the text of a result, or its parts as theirs; an error is its text."""
    value: Any = result.value
    if isinstance(value, _NATIVE):
        return value
    if isinstance(value, list) and any(isinstance(one, _NATIVE) for one in value):
        return value
    if result.is_error or all(isinstance(part, (Text, Audio, Resource)) for part in result.parts):
        return result.content  # the model takes no audio from tools; the content says what there is
    return [_part(part) for part in result.parts]


def _part(part: Any) -> Any:
    match part:
        case Image():
            return ToolOutputImage(image_url=f"data:{part.media_type};base64,{part.base64}")
        case File():
            data = f"data:{part.media_type};base64,{part.base64}"
            return ToolOutputFileContent(file_data=data, filename=part.name or "file")
        case _:
            return ToolOutputText(text=part.text if isinstance(part, Text) else str(part))
