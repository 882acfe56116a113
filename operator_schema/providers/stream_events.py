"""The events of a stream, read from text or bytes that arrive in pieces of any size."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from importlib import import_module
from json import JSONDecoder
from typing import TYPE_CHECKING, Any

from ..codec.json_text import RefusedTextError, check_depth
from ..message_text import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_EVENT = 16 * 2**20
"""The most characters of one event, or bytes of one binary message."""

_LINE_END = re.compile("\r\n|\r|\n")
_NO_FIELD = ("{", "<")
"""The beginning of lines that aren't fields of an event: JSON by lines, or the page of a proxy."""

_IN_STRING = re.compile(r'["\\]')
_IN_OBJECT = re.compile(r'["\[\]{}]')
_BETWEEN_OBJECTS = re.compile(r"[^\s,]")
_TWO_IN_ONE = re.compile(r"(?:event|id|retry):.*?data:")
"""The marks of two events without a blank line between them."""

_FIELDS = ("data", "event", "id", "retry", "error")


class EventText:
    """The text of a stream in pieces of any size.

    Each character is read once, however the text is cut. Lines end with CR, LF or both.
    """

    __slots__ = (
        "_utf8",
        "_has_begun",
        "_objects",
        "_unknown",
        "_after_cr",
        "_line",
        "_line_length",
        "_data",
        "_data_length",
        "_kind",
    )

    def __init__(self) -> None:
        self._utf8 = getincrementaldecoder("utf-8")()
        self._has_begun = False
        self._objects: _ObjectsText | None = None
        self._unknown = ""
        self._after_cr = False
        self._line: list[str] = []
        self._line_length = 0
        self._data: list[str] = []
        self._data_length = 0
        self._kind = ""

    def feed(self, piece: str | bytes | bytearray) -> Iterator[tuple[str, str]]:
        """Take the next piece of the text.

        Args:
            piece: bytes are UTF-8 and may end inside a character.

        Returns:
            The events that the piece completes: kind, which is mostly empty, and data.

        Raises:
            ValueError: the bytes aren't UTF-8, or an event is longer than `MAX_EVENT`.
        """
        text = piece if isinstance(piece, str) else self._utf8.decode(piece)
        if not text:
            return
        if not self._has_begun:
            text = text.removeprefix("\ufeff")
            begin = text.lstrip()
            self._has_begun = bool(begin)
            if begin.startswith(("[", "{")):
                self._objects = _ObjectsText(is_list=begin.startswith("["))
                text = begin.removeprefix("[")
        if self._objects is not None:
            for found in self._objects.feed(text):
                yield "", found
            return
        if self._after_cr:
            text = text.removeprefix("\n")
        self._after_cr = text.endswith("\r")
        *ended, rest = _LINE_END.split(text) if "\r" in text else text.split("\n")
        for end in ended:
            line = end
            if self._line:
                self._add(end)
                line = "".join(self._line)
                self._line, self._line_length = [], 0
            _check_length(len(line))
            if (event := self._read(line)) is not None:
                yield event
        if rest:
            self._add(rest)

    @property
    def unknown(self) -> str:
        """The first line that doesn't belong to an event; empty if there is none so far."""
        return self._unknown

    def finish(self) -> Iterator[tuple[str, str]]:
        """Return the event that the end of the text cut off; an incomplete character is left out.

        Raises:
            ValueError: the lines came without their line ends.
        """
        rest = "".join(self._line)
        if _TWO_IN_ONE.match(rest) or _has_more(rest.removeprefix("data:").lstrip()):
            message = f"its lines have no line breaks: add a line feed to each line, {excerpt(rest, 100)}"
            raise ValueError(message)
        for line in (rest, ""):
            if (event := self._read(line)) is not None:
                yield event
        self._line, self._line_length = [], 0

    def _add(self, text: str) -> None:
        self._line_length += len(text)
        _check_length(self._line_length)
        self._line.append(text)

    def _read(self, line: str) -> tuple[str, str] | None:
        """Read a line, and return the event that it completes; None if it completes none."""
        if not line:
            event = (self._kind, "\n".join(self._data)) if self._data else None
            self._data, self._data_length, self._kind = [], 0, ""
            return event
        if line.startswith(_NO_FIELD):
            return "", line
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data_length += len(value) + 1
            _check_length(self._data_length)
            self._data.append(value)
        elif field == "event":
            self._kind = value
        elif field == "error":  # older servers of llama.cpp write this
            return "error", value
        # The end of the text may have cut off the name of a field; the name of a comment is empty.
        elif not self._unknown and not any(known.startswith(field) for known in _FIELDS):
            self._unknown = line
        return None


