"""How is a server probed: what is called when, and what is reported?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from ...json_values import to_json_text
from ...message_text import count_of, listed, quote
from ...similar_names import nearest
from ..lint import lint, many_tools
from ..tool_definitions import read_described
from .calls import Call, ProbedTool, storing_nothing
from .checks import AnswerFault, faults_of, says_one_thing, unnamed_parameter
from .differences import refused_value
from .evidence import Evidence
from .knowledge import Knowledge, walked, with_known_values
from .parts import paths_in, value_at
from .reports import KINDS, LEVELS, MAY_CHANGE, NO_TIME, FoundFault, Plan, ProbeReport, Step
from .settling import called_again, resolved
from .subject import MEMORY, ProbeError, Server, check_options, server_of
from .watching import ProbeLimits, ServerWatcher, State, change_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from .channel import ProbedOutcome

__all__ = ["plan", "probe"]

_MOST_LOST: Final = 3
"""Crashes of one tool, after which it isn't called any more; a call that hangs counts twice."""

_MOST_LOST_IN_ALL: Final = 60
_AT_ONCE: Final = 6
_STEPS: Final = 12
_LEAST_SEQUENCES: Final = 12
"""Even if few calls are asked for: one sequence alone rarely has the steps that show a fault."""

_ROUNDS_OF_VALUES: Final = 2
_LOOKING: Final = 0.3
_CALLING: Final = 0.5
_REPEATING: Final = 0.55
_RESUMING: Final = 0.75
_WALKING: Final = 0.85
"""The parts of the time after which one way of calling ends."""

_STARTING: Final = 0.25
"""The part of the time of a tool that a start may take before its calls."""

_MOST_SOUGHT: Final = 3
"""Generated calls that are changed until one succeeds."""

_QUICK: Final = 0.3
"""Seconds to start, up to which a server is started for a single call."""

_PLANNED: Final = 0.9
"""The part of the given time that is planned; the rest is for calls that aren't answered."""

_PLANNING: Final = 0.3
"""The part of the time in which tools are read and their calls are planned."""

_OTHER_DEFAULT: Final = frozenset({"unmarked_deletion"})
"""Codes of `lint` about hints that have another meaning in the protocol if they aren't stated."""


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
    context: str | None = None,
    memory: int = MEMORY,
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
        context: for `"MODULE:REGISTRY"`, the name of what is injected, such as `"app:make_context"`.
        memory: megabytes that each process of a server that is started may have; only Linux limits them.
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
        context=context,
        memory=memory,
        env=env,
        headers=headers,
        on_progress=on_progress,
    )
    try:
        limits = ProbeLimits(monotonic() + seconds * _PLANNED, calls, seed)
        watcher = ServerWatcher(server, {}, most_bytes)
        run = _ProbeRun(watcher, limits, Evidence(watcher, limits), on_progress or _silent)
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
    context: str | None = None,
    memory: int = MEMORY,
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
        context: as there.
        memory: as there.
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
        context=context,
        memory=memory,
        env=env,
        headers=headers,
    )
    try:
        limits, watcher = ProbeLimits(inf, calls, seed), ServerWatcher(server, {}, 1)
        run = _ProbeRun(watcher, limits, Evidence(watcher, limits), _silent)
        run.begin(allow, allow_all=allow_all)
        return run.plan
    finally:
        server.close()


def _silent(_: str, __: int, ___: int) -> None:
    """Show no progress."""


def _opened(target: Any, **options: Any) -> Server:
    check_options(options)
    given = {name: options[name] for name in ("setup", "timeout", "context", "memory")}
    return server_of(target, **given, env=options["env"] or {}, headers=options["headers"] or {})


