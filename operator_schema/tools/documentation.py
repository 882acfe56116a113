"""The whole documentation of a tool, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .neutral import has_parameters, parameters_of
from .output_type import to_json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .tool import Tool

__all__ = ["documentation_of"]


def _is_described(parameter: Mapping[str, Any]) -> bool:
    return "description" in parameter or "examples" in parameter


def documentation_of(tool: Tool[..., Any]) -> str:
    """Write the whole documentation of a tool as Markdown."""
    parts = [f"## {tool.name}", tool.summary, tool.details or ""]
    if tool.examples:
        parts.append("### Examples")
        parts += [_code(example) for example in tool.examples]
    known = parameters_of(tool) if has_parameters(tool) else []
    described = [(name, parameter) for name, parameter in known if _is_described(parameter)]
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
