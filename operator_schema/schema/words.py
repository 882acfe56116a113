"""Put keywords into descriptions, and null beside a schema: what a dialect writes in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object, to_json_text
from ..wording import clip
from .keywords import KEYWORDS, UNITS
from .subschemas import mapped

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WORDS", "has_words", "or_null", "said_of", "says_null", "short_json", "with_words", "written_out"]

WORDS = "<words>"
"""The key under which a schema keeps what moves to its description, until it is written out."""

_TEXT_LENGTH = 200


def said_of(keywords: Mapping[str, Any]) -> list[str]:
    """Return the words that say what keywords say.

    Args:
        keywords: that have words in the table of keywords, with their values.
    """
    exactly = {
        least: most
        for least, most in _BOTH.items()
        if least in keywords and keywords[least] == keywords.get(most)
    }
    return [
        _said(keyword, value, exactly=keyword in exactly)
        for keyword, value in keywords.items()
        if keyword not in exactly.values()
    ]


def has_words(keyword: str) -> bool:
    """Return whether words can say the same as a keyword."""
    return keyword in KEYWORDS and KEYWORDS[keyword].words != ""


_BOTH = {"minLength": "maxLength", "minItems": "maxItems", "minProperties": "maxProperties"}


def _said(keyword: str, value: Any, *, exactly: bool) -> str:
    words = KEYWORDS[keyword].words
    words = words.replace("at least", "exactly") if exactly else words
    return _in_number(words.format(_shown(keyword, value)), value)


def _in_number(words: str, value: Any) -> str:
    is_one = value == 1 and words.endswith(tuple(UNITS.values()))
    return words.removesuffix("s") if is_one else words


def short_json(value: Any) -> str:
    """Return a JSON value as a text that is short enough for a description."""
    return clip(to_json_text(value), _TEXT_LENGTH)


def with_words(document: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a schema that keeps words for its description."""
    return {**document, WORDS: [*document.get(WORDS, ()), words]}


def _shown(keyword: str, value: Any) -> str:
    if keyword == "examples":
        return clip(", ".join([to_json_text(example) for example in value]), _TEXT_LENGTH)
    # Without quotes a text of nothing, or of spaces, isn't seen.
    return clip(value, _TEXT_LENGTH) if isinstance(value, str) and value.strip() else short_json(value)


def says_null(document: Mapping[str, Any]) -> bool:
    """Return whether a schema takes null."""
    kind = document.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    return any(says_null(member) for member in document.get("anyOf", ()))


def or_null(document: dict[str, Any], *, as_list: bool) -> dict[str, Any]:
    """Return a schema that takes null too; its description stays at the top."""
    null = {"type": "null"}
    about = {key: document[key] for key in (WORDS, "description") if key in document}
    rest = {key: value for key, value in document.items() if key not in about}
    if rest.keys() == {"anyOf"}:
        return {"anyOf": [*rest["anyOf"], null], **about}
    if (
        as_list
        and isinstance(rest.get("type"), str)
        and rest.keys().isdisjoint({"enum", "properties", "items"})
    ):
        return {**rest, "type": [rest["type"], "null"], **about}
    return {"anyOf": [rest, null], **about}


def written_out(document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose words are in its descriptions, and whose references stand alone."""
    kept = mapped({key: value for key, value in document.items() if key != WORDS}, _written_inside)
    if WORDS in document:
        kept["description"] = _with_words(kept.pop("description", None), document[WORDS])
    if "$ref" in kept and len(kept) > 1:
        return {"anyOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def _written_inside(value: Any) -> Any:
    return written_out(value) if is_object(value) else value


def _with_words(description: Any, words: list[str]) -> str:
    text = "; ".join(words)
    return f"{description} ({text})" if isinstance(description, str) else f"{text[0].upper()}{text[1:]}."
