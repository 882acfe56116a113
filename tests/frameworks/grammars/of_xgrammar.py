"""xgrammar, the usual engine of vLLM, SGLang and TensorRT-LLM."""

from __future__ import annotations

import importlib
import json
import re
import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

import numpy as np
import tvm_ffi
from grammars.engine import END, Grammar, RefusedSchemaError, State, tokens_of


def _xgrammar_core() -> Any:
    """Load the library of xgrammar.

    What its package imports around that needs torch and transformers, which are gigabytes and do
    nothing for a grammar.
    """
    spec = PathFinder.find_spec("xgrammar")
    assert spec is not None
    package = ModuleType("xgrammar")
    package.__path__ = list(spec.submodule_search_locations or ())
    sys.modules["xgrammar"] = package
    importlib.import_module("xgrammar.load_binding")
    return importlib.import_module("xgrammar.base")._core


class XGrammar:
    """Makes grammars by `GrammarCompiler`."""

    name = "xgrammar"

    def __init__(self) -> None:
        self.core = _xgrammar_core()
        vocabulary = [*[bytes([byte]) for byte in range(256)], b"<end>"]
        raw_bytes, size, adds_space = 0, None, False
        information = self.core.TokenizerInfo(vocabulary, raw_bytes, size, [END], adds_space)
        threads, is_cached, most_bytes = 1, False, -1
        self.compiler = self.core.GrammarCompiler(information, threads, is_cached, most_bytes)

    def compile(self, schema: dict[str, Any]) -> Grammar:
        """Make a grammar by the default options of `GrammarCompiler.compile_json_schema`."""
        any_whitespace, is_strict, any_order = True, True, False
        try:
            compiled = self.compiler.compile_json_schema(
                json.dumps(schema), any_whitespace, None, None, is_strict, None, any_order
            )
        except RuntimeError as error:
            raise RefusedSchemaError(str(error)) from error
        return _XGrammar(self.core, compiled)

    def compile_rules(self, rules: str) -> Grammar:
        """Make a grammar of rules in the notation of llama.cpp, where an empty branch is written as `""`."""
        written = re.sub(r"(::=|\() *\|", r'\1 "" |', rules)
        return _XGrammar(self.core, self.compiler.compile_grammar_from_strings(written, "root"))


class _XGrammar:
    def __init__(self, core: Any, compiled: Any) -> None:
        self.core = core
        self.compiled = compiled

    def start(self) -> State:
        return _XState(self.core.GrammarMatcher(self.compiled, None, False, -1, None))


class _XState:
    def __init__(self, matcher: Any) -> None:
        self.matcher = matcher
        self.mask = np.zeros((1, 9), dtype=np.int32)
        self.shared = tvm_ffi.from_dlpack(self.mask)

    def allowed(self) -> list[int]:
        if not self.matcher.fill_next_token_bitmask(self.shared, 0, False):
            return list(range(END + 1))
        return tokens_of(self.mask.tobytes())

    def advance(self, token: int) -> bool:
        return bool(self.matcher.accept_token(token, False))
