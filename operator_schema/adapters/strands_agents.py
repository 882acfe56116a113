"""strands-agents: our tools as tools of its agent; needs the extra `strands-agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import is_agreement, needing, question_about, runner_of, runner_of_one

with needing("strands", "strands-agents 1.62 or newer", "strands-agents"):
    from strands import ToolContext
    from strands.interrupt import InterruptException
    from strands.types._events import ToolResultEvent
    from strands.types.tools import AgentTool

from ..tools.content import Image, Text
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from ..rounds.tool_call import ToolCall
    from ..tools.calls import ToolResult
    from ..tools.content import Part
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["OperatorTool", "to_tool", "to_tools"]

_host: Any = ToolContext
register_injected(_host)

_OPTIONS: ExecutorOptions = {"pass_through": (InterruptException,)}
_FORMATS = frozenset({"png", "jpeg", "gif", "webp"})


class OperatorTool(AgentTool):
    """One of our tools as a tool of Strands; made by `to_tool` and `to_tools`."""

    def __init__(self, tool: Tool[..., Any], runner: Runner, native: Mapping[str, Any]) -> None:
        super().__init__()
        self._tool, self._runner, self._native = tool, runner, dict(native)

    @property
    def tool_name(self) -> str:
        """The name of the tool."""
        return self._tool.name

    @property
    def tool_type(self) -> str:
        """The kind of the tool, as the metrics of Strands name it."""
        return "operator"

    @property
    def tool_spec(self) -> Any:
        """What the model reads of the tool."""
        # Strands would write a type of its own where there is none.
        definition = self._tool.definition(inline=True, boolean_schemas=False, empty_schemas=False)
        return {
            "name": self._tool.name,
            "description": definition["description"],
            "inputSchema": {"json": definition["input_schema"]},
            **({} if (hints := _hints(self._tool)) is None else {"annotations": hints}),
            **self._native,
        }

    async def stream(self, tool_use: Any, invocation_state: dict[str, Any], **_: Any) -> AsyncIterator[Any]:
        """Run a call, and give its result as the only event."""
        ctx = _context_of(tool_use, invocation_state)
        own = {**invocation_state, ToolContext: ctx}
        call_id = tool_use["toolUseId"]

        async def ask(call: ToolCall[Any]) -> bool:
            return is_agreement(ctx.interrupt(f"confirm {call.name}", reason=question_about(call)))

        result = await self._runner.run(
            self._tool.name,
            tool_use["input"],
            own,
            call_id=str(call_id),
            host=ctx,
            confirm=None if ctx.agent is None else ask,
        )
        status = "error" if result.is_error else "success"
        yield ToolResultEvent({"toolUseId": call_id, "status": status, "content": _content(result)})


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> OperatorTool:
    """Return a tool of Strands.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the
            `ToolContext` of Strands and returns that. That `ToolContext` is there by its type, and what is
            in the invocation state by its name.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, the
            agent is interrupted, and the response "yes" agrees.
        native: entries of the tool's spec, such as `outputSchema`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return OperatorTool(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> list[OperatorTool]:
    """Return tools for those that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [OperatorTool(tool, runner, native) for tool in runner.executor.registry.offered()]


def _context_of(tool_use: Any, invocation_state: dict[str, Any]) -> Any:
    agent = invocation_state.get("agent")
    signal = getattr(agent, "cancel_signal", None)
    signals = {} if signal is None else {"cancel_signal": signal}
    return ToolContext(tool_use, agent, invocation_state, **signals)


def _hints(tool: Tool[..., Any]) -> dict[str, Any] | None:
    said = tool.annotations
    hints = {
        "title": said.title,
        "readOnlyHint": said.read_only,
        "destructiveHint": said.destructive,
        "idempotentHint": said.idempotent,
        "openWorldHint": said.open_world,
    }
    return {name: hint for name, hint in hints.items() if hint is not None} or None


def _content(result: ToolResult) -> list[Any]:
    is_text = all(isinstance(part, Text) for part in result.parts)
    if is_text and not result.is_error and isinstance(result.json, dict):
        return [{"json": result.json}]
    return [_block(part) for part in result.parts]


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, Image):
        kind = part.media_type.removeprefix("image/")
        if kind in _FORMATS:
            return {"image": {"format": kind, "source": {"bytes": bytes(part.data)}}}
    return {"text": part.as_text()}
