"""Decisions of people about calls that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codec.codec import codec_of
from ..errors import DecodeError
from ..findings import Finding, shown_call
from ..message_text import excerpt, one_line
from ..tools.logs import DEBUG, INFO
from ..tools.signature import outcome_of
from .deciding import decide, decided, shown_answer, with_own_input, with_record
from .decision_log import TEXT_LENGTH, WHO, joined, log_agreement, log_decision
from .errors import RoundError
from .hook_decisions import DECISIONS, Defer, Reject, RunNormally
from .own_json import own_json
from .questions import answer_as_read, answer_codec
from .tool_call import INTERRUPTED, Question, ToolCall, Wait

if TYPE_CHECKING:
    from ..tools.calls import Asking
    from .hooks import ForTools

_NAME_LENGTH = 100

# --- who is asked while a round runs ------------------------------------------------------------------


async def asked_about(call: ToolCall[Any], asking: Asking | None, hooks: ForTools) -> ToolCall[Any]:
    """Ask a person about a call that waits because of a hook or its tool, and return it in its new state.

    A call in another state stays as it is; so does a call with a question of its tool, or one that several
    people have to agree to. If the person changes the input, hooks see the call again, and may complete or
    reject it.

    Args:
        call: a call after the decisions of the hooks.
        asking: a function that gets the call and the reason why it waits. It returns True, False, the text of
            a refusal, or a decision; or None if nobody decided. None if nobody can be asked.
        hooks: as for `decide`.
    """
    if asking is None or call.state != "deferred" or call.question is not None or call.approvals > 1:
        return call
    shown = with_own_input(call)
    answer = await outcome_of(asking, shown)
    decision = _decision_of(answer, call.reason or "")
    after = decided(call.as_pending(), shown, decision)
    if answer is None:
        return call
    if after.state != "pending":
        log_decision(INFO, call, WHO, type(decision).__name__, one_line(after.reason or "", TEXT_LENGTH))
        return after
    if call.has_expired:  # the call may have expired while the person was asked
        return expired(call)
    log_agreement(after, WHO, type(decision).__name__)
    agreed = after.replace(approved=True)
    return agreed if agreed.input is call.input else await decide(agreed, hooks)


def _decision_of(answer: Any, reason: str) -> Any:
    """Convert the answer of a person to a decision."""
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
            shown = shown_answer(answer)
            message = f"confirm must return True, False, a string, a decision or None, not {shown}"
            raise TypeError(message)


# --- decisions about a round that waits -----------------------------------------------------------


def agreed(
    call: ToolCall[Any], given: object | None, by: str | None = None, words: str = ""
) -> ToolCall[Any]:
    """Return a deferred call with a person's approval: pending, or still deferred if others must agree too.

    Permission to run an interrupted call once more is separate from permission to run it at all.
    """
    if call.has_expired:
        message = (
            f"{shown_call(call.name, call.id)} has expired: nobody approved it in time. "
            "Run the round, or take round.with_expired(), so that the model reads it"
        )
        raise RoundError(message, 1)
    is_approved = call.approved if call.reason == INTERRUPTED else True
    decided = call.with_edits(by="person") if given is None else call.with_input(given, by="person")
    after = with_record(call, decided, "approve", "person", by, words)
    if call.approvals > 1:
        names = _people_agreeing(call, after, by)
        if len(names) < call.approvals:
            waits = after.replace(_wait=Wait(call.approvals, call.expires_at, names))
            log_agreement(waits, _name_of(by), "Approve", f"{len(names)} of {call.approvals}", words)
            return waits
    after = after.as_pending().replace(approved=is_approved)
    log_agreement(after, _name_of(by), "Approve", words)
    return after


def _people_agreeing(call: ToolCall[Any], after: ToolCall[Any], by: str | None) -> tuple[str, ...]:
    """Return who has agreed to the call: if the input was changed, only the person who changed it."""
    which = shown_call(call.name, call.id)
    if by is None:
        message = f"{which} needs {call.approvals} approvals by different people: say who agrees (by=…)"
        raise RoundError(message, 1)
    from ..tools.decision_records import compared_name  # it comes with the record of the decision

    earlier = call.approved_by if after.decisions[-1].arguments is None else ()
    if compared_name(by) in map(compared_name, earlier):
        message = (
            f"{one_line(by, _NAME_LENGTH)} has approved {which} already "
            f"({len(earlier)} of {call.approvals}): somebody else has to agree"
        )
        raise RoundError(message, 1)
    return (*earlier, by)


def refused(call: ToolCall[Any], reason: str, by: str | None = None, words: str = "") -> ToolCall[Any]:
    """Return a call as rejected by a person."""
    after = with_record(call, call.reject(reason), "reject", "person", by, words)
    log_decision(
        INFO, after, _name_of(by), "Reject", joined(one_line(after.reason or "", TEXT_LENGTH), words)
    )
    return after


def expired(call: ToolCall[Any]) -> ToolCall[Any]:
    """Return a call that nobody approved in time, with the result that says so."""
    after = with_record(call, call.expired(), "expire", "host")
    log_decision(INFO, after, "nobody", "Approve", "it has expired")
    return after


def _name_of(by: str | None) -> str:
    return "a person" if by is None else one_line(by, _NAME_LENGTH)


def answered(
    call: ToolCall[Any], question: Question, answer: object, by: str | None = None, words: str = ""
) -> ToolCall[Any]:
    """Return a deferred call as pending again, with the answer to its question."""
    codecs = [answer_codec(call.tool, question.parameter)]
    if question._answer_type is not None:  # noqa: SLF001  # a value of this room
        codecs.append(codec_of(question._answer_type))  # noqa: SLF001  # as above
    about = f"the answer for {call.name}"
    try:
        own = own_json(answer)
        for codec in codecs[1:]:
            codec.decode(own)
        own = answer_as_read(codecs[0], own, codecs[0].decode(own))
    except DecodeError as error:
        raise DecodeError(about, error.findings, error.expects) from None
    except ValueError as error:
        raise DecodeError(
            about, [Finding((), "invalid_json", f"the answer has to be JSON: {error}")]
        ) from None
    kept = [(name, value) for name, value in call._answers if name != question.parameter]  # noqa: SLF001  # as above
    answers = (*kept, (question.parameter, own))
    log_decision(INFO, call, _name_of(by), "Answer", joined(words))
    log_decision(DEBUG, call, _name_of(by), "Answer", excerpt(own, TEXT_LENGTH))
    after = with_record(call, call.with_edits(by="person"), "answer", "person", by, words)
    return after.as_pending().replace(approved=True, _answers=answers)
