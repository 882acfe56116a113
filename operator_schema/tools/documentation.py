"""The whole documentation of a tool, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object, to_json_text
from .neutral import has_parameters, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tool import Tool

__all__ = ["documentation_of"]


def documentation_of(tool: Tool[..., Any], *, with_summaries: bool = False) -> str:
    """Write the whole documentation of a tool as Markdown.

    Args:
        tool: any tool.
        with_summaries: whether to list what a model has already: parameters that have a summary alone, and
            the fields inside of parameters.
    """
    parts = [f"## {tool.name}", tool.summary, tool.details or ""]
    if tool.examples:
        parts.append("### Examples")
        parts += [_code(example) for example in tool.examples]
    known = parameters_of(tool) if has_parameters(tool) else []
    if with_summaries:
        nested = [each for name, parameter in known for each in _all_in(name, parameter)]
        # Members of a union often have a field of the same name and description.
        by_text = {(path, told.get("summary"), told.get("description")): told for path, told in nested}
        known = [(path, told) for (path, _, _), told in by_text.items()]
    shown = {"description", "examples", *(("summary",) if with_summaries else ())}
    described = [(name, parameter) for name, parameter in known if not shown.isdisjoint(parameter)]
    if described:
        parts.append("### Parameters")
    for name, parameter in described:
        parts += [f"#### `{name}`", parameter.get("summary", ""), parameter.get("description", "")]
        parts += [_code(example) for example in parameter.get("examples", ())]
    return "\n\n".join([part for part in parts if part])


def _all_in(path: str, parameter: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """List a parameter and all fields inside of it, by paths such as `lines[].price`."""
    yield path, parameter
    yield from _inside(path, parameter)


def _inside(path: str, parameter: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for member in parameter.get("anyOf", ()):
        yield from _inside(path, member)
    for name, field in parameter.get("properties", {}).items():
        yield from _all_in(f"{path}.{name}", field)
    for index, item in enumerate(parameter.get("prefixItems", ())):
        yield from _all_in(f"{path}[{index}]", item)
    for keyword, step in (("items", "[]"), ("additionalProperties", ".*")):
        if is_object(parameter.get(keyword)):
            yield from _all_in(path + step, parameter[keyword])


def _code(value: Any) -> str:
    text = to_json_text(value)
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}json\n{text}\n{fence}"
