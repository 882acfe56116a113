"""Constraints in the annotated-types vocabulary, read from the metadata of `Annotated`.

They are recognised by their attributes (`ge`, `max_length` …), so that `annotated_types` need not
be there, and whatever follows its vocabulary works: https://github.com/annotated-types/annotated-types
"""

from __future__ import annotations

import re
import sys
from math import isfinite
from typing import TYPE_CHECKING, Any

from ..complaints import UnfitError
from ..json_values import LONGEST_BITS, has_surrogate
from ..schema.keywords import LIMITS, NUMBERS
from ..wording import clip, escape, excerpt, received
from .decimal_limits import is_decimal, limit_leaf, limits_of
from .names import show_value
from .nodes import ArrayNode, Constraints, LeafNode, MapNode, Node, RefNode, ScalarNode, UnionNode
from .number_bounds import bounds_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .leaves import SchemaLeaf

__all__ = ["constrained", "read_constraints"]

# Up to this denominator every validator calculates exactly.
_EXACT_DENOMINATOR = 2**20
_EXACT_INTEGER = 2**53

_PYTHON_SYNTAX = re.compile(r"\(\?[aiLmsux(P#>]|\\[AZ]|[*+?}]\+")


def read_constraints(metadata: Iterable[object]) -> Constraints | None:
    """Gather the constraints among the metadata of an annotation.

    Args:
        metadata: of `Annotated`; what isn't a constraint is passed over.

    Returns:
        All of them together, the tighter of two that limit the same; None without any.

    Raises:
        UnfitError: one has a value that no schema can hold.
    """
    found: dict[str, Any] = {}
    for item in metadata:
        if isinstance(item, re.Pattern):
            pattern = _checked_pattern(item)  # pyright: ignore[reportUnknownArgumentType]  # str or bytes
            _add(found, "pattern", pattern, pattern)
            continue
        for slot, name, check in _GIVEN:
            value = getattr(item, name, None)
            if value is not None and not callable(value):
                _add(found, slot, check(name, value, item), item)
    if found.get("min_length") == 0:
        del found["min_length"]
    return Constraints(**found) if found else None


def _show(item: object) -> str:
    return clip(escape(show_value(item)), 100)


def _add(found: dict[str, Any], slot: str, value: Any, item: object) -> None:
    known = found.get(slot)
    if known is None or known == value:
        found[slot] = value
    elif (tighter := _TIGHTER[slot]) is not None:
        found[slot] = tighter(known, value)
    else:
        message = f"{_show(item)} is the second constraint of its kind"
        raise UnfitError(message, "Keep one of them")


def _checked_number(name: str, value: object, item: object) -> float:
    value = _of_decimal(value)
    is_finite = isinstance(value, int) or (isinstance(value, float) and isfinite(value))
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not is_finite:
        message = f"{name} of {_show(item)} is {received(value)}, not a finite number"
        raise UnfitError(message, "Give an int or a float")
    _refuse_long(name, value)
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGER
    number: float = int(value) if is_whole else value
    if name == "multiple_of" and number <= 0:
        message = f"multiple_of is {excerpt(value)}, not above zero"
        raise UnfitError(message, "Give a positive number")
    return number


def _of_decimal(value: Any) -> object:
    """Return the number of JSON that is written like a decimal; anything else as it is."""
    decimal = sys.modules.get("decimal")
    if decimal is None or not isinstance(value, decimal.Decimal) or not value.is_finite():
        return value
    if abs(value.adjusted()) < _MOST_DECIMAL_PLACES:
        number = int(value) if value == value.to_integral_value() else float(value)
        if isinstance(number, int) or decimal.Decimal(repr(number)) == value:
            return number
    message = f"the limit {excerpt(str(value))} has more digits than a number of JSON is read with"
    raise UnfitError(message, "Give one of at most 15 digits")


_MOST_DECIMAL_PLACES = 300


def _has_exact_step(constraints: Constraints) -> bool:
    step = constraints.multiple_of
    return step is None or step.as_integer_ratio()[1] <= _EXACT_DENOMINATOR


