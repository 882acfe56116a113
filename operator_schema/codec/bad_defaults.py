"""Complaints about defaults and examples that don't fit their own field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..complaints import Complaint
from ..introspect.foreign_metadata import fault_of_default
from ..introspect.nodes import EnumNode
from ..json_values import choice_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..introspect.reader import Defaulted
    from .problems import Problems

__all__ = ["complaints_about"]


def complaints_about(
    entry: Defaulted, what: Literal["default", "example"], value: object, problems: Problems
) -> Iterable[Complaint]:
    """Yield the complaints about a default or example that doesn't fit its field.

    Args:
        entry: the field, and where it is.
        what: of the field.
        value: of the default or example.
        problems: of encoding it.
    """
    fault = fault_of_default(value) if what == "default" else None
    if fault is not None:
        yield Complaint(entry.path, "bad_default", entry.owner, *fault)
        return
    for problem in problems.found:
        message = f"its {what} does not fit: {problem}"
        remedy = f"Change the {what} or the annotation"
        yield Complaint(
            entry.path, "bad_default", entry.owner, message, remedy, _member_of_value(entry, value)
        )


def _member_of_value(entry: Defaulted, value: object) -> str | None:
    """Return the member of an Enum whose JSON value is given in its place."""
    node = entry.field.node
    if not isinstance(node, EnumNode) or not isinstance(value, (str, int, float)):
        return None
    member = node.table.get(choice_key(value))
    return None if member is None else f"{node.type.__name__}.{member.name}"
