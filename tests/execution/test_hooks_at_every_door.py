"""Hooks of an executor: what they decide holds at every door alike."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
from functools import partial

import pytest
from doors import ALONE, by_list, by_run, by_run_sync

from operator_schema import (
    CallError,
    Complete,
    Defer,
    Executor,
    RawCall,
    Registry,
    Reject,
    RunAgain,
    RunNormally,
    Toolset,
    hook,
    tool,
)
from operator_schema.adapters.base import Adapter
from operator_schema.content import Image
from operator_schema.errors import ToolNotFoundError
from operator_schema.rounds import HookError, Hooks

pytestmark = pytest.mark.needs_threads

ran: list[int] = []


@tool
def pay(amount: int) -> str:
    """Pay money."""
    ran.append(amount)
    return f"paid {amount}"


@tool(name="pay")
async def pay_slowly(amount: int) -> str:
    """Pay money."""
    ran.append(amount)
    return f"paid {amount}"


@tool(name="pay", confirm=True)
def pay_if_agreed(amount: int) -> str:
    """Pay money."""
    ran.append(amount)
    return f"paid {amount}"


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


# --- the doors -----------------------------------------------------------------------------------


def by_round(executor, call, **options):
    """Return the result in a round; a call that waits has none, and a hook that failed is raised."""
    tools = Toolset(executor.registry)
    done = executor.run_sync(tools.offer().round([call]), **options).calls[0]
    return done.result


def by_framework(executor, call, *, is_async=False, **options):
    def made(tool, runner):
        if is_async:
            return lambda: asyncio.run(runner.run(call.name, call.arguments, call_id=call.id))
        return lambda: runner.run_sync(call.name, call.arguments, call_id=call.id)

    tools = Adapter("a framework", made).to_tools(executor, **options)
    return dict(zip([tool.name for tool in executor.registry], tools, strict=True))[call.name]()


def by_async_framework(executor, call, **options):
    return by_framework(executor, call, is_async=True, **options)


def by_mcp(executor, call, **options):
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    from operator_schema.adapters.mcp import server

    async def ask():
        async with mcp.Client(server(executor, **options)) as client:
            return await client.call_tool(call.name, call.arguments)

    answer = asyncio.run(ask())

    class Result:
        content = answer.content[0].text
        is_error = answer.is_error

    return Result()


FRAMEWORKS = [by_framework, by_async_framework, by_mcp]

every_door = pytest.mark.parametrize("door", [*ALONE, *FRAMEWORKS, by_round])
every_door_without_a_round = pytest.mark.parametrize("door", [*ALONE, *FRAMEWORKS])
every_tool = pytest.mark.parametrize("tested", [pay, pay_slowly], ids=["plain", "async"])

CALL = RawCall("1", "pay", {"amount": 5})


# --- every decision ------------------------------------------------------------------------------


def edit(call):
    return RunNormally(call.tool.decode({"amount": 7}))


def edit_in_place(call):
    call.input.amount = 7


DECISIONS = {
    "nothing": (lambda call: None, "paid 5", [5]),
    "run": (lambda call: RunNormally(), "paid 5", [5]),
    "edit": (edit, "The program changed amount to 7 before it ran.\npaid 7", [7]),
    "complete": (lambda call: Complete("done by hand"), "done by hand", []),
    "reject": (lambda call: Reject("too much"), "This call was rejected: too much", []),
    "reject without a reason": (lambda call: Reject(), "This call was rejected.", []),
}


@every_door
@every_tool
@pytest.mark.parametrize("is_async", [False, True], ids=["plain hook", "async hook"])
@pytest.mark.parametrize("decision", DECISIONS)
def test_what_a_hook_decides_holds(door, tested, decision, is_async):
    decide, content, paid = DECISIONS[decision]

    async def decide_later(call):
        await asyncio.sleep(0)
        return decide(call)

    executor = Executor([tested], hooks=decide_later if is_async else decide)
    result = door(executor, CALL)
    assert result.content == content
    assert result.is_error is content.startswith("This call")
    assert ran == paid


@every_door
def test_the_first_hook_that_completes_or_rejects_decides(door):
    seen = []

    def note(call):
        seen.append(call.input.amount)

    executor = Executor([pay], hooks=[edit, note, Hooks(lambda call: Reject("no")), note])
    assert door(executor, CALL).content == "This call was rejected: no"
    assert seen == [7]


@every_door
def test_a_hook_is_for_its_tools(door):
    @hook("other")
    def refuse(call):
        return Reject()

    other = pay.with_(name="other")
    executor = Executor([pay, other], hooks=refuse)
    assert door(executor, RawCall("1", "other", {"amount": 5})).content == "This call was rejected."
    assert door(executor, CALL).content == "paid 5"
    assert ran == [5]


# --- what waits for a person ---------------------------------------------------------------------


@every_door_without_a_round
@every_tool
def test_what_a_hook_defers_is_not_run_if_nobody_can_be_asked(door, tested):
    result = door(Executor([tested], hooks=lambda call: Defer("the board decides")), CALL)
    assert "pay was not run: a person has to agree to it first" in result.content
    assert "the board" not in result.content
    assert ran == []


def test_your_program_reads_why_it_waits():
    result = Executor([pay], hooks=lambda call: Defer("the board decides")).run_sync(CALL)
    assert (result.code, result.details) == ("needs_approval", {"reason": "the board decides"})
    confirmed = Executor([pay_if_agreed], hooks=lambda call: None).run_sync(CALL)
    assert (confirmed.code, confirmed.details) == ("needs_approval", {})


@pytest.mark.parametrize("door", [*ALONE, by_framework, by_async_framework, by_round])
@pytest.mark.parametrize(
    ("answer", "content", "paid"),
    [
        (True, "paid 5", [5]),
        (False, "This call was rejected: a person declined it", []),
        ("not now", "This call was rejected: not now", []),
        (Complete("done by hand"), "done by hand", []),
    ],
)
@pytest.mark.parametrize("tested", [pay, pay_if_agreed], ids=["deferred by a hook", "confirm=True"])
def test_who_can_be_asked_decides_about_what_waits(door, tested, answer, content, paid):
    asked = []

    def ask(call):
        asked.append((call.input.amount, call.state, call.reason))
        return answer

    waits = lambda call: Defer("it is much") if tested is pay else None  # noqa: E731  # one line
    result = door(Executor([tested], hooks=waits, confirm=ask), CALL)
    assert (result.content, ran) == (content, paid)
    reason = "it is much" if tested is pay else "the tool needs a person's approval (confirm=True)"
    assert asked == [(5, "deferred", reason)]


@every_door_without_a_round
def test_nobody_is_asked_about_what_a_hook_decides(door):
    def ask(call):
        raise AssertionError(call)

    executor = Executor([pay_if_agreed], hooks=lambda call: Reject("too much"), confirm=ask)
    assert door(executor, CALL).content == "This call was rejected: too much"


@pytest.mark.parametrize("door", [*ALONE, by_framework, by_async_framework, by_round])
def test_a_hook_can_agree_in_place_of_a_person(door):
    executor = Executor([pay_if_agreed], hooks=lambda call: RunNormally(approved=True))
    assert door(executor, CALL).content == "paid 5"


@every_door_without_a_round
def test_running_unasked_says_nothing_about_what_a_hook_defers(door):
    if door is by_mcp:
        door = lambda executor, call: by_mcp(executor, call, confirm=False)  # noqa: E731  # one line
    plain = Executor([pay_if_agreed], confirm="run", hooks=lambda call: None)
    assert door(plain, CALL).content == "paid 5"
    held = Executor([pay_if_agreed], confirm="run", hooks=lambda call: Defer())
    assert "was not run" in door(held, CALL).content
    assert ran == [5]


@pytest.mark.parametrize("door", [*ALONE, by_framework, by_async_framework, by_round])
def test_hooks_see_again_what_a_person_changed(door):
    def limit(call):
        return Reject("too much") if call.input.amount > 10 else Defer()

    change = lambda call: RunNormally(call.tool.decode({"amount": 1000}))  # noqa: E731  # one line
    result = door(Executor([pay], hooks=limit, confirm=change), CALL)
    assert result.content == "This call was rejected: too much"
    less = lambda call: RunNormally(call.tool.decode({"amount": 2}))  # noqa: E731  # one line
    told = "A person changed amount to 2 before it ran.\npaid 2"
    assert door(Executor([pay], hooks=limit, confirm=less), CALL).content == told


# --- what goes wrong -----------------------------------------------------------------------------


def break_down(call):
    message = "the secret of the hook"
    raise ZeroDivisionError(message)


async def wait_in_vain(call):
    """Wait for something that somebody else cancels."""
    waiting = asyncio.get_running_loop().create_future()
    waiting.cancel()
    await waiting


@every_door_without_a_round
@pytest.mark.parametrize(
    "broken",
    [
        *(break_down, edit_in_place, lambda call: 5, lambda call: Reject),
        *(lambda call: RunNormally({"amount": 1}), wait_in_vain),
    ],
    ids=["raises", "edits in place", "returns a number", "returns a class", "returns a dict", "is cancelled"],
)
def test_a_hook_that_fails_runs_nothing(door, broken, caplog):
    result = door(Executor([pay], hooks=broken), CALL)
    assert result.is_error
    text = "pay was not run: the program failed to check it. Calling it again will not help"
    assert result.content == text
    assert ran == []
    assert "it was not run: the hook" in caplog.text


def test_a_hook_that_fails_is_told_to_the_program():
    result = Executor([pay], hooks=break_down).run_sync(CALL)
    assert result.code == "execution_failed"
    assert isinstance(result.details["exception"], ZeroDivisionError)


@every_door
def test_what_a_hook_does_to_the_input_changes_nothing_else(door):
    kept = []

    def keep(call):
        kept.append(call.input)

    assert door(Executor([pay], hooks=keep), CALL).content == "paid 5"
    kept[0].amount = 7
    assert ran == [5]


@every_door_without_a_round
def test_hooks_are_not_asked_about_arguments_that_do_not_fit(door):
    executor = Executor([pay], hooks=break_down)
    result = door(executor, RawCall("1", "pay", {"amount": "much"}))
    assert "amount" in result.content
    assert "failed to check" not in result.content


@pytest.mark.parametrize("door", [by_run, by_run_sync, by_list])
def test_what_your_program_handles_itself_is_raised(door):
    executor = Executor([pay], hooks=break_down, pass_through=[ZeroDivisionError])
    with pytest.raises(ZeroDivisionError):
        door(executor, CALL)


def test_a_hook_for_a_tool_that_is_not_there_is_refused():
    hooks = hook("pays")(lambda call: None)
    for tools in ([pay], pay, Toolset(pay)):
        with pytest.raises(ToolNotFoundError, match='did you mean "pay"') as caught:
            Executor(tools, hooks=hooks)
        assert "the hook" in caught.value.__notes__[0]
    with pytest.raises(ToolNotFoundError, match='did you mean "pay"'):
        Executor([pay]).run_sync(CALL, hooks=hooks)


def test_a_registry_may_get_the_tool_of_a_hook_later():
    registry = Registry(pay)
    executor = Executor(registry, hooks=hook("other")(lambda call: Reject("no")))
    with pytest.raises(ToolNotFoundError, match='"other"'):
        executor.run_sync(CALL)
    registry.register(pay.with_(name="other"))
    assert executor.run_sync(CALL).content == "paid 5"


def test_an_executor_with_fewer_tools_keeps_the_hooks_of_the_others():
    executor = Executor([pay, pay.with_(name="other")], hooks=hook("other")(lambda call: Reject("no")))
    fewer = executor.with_tools([pay])
    assert [one.name for one in fewer.registry] == ["pay"]
    with pytest.raises(ToolNotFoundError, match='"other"'):
        fewer.run_sync(CALL)


def test_in_a_round_a_hook_that_fails_is_raised():
    with pytest.raises(HookError, match="the hook break_down failed"):
        by_round(Executor([pay], hooks=break_down), CALL)


# --- after the call ------------------------------------------------------------------------------


@every_door
@every_tool
def test_a_hook_may_replace_the_result(door, tested):
    @hook.after("pay")
    def shout(call):
        return call.result.replace(content=call.content.upper())

    @hook.after("pay")
    async def complete(call):
        return call.complete(f"{call.content}!")

    assert door(Executor([tested], hooks=[shout, complete]), CALL).content == "PAID 5!"
    assert ran == [5]


@every_door
def test_a_hook_may_run_the_call_again(door):
    @tool(name="pay")
    def shaky(amount: int) -> str:
        """Pay money."""
        ran.append(amount)
        if len(ran) < 3:
            raise CallError("not yet")
        return f"paid {amount}"

    @hook.after("pay")
    def again(call):
        return RunAgain(most=5) if call.result.is_error else None

    assert door(Executor([shaky], hooks=again), CALL).content == "paid 5"
    assert ran == [5, 5, 5]


@every_door
@pytest.mark.parametrize("broken", [break_down, wait_in_vain])
def test_what_a_broken_hook_had_to_hide_stays_hidden(door, broken):
    result = door(Executor([pay], hooks=hook.after("pay")(partial(broken))), CALL)
    assert result.content == "the call ran, but its result can't be shown: the program failed to check it"


@pytest.mark.parametrize("kind", ["before", "after", "confirm"])
@pytest.mark.parametrize("in_a_round", [False, True], ids=["alone", "in a round"])
def test_what_a_hook_waited_for_in_vain_takes_no_result_of_another_call(kind, in_a_round):
    """`asyncio.CancelledError` of a hook isn't that of the task in which the calls run."""
    waits = {"before": hook("pay"), "after": hook.after("pay")}
    if kind == "confirm":
        given = {"hooks": hook("pay")(lambda call: Defer()), "confirm": wait_in_vain}
    else:
        given = {"hooks": waits[kind](partial(wait_in_vain))}
    calls = [RawCall("0", "other", {"amount": 1}), CALL]
    executor = Executor([pay.with_(name="other"), pay], **given)
    if not in_a_round:
        first, second = executor.run_sync(calls)
        assert (first.content, second.is_error) == ("paid 1", True)
        return
    work = Toolset(executor.registry).offer().round(calls)
    if kind == "after":
        assert [call.result.is_error for call in executor.run_sync(work).calls] == [False, True]
        return
    with pytest.raises(HookError, match="what it waited for was cancelled") as raised:
        executor.run_sync(work)
    assert raised.value.round.calls[0].state == "pending"
    assert ran == []


