"""What do the English words in names and descriptions of tools mean?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...similar_names import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def content_words(text: str) -> frozenset[str]:
    """Return the topics of a text: its words without plurals and joining words."""
    words = frozenset([_singular(word) for word in re.findall(r"[^\W_]+", text.casefold())])
    return words - _FILLERS or words


def meaning(words: tuple[str, ...]) -> frozenset[str]:
    """Return the meaning of words that begin with a verb; different verbs may mean the same."""
    first = [_SAME.get(word, word) for word in words[:1]]
    return frozenset([*first, *[_singular(word) for word in words[1:]]]) - _FILLERS


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word  # noqa: PLR2004


def choices_in(description: str) -> list[str]:
    """List the values that a description presents as the only ones."""
    if _EXAMPLES.search(description):
        return []
    quoted = [found[0].strip("\"'`“”") for found in _QUOTED.finditer(description)]
    if len(quoted) > 1 and _INTRODUCED.search(description):
        return list(dict.fromkeys(quoted))
    plain = _PLAIN.search(description)
    return re.split(r", or |, | or ", plain[1]) if plain else []


_QUOTED = re.compile(r"""(?<!\w)(?:"[^"\s]+"|'[^'\s]+'|`[^`\s]+`|“[^”\s]+”)""")

_INTRODUCED = re.compile(
    r"\b(?:one of|either|must be|can be|may be|allowed|possible|values?|choices?|options?)\b", re.IGNORECASE
)

_EXAMPLES = re.compile(r"\b(?:such as|like|for example|for instance|e\.g\.)", re.IGNORECASE)
_PLAIN = re.compile(r"\bone of:? ([\w-]+(?:(?:, or |, | or )[\w-]+)+)[.;]?$", re.IGNORECASE | re.MULTILINE)


def are_opposite(first: str, second: str) -> bool:
    """Return whether the names of two flags differ only in a word and its opposite, or in `no`."""
    one, other = words_of(first), words_of(second)
    if other in {("no", *one), ("not", *one)} or one in {("no", *other), ("not", *other)}:
        return True
    apart = [frozenset(pair) for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(apart) == 1 and apart[0] in _OPPOSITES


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FILLERS = _set("a an and any by for from given in is it its of or that the this to which with")

SECRETS = (
    *[(word,) for word in ("apikey", "credential", "passphrase", "passwd", "password", "secret")],
    *[(first, "token") for first in ("access", "api", "auth", "bearer", "refresh", "session")],
    *[(first, "key") for first in ("access", "api", "private", "signing")],
)
"""Words next to each other in names of secrets."""

MEASURED = _set(
    "cooldown delay distance duration height interval lifetime radius speed temperature timeout ttl "
    "weight width"
)
"""Names of numbers that have a unit."""

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
"""Words before `at` or `on` in the name of a date or a time."""

DELETING = _set("clear delete destroy drop erase kill purge remove revoke terminate truncate uninstall wipe")
"""The first word in the name of a tool that takes something away."""

LISTING = _set("find list query search")
"""The first words in names of tools that may return any number of items."""

LIMITS = _set("batch count cursor limit max maximum most offset page pages size take top")
"""Words in names of parameters that limit the number of items."""

_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in _set(
        "allow/deny allow/forbid ascending/descending asc/desc disable/enable disabled/enabled down/up "
        "exclude/include hidden/visible hide/show lock/unlock locked/unlocked mute/unmute off/on closed/open "
        "close/open private/public start/stop"
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
"""Verbs with the same meaning, for the first word of a name or a description."""
