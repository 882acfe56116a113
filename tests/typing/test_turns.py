"""What mypy and pyright say of toolsets, rounds, hooks and plans; both run over this file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never, assert_type

import pytest

from operator_schema import (
    Complete,
    Defer,
    Executor,
    Finding,
    Offer,
    RawCall,
    Registry,
    Reject,
    Round,
    RoundError,
    RunNormally,
    Tool,
    ToolCall,
    ToolResult,
    Toolset,
    Transcript,
    Turn,
    hook,
    tool,
    tool_input,
)
from operator_schema.providers import ToolChoice
from operator_schema.rounds import CommitError, Decision, HookError, Hooks, rejection_reason
from operator_schema.tools import ToolDefinition


@dataclass
class Ask:
    """Ask a person."""

    question: str


@dataclass
class Search:
    """Search the web."""

    query: str


@tool
def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


web: Toolset[Ask | Search] = Toolset(tool_input(Ask), tool_input(Search))

CALLS = [RawCall("1", "ask", {"question": "why"}), RawCall("2", "search", {"query": "q"})]


def described(call: ToolCall[Ask | Search]) -> str:
    match call.input:
        case Ask(question=question):
            return question
        case Search(query=query):
            return query
        case _ as other:
            assert_never(other)


def run(call: ToolCall[Ask | Search]) -> ToolResult:
    return call.complete(described(call))


def test_a_toolset_is_typed_by_its_inputs() -> None:
    assert_type(Toolset(add, add.with_(name="plus"), Registry([])).hide(add.with_(name="plus")), Toolset[Any])
    assert_type(web.names, tuple[str, ...])
    assert_type(web["ask"], Tool[..., Any])
    assert_type(list(web), list[Tool[..., Any]])
    assert_type(web.definitions(only=web), list[ToolDefinition])
    assert_type(web.only("ask"), Toolset[Any])
    assert_type(web | Toolset(add), Toolset[Any])
    assert_type(web.prefix("web_"), Toolset[Any])
    assert_type(web.name_of(web["ask"]), str)
    wider: Toolset[Ask | Search | int] = web  # covariant: nothing takes inputs
    assert wider == web


def test_an_offer_and_its_round_keep_the_type() -> None:
    offer = web.offer(only=["ask"], required="ask", descriptions={"ask": "x"}, context={int: 1})
    assert_type(offer, Offer[Ask | Search])
    assert_type(offer.choice, ToolChoice)
    assert_type(offer.choice.mode, Literal["auto", "required", "named", "none"])
    assert_type(offer.round(CALLS), Round[Ask | Search])
    found = web.offer().round(CALLS, assistant={"text": "hm"})
    assert_type(found, Round[Ask | Search])
    assert_type(found.calls, tuple[ToolCall[Ask | Search], ...])
    assert_type(found.calls[0].input, Ask | Search)
    assert_type(found.issues, tuple[ToolCall[Ask | Search], ...])
    assert_type(found.continue_suggestion, str | None)
    assert [described(call) for call in found.calls] == ["why", "q"]
    with pytest.raises(TypeError, match="expected a list of calls"):
        web.offer().round(CALLS[0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # one alone
    with pytest.raises(TypeError, match="strict must be"):
        web.offer(strict="none")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # it isn't one of them


def test_one_call() -> None:
    call = web.offer().round(CALLS[:1]).expect_one()
    assert_type(call, ToolCall[Ask | Search])
    assert_type(web.offer().round(CALLS[:1]).expect_at_most_one(), ToolCall[Ask | Search] | None)
    assert_type(call.raw, RawCall)
    assert_type(call.arguments, dict[str, Any])
    assert_type(call.complete("x"), ToolResult)
    assert_type(call.fail("x"), ToolResult)
    assert_type(call.handled("x"), ToolCall[Ask | Search])
    assert_type(call.reject("no"), ToolCall[Ask | Search])
    assert_type(call.defer("wait"), ToolCall[Ask | Search])
    assert_type(call.state, Literal["pending", "handled", "rejected", "deferred", "issue"])
    result = call.reject("no").result
    assert_type(result, ToolResult | None)
    assert result is not None
    assert_type(rejection_reason(result), str | None)


@hook("ask")
def polite(call: ToolCall[Ask]) -> RunNormally | Reject | None:
    if not call.input.question:
        return Reject("ask something")
    return RunNormally(Ask(f"{call.input.question}, please")) if call.approved else None


@hook("search")
async def cached(call: ToolCall[Search]) -> Complete | Defer | None:
    return Complete("x") if call.input.query else Defer("wait")


@hook.describe("ask")
def shorter(definition: ToolDefinition) -> str | None:
    return definition["description"][:100]


class Policy:
    @hook("ask")
    def limit(self, call: ToolCall[Ask]) -> Reject | None:
        return Reject("long") if len(call.input.question) > 100 else None


def everything(call: ToolCall[Any]) -> RunNormally:
    return RunNormally(approved=bool(call.id))


@pytest.mark.needs_threads
def test_hooks() -> None:
    hooks = Hooks(polite, cached, Policy(), everything, shorter, decides, toolset=web)
    assert_type(hooks, Hooks)
    assert_type(hooks | Hooks(everything), Hooks)
    assert_type(asyncio.run(hooks.descriptions(web)), dict[str, str])
    assert_type(asyncio.run(web.offer().round(CALLS).apply(hooks)), Round[Ask | Search])
    assert_type(asyncio.run(web.offer().round(CALLS).apply(everything)), Round[Ask | Search])
    # A marked function keeps its own type.
    assert_type(polite(ToolCall.defer(web.offer().round(CALLS).calls[0])), RunNormally | Reject | None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # it takes no Search
    with pytest.raises(TypeError, match="hook needs the tools"):
        hook()
    with pytest.raises(TypeError, match="takes names"):
        hook(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # not a tool


def test_plans() -> None:
    plan = web.offer().round(CALLS).confirmed()
    assert_type(plan, Round[Ask | Search])
    assert_type(plan.pending, tuple[ToolCall[Ask | Search], ...])
    assert_type(plan.deferred, tuple[ToolCall[Ask | Search], ...])
    assert_type(plan.handled, tuple[ToolCall[Ask | Search], ...])
    assert_type(plan.rejected, tuple[ToolCall[Ask | Search], ...])
    assert_type(plan.is_complete, bool)
    assert_type(plan.reject("1", "no"), Round[Ask | Search])
    assert_type(plan.with_results([run(plan.pending[0])]), Round[Ask | Search])
    assert_type(plan.as_dict(secret=b"a key of 16 byte"), dict[str, Any])
    assert_type(web.restore_round(plan.as_dict()), Round[Ask | Search])
    with pytest.raises(RoundError):
        plan.approve("1", input=Ask("x"))
    with pytest.raises(RoundError):
        plan.answer(0, [1])
    with pytest.raises(TypeError, match="choose a call"):
        plan.approve(1.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # not a position


def test_a_commit() -> None:
    transcript = Transcript([{"role": "user"}])
    found = web.offer().round(CALLS)
    try:
        found.commit(transcript, results=[])
    except CommitError as error:
        assert_type(error.findings, tuple[Finding, ...])
        assert_type(error.count, int | None)
    turn = found.commit(transcript, results=[run(found.calls[0]), found.calls[1].reject()])
    assert_type(turn, Turn)
    assert_type(turn.results, tuple[ToolResult, ...])
    assert_type(turn.as_dict(), dict[str, Any])
    items: list[Turn] = []
    web.offer().round(CALLS[:1]).commit(items, results=[turn.results[0]])
    assert_type(items, list[Turn])
    with pytest.raises(TypeError):
        web.offer().round([]).commit(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # it has no append
    with pytest.raises(TypeError, match="append is async"):
        web.offer().round([]).commit(Later())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # it is async


ITEMS: list[Turn] = []


class Later:
    async def append(self, turn: Turn, /) -> None:
        ITEMS.append(turn)


@hook("ask")
def decides(call: ToolCall[Ask]) -> Decision:
    if call.input.question:
        return RunNormally()
    return None if call.approved else Defer("no question")


def fails(call: ToolCall[Any]) -> None:
    raise ValueError(call.id)


@pytest.mark.needs_threads
def test_an_executor_returns_the_plan() -> None:
    executor = Executor(Toolset(add))
    found: Round[Any] = Toolset(add).offer().round([RawCall("1", "add", {"a": 1})])
    done = executor.run_sync(found)
    assert_type(done, Round[Any])
    assert_type(asyncio.run(executor.run(done)), Round[Any])
    typed = web.offer().round([])
    assert_type(Executor(Toolset(add), hooks=[everything]).run_sync(typed), Round[Ask | Search])
    another: Round[Any] = Toolset(add).offer().round([RawCall("1", "add", {"a": 1})])
    with pytest.raises(HookError) as caught:
        Executor(Toolset(add), hooks=fails).run_sync(another)
    assert_type(caught.value.round, Round[Any])
    empty: Mapping[str, str] = {}
    assert_type(web.offer(descriptions=empty), Offer[Ask | Search])


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def own_names(call: ToolCall, work: Round, tools: Toolset, offer: Offer, one: Tool) -> list[str]:
    assert_type(call, ToolCall[Any])
    assert_type(work, Round[Any])
    assert_type(tools, Toolset[Any])
    assert_type(offer, Offer[Any])
    assert_type(one, Tool[..., Any])
    return [call.name, one.name, *[each.name for each in work.calls], *tools.names]


def test_names_without_types_in_brackets_mean_any_type() -> None:
    tools = Toolset(double)
    offer = tools.offer()
    work = offer.round([RawCall("1", "double", {"number": 1})])
    assert own_names(work.calls[0], work, tools, offer, double) == ["double"] * 4
