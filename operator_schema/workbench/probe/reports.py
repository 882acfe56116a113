"""What does a probe report: the plan of each tool, its faults, and a summary?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...message_text import count_of, escape, one_line, show_path
from .checks import CHECKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...findings import Finding, Severity
    from .sequences import Step

LEVELS: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""The levels of findings, the most serious first."""

MAY_CHANGE: Final = "it may change something"
"""The reason why most tools aren't called: they are called if they are allowed."""

NO_TIME: Final = "there was no time to plan its calls"
"""The reason why some of very many tools aren't called."""

KINDS: Final[tuple[str, ...]] = ("valid", "invalid", "hostile")
"""The kinds of calls."""

MOST_SHOWN: Final = 2000
"""The maximum number of characters of a call in a report."""


class FoundFault(NamedTuple):
    """A fault of a server, with the smallest call that shows it.

    Attributes:
        finding: the fault, its place, and a remedy.
        steps: the calls, in their order; empty if it shows without a call.
        is_smallest: whether nothing can be left out; False if there was no time to find that out.
        repeat: lines for a shell that show it again.
    """

    finding: Finding
    steps: tuple[Step, ...]
    is_smallest: bool
    repeat: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fault as JSON values."""
        finding, check = self.finding, CHECKS.get(self.finding.code)
        return {
            "tool": finding.tool,
            "code": finding.code,
            "severity": finding.severity,
            "path": show_path(finding.path),
            "message": finding.message,
            "remedy": finding.remedy,
            "source": None if check is None else check.source,
            "calls": [
                {
                    "tool": step.call.tool,
                    "arguments": step.call.arguments,
                    "from_earlier": {
                        show_path(place): {"step": number, "path": list(path)}
                        for place, number, path in step.links
                    },
                }
                for step in self.steps
            ],
            "smallest": self.is_smallest,
            "repeat": self.repeat,
        }

    def calls(self) -> list[str]:
        """Write the calls, a line for each."""
        return [f"call: {one_line(step.shown(), MOST_SHOWN)}" for step in self.steps]

    def lines(self) -> list[str]:
        """Write the fault, the calls and the remedy as lines; no text of the server begins a line."""
        finding, check = self.finding, CHECKS.get(self.finding.code)
        place = ".".join(filter(None, [finding.tool or "the server", show_path(finding.path)]))
        meaning = finding.message if check is None else f"{check.meaning}: {finding.message}"
        lines = [f"{place}: {finding.code}: {meaning}"]
        lines += self.calls()
        if finding.remedy:
            lines.append(f"fix: {finding.remedy}")
        return [escape(line) for line in lines]


class Plan(NamedTuple):
    """The planned calls of a tool.

    Attributes:
        tool: the name of the tool.
        is_called: whether the tool is called.
        reason: why, or why not.
        numbers: the number of calls of each kind.
        example: the smallest valid call; None if there is none.
        made: the number of valid calls that were made.
        succeeded: the number of these with a result.
    """

    tool: str
    is_called: bool
    reason: str
    numbers: dict[str, int]
    example: Any
    made: int = 0
    succeeded: int = 0

    @property
    def needs_allow(self) -> bool:
        """Whether the tool would be called if it were allowed."""
        return not self.is_called and self.reason == MAY_CHANGE


class ProbeReport(NamedTuple):
    """The result of a probe of a server.

    Attributes:
        target: the server.
        found: the faults, the worst first.
        plan: the tools, with the calls of each or the reason why it wasn't called.
        calls: the number of calls.
        restarts: the number of times that the server was started again.
        unrepeated: faults that couldn't be shown a second time, with the calls after which they were seen.
        is_complete: whether all planned calls were made in time.
        seed: the number that makes the same calls again.
        notes: the warnings of `serve`, if the target is a module.
    """

    target: str
    found: list[FoundFault]
    plan: list[Plan]
    calls: int
    restarts: int
    unrepeated: list[FoundFault]
    is_complete: bool
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def findings(self) -> list[Finding]:
        """The findings, without the calls that show them."""
        return [each.finding for each in self.found]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "target": self.target,
            "seed": self.seed,
            "calls": self.calls,
            "restarts": self.restarts,
            "complete": self.is_complete,
            "notes": list(self.notes),
            "unrepeated": [each.as_dict() for each in self.unrepeated],
            "tools": [each._asdict() for each in self.plan],
            "findings": [each.as_dict() for each in self.found],
        }

    def __str__(self) -> str:
        """Write all findings, and a summary, line by line."""
        shown = [(each.finding.severity, each.lines()) for each in self.found]
        shown += [("note", lines) for lines in self.noted()]
        lines = ["\n  ".join([f"{level}: {first}", *rest]) for level, (first, *rest) in shown]
        return "\n".join([*self.warnings(), *lines, self.summary()])

    def noted(self) -> list[list[str]]:
        """Return the lines of each fault that was seen only once: the fault and its calls."""
        return [[each.lines()[0], *map(escape, each.calls())] for each in self.unrepeated]

    def warnings(self, *, in_command: bool = False) -> list[str]:
        """Return the lines before the findings, about calls that weren't made and context that is missing.

        Args:
            in_command: whether they name options of the command, rather than arguments of `probe`.
        """
        option = "--seconds" if in_command else "seconds="
        late = f"not finished: some planned calls weren't made, so there may be more findings ({option})"
        return [*([] if self.is_complete else [late]), *[escape(note) for note in self.notes]]

    def tools(self) -> list[tuple[str, str]]:
        """Return the tools that were called, each with how many of its valid calls succeeded."""
        return [
            (escape(plan.tool), f"{plan.succeeded:,} of {plan.made:,}")
            for plan in self.plan
            if plan.is_called
        ]

    def summary(self, *, in_command: bool = False, left: Sequence[FoundFault] | None = None) -> str:
        """Return a line with the numbers of findings and calls.

        Args:
            in_command: whether it names options of the command, rather than arguments of `probe`.
            left: the findings that nobody accepts; by default, all of them.
        """
        left = self.found if left is None else left
        accepted = len(self.found) - len(left)
        option = "--{}" if in_command else "{}="
        counts = [
            count_of(number, f"{level}s")
            for level in LEVELS
            if (number := sum(each.finding.severity == level for each in left))
        ]
        called = sum(each.is_called for each in self.plan)
        waiting = sum(each.needs_allow for each in self.plan)
        late = sum(each.reason == NO_TIME for each in self.plan)
        unread = len(self.plan) - called - waiting - late
        nothing = "0 errors" if accepted else "nothing found" if self.is_complete else "nothing found so far"
        parts = [", ".join(counts) or nothing, self._calls(called)]
        if unread:
            parts.append(f"{unread} not called, since their schemas can't be read")
        if waiting:
            parts.append(f"{waiting} not called, since they may change something ({option.format('allow')})")
        if late:
            parts.append(f"{late:,} not looked at in time")
        if self.restarts:
            parts.append(f"started again {count_of(self.restarts, 'times')}")
        if not self.is_complete:
            parts.append(f"not all planned calls were made in time ({option.format('seconds')})")
        if accepted:
            parts.append(f"{accepted} accepted")
        return " · ".join(parts)

    def _calls(self, tools: int) -> str:
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        return f"{calls} of {count_of(tools, 'tools')}"
