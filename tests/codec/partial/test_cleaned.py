"""A stream whose values are changed before they are decoded ends as the changed whole is decoded."""

import json
from dataclasses import dataclass
from itertools import product

import pytest

from operator_schema import Codec, DecodeError
from operator_schema.codec.growing_json import GrowingJson


@dataclass
class Order:
    item: str
    number: int = 1
    note: str = ""


def without_nulls(_graph, value):
    return {key: found for key, found in value.items() if found is not None}


CHOICES = {"item": ["x", None, 5], "number": [2, None, "two"], "note": ["y", None]}
VALUES = [
    {key: found for key, found in zip(CHOICES, chosen, strict=True) if found != "left out"}
    for chosen in product(*[[*found, "left out"] for found in CHOICES.values()])
]


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("size", [1, 5, 100])
def test_a_cleaned_stream_ends_as_the_cleaned_whole(size, repair):
    codec = Codec(Order, repair=repair)
    for value in VALUES:
        text = json.dumps(value)
        stream = codec.stream(clean=without_nulls)
        for start in range(0, len(text), size):
            partial = stream.feed(text[start : start + size])
            assert None not in partial.fields.values()
        try:
            expected = codec.decode(without_nulls(None, value))
        except DecodeError as error:
            assert partial.findings == error.findings
            with pytest.raises(DecodeError):
                stream.finish()
        else:
            assert (partial.findings, partial.is_complete) == ((), True)
            assert stream.finish() == expected
            assert all(getattr(expected, name) == found for name, found in partial.fields.items())


@pytest.mark.parametrize("size", [1, 3, 100])
def test_the_items_of_lists_in_an_object_are_given_as_they_end(size):
    value = {"a": [1, {"b": [2]}, "]", []], "c": 3, "d": {"e": [4]}, "f": [5.5, None]}
    text, growing, found = json.dumps(value), GrowingJson("{["), []
    for start in range(0, len(text), size):
        found += [json.loads(part) for _, part in growing.read(text[start : start + size])]
    assert found == [*value["a"], *value["f"]]
    assert growing.ended
