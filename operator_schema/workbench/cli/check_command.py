"""The command `check`: problems of types and tools, for a model and for providers."""

from __future__ import annotations

import os
import traceback
from inspect import unwrap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import click

from ... import providers as provider_table
from ...engine import Codec, ObjectNode, place_of
from ...errors import SchemaError
from ...findings import Finding, Severity
from ...json_values import to_json_text
from ...message_text import escape
from ...token_counts import count_tokens, is_estimate
from ...tools import place_of_tool, tools_in
from ..lint import lint, lint_type
from .annotations import Annotation, print_annotations
from .arguments import (
    REGISTRY,
    TARGETS,
    NearChoice,
    complete_target,
    fail_on_option,
    format_option,
    levels_from,
    programs_named,
    traceback_option,
)
from .lookup import dataclasses_of, find_tools, offered_by, why_no_tools, with_own_names
from .module_loading import BrokenModuleError, WrongUse, load_module, modules_of, reason_of
from .output import SEVERITY_STYLES, count, subject_of, text_of, to_json
from .sources import described_tools_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from types import ModuleType

    from ...providers import Provider
    from ...tools import Tool
    from .lookup import ObjectName
    from .output import Printer

_PROVIDERS = provider_table.provider_names()
_LEVELS: Final[tuple[Severity, ...]] = get_args(Severity)
"""The most serious first."""


@click.command(
    epilog=f"""\b
examples:
  operator-schema check tools
  operator-schema check --fail-on warning package app.py:registry
  operator-schema check --provider openai_chat --provider anthropic --strict app:registry
  operator-schema check --provider all --level note tools
  operator-schema check --tokens --provider all tools
  operator-schema check mcp:"uvx mcp-server-time"
  operator-schema check --format github tools

{TARGETS}
\b
levels:
  error    a type that can't be registered, or something a provider refuses
  warning  a model has to guess, or a provider gets only a part
  note     a provider gets it in another form

\b
exit status:
  0  no finding counts for --fail-on
  1  at least one does
  2  wrong usage: a target that can't be read, or has neither types nor tools
"""
)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...", shell_complete=complete_target)
@click.option(
    "--provider",
    "names",
    multiple=True,
    type=NearChoice([*_PROVIDERS, "all"]),
    metavar="NAME",
    help=f"A provider that gets the tools, or all; may be given several times: {', '.join(_PROVIDERS)}.",
)
@click.option("--strict", is_flag=True, help="Check for the strict modes of the providers.")
@click.option(
    "--level",
    type=NearChoice(_LEVELS),
    default="warning",
    help="The lowest level that is shown (default: warning).",
)
@fail_on_option(_LEVELS)
@format_option("github", "sarif")
@click.option("--tokens", is_flag=True, help="Say how many tokens each tool takes, for each --provider.")
@click.option("--verbose", "-v", is_flag=True, help="List everything that was checked, with its size.")
@traceback_option
@click.pass_obj
def check(
    outputs: tuple[Printer, Printer],
    targets: tuple[str, ...],
    names: tuple[str, ...],
    level: str,
    fail_on: str,
    shape: str,
    *,
    strict: bool,
    as_json: bool,
    tokens: bool,
    verbose: bool,
    show_traceback: bool,
) -> int:
    """Report problems of types and tools, for a model and for providers.

    Every dataclass and tool that a module defines is registered and checked; a package includes the modules
    below it. Names that a module only imports are skipped. Tools of MCP servers are checked by
    their definitions, and not called. Each line says where the problem is, what it is, and what to do.
    """
    if strict and not names:
        message = "--strict is for --provider: the strict modes of providers differ"
        raise WrongUse(message)
    checked = _check_targets(targets, show_traceback=show_traceback)
    if checked.is_empty:
        return WrongUse.exit_code
    chosen = [
        getattr(provider_table, name) for name in (_PROVIDERS if "all" in names else dict.fromkeys(names))
    ]
    found = _findings(checked, chosen, strict=strict)
    counted = levels_from(_LEVELS, fail_on)
    visible = {*levels_from(_LEVELS, level), *counted}
    shown = [finding for finding in found if finding.severity in visible]
    out = outputs[0]
    costs = _costs(checked, chosen, strict=strict) if tokens else None
    if as_json or shape == "json":
        out.json(_data(checked, shown, costs), 2)
    elif shape != "text":
        print_annotations(out, shape, map(_annotation, shown))
    else:
        _write(out, checked, found, shown, verbose=verbose)
        for provider in chosen if checked.tools else ():
            out.line(_size_of_request(provider, checked.tools, strict=strict), "dim")
        _write_costs(out, costs or [])
    if checked.broken:
        return WrongUse.exit_code
    return 1 if any(finding.severity in counted for finding in found) else 0


