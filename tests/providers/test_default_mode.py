"""What every provider gets without a strict mode fits the rules of its API, whoever wrote the schema."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft202012Validator
from provider_traffic import DATA
from strategies import OBJECTS
from test_dialect_laws import root_in

from operator_schema import SchemaError, providers, tool_input
from operator_schema.engine import in_current_draft, unsaid_parts
from operator_schema.tools import document_tool

PROVIDERS = [
    *[getattr(providers, name) for name in providers.provider_names()],
    providers.openai_compatible("OpenRouter"),
]
PLAIN = [provider for provider in PROVIDERS if provider.always is None]
TESTS = Path(__file__).parents[1]
SUITE = TESTS / "schema" / "json_schema_test_suite"
JUDGES = {
    "draft4": ("http://json-schema.org/draft-04/schema#", Draft4Validator),
    "draft7": ("http://json-schema.org/draft-07/schema#", Draft7Validator),
    "draft2020-12": ("https://json-schema.org/draft/2020-12/schema", Draft202012Validator),
}


# --- the judge: it reads what is sent, and nothing else ----------------------------------------------

ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
MORE = ("unevaluatedItems", "unevaluatedProperties", "contentSchema")
LISTS = ("prefixItems", "anyOf", "oneOf", "allOf")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
CURRENT = Draft202012Validator(Draft202012Validator.META_SCHEMA)
AT_THE_ROOT = ("oneOf", "anyOf", "allOf", "enum", "const", "not")


def schemas_in(schema: Any) -> list[dict[str, Any]]:
    """List a schema and all inside it."""
    if not isinstance(schema, dict):
        return []
    inside = [schema[key] for key in (*ONE, *MORE) if key in schema]
    inside += [one for key in LISTS for one in schema.get(key, [])]
    inside += [one for key in NAMED for one in schema.get(key, {}).values()]
    return [schema, *[found for one in inside for found in schemas_in(one)]]


def broken_rules(root: dict[str, Any], *, takes_unions: bool) -> list[str]:
    """List the rules of the APIs of OpenAI, Anthropic, Mistral and xAI that a schema breaks."""
    found = [error.message for error in CURRENT.iter_errors(root)]
    if root.get("type") != "object" or not isinstance(root.get("properties"), dict):
        found.append("the root isn't an object with properties")
    if not takes_unions:
        found += [f"{key} at the root" for key in (*AT_THE_ROOT, "$ref") if key in root]
    if "$schema" in root and "2020-12" not in root["$schema"]:
        found.append("it names another draft")
    for part in schemas_in(root):
        kinds = part.get("type", [])
        if "array" in (kinds if isinstance(kinds, list) else [kinds]) and "items" not in part:
            found.append(f"array schema missing items: {part}")
        reference = part.get("$ref", "")
        if reference.startswith("#/") and leads_nowhere(root, reference):
            found.append(f"{reference} leads nowhere")
    return found


def leads_nowhere(root: dict[str, Any], reference: str) -> bool:
    found: Any = root
    for written in reference.split("/")[1:]:
        name = unquote(written).replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(name)] if isinstance(found, list) else found[name]
        except (KeyError, IndexError, ValueError, TypeError):
            return True
    return False


def sent_by(provider, tool) -> dict[str, Any]:
    body = provider.request([tool])
    (sent,) = body.get("tools") or body["toolConfig"]["tools"]
    return root_in(sent)


def made(schema: dict[str, Any]):
    return document_tool(lambda _: "ok", schema, name="foreign", description="Do it.")


def assert_taken(tool, chosen=PLAIN) -> None:
    for provider in chosen:
        wrong = broken_rules(sent_by(provider, tool), takes_unions=provider.takes_unions)
        assert wrong == [], provider.name
        assert provider.report([tool]).is_accepted


def test_the_judge_knows_what_was_refused():
    pair = {"type": "array", "prefixItems": [{}, {}]}
    refused = [
        {"type": "object", "properties": {"at": pair}},
        {"type": "object", "properties": {"at": {"anyOf": [{"type": ["array", "null"]}]}}},
        {"type": "object", "properties": {"at": {"type": "array", "items": [{}]}}},
        {"type": "object", "properties": {"at": {"minimum": 0, "exclusiveMinimum": True}}},
        {"type": "object", "properties": {}, "anyOf": [{"required": ["a"]}]},
        {"type": "object", "properties": {}, "$schema": JUDGES["draft7"][0]},
        {"type": "object", "properties": {"at": {"$ref": "#/$defs/At"}}},
        {"properties": {}},
        {"type": "object"},
    ]
    assert all(broken_rules(schema, takes_unions=False) for schema in refused)
    taken = {"type": "object", "properties": {"at": {**pair, "items": {}}}}
    assert broken_rules(taken, takes_unions=False) == []


# --- everything that is recorded ---------------------------------------------------------------------


def recorded_schemas() -> list[dict[str, Any]]:
    """List the different schemas of tools of MCP servers, and of requests that some provider took."""
    found: list[Any] = []
    for path in (TESTS / "workbench" / "compare" / "histories").glob("*/*.json"):
        tools = json.loads(path.read_text(encoding="utf-8")).get("tools", [])
        found += [one["input_schema"] for one in tools]
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for exchange in map(json.loads, lines):
            if exchange["status"] == 200:
                found += parameters_in((exchange["request"] or {}).get("tools") or [])
    texts = {json.dumps(one, sort_keys=True): one for one in found}
    return [one for one in texts.values() if one.get("type", "object") == "object"]


def parameters_in(value: Any) -> list[dict[str, Any]]:
    """List what stands under the keys for the parameters of a tool, at any depth."""
    if isinstance(value, list):
        return [found for one in value for found in parameters_in(one)]
    if not isinstance(value, dict):
        return []
    keys = ("parameters", "parametersJsonSchema", "input_schema", "json")
    own = [value[key] for key in keys if isinstance(value.get(key), dict)]
    return own or [found for one in value.values() for found in parameters_in(one)]


RECORDED = recorded_schemas()


def test_each_recorded_definition_is_taken_by_every_provider():
    assert len(RECORDED) > 180
    for place, schema in enumerate(RECORDED):
        assert_taken(made(schema), [PLAIN[place % len(PLAIN)]])


# --- the same, changed as servers write them ---------------------------------------------------------

OLD = [
    {"type": "array"},
    {"type": ["array", "null"], "maxItems": 3},
    {"type": "array", "items": [{"type": "number"}, {"type": "array"}], "additionalItems": False},
    {"type": "array", "items": [{"type": "number"}], "additionalItems": {"type": "array"}},
    {"type": "array", "items": []},
    {"type": "array", "prefixItems": [{"type": "string"}]},
    {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
    {"type": "number", "maximum": 9, "exclusiveMaximum": True},
    {"type": "object", "dependencies": {"a": ["b", "b"], "c": {"type": "object", "required": ["a"]}}},
    {"type": ["string", "string"], "title": None, "description": 5, "deprecated": "yes", "examples": {}},
    {"type": "object", "required": ["a", "a"], "properties": {"a": {"type": "array"}}},
    {"$ref": "https://example.com/schema.json"},
    {"not": {"type": "array"}},
    {"enum": [["type"]], "default": {"type": "array"}},
]
BESIDE = [
    {},
    {"$schema": JUDGES["draft4"][0], "id": "https://example.com/tool"},
    {"$schema": JUDGES["draft7"][0], "$id": "#here"},
    {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"oneOf": [{"properties": {"a": {"type": "array"}}}, {"type": "string"}]},
    {"allOf": [{"if": {"required": ["a"]}, "then": {"required": ["b"]}}]},
    {"not": {"required": ["a"]}, "enum": [{"a": 1}]},
    {"const": {"a": 1}},
    {
        "$ref": "#/definitions/A",
        "definitions": {"A": {"type": "object", "properties": {"a": {"type": "array"}}}},
    },
]


@given(
    st.sampled_from(RECORDED),
    st.sampled_from(OLD),
    st.sampled_from(BESIDE),
    st.integers(0),
    st.sampled_from([*NAMED[:1], *NAMED[2:4], "items", "anyOf", "additionalProperties"]),
    st.sampled_from(PLAIN),
)
def test_changed_definitions_are_taken(schema, old, beside, place, keyword, provider):
    changed, old = copy.deepcopy(({**schema, **beside}, old))
    parts = schemas_in(changed)
    part = parts[place % len(parts)]
    where = keyword if part is not changed or keyword in NAMED else "properties"
    if where in NAMED:
        part[where] = {**part.get(where, {}), "a": old}
    else:
        part[where] = [old, *part.get(where, [])] if where == "anyOf" else old
    try:
        tool = made(changed)
    except SchemaError:
        return  # it is no schema: a list of items in the place of a schema, for one
    try:
        assert_taken(tool, [provider])
    except SchemaError as error:
        assert "no object fits its schema" in str(error)  # one of two outcomes


@given(OBJECTS, st.sampled_from(PLAIN))
def test_drawn_types_are_taken(annotation, provider):
    try:
        tool = tool_input(annotation, name="drawn", description="Drawn.")
        sent_by(provider, tool)
    except SchemaError:
        return  # such as two names that would be equal
    assert_taken(tool, [provider])


# --- the meaning stays -------------------------------------------------------------------------------


def groups(draft: str) -> list[dict[str, Any]]:
    files = json.loads((SUITE / f"{draft}.json").read_text(encoding="utf-8"))
    return [group for all_of in files.values() for group in all_of if isinstance(group["schema"], dict)]


@pytest.mark.parametrize(("draft", "least"), [("draft4", 600), ("draft7", 900), ("draft2020-12", 1200)])
def test_a_schema_of_any_draft_means_the_same_in_the_current_one(draft, least):
    address, judge = JUDGES[draft]
    count = 0
    for group in groups(draft):
        schema = group["schema"] if judge is Draft202012Validator else {**group["schema"], "$schema": address}
        if unsaid_parts(schema):
            continue
        written = in_current_draft(schema)
        assert list(CURRENT.iter_errors(written)) == []
        for case in group["tests"]:
            said = verdict(judge(schema), case["data"])
            if isinstance(said, str):  # the validator itself fails, as some versions do
                continue
            count += 1
            assert verdict(Draft202012Validator(written), case["data"]) == said, (schema, written, case)
    assert count > least


def verdict(judge: Any, value: Any) -> bool | str:
    """Return whether a value fits, or which error the judge itself has, such as a pattern it can't read."""
    try:
        return judge.is_valid(value)
    except Exception as error:  # noqa: BLE001  # of re, of referencing, or too deep
        return type(error).__name__


def test_what_no_api_reads_is_told_in_words_and_reported():
    schema = {
        "type": "object",
        "properties": {
            "address": {"$ref": "https://example.com/address.json", "description": "Where to."},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "string"}],
                "unevaluatedItems": {"type": "integer"},
            },
        },
    }
    tool = made(schema)
    for provider in PLAIN:
        assert sent_by(provider, tool)["properties"] == {
            "address": {
                "description": 'Where to. (fits the JSON Schema {"$ref":"https://example.com/address.json"})'
            },
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "string"}],
                "description": 'Fits the JSON Schema {"unevaluatedItems":{"type":"integer"}}.',
                "items": {},
            },
        }
        assert [(loss.path, loss.code, loss.keyword) for loss in provider.report([tool]).tools[0].losses] == [
            (("address",), "weakened", "$ref"),
            (("pair",), "weakened", "unevaluatedItems"),
        ]
