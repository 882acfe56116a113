"""Tools that do what a server has to bear."""

import asyncio
import logging
import sys
from typing import Annotated, Any

from mcp import MCPError

from operator_schema import CallError, skip, tool
from operator_schema.content import File, Resource
from operator_schema.types import Progress

SURROGATE = "\ud800"  # half of a pair, which UTF-8 can't write
LOG = logging.getLogger("hostile")


@tool
def fine() -> str:
    """Work."""
    return "fine"


@tool
def lone_surrogate() -> str:
    """Return what can't be written."""
    return SURROGATE


@tool
def surrogates_inside() -> dict[str, Any]:
    """Return it inside."""
    return {SURROGATE: SURROGATE}


@tool
def surrogates_in_parts() -> Any:
    """Return it in parts."""
    return [Resource(f"x:{SURROGATE}", text=SURROGATE), File.from_bytes(b"a", "text/plain", SURROGATE)]


@tool(summary=f"A tool {SURROGATE}")
def surrogates_said(progress: Annotated[Progress, skip]) -> str:
    """Say it in every other way."""
    progress(1, 2, SURROGATE)
    LOG.warning("%s", SURROGATE)
    logging.getLogger(f"hostile.{SURROGATE}").warning("again")
    message = f"no {SURROGATE}"
    raise CallError(message)


@tool
def error_of_the_protocol() -> str:
    """Raise one that can't be written."""
    raise MCPError(-32042, SURROGATE, {"what": object()})


@tool
def no_number() -> dict[str, Any]:
    """Return what JSON doesn't have."""
    return {"a": float("nan"), "b": float("inf"), "c": 10**500}


@tool
def deep(levels: int) -> dict[str, Any]:
    """Return something deep."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"value": value}


@tool
def ends() -> str:
    """End the process."""
    sys.exit(3)


@tool
async def ends_async(progress: Annotated[Progress, skip]) -> str:
    """End the process, after a report."""
    progress(1)
    sys.exit("bye")


@tool
async def cancels_itself() -> str:
    """Cancel its own task."""
    asyncio.current_task().cancel()
    await asyncio.sleep(1)
    return "never"


@tool
def odd_progress(progress: Annotated[Progress, skip]) -> str:
    """Report nonsense."""
    for done in (float("nan"), 10**400, -1, True):
        progress(done, float("inf"))
    return "reported"
