"""Generic classes and their arguments."""

import collections
import collections.abc
import itertools
import sys
import types
import typing
from dataclasses import KW_ONLY, InitVar, dataclass, make_dataclass
from typing import (
    Annotated,
    ClassVar,
    Generic,
    Literal,
    Optional,
    Required,
    TypeVar,
    TypeVarTuple,
    Union,
)

import pytest
import typing_extensions
from annotation_samples import (
    INTEGER,
    NULL,
    STRING,
    Cat,
    Ge,
    GenericDict,
    Node,
    P,
    Page,
    T,
    U,
    User,
    Users,
    array_of,
    codes_of,
    complaint_of,
    complaints_of,
    property_of,
    schema_of,
)

from operator_schema import Codec

B = TypeVar("B", bound=int)


Forward = TypeVar("Forward", bound="Cat")


C = TypeVar("C", int, str)


D = typing_extensions.TypeVar("D", default=int)


DefaultNone = typing_extensions.TypeVar("DefaultNone", default=None)


DefaultOther = typing_extensions.TypeVar("DefaultOther", default=list[D])


@dataclass
class MorePages(Page[U]):
    extra: U | None = None


@dataclass
class Strings(MorePages[str]):
    pass


@dataclass
class Pair(Generic[T, U]):
    a: T
    b: U


@dataclass
class Swapped(Pair[U, T], Generic[T, U]):
    c: T


@dataclass
class HoldsSwapped(Generic[T, U]):
    pair: Pair[U, T]


@dataclass
class Bounded(Generic[B]):
    x: B


@dataclass
class HoldsBounded(Generic[B]):
    x: Bounded[B]


@dataclass
class Constrained(Generic[C]):
    x: C


@dataclass
class Defaulted(Generic[D]):
    x: D


def test_a_generic_dataclass():
    assert schema_of(Page[int]) == {
        "type": "object",
        "properties": {"items": array_of(INTEGER), "first": INTEGER},
        "required": ["items"],
    }
    assert Codec(Page[User]).decode({"items": [{"name": "x"}]}) == Page([User("x")])
    assert codes_of(Page[int], {"items": ["x"], "first": 1.5}) == ["wrong_type", "wrong_type"]


def test_a_generic_dataclass_without_arguments_takes_anything():
    assert schema_of(Page)["properties"] == {"items": array_of({}), "first": {}}


def test_a_generic_dataclass_given_a_nullable():
    assert schema_of(Pair[int | None, str]) == {
        "type": "object",
        "properties": {"a": INTEGER, "b": STRING},
        "required": ["b"],
    }
    assert Codec(Pair[int | None, str]).decode({"b": "x"}) == Pair(None, "x")
    assert property_of(Page[int | None], "items") == array_of({"anyOf": [INTEGER, NULL]})


def test_a_generic_dataclass_inside_itself():
    assert property_of(Page[Page[int]], "items") == array_of(schema_of(Page[int]))
    value = {"items": [{"items": [1]}], "first": {"items": []}}
    assert Codec(Page[Page[int]]).decode(value) == Page([Page([1])], Page([]))
    assert "$defs" not in schema_of(Page[Page[int]])


def test_generic_dataclasses_inherited():
    assert property_of(Users, "items") == array_of(schema_of(User))
    assert Codec(Users).decode({"items": [{"name": "x"}], "total": 1}) == Users([User("x")], None, 1)
    assert schema_of(Strings)["properties"] == {"items": array_of(STRING), "first": STRING, "extra": STRING}
    assert property_of(MorePages[bool], "first") == {"type": "boolean"}
    assert property_of(MorePages, "first") == {}


def test_type_parameters_that_change_places():
    assert schema_of(Swapped[int, str])["properties"] == {"a": STRING, "b": INTEGER, "c": INTEGER}
    assert property_of(HoldsSwapped[int, str], "pair")["properties"] == {"a": STRING, "b": INTEGER}


def test_type_parameters_that_change_places_and_are_left_open():
    assert schema_of(Swapped)["properties"] == {"a": {}, "b": {}, "c": {}}
    assert property_of(HoldsSwapped, "pair")["properties"] == {"a": {}, "b": {}}


def test_recursive_generic_dataclasses():
    codec = Codec(Node[int])
    assert codec.decode({"value": 1, "children": [{"value": 2}]}) == Node(1, [Node(2)])
    assert codec.report({"value": 1, "children": [{"value": "x"}]})[0].path == ("children", 0, "value")
    schema = schema_of(Pair[Node[int], Node[str]])
    assert schema["properties"]["a"] == {"$ref": "#/$defs/Node_int"}
    assert schema["properties"]["b"] == {"$ref": "#/$defs/Node_str"}
    assert schema["$defs"]["Node_int"]["properties"]["value"] == INTEGER
    assert schema["$defs"]["Node_str"]["properties"]["value"] == STRING
    assert Codec(Node[Node[int]]).decode({"value": {"value": 1}}) == Node(Node(1))
    assert len(schema_of(Node[Node[int]])["$defs"]) == 2


