"""What one request offers: which tools, under which descriptions, and what the model has to do."""

from __future__ import annotations

import pytest
from round_samples import Remember, Text, ask, done, fetch, pay, raw, remember, search

from operator_schema import (
    DefaultPlus,
    Hooks,
    OfferError,
    Only,
    Registry,
    Reject,
    Specific,
    ToolChoice,
    ToolNotFoundError,
    Toolset,
    describe_tools,
    hook,
    off,
    tool,
)

group = Toolset(fetch, remember)
toolset = Toolset(search, off(pay), off(group), ask)


def shown(offer):
    return [definition["name"] for definition in offer.definitions()]


# --- availability --------------------------------------------------------------------------------


def test_by_default_what_is_off_is_not_offered():
    assert toolset.offer().names == ("search", "ask")
    assert toolset.offer("default") == toolset.offer()
    assert shown(toolset.offer()) == ["search", "ask"]
    assert [definition["name"] for definition in toolset.definitions()] == ["search", "ask"]


def test_all_offers_everything_in_the_order_of_the_toolset():
    assert toolset.offer("all").names == toolset.names == ("search", "pay", "fetch", "remember", "ask")
    assert [definition["name"] for definition in toolset.definitions("all")] == list(toolset.names)


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
    offer = toolset.offer(Only(tools))
    assert offer.names == names
    assert tuple(shown(offer)) == names


def test_default_plus_offers_these_beside_the_others():
    assert toolset.offer(DefaultPlus([pay])).names == ("search", "pay", "ask")
    assert toolset.offer(DefaultPlus([group["fetch"], "search"])).names == ("search", "fetch", "ask")
    assert toolset.offer(DefaultPlus(group)).names == ("search", "fetch", "remember", "ask")
    assert toolset.offer(DefaultPlus([])) == toolset.offer()


@pytest.mark.parametrize("kind", [Only, DefaultPlus])
@pytest.mark.parametrize("tools", ["search", search, remember, Remember, 5, None])
def test_a_choice_takes_a_list(kind, tools):
    with pytest.raises(TypeError, match=rf"{kind.__name__} takes a list of tools, names or toolsets"):
        kind(tools)


@pytest.mark.parametrize("kind", [Only, DefaultPlus])
def test_a_choice_of_an_unknown_tool_has_the_nearest_name(kind):
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        toolset.offer(kind(["serch"]))
    with pytest.raises(TypeError, match="chosen by its name or the tool itself"):
        toolset.offer(kind([5]))


# --- toolsets as a choice ------------------------------------------------------------------------


def test_a_toolset_chooses_all_of_its_tools():
    assert toolset.offer(DefaultPlus([group])).names == ("search", "fetch", "remember", "ask")
    assert toolset.offer(DefaultPlus([pay, group, Toolset()])).names == toolset.names
    assert toolset.offer(Only([group, "ask"])).names == ("fetch", "remember", "ask")
    assert toolset.only(group, search).names == ("search", "fetch", "remember")
    assert toolset.without(group, search).names == ("pay", "ask")
    assert group in toolset
    assert Toolset(search, off(fetch)) in toolset  # not nested there, but its tools are
    assert Toolset(search.with_(timeout=5)) not in toolset


def test_a_toolset_that_is_nested_chooses_the_names_that_it_has_there():
    """Also where it is there twice: each tool of its own would have two names."""
    twice = Toolset(group.prefix("a_"), group.prefix("b_"), search)
    assert twice.only(group).names == ("a_fetch", "a_remember", "b_fetch", "b_remember")
    assert twice.only(group.prefix("b_")).names == ("b_fetch", "b_remember")
    assert twice.offer(Only(group)).names == twice.only(group).names
    assert twice.without(group.prefix("a_"), search).names == ("b_fetch", "b_remember")
    with pytest.raises(ValueError, match="a_fetch and b_fetch: give the name"):
        twice.only(*group)
    same = Toolset(fetch, remember)  # another toolset of the same tools is equal
    assert twice.only(same) == twice.only(group)


def test_a_toolset_with_a_tool_that_is_not_there_chooses_nothing():
    for choose in (toolset.only, toolset.without, lambda chosen: toolset.offer(Only([chosen]))):
        with pytest.raises(ToolNotFoundError, match="deliver"):
            choose(Toolset(search, fetch.with_(name="deliver")))
        with pytest.raises(ValueError, match='"search" of this toolset is another one'):
            choose(Toolset(search.with_(timeout=5)))
    smaller = toolset.without(fetch)
    with pytest.raises(ToolNotFoundError, match="fetch"):
        smaller.only(group)


def test_one_tool_is_not_chosen_by_a_toolset():
    for choose in (lambda: toolset[group], lambda: toolset.offer(required=Specific(group))):
        with pytest.raises(TypeError, match="a tool is chosen by its name or the tool itself"):
            choose()


@pytest.mark.parametrize("own", [False, True])
def test_a_hook_may_be_for_all_tools_of_a_toolset(own):
    @hook(group, "pay")
    def refuse(call):
        return Reject(call.name)

    hooks = Hooks(refuse, toolset=toolset if own else None)
    calls = [raw("search", "1", query="q"), raw("fetch", "2", url="u"), raw("remember", "3", note="n")]
    plan = done(toolset.round(calls, toolset.offer("all")).apply(hooks))
    assert [rejected.reason for rejected in plan.rejected] == ["fetch", "remember"]
    assert [call.name for call in plan.pending] == ["search"]


