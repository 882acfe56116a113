"""The answer so far of a streamed response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_reading import repeated_key
from ..json_values import is_object
from ..message_text import excerpt
from .answer import Answer, ResponseError
from .response_faults import message_of, what_came
from .response_json import json_of, parsed
from .wire_format import arguments_text, failed_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Generic

    from typing_extensions import TypeVar  # a type checker has it

    from ..codec.partial import Partial
    from .partial_output import PartialOutput
    from .partial_response import Merger
    from .stream_events import EventMessages, EventText
    from .streamed_calls import StreamedCall, StreamedCalls

    T = TypeVar("T", default=Any)
else:
    from ..immutable import Generic, T


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
        return self._without_output_calls(self._calls.all())

    def _without_output_calls(self, calls: Iterable[StreamedCall]) -> list[StreamedCall]:
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
        try:
            return self._merger.response()
        except Exception:  # noqa: BLE001  # any value that came as an index can't be sorted
            raise ResponseError(self._provider, "the stream mixes events of different responses") from None

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
        self._calls.start_piece()
        try:
            # `isinstance` would run code of the piece.
            if issubclass(type(piece), (str, bytes, bytearray)):
                self._take_text(piece)
            else:
                self._take(json_of(piece), piece)
            if self._calls.said.is_held and self._merger.is_complete:
                self._decide_held_text(self._whole()[0])
        except ResponseError as error:
            self._error = error.message
            raise
        return Delta(self.new_text, tuple(self._without_output_calls(self._calls.grown)))

    def answers(self) -> tuple[Answer[T], ...]:
        """Close the stream, and return the answer of each choice or candidate, as `Provider.answers` would.

        Raises:
            ResponseError: the stream had an error.
        """
        self._check()
        if self._answers is None:
            self._calls.start_piece()
            try:
                self._take_rest()
                self._answers = self._whole()
                self._decide_held_text(self._answers[0])
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

    def _decide_held_text(self, answer: Answer) -> None:
        """Show the text that was held back, or the calls in it."""
        held = self._calls.said
        if not held.is_held:
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
        # An SDK gives its events as objects; an import takes 1 µs even if the module is loaded.
        if self._merger.is_binary and not isinstance(piece, str):
            if self._binary is None:
                from .stream_events import EventMessages

                self._binary = EventMessages()
            found = self._binary.feed(piece)
        else:
            if self._text is None:
                from .stream_events import EventText

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
            raise self._provider_error(data)
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
                _WHOLE
                if self._is_whole(event)
                else f"an event isn't in the expected form: {_safe_excerpt(event)}"
            )
            raise ResponseError(self._provider, message) from None
        if error is not None:
            raise self._provider_error(error)
        if other is not None:  # as an unknown kind, it would be ignored, and all following events too
            message = (
                f"an event isn't in the expected form (it looks like one of {other}): {_safe_excerpt(event)}"
            )
            raise ResponseError(self._provider, message)
        if not self._merger.has_begun and self._is_whole(event):
            raise ResponseError(self._provider, _WHOLE)

    def _writer_of(self, event: Mapping[str, Any]) -> str | None:
        """Return the provider whose streams begin with such an event, if it is another provider."""
        kind = event.get("type")
        return _FIRST_EVENTS.get(kind) if isinstance(kind, str) and kind != self._merger.first_event else None

    def _is_whole(self, event: Mapping[str, Any]) -> bool:
        """Return whether the given event is a whole response."""
        try:
            return not self._merger.takes_responses and bool(self._read(event))
        except Exception:  # noqa: BLE001  # an event may be anything, also a dict with code of its own
            return False

    def _provider_error(self, error: object) -> ResponseError:
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
        response = self.response
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
        found = found or (self._empty_answer(),)
        return tuple([answer.replace(stop="interrupted").with_cut_marked() for answer in found])

    def _empty_answer(self) -> Answer:
        """Return the answer of a stream that ended before an answer began."""
        nothing = Answer((), "", None, "interrupted", None, ())
        return nothing if self._output is None else self._output.given(nothing)


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


def _safe_excerpt(event: object) -> str:
    try:
        return excerpt(event, 200)
    except Exception:  # noqa: BLE001  # a dict with code of its own
        return type(event).__name__


_FIRST_EVENTS = {
    "message_start": "Anthropic",
    "response.created": "OpenAI Responses",
    "message-start": "Cohere",
}
"""Types of first events of a stream that only one provider uses."""

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
