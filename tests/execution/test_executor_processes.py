"""Processes that end while calls run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from executor_samples import add, say
from patience import LONGEST_WAIT

from operator_schema import (
    EncodeError,
    Executor,
    RawCall,
    SchemaError,
    tool,
)

pytestmark = pytest.mark.needs_threads

ROOT = Path(__file__).resolve().parents[2]


def process(code, timeout=20):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=timeout,
        check=False,
    )


@pytest.mark.needs_process
def test_nothing_hangs_at_the_exit_of_the_interpreter():
    done = process(
        "import time\n"
        "from operator_schema import Executor, RawCall, tool\n"
        "@tool\n"
        "def hang() -> None: time.sleep(600)\n"
        "result = Executor([hang], timeout=0.1).run_sync(RawCall('1', 'hang', {}))\n"
        "print(result.code)\n"
    )
    assert (done.returncode, done.stdout) == (0, "timeout\n")


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to another process")
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_an_interrupt_ends_a_call(kind):
    code = (
        "import asyncio, os, signal, threading, time\n"
        # Where the tests run in the background, SIGINT is ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from operator_schema import Executor, RawCall, tool\n"
        "@tool\n"
        f"{kind} hang() -> None:\n"
        "    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        f"    {'await asyncio' if kind != 'def' else 'time'}.sleep(600)\n"
        "try: Executor([hang]).run_sync(RawCall('1', 'hang', {}))\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    done = process(code)
    assert (done.returncode, done.stdout) == (0, "interrupted\n")


@pytest.mark.needs_process
def test_nothing_is_loaded_before_it_is_used():
    done = process(
        "import sys\n"
        "from operator_schema import Executor, Registry, RawCall, ToolResult, tool\n"
        "@tool\n"
        "def ping() -> str:\n    'Answer.'\n    return 'pong'\n"
        "registry = Registry([ping]); executor = Executor(registry); registry.definitions()\n"
        "late = {'asyncio', 'logging', 'threading', 'inspect', 'json', 'importlib.raw'}\n"
        "print(*sorted(late & set(sys.modules)))\n"
    )
    base = process("import sys, dataclasses; print(*sorted({'inspect', 'threading'} & set(sys.modules)))")
    assert (done.stdout, done.stderr) == (base.stdout, "")


def test_an_unknown_name_beside_a_switch_that_fails(caplog):
    def broken() -> bool:
        raise ZeroDivisionError("secret")

    executor = Executor([add.with_(enabled=broken), say])
    results = executor.run_sync(
        [RawCall("1", "sya", {}), RawCall("2", "add", {"x": 1}), RawCall("3", "say", {"text": "a"})]
    )
    assert [result.code for result in results] == ["tool_not_found", "execution_failed", None]
    assert 'did you mean "say"' in results[0].content
    assert "add: its switch failed" in caplog.text


def test_a_time_that_no_clock_counts_is_refused():
    for seconds in (10**400, float("nan"), -1):
        with pytest.raises(ValueError, match="timeout"):
            Executor([say], timeout=seconds)
        with pytest.raises(ValueError, match="grace"):
            Executor([say], grace=seconds)
        with pytest.raises(SchemaError, match="timeout"):
            say.with_(timeout=seconds)
        with pytest.raises(SchemaError, match="timeout"):
            tool(timeout=seconds)(say)
    for seconds in (float("inf"), 10**300):
        executor = Executor([add.with_(timeout=seconds)], timeout=seconds, grace=seconds)
        assert executor.run_sync(RawCall("1", "add", {"x": 1})).content == "2"


def test_a_lone_surrogate_is_no_result_where_results_are_strict():
    @tool
    def plain() -> str:
        return "a\ud800"

    @tool
    def listed() -> list[str]:
        return ["a\ud800"]

    @tool
    def untold():
        return "a\ud800"

    for entry in (plain, listed, untold):
        with pytest.raises(EncodeError, match="surrogate") as caught:
            entry.run({})
        assert caught.value.name == entry.name
        result = Executor([entry], strict_results=True).run_sync(RawCall("1", entry.name))
        assert result.code == "execution_failed"
        replaced = Executor([entry]).run_sync(RawCall("1", entry.name))
        assert replaced.content in {"a\ufffd", '["a\ufffd"]'}
        assert b"did its work, but its result can't be shown" in result.content.encode()
    assert plain.encode_output("ä😀") == "ä😀"


FORKS = """
import os, sys, threading, time
from operator_schema import Executor, RawCall, tool

@tool
def nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds

executor = Executor([nap], max_concurrency=2, max_threads=4)
call = RawCall("1", "nap", {"seconds": 0.02})
[executor.run_sync(call) for _ in range(50)]  # all is imported and compiled
stop = False

def work():
    while not stop:
        executor.run_sync(call)

threads = [threading.Thread(target=work, daemon=True) for _ in range(6)]
[thread.start() for thread in threads]
children = []
for _ in range(6):
    time.sleep(0.03)
    child = os.fork()
    if not child:
        done = executor.run_sync([call] * 6)
        os._exit(0 if [one.content for one in done] == ["0.02"] * 6 and executor.abandoned == 0 else 3)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
stop = True
"""


@pytest.mark.needs_process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_can_use_an_executor_that_was_busy():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS],  # Python warns of threads and fork
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_WAIT,
        check=False,
    )
    assert done.stdout == "[0, 0, 0, 0, 0, 0]\n", done.stderr


@pytest.mark.needs_process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system doesn't fork")
@pytest.mark.parametrize("depth", [1, 2])
def test_an_interrupt_of_a_child_that_a_function_has_forked_ends_the_child(depth):
    done = process(
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from operator_schema import Executor, RawCall, tool\n"
        "def ended():\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        try:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "        except KeyboardInterrupt:\n"
        "            os._exit(7)\n"
        "        os._exit(8)\n"
        "    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "@tool(threads=False)\n"
        "def fork(depth: int) -> int:\n"
        "    return ended() if depth == 1 else run(depth - 1)\n"
        "def run(depth):\n"
        "    return Executor([fork]).run_sync(RawCall('1', 'fork', {'depth': depth})).value\n"
        f"print(run({depth}), signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )
    assert (done.returncode, done.stdout) == (0, "7 True\n"), done.stderr
