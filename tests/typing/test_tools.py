"""What mypy and pyright say of tools; both run over this file."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Required, TypedDict, assert_type

import pytest

from operator_schema import SchemaLeaf, Tool, ToolError, describe_tools, skip, tool, tool_input
from operator_schema.errors import MissingContextError
from operator_schema.tools import InputTool, ToolDefinition, document_tool, parameters_of, schema_response
from operator_schema.types import RawArguments


class Db: ...


@tool
def add(a: int, b: int = 2) -> int:
    return a + b


@tool("Add.", name="plus", tags=["sums"])
def plus(a: int, *, b: int) -> str:
    return str(a + b)


@tool
async def search(query: str, *, db: Annotated[Db, skip]) -> list[str]:
    return [query, type(db).__name__]


@tool(timeout=5.0)
async def fetch(url: str) -> bytes:
    return url.encode()


class Service:
    @tool
    def find(self, key: str) -> int:
        return len(key)

    @tool
    async def load(self, key: str) -> bytes:
        return key.encode()

    @tool
    @staticmethod
    def static(key: str) -> int:
        return len(key)


class Unbound:
    @tool
    @classmethod
    def outside(cls, key: str, by: int = 1) -> int:
        return len(key) * by

    @classmethod
    @tool
    def inside(cls, key: str, by: int = 1) -> int:
        return len(key) * by

    @tool(tags=["c"])
    @classmethod
    def with_options(cls, key: str) -> int:
        return len(key)

    @tool
    @staticmethod
    def static(key: str, by: int = 1) -> int:
        return len(key) * by

    @staticmethod
    @tool
    def static_inside(key: str) -> int:
        return len(key)

    @tool(tags=["s"])
    @staticmethod
    def static_with_options(key: str) -> int:
        return len(key)

    @tool
    @classmethod
    async def later(cls, key: str) -> bytes:
        return key.encode()


@dataclass
class Move:
    x: int
    y: int = 0


@dataclass
class Turn:
    degrees: int


@tool_input(name="turn")
@dataclass
class Turned:
    degrees: int


@pytest.mark.needs_threads
def test_a_tool_is_called_as_its_function() -> None:
    assert_type(add(1), int)
    assert_type(add(a=1, b=2), int)
    assert_type(plus(1, b=2), str)
    assert_type(asyncio.run(fetch("a")), bytes)
    assert_type(asyncio.run(search("a", db=Db())), list[str])


@pytest.mark.needs_threads
def test_calls_with_an_input() -> None:
    assert_type(add.call(add.decode({"a": 1})), int)
    assert_type(asyncio.run(fetch.acall(fetch.decode({"url": "a"}))), bytes)
    assert_type(asyncio.run(add.acall(add.decode({"a": 1}))), int)
    assert_type(add.run({"a": 1}), str)
    assert_type(asyncio.run(fetch.acall(fetch.decode({"url": "a"}))), bytes)


@pytest.mark.needs_threads
def test_methods() -> None:
    service = Service()
    assert_type(service.find("a"), int)
    assert_type(service.find.run({"key": "a"}), str)
    assert_type(asyncio.run(service.load("a")), bytes)
    assert_type(Service.find(service, "a"), int)
    assert_type(tool(service.find)("a"), int)


def test_class_methods() -> None:
    assert_type(Unbound.outside("a"), int)
    assert_type(Unbound().outside("a", by=2), int)
    assert_type(Unbound.outside.run({"key": "a"}), str)
    assert_type(Unbound().outside.run({"key": "a"}), str)
    assert_type(Unbound.inside("a", 2), int)
    assert_type(Unbound().inside("a"), int)
    assert_type(Unbound.with_options("a"), int)
    assert_type(Unbound().with_options("a"), int)


@pytest.mark.needs_threads
def test_asynchronous_class_methods() -> None:
    assert_type(asyncio.run(Unbound.later("a")), bytes)
    assert_type(asyncio.run(Unbound().later("a")), bytes)


def test_static_methods() -> None:
    assert_type(Unbound.static("a"), int)
    assert_type(Unbound().static("a", by=2), int)
    assert_type(Unbound.static.run({"key": "a"}), str)
    assert_type(Unbound().static.run({"key": "a"}), str)
    assert_type(Unbound.static_inside("a"), int)
    assert_type(Unbound().static_inside("a"), int)
    assert_type(Unbound.static_with_options("a"), int)
    assert_type(Unbound().static_with_options("a"), int)


def test_input_tools() -> None:
    move = tool_input(name="move", output=bool)(Move)
    assert_type(move, InputTool[..., Move])
    assert_type(move(1), Move)
    assert_type(move.decode({"x": 1}), Move)
    assert_type(tool_input(Move).decode({"x": 1}), Move)
    assert_type(tool_input(name="step")(Move | Turn), InputTool[..., Any])
    assert_type(Turned(90).degrees, int)


def test_what_is_told() -> None:
    assert_type(add.name, str)
    assert_type(add.summary, str)
    assert_type(add.description, str)
    assert_type(add.details, str | None)
    assert_type(add.input_schema(), dict[str, Any])
    assert_type(add.output_schema(), dict[str, Any] | None)
    assert_type(add.definition(), ToolDefinition)
    assert_type(add.tags, tuple[str, ...])
    assert_type(add.timeout, float | None)
    assert_type(add.with_(name="sum")(1), int)
    assert_type(parameters_of(add), list[tuple[str, dict[str, Any]]])
    assert_type(schema_response([add, plus, search]), dict[str, Any])
    assert_type(describe_tools([add, search]), Tool[[list[str]], str])


def test_raw_arguments() -> None:
    raw = RawArguments({"a": 1}, "t")
    assert_type(raw.require("a", int), int)
    assert_type(raw.optional("b", int), int | None)
    assert_type(raw.optional("b", int, 3), int)
    assert_type(RawArguments.described_by({"type": "object"}), SchemaLeaf[RawArguments])


def test_tools_of_a_document() -> None:
    def find(arguments: dict[str, Any]) -> int:
        return len(arguments)

    own = document_tool(find, {"type": "object"}, name="find_all", description="Find all.", repair=True)
    assert_type(own({"a": 1}), int)
    assert_type(document_tool(find, {}, output_schema={"type": "integer"}).run({}), str)


@pytest.mark.needs_threads
def test_errors_carry_data() -> None:
    try:
        asyncio.run(search.arun({"query": "a"}))
    except MissingContextError as error:
        assert_type(error.parameters, tuple[str, ...])
    try:
        fetch.run({"url": "a"})
    except ToolError as error:
        assert_type(error.tool, str)


class ToolParam(TypedDict, total=False):
    """A provider's own type for a tool, as SDKs declare it."""

    name: Required[str]
    input_schema: Required[dict[str, object]]
    description: str
    strict: bool


def test_a_definition_fits_the_types_of_sdks() -> None:
    definition = add.definition()
    assert_type(definition["name"], str)
    # mypy's `extra_checks` refuse `ToolParam(**definition)`: an unpacked TypedDict may have more keys.
    param = ToolParam(
        name=definition["name"],
        description=definition["description"],
        input_schema={**definition["input_schema"]},
    )
    other: ToolParam = {**definition, "strict": True}
    assert param["name"] == other["name"] == "add"
