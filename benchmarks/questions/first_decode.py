"""What does a tool cost that is registered and called once?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .. import fresh as fresh_
from ..contestants import chosen, job_of
from ..measure import Entry, Plan, check, fresh, race, samplers
from ..samples import SAMPLES
from .hot_decode import same

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Registration and first decode"
HOW = "fresh classes each time, under future annotations and without descriptions; no schema is made"
UNIT = "s"

BATCH = 16


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant that can register a new type."""
    everybody = [each for each in chosen(quick=plan.quick) if each.name != "by hand"]
    return {
        name: race(f"first decode, {name}", samplers(everybody, partial(_sampler, name)), plan)
        for name in SAMPLES
    }


def _sampler(name: str, contestant: Contestant) -> Callable[[], float]:
    make, value = job_of(contestant, "decoder"), SAMPLES[name]

    def first(cls: Any) -> Any:
        return make(cls)(value)

    prepare = partial(fresh_.fresh_class, name, fresh_.BARE)
    check(lambda: first(prepare()), partial(same, name))
    return fresh(prepare, first, BATCH)
