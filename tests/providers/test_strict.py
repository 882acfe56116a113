"""Strict modes: schemas in each dialect, and arguments back."""

import json
import re
from dataclasses import InitVar, dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from annotated_types import Ge, Le, MinLen
from hypothesis import given, reject
from hypothesis import strategies as st
from judge import validator
from offers import offer_of
from provider_traffic import exchanges
from strategies import OBJECTS

from operator_schema import Codec, SchemaError, SchemaLeaf, Toolset, tool, tool_input
from operator_schema.engine import json_types_of
from operator_schema.introspect.nodes import NULL, ArrayNode, LiteralNode, ObjectNode, UnionNode
from operator_schema.providers import (
    anthropic,
    cohere,
    deepseek,
    gemini,
    gemini_parameters,
    groq,
    openai_chat,
    openai_responses,
    xai,
)
from operator_schema.providers.nulls import without_nulls
from operator_schema.schema.dialect_renderer import dialect_schema, lost
from operator_schema.schema.request_sizes import over_limits, size_of
from operator_schema.testing import arguments

STRICT = [anthropic, cohere, deepseek, gemini, gemini_parameters, openai_chat, xai]
ALWAYS = {"type", "properties", "required", "items", "enum", "anyOf", "description", "title", "$ref", "$defs"}


def parts_of(schema):
    """List a schema and all schemas in it."""
    inner = [
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", ()),
    ]
    inner += schema.get("prefixItems", ())
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    return [schema, *[part for found in inner for part in parts_of(found)]]


def assert_within(schema, dialect):
    """Assert that a schema holds only what a dialect takes; one in OpenAPI's form has more in place of it."""
    openapi = {"nullable", "propertyOrdering"} if dialect.openapi else set()
    more = {"additionalProperties", "format", *openapi}
    most = dict(dialect.most)
    for part in parts_of(schema):
        assert part.keys() <= ALWAYS | dialect.keywords | more | (
            {"prefixItems"} if dialect.takes_tuples else set()
        )
        assert part.get("format") in {*dialect.formats, None, *({"enum"} if dialect.openapi else ())}
        assert all(part[keyword] <= number for keyword, number in most.items() if keyword in part)
        assert dialect.takes_type_lists or not isinstance(part.get("type"), list)
        assert dialect.takes_anything or part.keys() & {"type", "anyOf", "$ref"}
        assert isinstance(part.get("additionalProperties", False), bool) or dialect.takes_maps
        assert not dialect.text_choices or all(type(value) is str for value in part.get("enum", ()))
        if "properties" in part:
            assert part.get("additionalProperties") is False or dialect.closed != "always"
            if dialect.required == "all":
                assert list(part["properties"]) == part.get("required", [])
            assert dialect.required == "any" or not part["properties"] or part.get("required")
        assert "$ref" not in part or (len(part) == 1 and dialect.takes_references)
        assert not dialect.openapi or "anyOf" not in part or len(part) == 1


@given(OBJECTS, st.sampled_from(STRICT))
def test_a_schema_holds_only_what_the_dialect_takes(annotation, provider):
    try:
        codec = Codec(annotation)
    except SchemaError:
        reject()
    found = dialect_schema(codec, provider.dialect, "tool", f"the strict mode of {provider.name}")
    for complaint in found.complaints:
        assert complaint.message.endswith(f"which the strict mode of {provider.name} doesn't take")
    if found.complaints:
        return
    assert_within(found.schema, provider.dialect)


def others_of(schema):
    return [member for member in schema.get("anyOf", ()) if member.get("type") != "null"]


def is_tag(graph, field):
    node = graph.resolve(field.node)
    return isinstance(node, LiteralNode) and node.values == (field.default,)


