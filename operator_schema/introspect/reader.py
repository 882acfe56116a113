"""The reader of annotations: the options and findings of one registration, for all that read one kind."""

from __future__ import annotations

import types
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..wording import quote
from .leaves import index_leaves
from .names import NOT_SUPPORTED, is_annotation, show_annotation
from .nodes import ANY, NULL, STRING, UNKNOWN, ScalarNode
from .recursion import Recursion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..complaints import Complaint, ComplaintCode
    from .equality import Distinct
    from .hints import Path, Place
    from .leaves import SchemaLeaf
    from .nodes import Field, Node

__all__ = ["MAX_ANNOTATIONS", "SIMPLE", "Defaulted", "Reader"]

MAX_ANNOTATIONS = 100_000
"""Annotations that one registration reads; what repeats inside itself could double without end."""


SIMPLE: Final[Mapping[Any, Node]] = {
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


class Defaulted:
    """A field with a default or examples, which are checked against its node later."""

    __slots__ = ("field", "owner", "path")

    def __init__(self, path: Path, owner: str, field: Field) -> None:
        self.path = path
        self.owner = owner
        self.field = field


class Reader(ABC):
    """One registration: its options, what has been found so far, and how to read one more annotation.

    The functions that read one kind of annotation or class take it; the only subclass is `Walk`.

    Args:
        leaves: leaves that count for this registration alone.
        closed: whether objects refuse unknown keys.
        namespace: names that annotations written as text may use besides those of their module.
        max_depth: levels of arrays and objects that a type may nest before it repeats itself.
        attribute_docs: whether to read attribute docstrings, which needs the source.

    Attributes:
        leaves: leaf of a type, as given.
        simple: `SIMPLE` without the types of those leaves.
        closed: as given.
        namespace: as given.
        attribute_docs: as given.
        descriptions: of the fields of the registered type itself, or None.
        complaints: everything wrong so far.
        defaulted: the fields whose defaults and examples are still to be checked.
        unsettled: the fields whose types may take null through an alias that is still open.
        has_choices: whether there are unions or sets, which are checked once the graph is known.
        left: annotations that may still be read.
        recursion: the classes and aliases that have been met.
    """

    of_results: ClassVar[bool] = False
    """Whether the fields of a dataclass that `init=False` keeps out of its constructor count too."""

    def __init__(
        self,
        leaves: Iterable[SchemaLeaf[Any]],
        closed: bool,  # noqa: FBT001  # keywords cost as much as half of this
        namespace: Mapping[str, Any],
        max_depth: int,
        attribute_docs: bool,  # noqa: FBT001  # as above
    ) -> None:
        self.leaves = index_leaves(leaves) if leaves else {}
        self.simple = _without(SIMPLE, self.leaves) if leaves else SIMPLE
        self.closed = closed
        self.namespace = namespace
        self.attribute_docs = attribute_docs
        self.descriptions: Mapping[str, str] | None = None
        self.complaints: list[Complaint] = []
        self.defaulted: list[Defaulted] = []
        self.unsettled: list[Field] = []
        self.has_choices = False
        self.left = MAX_ANNOTATIONS
        self.recursion = Recursion(max_depth)

    @property
    def distinct(self) -> Distinct:
        """The finder of equal nodes, made when it is first needed: most types never need it."""
        return self.recursion.distinct

    @abstractmethod
    def node(self, annotation: Any, place: Place) -> Node:
        """Return the node of an annotation."""

    @abstractmethod
    def item_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of the items of the array, or the values of the map, at a place."""

    @abstractmethod
    def alias_node(self, alias: Any, args: tuple[Any, ...], place: Place) -> Node:
        """Return the node of what a type alias (PEP 695) means."""

    def complain(
        self, place: Place, code: ComplaintCode, message: str, remedy: str, near: str | None = None
    ) -> Node:
        """Note a complaint and return the node for what could not be read."""
        from ..complaints import Complaint

        self.complaints.append(Complaint(place.path, code, place.owner, message, remedy, near))
        return UNKNOWN

    def complain_surrogate(self, text: str, place: Place) -> Node:
        """Complain about a description that can't be written as JSON."""
        message = f"the description {quote(text)} has a lone surrogate, which JSON can't hold"
        return self.complain(place, "bad_description", message, "Take it out")

    def complain_unsupported(self, annotation: object, place: Place) -> Node:
        """Complain about an annotation that has no meaning here."""
        from .remedies import remedy_for  # only what is wrong pays for it

        fault = NOT_SUPPORTED if is_annotation(annotation) else "isn't an annotation"
        message = f"{show_annotation(annotation)} {fault}"
        remedy = remedy_for(annotation, is_root=not place.path)
        return self.complain(place, "unsupported", message, remedy)


def _without(nodes: Mapping[Any, Node], leaves: Mapping[Any, object]) -> Mapping[Any, Node]:
    return {annotation: node for annotation, node in nodes.items() if annotation not in leaves}
