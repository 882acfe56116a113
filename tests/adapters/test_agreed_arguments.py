"""What a person agreed to: which changes of hooks count as other arguments."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from operator_schema import Executor, RawCall, RunNormally, tool
from operator_schema.adapters.asking import is_as_written, key_of

pytestmark = pytest.mark.needs_threads

clock = [100]


def at() -> int:
    return clock[0]


number = iter(range(10**9))


@dataclass(frozen=True)
class Order:
    amount: int
    note: str | None = None
    made: int = field(default_factory=at)
    key: int = field(default_factory=lambda: next(number))


@tool(confirm=True)
def pay(to: str, order: Order, orders: tuple[Order, ...] = (), cc: str | None = None, limit: int = 5) -> str:
    """Pay."""
    return f"{to} {order} {orders} {cc} {limit}"


@dataclass(frozen=True)
class Stamped:
    to: str
    made: int = field(default_factory=at)


@tool(confirm=True)
def send(mail: Stamped, copies: int = 1) -> str:
    """Send."""
    return mail.to * copies


WROTE = {"to": "a", "order": {"amount": 1}, "orders": [{"amount": 2}]}


def asked(change: Any = None, called: Any = pay, wrote: Any = WROTE) -> tuple[bool, str]:
    """Have a person asked about a call, a second after it came; return what an adapter finds out about it."""
    found: list[tuple[bool, str]] = []

    def confirm(call):
        clock[0] += 1
        found.append((is_as_written(call), key_of(call)))
        return True

    hooks = None if change is None else lambda call: RunNormally(input=change(call))
    executor = Executor([called], hooks=hooks)
    asyncio.run(executor.run(RawCall("1", called.name, wrote), confirm=confirm))
    return found[0]


def with_(**changes: Any) -> Any:
    return lambda call: replace(call.input, **changes)


def with_order(**changes: Any) -> Any:
    return lambda call: replace(call.input, order=replace(call.input.order, **changes))


@pytest.mark.parametrize(
    "change",
    [
        with_(to="b"),
        with_(limit=6),
        with_(cc="b"),  # which isn't written as long as it is None
        with_order(amount=1000),
        with_order(note="b"),
        lambda call: replace(call.input, orders=(replace(call.input.orders[0], amount=1000),)),
        lambda call: replace(call.input, orders=(*call.input.orders, Order(1000))),
        lambda call: replace(call.input, orders=()),
    ],
)
def test_a_change_of_a_hook_is_found_beside_what_defaults_give_anew(change):
    is_same, key = asked(change)
    assert not is_same
    assert key != asked()[1]


@pytest.mark.parametrize(
    "change",
    [None, lambda call: call.input, lambda call: replace(call.input), lambda call: call.tool.decode(WROTE)],
)
def test_what_defaults_give_anew_is_no_change(change):
    assert asked(change) == (True, asked()[1])


def test_a_clock_that_gives_two_decodes_the_same_time_changes_nothing():
    first, second = (asked(called=send, wrote={"mail": {"to": "a"}}) for _ in range(2))
    assert first == second
    assert first[0]


def test_the_same_change_has_the_same_key_each_time():
    assert asked(with_order(amount=1000))[1] == asked(with_order(amount=1000))[1]
    assert asked(with_order(amount=1000))[1] != asked(with_order(amount=1001))[1]


def test_a_key_that_the_tool_ignores_may_hold_what_cant_be_encoded():
    assert asked(called=send, wrote={"mail": {"to": "a"}, "\ud800": "\udc00"})[0]
