"""Which rounds wait in a store, and how does a person decide about their calls?"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..errors import DecodeError, EncodeError, RestoreError, ToolError
from ..immutable import Value
from ..message_text import clip
from ..rounds import RoundError, call_text
from .forms import form_of
from .readings import finding_as_dict
from .run_call import result_as_dict, undecided

if TYPE_CHECKING:
    from ..rounds import Round, SqliteStore, ToolCall
    from .subject import Subject

__all__ = [
    "Decision",
    "DecisionError",
    "decide",
    "load_round",
    "round_as_dict",
    "run_round",
    "waiting_rounds",
]

_MOST_ROUNDS = 100
_LONGEST_TEXT = 200_000
_CAUSES = (DecodeError, EncodeError, RestoreError, RoundError, ToolError)


class DecisionError(ValueError):
    """A decision isn't taken; the text says why."""


class Decision(Value):
    """What a person decides about one call.

    Attributes:
        round_id: of the round.
        call: position of the call in its turn.
        action: `approve`, `reject` or `answer`.
        value: other arguments, or None; the reason, as text; the answer.
    """

    round_id: str
    call: int
    action: str
    value: Any = None


def waiting_rounds(subject: Subject, store: SqliteStore) -> dict[str, Any]:
    """Return the rounds that wait in a store, the oldest first, and those whose process may have died."""
    ids = store.waiting()
    rounds = [_shown(subject, store, round_id) for round_id in ids[:_MOST_ROUNDS]]
    stuck = [{"id": one.id, "seconds": one.seconds} for one in store.stuck()]
    return {"rounds": rounds, "more": max(0, len(ids) - _MOST_ROUNDS), "stuck": stuck}


def _shown(subject: Subject, store: SqliteStore, round_id: str) -> dict[str, Any]:
    try:
        return round_as_dict(store.load(round_id, subject.toolset))
    except (RestoreError, RoundError) as error:
        return {"id": round_id, "problem": clip(str(error), _LONGEST_TEXT), "calls": []}


def round_as_dict(work: Round[Any]) -> dict[str, Any]:
    """Return a round as JSON values, with what a person has to know about each call."""
    return {
        "id": work.id,
        "problem": None,
        "is_complete": work.is_complete,
        "pending": len(work.pending),
        "calls": [_call(call) for call in work.calls],
    }


def _call(call: ToolCall[Any]) -> dict[str, Any]:
    result = call.result
    question = call.question
    return {
        "index": call.index,
        "id": call.id,
        "tool": call.name,
        "state": call.state,
        "approved": call.approved,
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


def _arguments_of(call: ToolCall[Any]) -> Any:
    try:
        return call.arguments
    except (EncodeError, RoundError, ToolError):
        return None


def decide(subject: Subject, store: SqliteStore, decision: Decision) -> dict[str, Any]:
    """Decide about a call that waits, and save the round; nothing is run.

    Returns:
        The round, as `round_as_dict` returns it.

    Raises:
        DecisionError: it doesn't fit, or the round is done or was changed meanwhile.
    """
    before = load_round(subject, store, decision.round_id)
    try:
        after = _decided(before, decision)
        return round_as_dict(store.keep(store.claim(after), after))
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error


def load_round(subject: Subject, store: SqliteStore, round_id: str) -> Round[Any]:
    """Return a round that waits.

    Raises:
        DecisionError: it is done, runs now, or doesn't fit the tools any more.
    """
    try:
        return store.load(round_id, subject.toolset)
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error


def _decided(work: Round[Any], decision: Decision) -> Round[Any]:
    match decision.action:
        case "approve":
            return work.approve(decision.call, arguments=decision.value)
        case "reject":
            return work.reject(decision.call, str(decision.value or ""))
        case "answer":
            return work.answer(decision.call, decision.value)
        case other:
            message = f"a decision is approve, reject or answer, not {clip(repr(other), 100)}"
            raise DecisionError(message)


async def run_round(subject: Subject, store: SqliteStore, round_id: str) -> dict[str, Any]:
    """Run the calls of a round that are approved, and save it; your program commits it.

    Raises:
        DecisionError: nothing is to be run, or the round is done, or runs elsewhere.
    """
    executor = subject.executor.with_(store=store)
    work = await asyncio.to_thread(load_round, subject, store, round_id)
    if not work.pending:
        message = "this round has no approved call to run"
        raise DecisionError(message)
    try:
        return round_as_dict(await executor.run(work, context=subject.context, confirm=undecided))
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error
