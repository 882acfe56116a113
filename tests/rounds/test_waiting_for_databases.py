"""Whatever a database does, the event loop goes on, and nothing that happened is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from functools import partial

import pytest
from libraries import library
from patience import LONGEST_WAIT
from round_samples import raw

from operator_schema import Executor, Toolset, tool
from operator_schema.rounds import HookError, SqliteStore, StoreError

anyio = library("anyio")

pytestmark = pytest.mark.needs_threads

RAN: list[str] = []


@tool
async def note(text: str) -> str:
    """Note something."""
    RAN.append(text)
    return f"noted {text}"


@tool
async def wait() -> None:
    """Wait for ever."""
    await BEGUN[0]()
    await anyio.sleep_forever()


BEGUN = [anyio.lowlevel.checkpoint]
TOOLS = Toolset(note, wait)


@pytest.fixture
def path(tmp_path):
    RAN.clear()
    return tmp_path / "desk.db"


@contextmanager
def locked(path):
    """Hold the lock of the file, as another process does that writes."""
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield db
        if db.in_transaction:
            db.execute("ROLLBACK")


def sent(*texts):
    return TOOLS.offer().round([raw("note", f"call_{text}", text=text) for text in texts])


async def turns(number):
    """Let the event loop turn many times: whatever is in its thread would stop it."""
    for _ in range(number):
        await anyio.lowlevel.checkpoint()


BACKENDS = pytest.mark.parametrize("library", ["asyncio", "trio"])
PLACES = ["claim", "begin", "keep"]


def at(place, store, path, lock):
    """Let a lock be held from just before a step of the store."""
    use = getattr(store, place)

    def stopped(*args, **options):
        lock.append(locked(path))
        lock[0].__enter__()
        setattr(store, place, use)
        waits.set()
        return use(*args, **options)

    waits = threading.Event()
    setattr(store, place, stopped)
    return waits


@BACKENDS
@pytest.mark.parametrize("place", PLACES)
def test_a_lock_stops_one_round_and_not_the_loop(path, library, place):
    """Another connection holds the lock; with the loop's thread waiting for it, this test would never end."""
    store = SqliteStore(path)
    other = SqliteStore(path.with_name("other.db"))
    hooked = Executor(TOOLS, store=store, hooks=lambda call: None)
    free = Executor(TOOLS, store=other)
    work, lock, done = sent("a"), [], []

    async def main():
        waits = at(place, store, path, lock)

        async def run():
            done.append(await hooked.run(work))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            while not waits.is_set():
                await turns(1)
            await turns(1000)
            assert (await free.run(sent("b"))).is_complete  # another round of this worker
            assert not done
            lock[0].__exit__(None, None, None)
        assert done[0].is_complete

    anyio.run(main, backend=library)
    assert store.load(work.id, TOOLS).is_complete


@BACKENDS
@pytest.mark.parametrize("place", PLACES)
def test_a_cancelled_round_ends_at_once_and_what_happened_is_kept(path, library, place):
    """Nobody who is cancelled while the file is locked waits for the lock, or longer than the grace."""
    store = SqliteStore(path)
    hooked = Executor(TOOLS, store=store, hooks=lambda call: None, grace=0.01)
    work, lock = sent("a"), []

    async def main():
        waits = at(place, store, path, lock)
        async with anyio.create_task_group() as group:
            group.start_soon(hooked.run, work)
            while not waits.is_set():
                await turns(1)
            group.cancel_scope.cancel()
        lock[0].__exit__(None, None, None)  # only now: the round has ended before

    anyio.run(main, backend=library)
    finish()
    assert store.stuck() == []
    ran = place == "keep"
    assert (["a"] if ran else []) == RAN
    if place == "claim":
        assert store.waiting() == []
        assert Executor(TOOLS, store=store).run_sync(work).is_complete
    else:
        states = [call.state for call in store.load(work.id, TOOLS).calls]
        assert states == ["handled" if ran else "pending"]


