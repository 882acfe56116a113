"""The command line: print schemas, decode values, check modules, call tools; needs the extra `cli`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_NEEDED = {"click", "rich"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the words after the program's name; by default, the arguments of the process.

    Returns:
        The exit status: 0 if all went well; 1 if a value or a call failed, or a type has complaints; 2 for
        wrong use; 130 after an interrupt and 141 if the reader of the output went away, as shells count
        them.
    """
    try:
        from .app import run

        return run(argv)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        hint = "pip install 'operator-schema[cli]'"
        sys.stderr.write(f"operator-schema: the command line needs click and rich: {hint}\n")
        return 2
