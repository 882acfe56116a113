"""A response that is still arriving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..immutable import Value
from ..json_values import copy_json, is_object
from ..wording import excerpt
from .answer import Answer, ResponseError, json_of, message_of, parsed, what_came
from .wire import failed_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .events import EventMessages, EventText
    from .growing import StreamedCall, StreamedCalls
    from .wire import Merger

__all__ = ["Delta", "Stream"]

_END = "[DONE]"


class Delta(Value):
    """What one piece of a stream added to the first answer.

    Attributes:
        text: that the model said beside its calls: print it as it is. A character whose second half hasn't
            come is left out until it has.
        calls: the calls that grew.
    """

    text: str
    calls: tuple[StreamedCall, ...]


class Stream:
    """One streamed response; `Provider.stream` makes it.

    A stream belongs to one response, and to one thread at a time. Once something was wrong with it, it takes
    nothing more: `feed`, `answers` and `close` raise the same error again.
    """

    __slots__ = ("_provider", "_merger", "_calls", "_read", "_text", "_binary", "_error", "_answers")

    def __init__(
        self,
        provider: str,
        merger: Merger,
        calls: StreamedCalls,
        read: Callable[[Mapping[str, Any]], tuple[Answer, ...]],
    ) -> None:
        self._provider = provider
        self._merger = merger
        self._calls = calls
        self._read = read
        self._text: EventText | None = None
        self._binary: EventMessages | None = None
        self._error: str | None = None
        self._answers: tuple[Answer, ...] | None = None

    @property
    def calls(self) -> list[StreamedCall]:
        """The calls of the first answer so far, in order; each one grows with the stream."""
        return self._calls.all()

    @property
    def is_complete(self) -> bool:
        """Whether the model's answer has ended; what still comes tells the tokens that it cost."""
        return self._merger.is_complete

    @property
    def text(self) -> str:
        """What the model has said so far beside its calls, as `Answer.text` has it at the end."""
        return self._calls.said.text

    @property
    def new_text(self) -> str:
        """What the last `feed`, or `close`, added to `text`: print it as it is.

        A character whose second half hasn't come is left out until it has.
        """
        return "".join(self._calls.said.new)

    @property
    def reasoning(self) -> str:
        """What the model has thought so far, as far as the provider shows it; see `Answer.reasoning`."""
        return self._calls.reasoning

    @property
    def response(self) -> dict[str, Any] | None:
        """The response so far, as the provider would have given it without a stream; None if nothing came.

        Each reading makes it anew.

        Raises:
            ResponseError: the events don't belong together.
        """
        found = self._response()
        return None if found is None else copy_json(found)

    def feed(self, piece: Any, /) -> Delta:
        """Take the next piece of the stream.

        Args:
            piece: text or bytes of any length, which may end anywhere; or one event, as a dict or as the
                object of the provider's SDK.

        Returns:
            The text that is new, and the calls that grew.

        Raises:
            ResponseError: an event is an error of the provider, or has another form.
            ImportError: these are the bytes of Bedrock's stream, and botocore isn't installed.
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
        except ResponseError as error:
            self._error = error.message
            raise
        return Delta(self.new_text, tuple(self._calls.grown))

    def answers(self) -> tuple[Answer, ...]:
        """Close the stream, and return the answer of each choice or candidate, as `Provider.answers` would.

        Raises:
            ResponseError: something was wrong with the stream.
        """
        self._check()
        if self._answers is None:
            self._calls.go_on()
            try:
                self._take_rest()
                self._answers = self._whole()
            except ResponseError as error:
                self._error = error.message
                raise
        return self._answers

    def close(self) -> Answer:
        """Close the stream, and return the first answer, as `Provider.answer` would without a stream.

        Returns:
            The same answer each time. Its `stop` is `interrupted` if the stream ended before the model's
            answer did.

        Raises:
            ResponseError: something was wrong with the stream.
        """
        return self.answers()[0]

    def _check(self) -> None:
        if self._error is not None:
            raise ResponseError(self._provider, self._error)

    def _take_text(self, piece: str | bytes | bytearray) -> None:
        if self._merger.is_binary and not isinstance(piece, str):
            if self._binary is None:
                from .events import EventMessages

                self._binary = EventMessages()
            found = self._binary.feed(piece)
        else:
            if self._text is None:
                from .events import EventText

                self._text = EventText()
            found = self._text.feed(piece)
        try:
            for kind, data in found:
                self._take_data(kind, data)
        except ValueError as error:
            if isinstance(error, ResponseError):
                raise
            raise ResponseError(self._provider, f"the stream can't be read: {error}") from None

    def _take_data(self, kind: str, data: str) -> None:
        if not data.strip() or data.strip() == _END:
            return
        event = parsed(data)
        if kind == "error" and not is_object(event):
            raise self._told(data)
        if event is None:
            raise ResponseError(self._provider, f"an event isn't valid JSON: {excerpt(data, 200)}")
        self._take(event, event)

    def _take(self, event: Any, piece: object) -> None:
        if not is_object(event):
            raise ResponseError(self._provider, f"an event is a JSON object, not {what_came(piece)}")
        try:
            error = _error_in(event)
            if error is None:
                self._merger.take(event)
        except ValueError as problem:
            raise ResponseError(self._provider, str(problem)) from None
        except Exception:  # noqa: BLE001  # an event may be anything, also a dict with code of its own
            raise ResponseError(self._provider, f"an event has another form: {_shown(event)}") from None
        if error is not None:
            raise self._told(error)

    def _told(self, error: object) -> ResponseError:
        return ResponseError(self._provider, f"the response is an error: {excerpt(error, 300)}")

    def _take_rest(self) -> None:
        """Take an event whose last line lacks its end."""
        if self._text is None:
            return
        try:
            for kind, data in self._text.finish():
                if kind == "error" or parsed(data) is not None:
                    self._take_data(kind, data)
        except ValueError as error:
            if isinstance(error, ResponseError):
                raise
            raise ResponseError(self._provider, f"the stream can't be read: {error}") from None

    def _whole(self) -> tuple[Answer, ...]:
        response = self._response()
        if response is None and self._text is not None and self._text.unknown:
            message = f"the stream holds no events; it has the line {excerpt(self._text.unknown, 200)}"
            raise ResponseError(self._provider, message)
        found = () if response is None else self._read(response)
        if found and self._merger.is_complete:
            return found
        found = found or (Answer((), "", None, "interrupted", None, ()),)
        return tuple([answer.replace(stop="interrupted").with_cut_marked() for answer in found])

    def _response(self) -> dict[str, Any] | None:
        try:
            return self._merger.response()
        except Exception:  # noqa: BLE001  # whatever came as an index can't be sorted
            raise ResponseError(self._provider, "the events don't belong together") from None


def _shown(event: object) -> str:
    try:
        return excerpt(event, 200)
    except Exception:  # noqa: BLE001  # a dict with code of its own
        return type(event).__name__


def _error_in(event: Mapping[str, Any]) -> Any:
    """Return the error that an event tells, in the provider's words; None if it tells none.

    A call that the provider refused is no error: the model can mend it.
    """
    if failed_calls(event):
        return None
    for holder in (event, event.get("response"), event.get("delta")):
        found: Any = holder.get("error") if is_object(holder) else None
        if found is not None:
            return message_of(found)
    if event.get("type") == "error":
        return event.get("message", event)
    for kind, value in event.items():
        if kind.endswith("Exception") and is_object(value):
            return f"{kind}: {value.get('message', '')}"
    return None