@BACKENDS
@pytest.mark.parametrize("place", PLACES)
def test_a_round_that_is_cancelled_just_after_a_step_of_the_store_is_not_stuck(path, library, place):
    """The step has ended by then, but the loop doesn't know yet."""
    store = SqliteStore(path)
    hooked = Executor(TOOLS, store=store, hooks=lambda call: None)
    work = sent("a")

    async def main():
        begins = begun(place, store)
        async with anyio.create_task_group() as group:
            group.start_soon(hooked.run, work)
            while not begins.is_set():
                await turns(1)
            finish()  # the loop stands still meanwhile
            group.cancel_scope.cancel()

    anyio.run(main, backend=library)
    finish()
    assert store.stuck() == []
    kept = store.load(work.id, TOOLS) if store.waiting() else work
    assert not RAN or not kept.pending  # what ran doesn't run again by itself


def begun(place, store):
    """Return an event that is set when a step of the store begins."""
    use, begins = getattr(store, place), threading.Event()

    def told(*args, **options):
        begins.set()
        return use(*args, **options)

    setattr(store, place, told)
    return begins


def finish():
    from operator_schema.execution import storing

    for use in list(storing._USES):  # what the end of the interpreter waits for
        use.ends.acquire(timeout=LONGEST_WAIT)


@BACKENDS
def test_what_ended_before_a_cancellation_is_in_the_store_when_the_task_ends(path, library):
    store = SqliteStore(path)
    work = TOOLS.offer().round([raw("note", "n", text="a"), raw("wait", "w")])

    async def main():
        ended = anyio.Event()  # trio starts tasks in any order
        executor = Executor(TOOLS, store=store)
        async with anyio.create_task_group() as group:

            async def cancel():
                await ended.wait()
                group.cancel_scope.cancel()

            BEGUN[0] = cancel
            group.start_soon(partial(executor.run, work, on_result=lambda *_: ended.set()))
        return [call.state for call in store.load(work.id, TOOLS).calls]

    assert anyio.run(main, backend=library) == ["handled", "deferred"]


def test_time_limits_of_the_caller_hold(path):
    store, work = SqliteStore(path), sent("a")

    async def main():
        with locked(path):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(Executor(TOOLS, store=store).run(work), 0.01)
            assert RAN == []

    asyncio.run(main())
    finish()
    assert (store.stuck(), store.waiting()) == ([], [])


PROGRAM = """
import asyncio, sqlite3, sys, threading
from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.rounds import SqliteStore

@tool
def note(text: str) -> str:
    "Note something."
    global lock
    lock = sqlite3.connect("desk.db", isolation_level=None, check_same_thread=False)
    lock.execute("BEGIN IMMEDIATE")  # what ran can't be saved until this ends
    asyncio.run_coroutine_threadsafe(cancel(), loop)
    return "noted"

async def cancel():
    task.cancel()

async def main():
    global task, loop
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(Executor(tools, store=store, grace=0.01).run(work))
    await asyncio.wait([task])

tools, store = Toolset(note), SqliteStore("desk.db")
work = tools.offer().round([RawCall("1", "note", {"text": "a"})])
asyncio.run(main())
threading.Timer(0.05, lock.rollback).start()
"""


@pytest.mark.needs_process
@pytest.mark.slow("it starts a process")
def test_a_program_that_ends_waits_for_what_is_being_saved(path):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=path.parent, check=True, timeout=LONGEST_WAIT)
    store = SqliteStore(path)
    assert (store.stuck(), len(store.waiting())) == ([], 1)


@BACKENDS
def test_what_a_step_raises_is_raised_where_it_was(path, library):
    store = SqliteStore(path)
    hooked = Executor(TOOLS, store=store, hooks=lambda call: 1 / 0)

    async def main():
        with pytest.raises(HookError):
            await hooked.run(sent("a"))
        taken = store.claim(sent("b"))
        with pytest.raises(StoreError, match="runs now"):
            await Executor(TOOLS, store=store).run(taken)

    anyio.run(main, backend=library)


def test_a_store_works_where_no_thread_can_start(path, monkeypatch):
    from operator_schema.execution import storing

    def no_more(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(storing, "start_in_thread", no_more)
    assert Executor(TOOLS, store=SqliteStore(path)).run_sync(sent("a")).is_complete
    assert not storing._USES  # the interpreter would wait for them at its end
