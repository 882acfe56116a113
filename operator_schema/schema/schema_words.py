"""How are keywords that an API doesn't take described in words?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import is_object, to_json_text
from ..message_text import clip
from .keywords import KEYWORDS, UNITS
from .references import mapped

if TYPE_CHECKING:
    from collections.abc import Mapping


WORDS = "<words>"
"""The key under which a schema stores words for its description until `written_out` puts them there."""

_TEXT_LENGTH = 200


def said_of(keywords: Mapping[str, Any]) -> list[str]:
    """Describe keywords in words.

    Args:
        keywords: keywords with words in the table of keywords, and their values.
    """
    if not keywords:
        return []  # like most schemas
    exactly = {
        least: most
        for least, most in _BOTH.items()
        if least in keywords and keywords[least] == keywords.get(most)
    }
    return [
        _describe_keyword(keyword, value, exactly=keyword in exactly)
        for keyword, value in keywords.items()
        if keyword not in exactly.values()
    ]


WITH_WORDS: Final = frozenset([keyword for keyword, row in KEYWORDS.items() if row.words != ""])
"""The keywords that can be described in words."""


_BOTH = {"minLength": "maxLength", "minItems": "maxItems", "minProperties": "maxProperties"}


def _describe_keyword(keyword: str, value: Any, *, exactly: bool) -> str:
    words = KEYWORDS[keyword].words
    words = words.replace("at least", "exactly") if exactly else words
    return _in_singular(words.format(_show_argument(keyword, value)), value)


def _in_singular(words: str, value: Any) -> str:
    is_one = value == 1 and words.endswith(tuple(UNITS.values()))
    return words.removesuffix("s") if is_one else words


def short_json(value: Any) -> str:
    """Return a JSON value as a text that is short enough for a description."""
    return clip(to_json_text(value), _TEXT_LENGTH)


def with_words(document: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a schema that stores words for its description."""
    return {**document, WORDS: [*document.get(WORDS, ()), words]}


def _show_argument(keyword: str, value: Any) -> str:
    if keyword == "examples":
        return clip(", ".join([to_json_text(example) for example in value]), _TEXT_LENGTH)
    # Without quotes, an empty text or one of spaces would be invisible.
    return clip(value, _TEXT_LENGTH) if isinstance(value, str) and value.strip() else short_json(value)


def written_out(document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with its stored words in the descriptions, and nothing beside its references."""
    kept = mapped(
        {key: value for key, value in document.items() if key != WORDS},
        lambda value: written_out(value) if is_object(value) else value,
    )
    if WORDS in document:
        kept["description"] = _join_words(kept.pop("description", None), document[WORDS])
    if "$ref" in kept and len(kept) > 1:
        return {"anyOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def _join_words(description: Any, words: list[str]) -> str:
    text = "; ".join(words)
    return f"{description} ({text})" if isinstance(description, str) else f"{text[0].upper()}{text[1:]}."
