"""The command probes a program that answers one request, and writes notes of GitHub and a page."""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import warm_processes
from patience import LONGEST_WAIT
from sarif_logs import read_log

pytest.importorskip("hypothesis")
pytest.importorskip("mcp")

import operator_schema.workbench.probe as room
from operator_schema.workbench.cli import main
from operator_schema.workbench.probe import ProbeError, ProbeReport, probe, walking
from operator_schema.workbench.probe.reports import MAY_CHANGE, Plan

pytestmark = pytest.mark.needs_process

PROGRAM = """
import json, sys

request = json.load(sys.stdin)
if request["action"] == "schema":
    name = {"type": "string", "enum": ["Ada"]}
    schema = {"type": "object", "properties": {"name": name}, "required": ["name"]}
    print(json.dumps({"tools": [{"name": "greet", "summary": "Greet somebody.", "input_schema": schema}]}))
else:
    with open("greeted.txt", "a") as file:
        file.write("x")
    print(json.dumps({"type": "success", "content": "Error: <b>100% busy</b>"}))
"""
MEANING = "unflagged_error: an error comes as a result without isError: a result without isError says:"


@pytest.fixture
def target(tmp_path, monkeypatch):
    """A program with a tool whose errors aren't flagged, as a target."""
    monkeypatch.setattr(walking, "LEAST_SEQUENCES", 1)  # each call starts a process
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greet.py").write_text(PROGRAM, encoding="utf-8")
    return f"process:{shlex.join([sys.executable, '-I', '-S', 'greet.py'])}"


REPORTS = {}


@pytest.fixture
def probed_once(monkeypatch):
    """Let the command probe a target in one way once: what differs then is only how the report is shown."""
    real = room.probe

    def probe_once(target, *, on_progress, **options):
        key = target, repr(sorted(options.items()))
        if key not in REPORTS:
            REPORTS[key] = real(target, on_progress=on_progress, **options)
        return REPORTS[key]

    monkeypatch.setattr(room, "probe", probe_once)


def test_a_program_that_answers_one_request_is_probed_in_a_folder_of_its_own(target, tmp_path):
    report = probe(target, allow=["greet"], calls=1)
    (found,) = report.found
    assert (found.finding.tool, found.finding.code) == ("greet", "unflagged_error")
    assert [step.call.arguments for step in found.steps] == [{"name": "Ada"}]
    assert [path.name for path in tmp_path.iterdir()] == ["greet.py"]


