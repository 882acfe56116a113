"""Sync and async functions as tools."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable

import pytest
from tool_samples import quick

from operator_schema import (
    ToolError,
    tool,
)


@tool
async def slow(text: str) -> str:
    await asyncio.sleep(0)
    return text


@tool
def promise(text: str) -> Awaitable[int]:
    async def wait():
        return len(text)

    return wait()


@pytest.mark.needs_threads
def test_async_tools_are_awaited():
    assert slow.is_async
    assert not quick.is_async
    for call in (slow.run, lambda a: slow.call(slow.decode(a))):
        with pytest.raises(ToolError, match="await"):
            call({"text": "a"})
    assert asyncio.run(slow.arun({"text": "a"})) == "a"
    assert asyncio.run(quick.arun({"text": "a"})) == "a"
    assert asyncio.run(slow.acall(slow.decode({"text": "a"}))) == "a"
    assert asyncio.run(tool(functools.partial(slow, "b")).arun({})) == "b"


@pytest.mark.needs_threads
def test_what_gives_something_to_await():
    with pytest.raises(ToolError, match="await arun"):
        promise.run({"text": "abc"})
    assert asyncio.run(promise.arun({"text": "abc"})) == "3"
    assert promise.output_schema() == {"type": "integer"}
