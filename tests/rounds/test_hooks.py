"""Hooks: what may be one, for which tools it decides, and in which order."""

from __future__ import annotations

import pickle
from functools import partial

import pytest
from patience import assert_takes
from round_samples import done, fetch, ids, names, pay, raw, search, toolset

from operator_schema import Complete, Defer, Executor, Reject, Toolset, hook
from operator_schema.errors import ToolNotFoundError
from operator_schema.rounds import Hooks


def applied(hooks, *calls, tools=toolset):
    return done(tools.offer().round(calls).apply(hooks))


def asked(hooks, *calls, tools=toolset):
    """Return what the hooks of `Recorder` saw."""
    SEEN.clear()
    applied(hooks, *calls, tools=tools)
    return [*SEEN]


SEEN: list[tuple[str, str]] = []

A_SEARCH = raw("search", "s", query="q")
A_FETCH = raw("fetch", "f", url="u")


@hook(search)
def of_search(call):
    SEEN.append(("of_search", call.id))


@hook(search, "fetch")
def of_both(call):
    SEEN.append(("of_both", call.id))


def of_all(call):
    SEEN.append(("of_all", call.id))


class Policy:
    """Methods that are marked, others, and properties that must not be touched."""

    def __init__(self, label="policy"):
        self.label = label

    @hook("fetch")
    def second(self, call):
        SEEN.append((f"{self.label}.second", call.id))

    @hook(search)
    def first(self, call):
        SEEN.append((f"{self.label}.first", call.id))

    @hook("search")
    @staticmethod
    def static(call):
        SEEN.append(("static", call.id))

    def unmarked(self, call):
        SEEN.append(("unmarked", call.id))

    @property
    def costly(self):
        raise ZeroDivisionError


class Child(Policy):
    @hook("search")
    def first(self, call):
        SEEN.append((f"{self.label}.child", call.id))

    @hook("search")
    def third(self, call):
        SEEN.append((f"{self.label}.third", call.id))


class Unmarks(Policy):
    def second(self, call):
        SEEN.append(("unmarked", call.id))


class Callable:
    def __call__(self, call):
        SEEN.append(("callable", call.id))


# --- sources -------------------------------------------------------------------------------------


def test_a_function_decides_for_its_tools_or_for_all():
    assert asked(Hooks(of_search), A_SEARCH, A_FETCH) == [("of_search", "s")]
    assert asked(Hooks(of_both), A_SEARCH, A_FETCH) == [("of_both", "s"), ("of_both", "f")]
    assert asked(Hooks(of_all), A_SEARCH, A_FETCH) == [("of_all", "s"), ("of_all", "f")]
    assert asked(Hooks(of_both), raw("pay", amount=1)) == []


def test_one_function_alone_will_do():
    assert asked(of_all, A_SEARCH) == [("of_all", "s")]
    assert asked(of_search, A_SEARCH, A_FETCH) == [("of_search", "s")]
    assert asked(Callable(), A_SEARCH) == [("callable", "s")]
    assert asked(Policy(), A_FETCH) == [("policy.second", "f")]


def test_calls_are_asked_about_one_after_the_other_by_all_hooks_in_their_order():
    hooks = Hooks(of_all, of_search, Callable(), of_both)
    assert asked(hooks, A_SEARCH, A_FETCH) == [
        ("of_all", "s"),
        ("of_search", "s"),
        ("callable", "s"),
        ("of_both", "s"),
        ("of_all", "f"),
        ("callable", "f"),
        ("of_both", "f"),
    ]


def test_an_object_gives_its_marked_methods_in_the_order_of_their_definition():
    assert asked(Hooks(Policy()), A_SEARCH, A_FETCH) == [
        ("policy.first", "s"),
        ("static", "s"),
        ("policy.second", "f"),
    ]
    assert len(Hooks(Policy())) == 3


def test_methods_of_bases_count_and_overriding_replaces_in_place():
    assert asked(Hooks(Child("c")), A_SEARCH) == [("c.child", "s"), ("static", "s"), ("c.third", "s")]
    assert asked(Hooks(Unmarks()), A_FETCH) == []


def test_a_bound_method_and_a_partial_are_functions():
    policy = Policy("p")
    assert asked(Hooks(policy.second), A_SEARCH, A_FETCH) == [("p.second", "f")]
    assert asked(Hooks(policy.unmarked), A_SEARCH) == [("unmarked", "s")]
    assert asked(Hooks(partial(lambda name, call: SEEN.append((name, call.id)), "partial")), A_SEARCH) == [
        ("partial", "s")
    ]


