"""Does a tool refuse two parameters together, although it takes each of them alone?"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from .checks import AnswerFault
from .differences import ABSENT, ComparedPart, refusal_of, with_value
from .parts import type_names, value_at
from .sample_values import edge_values
from .words import names_in

if TYPE_CHECKING:
    from .parts import ArgumentPart

_MOST_VALUES: Final = 3
"""The maximum number of values of each parameter that are tried together."""


def refused_pair(compared: ComparedPart, value: Any) -> AnswerFault | None:
    """Return the fault that two parameters are refused together; None if the refusal has another reason.

    If a description of one names the other one, a model knows, and there is no fault.

    Args:
        compared: the parameter; the arguments have nothing for it.
        value: the value of the parameter, which is refused in these arguments.
    """
    part, base = compared.part, compared.base
    for other in compared.tool.parts:
        nothing = _without(base, other)
        if other.path == part.path or nothing is ABSENT or _is_described(part, other):
            continue
        values = _taken_values(compared._replace(base=nothing), value)
        others = _taken_values(compared._replace(part=other), value_at(base, other.path)) if values else []
        together = [
            with_value(with_value(base, other.path, one), part.path, each)
            for each, one in product(values, others)
        ]
        if len(together) > 1 and not any(map(compared.takes, together)):
            outcome = compared.answer(together[0])
            if outcome is not None and outcome.is_flagged:
                fault = AnswerFault("valid_refused", part.path, "", "warning", str(other.path[-1]), ABSENT)
                return fault._replace(message=refusal_of(fault, values[0], outcome))
    return None


def _without(base: Any, other: ArgumentPart) -> Any:
    """Return arguments without a parameter, or with null for it; `ABSENT` if neither is allowed."""
    if len(other.path) > 1 or value_at(base, other.path) is None:
        return ABSENT
    if not other.is_required:
        return with_value(base, other.path, ABSENT)
    return with_value(base, other.path, None) if "null" in type_names(other.schema) else ABSENT


def _is_described(part: ArgumentPart, other: ArgumentPart) -> bool:
    """Return whether the description of one of two parameters names the other one."""
    return any(
        names_in(str(each.schema.get("description", "")), [str(named.path[-1])])
        for each, named in ((part, other), (other, part))
    )


def _taken_values(compared: ComparedPart, value: Any) -> list[Any]:
    """Return accepted values of a part, beginning with a given one; none if that one is refused."""
    found: list[Any] = []
    for each in [value, *edge_values(compared.part.schema)]:
        if each is None or each in found or len(found) == _MOST_VALUES:
            continue
        if compared.takes(compared.with_value(each)):
            found.append(each)
        elif not found:
            break
    return found