@pytest.mark.parametrize("available", ["Default", None, [search], 5, search, Only])
def test_another_availability_is_refused(available):
    with pytest.raises(TypeError, match=r'available is "default", "all", Only'):
        toolset.offer(available)


# --- requirement ---------------------------------------------------------------------------------


def test_the_tool_choice_says_what_the_model_has_to_do():
    assert toolset.offer().tool_choice == ToolChoice("auto")
    assert toolset.offer(required="optional").tool_choice == ToolChoice("auto", None)
    assert toolset.offer(required="at_least_one").tool_choice == ToolChoice("required")
    for required in (Specific(search), Specific("search")):
        assert toolset.offer(required=required).tool_choice == ToolChoice("named", "search")
    assert toolset.offer(Only([pay]), Specific(pay)).tool_choice == ToolChoice("named", "pay")


def test_without_tools_there_is_nothing_to_choose():
    for offer in (Toolset().offer(), toolset.offer(Only([])), Toolset(off(search)).offer()):
        assert (offer.names, offer.tool_choice) == ((), ToolChoice("none"))
        assert offer.definitions() == []


@pytest.mark.parametrize(
    ("available", "required", "tool", "said"),
    [
        (Only([]), "at_least_one", None, "none is available"),
        ("default", Specific(pay), "pay", r'off by default: available=DefaultPlus\(\["pay"\]\) offers it'),
        ("default", Specific("fetch"), "fetch", 'available are "search", "ask"'),
        (Only([pay]), Specific(search), "search", "isn't among those that this request makes available"),
        (Only([]), Specific(search), "search", "available are none"),
    ],
)
def test_what_can_not_be_required_raises_before_anything_is_sent(available, required, tool, said):
    with pytest.raises(OfferError, match=said) as caught:
        toolset.offer(available, required)
    assert caught.value.tool == tool
    assert caught.value.message == str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_required_tool_has_to_be_one():
    with pytest.raises(ToolNotFoundError, match='did you mean "search"'):
        toolset.offer(required=Specific("searhc"))
    for required in ("any", None, search, "search", 5):
        with pytest.raises(TypeError, match=r'required is "optional"'):
            toolset.offer(required=required)


# --- switches ------------------------------------------------------------------------------------


def test_a_tool_that_is_switched_off_is_never_offered():
    switched = Toolset(search.with_(enabled=False), fetch)
    for available in ("default", "all", Only(["search", "fetch"]), DefaultPlus(["search"])):
        assert switched.offer(available).names == ("fetch",)
    with pytest.raises(OfferError, match="switched off"):
        switched.offer(required=Specific("search"))
    with pytest.raises(OfferError, match="switched off"):
        switched.offer("all", Specific("search"))


def test_switches_are_asked_at_each_offer_with_its_context():
    premium = search.with_(enabled=lambda context: context.get("plan") == "premium")
    switched = Toolset(premium, fetch)
    assert switched.offer(context={"plan": "premium"}).names == ("search", "fetch")
    assert switched.offer(context={"plan": "free"}).names == ("fetch",)
    assert switched.offer().names == ("fetch",)
    assert switched.definitions(context={"plan": "premium"})[0]["name"] == "search"
    with pytest.raises(OfferError, match="switched off"):
        switched.offer(required=Specific("search"), context={"plan": "free"})


def test_an_offer_remembers_what_its_switches_said():
    state = {"on": True}
    switched = Toolset(search.with_(enabled=lambda: state["on"]), fetch)
    offer = switched.offer()
    state["on"] = False
    assert shown(offer) == ["search", "fetch"]
    assert offer.round([raw("search", query="a")]).issues == ()
    assert [issue.code for issue in switched.round([raw("search", query="a")]).issues] == ["not_available"]
    state["on"] = True
    assert switched.round([raw("search", query="a")]).issues == ()


def test_a_switch_that_fails_counts_as_off(caplog):
    def fail():
        raise ZeroDivisionError

    assert Toolset(search.with_(enabled=fail), fetch).offer().names == ("fetch",)
    assert "its switch failed" in caplog.text


def test_the_describing_tool_counts_only_where_it_is_offered():
    inner = Toolset(search)
    described = Toolset(inner, off(describe_tools(inner)))
    (definition,) = described.definitions()
    assert "sorted by date" in definition["description"]
    short, _ = described.definitions("all")
    assert "sorted by date" not in short["description"]
    assert described.offer("all").tools[0].described_by == "describe_tools"
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
        with pytest.raises(TypeError, match="the description of search is a string"):
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
    offer = toolset.offer(DefaultPlus([pay]), Specific(search), descriptions={"ask": "x"})
    same = toolset.offer(DefaultPlus(["pay"]), Specific("search"), descriptions={"ask": "x"})
    assert offer == same
    assert hash(offer) == hash(same)
    assert offer not in (toolset.offer(), toolset.offer(DefaultPlus([pay])), 5)
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
    registry = Registry([search, fetch], enabled=lambda context: "user" in context)
    assert Toolset(registry).offer().names == ()
    assert Toolset(registry).offer(context={"user": 1}).names == ("search", "fetch")


def test_descriptions_are_a_mapping():
    with pytest.raises(TypeError, match="descriptions maps names of tools to texts, not array"):
        Toolset(search).offer(descriptions=["x"])
