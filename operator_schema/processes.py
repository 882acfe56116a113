"""How does a process end, with all that it has started?"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import subprocess

__all__ = ["kill_group"]


def kill_group(
    process: subprocess.Popen[bytes], with_signal: Literal["SIGTERM", "SIGKILL"] = "SIGKILL"
) -> None:
    """Send a signal to a process that was started with `start_new_session=True`, and to its whole group.

    As long as nobody has waited for the process, no other one can have its number. Where there are no groups
    of processes, it is killed alone.

    Args:
        process: the leader of its group.
        with_signal: `SIGTERM` lets the processes clean up first.
    """
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.Signals[with_signal])
        else:
            process.kill()
