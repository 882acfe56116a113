"""Tools that report how far they are."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Mapping
from typing import Annotated

import pytest
from executor_samples import SOON, both
from patience import LONGEST_WAIT, until

from operator_schema import Executor, RawCall, SchemaError, skip, tool
from operator_schema.execution.stream import ProgressReports
from operator_schema.types import Progress, ProgressUpdate

pytestmark = pytest.mark.needs_threads

USER = contextvars.ContextVar("USER", default="nobody")


@tool
def count(to: int, progress: Annotated[Progress, skip]) -> int:
    """Count."""
    for number in range(1, to + 1):
        progress(number, to, f"at {number}")
    return to


@tool
async def acount(to: int, progress: Annotated[Progress, skip]) -> int:
    """Count."""
    for number in range(1, to + 1):
        progress(number, to, f"at {number}")
        await asyncio.sleep(0)
    return to


COUNT = RawCall("1", "count", {"to": 3})
ACOUNT = RawCall("1", "acount", {"to": 3})


@both
def test_updates_come_in_order_in_the_thread_of_the_loop_before_the_result(is_async):
    got = []

    def on_progress(call, update):
        got.append((call, update, threading.get_ident(), asyncio.get_running_loop()))

    async def run():
        call = ACOUNT if is_async else COUNT
        result = await Executor([count, acount]).run(call, on_progress=on_progress)
        at_result = len(got)
        await asyncio.sleep(SOON)
        assert {entry[3] for entry in got} == {asyncio.get_running_loop()}
        return call, result.content, at_result

    call, content, at_result = asyncio.run(run())
    assert (content, at_result) == ("3", 3)
    assert [entry[:2] for entry in got] == [(call, ProgressUpdate(n, 3, f"at {n}")) for n in (1, 2, 3)]
    assert {entry[2] for entry in got} == {threading.get_ident()}


@both
def test_without_on_progress_a_report_does_nothing(is_async):
    call = ACOUNT if is_async else COUNT
    assert Executor([count, acount]).run_sync(call).content == "3"


def test_the_model_does_not_see_it():
    assert list(count.input_schema()["properties"]) == ["to"]
    assert count.takes_progress
    assert not tool(lambda: None, name="nothing").takes_progress


def test_by_hand_a_progress_does_nothing():
    assert count(2, Progress()) == 2
    assert count.run({"to": 2}, progress=Progress()) == "2"
    assert count.run({"to": 2}, context={Progress: Progress()}) == "2"


OPTIONAL = Annotated[Progress | None, skip]


@tool
def tell(progress: OPTIONAL = None) -> None:
    """Tell it."""
    progress(1)


def test_it_is_injected_by_its_type_however_that_is_written():
    got = []
    Executor([tell]).run_sync(RawCall("1", "tell"), on_progress=lambda _, update: got.append(update))
    assert got == [ProgressUpdate(1)]


def test_your_context_wins():
    own, got = Progress(), []

    @tool
    def work(progress: Annotated[Progress, skip]) -> bool:
        progress(1)
        return progress is own

    executor = Executor([work])
    call = RawCall("1", "work")
    result = executor.run_sync(call, context={Progress: own}, on_progress=lambda *seen: got.append(seen))
    assert (result.content, got) == ("true", [])
    result = executor.run_sync(call, context={"progress": own}, on_progress=lambda *seen: got.append(seen))
    assert (result.content, got) == ("true", [])


def test_several_calls_and_a_stream():
    executor, got = Executor([count, acount]), []

    def on_progress(call, update):
        got.append((call.id, update.done))

    calls = [RawCall("a", "count", {"to": 3}), RawCall("b", "acount", {"to": 3})]

    async def run():
        await executor.run(calls, on_progress=on_progress)
        results = executor.stream(calls, on_progress=on_progress)
        await anext(results)
        got.extend([(result.call_id, "result") async for result in results])

    asyncio.run(run())
    for name in "ab":
        own = [what for call, what in got if call == name]
        assert own[:6] == [1, 2, 3] * 2
    assert got[-1][1] == "result"


def test_an_on_progress_that_raises_does_not_take_the_call_down(caplog):
    def on_progress(call, update):
        raise asyncio.CancelledError if update.done == 2 else ValueError("oops")

    result = Executor([acount]).run_sync(ACOUNT, on_progress=on_progress)
    assert result.content == "3"
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 3
    assert {record.getMessage() for record in caplog.records} == {
        "acount: the function given as on_progress failed"
    }


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_raised(error):
    def on_progress(call, update):
        raise error

    with pytest.raises(error):
        Executor([acount]).run_sync(ACOUNT, on_progress=on_progress)


def test_on_progress_is_a_plain_function(caplog):
    async def on_progress(call, update):
        pass

    executor = Executor([count])
    for wrong in (on_progress, "show", 1):
        with pytest.raises(
            TypeError, match="on_progress must be a plain function of a call and an update, not"
        ):
            executor.run_sync(COUNT, on_progress=wrong)
        with pytest.raises(TypeError, match="on_progress must be a plain function"):
            executor.stream([COUNT], on_progress=wrong)

    def hidden(call, update):
        return on_progress(call, update)

    # It is closed, and the log says why.
    result = executor.run_sync(COUNT, on_progress=hidden)
    assert result.content == "3"
    assert "it returned something to await" in caplog.text


def test_it_sees_the_context_variables_of_the_caller():
    seen = []

    @tool
    async def work(progress: Annotated[Progress, skip]) -> None:
        USER.set("the tool")
        progress(1)

    async def run():
        USER.set("ada")
        await Executor([work]).run(
            RawCall("1", "work"), on_progress=lambda call, update: seen.append(USER.get())
        )

    asyncio.run(run())
    assert seen == ["ada"]


def test_after_the_call_a_report_does_nothing(caplog):
    kept, got = [], []

    @tool
    def work(progress: Annotated[Progress, skip]) -> None:
        kept.append(progress)

    async def run():
        executor = Executor([work])
        await executor.run(RawCall("1", "work"), on_progress=lambda *given: got.append(given))
        kept[0](1)
        await asyncio.to_thread(kept[0], 2)
        await asyncio.sleep(SOON)

    asyncio.run(run())
    kept[0](3)  # nor when the loop is closed
    assert got == []
    assert not caplog.records


def test_an_update_that_arrives_while_the_call_ends_is_dropped():
    """A thread may be in the middle of a report at that moment."""
    got = []

    async def run():
        reports = ProgressReports(COUNT, lambda call, update: got.append(update.done))
        reports.add(ProgressUpdate(1))
        reports.end()
        reports.add(ProgressUpdate(2))
        await asyncio.sleep(SOON)

    asyncio.run(run())
    assert got == [1]


@both
def test_a_call_that_took_too_long_reports_no_more(is_async):
    got = []
    ends = threading.Event()

    @tool(timeout=4 * SOON)
    def work(progress: Annotated[Progress, skip]) -> None:
        progress(1)
        time.sleep(8 * SOON)
        progress(2)
        ends.set()

    @tool(name="work", timeout=SOON)
    async def awork(progress: Annotated[Progress, skip]) -> None:
        progress(1)
        try:
            await asyncio.sleep(60)
        finally:
            progress(2)  # while it cleans up, the call isn't over
            ends.set()

    async def run():
        executor = Executor([awork if is_async else work])
        result = await executor.run(
            RawCall("1", "work"), on_progress=lambda call, update: got.append(update.done)
        )
        await asyncio.to_thread(ends.wait, 10)
        await asyncio.sleep(SOON)
        return result.code

    assert asyncio.run(run()) == "timeout"
    assert got == ([1, 2] if is_async else [1])


def test_a_flood_is_bounded_and_the_newest_are_kept():
    got = []

    @tool
    async def flood(progress: Annotated[Progress, skip]) -> None:
        for number in range(100_000):
            progress(number)

    Executor([flood]).run_sync(
        RawCall("1", "flood"), on_progress=lambda call, update: got.append(update.done)
    )
    assert got == list(range(99_900, 100_000))


def test_a_flood_from_a_thread_leaves_the_loop_to_others():
    got, stop = [], threading.Event()

    @tool
    def flood(progress: Annotated[Progress, skip]) -> int:
        number = 0
        while not stop.is_set():
            number += 1
            progress(number)
        return number

    def note(_call, update):
        got.append(update.done)

    async def others():
        await until(lambda: got)  # the thread may begin late
        for _ in range(10):
            await asyncio.sleep(0.001)
        stop.set()

    async def run():
        task = asyncio.create_task(Executor([flood]).run(RawCall("1", "flood"), on_progress=note))
        await asyncio.wait_for(others(), LONGEST_WAIT)
        return int((await task).content)

    last = asyncio.run(run())
    assert got == sorted(set(got))
    assert got[-1] == last


def test_many_threads_of_one_tool():
    got = []

    @tool
    def work(progress: Annotated[Progress, skip]) -> None:
        threads = [
            threading.Thread(target=lambda: [progress(number) for number in range(10)]) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    Executor([work]).run_sync(RawCall("1", "work"), on_progress=lambda call, update: got.append(update.done))
    assert sorted(got) == sorted([*range(10)] * 8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("1",), 'done must be a number, not string "1"'),
        ((1, "2"), 'total must be a number or None, not string "2"'),
        ((1, 2, b"x"), "message must be a string or None, not"),
    ],
)
def test_arguments_are_checked_even_where_nobody_listens(given, message):
    with pytest.raises(TypeError) as caught:
        Progress()(*given)
    assert str(caught.value).startswith(message)


def test_messages_are_bounded():
    got = []

    class Text(str):
        __slots__ = ()

        def __len__(self):
            raise ValueError

    @tool
    def work(progress: Annotated[Progress, skip]) -> None:
        progress(1, None, Text("x" * 5000))

    Executor([work]).run_sync(
        RawCall("1", "work"), on_progress=lambda call, update: got.append(update.message)
    )
    assert got == ["x" * 999 + "…"]
    assert type(got[0]) is str


def test_progress_without_its_mark_is_said():
    def count(to: int, progress: Progress) -> int: ...

    with pytest.raises(SchemaError, match=r"Mark it: progress: Annotated\[Progress, skip\]"):
        tool(count)


class Lazy(Mapping):
    """Makes its values when it is asked for them."""

    def __init__(self, makers):
        self.makers, self.asked = makers, []

    def __getitem__(self, key):
        make = self.makers[key]
        self.asked.append(key)
        return make()

    def __iter__(self):
        return iter(self.makers)

    def __len__(self):
        return len(self.makers)


def test_a_context_is_asked_only_for_what_the_function_needs():
    @tool
    def named(user: Annotated[str, skip], progress: Annotated[Progress, skip]) -> str:
        progress(1)
        return user

    def broken():
        raise AssertionError

    context, updates = Lazy({"user": lambda: "Ann", "database": broken}), []
    executor = Executor([named])
    assert executor.run_sync(RawCall("1", "named"), context=context).content == "Ann"
    on_progress = lambda _, update: updates.append(update.done)  # noqa: E731  # the shortest there is
    result = executor.run_sync(RawCall("2", "named"), context=context, on_progress=on_progress)
    assert (result.content, updates, set(context.asked)) == ("Ann", [1], {"user"})
