"""How is a server probed: what is called when, and what is reported?"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ...json_values import is_array, is_object, to_json_text
from ...message_text import fold, listed, nearest, quote
from ..lint import lint, many_tools
from ..tool_definitions import read_described
from .calls import Call, ProbedTool, storing_nothing
from .checks import AnswerFault, faults_of
from .reports import KINDS, LEVELS, MAY_CHANGE, NO_TIME, FoundFault, Plan, ProbeReport, Step
from .settling import STARTED_ANEW, Candidate, found_of, settle, settled_anew
from .subject import ProbeError, Server, check_options, server_of
from .watching import ProbeLimits, ServerWatcher, State, change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from .channel import ProbedOutcome

__all__ = ["plan", "probe"]

_MOST_LOST: Final = 3
"""Crashes and hangs of one tool, after which it isn't called any more."""

_MOST_RESTARTS: Final = 60
_AT_ONCE: Final = 6
_STEPS: Final = 12
_LEAST_SEQUENCES: Final = 12
"""Even if few calls are asked for: one sequence alone rarely has the steps that show a fault."""

_LEAST_SECONDS: Final = 2.0
"""For one fault, to show it again."""

_OVERTIME: Final = 0.05
"""How much longer than planned faults are shown again."""

_PLANNED: Final = 0.9
"""The part of the given time that is planned; the rest is for calls that aren't answered."""

_PLANNING: Final = 0.3
"""The part of the time in which tools are read and their calls are planned."""

_OTHER_DEFAULT: Final = frozenset({"unmarked_deletion"})
"""Codes of `lint` about hints that have another meaning in the protocol if they aren't stated."""

_ONE_CAUSE: Final = frozenset({"unnamed_parameter"})
"""Codes of faults that have one cause in all tools: they are reported once."""


