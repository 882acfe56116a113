"""Which calls of a store wait for a person, and what happens after a person decides about one?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from ...errors import DecodeError, EncodeError, ToolError
from ...message_text import clip
from ...rounds import MAYBE_SIGNED, RestoreError, RoundError, call_text
from .decode_call import finding_as_dict
from .input_forms import form_of
from .run_call import result_as_dict

if TYPE_CHECKING:
    from ...rounds import Round, Store, StuckRound, ToolCall, WaitingRound
    from ...tools import RawCall
    from .subject import Subject

_MOST_ROUNDS = 20
_MOST_STUCK = 100
_LONGEST_NAME = 200
_LONGEST_TEXT = 200_000
_CAUSES = (DecodeError, EncodeError, RestoreError, RoundError, ToolError)


class DecisionError(ValueError):
    """A decision can't be carried out; the message says why."""


@dataclass(frozen=True)
class Decision:
    """A person's decision about one call.

    Attributes:
        round_id: the id of the round.
        call: the position of the call in its turn.
        seen: the data of `round_as_dict` for the call as the person saw it: the decision applies to nothing
            else.
        action: the kind of decision.
        value: other arguments, or None; the reason, as text; or the answer.
        words: the words of the person, for the record; the model doesn't see them.
    """

    round_id: str
    call: int
    seen: str
    action: Literal["approve", "reject", "answer"]
    value: Any = None
    words: str = ""


def waiting_rounds(subject: Subject, store: Store, **filters: Any) -> dict[str, Any]:
    """Return a page of the rounds that wait in a store, and those whose process may have died.

    Args:
        subject: has the tools.
        store: where the rounds wait.
        filters: as for `store.waiting`: `conversation`, `tool`, `older_than`, `state`, `after`.

    Returns:
        The `rounds`, the oldest first; `after`, which is None or the position for the next page; how many
        there are in all (`counts`); and those that are `stuck`.
    """
    counts, found = store.counts(), store.waiting(**filters, limit=_MOST_ROUNDS + 1)
    page = found[:_MOST_ROUNDS]
    return {
        "rounds": [_waiting_as_dict(subject, store, one) for one in page],
        "after": page[-1].position if len(found) > len(page) else None,
        "counts": {name: getattr(counts, name) for name in counts.__slots__},
        "stuck": [_stuck_as_dict(one) for one in store.stuck()[:_MOST_STUCK]],
    }


def _waiting_as_dict(subject: Subject, store: Store, one: WaitingRound) -> dict[str, Any]:
    about = {"since": one.since, "conversation": one.conversation, "about": one.about}
    try:
        return {**round_as_dict(store.load(one.id, subject.toolset)), **about}
    except (RestoreError, RoundError) as error:
        return {"id": one.id, "problem": _text_of_error(error), "calls": [], **about}


def _stuck_as_dict(one: StuckRound) -> dict[str, Any]:
    return {
        "id": one.id,
        "seconds": one.seconds,
        "calls": [_name_of_call(call) for call in one.calls],
        "has_begun": one.has_begun,
        "is_running": one.is_running,
        "owner": None if one.owner is None else str(one.owner),
        "conversation": one.conversation,
    }


def _name_of_call(call: RawCall) -> str:
    return f"{clip(call.name, _LONGEST_NAME)} (call {clip(call.id, _LONGEST_NAME)})"


def _text_of_error(error: Exception) -> str:
    """Return the text of an exception for the person who started the page and gave the secret."""
    return clip(str(error).replace(MAYBE_SIGNED, _MAYBE_SIGNED), _LONGEST_TEXT)


_MAYBE_SIGNED = " (or they were signed: give the variable that holds the secret, with --secret-env NAME)"


def round_as_dict(work: Round[Any]) -> dict[str, Any]:
    """Return a round as JSON values, with the facts that a person needs about each call."""
    return {
        "id": work.id,
        "problem": None,
        "is_complete": work.is_complete,
        "pending": len(work.pending),
        "calls": [_call_as_dict(call) for call in work.calls],
    }


def _call_as_dict(call: ToolCall[Any]) -> dict[str, Any]:
    result = call.result
    question = call.question
    shown = {
        "index": call.index,
        "id": call.id,
        "tool": call.name,
        "state": call.state,
        "approved": call.approved,
        "since": call.deferred_at,
        "expires_at": call.expires_at,
        "approvals": call.approvals,
        "decisions": [one.as_dict() for one in call.decisions],
        "reason": call.reason,
        "text": call_text(call) if call.has_input else call.content,
        "arguments": _arguments_of(call),
        "answers": call.answers,
        "findings": [finding_as_dict(finding) for finding in call.findings],
        "result": None if result is None else result_as_dict(result),
        "question": None
        if question is None
        else {"text": question.text, "form": form_of(question.answer_schema)},
    }
    return {**shown, "seen": sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()}


def _arguments_of(call: ToolCall[Any]) -> Any:
    try:
        return call.arguments
    except (EncodeError, RoundError, ToolError):
        return None


def decide(subject: Subject, store: Store, decision: Decision, by: str | None = None) -> dict[str, Any]:
    """Decide about a call that waits, and save the round; nothing is run.

    Args:
        subject: has the tools.
        store: where the round waits.
        decision: the decision.
        by: the name of the person who decides, for the record.

    Returns:
        The round, as from `round_as_dict`.

    Raises:
        DecisionError: the decision doesn't fit, the call waits for something else than what the person saw,
            or the round is done or was changed meanwhile.
    """
    before = load_round(subject, store, decision.round_id)
    if any(
        _call_as_dict(call)["seen"] != decision.seen for call in before.calls if call.index == decision.call
    ):
        message = "this call isn't as it was shown any more: load the page again and look at it"
        raise DecisionError(message)
    try:
        return round_as_dict(store.save(_with_decision(before, decision, by)))
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error


def load_round(subject: Subject, store: Store, round_id: str) -> Round[Any]:
    """Return a round that waits.

    Raises:
        DecisionError: the round is done, is running, or no longer fits the tools.
    """
    try:
        return store.load(round_id, subject.toolset)
    except _CAUSES as error:
        raise DecisionError(_text_of_error(error)) from error


def _with_decision(work: Round[Any], decision: Decision, by: str | None) -> Round[Any]:
    said: dict[str, Any] = {"by": by, "words": decision.words}
    found = [call for call in work.calls if call.index == decision.call]  # its number may be another's id
    which = found[0] if found else decision.call  # the round says what is wrong
    match decision.action:
        case "approve":
            return work.approve(which, arguments=decision.value, **said)
        case "reject":
            return work.reject(which, str(decision.value or ""), **said)
        case "answer":
            return work.answer(which, decision.value, **said)


async def run_round(subject: Subject, store: Store, work: Round[Any]) -> dict[str, Any]:
    """Run the approved calls of a round, and save it; your program commits it.

    Args:
        subject: the subject with the tools.
        store: the store in which the round waits.
        work: the round as a person saw it; if it was changed since then, it doesn't run.

    Raises:
        DecisionError: no call is to be run, or the round is done, was changed, or is running elsewhere.
    """
    executor = subject.executor.with_(store=store)
    if not work.pending:
        message = "this round has no approved call to run"
        raise DecisionError(message)
    try:
        return round_as_dict(await executor.run(work, context=subject.context, confirm=_decide_later))
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error


def _decide_later(_call: object) -> None:
    """Return that nobody decided yet, so that the page asks, instead of the executor's own function."""