# --- what is checked -----------------------------------------------------------------------------


class _CheckedItem(NamedTuple):
    """A type or a tool.

    Attributes:
        name: the name of the type or tool.
        kind: `type` or `tool`.
        size: the bytes of its schema or definition on one line; None if it can't be registered.
        fields: the number of its fields or parameters; None if it isn't an object.
        where: the file and line, if known.
    """

    name: str
    kind: str
    size: int | None
    fields: int | None
    where: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the item as JSON values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "bytes": self.size,
            "fields": self.fields,
            **_place(self.where),
        }


class _CheckedTarget(NamedTuple):
    """The types and tools of one target, or of all targets.

    Attributes:
        subjects: types and tools.
        tools: the tools that are checked together.
        findings: the other findings: about types, modules whose import ended early, definitions of servers
            and files.
        foreign: the name of each tool in its server or file, by its name here.
        broken: errors of targets and modules that can't be checked.
    """

    subjects: list[_CheckedItem]
    tools: list[Tool[..., Any]]
    findings: list[Finding]
    foreign: dict[str, str]
    broken: Sequence[WrongUse] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to report."""
        return not self.subjects and not self.findings


def _merged(parts: Sequence[_CheckedTarget]) -> _CheckedTarget:
    """Merge several targets: a module and its toolset may have the same tools."""
    tools = {id(tool): tool for part in parts for tool in part.tools}
    subjects = dict.fromkeys([subject for part in parts for subject in part.subjects])
    findings = dict.fromkeys([finding for part in parts for finding in part.findings])
    foreign = {given: name for part in parts for given, name in part.foreign.items()}
    broken = [error for part in parts for error in part.broken]
    return _CheckedTarget(list(subjects), list(tools.values()), list(findings), foreign, broken)


def _check_targets(targets: Iterable[str], *, show_traceback: bool) -> _CheckedTarget:
    """Register everything in targets, and report the targets and modules that can't be checked."""
    parts: list[_CheckedTarget] = []
    for target in targets:
        try:
            parts.append(_check_target(target, show_traceback=show_traceback))
        except WrongUse as error:  # the other targets are still checked
            parts.append(_CheckedTarget([], [], [], {}, [error]))
    checked = _merged(parts)
    for broken in checked.broken:
        broken.show()
    return checked


def _check_target(target: str, *, show_traceback: bool) -> _CheckedTarget:
    """Register everything in a target.

    Raises:
        WrongUse: there is no such target, or it has nothing to check.
    """
    described = described_tools_of(target)
    if described is not None:
        subjects = [_tool_item(tool, described.originals[tool.name]) for tool in described.tools]
        foreign = {tool.name: described.originals[tool.name] for tool in described.tools}
        return _CheckedTarget(subjects, described.tools, described.findings, foreign)
    named = REGISTRY.convert(target, None, None)
    if named.path:
        tools, _ = find_tools(named, show_traceback=show_traceback)
        return _CheckedTarget([_tool_item(tool) for tool in tools], tools, [], {})
    with programs_named(target):
        modules = modules_of(named.module)
        found = _merged([_check_module(name, named, show_traceback=show_traceback) for name in modules])
    if found.is_empty and not found.broken:  # in CI, a check of nothing would always pass
        what, how = "dataclasses or tools", "decorate functions with @tool, or classes with @dataclass"
        raise WrongUse(why_no_tools(named, what, how, show_traceback=show_traceback))
    return found


def _check_module(name: str, named: ObjectName, *, show_traceback: bool) -> _CheckedTarget:
    """Check one module; report an exception of its own code as its fault.

    Raises:
        WrongUse: the module isn't found, or has two tools with the same name.
    """
    try:
        return _register_module(name, named, show_traceback=show_traceback)
    except BrokenModuleError as error:
        return _CheckedTarget([], [], [], {}, [error])
    except (KeyboardInterrupt, WrongUse):
        raise
    except BaseException as error:  # noqa: BLE001  # an object of the module may have code for whatever is asked
        if show_traceback:
            traceback.print_exception(error)
        reason = reason_of(error, show_traceback=show_traceback)
        broken = BrokenModuleError(f"the module {escape(name)} can't be checked: {reason}")
        return _CheckedTarget([], [], [], {}, [broken])


