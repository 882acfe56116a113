"""Tools and helpers that several tests of the executor share."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest

from operator_schema import (
    Executor,
    RawCall,
    skip,
    tool,
)

SOON = 0.05


class Db:
    def __init__(self, rows=()):
        self.rows = list(rows)


@tool
def add(x: int, y: int = 1) -> int:
    """Add two numbers."""
    return x + y


@tool
async def greet(name: str, db: Annotated[Db, skip]) -> dict[str, Any]:
    """Greet somebody."""
    await asyncio.sleep(0)
    db.rows.append(name)
    return {"hello": name}


@tool
def say(text: str) -> str:
    """Say it."""
    return text


@tool
def ping() -> str:
    """Answer."""
    return "pong"


def one(entry, arguments=None, context=None, **options):
    """Run one call of one tool, in a loop of its own."""
    executor = Executor([entry], **options)
    return asyncio.run(executor.run(RawCall("c1", entry.name, arguments), context=context))


def raising(error, is_async=False):
    if is_async:

        @tool
        async def work() -> None:
            raise error

        return work

    @tool
    def work() -> None:
        raise error

    return work


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
