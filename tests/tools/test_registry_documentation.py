"""Documentation on demand."""

from __future__ import annotations

import pytest
from registry_samples import delete_file, names, read_file, told_names, web_search

from operator_schema import (
    DecodeError,
    Registry,
    Toolset,
    describe_tools,
)


def test_with_describe_tools_the_others_tell_their_summary():
    registry = Registry([web_search, read_file])
    assert registry.definitions()[0]["description"] == "Search the web. It takes a while."
    registry.register(describe_tools(registry))
    assert registry.definitions()[0]["description"] == "Search the web."
    assert told_names(registry) == ["web_search", "read_file", "describe_tools"]
    assert registry["web_search"] is web_search
    assert registry.shown("web_search").described_by == "describe_tools"
    assert registry.shown("describe_tools").described_by is None
    answer = registry["describe_tools"].run({"tools": ["web_search"]})
    assert answer.startswith("## web_search\n\nSearch the web.\n\nIt takes a while.")


def test_errors_point_there():
    registry = Registry([web_search, read_file])
    registry.register(describe_tools(registry, name="help"))
    with pytest.raises(DecodeError) as caught:
        registry.shown("web_search").decode({"qurey": "x"})
    assert 'call help with {"tools": ["web_search"]}' in str(caught.value)
    with pytest.raises(DecodeError) as caught:
        registry.shown("read_file").decode({})
    assert "help" not in str(caught.value)  # there is no more to tell


def test_nothing_is_lost_while_describe_tools_is_off():
    registry = Registry([web_search])
    registry.register(describe_tools(registry))
    registry.switch("describe_tools", enabled=False)
    assert registry.definitions() == [web_search.definition()]
    registry.switch("describe_tools", enabled=True)
    assert registry.definitions()[0]["description"] == "Search the web."


def test_tools_that_are_off_are_not_described():
    registry = Registry([web_search, delete_file])
    registry.register(describe_tools(registry))
    assert registry["describe_tools"].run({"tools": ["delete_file"]}) == "No such tool: delete_file"
    registry.switch("delete_file", enabled=True)
    assert "gone for ever" in registry["describe_tools"].run({"tools": ["delete_file"]})


def test_describe_tools_stays_with_its_registry():
    inner = Registry([web_search])
    inner.register(describe_tools(inner))
    outer = Registry([read_file], inner)
    assert names(outer) == ["read_file", "web_search"]
    assert names(Toolset(inner).prefix("a_")) == ["a_web_search"]
    outer.register(describe_tools(outer))
    assert "It takes a while." in outer["describe_tools"].run({"tools": ["web_search"]})
