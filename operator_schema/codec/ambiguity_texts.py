"""Messages about an object that fits several members of a union: which ones, and how to choose one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import Finding
from ..introspect.ambiguity_checks import node_name
from ..introspect.node_kinds import shape_of
from ..introspect.overlaps import Objects
from ..introspect.union_plans import choices_of
from ..message_text import excerpt, listed, one_line, quote, received

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..introspect.nodes import Field, Node, ObjectNode, Target

    Steps = tuple[str | int, ...]


def ambiguous(
    steps: Steps, members: Sequence[Node], value: dict[Any, Any], definitions: Mapping[Target, Node]
) -> Finding:
    """Return the problem of an object that fits several members of a union equally well."""
    objects = Objects(members, definitions)
    names = _names_of(list(objects.shapes.values()))
    ways = [way for number in objects.shapes if (way := _way_to_mean(number, objects, value))]
    how = f"; {listed(ways, _NAMED_WAYS, ', or ')}" if ways else ""
    message = f"it fits {names} equally well{how}"
    return Finding(steps, "no_match", message, f"only one of {names}", received(value))


def _way_to_mean(member: int, objects: Objects, value: dict[Any, Any]) -> str | None:
    """Return what to change in an object so that it fits only one member of the union."""
    node, others = objects.shapes[member], [number for number in objects.shapes if number != member]
    name = _name_of(node)
    known = {field.key for number in others for field in objects.shapes[number].fields}
    field = objects.distinguishing_field(member, others, value)
    if field is not None:
        content = _describe_content(field) if field.key in known else ""
        return f"add {quote(field.key, _NAME_LENGTH)}{content} for {name}"
    own = {field.key for field in node.fields}
    needless = sorted(key for key in value if key in known and key not in own)
    return f"leave out {listed(list(map(quote, needless)), _NAMED_WAYS)} for {name}" if needless else None


def _describe_content(field: Field) -> str:
    """Describe the values of a field whose key another member has too."""
    choices = choices_of(field.node)
    return f": {excerpt(choices[0])}" if choices else f" ({one_line(node_name(field.node), _NAME_LENGTH)})"


def read_as_another(steps: Steps, member: Node, others: Sequence[Node]) -> Finding:
    """Return the problem of an instance whose JSON also fits other members of its union."""
    names = _names_of([shape for other in others if (shape := shape_of(other)) is not None])
    name = _names_of([shape] if (shape := shape_of(member)) is not None else [])
    message = f"what this {name} is written as fits {names} equally well; give each a tag, such as a Literal"
    return Finding(steps, "no_match", message)


def _name_of(node: ObjectNode) -> str:
    return one_line(node.name, _NAME_LENGTH)


def _names_of(shapes: Sequence[ObjectNode]) -> str:
    return listed(sorted([_name_of(shape) for shape in shapes]), _NAMED_MEMBERS, " and ")


_NAMED_MEMBERS = 5
_NAMED_WAYS = 3
_NAME_LENGTH = 60
