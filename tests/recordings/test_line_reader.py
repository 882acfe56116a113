"""orjson reads a line of a log only if the value is that of our own reader."""

from __future__ import annotations

import json
from random import Random

import pytest

from operator_schema.codec.json_text import read_faultless
from operator_schema.codec.problems import GiveUp
from operator_schema.recordings.line_reader import line_reader
from tests.mutated_texts import texts_of
from tests.shares import seeds

pytest.importorskip("orjson", reason="orjson isn't installed: our own reader reads the lines")


def lines_of(seed):
    for text in texts_of(seed):
        yield text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    draw = Random(f"numbers:{seed}")  # noqa: S311  # the same numbers each time
    for _ in range(1_000):
        number = draw.random() * 10 ** draw.randrange(-30, 30)
        yield json.dumps({"n": number, "m": [draw.getrandbits(draw.randrange(1, 80)), number]}).encode()


@pytest.mark.parametrize("seed", seeds(25))
def test_a_line_is_read_as_our_own_reader_reads_it_or_left_to_that(seed):
    read, left = 0, 0
    for line in lines_of(seed):
        value, own = line_reader()(line), read_faultless(line)
        assert value is GiveUp or repr(value) == repr(own), line
        read += value is not GiveUp
        left += value is GiveUp and own is not GiveUp
    assert left < read
