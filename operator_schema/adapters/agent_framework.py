"""agent-framework: our tools as its function tools; needs the extra `agent-framework`.

`to_tool` takes the options of `FunctionTool`, such as `max_invocations` and `approval_mode`; by default, that
is `"always_require"` for a tool with `confirm=True`. Each call can inject the `FunctionInvocationContext` and
the `AgentSession` by their types, and the runtime's keyword arguments by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Adapter, needing
from .conversions import content_of

with needing("agent_framework", "agent-framework-core 1.23 or newer", "agent-framework"):
    from agent_framework import (
        AgentSession,
        Content,
        FunctionInvocationContext,
        FunctionTool,
        MiddlewareTermination,
        UserInputRequiredException,
    )

from ..lazy import answer_misnamed
from ..tools import Audio, File, Image

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools import Tool
    from .runner import Runner

__all__ = ["OperatorTool", "to_tool", "to_tools"]

answer_misnamed(__name__)

_CONTEXT = "_operator_context"


class OperatorTool(FunctionTool):
    """One of our tools as a tool of agent-framework; made by `to_tool` and `to_tools`."""

    def __init__(self, tool: Tool[..., Any], runner: Runner, /, **native: Any) -> None:
        # It gives its context to a function that has it among its parameters.
        async def run(
            arguments: Any, call_id: str | None, _operator_context: FunctionInvocationContext | None
        ) -> Any:
            result = await runner.run(tool.name, arguments, _operator_context, call_id=call_id)
            # An exception would reach the model as "Error: Function failed."
            return content_of(result, _BLOCKS, Content.from_text, (Content,))

        definition = tool.definition()
        own = {
            "name": tool.name,
            "description": definition["description"],
            "input_model": definition["input_schema"],
            "approval_mode": "always_require" if runner.holds_back(tool) else "never_require",
        }
        super().__init__(**{**own, **native, "func": run})

    def __call__(self, /, **arguments: Any) -> Any:
        """Run a call; a parameter may have any name."""
        ctx = arguments.pop(_CONTEXT, None)
        call_id = None if ctx is None else ctx.metadata.get("call_id")
        return super().__call__(arguments, call_id, ctx)

    def _prepare_arguments(self, arguments: Any) -> dict[str, Any]:
        # Its own check of arguments would answer "Argument parsing failed.": ours says what is wrong.
        return self._arguments_as_mapping(arguments) or {}


def _own(ctx: Any) -> Mapping[Any, Any]:
    session = {} if ctx.session is None else {AgentSession: ctx.session}
    return {**ctx.kwargs, **session, FunctionInvocationContext: ctx}


def _data(part: Any) -> Any:
    return Content.from_data(part.data, part.media_type, name=getattr(part, "name", None))


_BLOCKS: Any = dict.fromkeys((Image, Audio, File), _data)

_adapter = Adapter[OperatorTool](
    "agent-framework",
    OperatorTool,
    own=_own,
    hosts=(FunctionInvocationContext, AgentSession),
    asks="before",
    native_results=(Content,),
    pass_through=(MiddlewareTermination, UserInputRequiredException),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
