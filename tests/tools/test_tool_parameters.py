"""Which parameters of a function the model sees, and how."""

from __future__ import annotations

import threading
import typing
from typing import (
    Annotated,
    Any,
    NotRequired,
    Required,
    TypedDict,
    Unpack,
)

import pytest
import typing_extensions
from tool_samples import Point, codes_of, many

from operator_schema import DecodeError, SchemaError, skip, tool
from operator_schema.tools import parameters_of


class Options(TypedDict):
    verbose: bool
    depth: NotRequired[int]


def test_twenty_parameters_with_forward_references_and_junk_in_annotated():
    made = tool(many)
    schema = made.input_schema()
    assert list(schema["properties"]) == list("abcdefghijklmnopqrst")
    assert schema["required"] == ["a", "b", "c", "d", "f", "g", "h"]
    assert schema["properties"]["b"] == {"type": "string", "description": "text"}
    assert schema["properties"]["m"]["default"] == []
    arguments = {
        "a": 1,
        "b": "b",
        "c": [{"name": "c"}],
        "d": {},
        "f": "x",
        "g": [1],
        "h": [1, "h"],
        "t": [{"name": "t"}],
    }
    assert made.run(arguments) == "1b[Later(name='c')]None[][Later(name='t')]"


def test_names_that_others_reserve():
    @tool
    def call(
        self: int, cls: int, json: str, model_dump: bool, args: list[int], kwargs: int, title: str
    ) -> int:
        return self + cls + sum(args) + kwargs + len(json + title) + model_dump

    names = ["self", "cls", "json", "model_dump", "args", "kwargs", "title"]
    assert list(call.input_schema()["properties"]) == names
    arguments = {"self": 1, "cls": 2, "json": "a", "model_dump": True, "args": [3], "kwargs": 4, "title": "b"}
    assert call.run(arguments) == "13"
    assert call.decode(arguments) == call.input_type(**arguments)


def test_names_of_options_and_of_the_input_itself():
    @tool
    def call(given: int, context: int, hosted: int, param_descriptions: dict[str, int] = {}) -> int:  # noqa: B006  # on purpose
        return given + context + hosted + len(param_descriptions)

    assert call.run({"given": 1, "context": 2, "hosted": 3, "param_descriptions": {"a": 1}}) == "7"


