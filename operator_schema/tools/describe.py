"""A tool by which the model reads the long documentation of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ..wording import clip, escape, listed, nearest
from .documentation import documentation_of
from .function import tool
from .injection.context import WholeContext  # noqa: TC001  # the tool evaluates its annotations
from .injection.skip import skip
from .tool import Tool
from .tool_lists import tools_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["describe_tools"]

_SHOWN_NAMES = 100
_NAME_LENGTH = 64
_TEXT = "Get the full documentation of tools: what they do, their parameters and examples."


class _NotEmpty:
    """A constraint in the annotated-types vocabulary."""

    min_length = 1


def describe_tools(
    tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]],
    /,
    *,
    name: str = "describe_tools",
) -> Tool[[list[str]], str]:
    """Make the tool that gives the long documentation of the named tools.

    Name it to the other tools by `with_(described_by=…)`; a `Registry` does so by itself. Their
    definitions then contain summaries alone, and their errors say how to call this tool.

    Args:
        tools: tools, or name to tool. They are read at every call, so that a registry may change.
        name: by which the model calls it.

    Returns:
        A tool that takes the names of at least one tool and returns Markdown.

    Raises:
        SchemaError: the name is refused by providers.
        TypeError: something isn't a tool.
    """
    source: Any = tools if hasattr(tools, "__len__") or isinstance(tools, Tool) else list(tools)
    tools_of(source)  # raises now, and not at a call of the model

    def describe(
        tools: Annotated[list[str], _NotEmpty, "Names of the tools to describe."],
        _whole_context: Annotated[WholeContext | None, skip] = None,
    ) -> str:
        # A registry offers those tools that the model may call.
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
    shown = clip(escape(name), _NAME_LENGTH)
    return f"{shown} (did you mean {near}?)" if near else shown
