"""What providers take of JSON Schema in any mode, and dialects of your own."""

import enum
import json
from dataclasses import dataclass, field, make_dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Gt, Le, MaxLen, MinLen
from counted_keys import comparisons_of
from hypothesis import given, reject
from hypothesis import strategies as st
from offers import offer_of
from patience import assert_takes
from strategies import OBJECTS
from test_strict import assert_within

from operator_schema import Codec, SchemaError, SchemaLeaf, tool, tool_input
from operator_schema.engine import DocumentCodec, SchemaDocument, UnionNode
from operator_schema.providers import (
    Dialect,
    anthropic,
    cohere,
    deepseek,
    gemini,
    gemini_parameters,
    ollama,
    openai_chat,
    xai,
)
from operator_schema.schema.dialect_renderer import DialectRenderer, dialect_schema, lost
from operator_schema.schema.dialect_writing import leaf_schema
from operator_schema.schema.openapi_form import openapi_schema
from operator_schema.schema.request_sizes import over_limits, size_of
from operator_schema.tools import document_tool

ALWAYS = [gemini_parameters, ollama, xai]


@dataclass
class Node:
    """A node."""

    value: int
    below: list["Node"]


@dataclass
class Order:
    """An order.

    Attributes:
        size: How large.
    """

    size: Literal[1, 2]
    color: Literal["red", "blue"] | None
    amounts: dict[str, int]
    place: tuple[int, str]
    extra: Any
    tree: Node
    either: int | str
    count: Annotated[int, Gt(3), Le(9)] = 5
    until: datetime | None = None
    words: list[Annotated[str, MaxLen(3)]] = field(default_factory=list)


SOME_TYPES = [{"type": kind} for kind in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")]
ORDER = tool_input(Order, name="order", description="Order.")


def properties_for(provider, strict=False):
    (sent,) = provider.request(offer_of([ORDER], strict=strict))["tools"]
    sent = sent.get("functionDeclarations", [sent])[0].get("function", sent)
    sent = sent.get("functionDeclarations", [sent])[0]
    return sent["parameters"]["properties"]


def test_gemini_gets_parameters_in_openapis_form():
    assert properties_for(gemini_parameters) == {
        "size": {"type": "INTEGER", "description": "How large. (one of [1,2])"},
        "color": {"type": "STRING", "enum": ["red", "blue"], "format": "enum"},
        "amounts": {
            "type": "OBJECT",
            "description": 'Any keys, each with a value like {"type":"integer"}.',
        },
        "place": {
            "type": "ARRAY",
            "items": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]},
            "minItems": 2,
            "maxItems": 2,
            "description": "Each place has its own type.",
        },
        "extra": {
            "anyOf": [
                {"type": "STRING", "description": "Any JSON value."},
                *SOME_TYPES[1:],
                {"type": "ARRAY", "items": {"anyOf": SOME_TYPES}},
            ]
        },
        "tree": {
            "type": "OBJECT",
            "properties": {
                "value": {"type": "INTEGER"},
                "below": {
                    "type": "ARRAY",
                    "items": {"type": "OBJECT", "description": "A Node, which may be inside itself."},
                },
            },
            "required": ["value", "below"],
            "propertyOrdering": ["value", "below"],
            "description": "A node.",
        },
        "either": {"anyOf": [{"type": "INTEGER"}, {"type": "STRING"}]},
        "count": {"type": "INTEGER", "maximum": 9, "description": "More than 3; default 5."},
        "until": {
            "type": "STRING",
            "format": "date-time",
            "description": "date, time and UTC offset, such as 2026-01-31T09:30:00+01:00",
        },
        "words": {"type": "ARRAY", "items": {"type": "STRING", "maxLength": 3}},
    }


def test_null_is_nullable_in_openapis_form():
    @tool
    def note(
        text: str | None,
        either: Annotated[int | str | None, "What it is about."] = 3,
        choice: Literal["a", None] = "a",
        nothing: None = None,
    ) -> str:
        """Note."""
        return f"{text} {either} {choice} {nothing}"

    (declaration,) = gemini_parameters.request([note])["tools"][0]["functionDeclarations"]
    assert declaration["parameters"]["properties"] == {
        "text": {"type": "STRING"},
        "either": {
            "anyOf": [
                {"type": "INTEGER", "nullable": True, "description": "What it is about. (default 3)"},
                {"type": "STRING", "nullable": True},
            ]
        },
        "choice": {
            "type": "STRING",
            "enum": ["a"],
            "format": "enum",
            "nullable": True,
            "description": "Default a.",
        },
        "nothing": {"type": "NULL"},
    }


