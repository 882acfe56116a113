"""How does a leaf of decimals keep to limits?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..findings import UnfitError
from ..immutable import Value
from ..message_text import excerpt
from ..schema.keywords import NUMBERS, LimitError, has_exact_step, is_no_multiple, keywords_of
from .leaf_checks import misfit, shown_schema
from .leaves import trusted_leaf
from .number_bounds import bounds_of
from .shipped_leaves import shipped_leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..schema.keywords import Constraints
    from .leaves import SchemaLeaf


def is_decimal(leaf: SchemaLeaf[Any]) -> bool:
    """Return whether a leaf is one of decimal numbers."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and issubclass(leaf.type, decimal.Decimal)


def limits_of(leaf: SchemaLeaf[Any]) -> Constraints | None:
    """Return the limits that `limit_leaf` put on a leaf."""
    return leaf.decode.limits if isinstance(leaf.decode, Limited) else None


def limit_leaf(leaf: SchemaLeaf[Any], limits: Constraints) -> SchemaLeaf[Any]:
    """Make a leaf that refuses decimals beyond limits.

    Args:
        leaf: a leaf of decimals; its own limits are replaced.
        limits: the limits on numbers; they allow at least one number.

    Raises:
        UnfitError: no value is within the limits.
    """
    base: SchemaLeaf[Any] = leaf.decode.leaf if isinstance(leaf.decode, Limited) else leaf
    words = " and ".join([words for _, _, words in _rules(limits)])
    schema = {**base.json_schema, "description": f"decimal number, {words}"}
    if base is shipped_leaf(base.type):
        schema |= keywords_of(limits, "number")
        if not has_exact_step(limits):
            del schema["multipleOf"]
    else:  # its JSON numbers may have another unit
        schema = shown_schema(schema)
    decode = Limited(base, limits)
    for sample in _samples(base, limits):
        try:
            decode.check(sample)
        except ValueError:
            continue
        if misfit(schema, base.encode(sample)) is None:
            return trusted_leaf(base.type, schema, decode, _LimitedWriter(decode), sample, base.rank)
    message = f"no decimal that is {words} was found"
    raise UnfitError(message, "Widen the limits")


class Limited(Value):
    """Decodes like another leaf, within limits.

    Attributes:
        leaf: the other leaf.
        limits: the limits on the decoded values.
    """

    leaf: SchemaLeaf[Any]
    limits: Constraints

    def __call__(self, value: Any) -> Any:
        """Return the decimal for a JSON value."""
        decoded = self.leaf.decode(value)
        self.check(decoded)
        if isinstance(value, float) and has_exact_step(self.limits):
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
    """Encodes like another leaf, within limits."""

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
    """Return a limit as a decimal with the digits as written: 0.1, not the float nearest to it."""
    return cls(int(limit) if float.is_integer(float(limit)) else repr(limit))


def _samples(leaf: SchemaLeaf[Any], limits: Constraints) -> Iterator[Any]:
    """Yield decimals to try: plain ones, then some near a limit, which are probably within all limits."""
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
