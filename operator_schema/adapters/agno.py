"""agno: our tools as its functions, one by one or as a toolkit; needs the extra `agno`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .base import needing, runner_of, runner_of_one

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

from ..tools.content import Audio, File, Image
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import ToolResult
    from ..tools.execution.executor import Executor
    from ..tools.registry import Registry
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["ToolCallError", "Toolkit", "to_tool", "to_tools"]

for _host in (RunContext, Agent):
    register_injected(cast("Any", _host))

_OPTIONS: ExecutorOptions = {
    "native_results": (AgnoResult,),
    "pass_through": (AgentRunException, RunCancelledException),
}


class ToolCallError(Exception):
    """A call has no result; its message is what the model reads, marked by agno as an error."""


class Toolkit(AgnoToolkit):
    """The tools of a registry, for `Agent(tools=[Toolkit(registry)])`.

    What is registered or switched later is seen with the next run.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        name: of the toolkit.
        native: what agno's `Function` takes, for each tool.

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
        name: str = "toolkit",
        **native: Any,
    ) -> None:
        self._runner = runner_of(tools, context, executor, _OPTIONS)
        self._native = native
        super().__init__(name=name)

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._runner.executor.registry

    def get_functions(self) -> dict[str, Any]:
        """Return the functions that are switched on now, for a run without an event loop."""
        return self._made(is_async=False)

    def get_async_functions(self) -> dict[str, Any]:
        """Return the functions that are switched on now, for a run in an event loop."""
        return self._made(is_async=True)

    def _made(self, *, is_async: bool) -> dict[str, Any]:
        offered = self.registry.offered()
        return {tool.name: _made(tool, self._runner, self._native, is_async=is_async) for tool in offered}


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> Any:
    """Return an agno `Function`.

    It runs where there is no event loop too. In one, a function that isn't async is run in a thread by
    agno.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes agno's
            `RunContext` and returns that. That `RunContext`, the `Agent`, and the dependencies of the
            run by their names are there anyway.
        executor: what runs the calls, for limits of your own; it has this tool.
        native: what agno's `Function` takes, such as `tool_hooks` and `requires_confirmation`, which
            is that of the tool (`confirm=True`) by default.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    runner = runner_of_one(tool, context, executor, _OPTIONS)
    return _made(tool, runner, native, is_async=tool.is_async)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **native: Any,
) -> list[Any]:
    """Return functions for the tools that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    runner = runner_of(tools, context, executor, _OPTIONS)
    offered = runner.executor.registry.offered()
    return [_made(tool, runner, native, is_async=tool.is_async) for tool in offered]


def _made(tool: Tool[..., Any], runner: Runner, native: dict[str, Any], *, is_async: bool) -> Any:
    name = tool.name

    # What agno injects has names that no parameter of a tool has.
    def run(_agno_run_context: Any = None, _agno_agent: Any = None, **arguments: Any) -> Any:
        own = _own(_agno_run_context, _agno_agent)
        return _outcome(runner.run_sync(name, arguments, own, host=_agno_run_context, confirm="run"))

    async def arun(_agno_run_context: Any = None, _agno_agent: Any = None, **arguments: Any) -> Any:
        own = _own(_agno_run_context, _agno_agent)
        return _outcome(await runner.run(name, arguments, own, host=_agno_run_context, confirm="run"))

    definition, said = tool.definition(), tool.annotations
    return Function(
        **{
            "name": name,
            "title": said.title,
            "description": definition["description"],
            "parameters": definition["input_schema"],
            "annotations": _hints(tool),
            "entrypoint": arun if is_async else run,
            "skip_entrypoint_processing": True,
            "requires_confirmation": said.confirm,
            **native,
        }
    )


def _own(run_context: Any, agent: Any) -> Mapping[Any, Any]:
    own: dict[Any, Any] = {}
    if run_context is not None:
        given = run_context.dependencies
        own |= {**(given if isinstance(given, dict) else {}), RunContext: run_context}
    return own if agent is None else {**own, Agent: agent}


def _hints(tool: Tool[..., Any]) -> dict[str, bool] | None:
    said = tool.annotations
    hints = {
        "readOnlyHint": said.read_only,
        "destructiveHint": said.destructive,
        "idempotentHint": said.idempotent,
        "openWorldHint": said.open_world,
    }
    return {name: hint for name, hint in hints.items() if hint is not None} or None


def _outcome(result: ToolResult) -> Any:
    if result.is_error:
        raise ToolCallError(result.content)
    if isinstance(result.value, AgnoResult):
        return result.value
    media: dict[str, list[Any]] = {"images": [], "audios": [], "files": []}
    for part in result.parts:
        match part:
            case Image():
                media["images"].append(AgnoImage(content=part.data, mime_type=part.media_type))
            case Audio():
                media["audios"].append(AgnoAudio(content=part.data, mime_type=part.media_type))
            case File():
                made = AgnoFile(content=part.data, mime_type=part.media_type, filename=part.name)
                media["files"].append(made)
            case _:
                pass  # the content has its text
    found = {name: parts for name, parts in media.items() if parts}
    return AgnoResult(content=result.content, **found) if found else result.content