def filled(graph, node, value):
    """Return a value with null for each property that isn't there, as a model sends it."""
    node = graph.resolve(node)
    if isinstance(node, UnionNode):
        others = [graph.resolve(member) for member in node.members if member is not NULL]
        return filled(graph, others[0], value) if len(others) == 1 and value is not None else value
    if isinstance(node, ArrayNode) and isinstance(value, list):
        return [filled(graph, node.items, item) for item in value]
    if not isinstance(node, ObjectNode) or not isinstance(value, dict):
        return value
    found = {}
    for one in node.fields:
        if one.key in value:
            found[one.key] = filled(graph, one.node, value[one.key])
        elif is_tag(graph, one):
            found[one.key] = one.default  # its only value: null is not taken
        elif "null" not in json_types_of(one.node, graph.definitions):
            found[one.key] = None
        elif one.default is None or type(one.default) in {str, int, float, bool}:
            found[one.key] = one.default  # null would mean None, so the model can't leave it out
        else:
            reject()
    return found


@pytest.mark.slow("draws hundreds of types")
@given(OBJECTS, st.data())
def test_what_a_model_sends_in_a_strict_mode_decodes_to_the_same(annotation, data):
    try:
        codec = Codec(annotation)
    except SchemaError:
        reject()
    found = dialect_schema(codec, openai_chat.dialect, "tool", "OpenAI")
    if found.complaints:
        reject()
    value = data.draw(arguments(codec))
    known = {one.key for one in codec.graph.resolve_root().fields}
    value = {key: inner for key, inner in value.items() if key in known}
    sent = filled(codec.graph, codec.graph.root, value)
    before = json.dumps(sent)
    cleaned = without_nulls(codec.graph, sent)
    assert json.dumps(sent) == before
    assert codec.encode(codec.decode(cleaned)) == codec.encode(codec.decode(value))
    # What can't be said any more is only left out, never changed.
    wide = [part for part in parts_of(found.schema) if len(others_of(part)) > 1]
    assert wide or validator(found.schema).is_valid(sent)


@dataclass
class Guest:
    """A guest."""

    name: str
    age: Annotated[int, Ge(0), Le(150)] = 30
    room: int | None = 7
    note: str | None = None


@tool
def invite(guests: list[Guest], host: Guest | None = None, seats: tuple[int, int] = (2, 4)) -> str:
    """Invite guests."""
    return f"{guests} {host} {seats}"


def test_a_property_that_may_be_left_out_takes_null():
    schema = openai_chat.request(offer_of([invite], strict=True))["tools"][0]["function"]["parameters"]
    assert schema["required"] == ["guests", "host", "seats"]
    guest = schema["properties"]["guests"]["items"]
    assert guest["required"] == ["name", "age", "room", "note"]
    assert guest["properties"]["age"] == {
        "type": ["integer", "null"],
        "minimum": 0,
        "maximum": 150,
        "description": "Default 30.",
    }
    assert guest["properties"]["note"] == {"type": ["string", "null"]}


def answer_of(arguments):
    call = {"id": "1", "type": "function", "function": {"name": "invite", "arguments": arguments}}
    return {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}


def test_null_comes_back_as_the_default():
    arguments = {
        "guests": [{"name": "Ada", "age": None, "room": None, "note": None}],
        "host": {"name": "Bob", "age": None, "room": 3, "note": None},
        "seats": None,
    }
    response = answer_of(json.dumps(arguments))
    (call,) = openai_chat.calls(response, offer_of([invite], strict=True))
    assert invite.decode(call.arguments) == invite.input_type(
        [Guest("Ada", 30, None, None)], Guest("Bob", 30, 3, None), (2, 4)
    )
    # Without the word, arguments are what the model sent.
    (call,) = openai_chat.calls(response, [invite])
    assert call.arguments == json.dumps(arguments)


@pytest.mark.parametrize("text", ['{"guests": [', "[1]", '"x"', "", None])
def test_arguments_of_another_form_stay_as_they_are(text):
    (call,) = openai_chat.calls(answer_of(text), offer_of([invite], strict=True))
    assert call.arguments == (text if text != "" else {})


def test_calls_of_unknown_tools_stay_as_they_are():
    (call,) = openai_chat.calls(answer_of('{"seats": null}'), offer_of([tool_input(Guest)], strict=True))
    assert call.arguments == '{"seats": null}'


@dataclass
class Cat:
    """A cat."""

    kind: Literal["cat"]
    lives: int = 9


@dataclass
class Dog:
    """A dog."""

    kind: Literal["dog"]
    tricks: int = 1


