"""What all checks, and all providers, say of tools and types."""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING, Any, cast

from ..findings import Finding
from ..message_text import received
from ..providers.provider import Provider
from ..rounds.registry import Registry
from ..rounds.toolset import Toolset
from ..schema.dialect import GIVE_TOOLS
from ..schema.document_codec import DocumentCodec
from ..tools.tool_sources import tools_of
from .checks import CODEC_CHECKS, SET_CHECKS, TOOL_CHECKS, TYPE_CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..codec.codec import Codec
    from ..findings import Severity
    from ..providers.tool_forms import Strict
    from ..tools.tool import Tool

__all__ = ["lint", "lint_type", "place_of_tool"]


_ORDER = ("error", "warning", "note")


def lint(
    tools: Iterable[Tool[..., Any]], providers: Sequence[Provider] = (), *, strict: Strict = False
) -> list[Finding]:
    """List the problems of tools: for a model, and with providers.

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
    places = {tool.name: place_of_tool(tool) for tool in found}
    findings = [*_weaknesses(found)]
    for provider in providers:
        lacks = strict is True and provider.dialect is None
        findings += _of_provider(provider, found, strict=False if lacks else strict)
        findings += [_without_strict_mode(provider)] if lacks else []
    named = [_placed(finding, finding.where or places.get(finding.tool or "")) for finding in findings]
    return sorted(named, key=lambda finding: _ORDER.index(finding.severity))


def lint_type(codec: Codec[Any]) -> list[Finding]:
    """List what leaves a model guessing in a type that isn't the input of a tool.

    Args:
        codec: of the type.

    Returns:
        Warnings, without the name of the type.
    """
    return [found for check in TYPE_CHECKS for found in check(codec)]


_OF_DOCUMENTS: Mapping[str, tuple[str | None, str]] = {
    "no_description": (
        "it has no description, so a model knows only its name",
        "Write one: what it does, and when to use it",
    ),
    "any_value": ("nothing says which values it takes", 'Write a "type"'),
    "choices_in_words": (None, 'List them in an "enum"'),
    "date_as_text": (None, 'Write "format": "date", "date-time" or "time"'),
    "json_in_text": (None, "Take the value itself: an object or an array, with its schema"),
    "large_definition": (None, "Shorten descriptions, or split the tool"),
    "long_description": (None, "Shorten it; details can go to the parameters"),
    "opposite_flags": (None, 'Keep one of them, or write one parameter with an "enum"'),
    "secret": (None, "Leave it out: the program that runs the tool can know it"),
    "unmarked_deletion": (None, 'State the hint: "destructiveHint": true'),
}
"""Codes to message, if it is another one, and remedy where a JSON Schema document describes a tool."""


def _of_document(finding: Finding) -> Finding:
    message, remedy = _OF_DOCUMENTS.get(finding.code, (None, finding.remedy))
    return finding.replace(message=message or finding.message, remedy=remedy)


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
        place = place_of_tool(tool)
        of_tool = _of_described(tool, tool.codec) if isinstance(tool.codec, DocumentCodec) else _of_tool(tool)
        for found in of_tool:
            yield found.replace(tool=tool.name, where=place)
    for set_check in SET_CHECKS:
        yield from [found.replace(tool=name) for name, found in set_check(tools)]


def _of_described(tool: Tool[..., Any], codec: DocumentCodec) -> Iterator[Finding]:
    """Yield what is found in a tool that a document describes; of a wrong type, not that it is missing."""
    mistakes = codec.mistakes
    wrong = {each.path for each in mistakes}
    yield from [each.replace(keyword=None) for each in mistakes]
    for found in _of_tool(tool):
        if found.code != "any_value" or found.path not in wrong:
            yield _of_document(found)


def _of_tool(tool: Tool[..., Any]) -> Iterator[Finding]:
    for tool_check in TOOL_CHECKS:
        yield from tool_check(tool)
    for codec_check in CODEC_CHECKS:
        yield from codec_check(tool.codec)


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
            remedy = f"{GIVE_TOOLS}, or rename it: tool.with_(name=…)"
            yield _provided(provider, tool.name, "renamed", "warning", (), message, remedy)
        yield from tool.losses


def _refused(tool: str, complaint: Finding, provider: Provider) -> Finding:
    message, remedy = complaint.message, complaint.remedy
    return _provided(provider, tool, "refused", "error", complaint.path, message, remedy)


def place_of_tool(tool: Tool[..., Any]) -> str | None:
    """Return file and line of the function of a tool, or of the class of its input."""
    code = getattr(unwrap(tool), "__code__", None)
    if code is not None:
        return f"{code.co_filename}:{code.co_firstlineno}"
    from ..introspect.source_code import place_of

    return place_of(tool.input_type) if isinstance(tool.input_type, type) else None


def _placed(finding: Finding, place: str | None) -> Finding:
    return finding if place is None else finding.replace(where=place)
