"""The MCP Inspector, the client by which people try servers, from npm."""

from __future__ import annotations

import json
import subprocess

import pytest
from mcp_processes import HERE, ROOT, command, environment, http_server
from npm_programs import installed_from_npm

MINUTE = 60


@pytest.fixture(scope="module")
def inspector():
    """Its command."""
    folder = installed_from_npm("@modelcontextprotocol/inspector", "2.12.0")
    return folder / "node_modules" / ".bin" / "mcp-inspector"


def asked(inspector, server, *words):
    done = subprocess.run(
        [inspector, "--cli", *server, "-e", f"PYTHONPATH={ROOT}", *words],
        cwd=HERE,
        env=environment(),
        capture_output=True,
        check=True,
        timeout=MINUTE,
        text=True,
    )
    return json.loads(done.stdout)


def test_it_lists_tools_over_stdio(inspector):
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


def test_it_calls_tools_over_http(inspector):
    with http_server("mcp_app:registry") as (url, _):
        call = ("--transport", "http", "--method", "tools/call", "--tool-name", "add")
        result = asked(inspector, [url], *call, "--tool-arg", "a=2")
    assert result["content"] == [{"type": "text", "text": '{"total":2}'}]
    assert result["structuredContent"] == {"total": 2}
