"""The conformance tests of the protocol, from npm, as far as they are about tools."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from mcp_processes import PATIENCE, http_server
from npm_programs import installed_from_npm

PACKAGE, VERSION = "@modelcontextprotocol/conformance", "0.1.16"

# The others are about prompts, resources, sampling, completion, and forms that a tool would have to write.
ABOUT_TOOLS = {
    "server-initialize": 1,
    "ping": 1,
    "logging-set-level": 1,
    "tools-list": 1,
    "tools-call-simple-text": 1,
    "tools-call-image": 1,
    "tools-call-audio": 1,
    "tools-call-embedded-resource": 1,
    "tools-call-mixed-content": 1,
    "tools-call-with-logging": 1,
    "tools-call-error": 1,
    "tools-call-with-progress": 1,
    "tools-call-elicitation": 1,
    "server-sse-multiple-streams": 2,
    "dns-rebinding-protection": 2,
}


@pytest.fixture(scope="module")
def program():
    folder = installed_from_npm(PACKAGE, VERSION)
    script = folder / "node_modules" / PACKAGE / "dist" / "index.js"
    # Node.js has `globSync` from 22 on; these scenarios don't use it.
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace("globSync as o,", "readdirSync as o,"), encoding="utf-8")
    return script


def test_the_server_conforms(program, tmp_path):
    words = ("--log", "conformance", "mcp_conformance_app:registry")
    with http_server(*words, folder=Path(__file__).parent) as (url, _):
        done = subprocess.run(  # noqa: PLW1510  # what it isn't asked about fails
            ["node", program, "server", "--url", url],  # noqa: S607  # of whoever runs the tests
            cwd=tmp_path,
            capture_output=True,
            timeout=3 * PATIENCE,
            text=True,
        )
    summary = re.findall(r"^\S+ ([\w-]+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    found = {scenario: (int(passed), int(failed)) for scenario, passed, failed in summary}
    assert {name: found.get(name) for name in ABOUT_TOOLS} == {
        name: (checks, 0) for name, checks in ABOUT_TOOLS.items()
    }
