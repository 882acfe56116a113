"""What does each call of a probe show, and which calls and values of it are used again?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Final

from .checks import faults_of
from .knowledge import Knowledge
from .parts import paths_in
from .sequences import Step, resolved
from .watching import State, change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .calls import Call, ProbedTool
    from .checks import AnswerFault
    from .evidence import Evidence
    from .outcomes import ProbedOutcome
    from .reports import Plan
    from .subject import Server
    from .watching import ProbeLimits, ServerWatcher

_MOST_LOST: Final = 3
"""The number of crashes of one tool after which it isn't called any more; a hang counts twice."""

_MOST_LOST_IN_ALL: Final = 60


@dataclass
class CallTally:
    """The outcomes of the valid calls of a tool.

    Attributes:
        made: the number of valid calls.
        succeeded: the number of calls with a result.
        last: an excerpt of the last error.
    """

    made: int = 0
    succeeded: int = 0
    last: str = ""

    def add(self, outcome: ProbedOutcome) -> None:
        """Count a call that was answered."""
        self.made += 1
        self.succeeded += not outcome.is_flagged
        self.last = outcome.said if outcome.is_flagged else self.last


@dataclass
class ToolCaller:
    """Makes the calls of a probe, notes the faults of the answers, and keeps useful calls and values.

    Attributes:
        watcher: watches the server.
        limits: the limits of the probe.
        calls: tool to its planned calls.
        progress: called with the present work, the number of finished steps, and the number of all steps.
        evidence: the faults that were seen.
        is_complete: whether all calls were made for which there should have been time.
        good: tool to its calls that succeeded, each after those that it needs.
        bases: tool to the one of these that has most parts.
        refused: tool to wrong calls that it refused, with the answers.
        tallies: tool to the outcomes of its valid calls.
        largest: tool to the size of a number that was too large for it.
        knowledge: values that answers gave.
        lost: tool to the number of its calls in which the server ended or hung.
    """

    watcher: ServerWatcher
    limits: ProbeLimits
    calls: dict[str, list[Call]]
    progress: Callable[[str, int, int], None]
    evidence: Evidence
    is_complete: bool = True
    good: dict[str, list[list[Step]]] = field(default_factory=dict[str, "list[list[Step]]"])
    bases: dict[str, list[Step]] = field(default_factory=dict[str, "list[Step]"])
    refused: dict[str, list[tuple[Call, ProbedOutcome]]] = field(
        default_factory=dict[str, "list[tuple[Call, ProbedOutcome]]"]
    )
    tallies: dict[str, CallTally] = field(default_factory=dict[str, CallTally])
    largest: dict[str, float] = field(default_factory=dict[str, float])
    knowledge: Knowledge = field(default_factory=Knowledge)
    lost: dict[str, int] = field(default_factory=dict[str, int])
    _tried: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    _state: State | None = None
    _seen_at: tuple[int, int] = (0, 0)
    _leaves_unreadable: bool = False

    @property
    def server(self) -> Server:
        """The server that is probed."""
        return self.watcher.server

    @property
    def tools(self) -> dict[str, ProbedTool]:
        """Its tools, by their names."""
        return self.watcher.tools

    @property
    def reading_first(self) -> list[str]:
        """The names of the tools that are called, with those in front that only read."""
        return sorted(self.calls, key=lambda name: not self.tools[name].is_read_only)

    def has_time(self, share: float) -> bool:
        """Return whether a share of the time isn't over; if it is, the probe isn't complete."""
        is_left = self.limits.left(share)
        self.is_complete = self.is_complete and is_left
        return is_left

    def is_given_up(self, name: str) -> bool:
        """Return whether a tool isn't called any more, since its calls end the server."""
        return self.lost.get(name, 0) >= _MOST_LOST

    def alone(self, name: str) -> list[Call]:
        """Return the calls of a tool that succeeded without other calls before them."""
        return [steps[0].call for steps in self.good.get(name, ()) if len(steps) == 1]

    def base_of(self, name: str) -> list[Step]:
        """Return the successful call of a tool with the most parts; a planned call if none succeeded."""
        if name in self.bases:
            return self.bases[name]
        generated = next((call for call in self.calls[name] if call.is_generated), None)
        if generated is None:
            return []
        return [Step(replace(generated, arguments=self.tools[name].full_call(generated.arguments)))]

    def is_new(self, steps: Sequence[Step]) -> bool:
        """Return whether a call wasn't tried yet, after the same calls."""
        return _key_of(steps) not in self._tried

    # --- one call ------------------------------------------------------------------------------------

    def call(self, steps: list[Step], *, watches: bool = True) -> ProbedOutcome | None:
        """Make a call, after the calls that it needs, and judge the answer.

        A fault is shown a second time at once, since there may be no time later.

        Args:
            steps: the calls, of which the last one is judged.
            watches: whether to compare the state of the server before and after the call.

        Returns:
            The answer; None if the call wasn't made or answered.
        """
        self._tried.add(_key_of(steps))
        outcome = self._called(steps, watches=watches)
        self.evidence.show_again()
        return outcome

    def _called(self, steps: list[Step], *, watches: bool) -> ProbedOutcome | None:
        call = self._ready_call(steps)
        if call is None:
            return None
        watches = watches and bool(self.watcher.observers or self.server.place)
        before = self.state_before() if watches else None
        outcome = self.watcher.made(call)
        if outcome.is_lost:
            self._note_lost(call, outcome, steps)
            return None
        self._judge(steps, call, outcome)
        ended = self.watcher.loss_after(outcome)
        if ended is not None:
            self._note_end(ended, steps, call)
        elif before is not None:
            changed = change_of(self.tools[call.tool], outcome, before, self.watched())
            if changed is not None:
                self.evidence.note(changed, steps, call.tool)
        return outcome

    def _ready_call(self, steps: list[Step]) -> Call | None:
        """Make the calls before the last one, and return the last one; None if it can't be made."""
        call = steps[-1].call
        if sum(self.lost.values()) > _MOST_LOST_IN_ALL:
            self.is_complete = False
            return None
        if self.is_given_up(call.tool) or (self._leaves_unreadable and not call.is_readable):
            return None
        if len(steps) == 1:
            return call
        outcomes = self.watcher.made_again(steps[:-1])
        arguments = resolved(steps[-1], outcomes)
        if arguments is None or any(outcome.is_lost for outcome in outcomes):
            self.server.start()
            return None
        call = replace(call, arguments=arguments)
        return call if self.tools[call.tool].fits(call) else None  # another value may have come back

    def state_before(self) -> State:
        """Return the state of the server; look at it only if something was called since the last time."""
        return self._state if self._state is not None and self._seen_at == self._now else self.watched()

    @property
    def _now(self) -> tuple[int, int]:
        return self.server.restarts, self.watcher.count

    def watched(self) -> State:
        """Look at the state of the server."""
        found = self._state = self.watcher.state()
        self._seen_at = self._now
        return found

    # --- what the answer shows -----------------------------------------------------------------------

    def _judge(self, steps: list[Step], call: Call, outcome: ProbedOutcome) -> None:
        """Note the faults of an answer, and keep the call if it is useful."""
        tool = self.tools[call.tool]
        for fault in faults_of(tool, call, outcome, self.watcher.most_bytes, self.watcher.learned):
            self.evidence.note(fault, steps, call.tool)
            if fault.code == "large_answer":
                self.largest[call.tool] = min(call.magnitude(), self.largest.get(call.tool, inf))
        self.hear_noise(call.tool, steps)
        self.count(call, outcome)
        if call.kind == "invalid" and outcome.is_flagged:
            self.refused.setdefault(call.tool, []).append((call, outcome))
        if call.kind == "valid" and not outcome.is_flagged:
            self._keep_good(steps, outcome)

    def _keep_good(self, steps: list[Step], outcome: ProbedOutcome) -> None:
        """Keep a call that succeeded, and the values that it gave."""
        name = steps[-1].call.tool
        self.good.setdefault(name, []).append(steps)
        is_read = all(self.tools[step.call.tool].is_read_only for step in steps)
        self.knowledge.learn(() if is_read else steps, outcome)
        best = self.bases.get(name)
        if best is None or worth_of(steps) > worth_of(best):
            self.bases[name] = steps

    def count(self, call: Call, outcome: ProbedOutcome) -> None:
        """Count the outcome of a valid call."""
        if call.kind == "valid":
            self.tallies.setdefault(call.tool, CallTally()).add(outcome)

    def with_numbers(self, plan: Plan) -> Plan:
        """Return a plan with the numbers of valid calls: those that were made, and those that succeeded."""
        tally = self.tallies.get(plan.tool, CallTally())
        return plan._replace(made=tally.made, succeeded=tally.succeeded)

    def hear_noise(self, tool: str | None, steps: list[Step]) -> None:
        """Note lines on the channel that aren't messages."""
        noise = self.watcher.noise()
        if noise is not None:
            self.evidence.note(noise, steps, tool)

    def _note_end(self, ended: AnswerFault, steps: list[Step], call: Call) -> None:
        """Note that the server ended after an answer, and start it again."""
        self.lost[call.tool] = self.lost.get(call.tool, 0) + 1
        self.evidence.note(ended, steps, call.tool)
        self.server.start()

    def _note_lost(self, call: Call, outcome: ProbedOutcome, steps: list[Step]) -> None:
        """Note that a call wasn't answered, and start the server again."""
        self.lost[call.tool] = self.lost.get(call.tool, 0) + (1 if outcome.kind == "closed" else 2)
        self.largest[call.tool] = min(call.magnitude(), self.largest.get(call.tool, inf))
        fault = self.watcher.loss(call, outcome)
        if fault is not None:
            self.evidence.note(fault, steps, call.tool)
        elif not call.is_readable:
            self._leaves_unreadable = True  # each of them is waited for
        self.server.start()


def _key_of(steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple([step.call.key() for step in steps])


def worth_of(steps: Sequence[Step]) -> tuple[int, int]:
    """Return the worth of a call as a base: values of other answers count first, then the number of parts."""
    call = steps[-1].call
    return call.why == "uses results", sum(1 for _ in paths_in(call.arguments))
