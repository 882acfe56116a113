"""Tools that the tests serve in processes of their own."""

import asyncio
import logging
import os
import sys
from dataclasses import dataclass
from typing import Annotated

from operator_schema import Registry, Toolset, skip, tool
from operator_schema.types import Progress

print("printed at import")  # noqa: T201  # what must not reach the client
os.write(1, b"written at import\n")

registry = Registry()


@dataclass
class Sum:
    total: int


@registry.register
@tool(title="Add numbers", read_only=True, idempotent=True)
def add(a: int, b: int = 0) -> Sum:
    """Add.

    Args:
        a: One.
        b: Another.
    """
    return Sum(a + b)


@registry.register
@tool
def size_of(text: str) -> int:
    """Count the characters."""
    return len(text)


@registry.register
@tool(max_content=20_000_000)
def make(size: int) -> str:
    """Return a long text."""
    return "x" * size


@registry.register
@tool
def shout() -> str:
    """Write to standard output in every way, and read standard input."""
    print("printed")  # noqa: T201  # what must not reach the client
    sys.stdout.write("written\n")
    os.write(1, b"written by the system\n")
    os.system("echo a child; echo its error >&2")  # noqa: S605, S607  # as a careless tool does it
    logging.getLogger("acme").warning("logged")
    return repr(sys.stdin.read(1))


@registry.register
@tool
def variable(name: str) -> str:
    """Read a variable of the environment."""
    return str(os.environ.get(name))


@registry.register
@tool
async def wait(seconds: float, progress: Annotated[Progress, skip]) -> str:
    """Wait."""
    progress(0, 1, "started")
    try:
        await asyncio.sleep(seconds)
    finally:
        sys.stderr.write("waited\n")
        sys.stderr.flush()
    return "done"


@registry.register
@tool(confirm=True, destructive=True)
def delete(path: str) -> str:
    """Delete."""
    return f"{path} is gone"


@registry.register
@tool
def late() -> str:
    """Register another tool."""
    if "later" in registry:
        registry.unregister("later")

    @registry.register
    @tool
    def later() -> str:
        """Come later."""
        return "later"

    return "registered"


toolset = Toolset(add, delete).hide(delete)


def make_context():
    return {}
