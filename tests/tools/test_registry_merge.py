"""Registries merged, and names prefixed."""

from __future__ import annotations

import pytest
from registry_samples import delete_file, names, read_file, told_names, web_search

from operator_schema import DecodeError, Executor, Registry, SchemaError, describe_tools
from operator_schema.errors import DuplicateToolError
from operator_schema.tools.snapshot import Snapshot


def test_merge_takes_all_or_nothing():
    registry = Registry([web_search])
    assert registry.merge(Registry([read_file]), [delete_file]) is registry
    assert names(registry) == ["web_search", "read_file", "delete_file"]
    other = read_file.with_(name="other")
    with pytest.raises(DuplicateToolError, match="read_file"):
        registry.merge([other], Registry([read_file]))
    assert names(registry) == ["web_search", "read_file", "delete_file"]


def test_what_a_registry_says_of_its_tools_goes_with_them():
    is_on = False
    closed = Registry([web_search, delete_file.with_(enabled=True)], enabled=lambda: is_on)
    opened = Registry([read_file])
    opened.switch("read_file", enabled=False)
    registry = Registry().merge(closed, opened)
    assert told_names(registry) == ["delete_file"]
    is_on = True
    assert told_names(registry) == ["web_search", "delete_file"]
    registry.switch("read_file", enabled=None)
    assert registry.is_enabled("read_file")


def test_a_group_may_prefix_names_and_descriptions():
    files = Registry([read_file, web_search])
    files.switch("read_file", enabled=False)
    group = files.prefix("fs_", "Files: ")
    assert names(group) == ["fs_read_file", "fs_web_search"]
    assert group.get("fs_web_search").summary == "Files: Search the web."
    assert group.get("fs_web_search").details == "It takes a while."
    assert not group.is_enabled("fs_read_file")
    assert group.get("fs_web_search").run({"query": "a", "max_results": 2}) == '["a","a"]'
    with pytest.raises(DecodeError, match="fs_read_file: 1 problem"):
        group.get("fs_read_file").decode({})
    assert names(files) == ["read_file", "web_search"]
    assert names(files.prefix()) == names(files)
    assert files.prefix(descriptions="Only: ").get("read_file").summary == "Only: Read a file."
    with pytest.raises(SchemaError, match="refused by providers"):
        files.prefix("fs.")


class Group:
    """It has tools and switches of its own, and isn't a registry."""

    def __init__(self, *tools, switches=None, enabled=True):
        named = {entry.name: entry for entry in tools}
        self._entries = Snapshot(named, switches or {}, enabled, None)


def test_a_group_that_is_not_a_registry_brings_its_switches_along():
    is_on = False
    group = Group(web_search, read_file, switches={"read_file": lambda: is_on})
    for registry in (Registry().merge(group), Registry(group), Executor(group).registry):
        assert names(registry) == ["web_search", "read_file"]
        assert told_names(registry) == ["web_search"]
    is_on = True
    assert told_names(registry) == ["web_search", "read_file"]
    closed = Registry(Group(web_search, delete_file.with_(enabled=True), enabled=False))
    assert told_names(closed) == ["delete_file"]


def test_a_tool_that_describes_is_an_ordinary_member_of_such_a_group():
    describing = describe_tools([web_search])
    registry = Registry(Group(web_search, describing))
    assert names(registry) == ["web_search", "describe_tools"]
    assert registry.shown("web_search").described_by == "describe_tools"
    assert names(Registry().merge(registry)) == ["web_search"]


def test_such_groups_are_merged_all_or_nothing():
    registry = Registry([web_search])
    with pytest.raises(DuplicateToolError, match="web_search"):
        registry.merge(Group(read_file), Group(web_search))
    assert names(registry) == ["web_search"]


class Misleading(list):
    _entries = ()


class Raising(list):
    @property
    def _entries(self):
        raise RuntimeError


@pytest.mark.parametrize("group", [Misleading([web_search]), Raising([web_search])])
def test_other_objects_are_lists_of_tools_whatever_they_have(group):
    assert names(Registry(group)) == ["web_search"]
