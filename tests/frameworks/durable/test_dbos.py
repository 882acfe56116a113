"""A workflow of DBOS that dies while a person decides, and in the middle of a call."""

from __future__ import annotations

import pytest
from engines import environment_of, finished, ran
from postgres_server import PostgresServer, is_installed

CASES = [("sqlite", False), ("sqlite", True), ("postgres", True)]


@pytest.fixture(params=CASES, ids=["sqlite without a store", "sqlite", "postgres"])
def program(request, tmp_path):
    name, is_stored = request.param

    def run(word, status=0):
        return finished("dbos_desk.py", word, environment=environment, status=status)

    run.is_stored = is_stored
    if name == "sqlite":
        database = f"sqlite:///{tmp_path}/dbos.sqlite"
        environment = environment_of(tmp_path, is_stored=is_stored, DATABASE=database, WORKFLOW="A7")
        yield run
        return
    if not is_installed():
        pytest.skip("PostgreSQL isn't installed on this machine: apt-get install postgresql")
    with PostgresServer() as server:
        database = f"postgresql://desk@/dbos?host={server.folder}"
        environment = environment_of(tmp_path, is_stored=is_stored, DATABASE=database, WORKFLOW="A7")
        yield run


def test_a_step_that_died_pays_once_with_a_store_and_twice_without(program, tmp_path):
    program("begin", 3)  # it dies while a person decides
    assert ran(tmp_path) == ["look"]
    (tmp_path / "dies in pay").touch()
    program("decide", 9)
    assert program("wait") == ("waits" if program.is_stored else "done")
    assert ran(tmp_path) == ["look", "pay", *([] if program.is_stored else ["pay"])]
