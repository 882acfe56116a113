"""Engines that hold a model to a JSON Schema allow what decodes, but for a closed list of reasons.

`GRAMMAR_EXAMPLES` says how many random types each engine and wire form get, `GRAMMAR_SEED` which;
`make grammars` runs many more.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from itertools import repeat

import pytest
from grammars.campaign import COMPILED, ENGINES, UNFINISHED, Judge, compare
from grammars.engine import END, RefusedSchemaError, tokens_of
from grammars.of_llama_cpp import LlamaCpp
from grammars.page import BEGIN, PAGE, listed_on, replaced, written
from grammars.reasons import (
    ACCEPTED,
    AMBIGUOUS,
    DECODED,
    DEPTH,
    EQUAL,
    ROUNDED,
    SEVERAL,
    TITLE,
    TOO_LONG,
    closed_list,
    described,
    not_enforced,
    stricter,
)
from grammars.subjects import LOCAL, PLAIN, WIRES, Subject, input_class
from grammars.walks import first_refused, walk

from operator_schema import Codec, Finding, SchemaError, Toolset, tool_input
from operator_schema.providers import llama_cpp
from operator_schema.schema.plain_patterns import plain_pattern

EXAMPLES = int(os.environ.get("GRAMMAR_EXAMPLES", "30"))
SEED = os.environ.get("GRAMMAR_SEED", "0")

each_engine = pytest.mark.parametrize("name", ENGINES)
POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "boolean"}},
    "required": ["x"],
    "additionalProperties": False,
}


@each_engine
@pytest.mark.parametrize("wire", WIRES)
def test_what_a_grammar_allows_decodes_and_what_is_encoded_is_allowed(name, wire):
    counts, disagreements = compare(name, wire, EXAMPLES, SEED)
    shown = "\n\n".join(
        [f"{found.count}\n{found.why}\n{found.text}\n{found.schema}" for found in disagreements]
    )
    assert not disagreements, shown

    def share(step, outcome):
        of_step = {count.outcome: number for count, number in counts.items() if count.step == step}
        return of_step.get(outcome, 0) / sum(of_step.values())

    assert share("schemas", COMPILED) > 0.5
    assert share("walks", DECODED) > 0.6
    assert share("walks", UNFINISHED) < 0.01
    assert share("instances", ACCEPTED) > LEAST_ACCEPTED.get(name, 0.9)
    if wire == LOCAL:
        outcomes = {count.outcome for count in counts if count.step in {"schemas", "walks"}}
        assert "schemas" not in {found.count.step for found in disagreements}
        assert {one for one in outcomes if one in closed_list(name)["schemas"]} <= {TOO_LONG}
        if name == "xllamacpp":
            assert {one for one in outcomes if one.startswith("not enforced")} <= KEPT_FOR_OTHERS


LEAST_ACCEPTED = {"xllamacpp": 0.4}
"""It wants required keys first, and integers of at most 16 digits; the types have many others."""

KEPT_FOR_OTHERS = {
    not_enforced(keyword)
    for keyword in (
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", SEVERAL),  # of other numbers
        *("format date", "format date-time", "format time"),  # such as the 30th of February
    )
}
"""What the dialect of llama.cpp has and its grammars don't hold in every case."""


def test_no_schema_of_the_dialect_is_refused_by_the_server_strict_or_not():
    engine, rng = LlamaCpp(), random.Random(SEED)  # noqa: S311  # repeatable on purpose
    taken = 0
    for _ in range(4 * EXAMPLES):
        made = tool_input(input_class(rng))
        for strict in (False, True):
            try:
                (sent,) = llama_cpp.request(Toolset(made).offer(strict=strict))["tools"]
            except SchemaError:
                assert strict
                continue
            engine.grammar_of(sent["function"]["parameters"])
            taken += 1
    assert taken > 6 * EXAMPLES


@pytest.mark.parametrize(
    "limits",
    [
        {"type": "string", "minLength": 1000, "maxLength": 1000},
        {"type": "array", "items": {"type": "string", "maxLength": 1000}, "minItems": 1000, "maxItems": 1000},
        {"type": "string", "pattern": "^([a-z]{9}x){400}$"},
        *[
            {"type": "integer", keyword: sign * bound}
            for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            for bound in (1, 9, 10, 2 * 10**14, 10**15 - 1)
            for sign in (1, -1)
        ],
    ],
)
def test_the_greatest_numbers_of_the_dialect_are_ones_for_the_server(limits):
    assert plain_pattern(limits.get("pattern", "^a$"))
    LlamaCpp().grammar_of({"type": "object", "properties": {"a": limits}, "required": ["a"]})


