"""A flow of Prefect that dies in the middle of a call, and runs again."""

from __future__ import annotations

import sys

import httpx
import pytest
from engines import environment_of, finished, free_port, ran, running
from patience import wait_until


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("prefect"), free_port()
    environment = environment_of(folder, is_stored=False, PREFECT_HOME=str(folder / "home"))
    environment |= {"PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    server = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port), "--no-services"]

    def answers():
        try:
            return httpx.get(f"http://127.0.0.1:{port}/api/health").is_success
        except httpx.HTTPError:
            return False

    with running(server, folder, environment):
        assert wait_until(answers), (folder / "python.log").read_text()
        yield f"http://127.0.0.1:{port}/api"


@pytest.mark.parametrize("is_stored", [True, False], ids=["with a store", "without a store"])
def test_a_task_that_died_pays_once_with_a_store_and_twice_without(tmp_path, address, is_stored):
    about = {"PREFECT_API_URL": address, "PREFECT_HOME": str(tmp_path), "PREFECT_LOGGING_LEVEL": "ERROR"}
    environment = environment_of(tmp_path, is_stored=is_stored, **about)
    assert "confirm=True" in finished("prefect_desk.py", "begin", environment=environment)
    (tmp_path / "dies in pay").touch()
    finished("prefect_desk.py", "decide", environment=environment, status=9)
    shown = finished("prefect_desk.py", "decide", environment=environment)
    assert ("interrupted" in shown) == is_stored
    assert ran(tmp_path) == ["look", "pay", *([] if is_stored else ["pay"])]
