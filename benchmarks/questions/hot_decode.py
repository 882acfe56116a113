"""How fast is a warm decoder?"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import types_
from ..contestants import CONTESTANTS, warm_decoder_of
from ..measure import Entry, Plan, check, hot, race, samplers
from ..peers import handwritten
from ..samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Hot decode from a dict"
HOW = "parsed JSON in, instances out; compiled where a library compiles"
UNIT = "s"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant with each type: the bars ask for the fastest in pure Python."""
    return {
        name: race(f"hot decode, {name}", samplers(CONTESTANTS, partial(_sampler, plan, name)), plan)
        for name in SAMPLES
    }


def text_of(instance: Any) -> str:
    """Write an instance so that `1` and `1.0`, and `"x"` and `["x"]`, are different."""
    return json.dumps(asdict(instance), default=str)


def same(name: str, instance: Any) -> bool:
    """Return whether a contestant decoded one of the samples correctly."""
    return text_of(instance) == text_of(handwritten.decoder(getattr(types_, name))(SAMPLES[name]))


def _sampler(plan: Plan, name: str, contestant: Contestant) -> Callable[[], float]:
    cls, value = getattr(types_, name), SAMPLES[name]
    make = warm_decoder_of(contestant)
    decode = check(lambda: make(cls), lambda made: same(name, made(value)))
    return hot(decode, value, plan.seconds)
