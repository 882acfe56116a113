"""strands-agents: our tools as tools of its agent; needs the extra `strands-agents`.

`to_tool` takes entries of the tool's spec as options, such as `outputSchema`. Each call can inject the
`ToolContext` of Strands by its type, and entries of the invocation state by their names. By default, the
agent is interrupted before a tool with `confirm=True` runs, and the response "yes" approves the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Adapter, needing
from .conversions import blocks_of, hints_of, is_text, json_of, texts_of

with needing("strands", "strands-agents 1.62 or newer", "strands-agents"):
    from strands import ToolContext
    from strands.interrupt import InterruptException
    from strands.types._events import ToolResultEvent
    from strands.types.tools import AgentTool

from ..lazy import answer_misnamed
from ..tools import Image

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["OperatorTool", "to_tool", "to_tools"]

answer_misnamed(__name__)


class OperatorTool(AgentTool):
    """One of our tools as a tool of Strands; made by `to_tool` and `to_tools`."""

    def __init__(self, tool: Tool[..., Any], runner: Runner, /, **native: Any) -> None:
        super().__init__()
        self._tool, self._runner, self._native = tool, runner, native

    @property
    def tool_name(self) -> str:
        """The name of the tool."""
        return self._tool.name

    @property
    def tool_type(self) -> str:
        """The kind of the tool in the metrics of Strands."""
        return "operator"

    @property
    def tool_spec(self) -> Any:
        """The specification of the tool for the model."""
        # Strands would add a type of its own if there is none.
        definition = self._tool.definition(inline=True, boolean_schemas=False, empty_schemas=False)
        hints = hints_of(self._tool)
        return {
            "name": self._tool.name,
            "description": definition["description"],
            "inputSchema": {"json": definition["input_schema"]},
            **({"annotations": hints} if hints else {}),
            **self._native,
        }

    async def stream(self, tool_use: Any, invocation_state: dict[str, Any], **_: Any) -> AsyncIterator[Any]:
        """Run a call, and yield its result as the only event."""
        agent, call_id = invocation_state.get("agent"), tool_use["toolUseId"]
        signal = getattr(agent, "cancel_signal", None)
        signals = {} if signal is None else {"cancel_signal": signal}
        ctx = ToolContext(tool_use, agent, invocation_state, **signals)
        result = await self._runner.run(self._tool.name, tool_use["input"], ctx, call_id=str(call_id))
        status = "error" if result.is_error else "success"
        yield ToolResultEvent({"toolUseId": call_id, "status": status, "content": _content(result)})


def _content(result: ToolResult) -> Any:
    if is_text(result) and not result.is_error and isinstance(json_of(result), dict):
        return [{"json": json_of(result)}]
    return blocks_of(result, {Image: _image}, _text) or texts_of(result, _text)


def _text(text: str) -> Any:
    return {"text": text}


def _image(part: Any) -> Any:
    kind = part.media_type.removeprefix("image/")
    block = {"image": {"format": kind, "source": {"bytes": bytes(part.data)}}}
    return block if kind in {"png", "jpeg", "gif", "webp"} else None


def _ask(ctx: Any, question: dict[str, Any]) -> Any:
    if ctx.agent is None:
        return None
    return ctx.interrupt(_name(ctx, question["key"]), reason=question)


def _kept(ctx: Any, key: str) -> Any:
    """Return the reason of the interrupt that a person has answered."""
    asked = ctx.agent._interrupt_state.interrupts.get(ctx._interrupt_id(_name(ctx, key)))  # noqa: SLF001  # no other way
    return None if asked is None else asked.reason


def _name(ctx: Any, key: str) -> str:
    # Strands finds an answer by this name: one about other arguments, which a hook gives now, doesn't count.
    return f"confirm {ctx.tool_use['name']} {key}"


_adapter = Adapter[OperatorTool](
    "strands-agents",
    OperatorTool,
    own=lambda ctx: {**ctx.invocation_state, ToolContext: ctx},
    hosts=(ToolContext,),
    asks=_ask,
    kept=_kept,
    pass_through=(InterruptException,),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
