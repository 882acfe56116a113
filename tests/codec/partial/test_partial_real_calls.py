"""Real texts, split at every position."""

from __future__ import annotations

import importlib
import json
import random
import sys
from json.decoder import scanstring
from pathlib import Path

import pytest

from operator_schema import Codec

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "airline"


CALLS = [
    json.loads(line) for line in (EXAMPLE / "data" / "calls.jsonl").read_text(encoding="utf-8").splitlines()
]
DISTINCT = list(dict.fromkeys((call["name"], call["arguments"]) for call in CALLS))


@pytest.fixture(scope="module")
def codecs():
    is_known = "airline_tools" in sys.modules  # other tests may use it
    sys.path.insert(0, str(EXAMPLE))
    try:
        tools = importlib.import_module("airline_tools").TOOLS
        yield {name: Codec(cls) for name, cls in tools.items()}
    finally:
        sys.path.remove(str(EXAMPLE))
        if not is_known:
            sys.modules.pop("airline_tools", None)


def members(text):
    """Key, end of the key and end of the value, in which a number has ended one character later."""
    decoder, index, spans = json.JSONDecoder(), text.index("{") + 1, []
    while '"' in text[index:]:
        key, end_of_key = scanstring(text, text.index('"', index) + 1)
        start = text.index(":", end_of_key) + 1
        start += len(text[start:]) - len(text[start:].lstrip())
        _, index = decoder.raw_decode(text, start)
        spans.append((key, end_of_key, index + (text[start] in "-0123456789")))
    return spans


def expected_at(spans, declared, final):
    """What is known at each length of the text, found by the standard library's parser."""
    known = []
    for length in range(spans[-1][2] + 1 if spans else 1):
        ended = [key for key, _, end in spans if end <= length]
        receiving = next((key for key, begin, end in spans if begin <= length < end), None)
        known.append(
            (
                [name for name in ended if name in declared],
                receiving,
                tuple(name for name, is_required in declared.items() if is_required and name not in ended),
            )
        )
    assert all(name in final for name in known[-1][0])
    return known


def test_the_airlines_calls_split_at_every_position(codecs):
    assert (len(CALLS), len(DISTINCT)) == (1164, 605)
    chosen = random.Random(4)  # noqa: S311  # nobody is to be kept from guessing
    for name, text in DISTINCT:
        codec = codecs[name]
        instance = codec.decode_json(text)
        declared = {entry.name: entry.required for entry in codec.graph.resolve_root().fields}
        known = expected_at(members(text), declared, vars(instance))
        sample = {chosen.randrange(len(text)) for _ in range(3)}
        stream = codec.stream()
        for length, character in enumerate(text, 1):
            partial = stream.feed(character)
            fields, receiving, missing = known[min(length, len(known) - 1)]
            assert list(partial.fields) == fields
            assert (partial.receiving, partial.missing, partial.findings) == (receiving, missing, ())
            assert all(value == getattr(instance, name) for name, value in partial.fields.items())
            assert partial.is_complete is (length >= len(text.rstrip()))
            if length in sample:
                assert codec.decode_partial(text[:length]) == partial
        assert stream.finish() == instance
