"""What registration says of common mistakes: what is wrong, and what to write."""

from __future__ import annotations

import ast
import collections.abc
import datetime as dt
import fractions
import os
import re
import sqlite3
import sys
import time
import types
import typing
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import Annotated, Any, Generic, List, Optional, TypedDict, TypeVar, Union  # noqa: UP035

import pytest
from annotated_types import Ge, IsFinite, MaxLen, MinLen, Predicate

from operator_schema import Codec, SchemaError, SchemaLeaf, decode, decode_json, json_schema, skip, tool
from operator_schema.errors import DecodeError

T = TypeVar("T")


class Priority(Enum):
    LOW = "low"


class WithInit:
    def __init__(self, x: int) -> None:
        self.x = x


class Bare:
    x: int


@dataclass
class Point:
    x: int = 0


LEAF = SchemaLeaf(complex, {"type": "string"}, complex, str, 1j)


def complaint(annotation: Any) -> str:
    with pytest.raises(SchemaError) as caught:
        Codec(annotation)
    return str(caught.value).partition("\n- ")[2]


def field_complaint(annotation: Any) -> str:
    """Return the complaint about a field with an annotation that is no type."""
    made = dataclass(type("Made", (), {"__annotations__": {"x": annotation}, "__module__": __name__}))
    return complaint(made)


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (any, "the function any isn't an annotation. Write Any (from typing import Any)."),
        (callable, "the function callable isn't an annotation. A function has no JSON form: leave it out"),
        (collections.abc.Callable, "Callable is not supported. A function has no JSON form"),
        (typing.Callable[[int], str], "is not supported. A function has no JSON form: leave it out."),
        ([int], "[int] isn't an annotation. Write list[int]."),
        ([int, str], "Write tuple[int, str] for one of each, or list[int | str]."),
        ((int, str), "Write tuple[int, str] for one of each, or list[int | str]."),
        ({str: int}, "Write dict[str, int]."),
        ({"x": int, "y": list[str]}, "Write a dataclass, or a TypedDict, with these fields."),
        (["low", "high"], 'write Literal[…], such as Literal["low", "high"].'),
        ((1, 2), 'write Literal[…], such as Literal["low", "high"].'),
        ({"low", None}, 'write Literal[…], such as Literal["low", "high"].'),
        ([1.5], "an instance of list isn't an annotation. Give a type"),
        (Ge(1), "Write it after the type: Annotated[…, Ge(…)]."),
        (re.compile("a"), "Write it after the type: Annotated[str, …]."),
        (LEAF, "Write it after the type: Annotated[complex, …], with the leaf."),
        (
            Annotated[Ge(1), int],
            "Ge comes before the type in Annotated. Write the type first: Annotated[int, …].",
        ),
        (Annotated[Ge(1), "x", list[int]], "Write the type first: Annotated[list[int], …]."),
        (Annotated[Ge(1), "x"], "Write it after the type: Annotated[…, Ge(…)]."),
        (
            {str: 5},
            "an instance of dict isn't an annotation. Give a type, such as str, list[int] or a",
        ),
        ([], "an instance of list isn't an annotation. Give a type"),
        (typing.NamedTuple, "Write a class that derives from it: class Name(NamedTuple): …."),
        (Optional, "Optional is not supported. Write X | None with the type in place of X"),
        (Union, "Union is not supported. Write X | Y with the types in place"),
        (dt, "Write the class that is in the module, such as datetime.datetime."),
        (types, "the module types isn't an annotation. Give a type"),
        (len, "the function len isn't an annotation. Give a type in place of the function."),
        (WithInit, "Make it a dataclass, with @dataclass next to the class, or give a SchemaLeaf for it."),
        (Bare, "Make it a dataclass, with @dataclass next to the class, or give a SchemaLeaf for it."),
        (
            fractions.Fraction,
            "See docs/annotations.md in operator_schema's repository for what is supported, or give a",
        ),
        (
            complex,
            "complex is not supported. See docs/annotations.md in operator_schema's repository for what is",
        ),
        (collections.abc.Iterator[str], "Iterator is not supported. Write list[…], or Iterable[…]."),
        (
            collections.abc.Generator[int, None, None],
            "Generator is not supported. Write list[…], or Iterable[…].",
        ),
        (collections.Counter[str], "collections.Counter is not supported. Write dict[…, int]."),
        (bytearray, "bytearray is not supported. Write bytes."),
        (time.struct_time, "time.struct_time is not supported. See docs/annotations.md"),  # a tuple
        (ast.Name, "ast.Name is not supported. See docs/annotations.md"),  # it has `_fields`
    ],
    # Neither is str(value): processes that share the tests must find the same names, and sets have no order.
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_what_looks_like_an_annotation_is_answered_with_the_right_spelling(annotation, said):
    assert said in field_complaint(annotation)


