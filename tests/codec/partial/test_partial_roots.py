"""Partial arguments with roots of every kind."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypedDict

import pytest
from partial_samples import Nest, fed, outcome

from operator_schema import Codec


class Pair(NamedTuple):
    left: int
    right: int = 0


class Options(TypedDict, total=False):
    left: int | None


@pytest.mark.parametrize(
    ("annotation", "text", "fields", "receiving"),
    [
        (Nest, '{"items": [1], "inner": {', {"items": [1]}, "inner"),
        (Pair, '{"left": 1, "right"', {"left": 1}, "right"),
        (Options, '{"left": null, ', {"left": None}, None),
        (Annotated[Pair, "two"], '{"left": 1, ', {"left": 1}, None),
        (dict[str, int], '{"left": 1, "right":', {}, "right"),
        (Pair | str, '{"left": 1, ', {}, None),
        (list[int], "[1, 2", {}, None),
        (Any, '{"left": 1, "right":', {}, "right"),
        (int, "12", {}, None),
    ],
)
def test_roots(annotation, text, fields, receiving):
    partial = Codec(annotation).decode_partial(text)
    assert (partial.fields, partial.receiving, partial.findings) == (fields, receiving, ())
    assert not partial.is_complete


@pytest.mark.parametrize("text", ['{"left": "x"}', "[1]", '"x"', "12 ", "true", "null", "-0.5e-3\n"])
@pytest.mark.parametrize("annotation", [Pair, list[str], int, bool | None, dict[str, str]])
def test_a_root_that_has_ended(annotation, text):
    codec = Codec(annotation)
    partial = codec.decode_partial(text)
    instance, error = outcome(codec.decode_json, text)
    assert partial.is_complete
    assert partial.findings == (error[1] if error else ())
    stream = fed(codec.stream(), text)
    assert stream.partial == partial
    assert outcome(stream.finish) == (instance, error)


def test_a_number_may_go_on():
    stream = Codec(float).stream()
    for text, value in (("1", 1), ("2", 12), (".", None), ("5", 12.5), ("e", None), ("2", 1250)):
        assert not stream.feed(text).is_complete
        assert outcome(stream.finish)[0] == value
