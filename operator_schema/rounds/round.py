"""A round: the calls of one turn of the model, from the first decision to the commit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Generic

from ..findings import shown_call
from ..immutable import Value
from ..json_values import copy_json
from ..message_text import class_name_of, count_of, exception_text, one_line, quote, writable_text
from ..tools.calls import DecodedCall
from ..tools.logs import ERROR, WARNING, logged_with_round, write_log
from ..tools.signature import outcome_of
from .chosen_calls import find_call
from .commit import revised, settled, with_results
from .deciding import FailedHookError, decide, looked_at, unless_confirmed
from .decision_log import WHO
from .errors import RoundError
from .hooks import call_hooks_of
from .tool_call import Input, ToolCall, continue_suggestion, shortened, worded
from .transcript import Turn, append_turn, conversation_of, saving

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping
    from typing import Self, TypeAlias

    from ..tools.calls import Asking, Limited, RunAll, ToolResult, Wording
    from .chosen_calls import WhichCall
    from .commit import Given
    from .hooks import CallHooks, ForTools, Hooks
    from .named_tools import NamedTools
    from .settlement import CallRun, Settlement
    from .signatures import Secret
    from .tool_call import CallState
    from .transcript import History

    AnyHooks: TypeAlias = "Hooks | Callable[[ToolCall[Any]], Any]"
    Begin: TypeAlias = "Callable[[Round[Any]], object]"
    Ended: TypeAlias = Callable[[ToolCall[Any]], object]

ON_COMMIT: list[Callable[[Round[Any]], object]] = []
"""Functions that get each round after this process committed it, for adapters that count decisions."""

_MESSAGE_LENGTH = 500
_NAME_LENGTH = 100
_QUESTION_LENGTH = 200


class Round(Value, Generic[Input]):
    """The calls of one turn of the model, each with its state; made by `offer.round`. It runs nothing itself.

    Run the calls yourself and `commit` their results, let hooks decide first (`apply`), or leave everything
    to an executor (`executor.run`).

    A round is immutable: each method that changes something returns another one, and you keep the last. It
    can be saved at any time (`as_dict`) and restored in another process (`toolset.restore_round`). Two rounds
    are equal if the same data would be saved.

    Attributes:
        toolset: the toolset of the called tools.
        offered: the names of the tools that the request offered.
        calls: all calls, in the order of the turn.
        provider: the name of the provider that gave the answer; None if only calls were given.
        conversation: the name of the conversation that the round belongs to, as given to `offer.round` or
            taken from the transcript that `executor.run` got; None if nobody named it.
        revision: how many times a store has saved the round; None if it isn't in a store.
    """

    toolset: NamedTools
    offered: tuple[str, ...]
    calls: tuple[ToolCall[Input], ...]
    _assistant: Any
    _settlement: Settlement
    provider: str | None = None
    conversation: str | None = None
    _about: Any = None
    revision: int | None = None

    if not TYPE_CHECKING:  # Only for speed, as in `introspect/nodes.py`: every turn makes some rounds.

        def __new__(
            cls, toolset, offered, calls, _assistant, _settlement, provider, conversation, _about, revision
        ):
            self = cls._draft()
            self.toolset = toolset
            self.offered = tuple(offered) if offered.__class__ is list else offered
            self.calls = tuple(calls) if calls.__class__ is list else calls
            self._assistant = _assistant
            self._settlement = _settlement
            self.provider = provider
            self.conversation = conversation
            self._about = _about
            self.revision = revision
            self.__class__ = cls
            return self

    # --- reading ---------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The random id of the round, which never changes."""
        return self._settlement.round_id

    @property
    def pending(self) -> tuple[ToolCall[Input], ...]:
        """The calls that are to be run."""
        return self._in_state("pending")

    @property
    def handled(self) -> tuple[ToolCall[Input], ...]:
        """The calls that have a result."""
        return self._in_state("handled")

    @property
    def rejected(self) -> tuple[ToolCall[Input], ...]:
        """The calls that a hook or a person refused."""
        return self._in_state("rejected")

    @property
    def deferred(self) -> tuple[ToolCall[Input], ...]:
        """The calls that wait for a person or another system."""
        return self._in_state("deferred")

    @property
    def issues(self) -> tuple[ToolCall[Input], ...]:
        """The calls that can't be run, each with the text that the model reads about it."""
        return self._in_state("issue")

    def _in_state(self, state: CallState) -> tuple[ToolCall[Input], ...]:
        return tuple([call for call in self.calls if call.state == state])

    @property
    def is_complete(self) -> bool:
        """Whether each call has a result, so that `commit` needs no further results."""
        return not any(call.state in _OPEN for call in self.calls)

    @property
    def continue_suggestion(self) -> str | None:
        """Why the model should get another turn: some of its calls were unusable. None otherwise."""
        return continue_suggestion(self.calls)

    @property
    def assistant(self) -> Any:
        """The rest of the model's turn, as given to `offer.round`; a new copy each time."""
        return copy_json(self._assistant)

    @property
    def about(self) -> Any:
        """The notes of your program on the round (`offer.round(answer, about=…)`); a new copy each time."""
        return copy_json(self._about)

    def expect_one(self) -> ToolCall[Input]:
        """Return the only call that is pending.

        Raises:
            RoundError: there are more or fewer; `count` says how many.
        """
        call = self.expect_at_most_one()
        if call is None:
            message = f"expected one call, and there is none{self._and_issues()}"
            raise RoundError(message, 0)
        return call

    def expect_at_most_one(self) -> ToolCall[Input] | None:
        """Return the only call that is pending, or None if there is none.

        Raises:
            RoundError: there are more; `count` says how many.
        """
        calls = self.pending
        if len(calls) > 1:
            message = f"expected one call, and there are {len(calls)}{self._and_issues()}"
            raise RoundError(message, len(calls))
        return calls[0] if calls else None

    def _and_issues(self) -> str:
        number = len(self.issues)
        return f" (and {number} that can't be run: see issues)" if number else ""

    # --- decisions of hooks ----------------------------------------------------------------------

    async def apply(self, hooks: AnyHooks | None = None, /) -> Round[Input]:
        """Ask hooks to decide about the pending calls: first these hooks, then those of the toolset itself.

        A call that is still pending afterwards, and not approved, is deferred if its tool says
        `confirm=True`; this happens even without any hooks.

        Args:
            hooks: hooks for this toolset or for one that is nested in it; or one function for every call.
                Don't apply the same hooks twice: a hook that changes an input would change it again, unless a
                person has approved it.

        Returns:
            The round with the decisions.

        Raises:
            HookError: a hook failed. Its `round` has the decisions before that.
            RoundError: the round was committed or discarded.
            ToolNotFoundError: a hook is for a tool that isn't in the toolset.
            ValueError: hooks are for a toolset that isn't nested in this one.
        """
        self._check_open()
        with logged_with_round(self):
            return await self._decided(call_hooks_of(hooks, self.toolset).before)

    async def _decided(self, hooks: ForTools, asking: Asking | None = None) -> Self:
        """Ask hooks about all pending calls; then ask a person about those that wait now."""
        if asking is None and not hooks:
            return self.confirmed()
        calls = list(self.calls)
        for call in self.pending:
            calls[call.index] = await self._decide(call, decide(call, hooks), calls)
        if asking is not None:
            from .people import asked_about  # most rounds run without a person

            for call in self.pending:
                asked = asked_about(calls[call.index], asking, hooks)
                calls[call.index] = await self._decide(call, asked, calls)
        return self._with(calls)

    async def _decide(
        self, call: ToolCall[Any], deciding: Coroutine[Any, Any, ToolCall[Any]], calls: list[ToolCall[Any]]
    ) -> ToolCall[Any]:
        """Wait for a decision about a call."""
        who: str | None = None  # from the function given as `confirm`
        try:
            return await deciding
        except FailedHookError as failed:
            who, cause = failed.hook.name, failed.__cause__ or failed
        except Exception as error:  # noqa: BLE001  # the program's own code; it is raised as a HookError
            cause = error
        raise HookError(who, call.id, call.name, self._with(calls), exception_text(cause)) from cause

    def confirmed(self) -> Self:
        """Return the round in which pending calls of tools that say `confirm=True` are deferred."""
        self._check_open()
        with logged_with_round(self):
            calls = [unless_confirmed(call) if call.state == "pending" else call for call in self.calls]
        return self._with(calls)

    # --- decisions of people ---------------------------------------------------------------------

    def approve(
        self,
        call: WhichCall,
        /,
        *,
        input: Any = None,
        arguments: object = None,
        by: str | None = None,
        words: str = "",
    ) -> Round[Input]:
        """Return the round with a deferred call approved, to be run.

        Hooks still see the call, and may complete or reject it. They can't defer it again or change its
        input: exactly the approved input is run. A call that was interrupted may run once more; if nobody had
        agreed to it before, it may still need an approval of its own.

        If several people have to agree (`Defer(approvals=2)`), the call waits until as many different ones
        have approved it. If one of them changes the input, the approvals before that don't count any more.

        Args:
            call: its id, its position in the turn, or the call itself.
            input: another input for the call, or None. An edit of `call.input` in place counts as another
                input.
            arguments: another input as JSON, such as from a form, in place of `input`; or None.
            by: the name of the approving person, for the record (`call.decisions`); required if several
                people have to agree.
            words: the comment of this person, for the record; the model doesn't see it.

        Raises:
            DecodeError: the arguments don't fit, or `call.input` was edited in place and doesn't fit.
            EncodeError: the input can't be written as JSON.
            RoundError: no such call is deferred, several share the id, it has a question, or it has expired.
                Or several people have to agree, and this person has agreed before or has no name.
            ToolError: the input belongs to another tool.
            TypeError: both an input and arguments are given, or `by` or `words` isn't a string.
            ValueError: `by` is empty.
        """
        if input is not None and arguments is not None:
            message = "approve takes input= or arguments=, not both: they could differ"
            raise TypeError(message)
        waiting = self._find(call, "deferred")
        if waiting.question is not None:
            asked = quote(waiting.question.text, _QUESTION_LENGTH)
            message = (
                f"{shown_call(waiting.name, waiting.id)} asks {asked}: give the answer with round.answer"
            )
            raise RoundError(message)
        from .people import agreed

        given = input if arguments is None else waiting.tool.decode(arguments)
        with logged_with_round(self):
            return self._replaced(agreed(waiting, given, *_checked_person(by, words)))

    def answer(
        self, call: WhichCall, answer: object, /, *, by: str | None = None, words: str = ""
    ) -> Round[Input]:
        """Return the round with an answer to the question of a tool, so that its call is to be run again.

        Args:
            call: its id, its position in the turn, or the call itself.
            answer: a JSON value.
            by: the name of the person who answers, for the record (`call.decisions`).
            words: the comment of this person, for the record.

        Raises:
            DecodeError: the answer doesn't fit, or `call.input` was edited in place and doesn't fit.
            EncodeError: `call.input` was edited in place, and can't be written as JSON any more.
            RoundError: no such call is deferred, several share the id, or it has no question.
        """
        waiting = self._find(call, "deferred")
        if waiting.question is None:
            message = (
                f"{shown_call(waiting.name, waiting.id)} has no question: use round.approve or round.reject"
            )
            raise RoundError(message)
        from .people import answered

        with logged_with_round(self):
            return self._replaced(answered(waiting, waiting.question, answer, *_checked_person(by, words)))

    def reject(
        self, call: WhichCall, reason: str = "", /, *, by: str | None = None, words: str = ""
    ) -> Round[Input]:
        """Return the round with a deferred or pending call rejected.

        This way a person may take back an approval, as long as the call hasn't run.

        Args:
            call: its id, its position in the turn, or the call itself.
            reason: for the model; it may be empty.
            by: the name of the rejecting person, for the record (`call.decisions`).
            words: the comment of this person, for the record; the model doesn't see it.

        Raises:
            RoundError: no such call is deferred or pending, or several share the id.
        """
        from .people import refused

        waiting = self._find(call, "deferred or pending")
        with logged_with_round(self):
            return self._replaced(refused(waiting, reason, *_checked_person(by, words)))

    def reject_open(self, reason: str = "", /, *, by: str | None = None, words: str = "") -> Round[Input]:
        """Return the round with all deferred and pending calls rejected.

        This way a turn can end if the user writes something else while calls wait.

        Args:
            reason: for the model; it may be empty.
            by: as for `reject`.
            words: as for `reject`.

        Raises:
            RoundError: the round was committed or discarded.
        """
        from .people import refused

        self._check_open()
        person = _checked_person(by, words)
        calls = list(self.calls)
        with logged_with_round(self):
            for call in self.calls:
                if call.state in _OPEN:
                    self._settlement.check_not_run(call)
                    calls[call.index] = refused(call, reason, *person)
        return self._with(calls)

    def with_expired(self) -> Round[Input]:
        """Return the round in which calls that nobody approved in time have a result that says so.

        An executor does this before it runs a round, and a store when it loads one.
        """
        if not any(call.has_expired for call in self.calls):
            return self
        from .people import expired

        return self._with([expired(call) if call.has_expired else call for call in self.calls])

    def with_results(self, results: Iterable[Given], /) -> Round[Input]:
        """Return the round with the results of some calls.

        This way a round can be saved when some calls have been run and others wait.

        Args:
            results: results of some pending calls, or for issues.

        Raises:
            CommitError: some results don't fit; the error lists all of them.
            EncodeError: a result can't be written as JSON, so the round could not be saved.
            RoundError: the round was committed or discarded.
            TypeError: something isn't a result.
        """
        self._check_open()
        return self._with(with_results(self.calls, results))

    def revise(self, call: WhichCall, result: ToolResult, /) -> Round[Input]:
        """Return the round with another result for a handled call.

        This way your program can shorten a result, or remove a secret from it, before the commit.

        Args:
            call: its id, its position in the turn, or the call itself.
            result: such as `call.complete(…)`, `call.fail(…)` or `call.result.replace(content=…)`.

        Raises:
            EncodeError: the result can't be written as JSON, so the round could not be saved.
            RoundError: no such call is handled, several share the id, or the round has ended.
            TypeError: `result` isn't a result.
            ValueError: the result belongs to another call.
        """
        self._check_open()
        return self._replaced(revised(find_call(self.calls, call, "handled"), result))

    def current(self) -> Round[Input]:
        """Return the round with the results that its calls have so far.

        Use it if `run` didn't return, because it was cancelled or is still running. A call that has ended has
        its result, even if another state of this round ran it. A call that was interrupted is deferred,
        because nobody knows whether it did its work: `approve` runs it again. A call that is still running
        stays unchanged.

        A restored round knows only that calls ran after it was saved, but not their results: such calls stay
        unchanged, and can't be run.
        """
        calls = list(self.calls)
        for call in self.calls:
            if call.state in _OPEN:
                calls[call.index] = self._settlement.state_after(call) or call
        return self._with(calls)

    def interrupted(self) -> Round[Input]:
        """Return the round with its pending calls deferred, because nobody knows whether they did their work.

        Use it for a round whose process died while it ran. An executor would run such calls again. Approving
        such a call lets it run once more; if nobody had agreed to it, hooks and `confirm=True` still count.
        """
        return self._with(
            [
                call.interrupted() if call.state == "pending" and call.tool.has_function else call
                for call in self.calls
            ]
        )

    # --- the end ---------------------------------------------------------------------------------

    def commit(self, history: History, /, *, results: Iterable[Given] = ()) -> Turn:
        """Append the turn to a history: either all calls with a result for each, or nothing.

        Handled and rejected calls and issues already have their results.

        Args:
            history: any object with `append`, such as a `Transcript` or a list.
            results: results of the pending calls. A result for an issue replaces the one that the issue has.

        Returns:
            The appended turn.

        Raises:
            CommitError: some results don't fit; the error lists all of them.
            RoundError: the round was committed or discarded, another state of it ran a call that was rejected
                here, or the round belongs to another conversation.
            TypeError: a result isn't a result, or `history` has no `append`, or an async one.
            Exception: `append` raised it; then the round is still open.
        """
        self._check_open()
        for call in self.rejected:
            if call.has_input:
                self._settlement.check_not_run(call)
        conversation_of(history, self.conversation)  # checks it
        found = settled(self.calls, results)
        calls = tuple([call.raw for call in self.calls])
        decisions = tuple([call.decisions for call in self.calls])
        known = self.assistant, self.provider, self.about, decisions if any(decisions) else ()
        turn = Turn(self.id, calls, found, *known)
        self._settlement.settle("committed")
        try:
            append_turn(history, turn, self.revision)
        except BaseException:  # after any exception: nothing was appended
            self._settlement.reopen()
            raise
        for listener in ON_COMMIT:
            _tell(listener, self)
        return turn

    async def acommit(self, history: History, /, *, results: Iterable[Given] = ()) -> Turn:
        """Run `commit` in a thread, so that the event loop doesn't wait for a database.

        If the task is cancelled, the cancellation is raised when the commit has ended.

        Args:
            history: as for `commit`.
            results: as for `commit`.

        Returns:
            The appended turn.

        Raises:
            BaseException: the same as from `commit`.
        """
        from .threads import in_thread  # few programs have an event loop and a store

        turn: Turn = await in_thread(partial(self.commit, history, results=results))
        return turn

    def discard(self) -> None:
        """Discard the turn: no state of this round can be committed any more.

        Raises:
            RoundError: the round was committed or discarded.
        """
        self._settlement.settle("discarded")

    # --- with an executor ------------------------------------------------------------------------

    async def execute_with(
        self,
        run_all: RunAll,
        hooks: AnyHooks | CallHooks | None = None,
        asking: Asking | None = None,
        wording: Wording | None = None,
        limited: Limited | None = None,
        begin: Begin | None = None,
        ended: Ended | None = None,
        /,
    ) -> Round[Input]:
        """Ask hooks to decide, then run the pending calls; for `executor.run`.

        Calls of tools without a function (`tool_input`) stay pending: your program runs them.

        Args:
            run_all: a function that runs calls concurrently and returns a result or an exception for each.
                It passes each result to a function, which returns the final result, or None to run the call
                again.
            hooks: the hooks, as for `apply`, or all hooks that apply.
            asking: a function that asks a person about calls of tools that say `confirm=True`; None to defer
                them.
            wording: a function that writes the text for the model about arguments that could not be decoded;
                None to leave the text.
            limited: a function that cuts the results of hooks and people; None to leave them.
            begin: a function that gets the round after all decisions, before the first function runs; it may
                be async. None without a store.
            ended: a function that gets each call after it ran, while others still run; it may be async. None
                without a store.

        Returns:
            The round with the results. A call whose function asks a question is deferred.

        Raises:
            HookError: a hook failed; nothing was run.
            InterruptedRoundError: functions raised exceptions that the executor passes through.
            RoundError: the round was committed or discarded, or a call was run before; nothing was run.
        """
        found = call_hooks_of(hooks, self.toolset)
        for call in self.pending:
            self._settlement.check_not_run(call)
        current = self.with_expired()
        if wording is not None:
            current = current._with([worded(call, wording) for call in current.calls])  # noqa: SLF001  # its own class
        after = await current._decided(found.before, asking)  # noqa: SLF001  # its own class
        if limited is not None:
            pairs = zip(current.calls, after.calls, strict=True)
            after = after._with([call if call is old else shortened(call, limited) for old, call in pairs])  # noqa: SLF001  # its own class
        self._check_open()  # the round may have ended while hooks were asked
        if begin is not None and any(call.tool.has_function for call in after.pending):
            await outcome_of(begin, after)
        return await after._run(run_all, found.after, limited, ended)  # noqa: SLF001  # its own class

    async def _run(
        self, run_all: RunAll, hooks: ForTools, limited: Limited | None, ended: Ended | None
    ) -> Round[Input]:
        """Run the pending calls, and show the results to hooks."""
        settlement = self._settlement
        pending = [call for call in self.pending if call.tool.has_function]
        decoded = [_decoded_call(call) for call in pending]
        runs: list[CallRun] = []
        counts = [1] * len(pending)

        async def settle(position: int, result: ToolResult) -> ToolResult | None:
            ran = pending[position]
            call = await looked_at(ran, result, hooks, counts[position], limited)
            if call is None:
                counts[position] += 1
                return None
            settlement.keep(ran, call)
            if ended is not None:
                await _save(call, ended)
            return call.result or result

        try:
            settlement.begin(pending, runs)
            outcomes = await run_all(decoded, settle)
        finally:  # also for an interrupt between two lines: a call that doesn't run must not count as running
            for run in runs:
                run.is_going_on = False
        raised: dict[int, BaseException] = {}
        for call, outcome in zip(pending, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raised[call.index] = outcome
                settlement.forget(call)
        after = self.current()
        if raised:
            raise InterruptedRoundError(after, raised) from next(iter(raised.values()))
        return after

    # --- as data ---------------------------------------------------------------------------------

    def as_dict(self, *, secret: Secret = None) -> dict[str, Any]:
        """Return the round as JSON values, for a database or a file; `toolset.restore_round` reads it.

        It contains the calls as the model sent them, the offered tools, all decisions, edited inputs, answers
        and results, the conversation, and the notes of your program (`about`). It doesn't contain your
        context, the objects that functions returned (`ToolResult.value`) and details of failures
        (`ToolResult.details`).

        Args:
            secret: your own key, such as 32 random bytes. Without it, restoring notices damaged data. With
                it, restoring also notices data that somebody changed on purpose (HMAC, RFC 2104). The first
                key of a list signs.

        Raises:
            EncodeError: an input that was changed in place, or the `json` of a result that your program made,
                can't be written as JSON.
            ToolError: an input was changed in place, and doesn't store everything that it was made of
                (`InitVar`).
            TypeError: the secret isn't bytes.
            ValueError: the secret is shorter than 16 bytes.
        """
        known = {
            "round": self.id,
            "offered": [*self.offered],
            "assistant": self.assistant,
            "provider": self.provider,
            "conversation": self.conversation,
            "about": self.about,
        }
        saved: dict[str, Any] = saving().save_round(known, self.calls, secret)
        return saved

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Round):
            return NotImplemented
        if self is other:
            return True
        others: Round[Any] = other  # pyright: ignore[reportUnknownVariableType]  # of whatever input
        if self._head() != others._head():
            return False
        return all(map(saving().is_same_call, self.calls, others.calls))

    def _head(self) -> tuple[Any, ...]:
        known = self.toolset, self.id, self.offered, self.assistant, self.provider
        return (*known, self.conversation, self.about, len(self.calls))

    def __hash__(self) -> int:
        return hash(self.id)

    def __copy__(self) -> Self:
        return self  # the round and its copy must not both be committed

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __repr__(self) -> str:
        kinds = ("pending", "handled", "rejected", "deferred", "issues")
        found = [(len(getattr(self, kind)), kind) for kind in kinds if getattr(self, kind)]
        failed = sum(call.code is not None for call in self.handled)
        more = {"handled": f" ({failed} failed)"} if failed else {}
        counts = [f"{count_of(number, kind)}{more.get(kind, '')}" for number, kind in found]
        return f"<Round: {', '.join(counts) or 'no calls'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        toolset: Any = self.toolset
        return toolset.restore_round, (self.as_dict(),)

    # --- inside ----------------------------------------------------------------------------------

    def _with(self, calls: Iterable[ToolCall[Any]]) -> Self:
        return self.replace(calls=tuple(calls))

    def _replaced(self, call: ToolCall[Any]) -> Self:
        calls = list(self.calls)
        calls[call.index] = call
        return self._with(calls)

    def _check_open(self) -> None:
        how = self._settlement.how
        if how is not None:
            message = f"this round was {how} already"
            raise RoundError(message)

    def _find(self, call: WhichCall, kind: str) -> ToolCall[Any]:
        """Return the one call that the caller means, if a decision about it is possible."""
        self._check_open()
        found = find_call(self.calls, call, kind)
        self._settlement.check_not_run(found)
        return found


