"""How is a process ended with everything that it started? Which signal handlers must a child not inherit?"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from threading import local
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Generator, Mapping


def kill_group(
    process: subprocess.Popen[bytes], with_signal: Literal["SIGTERM", "SIGKILL"] = "SIGKILL"
) -> None:
    """Send a signal to a process that was started with `start_new_session=True`, and to its whole group.

    As long as nobody has waited for the process, no other one can get its number. On systems without process
    groups, only the process itself is killed.

    Args:
        process: the leader of its group.
        with_signal: `SIGTERM` lets the processes clean up first.
    """
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.Signals[with_signal])
        else:
            process.kill()


# --- signal handlers -----------------------------------------------------------------------------

_ENDING = (signal.SIGINT, signal.SIGTERM)

_found: list[Mapping[signal.Signals, Any]] = []
"""The handlers that each use of `kept_from_children` found."""
_of_thread = local()
"""The signal mask that a thread had before it forked."""


@contextmanager
def kept_from_children() -> Generator[None]:
    """Give processes that are forked in this context the handlers of SIGINT and SIGTERM from before it.

    A forked child inherits handlers, and with an event loop also the file descriptor that reports signals: a
    signal for the child would stop its parent, and not the child. Code that sets such handlers, such as a
    library or `asyncio` itself, belongs inside the context.
    """
    handlers = {number: signal.getsignal(number) for number in _ENDING}
    _found.append(handlers)
    try:
        yield
    finally:
        with suppress(ValueError):  # this is a child
            _found.remove(handlers)


def _before_fork() -> None:
    """Hold signals back until the child has its own handlers."""
    if _found:
        _of_thread.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)


def _after_fork() -> None:
    mask = _of_thread.__dict__.pop("mask", None)
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _after_fork_in_child() -> None:
    if _found:
        with suppress(ValueError):  # in a subinterpreter, where no handlers are set
            signal.set_wakeup_fd(-1)
            for number, handler in _found[0].items():
                # None: it was set by code that isn't Python, and can't be set again.
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
        _found.clear()
    _after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
