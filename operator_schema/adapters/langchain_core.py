"""langchain-core: our tools as its, for langchain and langgraph too; needs the extra `langchain-core`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .base import check_native, is_agreement, needing, question_about, runner_of, runner_of_one

with needing("langchain_core", "langchain-core 1.8 or newer", "langchain-core"):
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, BaseToolkit, ToolException

try:  # langgraph is there if the tools run in a graph
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.types import Command, interrupt
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "langgraph":
        raise
    GraphBubbleUp = ToolRuntime = Command = interrupt = None

from ..tools.content import Audio, File, Image, Text
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rounds.tool_call import ToolCall
    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.registry import Registry
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["Toolkit", "to_tool", "to_tools"]

_OPTIONS: ExecutorOptions = {}
if ToolRuntime is not None:
    register_injected(cast("Any", ToolRuntime))
    _OPTIONS = {"native_results": (Command,), "pass_through": (GraphBubbleUp,)}
register_injected(cast("Any", RunnableConfig))

_RUNTIME = "operator_schema_runtime"


def _marker(**_: Any) -> None:
    """Tell a ToolNode, which looks at `func`, what it injects: no parameter of a tool has this name."""


_marker.__annotations__ = {} if ToolRuntime is None else {_RUNTIME: ToolRuntime}
if ToolRuntime is not None:
    from inspect import Parameter, Signature

    _parameter = Parameter(_RUNTIME, Parameter.KEYWORD_ONLY, annotation=ToolRuntime)
    _marker.__signature__ = Signature([_parameter])  # type: ignore[attr-defined]  # inspect looks for it


class _OperatorTool(BaseTool):
    """One of our tools; langchain's checks of arguments never see a call."""

    runner: Any
    func: Any = _marker
    handle_tool_error: Any = True
    response_format: Any = "content_and_artifact"

    def _to_args_and_kwargs(
        self, tool_input: Any, tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # By position: no parameter of a tool can meet `config`, `run_manager` or `runtime`.
        arguments: Any = dict(tool_input) if isinstance(tool_input, dict) else tool_input
        runtime = arguments.pop(_RUNTIME, None) if isinstance(arguments, dict) else None
        return (arguments, tool_call_id or None, runtime), {}

    def _run(self, arguments: Any, call_id: str | None, runtime: Any, *, config: RunnableConfig) -> Any:
        result = self.runner.run_sync(
            self.name,
            arguments,
            _own(runtime, config),
            call_id=call_id,
            host=runtime,
            confirm=None if runtime is None else _ask,
        )
        return _outcome(result)

    async def _arun(
        self, arguments: Any, call_id: str | None, runtime: Any, *, config: RunnableConfig
    ) -> Any:
        result = await self.runner.run(
            self.name,
            arguments,
            _own(runtime, config),
            call_id=call_id,
            host=runtime,
            confirm=None if runtime is None else _ask,
        )
        return _outcome(result)


class Toolkit(BaseToolkit):
    """The tools of a registry; `get_tools` returns those that are switched on when it is called."""

    runner: Any
    native: Any

    def __init__(
        self,
        tools: Tools,
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        confirm: Confirm | None = None,
        **native: Any,
    ) -> None:
        """Make a toolkit.

        Args:
            tools: a registry, a toolset, or any iterable of tools.
            context: as for `to_tool`.
            executor: what runs the calls; its registry has these tools.
            confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, a
                graph asks by langgraph's `interrupt`, and `Command(resume=True)` agrees. Give `"run"` if a
                middleware asks.
            native: as for `to_tool`, for each tool.

        Raises:
            DuplicateToolError: two tools have the same name.
            TypeError: an argument is of another kind.
            ValueError: the executor has other tools.
        """
        check_native(native, BaseTool.model_fields, "BaseTool")
        super().__init__(runner=runner_of(tools, context, executor, _OPTIONS, confirm), native=native)

    @property
    def registry(self) -> Registry:
        """The tools."""
        registry: Registry = self.runner.executor.registry
        return registry

    def get_tools(self) -> list[Any]:
        """Return tools for those that are switched on now."""
        return [_made(tool, self.runner, self.native) for tool in self.registry.offered()]


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> Any:
    """Return a `BaseTool` of langchain-core.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes langgraph's
            `ToolRuntime` (None outside of a graph) and returns that. The `ToolRuntime`, its context and the
            `RunnableConfig` are there anyway, by their types.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, a graph
            asks by langgraph's `interrupt`, and `Command(resume=True)` agrees. Give `"run"` if a middleware
            asks.
        native: what `BaseTool` takes, such as `tags`, `metadata`, `extras` and `return_direct`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    check_native(native, BaseTool.model_fields, "BaseTool")
    return _made(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> list[Any]:
    """Return tools for those that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    return Toolkit(tools, context=context, executor=executor, confirm=confirm, **native).get_tools()


def _made(tool: Tool[..., Any], runner: Runner, native: dict[str, Any]) -> Any:
    return _OperatorTool(
        **{
            "name": tool.name,
            "description": tool.definition()["description"],
            "args_schema": _schema(tool),
            "runner": runner,
            **native,
        }
    )


def _schema(tool: Tool[..., Any]) -> dict[str, Any]:
    # langchain writes references out one level deep and drops `$defs`: without references nothing is lost.
    schema = tool.input_schema()
    return (
        tool.input_schema(inline=True) if "$defs" in schema and not tool.codec.graph.definitions else schema
    )


async def _ask(call: ToolCall[Any]) -> bool:
    """Ask a person by interrupting the graph, which runs the call again with the answer."""
    return is_agreement(interrupt(question_about(call)))


def _own(runtime: Any, config: Any) -> Mapping[Any, Any]:
    own: dict[Any, Any] = {RunnableConfig: config}
    if runtime is None:
        return own
    if runtime.context is not None:
        own[type(runtime.context)] = runtime.context
    return {**own, ToolRuntime: runtime}


def _outcome(result: ToolResult) -> tuple[Any, Any]:
    if result.is_error:
        raise ToolException(result.content)
    if Command is not None and isinstance(result.value, Command):
        return result.value, None
    # A checkpoint holds the artifact: JSON can be written there, what a function returns may not.
    if not any(isinstance(part, (Image, Audio, File)) for part in result.parts):
        return result.content, result.json
    return [_block(part) for part in result.parts], result.json


def _block(part: Any) -> dict[str, Any]:
    kinds = {Image: "image", Audio: "audio", File: "file"}
    kind = kinds.get(type(part))
    if kind is None:
        return {"type": "text", "text": part.text if isinstance(part, Text) else str(part)}
    return {"type": kind, "base64": part.base64, "mime_type": part.media_type}
