"""Which calls of each tool succeed: generated ones, or those with values from other answers?"""

from __future__ import annotations

from itertools import zip_longest
from random import Random
from typing import TYPE_CHECKING, Final

from .knowledge import with_known_values
from .sequences import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .calling import ToolCaller

_ROUNDS_OF_VALUES: Final = 2


def explore(caller: ToolCaller, share: float) -> None:
    """Make the generated valid calls, one of each tool in turn, then calls with values of their answers.

    Tools that only read come first: what they give is there from the start. They become observers of the
    state unless they seem to change it.

    Args:
        caller: makes the calls.
        share: the part of the time after which this ends.
    """
    for is_reading in (True, False):
        names = [name for name in caller.calls if caller.tools[name].is_read_only is is_reading]
        valid = [[each for each in caller.calls[name] if each.is_generated] for name in names]
        _call_in_turn(caller, share, [[[Step(call)] for call in each] for each in valid])
    for _ in range(_ROUNDS_OF_VALUES):
        _call_in_turn(caller, share, [_with_values(caller, name) for name in caller.reading_first])
    good = [
        caller.bases[name][-1].call for name in caller.reading_first if len(caller.bases.get(name, ())) == 1
    ]
    caller.watcher.find_observers(
        [
            call
            for call in good
            if call.arguments and not caller.evidence.blames(call.tool, "read_only_changed")
        ]
    )


def _with_values(caller: ToolCaller, name: str) -> list[list[Step]]:
    """Return new calls of a tool with values from answers."""
    base = caller.base_of(name)
    is_any = name not in caller.bases
    least = [call for call in caller.calls[name] if call.is_generated][:1] if is_any else []
    made: dict[str, list[Step]] = {}
    for call in [*[step.call for step in base[-1:]], *least]:  # optional parts may be what is refused
        random = Random(f"{caller.limits.seed} {name}")  # noqa: S311  # repeatable, not secret
        with_values = with_known_values(
            caller.tools[name], call.arguments, caller.knowledge, random, is_any=is_any
        )
        made |= {steps[-1].call.key(): steps for steps in with_values if caller.is_new(steps)}
    return list(made.values())


def _call_in_turn(caller: ToolCaller, share: float, queues: Sequence[Sequence[list[Step]]]) -> None:
    """Make the first call of each queue, then the second ones, and so on, as long as there is time."""
    turns = [steps for turn in zip_longest(*queues) for steps in turn if steps is not None]
    for number, steps in enumerate(turns):
        if not caller.has_time(share):
            return
        caller.progress(f"calling {steps[-1].call.tool}", number, len(turns))
        caller.call(steps)
