"""Strict tools that providers judged: the tables agree with each 200 and each 400 that was recorded."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated

import pytest
from annotated_types import MaxLen, MinLen
from offers import offer_of
from provider_traffic import exchanges, provider_of

from operator_schema import SchemaError, tool_input
from operator_schema.providers import anthropic, gemini, openai_chat
from operator_schema.schema.dialect_renderer import strange_parts
from operator_schema.schema.request_sizes import over_limits, size_of
from operator_schema.tools import document_tool


def run(arguments: dict[str, object]) -> str:
    return str(arguments)


def strict_tools(exchange):
    """List name and schema of the strict tools of a recorded request."""
    tools = (exchange["request"] or {}).get("tools") or []
    found = [tool.get("function", tool) for tool in tools]
    return [
        (one["name"], one["parameters"] if "parameters" in one else one["input_schema"])
        for one in found
        if one.get("strict")
    ]


RECORDED = [
    (
        provider_of(exchange),
        f"{exchange['cassette'].rpartition('/')[2]}-{exchange['turn']}",
        exchange["status"],
        strict_tools(exchange),
    )
    for exchange in exchanges()
    if provider_of(exchange) is not None and strict_tools(exchange)
]

TEXT = {"type": "string"}
NULLABLE = {"type": ["string", "null"]}


def record(required=(), definitions=None, **properties):
    document = {"type": "object", "properties": properties, "required": list(required)}
    return document if definitions is None else {**document, "$defs": definitions}


def closed(document):
    return {**document, "additionalProperties": False}


OTHERS = [
    # Told in our own words; the recordings are public.
    # https://github.com/0xPlaygrounds/rig/tree/main/tests/cassettes/anthropic/strict_schema_limits
    (
        anthropic,
        "sixteen_unions_over_sixteen_tools",
        200,
        [(f"tool_{number}", closed(record(["value"], value=NULLABLE))) for number in range(16)],
    ),
    (
        anthropic,
        "seventeen_unions_in_one_tool",
        400,
        [("tool", closed(record(**{f"value_{number}": NULLABLE for number in range(17)})))],
    ),
    (
        anthropic,
        "twenty_four_optional_properties_in_one_tool",
        400,
        [("tool", closed(record(**{f"value_{number}": TEXT for number in range(24)})))],
    ),
    (
        anthropic,
        "twenty_five_optional_properties_in_one_tool",
        400,
        [("tool", closed(record(**{f"value_{number}": TEXT for number in range(25)})))],
    ),
    # https://github.com/pydantic/pydantic-ai/tree/main/tests/models/google/cassettes/test_output
    (
        gemini,
        "validated_takes_what_other_strict_modes_refuse",
        200,
        [
            (
                "register",
                record(
                    ["name", "secret", "labels", "marks", "share", "place", "address"],
                    {"Address": record(["street"], street=TEXT, unit={"anyOf": [TEXT, {"type": "null"}]})},
                    name={"type": "string", "minLength": 1, "maxLength": 50},
                    secret={"type": "string", "pattern": "(?=.*[0-9]).+"},
                    labels={"type": "object", "additionalProperties": TEXT},
                    marks={"type": "array", "items": TEXT, "uniqueItems": True},
                    share={"type": "number", "minimum": 0, "maximum": 1},
                    place={
                        "type": "array",
                        "prefixItems": [{"type": "number"}, {"type": "number"}],
                        "minItems": 2,
                        "maxItems": 2,
                    },
                    address={"$ref": "#/$defs/Address"},
                    nickname={"anyOf": [TEXT, {"type": "null"}], "default": None},
                    retries={"type": "integer", "default": 3},
                ),
            )
        ],
    ),
    (
        gemini,
        "validated_takes_recursion",
        200,
        [
            (
                "save",
                record(
                    ["tree"],
                    {
                        "Node": record(
                            ["label"],
                            label=TEXT,
                            children={"type": "array", "items": {"$ref": "#/$defs/Node"}, "default": []},
                        )
                    },
                    tree={"$ref": "#/$defs/Node"},
                ),
            )
        ],
    ),
    # https://github.com/crewAIInc/crewAI/tree/main/lib/crewai/tests/cassettes/llms/openai
    (
        openai_chat,
        "titles",
        200,
        [("add", closed(record(["a", "b"], a={"type": "integer", "title": "A"}, b={"type": "integer"})))],
    ),
]

JUDGED = RECORDED + OTHERS

BEYOND = {("weakened", "allOf"), ("weakened", "pattern"), ("weakened", "uniqueItems")}
"""What a document of others says beyond its graph isn't sent, whoever takes it; decoding checks it."""


