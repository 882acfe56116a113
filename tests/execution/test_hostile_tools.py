"""A tool may return or raise anything: its own call fails, and every other call keeps its result."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest
from garbage import pass_over_what_is_there

from operator_schema import CallError, DecodeError, EncodeError, Executor, RawCall, ToolError, tool
from operator_schema.tools.failures import has_plain_traceback

pytestmark = pytest.mark.needs_threads


class LocalProxy:
    """Like that of werkzeug outside of a request: each access raises."""

    @property
    def __class__(self):
        raise RuntimeError("working outside of request context")

    def __getattr__(self, name):
        raise RuntimeError("working outside of request context")

    def __str__(self):
        raise RuntimeError("working outside of request context")

    __repr__ = __bytes__ = __iter__ = __len__ = __bool__ = __dir__ = __str__


class KeyedAttributes:
    """Like the answers of an API whose attributes are looked up in a dict."""

    def __getattr__(self, name):
        return {}[name]


class HostileClass:
    @property
    def __class__(self):
        raise KeyError("class")


class HostileComparison:
    def __eq__(self, other):
        raise KeyError("eq")

    def __hash__(self):
        raise KeyError("hash")

    def __bool__(self):
        raise KeyError("bool")


class HostileMeta(type):
    def __getattr__(cls, name):
        raise KeyError(name)

    def __hash__(cls):
        raise KeyError("hash")

    def __eq__(cls, other):
        raise KeyError("eq")

    def __instancecheck__(cls, instance):
        raise KeyError("isinstance")


class OfHostileMeta(metaclass=HostileMeta):
    pass


class HostileDict(dict):
    def items(self):
        raise KeyError("items")

    __iter__ = keys = values = __len__ = items


class HostileText(str):
    __slots__ = ()

    def __getitem__(self, index):
        raise KeyError("text")

    split = isascii = encode = __len__ = __format__ = __getitem__


class NoIterator:
    """Says that it can be awaited, and can't."""

    def __await__(self):
        return 5


class RaisingAwaitable:
    def __await__(self):
        raise KeyError("await")

    def close(self):
        raise KeyError("close")


class BadYield:
    def __await__(self):
        yield "no future"


class StubbornClose:
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        raise LookupError("later")


RESULTS = {
    "a proxy": LocalProxy(),
    "attributes out of a dict": KeyedAttributes(),
    "a class that raises": HostileClass(),
    "comparison, hash and truth that raise": HostileComparison(),
    "a metaclass that raises": OfHostileMeta(),
    "a metaclass itself": OfHostileMeta,
    "a dict that raises": HostileDict(a=1),
    "a list of a proxy": [LocalProxy()],
    "a dict with a proxy as key": {HostileClass(): 1},
    "an awaitable without an iterator": NoIterator(),
    "an awaitable that raises": RaisingAwaitable(),
    "an awaitable that yields nonsense": BadYield(),
    "an awaitable that raises later": StubbornClose(),
    "an exception": ValueError("returned"),
    "a lone surrogate": "a\ud800",
    "nothing of JSON": object(),
}


class TextRaisesError(Exception):
    def __str__(self):
        raise KeyError("str")

    __repr__ = __str__


class AttributesRaiseError(Exception):
    def __getattr__(self, name):
        return {}[name]


class ClassRaisesError(Exception):
    @property
    def __class__(self):
        raise KeyError("class")


class CauseRaisesError(Exception):
    @property
    def __cause__(self):
        raise KeyError("cause")

    __context__ = __notes__ = __suppress_context__ = __cause__


class TracebackRaisesError(Exception):
    @property
    def __traceback__(self):
        raise KeyError("traceback")


class TextIsNoTextError(Exception):
    def __str__(self):
        return 5


class TextIsHostileError(Exception):
    def __str__(self):
        return HostileText("hostile")


class ComparisonRaisesError(Exception):
    def __eq__(self, other):
        raise KeyError("eq")

    __hash__ = __bool__ = __eq__


