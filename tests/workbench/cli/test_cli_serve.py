"""`serve` as far as it goes without the package mcp; tests/frameworks/ has the rest."""

from __future__ import annotations

import json
import os
import re
import sys

import pytest
from cli_samples import process
from patience import LONGEST_WAIT, at_most

from operator_schema import Executor


@pytest.fixture(autouse=True)
def _app(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("there")
    (folder / "app.py").touch()
    monkeypatch.syspath_prepend(folder)


@pytest.fixture(autouse=True)
def _ends():
    """A refusal that is missing starts a server, which would serve for ever."""
    with at_most(LONGEST_WAIT):
        yield


WITHOUT_MCP = (
    sys.executable,
    "-c",
    (
        "import sys; sys.modules['mcp_types'] = None\n"
        "from operator_schema.workbench.cli import main; sys.exit(main())"
    ),
)


def printed(run, client, *words):
    status, out, err = run("serve", "--print-config", client, *words)
    assert status == 0
    return json.loads(out), err


STARTED = ("serve", "--context", "app:make_context", "--timeout", "5.0", "--confirm", "app:registry")


@pytest.mark.parametrize(
    ("client", "key", "file"),
    [
        ("claude-desktop", "mcpServers", "claude_desktop_config.json"),
        ("claude-code", "mcpServers", ".mcp.json"),
        ("vscode", "servers", ".vscode/mcp.json"),
        ("cursor", "mcpServers", ".cursor/mcp.json"),
    ],
)
def test_the_configuration_of_a_server_that_the_client_starts(run, client, key, file):
    config, err = printed(run, client, *STARTED[1:])
    entry = {
        "command": sys.executable,
        "args": ["-m", "operator_schema", *STARTED],
        "env": {"PYTHONPATH": os.getcwd()},  # noqa: PTH109  # as text
    }
    kind = {} if client == "claude-desktop" else {"type": "stdio"}
    assert config == {key: {"app": {**kind, **entry}}}
    assert file in err


@pytest.mark.parametrize(
    ("client", "key", "secret"),
    [
        ("claude-code", "mcpServers", "${TOKEN}"),
        ("vscode", "servers", "${input:TOKEN}"),
        ("cursor", "mcpServers", "${env:TOKEN}"),
    ],
)
def test_the_configuration_of_a_server_that_runs(run, client, key, secret, monkeypatch):
    monkeypatch.setenv("TOKEN", "swordfish-swordfish")
    words = ("--http", "--port", "9000", "--token-env", "TOKEN", "--name", "shop", "pkg.app:registry")
    config, err = printed(run, client, *words)
    headers = {"Authorization": f"Bearer {secret}"}
    kind = {} if client == "cursor" else {"type": "http"}
    assert config[key] == {"shop": {**kind, "url": "http://127.0.0.1:9000/mcp", "headers": headers}}
    assert "swordfish" not in json.dumps(config) + err
    assert ("inputs" in config) == (client == "vscode")


def test_the_configuration_of_a_server_without_a_token(run):
    words = ("--http", "--allow-host", "tools.example.com", "pkg.app:registry")
    config, _ = printed(run, "vscode", *words)
    assert config == {"servers": {"app": {"type": "http", "url": "http://tools.example.com/mcp"}}}


def test_claude_desktop_takes_no_url_from_a_file(run):
    status, out, err = run("serve", "--http", "--print-config", "claude-desktop", "app")
    assert (status, out) == (2, "")
    assert "claude-desktop takes no URL from a file" in err
    assert "http://127.0.0.1:8000/mcp" in err


@pytest.mark.parametrize(
    "words", [("--port", "80"), ("--token-env", "TOKEN"), ("--no-token",), ("--allow-host", "x")]
)
def test_options_of_http_need_it(run, words):
    status, out, err = run("serve", *words, "app")
    assert (status, out, err) == (2, "", f"operator-schema: error: {words[0]} is for --http\n")


@pytest.mark.needs_process
def test_nothing_of_the_adapters_is_loaded_for_other_commands(folder):
    look = "from operator_schema.workbench.cli.app import commands; import sys; commands(); "
    look += "print([name for name in sys.modules if 'adapters' in name])"
    assert process((), folder, program=(sys.executable, "-c", look))[1] == "[]\n"


@pytest.mark.needs_process
def test_without_mcp_a_line_says_what_to_install(folder):
    status, out, err = process(("serve", "clitools"), folder, program=WITHOUT_MCP)
    assert (status, out) == (2, "")
    assert (
        err == "operator-schema: error: serve needs the package mcp: pip install 'operator-schema[cli,mcp]'\n"
    )


def test_the_help_says_where_it_listens(run):
    shown = " ".join(run("serve", "--help")[1].split())
    assert "Address to listen on. [default: 127.0.0.1]" in shown
    assert "0: any. [default: 8000" in shown


def test_the_help_says_each_default():
    from operator_schema.workbench.cli.serve import serve

    options = {option.name: option for option in serve.params if hasattr(option, "help")}
    said = {name: re.search(r"\(default: (\w+)", option.help or "") for name, option in options.items()}
    shown = {name: found[1] for name, found in said.items() if found}
    timeout = Executor.__init__.__kwdefaults__["timeout"]
    assert f"(default: that of the executor, or {timeout:g})" in options["timeout"].help
    assert {name: shown[name] for name in ("structured", "confirm")} == {
        "structured": options["structured"].default,
        "confirm": "yes" if options["confirm"].default else "no",
    }


@pytest.mark.parametrize(("size", "status"), [("0", 2), ("1", 0), ("x", 2)])
def test_a_page_has_at_least_one_tool(run, size, status):
    assert run("serve", "--page-size", size, "--print-config", "vscode", "app")[0] == status
