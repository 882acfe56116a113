"""A field whose alias takes null is one that may be left out, wherever its class is used."""

from __future__ import annotations

from collections import deque  # annotations are evaluated
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated

import pytest
from typing_extensions import Doc, TypeAliasType

from operator_schema import Codec
from operator_schema.engine import ObjectNode
from operator_schema.introspect.node_kinds import parts_of

Tree = TypeAliasType("Tree", "list[Tree] | Leaf | None")
Full = TypeAliasType("Full", "list[Full] | int")


@dataclass
class Leaf:
    tree: Tree
    full: Full
    shown: Tree = field(metadata={"examples": [None]})


@pytest.mark.parametrize(
    "annotation",
    [
        Tree, Leaf,
        list[Leaf], deque[Tree], dict[str, Leaf], tuple[int, Leaf], Leaf | None, Leaf | list[Leaf],
    ],
    ids=str,
)  # fmt: skip
def test_a_field_whose_recursive_alias_takes_null_may_be_left_out(annotation):
    codec = Codec(annotation, namespace={"Tree": Tree, "Leaf": Leaf, "Full": Full})
    required = {
        (found.name, found.required, found.absent_is_none)
        for node in all_objects(codec.graph)
        for found in node.fields
    }
    assert required == {("tree", False, True), ("full", True, False), ("shown", False, True)}


def all_objects(graph):
    pending = [graph.root, *graph.definitions.values(), *graph.aliases.values()]
    found = []
    while pending:
        node = pending.pop()
        found += [node] if isinstance(node, ObjectNode) else []
        pending += [inner for _, inner in parts_of(node)]
    assert found
    return found


@pytest.mark.parametrize(
    "annotation",
    [int | Annotated[None, Doc("Nobody")], Annotated[int | None, Doc("Or nobody")] | str],
    ids=["described", "inside"],
)
def test_so_may_one_whose_union_has_a_described_null_or_one_inside_it(annotation):
    owner = make_dataclass("Owner", [("number", annotation)])
    assert Codec(owner).decode({}) == Codec(owner).decode({"number": None}) == owner(None)


def test_null_and_an_absent_key_both_decode_to_none():
    codec = Codec(Leaf, namespace={"Tree": Tree, "Leaf": Leaf, "Full": Full})
    assert codec.decode({"full": 1}) == codec.decode({"full": 1, "tree": None}) == Leaf(None, 1, None)
