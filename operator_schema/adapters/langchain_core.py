"""langchain-core: our tools as its tools, for langchain and langgraph too; needs the extra `langchain-core`.

`to_tool` takes the options of `BaseTool`, such as `tags`, `metadata`, `extras` and `return_direct`. Each call
can inject langgraph's `ToolRuntime`, its context and the `RunnableConfig` by their types. Give
`confirm="run"` if a middleware asks; otherwise a graph asks by langgraph's `interrupt`, and
`Command(resume=True)` agrees.
"""

from __future__ import annotations

from contextvars import ContextVar
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar

from .asking import ONLY_ALONE
from .base import Adapter, LiveTools, T, needing, with_state
from .conversions import content_of, output_class

with needing("langchain_core", "langchain-core 1.8 or newer", "langchain-core"):
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, BaseToolkit, ToolException
    from pydantic import PrivateAttr

try:  # langgraph is there if the tools run in a graph
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.types import Command, interrupt
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "langgraph":
        raise
    GraphBubbleUp = ToolRuntime = Command = interrupt = BaseCheckpointSaver = None

from ..lazy import answer_misnamed
from ..tools import Audio, File, Image

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["Toolkit", "output_type", "to_tool", "to_tools"]

answer_misnamed(__name__)

_RUNTIME = "operator_schema_runtime"  # no parameter of a tool has this name
_INJECTED = [
    Parameter(_RUNTIME, Parameter.KEYWORD_ONLY, annotation=cls) for cls in (ToolRuntime,) if cls is not None
]


def _marker(**_: Any) -> None:
    """Declare the values that a ToolNode injects, which inspects the signature of `func`."""


_marker.__annotations__ = {one.name: one.annotation for one in _INJECTED}
_marker.__signature__ = Signature(_INJECTED)  # type: ignore[attr-defined]  # inspect looks for it


class _OperatorTool(BaseTool):
    """One of our tools, with langchain's own checks of arguments bypassed."""

    runner: Any
    func: Any = _marker
    handle_tool_error: Any = True
    response_format: Any = "content_and_artifact"

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> tuple[Any, Any]:
        # By position, so that no parameter of a tool can clash with `config`, `run_manager` or `runtime`.
        arguments: Any = dict(tool_input) if isinstance(tool_input, dict) else tool_input
        runtime = arguments.pop(_RUNTIME, None) if isinstance(arguments, dict) else None
        call = {"name": self.name, "arguments": arguments, "host": runtime, "call_id": tool_call_id or None}
        return (call,), {}

    def _run(self, call: Any, *, config: RunnableConfig) -> Any:
        waits = _waits.set(False)
        try:
            return _outcome(self.runner.run_sync(**call, more={RunnableConfig: config}))
        finally:
            _waits.reset(waits)

    async def _arun(self, call: Any, *, config: RunnableConfig) -> Any:
        return _outcome(await self.runner.run(**call, more={RunnableConfig: config}))


