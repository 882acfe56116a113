"""Annotations, classes and metadata whose own code raises or lies: a SchemaError, nothing else."""

from __future__ import annotations

import enum
import re
import sys
import types
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, Generic, Literal, TypedDict, TypeVar

import pytest
import typing_extensions
from typing_extensions import TypeAliasType

from operator_schema import Codec, SchemaError, decode, decode_json, tool, tool_input
from operator_schema.errors import SHOWN_COMPLAINTS
from operator_schema.introspect import ambiguity_checks
from operator_schema.introspect.classes import form_of
from operator_schema.introspect.shown_annotations import name_of

T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    content: T


@dataclass(frozen=True)
class Limits:
    ge: Any = None
    gt: Any = None
    le: Any = None
    lt: Any = None
    min_length: Any = None
    max_length: Any = None


class Raising:
    def __getattr__(self, name):
        raise RuntimeError(name)


class RaisingLimit:
    @property
    def ge(self):
        raise RuntimeError("no limit")


class Unshowable:
    multiple_of = "x"

    def __repr__(self):
        raise RuntimeError("no text")


class UnshowableError(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class RaisingUnshowably:
    @property
    def ge(self):
        raise UnshowableError


class Silent(enum.Enum):
    ONE = object()

    def __repr__(self):
        raise RuntimeError("no text")

    __str__ = __repr__


class PlainMethod:
    def __schema_leaf__(self): ...


class LooksNamed(tuple):
    __slots__ = ()
    _fields = ("a",)


class LooksLikeADataclass:
    __dataclass_fields__ = 5


class Numbered(type):
    __name__ = 5


class WithoutAName(metaclass=Numbered):
    pass


def complaints_of(annotation, **options):
    with pytest.raises(SchemaError) as caught:
        Codec(annotation, **options)
    assert len(str(caught.value).splitlines()) == len(caught.value.findings) + 1
    return caught.value.findings


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, Raising()],
        Annotated[int, RaisingLimit()],
        Annotated[int, Unshowable()],
        Annotated[int, RaisingUnshowably()],
        Literal[Silent.ONE],
        Silent,
        PlainMethod,
        LooksNamed,
        LooksLikeADataclass,
        WithoutAName,
        Box[tuple[(int,) * 1100]],
        Box[Literal[[1]]],
        Box[[1, 2]],
        Box[{"a": 1}],
        Literal[10**5000],
        Literal["\ud800"],
        enum.Enum("Halves", {"HIGH": "\ud800"}),
        Annotated[int, Limits(ge=10**5000)],
        Annotated[float, Limits(le=-(10**5000))],
        Annotated[list[int], Limits(min_length=10**5000)],
        Annotated[int, "\ud800"],
    ],
    ids=lambda annotation: getattr(annotation, "__qualname__", type(annotation).__name__),
)
@pytest.mark.parametrize(
    "wrap", [lambda a: a, lambda a: list[a], lambda a: Box[a]], ids=["bare", "list", "box"]
)
def test_it_is_a_schema_error(annotation, wrap):
    [_, *others] = complaints_of(wrap(annotation))
    assert len(others) <= 1


def test_what_was_raised_is_said_where_it_was():
    @dataclass
    class Order:
        count: Annotated[int, RaisingLimit()]
        other: Annotated[int, Limits(ge=10**5000)]

    first, second = complaints_of(Order)
    assert (first.path, second.path) == (("count",), ("other",))
    assert "RuntimeError: no limit" in first.message
    assert "about 5001 digits" in second.message


class OwnError(Exception):
    """What the code of a class raises."""


def hostile(attribute):
    """Return a class that raises when it is asked for an attribute; for any one if that is None."""

    class Guarded(type):
        def __getattribute__(cls, name):
            if name == attribute or attribute is None:
                raise OwnError(name)
            return super().__getattribute__(name)

    return Guarded("Hostile", (), {})


HOSTILE = [None, "__module__", "__mro__", "__dict__", "__class__", "__flags__", "__origin__"]
HOSTILE += ["__dataclass_fields__", "__qualname__"]


@pytest.mark.parametrize("attribute", HOSTILE)
@pytest.mark.parametrize("place", ["type", "items", "parameter", "result", "default", "input"])
def test_a_class_that_raises_when_it_is_read_is_a_schema_error(attribute, place):
    cls = hostile(attribute)

    def told(value, other=0):
        """Tell."""

    told.__annotations__.update(value=cls if place == "parameter" else int, other=int)
    told.__annotations__["return"] = cls if place == "result" else str
    told.__defaults__ = (cls if place == "default" else 0,)
    register = {
        "type": lambda: Codec(cls),
        "items": lambda: Codec(list[cls]),
        "input": lambda: tool_input(cls),
    }.get(place, lambda: tool(told))
    with pytest.raises(SchemaError) as caught:
        register()
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_what_the_machine_lacks_is_not_taken_for_a_hostile_name(error):
    class Guarded(type):
        def __getattribute__(cls, name):
            raise error

    with pytest.raises(error):
        name_of(Guarded("Hostile", (), {}))


