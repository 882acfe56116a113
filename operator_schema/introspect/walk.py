"""What does a whole type mean? Walks through its annotations, and collects all complaints.

Unreadable parts get a complaint and become `UNKNOWN` in the graph, so that the walk continues and
one report lists everything that is wrong.
"""

from __future__ import annotations

import sys
from functools import partial
from operator import length_hint
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, get_args, get_origin

from ..message_text import class_name, quote, show_error
from .annotations import CLASSES, ORIGINS, SIMPLE
from .classes import form_of
from .hints import (
    COMPARED_PARTS,
    NO_BINDINGS,
    Place,
    Scope,
    Unresolved,
    bindings_key,
    evaluate_forward,
    take_apart,
)
from .leaves import (
    IMPORT_OWN,
    SchemaLeaf,
    as_leaf,
    copy_of_leaf,
    index_leaves,
    own_leaf,
    received_leaf,
    registered_leaf,
    schema_type,
)
from .nodes import UNKNOWN, Graph, LeafNode, ObjectNode, RefNode, Target, UnionNode, new_leaf
from .object_nodes import make_object
from .shipped_leaves import shipped_leaf
from .shown_annotations import NOT_SUPPORTED, is_annotation, name_of, show_annotation

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from ..findings import Finding, TypeCode
    from .hints import Bindings, Path
    from .node_kinds import Distinct
    from .nodes import Defaulted, Field, Node, ObjectForm
    from .protocols import Reader


MAX_ANNOTATIONS = 100_000
"""The most annotations that one registration reads, because a generic that repeats itself could double
without end."""


