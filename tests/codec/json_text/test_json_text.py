"""JSON text: everything that is no JSON is one clear problem."""

from __future__ import annotations

import json
import pickle
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from operator_schema import Codec, DecodeError, decode_json
from operator_schema.json_values import MAX_INTEGER_DIGITS, MAX_PROBLEMS


@dataclass
class Note:
    text: str
    value: Any = None


def problems_of(text):
    with pytest.raises(DecodeError) as caught:
        decode_json(Note, text)
    str(caught.value).encode()
    return caught.value.findings


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "a"}',
        b'{"text": "a"}',
        bytearray(b'{"text": "a"}'),
        b'\xef\xbb\xbf{"text": "a"}',
        ' \n\t{"text" : "a"}\r\n',
        '{"text": "\\u0061", "unknown": [1, 2.5e3]}',
    ],
)
def test_takes(text):
    assert decode_json(Note, text) == Note("a")


def test_text_outside_ascii():
    assert decode_json(Note, '{"text": "größe \U0001f600"}') == Note("größe \U0001f600")
    assert decode_json(Note, '{"text": "\\ud83d\\ude00"}') == Note("\U0001f600")
    assert decode_json(Note, '{"text": "größe"}'.encode()) == Note("größe")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1 column 1"),
        ("   ", "line 1 column 4"),
        ('{"text": "a"', "line 1 column 13"),
        ('{"text": "a",}', "line 1 column"),
        ('{"text":\n "a"\n  x}', "line 3 column 3"),
        ("{'text': 'a'}", "line 1 column 2"),
        ('{"text": "a"} extra', "line 1 column 15"),
        ('{"text": "a\nb"}', "line 1 column 12"),
        ('{"text": undefined}', "line 1 column 10"),
        ('{"text": "a", "value": NaN}', "line 1 column 24"),
        ('{"text": "NaN",\n"value": -Infinity}', "line 2 column 10"),
        ('{"text": "\\"NaN", "value": Infinity}', "line 1 column 28"),
        ('{"text": 01}', "line 1 column 11"),
    ],
)
def test_what_is_no_json_is_told_with_line_and_column(text, where):
    [problem] = problems_of(text)
    assert (problem.path, problem.code) == ((), "invalid_json")
    assert where in problem.message


def test_text_that_ends_early_says_so():
    assert "the text ends early" in problems_of('{"text": ')[0].message


@pytest.mark.parametrize(
    "text",
    [
        b'{"text": "\xff"}',
        "\ud800",
        '{"text": "\ud800"}',
        '{"text": "\\ud800"}',
        '{"\\udfff": 1, "text": ""}',
    ],
)
def test_lone_surrogates_and_bytes_that_are_no_utf8(text):
    assert problems_of(text)[0].code == "invalid_json"


def test_repeated_keys_are_found_wherever_they_are():
    text = '{"text": "a", "text": "b", "value": [{"x": 1, "x": 2, "x": 3, "y": 1}, {"z": {"k": 1, "k": 1}}]}'
    assert [(p.path, p.code) for p in problems_of(text)] == [
        (("text",), "duplicate"),
        (("value", 0, "x"), "duplicate"),
        (("value", 1, "z", "k"), "duplicate"),
    ]


def test_repeated_keys_are_bounded():
    text = '{"text": "", "value": [' + ",".join(['{"a":1,"a":1}'] * (MAX_PROBLEMS + 7)) + "]}"
    with pytest.raises(DecodeError) as caught:
        decode_json(Note, text)
    assert (len(caught.value.findings), caught.value.omitted) == (MAX_PROBLEMS, 7)


@pytest.mark.parametrize("digits", [MAX_INTEGER_DIGITS + 1, 1_000_000])
def test_integers_of_too_many_digits(digits):
    for text in ('{"text": "", "value": %s}', '{"text": "", "value": -%s}'):
        [problem] = problems_of(text % ("1" * digits))
        assert problem.code == "too_large"
        assert len(str(problem)) < 200


def test_the_longest_integer():
    text = '{"text": "", "value": %s}' % ("9" * MAX_INTEGER_DIGITS)
    assert decode_json(Note, text).value == 10**MAX_INTEGER_DIGITS - 1
    text = '{"text": "%s", "value": 5}' % ("9" * (MAX_INTEGER_DIGITS + 1))
    assert decode_json(Note, text).value == 5


def test_a_process_that_allows_fewer_digits():
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        [problem] = problems_of('{"text": "", "value": %s}' % ("9" * 700))
        assert (problem.path, problem.code) == (("value",), "too_large")
        assert problem.message == "an integer of 700 digits; at most 640 are read"
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400 + ".0"])
def test_numbers_beyond_the_range_of_floats(number):
    [problem] = problems_of('{"text": "", "value": [{"a": %s}]}' % number)
    assert (problem.path, problem.code) == (("value", 0, "a"), "out_of_range")


def test_each_number_that_can_t_be_read_is_a_problem_at_its_path():
    digits = "1" * (MAX_INTEGER_DIGITS + 1)
    text = '{"text": "", "value": {"a": [1, %s, 2], "b": 1e999, "b": 1, "c": {"d": -1e999}}}' % digits
    assert [(problem.path, problem.code) for problem in problems_of(text)] == [
        (("value", "b"), "duplicate"),
        (("value", "a", 1), "too_large"),
        (("value", "c", "d"), "out_of_range"),
    ]
    assert [problem.path for problem in problems_of("1e999")] == [()]


