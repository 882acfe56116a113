"""haystack-ai: our tools as tools of Haystack, one by one or as a toolset; needs the extra `haystack-ai`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, get_args

from .base import needing, runner_of, runner_of_one

with needing("haystack", "haystack-ai 3.4 or newer", "haystack-ai"):
    from haystack.components.agents.state import State
    from haystack.dataclasses import FileContent, ImageContent, TextContent
    from haystack.tools import Tool as HaystackTool
    from haystack.tools import Toolset as HaystackToolset
    from haystack.tools.errors import ToolInvocationError

from ..json_values import to_json_text
from ..tools.content import File, Image, Text
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tools.calls import ToolResult
    from ..tools.content import Part
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.registry import Registry
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["OperatorTool", "Toolset", "to_tool", "to_tools"]

_host: Any = State
register_injected(_host)

_BLOCKS = (TextContent, ImageContent, FileContent)
_OPTIONS: ExecutorOptions = {"native_results": _BLOCKS}
_STATE = "_operator_state"


class OperatorTool(HaystackTool):
    """One of our tools as a tool of Haystack; made by `to_tool`, `to_tools` and `Toolset`."""

    operator_runner: Runner
    operator_name: str
    has_blocks: bool

    def invoke(self, /, **kwargs: Any) -> Any:
        """Run a call without an event loop, or in the thread of one."""
        state = kwargs.pop(_STATE, None)
        result = self.operator_runner.run_sync(self.operator_name, kwargs, _own(state), host=state)
        return _outcome(result, has_blocks=self.has_blocks)

    async def invoke_async(self, /, **kwargs: Any) -> Any:
        """Run a call."""
        state = kwargs.pop(_STATE, None)
        runner, name = self.operator_runner, self.operator_name
        result = await runner.run(name, kwargs, _own(state), host=state)
        return _outcome(result, has_blocks=self.has_blocks)

    def to_dict(self) -> NoReturn:
        """Refuse to be saved with a pipeline.

        Raises:
            ValueError: always. Make the tool again where the pipeline is loaded, and give it to the agent.
        """
        message = f"the tool {self.name} can't be saved with a pipeline: make it again by to_tool"
        raise ValueError(message)


class Toolset(HaystackToolset):
    """The tools of a registry, for `Agent(tools=Toolset(registry))`.

    What is registered or switched later is seen with the next request.

    Args:
        tools: a registry, a toolset of ours, or any iterable of tools.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        blocks: as for `to_tool`.
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
        confirm: Confirm | None = None,
        blocks: bool = False,
        **native: Any,
    ) -> None:
        self._runner = runner_of(tools, context, executor, _OPTIONS, confirm)
        self._native, self._blocks = native, blocks
        super().__init__(tools=[])

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._runner.executor.registry

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the tools that are switched on now."""
        return iter(
            [_made(tool, self._runner, self._native, blocks=self._blocks) for tool in self.registry.offered()]
        )

    def get_selectable_tools(self) -> list[Any]:
        """Return the tools that are switched on now."""
        return list(self)

    def add(self, tool: Any) -> None:
        """Refuse a tool of Haystack.

        Raises:
            TypeError: always. Register it in the registry, or give the agent a list of both.
        """
        message = f"this toolset follows a registry: register {getattr(tool, 'name', 'the tool')} there"
        raise TypeError(message)

    def to_dict(self) -> NoReturn:
        """Refuse to be saved with a pipeline, as `OperatorTool.to_dict`.

        Raises:
            ValueError: always.
        """
        message = "this toolset can't be saved with a pipeline: make it again by Toolset"
        raise ValueError(message)


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    blocks: bool = False,
    **native: Any,
) -> OperatorTool:
    """Return a tool of Haystack.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the `State`
            of the agent, None outside of one, and returns that. That `State` is there by its type anyway.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        blocks: whether images and files of a result are blocks of content. Not all models take them:
            for OpenAI's chat completions Haystack raises a `ValueError`, which ends the run. Otherwise
            the model reads what they are.
        native: what Haystack's `Tool` takes, such as `outputs_to_state` and `inputs_from_state`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return _made(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native, blocks=blocks)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    blocks: bool = False,
    **native: Any,
) -> list[OperatorTool]:
    """Return tools for those that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [_made(tool, runner, native, blocks=blocks) for tool in runner.executor.registry.offered()]


def _made(tool: Tool[..., Any], runner: Runner, native: dict[str, Any], *, blocks: bool) -> OperatorTool:
    # Haystack asks for a function, and gives its `State` to one that has it among its parameters. Calls of
    # such tools it runs one after another, so only those have it that may use it.
    def with_state(_operator_state: State | None = None, **arguments: Any) -> Any:
        return made.invoke(**{_STATE: _operator_state}, **arguments)

    async def async_with_state(_operator_state: State | None = None, **arguments: Any) -> Any:
        return await made.invoke_async(**{_STATE: _operator_state}, **arguments)

    def without_state(**arguments: Any) -> Any:
        return made.invoke(**arguments)

    async def async_without_state(**arguments: Any) -> Any:
        return await made.invoke_async(**arguments)

    uses_state = callable(runner.context) or _takes_state(tool)
    function = with_state if uses_state else without_state
    async_function = async_with_state if uses_state else async_without_state
    definition = tool.definition()
    made = OperatorTool(
        **{
            "name": tool.name,
            "description": definition["description"],
            "parameters": definition["input_schema"],
            "function": function,
            "async_function": async_function,
            "outputs_to_string": {"handler": told, "raw_result": True},
            **native,
        }
    )
    made.operator_runner, made.operator_name, made.has_blocks = runner, tool.name, blocks
    return made


def _takes_state(tool: Tool[..., Any]) -> bool:
    """Return whether the function has a parameter that may be the `State` of the agent."""
    return any(_may_be_state(tool.injected_type(name)) for name in tool.injected)


def _may_be_state(annotation: Any) -> bool:
    return annotation in {State, Any, object} or any(map(_may_be_state, get_args(annotation)))


class _Blocks(list[Any]):
    """Content that the model sees as it is."""


def told(value: Any) -> Any:
    """Return what the model reads of a result, as the handler of Haystack's `outputs_to_string`.

    Args:
        value: what `OperatorTool.invoke` returned.

    Returns:
        Text, or blocks of content.
    """
    if isinstance(value, (str, _Blocks)):
        return value
    return to_json_text(value)


def _own(state: Any) -> dict[Any, Any]:
    return {} if state is None else {State: state}


def _outcome(result: ToolResult, *, has_blocks: bool) -> Any:
    if result.is_error:
        raise ToolInvocationError(result.content, tool_name=result.name)
    value = result.value
    if isinstance(value, _BLOCKS):
        return _Blocks([value])
    if isinstance(value, (list, tuple)) and any(isinstance(part, _BLOCKS) for part in value):
        return _Blocks([part if isinstance(part, _BLOCKS) else TextContent(str(part)) for part in value])
    if has_blocks and any(isinstance(part, (Image, File)) for part in result.parts):
        return _Blocks([_block(part) for part in result.parts])
    if any(not isinstance(part, Text) for part in result.parts):
        return result.content
    return result.content if result.json is None or isinstance(result.json, str) else result.json


def _block(part: Part) -> Any:
    match part:
        case Image():
            return ImageContent(part.base64, mime_type=part.media_type)
        case File():
            return FileContent(part.base64, mime_type=part.media_type, filename=part.name)
        case _:
            return TextContent(part.as_text())
