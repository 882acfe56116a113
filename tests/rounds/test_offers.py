"""What one request offers: which tools, under which descriptions, and what the model has to do."""

from __future__ import annotations

from copy import copy

import pytest
from round_samples import Remember, Text, ask, done, fetch, pay, raw, remember, search

from operator_schema import Registry, Reject, Toolset, describe_tools, hook, tool
from operator_schema.errors import ToolNotFoundError
from operator_schema.providers import ToolChoice
from operator_schema.rounds import Hooks, OfferError

group = Toolset(fetch, remember)
toolset = Toolset(search, pay, group, ask).hide(pay, group)


def shown(offer):
    return [definition["name"] for definition in offer.definitions()]


# --- availability --------------------------------------------------------------------------------


def test_by_default_what_is_off_is_not_offered():
    assert toolset.offer().names == ("search", "ask")
    assert toolset.offer() == toolset.offer()
    assert shown(toolset.offer()) == ["search", "ask"]
    assert [definition["name"] for definition in toolset.definitions()] == ["search", "ask"]


def test_all_offers_everything_in_the_order_of_the_toolset():
    assert toolset.offer(only=toolset).names == toolset.names == ("search", "pay", "fetch", "remember", "ask")
    assert [definition["name"] for definition in toolset.definitions(only=toolset)] == list(toolset.names)


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ([pay], ("pay",)),
        (["ask", "search"], ("search", "ask")),
        ([search, search], ("search",)),
        ([search, "search", pay], ("search", "pay")),
        ((fetch, "remember"), ("fetch", "remember")),
        ({"pay"}, ("pay",)),
        (iter(["pay", ask]), ("pay", "ask")),
        (group, ("fetch", "remember")),
        ([], ()),
    ],
)
def test_only_offers_exactly_these_whether_off_or_not(tools, names):
    offer = toolset.offer(only=tools)
    assert offer.names == names
    assert tuple(shown(offer)) == names


def test_default_plus_offers_these_beside_the_others():
    assert toolset.offer(also=[pay]).names == ("search", "pay", "ask")
    assert toolset.offer(also=[group["fetch"], "search"]).names == ("search", "fetch", "ask")
    assert toolset.offer(also=group).names == ("search", "fetch", "remember", "ask")
    assert toolset.offer(also=[]) == toolset.offer()


@pytest.mark.parametrize("tools", ["pay", pay])
def test_one_tool_needs_no_list(tools):
    assert toolset.offer(only=tools).names == ("pay",)
    assert toolset.offer(also=tools).names == ("search", "pay", "ask")


@pytest.mark.parametrize("option", ["only", "also"])
@pytest.mark.parametrize("tools", [Remember, 5, search.input_type])
def test_a_choice_takes_tools(option, tools):
    with pytest.raises(TypeError, match=f"{option} takes tools, names or toolsets"):
        toolset.offer(**{option: tools})


@pytest.mark.parametrize("option", ["only", "also"])
def test_a_choice_of_an_unknown_tool_has_the_nearest_name(option):
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        toolset.offer(**{option: ["serch"]})
    with pytest.raises(TypeError, match="choose a tool by its name or by the tool itself"):
        toolset.offer(**{option: [5]})


@pytest.mark.parametrize("also", [[pay], [], "pay", group])
def test_a_request_offers_either_some_tools_alone_or_some_besides(also):
    with pytest.raises(TypeError, match="only= and also= exclude each other"):
        toolset.offer(only=[search], also=also)


# --- toolsets as a choice ------------------------------------------------------------------------


def test_a_toolset_chooses_all_of_its_tools():
    assert toolset.offer(also=[group]).names == ("search", "fetch", "remember", "ask")
    assert toolset.offer(also=[pay, group, Toolset()]).names == toolset.names
    assert toolset.offer(only=[group, "ask"]).names == ("fetch", "remember", "ask")
    assert toolset.only(group, search).names == ("search", "fetch", "remember")
    assert toolset.without(group, search).names == ("pay", "ask")
    assert group in toolset
    assert Toolset(search, fetch).hide(fetch) in toolset  # not nested there, but its tools are
    assert Toolset(search.with_(timeout=5)) not in toolset


