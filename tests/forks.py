"""Forks of one process, for programs that kill many processes."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def import_what_is_needed(folder: Path, run: Callable[[], object]) -> None:
    """Import all that a function imports, so that no fork has to.

    The function runs in a fork: the threads that it starts would be missing in later ones.

    Args:
        folder: for it; it must not be there yet.
        run: the function.
    """
    folder.mkdir()
    before = set(sys.modules)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        run()
        Path("modules").write_text(json.dumps(sorted(set(sys.modules) - before)), encoding="utf-8")
        os._exit(0)
    os.waitpid(child, 0)
    for name in json.loads((folder / "modules").read_text(encoding="utf-8")):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that no child walks, and thereby copies, what all of them share
