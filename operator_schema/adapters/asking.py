"""Questions to a person about calls of a framework, and checks that only the approved call runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import DecodeError, EncodeError, ToolError
from ..json_values import is_array, is_object, to_json_text
from ..message_text import listed
from ..rounds import CONFIRM, Reject, RunNormally
from ..sameness import is_same_json
from ..tools import is_awaitable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..execution import Confirm
    from ..rounds import ToolCall
    from ..tools import RawCall

Asks: TypeAlias = "Callable[[Any, dict[str, Any]], Any] | str | None"
"""How a framework asks a person about a call of a tool with `confirm=True`. A function takes the framework's
own context of the call, and the question, as `question_about` returns it. It returns the person's answer, in
any form of the framework, or something to await; None if nobody can be asked; `Reject` with a text for the
model if no person should be asked. `"before"`: the framework itself holds the call back until a person
agrees. None: it has no way to ask.
"""

Kept: TypeAlias = "Callable[[Any, str], Any] | None"
"""How to get the question that a framework stored until a person agreed. A function takes the framework's own
context of the call and the key that the question would have now, and returns the stored question, or
something to await; None if it isn't there. None instead of a function: the framework can't store anything;
see the page about frameworks.
"""

ONLY_ALONE = Reject("a person can be asked about it only if it is the only call: make it again, alone")
"""Returned by a function of `Asks` if the answer to one of several calls would also affect the others."""

_OTHER_ARGUMENTS = Reject("the program changed its arguments, and a person agreed to those that you wrote")
_FORGOTTEN = Reject(
    "what a person was asked about it is no longer known: make the call again, and the person is asked again"
)
_CHANGED = Reject(
    "the tool or its arguments have changed since a person was asked: make the call again, and the person is "
    "asked about what it does now"
)
_MOST_IGNORED = 8


# --- the question -------------------------------------------------------------------------------------


def question_about(call: ToolCall[Any]) -> dict[str, Any]:
    """Return the question to a person about a call that waits, as text and as data.

    Args:
        call: the call, after changes by hooks.

    Returns:
        `question`: the text. `tool`: name of the tool. `arguments`: the arguments with which the call runs.
            `reason`: why it waits; empty if only the tool requires it. `ignored`: arguments of the model that
            the tool doesn't know. `key`: identifies tool and arguments; it changes when they change.
    """
    from ..rounds import call_text  # nobody may ever be asked

    reason = call.reason or ""
    return {
        "question": call_text(call),
        "tool": call.name,
        "arguments": _arguments_of(call),
        "reason": "" if reason == CONFIRM else reason,
        "ignored": _ignored_keys(call),
        "key": key_of(call),
    }


def of_the_tool(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a question about the tool alone, for an approval of any arguments."""
    return {"key": str(question.get("key")).partition(".")[0]}


def refusal_of(ignored: list[str]) -> str:
    """Return the text for the model that nobody is asked about a call with unknown arguments."""
    why = f"a person can't agree to arguments that the tool doesn't know: {listed(ignored, _MOST_IGNORED)}"
    return f"{why}. Make the call again without them"


def _arguments_of(call: ToolCall[Any]) -> Any:
    try:
        return call.arguments
    except (EncodeError, ToolError):  # what it was made of isn't kept (`InitVar`)
        return _parsed_arguments(call.raw)


def _ignored_keys(call: ToolCall[Any]) -> list[str]:
    return [str(key) for key in call.details.get("ignored", ())]


# --- the answer: functions that an executor takes as `confirm` -------------------------------------------


def asking(asks: Callable[[Any, dict[str, Any]], Any], kept: Kept, host: Any, *, shows_call: bool) -> Confirm:
    """Return a function that asks a person by the framework's means, and checks that the same call runs."""

    async def ask(call: ToolCall[Any]) -> bool | Reject | RunNormally | None:
        answer: Any = _refused_for_ignored_keys(call) if shows_call else None
        if answer is None:
            answer = await _awaited(asks(host, question_about(call)))
        if answer is None or isinstance(answer, Reject):
            return answer
        return await _agreed_as_asked(call, kept, host) if is_agreement(answer) else False

    return ask


def holding_back(kept: Kept, host: Any) -> Confirm:
    """Return a function that approves a call which the framework held back until a person agreed."""

    async def agree(call: ToolCall[Any]) -> bool | Reject | RunNormally:
        answer = _agreed_as_written(call)
        return await _agreed_as_asked(call, kept, host) if answer is True else answer

    return agree


async def agreed_by_tool(call: ToolCall[Any]) -> bool | Reject | None:
    """Agree to a call that the framework held back because of its tool, but not to one that a hook defers."""
    return _agreed_as_written(call) if call.reason == CONFIRM else None


async def asked_elsewhere(call: ToolCall[Any]) -> bool | Reject | None:
    """Approve as `"run"` does, but refuse a call with unknown arguments, which somebody may have read."""
    return (_refused_for_ignored_keys(call) or True) if call.reason == CONFIRM else None


async def not_agreed(call: ToolCall[Any]) -> Reject | None:
    """Refuse a call with unknown arguments, about which nobody was asked; return None for other calls."""
    return _refused_for_ignored_keys(call)


def _agreed_as_written(call: ToolCall[Any]) -> bool | Reject:
    """Approve a call whose original arguments a person has read, if it runs with exactly these."""
    return _refused_for_ignored_keys(call) or is_as_written(call) or _OTHER_ARGUMENTS