def test_a_toolset_that_is_nested_chooses_the_names_that_it_has_there():
    """Also where it is there twice: each tool of its own would have two names."""
    twice = Toolset(group.prefix("a_"), group.prefix("b_"), search)
    assert twice.only(group).names == ("a_fetch", "a_remember", "b_fetch", "b_remember")
    assert twice.only(group.prefix("b_")).names == ("b_fetch", "b_remember")
    assert twice.offer(only=group).names == twice.only(group).names
    assert twice.without(group.prefix("a_"), search).names == ("b_fetch", "b_remember")
    with pytest.raises(ValueError, match="a_fetch and b_fetch: give the name"):
        twice.only(*group)
    same = Toolset(fetch, remember)  # another toolset of the same tools is equal
    assert twice.only(same) == twice.only(group)


def test_a_toolset_with_a_tool_that_is_not_there_chooses_nothing():
    for choose in (toolset.only, toolset.without, lambda chosen: toolset.offer(only=[chosen])):
        with pytest.raises(ToolNotFoundError, match="deliver"):
            choose(Toolset(search, fetch.with_(name="deliver")))
        with pytest.raises(ValueError, match='"search" is a different tool'):
            choose(Toolset(search.with_(timeout=5)))
    smaller = toolset.without(fetch)
    with pytest.raises(ToolNotFoundError, match="fetch"):
        smaller.only(group)


def test_one_tool_is_not_chosen_by_a_toolset():
    for choose in (lambda: toolset[group], lambda: toolset.offer(required=group)):
        with pytest.raises(TypeError, match="choose a tool by its name or by the tool itself"):
            choose()


@pytest.mark.parametrize("own", [False, True])
def test_a_hook_may_be_for_all_tools_of_a_toolset(own):
    @hook(group, "pay")
    def refuse(call):
        return Reject(call.name)

    hooks = Hooks(refuse, toolset=toolset if own else None)
    calls = [raw("search", "1", query="q"), raw("fetch", "2", url="u"), raw("remember", "3", note="n")]
    plan = done(toolset.offer(only=toolset).round(calls).apply(hooks))
    assert [rejected.reason for rejected in plan.rejected] == ["fetch", "remember"]
    assert [call.name for call in plan.pending] == ["search"]


@pytest.mark.parametrize("strict", [False, True, "auto"])
def test_an_offer_says_how_strict_the_request_is(strict):
    offer = toolset.offer(strict=strict)
    assert offer.strict == strict
    assert (offer == toolset.offer()) is (strict is False)


@pytest.mark.parametrize("strict", ["yes", 1, 0, None, ""])
def test_another_strictness_is_refused(strict):
    with pytest.raises(TypeError, match='strict must be True, False or "auto"'):
        toolset.offer(strict=strict)


# --- requirement ---------------------------------------------------------------------------------


def test_the_tool_choice_says_what_the_model_has_to_do():
    assert toolset.offer().choice == ToolChoice("auto")
    assert toolset.offer().choice == ToolChoice("auto", None)
    assert toolset.offer(required="any").choice == ToolChoice("required")
    last = toolset.offer(required="none")
    assert (last.choice, last.names) == (ToolChoice("none"), toolset.offer().names)
    for required in (search, "search"):
        assert toolset.offer(required=required).choice == ToolChoice("named", "search")
    assert toolset.offer(only=[pay], required=pay).choice == ToolChoice("named", "pay")


def test_without_tools_there_is_nothing_to_choose():
    for offer in (Toolset().offer(), toolset.offer(only=[]), Toolset(search).hide(search).offer()):
        assert (offer.names, offer.choice) == ((), ToolChoice("none"))
        assert offer.definitions() == []


