"""llm: our tools for its chains and its command line; needs the extra `llm`."""

from __future__ import annotations

from inspect import Parameter
from typing import TYPE_CHECKING, Any, cast

from .base import check_parameters, needing, runner_of, runner_of_one

with needing("llm", "llm 0.36 or newer", "llm"):
    import llm

from ..tools.content import Audio, File, Image
from ..tools.injection import register_injected

if TYPE_CHECKING:
    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["ToolCallError", "Toolbox", "to_tool", "to_tools"]

register_injected(cast("Any", llm.ToolCall))

_OPTIONS: ExecutorOptions = {"native_results": (llm.ToolOutput,), "pass_through": (llm.PauseChain,)}
_CALL = "llm_tool_call"


class ToolCallError(Exception):
    """A call has no result; its message is what the model reads behind `Error: `, and what the log keeps."""


class Toolbox(llm.Toolbox):
    """The tools of a registry, for `model.chain(…, tools=[Toolbox(registry)])`.

    What is registered or switched later is seen with the next prompt.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.

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
    ) -> None:
        self._runner = runner_of(tools, context, executor, _OPTIONS, confirm)

    def tools(self) -> Any:
        """Yield the tools that are switched on now."""
        for tool in self._runner.executor.registry.offered():
            yield _made(tool, self._runner, {})


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> Any:
    """Return an `llm.Tool`.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the
            `llm.ToolCall` and returns that. The `ToolCall` is there anyway, by its type.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. Without it such
            calls aren't run.
        native: what `llm.Tool` takes.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
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
    runner = runner_of(tools, context, executor, _OPTIONS, confirm)
    return [_made(tool, runner, native) for tool in runner.executor.registry.offered()]


def _made(tool: Tool[..., Any], runner: Runner, native: dict[str, Any]) -> Any:
    check_parameters(tool, "llm", (_CALL,))
    name = tool.name

    # Plain chains can't await, and async ones run a plain function in a thread.
    def run(*, llm_tool_call: Any, **_: Any) -> Any:
        own = {llm.ToolCall: llm_tool_call}
        call_id = llm_tool_call.tool_call_id
        found = runner.run_sync(name, llm_tool_call.arguments, own, call_id=call_id, host=llm_tool_call)
        return _output(found)

    # `llm tools list` shows the signature.
    parameters = [*tool.signature.parameters.values(), Parameter(_CALL, Parameter.KEYWORD_ONLY)]
    run.__signature__ = tool.signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # inspect looks for it
    return llm.Tool(
        **{
            "name": name,
            "description": tool.definition()["description"],
            "input_schema": tool.input_schema(),
            "implementation": run,
            **native,
        }
    )


def _output(result: ToolResult) -> Any:
    if result.is_error:
        raise ToolCallError(result.content)
    if isinstance(result.value, llm.ToolOutput):
        return result.value
    media: list[Any] = [part for part in result.parts if isinstance(part, (Image, Audio, File))]
    if not media:
        return result.content
    attachments = [llm.Attachment(type=part.media_type, content=part.data) for part in media]
    return llm.ToolOutput(output=result.content, attachments=attachments)
