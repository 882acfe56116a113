"""fastmcp: our tools in a server of it, one by one or as a provider; needs the extra `fastmcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .base import needing, runner_of, runner_of_one

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

from ..tools.injection import register_injected
from .mcp.confirmation import Confirmation
from .mcp.content import content_of
from .mcp.described import checked_structured, hints_of, output_of
from .mcp.messages import Messages, progress_sender, sending

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.execution.reports import OnProgress
    from ..tools.output import StructuredOutput
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools
    from .mcp.confirmation import Asked
    from .mcp.described import Structured

__all__ = ["OperatorTool", "RegistryProvider", "to_tool", "to_tools"]

register_injected(cast("Any", FastMCPContext))

_BLOCKS: tuple[type, ...] = ContentBlock.__args__  # a union of classes
_PARTS: tuple[type, ...] = (Image, Audio, File, *_BLOCKS)
_NATIVE = (*_PARTS, FastMCPResult, InputRequiredResult)
_CONFIRMATION = Confirmation()
_OPTIONS: ExecutorOptions = {"native_results": _NATIVE, "pass_through": (FastMCPError, MCPError)}


class OperatorTool(FastMCPTool):
    """One of our tools as a tool of fastmcp; made by `to_tool` and `to_tools`."""

    _runner: Any = PrivateAttr()
    _tool: Any = PrivateAttr()
    _output: Any = PrivateAttr()

    async def run(self, arguments: dict[str, Any]) -> Any:
        """Run a call, as fastmcp asks for it."""
        ctx, runner = get_context(), cast("Runner", self._runner)

        asked: Asked | None = None
        if self._tool.annotations.confirm and runner.confirm is None and ctx.request_context is not None:
            params = CallToolRequestParams(
                name=self._tool.name,
                arguments=arguments,
                input_responses=ctx.input_responses,
                request_state=ctx.request_state,
            )
            asked = _CONFIRMATION.asked(cast("Any", ctx.request_context), params, self._tool)
        confirm = None if asked is None else asked.confirm

        def execute(on_progress: OnProgress | None) -> Awaitable[ToolResult]:
            return runner.run(
                self._tool.name,
                arguments,
                {FastMCPContext: ctx},
                call_id=None if ctx.request_context is None else ctx.request_id,
                host=ctx,
                on_progress=on_progress,
                confirm=confirm,
            )

        if self._tool.takes_progress:
            messages = Messages()
            report = progress_sender(messages, ctx.report_progress)
            result = await sending(messages, lambda: execute(report))
        else:
            result = await execute(None)
        if asked is not None and asked.question is not None:
            return InputRequiredToolResult(asked.question)
        return _answer(result, self._output)


class RegistryProvider(Provider):
    """The tools of a registry in a server: `FastMCP("…").add_provider(RegistryProvider(registry))`.

    What is registered or switched later is seen with the next request.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, the
            client asks by an elicitation.
        structured: as for `to_tool`.
        native: as for `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: an argument is out of range, or the executor has other tools.
    """

    def __init__(
        self,
        tools: Tools,
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        confirm: Confirm | None = None,
        structured: Structured = "all",
        **native: Any,
    ) -> None:
        super().__init__()
        self._structured: Structured = checked_structured(structured)
        self._native = native
        self._runner = runner_of(tools, context, executor, _OPTIONS, confirm)

    async def _list_tools(self) -> Sequence[Any]:
        registry = self._runner.executor.registry
        try:
            ctx = get_context()
        except RuntimeError:  # nobody asks: the server itself lists its tools
            offered = registry.offered()
        else:
            offered = registry.offered(context=self._runner.context_of({FastMCPContext: ctx}, ctx))
        return [_made(tool, self._runner, self._structured, self._native) for tool in offered]


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    structured: Structured = "all",
    **native: Any,
) -> OperatorTool:
    """Return a tool of fastmcp, for `FastMCP.add_tool`.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the
            `Context` of fastmcp and returns that. That `Context` is there by its type anyway.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, the
            client asks by an elicitation.
        structured: which results a client gets as data beside the text. `"all"`: all that say more than
            a text, wrapped as `{"result": …}` where they aren't objects, as fastmcp does. `"objects"`:
            those that are objects. `"none"`: none.
        native: what `fastmcp.tools.Tool` takes, such as `tags`, `icons` and `auth`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: an argument is out of range, or the executor doesn't have this tool.
    """
    runner = runner_of_one(tool, context, executor, _OPTIONS, confirm)
    return _made(tool, runner, checked_structured(structured), native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    structured: Structured = "all",
    **native: Any,
) -> list[OperatorTool]:
    """Return tools of fastmcp for those that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: an argument is out of range, or the executor has other tools.
    """
    checked_structured(structured)
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [_made(tool, runner, structured, native) for tool in runner.executor.registry.offered()]


def _made(
    tool: Tool[..., Any], runner: Runner, structured: Structured, native: dict[str, Any]
) -> OperatorTool:
    definition, said, output = tool.definition(), tool.annotations, output_of(tool, structured)
    made = OperatorTool(
        **{
            "name": tool.name,
            "title": said.title,
            "description": definition["description"],
            "parameters": definition["input_schema"],
            "output_schema": None if output is None else _output_schema(output),
            "annotations": hints_of(said),
            "meta": said.meta or None,
            "tags": set(tool.tags),
            **native,
        }
    )
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
    if _is_native(value):
        return FastMCPResult(content=value if isinstance(value, list) else [value])
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


def _is_native(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(part, _PARTS) for part in cast("list[Any]", value))
    return isinstance(value, _PARTS)
