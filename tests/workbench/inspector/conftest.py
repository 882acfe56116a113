"""What the tests of the inspector start from: a desk with tools, and a page that is served."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import help_desk
from page_client import Client
from patience import LONGEST_WAIT, at_most

from operator_schema.workbench.inspector import Inspector, subject_of

_SERVED = ["test_http.py", "test_inspect_command.py"]

# Some need a browser, which `make test-browser` installs; some need a server, which isn't on every Python.
collect_ignore = [
    *([] if "INSPECTOR_BROWSER" in os.environ else ["test_in_browser.py", "test_inbox_in_browser.py"]),
    *([] if find_spec("starlette") and find_spec("uvicorn") else _SERVED),
]


@pytest.fixture(autouse=True)
def _ends():
    """No test waits for ever, whatever a server does not say."""
    with at_most(2 * LONGEST_WAIT):
        yield


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright  # only `make test-browser` installs it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ["INSPECTOR_BROWSER"], args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def subject():
    help_desk.PAID.clear()
    return subject_of("help_desk:toolset", help_desk.toolset)


@contextmanager
def servers():
    """Yield a function that serves what is inspected with a real server, and returns a client."""
    import asyncio

    from operator_schema.workbench.inspector import serve_inspector

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
        assert ready.wait(LONGEST_WAIT)
        return Client(address[0])

    yield start
    for loop, task, thread in ends:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(LONGEST_WAIT)


@pytest.fixture
def serve():
    with servers() as start:
        yield start


@pytest.fixture
def page(serve, subject):
    return serve(Inspector(subject))


@pytest.fixture(scope="module")
def one_page():
    """A page that several tests ask, and none changes: a server takes a fifth of a second to end."""
    with servers() as start:
        yield start(Inspector(subject_of("help_desk:toolset", help_desk.toolset)))
