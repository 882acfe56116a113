"""How does a round go through the steps of a durable engine, such as DBOS, Prefect, Restate or Temporal?

Such an engine keeps what each step took and returned, and runs a program again from there after a crash. So
a round goes in and out as text. A step whose process died in the middle runs a second time. If the executor
has a store, its calls don't: those that had begun wait for a person.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING, Any

from ..codec.codec import Codec
from ..lazy import answer_misnamed
from ..message_text import received
from ..rounds import RoundError, StoreError, in_thread

if TYPE_CHECKING:
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

    Raises:
        TypeError: it isn't a round.
    """
    if not hasattr(work, "as_dict") or not hasattr(work, "revision"):
        message = f"a round is saved, such as toolset.offer().round(answer), not {received(work)}"
        raise TypeError(message)
    return json.dumps({"revision": work.revision, "round": work.as_dict(secret=secret)})


def restored_round(executor: Executor, saved: str, *, secret: bytes | None = None) -> Round[Any]:
    """Return the round that a text holds, with the tools of an executor.

    Args:
        executor: has the tools.
        saved: what `saved_round` or `run_round` returned.
        secret: that of `saved_round`.

    Raises:
        RestoreError: the round doesn't fit the tools any more, or was changed.
        TypeError: the executor isn't one, or the round isn't text.
        ValueError: the text isn't one of a round.
    """
    if not hasattr(executor, "registry"):
        message = f"expected an executor, not {received(executor)}: write Executor(toolset)"
        raise TypeError(message)
    revision, data = _contents(saved)
    found: Round[Any] = executor.registry.toolset.restore_round(data, secret=secret)
    return found.replace(revision=revision)


def _contents(saved: object) -> tuple[int | None, dict[str, Any]]:
    """Return the revision and the round that a text holds.

    Raises:
        TypeError: it isn't text.
        ValueError: it isn't the text of a round.
    """
    expected = "a saved round must be the text that saved_round or run_round returned, not"
    if not isinstance(saved, str):
        remedy = ": write saved_round(round)" if hasattr(saved, "as_dict") else ""
        message = f"{expected} {received(saved)}{remedy}"
        raise TypeError(message)
    try:
        data = json.loads(saved)
        return data["revision"], {**data["round"]}
    except (KeyError, TypeError, ValueError, RecursionError):
        message = f"{expected} {received(saved)}"
        raise ValueError(message) from None


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
        RestoreError, TypeError, ValueError: as for `restored_round`.
        RoundError: no such call waits, or it can't be decided on so.
        StoreError: the database can't be used, or the round is done.
    """
    decided = _DECISIONS.decode(_as_json(decisions))
    work = restored_round(executor, saved, secret=secret)
    if executor.store is not None:
        sent = work
        while (found := await in_thread(lambda: _known_to(executor, sent))) is None:
            await in_thread(lambda: sleep(_PAUSE))
        work = found
        if work.revision != sent.revision:  # an earlier attempt of this step came further
            return saved_round(work, secret=secret)
    for each in decided:
        work = _with_decision(work, each)
    return saved_round(await executor.run(work), secret=secret)


def _as_json(decisions: object) -> Any:
    """Return decisions as JSON values; the codec refuses whatever isn't a list of objects."""
    if isinstance(decisions, (str, Mapping)) or not isinstance(decisions, Iterable):
        return decisions  # pyright: ignore[reportUnknownVariableType]  # of any type
    return [dict(each) if isinstance(each, Mapping) else each for each in decisions]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # as above


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
        `id`, `name`, `arguments` and `reason` of each; empty if the round is complete.

    Raises:
        TypeError: it isn't text.
        ValueError: it isn't the text of a round.
    """
    _, data = _contents(saved)
    return [
        {"id": call["id"], "name": call["name"], "arguments": call["arguments"], "reason": call.get("reason")}
        for call in data["calls"]
        if call["state"] == "deferred"
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
        RestoreError, TypeError, ValueError: as for `restored_round`.
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
