"""The runs of the calls of a round, and the end of the round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..findings import shown_call
from ..tools.calls import new_id
from .errors import RoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .tool_call import ToolCall


class CallRun:
    """One run of a call.

    Attributes:
        has_result: whether the run ended with a result.
        is_going_on: whether the run may still get a result; otherwise nobody knows whether it did its work.
    """

    __slots__ = ("has_result", "is_going_on")

    def __init__(self) -> None:
        self.is_going_on = True
        self.has_result = False


Runs: TypeAlias = dict[tuple[int, int], CallRun]
"""The runs of a round, by the position of the call and the number of its earlier runs."""


class RememberedRounds:
    """The runs of the latest rounds that this process can restore.

    There are two generations, so that nothing has to be searched, and no lock is needed: a fork could leave a
    lock closed.
    """

    __slots__ = ("_new", "_old")

    KEPT = 10_000
    """The number of rounds in a generation; each takes less than 1 kB."""

    def __init__(self) -> None:
        self._new: dict[str, Runs] = {}
        self._old: dict[str, Runs] = {}

    def of(self, round_id: str, runs: Runs) -> Runs:
        """Return the known runs of a round, or the given runs if the round is unknown."""
        new = self._new
        found = new.setdefault(round_id, self._old.get(round_id, runs))  # one step, for all threads
        if len(new) > self.KEPT:
            self._old, self._new = new, {}
        return found

    def __len__(self) -> int:
        return len(self._new) + len(self._old)


remembered = RememberedRounds()


class Settlement:
    """The id of a round, its runs and its end, shared by all its states; the first state to end it wins.

    Args:
        round_id: the id of a restored round; None for a new one, which gets an id when it is first needed.
    """

    __slots__ = ("_ending", "_id", "_runs", "_states")

    def __init__(self, round_id: str | None = None) -> None:
        self._id: dict[None, str] = {} if round_id is None else {None: round_id}
        self._ending: dict[None, list[str]] = {}
        self._runs: Runs = {} if round_id is None else remembered.of(round_id, {})
        self._states: dict[tuple[int, int], ToolCall[Any]] = {}  # as it began, then with its result

    @property
    def round_id(self) -> str:
        """The random id of the round."""
        found = self._id.get(None)
        if found is not None:
            return found
        made = new_id("round")
        first = self._id.setdefault(None, made)  # one step, for all threads
        remembered.of(first, self._runs)  # with the id, somebody may restore the round
        return first

    # --- runs ------------------------------------------------------------------------------------

    def check_not_run(self, call: ToolCall[Any]) -> None:
        """Check that neither this state of the round nor another one ran a call."""
        run = self._runs.get(call.run)
        if run is not None:
            raise _has_run(call, run)

    def begin(self, calls: Sequence[ToolCall[Any]], begun: list[CallRun]) -> None:
        """Note that calls are running now: all of them, or none.

        Each run is appended to `begun` before others see it, so that the caller can always end it.
        """
        for position, call in enumerate(calls):
            run = CallRun()
            begun.append(run)
            first = self._runs.setdefault(call.run, run)  # one step, for all threads
            if first is not run:
                for earlier in calls[:position]:
                    self.forget(earlier)
                raise _has_run(call, first)
            self._states[call.run] = call

    def keep(self, call: ToolCall[Any], after: ToolCall[Any]) -> None:
        """Store the state of a call after it ran."""
        self._states[call.run] = after
        self._runs[call.run].has_result = True

    def forget(self, call: ToolCall[Any]) -> None:
        """Allow another run of a call after it raised an exception that the executor passes through."""
        del self._runs[call.run]

    def state_after(self, call: ToolCall[Any]) -> ToolCall[Any] | None:
        """Return a call after it ran; None if it hasn't run, or if its run isn't known here."""
        run = self._runs.get(call.run)
        if run is None:
            return None
        after = self._states.get(call.run)
        if run.has_result:
            # A person may have answered its question, and the call may have run again.
            return (self.state_after(after) or after) if after and after.state == "deferred" else after
        return None if run.is_going_on else (after or call).interrupted()  # as hooks and people left it

    # --- the end ---------------------------------------------------------------------------------

    @property
    def how(self) -> str | None:
        """How the round ended; None while it is open."""
        found = self._ending.get(None)
        return None if found is None else found[0]

    def settle(self, how: str) -> None:
        """End the round."""
        own = [how]  # a list, so that the endings of two threads are different objects
        first = self._ending.setdefault(None, own)  # one step, for all threads
        if first is not own:
            message = f"this round was {first[0]} already"
            raise RoundError(message)

    def reopen(self) -> None:
        """Open the round again, after a commit that failed."""
        self._ending.clear()


def _has_run(call: ToolCall[Any], run: CallRun) -> RoundError:
    how = "was run" if run.has_result else "is running" if run.is_going_on else "was begun and interrupted"
    message = (
        f"{shown_call(call.name, call.id)} {how} already, from this state of the round or another one: "
        "go on with the round that the executor returned, or with round.current()"
    )
    return RoundError(message, 1)
