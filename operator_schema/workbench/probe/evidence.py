"""Which of the faults that were seen can be shown a second time, and are reported?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ...message_text import listed
from .reports import FoundFault
from .settling import STARTED_ANEW, Candidate, found_of, settle, settled_anew, shows_again

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from .checks import AnswerFault
    from .sequences import Step
    from .watching import ProbeLimits, ServerWatcher

_LEAST_SECONDS: Final = 2.0
"""The minimum number of seconds to show one fault again."""

_OVERTIME: Final = 0.05
"""The share of the time that is added to show faults again."""

_ONE_CAUSE: Final = frozenset({"unnamed_parameter"})
"""Codes of faults that have one cause in all tools if their details are equal: they are reported once."""

_SEEN_TWICE: Final = frozenset({"valid_refused"})
"""Codes of faults that are noted only after the calls were made again."""


@dataclass
class Evidence:
    """The faults that were seen in a probe.

    Attributes:
        watcher: watches the server.
        limits: the limits of the probe.
        candidates: key of a fault to the fault, with the calls after which it was seen.
        unrepeated: the faults that didn't show a second time.
        is_in_time: whether there was time to show each of them again.
    """

    watcher: ServerWatcher
    limits: ProbeLimits
    candidates: dict[tuple[Any, ...], Candidate] = field(default_factory=dict[tuple[Any, ...], Candidate])
    unrepeated: list[FoundFault] = field(default_factory=list[FoundFault])
    is_in_time: bool = True
    _unsure: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])

    def note(self, fault: AnswerFault, steps: list[Step], tool: str | None) -> None:
        """Keep a fault that was seen, with the first calls that led to it.

        Args:
            fault: the fault.
            steps: the calls that led to it; none if it came without one.
            tool: the name of the tool; None for the server.
        """
        key = (tool, *fault.key)
        if key not in self.candidates:
            is_shown = fault.code in _SEEN_TWICE
            self.candidates[key] = Candidate(fault, steps, tool, is_shown, self.watcher.changes_so_far())
            self._unsure.append(key)

    def knows(self, fault: AnswerFault, tool: str | None) -> bool:
        """Return whether a fault was seen before."""
        return (tool, *fault.key) in self.candidates

    def blames(self, tool: str, code: str) -> bool:
        """Return whether a fault of a tool was seen that has a code."""
        return any(each.tool == tool and each.fault.code == code for each in self.candidates.values())

    def show_again(self) -> None:
        """Show the newest faults a second time, if one call is enough."""
        unsure, self._unsure = self._unsure, []
        for key in unsure:
            seen = self.candidates[key]
            if not seen.is_shown and monotonic() < self.limits.until:
                self.candidates[key] = replace(seen, is_shown=shows_again(self.watcher, seen))

    def settled(self, progress: Callable[[str, int, int], None]) -> list[FoundFault]:
        """Return the faults that are reported, each with the smallest calls that there is time to find.

        Args:
            progress: called with the present work, the number of finished steps, and the number of all steps.
        """
        end = self.limits.until + (self.limits.until - self.limits.start) * _OVERTIME
        found: list[FoundFault] = []
        alone: list[tuple[Candidate, FoundFault]] = []
        known: set[tuple[Any, ...]] = set()
        causes = self._by_cause()
        for number, candidates in enumerate(causes):
            progress("making calls small", number, len(causes))
            for candidate in candidates:
                fault = candidate.fault
                place = (candidate.tool, fault.code, fault.path)
                if fault.code == "valid_refused" and place in known:
                    continue
                settled = self._settled(candidate, end, len(causes) - number)
                if settled is None:
                    continue
                others = {each.tool for each in candidates if each.tool is not None} - {candidate.tool}
                settled = _with_others(settled, others)
                if len(settled.steps) == 1 and fault.code not in STARTED_ANEW:
                    alone.append((candidate, settled))
                else:
                    found.append(settled)
                known.add(place)
                break
        return [*found, *self._settled_anew(alone, end)]

    def _by_cause(self) -> list[list[Candidate]]:
        """Return the faults, each with those of other tools that have the same cause."""
        causes: dict[tuple[Any, ...], list[Candidate]] = {}
        # A refusal that blames one parameter says more than one that blames several.
        for each in sorted(self.candidates.values(), key=_by_blame):
            is_of_all = each.fault.code in _ONE_CAUSE
            key = (each.fault.code, each.fault.detail) if is_of_all else (each.tool, *each.fault.key)
            causes.setdefault(key, []).append(each)
        return list(causes.values())

    def _settled(self, candidate: Candidate, end: float, waiting: int) -> FoundFault | None:
        """Return a fault as it is reported; None if it doesn't show again."""
        share = max(_LEAST_SECONDS, (self.limits.until - monotonic()) / waiting)
        server = self.watcher.server
        if not server.answers():  # an earlier call has ended it
            server.start()
        last = end - server.seconds_to_start  # what shows is shown in a new server, too
        settled = settle(self.watcher, candidate, min(monotonic() + 2 * share, last), last)
        if settled is None:
            self._note_unrepeated(candidate, is_late=monotonic() + server.seconds_to_start >= last)
        return settled

    def _settled_anew(self, alone: list[tuple[Candidate, FoundFault]], end: float) -> list[FoundFault]:
        """Repeat the calls that each show a fault alone, in a server that was just started."""
        server = self.watcher.server
        if alone:
            server.start()
        found: list[FoundFault] = []
        for candidate, settled in alone:
            again = settled_anew(self.watcher, candidate, settled, end)
            if again is None:
                self._note_unrepeated(candidate, is_late=monotonic() >= end)
            else:
                found.append(again)
            if (again is None or len(again.steps) > 1) and monotonic() < end:
                server.start()  # those calls count for the next tool, too
        return found

    def _note_unrepeated(self, candidate: Candidate, *, is_late: bool) -> None:
        self.is_in_time = self.is_in_time and not is_late
        why = "there was no time to reproduce it" if is_late else "it couldn't be reproduced"
        fault = candidate.fault._replace(message=f"{candidate.fault.message} ({why})")
        seen = (self.watcher.server, candidate.tool, fault, candidate.steps)
        self.unrepeated.append(found_of(*seen, is_smallest=False))


def _with_others(found: FoundFault, tools: Collection[str]) -> FoundFault:
    """Add to a finding the names of other tools that have it, too."""
    if not tools:
        return found
    message = f"{found.finding.message} (so does the server for {listed(sorted(tools))})"
    return found._replace(finding=found.finding.replace(message=message))


def _by_blame(candidate: Candidate) -> tuple[bool, int, str]:
    """Return the key by which faults are sorted: those that surely show again come first."""
    return not candidate.is_shown, candidate.fault.detail.count(" "), candidate.fault.severity or ""
