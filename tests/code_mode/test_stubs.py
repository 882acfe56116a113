"""Declarations of tools in Python and TypeScript."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Le
from stubs_judge import hostile_tools

from operator_schema import Executor, Registry, Toolset, tool, tool_input
from operator_schema.code_mode import stubs, stubs_of
from operator_schema.tools import document_tool


class Unit(Enum):
    """A unit of temperature."""

    C = "c"
    F = "f"


@dataclass
class Place:
    """Where somebody is."""

    city: str
    zip: str | None = None


@dataclass
class Tree:
    """A tree."""

    name: str
    children: list[Tree] = field(default_factory=list)


@tool
def weather(
    place: Place,
    days: Annotated[int, Ge(1), Le(14)] = 3,
    unit: Unit = Unit.C,
    tags: dict[str, list[int]] | None = None,
) -> list[Place]:
    """Get the weather.

    Args:
        place: Where.
        days: How many days.
        unit: Which unit.
    """
    return [place] * (days if unit and not tags else 1)


@tool
def plant(tree: Tree, on: date) -> Tree | None:
    """Plant a tree."""


def test_python_stubs_say_types_defaults_limits_and_descriptions():
    assert stubs([weather]) == (
        "from typing import Literal, NotRequired, TypedDict\n"
        "class Place(TypedDict): #Where somebody is.\n"
        " city: str\n"
        " zip: NotRequired[str | None]\n"
        "def weather(place: Place, #Where.\n"
        " days: int=3, #How many days. (at least 1; at most 14)\n"
        ' unit: Literal["c","f"]="c", #Which unit.\n'
        " tags: dict[str, list[int]] | None=None,\n"
        ')->list[Place]:"Get the weather."\n'
    )


def test_typescript_stubs_say_the_same():
    assert stubs([weather], "typescript") == (
        "type P<T=any> = Promise<T>;\n"
        "interface Place { //Where somebody is.\n"
        "city:string\n"
        "zip?:string|null\n"
        "}\n"
        "export declare const tools: {\n"
        "/**Get the weather.*/\n"
        "weather(arg:{place:Place //Where.\n"
        "days?:number //How many days. (at least 1; at most 14) =3\n"
        'unit?:"c"|"f" //Which unit. ="c"\n'
        "tags?:{[key:string]:number[]}|null\n"
        "}):P<Place[]>\n"
        "};\n"
    )


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("How many. Default is 3.", True),
        ("How many. Defaults to 3", True),
        ("How many (default: 3)", True),
        ("How many. Default is 30.", False),
        ("How many of 3.", False),
        ("The default. 1.3", False),
    ],
)
def test_a_default_that_a_description_says_is_not_written_twice(text, is_said):
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 3, "description": text}}}
    written = stubs([document_tool(lambda **_: None, schema, name="go", description="Go.")], "typescript")
    assert ("=3" not in written) == is_said


def test_recursive_types_refer_to_themselves():
    assert " children: NotRequired[list[Tree]]\n" in stubs([plant])
    assert "\nchildren?:Tree[]\n" in stubs([plant], "typescript")
    assert "def plant(tree: Tree, on: str" in stubs([plant]) or " on: str, #" in stubs([plant])


def test_a_recursive_alias_has_a_name():
    schema = {
        "type": "object",
        "properties": {"value": {"$ref": "#/$defs/Json"}},
        "$defs": {
            "Json": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Json"}}]}
        },
    }
    keep = document_tool(lambda **_: None, schema, name="keep", description="Keep it.")
    assert "Json: TypeAlias = str | list[Json]" in stubs([keep])
    assert "type Json = string|Json[];" in stubs([keep], "typescript")


def test_types_of_one_content_are_declared_once_and_others_get_numbers():
    def of(kind):
        inner = {"type": "object", "title": "Item", "properties": {"x": {"type": kind}}}
        return {"type": "object", "properties": {"item": inner}}

    tools = [
        document_tool(lambda **_: None, of(kind), name=f"take_{number}", description="Take it.")
        for number, kind in enumerate(["string", "string", "integer"])
    ]
    text = stubs(tools)
    assert text.count("class Item(") == 1
    assert "class Item_2(TypedDict, total=False):\n x: int\n" in text
    assert "def take_1(item: Item=...)" in text
    assert "def take_2(item: Item_2=...)" in text


def test_names_that_python_has_taken_are_changed_and_the_keys_are_kept():
    schema = {
        "type": "object",
        "properties": {"from": {"type": "string"}, "a-b": {"type": "string"}, "a_b": {}},
    }
    tools = [
        document_tool(lambda **_: None, schema, name=name, description="x")
        for name in ("print", "a-b", "a_b")
    ]
    found = stubs_of(tools)
    assert list(found.functions) == ["print_", "a_b", "a_b_2"]
    assert [one.tool for one in found.functions.values()] == ["print", "a-b", "a_b"]
    assert found.functions["a_b"].parameters == {"from_": "from", "a_b": "a-b", "a_b_2": "a_b"}


def test_required_parameters_come_first():
    schema = {
        "type": "object",
        "properties": {"first": {"type": "string"}, "second": {"type": "string"}},
        "required": ["second"],
    }
    found = stubs_of([document_tool(lambda **_: None, schema, name="go", description="Go.")])
    assert list(found.functions["go"].parameters) == ["second", "first"]


def test_an_input_of_several_types_is_one_parameter():
    @dataclass
    class Start:
        """Start."""

        kind: Literal["start"]

    @dataclass
    class Stop:
        """Stop."""

        kind: Literal["stop"]

    either = tool_input(name="either", description="Start or stop.")(Start | Stop)
    found = stubs_of([either])
    assert 'def either(input: Start | Stop)->Any:"Start or stop."' in found.text
    assert found.functions["either"].parameters is None


def test_a_default_that_does_not_fit_is_left_out():
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": "five"}}}
    text = stubs([document_tool(lambda **_: None, schema, name="go", description="Go.")])
    assert "def go(n: int=...)" in text


def test_only_tools_that_are_offered_are_declared():
    toolset = Toolset(weather, plant).hide(plant)
    for source in (toolset, Registry(toolset), Executor(toolset)):
        assert "def weather(" in stubs(source)
        assert "def plant(" not in stubs(source)


def test_the_same_tools_give_the_same_text():
    assert stubs([weather, plant]) == stubs(Toolset(weather, plant))


def test_hostile_texts_and_names_stay_inside_comments_and_strings():
    tools = list(hostile_tools())
    tree = ast.parse(stubs(tools))
    kinds = {type(node) for node in tree.body}
    assert kinds == {ast.ImportFrom, ast.Assign, ast.FunctionDef}
    assert sum(isinstance(node, ast.FunctionDef) for node in tree.body) == len(tools)
    assert all(ast.get_docstring(node) for node in tree.body if isinstance(node, ast.FunctionDef))


def test_there_are_no_stubs_in_other_languages():
    with pytest.raises(ValueError, match='there are stubs for "python", "typescript", not for'):
        stubs([weather], "go")


def test_what_is_not_a_tool_is_refused():
    with pytest.raises(TypeError):
        stubs([len])
