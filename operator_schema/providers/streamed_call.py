"""Calls whose arguments are still arriving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from .merger import joined
from .property_names import KeysInText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..codec.codec import Codec
    from ..codec.partial import ArgumentStream, Partial

__all__ = ["GrowingText", "StreamedCall", "StreamedCalls", "StreamedInput"]


class GrowingText:
    """A text that arrives in pieces; each reading costs what is new.

    Args:
        between: stands between the pieces of two parts.

    Attributes:
        new: the pieces since this was last emptied; half a character is left out until it is whole.
    """

    __slots__ = ("new", "_between", "_half", "_known", "_length", "_part", "_pieces")

    def __init__(self, between: str = "") -> None:
        self.new: list[str] = []
        self._between = between
        self._part: Any = None
        self._half = ""
        self._length = 0
        self._pieces: list[str] = []
        self._known: tuple[int, str] | None = (0, "")

    def add(self, text: Any, part: Any = None) -> None:
        """Take the next piece.

        Args:
            text: the piece.
            part: of the whole text, to which it belongs.

        Raises:
            TypeError: it isn't text.
        """
        if not isinstance(text, str):
            message = "expected text"
            raise TypeError(message)
        if not text:
            return
        if self._pieces and part != self._part:
            text = self._between + text
        self._part = part
        # A character beyond U+FFFF may have its two surrogates in two pieces.
        text = joined([self._half, text])
        self._half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        text = text.removesuffix(self._half)
        self._length += len(text)
        self._pieces.append(text)
        self.new.append(text)

    def __len__(self) -> int:
        return self._length + len(self._half)

    @property
    def text(self) -> str:
        """All that has come."""
        known = self._known
        assert known is not None  # noqa: S101  # it is None below alone
        number, text = known
        if number < len(self._pieces):
            # Nothing else holds the text now, so that Python appends to it in place.
            self._known = known = None
            for piece in self._pieces[number:]:
                text += piece
            self._known = len(self._pieces), text
        return f"{text}{self._half}" if self._half else text

    def since(self, number: int) -> tuple[int, str]:
        """Return how many pieces have come, and the text of those after a number of them."""
        return len(self._pieces), "".join(self._pieces[number:])


class StreamedCall:
    """One call while it arrives; it shows what has come whenever it is read.

    Attributes:
        id: that the provider gave; None if it gives none.
    """

    __slots__ = ("id", "_wire_name", "_known", "_text", "_stream", "_fed", "_keys")

    def __init__(self, known: StreamedCalls, call_id: str | None, wire_name: str) -> None:
        self.id = call_id
        self._wire_name = wire_name
        self._known = known
        self._text = GrowingText()
        self._stream: tuple[str, ArgumentStream[Any] | None] | None = None
        self._fed = 0
        self._keys = KeysInText(known.own_keys) if known.own_keys else None

    @property
    def name(self) -> str:
        """Name of the tool: its own, where the tools are known."""
        return self._known.own_names.get(self._wire_name, self._wire_name)

    @property
    def arguments(self) -> str:
        """The JSON text of the arguments so far."""
        held = "" if self._keys is None else self._keys.held
        return f"{self._text.text}{held}" if held else self._text.text

    @property
    def partial(self) -> Partial | None:
        """What is known of the arguments so far, typed; None if the tool isn't known.

        Raises:
            Exception: that code of your own raises for a value, other than ValueError and TypeError.
        """
        name = self.name
        if self._stream is None or self._stream[0] != name:
            codec = self._known.codecs.get(name)
            self._stream, self._fed = (name, None if codec is None else codec.stream()), 0
        stream = self._stream[1]
        if stream is None:
            return None
        self._fed, new = self._text.since(self._fed)
        return stream.feed(new) if new else stream.partial

    @property
    def wire_name(self) -> str:
        """Name of the tool as the provider has it."""
        return self._wire_name

    def grow(self, text: Any, name: Any = None) -> None:
        """Take more of a call, as its wire form found it.

        Args:
            text: of the arguments.
            name: the whole of it, if more of it has come.

        Raises:
            TypeError: one of them isn't text.
        """
        if not isinstance(text, str) or not isinstance(name, (str, type(None))):
            message = "expected text"
            raise TypeError(message)
        if name:
            self._wire_name = name
        self._text.add(text if self._keys is None else self._keys.feed(text))
        self._known.grown[self] = None

    def __repr__(self) -> str:
        return f"<StreamedCall {self.name!r}, {len(self._text)} characters>"


class StreamedInput:
    """The text that a custom tool takes, while it arrives: its call shows it as the argument `input`.

    Args:
        known: the calls, to which this one is added.
        call_id: as the call has it in the answer.
        name: of the tool on the wire.
    """

    __slots__ = ("_call", "_has_ended", "_text")

    def __init__(self, known: StreamedCalls, call_id: str, name: Any) -> None:
        self._text = GrowingText()
        self._has_ended = False
        self._call = known.begin(call_id, name, '{"input":"')

    def grow(self, text: Any) -> None:
        """Take more of the text."""
        self._text.add(text)
        self._call.grow(to_json_text(text)[1:-1])

    def end(self) -> None:
        """Take its end."""
        if not self._has_ended:
            self._call.grow('"}')
        self._has_ended = True

    @property
    def text(self) -> str:
        """All that has come."""
        return self._text.text


class StreamedCalls:
    """The calls of one stream.

    Attributes:
        own_names: name of a tool on the wire to its own.
        codecs: of the arguments of tools, by their own names.
        own_keys: name of a property on the wire to its own, where these differ.
        grown: the calls that grew since this was last emptied.
        said: what the model says beside the calls, as `Answer.text` has it.
    """

    __slots__ = ("own_names", "codecs", "own_keys", "grown", "said", "_calls", "_thoughts")

    def __init__(
        self,
        own_names: Mapping[str, str],
        codecs: Mapping[str, Codec[Any]],
        own_keys: Mapping[str, str],
    ) -> None:
        self.own_names = own_names
        self.codecs = codecs
        self.own_keys = own_keys
        self.grown: dict[StreamedCall, None] = {}
        self.said = GrowingText(between="\n")
        self._thoughts: dict[int, GrowingText] = {}
        self._calls: list[StreamedCall] = []

    def begin(self, call_id: Any, name: Any, text: Any = "") -> StreamedCall:
        """Add a call.

        Raises:
            TypeError: an id, name or text isn't text.
        """
        if not isinstance(call_id, (str, type(None))):
            message = "expected an id"
            raise TypeError(message)
        call = StreamedCall(self, call_id or None, "")
        call.grow(text, name)
        self._calls.append(call)
        return call

    def all(self) -> list[StreamedCall]:
        """List the calls so far, in order."""
        return list(self._calls)

    def think(self, text: Any, part: Any = None, rank: int = 0) -> None:
        """Take more of what the model thinks, as `Answer.reasoning` has it.

        Args:
            text: of it.
            part: of the reasoning, to which it belongs; an empty line stands between two.
            rank: of the place where the provider says it. Some say the same in two places: the lowest counts.

        Raises:
            TypeError: it isn't text.
        """
        self._thoughts.setdefault(rank, GrowingText(between="\n\n")).add(text, part)

    @property
    def reasoning(self) -> str:
        """What the model thinks, so far."""
        return next((found.text for _, found in sorted(self._thoughts.items()) if len(found)), "")

    def go_on(self) -> None:
        """Begin to count what is new."""
        self.grown.clear()
        self.said.new.clear()
