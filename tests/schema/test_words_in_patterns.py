"""Expressions of words and repeated words find what `re` finds, in every text of their letters."""

from __future__ import annotations

import re
from itertools import product

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.schema.linear_regex import linear_pattern

TEXTS = ["".join(letters) for length in range(6) for letters in product("abc", repeat=length)]
EXPRESSIONS = [
    "^(a|bc)$",
    "^(a|bcb)$",
    "^(bc|a)$",
    "^(a|b|cab)$",
    "^(ab|c)+$",
    "^(a|bc)*c$",
    "^a?bc?$",
    "(ab|ca)b",
    "a|bca",
    "^(|ab)c",
    "^((a|bc)|(ab|c))$",
    r"^(\ba|bc\b)$",
    r"\b(a|bc)\Bb",
    "^(a{2}|bc{1,2})$",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_words_side_by_side_do_not_run_into_each_other(expression: str) -> None:
    found = linear_pattern(expression)
    assert found is not None
    plain = re.compile(expression)
    wrong = [text for text in TEXTS if found.search(text) is not (plain.search(text) is not None)]
    assert wrong == []


def test_a_schema_that_leads_back_to_itself_behind_properties_is_left() -> None:
    back = {"allOf": [{"type": "object", "properties": {"p": {"type": "string"}}}, {"$ref": "#/$defs/a"}]}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": back}}
    codec = DocumentCodec(SchemaDocument("tool", schema))
    assert "it leads back to itself" in [each.message for each in codec.beyond]
    assert [problem.path for problem in codec.report({"x": {"p": 3}})] == [("x", "p")]
