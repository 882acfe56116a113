"""Partial arguments whose text isn't JSON."""

from __future__ import annotations

import pytest
from partial_samples import WRITE, fed, found, outcome

from operator_schema import DecodeError
from operator_schema.json_values import MAX_TEXT_DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "\ufeff\ufeff",
        "\ufeff]",
        "[1,]",
        "[}",
        '{"a" 1',
        "{a",
        '{"a": 1,}',
        '{"a": 1 2',
        '{"a": N',
        '{"a": -I',
        '{"a": tx',
        '{"a": nul,',
        '{"a": 01',
        '{"a": 1.}',
        '{"a": 1e+}',
        '{"a": -,',
        '{"a": "\n',
        '{"a": "\\x',
        '{"a": "\\u12g',
        '{"a": "\\u12\\',
        '{"a": "\ud800',
        '"\udfff',
        '{"a": "\\ud800"',
        '{"\\ud800"',
        "{} x",
        "1 2",
        "nulll",
    ],
)
def test_text_that_breaks_at_its_end(text):
    assert "invalid_json" not in [code for _, code in found(text[:-1])]
    partial = WRITE.decode_partial(text)
    assert [(problem.path, problem.code) for problem in partial.findings] == [((), "invalid_json")]
    assert (partial.receiving, partial.is_complete) == (None, False)
    for size in (1, 2, 3):
        stream = fed(WRITE.stream(), text, size)
        assert stream.partial == partial
        assert stream.feed('"}') == partial
        assert outcome(stream.finish) == outcome(WRITE.decode_json, text + '"}')


def test_what_came_before_the_break_stays():
    stream = fed(WRITE.stream(), '{"path": "a", "mode": 5, "lines": [1, 2}, "nest": {}}')
    assert stream.partial.fields == {"path": "a"}
    assert [problem.code for problem in stream.partial.findings] == ["not_one_of", "invalid_json"]
    assert "line 1 column 40" in stream.partial.findings[1].message
    assert stream.partial.missing == ()


@pytest.mark.parametrize(
    ("number", "code"), [("1e999", "out_of_range"), ("9" * 5000, "too_large"), ("1", None)]
)
def test_numbers_that_no_text_may_hold(number, code):
    text = '{"path": "a", "lines": %s' % number
    assert found(text) == []
    after = WRITE.decode_partial(text + ', "mode": "write"')
    assert [(p.path, p.code) for p in after.findings] == ([((), code)] if code else [])
    assert ("mode" in after.fields) is (code is None)
    assert fed(WRITE.stream(), text + ', "mode": "write"').partial == after


def test_depth_of_text():
    assert found('{"a":' + "[" * (MAX_TEXT_DEPTH - 1)) == []
    text = '{"a":' + "[" * MAX_TEXT_DEPTH
    assert found(text) == [((), "too_deep")]
    assert outcome(fed(WRITE.stream(), text).finish) == outcome(WRITE.decode_json, text)


def test_garbage_after_the_end_takes_completeness_away():
    stream = WRITE.stream()
    assert stream.feed('{"path": "a", "mode": "write"} ').is_complete
    partial = stream.feed(" x")
    assert not partial.is_complete
    assert [problem.code for problem in partial.findings] == ["invalid_json"]
    assert partial.fields == {"path": "a", "mode": "write"}
    with pytest.raises(DecodeError, match="more text after the JSON value"):
        stream.finish()


def test_text_that_was_cut_off_is_refused_by_finish_alone():
    stream = fed(WRITE.stream(), '{"path": "a", "mode": "wri')
    assert stream.partial.findings == ()
    assert stream.partial.missing == ("mode",)
    with pytest.raises(DecodeError, match="not valid JSON"):
        stream.finish()
