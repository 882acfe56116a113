"""Defects that were measured in other libraries, row by row: none of them is here.

Each test is one row, or a part of one; a number after a project's name is that of its public issue.
What belongs to tools and to providers is left out here: parameters of functions (their names, their
defaults, their dataclasses), the strict modes of providers, the errors that a tool sends back to the
model and the repair of its arguments. The type that would explode when it is inlined has its test
with the walk.
"""

from __future__ import annotations

import collections
import copy
import enum
import itertools
import json
import pickle
import sys
import types
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field, fields, make_dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, List, Literal, NamedTuple, NotRequired, Self, TypedDict, Union  # noqa: UP035
from uuid import UUID

import pytest
from judge import validator
from typing_extensions import TypeAliasType

from operator_schema import (
    Codec,
    DecodeError,
    EncodeError,
    SchemaError,
    SchemaLeaf,
    decode,
    decode_json,
    encode,
    json_schema,
)


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


@dataclass(frozen=True)
class Ge:
    ge: float


WARM = 200
"""Calls after which a codec may do the same in another way."""


def codes(annotation, value):
    return [problem.code for problem in Codec(annotation).problems(value)]


def schema_of(annotation, **options):
    schema = Codec(annotation, **options).json_schema()
    validator(schema)
    return schema


def objects_in(schema):
    """Every dict in a JSON document."""
    if isinstance(schema, dict):
        yield schema
        for inner in schema.values():
            yield from objects_in(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects_in(inner)


def same(value, expected):
    return type(value) is type(expected) and value == expected


@pytest.fixture
def define(monkeypatch):
    """Run source text as a module of its own."""

    def run(source, name="defined_by_a_test"):
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(dedent(source), name, "exec", dont_inherit=True), vars(module))  # noqa: S102  # the test's own source
        return module

    return run


# --- values taken for what they are not ----------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "code"),
    [
        (int, "wrong_type"),
        (float, "wrong_type"),
        (Literal[1], "not_one_of"),
        (Level, "not_one_of"),
        (Size, "not_one_of"),
        (int | str, "wrong_type"),
        (Decimal, "wrong_type"),
    ],
)
def test_true_is_no_number(annotation, code):
    assert codes(annotation, True) == [code]
    assert codes(list[annotation], [True]) == [code]
    assert codes(dict[str, annotation], {"a": True}) == [code]
    assert not validator(json_schema(annotation)).is_valid(True)


@pytest.mark.parametrize("value", [1, 0, 1.0, "no", "yes", "true", "on", ""])
def test_only_booleans_are_booleans(value):
    assert codes(bool, value) == ["wrong_type"]


@pytest.mark.parametrize("value", [1, 1.0])
def test_one_is_not_literal_true(value):
    assert codes(Literal[True], value) == ["not_one_of"]


@pytest.mark.parametrize("value", [1.5, -0.5, 1e-9, 0.1 + 0.2])
def test_a_fraction_is_not_cut_to_an_integer(value):
    assert codes(int, value) == ["wrong_type"]
    with pytest.raises(DecodeError):
        decode_json(int, json.dumps(value))


SIX = (True, False, 0, 1, "y", "n")


def test_a_literal_of_six_values_keeps_all_six_in_order():
    annotation = Literal[True, False, 0, 1, "y", "n"]
    listed = json_schema(annotation)["enum"]
    assert all(map(same, listed, SIX))
    assert len(listed) == len(SIX)


@pytest.mark.parametrize("value", SIX, ids=repr)
def test_each_of_six_literal_values_decodes_to_itself(value):
    annotation = Literal[True, False, 0, 1, "y", "n"]
    assert same(decode(annotation, value), value)
    assert same(Codec(annotation).encode(value), value)


@pytest.mark.parametrize("values", [(1, True), (True, 1), (0, False), (False, 0)])
def test_codecs_are_not_cached_by_equality_of_literals(values):
    """The second question must not get the answer of the first."""
    for value in values:
        other = int(value) if isinstance(value, bool) else bool(value)
        assert same(decode(Literal[value], value), value)
        assert same(decode(list[Literal[value]], [value])[0], value)
        assert same(decode(List[Literal[value]], [value])[0], value)  # noqa: UP006  # it has a cache of its own
        assert same(json_schema(Literal[value])["enum"][0], value)
        assert codes(Literal[value], other) == ["not_one_of"]


