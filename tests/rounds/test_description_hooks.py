"""Hooks that describe tools for one request."""

from __future__ import annotations

import pytest
from round_samples import done, fetch, ids, pay, raw, search, toolset

from operator_schema import Executor, Toolset, hook
from operator_schema.rounds import Hooks

INNER = Toolset(search, fetch)


def of_all(call):
    raise AssertionError(call)


@hook.describe(search, "fetch")
def shorter(definition):
    return f"{definition['name']}!"


@hook.describe("search")
async def last(definition):
    return definition["description"].upper()


@hook.describe(fetch)
def leave(definition):
    return None


def test_description_hooks_describe_their_tools_and_the_last_wins():
    assert done(Hooks(shorter).descriptions(toolset)) == {"search": "search!", "fetch": "fetch!"}
    found = done(Hooks(shorter, last, leave, of_all).descriptions(toolset))
    assert found == {"search": toolset.definitions()[0]["description"].upper(), "fetch": "fetch!"}
    assert done(Hooks(last, shorter).descriptions(toolset))["search"] == "search!"
    assert done(Hooks(leave, of_all).descriptions(toolset)) == {}


def test_they_decide_about_no_call():
    assert ids(
        done(toolset.offer().round([raw("search", "s", query="q")]).apply(Hooks(shorter, last))).pending
    ) == ["s"]


def test_they_describe_inner_tools_under_their_names_outside():
    outer = Toolset(pay, INNER.prefix("a_"))
    found = done(Hooks(shorter, toolset=INNER).descriptions(outer))
    assert found == {"a_search": "a_search!", "a_fetch": "a_fetch!"}
    offer = outer.offer(descriptions={**found, "pay": "Never."})
    assert [each["description"] for each in offer.definitions()] == ["Never.", "a_search!", "a_fetch!"]


def test_a_description_is_a_string():
    wrong = hook.describe(search)(lambda definition: 5)
    with pytest.raises(TypeError, match=r"what the hook .*lambda.* returns must be a string"):
        done(Hooks(wrong).descriptions(toolset))

    @hook.describe(search)
    def fails(definition):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        done(Hooks(fails).descriptions(toolset))


def test_a_description_hook_may_change_what_it_gets():
    @hook.describe(search)
    def spoil(definition):
        definition["input_schema"].clear()
        definition.clear()
        return "spoilt"

    assert done(Hooks(spoil, spoil).descriptions(toolset)) == {"search": "spoilt"}
    assert toolset.definitions()[0]["input_schema"]


def test_a_description_hook_takes_one_argument_too():
    @hook.describe(search)
    def none():
        """Take nothing."""

    with pytest.raises(TypeError, match="has to take one argument, a ToolDefinition"):
        Hooks(none)


def test_hooks_about_calls_hide_none_of_those_that_describe():
    assert done(Hooks(of_all, shorter).descriptions(toolset)) == done(Hooks(shorter).descriptions(toolset))


def test_hooks_of_other_hooks_get_the_toolset_that_they_lack():
    outer = Toolset(pay, INNER.prefix("a_"))
    within = Hooks(Hooks(shorter), toolset=INNER)
    assert set(done(within.descriptions(outer))) == {"a_search", "a_fetch"}
    assert {each.toolset for each in within.hooks} == {INNER}
    assert {each.toolset for each in Hooks(within, toolset=outer).hooks} == {INNER}


class Both:
    @hook.describe(search)
    def describe(self, definition):
        return None

    @hook(search)
    def decide(self, call):
        return None


@pytest.mark.needs_threads
def test_a_hook_that_only_describes_is_refused_where_calls_are_decided():
    @hook.describe(search)
    def tell(definition):
        return "told"

    work = toolset.offer().round([])
    ways = [
        lambda hooks: Executor(toolset, hooks=hooks),
        lambda hooks: Executor(toolset).run_sync([], hooks=hooks),
        lambda hooks: done(work.apply(hooks)),
    ]
    for way in ways:
        with pytest.raises(
            TypeError, match=r"tell describes tools, which has no effect on calls: write toolset"
        ):
            way(tell)
        way(Hooks(Both(), tell))
        way(Both())
    with pytest.raises(TypeError, match="tell describes tools"):
        Executor(toolset, hooks=[lambda _: None, tell])
