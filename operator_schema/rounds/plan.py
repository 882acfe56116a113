"""The plan of a round: the state of each call, from the first decision to the commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..immutable import Value
from ..json_values import copy_json
from ..tools.calls import exception_text
from ..wording import quote
from .commit import matched, refuse, settled
from .errors import HookError, InterruptedRoundError, RoundError, shown_call
from .hooks import Hooks
from .pipeline import CONFIRM, FailedHookError, decide, unless_confirmed
from .tool_call import (
    CallIssue,
    DeferredCall,
    HandledCall,
    RejectedCall,
    ToolCall,
    continue_suggestion,
    shortened,
)
from .transcript import Turn, append_turn
from .which_call import find_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self, TypeAlias

    from ..tools.calls import ToolResult
    from ..tools.execution.rounds import Asking, Limited, RunAll, Wording
    from .commit import Given
    from .settlement import Settlement
    from .tool_call import State
    from .toolset import Toolset
    from .transcript import Transcript
    from .which_call import WhichCall

    AnyHooks: TypeAlias = "Hooks | Callable[[ToolCall[Any]], Any]"

__all__ = ["ToolRoundPlan"]

Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word

_QUESTION_LENGTH = 200


class ToolRoundPlan(Value, Generic[Input]):
    """The state of each call of a turn: pending, handled, rejected, deferred, or an issue.

    A plan is immutable: what changes something returns another plan. Keep the last one. It can be saved
    at any time (`as_dict`) and restored in another process (`toolset.restore_plan`). Two plans are equal
    if the same would be saved.

    Attributes:
        toolset: whose tools are called.
        offered: the names of the tools that the request offered.
    """

    toolset: Toolset[Input]
    offered: tuple[str, ...]
    _states: tuple[State, ...]
    _assistant: Any
    _settlement: Settlement

    if not TYPE_CHECKING:  # for speed alone, as in `introspect/nodes.py`: every round makes one

        def __new__(cls, toolset, offered, _states, _assistant, _settlement):
            self = cls._draft()
            self.toolset = toolset
            self.offered = offered
            self._states = _states
            self._assistant = _assistant
            self._settlement = _settlement
            self.__class__ = cls
            return self

    # --- reading ---------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The id of the round, made at random; all plans of a round have it."""
        return self._settlement.round_id

    @property
    def states(self) -> tuple[State, ...]:
        """The state of each call, in the order of the calls; a pending one is a `ToolCall`."""
        return self._states

    @property
    def pending(self) -> tuple[ToolCall[Input], ...]:
        """The calls that are to be run."""
        return tuple([state for state in self._states if isinstance(state, ToolCall)])

    @property
    def handled(self) -> tuple[HandledCall, ...]:
        """The calls that have their result."""
        return tuple([state for state in self._states if isinstance(state, HandledCall)])

    @property
    def rejected(self) -> tuple[RejectedCall, ...]:
        """The calls that a hook or a person refused."""
        return tuple([state for state in self._states if isinstance(state, RejectedCall)])

    @property
    def deferred(self) -> tuple[DeferredCall[Input], ...]:
        """The calls that wait for a person or another system."""
        return tuple([state for state in self._states if isinstance(state, DeferredCall)])

    @property
    def issues(self) -> tuple[CallIssue, ...]:
        """The calls that can't be run, each with what the model reads about it."""
        return tuple([state for state in self._states if isinstance(state, CallIssue)])

    @property
    def is_complete(self) -> bool:
        """Whether each call has its result, so that `commit` needs no more."""
        return not any(isinstance(state, (ToolCall, DeferredCall)) for state in self._states)

    @property
    def continue_suggestion(self) -> str | None:
        """Why the model should get another turn: some of its calls could not be used. Otherwise None."""
        return continue_suggestion(self._states)

    @property
    def assistant(self) -> Any:
        """The rest of the model's turn, as it was given to `toolset.round`; a copy at each reading."""
        return copy_json(self._assistant)

    # --- decisions of hooks ----------------------------------------------------------------------

    async def apply(self, hooks: AnyHooks | None = None, /) -> ToolRoundPlan[Input]:
        """Let hooks decide about the calls that are pending, one call after the other.

        A call that is still pending afterwards, and not approved, is deferred if its tool says
        `confirm=True`. So it is without hooks.

        Args:
            hooks: for this toolset, or for one that is nested in it; or one function for every call.
                Don't apply the same ones twice: those that change an input would change it again, unless
                a person has approved it.

        Returns:
            The plan with their decisions.

        Raises:
            HookError: one failed. Its `plan` has what was decided before.
            RoundError: the round was committed or discarded.
            ToolNotFoundError: a hook is for a tool that isn't in the toolset.
            ValueError: hooks are for a toolset that isn't nested in this one.
        """
        self._check_open()
        if hooks is None:
            return self.confirmed()
        resolved = (hooks if isinstance(hooks, Hooks) else Hooks(hooks)).for_calls(self.toolset)
        states = list(self._states)
        for index, state in enumerate(states):
            if not isinstance(state, ToolCall):
                continue
            try:
                states[index] = await decide(state, resolved)
            except FailedHookError as failed:
                cause: Any = failed.__cause__
                why = exception_text(cause)
                raise HookError(failed.hook.name, state.id, state.name, self._with(states), why) from cause
        return self._with(states)

    def confirmed(self) -> ToolRoundPlan[Input]:
        """Return the plan in which calls of tools that say `confirm=True` are deferred."""
        self._check_open()
        return self._with(
            [unless_confirmed(state) if isinstance(state, ToolCall) else state for state in self._states]
        )

    # --- decisions of people ---------------------------------------------------------------------

    def approve(
        self, call: WhichCall, /, *, input: Any = None, arguments: object = None
    ) -> ToolRoundPlan[Input]:
        """Return the plan in which a call that was deferred is to be run.

        Hooks still see it, and may complete or reject it. They can't defer it again, and can't change its
        input: what is run is what was approved.

        Args:
            call: its id, its position in the turn, or the call itself.
            input: another input with which it is to be run, or None.
            arguments: the same as JSON, such as from a form, in place of `input`, or None.

        Raises:
            DecodeError: the arguments don't fit.
            EncodeError: the input can't be written as JSON.
            RoundError: no such call is deferred, several share the id, or it has a question.
            ToolError: the input is that of another tool.
            TypeError: there is both an input and arguments.
        """
        if input is not None and arguments is not None:
            message = "approve takes input= or arguments=, not both: they may say two different things"
            raise TypeError(message)
        waiting = self._find(call, "deferred")
        if waiting.question is not None:
            asked = quote(waiting.question.text, _QUESTION_LENGTH)
            message = f"{shown_call(waiting.name, waiting.id)} asks {asked}: give the answer with plan.answer"
            raise RoundError(message)
        given = input if arguments is None else waiting.tool.decode(arguments)
        approved = waiting.call if given is None else waiting.call.with_input(given)
        return self._replaced(approved.replace(approved=True))

    def answer(self, call: WhichCall, answer: object, /) -> ToolRoundPlan[Input]:
        """Return the plan in which a call whose tool had a question is to be run again, with the answer.

        Args:
            call: its id, its position in the turn, or the call itself.
            answer: a JSON value.

        Raises:
            DecodeError: the answer doesn't fit.
            RoundError: no such call is deferred, several share the id, or it has no question.
        """
        waiting = self._find(call, "deferred")
        if waiting.question is None:
            message = (
                f"{shown_call(waiting.name, waiting.id)} has no question: use plan.approve or plan.reject"
            )
            raise RoundError(message)
        from .questions import answered

        return self._replaced(answered(waiting, waiting.question, answer))

    def reject(self, call: WhichCall, reason: str = "", /) -> ToolRoundPlan[Input]:
        """Return the plan in which a call that is deferred, or pending, isn't run.

        So a person may take an approval back, as long as the call hasn't run.

        Args:
            call: its id, its position in the turn, or the call itself.
            reason: for the model; it may be empty.

        Raises:
            RoundError: no such call is deferred or pending, or several share the id.
        """
        found = self._find(call, "deferred or pending")
        return self._replaced(_call_of(found).reject(reason))

    def reject_open(self, reason: str = "", /) -> ToolRoundPlan[Input]:
        """Return the plan in which no call that is deferred or pending is run any more.

        So a turn can end when the user writes something else while calls wait.

        Args:
            reason: for the model; it may be empty.

        Raises:
            RoundError: the round was committed or discarded.
        """
        self._check_open()
        states = list(self._states)
        for state in self._states:
            if isinstance(state, (ToolCall, DeferredCall)):
                self._settlement.check_not_run(_call_of(state))
                states[state.index] = _call_of(state).reject(reason)
        return self._with(states)

    def with_results(self, results: Iterable[Given], /) -> ToolRoundPlan[Input]:
        """Return the plan in which calls that were pending have their results.

        So a plan can be saved when some calls have been run and others wait.

        Args:
            results: of some of the pending calls, or for issues.

        Raises:
            CommitError: with everything that doesn't fit.
            EncodeError: a result can't be written as JSON, so the plan could not be saved.
            RoundError: the round was committed or discarded.
            TypeError: something isn't a result.
        """
        from .saved import save_result

        self._check_open()
        given, faults = matched(self._states, results)
        refuse(self._states, faults)
        states = list(self._states)
        for index, result in given.items():
            state = _handled(states[index], result)
            save_result(state.result)
            states[index] = state
        return self._with(states)

    def current(self) -> ToolRoundPlan[Input]:
        """Return the plan with what has come of its calls meanwhile.

        Take it where `execute_round` didn't return: it was cancelled, or it is still running. A call that has
        ended has its result, also if another plan of this round ran it. A call that was interrupted is
        deferred, because nobody knows whether it did its work: `approve` runs it again. One that is still
        running stays as it is.

        A plan that was restored doesn't know the results of the plans that are in memory beside it, only that
        they exist: such calls stay as they are, and can't be run.
        """
        states = list(self._states)
        for state in self._states:
            if isinstance(state, (ToolCall, DeferredCall)):
                states[state.index] = self._settlement.state_after(_call_of(state)) or state
        return self._with(states)

    # --- the end ---------------------------------------------------------------------------------

    def commit(self, transcript: Transcript, results: Iterable[Given] = (), /) -> Turn:
        """Append the turn to a transcript: all calls, and a result for each, or nothing at all.

        Handled and rejected calls and issues bring their results along.

        Args:
            transcript: anything with `append`, such as a `ListTranscript` or a list.
            results: of the calls that are pending. One for an issue counts in place of its own.

        Returns:
            What was appended.

        Raises:
            CommitError: with everything that doesn't fit.
            RoundError: the round was committed or discarded, or a call that was rejected here was run by
                another plan.
            TypeError: something isn't a result, or `transcript` has no `append`, or an async one.
            Exception: what `append` raises; then the round is still open.
        """
        self._check_open()
        for state in self.rejected:
            if state.call is not None:
                self._settlement.check_not_run(state.call)
        found = settled(self._states, results)
        turn = Turn(self.id, tuple([state.metadata for state in self._states]), found, self.assistant)
        self._settlement.settle("committed")
        try:
            append_turn(transcript, turn)
        except BaseException:
            self._settlement.reopen()
            raise
        return turn

    def discard(self) -> None:
        """Drop the turn: no plan of this round can be committed any more.

        Raises:
            RoundError: the round was committed or discarded.
        """
        self._settlement.settle("discarded")

    # --- with an executor ------------------------------------------------------------------------

    async def execute_with(
        self,
        run_all: RunAll,
        hooks: AnyHooks | None = None,
        asking: Asking | None = None,
        wording: Wording | None = None,
        limited: Limited | None = None,
        /,
    ) -> ToolRoundPlan[Input]:
        """Let hooks decide, then run what is pending; for `executor.execute_round`.

        Calls of tools without a function (`tool_input`) stay pending: they are your program's to run.

        Args:
            run_all: runs calls side by side, gives each result to a function as it comes, and returns a
                result or an exception for each.
            hooks: as for `apply`.
            asking: asks a person about calls of tools that say `confirm=True`; None to defer them.
            wording: writes what the model reads of arguments that could not be decoded; None to leave it.
            limited: cuts the results that hooks and people give; None to leave them.

        Returns:
            The plan with the results. A call whose function has a question is deferred.

        Raises:
            HookError: a hook failed; nothing was run.
            InterruptedRoundError: functions raised what the executor passes through.
            RoundError: the round was committed or discarded, or a call was run before; nothing was run.
        """
        from .questions import decoded_call, outcome_state

        settlement = self._settlement
        for call in self.pending:
            settlement.check_not_run(call)
        plan = await (self if wording is None else self._worded(wording)).apply(hooks)
        if asking is not None:
            plan = await plan._asked(self._states, asking)  # noqa: SLF001  # its own class
        if limited is not None:
            plan = plan._shortened(self._states, limited)  # noqa: SLF001  # as above
        self._check_open()  # it may have ended while hooks were asked
        pending = [call for call in plan.pending if call.tool.has_function]
        decoded = [decoded_call(call) for call in pending]
        runs = settlement.begin(pending)

        def keep(position: int, result: ToolResult) -> None:
            settlement.keep(pending[position], outcome_state(pending[position], result))

        try:
            outcomes = await run_all(decoded, keep)
        finally:
            for run in runs:
                run.is_going_on = False
        raised: dict[int, BaseException] = {}
        for call, outcome in zip(pending, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raised[call.index] = outcome
                settlement.forget(call)
        after = plan.current()
        if raised:
            raise InterruptedRoundError(after, raised) from next(iter(raised.values()))
        return after

    def _worded(self, wording: Wording) -> Self:
        """Return the plan in which the issues about arguments have other texts."""
        states = list(self._states)
        for issue in self.issues:
            if issue.error is not None and issue.code in {"invalid_params", "execution_failed"}:
                states[issue.index] = issue.replace(content=wording(issue.metadata, issue.error))
        return self._with(states)

    def _shortened(self, before: tuple[State, ...], limited: Limited) -> ToolRoundPlan[Input]:
        """Return the plan in which what was decided since then is as long as a model may read."""
        states = [
            state if state is earlier else shortened(state, limited)
            for earlier, state in zip(before, self._states, strict=True)
        ]
        return self._with(states)

    async def _asked(self, before: tuple[State, ...], asking: Asking) -> ToolRoundPlan[Input]:
        """Ask about the calls that were pending and now wait because their tool says so.

        Raises:
            HookError: the function that asks failed. Its `plan` has what was decided before.
        """
        from .asking import WHO, ask_about

        states = list(self._states)
        for index, (earlier, state) in enumerate(zip(before, self._states, strict=True)):
            if not (isinstance(earlier, ToolCall) and isinstance(state, DeferredCall)):
                continue
            if state.reason != CONFIRM or state.question is not None:
                continue
            try:
                states[index] = await ask_about(state.call, asking)
            except Exception as error:
                why = exception_text(error)
                raise HookError(WHO, state.id, state.name, self._with(states), why) from error
        return self._with(states)

    # --- as data ---------------------------------------------------------------------------------

    def as_dict(self, *, secret: bytes | None = None) -> dict[str, Any]:
        """Return the plan as JSON values, for a database or a file; `toolset.restore_plan` reads it.

        It holds the calls as the model sent them, what was offered, all decisions, edited inputs, answers
        and results. It doesn't hold your context, the objects that functions returned
        (`ToolResult.value`) and details of failures (`ToolResult.details`).

        Args:
            secret: a key of your own, such as 32 random bytes. Without it, restoring notices data that
                were damaged. With it, also data that somebody changed on purpose (HMAC, RFC 2104).

        Raises:
            EncodeError: an input that was changed in place, or the `json` of a result that your program
                made, can't be written as JSON.
            ToolError: an input was changed in place, and doesn't keep all that it was made of (`InitVar`).
            TypeError: the secret isn't bytes.
            ValueError: it is shorter than 16 bytes.
        """
        from .saved import save_plan

        return save_plan(self, secret)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolRoundPlan):
            return NotImplemented
        if self is other:
            return True
        from .saved import is_same_plan

        return self.toolset == other.toolset and is_same_plan(self, other)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # of whatever input

    def __hash__(self) -> int:
        return hash(self.id)

    def __copy__(self) -> Self:
        return self  # a copy must not be committed beside it

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        kinds = ("pending", "handled", "rejected", "deferred", "issues")
        found = [(len(getattr(self, kind)), kind) for kind in kinds if getattr(self, kind)]
        failed = sum(state.result.is_error for state in self.handled)
        more = {"handled": f" ({failed} failed)"} if failed else {}
        counts = [
            f"{number} {kind.removesuffix('s') if number == 1 else kind}{more.get(kind, '')}"
            for number, kind in found
        ]
        return f"<ToolRoundPlan: {', '.join(counts) or 'no calls'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.toolset, self.as_dict())

    # --- inside ----------------------------------------------------------------------------------

    def _with(self, states: Iterable[State]) -> Self:
        return self.replace(_states=tuple(states))

    def _replaced(self, state: State) -> Self:
        states = list(self._states)
        states[state.index] = state
        return self._with(states)

    def _check_open(self) -> None:
        how = self._settlement.how
        if how is not None:
            message = f"this round was {how} already"
            raise RoundError(message)

    def _find(self, call: WhichCall, kind: str) -> Any:
        """Return the one call that is meant, if it can be decided on.

        Raises:
            RoundError: there is none, there are several, or it was run by another plan.
        """
        self._check_open()
        found = find_call(self._states, call, kind)
        self._settlement.check_not_run(_call_of(found))
        return found


def _call_of(state: ToolCall[Any] | DeferredCall[Any]) -> ToolCall[Any]:
    return state.call if isinstance(state, DeferredCall) else state


def _handled(state: State, given: Given) -> HandledCall | RejectedCall:
    if isinstance(given, (HandledCall, RejectedCall)):
        return given
    own = state if isinstance(state, ToolCall) else None
    return HandledCall(state.index, state._raw, state._arguments, own, given, "host")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a state of this room


def _unpickled(toolset: Toolset[Any], data: Any) -> ToolRoundPlan[Any]:
    return toolset.restore_plan(data)
