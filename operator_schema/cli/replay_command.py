"""The command `replay`: recorded calls, decoded by the tools of today."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import click

from ..compare.recorded_calls import Unreadable, calls_in, records_in
from ..compare.replay import Replay, ToolCounts
from ..message_text import clip, escape
from .arguments import NearChoice, traceback_option
from .compare_commands import write_file
from .modules import WrongUse
from .output import Output, count
from .sources import SOURCES, tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from io import BufferedReader

    from ..compare.recorded_calls import RecordedCall

__all__ = ["replay"]

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

{SOURCES}
\b
exit status:
  0  every call fits, or --fail-on says otherwise
  1  a call doesn't
  2  wrong use: a target or a file that can't be read
"""
)
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("--against", metavar="TARGET", required=True, help="The tools that decode the calls.")
@click.option("--old", metavar="TARGET", help="Count only calls that fitted these tools.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--html", metavar="FILE", help="Write the report as a page, with plots.")
@click.option(
    "--fail-on",
    type=NearChoice(["fail", "repaired", "never"]),
    default="fail",
    help="What makes the exit status 1: calls that fail, also calls that need repair, or nothing "
    "(default: fail).",
)
@traceback_option
@click.pass_obj
def replay(
    outputs: tuple[Output, Output],
    logs: tuple[str, ...],
    against: str,
    old: str | None,
    fail_on: str,
    html: str | None,
    *,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Say which recorded calls the tools of today still take.

    A log has one JSON value in each line, or is one value; gzip is read too. The calls in it are found in
    whatever form they have: ours, the messages and answers of every provider, requests of the Model Context
    Protocol, and spans of OpenTelemetry.
    """
    found = Replay(tools_of(against, show_traceback=show_traceback))
    before = None if old is None else Replay(tools_of(old, show_traceback=show_traceback))
    for log in logs:
        for call in _calls_of(log, outputs[1], found):
            if before is None or before.add(call):
                found.add(call)
    if not found.calls and not (before and before.calls) and not found.unreadable_count:
        message = f"there are no calls in {' and '.join(map(escape, logs))}"
        raise WrongUse(message)
    if html is not None:
        from ..compare.replay_page import replay_page

        title = " → ".join([" ".join(logs), *([] if old is None else [old]), against])
        write_file(html, replay_page(found.as_dict(), f"Replay: {clip(title, _TEXT)}"))
    if as_json:
        outputs[0].json(found.as_dict(), 2)
    else:
        _write(outputs[0], found)
    repaired = sum(counts.repaired for counts in found.tools.values())
    bad = found.fails + (repaired if fail_on == "repaired" else 0) + found.unreadable_count
    return 1 if bad and fail_on != "never" else 0


@contextmanager
def _opened(log: str) -> Generator[tuple[BufferedReader, int | None]]:
    """Open a file, or standard input; yield it with its size if that is known."""
    if log == "-":
        yield cast("BufferedReader", sys.stdin.buffer), None
        return
    try:
        stream = Path(log).open("rb")  # noqa: SIM115  # closed below
    except OSError as error:
        message = f"{escape(log)} can't be read: {error.strerror}"
        raise WrongUse(message) from None
    with stream:
        yield stream, Path(log).stat().st_size


def _calls_of(log: str, err: Output, found: Replay) -> Iterator[RecordedCall]:
    with _opened(log) as (stream, size), err.progress(size, "replaying") as advance:
        done = 0
        for record in records_in(stream):
            done = _advance(stream, size, done, advance)
            if isinstance(record, Unreadable):
                place = f"{log}:{record.line}" if record.line else log
                found.add_unreadable(place, record.reason)
            else:
                yield from calls_in(record)


def _advance(stream: BufferedReader, size: int | None, done: int, advance: Callable[[int], None]) -> int:
    if size is None:
        return 0
    now = stream.tell()
    if now != done:
        advance(now - done)
    return now


def _write(out: Output, found: Replay) -> None:
    rows = [_row(name, counts) for name, counts in sorted(found.tools.items()) if counts.calls]
    if rows:
        out.table(_TITLES, rows, _NUMBERS)
    for name, counts in sorted(found.tools.items()):
        _write_faults(out, name, counts)
    for name, number in found.unknown.most_common(_SHOWN):
        out.line(f"unknown tool {escape(name)}: {count(number, 'call')}", "red")
    for place in found.unreadable[:_SHOWN]:
        out.line(f"unreadable: {escape(clip(place, _TEXT))}", "red")
    if found.unreadable_count > _SHOWN:
        out.line(f"unreadable: {found.unreadable_count - _SHOWN:,} more", "red")
    fits = sum(counts.fits for counts in found.tools.values())
    repaired = sum(counts.repaired for counts in found.tools.values())
    out.line(f"{count(found.calls, 'call')}: {fits:,} fit, {repaired:,} if repaired, {found.fails:,} fail")


def _row(name: str, counts: ToolCounts) -> tuple[str, ...]:
    numbers: list[Any] = [counts.calls, counts.fits, counts.repaired, counts.fails]
    return (escape(name), *[f"{number:,}" for number in numbers])


def _write_faults(out: Output, name: str, counts: ToolCounts) -> None:
    for fault, number in counts.faults.most_common(_SHOWN):
        example = counts.examples[fault]
        out.styled(
            (f"{escape(name)}: {escape(fault.path) or 'arguments'}: ", "bold"),
            (f"{fault.code.replace('_', ' ')} in {count(number, 'call')}, such as", ""),
        )
        out.line(f"  {escape(clip(example.arguments, _TEXT))}")
        for line in example.text.split("\n")[1:]:
            out.line(f"  {escape(line)}", "dim")
    for key, number in counts.ignored.most_common(_SHOWN):
        out.line(f"{escape(name)}: {escape(key)}: ignored in {count(number, 'call')}", "dim")
    for kind, number in sorted(counts.repairs.items(), key=lambda item: (-item[1], item[0])):
        out.line(f"{escape(name)}: {kind.replace('_', ' ')}: {count(number, 'repair')}", "dim")
