"""Exceptions that the program which runs the calls handles itself."""

from __future__ import annotations

import asyncio
import logging
import signal
import traceback
from dataclasses import dataclass

import pytest
from executor_samples import add, both, one, raising

from operator_schema import CallError, Executor, RawCall, tool
from operator_schema.types import RawArguments

pytestmark = pytest.mark.needs_threads


class Interrupt(Exception):  # noqa: N818  # what hosts call theirs
    """What a host raises to ask a human."""


class AskHuman(Interrupt):
    pass


class Stop(BaseException):
    pass


class Liar(Exception):  # noqa: N818  # it isn't an error of ours
    """It says that it is an interrupt."""

    __class__ = Interrupt  # type: ignore[assignment]


@both
def test_an_exception_of_the_host_reaches_the_caller(caplog, is_async):
    error = AskHuman("sure?")
    with pytest.raises(Interrupt) as caught:
        one(raising(error, is_async), pass_through=(Interrupt,))
    assert caught.value is error
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "work"
    assert (error.__context__, error.__cause__) == (None, None)
    assert caplog.records == []


@both
@pytest.mark.parametrize("error", [ValueError("x"), Liar("x")], ids=["other", "disguised"])
def test_other_exceptions_are_results(is_async, error):
    result = one(raising(error, is_async), pass_through=(Interrupt,))
    assert (result.code, result.details["exception"] is error) == ("execution_failed", True)


@both
def test_one_inside_groups_is_raised_alone(caplog, is_async):
    first, second, lost = Interrupt("first"), AskHuman("second"), ValueError("lost")
    group = ExceptionGroup("all", [ExceptionGroup("some", [lost, first]), second])
    with pytest.raises(Interrupt) as caught:
        one(raising(group, is_async), pass_through=(Interrupt,))
    assert caught.value is first
    [record] = caplog.records
    assert (record.levelno, record.exc_info[1]) == (logging.WARNING, lost)
    said = "work (call c1): the function raised this besides the exception that is passed through"
    assert said in record.getMessage()


def test_a_real_task_group():
    @tool
    async def ask() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(30))
            group.create_task(fail())

    async def fail():
        raise AskHuman

    with pytest.raises(AskHuman):
        one(ask, pass_through=(AskHuman,))


class Unreadable(ExceptionGroup):
    @property
    def exceptions(self):
        raise Interrupt


def test_a_group_that_can_not_be_read_is_a_result():
    result = one(raising(Unreadable("x", [ValueError()])), pass_through=(Interrupt,))
    assert (result.code, result.content) == ("execution_failed", "work failed")


@tool
def interrupt() -> None:
    raise Interrupt


@tool
async def ask() -> None:
    await asyncio.sleep(0.05)
    raise AskHuman


CALLS = [RawCall("1", "add", {"x": 1}), RawCall("2", "ask"), RawCall("3", "interrupt"), RawCall("4", "add")]


def test_all_calls_end_before_the_first_in_their_order_is_raised():
    executor = Executor([add, ask, interrupt], pass_through=[Interrupt])
    with pytest.raises(AskHuman):
        executor.run_sync(CALLS)
    assert executor.abandoned == 0


def test_the_other_results_can_be_had_too():
    executor = Executor([add, ask, interrupt], pass_through=[Interrupt])
    first, second, third, fourth = executor.run_sync(CALLS, return_exceptions=True)
    assert (first.content, fourth.code) == ("2", "invalid_params")
    assert (type(second), type(third)) == (AskHuman, Interrupt)


class Unshown(Interrupt):
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class UnshownStop(Stop):
    __repr__ = Unshown.__repr__


@both
@pytest.mark.parametrize("kind", [Unshown, UnshownStop])
def test_one_without_a_text_is_raised_too_and_interrupts_are_handled_as_before(kind, is_async):
    executor = Executor([raising(kind(), is_async)], pass_through=[kind])
    before = signal.getsignal(signal.SIGINT)
    for _ in range(2):
        for work in (RawCall("1", "work"), [RawCall("1", "work")]):
            with pytest.raises(kind):
                executor.run_sync(work)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_stream_raises_it_at_its_place_and_ends_the_others():
    ended = []

    @tool
    async def wait() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            ended.append("wait")

    async def main():
        executor = Executor([add, ask, wait], pass_through=(Interrupt,))
        results = executor.stream([RawCall("1", "wait"), *CALLS[:2]])
        assert (await anext(results)).content == "2"
        with pytest.raises(AskHuman):
            await anext(results)
        assert ended == ["wait"]
        with pytest.raises(StopAsyncIteration):
            await anext(results)

    asyncio.run(main())


