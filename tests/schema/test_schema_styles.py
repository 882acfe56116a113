"""Schemas for hosts that don't take all of JSON Schema: the same values in fewer words."""

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass, field, make_dataclass
from enum import Enum
from itertools import product
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge import validator
from strategies import OBJECTS, TYPES, values_for

from operator_schema import Codec, Registry, SchemaError, SchemaLeaf, describe_tools, json_schema, tool
from operator_schema.schema.style import SchemaStyle, restyled, style_of
from operator_schema.types import RawArguments

SWITCHES = ("inline", "boolean_schemas", "empty_schemas")
EACH_STYLE = [dict(zip(SWITCHES, each, strict=True)) for each in product([False, True], repeat=3)]
STYLES = st.sampled_from(EACH_STYLE)
STRICTEST: Any = {"inline": True, "boolean_schemas": False, "empty_schemas": False}
EVERY = {"anyOf": [{"type": name} for name in ("string", "number", "boolean", "null", "array", "object")]}

# --- what a document holds -----------------------------------------------------------------------

OPEN = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems")
ONE = (*OPEN, "items", "contains", "propertyNames", "not", "if", "then", "else")
LISTED = ("prefixItems", "anyOf", "oneOf", "allOf")
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")
NO_ASSERTION = {"title", "description", "default", "examples", "$defs"}


def schemas_in(schema: Any, keyword: str = "") -> list[tuple[str, Any]]:
    """List every schema of a document, each with the keyword that it follows."""
    found = [(keyword, schema)]
    if isinstance(schema, dict):
        inner = [(key, schema[key]) for key in ONE if key in schema]
        inner += [(key, part) for key in LISTED for part in schema.get(key, ())]
        inner += [(key, part) for key in NAMED for part in schema.get(key, {}).values()]
        found += [each for key, part in inner for each in schemas_in(part, key)]
    return found


def references_in(schema: Any) -> set[str]:
    found = [part["$ref"] for _, part in schemas_in(schema) if isinstance(part, dict) and "$ref" in part]
    return {reference.removeprefix("#/$defs/").split("/")[0] for reference in found}


def is_recursive(name: str, definitions: dict[str, Any]) -> bool:
    reached: set[str] = set()
    pending = references_in(definitions[name])
    while pending:
        other = pending.pop()
        if other not in reached:
            reached.add(other)
            pending |= references_in(definitions[other])
    return name in reached


def faults(schema: dict[str, Any], style: dict[str, bool]) -> list[Any]:
    """List what a document holds against its style."""
    found: list[Any] = []
    for keyword, part in schemas_in(schema):
        is_boolean = isinstance(part, bool)
        if is_boolean and not style["boolean_schemas"] and keyword not in OPEN:
            found.append((keyword, part))
        if not is_boolean and not style["empty_schemas"] and part.keys() <= NO_ASSERTION:
            found.append((keyword, part))
    definitions = schema.get("$defs", {})
    if style["inline"]:
        found += [name for name in definitions if not is_recursive(name, definitions)]
    return found


def test_the_walk_finds_what_is_forbidden():
    schema = {
        "properties": {
            "a": {"items": False},
            "b": {"description": "x"},
            "c": {"additionalProperties": False},
        },
        "$defs": {"A": {"type": "string"}, "B": {"items": {"$ref": "#/$defs/C"}}, "C": {"$ref": "#/$defs/B"}},
    }
    found = faults(schema, STRICTEST)
    assert found == [("items", False), ("properties", {"description": "x"}), "A"]


# --- the law -------------------------------------------------------------------------------------


@pytest.mark.slow("draws hundreds of types")
@given(st.data(), TYPES | OBJECTS, STYLES)
def test_each_style_takes_the_same_values_and_holds_nothing_forbidden(data, annotation, style):
    codec: Codec[Any] = Codec(annotation)
    usual, schema = codec.json_schema(), codec.json_schema(**style)
    assert faults(schema, style) == []
    assert codec.json_schema(inline=False, boolean_schemas=True, empty_schemas=True) == usual
    first, second = validator(usual), validator(schema)
    for value in data.draw(values_for(codec)):
        assert first.is_valid(value) == second.is_valid(value)
    # Written in a style, it is the schema read and put into it.
    assert schema == restyled(codec.json_schema(inline=style["inline"]), SchemaStyle(**style))


# --- each option ---------------------------------------------------------------------------------


@dataclass
class Linked:
    title: str
    next: Annotated[Linked | None, "what follows"] = None
    others: list[Linked] = field(default_factory=list)


@dataclass
class Everything:
    anything: Annotated[Any, "whatever it is"]
    pair: tuple[int, Any] = (1, 2)
    nothing: tuple[()] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    keyed: dict[Any, int] = field(default_factory=dict)
    items: list[object] = field(default_factory=list)


