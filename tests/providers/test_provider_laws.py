"""What holds for every provider, whatever the names of tools are and whatever a response holds."""

import json
from copy import deepcopy
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offers import offer_of
from provider_traffic import exchanges, provider_of, unstreamed
from strategies import OBJECTS

from operator_schema import RawCall, SchemaError, ToolResult, tool, tool_input
from operator_schema import providers as all_providers
from operator_schema.providers import Answer, NameRule, Provider, ResponseError

PROVIDERS = [
    found for name in dir(all_providers) if isinstance(found := getattr(all_providers, name), Provider)
]


@tool
def search(query: str = "") -> str:
    """Search."""
    return query


# --- names -----------------------------------------------------------------------------------------

ANY_NAMES = st.lists(st.text(max_size=150), unique=True, max_size=8)
RULES = st.builds(NameRule, st.integers(10, 64), st.sampled_from(["", "-", "-.:"]), st.booleans())


@given(ANY_NAMES, RULES | st.sampled_from([provider.names for provider in PROVIDERS]))
def test_renaming_is_reversible_for_any_names(names, rule):
    try:
        wire = rule.wire_names(names, "X")
    except SchemaError:
        return
    assert list(wire) == names
    assert len(set(wire.values())) == len(names)
    assert all(rule.takes(name) and name for name in wire.values())
    assert all(wire[name] == name for name in names if rule.takes(name))


NAMES = st.text("abcXYZ019_-.", min_size=1, max_size=70)


def named(names):
    """Return tools of these names, as far as tools may have them."""
    found = []
    for name in names:
        try:
            found.append(search.with_(name=name))
        except SchemaError:
            continue
    return found


@settings(deadline=None, max_examples=4 * settings().max_examples // 5)
@given(st.lists(NAMES, unique=True, min_size=1, max_size=4), st.data())
def test_calls_and_results_keep_the_tools_own_names(names, data):
    provider = data.draw(st.sampled_from(PROVIDERS))
    tools = named(names)
    try:
        body = provider.request(tools)
    except SchemaError:
        wire_names = [provider.names.wire_name(found.name) for found in tools]
        assert len(set(wire_names)) < len(tools)
        return
    sent = json.dumps(body)
    for found in tools:
        wire_name = provider.names.wire_name(found.name)
        assert json.dumps(wire_name) in sent
        (message,) = provider.wire.calls_message([RawCall("call_1", wire_name, {})])
        (call,) = provider.calls(response_of(provider, message), tools)
        assert call.name == found.name
        told = json.dumps(provider.results([ToolResult("operator_schema_1", found.name, "x")], tools))
        assert found.name == wire_name or json.dumps(found.name) not in told


def response_of(provider, message):
    """Return the response that has a message of a model."""
    form = type(provider.wire).__name__
    return {
        "ChatWire": {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
        "CohereWire": {"message": message, "finish_reason": "TOOL_CALL"},
        "OllamaWire": {"message": message},
        "ResponsesWire": {"output": [message]},
        "MessagesWire": {**message, "stop_reason": "tool_use"},
        "ConverseWire": {"output": {"message": message}, "stopReason": "tool_use"},
        "GenerateContentWire": {"candidates": [{"content": message, "finishReason": "STOP"}]},
    }[form]


# --- responses of any form -------------------------------------------------------------------------


@cache
def samples():
    """List recorded answers of every provider, the smaller half of each."""
    found = {}
    for exchange in unstreamed():
        found.setdefault(exchange["provider"], []).append(exchange)
    return [
        (provider_of(exchange), exchange["response"])
        for exchanges in found.values()
        for exchange in sorted(exchanges, key=lambda exchange: len(exchange["response"]))[
            : len(exchanges) // 2 + 1
        ]
    ]


JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        10**30,
        "",
        "x",
        "{",
        "null",
        "\ud800",
        [],
        [None],
        [[]],
        {},
        {"a": 1},
        {"": {}},
        [{"type": 5}],
    ]
)


def places_in(value):
    """List all places in a document: holder and key."""
    keys = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    return [place for key in keys for place in [(value, key), *places_in(value[key])]]


