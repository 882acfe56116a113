"""The judge of corrections: how often the error of a wrong call ends with the right one.

Every kind of mistake is made alone, and with another one. The same seed gives the same run. Ends with
status 1 when a bar isn't met.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from mistake_score import ROWS, Row, Score, has_to_copy, missed_bars, row_of, score, tools_of
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from right_calls import RightCall, agent_calls, airline_calls, leaderboard_calls, traffic_calls

CALLS_A_CHUNK = 25
CALLS_A_TOOL = 60
WIDTH = 124

_CALLS: dict[str, list[RightCall]] = {}


def calls_of(name: str, seed: int, wheel: Path | None) -> list[RightCall]:
    """Return the right calls of one source."""
    if name not in _CALLS:
        match name:
            case "airline":
                _CALLS[name] = airline_calls()
            case "traffic":
                _CALLS[name] = traffic_calls()
            case "agents":
                _CALLS[name] = agent_calls(CALLS_A_TOOL, seed)
            case _:
                assert wheel is not None
                _CALLS[name] = leaderboard_calls(wheel)
    return _CALLS[name]


def chunk(work: tuple[str, int, int, Path | None]) -> tuple[int, Score]:
    """Judge some calls of a source, in a process of its own."""
    name, start, seed, wheel = work
    calls = calls_of(name, seed, wheel)
    part = calls[start : start + CALLS_A_CHUNK]
    return len(part), score(part, tools_of(calls), f"{seed}:{name}:{start}")


def table_of(title: str, found: Score) -> Table:
    """Return the table of one source, a row for each kind."""
    table = Table(title=title, title_justify="left")
    for column in (
        "mistake",
        "calls",
        "refused",
        "end with a call",
        "right",
        "repaired right",
        "wrong",
        "letters",
    ):
        table.add_column(column, justify="left" if column == "mistake" else "right")
    for name in ROWS:
        table.add_row(name, *_cells(row_of(found, name)))
    table.add_section()
    table.add_row("all with something to copy", *_cells(row_of(found, *filter(has_to_copy, ROWS))))
    return table


def _cells(row: Row) -> list[str]:
    return [
        f"{row.made:,}",
        f"{row.refused:,}",
        _share(row.lines, row.refused),
        _share(row.right, row.lines),
        f"{row.same:,}",
        f"{row.other:,}",
        f"{row.characters / row.refused:.0f}" if row.refused else "",
    ]


def _share(part: int, whole: int) -> str:
    return f"{part:,} = {part / whole:.1%}" if whole else ""


def show_examples(found: Score, console: Console) -> None:
    """Show the smallest example of each thing that is wrong, and how often it came."""
    counts, smallest = Counter(name for name, _, _ in found.found), dict[str, tuple[str, str, str]]()
    for entry in found.found:
        if entry[0].startswith("no line") and " + " in entry[0]:
            continue
        kept = smallest.setdefault(entry[0], entry)
        if len(entry[1]) < len(kept[1]):
            smallest[entry[0]] = entry
    for what, sent, text in sorted(smallest.values()):
        shown = f"\n{counts[what]:,} times: {what}\n  {sent[:600]}\n  {text[:900]}"
        console.print(shown, markup=False, highlight=False)


def main() -> int:
    """Run the judge that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--leaderboard", type=Path, help="the wheel of bfcl-eval, whose functions are asked too"
    )
    parser.add_argument("--examples", action="store_true", help="show an example of each thing that is wrong")
    options = parser.parse_args()
    console, whole = Console(), Score.of_nothing()
    console.width = max(console.width, WIDTH)
    names = ["airline", "traffic", "agents", *(["leaderboard"] if options.leaderboard else [])]
    with ProcessPoolExecutor(options.processes) as pool, Progress(console=Console(stderr=True)) as progress:
        for name in names:
            calls = calls_of(name, options.seed, options.leaderboard)
            work = [
                (name, start, options.seed, options.leaderboard)
                for start in range(0, len(calls), CALLS_A_CHUNK)
            ]
            task, found = progress.add_task(name, total=len(calls)), Score.of_nothing()
            for done, part in pool.map(chunk, work):
                found.add(part)
                progress.advance(task, done)
            console.print(
                table_of(f"{name}: {len(calls):,} right calls of {len(tools_of(calls))} tools", found)
            )
            whole.add(found)
    console.print(table_of("all", whole))
    if options.examples:
        show_examples(whole, console)
    missed = missed_bars(whole)
    console.print(f"seed {options.seed}:", *missed or ["every bar is met"], sep="\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
