"""Variants that models write for values, choices, times and keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import EnumNode, LiteralNode, ScalarNode
from ..json_values import MAX_INTEGER_DIGITS, choice_key, most_digits, type_of
from ..similar_names import fold

if TYPE_CHECKING:
    from ..introspect.nodes import LeafNode, Node, ObjectNode


NOTHING: Final[Any] = object()
"""`quoted_scalar` returns it for a string without a scalar."""

_WORDS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_CONTAINERS: Final = {"[": ("]", "array"), "{": ("}", "object")}


def quoted_scalar(text: str) -> Any:
    """Return the number, boolean or null that a string spells.

    Returns:
        The value that JSON (RFC 8259) reads without the quotes, or Python for `True`, `False` and `None`;
        `NOTHING` for every other string, for numbers beyond the range of floats, and for integers with too
        many digits.
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_INTEGER_DIGITS:
        return NOTHING
    match = _NUMBER.fullmatch(text)
    if match is None:
        return NOTHING
    if match[1] is match[2] is None:
        return int(text) if len(text.lstrip("-")) <= most_digits() else NOTHING
    number = float(text)
    return number if number - number == 0 else NOTHING


def is_rounded(node: Node, text: str, number: Any) -> bool:
    """Return whether a node would take a number that differs from the digits in the text."""
    if not isinstance(number, float):
        is_float = isinstance(node, ScalarNode) and node.type == "number"
        return is_float and isinstance(number, int) and not _is_exact(number)
    # Fractions may be rounded, as JSON readers do: no float is exactly 0.1.
    takes_fraction = not isinstance(node, (LiteralNode, EnumNode)) and "number" in json_types_of(node, {})
    return number.is_integer() and not _says(text, number, takes_fraction=takes_fraction)


def _says(text: str, number: float, *, takes_fraction: bool) -> bool:
    """Return whether a text spells a number exactly; the shortest text of a float counts for fractions."""
    from decimal import Decimal

    try:
        spelt = Decimal(text)
    except ArithmeticError:  # its exponent is beyond what decimals have
        return takes_fraction
    exact = Decimal.from_float(number)  # noqa: FURB164  # programs may forbid `Decimal` of a float
    if spelt == exact or not takes_fraction:
        return spelt == exact
    # "1e30" is how its float is written, though no float is exactly that.
    return spelt == Decimal(float.__repr__(number)) or spelt != spelt.to_integral_value()


def _is_exact(number: int) -> bool:
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def quoted_type(text: str) -> str | None:
    """Return the JSON type that a string seems to contain, judging by its ends; None for plain text."""
    scalar = quoted_scalar(text)
    if scalar is not NOTHING:
        return type_of(scalar)
    closing, name = _CONTAINERS.get(text.lstrip()[:1], ("", ""))
    return name if closing and text.rstrip().endswith(closing) else None


def meant_choice(node: LiteralNode | EnumNode, text: str) -> Any:
    """Return the one choice, or Enum name, that a text spells with other case or separators."""
    words = _words(text)
    found = {choice_key(value): value for name, value in names_of_choices(node) if _words(name) == words}
    return next(iter(found.values())) if words and len(found) == 1 else NOTHING


def names_of_choices(node: LiteralNode | EnumNode) -> list[tuple[str, Any]]:
    """Return the possible names of choices, each with its value: their texts, and the names of an Enum."""
    named = [(value, value) for value in node.values if isinstance(value, str)]
    if isinstance(node, EnumNode):
        named += [(name, member.value) for name, member in node.type.__members__.items()]
    return named


_BETWEEN_WORDS = re.compile(r"(?<=[^\W_])[-_ ]+(?=[^\W_])")
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[-_ ]+(?=[0-9])")


def _words(text: str) -> str:
    """Return a key shared by texts that differ only in case, outer spaces and inner separators.

    Unlike `fold`, it keeps meaningful characters: a sign, and a separator between two digits.
    """
    return _BETWEEN_WORDS.sub("", _BETWEEN_DIGITS.sub(".", text.strip(" _").casefold()))


_SEPARATORS: Final = ("\n", ";", ",")
_OTHER_COMMAS: Final = str.maketrans("\uff0c\u3001\uff1b\r", ",,;\n")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_LAST = re.compile(r"(?:and|&)\s+", re.IGNORECASE)
_OR = re.compile(r"or\s", re.IGNORECASE)
_AND = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)
_JOINED = re.compile(r"\s(?:and|or|&|/)\s|[|\t]", re.IGNORECASE)
_LONGEST_LIST = 10_000


