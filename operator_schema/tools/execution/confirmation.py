"""How an executor gets the agreement of a person to calls of tools with `confirm=True`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..awaitables import is_awaitable
from ..calls import ToolResult
from ..signature import is_coroutine_function
from .concurrency import Slots
from .failures import Passed
from .rounds import DecodedCall
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...rounds.decisions import Complete, Defer, Reject, RunNormally
    from ...rounds.tool_call import ToolCall
    from .rounds import Asking
    from .run import Outcomes, Run

    Answer: TypeAlias = bool | str | RunNormally | Reject | Complete | Defer | None
    Confirm: TypeAlias = Literal["run"] | Callable[[ToolCall[Any]], Answer | Awaitable[Answer]]

__all__ = ["Confirmation"]


class Confirmation:
    """Ask about calls before they run.

    A plain function is asked about one call at a time, in a thread: a terminal can show one question at once,
    and the event loop goes on meanwhile.

    Args:
        outcomes: of the executor.
        confirm: the option of the executor.
    """

    __slots__ = ("_confirm", "_outcomes", "_slots", "_threads")

    def __init__(self, outcomes: Outcomes, confirm: Confirm | None) -> None:
        self._outcomes = outcomes
        self._confirm = confirm
        self._slots = Slots(1)
        self._threads = Threads(1)

    def asking(self, confirm: Confirm | None = None) -> Asking | None:
        """Return what asks about one call; None if nobody can be asked.

        Args:
            confirm: as for one call; None for the executor's own.
        """
        chosen = self._confirm if confirm is None else confirm
        if chosen is None:
            return None
        return _agree if isinstance(chosen, str) else partial(self._ask, chosen)

    async def _ask(self, ask: Callable[[ToolCall[Any]], Any], call: ToolCall[Any]) -> Any:
        if is_coroutine_function(ask) or not self._outcomes.uses_threads:
            answer = ask(call)
        else:
            await self._slots.acquire()
            try:
                answer = await self._threads.run(partial(ask, call), call.name, None)
            finally:
                self._slots.release()
            if issubclass(type(answer), BaseException):
                raise answer
        return await answer if is_awaitable(answer) else answer

    async def agreement(
        self, run: Run, confirm: Confirm | None
    ) -> DecodedCall | ToolResult | Passed | BaseException:
        """Return a call that may run, or the result of one that may not.

        Args:
            run: the call, which is decoded here; the time of a person doesn't count for it.
            confirm: as for `asking`.

        Raises:
            TimeoutError: decoding took too long.
            RuntimeError: the system gives no more threads.
        """
        given: Any = await self._outcomes.decode(run)
        if isinstance(given, (ToolResult, Passed, BaseException)):
            return given
        failures, asking = self._outcomes.failures, self.asking(confirm)
        if asking is None:
            return failures.needs_approval(run.call)
        from ...rounds.asking import ask_about_one  # the executor asks with what rounds ask with

        try:
            answered = await ask_about_one(run.call, run.tool, given, asking)
        except Exception as error:  # noqa: BLE001  # your program's own code: an answer that isn't one is no agreement
            return failures.passed(run.call, error) or failures.not_asked(run.call, error)
        if answered is None:
            return failures.needs_approval(run.call)
        if isinstance(answered, ToolResult):
            return answered
        answers = {} if run.decoded is None else run.decoded.answers
        return DecodedCall(
            run.call, answered.input, answers, approved=True, tool=run.tool, details=run.details
        )


async def _agree(_: ToolCall[Any]) -> bool:
    """Agree to every call: `confirm="run"`."""
    return True
