"""google-adk: our tools as tools of its agents, one by one or as a toolset; needs the extra `google-adk`.

`to_tool` takes the options of ADK's `BaseTool`, such as `is_long_running` and `custom_metadata`, whose
default is the tool's `meta`. Each call can inject the `ToolContext` of ADK by its type. A call that needs a
person's approval asks by ADK's `request_confirmation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .base import Adapter, LiveTools, needing
from .conversions import blocks_of, data_of, is_text, media_of

with needing("google.adk", "google-adk 2.13 or newer", "google-adk"):
    from google.adk.tools import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

from ..lazy import answer_misnamed

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["OperatorTool", "Toolset", "to_tool", "to_tools"]

answer_misnamed(__name__)


class OperatorTool(BaseTool):
    """One of our tools as a tool of ADK; made by `to_tool`, `to_tools` and `Toolset`."""

    def __init__(self, tool: Tool[..., Any], runner: Runner, /, **native: Any) -> None:
        meta = tool.annotations.meta or None
        description = tool.definition()["description"]
        super().__init__(**{"name": tool.name, "description": description, "custom_metadata": meta, **native})
        self._tool, self._runner = tool, runner

    def _get_declaration(self) -> Any:
        schema = self._tool.definition()["input_schema"]
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Run a call."""
        call_id = tool_context.function_call_id
        return _response(await self._runner.run(self._tool.name, args, tool_context, call_id=call_id))


def _response(result: ToolResult) -> Any:
    """Return a result in the form of ADK: an object that may contain media."""
    if result.is_error:
        return {"error": result.content}
    native = blocks_of(result, {}, str, _NATIVE)
    if native is not None:
        return {"result": native} if isinstance(native, list) else {"result": "", "media": [native]}
    media = [
        types.Part.from_bytes(data=bytes(part.data), mime_type=part.media_type) for part in media_of(result)
    ]
    if media:
        return {"result": result.content, "media": media}
    if not is_text(result):
        return {"result": result.content}
    data = data_of(result)
    return data if isinstance(data, dict) else {"result": data}


def _ask(ctx: Any, question: dict[str, Any]) -> bool | None:
    """Return the person's answer; if there is none yet, make ADK ask, and leave the call without a result."""
    if ctx.tool_confirmation is None:
        ctx.request_confirmation(hint=question["question"], payload=question)
        ctx.actions.skip_summarization = True
        return None
    return bool(ctx.tool_confirmation.confirmed)


def _kept(ctx: Any, _key: str) -> Any:
    """Return the question to a person about this call, from the payload of its request in the session."""
    for event in reversed(ctx.session.events):
        asked = event.actions.requested_tool_confirmations.get(ctx.function_call_id)
        if asked is not None:
            return asked.payload if isinstance(asked.payload, dict) else None
    return None


_NATIVE = (types.Part,)
_adapter = Adapter[OperatorTool](
    "google-adk",
    OperatorTool,
    own=ToolContext,
    asks=_ask,
    kept=_kept,
    shows_call=True,
    native_results=_NATIVE,
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class Toolset(LiveTools, BaseToolset):
    """The tools of a registry, for `LlmAgent(tools=[Toolset(registry)])`.

    Each invocation sees the tools that are switched on at that time. It takes the arguments of `to_tools`,
    and ADK's `tool_filter` and `tool_name_prefix`.
    """

    adapter = _adapter
    theirs: ClassVar[Any] = {"tool_filter": None, "tool_name_prefix": None}

    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        """Return the tools that are switched on now and pass the filter."""
        return [tool for tool in self.current_tools() if self._is_tool_selected(tool, readonly_context)]
