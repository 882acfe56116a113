"""How does a program hear that a server can't be probed?"""

from __future__ import annotations

from typing import Final

_WAYS: Final = (
    'env={"PYTHONPATH": os.getcwd()} for modules of this folder, and the same for each other variable',
    '--env PYTHONPATH="$PWD" for modules of this folder, and --env NAME=VALUE for each other variable',
)
"""Advice about modules of this folder and variables such as a key: in Python, and for the command."""


class ProbeError(Exception):
    """Raised if a target can't be probed: it can't be started, doesn't answer, or has no tools.

    Args:
        message: the reason; it names arguments of `probe`.
        in_command: the reason with options of the command; None if the message names no argument.

    Attributes:
        in_command: the reason with options of the command.
    """

    def __init__(self, message: str, in_command: str | None = None) -> None:
        super().__init__(message)
        self.in_command = message if in_command is None else in_command


def in_empty_folder(said: str) -> ProbeError:
    """Return the error of a program that didn't start, perhaps because it is started in an empty folder."""
    hint = "it is started in an empty folder, with few variables: write full paths of files,"
    return ProbeError(*[f"{said}; {hint} {ways}" for ways in _WAYS])
