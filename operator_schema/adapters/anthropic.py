"""anthropic: our tools for the tool runner of its SDK; needs the extra `anthropic`.

Without the runner, use `operator_schema.providers.anthropic`, which makes requests. `to_tool` and `to_tools`
are for `Anthropic().beta.messages.tool_runner(tools=[…])`, with `is_async=True` for the runner of
`AsyncAnthropic`. Other options are more keys of the definition, such as `cache_control` and `strict`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import Adapter, needing
from .conversions import content_of

with needing("anthropic", "anthropic 2.12 or newer", "anthropic"):
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError

from ..lazy import answer_misnamed
from ..providers.tool_forms import plain_schema, without_unions
from ..tools import File, Image

if TYPE_CHECKING:
    from ..tools import Tool, ToolResult
    from .runner import Runner

__all__ = ["to_tool", "to_tools"]

answer_misnamed(__name__)


class _Shared:
    """The common base of the tools for both runners."""

    def __init__(self, tool: Tool[..., Any], runner: Runner, /, **native: Any) -> None:
        self._tool, self._runner, self._native = tool, runner, native

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self._tool.name

    def to_dict(self) -> Any:
        """Return the definition for the request."""
        examples = {"input_examples": list(self._tool.examples)} if self._tool.examples else {}
        return {**_definition(self._tool), **examples, **self._native}


def _definition(tool: Tool[..., Any]) -> dict[str, Any]:
    """Return the definition of a tool in the form of the API."""
    definition: dict[str, Any] = {**tool.definition()}
    definition["input_schema"] = plain_schema(definition["input_schema"], tool.name, "Anthropic")
    left = without_unions(definition["input_schema"], tool.name, "Anthropic")
    if left is not None:
        definition.update(description=left.described(definition["description"]), input_schema=left.schema)
    return definition


class _PlainTool(_Shared, BetaBuiltinFunctionTool):
    """A tool for the runner of `Anthropic`."""

    def call(self, input: Any) -> Any:  # noqa: A002  # its name there
        """Run a call; the runner gives no id for it."""
        return _blocks(self._runner.run_sync(self.name, input))


class _AsyncTool(_Shared, BetaAsyncBuiltinFunctionTool):
    """A tool for the runner of `AsyncAnthropic`."""

    async def call(self, input: Any) -> Any:  # noqa: A002  # its name there
        """Run a call; the runner gives no id for it."""
        return _blocks(await self._runner.run(self.name, input))


def _blocks(result: ToolResult) -> Any:
    if result.is_error:
        raise ToolError(result.content)
    return content_of(result, _BLOCKS, lambda text: {"type": "text", "text": text})


def _block(kind: str, part: Any) -> Any:
    source = {"type": "base64", "media_type": part.media_type, "data": part.base64}
    return {"type": kind, "source": source}


_DOCUMENTS = frozenset({"application/pdf", "text/plain"})
_BLOCKS: Any = {
    Image: lambda part: _block("image", part),
    File: lambda part: _block("document", part) if part.media_type in _DOCUMENTS else None,
}


def _make_tool(tool: Tool[..., Any], runner: Runner, /, *, is_async: bool = False, **native: Any) -> Any:
    return (_AsyncTool if is_async else _PlainTool)(tool, runner, **native)


_adapter = Adapter[Any]("anthropic", _make_tool, pass_through=(ToolError,))
to_tool, to_tools = _adapter.to_tool, _adapter.to_tools