def test_the_server_reads_a_choice_that_names_a_tool_as_auto():
    """So the provider offers that tool alone."""
    engine = LlamaCpp()
    named = {"type": "function", "function": {"name": "f"}}
    is_lazy = [engine.settings_of(POINT, choice)["grammar_lazy"] for choice in ("auto", "required", named)]
    assert is_lazy == [True, False, True]


@each_engine
def test_walks_reach_all_that_a_grammar_allows(name):
    engine = ENGINES[name]()
    rng = random.Random(0)  # noqa: S311  # repeatable on purpose
    grammar = engine.compile({"enum": ["a", "bc", None, 12]})
    assert {walk(grammar, rng) for _ in range(100)} == {b'"a"', b'"bc"', b"null", b"12"}


@each_engine
def test_the_first_byte_that_a_grammar_refuses_is_found(name):
    grammar = ENGINES[name]().compile(POINT)
    assert first_refused(grammar, b'{"x":1,"y":true}') is None
    assert first_refused(grammar, b'{"x":1,"y":2}') == len(b'{"x":1,"y":')
    assert first_refused(grammar, b'{"x":1') == len(b'{"x":1')


def test_the_judge_counts_what_is_not_on_the_list():
    """A decoder that refuses everything, and instances that aren't any."""

    def problems(text):
        return (Finding((), "bad_type", "it isn't one"),)

    subject = Subject(PLAIN, POINT, POINT, frozenset(), problems, repeat({"x": "one"}))
    for name in ENGINES:
        judge = Judge(ENGINES[name](), random.Random(0))  # noqa: S311  # repeatable on purpose
        judge.compare(subject)
        steps = {found.count.step for found in judge.outcome.disagreements}
        assert steps == {"walks", "instances"}


def test_a_mask_becomes_tokens():
    assert tokens_of(bytes([0b101, 0, 1])) == [0, 2, 16]
    assert tokens_of(b"\x00" * 32 + b"\xff") == [END]


def test_the_same_seed_gives_the_same_run():
    for name in ENGINES:
        assert compare(name, PLAIN, 5, "again") == compare(name, PLAIN, 5, "again")


RARE = {
    *[(name, reason) for name in ENGINES for reason in (AMBIGUOUS, EQUAL)],
    ("llguidance", not_enforced("format date")),
    ("outlines-core", "a value of any type with a description"),
    ("outlines-core", not_enforced("maxProperties")),
    ("outlines-core", ROUNDED),
    ("outlines-core", stricter(DEPTH)),
    ("xgrammar", not_enforced("format ipv6")),
    ("xgrammar", not_enforced(SEVERAL)),
    ("xgrammar", not_enforced(TITLE)),
    ("xgrammar", ROUNDED),
    ("llguidance", described("maxProperties")),
    ("xllamacpp", described("maxProperties")),
    ("xllamacpp", not_enforced("format date-time")),
    ("xllamacpp", not_enforced("maximum")),
    ("xllamacpp", ROUNDED),
    ("xllamacpp", stricter("format time")),
}
"""What may not occur among the examples of the page."""


def test_the_page_has_the_reasons_of_the_closed_list_and_each_occurred():
    found = listed_on(PAGE.read_text(encoding="utf-8"))
    lists = {(engine, step): reasons for engine in ENGINES for step, reasons in closed_list(engine).items()}
    assert {key: set(reasons) for key, reasons in found.items()} == lists
    unseen = {
        (engine, reason)
        for (engine, _), reasons in found.items()
        for reason, number in reasons.items()
        if not number
    }
    assert unseen <= RARE


TITLES = {
    "type": "object",
    "properties": {
        "a": {"type": "object", "properties": {"title": {"type": "string"}}},
        "b": {"type": "object", "properties": {"title": {"type": "integer"}}},
    },
}
DATE_TIME = {"type": "string", "format": "date-time"}
TWO_DIGITS = {"type": "string", "pattern": "[0-9]{2}"}
NESTED = {
    "$ref": "#/$defs/N",
    "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}},
}