def has_separators(text: str) -> bool:
    """Return whether a text may be a list of several items."""
    plain = text.strip().translate(_OTHER_COMMAS)
    return any(each in plain for each in _SEPARATORS) or _JOINED.search(plain) is not None


def parts_of_list(text: str, *, are_texts: bool) -> list[str] | None:
    """Split a text at its lines, else at its semicolons, else at its commas.

    Args:
        text: the received text.
        are_texts: whether a part may contain "and", so that `a, b and c` is unclear.

    Returns:
        Its parts without spaces around them; None if there are no separators, or if they don't only separate
        items.
    """
    if len(text) > _LONGEST_LIST:
        return None
    text = text.strip().replace("\r\n", "\n").translate(_OTHER_COMMAS)
    if text[:1] + text[-1:] in {"[]", "()"}:
        text = text[1:-1].strip()
    by = next((each for each in _SEPARATORS if each in text), None)
    if by is None or any(bracket in text for bracket in "[](){}"):
        return None
    parts = [part.strip() for part in text.rstrip(f"{by} ").split(by)]
    if by == "\n":
        parts = [_BULLET.sub("", part, count=1).rstrip(",; ") for part in parts if part]
    if by == "," and not are_texts:
        parts[-1:] = _AND.split(parts[-1], maxsplit=1)
    parts[-1] = _LAST.sub("", parts[-1], count=1) if _LAST.match(parts[-1]) else parts[-1]
    parts = [_unquoted(part) for part in parts]
    later = _SEPARATORS[_SEPARATORS.index(by) + 1 :]
    is_unclear = any(not part or '"' in part or any(each in part for each in later) for part in parts)
    is_unclear |= _OR.match(parts[-1]) is not None or (by == "," and _JOINED.search(parts[-1]) is not None)
    return None if is_unclear else parts


def _unquoted(part: str) -> str:
    return part[1:-1] if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part


_DATE = r"(?P<year>\d{4})(?P<dash>-?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)[Tt ]"
_CLOCK = r"(?P<hour>\d\d)(?P<colon>:?)(?P<minute>\d\d)((?P=colon)(?P<second>\d\d)(?P<fraction>\.\d+)?)?"
_OFFSET = r"([Zz]|(?P<ahead>[+-]\d\d)(:?(?P<off>\d\d))?)"
_TIMES = {"date-time": _DATE + _CLOCK + _OFFSET, "time": _CLOCK + _OFFSET}
"""By format: the spellings of ISO 8601 with an offset, which mean the same everywhere."""

_LONGEST_TIME = 100


def meant_time(node: LeafNode, text: str) -> Any:
    """Return a time of ISO 8601 as RFC 3339 spells it, `2026-01-31T09:30Z` as `2026-01-31T09:30:00Z`."""
    pattern = _TIMES.get(node.leaf.json_schema.get("format", ""))
    found = pattern and len(text) <= _LONGEST_TIME and re.fullmatch(pattern, text, re.ASCII)
    if not found:
        return NOTHING
    part = found.groupdict(default="")
    day = f"{part['year']}-{part['month']}-{part['day']}T" if "year" in part else ""
    second = (part["second"] or "00") + part["fraction"]
    offset = f"{part['ahead']}:{part['off'] or '00'}" if part["ahead"] else "Z"
    return f"{day}{part['hour']}:{part['minute']}:{second}{offset}"


def sent_keys(node: ObjectNode, value: dict[Any, Any]) -> dict[str, str]:
    """Find the keys that were written in another convention, or by the field's name.

    Returns:
        The field's key to the sent key, for pairs without other candidates.
    """
    keys = {field.key for field in node.fields}
    unused = [key for key in value if isinstance(key, str) and key not in keys]
    if not unused:
        return {}
    folded: dict[str, list[str]] = {}
    for key in filter(fold, unused):
        folded.setdefault(fold(key), []).append(key)
    claims: dict[str, list[str]] = {}
    for field in node.fields:
        names = {fold(field.key), fold(field.name)}
        sent = [key for name in sorted(names) for key in folded.get(name, ())]
        for key in sent:
            claims.setdefault(key, []).append(field.key)
        if len(sent) > 1:
            for key in sent:
                claims[key].append(field.key)
    return {fields[0]: key for key, fields in claims.items() if len(fields) == 1 and fields[0] not in value}