def test_a_lenient_dialect_says_less_and_lists_it():
    losses = dialect_schema(ORDER.codec, xai.always, "order", "xAI").losses
    assert losses == (
        lost(("extra",), "weakened", "type", "order", "xAI"),
        lost(("tree", "below", "*"), "weakened", "type", "order", "xAI"),
        lost(("count",), "described", "default", "order", "xAI"),
    )
    assert properties_for(xai)["place"] == {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    }
    with pytest.raises(SchemaError, match="it takes a value of any type, which the strict mode of xAI"):
        xai.request(offer_of([ORDER], strict=True))


def test_ollama_gets_in_words_what_it_drops():
    properties = properties_for(ollama)
    assert properties["count"] == {"type": "integer", "description": "More than 3; at most 9; default 5."}
    assert properties["extra"] == {}
    assert properties["words"]["items"] == {"type": "string", "description": "At most 3 characters."}


@given(OBJECTS, st.sampled_from(ALWAYS))
def test_what_a_provider_takes_always_is_never_refused_but_for_names(annotation, provider):
    try:
        codec = Codec(annotation)
    except SchemaError:
        reject()
    found = dialect_schema(codec, provider.always, "tool", provider.name)
    if isinstance(codec.graph.resolve_root(), UnionNode):
        assert [complaint.code for complaint in found.complaints] == ["unsupported"]
        return
    assert all(complaint.message.startswith("the property is called") for complaint in found.complaints)
    if not found.complaints:
        assert_within(found.schema, provider.always)
        json.dumps(found.schema)


def test_what_a_weak_schema_lets_through_is_still_checked():
    with pytest.raises(ValueError, match="amounts"):
        ORDER.decode(
            {
                "size": 1,
                "amounts": {"a": "x"},
                "place": [1, "a"],
                "extra": 1,
                "tree": {"value": 1, "below": []},
                "either": 1,
            }
        )


# --- single dialects ---------------------------------------------------------------------------------


def test_cohere_requires_one_property_of_each_object():
    @dataclass
    class Filter:
        """A filter."""

        language: str = "en"
        year: int | None = None

    @tool
    def search(filter: Filter, limit: int = 5) -> str:  # noqa: A002  # a word of the domain
        """Search."""
        return f"{filter} {limit}"

    body = cohere.request(offer_of([search], strict=True))
    assert body["strict_tools"] is True
    assert body["tools"][0]["function"]["parameters"]["properties"]["filter"] == {
        "type": "object",
        "properties": {
            "language": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Default en."},
            "year": {"type": "integer"},
        },
        "required": ["language"],
        "description": "A filter.",
    }
    function = {"name": "search", "arguments": '{"filter": {"language": null}}'}
    response = {"message": {"tool_calls": [{"id": "1", "type": "function", "function": function}]}}
    (call,) = cohere.calls(response, offer_of([search], strict=True))
    assert search.decode(call.arguments).filter == Filter()


def test_names_of_properties_that_a_provider_refuses():
    @dataclass
    class Row:
        """A row."""

        price: Annotated[int, "In cents."] = field(metadata={"alias": "price (cents)"})

    row = tool_input(Row)
    assert "price (cents)" in row.input_schema()["properties"]
    wire = anthropic.rules.keys.wire_name("price (cents)")
    for strict in (False, True):
        sent = anthropic.request(offer_of([row], strict=strict))["tools"][0]["input_schema"]
        assert sent["properties"] == {wire: {"type": "integer", "description": "In cents."}}
        assert sent["required"] == [wire]
        content = [{"type": "tool_use", "id": "t", "name": "row", "input": {wire: 3}}]
        (call,) = anthropic.calls(
            {"content": content, "stop_reason": "tool_use"}, offer_of([row], strict=strict)
        )
        assert row.decode(call.arguments) == Row(3)


