"""A suite with one line that probes a server."""

import sys
from pathlib import Path

import pytest
import warm_processes

pytest.importorskip("hypothesis")

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.needs_process, pytest.mark.slow("it starts servers")]

SERVER = Path(__file__).with_name("notes_server.py")
LINE = """
from operator_schema.probe import probe_tests

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
    command = [sys.executable, "-S", str(SERVER), *faults]
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


def test_a_server_that_does_not_start_fails_the_tests(pytester):
    pytester.makepyfile(
        test_it=LINE.format(command=[sys.executable, "-c", "raise SystemExit('no luck')"], options={})
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert "passed" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(["*no luck*"])
    result.stdout.fnmatch_lines(['*and env={"PYTHONPATH": os.getcwd()} for modules of this folder*'])


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
