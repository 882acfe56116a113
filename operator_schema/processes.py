"""How does a process end, with all that it has started?"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

__all__ = ["kill_group"]


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that was started with `start_new_session=True`, and all in its session.

    Nobody has waited for it yet, so that no other process can have its number. Where there are no groups of
    processes, it is killed alone.
    """
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
