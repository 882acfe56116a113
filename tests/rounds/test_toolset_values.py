"""Toolsets as values: combined, compared, copied, and as what other parts take for tools."""

from __future__ import annotations

import copy
import pickle

import pytest
from round_samples import Odd, ask, done, fetch, pay, raw, remember, search

from operator_schema import Codec, Executor, Registry, Reject, Toolset, describe_tools, tool
from operator_schema.errors import DuplicateToolError
from operator_schema.rounds import Hooks

# --- combination ---------------------------------------------------------------------------------


def test_or_joins_two_toolsets_and_takes_a_common_tool_once():
    joined = Toolset(search, fetch).hide(fetch) | Toolset(pay, fetch)
    assert joined.names == ("search", "fetch", "pay")
    assert joined.is_hidden("fetch")  # as on the left
    assert not (Toolset(fetch) | Toolset(fetch).hide(fetch)).is_hidden("fetch")
    assert Toolset(search) | Toolset() == Toolset(search)


def test_or_refuses_two_tools_of_one_name_and_what_is_not_a_toolset():
    @tool(name="search")
    def other() -> str:
        return ""

    with pytest.raises(DuplicateToolError):
        Toolset(search) | Toolset(other)
    for other_kind in (search, [search], None, 5):
        with pytest.raises(TypeError):
            Toolset(search) | other_kind


def test_only_and_without_keep_the_order_of_the_toolset():
    toolset = Toolset(search, fetch, pay).hide(fetch)
    assert toolset.only("pay", search).names == ("search", "pay")
    assert toolset.only(pay, "pay", pay).names == ("pay",)
    assert toolset.only("fetch").is_hidden("fetch")
    assert toolset.without("search", pay) == toolset.only("fetch")
    assert toolset.only() == toolset.without(*toolset) == Toolset()
    assert toolset.without() == toolset
    assert toolset.names == ("search", "fetch", "pay")


# --- the choice of a tool as a type --------------------------------------------------------------


def test_a_selector_is_an_enum_in_the_schema_and_a_miss_has_the_nearest_name():
    codec = Codec(list[Toolset(search, Toolset(fetch)).selector_type])
    assert codec.json_schema() == {"type": "array", "items": {"type": "string", "enum": ["search", "fetch"]}}
    assert codec.decode(["fetch", "search"]) == ["fetch", "search"]
    assert codec.encode(["fetch"]) == ["fetch"]
    (problem,) = codec.report(["fetsh"])
    assert 'did you mean "fetch"' in str(problem)


def test_no_tools_give_no_selector():
    with pytest.raises(ValueError, match="without tools has no names"):
        _ = Toolset().selector_type


# --- comparison ----------------------------------------------------------------------------------


def test_equal_means_the_same_tools_in_the_same_order_with_the_same_ones_off():
    toolset = Toolset(search, fetch).hide(fetch)
    assert toolset == Toolset(Toolset(search), Toolset(fetch).hide(fetch))
    assert hash(toolset) == hash(Toolset(search, Toolset(fetch).hide(fetch)))
    others = (
        Toolset(search, fetch),
        Toolset(fetch, search).hide(fetch),
        Toolset(search),
        toolset.prefix("a_"),
        Toolset(search.with_(name="find"), fetch).hide(fetch),
    )
    assert all(toolset != other for other in others)
    assert len({toolset, *others, Toolset(search, fetch).hide(fetch)}) == 6


WAYS = {
    "prefix": lambda group: group.prefix("x_"),
    "descriptions": lambda group: group.prefix("", "Web: "),
    "prefix of a prefix": lambda group: group.prefix("y_").prefix("x_"),
    "only": lambda group: group.prefix("x_").only("x_search"),
    "without": lambda group: group.without(search).prefix("z_"),
    "off": lambda group: Toolset(group.prefix("x_")).hide(group.prefix("x_")),
    "or": lambda group: group.prefix("x_") | Toolset(pay),
}


