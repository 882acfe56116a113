"""What the tests of the inspector start from: a desk with tools, and a page that is served."""

from __future__ import annotations

import http.client
import json
import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import desk
from patience import at_most

from operator_schema.inspector import Inspector, subject_of

_SERVED = ["test_http.py", "test_inspect_command.py"]

# Some need a browser, which `make test-browser` installs; some need a server, which isn't on every Python.
collect_ignore = [
    *([] if "INSPECTOR_BROWSER" in os.environ else ["test_in_browser.py"]),
    *([] if find_spec("starlette") and find_spec("uvicorn") else _SERVED),
]
MOST_SECONDS = 90


@pytest.fixture(autouse=True)
def _ends():
    """No test waits for ever, whatever a server does not say."""
    with at_most(MOST_SECONDS):
        yield


@pytest.fixture
def subject():
    desk.PAID.clear()
    return subject_of("desk:toolset", desk.toolset)


class Client:
    """A client of a page that is served: it has the cookie, unless told otherwise."""

    def __init__(self, address):
        self.address = address
        place, _, query = address.removeprefix("http://").partition("/?")
        self.port = int(place.rpartition(":")[2])
        self.token = query.removeprefix("token=")
        status, headers, _ = self.ask("GET", f"/?token={self.token}", cookie=None)
        assert status == 200
        self.cookie = headers["set-cookie"].partition(";")[0]

    def ask(self, method, path, body=None, *, cookie="own", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {"Host": f"127.0.0.1:{self.port}"}
        if cookie is not None:
            sent["Cookie"] = self.cookie if cookie == "own" else cookie
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read().decode()
        finally:
            connection.close()

    def get(self, path, expected=200):
        status, _, text = self.ask("GET", f"/api/{path}")
        assert status == expected, text
        return json.loads(text)

    def post(self, path, body, expected=200):
        status, _, text = self.ask("POST", f"/api/{path}", json.dumps(body))
        assert status == expected, text
        return json.loads(text)

    def run(self, body):
        status, _, text = self.ask("POST", "/api/run", json.dumps(body))
        assert status == 200, text
        return [json.loads(line) for line in text.split("\n") if line]


@pytest.fixture
def serve():
    """Serve what is inspected with a real server, and return a client."""
    import asyncio

    from operator_schema.inspector import serve_inspector

    ends = []

    def start(inspector):
        ready, address = threading.Event(), []

        async def main():
            task = asyncio.ensure_future(
                serve_inspector(inspector, 0, lambda found: (address.append(found), ready.set()))
            )
            ends.append((asyncio.get_running_loop(), task, thread))
            await asyncio.gather(task, return_exceptions=True)

        thread = threading.Thread(target=lambda: asyncio.run(main()))
        thread.start()
        assert ready.wait(20)
        return Client(address[0])

    yield start
    for loop, task, thread in ends:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(20)


@pytest.fixture
def page(serve, subject):
    return serve(Inspector(subject))
