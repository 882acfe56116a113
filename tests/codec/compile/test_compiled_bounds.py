"""Depth and size in the compiled tier."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any

import pytest
from compare import same
from compile_samples import (
    GiveUp,
    Part,
    Tree,
    check,
    check_encoder,
    compiled_decoder,
    decoder_of,
    encoder_of,
    graph_finder,
    leave,
)

from operator_schema import Codec, DecodeError, EncodeError
from operator_schema.codec.compile import writer
from operator_schema.codec.compile.decoder import decoder_source
from operator_schema.codec.compile.encoder import compile_encoder


def nested(levels):
    value: dict[str, Any] = {}
    for i in range(levels):
        value = [{"kids": [value]}, {"named": {"a": value}}, {"pair": [value, 1]}][i % 3]
    return value


@pytest.mark.parametrize("max_depth", [2, 3, 4, 5, 6, 7, 8, 9])
def test_depth(max_depth):
    codec = Codec(Tree, max_depth=max_depth).compile()
    for levels in range(6):
        check(codec, nested(levels))
    everything = Codec(Tree).decode(nested(5))
    made = encoder_of(codec)(everything)
    assert (made is GiveUp) == (max_depth < 11)
    check_encoder(Codec(Tree).compile(), Tree(value=[[[1]]]))


def test_a_value_deeper_than_the_stack_is_a_problem():
    codec = Codec(Tree, max_depth=10**6).compile()
    value: dict[str, Any] = {}
    for _ in range(10**5):
        value = {"kids": [value]}
    assert decoder_of(codec)(value) is GiveUp
    with pytest.raises(DecodeError, match="nested deeper"):
        codec.decode(value)
    ring = Tree()
    ring.kids.append(ring)
    assert encoder_of(codec)(ring) is GiveUp
    with pytest.raises(EncodeError, match="nested deeper"):
        codec.encode(ring)
    while value:  # taken apart by hand: freeing it whole may exhaust the C stack
        value = value.pop("kids").pop()


def doubling(levels):
    made = int
    for i in range(levels):
        made = make_dataclass(f"C{i}", [("a", made), ("b", made)])
    return made


def test_classes_that_come_again_have_one_function():
    codec = Codec(doubling(60)).compile()
    assert codec.source().count("\n") < 60 * 40
    small = Codec(doubling(3)).compile()
    check(
        small,
        {
            "a": {"a": {"a": 1, "b": 1}, "b": {"a": 1, "b": 1}},
            "b": {"a": {"a": 1, "b": 1}, "b": {"a": 1, "b": 1}},
        },
    )
    check(small, {"a": {}, "b": {}})


def test_nesting_past_what_python_allows_in_one_function():
    deep: Any = int
    for _ in range(40):
        deep = list[deep]
    codec = Codec(deep).compile()
    value: Any = 1
    for _ in range(40):
        value = [value]
    assert codec.compiled == {"decode", "encode"}
    assert same(codec.decode(value), value)
    assert same(codec.encode(value), value)


def test_large_types_stay_interpreted():
    flat = make_dataclass("Flat", [(f"f{i}", int) for i in range(writer.MAX_PLACES)])
    codec = Codec(flat).compile()
    value = {f"f{i}": i for i in range(writer.MAX_PLACES)}
    check(codec, value)
    assert codec.source().count("stays interpreted: the type has more than") == 2
    assert compile_encoder(codec.graph, 100, leave, graph_finder(codec)) is None
    wide = Codec(make_dataclass("Wide", [(f"f{i}", int) for i in range(writer.MAX_PLACES - 1)])).compile()
    assert decoder_of(wide)(value) is not GiveUp


def test_exact_gives_up_on_keys_that_are_not_used():
    graph = Codec(Part).graph
    exact = compiled_decoder(graph, 100, exact=True)
    assert exact({"name": "a"}) == Part("a")
    assert exact({"name": "a", "size": 1}) == Part("a", 1)
    assert exact({"name": "a", "more": 1}) is GiveUp
    assert exact({"name": "a", "size": 1, "more": 1}) is GiveUp
    assert compiled_decoder(graph, 100)({"name": "a", "more": 1}) == Part("a")
    assert "used" in decoder_source(graph, 100, leave, exact=True)