def test_varargs():
    @tool
    def add(first: int, *rest: int, scale: int = 1, **named: int) -> str:
        return f"{first}{rest}{scale}{named}"

    assert add.input_schema() == {
        "type": "object",
        "properties": {
            "first": {"type": "integer"},
            "rest": {"type": "array", "items": {"type": "integer"}},
            "scale": {"type": "integer", "default": 1},
            "named": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["first"],
    }
    assert add.run({"first": 1}) == "1()1{}"
    assert add.run({"first": 1, "rest": [2, 3], "scale": 4, "named": {"a": 5}}) == "1(2, 3)4{'a': 5}"
    assert add(1, 2, scale=3, a=4) == "1(2,)3{'a': 4}"


@pytest.mark.parametrize("name", ["first", "db"])
def test_extra_arguments_override_nothing(name):
    @tool
    def write(first: int, *, db: Annotated[Any, skip], **extra: int) -> str:
        return f"{first}{db}{extra}"

    with pytest.raises(DecodeError) as caught:
        write.run({"first": 1, "extra": {name: 2}}, db=3)
    assert caught.value.findings[0].code == "rejected"


def test_typed_keywords():
    @tool
    def walk(path: str, **options: Unpack[Options]) -> str:
        return f"{path}{options}"

    assert walk.input_schema()["required"] == ["path", "options"]
    assert walk.run({"path": "a", "options": {"verbose": True}}) == "a{'verbose': True}"


class Loose(TypedDict):
    depth: NotRequired[int]


class Tight(TypedDict, total=False):
    depth: Required[int]
    width: int


def test_keywords_whose_types_say_which_must_be_there():
    # The annotations of both are text, into which `typing` does not look.
    @tool
    def loose(**options: Unpack[Loose]) -> str:
        return str(options)

    @tool
    def tight(**options: Unpack[Tight]) -> str:
        return str(options)

    assert "required" not in loose.input_schema()
    assert loose.run({}) == "{}"
    assert loose.run({"options": {"depth": 1}}) == "{'depth': 1}"
    assert tight.input_schema()["required"] == ["options"]
    assert tight.run({"options": {"depth": 1}}) == "{'depth': 1}"
    with pytest.raises(DecodeError):
        tight.run({})


def test_keywords_whose_types_are_given_as_text():
    def walk(**options: Unpack["Unheard"]) -> str:  # noqa: F821,UP037  # given below
        return str(options)

    made = tool(namespace={"Unheard": Loose})(walk)
    assert made.run({"options": {"depth": 1}}) == "{'depth': 1}"
    with pytest.raises(SchemaError) as caught:
        tool(walk)
    assert codes_of(caught) == ["unsupported"]


BOTH_UNPACKS = pytest.mark.parametrize(
    # That of typing_extensions is another object below Python 3.12.
    "unpack",
    [Unpack, typing_extensions.Unpack],
    ids=["typing", "typing_extensions"],
)


@BOTH_UNPACKS
def test_each_unpack_is_the_same(unpack, define):
    def walk(path: str, **options): ...

    walk.__annotations__["options"] = unpack[Options]
    made = tool(walk)
    assert made.input_schema() == walk_schema()
    assert made.signature.parameters["options"].annotation == Unpack[Options]
    source = f"from __future__ import annotations\nfrom {unpack.__module__} import Unpack\n"
    module = define(f"{source}def walk(path: str, **options: Unpack[Options]): ...")
    assert tool(namespace={"Options": Options})(module.walk).input_schema() == walk_schema()


def walk_schema():
    def walk(path: str, **options: Unpack[Options]): ...

    return tool(walk).input_schema()


@BOTH_UNPACKS
@pytest.mark.parametrize("given", [int, Point, dict[str, int]])
def test_keywords_of_what_is_no_typed_dict(given, unpack):
    def walk(**options): ...

    walk.__annotations__ = {"options": unpack[given]}
    with pytest.raises(SchemaError, match="in Unpack isn't a TypedDict") as caught:
        tool(walk)
    assert caught.value.findings[0].path == ("options",)


def test_positional_only_and_keyword_only():
    @tool
    def mix(a: int, /, b: int, *, c: int = 3) -> str:
        return f"{a}{b}{c}"

    assert mix.run({"a": 1, "b": 2}) == "123"
    assert mix.input_type(1, 2, c=4) == mix.decode({"a": 1, "b": 2, "c": 4})
    assert mix.input_type.__match_args__ == ("a", "b")
    assert mix(1, 2) == "123"


def test_a_mutable_default_is_fresh_at_each_call():
    @tool
    def collect(item: str, into: list[str] = []) -> list[str]:  # noqa: B006  # what people write
        into.append(item)
        return into

    assert collect.run({"item": "a"}) == '["a"]'
    assert collect.run({"item": "b"}) == '["b"]'
    assert collect.input_schema()["properties"]["into"]["default"] == []


def test_a_mutable_default_is_told_as_it_was_when_the_tool_was_made():
    @tool
    def collect(item: str, into: list[str] = [], pair: tuple[list[int], ...] = ([1],)) -> int:  # noqa: B006  # likewise
        into.append(item)
        pair[0].append(len(into))
        return len(into)

    before = collect.input_schema()
    assert (collect("a"), collect("b")) == (1, 2)
    assert collect.input_schema() == before
    assert (before["properties"]["into"]["default"], before["properties"]["pair"]["default"]) == ([], [[1]])
    assert parameters_of(collect)[1][1]["default"] == []
    assert collect.run({"item": "c"}) == "1"
    assert collect("d") == 3  # what Python does with the default of a function


class NoHash:
    def __hash__(self):
        raise LookupError


def test_a_default_that_can_not_be_copied():
    def hold(x: Any = [threading.Lock()], y: Any = NoHash()) -> str: ...  # noqa: B006,B008  # what is refused

    with pytest.raises(SchemaError, match="can't be copied: TypeError") as caught:
        tool(hold)
    assert [(c.path, c.code) for c in caught.value.findings] == [
        (("x",), "bad_default"),
        (("y",), "bad_default"),
    ]
    assert tool(skip=("x", "y"))(hold).input_schema() == {"type": "object", "properties": {}}


def test_a_tool_has_the_annotations_of_its_function():
    def double(value: int) -> int:
        return value * 2

    assert typing.get_type_hints(tool(double)) == {"value": int, "return": int}
    assert tool(double).__annotations__ == double.__annotations__


@BOTH_UNPACKS
def test_unpack_belongs_to_keyword_arguments(unpack):
    def single(value): ...
    def named(*, value): ...
    def several(*value): ...

    for function in (single, named, several):
        function.__annotations__ = {"value": unpack[tuple[int]]}
        with pytest.raises(SchemaError, match=r"Unpack\[.*\] is not supported"):
            tool(function)