def _refused_for_ignored_keys(call: ToolCall[Any]) -> Reject | None:
    """Refuse a call with arguments that its tool doesn't know; return None if it knows all."""
    names = _ignored_keys(call)
    return Reject(refusal_of(names)) if names else None


async def _agreed_as_asked(call: ToolCall[Any], kept: Kept, host: Any) -> bool | Reject | RunNormally:
    if kept is None:
        return True
    now = key_of(call)
    return _agreement_to(call, now, await _awaited(kept(host, now)))


def _agreement_to(
    call: ToolCall[Any], now: str, kept: Mapping[str, Any] | None
) -> bool | Reject | RunNormally:
    """Return the decision about a call that a person approved: only the call that they read may run.

    Args:
        call: the call as it would run now.
        now: its key.
        kept: the question that the framework stored, or only `of_the_tool` of one; None if it has none.
    """
    key = None if kept is None else kept.get("key")
    if kept is None or not isinstance(key, str):
        return _FORGOTTEN
    if key not in {now, now.partition(".")[0]}:
        return _CHANGED
    agreed = kept.get("arguments")
    if agreed is None or agreed == _arguments_of(call):
        return True
    try:  # a default has given something else meanwhile, such as a time
        return RunNormally(call.tool.decode(agreed), approved=True)
    except DecodeError:
        return _CHANGED


async def _awaited(given: Any) -> Any:
    return await given if is_awaitable(given) else given


# --- is an answer a yes? ---------------------------------------------------------------------------------


def is_agreement(answer: object) -> bool:
    """Return whether the answer of a person, in any form of a framework, is a clear yes."""
    if isinstance(answer, str):
        return answer.strip().lower() in _YES
    if isinstance(answer, Mapping):
        said = cast("Mapping[str, object]", answer)
        answers = [said[key] for key in _ANSWERS if said.get(key) is not None]
        kind = said.get("type")
        if answers:  # the type then mostly says what kind of message it is
            is_other = kind is False or (isinstance(kind, str) and kind.strip().lower() in _OTHER_DECISIONS)
            return all(map(is_agreement, answers)) and not is_other
        return not isinstance(kind, Mapping) and is_agreement(kind)
    return answer is True


_ANSWERS = ("approved", "confirmed", "response")
_YES = frozenset({"y", "yes", "true", "approve", "approved", "accept", "accepted", "ok"})
_OTHER_DECISIONS = frozenset(
    {
        *("reject", "rejected", "edit", "ignore", "respond", "decline", "declined", "cancel", "cancelled"),
        *("deny", "denied", "refuse", "refused", "abort", "no", "n", "false"),
    }
)
"""Types of decisions that don't approve this call itself, including those of langchain, langgraph and MCP."""


# --- is it the same call? ---------------------------------------------------------------------------------


def is_as_written(call: ToolCall[Any]) -> bool:
    """Return whether a call would run with the arguments that the model wrote: no hook changed them.

    Values that a default makes anew each time, such as a time, aren't compared.
    """
    try:
        return not _changes_in(call)
    except (EncodeError, ToolError):  # a hook changed what can't be written, so not compared either
        return False


def key_of(call: ToolCall[Any]) -> str:
    """Return a key of a call that stays the same as long as its tool and arguments are the same.

    It leaves out values that a default makes anew each time. The part before the dot identifies the tool
    alone.
    """
    try:
        changed: Any = _changes_in(call)
    except (EncodeError, ToolError):  # as above
        changed = call.arguments
    parts = call.tool.definition(), [_parsed_arguments(call.raw), changed]
    return ".".join([_digest(part) for part in parts])


def _digest(told: Any) -> str:
    return sha256(to_json_text(told).encode(errors="surrogatepass")).hexdigest()[:32]


def _parsed_arguments(call: RawCall) -> Any:
    """Return the arguments of a call as a value, even if a framework gives them as JSON text."""
    arguments = call.arguments
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _changes_in(call: ToolCall[Any]) -> list[list[Any]]:
    """Return the changes of hooks to the arguments: each place, with the value that is there now, if any."""
    before = call.arguments_before
    if before is None:
        return []
    tool, wrote = call.tool, call.raw.arguments
    first, second = (tool.encode_input(tool.decode(wrote)) for _ in range(2))  # a default may change
    return list(_changes([], call.arguments, before, first, second))


def _changes(place: list[Any], now: Any, before: Any, first: Any, second: Any) -> Iterator[list[Any]]:
    values = (now, before, first, second)
    if is_object(now) and is_object(before):
        for name in {**before, **now}:
            inner = [value.get(name, MISSING) if is_object(value) else MISSING for value in values]
            yield from _changes([*place, name], *inner)
    elif is_array(now) and is_array(before) and len(now) == len(before):
        for number in range(len(now)):
            inner = [
                value[number] if is_array(value) and number < len(value) else MISSING for value in values
            ]
            yield from _changes([*place, number], *inner)
    elif not (is_same_json(now, before) or _is_new_each_time(first, second)):
        yield [place] if now is MISSING else [place, now]


def _is_new_each_time(first: Any, second: Any) -> bool:
    """Return whether a default made this whole value anew, and not only a part of it."""
    has_parts = (is_object(first) and is_object(second)) or (is_array(first) and is_array(second))
    return not has_parts and not is_same_json(first, second)