REQUIRED = {
    "$ref": "#/$defs/N",
    "$defs": {
        "N": {
            "type": "object",
            "properties": {"k": {"type": "integer"}, "n": {"$ref": "#/$defs/N"}},
            "required": ["k", "n"],
        }
    },
}
ENDED = '{"k":1,"n":{"k":1,"n":{"k":1,}}}'


@pytest.mark.parametrize(
    ("name", "schema", "allowed", "refused"),
    [
        ("llguidance", {"type": "number", "multipleOf": 0.25}, "[0.50]", "[0.5]"),
        ("llguidance", TWO_DIGITS, '"a12"', '"a1"'),
        ("outlines-core", {"type": "integer", "maximum": 3}, "4", "4.5"),
        ("outlines-core", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, "[1,1]", "1"),
        ("outlines-core", DATE_TIME, '"2026-01-31T09:30:00Z"', '"2026-01-31T09:30:00+01:00"'),
        ("outlines-core", DATE_TIME, '"2026-01-31T09:30:00.123"', '"2026-01-31T09:30:00.123456"'),
        ("outlines-core", TWO_DIGITS, '"12"', '"a12"'),
        ("outlines-core", REQUIRED, f'{{"k":1,"n":{ENDED}}}', '{"k":1,"n":1}'),
        ("outlines-core", NESTED, '{"n":{"n":{}}}', '{"n":{"n":{"n":{"n":{}}}}}'),
        ("xgrammar", TITLES, '{"a":{"title":"x"},"b":{"title":"x"}}', '{"a":{"title":"x"},"b":{"title":1}}'),
        ("xgrammar", {"type": "string", "pattern": "^([0-9]+D)?T$"}, '"3T"', '"3"'),
        ("xgrammar", TWO_DIGITS, '"12"', '"a12"'),
        ("xgrammar", {"type": "string", "maxLength": 4}, '"\x01"', r'"\"a"'),
        ("xllamacpp", {"type": "number", "maximum": 3}, "4", "true"),
        ("xllamacpp", TWO_DIGITS, '"no"', "12"),
        ("xllamacpp", {"type": "string", "format": "ipv4"}, '"no"', "12"),
        ("xllamacpp", {**POINT, "required": ["y"]}, '{"y":true,"x":1}', '{"x":1,"y":true}'),
        ("xllamacpp", {"type": "integer"}, "1234567890123456", "12345678901234567"),
    ],
)
def test_engines_have_the_weak_points_that_the_page_names(name, schema, allowed, refused):
    """Where a newer version hasn't, the page has to change."""
    if schema.get("multipleOf"):
        schema = {"type": "array", "items": schema}
    grammar = ENGINES[name]().compile(schema)
    assert first_refused(grammar, allowed.encode()) is None
    assert first_refused(grammar, refused.encode()) is not None


def test_completions_of_a_server_with_llguidance_fail_open():
    """Where llguidance refuses a schema, nothing is enforced, and the answer doesn't say so."""
    engine = LlamaCpp()
    assert engine.completion({**LIST, "uniqueItems": True}).lstrip()[:1] != "["
    (sent,) = llama_cpp.request([tool_input(WithSet)])["tools"]
    described = sent["function"]["parameters"]["properties"]["numbers"]
    assert {key: described[key] for key in LIST} == LIST
    assert engine.completion(described).lstrip()[:1] == "["


LIST = {"type": "array", "items": {"type": "integer"}}


@dataclass
class WithSet:
    """A set."""

    numbers: set[int]


@pytest.mark.parametrize(
    "schema", [{"items": False}, {"type": "array", "items": {"type": "integer"}, "maxItems": 2000}]
)
def test_the_server_of_llama_cpp_refuses_what_the_page_names(schema):
    with pytest.raises(RefusedSchemaError):
        LlamaCpp().grammar_of({"type": "object", "properties": {"a": schema}})


def test_what_is_written_to_the_page_can_be_read_again():
    counts, _ = compare("llguidance", PLAIN, 20, "page")
    page = replaced(PAGE.read_text(encoding="utf-8"), written(counts, "Measured in a test."))
    assert page.count(BEGIN) == 1
    for (engine, step), reasons in listed_on(page).items():
        for reason, number in reasons.items():
            assert counts[engine, PLAIN, step, reason] == number


def test_the_decoder_stays_as_strict_as_without_an_engine():
    """What a grammar can't hold a model to is still an error: here a set with two equal items."""
    assert [problem.code for problem in Codec(set[int]).report([1, 1])] == ["duplicate"]
