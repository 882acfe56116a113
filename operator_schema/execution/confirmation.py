"""How is a person asked about a call before it runs?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..rounds.hook_decisions import CONFIRM
from ..tools.signature import is_awaitable, is_coroutine_function
from .concurrency import Slots
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..rounds.hook_decisions import Decision
    from ..rounds.tool_call import ToolCall
    from ..tools.calls import Asking

    Answer: TypeAlias = bool | str | Decision
    Confirm: TypeAlias = Literal["run"] | Callable[[ToolCall[Any]], Answer | Awaitable[Answer]]


class Confirmation:
    """Asks about calls before they run.

    A plain function is asked about one call at a time, in a thread: a terminal can show only one question,
    and the event loop continues while it waits.

    Args:
        confirm: the option of the executor.
        uses_threads: whether a plain function is asked in a thread.
    """

    __slots__ = ("_confirm", "_slots", "_threads", "_uses_threads")

    def __init__(self, confirm: Confirm | None, *, uses_threads: bool) -> None:
        self._confirm = confirm
        self._uses_threads = uses_threads
        self._slots = Slots(1)
        self._threads = Threads(1)

    def asking(self, confirm: Confirm | None = None) -> Asking | None:
        """Return a function that asks about one call; None if nobody can be asked.

        Args:
            confirm: the option for one call; None for that of the executor.
        """
        chosen = self._confirm if confirm is None else confirm
        if chosen is None:
            return None
        return _agree if isinstance(chosen, str) else partial(self._ask, chosen)

    async def _ask(self, ask: Callable[[ToolCall[Any]], Any], call: ToolCall[Any]) -> Any:
        if is_coroutine_function(ask) or not self._uses_threads:
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


async def _agree(call: ToolCall[Any]) -> bool | None:
    """Agree to a call of a tool with `confirm=True`, but not to one that a hook defers: `confirm="run"`."""
    return True if call.reason == CONFIRM else None
