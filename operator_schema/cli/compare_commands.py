"""The commands `snapshot` and `diff`: tools as a file, and what changed between two versions of them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final, cast

import click

from ..compare.accepted import Accepted, AcceptError, Sorted, read_accepted, sort_changes
from ..compare.changes import LEVELS, Change, compare
from ..compare.reports import MEANINGS, as_html, lines_of, summary_of
from ..compare.snapshot import Snapshot, SnapshotError, read_snapshot, snapshot_of
from ..immutable import Value
from ..message_text import clip, escape, nearest
from ..tools import Tool, document_tool
from .arguments import REGISTRY, NearChoice, traceback_option
from .lookup import find_tools, why_no_tools
from .modules import WrongUse, load_module
from .output import Output, annotation, count

__all__ = ["SOURCES", "ToolSource", "diff", "snapshot", "tool_source"]

_MCP: Final = "mcp:"
_PACKAGE: Final = __name__.partition(".")[0]
_MAX_FILE: Final = 50_000_000
_SECONDS: Final = 60
_STYLES: Final = {"breaking": "red", "undecided": "yellow", "meaning": "yellow", "text": "", "wider": "dim"}
_GITHUB: Final = {
    "breaking": "error",
    "undecided": "warning",
    "meaning": "warning",
    "text": "notice",
    "wider": "notice",
}
SOURCES = """\b
A target is one of these:
  tools, app:registry     a module, or a registry or toolset in it
  tools.json              a snapshot, the result of tools/list, or a request to a provider
  https://example.com/mcp an MCP server
  mcp:"COMMAND …"         a command that starts an MCP server
"""


@click.command(
    epilog=f"""\b
examples:
  operator-schema snapshot tools -o tools.json
  operator-schema snapshot mcp:"uvx mcp-server-time" > time.json