def test_cancelling_calls_whose_hook_waits_cancels_them():
    async def main(*, has_begun):
        begun = asyncio.Event()

        async def wait(call):
            begun.set()
            await asyncio.sleep(60)

        task = asyncio.ensure_future(Executor([pay], hooks=wait).run([CALL]))
        if has_begun:
            await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main(has_begun=True))
    asyncio.run(main(has_begun=False))
    assert ran == []


def test_a_hook_under_trio_may_wait_in_vain_for_asyncio():
    trio = pytest.importorskip("trio", reason="trio is not installed")

    async def mixed(call):
        raise asyncio.CancelledError

    assert trio.run(Executor([pay], hooks=mixed).run, CALL).code == "execution_failed"
    assert ran == []


@every_door
def test_what_hooks_give_is_cut_as_any_result(door):
    after = hook.after("pay")(lambda call: call.complete("x" * 5000))
    for hooks in (lambda call: Complete("x" * 5000), lambda call: Reject("x" * 5000), after):
        assert len(door(Executor([pay], hooks=hooks, max_content=1000), CALL).content) <= 1000


HALF = "a\ud83d"  # of an emoji: no encoding can write it


@every_door
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"report": lambda error: f"{error and HALF}"}, "a\\ud83d"),
        ({"hooks": hook.after("pay")(lambda call: call.fail(HALF))}, "a\ufffd"),
        ({"hooks": hook.after("pay")(lambda call: call.result.replace(content=HALF))}, "a\ufffd"),
        ({"hooks": lambda call: Reject(HALF)}, "This call was rejected: a\ufffd"),
    ],
    ids=["report", "fail", "replace", "reject"],
)
def test_what_the_program_says_to_the_model_can_be_encoded(door, options, text):
    call = RawCall("1", "pay", {"amount": "many"}) if "report" in options else CALL
    assert door(Executor([pay], **options), call).content == text