def test_a_recursive_generic_that_grows_is_refused():
    @dataclass
    class Growing(Generic[T]):
        value: T
        next: "Growing[list[T]] | None" = None

    complaint = complaints_of(Growing[int], namespace={"Growing": Growing})[0]
    assert complaint.code == "too_deep"


def test_definitions_of_generic_classes_do_not_depend_on_the_order():
    one = make_dataclass("User", [("a", int)])
    two = make_dataclass("User", [("b", str)])
    one.__module__, two.__module__ = "one", "two"
    found = []
    for order in itertools.permutations([Node[one], Node[two], Node[int]]):
        made = make_dataclass("Made", [(f"f{i}", annotation) for i, annotation in enumerate(order)])
        found.append(schema_of(made)["$defs"])
    assert len(found[0]) == 3
    assert all(definitions == found[0] for definitions in found)


@dataclass
class HandsOn(Bounded[B]):
    pass


@dataclass
class LeavesOpen(HandsOn):
    z: int = 0


@dataclass
class LeavesOpenToo(LeavesOpen):
    pass


@dataclass
class NamesAnother(Bounded[int]):
    other: T  # which nothing says anything about


def test_a_base_that_is_left_open_takes_its_bound():
    for cls in (HandsOn, LeavesOpen, LeavesOpenToo):
        assert {"type": "integer"} in schema_of(cls)["properties"].values()
    assert complaint_of(NamesAnother).path == ("other",)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a TypedDict knows its bases since Python 3.12")
def test_a_typed_dict_whose_base_is_left_open():
    class Handed(GenericDict[T]):
        pass

    class Open(Handed):
        b: int

    assert schema_of(Open)["properties"]["b"] == {"type": "integer"}
    assert {} in schema_of(Open)["properties"].values()


Several = TypeVarTuple("Several")


@dataclass
class Last(Generic[*Several, T]):
    x: T


@dataclass
class LastIsBool(Last[int, str, bool]):
    pass


def test_type_parameters_beside_a_tuple_of_them():
    for annotation in (Last[int, str, bool], Last[bool], LastIsBool):
        assert schema_of(annotation)["properties"] == {"x": {"type": "boolean"}}
    assert schema_of(Last)["properties"] == {"x": {}}


def test_bounds_constraints_and_defaults_of_type_parameters():
    assert property_of(Bounded, "x") == INTEGER
    assert property_of(Bounded[bool], "x") == {"type": "boolean"}
    assert property_of(Constrained, "x") == {"anyOf": [INTEGER, STRING]}
    assert property_of(Constrained[str], "x") == STRING
    assert property_of(Defaulted, "x") == INTEGER
    assert property_of(Defaulted[str], "x") == STRING
    assert schema_of(T) == {}
    assert schema_of(B) == INTEGER
    assert schema_of(C) == {"anyOf": [INTEGER, STRING]}
    assert schema_of(D) == INTEGER
    assert schema_of(DefaultOther) == array_of(INTEGER)


def test_a_bound_that_is_a_forward_reference():
    made = make_dataclass("Made", [("pet", Forward)], bases=(Generic[Forward],))
    assert property_of(made, "pet", namespace={"Cat": Cat}) == schema_of(Cat)


def test_a_bound_still_holds_in_a_class_that_hands_its_parameter_on():
    assert property_of(HoldsBounded, "x") == schema_of(Bounded)
    assert property_of(HoldsBounded[bool], "x") == schema_of(Bounded[bool])


def test_a_type_parameter_whose_default_is_none():
    made = make_dataclass("Made", [("x", DefaultNone)], bases=(Generic[DefaultNone],))
    assert schema_of(DefaultNone) == NULL
    assert Codec(made).decode({"x": None}).x is None
    assert codes_of(made, {"x": 1}) == ["wrong_type"]


Ts = TypeVarTuple("Ts")


@pytest.mark.parametrize(
    "annotation",
    [
        tuple[int, *Ts],
        tuple[*Ts],
        tuple[int, *tuple[str, ...]],
        tuple[*tuple[int, ...]],
        collections.abc.Callable[P, int],
        collections.abc.Callable[..., int],
        Generic,
        Generic[T],
        Required,
        Literal,
        Union,
        Optional,
        Annotated,
        types.UnionType,
        types.GenericAlias,
        typing.Protocol,
        typing.Never,
        typing.NoReturn,
        typing.Iterator[int],
        typing.Awaitable[int],
        collections.defaultdict[str, int],
        collections.Counter[str],
        bytearray,
        range,
        ...,
        NotImplemented,
        [int],
        (int, str),
        3,
        Ge(1),
    ],
    ids=repr,
)
def test_what_has_no_meaning_is_refused(annotation):
    for odd in (annotation, list[annotation], make_dataclass("Odd", [("field", annotation)])):
        assert {complaint.code for complaint in complaints_of(odd)} <= {"unsupported", "unresolved"}


@pytest.mark.parametrize(
    "annotation", [ClassVar[int], InitVar[int], KW_ONLY], ids=["ClassVar", "InitVar", "KW_ONLY"]
)
def test_what_has_a_meaning_as_a_field_alone(annotation):
    assert complaint_of(annotation).code == "unsupported"
    assert complaint_of(list[annotation]).path == ("*",)
