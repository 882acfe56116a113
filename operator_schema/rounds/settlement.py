"""What holds for all plans of a round: each call runs once, and the round is committed once, or discarded."""

from __future__ import annotations

from os import urandom
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import RoundError, shown_call
from .tool_call import DeferredCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .tool_call import State, ToolCall

__all__ = ["Run", "Settlement"]

_ID_BYTES = 12
"""Random bytes in an id: two of 10**12 ids are equal with a chance of 1 in 10**5."""


INTERRUPTED = "it was begun and interrupted, so nobody knows whether it did its work"
"""Why a call waits that was begun, and didn't end."""


class Run:
    """One run of a call.

    Attributes:
        has_result: whether it ended with a result.
        is_going_on: whether it may still get one; otherwise nobody knows whether it did its work.
    """

    __slots__ = ("has_result", "is_going_on")

    def __init__(self) -> None:
        self.is_going_on = True
        self.has_result = False


Runs: TypeAlias = dict[tuple[int, int], Run]
"""Those of a round, by the position of the call and the number of its runs before."""


class _Rounds:
    """The runs of rounds that can be restored in this process, of the last ones.

    Two generations, so that nothing is searched and no lock is needed, which a fork could leave closed.
    """

    __slots__ = ("_new", "_old")

    KEPT = 10_000
    """Rounds in a generation, with less than 1 kB each."""

    def __init__(self) -> None:
        self._new: dict[str, Runs] = {}
        self._old: dict[str, Runs] = {}

    def of(self, round_id: str, runs: Runs) -> Runs:
        """Return what is known of a round; the given runs if it is unknown."""
        new = self._new
        found = new.setdefault(round_id, self._old.get(round_id, runs))  # one step, for all threads
        if len(new) > self.KEPT:
            self._old, self._new = new, {}
        return found


_rounds = _Rounds()


class Settlement:
    """Which round it is, what ran, and how it ended, for all plans of it; the first to settle it wins.

    Args:
        round_id: of a round that was restored; None for a new one, which gets its id when it is asked for.
    """

    __slots__ = ("_ending", "_id", "_results", "_runs")

    def __init__(self, round_id: str | None = None) -> None:
        self._id: dict[None, str] = {} if round_id is None else {None: round_id}
        self._ending: dict[None, _Ending] = {}
        self._runs: Runs = {} if round_id is None else _rounds.of(round_id, {})
        self._results: dict[tuple[int, int], State] = {}

    @property
    def round_id(self) -> str:
        """The id of the round, made at random."""
        found = self._id.get(None)
        if found is not None:
            return found
        made = f"round_{urandom(_ID_BYTES).hex()}"
        first = self._id.setdefault(None, made)  # one step, for all threads
        _rounds.of(first, self._runs)  # whoever knows the id may restore a plan
        return first

    # --- runs ------------------------------------------------------------------------------------

    def check_not_run(self, call: ToolCall[Any]) -> None:
        """Check that a call hasn't been run.

        Raises:
            RoundError: it has, from this plan or another one of the round.
        """
        run = self._runs.get(call.run)
        if run is not None:
            raise _ran(call, run)

    def begin(self, calls: Sequence[ToolCall[Any]]) -> list[Run]:
        """Note that calls run now: all of them, or none.

        Raises:
            RoundError: one has been run.
        """
        begun: list[Run] = []
        for position, call in enumerate(calls):
            run = Run()
            first = self._runs.setdefault(call.run, run)  # one step, for all threads
            if first is not run:
                for earlier in calls[:position]:
                    self.forget(earlier)
                raise _ran(call, first)
            begun.append(run)
        return begun

    def keep(self, call: ToolCall[Any], state: State) -> None:
        """Keep what came of a call."""
        self._results[call.run] = state
        self._runs[call.run].has_result = True

    def forget(self, call: ToolCall[Any]) -> None:
        """Let a call run again, which raised what the executor passes through."""
        del self._runs[call.run]

    def state_after(self, call: ToolCall[Any]) -> State | None:
        """Return what has come of a call; None as long as nothing has, or where it isn't known here."""
        run = self._runs.get(call.run)
        if run is None:
            return None
        if run.has_result:
            state = self._results.get(call.run)
            # The answer to its question may have been given, and the call run again.
            return (self.state_after(state.call) or state) if isinstance(state, DeferredCall) else state
        return None if run.is_going_on else call.again().defer(INTERRUPTED)

    # --- the end ---------------------------------------------------------------------------------

    @property
    def how(self) -> str | None:
        """How it ended; None as long as it is open."""
        found = self._ending.get(None)
        return None if found is None else found.how

    def settle(self, how: str) -> None:
        """End it.

        Raises:
            RoundError: it has ended.
        """
        own = _Ending(how)
        # In one step, so that each of several threads sees whether it was the first.
        first = self._ending.setdefault(None, own)
        if first is not own:
            message = f"this round was {first.how} already"
            raise RoundError(message)

    def reopen(self) -> None:
        """Take it back, after a commit that failed."""
        self._ending.clear()


def _ran(call: ToolCall[Any], run: Run) -> RoundError:
    how = "was run" if run.has_result else "is running" if run.is_going_on else "was begun and interrupted"
    message = (
        f"{shown_call(call.name, call.id)} {how} already, from this plan or another one of the round: "
        "go on with the plan that execute_round returned, or with plan.current()"
    )
    return RoundError(message, 1)


class _Ending:
    """How a round ended; each is another object."""

    __slots__ = ("how",)

    def __init__(self, how: str) -> None:
        self.how = how
