"""A suite with one line that probes a server."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
import warm_processes

pytest.importorskip("hypothesis")
pytest.importorskip("mcp.server")  # the folder tests/adapters/mcp is found as "mcp", too

from operator_schema.workbench.cli import main
from operator_schema.workbench.compare import AcceptError
from operator_schema.workbench.probe import ProbeError, probe_tests, pytest_suite

pytest_plugins = ["pytester"]
pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("it starts servers"),
    pytest.mark.usefixtures("quick_probes"),
]

for name in ("adapters.mcp.tool_server", "tools.content"):
    import_module(f"operator_schema.{name}")  # what a run of pytester loads first is loaded anew after it

SERVER = Path(__file__).with_name("notes_server.py")
LINE = """
from operator_schema.workbench.probe import probe_tests

test_server = probe_tests({command!r}, calls=4, timeout=2, **{options!r})
"""
ACCEPTED = """
[[accept]]
tool = "repeat"
code = "valid_refused"
reason = "Nobody asks for nine."
until = 9999-12-31
"""


def outcomes(pytester, *faults, **options):
    command = [sys.executable, "-S", str(SERVER), *faults, "ticks"]
    pytester.makepyfile(test_it=LINE.format(command=command, options=options))
    return pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider")


def test_each_tool_and_check_is_a_test(pytester):
    counts = outcomes(pytester).parseoutcomes()
    assert counts["passed"] > 50
    assert counts["skipped"] == 2  # create_note and delete_note aren't allowed
    assert "failed" not in counts


def test_a_finding_fails_the_test_of_its_tool_and_check(pytester):
    result = outcomes(pytester, "edge")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["*FAILED test_it.py::test_server[[]repeat-valid_refused]*"])
    result.stdout.fnmatch_lines(['*call: repeat {"text": "", "times": 9}*'])


def test_an_accepted_finding_is_an_expected_failure(pytester):
    file = pytester.makefile(".toml", accepted=ACCEPTED)
    counts = outcomes(pytester, "edge", accepted=str(file)).parseoutcomes()
    assert counts["xfailed"] == 1
    assert "failed" not in counts


IDLE = """
[[accept]]
tool = "repeat"
code = "valid_refusd"
reason = "Nobody asks for nine."
until = 9999-12-31

[[accept]]
tool = "repeat"
reason = "It was so once."
until = 2020-12-31
"""


def test_entries_that_accept_nothing_any_more_are_a_warning(pytester):
    file = pytester.makefile(".toml", accepted=IDLE)
    result = outcomes(pytester, accepted=str(file))
    assert result.parseoutcomes()["failed"] == 1  # this suite takes warnings for errors
    result.stdout.fnmatch_lines(
        [
            "*probe_tests: accepted until 2020-12-31, which is over: repeat",
            "*probe_tests: accepted, and nothing like it was found: repeat valid_refusd;*valid_refused?",
        ]
    )


@pytest.mark.parametrize(
    ("target", "options", "error", "said"),
    [
        ("run", {"alow": ["a"]}, TypeError, "a probe has no option 'alow'; did you mean allow?"),
        ("run", {"accept": "a.toml"}, TypeError, "no option 'accept'; did you mean accepted?"),
        ("run", {"allow": "create_note"}, TypeError, 'allow takes a list of names, such as ["create_note"]'),
        ("run", {"seconds": "9"}, TypeError, 'seconds takes a number, not string "9"'),
        ("run", {"env": {"KEY": 5}}, TypeError, "env takes a dict of names and texts, not object"),
        ("run", {"calls": 0}, ValueError, "calls is above 0, not 0"),
        ("run", {"headers": {"A": "1"}}, ProbeError, "headers is for a URL"),
        ("run", {"accepted": "none.toml"}, AcceptError, "none.toml can't be read: No such file or directory"),
        ("run", {"accepted": "odd.toml"}, AcceptError, "odd.toml: it isn't TOML: "),
        (5, {}, TypeError, "a target is a command, a URL, MODULE:REGISTRY or tools; as tools: an int isn't"),
    ],
)
def test_wrong_use_is_told_where_the_line_stands(target, options, error, said, tmp_path, monkeypatch):
    (tmp_path / "odd.toml").write_text("[[")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pytest_suite, "plan", lambda *_, **__: pytest.fail("a server was started"))
    with pytest.raises(error) as caught:
        probe_tests(target, **options)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["[[", '[[accept]]\ntool = "a"\n'])
def test_a_file_of_accepted_findings_is_refused_in_the_words_of_the_command(
    text, tmp_path, monkeypatch, capsys
):
    (tmp_path / "odd.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AcceptError) as caught:
        probe_tests("run", accepted="odd.toml")
    assert main(["probe", "--accepted", "odd.toml", "run"]) == 2
    said = str(caught.value).replace("\n", "\n  ")
    assert capsys.readouterr().err == f"operator-schema: error: {said}\n"


def test_a_server_that_does_not_start_fails_one_test(pytester):
    pytester.makepyfile(
        test_it=LINE.format(command=[sys.executable, "-c", "raise SystemExit('no luck')"], options={})
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    counts = result.parseoutcomes()
    assert (counts.pop("failed"), set(counts)) == (1, {"skipped"})
    result.stdout.fnmatch_lines(["*no luck*"])
    result.stdout.fnmatch_lines(['*env={"PYTHONPATH": os.getcwd()} for modules of this folder*'])


def test_a_probe_that_had_too_little_time_shows_a_warning(pytester):
    result = outcomes(pytester, seconds=0.01)
    assert result.parseoutcomes().get("failed") == 1  # this suite takes warnings for errors
    result.stdout.fnmatch_lines(["*not all planned calls were made in time (seconds=)*"])


def test_tools_of_which_none_may_be_called_fail_the_tests_of_the_server(pytester):
    text = "from operator_schema import tool\n@tool\ndef pay() -> str:\n    'Pay.'\n    return ''\n"
    file = pytester.makepyfile(shop=text)
    command = [*warm_processes.command(serves=True), "serve", str(file)]
    pytester.makepyfile(test_it=LINE.format(command=command, options={}))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert set(result.parseoutcomes()) == {"failed", "skipped"}
    result.stdout.fnmatch_lines(["*no tool was called*name some in allow=, of*"])