class HostileExceptionMeta(HostileMeta):
    @property
    def __name__(cls):
        raise KeyError("name")

    __module__ = __name__


class OfHostileExceptionMetaError(Exception, metaclass=HostileExceptionMeta):
    pass


class HostileGroup(ExceptionGroup):
    @property
    def exceptions(self):
        raise KeyError("exceptions")


class HostileDecodeError(DecodeError):
    def __init__(self):
        self.name = "work"

    def __getattribute__(self, name):
        if name in {"problems", "as_dict"}:
            raise KeyError(name)
        return super().__getattribute__(name)


class HostileToolError(ToolError):
    def __init__(self):
        pass

    def __str__(self):
        raise KeyError("str")


class HostileCallError(CallError):
    def __str__(self):
        raise KeyError("str")


def nested(depth):
    error = ValueError("inside")
    for _ in range(depth):
        error = ExceptionGroup("g", [error])
    return error


def chained(length, *, is_cyclic=False):
    first = error = ValueError("last")
    for number in range(length):
        above = ValueError(number)
        above.__cause__ = error
        error = above
    if is_cyclic:
        first.__cause__ = error
    return error


def shared(depth):
    """2 ** depth ways lead to the exception inside."""
    error = ExceptionGroup("g", [ValueError("inside")])
    for _ in range(depth):
        error = ExceptionGroup("g", [error, error])
    return error


def noted():
    error = ValueError("noted")
    error.__notes__ = LocalProxy()
    return error


EXCEPTIONS = {
    "text that raises": TextRaisesError(),
    "attributes that raise": AttributesRaiseError("a"),
    "a class that raises": ClassRaisesError("a"),
    "a cause that raises": CauseRaisesError("a"),
    "a traceback that raises": TracebackRaisesError("a"),
    "text that isn't text": TextIsNoTextError(),
    "text of a hostile class": TextIsHostileError(),
    "comparison that raises": ComparisonRaisesError("a"),
    "a metaclass that raises": OfHostileExceptionMetaError("a"),
    "a hostile argument": ValueError(LocalProxy()),
    "a hostile text": CallError(HostileText("a")),
    "a group that raises": HostileGroup("g", [ValueError(1)]),
    "a group of hostile ones": ExceptionGroup(
        "g", [TextRaisesError(), ClassRaisesError(), OfHostileExceptionMetaError()]
    ),
    "groups nested 2,000 deep": nested(2_000),
    "groups that share their parts": shared(60),
    "a wide group": ExceptionGroup("g", [ValueError(number) for number in range(10_000)]),
    "a long chain of causes": chained(50_000),
    "a cycle of causes": chained(10, is_cyclic=True),
    "hostile notes": noted(),
    "a hostile DecodeError": HostileDecodeError(),
    "a hostile ToolError": HostileToolError(),
    "a hostile CallError": HostileCallError("a"),
    "a DecodeError without content": DecodeError.__new__(DecodeError),
    "an EncodeError without content": EncodeError.__new__(EncodeError),
    "a CallError with a lone surrogate": CallError("a\ud800"),
    "StopIteration": StopIteration(LocalProxy()),
    "StopAsyncIteration": StopAsyncIteration(),
    "GeneratorExit": GeneratorExit(),
    "a long text": ValueError("x" * 10**6),
}


def returning(value, *, is_async):
    if is_async:

        @tool(name="work")
        async def awork() -> Any:
            return value

        return awork

    @tool(name="work")
    def work() -> Any:
        return value

    return work


def raising(error, *, is_async):
    if is_async:

        @tool(name="work")
        async def awork() -> Any:
            raise error

        return awork

    @tool(name="work")
    def work() -> Any:
        raise error

    return work


@tool
def add(x: int, y: int = 1) -> int:
    """Add two numbers."""
    return x + y


