"""Which calls are planned for a tool."""

import unicodedata
import warnings

import pytest

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from hypothesis.errors import HypothesisWarning as Warned
from hypothesis.errors import Unsatisfiable

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
