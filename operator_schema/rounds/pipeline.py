"""What a pipeline of hooks decides about a call, and how that is logged."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from ..tools.awaitables import is_awaitable
from ..tools.log import DEBUG, INFO, is_logged, write_log
from ..wording import clip, escape, received
from .decisions import Complete, Defer, Reject, RunNormally
from .inputs import is_edited, own_copy
from .tool_call import DeferredCall, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .hooks import Hook
    from .tool_call import State

__all__ = ["CONFIRM", "FailedHookError", "decide", "decided", "unless_confirmed", "with_own_input"]

CONFIRM = "the tool asks for the agreement of a person (confirm=True)"
"""Why a call waits whose tool says so."""

_CLASSES = (RunNormally, Complete, Reject, Defer)
_NAME_LENGTH = 100
_TEXT_LENGTH = 2000


class FailedHookError(Exception):
    """A hook failed; a signal that never reaches a caller.

    Attributes:
        hook: that failed.
    """

    def __init__(self, hook: Hook) -> None:
        super().__init__(hook)
        self.hook = hook


async def decide(call: ToolCall[Any], hooks: Sequence[tuple[Hook, frozenset[str] | None]]) -> State:
    """Ask hooks about a call, in their order, until one completes or rejects it.

    A call that one of them defers goes on to the next ones: the person then sees what all of them made of it,
    and nothing that one of them refuses.

    Args:
        call: that is pending.
        hooks: each with the names of its tools, None for all.

    Raises:
        FailedHookError: one failed; its cause is what it raised.
    """
    is_settled = call.approved  # by a person: then this very input is run, or none
    reason: str | None = None
    shown: ToolCall[Any] | None = None
    for hook, names in hooks:
        if names is not None and call.name not in names:
            continue
        try:
            shown = shown or with_own_input(call)
            decision: Any = hook.function(shown)
            if is_awaitable(decision):
                decision = await decision
            state = decided(call, shown, decision, is_settled=is_settled)
        except Exception as error:
            raise FailedHookError(hook) from error
        _log(call, hook, state)
        if type(state) is DeferredCall:
            reason = state.reason if reason is None else reason
        elif type(state) is ToolCall:
            shown = shown if state is call else None
            call = state
        else:
            return state
    return unless_confirmed(call) if reason is None else call.defer(reason)


def unless_confirmed(call: ToolCall[Any]) -> ToolCall[Any] | DeferredCall[Any]:
    """Return a call as it is, or as one that waits if its tool says `confirm=True`."""
    if call.approved or not call.tool.annotations.confirm:
        return call
    _write(INFO, call, "the tool", "Defer", CONFIRM)
    return call.defer(CONFIRM)


def with_own_input(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call for a function to look at: what it does to the input changes nothing else.

    Raises:
        TypeError: the input can't be copied.
    """
    return call.replace(input=own_copy(call.tool, call.input))


def decided(call: ToolCall[Any], shown: ToolCall[Any], decision: Any, *, is_settled: bool = False) -> State:
    """Return the state of a call after a decision; the input of a settled call doesn't change.

    Args:
        call: that was decided on.
        shown: the call that the function got, with an input of its own.
        decision: of the function.
        is_settled: whether a person has agreed to this very input.

    Raises:
        DecodeError: an input doesn't fit the types of the tool.
        EncodeError: an input or output can't be written as JSON.
        ToolError: an input is that of another tool.
        TypeError: it isn't a decision.
        ValueError: the input was edited in place, and isn't what the decision says.
    """
    match decision:
        case Complete(output=output):
            return call.handled(output, by="hook")
        case Reject(reason=reason):
            return call.reject(reason, by="hook")
        case None | Defer() | RunNormally():
            given = decision.input if isinstance(decision, RunNormally) else MISSING
        case _:
            wanted = "RunNormally, Complete, Reject, Defer or None"
            made = isinstance(decision, type) and decision in _CLASSES
            what = (
                f"the class {decision.__name__}: write {decision.__name__}(…)" if made else received(decision)
            )
            message = f"a hook returns {wanted}, not {what}"
            raise TypeError(message)
    edited = is_edited(call.tool, call.input, shown.input)
    if edited and given is MISSING:
        message = "the input was edited in place, which changes nothing: return RunNormally(input=call.input)"
        raise ValueError(message)
    if given is not MISSING and not is_settled and (edited or given is not shown.input):
        call = call.with_input(given)
    if isinstance(decision, Defer):
        return call if call.approved else call.defer(decision.reason)
    is_approved = isinstance(decision, RunNormally) and decision.approved is True
    return call.replace(approved=True) if is_approved else call


class _Shown:
    """A JSON value that is written only if somebody reads the log."""

    __slots__ = ("_call",)

    def __init__(self, call: ToolCall[Any]) -> None:
        self._call = call

    def __str__(self) -> str:
        try:
            return clip(escape(to_json_text(self._call.arguments)), _TEXT_LENGTH)
        except Exception:  # noqa: BLE001  # an input that can't be written, or its own code
            return "(the input can't be written as JSON)"


def _log(call: ToolCall[Any], hook: Hook, decided: State) -> None:
    if type(decided) is ToolCall:
        # The arguments may hold secrets: only those who ask for everything get them.
        _write(DEBUG, call, hook.name, "RunNormally", _Shown(decided))
        return
    names = {"HandledCall": "Complete", "RejectedCall": "Reject", "DeferredCall": "Defer"}
    reason = getattr(decided, "reason", "")
    _write(INFO, call, hook.name, names[type(decided).__name__], clip(escape(reason), _TEXT_LENGTH))


def _write(level: int, call: ToolCall[Any], who: str, decision: str, about: object) -> None:
    if not is_logged(level):
        return
    name, call_id = clip(escape(call.name), _NAME_LENGTH), clip(escape(call.id), _NAME_LENGTH)
    if about == "":
        write_log(level, "%s (call %s): %s decided %s", name, call_id, who, decision)
    else:
        write_log(level, "%s (call %s): %s decided %s: %s", name, call_id, who, decision, about)
