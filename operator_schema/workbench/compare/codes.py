"""What do the codes of changes mean, and how do reports name them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...tools import MCP_HINTS

if TYPE_CHECKING:
    from collections.abc import Mapping

CODES: Final[Mapping[str, str]] = {
    "added": "a tool is new",
    "removed": "a tool is gone",
    "renamed": "a tool or an argument has another name",
    "required": "a key has to be given, or need not be given any more",
    "new_key": "a key is named that was ignored as unknown",
    "ignored": "an argument is gone, and ignored",
    "unknown": "a key is refused that was allowed, or the other way round",
    "closed": "unknown keys are refused, or no longer",
    "key": "the names of keys",
    "type": "the type",
    "not_one_of": "the values to choose from",
    "default": "the default",
    "minimum": "the least number",
    "maximum": "the greatest number",
    "multiple_of": "the step of a number",
    "min_length": "the least length of a text, or number of items or keys",
    "max_length": "the greatest length, or number of items or keys",
    "length": "how many keys there may be",
    "pattern": "the pattern of a text",
    "format": "the format of a text",
    "unique": "whether items may be equal",
    "output": "results are described, or no longer",
    "description": "a description",
    **dict.fromkeys((*MCP_HINTS, "confirm"), "what the tool says about itself"),
    "decoder": "whether it is known which values the decoder takes beside the schema",
    "schema": "something else in a schema",
    "too_large": "the schemas are too large to be compared to the end",
}
"""The kind of difference for each code of a change; a keyword that can't be read is its own code, such as
`not`."""

_LABELS: Final[Mapping[str, str]] = {
    "added": "a new tool",
    "removed": "the tool is gone",
    "ignored": "the argument is gone",
    "closed": "unknown keys",
    "unknown": "the key",
    "output": "results",
    "min_length": "minimum length",
    "max_length": "maximum length",
    "not_one_of": "choices",
}
"""The text for codes whose names aren't clear to a person."""


def label_of(code: str) -> str:
    """Return the name of a code in reports."""
    return _LABELS.get(code, code.replace("_", " "))
