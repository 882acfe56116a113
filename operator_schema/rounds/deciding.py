"""Ask hooks about a call, before and after it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..errors import DecodeError, NeedsInput, SchemaError, ToolError
from ..message_text import exception_text, received, writable_text
from ..tools.calls import ToolResult, arguments_to_decode, own_parts
from ..tools.logs import ERROR, INFO
from ..tools.signature import outcome_of
from .decision_log import log_decision, log_hook
from .hook_decisions import CONFIRM, DECISIONS, RunAgain, RunNormally
from .hooks import hooks_for
from .input_copies import is_edited, own_copy
from .tool_call import FAILURES, ONE_APPROVAL, ToolCall, Wait, call_issue, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.calls import Limited
    from ..tools.decision_records import DecisionKind
    from .hooks import ForTools, Hook


# --- before a call runs --------------------------------------------------------------------------


class FailedHookError(Exception):
    """A hook failed; a signal that never reaches a caller.

    Attributes:
        hook: the name of the hook.
    """

    def __init__(self, hook: Hook) -> None:
        super().__init__(hook)
        self.hook = hook


async def decide(call: ToolCall[Any], hooks: ForTools) -> ToolCall[Any]:
    """Ask hooks about a call, in their order, until one completes or rejects it.

    If a hook defers a call, the next hooks are asked too. So the person sees the call as all hooks left it,
    and doesn't see a call that one of them refuses.

    Args:
        call: a pending call.
        hooks: the hooks, each with the names of its tools, or None for all.

    Raises:
        FailedHookError: a hook failed; the cause is its exception.
    """
    is_settled = call.approved or call.run[1] > 0  # a person agreed to it, so this very input runs, or none
    waiting: ToolCall[Any] | None = None  # as the first hook that defers it leaves it
    shown: ToolCall[Any] | None = None
    for hook in hooks_for(call.name, hooks):
        try:
            shown = shown or with_own_input(call)
            decision: Any = await outcome_of(hook.function, shown)
            after = decided(call, shown, decision, hook.name, is_settled=is_settled)
        except Exception as error:  # a hook is your program's own code
            raise FailedHookError(hook) from error
        log_hook(call, hook.name, decision, after)
        if after.state == "deferred":
            waiting = after if waiting is None else _waiting_for_both(waiting, after)
        elif after.state == "pending":
            # An input from a hook may be edited, even if the input of a settled call doesn't change.
            is_untouched = after is call and getattr(decision, "input", ...) is ...
            shown = shown if is_untouched else None
            call = after
        else:
            return after
    if waiting is None:
        return unless_confirmed(call)
    return _defer_or_send_back(call, waiting.reason or "", waiting._wait)  # noqa: SLF001  # a value of this room


def unless_confirmed(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call unchanged, or deferred if its tool says `confirm=True`."""
    if call.approved or not call.tool.annotations.confirm:
        return call
    log_decision(INFO, call, "the tool", "Defer", CONFIRM)
    return _defer_or_send_back(call, CONFIRM)


def _defer_or_send_back(call: ToolCall[Any], reason: str, wait: Wait = ONE_APPROVAL) -> ToolCall[Any]:
    """Return a call that waits for a person, or an issue if the model has to send the call again first."""
    return _issue_if_corrected(call) or call.defer(reason, wait=wait)