def _has_more(text: str) -> bool:
    """Return whether more text follows the JSON object at the beginning of a text."""
    try:
        check_depth(text)
        return bool(text) and bool(text[JSONDecoder().raw_decode(text)[1] :].strip())
    except (RefusedTextError, ValueError, RecursionError):
        return False


class _ObjectsText:
    """The JSON objects in a text that arrives in pieces.

    Args:
        is_list: whether the objects are items of a list, whose opening bracket has been read.
    """

    __slots__ = ("_is_list", "_depth", "_in_string", "_is_escaped", "_has_ended", "_object", "_length")

    def __init__(self, *, is_list: bool) -> None:
        self._is_list = is_list
        self._depth = 0
        self._in_string = False
        self._is_escaped = False
        self._has_ended = False
        self._object: list[str] = []
        self._length = 0

    def feed(self, text: str) -> Iterator[str]:
        """Take the next piece, and return the text of each object that it completes.

        Raises:
            ValueError: there is other text between the objects, or after a list.
        """
        if not text:
            return
        begin, at = 0, int(self._is_escaped)
        self._is_escaped = False
        while (mark := self._next_mark(text, at)) is not None:
            at = mark.end()
            if self._in_string:
                self._in_string = mark.group() != '"'
                if mark.group() == "\\":
                    self._is_escaped = at == len(text)
                    at += 1
            elif self._depth == 0:
                begin = mark.start()
                self._begin(mark.group(), text[begin:])
            elif mark.group() == '"':
                self._in_string = True
            else:
                self._depth += 1 if mark.group() in "[{" else -1
                if self._depth == 0:
                    self._add(text[begin:at])
                    yield "".join(self._object)
                    self._object, self._length = [], 0
        if self._depth:
            self._add(text[begin:])

    def _next_mark(self, text: str, at: int) -> re.Match[str] | None:
        if self._in_string:
            return _IN_STRING.search(text, at)
        return (_IN_OBJECT if self._depth else _BETWEEN_OBJECTS).search(text, at)

    def _begin(self, mark: str, rest: str) -> None:
        if mark == "]" and self._is_list and not self._has_ended:
            self._has_ended = True
        elif mark == "{" and not self._has_ended:
            self._depth = 1
        else:
            place = "in a JSON list of events" if self._is_list else "between events, which are JSON objects"
            message = f"there is {excerpt(rest, 100)} {place}"
            raise ValueError(message)

    def _add(self, text: str) -> None:
        self._length += len(text)
        _check_length(self._length)
        self._object.append(text)


def _check_length(length: int) -> None:
    if length > MAX_EVENT:
        message = f"an event is longer than {MAX_EVENT} characters"
        raise ValueError(message)


_LENGTH_BYTES = 4
_LEAST = 16
"""The bytes of a message without headers and payload."""


class EventMessages:
    """The messages of a binary stream that arrives in pieces of any size.

    Raises:
        ImportError: botocore isn't installed.
    """

    __slots__ = ("_parser", "_pending")

    def __init__(self) -> None:
        try:
            self._parser: Any = import_module("botocore.eventstream")
        except ImportError as error:
            message = "the bytes of Bedrock's stream need botocore: install it, or feed the events of boto3"
            raise ImportError(message) from error
        self._pending = bytearray()

    def feed(self, piece: bytes | bytearray) -> Iterator[tuple[str, str]]:
        """Take the next bytes.

        Returns:
            The events that they complete. The kind is `error` for an exception, otherwise empty; the data are
            JSON text with the type of the event as the only key.

        Raises:
            ValueError: the bytes aren't a stream of this kind.
        """
        pending = self._pending
        pending += piece
        start = 0
        try:
            while len(pending) - start >= _LENGTH_BYTES:
                length = int.from_bytes(pending[start : start + _LENGTH_BYTES], "big")
                if not _LEAST <= length <= MAX_EVENT:
                    message = f"a message of {length} bytes: this isn't an event stream"
                    raise ValueError(message)
                if len(pending) - start < length:
                    return
                start += length
                yield self._read(bytes(pending[start - length : start]))
        finally:
            del pending[:start]

    def _read(self, content: bytes) -> tuple[str, str]:
        buffer = self._parser.EventStreamBuffer()
        buffer.add_data(content)
        try:
            message = next(buffer)
        except self._parser.ParserError as error:
            raise ValueError(str(error)) from None
        headers, payload = message.headers, str(message.payload, "utf-8")
        if headers.get(":message-type") == "event":
            return "", f'{{"{headers.get(":event-type")}": {payload}}}'
        said = headers.get(":exception-type") or headers.get(":error-code") or "exception"
        return "error", f"{said}: {payload or headers.get(':error-message', '')}"
