"""Calls that ended before the process died: their results are saved as they come."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging

import pytest
from round_samples import ask, fetch, pay
from saving_samples import SECRET, parts

from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.rounds import RestoreError
from operator_schema.rounds.restore import with_ended
from operator_schema.rounds.serialization import save_ended

pytestmark = pytest.mark.needs_threads

TOOLS = Toolset(fetch, pay, ask, parts)
OLD = b"an older key of 32 bytes, or so."


class Noting:
    """A store that notes what it is given, and saves nothing."""

    def __init__(self, secret=SECRET):
        self.secret = secret
        self.began = None
        self.ended = []

    async def run(self, work, run):
        return await run(work, self.begin, self.end)

    def begin(self, decided):
        self.began = json.dumps(decided.as_dict(secret=self.secret))

    def end(self, call):
        self.ended.append(json.dumps(save_ended(json.loads(self.began)["round"], call, self.secret)))


def ran():
    """Return a store, and the round whose calls ran with it: four ended, and one of them has a question."""
    store = Noting()
    calls = [
        RawCall("1", "fetch", {"url": "ü\0"}),
        RawCall("1", "fetch", {"url": "b"}),
        RawCall("2", "ask", {"topic": "rain"}),
        RawCall("3", "parts", {}),
        RawCall("4", "pay", {"amount": 1}),
    ]
    done = Executor(TOOLS, store=store).run_sync(TOOLS.offer().round(calls))
    return store, done


def test_after_a_crash_each_call_that_ended_has_its_result_and_the_others_are_as_they_began():
    store, done = ran()
    began = TOOLS.restore_round(store.began, secret=SECRET)
    assert [call.state for call in began.calls] == [*["pending"] * 4, "deferred"]
    assert len(store.ended) == 4
    for number in range(5):
        for ended in itertools.permutations(store.ended, number):
            found = with_ended(began, ended, SECRET)
            indexes = {json.loads(one)["index"] for one in ended}
            for call, after, before in zip(found.calls, done.calls, began.calls, strict=True):
                assert call == (after if call.index in indexes else before)


def values_in(value, path=()):
    """Yield the paths of all values inside a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from values_in(inner, (*path, key))


def test_each_single_change_of_a_call_that_ended_is_refused_with_a_secret():
    store, _ = ran()
    began = TOOLS.restore_round(store.began, secret=SECRET)
    for saved in store.ended:
        for path in values_in(json.loads(saved)):
            data = json.loads(saved)
            inside = data
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = "other" if inside[path[-1]] != "other" else "another"
            with pytest.raises(RestoreError) as refused:
                with_ended(began, [data], SECRET)
            assert refused.value.round == began
            assert [problem.code for problem in refused.value.findings] == ["data_changed"]


def test_a_call_of_another_round_is_refused_and_the_rest_is_kept():
    store, done = ran()
    other, _ = ran()
    began = TOOLS.restore_round(store.began, secret=SECRET)
    for foreign in (*other.ended, "5", json.dumps({"round": began.id, "index": 9, "call": {}})):
        with pytest.raises(RestoreError, match="of another round") as refused:
            with_ended(began, [foreign, store.ended[0]], SECRET)
        assert [call.state for call in refused.value.round.calls].count("pending") == 3
    assert done.id == began.id


def test_a_call_that_cannot_be_saved_has_its_result_all_the_same(caplog):
    class Full(Noting):
        def end(self, call):
            raise OSError("no room")

    store = Full()
    with caplog.at_level(logging.WARNING):
        done = Executor(TOOLS, store=store).run_sync(
            TOOLS.offer().round([RawCall("1", "fetch", {"url": "a"})])
        )
    assert done.calls[0].content == "page a"
    assert "its result isn't saved yet" in caplog.text


@pytest.mark.needs_threads
def test_a_call_is_saved_while_others_still_run():
    ends = asyncio.Event()

    class Async(Noting):
        async def end(self, call):
            super().end(call)
            ends.set()

    store = Async()

    @tool
    async def wait() -> str:
        await ends.wait()
        return "done"

    tools = Toolset(fetch, wait)
    work = tools.offer().round([RawCall("1", "wait", {}), RawCall("2", "fetch", {"url": "a"})])
    done = asyncio.run(Executor(tools, store=store).run(work))
    assert [json.loads(one)["index"] for one in store.ended] == [1, 0]
    assert done.is_complete


KEYS = {"new": SECRET, "old": OLD, "other": b"a key that nobody else has at all"}


def test_what_any_key_signed_is_read_by_whoever_has_this_key():
    work = TOOLS.offer().round([RawCall("1", "fetch", {"url": "a"})])
    lists = [list(keys) for size in (1, 2, 3) for keys in itertools.permutations(KEYS, size)]
    for writer, reader in itertools.product(lists, lists):
        data = work.as_dict(secret=[KEYS[name] for name in writer])
        keys = tuple(KEYS[name] for name in reader)
        if writer[0] in reader:
            assert TOOLS.restore_round(data, secret=keys) == work
        else:
            with pytest.raises(RestoreError):
                TOOLS.restore_round(data, secret=keys)
        with pytest.raises(RestoreError):
            TOOLS.restore_round(data)


@pytest.mark.parametrize(
    ("secret", "error", "complaint"),
    [
        ([], ValueError, "the list of secrets is empty"),
        ([SECRET, b"short"], ValueError, "the secret has 5 bytes"),
        ([SECRET, None], TypeError, "must be bytes"),
        ("a text of 16 or more", TypeError, "must be bytes"),
    ],
)
def test_each_of_several_secrets_is_checked(secret, error, complaint):
    work = TOOLS.offer().round([])
    with pytest.raises(error, match=complaint):
        work.as_dict(secret=secret)
    with pytest.raises(error, match=complaint):
        TOOLS.restore_round(work.as_dict(), secret=secret)