def test_a_function_in_place_of_a_type_is_answered_with_tool():
    def book(city: str) -> str:
        return city

    given = "Give a type in place of the function"
    assert f"{given}; to make a tool of it, write tool(book)." in complaint(book)
    assert f"{given}; to make a tool of it, write tool(…)." in complaint(lambda: 1)
    assert f"{given}." in complaint(len)
    assert f"{given}." in field_complaint(book)


def test_an_instance_is_answered_with_its_class():
    said = "Give the annotation first: Codec(Point), decode(Point, value)."
    assert said in complaint(Point())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "Prioriti",
            "the name Prioriti is not defined in module test_messages_for_mistakes. Did you mean Priority?",
        ),
        ("list[Strng]", "Did you mean str?"),
        ("lisst[int]", "Did you mean list?"),
        ("flaot", "Did you mean float? If flaot is a text to choose"),
        ("pont | None", "Did you mean Point?"),
        ("Literal['a']", "Import it (from typing import Literal) or give namespace={'Literal': …}."),
        (
            "fast",
            'for_mistakes. If fast is a text to choose, write Literal["fast"]. If it is a class: import fast',
        ),
        (
            "list[fast]",
            "is not defined in module test_messages_for_mistakes. Did you mean float? Import fast",
        ),
        ("Qqqqq", "is not defined in module test_messages_for_mistakes. Import Qqqqq at run time"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(text, said):
    assert said in field_complaint(text)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *((name, None) for name in ("In", "Setting", "Intent", "Strip", "Dist", "Inner", "Ints")),
        *(("Int", "int"), ("STR", "str"), ("Boolean", "bool"), ("String", "str"), ("Integr", "int")),
        *(("sttr", "str"), ("integer", None), ("dikt", "dict")),
    ],
)
def test_a_name_like_a_class_means_one_of_python_only_if_it_is_very_like_it(name, meant):
    with pytest.raises(SchemaError) as caught:
        Codec(name)
    assert caught.value.findings[0].suggestion == meant


@pytest.mark.parametrize("name", ["Prioriti", "Enumerated", "Zipp", "Typ"])
def test_a_builtin_that_no_annotation_uses_is_never_the_nearest(name):
    with pytest.raises(SchemaError) as caught:
        Codec(name)
    assert caught.value.findings[0].suggestion not in {"property", "enumerate", "zip", "type"}


def test_a_name_of_the_namespace_may_be_the_nearest():
    made = dataclass(type("Made", (), {"__annotations__": {"x": "Locall"}, "__module__": __name__}))
    with pytest.raises(SchemaError, match=r"Did you mean Local\?"):
        Codec(made, namespace={"Local": int})


