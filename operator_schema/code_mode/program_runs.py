"""What does a person see of a program that waits, and what do their decisions change in its calls?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from ..immutable import Value
from ..message_text import count_of, listed, received
from ..rounds import Complete, Reject, RoundError
from .child import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .journal import JournalEntry, SavedProgram

    OneDecision = Literal["approve"] | Reject | Complete
    Decision = OneDecision | Literal["approve_plan", "approve_all"] | Sequence[OneDecision | None]

_INTERRUPTED = "it was interrupted: nobody knows whether it did its work"
"""The reason of a call that waits because its process died while it ran."""

_SHOWN = 5


class WaitingCall(Value):
    """A call of a program that waits for a person.

    Attributes:
        number: 0 for the first call of the program.
        name: name of the tool.
        arguments: the arguments as the program gave them, as JSON values.
        reason: the reason why it waits.
        is_interrupted: whether its process died while it ran, so that its work may be done already.
    """

    number: int
    name: str
    arguments: dict[str, Any]
    reason: str
    is_interrupted: bool


class ProgramRun(Value):
    """The state of a program so far.

    Attributes:
        id: the id of the program, for `session.resume`.
        state: `done`, `failed`, or `waiting` for a person.
        output: its printed text, bounded.
        value: the value of its last expression, as a JSON value; None until it is done.
        error: the reason why it failed, for the model; None if it didn't.
        plan: the waiting calls, in their order: the one that the program waits for, and the next ones that it
            makes without needing a result.
        revision: the revision of its state, so that two people who decide at the same time don't decide
            twice.
    """

    id: str
    state: Literal["done", "failed", "waiting"]
    output: str
    value: Any
    error: str | None
    plan: tuple[WaitingCall, ...]
    revision: int

    @property
    def waiting(self) -> WaitingCall | None:
        """The first call of the plan; None if no call waits."""
        return self.plan[0] if self.plan else None

    @property
    def text(self) -> str:
        """The text for the model."""
        parts = [self.output.rstrip("\n")]
        if self.plan:
            parts.append(f"The program waits for a person to agree to {_calls_of(self.plan)}.")
        elif self.error is not None:
            parts.append(f"The program failed:\n{self.error}")
        elif self.value is not None:
            parts.append(json.dumps(self.value, ensure_ascii=False))
        return "\n".join([part for part in parts if part]) or "null"


def _calls_of(plan: Sequence[WaitingCall]) -> str:
    names = list(dict.fromkeys([call.name for call in plan]))
    return names[0] if len(plan) == 1 else f"{count_of(len(plan), 'calls')} of {listed(names, _SHOWN)}"


def run_of(saved: SavedProgram, entries: Mapping[int, JournalEntry]) -> ProgramRun:
    """Return the state of a program; read its entries after the program, so that they aren't older."""
    ended = saved.ended or {"output": "", "value": None, "error": None}
    state: Any = saved.state if saved.state in {"done", "failed"} else "waiting"
    plan = _plan_of(entries) if state == "waiting" else ()
    return ProgramRun(saved.id, state, ended["output"], ended["value"], ended["error"], plan, saved.revision)


def _plan_of(entries: Mapping[int, JournalEntry]) -> tuple[WaitingCall, ...]:
    """Return the calls that wait for a person."""
    plan: list[WaitingCall] = []
    for number, entry in entries.items():
        is_interrupted = entry.state == "begun"
        if is_interrupted or entry.state == "waiting":
            reason = _INTERRUPTED if is_interrupted else (entry.outcome or {})["reason"]
            arguments = json.loads(entry.arguments)
            plan.append(WaitingCall(number, entry.name, arguments, reason, is_interrupted))
    return tuple(plan)


def decisions_by_number(plan: Sequence[WaitingCall], decision: Any) -> dict[int, OneDecision]:
    """Return the decision about each call, by its number.

    Raises:
        RoundError: there is a decision and no call waits, or a call waits without one; a list is too short.
        TypeError: something isn't a decision.
    """
    is_list = isinstance(decision, (list, tuple))
    given: list[Any] = [*decision] if is_list else [decision]
    words = {"approve"} if is_list else {"approve", "approve_plan", "approve_all"}
    for one in given:
        if not (
            one is None or isinstance(one, (Reject, Complete)) or (isinstance(one, str) and one in words)
        ):
            said = "the class Reject: write Reject('why')" if one is Reject else received(one)
            message = (
                'decide by "approve", Reject, Complete or a list of these; or, alone, by "approve_plan" or '
                f'"approve_all"; not by {said}'
            )
            raise TypeError(message)
    if bool(plan) != (decision is not None):
        message = "a call waits: decide about it" if plan else "no call waits: give no decision"
        raise RoundError(message)
    if is_list and len(given) != len(plan):
        message = f"the plan has {count_of(len(plan), 'calls')}, and the list {len(given)}"
        raise RoundError(message)
    given = ["approve"] * len(plan) if decision in ("approve_plan", "approve_all") else given
    return {call.number: one for call, one in zip(plan, given, strict=False) if one is not None}


def decided(entry: JournalEntry, decision: OneDecision) -> JournalEntry:
    """Return the entry of a call after a decision; it also records whether the call may have run before."""
    ran = {"interrupted": True} if may_have_run(entry) else {}
    match decision:
        case Reject(reason=reason):
            outcome = {"code": "rejected", "content": f"This call was rejected: {reason}", "json": None}
            return entry.replace(state="answered", outcome={**outcome, **ran})
        case Complete(output=output):
            outcome = {"code": None, "content": "", "json": as_json(output)}
            return entry.replace(state="answered", outcome={**outcome, **ran})
        case _:
            # Permission to run again doesn't approve a call that was never approved.
            needs_more = bool(ran) and entry.state == "begun" and not (entry.outcome or {}).get("approved")
            return entry.replace(state="again" if needs_more else "approved", outcome=ran or None)


def may_have_run(entry: JournalEntry) -> bool:
    """Return whether a call ran or began to run, so that it must not be replaced by another one."""
    return entry.state in {"begun", "done"} or "interrupted" in (entry.outcome or {})
