"""What a toolset is made of, and what can be asked of it."""

from __future__ import annotations

import pytest
from round_samples import Remember, ask, fetch, pay, remember, search

from operator_schema import Registry, SchemaError, Toolset, describe_tools, tool
from operator_schema.errors import DuplicateToolError, ToolNotFoundError


@tool(name="search")
def find(pattern: str) -> str:
    """Find files."""
    return pattern


class Service:
    @tool
    def load(self, key: str) -> str:
        """Load."""
        return key

    @tool
    @classmethod
    def kind(cls) -> str:
        """Say what it is."""
        return cls.__name__


# --- members -------------------------------------------------------------------------------------


def test_the_order_is_that_of_the_members_and_nested_ones_stand_in_their_place():
    inner = Toolset(fetch, Toolset(pay))
    assert Toolset(search, inner, remember).names == ("search", "fetch", "pay", "remember")
    assert [entry.name for entry in Toolset(inner, search)] == ["fetch", "pay", "search"]


def test_without_members_there_are_no_tools():
    empty = Toolset()
    assert (len(empty), empty.names, list(empty), "search" in empty) == (0, (), [], False)
    assert empty.definitions() == []
    assert empty == Toolset(Toolset(), Registry())
    assert not empty


def test_functions_inputs_and_methods_can_be_members():
    service = Service()
    toolset = Toolset(search, remember, service.load, Service.kind)
    assert toolset.names == ("search", "remember", "load", "kind")
    assert toolset["remember"].input_type is Remember
    assert toolset["load"]("a") == "a"


def test_a_registry_gives_the_tools_that_it_has_now_with_their_switches():
    registry = Registry([search, fetch])
    registry.switch("fetch", enabled=False)
    toolset = Toolset(registry, pay)
    registry.register(ask)
    registry.unregister("search")
    registry.switch("fetch", enabled=True)
    assert toolset.names == ("search", "fetch", "pay")
    assert toolset.offer().names == ("search", "pay")


def test_the_switches_of_a_registry_go_along():
    answers = [True, False]
    registry = Registry([search, fetch])
    registry.switch(search, enabled=answers.pop)
    toolset = Toolset(registry, pay)
    assert toolset.offer().names == ("fetch", "pay")
    assert toolset.offer().names == ("search", "fetch", "pay")


def test_a_describing_tool_of_a_registry_stays_behind():
    registry = Registry([search])
    registry.register(describe_tools(registry))
    assert Toolset(registry).names == ("search",)
    toolset = Toolset(registry, describe_tools(Toolset(registry)))
    assert toolset.names == ("search", "describe_tools")


def test_with_a_describing_tool_the_definitions_have_summaries_alone():
    inner = Toolset(search, fetch)
    toolset = Toolset(inner, describe_tools(inner))
    definition, *_ = toolset.definitions()
    assert "sorted by date" not in definition["description"]
    assert "sorted by date" in Toolset(search).definitions()[0]["description"]
    assert "sorted by date" in toolset["describe_tools"](["search"])


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (5, "an int isn't a Tool"),
        (None, "a NoneType isn't a Tool"),
        ("search", "a str isn't a Tool"),
        (print, "isn't a Tool; decorate it with @tool"),
        (Remember, "the class Remember isn't a Tool"),
        (Service.load, "load"),
        ({search: 1}, "a dict isn't a Tool"),
        ({5: search}, "the key of the tool search is its name and must be a string, not integer 5"),
        ([5], "an int isn't a Tool"),
        ({search}, r"Toolset\(\*tools\)"),
        (Toolset, "isn't a Tool"),
    ],
)
def test_anything_else_is_refused(member, said):
    with pytest.raises(TypeError, match=said):
        Toolset(search, member)


# --- duplicates ----------------------------------------------------------------------------------


def test_two_tools_of_one_name_are_refused_with_both_places():
    with pytest.raises(DuplicateToolError) as caught:
        Toolset(search, find)
    assert caught.value.tool == "search"
    assert caught.value.places == ("round_samples.search", "test_toolset.find")
    assert "round_samples.search and test_toolset.find" in str(caught.value)


@pytest.mark.parametrize(
    "members",
    [
        (search, search),
        (search, Toolset(fetch, Toolset(search))),
        ([search], search),
        (Registry([search]), find),
        (Toolset(search), [Toolset(find)]),
    ],
)
def test_so_are_nested_and_hidden_ones(members):
    with pytest.raises(DuplicateToolError, match="search"):
        Toolset(*members)


def test_two_functions_of_one_place_are_told_apart_by_their_lines(define):
    module = define(
        """
        from operator_schema import tool

        def make(text):
            if text:
                @tool
                def work() -> str:
                    return text
            else:
                @tool
                def work() -> int:
                    return 1
            return work
        """
    )
    with pytest.raises(DuplicateToolError, match=r"line 6.*line 10"):
        Toolset(module.make("a"), module.make(""))


