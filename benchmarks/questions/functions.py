"""What does it cost to register a function?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .. import fresh as fresh_
from ..contestants import OF_FUNCTIONS, job_of
from ..measure import Entry, Plan, check, fresh, race, samplers
from .registration import properties_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Registration of a function with the schema made"
HOW = "fresh functions and classes each time, under future annotations; descriptions in the docstring"
UNIT = "s"

BATCH = 16
FUNCTIONS = ("geo_search", "parse_url", "create_event")


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant with each function."""
    return {
        name: race(f"functions, {name}", samplers(OF_FUNCTIONS, partial(_sampler, name)), plan)
        for name in FUNCTIONS
    }


def _sampler(name: str, contestant: Contestant) -> Callable[[], float]:
    job = job_of(contestant, "function_schema")

    def prepare() -> Any:
        return getattr(fresh_.fresh_module("types_.py", "functions_.py"), name)

    wanted = set(prepare().__annotations__) - {"return"}
    check(lambda: job(prepare()), lambda schema: properties_of(schema) == wanted)
    return fresh(prepare, job, BATCH)
