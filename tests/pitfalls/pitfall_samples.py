"""Types and helpers that the tests of pitfalls share."""

from __future__ import annotations

import enum
import sys
from dataclasses import dataclass
from typing import NamedTuple, NotRequired, TypedDict, Union

import pytest
from judge import validator
from typing_extensions import TypeAliasType

from operator_schema import (
    Codec,
)


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


WARM = 200


def codes(annotation, value):
    return [problem.code for problem in Codec(annotation).report(value)]


def schema_of(annotation, **options):
    schema = Codec(annotation, **options).json_schema()
    validator(schema)
    return schema


def objects_in(schema):
    """Every dict in a JSON document."""
    if isinstance(schema, dict):
        yield schema
        for inner in schema.values():
            yield from objects_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects_in(inner)


def same(value, expected):
    return type(value) is type(expected) and value == expected


class Loose(TypedDict):
    name: str
    note: NotRequired[str]
    count: NotRequired[int | None]


@dataclass
class U1:
    name: str
    a: int = 0


@dataclass
class U2:
    name: str
    b: int = 0


class Coordinates(NamedTuple):
    x: int
    y: int


@dataclass
class Everywhere:
    nested: U1
    items: list[U1]
    table: dict[str, U1]
    pair: tuple[U1, Coordinates]
    either: U1 | Loose
    maybe: U1 | None = None
    typed: Loose | None = None


Json = TypeAliasType("Json", Union[bool, int, float, str, "list[Json]", "dict[str, Json]", None])


PEP_695 = """
{future}
from dataclasses import dataclass

type Numbers[T] = list[T] | T
type Nested = int | list[Nested]

@dataclass
class Box[T]:
    value: T
    numbers: Numbers[T]
    nested: Nested

@dataclass
class IntBox(Box[int]):
    pass
"""


if sys.version_info >= (3, 12):

    @pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
    def test_pep_695_aliases_and_generic_classes(define, future):
        module = define(PEP_695.format(future=future))
        for annotation in (module.Box[int], module.IntBox):
            codec = Codec(annotation)
            decoded = codec.decode({"value": 1, "numbers": [2], "nested": [1, [2]]})
            assert (decoded.value, decoded.numbers, decoded.nested) == (1, [2], [1, [2]])
            found = codec.report({"value": "x", "numbers": "x", "nested": "x"})
            assert [problem.path for problem in found] == [("value",), ("numbers",), ("nested",)]
