"""The commands `snapshot`, `diff` and `replay`: tools as a file, what changed, and which calls still fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

import click

from ...engine import KEYWORDS
from ...message_text import clip, escape
from ...recordings import LogError, logs_in, parts_of
from .. import PACKAGE
from ..compare.accepted import Sorted, sort_changes
from ..compare.changes import LEVELS, MEANINGS, Change, compare
from ..compare.codes import CODES
from ..compare.parallel_engines import ENGINES, MOST_WORKERS, EngineError, Lost, make_engine
from ..compare.replay import ReplayWork, TableError, call_table
from ..compare.reports import alike_changes, as_html, lines_of, replay_page, summary_of
from ..compare.snapshot import Snapshot
from .annotations import Annotation, print_annotations
from .arguments import (
    REGISTRY,
    TARGETS,
    NearChoice,
    complete_files,
    complete_target,
    fail_on_option,
    format_option,
    is_server,
    json_option,
    levels_from,
    replace_file,
    text_of_bytes,
    traceback_option,
)
from .module_loading import WrongUse, is_path, load_module
from .output import Printer, count
from .sources import (
    accepted_in,
    empty_list,
    is_module,
    places_at,
    snapshot_at,
    snapshot_in,
    tool_source,
    write_accepted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..compare.parallel_engines import Engine
    from ..compare.replay import CallFault, CallRow, Example, PartReport, Replay, ToolCounts

__all__ = ["diff", "replay", "snapshot"]

_CODES: Final = {*CODES, *KEYWORDS}
_STYLES: Final = {"breaking": "red", "undecided": "yellow", "meaning": "yellow", "text": "", "wider": "dim"}
_SEVERITIES: Final = {
    "breaking": "error",
    "undecided": "warning",
    "meaning": "warning",
    "text": "note",
    "wider": "note",
}


@click.command(
    epilog=f"""\b
examples:
  operator-schema snapshot tools -o tools.json
  operator-schema snapshot mcp:"uvx mcp-server-time" > time.json

{TARGETS}"""
)
@click.argument("target", metavar="TARGET", shell_complete=complete_target)
@click.option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
@traceback_option
@click.pass_obj
def snapshot(
    outputs: tuple[Printer, Printer], target: str, output: str | None, *, show_traceback: bool
) -> int:
    """Write everything that users of tools depend on, into a file for git.

    The file has names, descriptions, schemas of arguments and results, and hints, always in the same order.
    `diff` compares it with later tools.
    """
    found = snapshot_at(target, show_traceback=show_traceback)
    if not found.tools:
        raise empty_list(target)
    if output is None:
        outputs[0].text(found.as_text())
    else:
        replace_file(output, found.as_text())
        outputs[1].line(f"{output}: {count(len(found.tools), 'tool')}")
    return 0


@click.command(
    epilog=f"""\b
examples:
  operator-schema diff tools.json tools
  operator-schema diff --git main tools
  operator-schema diff --check tools.json tools
  operator-schema diff --format html tools.json tools > changes.html

{TARGETS}
\b
levels:
{chr(10).join(f"  {level:10} {meaning}" for level, meaning in MEANINGS.items())}

\b
codes in the file of --accepted, beside keywords of a schema that can't be read, such as not:
{fill(", ".join(CODES), 74, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)}

\b
exit status:
  0  no change counts for --fail-on
  1  at least one does
  2  wrong usage: a target that can't be read