@dataclass
class _ProbeRun:
    """A probe that runs.

    Attributes:
        evidence: the faults that were seen.
        state: of the server, as it was last seen; None if it never was.
        seen_at: how many starts and calls were before that.
        good: tool to its calls that succeeded, each after those that it needs.
        bases: tool to the one of these that is varied.
        refused: tool to wrong calls that it refused, with the answers.
        variations: tool to the calls that are made in the place of that one.
        tallies: tool to how its valid calls ended.
        largest: tool to the size of a number that was too large for it.
        knowledge: values that answers gave.
        known_calls: keys of calls that were made, each with those of the calls before it.
    """

    watcher: ServerWatcher
    limits: ProbeLimits
    evidence: Evidence
    progress: Callable[[str, int, int], None]
    plan: list[Plan] = field(default_factory=list[Plan])
    calls: dict[str, list[Call]] = field(default_factory=dict[str, "list[Call]"])
    found: list[FoundFault] = field(default_factory=list[FoundFault])
    lost: dict[str, int] = field(default_factory=dict[str, int])
    good: dict[str, list[list[Step]]] = field(default_factory=dict[str, "list[list[Step]]"])
    bases: dict[str, list[Step]] = field(default_factory=dict[str, "list[Step]"])
    refused: dict[str, list[tuple[Call, ProbedOutcome]]] = field(
        default_factory=dict[str, "list[tuple[Call, ProbedOutcome]]"]
    )
    variations: dict[str, Variation] = field(default_factory=dict[str, "Variation"])
    tallies: dict[str, Tally] = field(default_factory=dict[str, "Tally"])
    largest: dict[str, float] = field(default_factory=dict[str, float])
    knowledge: Knowledge = field(default_factory=Knowledge)
    known_calls: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    state: State | None = None
    seen_at: tuple[int, int] = (0, 0)
    notes: tuple[str, ...] = ()
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
        self.notes = tuple(self.server.notes())
        self._hear_noise(None, [])
        self._judge_definitions()
        self._call_unknown()
        self.watcher.find_observers(
            [
                Call(name, {}, "valid", "to see the state")
                for name in self.calls
                if not self.tools[name].problems({})
            ]
        )
        self._look_around()
        self._vary_all(_CALLING)
        self._vary_all(_CALLING)  # what others left of their time
        self._repeat_equal()
        self._call_at_once()
        self._cancel()
        self._vary_all(_RESUMING)
        self._walk()
        self.is_complete = self.is_complete and not any(each.is_waiting for each in self.variations.values())
        self._judge_tools()
        all_found = [*self.found, *self.evidence.settled(self.start, self.progress)]
        found = [each for level in LEVELS for each in all_found if each.finding.severity == level]
        return ProbeReport(
            self.server.target,
            found,
            [self._with_results(each) for each in self.plan],
            self.watcher.count,
            self.server.restarts,
            self.evidence.unrepeated,
            self.is_complete and self.evidence.is_in_time,
            self.limits.seed,
            self.notes,
        )

    def _with_results(self, plan: Plan) -> Plan:
        """Return a plan with how many of the valid calls were made, and how many of them succeeded."""
        tally = self.tallies.get(plan.tool)
        return plan if tally is None else plan._replace(made=tally.made, succeeded=tally.succeeded)

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
            self.evidence.note(
                AnswerFault("unknown_tool_accepted", (), f"it answers: {outcome.said}"), [Step(call)], None
            )

    def _look_around(self) -> None:
        """Make the generated valid calls, one of each tool in turn, then those with values of their answers.

        Tools that only read come first: what they give is there from the start.
        """
        for is_reading in (True, False):
            names = [name for name in self.calls if self.tools[name].is_read_only is is_reading]
            valid = [[each for each in self.calls[name] if each.is_generated] for name in names]
            self._call_in_turn([[[Step(call)] for call in each] for each in valid])
        for _ in range(_ROUNDS_OF_VALUES):
            self._call_in_turn([self._with_values(name) for name in self._reading_first()])
        good = [
            self.bases[name][-1].call for name in self._reading_first() if len(self.bases.get(name, ())) == 1
        ]
        self.watcher.find_observers([call for call in good if call.arguments])

    def _reading_first(self) -> list[str]:
        return sorted(self.calls, key=lambda name: not self.tools[name].is_read_only)

    def _with_values(self, name: str) -> list[list[Step]]:
        """Return calls of a tool with values that answers gave, which weren't made yet."""
        tool = self.tools[name]
        base = self._base_of(name)
        if not base:
            return []
        random = Random(f"{self.limits.seed} {name}")  # noqa: S311  # repeatable, not secret
        is_any = name not in self.bases
        made = with_known_values(tool, base[-1].call.arguments, self.knowledge, random, is_any=is_any)
        return [steps for steps in made if _key_of(steps) not in self.known_calls]

    def _base_of(self, name: str) -> list[Step]:
        """Return a call that succeeded, with most of its parts; one that is planned if none did."""
        if name in self.bases:
            return self.bases[name]
        generated = next((call for call in self.calls[name] if call.is_generated), None)
        if generated is None:
            return []
        return [Step(replace(generated, arguments=self.tools[name].full_call(generated.arguments)))]

    def _call_in_turn(self, queues: Sequence[Sequence[list[Step]]]) -> None:
        turns = [steps for turn in zip_longest(*queues) for steps in turn if steps is not None]
        for number, steps in enumerate(turns):
            if not self.limits.left(_LOOKING, self.start):
                self.is_complete = False
                return
            self.progress(f"calling {steps[-1].call.tool}", number, len(turns))
            self.known_calls.add(_key_of(steps))
            self._call(steps)

    def _vary_all(self, share: float) -> None:
        """Change a call of each tool in one part after the other; the tools share the time evenly.

        Args:
            share: of the whole time, after which this ends.
        """
        waiting = [
            name
            for name in self._reading_first()
            if name not in self.variations or self.variations[name].is_waiting
        ]
        for number, name in enumerate(waiting):
            self.progress(f"calling {name}", number, len(waiting))
            now = monotonic()
            end = self.start + (self.limits.until - self.start) * share
            self._vary(name, now + max(0.0, end - now) / (len(waiting) - number))

    def _vary(self, name: str, until: float) -> None:
        """Make varied calls of a tool, from where an earlier time ended."""
        variation = self.variations.get(name)
        is_first = variation is None
        if variation is None:
            variation = self.variations[name] = self._variation_of(name, until)
        until += self._start_for(variation, until)
        before = self._state_before()
        made = self._call_planned(variation, until)
        if variation.tool.is_read_only and self._watched() != before:  # one of them did it
            for call in made:
                self._call(variation.steps_of(call))
        if variation.is_good:
            self._compare(variation, until)
            if is_first:  # later calls of other tools may have changed what it reads
                self._call_again(name)
        self.evidence.show_again()

    def _start_for(self, variation: Variation, until: float) -> float:
        """Start the server before a tool that may change something is varied; return how long that took.

        If a start takes long, it is left out as long as the call still succeeds.
        """
        if variation.tool.is_read_only or not variation.is_good or len(variation.base) > 1:
            return 0.0
        if self.server.seconds_to_start > (until - monotonic()) * _STARTING:
            outcome = self.watcher.made(variation.base[-1].call)
            if not (outcome.is_lost or outcome.is_flagged):
                return 0.0
        self.server.start()
        return self.server.seconds_to_start

    def _variation_of(self, name: str, until: float) -> Variation:
        """Return the call of a tool that is varied, with all calls that are made in its place."""
        tool = self.tools[name]
        self._seek_base(name, until)
        base = self._full_base(name)
        others = [call for call in self.calls[name] if call.varied is None and not call.is_generated]
        planned = [*(tool.variations(base[-1].call.arguments) if base else []), *others]
        if not tool.is_read_only:
            planned.sort(key=lambda call: (call.kind != "invalid", call.magnitude()))
        return Variation(tool, base, name in self.bases, planned)

    def _call_planned(self, variation: Variation, until: float) -> list[Call]:
        """Make varied calls of a tool as long as there is time, and return them."""
        made: list[Call] = []
        watches = not variation.tool.is_read_only
        while variation.planned and monotonic() <= until:
            call = variation.planned.pop(0)
            if call.magnitude() > self.largest.get(call.tool, inf):
                continue
            made.append(call)
            outcome = self._call(variation.steps_of(call), watches=watches)
            if outcome is not None and outcome.is_flagged and call.kind == "valid":
                variation.refused.append(call)
        return made

    def _seek_base(self, name: str, until: float) -> None:
        """Change calls of a tool that were all refused in one part after the other, until one succeeds."""
        generated = [call.arguments for call in self.calls[name] if call.is_generated][:_MOST_SOUGHT]
        for arguments in [*map(self.tools[name].full_call, generated), *generated]:
            for call in self.tools[name].variations(arguments):
                if name in self.bases or monotonic() > until:
                    return
                if call.kind == "valid" and _key_of([Step(call)]) not in self.known_calls:
                    self.known_calls.add(_key_of([Step(call)]))
                    self._call([Step(call)])

    def _full_base(self, name: str) -> list[Step]:
        """Return the call of a tool that is varied: with all parts, if it succeeds so, too."""
        base = self._base_of(name)
        if name not in self.bases or not base:
            return base
        last = base[-1]
        whole = replace(last.call, arguments=self.tools[name].full_call(last.call.arguments))
        steps = [*base[:-1], last._replace(call=whole)]
        if whole.arguments == last.call.arguments:  # the order of keys may differ
            return steps
        outcome = self._call(steps)
        return base if outcome is None or outcome.is_flagged else steps

    def _compare(self, variation: Variation, until: float) -> None:
        """Find values that a tool refuses although it takes others in their place."""
        tool = variation.tool
        parts = {part.path: part for part in tool.parts}
        contexts = [steps[-1].call.arguments for steps in self.good.get(tool.name, ())]
        while variation.refused and monotonic() <= until:
            call = variation.refused.pop(0)
            part = parts.get(call.varied or ())
            if part is None or self.lost.get(tool.name, 0) >= _MOST_LOST:
                continue
            found = refused_value(
                tool,
                part,
                call.arguments,
                variation.arguments,
                contexts,
                lambda each: self._answer(variation, each),
            )
            if found is not None:
                self.evidence.note(found, variation.steps_of(call), tool.name)

    def _answer(self, variation: Variation, arguments: Any) -> ProbedOutcome | None:
        """Return the answer to a varied call; None if it doesn't come, which is no matter here."""
        steps = variation.steps_of(Call(variation.tool.name, arguments, "valid", "compared"))
        if variation.is_used_up is None:
            variation.is_used_up = self._is_used_up(variation)
        if variation.is_used_up:
            self.server.start()
        outcomes = called_again(self.server, steps, None)
        self.watcher.count += len(outcomes)
        if len(outcomes) == len(steps) and not outcomes[-1].is_lost:
            self._tally(steps[-1].call, outcomes[-1])
            return outcomes[-1]
        if outcomes and outcomes[-1].is_lost:
            self.server.start()
        return None

    def _is_used_up(self, variation: Variation) -> bool:
        """Return whether a call works only once, and a new server for each is quick enough."""
        if variation.tool.is_read_only or len(variation.base) > 1 or self.server.kind == "url":
            return False
        self.server.start()
        first, second = [self.watcher.made(variation.base[-1].call) for _ in range(2)]
        if first.is_lost or second.is_lost:
            self.server.start()
        return second.is_flagged and not first.is_flagged and self.server.seconds_to_start < _QUICK

    def _call_again(self, name: str) -> None:
        """Make calls that succeeded once more: of a tool that only reads they succeed again."""
        tool = self.tools[name]
        if not tool.is_read_only:
            return
        for steps in self.good.get(name, ())[:_AT_ONCE]:
            if len(steps) > 1:
                continue
            outcomes = [self.watcher.made(steps[-1].call) for _ in range(2)]
            if any(outcome.is_lost for outcome in outcomes):
                self.server.start()
            elif outcomes[1].is_flagged:
                said = f"the second time it answers: {outcomes[1].said}"
                self.evidence.note(AnswerFault("unstable", (), said), [*steps, *steps], name)
                return

    def _judge_tools(self) -> None:
        """Judge the answers of each tool together."""
        for name, refused in self.refused.items():
            call = says_one_thing(self.tools[name], refused)
            outcome = next((outcome for each, outcome in refused if each is call), None)
            if call is not None and outcome is not None:
                fault = unnamed_parameter(self.tools[name], call, outcome)
                if fault is not None:
                    self.evidence.note(fault, [Step(call)], name)
        for name, tally in self.tallies.items():
            variation = self.variations.get(name)
            is_tried = variation is not None and self.is_complete and not self.lost
            if is_tried and tally.made and not tally.succeeded:
                said = f"0 of {count_of(tally.made, 'calls')} succeeded; the last answer: {tally.last}"
                self.evidence.note(AnswerFault("never_succeeded", (), said), [], name)

    def _call(self, steps: list[Step], *, watches: bool = True) -> ProbedOutcome | None:
        """Make a call after those that it needs; return the answer, None if it wasn't made or answered.

        What is wrong with the answer is looked at a second time at once, since there may be no time later.
        """
        outcome = self._called(steps, watches=watches)
        self.evidence.show_again()
        return outcome

    def _called(self, steps: list[Step], *, watches: bool) -> ProbedOutcome | None:
        call = steps[-1].call
        if sum(self.lost.values()) > _MOST_LOST_IN_ALL:
            self.is_complete = False
            return None
        if self.lost.get(call.tool, 0) >= _MOST_LOST or (self.leaves_unreadable and not call.is_readable):
            return None
        tool = self.tools[call.tool]
        if len(steps) > 1:
            outcomes = called_again(self.server, steps[:-1], None)
            self.watcher.count += len(outcomes)
            arguments = resolved(steps[-1], outcomes)
            if arguments is None or any(outcome.is_lost for outcome in outcomes):
                self.server.start()
                return None
            call = replace(call, arguments=arguments)
            if not tool.fits(call):  # another value came back than the first time
                return None
        watches = watches and bool(self.watcher.observers or self.server.place)
        before = self._state_before() if watches else None
        outcome = self.watcher.made(call)
        if outcome.is_lost:
            self._note_lost(call, outcome, steps)
            return None
        self._judge(steps, call, outcome)
        ended = self.watcher.loss_after(outcome)
        if ended is not None:
            self._note_end(ended, steps, call)
            return outcome
        if before is not None:
            changed = change_of(tool, outcome, before, self._watched())
            if changed is not None:
                self.evidence.note(changed, steps, call.tool)
        return outcome

    def _state_before(self) -> State:
        """Return the state of the server, which is known if nothing was called since it was looked at."""
        return self.state if self.state is not None and self.seen_at == self._now else self._watched()

    @property
    def _now(self) -> tuple[int, int]:
        return self.server.restarts, self.watcher.count

    def _watched(self) -> State:
        """Return the state of the server."""
        found = self.state = self.watcher.state()
        self.seen_at = self._now
        return found

    def _judge(self, steps: list[Step], call: Call, outcome: ProbedOutcome) -> None:
        """Note what is wrong with an answer, and what it shows."""
        tool = self.tools[call.tool]
        for fault in faults_of(tool, call, outcome, self.watcher.most_bytes, self.watcher.learned):
            self.evidence.note(fault, steps, call.tool)
            if fault.code == "large_answer":
                self.largest[call.tool] = min(call.magnitude(), self.largest.get(call.tool, inf))
        self._hear_noise(call.tool, steps)
        self._tally(call, outcome)
        if call.kind == "invalid" and outcome.is_flagged:
            self.refused.setdefault(call.tool, []).append((call, outcome))
        if call.kind != "valid" or outcome.is_flagged:
            return
        good = self.good.setdefault(call.tool, [])
        good.append(steps)
        is_read = all(self.tools[step.call.tool].is_read_only for step in steps)
        self.knowledge.learn(() if is_read else steps, outcome)
        best = self.bases.get(call.tool)
        if best is None or _worth(steps) > _worth(best):
            self.bases[call.tool] = steps

    def _tally(self, call: Call, outcome: ProbedOutcome) -> None:
        if call.kind == "valid":
            tally = self.tallies.setdefault(call.tool, Tally())
            tally.made += 1
            tally.succeeded += not outcome.is_flagged
            tally.last = outcome.said if outcome.is_flagged else tally.last

    def _note_end(self, ended: AnswerFault, steps: list[Step], call: Call) -> None:
        self.lost[call.tool] = self.lost.get(call.tool, 0) + 1
        self.evidence.note(ended, steps, call.tool)
        self.server.start()

    def _hear_noise(self, tool: str | None, steps: list[Step]) -> None:
        noise = self.watcher.noise()
        if noise is not None:
            self.evidence.note(noise, steps, tool)

    def _note_lost(self, call: Call, outcome: ProbedOutcome, steps: list[Step]) -> None:
        """Note that a call wasn't answered, and start the server again."""
        self.lost[call.tool] = self.lost.get(call.tool, 0) + (1 if outcome.reply.kind == "closed" else 2)
        self.largest[call.tool] = min(call.magnitude(), self.largest.get(call.tool, inf))
        fault = self.watcher.loss(call, outcome)
        if fault is not None:
            self.evidence.note(fault, steps, call.tool)
        elif not call.is_readable:
            self.leaves_unreadable = True  # each of them is waited for
        self.server.start()

    # --- more than one call ----------------------------------------------------------------------

    def _alone(self, name: str) -> list[Call]:
        """Return calls of a tool that succeeded, and needed no others."""
        return [steps[0].call for steps in self.good.get(name, ()) if len(steps) == 1]

    def _repeat_equal(self) -> None:
        """Make calls a second time, of tools that say that this changes nothing."""
        for name, good in self.good.items():
            tool = self.tools[name]
            if tool.is_read_only or tool.hint("idempotentHint") is not True:
                continue
            for steps in sorted(good, key=_worth, reverse=True)[:_AT_ONCE]:
                if not self.limits.left(_REPEATING, self.start):
                    return
                self.server.start()
                before = called_again(self.server, steps[:-1], None)
                arguments = resolved(steps[-1], before)
                if arguments is not None and self.watcher.changes_again(
                    replace(steps[-1].call, arguments=arguments)
                ):
                    said = "the state differs after the second call"
                    self.evidence.note(AnswerFault("not_idempotent", (), said), steps, name)
                    break

    def _call_at_once(self) -> None:
        """Make several calls at once, whose answers one after the other are known."""
        for name in self.good:
            if not self.tools[name].is_read_only or not self.limits.left(_REPEATING + 0.03, self.start):
                continue
            chosen = self._alone(name)[:_AT_ONCE]
            if len(chosen) > 1 and self.watcher.mixes(chosen):
                message = "an answer differs from the one that the same call gets alone"
                self.evidence.note(
                    AnswerFault("mixed_answers", (), message), [Step(call) for call in chosen], name
                )

    def _cancel(self) -> None:
        """Cancel a call of each tool, and see whether the server still answers, and what is left."""
        self.server.start()
        for name in self._reading_first():
            if not self.good.get(name) or not self.limits.left(_REPEATING + 0.08, self.start):
                continue
            if self.tools[name].is_read_only:
                calls = self._alone(name)
                fault = self.watcher.after_cancel(calls[-1]) if calls else None
                if fault is not None:
                    self.evidence.note(fault, [Step(calls[-1])], name)
                    self.server.start()
                    if fault.code == "stuck_after_cancel":
                        return
                continue
            steps = self.good[name][0]
            if len(steps) == 1 and self.server.seconds_to_start < _QUICK and self.server.kind != "url":
                self.server.start()
                if self.watcher.leaves_part(steps[0].call):
                    said = "what is there differs from before, and from what the whole call leaves"
                    self.evidence.note(AnswerFault("changed_by_cancelled", (), said), steps, name)

    def _walk(self) -> None:
        """Make sequences of calls in which results are used again, as long as there is time."""
        if not any(not self.tools[name].is_read_only for name in self.calls):
            return
        random = Random(self.limits.seed)  # noqa: S311  # repeatable, not secret
        number, most = 0, max(_LEAST_SEQUENCES, self.limits.calls)
        while self.limits.left(_WALKING, self.start) and number < most:
            number += 1
            self.progress("calling in sequences", number, most)
            self.server.start()
            steps, outcome = walked(self.server, self.tools, self._known_good(), random, _STEPS, self._ends)
            self.watcher.count += len(steps)
            if not steps or outcome is None:
                continue
            call = steps[-1].call
            if outcome.is_lost:
                fault = self.watcher.loss(call, outcome)
                if fault is not None:
                    self.evidence.note(fault, steps, call.tool)
                continue
            ended = self.watcher.loss_after(outcome)
            for fault in [*self._step_faults(call, outcome), *([] if ended is None else [ended])]:
                self.evidence.note(fault, steps, call.tool)

    def _known_good(self) -> dict[str, list[Call]]:
        """Return the planned calls, with those of each tool that succeeded in front."""
        return {name: [*self._alone(name), *calls] for name, calls in self.calls.items()}

    def _ends(self, call: Call, outcome: ProbedOutcome) -> bool:
        """Return whether a sequence ends with an answer: it has a new fault, or nothing comes after it."""
        if not outcome.is_lost:
            self._tally(call, outcome)
        return bool(self._step_faults(call, outcome)) or self.watcher.loss_after(outcome) is not None

    def _step_faults(self, call: Call, outcome: ProbedOutcome) -> list[AnswerFault]:
        """Return the faults of an answer that aren't known yet."""
        known = self.watcher.learned
        found = faults_of(self.tools[call.tool], call, outcome, self.watcher.most_bytes, known)
        return [fault for fault in found if not self.evidence.knows(fault, call.tool)]


