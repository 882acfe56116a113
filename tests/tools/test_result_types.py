"""A result type that can't be written as JSON is refused at registration, not after the work."""

from __future__ import annotations

import json
import types
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Generic, NoReturn, Protocol, Self, TypedDict, TypeVar
from uuid import UUID

import pytest

from operator_schema import Codec, Executor, RawCall, SchemaError, SchemaLeaf, json_schema, tool, tool_input

T = TypeVar("T")


class Plain:
    """A class without a JSON form."""


@dataclass
class Holder:
    inner: Plain


class Text(str):
    __slots__ = ()


class Numbers(list[int]):
    pass


class Named(Protocol):
    name: str


@dataclass
class Cat:
    name: str


@dataclass
class Dog:
    name: str


class Box(Generic[T]):
    pass


class Own:
    @classmethod
    def __schema_leaf__(cls):
        return SchemaLeaf(cls, {"type": "string"}, lambda _: cls(), lambda _: "own", cls())


def returning(annotation, value=None):
    def give(x: int):
        return value

    give.__annotations__["return"] = annotation
    return tool(give)


@pytest.mark.parametrize(
    ("annotation", "place", "named"),
    [
        (complex, ("return",), "complex"),
        (Plain, ("return",), "Plain"),
        ("Plain", ("return",), "Plain"),
        (list[Plain], ("return", "*"), "Plain"),
        (dict[str, Plain], ("return", "*"), "Plain"),
        (Plain | None, ("return",), "Plain"),
        (Annotated[Plain, "text"], ("return",), "Plain"),
        (Holder, ("return", "inner"), "Plain"),
        (Callable[[], int], ("return",), "Callable"),
        (Iterator[int], ("return",), "Iterator"),
        (Box[int], ("return",), "Box"),
    ],
)
def test_a_type_that_has_no_json_form_is_refused(annotation, place, named):
    with pytest.raises(SchemaError) as caught:
        returning(annotation)
    (complaint,) = caught.value.findings
    assert (complaint.path, complaint.code, complaint.type) == (place, "unsupported", "give")
    assert named in complaint.message
    assert "the result can't be written as JSON" in complaint.message
    assert complaint.remedy.endswith("or declare Any, as for the classes of native_results")


def test_an_explicit_output_is_refused():
    with pytest.raises(SchemaError, match=r"output \(in cat\): the result can't be written as JSON: complex"):
        tool_input(output=complex)(Cat)
    with pytest.raises(SchemaError) as caught:
        tool_input(output=complex)(int | str)
    assert {complaint.path for complaint in caught.value.findings} == {(), ("output",)}


def test_everything_wrong_is_in_one_report():
    def give(x, y: Plain) -> Plain: ...

    with pytest.raises(SchemaError) as caught:
        tool(give)
    assert [complaint.path for complaint in caught.value.findings] == [("x",), ("return",), ("y",)]


class Keys(TypedDict):
    x: int


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (Any, {"a": 1}, '{"a":1}'),
        (object, [1], "[1]"),
        (T, [1], "[1]"),
        (Self, [1], "[1]"),
        (NoReturn, None, "null"),
        (Named, Cat("a"), '{"name":"a"}'),
        (Text, Text("a"), "a"),
        (Numbers, Numbers([1]), "[1]"),
        (list[Text], [Text("a")], '["a"]'),
        (Cat | Dog, Dog("a"), '{"name":"a"}'),
        (Keys, {"x": 1}, '{"x":1}'),
        (Own, Own(), "own"),
        (list[Own], [Own()], '["own"]'),
        ("NotThere", [1], "[1]"),
        (list["NotThere"], [1], "[1]"),  # noqa: F821  # a name that is never known
    ],
)
def test_a_type_whose_values_have_a_json_form_is_taken(annotation, value, text):
    made = returning(annotation, value)
    assert made.run({"x": 1}) == text
    assert made.run({"x": 1}) == text


class Before:
    @tool
    def later(self, x: int) -> list[After]:
        return [After(x)]


@dataclass
class After:
    x: int


def test_a_result_type_may_be_defined_below_the_function():
    assert Before().later.run({"x": 1}) == '[{"x":1}]'
    assert Before.later.output_type == list[After]


def of_framework(name: str, module: str, *bases: type) -> type:
    """Return a class as a framework has it, which no schema could describe."""
    members = {"__module__": module, "__annotations__": {"x": complex}}
    return types.new_class(name, bases, exec_body=lambda namespace: namespace.update(members))


CALL_TOOL_RESULT = dataclass(of_framework("CallToolResult", "mcp_types._types"))
TOOL_RETURN = dataclass(of_framework("ToolReturn", "pydantic_ai.messages", Generic[T]))