def _make_tool(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> Any:
    # langchain writes references out one level deep and drops `$defs`: without references nothing is lost.
    schema = tool.input_schema()
    if "$defs" in schema and not tool.codec.graph.definitions:
        schema = tool.input_schema(inline=True)
    own = {"name": tool.name, "description": tool.definition()["description"], "args_schema": schema}
    return _OperatorTool(**{**own, "runner": runner, **native})


def _outcome(result: ToolResult) -> tuple[Any, Any]:
    if result.is_error:
        raise ToolException(result.content)
    if Command is not None and isinstance(result.value, Command):
        return result.value, None
    content = content_of(result, _BLOCKS, lambda text: {"type": "text", "text": text})
    # A checkpoint holds the artifact: JSON can be written there, but not everything that a function returns.
    return content, result.json


def _block(part: Any) -> Any:
    return {"type": part.as_dict()["type"], "base64": part.base64, "mime_type": part.media_type}


_BLOCKS: Any = dict.fromkeys((Image, Audio, File), _block)


def _ask(runtime: Any, question: dict[str, Any]) -> Any:
    """Ask by an interrupt; the graph then runs the node again with the answer, including all its calls."""
    if _is_beside_others(runtime):  # calls that have run would run a second time
        return ONLY_ALONE
    return interrupt(question)


_waits: ContextVar[bool] = ContextVar("operator_schema_langchain_waits", default=True)
"""Whether the graph runs in an event loop, so that its checkpointer must be used there."""


async def _kept(runtime: Any, _key: str) -> Any:
    """Return the question of the interrupt that a person has answered, from the graph's checkpoint."""
    given = runtime.config.get("configurable", {})
    saver, map_of_ids = given.get("__pregel_checkpointer"), given.get("checkpoint_map", {})
    above = "|".join(given.get("checkpoint_ns", "").split("|")[:-1])  # where the task of this node was saved
    place = {"checkpoint_ns": above, "checkpoint_id": map_of_ids.get(above)}
    config = {"configurable": {"thread_id": given.get("thread_id"), **place}}
    if not isinstance(saver, BaseCheckpointSaver):
        return None
    found = await saver.aget_tuple(config) if _waits.get() else saver.get_tuple(config)
    for task, channel, value in (found and found.pending_writes) or ():
        if task == given.get("__pregel_task_id") and channel == "__interrupt__":
            return value[0].value
    return None


def _is_beside_others(runtime: Any) -> bool:
    """Return whether one node runs several calls of a message.

    `create_agent` sends each call to a node of its own.
    """
    given = _sent_to(runtime)
    given = runtime.state if given is None else given
    if isinstance(given, dict) and "tool_call" in given:
        return False
    if isinstance(given, list) and given and isinstance(given[-1], dict):
        return len(given) > 1
    values = [given] if isinstance(given, list) else [*_values_of(given)]
    messages = [message for value in values if isinstance(value, list) for message in value]
    for message in reversed(messages):
        calls = getattr(message, "tool_calls", None) or ()
        if any(call["id"] == runtime.tool_call_id for call in calls):
            return len(calls) > 1
    return False


def _sent_to(runtime: Any) -> Any:
    """Return the argument of the `Send` to a call's node; None if there was none, or it can't be read."""
    config = runtime.config
    path: Any = config.get("metadata", {}).get("langgraph_path") or ("",)
    read = config.get("configurable", {}).get("__pregel_read")  # as a ToolNode reads the state
    if path[0] != "__pregel_push" or read is None:
        return None
    try:
        return read("__pregel_tasks")[path[1]].arg
    except Exception:  # noqa: BLE001  # another langgraph may keep them elsewhere: then the state says it
        return None


def _values_of(state: Any) -> Any:
    return (state if isinstance(state, dict) else getattr(state, "__dict__", {})).values()


_adapter = Adapter[Any](
    "langchain-core",
    _make_tool,
    own=with_state("context", ToolRuntime),
    hosts=(ToolRuntime, RunnableConfig),
    asks=_ask,
    kept=_kept,
    native_results=(Command,),
    pass_through=(GraphBubbleUp,),
    options=(BaseTool.model_fields, "BaseTool"),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


def output_type(cls: type[T], /) -> type[T]:
    """Return a class for `with_structured_output` and `create_agent(response_format=…)`; answers are a `cls`.

    Args:
        cls: a class whose JSON is an object, such as a dataclass.

    Raises:
        SchemaError: its fields can't be read.
        TypeError: its JSON isn't an object.
    """
    return output_class(cls, ValueError)


class Toolkit(LiveTools, BaseToolkit):
    """The tools of a registry; `get_tools` returns the tools that are switched on when it is called.

    It takes the arguments of `to_tools`.
    """

    adapter: ClassVar[Any] = _adapter
    _runner: Any = PrivateAttr()
    _native: Any = PrivateAttr()

    def get_tools(self) -> list[Any]:
        """Return tools for those that are switched on now."""
        return self.current_tools()
