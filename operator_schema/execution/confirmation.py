"""How an executor gets the agreement of a person to calls of tools with `confirm=True`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..tools.signature import is_awaitable, is_coroutine_function
from .concurrency import Slots
from .threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..rounds.hooks import Decision
    from ..rounds.tool_call import ToolCall
    from ..tools.calls import Asking

    Answer: TypeAlias = bool | str | Decision
    Confirm: TypeAlias = Literal["run"] | Callable[[ToolCall[Any]], Answer | Awaitable[Answer]]

__all__ = ["Confirmation"]


class Confirmation:
    """Ask about calls before they run.

    A plain function is asked about one call at a time, in a thread: a terminal can show one question at once,
    and the event loop goes on meanwhile.

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
        """Return what asks about one call; None if nobody can be asked.

        Args:
            confirm: as for one call; None for the executor's own.
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
    """Agree to what a tool asks for by `confirm=True`, not to what a hook defers: `confirm="run"`."""
    from ..rounds.hooks import CONFIRM

    return True if call.reason == CONFIRM else None