def test_codecs_are_not_cached_by_equality_of_constraints():
    """`Annotated[int, Ge(1)]` and `Annotated[int, Ge(1.0)]` may be one object: they mean the same."""
    for annotation in (Annotated[int, Ge(1)], Annotated[int, Ge(1.0)]):
        assert json.dumps(json_schema(annotation)) == '{"type": "integer", "minimum": 1}'
        assert same(decode(annotation, 1), 1)
    assert json_schema(Annotated[int, Ge(2)])["minimum"] == 2


@pytest.mark.parametrize(
    "annotation",
    [List[Union[int, float]], List[Union[float, int]], list[int | float], list[float | int]],  # noqa: UP006  # these are cached by equality
)
def test_nothing_depends_on_the_order_of_a_union(annotation):
    decoded = decode(annotation, [1, 1.0, 2.5])
    assert list(map(type, decoded)) == [int, float, float]
    assert {member["type"] for member in json_schema(annotation)["items"]["anyOf"]} == {"integer", "number"}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400, -(10**400)], ids=str)
def test_numbers_that_are_not_finite_are_no_floats(value):
    assert codes(float, value) == ["out_of_range"]
    assert codes(float | None, value) == ["out_of_range"]
    with pytest.raises(EncodeError):
        Codec(float).encode(value)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" + "0" * 400])
def test_json_text_of_numbers_that_are_not_finite(text):
    for annotation in (float, Any):
        if annotation is Any and text.isdigit():
            continue
        with pytest.raises(DecodeError) as caught:
            decode_json(list[annotation], f"[{text}]")
        assert caught.value.problems[0].code in {"invalid_json", "out_of_range"}


@pytest.mark.parametrize("value", ["NaN", "sNaN", "-NaN123", "Infinity", "-inf", float("nan"), float("inf")])
def test_decimals_are_finite(value):
    assert codes(Decimal, value)


@pytest.mark.parametrize(
    "annotation",
    [
        list[int],
        list[str],
        set[str],
        frozenset[str],
        tuple[str, ...],
        tuple[str, str],
        Sequence[str],
        Iterable[str],
        collections.deque[str],
    ],
)
def test_a_string_is_no_array_of_characters(annotation):
    assert codes(annotation, "12") == ["wrong_type"]
    with pytest.raises(EncodeError):
        Codec(annotation).encode("12")


@pytest.mark.parametrize(
    "text", ["aGVsbG8", "aGVs bG8=", "aGVsbG8=\n", "aGVsbG8_", "aGVsbG8=x", "a", "====", "é"]
)
def test_base64_is_strict(text):
    assert codes(bytes, text) == ["bad_format"]


@pytest.mark.parametrize("value", [0, 1_700_000_000, 1.5, "1700000000", "now", "2026-01-31"])
def test_no_timestamp_for_a_datetime(value):
    assert codes(datetime, value)


@pytest.mark.parametrize("seconds", [-1.5, -0.5, -86_401.25, -0.000001, 1.5, 0])
def test_negative_durations_come_back_as_they_were(seconds):
    """adaptix #453."""
    duration = timedelta(seconds=seconds)
    assert decode(timedelta, encode(duration)) == duration


def test_minus_one_and_a_half_seconds_is_read_as_written():
    assert decode(timedelta, "-PT1.5S") == timedelta(seconds=-1.5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1], [((), "bad_length")]),
        ([1, "y", "z"], [((), "bad_length")]),
        ([], [((), "bad_length")]),
        (["x", "y"], [((0,), "wrong_type")]),
        (["x", 5], [((0,), "wrong_type"), ((1,), "wrong_type")]),
    ],
)
def test_fixed_tuples_have_their_length_and_their_types(value, expected):
    found = Codec(tuple[int, str]).problems(value)
    assert [(problem.path, problem.code) for problem in found] == expected


class Loose(TypedDict):
    name: str
    note: NotRequired[str]
    count: NotRequired[int | None]


def test_an_absent_key_of_a_typed_dict_stays_absent():
    assert decode(Loose, {"name": "a"}) == {"name": "a"}
    assert decode(Loose, {"name": "a", "count": None}) == {"name": "a", "count": None}
    assert Codec(Loose).encode({"name": "a"}) == {"name": "a"}


@dataclass
class Counted:
    name: str
    length: int = field(init=False, default=-1)

    def __post_init__(self):
        self.length = len(self.name)


def test_a_field_without_init_cannot_be_supplied():
    assert decode(Counted, {"name": "abc", "length": 99}).length == 3
    [problem] = Codec(Counted, unknown_fields="reject").problems({"name": "abc", "length": 99})
    assert (problem.path, problem.code) == (("length",), "unknown")
    assert list(json_schema(Counted)["properties"]) == ["name"]


