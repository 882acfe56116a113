"""llguidance, of which OpenAI's structured outputs, vLLM, SGLang and llama.cpp can make use."""

from __future__ import annotations

import json
from typing import Any

import llguidance
from grammars.engine import END, Grammar, RefusedSchemaError, State, tokens_of


class _ByteTokenizer:
    eos_token_id = END
    bos_token_id = None
    tokens = (*[bytes([byte]) for byte in range(256)], b"<end>")
    special_token_ids = (END,)

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


class LLGuidance:
    """Makes grammars by `LLMatcher`."""

    name = "llguidance"

    def __init__(self) -> None:
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_ByteTokenizer()), slices=[])

    def compile(self, schema: dict[str, Any]) -> Grammar:
        """Make a grammar; keywords that the engine doesn't know are an error to it."""
        grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
        matcher = llguidance.LLMatcher(self.tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedSchemaError(matcher.get_error())
        return _LLGrammar(matcher)


class _LLGrammar:
    def __init__(self, matcher: Any) -> None:
        self.matcher = matcher

    def start(self) -> State:
        return _LLState(self.matcher.deep_copy())


class _LLState:
    def __init__(self, matcher: Any) -> None:
        self.matcher = matcher

    def allowed(self) -> list[int]:
        return tokens_of(self.matcher.compute_bitmask())

    def advance(self, token: int) -> bool:
        if token == END:
            return bool(self.matcher.is_accepting())
        return bool(self.matcher.try_consume_tokens([token]))
