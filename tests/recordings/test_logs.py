"""Logs, cut into parts: whatever the cut, each record is read once, and what can't be read is told."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sqlite3
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.recordings import (
    LogError,
    Unreadable,
    log_parts,
    log_records,
    logs_in,
    parts_of,
    records_of,
)
from operator_schema.recordings.log_records import json_of
from operator_schema.rounds import SqliteStore
from operator_schema.workbench.compare.recorded_calls import calls_in


def all_records(path):
    return [(each.line, each.value) for part in parts_of(str(path)) for each in records_of(part)]


def zstd_bytes(data):
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.compress(data)
    zstandard = pytest.importorskip("zstandard", reason="zstandard has no wheel here")
    return zstandard.ZstdCompressor().compress(data)


PACKERS = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd_bytes}
LINES = st.lists(
    st.sampled_from(["", "  ", "{broken", "[", "7", '{"a": "' + "x" * 30 + '"}', "y" * 70]), max_size=30
)


@pytest.fixture
def tiny_parts(monkeypatch):
    monkeypatch.setattr(log_parts, "PART_SIZE", 40)
    monkeypatch.setattr(log_parts, "MAX_LINE", 60)
    monkeypatch.setattr(log_parts, "CHUNK", 16)
    monkeypatch.setattr(log_parts, "_GZIP_STEP", 16)
    monkeypatch.setattr(log_parts, "_ZSTD_STEP", 16)


def expected(lines):
    """Return what a reader makes of lines, one by one."""
    found = []
    for number, line in enumerate(lines, 1):
        if len(line) + 1 > 60:
            found.append((number, "longer"))
        elif line.strip():
            try:
                found.append((number, json.loads(line)))
            except ValueError:
                found.append((number, "isn't JSON"))
    return found


def told(records):
    """Return records, unreadable ones as a few words."""
    return [
        (
            line,
            ("longer" if "longer" in value.reason else "isn't JSON")
            if isinstance(value, Unreadable)
            else value,
        )
        for line, value in records
    ]


@pytest.mark.parametrize("packer", PACKERS)
@settings(max_examples=settings().max_examples // 2)
@given(lines=LINES, block=st.sampled_from([1, 7, 50, 1000]))
def test_each_line_is_read_once_whatever_the_cut(tmp_path_factory, packer, lines, block):
    text = "".join(f"{line}\n" for line in ["0", *lines])
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("PART_SIZE", 40),
            ("MAX_LINE", 60),
            ("CHUNK", 16),
            ("_BLOCK", block),
            ("_GZIP_STEP", 16),
            ("_ZSTD_STEP", 16),
        ):
            patch.setattr(log_records if name == "_BLOCK" else log_parts, name, value)
        path = tmp_path_factory.mktemp("logs") / "log"
        path.write_bytes(PACKERS[packer](text.encode()))
        assert told(all_records(path)) == expected(["0", *lines])


@pytest.mark.parametrize("packer", ["gzip", "zstd"])
@pytest.mark.parametrize("cut", [1, 6, 40, 200])
@pytest.mark.usefixtures("tiny_parts")
def test_a_compressed_file_that_is_cut_is_read_up_to_there(tmp_path, packer, cut):
    # Digits that don't repeat, so that little of the file is lost with its end.
    lines = [str(number * 7919 % 100003) for number in range(400)]
    data = PACKERS[packer]("".join(f"{line}\n" for line in lines).encode())
    path = tmp_path / "log"
    path.write_bytes(data[: len(data) - cut])
    *read, (line, last) = all_records(path)
    assert [value for _, value in read] == [int(each) for each in lines[: len(read)]]
    assert isinstance(last, Unreadable)
    assert (line, "the file ends, or is broken, here" in last.reason) == (len(read) + 1, True)


def test_a_compressed_file_may_be_several(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(b"1\n2\n") + gzip.compress(b"3\n") + b"\0\0\0")
    assert all_records(path) == [(1, 1), (2, 2), (3, 3)]


def test_broken_compressed_data_are_told(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(b"1\n") + b"rubbish")
    assert all_records(path)[0] == (1, 1)
    assert "compressed data are broken" in all_records(path)[1][1].reason


def test_a_file_that_shrinks_while_it_is_read_is_told(tmp_path):
    path = tmp_path / "log"
    path.write_text("1\n2\n3\n")
    (part,) = parts_of(str(path))
    path.write_text("1\n")
    first, last = records_of(part)
    assert first.value == 1
    assert "shorter by 4 bytes" in last.value.reason


def test_a_file_that_is_gone_is_told(tmp_path):
    path = tmp_path / "log"
    path.write_text("1\n")
    (part,) = parts_of(str(path))
    path.unlink()
    (found,) = records_of(part)
    assert "can't be read: No such file" in found.value.reason


@pytest.mark.usefixtures("tiny_parts")
def test_one_value_is_one_part_up_to_a_limit(tmp_path):
    path = tmp_path / "log"
    path.write_text("[\n1,\n2\n]\n")
    assert all_records(path) == [(0, 1), (0, 2)]
    path.write_text("[\n" + "1,\n" * 100 + "2]\n")
    ((line, found),) = all_records(path)
    assert (line, "write one value in each line" in found.reason) == (0, True)


# --- which files ---------------------------------------------------------------------------------


def test_files_of_a_pattern_come_in_order(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "c.txt", "[x].jsonl"):
        (tmp_path / name).write_text("")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "d.jsonl").write_text("")
    found = logs_in([str(tmp_path / "**" / "?.jsonl")])
    assert [each.removeprefix(f"{tmp_path}/") for each in found] == ["a.jsonl", "b.jsonl", "more/d.jsonl"]
    assert logs_in([str(tmp_path / "[x].jsonl"), "-"]) == [str(tmp_path / "[x].jsonl"), "-"]
    with pytest.raises(LogError, match="no file matches"):
        logs_in([str(tmp_path / "*.gz")])


def test_a_file_that_isnt_there_is_refused(tmp_path):
    with pytest.raises(LogError, match="can't be read: No such file"):
        list(parts_of(str(tmp_path / "gone")))


@pytest.mark.parametrize("name", ["logs", "two words", "a'b", "[x]*"])
def test_for_a_folder_the_error_says_the_pattern_of_its_files(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "a.jsonl").write_text("1\n")
    with pytest.raises(LogError, match="is a folder: ") as caught:
        list(parts_of(str(folder)))
    written = re.search("write (.*) for the files in it", str(caught.value))[1]
    assert logs_in(shlex.split(written)) == [str(folder / "a.jsonl")]


FORMATS = {
    "a Parquet file": [".parquet", ".parq"],
    "compressed with gzip": [".gz", ".gzip"],
    "compressed with zstd": [".zst", ".zstd", ".ZST"],
    "a SQLite database": [".db", ".sqlite", ".sqlite3"],
}
OTHERS = [
    b"<!doctype html>",
    b"PK\x03\x04",
    b"BZh91AY",
    b"PARE",
    b"PAR",
    b"SQLite format 4\0",
    b"\x1f\x8c\x08",
    b"\0",
]


@settings(max_examples=2 * settings().max_examples)
@given(
    named=st.sampled_from([(kind, ending) for kind, endings in FORMATS.items() for ending in endings]),
    begin=st.sampled_from(OTHERS) | st.binary(min_size=1, max_size=20),
    lines=st.lists(st.binary(max_size=20), max_size=20),
)
def test_a_file_that_isnt_what_its_name_says_is_one_problem(tmp_path_factory, named, begin, lines):
    kind, ending = named
    path = tmp_path_factory.mktemp("logs") / f"calls.jsonl{ending}"
    data = b"\n".join([begin, *lines])
    path.write_bytes(data)
    if data.startswith((b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"SQLite format 3\0")):
        return  # it may be a broken one
    if data[:16].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in b"[{":
        return  # another law: lines are read whatever the name of their file
    ((line, found),) = all_records(path)
    assert (line, found.reason) == (0, f"it isn't {kind}: it begins with {data[:16]!r}")


@pytest.mark.parametrize("ending", [ending for endings in FORMATS.values() for ending in endings])
@pytest.mark.parametrize("packer", PACKERS)
def test_lines_are_read_whatever_the_name_of_their_file(tmp_path, ending, packer):
    path = tmp_path / f"calls{ending}"
    for data in (b"", b"\n \n", b'{"a": 1}\n', b'\n\xef\xbb\xbf{"a": 1}\n[2]'):
        path.write_bytes(PACKERS[packer](data))
        wanted = [{"a": 1}, [2]][: data.count(b"{") + data.count(b"[")]
        assert [value for _, value in all_records(path)] == wanted


def test_standard_input_is_read(monkeypatch):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(b"1\n2\n"))))
    )
    assert all_records("-") == [(1, 1), (2, 2)]


# --- Parquet -------------------------------------------------------------------------------------


def test_rows_of_parquet_are_calls(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel here")
    parquet = pytest.importorskip("pyarrow.parquet", reason="this pyarrow can't read Parquet")
    rows = [
        {"name": "refund", "arguments": '{"order_id": 1}', "given": None},
        {"name": "refund", "arguments": '{"order_id": 2}', "given": {"order_id": 2, "note": None}},
        {"name": "refund", "arguments": '{"order_id": 3}', "given": None},
    ]
    path = tmp_path / "calls.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)
    parts = list(parts_of(str(path)))
    assert [part.first for part in parts] == [1, 3]
    found = all_records(path)
    assert [line for line, _ in found] == [1, 2, 3]
    assert found[1][1] == {**rows[1], "given": {"order_id": 2}}
    assert [call.arguments for _, row in found for call in calls_in(row)] == [
        row["arguments"] for row in rows
    ]
    path.write_bytes(path.read_bytes()[:-20])
    ((_, broken),) = all_records(path)
    assert "it isn't a Parquet file that can be read" in broken.reason


def test_a_parquet_file_whose_middle_is_broken_is_told(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel here")
    parquet = pytest.importorskip("pyarrow.parquet", reason="this pyarrow can't read Parquet")
    path = tmp_path / "calls.parquet"
    table = pa.table(
        {"name": ["refund"] * 4, "arguments": [f'{{"order_id": {number}}}' for number in range(4)]}
    )
    parquet.write_table(table, path, row_group_size=2, compression="gzip", use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[60:90] = bytes(30)
    path.write_bytes(data)
    found = all_records(path)
    assert any(isinstance(value, Unreadable) for _, value in found)
    assert len([value for _, value in found if not isinstance(value, Unreadable)]) == 2


def test_values_of_columns_are_json_values():
    from datetime import UTC, datetime
    from decimal import Decimal

    value = {"at": datetime(2026, 1, 31, tzinfo=UTC), "paid": Decimal("1.50"), "data": b"hello", "none": None}
    assert json_of(value) == {"at": "2026-01-31T00:00:00+00:00", "paid": "1.50", "data": "aGVsbG8="}
    assert json_of([datetime(2026, 1, 31)]) == ["2026-01-31 00:00:00"]  # noqa: DTZ001  # a local one


# --- stores --------------------------------------------------------------------------------------


@tool(confirm=True)
def refund(order_id: int) -> str:
    """Pay back."""
    return str(order_id)


@pytest.mark.needs_threads
def test_waiting_rounds_and_transcripts_of_a_store_are_read(tmp_path):
    toolset = Toolset(refund)
    path = tmp_path / "rounds.db"
    store = SqliteStore(path)
    executor = Executor(toolset, store=store)
    calls = [RawCall("1", "refund", '{"order_id": 1}'), RawCall("2", "refund", {"order_id": "two"})]
    done = toolset.offer().round(calls, assistant={"tool_calls": [{"name": "refund", "arguments": "{}"}]})
    store.transcript("a").append({"role": "user", "content": "hello"})
    waiting = executor.run_sync(done)
    kept = executor.run_sync(waiting.approve("1"))
    kept.commit(store.transcript("a"))
    executor.run_sync(toolset.offer().round([RawCall("3", "refund", {"order_id": 3, "note": "\ud800"})]))
    found = [call for _, record in all_records(path) for call in calls_in(record)]
    assert [(call.name, call.arguments) for call in found] == [
        ("refund", '{"order_id": 1}'),
        ("refund", {"order_id": "two"}),
        ("refund", {"order_id": 3, "note": "\ud800"}),
    ]


def test_another_database_is_told(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE items (position INTEGER, turn TEXT, item TEXT)")
        db.execute("INSERT INTO items VALUES (1, 'a', '{}')")
    db.close()
    ((_, found),) = all_records(path)
    assert "contains something other than turns and rounds" in found.reason
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE items")
    db.close()
    ((_, found),) = all_records(path)
    assert "can't be used" in found.reason
