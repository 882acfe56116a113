"""Lenient encoding: what a tool returned is written although it doesn't fit its declared type."""

from __future__ import annotations

import collections
import datetime as dt
import enum
import itertools
import json
import sqlite3
import types
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import annotated_types as at
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from strategies import TYPES

from operator_schema import Codec, DecodeError, EncodeError, SchemaLeaf
from operator_schema.testing import arguments


class Colour(enum.Enum):
    RED = "red"


class Name(enum.StrEnum):
    ANN = "ann"


class Point(NamedTuple):
    x: int
    y: int


Untyped = collections.namedtuple("Untyped", "a b")  # noqa: PYI024  # an untyped one on purpose


@dataclass
class Meeting:
    title: str
    at: dt.datetime | None = None
    tags: list[str] = field(default_factory=list)


class Closed(TypedDict):
    a: int


@dataclass
class Unregistrable:
    callback: type
    count: int


class Index:
    def __index__(self) -> int:
        return 7


class Grams(float):
    __slots__ = ()


NAIVE = dt.datetime(2026, 1, 31, 9, 30)  # noqa: DTZ001  # naive on purpose
ISO = "2026-01-31T09:30:00"


def row() -> sqlite3.Row:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    found: sqlite3.Row = connection.execute("select 1 as id, 'x' as name").fetchone()
    connection.close()
    return found


def paths(notes: Any) -> list[tuple[str | int, ...]]:
    return [note.path for note in notes]


@pytest.mark.parametrize(
    ("annotation", "value", "encoded", "noted"),
    [
        (dt.datetime, NAIVE, ISO, [()]),
        (Meeting, Meeting("a", NAIVE), {"title": "a", "at": ISO, "tags": []}, [("at",)]),
        (list[int], (1, 2), [1, 2], [()]),
        (list[int], {1}, [1], [()]),
        (list[int], collections.deque([1]), [1], [()]),
        (list[int], {1: 2}.keys(), [1], [()]),
        (list[int], (n for n in [1, 2]), [1, 2], [()]),
        (list[int], "12", "12", [()]),
        (list[int], b"12", "MTI=", [()]),
        (list[list[Any]], [(1, "a")], [[1, "a"]], [(0,)]),
        (tuple[int, ...], [1, 2], [1, 2], [()]),
        (tuple[int, str], [1, "a"], [1, "a"], [()]),
        (tuple[int, str], (1, "a", None), [1, "a", None], [()]),
        (tuple[int, str], 5, 5, [()]),
        (dict[str, int], [("a", 1)], [["a", 1]], [()]),
        (dict[str, int], types.SimpleNamespace, None, None),
        (dict[str, int], {"a": "x"}, {"a": "x"}, [("a",)]),
        (dict[str, int], {1: 2}, {"1": 2}, [("1",)]),
        (dict[str, Any], row(), {"id": 1, "name": "x"}, [()]),
        (list[list[Any]], [row()], [{"id": 1, "name": "x"}], [(0,)]),
        (Annotated[dict[str, int], at.MinLen(2)], {"a": 1}, {"a": 1}, [()]),
        (Annotated[list[int], at.MinLen(3)], [1], [1], [()]),
        (Annotated[int, at.Le(3)], 4, 4, [()]),
        (int, 2.5, 2.5, [()]),
        (float, float("nan"), None, [()]),
        (int | None, "x", "x", [()]),
        (int | str, [1], [1], [()]),
        (Literal["a"] | None, "b", "b", [()]),
        (str, Colour.RED, "red", [()]),
        (Colour, "red", "red", [()]),
        (Meeting, {"title": 5, "more": NAIVE}, {"title": 5, "more": ISO}, [(), ("title",), ("more",)]),
        (Meeting, row(), {"id": 1, "name": "x"}, [()]),
        (Closed, {}, {}, [("a",)]),
        (Meeting, Point(1, 2), {"x": 1, "y": 2}, [()]),
        (Point, Meeting("a"), {"title": "a", "tags": []}, [()]),
        (uuid.UUID, "text", "text", [()]),
    ],
)
def test_a_part_that_does_not_fit_is_written_by_its_own_form_and_noted(
    annotation: Any, value: Any, encoded: Any, noted: Any
):
    codec = Codec(annotation)
    if noted is None:
        with pytest.raises(EncodeError):
            codec.encode_leniently(value)
        return
    written, notes = codec.encode_leniently(value)
    assert written == encoded
    assert paths(notes) == noted
    json.dumps(written, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ({}, {}),
        (range(0), []),
        (range(2), [0, 1]),
        (bytearray(b"x"), "eA=="),
        (memoryview(b"x"), "eA=="),
        (types.MappingProxyType({"a": (1,)}), {"a": [1]}),
        (Untyped(1, {2}), {"a": 1, "b": [2]}),
        (Point(1, 2), {"x": 1, "y": 2}),
        ({1: 2}.items(), [[1, 2]]),
        (map(str, [1]), ["1"]),
        (Index(), 7),
        (Name.ANN, "ann"),
        (Path("a"), "a"),
        (Unregistrable(callback=None, count=1), {"callback": None, "count": 1}),  # type: ignore[arg-type]
        (
            {1: 1, 2.5: 2, None: 3, False: 4, Colour.RED: 5, uuid.UUID(int=1): 6, dt.date(2026, 1, 2): 7},
            {
                "1": 1,
                "2.5": 2,
                "null": 3,
                "false": 4,
                "red": 5,
                "00000000-0000-0000-0000-000000000001": 6,
                "2026-01-02": 7,
            },
        ),
        ({Name.ANN: 1}, {"ann": 1}),
    ],
)
def test_under_any_nothing_is_declared_that_could_be_missed(value: Any, encoded: Any):
    assert Codec(Any).encode_leniently([value]) == ([encoded], ())


