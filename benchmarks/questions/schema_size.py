"""How many bytes does a model read?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..contestants import OURS, Cant, chosen
from ..measure import Entry, Plan, spread
from ..samples import SAMPLES
from .registration import describes, schema_of

if TYPE_CHECKING:
    from ..contestants import Contestant

TITLE = "Size of the schema"
HOW = "bytes of the schema as compact JSON, every description in it once; and without descriptions"
UNIT = "bytes"


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure every contestant that makes schemas."""
    able = chosen(quick=plan.quick)
    described = {name: _sizes(able, name, bare=False) for name in SAMPLES}
    return described | {f"{name}, no descriptions": _sizes(able, name, bare=True) for name in SAMPLES}


def _sizes(contestants: list[Contestant], name: str, *, bare: bool) -> dict[str, Entry]:
    sizes: dict[str, int | Cant] = {}
    for contestant in contestants:
        try:
            sizes[contestant.name] = _size(contestant, name, bare=bare)
        except Cant as cant:
            sizes[contestant.name] = cant
    return {each: _entry(size, None if each == OURS else sizes[OURS]) for each, size in sizes.items()}


def _size(contestant: Contestant, name: str, *, bare: bool) -> int:
    schema = schema_of(contestant, name, bare=bare)
    if not bare and not describes(contestant):
        message = "can't: takes no descriptions"
        raise Cant(message)
    return len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False).encode())


def _entry(size: int | Cant, ours: int | Cant | None) -> Entry:
    if isinstance(size, Cant):
        return {"cant": str(size)}
    entry: Entry = spread([size])
    return entry | {"ratio": spread([ours / size])} if isinstance(ours, int) else entry
