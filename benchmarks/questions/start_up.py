"""How long until the first Event is decoded?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contestants import chosen, load
from ..measure import Entry, Plan, process, race, samplers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Start-up to the first decoded Event"
HOW = "import, registration and first decode in a new interpreter that has imported the types"
UNIT = "s"

CODE = """
from benchmarks.samples import EVENT
from benchmarks.types_ import Event
import benchmarks.peers
from time import process_time
started = process_time()
from benchmarks.peers.{} import decoder
event = decoder(Event)(EVENT)
print(process_time() - started)
from benchmarks.peers import handwritten
assert event == handwritten.decoder(Event)(EVENT)
"""


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant's way to its first Event."""
    entrants = samplers(chosen(quick=plan.quick), _sampler)
    return {"Event": race("start-up", entrants, plan, min(10, plan.rounds))}


def _sampler(contestant: Contestant) -> Callable[[], float]:
    load(contestant)
    sampler = process(CODE.format(contestant.module))
    sampler()  # byte code is compiled once
    return sampler
