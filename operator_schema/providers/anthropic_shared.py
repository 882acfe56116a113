"""Anthropic's models: the rules that its own API and Bedrock share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema.dialect import Dialect
from .rules import DATED_FORMATS, IdRule, NameRule, Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

ANTHROPIC_STRICT = Dialect(
    keywords=frozenset({"minItems"}),
    formats=DATED_FORMATS | {"uri"},
    takes_recursion=False,
    most=(("minItems", 1),),
    most_tools=20,
    most_optional=24,
    most_unions=16,
    # The limits apply to all tools together; as much in one tool is refused as too complex.
    most_optional_of_one=23,
    most_unions_of_one=15,
)
"""Source: https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs, and recorded requests"""

ANTHROPIC_RULES = Rules(keys=NameRule(64, "-."), ids=IdRule(64, 1, "_-"))
"""A property name or call id that breaks these rules fails the whole request, also at Bedrock."""


def with_input_object(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call whose `input` is an object, as a request needs it: text that was cut off is wrapped."""
    found: Any = block.get("input")
    return {**block, "input": {"arguments": found}} if isinstance(found, str) else block
