"""llm: our tools for its chains and its command line; needs the extra `llm`.

`to_tool` takes the options of `llm.Tool`. Each call can inject the `llm.ToolCall` by its type.
"""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING, Any

from .base import Adapter, LiveTools, needing
from .conversions import media_of, with_change_line

with needing("llm", "llm 0.36 or newer", "llm"):
    import llm

from ..lazy import answer_misnamed

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["ToolCallError", "Toolbox", "to_tool", "to_tools"]

answer_misnamed(__name__)

_CALL = "llm_tool_call"


class ToolCallError(Exception):
    """A call has no result; the model reads the message after `Error: `, and the log stores it."""


def _make_tool(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> Any:
    # Plain chains can't await, and async ones run a plain function in a thread.
    def run(*, llm_tool_call: Any, **_: Any) -> Any:
        arguments, call_id = llm_tool_call.arguments, llm_tool_call.tool_call_id
        return _output(runner.run_sync(tool.name, arguments, llm_tool_call, call_id=call_id))

    # `llm tools list` shows the signature.
    parameters = [*tool.signature.parameters.values(), Parameter(_CALL, Parameter.KEYWORD_ONLY)]
    run.__signature__ = tool.signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # inspect looks for it
    definition = tool.definition()
    own = {
        "name": tool.name,
        "description": definition["description"],
        "input_schema": definition["input_schema"],
        "implementation": run,
    }
    return llm.Tool(**{**own, **native})


def _output(result: ToolResult) -> Any:
    if result.is_error:
        raise ToolCallError(result.content)
    if isinstance(result.value, llm.ToolOutput):
        return with_change_line(result, "output")
    media = media_of(result)
    if not media:
        return result.content
    attachments = [llm.Attachment(type=part.media_type, content=part.data) for part in media]
    return llm.ToolOutput(output=result.content, attachments=attachments)


_adapter = Adapter[Any](
    "llm",
    _make_tool,
    own=llm.ToolCall,
    native_results=(llm.ToolOutput,),
    pass_through=(llm.PauseChain,),
    taken=(_CALL,),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class Toolbox(LiveTools, llm.Toolbox):
    """The tools of a registry, for `model.chain(…, tools=[Toolbox(registry)])`.

    Each prompt sees the tools that are switched on at that time. It takes the arguments of `to_tools`.
    """

    adapter = _adapter

    def tools(self) -> Any:
        """Return the tools that are switched on now."""
        return iter(self.current_tools())
