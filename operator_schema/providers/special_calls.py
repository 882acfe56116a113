"""Calls of custom tools, which say a text, and of searches, which find tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wire_format import custom_input, is_custom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tools import Tool, ToolResult
    from .answer import Answer
    from .tool_forms import Offered

__all__ = ["found_by", "names_found", "with_text_keys"]


def with_text_keys(answer: Answer, tools: Sequence[Tool[..., Any]]) -> Answer:
    """Return an answer in which the text of each call of a custom tool has the name of its parameter.

    Args:
        answer: with the tools' own names.
        tools: the tools in the request.
    """
    from .property_names import text_key

    codecs = {tool.name: tool.codec for tool in tools}
    calls = [
        call.replace(arguments={text_key(codecs[call.name]) or "input": custom_input(call)})
        if call.name in codecs and is_custom(call)
        else call
        for call in answer.calls
    ]
    return answer.replace(calls=tuple(calls))


def names_found(tool: Tool[..., Any]) -> Any:
    """Return the function that reads which tools a result of a `ToolSearch` names; None for other tools."""
    return getattr(getattr(tool, "__wrapped__", None), "names_found", None)


def found_by(results: Sequence[ToolResult], offered: Offered) -> dict[int, list[str]]:
    """Return place of a result to the deferred tools that it found, for the searches among the tools."""
    readers = {tool.name: names_found(tool) for tool in offered.tools}
    found: dict[int, list[str]] = {}
    for place, result in enumerate(results):
        read = readers.get(result.name)
        names: list[str] = read(result.content) if read is not None and not result.is_error else []
        known = [name for name in dict.fromkeys(names) if name in offered.deferred]
        if known:
            found[place] = known
    return found
