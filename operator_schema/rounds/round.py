"""One turn of the model: its calls, decoded, and those that can't be run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from ..immutable import Value
from ..tools.execution.checks import checked_calls
from ..wording import received
from .decoding import decode_call
from .errors import RoundError
from .offer import Offer
from .own_json import MESSAGE_DEPTH, NotJSONError, own_json
from .plan import ToolRoundPlan
from .settlement import Settlement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..tools.calls import RawCall
    from ..tools.execution.rounds import Asking, Limited, RunAll, Wording
    from .commit import Given
    from .plan import AnyHooks
    from .tool_call import CallIssue, ToolCall
    from .toolset import Toolset
    from .transcript import Transcript, Turn

__all__ = ["ModelAnswer", "ToolRound", "make_round"]

Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word


class ModelAnswer(Protocol):
    """What a provider reads of a response: calls, and the message that they are a part of."""

    @property
    def calls(self) -> Iterable[RawCall]:
        """The calls, in the order of the turn."""
        ...

    @property
    def message(self) -> Any:
        """The rest of the model's turn, as JSON."""
        ...


class ToolRound(Value, Generic[Input]):
    """One turn of the model that called tools; made by `toolset.round`. It runs nothing by itself.

    Run the calls yourself and `commit` their results, let hooks decide first (`apply`), or leave the
    whole turn to an executor (`executor.execute_round`).
    """

    _plan: ToolRoundPlan[Input]

    if not TYPE_CHECKING:  # for speed alone, as in `introspect/nodes.py`

        def __new__(cls, _plan):
            self = cls._draft()
            self._plan = _plan
            self.__class__ = cls
            return self

    @property
    def id(self) -> str:
        """The id of the round, made at random."""
        return self._plan.id

    @property
    def toolset(self) -> Toolset[Input]:
        """The toolset whose tools are called."""
        return self._plan.toolset

    @property
    def offered(self) -> tuple[str, ...]:
        """The names of the tools that the request offered."""
        return self._plan.offered

    @property
    def calls(self) -> tuple[ToolCall[Input], ...]:
        """The calls whose arguments fit, in the order of the turn."""
        return self._plan.pending

    @property
    def issues(self) -> tuple[CallIssue, ...]:
        """The calls that can't be run, each with what the model reads about it."""
        return self._plan.issues

    @property
    def continue_suggestion(self) -> str | None:
        """Why the model should get another turn: some of its calls could not be used. Otherwise None."""
        return self._plan.continue_suggestion

    def expect_one(self) -> ToolCall[Input]:
        """Return the only call.

        Raises:
            RoundError: there are more or fewer; `count` says how many.
        """
        call = self.expect_at_most_one()
        if call is None:
            message = f"expected one call, and there is none{self._and_issues()}"
            raise RoundError(message, 0)
        return call

    def expect_at_most_one(self) -> ToolCall[Input] | None:
        """Return the only call, or None if there is none.

        Raises:
            RoundError: there are more; `count` says how many.
        """
        calls = self.calls
        if len(calls) > 1:
            message = f"expected one call, and there are {len(calls)}{self._and_issues()}"
            raise RoundError(message, len(calls))
        return calls[0] if calls else None

    def _and_issues(self) -> str:
        number = len(self.issues)
        return f" (and {number} that can't be run: see issues)" if number else ""

    def plan(self) -> ToolRoundPlan[Input]:
        """Return the plan without any hooks: calls of tools that say `confirm=True` are deferred.

        Raises:
            RoundError: the round was committed or discarded.
        """
        return self._plan.confirmed()

    async def apply(self, hooks: AnyHooks | None = None, /) -> ToolRoundPlan[Input]:
        """Let hooks decide about the calls; see `ToolRoundPlan.apply`."""
        return await self._plan.apply(hooks)

    def commit(self, transcript: Transcript, results: Iterable[Given] = (), /) -> Turn:
        """Append the turn with these results to a transcript; see `ToolRoundPlan.commit`."""
        return self._plan.commit(transcript, results)

    def discard(self) -> None:
        """Drop the turn; see `ToolRoundPlan.discard`."""
        self._plan.discard()

    async def execute_with(
        self,
        run_all: RunAll,
        hooks: AnyHooks | None = None,
        asking: Asking | None = None,
        wording: Wording | None = None,
        limited: Limited | None = None,
        /,
    ) -> ToolRoundPlan[Input]:
        """Let hooks decide, then run what is pending; for `executor.execute_round`."""
        return await self._plan.execute_with(run_all, hooks, asking, wording, limited)

    def __repr__(self) -> str:
        calls, issues = len(self.calls), len(self.issues)
        shown = f"{calls} call{'' if calls == 1 else 's'}, {issues} issue{'' if issues == 1 else 's'}"
        return f"<ToolRound: {shown}>"


def make_round(
    toolset: Toolset[Input], calls: Iterable[RawCall] | ModelAnswer, offer: Offer[Any], assistant: Any
) -> ToolRound[Input]:
    """Decode the calls of one turn; see `Toolset.round`."""
    if type(calls) is not list and type(calls) is not tuple:
        calls, assistant = _said(calls, assistant)
    if not isinstance(offer, Offer):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        message = f"offer is what toolset.offer returns, not {received(offer)}"
        raise TypeError(message)
    if offer.toolset != toolset:
        message = f"the offer is one of {offer.toolset!r}, not of this toolset"
        raise ValueError(message)
    try:
        own = assistant if assistant is None else own_json(assistant, MESSAGE_DEPTH)
    except NotJSONError as error:
        message = f"assistant is JSON: {error}"
        raise TypeError(message) from None
    except ValueError as error:
        message = f"the message of the model (assistant) can't be kept: {error}"
        raise RoundError(message) from None
    states = tuple([decode_call(i, raw, offer) for i, raw in enumerate(checked_calls(calls))])
    plan = ToolRoundPlan(toolset, offer.names, states, own, Settlement())
    return ToolRound(plan)


def _said(calls: Any, assistant: Any) -> tuple[Any, Any]:
    """Return the calls of an answer and its message; anything else as it is.

    Raises:
        TypeError: there is an answer, and another message beside it.
    """
    kind: Any = cast("Any", type(calls))
    if not (hasattr(kind, "calls") and hasattr(kind, "message")):
        return calls, assistant
    if assistant is not None:
        message = "an answer brings its message along: leave assistant out, or give answer.calls"
        raise TypeError(message)
    return calls.calls, calls.message
