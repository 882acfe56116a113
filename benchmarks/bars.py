"""The bars: limits that this package must meet, as data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .contestants import OURS, pure_names
from .questions import registration

PURE = "the fastest in pure Python"
EACH, MEAN, TWO = "each", "geometric mean", "two of them"

Results = dict[str, dict[str, dict[str, dict[str, Any]]]]


class Bar(NamedTuple):
    """One bar.

    Attributes:
        question: the name of the question.
        peer: the library to compare with; if None, our own number counts.
        limit: the maximum of the ratio or number.
        over: what must meet the limit: each case, the geometric mean, or any two cases.
        cases: the cases that count; all if empty.
        unit: of the limit if there isn't a peer: `s` or `times`.
    """

    question: str
    peer: str | None
    limit: float
    over: str = EACH
    cases: tuple[str, ...] = ()
    unit: str = ""


class Verdict(NamedTuple):
    """The result of a bar: the number to compare with the limit, or None, and the number of each case."""

    bar: Bar
    value: float | None
    of_cases: dict[str, float]

    @property
    def met(self) -> bool:
        """Whether the bar is met. A bar that could not be measured isn't met."""
        return self.value is not None and self.value <= self.bar.limit


ALL = ("GeoSearchInput", "ParseURLInput", "Event")
SMALL = ALL[:2]

BARS = (
    Bar("import_time", None, 0.002, unit="s"),
    Bar("start_up", "msgspec", 0.5),
    Bar("start_up", "pydantic", 0.1),
    Bar("registration", registration.TYPE_HINTS, 1.5),
    Bar("registration", "msgspec", 0.35),
    Bar("registration", "pydantic", 0.06),
    Bar("first_decode", "pydantic", 0.15),
    Bar("first_decode", "msgspec", 1.0),
    Bar("hot_decode", "msgspec", 0.85, MEAN),
    Bar("hot_decode", "pydantic", 0.6, MEAN),
    Bar("hot_decode", PURE, 0.5, MEAN),
    Bar("hot_decode_json", "pydantic", 0.9),
    Bar("encode", "msgspec", 1.0, TWO),
    Bar("encode", "pydantic", 0.7),
    Bar("failing_decode", "pydantic", 6.0),
    Bar("memory", "pydantic", 0.3),
    Bar("growth", None, 1.5, unit="times"),
    Bar("schema_size", "pydantic", 0.7, cases=SMALL),
    Bar("schema_size", "msgspec", 0.7, cases=SMALL),
    Bar("schema_size", "pydantic", 0.85, cases=ALL[2:]),
    Bar("schema_size", "msgspec", 0.85, cases=ALL[2:]),
    Bar("requests", None, 0.0001, cases=("later, small",), unit="s"),
    Bar("calls", "asyncio.wait_for", 2.2, cases=("async function",)),
    Bar("calls", "asyncio.to_thread", 1.3, cases=("plain function",)),
    Bar("calls", "asyncio.run", 0.6, cases=("plain function, run_sync",)),
    Bar("functions", "openai-agents", 0.15),
    Bar("functions", "mcp", 0.1),
)


def judge(bar: Bar, results: Results) -> Verdict:
    """Compare the results with one bar."""
    cases = results.get(bar.question, {})
    counted = {name: cases[name] for name in bar.cases or cases if name in cases}
    if bar.peer == PURE:
        candidates = [_numbers(counted, peer) for peer in pure_names()]
        complete = [numbers for numbers in candidates if numbers and len(numbers) == len(counted)]
        numbers = max(complete, key=lambda numbers: _over(MEAN, numbers), default={})
    else:
        numbers = _numbers(counted, bar.peer)
    whole = bool(numbers) and len(numbers) == len(counted) and set(bar.cases) <= set(counted)
    return Verdict(bar, _over(bar.over, numbers) if whole else None, numbers)


def judge_all(results: Results) -> list[Verdict]:
    """Compare the results with every bar whose question was measured."""
    return [judge(bar, results) for bar in BARS if bar.question in results]


def _numbers(cases: dict[str, dict[str, dict[str, Any]]], peer: str | None) -> dict[str, float]:
    if peer is None:
        entries = {name: case.get(OURS, {}) for name, case in cases.items()}
    else:
        entries = {name: case.get(peer, {}).get("ratio", {}) for name, case in cases.items()}
    return {name: entry["median"] for name, entry in entries.items() if "median" in entry}


def _over(over: str, numbers: dict[str, float]) -> float:
    ordered = sorted(numbers.values())
    if over == MEAN:
        return math.prod(ordered) ** (1 / len(ordered))
    return ordered[1] if over == TWO else ordered[-1]
