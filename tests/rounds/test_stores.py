"""Rounds and conversations in a file that several processes share."""

from __future__ import annotations

import asyncio
import itertools
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from forks import status_in_a_fork
from patience import LONGEST_WAIT
from round_samples import ask, fetch, pay, raw, search

from operator_schema import Defer, Executor, RawCall, Registry, RoundError, RunNormally, Toolset, Turn, tool
from operator_schema.rounds import (
    CONFIRM,
    INTERRUPTED,
    HookError,
    InterruptedRoundError,
    RestoreError,
    SqliteStore,
    StoreError,
    databases,
    kept_connections,
    settlement,
    store_contents,
    stored_records,
)
from operator_schema.rounds.sqlite_files import unusable_database

pytestmark = pytest.mark.needs_threads

SECRET = b"0123456789abcdef"
RAN: list[str] = []


class Stop(Exception):  # noqa: N818  # what hosts call theirs
    pass


@tool(confirm=True)
def work(task: str) -> str:
    """Work."""
    RAN.append(task)
    if task == "stop":
        raise Stop
    return f"did {task}"


toolset = Toolset(search, fetch, pay, ask, work)


@pytest.fixture
def store(tmp_path):
    RAN.clear()
    return SqliteStore(tmp_path / "desk.db", secret=SECRET)


def executor(store, **options):
    return Executor(toolset, store=store, threads=False, **options)


def sent(*calls):
    return toolset.offer().round(calls or [raw("fetch", "f", url="u"), raw("work", "w", task="a")])


# --- over several processes ----------------------------------------------------------------------

PROGRAM = str(Path(__file__).parent / "desk_program.py")


def started(folder, *command):
    return subprocess.Popen(
        [sys.executable, PROGRAM, *command], cwd=folder, stdout=subprocess.PIPE, text=True
    )


def printed(folder, *command):
    process = started(folder, *command)
    text, _ = process.communicate(timeout=LONGEST_WAIT)
    return text.strip()


def conversation(folder):
    return list(SqliteStore(folder / "desk.db", secret=SECRET).transcript("order A7"))


def test_four_clicks_at_once_pay_once(tmp_path):
    round_id = printed(tmp_path, "begin")
    assert [one.id for one in SqliteStore(tmp_path / "desk.db").waiting()] == [round_id]
    clicks = [started(tmp_path, "decide", round_id, "2", "yes") for _ in range(4)]
    texts = sorted([click.communicate(timeout=LONGEST_WAIT)[0].strip() for click in clicks])
    assert [text == "done" for text in texts].count(True) == 1
    assert all(text == "done" or text.startswith("not now: ") for text in texts)
    assert (tmp_path / "paid.txt").read_text() == "A7 6.0\n"
    first, turn, last = conversation(tmp_path)
    assert first == "My order A7 is broken."
    assert [result.content for result in turn.results] == ["A7: 6 USD", "it is on its way"]
    assert (last.calls, SqliteStore(tmp_path / "desk.db").waiting()) == ((), [])
    assert printed(tmp_path, "decide", round_id, "2", "yes").startswith("not now: ")


def test_a_rejection_is_told_to_the_model(tmp_path):
    round_id = printed(tmp_path, "begin")
    assert printed(tmp_path, "decide", round_id, "2", "no") == "done"
    assert not (tmp_path / "paid.txt").exists()
    assert conversation(tmp_path)[1].results[1].content == "This call was rejected: No."


def test_what_died_is_stuck_and_nothing_runs_it_again(tmp_path, monkeypatch):
    round_id = printed(tmp_path, "begin")
    assert printed(tmp_path, "decide", round_id, "2", "die") == ""
    assert printed(tmp_path, "decide", round_id, "2", "yes").startswith("not now: ")
    assert (tmp_path / "paid.txt").read_text() == "A7 6.0\n"
    store = SqliteStore(tmp_path / "desk.db", secret=SECRET)
    (stuck,) = store.stuck()
    assert (stuck.id, stuck.seconds > 0) == (round_id, True)
    assert [(call.id, call.name) for call in stuck.calls] == [("2", "refund")]
    assert store.stuck(seconds=3600) == []

    monkeypatch.chdir(tmp_path)  # the program opens its store when it is imported
    from desk_program import toolset as tools

    with pytest.raises(StoreError, match=f"runs now: desk, process {stuck.owner.pid} on ") as caught:
        store.take_back(round_id, tools)
    assert (caught.value.code, stuck.is_running) == ("running", True)
    found = store.take_back(round_id, tools, force=True)
    assert [(call.id, call.reason) for call in found.deferred] == [
        ("2", "it was begun and interrupted, so nobody knows whether it did its work")
    ]
    assert store.stuck() == []
    assert [one.id for one in store.waiting()] == [round_id]
    turn = found.reject("2", "It may have been paid.").commit(store.transcript("order A7"))
    assert [result.is_error for result in turn.results] == [False, True]
    assert store.waiting() == []


