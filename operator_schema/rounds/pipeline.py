"""What a pipeline of hooks decides about a call, and how that is logged."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from ..tools.awaitables import is_awaitable
from ..tools.log import DEBUG, INFO, is_logged, write_log
from ..wording import clip, escape, received
from .decisions import Complete, Defer, Reject, RunNormally
from .tool_call import DeferredCall, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .hooks import Hook
    from .tool_call import State

__all__ = ["CONFIRM", "FailedHookError", "decide", "decided", "unless_confirmed"]

CONFIRM = "the tool asks for the agreement of a person (confirm=True)"
"""Why a call waits whose tool says so."""

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
    for hook, names in hooks:
        if names is not None and call.name not in names:
            continue
        try:
            decision: Any = hook.function(call)
            if is_awaitable(decision):
                decision = await decision
            state = decided(call, decision, is_settled=is_settled)
        except Exception as error:
            raise FailedHookError(hook) from error
        _log(call, hook, state)
        if type(state) is DeferredCall:
            reason = state.reason if reason is None else reason
        elif type(state) is ToolCall:
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


def decided(call: ToolCall[Any], decision: Any, *, is_settled: bool = False) -> State:
    """Return the state of a call after a decision; the input of a settled call doesn't change.

    Raises:
        EncodeError: an input or output can't be written as JSON.
        ToolError: an input is that of another tool.
        TypeError: it isn't a decision.
    """
    match decision:
        case None:
            return call
        case RunNormally(input=given, approved=approved):
            is_same = is_settled or given is MISSING or given is call.input
            changed = call if is_same else call.with_input(given)
            return changed.replace(approved=True) if approved is True else changed
        case Complete(output=output):
            return call.handled(output, by="hook")
        case Reject(reason=reason):
            return call.reject(reason, by="hook")
        case Defer(reason=reason):
            return call if call.approved else call.defer(reason)
        case _:
            wanted = "RunNormally, Complete, Reject, Defer or None"
            message = f"a hook returns {wanted}, not {received(decision)}"
            raise TypeError(message)


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
