"""What do several calls show that one alone doesn't: equal ones, at once, cancelled, or in a sequence?"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

from ...json_values import to_json_text
from ...message_text import count_of
from .calling import worth_of
from .checks import AnswerFault, faults_of, says_one_thing, unnamed_parameter
from .parts import paths_in
from .sequences import Step, called_again, resolved
from .walking import walked
from .words import pattern_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from .calling import ToolCaller
    from .calls import Call
    from .outcomes import ProbedOutcome

_AT_ONCE: Final = 6
_STEPS: Final = 12
LEAST_SEQUENCES: Final = 12
"""Even if few calls are asked for: one sequence alone rarely has the steps that show a fault."""

_REPEATING: Final = 0.55
_TOGETHER: Final = 0.58
_CANCELLING: Final = 0.63
_WALKING: Final = 0.85
"""The parts of the time after which one way of calling ends."""


def call_again(caller: ToolCaller, name: str) -> None:
    """Repeat successful calls of a tool that only reads: they have to succeed again."""
    if not caller.tools[name].is_read_only:
        return
    for steps in caller.good.get(name, ())[:_AT_ONCE]:
        if len(steps) > 1:
            continue
        first, second = [caller.watcher.made(steps[-1].call) for _ in range(2)]
        if first.is_flagged and second.is_flagged:  # another tool may have changed what it reads
            caller.server.start()
            first, second = [caller.watcher.made(steps[-1].call) for _ in range(2)]
        if first.is_lost or second.is_lost:
            caller.server.start()
        elif second.is_flagged and not first.is_flagged:
            said = f"the second time it answers: {second.said}"
            caller.evidence.note(AnswerFault("unstable", (), said), [*steps, *steps], name)
            return


def repeat_equal(caller: ToolCaller) -> None:
    """Repeat calls of tools that say that a second call changes nothing."""
    for name, good in caller.good.items():
        tool = caller.tools[name]
        if tool.is_read_only or tool.hint("idempotentHint") is not True:
            continue
        for steps in sorted(good, key=worth_of, reverse=True)[:_AT_ONCE]:
            if not caller.has_time(_REPEATING):
                return
            if _changes_again(caller, steps):
                said = "the state differs after the second call"
                caller.evidence.note(AnswerFault("not_idempotent", (), said), steps, name)
                break


def _changes_again(caller: ToolCaller, steps: list[Step]) -> bool:
    """Return whether a second equal call in a new server changes something again."""
    caller.server.start()
    before = called_again(caller.server, steps[:-1], None)
    arguments = resolved(steps[-1], before)
    if arguments is None:
        return False
    return caller.watcher.changes_again(replace(steps[-1].call, arguments=arguments))


def call_at_once(caller: ToolCaller) -> None:
    """Make several calls at the same time, and compare the answers with those to single calls."""
    for name in caller.good:
        chosen = caller.alone(name)[:_AT_ONCE] if caller.tools[name].is_read_only else []
        if len(chosen) > 1 and caller.has_time(_TOGETHER) and caller.watcher.mixes(chosen):
            said = "an answer differs from the one that the same call gets alone"
            caller.evidence.note(
                AnswerFault("mixed_answers", (), said), [Step(call) for call in chosen], name
            )


def cancel_calls(caller: ToolCaller) -> None:
    """Cancel a call of each tool, and see whether the server still answers, and what is left."""
    caller.server.start()
    for name in caller.reading_first:
        if not caller.good.get(name) or not caller.has_time(_CANCELLING):
            continue
        fault, steps = (
            _after_cancelled_reading(caller, name)
            if caller.tools[name].is_read_only
            else _after_cancelled_change(caller, name)
        )
        if fault is not None:
            caller.evidence.note(fault, steps, name)
            if fault.code == "stuck_after_cancel":
                return


def _after_cancelled_reading(caller: ToolCaller, name: str) -> tuple[AnswerFault | None, list[Step]]:
    """Cancel a call of a tool that only reads; return the fault that shows then, and the call."""
    calls = sorted(caller.alone(name), key=_size)
    fault = caller.watcher.after_cancel(calls[-1]) if calls else None
    if fault is not None:
        caller.server.start()
    return fault, [Step(call) for call in calls[-1:]]


def _after_cancelled_change(caller: ToolCaller, name: str) -> tuple[AnswerFault | None, list[Step]]:
    """Cancel a call of a tool that may change something; return the fault that shows then, and the call."""
    calls = sorted(caller.alone(name), key=_size)
    if not calls or caller.server.kind == "url":
        return None, []
    fault = caller.watcher.after_cancelled_change(calls[-1])
    if fault is not None:
        caller.server.start()
    return fault, [Step(calls[-1])]


def _size(call: Call) -> tuple[int, int]:
    """Return the size of the arguments of a call, by which the call is chosen that takes longest."""
    return sum(1 for _ in paths_in(call.arguments)), len(to_json_text(call.arguments))


# --- sequences by chance -----------------------------------------------------------------------------


def call_in_sequences(caller: ToolCaller) -> None:
    """Make sequences of calls in which results are used again."""
    if all(caller.tools[name].is_read_only for name in caller.calls):
        return
    random = Random(caller.limits.seed)  # noqa: S311  # repeatable, not secret
    number, most = 0, max(LEAST_SEQUENCES, caller.limits.calls)
    while number < most and caller.has_time(_WALKING):
        number += 1
        caller.progress("calling in sequences", number, most)
        _call_in_sequence(caller, random)


def _call_in_sequence(caller: ToolCaller, random: Random) -> None:
    """Make a sequence of calls in a new server, and note what is wrong with its last answer."""

    def ends(call: Call, outcome: ProbedOutcome) -> bool:
        if not outcome.is_lost:
            caller.count(call, outcome)
        return bool(_new_faults(caller, call, outcome)) or caller.watcher.loss_after(outcome) is not None

    # Those that succeeded come first.
    calls = {name: [*caller.alone(name), *planned] for name, planned in caller.calls.items()}
    caller.server.start()
    steps, outcome = walked(caller.server, caller.tools, calls, random, _STEPS, ends)
    caller.watcher.count += len(steps)
    if not steps or outcome is None:
        return
    call = steps[-1].call
    if outcome.is_lost:
        faults = [caller.watcher.loss(call, outcome)]
    else:
        faults = [*_new_faults(caller, call, outcome), caller.watcher.loss_after(outcome)]
    for fault in faults:
        if fault is not None:
            caller.evidence.note(fault, steps, call.tool)


def _new_faults(caller: ToolCaller, call: Call, outcome: ProbedOutcome) -> list[AnswerFault]:
    """Return the faults of an answer that aren't known yet."""
    watcher = caller.watcher
    found = faults_of(caller.tools[call.tool], call, outcome, watcher.most_bytes, watcher.learned)
    return [fault for fault in found if not caller.evidence.knows(fault, call.tool)]


# --- all answers of a tool together ------------------------------------------------------------------


def judge_tools(caller: ToolCaller, done: Collection[str]) -> None:
    """Judge the answers of each tool together, and note their faults.

    Args:
        caller: has made the calls.
        done: names of the tools of which all planned calls were made.
    """
    for name, refused in caller.refused.items():
        call = says_one_thing(caller.tools[name], refused, caller.watcher.learned)
        outcome = next((outcome for each, outcome in refused if each is call), None)
        if call is not None and outcome is not None:
            fault = unnamed_parameter(caller.tools[name], call, outcome)
            if fault is not None:
                text = pattern_of(outcome.whole_text, call.arguments)
                caller.evidence.note(fault._replace(detail=text), [Step(call)], name)
    if any(map(caller.is_given_up, caller.calls)):
        return  # others may need what such a tool would have given
    for name, tally in caller.tallies.items():
        if not tally.succeeded and name in done:
            said = f"0 of {count_of(tally.made, 'calls')} succeeded; the last answer: {tally.last}"
            caller.evidence.note(AnswerFault("never_succeeded", (), said), [], name)
