"""Compare constrained decoding with the decoder: random types, walks through their grammars, instances.

The same seed gives the same run. Ends with status 1 when a reason for a disagreement isn't on the list.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime

from grammars.campaign import ENGINES, Count, Disagreement, Outcome, compare
from grammars.page import PAGE, replaced, written
from grammars.subjects import WIRES
from rich.console import Console
from rich.progress import Progress

TYPES_A_CHUNK = 20
MOST_SHOWN = 20


def chunk(job: tuple[str, str, int, str]) -> Outcome:
    """Run a part of the campaign in another process."""
    return compare(*job)


def _silence() -> None:
    """Drop what engines write to standard error, a line for each keyword that they ignore."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def shown(disagreements: list[Disagreement], console: Console) -> None:
    """Print the smallest disagreements of each kind."""
    seen: Counter[Count] = Counter()
    for found in sorted(disagreements, key=lambda found: len(found.text) + len(json.dumps(found.schema))):
        seen[found.count] += 1
        if seen[found.count] <= 2 and len(seen) <= MOST_SHOWN:
            lines = [
                " · ".join(found.count),
                found.why,
                found.text,
                json.dumps(found.schema, ensure_ascii=False),
            ]
            console.print("\n  ".join(lines)[:2000], markup=False, highlight=False)
    console.print(f"{len(disagreements)} disagreements outside the closed list")


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000, help="schemas for each engine and wire form")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--write", action="store_true", help="write the tables to docs/constrained-decoding.md"
    )
    options = parser.parse_args()
    chunks = -(-options.examples // TYPES_A_CHUNK)
    jobs = [
        (engine, wire, TYPES_A_CHUNK, f"{options.seed}:{i}")
        for i in range(chunks)
        for engine in ENGINES
        for wire in WIRES
    ]
    console, started = Console(), time.monotonic()
    counts: Counter[Count] = Counter()
    disagreements: list[Disagreement] = []
    with (
        ProcessPoolExecutor(options.processes, initializer=_silence) as pool,
        Progress(console=Console(stderr=True)) as progress,
    ):
        task = progress.add_task("schemas", total=len(jobs) * TYPES_A_CHUNK)
        for outcome in pool.map(chunk, jobs):
            counts += outcome.counts
            disagreements += outcome.disagreements
            progress.advance(task, TYPES_A_CHUNK)
    seconds = time.monotonic() - started
    python = f"CPython {sys.version_info.major}.{sys.version_info.minor}"
    how = (
        f"Measured on {datetime.now(UTC).date()} with `make grammars EXAMPLES={options.examples} "
        f"SEED={options.seed}`, on {python}, in {seconds / 60:.0f} minutes."
    )
    measured = written(counts, how)
    console.print(measured, markup=False, highlight=False)
    shown(disagreements, console)
    if options.write:
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), measured), encoding="utf-8")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
