"""Calls whose arguments are still arriving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .property_names import KeysInText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..codec.codec import Codec
    from ..codec.partial.stream import ArgumentStream, Partial

__all__ = ["StreamedCall", "StreamedCalls"]


class StreamedCall:
    """One call while it arrives; it shows what has come whenever it is read.

    Attributes:
        id: that the provider gave; None if it gives none.
    """

    __slots__ = ("id", "_wire_name", "_known", "_pieces", "_joined", "_stream", "_fed", "_keys")

    def __init__(self, known: StreamedCalls, call_id: str | None, wire_name: str) -> None:
        self.id = call_id
        self._wire_name = wire_name
        self._known = known
        self._pieces: list[str] = []
        self._joined: tuple[int, str] | None = (0, "")
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
        return f"{self._certain()}{held}" if held else self._certain()

    def _certain(self) -> str:
        known = self._joined
        assert known is not None  # noqa: S101  # it is None below alone
        number, text = known
        if number == len(self._pieces):
            return text
        # Nothing else holds the text now, so that Python appends to it in place.
        self._joined = known = None
        for piece in self._pieces[number:]:
            text += piece
        self._joined = len(self._pieces), text
        return text

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
        new = "".join(self._pieces[self._fed :])
        self._fed = len(self._pieces)
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
        if text:
            self._pieces.append(text if self._keys is None else self._keys.feed(text))
        self._known.grown[self] = None

    def __repr__(self) -> str:
        return f"<StreamedCall {self.name!r}, {sum(map(len, self._pieces))} characters>"


class StreamedCalls:
    """The calls of one stream.

    Attributes:
        own_names: name of a tool on the wire to its own.
        codecs: of the arguments of tools, by their own names.
        own_keys: name of a property on the wire to its own, where these differ.
        grown: the calls that grew since this was last emptied.
    """

    __slots__ = ("own_names", "codecs", "own_keys", "grown", "_calls")

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