# --- in one process ------------------------------------------------------------------------------


def test_a_round_that_waits_is_loaded_and_goes_on(store):
    waiting = executor(store).run_sync(sent())
    loaded = store.load(waiting.id, toolset)
    assert loaded == waiting
    done = executor(store).run_sync(loaded.approve("w"))
    turn = done.commit(store.transcript("a"))
    assert [result.content for result in turn.results] == ["page u", "did a"]
    assert list(store.transcript("a")) == [turn]
    assert list(store.transcript("b")) == []


def test_a_turn_that_was_stored_knows_which_program_made_its_calls(store):
    program = {"type": "program", "caller_id": "p"}
    call = raw("fetch", "f", url="u").replace(caller=program)
    executor(store).run_sync(sent(call)).commit(store.transcript("a"))
    assert [one.caller for one in store.transcript("a")[0].calls] == [program]


def test_a_turn_that_was_stored_knows_where_its_calls_were_found(store):
    calls = [raw("fetch", "f", url="u").replace(is_from_text=True), raw("fetch", "g", url="v")]
    executor(store).run_sync(sent(*calls)).commit(store.transcript("a"))
    assert [one.is_from_text for one in store.transcript("a")[0].calls] == [True, False]


def test_a_complete_round_that_was_not_committed_is_still_there(store):
    done = executor(store).run_sync(sent(raw("fetch", "f", url="u")))
    loaded = store.load(done.id, toolset)
    assert loaded.is_complete
    loaded.commit(store.transcript("a"))
    with pytest.raises(RoundError, match="committed before"):
        done.commit(store.transcript("a"))
    with pytest.raises(StoreError, match="is done, or was never stored"):
        store.load(done.id, toolset)


def test_an_older_state_changes_nothing(store):
    waiting = executor(store).run_sync(sent(raw("work", "1", task="a"), raw("work", "2", task="b")))
    first, second = store.load(waiting.id, toolset), store.load(waiting.id, toolset)
    executor(store).run_sync(first.approve("1"))
    with pytest.raises(StoreError, match=r"was changed in the meantime: load it again"):
        executor(store).run_sync(second.approve("2"))
    with pytest.raises(StoreError, match="load it again"):
        store.transcript("a").commit_turn(Turn(waiting.id, (), ()), 2)
    assert RAN == ["a"]


def test_a_round_that_runs_is_nobody_elses(store):
    seen: list[Any] = []

    @tool
    def look(round_id: str) -> str:
        """Look from within."""
        for attempt in (
            lambda: store.load(running.id, toolset),
            lambda: executor(store).run_sync(running),
            lambda: store.transcript("a").append(Turn(running.id, (), ())),
        ):
            with pytest.raises(StoreError, match="runs now, or its process died"):
                attempt()
            seen.append(store.stuck()[0].id)
        return round_id

    tools = Toolset(look)
    running = tools.offer().round([raw("look", "l", round_id="x")])
    Executor(tools, store=store).run_sync(running)
    assert seen == [running.id] * 3


def test_the_conversations_of_a_store_are_listed(store):
    assert store.transcripts() == []
    for name, text in [("b", "Hi"), ("a", "Hi"), ("b", "Again")]:
        store.transcript(name).append(text)
    store.transcript("empty")
    assert store.transcripts() == ["b", "a"]


@pytest.mark.parametrize("seconds", ["5", None, True])
def test_how_long_a_round_is_stuck_is_a_number(store, seconds):
    with pytest.raises(TypeError, match="seconds must be a number, not "):
        store.stuck(seconds)


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"calls": [{"state": "pending"}]}', "[" * 5_000])
def test_a_stuck_round_that_cannot_be_read_is_listed_without_its_calls(store, damage):
    seen = []

    @tool
    def look() -> None:
        """Look from within."""
        with sqlite3.connect(store.database.path) as db:
            db.execute("UPDATE rounds SET round = ?", (damage,))
        db.close()
        seen.extend(store.stuck())

    tools = Toolset(look)
    Executor(tools, store=store).run_sync(tools.offer().round([raw("look", "l")]))
    assert [one.calls for one in seen] == [()]