@pytest.mark.parametrize("way", WAYS)
def test_groups_that_were_made_alike_are_equal(way):
    """Wherever one of them counts, the other one does, too."""
    one, other = (WAYS[way](Toolset(search, fetch)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert [tool == again for tool, again in zip(one, other, strict=True)] == [True] * len(one)
    app = Toolset(remember, one)
    assert app == Toolset(remember, other)
    assert app.only(other).names == app.only(one).names == one.names
    assert app.offer(only=[other]).names == one.names
    assert app.offer(only=list(other)).names == one.names
    assert [app.name_of(tool) for tool in other] == list(one.names)
    rejected = Hooks(lambda call: Reject("no"), toolset=other)
    name = one.names[-1]
    arguments = {"search": {"query": "q"}, "fetch": {"url": "u"}, "pay": {"amount": 1}}
    sent = app.offer(only=app).round([raw(name, **arguments[name.rpartition("_")[2]])])
    assert done(sent.apply(rejected)).rejected
    assert len({way: WAYS[way](Toolset(search, fetch)) for way in WAYS}) == len(WAYS)


@pytest.mark.parametrize("way", ["prefix", "descriptions", "prefix of a prefix", "off", "or"])
def test_groups_of_other_tools_or_in_another_order_are_not_equal(way):
    made = WAYS[way](Toolset(search, fetch))
    assert made != WAYS[way](Toolset(fetch, search))
    assert made != WAYS[way](Toolset(search.with_(timeout=5), fetch))


def test_a_switch_of_a_registry_makes_a_difference():
    registry = Registry([search])
    on = Toolset(registry)
    registry.switch("search", enabled=False)
    assert on != Toolset(registry)
    assert on != Toolset(search.with_(enabled=False))


@pytest.mark.parametrize("other", [5, None, "Toolset(search)", [search], Registry([search]), Odd])
def test_nothing_else_is_equal(other):
    assert Toolset(search) != other
    assert (Toolset(search) == other) is False


def test_it_can_not_be_changed():
    toolset = Toolset(search)
    for name in ("names", "_named", "other"):
        with pytest.raises(AttributeError):
            setattr(toolset, name, ())
        with pytest.raises(AttributeError):
            delattr(toolset, name)


# --- copies and pickles --------------------------------------------------------------------------


def test_a_copy_is_the_same_value():
    toolset = Toolset(search, fetch).hide(fetch)
    assert copy.copy(toolset) is toolset
    assert copy.deepcopy(toolset) is toolset


def test_a_pickle_keeps_everything():
    registry = Registry([fetch])
    registry.switch("fetch", enabled=False)
    inner = Toolset(search, pay).hide(pay)
    toolset = Toolset(inner, registry, ask)
    again = pickle.loads(pickle.dumps(toolset))
    assert again == toolset
    assert hash(again) == hash(toolset)
    assert again.is_hidden("pay")
    assert again.offer(only=again).names == ("search", "pay", "ask")
    assert again.names_from(inner) == {"search": ("search",), "pay": ("pay",)}
    offer = toolset.offer(only=toolset, descriptions={"search": "New."})
    assert pickle.loads(pickle.dumps(offer)) == offer


# --- where names come from -----------------------------------------------------------------------


def test_names_from_says_what_the_tools_of_another_toolset_are_called_here():
    inner = Toolset(search, fetch)
    outer = Toolset(inner.prefix("a_"), inner.prefix("b_").without("b_search"), pay)
    assert Toolset(inner.prefix("a_"), pay).names_from(inner) == {
        "search": ("a_search",),
        "fetch": ("a_fetch",),
    }
    assert inner.names_from(Toolset(search, fetch)) == {"search": ("search",), "fetch": ("fetch",)}
    assert inner.only("fetch").names_from(inner) == {"fetch": ("fetch",)}
    assert outer.names_from(inner) == {"search": ("a_search",), "fetch": ("a_fetch", "b_fetch")}
    assert outer.names_from(Toolset(remember)) is None
    assert (Toolset(ask) | inner).names_from(inner) == {"search": ("search",), "fetch": ("fetch",)}


# --- as tools for others -------------------------------------------------------------------------


def test_a_registry_takes_a_toolset_with_its_switches():
    registry = Registry([search, fetch])
    registry.switch("fetch", enabled=False)
    again = Registry(Toolset(registry, pay))
    assert [entry.name for entry in again] == ["search", "fetch", "pay"]
    assert [entry.name for entry in again.offered()] == ["search", "pay"]


@pytest.mark.needs_threads
def test_an_executor_takes_a_toolset_with_its_switches():
    registry = Registry([search, fetch])
    registry.switch("fetch", enabled=False)
    executor = Executor(Toolset(registry, remember).hide(remember))
    assert executor.run_sync(raw("search", query="a", limit=1)).content == '["a"]'
    assert executor.run_sync(raw("fetch", url="a")).code == "disabled"
    assert executor.run_sync(raw("pay", amount=1)).code == "tool_not_found"


TAKEN_AS = {
    "toolset": lambda toolset: toolset,
    "registry": Registry,
    "deep copy": lambda toolset: copy.deepcopy(Registry(toolset)),
    "pickle": lambda toolset: pickle.loads(pickle.dumps(Registry(toolset))),
    "registry of a registry": lambda toolset: Registry(Registry(toolset)),
    "with other options": lambda toolset: Toolset(toolset).with_(repair=True),
    "toolset of a registry": lambda toolset: Toolset(Registry(toolset)),
    "toolset of a toolset": lambda toolset: Toolset(toolset) | Toolset(remember),
}


@pytest.mark.needs_threads
@pytest.mark.parametrize("kind", TAKEN_AS)
def test_what_takes_a_toolset_has_its_hidden_tools_switched_off(kind):
    toolset = Toolset(search, fetch).hide(fetch)
    taken = TAKEN_AS[kind](toolset)
    registry = Registry(taken)
    assert "fetch" not in [tool.name for tool in registry.offered()]
    assert not registry.is_enabled("fetch")
    executor = Executor(taken, threads=False)
    assert executor.run_sync(raw("fetch", url="a")).code == "disabled"
    unknown = executor.run_sync(raw("fetsh", url="a"))
    assert (unknown.code, "fetch" in unknown.content) == ("tool_not_found", False)


@pytest.mark.needs_threads
@pytest.mark.parametrize("kind", TAKEN_AS)
def test_a_round_that_offered_a_hidden_tool_runs_it(kind):
    toolset = Toolset(search, fetch).hide(fetch)
    executor = Executor(TAKEN_AS[kind](toolset), threads=False)
    if kind == "with other options":
        toolset = toolset.with_(repair=True)
    sent = toolset.offer(also=["fetch"]).round([raw("fetch", url="a")])
    assert executor.run_sync(sent).handled[0].result.content == "page a"
    plain = toolset.offer().round([raw("fetch", url="a")])
    assert executor.run_sync(plain).issues[0].code == "not_available"


@pytest.mark.needs_threads
@pytest.mark.parametrize("switched", ["tool", "registry", "group", "afterwards"])
def test_a_hidden_tool_that_is_also_switched_off_never_runs(switched):
    switch = {"on": True}

    def is_on():
        return switch["on"]

    registry = Registry([search])
    registry.register(fetch.with_(enabled=is_on) if switched == "tool" else fetch)
    if switched == "group":
        registry.switch(registry, enabled=is_on)
    if switched == "registry":
        registry.switch("fetch", enabled=is_on)
    toolset = Toolset(registry).hide(registry)
    taken = Registry(Registry(toolset))
    sent = toolset.offer(only=toolset).round([raw("fetch", url="a")])
    executor = Executor(taken, threads=False)
    assert executor.run_sync(sent).handled[0].result.content == "page a"

    switch["on"] = False
    if switched == "afterwards":
        taken.switch("fetch", enabled=False)
    sent = toolset.offer(only=["fetch"]).round([raw("fetch", url="a")])
    (state,) = executor.run_sync(sent).calls
    expected = "disabled" if switched == "afterwards" else "not_available"
    assert state.result.code == expected


def test_the_switch_of_a_registry_goes_with_a_tool_that_is_hidden_in_it():
    """A group that is off when its tools go elsewhere says so of the hidden ones too."""
    registry = Registry(Toolset(fetch).hide(fetch))
    registry.switch(fetch, enabled=False)
    toolset = Toolset(registry)
    assert toolset.is_hidden("fetch")
    assert toolset.offer(only=toolset).names == ()


@pytest.mark.needs_threads
def test_a_switch_says_nothing_about_what_is_hidden():
    registry = Registry(Toolset(search, fetch).hide(fetch))
    registry.switch("fetch", enabled=True)
    executor = Executor(registry, threads=False)
    assert executor.run_sync(raw("fetch", url="a")).code == "disabled"
    sent = registry.toolset.offer(only="fetch").round([raw("fetch", url="a")])
    assert executor.run_sync(sent).handled[0].content == "page a"


@pytest.mark.needs_threads
def test_an_executor_also_runs_the_describing_tool():
    inner = Toolset(search)
    executor = Executor(Toolset(inner, describe_tools(inner)))
    result = executor.run_sync(raw("describe_tools", tools=["search"]))
    assert "sorted by date" in result.content
    broken = executor.run_sync(raw("search"))
    assert "describe_tools" in broken.content
