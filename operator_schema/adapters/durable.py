"""Steps for a durable engine, such as DBOS, Prefect, Restate or Temporal, that runs a round.

Such an engine stores the arguments and the result of each step, and continues a program from there after a
crash. So a round is passed in and out as text. If a process dies in the middle of a step, the step runs a
second time. With a store in the executor, the calls don't: those that had begun wait for a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any, cast

from ..codec.codec import Codec
from ..findings import Finding
from ..lazy import answer_misnamed
from ..message_text import received
from ..rounds import RestoreError, RoundError, StoreError, in_thread

if TYPE_CHECKING:
    from ..execution import Executor
    from ..rounds import Round, Store, StoredTranscript, Turn

__all__ = ["CallDecision", "commit_round", "restored_round", "run_round", "saved_round", "waiting_calls"]

answer_misnamed(__name__)


@dataclass(frozen=True, kw_only=True)
class CallDecision:
    """A person's decision about a call that waits; as JSON, it is an argument of a step.

    Attributes:
        call: the id of the call.
        approve: whether the call may run; None if `answer` is given.
        by: the name of the person.
        words: the comment of this person, for the record; the model doesn't see it.
        reason: the text for the model if the call is rejected.
        arguments: other arguments for the call; None for those of the model.
        answer: the answer to the question of the call, as a JSON value; None if it asks nothing.
    """

    call: str
    approve: bool | None = None
    by: str | None = None
    words: str = ""
    reason: str = ""
    arguments: dict[str, Any] | None = None
    answer: Any = None

    def __post_init__(self) -> None:
        if self.answer is None and self.approve is None:
            message = "a decision needs approve, or the answer to a question"
            raise ValueError(message)
        if self.answer is not None and (self.approve is False or self.arguments is not None):
            message = "an answer lets the call run as it is: leave out approve and arguments"
            raise ValueError(message)


_DECISIONS: Codec[list[CallDecision]] = Codec(list[CallDecision], unknown_fields="reject")


def saved_round(work: Round[Any], *, secret: bytes | None = None) -> str:
    """Return a round as text, for the first step that runs it.

    Make the round inside a step too, because its id is random.

    Args:
        work: the round.
        secret: the key that signs the text; needed if others can write to the engine's storage.

    Raises:
        TypeError: `work` isn't a round.
    """
    if not hasattr(work, "as_dict") or not hasattr(work, "revision"):
        message = f"a round is saved, such as toolset.offer().round(answer), not {received(work)}"
        raise TypeError(message)
    return json.dumps({"revision": work.revision, "round": work.as_dict(secret=secret)})


def restored_round(executor: Executor, saved: str, *, secret: bytes | None = None) -> Round[Any]:
    """Return the round from a text, with the tools of an executor.

    Args:
        executor: the executor with the tools.
        saved: the text from `saved_round` or `run_round`.
        secret: the secret given to `saved_round`.

    Raises:
        RestoreError: the text isn't a round, or the round no longer fits the tools.
        TypeError: `executor` isn't an executor, or `saved` isn't text.
    """
    if not hasattr(executor, "registry"):
        message = f"expected an executor, not {received(executor)}: write Executor(toolset)"
        raise TypeError(message)
    data = _read(saved)
    found: Round[Any] = executor.registry.toolset.restore_round(data["round"], secret=secret)
    return found.replace(revision=data["revision"])


def _read(saved: object) -> dict[str, Any]:
    """Read the text of `saved_round`; the round in it isn't checked yet."""
    expected = "a saved round must be the text that saved_round or run_round returned, not"
    if not isinstance(saved, str):
        remedy = ": write saved_round(round)" if hasattr(saved, "as_dict") else ""
        message = f"{expected} {received(saved)}{remedy}"
        raise TypeError(message)
    try:
        match json.loads(saved):
            case {"revision": int() | None, "round": {"calls": [*_]}, **rest} as data if not rest:
                return cast("dict[str, Any]", data)
            case _:
                pass  # as below
    except (ValueError, RecursionError):
        pass  # as below
    raise RestoreError([Finding((), "not_a_round", f"{expected} {received(saved)}", tool="")])


