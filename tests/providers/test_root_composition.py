"""What Anthropic refuses at the root of a schema is left out and described, and checked all the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from judge import validator
from offers import offer_of

from operator_schema import DecodeError, SchemaError
from operator_schema.providers import anthropic, bedrock, gemini, openai_chat
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
        assert sent["properties"].keys() == schema["properties"].keys()
        judge = validator(sent)
        assert all(judge.is_valid(value) for value in values if whole.is_valid(value))
        losses = [loss.keyword for loss in provider.report([tool]).tools[0].losses]
        left_out = REFUSED & tool.definition()["input_schema"].keys()
        assert set(losses) - {"unevaluatedProperties"} == left_out
        assert description.startswith("Do it.")
        assert all(f'"{keyword}":' in description or "…" in description for keyword in left_out)
    for value in values:
        assert takes(tool, value) == whole.is_valid(value)


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


def test_others_get_the_whole_schema():
    tool = made(FOREIGN)
    for provider in (openai_chat, gemini):
        assert '"allOf"' in json.dumps(provider.request([tool]))


def test_without_a_list_of_properties_it_is_a_union_and_stays_refused():
    assert uncomposed({"type": "object", "anyOf": [{"required": ["a"]}]}) is None
    for properties in ({}, {"properties": {}}):
        with pytest.raises(SchemaError, match="takes only arguments with a list of properties"):
            anthropic.request([made({"type": "object", **properties, "oneOf": [{"required": ["a"]}]})])
