"""How does the probe see what a call does to the server: what it changes, and whether the server goes on?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final, NamedTuple

from ...message_text import clip, escape, listed, one_line, quote
from .calls import Call, ProbedTool
from .checks import AnswerFault
from .error_texts import Learned
from .sequences import Step, called_again

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .outcomes import ProbedOutcome
    from .subject import Server

_MOST_OBSERVERS: Final = 3
SECONDS_BETWEEN: Final = 1.1
"""The seconds between two equal calls, so that answers with the time of day differ."""

_MOST_CHANGES: Final = 24
_MOST_CHANGES_OF_TOOL: Final = 3
_TIMING: Final = frozenset({"duration", "seconds", "timeout", "delay", "wait", "sleep", "ms", "interval"})


@dataclass(frozen=True)
class ProbeLimits:
    """The limits of a probe.

    Attributes:
        until: the end of the probe, on the clock of `monotonic`.
        calls: the number of generated calls of each kind for each tool.
        seed: the number that decides everything that is drawn.
        start: the start of the time that the kinds of calls share, on the same clock.
    """

    until: float
    calls: int
    seed: int
    start: float = field(default_factory=monotonic)

    def end_of(self, share: float) -> float:
        """Return when a share of the time is over."""
        return self.start + (self.until - self.start) * share

    def left(self, share: float) -> bool:
        """Return whether a share of the time isn't over."""
        return monotonic() < self.end_of(share)


class State(NamedTuple):
    """The state of a server: its files, and the answers of some tools.

    Attributes:
        files: the digest of each file in its working directory, by path.
        answers: the answers of tools that only read, by the name of the tool and the key of the call.
    """

    files: dict[str, str]
    answers: dict[tuple[str, str], str]


def change_of(tool: ProbedTool, outcome: ProbedOutcome, before: State, after: State) -> AnswerFault | None:
    """Return the fault that a call changed something; None if it changed nothing, or may do so."""
    if outcome.is_flagged:
        code = "changed_by_refused"
    elif tool.is_read_only:
        code = "read_only_changed"
    else:
        return None
    said = differences_of(before, after)
    return AnswerFault(code, (), clip(said, 300)) if said else None


def differences_of(before: State, after: State) -> str:
    """Describe what differs between two states of a server; empty if nothing does."""
    files = sorted(
        path for path in {*before.files, *after.files} if before.files.get(path) != after.files.get(path)
    )
    tools = dict.fromkeys(
        key[0] for key in before.answers if before.answers[key] != after.answers.get(key, before.answers[key])
    )
    parts = [f"the files {listed([escape(path) for path in files])} differ afterwards"] if files else []
    parts += [f"{escape(name)} gives another answer afterwards" for name in tools]
    return "; ".join(parts)


