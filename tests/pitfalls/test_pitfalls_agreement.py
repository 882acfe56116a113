"""Defects measured in other libraries: schema and decoder disagree."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any

import pytest
from judge import validator
from pitfall_samples import (
    U1,
    U2,
    Coordinates,
    Everywhere,
    Json,
    Level,
    Loose,
    codes,
    objects_in,
    schema_of,
)

from operator_schema import (
    Codec,
    decode,
)

FULL: dict[str, Any] = {
    "nested": {"name": "n"},
    "items": [{"name": "i"}],
    "table": {"k": {"name": "t"}},
    "pair": [{"name": "p"}, {"x": 1, "y": 2}],
    "either": {"name": "e", "a": 1},
    "maybe": {"name": "m"},
    "typed": {"name": "d"},
}


OBJECTS: list[tuple[str | int, ...]] = [
    (),
    ("nested",),
    ("items", 0),
    ("table", "k"),
    ("pair", 0),
    ("pair", 1),
    ("either",),
    ("maybe",),
    ("typed",),
]


@pytest.mark.parametrize("path", OBJECTS, ids=str)
def test_what_the_schema_closes_the_decoder_refuses_at_every_depth(path):
    value = copy.deepcopy(FULL)
    part: Any = value
    for step in path:
        part = part[step]
    part["surplus"] = 1
    strict, open_ = Codec(Everywhere, unknown_fields="reject"), Codec(Everywhere)
    assert [(p.path, p.code) for p in strict.report(value)] == [((*path, "surplus"), "unknown")]
    assert not validator(strict.json_schema()).is_valid(value)
    assert open_.report(value) == ()
    assert validator(open_.json_schema()).is_valid(value)


def test_every_object_of_a_closed_schema_is_closed():
    schema = schema_of(Everywhere, unknown_fields="reject")
    declared = [part for part in objects_in(schema) if "properties" in part and part.get("type") == "object"]
    assert len(declared) >= len(OBJECTS)
    assert all(part["additionalProperties"] is False for part in declared)
    assert Codec(Everywhere, unknown_fields="reject").report(FULL) == ()
    assert not any(part.get("additionalProperties") is False for part in objects_in(schema_of(Everywhere)))


def recursive_class(module, other):
    return f"""
    from __future__ import annotations
    from dataclasses import dataclass
    @dataclass
    class Node:
        {other}: int
        children: list[Node]
    Node.__module__ = {module!r}
    """


def test_two_classes_of_one_name_keep_their_definitions(define):
    first = define(recursive_class("first", "a"), "first").Node
    second = define(recursive_class("second", "b"), "second").Node
    Both = make_dataclass("Both", [("one", first), ("two", second)])  # noqa: N806  # a class
    schema = schema_of(Both)
    assert len(schema["$defs"]) == 2
    assert decode(Both, {"one": {"a": 1, "children": []}, "two": {"b": 1, "children": []}})
    assert codes(Both, {"one": {"b": 1, "children": []}, "two": {"b": 1, "children": []}}) == ["missing"]


def test_two_classes_of_one_name_are_built_each_by_its_own(define):
    source = "from dataclasses import dataclass\n@dataclass\nclass User:\n    {}: int\n"
    first, second = (define(source.format(name), name).User for name in ("a", "b"))
    Both = make_dataclass("Both", [("one", first), ("two", list[second])])  # noqa: N806  # a class
    assert decode(Both, {"one": {"a": 1}, "two": [{"b": 2}]}) == Both(first(1), [second(2)])
    properties = schema_of(Both)["properties"]
    assert list(properties["one"]["properties"]) == ["a"]
    assert list(properties["two"]["items"]["properties"]) == ["b"]


def test_names_of_definitions_do_not_depend_on_the_order(define):
    classes = {name: define(recursive_class(name, name), name).Node for name in ("first", "second", "third")}
    found = []
    for order in itertools.permutations(classes):
        made = make_dataclass("All", [(name, classes[name]) for name in order])
        found.append(schema_of(made)["$defs"])
    assert all(definitions == found[0] for definitions in found)


@dataclass
class Linked:
    title: str = "#/$defs/Linked"
    default: str = "#/$defs/Node"
    next: Linked | None = None


def test_a_default_that_looks_like_a_reference_is_left_alone():
    schema = schema_of(Linked)
    assert schema["properties"]["title"]["default"] == "#/$defs/Linked"
    assert schema["properties"]["default"] == {"type": "string", "default": "#/$defs/Node"}
    assert schema["properties"]["next"] == {"$ref": "#/$defs/Linked"}


WORDS = [
    "title",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "default",
    "description",
    "anyOf",
    "examples",
]


@pytest.mark.parametrize("word", WORDS)
def test_a_field_that_is_called_like_a_word_of_json_schema_stays(word):
    """fastmcp #3576, llm #1679."""
    Inner = make_dataclass("Inner", [(word, str)])  # noqa: N806  # a class
    Outer = make_dataclass("Outer", [(word, Inner), ("more", list[Inner])])  # noqa: N806  # likewise
    value = {word: {word: "x"}, "more": [{word: "y"}]}
    assert schema_of(Outer)["properties"][word]["properties"] == {word: {"type": "string"}}
    assert schema_of(Outer)["required"] == [word, "more"]
    codec = Codec(Outer)
    assert codec.decode(value) == Outer(Inner("x"), [Inner("y")])
    assert codec.encode(codec.decode(value)) == value


