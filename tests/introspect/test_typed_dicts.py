"""TypedDict."""

import sys
from dataclasses import dataclass
from typing import (
    Generic,
    NotRequired,
    TypedDict,
    TypeVar,
)

import pytest
import typing_extensions
from annotation_samples import (
    FUTURE,
    INTEGER,
    NULL,
    STRING,
    GenericDict,
    TaggedA,
    TaggedB,
    array_of,
    check_agreement,
    codes_of,
    complaints_of,
    property_of,
    same,
    schema_of,
)

from operator_schema import Codec, EncodeError, json_schema

T = TypeVar("T")

needs_3_12_bases = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="a TypedDict knows its bases since Python 3.12"
)


TYPED_DICTS = """
{future}
from typing import Annotated, NotRequired, Required, TypedDict
from typing_extensions import ReadOnly

class Base(TypedDict):
    '''A base.

    Args:
        a: The first.
    '''
    a: int
    b: NotRequired[str]
    c: NotRequired["str | None"]

class Derived(Base, total=False):
    '''A derived one.

    Args:
        d: The fourth.
    '''
    d: bool
    e: Required[Annotated[float, "The fifth"]]
    f: Annotated[Required[int], "The sixth"]
    g: ReadOnly[Required[int]]
    h: Required[ReadOnly[list[Base]]]
    i: ReadOnly[int]

class Whole(Derived):
    j: int | None
    k: NotRequired[ReadOnly[int]]
"""


REQUIRED = {
    "Base": ["a"],
    "Derived": ["a", "e", "f", "g", "h"],
    "Whole": ["a", "e", "f", "g", "h", "j"],
}


@FUTURE
@pytest.mark.parametrize("name", REQUIRED)
def test_which_keys_of_a_typed_dict_are_required(define, future, name):
    cls = getattr(define(TYPED_DICTS.format(future=future)), name)
    assert schema_of(cls)["required"] == REQUIRED[name]


@FUTURE
def test_a_typed_dict(define, future):
    module = define(TYPED_DICTS.format(future=future))
    properties = schema_of(module.Whole)["properties"]
    assert list(properties) == list("abcdefghijk")
    assert properties["c"] == {"anyOf": [STRING, NULL]}
    assert properties["e"] == {"type": "number", "description": "The fifth"}
    assert properties["f"] == {"type": "integer", "description": "The sixth"}
    assert properties["g"] == properties["i"] == properties["k"] == INTEGER
    assert properties["h"]["type"] == "array"
    assert properties["j"] == {"anyOf": [INTEGER, NULL]}
    codec = Codec(module.Whole)
    value = {"a": 1, "e": 2, "f": 3.0, "g": 4, "h": [{"a": 5, "c": None}], "j": None}
    decoded = codec.decode(value)
    assert decoded == value
    assert type(decoded) is dict
    assert same(decoded["e"], 2.0)
    assert same(decoded["f"], 3)
    assert codec.encode(decoded) == value
    assert {p.path for p in codec.report({})} == {(key,) for key in REQUIRED["Whole"]}
    assert [p.path for p in codec.report({**value, "b": None, "d": None})] == [("b",), ("d",)]


@FUTURE
def test_a_key_that_is_not_required_in_quotes(define, future):
    module = define(f"""
        {future}
        from typing import NotRequired, TypedDict
        class Quoted(TypedDict):
            a: "int"
            b: "NotRequired[int]"
    """)
    assert schema_of(module.Quoted)["required"] == ["a"]


@FUTURE
def test_descriptions_of_a_typed_dict(define, future):
    properties = schema_of(define(TYPED_DICTS.format(future=future)).Derived)["properties"]
    assert properties["d"]["description"] == "The fourth."
    assert properties["e"]["description"] == "The fifth"


@needs_3_12_bases
@FUTURE
def test_a_typed_dict_inherits_descriptions(define, future):
    properties = schema_of(define(TYPED_DICTS.format(future=future)).Derived)["properties"]
    assert properties["a"]["description"] == "The first."


def test_param_descriptions_of_a_typed_dict():
    class Described(TypedDict):
        a: int
        param_descriptions = {"a": "The first"}  # type: ignore[misc]  # type checkers want it outside

    assert property_of(Described, "a") == {"type": "integer", "description": "The first"}


def test_a_typed_dict_of_a_functional_call():
    made = TypedDict("made", {"it's": int, "class": NotRequired[str], "": "bool"}, total=True)
    assert schema_of(made)["required"] == ["it's", ""]
    assert Codec(made).decode({"it's": 1, "": True}) == {"it's": 1, "": True}


def test_a_typed_dict_without_keys():
    assert schema_of(TypedDict("Bare", {})) == {"type": "object", "properties": {}}
    assert Codec(TypedDict("Bare", {})).decode({"a": 1}) == {}


class IntDict(GenericDict[int]):
    y: str


class DeepDict(IntDict, total=False):
    z: bool


def test_a_generic_typed_dict():
    assert schema_of(GenericDict[int])["properties"] == {"x": INTEGER, "more": array_of(INTEGER)}
    assert schema_of(GenericDict)["properties"] == {"x": {}, "more": array_of({})}
    assert codes_of(GenericDict[int], {"x": "1"}) == ["wrong_type"]
    assert property_of(GenericDict[GenericDict[str]], "x") == schema_of(GenericDict[str])


def test_a_typed_dict_that_inherits_from_a_generic_one():
    assert schema_of(IntDict)["properties"] == {"x": INTEGER, "more": array_of(INTEGER), "y": STRING}
    assert codes_of(IntDict, {"x": "1", "y": "a"}) == ["wrong_type"]


@needs_3_12_bases
def test_a_typed_dict_two_steps_from_a_generic_one():
    assert schema_of(DeepDict)["properties"] == {
        "x": INTEGER,
        "more": array_of(INTEGER),
        "y": STRING,
        "z": {"type": "boolean"},
    }


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a TypedDict knows its bases since Python 3.12")
def test_a_typed_dict_that_has_forgotten_what_its_parameter_means():
    assert {complaint.path for complaint in complaints_of(DeepDict)} == {("x",), ("more", "*")}


def test_a_closed_typed_dict_says_so_itself():
    class Closed(typing_extensions.TypedDict, closed=True):
        a: int

    class Open(typing_extensions.TypedDict, closed=False):
        a: int

    @dataclass
    class Holder:
        closed: Closed
        open: Open

    schema = schema_of(Holder)
    assert schema["properties"]["closed"]["additionalProperties"] is False
    assert "additionalProperties" not in schema["properties"]["open"]
    assert "additionalProperties" not in schema
    surplus = {"a": 1, "b": 2}
    [problem] = Codec(Holder).report({"closed": surplus, "open": surplus, "c": 3})
    assert (problem.path, problem.code) == (("closed", "b"), "unknown")
    with pytest.raises(EncodeError):
        Codec(Closed).encode(surplus)
    assert Codec(Open).encode(surplus) == {"a": 1}


def test_typed_dicts_inside_other_types():
    check_agreement(GenericDict[int] | None)
    check_agreement(list[TaggedA | TaggedB])
    assert Codec(dict[str, TaggedA]).decode({"k": {"kind": "cat", "a": 1}}) == {"k": {"kind": "cat", "a": 1}}


def test_a_generic_base_describes_what_it_declares():
    class Base(TypedDict, Generic[T]):
        """A base.

        Args:
            x: The x of the base.
        """

        x: T

    class Child(Base[int]):
        y: int

    assert json_schema(Child)["properties"]["x"] == {"type": "integer", "description": "The x of the base."}
