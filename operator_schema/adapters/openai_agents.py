"""openai-agents: our tools as its function tools; needs the extra `openai-agents`.

Options of `to_tool` are those of `FunctionTool`, such as `tool_input_guardrails` and `needs_approval`,
which is that of the tool (`confirm=True`) by default. The `ToolContext` and the context object of the run
are there for each call, by their types. `to_tools` gives all tools: a run is offered those that are
switched on when it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Adapter, needing, registry_of, with_state
from .conversions import blocks_of, output_class

with needing("agents", "openai-agents 0.24 or newer", "openai-agents"):
    from agents import (
        AgentOutputSchema,
        FunctionTool,
        RunContextWrapper,
        ToolOutputFileContent,
        ToolOutputImage,
        ToolOutputText,
        UserError,
    )
    from agents.exceptions import AgentsException, ModelBehaviorError
    from agents.tool_context import ToolContext
    from agents.tracing import SpanError, get_current_span

from ..errors import ToolNotFoundError
from ..lazy import answer_misnamed
from ..tools import File, Image

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tools import Tool, ToolResult
    from .base import Runner, Tools

__all__ = ["answer_of_unknown_tool", "output_type", "to_tool", "to_tools"]

answer_misnamed(__name__)


def answer_of_unknown_tool(tools: Tools, /) -> Callable[[Any], str | None]:
    """Return a `tool_error_formatter` that names the tool which was probably meant.

    Give it to `RunConfig(tool_not_found_behavior="return_error_to_model", tool_error_formatter=…)`; without
    that setting, a call of an unknown tool ends the run.

    Args:
        tools: those of the agent.
    """
    registry = registry_of(tools)

    def formatter(arguments: Any) -> str | None:
        if arguments.kind != "tool_not_found":
            return None
        try:
            registry[arguments.tool_name]
        except ToolNotFoundError as error:
            return str(error)
        return None

    return formatter


def output_type(cls: type[Any], /) -> Any:
    """Return what `Agent(output_type=…)` takes; the final output of a run is a `cls`.

    Args:
        cls: a class whose JSON is an object, such as a dataclass.

    Raises:
        SchemaError: its fields can't be read.
        TypeError: its JSON isn't an object.
    """
    return AgentOutputSchema(output_class(cls, ModelBehaviorError), strict_json_schema=False)


def _made(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> Any:
    if native.get("strict_json_schema"):
        message = "strict_json_schema=True makes all parameters required without null: leave it out"
        raise UserError(message)
    name = tool.name

    async def invoke(ctx: Any, arguments: str) -> Any:
        result = await runner.run(name, arguments, ctx, call_id=ctx.tool_call_id)
        span = get_current_span() if result.is_error else None
        if span is not None:
            span.set_error(SpanError(message=result.code or "error", data={"tool_name": name}))
        return _output(result)

    def is_enabled(ctx: Any, _agent: Any) -> bool:
        registry = runner.executor.registry
        return name in registry and registry.is_offered(name, context=runner.context_of(ctx))

    async def needs_approval(ctx: Any, arguments: dict[str, Any], call_id: str) -> bool:
        return await runner.needs_person(name, arguments, ctx, call_id=call_id)

    # With hooks, nobody is asked about a call that one of them refuses.
    by_hooks = runner.may_wait(tool) and runner.executor.has_hooks
    own = {
        "name": name,
        "description": tool.definition()["description"],
        "params_json_schema": tool.input_schema(),
        "on_invoke_tool": invoke,
        "strict_json_schema": False,
        "needs_approval": needs_approval if by_hooks else runner.holds_back(tool),
        "is_enabled": is_enabled,
    }
    return FunctionTool(**{**own, **native})


def _output(result: ToolResult) -> Any:
    """Return the text of a result, or its parts as theirs; an error is its text."""
    blocks = blocks_of(result, _BLOCKS, lambda text: ToolOutputText(text=text), _NATIVE)
    # The model takes no audio from tools; the content says what there is.
    return result.content if blocks is None else blocks


def _url(part: Any) -> str:
    return f"data:{part.media_type};base64,{part.base64}"


_NATIVE = (ToolOutputFileContent, ToolOutputImage, ToolOutputText)
_BLOCKS: Any = {
    Image: lambda part: ToolOutputImage(image_url=_url(part)),
    File: lambda part: ToolOutputFileContent(file_data=_url(part), filename=part.name or "file"),
}

_adapter = Adapter[Any](
    "openai-agents",
    _made,
    own=with_state("context"),
    hosts=(RunContextWrapper, ToolContext),
    asks="before",
    agreed=lambda ctx: ctx.is_tool_approved(ctx.tool_name, ctx.tool_call_id),
    native_results=_NATIVE,
    pass_through=(AgentsException,),
    lists_disabled=True,
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
