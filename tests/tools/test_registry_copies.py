"""Copies and pickles of registries."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest
from patience import LONGEST_WAIT
from registry_samples import delete_file, names, read_file, told_names, web_search

from operator_schema import Registry, describe_tools, tool


class Flags:
    """Switches of a program, which can't be copied."""

    def __init__(self):
        self.lock = threading.Lock()
        self.is_on = True

    def ask(self):
        return self.is_on


def is_on():
    return True


@pytest.fixture
def registry():
    made = Registry([web_search, delete_file, read_file])
    made.switch(made, enabled=is_on)
    made.switch("delete_file", enabled=True)
    return made


def by_pickle(registry):
    return pickle.loads(pickle.dumps(registry))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, by_pickle])
def test_a_copy_has_the_same_tools_and_changes_alone(registry, make):
    changes = []
    registry.on_change(changes.append)
    copied = make(registry)
    assert [one is other for one, other in zip(copied, registry, strict=True)] == [True] * 3
    assert told_names(copied) == told_names(registry)
    assert copied.definitions() == registry.definitions()
    copied.unregister("web_search")
    copied.switch("delete_file", enabled=False)
    copied.register(tool(is_on))
    assert changes == []
    assert told_names(registry) == ["web_search", "delete_file", "read_file"]
    assert names(copied) == ["delete_file", "read_file", "is_on"]
    registry.unregister("read_file")
    assert "read_file" in copied


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_a_copy_asks_the_same_switch(registry, make):
    flags = Flags()
    registry.switch("read_file", enabled=flags.ask)
    copied = make(registry)
    flags.is_on = False
    assert not copied.is_enabled("read_file")


@pytest.mark.needs_threads
def test_a_copy_has_a_lock_of_its_own(registry):
    copied = copy.deepcopy(registry)
    with registry._lock:  # what another thread may hold
        other = threading.Thread(target=copied.unregister, args=("read_file",))
        other.start()
        other.join(LONGEST_WAIT)
        assert not other.is_alive()
    assert "read_file" not in copied


def test_two_references_to_one_registry_stay_one(registry):
    one, two = copy.deepcopy([registry, registry])
    assert one is two
    assert one is not registry


def test_a_tool_that_describes_tools_still_gives_their_documentation():
    registry = Registry([web_search])
    registry.register(describe_tools(registry))
    copied = copy.deepcopy(registry)
    assert copied.definitions() == registry.definitions()
    registry.register(read_file.with_(description="Read. A lot."))
    assert "read_file" in copied["describe_tools"].run({"tools": ["read_file"]})  # the first one's tools


class Named(Registry):
    """A registry with an attribute of its own."""

    def __init__(self, title, *tools):
        super().__init__(tools)
        self.title = title
        self.notes = [title]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, by_pickle])
def test_a_subclass_keeps_its_attributes(make):
    named = Named("files", read_file)
    copied = make(named)
    assert (type(copied), copied.title, names(copied)) == (Named, "files", ["read_file"])
    assert (copied.notes is named.notes) is (make is copy.copy)


@pytest.mark.parametrize("tools", [[read_file.with_(name="renamed")], [describe_tools([])]])
def test_a_tool_without_a_name_in_a_module_can_t_be_pickled(tools):
    with pytest.raises((pickle.PicklingError, AttributeError), match=r"(?i)can't (pickle|get local)"):
        pickle.dumps(Registry(tools))
    assert names(copy.deepcopy(Registry(tools))) == [entry.name for entry in tools]
