"""Limits on `Decimal`: a leaf within another one.

In JSON Schema such a limit is about numbers only, and a `Decimal` may come as a string too. So the leaf
checks what it has decoded, and its description names the limits as well.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..complaints import UnfitError
from ..immutable import Value
from ..schema.keywords import NUMBERS, LimitError, is_no_multiple, keywords_of
from ..wording import excerpt
from .leaves import SchemaLeaf, trusted_leaf
from .number_bounds import bounds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .nodes import Constraints

__all__ = ["Limited", "is_decimal", "limit_leaf", "limits_of"]


def is_decimal(leaf: SchemaLeaf[Any]) -> bool:
    """Return whether a leaf is one of decimal numbers."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and issubclass(leaf.type, decimal.Decimal)


def limits_of(leaf: SchemaLeaf[Any]) -> Constraints | None:
    """Return the limits that `limit_leaf` put on a leaf."""
    return leaf.decode.limits if isinstance(leaf.decode, Limited) else None


def limit_leaf(leaf: SchemaLeaf[Any], limits: Constraints, exact_step: bool) -> SchemaLeaf[Any]:  # noqa: FBT001  # as the caller found it
    """Make a leaf that refuses decimals beyond limits.

    Args:
        leaf: of decimals; limits that it has already are replaced.
        limits: on numbers, which some number is within.
        exact_step: whether validators agree about `multiple_of`, so that the schema may have it.

    Raises:
        UnfitError: no value is within the limits.
    """
    base: SchemaLeaf[Any] = leaf.decode.leaf if isinstance(leaf.decode, Limited) else leaf
    words = " and ".join([words for _, _, words in _rules(limits)])
    keywords = keywords_of(limits, "number")
    if not exact_step:
        del keywords["multipleOf"]
    schema = {**base.json_schema, "description": f"decimal number, {words}", **keywords}
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
        """Return the decimal for a JSON value."""
        decoded = self.leaf.decode(value)
        self.check(decoded)
        if isinstance(value, float) and self.exact_step:
            step = self.limits.multiple_of
            if step is not None and is_no_multiple(value, step):
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
        """Return the JSON value for a decimal."""
        encoded = self.decode.leaf.encode(number)
        self.decode.check(number)
        return encoded


_Rule = tuple["Callable[[Any, Any], bool]", float, str]


def _rules(limits: Constraints) -> Iterator[_Rule]:
    for row in NUMBERS:
        limit = getattr(limits, row.slot)
        if limit is not None:
            yield row.breaks, limit, f"{row.sign} {excerpt(limit)}"


def _exact(cls: Any, limit: float) -> Any:
    """Return the decimal that a limit is written as: 0.1, and not the float nearest to it."""
    return cls(int(limit) if float.is_integer(float(limit)) else repr(limit))


def _samples(leaf: SchemaLeaf[Any], limits: Constraints) -> Iterator[Any]:
    """Yield decimals, the plain ones first; those near a limit are probably within all of them."""
    placeholder: Any = leaf.placeholder
    cls = placeholder.__class__
    yield placeholder
    numerator, denominator = _exact(cls, limits.multiple_of or 1).as_integer_ratio()
    ends = [_exact(cls, bound.limit) for bound in bounds_of(limits) if bound is not None]
    for end in ends or [cls(0)]:
        yield end
        count = int(end * denominator) // numerator
        for steps in (count, count + 1, count - 1, count + 2):
            multiple = cls(steps * numerator)
            yield multiple if denominator == 1 else multiple / denominator
    if len(ends) > 1:
        yield (ends[0] + ends[1]) / 2
