"""Calls: injected values, and what goes back to the model."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum, StrEnum
from typing import Annotated, Any, Literal

import pytest

from operator_schema import (
    DecodeError,
    EncodeError,
    RawCall,
    SchemaError,
    ToolError,
    describe_tools,
    skip,
    tool,
    tool_input,
)
from operator_schema.errors import MissingContextError
from operator_schema.tools import document_tool, parameters_of, schema_response
from operator_schema.types import RawArguments


class Db:
    pass


class Postgres(Db):
    pass


class Sqlite(Db):
    pass


@tool(skip=("user",))
def read(key: str, db: Annotated[Db | None, skip], user: str, *, lang: Annotated[str, skip] = "en") -> str:
    return f"{key} {type(db).__name__} {user} {lang}"


@pytest.mark.parametrize(
    ("context", "given"),
    [
        ({Db: Db(), str: "ann"}, {}),
        ({Db: Db()}, {"user": "ann", "lang": "ann"}),
        ({"db": Db(), "user": "ann", "lang": "ann"}, {}),
        ({"user": "bob", "lang": "ann"}, {"db": Db(), "user": "ann"}),
    ],
)
def test_injected_values(context, given):
    assert read.run({"key": "k"}, context=context, **given) == "k Db ann ann"


def test_defaults_of_injected_parameters():
    assert read.run({"key": "k"}, db=None, user="ann") == "k NoneType ann en"


def test_a_type_in_the_context_may_be_more_particular():
    assert read.run({"key": "k"}, context={Postgres: Postgres()}, user="u") == "k Postgres u en"
    both = {Postgres: Postgres(), Sqlite: Sqlite()}
    with pytest.raises(ToolError, match="Postgres, Sqlite; give it by name"):
        read.run({"key": "k"}, context=both, user="u")
    assert read.run({"key": "k"}, context={**both, Db: Db()}, user="u") == "k Db u en"


def test_what_is_missing_is_named_before_anything_runs():
    ran = []

    @tool
    def act(a: Annotated[Db, skip], b: Annotated[int, skip]) -> None:
        ran.append(1)

    with pytest.raises(MissingContextError, match="act: a, b must be injected") as caught:
        act.run({})
    assert (caught.value.tool, caught.value.parameters) == ("act", ("a", "b"))
    assert ran == []


def test_what_is_not_asked_for():
    with pytest.raises(ToolError, match=r'"dbs".*did you mean "db"'):
        read.run({"key": "k"}, dbs=1)
    with pytest.raises(
        ToolError,
        match=r'it has no injected parameter "db"; what a model gives .* \{"db": …\}$',
    ):
        tool(free).run({}, db=1)


def free() -> int:
    return 1


def test_a_mark_inside_a_union():
    @tool
    def act(x: int, db: Annotated[Db, skip] | None) -> int:
        return x

    assert list(act.input_schema()["properties"]) == ["x"]


@pytest.mark.parametrize(
    "annotation",
    [
        Annotated["Db", skip],
        Annotated[typing.Optional["Db"], skip],  # as text may stand in it
        Annotated[typing.Union["int | Db", None], skip],  # likewise
        Annotated[typing.Union["Unknown", "Db"], skip],  # noqa: F821  # likewise
        "Annotated['Db', skip]",
    ],
    ids=str,
)
def test_a_type_in_quotes_is_found_in_the_context(annotation):
    def act(x: int, db=None) -> str:
        return type(db).__name__

    act.__annotations__["db"] = annotation
    assert tool(act).run({"x": 1}, context={Postgres: Postgres()}) == "Postgres"
    assert tool(act).run({"x": 1}) == "NoneType"


def test_a_type_that_is_not_known_is_given_by_name():
    def act(x: int, db=None) -> str:
        return str(db)

    act.__annotations__["db"] = Annotated["Unknown", skip]  # noqa: F821  # what is tested
    assert tool(act).run({"x": 1}, context={Db: 1, "db": 2}) == "2"


def test_call_takes_an_input():
    with pytest.raises(ToolError, match=r"call takes an input \(ReadInput\), not object"):
        read.call({"key": "k"}, db=None, user="u")
    assert read.call(read.input_type("k"), db=None, user="u") == "k NoneType u en"


# --- output --------------------------------------------------------------------------------------


class Color(Enum):
    RED = "red"


class Size(StrEnum):
    BIG = "big"


@dataclass
class Hit:
    title: str
    when: datetime | None = None
    color: Color = Color.RED


NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def returning(annotation, value):
    def give(): ...

    give.__annotations__ = {"return": annotation}
    return tool(give).encode_output(value)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (str, "a\n", "a\n"),
        (Size, Size.BIG, "big"),
        (Color, Color.RED, "red"),
        (Hit | str, "plain", "plain"),
        (list[Hit], [Hit("é", NOON)], '[{"title":"é","when":"2026-01-31T12:00:00+00:00","color":"red"}]'),
        (datetime, NOON, "2026-01-31T12:00:00+00:00"),
        (dict[int, float], {1: 2}, '{"1":2.0}'),
        (tuple[int, ...], (1, 2), "[1,2]"),
        (Any, {"a": Hit("b")}, '{"a":{"title":"b","color":"red"}}'),
        (bool, True, "true"),
        ("Hit", Hit("a"), '{"title":"a","color":"red"}'),
        ("NotThere", Hit("a"), '{"title":"a","color":"red"}'),
    ],
)
def test_results_are_text(annotation, value, text):
    assert returning(annotation, value) == text


def test_results_without_a_declared_type():
    made = tool(undeclared)
    assert made.output_type is None
    assert made.output_schema() is None
    assert made.encode_output(None) == "null"
    assert made.encode_output(Hit("a")) == '{"title":"a","color":"red"}'
    assert made.encode_output([Hit("a"), 1]) == '[{"title":"a","color":"red"},1]'


def undeclared(): ...


@pytest.mark.parametrize(
    ("annotation", "value"), [(int, [1]), (list[int], {1}), (Any, object()), (float, float("nan"))]
)
def test_results_that_can_not_be_told(annotation, value):
    with pytest.raises(EncodeError) as caught:
        returning(annotation, value)
    assert caught.value.name == "give"
    assert caught.value.findings


def test_output_schema():
    def count(x: int) -> list[int]: ...

    def nothing(x: int) -> None: ...

    assert tool(count).output_schema() == {"type": "array", "items": {"type": "integer"}}
    assert tool(count).output_type == list[int]
    assert tool(nothing).output_schema() == {"type": "null"}


# --- raw arguments and parameters ----------------------------------------------------------------


def test_raw_arguments_stand_alone():
    with pytest.raises(SchemaError, match="RawArguments takes all arguments"):

        @tool
        def both(key: str, others: RawArguments) -> str: ...


def test_raw_arguments_with_a_schema():
    leaf = RawArguments.described_by({"type": "object", "properties": {"a": {"type": "integer"}}})

    def legacy(arguments: Any, db: Annotated[Db, skip]) -> int:
        return arguments.require("a", int)

    legacy.__annotations__["arguments"] = Annotated[RawArguments, leaf]
    made = tool(legacy)
    assert made.input_schema()["properties"] == {"a": {"type": "integer"}}
    assert made.run({"a": 2}, db=Db()) == "2"


def test_raw_arguments_are_a_copy():
    sent = {"a": [1]}
    raw = RawArguments(sent, "t")
    sent["a"].append(2)
    assert raw.require("a", list[int]) == [1]
    assert list(raw) == ["a"]
    assert "a" in raw
    assert len(raw) == 1


def test_parameters_of_what_has_none():
    @tool
    def raw(arguments: RawArguments) -> None:
        del arguments

    assert parameters_of(raw) == []
    for annotation in (int, dict[str, int], list[int], Left | Right):
        with pytest.raises(SchemaError, match="no list of parameters"):
            parameters_of(annotation)
    assert parameters_of(Left | None) == parameters_of(Left)


@dataclass
class Left:
    kind: Literal["hit"]


@dataclass
class Right:
    kind: Literal["other"]


def test_a_tool_without_a_list_of_parameters_tells_its_schema():
    both = tool_input(name="both", description="Both. More.")(Left | Right)
    schema = {"type": "object", "anyOf": [{"required": ["path"]}, {"required": ["url"]}]}

    @tool
    def described(arguments: Annotated[RawArguments, RawArguments.described_by(schema)]) -> None:
        del arguments

    answers = schema_response([both, described])["tools"]
    assert [answer["input_schema"] for answer in answers] == [both.input_schema(), described.input_schema()]
    assert not any("parameters" in answer for answer in answers)
    assert describe_tools([both]).run({"tools": ["both"]}) == "## both\n\nBoth.\n\nMore."


def test_what_a_schema_by_hand_describes_are_parameters():
    line = {"type": "integer", "description": "Counted from 1. Not from 0.", "default": 1}
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": line},
        "required": ["path"],
    }

    @tool("Read a file. More of it.")
    def described(arguments: Annotated[RawArguments, RawArguments.described_by(schema)]) -> None:
        del arguments

    @tool("Read a file. More of it.")
    def open_(arguments: RawArguments) -> None:
        del arguments

    def read(arguments: dict[str, Any]) -> None:
        del arguments

    checked = document_tool(read, schema, name="described", description="Read a file. More of it.")
    parameters = {
        "path": {"type": "string", "required": True},
        "line": {
            "type": "integer",
            "required": False,
            "summary": "Counted from 1.",
            "description": "Not from 0.",
            "default": 1,
        },
    }
    for own in (described, checked):
        assert dict(parameters_of(own)) == parameters
        [answer] = schema_response([own])["tools"]
        assert answer == {
            "name": "described",
            "summary": "Read a file.",
            "description": "More of it.",
            "parameters": parameters,
        }
        told = describe_tools([own]).run({"tools": ["described"]})
        assert "#### `line`\n\nCounted from 1." in told
    assert schema_response([open_])["tools"][0]["parameters"] == {}


def test_raw_arguments_are_repaired_and_point_at_the_documentation():
    @tool("Read. More of it.", repair=True)
    def raw(arguments: RawArguments) -> str:
        return f"{arguments.require('line', int)}"

    told = raw.with_(described_by="describe_tools")
    assert told.run({"line": "3"}) == "3"
    for arguments in ({}, {"line": []}):
        with pytest.raises(DecodeError) as caught:
            told.run(arguments)
        assert str(caught.value).endswith('call describe_tools with {"tools": ["raw"]}')


def test_parameters_of_every_kind():
    @dataclass
    class Every:
        any: Any
        union: int | list[str]
        nullable: int | None = 3
        pair: tuple[int, str] = (1, "a")
        table: dict[str, Color] | None = None

    found = dict(parameters_of(Every))
    assert found == {
        "any": {"required": True},
        "union": {
            "type": ["integer", "array"],
            "required": True,
            "anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}],
        },
        "nullable": {"type": ["integer", "null"], "required": False, "default": 3},
        "pair": {
            "type": "array",
            "required": False,
            "default": [1, "a"],
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "items": False,
        },
        "table": {
            "type": "object",
            "required": False,
            "additionalProperties": {"type": "string", "enum": ["red"]},
        },
    }


@pytest.mark.parametrize("repair", [False, True])
def test_unknown_arguments_are_named_whatever_form_they_come_in(repair):
    @tool(repair=repair)
    def typed(path: str, line: int) -> None:
        del path, line

    told = set()
    for arguments in ({"path": [], "zzz": 1}, '{"path": [], "zzz": 1}', b'{"path": [], "zzz": 1}'):
        with pytest.raises(DecodeError) as caught:
            typed.decode(arguments)
        told.add(str(caught.value))
    assert len(told) == 1
    assert 'unknown, and ignored: "zzz"' in told.pop()


@pytest.mark.parametrize("calls", [1, 250])
def test_ignored_keys_are_named_at_every_depth_in_both_tiers(calls):
    @tool
    def typed(at: Left, line: int) -> None:
        del at, line

    for _ in range(calls):
        with pytest.raises(DecodeError) as caught:
            typed.decode({"at": {"kind": "hit", "inner": 1}, "line": "x", "zzz": 1})
    assert 'unknown, and ignored: at.inner, "zzz"' in str(caught.value)


def test_nothing_is_ignored_in_text_that_is_no_json():
    @tool
    def typed(path: str) -> None:
        del path

    with pytest.raises(DecodeError) as caught:
        typed.decode("{'path': [], 'zzz': 1}")
    assert "ignored" not in str(caught.value)
    with pytest.raises(DecodeError) as caught:
        tool(name="repaired", repair=True)(typed).decode("{'path': [], 'zzz': 1}")
    assert 'unknown, and ignored: "zzz"' in str(caught.value)


@dataclass(frozen=True)
class Frozen:
    items: list[int]


def test_defaults_that_hold_what_can_change_are_copied():
    @tool
    def grow(
        plain: list[int] = [],  # noqa: B006  # what people write
        pair: tuple[list[int], int] = ([], 1),
        frozen: Frozen = Frozen([]),  # likewise
    ) -> list[int]:
        for items in (plain, pair[0], frozen.items):
            items.append(1)
        return [len(plain), len(pair[0]), len(frozen.items)]

    assert grow() == [1, 1, 1]
    assert grow.run({}) == grow.run({}) == "[1,1,1]"


def test_a_key_that_repair_renamed_is_not_called_unknown():
    @tool(repair=True)
    def typed(max_results: int, path: str = "") -> None:
        del max_results, path

    with pytest.raises(DecodeError) as caught:
        typed.decode({"maxResults": 3, "path": [], "zzz": 1})
    assert "1 problem with" in str(caught.value)
    assert 'unknown, and ignored: "zzz"' in str(caught.value)


def test_unknown_arguments_are_named_whether_the_decoder_is_compiled_or_not():
    @dataclass
    class Checked:
        size: int
        tags: list[int]

        def __post_init__(self):
            if self.size < 0:
                message = "size is negative"
                raise ValueError(message)

    take = tool_input(Checked)
    for arguments in ({"size": -1, "tags": [], "zzz": 1}, {"size": 1, "tags": [1, "x"], "zzz": 1}):
        reports = set[str]()
        for _ in range(300):
            with pytest.raises(DecodeError) as caught:
                take.decode(arguments)
            reports.add(str(caught.value))
        assert len(reports) == 1
        assert 'unknown, and ignored: "zzz"' in reports.pop()
        for _ in range(100):
            take.decode({"size": 1, "tags": []})
    assert take.codec.compiled == {"decode"}


@pytest.mark.parametrize("caller", ["program", {"type": {1}}, {"type": float("nan")}])
def test_a_caller_that_could_not_be_saved_is_refused(caller):
    with pytest.raises(TypeError, match="caller must be a dict of JSON values or None"):
        RawCall("1", "pay", {}, caller=caller)
