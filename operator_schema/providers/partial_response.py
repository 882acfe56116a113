"""Answers while they arrive, up to the response that would have come without a stream.

Each wire form has a `Merger`, which reads its events. It stores their content in one tree of objects, lists,
texts and inputs of calls that grow; the whole tree is the response.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..json_values import copy_json, is_array, is_object, to_json_text
from .answer import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from ..codec.codec import Codec
    from ..codec.partial import ArgumentStream, Partial
    from .property_names import KeysInText

_TOLD_AGAIN = frozenset(
    {
        *("call_id", "created_at", "finish_reason", "format", "id", "model", "name"),
        *("native_finish_reason", "object", "role", "status", "type"),
    }
)
"""Keys of texts that are sent whole: if such a text comes again, it isn't appended."""

_IDS = frozenset({"call_id", "id"})


def says_nothing(key: str, value: Any) -> bool:
    """Return whether a value is empty, so that it must not replace a known one: some servers send these.

    An id may be the text `null`, the default of Mistral's SDK.
    """
    return value is None or value == "" or (value == "null" and key in _IDS)


class _Growing:
    """A part of a response that grows.

    Args:
        first: the first value of the part.
    """

    __slots__ = ()

    def __init__(self, first: Any = None) -> None:
        raise NotImplementedError

    def whole(self) -> Any:
        """Return the present value of the part."""
        raise NotImplementedError


_Part = TypeVar("_Part", bound=_Growing)


class GrowingObject(_Growing):
    """A JSON object that grows.

    Args:
        first: the first content of the object; it is copied.

    Attributes:
        content: the content of the object, without the parts that grow.
    """

    __slots__ = ("content", "_growing")

    def __init__(self, first: Any = None) -> None:
        self.content: dict[str, Any] = copy_json(dict(first)) if is_object(first) else {}
        self._growing: dict[str, _Growing] = {}

    def hold(self, key: str, part: _Part) -> _Part:
        """Store a growing part under a key, and return it."""
        self._growing[key] = part
        return part

    def held(self, key: str, kind: type[_Part]) -> _Part:
        """Return the growing part under a key; make it from the value there, if that is of another kind."""
        found = self._growing.get(key)
        return found if isinstance(found, kind) else self.hold(key, kind(self.content.get(key)))

    def numbered(self, key: str) -> dict[Any, GrowingObject]:
        """Return the list of numbered objects under a key; more objects may be added."""
        found = self._growing.get(key)
        if not isinstance(found, NumberedList):
            found = self.hold(key, NumberedList({}))
        return found.items

    def holds(self, *keys: str) -> bool:
        """Return whether there is a growing part under one of these keys."""
        return not self._growing.keys().isdisjoint(keys)

    @property
    def is_empty(self) -> bool:
        """Whether the object has no content yet."""
        return not (self.content or self._growing)

    def append(self, key: str, text: Any) -> None:
        """Append text to the text under a key.

        Raises:
            TypeError: the addition isn't text.
        """
        self.held(key, _Texts).pieces.append(_checked_text(text))

    def take(self, more: Mapping[str, Any], but: Collection[str] = ()) -> None:
        """Merge an addition into the object by its form: texts and lists get longer, and nested objects too.

        Numbers, booleans and texts that repeat something, such as ids, replace the previous value. Empty
        values don't.

        Args:
            more: the addition to the object.
            but: keys that are ignored.
        """
        for key, value in more.items():
            if value is None or key in but:
                continue
            if isinstance(value, str) and key not in _TOLD_AGAIN:
                self.append(key, value)
            elif isinstance(value, bytes):
                self.held(key, _Bytes).pieces.append(value)
            elif is_array(value):
                self.held(key, GrowingList).take(value)
            elif is_object(value):
                self.held(key, GrowingObject).take(value)
            elif not (self.content.get(key) and says_nothing(key, value)):
                self.content[key] = value

    def put(self, more: Mapping[str, Any], but: Collection[str] = ()) -> None:
        """Update the object with later values; ignore null, and empty values for known keys.

        Args:
            more: the later values.
            but: keys that are ignored.
        """
        content = self.content
        for key, value in more.items():
            if key in but or value is None:
                continue
            known = content.get(key)
            # Each chunk repeats most of the data about the whole.
            is_repeated = value.__class__ is str and value == known
            if not (is_repeated or (known and says_nothing(key, value))):
                content[key] = copy_json(value)

    def whole(self) -> dict[str, Any]:
        """Return the present value of the object."""
        return {**copy_json(self.content), **{key: found.whole() for key, found in self._growing.items()}}


