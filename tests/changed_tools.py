"""Tools that change between the question to a person and the answer; random, so that nobody picks them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, make_dataclass
from random import Random
from typing import Any, NamedTuple

from operator_schema import tool
from operator_schema.tools import Tool

__all__ = ["FIXED", "KINDS", "Change", "change_of", "drawn", "keys_in"]

KINDS = ("same", "renamed", "removed", "added", "default", "default made anew", "type", "ignored")
"""What happens to a parameter, at any depth; `ignored`: nothing, and the model gives one that isn't there."""

FIXED = tuple([f"{kind}, {depth}" for kind in KINDS for depth in ("outside", "inside")])


class Change(NamedTuple):
    """A tool, what it is after a restart, and a call of which a person was asked.

    Attributes:
        kind: of `KINDS`.
        old: the tool at the question.
        new: the tool at the answer.
        arguments: of the call.
        ran: what either tool ran with, as JSON.
    """

    kind: str
    old: Tool[..., Any]
    new: Tool[..., Any]
    arguments: dict[str, Any]
    ran: list[Any]

    @property
    def approved(self) -> Any:
        """What a person agreed to: the arguments with which the old tool would run."""
        return self.old.encode_input(self.old.decode(self.arguments))


class _Field(NamedTuple):
    name: str
    type: Any
    value: Any  # that the model gives
    default: Any = ...  # none
    is_factory: bool = False


_VALUES: dict[Any, tuple[Any, ...]] = {
    int: (1, 2, -7, 10**12),
    float: (0.5, 2.0),
    str: ("", "a", "/x", "b c"),
    bool: (True, False),
    list[str]: ([], ["a"], ["a", "b"]),
    dict[str, int]: ({}, {"a": 1}),
}
_WIDER = {int: float, float: float | str, str: str | int, bool: bool | int, list[str]: list[str | int]}
_NAMES = ("path", "dry", "scope", "limit", "deep", "when")


def change_of(case: str) -> Change:
    """Return one of `FIXED`, or the one that a number draws."""
    if case.isdecimal():
        return drawn(Random(int(case)))  # noqa: S311  # it draws tools
    kind, _, depth = case.partition(", ")
    return _changed(kind, depth == "inside", Random(case))  # noqa: S311  # as above


def drawn(random: Random) -> Change:
    """Return a random change of a random tool."""
    return _changed(random.choice(KINDS), random.random() < 0.5, random)


def keys_in(value: Any) -> Iterator[str]:
    """Yield all keys of objects in JSON."""
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys_in(inner)


def _changed(kind: str, is_inside: bool, random: Random) -> Change:
    outer, inner = _fields(random), _fields(random)
    fields, ran = inner if is_inside else outer, []
    names = [name for name in _NAMES if name not in {one.name for one in fields}]
    changed = _CHANGES[kind](fields, random, names[0])
    old = _tool(outer, inner, ran)
    new = _tool(outer if is_inside else changed, changed if is_inside else inner, ran)
    arguments = {one.name: one.value for one in outer if _is_given(one, random, fields)}
    arguments["inside"] = {one.name: one.value for one in inner if _is_given(one, random, fields)}
    if kind == "ignored":
        (arguments["inside"] if is_inside else arguments)[names[0]] = True
    return Change(kind, old, new, arguments, ran)


def _is_given(one: _Field, random: Random, changed: list[_Field]) -> bool:
    """Return whether the model gives a field: the one that changes is the last, and a default may change."""
    if one is changed[-1]:
        return one.default is ...
    return one.default is ... or random.random() < 0.5


def _fields(random: Random) -> list[_Field]:
    """Return fields, of which the last one is optional or not, and always one that changes."""
    made = []
    for name in random.sample(_NAMES, random.randint(1, 4)):
        kind = random.choice(list(_VALUES))
        default = random.choice(_VALUES[kind]) if random.random() < 0.5 else ...
        made.append(
            _Field(name, kind, random.choice(_VALUES[kind]), default, kind in {list[str], dict[str, int]})
        )
    return made


def _given(one: _Field) -> _Field:
    return one._replace(default=...)


def _another(one: _Field, random: Random) -> Any:
    return random.choice([value for value in _VALUES[one.type] if value != one.default])


def _with_default(one: _Field, random: Random, *, anew: bool) -> list[_Field]:
    kind = list[str] if anew else random.choice([int, float, str, bool])
    one = _Field(one.name, kind, _VALUES[kind][1], _VALUES[kind][0], anew)
    return [one, one._replace(default=_another(one, random))]


def _last(change: Callable[[_Field, Random, str], list[_Field]]) -> Any:
    """Return what changes the last field of some, and leaves in both the form before the change."""

    def changed(fields: list[_Field], random: Random, free: str) -> list[_Field]:
        before, *after = change(fields[-1], random, free)
        fields[-1] = before
        return [*fields[:-1], *after]

    return changed


_CHANGES: dict[str, Any] = {
    "same": _last(lambda one, _, __: [one, one]),
    "renamed": _last(lambda one, _, free: [_given(one), one._replace(name=free, default=one.value)]),
    "removed": _last(lambda one, _, __: [_given(one)]),
    "added": _last(lambda one, _, free: [one, one, one._replace(name=free, default=one.value)]),
    "default": _last(lambda one, random, _: _with_default(one, random, anew=False)),
    "default made anew": _last(lambda one, random, _: _with_default(one, random, anew=True)),
    "type": _last(lambda one, _, __: [_given(one), _given(one)._replace(type=_WIDER.get(one.type, Any))]),
    "ignored": _last(lambda one, _, __: [one, one]),
}


def _tool(outer: list[_Field], inner: list[_Field], ran: list[Any]) -> Tool[..., Any]:
    inside = _class("Inside", inner)
    given = _class("Given", [*outer, _Field("inside", inside, None)])

    def delete(given: Any) -> str:
        """Delete."""
        ran.append(made.encode_input(given))
        return "deleted"

    delete.__annotations__ = {"given": given, "return": str}
    made: Tool[..., Any] = tool(confirm=True)(delete)
    return made


def _class(name: str, fields: list[_Field]) -> type:
    made: list[Any] = []
    for one in sorted(fields, key=lambda one: one.default is not ...):
        if one.default is ...:
            made.append((one.name, one.type))
        elif one.is_factory:
            made.append(
                (one.name, one.type, field(default_factory=lambda one=one: type(one.default)(one.default)))
            )
        else:
            made.append((one.name, one.type, field(default=one.default)))
    return make_dataclass(name, made, namespace={"__doc__": f"{name}."}, frozen=True)