def test_a_result_whose_text_is_replaced_keeps_its_parts():
    picture = Image(b"\x89PNG\r\n\x1a\n", "image/png")
    given = hook.after("pay")(lambda call: call.result.replace(content=HALF, parts=(picture,), json=[1]))
    result = Executor([pay], hooks=given).run_sync(CALL)
    assert (result.content, result.parts, result.json) == ("a\ufffd", (picture,), [1])


def test_a_result_alone_has_no_place_in_a_turn():
    after = hook.after("pay")(lambda call: call.complete("looked at"))
    for hooks in (lambda call: Complete("by hand"), after):
        assert Executor([pay], hooks=hooks).run_sync(CALL)._index is None


# --- hooks of the tools themselves ---------------------------------------------------------------


def no_more_than_ten(call):
    return Reject("10 at most") if call.input.amount > 10 else None


GUARDED = Toolset(
    pay, hooks=[no_more_than_ten, hook.after(pay)(lambda call: call.complete(f"{call.content}!"))]
)

HELD_BY = {
    "toolset": lambda tools: tools,
    "registry": Registry,
    "toolset of a toolset": lambda tools: Toolset(tools, pay.with_(name="free")),
    "toolset of a registry": lambda tools: Toolset(Registry(tools)),
    "selection": lambda tools: Toolset(tools, pay.with_(name="free")).only("pay"),
    "options": lambda tools: tools.with_(repair=True),
    "switch": lambda tools: tools.switch(pay, enabled=True),
    "both": lambda tools: tools | Toolset(pay.with_(name="free")),
    "copied registry": lambda tools: copy.deepcopy(Registry(tools)),
}


