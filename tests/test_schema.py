"""The schema document as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from hypothesis import given, settings
from judge import validator
from strategies import CASES, OBJECT_CASES

from operator_schema import Codec, json_schema

SCHEMA_WORDS = {
    "type", "properties", "required", "items", "additionalProperties", "enum", "anyOf", "$ref",
    "$defs", "description", "default", "examples", "format",
}  # fmt: skip


@given(CASES | OBJECT_CASES)
@settings(max_examples=300)
def test_only_the_words_that_carry_meaning(case):
    schema = Codec(case.annotation).json_schema()
    validator(schema)
    assert words(schema) <= SCHEMA_WORDS


def words(schema: Any) -> set[str]:
    found = set(schema)
    for key in ("properties", "$defs"):
        for inner in schema.get(key, {}).values():
            found |= words(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found |= words(schema[key])
    for inner in schema.get("anyOf", ()):
        found |= words(inner)
    return found


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


def test_a_described_root_that_is_recursive():
    schema = Codec(Annotated[Linked, "a chain"]).json_schema()
    assert schema["description"] == "a chain"
    assert "description" not in schema["$defs"]["Linked"]
    assert schema["type"] == "object"
