"""Ask the questions, show the bars, and write the results: `python -m benchmarks [--quick] [question …]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .bars import judge_all
from .machine import folder_name, machine, versions
from .measure import ROOT, Plan
from .questions import QUESTIONS
from .report import Document, bars_on_terminal, page

ROUNDS, ROUNDS_QUICK = 31, 9
SECONDS, SECONDS_QUICK = 0.010, 0.004


def main() -> int:
    """Run the benchmarks; return 1 if a quick run misses a bar, else 0."""
    arguments = _arguments()
    console = Console()
    started = monotonic()
    document = {"machine": machine(), "versions": versions(), "results": {}}
    if busy := busy_with(document["machine"]):
        console.print(f"{busy}: only ratios mean something", style="yellow")
        if not (arguments.quick or arguments.busy):
            console.print("Wait until the machine is idle, or mark the results: --busy", style="yellow")
            return 2
        document["machine"]["busy"] = busy
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        rounds = arguments.rounds or (ROUNDS_QUICK if arguments.quick else ROUNDS)
        document["machine"]["rounds"] = str(rounds)
        plan = Plan(arguments.quick, rounds, SECONDS_QUICK if arguments.quick else SECONDS, progress)
        names = arguments.questions or list(QUESTIONS)
        task = progress.add_task("questions", total=len(names))
        for name in (name for name in QUESTIONS if name in names):
            if results := QUESTIONS[name].run(plan):
                document["results"][name] = results
            console.print(f"{QUESTIONS[name].TITLE}: {monotonic() - started:.0f} s", style="dim")
            progress.advance(task)
    verdicts = judge_all(document["results"])
    console.print(bars_on_terminal(verdicts))
    if not arguments.quick:
        folder = arguments.output or default_folder(arguments.questions)
        _write(document, folder)
        console.print(f"Results: {folder}", style="dim")
    missed = [verdict for verdict in verdicts if not verdict.met]
    console.print(
        f"{len(verdicts) - len(missed)} bars met, {len(missed)} missed, in {monotonic() - started:.0f} s"
    )
    return 1 if arguments.quick and missed else 0


def busy_with(about: dict[str, str]) -> str:
    """Return in words that a machine has more to do than it has cores; empty if it hasn't.

    Args:
        about: what `machine` returns.
    """
    load, cores = about["load before"], about["cores"]
    if load == "unknown" or float(load) <= float(cores):
        return ""
    return f"other work kept the machine busy: a load of {load} on {cores} cores"


def default_folder(questions: list[str]) -> Path:
    """Return the folder for the results. Only a run of all questions replaces the published ones."""
    is_complete = not set(QUESTIONS).difference(questions or QUESTIONS)
    published, partial = ROOT / "docs" / "benchmarks", ROOT / "build" / "benchmarks"
    return (published if is_complete else partial) / folder_name()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition(":")[0])
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=f"some of {', '.join(QUESTIONS)}")
    parser.add_argument("--quick", action="store_true", help="only what the bars need; writes no files")
    parser.add_argument(
        "--busy", action="store_true", help="measure on a busy machine, too, and say so in the results"
    )
    parser.add_argument(
        "--rounds", type=int, help=f"turns of each contestant ({ROUNDS}, quick {ROUNDS_QUICK})"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="folder for the results (docs/benchmarks/…; build/benchmarks/… for some of the questions)",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.questions).difference(QUESTIONS):
        parser.error(f"no such question: {', '.join(sorted(unknown))}")
    return arguments


def _write(document: Document, folder: Path) -> None:
    """Write the results as JSON, their plots, and the page that shows both."""
    from .plots import draw_all  # matplotlib loads slowly, and a quick run doesn't need it

    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1, ensure_ascii=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    plots = draw_all(document, folder)
    (folder / "results.md").write_text(
        page(document, judge_all(document["results"]), plots), encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
