"""A search among many tools: what it costs, where it runs, and what a change of the registry costs it."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from random import Random

import pytest
from patience import LONGEST_WAIT, assert_linear, assert_takes

from operator_schema import Executor, RawCall
from operator_schema.rounds import FoundTools, ToolSearch
from operator_schema.rounds.ranking import TermReader, best
from operator_schema.rounds.tool_index import ToolIndex, read_tool
from operator_schema.tools import document_tool

VERBS = ("get", "list", "create", "delete", "update", "send", "cancel", "book", "read", "move")
THINGS = ("order", "invoice", "customer", "folder", "ticket", "report", "message", "event", "flight", "room")
KINDS = ("open", "closed", "recent", "shared", "public", "private", "daily", "weekly", "pending", "failed")


def echo(**given: object) -> str:
    return str(given)


def many(size):
    """Return tools as servers have them, each with words of its own and many that others have too."""
    chance, found = Random(size), []  # noqa: S311  # it only chooses words
    for number in range(size):
        verb, kind, thing = chance.choice(VERBS), chance.choice(KINDS), chance.choice(THINGS)
        about = " ".join(chance.choices(VERBS + KINDS + THINGS, k=12))
        schema = {"type": "object", "properties": {f"{thing}_id": {"description": f"The {thing} to {verb}"}}}
        name = f"server{number % 97}_{verb}_{kind}_{thing}_{number}"
        found.append(document_tool(echo, schema, name=name, summary=f"{verb} {kind} {thing}s. {about}"))
    return found


def wait_until_read():
    """Wait for the threads that read tools ahead of a search."""
    for one in threading.enumerate():
        if "tool search" in one.name:
            one.join(LONGEST_WAIT)
            assert not one.is_alive()


@pytest.mark.needs_threads
@pytest.mark.slow("makes 2,000 tools")
def test_a_search_among_thousands_takes_milliseconds_once_a_conversation_has_begun():
    """Of 10,000 tools, it may take 60 ms: that is 12 of 2,000, even after a change of the registry."""
    search = ToolSearch(many(2_000))
    search.offer([])
    wait_until_read()
    assert_takes(0.012, lambda: search.search("cancel the pending flight"))
    numbers = iter(range(100))

    def changed():
        search.register(document_tool(echo, {"type": "object"}, name=f"other_{next(numbers)}"))
        search.offer([])
        wait_until_read()

    assert_takes(0.012, lambda _: search.search("cancel the pending flight"), changed)


def test_reading_tools_takes_time_linear_in_their_number():
    def index_of(tools):
        return ToolIndex({one.name: one for one in tools}).scores("cancel the pending flight", "")

    assert_linear(index_of, 50, 8, setup=many, least=0.02)


def test_reading_a_tool_leaves_little_for_the_garbage_collector():
    """With lists of words, its work in the first search took as long as reading the tools."""

    def containers(size):
        index = ToolIndex({one.name: one for one in many(size)})
        gc.collect()
        gc.disable()
        try:
            before = gc.get_count()[0]
            assert index.scores("cancel the pending flight", "")
            return gc.get_count()[0] - before
        finally:
            gc.enable()

    containers(10)  # which imports
    assert containers(200) - containers(100) < 6 * 100


def steps_in_this_thread(work):
    """Return how many instructions of Python run in this thread while a coroutine does."""
    count = 0

    def counted(frame, event, _):
        nonlocal count
        count += 1
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return counted

    async def run():
        before = sys.gettrace()
        sys.settrace(counted)
        try:
            await asyncio.ensure_future(work)
        finally:
            sys.settrace(before)

    asyncio.run(run())
    return count


@pytest.mark.needs_threads
def test_what_a_search_does_in_the_thread_of_the_event_loop_does_not_grow_with_the_tools():
    """The first search, which reads the tools, and the offer after it, of few and of many."""

    async def turn(search, executor):
        await executor.run(RawCall("1", "search_tools", {"query": "cancel the pending flight"}))
        search.offer([])

    def took(size):
        tools = many(size)
        search = ToolSearch(tools)
        executor = Executor(search)
        search.offer([])
        assert not executor.run_sync(RawCall("0", tools[0].name, {})).is_error
        steps = steps_in_this_thread(turn(search, executor))
        assert len(search.found) == 5
        return steps

    took(20)  # which imports
    few, lots = took(20), took(400)
    assert lots - few < 400  # less than one for each tool


def test_a_thread_that_reads_ahead_changes_nothing_of_what_is_found():
    """Read here and there at once, in either order, or here alone, tools have the same index."""
    tools = {one.name: one for one in many(300)}
    alone, beside = ToolIndex(tools), ToolIndex({name: one.with_() for name, one in tools.items()})
    beside.read_ahead()
    asked = ["cancel the pending flight", "server7", "kancel the fligt", "order", "nothing like this"]
    for query in asked:
        assert [*best(beside.scores(query, ""))] == [*best(alone.scores(query, ""))]
    wait_until_read()
    for query in asked:
        assert beside.scores(query, "") == alone.scores(query, "")
    for one in beside.tools.values():
        assert read_tool(one, TermReader()) is read_tool(one, TermReader())


def test_where_no_thread_can_be_started_the_search_reads_the_tools(monkeypatch):
    def refuse(_: threading.Thread) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    search = ToolSearch(many(150))
    search.offer([])
    assert len(search.search("cancel the pending flight")) == 5


def test_a_conversation_shares_the_index_of_its_search():
    search = ToolSearch(many(150), most=1)
    (first,) = search.search("cancel the pending flight")
    tools = [search.for_conversation() for _ in range(3)]
    reading = []
    for one in tools:
        sys.setprofile(lambda frame, event, _: reading.append(frame.f_code.co_name))
        try:
            found = one.search("cancel the pending flight")
        finally:
            sys.setprofile(None)
        assert found == [first]
    assert "scores" in reading
    assert "read_tool" not in reading


def test_hosts_without_a_history_read_ahead_too():
    search = ToolSearch(many(150))
    found = FoundTools()
    assert [one.name for one in search.offered(context={FoundTools: found})] == ["search_tools"]
    wait_until_read()
    assert len(search.search("cancel the pending flight")) == 5
