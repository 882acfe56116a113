"""Work on parts in several processes, of which any may die."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import pytest
from engine_work import DiesAlways, DiesOnce, Fails, Where

from operator_schema.workbench.compare.parallel_engines import EngineError, Lost, make_engine

NUMBERS = list(range(12))


@pytest.fixture(autouse=True)
def _main(monkeypatch):
    """Have a main module that is no file: each process would import that of pytest."""
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))


@pytest.mark.needs_process
@pytest.mark.slow("starts processes")
def test_results_come_in_order_from_several_processes():
    found = list(make_engine("plain", 2).map(Where(), iter(NUMBERS)))
    assert [part for part, _ in found] == NUMBERS
    assert os.getpid() not in {process for _, process in found}


def test_with_one_worker_everything_happens_here():
    found = list(make_engine("plain", 1).map(Where(), NUMBERS))
    assert {process for _, process in found} == {os.getpid()}


def test_a_few_parts_need_no_processes():
    found = list(make_engine("plain", 2).map(Where(), [1, 2, 3]))
    assert {process for _, process in found} == {os.getpid()}


@pytest.mark.needs_process
@pytest.mark.slow("starts processes")
def test_a_process_that_dies_loses_nothing_and_counts_nothing_twice(tmp_path):
    found = list(make_engine("plain", 2).map(DiesOnce(str(tmp_path)), NUMBERS))
    assert (tmp_path / "died").exists()
    assert found == [(number, number) for number in NUMBERS]


@pytest.mark.needs_process
@pytest.mark.slow("starts processes")
def test_a_part_that_always_kills_its_process_is_lost_alone():
    found = list(make_engine("plain", 2).map(DiesAlways(), NUMBERS))
    assert [part for part, _ in found] == NUMBERS
    assert [part for part, result in found if isinstance(result, Lost)] == [9]
    assert "died 3 times" in found[9][1].reason


@pytest.mark.needs_process
@pytest.mark.slow("starts processes")
def test_what_the_work_raises_is_raised():
    with pytest.raises(LookupError, match="7"):
        list(make_engine("plain", 2).map(Fails(), NUMBERS))


def test_a_scheduler_belongs_to_dask_or_ray():
    with pytest.raises(EngineError, match="choose dask or ray"):
        make_engine("plain", scheduler="tcp://127.0.0.1:8786")


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_an_engine_that_isnt_installed_is_told(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EngineError, match=rf"pip install 'operator-schema\[{name}\]'"):
        make_engine(name)


@pytest.mark.parametrize("name", ["daks", "", None, []])
def test_an_engine_that_doesnt_exist_is_told(name):
    with pytest.raises(EngineError, match="engine must be one of plain, dask, ray, not "):
        make_engine(name)


def test_the_engine_that_was_meant_is_named():
    with pytest.raises(EngineError, match="did you mean dask"):
        make_engine("daks")


@pytest.mark.parametrize("workers", [0, -3, 10_001, "a", 1.5, True])
@pytest.mark.parametrize("name", ["plain", "dask", "ray"])
def test_a_wrong_number_of_workers_is_told(name, workers):
    with pytest.raises(EngineError, match="workers must be a whole number from 1 to 10,000, not "):
        make_engine(name, workers)
