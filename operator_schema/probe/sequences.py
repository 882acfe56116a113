"""How do results feed later calls?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object
from ..message_text import fold
from .calls import Call
from .reports import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from random import Random

    from .calls import ProbedTool
    from .channel import Outcome
    from .subject import Server

__all__ = ["replayed", "walk"]

_Path = tuple[str | int, ...]
_MOST_VALUES = 200
_OFTEN = 0.8
_CHANGES = 0.6
"""How often a step is one of a tool that may change something: the others follow from what these did."""

_AGAIN = 0.25


def walk(
    server: Server,
    tools: Mapping[str, ProbedTool],
    calls: Mapping[str, Sequence[Call]],
    random: Random,
    most: int,
    ends: Callable[[Call, Outcome], bool],
) -> tuple[list[Step], Outcome | None]:
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
    outcome: Outcome | None = None
    for number in range(most if names else 0):
        step = _next(steps, random, names, choices, values, tools)
        steps.append(step)
        outcome = server.call(step.call.tool, step.call.arguments)
        if outcome.is_lost or ends(step.call, outcome):
            break
        if not outcome.is_flagged:
            values += [(key, number, path, value) for key, path, value in _values_in(outcome)]
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


def _values_in(outcome: Outcome) -> Iterator[tuple[str, _Path, Any]]:
    """Return the texts and numbers of a result that have a key: the key, the path, the value."""
    yield from _scalars(_data_of(outcome), ())


def _data_of(outcome: Outcome) -> Any:
    """Return the data of a result: its structured content, or the JSON of its text."""
    result = outcome.result or {}
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    try:
        return json.loads(outcome.text)
    except (ValueError, RecursionError):
        return None


def _scalars(value: Any, path: _Path) -> Iterator[tuple[str, _Path, Any]]:
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


def resolved(step: Step, outcomes: Sequence[Outcome]) -> dict[str, Any] | None:
    """Return the arguments of a step, with values of earlier answers; None if one of them isn't there."""
    arguments = dict(step.call.arguments)
    for name, number, path in step.links:
        if name not in arguments:
            continue
        if number >= len(outcomes):
            return None
        value = _data_of(outcomes[number])
        try:
            for part in path:
                value = value[part]
        except (LookupError, TypeError):
            return None
        arguments[name] = value
    return arguments


def replayed(server: Server, steps: Sequence[Step], seconds: float | None = None) -> list[Outcome]:
    """Make the calls of a sequence again, with the values that the answers have this time.

    Args:
        server: that is called.
        steps: the calls.
        seconds: that each may take; None for the timeout of the server.

    Returns:
        The answers; fewer than steps if one doesn't come, or lacks a value that is needed.
    """
    outcomes: list[Outcome] = []
    for step in steps:
        arguments = resolved(step, outcomes)
        if arguments is None:
            break
        outcomes.append(server.call(step.call.tool, arguments, seconds))
        if outcomes[-1].is_lost:
            break
    return outcomes


def without_step(steps: Sequence[Step], index: int) -> list[Step] | None:
    """Leave a step out, and count the others anew; None if a later one needs its result."""
    kept: list[Step] = []
    for number, step in enumerate(steps):
        if number == index:
            continue
        if any(of == index for _, of, _ in step.links):
            return None
        links = tuple((name, of - (of > index), path) for name, of, path in step.links)
        kept.append(Step(step.call, links))
    return kept