def test_post_init_runs():
    assert decode(Counted, {"name": "abc"}).length == 3
    assert decode(list[Counted], [{"name": "ab"}])[0].length == 2


# --- unions --------------------------------------------------------------------------------------


@dataclass
class U1:
    name: str
    a: int = 0


@dataclass
class U2:
    name: str
    b: int = 0


@pytest.mark.parametrize("annotation", [U1 | U2, U2 | U1])
def test_the_member_of_a_union_that_knows_the_keys_is_taken(annotation):
    assert decode(annotation, {"name": "x", "b": 7}) == U2("x", 7)
    assert decode(annotation, {"name": "x", "a": 7}) == U1("x", 7)
    for value in (U1("x", 0), U2("x", 0)):
        codec = Codec(annotation)
        assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize(
    ("members", "value"),
    [
        ((int, str), "1"),
        ((int, str), 1),
        ((float, str), "1.5"),
        ((float, str), 1.5),
        ((bool, int), 1),
        ((bool, int), True),
        ((bool, str), "true"),
        ((list[str], str), "ab"),
        ((str, None), ""),
        ((dict[str, int], list[str]), []),
        ((int, float), 2.0),
        ((int, float), 2),
    ],
)
def test_values_are_not_cast_to_the_first_member_of_a_union(members, value):
    """mashumaro #190."""
    for order in itertools.permutations(members):
        assert same(decode(Union[order], value), value)  # made at run time


@pytest.mark.parametrize("value", [{}, {"c": 1}, {"name": 5, "a": 1}, "x", [{"name": "x"}], None])
def test_what_fits_no_member_of_a_union_is_no_dict(value):
    """dataclasses-json #488, #522."""
    with pytest.raises(DecodeError):
        decode(U1 | U2, value)
    with pytest.raises(DecodeError):
        decode(dict[str, U1 | U2], {"k": value})


def test_unions_are_any_of():
    @dataclass
    class Holder:
        one: U1 | U2
        many: list[int | str]
        maybe: dict[str, int | None]
        more: tuple[U1 | None, int | str]

    found = {key for part in objects_in(schema_of(Holder, namespace=globals())) for key in part}
    assert "anyOf" in found
    assert not found & {"oneOf", "allOf"}


# --- what the schema says and the decoder does ---------------------------------------------------


class Coordinates(NamedTuple):
    x: int
    y: int


@dataclass
class Everywhere:
    nested: U1
    items: list[U1]
    table: dict[str, U1]
    pair: tuple[U1, Coordinates]
    either: U1 | Loose
    maybe: U1 | None = None
    typed: Loose | None = None


FULL: dict[str, Any] = {
    "nested": {"name": "n"},
    "items": [{"name": "i"}],
    "table": {"k": {"name": "t"}},
    "pair": [{"name": "p"}, {"x": 1, "y": 2}],
    "either": {"name": "e", "a": 1},
    "maybe": {"name": "m"},
    "typed": {"name": "d"},
}
OBJECTS: list[tuple[str | int, ...]] = [
    (),
    ("nested",),
    ("items", 0),
    ("table", "k"),
    ("pair", 0),
    ("pair", 1),
    ("either",),
    ("maybe",),
    ("typed",),
]


@pytest.mark.parametrize("path", OBJECTS, ids=str)
def test_what_the_schema_closes_the_decoder_refuses_at_every_depth(path):
    value = copy.deepcopy(FULL)
    part: Any = value
    for step in path:
        part = part[step]
    part["surplus"] = 1
    strict, open_ = Codec(Everywhere, unknown_fields="reject"), Codec(Everywhere)
    assert [(p.path, p.code) for p in strict.problems(value)] == [((*path, "surplus"), "unknown")]
    assert not validator(strict.json_schema()).is_valid(value)
    assert open_.problems(value) == ()
    assert validator(open_.json_schema()).is_valid(value)


def test_every_object_of_a_closed_schema_is_closed():
    schema = schema_of(Everywhere, unknown_fields="reject")
    declared = [part for part in objects_in(schema) if "properties" in part and part.get("type") == "object"]
    assert len(declared) >= len(OBJECTS)
    assert all(part["additionalProperties"] is False for part in declared)
    assert Codec(Everywhere, unknown_fields="reject").problems(FULL) == ()
    assert not any(part.get("additionalProperties") is False for part in objects_in(schema_of(Everywhere)))