class Walk:
    """One registration: its options, the findings so far, and the method that reads an annotation.

    The functions that read one kind of annotation or class take the walk as a `Reader`.

    Args:
        leaves: leaves for this registration only.
        closed: whether objects refuse unknown keys.
        namespace: names that annotations written as text may use in addition to those of their module.
        max_depth: how many levels of arrays and objects a type may nest, recursion not counted.
        attribute_docs: whether to read attribute docstrings, which needs the source.

    Attributes:
        leaves, closed, namespace, attribute_docs: as given; `leaves` by type.
        simple: `SIMPLE` without the types that have a leaf.
        descriptions: the descriptions of the fields of the registered type itself, or None.
        complaints: everything wrong so far.
        defaulted: the fields whose defaults and examples are still to be checked.
        unsettled: the fields whose types may take null through an alias that is still being read.
        has_choices: whether there are unions or sets, which are checked once the graph is known.
        left: how many annotations may still be read.
    """

    of_results: ClassVar[bool] = False
    """Whether the fields of a dataclass that `init=False` keeps out of its constructor count too."""

    def __init__(
        self,
        leaves: Iterable[SchemaLeaf[Any]],
        closed: bool,
        namespace: Mapping[str, Any],
        max_depth: int,
        attribute_docs: bool,
    ) -> None:
        self.leaves = index_leaves(leaves) if leaves else {}
        self.simple = {key: SIMPLE[key] for key in SIMPLE if key not in self.leaves} if leaves else SIMPLE
        self.closed = closed
        self.namespace = namespace
        self.attribute_docs = attribute_docs
        self.descriptions: Mapping[str, str] | None = None
        self.complaints: list[Finding] = []
        self.defaulted: list[Defaulted] = []
        self.unsettled: list[Field] = []
        self.has_choices = False
        self.left = MAX_ANNOTATIONS
        self._is_too_large = False
        self._max_depth = max_depth
        self._deepest = 0
        self._known: dict[Hashable, Known] = {}
        self._definitions: dict[Target, Node] = {}
        self._aliases: dict[Target, Node] = {}
        self._distinct: Distinct | None = None

    @property
    def distinct(self) -> Distinct:
        """The finder of equal nodes, made when first needed: most types never need it."""
        if self._distinct is None:
            from .node_kinds import Distinct

            self._distinct = Distinct()
        return self._distinct

    def checked_graph(
        self,
        annotation: Any,
        name: str,
        descriptions: Mapping[str, str] | None,
        default_faults: Callable[..., Iterable[Finding]],
    ) -> Graph:
        """Walk a type, and check its defaults.

        Args:
            annotation: as `graph` takes it.
            name: as `graph` takes it.
            descriptions: as `graph` takes them.
            default_faults: returns the faults of the defaults and the examples of fields, given the graph,
                the levels that a value may nest, and whether encoded values are decoded again.

        Raises:
            SchemaError: with every complaint about the type.
        """
        try:
            graph = self.graph(annotation, name, descriptions)
        except RecursionError:
            self.complaints.clear()
            self.defaulted.clear()
            place, message = Place((), name, Scope(None, {})), "the annotation nests too deep to be read"
            graph = Graph(self.complain(place, "too_deep", message, "Flatten it"), {})
        if self.defaulted:
            self.complaints += default_faults(
                self.defaulted, graph, self._max_depth, is_decoded=not self.of_results
            )
        if self.complaints:
            from ..errors import SchemaError
            from .source_code import with_places

            raise SchemaError(name, with_places(self.complaints, graph))
        return graph

    def graph(self, annotation: Any, name: str, descriptions: Mapping[str, str] | None) -> Graph:
        """Walk a type.

        Args:
            annotation: any annotation.
            name: its name in messages.
            descriptions: field name to description, for the fields of the type itself; they win over its own
                descriptions.

        Returns:
            Its graph, with `UNKNOWN` in the places that `complaints` is about.
        """
        self.descriptions = descriptions
        owner = annotation if isinstance(annotation, type) else None
        place = Place((), name, Scope(owner, self.namespace))
        root = self.node(annotation, place)
        graph = Graph(root, self._definitions, self._aliases)
        if self.unsettled:
            graph = self._settle_nulls(graph)
        if descriptions is not None and not isinstance(graph.resolve_root(), ObjectNode):
            message = "param_descriptions are given, but it has no fields"
            self.complain(place, "unknown_description", message, "Leave them out")
        if self.has_choices:
            from .ambiguity_checks import check_graph  # most types have neither

            complaints, lack_tags = check_graph(graph, name)
            self.complaints += complaints
            if lack_tags:
                from .required_tags import with_required_tags  # most tags have no default

                graph = with_required_tags(graph, self.defaulted, of_results=self.of_results)
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
            origin, args = take_apart(annotation)
            row = ORIGINS.get(origin)
            if row is not None:
                arm, arity = row
                if not args or arity is None or len(args) == arity:
                    return arm(self, annotation, args, place)
                return self.complain_unsupported(annotation, place)
            return self._form_node(annotation, origin, args, place)
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # noqa: BLE001  # classes and metadata may do anything when they are read
            message = f"{show_annotation(annotation)} can't be read: its own code raised {show_error(error)}"
            return self.complain(place, "unsupported", message, "Fix the class or the metadata")

    def item_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of the items of the array, or the values of the map, at a place."""
        if not self._reach(len(place.path) + 1):
            return self._complain_depth(place)
        if type(annotation) is type and self.left > 0:
            node = self.simple.get(annotation)
            if node is not None:
                self.left -= 1
                return node
        return self.node(annotation, Place((*place.path, "*"), place.owner, place.scope))

    def _form_node(self, annotation: Any, origin: Any, args: tuple[Any, ...], place: Place) -> Node:
        """Return the node of an annotation that isn't a class: `Annotated[…]`, a generic class, text."""
        if origin is Annotated:
            from .constraints import read_annotated

            return read_annotated(self, args, place)
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
            found = annotation
            return self.complain(place, "unresolved", found.message, found.remedy, found.suggestion)
        from .special_forms import NAMED  # few annotations are one

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
        bindings = _bindings(cls, args, place)
        identity = self._identity_of(cls, bindings)
        if identity is None:
            return self._complain_arguments(cls, place)
        known = self._known.get(identity)
        if known is not None:
            return self._met_again(known, place, partial(target_of, cls, bindings, identity, is_object=True))
        if not self._reach(len(place.path) + 1):
            return self._complain_depth(place)
        known = self._open(identity, place.path, levels=1)
        inner = Place(place.path, short_name(cls, bindings), place.scope)
        return self._close(known, make_object(self, cls, form, bindings, inner))

    def alias_node(self, alias: Any, args: tuple[Any, ...], place: Place) -> Node:
        """Return the node of a type alias (PEP 695)."""
        bindings = _bindings(alias, args, place)
        identity = self._identity_of(alias, bindings)
        if identity is None:
            return self._complain_arguments(alias, place)
        known = self._known.get(identity)
        if known is not None:
            return self._met_again(
                known, place, partial(target_of, alias, bindings, identity, is_object=False)
            )
        try:
            value = alias.__value__
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # it is evaluated now, and may raise anything
            is_unknown = isinstance(error, NameError)
            remedy = "Fix the alias, or define the name before it is used" if is_unknown else "Fix the alias"
            value = Unresolved(alias.__name__, str(error), remedy)
        scope = Scope(alias, self.namespace, bindings, place.scope.self_type, place.scope)
        inner = Place(place.path, place.owner, scope)
        known = self._open(identity, place.path, levels=0)
        node = self._close(known, self.node(value, inner))
        self._aliases[target_of(alias, bindings, identity, is_object=False)] = node
        return node

    def _text_node(self, text: str, meant: Any, place: Place) -> Node:
        """Return the node of an annotation written as text, which may be recursive like any alias."""
        # If the arguments of type parameters can't be compared, their class has a complaint already.
        identity = (text, place.scope.identity)
        known = self._known.get(identity)
        if known is not None:
            name = text if text.isidentifier() else "Text"
            return self._met_again(known, place, partial(Target, identity, name, text, is_object=False))
        known = self._open(identity, place.path, levels=0)
        return self._close(known, self.node(meant, place))

    def _met_again(self, known: Known, place: Place, make_target: Callable[[], Target]) -> Node:
        if known.node is None and known.path == place.path:
            message = "the type contains itself, with no array or object between"
            return self.complain(place, "unsupported", message, "Take it out of its own alternatives")
        node = self._use_again(known, place.path, make_target)
        return self._complain_depth(place) if node is None else node

    def _identity_of(self, generic: Any, bindings: Bindings) -> Hashable:
        """Return a key of a class or alias and its arguments; None if the arguments can't be compared.

        The parts of the arguments count as annotations, because comparing them takes as long as reading them.
        """
        if not bindings:
            return id(generic)
        most = COMPARED_PARTS * len(bindings)
        budget = iter(range(most))
        try:
            identity = (id(generic), bindings_key(bindings, budget))
            hash(identity)
        except TypeError:
            return None
        finally:
            self.left -= most - length_hint(budget)
        return identity

    # --- what has been met, and how deep it nests ----------------------------------------------------

    def _reach(self, depth: int) -> bool:
        """Note a level of arrays and objects; return whether a type may nest that deep."""
        if depth > self._deepest:  # noqa: PLR1730  # calling `max` costs more than the rest of this
            self._deepest = depth
        return depth <= self._max_depth

    def _open(self, identity: Hashable, path: Path, levels: int) -> Known:
        """Begin to read a class or alias that was not met before.

        Args:
            identity: a key that only the same class or alias has.
            path: path of the place that uses it.
            levels: how many levels of arrays and objects it adds itself: 1 for a class.
        """
        known = self._known[identity] = Known(path, self._deepest)
        self._deepest = len(path) + levels
        return known

    def _close(self, known: Known, node: Node) -> Node:
        """Store the node of a class or alias, and add a definition if it is recursive."""
        known.height = self._deepest - len(known.path)
        if known.around > self._deepest:  # noqa: PLR1730  # as above
            self._deepest = known.around
        if known.target is not None:
            equal = self.distinct
            self._definitions[known.target] = equal.node(
                equal.union(node) if isinstance(node, UnionNode) else node
            )
            node = RefNode(known.target)
        known.node = node
        return node

    def _use_again(self, known: Known, path: Path, make_target: Callable[[], Target]) -> Node | None:
        """Return the node of a class or alias that was met before; None if it would nest too deeply here."""
        if known.node is not None:
            return known.node if self._reach(len(path) + known.height) else None
        if known.target is None:
            known.target = make_target()
        return RefNode(known.target)

    # --- complaints ------------------------------------------------------------------------------

    def complain(
        self, place: Place, code: TypeCode, message: str, remedy: str, near: str | None = None
    ) -> Node:
        """Note a complaint, and return the node for an unreadable annotation."""
        from ..findings import about_type
        from .remedies import remedy_in

        remedy = remedy_in(place.scope, remedy)
        self.complaints.append(about_type(place.path, code, place.owner, message, remedy, near))
        return UNKNOWN

    def complain_surrogate(self, text: str, place: Place) -> Node:
        """Complain about a description that can't be written as JSON."""
        message = f"the description {quote(text)} has a lone surrogate, which JSON can't hold"
        return self.complain(place, "bad_description", message, "Take it out")

    def complain_unsupported(self, annotation: object, place: Place) -> Node:
        """Complain about an annotation that has no meaning here."""
        from .remedies import remedy_for  # only complaints need it

        fault = NOT_SUPPORTED if is_annotation(annotation) else "isn't an annotation"
        message = f"{show_annotation(annotation)} {fault}"
        remedy = remedy_for(annotation, is_root=not place.path)
        return self.complain(place, "unsupported", message, remedy)

    def _complain_depth(self, place: Place) -> Node:
        message = f"the type nests deeper than {self._max_depth} levels"
        return self.complain(place, "too_deep", message, "Flatten it or raise max_depth")

    def _complain_size(self, place: Place) -> Node:
        if not self._is_too_large:
            self._is_too_large = True
            message = f"the type has more than {MAX_ANNOTATIONS:,} annotations in it"
            self.complain(place, "too_large", message, "Name the parts that repeat: a dataclass is read once")
        return UNKNOWN

    def _complain_arguments(self, generic: Any, place: Place) -> Node:
        message = f"the arguments given to {name_of(generic)} have no hash, or too many parts"
        return self.complain(
            place, "unsupported", message, "Give types, and name large ones with a dataclass"
        )


