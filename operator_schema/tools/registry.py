"""Tools by name: which of them a model may call, and the definitions that it gets."""

from __future__ import annotations

from _thread import RLock  # `threading` itself is not needed
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import DuplicateToolError, ToolNotFoundError
from ..json_values import copy_json
from ..wording import nearest_names, received
from .awaitables import close_awaitable, is_awaitable
from .discovery import GROUP, offered_by_distributions, own_tools_of
from .log import WARNING, write_log
from .metadata import is_switch
from .signature import needs_arguments
from .tool_lists import tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType
    from typing import Self, Unpack

    from .metadata import Enabled
    from .selection import Wanted
    from .tool import Tool
    from .tool_properties import ToolDefinition

    Switch = bool | Callable[[], bool]

__all__ = ["Registry"]

AnyTool = TypeVar("AnyTool", bound="Tool[..., Any]")

_SUGGESTED = 3


class _Snapshot:
    """The content of a registry at one time; immutable.

    Attributes:
        tools: name to tool, in the order of registration.
        switches: name to the switch that the registry has for this one tool.
        enabled: the switch of tools without one of their own.
    """

    __slots__ = ("tools", "switches", "enabled", "_describer", "_definitions", "_shown")

    def __init__(
        self,
        tools: dict[str, Tool[..., Any]],
        switches: dict[str, Switch],
        enabled: Switch,
        describer: str | None,
    ) -> None:
        self.tools = tools
        self.switches = switches
        self.enabled = enabled
        self._describer = describer
        # Filled on demand, by name and describing tool; two threads may write the same entry twice.
        self._shown: dict[tuple[str, str | None], Tool[..., Any]] = {}
        self._definitions: dict[tuple[str, str | None], ToolDefinition] = {}

    def switch_of(self, name: str) -> Switch:
        own: Enabled = self.switches.get(name)
        if own is None:
            own = self.tools[name].enabled
        return self.enabled if own is None else own

    def is_enabled(self, name: str) -> bool:
        switch = self.switch_of(name)
        return _asked(switch) if callable(switch) else switch

    def is_offered(self, name: str) -> bool:
        """Return whether a tool is enabled; one whose switch fails isn't."""
        try:
            return self.is_enabled(name)
        except Exception as error:  # noqa: BLE001  # a switch is your program's own code
            write_log(WARNING, "%s: its switch failed, so it counts as disabled", name, error=error)
            return False

    def offered(self) -> list[str]:
        return [name for name in self.tools if self.is_offered(name)]

    def described_by(self) -> str | None:
        """Return the name of the tool that gives the long documentation now, or None."""
        name = self._describer
        return name if name is not None and self.is_offered(name) else None

    def shown(self, name: str, described_by: str | None) -> Tool[..., Any]:
        key = name, described_by
        tool = self._shown.get(key)
        if tool is None:
            tool = self.tools[name]
            if described_by is not None and tool.described_by is None and not tool.describes_tools:
                tool = tool.with_(described_by=described_by)
            self._shown[key] = tool
        return tool

    def definition(self, name: str, described_by: str | None) -> ToolDefinition:
        key = name, described_by
        definition = self._definitions.get(key)
        if definition is None:
            definition = self._definitions[key] = self.shown(name, described_by).definition()
        copied: ToolDefinition = copy_json(definition)
        return copied


