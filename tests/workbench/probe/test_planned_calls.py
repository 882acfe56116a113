"""Which calls are planned for a tool."""

import unicodedata
import warnings

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from hypothesis.errors import HypothesisWarning as Warned
from hypothesis.errors import Unsatisfiable
from shares import share

from operator_schema.workbench.probe import drawing, plan, probe
from operator_schema.workbench.probe.calls import ProbedTool
from operator_schema.workbench.probe.drawing import storing_nothing
from operator_schema.workbench.probe.probe_options import OPTIONS

# Hypothesis 6.120 warns once in a process, of generators of other packages.
pytestmark = pytest.mark.filterwarnings("ignore:It looks like .register_random")

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "number": {"type": "integer"},
        "share": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 3}},
    },
    "required": ["title", "number", "share", "tags"],
    "additionalProperties": False,
}
TOOL = {"name": "note", "description": "Keep a note.", "inputSchema": SCHEMA}


def planned(number, chance=0):
    with storing_nothing():
        return ProbedTool.of(TOOL).calls(number, chance)


@pytest.mark.parametrize("number", [1, 6, 20])
def test_there_are_as_many_generated_valid_calls_as_were_asked_for(number):
    found = [call for call in planned(number) if call.why == "what the schema allows"]
    assert len(found) == number


@pytest.mark.parametrize("chance", range(2))
def test_generated_valid_calls_have_what_every_program_reads(chance):
    for call in planned(20, chance):
        if call.why == "what the schema allows":
            texts = [call.arguments["title"], *call.arguments["tags"]]
            kinds = {unicodedata.category(character) for text in texts for character in text}
            assert kinds.isdisjoint({"Cc", "Cs", "Cn", "Co"})
            assert abs(call.arguments["number"]) < 2**53
            assert abs(call.arguments["share"]) < 2**53
            assert type(call.arguments["share"]) in (int, float)
            assert all(len(tag) >= 3 for tag in call.arguments["tags"])


INTEGERS = {"type": "array", "items": {"type": "integer"}}
KEYWORDS = {
    "minItems": ({**INTEGERS, "minItems": 2}, [1, 2]),
    "maxItems": ({**INTEGERS, "maxItems": 3}, [1]),
    "uniqueItems": ({**INTEGERS, "uniqueItems": True}, [1]),
    "multipleOf": ({"type": "integer", "multipleOf": 5}, 5),
    "minimum": ({"type": "number", "minimum": 0.5}, 1),
    "exclusiveMaximum": ({"type": "number", "exclusiveMaximum": 9}, 1),
    "minLength": ({"type": "string", "minLength": 2}, "ab"),
    "maxLength": ({"type": "string", "maxLength": 4}, "ab"),
    "pattern": ({"type": "string", "pattern": "^[a-z]+$"}, "ab"),
    "enum": ({"type": "integer", "enum": [1, 2]}, 1),
    "minProperties": (
        {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
        {"a": 1},
    ),
    "additionalProperties": ({"type": "object", "properties": {}, "additionalProperties": False}, {}),
    "required": ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}),
}
"""Keyword to a schema of a part that has it, and a value that fits."""

AROUND = {
    "parameter": lambda part: part,
    "nested": lambda part: {"type": "object", "properties": {"x": part}, "required": ["x"]},
    "listed": lambda part: {"type": "array", "items": part, "minItems": 1},
    "nullable": lambda part: {"anyOf": [part, {"type": "null"}]},
}
INSIDE = {
    "parameter": lambda value: value,
    "nested": lambda value: {"x": value},
    "listed": lambda value: [value],
    "nullable": lambda value: value,
}


def tool_of(part, around):
    schema = {"type": "object", "properties": {"it": AROUND[around](part)}, "required": ["it"]}
    return ProbedTool.of({"name": "t", "inputSchema": schema})


@pytest.mark.hypothesis
@pytest.mark.parametrize("around", share(AROUND, len(AROUND)))
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_for_each_keyword_there_is_a_call_that_only_this_keyword_refuses(keyword, around):
    part, value = KEYWORDS[keyword]
    without = tool_of({key: inner for key, inner in part.items() if key != keyword}, around)
    calls = tool_of(part, around).variations({"it": INSIDE[around](value)})
    assert any(call.kind == "invalid" and not without.problems(call.arguments) for call in calls)


