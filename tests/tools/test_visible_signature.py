"""`tool.signature`: the signature without what your program injects; `inspect.signature` has everything."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, Unpack

import pytest

from operator_schema import skip, tool, tool_input
from operator_schema.types import RawArguments


class Db:
    pass


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    depth: int


class Pair(NamedTuple):
    a: int
    b: str = "b"


@tool
def everything(
    a: int,
    /,
    b: Annotated[str, "What it is."],
    db: Annotated[Db, skip],
    c: list[int] = [1],  # noqa: B006  # a default that can change
    *rest: float,
    d: Point | None = None,
    other: Annotated[Db | None, skip] = None,
    **more: bool,
) -> dict[str, int]: ...


def test_the_parameters_that_the_model_gives():
    assert everything.signature == Signature(
        [
            Parameter("a", Parameter.POSITIONAL_ONLY, annotation=int),
            Parameter("b", Parameter.POSITIONAL_OR_KEYWORD, annotation=Annotated[str, "What it is."]),
            Parameter("c", Parameter.POSITIONAL_OR_KEYWORD, annotation=list[int], default=[1]),
            Parameter("rest", Parameter.VAR_POSITIONAL, annotation=float),
            Parameter("d", Parameter.KEYWORD_ONLY, annotation=Point | None, default=None),
            Parameter("more", Parameter.VAR_KEYWORD, annotation=bool),
        ],
        return_annotation=dict[str, int],
    )
    assert "db" in inspect.signature(everything).parameters


def test_the_default_is_a_copy():
    everything.signature.parameters["c"].default.append(2)
    assert everything.signature.parameters["c"].default == [1]
    assert everything.input_schema()["properties"]["c"]["default"] == [1]


def test_copies_of_a_tool():
    copy = everything.with_(name="other", param_descriptions={"b": "Text."})
    assert copy.signature == everything.signature


class Service:
    @tool
    def find(self, key: str, db: Annotated[Db, skip]) -> Point: ...

    @classmethod
    @tool
    def make(cls, key: str) -> Point: ...

    @tool
    @staticmethod
    def count(key: str) -> int: ...


def test_methods():
    for each in (Service.find, Service().find):
        assert str(each.signature) == f"(key: str) -> {__name__}.Point"
    assert list(Service.make.signature.parameters) == ["key"]
    assert str(Service.count.signature) == "(key: str) -> int"


def test_what_a_partial_binds_is_left_out():
    def add(a: int, b: int, c: int = 3) -> int: ...

    made = tool(functools.partial(add, b=2), name="add")
    assert str(made.signature) == "(a: int, *, c: int = 3) -> int"


def move(to: Point) -> str: ...


def read(arguments: RawArguments): ...


def configure(**options: Unpack[Options]) -> None: ...


def unknown(x: int) -> Missing: ...  # noqa: F821  # known to type checkers alone


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (tool(move), f"(to: {__name__}.Point) -> str"),
        (tool(flatten=False)(move), f"(to: {__name__}.Point) -> str"),
        (tool(read), "(arguments: operator_schema.tools.raw_arguments.RawArguments)"),
        (tool(configure), f"(**options: {inspect.formatannotation(Unpack[Options])}) -> None"),
        (tool(unknown), "(x: int) -> 'Missing'"),
        (tool_input(Point), "(x: int, y: int = 0)"),
        (tool_input(output=bool)(Point), "(x: int, y: int = 0) -> bool"),
        (tool_input(output=None)(Point), "(x: int, y: int = 0) -> None"),
        (tool_input(Pair), "(a: int, b: str = 'b')"),
        (tool_input(Options), f"(**arguments: {inspect.formatannotation(Unpack[Options])})"),
    ],
)
def test_other_tools(made, shown):
    assert str(made.signature) == shown


def test_a_union_takes_any_keywords():
    @dataclass
    class Create:
        kind: Literal["create"]

    @dataclass
    class Remove:
        kind: Literal["remove"]

    made = tool_input(name="edit", description="Edit files.")(Create | Remove)
    (parameter,) = made.signature.parameters.values()
    assert (parameter.kind, parameter.annotation) == (Parameter.VAR_KEYWORD, Any)


@dataclass
class Late:
    x: Missing  # noqa: F821  # known to `namespace` alone


def test_a_dataclass_with_names_that_only_the_tool_knows():
    made = tool_input(namespace={"Missing": int})(Late)
    assert str(made.signature) == "(x: 'Missing')"


@pytest.mark.needs_process
def test_inspect_is_loaded_when_it_is_asked_for():
    code = (
        "import sys; from operator_schema.tools.tool import Tool; a = 'inspect' in sys.modules;"
        "from operator_schema import tool\n"
        "def f(x: int) -> int: ...\n"
        "t = tool(f); b = 'inspect' in sys.modules; t.signature; print(a, b, 'inspect' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split()[-1] == "True"
    assert done.stdout.split()[0] == done.stdout.split()[1]
