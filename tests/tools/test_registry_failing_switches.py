"""Switches that fail."""

from __future__ import annotations

import functools

import pytest
from registry_samples import MODULE, names, read_file, told_names, web_search

from operator_schema import Registry, SchemaError, Toolset, describe_tools, tool, tool_input
from operator_schema.errors import ToolNotFoundError


async def async_switch():
    return False


def generator_switch():
    yield False


def asking(switch):
    return switch()


class AsyncSwitch:
    async def __call__(self):
        return False


@pytest.mark.parametrize("switch", [async_switch, generator_switch, AsyncSwitch()])
def test_a_switch_that_is_async_is_refused(switch):
    with pytest.raises(SchemaError, match="enabled is"):
        tool(enabled=switch)(plain_function)
    with pytest.raises(SchemaError, match="enabled is"):
        read_file.with_(enabled=switch)
    with pytest.raises(SchemaError, match="enabled is"):
        tool_input(name="ask", enabled=switch)(dict)
    registry = Registry([read_file])
    for change in (
        lambda: registry.switch("read_file", enabled=switch),
        lambda: Toolset(read_file).switch(read_file, enabled=switch),
    ):
        with pytest.raises(TypeError, match="not one that is async or a generator"):
            change()
    assert registry.is_enabled("read_file")


def plain_function(path: str) -> str:
    return path


def test_a_switch_that_gives_something_to_await_counts_as_off(caplog):
    registry = Registry([read_file.with_(enabled=functools.partial(asking, async_switch)), web_search])
    assert told_names(registry) == ["web_search"]
    assert "read_file: its switch failed" in caplog.text
    with pytest.raises(TypeError, match="not something to await"):
        registry.is_enabled("read_file")


def failing_switch():
    raise ZeroDivisionError("secret")


def test_a_switch_that_fails_takes_no_other_tool_along(caplog):
    registry = Registry([read_file.with_(enabled=failing_switch), web_search, describe_tools([web_search])])
    assert told_names(registry) == ["web_search", "describe_tools"]
    assert [entry.name for entry in registry.offered()] == ["web_search", "describe_tools"]
    assert registry.shown("read_file").name == "read_file"
    with pytest.raises(ToolNotFoundError) as caught:
        registry.shown("read_fil")
    assert caught.value.suggestions == ()
    with pytest.raises(ZeroDivisionError):
        registry.is_enabled("read_file")
    assert "ZeroDivisionError" in caplog.text


def test_a_describing_tool_whose_switch_fails_describes_nothing(caplog):
    registry = Registry([web_search, describe_tools([web_search]).with_(enabled=failing_switch)])
    assert told_names(registry) == ["web_search"]
    assert registry.definitions()[0]["description"].endswith("It takes a while.")
    assert "describe_tools: its switch failed" in caplog.text


ODD_MODULE = """
import functools
from dataclasses import dataclass
from typing import Literal
from operator_schema import describe_tools, tool, tool_input
from rtools_a import first, first as again, plain

@dataclass
class Create:
    kind: Literal["create"]

@dataclass
class Remove:
    kind: Literal["remove"]

edit = tool_input(name="edit")(Create | Remove)
partial = tool(name="partial")(functools.partial(plain, 1))
wrapped = tool(plain)
copied = first.with_(name="copied")
describe = describe_tools([edit])
"""


def test_from_module_takes_what_the_module_makes_of_things_from_elsewhere(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_o.py").write_text(ODD_MODULE)
    (folder / "rtools_p.py").write_text("from rtools_o import copied, edit, partial, wrapped\n")
    registry = Toolset.from_module("rtools_o")
    assert names(registry) == ["edit", "partial", "plain", "copied", "describe_tools"]
    assert registry["partial"].home == registry["copied"].home == "rtools_o"
    assert names(Toolset.from_module("rtools_p")) == []


def test_from_module_takes_what_a_helper_makes_for_it(folder):
    (folder / "rtools_h.py").write_text(
        "from operator_schema import tool\ndef make(name):\n"
        "    @tool(name=name)\n    def made(x: int) -> int:\n        return x\n    return made\n"
    )
    (folder / "rtools_i.py").write_text("from rtools_h import make\none = make('one')\n")
    assert names(Toolset.from_module("rtools_i")) == ["one"]
    assert names(Toolset.from_module("rtools_h")) == []
