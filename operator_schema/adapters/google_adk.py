"""google-adk: our tools as tools of its agents, one by one or as a toolset; needs the extra `google-adk`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import needing, runner_of, runner_of_one

with needing("google.adk", "google-adk 2.13 or newer", "google-adk"):
    from google.adk.tools import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

from ..tools.content import Audio, File, Image, Text
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import ToolResult
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["OperatorTool", "Toolset", "to_tool", "to_tools"]

_host: Any = ToolContext
register_injected(_host)

_OPTIONS: ExecutorOptions = {"native_results": (types.Part,)}


class OperatorTool(BaseTool):
    """One of our tools as a tool of ADK; made by `to_tool`, `to_tools` and `Toolset`."""

    def __init__(self, tool: Tool[..., Any], runner: Runner, native: Mapping[str, Any]) -> None:
        meta = tool.annotations.meta or None
        description = tool.definition()["description"]
        super().__init__(**{"name": tool.name, "description": description, "custom_metadata": meta, **native})
        self._tool, self._runner = tool, runner

    def _get_declaration(self) -> Any:
        schema = self._tool.definition()["input_schema"]
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=schema
        )

    async def check_require_confirmation(self, args: dict[str, Any], tool_context: Any) -> bool:  # noqa: ARG002  # as ADK calls it
        """Return whether a person has to agree first: the tool says so by `confirm=True`."""
        return self._tool.annotations.confirm is True

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """Run a call."""
        own = {ToolContext: tool_context}
        call_id = tool_context.function_call_id
        result = await self._runner.run(
            self._tool.name, args, own, call_id=call_id, host=tool_context, confirm="run"
        )
        return _response(result)


class Toolset(BaseToolset):
    """The tools of a registry, for `LlmAgent(tools=[Toolset(registry)])`.

    What is registered or switched later is seen with the next invocation.

    Args:
        tools: a registry, a toolset of ours, or any iterable of tools.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        tool_filter: as ADK's `BaseToolset` takes it.
        tool_name_prefix: as `BaseToolset` takes it.
        native: as for `to_tool`, for each tool.

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
        tool_filter: Any = None,
        tool_name_prefix: str | None = None,
        **native: Any,
    ) -> None:
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        self._runner = runner_of(tools, context, executor, _OPTIONS)
        self._native = native

    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        """Return the tools that are switched on now, and that the filter takes."""
        offered = self._runner.executor.registry.offered()
        made = [OperatorTool(tool, self._runner, self._native) for tool in offered]
        return [tool for tool in made if self._is_tool_selected(tool, readonly_context)]


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> OperatorTool:
    """Return a tool of ADK.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the
            `ToolContext` of ADK and returns that. That `ToolContext` is there by its type anyway.
        executor: what runs the calls, for limits of your own; it has this tool.
        native: what ADK's `BaseTool` takes, such as `is_long_running` and `custom_metadata`, which is the
            tool's `meta` by default.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return OperatorTool(tool, runner_of_one(tool, context, executor, _OPTIONS), native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> list[OperatorTool]:
    """Return tools for those that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    runner = runner_of(tools, context, executor, _OPTIONS)
    return [OperatorTool(tool, runner, native) for tool in runner.executor.registry.offered()]


def _response(result: ToolResult) -> Any:
    """Return a result as ADK takes it: an object, in which it finds media."""
    if result.is_error:
        return {"error": result.content}
    value = result.value
    if isinstance(value, types.Part):
        return {"result": "", "media": [value]}
    if isinstance(value, (list, tuple)) and any(isinstance(part, types.Part) for part in value):
        return {"result": list(value)}
    media = [
        types.Part.from_bytes(data=bytes(part.data), mime_type=part.media_type)
        for part in result.parts
        if isinstance(part, (Image, Audio, File))
    ]
    if media:
        return {"result": result.content, "media": media}
    if any(not isinstance(part, Text) for part in result.parts):
        return {"result": result.content}
    return result.json if isinstance(result.json, dict) else {"result": result.json}
