"""Copies and pickles of executors."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
import threading

import pytest
from patience import LONGEST_WAIT

from operator_schema import Executor, RawCall, Registry, ToolResult, Toolset, Transcript, tool


@tool
def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}"


@tool
def fail() -> str:
    raise NeedsApprovalError("ask first")


class NeedsApprovalError(Exception):
    pass


class Native:
    pass


def report(error):
    return f"wrong: {error.name}"


OPTIONS = {
    "timeout": 7.0,
    "max_concurrency": 2,
    "threads": True,
    "max_threads": 3,
    "grace": 0.5,
    "show_errors": "message",
    "report": report,
    "strict_results": True,
    "native_results": (Native,),
    "pass_through": (NeedsApprovalError,),
    "confirm": report,
    "max_content": 500,
    "hooks": None,
    "context": {"user": "Ann"},
    "store": None,
    "on_waiting": None,
}


def by_pickle(executor):
    return pickle.loads(pickle.dumps(executor))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, by_pickle])
def test_a_copy_has_the_same_options(make):
    parameters = inspect.signature(Executor).parameters.values()
    options = [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    assert options == list(OPTIONS)  # each is copied
    # What can be given once only is kept for the copies.
    once = {**OPTIONS, "native_results": iter([Native]), "pass_through": iter([NeedsApprovalError])}
    executor = Executor([greet, fail], **once)
    for copied in (make(executor), make(make(executor))):
        assert copied.__getstate__()[1] == OPTIONS
        assert [entry.name for entry in copied.registry] == ["greet", "fail"]


@pytest.mark.needs_threads
@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, by_pickle])
def test_a_copy_behaves_the_same(make):
    copied = make(Executor([greet, fail], **OPTIONS))
    assert copied.run_sync(RawCall(name="greet", arguments={"name": "Ann"})).content == "Hello Ann"
    assert copied.run_sync(RawCall(name="greet")).content == "wrong: greet"
    with pytest.raises(NeedsApprovalError):
        copied.run_sync(RawCall(name="fail"))


def test_a_deep_copy_has_a_registry_of_its_own_and_a_shallow_one_has_not():
    executor = Executor(Registry([greet]))
    assert copy.copy(executor).registry is executor.registry
    copied = copy.deepcopy(executor)
    copied.registry.unregister("greet")
    assert "greet" in executor.registry
    config = copy.deepcopy({"executor": executor, "registry": executor.registry, "again": executor})
    assert config["executor"] is config["again"]
    assert config["executor"].registry is config["registry"]


@pytest.mark.needs_threads
def test_a_copy_has_places_of_its_own():
    """While the only place of the first one is taken, the copy can run."""
    entered, leave = threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        entered.set()
        leave.wait(LONGEST_WAIT)
        return "done"

    executor = Executor([wait, greet], max_concurrency=1, max_threads=1)
    copied = copy.deepcopy(executor)

    async def both():
        first = asyncio.ensure_future(executor.run(RawCall(name="wait")))
        await asyncio.to_thread(entered.wait, 20)
        result = await copied.run(RawCall(name="greet", arguments={"name": "Ann"}))
        leave.set()
        return result.content, (await first).content

    assert asyncio.run(both()) == ("Hello Ann", "done")


class Named(Executor):
    """An executor with an attribute of its own."""

    def __init__(self, title):
        super().__init__([greet], timeout=None)
        self.notes = [title]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, by_pickle])
def test_a_subclass_keeps_its_attributes(make):
    named = Named("files")
    copied = make(named)
    assert (type(copied), copied.notes) == (Named, ["files"])
    assert (copied.notes is named.notes) is (make is copy.copy)


def test_what_the_options_name_is_shared():
    class Reporter:
        def __init__(self):
            self.lock = threading.Lock()  # it can't be copied

        def __call__(self, error):
            return str(error)

    reporter = Reporter()
    copied = copy.deepcopy(Executor([greet], report=reporter))
    assert copied.__getstate__()[1]["report"] is reporter


@pytest.mark.parametrize("option", [{"report": lambda error: "wrong"}, {}])
def test_what_has_no_name_in_a_module_can_t_be_pickled(option):
    executor = Executor([greet.with_(name="other")] if not option else [greet], **option)
    with pytest.raises((pickle.PicklingError, AttributeError), match=r"(?i)can't (pickle|get local)"):
        pickle.dumps(executor)


@pytest.mark.needs_threads
def test_a_copy_with_other_options():
    executor = Executor([fail], timeout=5.0, pass_through=(NeedsApprovalError,))
    quiet = executor.with_(pass_through=())
    assert quiet.run_sync(RawCall(name="fail")).code == "execution_failed"
    with pytest.raises(NeedsApprovalError):
        executor.run_sync(RawCall(name="fail"))
    assert quiet.registry is executor.registry
    with pytest.raises(NeedsApprovalError):
        executor.with_(timeout=1.0).run_sync(RawCall(name="fail"))


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ([greet], ": use with_tools for several"),
        ([], ": use with_tools for several"),
        (Toolset(greet), ": use with_tools for several"),
        (greet.__wrapped__, ": decorate it with @tool"),
        ("greet", ""),
        (None, ""),
    ],
)
def test_an_executor_for_a_function_is_for_one_tool(given, remedy):
    expected = r"^for_function takes a tool made by @tool or @tool_input, not "
    with pytest.raises(TypeError, match=f"{expected}.*{remedy}$"):
        Executor([fail]).for_function(given)
    assert Executor([fail]).for_function(greet).registry["greet"] is greet


def test_a_copy_with_an_option_that_does_not_exist():
    with pytest.raises(TypeError, match="timout"):
        Executor([greet]).with_(timout=3)


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Counting(Executor):
    """An executor that keeps what went through the place where every call starts."""

    def _start_of(self, call, run, count):
        self.__dict__.setdefault("seen", []).append(call.id)
        if call.id == "instead":

            async def elsewhere():
                return await count(ToolResult(call.id, call.name, "from elsewhere"))

            return elsewhere
        return super()._start_of(call, run, count)


@pytest.mark.needs_threads
def test_every_call_goes_through_one_place_where_a_subclass_may_take_its_result_from_elsewhere():
    executor = Counting(add)
    calls = [RawCall("first", "add", {"a": 1, "b": 2}), RawCall("instead", "add", {"a": 1, "b": 2})]
    told = []

    async def every_way():
        alone = [await executor.run(call) for call in calls]
        together = await executor.run(calls, on_result=lambda call, result: told.append(call.id))
        async with executor.stream(calls) as results:
            streamed = sorted([result async for result in results], key=lambda result: result.call_id)
        done = await executor.run(executor.registry.toolset.offer().round(calls))
        return [*alone, *together, *streamed, *done.commit(Transcript()).results]

    contents = [result.content for result in asyncio.run(every_way())]
    assert contents == ["3", "from elsewhere"] * 4
    assert executor.seen == ["first", "instead"] * 4
    assert sorted(told) == ["first", "instead"]
