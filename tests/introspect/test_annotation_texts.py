"""Annotations written as text, in functions and with namespaces."""

import json
import typing
from dataclasses import dataclass
from typing import (
    Annotated,
    Optional,
    Union,
)

from annotation_samples import FUTURE, INTEGER, Level, Page, Tree, array_of, complaints_of, schema_of
from typing_extensions import TypeAliasType

from operator_schema import Codec

IN_A_FUNCTION = """
{future}
from dataclasses import dataclass, field
from typing import Annotated, Generic, NamedTuple, TypedDict, TypeVar

def make():
    T = TypeVar("T")

    @dataclass
    class Inner:
        x: int

    class Typed(TypedDict):
        inner: Inner

    class Tuple(NamedTuple):
        inner: Inner

    @dataclass
    class Box(Generic[T]):
        value: T
        inner: Inner

    @dataclass
    class Outer:
        inner: Inner
        many: "list[Inner | None]"
        typed: Typed
        tuple: Tuple
        box: Box[Inner]
        me: "Outer | None" = None

    return Outer, Inner, locals()
"""


@FUTURE
def test_classes_defined_in_a_function(define, future):
    outer, inner, names = define(IN_A_FUNCTION.format(future=future)).make()
    codec = Codec(outer, namespace=names)
    x = {"x": 1}
    value = {
        "inner": x, "many": [x, None], "typed": {"inner": x}, "tuple": {"inner": x},
        "box": {"value": x, "inner": x},
    }  # fmt: skip
    decoded = codec.decode({**value, "me": value})
    assert decoded.inner == decoded.typed["inner"] == decoded.tuple.inner == decoded.box.value == inner(1)
    assert decoded.many == [inner(1), None]
    assert type(decoded.me) is outer
    assert codec.encode(decoded) == {**value, "me": value}


def test_classes_defined_in_a_function_need_a_namespace_under_future_annotations(define):
    outer, _, _ = define(IN_A_FUNCTION.format(future="from __future__ import annotations")).make()
    complaints = complaints_of(outer)
    assert {complaint.code for complaint in complaints} == {"unresolved"}
    assert {complaint.path for complaint in complaints} >= {
        ("inner",),
        ("many",),
        ("typed",),
        ("tuple",),
        ("box",),
    }
    assert all("namespace" in complaint.remedy for complaint in complaints)
    assert any("inside a function" in complaint.remedy for complaint in complaints)


def test_a_namespace_reaches_everywhere_and_wins():
    @dataclass
    class Inner:
        x: "Local"  # noqa: F821  # in the namespace

    @dataclass
    class Outer:
        inner: Inner
        many: "list[Local]"  # noqa: F821  # likewise
        alias: TypeAliasType("alias", "Local | None")  # noqa: F821  # likewise

    schema = schema_of(Outer, namespace={"Local": Level})
    level = schema_of(Level)
    assert schema["properties"]["inner"]["properties"]["x"] == level
    assert schema["properties"]["many"] == array_of(level)
    assert schema["properties"]["alias"] == level
    assert schema_of("list[Local]", namespace={"Local": int}) == array_of(INTEGER)


def test_text_inside_every_kind_of_annotation():
    for annotation in (
        list["int"],
        Optional["int"],
        dict["str", "int"],
        tuple["int", "str"],
        Annotated["int", "described"],
        Union["int", "list[str]"],
        typing.List["int"],  # noqa: UP006  # likewise
        Page["int"],
        Tree["int"],
        set["int"],
    ):
        assert "integer" in json.dumps(schema_of(annotation))
