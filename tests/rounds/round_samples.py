"""Tools and helpers that several tests of rounds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from operator_schema import NeedsInput, RawCall, Toolset, skip, tool, tool_input


@tool
def search(query: str, limit: int = 10) -> list[str]:
    """Search the web. The results are sorted by date.

    Args:
        query: words.
        limit: at most so many.
    """
    return [query] * limit


@tool
def fetch(url: str) -> str:
    """Fetch a page."""
    return f"page {url}"


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
def ask(topic: str, answer: Annotated[bool | None, skip] = None) -> str:
    """Ask somebody."""
    if answer is None:
        raise NeedsInput(f"May I tell about {topic}?")
    return f"{topic}: {answer}"


@dataclass
class Remember:
    """Write a note."""

    note: str
    tags: list[str] | None = None


remember = tool_input(Remember)


class Odd:
    """An object whose own code always raises."""

    def __eq__(self, other):
        raise ZeroDivisionError

    def __hash__(self):
        raise ZeroDivisionError

    def __repr__(self):
        raise ZeroDivisionError

    __str__ = __repr__


class Text(str):
    """A string with code of its own."""

    __slots__ = ()

    def __str__(self):
        raise ZeroDivisionError

    __repr__ = __format__ = __str__


toolset = Toolset(search, fetch, pay, ask)


def raw(name, call_id="c1", **arguments):
    return RawCall(call_id, name, arguments)


def ids(calls):
    return [call.id for call in calls]


def names(calls):
    return [call.name for call in calls]


def done(coroutine) -> Any:
    """Return what a coroutine returns that waits for nothing, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise AssertionError("it waits for something")
