"""Partial arguments are read in linear time."""

from __future__ import annotations

import pytest
from partial_samples import WRITE, fed
from patience import assert_ratio, cpu_seconds

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


def stretches(make, read):
    """Feed so much at once, then character by character; yield the seconds that each 500 of them take."""
    text = make(read + 3000)
    stream = WRITE.stream()
    stream.feed(text[:read])
    for start in range(read, read + 3000, 500):
        yield cpu_seconds(fed, stream, text[start : start + 500])


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
def test_what_a_chunk_costs_does_not_depend_on_what_came_before(make):
    """So that the time is linear in the text."""
    long = 100_000 if make in {LONG["array"], LONG["keys"], LONG["values"]} else 1_000_000
    assert_ratio(20, stretches(make, long).__next__, stretches(make, 1000).__next__)


def test_a_text_of_a_million_characters():
    text = '{"path": "' + "x" * 1_000_000 + '", "mode": "write"}'
    assert len(fed(WRITE.stream(), text, 64).finish().path) == 1_000_000
