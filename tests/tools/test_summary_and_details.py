"""The description of a tool is its whole documentation: the summary and the details."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from operator_schema import Registry, describe_tools, tool, tool_input

LONG = "What to search for. Quotes search for a phrase."


@tool
def search(query: str, limit: int = 10) -> str:
    """Search the web. The best come first.

    Args:
        query: What to search for. Quotes search for a phrase.
        limit: How many.
    """
    return query


@pytest.mark.parametrize(
    ("description", "summary", "details"),
    [
        ("One sentence.", "One sentence.", None),
        ("One. Two.", "One.", "Two."),
        ("One\n\nTwo", "One", "Two"),
    ],
)
def test_the_description_is_the_whole_text(description, summary, details):
    def f(x: int): ...

    for made in (tool(description)(f), tool(f).with_(description=description)):
        assert (made.description, made.summary, made.details) == (description, summary, details)
        assert made.definition()["description"] == description


def test_a_summary_of_its_own_comes_first():
    made = search.with_(summary="Find pages.")
    assert (made.summary, made.details) == ("Find pages.", "The best come first.")
    assert made.description == "Find pages.\n\nThe best come first."


def test_without_any_text_the_description_says_so():
    @tool
    def bare(x: int): ...

    assert bare.description == bare.summary == "Use this tool for bare. Auto generated."
    assert bare.details is None


def test_a_definition_contains_the_whole_documentation():
    definition = search.definition()
    assert definition["description"] == "Search the web. The best come first."
    assert definition["input_schema"]["properties"]["query"]["description"] == LONG


def test_beside_describe_tools_a_definition_contains_the_summaries():
    registry = Registry([search, describe_tools([search])])
    definition = registry.definitions()[0]
    assert definition["description"] == "Search the web."
    assert definition["input_schema"]["properties"]["query"]["description"] == "What to search for."
    assert definition["input_schema"]["properties"]["limit"]["description"] == "How many."
    assert search.input_schema()["properties"]["query"]["description"] == LONG
    assert "Quotes search for a phrase." in describe_tools([search]).run({"tools": ["search"]})


@dataclass
class Left:
    kind: Literal["left"]


@dataclass
class Right:
    kind: Literal["right"]


def test_a_union_has_no_parameters_to_shorten():
    turn = tool_input(name="turn", description="Turn. Slowly.")(Left | Right).with_(described_by="describe")
    assert turn.definition() == {"name": "turn", "description": "Turn.", "input_schema": turn.input_schema()}


@pytest.mark.parametrize("options", [("",), ()])
def test_an_empty_description_counts_as_given(options):
    @tool(*options, **({} if options else {"description": " "}))
    def wake() -> str:
        """Wake somebody. Carefully."""
        return ""

    for made in (wake, wake.with_(name="other"), tool(lambda: "", name="x").with_(description="")):
        assert (made.description, made.summary, made.definition()["description"]) == ("", "", "")
    assert wake.with_(description="Ring.").description == "Ring."
