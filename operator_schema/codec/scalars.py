"""JSON strings, numbers, booleans and null: the same check on the way in and on the way out."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from ..json_values import has_surrogate
from .checks import check_float, check_number, check_text
from .limits import MAX_INTEGER_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..introspect.nodes import ScalarNode, ScalarType
    from .problems import Path, Problems

    Check = Callable[[Problems, ScalarNode, Any, Path], Any]

__all__ = ["SCALARS"]

_INTEGER_BOUND = 10**MAX_INTEGER_DIGITS


def _string(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    text = value
    if value.__class__ is not str:
        if not isinstance(value, str):
            return problems.wrong_type(path, node, value)
        text = str.__str__(value)
    if not text.isascii() and has_surrogate(text):
        return problems.bad_text(path, text)
    return text if node.constraints is None else check_text(node.constraints, problems, text, path)


def _integer(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        if not -_INTEGER_BOUND < value < _INTEGER_BOUND:
            return problems.too_large(path, value)
        number = int.__int__(value)
    elif isinstance(value, float) and float.is_integer(value):
        number = float.__int__(value)
    else:
        return problems.wrong_type(path, node, value)
    return number if node.constraints is None else check_number(node.constraints, problems, number, path)


def _number(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return problems.wrong_type(path, node, value)
    try:
        number = float(value)
    except OverflowError:
        return problems.out_of_range(path, value, "is beyond the range of a float")
    if not isfinite(number):
        return problems.out_of_range(path, value, "is not finite")
    if node.constraints is None:
        return number
    return check_float(node.constraints, problems, value, number, path)


def _boolean(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    return value if isinstance(value, bool) else problems.wrong_type(path, node, value)


def _null(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    return None if value is None else problems.wrong_type(path, node, value)


SCALARS: Mapping[ScalarType, Check] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "null": _null,
}
"""By JSON type: each returns the value as its own built-in type, or notes what is wrong with it."""
