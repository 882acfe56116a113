"""All checks over the tools of a program, and what providers make of them."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any, cast

from ..findings import Finding
from ..providers.provider import Provider
from ..rounds.toolset import Toolset
from ..tools.registry import Registry
from ..tools.tool_lists import tools_of
from ..wording import received
from .checks import CODEC_CHECKS, SET_CHECKS, TOOL_CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..findings import Severity
    from ..providers.tool_forms import Strict
    from ..tools.tool import Tool

__all__ = ["lint"]

_ORDER = ("error", "warning", "note")


def lint(
    tools: Iterable[Tool[..., Any]], providers: Sequence[Provider] = (), *, strict: Strict = False
) -> list[Finding]:
    """List what is wrong with tools for a model, and what providers refuse or get in another way.

    Args:
        tools: a list, a registry or a toolset.
        providers: of `operator_schema.providers`; none for the checks that hold for all.
        strict: as for `Provider.request`. With True, providers without a strict mode are asked without it,
            and a warning says so. With `"auto"`, notes say which tools aren't strict, and why.

    Returns:
        The findings: errors first, then warnings and notes, each in the order of the tools.

    Raises:
        TypeError: something isn't a tool, or isn't a provider.
    """
    if isinstance(tools, (Registry, Toolset)):
        tools = list(cast("Iterable[Tool[..., Any]]", tools))
    found = tools_of(tools)
    _check_providers(providers)
    places = {tool.name: _place_of(tool) for tool in found}
    findings = [*_weaknesses(found)]
    for provider in providers:
        lacks = strict is True and provider.dialect is None
        findings += _of_provider(provider, found, strict=False if lacks else strict)
        findings += [_without_strict_mode(provider)] if lacks else []
    named = [_placed(finding, places.get(finding.tool or "")) for finding in findings]
    return sorted(named, key=lambda finding: _ORDER.index(finding.severity))


def _check_providers(providers: Any) -> None:
    wrong: list[Any] = [providers] if isinstance(providers, Provider) else list(providers)
    for one in wrong:
        if wrong[0] is providers or not isinstance(one, Provider):
            message = f"providers is a list of providers, such as [openai_chat], not {received(one)}"
            raise TypeError(message)


def _without_strict_mode(provider: Provider) -> Finding:
    message = f"no strict mode of {provider.name} is known, so the tools were checked without it"
    remedy = "Make its requests without strict"
    return _provided(provider, "", "no_strict_mode", "warning", (), message, remedy)


def _weaknesses(tools: Sequence[Tool[..., Any]]) -> Iterator[Finding]:
    for tool in tools:
        for tool_check in TOOL_CHECKS:
            yield from [found.replace(tool=tool.name) for found in tool_check(tool)]
        for codec_check in CODEC_CHECKS:
            yield from [found.replace(tool=tool.name) for found in codec_check(tool.codec)]
    for set_check in SET_CHECKS:
        yield from [found.replace(tool=name) for name, found in set_check(tools)]


def _provided(
    provider: Provider,
    tool: str,
    code: str,
    severity: Severity,
    path: tuple[str | int, ...],
    message: str,
    remedy: str | None,
) -> Finding:
    return Finding(path, code, message, remedy=remedy, severity=severity, tool=tool, provider=provider.name)


def _of_provider(provider: Provider, tools: Sequence[Tool[..., Any]], *, strict: Strict) -> Iterator[Finding]:
    report = provider.report(tools, strict=strict)
    yield from [_refused("", one, provider) for one in report.refused]
    for tool in report.tools:
        yield from [_refused(tool.name, one, provider) for one in tool.refused]
        for reason in tool.not_strict:
            message = f"without strict for {provider.name}: {reason.message}"
            remedy = reason.remedy
            yield _provided(provider, tool.name, "not_strict", "note", reason.path, message, remedy)
        if tool.wire_name != tool.name:
            message = f"{provider.name} doesn't take its name, and gets {tool.wire_name} in its place"
            remedy = f"{_GIVE_TOOLS}, or rename it: tool.with_(name=…)"
            yield _provided(provider, tool.name, "renamed", "warning", (), message, remedy)
        for loss in tool.losses:
            code, message = _LOSSES[loss.kind]
            text = message.format(provider=provider.name, keyword=loss.keyword)
            severity: Severity = "warning" if loss.kind == "weakened" else "note"
            remedy = _GIVE_TOOLS if loss.kind == "renamed" else "Decoding still checks it"
            yield _provided(provider, tool.name, code, severity, loss.path, text, remedy)


_GIVE_TOOLS = "Give the tools to answers and results too"
_LOSSES = {
    "described": ("described", "{provider} doesn't take {keyword}, which moves to the description"),
    "null": ("null", "{provider} requires it, so null stands for leaving it out"),
    "renamed": (
        "renamed",
        "{provider} doesn't take the name of this property, and gets {keyword} in its place",
    ),
    "weakened": ("weakened", "{provider} can't say all of its type, so its schema takes more"),
}


def _refused(tool: str, complaint: Finding, provider: Provider) -> Finding:
    message, remedy = complaint.message, complaint.remedy
    return _provided(provider, tool, "refused", "error", complaint.path, message, remedy)


def _place_of(tool: Tool[..., Any]) -> str | None:
    """Return file and line of the function of a tool, or of the class of its input."""
    code = getattr(unwrap(tool), "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    from ..introspect.source_code import place_of

    return place_of(tool.input_type) if isinstance(tool.input_type, type) else None


def _placed(finding: Finding, place: str | None) -> Finding:
    return finding if place is None else finding.replace(where=place)
