"""How are files read that a person wrote, such as JSON by hand, and how is one replaced as a whole?"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

from ...engine import Codec
from ...errors import DecodeError
from ...files import replacement, resolved
from ...json_reading import RepeatedKeyError, distinct_keys
from ...message_text import clip, escape, quote, show_path
from .module_loading import WrongUse

_MAX_FILE: Final = 50_000_000
_MOST_SHOWN: Final = 300


def read_text(file: str) -> str:
    """Return the text of a file, or of standard input if its name is `-`.

    Raises:
        WrongUse: the file can't be read, or is too large.
    """
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream:
            data = stream.read(_MAX_FILE + 1)
    except OSError as error:
        message = f"{escape(file)} can't be read: {error.strerror}"
        raise WrongUse(message) from None
    if len(data) > _MAX_FILE:
        message = f"{escape(file)} is too large: more than {_MAX_FILE:,} bytes"
        raise WrongUse(message)
    return text_of_bytes(data, file)


def text_of_bytes(data: bytes, file: str) -> str:
    """Return the text of bytes without a byte order mark, which editors on Windows write.

    Args:
        data: the content of a file.
        file: the name of the file, for the message.

    Raises:
        WrongUse: the bytes aren't UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = f"{escape(file)} can't be read: it isn't UTF-8"
        raise WrongUse(message) from None


def json_in(text: str, file: str) -> Any:
    """Read the JSON of a file that a person wrote; no object may have the same key twice.

    Args:
        text: the content of the file.
        file: the name of the file, for the message.

    Returns:
        The value.

    Raises:
        WrongUse: the text isn't JSON, nests too deeply, or has a key twice in one object (RFC 8259, section
            4, lets a reader use any of them). Of the text, the message contains only the key.
    """

    def refuse(word: str) -> Any:
        message = f"{word} isn't a number of JSON"
        raise ValueError(message)

    try:
        return json.loads(text, object_pairs_hook=distinct_keys, parse_constant=refuse)
    except RecursionError:
        message = f"{escape(file)} isn't JSON that can be read: it nests too deep"
        raise WrongUse(message) from None
    except RepeatedKeyError as error:
        message = f"{escape(file)} has {_place_of(error.key, text)} more than once: keep one of them"
        raise WrongUse(message) from None
    except ValueError as error:
        why = _unlike_json(error, text) or escape(clip(str(error), _MOST_SHOWN))
        message = f"{escape(file)} isn't JSON: {why}"
        raise WrongUse(message) from None


def _unlike_json(error: ValueError, text: str) -> str | None:
    """Return the remedy for a comment or a trailing comma, which only editors accept; otherwise None."""
    if not isinstance(error, json.JSONDecodeError):
        return None
    place = error.pos + text.startswith(",", error.pos)  # Python 3.13 gives the place of the comma itself
    before, after = text[:place].rstrip(), text[place:].lstrip()
    line = text.count("\n", 0, len(text) - len(after)) + 1
    if after.startswith(("//", "/*", "#")) and not text.startswith("#!"):  # `#!` begins a script
        return f"line {line} has a comment; remove it"
    if (before.endswith(",") and after[:1] in {"}", "]"}) or (
        after[:1] == "," and after[1:].lstrip()[:1] in {"}", "]"}
    ):
        return f"line {line} has a comma before a closing bracket; remove it"
    return None


def _place_of(key: str, text: str) -> str:
    """Return the path of a key that is in JSON twice; the key alone if the text can't be decoded."""
    try:
        Codec(Any).decode_json(text)
    except DecodeError as error:
        for one in error.findings:
            if one.code == "duplicate":
                return clip(show_path(one.path), _MOST_SHOWN)
    return f"the key {quote(clip(key, _MOST_SHOWN))}"


def replace_file(file: str, text: str) -> None:
    """Replace a file as a whole: a reader sees the old content or the new content.

    A link remains a link. Anything other than a file, such as a pipe, is simply written to.

    Args:
        file: the name of the file.
        text: the new content, written as UTF-8 with the line ends as given.

    Raises:
        WrongUse: the path is a folder, or can't be written to.
    """
    try:
        path = resolved(file)
        if path.is_dir():
            message = f"{escape(file) or 'the empty name'} is a folder: give a file, such as tools.json"
            raise WrongUse(message)
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8", newline="")
            return
        with replacement(path) as made:
            made.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        message = f"{escape(file)} can't be written: {error.strerror}"
        raise WrongUse(message) from None
