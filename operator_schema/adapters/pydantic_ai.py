"""pydantic-ai: our tools as one of its toolsets; needs the extra `pydantic-ai`.

`to_tool` returns a toolset of one tool, because only a toolset of pydantic-ai can check arguments by
itself, and `to_tools` a list with one `Toolset`, for `Agent(toolsets=to_tools(registry))`. The `RunContext`
and its `deps` are there for each call, by their types.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from .base import Adapter, LiveTools, T, listed, needing, with_state
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
    )
    from pydantic_ai.messages import MULTI_MODAL_CONTENT_TYPES
    from pydantic_ai.toolsets import AbstractToolset, FilteredToolset, ToolsetTool

from ..errors import DecodeError
from ..lazy import answer_misnamed
from ..tools import Audio, File, Image, Resource

if TYPE_CHECKING:
    from ..tools import Tool
    from .base import Runner

__all__ = ["Toolset", "output_type", "to_tool", "to_tools"]

answer_misnamed(__name__)


def output_type(cls: type[T], /) -> type[T]:
    """Return what `Agent(output_type=…)` takes; the output of a run is a `cls`.

    Args:
        cls: a class whose JSON is an object, such as a dataclass.

    Raises:
        SchemaError: its fields can't be read.
        TypeError: its JSON isn't an object.
    """
    return output_class(cls, ModelRetry)


class _Validator:
    """Checks arguments with our decoder: JSON in, JSON out, since hooks and approvals look at it."""

    def __init__(self, tool: Tool[..., Any]) -> None:
        self._tool = tool

    def validate_python(self, arguments: Any, **_: Any) -> Any:
        """Check JSON text, or arguments that are parsed."""
        try:
            return self._tool.encode_input(self._tool.decode(arguments))
        except DecodeError as error:
            raise ModelRetry(str(error)) from None

    validate_json = validate_python


def _binary(part: Any) -> Any:
    data, kind = part.data, part.media_type
    return BinaryContent(data, media_type=kind) if isinstance(data, bytes) else part.as_text()


_NATIVE = (ToolReturn, *MULTI_MODAL_CONTENT_TYPES)
_BLOCKS: Any = dict.fromkeys((Image, Audio, File, Resource), _binary)


class _GivenAsToolset:
    """A toolset; pydantic-ai asks for its `__name__` if it is given where functions belong."""

    def __getattr__(self, name: str) -> NoReturn:
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name == "__name__":
            message = "this is a toolset of pydantic-ai, not a function: write Agent(toolsets=…), not tools=…"
        raise AttributeError(message, name=name)


class Toolset(_GivenAsToolset, LiveTools, AbstractToolset[Any]):
    """The tools of a registry, for `Agent(toolsets=[Toolset(registry)])`.

    Each step sees those that are switched on then. The model reads wrong arguments as `ModelRetry`, and each
    other error as `ToolFailed`.

    It takes what `to_tools` takes: `id`, which durable execution asks for; `max_retries`, how often a model
    may correct the arguments of one tool before the run ends (3); and options of `ToolDefinition`, for each
    tool, or functions that get the tool and return the value.
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
        return {tool.name: self._made(tool) for tool in self.offered(ctx)}

    def _made(self, tool: Tool[..., Any]) -> Any:
        own = {
            "name": tool.name,
            "description": tool.definition()["description"],
            "parameters_json_schema": tool.input_schema(),
            "strict": False,  # otherwise objects are closed, or everything becomes required
            "kind": "function",
            "return_schema": tool.output_schema(),
        }
        native = {key: value(tool) if callable(value) else value for key, value in self._native.items()}
        made: Any = {"tool_def": ToolDefinition(**{**own, **native}), "args_validator": _Validator(tool)}
        return ToolsetTool(toolset=self, max_retries=self._theirs["max_retries"], **made)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:  # noqa: ARG002  # as it is called
        """Run a call.

        Raises:
            ToolFailed: it has no result.
        """
        result = await self._runner.run(name, tool_args, ctx, call_id=ctx.tool_call_id)
        if result.is_error:
            raise ToolFailed(result.content)
        if isinstance(result.value, ToolReturn):
            return with_change_line(result, "return_value")
        blocks = blocks_of(result, _BLOCKS, str, _NATIVE)
        return data_of(result) if blocks is None else blocks


class _OneOfToolset(_GivenAsToolset, FilteredToolset[Any]):
    """One tool of a toolset."""


def _made(tool: Tool[..., Any], runner: Runner, /, **native: Any) -> Any:
    return _OneOfToolset(Toolset.of(runner, native), lambda _ctx, one: one.name == tool.name)


def _ask(ctx: Any, question: dict[str, Any], _key: str) -> bool:
    """Return that a person has agreed, or hold the call back: hooks were asked, and the arguments fit."""
    if not ctx.tool_call_approved:
        raise ApprovalRequired(metadata=question)  # with the arguments that hooks have made of the model's
    return True


_adapter = Adapter[Any](
    "pydantic-ai",
    _made,
    own=with_state("deps", RunContext),
    hosts=(RunContext,),
    asks=_ask,
    native_results=_NATIVE,
    pass_through=(ApprovalRequired, CallDeferred, ModelRetry, ToolFailed),
    options=([*[field.name for field in fields(ToolDefinition)], *Toolset.theirs], "ToolDefinition"),
)
Toolset.adapter = _adapter
to_tool, to_tools = _adapter.to_tool, listed(Toolset)
