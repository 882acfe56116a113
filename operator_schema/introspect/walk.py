"""The walk: from an annotation to the node graph, with every complaint on the way.

What can't be read gets a complaint and becomes `UNKNOWN` in the graph, so that the walk goes on and
one report lists everything that is wrong.
"""

from __future__ import annotations

import sys
import types
from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from ..complaints import Complaint
from ..json_values import has_surrogate
from ..wording import received
from .annotations import CLASSES, NAMED, ORIGINS
from .classes import declared_fields, form_of, is_closed, with_computed_fields
from .constructors import report_class
from .descriptions import describe_fields
from .equality import Distinct
from .fields import make_field, report_collisions
from .graph import Graph
from .hints import NO_BINDINGS, FieldPlace, Place, Scope, Unresolved, evaluate_forward
from .leaves import SchemaLeaf, as_leaf, index_leaves, own_leaf, registered_leaf
from .names import name_of, show_annotation, show_error, take_apart
from .nodes import (
    ANY,
    NULL,
    STRING,
    UNKNOWN,
    Field,
    LeafNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
    Target,
    UnionNode,
)
from .recursion import Known, identity_of, short_name, target_of
from .shipped_leaves import shipped_leaf
from .type_parameters import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from ..errors import ComplaintCode
    from .classes import Declared
    from .hints import Bindings, Path
    from .nodes import ObjectForm

__all__ = ["MAX_ANNOTATIONS", "Defaulted", "ResultWalk", "Walk"]

MAX_ANNOTATIONS = 100_000
"""Annotations that one registration reads; what repeats inside itself could double without end."""

_CONSTANT: Final[Mapping[Any, Node]] = {
    str: STRING,
    int: ScalarNode("integer"),
    float: ScalarNode("number"),
    bool: ScalarNode("boolean"),
    None: NULL,
    types.NoneType: NULL,
    Any: ANY,
    object: ANY,
}
"""Annotations whose node is always the same."""

_MAY_BE_NULL: Final = frozenset({UnionNode, RefNode})
_LEAF_METHOD: Final = "Make it a class method that returns SchemaLeaf(cls, …)"


class Defaulted:
    """A field with a default or examples, which are to be checked against its node."""

    __slots__ = ("field", "owner", "path")

    def __init__(self, path: Path, owner: str, field: Field) -> None:
        self.path = path
        self.owner = owner
        self.field = field


