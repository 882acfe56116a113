"""Lenient encoding in the corners: recursive types, deep values, classes that can't be registered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from operator_schema import Codec, EncodeError, SchemaLeaf


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


class Unregistrable(NamedTuple):
    callback: type
    count: int


class Grams(float):
    __slots__ = ()


def test_a_recursive_type_is_followed():
    tree: Any = Tree(1, [Tree("x", (Tree(2),))])  # type: ignore[arg-type,list-item]
    encoded, notes = Codec(Tree).encode_leniently(tree)
    inner = {"value": "x", "children": [{"value": 2, "children": []}]}
    assert encoded == {"value": 1, "children": [inner]}
    assert [note.path for note in notes] == [("children", 0, "value"), ("children", 0, "children")]


def test_a_tuple_with_an_item_that_does_not_fit():
    encoded, (note,) = Codec(tuple[int, str]).encode_leniently((1, 2))
    assert (encoded, note.path) == ([1, 2], (1,))


def test_a_named_tuple_that_cannot_be_registered_is_an_object():
    assert Codec(Any).encode_leniently(Unregistrable(None, 1)) == ({"callback": None, "count": 1}, ())  # type: ignore[arg-type]


def test_a_value_deeper_than_the_stack_is_refused():
    value: Any = ()
    for _ in range(100_000):
        value = {"a": value}
    with pytest.raises(EncodeError, match="nested deeper than this process can follow"):
        Codec(list[int], max_depth=1_000_000).encode_leniently(value)
    while value:  # one by one, as freeing it at once takes the stack too
        value = value["a"]


def test_a_recursion_error_of_a_leaf_is_its_own_in_a_part_of_compiled_code_too():
    def write(grams: Grams) -> float:
        if grams > 1:
            raise RecursionError
        return float(grams)

    leaf = SchemaLeaf(Grams, {"type": "number"}, Grams, write, Grams(1))
    codec = Codec(list[Any], leaves=[leaf]).compile()
    with pytest.raises(RecursionError):
        codec.encode([Grams(2)])


@dataclass
class Chain:
    size: int
    rest: Chain | None = None


def test_a_recursive_dataclass_beside_a_misfit_is_written_by_its_fields() -> None:
    encoded, notes = Codec(list[Any]).encode_leniently([Chain(1, Chain(2)), float("inf")])
    assert encoded == [{"size": 1, "rest": {"size": 2}}, None]
    assert [note.path for note in notes] == [(1,)]


def test_each_entry_whose_own_code_fails_is_named():
    class Torn(dict[str, int]):
        def items(self) -> Any:
            message = "it is torn"
            raise ValueError(message)

    torn: Any = {1: Torn(a=1), 2: Torn(a=1)}
    with pytest.raises(EncodeError) as caught:
        Codec(dict[int, int]).encode_leniently(torn)
    assert [problem.path for problem in caught.value.findings] == [("1",), ("2",)]