def test_tuples_without_boolean_schemas():
    properties = json_schema(Everything, boolean_schemas=False)["properties"]
    assert properties["pair"] == {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {}],
        "minItems": 2,
        "maxItems": 2,
        "default": [1, 2],
    }
    assert properties["nothing"] == {"type": "array", "maxItems": 0, "default": []}


def test_values_of_any_type_without_empty_schemas():
    properties = json_schema(Everything, empty_schemas=False)["properties"]
    assert properties["anything"] == {**EVERY, "description": "whatever it is"}
    assert properties["notes"]["additionalProperties"] == EVERY
    assert properties["items"]["items"] == EVERY
    assert "propertyNames" not in properties["keyed"]
    assert json_schema(Any, empty_schemas=False) == EVERY


def test_recursive_types_keep_their_definition():
    schema = json_schema(list[Linked], inline=True)
    assert schema["items"] == {"$ref": "#/$defs/Linked"}
    assert list(schema["$defs"]) == ["Linked"]


def nested(levels: int, width: int) -> Any:
    """Make a type whose schema without references doubles with each level."""
    made: Any = int
    for level in range(levels):
        made = type(f"Level{level}", (), {"__annotations__": {f"f{i}": made for i in range(width)}})
        made = dataclass(made)
    return made


def test_many_schemas_share_definitions_unless_they_are_to_be_inline():
    wide = nested(6, 4)
    assert "$defs" in json_schema(wide)
    schema = json_schema(wide, inline=True)
    assert "$defs" not in schema
    assert len(schemas_in(schema)) == sum(4**level for level in range(7))


def test_what_would_grow_without_end_is_refused():
    wide = nested(40, 2)
    assert len(schemas_in(json_schema(wide, empty_schemas=False))) < 200
    with pytest.raises(SchemaError, match="more than 10,000 schemas") as caught:
        json_schema(wide, inline=True)
    assert "Leave inline out" in caught.value.findings[0].remedy


def test_leaves_count_among_the_schemas_that_are_written_out():
    made: Any = uuid.UUID
    for level in range(7):
        fields = {f"field_{number}": made for number in range(4)}
        made = dataclass(type(f"Level{level}", (), {"__annotations__": fields}))
    with pytest.raises(SchemaError, match="more than 10,000 schemas"):
        json_schema(made, inline=True)


# --- leaves, whose schemas anybody may have written ---------------------------------------------


class Thing:
    pass


class Other:
    pass


def leaf_schema(schema: dict[str, Any], **style: bool) -> dict[str, Any]:
    leaf = SchemaLeaf(Thing, schema, lambda _: Thing(), lambda _: {}, Thing())
    codec: Codec[Any] = Codec(list[Thing], leaves=[leaf])
    found = codec.json_schema(**style)  # type: ignore[arg-type]
    validator(found)
    assert faults(found, {"inline": False, "boolean_schemas": True, "empty_schemas": True, **style}) == []
    return found


def test_the_definitions_of_leaves_are_in_the_style_too():
    schema = {
        "type": "object",
        "$ref": "#/$defs/A",
        "$defs": {"A": {"items": False, "properties": {"b": {}, "c": True}}},
    }
    leaf = SchemaLeaf(Thing, schema, lambda _: Thing(), lambda _: {}, Thing())
    other = SchemaLeaf(
        Other,
        {"type": "integer", "$ref": "#/$defs/A", "$defs": {"A": {}}},
        lambda _: Other(),
        lambda _: 1,
        Other(),
    )
    codec: Codec[Any] = Codec(tuple[Thing, Other, list[Thing]], leaves=[leaf, other])
    for inline in (False, True):
        style = SchemaStyle(inline=inline, boolean_schemas=False, empty_schemas=False)
        found = codec.json_schema(**style.as_options())
        assert found == restyled(codec.json_schema(inline=inline), style)
        assert ("$defs" in found) is not inline


ODD: dict[str, Any] = {
    "type": ["object", "array"],
    "properties": {"yes": True, "no": False, "open": {"description": "any"}, "not": {"not": {}}},
    "patternProperties": {"^x": {}},
    "additionalProperties": False,
    "prefixItems": [{}, True],
    "items": False,
    "maxItems": 1,
    "contains": {},
    "uniqueItems": True,
    "default": {"open": {"items": False, "properties": {"a": {}}}},
    "enum": [{"open": {"items": False, "properties": {"a": {}}}}, {}],
    "anyOf": [{"items": False}, {"items": True}, {"prefixItems": [{}], "items": False, "maxItems": 5}],
    "propertyNames": {},
    "unevaluatedItems": {},
}