def recursive_class(module, other):
    return f"""
    from __future__ import annotations
    from dataclasses import dataclass
    @dataclass
    class Node:
        {other}: int
        children: list[Node]
    Node.__module__ = {module!r}
    """


def test_two_classes_of_one_name_keep_their_definitions(define):
    first = define(recursive_class("first", "a"), "first").Node
    second = define(recursive_class("second", "b"), "second").Node
    Both = make_dataclass("Both", [("one", first), ("two", second)])  # noqa: N806  # a class
    schema = schema_of(Both)
    assert len(schema["$defs"]) == 2
    assert decode(Both, {"one": {"a": 1, "children": []}, "two": {"b": 1, "children": []}})
    assert codes(Both, {"one": {"b": 1, "children": []}, "two": {"b": 1, "children": []}}) == ["missing"]


def test_two_classes_of_one_name_are_built_each_by_its_own(define):
    source = "from dataclasses import dataclass\n@dataclass\nclass User:\n    {}: int\n"
    first, second = (define(source.format(name), name).User for name in ("a", "b"))
    Both = make_dataclass("Both", [("one", first), ("two", list[second])])  # noqa: N806  # a class
    assert decode(Both, {"one": {"a": 1}, "two": [{"b": 2}]}) == Both(first(1), [second(2)])
    properties = schema_of(Both)["properties"]
    assert list(properties["one"]["properties"]) == ["a"]
    assert list(properties["two"]["items"]["properties"]) == ["b"]


def test_names_of_definitions_do_not_depend_on_the_order(define):
    classes = {name: define(recursive_class(name, name), name).Node for name in ("first", "second", "third")}
    found = []
    for order in itertools.permutations(classes):
        made = make_dataclass("All", [(name, classes[name]) for name in order])
        found.append(schema_of(made)["$defs"])
    assert all(definitions == found[0] for definitions in found)


@dataclass
class Linked:
    title: str = "#/$defs/Linked"
    default: str = "#/$defs/Node"
    next: Linked | None = None


def test_a_default_that_looks_like_a_reference_is_left_alone():
    schema = schema_of(Linked)
    assert schema["properties"]["title"]["default"] == "#/$defs/Linked"
    assert schema["properties"]["default"] == {"type": "string", "default": "#/$defs/Node"}
    assert schema["properties"]["next"] == {"$ref": "#/$defs/Linked"}


WORDS = [
    "title",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "default",
    "description",
    "anyOf",
    "examples",
]


@pytest.mark.parametrize("word", WORDS)
def test_a_field_that_is_called_like_a_word_of_json_schema_stays(word):
    """fastmcp #3576, llm #1679."""
    Inner = make_dataclass("Inner", [(word, str)])  # noqa: N806  # a class
    Outer = make_dataclass("Outer", [(word, Inner), ("more", list[Inner])])  # noqa: N806  # likewise
    value = {word: {word: "x"}, "more": [{word: "y"}]}
    assert schema_of(Outer)["properties"][word]["properties"] == {word: {"type": "string"}}
    assert schema_of(Outer)["required"] == [word, "more"]
    codec = Codec(Outer)
    assert codec.decode(value) == Outer(Inner("x"), [Inner("y")])
    assert codec.encode(codec.decode(value)) == value


@pytest.mark.parametrize("annotation", [Everywhere, Level, Loose, Coordinates, dict[str, U1 | U2]])
def test_no_titles_are_made_up(annotation):
    """fastmcp #412."""
    assert not any("title" in part for part in objects_in(schema_of(annotation)))


@dataclass
class Described:
    """What is described, and how.

    Args:
        plain: From the docstring,
            over two lines.
        nullable: Behind a null.
    Keyword Args:
        extra: From the second section.
    """

    plain: str
    nullable: int | None
    annotated: Annotated[str, "Plain text in Annotated"]
    either: Annotated[int | None, "Null means all"] = 5
    extra: str = ""


@dataclass
class Unset:
    """Right below, without a blank line.
    Args:
        a: The first.
        b: The second
            has two lines.
    """

    a: int
    b: int


@dataclass
class Nesting:
    inner: Described
    many: list[Unset]
    either: Described | Unset | None = None


def descriptions(schema):
    return {key: part.get("description") for key, part in schema["properties"].items()}


DESCRIBED = {
    "plain": "From the docstring, over two lines.",
    "nullable": "Behind a null.",
    "annotated": "Plain text in Annotated",
    "either": "Null means all",
    "extra": "From the second section.",
}


