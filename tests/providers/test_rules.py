"""What providers check in any mode: names of properties, lengths of descriptions, numbers of tools."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from offers import offer_of
from provider_traffic import exchanges
from small_domains import texts_of
from test_provider_laws import PROVIDERS, response_of

from operator_schema import Executor, RawCall, SchemaError, Toolset, tool
from operator_schema.providers import (
    NameRule,
    Rules,
    anthropic,
    bedrock,
    gemini,
    gemini_parameters,
    openai_chat,
    openai_compatible,
    openai_responses,
)
from operator_schema.providers.property_names import (
    KeysInText,
    property_names,
    text_with_keys,
    value_with_keys,
)
from operator_schema.schema.references import rebuilt
from operator_schema.tools import document_tool
from operator_schema.workbench.lint import lint

WITH_KEYS = [provider for provider in PROVIDERS if provider.rules.keys is not None]


def echo(arguments: dict[str, object]) -> str:
    return json.dumps(arguments)


def listing(schema, name="list_apps"):
    return document_tool(echo, schema, name=name)


NAMES = st.text('ab[]$. äx-_9/~"\\', min_size=1, max_size=5) | st.sampled_from(
    ["filter[id]", "$top", "größe", "a" * 65, "@type", "x/y", "a b", "properties", "required"]
)


@st.composite
def objects(draw, levels=2):
    """Draw a schema of nested objects and arguments that fit it."""
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    properties, arguments = {}, {}
    for name in names:
        kind = draw(st.sampled_from(["text", "object", "rows"] if levels else ["text"]))
        if kind == "text":
            properties[name], arguments[name] = {"type": "string"}, draw(NAMES)
            continue
        inner, value = draw(objects(levels=levels - 1))
        properties[name] = inner if kind == "object" else {"type": "array", "items": inner}
        arguments[name] = value if kind == "object" else [value]
    schema = {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
    return schema, arguments


def schema_in(body):
    """Return the schema of the only tool of a request."""
    (found,) = body.get("tools") or body["toolConfig"]["tools"]
    for key in ("functionDeclarations", "function", "toolSpec", "inputSchema"):
        inner = found.get(key, found)
        found = inner[0] if isinstance(inner, list) else inner
    return next(
        found[key] for key in ("parameters", "parametersJsonSchema", "input_schema", "json") if key in found
    )


def in_own_words(value, names):
    """Return arguments as a model sends them that was told these names, at every depth."""
    if isinstance(value, list):
        return [in_own_words(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    return {names.get(key, key): in_own_words(inner, names) for key, inner in value.items()}


@pytest.mark.needs_threads
@settings(deadline=None)
@given(objects(), st.sampled_from(WITH_KEYS), st.booleans())
def test_names_of_properties_fit_on_the_wire_and_come_back_at_every_depth(drawn, provider, strict):
    schema, arguments = drawn
    tools = [listing(schema)]
    rule = provider.rules.keys
    sent = schema_in(provider.request(offer_of(tools, strict=strict)))
    assert all(rule.takes(name) for name in property_names(sent))
    assert provider.report(tools, strict=strict).is_accepted
    # The very same schema, but for the names.
    names = {own: rule.wire_name(own) for own in property_names(schema)}
    assert all(names[own] == own for own in names if rule.takes(own))
    assert set(property_names(sent)) == set(names.values())

    said = in_own_words(arguments, names)
    call = RawCall("call_1", "list_apps", said)
    (message,) = provider.wire.calls_message([call])
    (read,) = provider.calls(response_of(provider, message), tools)
    assert read.arguments == arguments
    (plan_call,) = Toolset(*tools).offer().round([read]).calls
    assert plan_call.arguments == arguments
    assert json.loads(Executor(tools).run_sync(read).content) == arguments


@pytest.mark.slow("draws many ways to cut a stream")
@settings(deadline=None)
@given(
    objects(),
    st.sampled_from([(",", ":"), (" , ", "  : "), (",\n", " :\n ")]),
    st.booleans(),
    st.integers(0, 2**32).map(Random),
)
def test_names_come_back_in_streams_whatever_the_pieces(drawn, spaces, is_ascii, chance):
    schema, arguments = drawn
    (offered,) = tools = [listing(schema)]
    rule = anthropic.rules.keys
    names = {own: rule.wire_name(own) for own in property_names(schema)}
    text = json.dumps(in_own_words(arguments, names), separators=spaces, ensure_ascii=is_ascii)
    stream = anthropic.stream(tools)
    stream.feed({"type": "message_start", "message": {"role": "assistant", "content": []}})
    block = {"type": "tool_use", "id": "t", "name": offered.name, "input": {}}
    stream.feed({"type": "content_block_start", "index": 0, "content_block": block})
    rest, seen = text, ""
    while rest:
        size = chance.choice([1, 1, 2, chance.randint(1, len(rest))])
        delta = {"type": "input_json_delta", "partial_json": rest[:size]}
        stream.feed({"type": "content_block_delta", "index": 0, "delta": delta})
        seen, rest = seen + rest[:size], rest[size:]
        assert len(stream.calls[0].arguments) <= len(seen) + sum(6 * len(own) for own in names)
    (call,) = stream.calls
    assert json.loads(call.arguments) == arguments
    assert dict(call.partial.fields) == {key: arguments[key] for key in call.partial.fields}
    assert set(call.partial.fields) == set(arguments)
    stream.feed({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    answer = stream.close()
    assert answer.calls[0].arguments == arguments
    # What the provider gets back has its own names.
    assert json.dumps(answer.message).count(json.dumps(in_own_words(arguments, names))) == 1


KEYS = {"a_1": "a b", "$b": "c"}
PIECES = ["a_1", '"', "\\", ":", " ", "{", "}", ",", "x", '"a_1"', '"a_1":', "$b", '\\"', " " * 99]


def test_short_text_in_pieces_becomes_what_the_whole_text_becomes():
    for text in texts_of(PIECES, 3):
        for size in (1, 2, 3):
            keys = KeysInText(KEYS)
            made = "".join([keys.feed(text[place : place + size]) for place in range(0, len(text), size)])
            assert made + keys.held == text_with_keys(text, KEYS)


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.data())
def test_text_in_pieces_becomes_what_the_whole_text_becomes(parts, data):
    text = "".join(parts)
    keys, made = KeysInText(KEYS), ""
    for piece in data.draw(st.lists(st.integers(1, 3), max_size=40)):
        made, text = made + keys.feed(text[:piece]), text[piece:]
    made += keys.feed(text)
    assert made + keys.held == text_with_keys("".join(parts), KEYS)


def test_values_that_look_like_a_key_stay():
    text = '{"a_1": "a_1", "x": ["a_1", "\\"a_1\\":"]}'
    assert text_with_keys(text, KEYS) == '{"a b": "a_1", "x": ["a_1", "\\"a_1\\":"]}'


@given(
    st.recursive(
        st.none() | st.sampled_from(["a_1", "x", '"a_1":', "\\", '\\"$b":']),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a_1", "$b", "\\", "d"]), inner),
    ),
    st.sampled_from([None, 1]),
)
def test_keys_in_text_are_those_of_the_value(value, indent):
    assert json.loads(text_with_keys(json.dumps(value, indent=indent), KEYS)) == value_with_keys(value, KEYS)


def test_the_property_names_that_the_api_refuses_are_renamed_and_reported():
    """The API refuses the whole request for one such name, whether strict or not."""
    tools = [
        listing(
            {"type": "object", "properties": {"filter[id]": {"type": "string"}, "$top": {"type": "integer"}}}
        )
    ]
    for provider in (anthropic, bedrock):
        sent = schema_in(provider.request(tools))["properties"]
        assert list(sent) == [
            provider.rules.keys.wire_name("filter[id]"),
            provider.rules.keys.wire_name("$top"),
        ]
        (report,) = provider.report(tools).tools
        assert [report.fate_of(path) for path in report.paths] == [("renamed",), ("renamed",)]
        assert '["filter[id]"]: renamed (filter_id__' in str(provider.report(tools))
        noted = [one for one in lint(tools, [provider]) if one.code == "renamed"]
        assert [one.path for one in noted] == [("filter[id]",), ("$top",)]
        assert "doesn't take the name of this property, and gets filter_id__" in noted[0].message
        assert noted[0].remedy == "Give the same tools to `answer` and `results` too"
    assert "filter[id]" in schema_in(openai_chat.request(tools))["properties"]


@pytest.mark.needs_threads
def test_a_turn_without_the_providers_message_says_the_names_on_the_wire():
    tools = Toolset(listing({"type": "object", "properties": {"$top": {"type": "integer"}}}))
    call = RawCall("t1", "list_apps", {"$top": 1})
    plan = Executor(tools).run_sync(tools.offer().round([call]))
    said, _ = anthropic.turn(plan.commit([]), tools)
    wire = anthropic.rules.keys.wire_name("$top")
    assert said["content"][0]["input"] == {wire: 1}
    text_call = RawCall("t1", "list_apps", '{"$top": 1}')
    plan = Executor(tools).run_sync(tools.offer().round([text_call]))
    assert anthropic.turn(plan.commit([]), tools)[0]["content"][0]["input"] == {wire: 1}


def test_names_that_would_be_equal_are_refused():
    wire = anthropic.rules.keys.wire_name("a b")
    tools = [listing({"type": "object", "properties": {"a b": {"type": "string"}, wire: {"type": "string"}}})]
    with pytest.raises(SchemaError, match=f'"a b" and "{wire}" would both be "{wire}" for Anthropic'):
        anthropic.request(tools)
    assert not anthropic.report(tools).is_accepted


def test_a_key_that_is_there_in_both_spellings_stays():
    tools = [listing({"type": "object", "properties": {"a b": {"type": "string"}}})]
    wire = anthropic.rules.keys.wire_name("a b")
    content = [{"type": "tool_use", "id": "t", "name": "list_apps", "input": {"a b": "1", wire: "2"}}]
    (call,) = anthropic.calls({"content": content, "stop_reason": "tool_use"}, tools)
    assert call.arguments == {"a b": "1", wire: "2"}


def test_whatever_says_the_name_of_a_property_says_the_new_one():
    schema = {
        "type": "object",
        "properties": {"a b": {"type": "string"}, "c": {"$ref": "#/properties/a%20b"}},
        "required": ["a b"],
        "dependentRequired": {"a b": ["c"], "c": ["a b"]},
        "if": {"required": ["a b"]},
        "then": {"properties": {"a b": {"const": {"a b": 1}}}},
    }
    wire = anthropic.rules.keys.wire_name("a b")
    request = anthropic.request([listing(schema)])
    sent = schema_in(request)
    assert sent["properties"] == {wire: {"type": "string"}, "c": {"$ref": f"#/properties/{wire}"}}
    assert sent["required"] == [wire]
    assert sent["dependentRequired"] == {wire: ["c"], "c": [wire]}
    said = request["tools"][0]["description"].partition("the JSON Schema ")[2].removesuffix(".")
    assert json.loads(said) == {
        "if": {"required": [wire]},
        "then": {"properties": {wire: {"const": {"a b": 1}}}},
    }


# --- descriptions and numbers ----------------------------------------------------------------------


@tool
def run(code: str) -> str:
    """Run code."""
    return code


def test_a_description_that_is_too_long_is_refused_by_name():
    long = run.with_(description="x" * 1025)
    assert openai_chat.request([run.with_(description="x" * 1024)])
    with pytest.raises(
        SchemaError, match=r"has 1,025 characters, but OpenAI Chat Completions takes only 1,024"
    ):
        openai_chat.request([long])
    report = openai_chat.report([run, long.with_(name="other")])
    assert [bool(one.refused) for one in report.tools] == [False, True]
    assert report.tools[1].size is None
    (error,) = [one for one in lint([long], [openai_chat]) if one.severity == "error"]
    assert "1,025 characters" in error.message
    assert openai_responses.request([long])
    # What counts is what is sent.
    tools = Toolset(long)
    assert openai_chat.request(tools.offer(descriptions={"run": "Run."}))
    assert openai_chat.report(tools.offer(descriptions={"run": "Run."})).is_accepted
    with pytest.raises(SchemaError, match="has 1,030 characters"):
        openai_chat.request(Toolset(run).offer(descriptions={"run": "y" * 1030}))


def test_too_many_tools_are_refused():
    many = [run.with_(name=f"run_{number}") for number in range(129)]
    assert openai_chat.request(many[:128])
    with pytest.raises(SchemaError, match="there are 129 tools, but a request takes only 128"):
        openai_chat.request(many)
    assert "129 tools" in openai_chat.report(many).refused[0].message
    assert any(one.severity == "error" for one in lint(many, [openai_chat]))
    assert gemini.request(many)


def test_rules_of_your_own():
    own = openai_compatible("ours", rules=Rules(keys=NameRule(16, ""), longest_description=20, most_tools=1))
    tools = [
        listing({"type": "object", "properties": {"a-b": {"type": "string"}}}).with_(description="Short.")
    ]
    (key,) = schema_in(own.request(tools))["properties"]
    assert own.rules.keys.takes(key)
    with pytest.raises(SchemaError, match="there are 2 tools"):
        own.request([*tools, run])


def test_the_names_in_the_recordings_are_taken_as_they_are():
    """What a provider has taken is never renamed."""
    seen = 0
    for exchange in exchanges():
        for found in (exchange["request"] or {}).get("tools") or []:
            if exchange["status"] == 200 and isinstance(found, dict) and "input_schema" in found:
                names = property_names(found["input_schema"])
                assert all(anthropic.rules.keys.takes(name) for name in names)
                seen += len(names)
            for inner in found.get("functionDeclarations", ()) if isinstance(found, dict) else ():
                names = property_names(inner.get("parameters") or {})
                assert all(gemini_parameters.rules.keys.takes(name) for name in names)
                seen += len(names)
    assert seen > 500


def test_every_schema_inside_is_looked_through():
    schema = {
        "anyOf": [{"properties": {"a": {}}}],
        "$defs": {"x": {"properties": {"b": {"items": {"properties": {"c": {}}}}}}},
    }
    assert property_names(schema) == ["a", "b", "c"]
    assert rebuilt(schema, lambda inner: inner) == schema