@every_door
@pytest.mark.parametrize("held", HELD_BY)
def test_hooks_of_a_toolset_hold_wherever_its_tools_are(door, held):
    executor = Executor(HELD_BY[held](GUARDED))
    assert door(executor, RawCall("1", "pay", {"amount": 11})).content == "This call was rejected: 10 at most"
    assert door(executor, CALL).content == "paid 5!"
    if "free" in executor.registry:
        assert door(executor, RawCall("1", "free", {"amount": 11})).content == "paid 11"


@every_door
def test_they_hold_under_other_names_and_after_every_change(door):
    registry = Registry(GUARDED.prefix("x_"))
    executor = Executor(registry)
    assert (
        door(executor, RawCall("1", "x_pay", {"amount": 11})).content == "This call was rejected: 10 at most"
    )
    registry.update(lambda tools: tools.prefix("y_"))
    registry.update(lambda tools: Toolset(tools.with_(repair=True), hooks=lambda call: Reject("closed")))
    assert door(executor, RawCall("1", "y_x_pay", {"amount": 11})).content == "This call was rejected: closed"
    registry.update(lambda tools: tools.with_(repair=False))
    assert door(executor, RawCall("1", "y_x_pay", {"amount": 1})).content == "This call was rejected: closed"
    assert ran == []


