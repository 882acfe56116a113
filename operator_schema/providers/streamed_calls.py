"""The calls of one stream while they arrive, with the text and the reasoning beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from .growing_text import GrowingText
from .response_json import checked_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..codec.codec import Codec
    from ..codec.partial import ArgumentStream, Partial
    from .property_names import KeysInText


class StreamedCall:
    """One call while it arrives. Each access shows the present content.

    Attributes:
        id: the id from the provider; None if it gives none.
    """

    __slots__ = ("id", "_wire_name", "_known", "_text", "_stream", "_fed", "_keys")

    def __init__(self, known: StreamedCalls, call_id: str | None, wire_name: str) -> None:
        self.id = call_id
        self._wire_name = wire_name
        self._known = known
        self._text = GrowingText()
        self._stream: tuple[str, ArgumentStream[Any] | None] | None = None
        self._fed = 0
        self._keys: KeysInText | None = None
        if known.own_keys:
            from .property_names import KeysInText  # few tools have keys that a provider refuses

            self._keys = KeysInText(known.own_keys)

    @property
    def name(self) -> str:
        """The name of the tool: its own name, if the tools are known."""
        return self._known.own_names.get(self._wire_name, self._wire_name)

    @property
    def arguments(self) -> str:
        """The JSON text of the arguments so far."""
        held = "" if self._keys is None else self._keys.held
        return f"{self._text.text}{held}" if held else self._text.text

    def since(self, number: int) -> tuple[int, str]:
        """Return the number of pieces of the arguments so far, and the text of those after a given number."""
        return self._text.since(number)

    @property
    def partial(self) -> Partial | None:
        """The typed arguments so far; None if the tool isn't known.

        Raises:
            Exception: your own code raised it for a value; ValueError and TypeError are not passed on.
        """
        name = self.name
        if self._stream is None or self._stream[0] != name:
            codec = self._known.codecs.get(name)
            self._stream, self._fed = (name, None if codec is None else self._stream_of(codec, name)), 0
        stream = self._stream[1]
        if stream is None:
            return None
        self._fed, new = self._text.since(self._fed)
        return stream.feed(new) if new else stream.partial

    def _stream_of(self, codec: Codec[Any], name: str) -> ArgumentStream[Any]:
        if name not in self._known.nullable:
            return codec.stream()
        from .nulls import without_nulls  # only some strict modes send such nulls

        return codec.stream(clean=without_nulls)

    @property
    def wire_name(self) -> str:
        """The name of the tool on the wire."""
        return self._wire_name

    def grow(self, text: Any, name: Any = None) -> None:
        """Add more data to a call.

        Args:
            text: the next piece of the arguments.
            name: the whole name, if more of it has come.

        Raises:
            TypeError: the piece or the name isn't text.
        """
        text = checked_text(text)
        if name is not None:
            self._wire_name = checked_text(name) or self._wire_name
        self._text.add(text if self._keys is None else self._keys.feed(text))
        self._known.grown[self] = None

    def __repr__(self) -> str:
        return f"<StreamedCall {self.name!r}, {len(self._text)} characters>"


class StreamedCalls:
    """The calls of one stream.

    Attributes:
        own_names: the tools' own names by the names on the wire.
        codecs: the codecs of the arguments by the own names of the tools.
        own_keys: the own names of properties by those on the wire, if these differ.
        nullable: the own names of the tools for which the model sends null for omitted arguments.
        said: the model's text besides the calls, as in `Answer.text`; it may be held back.
        grown: the calls that grew since this was last emptied.
    """

    __slots__ = ("own_names", "codecs", "own_keys", "nullable", "said", "grown", "_calls", "_thoughts")

    def __init__(
        self,
        own_names: Mapping[str, str],
        codecs: Mapping[str, Codec[Any]],
        own_keys: Mapping[str, str],
        nullable: Collection[str],
        said: GrowingText | None = None,
    ) -> None:
        self.own_names = own_names
        self.codecs = codecs
        self.own_keys = own_keys
        self.nullable = nullable
        self.said = GrowingText(between="\n") if said is None else said
        self.grown: dict[StreamedCall, None] = {}
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
        self.said.release()
        call = StreamedCall(self, call_id or None, "")
        call.grow(text, name)
        self._calls.append(call)
        return call

    def text_key(self, wire_name: Any) -> str:
        """Return the parameter for the text of a custom call; `input` if the tool isn't known."""
        codec = self.codecs.get(self.own_names.get(wire_name, wire_name))
        return (codec and text_key(codec)) or "input"

    def of_another_answer(self) -> StreamedCalls:
        """Return an object for the calls of another answer in the same response."""
        return StreamedCalls(self.own_names, self.codecs, self.own_keys, self.nullable)

    def adopt(self, others: StreamedCalls) -> None:
        """Take over the calls of another choice that turned out to be the same answer."""
        self._calls += others._calls
        self.grown.update(others.grown)
        others._calls = []

    def restart(self) -> None:
        """Forget everything, since the provider starts its answer again."""
        self.said = GrowingText(between="\n")
        self._thoughts = {}
        self._calls = []

    def all(self) -> list[StreamedCall]:
        """List the calls so far, in order."""
        return list(self._calls)

    def think(self, text: Any, part: Any = None, rank: int = 0) -> None:
        """Add text to the reasoning, as in `Answer.reasoning`.

        Args:
            text: the next piece of the reasoning.
            part: the part of the reasoning that the piece belongs to; parts are separated by an empty line.
            rank: the rank of its source. Some providers send the same reasoning in two places; the lowest
                rank counts.

        Raises:
            TypeError: the piece isn't text.
        """
        self._thoughts.setdefault(rank, GrowingText(between="\n\n")).add(text, part)

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return next((found.text for _, found in sorted(self._thoughts.items()) if len(found)), "")

    def start_piece(self) -> None:
        """Forget which text and calls were new, before the next piece comes."""
        self.grown.clear()
        self.said.new.clear()


def text_key(codec: Codec[Any]) -> str | None:
    """Return the only parameter of a tool whose only parameter takes any text; otherwise None."""
    schema = codec.json_schema()
    properties = schema.get("properties", {})
    if len(properties) != 1 or not schema.keys().isdisjoint({"patternProperties", "anyOf", "oneOf", "allOf"}):
        return None
    ((key, found),) = properties.items()
    is_text = is_object(found) and found.get("type") == "string" and found.keys() <= _SAID_OF_TEXT
    return key if is_text else None


_SAID_OF_TEXT = frozenset({"type", "title", "description", "default", "examples"})