def test_descriptions_of_keyword_args_are_kept():
    """openai-agents #4985."""
    assert descriptions(schema_of(Described))["extra"] == DESCRIBED["extra"]


def test_descriptions_of_nested_fields_are_kept():
    """langchain #32249, #31808."""
    properties = schema_of(Nesting)["properties"]
    assert descriptions(properties["inner"]) == DESCRIBED
    assert descriptions(properties["many"]["items"]) == {"a": "The first.", "b": "The second has two lines."}
    assert descriptions(properties["either"]["anyOf"][0]) == DESCRIBED


def test_args_without_a_blank_line_before_them_are_read():
    """openai-agents #3832."""
    assert descriptions(schema_of(Unset)) == {"a": "The first.", "b": "The second has two lines."}


def test_descriptions_of_several_lines_are_not_cut():
    """llama_index #22687."""
    assert descriptions(schema_of(Described))["plain"] == DESCRIBED["plain"]


def test_descriptions_of_nullable_fields_stand_beside_any_of():
    """msgspec #846."""
    either = schema_of(Described)["properties"]["either"]
    assert either["description"] == "Null means all"
    assert "anyOf" in either
    assert not any("description" in member for member in either["anyOf"])


def test_plain_text_in_annotated_describes_a_field_of_a_dataclass():
    assert schema_of(Described)["properties"]["annotated"] == {
        "type": "string",
        "description": "Plain text in Annotated",
    }


def test_typed_dicts_of_the_standard_library_are_taken():
    assert schema_of(Loose) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "note": {"type": "string"},
            "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["name"],
    }


def test_nested_dataclasses_arrive_as_instances():
    value = decode(Everywhere, FULL)
    assert isinstance(value.nested, U1)
    assert isinstance(value.items[0], U1)
    assert isinstance(value.table["k"], U1)
    assert isinstance(value.pair[0], U1)
    assert isinstance(value.pair[1], Coordinates)
    assert isinstance(value.maybe, U1)
    assert schema_of(Everywhere)["properties"]["nested"]["type"] == "object"


def test_fields_with_a_default_are_not_required():
    @dataclass
    class Defaults:
        a: int
        b: int = 1
        c: list[int] = field(default_factory=list)
        d: int | None = None

    assert schema_of(Defaults)["required"] == ["a"]
    assert decode(Defaults, {"a": 1}) == Defaults(1)


Json = TypeAliasType("Json", Union[bool, int, float, str, "list[Json]", "dict[str, Json]", None])


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)
    by_name: dict[str, Tree] = field(default_factory=dict)
    parent: Tree | None = None


@pytest.mark.parametrize("annotation", [Tree, Json, list[Tree], dict[str, Json]])
def test_recursive_types_have_a_definition_and_an_end(annotation):
    """langchain #32511."""
    schema = schema_of(annotation)
    assert len(schema["$defs"]) == 1
    assert {} not in list(objects_in(schema))
    assert len(json.dumps(schema)) < 2000


def test_recursive_values_decode():
    value = {"value": 1, "children": [{"value": 2, "by_name": {"k": {"value": 3}}}]}
    assert decode(Tree, value) == Tree(1, [Tree(2, [], {"k": Tree(3)})])
    assert codes(Tree, {"value": 1, "children": [{"value": "x"}]}) == ["wrong_type"]
    assert decode(Json, [1, {"a": [None, True]}]) == [1, {"a": [None, True]}]


# --- hostile input -------------------------------------------------------------------------------

EXECUTED: list[str] = []
CODE = """x'] if __import__('test_pitfalls').EXECUTED.append('run') else d['x"""
HOSTILE = [CODE, "it's", '"', "\\", "'''", '"""', "\n", "{0}", "%s", "a\x00b", "\u2028", "}", "#", ""]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_the_text_of_an_alias_is_never_code(text):
    cls = make_dataclass("Aliased", [("x", int, field(metadata={"alias": text}))])
    codec = Codec(cls)
    assert list(schema_of(cls)["properties"]) == [text]
    for _ in range(WARM):
        assert codec.encode(codec.decode({text: 1})) == {text: 1}
    assert codec.problems({text: "x"})[0].path == (text,)
    assert EXECUTED == []


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_key_of_a_typed_dict_is_never_code(text):
    cls = TypedDict("cls", {text: int})  # type: ignore[operator,misc]  # made at run time
    codec = Codec(cls)
    for _ in range(WARM):
        assert codec.encode(codec.decode({text: 1})) == {text: 1}
    assert codec.problems({})[0].path == (text,)
    assert EXECUTED == []


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_literals_defaults_and_descriptions_are_never_code(text):
    cls = make_dataclass(
        "Texts",
        [
            ("a", Literal[text]),  # type: ignore[valid-type]  # made at run time
            ("b", str, field(default=text, metadata={"description": text, "examples": [text]})),
        ],
    )
    codec = Codec(cls, name=text or "x")
    for _ in range(WARM):
        assert codec.decode({"a": text}) == cls(text, text)
    str(codec.problems({"a": text + "!"})[0])
    assert EXECUTED == []


