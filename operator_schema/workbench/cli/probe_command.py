"""The command `probe`: calls of a server, and the output of the findings."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ...message_text import clip, escape, one_line
from ...processes import kept_from_children
from .. import probe as probing
from ..compare.accepted import sort_changes
from .accepted_file import accepted_in, write_accepted
from .annotations import Annotation, print_annotations
from .arguments import (
    MCP,
    SECONDS,
    SERVERS,
    NearChoice,
    fail_on_option,
    format_option,
    is_server,
    is_url,
    levels_from,
)
from .module_loading import WrongUse, extra_needed, is_path
from .output import SEVERITY_STYLES, count
from .text_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from ..probe.reports import FoundFault, Plan, ProbeReport
    from .output import Printer

_LEVELS: Final = ("error", "warning", "note")
_INSTALL: Final = "to probe a server, install the extra: pip install 'operator-schema[probe]'"
_LONGEST: Final = 1000
_TERMINATED: Final = 143


@click.command(
    epilog=f"""\b
examples:
  operator-schema probe "python server.py"
  operator-schema probe --allow create_note --allow delete_note "python server.py"
  operator-schema probe --allow-all --setup "git init" "uvx mcp-server-git"
  operator-schema probe --dry-run https://example.com/mcp
  operator-schema probe --junit probe.xml app:registry

\b
A target is one of these:
{SERVERS}\
  app:registry            a registry, a toolset or an executor in a module
  process:"./program"     a program that answers one request, as for tools_of

\b
exit status:
  0  nothing was found that --fail-on counts
  1  something was, or with --complete, not all planned calls were made
  2  wrong usage, or the server can't be reached
  143  it was ended by SIGTERM; the server is ended, and its folder removed
"""
)
@click.argument("target", metavar="TARGET")
@click.option(
    "--allow", multiple=True, metavar="NAME", help="Call this tool, although it may change something."
)
@click.option("--allow-all", is_flag=True, help="Call all tools; only for servers that the probe starts.")
@click.option("--dry-run", is_flag=True, help="Show what would be called, and call nothing.")
@click.option("--seconds", type=SECONDS, default=60.0, help="When to end (default: 60).")
@click.option(
    "--calls",
    type=click.IntRange(1, 10_000),
    default=20,
    help="Generated calls of each kind per tool (default: 20).",
)
@click.option("--timeout", type=SECONDS, default=10.0, help="Seconds for each call (default: 10).")
@click.option(
    "--most-bytes", type=click.IntRange(1), default=1_000_000, help="Bytes of an answer (default: 1,000,000)."
)
@click.option("--seed", type=int, default=0, help="The same number makes the same calls (default: 0).")
@click.option("--setup", metavar="COMMAND", help="Command that prepares the folder of the server.")
@click.option(
    "--context", metavar="MODULE:NAME", help="Objects to inject into the tools of a module, as for serve."
)
@click.option(
    "--memory",
    type=click.IntRange(1),
    default=4096,
    help="Megabytes for each process of a server that is started (default: 4096; Linux only).",
)
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of the server's environment.")
@click.option("--header", multiple=True, metavar="NAME:VALUE", help="A header of HTTP requests, for a URL.")
@click.option(
    "--accepted", metavar="FILE", help="Accept the findings that a TOML file lists, with reason and day."
)
@click.option("--level", type=NearChoice(_LEVELS), default="note", help="The lowest level that is shown.")
@fail_on_option(_LEVELS)
@click.option("--complete", is_flag=True, help="Fail, too, if not all planned calls were made in time.")
@format_option("github", "sarif")
@click.option("--junit", metavar="FILE", help="Also write JUnit XML.")
@click.option("--html", metavar="FILE", help="Also write a page.")
@click.pass_obj
def probe(outputs: tuple[Printer, Printer], /, target: str, **options: Any) -> int:
    """Test a tool server: call its tools in right and wrong ways, and say what is wrong with the answers.

    The probe knows only the server's own description of its tools. Each finding comes with the smallest call
    that shows it. Tools that aren't marked as read-only are called only if you allow them. A server that the
    probe starts works in a new folder, with few environment variables, and is ended with all its processes.
    """
    out, err = outputs
    entries = [] if options["accepted"] is None else accepted_in(options["accepted"])
    how = _how_to_probe(options)
    shape: str = "json" if options["as_json"] else options["shape"]
    try:
        with _ended_by_sigterm():
            if options["dry_run"]:
                _show_plan(out, _call_probe("plan", target, how), as_json=shape == "json")
                return 0
            with err.steps() as on_progress:
                more = {name: options[name] for name in ("seconds", "most_bytes")}
                report: ProbeReport = _call_probe(
                    "probe", target, {**how, **more, "on_progress": on_progress}
                )
    except _Terminated:
        return _TERMINATED
    from ..probe.checks import CHECKS

    found = sort_changes([_Row(each) for each in report.found], entries, datetime.now(UTC).date())
    left = [row.found for row in found.left]
    _write_reports(report, left, options)
    _show(out, shape, report, left, options["level"])
    write_accepted(err, found, "was found", CHECKS)
    is_cut_short = options["complete"] and not report.is_complete
    return 1 if is_cut_short or _at_least(options["fail_on"], left) else 0


def _how_to_probe(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the command in the form for `plan` and `probe`."""
    names = ("allow", "allow_all", "calls", "timeout", "seed", "setup", "memory")
    variables = _pairs(options["env"], "=", "--env")
    headers = _pairs(options["header"], ":", "--header")
    context = None if options["context"] is None else _in_full(options["context"])
    given = {name: options[name] for name in names}
    return {**given, "context": context, "env": variables, "headers": headers}


