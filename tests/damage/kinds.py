"""The kinds of damage, one or more for each row of the table of repairs.

A damage is applied only where a reader who knows the type could tell what was meant; what can't be
told any more stands in `test_damage.py` and in the second table of the run, as what must not be repaired.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from places import ABSENT, Place, takes_text

from operator_schema.engine import ArrayNode, EnumNode, LiteralNode, ObjectNode, ScalarNode

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from operator_schema.engine import Field

NOT_HERE: Any = object()
"""What a damage returns where there is no place for it."""


# --- JSON in strings -------------------------------------------------------------------------------


def array_as_text(place: Place, value: Any, rng: random.Random) -> Any:
    return _as_text(value, rng) if isinstance(value, list) and not place.takes_text else NOT_HERE


def object_as_text(place: Place, value: Any, rng: random.Random) -> Any:
    is_inner = isinstance(value, dict) and place.path and not place.takes_text
    return _as_text(value, rng) if is_inner else NOT_HERE


def root_as_text(place: Place, value: Any, rng: random.Random) -> Any:
    return NOT_HERE if place.path else _as_text(value, rng)


def _as_text(value: Any, rng: random.Random) -> str:
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 2]))
    return json.dumps(text) if rng.random() < 0.1 else rng.choice(["", "", " ", "\n"]) + text


# --- numbers, booleans, null in quotes ----------------------------------------------------------------


def number_as_text(place: Place, value: Any, _rng: random.Random) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and not place.takes_text
    return json.dumps(value) if is_number and not _rounds(place, value) else NOT_HERE


def boolean_as_text(place: Place, value: Any, rng: random.Random) -> Any:
    if not isinstance(value, bool) or place.takes_text:
        return NOT_HERE
    return rng.choice([str(value), json.dumps(value)])


def null_as_text(place: Place, value: Any, rng: random.Random) -> Any:
    is_null = value is None or (value is ABSENT and place.field and place.field.absent_is_none)
    return rng.choice(["null", "None"]) if is_null and not place.takes_text else NOT_HERE


def _rounds(place: Place, value: Any) -> bool:
    """Say whether its text is another number than what it is decoded to."""
    types = {member.type for member in place.members if isinstance(member, ScalarNode)}
    if isinstance(value, float):
        return "integer" in types and Decimal(json.dumps(value)) != Decimal(value)
    return "number" in types and abs(value) > 2**53


# --- null where the default is meant ---------------------------------------------------------------


def null_for_default(place: Place, value: Any, _rng: random.Random) -> Any:
    return None if _is_default(place, value) else NOT_HERE


def quoted_null_for_default(place: Place, value: Any, rng: random.Random) -> Any:
    is_here = _is_default(place, value) and not place.takes_text
    return rng.choice(["null", "None"]) if is_here else NOT_HERE


def empty_for_default(place: Place, value: Any, _rng: random.Random) -> Any:
    is_here = _is_default(place, value) and not place.takes_text and not _is_item(place, "")
    return "" if is_here else NOT_HERE


def _is_item(place: Place, text: str) -> bool:
    """Say whether a text may be the one item of an array that is wanted here."""
    arrays = [node for node in place.members if isinstance(node, ArrayNode)]
    return any(place.fitting.fits(node.items, text, 1) for node in arrays)


def _is_default(place: Place, value: Any) -> bool:
    """Say whether the key was left out, and null means nothing else there."""
    if value is not ABSENT or place.owner is None or place.owner.form == "typed_dict":
        return False
    return not place.fits(None)


# --- choices ---------------------------------------------------------------------------------------


def choice_in_another_case(place: Place, value: Any, rng: random.Random) -> Any:
    made = rng.choice([str.upper, str.title, str.capitalize, str.lower])
    return _named(place, value, made(value)) if isinstance(value, str) else NOT_HERE


def choice_with_spaces(place: Place, value: Any, rng: random.Random) -> Any:
    if not isinstance(value, str):
        return NOT_HERE
    words = re.split(r"[-_ ]", value)
    return _named(place, value, rng.choice([" ", "_", "-", ""]).join(words) + rng.choice(["", "", " "]))


def member_name(place: Place, value: Any, rng: random.Random) -> Any:
    names = [
        name
        for node in place.members
        if isinstance(node, EnumNode)
        for name, member in node.type.__members__.items()
        if type(member.value) is type(value) and member.value == value
    ]
    made = rng.choice([str.upper, str.lower, str.title, lambda name: name.replace("_", " ")])
    return _named(place, value, made(names[0])) if names else NOT_HERE


def _named(place: Place, value: Any, written: str) -> Any:
    """Return what was written, where no other string could be meant and it names one choice alone."""
    choices = [node for node in place.members if isinstance(node, (LiteralNode, EnumNode))]
    others = [node for node in place.members if node not in choices]
    if len(choices) != 1 or any(map(takes_text, others)) or place.fits(written):
        return NOT_HERE
    (node,) = choices
    named = {_folded(choice): choice for choice in node.values if isinstance(choice, str)}
    if isinstance(node, EnumNode):
        named |= {_folded(name): member.value for name, member in node.type.__members__.items()}
    return written if named.get(_folded(written)) == value else NOT_HERE


def _folded(name: str) -> str:
    return re.sub("[-_ ]", "", name).casefold()


# --- arrays ------------------------------------------------------------------------------------------


def single_item(place: Place, value: Any, _rng: random.Random) -> Any:
    arrays = [node for node in place.members if isinstance(node, ArrayNode)]
    if len(arrays) != 1 or not isinstance(value, list) or len(value) != 1:
        return NOT_HERE
    (item,) = value
    # An array of arrays, null and a string that may be JSON have two readings.
    # So has a string that may be several items.
    is_unclear = item is None or isinstance(item, list)
    is_unclear = is_unclear or (isinstance(item, str) and (_like_json(item) or _like_list(item)))
    if item == "" and place.field is not None and not place.field.required:
        return NOT_HERE  # the default may be meant
    return NOT_HERE if is_unclear or place.fits(item) else item


def _like_list(text: str) -> bool:
    return re.search("[,;\n\r\uff0c\uff1b\u3001]", text.strip()) is not None


def _like_json(text: str) -> bool:
    return (
        text.strip() in {"True", "False", "None"}
        or re.match(r"\s*(\[|\{|\"|-?\d|true|false|null)", text) is not None
    )


# --- keys --------------------------------------------------------------------------------------------


def key_in_another_convention(field: Field, rng: random.Random) -> str:
    words = [word for word in re.split(r"[-_ ]|(?<=[a-z])(?=[A-Z])", field.key) if word]
    lower = [word.lower() for word in words]
    return rng.choice([
        lower[0] + "".join(word.capitalize() for word in lower[1:]),
        "".join(word.capitalize() for word in lower),
        "_".join(lower),
        "-".join(lower),
        " ".join(lower),
        "_".join(lower).upper(),
    ])  # fmt: skip


def name_for_alias(field: Field, _rng: random.Random) -> str:
    return field.name


# --- the text ------------------------------------------------------------------------------------------


def written(value: Any, rng: random.Random, kinds: set[str]) -> str:
    """Write a call as text with these kinds of damage in it, each at least once if it has a place."""
    text = _Writer(rng, kinds).write(value) if kinds - {"fence"} else json.dumps(value)
    return _fenced(text, rng) if "fence" in kinds else text


def _fenced(text: str, rng: random.Random) -> str:
    line = rng.choice(["\n", "\n", "\r\n"])
    around = rng.choice(["", "", "\n", "  "])
    return f"{around}```{rng.choice(['json', 'JSON', '', 'python', 'json5'])}{line}{text}{line}```{around}"


class _Writer:
    def __init__(self, rng: random.Random, kinds: set[str]) -> None:
        self.rng = rng
        self.kinds = kinds

    def write(self, value: Any) -> str:
        if isinstance(value, dict):
            items = [
                f"{self.gap()}{self.text(key)}{self.gap()}: {self.write(item)}" for key, item in value.items()
            ]
            return "{" + self.joined(items) + "}"
        if isinstance(value, list):
            return "[" + self.joined([self.gap() + self.write(item) for item in value]) + "]"
        if isinstance(value, str):
            return self.text(value)
        return repr(value) if "python words" in self.kinds else json.dumps(value)

    def joined(self, items: list[str]) -> str:
        trailing = "," if "trailing comma" in self.kinds and items else ""
        return ", ".join(items) + trailing + self.gap()

    def text(self, value: str) -> str:
        return repr(value) if "single quotes" in self.kinds else json.dumps(value)

    def gap(self) -> str:
        if "comment" not in self.kinds:
            return ""
        return self.rng.choice(
            ['/* it\'s "so" */', " // why, [really] }\n", "# that's {it}\n", "\n\t", "/**/"]
        )


TEXT_KINDS: tuple[str, ...] = ("fence", "trailing comma", "comment", "python words", "single quotes")


def has_place(kind: str, value: Any) -> bool:
    """Say whether a kind of damage changes the text of a call."""
    if kind == "trailing comma":
        return _holds(value, lambda item: isinstance(item, (list, dict)) and bool(item))
    if kind == "python words":
        return _holds(value, lambda item: item is None or isinstance(item, bool))
    if kind == "single quotes":
        return _holds(value, lambda item: isinstance(item, str) or (isinstance(item, dict) and bool(item)))
    return True


def _holds(value: Any, test: Callable[[Any], bool]) -> bool:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return test(value) or any(_holds(part, test) for part in parts)


VALUE_KINDS: dict[str, Any] = {
    "array as text": array_as_text,
    "object as text": object_as_text,
    "root as text": root_as_text,
    "number as text": number_as_text,
    "boolean as text": boolean_as_text,
    "null as text": null_as_text,
    "null for default": null_for_default,
    '"null" for default': quoted_null_for_default,
    '"" for default': empty_for_default,
    "choice: case": choice_in_another_case,
    "choice: spaces": choice_with_spaces,
    "choice: member name": member_name,
    "single item": single_item,
}
KEY_KINDS: dict[str, Any] = {
    "key: convention": key_in_another_convention,
    "key: name for alias": name_for_alias,
}
KINDS: tuple[str, ...] = (*VALUE_KINDS, *KEY_KINDS, *TEXT_KINDS)


def new_key(kind: str, place: Place, rng: random.Random) -> Any:
    """Return another key for the value at a place, where no other field could be meant by it."""
    field, owner = place.field, place.owner
    if field is None or owner is None or place.value is ABSENT:
        return NOT_HERE
    key = KEY_KINDS[kind](field, rng)
    is_taken = key in place.around or key in {other.key for other in owner.fields}
    return NOT_HERE if is_taken or _is_shared(key, field, owner) else key


def _is_shared(key: str, field: Field, owner: ObjectNode) -> bool:
    others = [other for other in owner.fields if other is not field]
    return any(_folded(key) in {_folded(other.key), _folded(other.name)} for other in others)
