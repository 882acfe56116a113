"""Which tools has a toolset or a registry by name, with its settings for each?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ..errors import DuplicateToolError, ToolNotFoundError
from ..immutable import Value
from ..message_text import quote, received
from ..tools.logs import WARNING, write_log
from ..tools.metadata import NO_CONTEXT, check_switch, question_of
from ..tools.options import style_in
from ..tools.tool import Tool
from ..tools.tool_sources import places_of, tools_of, warn_if_undescribed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from ..schema.style import SchemaStyle, StyleOptions
    from ..tools.metadata import Switch
    from ..tools.tool import ToolDefinition

    Context: TypeAlias = "Mapping[Any, Any]"
    Member: TypeAlias = "Tool[..., Any] | NamedTools | Iterable[Any] | Mapping[str, Any]"

Selector: TypeAlias = "str | Tool[..., Any]"
"""How to choose a tool: by its name, or by the tool itself."""

Selection: TypeAlias = "str | Tool[..., Any] | NamedTools | list[Any] | tuple[Any, ...]"
"""How to choose tools: by a name, a tool, a toolset or registry (for all its tools), or a list of these."""

_SUGGESTED = 3
"""How many similar names an error suggests."""


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


class SwitchedTools:
    """The tools of a toolset with their switches; immutable.

    Args:
        named: the entries by name, in the order of registration.

    Attributes:
        tools: the tools by name.
        describer: the name of the tool that gives the long documentation of the others, or None.
        unfound: the names of the tools that aren't listed until a search finds them; the model may call them.
    """

    __slots__ = ("tools", "describer", "unfound", "_entries", "_answers", "_shown")

    def __init__(self, named: dict[str, ToolEntry]) -> None:
        self._entries = named
        self.tools = {name: entry.tool for name, entry in named.items()}
        self.describer = next((name for name, tool in self.tools.items() if tool.describes_tools), None)
        self.unfound = frozenset([name for name, entry in named.items() if entry.found is False])
        # Filled on demand: by describing tool, or by whether a request asks, and then by the tool's own name.
        # Two threads may write the same entry twice. Without the GIL, CPython 3.13 needs no lock for the name
        # of a function. For a tuple, `get` would lock twice, and the second lock would wait for the first.
        self._shown: dict[str | None, dict[str, Tool[..., Any]]] = {}
        self._answers: dict[bool, dict[str, bool | Callable[[Context], bool]]] = {False: {}, True: {}}

    def called(
        self, name: str, context: Context | None, *, asked_for: bool
    ) -> tuple[Tool[..., Any], bool] | None:
        """Return the tool with a name as the model sees it, and whether a call of it may run.

        Args:
            name: the name in the call; if no tool has it, the result is None.
            context: the context for switches that take one.
            asked_for: whether a request offered the tool; then it may run even if it is hidden.
        """
        if name not in self.tools:
            return None
        describer = self.describer
        tool = self.shown(name, describer if describer is None else self.described_by(context))
        may_run = self.is_enabled(name, context)
        if not may_run and asked_for:
            may_run = self.is_enabled(name, context, asked_for=True)
        return tool, may_run

    def offered(self, context: Context | None) -> list[str]:
        """List the names of the tools that the model may call and that need no search first."""
        return [name for name in self.tools if name not in self.unfound and self.is_offered(name, context)]

    def is_offered(self, name: str, context: Context | None, *, asked_for: bool = False) -> bool:
        """Return whether the model may call a tool, as `is_enabled` does; False if the switch fails."""
        try:
            return self.is_enabled(name, context, asked_for=asked_for)
        except Exception as error:  # noqa: BLE001  # a switch is your program's own code
            write_log(WARNING, "%s: its switch failed, so it counts as disabled", name, error=error)
            return False

    def is_enabled(self, name: str, context: Context | None, *, asked_for: bool = False) -> bool:
        """Return whether the model may call a tool; if a request asked for it, it may be hidden."""
        known = self._answers[asked_for]
        try:
            answer = known[name]
        except KeyError:
            answer = question_of(self.switch_of(name, asked_for=asked_for))
            known[self.tools[name].name] = answer
        if isinstance(answer, bool):
            return answer
        return answer(NO_CONTEXT if context is None else context)

    def switch_of(self, name: str, *, asked_for: bool = False) -> Switch:
        """Return the switch of a tool: False if it is hidden and no request asks for it."""
        entry = self._entries[name]
        if entry.is_hidden and not asked_for:
            return False
        own = entry.tool.enabled if entry.switch is None else entry.switch
        return True if own is None else own

    def described_by(self, context: Context | None) -> str | None:
        """Return the name of the tool that now gives the long documentation, or None."""
        name = self.describer
        return name if name is not None and self.is_offered(name, context) else None

    def shown(self, name: str, described_by: str | None) -> Tool[..., Any]:
        """Return a tool as the model sees it: with a short description if another tool has the long one."""
        try:
            return self._shown[described_by][name]
        except KeyError:
            tool = self.tools[name]
        if described_by is not None and tool.described_by is None and not tool.describes_tools:
            tool = tool.with_(described_by=described_by)
        self._shown.setdefault(described_by, {})[tool.name] = tool
        return tool

    def definition(self, name: str, described_by: str | None, style: SchemaStyle | None) -> ToolDefinition:
        """Return the definition of a tool as the model sees it; the caller may change it."""
        return self.shown(name, described_by).definition_in(style)


class NamedTools:
    """Tools that can be looked up by name: in a toolset, or in a registry, which holds one."""

    __slots__ = ()

    if TYPE_CHECKING:
        _named: Mapping[str, ToolEntry]

        @property
        def switched_tools(self) -> SwitchedTools:
            """The tools with their switches, for the rest of this package."""
            ...

        @property
        def toolset(self) -> NamedTools:
            """The current tools, as one immutable value."""
            ...

    @property
    def hooks(self) -> Any:
        """The hooks of the tools themselves; None without any."""
        return self.toolset.hooks

    @property
    def entries(self) -> tuple[ToolEntry, ...]:
        """The tools, each with its settings here, in order."""
        return tuple(self._named.values())

    def __entries__(self) -> tuple[ToolEntry, ...]:
        """Return the entries that this object contributes to another set of tools."""
        return self.entries

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in order."""
        return tuple(self._named)

    @property
    def listed_names(self) -> tuple[str, ...]:
        """The names of the tools that a request offers without asking for them, if they are switched on."""
        return self.toolset.listed_names

    @property
    def selector_type(self) -> Any:
        """A `Literal` of the names, for fields in which a person or program chooses a tool.

        Its JSON Schema is an `enum`, and decoding an unknown name suggests the nearest one.

        Raises:
            ValueError: there are no tools.
        """
        if not self._named:
            message = "a toolset without tools has no names to choose from"
            raise ValueError(message)
        return Literal[self.names]

    def __contains__(self, selector: object) -> bool:
        if isinstance(selector, NamedTools):
            return all(tool in self for tool in selector)
        if not isinstance(selector, (str, Tool)):
            return False
        return bool(self._all_names_of(selector))  # pyright: ignore[reportUnknownArgumentType]  # a tool of whatever type

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter([entry.tool for entry in self.entries])  # a copy, since a registry may change meanwhile

    def __len__(self) -> int:
        return len(self._named)

    # --- finding a tool -----------------------------------------------------------------------------

    def __getitem__(self, selector: Selector, /) -> Tool[..., Any]:
        """Return a tool, under the name that it has in this toolset.

        Args:
            selector: the name of the tool; or a tool, also under the name that it had in a nested toolset.

        Raises:
            ToolNotFoundError: there is no such tool; the error has the nearest names.
            ValueError: the tool has several names here, or another tool has its name.
        """
        known = self._named.get(selector) if type(selector) is str else None
        return self._named[self.name_of(selector)].tool if known is None else known.tool

    def name_of(self, selector: Selector, /) -> str:
        """Return the name that a tool has in this toolset.

        Args:
            selector: as for `toolset[…]`.

        Raises:
            ToolNotFoundError: there is no such tool; the error has the nearest names.
            ValueError: the tool has several names here, or another tool has its name.
        """
        names = self._all_names_of(selector)
        if len(names) == 1:
            return names[0]
        if names:
            message = f"this toolset has the tool as {' and '.join(names)}: give the name that you mean"
            raise ValueError(message)
        name = selector.name if isinstance(selector, Tool) else selector
        if name in self._named:
            message = (
                f"here, {quote(name)} is a different tool with the same name: if you mean it, give its name"
            )
            raise ValueError(message)
        raise _not_found(name, list(self._named))

    def names_of(self, *selections: Selection) -> list[str]:
        """List the names that tools have here, in the order of the selections.

        Args:
            selections: names, tools, toolsets, registries, and lists of these. The tools of a toolset that is
                nested here have the names under which it is nested; the tools of any other toolset are looked
                up one by one.

        Raises:
            ToolNotFoundError: there is no such tool; the error has the nearest names.
            ValueError: a tool has several names here, or another tool has its name.
        """
        found: list[str] = []
        for selection in selections:
            if isinstance(selection, (list, tuple)):
                found += self.names_of(*selection)
            elif isinstance(selection, NamedTools):
                here = self.names_from(selection) or {}
                for there in selection.names:
                    found += here.get(there) or (self.name_of(selection[there]),)
            else:
                found.append(self.name_of(selection))
        return found

    def names_from(self, toolset: NamedTools, /) -> dict[str, tuple[str, ...]] | None:
        """Return the names that the tools of another toolset have here.

        Args:
            toolset: this toolset, one that is nested in it, or one that it was made from.

        Returns:
            The names here by the names in that toolset, for the tools that exist here. A tool has several
            names if the toolset is nested under several prefixes. None if that toolset isn't part of this
            one.
        """
        toolset = toolset.toolset
        if toolset == self.toolset:
            return {there: (here,) for there, here in zip(toolset.names, self.names, strict=True)}
        found: dict[str, tuple[str, ...]] = {}
        is_meant: dict[int, bool] = {}  # by the id of a toolset: comparing two of them takes long
        for entry in self.entries:
            for source in entry.sources:
                place = id(source.toolset)
                if place not in is_meant:
                    is_meant[place] = source.toolset == toolset
                if is_meant[place] and entry.name not in found.get(source.name, ()):
                    found[source.name] = (*found.get(source.name, ()), entry.name)
        return found or None

    def is_hidden(self, selector: Selector, /) -> bool:
        """Return whether a tool is left out of every request that doesn't ask for it.

        Raises:
            ToolNotFoundError: there is no such tool.
        """
        return not self._named[self.name_of(selector)].is_listed

    def _all_names_of(self, selector: object) -> list[str]:
        """List the names that a tool has here; none if it isn't here."""
        if isinstance(selector, str):
            return [selector] if selector in self._named else []
        if not isinstance(selector, Tool):
            message = f"choose a tool by its name or by the tool itself, not by {received(selector)}"
            raise TypeError(message)
        own = self._named.get(selector.name)  # pyright: ignore[reportUnknownMemberType]  # a tool of whatever type
        if own is not None and own.tool == selector:
            return [selector.name]  # pyright: ignore[reportUnknownMemberType]  # as above
        return [
            entry.name
            for entry in self.entries
            if any(source.toolset[source.name] == selector for source in entry.sources)
        ]

    def _names_to_switch(self, tools: tuple[Selection, ...], enabled: Switch | None) -> list[str]:
        """List the names of those tools that have another switch now."""
        if enabled is not None:
            check_switch(enabled)
        if not tools:
            message = "switch needs the tools: switch(search, enabled=False)"
            raise TypeError(message)
        return [name for name in self.names_of(*tools) if self._named[name].switch is not enabled]

    # --- tools that the model may call --------------------------------------------------------------

    def shown(self, selector: Selector, /, *, context: Context | None = None) -> Tool[..., Any]:
        """Return a tool as the model sees it; if another tool describes it, its errors name that tool.

        Args:
            selector: as for `toolset[…]`.
            context: as for `offered`.

        Raises:
            ToolNotFoundError: there is no such tool; tools that are switched off aren't suggested.
        """
        tools = self.switched_tools
        if isinstance(selector, str) and selector not in tools.tools:
            raise _not_found(selector, tools.offered(context))
        return tools.shown(self.name_of(selector), tools.described_by(context))

    def is_enabled(self, selector: Selector, /, *, context: Context | None = None) -> bool:
        """Return whether the model may call a tool now.

        Args:
            selector: as for `toolset[…]`.
            context: as for `offered`.

        Raises:
            ToolNotFoundError: there is no such tool.
            Exception: the switch of the tool raised it.
        """
        return self.switched_tools.is_enabled(self.name_of(selector), context)

    def is_offered(self, selector: Selector, /, *, context: Context | None = None) -> bool:
        """Return whether `offered` lists a tool: it is enabled, and no search has to find it first.

        Args:
            selector: as for `toolset[…]`.
            context: as for `offered`.

        Raises:
            ToolNotFoundError: there is no such tool.
            Exception: the switch of the tool raised it.
        """
        tools, name = self.switched_tools, self.name_of(selector)
        return name not in tools.unfound and tools.is_enabled(name, context)

    def offered(self, *, context: Context | None = None) -> list[Tool[..., Any]]:
        """List the tools that the model may call now, as it sees them.

        Args:
            context: the context for switches that take one: the same as the executor gets for the calls.
        """
        tools = self.switched_tools
        describer = tools.described_by(context)
        return [tools.shown(name, describer) for name in tools.offered(context)]

    def definitions(
        self, *, context: Context | None = None, **options: Unpack[StyleOptions]
    ) -> list[ToolDefinition]:
        """List name, description and input schema of the tools that the model may call now.

        Schemas are made once; switches are checked every time. If the switch of a tool raises an exception,
        the tool is left out, and the logger `operator_schema` gets a warning.

        Args:
            context: as for `offered`.
            inline, boolean_schemas, empty_schemas: as for `json_schema`.

        Returns:
            A new dict for each tool, as `Tool.definition` returns it, in order.
        """
        style = style_in(options)
        return [tool.definition_in(style) for tool in self.offered(context=context)]


def _not_found(name: str, names: list[str]) -> ToolNotFoundError:
    """Return the error for an unknown name, with the nearest names."""
    from ..similar_names import nearest_names

    return ToolNotFoundError(name, nearest_names(name, names, _SUGGESTED))