@pytest.mark.usefixtures("probed_once")
def test_notes_for_github_and_a_page(target, tmp_path, capsys):
    words = ["probe", "--allow", "greet", "--calls", "1", "--format", "github", "--html", "page.html", target]
    assert main(words) == 1
    note = f"::error title=greet%3A unflagged_error::greet: {MEANING} Error: <b>100%25 busy</b>"
    note += '%0Acall: greet {"name": "Ada"}%0Afix: Set isError to true in results that are errors\n'
    assert capsys.readouterr().out == note
    assert main([*words[:6], "sarif", target]) == 1
    (result,) = read_log(capsys.readouterr().out).runs[0].results
    assert (result.rule_id, result.level) == ("unflagged_error", "error")
    assert result.message.text.startswith(f"greet: {MEANING} Error: <b>100% busy</b>\ncall: ")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"<td>greet</td><td></td><td>{MEANING} Error: &lt;b&gt;100% busy&lt;/b&gt;</td>" in page
    assert "<code>greet {&quot;name&quot;: &quot;Ada&quot;}</code>" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["./nofile"], "its program can't be started: [Errno 2] No such file or directory: './nofile'"),
        ([sys.executable, "-S", "-c", ""], "its program failed: it answered nothing"),
        ([sys.executable, "-S", "nofile.py"], "nofile.py': [Errno 2] No such file or directory"),
    ],
)
@pytest.mark.parametrize("kind", ["process", "mcp"])
def test_a_program_that_does_not_start_is_told_with_its_folder(
    words, said, kind, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["probe", f"{kind}:{shlex.join(words)}"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"operator-schema: error: {kind}:")
    assert kind == "mcp" or said in error
    assert "it is started in an empty folder" in error
    assert '--env PYTHONPATH="$PWD"' in error
    assert "--env NAME=VALUE" in error
    assert list(tmp_path.iterdir()) == []


def test_a_probe_that_may_call_nothing_fails_and_its_plan_is_shown(target, capsys):
    assert main(["probe", target]) == 2
    said = 'no tool was called, since none says readOnlyHint: name some with --allow, of "greet"'
    assert said in capsys.readouterr().err
    assert main(["probe", "--dry-run", target]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing would be called: name tools with --allow"


def test_nothing_is_written_into_the_folder_of_the_user(target, tmp_path, capsys):
    assert main(["probe", "--dry-run", "--allow", "greet", target]) == 0
    assert capsys.readouterr().err == ""
    assert [path.name for path in tmp_path.iterdir()] == ["greet.py"]


ONCE = """
import json, os, sys

request = json.load(sys.stdin)
if request["action"] == "schema":
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    print(json.dumps({"tools": [{"name": "greet", "summary": "Greet somebody.", "input_schema": schema}]}))
else:
    is_first = not os.path.exists(sys.argv[1])
    open(sys.argv[1], "w").close()
    print(json.dumps({"type": "success", "content": "Error: busy" if is_first else "Hello."}))
"""


@pytest.mark.usefixtures("probed_once")
def test_a_fault_that_shows_once_is_named_with_its_call(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(walking, "LEAST_SEQUENCES", 1)  # each call starts a process
    program, seen = tmp_path / "greet.py", tmp_path / "seen"
    program.write_text(ONCE, encoding="utf-8")
    target = f"process:{shlex.join([sys.executable, '-I', '-S', str(program), str(seen)])}"
    words = ["probe", "--allow", "greet", "--calls", "1", target]
    assert main(words) == 0
    *_, first, note, call = capsys.readouterr().out.splitlines()
    assert " of 1 tool" in first
    assert note == f"note: greet: {MEANING} Error: busy (it couldn't be reproduced)"
    assert call == "  call: greet {}"
    assert main([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["unrepeated"]
    assert (found["tool"], found["code"]) == ("greet", "unflagged_error")
    assert [call["arguments"] for call in found["calls"]] == [{}]


def test_one_call_is_one_call():
    report = ProbeReport("app:registry", [], [], 1, 0, [], is_complete=True, seed=0)
    assert report.summary() == "nothing found · 1 call of 0 tools"


ACCEPT = """
[[accept]]
tool = "greet"
code = "unflagged_error"
reason = "It is known."
until = 2999-01-01
"""


@pytest.mark.usefixtures("probed_once")
def test_accepted_findings_are_counted_apart(target, tmp_path, capsys):
    (tmp_path / "accepted.toml").write_text(ACCEPT, encoding="utf-8")
    words = ["probe", "--allow", "greet", "--calls", "1", "--accepted", "accepted.toml"]
    assert main([*words, "--html", "page.html", target]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("0 errors · ")
    assert line.endswith(" · 1 accepted")
    assert line in (tmp_path / "page.html").read_text(encoding="utf-8")


SLOW = """
import json, os, sys
from pathlib import Path

Path(sys.argv[1]).write_text(f"{os.getpid()} {os.getcwd()}")
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "initialize":
        info = {"name": "slow", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    elif request["method"] == "tools/list":
        Path(sys.argv[2]).touch()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't handle SIGTERM there")
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_sigterm_ends_the_server_and_removes_its_folder(more, tmp_path):
    program, started, is_asked = [tmp_path / name for name in ("slow.py", "started", "is_asked")]
    program.write_text(SLOW, encoding="utf-8")
    server = shlex.join([sys.executable, "-I", "-S", *map(str, (program, started, is_asked))])
    words = [*warm_processes.command(), "probe", *more, f"mcp:{server}"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as probing:
        while not is_asked.exists() and probing.poll() is None:
            time.sleep(0.02)
        probing.terminate()
        out, err = probing.communicate(timeout=LONGEST_WAIT)
    assert (probing.returncode, out, err) == (143, b"", b"")
    number, folder = started.read_text(encoding="utf-8").split(" ", 1)
    assert not Path(folder).parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)


STOPS = """
import os, signal, sys, time
from pathlib import Path

Path(sys.argv[1]).write_text(f"{os.getpid()} {os.getcwd()}")
os.kill(os.getppid(), signal.Signals[sys.argv[2]])
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't handle SIGTERM there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_a_program_is_first_asked_removes_its_folder(number, tmp_path):
    program, started = tmp_path / "stops.py", tmp_path / "started"
    program.write_text(STOPS, encoding="utf-8")
    server = shlex.join([sys.executable, "-I", "-S", str(program), str(started), number.name])
    words = [*warm_processes.command(), "probe", f"process:{server}"]
    done = subprocess.run(words, capture_output=True, timeout=LONGEST_WAIT, check=False)
    assert done.returncode == 128 + number
    asked, folder = started.read_text(encoding="utf-8").split(" ", 1)
    assert not Path(folder).parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(asked), 0)


@pytest.mark.parametrize("kind", ["process:./program", "mcp:./program", "app:registry", "app.py"])
def test_headers_are_for_a_url(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["probe", "--header", "Authorization: Bearer x", kind]) == 2
    said = f"operator-schema: error: {kind}: --header is for a URL: this target gets no requests of HTTP\n"
    assert capsys.readouterr().err == said
    with pytest.raises(ProbeError, match=r"^headers is for a URL"):
        probe([], headers={"Authorization": "Bearer x"})


@pytest.mark.parametrize("option", ["setup", "env"])
def test_what_prepares_a_server_is_for_one_that_is_started_here(option, capsys):
    url = "http://127.0.0.1:9/mcp"
    assert main(["probe", f"--{option}", "A=1", url]) == 2
    assert capsys.readouterr().err.endswith(f"{url}: --{option} is for a server that is started here\n")
    with pytest.raises(ProbeError, match=f"^{option} is for a server that is started here"):
        probe([], **{option: {"A": "1"} if option == "env" else "A=1"})


def test_the_handler_of_sigterm_stays_as_it_was(target):
    before = signal.getsignal(signal.SIGTERM)
    assert main(["probe", "--dry-run", "--allow", "greet", target]) == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_setup_command_that_says_nothing_is_told_by_its_status(capsys):
    server = shlex.join([sys.executable, "-I", "-S", "-c", ""])
    assert main(["probe", "--setup", "exit 3", f"mcp:{server}"]) == 2
    assert capsys.readouterr().err.rstrip().endswith("the setup command ended with status 3")


def test_options_are_named_as_the_command_or_python_has_them():
    plan = [
        Plan("pay", False, MAY_CHANGE, {}, None),
        Plan("ask", False, "its input schema can't be read as a whole", {}, None),
    ]
    report = ProbeReport("app:registry", [], plan, 0, 0, [], is_complete=False, seed=0)
    for allow, seconds, in_command in [("allow=", "seconds=", False), ("--allow", "--seconds", True)]:
        assert report.summary(in_command=in_command).split(" · ")[2:] == [
            "1 not called, since their schemas can't be read",
            f"1 not called, since they may change something ({allow})",
            f"not all planned calls were made in time ({seconds})",
        ]


@pytest.mark.parametrize(
    ("missing", "line", "said"),
    [
        (
            "hypothesis",
            "from operator_schema.workbench.probe import probe",
            "to probe a server, install the extra",
        ),
        ("pytest", "from operator_schema.workbench.probe import probe_tests", "probe_tests needs pytest"),
        (
            "hypothesis",
            "from operator_schema.workbench.probe import probe_tests",
            "probe a server, install the extra",
        ),
    ],
)
def test_without_a_package_the_extra_is_named(missing, line, said):
    hide = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == {missing!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Hidden())
"""
    done = subprocess.run([sys.executable, "-c", hide + line], capture_output=True, text=True, check=False)
    assert said in done.stderr.splitlines()[-1]
    assert "'operator-schema[probe]'" in done.stderr.splitlines()[-1]


SHOP = """
from typing import Annotated

from operator_schema import CallError, skip, tool


class Shelf:
    cakes = ["rye"]


@tool(read_only=True)
def cakes(shelf: Annotated[Shelf, skip]) -> list[str]:
    "List all cakes."
    return shelf.cakes


@tool(read_only=True)
def unlucky(number: int) -> str:
    "Draw a number."
    raise CallError("No luck\\n::error::today.")


def context():
    return {Shelf: Shelf()}
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A module with a tool that needs context, and one that never succeeds; and how the command is run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "cakeshop.py").write_text(SHOP, encoding="utf-8")

    def run(*words):
        return main(["probe", "--calls", "1", *words, "cakeshop"])

    return run


@pytest.mark.slow("it probes a module with and without context")
@pytest.mark.usefixtures("probed_once")
def test_a_tool_that_never_succeeds_is_named_in_every_output(shop, tmp_path, capsys):
    assert shop() == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("1 of 2 tools will fail for lack of context: cakes (")
    assert {line.split(": ")[1] for line in lines if "never_succeeded: none" in line} == {"cakes", "unlucky"}
    rows = dict(line.split(maxsplit=1) for line in lines if line.startswith(("cakes", "unlucky")))
    assert all(row.startswith("0 of ") for row in rows.values())
    assert shop("--junit", "probe.xml", "--html", "probe.html", "--fail-on", "warning", "--json") == 1
    report = json.loads(capsys.readouterr().out)
    assert [each["tool"] for each in report["findings"] if each["code"] == "never_succeeded"] == [
        "cakes",
        "unlucky",
    ]
    assert all(each["made"] > 0 == each["succeeded"] for each in report["tools"])
    assert len(report["notes"]) == 1
    for file in ("probe.xml", "probe.html"):
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert text.count("never_succeeded") >= 2
        assert "\n::error::" not in text


@pytest.mark.slow("it probes a module")
@pytest.mark.usefixtures("probed_once")
def test_context_is_given_to_the_tools_of_a_module(shop, capsys):
    assert shop("--context", "cakeshop:context", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["notes"] == []
    assert {each["tool"]: each["succeeded"] > 0 for each in report["tools"]} == {
        "cakes": True,
        "unlucky": False,
    }
    assert main(["probe", "--context", "cakeshop:context", "mcp:./server"]) == 2
    assert "--context is for the tools of a module" in capsys.readouterr().err


def report_of(*, is_complete):
    plans = [Plan("two\n::error::lines", True, "", {}, None, made=3, succeeded=2)]
    return ProbeReport("app:registry", [], plans, 9, 0, [], is_complete=is_complete, seed=0)


@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize("words", [[], ["--complete"]])
def test_a_probe_that_did_not_end_is_no_pass(is_complete, words, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(room, "probe", lambda *_, **__: report_of(is_complete=is_complete))
    monkeypatch.chdir(tmp_path)
    assert main(["probe", "--junit", "probe.xml", *words, "app:registry"]) == int(
        bool(words) and not is_complete
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("not finished: ") is not is_complete
    assert lines[-1].startswith("nothing found so far" if not is_complete else "nothing found ·")
    assert "two\\u000a::error::lines  2 of 3" in lines
    failures = (tmp_path / "probe.xml").read_text(encoding="utf-8").count("<failure")
    assert failures == int(bool(words) and not is_complete)
    assert str(report_of(is_complete=is_complete)).startswith("not finished: ") is not is_complete