class ResultWalk(Walk):
    """The walk of a type that is only encoded: it also reads fields that the constructor doesn't take."""

    of_results = True

    def graph(self, annotation: Any, name: str, descriptions: Mapping[str, str] | None) -> Graph:
        """Walk a type; the description of its class becomes the description of the result."""
        graph = super().graph(annotation, name, descriptions)
        root = graph.resolve_root()
        if not isinstance(root, ObjectNode) or root.doc is None or graph.root.description is not None:
            return graph
        return graph.replace(root=graph.root.replace(description=root.doc))


_LEAF_METHOD: Final = "Make it a class method that returns SchemaLeaf(cls, …)"


def leaf_node(reader: Reader, cls: type, place: Place) -> Node | None:
    """Return the node of a class that has a leaf, None for any other class."""
    if reader.leaves and cls in reader.leaves:  # the class may be the origin of a generic
        return new_leaf(LeafNode, reader.leaves[cls])
    try:
        own = own_leaf(cls)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # it is the user's code
        message = f"__schema_leaf__ raised {show_error(error)}"
        return reader.complain(place, "bad_leaf", message, _LEAF_METHOD)
    if own is None:
        leaf = registered_leaf(cls) or shipped_leaf(cls)
        return None if leaf is None else new_leaf(LeafNode, leaf)
    leaf = as_leaf(own)
    if leaf is not None and leaf.type is cls:
        return new_leaf(LeafNode, leaf)
    message = f"__schema_leaf__ returned {_describe_leaf(own)}, not a SchemaLeaf for {name_of(cls)}"
    return reader.complain(place, "bad_leaf", message, IMPORT_OWN if copy_of_leaf(own) else _LEAF_METHOD)


