"""What a store lists and counts is what it has, and who runs a round keeps it as long as it lives."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import until, wait_until
from round_samples import fetch, pay, raw, search

from operator_schema import Executor, Toolset, tool
from operator_schema.rounds import (
    Owner,
    RestoreError,
    SqliteDatabase,
    SqliteStore,
    Store,
    StoreError,
    databases,
)

pytestmark = pytest.mark.needs_threads

ENDED: list[str] = []
LEASES = "operator_schema leases"
"""The name of the thread that renews leases."""


@tool
async def wait() -> None:
    """Wait for ever."""
    ENDED.append("wait begins")
    await asyncio.Event().wait()


TOOLS = Toolset(search, fetch, pay, wait)
CALLS = {"fetch": {"url": "u"}, "pay": {"amount": 1}, "search": {"query": "q"}}
NAMES = st.lists(st.sampled_from(["fetch", "pay", "pay", "search"]), min_size=1, max_size=3)
CONVERSATIONS = st.sampled_from([None, "a", "b", "' ; --"])
ABOUT = st.none() | st.dictionaries(st.sampled_from(["customer", "\0\ud800"]), st.integers() | st.text())
STEPS = st.sampled_from(["saved", "asked", "approved", "ran", "claimed"])


def sent(names, conversation=None, about=None):
    calls = [raw(name, f"call_{number}", **CALLS[name]) for number, name in enumerate(names)]
    return TOOLS.offer().round(calls, conversation=conversation, about=about)


def approved(work):
    for call in work.deferred:
        work = work.approve(call)
    return work


def brought(store, work, step):
    """Bring a round to a step, and return it as it is in the store."""
    executor = Executor(TOOLS, store=store, threads=False)
    if step == "saved":
        return store.save(work)
    work = executor.run_sync(work)
    if step == "approved":
        return store.save(approved(work))
    if step == "ran":
        return executor.run_sync(approved(work)) if work.deferred else work
    return store.claim(work) if step == "claimed" else work


@settings(max_examples=15)
@given(st.lists(st.tuples(NAMES, CONVERSATIONS, ABOUT, STEPS), max_size=6), st.integers(1, 3))
def test_a_list_shows_what_loading_each_round_would(made, limit):
    store = Store(SqliteDatabase(None))
    rounds = [brought(store, sent(*one[:3]), one[3]) for one in made]
    waiting = [work for work, one in zip(rounds, made, strict=True) if one[3] != "claimed"]
    entries = store.waiting()
    assert [one.id for one in entries] == [work.id for work in waiting]
    for one, work in zip(entries, waiting, strict=True):
        state = "deferred" if work.deferred else "pending" if work.pending else "complete"
        assert (one.state, one.conversation, one.about) == (state, work.conversation, work.about)
        assert one.tools == tuple(call.name for call in work.deferred)
        assert one.reason == (work.deferred[0].reason if work.deferred else "")
    for conversation in ("a", "b", "' ; --", "nobody"):
        of_it = [one for one in entries if one.conversation == conversation]
        assert store.waiting(conversation=conversation) == of_it
    for name in ("pay", "fetch", "pa", "", "|", "%", "pay|pay", "pay||search"):
        assert store.waiting(tool=name) == [one for one in entries if name in one.tools]
    counts = store.counts()
    for state in ("deferred", "pending", "complete"):
        of_state = [one for one in entries if one.state == state]
        assert store.waiting(state=state) == of_state
        assert getattr(counts, state) == len(of_state)
    assert (counts.running, counts.stuck) == (0, len(rounds) - len(waiting))
    assert (counts.oldest is None) == (not counts.deferred)
    assert store.waiting(older_than=0) == entries
    assert store.waiting(older_than=3600) == []
    pages, after = [], 0
    while page := store.waiting(limit=limit, after=after):
        assert len(page) <= limit
        pages += page
        after = page[-1].position
    assert pages == entries


def test_the_oldest_one_and_old_ones_are_told_by_the_clock_of_the_database(monkeypatch):
    store = Store(SqliteDatabase(None))
    work = brought(store, sent(["pay"]), "asked")
    later = work.deferred[0].deferred_at + 90
    monkeypatch.setattr(databases, "time", lambda: later)
    assert store.counts().oldest == pytest.approx(90)
    assert [one.id for one in store.waiting(older_than=89)] == [work.id]
    assert store.waiting(older_than=91) == []


ODD = [
    -1,
    True,
    1.5,
    2**70,
    -(2**70),
    float("nan"),
    float("inf"),
    10**400,
    None,
    "1",
    "a\0",
    "\ud800",
    pay,
    [],
]
FILTERS = ["conversation", "tool", "older_than", "state", "limit", "after"]


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_lists_something_or_says_what_it_takes(name):
    """Databases differ in how they take another type, so none is asked."""
    store = Store(SqliteDatabase(None))
    brought(store, sent(["pay", "pay"], "a"), "asked")
    for odd in ODD:
        try:
            found = store.waiting(**{name: odd})
        except (TypeError, ValueError) as error:
            assert str(error).startswith((name, f"the name of a {name}", "the name of a transcript"))
        else:
            assert found in ([], store.waiting())
            assert odd is None or type(odd) in ({int} if name in {"limit", "after"} else {int, float, str})


def test_a_store_takes_rounds_and_their_ids(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    work = store.save(sent(["pay"]))
    for wrong in (None, work.id, store.waiting(), *store.waiting()):
        with pytest.raises(TypeError, match=r"a store saves a round, such as round\.approve\(id\), not"):
            store.save(wrong)
    for use in (store.load, store.take_back):
        for wrong in (work, *store.waiting()):
            with pytest.raises(TypeError, match=r"the id of a round must be a string, not .*: give its id"):
                use(wrong, TOOLS)
    with pytest.raises(StoreError, match=f"{work.id} waits, and no process runs it: load it"):
        store.take_back(work.id, TOOLS)


@pytest.mark.parametrize("odd", ODD)
def test_a_number_of_items_or_seconds_is_one(odd):
    store = Store(SqliteDatabase(None))
    for read in (store.stuck, store.transcript("a").last):
        with contextlib.suppress(TypeError, ValueError):
            assert read(odd) == []


def test_a_filter_and_a_lease_say_what_they_take():
    with pytest.raises(ValueError, match="state must be one of deferred, pending, complete"):
        Store(SqliteDatabase(None)).waiting(state="done")
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="lease must be a number of seconds"):
            Store(SqliteDatabase(None), lease=wrong)


# --- decisions that somebody else runs -----------------------------------------------------------


def test_decisions_are_saved_without_running(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    waiting = brought(store, sent(["pay", "pay"]), "asked")
    one = store.save(waiting.approve(0))
    with pytest.raises(StoreError, match="was changed in the meantime") as caught:
        store.save(waiting.reject(0, "no"))  # by somebody who saw the older state
    assert caught.value.code == "changed"
    both = store.save(one.reject(1, "no"))
    assert store.load(both.id, TOOLS) == both
    assert [found.id for found in store.waiting(state="pending")] == [both.id]
    done = Executor(TOOLS, store=store, threads=False).run_sync(store.load(both.id, TOOLS))
    assert [call.state for call in done.calls] == ["handled", "rejected"]
    done.commit(store.transcript("a"))
    for gone in (both, sent(["pay"]).replace(revision=5)):
        with pytest.raises(StoreError) as caught:
            store.save(gone)
        assert caught.value.code == "done"
    taken = store.claim(sent(["pay"]))
    with pytest.raises(StoreError) as caught:
        store.save(taken)
    assert caught.value.code == "running"


# --- leases and results that come one by one -----------------------------------------------------


def test_a_round_that_runs_is_taken_back_only_by_force_and_has_the_results_so_far(tmp_path):
    """Another process looks while one call runs and another has ended, as after a crash."""
    store = SqliteStore(tmp_path / "desk.db", name="desk 1")
    other = SqliteStore(tmp_path / "desk.db")
    ENDED.clear()
    work = TOOLS.offer().round(
        [raw("fetch", "f", url="u"), raw("wait", "w")], conversation="a", about={"b": 1}
    )

    async def main():
        running = asyncio.create_task(Executor(TOOLS, store=store, threads=False).run(work))
        await until(lambda: ENDED and saved(other, work.id))
        (one,) = other.stuck()
        assert (one.is_running, one.conversation, one.about) == (True, "a", {"b": 1})
        assert (one.owner.pid, one.owner.name) == (os.getpid(), "desk 1")
        assert (other.counts().running, other.counts().stuck) == (1, 0)
        with pytest.raises(
            StoreError, match=rf"runs now: desk 1, process {os.getpid()} on .*force=True"
        ) as caught:
            other.take_back(work.id, TOOLS)
        assert caught.value.code == "running"
        back = other.take_back(work.id, TOOLS, force=True)
        assert [call.state for call in back.calls] == ["handled", "deferred"]
        assert back.calls[0].content == "page u"
        running.cancel()
        await asyncio.wait([running])
        assert other.load(work.id, TOOLS) == back  # the slow one changed nothing
        assert saved(other, work.id) == 0

    asyncio.run(main())


def test_a_result_that_somebody_changed_is_a_problem_and_its_call_waits(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    claimed = store.claim(TOOLS.offer().round([raw("fetch", "f", url="u")]), begun=True)
    done = Executor(TOOLS).run_sync(TOOLS.offer().round([raw("fetch", "f", url="u")]))
    store.keep_call(claimed, done.calls[0])
    with store.database.transaction(writes=True) as db:
        db.execute("UPDATE ended_calls SET saved = replace(saved, 'page u', 'page v')")
    with pytest.raises(RestoreError) as raised:
        store.take_back(claimed.id, TOOLS, force=True)
    assert [problem.code for problem in raised.value.findings] == ["data_changed"]
    assert [call.state for call in raised.value.round.calls] == ["deferred"]


def saved(store, round_id):
    with store.database.transaction(writes=False) as db:
        query = "SELECT count(*) FROM ended_calls WHERE round = ?"
        return db.execute(query, (round_id,)).fetchone()[0]


def test_a_lease_is_renewed_as_long_as_the_round_runs(tmp_path):
    """Were it not, it would end: it lasts a twentieth of a second, and was renewed three times."""
    store = SqliteStore(tmp_path / "desk.db", lease=0.05)
    work = TOOLS.offer().round([raw("wait", "w")])

    def lease():
        with store.database.transaction(writes=False) as db:
            found = db.execute("SELECT lease FROM rounds WHERE id = ?", (work.id,)).fetchone()
        return found[0] if found else None

    async def main():
        running = asyncio.create_task(Executor(TOOLS, store=store, threads=False).run(work))
        seen: set[float | None] = set()
        while len(seen - {None}) < 4:
            await asyncio.sleep(0)
            seen.add(lease())
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(main())
    assert lease() is None
    wait_until(lambda: LEASES not in [one.name for one in threading.enumerate()])


def test_the_lease_of_a_process_that_died_ends(tmp_path, monkeypatch):
    store = SqliteStore(tmp_path / "desk.db")
    store.claim(work := sent(["fetch"]), begun=True, is_renewed=True)
    with pytest.raises(StoreError, match="has it for another 30 seconds"):
        store.take_back(work.id, TOOLS)
    then = store.stuck()[0].seconds + databases.time()
    monkeypatch.setattr(databases, "time", lambda: then + 31)
    assert [(one.is_running, one.owner.pid) for one in store.stuck()] == [(False, os.getpid())]
    assert [call.state for call in store.take_back(work.id, TOOLS).calls] == ["deferred"]


def test_a_database_that_is_away_ends_no_lease(tmp_path):
    renewed = []

    class Away(SqliteDatabase):
        def transaction(self, *, writes):
            if threading.current_thread().name == LEASES:
                renewed.append(writes)
                if len(renewed) == 1:
                    raise sqlite3.OperationalError
            return super().transaction(writes=writes)

    @tool
    def work() -> None:
        """Work until the second try."""
        wait_until(lambda: len(renewed) > 1)

    tools = Toolset(work)
    executor = Executor(tools, store=Store(Away(tmp_path / "desk.db"), lease=0.05))
    assert executor.run_sync(tools.offer().round([raw("work", "1")])).is_complete


@pytest.mark.parametrize("text", [None, 5, "", "[]", '["a", "b", "c"]', "[" * 5000])
def test_an_owner_that_cannot_be_read_is_nobody(text):
    from operator_schema.rounds.leases import owner_of

    assert owner_of(text) is None
    assert owner_of(Owner("h", 1, "n").text()) == Owner("h", 1, "n")
    assert str(Owner("h", 1)) == "process 1 on h"


@pytest.mark.parametrize("after", [-(10**30), -1, 2**63 - 1, 2**63, 10**30])
def test_a_page_after_any_number_is_a_page(tmp_path, after):
    store = SqliteStore(tmp_path / "desk.db")
    store.save(sent(["pay"]))
    assert len(store.waiting(after=after)) == (after < 0)


@pytest.mark.parametrize("name", ["\ud800", "\0", "|", "pay|pay", ""])
def test_no_name_of_a_tool_is_too_odd_to_look_for(tmp_path, name):
    store = SqliteStore(tmp_path / "desk.db")
    store.save(sent(["pay"]))
    assert store.waiting(tool=name) == []
