"""The log says once of each function that its tool has no description."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from operator_schema import Executor, Registry, Toolset, tool, tool_input
from operator_schema.tools import document_tool, tool_of_document, tool_sources

SCHEMA = {"type": "object", "properties": {}}


@pytest.fixture(autouse=True)
def _nothing_told(monkeypatch):
    monkeypatch.setattr(tool_sources, "_warned_places", set())


def line_of(function):
    return f"{__file__}:{function.__code__.co_firstlineno}"


def bare(x: int) -> int:
    return x


@pytest.mark.parametrize(
    "register",
    [
        Toolset,
        lambda one: Registry([one]),
        lambda one: Executor([one]),
        lambda one: Toolset({"renamed": one}),
        lambda one: Registry().register(one),
    ],
)
def test_a_tool_without_a_docstring_is_named_with_its_place_when_it_is_registered(register, caplog):
    made = tool(bare)
    assert caplog.messages == []
    for _ in range(3):
        register(made)
        Toolset(made).offer()
        Toolset(tool(bare))  # made again, as in a factory
    (said,) = caplog.records
    assert (said.name, said.levelname) == ("operator_schema", "WARNING")
    assert said.getMessage().partition(" ")[2] == (
        f"({line_of(bare)}) has no docstring, so a model knows only its name: write what it does, and when "
        "to use it"
    )


def test_the_class_of_an_input_and_the_function_of_a_document_are_named(caplog):
    @dataclass
    class Find:
        name: str

    def run(arguments: dict) -> str:
        return ""

    Toolset(tool_input(Find), document_tool(run, SCHEMA))
    first, second = caplog.messages
    assert first.startswith(f"find ({__file__}:")
    assert second.startswith(f"run ({line_of(run)})")


def test_what_has_no_place_is_named_with_its_module(caplog):
    namespace: dict = {}
    exec("class Find:\n    def __init__(self): ...", namespace)  # noqa: S102  # a text of this file
    made = tool_input(dataclass(namespace["Find"]), name="nowhere")
    Toolset(made)
    assert caplog.messages[0].startswith("nowhere (")


@pytest.mark.parametrize(
    "options", [{"description": "Take it."}, {"summary": "Take it."}, {"description": ""}]
)
def test_what_somebody_described_is_not_mentioned(options, caplog):
    Toolset(tool(bare).with_(**options), tool(**options, name="other")(bare))
    assert caplog.messages == []


def test_a_tool_of_a_server_is_not_mentioned(caplog):
    theirs = {"__name__": "operator_schema.adapters.mcp_client", "make": tool_of_document}
    output = tool(bare)._output
    made = "def of_server(*given, **options): return make(*given, **options)"
    exec(made, theirs)  # noqa: S102  # a text of this file
    Toolset(theirs["of_server"](bare_arguments, SCHEMA, output, name="theirs"))
    assert caplog.messages == []
    Toolset(tool_of_document(bare_arguments, SCHEMA, output, name="own"))
    assert len(caplog.messages) == 1


def bare_arguments(arguments: dict) -> str:
    return ""
