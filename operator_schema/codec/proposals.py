"""Readings that are too uncertain for repair, but can be proposed: amounts, dates, lists, words.

Each function returns the one meaning of a text, and nothing if it has several or none. A model copies
proposals, so nothing is proposed where two people could disagree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..json_values import choice_key
from ..similar_names import is_one_slip_away, words_of
from .spellings import NOTHING, names_of_choices, quoted_scalar, sent_keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from typing import TypeAlias

    from ..introspect.nodes import EnumNode, LiteralNode, ObjectNode

    Words: TypeAlias = tuple[str, ...]

_LONGEST = 100
"""The most characters of a text whose meaning is looked for."""


# --- numbers ---------------------------------------------------------------------------------------

_DIGITS = r"(?:[0-9]{1,3}(?:(?P<by>[,.' _\u00a0\u202f])[0-9]{3}(?:(?P=by)[0-9]{3})*)|[0-9]+)"
_AMOUNT = re.compile(
    rf"(?P<before>[$€£¥₹#]|[A-Z]{{3}} )?\s?(?P<sign>[+-]?)(?P<after>[$€£¥₹]?)(?P<whole>{_DIGITS})?"
    r"(?P<fraction>[.,][0-9]+)?[ \u00a0\u202f]?"
    r"(?P<unit>[^\W\d_][^\d\n\r,;:+*=<>~|&!?()\[\]{}]*|°[^\W\d_]?|[€£¥₹$])?"
)
_MOST_DIGITS = 15
"""The most characters of a number that a float surely holds exactly."""

_UNIT = re.compile(r"[^\W_]+|\S")
_NOT_UNITS: Final = frozenset(
    [
        "k",
        "m",
        "mm",
        "b",
        "bn",
        "mn",
        "t",
        "tn",
        "mio",
        "mrd",
        "tsd",
        "e",
        "x10",
        "thousand",
        "thousands",
        "million",
        "millions",
        "billion",
        "billions",
        "trillion",
        "hundred",
        "hundreds",
        "dozen",
        "dozens",
        "lakh",
        "crore",
        "score",
        "gross",
        "half",
        "quarter",
        "percent",
        "pct",
        "percentage",
        "permille",
        "bps",
        "am",
        "pm",
        "or",
        "and",
        "to",
        "plus",
        "minus",
        "more",
        "less",
        "fewer",
        "most",
        "least",
        "over",
        "under",
        "about",
        "around",
        "approximately",
        "ish",
        "circa",
        "not",
        "no",
        "per",
        "of",
        "out",
        "than",
        "max",
        "maximum",
        "minimum",
        "up",
        "between",
        "if",
        "with",
        "without",
        "ago",
        "before",
        "after",
        "below",
        "above",
        "negative",
        "positive",
        "zero",
        "in",
    ]
)
"""Words after a number that change it, or leave open which number is meant."""

_SAME_UNITS: Final = (
    ("ms", "millisecond", "msec"),
    ("s", "sec", "second"),
    ("min", "minute"),
    ("h", "hr", "hour"),
    ("d", "day"),
    ("week", "wk", "w"),
    ("month",),
    ("year", "yr", "y"),
    ("mm", "millimeter", "millimetre"),
    ("cm", "centimeter", "centimetre"),
    ("meter", "metre"),
    ("km", "kilometer", "kilometre"),
    ("mile", "mi"),
    ("foot", "feet", "ft"),
    ("inch", "inches"),
    ("yard", "yd"),
    ("mg", "milligram"),
    ("g", "gram", "gramme"),
    ("kg", "kilo", "kilogram"),
    ("lb", "pound"),
    ("oz", "ounce"),
    ("ton", "tonne"),
    ("byte", "b"),
    ("kb", "kilobyte"),
    ("mb", "megabyte"),
    ("gb", "gigabyte"),
    ("tb", "terabyte"),
    ("c", "celsius"),
    ("f", "fahrenheit"),
    ("kelvin",),
    ("cent",),
    ("$", "usd", "dollar"),
    ("€", "eur", "euro"),
    ("£", "gbp"),
    ("¥", "jpy", "yen"),
    ("kmh", "kph"),
    ("mph",),
    ("knot", "kn"),
)
_FAMILIES: Final = (
    range(8),
    range(8, 16),
    range(16, 22),
    range(22, 27),
    range(27, 30),
    range(30, 35),
    range(35, 38),
)
"""Units of `_SAME_UNITS`, in groups that can be converted into each other."""


_OTHER_UNITS: Final = frozenset(
    [
        "unit",
        "piece",
        "pc",
        "pcs",
        "item",
        "person",
        "people",
        "guest",
        "user",
        "member",
        "seat",
        "ticket",
        "room",
        "copy",
        "star",
        "point",
        "count",
        "pixel",
        "px",
        "square",
        "sq",
        "cubic",
        "m²",
        "m³",
        "km²",
        "ft²",
        "liter",
        "litre",
        "l",
        "ml",
        "kwh",
        "watt",
        "volt",
        "hertz",
        "hz",
        "dpi",
        "°",
        "cad",
        "aud",
        "nzd",
        "chf",
        "cny",
        "inr",
        "krw",
        "sek",
        "nok",
        "dkk",
        "pln",
        "brl",
        "mxn",
        "/",
        "#",
    ]
)
_UNITS: Final = frozenset([name for names in _SAME_UNITS for name in names]) | _OTHER_UNITS


def meant_amounts(text: str, names: Sequence[str] = ()) -> list[int | float]:
    """Return the numbers that a text may mean: `50 units`, `$1,200`, `1 000 000`, ` 5 `.

    `1,200` may be 1200 or 1.2. Percentages, `5k`, `2 million`, ranges and numbers with an unknown word give
    nothing.

    Args:
        text: the received text.
        names: names of the field; their words count as units too, as in `5 nights`.
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST:
        return []
    scalar = quoted_scalar(stripped)
    if scalar is not NOTHING:
        return [] if scalar is None or repr(scalar) != stripped else [scalar]
    found = _AMOUNT.fullmatch(stripped)
    digits = (found["whole"] or "") + (found["fraction"] or "") if found else ""
    if not found or not digits or len(digits) > _MOST_DIGITS:
        return []
    around = [found[name] or "" for name in ("before", "after", "unit")]
    own = {word.removesuffix("s") for name in names for word in words_of(name)} - _NOT_UNITS
    if not all(_is_unit(each, own) for each in around) or (around[0] and around[1]):
        return []
    is_dollar = "$" in around[0] + around[1]
    return [_signed(found["sign"], number) for number in _numbers(found, is_dollar=is_dollar)]