def test_schemas_of_leaves_are_taken_as_far_as_the_dialect_says_them():
    def leaf(schema):
        sample = {"amount": 1, "tags": []}
        return SchemaLeaf(Decimal, schema, lambda _: Decimal(1), lambda _: sample, Decimal(1))

    money = leaf(
        {
            "type": "object",
            "properties": {
                "amount": {"type": "integer", "minimum": 0, "description": "In cents."},
                "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            },
            "required": ["amount", "tags"],
        }
    )
    partial = leaf({"type": "object", "properties": {"amount": {"type": "integer"}}})

    def sent(provider, of):
        pay = tool_input(dataclass(type("Pay", (), {"__annotations__": {"money": Annotated[Decimal, of]}})))
        return provider.request(offer_of([pay], strict=True))["tools"][0]

    schema = sent(openai_chat, money)["function"]["parameters"]["properties"]["money"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["amount"] == {"type": "integer", "minimum": 0, "description": "In cents."}
    assert sent(anthropic, money)["input_schema"]["properties"]["money"]["properties"]["amount"] == {
        "type": "integer",
        "description": "In cents. (at least 0)",
    }
    assert sent(anthropic, partial)["input_schema"]["properties"]["money"]["properties"]
    with pytest.raises(SchemaError, match=r"money\.amount .* its schema lets it be left out, which"):
        sent(openai_chat, partial)


def test_gemini_validates_in_its_strict_mode():
    (sent,) = gemini.request([tool_input(Node, name="grow")])["tools"][0]["functionDeclarations"]
    assert "$defs" in sent["parametersJsonSchema"]

    @tool
    def count(values: dict[str, int]) -> str:
        """Count."""
        return str(values)

    body = gemini.request(offer_of([count], strict=True))
    assert body["toolConfig"]["functionCallingConfig"] == {"mode": "VALIDATED"}


def test_characters_of_names_and_choices_are_counted():
    many = {"type": "string", "enum": [f"value number {place:04}" for place in range(900)]}
    schema = {"type": "object", "properties": {"choice": many}, "required": ["choice"]}
    assert over_limits(openai_chat.dialect, [size_of(schema)]) == [
        "15,300 characters in an enum of more than 250 values, but a request takes only 15,000"
    ]
    long = {"type": "object", "properties": {"x" * 120_001: {"type": "string"}}}
    assert over_limits(openai_chat.dialect, [size_of(long)]) == [
        "120,001 characters in names of properties and values of enums, but a request takes only 120,000"
    ]


# --- size and time -----------------------------------------------------------------------------------


@dataclass
class Not:
    """A negation."""

    inner: "Expression"
    op: Literal["not"] = "not"


@dataclass
class Twice:
    """A doubling."""

    inner: "Expression"
    op: Literal["twice"] = "twice"


Expression = Not | Twice | int


def response_with(name, arguments):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": text}}
    return {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}


def test_nested_unions_are_cleaned_in_time():
    @tool
    def evaluate(expression: Expression) -> str:
        """Evaluate."""
        return str(expression)

    for end in (5, "bad"):
        value = end
        for _ in range(40):
            value = {"inner": value, "op": "twice"}

        def read(value: Any) -> None:
            (call,) = openai_chat.calls(
                response_with("evaluate", {"expression": value}), offer_of([evaluate], strict=True)
            )
            assert call.arguments == {"expression": value}

        assert_takes(5, partial(read, value))


def test_a_tag_cant_be_left_out_in_a_strict_mode():
    @tool
    def evaluate(expression: Not | Twice) -> str:
        """Evaluate."""
        return str(expression)

    schema = openai_chat.request(offer_of([evaluate], strict=True))["tools"][0]["function"]["parameters"]
    for member in schema["$defs"].values():
        tag = member["properties"]["op"]
        assert (tag["type"], len(tag["enum"])) == ("string", 1)


def test_types_that_contain_each_other_are_written_out_once():
    names = [f"N{number}" for number in range(8)]
    made = {}
    for name in names:
        fields = [(f"f_{other}", f"{other} | None", field(default=None)) for other in names]
        made[name] = make_dataclass(name, fields, namespace={"__module__": __name__})
    globals().update(made)
    entrance = made[names[0]]
    try:

        @tool
        def meet(first: entrance) -> str:
            """Meet."""
            return str(first)

        for provider in ALWAYS:
            assert provider.report([meet]).size < 20_000
    finally:
        for name in names:
            del globals()[name]


def test_a_schema_that_is_too_large_without_references_is_refused():
    made = make_dataclass("B0", [("value", int)])
    for number in range(1, 14):
        made = make_dataclass(f"B{number}", [("left", made), ("right", made)])

    @tool
    def grow(tree: made) -> str:
        """Grow."""
        return str(tree)

    (report,) = gemini_parameters.report([grow]).tools
    assert "its schema is too large" in report.refused[0].message


def test_losses_inside_definitions_have_the_path_of_their_first_use():
    @tool
    def plant(root: Shrub, number: int = 3) -> str:
        """Plant."""
        return f"{root} {number}"

    (report,) = openai_chat.report([plant], strict=True).tools
    assert {loss.path for loss in report.losses} == {("root", "below"), ("number",)}
    assert {loss.path for loss in report.losses} <= set(report.paths)
    (refused,) = anthropic.report([plant], strict=True).tools
    assert [complaint.path for complaint in refused.refused] == [("root",)]


@dataclass
class Shrub:
    """A shrub."""

    value: int
    below: list["Shrub"] = field(default_factory=list)


def test_a_key_that_is_there_twice_is_still_told():
    @tool
    def add(x: int = 1, y: int = 1) -> str:
        """Add."""
        return f"{x} {y}"

    response = response_with("add", '{"x": 1, "x": 2, "y": null}')
    (call,) = openai_chat.calls(response, offer_of([add], strict=True))
    with pytest.raises(ValueError, match="more than once"):
        add.decode(call.arguments)


LIST = {"type": "array", "items": {"type": "string"}}
OBJECT = {"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "string"}}}
BEYOND = [
    {**LIST, "contains": {"const": "x"}},
    {**LIST, "contains": {}, "minContains": 2},
    {**LIST, "not": {"const": []}},
    {**LIST, "if": {"minItems": 2}, "then": {"maxItems": 3}},
    {**OBJECT, "dependentRequired": {"b": ["c"]}},
    {**OBJECT, "dependentSchemas": {"b": {"required": ["c"]}}},
    {**OBJECT, "patternProperties": {"^x": {"type": "integer"}}},
    {**OBJECT, "unevaluatedProperties": False},
    {"type": ["string", "integer"], "oneOf": [{"minLength": 2}, {"minimum": 3}]},
]


@pytest.mark.parametrize(
    ("provider", "strict"),
    [(xai, False), (gemini_parameters, False), (openai_chat, True), (anthropic, True), (cohere, True)],
    ids=["xAI", "Gemini", "OpenAI", "Anthropic", "Cohere"],
)
@pytest.mark.parametrize("schema", BEYOND, ids=lambda schema: list(schema)[-1])
def test_what_a_document_says_beyond_the_graph_is_weakened_or_refused(schema, provider, strict):
    def find(arguments: dict[str, Any]) -> str:
        """Find."""
        return str(arguments)

    found = document_tool(find, {"type": "object", "properties": {"a": schema}}, name="find")
    (report,) = provider.report([found], strict=strict).tools
    assert report.refused or "weakened" in report.fate_of(("a",))


# --- tags and exact numbers ------------------------------------------------------------------------


@dataclass
class ByDay:
    """Once a day."""

    hour: int
    kind: Literal["day"] = "day"


@dataclass
class ByWeek:
    """Once a week."""

    weekday: int
    kind: Literal["week"] = "week"


@pytest.mark.parametrize("provider", [anthropic, cohere, deepseek, gemini, openai_chat, xai])
def test_a_tag_is_required_and_says_its_value_once(provider):
    @tool
    def plan(when: ByDay | ByWeek) -> str:
        """Plan it."""
        return str(when)

    report = provider.report([plan], strict=True)
    assert {loss.path for loss in report.tools[0].losses} == set()
    sent = json.dumps(provider.request(offer_of([plan], strict=True)))
    assert '["hour", "kind"]' in sent
    assert '["weekday", "kind"]' in sent
    assert "efault" not in sent


def test_a_lenient_dialect_requires_no_tag():
    @tool
    def plan(when: ByDay) -> str:
        """Plan it."""
        return str(when)

    assert '["hour"]' in json.dumps(ollama.request([plan]))


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((MinLen(3), MaxLen(3)), "Exactly 3 items."),
        ((MinLen(3), MaxLen(4)), "At least 3 items; at most 4 items."),
        ((MinLen(3),), "At least 3 items."),
        ((MaxLen(3),), "At most 3 items."),
        ((MaxLen(1),), "At most 1 item."),
    ],
)
def test_an_exact_number_is_said_once(limits, words):
    found = tool_input(make_dataclass("Input", [("rows", Annotated[list[str], *limits])]))
    (sent,) = anthropic.request(offer_of([found], strict=True))["tools"]
    assert sent["input_schema"]["properties"]["rows"]["description"] == words
    told = [loss.keyword for loss in anthropic.report([found], strict=True).tools[0].losses]
    assert told == [word for word in ("minItems", "maxItems") if word in str(found.input_schema())]


def test_an_exact_length_of_one_is_singular():
    found = tool_input(make_dataclass("Input", [("code", Annotated[str, MinLen(1), MaxLen(1)])]))
    (sent,) = anthropic.request(offer_of([found], strict=True))["tools"]
    assert sent["input_schema"]["properties"]["code"]["description"] == "Exactly 1 character."


# --- schemas of leaves -----------------------------------------------------------------------------


class Thing:
    """What a leaf reads."""


def thing(schema):
    """Return a tool with one parameter, of a leaf with this schema."""
    sample = DocumentCodec(SchemaDocument("Thing", schema, is_arguments=False)).example()
    leaf = SchemaLeaf(Thing, schema, lambda _: Thing(), lambda _: sample, Thing())
    made = make_dataclass("Input", [("thing", Annotated[Thing, leaf])])
    return tool_input(made, name="use", description="Use a thing.")


def sent_for(provider, of, strict):
    body = provider.request(offer_of([of], strict=strict))["tools"][0]
    found = body["functionDeclarations"][0] if "functionDeclarations" in body else body.get("function", body)
    keys = ("parameters", "parametersJsonSchema", "input_schema")
    (schema,) = [found[key] for key in keys if key in found]
    return schema["properties"]["thing"]


FREE = {"type": "object", "additionalProperties": {"type": "integer"}}


@pytest.mark.parametrize("provider", [openai_chat, anthropic, deepseek, cohere])
@pytest.mark.parametrize(
    "schema", [FREE, {"type": "object"}, {"type": "object", "additionalProperties": True}]
)
def test_a_leaf_with_free_keys_is_refused_where_maps_are(provider, schema):
    with pytest.raises(SchemaError, match="its schema is an object with free keys, which the strict mode of"):
        provider.request(offer_of([thing(schema)], strict=True))


@pytest.mark.parametrize("provider", [gemini, xai])
def test_a_leaf_with_free_keys_is_taken_where_maps_are(provider):
    assert sent_for(provider, thing(FREE), strict=True) == FREE


def test_levels_of_a_leaf_are_counted_down_again():
    deep = {"type": "string"}
    for _ in range(47):
        deep = {"type": "array", "items": deep}
    sides = {f"side_{number}": {"type": "string"} for number in range(60)}
    names = [*sides, "deep"]
    around = {"type": "object", "properties": {**sides, "deep": deep}, "required": names}
    assert gemini.report([thing(around)], strict=True).is_accepted
    around["properties"]["deep"] = {"type": "array", "items": {"type": "array", "items": deep}}
    (refused,) = gemini.report([thing(around)], strict=True).tools[0].refused
    assert refused.message.startswith("its schema nests more than 50 levels, ")


def test_a_leaf_that_a_lenient_dialect_cant_say_keeps_its_types():
    several = thing({"type": ["string", "array"], "weird": 1})
    first, second = sent_for(gemini_parameters, several, strict=False)["anyOf"]
    assert (first["type"], second["type"], second["items"]["anyOf"][:4]) == ("STRING", "ARRAY", FLAT)
    assert (
        sent_for(gemini_parameters, thing({"type": "string", "weird": 1}), strict=False)["type"] == "STRING"
    )


FLAT = [{"type": kind} for kind in ("STRING", "NUMBER", "BOOLEAN", "OBJECT")]


def test_choices_of_several_types_say_the_type_of_each():
    def sent(choices, provider=openai_chat):
        made = make_dataclass("Input", [("thing", choices)])
        return sent_for(provider, tool_input(made, name="use", description="Use it."), strict=True)

    assert sent(Literal["a", None]) == {"type": ["string", "null"], "enum": ["a", None]}
    assert sent(Literal["a", None], deepseek) == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null", "enum": [None]}]
    }
    assert sent(Literal["a", 1]) == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}]
    }
    assert [one["type"] for one in sent(Literal["a", 1, None])["anyOf"]] == ["string", "integer", "null"]


