"""The response that the events of a stream add up to: a tree of objects, lists and texts that grow.

Each wire form has a `Merger`, which reads its events and stores their content in the tree. At the end, the
tree is the response that would have come without a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..json_values import copy_json, is_array, is_object, to_json_text
from .response_json import checked_text, joined, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from .streamed_calls import StreamedCall, StreamedCalls


class Merger:
    """A merger of the events of one stream into a response for `answers` of its wire form.

    Args:
        calls: the object to which the calls of the first answer are added while they come.

    Attributes:
        is_binary: whether the bytes of the stream are binary messages instead of text.
        takes_responses: whether an event may have the form of a whole response.
        first_event: the type of the first event of a stream, if only this provider uses it.
    """

    is_binary = False
    takes_responses = False
    first_event = ""

    def __init__(self, calls: StreamedCalls) -> None:
        self._known = calls
        self._response = GrowingObject()
        self._has_ended = False

    @property
    def is_complete(self) -> bool:
        """Whether the model's answer has ended."""
        return self._has_ended

    def take(self, event: Mapping[str, Any]) -> None:
        """Take the next event; unknown kinds are ignored.

        Raises:
            Exception: any exception means that the event isn't in the expected form.
        """
        raise NotImplementedError

    @property
    def has_begun(self) -> bool:
        """Whether anything of an answer has come."""
        raise NotImplementedError

    def response(self) -> dict[str, Any] | None:
        """Return the response so far; None if nothing has come."""
        return self._response.whole() if self.has_begun else None


class MessageMerger(Merger):
    """A merger for streams of one message."""

    def __init__(self, calls: StreamedCalls) -> None:
        super().__init__(calls)
        self._message = self._response.hold("message", GrowingObject())

    @property
    def has_begun(self) -> bool:
        """Whether any of the message has come."""
        return self._has_ended or not self._message.is_empty


class BlocksMerger(Merger):
    """A merger of events that begin, continue and end the numbered blocks of one message."""

    def __init__(self, calls: StreamedCalls) -> None:
        super().__init__(calls)
        self._blocks: dict[int, GrowingBlock] = {}
        self._open: set[Any] = set()

    def _unfinished(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """List the blocks in a response that haven't ended, so that their signatures may be incomplete."""
        if self.is_complete:
            return []
        return [
            block for index, block in zip(sorted(self._blocks), blocks, strict=True) if index in self._open
        ]


class GrowingChoice(Protocol):
    """One of the answers in a response, while it arrives."""

    tree: GrowingObject

    @property
    def has_ended(self) -> bool:
        """Whether the reason why the model stopped has come."""
        ...

    def take(self, choice: Mapping[str, Any], /) -> None:
        """Add new content."""
        ...


class ChoicesMerger(Merger):
    """A merger of events that have new content for one or more answers.

    Args:
        calls: as for any merger.
        key: the key of the list of answers in the response.
        begin: a function that creates a growing answer; it gets the object to which calls are added.
    """

    takes_responses = True

    def __init__(
        self, calls: StreamedCalls, key: str, begin: Callable[[StreamedCalls], GrowingChoice]
    ) -> None:
        super().__init__(calls)
        self._begin = begin
        self._choices: dict[Any, GrowingChoice] = {}
        self._trees = self._response.numbered(key)
        self._ended = 0

    @property
    def has_begun(self) -> bool:
        """Whether there is an answer."""
        return bool(self._choices)

    @property
    def is_complete(self) -> bool:
        """Whether each answer has ended."""
        return self.has_begun and self._ended == len(self._choices)

    def _take_choice(self, choice: Mapping[str, Any]) -> None:
        index = choice.get("index") or 0
        if index not in self._choices:
            # Only the calls of the first answer are shown while they grow.
            begun = self._begin(self._known if index == 0 else self._known.of_another_answer())
            self._choices[index], self._trees[index] = begun, begun.tree
        found = self._choices[index]
        had_ended = found.has_ended
        found.take(choice)
        self._ended += found.has_ended - had_ended


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
    """A part of a response that grows."""

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
        self.held(key, _Texts).pieces.append(checked_text(text))

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
        self._pieces.append(checked_text(text))
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
            return copy_json(self._given)
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
        self._pieces.append(checked_text(text))
        self._shown.grow(to_json_text(text)[1:-1])

    def end(self) -> None:
        """End the text."""
        if not self._has_ended:
            self._shown.grow('"}')
        self._has_ended = True