@pytest.mark.parametrize(
    ("only", "required", "tool", "said"),
    [
        ([], "any", None, "none is available"),
        (None, pay, "pay", r'is hidden: also=\["pay"\] offers it'),
        (None, "fetch", "fetch", 'available are "search", "ask"'),
        ([pay], search, "search", "isn't among those that this request makes available"),
        ([], search, "search", "available are none"),
    ],
)
def test_what_can_not_be_required_raises_before_anything_is_sent(only, required, tool, said):
    with pytest.raises(OfferError, match=said) as caught:
        toolset.offer(only=only, required=required)
    assert caught.value.tool == tool
    assert caught.value.message == str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_required_tool_has_to_be_one():
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        toolset.offer(required="searhc")
    for required in (5, True, [search], Remember):
        with pytest.raises(TypeError, match="choose a tool by its name or by the tool itself"):
            toolset.offer(required=required)


# --- switches ------------------------------------------------------------------------------------


def test_a_tool_that_is_switched_off_is_never_offered():
    switched = Toolset(search.with_(enabled=False), fetch)
    for chosen in ({}, {"only": switched}, {"only": ["search", "fetch"]}, {"also": ["search"]}):
        assert switched.offer(**chosen).names == ("fetch",)
    with pytest.raises(OfferError, match="switched off"):
        switched.offer(required="search")
    with pytest.raises(OfferError, match="switched off"):
        switched.offer(only=switched, required="search")


def test_switches_are_asked_at_each_offer_with_its_context():
    premium = search.with_(enabled=lambda context: context.get("plan") == "premium")
    switched = Toolset(premium, fetch)
    assert switched.offer(context={"plan": "premium"}).names == ("search", "fetch")
    assert switched.offer(context={"plan": "free"}).names == ("fetch",)
    assert switched.offer().names == ("fetch",)
    assert switched.definitions(context={"plan": "premium"})[0]["name"] == "search"
    with pytest.raises(OfferError, match="switched off"):
        switched.offer(required="search", context={"plan": "free"})


def test_an_offer_remembers_what_its_switches_said():
    state = {"on": True}
    switched = Toolset(search.with_(enabled=lambda: state["on"]), fetch)
    offer = switched.offer()
    state["on"] = False
    assert shown(offer) == ["search", "fetch"]
    assert offer.round([raw("search", query="a")]).issues == ()
    assert [issue.code for issue in switched.offer().round([raw("search", query="a")]).issues] == [
        "not_available"
    ]
    state["on"] = True
    assert switched.offer().round([raw("search", query="a")]).issues == ()


def test_a_switch_that_fails_counts_as_off(caplog):
    def fail():
        raise ZeroDivisionError

    assert Toolset(search.with_(enabled=fail), fetch).offer().names == ("fetch",)
    assert "its switch failed" in caplog.text


def test_the_describing_tool_counts_only_where_it_is_offered():
    inner = Toolset(search)
    described = Toolset(inner, describe_tools(inner)).hide("describe_tools")
    (definition,) = described.definitions()
    assert "sorted by date" in definition["description"]
    short, _ = described.definitions(only=described)
    assert "sorted by date" not in short["description"]
    assert described.offer(only=described).tools[0].described_by == "describe_tools"
    assert described.offer().tools[0].described_by is None


# --- descriptions --------------------------------------------------------------------------------


def test_descriptions_of_one_request_replace_those_of_the_tools():
    offer = toolset.offer(descriptions={"search": "Only public sources.", "pay": "Never."})
    assert offer.definitions()[0]["description"] == "Only public sources."
    assert offer.descriptions == {"search": "Only public sources.", "pay": "Never."}
    assert toolset.offer().definitions()[0]["description"].startswith("Search the web.")
    assert toolset.offer() != offer


def test_an_empty_description_replaces_too():
    assert toolset.offer(descriptions={"search": ""}).definitions()[0]["description"] == ""


def test_descriptions_are_checked():
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        toolset.offer(descriptions={"seerch": "x"})
    for text in (5, None, b"x"):
        with pytest.raises(TypeError, match="the description of search must be a string"):
            toolset.offer(descriptions={"search": text})
    offer = toolset.offer(descriptions={"search": Text("plain")})
    assert type(offer.descriptions["search"]) is str


