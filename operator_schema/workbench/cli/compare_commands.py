"""The commands `snapshot` and `diff`: tools as a file, and the changes between two versions."""

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
from typing import TYPE_CHECKING, Final

import click

from ...engine import KEYWORDS
from ...message_text import clip, escape
from .. import PACKAGE
from ..compare.accepted import Sorted, sort_changes
from ..compare.changes import LEVELS, MEANINGS, Change, compare
from ..compare.codes import CODES
from ..compare.reports import alike_changes, as_html, lines_of, summary_of
from ..compare.snapshot import Snapshot
from .accepted_file import accepted_in, write_accepted
from .annotations import Annotation, print_annotations
from .arguments import (
    REGISTRY,
    TARGETS,
    complete_target,
    fail_on_option,
    format_option,
    is_server,
    levels_from,
    traceback_option,
)
from .module_loading import WrongUse, is_path, load_module
from .output import Printer, count
from .sources import (
    empty_list,
    is_module,
    places_at,
    snapshot_at,
    snapshot_in,
)
from .text_files import replace_file, text_of_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    """Return the old tools of a comparison.

    Two module files are imported in separate processes: they, or their imports, may have the same names.
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
    """Return the tools of a module that is imported in a separate process.

    Args:
        target: the module.
        name: the name of its source, for messages.
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
    """Return one annotation for equal changes of several tools, at the first of their places."""
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
            return Snapshot([])  # it is newer than the revision
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
    """Return the folder from which a module is imported, relative to the root of its repository.

    Raises:
        WrongUse: the module is imported from elsewhere, so another revision of it can't be found.
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
    """Return the import path for another revision: its own files first, then the path of the environment."""
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
