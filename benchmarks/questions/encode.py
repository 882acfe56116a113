"""How fast is a warm encoder?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .. import types_
from ..contestants import chosen, job_of
from ..measure import Entry, Plan, check, hot, race, samplers
from ..peers import handwritten
from ..samples import SAMPLES
from .hot_decode import same

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Hot encode"
HOW = "instances in, JSON values (dict, list, str …) out"
UNIT = "s"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant with each type."""
    return {
        name: race(f"encode, {name}", samplers(chosen(quick=plan.quick), partial(_sampler, plan, name)), plan)
        for name in SAMPLES
    }


def _sampler(plan: Plan, name: str, contestant: Contestant) -> Callable[[], float]:
    cls = getattr(types_, name)
    make, read = job_of(contestant, "encoder"), handwritten.decoder(cls)
    instance = read(SAMPLES[name])
    encode = check(lambda: make(cls), lambda made: same(name, read(made(instance))))
    return hot(encode, instance, plan.seconds)