def test_a_round_that_is_stuck_says_for_how_many_seconds(store, monkeypatch):
    now, seen = [1000.0], []

    @tool
    def look() -> None:
        """Look from within, a minute and a half later."""
        now[0] += 90
        seen.extend(store.stuck(seconds=90))
        assert store.stuck(seconds=91) == []

    monkeypatch.setattr(databases, "time", lambda: now[0])
    tools = Toolset(look)
    done = Executor(tools, store=store).run_sync(tools.offer().round([raw("look", "l")]))
    assert not done.calls[0].result.is_error
    (one,) = seen
    assert (one.id, one.seconds, one.calls) == (done.id, 90.0, (done.calls[0].raw,))
    assert (one.has_begun, one.is_running, one.owner.pid) == (True, False, os.getpid())


def test_a_hook_that_fails_gives_the_round_back(store):
    def fails(call):
        raise Stop

    fresh = sent()
    with pytest.raises(HookError):
        executor(store, hooks=fails).run_sync(fresh)
    assert (store.waiting(), store.stuck()) == ([], [])
    waiting = executor(store).run_sync(fresh)
    approved = waiting.approve("w")
    with pytest.raises(HookError):
        executor(store, hooks=fails).run_sync(approved)
    assert store.load(waiting.id, toolset) == waiting
    assert executor(store).run_sync(approved).is_complete


def test_what_passes_through_keeps_the_other_results(store):
    passing = executor(store, pass_through=[Stop], confirm="run")
    with pytest.raises(InterruptedRoundError) as caught:
        passing.run_sync(sent(raw("work", "1", task="a"), raw("work", "2", task="stop")))
    found = caught.value.round
    assert store.load(found.id, toolset) == found
    assert [call.state for call in found.calls] == ["handled", "pending"]
    assert found.reject("2").commit(store.transcript("a")).results[0].content == "did a"


