"""How fast is a warm decoder of JSON text?"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import types_
from ..contestants import CONTESTANTS, OURS, chosen, job_of, warm_decoder_of
from ..measure import Entry, Plan, check, hot, race, samplers
from ..samples import SAMPLES
from .hot_decode import same

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Hot decode from JSON text"
HOW = (
    "bytes in, instances out; with orjson as the parser where a library has none of its own. The cases of "
    "the standard library have text in, and no other parser: ours beside `json.loads`, which decodes nothing"
)
UNIT = "s"

JSON_LOADS = "json.loads"
JSON_LOADS_AND_DECODE = "json.loads and our decode"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant with each type, and ours with the parser that every user has."""
    results = {}
    for name in SAMPLES:
        entrants = samplers(chosen(quick=plan.quick), partial(_sampler, plan, name))
        results[name] = race(f"JSON, {name}", entrants, plan)
    for name in SAMPLES:
        case = f"{name}, standard library"
        results[case] = race(f"JSON, {case}", _with_standard_library(plan, name), plan)
    return results


def _with_standard_library(plan: Plan, name: str) -> dict[str, Callable[[], float]]:
    cls, text = getattr(types_, name), json.dumps(SAMPLES[name])
    make = job_of(CONTESTANTS[0], "own_json_decoder")
    decode = warm_decoder_of(CONTESTANTS[0])(cls)
    return {
        OURS: _checked(plan, name, make, text),
        JSON_LOADS: hot(json.loads, text, plan.seconds),
        JSON_LOADS_AND_DECODE: _checked(plan, name, lambda _: lambda given: decode(json.loads(given)), text),
    }


def _sampler(plan: Plan, name: str, contestant: Contestant) -> Callable[[], float]:
    text = json.dumps(SAMPLES[name], separators=(",", ":")).encode()
    return _checked(plan, name, job_of(contestant, "json_decoder"), text)


def _checked(plan: Plan, name: str, make: Callable[[Any], Any], text: str | bytes) -> Callable[[], float]:
    decode = check(lambda: make(getattr(types_, name)), lambda made: same(name, made(text)))
    return hot(decode, text, plan.seconds)
