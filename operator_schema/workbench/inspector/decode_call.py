"""How is a call decoded: what do the function and the model get? Which calls does a pasted answer make?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ... import providers as provider_table
from ...immutable import Value
from ...json_values import is_array, is_object
from ...message_text import clip, nearest
from ...providers import Provider, ResponseError, provider_names, read_json
from ...rounds import Toolset
from ...tools import RawCall
from ..compare.recorded_calls import calls_in

if TYPE_CHECKING:
    from typing import Protocol

    from ...engine import Partial
    from ...findings import Finding
    from ...providers import Answer
    from ...tools import Tool

    class HasOffer(Protocol):
        """What has the tools that were offered, such as a `Subject`."""

        @property
        def toolset(self) -> Toolset[Any]:
            """The tools."""
            ...

        def tool(self, name: str) -> Tool[..., Any]:
            """Return a tool by its name, or raise a `LookupError`."""
            ...


__all__ = [
    "LONGEST_TEXT",
    "CallReading",
    "UnknownProviderError",
    "UnreadableAnswerError",
    "finding_as_dict",
    "provider_named",
    "read_call",
    "read_in_steps",
    "shown",
    "take_apart",
]

LONGEST_TEXT = 1_000_000
"""Characters of the arguments of one call."""

_LONGEST_VALUE = 4_000
_LONGEST_STREAM = 20_000
_MOST_STEPS = 400


class CallReading(Value):
    """How one call is read; nothing is run.

    Attributes:
        tool: its name.
        arguments: the input as arguments, with defaults and repairs; None if it doesn't fit.
        shown: the input as Python shows it; None if it doesn't fit.
        text: what the model reads if it doesn't fit; empty if it does.
        code: why it doesn't fit, or None.
        findings: what is wrong, or was corrected or ignored.
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
        """What has to stay the same when the tools change: the arguments that run, or the text."""
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
    """Return a finding as JSON values, with the line in which it is shown; files below the folder by name."""
    where = finding.where
    here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118  # only text is compared
    place = {} if where is None else {"where": where.removeprefix(here)}
    return {**finding.as_dict(), **place, "severity": finding.severity, "line": str(finding)}


def shown(value: object) -> str:
    """Return how Python shows a value, cut where it is long; whatever its class does."""
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


def _arguments_of(call: Any) -> Any:
    try:
        return call.arguments
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        return None


def _notes(tool: Tool[..., Any], arguments: Any) -> tuple[Finding, ...]:
    """Return what was corrected and ignored in arguments that fit."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return ()
    try:
        return tool.decode_report(arguments).findings
    except Exception:  # noqa: BLE001  # a class's own code, which may not do the same twice
        return ()


def read_in_steps(tool: Tool[..., Any], text: str, size: int) -> dict[str, Any]:
    """Read the text of a call as it would arrive.

    Args:
        tool: the called tool.
        text: of the arguments.
        size: characters of one piece.

    Returns:
        `steps`, one for each piece that changed what is known, and the `reading` of the whole.
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


# --- a pasted answer ------------------------------------------------------------------------------

_FIRST = ("openai_chat", "anthropic", "openai_responses", "gemini", "bedrock", "cohere", "ollama")
"""The order in which a form is tried that several providers have."""

_MOST_CALLS = 100


class UnknownProviderError(LookupError):
    """No provider has this name."""


def provider_named(name: str) -> Provider:
    """Return a provider by its name.

    Raises:
        UnknownProviderError: there is none.
    """
    if name not in provider_names():
        near = nearest(name, provider_names())
        message = f"there is no provider {name!r}" + (f"; did you mean {near}?" if near else "")
        raise UnknownProviderError(message)
    found: Provider = getattr(provider_table, name)
    return found


class UnreadableAnswerError(ValueError):
    """A text isn't an answer of a provider, and has no calls; the message says what was tried."""


def take_apart(offered: HasOffer, text: str, provider: str | None = None) -> dict[str, Any]:
    """Take an answer apart.

    Args:
        offered: has the tools that were offered.
        text: text of a provider's response or stream, unchanged; or of calls in any usual form.
        provider: its name; None to find it out.

    Returns:
        `provider` that reads it (None for calls alone), `others` that read the same, what the answer says and
        why it stopped, and its `calls`, each with its reading.

    Raises:
        UnreadableAnswerError: no provider reads it, and it has no calls.
        UnknownProviderError: there is no such provider.
    """
    names = _in_order() if provider is None else [provider]
    read: dict[str, Answer] = {}
    problems: dict[str, str] = {}
    for name in names:
        try:
            read[name] = _answer_of(offered, text, name)
        except ResponseError as error:
            problems[name] = str(error)
    best = next((name for name in read if read[name].calls), next(iter(read), None))
    if best is not None and (read[best].calls or read[best].text or read[best].refusal or provider):
        answer = read[best]
        others = [name for name in read if name != best and _same(read[name], answer)]
        said = {"text": answer.text, "reasoning": answer.reasoning, "refusal": answer.refusal}
        stopped = {"stop": answer.stop, "raw_stop": answer.raw_stop, "is_cut_off": answer.is_cut_off}
        return {"provider": best, "others": others, **said, **stopped, **_calls_of(offered, answer.calls)}
    calls = [RawCall(None, call.name, call.arguments) for call in calls_in(read_json(text))]
    if calls:
        nothing = {"text": "", "reasoning": "", "refusal": None, "stop": None, "raw_stop": None}
        found = _calls_of(offered, calls)
        return {"provider": None, "others": [], **nothing, "is_cut_off": False, **found}
    tried = problems.get(names[0]) or "it has neither calls nor text"
    message = tried if provider is not None else f"no provider reads this; as {names[0]}: {tried}"
    raise UnreadableAnswerError(message)


def _in_order() -> list[str]:
    names = provider_names()
    return [*[name for name in _FIRST if name in names], *[name for name in names if name not in _FIRST]]


def _answer_of(offered: HasOffer, text: str, name: str) -> Answer:
    """Read a text as a response, or as a stream of events.

    Raises:
        ResponseError: it is neither.
    """
    provider = provider_named(name)
    value = read_json(text)
    if is_object(value):
        return provider.answer(value, offered.toolset)
    stream = provider.stream(offered.toolset)
    if is_array(value):
        for event in value:
            stream.feed(event)
    else:
        stream.feed(text)
    return stream.close()


def _same(one: Answer, other: Answer) -> bool:
    return (_said(one), one.text) == (_said(other), other.text)


def _said(answer: Answer) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in answer.calls]


def _calls_of(offered: HasOffer, calls: Any) -> dict[str, Any]:
    found = [_read(offered, call) for call in list(calls)[:_MOST_CALLS]]
    return {"calls": found, "more_calls": max(0, len(calls) - _MOST_CALLS)}


def _read(offered: HasOffer, call: RawCall) -> dict[str, Any]:
    sent = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, indent=2)
    about = {
        "id": call.id,
        "tool": call.name,
        "arguments": sent[:LONGEST_TEXT],
        "is_cut_off": call.is_cut_off,
    }
    try:
        tool = offered.tool(call.name)
    except LookupError as error:
        reading = None
        about["text"] = str(error)
    else:
        reading = read_call(tool, call.arguments).as_dict()
        about["text"] = reading["text"]
    if call.is_cut_off:
        why = (
            "the call isn't well-formed"
            if call.is_malformed
            else "the answer ended before the call was complete"
        )
        about["text"] = f"{why}, so it is never run"
    return {**about, "reading": reading}
