"""Logs of any length, decoded into columns: no line is lost, and memory doesn't grow."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_schema import Codec, Registry, Toolset, tool
from operator_schema.errors import DuplicateToolError

pa = pytest.importorskip("pyarrow", reason="pyarrow has no wheel here")

from operator_schema.recordings import log_parts, log_records  # noqa: E402  # the same
from operator_schema.workbench.bulk import (  # noqa: E402  # needs pyarrow
    ColumnError,
    arrow_schema,
    decode_lines,
    decoding,  # the same
)
from operator_schema.workbench.compare.parallel_engines import Lost  # noqa: E402  # the same

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Order:
    id: int
    item: str
    amount: float = 1.0


@tool
def refund(order_id: int, note: str = "") -> str:
    """Pay back."""
    return f"{order_id} {note}"


@tool
def cancel(order_id: int) -> str:
    """Cancel."""
    return str(order_id)


def written(path, *lines):
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def problems_of(batches):
    rows = [row for batch in batches for row in batch.problems.to_pylist()]
    return [(row["line"], row["path"], row["code"]) for row in rows]


def test_each_line_is_a_row_or_a_problem(tmp_path):
    path = written(
        tmp_path / "orders.jsonl",
        {"id": 1, "item": "a"},
        "{broken",
        {"id": "x", "item": 3},
        "",
        {"id": 2**63, "item": "b"},
        {"id": 2, "item": "c", "amount": 2.5},
    )
    (batch,) = decode_lines(Order, path)
    assert batch.rows.schema == arrow_schema(Order)
    assert batch.rows.to_pylist() == [
        {"id": 1, "item": "a", "amount": 1.0},
        {"id": 2, "item": "c", "amount": 2.5},
    ]
    assert batch.places.to_pylist() == [{"source": str(path), "line": 1}, {"source": str(path), "line": 6}]
    assert problems_of([batch]) == [
        (2, "", "unreadable"),
        (3, "id", "wrong_type"),
        (3, "item", "wrong_type"),
        (5, "id", "no_column"),
    ]
    assert "expected integer" in batch.problems.to_pylist()[1]["message"]


def test_rows_are_what_the_decoder_makes(tmp_path):
    lines = [{"id": number, "item": str(number), "amount": number / 3} for number in range(100)]
    path = written(tmp_path / "orders.jsonl", *lines)
    codec = Codec(Order)
    rows = [row for batch in decode_lines(Order, [path]) for row in batch.rows.to_pylist()]
    assert [codec.decode(row) for row in rows] == [codec.decode(line) for line in lines]


def test_repair_is_as_for_the_decoder(tmp_path):
    path = written(tmp_path / "orders.jsonl", {"id": "7", "item": "a"})
    (batch,) = decode_lines(Order, path, repair=True)
    assert batch.rows.to_pylist() == [{"id": 7, "item": "a", "amount": 1.0}]
    (batch,) = decode_lines(Codec(Order, repair=True), path)
    assert batch.rows.num_rows == 1


def test_calls_of_several_tools_have_columns_of_their_own(tmp_path):
    path = written(
        tmp_path / "calls.jsonl",
        {"name": "refund", "arguments": '{"order_id": 1}'},
        {"tool": "cancel", "arguments": {"order_id": 2}},
        {"name": "gone", "arguments": {}},
        {"role": "user"},
        {"name": "refund", "arguments": {"order_id": "3"}},
    )
    found = {batch.tool: batch for batch in decode_lines([refund, cancel], path)}
    for same in (Toolset(refund, cancel), Registry(refund, cancel)):
        assert list(decode_lines(same, path)) == list(found.values())
    assert found["refund"].rows.to_pylist() == [{"order_id": 1, "note": ""}]
    assert found["cancel"].rows.to_pylist() == [{"order_id": 2}]
    assert problems_of([found["refund"]]) == [(5, "order_id", "wrong_type")]
    assert problems_of([found[None]]) == [(3, "", "unknown_tool"), (4, "", "unreadable")]
    assert found[None].rows.num_rows == 0
    (batch, _) = decode_lines(refund, path, repair=True)
    assert batch.rows.column("order_id").to_pylist() == [1, 3]


LINES = [
    b'{"name": "refund", "arguments": {"order_id": 1}}',
    b'{"name": "refund", "arguments": "{\\"order_id\\": 2, \\"note\\": \\"a:b\\"}"}',
    b'{"tool": "cancel", "arguments": {"order_id": 3.0}}',
    b'{"name": "refund", "arguments": {"order_id": "4", "note": null}}',
    b'{"name": "refund", "arguments": {"order_id": 9223372036854775808}}',
    b'{"name": "refund", "arguments": {"order_id": 5, "order_id": 6}}',
    b'{"name": "refund", "arguments": {"order_id": 7, "note": "\\ud800"}}',
    b'{"name": "cancel", "arguments": {"order_id": NaN}}',
    b'[{"name": "cancel", "arguments": {"order_id": 8}}, {"name": "refund", "arguments": {"order_id": 9}}]',
    b'{"name": "gone", "arguments": {}}',
    b'{"role": "user"}',
    b"  \r",
    b"",
    b"\xff",
]


def collected(batches):
    """Return rows with their lines, and problems, by tool; of a batch, those of columns are the last ones."""
    rows, problems = {}, {}
    for batch in batches:
        places = batch.places.column("line").to_pylist()
        rows.setdefault(batch.tool, []).extend(zip(places, batch.rows.to_pylist(), strict=True))
        found = [tuple(row.values())[1:] for row in batch.problems.to_pylist()]
        problems.setdefault(batch.tool, []).extend(found)
    return {tool: found for tool, found in rows.items() if found}, {
        tool: sorted(found, key=lambda row: row[0]) for tool, found in problems.items() if found
    }


def damaged(line, place, other):
    return line[: place % (len(line) + 1)] + other + line[place % (len(line) + 1) + 1 :]


WHOLE = st.sampled_from(LINES)
DAMAGED = st.builds(damaged, WHOLE, st.integers(0, 80), st.sampled_from([b"", b'"', b"}", b"0"]))
SIZES = {"_BLOCK": [1, 60, 1 << 13], "_ROWS_AT_ONCE": [1, 2, 500], "_BATCH_ROWS": [1, 2, 10_000]}


@settings(max_examples=settings().max_examples // 2)
@given(
    lines=st.lists(WHOLE | DAMAGED, min_size=1, max_size=12),
    sizes=st.fixed_dictionaries({name: st.sampled_from(sizes) for name, sizes in SIZES.items()}),
)
def test_each_line_gives_what_it_gives_alone(tmp_path_factory, lines, sizes):
    path = tmp_path_factory.mktemp("calls") / "calls.jsonl"
    expected = ({}, {})
    for number, line in enumerate(lines, 1):
        path.write_bytes(b"\n" * (number - 1) + line)
        for whole, alone in zip(expected, collected(decode_lines([refund, cancel], path)), strict=True):
            for name, found in alone.items():
                whole.setdefault(name, []).extend(found)
    path.write_bytes(b"\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            patch.setattr(log_records if name == "_BLOCK" else decoding, name, size)
        assert collected(decode_lines([refund, cancel], path)) == expected


def test_a_tool_without_arguments_has_no_columns(tmp_path):
    @tool
    def everything() -> str:
        """List everything."""
        return ""

    calls = [{"name": name, "arguments": {}} for name in ("everything", "everything", "cancel")]
    path = written(tmp_path / "calls.jsonl", *calls)
    batches = {batch.tool: batch for batch in decode_lines([everything, cancel], path)}
    alone, other = batches["everything"], batches["cancel"]
    assert (alone.rows.num_rows, alone.rows.num_columns) == (2, 0)
    assert alone.places.to_pylist() == [{"source": str(path), "line": line} for line in (1, 2)]
    assert problems_of([alone, other]) == [(3, "order_id", "missing")]


def test_a_file_that_is_cut_is_a_problem_after_what_could_be_read(tmp_path):
    path = tmp_path / "orders.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 1, "item": "a"}\n{"id": 2, "item": "b"}\n')[:-4])
    batches = list(decode_lines(Order, path))
    assert [row["id"] for batch in batches for row in batch.rows.to_pylist()] == [1, 2]
    assert problems_of(batches) == [(3, "", "unreadable")]


def test_a_part_that_no_process_could_read_is_a_problem(tmp_path):
    from operator_schema.workbench.bulk.decoding import _Work

    work = _Work(Order, False, False, False, None, "run")
    (part,) = log_parts.parts_of(str(written(tmp_path / "a", {"id": 1, "item": "a"})))
    batch = work.lost(part, Lost("it died"))
    assert (batch.rows.num_rows, problems_of([batch])) == (0, [(1, "", "unreadable")])
    assert batch.rows.schema == arrow_schema(Order)


def test_two_tools_of_one_name_are_refused_and_one_may_come_twice(tmp_path):
    path = written(tmp_path / "calls.jsonl", {"name": "refund", "arguments": {"order_id": 1}})
    with pytest.raises(DuplicateToolError, match="refund"):
        decode_lines([refund, cancel.with_(name="refund")], path)
    (batch,) = decode_lines([refund, refund], path)
    assert batch.rows.to_pylist() == [{"order_id": 1, "note": ""}]


@pytest.mark.parametrize("given", [[], (), set(), {}, Toolset(), Registry()], ids=repr)
def test_a_collection_without_tools_is_told(tmp_path, given):
    with pytest.raises(TypeError, match=rf"the {type(given).__name__.lower()} has no tools: "):
        decode_lines(given, tmp_path / "calls.jsonl")


@pytest.mark.parametrize("given", [[Order], [cancel, print], (3,), {"cancel": None}, {"a"}], ids=repr)
def test_a_collection_of_something_else_is_told(tmp_path, given):
    with pytest.raises(TypeError, match="isn't a Tool"):
        decode_lines(given, tmp_path / "calls.jsonl")


def test_complaints_come_before_anything_is_read():
    with pytest.raises(ColumnError):
        decode_lines(int | str, "gone.jsonl")
    for source in (5, [5]):
        with pytest.raises(TypeError, match="the path of a log must be a string or a Path, not integer 5"):
            decode_lines(Order, source)


def test_a_source_is_a_path_and_not_what_the_file_contains(tmp_path):
    path = tmp_path / "orders.jsonl"
    path.write_text('{"id": 1}\n', encoding="utf-8")
    for source in ('{"id": 1}', [' {"id": 1}'], '{"items": ["a", "b"]}'):
        with pytest.raises(
            log_parts.LogError, match=r"is a line of JSON, not a file: give the path of a file"
        ):
            list(decode_lines(Order, source))
    with path.open(encoding="utf-8") as stream, pytest.raises(TypeError, match="must be a string or a Path"):
        decode_lines(Order, stream)


@pytest.mark.needs_process
@pytest.mark.slow("starts processes")
def test_two_processes_give_the_same_batches_as_one(tmp_path, monkeypatch):
    monkeypatch.setattr(log_parts, "PART_SIZE", 2_000)
    monkeypatch.setattr(log_parts, "CHUNK", 1_000)
    lines = [{"id": number if number % 7 else str(number), "item": "x"} for number in range(1_000)]
    path = written(tmp_path / "orders.jsonl", *lines)
    one, two = [list(decode_lines(Order, path, workers=workers)) for workers in (1, 2)]
    assert len(one) > 10
    assert pickle.dumps(one) == pickle.dumps(two)


PROGRAM = """
import re, sys
from dataclasses import dataclass
from operator_schema.workbench.bulk import decode_lines
from operator_schema.recordings import log_parts
log_parts.PART_SIZE = log_parts.CHUNK = 50_000
log_parts._GZIP_STEP = 1_000
@dataclass
class Order:
    id: int
    item: str
for path in sys.argv[1:]:
    rows = sum(batch.rows.num_rows for batch in decode_lines(Order, path))
    # Not `ru_maxrss`, which counts the process that started this one.
    print(rows, re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.needs_process
@pytest.mark.slow("measures memory of a process for files of two lengths")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a program")
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_memory_doesnt_grow_with_the_file(tmp_path, ending):
    # The shorter one has more than one part already. The peak never falls: so it comes first.
    numbers = (8_000, 48_000)
    paths = [tmp_path / f"{number}.{ending}" for number in numbers]
    for number, path in zip(numbers, paths, strict=True):
        data = b"".join(b'{"id": %d, "item": "%s"}\n' % (each, b"x" * 50) for each in range(number))
        path.write_bytes(gzip.compress(data, 1) if ending.endswith("gz") else data)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    (first, low), (second, high) = [map(int, line.split()) for line in done.stdout.splitlines()]
    assert (first, second) == numbers
    assert high < low + 1_000, (low, high)  # kilobytes; the longer file has 2,500 more