Rec = TypeAliasType("Rec", Union[int, "list[Rec]"])


@pytest.mark.parametrize("value", ["x", "", ["x"], [["xy"]], {"x": 1}])
def test_a_string_does_not_iterate_to_itself_without_end(value):
    assert codes(Rec, value) == ["wrong_type"]
    assert decode(Rec, [1, [2, []]]) == [1, [2, []]]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, GeneratorExit])
def test_what_stops_a_program_is_no_problem_of_a_field(error):
    def stop(*_):
        raise error

    class Stopping:
        armed = False

        def __init__(self, value):
            if Stopping.armed:
                stop(value)

    leaf = SchemaLeaf(Stopping, {"type": "string"}, Stopping, lambda _: "x", Stopping("x"))
    codec = Codec(list[Stopping | int], leaves=[leaf])
    Stopping.armed = True
    with pytest.raises(error):
        codec.decode(["x"])
    made = make_dataclass("Made", [("a", int)], namespace={"__post_init__": stop})
    with pytest.raises(error):
        decode(made, {"a": 1})
    made = make_dataclass("Made", [("a", list[int], field(default_factory=stop))])
    with pytest.raises(error):
        decode(made, {})


LONG = "x" * 100_000


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, LONG),
        (Literal["a"], LONG),
        (datetime, LONG),
        (UUID, LONG),
        (list[int], [LONG] * 100),
        (dict[str, int], {LONG: "x"}),
        (dict[int, int], {LONG: 1}),
        (U1, {LONG: 1}),
        (int | bool, LONG),
        (Level, LONG),
        (tuple[int, int], [LONG, LONG]),
    ],
    ids=str,
)
def test_a_long_value_gives_a_short_message(annotation, value):
    with pytest.raises(DecodeError) as caught:
        decode(annotation, value)
    assert len(str(caught.value)) <= 2000
    assert all(len(problem.message) <= 500 for problem in caught.value.problems)
    assert all(len(problem.received or "") <= 200 for problem in caught.value.problems)


def test_a_long_unknown_key_gives_a_short_message():
    with pytest.raises(DecodeError) as caught:
        Codec(U1, unknown_fields="reject").decode({"name": "a", LONG: 1})
    assert len(str(caught.value)) <= 2000


