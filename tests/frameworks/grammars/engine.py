"""Engines that hold a model to a JSON Schema, behind one protocol.

Each token is one byte, so a walk from token to token reaches every text that a grammar allows.
"""

from __future__ import annotations

from typing import Any, Protocol

END = 256
"""The token that ends a text, after the 256 bytes."""


class RefusedSchemaError(Exception):
    """An engine says that it can't hold a model to a schema; the text is its own."""


class State(Protocol):
    """Where a text has come to in a grammar."""

    def allowed(self) -> list[int]:
        """List the tokens that may follow; empty where none may."""
        ...

    def advance(self, token: int) -> bool:
        """Take a token; return whether it may follow."""
        ...


class Grammar(Protocol):
    """What an engine makes of a schema."""

    def start(self) -> State:
        """Return the state before the first token."""
        ...


class Engine(Protocol):
    """Makes grammars."""

    name: str
    """By which pip installs it."""

    def compile(self, schema: dict[str, Any]) -> Grammar:
        """Make a grammar.

        Raises:
            RefusedSchemaError: the engine says that it can't.
        """
        ...


def tokens_of(mask: bytes) -> list[int]:
    """List the tokens whose bit is set, the lowest bit first."""
    bits = int.from_bytes(mask, "little")
    found: list[int] = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return [token for token in found if token <= END]