def probe(
    target: Any,
    /,
    *,
    allow: Collection[str] = (),
    allow_all: bool = False,
    seconds: float = 60.0,
    calls: int = 20,
    timeout: float = 10.0,
    most_bytes: int = 1_000_000,
    seed: int = 0,
    setup: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> ProbeReport:
    """Call the tools of an MCP server with right and wrong arguments, and report faults in its answers.

    A server that the probe starts works in an empty folder, which is removed afterwards. Only tools that
    say `readOnlyHint` are called unless others are allowed.

    Args:
        target: a command, such as `"python server.py"`, as a text or as words; `"mcp:COMMAND"`; a URL;
            `"MODULE:REGISTRY"`; `"process:COMMAND"`, a program of `tools_of`; or a registry, a toolset, an
            executor or a list of tools, which then run in this process.
        allow: names of tools that may be called although they may change something.
        allow_all: whether all tools may; only for a server that the probe starts.
        seconds: after which the probe ends, even if not all planned calls were made.
        calls: generated calls of each kind for each tool.
        timeout: seconds in which a call has to be answered.
        most_bytes: an answer may have.
        seed: the same number makes the same calls.
        setup: a command line that prepares the working directory of the server, such as `"git init"`.
        env: environment variables for the server, beside those that it needs to start.
        headers: of HTTP requests, for a URL.
        on_progress: called with what is done, how many of its steps, and of how many.

    Returns:
        All findings, each with the smallest call that shows it.

    Raises:
        ProbeError: the server can't be reached, has no tools, or none with a name in `allow`; or none of them
            may be called.
        TypeError: an option is of another kind.
        ValueError: a number isn't above 0, or `allow_all` is given for a URL.
    """
    server = _opened(
        target,
        allow=allow,
        allow_all=allow_all,
        seconds=seconds,
        calls=calls,
        timeout=timeout,
        most_bytes=most_bytes,
        seed=seed,
        setup=setup,
        env=env,
        headers=headers,
        on_progress=on_progress,
    )
    try:
        limits = ProbeLimits(monotonic() + seconds * _PLANNED, calls, seed)
        run = _ProbeRun(ServerWatcher(server, {}, most_bytes), limits, on_progress or _silent)
        run.begin(allow, allow_all=allow_all)
        run.check_calls()
        return run.finish()
    finally:
        server.close()


def plan(
    target: Any,
    /,
    *,
    allow: Collection[str] = (),
    allow_all: bool = False,
    calls: int = 20,
    timeout: float = 10.0,
    seed: int = 0,
    setup: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> list[Plan]:
    """Return what `probe` would call, without calling a tool; the server is started, and asked for its tools.

    Args:
        target: as for `probe`, like all others.
        allow: as there.
        allow_all: as there.
        calls: as there.
        timeout: as there.
        seed: as there.
        setup: as there.
        env: as there.
        headers: as there.

    Raises:
        ProbeError: as there.
        TypeError: as there.
        ValueError: as there.
    """
    server = _opened(
        target,
        allow=allow,
        allow_all=allow_all,
        calls=calls,
        timeout=timeout,
        seed=seed,
        setup=setup,
        env=env,
        headers=headers,
    )
    try:
        run = _ProbeRun(ServerWatcher(server, {}, 1), ProbeLimits(inf, calls, seed), _silent)
        run.begin(allow, allow_all=allow_all)
        return run.plan
    finally:
        server.close()


def _silent(_: str, __: int, ___: int) -> None:
    """Show no progress."""


def _opened(target: Any, **options: Any) -> Server:
    check_options(options)
    given = {name: options[name] for name in ("setup", "timeout")}
    return server_of(target, **given, env=options["env"] or {}, headers=options["headers"] or {})


@dataclass
class _ProbeRun:
    """A probe that runs.

    Attributes:
        state: of the server, as it was seen after the last call; None if it wasn't seen since.
    """

    watcher: ServerWatcher
    limits: ProbeLimits
    progress: Callable[[str, int, int], None]
    plan: list[Plan] = field(default_factory=list[Plan])
    calls: dict[str, list[Call]] = field(default_factory=dict[str, "list[Call]"])
    candidates: dict[tuple[Any, ...], Candidate] = field(default_factory=dict[tuple[Any, ...], Candidate])
    found: list[FoundFault] = field(default_factory=list[FoundFault])
    lost: dict[str, int] = field(default_factory=dict[str, int])
    good: dict[str, list[Call]] = field(default_factory=dict[str, "list[Call]"])
    unrepeated: list[FoundFault] = field(default_factory=list[FoundFault])
    state: State | None = None
    is_complete: bool = True
    leaves_unreadable: bool = False
    start: float = field(default_factory=monotonic)

    @property
    def server(self) -> Server:
        """The server that is probed."""
        return self.watcher.server

    @property
    def tools(self) -> dict[str, ProbedTool]:
        """Its tools, by their names."""
        return self.watcher.tools

    # --- what is called --------------------------------------------------------------------------

    def begin(self, allow: Collection[str], *, allow_all: bool) -> None:
        """Start the server, read its tools, and plan the calls."""
        if allow_all and self.server.place is None:
            message = "allow_all is for servers that the probe starts: name the tools in allow"
            raise ValueError(message)
        self.server.start()
        described = self.server.list_tools()
        work = None if self.server.place is None else str(self.server.place.work)
        given = {each["name"]: each for each in described}
        for name in allow:
            if name not in given:
                near = nearest(name, given)
                there = listed(list(given)) or "none"
                hint = f"did you mean {quote(near)}?" if near else f"the server has {there}"
                message = f"there is no tool {quote(name)} to allow; {hint}"
                raise ProbeError(message)
        with storing_nothing():
            for name, each in given.items():
                if self.plan and not self.limits.left(_PLANNING, self.start):
                    numbers = dict.fromkeys(KINDS, 0)
                    self.plan.append(
                        Plan(name, reason=NO_TIME, is_called=False, numbers=numbers, example=None)
                    )
                    self.is_complete = False
                    continue
                tool = self.tools[name] = ProbedTool.of(each, work)
                self._plan(tool, is_allowed=allow_all or name in allow)

    def check_calls(self) -> None:
        """Refuse a probe that calls nothing, which would find nothing.

        Raises:
            ProbeError: no tool may be called.
        """
        if all(each.needs_allow for each in self.plan):
            names = listed([quote(each.tool) for each in self.plan])
            said = "no tool was called, since none says readOnlyHint: name some"
            messages = [f"{said} {how}, of {names}" for how in ("in allow=", "with --allow")]
            raise ProbeError(*messages)

    def _plan(self, tool: ProbedTool, *, is_allowed: bool) -> None:
        is_called = tool.is_read_only or is_allowed
        reason = "it says that it only reads" if tool.is_read_only else "it is allowed"
        if not is_called:
            reason = MAY_CHANGE
        elif tool.codec is None:
            is_called, reason = False, "its input schema can't be read as a whole"
        calls = tool.calls(self.limits.calls, self.limits.seed) if is_called else []
        if is_called and not calls:
            is_called, reason = False, "no call was found that its schema allows, and none that it refuses"
        if is_called:
            self.calls[tool.name] = calls
        numbers = {kind: sum(call.kind == kind for call in calls) for kind in KINDS}
        valid = [call.arguments for call in calls if call.kind == "valid"]
        example = min(valid, key=lambda each: len(to_json_text(each)), default=None)
        self.plan.append(Plan(tool.name, is_called, reason, numbers, example))

    # --- the probe -------------------------------------------------------------------------------

    def finish(self) -> ProbeReport:
        """Make the calls, then the faults small; return the report."""
        self.start = monotonic()  # from here on the time is shared
        self._hear_noise(None, [])
        self._judge_definitions()
        self._call_unknown()
        self.watcher.find_observers(self.calls)
        self._call_all()
        self._repeat_equal()
        self._call_at_once()
        self._cancel()
        self._walk()
        return ProbeReport(
            self.server.target,
            self._settle_all(),
            self.plan,
            self.watcher.count,
            self.server.restarts,
            self.unrepeated,
            self.is_complete,
            self.limits.seed,
        )

    def _judge_definitions(self) -> None:
        known = [each for each in self.server.tools if each["name"] in self.tools]
        described = read_described({"tools": known})
        judged = lint(described.tools) if described.tools else []
        if len(known) < len(self.server.tools):
            judged = [finding for finding in judged if finding.code != "many_tools"]
            judged += [finding for _, finding in many_tools(self.server.tools)]
        # What a parameter leaves to guess is the business of `check`.
        rules = [
            finding
            for finding in judged
            if finding.code not in _OTHER_DEFAULT
            and (finding.severity == "error" or not finding.path or finding.code == "unchecked")
        ]
        findings = [*described.findings, *rules]
        for finding in findings:
            name = described.originals.get(finding.tool or "", finding.tool)
            self.found.append(
                FoundFault(finding.replace(tool=name, where=None), (), is_smallest=True, repeat="")
            )

    def _call_unknown(self) -> None:
        call = Call("probe_no_such_tool", {}, "invalid", "a tool that doesn't exist")
        outcome = self.watcher.made(call)
        if outcome.result is not None and not outcome.is_flagged:
            self._note(
                AnswerFault("unknown_tool_accepted", (), f"it answers: {outcome.said}"), [Step(call)], None
            )

    def _call_all(self) -> None:
        """Make the planned calls, one of each tool in turn."""
        turns = [call for turn in zip_longest(*self.calls.values()) for call in turn if call is not None]
        for number, call in enumerate(turns):
            if not self.limits.left(0.5, self.start):
                self.is_complete = False
                return
            self.progress(f"calling {call.tool}", number, len(turns))
            self._call(call)

    def _call(self, call: Call) -> None:
        if self.lost.get(call.tool, 0) >= _MOST_LOST or self.server.restarts > _MOST_RESTARTS:
            return
        if self.leaves_unreadable and not call.is_readable:
            return
        tool = self.tools[call.tool]
        watches = bool(self.watcher.observers or self.server.place) and (
            not tool.is_read_only or len(self.good.get(call.tool, ())) < _AT_ONCE
        )
        before = (self.state or self.watcher.state()) if watches else None
        self.state = None
        outcome = self.watcher.made(call)
        if outcome.is_lost:
            self._note_lost(call, outcome, [Step(call)])
            return
        for fault in faults_of(tool, call, outcome, self.watcher.most_bytes):
            self._note(fault, [Step(call)], call.tool)
        self._hear_noise(call.tool, [Step(call)])
        if call.kind == "valid" and not outcome.is_flagged:
            self.good.setdefault(call.tool, []).append(call)
        ended = self.watcher.loss_after(outcome)
        if ended is not None:
            self.lost[call.tool] = self.lost.get(call.tool, 0) + 1
            self._note(ended, [Step(call)], call.tool)
            self.server.start()
            return
        if before is not None:
            self.state = self.watcher.state()
            changed = change_of(tool, outcome, before, self.state)
            if changed is not None:
                self._note(changed, [Step(call)], call.tool)

    def _note(self, fault: AnswerFault, steps: list[Step], tool: str | None) -> None:
        self.candidates.setdefault((tool, *fault.key), Candidate(fault, steps, tool))

    def _hear_noise(self, tool: str | None, steps: list[Step]) -> None:
        noise = self.watcher.noise()
        if noise is not None:
            self._note(noise, steps, tool)

    def _note_lost(self, call: Call, outcome: ProbedOutcome, steps: list[Step]) -> None:
        """Note that a call wasn't answered, and start the server again."""
        self.lost[call.tool] = self.lost.get(call.tool, 0) + 1
        fault = self.watcher.loss(call, outcome)
        if fault is not None:
            self._note(fault, steps, call.tool)
        elif not call.is_readable:
            self.leaves_unreadable = True  # each of them is waited for
        self.server.start()

    # --- more than one call ----------------------------------------------------------------------

    def _repeat_equal(self) -> None:
        """Make calls a second time, of tools that say that this changes nothing."""
        for name, calls in self.good.items():
            tool = self.tools[name]
            if tool.is_read_only or tool.hint("idempotentHint") is not True:
                continue
            for call in calls[:5]:
                if not self.limits.left(0.55, self.start):
                    return
                if self.watcher.changes_again(call):
                    self._note(
                        AnswerFault("not_idempotent", (), "the state differs after the second call"),
                        [Step(call)],
                        name,
                    )
                    break

    def _call_at_once(self) -> None:
        """Make several calls at once, whose answers one after the other are known."""
        for name, calls in self.good.items():
            if not self.tools[name].is_read_only or not self.limits.left(0.6, self.start):
                continue
            chosen = calls[:_AT_ONCE]
            if len(chosen) > 1 and self.watcher.mixes(chosen):
                message = "an answer differs from the one that the same call gets alone"
                self._note(AnswerFault("mixed_answers", (), message), [Step(call) for call in chosen], name)

    def _cancel(self) -> None:
        """Cancel a call of each tool that only reads, and see whether the server still answers."""
        for name, calls in self.good.items():
            if not self.tools[name].is_read_only or not self.limits.left(0.65, self.start):
                continue
            if self.watcher.sticks(calls[0]):
                fault = AnswerFault("stuck_after_cancel", (), "neither a ping nor an equal call is answered")
                self._note(fault, [Step(calls[0])], name)
                self.server.start()
                return

    def _walk(self) -> None:
        """Make sequences of calls in which results are used again, as long as there is time."""
        if not any(not self.tools[name].is_read_only for name in self.calls):
            return
        random = Random(self.limits.seed)  # noqa: S311  # repeatable, not secret
        number, most = 0, max(_LEAST_SEQUENCES, self.limits.calls)
        while self.limits.left(0.75, self.start) and number < most:
            number += 1
            self.progress("calling in sequences", number, most)
            self.server.start()
            steps, outcome = _walked(self.server, self.tools, self.calls, random, _STEPS, self._ends)
            self.watcher.count += len(steps)
            if not steps or outcome is None:
                continue
            call = steps[-1].call
            if outcome.is_lost:
                fault = self.watcher.loss(call, outcome)
                if fault is not None:
                    self._note(fault, steps, call.tool)
                continue
            ended = self.watcher.loss_after(outcome)
            for fault in [*self._step_faults(call, outcome), *([] if ended is None else [ended])]:
                self._note(fault, steps, call.tool)

    def _ends(self, call: Call, outcome: ProbedOutcome) -> bool:
        """Return whether a sequence ends with an answer: it has a new fault, or nothing comes after it."""
        return bool(self._step_faults(call, outcome)) or self.watcher.loss_after(outcome) is not None

    def _step_faults(self, call: Call, outcome: ProbedOutcome) -> list[AnswerFault]:
        """Return the faults of an answer that aren't known yet."""
        found = faults_of(self.tools[call.tool], call, outcome, self.watcher.most_bytes)
        return [fault for fault in found if (call.tool, *fault.key) not in self.candidates]

    # --- each fault once more --------------------------------------------------------------------

    def _settle_all(self) -> list[FoundFault]:
        found: list[FoundFault] = []
        alone: list[tuple[Candidate, FoundFault]] = []
        alike: dict[str, list[str]] = {}
        known: set[tuple[Any, ...]] = set()
        # A refusal that blames one parameter says more than one that blames several.
        order = sorted(self.candidates.values(), key=_by_blame)
        for number, candidate in enumerate(order):
            self.progress("making calls small", number, len(self.candidates))
            code, tool = candidate.fault.code, candidate.tool or ""
            place = (tool, code, candidate.fault.path)
            if code in alike:
                alike[code].append(tool)
            if code in alike or (code == "valid_refused" and place in known):
                continue
            share = max(_LEAST_SECONDS, (self.limits.until - monotonic()) / (len(self.candidates) - number))
            if not self.server.answers():  # an earlier call has ended it
                self.server.start()
            last = self._end - self.server.seconds_to_start  # what shows is shown in a new server, too
            settled = settle(self.watcher, candidate, min(monotonic() + 2 * share, last), last)
            if settled is None:
                self._note_unrepeated(candidate)
                self.is_complete = self.is_complete and monotonic() + self.server.seconds_to_start < last
            else:
                is_alone = len(settled.steps) == 1 and code not in STARTED_ANEW
                (alone.append((candidate, settled)) if is_alone else found.append(settled))
                known.add(place)
                if code in _ONE_CAUSE:
                    alike[code] = []
        found = [*self.found, *found, *self._settle_anew(alone)]
        found = [_with_others(each, alike.get(each.finding.code, ())) for each in found]
        return [each for level in LEVELS for each in found if each.finding.severity == level]

    def _settle_anew(self, alone: list[tuple[Candidate, FoundFault]]) -> list[FoundFault]:
        """Make the calls that show a fault alone once more, in one server that was just started."""
        if alone:
            self.server.start()
        found: list[FoundFault] = []
        for candidate, settled in alone:
            again = settled_anew(self.watcher, candidate, settled, self._end)
            if again is None:
                self._note_unrepeated(candidate)
            else:
                found.append(again)
            if again is None or len(again.steps) > 1:  # those calls count for the next tool, too
                self.server.start()
        return found

    def _note_unrepeated(self, candidate: Candidate) -> None:
        seen = (self.server, candidate.tool, candidate.fault, candidate.steps)
        self.unrepeated.append(found_of(*seen, is_smallest=False))

    @property
    def _end(self) -> float:
        """When faults aren't shown again any more: a little after the end."""
        return self.limits.until + (self.limits.until - self.start) * _OVERTIME


def _with_others(found: FoundFault, tools: Collection[str]) -> FoundFault:
    """Add to a finding which other tools have it, too."""
    if not tools:
        return found
    message = f"{found.finding.message} (so does the server for {listed(sorted(tools))})"
    return found._replace(finding=found.finding.replace(message=message))


def _by_blame(candidate: Candidate) -> tuple[int, str]:
    return candidate.fault.detail.count(" "), candidate.fault.severity or ""


# --- sequences, in which results feed later calls ------------------------------------------------

_Path = tuple[str | int, ...]
_MOST_VALUES = 200
_OFTEN = 0.8
_CHANGES = 0.6
"""How often a step is one of a tool that may change something: the others follow from what these did."""

_AGAIN = 0.25


def _walked(
    server: Server,
    tools: Mapping[str, ProbedTool],
    calls: Mapping[str, Sequence[Call]],
    random: Random,
    most: int,
    ends: Callable[[Call, ProbedOutcome], bool],
) -> tuple[list[Step], ProbedOutcome | None]:
    """Make a sequence of valid calls, in which values of results are used again.

    Args:
        server: that is called; it has just been started.
        tools: by their names.
        calls: that may be made, by the names of their tools.
        random: chooses among them.
        most: calls of the sequence.
        ends: whether an answer is the last one that is wanted.

    Returns:
        The calls up to the first one whose answer is the last or doesn't come, and that answer.
    """
    choices = {name: [each for each in listed if each.kind == "valid"] for name, listed in calls.items()}
    names = [name for name, listed in choices.items() if listed]
    steps: list[Step] = []
    values: list[tuple[str, int, _Path, Any]] = []
    outcome: ProbedOutcome | None = None
    for number in range(most if names else 0):
        step = _next(steps, random, names, choices, values, tools)
        steps.append(step)
        outcome = server.call(step.call.tool, step.call.arguments)
        if outcome.is_lost or ends(step.call, outcome):
            break
        if not outcome.is_flagged:
            values += [(key, number, path, value) for key, path, value in _scalars(outcome.data, ())]
            del values[:-_MOST_VALUES]
    return steps, outcome


def _next(
    steps: Sequence[Step],
    random: Random,
    names: Sequence[str],
    choices: Mapping[str, Sequence[Call]],
    values: Sequence[tuple[str, int, _Path, Any]],
    tools: Mapping[str, ProbedTool],
) -> Step:
    if steps and random.random() < _AGAIN:
        return steps[-1]
    changing = [name for name in names if not tools[name].is_read_only]
    name = random.choice(changing if changing and random.random() < _CHANGES else list(names))
    call = random.choice(list(choices[name]))
    arguments, links = dict(call.arguments), list[tuple[str, int, _Path]]()
    for parameter in tools[name].properties:
        fitting = [each for each in values if _means(parameter, each[0])]
        if not fitting or random.random() > _OFTEN:
            continue
        _, number, path, value = random.choice(fitting)
        changed = {**arguments, parameter: value}
        if tools[name].allows(changed):
            arguments = changed
            links.append((parameter, number, path))
    return Step(Call(name, arguments, "valid", "uses results"), tuple(links))


def _means(parameter: str, key: str) -> bool:
    """Return whether a parameter means the value of a key: `item_id` is the `id` of an item."""
    one, other = fold(parameter), fold(key)
    return one == other or (min(len(one), len(other)) > 1 and (one.endswith(other) or other.endswith(one)))


def _scalars(value: Any, path: _Path) -> Iterator[tuple[str, _Path, Any]]:
    """Yield the texts and numbers of data that have a key: the key, the path, the value."""
    if len(path) > 6:  # noqa: PLR2004  # no more levels
        return
    if is_object(value):
        for key, inner in value.items():
            yield from _scalars(inner, (*path, key))
    elif is_array(value):
        for index, inner in enumerate(value[:20]):
            yield from _scalars(inner, (*path, index))
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        key = next((step for step in reversed(path) if isinstance(step, str)), None)
        if key is not None:
            yield key, path, value
