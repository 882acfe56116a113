"""Which of its tools may a model call now, and how does it see them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.logs import WARNING, write_log
from ..tools.metadata import NO_CONTEXT, question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from ..schema.style import SchemaStyle
    from ..tools.metadata import Switch
    from ..tools.tool import Tool, ToolDefinition
    from .tool_entries import ToolEntry

    Context: TypeAlias = Mapping[Any, Any]


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