def _checked_length(name: str, value: object, item: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{name} of {_show(item)} is {received(value)}, not a number of items"
        raise UnfitError(message, "Give an int of at least 0")
    _refuse_long(name, value)
    return value


_GIVEN = [
    (row.slot, row.given_as, row.check or (_checked_number if row.of == "number" else _checked_length))
    for row in LIMITS
    if row.given_as
]
"""Attribute of `Constraints`, attribute of the metadata, and what checks its value."""
_TIGHTER = {row.slot: row.tighter for row in LIMITS}


def _refuse_long(name: str, value: float) -> None:
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        message = f"{name} is {excerpt(value)}, which not every process can write"
        raise UnfitError(message, "Leave it out, or give less than 640 digits")


def _checked_pattern(pattern: re.Pattern[Any]) -> re.Pattern[str]:
    if not isinstance(pattern.pattern, str):
        message = f"the pattern {_show(pattern)} is of bytes"
        raise UnfitError(message, "Compile it from a str")
    if pattern.flags & ~re.UNICODE:
        message = f"the pattern {_show(pattern)} has flags, which JSON Schema doesn't have"
        raise UnfitError(message, "Write them out in the pattern")
    if has_surrogate(pattern.pattern):
        message = f"the pattern {_show(pattern)} has a lone surrogate, which JSON can't hold"
        raise UnfitError(message, "Take it out")
    if _PYTHON_SYNTAX.search(pattern.pattern):
        message = f"the pattern {_show(pattern)} uses syntax that JSON Schema doesn't have"
        raise UnfitError(message, "Keep to what ECMA 262 knows: no inline flags, (?P<…>), \\A or \\Z")
    return pattern


def constrained(node: Node, constraints: Constraints) -> Node:
    """Put constraints on a node.

    Args:
        node: a string, number, array or map; or a union in which each member but null is one.
        constraints: what restricts its values.

    Returns:
        The node with them, together with those that it has already.

    Raises:
        UnfitError: they say nothing about values of this kind.
    """
    match node:
        case UnionNode():
            members = [
                member
                if isinstance(member, ScalarNode) and member.type == "null"
                else constrained(member, constraints)
                for member in node.members
            ]
            return node.replace(members=tuple(members))
        case ScalarNode() | ArrayNode() | MapNode():
            allowed = _allowed(node)
            for slot in Constraints.__slots__:
                if getattr(constraints, slot) is not None and slot not in allowed:
                    raise _unfit_limit(slot, node)
            if not _has_exact_step(constraints):
                message = (
                    f"multiple_of {excerpt(constraints.multiple_of)} has no exact binary form,"
                    " so that validators disagree about it"
                )
                raise UnfitError(message, "Count in the smaller unit as int, or use Decimal")
            together = _together(node.constraints, constraints)
            _refuse_contradiction(node, together)
            return node.replace(constraints=together)
        case RefNode():
            message = (
                f"{node.target.name} is recursive, and its one definition can't be constrained here alone"
            )
            raise UnfitError(message, "Put them where it is defined, or into a dataclass of their own")
        case LeafNode(leaf=leaf) if is_decimal(leaf):
            return node.replace(leaf=_limited(leaf, constraints))
        case _:
            message = "constraints are for strings, numbers, arrays, maps and Decimal"
            raise UnfitError(message, "Leave them out, or say it in the type or its leaf")


def _unfit_limit(slot: str, node: ScalarNode | ArrayNode | MapNode) -> UnfitError:
    given = next(row.given_as or slot for row in LIMITS if row.slot == slot)
    kinds = {row.of for row in LIMITS if row.slot in _allowed(node)}
    of = next(row.of for row in LIMITS if row.slot == slot)
    remedy = "Leave it out, or change the type"
    if of == "number" and "length" in kinds:
        remedy = "Write MinLen or MaxLen if it is about the length; else change the type"
    if of == "length" and "number" in kinds:
        remedy = "Write Ge or Le if it is about the number; else change the type"
    return UnfitError(f"the constraint {given} says nothing about {_kind(node)}", remedy)


def _limited(leaf: SchemaLeaf[Any], constraints: Constraints) -> SchemaLeaf[Any]:
    for slot in Constraints.__slots__:
        if getattr(constraints, slot) is not None and slot not in _ON_NUMBERS:
            message = f"the constraint {slot} says nothing about a Decimal"
            raise UnfitError(message, "Leave it out, or change the type")
    together = _together(limits_of(leaf), constraints)
    _refuse_contradiction(ScalarNode("number"), together)
    return limit_leaf(leaf, together, _has_exact_step(together))


_ON_NUMBERS = frozenset([row.slot for row in NUMBERS])


def _allowed(node: ScalarNode | ArrayNode | MapNode) -> frozenset[str]:
    container = "array" if isinstance(node, ArrayNode) else "object"
    json_type = node.type if isinstance(node, ScalarNode) else container
    return frozenset([row.slot for row in LIMITS if json_type in row.keywords])


def _kind(node: ScalarNode | ArrayNode | MapNode) -> str:
    if isinstance(node, ScalarNode):
        return f"a {node.type}" if node.type != "integer" else "an integer"
    return "an array" if isinstance(node, ArrayNode) else "a map"


def _refuse_contradiction(node: Node, limits: Constraints) -> None:
    least: float | None = limits.min_length
    most: float | None = limits.max_length
    is_open = False
    if isinstance(node, ScalarNode) and node.type in {"integer", "number"}:
        bounds = bounds_of(limits)
        if node.type == "integer":
            least, most = bounds.multiples()
        elif bounds.low is not None and bounds.high is not None:
            least, most = bounds.low.limit, bounds.high.limit
            is_open = least == most and (bounds.low.is_open or bounds.high.is_open)
    if least is not None and most is not None and (least > most or is_open):
        message = (
            f"no value is within the limits: {excerpt(least)} is the least, {excerpt(most)} the greatest"
        )
        raise UnfitError(message, "Let the least be below the greatest")


def _together(one: Constraints | None, other: Constraints) -> Constraints:
    if one is None:
        return other
    found = {slot: getattr(one, slot) for slot in Constraints.__slots__}
    for slot in Constraints.__slots__:
        value = getattr(other, slot)
        if value is not None:
            _add(found, slot, value, value)
    return Constraints(**found)
