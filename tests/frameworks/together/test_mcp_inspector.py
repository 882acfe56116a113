"""The MCP Inspector, the client by which people try servers, from npm."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from mcp_processes import HERE, ROOT, command, environment, http_server

VERSION = "2.12.0"
FOLDER = ROOT / ".venv-frameworks" / f"inspector-{VERSION}"
MINUTES = 60  # seconds in one


@pytest.fixture(scope="module")
def inspector():
    """Its command, which is installed once."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm here, and the Inspector is a program for Node.js")
    program = FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        options = ("--no-audit", "--no-fund", "--ignore-scripts", "--silent")
        words = (npm, "install", *options, "--prefix", str(FOLDER))
        done = subprocess.run(
            [*words, f"@modelcontextprotocol/inspector@{VERSION}"], check=False, timeout=3 * MINUTES
        )
        if done.returncode != 0:
            pytest.skip("npm can't install the Inspector: its registry isn't reached from here")
    return program


def asked(inspector, server, *words):
    done = subprocess.run(
        [inspector, "--cli", *server, "-e", f"PYTHONPATH={ROOT}", *words],
        cwd=HERE,
        env=environment(),
        capture_output=True,
        check=True,
        timeout=MINUTES,
        text=True,
    )
    return json.loads(done.stdout)


def test_it_lists_and_calls_tools_over_stdio(inspector):
    server = command("mcp_app:registry")
    listed = asked(inspector, server, "--method", "tools/list")["tools"]
    assert listed[0]["inputSchema"] == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "One."},
            "b": {"type": "integer", "description": "Another.", "default": 0},
        },
        "required": ["a"],
    }
    assert (listed[0]["title"], listed[0]["annotations"]) == (
        "Add numbers",
        {"readOnlyHint": True, "idempotentHint": True},
    )
    call = ("--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=2")
    assert asked(inspector, server, *call)["structuredContent"] == {"total": 2}


def test_it_calls_tools_over_http(inspector):
    with http_server("mcp_app:registry") as (url, _):
        call = ("--transport", "http", "--method", "tools/call", "--tool-name", "size_of")
        result = asked(inspector, [url], *call, "--tool-arg", "text=abc")
    assert result["content"] == [{"type": "text", "text": "3"}]
