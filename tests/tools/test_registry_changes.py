"""Listeners: who is told of a change of a registry, and when."""

from __future__ import annotations

import copy
import gc
import logging
import pickle
import sys
import threading
import weakref

import pytest
from patience import LONGEST_WAIT
from registry_samples import delete_file, names, read_file, web_search

from operator_schema import Registry, SchemaError, Toolset
from operator_schema.errors import DuplicateToolError, ToolNotFoundError
from operator_schema.rounds import RegistryChange


@pytest.fixture
def heard():
    """A registry of two tools, and the changes that were told."""
    registry, changes = Registry([web_search, delete_file]), []
    registry.on_change(changes.append)
    return registry, changes


def test_each_change_is_told_once(heard):
    registry, changes = heard
    registry.register(read_file)
    registry.register([read_file.with_(name="a")], Registry([read_file.with_(name="b")]), {"c": read_file})
    registry.unregister("b")
    registry.switch("a", enabled=False)
    registry.switch("a", enabled=None)
    registry.switch(registry, enabled=False)
    assert changes == [
        RegistryChange(added=("read_file",)),
        RegistryChange(added=("a", "b", "c")),
        RegistryChange(removed=("b",)),
        RegistryChange(switched=("a",)),
        RegistryChange(switched=("a",)),
        RegistryChange(switched=("web_search", "delete_file", "read_file", "a", "c")),
    ]


def test_nobody_is_told_where_nothing_changes(heard):
    registry, changes = heard
    registry.register([])
    registry.register([], Registry())
    registry.switch("web_search", enabled=None)
    registry.update(lambda tools: tools)
    registry.switch("web_search", enabled=False)
    changes.clear()
    registry.switch("web_search", enabled=False)
    for change, error in (
        (lambda: registry.register(web_search), DuplicateToolError),
        (lambda: registry.register([read_file, read_file]), DuplicateToolError),
        (lambda: registry.register({"": read_file}), SchemaError),
        (lambda: registry.unregister("read_file"), ToolNotFoundError),
        (lambda: registry.switch("read_file", enabled=True), ToolNotFoundError),
        (lambda: registry.switch("web_search", enabled="no"), TypeError),
        (lambda: registry.update(lambda tools: [*tools]), TypeError),
        (lambda: registry.update(lambda tools: tools.only("read_file")), ToolNotFoundError),
    ):
        with pytest.raises(error):
            change()
    Toolset(registry).prefix("p_")
    registry.definitions()
    assert changes == []


def test_all_tools_change_at_once(heard):
    registry, changes = heard
    registry.switch("web_search", enabled=False)
    changes.clear()
    registry.update(lambda tools: Toolset(tools.without("delete_file").prefix("x_"), read_file))
    assert names(registry) == ["x_web_search", "read_file"]
    assert not registry.is_enabled("x_web_search")
    registry.update(lambda tools: tools.switch("x_web_search", enabled=True).hide("read_file"))
    assert [entry.name for entry in registry.offered()] == ["x_web_search"]
    assert changes == [
        RegistryChange(added=("x_web_search", "read_file"), removed=("web_search", "delete_file")),
        RegistryChange(switched=("x_web_search", "read_file")),
    ]


def test_a_registry_that_changes_again_and_again_keeps_nothing_of_that(heard):
    registry, _ = heard
    sizes = []
    for enabled in (True, False) * 3:
        registry.update(
            lambda tools, enabled=enabled: tools.switch("web_search", enabled=enabled).with_(repair=True)
        )
        sizes.append([len(entry.sources) for entry in registry.entries])
    assert sizes == [[0, 0]] * 6


def test_a_listener_sees_the_change():
    registry, seen = Registry(), []
    registry.on_change(
        lambda change: seen.append((change.added, names(registry), len(registry.definitions())))
    )
    registry.register(read_file)
    assert seen == [(("read_file",), ["read_file"], 1)]


def test_whoever_unsubscribes_hears_no_more():
    registry, first, second = Registry(), [], []
    forget = registry.on_change(first.append)
    registry.on_change(second.append)
    registry.register(read_file)
    forget()
    forget()
    registry.register(web_search)
    assert [change.added for change in first] == [("read_file",)]
    assert [change.added for change in second] == [("read_file",), ("web_search",)]


def test_a_function_that_listens_twice_is_told_twice():
    registry, changes = Registry(), []
    forget = registry.on_change(changes.append)
    registry.on_change(changes.append)
    registry.register(read_file)
    assert len(changes) == 2
    forget()
    registry.unregister("read_file")
    assert len(changes) == 3


def test_a_listener_may_unsubscribe_others_and_itself():
    registry, changes = Registry(), []

    def once(change):
        changes.append(change)
        forget_once()
        forget_late()

    forget_once = registry.on_change(once)
    forget_late = registry.on_change(changes.append)
    registry.register(read_file)
    registry.register(web_search)
    assert len(changes) == 1


def test_a_listener_may_change_the_registry():
    registry, changes = Registry(), []

    def complete(change):
        changes.append(change)
        if "read_file" in change.added:
            registry.register(web_search)

    registry.on_change(complete)
    registry.register(read_file)
    assert [change.added for change in changes] == [("read_file",), ("web_search",)]
    assert names(registry) == ["read_file", "web_search"]


