"""How are content parts written: as text for a model that reads text alone, and as JSON values?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import EncodeError
from .content import PARTS, Resource, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...errors import Problem
    from .content import Part

    Notes = tuple[Problem, ...]
    Write = Callable[[object], tuple[str, Any, Notes]]

__all__ = ["PartsOutput", "holds_parts", "write_parts"]


class PartsOutput(NamedTuple):
    """Content parts as they go out.

    Attributes:
        text: what a model reads that gets text alone.
        json: what the parts are, without their data; a string for a text.
        notes: what could not be written as it is.
        parts: with every text in a form that UTF-8 can encode.
    """

    text: str
    json: Any
    notes: Notes
    parts: tuple[Part, ...]


def holds_parts(value: object, items: Iterable[object]) -> bool:
    """Return whether a value is a content part, or one of its items is."""
    try:
        return type(value) in PARTS or not PARTS.isdisjoint(map(type, items))
    except Exception:  # noqa: BLE001  # the code of a metaclass
        return False


def write_parts(value: object, items: Iterable[object], write: Write) -> PartsOutput:
    """Write a content part, or a list in which there are some.

    Args:
        value: a part; anything else is looked at by its items.
        items: of the list: parts, strings, and other values, of which each becomes a `Text`.
        write: makes text and JSON value of what isn't a part, with a note for all that doesn't fit.

    Raises:
        EncodeError: an item has no JSON form, such as a list in which there is another part.
    """
    if type(value) in PARTS:
        return _written(value, (), write)
    found = [_written(item, (index,), write) for index, item in enumerate(items)]
    return PartsOutput(
        "\n".join([part.text for part in found]),
        [part.json for part in found],
        tuple([note for part in found for note in part.notes]),
        tuple([part for written in found for part in written.parts]),
    )


def _written(item: Any, place: tuple[int, ...], write: Write) -> PartsOutput:
    holds_text = type(item) is Text or (type(item) is Resource and item.text is not None)
    if type(item) in PARTS and not holds_text:
        return PartsOutput(item.as_text(), item.as_dict(), (), (item,))
    try:
        text, json, notes = write(item.text if holds_text else item)
    except EncodeError as error:
        raise EncodeError(error.name, _within(place, error.problems), error.omitted) from None
    notes = _within(place, notes)
    if type(item) is not Resource:
        return PartsOutput(text, json, notes, (Text(text),))
    part = item.replace(text=text)
    return PartsOutput(part.as_text(), {**part.as_dict(), "text": text}, notes, (part,))


def _within(place: tuple[int, ...], problems: Sequence[Problem]) -> Notes:
    return tuple([problem.replace(path=(*place, *problem.path)) for problem in problems])
