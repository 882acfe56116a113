"""Which field does a key mean that is nearly the field's own, such as `elementName` or `titel`?

These readings are too uncertain for repair, but an error can propose them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..similar_names import words_of
from .likely_choices import NEUTRAL_WORDS, is_slip
from .spellings import sent_keys

if TYPE_CHECKING:
    from ..introspect.nodes import ObjectNode

    Words = tuple[str, ...]

_MOST_KEYS = 50
_LIKE_A_KEY = re.compile(r"(?=.*[^\W_])[\w .$@-]{1,64}")


def meant_keys(node: ObjectNode, value: dict[Any, Any]) -> tuple[dict[str, str], bool]:
    """Find the keys of fields that were sent in another convention or with a slip.

    Returns:
        The field's key to the sent key, for pairs without other candidates; and whether another key may be
        meant for one of several fields.
    """
    found = sent_keys(node, value)
    keys = {field.key for field in node.fields} | set(found.values())
    unused = [key for key in value if isinstance(key, str) and key not in keys and _LIKE_A_KEY.fullmatch(key)]
    absent = [field.key for field in node.fields if field.key not in value and field.key not in found]
    if not unused or not absent or len(unused) > _MOST_KEYS:
        return found, False
    pairs = [(key, words_of(key), wanted, words_of(wanted)) for key in unused for wanted in absent]
    for is_meant in _LIKENESSES:
        near = [(key, wanted) for key, sent, wanted, name in pairs if is_meant(sent, name)]
        clear = [
            (key, wanted)
            for key, wanted in near
            if all((other == key) == (known == wanted) for other, known in near)
        ]
        found.update({wanted: key for key, wanted in clear})
        if len(clear) < len(near):
            return found, True
        used = {name for pair in near for name in pair}
        pairs = [pair for pair in pairs if pair[0] not in used and pair[2] not in used]
    return found, False


def is_near_key(key: str, name: str) -> bool:
    """Return whether a sent key may mean a field's key, if no other field is possible."""
    if not _LIKE_A_KEY.fullmatch(key):
        return False
    sent, wanted = words_of(key), words_of(name)
    return any(is_meant(sent, wanted) for is_meant in _LIKENESSES)


# --- kinds of likeness -----------------------------------------------------------------------------

_LEAST_KEY = 3
_LEAST_CUT = 3
_LEAST_WORD = 4

_FILLERS: Final = frozenset(words_of("the a an my your this param parameter arg argument value input field"))
_OPPOSITES: Final = frozenset(
    words_of(
        "min max minimum maximum from to start end begin first last before after since until old new "
        "source target src dst origin destination not no non exclude include in out up down left right "
        "top bottom parent child lower upper next previous x y width height"
    )
)
"""Words that give a key another meaning."""

_TURNING: Final = _OPPOSITES | frozenset(
    words_of(
        "dont don t do never un dis anti without skip omit hide ignore disable disabled enable enabled off "
        "on excluded less half double other backup else except"
    )
)
"""Words that reverse or change the meaning of the words beside them."""


def _is_same_key(sent: Words, name: Words) -> bool:
    return _without_fillers(sent) == _without_fillers(name)


def _without_fillers(words: Words) -> Words:
    return tuple([word for word in words if word not in _FILLERS]) or words


def _is_slip_of_key(sent: Words, name: Words) -> bool:
    return is_slip("".join(sent), "".join(name), _LEAST_KEY) or (
        len(sent) == len(name) and all(map(_is_same_word, sent, name))
    )


def _is_same_word(one: str, other: str) -> bool:
    if one == other or one + "s" == other or other + "s" == one:
        return True
    shorter, longer = sorted((one, other), key=len)
    is_short = len(shorter) >= _LEAST_CUT and longer.startswith(shorter) and longer.isalpha()
    return (is_short and _OPPOSITES.isdisjoint((one, other))) or is_slip(one, other, _LEAST_WORD)


def _is_part_of_key(sent: Words, name: Words) -> bool:
    """Return whether a key lacks words of a field's key that don't change its meaning, or has extra ones."""
    some, wanted = set(_without_fillers(sent)), set(_without_fillers(name))
    return (some < wanted and _TURNING.isdisjoint(wanted - some)) or (
        set() < wanted < some and some - wanted <= NEUTRAL_WORDS
    )


_LIKENESSES = (_is_same_key, _is_slip_of_key, _is_part_of_key)
"""The kinds of similarity between a sent key and a field's key, the strongest first."""
