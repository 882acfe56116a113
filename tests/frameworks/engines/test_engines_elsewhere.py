"""The engines dask and ray give the bytes that one process gives, also when a worker dies."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from operator_schema.bulk import decode_lines
from operator_schema.cli import main
from operator_schema.compare import logs
from operator_schema.compare.engines import EngineError, Lost, make_engine

ENGINES = ["dask", "ray"]
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


@dataclass
class Order:
    id: int
    item: str


class Square:
    """Squares a number."""

    def __call__(self, number):
        return number * number


class DiesOnce:
    """Kills its process at one number, the first time."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, number):
        if number == 5:
            flag = Path(self.folder) / "died"
            if not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return number


class DiesAlways:
    """Kills its process at one number."""

    def __call__(self, number):
        if number == 9:
            os.kill(os.getpid(), signal.SIGKILL)
        return number


class Fails:
    """Raises an exception at one number."""

    def __call__(self, number):
        if number == 7:
            raise LookupError(number)
        return number


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Return how to replay two files, one broken and one cut, in several parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logs, "PART_SIZE", 3_000)
    monkeypatch.setattr(logs, "_CHUNK", 3_000)
    (tmp_path / "engine_desk.py").write_text(TOOLS)
    text = "".join(f"{json.dumps(call)}\n" for call in CALLS) * 50
    (tmp_path / "a.jsonl").write_text(f"{text}{{broken\n{text}")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-4])

    def replay(capsys, *words):
        sys.modules.pop("engine_desk", None)
        given = ["a.jsonl", "b.jsonl.gz", "--against", "engine_desk", "--json", "--output", "calls.parquet"]
        status = main(["replay", *given, *words])
        out, err = capsys.readouterr()
        return status, out, err, (tmp_path / "calls.parquet").read_bytes()

    return replay


@pytest.mark.parametrize("engine", ENGINES)
def test_a_replay_gives_the_same_bytes(desk, capsys, engine):
    status, out, _, table = desk(capsys, "--workers", "1")
    assert json.loads(out)["calls"] == 600
    assert json.loads(out)["unreadable"]["count"] == 2
    assert desk(capsys, "--engine", engine, "--workers", "2")[:2] == (status, out)
    assert desk(capsys, "--engine", engine, "--workers", "2")[3] == table


@pytest.mark.parametrize("engine", ENGINES)
def test_decode_lines_gives_the_same_batches(tmp_path, monkeypatch, engine):
    monkeypatch.setattr(logs, "PART_SIZE", 3_000)
    monkeypatch.setattr(logs, "_CHUNK", 3_000)
    path = tmp_path / "orders.jsonl"
    lines = [json.dumps({"id": number if number % 7 else str(number), "item": "x"}) for number in range(1_000)]
    path.write_text("\n".join(lines))
    alone = list(decode_lines(Order, path))
    assert pickle.dumps(list(decode_lines(Order, path, engine=engine, workers=2))) == pickle.dumps(alone)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_that_dies_loses_nothing_and_counts_nothing_twice(tmp_path, engine):
    found = list(make_engine(engine, 2).map(DiesOnce(str(tmp_path)), range(40)))
    assert (tmp_path / "died").exists()
    assert found == [(number, number) for number in range(40)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_part_that_always_kills_its_worker_is_lost(engine):
    found = list(make_engine(engine, 2).map(DiesAlways(), range(12)))
    assert [part for part, _ in found] == list(range(12))
    assert 9 in [part for part, result in found if isinstance(result, Lost)]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_the_work_raises_is_raised(engine):
    with pytest.raises(LookupError, match="7"):
        list(make_engine(engine, 2).map(Fails(), range(12)))


def test_a_cluster_that_runs_already_is_used():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        engine = make_engine("dask", scheduler=cluster.scheduler_address)
        assert list(engine.map(Square(), range(9))) == [(number, number**2) for number in range(9)]
        assert len(cluster.workers) == 1


def test_a_scheduler_that_doesnt_answer_is_told(monkeypatch):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        with pytest.raises(EngineError, match="no scheduler of dask answers at tcp://127.0.0.1:9"):
            list(make_engine("dask", scheduler="tcp://127.0.0.1:9").map(Square(), range(9)))
