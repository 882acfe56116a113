"""What a toolset is made of: tools, whether they are off, and the toolsets that they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import DuplicateToolError
from ..immutable import Value
from ..tools.snapshot import snapshot_of
from ..tools.switches import HiddenSwitch
from ..tools.tool import Tool
from ..tools.tool_lists import places_of, tools_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..tools.registry import Registry
    from ..tools.switches import Switch
    from .toolset import Toolset

    Member: TypeAlias = "Tool[..., Any] | Toolset[Any] | Registry | Off"

__all__ = ["Entry", "Off", "Source", "entries_of", "merged", "off"]


class Off(Value):
    """A member of a toolset that the model doesn't see by default; made by `off`.

    Attributes:
        member: a tool, a toolset or a registry.
    """

    member: Any


def off(member: Tool[..., Any] | Toolset[Any] | Registry, /) -> Off:
    """Mark a member of a `Toolset` that the model doesn't see by default.

    A request may still offer it: `toolset.offer(available=DefaultPlus([…]))`.

    Args:
        member: a tool, or a toolset or registry with all its tools.
    """
    return Off(member.member if isinstance(member, Off) else member)


class Source(Value):
    """A toolset that a tool came from.

    Attributes:
        toolset: that was a member of another one, or of which another one was made.
        name: that the tool has there.
    """

    toolset: Toolset[Any]
    name: str


class Entry(Value):
    """One tool of a toolset.

    Attributes:
        tool: under the name that it has in this toolset.
        is_off: whether the model doesn't see it by default.
        switch: that its registry had for it, None to leave it to the tool.
        sources: the toolsets that it came from, the innermost first.
    """

    tool: Tool[..., Any]
    is_off: bool = False
    switch: Switch | None = None
    sources: tuple[Source, ...] = ()


def entries_of(members: Iterable[Any]) -> list[Entry]:
    """List the tools of members, those of nested toolsets in their place.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: something is neither a tool nor a collection of tools.
    """
    return list(merged([entry for member in members for entry in _entries_of(member)]).values())


def merged(entries: Iterable[Entry], *, same_is_one: bool = False) -> dict[str, Entry]:
    """Return entries by name.

    Args:
        entries: in their order.
        same_is_one: whether the same tool may be there twice; then the first entry stays.

    Raises:
        DuplicateToolError: two tools have the same name.
    """
    named: dict[str, Entry] = {}
    for entry in entries:
        name = entry.tool.name
        other = named.setdefault(name, entry)
        if other is not entry and not (same_is_one and other.tool == entry.tool):
            raise DuplicateToolError(name, places_of(other.tool, entry.tool))
    return named


def _entries_of(member: Any) -> list[Entry]:
    kind: Any = cast("Any", type(member))
    if kind is Off:
        return [entry.replace(is_off=True) for entry in _entries_of(member.member)]
    nested = getattr(kind, "__entries__", None)
    if nested is not None:
        return [_from(member, entry) for entry in nested(member)]
    if issubclass(kind, (list, tuple, set, frozenset, dict)):
        message = f"expected tools one by one: Toolset(*tools), not in a {kind.__name__}"
        raise TypeError(message)
    snapshot = None if issubclass(kind, Tool) else snapshot_of(member)
    if snapshot is None:
        return [Entry(tool) for tool in tools_of([member])]
    tools, switches = snapshot.content()
    # A tool of `describe_tools` describes its own registry.
    return [_entry(tool, switches.get(tool.name)) for tool in tools if not tool.describes_tools]


def _entry(tool: Tool[..., Any], switch: Switch | None) -> Entry:
    """Return a tool of a registry, which may have it from a toolset that hides it."""
    if isinstance(switch, HiddenSwitch):
        return Entry(tool, is_off=True, switch=switch.own)
    return Entry(tool, switch=switch)


def _from(toolset: Toolset[Any], entry: Entry) -> Entry:
    return entry.replace(sources=(*entry.sources, Source(toolset, entry.tool.name)))


def switches_of(entries: Mapping[str, Entry]) -> dict[str, Switch]:
    """Return the switches that tools have from their registries, and those of the tools that are off."""
    found: dict[str, Switch] = {}
    for name, entry in entries.items():
        switch = HiddenSwitch(entry.switch) if entry.is_off else entry.switch
        if switch is not None:
            found[name] = switch
    return found