@pytest.mark.parametrize(
    "annotation",
    [
        CALL_TOOL_RESULT,
        CALL_TOOL_RESULT | None,
        list[str | CALL_TOOL_RESULT],
        Annotated[CALL_TOOL_RESULT, "text"],
        tuple[CALL_TOOL_RESULT, ...],
        dict[str, list[TOOL_RETURN]],
        TOOL_RETURN[int],
        Awaitable[CALL_TOOL_RESULT],
        of_framework("ToolOutputImage", "agents.tool"),
        type("MyResult", (CALL_TOOL_RESULT,), {}),
    ],
)
def test_what_a_framework_hands_through_is_any_result(annotation):
    made = returning(annotation)
    assert made.output_schema() == {}
    assert made.structured_output() is None


@pytest.mark.needs_threads
def test_it_reaches_the_program_as_it_is():
    result = CALL_TOOL_RESULT(1j)
    executor = Executor([returning(CALL_TOOL_RESULT, result)], native_results=(CALL_TOOL_RESULT,))
    assert executor.run_sync(RawCall("1", "give", '{"x": 1}')).value is result


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("Price", "agents.tool"),
        ("Call", "mcp_types2"),
        ("Doc", "langchain_core.documents"),
        ("Own", "llm.models"),
    ],
)
def test_other_classes_of_such_modules_are_described(name, module):
    cls = dataclass(type(name, (), {"__module__": module, "__annotations__": {"x": int}}))
    assert returning(cls).output_schema()["properties"] == {"x": {"type": "integer"}}


class Colour(Enum):
    RED = "red"


class Size(Enum):
    SMALL = 1


@pytest.mark.parametrize("annotation", ["declared", Any, None], ids=str)
@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        (Decimal, Decimal("0.72"), "0.72"),
        (date, date(2026, 1, 31), "2026-01-31"),
        (Path, Path("a b/c"), "a b/c"),
        (UUID, UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (Colour, Colour.RED, "red"),
        (date | None, date(2026, 1, 31), "2026-01-31"),
        (date | None, None, "null"),
        (Size, Size.SMALL, "1"),
        (list[Decimal], [Decimal("0.72")], '["0.72"]'),
    ],
    ids=str,
)
def test_what_is_a_string_in_json_is_shown_without_quotes(annotation, declared, value, text):
    made = returning(declared if annotation == "declared" else annotation or T, value)
    written = made.write_output(value)
    assert (made.run({"x": 1}), written.text) == (text, text)
    assert written.json == (json.loads(text) if text[0] in "[n1" else text)


@dataclass
class Found:
    """What was found.

    Attributes:
        title: of the book.
    """

    title: str


@dataclass
class Folder:
    """A folder of folders."""

    inside: list[Folder]


def test_what_the_class_of_a_result_says_of_itself_describes_the_result():
    schema = returning(Found).output_schema()
    assert schema["description"] == "What was found."
    assert schema["properties"]["title"]["description"] == "of the book."
    assert returning(Folder).output_schema()["description"] == "A folder of folders."
    assert returning(Annotated[Found, "The book"]).output_schema()["description"] == "The book"
    assert returning(Found).structured_output().schema["description"] == "What was found."
    assert "description" not in returning(Cat).output_schema()
    assert "description" not in returning(list[Found]).output_schema()
    assert "description" not in json_schema(Found)  # an input has it as the description of its tool


def test_the_codec_of_a_result_encodes_what_the_tool_returns():
    @tool
    def seats(row: int) -> list[int]:
        return [row]

    @tool
    def undeclared(row: int):
        return row

    codec = seats.result_codec()
    assert codec is not None
    assert codec.json_schema() == seats.output_schema()
    assert undeclared.result_codec() is None


def _nested(wrap, levels=5_000):
    hint = int
    for _ in range(levels):
        hint = wrap(hint)
    return hint


NESTED = {
    "list": lambda hint: list[hint],
    "union": lambda hint: list[hint] | None,
    "class": lambda hint: type[hint],
    "tuple": lambda hint: tuple[hint, T],
}


@pytest.mark.parametrize("wrap", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("place", ["return", "value"])
def test_a_type_that_nests_deeper_than_the_stack_is_refused(wrap, place):
    def told(value: int) -> str:
        """Tell."""
        return str(value)

    told.__annotations__[place] = _nested(wrap)
    with pytest.raises(SchemaError) as caught:
        tool(told)
    assert len(str(caught.value)) < 5_000


def test_nested_callables_are_refused_with_a_short_name():
    with pytest.raises(SchemaError) as caught:
        Codec(_nested(lambda hint: Callable[[hint], int], 300))
    assert len(str(caught.value)) < 1_000
