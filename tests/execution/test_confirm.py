"""Tools with `confirm=True`: no door runs them before somebody has agreed."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from dataclasses import dataclass

import pytest
from doors import ALONE

from operator_schema import Complete, Defer, Executor, RawCall, Registry, Reject, RunNormally, Toolset, tool
from operator_schema.rounds import HookError, call_text

pytestmark = pytest.mark.needs_threads

ran: list[str] = []


@tool(confirm=True)
def wipe(path: str = "/") -> str:
    """Wipe a folder."""
    ran.append(path)
    return f"wiped {path}"


@tool(confirm=True)
async def wipe_slowly(path: str = "/") -> str:
    """Wipe a folder."""
    ran.append(path)
    return f"wiped {path}"


@tool
def look(path: str = "/") -> str:
    """Look at a folder."""
    return f"looked at {path}"


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


every_door = pytest.mark.parametrize("door", ALONE)
both_kinds = pytest.mark.parametrize("tested", [wipe, wipe_slowly], ids=["sync", "async"])


@every_door
@both_kinds
def test_nobody_to_ask_means_that_it_is_not_run(door, tested):
    result = door(Executor([tested]), RawCall("1", tested.name, {"path": "/a"}))
    assert (result.is_error, result.code) == (True, "needs_approval")
    assert "was not run: a person has to agree" in result.content
    assert ran == []


@every_door
@both_kinds
@pytest.mark.parametrize("place", ["executor", "call"])
def test_it_runs_without_asking_only_if_the_program_says_so(door, tested, place):
    options = {"confirm": "run"}
    executor = Executor([tested], **(options if place == "executor" else {}))
    result = door(executor, RawCall("1", tested.name, {"path": "/a"}), **(options if place == "call" else {}))
    assert result.content == "wiped /a"


@every_door
@both_kinds
@pytest.mark.parametrize("place", ["executor", "call"])
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async function"])
def test_it_runs_if_the_person_agrees(door, tested, place, is_async):
    asked = []

    def ask(call):
        asked.append((call.id, call.name, call.tool, call.input.path, call.arguments))
        return True

    async def ask_later(call):
        await asyncio.sleep(0)
        return ask(call)

    options = {"confirm": ask_later if is_async else ask}
    executor = Executor([tested], **(options if place == "executor" else {}))
    call = RawCall("1", tested.name, '{"path": "/a"}')
    assert door(executor, call, **(options if place == "call" else {})).content == "wiped /a"
    assert asked == [("1", tested.name, tested, "/a", {"path": "/a"})]
    assert ran == ["/a"]


@pytest.mark.parametrize(
    ("answer", "code", "content"),
    [
        (False, "rejected", "This call was rejected: a person declined it"),
        ("not that one", "rejected", "This call was rejected: not that one"),
        (Reject("too risky"), "rejected", "This call was rejected: too risky"),
        (Reject(), "rejected", "This call was rejected."),
        (None, "needs_approval", None),
        (Defer("tomorrow"), "needs_approval", None),
        (Complete("done by hand"), None, "done by hand"),
        (1, "needs_approval", None),
        ([True], "needs_approval", None),
        (RunNormally({"path": "/b"}), "needs_approval", None),
        (Complete(5), "needs_approval", None),
    ],
)
def test_every_answer_but_an_agreement_leaves_it_alone(answer, code, content):
    result = Executor([wipe], confirm=lambda _: answer).run_sync(RawCall("1", "wipe", {"path": "/a"}))
    assert result.code == code
    assert content is None or result.content == content
    assert ran == []


def test_another_input_is_run_in_place_of_the_first():
    executor = Executor([wipe], confirm=lambda call: RunNormally(call.tool.decode({"path": "/b"})))
    told = 'A person changed path to "/b" before it ran.\nwiped /b'
    assert executor.run_sync(RawCall("1", "wipe", {"path": "/a"})).content == told
    assert ran == ["/b"]


def test_an_input_that_was_edited_in_place_is_not_run():
    def ask(call):
        call.input.path = "/etc"
        return True

    assert Executor([wipe], confirm=ask).run_sync(RawCall("1", "wipe", {})).code == "needs_approval"
    assert ran == []


def test_nobody_is_asked_about_arguments_that_do_not_fit_or_tools_that_need_nobody():
    def ask(call):
        raise AssertionError(call)

    executor = Executor([wipe, look], confirm=ask)
    assert executor.run_sync(RawCall("1", "wipe", {"path": 5})).code == "invalid_params"
    assert executor.run_sync(RawCall("1", "wipe", '{"path": ')).code == "invalid_params"
    assert executor.run_sync(RawCall("1", "look", {})).content == "looked at /"
    assert executor.run_sync(RawCall("1", "wap", {})).code == "tool_not_found"
    off = Registry([wipe])
    off.switch("wipe", enabled=False)
    assert Executor(off, confirm=ask).run_sync(RawCall("1", "wipe", {})).code == "disabled"


def test_a_failing_question_is_no_agreement(caplog):
    def ask(call):
        message = "no terminal"
        raise OSError(message)

    result = Executor([wipe], confirm=ask).run_sync(RawCall("1", "wipe", {}))
    assert result.code == "needs_approval"
    assert "no terminal" not in result.content
    assert isinstance(result.details["exception"], OSError)
    assert "the function given as confirm failed" in caplog.text
    assert ran == []


def test_exceptions_of_the_host_pass_through_a_question():
    class PauseError(Exception):
        pass

    def ask(call):
        raise PauseError

    with pytest.raises(PauseError):
        Executor([wipe], confirm=ask, pass_through=[PauseError]).run_sync(RawCall("1", "wipe", {}))
    assert ran == []


def test_the_time_of_a_person_is_not_the_time_of_the_call():
    def ask(call):
        time.sleep(0.6)
        return True

    async def ask_later(call):
        await asyncio.sleep(0.6)
        return True

    for confirm in (ask, ask_later):
        executor = Executor([wipe], confirm=confirm, timeout=0.5)
        assert executor.run_sync(RawCall("1", "wipe", {})).content == "wiped /"


def test_other_calls_go_on_while_a_person_thinks():
    may_answer = asyncio.Event()

    async def ask(call):
        await may_answer.wait()
        return True

    async def main():
        executor = Executor([wipe, look], confirm=ask, max_concurrency=1)
        waiting = asyncio.ensure_future(executor.run(RawCall("1", "wipe", {})))
        await asyncio.sleep(0)
        assert (await executor.run(RawCall("2", "look", {}))).content == "looked at /"
        may_answer.set()
        assert (await waiting).content == "wiped /"

    asyncio.run(main())


def test_a_plain_function_is_asked_one_question_at_a_time():
    asking = []

    def ask(call):
        asking.append(call.id)
        assert len(asking) == 1
        time.sleep(0.01)
        asking.pop()
        return True

    calls = [RawCall(str(number), "wipe", {}) for number in range(5)]
    results = Executor([wipe], confirm=ask).run_sync(calls)
    assert [result.content for result in results] == ["wiped /"] * 5


def test_without_threads_a_plain_function_is_asked_in_the_thread_of_the_loop():
    threads = []

    def ask(call):
        threads.append(threading.current_thread())
        return True

    asyncio.run(Executor([wipe], confirm=ask, threads=False).run(RawCall("1", "wipe", {})))
    assert threads == [threading.current_thread()]


def test_cancelling_a_call_that_waits_for_a_person_runs_nothing():
    async def ask(call):
        await asyncio.sleep(60)
        return True

    async def main():
        task = asyncio.ensure_future(Executor([wipe], confirm=ask).run(RawCall("1", "wipe", {})))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ran == []


def test_a_tool_that_was_replaced_while_a_person_was_asked_is_not_run():
    registry = Registry([wipe])

    @tool(name="wipe", confirm=True)
    def other(path: str = "/") -> str:
        """Wipe something else."""
        ran.append("other")
        return "oh"

    def ask(call):
        registry.unregister("wipe")
        registry.register(other)
        return True

    result = Executor(registry, confirm=ask).run_sync(RawCall("1", "wipe", {}))
    assert result.code == "needs_approval"
    assert ran == []


def test_repairs_are_still_known_after_a_question():
    executor = Executor([wipe.with_(repair=True)], confirm=lambda _: True)
    result = executor.run_sync(RawCall("1", "wipe", {"Path": "/a"}))
    assert result.content == "wiped /a"
    assert "repairs" in result.details


made: list[int] = []


@dataclass
class Order:
    number: int

    def __post_init__(self):
        made.append(self.number)


def test_the_text_for_a_person_decodes_nothing_again():
    """Long arguments are decoded in a thread; the text is written in the event loop."""

    @tool(confirm=True)
    def pay(order: Order, currency: str = "EUR") -> str:
        """Pay."""
        return f"paid {order.number} {currency}"

    texts, counts = [], []

    def ask(call):
        before = len(made)
        texts.append(call_text(call))
        counts.append(len(made) - before)
        return True

    executor = Executor([pay], confirm=ask)
    call = RawCall("1", "pay", {"order": {"number": 1, "colour": "red"}, "to": "me"})
    assert executor.run_sync(call).content == "paid 1 EUR"
    assert executor.run_sync(Toolset(pay).offer().round([call])).handled[0].content == "paid 1 EUR"
    ignored = "(the tool doesn't know, and ignores: order.colour, to)"
    assert texts == [f'Run pay?\norder: {{"number": 1}}\ncurrency: "EUR"\n{ignored}'] * 2
    assert counts == [0, 0]


@pytest.mark.parametrize(
    ("confirm", "state"),
    [
        (None, "deferred"),
        ("run", "handled"),
        (lambda _: True, "handled"),
        (lambda _: False, "rejected"),
        (lambda _: None, "deferred"),
        (lambda _: Complete("done by hand"), "handled"),
    ],
)
def test_in_a_round_the_executor_asks_about_what_would_wait(confirm, state):
    sent = Toolset(wipe, look).offer().round([RawCall("1", "wipe", {}), RawCall("2", "look", {})])
    plan = Executor([wipe, look], confirm=confirm).run_sync(sent)
    assert [call.state for call in plan.calls] == [state, "handled"]
    assert len(ran) == (state == "handled" and plan.handled[0].result.content == "wiped /")


def test_who_is_asked_about_what_a_hook_defers_reads_why():
    asked = []

    def ask(call):
        asked.append((call.state, call.reason))
        return True if call.reason == "a person" else None

    executor = Executor([wipe], confirm=ask)
    sent = Toolset(wipe).offer().round([RawCall("1", "wipe", {})])
    waiting = executor.run_sync(sent, hooks=lambda _: Defer("the board"))
    assert [one.reason for one in waiting.deferred] == ["the board"]  # the person at hand didn't decide
    done = executor.run_sync(sent, hooks=lambda _: Defer("a person"))
    assert done.handled[0].content == "wiped /"
    assert asked == [("deferred", "the board"), ("deferred", "a person")]


def test_nobody_is_asked_in_a_round_about_what_a_person_has_approved():
    def ask(call):
        raise AssertionError(call)

    sent = Toolset(wipe).offer().round([RawCall("1", "wipe", {})])
    waiting = Executor([wipe]).run_sync(sent)
    done = Executor([wipe], confirm=ask).run_sync(waiting.approve("1"))
    assert done.handled[0].result.content == "wiped /"


def test_a_question_that_fails_in_a_round_runs_nothing():
    sent = Toolset(look, wipe).offer().round([RawCall("2", "look", {}), RawCall("1", "wipe", {})])
    with pytest.raises(HookError, match=r"^the function given as confirm failed for wipe") as caught:
        Executor([wipe, look], confirm=lambda _: 5).run_sync(sent)
    assert len(caught.value.round.deferred) == 1
    assert ran == []


def test_a_tool_of_the_executor_that_needs_a_person_counts_in_a_round_too():
    sent = Toolset(wipe.with_(confirm=False)).offer().round([RawCall("1", "wipe", {})])
    plan = Executor([wipe]).run_sync(sent)
    assert plan.handled[0].result.code == "needs_approval"
    assert ran == []


@pytest.mark.parametrize("confirm", ["ask", True, False, 1, bool, ["run"]])
def test_the_option_is_checked(confirm):
    with pytest.raises(ValueError, match=r'^confirm must be "run", a function of a call, or None, not '):
        Executor([wipe], confirm=confirm)
    with pytest.raises(ValueError, match=r'^confirm must be "run", '):
        Executor([wipe]).run_sync(RawCall("1", "wipe", {}), confirm=confirm)
    with pytest.raises(ValueError, match=r'^confirm must be "run", '):
        Executor([wipe]).stream([RawCall("1", "wipe", {})], confirm=confirm)


@every_door
@pytest.mark.parametrize("arguments", ["", None, {}, '{"path": "/a"}', '{"path": "/'])
@pytest.mark.parametrize("tested", [wipe, look], ids=["confirm", "plain"])
def test_a_call_that_was_cut_off_is_never_run(door, arguments, tested):
    executor = Executor([tested], confirm="run")
    result = door(executor, RawCall("1", tested.name, arguments, is_cut_off=True))
    assert (result.is_error, result.code) == (True, "cut_off")
    assert "Send the whole call again" in result.content
    assert ran == []


def test_a_call_that_was_cut_off_is_an_issue_of_its_round():
    sent = Toolset(look).offer().round([RawCall("1", "look", "", is_cut_off=True), RawCall("2", "look", {})])
    assert [issue.code for issue in sent.issues] == ["cut_off"]
    plan = Executor([look]).run_sync(sent)
    assert [call.state for call in plan.calls] == ["issue", "handled"]


def test_what_is_logged_of_a_call_that_waits_holds_no_arguments(caplog):
    with caplog.at_level(logging.DEBUG, "operator_schema"):
        Executor([wipe]).run_sync(RawCall("1", "wipe", {"path": "secret"}))
    assert "a person has to agree" in caplog.text
    assert "secret" not in caplog.text