@tool
def adopt(pets: list[Cat | Dog]) -> str:
    """Adopt pets."""
    return str(pets)


def test_nulls_inside_a_union_are_left_out():
    sent = {
        "pets": [{"kind": "dog", "tricks": None}, {"kind": "cat", "lives": None}, {"kind": "cow", "x": None}]
    }
    cleaned = without_nulls(adopt.codec.graph, sent)
    assert cleaned == {"pets": [{"kind": "dog"}, {"kind": "cat"}, {"kind": "cow", "x": None}]}


@dataclass
class Byte:
    """A byte; nothing but the names of their fields distinguishes it from a word."""

    byte: int
    note: str = ""


@dataclass
class Word:
    """A word."""

    word: int
    note: str = ""


@pytest.mark.parametrize("key", ["byte", "word"])
def test_nulls_are_left_out_of_what_no_member_of_a_union_takes(key):
    """The problem is what the model wrote, and not the null that the strict mode asked for."""
    codec = Codec(list[Byte | Word])
    cleaned = without_nulls(codec.graph, [{key: "x", "note": None}])
    assert cleaned == [{key: "x"}]
    assert [problem.path for problem in codec.report(cleaned)] == [(0, key)]


def test_of_members_with_the_same_keys_the_one_with_fewer_problems_counts():
    @dataclass
    class Up:
        """Upwards; null isn't a speed, and left out it is 1."""

        way: Literal["up"]
        metres: int
        speed: int = 1

    @dataclass
    class Down:
        """Downwards; null is a speed."""

        way: Literal["down"]
        metres: int
        speed: int | None = 1

    sent = [{"way": way, "metres": "far", "speed": None} for way in ("up", "down")]
    cleaned = without_nulls(Codec(list[Up | Down]).graph, sent)
    assert cleaned == [{"way": "up", "metres": "far"}, {"way": "down", "metres": "far", "speed": None}]


@dataclass
class Ship:
    """A ship; only its own key, which may be left out, distinguishes it from a train."""

    name: str
    decks: int = 1


@dataclass
class Train:
    """A train."""

    name: str
    wagons: int = 9
    stops: list[str] = field(default_factory=list)


def test_a_member_that_only_its_null_distinguishes_stays_this_member():
    codec = Codec(list[Ship | Train])
    sent = [{"name": "a", "decks": None}, {"name": "b", "wagons": None, "stops": None}]
    cleaned = without_nulls(codec.graph, sent)
    assert codec.decode(cleaned) == [Ship("a"), Train("b")]
    assert cleaned[0] == {"name": "a", "decks": 1}


def test_a_null_that_nothing_can_replace_is_left_out():
    """What is only for `__init__` can't be read from the instance again."""

    @dataclass
    class Bus:
        """A bus."""

        name: str
        seats: InitVar[int] = 40

    codec = Codec(list[Ship | Bus])
    assert without_nulls(codec.graph, [{"name": "c", "seats": None}]) == [{"name": "c"}]


def test_nulls_stay_in_what_is_like_no_member_of_a_union():
    sent = [[None], {"x": None}, None]
    assert without_nulls(Codec(list[Byte | int | list[Byte]]).graph, sent) == sent


def test_nulls_inside_tuples_are_left_out():
    @dataclass
    class Walk:
        """A walk."""

        ends: tuple[Cat, Dog]

    sent = {"ends": [{"kind": "cat", "lives": None}, {"kind": "dog", "tricks": None}]}
    cleaned = without_nulls(Codec(Walk).graph, sent)
    assert cleaned == {"ends": [{"kind": "cat"}, {"kind": "dog"}]}


def test_arguments_that_nest_too_deep_stay_as_they_are():
    @dataclass
    class Link:
        """A link."""

        value: int
        next: "Link | None" = None

    sent: dict[str, Any] = {"value": 1, "next": None}
    for _ in range(300):
        sent = {"value": 1, "next": sent}
    cleaned = without_nulls(Codec(Link).graph, sent)
    assert cleaned["value"] == 1


# --- what a dialect can't say ------------------------------------------------------------------------


