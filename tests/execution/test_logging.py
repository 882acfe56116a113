"""What fails is logged by one logger, with the traceback, the name of the tool and the id of the call."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
from patience import LONGEST_WAIT

from operator_schema import CallError, Executor, RawCall, skip, tool

pytestmark = pytest.mark.needs_threads

LOGGER = "operator_schema"
ROOT = Path(__file__).resolve().parents[2]


class Db:
    pass


@tool
def work(secret: str) -> str:
    raise KeyError("no such row")


@tool
async def awork(secret: str) -> str:
    raise KeyError("no such row")


@tool
def refuse(secret: str) -> str:
    raise CallError("ask for something else")


@tool
def store(secret: str, db: Annotated[Db, skip]) -> str:
    return secret


@tool
def wrong(secret: str) -> int:
    return object()


@tool(enabled=False)
def off(secret: str) -> str:
    return secret


def records_of(caplog, name, arguments=None, level=logging.DEBUG):
    executor = Executor([work, awork, refuse, store, wrong, off])
    arguments = {"secret": "hunter2"} if arguments is None else arguments
    with caplog.at_level(level, LOGGER):
        executor.run_sync(RawCall("call_7", name, arguments))
    assert {record.name for record in caplog.records} <= {LOGGER}
    return caplog.records


@pytest.mark.parametrize(
    ("name", "text", "raised"),
    [
        ("work", "work (call call_7): the function failed", KeyError),
        ("awork", "awork (call call_7): the function failed", KeyError),
        ("store", "store (call call_7): the tool can't be run", RuntimeError),
        (
            "wrong",
            "wrong (call call_7): the function did its work, but its result can't be written",
            ValueError,
        ),
    ],
)
def test_a_failure_of_the_tool_or_the_host_is_an_error_with_its_traceback(caplog, name, text, raised):
    [record] = records_of(caplog, name)
    assert (record.levelno, record.getMessage()) == (logging.ERROR, text)
    assert isinstance(record.exc_info[1], raised)
    assert "Traceback" in caplog.text
    assert "hunter2" not in caplog.text


def test_the_traceback_leads_to_the_line_of_the_tool(caplog):
    records_of(caplog, "work")
    assert 'raise KeyError("no such row")' in caplog.text


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("refuse", None, "refuse (call call_7): the function raised a CallError"),
        ("work", {"secret": 5}, "work (call call_7): the arguments do not fit: secret wrong_type"),
        ("work", "{", "work (call call_7): the arguments do not fit: invalid_json"),
        ("off", None, "off (call call_7): the tool is switched off"),
        ("wrok\n", None, "wrok\\u000a (call call_7): there is no such tool"),
    ],
)
def test_what_the_model_can_act_on_is_for_information(caplog, name, arguments, text):
    [record] = records_of(caplog, name, arguments)
    assert (record.levelno, record.getMessage(), record.exc_info) == (logging.INFO, text, None)


def test_information_is_not_logged_unless_it_is_asked_for(caplog):
    assert not records_of(caplog, "refuse", level=logging.WARNING)


def test_the_switch_of_a_tool_that_fails_is_logged_by_the_same_logger(caplog):
    def broken() -> bool:
        raise ZeroDivisionError

    Executor([off.with_(enabled=broken), store]).run_sync(RawCall("1", "stroe", {}))
    [record] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert record.name == LOGGER
    assert "switch failed" in record.getMessage()
    assert record.exc_info[0] is ZeroDivisionError


@pytest.mark.needs_process
def test_failures_reach_stderr_without_any_set_up():
    code = (
        "from operator_schema import Executor, RawCall, tool\n"
        "@tool\n"
        "def work() -> str:\n    'Do it.'\n    raise KeyError('no such row')\n"
        "Executor([work]).run_sync(RawCall('1', 'work'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("work (call 1): the function failed\nTraceback")
    assert done.stderr.endswith("KeyError: 'no such row'\n")


# --- what the model reads about its arguments ----------------------------------------------------


def test_a_report_of_ones_own():
    executor = Executor([work], report=lambda error: "\n".join([problem.code for problem in error.findings]))
    assert executor.run_sync(RawCall("1", "work", {"secret": 5})).content == "wrong_type"


@pytest.mark.parametrize("report", [lambda _: 1 / 0, lambda _: 5, lambda _: None])
def test_a_report_that_fails_is_logged_and_the_usual_one_is_given(caplog, report):
    result = Executor([work], report=report).run_sync(RawCall("1", "work", {"secret": 5}))
    assert (result.code, result.content.splitlines()[0]) == (
        "invalid_params",
        "work: 1 problem with the arguments",
    )
    assert "work (call 1): the function given as report failed" in caplog.text


def test_a_report_is_a_function():
    with pytest.raises(ValueError, match="report must be a plain function from a DecodeError to a string"):
        Executor([], report="short")


def test_the_log_says_why_an_answer_may_have_been_cut_off(caplog):
    executor = Executor([work])
    with caplog.at_level(logging.INFO, LOGGER):
        executor.run_sync(RawCall("1", "work", "{", is_cut_off=True))
    (message,) = caplog.messages
    assert message == (
        "work (call 1): the model's answer ended before the call was complete: "
        "a limit on its tokens, or a stream that ended (answer.stop says which)"
    )
