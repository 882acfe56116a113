"""How fast is a warm encoder?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .. import types_
from ..contestants import Cant, chosen, job_of
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

    def is_right(made: Callable[[Any], Any]) -> bool:
        encoded = made(instance)
        if not _is_plain(encoded):
            message = "can't: leaves what is no JSON value"
            raise Cant(message)
        return same(name, read(encoded))

    return hot(check(lambda: make(cls), is_right), instance, plan.seconds)


def _is_plain(value: Any) -> bool:
    if type(value) is dict:
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if type(value) is list:
        return all(map(_is_plain, value))
    return value is None or type(value) in {str, int, float, bool}