class _Texts(_Growing):
    """A text that grows."""

    __slots__ = ("pieces",)

    def __init__(self, first: Any = None) -> None:
        self.pieces = [first] if isinstance(first, str) else []

    def whole(self) -> str:
        return joined(self.pieces)


class _Bytes(_Growing):
    """Bytes that grow, in the form of an SDK."""

    __slots__ = ("pieces",)

    def __init__(self, first: Any = None) -> None:
        self.pieces = [first] if isinstance(first, bytes) else []

    def whole(self) -> bytes:
        return b"".join(self.pieces)


class GrowingList(_Growing):
    """A list that gets longer, of values and of objects that grow.

    Args:
        first: the first items, merged by their form.
    """

    __slots__ = ("_by_index", "_items")

    def __init__(self, first: Any = None) -> None:
        self._items: list[Any] = []
        self._by_index: dict[int, GrowingObject] = {}
        if is_array(first):
            self.take(first)

    def take(self, more: list[Any]) -> None:
        """Merge items by their form: an item with the `index` of an existing object continues that object."""
        for item in more:
            index = item.get("index") if is_object(item) else None
            if type(index) is not int:
                self._items.append(copy_json(item))
            elif index in self._by_index:
                self._by_index[index].take(item)
            else:
                self._by_index[index] = self.add(GrowingObject(item))

    def add(self, item: _Part) -> _Part:
        """Append a growing item, and return it."""
        self._items.append(item)
        return item

    @property
    def last(self) -> Any:
        """The last item; None if the list is empty."""
        return self._items[-1] if self._items else None

    def whole(self) -> list[Any]:
        """Return the present value of the list."""
        return [item.whole() if isinstance(item, _Growing) else copy_json(item) for item in self._items]


class NumberedList(_Growing):
    """A list of growing objects, in the order of the numbers that the provider gives them.

    Args:
        first: the objects by their numbers; more may be added.
    """

    __slots__ = ("items",)

    def __init__(self, first: dict[Any, Any]) -> None:
        self.items: dict[Any, GrowingObject] = first

    def whole(self) -> list[Any]:
        """Return the present value of the list.

        Raises:
            TypeError: the provider's numbers can't be sorted.
        """
        return [item.whole() for _, item in sorted(self.items.items())]


class GrowingBlock(GrowingObject):
    """A part, block or item of an answer, which may be a call.

    Args:
        first: the first value of the block.

    Attributes:
        input: the input of a call; None if the block isn't a call.
    """

    __slots__ = ("input",)

    def __init__(self, first: Any = None) -> None:
        super().__init__(first)
        self.input: GrowingInput | None = None

    def hold_input(self, value: GrowingInput, *place: str) -> GrowingInput:
        """Store the growing input of a call in the block, and return it."""
        *objects, key = place
        holder: GrowingObject = self
        for step in objects:
            holder = holder.held(step, GrowingObject)
        self.input = holder.hold(key, value)
        return value


class GrowingInput(_Growing):
    """The input of a call while it arrives.

    Args:
        call: the call that shows the input; None for a call that the provider runs itself.
        first: the value in the response until more arrives.
        as_value: whether the response has the parsed value of the text instead of the text.
    """

    __slots__ = ("call", "_as_value", "_first", "_given", "_pieces")

    def __init__(self, call: StreamedCall | None = None, first: Any = "", *, as_value: bool = False) -> None:
        self.call = call
        self._first = first
        self._as_value = as_value
        self._given: Any = None
        self._pieces: list[str] = []

    def grow(self, text: Any) -> None:
        """Append a piece of the text.

        Raises:
            TypeError: the piece isn't text.
        """
        self._pieces.append(_checked_text(text))
        if self.call is not None:
            self.call.grow(text)

    def give(self, value: Any) -> None:
        """Set the whole value, as it is in the response."""
        self._given = copy_json(value)

    def end(self) -> None:
        """End the input; the text of arguments needs nothing more."""

    @property
    def has_begun(self) -> bool:
        """Whether any of the text has come."""
        return any(self._pieces)

    def whole(self) -> Any:
        """Return the present value in the response."""
        if self._given is not None:
            return self._given
        text = joined(self._pieces)
        if not text:
            return copy_json(self._first)
        return value_of(text) if self._as_value else text


