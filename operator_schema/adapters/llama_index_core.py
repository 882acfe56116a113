"""llama-index-core: our tools as tools of its agents; needs the extra `llama-index-core`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import is_agreement, needing, question_about, runner_of, runner_of_one

with needing("llama_index.core", "llama-index-core 0.14 or newer", "llama-index-core"):
    from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, ImageBlock, TextBlock
    from llama_index.core.objects import ObjectRetriever
    from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
    from llama_index.core.workflow import Context as WorkflowContext
    from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent

from ..json_values import to_json_text
from ..tools.content import Audio, File, Image
from ..tools.injection import register_injected

try:  # by which `ctx.wait_for_event` ends a call that waits for a person
    from workflows.runtime.types.results import WaitingForEvent
except ModuleNotFoundError:
    WaitingForEvent = None

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rounds.tool_call import ToolCall
    from ..tools.calls import ToolResult
    from ..tools.content import Part
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.registry import Registry
    from ..tools.tool import Tool
    from .base import Context, ExecutorOptions, Runner, Tools

__all__ = ["OperatorTool", "RegistryRetriever", "to_tool", "to_tools"]

_host: Any = WorkflowContext
register_injected(_host)

_BLOCKS = (AudioBlock, DocumentBlock, ImageBlock, TextBlock)
_OPTIONS: ExecutorOptions = {"native_results": _BLOCKS}
if WaitingForEvent is not None:
    _OPTIONS = {**_OPTIONS, "pass_through": (WaitingForEvent,)}

_CONTEXT = "operator_schema_context"
"""Under which an agent gives its context: no parameter of a tool has this name."""


class _Metadata(ToolMetadata):
    """What a model reads of a tool: its schema is ours, with all that it says."""

    def __init__(self, tool: Tool[..., Any], native: Mapping[str, Any]) -> None:
        definition = tool.definition()
        super().__init__(
            **{"description": definition["description"], "name": tool.name, "fn_schema": None, **native}
        )
        self._tool = tool

    def get_parameters_dict(self) -> dict[str, Any]:
        """Return a copy of the schema of the arguments."""
        schema: dict[str, Any] = self._tool.input_schema()
        return schema


class OperatorTool(FunctionTool):
    """One of our tools as a tool of LlamaIndex; made by `to_tool` and `to_tools`."""

    # A FunctionTool, since its agents give their context to no other tool.
    def __init__(self, tool: Tool[..., Any], runner: Runner, native: Mapping[str, Any]) -> None:
        super().__init__(fn=_anything, metadata=_Metadata(tool, native))
        self.requires_context, self.ctx_param_name = True, _CONTEXT
        self._name, self._runner = tool.name, runner

    def __call__(self, /, *positional: Any, **arguments: Any) -> Any:
        """Run a call, and wait for it; a parameter may have any name."""
        return self.call(*positional, **arguments)

    def call(self, /, *positional: Any, **arguments: Any) -> Any:
        """Run a call, and wait for it."""
        own, ctx = _own(arguments)
        given = _arguments(positional, arguments)
        return _outcome(self._name, given, self._runner.run_sync(self._name, given, own, host=ctx))

    async def acall(self, /, *positional: Any, **arguments: Any) -> Any:
        """Run a call, as an agent asks for it."""
        own, ctx = _own(arguments)
        given = _arguments(positional, arguments)

        async def ask(call: ToolCall[Any]) -> bool:
            asked = to_json_text(question := question_about(call))
            event = InputRequiredEvent(prefix=question["question"], **question)
            answer = await ctx.wait_for_event(HumanResponseEvent, waiter_event=event, waiter_id=asked)
            return is_agreement(answer.response)

        confirm = None if ctx is None else ask
        result = await self._runner.run(self._name, given, own, host=ctx, confirm=confirm)
        return _outcome(self._name, given, result)


class RegistryRetriever(ObjectRetriever[Any]):
    """The tools of a registry for `tool_retriever` of an agent: those that are switched on at each step.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: as for `to_tool`.
        executor: what runs the calls; its registry has these tools.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, the
            agent's workflow waits for a `HumanResponseEvent`, whose response "yes" agrees.
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
        **native: Any,
    ) -> None:
        # Nothing of its base is used: it looks nodes up in an index.
        self._runner = runner_of(tools, context, executor, _OPTIONS, confirm)
        self._native = native

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._runner.executor.registry

    def retrieve(self, str_or_query_bundle: Any = "") -> list[Any]:  # noqa: ARG002  # as it is called
        """Return tools for those that are switched on now, whatever the question is."""
        return [OperatorTool(tool, self._runner, self._native) for tool in self.registry.offered()]

    async def aretrieve(self, str_or_query_bundle: Any = "") -> list[Any]:
        """Do what `retrieve` does."""
        return self.retrieve(str_or_query_bundle)


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    confirm: Confirm | None = None,
    **native: Any,
) -> Any:
    """Return a tool of LlamaIndex.

    Args:
        tool: one of ours.
        context: what your program injects, by type or by name; or a plain function that takes the agent's
            `Context` (None outside of an agent) and returns that. The `Context` is there anyway, by its type.
        executor: what runs the calls, for limits of your own; it has this tool.
        confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`. By default, the
            agent's workflow waits for a `HumanResponseEvent`, whose response "yes" agrees.
        native: what `ToolMetadata` takes: `return_direct`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    return OperatorTool(tool, runner_of_one(tool, context, executor, _OPTIONS, confirm), native)


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
    return RegistryRetriever(tools, context=context, executor=executor, confirm=confirm, **native).retrieve()


def _anything(**arguments: Any) -> dict[str, Any]:
    """Stand for the function: LlamaIndex looks at its signature, and so gives each argument by its name."""
    return arguments


def _own(arguments: dict[str, Any]) -> tuple[dict[Any, Any], Any]:
    ctx = arguments.pop(_CONTEXT, None)
    return ({} if ctx is None else {WorkflowContext: ctx}), ctx


def _arguments(positional: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Return the arguments; a single one by position is all of them, as a model sent it."""
    return positional[0] if len(positional) == 1 and not arguments else arguments


def _outcome(name: str, arguments: Any, result: ToolResult) -> Any:
    raised = (result.details or {}).get("exception") if result.is_error else None
    value = result.value
    native = [value] if isinstance(value, _BLOCKS) else value if _are_blocks(value) else None
    return ToolOutput(
        tool_name=name,
        blocks=[_block(part) for part in result.parts] if native is None else native,
        raw_input=arguments if isinstance(arguments, dict) else {"input": arguments},
        raw_output=result.content if result.is_error else value,
        is_error=result.is_error,
        exception=raised if isinstance(raised, Exception) else None,
    )


def _are_blocks(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, _BLOCKS) for one in value)  # pyright: ignore[reportUnknownVariableType]  # of whatever is in it


def _block(part: Part) -> Any:
    if isinstance(part, Image):
        return ImageBlock(image=part.data, image_mimetype=part.media_type)
    if isinstance(part, Audio):
        return AudioBlock(audio=part.data, format=part.media_type.rpartition("/")[2])
    if isinstance(part, File):
        return DocumentBlock(data=part.data, document_mimetype=part.media_type, title=part.name)
    return TextBlock(text=part.as_text())
