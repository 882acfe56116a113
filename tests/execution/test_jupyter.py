"""Calls from the cells of a Jupyter notebook: a real kernel, whose event loop runs."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from textwrap import dedent

import pytest
from patience import LONGEST_WAIT, wait_until

nbclient = pytest.importorskip("nbclient", reason="WebAssembly starts no kernel")
nbformat = pytest.importorskip("nbformat", reason="WebAssembly starts no kernel")

pytestmark = [pytest.mark.needs_process, pytest.mark.needs_threads]

TOOLS = """
import asyncio, contextvars, sqlite3, threading, time
from operator_schema import Executor, RawCall, tool

USER = contextvars.ContextVar("USER", default="nobody")
USER.set("ada")
connection = sqlite3.connect(":memory:")

@tool
async def who() -> str:
    "Say who."
    await asyncio.sleep(0.01)
    return USER.get()

@tool(name="who_sync")
def who_sync() -> str:
    "Say who."
    return USER.get()

@tool(threads=False)
def query() -> int:
    "Ask."
    return connection.execute("select 7").fetchone()[0]

executor = Executor([who, who_sync, query])
asyncio.get_running_loop()  # it runs, or this raises an exception
calls = [RawCall(name, name) for name in ("who", "who_sync", "query")]
print([result.content for result in executor.run_sync(calls)], flush=True)
"""

NAP = """
@tool
async def nap() -> None:
    "Sleep."
    print("ready", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.01)
        print("tidied up", flush=True)

sleeper = Executor([nap])
try:
    sleeper.run_sync(RawCall("1", "nap"))
except KeyboardInterrupt:
    threads = [thread for thread in threading.enumerate() if thread.name == "run_sync"]
    print("interrupted", sleeper.abandoned, threads)
"""

AGAIN = """
print((await executor.run(RawCall("1", "who"))).content, executor.run_sync(calls[0]).content)
"""


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedent(t)) for t in (TOOLS, NAP, AGAIN)])


@pytest.mark.slow("starts a kernel")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_cells_call_tools_and_an_interrupt_of_the_kernel_ends_a_call(notebook):
    client = nbclient.NotebookClient(notebook, timeout=LONGEST_WAIT, kernel_name="python3")
    nap = notebook.cells[1]

    def interrupt():
        wait_until(lambda: "ready" in printed(nap))
        os.kill(client.km.provisioner.pid, 2)

    interrupting = threading.Thread(target=interrupt)
    with client.setup_kernel():
        client.execute_cell(notebook.cells[0], 0)
        interrupting.start()
        client.execute_cell(nap, 1)
        interrupting.join()
        client.execute_cell(notebook.cells[2], 2)
    assert printed(notebook.cells[0]) == "['ada', 'ada', '7']\n"
    assert printed(nap) == "ready\ntidied up\ninterrupted 0 []\n"
    assert printed(notebook.cells[2]) == "ada ada\n"