@dataclass
class ServerWatcher:
    """Calls a server, and compares its state before and after.

    Attributes:
        server: the called server.
        tools: its tools by name.
        most_bytes: the size of the largest answer that is no fault.
        observers: calls whose answers show the state of the server.
        count: the number of calls so far.
        learned: the texts of its answers.
        seconds: the time of the last call of each tool.
        first_answers: a digest of the first answer to each call that only reads, by the key of the call.
    """

    server: Server
    tools: dict[str, ProbedTool]
    most_bytes: int
    observers: list[Call] = field(default_factory=list[Call])
    count: int = 0
    learned: Learned = field(default_factory=Learned)
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    first_answers: dict[str, int] = field(default_factory=dict[str, int])

    def made(self, call: Call, seconds: float | None = None) -> ProbedOutcome:
        """Make a call, and wait for its answer."""
        self.count += 1
        begin = monotonic()
        outcome = self.server.call(call.tool, call.arguments, seconds)
        self.seconds[call.tool] = monotonic() - begin
        tool = self.tools.get(call.tool)
        if tool is not None:
            self.learned.learn(tool, call, outcome)
            if tool.is_read_only and not (outcome.is_lost or outcome.is_flagged):
                self.first_answers.setdefault(call.key(), hash(outcome.answer()))
        return outcome

    def made_again(self, steps: Sequence[Step], seconds: float | None = None) -> list[ProbedOutcome]:
        """Make the calls of a sequence as `called_again` does, and count them."""
        outcomes = called_again(self.server, steps, seconds)
        self.count += len(outcomes)
        return outcomes

    def changes_so_far(self) -> tuple[Step, ...]:
        """Return the last successful calls of each tool that may change something, in their order."""
        calls = [
            Call(name, arguments, "valid", "came before")
            for name, arguments in self.server.succeeded
            if name in self.tools and not self.tools[name].is_read_only
        ]
        once = {call.key(): call for call in calls if self.tools[call.tool].fits(call)}
        counts: Counter[str] = Counter()
        found: list[Step] = []
        for call in reversed(once.values()):
            counts[call.tool] += 1
            if counts[call.tool] <= _MOST_CHANGES_OF_TOOL and len(found) < _MOST_CHANGES:
                found.append(Step(call))
        return tuple(reversed(found))

    def find_observers(self, calls: Iterable[Call]) -> None:
        """Choose calls whose answers show the state of the server: of tools that only read.

        Args:
            calls: the candidates; at most three are added, and those whose answers have changed since their
                first call come first.
        """
        known = len(self.observers)
        reading = [call for call in calls if self.tools[call.tool].is_read_only]
        for call in sorted(reading, key=self._is_as_at_first):
            if len(self.observers) - known < _MOST_OBSERVERS and self._only_looks(call):
                self.observers.append(call)
        if len(self.observers) == known:
            return
        first = self.observed()
        sleep(SECONDS_BETWEEN)
        second = self.observed()
        self.observers = [
            call
            for call in self.observers
            if (key := (call.tool, call.key())) in first and first[key] == second.get(key)
        ]

    def _is_as_at_first(self, call: Call) -> bool:
        """Return whether a call still has its first answer."""
        first = self.first_answers.get(call.key())
        outcome = self.made(call)
        return outcome.is_lost or first in (None, hash(outcome.answer()))

    def _only_looks(self, call: Call) -> bool:
        """Return whether a call succeeds twice with the same answer, and changes nothing."""
        before = self.state()
        one, other = self.made(call), self.made(call)
        is_good = not (one.is_lost or one.is_flagged) and one.answer() == other.answer()
        return is_good and self.state() == before

    def observed(self) -> dict[tuple[str, str], str]:
        """Return the answers of the observers; every error counts as the same answer."""
        found: dict[tuple[str, str], str] = {}
        for call in self.observers:
            self.count += 1
            outcome = self.server.call(call.tool, call.arguments)
            if not outcome.is_lost:
                found[call.tool, call.key()] = "" if outcome.is_flagged else outcome.answer()
        return found

    def state(self) -> State:
        """Return the state of the server."""
        return State(self.server.files(), self.observed())

    def steady_state(self) -> State | None:
        """Return the state of the server; None if looking at it is enough to change it."""
        found = self.state()
        return found if self.state() == found else None

    def noise(self) -> AnswerFault | None:
        """Return the fault that lines aren't messages; None if no such lines came since the last time."""
        lines = self.server.noise()
        if not lines:
            return None
        return AnswerFault("channel_noise", (), f"it writes {quote(one_line(lines[0], 200))}")

    def loss(self, call: Call, outcome: ProbedOutcome) -> AnswerFault | None:
        """Return the fault that an answer is missing; None if the call may take long, or need not be read."""
        if outcome.kind == "closed":
            return AnswerFault("crash", (), str(outcome.value))
        if not self.server.answers():
            return AnswerFault("hang", (), f"{outcome.value}, and a ping isn't answered either")
        tool = self.tools[call.tool]
        words = {word for name in tool.properties for word in name.lower().replace("-", "_").split("_")}
        if tool.hint("openWorldHint") is True or words & _TIMING or not call.is_readable:
            return None
        return AnswerFault("hang", (), f"{outcome.value}, while a ping is answered", "warning")

    def loss_after(self, outcome: ProbedOutcome) -> AnswerFault | None:
        """Return the fault that the server ends or hangs after an answer; None if it goes on.

        A server behind a URL is asked only after errors, since each question takes time there.
        """
        if not outcome.is_flagged and self.server.kind == "url":
            return None
        ping = self.server.ping()
        if not ping.is_lost:
            return None
        code = "crash" if ping.kind == "closed" else "hang"
        return AnswerFault(code, (), "it answers this call, and no ping after that")

    def changes_again(self, call: Call) -> bool:
        """Return whether a second equal call changes something again."""
        first = self.made(call)
        before = self.state()
        second = self.made(call)
        if first.is_lost or second.is_lost or first.is_flagged or second.is_flagged:
            return False
        return bool(differences_of(before, self.state()))

    def mixes(self, calls: Sequence[Call], rounds: int = 2) -> bool:
        """Return whether calls at the same time get other answers than one after the other.

        Args:
            calls: calls of tools that only read.
            rounds: the number of times that they are made at once: answers aren't mixed up each time.
        """
        alone = [self.made(call) for call in calls]
        again = [self.made(call) for call in calls]
        is_steady = [one.answer() == two.answer() for one, two in zip(alone, again, strict=True)]
        if any(one.is_lost for one in [*alone, *again]):
            self.server.start()
            return False
        for _ in range(rounds):
            requests = [self.server.send(call.tool, call.arguments) for call in calls]
            self.count += len(calls)
            together = [self.server.wait(request) for request in requests]
            if any(one.is_lost for one in together):
                self.server.start()
                return True
            later = [self.made(call) for call in calls]  # answers that change with the time differ here, too
            if any(
                steady and one.answer() == last.answer() != other.answer()
                for steady, one, other, last in zip(is_steady, alone, together, later, strict=True)
            ):
                return True
        return False
