"""What do several calls of one tool show that one alone doesn't: equal ones, at once, or cancelled?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...json_values import to_json_text
from ...message_text import count_of
from .calling import worth_of
from .cancelling import fault_after_cancel
from .checks import AnswerFault, says_one_thing, unnamed_parameter
from .parts import paths_in
from .sequences import Step, resolved
from .words import pattern_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from .calling import ToolCaller
    from .calls import Call

_AT_ONCE: Final = 6


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


def repeat_equal(caller: ToolCaller, share: float) -> None:
    """Repeat calls of tools that say that a second call changes nothing.

    Args:
        caller: makes the calls.
        share: the part of the time after which this ends.
    """
    for name, good in caller.good.items():
        tool = caller.tools[name]
        if tool.is_read_only or tool.hint("idempotentHint") is not True:
            continue
        for steps in sorted(good, key=worth_of, reverse=True)[:_AT_ONCE]:
            if not caller.has_time(share):
                return
            if _changes_again(caller, steps):
                said = "the state differs after the second call"
                caller.evidence.note(AnswerFault("not_idempotent", (), said), steps, name)
                break


def _changes_again(caller: ToolCaller, steps: list[Step]) -> bool:
    """Return whether a second equal call in a new server changes something again."""
    caller.server.start()
    before = caller.watcher.made_again(steps[:-1])
    arguments = resolved(steps[-1], before)
    if arguments is None:
        return False
    return caller.watcher.changes_again(replace(steps[-1].call, arguments=arguments))


def call_at_once(caller: ToolCaller, share: float) -> None:
    """Make several calls at the same time, and compare the answers with those to single calls.

    Args:
        caller: makes the calls.
        share: the part of the time after which this ends.
    """
    for name in caller.good:
        chosen = caller.alone(name)[:_AT_ONCE] if caller.tools[name].is_read_only else []
        if len(chosen) > 1 and caller.has_time(share) and caller.watcher.mixes(chosen):
            said = "an answer differs from the one that the same call gets alone"
            caller.evidence.note(
                AnswerFault("mixed_answers", (), said), [Step(call) for call in chosen], name
            )


def cancel_calls(caller: ToolCaller, share: float) -> None:
    """Cancel a call of each tool, and see whether the server still answers, and what is left.

    Args:
        caller: makes the calls.
        share: the part of the time after which this ends.
    """
    caller.server.start()
    for name in caller.reading_first:
        if not caller.good.get(name) or not caller.has_time(share):
            continue
        calls = sorted(caller.alone(name), key=_size)
        if not calls or (caller.server.kind == "url" and not caller.tools[name].is_read_only):
            continue
        fault = fault_after_cancel(caller.watcher, calls[-1])
        if fault is not None:
            caller.evidence.note(fault, [Step(calls[-1])], name)
            if fault.code == "stuck_after_cancel":
                return


def _size(call: Call) -> tuple[int, int]:
    """Return the size of the arguments of a call, by which the call is chosen that takes longest."""
    return sum(1 for _ in paths_in(call.arguments)), len(to_json_text(call.arguments))


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