def test_the_outer_hooks_are_asked_first():
    asked = []

    def note(name):
        return lambda call: asked.append(name)

    inner = Toolset(pay, hooks=note("inner"))
    outer = Toolset(inner, hooks=[note("outer")])
    executor = Executor(outer, hooks=note("executor"))
    executor.run_sync(CALL, hooks=note("run"))
    assert asked == ["executor", "run", "outer", "inner"]
    asked.clear()
    executor.run_sync(outer.offer().round([CALL]), hooks=note("run"))
    assert asked == ["executor", "run", "outer", "inner"]
    asked.clear()
    asyncio.run(outer.offer().round([CALL]).apply(note("given")))
    assert asked == ["given", "outer", "inner"]


def test_hooks_of_what_an_executor_has_and_of_what_was_offered_hold_once():
    asked = []
    own = Toolset(pay, hooks=lambda call: asked.append("own"))
    for offered in (own, Toolset(own), Toolset(pay)):
        Executor(own).run_sync(offered.offer().round([CALL]))
        assert asked == ["own"]
        asked.clear()
    Executor([pay]).run_sync(own.offer().round([CALL]))  # of what was offered alone
    assert asked == ["own"]


def test_a_toolset_with_hooks_is_another_value():
    assert Toolset(pay, hooks=no_more_than_ten) == Toolset(pay, hooks=[no_more_than_ten])
    assert Toolset(pay, hooks=no_more_than_ten) != Toolset(pay)
    assert Toolset(pay).hooks is None
    again = pickle.loads(pickle.dumps(Toolset(pay, hooks=no_more_than_ten)))
    assert again == Toolset(pay, hooks=no_more_than_ten)
    assert Executor(again).run_sync(RawCall("1", "pay", {"amount": 11})).code == "rejected"
    with pytest.raises(ToolNotFoundError, match='did you mean "pay"'):
        Toolset(pay, hooks=hook("pays")(lambda call: None))
    with pytest.raises(TypeError, match="a hook must be a function"):
        Toolset(pay, hooks=5)


