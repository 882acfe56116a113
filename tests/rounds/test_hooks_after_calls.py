"""Hooks after a call: they see what came of it, may replace it, or ask to run it again."""

from __future__ import annotations

import asyncio
import logging

import pytest
from round_samples import fetch, raw, search, toolset

from operator_schema import (
    Complete,
    Executor,
    Registry,
    RoundError,
    RunAgain,
    ToolResult,
    Toolset,
    hook,
    tool,
)
from operator_schema.rounds import Hooks

pytestmark = pytest.mark.needs_threads

FETCH = raw("fetch", "f", url="u")
RUNS: list[int] = []


@tool
def shaky(fails: int) -> str:
    """Fail at first."""
    RUNS.append(fails)
    if len(RUNS) <= fails:
        message = "not yet"
        raise ConnectionError(message)
    return "at last"


TOOLS = Toolset(toolset, shaky)


def run(hooks, *calls, **options):
    RUNS.clear()
    return Executor(TOOLS, hooks=hooks, threads=False, **options).run_sync(TOOLS.offer().round(calls))


def test_a_hook_sees_the_call_with_its_result():
    seen = []

    @hook.after(fetch)
    def look(call):
        seen.append((call.state, call.input.url, call.content, call.error, call.by))

    done = run(look, FETCH, raw("search", "s", query="q", limit=1))
    assert seen == [("handled", "u", "page u", None, "executor")]
    assert [call.content for call in done.handled] == ["page u", '["q"]']
    assert [call.by for call in done.handled] == ["executor", "executor"]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_hook_may_replace_the_result_and_the_next_one_sees_that(is_async):
    @hook.after("fetch")
    def first(call):
        return call.result.replace(content=call.content.upper())

    @hook.after(fetch)
    async def first_later(call):
        await asyncio.sleep(0)
        return first(call)

    @hook.after(fetch)
    def second(call):
        return call.complete(f"{call.content}!")

    done = run([first_later if is_async else first, second], FETCH)
    assert (done.handled[0].content, done.handled[0].by) == ("PAGE U!", "hook")
    assert done.commit([]).results[0].content == "PAGE U!"


def test_a_hook_may_turn_a_failure_into_an_output():
    @hook.after(shaky)
    def instead(call):
        return call.complete("a default") if isinstance(call.error, ConnectionError) else None

    (call,) = run(instead, raw("shaky", fails=1)).handled
    assert (call.content, call.code, call.error) == ("a default", None, None)


@pytest.mark.parametrize(
    ("fails", "most", "runs", "code"),
    [(1, 2, 2, None), (2, 2, 2, "execution_failed"), (3, 5, 4, None), (1, 1, 1, "execution_failed")],
)
def test_a_hook_may_run_the_call_again_so_often(fails, most, runs, code):
    @hook.after(shaky)
    def again(call):
        return RunAgain(most=most) if call.error else None

    (call,) = run(again, raw("shaky", fails=fails)).handled
    assert len(RUNS) == runs
    assert call.code == code


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "2", None])
def test_the_number_of_runs_is_checked(most):
    with pytest.raises(ValueError, match="most, the number of all runs, must be at least 1"):
        RunAgain(most)


class Broken(Exception):  # noqa: N818  # a name of the program's own
    pass


@pytest.mark.parametrize(
    "returned",
    [5, "text", Complete("x"), ToolResult("other", "fetch", "x"), ToolResult("f", "pay", "x"), Broken()],
)
def test_what_a_broken_hook_had_to_hide_stays_hidden(returned, caplog):
    @hook.after(fetch)
    def hide(call):
        if isinstance(returned, Exception):
            raise returned
        return returned

    (call,) = run(hide, FETCH).handled
    assert call.content == "the call ran, but its result can't be shown: the program failed to check it"
    assert (call.code, call.by) == ("execution_failed", "executor")
    assert isinstance(call.error, (TypeError, ValueError, Broken))
    assert "hide decided nothing: it failed with" in caplog.text


def test_what_a_hook_does_to_the_input_changes_nothing():
    @hook.after(fetch)
    def edit(call):
        call.input.url = "changed"

    assert run(edit, FETCH).handled[0].input.url == "u"


