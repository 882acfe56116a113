"""Tools by name: what may be called, and what the model is told about it."""

from __future__ import annotations

from _thread import RLock  # `threading` itself is not needed
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import DuplicateToolError, ToolNotFoundError
from ..json_values import copy_json
from ..wording import nearest_names, received
from .awaitables import close_awaitable, is_awaitable
from .describe import is_describer
from .discovery import GROUP, offered_by_distributions, tools_in
from .log import WARNING, write_log
from .metadata import is_switch
from .neutral import tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import ModuleType
    from typing import Self

    from .metadata import Enabled
    from .tool import Tool

    Switch = bool | Callable[[], bool]

__all__ = ["Registry"]

AnyTool = TypeVar("AnyTool", bound="Tool[..., Any]")

_SUGGESTED = 3


class _Entries:
    """All that a registry holds at one time; never changed, only replaced.

    Attributes:
        tools: name to tool, in the order of registration.
        switches: name to what the registry says about this one tool.
        enabled: what holds for those about which nobody says anything.
    """

    __slots__ = ("tools", "switches", "enabled", "_describer", "_told", "_definitions")

    def __init__(
        self,
        tools: Mapping[str, Tool[..., Any]],
        switches: Mapping[str, Switch],
        enabled: Switch,
    ) -> None:
        self.tools = tools
        self.switches = switches
        self.enabled = enabled
        self._describer = next((name for name, tool in tools.items() if is_describer(tool)), None)
        # Filled when asked for, by name and describing tool: whoever comes second writes the same.
        self._told: dict[tuple[str, str | None], Tool[..., Any]] = {}
        self._definitions: dict[tuple[str, str | None], dict[str, Any]] = {}

    def switch_of(self, name: str) -> Switch:
        own: Enabled = self.switches.get(name)
        if own is None:
            own = self.tools[name].enabled
        return self.enabled if own is None else own

    def is_enabled(self, name: str) -> bool:
        switch = self.switch_of(name)
        return _asked(switch) if callable(switch) else switch

    def is_offered(self, name: str) -> bool:
        """Say whether a tool is enabled; one whose switch fails is not, and takes no other along."""
        try:
            return self.is_enabled(name)
        except Exception as error:  # noqa: BLE001  # a switch is the host's own code
            write_log(WARNING, "%s: its switch failed, so it counts as disabled", name, error=error)
            return False

    def offered(self) -> list[str]:
        return [name for name in self.tools if self.is_offered(name)]

    def described_by(self) -> str | None:
        """Return the name of the tool that gives the long documentation now, or None."""
        name = self._describer
        return name if name is not None and self.is_offered(name) else None

    def told(self, name: str, described_by: str | None) -> Tool[..., Any]:
        key = name, described_by
        tool = self._told.get(key)
        if tool is None:
            tool = self.tools[name]
            if described_by is not None and tool.described_by is None and not is_describer(tool):
                tool = tool.with_(described_by=described_by)
            self._told[key] = tool
        return tool

    def definition(self, name: str, described_by: str | None) -> dict[str, Any]:
        key = name, described_by
        definition = self._definitions.get(key)
        if definition is None:
            definition = self._definitions[key] = self.told(name, described_by).definition()
        return copy_json(definition)  # type: ignore[no-any-return]  # a dict again