def test_hooks_may_be_for_the_tools_that_a_registry_has_now():
    registry = Registry(pay)
    held = Hooks(no_more_than_ten, toolset=registry)
    executor = Executor(Toolset(registry, pay.with_(name="free")), hooks=held)
    assert executor.run_sync(RawCall("1", "pay", {"amount": 11})).code == "rejected"
    assert executor.run_sync(RawCall("1", "free", {"amount": 11})).content == "paid 11"


# --- with a run ----------------------------------------------------------------------------------


@pytest.mark.parametrize("door", [*ALONE, by_round])
def test_hooks_of_a_run_come_after_those_of_the_executor(door):
    first = lambda call: RunNormally(call.tool.decode({"amount": call.input.amount * 2}))  # noqa: E731
    second = lambda call: RunNormally(call.tool.decode({"amount": call.input.amount + 1}))  # noqa: E731
    assert door(Executor([pay], hooks=first), CALL, hooks=second).content.endswith("paid 11")
    assert door(Executor([pay]), CALL, hooks=second).content.endswith("paid 6")


def test_tools_of_a_registry_that_changes_have_the_hooks_too():
    registry = Registry([pay])
    executor = Executor(registry, hooks=lambda call: Reject("no"))
    assert executor.run_sync(CALL).code == "rejected"
    registry.register(pay.with_(name="later"))
    assert executor.run_sync(RawCall("1", "later", {"amount": 1})).code == "rejected"


def test_whether_a_person_is_needed_is_known_before():
    def decide(call):
        return Reject() if call.input.amount > 100 else None

    executor = Executor([pay_if_agreed, pay.with_(name="other")], hooks=decide)

    def needs(name, amount):
        return asyncio.run(executor.needs_approval(RawCall("1", name, {"amount": amount})))

    assert needs("pay", 5)
    assert not needs("pay", 1000)  # a hook refuses it
    assert not needs("pay", "x")  # it doesn't fit
    assert not needs("pey", 5)
    assert not needs("other", 5)
    for hooks, expected in ((lambda call: Defer(), True), (break_down, False), (None, False)):
        assert asyncio.run(Executor([pay], hooks=hooks).needs_approval(CALL)) is expected
    assert ran == []


def test_the_log_says_who_decided(caplog):
    caplog.set_level(logging.INFO, "operator_schema")
    Executor([pay], hooks=Hooks(lambda call: Reject("no"))).run_sync(CALL)
    assert "decided Reject: no" in caplog.text
