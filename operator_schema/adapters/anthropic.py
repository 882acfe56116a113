"""anthropic: our tools for the tool runner of its SDK; needs the extra `anthropic`.

Without the runner, `operator_schema.providers.anthropic` has all that a request needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import needing, runner_of, runner_of_one

with needing("anthropic", "anthropic 2.12 or newer", "anthropic"):
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError

from ..tools.content import File, Image, Text

if TYPE_CHECKING:
    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["to_async_tool", "to_async_tools", "to_tool", "to_tools"]

_OPTIONS: ExecutorOptions = {"pass_through": (ToolError,)}
_DOCUMENTS = frozenset({"application/pdf", "text/plain"})


class _Shared:
    """What the tools of both runners share.

    Args:
        tool: one of ours.
        runner: of its calls.
        native: more keys of the definition.
    """

    def __init__(self, tool: Tool[..., Any], runner: Runner, native: dict[str, Any]) -> None:
        self._tool = tool
        self._runner = runner
        self._native = native

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self._tool.name

    def to_dict(self) -> Any:
        """Return the definition that is sent."""
        examples = {"input_examples": list(self._tool.examples)} if self._tool.examples else {}
        return {**self._tool.definition(), **examples, **self._native}


class _PlainTool(_Shared, BetaBuiltinFunctionTool):
    """A tool for the plain runner."""

    def call(self, input: Any) -> Any:  # noqa: A002  # its name there
        """Run a call; the runner doesn't say which one it is."""
        return _blocks(self._runner.run_sync(self.name, input, {}))


class _AsyncTool(_Shared, BetaAsyncBuiltinFunctionTool):
    """A tool for the async runner."""

    async def call(self, input: Any) -> Any:  # noqa: A002  # its name there
        """Run a call; the runner doesn't say which one it is."""
        return _blocks(await self._runner.run(self.name, input, {}))


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> Any:
    """Return a tool for `Anthropic().beta.messages.tool_runner(tools=[…])`.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a function of None that returns that.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        native: more keys of the definition, such as `cache_control` and `strict`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return _PlainTool(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native)


def to_async_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> Any:
    """Return a tool for the runner of `AsyncAnthropic`; the arguments are those of `to_tool`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return _AsyncTool(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native)


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
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [_PlainTool(tool, runner, native) for tool in runner.executor.registry.offered()]


def to_async_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> list[Any]:
    """Return tools for the runner of `AsyncAnthropic`; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [_AsyncTool(tool, runner, native) for tool in runner.executor.registry.offered()]


def _blocks(result: ToolResult) -> Any:
    if result.is_error:
        raise ToolError(result.content)
    if all(isinstance(part, Text) for part in result.parts):
        return result.content
    return [_block(part) for part in result.parts]


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, Image):
        source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
        return {"type": "image", "source": source}
    if isinstance(part, File) and part.media_type in _DOCUMENTS:
        source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
        return {"type": "document", "source": source}
    return {"type": "text", "text": part.text if isinstance(part, Text) else str(part)}