class Registry:
    """Hold tools by name, in the order of their registration.

    A registry may be used and changed by any number of threads at once: whoever reads it sees it
    before a change or after it. With a tool of `describe_tools` among them, the others tell the model
    their summary alone, and their errors point there.

    Args:
        tools: the first tools, or name to tool.
        enabled: whether the model may call those tools that do not say so themselves: a boolean, or
            a function that is asked every time.

    Raises:
        DuplicateToolError: two tools have one name.
        TypeError: something is no tool, or `enabled` is neither.
    """

    __slots__ = ("_entries", "_lock", "__weakref__")

    def __init__(
        self,
        tools: Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]] = (),
        /,
        *,
        enabled: Switch = True,
    ) -> None:
        self._lock = RLock()
        self._entries = _Entries({}, {}, _checked_switch(enabled))
        self.merge(tools)

    # --- changes ---------------------------------------------------------------------------------

    def register(self, tool: AnyTool, /) -> AnyTool:
        """Add a tool; also as a decorator above `@tool`.

        Returns:
            The tool.

        Raises:
            DuplicateToolError: its name is taken.
            TypeError: it is no tool.
        """
        self._add(tools_of([tool]), {})
        return tool

    def unregister(self, name: str, /) -> Tool[..., Any]:
        """Take a tool out.

        Returns:
            The tool.

        Raises:
            ToolNotFoundError: there is none of this name.
        """
        with self._lock:
            tool = self.get(name)
            entries = self._entries
            tools = {other: kept for other, kept in entries.tools.items() if other != name}
            switches = {other: kept for other, kept in entries.switches.items() if other != name}
            self._entries = _Entries(tools, switches, entries.enabled)
        return tool

    def merge(self, *others: Registry | Iterable[Tool[..., Any]] | Mapping[str, Tool[..., Any]]) -> Self:
        """Add all tools of others, or none where two would have one name.

        What another registry says about its tools goes with them; a tool of `describe_tools`, which
        describes its own registry, stays behind.

        Returns:
            This registry.

        Raises:
            DuplicateToolError: two tools have one name.
            TypeError: something is no tool.
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
        """Say whether the model may call one tool, whatever the tool itself says.

        Args:
            name: of the tool.
            enabled: a boolean, or a function that is asked every time; None leaves it to the tool
                and then to the registry, as before.

        Raises:
            ToolNotFoundError: there is none of this name.
            TypeError: `enabled` is neither.
        """
        if enabled is not None:
            _checked_switch(enabled)
        with self._lock:
            self.get(name)
            entries = self._entries
            switches = {other: kept for other, kept in entries.switches.items() if other != name}
            if enabled is not None:
                switches[name] = enabled
            self._entries = _Entries(entries.tools, switches, entries.enabled)

    @property
    def enabled(self) -> Switch:
        """Whether the model may call those tools about which nobody says anything."""
        return self._entries.enabled

    @enabled.setter
    def enabled(self, enabled: Switch) -> None:
        _checked_switch(enabled)
        with self._lock:
            entries = self._entries
            self._entries = _Entries(entries.tools, entries.switches, enabled)

    def _add(self, added: list[Tool[..., Any]], switches: Mapping[str, Switch]) -> None:
        with self._lock:
            entries = self._entries
            tools = dict(entries.tools)
            for tool in added:
                if tool.name in tools:
                    raise DuplicateToolError(tool.name)
                tools[tool.name] = tool
            self._entries = _Entries(tools, {**entries.switches, **switches}, entries.enabled)

    def _content(self) -> tuple[list[Tool[..., Any]], dict[str, Switch]]:
        """Return what others may take over, and what this registry says about it."""
        entries = self._entries
        tools = [tool for tool in entries.tools.values() if not is_describer(tool)]
        switches = {
            tool.name: entries.switch_of(tool.name)
            for tool in tools
            if tool.name in entries.switches or (tool.enabled is None and entries.enabled is not True)
        }
        return tools, switches

    # --- what there is ---------------------------------------------------------------------------

    def get(self, name: str, /) -> Tool[..., Any]:
        """Return a tool, as it was registered.

        Raises:
            ToolNotFoundError: there is none of this name.
        """
        return _get(self._entries, name)

    def told(self, name: str, /) -> Tool[..., Any]:
        """Return a tool as the model is told about it, pointing at the tool that describes it.

        Raises:
            ToolNotFoundError: there is none of this name; it suggests none that is switched off.
        """
        entries = self._entries
        if name not in entries.tools:
            raise ToolNotFoundError(name, nearest_names(name, entries.offered(), _SUGGESTED))
        return entries.told(name, entries.described_by())

    def is_enabled(self, name: str, /) -> bool:
        """Say whether the model may call a tool now.

        Raises:
            ToolNotFoundError: there is none of this name.
            Exception: what its switch raises.
        """
        entries = self._entries
        _get(entries, name)
        return entries.is_enabled(name)

    def offered(self) -> list[Tool[..., Any]]:
        """List the tools that the model may call now, as it is told about them."""
        entries = self._entries
        describer = entries.described_by()
        return [entries.told(name, describer) for name in entries.offered()]

    def definitions(self) -> list[dict[str, Any]]:
        """List name, description and input schema of the tools that the model may call now.

        Schemas are made once; whether a tool is enabled is asked every time. One whose switch raises
        something is left out, with a warning of a logger below `operator_schema`.

        Returns:
            A fresh dict each, as `Tool.definition` gives it, in the order of registration.
        """
        entries = self._entries
        describer = entries.described_by()
        return [entries.definition(name, describer) for name in entries.offered()]

    def __contains__(self, name: object) -> bool:
        return name in self._entries.tools

    def __iter__(self) -> Iterator[Tool[..., Any]]:
        return iter(tuple(self._entries.tools.values()))

    def __len__(self) -> int:
        return len(self._entries.tools)

    def __repr__(self) -> str:
        return f"<Registry of {len(self)}>"

    # --- others of it ----------------------------------------------------------------------------

    def prefix(self, names: str = "", descriptions: str = "") -> Registry:
        """Make a registry of the same tools under longer names, or with longer descriptions.

        Args:
            names: stands before each name, such as `files_`.
            descriptions: stands before each summary, such as `Files: `.

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
            DuplicateToolError: two of them have one name.
        """
        return cls(tools_in(module), enabled=enabled)

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
            DuplicateToolError: two of them have one name; a note says where the second one is.
            TypeError: an entry point leads to something else; likewise.
        """
        registry = cls(enabled=enabled)
        for place, found in offered_by_distributions(group):
            try:
                registry.merge(found)
            except (DuplicateToolError, TypeError) as error:
                error.add_note(f"in the entry point {place}, group {group}")
                raise
        return registry


def _get(entries: _Entries, name: str) -> Tool[..., Any]:
    tool = entries.tools.get(name)
    if tool is None:
        raise ToolNotFoundError(name, nearest_names(name, entries.tools, _SUGGESTED))
    return tool


def _checked_switch(enabled: Switch) -> Switch:
    if not is_switch(enabled):
        what = "one that is async or a generator" if callable(enabled) else received(enabled)
        message = f"enabled is a boolean or a function without parameters, not {what}"
        raise TypeError(message)
    return enabled


def _asked(switch: Callable[[], bool]) -> bool:
    answer: Any = switch()
    if is_awaitable(answer):
        close_awaitable(answer)
        message = "a switch gives a boolean at once, nothing to await"
        raise TypeError(message)
    return bool(answer)