def _register_module(name: str, named: ObjectName, *, show_traceback: bool) -> _CheckedTarget:
    """Register every dataclass and tool that a module defines and, for the named module, its offered tools.

    Raises:
        WrongUse: the module isn't found, can't be imported, or has two tools with the same name.
    """
    try:
        module = load_module(name, show_traceback=show_traceback)
    except SchemaError as error:
        return _CheckedTarget([], [], list(_import_findings(name, error)), {})
    own = tools_in(module)
    offered = offered_by(name, module, show_traceback=show_traceback) if name == named.module else None
    if offered is None:
        with_own_names(own)
    # A tool may be offered under another name: it has the same function.
    known = {id(unwrap(tool)) for tool in offered or ()}
    tools = [*(offered or ()), *[tool for tool in own if id(unwrap(tool)) not in known]]
    types = [_check_type(cls) for cls in _types_of(module, own)]
    whole = _CheckedTarget([_tool_item(tool) for tool in tools], tools, [], {})
    return _merged([*types, whole])


def _import_findings(module: str, error: SchemaError) -> Iterator[Finding]:
    file, _, line = error.__notes__[-1].rpartition(", line ")
    place = f"{file}:{line}" if file else None
    for finding in error.findings:
        yield finding.replace(type=error.name, where=finding.where or place)
    message = "its import ended here, so the rest of the module wasn't checked"
    yield Finding((), "not_checked", message, remedy="Correct what is wrong, and check it again",
                  severity="warning", type=module, where=place)  # fmt: skip


def _types_of(module: ModuleType, tools: Iterable[Tool[..., Any]]) -> list[type]:
    """List the dataclasses of a module except the inputs and the injected types of its tools."""
    others = {id(tool.input_type) for tool in tools}
    for tool in tools:
        others |= {id(tool.injected_type(name)) for name in tool.injected}
    return [cls for cls in dataclasses_of(module) if id(cls) not in others]


def _check_type(cls: type) -> _CheckedTarget:
    name, place = cls.__qualname__, place_of(cls)
    try:
        codec: Codec[Any] = Codec(cls)
    except SchemaError as error:
        found = [finding.replace(type=finding.type or name, where=finding.where or place)
                 for finding in error.findings]  # fmt: skip
        return _CheckedTarget([_CheckedItem(name, "type", None, None, place)], [], found, {})
    size = len(to_json(codec.json_schema()).encode())
    weak = [finding.replace(type=name, where=place) for finding in lint_type(codec)]
    return _CheckedTarget([_CheckedItem(name, "type", size, _count_fields(codec), place)], [], weak, {})


def _tool_item(tool: Tool[..., Any], original: str | None = None) -> _CheckedItem:
    size = len(to_json(tool.definition()).encode())
    name = tool.name if original is None else original
    where = None if original is not None else place_of_tool(tool)
    return _CheckedItem(name, "tool", size, _count_fields(tool.codec), where)


def _count_fields(codec: Codec[Any]) -> int | None:
    root = codec.graph.resolve_root()
    return len(root.fields) if isinstance(root, ObjectNode) else None


def _findings(checked: _CheckedTarget, providers: Sequence[Provider], *, strict: bool) -> list[Finding]:
    """Return all findings, errors first."""
    of_tools = lint(checked.tools, providers, strict=strict) if checked.tools else []
    named = [
        finding.replace(tool=checked.foreign[finding.tool], where=None)
        if finding.tool in checked.foreign
        else finding
        for finding in of_tools
    ]
    return sorted([*checked.findings, *named], key=lambda finding: _LEVELS.index(finding.severity))


# --- the report ----------------------------------------------------------------------------------


def _write(
    out: Printer,
    checked: _CheckedTarget,
    found: Sequence[Finding],
    shown: Collection[Finding],
    *,
    verbose: bool,
) -> None:
    for subject in checked.subjects if verbose else ():
        _write_subject(out, subject)
    for finding in shown:
        place = _shown_place(finding.where)
        out.styled(
            (f"{place}: " if place else "", "dim"),
            (f"{finding.severity}: ", SEVERITY_STYLES[finding.severity]),
            (escape(subject_of(finding)), "bold"),
            (f": {escape(text_of(finding))}", ""),
            (f" [{', '.join(filter(None, [finding.code, escape(finding.provider or '')]))}]", "dim"),
        )
    kinds = [subject.kind for subject in checked.subjects]
    subjects = [count(kinds.count(kind), kind) for kind in ("type", "tool") if kind in kinds]
    counts = [count(sum(one.severity == level for one in found), level) for level in _LEVELS]
    more = "; --level note shows all" if len(found) > len(shown) else ""
    out.line(f"{', '.join(subjects) or 'nothing registered'}: {', '.join(counts)}{more}")


