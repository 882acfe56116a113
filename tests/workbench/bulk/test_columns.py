"""Typed columns: which ones a type has, and that values come back from them as they were."""

from __future__ import annotations

import json
from dataclasses import InitVar, dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from uuid import UUID

import pytest
from annotated_types import Ge, Le, MultipleOf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operator_schema import Codec, tool
from operator_schema.testing import instances
from operator_schema.types import LocalDateTime, LocalTime

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel here")
parquet = pytest.importorskip("pyarrow.parquet", reason="this pyarrow can't read Parquet")

from operator_schema.workbench.bulk import ColumnError, arrow_schema  # noqa: E402  # needs pyarrow
from operator_schema.workbench.bulk.columns import NOT_HELD, columns_of  # noqa: E402  # the same


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Extra(TypedDict):
    note: str
    weight: NotRequired[float]


@dataclass
class Card:
    kind: Literal["card"]
    number: str
    paid: Annotated[Decimal, Ge(0), Le(9999), MultipleOf(0.01)]


@dataclass
class Cash:
    kind: Literal["cash"]
    paid: Annotated[Decimal, Ge(0), Le(9999), MultipleOf(0.01)]
    at: date | None = None


@dataclass
class Everything:
    text: str
    number: int
    real: float
    flag: bool
    color: Color
    level: Literal[1, 2, 3]
    at: datetime
    local: LocalDateTime
    clock: LocalTime
    day: date
    span: timedelta
    data: bytes
    id: UUID
    ids: list[UUID]
    by_id: dict[str, UUID]
    price: Annotated[Decimal, Ge(-100), Le(9999), MultipleOf(0.01)]
    zone_time: time
    names: set[str]
    pair: tuple[int, str]
    three: tuple[int, int, int]
    counts: dict[str, int]
    by_number: dict[int, list[bool]]
    extra: Extra
    payment: Card | Cash
    mode: Literal["a", None] = None
    later: datetime | None = None
    mixed: int | float = 0
    large: Annotated[int, Ge(0), Le(2**64 - 1)] = 0
    several: list[Card | Cash | None] = field(default_factory=list)


def fields(kind):
    return {column.name: (column.type, column.nullable) for column in arrow_schema(kind)}


def test_each_part_of_a_type_has_its_column():
    text = pa.dictionary(pa.int32(), pa.string())
    found = fields(Everything)
    assert found["text"] == (pa.string(), False)
    assert found["color"] == (text, False)
    assert found["level"] == (pa.int64(), False)
    assert found["at"] == (pa.timestamp("us", "UTC"), False)
    assert found["local"] == (pa.timestamp("us"), False)
    assert found["clock"] == (pa.time64("us"), False)
    assert found["day"] == (pa.date32(), False)
    assert found["span"] == (pa.duration("us"), False)
    assert found["data"] == (pa.binary(), False)
    assert found["id"] == (pa.uuid(), False)
    assert found["price"] == (pa.decimal128(6, 2), False)
    assert found["zone_time"] == (pa.string(), False)
    assert found["by_number"][0].key_type == pa.int64()
    assert found["mode"] == (text, True)
    assert found["large"] == (pa.uint64(), True)
    assert found["mixed"] == (pa.float64(), True)
    payment = found["payment"][0]
    assert [each.name for each in payment] == ["kind", "number", "paid", "at"]
    assert payment.field("kind").type == text
    assert (payment.field("paid").nullable, payment.field("number").nullable) == (False, True)


def test_what_isnt_an_object_has_one_column():
    assert fields(list[int]) == {"value": (pa.list_(pa.field("item", pa.int64(), nullable=False)), False)}


def test_a_tool_has_the_columns_of_its_arguments():
    @tool
    def refund(order: int, note: str | None = None) -> str:
        """Pay back."""
        return f"{order} {note}"

    assert fields(refund) == {"order": (pa.int64(), False), "note": (pa.string(), True)}


# --- there and back --------------------------------------------------------------------------------


