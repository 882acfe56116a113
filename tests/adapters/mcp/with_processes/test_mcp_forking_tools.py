"""A tool may start processes and end them: its server goes on, and so does each command that runs tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import forking_tools
import pytest
import warm_processes
from forking_tools import ANSWERS, CALLS, EXPECTED
from mcp import Client
from mcp_processes import environment, http_server, raw_server
from patience import LONGEST_WAIT

pytestmark = [
    pytest.mark.slow("starts servers, whose tools start processes"),
    pytest.mark.skipif(os.name == "nt", reason="Windows doesn't fork"),
]

APP = "forking_tools:registry"
FOLDER = Path(forking_tools.__file__).parent
IMPORTED = "import signal, sys; from forking_tools import registry; from operator_schema.adapters import mcp"
HEARING = "signal.signal(signal.SIGINT, signal.default_int_handler)"  # programs in the background are deaf
PROGRAM = [sys.executable, "-c", f"{IMPORTED}; {HEARING}; sys.exit(mcp.serve(registry))"]
SERVER = {"command": PROGRAM[0], "args": PROGRAM[1:], "cwd": str(FOLDER), "env": {"PYTHONPATH": str(FOLDER)}}


def data_of(text):
    """Return what a tool has returned."""
    return text if text.startswith("ended") else json.loads(text)


def answers_over_stdio(raw, prefix=""):
    """Return the answers of a server, which then ends as its client leaves."""
    raw.begin()
    answers = []
    for number, (name, arguments) in enumerate(CALLS, 1):
        raw.call(number, f"{prefix}{name}", **arguments)
        answers.append(data_of(raw.receive()["result"]["content"][0]["text"]))
    raw.process.stdin.close()
    assert raw.process.wait(LONGEST_WAIT) == 0
    return answers


@pytest.mark.parametrize("options", [[], ["--reload"]], ids=" ".join)
def test_over_standard_input(options):
    with raw_server(*options, APP, folder=FOLDER) as raw:
        assert answers_over_stdio(raw) == ANSWERS


def test_over_standard_input_of_a_program_of_ones_own():
    with raw_server(program=PROGRAM, folder=FOLDER) as raw:
        assert answers_over_stdio(raw) == ANSWERS


def test_behind_a_gateway(tmp_path):
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"forking": SERVER}}))
    with raw_server("--gateway", "servers.json", folder=tmp_path) as raw:
        assert answers_over_stdio(raw, "forking_") == ANSWERS


@pytest.mark.parametrize("options", [[], ["--reload"]], ids=" ".join)
def test_over_http(options):
    with http_server(*options, APP, folder=FOLDER) as (url, process):

        async def main():
            async with Client(url) as client:
                results = [await client.call_tool(name, arguments) for name, arguments in CALLS]
                return [data_of(result.content[0].text) for result in results]

        assert anyio.run(main) == ANSWERS
        assert process.poll() is None


@pytest.mark.parametrize("name", EXPECTED)
def test_in_a_call_from_the_command_line(name):
    words = [f"{key}={value}" for key, value in dict(CALLS)[name].items()]
    done = subprocess.run(
        [*warm_processes.command(), "call", f"forking_tools:{name}", *words],
        cwd=FOLDER,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert data_of(done.stdout.strip()) == EXPECTED[name]