class Pair(NamedTuple):
    """A pair."""

    x: int
    y: int


class Money:
    """An amount."""


MONEY = SchemaLeaf(
    Money, {"type": "object", "minProperties": 1}, lambda _: Money(), lambda _: {"cents": 1}, Money()
)


@dataclass
class Folder:
    """A folder."""

    name: str
    inside: list["Folder"]


def test_what_cant_be_said_is_refused_with_every_place():
    @tool
    def save(
        labels: dict[str, int],
        extra: Any,
        place: tuple[int, str],
        nothing: tuple[()],
        money: Annotated[Money, MONEY],
        rows: list[dict[str, str]],
    ) -> str:
        """Save."""
        return str((labels, extra, place, nothing, money, rows))

    with pytest.raises(SchemaError) as caught:
        openai_chat.request(offer_of([save], strict=True))
    assert [(".".join(found.path), found.message.partition(",")[0]) for found in caught.value.findings] == [
        ("labels", "it is an object with free keys"),
        ("extra", "it takes a value of any type"),
        ("place", "it is an array whose places have different types"),
        ("nothing", "it is an array whose places have different types"),
        ("money", 'its schema has the keyword "minProperties"'),
        ("rows.*", "it is an object with free keys"),
    ]
    assert all(found.remedy for found in caught.value.findings)


def test_a_recursive_type_is_refused_where_the_dialect_refuses_it():
    @tool
    def tree(folder: Folder) -> str:
        """Show a tree."""
        return str(folder)

    with pytest.raises(SchemaError, match="its type contains itself, which the strict mode of Anthropic"):
        anthropic.request(offer_of([tree], strict=True))
    schema = openai_chat.request(offer_of([tree], strict=True))["tools"][0]["function"]["parameters"]
    assert schema["$defs"]["Folder"]["additionalProperties"] is False


def test_a_union_as_arguments_is_refused():
    draw = tool_input(Cat | Dog, name="draw", description="Draw a pet.")
    for provider in STRICT:
        with pytest.raises(SchemaError, match="the arguments are a union, which the strict mode of"):
            provider.request(offer_of([draw], strict=True))


def test_patterns_with_lookaround_and_examples_are_told():
    @dataclass
    class Word:
        """A word."""

        code: Annotated[str, re.compile("^[a-z]+$")]
        other: Annotated[str, re.compile("^(?!x)")] = field(metadata={"examples": ["a", "b"]})

    properties = openai_chat.request(offer_of([tool_input(Word)], strict=True))["tools"][0]["function"][
        "parameters"
    ]
    assert properties["properties"] == {
        "code": {"type": "string", "pattern": "^[a-z]+$"},
        "other": {"type": "string", "description": 'Matching the pattern ^(?!x); for example "a", "b".'},
    }


def test_a_described_choice_keeps_its_description():
    @tool
    def mark(value: Annotated[Literal["a", 1], "What to take."], other: Literal["x"] | None = None) -> str:
        """Mark."""
        return f"{value} {other}"

    properties = openai_chat.request(offer_of([mark], strict=True))["tools"][0]["function"]["parameters"][
        "properties"
    ]
    assert properties["value"] == {
        "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer", "enum": [1]}],
        "description": "What to take.",
    }
    assert properties["other"] == {"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]}


def test_a_provider_without_a_known_strict_mode_says_so():
    with pytest.raises(ValueError, match="no strict mode of Groq is known: leave strict out"):
        groq.request(offer_of([invite], strict=True))
    with pytest.raises(ValueError, match="no strict mode of Groq is known"):
        groq.report([invite], strict=True)


def test_what_is_told_in_words_is_listed():
    @tool
    def note(
        text: Annotated[str, MinLen(3)],
        pages: Annotated[set[int], MinLen(2)],
        mark: Literal["a", 1, None] = "a",
    ) -> str:
        """Make a note.

        Args:
            text: What to write.
        """
        return f"{text} {pages} {mark}"

    (report,) = openai_chat.report([note], strict=True).tools
    assert report.losses == (
        lost(("text",), "described", "minLength", "note", openai_chat.name),
        lost(("pages",), "described", "uniqueItems", "note", openai_chat.name),
        lost(("mark",), "described", "default", "note", openai_chat.name),
    )
    properties = openai_chat.request(offer_of([note], strict=True))["tools"][0]["function"]["parameters"][
        "properties"
    ]
    assert properties == {
        "text": {"type": "string", "description": "What to write. (at least 3 characters)"},
        "pages": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "description": "No two items the same.",
        },
        "mark": {
            "anyOf": [
                {"type": "string", "enum": ["a"]},
                {"type": "integer", "enum": [1]},
                {"type": "null", "enum": [None]},
            ],
            "description": "Default a.",
        },
    }
    losses = anthropic.report(Toolset(note, invite).hide(invite), strict=True).tools[0].losses
    assert lost(("pages",), "described", "minItems", "note", anthropic.name) in losses
    assert not any(loss.code == "null" for loss in losses)
    seats = lost(("seats",), "null", "required", "invite", openai_chat.name)
    assert seats in openai_chat.report([invite], strict=True).tools[0].losses