@pytest.mark.parametrize("return_exceptions", [False, True])
def test_what_ends_the_program_is_raised_first(return_exceptions):
    @tool
    async def leave() -> None:
        raise Stop

    executor = Executor([interrupt, leave], pass_through=(Interrupt,))
    calls = [RawCall("1", "interrupt"), RawCall("2", "leave")]
    with pytest.raises(Stop):
        executor.run_sync(calls, return_exceptions=return_exceptions)


def test_a_slot_is_free_again():
    executor = Executor([interrupt, add], pass_through=(Interrupt,), max_concurrency=1, max_threads=1)
    for _ in range(3):
        with pytest.raises(Interrupt):
            executor.run_sync(RawCall("1", "interrupt"))
    assert executor.run_sync(RawCall("2", "add", {"x": 1})).content == "2"


@dataclass
class Asking:
    x: int

    def __post_init__(self):
        raise Interrupt


def test_switches_and_checks_of_arguments_may_raise_it_too():
    def ask_first() -> bool:
        raise Interrupt

    @tool(enabled=ask_first)
    def switched() -> None: ...

    @tool
    def checked(given: Asking) -> None: ...

    for entry in (switched, checked):
        with pytest.raises(Interrupt):
            one(entry, {"x": 1}, pass_through=(Interrupt,))


def test_a_refusal_of_arguments_is_still_a_result():
    result = one(add, {"x": "no"}, pass_through=(Exception,))
    assert result.code == "invalid_params"


def test_what_is_for_the_model_may_be_the_hosts():
    with pytest.raises(CallError):
        one(raising(CallError("no")), pass_through=(CallError,))


def test_a_time_limit_is_still_a_result_and_a_timeout_of_the_tool_is_not():
    @tool
    async def slow() -> None:
        await asyncio.sleep(30)

    assert one(slow, pass_through=(TimeoutError,), timeout=0.05).code == "timeout"
    with pytest.raises(TimeoutError, match=r"^own$"):
        one(raising(TimeoutError("own"), is_async=True), pass_through=(TimeoutError,))


def test_long_and_raw_arguments():
    @tool
    async def read(text: str) -> None:
        raise Interrupt

    @tool
    def raw(arguments: RawArguments) -> None:
        raise Interrupt

    with pytest.raises(Interrupt):
        one(read, {"text": "x" * 10_000}, pass_through=(Interrupt,))
    with pytest.raises(Interrupt):
        one(raw, {}, pass_through=(Interrupt,))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Interrupt, "pass_through must be a tuple of exception classes, not Interrupt"),
        ("Interrupt", 'pass_through must be a tuple of exception classes, not "Interrupt"'),
        (5, "pass_through must be a tuple of exception classes, not 5"),
        ((int,), "pass_through must be a tuple of exception classes, not int"),
        (
            (Interrupt(),),
            "pass_through must be a tuple of exception classes, not an instance of Interrupt: write",
        ),
        ((Interrupt("x"),), "pass_through must be a tuple of exception classes, not "),
        ((StopIteration,), "pass_through can't take StopIteration: Python itself uses it to end functions"),
        ((asyncio.CancelledError,), "pass_through can't take CancelledError"),
        ((GeneratorExit,), "pass_through can't take GeneratorExit"),
    ],
)
def test_the_option_is_checked(given, message):
    with pytest.raises(ValueError, match="^" + message):
        Executor([], pass_through=given)


class Unclear(Exception):  # noqa: N818  # as above
    """Whoever asks it for its class gets an exception."""

    @property
    def __class__(self):
        raise AttributeError


def test_what_an_exception_says_of_its_class_is_not_asked():
    error = Unclear("sure?")
    caught = []
    try:  # `pytest.raises` asks it
        one(raising(error), pass_through=(Unclear,))
    except Unclear as raised:
        caught.append(raised is error)
    assert caught == [True]
    result = one(raising(error))
    assert (result.content, result.details["exception"] is error) == ("work failed: Unclear", True)
