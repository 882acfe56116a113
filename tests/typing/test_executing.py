"""What mypy and pyright say of registry and executor; both run over this file."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, assert_type

import pytest

from operator_schema import CallError, Executor, RawCall, Registry, Tool, ToolResult, Toolset, tool
from operator_schema.errors import DuplicateToolError, ToolNotFoundError
from operator_schema.tools import ToolDefinition

if TYPE_CHECKING:
    from operator_schema.tools.calls import RunAll


@tool
def add(a: int, b: int = 2) -> int:
    if b < 0:
        raise CallError("b is not negative")
    return a + b


def test_a_registry_gives_tools() -> None:
    registry = Registry([add])
    assert_type(registry["add"], Tool[..., Any])
    assert_type(registry.shown("add"), Tool[..., Any])
    assert_type(registry.offered(), list[Tool[..., Any]])
    assert_type(list(registry), list[Tool[..., Any]])
    assert_type(registry.definitions(), list[ToolDefinition])
    assert_type(registry.offered(context={int: 1}), list[Tool[..., Any]])
    registry.switch(registry, enabled=lambda context: "user" in context)
    registry.update(lambda tools: tools.only("add").switch("add", enabled=None))
    assert_type(registry.toolset, Toolset[Any])
    assert_type(registry.on_change(lambda change: change.added), Callable[[], None])
    assert_type(copy.deepcopy(registry), Registry)
    assert_type(Toolset.from_object(object()), Toolset[Any])
    assert_type(Toolset(registry).prefix("x_", "X: "), Toolset[Any])
    assert_type(Registry({"add": add}, Toolset(registry).prefix("x_"), [add.with_(name="plus")]), Registry)
    assert_type(Toolset.from_module(__name__), Toolset[Any])
    registry.switch("add", enabled=False)
    assert_type(registry.is_enabled("add"), bool)
    assert_type(registry.unregister("add"), Tool[..., Any])


def test_a_registered_tool_keeps_its_types() -> None:
    registry = Registry()

    @registry.register
    @tool
    def greet(name: str) -> str:
        return name

    assert_type(greet("x"), str)
    assert_type(greet.call(greet.decode({"name": "x"})), str)


@pytest.mark.needs_threads
def test_a_call_has_a_result() -> None:
    executor = Executor([add], timeout=None, max_concurrency=4, show_errors="type")
    assert_type(executor.registry, Registry)
    call = RawCall("1", "add", {"a": 1})
    assert_type((call.id, call.name), tuple[str, str])
    assert_type([RawCall(None, "add").id, RawCall(name="add", arguments="{}").id], list[str])
    result = asyncio.run(executor.run(call, context={int: 5, "name": "x"}))
    assert_type(result, ToolResult)
    assert_type(result.content, str)
    assert_type(
        result.code,
        Literal[
            "tool_not_found",
            "invalid_params",
            "timeout",
            "execution_failed",
            "disabled",
            "needs_input",
            "not_available",
            "rejected",
            "needs_approval",
            "cut_off",
            "expired",
        ]
        | None,
    )
    assert_type(result.details, Mapping[str, Any] | None)
    assert_type(asyncio.run(executor.run([call])), list[ToolResult])
    assert_type(executor.run_sync(call), ToolResult)
    assert_type(executor.run_sync(iter([call])), list[ToolResult])


async def _unheard(_: int, result: ToolResult) -> ToolResult | None:
    """Take a result as it is."""
    return result


class Plan:
    async def execute_with(self, run_all: RunAll, hooks: int | None, *_: object) -> str:
        return f"{len(await run_all([], _unheard))} {hooks}"


class Round:
    async def execute_with(self, run_all: RunAll, hooks: int | None = None, *_: object) -> str:
        return f"{len(await run_all([], _unheard))} {hooks}"


@pytest.mark.needs_threads
def test_what_a_plan_returns_is_returned() -> None:
    executor = Executor([add])
    assert_type(asyncio.run(executor.run(Plan())), str)
    assert_type(executor.run_sync(Round()), str)
    with pytest.raises(TypeError, match="expected a RawCall, a list of them, or a round"):
        executor.run_sync(5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]  # it isn't any of them


def test_errors_carry_data() -> None:
    assert_type(ToolNotFoundError("a").suggestions, tuple[str, ...])
    assert_type(DuplicateToolError("a").tool, str)
    assert_type(CallError("a").message, str)
