"""How much memory does a registered tool take?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..contestants import chosen, job_of, warm_decoder_of
from ..measure import Entry, Plan, check, process, race, samplers
from ..memory_probe import types

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Memory of a registered type"
HOW = (
    "what malloc has given out (`mallinfo2`, with `PYTHONMALLOC=malloc`) in a new process that registered "
    "many distinct types of three fields, schema made and dropped, less what it had with the classes alone"
)
UNIT = "bytes"

TYPES, TYPES_QUICK = 10_000, 1_000
ROUNDS = 1  # the same process allocates the same

CODE = "from benchmarks.memory_probe import run; run({!r}, {})"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant in processes of its own."""
    number = TYPES_QUICK if plan.quick else TYPES
    entrants = samplers(chosen(quick=plan.quick), partial(_sampler, number))
    return {f"{number:,} types": race("memory", entrants, plan, ROUNDS)}


def _sampler(number: int, contestant: Contestant) -> Callable[[], float]:
    job_of(contestant, "register")
    cls = types(1)[0]
    value = {"name": "x", "first": "y", "second": "z"}
    check(lambda: warm_decoder_of(contestant)(cls)(value), lambda made: made == cls(**value))
    process(CODE.format(contestant.module, 10), PYTHONMALLOC="malloc")()
    return process(CODE.format(contestant.module, number), PYTHONMALLOC="malloc")
