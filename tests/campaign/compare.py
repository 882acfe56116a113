"""Compare random schemas with edits of them, and let `jsonschema` judge the proofs and the witnesses.

Each document is edited several times, so that its values are drawn once. The same seed gives the same run.
"""

# ruff: noqa: T201  # what it prints is what it is for

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parents[1]))

from schema_edits import Documents, FastValidator, flips

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.errors import DecodeError
from operator_schema.workbench.compare.narrowings import NO_VALUE, narrowings

EDITS_A_DOCUMENT = 10
DOCUMENTS_A_CHUNK = 10
SHARE_OF_NEW = 0.2
"""Values that are drawn from the new document, of all."""

Wrong = tuple[str, dict[str, Any], dict[str, Any], Any]


class Outcome(NamedTuple):
    """What some pairs gave.

    Attributes:
        verdicts: how often each was said.
        wrong: answers that are.
        seconds: processor time of the comparisons.
    """

    verdicts: Counter[str]
    wrong: list[Wrong]
    seconds: float


def decodes(schema: dict[str, Any], value: Any) -> bool:
    """Return whether a value fits a document, of which our two decoders have to say the same."""
    codec = DocumentCodec(SchemaDocument("document", schema))
    try:
        codec.decode(value)
    except DecodeError:
        assert codec.report(value)
        return False
    return True


def judge(documents: Documents, old: dict[str, Any], fitting: list[Any], values: int) -> Outcome:
    """Compare a document with an edit of it.

    Args:
        documents: makes the edit, and values.
        old: the document.
        fitting: values that fit it.
        values: that are drawn from the edit.
    """
    new = documents.edited(old)
    started = time.process_time()
    found = narrowings(old, new)
    seconds = time.process_time() - started
    wrong: list[Wrong] = [
        ("its witness doesn't show it", old, new, each.witness)
        for each in found
        if each.witness is not NO_VALUE and not is_shown(old, new, each.witness)
    ]
    verdicts = {each.verdict for each in found}
    if "breaking" in verdicts:
        return Outcome(Counter(["breaking"]), wrong, seconds)
    value = missed(documents, old, new, fitting, values)
    if "undecided" in verdicts:
        said = "undecided" if value is NO_VALUE else "undecided, and breaking"
        return Outcome(Counter([said]), wrong, seconds)
    if value is not NO_VALUE and "unasked" not in verdicts:
        wrong.append(("it is breaking", old, new, value))
    return Outcome(Counter(["compatible"]), wrong, seconds)


def is_shown(old: dict[str, Any], new: dict[str, Any], witness: Any) -> bool:
    """Return whether a value fits one document and not the other, for all judges."""
    return flips(old, new, witness) and decodes(old, witness) and not decodes(new, witness)


def missed(
    documents: Documents, old: dict[str, Any], new: dict[str, Any], fitting: list[Any], values: int
) -> Any:
    """Return a value that shows that an edit is breaking, as two validators see it."""
    before, after = FastValidator(old), FastValidator(new)
    drawn = [value for value in (documents.value_of(new) for _ in range(values)) if before.is_valid(value)]
    shown = (value for value in [*fitting, *drawn] if not after.is_valid(value))
    return next((value for value in shown if flips(old, new, value)), NO_VALUE)


def chunk(seed: str, values: int = 1000) -> Outcome:
    """Judge the edits of some documents."""
    documents = Documents(random.Random(seed))  # noqa: S311  # a sample that can be drawn again
    outcomes: list[Outcome] = []
    for _ in range(DOCUMENTS_A_CHUNK):
        old = documents.arguments()
        validator = FastValidator(old)
        of_new = round(values * SHARE_OF_NEW)
        drawn = [documents.value_of(old) for _ in range(values - of_new)]
        fitting = [value for value in drawn if validator.is_valid(value)]
        outcomes += [judge(documents, old, fitting, of_new) for _ in range(EDITS_A_DOCUMENT)]
    return together(outcomes)


def together(outcomes: list[Outcome]) -> Outcome:
    """Add up outcomes."""
    verdicts, wrong, seconds = zip(*outcomes, strict=True)
    return Outcome(sum(verdicts, Counter()), [each for some in wrong for each in some], sum(seconds))


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--values", type=int, default=1000, help="for each pair that isn't breaking")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    number = -(-given.pairs // (DOCUMENTS_A_CHUNK * EDITS_A_DOCUMENT))
    seeds = [f"{given.seed}:{index}" for index in range(number)]
    console = Console(stderr=True)
    with ProcessPoolExecutor(given.processes) as pool:
        results = pool.map(chunk, seeds, [given.values] * number)
        shown = track(results, "comparing", number, console=console, disable=not console.is_terminal)
        whole = together(list(shown))
    for reason, old, new, value in whole.wrong[:10]:
        print(f"{reason}: {json.dumps(value)}\n  {json.dumps(old)}\n  {json.dumps(new)}")
    pairs = whole.verdicts.total()
    print(", ".join(f"{count:,} {verdict}" for verdict, count in whole.verdicts.most_common()))
    print(f"{pairs:,} pairs, {len(whole.wrong)} wrong; {whole.seconds / pairs * 1000:.2f} ms a comparison")
    return 1 if whole.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
