"""How are the tools of a toolset or a registry found by their names?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import ToolNotFoundError
from ..message_text import quote, received
from ..tools.metadata import check_switch
from ..tools.options import style_in
from ..tools.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Unpack

    from ..schema.style import StyleOptions
    from ..tools.metadata import Switch
    from ..tools.tool import ToolDefinition
    from .switched_tools import SwitchedTools
    from .tool_entries import ToolEntry

    Context: TypeAlias = "Mapping[Any, Any]"
    Member: TypeAlias = "Tool[..., Any] | NamedTools | Iterable[Any] | Mapping[str, Any]"

Selector: TypeAlias = "str | Tool[..., Any]"
"""How to choose a tool: by its name, or by the tool itself."""

Selection: TypeAlias = "str | Tool[..., Any] | NamedTools | list[Any] | tuple[Any, ...]"
"""How to choose tools: by a name, a tool, a toolset or registry (for all its tools), or a list of these."""

_SUGGESTED = 3
"""How many similar names an error suggests."""


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
        """Return whether requests offer a tool only if they ask for it.

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
