"""A list of tools: what is taken for one, and what is said of anything else."""

from __future__ import annotations

import json

import pytest

from operator_schema import Executor, Toolset, tool
from operator_schema.tools import tools_of


@tool
def look(place: str) -> str:
    """Look."""
    return place


def plain(place: str) -> str:
    return place


class Service:
    """Has methods, of which none is a tool."""


def test_iterables_and_mappings_are_lists_of_tools():
    assert tools_of([look]) == tools_of(iter((look,))) == tools_of({"look": look}) == [look]
    assert [each.name for each in tools_of({"see": look})] == ["see"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (look, r"expected a list of tools, not the tool look alone: write \[look\]"),
        (plain, r"not the function plain: decorate it with @tool, and write \[plain\]"),
        (Service, "not the class Service"),
        (json, r"not the module json: Toolset.from_module\(module\) takes its tools"),
        ("look", "not string 'look'|not \"look\"|not 'look'"),
        (5, "not integer 5|not 5"),
        (Toolset(look).offer, r"not the method offer: call it, as in offer\(\)$"),
        (Executor(look), "not Executor: its tools are in its registry$"),
    ],
)
def test_what_is_no_list_is_refused_with_what_to_write(given, said):
    with pytest.raises(TypeError, match=said):
        tools_of(given)


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ([look], r"a list isn't a Tool; give it alone, or its tools one by one: \[\*list, …\]"),
        (json, r"the module json isn't a Tool: Toolset.from_module\(module\) takes its tools"),
        ({"name": "look"}, "give the tools themselves, not their definitions"),
    ],
)
def test_what_is_no_tool_in_a_list_is_refused_with_what_to_write(member, said):
    with pytest.raises(TypeError, match=said):
        tools_of([member])


def test_a_toolset_is_a_mapping_of_its_tools():
    assert tools_of(Toolset(look)) == [look]
