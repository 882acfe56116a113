"""How an executor gets the agreement of a person to calls of tools with `confirm=True`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...wording import as_written
from ..awaitables import is_awaitable
from ..calls import ToolResult
from ..signature import is_coroutine_function
from .concurrency import Slots
from .passing import Passed
from .rounds import DecodedCall
from .run_call import RunCall
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ...rounds.hooks import Complete, Defer, Reject, RunNormally
    from ...rounds.tool_call import ToolCall
    from ..calls import RawCall
    from ..tool import Tool
    from .failures import Failures
    from .rounds import Asking
    from .runner import Runner
    from .successes import Successes

    Answer: TypeAlias = bool | str | RunNormally | Reject | Complete | Defer | None
    Confirm: TypeAlias = Literal["run"] | Callable[[ToolCall[Any]], Answer | Awaitable[Answer]]

__all__ = ["Confirmation", "check_confirm"]

_NOTHING: dict[str, Any] = {}


def check_confirm(confirm: object) -> None:
    """Check the option `confirm`.

    Raises:
        ValueError: it is neither None, `"run"` nor a function.
    """
    if confirm is None or confirm == "run" or (callable(confirm) and not isinstance(confirm, type)):
        return
    message = f'confirm is "run", a function of a call, or None, not {as_written(confirm)}'
    raise ValueError(message)


class Confirmation:
    """Ask about calls before they run.

    A plain function is asked about one call at a time, in a thread: a terminal can show one question at once,
    and the event loop goes on meanwhile.

    Args:
        confirm: the option of the executor.
        runner: decodes long arguments, and knows whether threads are used.
        failures: makes the results of calls that aren't run.
        successes: makes the result of a call that the answer completes.
    """

    __slots__ = ("_confirm", "_failures", "_runner", "_slots", "_successes", "_threads")

    def __init__(
        self, confirm: Confirm | None, runner: Runner, failures: Failures, successes: Successes
    ) -> None:
        self._confirm = confirm
        self._runner = runner
        self._failures = failures
        self._successes = successes
        self._slots = Slots(1)
        self._threads = Threads(1)

    def is_waived(self, confirm: Confirm | None) -> bool:
        """Return whether calls run without asking; the argument is that of `asking`."""
        return (self._confirm if confirm is None else confirm) == "run"

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
        if is_coroutine_function(ask) or not self._runner.uses_threads:
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
        self,
        call: RawCall,
        tool: Tool[..., Any],
        context: Mapping[Any, Any] | None,
        decoded: DecodedCall | None,
        confirm: Confirm | None,
        seconds: float | None,
    ) -> DecodedCall | ToolResult | Passed | BaseException:
        """Return a call that may run, or the result of one that may not.

        Args:
            call: as the model sent it.
            tool: that it names.
            context: type, or name of a parameter, to value.
            decoded: the same call with its input, where that is known already.
            confirm: as for `asking`.
            seconds: that decoding may take; None for no limit. The time of a person doesn't count.
        """
        run = RunCall(call, tool, context, self._failures, self._successes, decoded)
        try:
            given: Any = await self._runner.decode(run, call, tool, seconds)
        except TimeoutError as late:
            return self._failures.timed_out(call, seconds or 0, late)
        if isinstance(given, (ToolResult, Passed, BaseException)):
            return given
        asking = self.asking(confirm)
        if asking is None:
            return self._failures.needs_approval(call)
        from ...rounds.questions import ask_about_one  # the executor asks with what rounds ask with

        try:
            answered = await ask_about_one(call, tool, given, asking)
        except Exception as error:  # noqa: BLE001  # your program's own code: an answer that isn't one is no agreement
            return self._failures.passed(call, error) or self._failures.not_asked(call, error)
        if answered is None:
            return self._failures.needs_approval(call)
        if isinstance(answered, ToolResult):
            return answered
        answers = _NOTHING if decoded is None else decoded.answers
        return DecodedCall(call, answered.input, answers, approved=True, tool=tool, details=run.details)


async def _agree(_: ToolCall[Any]) -> bool:
    """Agree to every call: `confirm="run"`."""
    return True