def test_marks_add_up():
    @hook("fetch")
    @hook("search")
    def marked(call):
        SEEN.append(("marked", call.id))

    assert asked(Hooks(marked), A_SEARCH, A_FETCH) == [("marked", "s"), ("marked", "f")]
    assert len(Hooks(marked)) == 2


def test_hooks_are_merged_in_their_order():
    one, other = Hooks(of_search), Hooks(of_all)
    assert asked(one | other, A_SEARCH) == [("of_search", "s"), ("of_all", "s")]
    assert asked(Hooks(other, one), A_SEARCH) == [("of_all", "s"), ("of_search", "s")]
    assert one | other == Hooks(one, other) == Hooks(of_search, of_all)
    assert (len(one | other), len(one), bool(Hooks()), bool(one)) == (2, 1, False, True)
    assert repr(one | other) == "Hooks(of_search, of_all)"
    for kind in (of_all, None, 5):
        with pytest.raises(TypeError):
            one | kind


def test_no_hooks_leave_the_calls_as_they_are():
    plan = applied(Hooks(), A_SEARCH, A_FETCH)
    assert ids(plan.pending) == ["s", "f"]
    assert plan == done(plan.apply())


def test_hooks_are_pickled_with_their_functions():
    hooks = Hooks(of_search, of_all, toolset=Toolset(search, fetch))
    assert pickle.loads(pickle.dumps(hooks)) == hooks


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (5, "a hook must be a function, or an object with methods marked by @hook, not integer 5"),
        ("search", "not string"),
        (Policy, r"give an instance: Policy\(\)"),
        (search, "a tool isn't a hook"),
        (object(), "a hook must be a function"),
        ({"search": print}, r"write @hook\(tool\) above a function that is for one tool alone$"),
        (lambda: None, "has to take one argument, a ToolCall"),
        (lambda one, two: None, "has to take one argument, a ToolCall"),
        (lambda *, call: None, "has to take one argument"),
        (lambda most=5: None, "it seems to make hooks: write hooks="),
    ],
)
def test_something_else_is_not_a_hook(source, said):
    with pytest.raises(TypeError, match=said):
        Hooks(source)
    with pytest.raises(TypeError, match=said):
        done(toolset.offer().round([A_SEARCH]).apply(source))


def test_none_is_not_a_hook_among_others():
    with pytest.raises(TypeError, match="a hook must be a function"):
        Hooks(of_all, None)


DECORATORS = [("hook", hook), ("hook.describe", hook.describe), ("hook.after", hook.after)]


@pytest.mark.parametrize(("name", "decorator"), DECORATORS)
@pytest.mark.parametrize("marked", [print, Policy, 5, None, object()])
def test_what_can_not_hold_a_mark_is_refused(name, decorator, marked):
    with pytest.raises(TypeError, match=f"@{name} marks a function of your own, not"):
        decorator(search)(marked)


def test_a_class_method_can_be_marked_on_either_side():
    class Rules:
        @classmethod
        @hook("search")
        def inside(cls, call):
            SEEN.append(("inside", call.id))

        @hook("search")
        @classmethod
        def outside(cls, call):
            SEEN.append(("outside", call.id))

    assert asked(Hooks(Rules()), A_SEARCH) == [("inside", "s"), ("outside", "s")]
    assert asked(Hooks(Rules.inside), A_SEARCH) == [("inside", "s")]


def test_more_parameters_with_defaults_and_functions_in_c_will_do():
    assert len(Hooks(lambda call, more=1: None, lambda *calls: None, print, getattr)) == 4


@pytest.mark.parametrize(("name", "decorator"), DECORATORS)
def test_a_mark_needs_tools(name, decorator):
    with pytest.raises(TypeError, match=f"{name} needs the tools"):
        decorator()
    for wrong in (5, None, lambda call: None, {"search"}):
        with pytest.raises(TypeError, match="takes names, tools or toolsets"):
            decorator(wrong)


def _yields(call):
    yield Reject("no")


async def _yields_async(call):
    yield Reject("no")


