"""The texts about an object that fits several members of a union: which, and how to choose one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import Finding
from ..introspect.node_kinds import choices_of, shape_of
from ..introspect.overlaps import distinguishing_field
from ..message_text import excerpt, listed, one_line, quote, received

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..introspect.nodes import Node, ObjectNode

    Steps = tuple[str | int, ...]

__all__ = ["ambiguous", "read_as_another"]


def ambiguous(steps: Steps, members: Sequence[Node], value: dict[Any, Any]) -> Finding:
    """Return the problem of an object that fits several members of a union equally well."""
    shapes = [shape for member in members if (shape := shape_of(member)) is not None]
    names = _names(shapes)
    ways = [way for node in shapes if (way := _way_to_mean(node, shapes, value))]
    how = f"; {listed(ways, _NAMED_WAYS, ', or ')}" if ways else ""
    message = f"it fits {names} equally well{how}"
    return Finding(steps, "no_match", message, f"only one of {names}", received(value))


def _way_to_mean(node: ObjectNode, shapes: Sequence[ObjectNode], value: dict[Any, Any]) -> str | None:
    """Return what to change in an object so that it is one member and none of the others."""
    others = [shape for shape in shapes if shape is not node]
    name = _name(node)
    field = distinguishing_field(node, others, value)
    if field is not None:
        choices = choices_of(field.node)
        content = f": {excerpt(choices[0])}" if choices else ""
        return f"add {quote(field.key, _NAME_LENGTH)}{content} for {name}"
    own = {field.key for field in node.fields}
    known = {field.key for other in others for field in other.fields}
    needless = sorted(key for key in value if key in known and key not in own)
    return f"leave out {listed(list(map(quote, needless)), _NAMED_WAYS)} for {name}" if needless else None


def read_as_another(steps: Steps, member: Node, others: Sequence[Node]) -> Finding:
    """Return the problem of an instance whose JSON other members of its union take as well."""
    names = _names([shape for other in others if (shape := shape_of(other)) is not None])
    name = _names([shape] if (shape := shape_of(member)) is not None else [])
    message = f"what this {name} is written as fits {names} equally well; give each a tag, such as a Literal"
    return Finding(steps, "no_match", message)


def _name(node: ObjectNode) -> str:
    return one_line(node.name, _NAME_LENGTH)


def _names(shapes: Sequence[ObjectNode]) -> str:
    return listed(sorted([_name(shape) for shape in shapes]), _NAMED_MEMBERS, " and ")


_NAMED_MEMBERS = 5
_NAMED_WAYS = 3
_NAME_LENGTH = 60
