"""What merges the events of a stream into the response that the provider would have given without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..json_values import copy_json, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GrowingObject", "Merger", "input_of", "joined"]

_TOLD_AGAIN = frozenset(
    {
        *("call_id", "created_at", "finish_reason", "format", "id", "model", "name"),
        *("native_finish_reason", "object", "role", "status", "type"),
    }
)
"""Keys of texts that aren't pieces: where they come once more, they are said again."""


class Merger(Protocol):
    """The events of one stream; each wire form has one class.

    Attributes:
        is_binary: whether the bytes of the stream are binary messages instead of text.
    """

    is_binary: bool

    @property
    def is_complete(self) -> bool:
        """Whether the model's answer has ended."""
        ...

    def take(self, event: Mapping[str, Any]) -> None:
        """Take the next event.

        Raises:
            Exception: of any kind: the event has another form.
        """
        ...

    def response(self) -> dict[str, Any] | None:
        """Return the response as it is so far; None if nothing has come."""
        ...


class GrowingObject:
    """A JSON object that grows.

    Args:
        content: what it begins with; it is copied.
    """

    __slots__ = ("content", "_growing")

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content: dict[str, Any] = copy_json(dict(content))
        self._growing: dict[str, _Texts | _Bytes | _GrowingList | GrowingObject] = {}

    def append(self, key: str, text: Any) -> None:
        """Let a text grow.

        Raises:
            TypeError: it isn't text.
        """
        if not isinstance(text, str):
            message = "expected text"
            raise TypeError(message)
        growing = self._growing.get(key)
        if not isinstance(growing, _Texts):
            growing = self._growing[key] = _Texts(self.content.get(key))
        growing.texts.append(text)

    def take(self, more: Mapping[str, Any]) -> None:
        """Take more of the object by its form: texts and lists get longer, and so do the objects in it.

        Numbers, booleans and texts that say the same again, such as ids, stand for what was there before; a
        null stands for nothing.
        """
        for key, value in more.items():
            if value is None:
                continue
            if isinstance(value, str) and key not in _TOLD_AGAIN:
                self.append(key, value)
            elif isinstance(value, bytes):
                pieces = self._growing.get(key)
                if not isinstance(pieces, _Bytes):
                    pieces = self._growing[key] = _Bytes(self.content.get(key))
                pieces.pieces.append(value)
            elif is_array(value):
                growing = self._growing.get(key)
                if not isinstance(growing, _GrowingList):
                    growing = self._growing[key] = _GrowingList(self.content.get(key))
                growing.take(value)
            elif is_object(value):
                inner = self._growing.get(key)
                if not isinstance(inner, GrowingObject):
                    found = self.content.get(key)
                    inner = self._growing[key] = GrowingObject(found if is_object(found) else {})
                inner.take(value)
            else:
                self.content[key] = value

    def whole(self) -> dict[str, Any]:
        """Return the object as it is so far."""
        return {**copy_json(self.content), **{key: found.whole() for key, found in self._growing.items()}}


class _Texts:
    """A text that grows."""

    __slots__ = ("texts",)

    def __init__(self, first: Any) -> None:
        self.texts = [first] if isinstance(first, str) else []

    def whole(self) -> str:
        return joined(self.texts)


class _Bytes:
    """Bytes that grow, as an SDK hands them over."""

    __slots__ = ("pieces",)

    def __init__(self, first: Any) -> None:
        self.pieces = [first] if isinstance(first, bytes) else []

    def whole(self) -> bytes:
        return b"".join(self.pieces)


class _GrowingList:
    """A list that gets longer; what has the `index` of an object that is there continues this one."""

    __slots__ = ("_by_index", "_items")

    def __init__(self, first: Any) -> None:
        self._items: list[Any] = []
        self._by_index: dict[int, GrowingObject] = {}
        if is_array(first):
            self.take(first)

    def take(self, more: list[Any]) -> None:
        for item in more:
            index = item.get("index") if is_object(item) else None
            if type(index) is not int:
                self._items.append(copy_json(item))
            elif index in self._by_index:
                self._by_index[index].take(item)
            else:
                self._by_index[index] = GrowingObject(item)
                self._items.append(self._by_index[index])

    def whole(self) -> list[Any]:
        return [item.whole() if isinstance(item, GrowingObject) else copy_json(item) for item in self._items]


def joined(texts: list[str]) -> str:
    """Join texts; a character may have its two surrogates in two of them."""
    found = "".join(texts)
    try:
        found.encode()
    except UnicodeEncodeError:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return found


def input_of(text: str) -> Any:
    """Return the arguments of a call as the JSON value that the unstreamed response has.

    Returns:
        An empty object for blank text; the text itself where it isn't JSON, such as where it lacks its end.
    """
    from json import loads

    if not text.strip():
        return {}
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
