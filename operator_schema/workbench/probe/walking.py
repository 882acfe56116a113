"""Which sequences of calls are tried by chance, and how do results become arguments in them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...json_values import to_json_text
from .calls import Call
from .knowledge import means, scalars
from .sequences import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from random import Random

    from .calls import ProbedTool
    from .outcomes import ProbedOutcome
    from .parts import Path
    from .subject import Server

_MOST_VALUES: Final = 200
_OFTEN: Final = 0.8
_CHANGES: Final = 0.6
"""How often a step is one of a tool that may change something: the others follow from what these did."""

_AGAIN: Final = 0.25

_Value = tuple[str, int, "Path", Any]


def walked(
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
    values: list[_Value] = []
    outcome: ProbedOutcome | None = None
    for number in range(most if names else 0):
        step = _next(steps, random, names, choices, values, tools)
        steps.append(step)
        outcome = server.call(step.call.tool, step.call.arguments)
        if outcome.is_lost or ends(step.call, outcome):
            break
        if not outcome.is_flagged:
            there = {(key, to_json_text(value)) for key, _, _, value in values}
            values += [
                (key, number, path, value)
                for key, path, value in scalars(outcome.data, ())
                if key and (key, to_json_text(value)) not in there  # who gave it first is what others need
            ]
            del values[:-_MOST_VALUES]
    return steps, outcome


def _next(
    steps: Sequence[Step],
    random: Random,
    names: Collection[str],
    choices: Mapping[str, Sequence[Call]],
    values: Sequence[_Value],
    tools: Mapping[str, ProbedTool],
) -> Step:
    if steps and random.random() < _AGAIN:
        return steps[-1]
    changing = [name for name in names if not tools[name].is_read_only]
    name = random.choice(changing if changing and random.random() < _CHANGES else list(names))
    call = random.choice(list(choices[name]))
    arguments, links = dict(call.arguments), list[tuple["Path", int, "Path"]]()
    for parameter in tools[name].properties:
        fitting = [each for each in values if means(parameter, each[0])]
        if random.random() > _OFTEN:  # its own value stays, which may be one of these, too
            own = to_json_text(arguments.get(parameter))
            fitting = [each for each in fitting if to_json_text(each[3]) == own]
        if not fitting:
            continue
        _, number, path, value = random.choice(fitting)
        changed = {**arguments, parameter: value}
        if tools[name].allows(changed):
            arguments = changed
            links.append(((parameter,), number, path))
    return Step(Call(name, arguments, "valid", "uses results"), tuple(links))
