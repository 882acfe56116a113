"""Each row of the table of limits holds in both tiers, in both directions, and for the example."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shares import shared

from operator_schema import Codec, DecodeError, EncodeError
from operator_schema.codec.codec import DEFAULTS
from operator_schema.codec.compile import writer
from operator_schema.engine import LIMITS, ArrayNode, Constraints, Graph, MapNode, ScalarNode
from operator_schema.introspect.nodes import ANY

ITEMS = st.lists(st.integers(0, 3), max_size=6)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text("ab1", max_size=6),
    "integer": st.integers(-20, 20),
    "number": st.integers(-20, 20) | st.integers(-80, 80).map(lambda eighths: eighths / 8),
    "array": ITEMS,
    "object": ITEMS.map(lambda items: {f"k{index}": item for index, item in enumerate(items)}),
}
GIVEN: dict[str, st.SearchStrategy[Any]] = {
    "number": st.integers(1, 9) | st.sampled_from([0.5, 2.5]),
    "length": st.integers(0, 4),
    "text": st.sampled_from(["a", "b+", "^a", "1|ab"]).map(re.compile),
}
NODES: dict[str, Any] = {
    "array": lambda limits: ArrayNode(ANY, list, list, limits, None),
    "object": lambda limits: MapNode(ScalarNode("string"), ANY, dict, dict, limits, None),
}
CASES = [
    pytest.param(row, json_type, id=f"{row.slot}-{json_type}") for row in LIMITS for json_type in row.keywords
]


def codec_of(row, json_type, limit):
    limits = Constraints(**{row.slot: limit})
    make = NODES.get(json_type, lambda limits: ScalarNode(json_type, limits))
    return Codec.from_graph(Graph(make(limits), {}), Any, "value", DEFAULTS)


def fits(function, value):
    try:
        function(value)
    except (DecodeError, EncodeError):
        return False
    return True


def check(row, json_type, limit, value):
    cold, warm = codec_of(row, json_type, limit), codec_of(row, json_type, limit).compile()
    assert warm.compiled == {"decode", "encode"}
    measured = len(value) if row.of == "length" else value
    expected = not row.breaks(measured, limit)
    for codec in (cold, warm):
        assert fits(codec.decode, value) is expected
        assert fits(codec.encode, value) is expected
    example = cold.example()
    assert fits(warm.decode, example)
    assert fits(warm.encode, example)


@pytest.mark.parametrize(("row", "json_type"), CASES)
@shared(len(CASES))
@given(data=st.data())
def test_a_limit_holds(row, json_type, data):
    check(row, json_type, data.draw(GIVEN[row.of]), data.draw(VALUES[json_type]))


@pytest.mark.parametrize(("row", "json_type"), CASES)
@shared(len(CASES))
@given(data=st.data())
def test_a_limit_holds_where_generated_code_has_no_shorter_way(row, json_type, data):
    with pytest.MonkeyPatch.context() as patch:
        for table in ("NUMBERS", "LENGTHS", "TEXTS"):
            rows = [each.replace(test="", finder=None) for each in getattr(writer, table)]
            patch.setattr(writer, table, rows)
        check(row, json_type, data.draw(GIVEN[row.of]), data.draw(VALUES[json_type]))
