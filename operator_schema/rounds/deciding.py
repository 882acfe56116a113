"""Decisions about a call: by hooks before and after it runs, and by a person."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from ..message_text import clip, escape, received
from ..tools.calls import ToolResult, exception_text
from ..tools.failures import DEBUG, ERROR, INFO, is_logged, write_log
from ..tools.signature import is_awaitable
from .hooks import CONFIRM, DECISIONS, Defer, Reject, RunAgain, RunNormally
from .input_copies import is_edited, own_copy
from .questions import after_run
from .tool_call import shortened

if TYPE_CHECKING:
    from ..tools.calls import Asking, Limited
    from .hooks import ForTools, Hook
    from .tool_call import ToolCall

__all__ = [
    "WHO",
    "FailedHookError",
    "asked_about",
    "decide",
    "looked_at",
    "unless_confirmed",
]

WHO = "confirm"
"""What an error calls the function that asks: the name of its option."""

_NAME_LENGTH = 100
_TEXT_LENGTH = 2000


# --- before a call runs --------------------------------------------------------------------------


class FailedHookError(Exception):
    """A hook failed; a signal that never reaches a caller.

    Attributes:
        hook: the hook that failed.
    """

    def __init__(self, hook: Hook) -> None:
        super().__init__(hook)
        self.hook = hook


async def decide(call: ToolCall[Any], hooks: ForTools) -> ToolCall[Any]:
    """Ask hooks about a call, in their order, until one completes or rejects it.

    A call that one hook defers still goes to the next ones: so the person sees the call as all of them left
    it, and no call that one of them refuses.

    Args:
        call: a pending call.
        hooks: hooks, each with the names of its tools, or None for all.

    Raises:
        FailedHookError: a hook failed; the cause is what it raised.
    """
    is_settled = call.approved  # by a person, so this very input runs, or none
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
            after = decided(call, shown, decision, is_settled=is_settled)
        except Exception as error:  # a hook is your program's own code
            raise FailedHookError(hook) from error
        _log(call, hook, decision, after)
        if after.state == "deferred":
            reason = after.reason if reason is None else reason
        elif after.state == "pending":
            # An input from a hook may be edited, even if the input of a settled call doesn't change.
            is_untouched = after is call and getattr(decision, "input", MISSING) is MISSING
            shown = shown if is_untouched else None
            call = after
        else:
            return after
    return unless_confirmed(call) if reason is None else call.defer(reason)


def unless_confirmed(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call as it is, or as one that waits if its tool says `confirm=True`."""
    if call.approved or not call.tool.annotations.confirm:
        return call
    _write(INFO, call, "the tool", "Defer", CONFIRM)
    return call.defer(CONFIRM)