def test_a_byte_order_mark_is_passed_over():
    text = '\ufeff{"text": "", "value": 5}'
    assert decode_json(Note, text) == decode_json(Note, text.encode()) == Note("", 5)
    assert problems_of("\ufeff" + text)[0].code == "invalid_json"


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"text":"","value":' + "[" * 100_000 + "]" * 100_000 + "}"]
)
def test_nesting_of_100_000(text):
    assert problems_of(text)[0].code == "too_deep"


@pytest.mark.parametrize("wrong", [None, 5, {"text": "a"}, ["x"], memoryview(b"{}")])
def test_what_is_no_text_is_the_callers_mistake(wrong):
    with pytest.raises(TypeError, match="use decode"):
        decode_json(Note, wrong)


def test_values_are_checked_as_decode_does():
    assert [p.path for p in Codec(Note).report({"text": 5})] == [p.path for p in problems_of('{"text": 5}')]


# --- a parser of the user's ----------------------------------------------------------------------


def loads_strictly(text):
    return json.loads(text, parse_constant=float)


@pytest.mark.parametrize("text", ['{"x": [1, 2]}', b'{"x": [1, 2]}', bytearray(b'{"x": [1, 2]}')])
def test_a_parser_of_the_user_s_gets_the_text_as_it_is(text):
    given = []
    codec = Codec(dict[str, list[int]], json_loads=lambda it: given.append(it) or json.loads(it))
    assert codec.decode_json(text) == {"x": [1, 2]}
    assert given[0] is text


def test_what_a_parser_does_with_keys_and_numbers_is_its_own():
    codec = Codec(dict[str, Any], json_loads=loads_strictly)
    assert codec.decode_json('{"a": 1, "a": 2}') == {"a": 2}
    assert codec.decode_json('{"a": Infinity}') == {"a": float("inf")}
    with pytest.raises(DecodeError, match="not finite"):
        Codec(float, json_loads=loads_strictly).decode_json("NaN")


@pytest.mark.parametrize("text", ["{", b"\xff", '{"a": 1}x', ""])
def test_what_a_parser_refuses_is_a_problem(text):
    with pytest.raises(DecodeError, match="not valid JSON: ") as caught:
        Codec(dict[str, int], json_loads=json.loads).decode_json(text)
    assert [p.code for p in caught.value.findings] == ["invalid_json"]


def test_what_a_parser_says_is_bounded():
    def refuse(text):
        raise ValueError(text)

    codec = Codec(int, json_loads=refuse)
    with pytest.raises(DecodeError) as caught:
        codec.decode_json("x\n\x1b" * 100_000)
    assert len(str(caught.value.findings[0])) < 300
    with pytest.raises(DecodeError, match="not valid JSON: ValueError"):
        codec.decode_json("")


@pytest.mark.parametrize("make", [str, str.encode])
def test_text_that_nests_too_deep_never_gets_to_a_parser(make):
    codec = Codec(Any, json_loads=json.loads)
    codec.decode_json(make("[" * 500 + "]" * 500))
    codec.decode_json(make("[" + ",".join(["[]"] * 1000) + "]"))
    with pytest.raises(DecodeError) as caught:
        codec.decode_json(make("[" * 501 + "]" * 501))
    assert [p.code for p in caught.value.findings] == ["too_deep"]
    with pytest.raises(DecodeError) as caught:
        codec.decode_json(b"\xff" + b"[" * 501)
    assert [p.code for p in caught.value.findings] == ["invalid_json"]


def test_text_too_short_to_nest_too_deep_is_left_to_the_parser():
    codec = Codec(Any, json_loads=json.loads)
    with pytest.raises(DecodeError) as caught:
        codec.decode_json("[" * 501 + "]" * 499)
    assert [p.code for p in caught.value.findings] == ["invalid_json"]


def test_a_report_reads_with_the_parser_too():
    codec = Codec(dict[str, int], json_loads=json.loads, repair=True)
    assert codec.decode_json_report('{"a": 1}').instance == {"a": 1}
    report = codec.decode_json_report("{'a': 1}")
    assert report.instance == codec.decode_json("{'a': 1}") == {"a": 1}
    assert [repair.code for repair in report.repairs] == ["syntax"]
    with pytest.raises(DecodeError, match="not valid JSON"):
        codec.decode_json_report("{")


def test_a_parser_that_runs_out_of_stack_is_a_problem():
    def run_out(_text):
        raise RecursionError

    with pytest.raises(DecodeError) as caught:
        Codec(int, json_loads=run_out).decode_json("1")
    assert [p.code for p in caught.value.findings] == ["too_deep"]


def test_other_exceptions_of_a_parser_are_its_own():
    def fail(_text):
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        Codec(int, json_loads=fail).decode_json("1")
    with pytest.raises(TypeError, match="JSON text is str or bytes, not int"):
        Codec(int, json_loads=json.loads).decode_json(5)
    with pytest.raises(ValueError, match="json_loads must be a function"):
        Codec(int, json_loads="orjson")


def test_the_parser_is_pickled_with_the_codec():
    again = pickle.loads(pickle.dumps(Codec(int, json_loads=len)))
    assert again.decode_json("[1]") == 3