class Walk:
    """One registration: its options, and what has been found so far.

    Args:
        leaves: leaves that count for this walk alone.
        closed: whether objects refuse unknown keys.
        namespace: names that annotations written as text may use besides those of their module.
        max_depth: levels of arrays and objects that a type may nest before it repeats itself.
        attribute_docs: whether to read attribute docstrings, which needs the source.

    Attributes:
        complaints: everything wrong so far.
        defaulted: the fields whose defaults and examples are still to be checked.
        has_choices: whether there are unions or sets, which are checked once the graph is known.
    """

    of_results = False
    """Whether the fields of a dataclass that `init=False` keeps out of its constructor count too."""

    def __init__(
        self,
        leaves: Iterable[SchemaLeaf[Any]],
        closed: bool,  # noqa: FBT001  # keywords cost as much as half of this
        namespace: Mapping[str, Any],
        max_depth: int,
        attribute_docs: bool,  # noqa: FBT001  # keywords cost as much as half of this
    ) -> None:
        self.complaints: list[Complaint] = []
        self.defaulted: list[Defaulted] = []
        self.has_choices = False
        self._closed = closed
        self._leaves = index_leaves(leaves) if leaves else {}
        self._constant = _without(_CONSTANT, self._leaves) if leaves else _CONSTANT
        self._namespace = namespace
        self._max_depth = max_depth
        self._attribute_docs = attribute_docs
        self._known: dict[Hashable, Known] = {}
        self._definitions: dict[Target, Node] = {}
        self._aliases: dict[Target, Node] = {}
        self._unsettled: list[Field] = []
        self._descriptions: Mapping[str, str] | None = None
        self._distinct: Distinct | None = None
        self._deepest = 0
        self._met = 0

    @property
    def distinct(self) -> Distinct:
        """What tells which nodes are equal, made when it is asked for: most types have no such question."""
        if self._distinct is None:
            self._distinct = Distinct()
        return self._distinct

    def graph(self, annotation: Any, name: str, descriptions: Mapping[str, str] | None) -> Graph:
        """Walk a type.

        Args:
            annotation: any annotation.
            name: what messages call it.
            descriptions: field name to description, for the fields of the type itself; they win
                over those that it brings.

        Returns:
            Its graph; with `UNKNOWN` in the places that `complaints` is about.
        """
        self._descriptions = descriptions
        owner = annotation if isinstance(annotation, type) else None
        place = Place((), name, Scope(owner, self._namespace))
        root = self.node(annotation, place)
        graph = Graph(root, self._definitions, self._aliases)
        if self._unsettled:
            graph = self._settle_nulls(graph)
        if descriptions is not None and not isinstance(graph.resolve_root(), ObjectNode):
            message = "param_descriptions are given, but it has no fields"
            self.complain(place, "unknown_description", message, "Leave them out")
        if self.has_choices:
            from .graph_checks import check_graph

            self.complaints.extend(check_graph(graph, name))
        return graph

    def _settle_nulls(self, graph: Graph) -> Graph:
        from .null_fields import null_fields, with_fields

        changed = null_fields(self._unsettled, graph.definitions)
        if not changed:
            return graph
        for entry in self.defaulted:
            entry.field = changed.get(id(entry.field), entry.field)
        return with_fields(graph, changed)

    def node(self, annotation: Any, place: Place) -> Node:
        """Return the node of an annotation."""
        self._met += 1
        if self._met > MAX_ANNOTATIONS:
            return self._complain_size(place)
        try:
            kind = type(annotation)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
            if kind is type:
                return self._constant.get(annotation) or self._class_node(annotation, (), place)
            if annotation is None or annotation is Any:
                return _CONSTANT[annotation]
            if isinstance(annotation, type):
                if kind.__hash__ is None:
                    message = f"{show_annotation(annotation)} has a metaclass without hash"
                    return self.complain(place, "unsupported", message, "Give the metaclass a __hash__")
                return self._class_node(annotation, (), place)
            origin, args = take_apart(annotation)
            if origin is None:
                return self._special_node(annotation, place)
            row = ORIGINS.get(origin)
            if row is not None:
                arm, arity = row
                if args and arity is not None and len(args) != arity:
                    return self.complain_unsupported(annotation, place)
                return arm(self, annotation, args, place)
            if isinstance(origin, type):
                return self._class_node(origin, args, place)
            return self._special_node(annotation, place)
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # noqa: BLE001  # classes and metadata may do anything when they are read
            message = f"reading {show_annotation(annotation)} raised {show_error(error)}"
            return self.complain(place, "unsupported", message, "Fix the class or the metadata")

    def item_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of the items of the array, or the values of the map, at a place."""
        if not self._reach(len(place.path) + 1):
            return self._complain_depth(place)
        if type(annotation) is type and self._met < MAX_ANNOTATIONS:
            node = self._constant.get(annotation)
            if node is not None:
                self._met += 1
                return node
        return self.node(annotation, Place(place.path + ("*",), place.owner, place.scope))  # noqa: RUF005  # unpacking is slower here

    def _reach(self, depth: int) -> bool:
        if depth > self._deepest:  # noqa: PLR1730  # a call costs more than all the rest of this
            self._deepest = depth
        return depth <= self._max_depth

    def _special_node(self, annotation: Any, place: Place) -> Node:
        meant = evaluate_forward(annotation, place.scope)
        if meant is not annotation:
            if isinstance(meant, type) or meant is None or isinstance(meant, Unresolved):
                return self.node(meant, place)
            return self._text_node(str(getattr(annotation, "__forward_arg__", annotation)), meant, place)
        if isinstance(annotation, Unresolved):
            message = f"the annotation {annotation.text} can't be evaluated: {annotation.reason}"
            return self.complain(place, "unresolved", message, annotation.remedy, annotation.suggestion)
        # typing and typing_extensions have classes of their own for the same special form.
        form = getattr(get_origin(annotation) or annotation, "_name", None)
        arm = NAMED.get(form or "") or NAMED.get(type(annotation).__name__)
        if arm is None:
            arm = NAMED.get(type(get_origin(annotation)).__name__)
        if arm is None:
            return self.complain_unsupported(annotation, place)
        return arm(self, annotation, get_args(annotation), place)

    # --- classes and aliases, which may be recursive -----------------------------------------------

    def _class_node(self, cls: type[Any], args: tuple[Any, ...], place: Place) -> Node:
        leaf = self._leaf(cls, place)
        if leaf is not None:
            return leaf
        row = ORIGINS.get(cls)
        if row is not None:
            return row[0](self, cls, (), place)
        form = form_of(cls)
        if form is not None:
            return self._object_node(cls, form, args, place)
        for base, arm in CLASSES:
            if issubclass(cls, base):
                return arm(self, cls, args, place)
        if "pydantic" in sys.modules:
            from .pydantic_models import is_model

            if is_model(cls):
                return self._model_node(cls, place)
        # A class may also be what a tool left under its name.
        named = NAMED.get(type(cls).__name__)
        return self.complain_unsupported(cls, place) if named is None else named(self, cls, args, place)

    def _model_node(self, cls: Any, place: Place) -> Node:
        from .pydantic_models import fault_of_model, model_leaf

        fault = fault_of_model(cls)
        if fault is not None:
            return self.complain(place, "unsupported", f"{name_of(cls)} can't be used: {fault[0]}", fault[1])
        return LeafNode(model_leaf(cls))

    def _leaf(self, cls: type, place: Place) -> Node | None:
        if self._leaves and cls in self._leaves:  # met as the origin of a generic
            return LeafNode(self._leaves[cls])
        try:
            own = own_leaf(cls)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # it is the user's code
            message = f"__schema_leaf__ raised {show_error(error)}"
            return self.complain(place, "bad_leaf", message, _LEAF_METHOD)
        if own is None:
            leaf = registered_leaf(cls) or shipped_leaf(cls)
            return None if leaf is None else LeafNode(leaf)
        leaf = as_leaf(own)
        if leaf is not None and leaf.type is cls:
            return LeafNode(leaf)
        message = f"__schema_leaf__ gives {_describe_leaf(own)}, not a SchemaLeaf for {name_of(cls)}"
        return self.complain(place, "bad_leaf", message, _LEAF_METHOD)

    def _object_node(self, cls: type[Any], form: ObjectForm, args: tuple[Any, ...], place: Place) -> Node:
        bindings = bind(cls, args, place.scope) if args else NO_BINDINGS
        identity = identity_of(cls, bindings)
        if identity is None:
            return self._complain_arguments(cls, place)
        known = self._known.get(identity)
        if known is not None:
            return self._again(known, place, partial(target_of, cls, bindings, identity, is_object=True))
        if not self._reach(len(place.path) + 1):
            return self._complain_depth(place)
        known = self._open(identity, place)
        inner = Place(place.path, short_name(cls, bindings), place.scope)
        return self._close(known, self._make_object(cls, form, bindings, inner))

    def alias_node(self, alias: Any, args: tuple[Any, ...], place: Place) -> Node:
        """Return the node of what a type alias (PEP 695) stands for."""
        bindings = bind(alias, args, place.scope)
        identity = identity_of(alias, bindings)
        if identity is None:
            return self._complain_arguments(alias, place)
        known = self._known.get(identity)
        if known is not None:
            return self._again(known, place, partial(target_of, alias, bindings, identity, is_object=False))
        try:
            value = alias.__value__
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # it is evaluated now, and may raise anything
            value = Unresolved(alias.__name__, str(error), "Fix the alias")
        scope = Scope(alias, self._namespace, bindings, place.scope.self_type, place.scope)
        inner = Place(place.path, place.owner, scope)
        known = self._open(identity, place)
        node = self._close(known, self.node(value, inner))
        self._aliases[target_of(alias, bindings, identity, is_object=False)] = node
        return node

    def _text_node(self, text: str, meant: Any, place: Place) -> Node:
        """Return the node of what is written as text, which may be recursive like any alias."""
        # Where what the type parameters are given can't be compared, the class they are of said so.
        identity = (text, place.scope.identity)
        known = self._known.get(identity)
        if known is not None:
            name = text if text.isidentifier() else "Text"
            return self._again(known, place, partial(Target, identity, name, text, is_object=False))
        known = self._open(identity, place)
        return self._close(known, self.node(meant, place))

    def _open(self, identity: Hashable, place: Place) -> Known:
        """Begin to read a class or alias, of which `_close` takes the node."""
        known = self._known[identity] = Known(place.path, self._deepest)
        self._deepest = len(place.path)
        return known

    def _close(self, known: Known, node: Node) -> Node:
        """Keep the node of a class or alias, and define it if it is recursive."""
        known.height = self._deepest - len(known.path)
        if known.around > self._deepest:  # noqa: PLR1730  # a call costs more
            self._deepest = known.around
        target = known.target
        if target is not None:
            node = self.distinct.union(node) if isinstance(node, UnionNode) else node
            self._definitions[target] = self.distinct.node(node)
            node = RefNode(target)
        known.node = node
        return node

    def _again(self, known: Known, place: Place, make_target: Callable[[], Target]) -> Node:
        if known.node is not None:
            if self._reach(len(place.path) + known.height):
                return known.node
            return self._complain_depth(place)
        if known.path == place.path:
            message = "the type stands for itself, with no array or object between"
            return self.complain(place, "unsupported", message, "Take it out of its own alternatives")
        if known.target is None:
            known.target = make_target()
        return RefNode(known.target)

    def _make_object(self, cls: type[Any], form: ObjectForm, bindings: Bindings, place: Place) -> Node:
        report = partial(self._report, place)
        self._deepest = len(place.path) + 1  # the object itself is a level
        given = None if place.path else self._descriptions
        generic: Any = cls
        self_type = generic[tuple(bindings.values())] if bindings else cls
        declared = declared_fields(cls, form, bindings, self_type, self._namespace, place.scope)
        report_class(cls, form, declared, report)
        if self.of_results and form == "dataclass":
            declared = with_computed_fields(cls, declared, place.scope)
        text, described, documented = describe_fields(
            cls, form, given, declared, report, self._attribute_docs
        )
        fields: list[Field] = []
        for source in declared.values():
            fields.append(self._field(source, described, documented, place, report))  # noqa: PERF401  # no closure
        report_collisions(fields, report)
        if text and has_surrogate(text):
            report("__doc__", "bad_description", "it has a lone surrogate", "Take it out")
        closed = self._closed or is_closed(cls, form)
        return ObjectNode(cls, place.owner, form, tuple(fields), closed, text)

    def _field(
        self,
        source: Declared,
        given: Mapping[str, str],
        documented: Mapping[str, str],
        place: Place,
        report: Any,
    ) -> Field:
        hint = source.hint
        node = self._constant.get(hint) if type(hint) is type and self._met < MAX_ANNOTATIONS else None
        if node is None:
            inner = FieldPlace(place.path + (source.name,), place.owner, source.scope)  # noqa: RUF005  # unpacking is slower here
            node = self.node(hint, inner)
            if inner.metadata:
                source = self._with_metadata(source, inner.metadata, inner)
        else:
            self._met += 1
        field = make_field(source, node, given, documented, report)
        if field.required and field.node.__class__ in _MAY_BE_NULL and source.required is None:
            self._unsettled.append(field)
        if field.default is not MISSING or field.examples:
            self._note_values(field, place)
        return field

    def _with_metadata(self, source: Declared, metadata: dict[str, Any], place: Place) -> Declared:
        """Return a field with what its annotation says of it, which its own metadata wins over."""
        default = metadata.pop("default", None)
        if default is not None and source.default is MISSING and not source.has_factory:
            self.complain(place, "bad_default", default.message, default.remedy)
        return source.with_metadata(metadata)

    def _note_values(self, field: Field, place: Place) -> None:
        is_absent = field.default is MISSING or (field.default is None and field.absent_is_none)
        if field.examples or not is_absent:
            self.defaulted.append(Defaulted((*place.path, field.name), place.owner, field))

    # --- complaints ------------------------------------------------------------------------------

    def complain(
        self, place: Place, code: ComplaintCode, message: str, remedy: str, near: str | None = None
    ) -> Node:
        """Note a complaint and return the node for what could not be read."""
        self.complaints.append(Complaint(place.path, code, place.owner, message, remedy, near))
        return UNKNOWN

    def _report(
        self,
        place: Place,
        step: str,
        code: ComplaintCode,
        message: str,
        remedy: str,
        near: str | None = None,
    ) -> None:
        """Complain about a field of the class at a place."""
        self.complain(Place((*place.path, step), place.owner, place.scope), code, message, remedy, near)

    def _complain_depth(self, place: Place) -> Node:
        message = f"the type nests deeper than {self._max_depth} levels"
        return self.complain(place, "too_deep", message, "Flatten it or raise max_depth")

    def _complain_size(self, place: Place) -> Node:
        if self._met == MAX_ANNOTATIONS + 1:
            message = f"the type has more than {MAX_ANNOTATIONS} annotations in it"
            self.complain(place, "too_large", message, "Name the parts that repeat: a dataclass is read once")
        return UNKNOWN

    def _complain_arguments(self, generic: Any, place: Place) -> Node:
        message = (
            f"what is given for the type parameters of {name_of(generic)} has no hash, or too many parts"
        )
        return self.complain(
            place, "unsupported", message, "Give types, and name large ones with a dataclass"
        )

    def complain_unsupported(self, annotation: object, place: Place) -> Node:
        """Complain about an annotation that has no meaning here."""
        from .remedies import remedy_for

        message = f"{show_annotation(annotation)} is not supported"
        remedy = remedy_for(annotation, is_root=not place.path)
        return self.complain(place, "unsupported", message, remedy)


def _without(nodes: Mapping[Any, Node], leaves: Mapping[Any, object]) -> Mapping[Any, Node]:
    return {annotation: node for annotation, node in nodes.items() if annotation not in leaves}


def _describe_leaf(own: object) -> str:
    leaf = as_leaf(own)
    return received(own) if leaf is None else f"a SchemaLeaf for {name_of(leaf.type)}"


class ResultWalk(Walk):
    """The walk of a type that is only written: what its constructor doesn't take counts too."""

    of_results = True
