"""The command `inspect`, in a process of its own: modules, MCP servers, files beside them, and reloads."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import forking_tools
import pytest
import warm_processes
from forking_tools import ANSWERS, CALLS
from page_client import Client
from patience import LONGEST_WAIT, wait_until

from operator_schema import Executor, RawCall
from operator_schema.rounds import SqliteStore
from operator_schema.workbench.cli import main

pytestmark = [pytest.mark.needs_process, pytest.mark.needs_threads]
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="the SDK isn't on every Python")


@pytest.fixture
def folder(tmp_path):
    shutil.copy(Path(__file__).with_name("help_desk.py"), tmp_path)
    return tmp_path


@pytest.fixture
def start(folder):
    """Start the command, and return a client of its page."""
    processes, readers = [], []

    def started(*words, **environment):
        process = subprocess.Popen(
            [*warm_processes.command(serves=True), "inspect", *words],
            cwd=folder,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        processes.append(process)
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("http://"):
                break
        else:
            pytest.fail("".join(said))
        client = Client(said[-1].strip())
        client.process, client.said = process, said
        reader = threading.Thread(target=lambda: said.extend(process.stderr))
        reader.start()
        readers.append(reader)
        return client

    yield started
    for process in processes:
        process.send_signal(signal.SIGINT)
        assert process.wait(LONGEST_WAIT) == 130
        assert process.stdout.read() == ""
        process.stdout.close()
    for reader, process in zip(readers, processes, strict=True):
        reader.join(LONGEST_WAIT)
        process.stderr.close()


def reaches(client, version):
    def found():
        state = client.get("state")
        return state if state["version"] >= version or state["problem"] is not None else None

    state = wait_until(found)
    assert state, f"there is no version {version}"
    return state


@pytest.mark.slow("it starts processes")
def test_a_module_with_all_that_can_be_beside_it(start, folder):
    (folder / "calls.jsonl").write_text('{"name": "refund", "arguments": {"order_id": 1, "amount": "ten"}}\n')
    sys.path.insert(0, str(folder))
    import help_desk

    store = SqliteStore(folder / "desk.db", secret=b"sixteen bytes or more")
    call = RawCall("1", "refund", {"order_id": 1, "amount": 3})
    Executor(help_desk.toolset, store=store).run_sync(help_desk.toolset.offer().round([call]))
    words = [
        "--calls",
        "calls.jsonl",
        "--tried",
        "tried.jsonl",
        "--store",
        "desk.db",
        "--secret-env",
        "SECRET",
    ]
    page = start(*words, "help_desk:toolset", SECRET="sixteen bytes or more")  # noqa: S106  # a test's own
    state = page.get("state")
    assert (state["name"], state["waiting"], state["recorded"]) == ("help_desk:toolset", 1, "calls.jsonl")
    assert "amount: " in page.get("recorded")["failing"][0]["text"]
    (work,) = page.get("waiting")["rounds"]
    assert work["problem"] is None
    page.post("tried/keep", {"tool": "export", "arguments": '{"rows": 1}'})
    assert json.loads((folder / "tried.jsonl").read_text())["name"] == "export"
    assert page.said[0] == "operator-schema: 5 tools of help_desk:toolset\n"


@pytest.mark.slow("it starts processes")
def test_a_change_of_the_source_is_shown_and_tried_calls_are_replayed(start, folder):
    page = start("help_desk")
    page.post("tried/keep", {"tool": "export", "arguments": '{"rows": "3"}'})
    file = folder / "help_desk.py"
    source = file.read_text()
    file.write_text(source.replace("async def export(rows: int,", "async def export(rows: int | str,"))
    assert reaches(page, 2)["problem"] is None
    assert page.get("tried")["summary"] == "1 of 1 reads differently now"
    file.write_text("def broken(")
    assert "SyntaxError" in reaches(page, 3)["problem"]
    assert page.get("catalogue")["tools"]  # the tools stay as they were
    file.write_text(source)
    assert wait_until(lambda: page.get("state")["problem"] is None)
    assert page.get("tried")["summary"] == "0 of 1 read differently now"


@pytest.mark.slow("it starts processes")
def test_a_tool_that_starts_and_ends_processes(start, folder):
    shutil.copy(forking_tools.__file__, folder)
    page = start("forking_tools:registry")
    answers = [page.run({"tool": name, "arguments": json.dumps(given)})[-1]["done"] for name, given in CALLS]
    contents = [answer["result"]["content"] for answer in answers]
    assert [text if text.startswith("ended") else json.loads(text) for text in contents] == ANSWERS


@pytest.mark.slow("it starts processes")
@needs_mcp
def test_a_server_of_somebody_else(start, folder):
    page = start(f"mcp:{shlex.join(warm_processes.command(serves=True))} serve help_desk:toolset")
    found = page.get("catalogue?provider=gemini")
    assert {tool["name"] for tool in found["tools"]} == {
        *("find_articles", "create_order", "refund", "choose_seat", "export"),
    }
    needed = {tool["name"]: tool["needs_agreement"] for tool in found["tools"]}
    assert needed["refund"]
    assert needed["export"]  # it doesn't say that it is harmless
    assert not needed["find_articles"]
    done = page.run({"tool": "find_articles", "arguments": '{"text": "rye", "limit": 1}'})[-1]["done"]
    assert done["result"]["content"] == '["How to rye"]'
    call = {"tool": "export", "arguments": '{"rows": 2}'}
    agreement = page.run(call)[-1]["done"]["agreement"]
    events = page.run({**call, "agreement": agreement})
    assert events[-1]["done"]["result"]["parts"][1]["media_type"] == "image/png"
    told = [event["progress"]["message"] for event in events if "progress" in event]
    assert told == ["row 1", "row 2"]
    form = page.get("tool?name=create_order")["form"]
    assert form["root"]["kind"] == "object"


@pytest.mark.slow("it starts processes")
@needs_mcp
def test_a_server_by_its_url(start, folder):
    with subprocess.Popen(
        [*warm_processes.command(serves=True), "serve", "--http", "--port", "0", "help_desk:toolset"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        url = next(line.split()[-1] for line in server.stderr if "http://" in line)
        page = start(url)
        assert len(page.get("catalogue")["tools"]) == 5
        page.process.send_signal(signal.SIGINT)
        page.process.wait(LONGEST_WAIT)
        server.terminate()


@pytest.fixture
def refused(folder, monkeypatch, capsys):
    """Call the command as it should not be called, and return what it says."""
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.path_importer_cache, "", raising=False)

    def call(*words, status=2):
        assert main(["inspect", *words]) == status
        out, err = capsys.readouterr()
        assert out == ""
        return err

    yield call
    sys.modules.pop("empty", None)


def test_wrong_use_says_what_is_right(refused, folder, monkeypatch):
    (folder / "empty.py").write_text("")
    (folder / "not.db").write_text("hello " * 1000)
    (folder / "bad.jsonl").write_text("x")
    assert "Missing argument 'TARGET'" in refused()
    assert "unexpected extra argument" in refused("desk", "http://127.0.0.1:9/mcp")
    assert "no tools in empty: decorate functions with @tool" in refused("empty")
    assert "--context is for your own tools" in refused("--context", "a:b", "https://x.example/mcp")
    assert "--tried bad.jsonl can't be used: line 1" in refused("--tried", "bad.jsonl", "help_desk")
    assert "error: --store: the store not.db can't be used" in refused("--store", "not.db", "help_desk")
    assert "--secret-env is for --store" in refused("--secret-env", "X", "help_desk")
    (folder / "own.db").touch()
    assert "the variable NO, which should hold the secret, isn't set" in refused(
        "--store", "own.db", "--secret-env", "NO", "help_desk"
    )
    monkeypatch.setenv("SHORT", "x")
    assert "can't be used" in refused("--store", "own.db", "--secret-env", "SHORT", "help_desk")
    assert "--calls: there is no file none.jsonl" in refused("--calls", "none.jsonl", "help_desk")
    for text, why in (
        ("", "it is empty"),
        ('{"a": 1}\n{"b": 2}\n', "record 1: there is no call in it"),
        ("\x00\n", "record 1: it isn't JSON"),
    ):
        Path("no_calls.jsonl").write_text(text)
        said = refused("--calls", "no_calls.jsonl", "help_desk")
        assert f"--calls no_calls.jsonl can't be used: it has no calls ({why}" in said
    assert "--store: there is no file none.db" in refused("--store", "none.db", "help_desk")
    assert not (folder / "none.db").exists()
    assert "no module nowhere" in refused("nowhere")
    for seconds in ("nan", "0", "soon"):
        assert f"{seconds!r} isn't a number of seconds above 0" in refused("--timeout", seconds, "help_desk")


def test_a_place_where_no_tried_calls_can_be_kept_is_refused_at_the_start(refused, folder):
    (folder / "loop").symlink_to("loop")
    (folder / "astray").symlink_to("nowhere/tried.jsonl")
    os.mkfifo(folder / "pipe")
    start = "operator-schema: error: --tried"
    nowhere = (folder / "nowhere").resolve()
    for path, reason in {
        "loop": "it is a link that leads to itself",
        "nowhere/tried.jsonl": f"there is no folder {nowhere}",
        "astray": f"there is no folder {nowhere}",
        "help_desk.py/tried.jsonl": f"{(folder / 'help_desk.py').resolve()} isn't a folder",
        "pipe": "pipe isn't a file",
    }.items():
        assert refused("--tried", path, "help_desk") == f"{start} {path} can't be used: {reason}\n"
    assert not list(folder.glob(".*.new"))


@needs_mcp
def test_a_server_that_can_not_be_reached(refused):
    missing = "the command no-such-program isn't found"
    assert missing in refused("no-such-program x")
    assert missing in refused("mcp:no-such-program x")
    assert "'open isn't a command: No closing quotation" in refused("mcp:'open")
    assert 'write the command after "mcp:"' in refused("mcp:")
    assert "the MCP server http://127.0.0.1:9/mcp can't be used: " in refused("http://127.0.0.1:9/mcp")


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_what_is_not_installed_is_named(refused, monkeypatch, missing):
    ours = ("operator_schema.workbench.inspector", "operator_schema.adapters.http_requests")
    for name in [name for name in sys.modules if name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    for name in [name for name in sys.modules if name.startswith(f"{missing}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install 'operator-schema[inspector]'" in refused("help_desk")


def test_an_address_that_is_taken(refused):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        message = f"can't serve on 127.0.0.1, port {port}: Address already in use: give another --port"
        assert f"{message}, or --port 0 for any that is free" in refused("--port", str(port), "help_desk")


def test_a_program_is_not_taken_for_a_module(refused, tmp_path):
    program = tmp_path / "my server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    way = "to start this program as an MCP server, write mcp:"
    assert way in refused("true")
    assert way not in refused("no_such_module")
    program = program.rename(tmp_path / "server")
    assert f"{way}{program}" in refused(str(program))


HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "starlette":
            raise ModuleNotFoundError("No module named 'starlette'", name=name)
sys.meta_path.insert(0, Hidden())
from operator_schema.workbench.inspector import serve_inspector
"""


@pytest.mark.needs_process
def test_in_a_program_the_extra_that_is_missing_is_named():
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=False)
    said = "to open the inspector, install the extra: pip install 'operator-schema[inspector]'"
    assert done.stderr.splitlines()[-1] == f"ModuleNotFoundError: {said}"
