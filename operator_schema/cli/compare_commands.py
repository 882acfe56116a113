"""The commands `snapshot` and `diff`: tools as a file, and what changed between two versions of them."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

import click

from ..compare.accepted import Accepted, Sorted, sort_changes
from ..compare.changes import LEVELS, Change, compare
from ..compare.reports import MEANINGS, as_html, lines_of, summary_of
from ..compare.snapshot import Snapshot
from ..message_text import clip, escape, nearest
from .arguments import REGISTRY, NearChoice, complete_target, json_option, traceback_option
from .files import accepted_in, replace_file
from .modules import WrongUse, load_module
from .output import Output, annotation, count
from .sources import SOURCES, empty_list, is_server, snapshot_at, snapshot_in

__all__ = ["diff", "snapshot"]

_PACKAGE: Final = __name__.partition(".")[0]
_STYLES: Final = {"breaking": "red", "undecided": "yellow", "meaning": "yellow", "text": "", "wider": "dim"}
_GITHUB: Final = {
    "breaking": "error",
    "undecided": "warning",
    "meaning": "warning",
    "text": "notice",
    "wider": "notice",
}


@click.command(
    epilog=f"""\b
examples:
  operator-schema snapshot tools -o tools.json
  operator-schema snapshot mcp:"uvx mcp-server-time" > time.json

{SOURCES}"""
)
@click.argument("target", metavar="TARGET", shell_complete=complete_target)
@click.option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
@traceback_option
@click.pass_obj
def snapshot(outputs: tuple[Output, Output], target: str, output: str | None, *, show_traceback: bool) -> int:
    """Write what callers and readers of tools depend on, as a file for git.

    The file has names, descriptions, schemas of arguments and results, and hints, in an order that never
    changes by itself. `diff` compares it with the tools of another day.
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

{SOURCES}
\b
levels:
{chr(10).join(f"  {level:10} {meaning}" for level, meaning in MEANINGS.items())}

\b
exit status:
  0  nothing changed that --fail-on counts
  1  something did
  2  wrong use: a target that can't be read