class Registry:
    """Tools by name, in the order of their registration.

    A registry may be read and changed by any number of threads at once: a reader sees it before a
    change or after it. With a tool of `describe_tools` among them, the definitions of the others have
    their summary alone, and their errors mention that tool.

    Args:
        tools: the first tools, or a mapping from the name of each to the tool.
        enabled: whether the model may call the tools without a switch of their own: a boolean, or a
            function without parameters that is called every time.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: something isn't a tool, a key isn't the name of its tool, or `enabled` is neither.
    """

    __slots__ = ("_describers", "_enabled", "_lock", "_snapshot", "_switches", "_tools", "__weakref__")

    def __init__(
        self,
        tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]] = (),
        /,
        *,
        enabled: Switch = True,
    ) -> None:
        self._lock = RLock()
        self._tools: dict[str, Tool[..., Any]] = {}
        self._switches: dict[str, Switch] = {}
        self._describers: list[str] = []
        self._enabled = _checked_switch(enabled)
        # Made at the first read after a change, so that registering one by one takes no copy each.
        self._snapshot: _Snapshot | None = None
        self.merge(tools)

    @property
    def _entries(self) -> _Snapshot:
        entries = self._snapshot
        if entries is None:
            with self._lock:
                describer = self._describers[0] if self._describers else None
                entries = _Snapshot(dict(self._tools), dict(self._switches), self._enabled, describer)
                self._snapshot = entries
        return entries

    # --- changes ---------------------------------------------------------------------------------

    def register(self, tool: AnyTool, /) -> AnyTool:
        """Add a tool; also as a decorator above `@tool`.

        Returns:
            The tool.

        Raises:
            DuplicateToolError: its name is taken.
            TypeError: it isn't a tool.
        """
        self._add(tools_of([tool]), {})
        return tool

    def unregister(self, name: str, /) -> Tool[..., Any]:
        """Remove a tool.

        Returns:
            The tool.

        Raises:
            ToolNotFoundError: there is none of this name.
        """
        with self._lock:
            tool = self.get(name)
            del self._tools[name]
            self._switches.pop(name, None)
            if name in self._describers:
                self._describers.remove(name)
            self._snapshot = None
        return tool

    def merge(self, *others: Registry | Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]]) -> Self:
        """Add all tools of others, or none if two would have the same name.

        The switches of another registry go with its tools. A tool of `describe_tools` describes
        its own registry, so it isn't added.

        Returns:
            This registry.

        Raises:
            DuplicateToolError: two tools have the same name.
            TypeError: something isn't a tool.
        """
        added: list[Tool[..., Any]] = []
        switches: dict[str, Switch] = {}
        for other in others:
            if isinstance(other, Registry):
                tools, own = other._content()  # noqa: SLF001  # its own class
                switches.update(own)
                added += tools
            else:
                added += tools_of(other)
        self._add(added, switches)
        return self

    def switch(self, name: str, /, *, enabled: Switch | None) -> None:
        """Set whether the model may call one tool, whatever the tool itself says.

        Args:
            name: of the tool.
            enabled: a boolean, or a function that is called every time; None leaves it to the tool
                and then to the registry, as before.

        Raises:
            ToolNotFoundError: there is none of this name.
            TypeError: `enabled` is neither.
        """
        if enabled is not None:
            _checked_switch(enabled)
        with self._lock:
            self.get(name)
            if enabled is None:
                self._switches.pop(name, None)
            else:
                self._switches[name] = enabled
            self._snapshot = None

    @property
    def enabled(self) -> Switch:
        """Whether the model may call the tools without a switch of their own."""
        return self._enabled

    @enabled.setter
    def enabled(self, enabled: Switch) -> None:
        _checked_switch(enabled)
        with self._lock:
            self._enabled = enabled
            self._snapshot = None

    def _add(self, added: list[Tool[..., Any]], switches: Mapping[str, Switch]) -> None:
        with self._lock:
            named: dict[str, Tool[..., Any]] = {}
            for tool in added:
                other = self._tools.get(tool.name) or named.get(tool.name)
                if other is not None:
                    raise DuplicateToolError(tool.name, _places_of(other, tool))
                named[tool.name] = tool
            self._tools.update(named)
            self._switches.update(switches)
            self._describers += [name for name, tool in named.items() if tool.describes_tools]
            self._snapshot = None

    def _content(self) -> tuple[list[Tool[..., Any]], dict[str, Switch]]:
        """Return the tools that another registry may take over, and their switches."""
        entries = self._entries
        tools = [tool for tool in entries.tools.values() if not tool.describes_tools]
        switches = {
            tool.name: entries.switch_of(tool.name)
            for tool in tools
            if tool.name in entries.switches or (tool.enabled is None and entries.enabled is not True)
        }
        return tools, switches

    # --- reading ---------------------------------------------------------------------------------

    def get(self, name: str, /) -> Tool[..., Any]:
        """Return a tool, as it was registered.

        Raises:
            ToolNotFoundError: there is none of this name.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise ToolNotFoundError(name, nearest_names(name, list(self._tools), _SUGGESTED))
        return tool

    def __getitem__(self, name: str, /) -> Tool[..., Any]:
        """Return a tool, as `get` does."""
        return self.get(name)

    def shown(self, name: str, /) -> Tool[..., Any]:
        """Return a tool as the model sees it: with the name of the tool that describes it, if any.

        Raises:
            ToolNotFoundError: there is none of this name; tools that are switched off aren't suggested.
        """
        entries = self._entries
        if name not in entries.tools:
            raise ToolNotFoundError(name, nearest_names(name, entries.offered(), _SUGGESTED))
        return entries.shown(name, entries.described_by())

    def is_enabled(self, name: str, /) -> bool:
        """Return whether the model may call a tool now.

        Raises:
            ToolNotFoundError: there is none of this name.
            Exception: what its switch raises.
        """
        self.get(name)
        return self._entries.is_enabled(name)

    def offered(self) -> list[Tool[..., Any]]:
        """List the tools that the model may call now, as it sees them."""
        entries = self._entries
        describer = entries.described_by()
        return [entries.shown(name, describer) for name in entries.offered()]

    def definitions(self) -> list[ToolDefinition]:
        """List name, description and input schema of the tools that the model may call now.

        Schemas are made once; switches are checked every time. A tool whose switch raises
        something is left out, with a warning of the logger `operator_schema`.

        Returns:
            A fresh dict each, as `Tool.definition` returns it, in the order of registration.
        """
        entries = self._entries
        describer = entries.described_by()
        return [entries.definition(name, describer) for name in entries.offered()]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter(tuple(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"<Registry of {len(self)}>"

    # --- making others ---------------------------------------------------------------------------

    def prefix(self, names: str = "", descriptions: str = "") -> Registry:
        """Make a registry of the same tools under longer names, or with longer descriptions.

        Args:
            names: goes before each name, such as `files_`.
            descriptions: goes before each summary, such as `Files: `.

        Returns:
            A new registry. A tool of `describe_tools` is not in it: it describes this one.

        Raises:
            SchemaError: a name is refused by providers.
        """
        tools, switches = self._content()
        made = Registry()
        longer = [
            tool.with_(name=names + tool.name, summary=descriptions + tool.summary if descriptions else None)
            for tool in tools
        ]
        made._add(longer, {names + name: switch for name, switch in switches.items()})
        return made

    def select(self, **wanted: Unpack[Wanted]) -> Registry:
        """Make a registry of the tools that state what is wanted, such as `select(read_only=True)`.

        Args:
            tags: labels; a tool must have them all.
            read_only, destructive, idempotent, open_world, confirm: what a tool must state. What it
                doesn't state is neither True nor False.

        Returns:
            A new registry of the tools that are there now, with their switches. A tool of
            `describe_tools` is not in it: it describes this one.

        Raises:
            TypeError: something else is asked for.
        """
        from .selection import selected

        tools, switches = self._content()
        found = selected(tools, wanted)
        made = Registry()
        made._add(found, {tool.name: switches[tool.name] for tool in found if tool.name in switches})
        return made

    @classmethod
    def from_module(cls, module: ModuleType | str, /, *, enabled: Switch = True) -> Self:
        """Make a registry of the tools of a module.

        Args:
            module: a module, or its name, by which it is imported.
            enabled: as for the class.

        Returns:
            The tools that `__all__` names; without `__all__`, those under a name without a leading
            underscore that are not merely imported from the module that made them. In the order of
            their definition.

        Raises:
            DuplicateToolError: two of them have the same name.
            ValueError: it is a package whose tools are all in its submodules.
        """
        return cls(own_tools_of(module), enabled=enabled)

    @classmethod
    def from_entry_points(cls, group: str = GROUP, *, enabled: Switch = True) -> Self:
        """Make a registry of the tools that installed distributions offer.

        Args:
            group: of entry points. Each leads to a tool, a module, a registry, or any other iterable
                of tools.
            enabled: as for the class.

        Returns:
            The tools, ordered by the names of distribution and entry point.

        Raises:
            DuplicateToolError: two of them have the same name; a note says where the second one is.
            TypeError: an entry point leads to something else; a note says which.
        """
        registry = cls(enabled=enabled)
        for place, found in offered_by_distributions(group):
            try:
                registry.merge(found)
            except (DuplicateToolError, TypeError) as error:
                error.add_note(f"in the entry point {place}, group {group}")
                raise
        return registry


def _places_of(first: Tool[..., Any], second: Tool[..., Any]) -> tuple[str, str]:
    """Return where two tools were made: module and name, with the line where that is the same."""
    one, other = [f"{tool.home}.{getattr(tool, '__qualname__', tool.name)}" for tool in (first, second)]
    if one != other or first == second:
        return one, other
    return f"{one}{_line_of(first)}", f"{other}{_line_of(second)}"


def _line_of(tool: Tool[..., Any]) -> str:
    code = getattr(getattr(tool, "__wrapped__", None), "__code__", None)
    return "" if code is None else f" (line {code.co_firstlineno})"


def _checked_switch(enabled: Switch) -> Switch:
    if not is_switch(enabled):
        what = received(enabled)
        if callable(enabled):
            takes = needs_arguments(enabled)
            what = "one that takes arguments" if takes else "one that is async or a generator"
        message = f"enabled is a boolean or a function without parameters, not {what}"
        raise TypeError(message)
    return enabled


def _asked(switch: Callable[[], bool]) -> bool:
    answer: Any = switch()
    if is_awaitable(answer):
        close_awaitable(answer)
        message = "a switch returns a boolean, not something to await"
        raise TypeError(message)
    return bool(answer)
