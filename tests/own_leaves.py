"""Leaves of one's own with random schemas, which take whatever fits them."""

from __future__ import annotations

import random
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from schema_edits import Documents

from operator_schema import SchemaLeaf
from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.sameness import same_text

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_ANY_TYPE = ("arguments", "array", "tuple", "map", "keyed", "text", "text", "number", "number")
_WITH_DEPTH = frozenset({"array", "tuple", "map", "keyed"})


class Held:
    """A JSON value."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and same_text(self.value) == same_text(other.value)

    def __hash__(self) -> int:
        return hash(same_text(self.value))

    def __repr__(self) -> str:
        return f"Held({self.value!r})"


def held(number: int, makes: Sequence[str] = OF_ANY_TYPE) -> Any:
    """Return a class of JSON values that fit a random schema; the number and the types say which."""
    schema, sample = _schema_with_value(number, tuple(makes))
    made = type("Held", (Held,), {})
    made.__schema_leaf__ = SchemaLeaf(made, schema, made, attrgetter("value"), made(sample))
    return made


@cache
def _schema_with_value(number: int, makes: tuple[str, ...]) -> tuple[dict[str, Any], Any]:
    """Return a schema and a value that fits it.

    Validators check formats, and read `$` as Python does, so it has neither.
    """
    for turn in range(1000):
        documents = Documents(random.Random(f"{number}:{turn}"))  # noqa: S311  # a sample
        make = documents.pick(makes)
        schema = getattr(documents, make)(*[2] * (make in _WITH_DEPTH))
        told = repr(schema)
        if "type" not in schema or any(odd in told for odd in ("'format'", "$'", "'#'")):
            continue
        codec = DocumentCodec(SchemaDocument("Held", schema, is_arguments=False))
        drawn = [documents.value_of(schema) for _ in range(20)]
        fitting = [value for value in drawn if not codec.report(value)]
        if fitting and not codec.left:
            return schema, fitting[0]
    raise AssertionError(number)


def value_near(schema: dict[str, Any], chance: random.Random) -> Any:
    """Return a value that often fits a schema."""
    return Documents(chance).value_of(schema)
