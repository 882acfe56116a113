"""The command `replay`: the recorded calls that still fit the tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

import click

from ...message_text import clip, escape
from ...recordings import LogError, logs_in, parts_of
from ..compare.call_table import TableError, call_table
from ..compare.parallel_engines import ENGINES, MOST_WORKERS, EngineError, Lost, make_engine
from ..compare.replay import ReplayWork
from ..compare.replay_report import by_example, replay_page
from .arguments import TARGETS, NearChoice, complete_files, complete_target, json_option, traceback_option
from .module_loading import WrongUse
from .output import Printer, count
from .sources import tool_source
from .text_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..compare.parallel_engines import Engine
    from ..compare.replay import CallRow, PartReport, Replay, ToolCounts

_TITLES: Final = ("tool", "calls", "fit", "repaired", "fail")
_NUMBERS: Final = frozenset(_TITLES[1:])
_SHOWN: Final = 10
_TEXT: Final = 300


@click.command(
    epilog=f"""\b
examples:
  operator-schema replay calls.jsonl --against tools
  operator-schema replay calls.jsonl.gz more.jsonl --against app:registry --json
  operator-schema replay calls.jsonl --old tools.json --against tools
  operator-schema replay calls.jsonl --against tools --html report.html
  operator-schema replay 'logs/*.jsonl.zst' --against tools --output calls.parquet

{TARGETS}
\b
exit status:
  0  no call fails, as far as --fail-on counts
  1  a call does
  2  wrong usage: a target or a file that can't be read
"""
)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True, shell_complete=complete_files)
@click.option(
    "--against",
    metavar="TARGET",
    shell_complete=complete_target,
    help="The tools that decode the calls (required).",
)
@click.option(
    "--old",
    metavar="TARGET",
    shell_complete=complete_target,
    help="Count only calls that fitted these tools.",
)
@json_option("Print the report as JSON.")
@click.option(
    "--html", metavar="FILE", shell_complete=complete_files, help="Write the report as a page, with plots."
)
@click.option(
    "--fail-on",
    type=NearChoice(["fail", "repaired", "never"]),
    default="fail",
    help="What makes the exit status 1: calls that fail, also calls that need repair, or nothing "
    "(default: fail).",
)
@click.option("--output", metavar="FILE", help="Write a Parquet file with one row for each call.")
@click.option(
    "--engine", type=NearChoice(ENGINES), default="plain", help="What runs the work (default: plain)."
)
@click.option(
    "--workers", type=click.IntRange(1, MOST_WORKERS), metavar="N", help="Processes (default: one per core)."
)
@click.option("--scheduler", metavar="ADDRESS", help="A running cluster of dask or ray.")
@traceback_option
@click.pass_obj
def replay(
    outputs: tuple[Printer, Printer],
    logs: tuple[str, ...],
    against: str | None,
    old: str | None,
    fail_on: str,
    html: str | None,
    output: str | None,
    engine: str,
    workers: int | None,
    scheduler: str | None,
    *,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Say which recorded calls the current tools still take.

    A log has one JSON value in each line, or is one value; it may be compressed with gzip or zstd. Parquet
    files and stores of rounds are read too, and a pattern names several files. Calls are found in all these
    forms: ours, the messages and answers of every provider, requests of the Model Context Protocol, and spans
    of OpenTelemetry.
    """
    if against is None:
        named = "TARGET" if Path(logs[-1]).exists() else escape(logs[-1])
        message = f"replay needs the tools that decode the calls: write --against {named}"
        raise WrongUse(message)
    work = ReplayWork(
        tool_source(against, show_traceback=show_traceback),
        None if old is None else tool_source(old, show_traceback=show_traceback),
        with_rows=output is not None,
        run=uuid4().hex,
    )
    options = _Options(engine, workers, scheduler, output)
    found, before, _ = _replayed(logs, work, options, outputs[1])
    if not found.calls and not (before and before.calls) and not found.unreadable_count:
        raise _no_calls(logs, found.bare_spans)
    if html is not None:
        title = " → ".join([" ".join(logs), *([] if old is None else [old]), against])
        replace_file(html, replay_page(found.as_dict(), f"Replay: {clip(title, _TEXT)}"))
    if as_json:
        outputs[0].json(found.as_dict(), 2)
    else:
        _write_replay(outputs[0], found)
    repaired = sum(counts.repaired for counts in found.tools.values())
    bad = found.fails + (repaired if fail_on == "repaired" else 0) + found.unreadable_count
    return 1 if bad and fail_on != "never" else 0