def _signed(sign: str, number: float) -> int | float:
    return -number if sign == "-" else number


def _is_unit(text: str, own: AbstractSet[str]) -> bool:
    words = [word.casefold() for word in _UNIT.findall(text.rstrip(" ."))]
    return _NOT_UNITS.isdisjoint(words) and all(
        not {word, word.removesuffix("s")}.isdisjoint(_UNITS | own) for word in words
    )


def has_mixed_amounts(text: str, parts: Sequence[str], types: AbstractSet[str]) -> bool:
    """Return whether a list of numbers has several units, or commas that may separate digits or items.

    Args:
        text: the text that was split.
        parts: its parts.
        types: JSON types of the items.
    """
    if not types <= {"integer", "number"}:
        return False
    units = {" ".join(_LETTERS.findall(part)).casefold() for part in parts} - {""}
    return len(units) > 1 or (
        "number" in types and bool(re.search(r",\s", text)) and bool(re.search(r"\d,\d", text))
    )


_LETTERS = re.compile(r"[^\W\d_]+|[$€£¥₹#]")


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


def contradicts(text: str, about: str) -> bool:
    """Return whether a text has another unit than the field's description: `5 minutes` for seconds."""
    sent = _units_in(text)
    if not sent:
        return False
    wanted = _units_in(about)
    return any(
        wanted & set(family) and sent & set(family) and not wanted & sent & set(family)
        for family in _FAMILIES
    )


def _units_in(text: str) -> set[int]:
    words = {*words_of(text)} | {sign for sign in "$€£¥" if sign in text}
    words |= {word.removesuffix("s") for word in words}
    return {index for index, names in enumerate(_SAME_UNITS) if not words.isdisjoint(names)}


# --- booleans --------------------------------------------------------------------------------------

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


# --- choices ---------------------------------------------------------------------------------------

