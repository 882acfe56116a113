"""The command lint: what is wrong with tools for a model, and for the providers that get them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from .. import providers as provider_table
from ..wording import escape, show_path
from .arguments import REGISTRY, NearChoice, traceback_option
from .lookup import find_tools
from .modules import WrongUse
from .output import count

if TYPE_CHECKING:
    from ..findings import Finding
    from .lookup import ObjectName
    from .output import Output

__all__ = ["lint"]

PROVIDERS = provider_table.provider_names()
_TITLES = ("severity", "tool", "parameter", "code", "provider", "what, and what to do")
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
_FAILS: dict[str, set[str]] = {"error": {"error"}, "warning": {"error", "warning"}, "never": set()}


@click.command(
    epilog="""\b
examples:
  operator-schema lint tools
  operator-schema lint --provider openai_chat --provider anthropic --strict app:registry
  operator-schema lint --provider all --notes tools
  operator-schema lint --format github --fail-on warning tools
"""
)
@click.argument("targets", type=REGISTRY, nargs=-1, required=True, metavar="MODULE[:REGISTRY]...")
@click.option(
    "--provider",
    "names",
    multiple=True,
    type=NearChoice([*PROVIDERS, "all"]),
    metavar="NAME",
    help=f"A provider that gets the tools, or all; may be given several times: {', '.join(PROVIDERS)}.",
)
@click.option("--strict", is_flag=True, help="Check for the strict modes of the providers.")
@click.option("--notes", is_flag=True, help="Show also what a provider gets in another way.")
@click.option(
    "--format",
    "shape",
    type=NearChoice(["text", "json", "github"]),
    default="text",
    help="What is printed: a table, JSON, or annotations of GitHub Actions (default: text).",
)
@click.option(
    "--fail-on",
    type=NearChoice(list(_FAILS)),
    default="error",
    help="What makes the exit status 1 (default: error).",
)
@traceback_option
@click.pass_obj
def lint(
    outputs: tuple[Output, Output],
    targets: tuple[ObjectName, ...],
    names: tuple[str, ...],
    shape: str,
    fail_on: str,
    *,
    strict: bool,
    notes: bool,
    show_traceback: bool,
) -> int:
    """Say what is wrong with tools for a model, and what providers refuse.

    Errors are what a provider refuses. Warnings are what leaves a model guessing: parameters without a
    description, two tools with the same first sentence, an enum of 400 values, and schemas that a provider
    gets only in part. Notes are what a provider gets in another way. Each has a remedy.
    """
    wanted = PROVIDERS if "all" in names else list(dict.fromkeys(names))
    chosen = [getattr(provider_table, name) for name in wanted]
    from ..lint import lint as lint_tools

    named = [(target, find_tools(target, show_traceback=show_traceback)[0]) for target in targets]
    empty = [escape(":".join(filter(None, target))) for target, tools in named if not tools]
    if empty:  # in a CI this would pass for ever
        message = f"there are no tools in {' and '.join(empty)}: decorate functions with @tool"
        raise WrongUse(message)
    tools = list({id(tool): tool for _, each in named for tool in each}.values())  # a module, and its toolset
    found = lint_tools(tools, chosen, strict=strict)
    shown = [finding for finding in found if notes or finding.severity != "note"]
    if shape == "json":
        outputs[0].json([_as_dict(finding) for finding in shown], 2)
    elif shape == "github":
        for finding in shown:
            outputs[0].command(_annotation(finding))
    else:
        _write(outputs[0], shown, len(tools), found)
        for provider in chosen:
            report = provider.report(tools, strict=strict and provider.dialect is not None)
            outputs[0].line(str(report).partition("\n")[0], "dim")
    return 1 if any(finding.severity in _FAILS[fail_on] for finding in found) else 0


def _write(out: Output, shown: list[Finding], tools: int, found: list[Finding]) -> None:
    if shown:
        out.table(_TITLES, [_row(finding) for finding in shown], frozenset())
    counts = [
        count(sum(finding.severity == severity for finding in found), severity)
        for severity in ("error", "warning", "note")
    ]
    hidden = len(found) - len(shown)
    more = "; --notes shows the notes" if hidden else ""
    out.line(f"{count(tools, 'tool')}: {', '.join(counts)}{more}")


def _row(finding: Finding) -> tuple[str, ...]:
    return (
        finding.severity,
        escape(finding.tool or "") or "-",
        escape(show_path(finding.path)) if finding.path else "-",
        finding.code,
        escape(finding.provider or "-"),
        escape(f"{finding.message}. {finding.remedy}."),
    )


def _as_dict(finding: Finding) -> dict[str, Any]:
    file, _, line = (finding.where or "").rpartition(":")
    return {
        "code": finding.code,
        "severity": finding.severity,
        "tool": finding.tool,
        "path": list(finding.path),
        "message": finding.message,
        "remedy": finding.remedy,
        "provider": finding.provider,
        "file": file or None,
        "line": int(line) if line else None,
    }


def _annotation(finding: Finding) -> str:
    """Write a finding as GitHub reads it.

    Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    """
    place = ".".join([finding.tool or "", *map(str, finding.path)]) or "tools"
    about = {"title": f"{place}: {finding.code}"}
    if finding.where is not None:
        file, _, line = finding.where.rpartition(":")
        about = {"file": os.path.relpath(file), "line": line, **about}
    marks = ",".join([f"{key}={_escaped(value, ':,')}" for key, value in about.items()])
    return f"::{_GITHUB[finding.severity]} {marks}::{_escaped(f'{finding.message}. {finding.remedy}.')}"


def _escaped(text: str, others: str = "") -> str:
    text = escape(text)
    for character in f"%\r\n{others}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