def test_a_round_that_is_cancelled_waits_with_what_has_come_of_it(store):
    begun = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait for long."""
        begun.set()
        await asyncio.sleep(60)

    tools = Toolset(fetch, wait)
    fresh = tools.offer().round([raw("fetch", "f", url="u"), raw("wait", "w")])

    async def cancelled():
        task = asyncio.create_task(Executor(tools, store=store, threads=False).run(fresh))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert [call.state for call in store.load(fresh.id, tools).calls] == ["handled", "deferred"]


def test_who_took_a_round_back_keeps_it(store):
    claimed = store.claim(sent(raw("work", "w", task="a")).confirmed())
    store.take_back(claimed.id, toolset)
    for late in (lambda: store.keep(claimed, claimed), lambda: store.give_back(claimed)):
        with pytest.raises(StoreError, match="was changed in the meantime"):
            late()
    with pytest.raises(StoreError, match="no process runs it: load it"):
        store.take_back(claimed.id, toolset)


def test_calls_of_the_program_stay_pending_when_a_round_is_taken_back(store):
    from round_samples import remember

    tools = Toolset(remember, fetch)
    fresh = tools.offer().round([raw("remember", "r", note="n"), raw("fetch", "f", url="u")])
    store.claim(fresh, begun=True)
    assert [call.state for call in store.take_back(fresh.id, tools).calls] == ["pending", "deferred"]


def test_a_round_whose_process_died_before_anything_ran_is_taken_back_as_it_was(store):
    def large(call):
        return Defer("ask the manager") if call.name == "work" else None

    fresh = sent(raw("work", "w", task="a"), raw("pay", "p", amount=1), raw("fetch", "f", url="u"))
    store.claim(fresh)
    assert [one.has_begun for one in store.stuck()] == [False]
    back = store.take_back(fresh.id, toolset)
    assert [call.state for call in back.calls] == ["pending"] * 3
    waiting = executor(store, hooks=large).run_sync(back)
    assert [(call.id, call.reason) for call in waiting.deferred] == [("w", "ask the manager"), ("p", CONFIRM)]


def test_a_yes_to_a_second_run_is_no_approval(store):
    """What began may run again; whether it may run at all was asked before, or is asked now."""
    work = sent(raw("pay", "p", amount=1), raw("fetch", "f", url="u")).interrupted()
    assert [(call.reason, call.approved) for call in work.calls] == [(INTERRUPTED, False)] * 2
    again = work.approve("p").approve("f")
    with pytest.raises(RoundError, match="was approved already"):
        again.approve("f")
    waiting = executor(store).run_sync(again)
    assert [(call.state, call.reason) for call in waiting.calls] == [("deferred", CONFIRM), ("handled", None)]
    assert executor(store).run_sync(waiting.approve("p")).calls[0].content == "paid 1"

    def five(call):
        return RunNormally(call.tool.decode({"amount": 5}))

    asking = sent(raw("pay", "p", amount=1)).interrupted().approve("p", arguments={"amount": 7})
    # A person saw the 7, so a hook can't change it any more.
    (call,) = executor(store, hooks=five).run_sync(asking).calls
    assert (call.state, call.reason, call.arguments) == ("deferred", CONFIRM, {"amount": 7})
    approved = sent(raw("pay", "p", amount=1)).confirmed().approve("p").interrupted()
    assert executor(store).run_sync(approved.approve("p")).is_complete


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_a_store_of_ones_own_hears_when_the_calls_begin(is_async, fails):
    heard = []

    class Own:
        async def run(self, work, run):
            def begin(decided):
                heard.append(([call.state for call in decided.calls], [*RAN]))
                if fails:
                    raise Stop

            async def begin_later(decided):
                await asyncio.sleep(0)
                begin(decided)

            return await run(work, begin_later if is_async else begin)

    RAN.clear()
    work = sent(raw("work", "w", task="a"), raw("pay", "p", amount=1))
    only_work = lambda call: call.name == "work" or "no"  # noqa: E731  # one line
    own = Executor(toolset, store=Own(), confirm=only_work, threads=False)
    if fails:
        with pytest.raises(Stop):
            own.run_sync(work)
    else:
        assert own.run_sync(work).is_complete
    assert (heard, RAN) == ([(["pending", "rejected"], [])], [] if fails else ["a"])


def test_a_result_that_is_saved_late_belongs_to_its_own_run(store):
    """A database may commit the row of a call that ended after the round was kept: its run is over."""
    chosen = [[], [0], [1], [0, 1]]
    for late, ended in itertools.product(chosen, repeat=2):
        first = store.claim(sent(*[raw("fetch", str(n), url="u") for n in range(2)]), begun=True)
        keep_calls(store, first, late, "first")
        rows = saved_calls(store, first)
        waiting = store.keep(first, first.interrupted())
        again = waiting.approve(waiting.calls[0]).approve(waiting.calls[1])
        second = store.claim(again, begun=True)
        commit_late(store, rows)
        keep_calls(store, second, ended, "second")
        expected = ["second" if index in ended else None for index in range(2)]
        assert [call.content for call in store.find(first.id).calls] == expected
        assert [call.content for call in store.take_back(first.id, toolset, force=True).calls] == expected


def keep_calls(store, claimed, indexes, content):
    for index in indexes:
        call = claimed.calls[index]
        store.keep_call(claimed, claimed.with_results([call.complete(content)]).calls[index])


def saved_calls(store, claimed):
    """Return the rows of the calls that ended, each as the values of its columns."""
    with store.database.transaction(writes=False) as db:
        found = db.execute("SELECT * FROM ended_calls ORDER BY position")
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return [row for row in rows if row.pop("position") and row["round"] == claimed.id]


def commit_late(store, rows):
    for row in rows:
        marks = ", ".join([store.database.parameter] * len(row))
        statement = f"INSERT INTO ended_calls ({', '.join(row)}) VALUES ({marks})"  # noqa: S608  # its columns
        with store.database.transaction(writes=True) as db:
            db.execute(statement, (*row.values(),))


def test_a_round_that_was_taken_back_while_a_person_was_asked_runs_nothing(store):
    def slow(call):
        assert store.take_back(store.stuck()[0].id, toolset, force=True).pending
        return True

    with pytest.raises(StoreError, match="was changed in the meantime") as caught:
        executor(store, confirm=slow).run_sync(sent(raw("work", "w", task="a")))
    assert RAN == []
    (note,) = caught.value.__notes__
    assert "can't be saved (nothing has run): StoreError" in note


# --- transcripts ---------------------------------------------------------------------------------


def test_a_transcript_gives_back_what_it_was_given(store):
    history = store.transcript("a")
    turn = executor(store).run_sync(sent(raw("fetch", "f", url="u"), raw("x", "x"))).commit(history)
    cut = Turn(
        "round_1",
        (RawCall("1", "fetch", "{", is_cut_off=True), RawCall("2", "fetch", "{", is_malformed=True)),
        (turn.results[0].replace(call_id="1"), turn.results[0].replace(call_id="2")),
        [1],
    )
    for item in ("hello", {"role": "user", "content": "ü"}, cut):
        history.append(item)
    found = list(store.transcript("a"))
    assert found[0].as_dict() == turn.as_dict()
    assert found[1:] == ["hello", {"role": "user", "content": "ü"}, cut]
    assert [call.is_malformed for call in found[3].calls] == [False, True]
    assert found[3].calls[0].is_cut_off
    assert (len(history), history[1], history[-1].id) == (4, "hello", "round_1")
    assert repr(history) == "<StoredTranscript 'a' of 4>"
    with pytest.raises(RoundError, match="in a transcript already"):
        history.append(cut)
    with pytest.raises(TypeError):
        history.append(object())
    assert len(history) == 4


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_transcript_is_read_like_a_list(store, count):
    other, history = store.transcript("other"), store.transcript("a")
    for number in range(count):
        history.append(f"{number}")
        other.append("not of it")
    wanted = [f"{number}" for number in range(count)]
    assert (len(history), bool(history), [*history]) == (count, bool(wanted), wanted)
    for index in [*range(-count, count), slice(None), slice(-2, None), slice(1, 3), slice(None, None, -1)]:
        assert history[index] == wanted[index]
    for index in (count, -count - 1, 10**30, -(10**30)):
        with pytest.raises(IndexError, match=f"the transcript has no item {index}"):
            history[index]
    for last in range(count + 3):
        assert history.last(last) == wanted[max(0, count - last) :]
    assert history.last(10**30) == wanted
    with pytest.raises(ValueError, match="count must be 0 or more, not integer -1"):
        history.last(-1)


@pytest.mark.parametrize("name", [None, 5, b"a"])
def test_a_transcript_has_a_name(store, name):
    with pytest.raises(TypeError, match="the name of a transcript must be a string"):
        store.transcript(name)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ([], "array []: write Toolset(…)"),
        (Registry(), "Registry: give its toolset"),
        (Executor([]), "Executor: give its registry.toolset"),
        (None, "null"),
    ],
)
def test_a_round_is_loaded_with_a_toolset(store, given, remedy):
    waiting = executor(store).run_sync(sent())
    for load in (store.load, store.take_back):
        with pytest.raises(TypeError) as raised:
            load(waiting.id, given)
        assert str(raised.value) == f"a round is made with a toolset that has its tools, not with {remedy}"
    assert store.load(waiting.id, toolset) == waiting


# --- the store -----------------------------------------------------------------------------------


def test_a_store_is_a_file_and_its_secret_is_checked(tmp_path):
    for path in ("", ":memory:"):
        with pytest.raises(ValueError, match="a store is a file"):
            SqliteStore(path)
    for path in (5, b"a.db"):
        with pytest.raises(TypeError, match="the path of a store must be a string or a Path, not"):
            SqliteStore(path)
    with pytest.raises(ValueError, match="at least 16"):
        SqliteStore(tmp_path / "a.db", secret=b"short")
    assert repr(SqliteStore(tmp_path / "a.db")) == f"SqliteStore({str(tmp_path / 'a.db')!r})"


def test_whoever_does_not_know_the_secret_changes_nothing(store, tmp_path):
    waiting = executor(store).run_sync(sent())
    with pytest.raises(RestoreError):
        SqliteStore(tmp_path / "desk.db", secret=SECRET[::-1]).load(waiting.id, toolset)
    assert store.load(waiting.id, toolset) == waiting


def test_stores_and_their_errors_can_be_copied(store):
    waiting = executor(store).run_sync(sent())
    assert pickle.loads(pickle.dumps(store)).load(waiting.id, toolset) == waiting
    with pytest.raises(StoreError) as caught:
        store.load("round_0", toolset)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.round_id) == ("round_0 is done, or was never stored", "round_0")


def test_many_threads_share_a_store(store):
    waiting = executor(store).run_sync(sent())
    outcomes: list[str] = []

    def click():
        try:
            executor(store).run_sync(store.load(waiting.id, toolset).approve("w"))
            outcomes.append("ran")
        except RoundError:
            outcomes.append("not now")

    threads = [threading.Thread(target=click) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("ran") == 1
    assert RAN == ["a"]


# --- files that can't be used --------------------------------------------------------------------


def junk(path):
    path.write_text("name,age\n" * 100)


def cut(path):
    made = SqliteStore(path)
    for number in range(200):
        made.transcript("long").append(f"{number} " * 100)
    made.close()
    path.write_bytes(path.read_bytes()[:9000])


def folder(path):
    path.mkdir()


def in_other_mode(path):
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=DELETE")


def deleted(path):
    return path.parent / "gone" / "chats.db"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (junk, "file is not a database; give the path of another file"),
        (cut, "database disk image is malformed; restore it from a backup"),
        (folder, "unable to open database file; it is a folder: give the path of a file in it"),
        (deleted, "unable to open database file; create its folder"),
    ],
)
def test_a_file_that_can_not_be_used_is_named_with_a_remedy(tmp_path, spoil, message):
    path = tmp_path / "chats.db"
    path = spoil(path) or path

    def use():
        opened = SqliteStore(path)
        opened.waiting()
        list(opened.transcript("long"))

    with pytest.raises(StoreError, match=re.escape(f"{path} can't be used: {message}")) as caught:
        use()
    assert caught.value.round_id is None
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@contextmanager
def only_readable(monkeypatch):
    """Let SQLite open files for reading only, as it does with those that this process may not write to."""
    connect = sqlite3.connect

    def opened(path, **options):
        return connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, **options)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", opened)
        yield


def test_a_file_that_may_only_be_read_is_read(store, tmp_path, monkeypatch):
    waiting = executor(store).run_sync(sent(raw("pay", "p", amount=1)))
    store.transcript("a").append("hello")
    running = store.claim(sent(raw("fetch", "f", url="u")))
    with only_readable(monkeypatch):
        found = SqliteStore(store.database.path, secret=SECRET)  # the same file
        assert [one.id for one in found.waiting()] == [waiting.id]
        assert found.load(waiting.id, toolset) == waiting
        assert found.transcripts() == ["a"]
        assert list(found.transcript("a")) == ["hello"]
        assert [one.id for one in found.stuck()] == [running.id]
        with pytest.raises(StoreError, match="readonly database; let this process write to the file"):
            found.transcript("a").append("more")


def as_nobody(use):
    """Call a function in a process that may write nothing of another user's; return what it wrote."""
    reading, writing = os.pipe()

    def write():
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            os.write(writing, repr(use()).encode())
        except Exception as error:  # noqa: BLE001  # the parent shows it
            os.write(writing, repr(error).encode())

    assert status_in_a_fork(write) == 0
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        return told.read().decode()