@pytest.mark.parametrize("depth", [101, 1_000, 100_000])
def test_deep_nesting_is_a_problem_and_no_crash(depth):
    """serpyco-rs #249."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    assert codes(Json, value) == ["too_deep"]
    with pytest.raises(DecodeError) as caught:
        decode_json(Json, "[" * depth + "]" * depth)
    assert caught.value.problems[0].code == "too_deep"
    while value:  # freed level by level
        value = value.pop()


@pytest.mark.parametrize("annotation", [int, float, Any, Decimal, int | str, Level, Json], ids=str)
def test_integers_of_many_digits(annotation):
    """CVE-2020-10735."""
    text = "9" * 1_000_000
    with pytest.raises(DecodeError) as caught:
        decode_json(annotation, text)
    assert caught.value.problems[0].code == "too_large"
    assert len(str(caught.value)) <= 2000


def test_integers_of_many_digits_that_are_parsed_already():
    for annotation in (int, int | str, Decimal, Level):
        [problem] = Codec(annotation).problems(10**100_000)
        assert len(str(problem)) <= 500


def raised_by(function, *arguments):
    with pytest.raises((DecodeError, EncodeError, SchemaError)) as caught:
        function(*arguments)
    return caught.value


@pytest.mark.parametrize("way", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_every_exception_can_be_pickled(way):
    errors = [
        raised_by(decode, Everywhere, {"nested": 5}),
        raised_by(decode_json, int, "{"),
        raised_by(encode, U1(5)),  # type: ignore[arg-type]  # on purpose
        raised_by(Codec, complex),
    ]
    for error in errors:
        again = way(error)
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (UUID, "x"),
        (UUID, "{12345678-1234-5678-1234-567812345678}"),
        (IPv4Address, "1.2.3"),
        (IPv6Address, "::g"),
        (Path, "a\x00b"),
        (Decimal, "1,5"),
        (datetime, "2026-02-30T00:00:00Z"),
    ],
)
def test_what_a_type_of_the_standard_library_raises_is_a_problem(annotation, text):
    assert codes(annotation, text) == ["bad_format"]
    assert codes(list[annotation | None], [None, text]) == ["bad_format"]


@dataclass
class Range:
    low: int
    high: int

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("low is above high")


def test_what_post_init_raises_is_a_problem_at_its_path():
    [problem] = Codec(dict[str, list[Range]]).problems({"k": [{"low": 1, "high": 2}, {"low": 2, "high": 1}]})
    assert (problem.path, problem.code) == (("k", 1), "rejected")
    assert "low is above high" in problem.message


# --- annotations ---------------------------------------------------------------------------------


def test_a_class_defined_in_a_function_under_future_annotations():
    @dataclass
    class Inner:
        x: int

    @dataclass
    class Outer:
        inner: Inner
        more: list[Inner | None]

    with pytest.raises(SchemaError) as caught:
        Codec(Outer)
    assert [complaint.code for complaint in caught.value.complaints] == ["unresolved"] * 2
    assert "inside a function" in str(caught.value)
    assert "namespace=" in str(caught.value)
    codec = Codec(Outer, namespace=locals())
    assert codec.decode({"inner": {"x": 1}, "more": [None]}) == Outer(Inner(1), [None])


TYPED = """
{future}
from typing import TypedDict, NotRequired, Required

class Default(TypedDict):
    a: int
    b: NotRequired[int]

class Partial(TypedDict, total=False):
    a: Required[int]
    b: int
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
@pytest.mark.parametrize("name", ["Default", "Partial"])
def test_not_required_under_future_annotations(define, future, name):
    """cpython #97727."""
    cls = getattr(define(TYPED.format(future=future)), name)
    assert schema_of(cls)["required"] == ["a"]
    assert decode(cls, {"a": 1}) == {"a": 1}
    assert codes(cls, {"b": 1}) == ["missing"]


@dataclass
class Chain:
    value: int
    next: Self | None = None


@dataclass
class NamedChain(Chain):
    name: str = ""


def test_self_is_the_class_that_is_registered():
    assert decode(Chain, {"value": 1, "next": {"value": 2}}) == Chain(1, Chain(2))
    value = decode(NamedChain, {"value": 1, "next": {"value": 2, "name": "x"}})
    assert value == NamedChain(1, NamedChain(2, None, "x"))


@dataclass
class Built:
    width: int
    scale: InitVar[int] = 2
    area: int = field(init=False, default=0)

    def __post_init__(self, scale):
        self.area = self.width * scale


def test_init_vars_are_taken_and_not_kept():
    assert decode(Built, {"width": 3, "scale": 5}).area == 15
    assert list(schema_of(Built)["properties"]) == ["width", "scale"]
    assert Codec(Built).encode(Built(3, 5)) == {"width": 3}


PEP_695 = """
{future}
from dataclasses import dataclass

type Numbers[T] = list[T] | T
type Nested = int | list[Nested]

@dataclass
class Box[T]:
    value: T
    numbers: Numbers[T]
    nested: Nested

@dataclass
class IntBox(Box[int]):
    pass
"""

if sys.version_info >= (3, 12):

    @pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
    def test_pep_695_aliases_and_generic_classes(define, future):
        module = define(PEP_695.format(future=future))
        for annotation in (module.Box[int], module.IntBox):
            codec = Codec(annotation)
            decoded = codec.decode({"value": 1, "numbers": [2], "nested": [1, [2]]})
            assert (decoded.value, decoded.numbers, decoded.nested) == (1, [2], [1, [2]])
            found = codec.problems({"value": "x", "numbers": "x", "nested": "x"})
            assert [problem.path for problem in found] == [("value",), ("numbers",), ("nested",)]


@dataclass
class First:
    a: int = 1
    b: str = field(kw_only=True)


@dataclass
class Second(First):
    c: float = 0.5
    d: bool = field(default=True, kw_only=True)


def test_keyword_only_fields_reorder_nothing():
    value = {"a": 5, "b": "x", "c": 2.5, "d": False}
    assert list(schema_of(Second)["properties"]) == ["a", "b", "c", "d"]
    assert decode(Second, value) == Second(5, 2.5, b="x", d=False)
    assert Codec(Second).encode(decode(Second, value)) == value
    assert codes(Second, {}) == ["missing"]


