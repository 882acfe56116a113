"""fastmcp: our tools in its servers, one by one or as a provider; needs the extra `fastmcp`.

`to_tool` takes the options of `fastmcp.tools.Tool`, such as `tags`, `icons` and `auth`, and `structured`:
which results a client gets as structured data besides the text. `"all"`, the default: all that are more than
a text, wrapped as `{"result": …}` if they aren't objects, as fastmcp does. `"objects"`: only objects.
`"none"`: none. Each call can inject the `Context` of fastmcp by its type. By default, the client asks by an
elicitation before a tool with `confirm=True` runs.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, cast

from .base import Adapter, LiveTools, needing
from .conversions import blocks_of, change_line

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
from mcp_types import CallToolRequestParams, ContentBlock, InputRequiredResult, TextContent
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import PrivateAttr

from ..lazy import answer_misnamed
from .mcp.asking import ElicitedConfirmation
from .mcp.content import checked_structured, described, output_of
from .mcp.tool_server import answer_of, call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tools import StructuredOutput, ToolResult
    from .mcp.content import Structured

__all__ = ["OperatorTool", "RegistryProvider", "to_tool", "to_tools"]

answer_misnamed(__name__)

_CONFIRMATION = ElicitedConfirmation()
_SEAL = ("input_responses", "request_state")
_WRAPPED = LATEST_HANDSHAKE_VERSION  # the version of the protocol in which each result is an object


class OperatorTool(FastMCPTool):
    """One of our tools as a tool of fastmcp; made by `to_tool` and `to_tools`."""

    _runner: Any = PrivateAttr()
    _tool: Any = PrivateAttr()
    _output: Any = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> Any:
        """Run a call of fastmcp."""
        ctx = get_context()
        request = cast("Any", ctx.request_context)
        seal = {} if request is None else {name: getattr(ctx, name) for name in _SEAL}
        params = CallToolRequestParams(name=self._tool.name, arguments=arguments, **seal)
        options = {"request": request, "confirmation": _CONFIRMATION, "report": ctx.report_progress}
        result = await call(self._runner, self._tool, params, ctx, **options)
        if isinstance(result, InputRequiredResult):
            return InputRequiredToolResult(result)
        return _answer(result, self._output)


def _make_tool(tool: Any, runner: Any, /, *, structured: Structured = "all", **native: Any) -> OperatorTool:
    output = output_of(tool, checked_structured(structured))
    shown = described(tool, runner, structured=structured, protocol_version=_WRAPPED)
    mark = {"x-fastmcp-wrap-result": True} if output is not None and output.is_wrapped else {}
    own = {name: getattr(shown, name) for name in ("name", "title", "description", "annotations", "meta")}
    own |= {"parameters": shown.input_schema, "tags": set(tool.tags)}
    own["output_schema"] = None if output is None else {**output.schema, **mark}
    made = OperatorTool(**{**own, **native})
    made._runner, made._tool, made._output = runner, tool, output  # noqa: SLF001  # our own class
    return made


def _answer(result: ToolResult, output: StructuredOutput | None) -> Any:
    native = blocks_of(result, {}, str, _PARTS)
    if isinstance(result.value, FastMCPResult):
        if result.changed is not None:
            made = copy(result.value)
            made.content = [TextContent(type="text", text=change_line(result)), *made.content]
            return made
        return result.value
    if isinstance(result.value, InputRequiredResult):
        return InputRequiredToolResult(result.value)
    if native is not None:
        return FastMCPResult(content=native if isinstance(native, list) else [native])
    answer = answer_of(result, output, _WRAPPED)
    is_wrapped = output is not None and output.is_wrapped and not result.is_error
    meta = {"fastmcp": {"wrap_result": True}} if is_wrapped else None
    data = answer.structured_content
    return FastMCPResult(content=answer.content, structured_content=data, meta=meta, is_error=answer.is_error)


_PARTS = (Image, Audio, File, *ContentBlock.__args__)  # the last is a union of classes
_adapter = Adapter[OperatorTool](
    "fastmcp",
    _make_tool,
    own=FastMCPContext,
    native_results=(*_PARTS, FastMCPResult, InputRequiredResult),
    pass_through=(FastMCPError, MCPError),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class RegistryProvider(LiveTools, Provider):
    """The tools of a registry in a server: `FastMCP("…").add_provider(RegistryProvider(registry))`.

    Each request sees the tools that are switched on at that time. It takes the arguments of `to_tools`.
    """

    adapter = _adapter

    async def _list_tools(self) -> Sequence[Any]:
        try:
            ctx = get_context()
        except RuntimeError:  # nobody asks: the server itself lists its tools
            return self.current_tools()
        return self.current_tools(ctx)