def back(value):
    """Return a value of Python that pyarrow gave as the decoder takes it."""
    if isinstance(value, dict):
        return {key: back(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        if value and all(isinstance(each, tuple) for each in value):
            return {str(key): back(inner) for key, inner in value}
        return [back(each) for each in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat()
    return Codec(type(value)).encode(value.astimezone(UTC) if isinstance(value, datetime) else value)


def returned(row):
    """Return a row as JSON values; an empty map comes as an empty list, and a tuple as a struct."""
    found = back(row)
    for key in ("counts", "by_number", "by_id"):
        found[key] = found[key] or {}
    found["pair"] = [found["pair"]["0"], found["pair"]["1"]]
    return found


CODEC = Codec(Everything)


def is_held(instance):
    """Return whether columns can hold an instance: no number is too large."""
    columns = columns_of(Everything, json_text=False, decimals=None)
    return columns.fault(columns.row(CODEC.encode(instance))) is None


def tame(given):
    """Return an instance whose numbers columns usually hold; what they don't hold has a test of its own."""
    return replace(
        given,
        number=given.number % 2**63,
        span=timedelta(seconds=given.span.seconds, microseconds=given.span.microseconds),
        mixed=given.mixed % 2**53,
        pair=(given.pair[0] % 2**63, given.pair[1]),
        three=tuple(each % 2**63 for each in given.three),
        counts={key: each % 2**63 for key, each in given.counts.items()},
        by_number={key % 2**63: each for key, each in given.by_number.items()},
    )


@pytest.mark.slow("draws instances of a large type")
@settings(
    max_examples=settings().max_examples // 10,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],  # it has many fields
)
@given(st.lists(instances(Everything).map(tame), min_size=1, max_size=2))
def test_what_comes_back_from_a_file_decodes_to_the_same(drawn):
    given_instances = [each for each in drawn if is_held(each)]
    columns = columns_of(Everything, json_text=False, decimals=None)
    batch = columns.batch([columns.stored([columns.row(CODEC.encode(each)) for each in given_instances])])
    batch.validate(full=True)
    assert batch.schema == arrow_schema(Everything)
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_batches([batch]), sink)
    table = parquet.read_table(pa.BufferReader(sink.getvalue()))
    table.validate(full=True)
    for rows in (batch.to_pylist(), table.to_pylist()):
        assert [CODEC.decode(returned(row)) for row in rows] == given_instances


SAMPLE = {
    "text": "ä",
    "number": 2**62,
    "real": 1.5,
    "flag": True,
    "color": "red",
    "level": 2,
    "at": "2026-01-31T09:30:00.5+01:00",
    "local": "2026-01-31T09:30:00",
    "clock": "09:30:00",
    "day": "2026-01-31",
    "span": "PT90S",
    "data": "aGVsbG8=",
    "id": "12345678-1234-5678-1234-567812345678",
    "ids": ["12345678-1234-5678-1234-567812345678"],
    "by_id": {"a": "12345678-1234-5678-1234-567812345678"},
    "price": "12.50",
    "zone_time": "09:30:00Z",
    "names": ["b"],
    "pair": [1, "x"],
    "three": [1, 2, 3],
    "counts": {"a": 1},
    "by_number": {"7": [True]},
    "extra": {"note": "n"},
    "payment": {"kind": "cash", "paid": "0.10", "at": "2026-02-01"},
    "large": 2**64 - 1,
}


def test_duckdb_reads_the_same(tmp_path):
    duckdb = pytest.importorskip("duckdb", reason="duckdb has no wheel here")
    columns = columns_of(Everything, json_text=False, decimals=None)
    batch = columns.batch([columns.stored([columns.row(CODEC.encode(CODEC.decode(SAMPLE)))])])
    parquet.write_table(pa.Table.from_batches([batch]), tmp_path / "all.parquet")
    with duckdb.connect() as db:
        db.execute("SET TimeZone = 'UTC'")
        found = db.execute(
            f'SELECT * REPLACE (epoch_us("at") AS "at") FROM \'{tmp_path / "all.parquet"}\''  # noqa: S608  # a path of ours
        )
        row = dict(zip([column[0] for column in found.description], found.fetchone(), strict=True))
    ours = batch.to_pylist()[0]
    at = ours.pop("at")
    assert row.pop("at") == (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    # DuckDB has no type for durations of Parquet, and reads their microseconds.
    assert row.pop("span") == ours.pop("span") // timedelta(microseconds=1)
    for key in ("counts", "by_number", "by_id"):
        assert row.pop(key) == dict(ours.pop(key))
    assert row == ours


# --- what Arrow can't say --------------------------------------------------------------------------


@dataclass
class Tree:
    name: str
    below: list[Tree] = field(default_factory=list)


@dataclass
class Empty:
    pass


@dataclass
class First:
    kind: Literal["first"]
    value: int


@dataclass
class Second:
    kind: Literal["second"]
    value: str


@dataclass
class Passing:
    kept: int
    given: InitVar[int]


@dataclass
class Hard:
    anything: Any
    either: int | str
    rows: list[Any]
    tree: Tree
    nothing: Empty
    tagged: First | Second
    exact: Decimal


def test_what_arrow_has_no_type_for_is_told_with_its_path_and_a_remedy():
    with pytest.raises(ColumnError) as caught:
        arrow_schema(Hard)
    told = {".".join(map(str, each.path)): str(each) for each in caught.value.findings}
    assert list(told) == ["anything", "either", "rows.*", "tree.below.*", "nothing", "tagged", "exact"]
    assert "its key value has several types" in told["tagged"]
    assert "Tree contains itself" in told["tree.below.*"]
    assert "decimals=(38, 9)" in told["exact"]
    assert all("json_text=True" in text for key, text in told.items() if key != "exact")
    assert "\n- rows[*]: it may be any JSON value." in str(caught.value)
    assert "(in )" not in str(caught.value)


def test_a_type_that_isnt_an_object_is_told_without_a_path():
    with pytest.raises(ColumnError, match=r"\n- it may be any JSON value\. Change"):
        arrow_schema(Any)


def test_what_arrow_has_no_type_for_is_json_text_if_asked_for():
    codec = Codec(Hard)
    value = {
        "anything": {"a": [1, None]},
        "either": "x",
        "rows": [1, "a", None],
        "tree": {"name": "a", "below": [{"name": "b", "below": []}]},
        "nothing": {},
        "tagged": {"kind": "second", "value": "v"},
        "exact": "1.25",
    }
    columns = columns_of(Hard, json_text=True, decimals=(10, 2))
    (row,) = columns.batch([columns.stored([columns.row(codec.encode(codec.decode(value)))])]).to_pylist()
    assert json.loads(row["anything"]) == value["anything"]
    assert json.loads(row["either"]) == "x"
    assert [each and json.loads(each) for each in row["rows"]] == value["rows"]
    assert [json.loads(each) for each in row["tree"]["below"]] == value["tree"]["below"]
    assert json.loads(row["nothing"]) == {}
    assert json.loads(row["tagged"]) == value["tagged"]
    assert row["exact"] == Decimal("1.25")


def test_an_init_var_has_no_column():
    with pytest.raises(ColumnError, match=r"given.*an InitVar, which the instance doesn't keep"):
        arrow_schema(Passing)


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (dict[str, list[int]], {"a": [1, 2**63]}, ("value", "a", 1)),
        (int | float, 2**53 + 1, ("value",)),
        (Decimal, "1.234", ("value",)),
        (timedelta, "P999999999D", ("value",)),
    ],
    ids=str,
)
def test_a_value_beyond_its_column_is_found(kind, value, path):
    columns = columns_of(kind, json_text=False, decimals=(5, 2))
    codec = Codec(kind)
    row = columns.row(codec.encode(codec.decode(value)))
    with pytest.raises(NOT_HELD):
        columns.stored([row])
    found, reason = columns.fault(row)
    assert (found, "can't hold it" in reason) == (path, True)


def test_an_offset_is_kept_as_the_instant():
    columns = columns_of(datetime, json_text=False, decimals=None)
    at = datetime(2026, 1, 31, 9, tzinfo=timezone(timedelta(hours=5)))
    stored = columns.stored([columns.row(Codec(datetime).encode(at))])
    assert columns.batch([stored]).to_pylist() == [{"value": at}]
