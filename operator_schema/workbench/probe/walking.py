"""Which faults show in sequences of calls that are drawn by chance, in which results become arguments?"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

from ...json_values import to_json_text
from .calls import Call
from .checks import AnswerFault, faults_of
from .knowledge import means, scalars
from .sequences import Step

if TYPE_CHECKING:
    from .calling import ToolCaller
    from .outcomes import ProbedOutcome
    from .parts import Path

LEAST_SEQUENCES: Final = 12
"""The minimum number of sequences: one alone rarely has the steps that show a fault."""

_STEPS: Final = 12
_MOST_VALUES: Final = 200
_OFTEN: Final = 0.8
_CHANGES: Final = 0.6
"""The share of steps with tools that may change something: other tools show the changes."""

_AGAIN: Final = 0.25

_Value = tuple[str, int, "Path", Any]
"""The key of a value, the number of the step whose answer had it, its place in that answer, the value."""


def call_in_sequences(caller: ToolCaller, share: float) -> None:
    """Make sequences of calls in which results are used again.

    Args:
        caller: makes the calls.
        share: the part of the time after which this ends.
    """
    if all(caller.tools[name].is_read_only for name in caller.calls):
        return
    random = Random(caller.limits.seed)  # noqa: S311  # repeatable, not secret
    # Those that succeeded come first.
    valid = {
        name: [call for call in [*caller.alone(name), *planned] if call.kind == "valid"]
        for name, planned in caller.calls.items()
    }
    choices = {name: calls for name, calls in valid.items() if calls}
    number, most = 0, max(LEAST_SEQUENCES, caller.limits.calls)
    while number < most and caller.has_time(share):
        number += 1
        caller.progress("calling in sequences", number, most)
        caller.server.start()
        steps, faults = _walk(caller, choices, random)
        caller.watcher.count += len(steps)
        for fault in faults:
            caller.evidence.note(fault, steps, steps[-1].call.tool)


def _walk(
    caller: ToolCaller, choices: dict[str, list[Call]], random: Random
) -> tuple[list[Step], list[AnswerFault]]:
    """Make calls until an answer has a new fault; return them, and the faults of that answer.

    Args:
        caller: makes the calls; its server has just been started.
        choices: the valid calls that may be made, by the names of their tools.
        random: chooses among them.
    """
    steps: list[Step] = []
    values: list[_Value] = []
    for number in range(_STEPS if choices else 0):
        step = _next_step(caller, steps, choices, values, random)
        steps.append(step)
        outcome = caller.server.call(step.call.tool, step.call.arguments)
        faults = _new_faults(caller, step.call, outcome)
        if faults or outcome.is_lost:
            return steps, faults
        if not outcome.is_flagged:
            there = {(key, to_json_text(value)) for key, _, _, value in values}
            values += [
                (key, number, path, value)
                for key, path, value in scalars(outcome.data, ())
                if key and (key, to_json_text(value)) not in there  # who gave it first is what others need
            ]
            del values[:-_MOST_VALUES]
    return steps, []


def _new_faults(caller: ToolCaller, call: Call, outcome: ProbedOutcome) -> list[AnswerFault]:
    """Return the faults of an answer that aren't known yet, and whether the server ends with it."""
    watcher = caller.watcher
    if outcome.is_lost:
        lost = watcher.loss(call, outcome)
        return [] if lost is None else [lost]
    caller.count(call, outcome)
    found = faults_of(caller.tools[call.tool], call, outcome, watcher.most_bytes, watcher.learned)
    new = [fault for fault in found if not caller.evidence.knows(fault, call.tool)]
    ended = watcher.loss_after(outcome)
    return new if ended is None else [*new, ended]


def _next_step(
    caller: ToolCaller,
    steps: list[Step],
    choices: dict[str, list[Call]],
    values: list[_Value],
    random: Random,
) -> Step:
    """Choose a call, with values of earlier answers in place of some of its arguments."""
    if steps and random.random() < _AGAIN:
        return steps[-1]
    changing = [name for name in choices if not caller.tools[name].is_read_only]
    name = random.choice(changing if changing and random.random() < _CHANGES else [*choices])
    tool, call = caller.tools[name], random.choice(choices[name])
    arguments, links = dict(call.arguments), list[tuple["Path", int, "Path"]]()
    for parameter in tool.properties:
        fitting = [each for each in values if means(parameter, each[0])]
        if random.random() > _OFTEN:  # its own value stays, which may be one of these, too
            own = to_json_text(arguments.get(parameter))
            fitting = [each for each in fitting if to_json_text(each[3]) == own]
        if not fitting:
            continue
        _, number, path, value = random.choice(fitting)
        changed = {**arguments, parameter: value}
        if tool.allows(changed):
            arguments = changed
            links.append(((parameter,), number, path))
    return Step(Call(name, arguments, "valid", "uses results"), tuple(links))
