"""Texts are read fast if nothing is wrong with them: value and problems are those of the careful reader."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from operator_schema import Codec, DecodeError
from operator_schema.engine import read_json
from operator_schema.json_reading import RepeatedKeyError, distinct_keys, read_distinct
from operator_schema.json_values import MAX_INTEGER_DIGITS
from tests.mutated_texts import TEXTS, texts_of
from tests.shares import seeds


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