def test_what_a_class_raised_is_the_cause():
    def told():
        """Tell."""

    told.__annotations__["return"] = hostile("__mro__")
    with pytest.raises(SchemaError, match="its own code raised OwnError: __mro__"):
        tool(told)
    with pytest.raises(SchemaError) as caught:
        tool(told)
    assert isinstance(caught.value.__cause__, OwnError)


@pytest.mark.parametrize("place", ["parameter", "result", "items"])
@pytest.mark.parametrize(
    "attributes",
    [{"__hash__": None}, {"__mro__": None}, {"__flags__": None}, {"__getattribute__": None}],
    ids=str,
)
def test_a_class_with_nothing_where_something_must_be_is_a_schema_error(attributes, place):
    cls = type("Meta", (type,), attributes)("Hostile", (), {})

    def told(value):
        """Tell."""

    told.__annotations__.update(value=int)
    told.__annotations__[{"parameter": "value"}.get(place, "return")] = list[cls] if place == "items" else cls
    with pytest.raises(SchemaError) as caught:
        tool(told)
    assert len(str(caught.value)) < 2_000


def test_errors_of_the_machine_go_through():
    class Full:
        @property
        def ge(self):
            raise MemoryError

    with pytest.raises(MemoryError):
        Codec(Annotated[int, Full()])


def test_integers_in_a_process_that_writes_few_digits():
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for annotation in (Literal[10**700], Annotated[int, Limits(ge=10**700)]):
            [complaint] = complaints_of(annotation)
            assert "about 701 digits" in complaint.message
        # What is registered can be told and reported.
        codec = Codec(Annotated[int, Limits(ge=10**630)])
        assert codec.report(1)
        assert Codec(Literal[10**630]).report(1)
        assert codec.json_schema() == {"type": "integer", "minimum": 10**630}
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated[int, Limits(ge=5, le=1)],
        Annotated[int, Limits(gt=1, lt=2)],
        Annotated[int, Limits(ge=1.2, le=1.8)],
        Annotated[float, Limits(gt=1, le=1)],
        Annotated[float, Limits(ge=1.5, lt=1.5)],
        Annotated[str, Limits(min_length=5, max_length=1)],
        Annotated[list[int], Limits(min_length=2), Limits(max_length=1)],
        Annotated[Annotated[int, Limits(ge=3)], Limits(le=2)],
        Annotated[int | None, Limits(ge=3, le=2)],
    ],
    ids=str,
)
def test_limits_that_nothing_is_within(annotation):
    [complaint] = complaints_of(annotation)
    assert complaint.code == "bad_constraint"


def test_limits_that_one_value_is_within():
    for annotation, value in (
        (Annotated[int, Limits(gt=1, lt=3)], 2),
        (Annotated[int, Limits(ge=1.2, le=2.8)], 2),
        (Annotated[float, Limits(ge=1.5, le=1.5)], 1.5),
        (Annotated[str, Limits(min_length=1, max_length=1)], "a"),
        (Annotated[dict[str, int], Limits(max_length=0)], {}),
    ):
        assert Codec(annotation).decode(value) == value


def test_lone_surrogates_in_what_describes_a_field():
    class Lonely(TypedDict):
        a: int

    @dataclass
    class Halves:
        a: int = field(metadata={"alias": "\ud800"})
        b: Annotated[int, "\ud800"]
        c: list[Annotated[int, "\ud800"]]
        d: int = field(metadata={"description": "\ud800"})
        e: int = 0

        param_descriptions = {"e": "\udfff"}

    paths = [(complaint.path, complaint.code) for complaint in complaints_of(Halves)]
    assert sorted(paths) == [
        (("a",), "bad_metadata"),
        (("b",), "bad_description"),
        (("c", "*"), "bad_description"),
        (("d",), "bad_description"),
        (("e",), "bad_description"),
    ]
    [complaint] = complaints_of(TypedDict("Keyed", {"\ud800": int}))
    assert complaint.path == ("\\ud800",)
    Lonely.__doc__ = "\ud800"
    [complaint] = complaints_of(Lonely)
    assert complaint.code == "bad_description"


def test_closed_typed_dicts_hand_it_on():
    class Closed(typing_extensions.TypedDict, closed=True):
        a: int

    class Nothing(typing_extensions.TypedDict, extra_items=typing_extensions.Never):
        a: int

    class Derived(Closed):
        b: int

    for annotation in (Closed, Nothing, Derived):
        assert Codec(annotation).json_schema()["additionalProperties"] is False


def test_extra_items_of_typed_dicts():
    class Extra(typing_extensions.TypedDict, extra_items=int):
        a: int

    class Derived(Extra):
        b: int

    for annotation in (Extra, Derived):
        [complaint] = complaints_of(annotation)
        assert "extra_items" in complaint.message


Rows = TypeAliasType("Rows", "list[Rows]")


