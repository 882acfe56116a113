"""What hooks and people decide about a call, what a tool asks a person, and what that person reads."""

from __future__ import annotations

import json
from dataclasses import MISSING
from types import NoneType
from typing import TYPE_CHECKING, Any, Union, cast, get_args

from ..codec.codec import codec_of
from ..errors import DecodeError, NeedsInput, SchemaError, ToolError
from ..findings import Finding, shown_call
from ..json_values import is_array, is_object, to_json_text
from ..message_text import (
    escape,
    exception_text,
    excerpt,
    listed,
    one_line,
    received,
    show_path,
    writable_text,
)
from ..tools.calls import DecodedCall, ToolResult, arguments_to_decode, own_parts
from ..tools.failures import DEBUG, ERROR, INFO, is_logged, write_log
from ..tools.injection import is_union
from ..tools.signature import outcome_of
from .errors import RoundError
from .hooks import CONFIRM, DECISIONS, Complete, Defer, Reject, RunAgain, RunNormally
from .input_copies import check_written, is_edited, own_copy, own_json
from .tool_call import FAILURES, INTERRUPTED, Question, ToolCall, Wait, call_issue, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..tools.calls import Asking, Limited
    from ..tools.decision_records import DecisionKind
    from ..tools.tool import Tool
    from .hooks import ForTools, Hook