def _write_subject(out: Printer, subject: _CheckedItem) -> None:
    if subject.size is None:
        out.styled(("failed  ", "bold red"), (escape(subject.name), "bold"), (f" ({subject.kind})", "dim"))
        return
    noun = "parameter" if subject.kind == "tool" else "field"
    fields = "" if subject.fields is None else f"{count(subject.fields, noun)}, "
    about = f"{subject.kind}, {fields}{count(subject.size, 'byte')}"
    out.styled(("checked ", "green"), (escape(subject.name), "bold"), (f" ({about})", "dim"))


def _size_of_request(provider: Provider, tools: Sequence[Tool[..., Any]], *, strict: bool) -> str:
    report = provider.report(tools, strict=strict and provider.dialect is not None)
    return str(report).partition("\n")[0]


class _Costs(NamedTuple):
    """The number of tokens that tools take in the requests of one provider.

    Attributes:
        provider: the name of the provider; None for the definitions themselves.
        tools: the tokens by the names of the tools; None for a tool that the provider refuses.
    """

    provider: str | None
    tools: dict[str, int | None]

    @property
    def total(self) -> int:
        """The tokens of all tools that aren't refused."""
        return sum([cost or 0 for cost in self.tools.values()])

    def as_dict(self) -> dict[str, Any]:
        """Return the costs as JSON values, the most expensive tool first."""
        rows = sorted(self.tools.items(), key=lambda row: -(row[1] or 0))
        return {
            "provider": self.provider,
            "total": self.total,
            "estimated": is_estimate(),
            "tools": [{"name": name, "tokens": cost} for name, cost in rows],
        }


def _costs(checked: _CheckedTarget, providers: Sequence[Provider], *, strict: bool) -> list[_Costs]:
    """Return the costs of tools for each provider, or of the definitions if none is chosen."""
    if not checked.tools:
        return []

    def name(given: str) -> str:
        return checked.foreign.get(given, given)

    if not providers:
        own = {name(tool.name): count_tokens(to_json_text(tool.definition())) for tool in checked.tools}
        return [_Costs(None, dict(own))]
    found: list[_Costs] = []
    for provider in providers:
        report = provider.report(checked.tools, strict=strict and provider.dialect is not None)
        found.append(_Costs(report.provider, {name(tool.name): tool.tokens for tool in report.tools}))
    return found


def _write_costs(out: Printer, costs: Sequence[_Costs]) -> None:
    if not costs:
        return
    titles = [escape(cost.provider or "tokens") for cost in costs]
    first = costs[0].tools
    names = sorted(first, key=lambda name: -max([cost.tools[name] or 0 for cost in costs]))
    rows = [
        [escape(name), *["refused" if (cost := one.tools[name]) is None else f"{cost:,}" for one in costs]]
        for name in names
    ]
    about = "an estimate" if is_estimate() else "by tiktoken"
    rows.append([f"all ({about})", *[f"{cost.total:,}" for cost in costs]])
    out.table(["tool", *titles], rows, frozenset(titles))


def _data(
    checked: _CheckedTarget, shown: Sequence[Finding], costs: Sequence[_Costs] | None
) -> dict[str, Any]:
    """Return the JSON values to print; without costs if they are None."""
    subjects = [subject.as_dict() for subject in checked.subjects]
    document: dict[str, Any] = {"checked": subjects, "findings": [_as_dict(finding) for finding in shown]}
    return document if costs is None else {**document, "tokens": [cost.as_dict() for cost in costs]}


def _as_dict(finding: Finding) -> dict[str, Any]:
    return {
        "level": finding.severity,
        "code": finding.code,
        "tool": finding.tool,
        "type": finding.type,
        "path": list(finding.path),
        "message": finding.message,
        "suggestion": finding.suggestion,
        "remedy": finding.remedy,
        "provider": finding.provider,
        **_place(finding.where),
    }


def _place(where: str | None) -> dict[str, Any]:
    file, line = _parted(where)
    return {"file": file or None, "line": int(line) if file else None}


def _parted(where: str | None) -> tuple[str, str]:
    """Split a place into file and line; both are empty if it isn't in a file."""
    file, _, line = (where or "").rpartition(":")
    return (file, line) if line.isdecimal() else ("", "")


def _shown_place(where: str | None) -> str:
    """Return file and line, relative to the current folder if the file is below it."""
    file, line = _parted(where)
    inside = os.path.relpath(file) if file else ""
    return f"{escape(file if inside.startswith(os.pardir) else inside)}:{line}" if file else ""


def _annotation(finding: Finding) -> Annotation:
    """Return the annotation of a finding for a CI system."""
    file, line = _parted(finding.where)
    subject = subject_of(finding)
    title = f"{subject}: {finding.code}"
    place = (os.path.relpath(file), line) if file else ()
    return Annotation(finding.severity, finding.code, title, text_of(finding), (subject,), *place)