def test_a_listener_that_fails_stops_nobody(caplog):
    registry, changes = Registry(), []

    def fail(change):
        raise ZeroDivisionError("mine")

    registry.on_change(fail)
    registry.on_change(changes.append)
    with caplog.at_level(logging.ERROR, "operator_schema"):
        registry.register(read_file)
    assert (len(changes), names(registry)) == (1, ["read_file"])
    assert "a listener of the registry failed" in caplog.text
    assert "ZeroDivisionError: mine" in caplog.text


def test_what_stops_the_program_is_raised_after_the_change():
    registry = Registry()

    def stop(change):
        raise KeyboardInterrupt

    registry.on_change(stop)
    with pytest.raises(KeyboardInterrupt):
        registry.register(read_file)
    assert names(registry) == ["read_file"]


async def async_listener(change):
    pass


def generating_listener(change):
    yield change


@pytest.mark.parametrize("listener", [async_listener, generating_listener, None, "read_file"])
def test_a_listener_is_a_plain_function(listener):
    with pytest.raises(
        TypeError, match=r"a listener must be a plain function \(def\) that takes the change, not"
    ):
        Registry().on_change(listener)


def test_a_coroutine_that_a_listener_returns_is_closed_and_logged(caplog):
    registry = Registry()
    registry.on_change(lambda change: async_listener(change))  # noqa: PLW0108  # so that nobody sees it's async
    registry.register(read_file)
    assert "what it returns isn't awaited" in caplog.text


class Server:
    def __init__(self):
        self.changes = []

    def update(self, change):
        self.changes.append(change)


class Slotted:
    __slots__ = ("changes",)

    def __init__(self):
        self.changes = []

    def update(self, change):
        self.changes.append(change)


def test_the_instance_of_a_method_is_not_kept():
    registry, server, other = Registry(), Server(), Server()
    registry.on_change(server.update)
    registry.on_change(other.update)
    registry.register(read_file)
    assert len(server.changes) == len(other.changes) == 1
    gone = weakref.ref(server)
    del server
    gc.collect()
    assert gone() is None
    registry.register(web_search)
    registry.on_change(other.update)
    registry.unregister("web_search")
    assert len(other.changes) == 4


def test_an_instance_without_weak_references_is_kept():
    registry, slotted = Registry(), Slotted()
    registry.on_change(slotted.update)
    changes = slotted.changes
    del slotted
    gc.collect()
    registry.register(read_file)
    assert len(changes) == 1


def test_a_function_is_kept_until_it_is_unsubscribed():
    registry, server = Registry(), Server()
    gone = weakref.ref(server)
    forget = registry.on_change(lambda change, server=server: server.update(change))
    del server
    gc.collect()
    assert gone() is not None
    forget()
    gc.collect()
    assert gone() is None


def test_a_change_is_a_value():
    change = RegistryChange(added=("a",))
    assert (change.removed, change.switched) == ((), ())
    assert pickle.loads(pickle.dumps(change)) == copy.deepcopy(change) == change
    assert repr(change) == "RegistryChange(added=('a',), removed=(), switched=())"
    with pytest.raises(AttributeError, match="immutable"):
        change.added = ()


@pytest.mark.needs_threads
def test_no_lock_is_held_while_listeners_run():
    """A listener may wait for a thread that itself changes the registry."""
    registry, ended = Registry(), []

    def wait(change):
        if change.added == ("read_file",):
            other = threading.Thread(target=registry.register, args=(web_search,))
            other.start()
            other.join(LONGEST_WAIT)
            ended.append(not other.is_alive())

    registry.on_change(wait)
    registry.register(read_file)
    assert (ended, names(registry)) == ([True], ["read_file", "web_search"])


@pytest.mark.needs_threads
def test_threads_that_change_and_subscribe_lose_nothing():
    registry, changes = Registry(), []
    registry.on_change(changes.append)
    tools = [read_file.with_(name=f"read_{number}") for number in range(80)]

    def work(part):
        for entry in part:
            forget = registry.on_change(lambda _: None)
            registry.register(entry)
            registry.unregister(entry.name)
            forget()

    threads = [threading.Thread(target=work, args=(tools[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(name for change in changes for name in change.added) == sorted(
        entry.name for entry in tools
    )
    assert sorted(name for change in changes for name in change.removed) == sorted(t.name for t in tools)
    registry.register(read_file)
    assert changes[-1] == RegistryChange(added=("read_file",))


@pytest.mark.needs_threads
def test_an_instance_that_goes_while_another_listener_is_added():
    registry, told = Registry(), []

    class Panel:
        def __init__(self):
            self.stop = registry.on_change(self.show)

        def show(self, change):
            told.append(change)

        def __del__(self):
            self.stop()

    panels = [Panel()]

    def drop(_frame, event, _argument):
        # As another thread may do: now the registry alone has a reference to the instance.
        if event == "return" and panels and _frame.f_code is weakref.WeakMethod.__call__.__code__:
            panels.clear()

    def add():
        sys.setprofile(drop)
        registry.on_change(told.append)

    thread = threading.Thread(target=add, daemon=True)
    thread.start()
    thread.join(LONGEST_WAIT)
    assert not thread.is_alive()
    assert not panels
    registry.register(read_file)
    assert told == [RegistryChange(added=("read_file",))]
