"""What a reference leads to is checked once for each value; what was found out silently is still told."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument

SMALL = {"minProperties": 2}


def problems(schema: Any, value: Any) -> list[tuple[tuple[str | int, ...], str]]:
    codec = DocumentCodec(SchemaDocument("tool", {"type": "object", "$defs": {"a": SMALL}, **schema}))
    return [(problem.path, problem.code) for problem in codec.report(value)]


AGAIN: dict[str, Any] = {"allOf": [{"$ref": "#/$defs/a"}]}
SILENT: list[dict[str, Any]] = [
    {"anyOf": [{"$ref": "#/$defs/a"}, {"required": ["b"]}]},
    {"oneOf": [{"$ref": "#/$defs/a"}, {"required": ["b"]}]},
    {"not": {"$ref": "#/$defs/a"}},
    {"if": {"$ref": "#/$defs/a"}, "then": {"required": ["c"]}},
]


@pytest.mark.parametrize("silent", SILENT, ids=min)
def test_what_was_looked_at_without_a_word_is_told_when_it_counts(silent: dict[str, Any]) -> None:
    for schema in ({**silent, **AGAIN}, {**AGAIN, **silent}):
        assert problems(schema, {"b": 1}) == [((), "bad_length")]
        inner = {"properties": {"x": schema}}
        assert problems(inner, {"x": {"b": 1}}) == [(("x",), "bad_length")]


def test_one_problem_is_told_once_for_each_place() -> None:
    twice = {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}
    assert problems(twice, {}) == [((), "bad_length")]
    shared: dict[str, Any] = {}
    both = {"properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}}
    assert problems(both, {"x": shared, "y": shared}) == [(("x",), "bad_length"), (("y",), "bad_length")]
    assert problems(both, {"x": {}, "y": {"p": 1, "q": 2}}) == [(("x",), "bad_length")]


def test_what_fits_in_one_place_is_not_told_in_another() -> None:
    both = {"properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}}, **AGAIN}
    right = {"p": 1, "q": 2}
    assert problems(both, {"x": right, "y": right}) == []
    assert sorted(problems(both, {"y": {}})) == [((), "bad_length"), (("y",), "bad_length")]