def _no_calls(logs: tuple[str, ...], bare_spans: int) -> WrongUse:
    names = " and ".join(map(escape, logs))
    if not bare_spans:
        return WrongUse(f"there are no calls in {names}")
    spans = count(bare_spans, "span")
    how = "record them with spans(record_arguments=True)"
    return WrongUse(f"there are no calls in {names}, only {spans} of calls without arguments: {how}")


class _Options(NamedTuple):
    """The options for reading logs, and whether to write a table in addition to the report."""

    engine: str
    workers: int | None
    scheduler: str | None
    output: str | None


def _replayed(logs: tuple[str, ...], work: ReplayWork, options: _Options, err: Printer) -> PartReport:
    """Replay all logs, and write the table of calls if the options request one."""
    try:
        files = logs_in(logs)
        engine = make_engine(options.engine, options.workers, options.scheduler)
        if options.output is None:
            return _merged(files, work, engine, err, lambda _rows: None)
        with call_table(options.output) as add_rows:
            return _merged(files, work, engine, err, add_rows)
    except (EngineError, LogError, TableError) as error:
        raise WrongUse(escape(str(error))) from None


def _merged(
    files: list[str],
    work: ReplayWork,
    engine: Engine,
    err: Printer,
    add_rows: Callable[[Sequence[CallRow]], None],
) -> PartReport:
    """Merge the reports of all parts in their order."""
    whole = work.empty()
    parts = (part for file in files for part in parts_of(file))
    with err.progress(_size_of(files), "replaying") as advance:
        for part, result in engine.map(work, parts):
            report = work.lost(part, result) if isinstance(result, Lost) else result
            whole.merge(report)
            add_rows(report.rows)
            advance(part.size)
    return whole


def _size_of(files: list[str]) -> int | None:
    try:
        return None if "-" in files else sum(Path(file).stat().st_size for file in files)
    except OSError:
        return None  # reading it gives the reason


def _write_replay(out: Printer, found: Replay) -> None:
    for place in found.broken[:_SHOWN]:
        out.line(f"broken: {escape(clip(place, _TEXT))}", "red")
    rows = [
        (escape(name), *[f"{each:,}" for each in (of.calls, of.fits, of.repaired, of.fails)])
        for name, of in sorted(found.tools.items())
        if of.calls
    ]
    if rows:
        out.table(_TITLES, rows, _NUMBERS)
    for name, counts in sorted(found.tools.items()):
        _write_faults(out, name, counts)
    for name, number in found.unknown.ranked()[:_SHOWN]:
        out.line(f"unknown tool {escape(name)}: {count(number, 'call')}", "red")
    for place in found.unreadable[:_SHOWN]:
        out.line(f"unreadable: {escape(clip(place, _TEXT))}", "red")
    hidden_places = found.unreadable_count - len(found.broken[:_SHOWN]) - len(found.unreadable[:_SHOWN])
    if hidden_places:
        out.line(f"unreadable: {hidden_places:,} more", "red")
    fits = sum(counts.fits for counts in found.tools.values())
    repaired = sum(counts.repaired for counts in found.tools.values())
    hidden = f", {found.redacted:,} not known: values are redacted" if found.redacted else ""
    line = f"{count(found.calls, 'call')}: {fits:,} fit, {repaired:,} if repaired, {found.fails:,} fail"
    out.line(f"{line}{hidden}")


def _write_faults(out: Printer, name: str, counts: ToolCounts) -> None:
    found = [(name, fault) for fault in counts.as_dict()["faults"][:_SHOWN]]
    for _, faults in by_example(found):
        for fault in faults:
            out.styled(
                (f"{escape(name)}: {escape(fault['path']) or 'arguments'}: ", "bold"),
                (f"{fault['code'].replace('_', ' ')} in {count(fault['calls'], 'call')}", ""),
            )
        out.line(f"  such as {escape(clip(faults[0]['arguments'], _TEXT))}")
        for line in faults[0]["text"].split("\n")[1:]:
            out.line(f"  {escape(line)}", "dim")
    for key, number in counts.ignored.ranked()[:_SHOWN]:
        out.line(f"{escape(name)}: {escape(key)}: ignored in {count(number, 'call')}", "dim")
    for kind, number in sorted(counts.repairs.items(), key=lambda item: (-item[1], item[0])):
        out.line(f"{escape(name)}: {kind.replace('_', ' ')}: {count(number, 'repair')}", "dim")
