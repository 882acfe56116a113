"""Wrong calls: the right one of a task with one or two of the mistakes that models make."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from judge_tasks import Task

EVERY_OTHER = 5
"""One wrong call in so many has a second mistake."""

_UNITS = ("units", "USD", "km", "hours", "kg")
_DATE_FORMS = ("{0}/{1}/{2}", "{2}.{1}.{0}", "{0}-{1}-{2}T00:00:00")


class WrongCall(NamedTuple):
    """A call that a model might have made.

    Attributes:
        task: what it was asked.
        mistakes: the kinds, of which the first one counts in tables.
        name: the tool that is called.
        arguments: what is sent.
    """

    task: Task
    mistakes: tuple[str, ...]
    name: str
    arguments: Any


class _Place(NamedTuple):
    """An argument that is sent, as the mistakes see it."""

    schema: dict[str, Any]
    value: Any
    is_required: bool
    is_date: bool


def _unit(place: _Place, rng: random.Random) -> Any:
    is_number = isinstance(place.value, (int, float)) and not isinstance(place.value, bool)
    return f"{place.value} {rng.choice(_UNITS)}" if is_number else None


def _word(place: _Place, rng: random.Random) -> Any:
    words = ("yes", "on") if place.value is True else ("no", "off") if place.value is False else None
    return words and rng.choice(words)


def _other_date(place: _Place, rng: random.Random) -> Any:
    return rng.choice(_DATE_FORMS).format(*place.value.split("-")) if place.is_date else None


def _choice(place: _Place, rng: random.Random) -> Any:
    if "enum" not in place.schema or not isinstance(place.value, str):
        return None
    value = place.value
    forms = [value.swapcase(), value[:-1], f"the {value} one", f"{value}s"]
    return rng.choice([form for form in forms if form not in place.schema["enum"]])


def _list_text(place: _Place, rng: random.Random) -> Any:
    is_list = isinstance(place.value, list) and len(place.value) > 1
    is_plain = is_list and all(isinstance(one, (str, int, float)) for one in place.value)
    return rng.choice([", ", "; ", "\n"]).join(map(str, place.value)) if is_plain else None


def _item(place: _Place, rng: random.Random) -> Any:
    if not isinstance(place.value, list) or not place.value:
        return None
    number = rng.randrange(len(place.value))
    item = place.value[number]
    wrong = f"{item} {rng.choice(_UNITS)}" if isinstance(item, (int, float)) else {"value": item}
    return [*place.value[:number], wrong, *place.value[number + 1 :]]


def _object_text(place: _Place, _: random.Random) -> Any:
    return json.dumps(place.value) if isinstance(place.value, dict) else None


IN_VALUES: dict[str, Callable[[_Place, random.Random], Any]] = {
    "number with a unit": _unit,
    "word for a boolean": _word,
    "date in another form": _other_date,
    "wrong choice": _choice,
    "list as text": _list_text,
    "wrong list item": _item,
    "object as text": _object_text,
}
"""Mistakes in one value; each returns None where there is none to make."""


def _other_name(key: str, rng: random.Random) -> str:
    first, *others = key.split("_")
    camel = first + "".join(map(str.title, others))
    return rng.choice([*({camel} - {key}), f"the_{key}", f"{key}_value"])


def _with_key(arguments: dict[str, Any], key: str, change: Any) -> dict[str, Any]:
    """Return arguments with other entries in the place of one key."""
    return dict(
        entry for name, value in arguments.items() for entry in (change if name == key else [(name, value)])
    )


IN_KEYS: dict[str, Callable[[str, Any, random.Random], list[tuple[str, Any]]]] = {
    "other name": lambda key, value, rng: [(_other_name(key, rng), value)],
    "left out": lambda *_: [],
    "null": lambda key, *_: [(key, None)],
}
"""Mistakes with a required key: the entries in its place."""

AROUND = {
    "nested": ("arguments", "input", "parameters"),
}
OF_NAME = "unknown tool"
KINDS = (*IN_VALUES, *IN_KEYS, *AROUND, OF_NAME)


def _other_tool(name: str, rng: random.Random) -> str:
    first, *others = name.split("_")
    camel = first + "".join(map(str.title, others))
    return rng.choice([f"functions.{name}", f"{name}_tool", f"get_{name}", *({camel} - {name})])


def _place(task: Task, arguments: Any, key: str) -> _Place:
    schema = task.tool.input_schema()
    field = schema["properties"].get(key, {})
    is_date = field.get("format") == "date" and isinstance(arguments[key], str)
    return _Place(field, arguments[key], key in schema.get("required", []), is_date)


def with_mistake(call: WrongCall, kind: str, rng: random.Random) -> WrongCall | None:
    """Return a call with one more mistake; None if there is no place for it."""
    arguments = call.arguments
    if kind == OF_NAME:
        changed = arguments
    elif kind in AROUND:
        changed = {rng.choice(AROUND[kind]): arguments}
    else:
        changed = _changed(call, kind, rng)
    name = _other_tool(call.name, rng) if kind == OF_NAME else call.name
    return None if changed is None else WrongCall(call.task, (*call.mistakes, kind), name, changed)


def _changed(call: WrongCall, kind: str, rng: random.Random) -> dict[str, Any] | None:
    properties = call.task.tool.input_schema()["properties"]
    keys = [key for key in call.arguments if key in properties]
    rng.shuffle(keys)
    for key in keys:
        place = _place(call.task, call.arguments, key)
        if kind in IN_KEYS:
            if place.is_required:
                return _with_key(call.arguments, key, IN_KEYS[kind](key, place.value, rng))
        elif (made := IN_VALUES[kind](place, rng)) is not None:
            return _with_key(call.arguments, key, [(key, made)])
    return None


def wrong_calls(
    tasks: Iterable[Task], number: int, seed: object, is_refused: Callable[[WrongCall], bool]
) -> list[WrongCall]:
    """Return wrong calls, one for each of some tasks, with the kinds as evenly as the tasks allow.

    Args:
        tasks: in the order in which they are taken.
        number: how many calls.
        seed: says what is drawn; each task draws for itself, so that another one changes little.
        is_refused: whether a call is one; a mistake that a tool takes as it is isn't.
    """
    found: list[WrongCall] = []
    seen: Counter[str] = Counter()
    for task in tasks:
        if len(found) == number:
            break
        rng = random.Random(f"{seed}:{task.id}")  # noqa: S311  # repeatable on purpose
        right = WrongCall(task, (), task.tool.name, task.arguments)
        for kind in sorted(KINDS, key=lambda kind: (seen[kind], rng.random())):
            call = _made(right, kind, rng, is_second=len(found) % EVERY_OTHER == EVERY_OTHER - 1)
            if call is not None and is_refused(call):
                found.append(call)
                seen[kind] += 1
                break
    return found


def _made(right: WrongCall, kind: str, rng: random.Random, *, is_second: bool) -> WrongCall | None:
    """Return a call with a mistake, and with a second one if there is a place for it."""
    others = [other for other in (*IN_VALUES, *IN_KEYS) if other != kind]
    rng.shuffle(others)
    for other in others if is_second else ():
        # The second one goes first, since what is nested or left out has no place any more.
        call = with_mistake(right, other, rng)
        both = call and with_mistake(call, kind, rng)
        if both is not None:
            return both._replace(mistakes=(kind, other))
    return with_mistake(right, kind, rng)
