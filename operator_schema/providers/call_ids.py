"""What does the id of a call say besides which call it is?"""

from __future__ import annotations

__all__ = ["CUSTOM", "OUTPUT", "SEARCHED", "UNNAMED", "given_id"]

UNNAMED = "operator_schema_"
"""The beginning of the ids of calls from a provider that gives none; they are never sent."""

CUSTOM = f"{UNNAMED}custom_"
"""The beginning of the ids of calls of OpenAI's custom tools: they and their results have another form."""

OUTPUT = f"{UNNAMED}output_"
"""The beginning of the ids of answers of a wrong type, which rounds keep like calls: no provider gets one."""

SEARCHED = f"{UNNAMED}search_"
"""The same for searches of tools that OpenAI leaves to your program."""


def given_id(call_id: str) -> str:
    """Return the provider's id of a call, without our prefix."""
    return call_id.removeprefix(CUSTOM).removeprefix(SEARCHED)
