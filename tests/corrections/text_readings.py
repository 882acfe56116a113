"""What a person reads in a short text where something else than text is wanted.

This is written from how people write numbers, lists and dates, and shares no code with the library. It says
less than a person knows: a reading that most people have, but not all, may be suggested, and needn't be.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from operator_schema.types import LocalDateTime


class Reading(NamedTuple):
    """What may be suggested for a text.

    Attributes:
        allowed: each value that may be.
        is_clear: whether one of them has to be.
    """

    allowed: tuple[Any, ...] = ()
    is_clear: bool = False


NOTHING = Reading()
"""It isn't clear what was meant, so that nothing may be suggested."""


def read_integer(text: str) -> Reading:
    """Read a whole number: by itself, or with a mark or a word behind it, or a word before."""
    stripped = text.strip()
    if re.fullmatch(r"-?(0|[1-9]\d*)", text):
        return Reading((int(text),), is_clear=True)
    if found := re.fullmatch(r"(-?) ?(\d*)[.,]0+( ?[a-z]+)?", stripped):
        return Reading((int(found[1] + (found[2] or "0")),)) if stripped[0] != "," else NOTHING
    if found := re.fullmatch(r"(-?\d{1,3}([ ,]\d{3})+)( ?[a-z]+)?", stripped):
        return Reading((int(re.sub("[ ,]", "", found[1])),))
    if found := re.fullmatch(r"(-?) ?(\d+)([,;.]+|\s?[a-z]+(\s[a-z]+)*[\s.]*)?", stripped):
        return Reading((int(found[1] + found[2]),))
    if found := re.fullmatch(r"[a-z]+\s+(-?\d+)", stripped):
        return Reading((int(found[1]),))
    return NOTHING


def parts_of(text: str) -> tuple[str, list[str]] | None:
    """Return what parts a text, and its parts; None where a part is empty, or where two things part it."""
    stripped = text.strip(" \n").rstrip(",; \n")
    lines = [line.strip() for line in stripped.split("\n") if line.strip()] or [""]
    if len(lines) > 1:
        lines = [line.rstrip(",;").rstrip() for line in lines]
    separators = {mark for mark in ",;\n" if mark in "\n".join(lines)}
    if len(separators) > 1:
        return None
    separator = separators.pop() if separators else ""
    parts = [part.strip() for part in lines[0].split(separator)] if separator in {",", ";"} else lines
    return (separator, parts) if all(parts) else None


def read_integers(text: str) -> Reading:
    """Read a list of whole numbers. `1,234` may be one of one number, and `1-3` one of three."""
    if not text.strip():
        return Reading(([],))
    if re.fullmatch(r"\s*-?\d{1,3}([, ]\d{3})+\s*", text):
        return NOTHING
    found = parts_of(text)
    if found is None:
        return NOTHING
    separator, parts = found
    readings = [read_integer(part) for part in parts]
    if not separator and not readings[0].allowed:
        readings = [read_integer(part) for part in text.split()]
    if not all(reading.allowed for reading in readings):
        return NOTHING
    is_clear = all(reading.is_clear for reading in readings) and len(parts) > 1
    is_usual = re.fullmatch(f"[-\\d]+({separator} ?[-\\d]+)+", text) is not None
    return Reading(([reading.allowed[0] for reading in readings],), is_clear and is_usual)


def read_texts(text: str) -> Reading:
    """Read a list of texts: a text with nothing that parts it is its only one."""
    stripped = text.strip()
    if not stripped:
        return Reading(([],))
    found = parts_of(text)
    if found is None:
        return NOTHING
    separator, parts = found
    if not separator:
        return Reading(([text], [stripped]) if stripped == parts[0] else (parts,))
    bare = [part.removeprefix("- ") for part in parts]
    return Reading((parts, bare), re.fullmatch(f"[a-z]+({separator} ?[a-z]+)+", text) is not None)


YES, NO = ("yes", "y", "on", "true", "1", "enabled"), ("no", "n", "off", "false", "0", "disabled")


def read_boolean(text: str) -> Reading:
    """Read a word for true or false; of digits and single letters few may be."""
    word = text.strip().casefold().removesuffix(".")
    if word in YES or word in NO:
        return Reading((word in YES,), is_clear=text.casefold() == word and len(word) > 1)
    return NOTHING


