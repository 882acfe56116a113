"""What is in an answer of a provider that somebody pasted, and how are its calls read?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..compare.recorded_calls import calls_in
from ..json_values import is_array, is_object
from ..providers import ResponseError, provider_names
from ..tools import RawCall
from .catalogue import provider_named
from .readings import LONGEST_TEXT, read_call

if TYPE_CHECKING:
    from ..providers import Answer
    from .subject import Subject

__all__ = ["UnreadableAnswerError", "take_apart"]

_FIRST = ("openai_chat", "anthropic", "openai_responses", "gemini", "bedrock", "cohere", "ollama")
"""The order in which a form is tried that several providers have."""

_MOST_CALLS = 100


class UnreadableAnswerError(ValueError):
    """A text is no answer of a provider, and holds no calls; the text says what was tried."""


def take_apart(subject: Subject, text: str, provider: str | None = None) -> dict[str, Any]:
    """Take an answer apart.

    Args:
        subject: whose tools were offered.
        text: of a response or a stream of a provider, as it came; or of calls in any usual form.
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
            read[name] = _answer_of(subject, text, name)
        except ResponseError as error:
            problems[name] = str(error)
    best = next((name for name in read if read[name].calls), next(iter(read), None))
    if best is not None and (read[best].calls or read[best].text or read[best].refusal or provider):
        answer = read[best]
        others = [name for name in read if name != best and _same(read[name], answer)]
        said = {"text": answer.text, "reasoning": answer.reasoning, "refusal": answer.refusal}
        stopped = {"stop": answer.stop, "raw_stop": answer.raw_stop, "is_cut_off": answer.is_cut_off}
        return {"provider": best, "others": others, **said, **stopped, **_calls_of(subject, answer.calls)}
    calls = [RawCall(None, call.name, call.arguments) for call in calls_in(_json_of(text))]
    if calls:
        nothing = {"text": "", "reasoning": "", "refusal": None, "stop": None, "raw_stop": None}
        found = _calls_of(subject, calls)
        return {"provider": None, "others": [], **nothing, "is_cut_off": False, **found}
    tried = problems.get(names[0]) or "it has neither calls nor text"
    message = tried if provider is not None else f"no provider reads this; as {names[0]}: {tried}"
    raise UnreadableAnswerError(message)


def _in_order() -> list[str]:
    names = provider_names()
    return [*[name for name in _FIRST if name in names], *[name for name in names if name not in _FIRST]]


def _answer_of(subject: Subject, text: str, name: str) -> Answer:
    """Read a text as a response, or as a stream of events.

    Raises:
        ResponseError: it is neither.
    """
    provider = provider_named(name)
    value = _json_of(text)
    if is_object(value):
        return provider.answer(value, subject.toolset)
    stream = provider.stream(subject.toolset)
    if is_array(value):
        for event in value:
            stream.feed(event)
    else:
        stream.feed(text)
    return stream.close()


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _same(one: Answer, other: Answer) -> bool:
    return (_said(one), one.text) == (_said(other), other.text)


def _said(answer: Answer) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in answer.calls]


def _calls_of(subject: Subject, calls: Any) -> dict[str, Any]:
    found = [_read(subject, call) for call in list(calls)[:_MOST_CALLS]]
    return {"calls": found, "more_calls": max(0, len(calls) - _MOST_CALLS)}


def _read(subject: Subject, call: RawCall) -> dict[str, Any]:
    sent = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, indent=2)
    about = {
        "id": call.id,
        "tool": call.name,
        "arguments": sent[:LONGEST_TEXT],
        "is_cut_off": call.is_cut_off,
    }
    try:
        tool = subject.tool(call.name)
    except LookupError as error:
        reading = None
        about["text"] = str(error)
    else:
        reading = read_call(tool, call.arguments).as_dict()
        about["text"] = reading["text"]
    if call.is_cut_off:
        about["text"] = "the answer ended before the call was complete, so it is never run"
    return {**about, "reading": reading}
