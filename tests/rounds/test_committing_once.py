"""A round is committed once, or it stays open."""

from __future__ import annotations

import copy
import pickle
import threading

import pytest
from round_samples import done, raw, toolset

from operator_schema import RoundError, ToolResult, Transcript
from operator_schema.rounds import CommitError


def started(*calls):
    return toolset.offer().round([raw("fetch", call_id, url=url) for call_id, url in calls])


def result():
    return ToolResult("a", "fetch", "page")


def test_after_a_commit_everything_raises():
    found = started(("a", "1"))
    plan = done(found.apply())
    transcript = Transcript()
    found.commit(transcript, results=[result()])
    uses = [
        lambda: found.commit(transcript, results=[result()]),
        lambda: plan.commit(transcript, results=[result()]),
        found.discard,
        plan.discard,
        found.confirmed,
        lambda: done(plan.apply()),
        lambda: done(plan.apply(lambda _: None)),
        lambda: plan.with_results([result()]),
        lambda: plan.approve("a"),
        lambda: plan.reject("a"),
        lambda: plan.answer("a", 1),
    ]
    for use in uses:
        with pytest.raises(RoundError, match="committed already"):
            use()
    assert len(transcript) == 1


def test_a_transcript_that_refuses_leaves_the_round_open():
    class Full:
        def append(self, _):
            raise OSError("disk full")

    class Stopped:
        def append(self, _):
            raise KeyboardInterrupt

    found = started(("a", "1"))
    with pytest.raises(OSError, match="disk full"):
        found.commit(Full(), results=[result()])
    with pytest.raises(KeyboardInterrupt):
        found.commit(Stopped(), results=[result()])
    assert found.commit([], results=[result()]).results[0].content == "page"


def test_a_refused_commit_leaves_the_round_open():
    found = started(("a", "1"))
    with pytest.raises(CommitError):
        found.commit([], results=[])
    with pytest.raises(TypeError):
        found.commit([], results=[5])
    with pytest.raises(TypeError, match="a transcript must be"):
        found.commit(None, results=[result()])
    found.commit([], results=[result()])


def test_a_commit_inside_a_commit_is_refused():
    found = started(("a", "1"))
    seen = []

    class Again:
        def append(self, turn):
            with pytest.raises(RoundError, match="committed already"):
                found.commit(seen, results=[result()])
            seen.append(turn)

    found.commit(Again(), results=[result()])
    assert len(seen) == 1


def test_a_turn_goes_into_a_list_transcript_once():
    found = started(("a", "1"))
    transcript = Transcript([{"role": "user"}])
    turn = found.commit(transcript, results=[result()])
    with pytest.raises(RoundError, match="in the transcript already"):
        transcript.append(turn)
    assert list(Transcript([turn])) == [turn]
    assert list(transcript) == [{"role": "user"}, turn]
    for other in (copy.copy(transcript), copy.deepcopy(transcript), pickle.loads(pickle.dumps(transcript))):
        other.append("another conversation")
        with pytest.raises(RoundError, match="in the transcript already"):
            other.append(turn)
    assert list(transcript) == [{"role": "user"}, turn]


@pytest.mark.needs_threads
def test_of_many_threads_one_commits():
    for _ in range(50):
        found = started(("a", "1"))
        plans = [found.confirmed(), found.confirmed().with_results([result()])]
        transcript, refused = [], []
        barrier = threading.Barrier(8)

        def commit(plan, barrier=barrier, transcript=transcript, refused=refused):
            barrier.wait()
            try:
                plan.commit(transcript, results=[] if plan.is_complete else [result()])
            except RoundError as error:
                refused.append(error)

        threads = [threading.Thread(target=commit, args=(plans[i % 2],)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(transcript), len(refused)) == (1, 7)


@pytest.mark.needs_threads
def test_turns_of_many_threads_go_in_whole():
    transcript = Transcript(["hello"])
    rounds = [started(*[(f"{n}-{i}", "u") for i in range(20)]) for n in range(40)]
    barrier = threading.Barrier(4)

    def commit(own):
        barrier.wait()
        for found in own:
            found.commit(transcript, results=[call.complete(call.id) for call in reversed(found.calls)])
            transcript.append("between")

    threads = [threading.Thread(target=commit, args=(rounds[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = [item for item in transcript if item not in ("hello", "between")]
    assert {turn.id for turn in turns} == {found.id for found in rounds}
    assert len(transcript) == 1 + 2 * len(rounds)
    for turn in turns:
        assert [result.content for result in turn.results] == [call.id for call in turn.calls]


def test_a_transcript_takes_a_list_of_messages():
    with pytest.raises(TypeError, match=r'a transcript takes a list of messages: Transcript\(\["hello"\]\)'):
        Transcript("hello")
    assert list(Transcript(["hello"])) == ["hello"]
