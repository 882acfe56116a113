"""The walk: from an annotation to the node graph, with every complaint on the way.

A new annotation is one row in a table below and one small function. Each takes the walk, what is
to be read, and where it stands; it returns a node, and where it can't, it complains and returns
`UNKNOWN`, so that the walk goes on and everything wrong is said in one report.
"""

from __future__ import annotations

import dataclasses
import types
from enum import Enum, Flag
from math import isfinite
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    cast,
    get_args,
    get_origin,
)

from .._value import Value, set_once
from ..errors import Complaint
from ..json_values import is_array
from ..wording import clip, escape, excerpt, quote, received
from .descriptions import ATTRIBUTE, param_descriptions, text_or_report
from .hints import Scope, Unresolved, class_hints, forward_text
from .leaves import SchemaLeaf, index_leaves, own_leaf, registered_leaf, shipped_leaf
from .nodes import (
    ANY,
    NULL,
    AnyNode,
    ArrayNode,
    EnumNode,
    Field,
    Graph,
    LeafNode,
    LiteralNode,
    MapNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
    UnionNode,
    choice_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from ..errors import ComplaintCode

    Path = tuple[str, ...]
    Arm = Callable[["Walk", Any, tuple[Any, ...], "Place"], Node]

__all__ = ["UNKNOWN", "Defaulted", "Walk", "name_of"]

UNKNOWN: Final = AnyNode("an annotation that was complained about")

_OPEN: Final = AnyNode("a dataclass whose fields are being walked")

_MISSING: Final = dataclasses.MISSING

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

# Metadata in the annotated-types vocabulary restricts the values, so leaving it out of the schema
# would be wrong; other metadata is somebody else's and is ignored, as PEP 593 asks.
_CONSTRAINTS: Final = (
    "ge",
    "gt",
    "le",
    "lt",
    "multiple_of",
    "min_length",
    "max_length",
    "pattern",
)

_SUPPORTED: Final = (
    "Use str, int, float, bool, None, Any, X | None, list[…], dict[str, …], Literal, an Enum, a dataclass,"
    " or give a SchemaLeaf for it"
)


class Place(Value):
    """Where an annotation stands.

    Attributes:
        path: steps from the registered type, as in `Complaint.path`.
        owner: name of the class that the annotation is written in.
        scope: where the names in its text are looked up.
    """

    __slots__ = ("path", "owner", "scope")

    path: Path
    owner: str
    scope: Scope

    def __init__(self, path: Path, owner: str, scope: Scope) -> None:
        set_once(self, "path", path)
        set_once(self, "owner", owner)
        set_once(self, "scope", scope)

    def inside(self) -> Place:
        """Return the place of the items of the array, or the values of the map, that stands here."""
        return Place((*self.path, "*"), self.owner, self.scope)


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
        if len(place.path) > self._max_depth:
            message = f"the type nests deeper than {self._max_depth} levels"
            return self.complain(place, "too_deep", message, "Flatten it or raise max_depth")
        origin = get_origin(annotation)
        arm = _ARMS.get(origin) if origin is not None else None
        if arm is not None:
            return arm(self, annotation, get_args(annotation), place)
        return self._other_node(annotation, place)

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
        arm = next((arm for base, arm in _CLASSES if issubclass(cls, base)), None)
        return self.complain_unsupported(cls, place) if arm is None else arm(self, cls, (), place)

    def _leaf(self, cls: type, place: Place) -> Node | None:
        own = own_leaf(cls)
        if own is None:
            leaf = registered_leaf(cls) or shipped_leaf(cls)
            return None if leaf is None else LeafNode(leaf)
        leaf = _as_leaf(own)
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
        if len(place.path) > self._max_depth:
            message = f"the type nests deeper than {self._max_depth} levels"
            return self.complain(place, "too_deep", message, "Flatten it or raise max_depth")
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

        _report_class(cls, report)
        declared = [field for field in dataclasses.fields(cls) if field.init]
        given, self._given = self._given, None
        described = param_descriptions(cls, given, [field.name for field in declared], report)
        fields: list[Field] = []
        for source, (hint, scope) in zip(declared, class_hints(cls, declared, self._namespace), strict=True):
            place = Place((*path, source.name), owner, scope)
            node = self.node(hint, place)
            field = _field(source, node, described.get(source.name), report)
            fields.append(field)
            if field.examples or field.default is not _MISSING:
                self.defaulted.append(Defaulted(place.path, owner, field))
        _report_collisions(fields, report)
        return tuple(fields)

    def complain(
        self, place: Place, code: ComplaintCode, message: str, remedy: str, near: str | None = None
    ) -> Node:
        """Note a complaint and return the node that stands for what could not be read."""
        self._complain(place.path, code, place.owner, message, remedy, near)
        return UNKNOWN

    def complain_unsupported(self, annotation: object, place: Place) -> Node:
        """Complain about an annotation that has no meaning here."""
        message = f"{_show_annotation(annotation)} is not supported"
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


def name_of(annotation: object) -> str:
    """Return the name by which messages call a type."""
    if isinstance(annotation, type):
        return annotation.__name__
    return _show_annotation(annotation)


def _show_annotation(annotation: object) -> str:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        module = annotation.__module__
        name = annotation.__qualname__
        return name if module in {"builtins", "__main__"} else f"{module}.{name}"
    return clip(escape(repr(annotation).replace("typing.", "")), 200)


def _describe_leaf(own: object) -> str:
    leaf = _as_leaf(own)
    return received(own) if leaf is None else f"a SchemaLeaf for {name_of(leaf.type)}"


def _as_leaf(item: Any) -> SchemaLeaf[Any] | None:
    leaf: SchemaLeaf[Any] | None = item if isinstance(item, SchemaLeaf) else None
    return leaf


def _target(node: Node, definitions: Mapping[Hashable, Node]) -> Node:
    return definitions[node.target] if isinstance(node, RefNode) else node


# --- fields of a dataclass -----------------------------------------------------------------------


def _field(
    source: dataclasses.Field[Any],
    node: Node,
    described: str | None,
    report: Callable[..., None],
) -> Field:
    has_factory = source.default_factory is not _MISSING
    may_be_absent = has_factory or source.default is not _MISSING
    absent_is_none = False
    if not has_factory and (source.default is None or source.default is _MISSING):
        node, absent_is_none = _without_null(node, none_by_default=source.default is None)
    metadata = source.metadata
    description, key, examples = node.description, source.name, ()
    if metadata:
        in_metadata = text_or_report(metadata, "description", source.name, report)
        description = description if description is not None else in_metadata
        alias = text_or_report(metadata, "alias", source.name, report)
        key = source.name if alias is None else alias
        examples = _examples(metadata, source.name, report)
    return Field(
        source.name,
        key,
        node,
        not (may_be_absent or absent_is_none),
        source.default,
        absent_is_none,
        description if described is None else described,
        examples,
    )


def _without_null(node: Node, *, none_by_default: bool) -> tuple[Node, bool]:
    """Take null out of a node, and say whether None is what the field has when its key is absent.

    Null need not stand in the schema of a field that is None without its key: leaving the key out
    says the same.
    """
    if isinstance(node, UnionNode) and NULL in node.members:
        rest = tuple([member for member in node.members if member != NULL])
        bare = rest[0] if len(rest) == 1 else UnionNode(rest)
        described = bare if node.description is None else bare.replace(description=node.description)
        return described, True
    # `x: int = None` is read as `int | None = None`; where the type takes null by itself, nothing
    # needs to be added.
    return node, none_by_default and not _takes_null(node)


def _takes_null(node: Node) -> bool:
    match node:
        case AnyNode() | ScalarNode(type="null"):
            return True
        case LiteralNode(values=values) | EnumNode(values=values):
            return None in values
        case LeafNode(leaf=leaf):
            return "null" in leaf.json_types
        case _:
            return False


def _examples(metadata: Mapping[Any, Any], name: str, report: Callable[..., None]) -> tuple[Any, ...]:
    examples: Any = metadata.get("examples", ())
    if is_array(examples) or isinstance(examples, tuple):
        return tuple(cast("Iterable[Any]", examples))
    message = f'metadata["examples"] is {received(examples)}, not a list'
    report(name, "bad_metadata", message, "Give a list of values of the field", None)
    return ()


def _report_class(cls: type, report: Callable[..., None]) -> None:
    if getattr(cls, "__init__", None) is object.__init__ and dataclasses.fields(cls):
        message = "it has fields, but no __init__ that takes them"
        report("__init__", "unsupported", message, "Leave out init=False or write an __init__", None)
    declared: dict[str, Any] = getattr(cls, "__dataclass_fields__")
    for name, field in declared.items():
        kind_of_field: str = field._field_type.name  # noqa: SLF001  # dataclasses has no public name for it
        if kind_of_field == "_FIELD_INITVAR":
            message = "InitVar is not supported"
            report(name, "unsupported", message, "Make it a field, or compute it in __post_init__", None)
        if name == ATTRIBUTE and kind_of_field == "_FIELD":
            message = f"{ATTRIBUTE} is declared as a field"
            remedy = f"Assign it without annotation ({ATTRIBUTE} = {{…}}) or annotate it as ClassVar"
            report(name, "bad_description", message, remedy, None)


def _report_collisions(fields: Sequence[Field], report: Callable[..., None]) -> None:
    first: dict[str, str] = {}
    for field in fields:
        other = first.setdefault(field.key, field.name)
        if other != field.name:
            message = f"its JSON key {quote(field.key)} is that of field {quote(other)} too"
            report(field.name, "alias_collision", message, "Give one of them another alias", None)


# --- arms: one kind of annotation each -----------------------------------------------------------


def _annotated(walk: Walk, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    inner, *metadata = args
    leaf = next((item for item in map(_as_leaf, reversed(metadata)) if item is not None), None)
    node = walk.node(inner, place) if leaf is None else LeafNode(leaf)
    for item in metadata:
        if isinstance(item, str):
            node = node.replace(description=item)
        elif leaf is None and any(getattr(item, name, None) is not None for name in _CONSTRAINTS):
            message = f"the constraint {clip(escape(repr(item)), 100)} is not supported"
            walk.complain(place, "unsupported", message, "Check the value in __post_init__")
    return node


def _array(walk: Walk, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    return ArrayNode(walk.node(args[0], place.inside()) if args else ANY)


def _map(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    if not args:
        return MapNode(ANY)
    keys, values = args
    if keys is not str and walk.node(keys, place) != _CONSTANT[str]:
        message = f"the keys of {_show_annotation(annotation)} are not str"
        walk.complain(place, "unsupported", message, "Make it dict[str, …]")
    return MapNode(walk.node(values, place.inside()))


def _union(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    members = tuple([walk.node(arg, place) for arg in args])
    if NULL in members and len(members) == 2:  # noqa: PLR2004  # X | None
        value = members[0] if members[1] == NULL else members[1]
        if isinstance(value, (EnumNode, LeafNode)) and _takes_null(value):
            message = f"null means two things in {_show_annotation(annotation)}"
            return walk.complain(place, "ambiguous", message, "Leave None out, or give it another value")
        return UnionNode(members)
    message = f"the union {_show_annotation(annotation)} is not supported"
    remedy = "Only X | None is; make it one type, or a dataclass with one field a case"
    return walk.complain(place, "unsupported", message, remedy)


def _literal(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    values = tuple([_plain(arg.value if isinstance(arg, Enum) else arg) for arg in args])
    bad = [arg for arg, value in zip(args, values, strict=True) if value is _MISSING]
    if bad:
        message = f"{_show_annotation(annotation)} has {excerpt(bad[0])}, which JSON can't hold"
        return walk.complain(place, "unsupported", message, "Use strings, numbers, booleans and None")
    table = dict(zip(map(choice_key, values), args, strict=True))
    if len(table) < len(values):
        message = f"two values of {_show_annotation(annotation)} are the same in JSON"
        return walk.complain(place, "ambiguous", message, "Leave one of them out")
    return LiteralNode(values, args, table)


def _enum(walk: Walk, cls: type[Enum], _args: tuple[Any, ...], place: Place) -> Node:
    members = tuple(cls)
    values = tuple([_plain(member.value) for member in members])
    bad = [member for member, value in zip(members, values, strict=True) if value is _MISSING]
    if bad:
        message = f"{bad[0]} has the value {clip(escape(repr(bad[0].value)), 60)}, which is no JSON scalar"
        return walk.complain(place, "bad_enum", message, "Use strings, numbers, booleans and None")
    if not members:
        return walk.complain(place, "bad_enum", f"{name_of(cls)} has no members", "Give it some")
    return EnumNode(cls, values, dict(zip(map(choice_key, values), members, strict=True)))


def _flag(walk: Walk, cls: type[Flag], _args: tuple[Any, ...], place: Place) -> Node:
    message = f"{name_of(cls)} is a Flag, whose values are sums of members"
    return walk.complain(place, "bad_enum", message, "Use list[…] of an Enum, or a SchemaLeaf")


def _plain(value: object) -> Any:
    """Return a JSON scalar as its own built-in type, `dataclasses.MISSING` for anything else."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float) and isfinite(value):
        return float.__float__(value)
    return _MISSING


_ARMS: Final[dict[object, Arm]] = {
    Annotated: _annotated,
    Literal: _literal,
    Union: _union,
    types.UnionType: _union,
    list: _array,
    dict: _map,
}
"""By what `typing.get_origin` returns."""

_CLASSES: Final[tuple[tuple[type, Arm], ...]] = (
    (Flag, _flag),
    (Enum, _enum),
)
"""By base class; the first that fits counts."""