def test_modules_that_import_each_other_are_named_as_such(tmp_path, monkeypatch):
    (tmp_path / "first_half.py").write_text(
        "from __future__ import annotations\nimport second_half\nclass A: ...\n", encoding="utf-8"
    )
    (tmp_path / "second_half.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "import first_half\n"
        "from operator_schema import Codec\n"
        "@dataclass\n"
        "class B:\n    a: first_half.A\n"
        "CODEC = Codec(B)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SchemaError) as caught:
        __import__("first_half")
    assert (
        "a module in it is still being imported. The modules import each other: make the tool or codec in a"
        " third module, which imports both." in str(caught.value)
    )
    for name in ("first_half", "second_half"):
        sys.modules.pop(name, None)


def test_a_type_parameter_that_is_not_of_the_class_is_named_with_the_remedy():
    @dataclass
    class Box:
        x: List[T]  # noqa: UP006  # the older spelling has type parameters, too

    said = field_complaint(Box)
    assert (
        "~T isn't a type parameter of Box. Write the type, or add Generic[T] to the bases of the class."
        in said
    )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a TypedDict knows its bases since Python 3.12")
def test_a_typed_dict_that_forgot_its_bases_is_named_as_such():
    class Base(TypedDict, Generic[T]):
        x: T

    class Middle(Base[int]):
        y: str

    class Derived(Middle):
        z: str

    assert "before Python 3.12 a TypedDict forgets its bases" in complaint(Derived)


def test_an_unpacked_tuple_is_shown_with_its_star():
    assert "tuple[int, *tuple[str, ...]]" in field_complaint(tuple[int, *tuple[str, ...]])


def test_every_float_is_finite_already():
    schema = {"type": "number"}
    assert Codec(IsFinite[float]).json_schema() == schema
    assert Codec(Annotated[float, Predicate(isfinite)]).json_schema() == schema


def test_a_complaint_about_a_function_says_so():
    with pytest.raises(SchemaError, match=r"^send: 1 complaint about the function\n- to"):

        @tool
        def send(to: complex) -> None:
            """Send."""


def test_a_question_ends_a_message_without_a_full_stop():
    made = dataclass(type("Made", (), {"__annotations__": {"x": int}, "x": "5", "__module__": __name__}))
    assert "?." not in complaint(made)
    assert "did you mean 5? Change the default or the annotation." in complaint(made)


class Confidential:
    def __repr__(self):
        return "the password"


@pytest.mark.parametrize(
    "value",
    [
        Confidential(),
        [Confidential()],
        (Confidential(), int),
        {"key": Confidential()},
        {"key": "the password"},
    ],
    ids=["object", "list", "tuple", "dict", "texts"],
)
def test_the_content_of_a_value_that_is_not_an_annotation_is_never_shown(value):
    for annotation in (value, Annotated[complex, value]):
        assert "password" not in complaint(annotation)
    assert "password" not in field_complaint(value)


def test_the_environment_given_in_place_of_a_type_is_shown_by_its_class(monkeypatch):
    monkeypatch.setenv("TOKEN", "the password")
    said = complaint(os.environ)
    assert "an instance of os._Environ isn't an annotation. Give a type" in said
    assert "password" not in said
    assert "TOKEN" not in said


def test_text_that_is_not_python_is_answered_with_what_is_wrong_in_it():
    said = field_complaint("list[int")
    assert "the annotation list[int can't be evaluated: it isn't valid Python: '[' was never closed." in said
    assert "<string>" not in said
    assert "the annotation 'a can't be evaluated: it isn't valid Python: " in field_complaint("'a")


def test_an_unhashable_item_of_a_set_is_answered_with_what_is_hashable():
    said = "Make the set a list, or make its items hashable, such as tuples or frozen dataclasses."
    assert said in complaint(set[list[int]])
    assert said in complaint(set[set])


def test_a_callable_is_answered_with_one_remedy_for_each_place():
    def one(call: typing.Callable[[int], int]) -> int:
        return call(1)

    with pytest.raises(SchemaError) as caught:
        tool(one)
    said = "write call: Annotated[…, skip]. Otherwise a function has no JSON form: leave it out."
    assert str(caught.value).endswith(said)
    assert "skip" not in field_complaint(callable)


def complaints_of(annotation: Any, **defaults: Any) -> str:
    """Return the complaints about a function with one parameter, `db`."""

    def work(db): ...

    work.__annotations__["db"] = annotation
    work.__kwdefaults__ = None
    work.__defaults__ = tuple(defaults.values()) or None
    with pytest.raises(SchemaError) as caught:
        tool(work)
    return str(caught.value).partition("\n- ")[2]


@pytest.mark.parametrize("annotation", [sqlite3.Connection, WithInit, complex])
def test_what_a_model_cannot_send_is_probably_given_by_the_program(annotation):
    said = complaints_of(annotation)
    assert "is not supported. If your program gives it, write db: Annotated[…, skip]. Otherwise " in said


def test_what_is_no_annotation_is_not_given_by_the_program():
    for annotation in (["low"], Ge(1), Annotated[Ge(1), int], 5):
        assert "skip" not in complaints_of(annotation)


@pytest.mark.parametrize(
    ("annotation", "defaults", "said"),
    [
        (skip, {}, "skip is a mark, not a type. Write db: Annotated[T, skip], for your type T."),
        (
            Annotated[skip, WithInit],
            {},
            "skip comes before the type in Annotated. Write db: Annotated[WithInit, skip].",
        ),
        (Annotated[skip, "the database"], {}, "Write db: Annotated[T, skip]."),
        (
            WithInit,
            {"db": skip},
            "for the annotation, not a default. Write db: Annotated[WithInit, skip], without a default.",
        ),
        ("WithInit | None", {"db": skip}, "Write db: Annotated[T, skip], without a default."),
    ],
)
def test_a_mark_in_the_wrong_place_is_answered_with_the_right_one(annotation, defaults, said):
    found = complaints_of(annotation, **defaults)
    assert found.endswith(said)
    assert "\n" not in found


def test_a_limit_given_as_a_default_is_answered_with_its_place():
    for limit, called in ((Ge(1), "Ge"), (MaxLen(3), "MaxLen")):
        made = dataclass(
            type("Made", (), {"__annotations__": {"x": int}, "x": limit, "__module__": __name__})
        )
        said = (
            f"its default is annotated_types.{called}(…), which belongs to the annotation."
            f" Write it inside the annotation: `x: Annotated[int, {called}(…)] = 3`."
        )
        assert said in complaint(made)
    made = dataclass(type("Made", (), {"__annotations__": {"x": int}, "x": Ge, "__module__": __name__}))
    assert "its default does not fit" in complaint(made)


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (
            Annotated[str, Ge(1)],
            "the constraint ge says nothing about a string. Write MinLen or MaxLen if it is about the",
        ),
        (
            Annotated[list[int], Ge(1)],
            "the constraint ge says nothing about an array. Write MinLen or MaxLen if it is about the",
        ),
        (
            Annotated[int, MinLen(1)],
            "the constraint min_length says nothing about an integer. Write Ge or Le if it is about the",
        ),
        (
            Annotated[bool, Ge(1)],
            "the constraint ge says nothing about a boolean. Leave it out, or change the type.",
        ),
        (
            Annotated[int, re.compile("a")],
            "the constraint pattern says nothing about an integer. Leave it out, or change the type.",
        ),
    ],
    ids=str,
)
def test_a_limit_of_another_type_is_answered_with_the_one_that_was_meant(annotation, said):
    assert said in complaint(annotation)


