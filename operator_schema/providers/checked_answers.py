"""Answers after they are read: their texts, the tools' own names, and nulls that mean nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codec.limits import MAX_TEXT_DEPTH
from ..json_values import is_finite, is_object, nests_deeper
from ..wording import excerpt, quote
from .event_errors import message_of
from .wire import parsed_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import RawCall
    from ..tools.tool import Tool
    from .answer import Answer

__all__ = [
    "answer_without_nulls",
    "check_depth",
    "checked_answer",
    "renamed",
    "renamed_call",
    "what_is_wrong",
]

_FORMS = {
    "choices": "OpenAI Chat Completions",
    "candidates": "Gemini",
    "stop_reason": "Anthropic",
    "stopReason": "Bedrock Converse",
    "output": "OpenAI Responses",
}
"""What one provider's answers alone have at their top."""


def check_depth(body: Mapping[str, Any]) -> None:
    """Check that a response can be copied and written, whatever the provider sent.

    Raises:
        ValueError: it nests too deep.
    """
    if nests_deeper(body, MAX_TEXT_DEPTH):
        message = f"it nests deeper than {MAX_TEXT_DEPTH} levels"
        raise ValueError(message)


def checked_answer(answer: Answer) -> Answer:
    """Return an answer whose texts are texts, and that JSON can write, whatever the provider sent.

    Raises:
        TypeError: one of them isn't.
        ValueError: a number in its message isn't finite.
    """
    if not is_finite(answer.message):
        message = "a number in it isn't finite"
        raise ValueError(message)
    said = (answer.text, answer.refusal, answer.raw_stop, answer.reasoning, answer.stop_message)
    texts = [text for text in said if text is not None]
    if all(isinstance(text, str) for text in texts):  # pyright: ignore[reportUnnecessaryIsInstance]  # they came from outside
        return answer
    message = "expected text"
    raise TypeError(message)


def renamed(answer: Answer, own: Mapping[str, str], keys: Mapping[str, str]) -> Answer:
    """Return an answer whose calls have the tools' own names, and their arguments their own keys.

    Args:
        answer: with the names on the wire.
        own: names on the wire to the tools' own, where these differ.
        keys: the same for properties.
    """
    return answer.replace(calls=tuple([renamed_call(call, own, keys) for call in answer.calls]))


def renamed_call(call: RawCall, names: Mapping[str, str], keys: Mapping[str, str]) -> RawCall:
    """Return a call with other names, of the tool and of the properties in its arguments."""
    arguments = call.arguments
    if keys:
        from .property_names import text_with_keys, value_with_keys

        is_text = isinstance(arguments, str)
        arguments = text_with_keys(arguments, keys) if is_text else value_with_keys(arguments, keys)
    return call.replace(name=names.get(call.name, call.name), arguments=arguments)


def answer_without_nulls(answer: Answer, tools: Mapping[str, Tool[..., Any]]) -> Answer:
    """Return an answer without the nulls in arguments that stand for what was left out.

    Args:
        answer: with the tools' own names.
        tools: that the request offered, by name.
    """
    from .nulls import without_nulls

    calls: list[RawCall] = []
    for call in answer.calls:
        arguments = parsed_arguments(call)
        if is_object(arguments) and call.name in tools:
            call = call.replace(arguments=without_nulls(tools[call.name].codec.graph, arguments))  # noqa: PLW2901  # the same call
        calls.append(call)
    return answer.replace(calls=tuple(calls))


def what_is_wrong(body: Mapping[str, Any], error: Exception) -> str:
    """Return the message about a response that isn't an answer.

    Args:
        body: of the response.
        error: that came when it was read.
    """
    said: Any = body.get("error")
    if said is None and isinstance(body.get("message"), str):  # as Bedrock says it
        said = body["message"]
    if said is not None:
        return f"the response is an error: {excerpt(message_of(said), 300)}"
    shown = excerpt(dict(body), 200)
    if isinstance(error, ValueError):
        return f"the response can't be used: {error}: {shown}"
    if not isinstance(error, KeyError):
        return f"the response has another form: {shown}"
    missing = str(error.args[0])
    other = next((name for key, name in _FORMS.items() if key in body and key != missing), None)
    hint = "" if other is None else f" (it looks like an answer of {other})"
    return f"the response has another form: there is no {quote(missing)} in it{hint}: {shown}"
