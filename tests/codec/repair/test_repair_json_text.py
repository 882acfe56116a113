"""Repair of text that is nearly JSON."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from repair_samples import Leg, One, Trip, refused

from operator_schema import Codec, DecodeError
from operator_schema.codec.nearly_json import as_json_text
from operator_schema.json_values import MAX_PROBLEMS


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('\n ```\r\n{"a": 1}```\n', {"a": 1}),
        ('```JSON5  \n{"a": "```"}\n```', {"a": "```"}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, [2,],],\n}', {"a": [1, [2]]}),
        ('// first\n{"a": /* why */ 1} # last', {"a": 1}),
        ('{"a": "// no /* comment */ # here"} //', {"a": "// no /* comment */ # here"}),
        ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
        ("{'a': true, \"b\": null}", {"a": True, "b": None}),
        ("{'a': 'it\\'s \"so\"\\n'}", {"a": 'it\'s "so"\n'}),
        ("{'a': 'x\\\\'}", {"a": "x\\"}),
        ("{'a': '\\xe9\\U0001f600\\u00e9\\x00\\x22'}", {"a": 'é😀é\x00"'}),
        ("{'a': \"it's \\xe9\"}", {"a": "it's é"}),
        ('{"a": None, "b": "\\x41"}', {"a": None, "b": "A"}),
        ("```python\n{'a': [None,],} # so\n```", {"a": [None]}),
        (b"{'a': 1}", {"a": 1}),
        (b"\xef\xbb\xbf{'a': 1}", {"a": 1}),
    ],
)
def test_text_is_made_json(text, value):
    made = Codec(dict[str, Any], repair=True).decode_json_report(text)
    assert made.instance == value
    assert [(repair.path, repair.code) for repair in made.repairs] == [((), "syntax")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a": 1',
        '{"a": 1,',
        '{"a": "x',
        "{'a': 'x",
        '{"a": tru',
        '{"a": Tru',
        "{'a': [1, 2}",
        '```json\n{"a": 1}',
        '```json\n{"a": 1\n```',
        "```json\n```",
        "```",
        "``````",
        '```json\n{"a": 1}\n``` and more',
        'Here it is: {"a": 1}',
        '{"a": 1} {"a": 2}',
        '{"a": 1} /* more',
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        '{"a": undefined}',
        '{"a": NaN}',
        '{"a": +1}',
        '{"a": .5}',
        '{"a": [,]}',
        '{"a": [1,,]}',
        '{"a":,}',
        "{,}",
        ",",
        '{"a": "C:\\xaa"}',
        "{'a': '\\x4'}",
        "{'a': '\\U00110000'}",
        "{'a': '\\q'}",
        "{'a': 'x\ny'}",
        '{"a": 1, "a": 2,}',
        b"{'a': '\xff'}",
        "{'a': '\ud800'}",
        "{'a': '\\ud800'}",
        "{'a': 1e400}",
        "[" * 501 + "]" * 501,
        r"{'a': 'b\/c'}",
        r"""{'a': "b\/c"}""",
        r'{"a": None, "b": "b\/c"}',
        "{'a':\xa01}",
        '\xa0```json\n{"a": 1}\n```',
        "{'a': 1}\x0c",
    ],
)
def test_text_that_would_be_guessed_is_refused(text):
    with pytest.raises(DecodeError):
        Codec(dict[str, Any], repair=True).decode_json(text)


def test_the_error_is_that_of_the_text_as_it_came():
    codec = Codec(dict[str, Any], repair=True)
    for text in ('{"a": [1, 2', "{'a': [1}", '```json\n{"a": 1'):
        with pytest.raises(DecodeError) as with_repair:
            codec.decode_json(text)
        with pytest.raises(DecodeError) as without:
            Codec(dict[str, Any]).decode_json(text)
        assert with_repair.value.findings == without.value.findings


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{'query': 'delete all but", "line 1 column 26"),
        ('{"query": True, "x": "abc', "line 1 column 26"),
        ('// c\n{"query": "abc", ', "line 2 column 18"),
        ('{"query": "a", "tags": ["x",]', "line 1 column 30"),
        ('```json\n{"query": "abc\n```', "line 2 column 15"),
        ('```json\n{"query": "abc", \n', "line 3 column 1"),
        ('{"query": None, "a": Tru', "line 1 column 25"),
        ('{"query": "a",} /* so', None),
        ("{'query': 'a' /* so", "line 1 column 20"),
        ("'abc", "line 1 column 5"),
        ("{'query': [1}", None),
        ("{'query': 1}}", None),
        ("{'query': it's", None),
        ("{'query': 'it's'}", None),
        ('```json\n{"a": 1\n```\nDone!', None),
        (b"{'query': '\xc3\xa4", "line 1 column 13"),
    ],
)
def test_text_that_was_cut_off_says_so_whatever_else_would_be_mended(text, where):
    with pytest.raises(DecodeError) as caught:
        Codec(dict[str, Any], repair=True).decode_json(text)
    [problem] = caught.value.findings
    assert problem.code == "invalid_json"
    assert ("the text ends early" in problem.message) is (where is not None)
    assert where is None or f"ends early at {where}, after " in problem.message


def test_mended_text_goes_through_the_parser_of_the_user():
    seen = []

    def loads(text):
        seen.append(text)
        return json.loads(text)

    codec = Codec(dict[str, Any], repair=True, json_loads=loads)
    assert codec.decode_json("{'a': 1,}") == {"a": 1}
    assert codec.decode_json(b"{'a': [1,]}") == {"a": [1]}
    assert codec.decode_json(bytearray(b"{'a': 1}")) == {"a": 1}
    assert codec.decode_json('{"a": 1, "a": 2,}') == {"a": 2}
    # A faulty text is given to it again, by the part of the decoder that reports.
    texts = [text for text, before in pairwise([*reversed(seen), None]) if text is not before][::-1]
    assert [type(text) for text in texts] == [str, str, bytes, bytes, bytearray, bytes, str, str]
    assert texts[1] == '{ "a" : 1 }'


@pytest.mark.parametrize("text", ['{"a": 1}', b'{"a": 1}', '{"a": 1, "a": 2}', '{"a": 1e999}', "{'a': 1}"])
def test_what_the_parser_of_the_user_refuses_stays_refused(text):
    def loads(_):
        raise ValueError("not today")

    with pytest.raises(DecodeError, match="not valid JSON: not today"):
        Codec(dict[str, Any], repair=True, json_loads=loads).decode_json(text)


def test_text_that_is_json_is_not_touched():
    made = Codec(dict[str, str], repair=True).decode_json_report('{"a": "True, // \'x\',}"}')
    assert (made.instance, made.repairs) == ({"a": "True, // 'x',}"}, ())


def test_the_value_of_mended_text_is_repaired_too():
    made = Codec(Leg, repair=True).decode_json_report("{'Number': 'A1', 'stops': '2',}")
    assert made.instance == Leg("A1", 2)
    assert [repair.code for repair in made.repairs] == ["syntax", "key", "scalar"]


def test_nearly_json_inside_of_strings_is_not_mended():
    assert refused(Trip, {"legs": "[{'number': 'A1'}]"})
    assert refused(Trip, {"legs": '[{"number": "A1"},]'})


def test_rewriting_says_nothing_of_values():
    assert as_json_text("[1e5, -0, 'a']") == '[ 1e5 , -0 , "a" ]'
    assert as_json_text("?") is None


def test_what_was_ignored_is_told_within_a_bound():
    report = Codec(list[One]).decode_report([{"first_name": "a", "unheard_of": 3}] * 1000)
    assert len(report.ignored) == MAX_PROBLEMS
    assert report.ignored[0].path == (0, "unheard_of")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```\n{a: 1}\n```", "at line 2 column 2: expected a key in double quotes here"),
        ('```json\r\n{"a": 1 "b": 2}```', "at line 2 column 9: expected a comma or a closing bracket here"),
        ("```\n{a: 1}\n``` done", "it is inside a Markdown fence with text around it"),
    ],
)
def test_inside_a_fence_that_repair_removes_the_rest_is_described(text, said):
    with pytest.raises(DecodeError) as caught:
        Codec(One, repair=True).decode_json(text)
    assert said in str(caught.value)
    with pytest.raises(DecodeError, match="it is inside a Markdown fence"):
        Codec(One).decode_json(text)


def test_what_the_own_parser_refuses_inside_a_fence_is_said_of_the_fence():
    def refuse(text):
        if text[0] == "`":
            return json.loads(text)
        message = "not today"
        raise ValueError(message)

    with pytest.raises(DecodeError, match="not valid JSON"):
        Codec(One, repair=True, json_loads=refuse).decode_json('```\n{"a": 1}\n```')
