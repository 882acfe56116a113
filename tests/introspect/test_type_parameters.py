"""Type parameters with the syntax of PEP 695 and the defaults of PEP 696."""

import sys
from typing import (
    TypedDict,
)

import pytest
from annotation_samples import (
    FUTURE,
    INTEGER,
    NULL,
    STRING,
    Json,
    array_of,
    check_agreement,
    complaint_of,
    property_of,
    schema_of,
)

from operator_schema import Codec

needs_3_12 = pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 came with Python 3.12")


needs_3_13 = pytest.mark.skipif(sys.version_info < (3, 13), reason="PEP 696 came with Python 3.13")


PEP_695 = """
{future}
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, Self, TypedDict

type Json = str | int | float | bool | list[Json] | dict[str, Json] | None
type Count = Annotated[int, "How many"]
type Both[T] = tuple[T, T]
type Tree[T] = T | list[Tree[T]]
type Loop = int | Loop
type Late = list[Defined]
type Broken = list[Nowhere]

@dataclass
class Defined:
    x: int

@dataclass
class Page[T]:
    items: list[T]
    both: Both[T] | None = None
    tree: Tree[T] | None = None
    next: "Page[T] | None" = None

@dataclass
class Plain[T]:
    items: list[T]

@dataclass
class Pages(Page[Count]):
    extra: Json = None

@dataclass
class Bounded[T: int]:
    x: T

@dataclass
class Constrained[T: (int, str)]:
    x: T

@dataclass
class Outer[T]:
    page: Page[T]
    own: list[Self] = field(default_factory=list)

class Pair[A, B](NamedTuple):
    a: A
    b: B

class Table[K, V](TypedDict):
    entries: dict[K, V]

class IntTable(Table[str, int]):
    name: str
"""


@needs_3_12
@FUTURE
def test_pep_695_aliases(define, future):
    module = define(PEP_695.format(future=future))
    assert schema_of(module.Count) == {"type": "integer", "description": "How many"}
    assert schema_of(module.Both[int]) == schema_of(tuple[int, int])
    assert schema_of(module.Json)["anyOf"] == schema_of(Json)["anyOf"]
    assert Codec(module.Tree[int]).decode([1, [2.0]]) == [1, [2]]
    assert Codec(module.Late).decode([{"x": 1}]) == [module.Defined(1)]
    assert "contains itself" in complaint_of(module.Loop).message
    assert complaint_of(module.Broken).code == "unresolved"
    check_agreement(module.Json)


@needs_3_12
@FUTURE
def test_pep_695_generic_classes(define, future):
    module = define(PEP_695.format(future=future))
    for annotation in (module.Page[int], module.Pages):
        codec = Codec(annotation)
        value = {"items": [1], "both": [1, 2], "tree": [1, [2]], "next": {"items": [3]}}
        assert codec.decode(value).items == [1]
        assert codec.decode(value).both == (1, 2)
        assert codec.decode(value).next == module.Page([3])
        wrong = {"items": ["x"], "both": ["x", 1], "tree": ["x"], "next": {"items": ["x"]}}
        assert [p.path for p in codec.report(wrong)] == [
            ("items", 0), ("both", 0), ("tree", 0), ("next", "items", 0),
        ]  # fmt: skip
        assert codec.encode(codec.decode({"items": [1]})) is not None
    assert property_of(module.Bounded, "x") == INTEGER
    assert property_of(module.Bounded[bool], "x") == {"type": "boolean"}
    assert property_of(module.Constrained, "x") == {"anyOf": [INTEGER, STRING]}
    assert property_of(module.Plain, "items") == array_of({})
    outer = Codec(module.Outer[int]).decode({"page": {"items": [1]}, "own": [{"page": {"items": [2]}}]})
    assert outer == module.Outer(module.Page([1]), [module.Outer(module.Page([2]))])
    assert property_of(module.Pair[int, str], "a") == INTEGER
    assert schema_of(module.Table[str, int]) == schema_of(TypedDict("Table", {"entries": dict[str, int]}))


@needs_3_12
@FUTURE
def test_pep_695_typed_dict_inherited(define, future):
    module = define(PEP_695.format(future=future))
    assert property_of(module.IntTable, "entries") == {"type": "object", "additionalProperties": INTEGER}


@needs_3_13
@FUTURE
def test_pep_696_defaults(define, future):
    module = define(f"""
        {future}
        from dataclasses import dataclass
        @dataclass
        class Box[T = int, U = list[T]]:
            x: T
            y: U
        type Maybe[T = str] = T | None
    """)
    assert schema_of(module.Box)["properties"] == {"x": INTEGER, "y": array_of(INTEGER)}
    assert schema_of(module.Box[str, bool])["properties"] == {"x": STRING, "y": {"type": "boolean"}}
    assert schema_of(module.Maybe) == {"anyOf": [STRING, NULL]}


@needs_3_13
@FUTURE
def test_a_default_of_a_type_parameter_that_names_another(define, future):
    module = define(f"""
        {future}
        from dataclasses import dataclass
        @dataclass
        class Box[T = int, U = list[T]]:
            x: T
            y: U
    """)
    assert schema_of(module.Box[str])["properties"] == {"x": STRING, "y": array_of(STRING)}
