"""What the model is sent for a registry."""

from __future__ import annotations

from registry_samples import read_file, web_search

from operator_schema import (
    Registry,
    tool,
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
    real = type(web_search).input_schema

    def count(self, **options):
        made.append(self.name)
        return real(self, **options)

    monkeypatch.setattr(type(web_search), "input_schema", count)
    registry = Registry([web_search.with_(name="one"), read_file.with_(name="other")])
    for _ in range(50):
        registry.definitions()
    assert made == ["one", "other"]
    registry.unregister("other")
    assert [definition["name"] for definition in registry.definitions()] == ["one"]
    assert registry["one"].definition()["name"] == "one"
    assert made == ["one", "other"]
    registry.definitions(boolean_schemas=False)
    assert made == ["one", "other", "one"]


def test_a_changed_copy_has_a_definition_of_its_own():
    assert web_search.definition()["name"] == "web_search"
    assert web_search.with_(name="find").definition()["name"] == "find"
    assert web_search.with_(description="Find it.").definition()["description"] == "Find it."
    assert web_search.definition()["name"] == "web_search"


def test_methods_of_several_instances_share_what_is_made_of_them(monkeypatch):
    class Shop:
        @tool
        def order(self, item: str) -> str:
            """Order an item."""
            return item

    first = Shop().order.definition()
    monkeypatch.setattr(type(web_search), "input_schema", None)
    assert Shop().order.definition() == first


def test_a_tool_keeps_a_few_forms():
    kept = web_search.with_(name="kept")
    for number in range(1000):
        assert kept.keep_form(number, [number]) == [number]
    assert [number for number in range(1000) if kept.kept_form(number)] == list(range(992, 1000))
    assert kept.definition()["name"] == "kept"