def read_date(text: str) -> Reading:
    """Read a date of three numbers, of which one has to be a year, and only one can be the month."""
    found = re.fullmatch(r"\s*(\d+)([-/., ])(\d+)\2(\d+)\s*", text)
    if not found:
        return NOTHING
    first, separator, second, third = found[1], found[2], found[3], found[4]
    if len(first) == 4 and max(len(second), len(third)) < 3:
        days = {_day(first, second, third)} - {None} or {_day(first, third, second)} - {None}
        in_order = _day(first, second, third) is not None
    elif len(third) == 4 and max(len(first), len(second)) < 3:
        days = {_day(third, first, second), _day(third, second, first)} - {None}
        in_order = True
    else:
        return NOTHING
    if len(days) != 1:
        return NOTHING
    return Reading(tuple(days), is_clear=in_order and separator in "-/." and text == text.strip())


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


UNCLEAR: tuple[tuple[Any, str], ...] = (
    (
        int | float,
        (
            "30%|30 %|5 percent|5k|5 K|2M|2 million|3 thousand|5 dozen|1.5 bn|3-5|3 to 5|2 or 3|2 and 3|"
            "3 / 4|5/2|1/2 kg|3 x 4|2^3|2 1/2|five or so|ten|0x10|12:30|3 pm|1h30m|1 h 30 min|5 feet 6|"
            "5 kg 300 g|about 2-3 units|$5-10|between 3 and 5|at least 3|up to 5|10 or more|5+|<5|>= 10|"
            "not 5|n/a|unknown|many|none|--5|1 2|1,234,56|5 minutes ago|5 to 6 kg||.|-|1.2.3|NaN|Infinity|"
            "5½|5²|5⅓ kg|5 grand|5 mil|5 thou|5 pairs|5 tenths|5 halves|5 below zero|5 negative|5 unknown"
        ),
    ),
    (int, "1,5|1.5|1.5 kg|1,5 kg|-0.5 units|2.50"),
    (float, "1,234|12,5,7"),
    (
        bool,
        (
            "maybe|2|yes and no|yes/no|not yes|unknown|n/a||yes if possible|yes, but later|no idea|-1|10|"
            "0.5|null"
        ),
    ),
    (
        date,
        (
            "01/02/2026|1.2.2026|02-01-2026|12/31/26|31.1.26|26-01-31|tomorrow|today|next Friday|"
            "January 2026|2026|31 January|2026-02-30|Feb 30, 2026|May 32, 2026|2026-01-31T23:30:00-05:00|"
            "2026-01-31 14:30|Q1 2026|1769817600|2026-W05|between 2026-01-30 and 2026-01-31|"
            "2026-01-31/2026-02-05|2026-01-31 or 2026-02-01|not 2026-01-31|before 2026/01/31|"
        ),
    ),
    (
        datetime,
        (
            "2026-01-31|2026-01-31 09:30|2026/01/31 09:30:00|01/02/2026 09:30Z|9:30|2026-01-31 9:30 PM|"
            "now|1769817600||2026-02-30T09:30:00Z|2026-01-31T25:00:00Z|tomorrow at 9:30Z"
        ),
    ),
    (LocalDateTime, "2026-01-31T09:30:00Z|2026-01-31T09:30:00+02:00|2026-01-31|01/02/2026 09:30|9:30|now"),
    (
        Literal["north_gate", "north_wing", "south", "mid"],
        (
            "north|the north one|gate or wing|north gate or south|not south|anything but south|no south|"
            "any|all|other||n|north_gate, south|everything except mid|isn't south|southern wing"
        ),
    ),
    (
        list[int],
        (
            "1-3|1, 2 or 3|1, two, 3|1,234|1 to 3|1,,3|1, 2; 3, 4|1/2|n/a|not 1, 2|1, 2, ...|100,200|1.5, 2|"
            "2, or 4|2, 3, or 4|2, not 4|2 kg, 3 lb|1, 2 and more"
        ),
    ),
    (list[float], "1,5, 2,5|1,234.5, 2|2½, 3|1,5|1,200; 3"),
    (list[str], "a, b; c, d|a,,b|,a|a;;b|a, b or c|a, b\nc, d"),
    (dict[str, int], "a: 1, b: 2, c|a=1&a=2|a|1"),
)
"""Texts with more readings than one, or none, by the type that is wanted."""
