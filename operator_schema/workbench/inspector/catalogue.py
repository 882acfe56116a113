"""What does the page show about tools: what they cost, how each provider gets them, and what `lint` finds?"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from ...errors import SchemaError
from ...json_values import is_array, is_object, to_json_text
from ...providers import Provider, provider_names
from ...rounds import Toolset
from ...token_counts import count_tokens, is_estimate
from .decode_call import finding_as_dict
from .input_forms import form_of
from .pasted_answers import provider_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...providers import ToolReport
    from ...tools import Tool
    from .subject import Subject

_MOST_LINES = 3_000
"""The maximum number of lines of two documents that are compared."""

_WORST_FIRST = ("weakened", "renamed", "null", "described")
"""The codes of losses, the worst first."""


def needs_agreement(subject: Subject, tool: Tool[..., Any]) -> bool:
    """Return whether a person has to agree to each call before it runs.

    The protocol says so: a tool of somebody else's server may be destructive, unless the server says
    otherwise.
    """
    said = tool.annotations
    if said.confirm or said.destructive:
        return True
    return subject.is_foreign and not said.read_only and said.destructive is not False


def overview(subject: Subject, provider: Provider, *, strict: bool) -> dict[str, Any]:
    """Return the page's data about all tools.

    Args:
        subject: the subject with the tools.
        provider: the provider that gets the tools.
        strict: whether to use its strict mode; a provider without one is used without it.
    """
    tools = subject.tools
    is_strict = strict and provider.dialect is not None
    report = provider.report(tools, strict=is_strict)
    costs = [count_tokens(to_json_text(tool.definition())) for tool in tools]
    rows = [
        _row(subject, tool, sent, cost) for tool, sent, cost in zip(tools, report.tools, costs, strict=True)
    ]
    total = sum([row["tokens"] for row in rows]) or 1
    return {
        "name": subject.name,
        "notes": list(subject.notes),
        "tools": [{**row, "share": row["tokens"] / total} for row in rows],
        "tokens": sum(costs),
        "bytes": sum([row["bytes"] for row in rows]),
        "is_estimate": is_estimate(),
        "findings": [finding_as_dict(finding) for finding in subject.findings],
        "provider": {
            "name": provider.name,
            "strict": is_strict,
            "has_strict": provider.dialect is not None,
            "accepted": report.is_accepted,
            "tokens": report.tokens,
            "bytes": report.size,
            "refused": [str(finding) for finding in report.refused],
        },
    }


def _row(subject: Subject, tool: Tool[..., Any], sent: ToolReport, cost: int) -> dict[str, Any]:
    found = subject.findings_of(tool.name)
    said = tool.annotations
    return {
        "name": tool.name,
        "title": said.title,
        "summary": tool.summary,
        "tokens": cost,
        "bytes": len(to_json_text(tool.definition()).encode(errors="replace")),
        "sent_tokens": sent.tokens,
        "sent_bytes": sent.size,
        "losses": len(sent.losses),
        "refused": bool(sent.refused),
        "errors": sum([finding.severity == "error" for finding in found]),
        "warnings": sum([finding.severity == "warning" for finding in found]),
        "confirm": bool(said.confirm),
        "destructive": bool(said.destructive),
        "read_only": bool(said.read_only),
        "needs_agreement": needs_agreement(subject, tool),
        "enabled": tool.enabled is not False,
    }


def page_of_tool(
    subject: Subject, tool: Tool[..., Any], provider: Provider, *, strict: bool
) -> dict[str, Any]:
    """Return the page's data about one tool: the form for one provider in detail, the others in a table.

    Args:
        subject: the subject with the tool.
        tool: a tool of the subject.
        provider: as for `overview`.
        strict: as for `overview`.
    """
    ours: Any = tool.definition()
    schema = ours["input_schema"]
    return {
        "name": tool.name,
        "description": tool.description,
        "annotations": tool.annotations.as_dict(),
        "is_async": tool.is_async,
        "has_function": tool.has_function,
        "home": tool.home,
        "injected": [] if subject.is_foreign else list(tool.injected),  # ours, when we call the server
        "needs_agreement": needs_agreement(subject, tool),
        "definition": ours,
        "output_schema": tool.output_schema(),
        "form": form_of(schema),
        "example": _example_of(tool),
        "costs": costs_of(ours),
        "findings": [finding_as_dict(finding) for finding in subject.findings_of(tool.name)],
        "sent": sent_to(provider, tool, strict=strict),
        "providers": [_summary(tool, name, strict=strict) for name in provider_names()],
    }


def sent_to(provider: Provider, tool: Tool[..., Any], *, strict: bool) -> dict[str, Any]:
    """Return the form of a tool for a provider, next to our definition.

    Args:
        provider: the provider that gets the tool.
        tool: any tool.
        strict: as for `overview`.

    Returns:
        The body of a request (`body`; empty if it is refused), and the losses in it.
    """
    is_strict = strict and provider.dialect is not None
    (report,) = provider.report([tool], strict=is_strict).tools
    refused = [finding_as_dict(finding) for finding in report.refused]
    losses = sorted(report.losses, key=lambda loss: _WORST_FIRST.index(loss.code))
    enabled = tool.with_(enabled=True)
    try:
        body = provider.request(Toolset(enabled).offer(strict=True) if is_strict else enabled)
    except SchemaError as error:
        body, refused = {}, refused or [finding_as_dict(finding) for finding in error.findings]
    rows = side_by_side(lines_of(tool.definition()), lines_of(tool_in(body))) if body else []
    return {
        "provider": provider.name,
        "strict": report.strict,
        "has_strict": provider.dialect is not None,
        "wire_name": report.wire_name,
        "tokens": report.tokens,
        "bytes": report.size,
        "refused": refused,
        "losses": [finding_as_dict(loss) for loss in losses],
        "rows": rows,
        "body": body,
    }


def tool_in(body: dict[str, Any]) -> Any:
    """Return the part of a request for the only tool."""
    found: Any = body.get("tools", body.get("toolConfig", body))
    if is_object(found) and "tools" in found:  # Bedrock's toolConfig
        found = found["tools"]
    while is_array(found) and len(found) == 1:
        found = found[0]
        if is_object(found) and is_array(found.get("functionDeclarations")):
            found = found["functionDeclarations"]
    return found


def lines_of(value: Any) -> list[str]:
    """Write a JSON value with one part per line."""
    return json.dumps(value, indent=2, ensure_ascii=False).split("\n")


def side_by_side(ours: Sequence[str], theirs: Sequence[str]) -> list[dict[str, Any]]:
    """Put the lines of two documents next to each other.

    Args:
        ours: the lines of our definition.
        theirs: the lines of the form for a provider.

    Returns:
        Rows with `ours` and `theirs`, one of which may be None, and `same`: whether they say the same, at
        any depth. Very long documents aren't compared: their rows have None as `same`.
    """
    if len(ours) + len(theirs) > _MOST_LINES:
        longest = max(len(ours), len(theirs))
        return [
            {"ours": _at(ours, line), "theirs": _at(theirs, line), "same": None} for line in range(longest)
        ]
    plain = [[line.strip().rstrip(",") for line in lines] for lines in (ours, theirs)]
    rows: list[dict[str, Any]] = []
    for tag, first, last, start, end in SequenceMatcher(
        None, plain[0], plain[1], autojunk=False
    ).get_opcodes():
        for offset in range(max(last - first, end - start)):
            left = _at(ours[first:last], offset)
            right = _at(theirs[start:end], offset)
            rows.append({"ours": left, "theirs": right, "same": tag == "equal"})
    return rows


def _at(lines: Sequence[str], line: int) -> str | None:
    return lines[line] if line < len(lines) else None


def costs_of(definition: dict[str, Any]) -> list[dict[str, Any]]:
    """List the parts of a definition by their number of tokens, the most expensive first."""
    schema = definition["input_schema"]
    parts = {"(description of the tool)": definition["description"]}
    properties = schema.get("properties")
    for key, member in (properties if is_object(properties) else {}).items():
        parts[key] = {key: member}
    for key in ("$defs", "definitions"):
        shared = schema.get(key)
        for name, member in (shared if is_object(shared) else {}).items():
            parts[f"(shared: {name})"] = {name: member}
    costs = [
        {"part": name, "tokens": count_tokens(part if isinstance(part, str) else to_json_text(part))}
        for name, part in parts.items()
    ]
    return sorted(costs, key=lambda cost: -int(cost["tokens"]))


def _summary(tool: Tool[..., Any], name: str, *, strict: bool) -> dict[str, Any]:
    """Return a row about one provider, for the table of all providers."""
    provider = provider_named(name)
    (report,) = provider.report([tool], strict=strict and provider.dialect is not None).tools
    kinds = [loss.code for loss in report.losses]
    return {
        "key": name,
        "name": provider.name,
        "has_strict": provider.dialect is not None,
        "strict": report.strict,
        "refused": [str(finding) for finding in report.refused],
        "tokens": report.tokens,
        "bytes": report.size,
        "losses": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
    }


def _example_of(tool: Tool[..., Any]) -> Any:
    """Return arguments to start with: the first example, or a smallest valid value."""
    if tool.examples:
        try:
            return tool.encode_input(tool.examples[0])
        except Exception:  # noqa: BLE001  # it may be arguments already, or of a class with code of its own
            return tool.examples[0] if is_object(tool.examples[0]) else {}
    try:
        return tool.codec.example()
    except Exception:  # noqa: BLE001  # no value was found, or a class's own code
        return {}
