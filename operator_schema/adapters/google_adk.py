"""google-adk: our tools as tools of its agents, one by one or as a toolset; needs the extra `google-adk`.

Options of `to_tool` are those of ADK's `BaseTool`, such as `is_long_running` and `custom_metadata`, which
is the tool's `meta` by default. The `ToolContext` of ADK is there for each call, by its type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .base import Adapter, LiveTools, needing
from .conversions import blocks_of, data_of, is_text

with needing("google.adk", "google-adk 2.13 or newer", "google-adk"):
    from google.adk.tools import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

from ..lazy import answer_misnamed
from ..tools import Audio, File, Image

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .base import Runner

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

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: Any) -> bool:
        """Return whether a person has to agree first: the tool says so by `confirm=True`, or a hook."""
        if not self._runner.executor.has_hooks:
            return self._runner.holds_back(self._tool)
        call_id = tool_context.function_call_id
        return await self._runner.needs_person(self._tool.name, args, tool_context, call_id=call_id)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Run a call."""
        call_id = tool_context.function_call_id
        return _response(await self._runner.run(self._tool.name, args, tool_context, call_id=call_id))


def _response(result: ToolResult) -> Any:
    """Return a result as ADK takes it: an object, in which it finds media."""
    if result.is_error:
        return {"error": result.content}
    native = blocks_of(result, {}, str, _NATIVE)
    if native is not None:
        return {"result": native} if isinstance(native, list) else {"result": "", "media": [native]}
    media = [
        types.Part.from_bytes(data=bytes(part.data), mime_type=part.media_type)
        for part in result.parts
        if isinstance(part, (Image, Audio, File))
    ]
    if media:
        return {"result": result.content, "media": media}
    if not is_text(result):
        return {"result": result.content}
    data = data_of(result)
    return data if isinstance(data, dict) else {"result": data}


def _agreed(ctx: Any) -> bool:
    return ctx.tool_confirmation is not None and bool(ctx.tool_confirmation.confirmed)


_NATIVE = (types.Part,)
_adapter = Adapter[OperatorTool](
    "google-adk",
    OperatorTool,
    own=ToolContext,
    asks="before",
    agreed=_agreed,
    native_results=_NATIVE,
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class Toolset(LiveTools, BaseToolset):
    """The tools of a registry, for `LlmAgent(tools=[Toolset(registry)])`.

    Each invocation sees those that are switched on then.
    It takes what `to_tools` takes, and ADK's `tool_filter` and `tool_name_prefix`.
    """

    adapter = _adapter
    theirs: ClassVar[Any] = {"tool_filter": None, "tool_name_prefix": None}

    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        """Return the tools that are switched on now, and that the filter takes."""
        return [tool for tool in self.made_now() if self._is_tool_selected(tool, readonly_context)]
