"""Functions that run in a fork, and programs that kill many forks."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def fork(run: Callable[[], object]) -> int:
    """Run a function in a fork, whose id is returned, and whose status is 1 if the function raises."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        run()
        sys.stdout.flush()
        status = 0
    except BaseException:  # noqa: BLE001  # the parent reads the status
        traceback.print_exc()
    os._exit(status)


def status_in_a_fork(run: Callable[[], object]) -> int:
    """Run a function in a fork; return its status, or minus the number of the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(fork(run), 0)[1])


def import_what_is_needed(folder: Path, run: Callable[[], object]) -> None:
    """Import all that a function imports, so that no fork has to.

    The function runs in a fork: the threads that it starts would be missing in later ones.

    Args:
        folder: for it; it must not be there yet.
        run: the function.
    """
    folder.mkdir()
    before = set(sys.modules)

    def note_what_is_imported() -> None:
        os.chdir(folder)
        run()
        Path("modules").write_text(json.dumps(sorted(set(sys.modules) - before)), encoding="utf-8")

    status_in_a_fork(note_what_is_imported)
    for name in json.loads((folder / "modules").read_text(encoding="utf-8")):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that no child walks, and thereby copies, what all of them share
