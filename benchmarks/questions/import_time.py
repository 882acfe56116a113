"""What does the import cost?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contestants import OF_FUNCTIONS, OURS, Cant, chosen, version_of
from ..measure import Entry, Plan, process, race, samplers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Import"
HOW = "the import statement in a new interpreter that has imported `dataclasses`, `typing` and `enum`"
UNIT = "s"

CODE = """
import dataclasses, enum, typing
from time import process_time
started = process_time()
{}
print(process_time() - started)
"""
USED = f"{OURS}, with Codec"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant's import."""
    everybody = [*chosen(quick=plan.quick), *(() if plan.quick else OF_FUNCTIONS[1:])]
    able = [each for each in everybody if each.imported != "pass"]
    entrants = samplers(able, _sampler)
    entrants[USED] = process(CODE.format(f"from {OURS} import Codec, DecodeError"))
    return {"import": race("import", entrants, plan, min(10, plan.rounds))}


def _sampler(contestant: Contestant) -> Callable[[], float]:
    if version_of(contestant) is None:
        message = "not installed"
        raise Cant(message)
    sampler = process(CODE.format(contestant.imported))
    sampler()  # byte code is compiled once
    return sampler
