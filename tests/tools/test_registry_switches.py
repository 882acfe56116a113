"""Tools and groups switched on and off."""

from __future__ import annotations

import pytest
from registry_samples import delete_file, names, read_file, told_names, web_search

from operator_schema import (
    Registry,
    ToolNotFoundError,
)


def test_a_tool_wins_over_the_registry_and_a_switch_over_both():
    registry = Registry([web_search, delete_file])
    assert told_names(registry) == ["web_search"]
    registry.enabled = False
    assert told_names(registry) == []
    registry.switch("delete_file", enabled=True)
    assert told_names(registry) == ["delete_file"]
    registry.switch("delete_file", enabled=None)
    assert told_names(registry) == []
    assert registry.enabled is False
    assert names(registry) == ["web_search", "delete_file"]


def test_a_function_is_asked_every_time():
    asked = []

    def is_on():
        asked.append(1)
        return len(asked) % 2 == 1

    registry = Registry([read_file.with_(enabled=is_on)])
    assert [told_names(registry) for _ in range(4)] == [["read_file"], [], ["read_file"], []]
    assert len(asked) == 4


def test_switches_are_checked():
    registry = Registry([web_search])
    with pytest.raises(
        TypeError, match='enabled is a boolean or a function without parameters, not string "no"'
    ):
        registry.switch("web_search", enabled="no")
    with pytest.raises(TypeError):
        registry.enabled = None
    with pytest.raises(TypeError):
        Registry(enabled=1)
    with pytest.raises(ToolNotFoundError):
        registry.switch("web_serch", enabled=True)
    assert registry.is_enabled("web_search")


def test_a_name_that_is_off_is_not_suggested():
    registry = Registry([delete_file])
    with pytest.raises(ToolNotFoundError) as caught:
        registry.shown("delete_fil")
    assert caught.value.suggestions == ()
