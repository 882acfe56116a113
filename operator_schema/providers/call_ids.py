"""Ids of calls, whose prefixes mark the calls that need another form."""

from __future__ import annotations

UNNAMED = "operator_schema_"
"""The beginning of the ids of calls from a provider that gives no ids; such ids are never sent."""

CUSTOM = f"{UNNAMED}custom_"
"""The beginning of the ids of calls of OpenAI's custom tools: they and their results have another form."""

OUTPUT = f"{UNNAMED}output_"
"""The beginning of the ids of answers of a wrong type, which rounds store like calls; they are never sent."""

SEARCHED = f"{UNNAMED}search_"
"""The beginning of the ids of tool searches that OpenAI leaves to your program."""


def given_id(call_id: str) -> str:
    """Return the provider's id of a call, without our prefix."""
    return call_id.removeprefix(CUSTOM).removeprefix(SEARCHED)