"""
)
@click.argument("targets", metavar="[OLD] NEW", nargs=-1, required=True, shell_complete=complete_target)
@click.option("--git", "revision", metavar="REVISION", help="OLD is the same target at a revision of git.")
@format_option("github", "sarif", "html")
@fail_on_option([*LEVELS], "undecided")
@click.option("--check", is_flag=True, help="Fail if anything is different: keeps a snapshot up to date.")
@click.option(
    "--accepted", metavar="FILE", help="Accept the changes that a TOML file lists, with reason and day."
)
@traceback_option
@click.pass_obj
def diff(
    outputs: tuple[Printer, Printer],
    targets: tuple[str, ...],
    revision: str | None,
    shape: str,
    fail_on: str,
    accepted: str | None,
    *,
    as_json: bool,
    check: bool,
    show_traceback: bool,
) -> int:
    """Say what changed between two versions of tools, and what breaks.

    A breaking change comes with the smallest call that worked and fails now, or with the smallest result that
    the old schema doesn't allow. Everything that isn't listed as breaking or undecided is proven to be
    compatible.
    """
    wanted = 1 if revision is not None else 2
    if len(targets) != wanted:
        message = (
            "give one target with --git"
            if wanted == 1
            else "give two targets, OLD and NEW, or one with --git REVISION"
        )
        raise WrongUse(message)
    entries = [] if accepted is None else accepted_in(accepted)
    old = _old_snapshot(targets, revision, show_traceback=show_traceback)
    new = snapshot_at(targets[-1], show_traceback=show_traceback)
    found = sort_changes(_compared(old, new, outputs[1]), entries, datetime.now(UTC).date())
    title = " → ".join([revision or targets[0], targets[-1]])
    _report(outputs, "json" if as_json else shape, found, title, targets[-1])
    if check and (found.left or found.accepted):
        remedy = f"operator-schema snapshot {targets[-1]} -o {targets[0]}"
        outputs[1].line(f"{targets[0]} isn't up to date" + (f": {remedy}" if revision is None else ""))
        return 1
    counted = levels_from(LEVELS, fail_on)
    return 1 if any(change.level in counted for change in found.left) else 0


def _old_snapshot(targets: tuple[str, ...], revision: str | None, *, show_traceback: bool) -> Snapshot:
    """Return the tools of the old side.

    Two files of modules are imported in a process each: they, or what they import, may have the same names.
    """
    if revision is not None:
        return _snapshot_at(revision, targets[0], show_traceback=show_traceback)
    modules = [target.partition(":")[0] for target in targets if is_module(target)]
    if len(modules) == len(targets) and any(map(is_path, modules)):
        return _snapshot_by(targets[0], targets[0])
    return snapshot_at(targets[0], show_traceback=show_traceback)


def _snapshot_by(
    target: str,
    name: str,
    where: str = "",
    cwd: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Snapshot:
    """Return the tools of a module, imported in a process of its own.

    Args:
        target: the module.
        name: of what it is read from, for messages.
        where: the beginning of the message if it can't be imported.
        cwd: the folder of the process.
        environment: of the process.
    """
    command = [sys.executable, "-m", PACKAGE, "snapshot", target]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)  # noqa: S603  # the user's own modules
    if done.returncode:
        reason = clip(done.stderr.decode(errors="replace").strip(), 500)
        message = f"{where}{escape(reason.removeprefix('operator-schema: error: '))}"
        raise WrongUse(message)
    return snapshot_in(done.stdout.decode(), name)


def _compared(old: Snapshot, new: Snapshot, err: Printer) -> tuple[Change, ...]:
    """Compare tools, and show the progress."""
    both = len(old.by_name().keys() & new.by_name().keys())
    with err.progress(both, "comparing", counts_bytes=False) as advance:
        return compare(old, new, on_compared=lambda: advance(1)).changes


def _report(
    outputs: tuple[Printer, Printer], shape: str, found: Sorted[Change], title: str, target: str
) -> None:
    out, err = outputs
    if shape == "json":
        out.json([change.as_dict() for change in found.left], 2)
    elif shape == "html":
        out.text(as_html(found.left, title))
    elif shape != "text":
        places = places_at(target)
        print_annotations(out, shape, [_annotation(alike, places) for alike in alike_changes(found.left)])
    else:
        for level, lines in lines_of(found.left):
            out.line(f"{level}: {MEANINGS[level]}", "bold")
            for line in lines:
                out.line(f"  {line}", _STYLES[level])
        accepted = f", {len(found.accepted)} accepted" if found.accepted else ""
        out.line(summary_of(found.left) + accepted)
    write_accepted(err, found, "changed", _CODES)


def _annotation(alike: list[Change], places: Mapping[str, tuple[str, str]]) -> Annotation:
    """Return one annotation about changes that say the same of several tools, at the first of these."""
    first, subjects = alike[0], tuple([change.tool for change in alike])
    tools = ", ".join(subjects)
    witness = f" · {first.shown_witness()}" if first.has_witness and len(alike) == 1 else ""
    place = next((places[tool] for tool in subjects if tool in places), ())
    title, message = f"{clip(tools, _TITLE)}: {first.level}", f"{tools}{first.said}{witness}"
    return Annotation(_SEVERITIES[first.level], first.code, title, message, subjects, *place)


_TITLE: Final = 100


# --- git -----------------------------------------------------------------------------------------


def _snapshot_at(revision: str, target: str, *, show_traceback: bool) -> Snapshot:
    """Return the tools of a file or module at a revision."""
    if revision.startswith("-"):
        message = f"{escape(revision)!r} isn't a revision of git"
        raise WrongUse(message)
    if target.endswith(".json"):
        name = f"{target} at {revision}"
        return snapshot_in(text_of_bytes(_git("show", f"{revision}:./{target}"), name), name)
    if target == "-" or is_server(target):
        message = f"git knows nothing of {escape(target)}: give a module or a file"
        raise WrongUse(message)
    top = Path(_git("rev-parse", "--show-toplevel").decode().strip())
    named = REGISTRY.convert(target, None, None)
    module = named.module
    root = _import_root(module, top, show_traceback=show_traceback)
    archive = _git("archive", "--format=tar", revision, cwd=str(top))
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder).resolve()
        with tarfile.open(fileobj=BytesIO(archive)) as tar:
            tar.extractall(there, filter="data")
        here = Path.cwd().relative_to(top) if Path.cwd().is_relative_to(top) else Path()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(_paths(top, there, root))}
        cwd = there / here if (there / here).is_dir() else there

        command = [sys.executable, "-c", _FIND, module]
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)  # noqa: S603  # the files of the revision
        found = done.stdout.decode().strip()
        if not found or not Path(found).resolve().is_relative_to(there):
            return Snapshot([])  # it is new since then
        name = f"{target} at {revision}"
        return _snapshot_by(str(named), name, f"at {escape(revision)}: ", cwd, environment)


_FIND: Final = """
import sys
from importlib.util import find_spec
sys.path.insert(0, "")
try:
    spec = find_spec(sys.argv[1])
