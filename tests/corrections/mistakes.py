"""The twelve kinds of mistakes, made of right calls by what their JSON Schema says.

A script makes a mistake only where a person who reads the schema could still tell what was meant: items with
commas in them aren't joined by commas, a choice isn't cut to what two choices begin with.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from right_calls import RightCall

Path = tuple[str | int, ...]


def repeatable(seed: int | str) -> random.Random:
    """Return random choices that are the same for the same seed."""
    return random.Random(seed)  # noqa: S311  # nobody has to be unable to guess them


class Place(NamedTuple):
    """One value of a call.

    Attributes:
        path: keys and indexes that lead to it.
        schema: what is wanted there; `{}` where it could be several things.
        value: what stands there.
        owner: the schema of the object with that key, if it is the value of one.
        is_item: whether it is inside an array.
    """

    path: Path
    schema: dict[str, Any]
    value: Any
    owner: dict[str, Any] | None
    is_item: bool

    @property
    def is_required(self) -> bool:
        """Whether the key has to be there."""
        return self.owner is not None and self.path[-1] in self.owner.get("required", [])


class Wrong(NamedTuple):
    """A call with mistakes in it.

    Attributes:
        kinds: of the mistakes, each with its form: `("number with a unit", "50 units")`.
        name: of the tool that is called.
        arguments: as they are sent.
    """

    kinds: tuple[tuple[str, str], ...]
    name: str
    arguments: Any


def places_of(schema: dict[str, Any], value: Any) -> list[Place]:
    """List the values of a call, those that hold others before them."""
    return list(_places(schema, schema, value, ()))[1:]


def _places(
    whole: dict[str, Any],
    part: Any,
    value: Any,
    path: Path,
    owner: dict[str, Any] | None = None,
    *,
    is_item: bool = False,
) -> Iterator[Place]:
    here = _meant(whole, part)
    yield Place(path, here, value, owner, is_item)
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in here.get("properties", {}):
                yield from _places(whole, here["properties"][key], inner, (*path, key), here, is_item=is_item)
    elif isinstance(value, list) and isinstance(here.get("items"), dict):
        for index, inner in enumerate(value):
            yield from _places(whole, here["items"], inner, (*path, index), is_item=True)


def _meant(whole: dict[str, Any], part: Any) -> dict[str, Any]:
    """Return the one schema that isn't null's, or nothing where there are several, or anything goes."""
    if not isinstance(part, dict):
        return {}
    if "$ref" in part:
        named = whole.get("$defs", {}).get(part["$ref"].removeprefix("#/$defs/"))
        return {} if named is None else _meant(whole, named)
    if "anyOf" in part:
        others = [each for each in part["anyOf"] if each != {"type": "null"}]
        meant = _meant(whole, others[0]) if len(others) == 1 else {}
        return meant | {"nullable": True} if meant else {}
    return part if isinstance(part.get("type"), str) or "enum" in part else {}


# --- forms of one value, by what it should be ----------------------------------------------------------

UNITS = ("units", "kg", "meters", "USD", "EUR", "minutes", "people", "°C", "km/h")


def number_with_unit(place: Place, rng: random.Random) -> dict[str, Any]:
    if not _is_number(place):
        return {}
    number = json.dumps(place.value)
    forms = {
        "N UNIT": f"{number} {rng.choice(UNITS)}",
        "NUNIT": f"{number}{rng.choice(('kg', 'km', '€', '°C'))}",
    }
    return forms | ({"$N": f"${number}"} if place.value >= 0 else {})


def _is_number(place: Place) -> bool:
    is_one = isinstance(place.value, (int, float)) and not isinstance(place.value, bool)
    is_written_out = is_one and not re.search("[eE]", json.dumps(place.value))
    return is_written_out and place.schema.get("type") in {"integer", "number"} and "enum" not in place.schema


def wrong_choice(place: Place, rng: random.Random) -> dict[str, Any]:
    value, choices = place.value, place.schema.get("enum", [])
    if not isinstance(value, str) or not all(isinstance(choice, str) for choice in choices):
        return {}
    if value not in choices or len(value) < 3:
        return {}
    spoken = re.sub("[-_]", " ", value)
    forms = {
        "case": rng.choice([value.upper(), value.title(), spoken, spoken.title()]),
        "cut off": value[: max(3, len(value) - rng.randint(1, 3))],
        "the … one": f"the {spoken} one",
        "key: …": f"{next(step for step in reversed(place.path) if isinstance(step, str))}: {value}",
        "one letter": _slip(value, rng) if len(value) > 3 else value,
    }
    return {form: text for form, text in forms.items() if _names_one(text, value, choices)}


def _names_one(text: str, value: str, choices: list[str]) -> bool:
    """Say whether a person would read a text as this choice, and as no other."""
    if text in choices:
        return False
    folded, wanted = _folded(text), _folded(value)
    others = [_folded(choice) for choice in choices if choice != value]
    if any(other in folded or folded in other or wanted in other or other in wanted for other in others):
        return False
    return all(_likeness(folded, other) < _likeness(folded, wanted) - 0.2 for other in others)


def _folded(text: str) -> str:
    return re.sub("[-_ ]", "", text).casefold()


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _slip(word: str, rng: random.Random) -> str:
    """Write a word with one letter left out, twice, or in the place of the next one."""
    at = rng.randrange(1, len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    return rng.choice(
        [before + after, before + letter + letter + after, before + after[0] + letter + after[1:]]
    )


def object_as_text(place: Place, _rng: random.Random) -> dict[str, Any]:
    if not isinstance(place.value, dict) or place.schema.get("type") != "object":
        return {}
    return {"JSON": json.dumps(place.value), "JSON, indented": json.dumps(place.value, indent=2)}


def list_as_text(place: Place, rng: random.Random) -> dict[str, Any]:
    if not isinstance(place.value, list) or place.schema.get("type") != "array":
        return {}
    forms = {"JSON": json.dumps(place.value)}
    texts = [_spoken(item) for item in place.value]
    items = place.schema.get("items")
    kind = items.get("type") if isinstance(items, dict) else None
    if len(texts) < 2 or not all(text is not None and _is_plain(text) for text in texts) or not kind:
        return forms
    written = [text for text in texts if text is not None]
    forms |= {
        ", ": ", ".join(written),
        ";": rng.choice([";", "; "]).join(written),
        "lines": "\n".join(written),
        "- lines": "".join(f"- {text}\n" for text in written).rstrip(),
    }
    if kind in {"integer", "number"} and "-" in "".join(written):
        del forms["- lines"]
    if kind != "string" or "enum" in items:
        forms["and"] = f"{', '.join(written[:-1])} and {written[-1]}"
        forms["[unquoted]"] = f"[{', '.join(written)}]"
        if kind == "string":
            forms[","] = ",".join(written)
    return forms


def _spoken(item: Any) -> str | None:
    """Return how an item is written without JSON around it."""
    if isinstance(item, bool) or not isinstance(item, (str, int, float)):
        return None
    return item if isinstance(item, str) else json.dumps(item)


def _is_plain(text: str) -> bool:
    """Say whether nothing in a text could part it, or be part of how lists are written."""
    return bool(re.fullmatch(r"[\w.:/@+-]+( [\w.:/@+-]+)*", text)) and not re.search(
        r"\b(and|or)\b|^[-+.]", text
    )


def wrong_item(place: Place, rng: random.Random) -> dict[str, Any]:
    """Return the forms of an item that is wrong as values are elsewhere, or in quotes."""
    if not place.path or not isinstance(place.path[-1], int):
        return {}
    forms = {}
    for name, make in _OF_ITEMS.items():
        forms |= {f"{name}: {form}": wrong for form, wrong in make(place, rng).items()}
    if _is_number(place):
        forms["in quotes"] = json.dumps(place.value)
    return forms


BOOLEAN_WORDS = {True: ("yes", "Yes", "on", "Y", "enabled"), False: ("no", "No", "off", "N", "disabled")}


def word_for_boolean(place: Place, rng: random.Random) -> dict[str, Any]:
    if not isinstance(place.value, bool) or place.schema.get("type") != "boolean":
        return {}
    word = rng.choice(BOOLEAN_WORDS[place.value])
    return {word: word, "in quotes": json.dumps(place.value), "1 or 0": int(place.value)}


def date_in_another_form(place: Place, _rng: random.Random) -> dict[str, Any]:
    value, wanted = place.value, place.schema.get("format")
    if not isinstance(value, str) or place.schema.get("type") != "string":
        return {}
    if wanted == "date" and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return dict(_dates(date.fromisoformat(value)))
    if wanted == "date-time" and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)", value):
        return dict(_datetimes(value))
    return {}


def _dates(day: date) -> Iterator[tuple[str, str]]:
    yield "Y/M/D", f"{day:%Y/%m/%d}"
    yield "Y.M.D", f"{day:%Y.%m.%d}"
    yield "YMD", f"{day:%Y%m%d}"
    yield "Y-M-DT0", f"{day}T00:00:00"
    yield "Y-M-D 0Z", f"{day}T00:00:00Z"
    yield "Month D, Y", f"{day:%B} {day.day}, {day.year}"
    yield "D Mon Y", f"{day.day} {day:%b} {day.year}"
    if day.day > 12:
        yield "D.M.Y", f"{day:%d.%m.%Y}"
        yield "M/D/Y", f"{day:%m/%d/%Y}"
        yield "D/M/Y", f"{day.day}/{day.month}/{day.year}"


def _datetimes(value: str) -> Iterator[tuple[str, str]]:
    moment = datetime.fromisoformat(value)
    offset = value[19:]
    yield "Y/M/D h:m:s", f"{moment:%Y/%m/%d %H:%M:%S}{offset}"
    yield "Y-M-DTh:m", f"{moment:%Y-%m-%dT%H:%M}{offset}"
    yield "space before offset", f"{moment:%Y-%m-%d %H:%M:%S} {offset}"
    yield "basic", f"{moment:%Y%m%dT%H%M%S}{offset.replace(':', '')}"
    yield "of letters", f"{moment:%a, %d %b %Y %H:%M:%S %z}"


def null(place: Place, _rng: random.Random) -> dict[str, Any]:
    takes_null = "nullable" in place.schema or place.schema.get("type", "null") == "null"
    return {} if takes_null or not place.is_required else {"null": None}


VALUE_KINDS: dict[str, Callable[[Place, random.Random], dict[str, Any]]] = {
    "wrong choice": wrong_choice,
    "object as text": object_as_text,
    "list as text": list_as_text,
    "wrong list item": wrong_item,
    "number with a unit": number_with_unit,
    "word for boolean": word_for_boolean,
    "date in another form": date_in_another_form,
    "null": null,
}
_OF_ITEMS = {
    name: VALUE_KINDS[name]
    for name in (
        "wrong choice",
        "object as text",
        "number with a unit",
        "word for boolean",
        "date in another form",
    )
}

# --- keys, wrappers, names -----------------------------------------------------------------------------


def other_name(place: Place, rng: random.Random) -> dict[str, str]:
    """Return other names for a key, none of them nearer to another key."""
    if place.owner is None:
        return {}
    key = str(place.path[-1])
    words = [word.lower() for word in re.split(r"[-_ ]|(?<=[a-z0-9])(?=[A-Z])", key) if word]
    if len(key) < 3 or not words:
        return {}
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    forms = {
        "convention": rng.choice(
            [camel, camel[0].upper() + camel[1:], "-".join(words), "_".join(words).upper()]
        ),
        "the_…": f"the_{key}",
        "…_value": f"{key}_value",
        "plural": key[:-1] if key.endswith("s") else f"{key}s",
    }
    if len(key) > 4:
        forms["one letter"] = _slip(key, rng)
    if len(words) > 1:
        forms["a word less"] = max(reversed(words), key=len)
    return {form: name for form, name in forms.items() if _is_of(name, key, place.owner)}


def _is_of(name: str, key: str, owner: dict[str, Any]) -> bool:
    folded, wanted = _folded(name), _folded(key)
    others = [_folded(other) for other in owner["properties"] if other != key]
    if name in owner["properties"] or any(other in folded or folded in other for other in others):
        return False
    return all(_likeness(folded, other) < _likeness(folded, wanted) - 0.2 for other in others)


WRAPPERS = ("arguments", "input", "parameters", "args", "params", "kwargs", "data", "payload", "request")


def wrapped(name: str, schema: dict[str, Any], arguments: Any, rng: random.Random) -> dict[str, Any]:
    """Return arguments one level too deep, or two."""
    keys = [key for key in (*WRAPPERS, name, "foo") if key not in schema.get("properties", {})]
    if not set(arguments) & set(schema.get("properties", {})) or len(keys) < 3:
        return {}
    usual, inner = keys[0], keys[1]
    anyhow = rng.choice(keys[:-2])
    return {
        anyhow: {anyhow: arguments},
        "NAME": {keys[-2]: arguments},
        "foo": {keys[-1]: arguments},
        "twice": {usual: {inner: arguments}},
        "JSON text": {anyhow: json.dumps(arguments)},
    }


def unknown_tool(name: str, rng: random.Random) -> dict[str, str]:
    """Return other names for a tool."""
    words = re.split("[-_]", name)
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    forms = {
        "functions.…": f"functions.{name}",
        "…_tool": f"{name}_tool",
        "get_…": f"get_{name}",
        "camel": camel,
        "-": name.replace("_", "-"),
        "case": name.upper(),
    }
    if len(name) > 5:
        forms["one letter"] = _slip(name, rng)
    return {form: other for form, other in forms.items() if other != name}


NOT_TO_COPY = ("left out", "null")
OPTIONAL = "other name, optional"
"""Of a key that needn't be there: by itself it's no problem, as unknown keys are ignored."""

KINDS = (
    "other name",
    OPTIONAL,
    *[kind for kind in VALUE_KINDS if kind != "null"],
    "nested",
    "unknown tool",
    *NOT_TO_COPY,
)

# --- making them ---------------------------------------------------------------------------------------


def wrong_call(call: RightCall, kinds: tuple[str, ...], rng: random.Random) -> Wrong | None:
    """Make one mistake of each kind in a call, each at a place of its own; None where one has no place."""
    name, arguments = call.subject.name, copy.deepcopy(call.arguments)
    places, made, taken = places_of(call.subject.schema, arguments), list[tuple[str, str]](), list[Path]()
    changes: list[tuple[Path, str, Any]] = []
    for kind in kinds:
        if kind in {"nested", "unknown tool"}:
            continue
        found = _chosen([place for place in places if not _is_near(place.path, taken)], kind, rng)
        if found is None:
            return None
        place, form, what = found
        taken.append(place.path)
        made.append((kind, form))
        changes.append((place.path, kind, what))
    for path, kind, what in changes:
        _change(arguments, path, kind, what)
    if "nested" in kinds:
        forms = wrapped(name, call.subject.schema, arguments, rng)
        if not forms:
            return None
        form = rng.choice(sorted(forms))
        made.append(("nested", form))
        arguments = forms[form]
    if "unknown tool" in kinds:
        names = unknown_tool(name, rng)
        form = rng.choice(sorted(names))
        made.append(("unknown tool", form))
        name = names[form]
    return Wrong(tuple(made), name, arguments)


def _is_near(path: Path, taken: list[Path]) -> bool:
    """Say whether one of two places holds the other."""
    return any(path[: len(other)] == other[: len(path)] for other in taken)


def _chosen(places: list[Place], kind: str, rng: random.Random) -> tuple[Place, str, Any] | None:
    """Choose a form that has a place, then a place: so a form is as likely where many places have another."""
    found: dict[str, list[tuple[Place, Any]]] = {}
    for place in places:
        if (
            kind in VALUE_KINDS
            and kind not in {"wrong list item", "null"}
            and place.path
            and isinstance(place.path[-1], int)
        ):
            continue  # this is a wrong list item
        for form, what in _forms(place, kind, rng).items():
            found.setdefault(form, []).append((place, what))
    if not found:
        return None
    form = rng.choice(sorted(found))
    place, what = rng.choice(found[form])
    return place, form, what


def _forms(place: Place, kind: str, rng: random.Random) -> dict[str, Any]:
    if kind in {"other name", OPTIONAL}:
        return other_name(place, rng) if place.is_required == (kind == "other name") else {}
    if kind == "left out":
        return {"key": None} if place.is_required else {}
    return VALUE_KINDS[kind](place, rng)


def _change(arguments: Any, path: Path, kind: str, what: Any) -> None:
    around = arguments
    for step in path[:-1]:
        around = around[step]
    last = path[-1]
    if kind == "left out":
        del around[last]
    elif kind in {"other name", OPTIONAL}:
        entries = [(what if key == last else key, value) for key, value in around.items()]
        around.clear()
        around.update(entries)
    else:
        around[last] = what
