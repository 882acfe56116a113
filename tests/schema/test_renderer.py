"""A dialect overrides arms of the renderer; unions say each schema once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Union

from typing_extensions import TypeAliasType

from operator_schema import Codec, json_schema, tool_input
from operator_schema.engine import Renderer
from operator_schema.tools import parameters_of

Nested: Any = TypeAliasType("Nested", "Union[int, list[Nested]]")


@dataclass
class Point:
    x: int
    tags: list[tuple[int, str]]


class Strict(Renderer):
    """A dialect without integers, in which objects are closed."""

    __slots__ = ()

    def scalar(self, node):
        document = super().scalar(node)
        return {**document, "type": "number"} if node.type == "integer" else document

    def object(self, node):
        return {**super().object(node), "additionalProperties": False}


def test_a_dialect_overrides_some_arms_and_keeps_the_others():
    graph = Codec(list[Point]).graph
    assert Strict({}, {}, lambda _, value: value, 100).schema(graph.root) == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "x": {"type": "number"},
                "tags": {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "prefixItems": [{"type": "number"}, {"type": "string"}],
                        "minItems": 2,
                        "items": False,
                    },
                },
            },
            "required": ["x", "tags"],
            "additionalProperties": False,
        },
    }


def test_a_union_says_each_schema_once():
    assert json_schema(Union[Path, str]) == {"type": "string"}
    assert json_schema(Union[Path, str, int]) == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    described = json_schema(Union[Annotated[Path, "A file"], str])
    assert described == {"anyOf": [{"type": "string", "description": "A file"}, {"type": "string"}]}


def test_a_recursive_alias_among_parameters_ends_where_it_begins_again():
    @dataclass
    class Tree:
        value: Nested

    [(name, parameter)] = parameters_of(Tree)
    assert name == "value"
    assert parameter["anyOf"] == [{"type": "integer"}, {"type": "array", "items": {}}]


def test_the_input_schema_of_a_union_has_properties():
    @dataclass
    class Other:
        name: str

    tool = tool_input(Union[Point, Other], name="pick")
    schema = tool.input_schema()
    assert schema["type"] == "object"
    assert schema["properties"] == {}
    assert len(schema["anyOf"]) == 2
