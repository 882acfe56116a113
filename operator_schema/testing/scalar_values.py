"""Strings and numbers that meet a constraint, and others that just miss it."""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ..codec.interpret import SCALARS
from ..codec.problems import INVALID, Trial
from ..introspect.constraints import bounds_of, nearest_float
from ..introspect.nodes import Constraints
from ..json_values import choice_key, is_array, is_object
from ..schema.keywords import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

    from ..introspect.nodes import ScalarNode

__all__ = [
    "JSON_SCALARS",
    "JSON_VALUES",
    "OF_TYPE",
    "identity",
    "length_limits",
    "scalars",
    "scalars_just_refused",
    "with_floats",
]

_FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON_SCALARS = st.none() | st.booleans() | st.integers() | _FINITE | st.text()
JSON_VALUES: SearchStrategy[Any] = st.recursive(
    JSON_SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value, most of them small."""

OF_TYPE: Mapping[str, SearchStrategy[Any]] = {
    "string": st.integers().map(str) | st.text(),
    "integer": st.integers(),
    "number": _FINITE.filter(lambda number: not number.is_integer()),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(JSON_SCALARS, max_size=2),
    "object": st.dictionaries(st.text(), JSON_SCALARS, max_size=2),
}
"""Values by JSON type; values of `number` aren't integers."""

_NONE = Constraints()


def scalars(node: ScalarNode) -> SearchStrategy[Any]:
    """Generate the JSON scalars that a node accepts."""
    made = _likely_scalars(node, node.constraints or _NONE)
    return made if node.constraints is None else made.filter(lambda value: not _refuses(node, value))


def _likely_scalars(node: ScalarNode, constraints: Constraints) -> SearchStrategy[Any]:
    """Generate scalars of which a node accepts most: not every constraint says how to make a value."""
    match node.type:
        case "string":
            return _texts(constraints)
        case "integer":
            return _integers(constraints)
        case "number":
            return _numbers(constraints)
        case "boolean" | "null":
            return OF_TYPE[node.type]


def identity(value: Any) -> Hashable:
    """Return a key that is equal for two JSON values if, and only if, they are the same."""
    if is_array(value):
        return tuple(map(identity, value))
    if is_object(value):
        return frozenset([(key, identity(item)) for key, item in value.items()])
    return choice_key(value)


def with_floats(values: Iterable[Any]) -> list[Any]:
    """Return the values and, for each integer, the float that is the same JSON value."""
    known = list(values)
    floats = [_as_float(value) for value in known if type(value) is int]
    return known + [number for number in floats if type(number) is float]


def _as_float(number: int) -> float:
    try:
        same = float(number)
    except OverflowError:
        return number
    return same if same == number else number


def length_limits(constraints: Constraints | None) -> tuple[int, int | None]:
    """Return the least and the greatest length that the constraints allow."""
    if constraints is None:
        return 0, None
    return constraints.min_length or 0, constraints.max_length


# --- strings -------------------------------------------------------------------------------------

_REPEATED_CLASS = re.compile(r"(\^(?:\[(?:[^\]\\]|\\.)+\]|\\\w|\.))([+*])\$")
"""A whole text of one kind of character, such as `^[a-z]+$`."""


def _texts(constraints: Constraints) -> SearchStrategy[str]:
    least, most = length_limits(constraints)
    pattern = constraints.pattern
    if pattern is None:
        return st.text(min_size=least, max_size=most)
    repeated = _REPEATED_CLASS.fullmatch(pattern.pattern)
    if repeated:
        # Few texts of `[a-z]+` are as long as some constraints want them.
        fewest = max(least, 1) if repeated[2] == "+" else least
        if most is not None and fewest > most:
            return st.nothing()
        pattern = re.compile(f"{repeated[1]}{{{fewest},{'' if most is None else most}}}$")
    return st.from_regex(pattern)


def _texts_just_refused(constraints: Constraints, valid: SearchStrategy[str]) -> list[SearchStrategy[Any]]:
    least, most = length_limits(constraints)
    found: list[SearchStrategy[Any]] = []
    if least:
        found += [valid.map(lambda text: text[: least - 1]), st.text(max_size=least - 1)]
    if most is not None:
        found.append(valid.map(lambda text: text.ljust(most + 1, text[-1:] or "x")))
    if constraints.pattern is not None:
        found += [valid.map(lambda text: text[:-1]), valid.map(lambda text: f"{text}!"), st.text()]
    return found


# --- numbers -------------------------------------------------------------------------------------


def _integers(constraints: Constraints) -> SearchStrategy[Any]:
    # An integer that divides by 3/4 divides by 3.
    step = Fraction(constraints.multiple_of or 1).numerator
    least, most = bounds_of(constraints).multiples(step)
    if least is not None and most is not None and least > most:
        return st.nothing()
    whole = st.integers(least, most).map(lambda multiple: multiple * step)
    return st.tuples(whole, st.booleans()).map(lambda drawn: _as_float(drawn[0]) if drawn[1] else drawn[0])


_EXACT = 2**53
"""Every integer up to this one is a float."""
_FAR = 2**32
"""Multiples on both sides of zero if nothing else limits them; their products are floats."""


def _numbers(constraints: Constraints) -> SearchStrategy[Any]:
    if constraints.multiple_of is not None:
        return _float_multiples(constraints, Fraction(constraints.multiple_of))
    bounds = bounds_of(constraints)
    least, most = bounds.floats()
    if least > most:
        return st.nothing()
    floats = st.floats(least, most, allow_nan=False, allow_infinity=False)
    first, last = bounds.multiples()
    first = -_EXACT if first is None else max(first, -_EXACT)
    last = _EXACT if last is None else min(last, _EXACT)
    return floats if first > last else st.integers(first, last) | floats


def _float_multiples(constraints: Constraints, step: Fraction) -> SearchStrategy[Any]:
    first, last = bounds_of(constraints).multiples(step)
    if first is None:
        first = min(0, last or 0) - _FAR
    if last is None:
        last = max(0, first) + _FAR
    reach = math.floor(Fraction(sys.float_info.max) / step)
    first, last = max(first, -reach), min(last, reach)
    if first > last:
        return st.nothing()
    return st.integers(first, last).map(lambda multiple: float(multiple * step))


def _numbers_just_refused(node: ScalarNode, constraints: Constraints) -> list[SearchStrategy[Any]]:
    found: list[SearchStrategy[Any]] = []
    limits = [getattr(constraints, slot) for slot in _ON_NUMBERS]
    near = [number for limit in limits if limit is not None for number in _around(limit)]
    beyond = [number for number in near if _refuses(node, number)]
    if beyond:
        found.append(st.sampled_from(beyond))
    step = constraints.multiple_of
    if step is not None and (node.type == "number" or Fraction(step).numerator > 1):
        aside = 1 if node.type == "integer" else step / 2
        found.append(scalars(node).map(lambda number: number + aside))
    return found


_ON_NUMBERS = [row.slot for row in NUMBERS]


def _around(limit: float) -> list[float]:
    whole = [limit, math.ceil(limit) - 1, math.floor(limit) + 1]
    nearest = [nearest_float(limit, towards, strict=True) for towards in (-math.inf, math.inf)]
    return whole + [number for number in nearest if math.isfinite(number)]


def _refuses(node: ScalarNode, value: object) -> bool:
    return SCALARS[node.type](Trial(), node, value, None) is INVALID


def scalars_just_refused(node: ScalarNode) -> SearchStrategy[Any]:
    """Generate scalars of the node's JSON type that its constraints refuse, and some that they accept."""
    if node.constraints is None:
        return st.nothing()
    if node.type == "string":
        return st.one_of(_texts_just_refused(node.constraints, scalars(node)))
    return st.one_of(_numbers_just_refused(node, node.constraints))