def test_the_callers_mappings_and_definitions_can_change_afterwards():
    given = {"search": "A."}
    offer = toolset.offer(descriptions=given)
    given["search"] = "B."
    offer.descriptions["search"] = "C."
    definition = offer.definitions()[0]
    definition["description"] = "D."
    definition["input_schema"].clear()
    assert offer.definitions()[0]["description"] == "A."
    assert offer.definitions()[0]["input_schema"]["properties"]


# --- as a value ----------------------------------------------------------------------------------


def test_an_offer_is_a_value():
    offer = toolset.offer(also=[pay], required=search, descriptions={"ask": "x"})
    same = toolset.offer(also=["pay"], required="search", descriptions={"ask": "x"})
    assert offer == same
    assert hash(offer) == hash(same)
    assert offer not in (toolset.offer(), toolset.offer(also=[pay]), 5)
    assert repr(offer) == "Offer(search, pay, ask; search)"
    assert repr(toolset.offer()) == "Offer(search, ask; auto)"
    assert offer.tools == (search, pay, ask)
    assert offer.get("pay") is pay
    assert offer.get("fetch") is None
    with pytest.raises(AttributeError):
        offer.names = ()


def test_styles_of_schemas_are_those_of_codecs():
    @tool
    def save(note: Remember, other: Remember) -> None:
        """Save."""

    (plain,) = Toolset(save).definitions()
    (inline,) = Toolset(save).offer().definitions(inline=True)
    assert "$defs" in plain["input_schema"] or plain == inline
    assert "$defs" not in inline["input_schema"]
    assert Toolset(save).definitions(inline=True) == [inline]


def test_a_registry_switch_is_asked_with_the_context_of_the_offer():
    registry = Registry([search, fetch])
    registry.switch(registry, enabled=lambda context: "user" in context)
    assert Toolset(registry).offer().names == ()
    assert Toolset(registry).offer(context={"user": 1}).names == ("search", "fetch")


def test_descriptions_are_a_mapping():
    with pytest.raises(TypeError, match="descriptions must map names of tools to strings, not array"):
        Toolset(search).offer(descriptions=["x"])


# --- deferred tools ------------------------------------------------------------------------------


def test_an_offer_says_which_tools_are_deferred():
    offer = toolset.offer(deferred=[ask])
    assert (offer.names, offer.deferred) == (("search", "ask"), ("ask",))
    assert offer == toolset.offer(deferred="ask") != toolset.offer()
    assert copy(offer) == offer
    assert toolset.offer(only=toolset, deferred=(ask, group)).deferred == ("fetch", "remember", "ask")
    assert toolset.offer(only=search, deferred=[ask]).deferred == ()
    assert toolset.offer(deferred=[]) == toolset.offer()
    with pytest.raises(ToolNotFoundError, match='did you mean "ask"'):
        toolset.offer(deferred="askk")
    with pytest.raises(TypeError, match=r"deferred takes tools, names or toolsets: deferred=\[…\], not 5"):
        toolset.offer(deferred=5)


def test_a_deferred_tool_may_be_called_but_not_required():
    offer = toolset.offer(deferred=[search])
    assert offer.round([raw("search", query="x")]).calls[0].state == "pending"
    with pytest.raises(OfferError, match="is deferred, so the model doesn't see it: take it out of deferred"):
        toolset.offer(deferred=[search], required=search)
    assert toolset.offer(deferred=[search], required=ask).choice == ToolChoice("named", "ask")


def test_deferred_tools_take_no_room():
    assert toolset.offer(max_tokens=1).left_out == ("search", "ask")
    offer = toolset.offer(max_tokens=1, deferred=[ask])
    assert (offer.names, offer.left_out) == (("ask",), ("search",))
    offer = toolset.offer(max_tokens=1000, deferred=[search])
    assert (offer.names, offer.left_out) == (("search", "ask"), ())
