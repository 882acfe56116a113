"""The line that makes a call again has what the server was given, and no secret."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LONGEST_WAIT

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

from operator_schema.workbench.probe import probe
from operator_schema.workbench.probe.calls import Call
from operator_schema.workbench.probe.sequences import Step
from operator_schema.workbench.probe.shell_lines import repeat_lines
from operator_schema.workbench.probe.targets import of_url, server_of

SERVER = Path(__file__).with_name("notes_server.py")
KEYED = "import os\nos.environ['API_KEY']\n" + SERVER.read_text(encoding="utf-8")
STEPS = [Step(Call("find", {"query": ""}, "valid", ""))]


def run(line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell; nothing has to wait for a server that answers in turn."""
    words = ["sh", "-c", line.replace("sleep 3", "sleep 0")]
    given = {"PATH": os.environ["PATH"], **env}
    return subprocess.run(words, env=given, capture_output=True, text=True, timeout=LONGEST_WAIT, check=False)


@pytest.mark.needs_process
@pytest.mark.slow("it starts servers")
@pytest.mark.skipif(sys.platform == "win32", reason="the line is for a shell of POSIX")
def test_the_line_of_a_server_that_needs_variables_makes_the_call_again(tmp_path):
    (tmp_path / "the notes").mkdir()
    (tmp_path / "the notes" / "keyed_notes.py").write_text(KEYED, encoding="utf-8")
    env = {"PYTHONPATH": str(tmp_path / "the notes"), "API_KEY": "very secret", "DATA": "{folder}/data"}
    command = [sys.executable, "-S", "-m", "keyed_notes", "edge"]
    setup = 'test "$API_KEY" && mkdir "$DATA"'
    report = probe(command, calls=4, timeout=5, env=env, setup=setup)
    (line,) = [each.repeat for each in report.found if each.finding.code == "valid_refused"]
    assert "very secret" not in line
    done = run(line, API_KEY="very secret")
    assert '"id":1' in done.stdout.replace(" ", "")
    assert "give its value" in run(line).stderr


@pytest.mark.parametrize(
    ("env", "line"),
    [
        ({}, 'operator-schema call shop:registry.find \'{"query": ""}\''),
        ({"PYTHONPATH": "/srv/a b"}, "env 'PYTHONPATH=/srv/a b' operator-schema call shop"),
        ({"API_KEY": "x"}, 'env API_KEY="${API_KEY:?give its value}" operator-schema call shop'),
        ({"$(id)": "x"}, "env '$(id)='\"${__id_:?give its value}\" operator-schema call shop"),
        ({"1": "x"}, 'env 1="${_1:?give its value}" operator-schema call shop'),
    ],
)
def test_variables_stand_before_the_call_of_a_module(env, line):
    server = server_of("shop:registry", env=env)
    server.close()
    assert repeat_lines(server, STEPS).startswith(line)


def test_the_scheme_of_a_url_may_have_large_letters():
    assert server_of("HTTPS://127.0.0.1:9/mcp").kind == "url"  # RFC 3986, section 3.1


def test_headers_stand_in_each_request_of_a_url():
    server = of_url("http://127.0.0.1:9/mcp", {"Authorization": "Bearer x", "x-api-key": "y"})
    lines = repeat_lines(server, STEPS).split("\n")
    values = [f'"${{{name}:?give its value}}"' for name in ("AUTHORIZATION", "X_API_KEY")]
    given = f"-H 'Authorization: '{values[0]} -H 'x-api-key: '{values[1]} "
    assert [given in line for line in lines] == [True, True, True]
    assert all(shlex.split(line) for line in lines)


def test_a_path_of_modules_is_added_to_the_folder_of_a_module(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    server = server_of("shop:registry", env={"PYTHONPATH": "/srv"})
    seen = []
    server.open = lambda _, env: seen.append(env["PYTHONPATH"]) or (_ for _ in ()).throw(OSError("enough"))
    with pytest.raises(Exception, match="enough"):
        server.start()
    server.close()
    assert seen == [os.pathsep.join([str(tmp_path), "/srv"])]
