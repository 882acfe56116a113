"""Partial arguments with repair, or with the user's own parser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, make_dataclass

import pytest
from partial_samples import WRITE, fed, found, outcome
from typing_extensions import TypeAliasType

from operator_schema import Codec


@dataclass
class Find:
    query: str
    max_results: int = 10
    tags: list[str] = field(default_factory=list)


FIND = Codec(Find, repair=True)


@pytest.mark.parametrize(
    ("text", "rest", "fields"),
    [
        ('{"query": "a", "max_results": null, ', '"tags": []}', {"query": "a"}),
        ('{"query": "a", "max_results": "5", ', '"tags": []}', {"query": "a", "max_results": 5}),
        ('{"query": "a", "tags": "new", ', '"max_results": 1}', {"query": "a", "tags": ["new"]}),
        ('{"query": "a", "maxResults": 5, ', '"tags": []}', {"query": "a"}),
        ('{"query": "a",}', "", {"query": "a"}),
        ("{'query': 'a'}", "", {}),
        ('```json\n{"query": "a"}\n```', "", {}),
        ('{"query": "a"} //', " so", {"query": "a"}),
    ],
)
@pytest.mark.parametrize("unknown_fields", ["ignore", "reject"])
def test_what_repair_may_mend_is_no_problem_before_the_end(text, rest, fields, unknown_fields):
    codec = Codec(Find, repair=True, unknown_fields=unknown_fields)
    stream = fed(codec.stream(), text)
    assert (stream.partial.findings, stream.partial.is_complete) == ((), False)
    assert stream.partial == codec.decode_partial(text)
    assert stream.partial.fields == fields
    stream.feed(rest)
    assert stream.finish().query == "a"


def test_what_repair_can_not_mend_is_told_at_once():
    assert found('{"max_results": "many", ', Find, repair=True) == [(("max_results",), "wrong_type")]
    assert found('{"pages": 1', Find, repair=True, unknown_fields="reject") == [(("pages",), "unknown")]
    assert found('{"max_results": 1e999, ', Find, repair=True) == [((), "out_of_range")]
    assert found(b'{"query": "\xff', Find, repair=True) == [((), "invalid_json")]
    assert FIND.decode_partial("{'query': 'a'").receiving is None


def test_a_value_that_means_the_default_is_none_of_the_fields():
    partial = FIND.decode_partial('{"max_results": null, "query": "a"}')
    assert (partial.fields, partial.missing, partial.findings) == ({"query": "a"}, (), ())


@pytest.mark.parametrize(
    ("text", "fields", "missing"),
    [
        ('{"Query": "a", "tags": [], "maxResults": "5"}', ["tags", "query", "max_results"], ()),
        ('"{\\"query\\": \\"a\\"}"', ["query"], ()),
        ('{"Query": 5}', [], ("query",)),
        ("[]", [], ("query",)),
    ],
)
def test_once_complete_fields_are_those_of_the_whole(text, fields, missing):
    partial = fed(FIND.stream(), text).partial
    assert partial.is_complete
    assert (list(partial.fields), partial.missing) == (fields, missing)
    instance, error = outcome(FIND.decode_json, text)
    assert partial.findings == (error[1] if error else ())
    assert all(getattr(instance, name) == value for name, value in partial.fields.items())


def test_what_came_is_kept_when_the_whole_is_read():
    stream = FIND.stream()
    before = stream.feed('{"tags": ["a"], ').fields["tags"]
    assert stream.feed('"Query": "a"}').fields["tags"] is before


def test_a_parser_of_the_users_says_which_of_equal_keys_counts():
    stream = Codec(Find, json_loads=json.loads).stream()
    partial = stream.feed('{"query": "a", "max_results": 1, "tags": [], "query": "b", "tags": 5')
    assert [problem.code for problem in partial.findings] == ["duplicate", "duplicate"]
    assert partial.fields == {"query": "a", "max_results": 1, "tags": []}
    partial = stream.feed("}")
    assert [problem.code for problem in partial.findings] == ["wrong_type"]
    assert list(partial.fields.items()) == [("query", "b"), ("max_results", 1)]
    assert Codec(Find, json_loads=json.loads).decode_partial('{"query": "a", "query": "b"}').findings == ()


@pytest.mark.parametrize("text", ['\ufeff{"path": "a", "mode": "write"}', "\ufeff", "\ufeff ]"])
def test_a_byte_order_mark_is_left_out_of_text_too(text):
    for chunks in ([text], ["", *text]):
        stream = WRITE.stream()
        for chunk in chunks:
            stream.feed(chunk)
        assert outcome(stream.finish) == outcome(WRITE.decode_json, text)
        of_bytes = fed(WRITE.stream(), text.encode())
        assert stream.partial == of_bytes.partial


def test_a_value_that_is_too_deep_to_repair_is_too_deep_to_decode():
    nested = TypeAliasType("nested", "int | list[nested]")
    codec = Codec(
        make_dataclass("Deep", [("a", nested), ("b", int)]),
        repair=True,
        max_depth=5000,
        namespace={"nested": nested},
    )
    partial = codec.decode_partial(f'{{"a": {"[" * 450}"x"{"]" * 450}, "b": "1", ')
    assert partial.fields == {"b": 1}
    assert [problem.code for problem in partial.findings] == ["too_deep"]
