"""Are two values the same: as JSON, by their `__eq__`, or in everything that they store?"""

from __future__ import annotations

from functools import cached_property
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

from .json_values import choice_key, is_array, is_object, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# --- JSON values ---------------------------------------------------------------------------------


CHARACTERS_A_STEP: Final = 32
"""How many characters count as one step."""


def is_same_json(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON value: 1 and 1.0 are, 1 and true aren't."""
    if one is other:
        return True
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(is_same_json, one, other))
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(is_same_json(item, other[key]) for key, item in one.items())
    return bool(type_of(one) and type_of(other)) and choice_key(one) == choice_key(other)


def same_text(value: Any, count: Callable[[int], None] = lambda _: None) -> str:
    """Return a text that is equal for two values exactly when they are the same JSON value.

    Args:
        value: a JSON value.
        count: called with a number of steps before these steps are done; it may raise an error to stop.
    """
    if isinstance(value, str):
        count(1 + len(value) // CHARACTERS_A_STEP)
        return str.__repr__(value)  # a member of a `StrEnum` has another `repr`
    count(1)
    if isinstance(value, float) and value.is_integer():
        return hex(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return hex(value)
    if is_array(value):
        return f"[{','.join([same_text(item, count) for item in value])}]"
    if is_object(value):
        pairs = [f"{same_text(key, count)}:{same_text(item, count)}" for key, item in value.items()]
        return f"{{{','.join(sorted(pairs))}}}"
    return float.__repr__(value) if isinstance(value, float) else repr(value)


# --- values of Python ----------------------------------------------------------------------------


def is_equal(one: Any, other: Any) -> bool:
    """Return whether two values of one class are equal: by its `__eq__`, or in everything that they store."""
    try:
        return bool(one == other) or (type(one) is type(other) and is_same_state(one, other))
    except Exception:  # noqa: BLE001  # a class's own code
        return False


_ARRAYS: Final[Any] = (list, tuple)
_RECORDS: Final = ("__dataclass_fields__", "__pydantic_fields__", "__attrs_attrs__", "__struct_fields__")
"""Attributes of classes whose instances are compared by their fields: dataclasses and those of other
libraries."""

_NOT_KEPT: Final = frozenset({"__pydantic_private__", "__pydantic_fields_set__"})
"""Attributes of pydantic's models that don't affect the values of their fields."""


def is_same_state(made: object, given: object) -> bool:
    """Return whether a value is the same as a newly made one, at every depth.

    All attributes of instances count, even those that aren't fields or that an `__eq__` leaves out. Objects
    whose state can't be known, such as functions, aren't the same.

    Args:
        made: the new value.
        given: the other value, of the same class, a subclass or a base class; only the attributes that `made`
            has count.
    """
    try:
        return _is_same(made, given)
    except Exception:  # noqa: BLE001  # a class's own code, or values that hold themselves
        return False


def _is_same(made: Any, given: Any) -> bool:
    if made is given:
        return True
    if is_object(made) and is_object(given):
        return _is_same_mapping(made, given)
    if isinstance(made, _ARRAYS) and isinstance(given, _ARRAYS):
        return len(made) == len(given) and all(map(_is_same, made, given))
    if not _is_record(made):
        return bool(made == given)
    now, before = _attributes(made), _attributes(given)
    if not now:
        return False
    if type(made) is type(given):
        return _is_same_mapping(now, before)
    is_related = isinstance(made, type(given)) or isinstance(given, type(made))
    return is_related and all(_is_same(value, before[name]) for name, value in now.items())


def _is_same_mapping(made: Mapping[Any, Any], given: Mapping[Any, Any]) -> bool:
    return made.keys() == given.keys() and all(_is_same(value, given[key]) for key, value in made.items())


def _is_record(value: object) -> bool:
    """Return whether a value is compared by its attributes, rather than by its `__eq__`."""
    cls: Any = type(value)
    if cls is FunctionType:  # its behaviour isn't in its attributes
        return False
    return cls.__eq__ is object.__eq__ or any(hasattr(cls, name) for name in _RECORDS)


def slots_of(cls: type) -> list[str]:
    """Return the names of the slots of a class and of the classes above it."""
    members = [(name, member) for base in cls.__mro__ for name, member in vars(base).items()]
    return [name for name, member in members if type(member) is MemberDescriptorType]


def _attributes(value: object) -> dict[str, Any]:
    """Return all attributes that an instance stores, except values that it computed on demand."""
    cls = type(value)
    kept: dict[str, Any] = {name: getattr(value, name) for name in slots_of(cls) if hasattr(value, name)}
    kept |= getattr(value, "__dict__", {})
    return {
        name: part
        for name, part in kept.items()
        if name not in _NOT_KEPT and not isinstance(getattr(cls, name, None), cached_property)
    }
