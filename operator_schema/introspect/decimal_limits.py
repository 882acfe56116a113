"""Limits on `Decimal`: a leaf within another one.

In JSON Schema a limit binds numbers alone, and a `Decimal` may come as a string too. So the leaf checks
what it has decoded, and its description names the limits as well.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from ..complaints import UnfitError
from ..immutable import Value
from ..wording import excerpt
from .leaves import SchemaLeaf, trusted_leaf
from .limits import LimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .nodes import Constraints

__all__ = ["Limited", "is_decimal", "limit_leaf", "limits_of"]


def is_decimal(leaf: SchemaLeaf[Any]) -> bool:
    """Return whether a leaf stands for decimal numbers."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and issubclass(leaf.type, decimal.Decimal)


def limits_of(leaf: SchemaLeaf[Any]) -> Constraints | None:
    """Return the limits that `limit_leaf` put on a leaf."""
    return leaf.decode.limits if isinstance(leaf.decode, Limited) else None


def limit_leaf(leaf: SchemaLeaf[Any], limits: Constraints, exact_step: bool) -> SchemaLeaf[Any]:  # noqa: FBT001  # as the caller found it
    """Return a leaf that refuses decimals beyond limits.

    Args:
        leaf: of decimals; limits that it has already are replaced.
        limits: on numbers, which some number is within.
        exact_step: whether validators agree about `multiple_of`, so that the schema may have it.

    Raises:
        UnfitError: no value is within the limits.
    """
    base: SchemaLeaf[Any] = leaf.decode.leaf if isinstance(leaf.decode, Limited) else leaf
    words = " and ".join([words for _, _, words in _rules(limits)])
    schema = {**base.json_schema, "description": f"decimal number, {words}"}
    for slot, keyword, _, _ in _RULES:
        limit = getattr(limits, slot)
        if limit is not None and (exact_step or slot != "multiple_of"):
            schema[keyword] = limit
    decode = Limited(base, limits, exact_step)
    for sample in _samples(base, limits):
        try:
            decode.check(sample)
            return trusted_leaf(base.type, schema, decode, _LimitedWriter(decode), sample, base.rank)
        except ValueError:
            continue
    message = f"no decimal that is {words} was found"
    raise UnfitError(message, "Widen the limits")


class Limited(Value):
    """Decode what another leaf does, within limits.

    Attributes:
        leaf: the other one.
        limits: on what it decodes.
        exact_step: whether a number has to be a multiple as the float that it is, too.
    """

    leaf: SchemaLeaf[Any]
    limits: Constraints
    exact_step: bool

    def __call__(self, value: Any) -> Any:
        """Return the decimal that a JSON value stands for."""
        decoded = self.leaf.decode(value)
        self.check(decoded)
        if isinstance(value, float) and self.exact_step:
            step = self.limits.multiple_of
            if step is not None and not _divides(value, step):
                message = f"as a number of JSON it isn't a multiple of {excerpt(step)}; write it as a string"
                raise LimitError(message)
        return decoded

    def check(self, number: Any) -> None:
        """Raise ValueError for a decimal that breaks a limit."""
        for breaks, limit, words in _rules(self.limits):
            if breaks(number, _exact(type(self.leaf.placeholder), limit)):
                message = f"it must be {words}"
                raise LimitError(message)


class _LimitedWriter(Value):
    """Encode what another leaf does, within limits."""

    decode: Limited

    def __call__(self, number: Any) -> Any:
        """Return the JSON value that stands for a decimal."""
        encoded = self.decode.leaf.encode(number)
        self.decode.check(number)
        return encoded


_Rule = tuple["Callable[[Any, Any], bool]", float, str]


def _divides(number: Any, step: Any) -> bool:
    numerator, denominator = number.as_integer_ratio()
    divisor, unit = step.as_integer_ratio()
    divides: bool = (numerator * unit) % (denominator * divisor) == 0
    return divides


_RULES: Final[tuple[tuple[str, str, Callable[[Any, Any], bool], str], ...]] = (
    ("minimum", "minimum", lambda number, limit: number < limit, "≥"),
    ("exclusive_minimum", "exclusiveMinimum", lambda number, limit: number <= limit, ">"),
    ("maximum", "maximum", lambda number, limit: number > limit, "≤"),
    ("exclusive_maximum", "exclusiveMaximum", lambda number, limit: number >= limit, "<"),
    ("multiple_of", "multipleOf", lambda number, step: not _divides(number, step), "a multiple of"),
)
"""By constraint: its keyword, what breaks it, and how a message says it."""


def _rules(limits: Constraints) -> Iterator[_Rule]:
    for slot, _, breaks, sign in _RULES:
        limit = getattr(limits, slot)
        if limit is not None:
            yield breaks, limit, f"{sign} {excerpt(limit)}"


def _exact(cls: Any, limit: float) -> Any:
    """Return the decimal that a limit is written as: 0.1, and not the float nearest to it."""
    return cls(int(limit) if float.is_integer(float(limit)) else repr(limit))


def _samples(leaf: SchemaLeaf[Any], limits: Constraints) -> Iterator[Any]:
    """Yield decimals, the plain ones first; those near a limit are probably within all of them."""
    placeholder: Any = leaf.placeholder
    cls = placeholder.__class__
    yield placeholder
    lows = [limit for limit in (limits.minimum, limits.exclusive_minimum) if limit is not None]
    highs = [limit for limit in (limits.maximum, limits.exclusive_maximum) if limit is not None]
    numerator, denominator = _exact(cls, limits.multiple_of or 1).as_integer_ratio()
    ends = [*[_exact(cls, max(lows)) for _ in lows[:1]], *[_exact(cls, min(highs)) for _ in highs[:1]]]
    for end in ends or [cls(0)]:
        yield end
        count = int(end * denominator) // numerator
        for steps in (count, count + 1, count - 1, count + 2):
            multiple = cls(steps * numerator)
            yield multiple if denominator == 1 else multiple / denominator
    if lows and highs:
        yield (ends[0] + ends[1]) / 2
