"""Which tools of a request are strict, where that is left to what the provider takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..complaints import Complaint
from ..immutable import Value
from ..schema.sizes import Size, over_limits
from ..wording import quote, received

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..schema.style import Dialect

__all__ = ["Fit", "Strict", "checked_strict", "strict_where_possible"]

Strict: TypeAlias = "bool | Literal['auto']"


class Fit(Value):
    """Whether one tool of a request is strict.

    Attributes:
        strict: whether it is.
        reasons: why it isn't, though it might have been.
    """

    strict: bool
    reasons: tuple[Complaint, ...] = ()


def checked_strict(strict: Any) -> Strict:
    """Check what is given as `strict`.

    Raises:
        TypeError: it is neither a bool nor `auto`.
    """
    if type(strict) is bool:
        return strict
    if isinstance(strict, str) and strict == "auto":
        return "auto"
    message = f'strict is True, False or "auto", not {received(strict)}'
    raise TypeError(message)


def strict_where_possible(
    dialect: Dialect | None, provider: str, tools: Sequence[tuple[str, Size | tuple[Complaint, ...]]]
) -> list[Fit]:
    """Return which tools are strict: each that fits, in order, as long as the request takes more.

    Args:
        dialect: of the strict mode; None where none is known.
        provider: its name, for the reasons.
        tools: the name of each, and how much of the strict mode it takes, or why it doesn't fit.
    """
    if dialect is None:
        unknown = f"no strict mode of {provider} is known"
        return [Fit(strict=False, reasons=(_reason(name, unknown),)) for name, _ in tools]
    is_too_much = bool(over_limits(dialect, [fit for _, fit in tools if isinstance(fit, Size)]))
    found: list[Fit] = []
    taken: list[Size] = []
    for name, fit in tools:
        if not isinstance(fit, Size):
            found.append(Fit(strict=False, reasons=fit))
            continue
        over = over_limits(dialect, [*taken, fit]) if is_too_much else []
        if not over:
            taken.append(fit)
        reasons = [_reason(name, f"with it there are {what}") for what in over]
        found.append(Fit(strict=not over, reasons=tuple(reasons)))
    return _all_or_none(found, provider, tools) if dialect.whole_request else found


def _all_or_none(found: list[Fit], provider: str, tools: Sequence[tuple[str, object]]) -> list[Fit]:
    """Return the same tools, none of them strict if one isn't."""
    first = next((name for (name, _), fit in zip(tools, found, strict=True) if not fit.strict), None)
    if first is None:
        return found
    message = f"the strict mode of {provider} is for all tools of a request, and {quote(first)} doesn't fit"
    return [
        fit.replace(strict=False, reasons=fit.reasons or (_reason(name, message),))
        for (name, _), fit in zip(tools, found, strict=True)
    ]


def _reason(tool: str, message: str) -> Complaint:
    return Complaint((), "unsupported", tool, message, "Nothing has to be done: it is sent without strict")
