"""llama-index-core: our tools as tools of its agents; needs the extra `llama-index-core`.

`to_tool` takes the option `return_direct` of `ToolMetadata`. Each call can inject the agent's `Context` by
its type. By default, the agent's workflow waits for a `HumanResponseEvent`, whose response "yes" approves a
call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .asking import ONLY_ALONE
from .base import Adapter, LiveTools, needing
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
    from .runner import Runner

__all__ = ["OperatorTool", "RegistryRetriever", "to_tool", "to_tools"]

answer_misnamed(__name__)

_CONTEXT = "operator_schema_context"
"""The keyword under which an agent passes its context; no parameter of a tool has this name."""

_ANSWERED = "operator_schema_answered"
"""Key in the store of a run: how many questions a person has answered, and the key of the last one."""
_NONE = [0, ""]

_ASKED = "operator_schema_asked"
"""Key in the store of a run: the questions that wait or were answered last, by the names of their waiters."""


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
        """Run a call of an agent."""
        given, ctx = _given(positional, arguments)
        return _outcome(given, await self._runner.run(self._name, given, ctx))


def _given(positional: tuple[Any, ...], arguments: dict[str, Any]) -> tuple[Any, Any]:
    """Return arguments and context; a single positional argument counts as all arguments of a call."""
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


async def _ask(ctx: Any, question: dict[str, Any]) -> Any:
    """Wait for an answer; because it doesn't name its call, only one question may be open."""
    if await ctx.store.get("num_tool_calls", default=1) > 1:  # an agent's calls of this turn
        return ONLY_ALONE
    event, store = InputRequiredEvent(prefix=question["question"], **question), ctx.store
    key = question["key"]
    number, last = await store.get(_ANSWERED, default=_NONE)
    if number and await _has_answer(ctx, f"{number - 1} {key}"):
        return await _after_another(ctx, last, key)
    name = f"{number} {key}"
    async with store.edit_state() as state:  # the first time: afterwards a default may give something else
        asked = state.get(_ASKED, {})
        if name not in asked:
            state[_ASKED] = {
                **{one: asked[one] for one in asked if one.startswith(f"{number} ")},
                name: question,
            }
    said = await ctx.wait_for_event(HumanResponseEvent, waiter_event=event, waiter_id=name)
    async with store.edit_state() as state:
        now, last = state.get(_ANSWERED, _NONE)
        if now == number:
            state[_ANSWERED] = [number + 1, key]
    return said.response if now == number else await _after_another(ctx, last, key)


async def _kept(ctx: Any, key: str) -> Any:
    number, _ = await ctx.store.get(_ANSWERED, default=_NONE)
    return (await ctx.store.get(_ASKED, default={})).get(f"{number - 1} {key}")


async def _after_another(ctx: Any, last: str, key: str) -> Any:
    """Refuse a call whose answer went to another call; stop silently if it is the same call again."""
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
    """Stop a call that a second answer started again while the first run continues."""
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
    kept=_kept,
    native_results=_NATIVE,
    pass_through=(WaitingForEvent,),
)
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools


class RegistryRetriever(LiveTools, ObjectRetriever[Any]):
    """The tools of a registry for `tool_retriever` of an agent: those that are switched on at each step.

    It takes the arguments of `to_tools`. The agent gets all tools, whatever the question is.
    """

    adapter = _adapter
    theirs: ClassVar[Any] = {"retriever": None, "object_node_mapping": None}  # an index, which we don't need

    def retrieve(self, str_or_query_bundle: Any = "") -> list[Any]:  # noqa: ARG002  # as it is called
        """Return tools for all that are switched on now, whatever the question is."""
        return self.current_tools()

    async def aretrieve(self, str_or_query_bundle: Any = "") -> list[Any]:  # noqa: ARG002  # as it is called
        """Return the same tools as `retrieve`."""
        return self.current_tools()
