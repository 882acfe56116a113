"""Copies of JSON values that nobody else can change, made without running code of the values."""

from __future__ import annotations

from math import isfinite
from typing import Any, NoReturn

from ..codec.limits import MAX_DEPTH, most_digits
from ..json_values import LONGEST_BITS
from ..tools.calls import class_name_of
from ..wording import clip, escape, excerpt

__all__ = ["MESSAGE_DEPTH", "NotJSONError", "own_json"]

MESSAGE_DEPTH = 2 * MAX_DEPTH
"""Levels of arrays and objects in the message of a model: more than its arguments, and as deep as schemas."""

_NAME_LENGTH = 60


class NotJSONError(ValueError):
    """A value has something in it that JSON has no type for; a signal that never reaches a caller."""


def own_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a copy of a JSON value.

    An object of a subclass, such as an `OrderedDict`, is read as what it is based on.

    Args:
        value: anything.
        depth: levels of arrays and objects that it may nest.

    Raises:
        NotJSONError: something in it is of a type that JSON doesn't have.
        ValueError: it nests too deep, or a number in it isn't JSON.
    """
    return _copied(value, depth, depth)


def _copied(value: Any, left: int, depth: int) -> Any:
    given: object = value
    kind = type(given)
    if kind is dict or kind is list:
        if left < 1:
            _refuse(f"it nests deeper than {depth} levels")
        if kind is list:
            return [_copied(item, left - 1, depth) for item in value]
        # Most of what arguments hold are texts.
        return {
            key if type(key) is str else _key(key): item
            if type(item) is str
            else _copied(item, left - 1, depth)
            for key, item in value.items()
        }
    if kind is str or kind is bool or value is None:
        return value
    if kind is int:
        if value.bit_length() > LONGEST_BITS and abs(value) >= 10 ** most_digits():
            _refuse(f"{excerpt(value)} is too long")
        return value
    if kind is float:
        if not isfinite(value):
            _refuse(f"{excerpt(value)} is not finite")
        return value
    return _copied(_plain(value), left, depth)


def _plain(value: Any) -> Any:
    """Return a value of a built-in type for one of a subclass."""
    given: object = value
    kind = type(given)  # `isinstance` would ask the value for its `__class__`
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, dict):
        return dict(dict[Any, Any].items(value))
    if issubclass(kind, list):
        return [*list[Any].__iter__(value)]
    if issubclass(kind, int):
        return int.__int__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    message = f"{clip(escape(class_name_of(value)), _NAME_LENGTH)} isn't JSON"
    raise NotJSONError(message)


def _key(key: Any) -> str:
    if not issubclass(type(key), str):
        message = "an object has a key that isn't a string"
        raise NotJSONError(message)
    return str.__str__(key)


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)
