"""fastmcp: our tools in a server of it, one by one or as a provider; needs the extra `fastmcp`.

Options of `to_tool` are those of `fastmcp.tools.Tool`, such as `tags`, `icons` and `auth`, and
`structured`: which results a client gets as data beside the text. `"all"`, the default: all that say more
than a text, wrapped as `{"result": …}` where they aren't objects, as fastmcp does. `"objects"`: those that
are objects. `"none"`: none. The `Context` of fastmcp is there for each call, by its type. By default, the
client asks by an elicitation before a tool with `confirm=True` runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .base import Adapter, LiveTools, native_of, needing

with needing("fastmcp", "fastmcp 4.1 or newer", "fastmcp"):
    from fastmcp import Context as FastMCPContext
    from fastmcp.exceptions import FastMCPError
    from fastmcp.server.dependencies import get_context
    from fastmcp.server.providers import Provider
    from fastmcp.tools import Tool as FastMCPTool
    from fastmcp.tools import ToolResult as FastMCPResult
    from fastmcp.tools.base import InputRequiredToolResult
    from fastmcp.utilities.types import Audio, File, Image

from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, ContentBlock, InputRequiredResult
from pydantic import PrivateAttr

from .mcp.content import checked_structured, content_of, hints_of, output_of
from .mcp.messages import Confirmation, with_messages

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from ..tools.calls import ToolResult
    from ..tools.execution.reports import OnProgress
    from ..tools.results.structured_output import StructuredOutput
    from ..tools.tool import Tool
    from .base import Runner
    from .mcp.content import Structured

__all__ = ["OperatorTool", "RegistryProvider", "to_tool", "to_tools"]

_CONFIRMATION = Confirmation()


class OperatorTool(FastMCPTool):
    """One of our tools as a tool of fastmcp; made by `to_tool` and `to_tools`."""

    _runner: Any = PrivateAttr()
    _tool: Any = PrivateAttr()
    _output: Any = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> Any:
        """Run a call, as fastmcp asks for it."""
        ctx = get_context()
        tool, request = self._tool, cast("Any", ctx.request_context)
        asked = None
        if request is not None and self._runner.holds_back(tool):
            given = {"input_responses": ctx.input_responses, "request_state": ctx.request_state}
            params = CallToolRequestParams(name=tool.name, arguments=arguments, **given)
            asked = _CONFIRMATION.asked(request, params, tool)

        def run(on_progress: OnProgress | None) -> Awaitable[ToolResult]:
            call_id = None if request is None else ctx.request_id
            confirm = None if asked is None else asked.confirm
            running: Awaitable[ToolResult] = self._runner.run(
                tool.name, arguments, ctx, call_id=call_id, on_progress=on_progress, confirm=confirm
            )
            return running

        result = await with_messages(run, ctx.report_progress if tool.takes_progress else None)
        if asked is not None and asked.question is not None:
            return InputRequiredToolResult(asked.question)
        return _answer(result, self._output)


def _made(
    tool: Tool[..., Any], runner: Runner, /, *, structured: Structured = "all", **native: Any
) -> OperatorTool:
    definition, said = tool.definition(), tool.annotations
    output = output_of(tool, checked_structured(structured))
    own = {
        "name": tool.name,
        "title": said.title,
        "description": definition["description"],
        "parameters": definition["input_schema"],
        "output_schema": None if output is None else _output_schema(output),
        "annotations": hints_of(said),
        "meta": said.meta or None,
        "tags": set(tool.tags),
    }
    made = OperatorTool(**{**own, **native})
    made._runner, made._tool, made._output = runner, tool, output  # noqa: SLF001  # our own class
    return made


def _output_schema(output: StructuredOutput) -> dict[str, Any]:
    mark = {"x-fastmcp-wrap-result": True} if output.is_wrapped else {}
    return {**output.schema, **mark}


def _answer(result: ToolResult, output: StructuredOutput | None) -> Any:
    if result.is_error:
        return FastMCPResult(content=result.content, is_error=True)
    value = result.value
    if isinstance(value, InputRequiredResult):
        return InputRequiredToolResult(value)
    if isinstance(value, FastMCPResult):
        return value
    native = native_of(value, _PARTS)
    if native is not None:
        return FastMCPResult(content=native if isinstance(native, list) else [native])
    content = [content_of(part) for part in result.parts]
    if output is None:
        return FastMCPResult(content=content)
    data = output.of(result.json)
    is_wrong = data is None or bool((result.details or {}).get("mismatches"))
    return FastMCPResult(
        content=content,
        structured_content=None if is_wrong else data,
        meta={"fastmcp": {"wrap_result": True}} if output.is_wrapped else None,
        is_error=is_wrong,
    )


_PARTS = (Image, Audio, File, *ContentBlock.__args__)  # the last is a union of classes
_adapter = Adapter[OperatorTool](
    "fastmcp",
    _made,
    own=FastMCPContext,
    native_results=(*_PARTS, FastMCPResult, InputRequiredResult),
    pass_through=(FastMCPError, MCPError),
)
to_tool = _adapter.to_tool
to_tools = _adapter.to_tools


class RegistryProvider(LiveTools, Provider):
    """The tools of a registry in a server: `FastMCP("…").add_provider(RegistryProvider(registry))`.

    Each request sees those that are switched on then. It takes what `to_tools` takes.
    """

    adapter = _adapter

    async def _list_tools(self) -> Sequence[Any]:
        try:
            ctx = get_context()
        except RuntimeError:  # nobody asks: the server itself lists its tools
            return self.made_now()
        return self.made_now(ctx)