@pytest.mark.parametrize("types", ["string", ["string", "null"], ["null", "string", "integer"]])
def test_texts_of_a_format_are_samples_of_it_whatever_else_is_allowed(types):
    tool = tool_of({"type": types, "format": "date"}, "parameter")
    calls = tool.variations({"it": "2026-01-31"})
    texts = {
        call.arguments["it"]
        for call in calls
        if call.kind == "valid" and isinstance(call.arguments["it"], str)
    }
    assert texts == {"2026-01-31", "2028-02-29"}


DIGITS = {"type": "string", "pattern": "^[0-9]{3}$"}


@pytest.mark.parametrize(
    "items", [DIGITS, {"type": "integer"}, {"type": "string"}, {"enum": ["a", "b", "c", "d"]}], ids=str
)
@pytest.mark.parametrize("is_unique", [False, True])
@pytest.mark.parametrize("required", [[], ["it"]])
def test_a_list_is_tried_with_as_many_items_as_it_may_have(items, is_unique, required):
    it = {"type": "array", "items": items, "maxItems": 3, "uniqueItems": is_unique}
    schema = {"type": "object", "properties": {"it": it}, "required": required}
    with storing_nothing():
        calls = ProbedTool.of({"name": "t", "inputSchema": schema}).calls(20, 0)
    sizes = {len(call.arguments.get("it", [])) for call in calls if call.kind == "valid"}
    assert 3 in sizes


@pytest.mark.parametrize("limits", [{}, {"minProperties": 2, "maxProperties": 6}])
def test_a_map_is_tried_with_several_keys(limits):
    it = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}, **limits}
    calls = tool_of(it, "parameter").variations({"it": {"a": 1, "b": 2}})
    sizes = {len(call.arguments["it"]) for call in calls if call.kind == "valid" and call.varied == ("it",)}
    assert sizes >= {limits.get("minProperties", 1), limits.get("maxProperties", 3)}


def test_equal_numbers_give_equal_calls():
    assert planned(6, 3) == planned(6, 3)
    assert planned(6, 3) != planned(6, 4)


def test_no_two_calls_are_equal():
    keys = [call.key() for call in planned(20)]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("chance", range(12))
def test_each_seed_finds_what_few_values_fit(chance):
    items = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 2}
    schema = {"type": "object", "properties": {"q": items}, "required": ["q"], "additionalProperties": False}
    with storing_nothing():
        found = ProbedTool.of({"name": "t", "inputSchema": schema}).calls(20, chance)
    assert any(call.kind == "valid" for call in found)


def test_a_warning_that_is_an_error_takes_no_calls_away(monkeypatch):
    real = drawing.drawn

    def warning(*given):
        warnings.warn("something is deprecated", FutureWarning, stacklevel=1)
        return real(*given)

    expected = planned(6)
    monkeypatch.setattr(drawing, "drawn", warning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert planned(6) == expected


@pytest.mark.parametrize(
    ("failure", "is_told"), [(Unsatisfiable("none"), False), (ValueError("none"), False), (Warned("w"), True)]
)
def test_what_fails_while_calls_are_generated_is_logged_unless_nothing_fits(
    failure, is_told, monkeypatch, caplog
):
    def fail(*_):
        raise failure

    monkeypatch.setattr(drawing, "drawn", fail)
    assert planned(3) == []
    assert ("no calls of the tool 'note' can be generated from" in caplog.text) is is_told
    assert all(record.exc_info for record in caplog.records)


def test_each_function_of_a_probe_takes_the_same_options():
    """`OPTIONS` checks them for all, and what `plan` takes is what `probe` takes."""
    options = probe.__kwdefaults__
    assert [*OPTIONS] == [*options]
    assert plan.__kwdefaults__.items() <= options.items()
    for name, default in options.items():
        assert OPTIONS[name][1](default), name
