"""What the model is sent for a registry."""

from __future__ import annotations

from registry_samples import read_file, web_search

from operator_schema import (
    Registry,
)


def test_definitions_are_those_of_the_tools_and_the_callers_own():
    registry = Registry([web_search, read_file])
    first = registry.definitions()
    assert first == [web_search.definition(), read_file.definition()]
    first[0]["input_schema"]["properties"].clear()
    first[0]["name"] = "other"
    assert registry.definitions() == [web_search.definition(), read_file.definition()]


def test_definitions_are_made_once(monkeypatch):
    made = []
    real = type(web_search).definition

    def count(self):
        made.append(self.name)
        return real(self)

    monkeypatch.setattr(type(web_search), "definition", count)
    registry = Registry([web_search, read_file])
    registry.definitions()
    registry.definitions()
    assert made == ["web_search", "read_file"]
    registry.unregister("read_file")
    assert [definition["name"] for definition in registry.definitions()] == ["web_search"]
    assert made == ["web_search", "read_file", "web_search"]
