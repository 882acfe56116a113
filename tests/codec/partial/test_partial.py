"""What is known of arguments at each prefix of their text."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from partial_samples import WRITE, Nest, Write, found, outcome

from operator_schema import Codec, DecodeError
from operator_schema.codec import Partial
from operator_schema.codec.growing_json import GrowingJson
from operator_schema.json_values import MAX_PROBLEMS


def test_a_text_that_comes_in_chunks():
    stream = WRITE.stream()
    assert stream.partial == Partial({}, None, ("path", "mode"), (), is_complete=False)
    seen = []
    for chunk in ['{"pa', 'th": ', '"a.txt"', ', "lines"', ": 1", "2", ' , "mode": "wri', 'te"', "}"]:
        partial = stream.feed(chunk)
        seen.append((dict(partial.fields), partial.receiving, partial.missing, partial.is_complete))
    path, most = {"path": "a.txt"}, {"path": "a.txt", "lines": 12}
    assert seen == [
        ({}, None, ("path", "mode"), False),
        ({}, "path", ("path", "mode"), False),
        (path, None, ("mode",), False),
        (path, "lines", ("mode",), False),
        (path, "lines", ("mode",), False),
        (path, "lines", ("mode",), False),
        (most, "mode", ("mode",), False),
        ({**most, "mode": "write"}, None, (), False),
        ({**most, "mode": "write"}, None, (), True),
    ]
    assert stream.finish() == Write("a.txt", "write", 12)
    assert stream.finish() is stream.finish()


def test_a_chunk_that_changes_nothing_gives_the_same_object():
    stream = WRITE.stream()
    before = stream.feed('{"path": "a')
    assert stream.feed("b") is before is stream.partial
    assert stream.feed("") is before
    done = stream.feed('", "mode": "write"}')
    assert stream.feed(" \n") is done


def test_aliases_and_keys_that_name_no_field():
    assert WRITE.decode_partial('{"maxLines": 5').receiving == "most"
    assert WRITE.decode_partial('{"maxLines": 5,').fields == {"most": 5}
    assert WRITE.decode_partial('{"most": 5').receiving == "most"
    partial = WRITE.decode_partial('{"most": 5, ')
    assert (partial.fields, partial.receiving, partial.findings) == ({}, None, ())


def test_null_means_what_it_means_in_the_whole():
    assert WRITE.decode_partial('{"lines": null').fields == {"lines": None}
    assert found('{"path": null') == [(("path",), "wrong_type")]


def test_nested_values_are_typed():
    partial = WRITE.decode_partial('{"nest": {"inner": {"items": [1, 2.0]}, "path": "}"}')
    assert partial.fields == {"nest": Nest(Nest(None, [1, 2]))}
    assert partial.missing == ("path", "mode")


def test_problems_have_the_paths_and_words_of_the_whole():
    text = '{"path": 5, "mode": "apend", "nest": {"inner": {"items": ["x"]}}, "lines": "1"}'
    stream = WRITE.stream()
    grown = [stream.feed(character).findings for character in text]
    with pytest.raises(DecodeError) as caught:
        stream.finish()
    assert set(grown[-2]) == set(caught.value.findings)
    assert grown[-1] == caught.value.findings
    assert [len(problems) for problems in grown] == sorted(len(problems) for problems in grown)
    assert WRITE.decode_partial(text[:-1]).missing == ()


def test_depth_counts_from_the_root():
    deep = '{"nest": {"inner": {"items": []}}'
    assert found(deep, max_depth=4) == []
    [problem] = Codec(Write, max_depth=3).decode_partial(deep).findings
    assert (problem.path, problem.code) == (("nest", "inner", "items"), "too_deep")
    assert problem.message == "nested deeper than 3 levels"


def test_unknown_keys_are_told_where_they_are_refused():
    assert found('{"pth"') == []
    [problem] = Codec(Write, unknown_fields="reject").decode_partial('{"pth"').findings
    assert (problem.path, problem.code, problem.suggestion) == (("pth",), "unknown", '"path"')


def test_keys_that_come_twice():
    text = '{"path": "a", "path": 5, "path": "c", "x": {"k": 1, "k": 2}, "nest": {"items": [], "items": [1]}'
    partial = WRITE.decode_partial(text)
    assert [(problem.path, problem.code) for problem in partial.findings] == [
        (("path",), "duplicate"),
        (("x", "k"), "duplicate"),
        (("nest", "items"), "duplicate"),
    ]
    assert partial.fields == {"path": "a"}
    assert WRITE.decode_partial(text + "}").findings == outcome(WRITE.decode_json, text + "}")[1][1]


def test_problems_are_bounded():
    text = '{"nest": {"items": [%s]}, "path": 5, ' % ", ".join(["null"] * 2 * MAX_PROBLEMS)
    assert len(found(text)) == MAX_PROBLEMS
    assert found(text + "x")[-1] == ((), "invalid_json")
    assert len(found(text + "x")) == MAX_PROBLEMS


def test_the_whole_tells_what_no_field_can():
    @dataclass
    class Range:
        low: int
        high: int

        def __post_init__(self):
            if self.low > self.high:
                raise ValueError("low is above high")

    assert found('{"low": 2, "high": 1', Range) == []
    assert found('{"low": 2, "high": 1}', Range) == [((), "rejected")]
    assert found('{"low": 2}', Range) == [(("high",), "missing")]
    assert Codec(Range).decode_partial('{"low": 2}').is_complete


def test_an_object_may_end_after_any_space():
    growing = GrowingJson()
    for piece in ("{", " ", " }"):
        list(growing.read(piece))
    assert growing.ended
