"""How does a task wait for a database without stopping the event loop?"""

from __future__ import annotations

from sys import modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["in_thread"]


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a thread, and wait until it has ended, even if the task is cancelled.

    Where no event loop runs, it is called here.

    Args:
        function: to call; it may write to a database, which can't be stopped in the middle.

    Returns:
        What it returns.

    Raises:
        BaseException: what it raises; the cancellation instead if the task was cancelled, with a note about
            what the function raised.
    """
    trio: Any = modules.get("trio")
    in_trio = getattr(getattr(trio, "lowlevel", None), "in_trio_task", None)  # a thread may be importing it
    if in_trio is not None and in_trio():
        return await trio.to_thread.run_sync(function)  # it waits for the thread by itself
    asyncio: Any = modules.get("asyncio")
    loop_here = getattr(asyncio, "_get_running_loop", None)
    loop = None if loop_here is None else loop_here()
    if loop is None:
        return function()
    running = loop.run_in_executor(None, function)
    cancellation: BaseException | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as cancelled:
            cancellation = cancelled
    if cancellation is None:
        return running.result()
    failure = running.exception()
    if failure is not None:
        cancellation.add_note(f"the function also failed: {failure!r}")
    raise cancellation
