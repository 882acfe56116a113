"""Doubles of tools: they answer, refuse as the tool does, and remember; and the strategy of results."""

from __future__ import annotations

import asyncio
import copy
import inspect
import pickle
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

import pytest
from annotated_types import MaxLen
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import DecodeError, Executor, RawCall, Toolset, skip, tool, tool_input
from operator_schema.providers import anthropic, openai_chat
from operator_schema.testing import ToolDouble, arguments, drawn, near_misses, results
from operator_schema.tools import Image, document_tool

pytestmark = pytest.mark.needs_threads


@dataclass
class Order:
    """An order."""

    id: str
    due: date
    total: float = 0.0


def never(*_: Any) -> None:
    raise SystemError("the function of a tool ran")


@tool
def find(order_id: str, limit: int = 3) -> list[Order]:
    """Find orders.

    Args:
        order_id: of one of them.
    """
    never(order_id, limit)


@tool
async def fetch(order_id: str, database: Annotated[object, skip]) -> Order:
    """Fetch an order."""
    never(order_id, database)


@tool_input(output=str)
@dataclass
class Ask:
    """Ask a person."""

    question: str


@tool
def undeclared(text: str):
    """Do something."""
    return text


ORDER = Order("A7", date(2026, 1, 2), 3.5)


def test_a_double_is_offered_as_its_tool():
    double = ToolDouble(find)
    assert double.definition() == find.definition()
    assert double.output_schema() == find.output_schema()
    for provider in (openai_chat, anthropic):
        assert provider.request(Toolset(double)) == provider.request(Toolset(find))
    assert (double.name, double.signature) == (find.name, find.signature)
    assert double != find
    assert repr(double) == "ToolDouble(<FindTool 'find'>)"


@given(value=near_misses(find))
def test_a_double_refuses_in_the_words_of_its_tool(value):
    with pytest.raises(DecodeError) as own:
        find.decode(value)
    double = ToolDouble(find, [ORDER])
    with pytest.raises(DecodeError) as doubled:
        double.run(value)
    assert str(doubled.value) == str(own.value)
    assert double.calls == []


@given(value=arguments(find))
def test_a_double_takes_what_its_tool_takes(value):
    double = ToolDouble(find, [ORDER])
    assert double.run(value) == '[{"id":"A7","due":"2026-01-02","total":3.5}]'
    (call,) = double.calls
    assert (call.name, call.input) == ("find", find.decode(value))
    assert call.arguments == find.encode_input(find.decode(value))


def test_generated_results_fit_the_type_and_repeat_for_a_seed():
    def run(seed):
        double = ToolDouble(find, seed=seed)
        return [double("A7") for _ in range(40)]

    first = run(1)
    assert first == run(1)
    assert first != run(2)
    assert all(isinstance(order, Order) for found in first for order in found)
    assert len({str(found) for found in first}) > 5


def test_a_generated_result_belongs_to_whoever_gets_it():
    double = ToolDouble(find, seed=1)
    kept = [[*double("A7")] for _ in range(25)]
    again = ToolDouble(find, seed=1)
    for _ in range(25):
        again("A7").append("changed")
    assert [again("A7") for _ in range(25)] == kept


def test_answers_come_one_after_the_other():
    double = ToolDouble(
        find, answers=[[ORDER], ValueError("closed"), lambda asked: [Order(asked.order_id, ORDER.due)]]
    )
    assert double("A7") == [ORDER]
    with pytest.raises(ValueError, match="closed"):
        double("A7")
    assert double("A9")[0].id == "A9"
    with pytest.raises(AssertionError, match='the double of "find" has 3 answers, and this is call 4'):
        double("A7")
    assert [call.arguments for call in double.calls][2:] == [
        {"order_id": "A9", "limit": 3},
        {"order_id": "A7", "limit": 3},
    ]


@pytest.mark.parametrize("tool", [find, fetch])
def test_a_call_beyond_the_answers_fails_the_test_also_through_an_executor(tool):
    executor = Executor(ToolDouble(tool, answers=[]))
    call = RawCall("c1", tool.name, {"order_id": "A7"})
    with pytest.raises(AssertionError, match="has 0 answers, and this is call 1"):
        executor.run_sync(call)
    with pytest.raises(AssertionError, match="has 0 answers, and this is call 2"):
        executor.run_sync([call])


def test_a_given_answer_is_written_as_the_result_of_the_tool():
    result = Executor(ToolDouble(find, "no list")).run_sync(RawCall("c1", "find", {"order_id": "A7"}))
    assert result.details is not None
    assert result.details["mismatches"]


@pytest.mark.needs_threads
def test_an_executor_runs_the_double_in_place_of_the_tool():
    doubles = [ToolDouble(find, [ORDER]), ToolDouble(fetch, ORDER), ToolDouble(Ask, "yes")]
    executor = Executor(doubles)
    calls = [
        RawCall("c1", "find", {"order_id": "A7"}),
        RawCall("c2", "fetch", {"order_id": "A7"}),
        RawCall("c3", "ask", {"question": "Shall I?"}),
        RawCall("c4", "find", {"order_id": 7}),
    ]
    found = executor.run_sync(calls)
    assert [result.json for result in found[:3]] == [
        [{"id": "A7", "due": "2026-01-02", "total": 3.5}],
        {"id": "A7", "due": "2026-01-02", "total": 3.5},
        "yes",
    ]
    own = Executor(find).run_sync(calls[3])
    assert (found[3].content, found[3].code) == (own.content, own.code)
    assert [len(double.calls) for double in doubles] == [1, 1, 1]
    assert executor.missing_context() == {}


