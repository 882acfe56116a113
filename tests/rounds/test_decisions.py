"""What hooks decide about calls, and what is written into the log."""

from __future__ import annotations

import asyncio
import copy
import pickle

import pytest
from round_samples import Odd, Text, done, ids, pay, raw, search, toolset

import operator_schema
from operator_schema import Complete, Defer, EncodeError, Reject, RoundError, RunNormally, Transcript, hook
from operator_schema.rounds import HookError, Hooks, rejection_reason
from operator_schema.rounds.hook_decisions import DECISIONS

CONFIRM = "the tool needs a person's approval (confirm=True)"


def applied(*decisions, calls=None):
    """Let hooks that give these decisions decide about a call."""
    hooks = Hooks(*[lambda call, decision=decision: decision for decision in decisions])
    return done(toolset.offer().round(calls or [raw("search", query="q")]).apply(hooks))


def query(text):
    return search.input_type(query=text)


# --- each decision -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DECISIONS)
def test_a_decision_that_ends_keeps_later_hooks_from_being_asked(kind):
    assert getattr(operator_schema, kind.__name__) is kind
    asked = []
    decision = kind("gone") if kind is Complete else kind()
    plan = done(toolset.offer().round([raw("fetch", url="u")]).apply(Hooks(lambda _: decision, asked.append)))
    assert asked == ([] if kind.ends else [plan.calls[0].as_pending()])
    assert (plan.calls[0].result is not None) is kind.ends


@pytest.mark.parametrize("kind", DECISIONS)
def test_a_copied_decision_is_the_same(kind):
    decision = kind("gone") if kind is Complete else kind()
    for copied in (copy.deepcopy(decision), pickle.loads(pickle.dumps(decision))):
        assert copied == decision
    plan = applied(pickle.loads(pickle.dumps(RunNormally(approved=True))))
    assert plan.pending == applied(RunNormally(approved=True)).pending


def test_to_run_normally_leaves_the_call_pending():
    for decision in (None, RunNormally()):
        plan = applied(decision)
        assert plan.pending == toolset.offer().round([raw("search", query="q")]).calls
    plan = applied(RunNormally(query("other")))
    assert plan.pending[0].input == query("other")
    assert plan.pending[0].raw == raw("search", query="q")
    assert not plan.pending[0].approved
    assert applied(RunNormally(approved=True)).pending[0].approved


def test_to_complete_gives_the_result():
    plan = applied(Complete(["cached"]))
    (handled,) = plan.handled
    assert (handled.by, handled.result.content) == ("hook", '["cached"]')
    assert handled.input == query("q")
    assert plan.is_complete
    assert plan.commit([]).results == (handled.result,)


def test_to_reject_gives_a_result_with_the_reason():
    (rejected,) = applied(Reject("too dear")).rejected
    assert (rejected.by, rejected.reason, rejection_reason(rejected.result)) == (
        "hook",
        "too dear",
        "too dear",
    )
    assert applied(Reject()).rejected[0].reason == ""


def test_to_defer_lets_it_wait():
    plan = applied(Defer("ask the boss"))
    (waiting,) = plan.deferred
    assert (waiting.reason, waiting.question, waiting.input) == ("ask the boss", None, query("q"))
    assert waiting.tool is search
    assert not plan.is_complete
    assert "ask the boss" not in plan.reject(0, "no").rejected[0].result.content
    assert applied(Defer()).deferred[0].reason == ""


def test_reasons_are_strings():
    for kind in (Reject, Defer):
        for reason in (5, None, b"x"):
            with pytest.raises(TypeError, match=f"the reason of {kind.__name__} must be a string"):
                kind(reason)
        assert type(kind(Text("x")).reason) is str
        assert kind("x") == kind("x") != kind()


# --- the pipeline --------------------------------------------------------------------------------


def test_each_hook_sees_what_the_one_before_changed():
    seen = []

    def trim(call):
        seen.append((call.input.query, call.raw.arguments["query"]))
        return RunNormally(query(call.input.query + "!"))

    (call,) = done(toolset.offer().round([raw("search", query="q")]).apply(Hooks(trim, trim, trim))).pending
    assert seen == [("q", "q"), ("q!", "q"), ("q!!", "q")]
    assert call.input == query("q!!!")
    assert call.raw.arguments == {"query": "q"}


@pytest.mark.parametrize("stop", [Complete(["x"]), Reject("x")])
def test_the_first_that_decides_stops_the_pipeline(stop):
    def never(call):
        raise AssertionError(call)

    hooks = Hooks(lambda call: RunNormally(query("edited")), lambda call: stop, never)
    plan = done(toolset.offer().round([raw("search", query="q")]).apply(hooks))
    (state,) = plan.calls
    assert state.input == query("edited")
    assert plan.pending == ()


