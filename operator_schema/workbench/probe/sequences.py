"""How are calls made one after the other, with values of earlier answers?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ...message_text import show_path
from .parts import placed, value_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .calls import Call
    from .outcomes import ProbedOutcome
    from .parts import Path
    from .subject import Server


class Step(NamedTuple):
    """A call of a sequence.

    Attributes:
        call: the call.
        links: place in the arguments, number of an earlier step, and where in its result the value is; that
            value takes the place of the one in the call.
    """

    call: Call
    links: tuple[tuple[Path, int, Path], ...] = ()

    def shown(self) -> str:
        """Write the call on one line."""
        arguments = self.call.arguments
        for place, step, path in self.links:
            arguments = placed(arguments, place, f"<{show_path(path)} of step {step + 1}>")
        return f"{self.call.tool} {json.dumps(arguments)}"


def resolved(step: Step, outcomes: Sequence[ProbedOutcome]) -> Any:
    """Return the arguments of a step, with values of earlier answers; None if one of them isn't there."""
    arguments = step.call.arguments
    for place, number, path in step.links:
        value = value_at(outcomes[number].data, path) if number < len(outcomes) else None
        if value is None:
            return None
        arguments = placed(arguments, place, value)
    return arguments


def called_again(server: Server, steps: Sequence[Step], seconds: float | None = None) -> list[ProbedOutcome]:
    """Make the calls of a sequence again, with the values that the answers have this time.

    Args:
        server: the called server.
        steps: the calls.
        seconds: the time limit of each call; None for the timeout of the server.

    Returns:
        The answers; fewer than steps if one doesn't come, or lacks a value that is needed.
    """
    outcomes: list[ProbedOutcome] = []
    for step in steps:
        arguments = resolved(step, outcomes)
        if arguments is None:
            break
        outcomes.append(server.call(step.call.tool, arguments, seconds))
        if outcomes[-1].is_lost:
            break
    return outcomes


def without_step(steps: Sequence[Step], index: int) -> list[Step]:
    """Leave a step out, and count the others anew; values that came from it stay as they were."""
    return [
        Step(
            step.call,
            tuple((place, of - (of > index), path) for place, of, path in step.links if of != index),
        )
        for number, step in enumerate(steps)
        if number != index
    ]