except ImportError:
    spec = None
print(spec.origin or next(iter(spec.submodule_search_locations or [""])) if spec else "")
"""
"""Prints where a module would be imported from."""


def _import_root(module: str, top: Path, *, show_traceback: bool) -> Path:
    """Return the folder from which a module is imported, below the root of its repository.

    Raises:
        WrongUse: it is imported from elsewhere, so that another revision of it can't be found.
    """
    file = getattr(load_module(module, show_traceback=show_traceback), "__file__", None)
    path = Path(file or "").resolve()
    if file is None or not path.is_relative_to(top.resolve()):
        message = (
            f"{escape(module)} is imported from {escape(str(path.parent))}, not from the repository in "
            f"{escape(str(top))}: install that with pip install -e, or set PYTHONPATH to its sources"
        )
        raise WrongUse(message)
    levels = module.count(".") + (path.name == "__init__.py")
    return path.parents[levels].relative_to(top.resolve())


def _paths(top: Path, there: Path, root: Path) -> list[str]:
    """Return the import path of another revision: its own files first, then that of the environment."""
    given = [
        Path(os.path.realpath(each)) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each
    ]
    moved = [there / each.relative_to(top) if each.is_relative_to(top) else each for each in given]
    return [str(there / root), *map(str, moved)]


def _git(*words: str, cwd: str | None = None) -> bytes:
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False, cwd=cwd)  # noqa: S603, S607  # as the user would
    except OSError:
        message = "git isn't installed"
        raise WrongUse(message) from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        message = f"git: {escape(clip(reason, 300))}"
        raise WrongUse(message)
    return done.stdout


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
    """How logs are read, and whether a table is written in addition to the report."""

    engine: str
    workers: int | None
    scheduler: str | None
    output: str | None


def _replayed(logs: tuple[str, ...], work: ReplayWork, options: _Options, err: Printer) -> PartReport:
    """Replay all logs, and write the table of calls if one is asked for."""
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
        return None  # reading it says why


def _write_replay(out: Printer, found: Replay) -> None:
    for place in found.broken[:_SHOWN]:
        out.line(f"broken: {escape(clip(place, _TEXT))}", "red")
    rows = [_replay_row(name, counts) for name, counts in sorted(found.tools.items()) if counts.calls]
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


def _replay_row(name: str, counts: ToolCounts) -> tuple[str, ...]:
    numbers: list[Any] = [counts.calls, counts.fits, counts.repaired, counts.fails]
    return (escape(name), *[f"{number:,}" for number in numbers])


def _write_faults(out: Printer, name: str, counts: ToolCounts) -> None:
    # One call may show several faults.
    alike: dict[Example, list[tuple[CallFault, int]]] = {}
    for fault, number in counts.faults.ranked()[:_SHOWN]:
        alike.setdefault(counts.examples[fault], []).append((fault, number))
    for example, faults in alike.items():
        for fault, number in faults:
            out.styled(
                (f"{escape(name)}: {escape(fault.path) or 'arguments'}: ", "bold"),
                (f"{fault.code.replace('_', ' ')} in {count(number, 'call')}", ""),
            )
        out.line(f"  such as {escape(clip(example.arguments, _TEXT))}")
        for line in example.text.split("\n")[1:]:
            out.line(f"  {escape(line)}", "dim")
    for key, number in counts.ignored.ranked()[:_SHOWN]:
        out.line(f"{escape(name)}: {escape(key)}: ignored in {count(number, 'call')}", "dim")
    for kind, number in sorted(counts.repairs.items(), key=lambda item: (-item[1], item[0])):
        out.line(f"{escape(name)}: {kind.replace('_', ' ')}: {count(number, 'repair')}", "dim")