def test_a_call_that_is_deferred_goes_on_to_the_next_hooks():
    first = [Defer("first"), RunNormally(query("edited")), Defer("x")]
    waiting = applied(*first).deferred[0]
    assert (waiting.reason, waiting.input) == ("first", query("edited"))
    assert ids(applied(*first, Complete(["x"])).handled) == ["c1"]
    assert ids(applied(*first, Reject()).rejected) == ["c1"]
    # That a later hook agrees doesn't take the place of a person.
    assert ids(applied(*first, RunNormally(approved=True)).deferred) == ["c1"]


def test_decided_calls_and_issues_are_not_asked_about_again():
    seen = []
    calls = [raw("search", "1", query="q"), raw("x", "2"), raw("fetch", "3", url="u"), raw("search", "4")]
    plan = done(toolset.offer().round(calls).apply(hook("search")(lambda call: Reject())))
    done(plan.apply(lambda call: seen.append(call.id)))
    assert seen == ["3"]


def test_an_approved_call_is_not_deferred_again_but_may_be_decided():
    approved = applied(Defer("x")).approve(0)
    again = done(approved.apply(lambda call: Defer("y")))
    assert again.pending[0].approved
    assert ids(done(approved.apply(lambda call: Complete(["z"]))).handled) == ["c1"]
    assert ids(done(approved.apply(lambda call: Reject("z"))).rejected) == ["c1"]
    seen = []
    done(approved.apply(Hooks(lambda call: Defer(), lambda call: seen.append(call.approved))))
    assert seen == [True]


# --- tools that ask for agreement ----------------------------------------------------------------


def test_a_tool_that_asks_for_agreement_waits():
    found = toolset.offer().round([raw("pay", amount=1), raw("fetch", "2", url="u")])
    for plan in (found.confirmed(), done(found.apply()), done(found.apply(lambda call: RunNormally()))):
        assert (ids(plan.deferred), ids(plan.pending)) == (["c1"], ["2"])
        assert plan.deferred[0].reason == CONFIRM
    assert ids(found.calls) == ["c1", "2"]


def test_a_hook_may_agree_in_place_of_a_person():
    def small(call):
        return RunNormally(approved=call.input.amount < 10)

    calls = [raw("pay", "1", amount=5), raw("pay", "2", amount=50)]
    plan = done(toolset.offer().round(calls).apply(hook(pay)(small)))
    assert (ids(plan.pending), ids(plan.deferred)) == (["1"], ["2"])
    edited = applied(
        RunNormally(pay.input_type(amount=7), approved=True), calls=[raw("pay", amount=5)]
    ).pending[0]
    assert (edited.approved, edited.input.amount) == (True, 7)
    assert applied(Complete("done"), calls=[raw("pay", amount=5)]).is_complete


def test_only_true_agrees():
    for approved in (1, "yes", [True]):
        assert applied(RunNormally(approved=approved), calls=[raw("pay", amount=5)]).pending == ()


# --- hooks that fail -----------------------------------------------------------------------------


def failing(*calls, hooks):
    with pytest.raises(HookError) as caught:
        done(toolset.offer().round(calls).apply(hooks))
    return caught.value


def boom(call):
    if call.id == "2":
        raise ZeroDivisionError("no")
    return Complete("page")


def test_a_hook_that_raises_loses_nothing():
    calls = [raw("fetch", str(i), url=str(i)) for i in range(4)]
    error = failing(*calls, hooks=boom)
    assert (error.hook, error.call_id, error.tool) == ("boom", "2", "fetch")
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert str(error) == 'the hook boom failed for fetch (call "2"): ZeroDivisionError: no'
    assert isinstance(error, RoundError)
    assert (ids(error.round.handled), ids(error.round.pending)) == (["0", "1"], ["2", "3"])
    plan = done(error.round.apply(lambda call: Reject("later")))
    assert ids(plan.rejected) == ["2", "3"]
    assert len(plan.commit(Transcript()).results) == 4


def test_after_a_failure_the_call_is_as_it_was():
    hooks = Hooks(lambda call: RunNormally(query("edited"), approved=True), lambda call: 1 / 0)
    error = failing(raw("search", query="q"), hooks=hooks)
    assert error.round.pending[0] == toolset.offer().round([raw("search", query="q")]).calls[0]


def test_a_hook_error_is_pickled_with_its_plan():
    error = failing(raw("fetch", "2", url="u"), hooks=boom)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.round, again.hook) == (str(error), error.round, "boom")