{SOURCES}"""
)
@click.argument("target", metavar="TARGET")
@click.option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
@traceback_option
@click.pass_obj
def snapshot(outputs: tuple[Output, Output], target: str, output: str | None, *, show_traceback: bool) -> int:
    """Write what callers and readers of tools depend on, as a file for git.

    The file has names, descriptions, schemas of arguments and results, and hints, in an order that never
    changes by itself. `diff` compares it with the tools of another day.
    """
    found = _snapshot_of(target, show_traceback=show_traceback)
    if output is None:
        outputs[0].text(found.as_text())
    else:
        _write(output, found.as_text())
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
@click.argument("targets", metavar="[OLD] NEW", nargs=-1, required=True)
@click.option("--git", "revision", metavar="REVISION", help="OLD is the same target at a revision of git.")
@click.option(
    "--format",
    "shape",
    type=NearChoice(["text", "json", "github", "html"]),
    default="text",
    help="What is printed (default: text).",
)
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
    entries = [] if allow is None else _accepted(allow)
    old = (
        _snapshot_of(targets[0], show_traceback=show_traceback)
        if revision is None
        else _snapshot_at(revision, targets[0], show_traceback=show_traceback)
    )
    new = _snapshot_of(targets[-1], show_traceback=show_traceback)
    found = sort_changes(compare(old, new).changes, entries, datetime.now(UTC).date())
    _report(outputs, shape, found, " → ".join([revision or targets[0], targets[-1]]))
    if check and old != new:
        remedy = f"operator-schema snapshot {targets[-1]} -o {targets[0]}"
        outputs[1].line(f"{targets[0]} isn't up to date" + (f": {remedy}" if revision is None else ""))
        return 1
    counted = LEVELS[: LEVELS.index(fail_on) + 1] if fail_on != "never" else ()
    return 1 if any(change.level in counted for change in found.left) else 0


def _report(outputs: tuple[Output, Output], shape: str, found: Sorted, title: str) -> None:
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


# --- where tools are -----------------------------------------------------------------------------


def _snapshot_of(target: str, *, show_traceback: bool) -> Snapshot:
    """Return the tools of a target.

    Raises:
        WrongUse: there are none, or they can't be read.
    """
    found = _described(target)
    return snapshot_of(_defined(target, show_traceback=show_traceback)) if found is None else found


class ToolSource(Value):
    """Where tools come from, in a form that another process can use.

    Attributes:
        target: as the commands take it.
        described: a snapshot, as text, of tools that are only described; None if the target is a module.
        show_traceback: as for `load_module`.
    """

    target: str
    described: str | None
    show_traceback: bool

    def __call__(self) -> list[Tool[..., Any]]:
        """Return the tools; those that are only described decode their arguments, and can't be run.

        Raises:
            WrongUse: there are none, or they can't be imported.
        """
        if self.described is None:
            return _defined(self.target, show_traceback=self.show_traceback)
        return [
            document_tool(_not_run, each.input_schema, name=each.name, description=each.description)
            for each in read_snapshot(json.loads(self.described)).tools
        ]


def tool_source(target: str, *, show_traceback: bool) -> ToolSource:
    """Return where the tools of a target come from; a file or a server is asked now, and only once.

    Args:
        target: as the commands take it.
        show_traceback: as for `load_module`.

    Raises:
        WrongUse: they can't be read.
    """
    found = _described(target)
    return ToolSource(target, None if found is None else found.as_text(), show_traceback)


def _not_run(**arguments: Any) -> None:
    """Stand for the function of a tool that is only described."""


def _described(target: str) -> Snapshot | None:
    """Return the tools that a file or a server describes; None if the target is a module."""
    if target.startswith((_MCP, "http://", "https://")):
        return _of_server(target)
    path = Path(target)
    if path.is_dir() and (os.sep in target or target.startswith(".")):
        message = f"{escape(target)} is a folder: give a file in it, or the name of a module"
        raise WrongUse(message)
    if target == "-" or target.endswith(".json") or (path.is_file() and path.suffix != ".py"):
        return _of_json(_text_of(target), target)
    return None


def _defined(target: str, *, show_traceback: bool) -> list[Tool[..., Any]]:
    tools, _ = find_tools(REGISTRY.convert(target, None, None), show_traceback=show_traceback)
    if not tools:
        named = REGISTRY.convert(target, None, None)
        raise WrongUse(why_no_tools(named, show_traceback=show_traceback))
    return tools


def _text_of(file: str) -> str:
    if file == "-":
        return sys.stdin.read(_MAX_FILE)
    try:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(_MAX_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it isn't UTF-8"
        message = f"{escape(file)} can't be read: {reason}"
        raise WrongUse(message) from None
    if len(text) > _MAX_FILE:
        message = f"{escape(file)} is too large: more than {_MAX_FILE:,} characters"
        raise WrongUse(message)
    return text


def _of_json(text: str, name: str) -> Snapshot:
    try:
        return read_snapshot(json.loads(text))
    except SnapshotError as error:
        message = f"{escape(name)}: {error.reason}"
        raise WrongUse(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{escape(name)} isn't JSON: {escape(clip(str(error), 200))}"
        raise WrongUse(message) from None


def _write(file: str, text: str) -> None:
    """Replace a file as a whole: a reader sees the old one or the new one.

    A link stays one, and what isn't a file, such as a pipe, is written to as it is.
    """
    path = Path(file).resolve()
    if path.is_dir():
        message = f"{escape(file) or 'the empty name'} is a folder: give a file, such as tools.json"
        raise WrongUse(message)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        beside.write_text(text, encoding="utf-8")
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        message = f"{escape(file)} can't be written: {error.strerror}"
        raise WrongUse(message) from None


def _accepted(file: str) -> list[Accepted]:
    try:
        return read_accepted(_text_of(file))
    except AcceptError as error:
        lines = [escape(line) for line in str(error).split("\n")]
        raise WrongUse("\n".join([f"{escape(file)}: {lines[0]}", *lines[1:]])) from None


def _of_server(target: str) -> Snapshot:
    """Return the tools that an MCP server lists."""
    try:
        source = target if target.startswith("http") else shlex.split(target.removeprefix(_MCP))
    except ValueError as error:
        message = f"{escape(target)} isn't a command: {error}"
        raise WrongUse(message) from None
    if source and source[0].startswith(("http://", "https://")):
        message = f"write the URL without mcp: {escape(source[0])}"
        raise WrongUse(message)
    if not source:
        message = 'write the command behind "mcp:", as in mcp:"uvx mcp-server-time"'
        raise WrongUse(message)
    try:
        import anyio

        from ..adapters.mcp_client import described_tools
    except ImportError:
        message = "to ask an MCP server, install the extra: pip install 'operator-schema[mcp]'"
        raise WrongUse(message) from None

    async def ask() -> list[dict[str, Any]]:
        with anyio.fail_after(_SECONDS):
            return await described_tools(source)

    try:
        listed = anyio.run(ask)
    except TimeoutError:
        message = f"{escape(target)} gave no answer within {_SECONDS} seconds"
        raise WrongUse(message) from None
    except Exception as error:  # noqa: BLE001  # of a server, or of the way to it
        message = f"{escape(target)} can't be asked: {escape(clip(_reason(error), 300))}"
        raise WrongUse(message) from None
    try:
        return read_snapshot({"tools": listed})
    except SnapshotError as error:
        message = f"{escape(target)}: {error.reason}"
        raise WrongUse(message) from None


def _reason(error: BaseException) -> str:
    """Return the first fault that isn't a group of others."""
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = group.exceptions[0]
    return f"{type(error).__name__}: {error}".rstrip(": ")


# --- git -----------------------------------------------------------------------------------------


def _snapshot_at(revision: str, target: str, *, show_traceback: bool) -> Snapshot:
    """Return the tools of a target at a revision: of a file, or of a module that is imported from there."""
    if revision.startswith("-"):
        message = f"{escape(revision)!r} isn't a revision of git"
        raise WrongUse(message)
    if target.endswith(".json"):
        return _of_json(_git("show", f"{revision}:./{target}").decode(), f"{target} at {revision}")
    if target == "-" or target.startswith((_MCP, "http")):
        message = f"git knows nothing of {escape(target)}: give a module or a file"
        raise WrongUse(message)
    top = Path(_git("rev-parse", "--show-toplevel").decode().strip())
    module = REGISTRY.convert(target, None, None).module
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
        done = run(["-m", _PACKAGE, "snapshot", target])
    if done.returncode:
        reason = clip(done.stderr.decode(errors="replace").strip(), 500)
        message = f"at {escape(revision)}: {escape(reason.removeprefix('operator-schema: error: '))}"
        raise WrongUse(message)
    return _of_json(done.stdout.decode(), f"{target} at {revision}")


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
