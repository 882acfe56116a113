"""What many APIs refuse at the root of a schema is left out and described, and checked all the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from judge import validator
from offers import offer_of
from test_dialect_laws import root_in

from operator_schema import Codec, DecodeError, SchemaError, providers
from operator_schema.providers import anthropic, bedrock, gemini, openai_chat
from operator_schema.schema.dialect_renderer import dialect_schema
from operator_schema.schema.root_composition import uncomposed
from operator_schema.tools import document_tool
from operator_schema.workbench.lint import lint

REFUSED = {"allOf", "anyOf", "oneOf", "if", "then", "else"}

KEYS = st.sampled_from("abc")
PLAIN = st.sampled_from(
    [{}, {"type": "integer"}, {"type": "string"}, {"const": 1}, {"maximum": 2}, {"$ref": "#/$defs/Few"}]
)
PROPERTIES = st.dictionaries(KEYS, PLAIN, max_size=2)
REQUIRED = st.lists(KEYS, max_size=2, unique=True)
PARTS = st.recursive(
    st.fixed_dictionaries({}, optional={"properties": PROPERTIES, "required": REQUIRED}),
    lambda inner: (
        st.fixed_dictionaries({"not": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)})
    ),
    max_leaves=2,
)
LISTS = st.lists(PARTS, min_size=1, max_size=3)
COMPOSED = st.fixed_dictionaries(
    {},
    optional={
        "allOf": LISTS,
        "anyOf": LISTS,
        "oneOf": LISTS,
        "if": PARTS,
        "then": PARTS,
        "else": PARTS,
        "unevaluatedProperties": st.just(False),
    },
)
SCHEMAS = st.builds(
    lambda properties, required, composed, more: {
        "type": "object",
        "properties": properties,
        "required": required,
        "$defs": {"Few": {"maximum": 2}},
        **composed,
        **more,
    },
    st.dictionaries(KEYS, PLAIN, min_size=1, max_size=3),
    REQUIRED,
    COMPOSED,
    st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]),
)
VALUES = st.lists(st.dictionaries(KEYS, st.sampled_from([1, 2, 3, "x", None])), min_size=4, max_size=8)


def made(schema):
    return document_tool(lambda _: "ok", schema, name="foreign", description="Do it.")


def sent_by(provider, tool):
    (listed,) = (
        anthropic.request([tool])["tools"]
        if provider is anthropic
        else [one["toolSpec"] for one in bedrock.request([tool])["toolConfig"]["tools"]]
    )
    schema = listed["input_schema"] if provider is anthropic else listed["inputSchema"]["json"]
    return schema, listed["description"]


@given(SCHEMAS, VALUES)
@example(
    {
        "type": "object",
        "properties": {"b": {}},
        "required": ["a"],
        "$defs": {"Few": {"maximum": 2}},
        "additionalProperties": False,
    },
    [{"a": 1}],
)
def test_what_fits_fits_what_is_sent_and_what_does_not_is_refused_when_it_comes(schema, values):
    try:
        tool = made(schema)
    except SchemaError:
        return
    whole = validator(schema)
    for provider in (anthropic, bedrock):
        sent, description = sent_by(provider, tool)
        assert REFUSED.isdisjoint(sent)
        assert sent["properties"].keys() >= schema["properties"].keys()
        judge = validator(only_own_names(sent, schema))
        assert all(judge.is_valid(value) for value in values if whole.is_valid(value))
        losses = [loss.keyword for loss in provider.report([tool]).tools[0].losses]
        left_out = REFUSED & tool.definition()["input_schema"].keys()
        assert set(losses) - {"unevaluatedProperties"} == left_out
        assert description.startswith("Do it.")
        assert all(is_told(keyword, description) for keyword in left_out)
    for value in values:
        assert takes(tool, value) == whole.is_valid(value)


def only_own_names(sent, schema):
    """Let anything be under the names of which the root itself says nothing."""
    own = schema.get("properties", {})
    return {
        **sent,
        "properties": {name: one if name in own else {} for name, one in sent["properties"].items()},
    }


def is_told(keyword, description):
    forms = {"anyOf": "at least one of these sets", "oneOf": "exactly one of these sets"}
    return f'"{keyword}":' in description or "…" in description or forms.get(keyword, "\0") in description


def takes(tool, value):
    try:
        tool.decode(value)
    except DecodeError:
        return False
    return True


CONDITION = {"if": {"properties": {"mode": {"const": "a"}}}, "then": {"properties": {"size": {"maximum": 9}}}}
FOREIGN = {
    "type": "object",
    "properties": {"mode": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["mode"],
    "allOf": [CONDITION],
}


def test_a_request_with_such_a_tool_is_made_and_says_what_is_left_out():
    tool = made(FOREIGN)
    sent, description = sent_by(anthropic, tool)
    assert sent == {key: FOREIGN[key] for key in ("type", "properties", "required")}
    said = 'Do it.\n\nThe arguments must also fit the JSON Schema {"allOf":['
    assert description.startswith(said)
    (loss,) = [one for one in lint([tool], [anthropic]) if one.code == "weakened"]
    assert loss.message == "Anthropic can't express all of its type, so its schema accepts more"
    assert (loss.keyword, loss.severity) == ("allOf", "warning")
    with pytest.raises(DecodeError, match="size: 50 is above the maximum 9"):
        tool.decode({"mode": "a", "size": 50})


def test_a_description_for_one_request_says_it_too():
    offer = offer_of([made(FOREIGN)]).replace(descriptions={"foreign": "Other."})
    (listed,) = anthropic.request(offer)["tools"]
    assert listed["description"].startswith("Other.\n\nThe arguments must also fit the JSON Schema {")


def test_one_that_takes_unions_gets_the_whole_schema():
    assert '"allOf"' in json.dumps(gemini.request([made(FOREIGN)]))


# --- unions of objects -------------------------------------------------------------------------------

PLAIN_PROVIDERS = [
    provider
    for provider in map(providers.__getattr__, providers.provider_names())
    if provider.always is None and not provider.takes_unions
]
CLOSED = st.sampled_from([{}, {"additionalProperties": False}])
ALTERNATIVES = st.builds(
    lambda properties, required, closed: {
        "type": "object",
        "properties": properties,
        "required": [name for name in required if name in properties],
        **closed,
    },
    st.dictionaries(KEYS, PLAIN, max_size=3),
    REQUIRED,
    CLOSED,
)
UNIONS = st.builds(
    lambda root, keyword, members: {
        "type": "object",
        **root,
        keyword: members,
        "$defs": {"Few": {"maximum": 2}, "First": members[0]},
    },
    st.fixed_dictionaries({}, optional={"properties": PROPERTIES, "required": REQUIRED}),
    st.sampled_from(["anyOf", "oneOf"]),
    st.lists(ALTERNATIVES | st.just({"$ref": "#/$defs/First"}), min_size=2, max_size=3).filter(
        lambda members: "$ref" not in members[0]
    ),
)


@given(UNIONS, VALUES, st.sampled_from(PLAIN_PROVIDERS))
def test_a_union_becomes_one_object_that_takes_each_value_of_an_alternative(schema, values, provider):
    tool = made(schema)
    (keyword,) = {"anyOf", "oneOf"} & schema.keys()
    (sent,) = provider.request([tool]).get("tools") or provider.request([tool])["toolConfig"]["tools"]
    sent = root_in(sent)
    assert {"anyOf", "oneOf", "allOf", "not", "enum"}.isdisjoint(sent)
    assert sent["type"] == "object"
    judge = validator(sent)
    for written in schema[keyword]:
        member = schema["$defs"]["First"] if "$ref" in written else written
        assert sent["properties"].keys() >= member["properties"].keys()
        named = schema.get("properties", {}).keys() | member["properties"].keys()
        alone = validator({**schema, "allOf": [member]})
        for value in values:
            if value.keys() <= named and alone.is_valid(value):
                assert judge.is_valid(value), value
    open_to_others = validator(only_own_names(sent, schema))
    assert all(open_to_others.is_valid(value) for value in values if validator(schema).is_valid(value))
    assert len(json.dumps(sent)) <= len(json.dumps(schema)) + 200


def test_alternatives_are_told_by_what_they_require():
    schema = {
        "type": "object",
        "properties": {
            "project": {"type": "string"},
            "title": {"type": "string"},
            "body": {"type": "string"},
        },
        "required": ["project"],
        "anyOf": [{"required": ["title"]}, {"required": ["body"]}],
    }
    sent, description = sent_by(anthropic, made(schema))
    assert sent == {key: schema[key] for key in ("type", "properties", "required")}
    assert description == "Do it.\n\nUse at least one of these sets of arguments: (1) title · (2) body."


def test_what_distinguishes_the_alternatives_is_one_property_with_all_their_values():
    kinds = {kind: {"kind": {"type": "string", "const": kind}} for kind in ("make", "drop")}
    schema = {
        "oneOf": [{"$ref": "#/$defs/make"}, {"$ref": "#/$defs/drop"}],
        "$defs": {
            "make": {
                "type": "object",
                "properties": {**kinds["make"], "at": {"$ref": "#/$defs/place"}},
                "required": ["kind", "at"],
                "additionalProperties": False,
            },
            "drop": {
                "type": "object",
                "properties": {**kinds["drop"], "id": {"type": "integer"}},
                "required": ["kind"],
                "additionalProperties": False,
            },
            "place": {"type": "string"},
        },
    }
    for provider in (anthropic, openai_chat):
        sent = root_in(provider.request([made(schema)])["tools"][0])
        assert sent == {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": ["make", "drop"]},
                "at": {"$ref": "#/$defs/place"},
                "id": {"type": "integer"},
            },
            "required": ["kind"],
            "additionalProperties": False,
            "$defs": {"place": {"type": "string"}},
        }
    said = sent_by(anthropic, made(schema))[1].partition("arguments: ")[2]
    assert said == '(1) kind = "make", at · (2) kind = "drop", optionally id.'


def test_a_reference_into_an_alternative_still_leads_there():
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#/anyOf/0/properties/first"}},
        "anyOf": [{"properties": {"first": {"type": "integer"}}}, {"required": ["next"]}],
    }
    sent, _ = sent_by(anthropic, made(schema))
    judge = validator(sent)
    assert judge.is_valid({"next": 1})
    assert not judge.is_valid({"next": "one"})


def test_a_root_that_refers_to_a_part_of_the_document_is_that_part():
    person = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/$defs/Person"}},
    }
    sent, description = sent_by(anthropic, made({"$ref": "#/$defs/Person", "$defs": {"Person": person}}))
    assert sent == {**person, "$defs": {"Person": person}}
    assert description == "Do it."
    narrowed = {"$ref": "#/$defs/Person", "required": ["name"], "$defs": {"Person": person}}
    assert sent_by(anthropic, made(narrowed))[0]["required"] == ["name"]


@pytest.mark.parametrize("provider", [anthropic, bedrock, gemini, openai_chat])
def test_a_root_in_another_document_is_refused(provider):
    with pytest.raises(SchemaError, match='its root refers to "https:'):
        provider.request([made({"$ref": "https://example.com/schema.json"})])


def test_the_words_fit_the_longest_description():
    schema = {"type": "object", "anyOf": [{"required": ["a" * 30]}, {"required": ["b" * 30]}]}
    for length in (100, 900, 960, 1024):
        tool = document_tool(lambda _: "ok", schema, name="foreign", description="x" * length)
        said = openai_chat.request([tool])["tools"][0]["function"]["description"]
        assert length <= len(said) <= 1024


@pytest.mark.parametrize(
    "schema", [{"anyOf": [{"type": "string"}]}, {"allOf": [{"type": "array"}]}, {"oneOf": [False]}]
)
def test_what_cant_be_an_object_is_refused(schema):
    with pytest.raises(SchemaError, match="takes only arguments that are an object, and no object fits"):
        anthropic.request([made(schema)])


# --- corners -----------------------------------------------------------------------------------------

NUMBER, TEXT = {"type": "number"}, {"type": "string"}
LONG = {f"Step{number}": {"allOf": [{"$ref": f"#/$defs/Step{number + 1}"}]} for number in range(60)}
CORNERS = {
    "of two that both hold, the one that says more, with the description": (
        {"properties": {"a": {"description": "An a."}}, "allOf": [{"properties": {"a": NUMBER}}]},
        {"a": {"description": "An a.", "type": "number"}},
    ),
    "what the root says of a name, not what a condition says": (
        {"properties": {"a": TEXT}, "if": {"required": ["b"]}, "then": {"properties": {"a": {"const": "x"}}}},
        {"a": TEXT},
    ),
    "a choice of two that both hold": (
        {"properties": {"a": TEXT}, "anyOf": [{"properties": {"a": {"const": "x"}}}]},
        {"a": {"const": "x"}},
    ),
    "an old list of no items": (
        {"properties": {"a": {"type": "array", "items": []}}},
        {"a": {"type": "array", "items": {}}},
    ),
    "what alternatives say of a name, each": (
        {"anyOf": [{"properties": {"a": NUMBER}}, {"properties": {"a": TEXT}}]},
        {"a": {"anyOf": [NUMBER, TEXT]}},
    ),
    "choices of several types": (
        {"anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"a": {"enum": ["x", 1]}}}]},
        {"a": {"enum": [1, "x"]}},
    ),
    "true and false": (
        {"anyOf": [True, {"properties": {"a": True}}], "allOf": [{"properties": {"a": NUMBER}}]},
        {"a": NUMBER},
    ),
    "names that a closed root doesn't know": (
        {"properties": {"a": TEXT}, "additionalProperties": False, "anyOf": [{"properties": {"b": TEXT}}]},
        {"a": TEXT},
    ),
    "an alternative inside itself": (
        {
            "allOf": [{"$ref": "#/$defs/A"}],
            "$defs": {"A": {"properties": {"a": TEXT}, "anyOf": [{"$ref": "#/$defs/A"}]}},
        },
        {"a": TEXT},
    ),
    "a reference beside something, and one by an anchor": (
        {
            "allOf": [{"$ref": "#/$defs/A", "required": ["a"]}, {"$ref": "#b"}],
            "$defs": {"A": {"properties": {"a": {"$ref": "#b"}}}, "B": {"$anchor": "b", "type": "object"}},
        },
        {"a": {"$ref": "#b"}},
    ),
    "more steps than anybody writes": (
        {"allOf": [{"$ref": "#/$defs/Step0"}], "$defs": {**LONG, "Step60": {}}},
        {},
    ),
    "what no object fits, beside properties": (
        {"properties": {"a": TEXT}, "allOf": [{"type": "string"}]},
        {"a": TEXT},
    ),
    "a root that says more than what it refers to": (
        {"$ref": "#/$defs/A", "properties": {"b": TEXT}, "$defs": {"A": {"properties": {"a": TEXT}}}},
        {"b": TEXT, "a": TEXT},
    ),
    "a part that refers to the root, to a property and to one that is left out, twice": (
        {
            "properties": {
                "a": {"$ref": "#"},
                "b": {"$ref": "#/properties/a"},
                "c": {"$ref": "#/not"},
                "d": {"$ref": "#/not"},
            },
            "not": {"required": ["z"]},
        },
        {
            "a": {"$ref": "#"},
            "b": {"$ref": "#/properties/a"},
            "c": {"$ref": "#/$defs/not-0"},
            "d": {"$ref": "#/$defs/not-0"},
        },
    ),
}


@pytest.mark.parametrize("name", CORNERS)
def test_the_properties_that_are_sent(name):
    schema, properties = CORNERS[name]
    sent, _ = sent_by(anthropic, made({"type": "object", **schema}))
    assert sent["properties"] == properties
    assert sent["type"] == "object"


@pytest.mark.parametrize(
    "members",
    [[{"required": [f"a{number}"]} for number in range(60)], [{"minProperties": 1}, {"minProperties": 2}]],
)
def test_alternatives_that_names_dont_distinguish_are_told_as_json(members):
    _, description = sent_by(anthropic, made({"type": "object", "anyOf": members}))
    assert 'The arguments must also fit the JSON Schema {"anyOf":[' in description


def test_a_root_that_refers_to_itself_is_refused():
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    for provider in (anthropic, gemini):
        with pytest.raises(SchemaError, match="which isn't an object in the same document"):
            provider.request([made(schema)])


def test_a_union_that_cant_be_an_object_is_refused_in_a_lenient_dialect():
    found = dialect_schema(Codec(int | str), providers.xai.always, "tool", "xAI")
    assert found.complaints[0].message == "the arguments are a union, which xAI doesn't take"


def test_a_very_large_union_ends_soon_and_says_less():
    many = {f"p{number}": {"type": "string"} for number in range(400)}
    wide = {"allOf": [{"$ref": "#/$defs/A", "title": str(number)} for number in range(400)]}
    sent, _ = sent_by(anthropic, made({"type": "object", **wide, "$defs": {"A": {"properties": many}}}))
    assert sent["properties"] == many


def test_repeated_names_are_said_once():
    sent, _ = sent_by(anthropic, made({"type": "object", "properties": {"a": {}}, "required": ["a", "a"]}))
    assert sent["required"] == ["a"]
    sent, _ = sent_by(
        anthropic, made({"type": "object", "properties": {"a": {"minimum": 1, "exclusiveMinimum": False}}})
    )
    assert sent["properties"]["a"] == {"minimum": 1}


@pytest.mark.parametrize("provider", [providers.xai, providers.ollama, providers.llama_cpp])
def test_a_dialect_gets_a_union_as_one_object_too(provider):
    members = [{"type": "object", "properties": {name: TEXT}, "required": [name, "c"]} for name in "ab"]
    tool = made({"oneOf": [{**one, "properties": {**one["properties"], "c": NUMBER}} for one in members]})
    sent = root_in(provider.request([tool])["tools"][0])
    assert sent["properties"] == {"a": TEXT, "c": NUMBER, "b": TEXT}
    assert sent["required"] == ["c"]
    assert "(1) a, c · (2) b, c" in sent["description"]
    assert "weakened" in provider.report([tool]).tools[0].fate_of(())


def test_schemas_that_are_booleans_are_taken_as_they_are():
    left = uncomposed(
        {"properties": {"a": True, "b": TEXT}, "allOf": [{"properties": {"a": TEXT, "b": False}}]}
    )
    assert left.schema["properties"] == {"a": TEXT, "b": TEXT}
