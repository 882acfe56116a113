"""The command replay on large logs: many files, a table of calls, several processes."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from operator_schema.recordings import log_parts

ROOT = Path(__file__).parents[3]
TOOLS = '''
from operator_schema import tool

@tool
def refund(order: int, amount: float) -> str:
    """Pay back."""
    return "ok"
'''
CALLS = [
    {"name": "refund", "arguments": {"order": 1, "amount": 2, "why": "x"}},
    {"name": "refund", "arguments": '{"order": "7", "amount": 2}'},
    {"name": "refund", "arguments": {"order": 1}},
    {"name": "gone", "arguments": {}},
]


@pytest.fixture
def replay(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "replay_desk.py").write_text(TOOLS)
    text = "".join(f"{json.dumps(call)}\n" for call in CALLS)
    (tmp_path / "a.jsonl").write_text(f"{text}{{broken\n")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-4])

    def command(*words):
        sys.modules.pop("replay_desk", None)
        return run("replay", *words, "--against", "replay_desk")

    yield command
    sys.modules.pop("replay_desk", None)


def test_all_files_of_a_pattern_are_one_report(replay):
    status, out, _ = replay("*.jsonl*")
    assert (status, out.splitlines()[-1]) == (1, "8 calls: 2 fit, 2 if repaired, 4 fail")
    assert "unreadable: a.jsonl:5: it isn't JSON" in out
    assert out.startswith("broken: b.jsonl.gz:5: the file ends, or is broken, here")
    assert "refund: why: ignored in 2 calls" in out


def test_a_call_with_several_problems_is_shown_once(replay, tmp_path):
    (tmp_path / "b.jsonl.gz").unlink()
    (tmp_path / "a.jsonl").write_text(json.dumps({"name": "refund", "arguments": {}}))
    shown = replay("a.jsonl")[1].splitlines()
    assert shown[2:5] == [
        "refund: order: missing in 1 call",
        "refund: amount: missing in 1 call",
        "  such as {}",
    ]
    assert [line for line in shown if line.startswith("  such as ")] == ["  such as {}"]


@pytest.mark.parametrize("lines", [1, 40])
def test_a_damaged_file_comes_before_its_lines(replay, tmp_path, lines):
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"{broken\n" * lines)[:-4])
    out = replay("b.jsonl.gz")[1].splitlines()
    assert out[0].startswith(f"broken: b.jsonl.gz:{lines + 1}: the file ends, or is broken, here")
    assert [line for line in out if line.endswith(" more")] == (["unreadable: 30 more"] if lines > 10 else [])


def test_a_pattern_without_files_is_wrong_use(replay):
    status, _, err = replay("*.zst")
    assert (status, "no file matches *.zst" in err) == (2, True)


def test_two_tools_of_one_name_are_wrong_use(replay, tmp_path):
    again = TOOLS.partition("@tool")[2].replace("refund", "pay_back")
    (tmp_path / "replay_desk.py").write_text(f'{TOOLS}\n@tool(name="refund"){again}')
    status, out, err = replay("a.jsonl")
    assert (status, out) == (2, "")
    assert 'tool "refund" already registered: replay_desk.refund and replay_desk.pay_back' in err


def test_a_scheduler_without_an_engine_is_wrong_use(replay):
    status, _, err = replay("a.jsonl", "--scheduler", "tcp://127.0.0.1:1")
    assert (status, "choose dask or ray" in err) == (2, True)


def test_the_table_has_a_row_for_each_call(replay, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel here")
    duckdb = pytest.importorskip("duckdb", reason="duckdb has no wheel here")
    assert replay("a.jsonl", "b.jsonl.gz", "--output", "calls.parquet")[0] == 1
    rows = parquet.read_table(tmp_path / "calls.parquet").to_pylist()
    assert len(rows) == 10
    assert rows[0] | {"paths": []} == {
        "source": "a.jsonl",
        "line": 1,
        "tool": "refund",
        "outcome": "fits",
        "codes": [],
        "paths": [],
        "repairs": [],
        "ignored": ["why"],
        "reason": None,
    }
    assert [(row["line"], row["outcome"]) for row in rows[:5]] == [
        (1, "fits"),
        (2, "repaired"),
        (3, "fails"),
        (4, "unknown"),
        (5, "unreadable"),
    ]
    assert (rows[1]["codes"], rows[1]["paths"], rows[1]["repairs"]) == (["wrong_type"], ["order"], ["scalar"])
    assert "it isn't JSON" in rows[4]["reason"]
    with duckdb.connect() as db:
        found = db.execute(
            f"SELECT outcome, count(*) FROM '{tmp_path / 'calls.parquet'}' GROUP BY 1 ORDER BY 1"  # noqa: S608  # our path
        ).fetchall()
    assert found == [("fails", 2), ("fits", 2), ("repaired", 2), ("unknown", 2), ("unreadable", 2)]
    assert not list(tmp_path.glob(".calls*"))


def test_the_question_of_the_page_to_duckdb_counts_the_codes(replay, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel here")
    duckdb = pytest.importorskip("duckdb", reason="duckdb has no wheel here")
    page = (ROOT / "docs" / "bulk.md").read_text(encoding="utf-8")
    question = re.search(r'^\$ duckdb -c "(.*)"$', page, re.MULTILINE)[1]
    replay("a.jsonl", "b.jsonl.gz", "--output", "calls.parquet")
    monkeypatch.chdir(tmp_path)
    with duckdb.connect() as db:
        found = db.execute(question).fetchall()
    assert sorted(found) == [("refund", "missing", 2), ("refund", "wrong_type", 2)]


@pytest.mark.parametrize(
    ("place", "said"),
    [("gone/x.parquet", "can't be written: No such file"), (".", ". is a folder: give a file")],
)
def test_a_table_that_cant_be_written_is_wrong_use(replay, place, said):
    pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel here")
    status, _, err = replay("a.jsonl", "--output", place)
    assert (status, said in err) == (2, True), err


LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # Python would keep what is cut of a compiled module
# As on a full disk, writing fails after some bytes.
resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
from operator_schema.workbench.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.needs_process
@pytest.mark.slow("starts a process")
@pytest.mark.usefixtures("replay")
def test_a_full_disk_leaves_the_old_table(tmp_path):
    pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel here")
    pytest.importorskip("resource", reason="only POSIX limits the size of files")
    (tmp_path / "calls.parquet").write_text("old")
    words = ["replay", "a.jsonl", "--against", "replay_desk", "--output", "calls.parquet"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "calls.parquet can't be written: File too large; nothing of it was kept" in done.stderr
    assert (tmp_path / "calls.parquet").read_text() == "old"
    assert not list(tmp_path.glob(".calls*"))


@pytest.mark.needs_process
@pytest.mark.slow("starts processes")
def test_two_processes_give_the_same_bytes_as_one(replay, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow.parquet", reason="pyarrow has no wheel here")
    (tmp_path / "long.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes() * 50)
    given = ("a.jsonl", "long.jsonl", "b.jsonl.gz", "--json", "--output", "calls.parquet", "--workers")
    found = []
    for workers, size in (("1", 4_000_000), ("1", 700), ("2", 700), ("2", 3_000)):
        monkeypatch.setattr(log_parts, "PART_SIZE", size)
        monkeypatch.setattr(log_parts, "CHUNK", min(size, 1 << 18))
        status, out, err = replay(*given, workers)
        assert (status, err) == (1, "")
        found.append((out, (tmp_path / "calls.parquet").read_bytes()))
    assert json.loads(found[0][0])["calls"] == 4 * 52
    assert all(each == found[0] for each in found)
