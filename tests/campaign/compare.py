"""Compare random schemas with edits of them, and let `jsonschema` judge the proofs and the witnesses."""

# ruff: noqa: T201  # what it prints is what it is for

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parents[1]))

from schema_edits import Documents, flips, search

from operator_schema.compare.schemas import NO_VALUE, narrowings
from operator_schema.errors import DecodeError
from operator_schema.schema.document import SchemaDocument
from operator_schema.schema.document_codec import DocumentCodec

Wrong = tuple[str, dict[str, Any], dict[str, Any], Any]


def decodes(schema: dict[str, Any], value: Any) -> bool:
    """Return whether a value fits a document, of which our two decoders have to say the same."""
    codec = DocumentCodec(SchemaDocument("document", schema))
    try:
        codec.decode(value)
    except DecodeError:
        assert codec.report(value)
        return False
    return True


def judge(documents: Documents, values: int) -> tuple[str, list[Wrong], float]:
    """Compare one pair; return the verdict, what is wrong with it, and the seconds that it took."""
    old = documents.arguments()
    new = documents.edited(old)
    started = time.process_time()
    found = narrowings(old, new)
    seconds = time.process_time() - started
    wrong: list[Wrong] = [
        ("its witness doesn't show it", old, new, each.witness)
        for each in found
        if each.witness is not NO_VALUE
        and not (
            flips(old, new, each.witness) and decodes(old, each.witness) and not decodes(new, each.witness)
        )
    ]
    verdicts = {each.verdict for each in found}
    if "breaking" in verdicts:
        return "breaking", wrong, seconds
    shown = next(search(documents, old, new, values), NO_VALUE)
    if "undecided" in verdicts:
        return "undecided" if shown is NO_VALUE else "undecided, and breaking", wrong, seconds
    if shown is not NO_VALUE and "unasked" not in verdicts:
        wrong.append(("it is breaking", old, new, shown))
    return "compatible", wrong, seconds


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--values", type=int, default=10_000, help="for each pair that isn't breaking")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    documents = Documents(random.Random(given.seed))  # noqa: S311  # a sample that can be drawn again
    counts: Counter[str] = Counter()
    faults: list[Wrong] = []
    seconds = 0.0
    console = Console(stderr=True)
    for _ in track(range(given.pairs), "comparing", console=console, disable=not console.is_terminal):
        verdict, wrong, took = judge(documents, given.values)
        counts[verdict] += 1
        faults += wrong
        seconds += took
    for reason, old, new, value in faults[:10]:
        print(f"{reason}: {json.dumps(value)}\n  {json.dumps(old)}\n  {json.dumps(new)}")
    print(", ".join(f"{number:,} {verdict}" for verdict, number in counts.most_common()))
    print(f"{len(faults)} wrong; {seconds / given.pairs * 1000:.2f} ms a pair")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
