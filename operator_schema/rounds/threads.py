"""Run blocking functions, such as database queries, without stopping the event loop."""

from __future__ import annotations

from sys import modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


async def in_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a thread, and wait until it has ended, even if the task is cancelled.

    If no event loop is running, the function is called directly.

    Args:
        function: the function; it may write to a database, so it can't be stopped in the middle.

    Returns:
        The return value of the function.

    Raises:
        BaseException: the function raised it. If the task was cancelled, the cancellation instead, with a
            note about the exception of the function.
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