@pytest.mark.parametrize("annotation", [Everywhere, Level, Loose, Coordinates, dict[str, U1 | U2]])
def test_no_titles_are_made_up(annotation):
    """fastmcp #412."""
    assert not any("title" in part for part in objects_in(schema_of(annotation)))


@dataclass
class Described:
    """What is described, and how.

    Args:
        plain: From the docstring,
            over two lines.
        nullable: Behind a null.
    Keyword Args:
        extra: From the second section.
    """

    plain: str
    nullable: int | None
    annotated: Annotated[str, "Plain text in Annotated"]
    either: Annotated[int | None, "Null means all"] = 5
    extra: str = ""


@dataclass
class Unset:
    """Right below, without a blank line.
    Args:
        a: The first.
        b: The second
            has two lines.
    """

    a: int
    b: int


@dataclass
class Nesting:
    inner: Described
    many: list[Unset]
    either: Described | Unset | None = None


def descriptions(schema):
    return {key: part.get("description") for key, part in schema["properties"].items()}


DESCRIBED = {
    "plain": "From the docstring, over two lines.",
    "nullable": "Behind a null.",
    "annotated": "Plain text in Annotated",
    "either": "Null means all",
    "extra": "From the second section.",
}


def test_descriptions_of_keyword_args_are_kept():
    """openai-agents #4985."""
    assert descriptions(schema_of(Described))["extra"] == DESCRIBED["extra"]


def test_descriptions_of_nested_fields_are_kept():
    """langchain #32249, #31808."""
    properties = schema_of(Nesting)["properties"]
    assert descriptions(properties["inner"]) == DESCRIBED
    assert descriptions(properties["many"]["items"]) == {"a": "The first.", "b": "The second has two lines."}
    assert descriptions(properties["either"]["anyOf"][0]) == DESCRIBED


def test_args_without_a_blank_line_before_them_are_read():
    """openai-agents #3832."""
    assert descriptions(schema_of(Unset)) == {"a": "The first.", "b": "The second has two lines."}


def test_descriptions_of_several_lines_are_not_cut():
    """llama_index #22687."""
    assert descriptions(schema_of(Described))["plain"] == DESCRIBED["plain"]


def test_descriptions_of_nullable_fields_stand_beside_any_of():
    """msgspec #846."""
    either = schema_of(Described)["properties"]["either"]
    assert either["description"] == "Null means all"
    assert "anyOf" in either
    assert not any("description" in member for member in either["anyOf"])


def test_plain_text_in_annotated_describes_a_field_of_a_dataclass():
    assert schema_of(Described)["properties"]["annotated"] == {
        "type": "string",
        "description": "Plain text in Annotated",
    }


def test_typed_dicts_of_the_standard_library_are_taken():
    assert schema_of(Loose) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "note": {"type": "string"},
            "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["name"],
    }


def test_nested_dataclasses_arrive_as_instances():
    value = decode(Everywhere, FULL)
    assert isinstance(value.nested, U1)
    assert isinstance(value.items[0], U1)
    assert isinstance(value.table["k"], U1)
    assert isinstance(value.pair[0], U1)
    assert isinstance(value.pair[1], Coordinates)
    assert isinstance(value.maybe, U1)
    assert schema_of(Everywhere)["properties"]["nested"]["type"] == "object"


def test_fields_with_a_default_are_not_required():
    @dataclass
    class Defaults:
        a: int
        b: int = 1
        c: list[int] = field(default_factory=list)
        d: int | None = None

    assert schema_of(Defaults)["required"] == ["a"]
    assert decode(Defaults, {"a": 1}) == Defaults(1)


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)
    by_name: dict[str, Tree] = field(default_factory=dict)
    parent: Tree | None = None


@pytest.mark.parametrize("annotation", [Tree, Json, list[Tree], dict[str, Json]])
def test_recursive_types_have_a_definition_and_an_end(annotation):
    """langchain #32511."""
    schema = schema_of(annotation)
    assert len(schema["$defs"]) == 1
    assert {} not in list(objects_in(schema))
    assert len(json.dumps(schema)) < 2000


def test_recursive_values_decode():
    value = {"value": 1, "children": [{"value": 2, "by_name": {"k": {"value": 3}}}]}
    assert decode(Tree, value) == Tree(1, [Tree(2, [], {"k": Tree(3)})])
    assert codes(Tree, {"value": 1, "children": [{"value": "x"}]}) == ["wrong_type"]
    assert decode(Json, [1, {"a": [None, True]}]) == [1, {"a": [None, True]}]