@pytest.mark.parametrize("value", ['{"x": 1}', b'{"x": 1}', bytearray(b"{}"), "x"])
def test_text_given_to_decode_is_answered_with_the_function_for_it(value):
    note = "decode takes a parsed value; decode_json takes JSON text"
    for call in (lambda: decode(Point, value), lambda: Codec(Point).decode(value)):
        with pytest.raises(DecodeError) as caught:
            call()
        assert caught.value.__notes__ == [note]  # in the traceback
        assert note not in str(caught.value)  # and not for a model, which calls neither


def test_other_mistakes_have_no_such_note():
    for value in ({"x": "a"}, 5, None):
        with pytest.raises(DecodeError) as caught:
            decode(Point, value)
        assert not hasattr(caught.value, "__notes__")
    with pytest.raises(DecodeError) as caught:
        decode(Annotated[str, MinLen(3)], "a")
    assert not hasattr(caught.value, "__notes__")
    assert decode_json(Point, '{"x": 1}') == Point(1)


class _MarkedTuple(typing.NamedTuple):
    user: Annotated[str, skip]


class _MarkedDict(typing.TypedDict):
    user: typing.Required[Annotated[str, "Who asks", skip]]


@dataclass
class _Marked:
    x: int
    user: Annotated[str, skip] = "nobody"


