"""Are a history, results and calls what a provider takes, and what was probably meant otherwise?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import rounds, tools
from ..json_values import is_object, to_json_text
from ..message_text import quote, received
from .answer import KEYS_OF_ANSWERS, Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools import RawCall, ToolResult
    from .wire_format import Wire


def checked_history(history: Any) -> list[Any]:
    """List the items of a history.

    Raises:
        TypeError: the argument isn't a list.
    """
    if type(history) in {str, dict} or not hasattr(history, "__iter__"):
        message = f"a history must be a list of strings, messages, turns and answers, not {received(history)}"
        is_one = type(history) is str or is_object(history)
        raise TypeError(f"{message}: write [message]" if is_one else message)
    return [*history]


def check_message(message: Mapping[str, Any], wire: Wire, provider: str) -> None:
    """Check that a message isn't in a form that a provider certainly doesn't take.

    A message for Gemini has `parts` and no `content`; messages for other providers have no `parts`. For
    Gemini and Bedrock, the value is always a list. Source: https://ai.google.dev/api/caching#Content and
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html

    Raises:
        TypeError: the message is a whole response; or has `content` where the provider takes `parts`, or the
            reverse; or a string in place of a list; or calls in another form; or the provider doesn't know
            its role.
    """
    key = _key_of_response(message)
    if key is not None:
        error = f"a history has a whole response, with {quote(key)}: put answer(response, offer) there"
        raise TypeError(error)
    _check_calls(message, wire, provider)
    own = wire.text_message("user", "…")
    wanted, foreign = ("parts", "content") if "parts" in own else ("content", "parts")
    found = None
    if foreign in message and wanted not in message:
        found = quote(foreign)
    elif "text" not in wire.FORMS and isinstance(message.get(wanted), str):
        found = f"a string as {quote(wanted)}"
    if found is not None:
        error = (
            f"a message of a history has {found}, which is another provider's form: "
            f"for {provider}, write {to_json_text(own)}, or a string for a message of the user"
        )
        raise TypeError(error)
    fault = rounds.role_fault(message, wire.ROLES, others=wire.OTHER_ROLES)
    if fault is not None:
        error = f"a message of a history for {provider} {fault}"
        raise TypeError(error)


def _check_calls(message: Mapping[str, Any], wire: Wire, provider: str) -> None:
    """Check that a message has no calls or results in the form of Chat Completions or Responses."""
    if message.get("tool_calls"):
        (sent, *_) = wire.calls_message([tools.RawCall("call_1", "x", {})])
        found = None if "tool_calls" in sent else '"tool_calls"'
    else:
        is_item = "type" in message and "role" not in message and "item" not in wire.FORMS
        found = f"the type {to_json_text(message['type'])} and no role" if is_item else None
    if found is not None:
        error = (
            f"a message of a history has {found}, which is another provider's form: "
            f"put the answer or the committed turn there, which is written anew for {provider}"
        )
        raise TypeError(error)


def _key_of_response(given: Mapping[str, Any]) -> str | None:
    """Return a key that only a response has; None for anything else, such as a message."""
    key = next((key for key in KEYS_OF_ANSWERS if key in given), None)
    return None if key == "output" and "type" in given else key  # the result of a call has this key, too


def not_for_a_history(item: object) -> TypeError:
    """Return the error for an object that doesn't belong in a history, with what to give in its place."""
    message = f"a history must have only strings, messages, turns and answers, not {received(item)}"
    way = ""
    if any(hasattr(item, name) for name in ("role", "choices", "candidates")):  # the object of an SDK
        way = ": answer(response, offer) makes an answer of a response"
    if isinstance(item, (tools.RawCall, tools.ToolResult)):
        way = ": a call and its result become a turn when their round is committed"
    if isinstance(item, rounds.Round):
        way = ": run it and commit it: executor.run_sync(round).commit(history)"
    return TypeError(message + way)


def checked_results(results: Any) -> list[ToolResult]:
    """Return results as a list.

    Raises:
        TypeError: an item isn't a `ToolResult`.
    """
    if isinstance(results, tools.ToolResult):
        message = "results takes a list: write [result]"
        raise TypeError(message)
    is_iterable = hasattr(results, "__iter__") and not isinstance(results, str)
    found: list[Any] = list(results) if is_iterable else [results]
    for result in found:
        if not isinstance(result, tools.ToolResult):
            message, way = f"results takes what an executor returns, ToolResults, not {received(result)}", ""
            if isinstance(result, rounds.Round):
                way = ": turn(round.commit(…)) writes a round"
            elif isinstance(result, rounds.Turn):
                way = ": turn(…) writes it"
            elif isinstance(result, rounds.ToolCall) and result.state == "handled":
                way = ": give its result"
            raise TypeError(message + way)
    return found


def checked_calls(calls: Any) -> list[RawCall]:
    """Return the calls beside results as a list.

    Raises:
        TypeError: an item isn't a `RawCall`.
    """
    found: list[Any] = list(calls) if hasattr(calls, "__iter__") else [calls]
    for call in found:
        if not isinstance(call, tools.RawCall):
            message = f"calls must be a list of RawCalls, such as answer.calls, not {received(call)}"
            raise TypeError(message)
    return found


def order_meant(given: Any) -> str | None:
    """Return the message about an argument that was given in place of an offer; None if none was."""
    first: Any = next(iter(given), None) if issubclass(type(given), list) else None
    order = None
    if is_object(given) and _key_of_response(given) is not None:
        order = "the response comes first: answer(response, offer)"
    elif isinstance(given, tools.ToolResult) or isinstance(first, tools.ToolResult):
        order = "the results come first: results(results, offer)"
    elif (
        any(is_object(one) and "role" in one for one in (given, first))
        or isinstance(given, (str, rounds.Transcript))
        or isinstance(first, (str, rounds.Turn, Answer))
    ):
        order = "the offer comes first: request(offer, history)"
    return None if order is None else f"an offer has tools, and this is {received(given)}: {order}"