class _Rules:
    @hook("search")
    def marked(self, call): ...

    def plain(self, call): ...


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (_yields, "the hook _yields is a generator: return the decision, rather than yield$"),
        (_yields_async, "the hook _yields_async is a generator: return the decision, rather than yield$"),
        (partial(_yields), "is a generator: return the decision"),
        (hook.after("search")(lambda call: (yield)), "is a generator: return the decision"),
        (_Rules.marked, "_Rules.marked is a method without its instance; give rules.marked, where rules is"),
        (_Rules.plain, "_Rules.plain is a method without its instance; give rules.plain, where rules is"),
        (
            hook.around()(lambda call: (yield)),
            "is a generator: write @contextmanager above it, rather than yield$",
        ),
    ],
)
def test_a_hook_that_can_not_decide_is_refused_before_any_call(source, said):
    with pytest.raises(TypeError, match=said):
        Hooks(source)
    with pytest.raises(TypeError, match=said):
        Executor(toolset, hooks=[source])


@pytest.mark.parametrize(("name", "decorator"), [*DECORATORS, ("hook.around", hook.around)])
def test_a_decorator_without_parentheses_says_what_to_write(name, decorator):
    def of_all(call): ...

    right = {
        "hook": "is the hook, it is asked about every call without @hook, and about one tool with its name",
        "hook.around": r"is the hook, write @hook\.around\(\) for every call",
    }.get(name, "is the hook, name its tools")
    with pytest.raises(TypeError, match=rf"of_all {right}.*; if it is a tool, decorate it with @tool$"):
        decorator(of_all)
    with pytest.raises(TypeError, match=r"not integer 5$"):
        decorator(5)


def test_a_hook_for_a_tool_that_is_not_there_has_the_nearest_name():
    @hook("serach")
    def lost(call):
        raise AssertionError

    here = test_a_hook_for_a_tool_that_is_not_there_has_the_nearest_name
    hooks = Hooks(lost)  # which toolset is meant, nobody knows yet
    with pytest.raises(ToolNotFoundError, match='did you mean "search"') as caught:
        applied(hooks, A_FETCH)
    assert [note.split(".")[0] for note in caught.value.__notes__] == [f"the hook {here.__name__}"]
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        Hooks(lost, toolset=toolset)
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        Hooks(hooks, toolset=toolset)

    @hook.describe("fetsh")
    def lost_too(definition):
        raise AssertionError

    with pytest.raises(ToolNotFoundError, match='did you mean "fetch"'):
        applied(Hooks(lost_too), A_FETCH)
    with pytest.raises(ToolNotFoundError, match='did you mean "fetch"'):
        done(Hooks(lost_too).descriptions(toolset))


# --- toolsets inside toolsets --------------------------------------------------------------------

INNER = Toolset(search, fetch)


def test_hooks_of_an_inner_toolset_apply_outside_under_the_names_there():
    hooks = Hooks(of_all, of_search, Policy("p"), toolset=INNER)
    for outer, prefix in [
        (Toolset(pay, INNER), ""),
        (Toolset(pay, INNER.prefix("a_")), "a_"),
        (Toolset(pay, Toolset(Toolset(INNER.prefix("b_")).prefix("a_"))), "a_b_"),
    ]:
        calls = [
            raw("pay", "p", amount=1),
            raw(f"{prefix}search", "s", query="q"),
            raw(f"{prefix}fetch", "f", url="u"),
        ]
        assert asked(hooks, *calls, tools=outer) == [
            ("of_all", "s"),
            ("of_search", "s"),
            ("p.first", "s"),
            ("static", "s"),
            ("of_all", "f"),
            ("p.second", "f"),
        ]


def test_the_same_tool_beside_it_is_not_theirs():
    outer = Toolset(search, INNER.prefix("a_"))
    calls = [raw("search", "outer", query="q"), raw("a_search", "inner", query="q")]
    assert asked(Hooks(of_all, toolset=INNER), *calls, tools=outer) == [("of_all", "inner")]


def test_hooks_without_a_toolset_mean_the_one_they_are_applied_to():
    outer = Toolset(pay, INNER.prefix("a_"))
    assert asked(Hooks(of_search), raw("a_search", "s", query="q"), tools=outer) == [("of_search", "s")]
    with pytest.raises(ToolNotFoundError):
        applied(Hooks(hook("search")(lambda call: None)), tools=outer)


def test_hooks_apply_where_some_of_their_tools_are():
    hooks = Hooks(of_both, toolset=INNER)
    assert asked(hooks, A_SEARCH, tools=INNER.only("search")) == [("of_both", "s")]
    assert asked(hooks, A_SEARCH, tools=Toolset(pay) | INNER) == [("of_both", "s")]
    assert asked(hooks, A_SEARCH, tools=Toolset(INNER.without("fetch"))) == [("of_both", "s")]


