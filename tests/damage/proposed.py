"""Mistakes that repair leaves alone, and of which the text of the error shows what was meant.

Each is judged by the call at the end of the text: it is the original, or it isn't there.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any

from calls import Call
from kinds import NOT_HERE
from places import ABSENT, Place, places_of

from operator_schema import DecodeError
from operator_schema.engine import ArrayNode, EnumNode, LeafNode, LiteralNode

if TYPE_CHECKING:
    from collections.abc import Callable

SHARE_SHOWN = 0.9


def number_with_unit(place: Place, value: Any, rng: random.Random) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**12
    return (
        rng.choice(["{} units", "{} pieces", "{} kg"]).format(value)
        if is_number and not place.takes_text
        else NOT_HERE
    )


def number_with_separators(place: Place, value: Any, _rng: random.Random) -> Any:
    is_large = isinstance(value, int) and not isinstance(value, bool) and 10**6 <= abs(value) < 10**12
    return f"{value:,}" if is_large and not place.takes_text else NOT_HERE


def word_for_boolean(place: Place, value: Any, rng: random.Random) -> Any:
    if not isinstance(value, bool) or place.takes_text:
        return NOT_HERE
    return rng.choice(["yes", "Yes", "on", 1] if value else ["no", "No", "off", 0])


def list_as_text(place: Place, value: Any, rng: random.Random) -> Any:
    is_list = isinstance(value, list) and len(value) > 1 and not place.takes_text
    if not is_list or len(place.members) > 1 or len(set(map(str, value))) < len(value):
        return NOT_HERE
    is_plain = all(isinstance(item, int) or (isinstance(item, str) and item.isalnum()) for item in value)
    is_array = isinstance(place.members[0], ArrayNode) and not any(isinstance(item, bool) for item in value)
    return rng.choice([", ", "; ", "\n"]).join(map(str, value)) if is_plain and is_array else NOT_HERE


def choice_in_words(place: Place, value: Any, rng: random.Random) -> Any:
    is_choice = all(isinstance(node, (LiteralNode, EnumNode)) for node in place.members)
    if not is_choice or not isinstance(value, str) or not value.isalpha():
        return NOT_HERE
    return rng.choice(["the {} one", "{}, please", "'{}'"]).format(value)


def date_in_another_form(place: Place, value: Any, rng: random.Random) -> Any:
    is_date = all(
        isinstance(node, LeafNode) and node.leaf.json_schema.get("format") == "date" for node in place.members
    )
    if not is_date or not isinstance(value, str):
        return NOT_HERE
    day = date.fromisoformat(value)
    if day.year < 1000:
        return NOT_HERE
    forms = [f"{day:%Y/%m/%d}", f"{day:%B} {day.day}, {day.year}", f"{value}T00:00:00"]
    return rng.choice([*forms, f"{day:%d.%m.%Y}"] if day.day > 12 else forms)


VALUES: dict[str, Callable[[Place, Any, random.Random], Any]] = {
    "number with a unit": number_with_unit,
    "number with separators": number_with_separators,
    "word for a boolean": word_for_boolean,
    "list as text": list_as_text,
    "choice in words": choice_in_words,
    "date in another form": date_in_another_form,
}
KEYS: dict[str, Callable[[str], str]] = {
    "key: one slip": lambda key: key[:2] + key[3:] if len(key) > 3 else key,
    "key: one word more": lambda key: f"the_{key}",
}
WRAPPERS: dict[str, str] = {"wrapper: arguments": "arguments", "wrapper: input": "input"}
PROPOSED = (*VALUES, *KEYS, *WRAPPERS)


def damaged_so(call: Call, kind: str, rng: random.Random) -> Any:
    """Make a mistake of one kind in a call; `NOT_HERE` where it has no place for it."""
    value = copy.deepcopy(call.arguments)
    if kind in WRAPPERS:
        return {WRAPPERS[kind]: value} if value else NOT_HERE
    places = [
        place for place in places_of(call.codec.graph, value) if place.path and place.value is not ABSENT
    ]
    rng.shuffle(places)
    for place in [place for place in places if place.value is not ABSENT]:
        around = value
        for step in place.path[:-1]:
            around = around[step]
        last: Any = place.path[-1]
        if kind in KEYS:
            other = KEYS[kind](str(last))
            if place.field is not None and place.field.required and other not in around and other != last:
                around[other] = around.pop(last)
                return value
            continue
        made = VALUES[kind](place, place.value, rng)
        if made is not NOT_HERE and not place.fits(made):
            around[last] = made
            return value
    return NOT_HERE


def propose(calls: list[Call], seed: str) -> tuple[Counter[tuple[str, str]], list[tuple[str, str, str]]]:
    """Count by kind of mistake what the text shows: `right`, `absent`, `wrong`; give the wrong ones."""
    rng = random.Random(seed)  # noqa: S311  # repeatable on purpose
    counts, wrong = Counter[tuple[str, str]](), list[tuple[str, str, str]]()
    for call in calls:
        original = call.codec.decode(call.arguments)
        for kind in PROPOSED:
            sent = damaged_so(call, kind, rng)
            if sent is NOT_HERE:
                continue
            try:
                call.codec.decode(sent)
            except DecodeError as error:
                meant = error.correction()
                is_right = meant is not None and call.codec.decode(meant) == original
                what = "absent" if meant is None else "right" if is_right else "wrong"
                counts[kind, what] += 1
                if what == "wrong":
                    wrong.append((kind, f"{call.codec.name} {sent!r}", str(meant)))
    return counts, wrong


def share_right(counts: Counter[tuple[str, str]], kind: str) -> float:
    """Return the share of the mistakes of a kind that are shown right."""
    total = sum(counts[kind, what] for what in ("right", "absent", "wrong"))
    return counts[kind, "right"] / total if total else 1.0
