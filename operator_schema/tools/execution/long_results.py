"""Results that are longer than a model should read: how long they are, and how they are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..calls import own_parts
from ..content import File, Resource, Text

if TYPE_CHECKING:
    from ..calls import ToolResult
    from ..content import Part

__all__ = ["cut_result", "length_of"]

_READ: Final = ("text", "name", "uri")
"""The attributes of parts that a model may read as text."""


def length_of(result: ToolResult) -> int:
    """Return how many characters the model may read of a result: of its text, or of its parts."""
    return max(len(result.content), sum(map(_length, own_parts(result))))


def cut_result(result: ToolResult, most: int) -> ToolResult:
    """Return the beginning of a result, without its data.

    Args:
        result: that is longer.
        most: characters that the model may read of it.
    """
    length = length_of(result)
    note = f"\n[cut: the whole result has {length:,} characters; ask for less of it]"
    shown = most - len(note)
    return result.replace(
        content=f"{result.content[:shown]}{note}",
        details={**(result.details or {}), "characters": length},
        parts=_cut_parts(own_parts(result), shown, note),
        json=None,
        value=result.value,
    )


def _cut_parts(parts: tuple[Part, ...], left: int, note: str) -> tuple[Part, ...]:
    """Return parts with a number of characters in all, and what was done to them; none stays none."""
    kept: list[Part] = []
    for part in parts:
        found = _cut_part(part, left)
        if found != _EMPTY:
            kept.append(found)
            left -= _length(found)
    return (*kept, Text(note)) if parts else ()


def _cut_part(part: Part, left: int) -> Part:
    if _length(part) <= left:
        return part
    if isinstance(part, File):
        return part.replace(name=(part.name or "")[:left] or None)
    if isinstance(part, Resource) and part.text is not None and len(part.uri) < left:
        return part.replace(text=part.text[: left - len(part.uri)])
    return Text(part.as_text()[:left])  # images and recordings have nothing that is too long


def _length(part: Part) -> int:
    return sum([len(getattr(part, name, None) or "") for name in _READ])


_EMPTY: Final = Text("")
