"""Which strings and numbers meet a constraint, and which just miss it?"""

from __future__ import annotations

import math
import re
import sys
from bisect import bisect_right
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from ..codec.interpret import SCALARS
from ..codec.problems import INVALID, Trial
from ..introspect.number_bounds import bounds_of, nearest_float
from ..json_values import has_surrogate
from ..schema.keywords import NUMBERS, Constraints
from ..schema.pattern_syntax import START, Assertion, Characters, Choice, Repeat, Sequence, read_expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hypothesis.strategies import SearchStrategy

    from ..introspect.nodes import ScalarNode, ScalarType
    from ..schema.pattern_syntax import Expression, Ranges


CHARACTERS = st.characters(exclude_categories=["Cs"])
"""All characters of UTF-8. Hypothesis finds them at once by category, but tries each one to find them by
codec."""


def texts(least: int = 0, most: int | None = None) -> SearchStrategy[str]:
    """Generate texts of a length."""
    return st.text(CHARACTERS, min_size=least, max_size=most)


FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON_SCALARS = st.none() | st.booleans() | st.integers() | FINITE | texts()
JSON_VALUES: SearchStrategy[Any] = st.recursive(
    JSON_SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3),
    max_leaves=5,
)
"""Any JSON value, most of them small."""

OF_TYPE: Mapping[str, SearchStrategy[Any]] = {
    "string": st.integers().map(str) | texts(),
    "integer": st.integers(),
    "number": FINITE.filter(lambda number: not number.is_integer()),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(JSON_SCALARS, max_size=2),
    "object": st.dictionaries(texts(), JSON_SCALARS, max_size=2),
}
"""Values by JSON type; values of `number` aren't integers."""

_NONE = Constraints()


def scalars(node: ScalarNode) -> SearchStrategy[Any]:
    """Generate the JSON scalars that a node accepts."""
    if node.constraints is None:
        return _any_scalars(node.type)
    made = _likely_scalars(node.type, node.constraints)
    return made.filter(lambda value: not _refuses(node, value))


@cache  # Hypothesis looks through each new strategy before it draws from it
def _any_scalars(name: ScalarType) -> SearchStrategy[Any]:
    return _likely_scalars(name, _NONE)


def _likely_scalars(name: ScalarType, constraints: Constraints) -> SearchStrategy[Any]:
    """Generate scalars that mostly meet constraints; some constraints can only be checked, not generated."""
    match name:
        case "string":
            return _texts(constraints)
        case "integer":
            return _integers(constraints)
        case "number":
            return _numbers(constraints)
        case "boolean" | "null":
            return OF_TYPE[name]


def with_floats(values: Iterable[Any]) -> list[Any]:
    """Return the values, and for each integer also the float that is the same JSON value."""
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
"""The pattern of an expression for a whole text of one kind of character, such as `^[a-z]+$`."""


def _texts(constraints: Constraints) -> SearchStrategy[str]:
    least, most = length_limits(constraints)
    pattern = constraints.pattern
    if pattern is None:
        return texts(least, most)
    repeated = _REPEATED_CLASS.fullmatch(pattern.pattern)
    if repeated:
        # Few texts of `[a-z]+` are as long as some constraints want them.
        fewest = max(least, 1) if repeated[2] == "+" else least
        if most is not None and fewest > most:
            return st.nothing()
        expression = f"{repeated[1]}{{{fewest},{'' if most is None else most}}}$"
        return st.from_regex(expression, alphabet=CHARACTERS)
    if isinstance(pattern, re.Pattern):
        return st.from_regex(pattern, alphabet=CHARACTERS)
    return _with_text_around(read_expression(pattern.pattern))  # of a document: `re` reads it in another way


def _with_text_around(tree: Expression) -> SearchStrategy[str]:
    """Generate texts in which an expression matches somewhere, unless it has anchors."""
    items = tree.items if isinstance(tree, Sequence) else (tree,)
    before = st.just("") if items[:1] == (START,) else _maybe_text()
    after = st.just("") if items and isinstance(items[-1], Assertion) else _maybe_text()
    return st.tuples(before, _texts_of(tree), after).map("".join)


def _maybe_text() -> SearchStrategy[str]:
    return st.just("") | texts()


def _texts_of(tree: Expression) -> SearchStrategy[str]:
    """Generate texts of an expression; if it has assertions about neighbouring characters, some don't fit."""
    match tree:
        case Characters(ranges):
            return _characters(ranges)
        case Sequence(items):
            return st.tuples(*map(_texts_of, items)).map("".join)
        case Choice(branches):
            return st.one_of(*map(_texts_of, branches))
        case Repeat(body, least, most):
            return st.lists(_texts_of(body), min_size=least, max_size=most).map("".join)
        case _:
            return st.just("")


def _characters(ranges: Ranges) -> SearchStrategy[str]:
    """Generate characters of some ranges, preferring readable ones."""
    ends = list(accumulate(high - low + 1 for low, high in ranges))
    if not ends:
        return st.nothing()

    def at(place: int) -> str:
        index = bisect_right(ends, place)
        return chr(ranges[index][1] + 1 - (ends[index] - place))

    every = st.integers(0, ends[-1] - 1).map(at).filter(lambda character: not has_surrogate(character))
    readable = [chr(code) for low, high in ranges for code in range(max(low, 0x20), min(high, 0x7E) + 1)]
    return st.sampled_from(readable) | every if readable else every


def _texts_just_refused(constraints: Constraints, valid: SearchStrategy[str]) -> list[SearchStrategy[Any]]:
    least, most = length_limits(constraints)
    found: list[SearchStrategy[Any]] = []
    if least:
        found += [valid.map(lambda text: text[: least - 1]), texts(0, least - 1)]
    if most is not None:
        found.append(valid.map(lambda text: text.ljust(most + 1, text[-1:] or "x")))
    if constraints.pattern is not None:
        found += [valid.map(lambda text: text[:-1]), valid.map(lambda text: f"{text}!"), texts()]
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
"""Every integer up to this one has an exact float."""
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
