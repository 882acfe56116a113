"""What a program gives in place of tools, calls, rounds and options is refused with what to write instead."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import pytest

from operator_schema import Executor, RawCall, Registry, Reject, Toolset, tool

pytestmark = pytest.mark.needs_threads


@tool
def add(x: int) -> int:
    """Add."""
    return x


@tool
def greet(name: str) -> str:
    """Greet."""
    return name


executor = Executor([add])
CALL = RawCall("1", "add", {"x": 1})


def refused(make, *given, **options):
    with pytest.raises(TypeError) as caught:
        make(*given, **options)
    return str(caught.value)


# --- tools ---------------------------------------------------------------------------------------


def test_several_tools_are_what_every_door_takes():
    for door in (Toolset, Registry):
        assert [one.name for one in door(add, [greet])] == ["add", "greet"]
    for given in (add, [add], Toolset(add), Registry(add), {"add": add}, (one for one in [add])):
        assert [one.name for one in Executor(given).registry] == ["add"]


def test_a_module_has_its_tools_by_from_module():
    remedy = "Toolset.from_module(module) takes its tools"
    for door in (Registry, Executor, Registry().register, Toolset):
        for given in (json, [json]):
            assert refused(door, given) == f"the module json isn't a Tool: {remedy}"


# --- functions that are asked --------------------------------------------------------------------


async def _makes_context(_): ...


def _yields(_):
    yield True


class _Desk:
    def ask(self, call): ...


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"context": _makes_context}, "or a plain function that returns one, not an async one"),
        ({"context": _Desk}, "or a plain function that returns one, not the class _Desk itself"),
        ({"context": _yields}, "given as context is a generator: return the answer, rather than yield"),
        ({"confirm": _yields}, "given as confirm is a generator: return the answer, rather than yield"),
        (
            {"confirm": _Desk.ask},
            "as confirm is a method without its instance; give desk.ask, where desk is an",
        ),
        ({"confirm": lambda: True}, "given as confirm has to take one argument, a ToolCall"),
    ],
)
def test_a_function_that_can_not_be_asked_is_refused_at_once(options, said):
    assert said in refused(Executor, [add], **options)


def test_a_report_is_a_plain_function():
    async def brief(error): ...

    with pytest.raises(ValueError, match="report must be a plain function from a DecodeError to a string"):
        Executor([add], report=brief)


def test_a_decision_that_lacks_its_parentheses_is_named():
    risky = tool(confirm=True)(add.__wrapped__)
    asking = Executor([risky], confirm=lambda call: Reject)
    result = asking.run_sync(CALL)
    assert result.code == "needs_approval"
    assert str(result.details["exception"]).endswith("or None, not the class Reject: write Reject(…)")


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["on_progress", "confrim", "max_thread", "zzz", "__doc__", ""])
def test_an_option_that_an_executor_does_not_have(option):
    for make in (partial(Executor, [add]), executor.with_):
        message = refused(make, **{option: None})
        assert message.startswith(f"Executor.__init__() got an unexpected keyword argument '{option}'")


@pytest.mark.parametrize("wrong", [[1], {"Db"}, 5, "db", dict, greet])
def test_a_context_that_is_no_mapping_is_refused_before_a_call_runs_whatever_its_tool_needs(wrong):
    expected = "the context of a call must be a mapping, as in {Db: db}, not "
    for doors in (executor, Executor([add], context=lambda _: {})):
        for work in (CALL, [CALL]):
            assert refused(doors.run_sync, work, context=wrong).startswith(expected)
        assert refused(doors.stream, [CALL], context=wrong).startswith(expected)
        assert refused(doors.missing_context, wrong).startswith(expected)


def test_a_function_that_makes_something_else_than_a_context_is_told_so():
    made = Executor([add], context=lambda _: [1])
    assert refused(made.run_sync, CALL).endswith("must be a mapping, as in {Db: db}, not array [1]")


def test_several_tools_of_an_executor_are_a_list():
    assert refused(Executor, add, greet).endswith("takes 2 positional arguments but 3 were given")


def test_the_tools_of_an_executor_may_be_named():
    assert Executor(tools=[add]).run_sync(CALL).content == executor.run_sync(CALL).content


# --- calls ---------------------------------------------------------------------------------------


@dataclass
class FunctionCall:
    """As the objects of an SDK."""

    type: str = "function"


class Raising:
    @property
    def type(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (FunctionCall(), ": openai_chat.answer(response, offer).calls makes them"),
        ({"type": "function", "function": {}}, ": openai_chat.answer(response, offer).calls makes them"),
        (FunctionCall("function_call"), ": openai_responses.answer(response, offer).calls makes them"),
        ({"type": "tool_use", "input": {}}, ": anthropic.answer(response, offer).calls makes them"),
        (FunctionCall("else"), ""),
        (FunctionCall([]), ""),
        ({"name": "add"}, ""),
        (Raising(), ""),
        ("add", ""),
        (None, ""),
        (
            Toolset(add).offer().round([CALL]).calls[0],
            ": executor.run(round) runs the calls of a round",
        ),
    ],
)
def test_what_is_given_in_place_of_a_call(given, remedy):
    wanted = "expected a RawCall, a list of them, or a round, not "
    listed = "a call must be a RawCall(id, name, arguments), not "
    doors = ((executor.run_sync, wanted), (lambda call: executor.run_sync([CALL, call]), listed))
    for refuse, start in doors:
        message = refused(refuse, given)
        assert message.startswith(start)
        assert message.endswith(remedy)
        assert remedy or "makes them" not in message
        assert len(message) < 300


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ([CALL], ": executor.run(calls) runs several"),
        ((CALL,), ": executor.run(calls) runs several"),
        ([], ""),
        (Toolset(add).offer().round([CALL]), ": executor.run(…) runs it"),
    ],
)
def test_what_is_given_among_calls(given, remedy):
    message = refused(executor.run_sync, [CALL, given])
    assert message.startswith("a call must be a RawCall(id, name, arguments), not ")
    assert message.endswith(remedy)


def test_what_is_given_in_place_of_a_list_of_calls():
    answer = type("Answer", (), {"calls": [CALL], "message": []})()
    assert refused(executor.run_sync, answer) == (
        "expected a RawCall, a list of them, or a round, not Answer: "
        "give its calls, or make a round from it: offer.round(answer)"
    )
    assert refused(executor.stream, answer) == "expected a list of calls, not Answer: give its calls"
    assert refused(executor.run_sync, FunctionCall()).endswith(
        "openai_chat.answer(response, offer).calls makes them"
    )
    assert refused(executor.stream, 5) == "expected a list of calls, not integer 5"


class Fields:
    """As the responses of some SDKs: iterating over one gives its fields."""

    def __init__(self, **fields):
        vars(self).update(fields)

    def __iter__(self):
        return iter(vars(self).items())


@pytest.mark.parametrize(
    ("fields", "provider"),
    [
        ({"id": "1", "choices": []}, "openai_chat"),
        ({"role": "assistant", "tool_calls": []}, "openai_chat"),
        ({"candidates": []}, "gemini"),
        ({"content": [], "stop_reason": "tool_use"}, "anthropic"),
        ({"output": {"message": {}}, "stopReason": "tool_use"}, "bedrock"),
        ({"id": "1", "output": []}, "openai_responses"),
    ],
)
def test_a_whole_response_in_place_of_its_calls(fields, provider):
    remedy = f": a provider reads the whole response, as in offer.round({provider}.answer(response, offer))"
    for response in (fields, SimpleNamespace(**fields), Fields(**fields)):
        for refuse in (executor.run_sync, executor.stream, Toolset(add).offer().round):
            message = refused(refuse, response)
            assert message.startswith("expected a ")
            assert message.endswith(remedy)
            assert len(message) < 300


def test_one_call_as_a_dict():
    given = {"name": "add", "arguments": {"a": 1}}
    for refuse in (executor.run_sync, Toolset(add).offer().round, lambda one: executor.run_sync([one])):
        assert refused(refuse, given).endswith(": write RawCall(name=…, arguments=…)")


def test_a_dict_that_fails_when_it_is_read_is_refused_as_any_other():
    class Failing(dict):
        def __contains__(self, key):
            raise ZeroDivisionError

    assert refused(Toolset(add).offer().round, Failing()).startswith("expected a list of calls, not ")


def test_saved_data_are_no_round_yet():
    message = refused(executor.run_sync, Toolset(add).offer().round([CALL]).as_dict())
    assert message.endswith(": toolset.restore_round(data) makes a round from what round.as_dict() returned")
