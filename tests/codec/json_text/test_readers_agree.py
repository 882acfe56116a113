"""Texts are read fast if nothing is wrong with them: value and problems are those of the careful reader."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import pytest

from operator_schema import Codec, DecodeError
from operator_schema.codec.json_text import read_json
from operator_schema.json_values import (
    MAX_INTEGER_DIGITS,
    MAX_TEXT_DEPTH,
    RepeatedKeyError,
    distinct_keys,
    read_distinct,
)
from tests.shares import seeds

BEGINNINGS = [
    '{"center": {"latitude": 52.520008, "longitude": -1.5e-7}, "tags": ["a", "b"], "unit": null, "n": 10}',
    '{"text": "line\\nbreak \\"quoted\\" \\u00e9 \\ud83d\\ude00 \\\\", "arguments": "{\\"a\\": 1}"}',
    ' \n{"a" : {"b" : 1, "c" : 2}, "d" : [true, false, {"e": {}}]}\r\n',
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": {"b": 1}}}',
    '{"a": NaN, "b": -Infinity}',
    "[1e999, 1e308, -1e308, 12345678901234567890, 0.1e1]",
    '{"a": "\\ud800"}',
    '"é€\U0001f600"',
    "\ufeff[0]",
    "\t\ufeff[0]",
    "[0]\ufeff ",
    "[[[[]]]]",
    "",
    "0",
]
CHARACTERS = '{}[]",:\\ 0123456789eE+-.ntfNaI\n\tudé\ufeff\ud800'
TEXTS = 2_500
"""So many of each seed: `make laws` reads 100,000."""


def texts_of(seed):
    draw = Random(f"readers:{seed}")  # noqa: S311  # the same texts each time
    deep = [MAX_TEXT_DEPTH * "[" + inner + MAX_TEXT_DEPTH * "]" for inner in ("", '{"a": 1}')]
    long = [*deep, f"[{', '.join(map(str, range(400)))}]"]
    for number in range(TEXTS):
        text = list(draw.choice(BEGINNINGS if number % 50 else long))
        for _ in range(draw.randrange(4)):
            place = draw.randrange(len(text) + 1)
            text[place : place + draw.randrange(2)] = draw.choice(["", draw.choice(CHARACTERS)])
        whole = "".join(text)
        has_surrogate = any("\ud800" <= character <= "\udfff" for character in whole)
        yield whole if has_surrogate or number % 5 else whole.encode()


def outcome_of(read, text):
    try:
        value = read(text)
    except (ValueError, RecursionError) as error:
        return type(error), str(error)
    return json.dumps(value)


@pytest.mark.parametrize("seed", seeds(25))
def test_a_text_is_read_as_the_careful_reader_reads_it(seed):
    read = 0
    codec = Codec(Any)
    for text in texts_of(seed):
        value, problems = read_json(text)
        careful, faults = read_json(text, keeps_digits=True)  # never the fast one
        assert [problems.found, problems.omitted] == [faults.found, faults.omitted], text
        assert json.dumps(value) == json.dumps(careful), text
        try:
            decoded, found = codec.decode_json(text), ()
        except DecodeError as error:
            decoded, found = None, error.findings
        codes, wanted = [finding.code for finding in found], [fault.code for fault in faults.found]
        assert codes == wanted or codes == ["too_deep"] * (not wanted), text  # a type takes fewer levels
        assert found or json.dumps(decoded) == json.dumps(careful), text
        read += not problems.found
    assert TEXTS / 10 < read < TEXTS


@pytest.mark.parametrize("seed", seeds(25))
def test_a_text_with_distinct_keys_is_read_as_the_standard_library_reads_it(seed):
    def loads(text):
        return json.loads(text, object_pairs_hook=distinct_keys)

    for text in texts_of(seed):
        assert outcome_of(read_distinct, text) == outcome_of(loads, text), text


def test_a_key_that_comes_twice_is_found_in_text_and_bytes_of_any_encoding():
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32-le"):
        assert read_distinct('{"é": 1}'.encode(encoding)) == {"é": 1}
        with pytest.raises(RepeatedKeyError, match="'é' more than once"):
            read_distinct('{"é": 1, "é": 1}'.encode(encoding))
    with pytest.raises(TypeError):
        read_distinct(None)


@pytest.mark.parametrize("limit", [0, 640, MAX_INTEGER_DIGITS, 10_000])
def test_a_long_integer_is_refused_whatever_the_process_allows(limit):
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        for digits in (600, 640, 641, MAX_INTEGER_DIGITS, MAX_INTEGER_DIGITS + 1, 11_000):
            text = f"[{'1' * digits}]"
            codes = [problem.code for problem in read_json(text)[1].found]
            assert codes == ["too_large"] * (digits > min(limit or MAX_INTEGER_DIGITS, MAX_INTEGER_DIGITS))
    finally:
        sys.set_int_max_str_digits(before)
