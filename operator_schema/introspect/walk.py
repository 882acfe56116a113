"""The walk: from an annotation to the node graph, with every complaint on the way.

What can't be read gets a complaint and becomes `UNKNOWN` in the graph, so that the walk goes on and
one report lists everything that is wrong.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, get_args, get_origin

from .annotations import CLASSES, NAMED, ORIGINS
from .class_leaves import leaf_node, model_node
from .classes import form_of
from .hints import NO_BINDINGS, Place, Scope, Unresolved, evaluate_forward
from .leaves import schema_type
from .names import name_of, show_annotation, show_error, take_apart
from .nodes import UNKNOWN, Graph, ObjectNode, Target
from .objects import make_object
from .reader import MAX_ANNOTATIONS, SIMPLE, Reader
from .recursion import identity_of, short_name, target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .hints import Bindings
    from .nodes import Node, ObjectForm
    from .recursion import Known

__all__ = ["ResultWalk", "Walk"]


class Walk(Reader):
    """One registration: reads an annotation, and every annotation inside it."""

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
        self.descriptions = descriptions
        owner = annotation if isinstance(annotation, type) else None
        place = Place((), name, Scope(owner, self.namespace))
        root = self.node(annotation, place)
        graph = Graph(root, self.recursion.definitions, self.recursion.aliases)
        if self.unsettled:
            graph = self._settle_nulls(graph)
        if descriptions is not None and not isinstance(graph.resolve_root(), ObjectNode):
            message = "param_descriptions are given, but it has no fields"
            self.complain(place, "unknown_description", message, "Leave them out")
        if self.has_choices:
            from .graph_checks import check_graph  # most types have neither

            self.complaints.extend(check_graph(graph, name))
        return graph

    def _settle_nulls(self, graph: Graph) -> Graph:
        from .null_fields import null_fields, with_fields  # most types have no such fields

        changed = null_fields(self.unsettled, graph.definitions)
        if not changed:
            return graph
        for entry in self.defaulted:
            entry.field = changed.get(id(entry.field), entry.field)
        return with_fields(graph, changed)

    # --- annotations -----------------------------------------------------------------------------

    def node(self, annotation: Any, place: Place) -> Node:
        """Return the node of an annotation."""
        self.left -= 1
        if self.left < 0:
            return self._complain_size(place)
        try:
            kind = type(annotation)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
            if kind is type:
                return self.simple.get(annotation) or self._class_node(annotation, (), place)
            if annotation is None or annotation is Any:
                return SIMPLE[annotation]
            if isinstance(annotation, type):
                if kind.__hash__ is None:
                    message = f"{show_annotation(annotation)} has a metaclass without hash"
                    return self.complain(place, "unsupported", message, "Give the metaclass a __hash__")
                return self._class_node(annotation, (), place)
            return self._form_node(annotation, place)
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # noqa: BLE001  # classes and metadata may do anything when they are read
            message = f"{show_annotation(annotation)} can't be read: its own code raised {show_error(error)}"
            return self.complain(place, "unsupported", message, "Fix the class or the metadata")

    def item_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of the items of the array, or the values of the map, at a place."""
        if not self.recursion.reach(len(place.path) + 1):
            return self._complain_depth(place)
        if type(annotation) is type and self.left > 0:
            node = self.simple.get(annotation)
            if node is not None:
                self.left -= 1
                return node
        return self.node(annotation, Place((*place.path, "*"), place.owner, place.scope))

    def _form_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of an annotation that isn't a class, such as `list[int]` or text."""
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
        leaf = leaf_node(self, cls, place)
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
        model = model_node(self, cls, args, place)
        if model is not None:
            return model
        meant = schema_type(cls)
        return self.complain_unsupported(cls, place) if meant is cls else self.node(meant, place)

    def _object_node(self, cls: type[Any], form: ObjectForm, args: tuple[Any, ...], place: Place) -> Node:
        bindings = _bind(cls, args, place) if args else NO_BINDINGS
        identity = identity_of(cls, bindings)
        if identity is None:
            return self._complain_arguments(cls, place)
        known = self.recursion.known.get(identity)
        if known is not None:
            return self._again(known, place, partial(target_of, cls, bindings, identity, is_object=True))
        if not self.recursion.reach(len(place.path) + 1):
            return self._complain_depth(place)
        known = self.recursion.open(identity, place.path, levels=1)
        inner = Place(place.path, short_name(cls, bindings), place.scope)
        return self.recursion.close(known, make_object(self, cls, form, bindings, inner))

    def alias_node(self, alias: Any, args: tuple[Any, ...], place: Place) -> Node:
        """Return the node of what a type alias (PEP 695) means."""
        bindings = _bind(alias, args, place) if args else NO_BINDINGS
        identity = identity_of(alias, bindings)
        if identity is None:
            return self._complain_arguments(alias, place)
        known = self.recursion.known.get(identity)
        if known is not None:
            return self._again(known, place, partial(target_of, alias, bindings, identity, is_object=False))
        try:
            value = alias.__value__
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # it is evaluated now, and may raise anything
            value = Unresolved(alias.__name__, str(error), "Fix the alias")
        scope = Scope(alias, self.namespace, bindings, place.scope.self_type, place.scope)
        inner = Place(place.path, place.owner, scope)
        known = self.recursion.open(identity, place.path, levels=0)
        node = self.recursion.close(known, self.node(value, inner))
        self.recursion.aliases[target_of(alias, bindings, identity, is_object=False)] = node
        return node

    def _text_node(self, text: str, meant: Any, place: Place) -> Node:
        """Return the node of an annotation written as text, which may be recursive like any alias."""
        # Where the arguments of type parameters can't be compared, the class they are given to said so.
        identity = (text, place.scope.identity)
        known = self.recursion.known.get(identity)
        if known is not None:
            name = text if text.isidentifier() else "Text"
            return self._again(known, place, partial(Target, identity, name, text, is_object=False))
        known = self.recursion.open(identity, place.path, levels=0)
        return self.recursion.close(known, self.node(meant, place))

    def _again(self, known: Known, place: Place, make_target: Callable[[], Target]) -> Node:
        if known.node is None and known.path == place.path:
            message = "the type contains itself, with no array or object between"
            return self.complain(place, "unsupported", message, "Take it out of its own alternatives")
        node = self.recursion.use_again(known, place.path, make_target)
        return self._complain_depth(place) if node is None else node

    # --- complaints ------------------------------------------------------------------------------

    def _complain_depth(self, place: Place) -> Node:
        message = f"the type nests deeper than {self.recursion.max_depth} levels"
        return self.complain(place, "too_deep", message, "Flatten it or raise max_depth")

    def _complain_size(self, place: Place) -> Node:
        if self.left == -1:
            message = f"the type has more than {MAX_ANNOTATIONS} annotations in it"
            self.complain(place, "too_large", message, "Name the parts that repeat: a dataclass is read once")
        return UNKNOWN

    def _complain_arguments(self, generic: Any, place: Place) -> Node:
        message = f"the arguments given to {name_of(generic)} have no hash, or too many parts"
        return self.complain(
            place, "unsupported", message, "Give types, and name large ones with a dataclass"
        )


def _bind(generic: Any, args: tuple[Any, ...], place: Place) -> Bindings:
    from .type_parameters import bind  # most types aren't generic

    return bind(generic, args, place.scope)


class ResultWalk(Walk):
    """The walk of a type that is only written: fields that its constructor doesn't take count too."""

    of_results = True

    def graph(self, annotation: Any, name: str, descriptions: Mapping[str, str] | None) -> Graph:
        """Walk a type; what its class says of itself is the description of the result."""
        graph = super().graph(annotation, name, descriptions)
        root = graph.resolve_root()
        if not isinstance(root, ObjectNode) or root.doc is None or graph.root.description is not None:
            return graph
        return graph.replace(root=graph.root.replace(description=root.doc))
