"""Run a file of Python in processes of their own that needn't import everything anew.

As `warm_processes.py` does it with commands. Each file has a small process that has compiled it and imported
what it needs: starting Python and importing takes longer than most of these programs run. A program leads a
session, and ends with all that it started.
"""

from __future__ import annotations

import gc
import importlib
import socket
import sys
import tempfile
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":
    # In the place of this folder, if Python put it on the path.
    sys.path[: not sys.flags.safe_path] = [str(Path(__file__).parents[1])]

import warm_processes

_servers: dict[tuple[str, ...], str] = {}


def interpreter(path: Path, *imported: str, options: tuple[str, ...]) -> str:
    """Return the path of a program that runs a file at once, in the place of Python with some options."""
    if not warm_processes.CAN_FORK:
        return sys.executable
    words = str(path), *imported
    key = *options, *words
    if key not in _servers:
        _servers[key] = warm_processes.started(__file__, words, options)
    return warm_processes.python(_servers[key], skipped=len(options) + 1)


# The server.


def main() -> None:
    path, number, file, *imported = sys.argv[1:]
    code = compile(Path(file).read_bytes(), file, "exec")
    sys.path[:1] = [] if sys.flags.safe_path else [str(Path(file).parent)]
    for name in imported:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    words = warm_processes.serve(path, socket.socket(fileno=int(number)), leads=True)
    tempfile.tempdir = None  # it is asked anew
    sys.argv = [file, *words]
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__file__ = file
    warm_processes.run_and_end(lambda: exec(code, vars(module)))  # noqa: S102  # the program itself


if __name__ == "__main__":
    main()