CALLS = [RawCall("1", "add", {"x": 1}), RawCall("2", "work", {}), RawCall("3", "add", {"x": 2})]
both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def results_beside(work, **options):
    """Run a hostile tool between two others, and return its result."""
    first, hostile, last = Executor([add, work], timeout=20, **options).run_sync(CALLS)
    assert (first.content, last.content) == ("2", "3")
    assert (hostile.call_id, hostile.name) == ("2", "work")
    assert type(hostile.content) is str
    hostile.content.encode()
    assert len(repr(hostile)) < 30_000
    assert len(hostile.content) < 15_000
    return hostile


@both
@pytest.mark.parametrize("name", RESULTS)
def test_a_hostile_result_fails_alone(name, is_async):
    result = results_beside(returning(RESULTS[name], is_async=is_async))
    assert (result.is_error, result.code) in {(True, "execution_failed"), (False, None)}
    assert result.content


@both
@pytest.mark.parametrize("show", ["type", "message", "traceback"])
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_a_hostile_exception_fails_alone(name, show, is_async):
    result = results_beside(raising(EXCEPTIONS[name], is_async=is_async), show_errors=show)
    assert (result.is_error, result.code) == (True, "execution_failed")
    assert result.content


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_the_host_can_log_the_result_of_a_hostile_exception(name):
    result = results_beside(raising(EXCEPTIONS[name], is_async=False))
    logged = result.as_dict()
    assert logged["code"] == "execution_failed"
    assert type(logged["details"]["exception"]) is str


class HandlerRaises(logging.Handler):
    def emit(self, record):
        raise RuntimeError("no disk")


def test_a_log_handler_that_raises_costs_no_result():
    logger, handler = logging.getLogger("operator_schema"), HandlerRaises()
    logger.addHandler(handler)
    try:
        result = results_beside(raising(ValueError("no"), is_async=False))
    finally:
        logger.removeHandler(handler)
    assert (result.code, result.content.split(":")[0]) == ("execution_failed", "work failed")


class HostileArguments(dict):
    def items(self):
        raise KeyError("items")

    __iter__ = keys = get = __len__ = __getitem__ = items


@both
def test_hostile_arguments_fail_alone(is_async):
    work = tool(name="work")(_echo if not is_async else _aecho)
    calls = [
        CALLS[0],
        RawCall("2", "work", HostileArguments(x=1)),
        RawCall("3", "work", LocalProxy()),
        CALLS[2],
    ]
    results = Executor([add, work]).run_sync(calls)
    assert [result.is_error for result in results] == [False, True, True, False]


def _echo(x: int) -> int:
    return x


async def _aecho(x: int) -> int:
    return x


def test_names_of_a_hostile_class_are_read_as_text():
    call = RawCall(HostileText("c"), HostileText("add"), {"x": 1})
    assert type(call.id) is type(call.name) is str
    assert Executor([add]).run_sync(call).content == "2"


@pytest.mark.slow("runs hundreds of calls, many times")
def test_hundreds_of_hostile_calls_at_once_keep_every_result():
    pass_over_what_is_there()
    makers = [(returning, value) for value in RESULTS.values()]
    makers += [(raising, error) for error in EXCEPTIONS.values()]
    tools = [
        make(thing, is_async=is_async).with_(name=f"tool_{number}_{is_async}")
        for number, (make, thing) in enumerate(makers)
        for is_async in (False, True)
    ]
    calls = [RawCall(str(number), entry.name, {}) for number, entry in enumerate([*tools, add] * 2)]
    calls = [RawCall(call.id, call.name, {"x": 1} if call.name == "add" else {}) for call in calls]
    executor = Executor([*tools, add], timeout=60)

    async def run():
        results = await executor.run(calls)
        return results, asyncio.all_tasks() - {asyncio.current_task()}

    results, left = asyncio.run(run())
    gc.collect()
    assert left == set()
    assert [result.call_id for result in results] == [call.id for call in calls]
    assert {result.content for result in results if result.name == "add"} == {"2"}


@pytest.mark.parametrize(("depth", "is_plain"), [(1, True), (20, True), (21, False)])
def test_groups_up_to_twenty_deep_have_a_traceback(depth, is_plain):
    assert has_plain_traceback(nested(depth)) is is_plain