def test_schemas_of_leaves_are_mended_at_every_depth_and_data_is_left_alone():
    found = leaf_schema(ODD, **STRICTEST)["items"]
    assert found["default"] == ODD["default"]
    assert found["enum"] == ODD["enum"]
    assert found["uniqueItems"] is True
    assert found["additionalProperties"] is False
    assert found["unevaluatedItems"] == EVERY
    assert found["maxItems"] == 1
    assert "items" not in found
    assert found["properties"] == {
        "yes": EVERY,
        "no": {"not": EVERY},
        "open": {**EVERY, "description": "any"},
        "not": {"not": EVERY},
    }
    assert found["anyOf"] == [{"maxItems": 0}, {"items": EVERY}, {"prefixItems": [EVERY], "maxItems": 1}]


def test_one_option_does_not_do_the_work_of_another():
    assert leaf_schema(ODD, boolean_schemas=False)["items"]["properties"]["yes"] == {}
    assert leaf_schema(ODD, boolean_schemas=False)["items"]["properties"]["no"] == {"not": {}}
    assert leaf_schema(ODD, empty_schemas=False)["items"]["properties"]["no"] is False
    assert leaf_schema(ODD, empty_schemas=False)["items"]["items"] is False
    assert leaf_schema(ODD, inline=True)["items"] == ODD


@pytest.mark.parametrize(
    "values",
    [[[]], [[1]], [[1, 2]], [{"yes": 1}], [{"no": 1}], [{"open": None}], [{"x1": 1}], [{"y": 1}], [5]],
)
@pytest.mark.parametrize("style", EACH_STYLE, ids=str)
def test_mended_schemas_of_leaves_take_the_same_values(values, style):
    schema = {key: value for key, value in ODD.items() if key not in {"enum", "contains"}}
    usual = validator(leaf_schema(schema))
    assert validator(leaf_schema(schema, **style)).is_valid(values) == usual.is_valid(values)


REFERRING: dict[str, Any] = {
    "type": "object",
    "$ref": "#/$defs/Root",
    "$defs": {
        "Root": {
            "type": "object",
            "properties": {
                "plain": {"$ref": "#/definitions/Plain", "description": "one"},
                "short": {"$ref": "#/definitions/Plain", "maxLength": 3, "allOf": [{"minLength": 1}]},
                "deep": {"$ref": "#/$defs/Pair/properties/left"},
                "tree": {"$ref": "#/$defs/Tree", "description": "of plain ones"},
            },
            "discriminator": {"propertyName": "kind", "mapping": {"a": "#/$defs/Pair"}},
        },
        "Pair": {"properties": {"left": {"$ref": "#/definitions/Plain"}}},
        "Tree": {
            "type": "object",
            "properties": {
                "label": {"$ref": "#/definitions/Plain"},
                "kids": {"items": {"$ref": "#/$defs/Tree"}},
            },
        },
        "Unused": {"type": "string"},
    },
    "definitions": {"Plain": {"type": "string", "description": "a text"}},
}


def test_references_of_leaves_are_written_out():
    plain = {"type": "string", "description": "a text"}
    schema = leaf_schema(REFERRING, inline=True)
    assert schema["items"] == {
        "type": "object",
        "properties": {
            "plain": {"type": "string", "description": "one"},
            "short": {"maxLength": 3, "allOf": [{"minLength": 1}, plain]},
            "deep": plain,
            "tree": {"$ref": "#/$defs/Tree", "description": "of plain ones"},
        },
    }
    tree = {"type": "object", "properties": {"label": plain, "kids": {"items": {"$ref": "#/$defs/Tree"}}}}
    assert schema["$defs"] == {"Tree": tree}


def test_a_leaf_that_refers_without_end_is_refused():
    definitions: dict[str, Any] = {
        f"D{i}": {"properties": {"a": {"$ref": f"#/$defs/D{i + 1}"}, "b": {"$ref": f"#/$defs/D{i + 1}"}}}
        for i in range(40)
    }
    definitions["D40"] = {"type": "string"}
    schema = {"type": "object", "$ref": "#/$defs/D0", "$defs": definitions}
    assert len(leaf_schema(schema)["$defs"]) == 41
    with pytest.raises(SchemaError, match="more than 10,000 schemas"):
        leaf_schema(schema, inline=True)


def test_a_leaf_is_written_out_as_a_whole_or_refused(monkeypatch):
    monkeypatch.setattr("operator_schema.schema.style.MAX_WITHOUT_REFERENCES", 10)
    written = []
    for count in range(12):
        fields = {f"field_{number}": {"type": "string"} for number in range(count)}
        try:
            schema = leaf_schema({"type": "object", "properties": fields}, inline=True)
        except SchemaError:
            continue
        written.append(count)
        assert schema["items"]["properties"] == fields
    assert written == list(range(9))  # the array and the leaf count too, each once