NAMES = [
    "self",
    "cls",
    "json",
    "copy",
    "model_dump",
    "fields",
    "dict",
    "schema",
    "items",
    "keys",
    "args",
    "kwargs",
]


@pytest.mark.parametrize("frozen", [False, True])
def test_fields_that_are_called_like_what_others_reserve(frozen):
    cls = make_dataclass("Reserved", [(name, int) for name in NAMES], frozen=frozen)
    value = {name: index for index, name in enumerate(NAMES)}
    codec = Codec(cls)
    assert list(codec.json_schema()["properties"]) == NAMES
    for _ in range(WARM):
        instance = codec.decode(value)
    assert {f.name: getattr(instance, f.name) for f in fields(cls)} == value
    assert codec.encode(instance) == value
    typed = TypedDict("typed", dict.fromkeys(NAMES, int))  # type: ignore[operator,misc]  # made at run time
    assert decode(typed, value) == value


@dataclass(frozen=True, slots=True)
class Settings:
    name: str = "x"
    numbers: tuple[int, ...] = (1, 2)
    level: Level = Level.HIGH
    inner: Coordinates = Coordinates(1, 2)  # noqa: RUF009  # it is immutable
    tags: list[str] = field(default_factory=lambda: ["a"])
    none: int | None = None


def test_defaults_of_frozen_slotted_dataclasses():
    """msgspec #567."""
    assert decode(Settings, {}) == Settings()
    assert decode(Settings, {"name": "y"}) == Settings("y")
    first, second = decode(Settings, {}), decode(Settings, {})
    assert first.tags is not second.tags
    properties = schema_of(Settings)["properties"]
    assert {key: part["default"] for key, part in properties.items() if "default" in part} == {
        "name": "x",
        "numbers": [1, 2],
        "level": 1,
        "inner": {"x": 1, "y": 2},
    }


# --- Errors that a model cannot use --------------------------------------------------------------


@dataclass
class Edit:
    path: str
    start_line: int
    mode: Literal["replace", "append"] = "replace"


def test_an_error_says_what_is_wrong_where_and_what_is_expected():
    with pytest.raises(DecodeError) as caught:
        decode(Edit, {"path": 5, "mode": "apend"})
    text = str(caught.value)
    for said in (
        "path: expected string, got integer 5",
        "start_line: missing (integer, required)",
        'did you mean "append"?',
        "Edit expects: path (string, required), start_line (integer, required)",
    ):
        assert said in text
    assert "http" not in text


def test_an_argument_that_is_ignored_is_told():
    report = Codec(Edit).decode_report({"path": "a", "start_line": 1, "startLine": 5})
    assert [(key.path, key.suggestion) for key in report.ignored] == [(("startLine",), "start_line")]


# --- Repairs that help, and those that harm ------------------------------------------------------


@dataclass
class Replacement:
    count: int


@dataclass
class Modify:
    path: str
    start_line: int = 1
    enabled: bool = False
    string_or_integer: str | int = 0
    patterns: list[Replacement] = field(default_factory=list)


def test_what_arrives_as_json_strings_is_read_at_any_depth():
    sent = {
        "path": "README.md",
        "start_line": "1",
        "enabled": "true",
        "string_or_integer": "3",
        "patterns": '[{"count":"2"}]',
    }
    assert decode(Modify, sent, repair=True) == Modify("README.md", 1, True, "3", [Replacement(2)])


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "5", "true", "null", ""])
def test_a_string_that_is_valid_is_never_touched(text):
    for annotation in (str, str | None, str | int, list[str]):
        value = [text] if annotation == list[str] else text
        report = Codec(annotation, repair=True).decode_report(value)
        assert (report.instance, report.repairs) == (value, ())


@pytest.mark.parametrize("sent", [None, "null", ""])
def test_null_for_a_field_with_another_default_is_the_default(sent):
    assert decode(Modify, {"path": "a", "start_line": sent}, repair=True).start_line == 1


def test_a_choice_is_found_where_exactly_one_fits():
    class Level(enum.Enum):
        LOW = "low"
        HIGH = "h"

    assert decode(Level, "High", repair=True) is Level.HIGH
    assert decode(Level, " LOW ", repair=True) is Level.LOW
    with pytest.raises(DecodeError):
        decode(Literal["a", "A"], " a", repair=True)
