"""The limits that providers document or showed: exactly as much is taken, and one more isn't.

The numbers here are written down a second time, from the pages of the providers, so that no slip in a table
goes unnoticed.
"""

import json

import pytest
from offers import offer_of

from operator_schema import SchemaError
from operator_schema.providers import (
    anthropic,
    bedrock,
    cohere,
    gemini,
    gemini_parameters,
    openai_chat,
    openai_responses,
    xai,
)
from operator_schema.tools import document_tool

TEXT = {"type": "string"}


def do(arguments: dict[str, object]) -> str:
    return str(arguments)


def one(properties, required=None, name="f"):
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }
    return document_tool(do, schema, name=name)


def tools(number):
    return [one({"a": TEXT}, name=f"f{i}") for i in range(number)]


def properties(number):
    return [one({f"p{i}": TEXT for i in range(number)})]


def optional(number):
    return [one({f"p{i}": TEXT for i in range(number)}, required=[])]


def optional_of_two(number):
    return [
        one({f"p{i}": TEXT for i in range(part)}, required=[], name=f"f{part}")
        for part in (10, number - 10)
    ]  # fmt: skip


def unions(number):
    return [one({f"p{i}": {"anyOf": [TEXT, {"type": "null"}]} for i in range(number)})]


def unions_of_two(number):
    either = {"anyOf": [TEXT, {"type": "null"}]}
    return [one({f"p{i}": either for i in range(part)}, name=f"f{part}") for part in (6, number - 6)]


def levels(number):
    inner = TEXT
    for _ in range(number - 1):
        inner = {
            "type": "object",
            "properties": {"a": inner},
            "required": ["a"],
            "additionalProperties": False,
        }
    return [one({"a": inner})]


def values_of_enums(number):
    texts = [str(i) for i in range(number)]
    return [one({"a": {"enum": texts[:200]}, "b": {"enum": texts[200:]}})]


def characters_of_one_enum(number):
    texts = [f"{i:03}" for i in range(251)]
    return [one({"a": {"enum": [*texts[:-1], texts[-1] + "x" * (number - 3 * 251)]}})]


def characters(number):
    return [one({f"{i:0999}": TEXT for i in range(number // 999)} | {"x" * (number % 999): TEXT})]


ALL_TOGETHER = [
    (openai_chat, properties, 5_000),
    (openai_chat, levels, 10),
    (openai_responses, values_of_enums, 1_000),
    (openai_responses, characters_of_one_enum, 15_000),
    (openai_responses, characters, 120_000),
    (anthropic, tools, 20),
    (anthropic, optional, 23),
    (anthropic, optional_of_two, 24),
    (anthropic, unions, 15),
    (anthropic, unions_of_two, 16),
    (cohere, properties, 200),
]


@pytest.mark.parametrize(("provider", "made", "most"), ALL_TOGETHER)
def test_a_strict_request_has_a_size(provider, made, most):
    assert provider.request(offer_of(made(most), strict=True))
    with pytest.raises(SchemaError, match=f"{most + 1:,} .*, but a request takes only {most:,}"):
        provider.request(offer_of(made(most + 1), strict=True))


ARRAY = {"type": "array", "items": TEXT}
MAP = {"type": "object", "additionalProperties": TEXT}


@pytest.mark.parametrize(
    ("provider", "schema", "keyword", "most"),
    [
        (anthropic, ARRAY, "minItems", 1),
        (xai, ARRAY, "minItems", 256),
        (xai, ARRAY, "maxItems", 256),
        (xai, TEXT, "minLength", 2048),
        (xai, TEXT, "maxLength", 2048),
        (xai, MAP, "maxProperties", 64),
    ],
)
def test_a_number_that_is_too_large_is_left_to_words(provider, schema, keyword, most):
    def said(number):
        request = provider.request(offer_of([one({"a": {**schema, keyword: number}})], strict=True))
        return f'"{keyword}": {number}' in json.dumps(request)

    assert said(most)
    assert not said(most + 1)


NAMES = [
    (openai_chat, 64),
    (openai_responses, 64),
    (anthropic, 128),
    (bedrock, 64),
    (gemini, 64),
    (cohere, 64),
]


@pytest.mark.parametrize(("provider", "most"), NAMES)
def test_a_name_of_a_tool_has_a_length(provider, most):
    whole, longer = (provider.names.wire_name("n" * length) for length in (most, most + 1))
    assert whole == "n" * most
    assert longer != "n" * (most + 1)
    assert len(longer) <= most


@pytest.mark.parametrize("provider", [anthropic, bedrock, gemini_parameters])
def test_a_name_of_a_property_has_a_length(provider):
    def is_kept(name):
        return f'"{name}"' in json.dumps(provider.request([one({name: TEXT})]))

    assert is_kept("n" * 64)
    assert not is_kept("n" * 65)