"""
)
@click.argument("targets", metavar="[OLD] NEW", nargs=-1, required=True, shell_complete=complete_target)
@click.option("--git", "revision", metavar="REVISION", help="OLD is the same target at a revision of git.")
@click.option(
    "--format",
    "shape",
    type=NearChoice(["text", "json", "github", "html"]),
    default="text",
    help="What is printed (default: text).",
)
@json_option("The same as --format json.")
@click.option(
    "--fail-on",
    type=NearChoice([*LEVELS, "never"]),
    default="undecided",
    help="The least level that makes the exit status 1 (default: undecided).",
)
@click.option("--check", is_flag=True, help="Fail if anything is different: a snapshot in git is up to date.")
@click.option(
    "--allow", metavar="FILE", help="Accept the changes that a TOML file lists, with reason and day."
)
@traceback_option
@click.pass_obj
def diff(
    outputs: tuple[Output, Output],
    targets: tuple[str, ...],
    revision: str | None,
    shape: str,
    fail_on: str,
    allow: str | None,
    *,
    as_json: bool,
    check: bool,
    show_traceback: bool,
) -> int:
    """Say what changed between two versions of tools, and whom it breaks.

    A breaking change comes with the smallest call that worked and fails now, or with the smallest result that
    the old schema doesn't allow. What isn't listed as breaking or undecided is proven.
    """
    wanted = 1 if revision is not None else 2
    if len(targets) != wanted:
        message = (
            "give one target with --git"
            if wanted == 1
            else "give two targets, OLD and NEW, or one with --git REVISION"
        )
        raise WrongUse(message)
    entries = [] if allow is None else accepted_in(allow)
    old = (
        snapshot_at(targets[0], show_traceback=show_traceback)
        if revision is None
        else _snapshot_at(revision, targets[0], show_traceback=show_traceback)
    )
    new = snapshot_at(targets[-1], show_traceback=show_traceback)
    found = sort_changes(_compared(old, new, outputs[1]), entries, datetime.now(UTC).date())
    _report(outputs, "json" if as_json else shape, found, " → ".join([revision or targets[0], targets[-1]]))
    if check and old != new:
        remedy = f"operator-schema snapshot {targets[-1]} -o {targets[0]}"
        outputs[1].line(f"{targets[0]} isn't up to date" + (f": {remedy}" if revision is None else ""))
        return 1
    counted = LEVELS[: LEVELS.index(fail_on) + 1] if fail_on != "never" else ()
    return 1 if any(change.level in counted for change in found.left) else 0


def _compared(old: Snapshot, new: Snapshot, err: Output) -> tuple[Change, ...]:
    """Compare tools, and show how far it is."""
    both = len(old.by_name().keys() & new.by_name().keys())
    with err.progress(both, "comparing", counts_bytes=False) as advance:
        return compare(old, new, on_compared=lambda: advance(1)).changes


def _report(outputs: tuple[Output, Output], shape: str, found: Sorted[Change], title: str) -> None:
    out, err = outputs
    if shape == "json":
        out.json([change.as_dict() for change in found.left], 2)
    elif shape == "html":
        out.text(as_html(found.left, title))
    elif shape == "github":
        for change in found.left:
            out.command(_annotation(change))
    else:
        for level, lines in lines_of(found.left):
            out.line(f"{level}: {MEANINGS[level]}", "bold")
            for line in lines:
                out.line(f"  {line}", _STYLES[level])
        accepted = f", {len(found.accepted)} accepted" if found.accepted else ""
        out.line(summary_of(found.left) + accepted)
    for entry in found.expired:
        err.line(f"accepted until {entry.until}, which is over: {_entry(entry)}", "yellow")
    for entry in found.unused:
        changed = [*found.left, *[change for change, _ in found.accepted]]
        near = nearest(entry.tool, {change.tool for change in changed} - {entry.tool})
        hint = f"; did you mean the tool {escape(near)}?" if near else ""
        err.line(f"accepted, and nothing like it changed: {_entry(entry)}{hint}", "dim")


def _entry(entry: Accepted) -> str:
    return escape(" ".join(filter(None, [entry.tool, entry.path, entry.code])))


def _annotation(change: Change) -> str:
    witness = f" · {change.shown_witness()}" if change.has_witness else ""
    about = {"title": f"{change.tool}: {change.level}"}
    return annotation(_GITHUB[change.level], about, f"{change}{witness}")


# --- git -----------------------------------------------------------------------------------------


def _snapshot_at(revision: str, target: str, *, show_traceback: bool) -> Snapshot:
    """Return the tools of a target at a revision: of a file, or of a module that is imported from there."""
    if revision.startswith("-"):
        message = f"{escape(revision)!r} isn't a revision of git"
        raise WrongUse(message)
    if target.endswith(".json"):
        return snapshot_in(_git("show", f"{revision}:./{target}").decode(), f"{target} at {revision}")
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

        def run(words: list[str]) -> subprocess.CompletedProcess[bytes]:
            command = [sys.executable, *words]
            return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False)  # noqa: S603  # the files of the revision

        found = run(["-c", _FIND, module]).stdout.decode().strip()
        if not found or not Path(found).resolve().is_relative_to(there):
            return Snapshot([])  # it is new since then
        done = run(["-m", _PACKAGE, "snapshot", str(named)])
    if done.returncode:
        reason = clip(done.stderr.decode(errors="replace").strip(), 500)
        message = f"at {escape(revision)}: {escape(reason.removeprefix('operator-schema: error: '))}"
        raise WrongUse(message)
    return snapshot_in(done.stdout.decode(), f"{target} at {revision}")


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
    """Return where another revision imports from: first its own files, then what the environment says."""
    given = [Path(each).resolve() for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
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