async def run_round(
    executor: Executor,
    saved: str,
    decisions: Iterable[Mapping[str, Any]] = (),
    *,
    secret: bytes | None = None,
) -> str:
    """Decide about the calls of a round that wait, and run those that may run; this is one step.

    If the executor has a store, the step may be repeated: calls that an earlier attempt finished don't run
    again, and calls that it had only begun wait for a person. While the earlier attempt may still be running,
    according to the lease of its store, this one waits.

    Args:
        executor: the executor that runs the calls.
        saved: the text from `saved_round`, or from the step before.
        decisions: the decisions, each as a JSON object with the attributes of a `CallDecision`. One about a
            call that has expired by now changes nothing: the model reads that it has expired.
        secret: the secret given to `saved_round`.

    Returns:
        The round as text again.

    Raises:
        DecodeError: an item isn't a decision.
        RestoreError, TypeError: as for `restored_round`.
        RoundError: no such call waits, or the decision isn't possible for it.
        StoreError: the database can't be used, or the round is done.
    """
    decided = _DECISIONS.decode(_as_json(decisions))
    work = restored_round(executor, saved, secret=secret)
    if executor.store is not None:
        sent = work
        while (found := await in_thread(lambda: _known_to(executor, sent))) is None:
            await in_thread(lambda: sleep(_PAUSE))
        work = found
        if work.revision != sent.revision:  # an earlier attempt of this step got further, and has decided
            decided = []
            if not work.pending:
                return saved_round(work, secret=secret)
    for each in decided:
        work = _with_decision(work.with_expired(), each)
    return saved_round(await executor.run(work), secret=secret)


def _as_json(decisions: object) -> Any:
    """Return decisions as JSON values; the codec refuses whatever isn't a list of objects."""
    if isinstance(decisions, (str, Mapping)) or not isinstance(decisions, Iterable):
        return decisions  # pyright: ignore[reportUnknownVariableType]  # of any type
    return [dict(each) if isinstance(each, Mapping) else each for each in decisions]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # as above


def _known_to(executor: Executor, sent: Round[Any]) -> Round[Any] | None:
    """Return a round in the state of its store, after taking it back from a process that died.

    Returns:
        None if another process may still be running it.
    """
    store: Store = executor.store
    toolset = executor.registry.toolset
    try:
        return store.load(sent.id, toolset)
    except StoreError as error:
        if error.code == "done" and sent.revision is None:
            return sent  # it is new; if its turn was committed already, the executor reports it
        if error.code != "running":
            raise
    try:
        return store.take_back(sent.id, toolset)
    except StoreError as error:
        if error.code != "running":
            raise
        return None


_PAUSE = 0.5
"""How many seconds pass before the next check of a round that another process may be running."""


def _with_decision(work: Round[Any], decided: CallDecision) -> Round[Any]:
    """Return a round after a decision; if it is too late, the model reads that the call has expired."""
    said: dict[str, Any] = {"by": decided.by, "words": decided.words}
    try:
        if decided.answer is not None:
            return work.answer(decided.call, decided.answer, **said)
        if decided.approve:
            return work.approve(decided.call, arguments=decided.arguments, **said)
        return work.reject(decided.call, decided.reason, **said)
    except RoundError:
        work = work.with_expired()  # the call may have expired a moment ago
        if not any(call.id == decided.call and call.code == "expired" for call in work.calls):
            raise
        return work


def waiting_calls(saved: str) -> list[dict[str, Any]]:
    """List the calls of a round that wait, as JSON for the people who decide.

    Args:
        saved: the text from `run_round`.

    Returns:
        `id`, `name`, `arguments` and `reason` of each; empty if no call waits. The arguments are what will
        run: with defaults, and as hooks and people left them. A call that asks something also has its
        `question`, with the `text` and the `answer_schema`.

    Raises:
        RestoreError: the text isn't one of a round.
        TypeError: `saved` isn't text.
    """
    waiting = [call for call in _read(saved)["round"]["calls"] if call["state"] == "deferred"]
    return [
        {
            "id": call["id"],
            "name": call["name"],
            "arguments": call.get("input", call["arguments"]),  # an input that isn't JSON is as it was sent
            "reason": call.get("reason"),
            **_question_of(call),
        }
        for call in waiting
    ]


def _question_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of a saved call, if it has one."""
    asked = call.get("question")
    if asked is None:
        return {}
    return {"question": {"text": asked["text"], "answer_schema": asked["answer_schema"]}}


async def commit_round(
    executor: Executor, saved: str, history: StoredTranscript, *, secret: bytes | None = None
) -> Turn:
    """Append the turn of a complete round to a stored transcript, once; this is one step.

    Args:
        executor: the executor with the tools.
        saved: the text from `run_round`.
        history: the transcript.
        secret: the secret given to `saved_round`.

    Returns:
        The turn; if an earlier attempt has appended it, the existing one.

    Raises:
        CommitError: a call still waits.
        RestoreError: as for `restored_round`.
        RoundError: the round can't be committed.
        TypeError: as for `restored_round`, or the transcript isn't in a store.
    """
    if not hasattr(history, "last"):
        message = f"expected the transcript of a store, not {received(history)}: write store.transcript(name)"
        raise TypeError(message)
    work = restored_round(executor, saved, secret=secret)
    try:
        return await work.acommit(history)
    except RoundError:
        there: list[Any] = await in_thread(lambda: history.last(_RECENT))
        turn: Turn | None = next((item for item in there if getattr(item, "id", None) == work.id), None)
        if turn is None:
            raise
        return turn


_RECENT = 100
"""The number of last items of a transcript among which a turn from an earlier attempt must be."""
