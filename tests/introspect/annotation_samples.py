"""Types and helpers that several tests of annotations share."""

import enum
from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    ParamSpec,
    TypedDict,
    TypeVar,
    Union,
)

import pytest
from judge import validator
from typing_extensions import TypeAliasType

from operator_schema import Codec, SchemaError, SchemaLeaf

# The decoder may refuse what the schema takes for these reasons alone (law 1).
STRICTER = {"bad_format", "out_of_range", "rejected", "too_deep", "too_large", "duplicate"}


IDENTIFIER = "12345678-1234-5678-1234-567812345678"


PROBES: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 7, 1.0, 1.5, -0.5, "", "a", "b", "x", "1", "red", "yes", "1.5",
    "a/b", "YQ==", "2026-01-31", "2026-01-31T09:30:00Z", "09:30:00Z", "P1D", IDENTIFIER, "127.0.0.1",
    "::1", [], [1], [1, 2], [1, 1], ["a"], ["a", 1], [1, "a"], [1.5], [None], [[]], [[1]], [{}],
    [1, [2, [3]]], [{"kind": "cat"}], [{"a": 1}], {}, {"a": 1}, {"a": "x"}, {"a": None}, {"a": [1]},
    {"a": {"a": 1}}, {"1": 1}, {"01": 1}, {"red": 1}, {"name": "n"}, {"name": "n", "a": 1},
    {"name": "n", "b": 1}, {"name": "n", "a": 1, "b": 1}, {"name": "n", "a": "x"}, {"kind": "cat"},
    {"kind": "dog"}, {"kind": "cow"}, {"kind": "cat", "lives": 3}, {"kind": "cat", "lives": "x"},
    {"kind": "dog", "tricks": ["sit"]}, {"tricks": ["sit"]}, {"lives": 3}, {"x": 1, "y": 2}, {"x": 1},
    {"x": "1"}, {"x": 1, "kind": "cat"}, {"value": 1}, {"value": "x", "children": []},
    {"value": 1, "children": [{"value": 2}]},
]  # fmt: skip


def schema_of(annotation, **options):
    schema = Codec(annotation, **options).json_schema()
    validator(schema)
    return schema


def property_of(annotation, name, **options):
    return schema_of(annotation, **options)["properties"][name]


def complaints_of(annotation, **options):
    with pytest.raises(SchemaError) as caught:
        Codec(annotation, **options)
    complaints = caught.value.findings
    assert all(complaint.message and complaint.remedy for complaint in complaints)
    return complaints


def complaint_of(annotation, **options):
    [complaint] = complaints_of(annotation, **options)
    return complaint


def codes_of(annotation, value):
    return [problem.code for problem in Codec(annotation).report(value)]


def same(value, expected):
    return type(value) is type(expected) and repr(value) == repr(expected) and value == expected


def check_agreement(annotation, values=PROBES, stricter=STRICTER):
    """Compare the decoder with `jsonschema`, and encode again what was decoded."""
    codec = Codec(annotation)
    judge = validator(codec.json_schema())
    for value in values:
        problems = codec.report(value)
        if judge.is_valid(value):
            # Nor does it guess which of several members of a union is meant.
            found = {problem.code for problem in problems if "equally well" not in problem.message}
            assert found <= stricter, (annotation, value)
        else:
            # An explicit null may stand for a field that is not required.
            assert problems or "None" in repr(value), (annotation, value)
        if not problems:
            decoded = codec.decode(value)
            encoded = codec.encode(decoded)
            assert judge.is_valid(encoded), (annotation, value)
            assert codec.decode(encoded) == decoded, (annotation, value)


def union_of(members):
    return Union[tuple(members)]  # made at run time


FUTURE = pytest.mark.parametrize("future", ["", "from __future__ import annotations"], ids=["now", "future"])


NULL = {"type": "null"}


STRING = {"type": "string"}


INTEGER = {"type": "integer"}


def array_of(items, **words):
    return {"type": "array", "items": items, **words}


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Answer(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 7


@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int = 9


@dataclass
class Dog:
    kind: Literal["dog"] = "dog"
    tricks: list[str] = field(default_factory=list)


@dataclass
class Bird:
    sort: Literal["bird"] = field(metadata={"alias": "kind"})


@dataclass
class U1:
    name: str
    a: int = 0


@dataclass
class U2:
    name: str
    b: int = 0


@dataclass
class U3:
    name: str
    b: int


class Point(NamedTuple):
    x: int
    y: int = 0


class TaggedA(TypedDict):
    kind: Literal["cat"]
    a: int


class TaggedB(TypedDict):
    kind: Literal["dog"]
    a: str


class Degrees:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Degrees) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"Degrees({self.value!r})"

    @classmethod
    def read(cls, text):
        if text not in {"x", "127.0.0.1"}:
            raise ValueError("not these degrees")
        return cls(text)

    @classmethod
    def __schema_leaf__(cls):
        return SchemaLeaf(
            cls, {"type": "string", "enum": ["x", "127.0.0.1"]}, cls.read, lambda d: d.value, cls("x")
        )


class Nothing(enum.Enum):
    NONE = None


class Bag:
    pass


@dataclass(frozen=True)
class Ge:
    ge: Any


BAG = {kind: SchemaLeaf(Bag, {"type": kind}, lambda _: Bag(), lambda _, v=value: v, Bag())
       for kind, value in {"array": [], "object": {}, "integer": 1, "string": "x"}.items()}  # fmt: skip


Box = Annotated[Bag, BAG["object"]]


T = TypeVar("T")


U = TypeVar("U")


class GenericDict(TypedDict, Generic[T]):
    x: T
    more: NotRequired[list[T]]


@dataclass
class User:
    name: str


@dataclass
class Page(Generic[T]):
    items: list[T]
    first: T | None = None


@dataclass
class Users(Page[User]):
    total: int = 0


@dataclass
class Node(Generic[T]):
    value: T
    children: "list[Node[T]]" = field(default_factory=list)


P = ParamSpec("P")


Json = TypeAliasType("Json", Union[str, int, float, bool, "list[Json]", "dict[str, Json]", None])


Tree = TypeAliasType("Tree", Union[T, "list[Tree[T]]"], type_params=(T,))


A = Annotated


Name = NewType("Name", str)
