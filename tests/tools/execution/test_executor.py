"""The executor: a result for every call, whatever happens (rows M1 to M4, N5, N6, O7, O9, J7, L4)."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import math
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest

from operator_schema import (
    CallError,
    DecodeError,
    EncodeError,
    Executor,
    MissingContextError,
    RawArguments,
    RawCall,
    Registry,
    SchemaError,
    SchemaLeaf,
    ToolNotFoundError,
    describe_tools,
    skip,
    tool,
    tool_input,
)

pytestmark = pytest.mark.needs_threads

SOON = 0.05
"""Seconds after which a call that takes too long is ended here."""


class Db:
    def __init__(self, rows=()):
        self.rows = list(rows)


@tool
def add(x: int, y: int = 1) -> int:
    """Add two numbers."""
    return x + y


@tool
async def greet(name: str, db: Annotated[Db, skip]) -> dict[str, Any]:
    """Greet somebody."""
    await asyncio.sleep(0)
    db.rows.append(name)
    return {"hello": name}


@tool
def say(text: str) -> str:
    """Say it."""
    return text


@tool
def ping() -> str:
    """Answer."""
    return "pong"


def one(entry, arguments=None, context=None, **options):
    """Run one call of one tool, in a loop of its own."""
    executor = Executor([entry], **options)
    return asyncio.run(executor.execute(RawCall("c1", entry.name, arguments), context=context))


def gone(check, seconds=5):
    """Wait until something holds that a thread brings about."""
    until = time.monotonic() + seconds
    while not check() and time.monotonic() < until:
        time.sleep(0.005)
    return check()


# --- results -------------------------------------------------------------------------------------


def test_m1_o9_l4_a_result_is_text_or_compact_json():
    assert one(add, {"x": 2}).content == "3"
    assert one(say, {"text": 'a "b"\n'}).content == 'a "b"\n'
    result = one(greet, '{"name": "Ada"}', {Db: Db()})
    assert result.content == '{"hello":"Ada"}'
    assert (result.call_id, result.name) == ("c1", "greet")
    assert (result.is_error, result.code, result.details) == (False, None, None)


def test_n5_the_context_reaches_sync_and_async_tools_and_the_function_is_still_one():
    db = Db()

    @tool
    def store(name: str, db: Annotated[Db, skip]) -> int:
        db.rows.append(name)
        return len(db.rows)

    assert one(greet, {"name": "a"}, {Db: db}).content == '{"hello":"a"}'
    assert one(store, {"name": "b"}, {"db": db}).content == "2"
    assert db.rows == ["a", "b"]
    assert store("c", db) == 3
    assert add(1) == 2


@pytest.mark.parametrize("blank", [None, "", "  \n", b"", {}, "{}"])
def test_o7_a_call_without_arguments(blank):
    assert one(ping, blank).content == "pong"


def test_o7_a_tool_may_take_its_arguments_raw():
    @tool
    def legacy(arguments: RawArguments) -> int:
        return arguments.require("count", int) * (arguments.optional("times", int) or 1)

    assert one(legacy, {"count": 3, "times": 2}).content == "6"
    missing = one(legacy, {"cuont": 3})
    assert missing.code == "invalid_params"
    assert "Missing argument 'count' for tool 'legacy'" in missing.content
    assert one(legacy, {"count": "3"}).code == "invalid_params"


def test_j7_repair_defaults_validate_run():
    seen = []

    @dataclass
    class Pattern:
        count: int

    @tool(repair=True, namespace={"Pattern": Pattern})
    def read(
        path: str,
        start_line: int,
        enabled: bool,
        string_or_integer: str | int,
        patterns: list[Pattern],
        end_line: int = 9,
    ) -> None:
        seen.append((path, start_line, enabled, string_or_integer, patterns, end_line))

    text = (
        '{"path":"README.md","start_line":"1","enabled":"true","string_or_integer":"3",'
        '"patterns":"[{\\"count\\":\\"2\\"}]"}'
    )
    assert one(read, text).content == "null"
    assert seen == [("README.md", 1, True, "3", [Pattern(2)], 9)]
    assert one(read, text.replace('"1"', '"one"')).code == "invalid_params"
    assert len(seen) == 1  # what is refused does not run


# --- failures ------------------------------------------------------------------------------------


def test_m3_no_such_tool():
    result = asyncio.run(Executor([add, say]).execute(RawCall("1", "ad", {})))
    assert (result.code, result.is_error) == ("tool_not_found", True)
    assert result.content == 'tool "ad" not found; did you mean "add"?'
    assert isinstance(result.details["exception"], ToolNotFoundError)
    result = asyncio.run(Executor([add, say]).execute(RawCall("1", "teleport" + "y" * 10**5, {})))
    assert result.content.endswith('" not found; the tools are "add", "say"')
    assert len(result.content) < 300
    assert asyncio.run(Executor([]).execute(RawCall("1", "x", {}))).content.endswith("there are no tools")


def test_m3_arguments_that_do_not_fit():
    result = one(add, {"x": "two", "z": 3})
    assert result.code == "invalid_params"
    assert result.content.startswith("add: 1 problem with the arguments\n- x: expected integer, got string")
    assert result.details["problems"][0]["path"] == "x"
    assert result.details["error"] == "DecodeError"
    assert isinstance(result.details["exception"], DecodeError)
    assert one(add, ["x"]).code == one(add, 5).code == "invalid_params"


@pytest.mark.parametrize(("text", "where"), [('{"x": 1', "column 8"), ('{\n"x" 1}', "line 2 column 5")])
def test_m4_bad_json_has_its_position(text, where):
    result = one(add, text)
    assert result.code == "invalid_params"
    assert "not valid JSON" in result.content
    assert where in result.content


def test_j8_a_registry_that_describes_points_there():
    registry = Registry([add.with_(description="Add two numbers. It can also add negative ones.")])
    registry.register(describe_tools(registry))
    results = asyncio.run(
        Executor(registry).execute_all(
            [RawCall("1", "add", {}), RawCall("2", "describe_tools", {"tools": ["add"]})]
        )
    )
    assert 'call describe_tools with {"tools": ["add"]}' in results[0].content
    assert "It can also add negative ones." in results[1].content


def test_n6_a_tool_that_is_off_says_so():
    registry = Registry([add, say.with_(enabled=True)], enabled=False)
    calls = [RawCall("1", "add", {"x": 1}), RawCall("2", "say", {"text": "a"})]
    off, on = asyncio.run(Executor(registry).execute_all(calls))
    assert (off.code, off.is_error) == ("disabled", True)
    assert off.content == 'tool "add" is disabled: it can\'t be called now'
    assert on.content == "a"
    registry.enabled = True
    assert asyncio.run(Executor(registry).execute(calls[0])).content == "2"


def test_a_switch_that_fails_is_a_result():
    asked = []

    def broken() -> bool:
        asked.append(1)
        if len(asked) < 3:
            return True
        raise ZeroDivisionError("secret")

    executor = Executor([add.with_(enabled=broken)])
    for name, code in (
        ("add", None),
        ("add", None),
        ("nothing", "tool_not_found"),
        ("add", "execution_failed"),
    ):
        result = asyncio.run(executor.execute(RawCall("1", name, {"x": 1})))
        assert result.code == code
        assert "secret" not in result.content


def raising(error, is_async=False):
    if is_async:

        @tool
        async def work() -> None:
            raise error

        return work

    @tool
    def work() -> None:
        raise error

    return work


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@both
def test_m3_what_a_function_raises_is_told(is_async):
    error = ValueError("no such user: 5\x1b")
    result = one(raising(error, is_async), {})
    assert (result.code, result.is_error) == ("execution_failed", True)
    assert result.content == "work failed: ValueError: no such user: 5\\u001b"
    assert result.details["exception"] is error
    assert "Traceback" not in result.content


@both
@pytest.mark.parametrize(
    ("show", "content"),
    [("type", "work failed: ValueError"), ("message", "work failed: ValueError: secret")],
)
def test_the_host_says_how_much_is_told(is_async, show, content):
    assert one(raising(ValueError("secret"), is_async), {}, show_errors=show).content == content


def test_a_traceback_is_told_when_asked_for():
    result = one(raising(ValueError("no")), {}, show_errors="traceback")
    assert result.content.startswith("work failed: ValueError: no\n\nTraceback")
    assert "raise error" in result.content
    assert len(one(raising(ValueError("x" * 10**6)), {}, show_errors="traceback").content) < 12_000


@both
@pytest.mark.parametrize("show", ["type", "message", "traceback"])
def test_a_call_error_is_for_the_model(is_async, show):
    error = CallError("There is no user 5.\nAsk for the user id.")
    result = one(raising(error, is_async), {}, show_errors=show)
    assert result.content == "There is no user 5.\nAsk for the user id."
    assert (result.code, result.details) == ("execution_failed", {"exception": error})


class MuteCallError(CallError):
    def __init__(self):
        pass


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ExceptionGroup("g", [CallError("one"), ExceptionGroup("h", [CallError("two")])]), "one\ntwo"),
        (
            ExceptionGroup("g", [CallError("one"), KeyError("k")]),
            "work failed: CallError: one; KeyError: 'k'",
        ),
        (
            ExceptionGroup("g", [KeyError(n) for n in range(9)]),
            "work failed: KeyError: 0; KeyError: 1; KeyError: 2; KeyError: 3; KeyError: 4; … (4 more)",
        ),
        (StopIteration(5), "work failed: StopIteration: 5"),
        (MuteCallError(), "MuteCallError"),
        (RecursionError(), "work failed: RecursionError"),
        (MemoryError(), "work failed: MemoryError"),
        (TimeoutError("from the database"), "work failed: TimeoutError: from the database"),
        (RuntimeError("of its own"), "work failed: RuntimeError: of its own"),
        (DecodeError("other", []), "work failed: DecodeError: other: 0 problems with the arguments"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_exception_has_a_result(error, content):
    result = one(raising(error), {})
    assert (result.code, result.content) == ("execution_failed", content)


def test_what_the_host_does_wrong_is_for_the_host():
    result = one(greet, {"name": "Ada"})
    assert result.code == "execution_failed"
    assert result.content == "greet can't be run here; calling it again will not help"
    assert isinstance(result.details["exception"], MissingContextError)

    @tool_input(name="move", description="Move.")
    @dataclass
    class Move:
        to: str

    assert one(Move, {"to": "a1"}).content == "move can't be run here; calling it again will not help"
    assert one(Move, {}).code == "invalid_params"


def test_a_context_that_is_none_is_for_the_host():
    call = RawCall("c", "greet", {"name": "Ada"})
    result = Executor([greet]).execute_sync(call, context=Db())
    assert result.content == "greet can't be run here; calling it again will not help"
    assert "as in {Db: db}" in str(result.details["exception"])


def test_what_is_no_call_is_refused_before_any_runs():
    db = Db()
    executor = Executor([greet])
    calls = [RawCall("c", "greet", {"name": "Ada"}), {"id": "d", "name": "greet", "arguments": "{}"}]
    with pytest.raises(TypeError, match=r"a call is a RawCall\(id, name, arguments\), not object \{\"id\""):
        executor.execute_all_sync(calls, context={Db: db})
    with pytest.raises(TypeError, match="a call is a RawCall"):
        executor.execute_sync(("d", "greet", "{}"))
    assert db.rows == []


def test_a_result_that_can_not_be_told():
    @tool
    def wrong() -> int:
        return "five" and object()

    result = one(wrong, {})
    assert result.code == "execution_failed"
    assert (
        result.content == "wrong did its work, but its result can't be shown; calling it again will not help"
    )
    assert result.details["error"] == "EncodeError"
    assert "object" not in result.content


def test_a_bug_in_an_input_class_is_a_failure_of_the_tool():
    @dataclass
    class Point:
        x: int

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("negative")
            raise KeyError("a bug")

    @tool(namespace={"Point": Point})
    def draw(point: Point) -> None: ...

    assert one(draw, {"x": -1}).code == "invalid_params"
    result = one(draw, {"x": 1})
    assert (result.code, result.content) == ("execution_failed", "draw failed: KeyError: 'a bug'")


@both
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, type("Own", (BaseException,), {})])
def test_what_ends_the_program_passes_through(is_async, error):
    executor = Executor([raising(error(), is_async)])

    async def run():
        with pytest.raises(error):
            await executor.execute(RawCall("1", "work", {}))
        with pytest.raises(error):
            await executor.execute_all([RawCall("1", "work", {}), RawCall("2", "nothing", {})])
        return "the loop lives"

    assert asyncio.run(run()) == "the loop lives"
    with pytest.raises(error):
        executor.execute_sync(RawCall("1", "work", {}))


# --- time ----------------------------------------------------------------------------------------


def test_m3_an_async_tool_is_really_ended():
    ended = []

    @tool
    async def work() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
            ended.append("tidied up")
            raise

    async def run():
        result = await Executor([work], timeout=SOON).execute(RawCall("1", "work", {}))
        return result, list(ended), asyncio.all_tasks() - {asyncio.current_task()}

    result, ended_then, left = asyncio.run(run())
    assert result.code == "timeout"
    assert result.content == "work: no result within 0.05 s; whether it did its work is not known"
    assert result.details == {"seconds": SOON}
    assert ended_then == ["tidied up"]
    assert left == set()


def test_m3_a_sync_tool_is_reported_and_left_to_itself(caplog):
    stop = threading.Event()

    @tool
    def work() -> None:
        stop.wait(30)

    executor = Executor([work], timeout=SOON)
    start = time.perf_counter()
    result = executor.execute_sync(RawCall("1", "work", {}))
    assert time.perf_counter() - start < 5
    assert result.code == "timeout"
    assert executor.abandoned == 1
    assert caplog.record_tuples == [
        (
            "operator_schema.tools.execution.threads",
            logging.WARNING,
            "work: still runs, but nobody waits for it",
        )
    ]
    stop.set()
    assert gone(lambda: executor.abandoned == 0)


def test_m3_the_timeout_of_a_tool_wins():
    @tool(timeout=SOON)
    async def short() -> None:
        await asyncio.sleep(60)

    @tool(timeout=math.inf)
    async def endless() -> str:
        await asyncio.sleep(2 * SOON)
        return "done"

    calls = [RawCall("1", "short", {}), RawCall("2", "endless", {})]
    first, second = asyncio.run(Executor([short, endless], timeout=None).execute_all(calls))
    assert (first.code, second.content) == ("timeout", "done")
    assert Executor([endless], timeout=SOON).execute_sync(calls[1]).content == "done"


def test_m3_thirty_seconds_unless_set():
    assert Executor([])._timeout == 30.0


def test_a_tool_that_swallows_its_cancellation_is_left_to_itself(caplog):
    async def run():
        stop = asyncio.Event()

        @tool
        async def stubborn() -> str:
            while not stop.is_set():
                try:
                    await stop.wait()
                except asyncio.CancelledError:
                    continue
            return "late"

        executor = Executor([stubborn], timeout=SOON, grace=SOON)
        result = await executor.execute(RawCall("1", "stubborn", {}))
        before = executor.abandoned
        stop.set()
        await asyncio.sleep(SOON)
        return result.code, before, executor.abandoned

    assert asyncio.run(run()) == ("timeout", 1, 0)
    assert [record.getMessage() for record in caplog.records] == ["stubborn: was cancelled and still runs"]


def test_threads_are_counted_and_bounded():
    stop = threading.Event()

    @tool
    def hang() -> None:
        stop.wait(30)

    executor = Executor([hang, ping], timeout=SOON, max_threads=2)
    calls = [RawCall(str(number), "hang", {}) for number in range(2)]
    assert [result.code for result in executor.execute_all_sync(calls)] == ["timeout", "timeout"]
    assert executor.abandoned == 2
    late = executor.execute_sync(RawCall("3", "ping", {}))
    assert late.code == "timeout"
    assert late.content == "ping: no result within 0.05 s; it was not run"
    assert late.details["reason"] == "no thread was free; 2 run on from calls that took too long"
    stop.set()
    assert gone(lambda: executor.abandoned == 0)
    assert executor.execute_sync(RawCall("4", "ping", {})).content == "pong"


def test_waiting_for_a_place_does_not_count():
    @tool(timeout=1.0)
    async def nap() -> str:
        await asyncio.sleep(0.02)
        return "rested"

    calls = [RawCall(str(number), "nap", {}) for number in range(80)]
    results = asyncio.run(Executor([nap], max_concurrency=1).execute_all(calls))
    assert {result.content for result in results} == {"rested"}  # 1.6 s in all


# --- cancellation --------------------------------------------------------------------------------


@both
def test_a_tool_that_cancels_itself_is_a_result(is_async):
    result = one(raising(asyncio.CancelledError(), is_async), {})
    assert (result.code, result.content) == ("execution_failed", "work was cancelled")


def test_cancellation_passes_through_to_the_tool():
    seen = []

    @tool
    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            seen.append("ended")

    async def run():
        executor = Executor([work])
        single = asyncio.create_task(executor.execute(RawCall("1", "work", {})))
        many = asyncio.create_task(executor.execute_all([RawCall("1", "work", {})] * 5))
        await asyncio.sleep(0.02)
        single.cancel()
        many.cancel()
        outcomes = await asyncio.gather(single, many, return_exceptions=True)
        return outcomes, list(seen), asyncio.all_tasks() - {asyncio.current_task()}, executor.abandoned

    outcomes, ended, left, abandoned = asyncio.run(run())
    assert [type(outcome) for outcome in outcomes] == [asyncio.CancelledError] * 2
    assert ended == ["ended"] * 6
    assert (left, abandoned) == (set(), 0)


def test_cancellation_before_the_tool_began():
    async def run():
        task = asyncio.create_task(Executor([greet]).execute(RawCall("1", "greet", {"name": "x"})))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_cancellation_leaves_a_thread_to_itself():
    stop = threading.Event()

    @tool
    def work() -> None:
        stop.wait(30)

    async def run():
        executor = Executor([work])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(executor.execute(RawCall("1", "work", {})), SOON)
        return executor

    executor = asyncio.run(run())
    assert executor.abandoned == 1
    stop.set()
    assert gone(lambda: executor.abandoned == 0)


def test_who_is_cancelled_while_waiting_gives_the_place_back():
    async def run():
        executor = Executor([greet, add], max_concurrency=1)
        gate = asyncio.Event()

        @executor.registry.register
        @tool
        async def hold() -> None:
            await gate.wait()

        holder = asyncio.create_task(executor.execute(RawCall("1", "hold", {})))
        await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(executor.execute(RawCall("2", "add", {"x": n}))) for n in range(4)]
        await asyncio.sleep(0.01)
        waiting[0].cancel()
        gate.set()
        waiting[1].cancel()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert (await holder).content == "null"
        again = await executor.execute(RawCall("3", "add", {"x": 1}))
        return [getattr(outcome, "content", type(outcome)) for outcome in outcomes], again.content

    assert asyncio.run(run()) == ([asyncio.CancelledError, asyncio.CancelledError, "3", "4"], "2")


# --- many calls ----------------------------------------------------------------------------------


def test_results_are_in_the_order_of_the_calls_and_ids_may_repeat():
    @tool
    async def wait(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    calls = [RawCall("same", "wait", {"seconds": s}) for s in (0.05, 0.0, 0.03, 0.01)]
    results = asyncio.run(Executor([wait]).execute_all(iter(calls)))
    assert [result.content for result in results] == ["0.05", "0.0", "0.03", "0.01"]
    assert {result.call_id for result in results} == {"same"}
    assert asyncio.run(Executor([wait]).execute_all([])) == []


def test_one_failing_call_takes_no_other_down():
    calls = [
        RawCall("1", "work", {}),
        RawCall("2", "add", {"x": 1}),
        RawCall("3", "no", {}),
        RawCall("4", "add"),
    ]
    results = asyncio.run(Executor([raising(ValueError("no")), add]).execute_all(calls))
    assert [result.code for result in results] == [
        "execution_failed",
        None,
        "tool_not_found",
        "invalid_params",
    ]


@both
def test_the_limit_holds(is_async):
    running, most = set(), []
    lock = threading.Lock()

    def enter(number):
        with lock:
            running.add(number)
            most.append(len(running))

    def leave(number):
        with lock:
            running.discard(number)

    @tool(name="work")
    async def awork(number: int) -> None:
        enter(number)
        await asyncio.sleep(0.005)
        leave(number)

    @tool(name="work")
    def work(number: int) -> None:
        enter(number)
        time.sleep(0.005)
        leave(number)

    executor = Executor([awork if is_async else work], max_concurrency=3)
    calls = [RawCall(str(number), "work", {"number": number}) for number in range(20)]
    results = asyncio.run(executor.execute_all(calls))
    assert {result.content for result in results} == {"null"}
    assert max(most) == 3


def test_one_executor_in_many_threads_keeps_its_limit():
    running, most, lock = [0], [], threading.Lock()

    @tool
    async def work() -> None:
        with lock:
            running[0] += 1
            most.append(running[0])
        await asyncio.sleep(0.002)
        with lock:
            running[0] -= 1

    executor = Executor([work], max_concurrency=2)
    results = []

    def host():
        results.extend(executor.execute_all_sync([RawCall("1", "work", {})] * 10))

    threads = [threading.Thread(target=host) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == 50
    assert all(result.content == "null" for result in results)
    assert max(most) == 2


# --- where it runs -------------------------------------------------------------------------------

USER = contextvars.ContextVar("USER", default="nobody")


@both
def test_context_variables_reach_the_tool(is_async):
    @tool(name="who")
    async def awho() -> str:
        return USER.get()

    @tool
    def who() -> str:
        return USER.get()

    USER.set("ada")
    try:
        assert one(awho if is_async else who, {}).content == "ada"
        assert Executor([awho if is_async else who]).execute_sync(RawCall("1", "who")).content == "ada"
    finally:
        USER.set("nobody")


def test_a_sync_tool_does_not_block_the_loop():
    @tool
    def slow() -> str:
        time.sleep(0.2)
        return threading.current_thread().name

    async def run():
        ticks = 0
        task = asyncio.create_task(Executor([slow]).execute(RawCall("1", "slow", {})))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, (await task).content

    ticks, name = asyncio.run(run())
    assert ticks > 5
    assert name == "slow"


def wrapped(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call


def test_a_function_that_gives_something_to_await():
    @tool
    @wrapped
    async def work(seconds: float) -> float:
        await asyncio.sleep(seconds)
        if seconds == 0.25:
            raise CallError("no quarter")
        return seconds

    assert not work.is_async
    assert one(work, {"seconds": 0.0}).content == "0.0"
    assert one(work, {"seconds": 0.25}).content == "no quarter"
    assert one(work, {"seconds": 60}, timeout=SOON).code == "timeout"


@pytest.mark.filterwarnings("error")
def test_what_nobody_awaits_any_more_is_closed():
    held = threading.Event()
    closed = []

    async def inner():
        await asyncio.sleep(0)

    @tool
    def late() -> Any:
        held.wait(10)
        coroutine = inner()
        closed.append(coroutine)
        return coroutine

    executor = Executor([late], timeout=SOON)

    async def run():
        result = await executor.execute(RawCall("1", "late", {}))
        held.set()
        # The frame of what is closed is gone.
        while not closed or closed[0].cr_frame is not None:  # noqa: ASYNC110  # a thread brings it about
            await asyncio.sleep(0.005)
        return result.code

    assert asyncio.run(asyncio.wait_for(run(), 10)) == "timeout"
    held.clear()
    closed.clear()
    assert executor.execute_sync(RawCall("2", "late", {})).code == "timeout"
    held.set()  # the event loop is closed by now
    assert gone(lambda: closed and closed[0].cr_frame is None)


def test_a_leaf_that_fails_when_it_is_written():
    def write(value: complex) -> str:
        return str(1 / (value - 2j) + value - 1 / (value - 2j))

    leaf = SchemaLeaf(complex, {"type": "string"}, complex, write, 1j)

    @tool
    def number(real: float) -> Annotated[complex, leaf]:
        return complex(real, 2)

    assert one(number, {"real": 1}).content == '"(1+2j)"'
    result = one(number, {"real": 0})
    assert result.code == "execution_failed"
    assert result.content.startswith("number ")


def test_the_system_may_have_no_more_threads(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    executor = Executor([ping], max_threads=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        result = executor.execute_sync(RawCall("1", "ping", {}))
    assert (result.code, result.content) == ("execution_failed", "ping failed: RuntimeError")
    assert executor.execute_sync(RawCall("2", "ping", {})).content == "pong"  # the place is free again


def test_execute_sync_needs_no_loop_and_refuses_to_block_one():
    executor = Executor([greet, add])
    assert executor.execute_sync(RawCall("1", "add", {"x": 1})).content == "2"
    assert (
        executor.execute_sync(RawCall("1", "greet", {"name": "a"}), context={Db: Db()}).content
        == '{"hello":"a"}'
    )
    assert [r.content for r in executor.execute_all_sync([RawCall("1", "add", {"x": 1})] * 3)] == ["2"] * 3

    async def run():
        with pytest.raises(RuntimeError, match=r"execute_sync would block it: use await execute$"):
            executor.execute_sync(RawCall("1", "add", {"x": 1}))
        with pytest.raises(RuntimeError, match="use await execute_all"):
            executor.execute_all_sync([])
        return (await asyncio.to_thread(executor.execute_sync, RawCall("1", "add", {"x": 1}))).content

    assert asyncio.run(run()) == "2"


def test_execute_sync_leaves_the_hosts_loop_alone():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        Executor([add]).execute_sync(RawCall("1", "add", {"x": 1}))
        assert asyncio.get_event_loop() is loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def test_a_tool_may_call_others():
    executor = Executor([add])

    @executor.registry.register
    @tool
    async def twice(x: int) -> str:
        result = await executor.execute(RawCall("inner", "add", {"x": x, "y": x}))
        return result.content

    assert executor.execute_sync(RawCall("1", "twice", {"x": 4})).content == "8"


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout is a positive number of seconds, or None, not integer 0"),
        ({"timeout": math.nan}, "timeout is"),
        ({"timeout": True}, "timeout is"),
        ({"timeout": "30"}, "timeout is"),
        ({"max_concurrency": 0}, "max_concurrency is an integer of at least 1, or None, not integer 0"),
        ({"max_concurrency": 1.5}, "max_concurrency is"),
        ({"max_threads": None}, "max_threads is an integer of at least 1, not null"),
        ({"grace": -1}, "grace is a number of seconds, not integer -1"),
        ({"show_errors": "all"}, "show_errors is one of 'type', 'message', 'traceback', not string \"all\""),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match="^" + message.replace('"', '"')):
        Executor([], **options)


def test_an_executor_makes_a_registry_of_tools():
    registry = Registry([add])
    assert Executor(registry).registry is registry
    assert [entry.name for entry in Executor(iter([add])).registry] == ["add"]


# --- processes -----------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[3]


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
        "result = Executor([hang], timeout=0.1).execute_sync(RawCall('1', 'hang', {}))\n"
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
        "try: Executor([hang]).execute_sync(RawCall('1', 'hang', {}))\n"
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
        "def ping() -> str: return 'pong'\n"
        "registry = Registry([ping]); executor = Executor(registry); registry.definitions()\n"
        "late = {'asyncio', 'logging', 'threading', 'inspect', 'json', 'importlib.metadata'}\n"
        "print(*sorted(late & set(sys.modules)))\n"
    )
    base = process("import sys, dataclasses; print(*sorted({'inspect', 'threading'} & set(sys.modules)))")
    assert (done.stdout, done.stderr) == (base.stdout, "")


def test_an_unknown_name_beside_a_switch_that_fails(caplog):
    def broken() -> bool:
        raise ZeroDivisionError("secret")

    executor = Executor([add.with_(enabled=broken), say])
    results = executor.execute_all_sync(
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
        assert executor.execute_sync(RawCall("1", "add", {"x": 1})).content == "2"


def test_half_a_surrogate_pair_is_no_result():
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
        result = Executor([entry]).execute_sync(RawCall("1", entry.name))
        assert result.code == "execution_failed"
        assert b"did its work, but its result can't be shown" in result.content.encode()
    assert plain.encode_output("ä😀") == "ä😀"
