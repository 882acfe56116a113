"""openai-agents: our tools as its function tools; needs the extra `openai-agents`.

`to_tool` takes the options of `FunctionTool`, such as `tool_input_guardrails` and `needs_approval`, whose
default is the tool's `confirm`. Each call can inject the `ToolContext` and the context object of the run by
their types. `to_tools` returns all tools; each run offers those that are switched on at that time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .asking import of_the_tool
from .base import Adapter, needing, registry_of, with_state
from .conversions import content_of, output_class

with needing("agents", "openai-agents 0.24 or newer", "openai-agents"):
    from agents import (
        AgentOutputSchema,
        FunctionTool,
        RunContextWrapper,
        ToolApprovalItem,
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
from ..tools import File, Image, is_awaitable

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..tools import Tool, ToolResult
    from .base import Tools
    from .runner import Runner

__all__ = ["answer_of_unknown_tool", "output_type", "question_of", "to_tool", "to_tools"]

answer_misnamed(__name__)


def answer_of_unknown_tool(tools: Tools, /) -> Callable[[Any], str | None]:
    """Return a `tool_error_formatter` that suggests the tool that was probably meant.

    Give it to `RunConfig(tool_not_found_behavior="return_error_to_model", tool_error_formatter=…)`; without
    that setting, a call of an unknown tool ends the run.

    Args:
        tools: the tools of the agent.
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
    """Return a value for `Agent(output_type=…)`; the final output of a run is a `cls`.

    Args:
        cls: a class whose JSON is an object, such as a dataclass.

    Raises:
        SchemaError: its fields can't be read.
        TypeError: its JSON isn't an object.
    """
    return AgentOutputSchema(output_class(cls, ModelBehaviorError), strict_json_schema=False)


def question_of(run: Any, interruption: Any, /) -> dict[str, Any] | None:
    """Return the question to a person about an interruption of a run; None if it isn't about our tools.

    Its `question` is a text, with the reason why the call waits. The rest is data: `tool`, `arguments` (with
    which the call runs) and `reason`.

    Args:
        run: the result of the run, or its state.
        interruption: one of `run.interruptions`, or of `state.get_interruptions()`.
    """
    ctx = getattr(run, "context_wrapper", None) or getattr(run, "_context", None)
    return None if ctx is None else _kept_under(ctx, interruption.call_id)


def _refuse_strict(native: dict[str, Any]) -> None:
    if native.get("strict_json_schema"):
        message = "strict_json_schema=True makes all parameters required without null: leave it out"
        raise UserError(message)


def _make_tool(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> Any:
    _refuse_strict(native)
    name = tool.name
    theirs = native.pop("needs_approval", None)

    async def invoke(ctx: Any, arguments: str) -> Any:
        # Nobody is asked about a call that a function of the program has approved.
        confirm: Any = "run" if theirs is not None and not _is_agreed(ctx) else None
        result = await runner.run(name, arguments, ctx, call_id=ctx.tool_call_id, confirm=confirm)
        span = get_current_span() if result.is_error else None
        if span is not None:
            span.set_error(SpanError(message=result.code or "error", data={"tool_name": name}))
        return _output(result)

    def is_enabled(ctx: Any, _agent: Any) -> bool:
        registry = runner.executor.registry
        return name in registry and registry.is_offered(name, context=runner.context_when_needed(ctx))

    async def needs_approval(ctx: Any, arguments: dict[str, Any], call_id: str) -> bool:
        question = await runner.question(name, arguments, ctx, call_id=call_id)
        if question is not None:
            _keep(ctx, call_id, question)
        if theirs is None:
            return question is not None and not question["ignored"]  # these are reported to the model at once
        said = theirs(ctx, arguments, call_id) if callable(theirs) else theirs
        return bool(await said if is_awaitable(said) else said)

    # With a function, the SDK would ask a person even about JSON that can't be read.
    asks = runner.may_wait(tool) and theirs is not False
    own = {
        "name": name,
        "description": tool.definition()["description"],
        "params_json_schema": tool.input_schema(),
        "on_invoke_tool": invoke,
        "strict_json_schema": False,
        "needs_approval": needs_approval if asks else (theirs or False),
        "is_enabled": is_enabled,
    }
    return FunctionTool(**{**own, **native})


# --- the question, kept with the run -------------------------------------------------------------------

_KEPT = "operator_schema"
"""The name of an invented call; its rejection message holds the question, because a `RunState` saves this
text."""


def _keep(ctx: Any, call_id: str, question: dict[str, Any]) -> None:
    """Store a question for its call, and for its tool, in case a person approves all calls of the tool."""
    for key in (call_id, question["tool"]):
        raw = {"type": "custom_tool_call", "name": _KEPT, "call_id": f"{_KEPT} {key}", "input": ""}
        item = ToolApprovalItem(agent=ctx, raw_item=raw, tool_name=_KEPT)
        ctx.reject_tool(item, rejection_message=json.dumps(question))


def _kept_under(ctx: Any, key: str | None) -> dict[str, Any] | None:
    text = ctx.get_rejection_message(_KEPT, f"{_KEPT} {key}")
    return None if text is None else json.loads(text)


def _kept(ctx: Any, _key: str) -> dict[str, Any] | None:
    question = _kept_under(ctx, ctx.tool_call_id)
    if question is None and ctx.is_tool_approved(ctx.tool_name, f"{_KEPT} any other"):
        of_another = _kept_under(ctx, ctx.tool_name)  # `always_approve`: whatever the arguments are
        return None if of_another is None else of_the_tool(of_another)
    return question


def _is_agreed(ctx: Any) -> Any:
    return ctx.is_tool_approved(ctx.tool_name, ctx.tool_call_id)


def _output(result: ToolResult) -> Any:
    """Return the text of a result, or its parts in the framework's form; for an error, the text."""
    # The model takes no audio from tools; the content says what there is.
    return content_of(result, _BLOCKS, lambda text: ToolOutputText(text=text), _NATIVE)


def _url(part: Any) -> str:
    return f"data:{part.media_type};base64,{part.base64}"


_NATIVE = (ToolOutputFileContent, ToolOutputImage, ToolOutputText)
_BLOCKS: Any = {
    Image: lambda part: ToolOutputImage(image_url=_url(part)),
    File: lambda part: ToolOutputFileContent(file_data=_url(part), filename=part.name or "file"),
}

_adapter = Adapter[Any](
    "openai-agents",
    _make_tool,
    own=with_state("context"),
    hosts=(RunContextWrapper, ToolContext),
    asks="before",
    agreed=_is_agreed,
    kept=_kept,
    native_results=_NATIVE,
    pass_through=(AgentsException,),
    lists_disabled=True,
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
