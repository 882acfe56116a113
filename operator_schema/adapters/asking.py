"""What is a person asked about a call of a framework, and does what they agreed to run?"""

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
"""How a framework asks a person about a call of a tool with `confirm=True`.

A function takes the framework's own context of the call, and the question, as `question_about` returns it.
It returns the person's answer, in whatever form the framework gives it, or something to await; None if nobody
can be asked; `Reject` with what the model reads instead of a question to a person. `"before"`: the framework
itself holds the call back until a person agrees. None: it has no way to ask.
"""

Kept: TypeAlias = "Callable[[Any, str], Any] | None"
"""Where a framework keeps the question until a person has agreed to it.

A function takes the framework's own context of the call and the key of the question as it would be now, and
returns the question as it was, or something to await; None if it isn't there. None instead of a function: the
framework can keep nothing, as the page about frameworks says.
"""

ONLY_ALONE = Reject("a person can be asked about it only if it is the only call: make it again, alone")
"""What a function of `Asks` returns where the answer to one of several calls would do more than it should."""

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
    """Return what a person reads about a call that waits, as text and as data.

    Args:
        call: with the arguments as hooks left them.

    Returns:
        `question`: the text. `tool`: its name. `arguments`: those that run. `reason`: why it waits; empty if
        only the tool asks for it. `ignored`: arguments of the model that the tool doesn't know. `key`:
        another one as soon as the tool or the arguments change.
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
    """Return what a question says of its tool alone: a person agreed to any arguments, or to their own."""
    return {"key": str(question.get("key")).partition(".")[0]}


def refusal_of(ignored: list[str]) -> str:
    """Write for the model why nobody is asked about a call with arguments that the tool doesn't know."""
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
    """Return what asks a person by the framework's own means, and compares what they agreed to.

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
    """Return what agrees to a call that the framework held back, and to which a person has agreed.

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
    """Do what `"run"` says, but for arguments that the tool would leave out: somebody may have read them."""
    return (_refused_for_ignored_keys(call) or True) if call.reason == CONFIRM else None


async def not_agreed(call: ToolCall[Any]) -> Reject | None:
    """Say why nobody was asked about a call; None if there is no reason in the call."""
    return _refused_for_ignored_keys(call)


def _agreed_as_written(call: ToolCall[Any]) -> bool | Reject:
    """Agree to a call of which a person has read the arguments that the model wrote, if these run."""
    return _refused_for_ignored_keys(call) or is_as_written(call) or _OTHER_ARGUMENTS


def _refused_for_ignored_keys(call: ToolCall[Any]) -> Reject | None:
    """Refuse a call of which a person reads arguments that its tool doesn't know; None if it knows all."""
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
    """Return the decision about a call to which a person agreed: what they were asked about runs, or nothing.

    Args:
        call: as it would run now.
        now: its key.
        kept: the question that the framework kept, or `of_the_tool` of one; None if it has none.
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
