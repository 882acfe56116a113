"""What do the function and the model get of a call?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...immutable import Value
from ...message_text import clip
from ...rounds import Toolset
from ...tools import RawCall

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...engine import Partial
    from ...findings import Finding
    from ...tools import Tool

LONGEST_TEXT = 1_000_000
"""The maximum number of characters of the arguments of a call."""

_LONGEST_VALUE = 4_000
_LONGEST_STREAM = 20_000
_MOST_STEPS = 400


class CallReading(Value):
    """The reading of a call; nothing is run.

    Attributes:
        tool: the name of the tool.
        arguments: the input as arguments, with defaults and repairs; None if the call doesn't fit.
        shown: the input as Python shows it; None if the call doesn't fit.
        text: the text for the model if the call doesn't fit; otherwise empty.
        code: the code of the error, or None.
        findings: errors, repairs and ignored keys.
    """

    tool: str
    arguments: Any
    shown: str | None
    text: str
    code: str | None
    findings: tuple[Finding, ...]

    @property
    def fits(self) -> bool:
        """Whether the call can be run."""
        return self.code is None

    @property
    def outcome(self) -> dict[str, Any]:
        """The part that has to stay the same when the tools change: the arguments that run, or the text."""
        return {"arguments": self.arguments} if self.fits else {"text": self.text}

    def as_dict(self) -> dict[str, Any]:
        """Return the reading as JSON values."""
        return {
            "tool": self.tool,
            "fits": self.fits,
            "arguments": self.arguments,
            "shown": self.shown,
            "text": self.text,
            "code": self.code,
            "findings": [finding_as_dict(finding) for finding in self.findings],
        }


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON values, with its text in one line; files below the folder have short names."""
    where = finding.where
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  # only text is compared
    place = {} if where is None else {"where": where.removeprefix(here)}
    return {**finding.as_dict(), **place, "severity": finding.severity, "line": str(finding)}


def shown(value: object) -> str:
    """Return a value as Python shows it, cut to a maximum length, for any behaviour of its class."""
    try:
        return clip(repr(value), _LONGEST_VALUE)
    except Exception as error:  # noqa: BLE001  # a class's own code
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"


def read_call(tool: Tool[..., Any], arguments: Any) -> CallReading:
    """Read a call, as a round does before anything runs.

    Args:
        tool: the called tool.
        arguments: a dict, or the JSON text that the model wrote.
    """
    alone = tool.with_(enabled=True)
    (call,) = Toolset(alone).offer().round([RawCall("1", tool.name, arguments)]).calls
    if not call.has_input:
        text, code = call.content or "", call.code
        return CallReading(tool.name, None, None, text, code, tuple(call.findings))
    return CallReading(tool.name, _arguments_of(call), shown(call.input), "", None, _notes(alone, arguments))


def read_call_of(find: Callable[[str], Tool[..., Any]], name: str, arguments: Any) -> CallReading:
    """Read a call of a tool by its name; if no tool has it, the reading says so.

    Args:
        find: a function that returns a tool by its name, or raises a `LookupError`.
        name: the name in the call.
        arguments: as for `read_call`.
    """
    try:
        return read_call(find(name), arguments)
    except LookupError as error:
        return CallReading(name, None, None, str(error), "tool_not_found", ())


def _arguments_of(call: Any) -> Any:
    try:
        return call.arguments
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        return None


def _notes(tool: Tool[..., Any], arguments: Any) -> tuple[Finding, ...]:
    """Return the repairs and the ignored keys of arguments that fit."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return ()
    try:
        return tool.decode_report(arguments).findings
    except Exception:  # noqa: BLE001  # a class's own code, which may not do the same twice
        return ()


def read_in_steps(tool: Tool[..., Any], text: str, size: int) -> dict[str, Any]:
    """Read the text of a call in pieces, as it would arrive in a stream.

    Args:
        tool: the called tool.
        text: the text of the arguments.
        size: the number of characters in a piece.

    Returns:
        `steps`, one for each piece that changed the result so far, and the `reading` of the whole.
    """
    taken = text[:_LONGEST_STREAM]
    stream = tool.codec.stream()
    steps: list[dict[str, Any]] = []
    before: Partial | None = None
    for start in range(0, len(taken), size):
        known = stream.feed(taken[start : start + size])
        if known is not before and len(steps) < _MOST_STEPS:
            steps.append({"characters": min(start + size, len(taken)), **_step(known)})
        before = known
    return {
        "steps": steps,
        "is_cut": len(text) > len(taken) or len(steps) == _MOST_STEPS,
        "reading": read_call(tool, text).as_dict(),
    }


def _step(known: Partial) -> dict[str, Any]:
    return {
        "fields": {name: shown(value) for name, value in known.fields.items()},
        "receiving": known.receiving,
        "missing": list(known.missing),
        "findings": [finding_as_dict(finding) for finding in known.findings],
        "is_complete": known.is_complete,
    }
