"""How fast is a warm decoder of JSON text?"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from .. import types_
from ..contestants import CONTESTANTS, OURS, chosen, job_of
from ..measure import Entry, Plan, check, hot, race, samplers
from ..samples import SAMPLES
from .hot_decode import same

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Hot decode from JSON text"
HOW = "bytes in, instances out; with orjson as the parser where a library has none of its own"
UNIT = "s"

OWN_PARSER = f"{OURS}, json of the standard library"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant with each type."""
    results = {}
    for name in SAMPLES:
        entrants = samplers(chosen(quick=plan.quick), partial(_sampler, plan, name, "json_decoder"))
        ours = samplers(CONTESTANTS[:1], partial(_sampler, plan, name, "own_json_decoder"))
        results[name] = race(f"JSON, {name}", entrants | {OWN_PARSER: ours[OURS]}, plan)
    return results


def _sampler(plan: Plan, name: str, job: str, contestant: Contestant) -> Callable[[], float]:
    cls, text = getattr(types_, name), json.dumps(SAMPLES[name], separators=(",", ":")).encode()
    make = job_of(contestant, job)
    decode = check(lambda: make(cls), lambda made: same(name, made(text)))
    return hot(decode, text, plan.seconds)
