"""Which number does a text such as `50 units` or `$1,200` mean?

These readings are too uncertain for repair, but an error can propose them. A model copies proposals, so a
text that two people could read differently has several numbers, or none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..similar_names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

_LONGEST = 100
"""The most characters of a text that is read."""

_MOST_DIGITS = 15
"""The most characters of a number that a float surely holds exactly."""

_CURRENCIES = "$€£¥₹"
_DIGITS = r"(?:[0-9]{1,3}(?:(?P<by>[,.' _\u00a0\u202f])[0-9]{3}(?:(?P=by)[0-9]{3})*)|[0-9]+)"
_AMOUNT = re.compile(
    rf"(?P<before>[{_CURRENCIES}#]|[A-Z]{{3}} )?\s?(?P<sign>[+-]?)(?P<after>[{_CURRENCIES}]?)"
    rf"(?P<whole>{_DIGITS})?"
    r"(?P<fraction>[.,][0-9]+)?[ \u00a0\u202f]?"
    rf"(?P<unit>[^\W\d_][^\d\n\r,;:+*=<>~|&!?()\[\]{{}}]*|°[^\W\d_]?|[{_CURRENCIES}])?"
)

_CONVERTIBLE: Final[Mapping[str, Sequence[AbstractSet[str]]]] = {
    kind: [frozenset(names.split()) for names in units.split(",")]
    for kind, units in {
        "time": "ms millisecond msec, s sec second, min minute, h hr hour, d day, week wk w, month, "
        "year yr y",
        "length": "mm millimeter millimetre, cm centimeter centimetre, meter metre, km kilometer kilometre, "
        "mile mi, foot feet ft, inch inches, yard yd",
        "weight": "mg milligram, g gram gramme, kg kilo kilogram, lb pound, oz ounce, ton tonne",
        "data": "byte, kb kilobyte, mb megabyte, gb gigabyte, tb terabyte",
        "temperature": "c celsius, f fahrenheit, kelvin",
        "money": "cent, $ usd dollar, € eur euro, £ gbp, ¥ jpy yen",
        "speed": "kmh kph, mph, knot kn",
    }.items()
}
"""The units of each kind, which can be converted into each other; each unit with all its names."""

_OTHER_UNITS: Final = frozenset(
    name
    for names in (
        "unit piece pc pcs item copy count point star # / °",
        "person people guest user member seat ticket room",
        "pixel px dpi square sq cubic m² m³ km² ft² liter litre l ml",
        "kwh watt volt hertz hz",
        "cad aud nzd chf cny inr krw sek nok dkk pln brl mxn",
    )
    for name in names.split()
)
_AMBIGUOUS: Final = frozenset({"mm"})
"""Units that may also be an abbreviation for a million."""

_UNITS: Final = (
    _OTHER_UNITS.union(*[names for units in _CONVERTIBLE.values() for names in units]) - _AMBIGUOUS
)

_FACTORS: Final = frozenset(
    words_of(
        "hundred thousand million billion trillion dozen lakh crore score gross half quarter "
        "percent percentage permille pct bps tsd mio mrd"
    )
)
"""Words that multiply a number; they aren't units even if they are part of the field's name."""

_SHORTEST_WORD = 3
"""The fewest letters of a word in a field's name that counts as a unit: `k` and `m` multiply."""


def meant_amounts(text: str, names: Sequence[str] = ()) -> list[int | float]:
    """Return the numbers that a text may mean: `50 units`, `$1,200`, `1 000 000`, ` 5 `.

    `1,200` may be 1200 or 1.2. Percentages, `5k`, `2 million`, ranges and numbers with an unknown word give
    nothing.

    Args:
        text: the received text.
        names: names of the field; their words count as units too, as in `5 nights`.
    """
    found = _AMOUNT.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    digits = (found["whole"] or "") + (found["fraction"] or "") if found else ""
    if not found or not digits or len(digits) > _MOST_DIGITS:
        return []
    before, after, unit = [found[name] or "" for name in ("before", "after", "unit")]
    words = {word.removesuffix("s") for name in names for word in words_of(name)}
    own = {word for word in words - _FACTORS if len(word) >= _SHORTEST_WORD}
    if (before and after) or not all(_is_unit(each, own) for each in (before, after, unit)):
        return []
    numbers = _numbers(found, is_dollar="$" in before + after)
    return [-number if found["sign"] == "-" else number for number in numbers]


def _is_unit(text: str, own: AbstractSet[str]) -> bool:
    """Return whether each word of a text is a unit, or one of the field's own words."""
    words = [word.casefold() for word in _WORD_OR_SIGN.findall(text.rstrip(" ."))]
    return all(not {word, word.removesuffix("s")}.isdisjoint(_UNITS | own) for word in words)


_WORD_OR_SIGN = re.compile(r"[^\W_]+|\S")


def _numbers(found: re.Match[str], *, is_dollar: bool) -> Iterator[int | float]:
    whole, by, fraction = found["whole"] or "0", found["by"], found["fraction"]
    digits = re.sub(r"\D", "", whole)
    if fraction is None and by in {",", "."} and whole.count(by) == 1:
        # One separator and three digits: of thousands, or a decimal comma or point.
        if by == "," and whole[0] != "0":
            yield int(digits)
        if not is_dollar:
            yield float(whole.replace(by, "."))
    elif fraction is None:
        yield int(digits)
    elif by != fraction[0]:
        if fraction == ",0" or (fraction[0] == "," and not found["whole"]):
            return  # a comma between two of a list looks the same
        number = float(f"{digits}.{fraction[1:]}")
        yield int(number) if number.is_integer() else number


def has_mixed_amounts(text: str, parts: Sequence[str], types: AbstractSet[str]) -> bool:
    """Return whether a list of numbers has several units, or commas that may separate digits or items."""
    if not types <= {"integer", "number"}:
        return False
    units = {" ".join(_UNIT.findall(part)).casefold() for part in parts} - {""}
    return len(units) > 1 or (
        "number" in types and bool(re.search(r",\s", text)) and bool(re.search(r"\d,\d", text))
    )


_UNIT = re.compile(rf"[^\W\d_]+|[{_CURRENCIES}#]")


_MEASURES: Final = frozenset(name for units in _CONVERTIBLE.values() for names in units for name in names)
"""All words and signs of units that can be converted into each other."""


def contradicts(text: str, about: str) -> bool:
    """Return whether a text has another unit than the field's description: `5 minutes` for seconds."""
    sent = _words_in(text)
    if sent.isdisjoint(_MEASURES):  # as nearly every text: its field's words needn't be read
        return False
    wanted = _words_in(about)
    for units in _CONVERTIBLE.values():
        of_text, of_field = [
            {names for names in units if not words.isdisjoint(names)} for words in (sent, wanted)
        ]
        if of_text and of_field and not of_text & of_field:
            return True
    return False


def _words_in(text: str) -> set[str]:
    words = {*words_of(text), *[sign for sign in _CURRENCIES if sign in text]}
    return words | {word.removesuffix("s") for word in words}
