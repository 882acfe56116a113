"""Type aliases, NewType and Self."""

import itertools
from dataclasses import dataclass, make_dataclass
from typing import (
    Annotated,
    Any,
    Union,
)

import pytest
from annotation_samples import (
    INTEGER,
    NULL,
    PROBES,
    STRING,
    Color,
    Json,
    Node,
    T,
    Tree,
    array_of,
    check_agreement,
    complaint_of,
    complaints_of,
    schema_of,
)
from judge import same_json, validator
from typing_extensions import TypeAliasType

from operator_schema import Codec

NUMBER = {"type": "number"}


Both = TypeAliasType("Both", tuple[T, T], type_params=(T,))


Size = TypeAliasType("Size", Annotated[int, "How many"])


Loop = TypeAliasType("Loop", "Loop")


LoopInUnion = TypeAliasType("LoopInUnion", Union[int, "LoopInUnion"])


LoopInKey = TypeAliasType("LoopInKey", "dict[LoopInKey, int]")


Ping = TypeAliasType("Ping", Union[int, "Pong"])


Pong = TypeAliasType("Pong", Union[str, "Ping"])


Endless = TypeAliasType("Endless", Union[T, "list[Endless[list[T]]]"], type_params=(T,))


Broken = TypeAliasType("Broken", "list[Nowhere]")  # noqa: F821  # on purpose


def test_an_alias_is_what_it_stands_for():
    assert schema_of(Size) == {"type": "integer", "description": "How many"}
    assert schema_of(list[Size]) == array_of(schema_of(Size))
    assert schema_of(Both[int]) == schema_of(tuple[int, int])
    assert schema_of(Both) == schema_of(tuple[Any, Any])
    assert Codec(Both[Size]).decode([1, 2.0]) == (1, 2)
    made = make_dataclass("Made", [("size", Size), ("maybe", Size | None), ("own", Annotated[Size, "Mine"])])
    assert schema_of(made) == {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "description": "How many"},
            "maybe": {"type": "integer", "description": "How many"},
            "own": {"type": "integer", "description": "Mine"},
        },
        "required": ["size", "own"],
    }


def test_a_recursive_alias():
    reference = {"$ref": "#/$defs/Json"}
    members = [STRING, INTEGER, NUMBER, {"type": "boolean"}, array_of(reference),
               {"type": "object", "additionalProperties": reference}, NULL]  # fmt: skip
    assert schema_of(Json) == {"anyOf": members, "$defs": {"Json": {"anyOf": members}}}
    assert schema_of(list[Json])["items"] == reference
    check_agreement(Json)
    for value in PROBES:
        assert same_json(Codec(Json).decode(value), value)


def test_a_recursive_alias_does_not_share_with_its_input():
    value = {"a": [1, {"b": []}]}
    decoded = Codec(Json).decode(value)
    assert decoded == value
    assert decoded is not value
    assert decoded["a"] is not value["a"]


def test_a_recursive_generic_alias():
    assert Codec(Tree[int]).decode([1, [2, [3.0]]]) == [1, [2, [3]]]
    assert Codec(Tree[int]).report([1, ["x"]])[0].path == (1, 0)
    check_agreement(Tree[int])
    check_agreement(Tree[Color])


def test_definitions_of_generic_aliases_do_not_depend_on_the_order():
    found = []
    for order in itertools.permutations([Tree[int], Tree[str], Tree[bool]]):
        made = make_dataclass("Made", [(f"f{i}", annotation) for i, annotation in enumerate(order)])
        found.append(schema_of(made)["$defs"])
    assert len(found[0]) == 3
    assert all(definitions == found[0] for definitions in found)


@pytest.mark.parametrize("alias", [Loop, LoopInUnion, LoopInKey, Ping, Pong, Endless[int], Broken], ids=str)
def test_aliases_that_stand_for_nothing(alias):
    complaints = complaints_of(alias)
    assert complaints[0].code in {"unsupported", "unresolved", "too_deep"}
    assert complaints_of(list[alias])
    assert complaints_of(make_dataclass("Made", [("x", alias | None)]))


def test_an_alias_that_stands_for_itself_says_so():
    for alias in (Loop, LoopInUnion, Ping):
        assert "contains itself" in complaint_of(alias).message
    assert complaint_of(Broken).code == "unresolved"
    assert "Nowhere" in complaint_of(Broken).message


Rows = TypeAliasType("Rows", "list[Rows] | None")


Chained = TypeAliasType("Chained", "ChainLink | None")


@dataclass
class ChainLink:
    next: Chained


@dataclass
class Nullables:
    recursive: Rows
    alias: TypeAliasType("Count", int | None)
    inner: Annotated[int | None, "d"] | str
    described: Annotated[None, "d"] | int
    plain: Annotated[int, "d"] | str


def test_null_inside_an_alias_or_a_described_union_makes_a_field_not_required():
    assert schema_of(Nullables)["required"] == ["plain"]
    codec = Codec(Nullables)
    decoded = codec.decode({"plain": "a"})
    assert decoded == Nullables(None, None, None, None, "a")
    assert codec.encode(decoded) == {"plain": "a"}
    full = {"recursive": [None, []], "alias": 1, "inner": "a", "described": 5, "plain": 1}
    assert codec.encode(codec.decode(full)) == full
    assert validator(codec.json_schema()).is_valid(full)


def test_null_in_an_alias_that_comes_round_through_a_class():
    for annotation in (ChainLink, Chained):
        assert Codec(annotation).decode({"next": {}}) == ChainLink(ChainLink(None))
        assert Codec(annotation).encode(ChainLink(ChainLink(None))) == {"next": {}}


def test_an_alias_of_a_recursive_dataclass():
    alias = TypeAliasType("alias", Node[int] | None)
    assert Codec(alias).decode({"value": 1, "children": [{"value": 2}]}) == Node(1, [Node(2)])
    assert Codec(alias).decode(None) is None
