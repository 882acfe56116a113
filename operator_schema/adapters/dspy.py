"""dspy: our tools as its, for ReAct and for native calls; needs the extra `dspy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import check_native, flat_definition, needing, runner_of, runner_of_one

with needing("dspy", "dspy 3.4 or newer", "dspy"):
    from dspy import Image as DspyImage
    from dspy import Tool as DspyTool
    from dspy.utils.callback import with_callbacks
    from pydantic import PrivateAttr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["OperatorTool", "to_tool", "to_tools"]

_OPTIONS: ExecutorOptions = {"native_results": (DspyImage,)}
_NATIVE = ("name", "desc")


class OperatorTool(DspyTool):
    """One of our tools as a tool of dspy; made by `to_tool` and `to_tools`."""

    _runner: Any = PrivateAttr()
    _tool: Any = PrivateAttr()

    def __init__(self, tool: Tool[..., Any], runner: Runner, native: Mapping[str, Any]) -> None:
        definition = flat_definition(tool, "dspy")
        properties = definition["input_schema"].get("properties", {})
        own = {"name": tool.name, "desc": definition["description"], **native}

        # Some of dspy calls the tool, and some calls its function.
        def run(**arguments: Any) -> Any:
            return _outcome(runner.run_sync(tool.name, arguments, {}))

        super().__init__(func=run, args=properties, arg_types={}, **own)
        self._runner, self._tool = runner, tool

    def format_as_litellm_function_call(self) -> dict[str, Any]:
        """Return the tool as it is in a request."""
        about = {"name": self.name, "description": self.desc, "parameters": self._tool.input_schema()}
        return {"type": "function", "function": about}

    # The arguments go on as one dict: a parameter may have any name, that of an argument of dspy's too.
    def __call__(self, /, **arguments: Any) -> Any:
        """Run a call, and wait for it."""
        return self._called(arguments)

    async def acall(self, /, **arguments: Any) -> Any:
        """Run a call."""
        return await self._acalled(arguments)

    @with_callbacks  # type: ignore[untyped-decorator]  # its types aren't there when ours are checked
    def _called(self, kwargs: dict[str, Any]) -> Any:
        return self.func(**kwargs)

    @with_callbacks  # type: ignore[untyped-decorator]  # as above
    async def _acalled(self, kwargs: dict[str, Any]) -> Any:
        return _outcome(await self._runner.run(self._tool.name, kwargs, {}))


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> Any:
    """Return a `dspy.Tool`.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; a function gets None, and returns that.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        native: `name` and `desc`, as `dspy.Tool` takes them.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool, or the tool takes a recursive type.
    """
    check_native(native, _NATIVE, "Tool of dspy")
    return OperatorTool(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native)


def to_tools(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
) -> list[Any]:
    """Return tools for those that are switched on now; the arguments are those of `to_tool`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools, or a tool takes a recursive type.
    """
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [OperatorTool(tool, runner, {}) for tool in runner.executor.registry.offered()]


def _outcome(result: ToolResult) -> Any:
    # An exception would be shown with its traceback: our text is for the model.
    if result.is_error:
        return result.content
    return result.value if isinstance(result.value, DspyImage) else result.content
