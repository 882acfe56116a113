"""JSON strings, numbers, booleans and null: the same check on the way in and on the way out."""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from ..introspect.nodes import LiteralNode, ScalarNode
from ..json_values import has_surrogate
from .limits import MAX_INTEGER_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

    from ..introspect.nodes import Node, ScalarType
    from .problems import Path, Problems

    Check = Callable[[Problems, ScalarNode, Any, Path], Any]

__all__ = ["SCALARS", "constraint_checks", "fits_plainly"]

_INTEGER_BOUND = 10**MAX_INTEGER_DIGITS
_LEAST = -_INTEGER_BOUND


@cache
def constraint_checks() -> ModuleType:
    """Return the module that checks constraints, loaded when the first constrained value comes."""
    from . import constraint_checks as checks

    return checks


def _string(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    text = value
    if value.__class__ is not str:
        if not isinstance(value, str):
            return problems.wrong_type(path, node, value)
        text = str.__str__(value)
    if not text.isascii() and has_surrogate(text):
        return problems.bad_text(path, text)
    if node.constraints is None:
        return text
    return constraint_checks().check_text(node.constraints, problems, text, path)


def _integer(problems: Problems, node: ScalarNode, value: Any, path: Path) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        if not _LEAST < value < _INTEGER_BOUND:
            return problems.too_large(path, value)
        number = int.__int__(value)
    elif isinstance(value, float) and float.is_integer(value):
        number = float.__int__(value)
    else:
        return problems.wrong_type(path, node, value)
    if node.constraints is None:
        return number
    return constraint_checks().check_number(node.constraints, problems, number, path)


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
    return constraint_checks().check_float(node.constraints, problems, value, number, path)


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


def fits_plainly(node: Node, value: object) -> bool:
    """Return whether a value is what encoding it as a node gives, where that takes no more than a look.

    Args:
        node: any; all but scalars without constraints and literals take more.
        value: a default, or an example.
    """
    if isinstance(node, LiteralNode):
        pairs = zip(node.members, node.values, strict=True)
        return any(_is_same(value, member) and _is_same(value, written) for member, written in pairs)
    if not isinstance(node, ScalarNode) or node.constraints is not None:
        return False
    if type(value) is str:
        return node.type == "string" and value.isascii()
    if type(value) is int:
        return node.type == "integer" and _LEAST < value < _INTEGER_BOUND
    if type(value) is float:
        return node.type == "number" and isfinite(value)
    return type(value) is bool and node.type == "boolean"


def _is_same(value: object, other: object) -> bool:
    return type(value) is type(other) and type(value) in _PLAIN and value == other


_PLAIN = frozenset({str, int, bool})