def test_any_value_has_free_keys_where_maps_are_taken():
    @tool
    def use(thing: Any) -> str:
        """Use a thing."""
        return str(thing)

    flat = [{"type": kind} for kind in ("string", "number", "boolean")]
    flat.append({"type": "object", "additionalProperties": True})
    assert sent_for(xai, use, strict=False)["anyOf"] == [*flat, {"type": "array", "items": {"anyOf": flat}}]


def test_nulls_are_left_out_after_a_key_that_is_missing():
    @tool
    def add(first: int = 1, second: int = 2, third: int = 3) -> str:
        """Add them."""
        return str(first + second + third)

    function = {"name": "add", "arguments": '{"second": null, "third": null}'}
    message = {"tool_calls": [{"id": "1", "type": "function", "function": function}]}
    response = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert openai_chat.calls(response, offer_of([add], strict=True))[0].arguments == {}


# --- documents of others -----------------------------------------------------------------------------


BEYOND = {
    "type": "object",
    "required": ["numbers", "name"],
    "minProperties": 2,
    "properties": {
        "numbers": {"type": "array", "items": {"type": "integer", "not": {"const": 0}}, "uniqueItems": True},
        "name": {"description": "Of the shop", "allOf": [{"type": "string"}, {"minLength": 2}]},
        "a/b~c": {"type": "integer", "not": {"const": 3}},
        "more": {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/Size"}},
            "additionalProperties": False,
            "minProperties": 1,
        },
    },
    "$defs": {"Size": {"type": "integer", "not": {"const": 4}}},
}