def test_constraints_on_a_recursive_alias_say_why_not():
    [complaint] = complaints_of(Annotated[Rows, Limits(min_length=1)], namespace={"Rows": Rows})
    assert "is recursive" in complaint.message


@pytest.mark.parametrize("value", [{"a": 1}, [1], 5, True, b"{}", Box([])], ids=str)
def test_arguments_that_changed_places(value):
    with pytest.raises(SchemaError) as caught:
        decode(value, Box)
    assert "Give the annotation first" in caught.value.findings[0].remedy


def test_json_text_and_annotation_that_changed_places():
    with pytest.raises(SchemaError) as caught:
        decode_json('{"a": 1}', Box)
    assert "Give the annotation first" in caught.value.findings[0].remedy


def test_a_function_is_called_by_its_name():
    [complaint] = complaints_of(complaints_of)
    assert complaint.message == "the function complaints_of isn't an annotation"


def test_text_that_can_t_be_evaluated_is_shown_as_it_is_written():
    [complaint] = complaints_of(Box["Nope"])
    assert complaint.type == "Box[Nope]"


def test_many_complaints_are_counted():
    with pytest.raises(SchemaError) as caught:
        Codec(make_dataclass("Wrong", [(f"f{i}", complex) for i in range(2000)]))
    lines = str(caught.value).splitlines()
    assert len(caught.value.findings) == 2000
    assert len(lines) == SHOWN_COMPLAINTS + 2
    assert lines[-1] == f"- … and {2000 - SHOWN_COMPLAINTS} more"


@pytest.mark.parametrize(
    "options", [{"leaves": 5}, {"leaves": [5]}, {"attribute_docs": "yes"}, {"repair": "yes"}], ids=str
)
def test_options_of_the_wrong_kind(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Codec(int, **options)


def test_a_namespace_is_not_shared():
    names = {"Inner": int}
    box = make_dataclass("Holder", [("inner", "Inner")])
    codec = Codec(box, namespace=names)
    names["Inner"] = str
    again = Codec(*codec.__reduce__()[1][:1], **codec.__reduce__()[1][1])
    assert again.json_schema() == codec.json_schema()


def test_the_end_of_memory_is_nobody_s_complaint():
    class Greedy:
        @classmethod
        def __schema_leaf__(cls):
            raise MemoryError

    with pytest.raises(MemoryError):
        Codec(Greedy)


def test_what_an_alias_is_given_has_to_be_comparable():
    pair = TypeAliasType("pair", tuple[T, T], type_params=(T,))
    [complaint] = complaints_of(pair[Literal[[1]]])
    assert complaint.code == "unsupported"


def test_a_pattern_is_text_that_json_can_hold():
    [complaint] = complaints_of(Annotated[str, re.compile("\ud800")])
    assert complaint.code == "bad_constraint"


def test_too_many_members_are_complained_about_once(monkeypatch):
    monkeypatch.setattr(ambiguity_checks, "MAX_COMPARED_MEMBERS", 1)
    a, b, c = [make_dataclass(name, [(name.lower(), int)]) for name in "ABC"]
    two = make_dataclass("Two", [("first", a | b), ("second", b | c)])
    assert [complaint.code for complaint in complaints_of(two)] == ["too_large"]
    assert [complaint.code for complaint in complaints_of(list[a | b])] == ["too_large"]


def test_a_class_that_can_be_in_no_set_is_said_of_each_set():
    @dataclass
    class Loose:
        a: int

    sets = make_dataclass("Sets", [("first", set[Loose]), ("second", frozenset[Loose])])
    assert [complaint.path for complaint in complaints_of(sets)] == [("first",), ("second",)]


def test_what_is_no_class_has_no_form():
    assert form_of(5) is None


def test_one_wrong_description_leaves_the_others():
    @dataclass
    class Described:
        a: int
        b: int

        param_descriptions = {"a": "First", "c": "Third"}

    [complaint] = complaints_of(Described)
    assert complaint.code == "unknown_description"


def test_a_class_may_have_a_name_that_no_line_can_hold():
    odd = make_dataclass("Odd", [("a", complex)])
    odd.__name__ = "Odd\n- a: fine"
    assert len(complaints_of(odd)) == 1
    assert name_of(odd) == "Odd\\u000a- a: fine"


@pytest.mark.parametrize("items", ["int", "1 + 1"])  # what is read, and what is evaluated
def test_the_end_of_memory_while_annotations_are_evaluated(items, monkeypatch):
    class Greedy:
        def __class_getitem__(cls, item):
            raise MemoryError

    module = types.ModuleType("greedy")
    vars(module).update(dataclass=dataclass, Greedy=Greedy)
    monkeypatch.setitem(sys.modules, "greedy", module)
    code = (
        f"from __future__ import annotations\n@dataclass\nclass Two:\n a: list[{items}]\n b: Greedy[{items}]"
    )
    exec(code, vars(module))  # noqa: S102  # a module of its own
    with pytest.raises(MemoryError):
        Codec(module.Two)
