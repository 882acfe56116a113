"""Entries of a toolset: each tool, with the settings that the toolset has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..errors import DuplicateToolError
from ..immutable import Value
from ..tools.tool import Tool
from ..tools.tool_sources import places_of, tools_of, warn_if_undescribed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..tools.metadata import Switch


class ToolOrigin(Value):
    """A toolset that a tool came from.

    Attributes:
        toolset: a toolset that is nested in another one, or that another one was made from.
        name: the name of the tool in that toolset.
    """

    toolset: Any
    name: str


class ToolEntry(Value):
    """A tool of a toolset, with the toolset's settings for it.

    `entry.replace(is_hidden=True)` returns a changed copy; see `Toolset.map`.

    Attributes:
        tool: the tool, under the name that it has in this toolset.
        is_hidden: whether requests offer the tool only if they ask for it.
        switch: whether the model may call the tool now: a value for `switch` of a toolset; None to leave this
            to the tool.
        sources: the toolsets that the tool came from, the innermost first. The library fills this in.
        found: whether a search has found the tool; None for a tool that is offered without a search.
    """

    tool: Tool[..., Any]
    is_hidden: bool = False
    switch: Switch | None = None
    sources: tuple[ToolOrigin, ...] = ()
    found: bool | None = None

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.tool.name

    @property
    def is_listed(self) -> bool:
        """Whether lists and requests include the tool without asking for it, if it is switched on."""
        return not self.is_hidden and self.found is not False


def entries_of(members: Iterable[Any]) -> dict[str, ToolEntry]:
    """Return the tools of members by name; a nested toolset is replaced by its tools."""
    return by_name([entry for member in members for entry in _entries_of_member(member)])


def by_name(entries: Iterable[ToolEntry], *, same_is_one: bool = False) -> dict[str, ToolEntry]:
    """Return entries by name, and refuse two tools with one name.

    Args:
        entries: the tools, in order.
        same_is_one: whether the same tool may appear twice; then its first entry is kept.
    """
    named: dict[str, ToolEntry] = {}
    for entry in entries:
        other = named.setdefault(entry.tool.name, entry)
        if other is not entry and not (same_is_one and other.tool == entry.tool):
            raise DuplicateToolError(entry.tool.name, places_of(other.tool, entry.tool))
    return named


def nested(entries: Iterable[ToolEntry], toolset: Any) -> list[ToolEntry]:
    """Return the entries of a toolset for another one, in which hooks for the first one still apply."""
    return [
        entry.replace(sources=(*entry.sources, ToolOrigin(toolset, entry.tool.name))) for entry in entries
    ]


def _entries_of_member(member: Any) -> list[ToolEntry]:
    kind: Any = cast("Any", type(member))
    own_entries = getattr(kind, "__entries__", None)
    if own_entries is not None:
        return nested(own_entries(member), member.toolset)
    if issubclass(kind, (list, tuple)):
        return [entry for one in member for entry in _entries_of_member(one)]
    if issubclass(kind, (set, frozenset)):
        message = f"expected tools one by one or in a list: Toolset(*tools), not in a {kind.__name__}"
        raise TypeError(message)
    tools = tools_of(member if _holds_tools(kind, member) else [member])
    for tool in tools:
        warn_if_undescribed(tool)
    return [ToolEntry(tool) for tool in tools]


def _holds_tools(kind: Any, member: Any) -> bool:
    """Return whether an object is a mapping from names to tools, or any other iterable."""
    if issubclass(kind, (Tool, str)) or not hasattr(kind, "__iter__"):
        return False
    return not hasattr(kind, "items") or all(isinstance(one, Tool) for one in member.values())