def _waiting_for_both(one: ToolCall[Any], other: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call that two hooks defer: the earlier deadline counts, and the larger number of approvals."""
    ends = [call.expires_at for call in (one, other) if call.expires_at is not None]
    return one.replace(_wait=Wait(max(one.approvals, other.approvals), min(ends, default=None)))


def _issue_if_corrected(call: ToolCall[Any]) -> ToolCall[Any] | None:
    """Return an issue for a call that was corrected in a way that the model must confirm; None for others.

    A person is only asked about calls as the model has sent them.
    """
    raw = call.raw
    if raw.sent_name is not None:
        from .near_tools import with_its_call  # most calls name a tool

        sent = raw.replace(name=raw.sent_name, sent_name=None)
        result = FAILURES.not_found(sent, with_its_call(raw, call.tool), ())
        return call_issue(call.index, sent, raw.arguments, result)
    try:
        call.tool.check_as_sent(noted_details(call).get("repairs", ()), arguments_to_decode(raw))
    except DecodeError as error:
        return call_issue(call.index, raw, raw.arguments, FAILURES.invalid(raw, error))
    return None


def noted_details(call: ToolCall[Any]) -> Mapping[str, Any]:
    """Return the repairs and ignored keys of decoding the arguments; a saved round doesn't hold them."""
    notes = call._notes  # noqa: SLF001  # a value of this room
    if notes is not None:
        return notes
    try:
        return call.tool.decode_report(arguments_to_decode(call.raw)).as_details()
    except Exception:  # noqa: BLE001  # the input is there, so a hook made it of something else; or own code
        return {}


def with_own_input(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a copy of a call whose input a hook or a person may change without an effect on the call."""
    return call.replace(_input=own_copy(call.tool, call.input))


def decided(
    call: ToolCall[Any],
    shown: ToolCall[Any],
    decision: Any,
    hook: str | None = None,
    *,
    is_settled: bool = False,
) -> ToolCall[Any]:
    """Return a call in its state after a decision; the input of a settled call doesn't change.

    Args:
        call: the call before the decision.
        shown: the call that the function got, with its own copy of the input.
        decision: what the function returned.
        hook: the name of the hook that decided; None for a person.
        is_settled: whether a person has agreed to this very input.
    """
    decision = RunNormally() if decision is None else decision
    if not isinstance(decision, DECISIONS):
        raise TypeError(_not_a_decision(decision))
    before = call
    if decision.ends:
        return _with_its_record(before, decision.applied(call), decision, hook)
    given = getattr(decision, "input", ...)
    edited = is_edited(call.tool, call.input, shown.input)
    if edited and given is ...:
        message = "the input was edited in place, which changes nothing: return RunNormally(input=call.input)"
        raise ValueError(message)
    if given is not ... and not is_settled and (edited or given is not shown.input):
        call = call.with_input(given, by="hook" if hook else "person", hook=hook)
    return _with_its_record(before, decision.applied(call), decision, hook)


def _with_its_record(
    before: ToolCall[Any], after: ToolCall[Any], decision: Any, hook: str | None
) -> ToolCall[Any]:
    """Return a call with the record of a decision; unchanged if the hook didn't change anything."""
    kind: DecisionKind | None = decision.recorded_as
    if kind is None:
        is_agreed = after.state == "pending" and (hook is None or (after.approved and not before.approved))
        kind = "approve" if is_agreed else "change" if after.changed is not before.changed else None
    if kind is None:
        return after
    return with_record(before, after, kind, "person" if hook is None else "hook", hook)


def with_record(before: ToolCall[Any], after: ToolCall[Any], *about: Any) -> ToolCall[Any]:
    """Return a call after a decision, with the record of it; see `recorded`."""
    from ..tools.decision_records import recorded  # nobody decides about most calls

    decided: ToolCall[Any] = recorded(before, after, *about)
    return decided


def _not_a_decision(given: Any) -> str:
    wanted = ", ".join([kind.__name__ for kind in DECISIONS])
    return f"a hook must return {wanted} or None, not {shown_answer(given)}"


def shown_answer(given: Any) -> str:
    """Describe a value that was returned in place of a decision; if it is a decision class, add a hint."""
    is_class = isinstance(given, type) and given in DECISIONS
    return f"the class {given.__name__}: write {given.__name__}(…)" if is_class else received(given)


# --- after a call ran ----------------------------------------------------------------------------


async def looked_at(
    call: ToolCall[Any], result: ToolResult, hooks: ForTools, run: int, limited: Limited | None
) -> ToolCall[Any] | None:
    """Return a call in its state after it ran, with the result after the hooks.

    Args:
        call: the call that ran.
        result: the result of its function.
        hooks: hooks after calls, each with the names of its tools, or None for all.
        run: number of the run; the first is 1.
        limited: a function that cuts the results of hooks; None to leave them.

    Returns:
        The call. If its function asks a question, the call waits, and no hook sees it. None if the call is to
        run again.
    """
    after = after_run(call, result)
    if after.state in {"deferred", "issue"}:
        return after
    looked = await _after_hooks(after, hooks, run) if hooks else after
    if looked is None or limited is None or (looked is after and call.changed is None):
        return looked
    return shortened(looked, limited)


async def _after_hooks(call: ToolCall[Any], hooks: ForTools, run: int) -> ToolCall[Any] | None:
    """Return a call with the result that hooks leave it, in their order; None if it is to run again."""
    for hook in hooks_for(call.name, hooks):
        try:
            shown = call.replace(_input=own_copy(call.tool, call.input))
            decision: Any = await outcome_of(hook.function, shown)
            result = _result_of(call, decision)
        except Exception as error:  # noqa: BLE001  # the program's own code: what it had to hide stays hidden
            log_decision(ERROR, call, hook.name, "nothing", f"it failed with {exception_text(error)}")
            hidden = call.fail(_HIDDEN).replace(details={"exception": error})
            return call.with_result(hidden, "executor")
        if isinstance(result, RunAgain):
            if run < result.most:
                log_decision(INFO, call, hook.name, "RunAgain", f"run {run + 1} of {result.most}")
                return None
        elif result is not None:
            log_decision(INFO, call, hook.name, "another result", "")
            call = call.with_result(result, "hook")
    return call


_HIDDEN = "the call ran, but its result can't be shown: the program failed to check it"
"""The text that the model reads if a hook after a call failed."""


def _result_of(call: ToolCall[Any], decision: Any) -> ToolResult | RunAgain | None:
    """Check the return value of a hook after a call."""
    if decision is None or isinstance(decision, RunAgain):
        return decision
    if not isinstance(decision, ToolResult):
        message = f"a hook after a call must return a ToolResult, RunAgain or None, not {received(decision)}"
        raise TypeError(message)
    if (decision.call_id, decision.name) != (call.id, call.name):
        message = "it returned the result of another call"
        raise ValueError(message)
    text = writable_text("the content of a result", decision.content)
    if text is decision.content:
        return decision
    return decision.replace(content=text, parts=own_parts(decision), json=decision.json, value=decision.value)


# --- questions of a tool -------------------------------------------------------------------------


def after_run(call: ToolCall[Any], result: ToolResult) -> ToolCall[Any]:
    """Return a call in its state after its run."""
    raised: Any = (result.details or {}).get("exception") if result.code == "needs_input" else None
    if not isinstance(raised, NeedsInput):
        return call.with_result(result, "executor")
    try:
        from .questions import question_of  # few tools have a question

        question = question_of(call.tool, raised)
    except (SchemaError, ToolError) as error:
        return call.with_result(_result_without_answer(call, error), "executor")
    return _issue_if_corrected(call) or call.again().defer(raised.question, question)


def _result_without_answer(call: ToolCall[Any], error: SchemaError | ToolError) -> ToolResult:
    """Log that the answer to a question could never reach the function, and return the result of the call."""
    failure = error if isinstance(error, ToolError) else ToolError(call.name, str(error))
    return cast("ToolResult", FAILURES.failed(call.raw, failure))  # nothing is passed through here
