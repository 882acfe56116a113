"""The engines dask and ray give the bytes that one process gives, also when a worker dies."""

from __future__ import annotations

import gzip
import json
import os
import sys

import pytest
from engine_work import DiesAlways, DiesOnce, Fails, Order, Square

from operator_schema import tool
from operator_schema.recordings import log_parts
from operator_schema.workbench.bulk import decode_lines
from operator_schema.workbench.cli import main
from operator_schema.workbench.compare import snapshot_of
from operator_schema.workbench.compare.parallel_engines import EngineError, Lost, make_engine

# Starting may take long on a machine that is busy.
os.environ["RAY_raylet_start_wait_time_s"] = "300"  # noqa: SIM112  # its name
CALLS = [
    {"name": "refund", "arguments": {"order": 1, "amount": 2, "why": "x"}},
    {"name": "refund", "arguments": '{"order": "7", "amount": 2}'},
    {"name": "refund", "arguments": {"order": 1}},
    {"name": "gone", "arguments": {}},
]


@tool
def refund(order: int, amount: float) -> str:
    """Pay back."""
    return f"{order} {amount}"


@pytest.fixture(scope="module", params=["dask", "ray"])
def cluster(request):
    """Return name and scheduler of a cluster of two workers, which is started once."""
    if request.param == "dask":
        import dask
        from distributed import LocalCluster

        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 2}),
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as started,
        ):
            yield "dask", started.scheduler_address
    else:
        import ray

        environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=environment)
        yield "ray", None  # what is started already is used
        ray.shutdown()


def engine_of(cluster):
    name, scheduler = cluster
    return make_engine(name, scheduler=scheduler)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Return how to replay two files, one broken and one cut, in several parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(log_parts, "PART_SIZE", 3_000)
    monkeypatch.setattr(log_parts, "CHUNK", 3_000)
    # A file is read here: the workers needn't be able to import a module.
    (tmp_path / "engine_desk.json").write_text(snapshot_of([refund]).as_text())
    text = "".join(f"{json.dumps(call)}\n" for call in CALLS) * 50
    (tmp_path / "a.jsonl").write_text(f"{text}{{broken\n{text}")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(text.encode())[:-4])

    def replay(capsys, *words):
        given = [
            "a.jsonl",
            "b.jsonl.gz",
            "--against",
            "engine_desk.json",
            "--json",
            "--output",
            "calls.parquet",
        ]
        status = main(["replay", *given, *words])
        out, err = capsys.readouterr()
        return status, out, err, (tmp_path / "calls.parquet").read_bytes()

    return replay


def test_a_replay_gives_the_same_bytes(desk, capsys, cluster):
    engine, scheduler = cluster
    status, out, _, table = desk(capsys, "--workers", "1")
    assert json.loads(out)["calls"] == 600
    assert json.loads(out)["unreadable"]["count"] == 2
    words = ["--engine", engine, *(["--scheduler", scheduler] if scheduler else [])]
    assert desk(capsys, *words) == (status, out, "", table)


def test_decode_lines_gives_the_same_batches(tmp_path, monkeypatch, cluster):
    engine, scheduler = cluster
    monkeypatch.setattr(log_parts, "PART_SIZE", 3_000)
    monkeypatch.setattr(log_parts, "CHUNK", 3_000)
    path = tmp_path / "orders.jsonl"
    lines = [
        json.dumps({"id": number if number % 7 else str(number), "item": "x"}) for number in range(1_000)
    ]
    path.write_text("\n".join(lines))
    alone = list(decode_lines(Order, path))
    assert list(decode_lines(Order, path, engine=engine, scheduler=scheduler)) == alone


def test_a_worker_that_dies_loses_nothing_and_counts_nothing_twice(tmp_path, cluster):
    found = list(engine_of(cluster).map(DiesOnce(str(tmp_path)), range(40)))
    assert (tmp_path / "died").exists()
    assert found == [(number, number) for number in range(40)]


def test_a_part_that_always_kills_its_worker_is_lost(cluster):
    found = list(engine_of(cluster).map(DiesAlways(), range(12)))
    assert [part for part, _ in found] == list(range(12))
    assert 9 in [part for part, result in found if isinstance(result, Lost)]


def test_what_the_work_raises_is_raised(cluster):
    with pytest.raises(LookupError, match="7"):
        list(engine_of(cluster).map(Fails(), range(12)))


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_an_engine_starts_a_cluster_of_its_own(name):
    found = list(make_engine(name, 1).map(Square(), range(9)))
    assert found == [(number, number**2) for number in range(9)]


def test_a_scheduler_that_doesnt_answer_is_told():
    import dask

    refused = pytest.raises(EngineError, match=r"no scheduler of dask answers at tcp://127\.0\.0\.1:9")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), refused:
        list(make_engine("dask", scheduler="tcp://127.0.0.1:9").map(Square(), range(9)))
