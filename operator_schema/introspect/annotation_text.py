"""Annotations written as text: read without compiling if they are simple, else evaluated together."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING, Any

from ..immutable import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BUILTINS", "NOT_FOUND", "Unresolved", "can_be_joined", "names_of_module", "read_plain"]

NOT_FOUND: Any = object()
"""Returned for a text that `read_plain` leaves to `eval`."""

BUILTINS: dict[str, Any] = builtins.__dict__

_PLAIN_LENGTH = 300
_QUOTES = ("'", '"')
_NOT_JOINED = (")", ":", "#", "\\", "\n", "\r", "for")
"""Text with one of these in it may end the tuple that it is joined into, or change what follows."""


class Unresolved(Value):
    """An annotation whose text could not be evaluated.

    Attributes:
        text: the annotation as written.
        reason: why, on one line.
        remedy: what to do about it, on one line.
        suggestion: the name that was probably meant, or None.
    """

    text: str
    reason: str
    remedy: str
    suggestion: str | None = None

    def __repr__(self) -> str:
        return self.text


def can_be_joined(texts: Sequence[str]) -> bool:
    """Return whether several annotations mean the same when they are evaluated as one tuple."""
    joined = "".join(texts)
    return len(texts) > 1 and all(map(str.strip, texts)) and not any(mark in joined for mark in _NOT_JOINED)


def read_plain(text: str, names: dict[str, Any], outer: dict[str, Any]) -> Any:
    """Return what evaluating `A`, `A[B, "c"]` or `A | B` gives, `NOT_FOUND` for any other text.

    Compiling such a text takes ten times as long. Each part that a text is cut into is read as a
    whole: where the cut went through a bracket or a quoted text, a part is none of these.
    """
    if text.isidentifier():
        found = names.get(text, NOT_FOUND)
        return outer.get(text, NOT_FOUND) if found is NOT_FOUND else found
    if len(text) > _PLAIN_LENGTH:
        return NOT_FOUND
    if text.endswith("]"):
        name, _, inside = text[:-1].partition("[")
        args = _read_parts(inside.split(", "), names, outer) if name.isidentifier() else ()
        generic = read_plain(name, names, outer) if args else NOT_FOUND
        if generic is not NOT_FOUND:
            return generic[args[0] if len(args) == 1 else args]
    if " | " in text:
        union = NOT_FOUND
        for part in text.split(" | "):
            member = read_plain(part, names, outer)
            if member is NOT_FOUND:
                return member
            union = member if union is NOT_FOUND else union | member
        return union
    return text[1:-1] if text.startswith(_QUOTES) and _is_quoted(text) else NOT_FOUND


def _read_parts(parts: Sequence[str], names: dict[str, Any], outer: dict[str, Any]) -> tuple[Any, ...]:
    """Return what evaluating each part gives, nothing where one of them can't be read."""
    found: list[Any] = []
    for part in parts:
        value = read_plain(part, names, outer)
        if value is NOT_FOUND:
            return ()
        found.append(value)
    return tuple(found)


def _is_quoted(text: str) -> bool:
    inside = text[1:-1]
    is_closed = len(text) > 1 and text[0] == text[-1]
    is_plain = "'" not in inside and '"' not in inside and "\\" not in inside
    return is_closed and is_plain and inside.isprintable()


def names_of_module(name: str | None) -> dict[str, Any]:
    """Return the names of a loaded module; none where it isn't loaded."""
    module = None if name is None else sys.modules.get(name)
    return {} if module is None else vars(module)
