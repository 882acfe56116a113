"""An executor as the target of commands: its hooks, context and limits hold."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.needs_threads


def test_its_context_is_injected(run):
    assert run("call", "host:executor.db_count", "table=users")[:2] == (0, "3\n")
    assert run("call", "host:executor.db_count", "table=users", "--context", "host:make_context")[1] == "3\n"


def test_its_hooks_decide(run):
    status, out, err = run("call", "host:executor.db_count", "table=secrets")
    assert (status, out) == (1, "")
    assert "This call was rejected: nobody reads secrets" in err


def test_what_a_hook_defers_needs_a_person(run):
    for more in ((), ("--yes",)):
        status, out, err = run("call", "host:executor.db_count", "table=payroll", *more)
        assert (status, out) == (1, "")
        assert "db_count was not run: a person has to agree to it first" in err


def test_its_switches_hold(run):
    assert "db_drop" in run("call", "host:executor.db_drop", "table=users")[2]
    assert run("call", "host:registry.db_drop", "table=users")[1] == "dropped\n"


@pytest.mark.parametrize("command", ["tools", "check"])
def test_commands_about_tools_take_it(run, command):
    status, out, _ = run(command, "host:executor")
    assert status == 0
    if command == "tools":
        assert "db_count" in out
        assert "off" in out


def test_describe_takes_a_tool_of_it(run):
    assert "Count rows." in run("describe", "host:executor.db_count")[1]


def test_a_function_may_make_it(run):
    assert run("call", "host:make_executor.db_count", "--rows", "7", "table=users")[1] == "7\n"
    assert "db_count" in run("tools", "host:make_executor")[1]
    status, _, err = run("call", "host:make_executor")
    assert status == 2
    assert "add a dot and the name of one" in err


def test_a_name_behind_it_is_looked_up_in_its_tools(run):
    assert "did you mean db_count?" in run("call", "host:executor.db_cuont")[2]


def test_hooks_of_a_toolset_hold_too(run):
    assert run("call", "host:guarded.db_count", "table=secrets", "--context", "host:context")[0] == 1
    status, out, _ = run("call", "host:guarded.db_count", "table=users", "--context", "host:context")
    assert (status, out) == (0, "3\n")
