"""Can a fault be reproduced, and which smallest calls show it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from ...findings import Finding
from ...json_values import to_json_text
from .checks import CHECKS, AnswerFault, faults_of, unnamed_parameter
from .differences import ABSENT, refusal_of, with_value
from .parts import value_at
from .probe_error import ProbeError
from .reports import FoundFault
from .sequences import Step, called_again, resolved, without_step
from .shell_lines import repeat_lines
from .shrinking import shrunk, shrunk_sequence
from .watching import change_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .calls import Call
    from .outcomes import ProbedOutcome
    from .subject import Server
    from .watching import ServerWatcher

_MOST_TRIES: Final = 3000
_REPEATED: Final = (4, 16)
"""Equal calls after which something may show that one call alone doesn't show."""

_PATIENCE: Final = 3
"""Times the timeout in which an answer has to come when a missing one is looked for again."""

_SECONDS_FOR_NOISE: Final = 0.05
_ROUNDS: Final = 6
"""Of calls at once, whose answers are mixed up by chance."""

_CHANGES: Final = frozenset({"changed_by_refused", "read_only_changed"})
_MADE_DIRECTLY: Final = frozenset({"not_idempotent", "stuck_after_cancel", "changed_by_cancelled"})
STARTED_ANEW: Final = _CHANGES | _MADE_DIRECTLY | {"crash", "hang", "unstable"}
"""Codes of faults that are shown in a server that was just started."""


_SLOW: Final = frozenset({"hang", "mixed_answers", "stuck_after_cancel", "changed_by_cancelled"})
"""Codes of faults that are shown again at the end only: each time takes long."""


@dataclass(frozen=True)
class Candidate:
    """A fault that was seen, not yet shown a second time.

    Attributes:
        fault: what.
        steps: the calls that led to it; none if it came without one.
        tool: the name of the tool; None for the server.
        is_shown: whether it has shown a second time.
        before: calls that had changed something in the server before it was seen.
    """

    fault: AnswerFault
    steps: list[Step]
    tool: str | None
    is_shown: bool = False
    before: tuple[Step, ...] = ()


def shows_again(watcher: ServerWatcher, candidate: Candidate) -> bool:
    """Return whether one call shows a fault once more, without a new start of the server."""
    if len(candidate.steps) != 1 or candidate.fault.code in _SLOW:
        return False
    return _Tries(watcher, candidate, inf, inf, is_fresh=True).shows(candidate.steps)


def settle(watcher: ServerWatcher, candidate: Candidate, until: float, last: float) -> FoundFault | None:
    """Show a fault again, with the smallest calls.

    Args:
        watcher: of the server.
        candidate: the fault.
        until: when to stop making the calls smaller, on the clock of `monotonic`.
        last: when to stop showing it at all.

    Returns:
        What is reported; None if the fault doesn't show again. One that did before is reported, too, if
        there is no time to show it once more.
    """
    if not candidate.steps:
        return found_of(watcher.server, candidate.tool, candidate.fault, [], is_smallest=True)
    tries = _Tries(watcher, candidate, until, last)
    steps = tries.showing(candidate.steps)
    if len(steps) > 1:
        steps = shrunk_sequence(steps, tries.shows, without_step)
    if not steps and candidate.is_shown and tries.is_over:
        return found_of(watcher.server, candidate.tool, candidate.fault, candidate.steps, is_smallest=False)
    if not steps:
        return None
    if candidate.fault.code != "unknown_tool_accepted":
        steps = tries.with_small_arguments(steps)
    return found_of(watcher.server, candidate.tool, tries.fault, steps, is_smallest=not tries.is_over)


def settled_anew(
    watcher: ServerWatcher, candidate: Candidate, found: FoundFault, until: float
) -> FoundFault | None:
    """Show a fault with one call once more, in a new server.

    Args:
        watcher: of the server.
        candidate: the fault.
        found: what was settled.
        until: when to stop.

    Returns:
        The same if it shows; if it shows after some equal calls only, as the limit of a server does, these
        calls; None if it doesn't show.
    """
    tries = _Tries(watcher, candidate, until, until)
    steps = tries.showing(list(found.steps))
    if not steps:
        return None
    if len(steps) == 1:
        return found
    steps = shrunk_sequence(steps, tries.shows, without_step)
    return found_of(watcher.server, candidate.tool, tries.fault, steps, is_smallest=not tries.is_over)


