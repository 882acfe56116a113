"""Functions that make tools, served: the code tools of a folder, for a real client."""

from __future__ import annotations

import json

import anyio
import pytest
from mcp import Client
from mcp_processes import ROOT, over_stdio, run

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("starts a server in a process for each question"),
]

GO = ROOT / "tests" / "code_tools" / "go_sample"


def test_the_code_tools_of_a_folder_over_stdio(tmp_path):
    async def main():
        words = ("operator_schema.code_tools", "--root", str(GO), "--cache", str(tmp_path / "index.db"))
        async with Client(over_stdio(*words, folder=tmp_path)) as client:
            names = [one.name for one in (await client.list_tools()).tools]
            assert set(names) >= {
                "inspect",
                "search",
                "read_func",
                "references",
                "check_syntax",
                "check_patch",
            }
            found = await client.call_tool("search", {"pattern": "*UserRepository", "kind": "struct"})
            seen = await client.call_tool("inspect", {"name": "UserRepositry"})
            return found.structured_content, seen.structured_content

    found, seen = anyio.run(main)
    assert [one["name"] for one in found["results"]] == ["PostgresUserRepository", "MockUserRepository"]
    assert seen["nearest"][0] == "UserRepository"
    assert (tmp_path / "index.db").exists()


def test_the_printed_command_serves_the_folder_from_anywhere(tmp_path):
    words = (
        "--print-config",
        "claude-code",
        "operator_schema.code_tools",
        "--root",
        "operator_schema/workbench/cli",
    )
    (entry,) = json.loads(run(*words, folder=ROOT).stdout)["mcpServers"].values()

    async def main():
        async with Client(over_stdio(*entry["args"][3:], folder=tmp_path)) as client:
            return (await client.call_tool("inspect", {"name": "run"})).structured_content["location"]

    assert anyio.run(main).startswith("app.py:")


def test_a_wrong_option_ends_the_server_with_a_message(tmp_path):
    done = run("operator_schema.code_tools", "--rot", ".", folder=tmp_path)
    assert done.returncode == 2
    assert "'--root'" in done.stderr
    done = run("operator_schema.code_tools", "--root", "missing", folder=tmp_path)
    assert done.returncode == 2
    assert "the root of a code base is a folder" in done.stderr
