"""What a round says of itself: who it is for, what the program noted, and what a store knows of it."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_samples import fetch, pay
from saving_samples import SECRET, parts, problems, refused, restored

from operator_schema import DecodeError, Executor, RawCall, RoundError, Toolset, Transcript
from operator_schema.rounds import SqliteStore, StoreError, Turn

pytestmark = pytest.mark.needs_threads

TOOLS = Toolset(fetch, pay)
CALLS = [RawCall("1", "fetch", {"url": "a"}), RawCall("2", "pay", {"amount": 900})]
TEXTS = st.text(st.characters(codec=None), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3),
    max_leaves=8,
)
READABLE = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
NAMES = st.none() | READABLE.filter(str.strip)


@given(about=JSON, conversation=NAMES, assistant=JSON)
def test_a_round_comes_back_with_all_that_it_says_of_itself(about, conversation, assistant):
    work = TOOLS.offer().round(CALLS, about=about, conversation=conversation, assistant=assistant)
    again = restored(work, TOOLS, SECRET)
    assert again == work
    assert (again.about, again.conversation, again.assistant) == (about, conversation, assistant)


def test_nobody_changes_what_a_round_says_of_itself():
    given_about = {"customer": [7]}
    work = TOOLS.offer().round(CALLS, about=given_about)
    given_about["customer"].append(8)
    work.about["customer"].append(9)
    assert work.about == {"customer": [7]}


def places_in(value, path=()):
    """Yield the paths of all values in a JSON value."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from places_in(inner, (*path, key))


def changed_at(data, path, value):
    """Return a copy of data with another value at a path; without it if there is no other one."""
    data = json.loads(json.dumps(data))
    *parents, last = path
    inside = data
    for key in parents:
        inside = inside[key]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return data


def test_each_single_change_of_saved_data_is_refused_with_a_secret():
    work = TOOLS.offer().round(CALLS, about={"trace": "t", "n": [1, {"a": None}]}, conversation="7")
    data = json.loads(json.dumps(work.confirmed().as_dict(secret=SECRET)))
    paths = [path for path in places_in(data) if path]
    assert ("about", "n", 1, "a") in paths
    for path in paths:
        for value in (None, "other", 8, {}):
            changed = changed_at(data, path, value)
            if changed != data:
                assert {code for code, _ in problems(refused(changed, TOOLS, SECRET))} <= {
                    "data_changed",
                    "not_a_round",
                    "newer_format",
                }, (path, value)


@pytest.mark.parametrize(
    ("known", "error", "complaint"),
    [
        ({"about": object()}, TypeError, "about has to be JSON: object isn't JSON"),
        ({"about": float("nan")}, ValueError, "not finite"),
        ({"about": "x" * 9_999}, ValueError, "may have 10,000: keep the rest elsewhere"),
        ({"conversation": 7}, TypeError, "conversation must be a string"),
        ({"conversation": "\ud800"}, ValueError, "must be text that can be written"),
    ],
)
def test_what_cannot_be_kept_is_refused(known, error, complaint):
    with pytest.raises(error, match=complaint):
        TOOLS.offer().round(CALLS, **known)


@pytest.mark.parametrize("empty", ["", " ", "\t\xa0"])
def test_a_conversation_without_a_name_is_refused_wherever_one_is_given(tmp_path, empty):
    class Named(list):
        name = empty

    store, work = SqliteStore(tmp_path / "desk.db"), TOOLS.offer().round(CALLS)
    for use in (
        lambda: TOOLS.offer().round(CALLS, conversation=empty),
        lambda: store.transcript(empty),
        lambda: store.waiting(conversation=empty),
        lambda: Executor(TOOLS).run_sync(work, Named()),
        lambda: work.reject_open().commit(Named()),
    ):
        with pytest.raises(
            ValueError, match=r"^(conversation|the name of a transcript) is empty: give a name"
        ):
            use()
    assert store.waiting() == []


