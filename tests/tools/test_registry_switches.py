"""Tools and groups switched on and off."""

from __future__ import annotations

import pytest
from registry_samples import delete_file, names, read_file, told_names, web_search

from operator_schema import Executor, RawCall, Registry, Toolset, describe_tools
from operator_schema.errors import ToolNotFoundError


def test_a_switch_wins_over_the_tool():
    registry = Registry([web_search, delete_file])
    assert told_names(registry) == ["web_search"]
    registry.switch(registry, enabled=False)
    assert told_names(registry) == []
    registry.switch("delete_file", enabled=True)
    assert told_names(registry) == ["delete_file"]
    registry.switch(web_search, "delete_file", enabled=None)
    assert told_names(registry) == ["web_search"]
    assert names(registry) == ["web_search", "delete_file"]


def test_a_function_is_asked_every_time():
    asked = []

    def is_on():
        asked.append(1)
        return len(asked) % 2 == 1

    registry = Registry([read_file.with_(enabled=is_on)])
    assert [told_names(registry) for _ in range(4)] == [["read_file"], [], ["read_file"], []]
    assert len(asked) == 4


def test_switches_are_checked():
    registry = Registry([web_search])
    with pytest.raises(
        TypeError,
        match='enabled must be a boolean, or a function that takes nothing or the context, not string "no"',
    ):
        registry.switch("web_search", enabled="no")
    with pytest.raises(TypeError, match=r"switch needs the tools: switch\(search, enabled=False\)"):
        registry.switch(enabled=False)
    with pytest.raises(ToolNotFoundError):
        registry.switch("web_serch", enabled=True)
    assert registry.is_enabled("web_search")


def test_a_name_that_is_off_is_not_suggested():
    registry = Registry([delete_file])
    with pytest.raises(ToolNotFoundError) as caught:
        registry.shown("delete_fil")
    assert caught.value.suggestions == ()


class User:
    def __init__(self, role):
        self.role = role


def is_admin(context):
    user = context.get(User)
    return user is not None and user.role == "admin"


ADMIN, GUEST = {User: User("admin")}, {User: User("guest")}


def test_a_switch_may_ask_the_context():
    registry = Registry([web_search, read_file.with_(enabled=is_admin)])
    assert [entry.name for entry in registry.offered(context=ADMIN)] == ["web_search", "read_file"]
    assert [entry["name"] for entry in registry.definitions(context=GUEST)] == ["web_search"]
    assert registry.is_enabled("read_file", context=ADMIN)
    for context in (GUEST, {}, None):
        assert not registry.is_enabled("read_file", context=context)
    assert told_names(registry) == ["web_search"]


def test_each_kind_of_switch_may_ask_the_context():
    registry = Registry(Toolset(read_file).switch(read_file, enabled=is_admin))
    assert [registry.is_enabled("read_file", context=given) for given in (ADMIN, GUEST)] == [True, False]
    registry.switch("read_file", enabled=lambda context: not is_admin(context))
    assert [registry.is_enabled("read_file", context=given) for given in (ADMIN, GUEST)] == [False, True]
    assert Registry(Toolset(registry).prefix("p_")).is_enabled("p_read_file", context=GUEST)


def test_the_context_comes_as_it_is_given():
    given = []
    registry = Registry([read_file])
    registry.switch(read_file, enabled=lambda context: not given.append(context))
    assert registry.is_enabled("read_file", context=ADMIN)
    assert registry.is_enabled("read_file")
    assert given == [ADMIN, {}]
    assert given[0] is ADMIN
    with pytest.raises(TypeError):
        given[1]["user"] = "Ada"  # shared by all calls without a context


def test_what_is_off_for_somebody_is_not_suggested_to_them():
    registry = Registry([read_file.with_(enabled=is_admin)])
    with pytest.raises(ToolNotFoundError, match='did you mean "read_file"'):
        registry.shown("read_fil", context=ADMIN)
    with pytest.raises(ToolNotFoundError) as caught:
        registry.shown("read_fil", context=GUEST)
    assert caught.value.suggestions == ()


def test_a_describing_tool_may_be_on_for_some():
    registry = Registry([web_search])
    registry.register(describe_tools(registry).with_(enabled=is_admin))
    assert registry.shown("web_search", context=ADMIN).described_by == "describe_tools"
    assert registry.shown("web_search").described_by is None


@pytest.mark.needs_threads
def test_the_executor_asks_with_the_context_of_the_call():
    secret = read_file.with_(enabled=is_admin, description="Read a file. All of it.")
    registry = Registry([web_search, secret])
    registry.register(describe_tools(registry))
    executor = Executor(registry)

    def codes(call):
        return [executor.run_sync(call, context=context).code for context in (ADMIN, GUEST, None)]

    assert codes(RawCall(name="read_file", arguments={"path": "a"})) == [None, "disabled", "disabled"]
    wrong = RawCall(name="read_fil")
    assert 'did you mean "read_file"' in executor.run_sync(wrong, context=ADMIN).content
    assert "read_file" not in executor.run_sync(wrong, context=GUEST).content
    asks = RawCall(name="describe_tools", arguments={"tools": ["read_file"]})
    assert "All of it." in executor.run_sync(asks, context=ADMIN).content
    for context in (GUEST, {}, None):
        assert executor.run_sync(asks, context=context).content == "No such tool: read_file"


@pytest.mark.needs_threads
def test_a_switch_that_fails_over_the_context_fails_this_call_alone():
    registry = Registry([web_search.with_(enabled=lambda context: context["user"])])
    call = RawCall(name="web_search", arguments={"query": "a"})
    executor = Executor(registry)
    assert executor.run_sync(call).code == "execution_failed"
    assert executor.run_sync(call, context={"user": 1}).code is None


def test_a_registry_with_other_options_keeps_its_switches_and_the_other_registry():
    registry = Registry([read_file, delete_file, web_search])
    registry.switch(registry, enabled=False)
    registry.register(describe_tools(registry))
    registry.switch("web_search", enabled=True)
    made = Toolset(registry).with_(repair=True, timeout=5)
    assert names(made) == ["read_file", "delete_file", "web_search"]
    assert told_names(made) == ["web_search"]
    assert {each.timeout for each in made} == {5}
    assert made["web_search"].decode('{"query": "a", "max_results": "2"}').max_results == 2
    assert registry["web_search"] is web_search
    with pytest.raises(TypeError, match="did you mean repair"):
        Toolset(registry).with_(repairs=True)
