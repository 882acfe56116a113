"""The agreement campaign: our decoder against two validators on our schema.

Random types, several values for each, three judges: the decoder, `jsonschema` and `jsonschema-rs`.
The same seed gives the same run. Ends with status 1 when a disagreement is no documented exception.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import jsonschema_rs
from judge import validator
from own_leaves import held
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from types_ import LEAVES, random_type
from values import Values

from operator_schema import Codec, SchemaError
from operator_schema.engine import Graph
from operator_schema.findings import Finding
from operator_schema.introspect.node_kinds import visit

if TYPE_CHECKING:
    from collections.abc import Iterator

OWN_LEAVES = [held(number) for number in range(20)]
"""Leaves as somebody else writes them: about as many as the shipped ones."""

TYPES_A_CHUNK = 20
VALUES_A_TYPE = 50
SHARE_VALID = 0.30
SHARE_KIND = 0.01

STRICTER = {
    "bad_format": "a leaf's parser is stricter than its schema",
    "no_match": "a leaf's parser is stricter than its schema",
    "rejected": "the class's own check",
    "out_of_range": "an integer beyond the range of floats, or whose float breaks its limits",
    "too_deep": "the limit on depth",
    "too_large": "the limit on size",
    "duplicate": "items or keys that differ in JSON and are equal in Python",
}
"""Reasons for which the decoder may refuse what the schema takes."""

WRAPPED = "the arguments inside a key of their own"
AMBIGUOUS = "an object that fits several members of a union equally well"
EXPLICIT_NULL = "an explicit null for a field whose absence means None"
ROUNDED = "a multiple of a number that a validator finds by rounding"
EXACT_FLOATS = 2**53
"""Past it not every integer is a float, and a validator that divides floats rounds."""


class Outcome(NamedTuple):
    """What one chunk of types gave."""

    pairs: int
    accepted: int
    graphs: int
    refused_types: int
    kinds: Counter[str]
    allowed: Counter[str]
    disagreements: list[tuple[str, str, str, str]]


@contextmanager
def own_leaves_too() -> Iterator[None]:
    """Let random types have leaves of somebody else's, for as long as this lasts."""
    LEAVES.extend(OWN_LEAVES)
    try:
        yield
    finally:
        del LEAVES[-len(OWN_LEAVES) :]


def chunk(seed: str) -> Outcome:
    """Run some random types; the seed says which."""
    rng = random.Random(seed)  # noqa: S311  # repeatable on purpose
    kinds: Counter[str] = Counter()
    allowed: Counter[str] = Counter()
    disagreements: list[tuple[str, str, str, str]] = []
    pairs = accepted = graphs = refused = 0
    while graphs < TYPES_A_CHUNK:
        with own_leaves_too():
            annotation = random_type(rng, 3)
        try:
            codec = Codec(annotation, unknown_fields=rng.choice(["ignore", "ignore", "reject"]))
        except SchemaError:
            refused += 1
            continue
        graphs += 1
        kinds.update(kinds_of(codec.graph))
        schema = codec.json_schema()
        first, second = validator(schema), jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
        values = Values(codec.graph, rng)
        for _ in range(VALUES_A_TYPE):
            value = values.value()
            pairs += 1
            problems = codec.report(value)
            accepted += not problems
            verdicts = judge(first, second, value)
            kind = classify(codec, value, problems, verdicts, first)
            if kind in ALLOWED:
                allowed[kind] += 1
            elif kind:
                disagreements.append((kind, repr(annotation), dumps(schema), dumps(value)))
    return Outcome(pairs, accepted, graphs, refused, kinds, allowed, disagreements)


def judge(first: Any, second: Any, value: Any) -> tuple[bool, bool]:
    """Ask both validators; where `jsonschema` itself gives up, the other one speaks for both."""
    also_valid = second.is_valid(value)
    try:
        return first.is_valid(value), also_valid
    except (OverflowError, RecursionError):  # `multipleOf` of huge integers; nesting past the stack
        return also_valid, also_valid


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def kinds_of(graph: Graph) -> set[str]:
    """Name the kinds of nodes that a graph holds."""
    return {type(node).__name__ for node in visit([graph.root, *graph.definitions.values()])}


