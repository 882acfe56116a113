"""llama-index-core: our tools as tools of its agents; needs the extra `llama-index-core`.

The option of `to_tool` is that of `ToolMetadata`: `return_direct`. The agent's `Context` is there for each
call, by its type. By default, the agent's workflow waits for a `HumanResponseEvent`, whose response "yes"
agrees to a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .base import ONLY_ALONE, Adapter, LiveTools, needing
from .conversions import blocks_of, texts_of

with needing("llama_index.core", "llama-index-core 0.14 or newer", "llama-index-core"):
    from llama_index.core.base.llms.types import AudioBlock, DocumentBlock, ImageBlock, TextBlock
    from llama_index.core.objects import ObjectRetriever
    from llama_index.core.tools import FunctionTool, ToolMetadata, ToolOutput
    from llama_index.core.workflow import Context as WorkflowContext
    from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent

from ..lazy import answer_misnamed
from ..tools import Audio, File, Image

try:  # by which `ctx.wait_for_event` ends a call that waits for a person
    from workflows.runtime.types.results import WaitingForEvent
except ModuleNotFoundError:
    WaitingForEvent = None

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .base import Runner

__all__ = ["OperatorTool", "RegistryRetriever", "to_tool", "to_tools"]

answer_misnamed(__name__)

_CONTEXT = "operator_schema_context"
"""Under which an agent gives its context: no parameter of a tool has this name."""

_ANSWERED = "operator_schema_answered"
"""Key in the store of a run: how many questions a person has answered, and the key of the last one."""
_NONE = [0, ""]


class OperatorTool(FunctionTool):
    """One of our tools as a tool of LlamaIndex; made by `to_tool` and `to_tools`."""

    # A FunctionTool, since its agents give their context to no other tool.
    def __init__(self, tool: Tool[..., Any], runner: Runner, /, **native: Any) -> None:
        own = {"description": tool.definition()["description"], "name": tool.name, "fn_schema": None}
        metadata = ToolMetadata(**{**own, **native})
        metadata.get_parameters_dict = tool.input_schema
        # LlamaIndex looks at the signature of the function, and so gives each argument by its name.
        super().__init__(fn=lambda **arguments: arguments, metadata=metadata)
        self.requires_context, self.ctx_param_name = True, _CONTEXT
        self._name, self._runner = tool.name, runner

    def call(self, /, *positional: Any, **arguments: Any) -> Any:
        """Run a call, and wait for it; a parameter may have any name."""
        given, ctx = _given(positional, arguments)
        return _outcome(given, self._runner.run_sync(self._name, given, ctx))

    __call__ = call

    async def acall(self, /, *positional: Any, **arguments: Any) -> Any:
        """Run a call, as an agent asks for it."""
        given, ctx = _given(positional, arguments)
        return _outcome(given, await self._runner.run(self._name, given, ctx))


def _given(positional: tuple[Any, ...], arguments: dict[str, Any]) -> tuple[Any, Any]:
    """Return arguments and context; a single argument by position is all of them, as a model sent it."""
    ctx = arguments.pop(_CONTEXT, None)
    return positional[0] if len(positional) == 1 and not arguments else arguments, ctx


def _outcome(arguments: Any, result: ToolResult) -> Any:
    raised = (result.details or {}).get("exception") if result.is_error else None
    blocks = blocks_of(result, _BLOCKS, _text, _NATIVE) or texts_of(result, _text)
    return ToolOutput(
        tool_name=result.name,
        blocks=blocks if isinstance(blocks, list) else [blocks],
        raw_input=arguments if isinstance(arguments, dict) else {"input": arguments},
        raw_output=result.content if result.is_error else result.value,
        is_error=result.is_error,
        exception=raised if isinstance(raised, Exception) else None,
    )


def _text(text: str) -> Any:
    return TextBlock(text=text)


async def _ask(ctx: Any, question: dict[str, Any], key: str) -> Any:
    """Wait for an answer, which says nothing of the call that it is about: so there must be only one."""
    if await ctx.store.get("num_tool_calls", default=1) > 1:  # an agent's calls of this turn
        return ONLY_ALONE
    event, store = InputRequiredEvent(prefix=question["question"], **question), ctx.store
    number, last = await store.get(_ANSWERED, default=_NONE)
    if number and await _has_answer(ctx, f"{number - 1} {key}"):
        return await _after_another(ctx, last, key)
    name = f"{number} {key}"
    said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=event, waiter_id=name)
    async with store.edit_state() as state:
        now, last = state.get(_ANSWERED, _NONE)
        if now == number:
            state[_ANSWERED] = [number + 1, key]
    return said.response if now == number else await _after_another(ctx, last, key)


async def _after_another(ctx: Any, last: str, key: str) -> Any:
    """Refuse a call whose answer another call has had; leave one that is the same call, started once more."""
    if last == key:
        await _stop(ctx)
    return ONLY_ALONE


async def _has_answer(ctx: Any, name: str) -> bool:
    try:
        await ctx.wait_for_event(HumanResponseEvent, waiter_id=name)
    except WaitingForEvent:  # nobody waits under this name
        return False
    return True


async def _stop(ctx: Any) -> None:
    """Leave a call that a second answer started once more, while the first one runs: it waits for nothing."""
    never = {"operator_schema": "never"}
    await ctx.wait_for_event(HumanResponseEvent, waiter_id="never", requirements=never, timeout=None)


_NATIVE = (AudioBlock, DocumentBlock, ImageBlock, TextBlock)
_BLOCKS: Any = {
    Image: lambda part: ImageBlock(image=part.data, image_mimetype=part.media_type),
    Audio: lambda part: AudioBlock(audio=part.data, format=part.media_type.rpartition("/")[2]),
    File: lambda part: DocumentBlock(data=part.data, document_mimetype=part.media_type, title=part.name),
}

_adapter = Adapter[Any](
    "llama-index-core",
    OperatorTool,
    own=WorkflowContext,
    asks=_ask,
    native_results=_NATIVE,
    pass_through=(WaitingForEvent,),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class RegistryRetriever(LiveTools, ObjectRetriever[Any]):
    """The tools of a registry for `tool_retriever` of an agent: those that are switched on at each step.

    It takes what `to_tools` takes. The agent gets all of them, whatever the question is.
    """

    adapter = _adapter
    theirs: ClassVar[Any] = {"retriever": None, "object_node_mapping": None}  # an index, which we don't need

    def retrieve(self, str_or_query_bundle: Any = "") -> list[Any]:  # noqa: ARG002  # as it is called
        """Return tools for those that are switched on now, whatever the question is."""
        return self.made_now()

    async def aretrieve(self, str_or_query_bundle: Any = "") -> list[Any]:  # noqa: ARG002  # as it is called
        """Do what `retrieve` does."""
        return self.made_now()
