"""What must not be repaired: each is kept as it came, or refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from calls import Call
from kinds import written
from places import ABSENT, Place

from operator_schema import Codec, DecodeError
from operator_schema.engine import ScalarNode


class Trap(NamedTuple):
    """Something sent that tempts to be repaired.

    Attributes:
        codec: that it is sent to, with repair on.
        sent: a value, or text if it is `bytes`.
        wanted: `kept` or `refused`.
        original: what it decodes to where it is kept.
    """

    codec: Codec[Any]
    sent: Any
    wanted: str
    original: Any = None

    def outcome(self) -> tuple[str, str]:
        """Say what came of it, and show it."""
        try:
            is_text = isinstance(self.sent, bytes)
            report = (self.codec.decode_json_report if is_text else self.codec.decode_report)(self.sent)
        except DecodeError as error:
            return "refused", str(error)
        kept = report.instance == self.original and not report.repairs
        return ("kept" if kept else "changed"), repr(report)


TEMPTING = [
    "5",
    "-2.5",
    "true",
    "None",
    "null",
    "",
    "[1]",
    '{"a": 1}',
    "'x'",
    " Yes",
    "```json\n{}\n```",
    '"q"',
    "1,",
    "NaN",
]


def text_for_text(call: Call, places: list[Place], rng: random.Random) -> Trap | None:
    """A text that looks like something else, where text is wanted."""
    found = [
        p for p in places if p.members == (ScalarNode("string"),) and isinstance(p.value, str) and p.path
    ]
    found = [place for place in found if place.field and not place.field.absent_is_none]
    if not found:
        return None
    sent = _with(call.arguments, rng.choice(found), rng.choice(TEMPTING))
    return Trap(call.repairing, sent, "kept", call.codec.decode(sent))


def text_beyond_the_type(call: Call, places: list[Place], rng: random.Random) -> Trap | None:
    """A number for text: what the model's text was, nobody knows."""
    found = [
        p for p in places if p.members == (ScalarNode("string"),) and isinstance(p.value, str) and p.path
    ]
    if not found:
        return None
    return Trap(
        call.repairing, _with(call.arguments, rng.choice(found), rng.choice([5, 1.5, True])), "refused"
    )


def rounded_number(call: Call, places: list[Place], rng: random.Random) -> Trap | None:
    """A number with a fraction where an integer is wanted, in quotes or not."""
    found = [p for p in places if [m.type for m in p.members if isinstance(m, ScalarNode)] == ["integer"]]
    found = [p for p in found if len(p.members) == 1 and p.value is not ABSENT]
    if not found:
        return None
    sent = _with(
        call.arguments,
        rng.choice(found),
        rng.choice([2.5, "2.5", "1e-1", " 5", "+5", "05", "5.", "1_000", "٣"]),
    )
    return Trap(call.repairing, sent, "refused")


def cut_text(call: Call, _places: list[Place], rng: random.Random) -> Trap | None:
    """Half a call."""
    kinds = rng.choice([set[str](), {"single quotes"}, {"comment"}, {"trailing comma", "python words"}])
    whole = written(call.arguments, rng, kinds) if kinds else json.dumps(call.arguments)
    end = whole.rindex("}")
    cut = whole[: rng.randint(1, end)] if end else ""
    fenced = rng.choice([cut, cut, f"```json\n{cut}", f"```json\n{cut}\n```"])
    return Trap(call.repairing, fenced.encode(), "refused")


def cut_text_in_string(call: Call, places: list[Place], rng: random.Random) -> Trap | None:
    """Half an array or object, as a string."""
    found = [
        p for p in places if p.path and isinstance(p.value, (list, dict)) and p.value and not p.takes_text
    ]
    if not found:
        return None
    place = rng.choice(found)
    text = json.dumps(place.value)
    sent = text[: rng.randint(1, len(text) - 1)]
    return Trap(call.repairing, _with(call.arguments, place, sent), "refused")


def key_that_is_there(call: Call, places: list[Place], rng: random.Random) -> Trap | None:
    """A key in another convention next to the proper one: the proper one counts, the other is unknown."""
    found = [p for p in places if p.field and len(p.path) == 1 and p.value is not ABSENT]
    if not found:
        return None
    place = rng.choice(found)
    other = str(place.path[0]).upper()
    if other in call.arguments or other == place.path[0]:
        return None
    sent = {other: "something else", **call.arguments}
    if call.codec.report(sent):
        return Trap(call.repairing, sent, "refused")
    return Trap(call.repairing, sent, "kept", call.codec.decode(call.arguments))


def two_keys(call: Call, places: list[Place], rng: random.Random) -> Trap | None:
    """Two keys in other conventions for one required field: either could be meant."""
    found = [p for p in places if p.field and p.field.required and len(p.path) == 1 and p.value is not ABSENT]
    found = [p for p in found if "_" in str(p.path[0])]
    if not found:
        return None
    key = str(rng.choice(found).path[0])
    rest = {name: item for name, item in call.arguments.items() if name != key}
    item = call.arguments[key]
    return Trap(call.repairing, {key.upper(): item, key.replace("_", "-"): item, **rest}, "refused")


def unknown_key(call: Call, _places: list[Place], rng: random.Random) -> Trap | None:
    """A key that names nothing: refused where unknown keys are, else ignored."""
    sent = {**call.arguments, "unheard_of": rng.choice([None, "", 5])}
    if call.codec.report(sent):
        return Trap(call.repairing, sent, "refused")
    return Trap(call.repairing, sent, "kept", call.codec.decode(call.arguments))


def _with(arguments: Any, place: Place, value: Any) -> Any:
    made = around = json.loads(json.dumps(arguments))
    for step in place.path[:-1]:
        around = around[step]
    around[place.path[-1]] = value
    return made


HANDS_OFF: dict[str, Callable[[Call, list[Place], random.Random], Trap | None]] = {
    "text that looks like JSON, for text": text_for_text,
    "a number for text": text_beyond_the_type,
    "a number that is no integer, for one": rounded_number,
    "text that was cut off": cut_text,
    "a string that was cut off": cut_text_in_string,
    "another spelling of a key that is there": key_that_is_there,
    "two other spellings of one key": two_keys,
    "an unknown key": unknown_key,
}
"""What came, and what makes it of a call; None where a call has no place for it."""
