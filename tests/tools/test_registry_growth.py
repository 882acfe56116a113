"""Registering one by one takes a number of operations that grows with the number of tools."""

from __future__ import annotations

import pytest

from operator_schema import Registry, Tool, tool
from operator_schema.rounds import toolset as toolset_module


@tool
def ping() -> str:
    """Answer."""
    return "pong"


@pytest.fixture
def counted(monkeypatch):
    """Count the copies of a registry's content, and the tools that each looked at."""
    copied, looked = [], []

    class Snapshot(toolset_module.SwitchedTools):
        __slots__ = ()

        def __init__(self, tools, *args):
            copied.append(len(tools))
            super().__init__(tools, *args)

    def is_describer(entry):
        looked.append(entry)
        return False

    monkeypatch.setattr(toolset_module, "SwitchedTools", Snapshot)
    monkeypatch.setattr(Tool, "describes_tools", property(is_describer))
    return copied, looked


TOOLS = [ping.with_(name=f"ping_{number}") for number in range(300)]


def test_one_by_one_copies_nothing_until_somebody_reads(counted):
    copied, looked = counted
    registry = Registry()
    for entry in TOOLS:
        registry.register(entry)
        assert registry[entry.name] is entry
        assert entry.name in registry
    assert len(registry) == 300
    assert (copied, looked) == ([], [])
    assert len(registry.offered()) == len(registry.definitions()) == 300
    assert copied == [300]
    for entry in TOOLS[1:]:
        registry.switch(entry.name, enabled=False)
        registry.unregister(entry.name)
    assert copied == [300]
    assert [entry.name for entry in registry.offered()] == ["ping_0"]


def test_a_reader_keeps_what_it_has_begun_to_read():
    registry = Registry(TOOLS[:3])
    before = iter(registry)
    offered = registry.offered()
    registry.unregister("ping_1")
    assert [entry.name for entry in before] == ["ping_0", "ping_1", "ping_2"]
    assert len(offered) == 3
    assert len(registry.offered()) == 2
