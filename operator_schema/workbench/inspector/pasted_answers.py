"""Which calls are in a pasted answer of a model?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ... import providers as provider_table
from ...json_values import is_array, is_object
from ...providers import Provider, ResponseError, provider_names, read_json
from ...similar_names import nearest
from ...tools import RawCall
from ..compare.recorded_calls import calls_in
from .decode_call import LONGEST_TEXT, read_call

if TYPE_CHECKING:
    from ...providers import Answer
    from .subject import Subject

_TRIED_FIRST = ("openai_chat", "anthropic", "openai_responses", "gemini", "bedrock", "cohere", "ollama")
"""The order in which providers are tried that share a form."""

_MOST_CALLS = 100


class UnknownProviderError(LookupError):
    """No provider has this name."""


def provider_named(name: str) -> Provider:
    """Return a provider by its name.

    Raises:
        UnknownProviderError: there is no such provider.
    """
    if name not in provider_names():
        near = nearest(name, provider_names())
        message = f"there is no provider {name!r}" + (f"; did you mean {near}?" if near else "")
        raise UnknownProviderError(message)
    found: Provider = getattr(provider_table, name)
    return found


class UnreadableAnswerError(ValueError):
    """A text isn't an answer of a provider, and has no calls; the message lists the attempts."""


def take_apart(subject: Subject, text: str, provider: str | None = None) -> dict[str, Any]:
    """Find the provider, the text and the calls of an answer.

    Args:
        subject: the subject with the tools.
        text: the text of a provider's response or stream, unchanged; or the text of calls in any usual form.
        provider: the name of the provider; None to try all of them.

    Returns:
        `provider`, which reads the answer (None for calls alone); `others`, which read it in the same way;
        the text of the answer and why it stopped; and its `calls`, each with its reading.

    Raises:
        UnreadableAnswerError: no provider reads the text, and it has no calls.
        UnknownProviderError: there is no such provider.
    """
    names = [*dict.fromkeys([*_TRIED_FIRST, *provider_names()])] if provider is None else [provider]
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
        others = [name for name in read if name != best and _says_the_same(read[name], answer)]
        said = {"text": answer.text, "reasoning": answer.reasoning, "refusal": answer.refusal}
        stopped = {"stop": answer.stop, "raw_stop": answer.raw_stop, "is_cut_off": answer.is_cut_off}
        return {"provider": best, "others": others, **said, **stopped, **_calls_of(subject, answer.calls)}
    calls = [RawCall(None, call.name, call.arguments) for call in calls_in(read_json(text))]
    if calls:
        nothing = {"text": "", "reasoning": "", "refusal": None, "stop": None, "raw_stop": None}
        found = _calls_of(subject, calls)
        return {"provider": None, "others": [], **nothing, "is_cut_off": False, **found}
    tried = problems.get(names[0]) or "it has neither calls nor text"
    message = tried if provider is not None else f"no provider reads this; as {names[0]}: {tried}"
    raise UnreadableAnswerError(message)


def _answer_of(subject: Subject, text: str, name: str) -> Answer:
    """Read a text as a response, or as a stream of events.

    Raises:
        ResponseError: the text is neither.
    """
    provider = provider_named(name)
    value = read_json(text)
    if is_object(value):
        return provider.answer(value, subject.toolset)
    stream = provider.stream(subject.toolset)
    if is_array(value):
        for event in value:
            stream.feed(event)
    else:
        stream.feed(text)
    return stream.close()


def _says_the_same(one: Answer, other: Answer) -> bool:
    texts = [(each.text, [(call.name, call.arguments) for call in each.calls]) for each in (one, other)]
    return texts[0] == texts[1]


def _calls_of(subject: Subject, calls: Any) -> dict[str, Any]:
    found = [_call_as_dict(subject, call) for call in list(calls)[:_MOST_CALLS]]
    return {"calls": found, "more_calls": max(0, len(calls) - _MOST_CALLS)}


def _call_as_dict(subject: Subject, call: RawCall) -> dict[str, Any]:
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
        why = (
            "the call isn't well-formed"
            if call.is_malformed
            else "the answer ended before the call was complete"
        )
        about["text"] = f"{why}, so it is never run"
    return {**about, "reading": reading}
