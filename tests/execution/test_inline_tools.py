"""Plain functions that run in the thread of the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import re
import sqlite3
import threading
import time
from dataclasses import dataclass

import pytest
from executor_samples import SOON, ping

from operator_schema import CallError, Executor, RawCall, SchemaError, tool, tool_input

pytestmark = pytest.mark.needs_threads

USER = contextvars.ContextVar("USER", default="nobody")


@tool
def where() -> int:
    return threading.get_ident()


WHERE = RawCall("1", "where")


def runs_here(executor, call=WHERE):
    async def run():
        return int((await executor.run(call)).content) == threading.get_ident()

    return asyncio.run(run())


def test_a_tool_or_an_executor_says_where_and_the_tool_wins():
    assert not runs_here(Executor([where]))
    assert runs_here(Executor([where], threads=False))
    assert runs_here(Executor([where.with_(threads=False)]))
    assert not runs_here(Executor([where.with_(threads=True)], threads=False))
    assert where.threads is None
    assert where.with_(threads=False).threads is False
    assert where.with_(threads=False).with_(name="there").threads is False


def test_a_connection_of_sqlite_works():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (x)")

    @tool(threads=False)
    def insert(x: int) -> int:
        connection.execute("insert into t values (?)", [x])
        return connection.execute("select count(*) from t").fetchone()[0]

    executor = Executor([insert])
    results = asyncio.run(executor.run([RawCall(str(n), "insert", {"x": n}) for n in range(3)]))
    assert [result.content for result in results] == ["1", "2", "3"]
    # Also where the calls themselves run in another thread.

    async def run():
        return executor.run_sync(RawCall("4", "insert", {"x": 4})).content

    assert asyncio.run(run()) == "4"
    assert executor.run_sync(RawCall("5", "insert", {"x": 5})).content == "5"
    connection.close()


@pytest.mark.usefixtures("no_more_threads")
def test_no_thread_is_started():
    @tool
    def length(text: str) -> int:
        return len(text)

    @tool
    async def alength(text: str) -> int:
        return len(text)

    executor = Executor([length, alength], threads=False)
    for name in ("length", "alength"):
        assert executor.run_sync(RawCall("1", name, {"text": "x" * 10_000})).content == "10000"


def test_long_arguments_are_decoded_in_a_thread_and_the_function_runs_here():
    @tool(threads=False)
    def where(text: str) -> int:
        return threading.get_ident()

    executor = Executor([where])
    assert runs_here(executor, RawCall("1", "where", {"text": "x" * 10_000}))
    result = asyncio.run(executor.run(RawCall("1", "where", {"text": ["x"] * 10_000})))
    assert result.code == "invalid_params"


def test_what_ends_the_program_while_arguments_are_decoded_is_raised():
    @dataclass
    class Text:
        text: str

        def __post_init__(self):
            raise SystemExit

    @tool(threads=False)
    def work(text: Text) -> None:
        pass

    with pytest.raises(SystemExit):
        asyncio.run(Executor([work]).run(RawCall("1", "work", {"text": "x" * 10_000})))


def test_failures_are_results():
    @tool(threads=False)
    def work(how: str) -> None:
        if how == "refuse":
            raise CallError("not today")
        if how == "cancel":
            raise asyncio.CancelledError
        raise ValueError(how)

    executor = Executor([work])
    contents = [executor.run_sync(RawCall("1", "work", {"how": how})).content for how in ("refuse", "x")]
    assert contents == ["not today", "work failed: ValueError"]
    assert executor.run_sync(RawCall("1", "work", {"how": "cancel"})).content == "work was cancelled"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_raised(error):
    @tool(threads=False)
    def work() -> None:
        raise error

    with pytest.raises(error):
        Executor([work]).run_sync(RawCall("1", "work"))

    async def run():
        Executor([work]).run_sync(RawCall("1", "work"))

    with pytest.raises(error):
        asyncio.run(run())


def test_context_variables_are_seen_and_not_changed():
    @tool(threads=False)
    def become(name: str) -> str:
        before = USER.get()
        USER.set(name)
        return before

    async def run():
        USER.set("ada")
        result = await Executor([become]).run(RawCall("1", "become", {"name": "eve"}))
        return result.content, USER.get()

    assert asyncio.run(run()) == ("ada", "ada")


@pytest.mark.parametrize("is_inside", [False, True], ids=["in its loop", "inside another"])
def test_what_takes_too_long_gives_its_result_and_says_so(caplog, is_inside):
    @tool(threads=False, timeout=SOON)
    def slow() -> str:
        time.sleep(2 * SOON)
        return "done"

    async def run():
        executor = Executor([slow])
        return (
            executor.run_sync(RawCall("1", "slow")) if is_inside else await executor.run(RawCall("1", "slow"))
        )

    result = asyncio.run(run())
    assert (result.content, result.code) == ("done", None)
    assert result.details["took_seconds"] >= 2 * SOON
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    text = r"slow \(call 1\): it took [\d.]+ s, and its limit is 0.05 s: nothing could interrupt it"
    assert re.fullmatch(text, record.getMessage())


def test_what_it_returns_to_be_awaited_has_a_time_limit():
    @tool(threads=False, timeout=SOON)
    def work(seconds: float) -> object:
        return asyncio.sleep(seconds, "rested")

    executor = Executor([work])
    assert executor.run_sync(RawCall("1", "work", {"seconds": 0.0})).content == "rested"
    assert executor.run_sync(RawCall("1", "work", {"seconds": 60.0})).code == "timeout"


def test_a_call_that_is_cancelled_before_its_turn_in_the_waiting_thread_does_not_run():
    ran = []

    @tool(threads=False, timeout=None)
    def first() -> None:
        ran.append("first")
        time.sleep(4 * SOON)

    @tool(threads=False)
    def second() -> None:
        ran.append("second")

    executor = Executor([first, second, ping])

    @executor.registry.register
    @tool(timeout=SOON)
    async def both() -> None:
        await executor.run([RawCall("1", "first"), RawCall("2", "second")])

    async def run():
        return executor.run_sync(RawCall("0", "both")).code

    assert asyncio.run(run()) == "timeout"
    assert ran == ["first"]
    assert executor.abandoned == 0


def test_options_are_checked():
    with pytest.raises(ValueError, match='threads must be True or False, not "no"'):
        Executor([], threads="no")
    with pytest.raises(SchemaError, match="threads is 1, not True or False"):
        where.with_(threads=1)

    with pytest.raises(TypeError, match="unexpected option 'threads'"):
        tool_input(threads=False)(dict)
