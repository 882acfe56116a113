"""How is a JSON value of others copied, so that the copy is JSON and nobody else changes it?"""

from __future__ import annotations

from math import isfinite
from typing import Any, NoReturn

from ..json_values import LONGEST_BITS, MAX_DEPTH, most_digits
from ..message_text import class_name_of, excerpt, one_line

MESSAGE_DEPTH = 2 * MAX_DEPTH
"""The maximum depth of a model's message: deeper than arguments, and as deep as schemas."""

_NAME_LENGTH = 60


class NotJSONError(ValueError):
    """A part of a value isn't a JSON type; a signal that never reaches a caller."""


def own_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a copy of a JSON value.

    An object of a subclass, such as an `OrderedDict`, is read as its built-in type.

    Args:
        value: anything.
        depth: how many levels of arrays and objects the value may nest.

    Raises:
        NotJSONError: a part of the value isn't a JSON type.
        ValueError: the value nests too deeply, or a number in it isn't valid JSON.
    """
    return _copy_json(value, depth, depth)


_KEPT = frozenset({str, bool, type(None)})
"""The classes of most values in arguments: these need no check and no copy."""


def _copy_json(value: Any, left: int, depth: int) -> Any:
    given: object = value
    kind = type(given)
    if kind is dict or kind is list:
        if left < 1:
            _refuse_value(f"it nests deeper than {depth} levels")
        if kind is list:
            return [item if type(item) in _KEPT else _copy_json(item, left - 1, depth) for item in value]
        return {
            key if type(key) is str else _checked_key(key): item
            if type(item) in _KEPT
            else _copy_json(item, left - 1, depth)
            for key, item in value.items()
        }
    if kind in _KEPT:
        return value
    if kind is int:
        if value.bit_length() > LONGEST_BITS and abs(value) >= 10 ** most_digits():
            _refuse_value(f"{excerpt(value)} is too long")
        return value
    if kind is float:
        if not isfinite(value):
            _refuse_value(f"{excerpt(value)} is not finite")
        return value
    return _copy_json(_plain(value), left, depth)


def _plain(value: Any) -> Any:
    """Return a value of a subclass as its built-in type."""
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
    message = f"{one_line(class_name_of(value), _NAME_LENGTH)} isn't JSON"
    raise NotJSONError(message)


def _checked_key(key: Any) -> str:
    if not issubclass(type(key), str):
        message = "an object has a key that isn't a string"
        raise NotJSONError(message)
    return str.__str__(key)


def _refuse_value(message: str) -> NoReturn:
    raise ValueError(message)
