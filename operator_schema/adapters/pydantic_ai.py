"""pydantic-ai: our tools as one of its toolsets; needs the extra `pydantic-ai`.

`to_tool` returns a toolset of one tool, because only a toolset of pydantic-ai can check arguments by
itself, and `to_tools` a list with one `Toolset`, for `Agent(toolsets=to_tools(registry))`. Each call can
inject the `RunContext` and its `deps` by their types.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from .asking import of_the_tool, refusal_of
from .base import Adapter, LiveTools, T, in_list, needing, with_state
from .conversions import blocks_of, data_of, output_class, with_change_line

with needing("pydantic_ai", "pydantic-ai-slim 2.68 or newer", "pydantic-ai"):
    from pydantic_ai import (
        ApprovalRequired,
        BinaryContent,
        CallDeferred,
        ModelRetry,
        RunContext,
        ToolDefinition,
        ToolFailed,
        ToolReturn,
        UserError,
    )
    from pydantic_ai.messages import MULTI_MODAL_CONTENT_TYPES, ToolCallPart
    from pydantic_ai.toolsets import AbstractToolset, FilteredToolset, ToolsetTool

from ..errors import DecodeError
from ..json_values import copy_json
from ..lazy import answer_misnamed
from ..tools import Audio, File, Image, Resource

if TYPE_CHECKING:
    from ..tools import Tool
    from .runner import Runner

__all__ = ["Toolset", "output_type", "to_tool", "to_tools"]

answer_misnamed(__name__)


def output_type(cls: type[T], /) -> type[T]:
    """Return a class for `Agent(output_type=…)`; the output of a run is a `cls`.

    Args:
        cls: a class whose JSON is an object, such as a dataclass.

    Raises:
        SchemaError: its fields can't be read.
        TypeError: its JSON isn't an object.
    """
    return output_class(cls, ModelRetry)


class _FittingArguments(dict[str, Any]):
    """Arguments that fit, as hooks of pydantic-ai see them.

    Attributes:
        wrote: the arguments as the model wrote them.
        before: a copy of the fitting arguments, made before hooks could change them.
    """

    def __init__(self, arguments: Any, wrote: Any) -> None:
        super().__init__(arguments)
        self.wrote, self.before = wrote, copy_json(arguments)


class _Validator:
    """Checks arguments with our decoder; the result is JSON again, because hooks and approvals read it."""

    def __init__(self, tool: Tool[..., Any], *, asks: bool) -> None:
        self._tool, self._asks = tool, asks

    def validate_python(self, arguments: Any, **_: Any) -> Any:
        """Check arguments, as JSON text or as values."""
        try:
            report = self._tool.decode_to_run(arguments)
            if self._asks:  # a hook may have a person asked about what this returns
                self._tool.check_as_sent(report.findings, arguments)
            checked = self._tool.encode_input(report.instance)
        except DecodeError as error:
            raise ModelRetry(str(error)) from None
        return _FittingArguments(checked, arguments) if self._asks else checked

    validate_json = validate_python


def _binary(part: Any) -> Any:
    data, kind = part.data, part.media_type
    return BinaryContent(data, media_type=kind) if isinstance(data, bytes) else part.as_text()


_NATIVE = (ToolReturn, *MULTI_MODAL_CONTENT_TYPES)
_BLOCKS: Any = dict.fromkeys((Image, Audio, File, Resource), _binary)


class _GivenAsToolset:
    """A toolset that explains itself if it is given to pydantic-ai in place of a function."""

    def __getattr__(self, name: str) -> NoReturn:
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name == "__name__":
            message = "this is a toolset of pydantic-ai, not a function: write Agent(toolsets=…), not tools=…"
        raise AttributeError(message, name=name)


class Toolset(_GivenAsToolset, LiveTools, AbstractToolset[Any]):
    """The tools of a registry, for `Agent(toolsets=[Toolset(registry)])`.

    Each step sees the tools that are switched on at that time. Wrong arguments reach the model as
    `ModelRetry`, and every other error as `ToolFailed`.

    It takes the arguments of `to_tools`; `id`, which durable execution needs; `max_retries`, how often a
    model may correct the arguments of one tool before the run ends (3); and options of `ToolDefinition`, for
    each tool, or functions that get the tool and return the value.
    """

    theirs: ClassVar[Any] = {"id": None, "max_retries": 3}

    def begin(self, **theirs: Any) -> None:
        """Remember the options of the toolset."""
        self._theirs = theirs

    @property
    def id(self) -> Any:
        """Name of the toolset; None if it has none."""
        return self._theirs["id"]

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """Return the tools that are switched on now."""
        return {tool.name: self._toolset_tool(tool) for tool in self.offered(ctx)}

    def _toolset_tool(self, tool: Tool[..., Any]) -> Any:
        runner = self._runner

        async def ask_first(ctx: Any, /, **_: Any) -> None:
            _, part = _written(ctx)
            if part is None or ctx.tool_call_approved:
                return
            question = await runner.question(tool.name, part.args, ctx, call_id=ctx.tool_call_id)
            if question is not None and question["ignored"]:
                raise ModelRetry(refusal_of(question["ignored"]))
            if question is not None:
                _ask(ctx, question)

        own = {
            "name": tool.name,
            "description": tool.definition()["description"],
            "parameters_json_schema": tool.input_schema(),
            "strict": False,  # otherwise objects are closed, or everything becomes required
            # Calls of another kind wait before our function, and so a hook, could decide about them.
            "kind": "unapproved" if runner.holds_back(tool) and not runner.executor.has_hooks else "function",
            "return_schema": tool.output_schema(),
        }
        native = {key: value(tool) if callable(value) else value for key, value in self._native.items()}
        definition = ToolDefinition(**{**own, **native})
        made: Any = {"tool_def": definition, "args_validator": _Validator(tool, asks=runner.may_wait(tool))}
        if definition.kind == "unapproved":
            made["args_validator_func"] = ask_first
        return ToolsetTool(toolset=self, max_retries=self._theirs["max_retries"], **made)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:  # noqa: ARG002  # as it is called
        """Run a call.

        Raises:
            ToolFailed: the call has no result.
        """
        arguments: Any = tool_args
        if isinstance(tool_args, _FittingArguments) and tool_args == tool_args.before:
            arguments = tool_args.wrote  # with keys that the tool doesn't know
        result = await self._runner.run(name, arguments, _with_own(ctx, tool_args), call_id=ctx.tool_call_id)
        if result.is_error:
            raise ToolFailed(result.content)
        if isinstance(result.value, ToolReturn):
            return with_change_line(result, "return_value")
        blocks = blocks_of(result, _BLOCKS, str, _NATIVE)
        return data_of(result) if blocks is None else blocks


class _OneOfToolset(_GivenAsToolset, FilteredToolset[Any]):
    """One tool of a toolset."""


def _make_tool(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> Any:
    return _OneOfToolset(Toolset.of(runner, native), lambda _ctx, one: one.name == tool.name)


_KEPT = "operator_schema"
"""The key in the metadata of a model's message for the questions to a person, by call; the history stores
it."""


def _ask(ctx: Any, question: dict[str, Any]) -> bool:
    """Return True if a person has agreed, else hold the call back, after hooks and the check of arguments."""
    if ctx.tool_call_approved:
        return True
    message, _ = _written(ctx)
    if message is not None:
        told = message.metadata or {}
        message.metadata = {**told, _KEPT: {**told.get(_KEPT, {}), ctx.tool_call_id: question}}
    raise ApprovalRequired(metadata=question)


def _kept(ctx: Any, _key: str) -> Any:
    """Return the stored question to a person, from the answer of the program or from the history."""
    message, _ = _written(ctx)
    told = {} if message is None else (message.metadata or {}).get(_KEPT, {})
    given = ctx.tool_call_metadata
    return given if isinstance(given, dict) and "key" in given else told.get(ctx.tool_call_id)


def _with_own(ctx: Any, tool_args: Any) -> Any:
    """Return the context of a call; if a person changed its arguments, only the tool must stay the same."""
    if not ctx.tool_call_approved or not isinstance(tool_args, _FittingArguments):
        return ctx
    _, part = _written(ctx)
    question = _kept(ctx, "")
    if part is None or question is None or part.args == tool_args.wrote:
        return ctx
    return replace(ctx, tool_call_metadata=of_the_tool(question))


def _written(ctx: Any) -> tuple[Any, Any]:
    """Return the message with a call, and the call in it; None if a worker doesn't get the history."""
    try:
        messages = ctx.messages
    except UserError:
        return None, None
    for message in reversed(messages):
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id:
                return message, part
    return None, None


_adapter = Adapter[Any](
    "pydantic-ai",
    _make_tool,
    own=with_state("deps", RunContext),
    hosts=(RunContext,),
    asks=_ask,
    kept=_kept,
    shows_call=True,
    native_results=_NATIVE,
    pass_through=(ApprovalRequired, CallDeferred, ModelRetry, ToolFailed),
    options=([*[field.name for field in fields(ToolDefinition)], *Toolset.theirs], "ToolDefinition"),
)
Toolset.adapter = _adapter
to_tool, to_tools = _adapter.to_tool, in_list(Toolset)
