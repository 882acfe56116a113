"""What the words in names and descriptions mean, as far as checks need it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DATES",
    "DELETING",
    "LIMITS",
    "LISTING",
    "MEASURED",
    "OPPOSITES",
    "SECRETS",
    "STAMPED",
    "UNIT",
    "content_words",
    "meaning",
    "words_of",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FILLERS = _set("a an and any by for from given in is it its of or that the this to which with")

SECRETS = (
    *[(word,) for word in ("apikey", "credential", "passphrase", "passwd", "password", "secret")],
    *[(first, "token") for first in ("access", "api", "auth", "bearer", "refresh", "session")],
    *[(first, "key") for first in ("access", "api", "private", "signing")],
)
"""Words side by side in the name of something that a model isn't to see."""

MEASURED = _set(
    "cooldown delay distance duration height interval lifetime radius speed temperature timeout ttl "
    "weight width"
)
"""What a number of this name has a unit for."""

UNIT = re.compile(
    r"[%°]|\b(?:ms|millis(?:econds)?|m?secs?|s|seconds?|mins?|minutes?|hours?|h|days?|weeks?|months?|years?"
    r"|mm|cm|m|km|inch(?:es)?|feet|foot|ft|yards?|miles?|(?:milli|centi|kilo)?met(?:er|re)s?|pixels?|px"
    r"|points?|percent|columns?|characters?|chars|[kmg]?bytes?|[kmg]i?b|kmh|mph|knots|g|kg|(?:kilo)?grams?|lbs?"
    r"|pounds?|ounces?|tons?|tonnes?|celsius|fahrenheit|kelvin|c|f|k|degrees?)\b",
    re.IGNORECASE,
)

DATES = _set("birthday date datetime deadline time timestamp")
"""The last word in the name of a date or a time."""

STAMPED = _set(
    "created deleted due ended ends expires finished modified published scheduled sent started starts updated"
)
"""What is before `at` or `on` in the name of a date or a time."""

DELETING = _set("clear delete destroy drop erase kill purge remove revoke terminate truncate uninstall wipe")
"""The first word in the name of a tool that takes something away."""

LISTING = _set("find list query search")
"""The first word in the name of a tool that may return any number of things."""

LIMITS = _set("batch count cursor limit max maximum most offset page pages size take top")
"""A word in the name of a parameter that says how many of them."""

OPPOSITES = frozenset(
    frozenset(pair)
    for pair in (
        ("allow", "deny"),
        ("allow", "forbid"),
        ("ascending", "descending"),
        ("asc", "desc"),
        ("disable", "enable"),
        ("disabled", "enabled"),
        ("down", "up"),
        ("exclude", "include"),
        ("hidden", "visible"),
        ("hide", "show"),
        ("lock", "unlock"),
        ("locked", "unlocked"),
        ("mute", "unmute"),
        ("off", "on"),
        ("closed", "open"),
        ("close", "open"),
        ("private", "public"),
        ("start", "stop"),
    )
)

_SAME: Mapping[str, str] = {
    word: group[0]
    for group in (
        ("get", "fetch", "load", "read", "retrieve"),
        ("search", "find", "lookup", "query"),
        ("create", "make", "new"),
        ("delete", "erase", "remove"),
        ("update", "change", "edit", "modify"),
        ("send", "submit"),
    )
    for word in group
}
"""Verbs that say the same, in the first word of a name or a description."""


def words_of(name: str) -> tuple[str, ...]:
    """List the words in a name, in small letters: `apiKey` and `api_key` have the same two."""
    return tuple([word.casefold() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)])


def content_words(text: str) -> frozenset[str]:
    """Return what a text speaks of: its words without plurals, and without those that only join them."""
    words = frozenset([_singular(word) for word in re.findall(r"[^\W_]+", text.casefold())])
    return words - _FILLERS or words


def meaning(words: tuple[str, ...]) -> frozenset[str]:
    """Return what words mean, the first being a verb, whichever of several verbs for the same it is."""
    first = [_SAME.get(word, word) for word in words[:1]]
    return frozenset([*first, *[_singular(word) for word in words[1:]]]) - _FILLERS


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word  # noqa: PLR2004