JUDGES_DIFFER = "the two validators disagree"
ALLOWED = {*STRICTER.values(), WRAPPED, AMBIGUOUS, EXPLICIT_NULL, ROUNDED}


def classify(
    codec: Codec[Any], value: Any, problems: tuple[Finding, ...], verdicts: tuple[bool, bool], again: Any
) -> str | None:
    """Say what kind of disagreement this is; None where all three agree."""
    valid, also_valid = verdicts
    if valid == also_valid == (not problems):
        return None
    reasons = {reason_of(problem) for problem in problems if is_excused(problem)}
    if valid != also_valid and has_large_number(value) and "multipleOf" in dumps(codec.json_schema()):
        return ROUNDED
    if valid != also_valid and not reasons:
        # Where one validator sides with the decoder, the other is looked into by hand.
        return f"{JUDGES_DIFFER}: jsonschema {valid}, jsonschema-rs {also_valid}, decoder {not problems}"
    if problems:
        return reasons.pop() if reasons else f"the decoder refuses: {problems[0].code}"
    encoded = codec.encode(codec.decode(value))
    if has_null(value) and again.is_valid(encoded):
        return EXPLICIT_NULL
    return "the decoder takes what the schema refuses"


def reason_of(problem: Finding) -> str | None:
    if "the arguments are inside" in problem.message:
        return WRAPPED
    return AMBIGUOUS if "equally well" in problem.message else STRICTER.get(problem.code)


def is_excused(problem: Finding) -> bool:
    if "the arguments are inside" in problem.message:
        return True
    if problem.code == "bad_format":
        return "is not accepted" in problem.message
    if problem.code == "out_of_range":
        return "range of a float" in problem.message or "as a float" in problem.message
    return problem.code in STRICTER


def has_large_number(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_large_number, value.values()))
    if isinstance(value, list):
        return any(map(has_large_number, value))
    return isinstance(value, (int, float)) and abs(value) >= EXACT_FLOATS


def has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(item is None or has_null(item) for item in value.values())
    return isinstance(value, list) and any(map(has_null, value))


def report(outcomes: list[Outcome], seconds: float, console: Console) -> bool:
    """Print what was found; say whether every bar is met."""
    pairs, accepted, graphs, refused = (sum(column) for column in list(zip(*outcomes, strict=True))[:4])
    kinds, allowed = (sum(column, Counter()) for column in list(zip(*outcomes, strict=True))[4:6])
    found = [entry for outcome in outcomes for entry in outcome.disagreements]
    console.print(f"{pairs:,} pairs of {graphs:,} types in {seconds:.0f} s ({refused:,} types were refused)")
    console.print(f"{accepted / pairs:.1%} of the pairs accepted")
    table = Table("kind of node", "share of the types")
    for kind, number in sorted(kinds.items()):
        table.add_row(kind, f"{number / graphs:.1%}")
    console.print(table)
    table = Table("documented exception", "pairs")
    for reason in sorted(ALLOWED):
        table.add_row(reason, f"{allowed[reason]:,}")
    console.print(table)
    smallest: dict[str, tuple[str, str, str, str]] = {}
    for entry in found:
        kept = smallest.setdefault(entry[0], entry)
        if sum(map(len, entry)) < sum(map(len, kept)):
            smallest[entry[0]] = entry
    console.print(f"{len(found)} disagreements outside the documented exceptions")
    counts = Counter(entry[0] for entry in found)
    for kind, (_, annotation, schema, value) in smallest.items():
        console.print(
            f"\n{kind}: {counts[kind]}\n  {annotation}\n  {schema}\n  {value}", markup=False, highlight=False
        )
    enough = accepted / pairs >= SHARE_VALID and all(
        number / graphs >= SHARE_KIND for number in kinds.values()
    )
    return enough and not found


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chunks = -(-options.pairs // (TYPES_A_CHUNK * VALUES_A_TYPE))
    seeds = [f"{options.seed}:{i}" for i in range(chunks)]
    console, started = Console(), time.monotonic()
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(options.processes) as pool, Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("pairs", total=chunks * TYPES_A_CHUNK * VALUES_A_TYPE)
        for outcome in pool.map(chunk, seeds):
            outcomes.append(outcome)
            progress.advance(task, outcome.pairs)
    return 0 if report(outcomes, time.monotonic() - started, console) else 1


if __name__ == "__main__":
    sys.exit(main())