@pytest.mark.parametrize(
    ("value", "encoded", "path"),
    [
        ([float("inf")], [None], (0,)),
        ([Decimal("NaN")], [None], (0,)),
        ([NAIVE], [ISO], (0,)),
        (["a\ud800b"], ["a\ufffdb"], (0,)),
        ({"a\ud800": 1}, {"a\ufffd": 1}, ("a\ud800",)),
        ({1: 1, "1": 2}, {"1": 2}, ("1",)),
    ],
)
def test_under_any_what_is_lost_is_noted(value: Any, encoded: Any, path: Any):
    written, notes = Codec(Any).encode_leniently(value)
    assert (written, paths(notes)) == (encoded, [path])


def test_a_note_says_what_was_declared_and_what_came():
    _, (note,) = Codec(dict[str, list[int]]).encode_leniently({"a": (1,)})
    assert (note.path, note.code, note.expected) == (("a",), "wrong_type", "list")
    _, (note,) = Codec(Meeting).encode_leniently(Meeting("a", NAIVE))
    assert str(note).startswith(
        "at: datetime is not accepted: a datetime without a UTC offset doesn't fit date-time"
    )


def test_what_the_strict_encode_has_read_from_an_iterator_is_there():
    @dataclass
    class Rows:
        rows: collections.abc.Iterable[int]
        at: dt.datetime

    namespace = {"collections": collections, "dt": dt}
    value = Rows((n for n in [1, "b"]), NAIVE)  # type: ignore[arg-type]
    assert Codec(Rows, namespace=namespace).encode_leniently(value)[0] == {"rows": [1, "b"], "at": ISO}


class Hostile:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise LookupError


@dataclass
class Raising:
    x: int

    def __getattribute__(self, name: str) -> Any:
        if name == "x":
            raise RuntimeError
        return super().__getattribute__(name)


def itself() -> Any:
    value: list[Any] = []
    value += [value, value]
    return value


def deep(levels: int) -> Any:
    value: Any = ()
    for _ in range(levels):
        value = {"a": (value,)}
    return value


@pytest.mark.parametrize("annotation", [Any, Meeting, list[int]])
@pytest.mark.parametrize(
    ("make", "code"),
    [
        (Hostile, "wrong_type"),
        (lambda: Raising(1), "wrong_type"),
        (lambda: print, "wrong_type"),
        (lambda: Meeting, "wrong_type"),
        (itself, "too_deep"),
        (lambda: deep(100), "too_deep"),
        (lambda: deep(5000), "too_deep"),
        (lambda: 10**5000, "too_large"),
        (lambda: {(1, 2): 3}, "wrong_type"),
        (lambda: {print: 3}, "wrong_type"),
    ],
)
def test_what_has_no_json_form_is_refused(annotation: Any, make: Any, code: str):
    with pytest.raises(EncodeError) as caught:
        Codec(annotation).encode_leniently(make())
    assert code in {problem.code for problem in caught.value.findings}


def test_a_file_is_no_array_of_lines(tmp_path: Path):
    (tmp_path / "f").write_text("a\nb\n")
    with (tmp_path / "f").open() as file, pytest.raises(EncodeError, match="no JSON form"):
        Codec(Any).encode_leniently(file)


def test_an_iterator_without_end_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("operator_schema.codec.lenient_encode.MAX_LENIENT_VALUES", 1000)
    for value in (itertools.count(), [itertools.repeat(1)], (n for n in itertools.count())):
        with pytest.raises(EncodeError, match="contains more than 1000 values"):
            Codec(Any).encode_leniently(value)
    shared: Any = 1
    for _ in range(50):
        shared = {"a": shared, "b": shared, "when": NAIVE}
    with pytest.raises(EncodeError, match="contains more than 1000 values"):
        Codec(list[int]).encode_leniently({"a": shared})


def test_a_leaf_that_raises_anything_is_refused_and_nothing_else():
    def write(grams: Grams) -> float:
        return {1.0: 1.0}[grams]

    leaf = SchemaLeaf(Grams, {"type": "number"}, Grams, write, Grams(1))
    with pytest.raises(EncodeError, match=r"\[1\]: number has no JSON form"):
        Codec(list[Grams], leaves=[leaf]).encode_leniently([Grams(1), Grams(2)])


def test_the_strict_encode_of_a_list_that_holds_itself_twice_ends():
    for codec in (Codec(Any), Codec(Any).compile()):
        with pytest.raises(EncodeError, match="nested deeper"):
            codec.encode(itself())


@given(TYPES, st.data())
def test_what_fits_is_written_as_encode_writes_it_without_a_note(annotation: Any, data: st.DataObject):
    codec: Codec[Any] = Codec(annotation)
    try:
        value = codec.decode(data.draw(arguments(codec)))
        encoded = codec.encode(value)
    except (DecodeError, EncodeError):
        reject()
    assert codec.encode_leniently(value) == (encoded, ())
