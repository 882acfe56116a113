"""What merges the events of a stream into the response that the provider would have given without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..json_values import copy_json

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GrowingObject", "Merger", "input_of", "joined"]


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
    """A JSON object some texts of which grow.

    Args:
        content: what it begins with; it is copied.
    """

    __slots__ = ("content", "_texts")

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content: dict[str, Any] = copy_json(dict(content))
        self._texts: dict[str, list[str]] = {}

    def append(self, key: str, text: Any) -> None:
        """Let a text grow.

        Raises:
            TypeError: it isn't text.
        """
        if not isinstance(text, str):
            message = "expected text"
            raise TypeError(message)
        self._texts.setdefault(key, []).append(text)

    def whole(self) -> dict[str, Any]:
        """Return the object as it is so far."""
        grown = {key: joined([self.content.get(key) or "", *texts]) for key, texts in self._texts.items()}
        return {**self.content, **grown}


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
