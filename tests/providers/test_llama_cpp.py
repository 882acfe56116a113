"""llama.cpp makes a grammar of a schema, and drops or refuses what it can't: that isn't sent."""

import re
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import pytest
from hypothesis import given, reject
from offers import offer_of
from strategies import DATACLASSES

from operator_schema import SchemaError, SchemaLeaf, Toolset, tool, tool_input
from operator_schema.json_values import JSON_TYPES
from operator_schema.providers import llama_cpp
from operator_schema.schema.plain_patterns import plain_pattern


def sent(annotation, *, strict=False):
    """Return the schema of a tool with one parameter of this type, and of the parameter."""

    def use(value):
        """Use it."""

    use.__annotations__ = {"value": annotation, "return": None}
    (one,) = llama_cpp.request(offer_of([tool(use)], strict=strict))["tools"]
    return one["function"]["parameters"], one["function"]["parameters"]["properties"]["value"]


def parts_of(schema):
    """List a schema and all schemas in it."""
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    inner += [*schema.get("anyOf", ()), *schema.get("prefixItems", ())]
    inner += [
        found for key in ("items", "additionalProperties") if isinstance(found := schema.get(key), dict)
    ]
    return [schema, *[part for one in inner for part in parts_of(one)]]


KNOWN = {
    *("type", "anyOf", "$ref", "enum", "items", "prefixItems", "minItems", "maxItems", "$defs"),
    *("properties", "required", "additionalProperties", "title", "description", "default", "examples"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("pattern", "format"),
}


@given(DATACLASSES)
def test_whatever_the_type_only_what_its_grammars_hold_is_sent(annotation):
    try:
        made = tool_input(annotation, name="made", description="Made.")
    except SchemaError:
        reject()  # it isn't an object
    for strict in (False, True):
        try:
            (one,) = llama_cpp.request(offer_of([made], strict=strict))["tools"]
        except SchemaError:
            assert strict  # what somebody's own leaf says is weakened otherwise
            continue
        for part in parts_of(one["function"]["parameters"]):
            assert part.keys() <= KNOWN
            assert part.keys() & {"type", "anyOf", "$ref"}
            assert isinstance(part.get("type", ""), str)
            assert plain_pattern(part.get("pattern", "^a$")) == part.get("pattern", "^a$")
            assert all(re.fullmatch("def-[A-Za-z0-9-]+", name) for name in part.get("$defs", ()))
            assert "properties" not in part or part["additionalProperties"] is not None


@pytest.mark.parametrize("strict", [False, True])
def test_a_value_of_any_type_lists_all_types(strict):
    """Nothing but a description is refused by older versions, and an empty schema is read as an object."""
    _, schema = sent(Annotated[Any, "Whatever there is."], strict=strict)
    assert schema["description"] == "Whatever there is."
    assert {member["type"] for member in schema["anyOf"]} == set(JSON_TYPES) - {"integer"}  # a number


def test_a_leaf_that_it_cannot_hold_becomes_an_array_of_whatever_items():
    leaf = SchemaLeaf(
        Point, {"type": "array", "contains": {"type": "null"}}, Point, lambda _: [None], Point()
    )
    _, schema = sent(Annotated[Point, leaf])
    assert schema["type"] == "array"
    assert len(schema["items"]["anyOf"]) == len(JSON_TYPES) - 1
    assert '"contains"' in schema["description"]


class Point:
    """Whatever a leaf reads."""

    def __init__(self, _value=None):
        """Make one."""


def test_what_it_drops_is_described():
    report = llama_cpp.report([tool_input(Order)])
    lost = {loss.path: (loss.code, loss.keyword) for loss in report.tools[0].losses}
    assert lost == {
        ("tags",): ("described", "uniqueItems"),
        ("rows",): ("described", "propertyNames"),
        ("code",): ("described", "pattern"),
        ("far",): ("described", "minimum"),
        ("note",): ("described", "minLength"),
    }
    assert report.is_accepted


@dataclass
class Limit:
    ge: int | None = None
    min_length: int | None = None


@dataclass
class Order:
    """An order."""

    tags: set[str]
    rows: dict[int, str]
    code: Annotated[str, re.compile("[A-Z]{3}")]
    far: Annotated[int, Limit(ge=-(10**15))]
    note: Annotated[str, Limit(min_length=1001)]
    near: Annotated[int, Limit(ge=1 - 10**15)]
    zone: Annotated[str, re.compile(r"^\w+/\d{2}$")]


def test_what_it_takes_in_another_form_is_written_so():
    (one,) = llama_cpp.request([tool_input(Order)])["tools"]
    properties = one["function"]["parameters"]["properties"]
    assert properties["zone"] == {"type": "string", "pattern": "^[0-9A-Z_a-z]+/[0-9]{2}$"}
    assert properties["near"] == {"type": "integer", "minimum": 1 - 10**15}


@dataclass
class Tree_Node:  # noqa: N801  # older versions know no underscore in the name of a rule
    """A node."""

    children: list["Tree_Node"]


def test_a_recursive_type_has_a_name_that_no_rule_of_a_grammar_has():
    root, schema = sent(list[Tree_Node])
    assert schema["items"] == {"$ref": "#/$defs/def-Tree-5f-Node"}
    assert list(root["$defs"]) == ["def-Tree-5f-Node"]


def test_one_tool_is_required_by_offering_it_alone():
    """A choice that isn't a text would be read as "auto"."""
    toolset = Toolset(tool_input(Order, name="one"), tool_input(Order, name="two"))
    body = llama_cpp.request(toolset.offer(required="one"))
    assert [one["function"]["name"] for one in body["tools"]] == ["one"]
    assert body["tool_choice"] == "required"


# --- patterns ------------------------------------------------------------------------------------

PIECES = ["a", ".", "-", "[a-c]", "[^a]", r"\d", "(", "|", ")", "+", "{2}", "$", "^"]
TEXTS = ["".join(text) for length in range(4) for text in product('a2-"', repeat=length)]


def test_a_pattern_in_the_form_of_grammars_takes_the_same_texts():
    found = 0
    for length in range(4):
        for pieces in product(PIECES, repeat=length):
            pattern = f"^{''.join(pieces)}$"
            plain = plain_pattern(pattern)
            if plain is None:
                continue
            found += 1
            assert plain_pattern(plain) == plain
            taken = [text for text in TEXTS if re.search(pattern, text)]
            assert taken == [text for text in TEXTS if re.fullmatch(plain[1:-1], text)]
            assert not any('"' in text for text in taken)
    assert found > 100


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        (r"^\d{4}-\d{2}$", "^[0-9]{4}-[0-9]{2}$"),
        (r"^(?:ab|c)?[+]{1,3}x*y{2,}$", "^(ab|c)?[+]{1,3}[x]*[y]{2,}$"),
        (r"^[\w.-]+@a\.b$", "^[.0-9A-Z_a-z-]+@a[.]b$"),
        (r"^[ä-ü]$", "^[ä-ü]$"),
        ("^[--/]$", "^[.-/-]$"),
        ("^(a(b{2}c){3})$", "^a([b]{2}c){3}$"),
        ("[A-Z]{3}", None),  # only a part of a text
        ("^a|b$", None),  # each of them at one end
        ("^a", None),
        ("^$", None),
        ("^(a|)$", None),
        ("^a{0}$", None),
        ("^a{501}$", None),
        ("^.$", None),  # a quotation mark, too
        (r"^\s$", None),  # JSON writes a tab with a backslash
        (r"^\^$", None),  # a class of it alone would be the opposite of nothing
        (r"^[[-a]$", None),
        (r"^(?=a)a$", None),
        (r"^\ba$", None),
        (r"^(a)\1$", None),
        ("^(a$", None),
    ],
)
def test_patterns_that_have_such_a_form(pattern, plain):
    assert plain_pattern(pattern) == plain
