"""What `serve --print-config` prints for each client, and what `--write` makes of a file that is there."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema.workbench.cli.client_config import command_of, config_of, merged
from operator_schema.workbench.cli.module_loading import WrongUse

WORDS = ["serve", "app:registry"]
JSON_CLIENTS = {"claude-code": ".mcp.json", "vscode": ".vscode/mcp.json", "cursor": ".cursor/mcp.json"}
HTTP = ("--http", "--port", "9000", "--token-env", "TOKEN")


@pytest.fixture(autouse=True)
def _app(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("there")
    (folder / "app.py").touch()
    monkeypatch.syspath_prepend(folder)


@pytest.fixture
def project(tmp_path, run, monkeypatch):
    """Work in an empty project, and return what calls `serve --print-config CLIENT --write`."""
    monkeypatch.chdir(tmp_path)

    def write(client, *words):
        return run("serve", "--print-config", client, "--write", *words, "app:registry")

    return write


def printed(run, client, *words):
    status, out, _ = run("serve", "--print-config", client, *words, "app:registry")
    assert status == 0
    return out


def test_claude_mcp_add_is_one_command_of_a_shell(run):
    name, *command = shlex.split(printed(run, "claude-mcp-add"))
    there = os.getcwd()  # noqa: PTH109  # as text
    assert [name, *command[:5]] == ["claude", "mcp", "add", "app", "--env", f"PYTHONPATH={there}"]
    assert command[5:] == ["--", sys.executable, "-m", "operator_schema", "serve", "app:registry"]


def test_claude_mcp_add_of_a_url_leaves_the_token_to_the_environment(run):
    shown = printed(run, "claude-mcp-add", *HTTP)
    assert shown == (
        "claude mcp add --transport http app http://127.0.0.1:9000/mcp"
        " --header 'Authorization: Bearer ${TOKEN}'\n"
    )


def test_codex_gets_one_command_of_a_shell(run):
    there = os.getcwd()  # noqa: PTH109  # as text
    assert shlex.split(printed(run, "codex")) == [
        *("codex", "mcp", "add", "app", "--env", f"PYTHONPATH={there}"),
        *("--", sys.executable, "-m", "operator_schema", "serve", "app:registry"),
    ]
    assert printed(run, "codex", *HTTP) == (
        "codex mcp add app --url http://127.0.0.1:9000/mcp --bearer-token-env-var TOKEN\n"
    )
    is_open = printed(run, "codex", "--http", "--allow-host", "tools.example.com")
    assert is_open == "codex mcp add app --url http://tools.example.com/mcp\n"


@pytest.mark.parametrize("client", ["claude-mcp-add", "codex"])
@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    words=st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
)
def test_a_shell_reads_every_name_and_word_as_one_word(client, name, words):
    command = shlex.split(command_of(client, config_of(client, name, words)))
    assert command[3] == name
    assert command[command.index("--") :] == ["--", sys.executable, "-m", "operator_schema", *words]


@pytest.mark.parametrize(("client", "file"), JSON_CLIENTS.items())
def test_a_file_that_is_missing_is_made(project, run, client, file):
    expected = json.loads(printed(run, client))
    status, out, err = project(client)
    assert (status, err) == (0, f"{file} is written\n")
    assert json.loads(Path(file).read_text()) == expected
    assert "".join(line[1:] for line in out.splitlines(keepends=True)) == Path(file).read_text()
    assert all(line.startswith("+") for line in out.splitlines())


def test_what_is_in_the_file_stays_as_it_is_written(project):
    before = (
        '{\n    "other": [1, 2.50, 1e400, "\\u00e9"],\n    "mcpServers": {\n'
        '        "mine": {"command": "x", "args": ["-m", "y"], "unknown": {}}\n    }\n}\n'
    )
    Path(".mcp.json").write_text(before)
    status, out, _ = project("claude-code")
    after = Path(".mcp.json").read_text()
    assert status == 0
    begins = before.index("\n    }\n}")
    assert after.startswith(before[:begins] + ",\n        " + '"app": {\n            "type": "stdio",')
    assert after.endswith(before[begins:])
    assert set(json.loads(after)["mcpServers"]) == {"mine", "app"}
    assert "1e400" not in out


def test_the_same_server_again_changes_nothing(project):
    project("cursor")
    before = Path(".cursor/mcp.json").stat()
    assert project("cursor") == (0, "", ".cursor/mcp.json has it already\n")
    assert Path(".cursor/mcp.json").stat().st_mtime_ns == before.st_mtime_ns
    assert Path(".cursor/mcp.json").stat().st_ino == before.st_ino


def test_another_server_of_the_same_name_is_replaced_only_by_force(project):
    before = '{"mcpServers": {"a": 1, "app": {"command": "mine"}, "z": [2]}}'
    Path(".mcp.json").write_text(before)
    status, out, err = project("claude-code")
    assert (status, out) == (2, "")
    assert "has another app already: give --force to replace it, or another --name" in err.replace("'", "")
    assert Path(".mcp.json").read_text() == before
    status, out, _ = project("claude-code", "--force")
    assert (status, out[0]) == (0, "-")
    after = json.loads(Path(".mcp.json").read_text())["mcpServers"]
    assert after["app"]["command"] == sys.executable
    assert (list(after), after["a"], after["z"]) == (["a", "app", "z"], 1, [2])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  // mine\n  "servers": {}\n}', "isn't JSON: "),
        ("[" * 200_000, "; it wasn't changed"),
        (
            '{"servers": {}, "servers": {"a": 1}}',
            "has servers more than once: keep one of them; it wasn't changed",
        ),
        ("[]", "isn't a JSON object"),
        ('{"servers": []}', "its 'servers' must be an object"),
        ('{"inputs": {}}', "its 'inputs' must be an array"),
    ],
)
def test_a_file_of_another_form_is_refused(project, text, said):
    Path(".vscode").mkdir()
    Path(".vscode/mcp.json").write_text(text)
    status, out, err = project("vscode", *HTTP)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err) < 600
    assert Path(".vscode/mcp.json").read_text() == text


@pytest.mark.parametrize("servers", [".cursor/mcp.json", "link.json"])
def test_a_gateway_is_not_added_to_its_own_servers(run, tmp_path, monkeypatch, servers):
    monkeypatch.chdir(tmp_path)
    Path(".cursor").mkdir()
    before = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
    Path(".cursor/mcp.json").write_text(before)
    Path("link.json").symlink_to(".cursor/mcp.json")
    words = ["serve", "--gateway", servers, "--print-config"]
    status, out, err = run(*words, "cursor", "--write", "--force")
    assert (status, out) == (2, "")
    assert ".cursor/mcp.json names the servers of this gateway, which would start itself" in err
    assert Path(".cursor/mcp.json").read_text() == before
    assert run(*words, "vscode", "--write")[0] == 0
    assert run(*words, "cursor")[0] == 0


def test_bytes_that_are_no_text_are_refused(project):
    Path(".mcp.json").write_bytes(b'{"\xff": 1}')
    status, _, err = project("claude-code")
    assert (status, err) == (2, "operator-schema: error: .mcp.json isn't UTF-8, so it wasn't changed\n")


def test_the_inputs_of_vscode_are_kept_beside_the_new_one(project):
    Path(".vscode").mkdir()
    Path(".vscode/mcp.json").write_text('{"inputs": [{"id": "KEY", "type": "promptString"}]}')
    assert project("vscode", *HTTP)[0] == 0
    document = json.loads(Path(".vscode/mcp.json").read_text())
    assert [one["id"] for one in document["inputs"]] == ["KEY", "TOKEN"]
    assert document["servers"]["app"]["headers"] == {"Authorization": "Bearer ${input:TOKEN}"}


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions, and links need rights")
def test_a_link_and_the_permissions_of_a_file_stay(project, tmp_path):
    real = tmp_path / "real.json"
    real.write_text("{}")
    real.chmod(0o600)
    Path(".mcp.json").symlink_to(real)
    assert project("claude-code")[0] == 0
    assert Path(".mcp.json").is_symlink()
    assert "app" in json.loads(real.read_text())["mcpServers"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mcp.json", "real.json"]


@pytest.mark.parametrize("client", ["claude-desktop", "claude-mcp-add", "codex"])
def test_a_client_without_a_file_in_the_project_is_refused(project, client):
    status, out, err = project(client)
    assert (status, out) == (2, "")
    assert f"--write writes a project's file, and {client} reads none: " in err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--write",), "--write is for --print-config CLIENT: one of claude-desktop, "),
        (("--print-config", "cursor", "--force"), "--force is for --write"),
    ],
)
def test_options_of_writing_need_each_other(run, words, said):
    status, _, err = run("serve", *words, "app")
    assert (status, said in err) == (2, True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(), JSON, max_size=3),
    st.none() | st.dictionaries(st.text(), JSON, max_size=3),
    st.sampled_from([None, 0, 2, "\t"]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_merged_file_has_all_that_was_there_and_the_server(document, servers, indent, is_ascii, newline):
    if servers is not None:
        document = {**document, "mcpServers": servers}
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii).replace("\n", newline)
    config = config_of("claude-code", "app", WORDS)
    try:
        after = merged("f", text, config, force=True)
    except WrongUse:
        assert not isinstance(document.get("mcpServers", {}), dict)
        return
    expected = {**document, "mcpServers": {**document.get("mcpServers", {}), **config["mcpServers"]}}
    assert json.loads(after) == expected
    assert merged("f", after, config, force=False) == after


@pytest.mark.parametrize("words", [(), ("--write",)])
@pytest.mark.parametrize("module", ["ap", "ap.tools", "app_", "nowhere"])
def test_a_module_that_is_not_there_is_no_server(run, monkeypatch, tmp_path, module, words):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("serve", "--print-config", "cursor", *words, f"{module}:registry")
    assert (status, out) == (2, "")
    assert f"no module {module}" in err
    assert ("did you mean app" in err) == (module != "nowhere")
    assert not list(tmp_path.iterdir())
