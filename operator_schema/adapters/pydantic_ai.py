"""pydantic-ai: our tools as one of its toolsets; needs the extra `pydantic-ai`.

`to_tool` returns a toolset of one tool, because only a toolset of pydantic-ai can check arguments by
itself, and `to_tools` a list with one `Toolset`, for `Agent(toolsets=to_tools(registry))`. The `RunContext`
and its `deps` are there for each call, by their types.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from .base import Adapter, LiveTools, blocks_of, native_of, needing

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
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from ..errors import DecodeError
from ..tools.results.content import Audio, File, Image, Resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.executor import Executor
    from ..tools.tool import Tool
    from .base import Context, Runner, Tools

__all__ = ["Toolset", "to_tool", "to_tools"]


def _definition(tool: Tool[..., Any], runner: Runner, /, *, is_approved: bool = False, **native: Any) -> Any:
    waits = runner.holds_back(tool) and not is_approved
    given = {key: value(tool) if callable(value) else value for key, value in native.items()}
    own = {
        "name": tool.name,
        "description": tool.definition()["description"],
        "parameters_json_schema": tool.input_schema(),
        "strict": False,  # otherwise objects are closed, or everything becomes required
        "kind": "unapproved" if waits else "function",
        "return_schema": tool.output_schema(),
    }
    return ToolDefinition(**{**own, **given})


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


def _own(ctx: Any) -> Mapping[Any, Any]:
    own: dict[Any, Any] = {} if ctx.deps is None else {type(ctx.deps): ctx.deps}
    return {**own, RunContext: ctx}


def _returned(result: ToolResult) -> Any:
    native = native_of(result.value, _NATIVE)
    if native is not None:
        return native
    blocks = blocks_of(result.parts, _BLOCKS, str)
    return result.json if blocks is None else blocks


def _binary(part: Any) -> Any:
    is_binary = isinstance(part.data, bytes)
    return BinaryContent(part.data, media_type=part.media_type) if is_binary else part.as_text()


_NATIVE = (ToolReturn, *MULTI_MODAL_CONTENT_TYPES)
_BLOCKS: Any = dict.fromkeys((Image, Audio, File, Resource), _binary)
_adapter = Adapter[Any](
    "pydantic-ai",
    _definition,
    own=_own,
    hosts=(RunContext,),
    asks="before",
    native_results=_NATIVE,
    pass_through=(ApprovalRequired, CallDeferred, ModelRetry, ToolFailed),
    options=([field.name for field in fields(ToolDefinition)], "ToolDefinition"),
)


class Toolset(LiveTools, AbstractToolset[Any]):
    """The tools of a registry, for `Agent(toolsets=[Toolset(registry)])`.

    Each step sees those that are switched on then. The model reads wrong arguments as `ModelRetry`, which
    counts against `max_retries`, and each other error as `ToolFailed`, which doesn't.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: what your program injects, by type or by name; or a plain function that takes the
            `RunContext` and returns that.
        executor: what runs the calls; its registry has these tools.
        confirm: as for `Executor`; by default, a tool with `confirm=True` is a deferred tool request.
        id: of the toolset, which durable execution asks for.
        max_retries: how often a model may correct the arguments of one tool; then the run ends.
        native: what `ToolDefinition` takes, for each tool; a function gets the tool and returns the value.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools.
    """

    adapter = _adapter

    def __init__(
        self,
        tools: Tools,
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        confirm: Confirm | None = None,
        id: str | None = None,  # noqa: A002  # its name there
        max_retries: int = 3,
        **native: Any,
    ) -> None:
        super().__init__(tools, context=context, executor=executor, confirm=confirm, **native)
        self._id, self._max_retries = id, max_retries

    @property
    def id(self) -> str | None:
        """Name of the toolset; None if it has none."""
        return self._id

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """Return the tools that are switched on now."""
        made = self.made_now(ctx, is_approved=ctx.tool_call_approved)
        return {one.name: self._tool(one) for one in made}

    def _tool(self, definition: Any) -> Any:
        validator = _Validator(self.registry[definition.name])
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=self._max_retries, args_validator=validator
        )

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:  # noqa: ARG002  # as it is called
        """Run a call.

        Raises:
            ToolFailed: it has no result.
        """
        result = await self._runner.run(name, tool_args, ctx, call_id=ctx.tool_call_id)
        if result.is_error:
            raise ToolFailed(result.content)
        return _returned(result)


def to_tool(
    tool: Tool[..., Any],
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Any:
    """Return a toolset of one tool; the arguments are those of `Toolset`.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor doesn't have this tool.
    """
    name = _adapter.to_tool(tool, context=context, executor=executor).name
    if executor is None:
        return Toolset([tool], context=context, **options)
    whole = Toolset(executor.registry, context=context, executor=executor, **options)
    return whole.filtered(lambda _ctx, definition: definition.name == name)


def to_tools(tools: Tools, /, **options: Any) -> list[Toolset]:
    """Return a list with one `Toolset`; the arguments are those of `Toolset`."""
    return [Toolset(tools, **options)]
