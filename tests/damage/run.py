"""The damage campaign: real calls, damaged as models damage them, and what repair makes of them.

Every kind of damage alone and together with another one. The same seed gives the same run. Ends with
status 1 when a kind of damage falls short of the share that must come back, when any call comes back
different from the original, or when something was repaired that has no one reading.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from damaging import Outcome, chunk, corpus_of, report
from rich.console import Console
from rich.progress import Progress

CALLS_A_CHUNK = 97
WIDTH = 124


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    console, started, good = Console(), time.monotonic(), True
    console.width = max(console.width, WIDTH)
    with ProcessPoolExecutor(options.processes) as pool, Progress(console=Console(stderr=True)) as progress:
        for name in ("recorded", "made"):
            number = len(corpus_of(name, options.seed))
            work = [
                (name, start, start + CALLS_A_CHUNK, options.seed, f"{options.seed}:{name}:{start}")
                for start in range(0, number, CALLS_A_CHUNK)
            ]
            task, outcomes = progress.add_task(f"{name} calls", total=number), list[Outcome]()
            for done, outcome in pool.map(chunk, work):
                outcomes.append(outcome)
                progress.advance(task, done)
            good = report(f"{number:,} {name} calls", outcomes, console) and good
    damages = time.monotonic() - started
    console.print(
        f"\nseed {options.seed}, {damages:.0f} s: {'every bar is met' if good else 'a bar is not met'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