@pytest.mark.parametrize("provider", [anthropic, gemini, openai_chat, deepseek], ids=repr)
def test_what_a_document_says_beyond_the_dialect_is_told_where_it_is_said(provider):
    def ask(arguments: dict[str, object]) -> str:
        """Ask."""
        return str(arguments)

    asked = document_tool(ask, BEYOND)
    text = json.dumps(provider.request(offer_of([asked], strict=True))["tools"], ensure_ascii=False)
    for words in (
        "No two items the same.",
        "Of the shop (at least 2 characters)",
        'Fits the JSON Schema {\\"not\\":{\\"const\\":3}}.',
        'Fits the JSON Schema {\\"not\\":{\\"const\\":0}}.',
        "At least 1 key.",
        'Size: fits the JSON Schema {\\"not\\":{\\"const\\":4}}',
        "t least 2 keys",
    ):
        assert text.count(words) == 1, (words, text)
    assert "allOf" not in text


def test_what_is_used_often_has_a_definition_and_what_contains_itself_is_written_out():
    made = make_dataclass("B0", [("value", int)])
    for number in range(1, 14):
        made = make_dataclass(f"B{number}", [("left", made), ("right", made)])

    @tool
    def grow(tree: made, node: Node) -> str:
        """Grow."""
        return f"{tree} {node}"

    request = xai.request(offer_of([grow]))
    (schema,) = [written["parameters"] for written in request["tools"]]
    assert {f"B{number}" for number in range(1, 12)} <= schema["$defs"].keys()
    assert "Node" not in schema["$defs"]
    assert '"#/$defs/Node"' not in json.dumps(schema)


