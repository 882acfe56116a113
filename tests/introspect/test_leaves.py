"""Leaves: every way to supply one's own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NewType, Protocol, TypeVar
from uuid import UUID

import pytest

import operator_schema
import operator_schema.introspect.leaves as leaves_module
from operator_schema import Codec, EncodeError, SchemaError, SchemaLeaf, decode, encode, json_schema
from operator_schema.types import register_leaf


class Celsius:
    def __init__(self, degrees):
        if degrees < -273.15:
            raise ValueError("below absolute zero")
        self.degrees = degrees

    def __eq__(self, other):
        return type(other) is type(self) and other.degrees == self.degrees

    def __hash__(self):
        return hash(self.degrees)


def leaf(cls=Celsius, description="degrees Celsius", made_by=SchemaLeaf):
    schema = {"type": "number", "description": description}
    return made_by(cls, schema, cls, lambda value: value.degrees, cls(20.0))


@pytest.fixture
def _registry(monkeypatch):
    generation = leaves_module.leaf_generation()
    with monkeypatch.context() as patch:
        patch.setattr(leaves_module, "_registered", {})
        yield
    leaves_module._generation += generation + 1  # what was cached meanwhile is not found again


@dataclass
class Weather:
    high: Celsius
    low: Celsius | None


def test_leaves_of_one_codec():
    codec = Codec(Weather, leaves=[leaf()])
    assert codec.json_schema()["properties"]["high"] == {"type": "number", "description": "degrees Celsius"}
    assert codec.decode({"high": 30}) == Weather(Celsius(30), None)
    assert codec.encode(Weather(Celsius(30), Celsius(1.5))) == {"high": 30, "low": 1.5}
    assert codec.report({"high": -300})[0].code == "bad_format"
    assert "below absolute zero" in codec.report({"high": -300})[0].message
    assert codec.report({"high": "30"})[0].code == "wrong_type"
    with pytest.raises(SchemaError):
        Codec(Weather)


def test_leaf_inside_annotated():
    @dataclass
    class Room:
        warm: Annotated[Celsius, leaf(), "how warm"]
        cold: Annotated[Celsius | None, leaf()] = None
        text: Annotated[str, SchemaLeaf(str, {"type": "string"}, str.strip, str, "x")] = ""

    codec = Codec(Room, namespace=globals())
    assert codec.json_schema()["properties"]["warm"]["description"] == "how warm"
    assert codec.decode({"warm": 1, "text": " a "}) == Room(Celsius(1), None, "a")


def test_a_classs_own_leaf():
    class Kelvin(Celsius):
        @classmethod
        def __schema_leaf__(cls):
            return leaf(cls, "kelvin")

    class Rankine(Kelvin):
        pass

    assert Codec(Kelvin).json_schema()["description"] == "kelvin"
    assert type(Codec(Rankine).decode(3)) is Rankine
    held = type("Held", (Celsius,), {})
    held.__schema_leaf__ = leaf(held)
    assert Codec(held).decode(3) == held(3)
    heir = type("Heir", (held,), {})
    with pytest.raises(SchemaError) as caught:
        Codec(heir)
    assert caught.value.findings[0].code == "bad_leaf"


@pytest.mark.usefixtures("_registry")
def test_registered_leaf_counts_for_codecs_made_later():
    class Plain(Celsius):
        pass

    with pytest.raises(SchemaError):
        json_schema(Plain)
    given = leaf(Plain)
    assert register_leaf(given) is given
    assert json_schema(Plain)["type"] == "number"
    assert encode(decode(Plain, 3)) == 3
    register_leaf(leaf(Plain, "newer"))
    assert json_schema(Plain)["description"] == "newer"


@pytest.mark.usefixtures("_registry")
def test_the_nearest_leaf_counts():
    class Own(Celsius):
        @classmethod
        def __schema_leaf__(cls):
            return leaf(cls, "own")

    register_leaf(leaf(Own, "registered"))
    assert Codec(Own).json_schema()["description"] == "own"
    given = [leaf(Own, "first given"), leaf(Own, "given")]
    assert Codec(Own, leaves=given).json_schema()["description"] == "given"
    near = Annotated[Own, leaf(Own, "annotated")]
    assert Codec(near, leaves=given).json_schema()["description"] == "annotated"
    register_leaf(SchemaLeaf(UUID, {"type": "string", "pattern": "-"}, UUID, str, UUID(int=0)))
    assert json_schema(UUID)["pattern"] == "-"


def test_a_leaf_may_stand_for_a_dataclass_or_a_scalar():
    @dataclass
    class Pair:
        a: int
        b: int

    pair = SchemaLeaf(
        Pair,
        {"type": "string"},
        lambda text: Pair(*map(int, text.split(":"))),
        lambda p: f"{p.a}:{p.b}",
        Pair(1, 2),
    )
    assert Codec(list[Pair], leaves=[pair]).decode(["1:2"]) == [Pair(1, 2)]
    upper = SchemaLeaf(str, {"type": "string"}, str.upper, str, "X")
    assert Codec(list[str], leaves=[upper]).decode(["a"]) == ["A"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("str", {"type": "string"}, str, str, "x"), "type is string"),
        ((str, "string", str, str, "x"), "json_schema is string"),
        ((str, {}, str, str, "x"), 'json_schema has no "type"'),
        ((str, {"type": "text"}, str, str, "x"), 'json_schema has no "type"'),
        ((str, {"type": "string"}, None, str, "x"), "decode is null"),
        ((str, {"type": "string"}, str, 5, "x"), "encode is integer"),
        ((str, {"type": "string"}, str, str, 5), "placeholder is integer 5, not an instance of str"),
        ((int, {"type": "string"}, int, lambda _: "x", 5), "raises ValueError"),
    ],
)
def test_a_leaf_that_is_none(arguments, words):
    with pytest.raises(SchemaError, match=words):
        SchemaLeaf(*arguments)


def test_a_leaf_keeps_its_schema():
    schema = {"type": ["string", "null"], "enum": ["a", None]}
    made = SchemaLeaf(Celsius, schema, lambda _: Celsius(1), lambda _: "a", Celsius(1))
    schema["enum"].clear()
    document = Codec(Celsius, leaves=[made]).json_schema()
    document["enum"].clear()
    assert Codec(Celsius, leaves=[made]).json_schema() == {"type": ["string", "null"], "enum": ["a", None]}
    assert made.json_types == ("string", "null")


def test_a_leaf_that_encodes_to_another_type_is_a_problem():
    state = ["x"]
    liar = SchemaLeaf(Celsius, {"type": "string"}, lambda _: Celsius(1), lambda _: state[0], Celsius(1))
    state[0] = 5
    with pytest.raises(EncodeError, match="expected string, got integer 5"):
        Codec(Celsius, leaves=[liar]).encode(Celsius(1))


def test_a_leaf_over_arrays_gets_a_copy():
    class Rows:
        def __init__(self, rows):
            self.rows = rows

    leaf = SchemaLeaf(Rows, {"type": "array"}, Rows, lambda value: value.rows, Rows([]))
    given = [[1], {"a": [2]}]
    kept = Codec(Rows, leaves=[leaf]).decode(given).rows
    assert kept == given
    assert kept is not given
    assert kept[1]["a"] is not given[1]["a"]


def test_an_enum_may_bring_a_leaf_of_its_own_or_inherit_one():
    class Coded(Enum):
        @classmethod
        def __schema_leaf__(cls):
            low = next(iter(cls))
            return SchemaLeaf(cls, {"type": "integer"}, lambda n: cls(str(n)), lambda m: int(m.value), low)

    class Level(Coded):
        LOW = "1"
        HIGH = "2"

    assert json_schema(Level) == {"type": "integer"}
    assert decode(Level, 2) is Level.HIGH
    assert encode(Level.LOW) == 1


@pytest.fixture(scope="module")
def copied_leaf(tmp_path_factory):
    """Give a function that makes a leaf by a copy of the engine, as a vendored one is."""
    package = Path(operator_schema.__file__).parent
    folder = tmp_path_factory.mktemp("vendored")
    for room in ("introspect", "schema", "codec"):
        shutil.copytree(package / room, folder / "copied_engine" / room)
    for module in package.glob("*.py"):
        shutil.copy(module, folder / "copied_engine")
    sys.path.insert(0, str(folder))
    try:
        yield import_module("copied_engine").SchemaLeaf
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "copied_engine"]:
            del sys.modules[name]


def test_a_leaf_of_another_copy_of_the_package_is_named_wherever_it_is_given(copied_leaf):
    other = leaf(made_by=copied_leaf)
    said = "a SchemaLeaf of copied_engine, another copy of operator_schema"
    own = type("Own", (), {"__schema_leaf__": other})
    for annotation in (
        Annotated[Celsius, other],
        Annotated[int, other],
        Annotated[list[int], "x", other],
        own,
    ):
        with pytest.raises(SchemaError) as caught:
            Codec(annotation)
        assert said in caught.value.findings[0].message
        assert caught.value.findings[0].remedy == "Import SchemaLeaf from operator_schema"
    with pytest.raises(ValueError, match=said):
        Codec(Weather, leaves=[other])
    with pytest.raises(TypeError, match=said):
        register_leaf(other)


def test_another_class_of_that_name_is_metadata_as_any_other():
    namesake = type("SchemaLeaf", (), {"__module__": "somewhere"})()
    assert json_schema(Annotated[int, namesake]) == {"type": "integer"}


CLASSES = [int, str, float, object, dict, Celsius, Weather, type("Colder", (Celsius,), {})]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("annotated", CLASSES, ids=lambda cls: cls.__name__)
def test_a_leaf_at_a_class_that_cant_have_its_values_is_a_complaint(cls, annotated):
    value = object.__new__(cls) if cls.__module__ != "builtins" else cls()
    own = SchemaLeaf(cls, {"type": "string"}, lambda _: value, lambda _: "x", value)
    if issubclass(cls, annotated) or issubclass(annotated, cls):
        assert Codec(Annotated[annotated, own]).decode("y") is value
        return
    with pytest.raises(SchemaError) as caught:
        Codec(Annotated[annotated, own])
    assert caught.value.findings[0].code == "bad_leaf"
    assert f"the leaf in Annotated[{annotated.__name__}, …] is for {cls.__name__}" in str(caught.value)
    assert f"Write Annotated[{cls.__name__}, …]" in caught.value.findings[0].remedy


class Warm(Protocol):
    degrees: float


@pytest.mark.parametrize(
    "annotated",
    [Warm, NewType("Heat", Celsius), Celsius | None, "Celsius", Any, Sequence[int], TypeVar("T"), Hashable],
    ids=str,
)
def test_a_leaf_at_what_may_have_its_values_counts(annotated):
    assert Codec(Annotated[annotated, leaf()]).decode(3) == Celsius(3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["decode", "encode"])
def test_a_leaf_whose_functions_are_async_says_so(name):
    async def later(value):
        return value

    class Later:
        async def __call__(self, value):
            return value

    for function in (later, Later(), lambda _: Awaited()):
        functions = {"decode": str, "encode": str, name: function}
        with pytest.raises(SchemaError) as caught:
            SchemaLeaf(str, {"type": "string"}, placeholder="x", **functions)
        finding = caught.value.findings[0]
        assert finding.message == f"{name} is async, and nothing awaits its result"
        assert finding.remedy == "Write it with def, not with async def"


class Awaited:
    def __await__(self):
        yield


def test_a_type_that_can_be_awaited_may_have_a_leaf():
    own = SchemaLeaf(Awaited, {"type": "string"}, lambda _: Awaited(), lambda _: "x", Awaited())
    assert isinstance(Codec(Awaited, leaves=[own]).decode("x"), Awaited)
