"""haystack-ai: our tools as tools of Haystack, one by one or as a toolset; needs the extra `haystack-ai`.

`to_tool` takes the options of Haystack's `Tool`, such as `outputs_to_state` and `inputs_from_state`, and
`blocks`: whether images and files of a result become blocks of content. Not all models take such blocks: for
OpenAI's chat completions, Haystack raises a `ValueError`, which ends the run. Without `blocks`, the model
reads descriptions of them. Each call can inject the `State` of the agent by its type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, get_args

from .base import Adapter, LiveTools, needing
from .conversions import blocks_of, is_text, json_of

with needing("haystack", "haystack-ai 3.4 or newer", "haystack-ai"):
    from haystack.components.agents.state import State
    from haystack.dataclasses import FileContent, ImageContent, TextContent
    from haystack.tools import Tool as HaystackTool
    from haystack.tools import Toolset as HaystackToolset
    from haystack.tools.errors import ToolInvocationError

from ..json_values import to_json_text
from ..lazy import answer_misnamed
from ..tools import File, Image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["OperatorTool", "Toolset", "to_tool", "to_tools"]

answer_misnamed(__name__)


class OperatorTool(HaystackTool):
    """One of our tools as a tool of Haystack; made by `to_tool`, `to_tools` and `Toolset`."""

    # The base would write a text of its own around what we raise.
    def invoke(self, /, **kwargs: Any) -> Any:
        """Run a call without an event loop, or in the thread of one."""
        return self.function(**kwargs)

    async def invoke_async(self, /, **kwargs: Any) -> Any:
        """Run a call."""
        return await self.async_function(**kwargs)

    def to_dict(self) -> NoReturn:
        """Refuse to be saved with a pipeline.

        Raises:
            ValueError: always. Make the tool again where the pipeline is loaded, and give it to the agent.
        """
        message = f"the tool {self.name} can't be saved with a pipeline: make it again by to_tool"
        raise ValueError(message)


def _make_tool(
    tool: Tool[..., Any], runner: Runner, /, *, blocks: bool = False, **native: Any
) -> OperatorTool:
    # Haystack gives its `State` to a function that has it among its parameters. Calls of such tools it runs
    # one after another, so only those have it that may use it.
    def run(_operator_state: Any = None, **arguments: Any) -> Any:
        return _outcome(runner.run_sync(tool.name, arguments, _operator_state), blocks)

    async def arun(_operator_state: Any = None, **arguments: Any) -> Any:
        return _outcome(await runner.run(tool.name, arguments, _operator_state), blocks)

    if callable(runner.context) or any(_may_be_state(tool.injected_type(name)) for name in tool.injected):
        run.__annotations__ = arun.__annotations__ = {"_operator_state": State | None}
    definition = tool.definition()
    own = {
        "name": tool.name,
        "description": definition["description"],
        "parameters": definition["input_schema"],
        "function": run,
        "async_function": arun,
        "outputs_to_string": {"handler": told, "raw_result": True},
    }
    return OperatorTool(**{**own, **native})


def _may_be_state(annotation: Any) -> bool:
    return annotation in {State, Any, object} or any(map(_may_be_state, get_args(annotation)))


class _Blocks(list[Any]):
    """Blocks of content that reach the model unchanged."""


def told(value: Any) -> Any:
    """Return the text or blocks of a result for the model: the handler of `outputs_to_string`."""
    return value if isinstance(value, (str, _Blocks)) else to_json_text(value)


def _outcome(result: ToolResult, has_blocks: bool) -> Any:  # noqa: FBT001  # an option of the tool
    if result.is_error:
        raise ToolInvocationError(result.content, tool_name=result.name)
    blocks = blocks_of(result, _BLOCKS if has_blocks else {}, TextContent, _NATIVE)
    if blocks is not None:
        several = blocks if isinstance(blocks, list) else [blocks]
        return _Blocks([one if isinstance(one, _NATIVE) else TextContent(str(one)) for one in several])
    data = json_of(result)
    return result.content if not is_text(result) or data is None or isinstance(data, str) else data


_NATIVE = (TextContent, ImageContent, FileContent)
_BLOCKS: Any = {
    Image: lambda part: ImageContent(part.base64, mime_type=part.media_type),
    File: lambda part: FileContent(part.base64, mime_type=part.media_type, filename=part.name),
}

_adapter = Adapter[OperatorTool]("haystack-ai", _make_tool, own=State, native_results=_NATIVE)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class Toolset(LiveTools, HaystackToolset):
    """The tools of a registry, for `Agent(tools=Toolset(registry))`.

    Each request sees the tools that are switched on at that time. It takes the arguments of `to_tools`.
    """

    adapter = _adapter

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the tools that are switched on now."""
        return iter(self.current_tools())

    def get_selectable_tools(self) -> list[Any]:
        """Return the tools that are switched on now."""
        return self.current_tools()

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
