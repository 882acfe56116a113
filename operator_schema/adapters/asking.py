"""Questions to a person about calls of a framework, and checks that only the approved call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import DecodeError, EncodeError, ToolError
from ..message_text import listed
from ..rounds import CONFIRM, Reject, RunNormally
from ..tools import is_awaitable
from .conversions import is_agreement, is_as_written, key_of, parsed_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..execution import Confirm
    from ..rounds import ToolCall

__all__ = [
    "ONLY_ALONE",
    "Asks",
    "Kept",
    "agreed_by_tool",
    "asked_elsewhere",
    "asking",
    "holding_back",
    "not_agreed",
    "of_the_tool",
    "question_about",
    "refusal_of",
]

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
        return parsed_arguments(call.raw)


def _ignored_keys(call: ToolCall[Any]) -> list[str]:
    return [str(key) for key in call.details.get("ignored", ())]


# --- the answer: functions that an executor takes as `confirm` -------------------------------------------


def asking(asks: Callable[[Any, dict[str, Any]], Any], kept: Kept, host: Any, *, shows_call: bool) -> Confirm:
    """Return a function that asks a person by the framework's own means, and checks that the same call runs.

    Args:
        asks: as for `Adapter`.
        kept: as for `Adapter`.
        host: the framework's own context of the call.
        shows_call: as for `Adapter`.
    """

    async def ask(call: ToolCall[Any]) -> bool | Reject | RunNormally | None:
        answer: Any = _refused_for_ignored_keys(call) if shows_call else None
        if answer is None:
            answer = await _awaited(asks(host, question_about(call)))
        if answer is None or isinstance(answer, Reject):
            return answer
        return await _agreed_as_asked(call, kept, host) if is_agreement(answer) else False

    return ask


def holding_back(kept: Kept, host: Any) -> Confirm:
    """Return a function that approves a call which the framework held back until a person agreed.

    Args:
        kept: as for `Adapter`.
        host: the framework's own context of the call.
    """

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
