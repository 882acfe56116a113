"""orjson reads a line of a log only if the value is that of our own reader, however many lines it gets."""

from __future__ import annotations

import json
import sys
from random import Random

import pytest

from operator_schema.codec.json_text import read_faultless
from operator_schema.codec.problems import GiveUp
from operator_schema.recordings.line_reader import line_reader
from tests.mutated_texts import texts_of
from tests.shares import seeds


def blocks_of(seed):
    """Yield lists of lines: each text and number once, among up to 30 others."""
    draw = Random(f"lines:{seed}")  # noqa: S311  # the same lines each time
    lines = []
    for text in texts_of(seed):
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        lines += data.split(b"\n")
        number = draw.random() * 10 ** draw.randrange(-30, 30)
        numbers = [draw.getrandbits(draw.randrange(1, 80)), number]
        lines.append(json.dumps({"n": number, "m": numbers}).encode())
    draw.shuffle(lines)
    while lines:
        size = draw.randrange(1, 30)
        block, lines = lines[:size], lines[size:]
        # Most logs have few faults: a block without them is read in another way.
        faultless = [line for line in block if read_faultless(line) is not GiveUp]
        yield faultless if faultless and draw.random() < 0.7 else block


@pytest.mark.parametrize("seed", seeds(25))
def test_orjson_reads_lines_as_our_own_reader_does_or_leaves_them_to_it(seed):
    pytest.importorskip("orjson", reason="orjson isn't installed: our own reader reads the lines")
    read, left = 0, 0
    for block in blocks_of(seed):
        lines, values = line_reader()(b"\n".join(block))
        for line, given, value in zip(lines, block, values, strict=True):
            own = read_faultless(given)
            assert line == given
            assert value is GiveUp or repr(value) == repr(own), line
            read += value is not GiveUp
            left += value is GiveUp and own is not GiveUp
    assert left < read


@pytest.mark.parametrize("seed", seeds(5))
def test_without_orjson_lines_are_read_one_by_one(seed, monkeypatch):
    monkeypatch.setitem(sys.modules, "orjson", None)
    read = line_reader.__wrapped__()
    for block in blocks_of(seed):
        lines, values = read(b"\n".join(block))
        assert [line if isinstance(line, bytes) else line.encode() for line in lines] == block
        assert repr(values) == repr([read_faultless(line) for line in block])
