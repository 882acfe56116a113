"""What does it cost to register a new type?"""

from __future__ import annotations

import typing
from dataclasses import is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import fresh as fresh_
from ..contestants import WITH_BARS, chosen, job_of, load
from ..measure import Entry, Plan, check, fresh, race, samplers
from ..samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contestants import Contestant

TITLE = "Registration with the schema made"
HOW = (
    "fresh classes each time, under future annotations; descriptions given in each library's own way, "
    "and written into the schema"
)
UNIT = "s"

TYPE_HINTS = "typing.get_type_hints"
WITH_EXTRAS = f"{TYPE_HINTS}, include_extras"
BATCH = 16


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant with each type."""
    results = {}
    for name in SAMPLES:
        everybody = chosen(quick=plan.quick)
        entrants = samplers(everybody, partial(_sampler, name))
        for contestant in everybody:
            if contestant.name in WITH_BARS:
                bare = samplers([contestant], partial(_sampler, name, bare=True))
                entrants[f"{contestant.name}, no descriptions"] = bare[contestant.name]
        for row, extras in ((TYPE_HINTS, False), (WITH_EXTRAS, True)):
            hints = partial(_type_hints, include_extras=extras)
            entrants[row] = fresh(partial(_dataclasses, name), hints, BATCH)
        results[name] = race(f"registration, {name}", entrants, plan)
    return results


def schema_of(contestant: Contestant, name: str, *, bare: bool = False) -> dict[str, Any]:
    """Return a contestant's schema of one of the types, checked.

    Raises:
        Cant: it makes none, or a wrong one.
    """
    job = job_of(contestant, "schema")
    cls = _fresh_class(contestant, name, bare=bare)
    wanted = {field for field in cls.__annotations__ if field != "param_descriptions"}
    return check(lambda: job(cls), lambda schema: properties_of(schema) == wanted)


def properties_of(schema: dict[str, Any]) -> set[str]:
    """Return the names of the properties of the root of a schema."""
    root = schema
    for container in ("$defs", "definitions", "components"):
        if "$ref" in root and container in schema:
            defined = schema[container].get("schemas", schema[container])
            root = defined[root["$ref"].rpartition("/")[2]]
    return set(root["properties"])


def describes(contestant: Contestant) -> bool:
    """Return whether a contestant takes descriptions."""
    return hasattr(load(contestant), "STYLE")


def _fresh_class(contestant: Contestant, name: str, *, bare: bool) -> type:
    style = fresh_.BARE if bare else getattr(load(contestant), "STYLE", fresh_.BARE)
    return fresh_.fresh_class(name, style)


def _sampler(name: str, contestant: Contestant, *, bare: bool = False) -> Callable[[], float]:
    schema_of(contestant, name, bare=bare)
    prepare = partial(_fresh_class, contestant, name, bare=bare)
    return fresh(prepare, job_of(contestant, "schema"), BATCH)


def _dataclasses(name: str) -> list[type]:
    return [each for each in fresh_.fresh_classes(name) if is_dataclass(each)]


def _type_hints(classes: list[type], *, include_extras: bool) -> list[dict[str, Any]]:
    return [typing.get_type_hints(cls, include_extras=include_extras) for cls in classes]
