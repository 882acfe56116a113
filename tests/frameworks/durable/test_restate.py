"""A workflow of Restate whose process dies in the middle of a call, and is started again."""

from __future__ import annotations

import sys

import httpx
import pytest
from engines import HERE, environment_of, free_port, ran, running
from npm_programs import installed_from_npm
from patience import LONGEST_WAIT, wait_until

VERSION = "1.7.12"


def post(url, value=None):
    body = {} if value is None else {"json": value}
    response = httpx.post(url, timeout=LONGEST_WAIT, **body).raise_for_status()
    return response.json() if response.content else None


def answers(url):
    try:
        return httpx.get(url, timeout=LONGEST_WAIT).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("restate")
    program = installed_from_npm("@restatedev/restate-server", VERSION) / "node_modules/.bin/restate-server"
    admin, ingress = free_port(), free_port()
    environment = environment_of(folder, is_stored=False, RESTATE_TELEMETRY="false")
    environment |= {
        "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{admin}",
        "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{ingress}",
        "RESTATE_BIND_ADDRESS": f"127.0.0.1:{free_port()}",
        "RESTATE_BASE_DIR": str(folder / "data"),
    }
    with running([str(program), "--node-name", "one"], folder, environment):
        assert wait_until(lambda: answers(f"http://127.0.0.1:{admin}/health"))
        yield f"http://127.0.0.1:{admin}", f"http://127.0.0.1:{ingress}"


@pytest.mark.parametrize("is_stored", [True, False], ids=["with a store", "without a store"])
def test_a_step_that_died_pays_once_with_a_store_and_twice_without(tmp_path, server, is_stored):
    admin, ingress = server
    port, environment = free_port(), environment_of(tmp_path, is_stored=is_stored)
    app = [sys.executable, "-m", "uvicorn", "--app-dir", str(HERE), "restate_desk:app", "--port", str(port)]
    workflow = f"{ingress}/desk/{tmp_path.name}"

    def waits():
        return [call["reason"] for call in post(f"{workflow}/waits")]

    with running(app, tmp_path, environment) as process:
        assert wait_until(lambda: answers(f"http://127.0.0.1:{port}/health"))
        post(f"{admin}/deployments", {"uri": f"http://127.0.0.1:{port}", "use_http_11": True, "force": True})
        post(f"{workflow}/turn/send", "A7")
        assert wait_until(waits)
        assert "confirm=True" in waits()[0]
        (tmp_path / "dies in pay").touch()
        yes = {"call": "2", "approve": True, "by": "anna"}
        post(f"{workflow}/decide", {"number": 1, "decisions": [yes]})
        assert process.wait(LONGEST_WAIT) == 9
    with running(app, tmp_path, environment):
        if is_stored:
            assert wait_until(lambda: "interrupted" in "".join(waits()))
        else:
            assert wait_until(lambda: not waits())
    assert ran(tmp_path) == ["look", "pay", *([] if is_stored else ["pay"])]
