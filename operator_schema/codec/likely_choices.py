"""Which choice, or which of true and false, does a word such as `the open one` or `yes` mean?

These readings are too uncertain for repair, but an error can propose them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..json_values import choice_key
from ..similar_names import is_one_slip_away, words_of
from .spellings import NOTHING, names_of_choices

if TYPE_CHECKING:
    from ..introspect.nodes import EnumNode, LiteralNode

    Words = tuple[str, ...]

_LONGEST = 100
"""The most characters of a text that is read."""

_BOOLEANS: Final = {
    **dict.fromkeys(("true", "yes", "y", "on", "1", "enabled", "t"), True),
    **dict.fromkeys(("false", "no", "n", "off", "0", "disabled", "f"), False),
}


def meant_boolean(value: Any) -> Any:
    """Return the boolean for a word such as `yes`, or for 1 or 0; `NOTHING` for other values."""
    if isinstance(value, (int, float)):
        return bool(value) if value in {0, 1} else NOTHING
    if len(value) > _LONGEST:
        return NOTHING
    word = value.strip().casefold()
    return _BOOLEANS.get(word[:-1] if word.endswith((".", "!")) else word, NOTHING)


NEUTRAL_WORDS: Final = frozenset(
    words_of(
        "the a an my your this param parameter arg argument value input field "
        "user name id number num text string str list array data key code option setting "
        "selected given requested desired is of s"
    )
)
"""Words that don't change the meaning of the words beside them."""

_BESIDE_CHOICES: Final = NEUTRAL_WORDS | frozenset(
    words_of(
        "one ones please mode level type kind status state choice category set to be it as use with for in"
    )
)
"""Words that don't change the meaning of a choice beside them."""

_NEGATIONS: Final = frozenset(
    words_of(
        "not no non never except without isn aren don t neither nor but other than instead rather or and"
    )
)
_ENDINGS: Final = frozenset({"s", "es", "d", "ed", "ing"})
_LEAST_CUT = 3
_LEAST_SLIP = 4


def near_choice(node: LiteralNode | EnumNode, text: str) -> Any:
    """Return the one choice that a text names: inside other words, cut off, or with one slip."""
    sent = () if len(text) > _LONGEST else words_of(text)
    named = [(name, value) for text, value in names_of_choices(node) if (name := words_of(text))]
    in_choices = {word for name, _ in named for word in name}
    if not sent or not (_NEGATIONS - in_choices).isdisjoint(sent):
        return NOTHING
    key, _, rest = text.partition(":")
    after_key = [value for name, value in named if name == words_of(rest)]
    if len(after_key) == 1 and not any(_holds(words_of(key), name) for name, _ in named):
        return after_key[0]  # such as "mode: fast"
    for is_meant in (_is_inside, _is_cut_off, _is_slip):
        found = [(name, value) for name, value in named if is_meant(sent, name)]
        # "very high" isn't "high".
        found = [one for one in found if not any(_holds(name, one[0]) for name, _ in found if name != one[0])]
        if found:
            values = {choice_key(value) for _, value in found}
            return found[0][1] if len(values) == 1 else NOTHING
    return NOTHING


def _holds(words: Words, name: Words) -> bool:
    size = len(name)
    return any(words[at : at + size] == name for at in range(len(words) - size + 1))


def _is_inside(sent: Words, name: Words) -> bool:
    """Return whether a text has the words of a choice, and beside them only words without effect."""
    return _holds(sent, name) and set(sent).difference(name) <= _BESIDE_CHOICES


def _is_cut_off(sent: Words, name: Words) -> bool:
    one, other = "".join(sent), "".join(name)
    if len(other) >= _LEAST_SLIP and one.removeprefix(other) in _ENDINGS:
        return True
    return (
        len(one) >= _LEAST_CUT
        and other.startswith(one)
        and one[-1:].isalpha()
        and other[len(one) :].isalpha()
    )


def _is_slip(sent: Words, name: Words) -> bool:
    return is_slip("".join(sent), "".join(name), _LEAST_SLIP)


def is_slip(one: str, other: str, least: int) -> bool:
    """Return whether one letter was mistyped, neither the first one, which often matters, nor a digit."""
    return (
        (min(len(one), len(other)) >= least or sorted(one) == sorted(other))
        and one[:1] == other[:1]
        and re.sub(r"\D", "", one) == re.sub(r"\D", "", other)
        and is_one_slip_away(one, other)
    )
