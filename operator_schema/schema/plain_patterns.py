"""Patterns in a form that those who make grammars of JSON Schema read as validators do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .pattern_syntax import END, START, Characters, Choice, Repeat, Sequence, TooHardError, read_expression

if TYPE_CHECKING:
    from .pattern_syntax import Expression

__all__ = ["plain_pattern"]


class _NotPlainError(Exception):
    """A part of an expression has no such form; it never leaves this module."""


def plain_pattern(text: str) -> str | None:
    """Return a pattern that takes the same texts, written with classes, groups and counts alone.

    A grammar describes a whole text, as it is written in JSON. So the pattern begins with `^`, ends with `$`,
    and allows no character that JSON escapes.

    Returns:
        The pattern; None if it has no such form.
    """
    try:
        tree = read_expression(text)
        if not isinstance(tree, Sequence) or tree.items[:1] != (START,) or tree.items[-1:] != (END,):
            return None
        return f"^{_written(Sequence(tree.items[1:-1]))}$"
    except (TooHardError, _NotPlainError):
        return None


def _written(node: Expression) -> str:
    match node:
        case Characters(((low, high),)) if low == high and (character := chr(low)) in _LITERALS:
            return character
        case Characters():
            return _class(node)
        case Sequence(items) if items:
            return "".join(map(_written, items))
        case Choice(branches):
            return f"({'|'.join(map(_written, branches))})"
        case Repeat(body, least, most) if most != 0 and max(least, most or 0) <= _MOST_TIMES:
            return _unit(body) + _count(least, most)
        case _:
            raise _NotPlainError


def _unit(node: Expression) -> str:
    """Write what is repeated."""
    match node:
        case Characters():
            return _class(node)
        case Choice():
            return _written(node)
        case _:
            return f"({_written(node)})"


_LITERALS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-:/,@#%&=~")
"""Characters that mean themselves, in each kind of expression and grammar."""

_MOST_TIMES: Final = 500
"""A grammar has a rule for each time, and llama.cpp takes at most 2,000 of them at one place."""

_OF_A_CLASS: Final = frozenset("[]^\\")
"""Characters that some read as the syntax of a class."""


def _class(node: Characters) -> str:
    """Write a set of characters; a hyphen is last, where it means itself."""
    members = list(node.ranges)
    if any(not _is_as_written(low, high) for low, high in members):
        raise _NotPlainError
    hyphen = ord("-")
    last = "-" if any(hyphen in pair for pair in members) else ""
    kept = [(low + (low == hyphen), high - (high == hyphen)) for low, high in members]
    written = "".join([_range(low, high) for low, high in kept if low <= high])
    return f"[{written}{last}]"


def _is_as_written(low: int, high: int) -> bool:
    """Return whether JSON writes all characters of a range as they are, and no end of it is syntax."""
    if not _OF_A_CLASS.isdisjoint((chr(low), chr(high))):
        return False
    return any(first <= low and high <= last for first, last in _UNESCAPED)


_UNESCAPED: Final = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0xA0, 0xD7FF), (0xE000, 0x10FFFF))
"""What JSON never escapes, without the controls of Latin 1. See https://www.rfc-editor.org/rfc/rfc8259#section-7"""


def _range(low: int, high: int) -> str:
    return chr(low) if low == high else f"{chr(low)}-{chr(high)}"


def _count(least: int, most: int | None) -> str:
    short: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in short:
        return short[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