@pytest.mark.needs_process
@pytest.mark.parametrize("is_open", [False, True])
def test_a_file_in_a_folder_that_may_only_be_read_is_read(is_open):
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # somebody else may not look into those of pytest
    store = SqliteStore(folder / "desk.db")
    store.transcript("a").append("hello")
    if not is_open:
        store.close()
    folder.chmod(0o555)

    def read():
        other = SqliteStore(folder / "desk.db")
        try:
            other.transcript("a").append("more")
        except StoreError as error:
            return list(other.transcript("a")), list(stored_records(folder / "desk.db")), error.code
        return "it wrote"

    try:
        assert as_nobody(read) == "(['hello'], ['hello'], 'unavailable')"
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_the_remedy_for_wal_mode_is_for_databases_in_it(tmp_path):
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorname = "SQLITE_READONLY_DIRECTORY"
    in_other_mode(tmp_path / "a.db")
    SqliteStore(tmp_path / "b.db").close()
    assert unusable_database("the store", tmp_path / "a.db", error).endswith("to the file and to its folder")
    assert unusable_database("the store", tmp_path / "b.db", error).endswith("PRAGMA journal_mode=DELETE")
    error.sqlite_errorname = "SQLITE_READONLY"
    assert unusable_database("the store", tmp_path / "b.db", error).endswith("to the file and to its folder")