# --- lookups -------------------------------------------------------------------------------------


def test_a_tool_is_looked_up_by_name_or_by_itself():
    toolset = Toolset(search, fetch)
    assert toolset["search"] is search
    assert toolset[fetch] is fetch
    assert toolset.name_of(fetch) == toolset.name_of("fetch") == "fetch"
    assert "search" in toolset
    assert search in toolset
    assert find not in toolset
    assert pay not in toolset
    assert 5 not in toolset


@pytest.mark.parametrize(
    "lookup",
    [
        lambda toolset, key: toolset[key],
        lambda toolset, key: toolset.name_of(key),
        lambda toolset, key: toolset.is_hidden(key),
        lambda toolset, key: toolset.only(key),
        lambda toolset, key: toolset.without(key),
    ],
)
def test_a_miss_names_the_nearest(lookup):
    toolset = Toolset(search, fetch)
    with pytest.raises(ToolNotFoundError, match='did you mean "search"') as caught:
        lookup(toolset, "serach")
    assert (caught.value.tool, caught.value.suggestions) == ("serach", ("search",))
    with pytest.raises(ToolNotFoundError, match="remember"):
        lookup(toolset, remember)
    with pytest.raises(TypeError, match="choose a tool by its name or by the tool itself, not by integer 5"):
        lookup(toolset, 5)


def test_a_nested_tool_is_found_by_what_it_was_inside():
    inner = Toolset(search, fetch).prefix("web_")
    outer = Toolset(inner.prefix("x_"), pay)
    assert outer.names == ("x_web_search", "x_web_fetch", "pay")
    assert outer.name_of(search) == outer.name_of(inner["web_search"]) == "x_web_search"
    assert outer[search].name == "x_web_search"
    with pytest.raises(ToolNotFoundError):
        outer.name_of("search")


def test_a_tool_that_is_there_twice_under_other_names_has_to_be_named():
    toolset = Toolset(search, Toolset(search).prefix("a_"), Toolset(fetch).prefix("a_"))
    assert toolset.name_of(search) == "search"  # here it is itself
    both = Toolset(Toolset(fetch).prefix("a_"), Toolset(fetch).prefix("b_"))
    with pytest.raises(ValueError, match="has the tool as a_fetch and b_fetch: give the name"):
        both.name_of(fetch)
    assert fetch in both


# --- prefix --------------------------------------------------------------------------------------


def test_a_prefix_goes_before_names_and_summaries():
    toolset = Toolset(search, fetch).hide(search).prefix("web_", "Web: ")
    assert toolset.names == ("web_search", "web_fetch")
    assert toolset["web_fetch"].summary == "Web: Fetch a page."
    assert toolset.is_hidden("web_search")
    assert toolset.is_hidden(search)
    assert Toolset(fetch).prefix("web_")["web_fetch"].summary == fetch.summary
    assert Toolset(fetch).prefix(descriptions="Web: ").names == ("fetch",)


@pytest.mark.parametrize("prefix", ["a b", "x" * 200, "é"])
def test_a_prefix_that_providers_refuse_is_refused(prefix):
    with pytest.raises(SchemaError):
        Toolset(search).prefix(prefix)


@pytest.mark.parametrize("prefix", [5, None, ("web_",)])
def test_a_prefix_that_is_no_text_is_refused(prefix):
    with pytest.raises(TypeError, match="the prefix of names must be a string, not"):
        Toolset(search).prefix(prefix)
    with pytest.raises(TypeError, match="the prefix of descriptions must be a string, not"):
        Toolset(search).prefix("web_", prefix)


# --- hidden tools --------------------------------------------------------------------------------


def test_off_hides_one_tool_or_a_whole_group():
    toolset = Toolset(search, [Toolset(fetch, pay), ask], remember).hide(Toolset(fetch, pay), [ask, remember])
    assert [toolset.is_hidden(name) for name in toolset.names] == [False, True, True, True, True]
    assert repr(toolset) == "Toolset(search, fetch (hidden), pay (hidden), ask (hidden), remember (hidden))"
    assert toolset.hide(search, ask) == toolset.hide(ask).hide(search)


def test_what_is_hidden_inside_stays_hidden_outside():
    assert Toolset(Toolset(search, fetch).hide(search)).offer().names == ("fetch",)
    assert Toolset(Registry([search]), fetch).hide(Registry([search])).offer().names == ("fetch",)


def test_another_tool_of_the_same_name_is_not_taken_for_it():
    @tool
    def search(query: str) -> str:
        """Search elsewhere."""
        return query

    tools = Toolset(search)
    other = search.with_(summary="Search here.")
    assert other not in tools
    with pytest.raises(
        ValueError, match='"search" is a different tool with the same name: if you mean it, give its name'
    ):
        tools.name_of(other)
