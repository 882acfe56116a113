"""Partial arguments are read in linear time."""

from __future__ import annotations

import time

import pytest
from partial_samples import WRITE, fed

LONG = {
    "string": lambda size: '{"path": "' + "x" * size,
    "escapes": lambda size: '{"path": "' + "\\n" * (size // 2),
    "key": lambda size: '{"' + "x" * size,
    "digits": lambda size: '{"nest": ' + "1" * size,
    "space": lambda size: '{"nest":' + " " * size,
    "array": lambda size: '{"nest": [' + "[],0," * (size // 5),
    "keys": lambda size: "{" + ",".join(f'"{i:07}":0' for i in range(size // 12)),
    "values": lambda size: '{"nest": {"items": [' + "1," * (size // 2) + "0]}",
    "after the end": lambda size: '{"path": "", "mode": "write"}' + " " * size,
    "after the break": lambda size: "x" * size,
}


def seconds_a_chunk(text, read):
    """Feed what is not read yet one character at a time; the quickest of five stretches."""
    stream = WRITE.stream()
    stream.feed(text[:read])
    stretches = []
    for start in range(read, read + 2500, 500):
        started = time.process_time()
        fed(stream, text[start : start + 500])
        stretches.append(time.process_time() - started)
    return min(stretches)


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_what_a_chunk_costs_does_not_depend_on_what_came_before(make):
    """So that the time is linear in the text."""
    long = 100_000 if make in {LONG["array"], LONG["keys"], LONG["values"]} else 1_000_000
    assert seconds_a_chunk(make(long + 3000), long) < 5 * seconds_a_chunk(make(4000), 1000) + 0.001


def test_a_text_of_a_million_characters():
    text = '{"path": "' + "x" * 1_000_000 + '", "mode": "write"}'
    assert len(fed(WRITE.stream(), text, 64).finish().path) == 1_000_000
