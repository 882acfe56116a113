"""How is the object of `--context` opened before the first call, and closed after the last one?"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from inspect import isasyncgen, isawaitable, isgenerator
from typing import TYPE_CHECKING, Any, TypeVar

from ...message_text import escape
from ...processes import kept_from_children
from ...tools import is_coroutine_function
from .module_loading import WrongUse, kind_of, reason_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Coroutine

T = TypeVar("T")

_FAILED = "() failed"
_NOT_CLOSED = " failed at its end"


class GivenContext:
    """The object for `--context`: a mapping, or a function or context manager that gives one.

    Args:
        name: the name as it was written.
        found: a mapping; a context manager of one, plain or async; or a function, plain or async, that
            returns one of these. A plain function is called at once, the others in an event loop.
        show_traceback: whether the traceback of its errors is printed.

    Raises:
        WrongUse: the object can't give a mapping, or the function fails.
    """

    def __init__(self, name: str, found: Any, *, show_traceback: bool) -> None:
        self._name = escape(name)
        self._show_traceback = show_traceback
        self._verb = "is"
        if callable(found) and not is_coroutine_function(found) and not _is_manager(found):
            self._verb = "returns"
            try:
                found = found()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001  # the program's own code
                raise self._failed(_FAILED, error) from None
        self._found: Any = found
        self._is_made_later = is_coroutine_function(found) or isawaitable(found) or _is_manager(found)
        if not self._is_made_later:
            self._checked(found)

    @property
    def mapping(self) -> Mapping[Any, Any] | None:
        """The mapping, if nothing has to be opened first."""
        return None if self._is_made_later else self._found

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Mapping[Any, Any]]:
        """Open the context in the event loop in which tools use it, and close it afterwards.

        Raises:
            WrongUse: opening or closing the context fails.
        """
        try:
            async with AsyncExitStack() as stack:
                yield await self._entered(stack)
        except (WrongUse, GeneratorExit):
            raise
        except Exception as error:  # noqa: BLE001  # the program's own code
            raise self._failed(_NOT_CLOSED, error) from None

    async def _entered(self, stack: AsyncExitStack) -> Mapping[Any, Any]:
        found: Any = self._found
        try:
            if is_coroutine_function(found):
                self._verb, found = "returns", found()
            if isawaitable(found):
                found = await found
            if _is_manager(found):
                self._verb = "gives"
                if _is_async(found):
                    found = await stack.enter_async_context(found)
                else:
                    found = stack.enter_context(found)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # the program's own code
            raise self._failed(_FAILED, error) from None
        return self._checked(found)

    def _checked(self, found: Any) -> Mapping[Any, Any]:
        if isinstance(found, Mapping):
            return found  # pyright: ignore[reportUnknownVariableType]  # of any keys and values
        hint = " such as {Db: db}"
        if isasyncgen(found) or isgenerator(found):
            decorator = "asynccontextmanager" if isasyncgen(found) else "contextmanager"
            hint = f"; decorate it with @contextlib.{decorator}"
        message = f"{self._name} {self._verb} {kind_of(found)}, not a mapping{hint}"
        raise WrongUse(message)

    def _failed(self, how: str, error: BaseException) -> WrongUse:
        if self._show_traceback:
            traceback.print_exception(error)
        return WrongUse(f"{self._name}{how}: {reason_of(error, show_traceback=self._show_traceback)}")


def _is_manager(found: object) -> bool:
    """Return whether an object has to be entered; a mapping, such as a `shelve`, never has to."""
    return (_is_async(found) or hasattr(type(found), "__enter__")) and not isinstance(found, Mapping)


def _is_async(found: object) -> bool:
    return hasattr(type(found), "__aenter__")


class OpenContexts:
    """The context of a server and, after a reload, the previous one, whose calls may still run.

    Each is opened and closed in the same task, which many libraries require.
    """

    def __init__(self) -> None:
        self._open: list[tuple[asyncio.Event, asyncio.Task[None]]] = []

    async def open(self, given: GivenContext | None) -> Mapping[Any, Any] | None:
        """Open a context, and close the one before the last.

        Raises:
            WrongUse: the context can't be opened.
        """
        import asyncio

        if given is None:
            return None
        ready: asyncio.Future[Mapping[Any, Any]] = asyncio.get_running_loop().create_future()
        over = asyncio.Event()
        task = asyncio.create_task(_hold(given, ready, over))
        self._open.append((over, task))
        both: list[asyncio.Future[Any]] = [ready, task]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            self._open.pop()
            await task  # it raises the error
        while len(self._open) > 2:  # noqa: PLR2004  # this one, and the one before
            await _close(*self._open.pop(0))
        return ready.result()

    async def close(self) -> None:
        """Close all contexts.

        Raises:
            WrongUse: a context can't be closed.
        """
        while self._open:
            await _close(*self._open.pop())


def run_in_loop(program: Coroutine[Any, Any, T]) -> T:
    """Run a program of `asyncio`, which is slow to load, and return its result."""
    import asyncio

    with kept_from_children():
        return asyncio.run(program)


async def _hold(given: GivenContext, ready: asyncio.Future[Mapping[Any, Any]], over: asyncio.Event) -> None:
    async with given.opened() as context:
        ready.set_result(context)
        await over.wait()


async def _close(over: asyncio.Event, task: asyncio.Task[None]) -> None:
    over.set()
    await task
