"""The complete arguments that were probably meant by some that don't fit, and the same for one value."""

from __future__ import annotations

from json import loads
from typing import TYPE_CHECKING, Any

from ..json_values import to_json_text
from .repair import repair_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..findings import DecodeReport
    from ..introspect.nodes import Graph
    from .problems import Problems

__all__ = ["corrected"]

_HOPELESS = frozenset({"rejected", "too_deep", "too_large"})
"""Codes of problems that no other way to write the value solves; a class's own check runs once."""


def corrected(
    graph: Graph,
    problems: Problems,
    value: object,
    max_depth: int,
    decode_report: Callable[[Any], DecodeReport[Any]],
) -> Any:
    """Return the arguments that were probably meant.

    Args:
        graph: of the type.
        problems: of the value.
        value: JSON values that don't fit; they are not changed.
        max_depth: levels of arrays and objects that are followed.
        decode_report: decides whether what was found is right.

    Returns:
        JSON values that decode as they are; None where a part has no reading that fits, or several.
    """
    if value is None or problems.omitted or any(each.code in _HOPELESS for each in problems.found):
        return None
    try:
        found = repair_value(graph, value, max_depth)[0]
        meant = loads(to_json_text(found))
        fits = meant == found and not decode_report(meant).repairs
    except Exception:  # noqa: BLE001  # code of the user's that what is wrong would never have reached
        return None
    return meant if fits else None