@pytest.mark.parametrize(
    "nonsense", [True, "reject", 5, Reject, Odd(), RunNormally, [Reject()], raw("fetch"), Exception("x")]
)
def test_a_decision_that_is_none_is_refused(nonsense):
    error = failing(raw("fetch", url="u"), hooks=lambda call: nonsense)
    assert isinstance(error.__cause__, TypeError)
    assert "a hook must return RunNormally, Complete, Reject, Defer or None, not" in str(error)
    assert len(error.round.pending) == 1


@pytest.mark.parametrize("given", [None, {"query": "q"}, 5, Odd(), search.input_type(query=5)])
def test_an_input_of_another_kind_is_refused(given):
    error = failing(raw("search", query="q"), hooks=lambda call: RunNormally(given))
    assert error.round.pending[0].input == query("q")


def test_an_output_that_does_not_fit_is_refused():
    error = failing(raw("search", query="q"), hooks=lambda call: Complete(5))
    assert isinstance(error.__cause__, EncodeError)
    for output in (Odd(), object()):
        failing(raw("search", query="q"), hooks=lambda call, output=output: Complete(output))


def test_an_exception_that_can_not_write_itself():
    class Bad(Exception):  # noqa: N818  # a short name
        def __str__(self):
            raise self

        __repr__ = __str__

    def fail(call):
        raise Bad

    error = failing(raw("fetch", url="u"), hooks=fail)
    assert str(error).endswith(": Bad")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_program_is_raised_as_it_is(kind):
    def stop(call):
        raise kind

    found = toolset.offer().round([raw("fetch", url="u")])
    with pytest.raises(kind):
        done(found.apply(stop))
    assert len(found.confirmed().pending) == 1


def test_a_hook_that_commits_the_round_ends_it():
    found = toolset.offer().round([raw("fetch", url="u")])

    def commit(call):
        found.commit([], results=[call.complete("p")])

    plan = done(found.apply(commit))
    with pytest.raises(RoundError, match="committed already"):
        plan.commit([], results=[])


# --- async hooks ---------------------------------------------------------------------------------


async def slow(call):
    await asyncio.sleep(0)
    return Reject("slowly")


@pytest.mark.needs_threads
def test_hooks_may_be_async_under_asyncio():
    found = toolset.offer().round([raw("fetch", "1", url="u"), raw("fetch", "2", url="u")])
    plan = asyncio.run(found.apply(Hooks(lambda call: None, slow)))
    assert [rejected.reason for rejected in plan.rejected] == ["slowly", "slowly"]


@pytest.mark.needs_threads
def test_hooks_may_be_async_under_trio():
    trio = pytest.importorskip("trio", reason="WebAssembly has no event loop for trio")

    async def waits(call):
        await trio.sleep(0)
        return Complete("page")

    plan = trio.run(toolset.offer().round([raw("fetch", url="u")]).apply, Hooks(waits))
    assert plan.handled[0].result.content == "page"


@pytest.mark.needs_threads
def test_cancelling_a_hook_leaves_the_round_open():
    asked = asyncio.Event()

    async def hang(call):
        asked.set()
        await asyncio.sleep(60)

    async def outer():
        found = toolset.offer().round([raw("fetch", "1", url="u"), raw("fetch", "2", url="u")])
        task = asyncio.ensure_future(found.apply(hang))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return found

    found = asyncio.run(outer())
    assert ids(found.confirmed().pending) == ["1", "2"]
    found.commit([], results=[call.complete("p") for call in found.calls])


@pytest.mark.needs_threads
def test_a_time_limit_around_hooks_leaves_the_round_open_under_trio():
    trio = pytest.importorskip("trio", reason="WebAssembly has no event loop for trio")

    async def hang(call):
        await trio.sleep_forever()

    async def main():
        found = toolset.offer().round([raw("fetch", url="u")])
        with trio.move_on_after(0.01) as scope:
            await found.apply(hang)
        assert scope.cancelled_caught
        return found

    assert ids(trio.run(main).confirmed().pending) == ["c1"]


@pytest.mark.needs_threads
def test_two_tasks_may_ask_hooks_about_one_round():
    async def by_id(call):
        await asyncio.sleep(0)
        return Reject("even") if int(call.id) % 2 == 0 else None

    async def main():
        found = toolset.offer().round([raw("fetch", str(i), url="u") for i in range(10)])
        return await asyncio.gather(found.apply(by_id), found.apply(by_id), found.apply())

    one, other, without = asyncio.run(main())
    assert one == other
    assert len(one.rejected) == 5
    assert len(without.pending) == 10


def test_an_object_that_can_be_awaited_is():
    class Later:
        def __await__(self):
            return Reject("later")
            yield

    assert done(toolset.offer().round([raw("fetch", url="u")]).apply(lambda call: Later())).rejected
