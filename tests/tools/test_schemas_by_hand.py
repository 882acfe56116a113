"""Tools over a JSON Schema that somebody wrote by hand: `document_tool` and described raw arguments."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypedDict

import pytest

from operator_schema import (
    DecodeError,
    EncodeError,
    Executor,
    RawCall,
    Registry,
    SchemaError,
    Tool,
    ToolError,
    skip,
    tool,
)
from operator_schema.tools import document_tool, parameters_of, schema_response
from operator_schema.types import Progress, RawArguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "package": {"type": "string", "description": "Name. Of a package on PyPI."},
        "major": {"type": "integer", "minimum": 1},
    },
    "required": ["package"],
}
Given = RawArguments.described_by(SCHEMA)


class Keys(TypedDict):
    package: str


def as_dict(arguments: dict[str, Any]) -> str:
    """Check a package.

    Args:
        arguments: as its registry takes them.
    """
    return f"{arguments}"


def as_any(arguments: Any) -> str:
    return f"{arguments}"


def as_mapping(arguments: Mapping[str, object]) -> str:
    return f"{arguments}"


def as_typed_dict(arguments: Keys) -> str:
    return f"{arguments}"


def by_name(**arguments: Any) -> str:
    return f"{arguments}"


def raw(arguments: RawArguments) -> str:
    return f"{arguments.arguments}"


def without(arguments):  # type: ignore[no-untyped-def]  # on purpose
    return f"{arguments}"


class Own:
    """What a program may have of its own in place of `Tool`."""

    name = "check"
    description = "Check a package. It is looked up on PyPI."
    parameters = SCHEMA

    def execute(self, arguments: dict[str, Any]) -> str:
        return f"{arguments}"


FUNCTIONS: list[Callable[..., Any]] = [
    as_dict,
    as_any,
    as_mapping,
    as_typed_dict,
    by_name,
    raw,
    without,
    Own().execute,
    lambda arguments: f"{arguments}",  # pyright: ignore[reportUnknownLambdaType]  # as it is written
]


def described(repair: bool = False) -> Tool[..., Any]:
    @tool(repair=repair)
    def check(arguments: Annotated[RawArguments, Given]) -> str:
        """Check a package. It is looked up on PyPI."""
        return f"{arguments.require('package', str)}"

    return check


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_function_gets_all_arguments_that_fit(function: Callable[..., Any]) -> None:
    check = document_tool(function, SCHEMA, name="check", description="Check a package.")
    assert check.run({"package": "a", "more": [1]}) == "{'package': 'a', 'more': [1]}"
    assert check.input_schema() == SCHEMA
    assert check.encode_input(check.decode({"package": "a"})) == {"package": "a"}
    assert check.decode_report({"package": "a"}).instance == check.decode({"package": "a"})
    assert list(check.signature.parameters) == ["arguments"]
    with pytest.raises(DecodeError) as caught:
        check.run({"major": 0})
    assert [problem.path for problem in caught.value.findings] == [("package",), ("major",)]
    with pytest.raises(EncodeError):
        check.encode_input(check.decode({"package": "a"}).__class__({}))


@pytest.mark.parametrize("check", [document_tool(raw, SCHEMA, name="check"), described()])
def test_what_a_schema_requires_is_required_of_raw_arguments(check: Tool[..., Any]) -> None:
    for arguments in ({}, {"package": 5}, {"package": "a", "major": "x"}):
        with pytest.raises(DecodeError) as caught:
            check.run(arguments)
        assert caught.value.name == "check"
    assert isinstance(check.decode({"package": "a"}), RawArguments)
    assert check.decode({"package": "a"}).tool == "check"
    assert check.input_type is RawArguments
    with pytest.raises(ToolError, match="takes an input"):
        check.call({"package": "a"})


def test_raw_arguments_are_repaired_by_their_schema_before_they_are_read() -> None:
    assert described(repair=True).decode({"Package": "a", "major": "3"}).arguments == {
        "package": "a",
        "major": 3,
    }


def test_the_response_has_the_parameters() -> None:
    listed = [("package", "Name."), ("major", None)]
    for check in (described(), document_tool(as_dict, SCHEMA)):
        assert [(name, each.get("summary")) for name, each in parameters_of(check)] == listed
        (answer,) = schema_response([check])["tools"]
        assert answer["parameters"] == dict(parameters_of(check))
        assert "input_schema" not in answer
    assert answer["parameters"]["package"]["required"] is True


@pytest.mark.needs_threads
def test_own_objects_are_registered_by_their_function_and_schema() -> None:
    own = Own()
    with pytest.raises(
        TypeError, match=r"an Own isn't a Tool; make one from its function and schema: document_tool"
    ):
        Registry([own])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]  # on purpose
    check = document_tool(own.execute, own.parameters, name=own.name, description=own.description)
    registry = Registry([check])
    assert registry["check"].summary == "Check a package."
    result = asyncio.run(Executor(registry).run(RawCall("1", "check", {"pakage": "a"})))
    assert 'rename "pakage" to "package"' in result.content


def test_name_docstring_and_result_are_those_of_the_function() -> None:
    check = document_tool(as_dict, SCHEMA)
    assert (check.name, check.summary) == ("as_dict", "Check a package.")
    assert check.details == "as its registry takes them."
    assert check.output_type is str
    assert check.home == __name__
    assert check("as it is") == "as it is"  # type: ignore[arg-type]  # the function itself
    count = {"type": "object", "properties": {"total": {"type": "integer"}}}
    told = document_tool(as_any, SCHEMA, name="told", output_schema=count)
    assert told.output_schema() == count
    with pytest.raises(EncodeError):
        told.run({"package": "a"})


def test_a_program_injects_as_always() -> None:
    def check(arguments: dict[str, Any], progress: Annotated[Progress, skip], who: str) -> str:
        return f"{arguments} {who} {progress}"

    made = document_tool(check, SCHEMA, skip=("who",))
    assert list(made.signature.parameters) == ["arguments"]
    assert made.run({"package": "a"}, progress="none", who="me") == "{'package': 'a'} me none"


@pytest.mark.needs_threads
def test_an_async_function_is_awaited() -> None:
    async def check(arguments: dict[str, Any]) -> str:
        return f"{arguments}"

    assert asyncio.run(document_tool(check, SCHEMA).arun({"package": "a"})) == "{'package': 'a'}"


def two(package: str, major: int) -> None: ...


def none() -> None: ...


def other(package: str) -> None: ...


def several(*arguments: Any) -> None: ...


def beside(db: Annotated[object, skip], **arguments: Any) -> None: ...


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            two,
            'the model would give "package" and "major", but with a JSON Schema all arguments are one dict',
        ),
        (none, "it has no parameter for the arguments, which are passed in one dict"),
        (other, '"package" is annotated str, and all arguments are one dict'),
        (several, '"arguments" takes arguments by position, and all arguments are one dict'),
        (beside, '"arguments" takes any name, also "db", which your program injects'),
    ],
)
def test_a_function_that_does_not_take_one_dict_is_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        document_tool(function, SCHEMA)
    assert said in str(caught.value)
    assert "arguments: dict[str, Any]" in str(caught.value)
    assert len(caught.value.findings) == 1


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, "arguments are an object"),
        ([], "not an object"),
        ({"type": "object", "x": object()}, "isn't a value of JSON"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_all_else_that_is_wrong(schema: Any, said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        document_tool(two, schema, timeout=-1)
    assert said in str(caught.value)
    assert len(caught.value.findings) == 3


def test_examples_and_descriptions_are_checked_when_it_is_made() -> None:
    with pytest.raises(SchemaError, match="example 1"):
        document_tool(as_dict, SCHEMA, examples=[{}])
    with pytest.raises(SchemaError, match='"majr"'):
        document_tool(as_dict, SCHEMA, param_descriptions={"majr": "x"})
    assert document_tool(as_dict, SCHEMA, examples=[{"package": "a"}]).examples == ({"package": "a"},)


def test_changed_copies_keep_what_they_hand_over() -> None:
    for check in (described(), document_tool(by_name, SCHEMA)):
        again = check.with_(name="again", repair=True, param_descriptions={"major": "M"})
        assert type(again.decode({"Package": "a"})) is type(check.decode({"package": "a"}))
        assert again.input_schema()["properties"]["major"]["description"] == "M"


def test_the_codec_of_raw_arguments_is_pickled() -> None:
    codec = pickle.loads(pickle.dumps(described().codec))
    assert codec.decode({"package": "a"}) == RawArguments({"package": "a"})
    assert codec.encode_leniently(RawArguments({}))[0] == {}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "integer", "maximum": "9"},
        {"type": "integer", "minimum": 0, "default": -1},
        {"type": "integer", "examples": ["q"]},
    ],
)
def test_a_schema_by_hand_says_nothing_that_can_t_be_checked(part):
    with pytest.raises(SchemaError, match="json_schema"):
        RawArguments.described_by({"type": "object", "properties": {"n": part}})
