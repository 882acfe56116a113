"""Aliases that are used twice at each level: everything takes time and room by the level, not by the use."""

from __future__ import annotations

import json
import sys
from dataclasses import make_dataclass
from typing import Annotated, Any, Literal, Union

import pytest
from judge import validator
from typing_extensions import TypeAliasType

from operator_schema import Codec, SchemaError, json_schema
from operator_schema.introspect import ambiguity_checks
from operator_schema.schema.render import MAX_INLINED

LEVELS = 30
Rows = TypeAliasType("Rows", "list[Rows] | None")
Nested = TypeAliasType("Nested", "list[Nested]")


def doubled(name, levels, twice, start: Any = int):
    alias = start
    for level in range(levels):
        alias = TypeAliasType(f"{name}{level}", twice(alias, level))
    return alias


def pair(alias, _level):
    return tuple[alias, alias]


def tree(alias, _level):
    return dict[str, alias] | list[alias]


def described(alias, level):
    return Annotated[alias | None, f"d{level}"] | Annotated[alias | str, f"e{level}"]


@pytest.mark.parametrize("twice", [pair, tree, described], ids=lambda twice: twice.__name__)
@pytest.mark.parametrize("levels", [15, LEVELS])
def test_the_schema_grows_by_the_level(twice, levels):
    schema = Codec(doubled("A", levels, twice)).json_schema()
    validator(schema)
    assert len(json.dumps(schema)) < 400 * levels
    assert len(schema["$defs"]) >= levels - 8


def test_what_is_shared_means_the_same():
    codec = Codec(doubled("A", 11, pair))
    assert "$defs" in codec.json_schema()
    assert "$defs" not in Codec(doubled("A", 8, pair)).json_schema()
    value: Any = 7
    for _ in range(11):
        value = [value, value]
    judge = validator(codec.json_schema())
    assert judge.is_valid(value)
    assert judge.is_valid(codec.encode(codec.decode(value)))
    value[1][0][1] = []
    assert not judge.is_valid(value)
    assert codec.report(value)


def test_what_has_no_name_is_shared_by_its_kind():
    alias = TypeAliasType("Row", list[tuple[int, str, float]])
    fields = [(f"f{i}", alias | int | None) for i in range(MAX_INLINED)]
    schema = Codec(make_dataclass("Rows", fields)).json_schema()
    assert schema["$defs"].keys() == {"Row"}
    assert schema["properties"]["f1"] == {"anyOf": [{"$ref": "#/$defs/Row"}, {"type": "integer"}]}
    assert "Union" in Codec(doubled("A", 20, described)).json_schema()["$defs"]


def test_equal_unions_that_were_written_apart_are_one():
    one, other = doubled("A", LEVELS, pair), doubled("B", LEVELS, pair)
    assert "anyOf" not in Codec(list[Union[one, other]]).json_schema()["items"]
    assert Codec(set[Union[one, other]]).decode([]) == set()


def test_a_union_of_what_is_equal_is_no_union():
    one, other = TypeAliasType("One", list[int]), TypeAliasType("Other", list[int])
    codec: Codec[Any] = Codec(Union[one, other])
    assert codec.json_schema() == json_schema(list[int])
    assert codec.report(5) == Codec(list[int]).report(5)
    assert codec.report(5)[0].suggestion == "[5]"


def test_equal_members_of_described_unions_are_one():
    both = Annotated[list[int] | None, "a"] | Annotated[list[int] | str, "b"]
    [problem] = Codec(both).report(["x"])
    assert problem.path == (0,)
    [problem] = Codec(Rows | list[Rows] | str).report([[5]])
    assert problem.path == (0, 0)


def test_members_that_are_equal_in_python_alone_stay_two():
    one = Literal[1]
    with pytest.raises(SchemaError) as caught:
        Codec(Union[one, Literal[1.0]])
    assert caught.value.findings[0].code == "ambiguous"
    assert Codec(Union[one, Literal[True]]).decode(True) is True


def test_a_recursive_alias_beside_what_it_stands_for():
    assert Codec(Union[Nested, list[Nested], None]).decode([[], [[]]]) == [[], [[]]]


def test_unions_with_too_many_members_are_refused(monkeypatch):
    monkeypatch.setattr(ambiguity_checks, "MAX_COMPARED_MEMBERS", 1000)
    inner = [make_dataclass(f"I{i}", [(f"key{i}", int)]) for i in range(40)]
    classes = [make_dataclass(f"C{i}", [("same", each)]) for i, each in enumerate(inner)]
    with pytest.raises(SchemaError) as caught:
        Codec(Union[tuple(classes)] | list[int])
    [complaint] = caught.value.findings
    assert complaint.code == "too_large"


def of_one_name(levels):
    alias: Any = int
    fields = []
    for i in range(levels):
        alias = TypeAliasType("Same", Annotated[alias | None, f"d{i}"] | Annotated[alias | str, f"e{i}"])
        fields.append((f"f{i}", alias))
    return make_dataclass("Chain", fields)


def lines_of(function):
    """Count the lines that a function of ours runs, in all that it calls."""
    count = 0

    def trace(_frame, event, _argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def test_sharing_names_many_definitions_in_linear_time():
    few, many = Codec(of_one_name(40)), Codec(of_one_name(80))
    schema = many.json_schema()
    assert len(schema["$defs"]) == len({json.dumps(part) for part in schema["$defs"].values()})
    assert len(schema["$defs"]) == 2 * 80 - 2
    assert lines_of(many.json_schema) < 2.2 * lines_of(few.json_schema)