class _Terminated(KeyboardInterrupt):
    """SIGTERM arrived; it ends everything that an interrupt would end."""


@contextmanager
def _ended_by_sigterm() -> Generator[None]:
    """Convert SIGTERM to an exception, so that the server and its folder are removed as after SIGINT.

    Raises:
        _Terminated: SIGTERM arrived.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread can set a handler
        yield
        return

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second signal doesn't stop the clean-up after the first
        raise _Terminated

    with kept_from_children():
        before = signal.signal(signal.SIGTERM, end)
        try:
            yield
        finally:
            # None means that code outside Python set the handler, so it can't be set again
            signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


class _Row:
    """A finding with the attributes that entries of `--accepted` are compared with."""

    def __init__(self, found: FoundFault) -> None:
        self.found = found
        self.tool, self.code, self.path = found.finding.tool, found.finding.code, found.finding.path


def _call_probe(what: str, target: str, options: dict[str, Any]) -> Any:
    """Call `plan` or `probe`, and turn its errors into messages of the command.

    Raises:
        WrongUse: the extra isn't installed, or the server can't be probed.
    """
    with extra_needed({"mcp", "mcp_types", "hypothesis"}, _INSTALL):
        run = getattr(probing, what)
    try:
        return run(_in_full(target), **options)
    except probing.ProbeError as error:
        message = f"{escape(clip(target, 200))}: {error.in_command}"
        raise WrongUse(message) from None
    except ValueError as error:
        raise WrongUse(str(error).replace("allow_all", "--allow-all")) from None


def _in_full(target: str) -> str:
    """Return a target that means the same in another folder, where the server works, with its kind."""
    if target.startswith("process:"):
        return target
    if is_server(target):
        return target if is_url(target) else f"{MCP}{target.removeprefix(MCP)}"
    module, colon, name = target.partition(":")
    is_file = is_path(module) and Path(module).is_file()
    return f"{Path(module).resolve()}{colon}{name}" if is_file and " " not in target else target


def _pairs(given: Sequence[str], mark: str, option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, found_mark, value = each.partition(mark)
        if not found_mark or not name.strip():
            message = f"{option} takes NAME{mark}VALUE, not {escape(clip(name, 100))!r}"
            raise WrongUse(message)
        found[name.strip()] = value.strip() if mark == ":" else value
    return found


def _at_least(level: str, found: Sequence[FoundFault]) -> list[FoundFault]:
    """Return the findings of a level, or of a more serious one."""
    return [each for each in found if each.finding.severity in levels_from(_LEVELS, level)]


# --- output ---------------------------------------------------------------------------------------


def _show_plan(out: Printer, plans: Sequence[Plan], *, as_json: bool) -> None:
    if as_json:
        out.json([each._asdict() for each in plans], 2)
        return
    rows = [
        (
            escape(each.tool),
            "yes" if each.is_called else "no",
            *[f"{each.numbers[kind]:,}" for kind in ("valid", "invalid", "hostile")],
            each.reason if each.example is None else escape(clip(_json(each.example), 60)),
        )
        for each in plans
    ]
    out.table(
        ("tool", "called", "valid", "invalid", "hostile", "smallest call, or why not"),
        rows,
        frozenset({"valid", "invalid", "hostile"}),
    )
    total = sum(sum(each.numbers.values()) for each in plans)
    if total:
        out.line(f"{count(total, 'call')}, and some more that repeat, combine and shrink them")
    else:
        hint = ": name tools with --allow" if any(each.needs_allow for each in plans) else ""
        out.line(f"nothing would be called{hint}")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _show(out: Printer, shape: str, report: ProbeReport, left: Sequence[FoundFault], level: str) -> None:
    visible = _at_least(level, left)
    if shape == "json":
        out.json({**report.as_dict(), "findings": [each.as_dict() for each in visible]}, 2)
        return
    warnings = report.warnings(in_command=True)
    if shape != "text":
        about_all = [Annotation("warning", "probe", "probe", line, ()) for line in warnings]
        print_annotations(out, shape, [*about_all, *map(_annotation, visible)])
        return
    for line in warnings:
        out.line(line, "bold")
    for each in visible:
        first, *rest = each.lines()
        out.styled((f"{each.finding.severity}: ", SEVERITY_STYLES[each.finding.severity]), (first, ""))
        for line in rest:
            out.line(f"  {line}")
        for line in filter(None, each.repeat.split("\n")):
            out.line(f"  $ {one_line(line, _LONGEST)}", "dim")
        if each.steps and not each.is_smallest:
            out.line("  (there was no time to look for a smaller call: --seconds)", "dim")
    out.table(("tool", "valid calls that succeeded"), report.tools(), frozenset())
    out.line(report.summary(in_command=True, left=left))
    for first, *rest in report.noted() if level == "note" or not report.is_complete else ():
        out.line(f"note: {first}", "dim")
        for line in rest:
            out.line(f"  {line}", "dim")


def _annotation(found: FoundFault) -> Annotation:
    """Return the annotation of a fault for a CI system."""
    finding, subject = found.finding, found.finding.tool or "server"
    message = "\n".join(found.lines())
    return Annotation(finding.severity, finding.code, f"{subject}: {finding.code}", message, (subject,))


def _write_reports(report: ProbeReport, left: Sequence[FoundFault], options: Mapping[str, Any]) -> None:
    from ..probe.report_files import as_html, as_junit

    if options["junit"] is not None:
        failing = levels_from(_LEVELS, options["fail_on"])
        text = as_junit(report, left, failing, must_end=options["complete"])
        replace_file(options["junit"], text)
    if options["html"] is not None:
        replace_file(options["html"], as_html(report, left))