def with_own_input(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a copy of a call for a function to look at: whatever it does to the input changes nothing else.

    Raises:
        TypeError: the input can't be copied.
    """
    return call.replace(_input=own_copy(call.tool, call.input))


def decided(
    call: ToolCall[Any], shown: ToolCall[Any], decision: Any, *, is_settled: bool = False
) -> ToolCall[Any]:
    """Return a call in its state after a decision; the input of a settled call doesn't change.

    Args:
        call: the call before the decision.
        shown: the call that the function got, with an input of its own.
        decision: what the function returned.
        is_settled: whether a person has agreed to this very input.

    Raises:
        DecodeError: an input doesn't fit the types of the tool.
        EncodeError: an input or output can't be written as JSON.
        ToolError: the input belongs to another tool.
        TypeError: it isn't a decision.
        ValueError: the input was edited in place, and isn't what the decision says.
    """
    decision = RunNormally() if decision is None else decision
    if not isinstance(decision, DECISIONS):
        raise TypeError(_not_a_decision(decision))
    if decision.ends:
        ended: ToolCall[Any] = decision.applied(call)
        return ended
    given = getattr(decision, "input", MISSING)
    edited = is_edited(call.tool, call.input, shown.input)
    if edited and given is MISSING:
        message = "the input was edited in place, which changes nothing: return RunNormally(input=call.input)"
        raise ValueError(message)
    if given is not MISSING and not is_settled and (edited or given is not shown.input):
        call = call.with_input(given)
    going_on: ToolCall[Any] = decision.applied(call)
    return going_on


def _not_a_decision(given: Any) -> str:
    wanted = ", ".join([kind.__name__ for kind in DECISIONS])
    made = isinstance(given, type) and given in DECISIONS
    what = f"the class {given.__name__}: write {given.__name__}(…)" if made else received(given)
    return f"a hook must return {wanted} or None, not {what}"


# --- a person ------------------------------------------------------------------------------------


async def asked_about(call: ToolCall[Any], asking: Asking | None, hooks: ForTools) -> ToolCall[Any]:
    """Ask a person about a call that waits because of a hook or its tool, and return it in its new state.

    A call in another state, or with a question of its tool, stays as it is. If the person changes the input,
    hooks see the call again, and may complete or reject it.

    Args:
        call: a call after the hooks decided.
        asking: gets the call with the reason why it waits; returns True, False, the text of a refusal, or a
            decision; None if nobody decided. None if nobody can be asked.
        hooks: as for `decide`.

    Raises:
        DecodeError: an input doesn't fit the types of the tool.
        FailedHookError: a hook failed.
        TypeError: the answer is something else.
        ValueError: the input was edited in place, and isn't what the answer says.
        Exception: whatever asking raises.
    """
    if asking is None or call.state != "deferred" or call.question is not None:
        return call
    shown = with_own_input(call)
    answer = await asking(shown)
    after = decided(call.as_pending(), shown, _decision(answer, call.reason or ""))
    if after.state != "pending":
        return after
    agreed = after.replace(approved=True)
    return agreed if agreed.input is call.input else await decide(agreed, hooks)


def _decision(answer: Any, reason: str) -> Any:
    """Return the decision that an answer means.

    Args:
        answer: the answer of a person.
        reason: why the call waits; it keeps waiting if nobody decided.

    Raises:
        TypeError: it doesn't mean a decision.
    """
    match answer:
        case True:
            return RunNormally(approved=True)
        case False:
            return Reject("a person declined it")
        case None:
            return Defer(reason)
        case str():
            return Reject(answer)
        case _ if isinstance(answer, DECISIONS):
            return answer
        case _:
            message = f"confirm must return True, False, a string, a decision or None, not {received(answer)}"
            raise TypeError(message)


# --- after a call ran ----------------------------------------------------------------------------


async def looked_at(
    call: ToolCall[Any], result: ToolResult, hooks: ForTools, run: int, limited: Limited | None
) -> ToolCall[Any] | None:
    """Return a call in its state after it ran, with the result that counts after the hooks.

    Args:
        call: the call that ran.
        result: the result of its function.
        hooks: hooks after calls, each with the names of its tools, or None for all.
        run: number of the run; the first is 1.
        limited: cuts the results that hooks give; None to leave them.

    Returns:
        The call; if its function has a question, it waits, and no hook sees it. None if it is to run again.
    """
    after = after_run(call, result)
    if not hooks or after.result is None:
        return after
    looked = await _after_hooks(after, hooks, run)
    return looked if looked is None or looked is after or limited is None else shortened(looked, limited)


async def _after_hooks(call: ToolCall[Any], hooks: ForTools, run: int) -> ToolCall[Any] | None:
    """Show hooks the result of a call, in their order, and return the call with the result that counts.

    Args:
        call: a call with its result.
        hooks: hooks, each with the names of its tools, or None for all.
        run: number of the run; the first is 1.

    Returns:
        The call; None if it is to run again.
    """
    for hook, names in hooks:
        if names is not None and call.name not in names:
            continue
        try:
            decision: Any = hook.function(call.replace(_input=own_copy(call.tool, call.input)))
            if is_awaitable(decision):
                decision = await decision
            result = _result_of(call, decision)
        except Exception as error:  # noqa: BLE001  # the program's own code: what it had to hide stays hidden
            _write(ERROR, call, hook.name, "nothing", f"it failed with {exception_text(error)}")
            hidden = call.fail(_HIDDEN).replace(details={"exception": error})
            return call.with_result(hidden, "executor")
        if isinstance(result, RunAgain):
            if run < result.most:
                _write(INFO, call, hook.name, "RunAgain", f"run {run + 1} of {result.most}")
                return None
        elif result is not None:
            _write(INFO, call, hook.name, "another result", "")
            call = call.with_result(result, "hook")
    return call


_HIDDEN = "the call ran, but its result can't be shown: the program failed to look at it"
"""What the model reads if a hook after a call failed."""


def _result_of(call: ToolCall[Any], decision: Any) -> ToolResult | RunAgain | None:
    """Check what a hook after a call returns.

    Raises:
        TypeError: it is something else.
        ValueError: it is the result of another call.
    """
    if decision is None or isinstance(decision, RunAgain):
        return decision
    if not isinstance(decision, ToolResult):
        message = f"a hook after a call must return a ToolResult, RunAgain or None, not {received(decision)}"
        raise TypeError(message)
    if (decision.call_id, decision.name) != (call.id, call.name):
        message = "it returned the result of another call"
        raise ValueError(message)
    return decision


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


def _log(call: ToolCall[Any], hook: Hook, decision: Any, after: ToolCall[Any]) -> None:
    if after.state == "pending":
        # The arguments may hold secrets, so they are logged only at the level DEBUG.
        _write(DEBUG, call, hook.name, "RunNormally", _Shown(after))
        return
    _write(INFO, call, hook.name, type(decision).__name__, clip(escape(after.reason or ""), _TEXT_LENGTH))


def _write(level: int, call: ToolCall[Any], who: str, decision: str, about: object) -> None:
    if not is_logged(level):
        return
    name, call_id = clip(escape(call.name), _NAME_LENGTH), clip(escape(call.id), _NAME_LENGTH)
    if about == "":
        write_log(level, "%s (call %s): %s decided %s", name, call_id, who, decision)
    else:
        write_log(level, "%s (call %s): %s decided %s: %s", name, call_id, who, decision, about)
