"""The command line: print schemas, decode values, check modules, call tools; without a program."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import SchemaError
from .arguments import read_arguments
from .commands import check, decode, schema
from .lookup import refuse
from .streams import open_output
from .tool_commands import call, describe, tools

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

__all__ = ["main"]

_COMMANDS = {
    "schema": schema,
    "decode": decode,
    "check": check,
    "tools": tools,
    "call": call,
    "describe": describe,
}

_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: what follows the program's name; that of the process unless given.

    Returns:
        The exit status: 0 when all went well; 1 when a value or a call failed or a type has complaints; 130
        after an interrupt and 141 when the reader of the output went away, as a shell counts them.

    Raises:
        SystemExit: with status 2 for wrong use, with 0 after `--help` and `--version`.
    """
    arguments = read_arguments(argv)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it: `<&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115,PTH123  # for as long as the process lives
    # What `python -m` does, for the console script as well: modules of the current directory count.
    sys.path.insert(0, "")
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return _PIPE_CLOSED
    except OSError as error:
        _drop_output()
        refuse(f"can't read or write: {error.strerror or error}")
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        with suppress(ValueError):
            sys.path.remove("")
    return status


def _run(arguments: Namespace) -> int:
    out, err = open_output(sys.stdout), open_output(sys.stderr)
    try:
        return _COMMANDS[arguments.command](arguments, out, err)
    except SchemaError as error:
        err.write_report("", str(error))
        return 1


def _drop_output() -> None:
    # What is still buffered would be written, and fail once more, when the interpreter ends.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
