"""Tools and helpers that several tests of registries share."""

from __future__ import annotations

from operator_schema import (
    tool,
)


@tool
def web_search(query: str, max_results: int = 5) -> list[str]:
    """Search the web. It takes a while.

    Args:
        query: what to look for.
    """
    return [query] * max_results


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return path


@tool("Delete a file. It is gone for ever.", enabled=False)
def delete_file(path: str) -> None:
    del path


def names(registry):
    return [entry.name for entry in registry]


def told_names(registry):
    return [definition["name"] for definition in registry.definitions()]


MODULE = '''
from operator_schema import tool, tool_input
from dataclasses import dataclass
{imports}

@tool
def second(x: int) -> int:
    "Two."
    return x

@tool
def first(x: int) -> int:
    "One."
    return x

again = first

@tool
def _hidden(x: int) -> int:
    "None."
    return x

@tool_input
@dataclass
class Third:
    """Three."""
    x: int

def plain(x: int) -> int:
    return x
'''