IN_ALL_OF = {'its schema has the keyword "allOf"', "its schema leaves open what type a value has"}
"""No graph is written with it, so no table has it."""


def spelled_as_ours(document):
    """Return a schema with the words that the library has for the same: it writes no `const`."""
    if isinstance(document, list):
        return [spelled_as_ours(one) for one in document]
    if not isinstance(document, dict):
        return document
    found = {key: spelled_as_ours(value) for key, value in document.items()}
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "definitions" in found:
        found["$defs"] = found.pop("definitions")
    return found


def named(cases):
    return pytest.mark.parametrize(
        ("provider", "tools"),
        [(provider, tools) for provider, _, _, tools in cases],
        ids=[name for _, name, _, _ in cases],
    )


@named([case for case in JUDGED if case[2] == 200])
def test_what_a_provider_took_is_sent_whole(provider, tools):
    offered = [document_tool(run, schema, name=own) for own, schema in tools]
    report = provider.report(offered, strict=True)
    assert report.is_accepted, str(report)
    losses = {(loss.code, loss.keyword) for tool in report.tools for loss in tool.losses}
    assert losses <= BEYOND
    assert len(provider.request(offer_of(offered, strict=True))["tools"]) in {len(tools), 1}


@named([case for case in JUDGED if case[2] == 200])
def test_the_table_has_each_keyword_that_a_provider_took(provider, tools):
    schemas = [spelled_as_ours(schema) for _, schema in tools]
    strange = [what for schema in schemas for _, what in strange_parts(schema, provider.dialect)]
    assert set(strange) <= (IN_ALL_OF if "allOf" in str(schemas) else set())
    assert not over_limits(provider.dialect, [size_of(schema) for schema in schemas])


@named([case for case in JUDGED if case[2] == 400])
def test_what_a_provider_refused_is_never_sent(provider, tools):
    try:
        offered = [document_tool(run, schema, name=own) for own, schema in tools]
    except SchemaError:
        return  # it isn't even a tool
    report = provider.report(offered, strict=True)
    if report.is_accepted:  # a reference that leads nowhere: another schema is sent, which says less
        assert "weakened" in {loss.code for tool in report.tools for loss in tool.losses}
        (sent,) = provider.request(offer_of(offered, strict=True))["tools"]
        assert sent["input_schema"]["type"] == "object"
        assert "$ref" not in sent["input_schema"]


@dataclass
class Node:
    """A part of a tree."""

    label: Annotated[str, MinLen(1), MaxLen(50), re.compile("(?=.*[0-9]).+")]
    marks: set[str]
    children: list[Node] = field(default_factory=list)
    scores: dict[str, int] = field(default_factory=dict)
    retries: int = 3


def test_gemini_gets_all_of_a_type_whose_like_it_took():
    save = tool_input(Node, name="save")
    assert gemini.report([save], strict=True).tools[0].losses == ()
    ((declared,),) = [
        one["functionDeclarations"] for one in gemini.request(offer_of([save], strict=True))["tools"]
    ]
    node = declared["parametersJsonSchema"]["$defs"]["Node"]
    assert node["properties"] == {
        "label": {"type": "string", "minLength": 1, "maxLength": 50, "pattern": "(?=.*[0-9]).+"},
        "marks": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        "scores": {"type": "object", "additionalProperties": {"type": "integer"}},
        "retries": {"type": "integer", "default": 3},
    }


def test_there_are_as_many_recordings_as_there_were():
    counts = Counter((provider.name, status) for provider, _, status, _ in JUDGED)
    assert counts == {
        ("Anthropic", 200): 40,
        ("Anthropic", 400): 11,
        ("Gemini", 200): 2,
        ("OpenAI Chat Completions", 200): 1,
        ("OpenAI Responses", 200): 3,
    }