def _checked_person(by: object, words: object) -> tuple[str | None, str]:
    """Check and return the name and the comment of the person who decides."""
    if by is None and words == "":
        return None, ""
    from ..tools.decision_records import checked_by  # the record of a decision comes with it

    return checked_by(by), writable_text("words", words)


def _decoded_call(call: ToolCall[Any]) -> DecodedCall:
    """Return a call in the form that an executor runs."""
    return DecodedCall(
        call.raw,
        call.input,
        _decoded_answers(call),
        call.approved,
        details=call.details,
        deferred_at=call.deferred_at,
        changed=call.changed,
        decisions=call.decisions,
    )


def _decoded_answers(call: ToolCall[Any]) -> dict[str, Any]:
    answers = call.answers
    if not answers:
        return {}
    from .questions import answer_codec  # few tools have a question

    return {name: answer_codec(call.tool, name).decode(value) for name, value in answers.items()}


def _tell(listener: Callable[[Round[Any]], object], committed: Round[Any]) -> None:
    """Call a function with a round that was committed, whatever the function raises."""
    try:
        listener(committed)
    except Exception as error:  # noqa: BLE001  # code of others; the turn is in its history all the same
        write_log(ERROR, "a function that is called after commits failed", error=error)


async def _save(call: ToolCall[Any], ended: Ended) -> None:
    """Save a call that ended; if that fails, it is saved with the whole round after all calls."""
    try:
        await outcome_of(ended, call)
    except Exception as error:  # noqa: BLE001  # whatever the store raises: the call has its result
        about = one_line(call.name, _NAME_LENGTH), one_line(call.id, _NAME_LENGTH)
        write_log(WARNING, "%s (call %s): its result isn't saved yet", *about, error=error)


