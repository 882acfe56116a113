"""The schema document as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from hypothesis import given
from judge import validator
from strategies import OBJECTS, TYPES

from operator_schema import Codec, json_schema
from operator_schema.engine import Renderer

SCHEMA_WORDS = {
    "type", "properties", "required", "items", "prefixItems", "additionalProperties", "propertyNames",
    "enum", "anyOf", "$ref", "$defs", "description", "default", "examples", "format", "pattern",
    "contentEncoding", "uniqueItems", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
}  # fmt: skip


@pytest.mark.slow("draws many types")
@given(TYPES | OBJECTS)
def test_only_the_words_that_carry_meaning(annotation):
    schema = Codec(annotation).json_schema()
    validator(schema)
    assert words(schema) <= SCHEMA_WORDS


def words(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    found = set(schema)
    inner = [schema.get(key) for key in ("items", "additionalProperties", "propertyNames")]
    inner += [*schema.get("anyOf", ()), *schema.get("prefixItems", ())]
    for key in ("properties", "$defs"):
        inner += schema.get(key, {}).values()
    return found.union(*map(words, inner))


@dataclass
class Linked:
    title: str
    next: Annotated[Linked | None, "what follows"] = None
    others: list[Annotated[Linked, "another"]] = field(default_factory=list)


def test_descriptions_beside_references():
    properties = json_schema(Linked)["properties"]
    assert properties["next"] == {"$ref": "#/$defs/Linked", "description": "what follows"}
    assert properties["others"]["items"] == {"$ref": "#/$defs/Linked", "description": "another"}
    assert properties["title"] == {"type": "string"}


@dataclass
class Größe:  # noqa: PLC2401  # the name is what is tested
    teile: list[Größe]


def test_references_are_ascii():
    schema = json_schema(Größe)
    validator(schema)
    assert schema["properties"]["teile"]["items"] == {"$ref": "#/$defs/Gr__e"}
    assert list(schema["$defs"]) == ["Gr__e"]


def test_a_described_root_that_is_recursive():
    schema = Codec(Annotated[Linked, "a chain"]).json_schema()
    assert schema["description"] == "a chain"
    assert "description" not in schema["$defs"]["Linked"]
    assert schema["type"] == "object"


def test_a_codec_renders_by_the_renderer_of_a_dialect():
    class Closed(Renderer):
        __slots__ = ()

        def object(self, node):
            return {**super().object(node), "additionalProperties": False}

    codec = Codec(dict[str, int])
    assert codec.json_schema_by(Renderer) == codec.json_schema()

    @dataclass
    class Point:
        x: int

    assert Codec(Point).json_schema_by(Closed) == {
        **Codec(Point).json_schema(),
        "additionalProperties": False,
    }