def test_an_empty_id_of_a_round_is_named(tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    for use in (
        lambda: store.load("", TOOLS),
        lambda: store.take_back("", TOOLS),
        lambda: store.find(""),
    ):
        with pytest.raises(StoreError, match=r'^(""|there is no round "")'):
            use()


def test_a_round_takes_its_conversation_from_a_stored_transcript(tmp_path):
    store = SqliteStore(tmp_path / "desk.db", secret=SECRET)
    executor = Executor(TOOLS, store=store)
    waiting = executor.run_sync(TOOLS.offer().round(CALLS, about={"by": "anna"}), store.transcript("7"))
    found = store.load(waiting.id, TOOLS)
    assert (found.conversation, found.about, found.revision) == ("7", {"by": "anna"}, waiting.revision)
    assert found.revision is not None
    done = executor.run_sync(found.reject("2"), store.transcript("7"))
    with pytest.raises(RoundError, match='conversation "7", and the transcript is that of "8"'):
        done.commit(store.transcript("8"))
    with pytest.raises(RoundError, match="belongs to the conversation"):
        executor.run_sync(done, store.transcript("8"))
    turn = done.commit(store.transcript("7"))
    assert turn.about == {"by": "anna"}
    assert list(store.transcript("7")) == [turn]


def test_a_transcript_in_memory_has_no_name():
    done = Executor(TOOLS, confirm="run").run_sync(TOOLS.offer().round(CALLS, conversation="7"), Transcript())
    assert done.conversation == "7"
    assert done.commit(history := Transcript()) == history[0]


@pytest.mark.parametrize("work", [CALLS, CALLS[0]])
def test_only_a_round_has_a_history(work):
    with pytest.raises(TypeError, match="only a round has a history"):
        Executor(TOOLS).run_sync(work, Transcript())


@given(
    about=JSON,
    assistant=JSON,
    sent=st.lists(st.tuples(TEXTS, st.dictionaries(TEXTS, JSON, max_size=2), JSON), max_size=3),
)
def test_a_turn_comes_back_from_its_data(about, assistant, sent):
    work = TOOLS.offer().round(
        [RawCall(f"c{name}", f"tool {name}", arguments) for name, arguments, _ in sent],
        assistant=assistant,
        about=about,
    )
    turn = work.commit([])
    data = json.loads(json.dumps(turn.as_dict()))
    again = Turn.from_dict(data)
    assert again.as_dict() == data
    if not any(0xD800 <= ord(one) <= 0xDFFF for one in json.dumps([about, assistant], ensure_ascii=False)):
        assert (again.about, again.assistant) == (about, assistant)


def test_a_turn_keeps_images_and_changes():
    tools = Toolset(parts, pay)
    calls = [RawCall("1", "parts", {}), CALLS[1]]
    executor = Executor(tools)
    work = executor.run_sync(tools.offer().round(calls)).approve("2", arguments={"amount": 9})
    turn = executor.run_sync(work).commit([])
    again = Turn.from_dict(json.loads(json.dumps(turn.as_dict())))
    assert again == turn
    assert again.results[1].changed.before == {"amount": 900}


@given(st.data())
def test_damaged_data_of_a_turn_are_one_kind_of_error(data):
    turn = Executor(TOOLS, confirm="run").run_sync(TOOLS.offer().round(CALLS)).commit([])
    saved = json.loads(json.dumps(turn.as_dict()))
    path = data.draw(st.sampled_from([path for path in places_in(saved) if path]))
    damaged = changed_at(saved, path, data.draw(JSON))
    try:
        again = Turn.from_dict(damaged)
    except DecodeError:
        return
    assert Turn.from_dict(json.loads(json.dumps(again.as_dict()))) == again


def test_a_turn_whose_results_are_not_those_of_its_calls_is_refused():
    turn = TOOLS.offer().round([RawCall("1", "nothing", {})]).commit([])
    with pytest.raises(DecodeError, match="the saved turn"):
        Turn.from_dict({**turn.as_dict(), "results": []})


class Slow(Transcript):
    """Its `append` waits until the event loop has gone on, which it can't do in the thread of the loop."""

    def __init__(self):
        super().__init__()
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def append(self, item):
        self.has_begun.set()
        self.may_end.wait()
        super().append(item)


async def committed_while_the_loop_goes_on(work, history):
    task = asyncio.create_task(work.acommit(history))
    await asyncio.to_thread(history.has_begun.wait)
    return task


@pytest.mark.needs_threads
def test_the_event_loop_goes_on_while_a_turn_is_committed():
    async def main():
        work = await Executor(TOOLS, confirm="run").run(TOOLS.offer().round(CALLS))
        history = Slow()
        task = await committed_while_the_loop_goes_on(work, history)
        history.may_end.set()
        assert await task == history[0]

    asyncio.run(main())


@pytest.mark.needs_threads
def test_a_cancelled_commit_has_ended_when_the_task_ends():
    async def main():
        work = await Executor(TOOLS, confirm="run").run(TOOLS.offer().round(CALLS))
        history = Slow()
        task = await committed_while_the_loop_goes_on(work, history)
        task.cancel()
        for _ in range(3):  # it may be cancelled again
            await asyncio.sleep(0)
            task.cancel()
        history.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(history) == 1
        with pytest.raises(RoundError, match="committed already"):
            work.commit([])

    asyncio.run(main())


@pytest.mark.needs_threads
def test_what_append_raises_reaches_whoever_waits_and_the_round_stays_open():
    class Full(Slow):
        def append(self, item):
            super().append(item)
            raise OSError("no room")

    async def main(*, cancels):
        work = await Executor(TOOLS, confirm="run").run(TOOLS.offer().round(CALLS))
        history = Full()
        task = await committed_while_the_loop_goes_on(work, history)
        if cancels:
            task.cancel()
            await asyncio.sleep(0)
        history.may_end.set()
        with pytest.raises(asyncio.CancelledError if cancels else OSError) as raised:
            await task
        assert not cancels or "no room" in str(raised.value.__notes__)
        assert work.commit([]).results

    asyncio.run(main(cancels=False))
    asyncio.run(main(cancels=True))


def test_a_commit_without_an_event_loop_happens_at_once():
    work = Executor(TOOLS, confirm="run").run_sync(TOOLS.offer().round(CALLS))
    committing = work.acommit(history := [])
    with pytest.raises(StopIteration):
        committing.send(None)
    assert len(history) == 1


@pytest.mark.needs_threads
def test_a_commit_in_trio_happens_in_a_thread():
    trio = pytest.importorskip("trio")

    async def main():
        work = await Executor(TOOLS, confirm="run").run(TOOLS.offer().round(CALLS))
        where = []

        class Noting(Transcript):
            def append(self, item):
                where.append(threading.get_ident())
                super().append(item)

        await work.acommit(Noting())
        assert where != [threading.get_ident()]

    trio.run(main)