def test_a_round_runs_the_double_of_a_tool_without_a_function():
    double = ToolDouble(Ask, "yes")
    toolset = Toolset(double)
    done = Executor(toolset).run_sync(toolset.offer().round([RawCall("c1", "ask", {"question": "Shall I?"})]))
    assert [call.content for call in done.calls] == ["yes"]


@pytest.mark.needs_threads
def test_async_tools_are_awaited():
    async def answer(asked):
        return Order(asked.order_id, ORDER.due)

    async def run():
        double = ToolDouble(fetch, answer)
        return (
            await double("A1"),
            await double.acall(fetch.input_type("A2")),
            await double.arun({"order_id": "A3"}),
        )

    called, given_input, text = asyncio.run(run())
    assert [called.id, given_input.id] == ["A1", "A2"]
    assert '"A3"' in text


def test_a_double_is_called_from_python_like_its_function():
    double = ToolDouble(find, [ORDER])
    assert double("A7", limit=9) == [ORDER]
    assert double.calls[0].input == find.input_type("A7", 9)
    with pytest.raises(TypeError):
        double()
    assert ToolDouble(Ask, "yes")("Shall I?") == Ask("Shall I?")


def test_copies_of_a_double_remember_together():
    double = ToolDouble(find, [ORDER])
    other = double.with_(name="search")
    assert isinstance(other, ToolDouble)
    other.run({"order_id": "A7"})
    assert [call.name for call in double.calls] == ["search"]
    assert copy.deepcopy(double) is copy.copy(double) is double
    with pytest.raises(TypeError, match="can't be pickled"):
        pickle.dumps(double)


def test_methods_have_doubles():
    class Shop:
        @tool
        def close(self, hour: int) -> bool:
            """Close the shop."""
            never(self, hour)

    double = ToolDouble(Shop().close, answer=True)
    assert Executor(double).run_sync(RawCall("c1", "close", {"hour": 3})).json is True


def test_tools_of_documents_have_doubles():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def remote(arguments: dict[str, Any]) -> Any:
        never(arguments)

    described = document_tool(
        remote,
        schema,
        output_schema={"type": "object", "properties": {"m": {"type": "integer"}}, "required": ["m"]},
    )
    double = ToolDouble(described, seed=3)
    result = Executor(double).run_sync(RawCall("c1", "remote", {"n": 1}))
    assert type(result.json["m"]) in {int, float}
    assert double.calls[0].arguments == {"n": 1}
    assert Executor(double).run_sync(RawCall("c1", "remote", {"n": "x"})).code == "invalid_params"


@pytest.mark.parametrize("given_tool", [find.__wrapped__, "find", None])
def test_only_a_tool_has_a_double(given_tool):
    with pytest.raises(TypeError, match=r"^ToolDouble takes a tool made by @tool"):
        ToolDouble(given_tool)
    with pytest.raises(TypeError, match=r"^results takes a tool made by @tool"):
        results(given_tool)


def test_to_draw_results_reads_no_source(monkeypatch):
    """Hypothesis reads and hashes the source of a test each time, which takes longer than to draw a value."""
    monkeypatch.setattr(inspect, "getsource", lambda _: pytest.fail("a source is read"))
    assert drawn(st.integers(), 3, 5) == drawn(st.integers(), 3, 5)
    assert len({tuple(drawn(st.integers(), seed, 5)) for seed in range(5)}) > 1


def test_answer_and_answers_are_not_given_together():
    with pytest.raises(TypeError, match="either answer, for each call, or answers"):
        ToolDouble(find, 1, answers=[2])


def test_without_a_declared_result_the_answer_has_to_be_given():
    with pytest.raises(ValueError, match='"undeclared" doesn\'t say what it returns: annotate its result'):
        ToolDouble(undeclared)
    assert ToolDouble(undeclared, None)("x") is None


@tool
def picture(text: str) -> Image:
    """Draw."""
    never(text)


def test_results_of_parts_have_to_be_given():
    with pytest.raises(ValueError, match="doesn't say what it returns"):
        results(picture)


@tool
def short(text: str) -> Annotated[str, MaxLen(3)]:
    """Shorten."""
    return text


@tool
def nothing(text: str) -> None:
    """Do something."""


@given(results(find), results(fetch), results(short), results(nothing), results(Ask))
def test_results_are_what_the_function_would_return(orders, order, text, none, answer):
    assert all(isinstance(order, Order) for order in orders)
    assert find.write_output(orders).notes == ()
    assert isinstance(order, Order)
    assert len(text) <= 3
    assert none is None
    assert isinstance(answer, str)