class CustomInput(GrowingInput):
    """The text for a custom tool while it arrives: the call shows it as the argument `input`.

    Args:
        known: the calls, to which this call is added.
        call_id: the id of the call in the answer.
        name: the name of the tool on the wire.
    """

    __slots__ = ("_has_ended", "_shown")

    def __init__(self, known: StreamedCalls, call_id: str, name: Any) -> None:
        self._shown = known.begin(call_id, name, f'{{{to_json_text(known.text_key(name))}:"')
        self._has_ended = False
        super().__init__(self._shown)

    def grow(self, text: Any) -> None:
        """Append a piece of the text."""
        self._pieces.append(_checked_text(text))
        self._shown.grow(to_json_text(text)[1:-1])

    def end(self) -> None:
        """End the text."""
        if not self._has_ended:
            self._shown.grow('"}')
        self._has_ended = True


def _checked_text(text: Any) -> str:
    if isinstance(text, str):
        return text
    message = "expected text"
    raise TypeError(message)


_SAID_OF_TEXT = frozenset({"type", "title", "description", "default", "examples"})


def text_key(codec: Codec[Any]) -> str | None:
    """Return the only parameter of a tool whose only parameter takes any text; otherwise None."""
    schema = codec.json_schema()
    properties = schema.get("properties", {})
    if len(properties) != 1 or not schema.keys().isdisjoint({"patternProperties", "anyOf", "oneOf", "allOf"}):
        return None
    ((key, found),) = properties.items()
    is_text = is_object(found) and found.get("type") == "string" and found.keys() <= _SAID_OF_TEXT
    return key if is_text else None


def joined(texts: list[str]) -> str:
    """Join texts; the two surrogates of a character may be in two of them."""
    found = "".join(texts)
    try:
        found.encode()
    except UnicodeEncodeError:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return found


