"""The whole documentation of a tool, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from .neutral import has_parameters, parameters_of

if TYPE_CHECKING:
    from .tool import Tool

__all__ = ["documentation_of"]


def documentation_of(tool: Tool[..., Any], *, with_summaries: bool = False) -> str:
    """Write the whole documentation of a tool as Markdown.

    Args:
        tool: any tool.
        with_summaries: whether to list parameters that have a summary alone; a model has those already.
    """
    parts = [f"## {tool.name}", tool.summary, tool.details or ""]
    if tool.examples:
        parts.append("### Examples")
        parts += [_code(example) for example in tool.examples]
    known = parameters_of(tool) if has_parameters(tool) else []
    shown = {"description", "examples", *(("summary",) if with_summaries else ())}
    described = [(name, parameter) for name, parameter in known if not shown.isdisjoint(parameter)]
    if described:
        parts.append("### Parameters")
    for name, parameter in described:
        parts += [f"#### `{name}`", parameter.get("summary", ""), parameter.get("description", "")]
        parts += [_code(example) for example in parameter.get("examples", ())]
    return "\n\n".join([part for part in parts if part])


def _code(value: Any) -> str:
    text = to_json_text(value)
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}json\n{text}\n{fence}"
