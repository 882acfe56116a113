"""Streamed responses: reading the events from text or bytes, and the answer so far."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from importlib import import_module
from json import JSONDecoder
from typing import TYPE_CHECKING, Any

from ..codec.json_text import RefusedTextError, check_depth
from ..immutable import Value
from ..json_reading import repeated_key
from ..json_values import copy_json, is_object
from ..message_text import excerpt
from .answer import FIRST_EVENTS, Answer, ResponseError, json_of, message_of, parsed, what_came
from .wire_format import arguments_text, failed_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Generic

    from typing_extensions import TypeVar  # a type checker has it

    from ..codec.partial import Partial
    from .output import PartialOutput
    from .partial_response import StreamedCall, StreamedCalls
    from .wire_format import Merger

    T = TypeVar("T", default=Any)
else:
    from ..immutable import Generic, T


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


_NO_DATA = frozenset({"", "[DONE]"})
"""The data of events without content: empty data, and the end mark."""


class Delta(Value):
    """The addition of one piece of a stream to the first answer.

    Attributes:
        text: the new text of the model besides its calls: print it unchanged. If the second half of a
            character hasn't arrived yet, the character is left out until it has.
        calls: the calls that grew.
    """

    text: str
    calls: tuple[StreamedCall, ...]


class Stream(Generic[T]):
    """One streamed response; `Provider.stream` makes it.

    A stream is for one response, and for one thread at a time. After an error it accepts nothing more:
    `feed`, `answers` and `close` raise the same error again.
    """

    __slots__ = (
        "_provider",
        "_merger",
        "_calls",
        "_read",
        "_output",
        "_text",
        "_binary",
        "_error",
        "_answers",
    )

    def __init__(
        self,
        provider: str,
        merger: Merger,
        calls: StreamedCalls,
        read: Callable[[Mapping[str, Any]], tuple[Answer, ...]],
        output: PartialOutput | None = None,
    ) -> None:
        self._provider = provider
        self._merger = merger
        self._calls = calls
        self._read = read
        self._output = output
        self._text: EventText | None = None
        self._binary: EventMessages | None = None
        self._error: str | None = None
        self._answers: tuple[Answer, ...] | None = None

    @property
    def calls(self) -> list[StreamedCall]:
        """The calls of the first answer so far, in order; each one grows with the stream."""
        return self._own(self._calls.all())

    def _own(self, calls: Iterable[StreamedCall]) -> list[StreamedCall]:
        return [*calls] if self._output is None else self._output.without(calls)

    @property
    def partial_output(self) -> Partial | None:
        """The typed answer so far, if `output=` asked for a type; None before any of it has come.

        If the type has no fields, this is its field `value`. While a list arrives, it is the list of the
        items that have ended and fit.

        Raises:
            Exception: your own code raised it for a value; ValueError and TypeError are not passed on.
            ValueError: no output was requested.
        """
        if self._output is None:
            message = "no output was asked for: write stream(offer, output=…), as for the request"
            raise ValueError(message)
        return self._output.partial

    @property
    def is_complete(self) -> bool:
        """Whether the model's answer has ended; later events only report its tokens."""
        return self._merger.is_complete

    @property
    def text(self) -> str:
        """The text of the answer so far; at the end it is `Answer.text`."""
        return self._calls.said.text

    @property
    def new_text(self) -> str:
        """The text that the last `feed`, or `close`, added to `text`: print it unchanged.

        An incomplete character is left out until its second half has come.
        """
        return "".join(self._calls.said.new)

    @property
    def reasoning(self) -> str:
        """The reasoning of the model so far, as far as the provider shows it; see `Answer.reasoning`."""
        return self._calls.reasoning

    @property
    def response(self) -> dict[str, Any] | None:
        """The response so far, in the form that it would have without a stream; None if nothing came.

        Each access builds it again.

        Raises:
            ResponseError: the stream mixes events of different responses.
        """
        found = self._response()
        return None if found is None else copy_json(found)

    def feed(self, piece: Any, /) -> Delta:
        """Take the next piece of the stream.

        Args:
            piece: text or bytes of any length, which may end anywhere; or one event, as a dict or as an
                object of the provider's SDK.

        Returns:
            The text that is new, and the calls that grew.

        Raises:
            ResponseError: an event is an error of the provider, or isn't in the expected form.
            ImportError: the bytes are those of Bedrock's stream, and botocore isn't installed.
        """
        self._check()
        if self._answers is not None:
            raise ResponseError(self._provider, "the stream has been closed")
        self._calls.go_on()
        try:
            # `isinstance` would run code of the piece.
            if issubclass(type(piece), (str, bytes, bytearray)):
                self._take_text(piece)
            else:
                self._take(json_of(piece), piece)
            if self._calls.is_held and self._merger.is_complete:
                self._settle(self._whole()[0])
        except ResponseError as error:
            self._error = error.message
            raise
        return Delta(self.new_text, tuple(self._own(self._calls.grown)))

    def answers(self) -> tuple[Answer[T], ...]:
        """Close the stream, and return the answer of each choice or candidate, as `Provider.answers` would.

        Raises:
            ResponseError: the stream had an error.
        """
        self._check()
        if self._answers is None:
            self._calls.go_on()
            try:
                self._take_rest()
                self._answers = self._whole()
                self._settle(self._answers[0])
            except ResponseError as error:
                self._error = error.message
                raise
        return self._answers

    def close(self) -> Answer[T]:
        """Close the stream, and return the first answer, as `Provider.answer` would without a stream.

        Returns:
            The same answer each time. Its `stop` is `interrupted` if the stream ended before the model's
            answer did.

        Raises:
            ResponseError: the stream had an error.
        """
        return self.answers()[0]

    def _settle(self, answer: Answer) -> None:
        """Show the text that was held back, or the calls in it."""
        held = self._calls.held
        if held is None or not held.is_held:
            return
        calls = answer.all_calls
        if not any(call.is_from_text for call in calls):
            held.release()
            return
        held.drop()
        for call in calls:
            self._calls.begin(call.id, call.name, arguments_text(call))

    def _check(self) -> None:
        if self._error is not None:
            raise ResponseError(self._provider, self._error)

    def _take_text(self, piece: str | bytes | bytearray) -> None:
        if self._merger.is_binary and not isinstance(piece, str):
            if self._binary is None:
                self._binary = EventMessages()
            found = self._binary.feed(piece)
        else:
            if self._text is None:
                self._text = EventText()
            found = self._text.feed(piece)
        self._take_each(found)

    def _take_each(self, events: Iterable[tuple[str, str]]) -> None:
        """Take events while they are read from text or bytes, which may not be readable."""
        try:
            for kind, data in events:
                self._take_data(kind, data)
        except ValueError as error:
            if isinstance(error, ResponseError):
                raise
            raise ResponseError(self._provider, f"the stream can't be read: {error}") from None

    def _take_data(self, kind: str, data: str) -> None:
        if kind in _SIGNS_OF_LIFE or data.strip() in _NO_DATA:
            return
        event = parsed(data)
        if kind == "error" and not is_object(event):
            raise self._told(data)
        if event is None:
            what = repeated_key(data) or "an event isn't valid JSON"
            raise ResponseError(self._provider, f"{what}: {excerpt(data, 200)}")
        self._take(event, event)

    def _take(self, event: Any, piece: object) -> None:
        if not is_object(event):
            message = _WHOLE if _is_item(piece) else f"an event must be a JSON object, not {what_came(piece)}"
            raise ResponseError(self._provider, message)
        try:
            error, other = _error_in(event), self._writer_of(event)
            if error is None and other is None:
                self._merger.take(event)
        except ValueError as problem:
            raise ResponseError(self._provider, str(problem)) from None
        except Exception:  # noqa: BLE001  # an event may be anything, also a dict with code of its own
            message = (
                _WHOLE if self._is_whole(event) else f"an event isn't in the expected form: {_shown(event)}"
            )
            raise ResponseError(self._provider, message) from None
        if error is not None:
            raise self._told(error)
        if other is not None:  # as an unknown kind, it would be ignored, and all following events too
            message = f"an event isn't in the expected form (it looks like one of {other}): {_shown(event)}"
            raise ResponseError(self._provider, message)
        if not self._merger.has_begun and self._is_whole(event):
            raise ResponseError(self._provider, _WHOLE)

    def _writer_of(self, event: Mapping[str, Any]) -> str | None:
        """Return the provider whose streams begin with such an event, if it is another provider."""
        kind = event.get("type")
        return FIRST_EVENTS.get(kind) if isinstance(kind, str) and kind != self._merger.first_event else None

    def _is_whole(self, event: Mapping[str, Any]) -> bool:
        """Return whether the given event is a whole response."""
        try:
            return not self._merger.takes_responses and bool(self._read(event))
        except Exception:  # noqa: BLE001  # an event may be anything, also a dict with code of its own
            return False

    def _told(self, error: object) -> ResponseError:
        return ResponseError(self._provider, f"the response is an error: {excerpt(error, 300)}")

    def _take_rest(self) -> None:
        """Take an event whose last line lacks its end, unless its JSON was cut off."""
        events = () if self._text is None else self._text.finish()
        self._take_each(
            (kind, data)
            for kind, data in events
            if kind == "error" or parsed(data) is not None or data.lstrip()[:1] not in _BEGIN_JSON
        )

    def _whole(self) -> tuple[Answer, ...]:
        response = self._response()
        if response is None and self._text is not None and self._text.unknown:
            line = self._text.unknown
            # Joined together, the keys of a dict are one long name.
            is_dict = line.isidentifier()
            message = (
                _WHOLE if is_dict else f"the stream contains no events; it has the line {excerpt(line, 200)}"
            )
            raise ResponseError(self._provider, message)
        found = () if response is None else self._read(response)
        if found and self._merger.is_complete:
            return found
        found = found or (self._nothing(),)
        return tuple([answer.replace(stop="interrupted").with_cut_marked() for answer in found])

    def _nothing(self) -> Answer:
        """Return the answer of a stream that ended before an answer began."""
        nothing = Answer((), "", None, "interrupted", None, ())
        return nothing if self._output is None else self._output.given(nothing)

    def _response(self) -> dict[str, Any] | None:
        try:
            return self._merger.response()
        except Exception:  # noqa: BLE001  # whatever came as an index can't be sorted
            raise ResponseError(self._provider, "the stream mixes events of different responses") from None