def test_a_reference_stands_alone():
    @tool
    def show(folder: Annotated[Folder, "Where to look."], other: Folder | None = None) -> str:
        """Show a folder."""
        return f"{folder} {other}"

    properties = openai_chat.request(offer_of([show], strict=True))["tools"][0]["function"]["parameters"][
        "properties"
    ]
    reference = {"$ref": "#/$defs/Folder"}
    assert properties["folder"] == {"anyOf": [reference], "description": "Where to look."}
    assert properties["other"] == {"anyOf": [reference, {"type": "null"}]}


def test_each_wire_form_says_that_it_is_strict():
    assert openai_chat.request(offer_of([adopt], strict=True))["tools"][0]["function"]["strict"] is True
    assert openai_responses.request(offer_of([adopt], strict=True))["tools"][0]["strict"] is True
    assert anthropic.request(offer_of([adopt], strict=True))["tools"][0]["strict"] is True
    assert "strict" not in anthropic.request([adopt])["tools"][0]


# --- how much one request takes --------------------------------------------------------------------


def strict_schemas(exchange):
    """List the strict schemas of a request that Anthropic judged."""
    tools = (exchange["request"] or {}).get("tools") or []
    return [
        found["input_schema"]
        for found in tools
        if found.get("strict") and isinstance(found["input_schema"], dict)
    ]


JUDGED = [
    (exchange["cassette"].rpartition("/")[2], exchange["status"], strict_schemas(exchange))
    for exchange in exchanges()
    if exchange["provider"] == "anthropic" and strict_schemas(exchange)
]
TOO_MUCH = (
    "twenty_one_strict_tools_are_rejected",
    "sixteen_union_parameters_in_one_schema_hit_internal_limit",
)


@pytest.mark.parametrize(("name", "status", "schemas"), JUDGED, ids=[name for name, _, _ in JUDGED])
def test_a_request_is_too_much_where_anthropic_said_so(name, status, schemas):
    over = over_limits(anthropic.dialect, [size_of(schema) for schema in schemas])
    assert bool(over) == (name in TOO_MUCH)
    assert not over or status == 400


def test_too_many_tools_are_refused_before_the_request():
    feed = tool_input(Dog, name="feed", description="Feed a dog.")
    tools = [feed.with_(name=f"feed_{number}") for number in range(21)]
    with pytest.raises(SchemaError, match="there are 21 strict tools, but a request takes only 20"):
        anthropic.request(offer_of(tools, strict=True))
    assert len(anthropic.request(offer_of(tools[:20], strict=True))["tools"]) == 20


def test_levels_and_choices_are_counted():
    deep: dict[str, Any] = {"type": "string", "enum": ["a"] * 1001}
    for _ in range(11):
        deep = {"type": "array", "items": deep}
    assert over_limits(openai_chat.dialect, [size_of(deep)]) == [
        "11 levels inside each other, but a request takes only 10",
        "1,001 values of enums, but a request takes only 1,000",
    ]
    defined = {"$defs": {"A": {"type": "object", "properties": {"x": deep["items"]}}}}
    assert over_limits(openai_chat.dialect, [size_of(defined)])
