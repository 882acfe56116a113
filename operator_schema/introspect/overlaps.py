"""Which values fit two members of a union?

Registration, the compiled tier, encoding and `check` need the answer: either two members that take the same
values are refused, or such a value is.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING

from ..immutable import Value
from ..json_values import choice_key
from .node_kinds import flat_members, received_types, shape_of
from .nodes import LeafNode, UnionNode, resolve
from .union_plans import field_choices, tags_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from .nodes import Field, Node, ObjectNode, Target

_OBJECT_ALONE = frozenset({"object"})
_LAX = frozenset({"string", "integer", "number", "boolean"})


class Objects:
    """The objects of a union, with comparisons of the values that they take.

    Args:
        members: the members of the union; only objects count.
        definitions: the definitions of the graph.

    Attributes:
        shapes: number of a member to its fields.
    """

    __slots__ = ("_definitions", "_marks", "_members", "_tags", "shapes")

    def __init__(self, members: Sequence[Node], definitions: Mapping[Target, Node]) -> None:
        self._definitions = definitions
        self._members = members
        self._marks: dict[int, Marks] = {}
        self._tags: set[str] | None = None
        found = [(i, shape_of(member)) for i, member in enumerate(members)]
        self.shapes = {i: shape for i, shape in found if shape is not None}

    def _required_tags(self) -> set[str]:
        """Return the keys of tags, which will be required and always written."""
        if self._tags is None:
            self._tags = {tag.key for tag in tags_of(self._members, of_all=False)}
        return self._tags

    def marks(self, node: ObjectNode) -> Marks:
        """Return the marks of an object: the facts that distinguish it from others."""
        marks = self._marks.get(id(node))
        if marks is None:
            marks = self._marks[id(node)] = Marks(node)
        return marks

    def differ(self, one: int, other: int) -> bool:
        """Return whether instances of two members are written differently enough to read each as itself."""
        first, second, how = self._compared(one, other)
        tags = self._required_tags() & first.fields.keys() & second.fields.keys()
        if any(all(_is_kept_choice(marks.fields[key]) for marks in (first, second)) for key in tags):
            return True
        if not (first.written | second.written) <= (first.fields.keys() & second.fields.keys()):
            return True
        return self._refuses(first, second, how) and self._refuses(second, first, how)

    def exclude(self, one: int, other: int) -> bool:
        """Return whether certainly no value fits both of two members."""
        first, second, how = self._compared(one, other, is_written=False, is_certain=True)
        return self._refuses(first, second, how)

    def share(self, one: int, other: int) -> bool:
        """Return whether some value may fit both of two members without unused keys."""
        first, second, how = self._compared(one, other, is_written=False)
        is_close = first.required <= second.fields.keys() and second.required <= first.fields.keys()
        return is_close and not self._refuses(first, second, how)

    def is_read_as(self, one: int, other: int) -> bool:
        """Return whether an encoded value of one member may fit another one, without unused keys."""
        first, second, how = self._compared(one, other, is_certain=True)
        return first.written <= second.fields.keys() and not self._refuses(first, second, how)

    def distinguishing_field(
        self, member: int, others: Iterable[int], value: Mapping[str, object]
    ) -> Field | None:
        """Return a field that, added to an object, makes it fit one member of a union and not some others.

        Args:
            member: number of the member.
            others: numbers of the other members that the object fits.
            value: the object, without the field.
        """
        left = [field for field in self.shapes[member].fields if field.key not in value]
        left.sort(key=lambda field: not field_choices(field))
        return next((field for field in left if self._sets_apart(field, member, others)), None)

    def _sets_apart(self, field: Field, member: int, others: Iterable[int]) -> bool:
        """Return whether a field of one member is unknown to the other members, or has no value in common."""
        for other in others:
            _, marks, how = self._compared(member, other, is_written=False)
            same = marks.fields.get(field.key)
            if same and not self._are_disjoint(field, same, how):
                return False
        return True

    def _compared(
        self, one: int, other: int, *, is_written: bool = True, is_certain: bool = False
    ) -> tuple[Marks, Marks, _ComparedPair]:
        """Return the marks of two members, and how they are compared."""
        how = _ComparedPair(_has_leaf([self._members[one], self._members[other]]), is_written, is_certain)
        return self.marks(self.shapes[one]), self.marks(self.shapes[other]), how

    def _refuses(self, one: Marks, other: Marks, how: _ComparedPair) -> bool:
        """Return whether one object refuses all values of another one."""
        if how.is_certain and how.is_lax:
            return False
        if how.is_written and not (other.required <= one.fields.keys()):
            return True
        always = one.written if how.is_written else one.required
        return any(
            (key in always or key in other.required)
            and self._are_disjoint(one.fields[key], other.fields[key], how)
            for key in one.fields.keys() & other.fields.keys()
        )

    def _are_disjoint(self, one: Field, other: Field, how: _ComparedPair) -> bool:
        """Return whether one field refuses all values of the other."""
        values, others = choice_keys(one), choice_keys(other)
        if values and others:
            return not values & others
        types, others_types = self._types(one), self._types(other)
        common = types & others_types
        if how.is_lax and types & _LAX and others_types & _LAX:
            return False
        if common != _OBJECT_ALONE or not how.levels:
            return not common
        nodes = [resolve(field.node, self._definitions) for field in (one, other)]
        inner, outer = map(shape_of, nodes)
        if inner is None or outer is None:
            return False
        is_lax = how.is_lax or (how.is_certain and _has_leaf(nodes))
        below = how.replace(is_lax=is_lax, levels=how.levels - 1)
        return self._refuses(self.marks(inner), self.marks(outer), below)

    def _types(self, field: Field) -> frozenset[str]:
        null = frozenset({"null"} if field.absent_is_none else ())
        return null.union(*map(received_types, flat_members(field.node, self._definitions)))


class _ComparedPair(Value):
    """How the values of two objects are compared.

    Attributes:
        is_lax: whether a leaf reads one of them, which may take `"1"` for an integer.
        is_written: whether only encoded instances count, with all the keys that these always have.
        is_certain: whether the answer must hold for every value. A leaf may convert values, or have a
            validator that takes values outside its schema.
        levels: how many levels of objects inside objects are compared.
    """

    is_lax: bool
    is_written: bool
    is_certain: bool
    levels: int = 3


def _is_kept_choice(field: Field) -> bool:
    return bool(field_choices(field)) and not field.init_only


def _has_leaf(nodes: Iterable[Node]) -> bool:
    return any(isinstance(node, LeafNode) for node in nodes)


def overlapping_names(node: Node, definitions: Mapping[Target, Node]) -> list[tuple[str, str]]:
    """Return pairs of names of union members that the same object may fit.

    Args:
        node: any; only a union has members.
        definitions: the definitions of the graph.

    Returns:
        A few pairs; none for the alternatives of a JSON Schema document, which may overlap on purpose.
    """
    members = flat_members(node, definitions) if isinstance(node, UnionNode) else []
    if any(tag.required for tag in tags_of(members)):
        return []
    objects = Objects(members, definitions)
    shapes = {number: shape for number, shape in objects.shapes.items() if shape.type is not dict}
    pairs = [pair for pair in islice(combinations(shapes, 2), _MOST_COMPARED) if objects.share(*pair)]
    names = [sorted([shapes[one].name, shapes[other].name]) for one, other in pairs[:_MOST_NAMED]]
    return [(first, second) for first, second in names]


_MOST_COMPARED = 10_000
_MOST_NAMED = 3


class Marks:
    """The facts that distinguish an object from others.

    Attributes:
        fields: by JSON key.
        required: keys that every value has.
        written: keys that every encoded instance has.
        choices: those keys that have a fixed set of values, each with that set.
    """

    __slots__ = ("choices", "fields", "required", "written")

    def __init__(self, node: ObjectNode) -> None:
        self.fields = {field.key: field for field in node.fields}
        self.required = {field.key for field in node.fields if field.required}
        self.written = {field.key for field in node.fields if is_always_written(node, field)}
        found = {key: choice_keys(self.fields[key]) for key in self.written}
        self.choices = {key: values for key, values in found.items() if values}


def choice_keys(field: Field) -> frozenset[Hashable]:
    """Return the comparable values of a field with a fixed set of values; none for any other field."""
    return frozenset(map(choice_key, field_choices(field)))


def is_always_written(node: ObjectNode, field: Field) -> bool:
    """Return whether every encoded instance has the key of a field."""
    if node.form == "typed_dict":
        return field.required
    return not (field.absent_is_none or field.init_only)