__all__ = [
    "WHO",
    "FailedHookError",
    "after_run",
    "answer_codec",
    "answer_schema",
    "agreed",
    "answered",
    "asked_about",
    "call_text",
    "check_question",
    "decide",
    "decoded_call",
    "expired",
    "looked_at",
    "refused",
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
    is_settled = call.approved or call.run[1] > 0  # by a person, so this very input runs, or none
    waiting: ToolCall[Any] | None = None  # as the first hook that defers it leaves it
    shown: ToolCall[Any] | None = None
    for hook, names in hooks:
        if names is not None and call.name not in names:
            continue
        try:
            shown = shown or with_own_input(call)
            decision: Any = await outcome_of(hook.function, shown)
            after = decided(call, shown, decision, hook.name, is_settled=is_settled)
        except Exception as error:  # a hook is your program's own code
            raise FailedHookError(hook) from error
        _log(call, hook, decision, after)
        if after.state == "deferred":
            waiting = after if waiting is None else _waiting_for_both(waiting, after)
        elif after.state == "pending":
            # An input from a hook may be edited, even if the input of a settled call doesn't change.
            is_untouched = after is call and getattr(decision, "input", MISSING) is MISSING
            shown = shown if is_untouched else None
            call = after
        else:
            return after
    if waiting is None:
        return unless_confirmed(call)
    return _waiting(call, waiting.reason or "", waiting._wait)  # noqa: SLF001  # a value of this room


def unless_confirmed(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call as it is, or as one that waits if its tool says `confirm=True`."""
    if call.approved or not call.tool.annotations.confirm:
        return call
    _write(INFO, call, "the tool", "Defer", CONFIRM)
    return _waiting(call, CONFIRM)


def _waiting(call: ToolCall[Any], reason: str, wait: Wait | None = None) -> ToolCall[Any]:
    """Return a call that waits for a person; an issue if the model has to send another one first."""
    return _not_sent(call) or call.defer(reason, wait=wait)


def _waiting_for_both(one: ToolCall[Any], other: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call that two hooks defer: the earlier end counts, and the larger number of approvals."""
    ends = [call.expires_at for call in (one, other) if call.expires_at is not None]
    wait = Wait(max(one.approvals, other.approvals), min(ends, default=None))
    return one.replace(_wait=None if wait == Wait() else wait)


def _not_sent(call: ToolCall[Any]) -> ToolCall[Any] | None:
    """Return the issue of a call that was read as another one than the model sent; None for others.

    A person is only asked about a call that the model has sent.
    """
    raw = call.raw
    if raw.sent_name is not None:
        from .near_tools import with_its_call  # most calls name a tool

        sent = raw.replace(name=raw.sent_name, sent_name=None)
        result = FAILURES.not_found(sent, with_its_call(raw, call.tool), ())
        return call_issue(call.index, sent, raw.arguments, result)
    try:
        call.tool.check_as_sent(_details(call).get("repairs", ()), arguments_to_decode(raw))
    except DecodeError as error:
        return call_issue(call.index, raw, raw.arguments, FAILURES.invalid(raw, error))
    return None


def _details(call: ToolCall[Any]) -> Mapping[str, Any]:
    """Return what decoding says about the arguments of a call; a saved round doesn't hold it."""
    notes = call._notes  # noqa: SLF001  # a value of this room
    if notes is not None:
        return notes
    try:
        return call.tool.decode_report(arguments_to_decode(call.raw)).as_details()
    except Exception:  # noqa: BLE001  # the input is there, so a hook made it of something else; or own code
        return {}


def with_own_input(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a copy of a call for a function to look at: whatever it does to the input changes nothing else.

    Raises:
        TypeError: the input can't be copied.
    """
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
        shown: the call that the function got, with an input of its own.
        decision: what the function returned.
        hook: the name of the hook that decided; None for a person.
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
    before = call
    if decision.ends:
        return _with_record(before, decision.applied(call), decision, hook)
    given = getattr(decision, "input", MISSING)
    edited = is_edited(call.tool, call.input, shown.input)
    if edited and given is MISSING:
        message = "the input was edited in place, which changes nothing: return RunNormally(input=call.input)"
        raise ValueError(message)
    if given is not MISSING and not is_settled and (edited or given is not shown.input):
        call = call.with_input(given, by="hook" if hook else "person", hook=hook)
    return _with_record(before, decision.applied(call), decision, hook)


def _with_record(
    before: ToolCall[Any], after: ToolCall[Any], decision: Any, hook: str | None
) -> ToolCall[Any]:
    """Return a call with the record of a decision; as it is if somebody only let it go on."""
    kind = _KINDS.get(type(decision))
    if kind is None:
        is_agreed = after.state == "pending" and (hook is None or (after.approved and not before.approved))
        kind = "approve" if is_agreed else "change" if after.changed is not before.changed else None
    if kind is None:
        return after
    return _recorded(before, after, kind, "person" if hook is None else "hook", hook)


def _recorded(before: ToolCall[Any], after: ToolCall[Any], *about: Any) -> ToolCall[Any]:
    """Return a call after a decision, with the record of it; see `recorded`."""
    from ..tools.decision_records import recorded  # nobody decides about most calls

    decided: ToolCall[Any] = recorded(before, after, *about)
    return decided


_KINDS: Mapping[type[Any], DecisionKind] = {Reject: "reject", Complete: "complete"}


def _not_a_decision(given: Any) -> str:
    wanted = ", ".join([kind.__name__ for kind in DECISIONS])
    return f"a hook must return {wanted} or None, not {_shown_answer(given)}"


def _shown_answer(given: Any) -> str:
    is_class = isinstance(given, type) and given in DECISIONS
    return f"the class {given.__name__}: write {given.__name__}(…)" if is_class else received(given)


# --- a person ------------------------------------------------------------------------------------


async def asked_about(call: ToolCall[Any], asking: Asking | None, hooks: ForTools) -> ToolCall[Any]:
    """Ask a person about a call that waits because of a hook or its tool, and return it in its new state.

    A call in another state, with a question of its tool, or that several people have to agree to, stays as it
    is. If the person changes the input,
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
    if asking is None or call.state != "deferred" or call.question is not None or call.approvals > 1:
        return call
    shown = with_own_input(call)
    answer = await outcome_of(asking, shown)
    decision = _decision(answer, call.reason or "")
    after = decided(call.as_pending(), shown, decision)
    if answer is None:
        return call
    if after.state != "pending":
        _write(INFO, call, WHO, type(decision).__name__, one_line(after.reason or "", _TEXT_LENGTH))
        return after
    if call.has_expired:  # while the person was asked
        return expired(call)
    _log_agreement(after, WHO, type(decision).__name__)
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
            shown = _shown_answer(answer)
            message = f"confirm must return True, False, a string, a decision or None, not {shown}"
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
    if after.state in {"deferred", "issue"}:
        return after
    looked = await _after_hooks(after, hooks, run) if hooks else after
    if looked is None or limited is None or (looked is after and call.changed is None):
        return looked
    return shortened(looked, limited)


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
            shown = call.replace(_input=own_copy(call.tool, call.input))
            decision: Any = await outcome_of(hook.function, shown)
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


_HIDDEN = "the call ran, but its result can't be shown: the program failed to check it"
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
    text = writable_text("the content of a result", decision.content)
    if text is decision.content:
        return decision
    return decision.replace(content=text, parts=own_parts(decision), json=decision.json, value=decision.value)


class _Shown:
    """A JSON value that is written only if somebody reads the log."""

    __slots__ = ("_call",)

    def __init__(self, call: ToolCall[Any]) -> None:
        self._call = call

    def __str__(self) -> str:
        try:
            return one_line(to_json_text(self._call.arguments), _TEXT_LENGTH)
        except Exception:  # noqa: BLE001  # an input that can't be written, or its own code
            return "(the input can't be written as JSON)"


def _log(call: ToolCall[Any], hook: Hook, decision: Any, after: ToolCall[Any]) -> None:
    if after.state == "pending":
        # The arguments may hold secrets, so they are logged only at the level DEBUG.
        _write(DEBUG, call, hook.name, "RunNormally", _Shown(after))
        return
    _write(INFO, call, hook.name, type(decision).__name__, one_line(after.reason or "", _TEXT_LENGTH))


def _log_agreement(after: ToolCall[Any], who: str, decision: str, *more: str) -> None:
    """Log that somebody agreed to a call: which arguments differ from the model's, and at DEBUG what runs."""
    changed = after.changed
    names = "" if changed is None else f"changed {listed([one_line(name, 100) for name in changed.names], 5)}"
    _write(INFO, after, who, decision, _joined(names, *more))
    _write(DEBUG, after, who, decision, _Shown(after))


def _write(level: int, call: ToolCall[Any], who: str, decision: str, about: object) -> None:
    if not is_logged(level):
        return
    name, call_id = one_line(call.name, _NAME_LENGTH), one_line(call.id, _NAME_LENGTH)
    if about == "":
        write_log(level, "%s (call %s): %s decided %s", name, call_id, who, decision)
    else:
        write_log(level, "%s (call %s): %s decided %s: %s", name, call_id, who, decision, about)


# --- what a person says of a round that waits ------------------------------------------------------


def agreed(
    call: ToolCall[Any], given: object | None, by: str | None = None, words: str = ""
) -> ToolCall[Any]:
    """Return a deferred call as pending, because a person agreed to it; or as it waits for further people.

    Whether a call that was interrupted may run once more is another question than whether it may run at all.

    Args:
        call: the call.
        given: another input, or None.
        by: the name of the person.
        words: what the person said.

    Raises:
        RoundError: it has expired; or several people have to agree, and this one has agreed before or has no
            name.
        DecodeError: the input doesn't fit, or the one that the call has was edited in place and doesn't.
        EncodeError: it can't be written as JSON.
        ToolError: it is that of another tool.
    """
    if call.has_expired:
        message = (
            f"{shown_call(call.name, call.id)} has expired: nobody approved it in time. "
            "Run the round, or take round.with_expired(), so that the model reads it"
        )
        raise RoundError(message, 1)
    is_approved = call.approved if call.reason == INTERRUPTED else True
    decided = call.with_edits(by="person") if given is None else call.with_input(given, by="person")
    after = _recorded(call, decided, "approve", "person", by, words)
    if call.approvals > 1:
        names = _agreeing(call, after, by)
        if len(names) < call.approvals:
            waits = after.replace(_wait=Wait(call.approvals, call.expires_at, names))
            _log_agreement(waits, _name_of(by), "Approve", f"{len(names)} of {call.approvals}", words)
            return waits
    after = after.as_pending().replace(approved=is_approved)
    _log_agreement(after, _name_of(by), "Approve", words)
    return after


def _agreeing(call: ToolCall[Any], after: ToolCall[Any], by: str | None) -> tuple[str, ...]:
    """Return who has agreed to a call as it is now: to a changed input, only who changed it.

    Raises:
        RoundError: it isn't said who agrees, or this person has agreed before.
    """
    which = shown_call(call.name, call.id)
    if by is None:
        message = f"{which} needs {call.approvals} approvals by different people: say who agrees (by=…)"
        raise RoundError(message, 1)
    earlier = call.approved_by if after.decisions[-1].arguments is None else ()
    if by in earlier:
        message = (
            f"{one_line(by, _NAME_LENGTH)} has approved {which} already "
            f"({len(earlier)} of {call.approvals}): somebody else has to agree"
        )
        raise RoundError(message, 1)
    return (*earlier, by)


def refused(call: ToolCall[Any], reason: str, by: str | None = None, words: str = "") -> ToolCall[Any]:
    """Return a call as rejected by a person."""
    after = _recorded(call, call.reject(reason), "reject", "person", by, words)
    _write(INFO, after, _name_of(by), "Reject", _joined(one_line(after.reason or "", _TEXT_LENGTH), words))
    return after


def expired(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call that nobody approved in time, with the result that says so."""
    after = _recorded(call, call.expired(), "expire", "host")
    _write(INFO, after, "nobody", "Approve", "it has expired")
    return after


def _name_of(by: str | None) -> str:
    return "a person" if by is None else one_line(by, _NAME_LENGTH)


def _joined(*parts: str) -> str:
    return "; ".join([one_line(part, _TEXT_LENGTH) for part in parts if part])


# --- questions of a tool -------------------------------------------------------------------------


def decoded_call(call: ToolCall[Any]) -> DecodedCall:
    """Return a call in the form that an executor runs.

    Raises:
        DecodeError: an answer no longer fits its parameter.
        ToolError: the tool has no such parameter any more.
    """
    answers = {name: answer_codec(call.tool, name).decode(value) for name, value in call.answers.items()}
    return DecodedCall(
        call.raw,
        call.input,
        answers,
        call.approved,
        details=call.details,
        deferred_at=call.deferred_at,
        changed=call.changed,
        decisions=call.decisions,
    )


def after_run(call: ToolCall[Any], result: ToolResult) -> ToolCall[Any]:
    """Return a call in its state after its run."""
    raised: Any = (result.details or {}).get("exception") if result.code == "needs_input" else None
    if not isinstance(raised, NeedsInput):
        return call.with_result(result, "executor")
    try:
        question = _question(call.tool, raised)
    except (SchemaError, ToolError) as error:
        return call.with_result(_failed(call, error), "executor")
    return _not_sent(call) or call.again().defer(raised.question, question)


def _question(tool: Tool[..., Any], raised: NeedsInput) -> Question:
    schema = answer_schema(tool, raised)
    text = writable_text("a question", raised.question)
    return Question(text, raised.parameter, schema, raised.answer_type)


def answer_schema(tool: Tool[..., Any], raised: NeedsInput) -> dict[str, Any]:
    """Return the JSON Schema of the answer that a function asked for.

    Raises:
        SchemaError: its type can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    codec = answer_codec(tool, raised.parameter)  # even if the answer has a type of its own
    if raised.answer_type is not None:
        codec = codec_of(raised.answer_type)
    schema: dict[str, Any] = codec.json_schema()
    return schema


def _failed(call: ToolCall[Any], error: SchemaError | ToolError) -> ToolResult:
    """Return the result for a question whose answer could never reach the function; it is logged."""
    failure = error if isinstance(error, ToolError) else ToolError(call.name, str(error))
    return cast("ToolResult", FAILURES.failed(call.raw, failure))  # nothing is passed through here


def answered(
    call: ToolCall[Any], question: Question, answer: object, by: str | None = None, words: str = ""
) -> ToolCall[Any]:
    """Return a deferred call as pending again, with the answer to its question.

    Args:
        call: the call.
        question: what it asks.
        answer: as JSON.
        by: the name of the person.
        words: what the person said of it.

    Raises:
        DecodeError: the answer doesn't fit, or the input was edited in place and doesn't.
        EncodeError: the input was edited in place, and can't be written as JSON.
    """
    codecs = [answer_codec(call.tool, question.parameter)]
    if question._answer_type is not None:  # noqa: SLF001  # a value of this room
        codecs.append(codec_of(question._answer_type))  # noqa: SLF001  # as above
    about = f"the answer for {call.name}"
    try:
        own = own_json(answer)
        for codec in codecs[1:]:
            codec.decode(own)
        own = _as_read(codecs[0], own, codecs[0].decode(own))
    except DecodeError as error:
        raise DecodeError(about, error.findings, error.expects) from None
    except ValueError as error:
        raise DecodeError(
            about, [Finding((), "invalid_json", f"the answer has to be JSON: {error}")]
        ) from None
    kept = [(name, value) for name, value in call._answers if name != question.parameter]  # noqa: SLF001  # as above
    answers = (*kept, (question.parameter, own))
    _write(INFO, call, _name_of(by), "Answer", _joined(words))
    _write(DEBUG, call, _name_of(by), "Answer", excerpt(own, _TEXT_LENGTH))
    after = _recorded(call, call.with_edits(by="person"), "answer", "person", by, words)
    return after.as_pending().replace(approved=True, _answers=answers)


def _as_read(codec: Any, answer: Any, given: Any) -> Any:
    """Return an answer with defaults and without ignored keys, to compare it after a restart."""
    try:
        written = codec.encode(given)
        return written if codec.decode(written) == given else answer
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        return answer


def check_answer(tool: Tool[..., Any], parameter: str, answer: Any) -> None:
    """Check that a saved answer still means what it meant.

    Raises:
        DecodeError: it doesn't fit any more, or would be read as something else.
        SchemaError: the type of the parameter can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    codec = answer_codec(tool, parameter)
    now = _as_read(codec, answer, codec.decode(answer))
    check_written(f"the answer for {tool.name}", answer, now)


def check_question(tool: Tool[..., Any], parameter: str) -> None:
    """Check that a tool can take the answer to a question.

    Raises:
        SchemaError: the type of the parameter can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    answer_codec(tool, parameter)


def answer_codec(tool: Tool[..., Any], parameter: str) -> Any:
    """Return the codec of the answers for an injected parameter.

    Raises:
        SchemaError: its type can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    return codec_of(_without_none(tool.injected_type(parameter)))


def _without_none(annotation: Any) -> Any:
    """Return X for `X | None`: None stands for a missing answer, and isn't an answer."""
    if not is_union(annotation):
        return annotation
    others = tuple([member for member in get_args(annotation) if member is not NoneType])
    return Union[others] if others else annotation  # noqa: UP007  # made of what it holds


# --- what a person reads -------------------------------------------------------------------------

_SHOWN = 2000
"""The most characters of arguments that a person reads, unless there are very many arguments."""

_LEAST = 60
"""Characters that every argument may have in any case."""

_MOST_INSIDE = 8
"""How many values of a long object or array are shown."""

_DEEPEST = 3
"""The longest path, in keys and indexes, of a value with a line of its own."""

_MOST_IGNORED = 8


def call_text(call: ToolCall[Any]) -> str:
    """Write which tool is to run, why a hook makes it wait, and a line for each argument.

    The arguments are those that run, with defaults and repairs. Each long argument is cut on its own, so that
    none hides another one, and no argument can look like something else.

    Args:
        call: a call that nobody has agreed to.
    """
    title = call.tool.annotations.title or call.name
    name = escape(call.name)
    head = f"Run {name}?" if title == call.name else f"Run {escape(title)} ({name})?"
    why = [] if call.reason in {None, "", CONFIRM} else [f"({escape(call.reason or '')[:_SHOWN]})"]
    return "\n".join([head, *why, *_approval_lines(call), *_argument_lines(call), *_ignored_lines(call)])


def _approval_lines(call: ToolCall[Any]) -> list[str]:
    """Write how many people have to agree, and who has, if one isn't enough."""
    if call.approvals == 1:
        return []
    names = listed([escape(name) for name in call.approved_by], _MOST_IGNORED)
    so_far = f"{len(call.approved_by)} of {call.approvals} people have agreed"
    return [f"({so_far}: {names})" if names else f"({so_far})"]


def _argument_lines(call: ToolCall[Any]) -> list[str]:
    try:
        arguments: Any = call.arguments
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        sent = arguments_to_decode(call.raw)
        return ["(as the model sent it; defaults aren't shown)", *_shown(sent)]
    return _shown(arguments)


def _ignored_lines(call: ToolCall[Any]) -> list[str]:
    """Write which arguments of the model are ignored."""
    names = [str(key) for key in _details(call).get("ignored", ())]
    return [f"(the tool doesn't know, and ignores: {listed(names, _MOST_IGNORED)})"] if names else []


def _shown(arguments: Any) -> list[str]:
    if not is_object(arguments):
        return _lines((), arguments, _SHOWN)
    return _lines_of(((key,), value) for key, value in arguments.items())


def _lines_of(pairs: Iterable[tuple[tuple[str | int, ...], Any]], most: int = _SHOWN) -> list[str]:
    """Write values line by line; short values leave their room to long ones."""
    shown = list(pairs)
    room = _room_for([len(_as_json(value)) for _, value in shown], most)
    return [line for path, value in shown for line in _lines(path, value, room)]


def _room_for(lengths: Sequence[int], most: int) -> int:
    """Return how long each value may be, so that all together have a number of characters."""
    room = most
    for position, length in enumerate(sorted(lengths)):
        share = most // (len(lengths) - position)
        if length > share:
            return max(share, _LEAST)
        most -= length
    return room


def _lines(path: tuple[str | int, ...], value: Any, room: int) -> list[str]:
    text = _as_json(value)
    where = f"{show_path(path)}: " if path else ""
    if len(text) <= room:
        return [f"{where}{text}"]
    inside = _inside(value) if len(path) < _DEEPEST else []
    if not inside:
        return [f"{where}{text[:room]}… ({len(text) - room:,} more characters are not shown)"]
    rest = len(inside) - _MOST_INSIDE
    lines = _lines_of((((*path, key), one) for key, one in inside[:_MOST_INSIDE]), room)
    return lines if rest <= 0 else [*lines, f"{where}… ({rest:,} more values are not shown)"]


def _inside(value: Any) -> list[tuple[str | int, Any]]:
    if is_object(value):
        return list(value.items())
    return list(enumerate(value)) if is_array(value) else []


def _as_json(value: Any) -> str:
    return escape(json.dumps(value, ensure_ascii=False))
