"""Does the cost grow linearly?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from ..contestants import CONTESTANTS, OURS, WITH_BARS, Cant, job_of, warm_decoder_of
from ..fresh import module_of_source
from ..measure import Entry, Plan, check, fresh, hot, interleave, spread
from ..memory_probe import types

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..contestants import Contestant

    Samplers = dict[int, Callable[[], float]]

TITLE = "Growth"
HOW = (
    "cost of one at the largest size, as a multiple of the cost of one at a tenth of it: 1 is linear. "
    "Fields of a class and number of types: registration with the schema; items and depth: hot decode. "
    "What the garbage collector adds shows beside the same without it: it looks through everything that "
    "lives, again and again, while a large value is built"
)
UNIT = "times"

ROUNDS = 5
HEAD = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
LIST = f"""{HEAD}
@dataclass
class Item:
    name: str
    count: int
@dataclass
class Root:
    items: list[Item]
"""
CHAIN = f"""{HEAD}
@dataclass
class Root:
    count: int
    inner: Root | None = None
"""
KINDS = ("str", "int", "float", "list[str]")


def run(plan: Plan) -> dict[str, dict[str, Entry]]:
    """Measure each way to grow, up to a size that is large for a tool."""
    items = (1, 10, 100, 1_000, 10_000, 100_000, *(() if plan.quick else (1_000_000,)))
    cases = {
        "fields": ((1, 10, 100, 1_000), _by_fields),
        "types": ((1, 10, 100, 1_000), _by_types),
        "items": (items, by_items),
        "items, not collected": (items, partial(by_items, collected=False)),
        "depth": ((1, 10, 100), by_depth),
    }
    everybody = [each for each in CONTESTANTS if each.name in ((OURS,) if plan.quick else WITH_BARS)]
    results = {}
    for case, (sizes, make) in cases.items():
        results[f"{case}, to {sizes[-1]:,}"] = {
            each.name: _curve(f"growth, {case}: {each.name}", plan, partial(make, plan, sizes), each)
            for each in everybody
        }
    return results


def _curve(label: str, plan: Plan, make: Callable[[Contestant], Samplers], contestant: Contestant) -> Entry:
    try:
        samplers = make(contestant)
    except Cant as cant:
        return {"cant": str(cant)}
    named = {str(size): sampler for size, sampler in samplers.items()}
    times = interleave(label, named, plan, ROUNDS)
    *_, tenth, whole = samplers
    factors = [
        large / whole / (small / tenth)
        for small, large in zip(times[str(tenth)], times[str(whole)], strict=True)
    ]
    entry: Entry = spread(factors)
    return entry | {"curve": [[size, spread(times[str(size)])["median"]] for size in samplers]}


def _by_fields(_: Plan, sizes: Sequence[int], contestant: Contestant) -> Samplers:
    job = job_of(contestant, "schema")

    def prepare(size: int) -> Any:
        fields = "".join(f"    field_{each}: {KINDS[each % len(KINDS)]}\n" for each in range(size))
        return module_of_source(f"{HEAD}@dataclass\nclass Root:\n{fields}").Root

    return {size: fresh(partial(prepare, size), job, max(1, 20 // size)) for size in sizes}


def _by_types(_: Plan, sizes: Sequence[int], contestant: Contestant) -> Samplers:
    schema = job_of(contestant, "schema")

    def job(classes: list[type]) -> list[Any]:
        return [schema(cls) for cls in classes]

    return {size: fresh(partial(types, size), job, max(1, 20 // size)) for size in sizes}


def by_items(plan: Plan, sizes: Sequence[int], contestant: Contestant, *, collected: bool = True) -> Samplers:
    """Make what decodes lists of items, one for each number of items."""
    decode = warm_decoder_of(contestant)(module_of_source(LIST).Root)
    values = {size: {"items": [{"name": "x", "count": 1}] * size} for size in sizes}
    check(lambda: decode(values[sizes[1]]), lambda made: asdict(made) == values[sizes[1]])
    return {size: hot(decode, value, plan.seconds, collected=collected) for size, value in values.items()}


def by_depth(plan: Plan, sizes: Sequence[int], contestant: Contestant) -> Samplers:
    """Make what decodes chains of links, one for each length."""
    decode = warm_decoder_of(contestant)(module_of_source(CHAIN).Root)
    check(lambda: decode(_chain(sizes[1])), lambda made: links(made) == sizes[1])
    return {size: hot(decode, _chain(size), plan.seconds) for size in sizes}


def _chain(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"count": 1}
    for _ in range(depth - 1):
        value = {"count": 1, "inner": value}
    return value


def links(link: Any) -> int:
    """Return the number of links of a chain, or 0 if one of them is wrong."""
    links = 0
    while link is not None:
        if type(link).__name__ != "Root" or link.count != 1:
            return 0
        link, links = link.inner, links + 1
    return links
