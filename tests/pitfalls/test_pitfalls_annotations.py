"""Defects measured in other libraries: annotations misread."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, fields, make_dataclass
from typing import Self, TypedDict

import pytest
from pitfall_samples import WARM, Coordinates, Level, codes, schema_of

from operator_schema import (
    Codec,
    SchemaError,
    decode,
)


def test_a_class_defined_in_a_function_under_future_annotations():
    @dataclass
    class Inner:
        x: int

    @dataclass
    class Outer:
        inner: Inner
        more: list[Inner | None]

    with pytest.raises(SchemaError) as caught:
        Codec(Outer)
    assert [complaint.code for complaint in caught.value.findings] == ["unresolved"] * 2
    assert "inside a function" in str(caught.value)
    assert "namespace=" in str(caught.value)
    codec = Codec(Outer, namespace=locals())
    assert codec.decode({"inner": {"x": 1}, "more": [None]}) == Outer(Inner(1), [None])


TYPED = """
{future}
from typing import TypedDict, NotRequired, Required

class Default(TypedDict):
    a: int
    b: NotRequired[int]

class Partial(TypedDict, total=False):
    a: Required[int]
    b: int
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
@pytest.mark.parametrize("name", ["Default", "Partial"])
def test_not_required_under_future_annotations(define, future, name):
    """cpython #97727."""
    cls = getattr(define(TYPED.format(future=future)), name)
    assert schema_of(cls)["required"] == ["a"]
    assert decode(cls, {"a": 1}) == {"a": 1}
    assert codes(cls, {"b": 1}) == ["missing"]


@dataclass
class Chain:
    value: int
    next: Self | None = None


@dataclass
class NamedChain(Chain):
    name: str = ""


def test_self_is_the_class_that_is_registered():
    assert decode(Chain, {"value": 1, "next": {"value": 2}}) == Chain(1, Chain(2))
    value = decode(NamedChain, {"value": 1, "next": {"value": 2, "name": "x"}})
    assert value == NamedChain(1, NamedChain(2, None, "x"))


@dataclass
class Built:
    width: int
    scale: InitVar[int] = 2
    area: int = field(init=False, default=0)

    def __post_init__(self, scale):
        self.area = self.width * scale


def test_init_vars_are_taken_and_not_kept():
    assert decode(Built, {"width": 3, "scale": 5}).area == 15
    assert list(schema_of(Built)["properties"]) == ["width", "scale"]
    assert Codec(Built).encode(Built(3, 5)) == {"width": 3}


@dataclass
class First:
    a: int = 1
    b: str = field(kw_only=True)


@dataclass
class Second(First):
    c: float = 0.5
    d: bool = field(default=True, kw_only=True)


def test_keyword_only_fields_reorder_nothing():
    value = {"a": 5, "b": "x", "c": 2.5, "d": False}
    assert list(schema_of(Second)["properties"]) == ["a", "b", "c", "d"]
    assert decode(Second, value) == Second(5, 2.5, b="x", d=False)
    assert Codec(Second).encode(decode(Second, value)) == value
    assert codes(Second, {}) == ["missing"]


NAMES = [
    "self",
    "cls",
    "json",
    "copy",
    "model_dump",
    "fields",
    "dict",
    "schema",
    "items",
    "keys",
    "args",
    "kwargs",
]


@pytest.mark.parametrize("frozen", [False, True])
def test_fields_that_are_called_like_what_others_reserve(frozen):
    cls = make_dataclass("Reserved", [(name, int) for name in NAMES], frozen=frozen)
    value = {name: index for index, name in enumerate(NAMES)}
    codec = Codec(cls)
    assert list(codec.json_schema()["properties"]) == NAMES
    for _ in range(WARM):
        instance = codec.decode(value)
    assert {f.name: getattr(instance, f.name) for f in fields(cls)} == value
    assert codec.encode(instance) == value
    typed = TypedDict("typed", dict.fromkeys(NAMES, int))  # type: ignore[operator,misc]  # made at run time
    assert decode(typed, value) == value


@dataclass(frozen=True, slots=True)
class Settings:
    name: str = "x"
    numbers: tuple[int, ...] = (1, 2)
    level: Level = Level.HIGH
    inner: Coordinates = Coordinates(1, 2)  # noqa: RUF009  # it is immutable
    tags: list[str] = field(default_factory=lambda: ["a"])
    none: int | None = None


def test_defaults_of_frozen_slotted_dataclasses():
    """msgspec #567."""
    assert decode(Settings, {}) == Settings()
    assert decode(Settings, {"name": "y"}) == Settings("y")
    first, second = decode(Settings, {}), decode(Settings, {})
    assert first.tags is not second.tags
    properties = schema_of(Settings)["properties"]
    assert {key: part["default"] for key, part in properties.items() if "default" in part} == {
        "name": "x",
        "numbers": [1, 2],
        "level": 1,
        "inner": {"x": 1, "y": 2},
    }
