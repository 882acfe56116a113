"""The bars: limits that this package must meet, as data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from .contestants import OURS, pure_names
from .questions import registration
from .questions.hot_decode_json import JSON_LOADS, JSON_LOADS_AND_DECODE

if TYPE_CHECKING:
    from collections.abc import Sequence

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
BARE = tuple(f"{name}, no descriptions" for name in ALL)
FROM_TEXT = tuple(f"{name}, standard library" for name in ALL)
ITEMS = ("items, not collected",)
GROWING = ("fields", "types", "depth")

# Most limits are what was measured on 2026-11-28 and up to 15 % more: they guard against getting worse.
BARS = (
    Bar("import_time", None, 0.002, unit="s"),
    # Times of a start spread by 20 %, instructions hardly at all: the second pair is the one that counts.
    Bar("start_up", "msgspec", 1.0),
    Bar("start_up", "pydantic", 0.1),
    Bar("start_up_instructions", "msgspec", 0.75),
    Bar("start_up_instructions", "pydantic", 0.08),
    # Evaluating the names is a part of it, and differs by 1.5 times with the form of a class.
    Bar("registration", registration.TYPE_HINTS, 2.0),
    Bar("registration", "msgspec", 0.35),
    # The smallest type decides, so this is more than a mean would be.
    Bar("registration", "pydantic", 0.09),
    # msgspec makes no schema here, and is written in C.
    Bar("first_decode", "msgspec", 1.7),
    Bar("first_decode", "pydantic", 0.28),
    Bar("hot_decode", "msgspec", 1.0, MEAN),
    Bar("hot_decode", "pydantic", 0.65, MEAN),
    # The fastest one checks no text: it reads 5 as "5".
    Bar("hot_decode", PURE, 0.6, MEAN),
    # Parser and decoder are two here; a parser that decodes saves the values between them.
    Bar("hot_decode_json", "pydantic", 1.45, cases=ALL),
    # Of an Event json.loads and the decoder alone take 1.95 times as long as json.loads.
    Bar("hot_decode_json", JSON_LOADS, 1.9, MEAN, FROM_TEXT),
    Bar("hot_decode_json", JSON_LOADS_AND_DECODE, 1.5, EACH, FROM_TEXT),
    # msgspec checks no value that it writes, and ours checks each.
    Bar("encode", "msgspec", 2.5),
    Bar("encode", "pydantic", 1.2),
    # Ours writes a text with the call to send; pydantic's errors are data.
    Bar("failing_decode", "pydantic", 6.0),
    Bar("memory", "pydantic", 0.2),
    # While a large value is built, the collector looks again and again through all that lives in the process.
    Bar("growth", None, 1.5, cases=ITEMS, unit="times"),
    Bar("growth", None, 1.8, cases=GROWING, unit="times"),
    # Descriptions are the user's own words, and the same in each schema.
    Bar("schema_size", "pydantic", 0.85, cases=BARE),
    Bar("schema_size", "msgspec", 0.7, cases=BARE[:2]),
    Bar("schema_size", "msgspec", 1.05, cases=BARE[2:]),
    # A time would be that of the machine.
    Bar("requests", "marshal", 2.5, cases=("later, small",)),
    Bar("calls", "asyncio.wait_for", 2.5, cases=("async function",)),
    Bar("calls", "asyncio.to_thread", 1.4, cases=("plain function",)),
    Bar("calls", "asyncio.to_thread", 1.2, cases=("plain function, run_sync",)),
    Bar("functions", "openai-agents", 0.15),
    # Ours reads the docstring, too.
    Bar("functions", "mcp", 0.2),
    Bar("answers", "construct_type", 0.25, cases=("whole answer",)),
    Bar("answers", "construct_type", 0.2, cases=("chunk of a stream",)),
    # Each request gets copies of all messages.
    Bar("answers", "json.dumps", 2.0, cases=("history of 100 turns",)),
)


def judge(bar: Bar, results: Results) -> Verdict:
    """Compare the results with one bar."""
    cases = results.get(bar.question, {})
    counted = {name: case for name, case in cases.items() if not bar.cases or _counts(name, bar.cases)}
    if bar.peer == PURE:
        candidates = [_numbers(counted, peer) for peer in pure_names()]
        complete = [numbers for numbers in candidates if numbers and len(numbers) == len(counted)]
        numbers = max(complete, key=lambda numbers: _over(MEAN, numbers), default={})
    else:
        numbers = _numbers(counted, bar.peer)
    whole = bool(numbers) and len(numbers) == len(counted) >= len(bar.cases)
    return Verdict(bar, _over(bar.over, numbers) if whole else None, numbers)


def judge_all(results: Results) -> list[Verdict]:
    """Compare the results with every bar whose question was measured."""
    return [judge(bar, results) for bar in BARS if bar.question in results]


def _counts(name: str, cases: Sequence[str]) -> bool:
    """Return whether a case is one of those that count; how far something grows is part of the name."""
    return name.partition(", to ")[0] in cases


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
