"""Whether two values are the same in everything they keep, also in what `==` leaves out."""

from __future__ import annotations

from functools import cached_property
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

from .json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["is_same_state"]

_ARRAYS: Final[Any] = (list, tuple)
_RECORDS: Final = ("__dataclass_fields__", "__pydantic_fields__", "__attrs_attrs__", "__struct_fields__")
"""What classes have whose instances are their attributes: of dataclasses and of other libraries."""

_NOT_KEPT: Final = frozenset({"__pydantic_private__", "__pydantic_fields_set__"})
"""Attributes of pydantic's models that say nothing about the values of their fields."""


def is_same_state(made: object, given: object) -> bool:
    """Return whether a value is the same as one that was made anew, at every depth.

    Of instances, all attributes count: also those that aren't fields, and those that an `__eq__` leaves out.
    Where that can't be known, such as of functions, they aren't the same.

    Args:
        made: the new one.
        given: of the same class, or of a subclass of it or of one above it, of which the attributes of
            `made` count.
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
    if type(made) is type(given):
        return bool(now) and _is_same_mapping(now, before)
    is_related = isinstance(made, type(given)) or isinstance(given, type(made))
    return is_related and all(_is_same(value, before[name]) for name, value in now.items())


def _is_same_mapping(made: Mapping[Any, Any], given: Mapping[Any, Any]) -> bool:
    return made.keys() == given.keys() and all(_is_same(value, given[key]) for key, value in made.items())


def _is_record(value: object) -> bool:
    """Return whether the attributes of a value say what it is, and not its `__eq__`."""
    cls: Any = type(value)
    if cls is FunctionType:  # what it does isn't in its attributes
        return False
    return cls.__eq__ is object.__eq__ or any(hasattr(cls, name) for name in _RECORDS)


def _attributes(value: object) -> dict[str, Any]:
    """Return all that an instance keeps; what it worked out of that when it was asked isn't among it."""
    cls = type(value)
    members = [(name, member) for base in cls.__mro__ for name, member in vars(base).items()]
    slots = [name for name, member in members if type(member) is MemberDescriptorType]
    kept: dict[str, Any] = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    kept |= getattr(value, "__dict__", {})
    return {
        name: part
        for name, part in kept.items()
        if name not in _NOT_KEPT and not isinstance(getattr(cls, name, None), cached_property)
    }