def _describe_leaf(own: object) -> str:
    leaf = as_leaf(own)
    return received_leaf(own) if leaf is None else f"a SchemaLeaf for {name_of(leaf.type)}"


def model_node(reader: Reader, cls: Any, args: tuple[Any, ...], place: Place) -> Node | None:
    """Return the node of a pydantic model or another pydantic type, None for any other class."""
    if "pydantic" not in sys.modules:
        return None
    from . import pydantic_models  # only where pydantic is loaded

    leaf: SchemaLeaf[Any] | tuple[str, str] | None = None
    if pydantic_models.is_model(cls):
        leaf = pydantic_models.model_leaf(cls, of_results=reader.of_results)
    elif not args:
        leaf = pydantic_models.type_leaf(cls, of_results=reader.of_results)
    if isinstance(leaf, SchemaLeaf):
        reader.leaves[cls] = leaf  # where the class is met again, it is the same leaf
        return new_leaf(LeafNode, leaf)
    if leaf is None:
        return None
    return reader.complain(place, "unsupported", f"{name_of(cls)} can't be used: {leaf[0]}", leaf[1])


class Known:
    """A class or alias that was met: first open, while it is being walked, then with its node.

    Args:
        path: path of the first place that uses it.
        around: the deepest level of arrays and objects met before.

    Attributes:
        node: None while it is open.
        path: path of the first place that uses it.
        around: as above.
        height: levels of arrays and objects below it.
        target: its target, if it refers to itself.
    """

    __slots__ = ("around", "height", "node", "path", "target")

    def __init__(self, path: Path, around: int) -> None:
        self.node: Node | None = None
        self.path = path
        self.around = around
        self.height = 0
        self.target: Target | None = None


def _bindings(generic: Any, args: tuple[Any, ...], place: Place) -> Bindings:
    """Return the arguments of the type parameters in `generic[args]`."""
    if not args:
        return NO_BINDINGS
    from .type_parameters import bind  # few types are generic

    return bind(generic, args, place.scope)


def short_name(generic: Any, bindings: Bindings) -> str:
    """Return the name of a class or alias for messages and definitions, such as `Page[User]`."""
    name: str = class_name(generic) if isinstance(generic, type) else generic.__name__
    return f"{name}[{', '.join(map(name_of, bindings.values()))}]" if bindings else name


def target_of(generic: Any, bindings: Bindings, identity: Hashable, *, is_object: bool) -> Target:
    """Return the target of a recursive class or alias."""
    name = short_name(generic, {})
    qualified = f"{generic.__module__}.{getattr(generic, '__qualname__', name)}"
    if bindings:
        qualified = f"{qualified}[{', '.join(map(show_annotation, bindings.values()))}]"
    return Target(identity, short_name(generic, bindings), qualified, is_object)