def damaged(data, document):
    """Change a document in a few places: other values, keys that go, values of other places."""
    for _ in range(data.draw(st.integers(1, 4))):
        places = places_in(document)
        if not places:
            break
        holder, key = data.draw(st.sampled_from(places))
        what = data.draw(st.sampled_from(["junk", "gone", "other"]))
        if what == "junk":
            holder[key] = deepcopy(data.draw(JUNK))
        elif what == "gone":
            del holder[key]
        else:
            other, other_key = data.draw(st.sampled_from(places))
            holder[key] = json.loads(json.dumps(other[other_key]) if other_key in keys_of(other) else "null")
    return document


def keys_of(value):
    return value if isinstance(value, dict) else range(len(value))


def read(provider, response):
    """Read all that can be read of a response; return whether it could be."""
    try:
        answers = provider.answers(response, offer_of([search], strict=True))
        calls = provider.calls(response, [])
    except ResponseError as error:
        assert error.provider == provider.name
        assert len(str(error)) < 1000
        return False
    for answer in answers:
        assert isinstance(answer, Answer)
        assert all(isinstance(call, RawCall) for call in answer.calls)
        assert isinstance(answer.text, str)
        assert isinstance(answer.message, list)
        assert isinstance(answer.raw_stop, str | None)
        assert isinstance(answer.refusal, str | None)
        assert all(isinstance(message, dict) for message in answer.message)
    assert all(isinstance(call.name, str) for call in calls)
    return True


@settings(deadline=None, max_examples=2 * settings().max_examples)
@given(st.data())
def test_a_damaged_response_raises_only_our_own_error(data):
    provider, text = data.draw(st.sampled_from(samples()))
    read(provider, damaged(data, json.loads(text)))


@settings(deadline=None)
@given(st.data())
def test_damaged_text_raises_only_our_own_error(data):
    provider, text = data.draw(st.sampled_from(samples()))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 50)))
    read(provider, text[:start] + data.draw(st.text(max_size=5)) + text[end:])


@pytest.mark.parametrize("provider", PROVIDERS, ids=repr)
@settings(deadline=None, max_examples=settings().max_examples // 3)
@given(
    document=st.recursive(
        JUNK,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "message",
                        "output",
                        "content",
                        "candidates",
                        "tool_calls",
                        "parts",
                        "type",
                        "a",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_any_document_is_an_answer_or_our_own_error(provider, document):
    read(provider, document)


@pytest.mark.parametrize("provider", PROVIDERS, ids=repr)
def test_the_answer_of_another_provider_is_read_or_refused(provider):
    own = [read(provider, text) for other, text in samples() if other is provider]
    others = [read(provider, text) for other, text in samples()[::5] if other.wire != provider.wire]
    assert all(own)
    assert not all(others)


# --- schemas that were refused ---------------------------------------------------------------------


def judged_roots():
    """List the schemas of tools that Anthropic judged: what it said, and the schema."""
    return [
        (exchange["status"], found["input_schema"])
        for exchange in exchanges()
        if exchange["provider"] == "anthropic"
        for found in (exchange["request"] or {}).get("tools") or []
        if "input_schema" in found
    ]


def has_fields(schema):
    """Return whether the root of a schema is an object with a list of properties."""
    return (
        isinstance(schema, dict)
        and schema.get("type") == "object"
        and not {"anyOf", "oneOf", "allOf"} & schema.keys()
    )


def test_anthropic_took_only_objects_with_a_list_of_properties():
    roots = judged_roots()
    refused = [schema for status, schema in roots if status == 400 and not has_fields(schema)]
    assert len(refused) == 6
    assert all(has_fields(schema) for status, schema in roots if status == 200)
    assert len(roots) > 150


@settings(deadline=None)
@given(OBJECTS, st.booleans())
def test_we_send_anthropic_nothing_else(annotation, strict):
    try:
        made = tool_input(annotation, name="made", description="Made.")
        body = all_providers.anthropic.request(offer_of([made], strict=strict))
    except SchemaError:
        return
    schema = body["tools"][0]["input_schema"]
    assert has_fields(schema)
    assert "$ref" not in schema