def test_reading_does_not_wait_for_a_process_that_writes(store):
    with closing(sqlite3.connect(store.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert store.waiting() == []


def test_a_file_that_another_process_holds_is_named(tmp_path, monkeypatch):
    store = SqliteStore(tmp_path / "chats.db")
    store.close()
    monkeypatch.setattr(kept_connections, "PATIENCE", 0.01)
    with closing(sqlite3.connect(tmp_path / "chats.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="database is locked; another process locked it for 30 seconds"):
            store.transcript("a").append("hello")
    store.transcript("a").append("hello")


def test_a_full_disk_is_said_once_and_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    store = SqliteStore(tmp_path / "chats.db")
    store.transcript("a").append("short")
    store.close()
    connect = sqlite3.connect

    def small(*args, **options):
        db = connect(*args, **options)
        db.execute("PRAGMA max_page_count = 10")
        return db

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(StoreError, match="is full; make room on the disk"):
        store.transcript("a").append("long" * 100_000)
    assert list(store.transcript("a")) == ["short"]


def test_an_error_of_sqlite_without_a_remedy_keeps_its_words(store):
    with store.database.transaction(writes=True) as db:
        db.execute("CREATE TRIGGER no BEFORE INSERT ON items BEGIN SELECT RAISE(ABORT, 'not today'); END")
    with pytest.raises(StoreError, match=r"can't be used: not today$"):
        store.transcript("a").append("text")


# --- what a store holds --------------------------------------------------------------------------


def test_a_store_is_read_turn_by_turn_then_round_by_round(store, tmp_path):
    store.transcript("a").append({"role": "user", "content": "hello"})
    done = executor(store).run_sync(sent(raw("fetch", "f", url="u")))
    done.commit(store.transcript("a"))
    executor(store).run_sync(sent(raw("work", "w", task="a")))
    records = list(stored_records(tmp_path / "desk.db"))
    assert {"role": "user", "content": "hello"} in records
    calls = [{"name": "fetch", "arguments": {"url": "u"}}], [{"name": "work", "arguments": {"task": "a"}}]
    assert [record for record in records if record in calls] == list(calls)


@pytest.mark.parametrize("committed", [0, 1])
@pytest.mark.parametrize("read", [0, 1, 2, 3])
def test_a_round_that_is_committed_while_a_store_is_read_is_read_once(
    store, tmp_path, monkeypatch, read, committed
):
    monkeypatch.setattr(store_contents, "_PAGE", 1)
    store.transcript("a").append({"role": "user", "content": "hello"})
    rounds = [executor(store).run_sync(sent(raw("fetch", "f", url=url))) for url in "uv"]
    records = stored_records(tmp_path / "desk.db")
    found = [next(records) for _ in range(read)]
    rounds[committed].commit(store.transcript("a"))
    found += list(records)
    calls = [[{"name": "fetch", "arguments": {"url": url}}] for url in "uv"]
    assert sorted(found, key=str) == sorted([{"role": "user", "content": "hello"}, *calls], key=str)


def test_a_file_that_is_no_store_is_refused_where_it_is_read(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE items (position INTEGER, turn TEXT, item TEXT)")
        db.execute("INSERT INTO items VALUES (1, 'a', '{}')")
        db.commit()
    with pytest.raises(StoreError, match="contains something other than turns and rounds"):
        list(stored_records(path))
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE items")
        db.commit()
    with pytest.raises(StoreError, match="can't be used"):
        list(stored_records(path))


# --- what may go wrong around a run --------------------------------------------------------------


def forget_what_ran():
    """Forget what this process knows of rounds, as another process does."""
    settlement.remembered = settlement.RememberedRounds()


def test_a_round_that_was_committed_never_runs_again_from_a_copy(store):
    waiting = executor(store).run_sync(sent())
    approved = store.load(waiting.id, toolset).approve("w")
    copy = approved.as_dict(secret=SECRET)
    executor(store).run_sync(approved).commit(store.transcript("a"))
    forget_what_ran()
    with pytest.raises(StoreError, match="is done, or was never stored"):
        executor(store).run_sync(toolset.restore_round(copy, secret=SECRET))
    assert (RAN, store.waiting(), store.stuck()) == (["a"], [], [])


@pytest.mark.parametrize("is_running", [False, True])
def test_a_round_in_the_place_of_another_one_is_refused(store, tmp_path, is_running):
    small = executor(store).run_sync(sent())
    large = executor(store).run_sync(sent(raw("work", "w", task="large")))
    if is_running:
        store.claim(small)
    with closing(sqlite3.connect(tmp_path / "desk.db")) as db:
        query = "UPDATE rounds SET round = (SELECT round FROM rounds WHERE id = ?) WHERE id = ?"
        db.execute(query, (large.id, small.id))
        db.commit()
    forget_what_ran()
    with pytest.raises(RestoreError) as caught:
        (store.take_back if is_running else store.load)(small.id, toolset)
    assert (caught.value.findings[0].code, caught.value.round) == ("data_changed", None)
    assert f"the data are those of another round, {large.id}" in str(caught.value)


def test_a_round_that_no_longer_fits_goes_on_with_the_calls_that_do(store):
    waiting = executor(store).run_sync(sent(raw("work", "w", task="a"), raw("pay", "p", amount=1)))
    with pytest.raises(RestoreError) as caught:
        store.load(waiting.id, toolset.without(pay))
    left = executor(store).run_sync(caught.value.round.approve("w"))
    assert [call.state for call in left.calls] == ["handled", "issue"]
    left.commit(store.transcript("a"))
    assert (RAN, store.waiting()) == (["a"], [])


def test_a_round_that_died_and_no_longer_fits_is_taken_back_by_whoever_says_so(store):
    fresh = sent(raw("fetch", "f", url="u"), raw("search", "s", query="q"))
    running = store.claim(fresh, begun=True)
    with pytest.raises(RestoreError) as caught:
        store.take_back(running.id, toolset.without(search))
    assert [one.id for one in store.stuck()] == [running.id]
    so_far = caught.value.round
    assert [call.state for call in so_far.calls] == ["deferred", "issue"]
    store.keep(so_far, so_far)
    assert [one.id for one in store.waiting()] == [running.id]
    assert store.load(running.id, toolset.without(search)) == so_far


@pytest.mark.parametrize("jump", [-100_000.0, -1.0, 0.0, 100_000.0])
def test_a_round_that_died_is_found_whatever_the_clock_says(store, monkeypatch, jump):
    claimed = store.claim(sent().confirmed())
    then = time.time()
    monkeypatch.setattr(databases, "time", lambda: then + jump)
    (found,) = store.stuck()
    assert found.id == claimed.id
    assert found.seconds == pytest.approx(jump, abs=60)
    assert len(store.stuck(seconds=3600)) == (abs(jump) > 3600)
    assert store.stuck(seconds=10**30) == []


FULL = StoreError("the disk is full")


def is_full(*_):
    raise FULL


def test_what_ran_and_can_not_be_saved_is_in_the_error_and_stuck(store, monkeypatch):
    monkeypatch.setattr(store, "keep", is_full)
    fresh = sent(raw("fetch", "f", url="u"))
    with pytest.raises(StoreError, match=r"can't be saved after its run.*the disk is full") as caught:
        executor(store).run_sync(fresh)
    assert (caught.value.round_id, caught.value.__cause__) == (fresh.id, FULL)
    assert caught.value.round.calls[0].result.content == "page u"
    assert [one.id for one in store.stuck()] == [fresh.id]
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.round) == (str(caught.value), caught.value.round)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, asyncio.CancelledError, SystemExit, Stop])
def test_what_stopped_a_run_is_raised_though_nothing_can_be_saved(store, monkeypatch, kind):
    monkeypatch.setattr(store, "keep", is_full)

    async def stops(work, begin, _):
        await begin(work)
        raise kind

    fresh = sent()
    with pytest.raises(kind) as caught:
        asyncio.run(store.run(fresh, stops))
    (note,) = caught.value.__notes__
    assert note.startswith(f"{fresh.id} can't be saved after its run, so it is one of store.stuck()")
    assert [one.id for one in store.stuck()] == [fresh.id]


def test_a_hook_that_failed_is_named_though_the_round_can_not_be_given_back(store, monkeypatch):
    def fails(_):
        raise Stop

    monkeypatch.setattr(store, "give_back", is_full)
    with pytest.raises(HookError) as caught:
        executor(store, hooks=fails).run_sync(sent())
    assert "the disk is full" in caught.value.__notes__[0]


def deep(levels):
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def circular():
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("item", [float("nan"), deep(100_000), circular(), {1: 2}, b"a"])
def test_an_item_that_is_not_json_is_refused_and_nothing_is_added(store, item):
    with pytest.raises(TypeError, match="an item of a transcript is a turn or JSON"):
        store.transcript("a").append(item)
    assert len(store.transcript("a")) == 0


def test_names_and_ids_of_odd_characters(store):
    for name in ("\ud800", "a\0b"):
        with pytest.raises(ValueError, match="the name of a transcript must be text that can be written"):
            store.transcript(name)
    for use in (store.load, store.take_back):
        with pytest.raises(StoreError, match="was never stored"):
            use("\ud800", toolset)
        with pytest.raises(TypeError, match="the id of a round must be a string"):
            use(None, toolset)


@pytest.mark.parametrize("text", ["{", "[]", '{"turn": {"id": "x"}}', "1" * 5000, "[" * 100_000])
def test_a_turn_that_something_else_wrote_is_refused(store, tmp_path, text):
    executor(store).run_sync(sent(raw("fetch", "f", url="u"))).commit(store.transcript("a"))
    with closing(sqlite3.connect(tmp_path / "desk.db")) as db:
        db.execute("UPDATE items SET item = ?", (text,))
        db.commit()
    with pytest.raises(StoreError, match="contains something other than turns and rounds"):
        list(store.transcript("a"))
    with pytest.raises(StoreError, match="contains something other than turns and rounds"):
        list(stored_records(tmp_path / "desk.db"))
