"""NamedTuple."""

from collections import namedtuple
from typing import (
    Annotated,
    Generic,
    NamedTuple,
)

from annotation_samples import (
    FUTURE,
    INTEGER,
    NULL,
    STRING,
    Level,
    Point,
    T,
    array_of,
    check_agreement,
    codes_of,
    property_of,
    same,
    schema_of,
)

from operator_schema import Codec


class Stop(NamedTuple):
    """A stop on the way.

    Args:
        name: What it is called.
    """

    name: str
    at: Annotated[Point, "Where it is"]
    note: str | None = None
    days: tuple[int, ...] = (1, 2)
    level: Level | None = Level.LOW

    param_descriptions = {"days": "When to stop"}


def test_a_named_tuple():
    assert schema_of(Stop) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "What it is called."},
            "at": {**schema_of(Point), "description": "Where it is"},
            "note": STRING,
            "days": array_of(INTEGER, description="When to stop", default=[1, 2]),
            "level": {"anyOf": [{"type": "integer", "enum": [1, 7]}, NULL], "default": 1},
        },
        "required": ["name", "at"],
    }
    codec = Codec(Stop)
    stop = codec.decode({"name": "a", "at": {"x": 1}})
    assert same(stop, Stop("a", Point(1), None, (1, 2), Level.LOW))
    assert codec.encode(stop) == {"name": "a", "at": {"x": 1, "y": 0}, "days": [1, 2], "level": 1}
    assert codec.decode({"name": "a", "at": {"x": 1}, "level": None}).level is None
    assert codes_of(Stop, ["a", [1, 2]]) == ["wrong_type"]
    check_agreement(Stop)


def test_a_named_tuple_of_collections():
    plain = namedtuple("plain", "a b c", defaults=[3])  # noqa: PYI024  # the other kind is tested above
    assert schema_of(plain) == {
        "type": "object",
        "properties": {"a": {}, "b": {}, "c": {"default": 3}},
        "required": ["a", "b"],
    }
    assert same(Codec(plain).decode({"a": None, "b": [1]}), plain(None, [1], 3))
    assert Codec(plain).encode(plain(1, "x", None)) == {"a": 1, "b": "x", "c": None}
    renamed = namedtuple("renamed", "a class a", rename=True)  # noqa: PYI024  # likewise
    assert list(schema_of(renamed)["properties"]) == ["a", "_1", "_2"]


class GenericTuple(NamedTuple, Generic[T]):
    x: T
    y: int = 3


class TextTuple(GenericTuple[str]):
    def shout(self):
        return self.x.upper()


def test_generic_and_inherited_named_tuples():
    assert property_of(GenericTuple[int], "x") == INTEGER
    assert property_of(TextTuple, "x") == STRING
    decoded = Codec(TextTuple).decode({"x": "a"})
    assert type(decoded) is TextTuple
    assert decoded.shout() == "A"


@FUTURE
def test_a_named_tuple_in_source(define, future):
    module = define(f"""
        {future}
        from typing import NamedTuple
        class Chain(NamedTuple):
            value: int
            next: "Chain | None" = None
    """)
    codec = Codec(module.Chain)
    assert codec.decode({"value": 1, "next": {"value": 2}}) == module.Chain(1, module.Chain(2))
    assert set(schema_of(module.Chain)["$defs"]) == {"Chain"}
