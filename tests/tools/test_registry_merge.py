"""Tools of several registries in one, and names prefixed."""

from __future__ import annotations

import pytest
from registry_samples import delete_file, names, read_file, told_names, web_search

from operator_schema import DecodeError, Registry, SchemaError, Toolset
from operator_schema.errors import DuplicateToolError


def test_several_are_registered_or_none():
    registry = Registry([web_search])
    more = Registry([read_file])
    assert registry.register(more, [delete_file]) is more
    assert names(registry) == ["web_search", "read_file", "delete_file"]
    other = read_file.with_(name="other")
    with pytest.raises(DuplicateToolError, match="read_file"):
        registry.register([other], Registry([read_file]))
    assert names(registry) == ["web_search", "read_file", "delete_file"]


def test_what_a_registry_says_of_its_tools_goes_with_them():
    is_on = False
    closed = Toolset(web_search).switch(web_search, enabled=lambda: is_on)
    closed = Registry(closed, delete_file.with_(enabled=True))
    opened = Registry([read_file])
    opened.switch("read_file", enabled=False)
    registry = Registry(closed, opened)
    assert told_names(registry) == ["delete_file"]
    is_on = True
    assert told_names(registry) == ["web_search", "delete_file"]
    registry.switch("read_file", enabled=None)
    assert registry.is_enabled("read_file")


def test_a_group_may_prefix_names_and_descriptions():
    files = Registry([read_file, web_search])
    files.switch("read_file", enabled=False)
    group = Toolset(files).prefix("fs_", "Files: ")
    assert names(group) == ["fs_read_file", "fs_web_search"]
    assert group["fs_web_search"].summary == "Files: Search the web."
    assert group["fs_web_search"].details == "It takes a while."
    assert not group.is_enabled("fs_read_file")
    assert group["fs_web_search"].run({"query": "a", "max_results": 2}) == '["a","a"]'
    with pytest.raises(DecodeError, match="fs_read_file: 1 problem"):
        group["fs_read_file"].decode({})
    assert names(files) == ["read_file", "web_search"]
    assert names(Toolset(files).prefix()) == names(files)
    assert Toolset(files).prefix(descriptions="Only: ")["read_file"].summary == "Only: Read a file."
    with pytest.raises(SchemaError, match="refused by providers"):
        Toolset(files).prefix("fs.")