def test_questions_and_waiting_calls_have_no_result_to_look_at():
    seen = []
    note = hook.after(TOOLS)(lambda call: seen.append(call.id))
    waiting = run(note, raw("ask", "a", topic="t"), raw("pay", "p", amount=1), raw("nothing", "n"))
    assert (seen, len(waiting.deferred), len(waiting.issues)) == ([], 2, 1)
    executor = Executor(TOOLS, hooks=note, threads=False)
    executor.run_sync(waiting.answer("a", True))  # an answer of a person
    assert seen == ["a"]


def test_results_of_hooks_before_the_call_are_not_shown():
    seen = []
    note = hook.after(fetch)(lambda call: seen.append(call.id))
    done = run(Hooks(lambda _: Complete("by a hook"), note), FETCH)
    assert (done.handled[0].content, seen) == ("by a hook", [])


def test_what_a_hook_gives_is_cut_as_any_result():
    long = hook.after(fetch)(lambda call: call.complete("x" * 5000))
    (call,) = run(long, FETCH, max_content=1000).handled
    assert len(call.content) <= 1000


def test_a_result_that_was_replaced_is_saved():
    @hook.after(fetch)
    def shorter(call):
        return call.result.replace(content="short")

    done = run(shorter, FETCH)
    assert TOOLS.restore_round(done.as_dict()).handled[0].content == "short"
    assert done.current().handled[0].content == "short"


def test_the_log_says_what_was_decided(caplog):
    caplog.set_level(logging.INFO, "operator_schema")

    @hook.after(shaky)
    def again(call):
        return RunAgain() if call.error else call.complete("done")

    run(again, raw("shaky", "s", fails=1))
    assert (
        "shaky (call s): test_the_log_says_what_was_decided.<locals>.again decided RunAgain: run 2 of 2"
        in caplog.text
    )
    assert "decided another result" in caplog.text


def test_hooks_of_a_nested_toolset_look_at_its_tools_alone():
    seen = []
    inner = Toolset(search, fetch)
    note = hook.after("fetch")(lambda call: seen.append(call.name))
    outer = Toolset(inner.prefix("web_"), fetch)
    executor = Executor(outer, hooks=Hooks(note, toolset=inner), threads=False)
    executor.run_sync(outer.offer().round([raw("web_fetch", "1", url="u"), raw("fetch", "2", url="u")]))
    assert seen == ["web_fetch"]


def test_a_registry_has_the_hooks_of_its_toolset():
    note = hook.after("fetch")(lambda call: None)
    inner = Toolset(search, fetch, hooks=note)
    assert Registry(inner).hooks == inner.hooks == Toolset(inner).hooks
    assert Registry(search).hooks is None


# --- revising results ----------------------------------------------------------------------------


def test_a_result_can_be_replaced_before_the_commit():
    done = Executor(toolset, threads=False).run_sync(toolset.offer().round([FETCH, raw("x", "x")]))
    (call,) = done.handled
    revised = done.revise("f", call.result.replace(content="page"))
    assert (revised.handled[0].content, revised.handled[0].by) == ("page", "host")
    assert done.revise(call, call.fail("gone")).handled[0].code == "execution_failed"
    assert revised.commit([]).results[0].content == "page"
    assert toolset.restore_round(revised.as_dict()) == revised


def test_what_can_not_be_revised_says_why():
    waiting = Executor(toolset, threads=False).run_sync(
        toolset.offer().round([FETCH, raw("pay", "p", amount=1), raw("x", "x")])
    )
    (call,) = waiting.handled
    with pytest.raises(RoundError, match=r"pay \(call \"p\"\) is pending|these have their result: fetch"):
        waiting.revise("p", ToolResult("p", "pay", "x"))
    with pytest.raises(RoundError, match="these have their result: fetch"):
        waiting.revise("x", ToolResult("x", "x", "x"))
    with pytest.raises(TypeError, match="revise takes a ToolResult"):
        waiting.revise("f", "text")
    with pytest.raises(ValueError, match="this is the result of pay"):
        waiting.revise("f", ToolResult("p", "pay", "x"))
    waiting.discard()
    with pytest.raises(RoundError, match="this round was discarded already"):
        waiting.revise("f", call.result)


def test_the_decorator_shows_what_it_is():
    assert repr(hook) == "operator_schema.hook"
    assert "@hook(search" in (hook.__doc__ or "")