_LEAST_CUT = 3
_LEAST_SLIP = 4
_ENDINGS: Final = frozenset({"s", "es", "d", "ed", "ing"})
_NEGATIONS: Final = frozenset(
    [
        "not",
        "no",
        "non",
        "never",
        "except",
        "without",
        "isn",
        "aren",
        "don",
        "t",
        "neither",
        "nor",
        "but",
        "other",
        "than",
        "instead",
        "rather",
        "or",
        "and",
    ]
)


def near_choice(node: LiteralNode | EnumNode, text: str) -> Any:
    """Return the one choice that a text names: inside other words, cut off, or with one slip."""
    sent = () if len(text) > _LONGEST else words_of(text)
    named = [(words_of(name), value) for name, value in names_of_choices(node)]
    in_choices = {word for name, _ in named for word in name}
    if not sent or not (_NEGATIONS - in_choices).isdisjoint(sent):
        return NOTHING
    key, _, rest = text.partition(":")
    after_key = [value for name, value in named if name and name == words_of(rest)]
    if len(after_key) == 1 and not any(name and _holds(words_of(key), name) for name, _ in named):
        return after_key[0]  # such as "mode: fast"
    for is_meant in (_is_inside, _is_cut_off, _is_slip):
        found = [(name, value) for name, value in named if name and is_meant(sent, name)]
        # "very high" isn't "high".
        found = [one for one in found if not any(_holds(name, one[0]) for name, _ in found if name != one[0])]
        if found:
            values = {choice_key(value): value for _, value in found}
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


# --- keys ------------------------------------------------------------------------------------------

_MOST_KEYS = 50
_LIKE_A_KEY = re.compile(r"(?=.*[^\W_])[\w .$@-]{1,64}")
_LEAST_KEY = 3
_FILLERS: Final = frozenset(
    [
        "the",
        "a",
        "an",
        "my",
        "your",
        "this",
        "param",
        "parameter",
        "arg",
        "argument",
        "value",
        "input",
        "field",
    ]
)
_OPPOSITES: Final = frozenset(
    [
        "min",
        "max",
        "minimum",
        "maximum",
        "from",
        "to",
        "start",
        "end",
        "begin",
        "first",
        "last",
        "before",
        "after",
        "since",
        "until",
        "old",
        "new",
        "source",
        "target",
        "src",
        "dst",
        "origin",
        "destination",
        "not",
        "no",
        "non",
        "exclude",
        "include",
        "in",
        "out",
        "up",
        "down",
        "left",
        "right",
        "top",
        "bottom",
        "parent",
        "child",
        "lower",
        "upper",
        "next",
        "previous",
        "x",
        "y",
        "width",
        "height",
    ]
)
"""Words that give a key another meaning."""


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
    return (is_short and _OPPOSITES.isdisjoint((one, other))) or is_slip(one, other, _LEAST_SLIP)


def _is_part_of_key(sent: Words, name: Words) -> bool:
    """Return whether a key lacks words of a field's key that don't change its meaning, or has extra ones."""
    some, wanted = set(_without_fillers(sent)), set(_without_fillers(name))
    return (some < wanted and _TURNING.isdisjoint(wanted - some)) or (
        set() < wanted < some and some - wanted <= _EMPTY_WORDS
    )


_EMPTY_WORDS: Final = _FILLERS | frozenset(
    [
        "user",
        "name",
        "id",
        "number",
        "num",
        "text",
        "string",
        "str",
        "list",
        "array",
        "data",
        "key",
        "code",
        "option",
        "setting",
        "selected",
        "given",
        "requested",
        "desired",
        "is",
        "of",
        "s",
    ]
)
"""Words that a key may have more or less without getting another meaning."""
_TURNING: Final = _OPPOSITES | frozenset(
    [
        "dont",
        "don",
        "t",
        "do",
        "never",
        "un",
        "dis",
        "anti",
        "without",
        "skip",
        "omit",
        "hide",
        "ignore",
        "disable",
        "disabled",
        "enable",
        "enabled",
        "off",
        "on",
        "excluded",
        "less",
        "half",
        "double",
        "other",
        "backup",
        "else",
        "except",
    ]
)
"""Words that reverse or change the meaning of the words beside them."""


_BESIDE_CHOICES: Final = _EMPTY_WORDS | frozenset(
    [
        "one",
        "ones",
        "please",
        "mode",
        "level",
        "type",
        "kind",
        "status",
        "state",
        "choice",
        "category",
        "set",
        "to",
        "be",
        "it",
        "as",
        "use",
        "with",
        "for",
        "in",
    ]
)
"""Words that don't change the meaning of a choice beside them."""

