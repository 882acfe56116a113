"""agno: our tools as its functions, one by one or as a toolkit; needs the extra `agno`.

`to_tool` takes the options of agno's `Function`, such as `tool_hooks` and `requires_confirmation`, whose
default is the tool's `confirm`. Each call can inject the `RunContext` and the `Agent` by their types, and the
dependencies of the run by their names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .base import Adapter, LiveTools, needing
from .conversions import hints_of, media_of, with_change_line

with needing("agno", "agno 3.1 or newer", "agno"):
    from agno.agent import Agent
    from agno.exceptions import AgentRunException, RunCancelledException
    from agno.media import Audio as AgnoAudio
    from agno.media import File as AgnoFile
    from agno.media import Image as AgnoImage
    from agno.run import RunContext
    from agno.tools import Toolkit as AgnoToolkit
    from agno.tools.function import Function
    from agno.tools.function import ToolResult as AgnoResult

from ..lazy import answer_misnamed
from ..tools import Audio, File, Image

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["ToolCallError", "Toolkit", "to_tool", "to_tools"]

answer_misnamed(__name__)


class ToolCallError(Exception):
    """A call has no result; the message is the text for the model, which agno marks as an error."""


def _make_tool(
    tool: Tool[..., Any], runner: Runner, /, *, is_async: bool | None = None, **native: Any
) -> Any:
    name = tool.name

    # What agno injects has names that no parameter of a tool has.
    def run(_agno_run_context: Any = None, _agno_agent: Any = None, **arguments: Any) -> Any:
        more = {Agent: _agno_agent}
        return _outcome(runner.run_sync(name, arguments, _agno_run_context, more=more))

    async def arun(_agno_run_context: Any = None, _agno_agent: Any = None, **arguments: Any) -> Any:
        more = {Agent: _agno_agent}
        return _outcome(await runner.run(name, arguments, _agno_run_context, more=more))

    definition = tool.definition()
    hints = hints_of(tool)
    own = {
        "name": name,
        "title": hints.pop("title", None),
        "description": definition["description"],
        "parameters": definition["input_schema"],
        "annotations": hints or None,
        # In an event loop, agno runs a function that isn't async in a thread.
        "entrypoint": arun if (tool.is_async if is_async is None else is_async) else run,
        "skip_entrypoint_processing": True,
        "requires_confirmation": runner.holds_back(tool) or None,
    }
    return Function(**{**own, **native})


def _own(run_context: Any) -> Mapping[Any, Any]:
    given = run_context.dependencies
    return {**(given if isinstance(given, dict) else {}), RunContext: run_context}


def _outcome(result: ToolResult) -> Any:
    if result.is_error:
        raise ToolCallError(result.content)
    if isinstance(result.value, AgnoResult):
        return with_change_line(result, "content")
    media: dict[str, list[Any]] = {}
    for part in media_of(result):
        kind, make = _MEDIA[type(part)]
        more = {"filename": part.name} if isinstance(part, File) else {}
        media.setdefault(kind, []).append(make(content=part.data, mime_type=part.media_type, **more))
    return AgnoResult(content=result.content, **media) if media else result.content


_MEDIA: Any = {Image: ("images", AgnoImage), Audio: ("audios", AgnoAudio), File: ("files", AgnoFile)}

_adapter = Adapter[Any](
    "agno",
    _make_tool,
    own=_own,
    hosts=(RunContext, Agent),
    asks="before",
    native_results=(AgnoResult,),
    pass_through=(AgentRunException, RunCancelledException),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class Toolkit(LiveTools, AgnoToolkit):
    """The tools of a registry, for `Agent(tools=[Toolkit(registry)])`.

    Each run sees the tools that are switched on at that time. It takes the arguments of `to_tools`, and the
    `name` of the toolkit.
    """

    adapter = _adapter
    theirs: ClassVar[Any] = {"name": "toolkit"}

    def get_functions(self) -> dict[str, Any]:
        """Return functions for the tools that are switched on now, for a run without an event loop."""
        return {one.name: one for one in self.current_tools(is_async=False)}

    def get_async_functions(self) -> dict[str, Any]:
        """Return functions for the tools that are switched on now, for a run in an event loop."""
        return {one.name: one for one in self.current_tools(is_async=True)}
