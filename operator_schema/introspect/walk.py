"""The walk: from an annotation to the node graph, with every complaint on the way.

What can't be read is complained about and stands as `UNKNOWN` in the graph, so that the walk goes
on and everything wrong is said in one report.
"""

from __future__ import annotations

import dataclasses
import types
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from .._value import Value, set_once
from ..errors import Complaint
from ..wording import received
from .annotations import CLASSES, ORIGINS
from .descriptions import param_descriptions
from .fields import make_field, report_class, report_collisions
from .hints import Place, Scope, Unresolved, class_hints, forward_text
from .identity import name_of, show_annotation
from .leaves import SchemaLeaf, as_leaf, index_leaves, own_leaf, registered_leaf, shipped_leaf
from .nodes import (
    ANY,
    NULL,
    AnyNode,
    ArrayNode,
    Field,
    Graph,
    LeafNode,
    MapNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from ..errors import ComplaintCode
    from .hints import Path

__all__ = ["UNKNOWN", "Defaulted", "Walk"]

UNKNOWN: Final = AnyNode("an annotation that was complained about")

_OPEN: Final = AnyNode("a dataclass whose fields are being walked")

_CONSTANT: Final[dict[object, Node]] = {
    str: ScalarNode("string"),
    int: ScalarNode("integer"),
    float: ScalarNode("number"),
    bool: ScalarNode("boolean"),
    None: NULL,
    types.NoneType: NULL,
    Any: ANY,
    object: ANY,
    list: ArrayNode(ANY),
    dict: MapNode(ANY),
}
"""Annotations whose node is always the same."""

_SUPPORTED: Final = (
    "Use str, int, float, bool, None, Any, X | None, list[…], dict[str, …], Literal, an Enum, a dataclass,"
    " or give a SchemaLeaf for it"
)


class Defaulted(Value):
    """A field with a default or examples, which are to be checked against its node."""

    __slots__ = ("path", "owner", "field")

    path: Path
    owner: str
    field: Field

    def __init__(self, path: Path, owner: str, field: Field) -> None:
        set_once(self, "path", path)
        set_once(self, "owner", owner)
        set_once(self, "field", field)


class Walk:
    """One registration: its options, and what has been found so far.

    Args:
        leaves: leaves that count for this walk alone.
        closed: whether objects refuse unknown keys.
        namespace: names that annotations written as text may use besides those of their module.
        max_depth: levels of arrays and objects that a type may nest before it comes round.

    Attributes:
        complaints: everything wrong so far.
        defaulted: the fields whose defaults and examples are still to be checked.
    """

    def __init__(
        self,
        leaves: Iterable[SchemaLeaf[Any]],
        closed: bool,  # noqa: FBT001  # `Codec` gives it by keyword
        namespace: Mapping[str, Any],
        max_depth: int,
    ) -> None:
        self.complaints: list[Complaint] = []
        self.defaulted: list[Defaulted] = []
        self.closed = closed
        self._leaves = index_leaves(leaves)
        self._namespace = namespace
        self._max_depth = max_depth
        self._objects: dict[type, Node] = {}
        self._recursive: set[type] = set()
        self._definitions: dict[Hashable, Node] = {}
        self._given: Mapping[str, str] | None = None

    def graph(self, annotation: Any, descriptions: Mapping[str, str] | None) -> Graph:
        """Walk a type.

        Args:
            annotation: any annotation.
            descriptions: field name to description, for the fields of the type itself; they win
                over those that it brings.

        Returns:
            Its graph; with `UNKNOWN` in the places that `complaints` is about.
        """
        self._given = descriptions
        scope = Scope(annotation if isinstance(annotation, type) else None, self._namespace)
        root = self.node(annotation, Place((), name_of(annotation), scope))
        if descriptions is not None and not isinstance(_target(root, self._definitions), ObjectNode):
            message = "param_descriptions are given, but it has no fields"
            self._complain((), "unknown_description", name_of(annotation), message, "Leave them out")
        return Graph(root, self._definitions)

    def node(self, annotation: Any, place: Place) -> Node:
        """Return the node of an annotation."""
        if self._leaves and isinstance(annotation, type) and annotation in self._leaves:
            return LeafNode(self._leaves[annotation])
        if annotation is None or annotation is Any:
            return _CONSTANT[annotation]
        if isinstance(annotation, type):
            return _CONSTANT.get(annotation) or self._class_node(annotation, place)
        origin = get_origin(annotation)
        row = ORIGINS.get(origin) if origin is not None else None
        if row is None:
            return self._other_node(annotation, place)
        arm, arity = row
        args = get_args(annotation)
        if args and arity is not None and len(args) != arity:
            return self.complain_unsupported(annotation, place)
        return arm(self, annotation, args, place)

    def item_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of the items of the array, or the values of the map, that stands at a place."""
        if len(place.path) >= self._max_depth:
            return self._complain_depth(place)
        return self.node(annotation, Place((*place.path, "*"), place.owner, place.scope))

    def _other_node(self, annotation: Any, place: Place) -> Node:
        if isinstance(annotation, Unresolved):
            message = f"the annotation {annotation.text} can't be evaluated: {annotation.reason}"
            return self.complain(place, "unresolved", message, annotation.remedy)
        text = forward_text(annotation)
        if text is not None:
            return self.node(place.scope.evaluate(text), place)
        return self.complain_unsupported(annotation, place)

    def _class_node(self, cls: type[Any], place: Place) -> Node:
        leaf = self._leaf(cls, place)
        if leaf is not None:
            return leaf
        if dataclasses.is_dataclass(cls):
            return self._dataclass_node(cls, place)
        arm = next((arm for base, arm in CLASSES if issubclass(cls, base)), None)
        return self.complain_unsupported(cls, place) if arm is None else arm(self, cls, (), place)

    def _leaf(self, cls: type, place: Place) -> Node | None:
        own = own_leaf(cls)
        if own is None:
            leaf = registered_leaf(cls) or shipped_leaf(cls)
            return None if leaf is None else LeafNode(leaf)
        leaf = as_leaf(own)
        if leaf is not None and leaf.type is cls:
            return LeafNode(leaf)
        message = f"__schema_leaf__ gives {_describe_leaf(own)}, not a SchemaLeaf for {name_of(cls)}"
        return self.complain(
            place, "bad_leaf", message, "Make it a class method that returns SchemaLeaf(cls, …)"
        )

    def _dataclass_node(self, cls: type, place: Place) -> Node:
        known = self._objects.get(cls)
        if known is _OPEN:
            self._recursive.add(cls)
            return RefNode(cls)
        if known is not None:
            return known
        if len(place.path) >= self._max_depth:
            return self._complain_depth(place)
        self._objects[cls] = _OPEN
        node: Node = ObjectNode(cls, self._fields(cls, place.path), self.closed)
        if cls in self._recursive:
            self._definitions[cls] = node
            node = RefNode(cls)
        self._objects[cls] = node
        return node

    def _fields(self, cls: type, path: Path) -> tuple[Field, ...]:
        owner = name_of(cls)

        def report(step: str, code: ComplaintCode, message: str, remedy: str, near: str | None) -> None:
            self._complain((*path, step), code, owner, message, remedy, near)

        report_class(cls, report)
        declared = [field for field in dataclasses.fields(cls) if field.init]
        given, self._given = self._given, None
        described = param_descriptions(cls, given, [field.name for field in declared], report)
        fields: list[Field] = []
        for source, (hint, scope) in zip(declared, class_hints(cls, declared, self._namespace), strict=True):
            place = Place((*path, source.name), owner, scope)
            node = self.node(hint, place)
            field = make_field(source, node, described.get(source.name), report)
            fields.append(field)
            if field.examples or field.default is not dataclasses.MISSING:
                self.defaulted.append(Defaulted(place.path, owner, field))
        report_collisions(fields, report)
        return tuple(fields)

    def complain(
        self, place: Place, code: ComplaintCode, message: str, remedy: str, near: str | None = None
    ) -> Node:
        """Note a complaint and return the node that stands for what could not be read."""
        self._complain(place.path, code, place.owner, message, remedy, near)
        return UNKNOWN

    def _complain_depth(self, place: Place) -> Node:
        message = f"the type nests deeper than {self._max_depth} levels"
        return self.complain(place, "too_deep", message, "Flatten it or raise max_depth")

    def complain_unsupported(self, annotation: object, place: Place) -> Node:
        """Complain about an annotation that has no meaning here."""
        message = f"{show_annotation(annotation)} is not supported"
        return self.complain(place, "unsupported", message, _SUPPORTED)

    def _complain(
        self,
        path: Path,
        code: ComplaintCode,
        owner: str,
        message: str,
        remedy: str,
        near: str | None = None,
    ) -> None:
        self.complaints.append(Complaint(path, code, owner, message, remedy, near))


def _describe_leaf(own: object) -> str:
    leaf = as_leaf(own)
    return received(own) if leaf is None else f"a SchemaLeaf for {name_of(leaf.type)}"


def _target(node: Node, definitions: Mapping[Hashable, Node]) -> Node:
    return definitions[node.target] if isinstance(node, RefNode) else node