def _key_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return what makes a call the same as another one: an equal call after others is one of its own."""
    return tuple([step.call.key() for step in steps])


def _worth(steps: Sequence[Step]) -> tuple[int, int]:
    """Return how much a call is worth as a base: values of other answers, then the number of its parts."""
    call = steps[-1].call
    return call.why == "uses results", sum(1 for _ in paths_in(call.arguments))


@dataclass
class Tally:
    """How the valid calls of a tool ended.

    Attributes:
        made: how many were made.
        succeeded: how many of them had a result.
        last: what the last error said.
    """

    made: int = 0
    succeeded: int = 0
    last: str = ""


@dataclass
class Variation:
    """A call of a tool, in whose place others are made.

    Attributes:
        tool: that is called.
        base: the call, after those that it needs.
        is_good: whether it succeeded.
        planned: calls in its place that weren't made yet.
        refused: valid ones that were refused, and weren't compared yet.
        is_used_up: whether it works only once in a server; None if that isn't known yet.
    """

    tool: ProbedTool
    base: list[Step]
    is_good: bool
    planned: list[Call]
    refused: list[Call] = field(default_factory=list[Call])
    is_used_up: bool | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether something is left to do."""
        return bool(self.planned or (self.is_good and self.refused))

    @property
    def arguments(self) -> Any:
        """Those of the call."""
        return self.base[-1].call.arguments

    def steps_of(self, call: Call) -> list[Step]:
        """Return another call of the tool, after those that it needs for the values that it has of them."""
        if not self.base:
            return [Step(call)]
        links = tuple(
            link
            for link in self.base[-1].links
            if value_at(call.arguments, link[0]) is not None
            and to_json_text(value_at(call.arguments, link[0]))  # true isn't 1
            == to_json_text(value_at(self.arguments, link[0]))
        )
        return [*(self.base[:-1] if links else []), Step(call, links)]
