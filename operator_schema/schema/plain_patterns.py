"""Which simple pattern means the same, for programs that make grammars of JSON Schema?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from .pattern_syntax import END, START, Characters, Choice, Repeat, Sequence, TooHardError, read_expression

if TYPE_CHECKING:
    from .pattern_syntax import Expression


class _NotPlainError(Exception):
    """A part of an expression has no plain form; the error never leaves this module."""


def plain_pattern(text: str) -> str | None:
    """Return a pattern that takes the same texts, written only with classes, groups and counts.

    A grammar describes a whole text in its JSON form. So the pattern begins with `^`, ends with `$`, and
    allows no character that JSON escapes.

    Returns:
        The pattern; None if it has no such form.
    """
    try:
        tree = read_expression(text)
        if not isinstance(tree, Sequence) or tree.items[:1] != (START,) or tree.items[-1:] != (END,):
            return None
        return f"^{_write(Sequence(tree.items[1:-1]))}$"
    except (TooHardError, _NotPlainError):
        return None


def _write(node: Expression) -> str:
    match node:
        case Characters(((low, high),)) if low == high and (character := chr(low)) in _LITERALS:
            return character
        case Characters():
            return _write_class(node)
        case Sequence(items) if items:
            return "".join(map(_write, items))
        case Choice(branches):
            return f"({'|'.join(map(_write, branches))})"
        case Repeat(body, least, most) if most != 0 and max(least, most or 0) <= _MOST_TIMES:
            return _write_unit(body) + _write_count(least, most)
        case _:
            raise _NotPlainError


def _write_unit(node: Expression) -> str:
    """Write an expression so that a count can follow it."""
    match node:
        case Characters():
            return _write_class(node)
        case Choice():
            return _write(node)
        case _:
            return f"({_write(node)})"


_LITERALS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-:/,@#%&=~")
"""Characters that stand for themselves in every kind of expression and grammar."""

_MOST_TIMES: Final = 500
"""The most repetitions: a grammar has a rule for each, and llama.cpp takes at most 2,000 at one place."""

_OF_A_CLASS: Final = frozenset("[]^\\")
"""Characters that some programs read as syntax inside a class."""


def _write_class(node: Characters) -> str:
    """Write a set of characters; a hyphen comes last, where it stands for itself."""
    members = list(node.ranges)
    if any(not _is_as_written(low, high) for low, high in members):
        raise _NotPlainError
    hyphen = ord("-")
    last = "-" if any(hyphen in pair for pair in members) else ""
    kept = [(low + (low == hyphen), high - (high == hyphen)) for low, high in members]
    written = "".join([_write_range(low, high) for low, high in kept if low <= high])
    return f"[{written}{last}]"


def _is_as_written(low: int, high: int) -> bool:
    """Return whether JSON writes all characters of a range unescaped, and neither end is syntax."""
    if not _OF_A_CLASS.isdisjoint((chr(low), chr(high))):
        return False
    return any(first <= low and high <= last for first, last in _UNESCAPED)


_UNESCAPED: Final = ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0xA0, 0xD7FF), (0xE000, 0x10FFFF))
"""Characters that JSON never escapes, without the control characters of Latin 1. See
https://www.rfc-editor.org/rfc/rfc8259#section-7"""


def _write_range(low: int, high: int) -> str:
    return chr(low) if low == high else f"{chr(low)}-{chr(high)}"


def _write_count(least: int, most: int | None) -> str:
    short: dict[tuple[int, int | None], str] = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in short:
        return short[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
