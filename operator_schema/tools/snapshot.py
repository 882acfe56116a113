"""Tools with their switches at one time: which of them may a model call?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .failures import WARNING, write_log
from .metadata import NO_CONTEXT, HiddenSwitch, question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..schema.style import SchemaStyle
    from .metadata import Enabled, Switch
    from .tool import Tool, ToolDefinition

    Context = Mapping[Any, Any]

__all__ = ["Snapshot"]


class Snapshot:
    """Tools with their switches; immutable.

    Attributes:
        tools: name to tool, in the order of registration.
        switches: name to the switch that this one tool has here, whatever it says itself.
        describer: name of the tool that gives the long documentation of the others, or None.
    """

    __slots__ = ("tools", "switches", "describer", "_questions", "_shown")

    def __init__(
        self,
        tools: dict[str, Tool[..., Any]],
        switches: dict[str, Switch],
        describer: str | None,
    ) -> None:
        self.tools = tools
        self.switches = switches
        self.describer = describer
        # Filled on demand, by name and describing tool; two threads may write the same entry twice.
        self._shown: dict[tuple[str, str | None], Tool[..., Any]] = {}
        self._questions: dict[tuple[str, bool], bool | Callable[[Context], bool]] = {}

    def _own_switch(self, name: str, *, asked_for: bool) -> Enabled:
        own: Enabled = self.switches.get(name)
        return own.own if asked_for and isinstance(own, HiddenSwitch) else own

    def switch_of(self, name: str, *, asked_for: bool = False) -> Switch:
        """Return the switch that decides about a tool.

        Args:
            name: of the tool.
            asked_for: whether it is about a request that asks for the tool, even if it is hidden.
        """
        own = self._own_switch(name, asked_for=asked_for)
        if own is None:
            own = self.tools[name].enabled
        return True if own is None else own

    def is_enabled(self, name: str, context: Context | None, *, asked_for: bool = False) -> bool:
        """Return whether the model may call a tool.

        Args:
            name: of the tool.
            context: for switches that take one.
            asked_for: as for `switch_of`.

        Raises:
            Exception: what its switch raises.
        """
        question = self._questions.get((name, asked_for))
        if question is None:
            question = question_of(self.switch_of(name, asked_for=asked_for))
            self._questions[name, asked_for] = question
        if isinstance(question, bool):
            return question
        return question(NO_CONTEXT if context is None else context)

    def is_offered(self, name: str, context: Context | None, *, asked_for: bool = False) -> bool:
        """Return whether a tool is enabled, as `is_enabled` does; one whose switch fails isn't."""
        try:
            return self.is_enabled(name, context, asked_for=asked_for)
        except Exception as error:  # noqa: BLE001  # a switch is your program's own code
            write_log(WARNING, "%s: its switch failed, so it counts as disabled", name, error=error)
            return False

    def offered(self, context: Context | None) -> list[str]:
        """List the names of the tools that are enabled."""
        return [name for name in self.tools if self.is_offered(name, context)]

    def described_by(self, context: Context | None) -> str | None:
        """Return the name of the tool that gives the long documentation now, or None."""
        name = self.describer
        return name if name is not None and self.is_offered(name, context) else None

    def shown(self, name: str, described_by: str | None) -> Tool[..., Any]:
        """Return a tool as the model sees it."""
        key = name, described_by
        tool = self._shown.get(key)
        if tool is None:
            tool = self.tools[name]
            if described_by is not None and tool.described_by is None and not tool.describes_tools:
                tool = tool.with_(described_by=described_by)
            self._shown[key] = tool
        return tool

    def called(
        self, name: str, context: Context | None, *, asked_for: bool
    ) -> tuple[Tool[..., Any], bool] | None:
        """Return the tool that a call names, as the model sees it, and whether it may run.

        Args:
            name: of the tool.
            context: for switches that take one.
            asked_for: whether a request offered the tool: then it may run even if it is hidden from others.

        Returns:
            None if there is no tool of this name.

        Raises:
            Exception: what its switch raises.
        """
        if name not in self.tools:
            return None
        describer = self.describer
        tool = self.shown(name, describer if describer is None else self.described_by(context))
        may_run = self.is_enabled(name, context)
        if not may_run and asked_for:
            may_run = self.is_enabled(name, context, asked_for=True)
        return tool, may_run

    def definition(self, name: str, described_by: str | None, style: SchemaStyle | None) -> ToolDefinition:
        """Return the definition of a tool as the model sees it, the caller's own."""
        return self.shown(name, described_by).definition_in(style)
