"""Which problems do tools have: for a model, and with providers?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ...engine import GIVE_TOOLS, DocumentCodec
from ...findings import Finding
from ...message_text import received
from ...providers import Provider
from ...rounds import Registry, Toolset
from ...tools import place_of_tool, tools_of
from .checks import CODEC_CHECKS, SET_CHECKS, TOOL_CHECKS, TYPE_CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...engine import Codec
    from ...findings import Severity
    from ...providers import Strict
    from ...tools import Tool

_ORDER = ("error", "warning", "note")


def lint(
    tools: Iterable[Tool[..., Any]], providers: Sequence[Provider] = (), *, strict: Strict = False
) -> list[Finding]:
    """List the problems of tools: for a model, and with providers.

    Args:
        tools: a list, a registry or a toolset.
        providers: providers from `operator_schema.providers`; none for only the checks that apply to all.
        strict: as for `Provider.request`. With True, a provider without a strict mode is checked without it,
            and a warning says so. With `"auto"`, notes list the tools that aren't strict, and why.

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
    named = [finding.replace(where=finding.where or places.get(finding.tool or "")) for finding in findings]
    return sorted(named, key=lambda finding: _ORDER.index(finding.severity))


def lint_type(codec: Codec[Any]) -> list[Finding]:
    """List the facts that a model would have to guess in a type that isn't the input of a tool.

    Args:
        codec: the codec of the type.

    Returns:
        Warnings, without the name of the type.
    """
    return [found for check in TYPE_CHECKS for found in check(codec)]


def _check_providers(providers: Any) -> None:
    wrong: list[Any] = [providers] if isinstance(providers, Provider) else list(providers)
    for one in wrong:
        if wrong[0] is providers or not isinstance(one, Provider):
            message = f"providers must be a list of providers, such as [openai_chat], not {received(one)}"
            raise TypeError(message)


def _weaknesses(tools: Sequence[Tool[..., Any]]) -> Iterator[Finding]:
    for tool in tools:
        place = place_of_tool(tool)
        of_tool = _of_described(tool, tool.codec) if isinstance(tool.codec, DocumentCodec) else _of_tool(tool)
        for found in of_tool:
            yield found.replace(tool=tool.name, where=place)
    for set_check in SET_CHECKS:
        yield from [found.replace(tool=name) for name, found in set_check(tools)]


def _of_tool(tool: Tool[..., Any]) -> Iterator[Finding]:
    for tool_check in TOOL_CHECKS:
        yield from tool_check(tool)
    for codec_check in CODEC_CHECKS:
        yield from codec_check(tool.codec)


def _of_described(tool: Tool[..., Any], codec: DocumentCodec) -> Iterator[Finding]:
    """Yield the findings about a tool from a document; a part of a wrong type isn't reported as missing."""
    mistakes = codec.mistakes
    wrong = {each.path for each in mistakes}
    yield from [each.replace(keyword=None) for each in mistakes]
    for found in _of_tool(tool):
        if found.code != "any_value" or found.path not in wrong:
            yield _of_document(found)


def _of_document(finding: Finding) -> Finding:
    message, remedy = _OF_DOCUMENTS.get(finding.code, (None, finding.remedy))
    return finding.replace(message=message or finding.message, remedy=remedy)


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
"""For each code, the message if it differs, and the remedy, for tools from a JSON Schema document."""


# --- providers -----------------------------------------------------------------------------------


def _of_provider(provider: Provider, tools: Sequence[Tool[..., Any]], *, strict: Strict) -> Iterator[Finding]:
    report = provider.report(tools, strict=strict)
    yield from [_refused("", one, provider) for one in report.refused]
    for tool in report.tools:
        yield from [_refused(tool.name, one, provider) for one in tool.refused]
        for reason in tool.not_strict:
            message = f"without strict for {provider.name}: {reason.message}"
            yield _provided(provider, tool.name, "not_strict", "note", reason.path, message, reason.remedy)
        if tool.wire_name != tool.name:
            message = f"{provider.name} doesn't take its name, and gets {tool.wire_name} instead"
            remedy = f"{GIVE_TOOLS}, or rename it: tool.with_(name=…)"
            yield _provided(provider, tool.name, "renamed", "warning", (), message, remedy)
        yield from tool.losses


def _refused(tool: str, complaint: Finding, provider: Provider) -> Finding:
    path, message = complaint.path, complaint.message
    return _provided(provider, tool, "refused", "error", path, message, complaint.remedy)


def _without_strict_mode(provider: Provider) -> Finding:
    message = f"no strict mode of {provider.name} is known, so the tools were checked without it"
    remedy = "Make its requests without strict"
    return _provided(provider, "", "no_strict_mode", "warning", (), message, remedy)


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