_BEGIN_JSON = frozenset('{["-0123456789tfn')
_SIGNS_OF_LIFE = frozenset({"ping", "keepalive"})
"""Events that only show that the connection is open; their data don't matter."""

_WHOLE = (
    "this is a whole answer, not a stream: did you send stream=True? provider.answer(…) reads it as it is"
)
"""The error if the caller iterates over one response, or gives one as an event."""


def _is_item(piece: object) -> bool:
    """Return whether a piece is a pair of a name and a value, as iterating over an SDK's object yields."""
    item: Any = piece
    is_pair = type(piece) is tuple and len(item) == 2  # noqa: PLR2004  # as said
    return is_pair and type(item[0]) is str


def _shown(event: object) -> str:
    try:
        return excerpt(event, 200)
    except Exception:  # noqa: BLE001  # a dict with code of its own
        return type(event).__name__


_ERRORS = frozenset({"response.error", "response.failed"})
"""OpenAI's events for an error of the whole response; other events report errors of a part of it."""


def _error_in(event: Mapping[str, Any]) -> Any:
    """Return the error that an event reports, in the provider's words; None if there is none.

    A call that the provider refused isn't an error: the model can correct it.
    """
    if "error" in event and failed_calls(event):
        return None
    kind = event.get("type")
    # For example, a refused interruption: the response continues.
    is_inside = isinstance(kind, str) and kind.startswith("response.") and kind not in _ERRORS
    for holder in (None if is_inside else event, event.get("response"), event.get("delta")):
        found: Any = holder.get("error") if holder and is_object(holder) else None
        if found is not None:
            return message_of(found)
    if kind == "error":
        return event.get("message", event)
    for kind, value in event.items():
        if kind.endswith("Exception") and is_object(value):
            return f"{kind}: {value.get('message', '')}"
    return None
