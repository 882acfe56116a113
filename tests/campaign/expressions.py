"""Random regular expressions: the automaton of a schema's patterns against `re`, and against the clock.

On short texts `re` says whether an expression is found; Python's spelling of each expression is made beside that
of ECMA 262, since class escapes and `$` mean something else there. On long texts no expression may take long.
The same seed gives the same run. Ends with status 1 if the two disagree or a text takes too long.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parent.parent)]

from patience import cpu_seconds
from rich.console import Console

from operator_schema.schema.linear_regex import linear_pattern

EXPRESSIONS_A_CHUNK = 50
LONG = 3000
LONGEST_TIME = 0.5
"""Seconds of CPU for one text of `LONG` characters."""

SPACES = "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
ATOMS = [
    *[
        (each, each)
        for each in ("a", "b", "ab", "é", "-", " ", "[ab]", "[^a]", "[^ab]", "[b-é]", "\\.", "\\-")
    ],
    ("\\d", "[0-9]"),
    ("\\D", "[^0-9]"),
    ("\\w", "[A-Za-z0-9_]"),
    ("\\W", "[^A-Za-z0-9_]"),
    ("\\s", f"[{SPACES}]"),
    ("\\S", f"[^{SPACES}]"),
    ("[\\Wa]", "[^b-zA-Z0-9_]"),
    ("[^\\s-]", f"[^{SPACES}-]"),
    (".", "[^\\n\\r\\u2028\\u2029]"),
    ("\\u0061", "a"),
    ("\\x62", "b"),
    ("\\u{e9}", "é"),
    ("\\ud83d\\ude00", "\U0001f600"),
]
ASSERTIONS = [
    ("^", "^"),
    ("$", "\\Z"),
    ("\\b", "(?a:\\b)"),
    ("\\B", "(?a:(?:(?<=\\w)(?=\\w)|(?<!\\w)(?!\\w)))"),
]
COUNTS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{2,3}", "{0}", "{2,3}?", "{3,}?"]
CHARACTERS = "aaabbb-é1_ \n\u2028\ufeff\u0660\U0001f600"
UNITS = ["a", "b", "ab", "aab", "a-", "é", " ", "1a", "\n"]

Pair = tuple[str, str]
"""One expression, as ECMA 262 and as Python spells it."""


class Outcome(NamedTuple):
    """What one chunk gave."""

    taken: int
    compared: int
    found: int
    slowest: tuple[float, str]
    disagreements: list[tuple[str, str]]


def random_expression(rng: random.Random, depth: int) -> Pair:
    """Make a random expression."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(ASSERTIONS) if rng.random() < 0.12 else rng.choice(ATOMS)
    kind = rng.randrange(5)
    if kind < 2:
        return each_spelling("".join, [random_expression(rng, depth - 1) for _ in range(rng.randint(2, 3))])
    if kind == 2:
        branches = [random_expression(rng, depth - 1) for _ in range(rng.randint(2, 3))]
        branches += rng.sample(branches, rng.randrange(2))
        return each_spelling(lambda some: f"({'|'.join(some)})", branches)
    count = rng.choice(COUNTS)
    return each_spelling(lambda some: f"(?:{some[0]}){count}", [random_expression(rng, depth - 1)])


def each_spelling(made: Callable[[list[str]], str], pairs: list[Pair]) -> Pair:
    return made([pair[0] for pair in pairs]), made([pair[1] for pair in pairs])


def whole_expression(rng: random.Random) -> Pair:
    pair = random_expression(rng, rng.randint(1, 4))
    start = "^" * (rng.random() < 0.4)
    if start and rng.random() < 0.3:
        look = random_expression(rng, 2)
        kind = rng.choice("=!")
        pair = (f"(?{kind}{look[0]})(?:{pair[0]})", f"(?{kind}{look[1]})(?:{pair[1]})")
    end = rng.random() < 0.4
    if (start or end) and "|" in pair[0]:
        pair = (f"(?:{pair[0]})", f"(?:{pair[1]})") if not pair[0].startswith(("(?=", "(?!")) else pair
    return start + pair[0] + "$" * end, start + pair[1] + "\\Z" * end


def random_text(rng: random.Random) -> str:
    return "".join(rng.choices(CHARACTERS, k=rng.randint(0, 7)))


def chunk(seed: str) -> Outcome:
    """Compare some random expressions; the seed says which."""
    rng = random.Random(seed)  # noqa: S311  # repeatable on purpose
    taken = compared = found = 0
    slowest = (0.0, "")
    disagreements: list[tuple[str, str]] = []
    for _ in range(EXPRESSIONS_A_CHUNK):
        text, spelled = whole_expression(rng)
        pattern = linear_pattern(text)
        if pattern is None:
            continue
        taken += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of sets that a later Python may read in another way
            other = re.compile(spelled)
        for value in ["", *[random_text(rng) for _ in range(12)]]:
            compared += 1
            is_found = pattern.search(value)
            found += is_found
            if is_found is not bool(other.search(value)):
                disagreements.append((text, value))
        for unit in UNITS:
            for end in ("", "!"):
                seconds = cpu_seconds(pattern.search, (unit * LONG)[:LONG] + end)
                slowest = max(slowest, (seconds, text))
    return Outcome(taken, compared, found, slowest, disagreements)


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--expressions", type=int, default=100_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    seeds = [f"{options.seed}:{i}" for i in range(-(-options.expressions // EXPRESSIONS_A_CHUNK))]
    with ProcessPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(chunk, seeds, chunksize=4))
    taken, compared, found = (sum(column) for column in list(zip(*outcomes, strict=True))[:3])
    slowest = max(outcome.slowest for outcome in outcomes)
    disagreements = [entry for outcome in outcomes for entry in outcome.disagreements]
    tried = len(seeds) * EXPRESSIONS_A_CHUNK
    say = Console(highlight=False, markup=False, soft_wrap=True).print
    say(
        f"{tried:,} regular expressions, {taken:,} taken; {compared:,} texts, in {found / compared:.0%} found"
    )
    say(f"the slowest text of {LONG:,} characters: {slowest[0]:.3f} s, {slowest[1]!r}")
    say(f"{len(disagreements)} disagreements with re")
    for text, value in sorted(disagreements, key=lambda entry: len(entry[0]) + len(entry[1]))[:10]:
        say(f"  {text!r} and {value!r}")
    return 1 if disagreements or slowest[0] > LONGEST_TIME else 0


if __name__ == "__main__":
    sys.exit(main())
