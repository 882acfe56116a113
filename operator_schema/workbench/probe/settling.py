"""Can a fault be reproduced, and which smallest calls show it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from ...findings import Finding
from ...json_values import to_json_text
from .cancelling import fault_after_cancel
from .checks import CHECKS, AnswerFault, faults_of, unnamed_parameter
from .differences import ABSENT, refusal_of, with_value
from .parts import value_at
from .probe_error import ProbeError
from .reports import FoundFault
from .sequences import Step, resolved, without_step
from .shell_lines import repeat_lines
from .shrinking import shrunk, shrunk_sequence
from .watching import change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .calls import Call
    from .outcomes import ProbedOutcome
    from .subject import Server
    from .watching import ServerWatcher

_MOST_TRIES: Final = 3000
_REPEATED: Final = (4, 16)
"""The numbers of equal calls that are tried if one call alone doesn't show the fault."""

_PATIENCE: Final = 3
"""When a missing answer is looked for again, it has so many times the timeout."""

_SECONDS_FOR_NOISE: Final = 0.05
_ROUNDS: Final = 6
"""The number of times that calls are made at once: their answers are mixed up by chance."""

_CHANGES: Final = frozenset({"changed_by_refused", "read_only_changed"})
_CANCELLED: Final = frozenset({"stuck_after_cancel", "changed_by_cancelled"})
STARTED_ANEW: Final = _CHANGES | _CANCELLED | {"not_idempotent", "crash", "hang", "unstable"}
"""Codes of faults that are shown in a newly started server."""

_SLOW: Final = _CANCELLED | {"hang", "mixed_answers"}
"""Codes of faults that are shown again at the end only: each time takes long."""


@dataclass(frozen=True)
class Candidate:
    """A fault that was seen once, and has to show a second time.

    Attributes:
        fault: the fault.
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
        watcher: watches the server.
        candidate: the fault.
        until: the time after which the calls aren't made smaller, on the clock of `monotonic`.
        last: the time after which the fault isn't shown again.

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
        watcher: watches the server.
        candidate: the fault.
        found: the fault as `settle` returned it.
        until: the time after which no call is made.

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
        fault: the fault as it last showed.
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
        calls = [step.call for step in steps] if code != "unknown_tool_accepted" else []
        if not all(self._watcher.tools[each.tool].fits(each) for each in calls):
            return None  # it isn't as valid by the schema as the first one
        return _WAYS_TO_SEE.get(code, _Tries.answered)(self, steps)

    def answered(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the answer to the last call has it."""
        outcome, call = self._answer(steps), steps[-1].call
        if outcome is None:
            return None
        if self.fault.code == "channel_noise":
            sleep(_SECONDS_FOR_NOISE)
            return self._watcher.noise()
        if self.fault.code == "unknown_tool_accepted":
            return self.fault if outcome.result is not None and not outcome.is_flagged else None
        tool = self._watcher.tools[call.tool]
        if self.fault.code == "unnamed_parameter":
            return unnamed_parameter(tool, call, outcome)
        return self._same(faults_of(tool, call, outcome, self._watcher.most_bytes, self._watcher.learned))

    def mixed(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if calls at the same time get other answers than alone."""
        is_shown = len(steps) > 1 and self._watcher.mixes([step.call for step in steps], _ROUNDS)
        return self.fault if is_shown else None

    def refused(self, steps: list[Step]) -> AnswerFault | None:
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

    def unstable(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the first of some equal calls succeeds, and the last one doesn't."""
        outcomes = self._replayed(steps)
        if len(outcomes) < len(steps) or len(steps) == 1 or outcomes[-1].is_lost:
            return None
        is_shown = not outcomes[0].is_flagged and outcomes[-1].is_flagged
        return self.fault if is_shown and len({step.call.key() for step in steps}) == 1 else None

    def _same(self, faults: Sequence[AnswerFault]) -> AnswerFault | None:
        return next((fault for fault in faults if fault.key == self.fault.key), None)

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
        if not self._is_fresh:
            self._server.start()
        self._is_fresh = False
        is_late = self._is_first and self.fault.code == "hang"  # what only takes long isn't one
        return self._watcher.made_again(steps, self._server.timeout * _PATIENCE if is_late else None)

    def lost(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the last call isn't answered, or if the server ends after its answer."""
        outcomes = self._replayed(steps)
        is_lost = bool(outcomes) and outcomes[-1].is_lost
        fault: AnswerFault | None = None
        if len(outcomes) == len(steps):
            watcher, last = self._watcher, outcomes[-1]
            fault = watcher.loss(steps[-1].call, last) if is_lost else watcher.loss_after(last)
        if not is_lost and fault is None:
            self._is_fresh = len(steps) == 1  # it lives, and the next call may as well be its first one
            return None
        self._server.start()
        self._is_fresh = True
        return None if fault is None else self._same([fault])

    def changed(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if the last call changes the state, and waiting doesn't."""
        call = self._prepared(steps)
        before = None if call is None else self._watcher.steady_state()
        if call is None or before is None:
            return None
        outcome = self._watcher.made(call)
        if outcome.is_lost:
            return None
        fault = change_of(self._watcher.tools[call.tool], outcome, before, self._watcher.state())
        return None if fault is None else self._same([fault])

    def changed_again(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if a second equal call changes something again."""
        call = self._prepared(steps)
        return self.fault if call is not None and self._watcher.changes_again(call) else None

    def cancelled(self, steps: list[Step]) -> AnswerFault | None:
        """Return the fault if it shows after the last call is cancelled."""
        call = self._prepared(steps)
        fault = None if call is None else fault_after_cancel(self._watcher, call)
        return None if fault is None else self._same([fault])

    def _prepared(self, steps: list[Step]) -> Call | None:
        """Make all calls but the last one, and return that one; None if it can't be made after them."""
        outcomes = self._replayed(steps[:-1])
        arguments = resolved(steps[-1], outcomes)
        if len(outcomes) < len(steps) - 1 or arguments is None:
            return None
        return replace(steps[-1].call, arguments=arguments)


_WAYS_TO_SEE: Final[Mapping[str, Callable[[_Tries, list[Step]], AnswerFault | None]]] = {
    "mixed_answers": _Tries.mixed,
    "unstable": _Tries.unstable,
    "valid_refused": _Tries.refused,
    "not_idempotent": _Tries.changed_again,
    **dict.fromkeys(("crash", "hang"), _Tries.lost),
    **dict.fromkeys(_CHANGES, _Tries.changed),
    **dict.fromkeys(_CANCELLED, _Tries.cancelled),
}
"""The ways to see faults that a single answer doesn't show."""


def _with_arguments(step: Step, arguments: Any) -> Step:
    links = tuple(link for link in step.links if value_at(arguments, link[0]) is not None)
    return Step(replace(step.call, arguments=arguments), links)