@dataclass
class _MarkedDeeper:
    inner: list[_Marked | None]


_HIDDEN = Annotated[str, skip]


@pytest.mark.parametrize(
    "annotation",
    [
        _HIDDEN,
        Annotated[_HIDDEN, "Who"],
        _Marked,
        _MarkedDeeper,
        _MarkedTuple,
        _MarkedDict,
        list[_HIDDEN],
        dict[str, _HIDDEN],
        tuple[int, _HIDDEN],
        list[_HIDDEN | int],
    ],
)
def test_a_mark_that_would_hide_nothing_is_refused(annotation):
    """A model would see the field, and could give what only the program may give."""
    assert "skip marks only whole parameters of a function" in complaint(annotation)
    if annotation not in (_HIDDEN, Annotated[_HIDDEN, "Who"]):
        assert "skip marks only whole parameters of a function" in complaints_of(annotation)
        assert "skip marks only whole parameters of a function" in complaints_of(list[annotation])


@pytest.mark.parametrize("inner", [int, str, list[int], float | None])
def test_metadata_that_only_this_library_could_mean_is_not_lost(inner):
    for lost in ({"minimum": 3}, {"description": "How many"}, {"type": "integer", "maximum": 5}):
        said = complaint(Annotated[inner, lost])
        assert "has no effect: JSON Schema isn't read from there. Write limits such as Ge(1)" in said
    said = complaint(Annotated[inner, typing.Literal["low", "high"]])
    assert said.endswith("has no effect. Write Literal['low', 'high'] in place of the type.")


LIMITS = {
    "(0, 10)": (0, 10),
    "(0.5, -1)": (0.5, -1),
    "[0, 10]": [0, 10],
    "range": range(10),
    "slice": slice(1, 10),
    '{"ge": 0, "le": 10}': {"ge": 0, "le": 10},
    '{"min": 0}': {"min": 0},
    '{"max_length": 3}': {"max_length": 3},
}


@pytest.mark.parametrize("shown", LIMITS)
@pytest.mark.parametrize("inner", [int, float, str])
def test_a_limit_without_a_name_is_not_lost(inner, shown):
    expected = f"{shown} in Annotated has no effect: limits have names. Write limits such as Ge(0), Le(10)"
    assert expected in complaint(Annotated[inner, LIMITS[shown]])
    assert expected in complaint(list[Annotated[inner, "How many", LIMITS[shown]]])
    for of_others in (list[inner], bool):
        assert json_schema(Annotated[of_others, LIMITS[shown]]) == json_schema(of_others)


def test_metadata_of_others_has_no_effect():
    others = (0, 10, True), (0,), (None, 10), ("0", 10), 5, 1.5, {"ge": 0, "unit": "m"}, (True, False)
    for other in ({}, {"minimum": 3, "widget": "slider"}, {1: 2}, len, object(), dict, [1], *others):
        assert json_schema(Annotated[int, other]) == {"type": "integer"}


@pytest.mark.parametrize("right", ["description"])
def test_a_misspelt_key_of_the_metadata_of_a_field_is_named(right):
    letters = [right[:at] + right[at + 1 :] for at in range(1, len(right))]  # one is missing
    swapped = [right[:at] + right[at + 1] + right[at] + right[at + 2 :] for at in range(1, len(right) - 1)]
    for wrong in {*letters, *swapped, f"{right}s", right.capitalize()} - {right}:
        made = dataclass(
            type("Made", (), {"__annotations__": {"x": int}, "x": field(metadata={wrong: "How many"})})
        )
        assert complaint(made) == (
            f'x (in Made): metadata["{wrong}"] has no effect. Did you mean "{right}"? '
            f'Write metadata={{"{right}": …}}.'
        )


def test_keys_of_others_in_the_metadata_of_a_field_are_theirs():
    for key in ("descriptor", "example", "aliases", "help", "doc", 5, "descripton"):
        own = {key: "theirs"} if key != "descripton" else {key: "theirs", "description": "How many"}
        made = dataclass(type("Made", (), {"__annotations__": {"x": int}, "x": field(metadata=own)}))
        assert "x" in json_schema(made)["properties"]
