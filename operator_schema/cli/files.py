"""How are files read and written that a command line names?"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..compare.accepted import Accepted, AcceptError, read_accepted
from ..message_text import escape
from .modules import WrongUse

__all__ = ["accepted_in", "replace_file", "text_of"]

_MAX_FILE: Final = 50_000_000


def text_of(file: str) -> str:
    """Return the text of a file, or of standard input if its name is `-`.

    Raises:
        WrongUse: it can't be read, or is too large.
    """
    if file == "-":
        return sys.stdin.read(_MAX_FILE)
    try:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(_MAX_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it isn't UTF-8"
        message = f"{escape(file)} can't be read: {reason}"
        raise WrongUse(message) from None
    if len(text) > _MAX_FILE:
        message = f"{escape(file)} is too large: more than {_MAX_FILE:,} characters"
        raise WrongUse(message)
    return text


def replace_file(file: str, text: str) -> None:
    """Replace a file as a whole: a reader sees the old one or the new one.

    A link stays one, and what isn't a file, such as a pipe, is written to as it is.

    Args:
        file: its name.
        text: what it holds afterwards, in UTF-8, with the ends of lines as they are.

    Raises:
        WrongUse: it is a folder, or can't be written.
    """
    path = Path(file).resolve()
    if path.is_dir():
        message = f"{escape(file) or 'the empty name'} is a folder: give a file, such as tools.json"
        raise WrongUse(message)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="")
            return
        beside.write_text(text, encoding="utf-8", newline="")
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        message = f"{escape(file)} can't be written: {error.strerror}"
        raise WrongUse(message) from None


def accepted_in(file: str) -> list[Accepted]:
    """Return the entries of an allow file.

    Raises:
        WrongUse: it can't be read.
    """
    try:
        return read_accepted(text_of(file))
    except AcceptError as error:
        lines = [escape(line) for line in str(error).split("\n")]
        raise WrongUse("\n".join([f"{escape(file)}: {lines[0]}", *lines[1:]])) from None
