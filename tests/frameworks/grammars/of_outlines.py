"""outlines-core, which makes one regular expression of a schema."""

from __future__ import annotations

import json
from typing import Any

import outlines_core
from grammars.engine import END, Grammar, RefusedSchemaError, State
from outlines_core.json_schema import build_regex_from_schema

LONGEST_REGEX = 8_000
"""Characters of a regular expression, past which its automaton can take a minute to make."""


class Outlines:
    """Makes automata by `Index`."""

    name = "outlines-core"

    def __init__(self) -> None:
        self.vocabulary = outlines_core.Vocabulary(END, {bytes([byte]): [byte] for byte in range(256)})

    def compile(self, schema: dict[str, Any]) -> Grammar:
        """Make an automaton of the regular expression of a schema."""
        try:
            pattern = build_regex_from_schema(json.dumps(schema))
            if len(pattern) > LONGEST_REGEX:
                raise RefusedSchemaError("the regular expression is too long")
            return _OutlinesGrammar(outlines_core.Index(pattern, self.vocabulary))
        except (ValueError, TypeError) as error:
            raise RefusedSchemaError(str(error)) from error


class _OutlinesGrammar:
    def __init__(self, index: Any) -> None:
        self.index = index

    def start(self) -> State:
        return _OutlinesState(self.index)


class _OutlinesState:
    def __init__(self, index: Any) -> None:
        self.index = index
        self.state = index.get_initial_state()

    def allowed(self) -> list[int]:
        return sorted(self.index.get_allowed_tokens(self.state) or ())  # in the order of a hash table

    def advance(self, token: int) -> bool:
        if token == END:
            return bool(self.index.is_final_state(self.state))
        found = self.index.get_next_state(self.state, token)
        self.state = self.state if found is None else found
        return found is not None