def test_no_strict_tools_are_within_all_limits():
    assert over_limits(openai_chat.dialect, []) == []


def test_what_no_dialect_knows_is_refused_whoever_writes_it(monkeypatch):
    monkeypatch.setattr(DialectRenderer, "schema", lambda *_: {"type": "integer", "x-unknown": 1})
    made = dialect_schema(Codec(Node), openai_chat.dialect, "grow", "OpenAI")
    assert made.schema == {}
    assert 'its schema has the keyword "x-unknown"' in made.complaints[0].message


class Level(enum.IntEnum):
    LOW = 1


@dataclass
class Levels:
    level: Level
    nothing: Literal[None]


@pytest.mark.parametrize("provider", [gemini, openai_chat, xai], ids=lambda one: one.name)
def test_every_provider_gets_an_enum_and_what_is_always_null(provider):
    for dialect in (provider.always, provider.dialect):
        if dialect is not None:
            found = dialect_schema(Codec(Levels), dialect, "tool", provider.name)
            assert not found.complaints


def test_openapi_has_no_choice_of_null_alone():
    assert openapi_schema({"type": "string", "enum": [None]}) == {"type": "STRING"}


def test_each_key_of_a_leaf_is_looked_up_once():
    dialect = Dialect(keywords=frozenset(), formats=frozenset(), required="all")

    def write(schema):
        assert len(leaf_schema(schema, dialect, lambda found: found)["required"]) == 500

    assert comparisons_of(write, 500) <= 1000