def test_a_leaf_without_parts_counts_once(monkeypatch):
    monkeypatch.setattr("operator_schema.schema.style.MAX_WITHOUT_REFERENCES", 3)
    assert len(schemas_in(json_schema(tuple[uuid.UUID, uuid.UUID], inline=True))) == 4  # and `items` is false
    with pytest.raises(SchemaError, match="more than 3 schemas"):
        json_schema(tuple[uuid.UUID, uuid.UUID, uuid.UUID], inline=True)


def test_recursive_and_plain_models_of_pydantic():
    pydantic = pytest.importorskip("pydantic")
    part: Any = pydantic.create_model("Part", pair=(tuple[int, Any], ...))
    whole: Any = pydantic.create_model("Whole", first=(part, ...), second=(part, ...))
    schema = json_schema(list[whole], **STRICTEST)
    assert "$defs" not in schema
    assert faults(schema, STRICTEST) == []
    assert validator(schema).is_valid([{"first": {"pair": [1, None]}, "second": {"pair": [1, []]}}])
    assert not validator(schema).is_valid([{"first": {"pair": [1, None]}, "second": {"pair": ["1", []]}}])


# --- the options ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inlin": True}, "no option 'inlin'; did you mean inline"),
        ({"zzzzzzzzz": True}, "it takes inline, boolean_schemas, empty_schemas"),
        ({"inline": 1}, "inline is 1, not True or False"),
        ({"inline": None}, "inline is None, not True or False"),
    ],
)
def test_options_that_are_refused(options, message):
    registry = Registry([tool(describe)])
    for ask in [Codec(int).json_schema, registry.definitions, registry["describe"].input_schema]:
        with pytest.raises(TypeError, match=message):
            ask(**options)


def test_the_usual_style_is_none():
    assert style_of({}) is style_of({"inline": False, "empty_schemas": True}) is None
    assert style_of({"inline": True}) == SchemaStyle(inline=True)


def test_the_usual_schema_loads_nothing_for_hosts(monkeypatch):
    monkeypatch.delitem(sys.modules, "operator_schema.schema.host", raising=False)
    json_schema(Everything, inline=False)
    assert "operator_schema.schema.host" not in sys.modules


# --- tools ---------------------------------------------------------------------------------------


def describe(pair: tuple[int, Any]) -> tuple[str, int]:
    """Describe a pair.

    Long. And longer.

    Args:
        pair: Of what. With more about it.
    """
    return (str(pair), 1)


def test_tools_take_the_options():
    made = tool(describe)
    expected = made.codec.json_schema(**STRICTEST)
    assert made.input_schema(**STRICTEST) == made.definition(**STRICTEST)["input_schema"] == expected
    assert made.output_schema(**STRICTEST)["maxItems"] == 2
    assert tool(read).output_schema(**STRICTEST) == {"type": "string"}
    assert tool(read).input_schema(**STRICTEST) == {"type": "object", "properties": {}}


def read(arguments: RawArguments) -> str:
    """Read."""
    return str(arguments)


def test_a_registry_keeps_a_definition_for_each_style_and_the_caller_owns_it():
    registry = Registry([tool(describe)])
    registry.register(describe_tools(registry))
    for style in [{}, STRICTEST, {"inline": False}, {"boolean_schemas": False}, {}]:
        first, _ = registry.definitions(**style)
        wanted = registry.shown("describe").definition(**style)
        assert first == wanted
        assert first["input_schema"]["properties"]["pair"]["description"] == "Of what."
        first["input_schema"].clear()


@dataclass
class Large:
    numbers: tuple[int, ...] = tuple(range(9_000))
    count: int = 0
    choice: Any = field(default=None)


def copies(of, levels):
    """Return a class that holds 2 to the power of `levels` copies of another one."""
    for level in range(levels):
        of = make_dataclass(f"Level{level}", [("left", of), ("right", of)])
    return of


def test_large_defaults_are_written_often_only_up_to_a_bound():
    with pytest.raises(SchemaError, match="more than 100,000 values in its defaults") as caught:
        json_schema(copies(Large, 11), inline=True)
    assert "Leave inline out, or shorten the defaults" in str(caught.value)
    assert json_schema(copies(Large, 3), inline=True)["type"] == "object"


def test_classes_with_large_defaults_are_shared_beyond_that_bound():
    shared = json_schema(copies(Large, 5))
    assert list(shared["$defs"]) == ["Level3", "Level2", "Level1", "Level0", "Large"]
    assert str(shared).count("8999") == 1
    assert "$defs" not in json_schema(copies(Large, 3))


@pytest.mark.parametrize(
    "choices", [Literal[tuple(range(9_000))], Enum("E", {f"A{n}": n for n in range(9_000)})]
)
def test_large_enums_count_too(choices):
    with pytest.raises(SchemaError, match="more than 100,000 values in its defaults, examples, literals"):
        json_schema(copies(make_dataclass("Choice", [("choice", choices)]), 4), inline=True)
