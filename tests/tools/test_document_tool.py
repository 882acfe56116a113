"""Tools whose arguments a JSON Schema document describes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from operator_schema import (
    CallError,
    DecodeError,
    EncodeError,
    Executor,
    RawCall,
    Registry,
    SchemaError,
    ToolError,
    Toolset,
)
from operator_schema.engine import SchemaDocument
from operator_schema.tools import DocumentOutput, document_tool, tool_of_document

SCHEMA = {
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "Of the file. Not a path."},
        "most": {"type": "integer"},
    },
    "type": "object",
}
EITHER = {
    "type": "object",
    "properties": {},
    "anyOf": [
        {"properties": {"kind": {"const": "a"}}, "required": ["kind"]},
        {"properties": {"kind": {"const": "b"}, "x": {}}, "required": ["kind", "x"]},
    ],
}


def find(arguments: dict[str, Any]) -> Any:
    return arguments


def made(schema: Any = SCHEMA, **options: Any) -> Any:
    return document_tool(find, schema, **{"name": "find", "description": "Find it.", **options})


def test_the_function_gets_the_arguments_as_a_dict() -> None:
    arguments = {"name": "a", "more": [1]}
    assert made().call(made().decode(arguments)) == arguments
    assert made().run(json.dumps(arguments)) == '{"name":"a","more":[1]}'
    assert made(repair=True).encode_input({"name": "a"}) == {"name": "a"}
    with pytest.raises(ToolError, match="call takes an input"):
        made().call([1])


def test_the_model_gets_the_document_as_it_is() -> None:
    assert json.dumps(made().input_schema()) == json.dumps(SCHEMA)
    assert made({"type": "object"}).input_schema() == {"type": "object", "properties": {}}
    assert "x-own" not in made({**SCHEMA, "x-own": 1}).input_schema(inline=True)


def test_a_changed_copy_is_of_the_same_document() -> None:
    copy = made().with_(name="other", param_descriptions={"most": "How many"}, repair=True)
    assert copy.decode({"Name": "a", "most": "3"}) == {"name": "a", "most": 3}
    assert copy.input_schema()["properties"]["most"]["description"] == "How many"
    brief = made().with_(described_by="describe_tools").definition()
    assert brief["input_schema"]["properties"]["name"]["description"] == "Of the file."
    with pytest.raises(SchemaError, match='"mots"'):
        made().with_(param_descriptions={"mots": "How many"})


def test_a_document_of_alternatives() -> None:
    own = made({"type": "object", "anyOf": EITHER["anyOf"]})
    assert own.codec.left == ()
    assert own.run({"kind": "b", "x": 1}) == '{"kind":"b","x":1}'
    assert made(EITHER).run({"kind": "a"}) == '{"kind":"a"}'


def test_options_are_those_of_any_tool() -> None:
    own = made(examples=[{"name": "a"}], param_descriptions={"most": "How many"}, read_only=True, timeout=3)
    assert (own.examples, own.annotations.read_only, own.timeout) == (({"name": "a"},), True, 3)
    assert own.input_schema()["properties"]["most"]["description"] == "How many"
    with pytest.raises(SchemaError, match="example 1"):
        made(examples=[{}])


@pytest.mark.needs_threads
def test_registries_executors_and_toolsets_take_it() -> None:
    own = made()
    result = Executor(Registry([own])).run_sync(RawCall("1", "find", {"nam": 1}))
    assert result.content.splitlines()[1] == '- name: missing (string, required); rename "nam" to "name"'
    assert Toolset(own).offer().round([RawCall("1", "find", {"name": "a"})])


def test_results_fit_the_document_of_results() -> None:
    count = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    output = DocumentOutput(SchemaDocument("find", count, is_arguments=False))

    def total(arguments: dict[str, Any]) -> Any:
        return {"total": len(arguments)}

    own = tool_of_document(total, SCHEMA, output, name="find")
    assert own.output_schema() == count
    assert own.structured_output().schema == count  # type: ignore[union-attr]  # it has one
    assert own.run({"name": "a"}) == '{"total":1}'
    assert own.write_output({"total": "x"}, is_lenient=True).notes[0].code == "wrong_type"
    assert own.with_(leaves=()).output_schema() == count
    assert output.type == SchemaDocument("find", count, is_arguments=False)
    text = DocumentOutput(SchemaDocument("find", {"type": "string"}, is_arguments=False))
    assert text.write("a", "find", is_lenient=False).text == "a"
    nothing = DocumentOutput(None)
    assert (nothing.type, nothing.codec(), nothing.is_declared) == (None, None, False)
    assert nothing.write([1], "find", is_lenient=False).text == "[1]"


def test_results_are_described_by_a_document_or_by_the_function() -> None:
    count = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}

    @dataclass
    class Count:
        total: int

    def counted(arguments: dict[str, Any]) -> Count:
        return Count(len(arguments))

    def total(arguments: dict[str, Any]) -> Any:
        return {"total": "many" if arguments.get("most") else len(arguments)}

    for own in (
        document_tool(counted, SCHEMA),
        document_tool(total, SCHEMA, output_schema=count),
        document_tool(total, SCHEMA, output_schema=count, name="other"),
    ):
        assert own.output_schema() == count
        assert own.run({"name": "a"}) == '{"total":1}'
    assert document_tool(total, SCHEMA).output_schema() == {}
    assert document_tool(total, SCHEMA).home == __name__
    with pytest.raises(EncodeError, match="result of total"):
        document_tool(total, SCHEMA, output_schema=count).run({"name": "a", "most": 1})
    with pytest.raises(SchemaError, match="can't be used"):
        document_tool(total, SCHEMA, output_schema={"type": {1}})


def test_what_a_document_requires_is_required_and_its_name_is_that_of_the_function() -> None:
    own = document_tool(find, SCHEMA)
    assert own.name == "find"
    for wrong in ({}, {"name": 5}, {"name": "a", "most": "x"}):
        with pytest.raises(DecodeError):
            own.run(wrong)


@pytest.mark.needs_threads
def test_an_object_with_a_schema_of_its_own_is_registered() -> None:
    class Greeter:
        name = "greet"
        description = "Greet somebody."
        schema: ClassVar = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}

        def __init__(self, greeting: str) -> None:
            self.greeting = greeting

        async def execute(self, arguments: dict[str, Any]) -> str:
            return f"{self.greeting}, {arguments['who']}"

    own = Greeter("Hello")
    registry = Registry([document_tool(own.execute, own.schema, name=own.name, description=own.description)])
    assert registry.definitions() == [
        {"name": "greet", "description": "Greet somebody.", "input_schema": Greeter.schema}
    ]
    results = Executor(registry).run_sync([RawCall("1", "greet", {"who": "Ada"}), RawCall("2", "greet", {})])
    assert [(result.is_error, result.content.partition("\n")[0]) for result in results] == [
        (False, "Hello, Ada"),
        (True, "greet: 1 problem with the arguments"),
    ]


def test_the_function_has_one_parameter_for_all_arguments() -> None:
    def two(one: dict[str, Any], other: int) -> None: ...

    with pytest.raises(SchemaError, match="all arguments are one dict"):
        document_tool(two, SCHEMA, name="two")
    with pytest.raises(SchemaError, match="can't be used"):
        made({"type": "string"})


@pytest.mark.needs_threads
def test_errors_of_the_function_are_those_of_any_tool() -> None:
    def fail(arguments: dict[str, Any]) -> None:
        message = f"there is no {arguments['name']}"
        raise CallError(message)

    own = document_tool(fail, SCHEMA, name="fail")
    assert "there is no a" in Executor(Registry([own])).run_sync(RawCall("1", "fail", {"name": "a"})).content


@pytest.mark.parametrize("schema", [None, [], {"minimum": float("nan")}])
def test_results_that_somebody_else_describes_in_a_way_that_cannot_be_used_are_not_declared(
    schema: Any,
) -> None:
    assert not DocumentOutput.of_schema(schema, "read").is_declared
    assert DocumentOutput.of_schema({"type": "integer"}, "read").is_declared
