"""Random texts of a grammar, and texts that a grammar is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grammars.engine import END

if TYPE_CHECKING:
    import random

    from grammars.engine import Grammar

AT_LEISURE = 120
"""Bytes after which a walk takes the shortest way to the end that it can see."""

LONGEST = 1500
"""Bytes after which a walk is given up."""

_WHITESPACE = frozenset(b" \t\r\n")
_CLOSERS = tuple(b"}],:")
"""What ends something outside of strings, the outermost first."""

_SCALARS = frozenset(b'"0123456789ntfulrse')


class UnfinishedError(Exception):
    """A walk that didn't end; the text is what it had."""


def walk(grammar: Grammar, rng: random.Random) -> bytes:
    """Draw a text that a grammar allows, token by token.

    Raises:
        UnfinishedError: it grew too long, or nothing could follow.
    """
    state, text, in_string, is_escaped = grammar.start(), bytearray(), False, False
    while len(text) < LONGEST:
        allowed = state.allowed()
        if not allowed:
            break
        token = _chosen(allowed, rng, len(text) > AT_LEISURE, in_string, is_escaped)
        if token == END:
            return bytes(text)
        if not state.advance(token):
            break
        text.append(token)
        if in_string and is_escaped:
            is_escaped = False
        elif in_string and token == 0x5C:
            is_escaped = True
        elif token == 0x22:
            in_string = not in_string
    raise UnfinishedError(text.decode(errors="backslashreplace"))


def _chosen(allowed: list[int], rng: random.Random, is_late: bool, in_string: bool, is_escaped: bool) -> int:
    if END in allowed and (is_late or rng.random() < 0.7):
        return END
    tokens = [token for token in allowed if token != END] or allowed
    if in_string and not is_escaped:
        if 0x22 in tokens and (is_late or rng.random() < 0.25):
            return 0x22
        return rng.choices(tokens, [_weight_in_string(token) for token in tokens])[0]
    if in_string:
        return rng.choice(tokens)
    if is_late:
        closer = next((token for token in _CLOSERS if token in tokens), None)
        if closer is not None:
            return closer
        return rng.choices(tokens, [_weight_late(token) for token in tokens])[0]
    return rng.choices(tokens, [_weight_outside(token) for token in tokens])[0]


def _weight_in_string(token: int) -> float:
    return 8 if 0x20 < token < 0x7F and token != 0x5C else 1


def _weight_outside(token: int) -> float:
    return 0.05 if token in _WHITESPACE else 1


def _weight_late(token: int) -> float:
    if token in _WHITESPACE:
        return 0.001
    return 1 if token in _SCALARS else 0.02


def first_refused(grammar: Grammar, text: bytes) -> int | None:
    """Return the offset of the first byte that a grammar refuses; None if it takes the whole text."""
    state = grammar.start()
    for offset, token in enumerate([*text, END]):
        if not state.advance(token):
            return offset
    return None