def test_hooks_of_a_toolset_that_is_not_inside_are_refused():
    hooks = Hooks(of_search, toolset=INNER)
    with pytest.raises(ValueError, match=r"of_search is for Toolset\(search, fetch\), which isn't part of"):
        applied(hooks, tools=Toolset(pay))
    with pytest.raises(ValueError, match="isn't part of"):
        done(hooks.descriptions(Toolset(search)))


def test_merged_hooks_keep_their_own_toolsets():
    outer = Toolset(INNER.prefix("a_"), pay)
    hooks = Hooks(of_search, toolset=INNER) | Hooks(of_all)
    calls = [raw("a_search", "s", query="q"), raw("pay", "p", amount=1)]
    assert asked(hooks, *calls, tools=outer) == [("of_search", "s"), ("of_all", "s"), ("of_all", "p")]
    again = Hooks(hooks, toolset=outer)
    assert asked(again, *calls, tools=Toolset(outer)) == [
        ("of_search", "s"),
        ("of_all", "s"),
        ("of_all", "p"),
    ]


def test_inner_decisions_are_those_of_the_call_outside():
    outer = Toolset(pay, INNER.prefix("a_"))

    @hook(search)
    def cached(call):
        return Complete([call.input.query]) if call.input.query == "known" else None

    @hook(fetch)
    def refused(call):
        return Reject("no pages")

    calls = [
        raw("a_search", "1", query="known"),
        raw("a_search", "2", query="x"),
        raw("a_fetch", "3", url="u"),
    ]
    plan = applied(Hooks(cached, refused, toolset=INNER), *calls, tools=outer)
    assert (ids(plan.handled), ids(plan.pending), ids(plan.rejected)) == (["1"], ["2"], ["3"])
    assert names(plan.handled) == ["a_search"]
    assert plan.handled[0].result.content == '["known"]'


def test_a_mark_leaves_the_function_as_it_was():
    assert of_search(A_SEARCH) is None
    assert of_search.__name__ == "of_search"


def test_hooks_of_a_toolset_that_is_nested_twice_apply_to_both():
    twice = Toolset(INNER.prefix("a_"), INNER.prefix("b_"))

    @hook(search)
    def never(call):
        return Reject(call.name)

    calls = [raw(name, name, query="q") for name in ("a_search", "b_search")]
    plan = applied(Hooks(never, toolset=INNER), *calls, tools=twice)
    assert names(plan.rejected) == ["a_search", "b_search"]


def test_hooks_of_a_large_toolset_that_is_nested_are_found_fast():
    names = [f"fetch_{number}" for number in range(400)]
    inner = Toolset(*[fetch.with_(name=name) for name in names])
    outer = Toolset(inner.prefix("a_"), pay)
    hooks = Hooks(*[hook(name)(lambda _: Reject()) for name in names], toolset=inner)

    def decide():
        plan = applied(hooks, raw("a_fetch_399", "f", url="u"), tools=outer)
        assert ids(plan.rejected) == ["f"]

    assert_takes(1, decide)


def test_what_isnt_a_toolset_is_refused():
    with pytest.raises(TypeError, match="toolset must be a Toolset, not integer 5"):
        Hooks(lambda call: None, toolset=5)


def test_only_hooks_for_every_call_are_kept_for_a_function_that_is_no_tool():
    hooks = Hooks(of_all, of_search, of_both, Hooks(of_all, toolset=toolset))
    assert hooks.for_every_call() == Hooks(of_all)
    assert Hooks(of_search).for_every_call() == Hooks()


def looks_on(call):
    if call.name == "other":
        return
    print(call)  # noqa: T201  # as a user writes it


def looks_on_by_annotation(call) -> None:
    return print(call)  # noqa: T201  # as above


def may_defer(call):
    return None if call.name == "other" else Defer("somebody has to look")


class Asked:
    def __call__(self, call):
        return None


@pytest.mark.parametrize(
    ("function", "may"),
    [(looks_on, False), (looks_on_by_annotation, False), (may_defer, True), (Asked(), True)],
)
def test_a_hook_that_always_returns_none_defers_no_call(function, may):
    assert Hooks(function).for_calls(Toolset(search)).may_defer("search") is may


def test_a_hook_defers_only_calls_of_its_tools():
    decides = hook(search)(lambda call: Reject(call.name))
    hooks = Hooks(decides).for_calls(Toolset(search, fetch))
    assert hooks.may_defer("search")
    assert not hooks.may_defer("fetch")
