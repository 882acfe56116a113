"""What a server says of itself in the handshake, made by hand and by the command line."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated

import anyio
import pytest
from mcp import Client
from mcp.server.lowlevel import NotificationOptions

from operator_schema import RawCall, Registry, Toolset, skip, tool, tool_input
from operator_schema.adapters.mcp import handlers, server
from operator_schema.rounds import ToolSearch
from operator_schema.workbench.cli.lookup import ObjectName
from operator_schema.workbench.cli.module_loading import WrongUse
from operator_schema.workbench.cli.output import Printer
from operator_schema.workbench.cli.serve import (
    ServedTools,
    _import_target,
    _server,
    _version_of,
    _warn_of_failing_tools,
)


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def announced(made):
    """Return what a client of the old protocol reads of the server, and of its tools."""

    async def main():
        async with Client(made, mode="legacy") as client:
            return client.server_info, client.server_capabilities.tools

    return anyio.run(main)


@pytest.mark.parametrize(("tools", "changes"), [(Registry([add]), True), (Toolset(add), False)])
def test_only_a_registry_says_that_its_tools_may_change(tools, changes):
    about, said = announced(server(tools, name="shop", version="1.2"))
    assert (about.name, about.version) == ("shop", "1.2")
    assert bool(said.list_changed) is changes


def test_whoever_runs_a_server_may_say_what_it_announces():
    own = server(Registry([add])).create_initialization_options(NotificationOptions(prompts_changed=True))
    assert not own.capabilities.tools.list_changed


def options(**given):
    return {"name": None, "reload": False, "server_version": None, **given}


@pytest.mark.parametrize(
    ("tools", "reload", "changes"),
    [
        (Registry([add]), False, True),
        (Registry([add]), True, True),
        (Toolset(add), True, True),
        (Toolset(add), False, False),
    ],
)
def test_the_command_says_that_tools_change_where_they_do(tools, reload, changes):
    offered = ServedTools(tools, None, options(reload=reload))
    _, said = announced(_server(handlers(tools), ObjectName("app", "tools"), offered))
    assert bool(said.list_changed) is changes


@pytest.mark.parametrize(
    ("given", "name", "version"),
    [
        ({}, "server", "0"),
        ({"name": "shop"}, "shop", "0"),
        ({"server_version": "3.1"}, "server", "3.1"),
    ],
)
def test_the_command_names_the_server(given, name, version):
    tools = Registry([add])
    offered = ServedTools(tools, None, options(**given))
    about, _ = announced(_server(handlers(tools), ObjectName("pkg.unknown.server", "tools"), offered))
    assert (about.name, about.version) == (name, version)


@pytest.mark.parametrize(
    ("own", "of_the_package", "said"),
    [("1.5", "2.0", "1.5"), ((1, 5), "2.0", "2.0"), ("", "2.0", "2.0"), ((1, 5), "", "0")],
)
def test_a_version_is_a_text(monkeypatch, own, of_the_package, said):
    for name, version in (("shop", of_the_package), ("shop.tools", own)):
        module = ModuleType(name)
        module.__version__ = version
        monkeypatch.setitem(sys.modules, name, module)
    assert _version_of("shop.tools") == said


@pytest.mark.parametrize(("tools", "served"), [(Toolset(), False), (Toolset(add), True), (Registry(), True)])
def test_only_a_registry_may_be_empty(monkeypatch, tools, served):
    module = ModuleType("shop")
    module.tools = tools
    monkeypatch.setitem(sys.modules, "shop", module)
    given = {"show_traceback": False, "given": {}, "context": None}
    if served:
        assert _import_target(ObjectName("shop", "tools"), given).tools is tools
    else:
        with pytest.raises(WrongUse, match="there are no tools in shop:tools"):
            _import_target(ObjectName("shop", "tools"), given)


class Db:
    pass


@tool
def look(db: Annotated[Db, skip]) -> str:
    """Look."""
    return str(db)


@tool_input
@dataclass
class order:  # noqa: N801  # the tool
    """Order."""

    number: int


@pytest.mark.parametrize(
    ("tools", "context", "told"),
    [
        ([add], None, ""),
        ([look], {Db: Db()}, ""),
        ([add, order], None, "1 of 2 tools will fail, because they have no function to run: order\n"),
        (
            [add, look],
            None,
            ("1 of 2 tools will fail for lack of context: look (db); give it with --context MODULE:NAME\n"),
        ),
        (
            [look],
            {},
            "1 of 1 tool will fail for lack of context: look (db); the context doesn't have it\n",
        ),
    ],
)
def test_tools_that_lack_their_context_are_told(tools, context, told):
    stream = io.StringIO()
    _warn_of_failing_tools(handlers(Registry(tools), context=context), context, Printer(stream))
    assert stream.getvalue() == told


@pytest.mark.parametrize("tools", [Toolset(add), Registry([add])])
def test_a_search_may_be_put_before_what_is_served(tools):
    offered = ServedTools(tools, None, options(search=True, repair=True, timeout=None))
    executor = offered.executor()
    assert [one.name for one in executor.registry.offered()] == ["search_tools"]
    assert executor.run_sync(RawCall("1", "add", {"a": "1", "b": 2})).content == "3"
    _, said = announced(_server(handlers(executor), ObjectName("app", "tools"), offered))
    assert said.list_changed


def test_a_tool_with_the_name_of_the_search_is_to_be_renamed():
    given = options(search=True, repair=False, timeout=None)
    offered = ServedTools(Registry([add.with_(name="search_tools")]), None, given)
    with pytest.raises(WrongUse, match=r"^rename the tool search_tools: the search has this name$"):
        offered.executor()


def test_a_search_stays_one_when_arguments_are_repaired():
    search = ToolSearch(add)
    offered = ServedTools(search, None, options(repair=True, timeout=None, search=True))
    executor = offered.executor()
    assert [one.name for one in executor.registry.offered()] == ["search_tools"]
    executor.run_sync(RawCall("1", "search_tools", {"query": "add"}))
    assert [one.name for one in executor.registry.offered()] == ["search_tools", "add"]
    assert executor.run_sync(RawCall("2", "add", {"a": "1", "b": 2})).content == "3"