def found_of(
    server: Server, tool: str | None, fault: AnswerFault, steps: Sequence[Step], *, is_smallest: bool
) -> FoundFault:
    """Return a fault in the form of the report."""
    check = CHECKS[fault.code]
    severity = fault.severity or check.severity
    finding = Finding(
        fault.path, fault.code, fault.message, remedy=check.remedy, severity=severity, tool=tool
    )
    made = [*steps, *(steps[-1:] if fault.code == "not_idempotent" else ())]  # the last call is made twice
    return FoundFault(finding, tuple(made), is_smallest, repeat_lines(server, made) if made else "")


class _Tries:
    """Tries to show a fault again with different calls.

    Attributes:
        fault: as it was last shown.
        is_over: whether there was no time left to try smaller calls.
    """

    def __init__(
        self,
        watcher: ServerWatcher,
        candidate: Candidate,
        until: float,
        last: float,
        *,
        is_fresh: bool = False,
    ) -> None:
        self._watcher = watcher
        self._until, self._last = until, last
        self._left = _MOST_TRIES
        self._is_fresh = is_fresh
        self._is_first = True
        self._is_sequence = False
        self._tool, self._before = candidate.tool, candidate.before
        self.fault = candidate.fault
        self.is_over = False

    @property
    def _server(self) -> Server:
        return self._watcher.server

    def shows(self, steps: list[Step]) -> bool:
        """Return whether some calls show the fault."""
        if self._left <= 0 or self._is_late(steps):
            self.is_over = True
            return False
        self._left -= 1
        try:
            seen = self._seen(steps)
        except ProbeError:  # it doesn't start any more
            return False
        if seen is not None:
            self.fault = seen
        self._is_first = False
        return seen is not None

    def _is_late(self, steps: list[Step]) -> bool:
        """Return whether there is no time for a try; a first one that needs no start is always made."""
        is_first = self._left == _MOST_TRIES
        if len(steps) == 1 and self.fault.code not in STARTED_ANEW:
            return monotonic() > self._until and not is_first
        return monotonic() + self._server.seconds_to_start > (self._last if is_first else self._until)

    def showing(self, steps: list[Step]) -> list[Step]:
        """Return calls that show the fault: the same, one of them several times, or after earlier ones."""
        self._is_sequence = len(steps) > 1
        if self.shows(steps):
            return steps
        is_alone = len(steps) == 1 and self.fault.code not in STARTED_ANEW
        self._is_sequence = True  # calls of an earlier try must not help a shorter one
        for number in _REPEATED if is_alone or self.fault.code == "unstable" else ():
            if self.shows(steps[:1] * number):
                return steps[:1] * number
        late = [*self._before, *steps]
        return late if self._before and len(steps) == 1 and self.shows(late) else []

    def with_small_arguments(self, steps: list[Step]) -> list[Step]:
        """Return the calls with the smallest arguments, those of the last call first."""
        found = list(steps)
        if len(found) > 1 and found == found[:1] * len(found):
            first, number = found[0], len(found)
            every = shrunk(
                first.call.arguments, lambda each: self.shows([_with_arguments(first, each)] * number)
            )
            found = [_with_arguments(first, every)] * number
        for index in reversed(range(len(found))):
            step = found[index]

            def shows(arguments: Any, index: int = index, step: Step = step) -> bool:
                return self.shows([*found[:index], _with_arguments(step, arguments), *found[index + 1 :]])

            found[index] = _with_arguments(step, shrunk(step.call.arguments, shows))
        return found

    def _seen(self, steps: list[Step]) -> AnswerFault | None:
        """Make the calls; return the fault if it shows."""
        call, code = steps[-1].call, self.fault.code
        if self._tool is not None and call.tool != self._tool:  # another tool may have such a fault, too
            return None
        if code != "unknown_tool_accepted" and not all(self._keeps_kind(step.call) for step in steps):
            return None
        if code == "mixed_answers":
            calls = [step.call for step in steps]
            return self.fault if len(calls) > 1 and self._watcher.mixes(calls, _ROUNDS) else None
        if code in ("crash", "hang"):
            return self._lost(steps)
        if code in _CHANGES or code in _MADE_DIRECTLY:
            return self._changed(steps)
        if code == "unstable":
            return self._unstable(steps)
        if code == "valid_refused":
            return self._refused(steps)
        outcome = self._answer(steps)
        if outcome is None:
            return None
        if code == "channel_noise":
            sleep(_SECONDS_FOR_NOISE)
            return self._watcher.noise()
        if code == "unknown_tool_accepted":
            return self.fault if outcome.result is not None and not outcome.is_flagged else None
        tool = self._watcher.tools[call.tool]
        if code == "unnamed_parameter":
            return unnamed_parameter(tool, call, outcome)
        return self._same(faults_of(tool, call, outcome, self._watcher.most_bytes, self._watcher.learned))

    def _refused(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the last call is refused, and succeeds with the other value."""
        last = steps[-1]
        changed = with_value(last.call.arguments, self.fault.path, self.fault.other)
        if changed is ABSENT or to_json_text(changed) == to_json_text(last.call.arguments):
            return None
        outcome = self._answer(steps)
        if outcome is None or not outcome.is_flagged:
            return None
        other = self._answer([*steps[:-1], _with_arguments(last, changed)])
        if other is None or other.is_flagged:
            return None
        value = value_at(last.call.arguments, self.fault.path, ABSENT)
        return self.fault._replace(message=refusal_of(self.fault, value, outcome))

    def _unstable(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the first of some equal calls succeeds, and the last one doesn't."""
        outcomes = self._replayed(steps)
        if len(outcomes) < len(steps) or len(steps) == 1 or outcomes[-1].is_lost:
            return None
        is_shown = not outcomes[0].is_flagged and outcomes[-1].is_flagged
        return self.fault if is_shown and len({step.call.key() for step in steps}) == 1 else None

    def _same(self, faults: Sequence[AnswerFault]) -> AnswerFault | None:
        return next((fault for fault in faults if fault.key == self.fault.key), None)

    def _keeps_kind(self, call: Call) -> bool:
        """Return whether a call is as valid by the schema as the first one."""
        return self._watcher.tools[call.tool].fits(call)

    def _renew(self) -> None:
        """Start the server, unless it was started and hasn't been called since."""
        if not self._is_fresh:
            self._server.start()
        self._is_fresh = False

    def _answer(self, steps: list[Step]) -> ProbedOutcome | None:
        """Return the answer to the last call; None if it doesn't come."""
        if len(steps) == 1 and not self._is_sequence:
            outcome = self._watcher.made(steps[0].call)
        else:
            outcomes = self._replayed(steps)
            if len(outcomes) < len(steps):
                return None
            outcome = outcomes[-1]
        if not outcome.is_lost:
            return outcome
        self._server.start()
        return None

    def _replayed(self, steps: list[Step]) -> list[ProbedOutcome]:
        self._renew()
        is_late = self._is_first and self.fault.code == "hang"  # what only takes long isn't one
        outcomes = called_again(self._server, steps, self._server.timeout * _PATIENCE if is_late else None)
        self._watcher.count += len(outcomes)
        return outcomes

    def _lost(self, steps: list[Step]) -> AnswerFault | None:
        outcomes = self._replayed(steps)
        ended = self._watcher.loss_after(outcomes[-1]) if len(outcomes) == len(steps) else None
        if ended is not None:
            self._server.start()
            self._is_fresh = True
            return self._same([ended])
        if not outcomes or not outcomes[-1].is_lost:
            self._is_fresh = len(steps) == 1  # it lives, and the next call may as well be its first one
            return None
        fault = self._watcher.loss(steps[-1].call, outcomes[-1]) if len(outcomes) == len(steps) else None
        self._server.start()
        self._is_fresh = True
        return None if fault is None else self._same([fault])

    def _changed(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the last call changes the state, and waiting doesn't."""
        outcomes = self._replayed(steps[:-1])
        arguments = resolved(steps[-1], outcomes)
        if len(outcomes) < len(steps) - 1 or arguments is None:
            return None
        call = replace(steps[-1].call, arguments=arguments)
        if self.fault.code == "not_idempotent":
            return self.fault if self._watcher.changes_again(call) else None
        if self.fault.code in ("stuck_after_cancel", "changed_by_cancelled"):
            return self._cancelled(call)
        before = self._watcher.steady_state()
        if before is None:
            return None
        outcome = self._watcher.made(call)
        if outcome.is_lost:
            return None
        fault = change_of(self._watcher.tools[call.tool], outcome, before, self._watcher.state())
        return None if fault is None else self._same([fault])

    def _cancelled(self, call: Call) -> AnswerFault | None:
        """Return the fault if it shows after the call is cancelled."""
        is_read_only = self._watcher.tools[call.tool].is_read_only
        seen_after = self._watcher.after_cancel if is_read_only else self._watcher.after_cancelled_change
        fault = seen_after(call)
        if fault is not None:
            self._server.start()
        return None if fault is None else self._same([fault])


def _with_arguments(step: Step, arguments: Any) -> Step:
    links = tuple(link for link in step.links if value_at(arguments, link[0]) is not None)
    return Step(replace(step.call, arguments=arguments), links)