class GrowingText:
    """A text that arrives in pieces; reading it takes time only for new pieces.

    Args:
        between: text between the pieces of two parts.

    Attributes:
        new: the pieces since this was last emptied; half of a character is held back until the rest comes.
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
        """Append the next piece.

        Args:
            text: the piece.
            part: the part of the whole text that the piece belongs to.

        Raises:
            TypeError: the piece isn't text.
        """
        text = _checked_text(text)
        if not text:
            return
        if self._pieces and part != self._part:
            text = self._between + text
        self._part = part
        if self._half or not text.isascii():
            # The two surrogates of a character beyond U+FFFF may be in two pieces.
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
        """The text so far."""
        known = self._known
        assert known is not None  # noqa: S101  # it is None below alone
        number, text = known
        if number < len(self._pieces):
            # The text has no other reference here, so Python appends to it in place.
            self._known = known = None
            for piece in self._pieces[number:]:
                text += piece
            self._known = len(self._pieces), text
        return f"{text}{self._half}" if self._half else text

    def since(self, number: int) -> tuple[int, str]:
        """Return the number of pieces so far, and the text of the pieces after a given number."""
        return len(self._pieces), "".join(self._pieces[number:])


class HeldText(GrowingText):
    """A text that may turn out to consist of calls: it isn't shown until that is decided.

    A thought of the model at the beginning is shown at once.

    Args:
        may_become_calls: a function that returns whether a text with this beginning may become calls.

    Attributes:
        is_held: whether the decision is still open.
    """

    __slots__ = (
        "_has_thought",
        "_length_held",
        "_may_become_calls",
        "_next_look",
        "_thought_end",
        "_waiting",
        "is_held",
    )

    def __init__(self, may_become_calls: Callable[[str], bool]) -> None:
        super().__init__(between="\n")
        self.is_held = True
        self._thought_end: str | None = None
        self._has_thought = False
        self._may_become_calls = may_become_calls
        self._waiting: list[tuple[str, Any]] = []
        self._length_held = self._next_look = 0

    def add(self, text: Any, part: Any = None) -> None:
        """Append the next piece, and show the text as soon as it can't be a call any more."""
        if not self.is_held:
            super().add(text, part)
            return
        self._waiting.append((_checked_text(text), part))
        self._length_held += len(text)
        if self._length_held >= self._next_look:
            self._look("".join([piece for piece, _ in self._waiting]))

    def _look(self, text: str) -> None:
        """Decide about the text that is held back, if that is possible."""
        begin = text.lstrip()
        if self._thought_end is None:
            may_start = any(start.startswith(begin) for start in THOUGHTS)
            unless = None if may_start else ""
            self._thought_end = next(
                (THOUGHTS[start] for start in THOUGHTS if begin.startswith(start)), unless
            )
        if self._thought_end:
            text = self._show_thought(text, self._thought_end)
        if self._thought_end == "":
            # A long text is checked only a few times, so that all checks together take linear time.
            self._next_look = max(len(text) + 1, len(text) * 3 // 2 - _SHORT)
            if not self._may_become_calls(text):
                self._show(text)

    def _show(self, text: str) -> None:
        """Show a text that isn't a call; the model's template may have written the beginning of a thought."""
        if self._has_thought:
            self.release()
            return
        self._thought_end, self._next_look = _END_ALONE, 0
        self._look(text)

    def _show_thought(self, text: str, end: str) -> str:
        """Show a thought, and return the text after it; hold back a possible beginning of its end mark."""
        before, found, after = text.partition(end)
        self._has_thought = bool(found)
        self._thought_end = "" if found else end
        kept = 0 if found else next(size for size in range(len(end) - 1, -1, -1) if text.endswith(end[:size]))
        length = len(before) + len(found) - kept
        self._length_held -= length
        waiting, self._waiting = self._waiting, []
        for piece, part in waiting:
            super().add(piece[:length], part)
            if piece[length:]:
                self._waiting.append((piece[length:], part))
            length = max(length - len(piece), 0)
        return after

    def release(self) -> None:
        """Show the text that was held back, since it isn't a call."""
        if self.is_held:
            self.is_held = False
            for text, part in self._waiting:
                super().add(text, part)
            self._waiting.clear()

    def drop(self) -> None:
        """Never show the text, since it consists of calls; a thought before them is shown."""
        self._look("".join([piece for piece, _ in self._waiting]))
        self.is_held = False
        self._waiting.clear()


THOUGHTS = {
    "<think>": "</think>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|start|>assistant<|channel|>analysis<|message|>": "<|end|>",
}
"""The marks before and after a thought in a text, if the server left them there."""

_END_ALONE = "</think>"
"""The end mark of a thought whose start the template wrote, so that the answer doesn't have it."""

_SHORT = 50
"""The length up to which a text is checked after each piece."""


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
        from .property_names import without_nulls  # only some strict modes send such nulls

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
        text = _checked_text(text)
        if name is not None:
            self._wire_name = _checked_text(name) or self._wire_name
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
        grown: the calls that grew since this was last emptied.
        held: the same object as `said` if the text may turn out to be calls; otherwise None.
        said: the model's text besides the calls, as in `Answer.text`.
    """

    __slots__ = (
        *("own_names", "codecs", "own_keys", "nullable"),
        *("grown", "held", "said", "_calls", "_thoughts"),
    )

    def __init__(
        self,
        own_names: Mapping[str, str],
        codecs: Mapping[str, Codec[Any]],
        own_keys: Mapping[str, str],
        nullable: Collection[str],
        held: HeldText | None = None,
    ) -> None:
        self.own_names = own_names
        self.codecs = codecs
        self.own_keys = own_keys
        self.nullable = nullable
        self.grown: dict[StreamedCall, None] = {}
        self.held = held
        self.said = GrowingText(between="\n") if held is None else held
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
        if self.held is not None:
            self.held.release()
        call = StreamedCall(self, call_id or None, "")
        call.grow(text, name)
        self._calls.append(call)
        return call

    @property
    def is_held(self) -> bool:
        """Whether the text is held back, because it may turn out to be calls."""
        return self.held is not None and self.held.is_held

    def text_key(self, wire_name: Any) -> str:
        """Return the parameter for the text of a custom call; `input` if the tool isn't known."""
        codec = self.codecs.get(self.own_names.get(wire_name, wire_name))
        return (codec and text_key(codec)) or "input"

    def of_another_answer(self) -> StreamedCalls:
        """Return a receiver for the calls of another answer in the same response."""
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

    def go_on(self) -> None:
        """Start to count new content."""
        self.grown.clear()
        self.said.new.clear()
