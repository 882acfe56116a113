"""How does a model get the long documentation of tools?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ..json_values import is_object, to_json_text
from ..message_text import listed, one_line
from ..similar_names import nearest
from .function import tool
from .injected_values import WholeContext  # noqa: TC001  # the tool evaluates its annotations
from .injection import skip
from .parameter_lists import has_parameters, parameters_of
from .tool import Tool
from .tool_sources import tools_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SHOWN_NAMES = 100
_NAME_LENGTH = 64
_TEXT = "Get the full documentation of tools: what they do, their parameters and examples."


class _NotEmpty:
    """A constraint, in the annotated-types vocabulary, that a list isn't empty."""

    min_length = 1


def describe_tools(
    tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]],
    /,
    *,
    name: str = "describe_tools",
) -> Tool[[list[str]], str]:
    """Make a tool that returns the long documentation of the named tools.

    Tell the other tools about it with `with_(described_by=…)`; a `Registry` does this itself. Their
    definitions then contain only summaries, and their errors say how to call this tool.

    Args:
        tools: tools, or name to tool. They are read again at every call, since a registry may change.
        name: the name that the model calls.

    Returns:
        A tool that takes the names of at least one tool and returns Markdown.

    Raises:
        SchemaError: the name is refused by providers.
        TypeError: something isn't a tool.
    """
    source: Any = tools if hasattr(tools, "__len__") or isinstance(tools, Tool) else list(tools)
    tools_of(source)  # raises now rather than at a call of the model

    def describe(
        tools: Annotated[list[str], _NotEmpty, "Names of the tools to describe."],
        _whole_context: Annotated[WholeContext | None, skip] = None,
    ) -> str:
        # A registry gives only the tools that the model may call.
        offered = source.offered(context=_whole_context) if hasattr(source, "offered") else source
        known = {entry.name: entry for entry in tools_of(offered)}
        return _answer(known, list(dict.fromkeys(tools)))

    made: Any = tool(_TEXT, name=name)(describe)
    return made.as_describer()  # type: ignore[no-any-return]  # callers don't see the context


def _answer(known: Mapping[str, Tool[..., Any]], names: list[str]) -> str:
    sections = [documentation_of(known[name]) for name in names if name in known and known[name].has_more]
    bare = [name for name in names if name in known and not known[name].has_more]
    unknown = [name for name in names if name not in known]
    if bare:
        sections.append(f"There is no more documentation of: {listed(bare, _SHOWN_NAMES)}")
    if unknown:
        sections.append(f"No such tool: {listed([_with_nearest(name, known) for name in unknown], 10)}")
    return "\n\n---\n\n".join(sections)


def _with_nearest(name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    shown = one_line(name, _NAME_LENGTH)
    return f"{shown} (did you mean {near}?)" if near else shown


def documentation_of(tool: Tool[..., Any], *, with_summaries: bool = False) -> str:
    """Return the whole documentation of a tool as Markdown.

    Args:
        tool: any tool.
        with_summaries: whether to include parts that the definition has already: parameters with only a
            summary, and the fields inside parameters.
    """
    parts = [f"## {tool.name}", tool.summary, tool.details or ""]
    if tool.examples:
        parts.append("### Examples")
        parts += [_code(example) for example in tool.examples]
    known = parameters_of(tool) if has_parameters(tool) else []
    if with_summaries:
        nested = [each for name, parameter in known for each in _all_in(name, parameter)]
        # Members of a union often have a field of the same name and description.
        by_text = {(path, one.get("summary"), one.get("description")): (path, one) for path, one in nested}
        known = list(by_text.values())
    shown = {"description", "examples", *(("summary",) if with_summaries else ())}
    described = [(name, parameter) for name, parameter in known if not shown.isdisjoint(parameter)]
    if described:
        parts.append("### Parameters")
    for name, parameter in described:
        parts += [f"#### `{name}`", parameter.get("summary", ""), parameter.get("description", "")]
        parts += [_code(example) for example in parameter.get("examples", ())]
    return "\n\n".join([part for part in parts if part])


def _all_in(path: str, parameter: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """List a parameter and all fields inside it, by paths such as `lines[].price`."""
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