_OPEN = frozenset({"pending", "deferred"})
"""The states of calls that have no result yet."""


class HookError(RoundError):
    """A hook failed. Nothing is lost: the call is still pending, and `round` has all decisions before that.

    Attributes:
        hook: the name of the hook; `confirm` for the function given as that option.
        call_id: id of the call in question.
        tool: the name of the tool in the call.
        round: the round so far. This call, and the calls after it, are pending as before.
    """

    def __init__(self, hook: str | None, call_id: str, tool: str, round: Round[Any], why: str) -> None:
        who = f"the function given as {WHO}" if hook is None else f"the hook {one_line(hook, _NAME_LENGTH)}"
        super().__init__(f"{who} failed for {shown_call(tool, call_id)}: {why}")
        self.hook = WHO if hook is None else hook
        self._given = hook
        self.call_id = call_id
        self.tool = tool
        self.round = round
        self._why = why

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._given, self.call_id, self.tool, self.round, self._why)


class InterruptedRoundError(RoundError):
    """Functions raised exceptions that the executor passes through. `round` has the other results.

    Attributes:
        round: the round with the results of the other calls. The calls that raised are pending.
        exceptions: the exceptions by the position of the call in the turn. The first one is also the
            `__cause__`.
    """

    def __init__(self, round: Round[Any], exceptions: Mapping[int, BaseException]) -> None:
        number = len(exceptions)
        kinds = ", ".join(dict.fromkeys([class_name_of(error) for error in exceptions.values()]))
        super().__init__(f"{count_of(number, 'calls')} raised {one_line(kinds, _MESSAGE_LENGTH)}", number)
        self.round = round
        self.exceptions: Mapping[int, BaseException] = dict(exceptions)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.round, self.exceptions)
