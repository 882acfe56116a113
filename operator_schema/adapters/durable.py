"""How does a round go through the steps of a durable engine, such as DBOS, Prefect, Restate or Temporal?

Such an engine keeps what each step took and returned, and runs a program again from there after a crash. So
a round goes in and out as text. A step whose process died in the middle runs a second time. If the executor
has a store, its calls don't: those that had begun wait for a person.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any, cast

from ..codec.codec import Codec
from ..findings import Finding
from ..lazy import answer_misnamed
from ..message_text import received
from ..rounds import RestoreError, RoundError, StoreError, in_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..execution import Executor
    from ..rounds import Round, Store, StoredTranscript, Turn

__all__ = ["CallDecision", "commit_round", "restored_round", "run_round", "saved_round", "waiting_calls"]

answer_misnamed(__name__)


@dataclass(frozen=True, kw_only=True)
class CallDecision:
    """What a person decided about a call that waits; as JSON, it is what a step takes.

    Attributes:
        call: the id of the call.
        approve: whether the call may run.
        by: who decided.
        words: what this person says of it, for the record; the model doesn't see it.
        reason: what the model reads if the call is rejected.
        arguments: other arguments to run the call with; None for those of the model.
    """

    call: str
    approve: bool
    by: str | None = None
    words: str = ""
    reason: str = ""
    arguments: dict[str, Any] | None = None


_DECISIONS: Codec[list[CallDecision]] = Codec(list[CallDecision], unknown_fields="reject")


def saved_round(work: Round[Any], *, secret: bytes | None = None) -> str:
    """Return a round as text, for the first step that runs it.

    Make the round inside a step too: its id is random.

    Args:
        work: the round.
        secret: signs the text; needed if others can write where the engine keeps it.
    """
    return json.dumps({"revision": work.revision, "round": work.as_dict(secret=secret)})


def restored_round(executor: Executor, saved: str, *, secret: bytes | None = None) -> Round[Any]:
    """Return the round that a text holds, with the tools of an executor.

    Args:
        executor: has the tools.
        saved: what `saved_round` or `run_round` returned.
        secret: that of `saved_round`.

    Raises:
        RestoreError: the text isn't one of a round, or the round doesn't fit the tools any more.
    """
    data = _read(saved)
    found: Round[Any] = executor.registry.toolset.restore_round(data["round"], secret=secret)
    return found.replace(revision=data["revision"])


def _read(saved: str) -> dict[str, Any]:
    """Return what `saved_round` wrote, whose round isn't checked yet.

    Raises:
        RestoreError: it is something else.
    """
    try:
        match json.loads(saved):
            case {"revision": int() | None, "round": {"calls": [*_]}, **rest} as data if not rest:
                return cast("dict[str, Any]", data)
            case _:
                pass  # as below
    except (TypeError, ValueError, RecursionError):
        pass  # as below
    message = f"the text must be one that saved_round wrote, not {received(saved)}"
    raise RestoreError([Finding((), "not_a_round", message, tool="")])


async def run_round(
    executor: Executor,
    saved: str,
    decisions: Iterable[Mapping[str, Any]] = (),
    *,
    secret: bytes | None = None,
) -> str:
    """Decide about the calls of a round that wait, and run those that may run; this is one step.

    If the executor has a store, the step may be repeated: what an earlier attempt finished isn't run again,
    and what it had only begun waits for a person. As long as the earlier attempt may still run, by the lease
    of its store, this one waits.

    Args:
        executor: runs the calls.
        saved: what `saved_round`, or the step before, returned.
        decisions: the attributes of a `CallDecision` each, as JSON.
        secret: that of `saved_round`.

    Returns:
        The round as text again.

    Raises:
        DecodeError: something isn't a decision.
        RestoreError: as for `restored_round`.
        RoundError: no such call waits, or it can't be decided on so.
        StoreError: the database can't be used, or the round is done.
    """
    decided = _DECISIONS.decode([dict(each) for each in decisions])
    work = restored_round(executor, saved, secret=secret)
    if executor.store is not None:
        sent = work
        while (found := await in_thread(lambda: _known_to(executor, sent))) is None:
            await in_thread(lambda: sleep(_PAUSE))
        work = found
        if work.revision != sent.revision:  # an earlier attempt of this step came further, and has decided
            decided = []
            if not work.pending:
                return saved_round(work, secret=secret)
    for each in decided:
        work = _with_decision(work, each)
    return saved_round(await executor.run(work), secret=secret)


def _known_to(executor: Executor, sent: Round[Any]) -> Round[Any] | None:
    """Return a round as its store has it, after taking it back from a process that died.

    Returns:
        None if another process may still run it.
    """
    store: Store = executor.store
    toolset = executor.registry.toolset
    try:
        return store.load(sent.id, toolset)
    except StoreError as error:
        if error.code == "done" and sent.revision is None:
            return sent  # it is new; if its turn is there already, the executor says so
        if error.code != "running":
            raise
    try:
        return store.take_back(sent.id, toolset)
    except StoreError as error:
        if error.code != "running":
            raise
        return None


_PAUSE = 0.5
"""Seconds between two looks at a round that another process may still run."""


def _with_decision(work: Round[Any], decided: CallDecision) -> Round[Any]:
    if not decided.approve:
        return work.reject(decided.call, decided.reason, by=decided.by, words=decided.words)
    arguments = decided.arguments
    return work.approve(decided.call, arguments=arguments, by=decided.by, words=decided.words)


def waiting_calls(saved: str) -> list[dict[str, Any]]:
    """List the calls of a round that wait, as JSON for the people who decide.

    Args:
        saved: what `run_round` returned.

    Returns:
        `id`, `name`, `arguments` and `reason` of each; empty if no call waits. The arguments are what will
        run: with defaults, and as hooks and people left them.

    Raises:
        RestoreError: the text isn't one of a round.
    """
    waiting = [call for call in _read(saved)["round"]["calls"] if call["state"] == "deferred"]
    return [
        {
            "id": call["id"],
            "name": call["name"],
            "arguments": call.get("input", call["arguments"]),  # an input that isn't JSON is as it was sent
            "reason": call.get("reason"),
        }
        for call in waiting
    ]


async def commit_round(
    executor: Executor, saved: str, history: StoredTranscript, *, secret: bytes | None = None
) -> Turn:
    """Append the turn of a complete round to a stored transcript, once; this is one step.

    Args:
        executor: has the tools.
        saved: what `run_round` returned.
        history: the transcript.
        secret: that of `saved_round`.

    Returns:
        The turn; if an earlier attempt has appended it, the one that is there.

    Raises:
        CommitError: a call still waits.
        RoundError: it can't be committed.
    """
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
"""Items at the end of a transcript, among which the turn is if an earlier attempt of a step appended it."""
