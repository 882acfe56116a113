"""Decode recorded calls with the tools of today, and count what still fits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DecodeError
from ..json_values import to_json_text
from ..message_text import clip
from .containment import show_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..findings import Finding
    from ..tools import Tool
    from .recorded_calls import RecordedCall

__all__ = ["Fault", "Replay", "ToolCounts", "fault_key"]

_EXAMPLE_LENGTH = 500
_TEXT_LENGTH = 2_000
_MOST_FAULTS = 1_000
_MOST_NAMES = 1_000


class Fault(NamedTuple):
    """One thing that is wrong with calls of a tool.

    Attributes:
        path: of the argument, with `*` for every index.
        code: what is wrong with it, such as `missing`.
    """

    path: str
    code: str


def fault_key(finding: Finding) -> Fault:
    """Return by what a problem of a call is counted."""
    steps = tuple(["*" if isinstance(step, int) else step for step in finding.path])
    return Fault(show_place(steps), finding.code)


class Example(NamedTuple):
    """The first call with a fault.

    Attributes:
        arguments: of the call, as JSON text that is cut.
        text: that the model would read, cut.
    """

    arguments: str
    text: str


class ToolCounts:
    """What became of the calls of one tool.

    Attributes:
        fits: calls that fit as they are.
        repaired: calls that fit if mistakes are repaired.
        fails: calls that fit in neither way.
        faults: calls with each fault, of those that don't fit as they are.
        examples: the first call with each fault.
        ignored: calls with each key that is ignored as unknown.
        repairs: repairs of each kind, such as `scalar`.
    """

    __slots__ = ("examples", "fails", "faults", "fits", "ignored", "repaired", "repairs")

    def __init__(self) -> None:
        self.fits = 0
        self.repaired = 0
        self.fails = 0
        self.faults: Counter[Fault] = Counter()
        self.examples: dict[Fault, Example] = {}
        self.ignored: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()

    @property
    def calls(self) -> int:
        """All calls of the tool."""
        return self.fits + self.repaired + self.fails

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values; the most frequent first."""
        return {
            "calls": self.calls,
            "fits": self.fits,
            "repaired": self.repaired,
            "fails": self.fails,
            "faults": [
                {"path": fault.path, "code": fault.code, "calls": number, **self.examples[fault]._asdict()}
                for fault, number in self.faults.most_common()
            ],
            "ignored": dict(self.ignored.most_common()),
            "repairs": dict(self.repairs.most_common()),
        }


class Replay:
    """Counts recorded calls by what the tools of today make of them.

    Args:
        tools: that the calls are decoded by.

    Attributes:
        tools: what became of the calls of each tool, by its name; a tool without calls too.
        unknown: calls of each name that no tool has.
        unreadable: the first parts of the files that can't be read, in words.
        unreadable_count: all of them.
    """

    def __init__(self, tools: Iterable[Tool[..., Any]]) -> None:
        plain = {tool.name: tool.with_(repair=False) for tool in tools}
        self._tools = {name: (tool, tool.with_(repair=True)) for name, tool in plain.items()}
        self.tools: dict[str, ToolCounts] = {name: ToolCounts() for name in self._tools}
        self.unknown: Counter[str] = Counter()
        self.unreadable: list[str] = []
        self.unreadable_count = 0

    @property
    def calls(self) -> int:
        """All calls, also of unknown tools."""
        return sum(counts.calls for counts in self.tools.values()) + self.unknown.total()

    @property
    def fails(self) -> int:
        """The calls that fit in no way, also of unknown tools."""
        return sum(counts.fails for counts in self.tools.values()) + self.unknown.total()

    def add(self, call: RecordedCall) -> bool:
        """Count a call; return whether it fits as it is."""
        both = self._tools.get(call.name)
        if both is None:
            name = call.name if call.name in self.unknown or len(self.unknown) < _MOST_NAMES else "…"
            self.unknown[name] += 1
            return False
        counts = self.tools[call.name]
        tool, repairing = both
        try:
            report = tool.decode_report(call.arguments)
        except DecodeError as error:
            self._add_fault(counts, repairing, call, error)
            return False
        counts.fits += 1
        if report.ignored:
            counts.ignored.update({show_place(each.path): 1 for each in report.ignored})
        return True

    def add_unreadable(self, place: str, reason: str) -> None:
        """Count a part of a file that can't be read."""
        self.unreadable_count += 1
        if len(self.unreadable) < _MOST_NAMES:
            self.unreadable.append(f"{place}: {reason}")

    def _add_fault(
        self, counts: ToolCounts, repairing: Tool[..., Any], call: RecordedCall, error: DecodeError
    ) -> None:
        try:
            report = repairing.decode_report(call.arguments)
        except DecodeError:
            counts.fails += 1
        else:
            counts.repaired += 1
            counts.repairs.update([repair.code for repair in report.repairs])
        for fault in {fault_key(finding) for finding in error.findings}:
            if fault not in counts.faults and len(counts.faults) >= _MOST_FAULTS:
                continue
            counts.faults[fault] += 1
            if fault not in counts.examples:
                sent = call.arguments if isinstance(call.arguments, str) else to_json_text(call.arguments)
                counts.examples[fault] = Example(clip(sent, _EXAMPLE_LENGTH), clip(str(error), _TEXT_LENGTH))

    def as_dict(self) -> dict[str, Any]:
        """Return the whole report as JSON values."""
        return {
            "calls": self.calls,
            "tools": {name: counts.as_dict() for name, counts in sorted(self.tools.items())},
            "unknown": dict(self.unknown.most_common()),
            "unreadable": {"count": self.unreadable_count, "first": self.unreadable},
        }