_LIKENESSES = (_is_same_key, _is_slip_of_key, _is_part_of_key)
"""The kinds of similarity between a sent key and a field's key, the strongest first."""

# --- dates -----------------------------------------------------------------------------------------

_MONTHS: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_CLOCK_AT_END = re.compile(
    r"(?P<day>.*?)[ Tt]+(?P<clock>00:00(?::00(?:\.0+)?)?)(?:[Zz]|\+00:?00)?", re.DOTALL
)
_YEAR_FIRST = re.compile(r"(\d{4})([-/. ]?)(\d{1,2})\2(\d{1,2})", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/. ])\s?(\d{1,2})\2\s?(\d{4})", re.ASCII)
_DAY_IN_WORDS = re.compile(r"(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)?[ -]([a-z]{3,9})\.?,?[ -](\d{4})", re.ASCII)
_MONTH_IN_WORDS = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", re.ASCII)
_MIDDAY: Final = 12


def _day(text: str) -> str | None:
    """Return the day in a text, as `2026-01-31`: `31.01.2026`, `Jan 31, 2026`, `2026-01-31T00:00:00`.

    The result is None if each of the first two numbers may be the month, as in `01/02/2026`.
    """
    at_midnight = _CLOCK_AT_END.fullmatch(text)
    text = (at_midnight["day"] if at_midnight else text).casefold()
    if found := _YEAR_FIRST.fullmatch(text):
        year, by, month, day = found.groups()
        return None if not by and len(text) != len("20260131") else _written(year, month, day)
    if found := _YEAR_LAST.fullmatch(text):
        one, _, other, year = found.groups()
        if int(one) <= _MIDDAY and int(other) <= _MIDDAY and int(one) != int(other):
            return None
        return _written(year, *((other, one) if int(other) <= _MIDDAY else (one, other)))
    if found := _DAY_IN_WORDS.fullmatch(text):
        return _written(found[3], _month(found[2]), found[1])
    if found := _MONTH_IN_WORDS.fullmatch(text):
        return _written(found[3], _month(found[1]), found[2])
    return None


def _month(word: str) -> str:
    found = [at + 1 for at, name in enumerate(_MONTHS) if name == word or word in {name[:3], name[:4]}]
    return str(found[0]) if found else "0"


def _written(year: str, month: str, day: str) -> str:
    return f"{year}-{month:0>2}-{day:0>2}"


def _clock(text: str) -> str | None:
    """Return the time of day in a text, as `09:30:00`: `9:30`, `9:30 am`; None if it has a date."""
    found = re.fullmatch(r"(\d{1,2})(?::(\d\d))?(?::(\d\d))?\s*([ap])?\.?(?:m\.?)?", text.strip().casefold())
    if found is None or (found[2] is None and found[4] is None):
        return None
    hour = int(found[1])
    if found[4]:
        if not 1 <= hour <= _MIDDAY:
            return None
        hour = hour % _MIDDAY + _MIDDAY * (found[4] == "p")
    return f"{hour:02}:{found[2] or '00'}:{found[3] or '00'}"


_MOMENT = re.compile(
    r"(?P<day>.+?)(?:[Tt]|,? )(?P<clock>\d{1,2}:.+?)(?P<offset>[Zz]| ?UTC|[+-]\d\d:?\d\d)?", re.ASCII
)


def meant_times(format: Any, text: str) -> Any:  # noqa: A002  # its name in JSON Schema
    """Rewrite a text as a date, a time or a datetime of RFC 3339; return `NOTHING` if it isn't clear.

    Args:
        format: the `format` in the value's schema; None for a datetime without an offset.
        text: the received text.
    """
    if len(text) > _LONGEST:
        return NOTHING
    text = text.strip()
    if format == "date":
        return _day(text) or NOTHING
    found = _MOMENT.fullmatch(text)
    if found is None:
        return _clock(text) or NOTHING
    day, clock, offset = _day(found["day"]), _clock(found["clock"]), found["offset"] or ""
    if day is None or clock is None:
        return NOTHING
    offset = "Z" if offset.strip().upper() in {"Z", "UTC"} else offset
    return f"{day}T{clock}{offset}"
