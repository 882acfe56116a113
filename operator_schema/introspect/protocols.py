"""What does reading one annotation need of the walk? For type checkers: no program loads this module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..findings import TypeCode
    from .hints import Place
    from .leaves import SchemaLeaf
    from .node_kinds import Distinct
    from .nodes import Defaulted, Field, Node


class Reader(Protocol):
    """The interface of `Walk`: reads an annotation inside another one, and collects findings."""

    of_results: ClassVar[bool]
    leaves: dict[type, SchemaLeaf[Any]]
    simple: Mapping[Any, Node]
    closed: bool
    namespace: Mapping[str, Any]
    attribute_docs: bool
    descriptions: Mapping[str, str] | None
    defaulted: list[Defaulted]
    unsettled: list[Field]
    has_choices: bool
    left: int

    @property
    def distinct(self) -> Distinct:
        """Find equal nodes."""
        ...

    def node(self, annotation: Any, place: Place) -> Node:
        """Return the node of an annotation."""
        ...

    def item_node(self, annotation: Any, place: Place) -> Node:
        """Return the node of the items of the array, or the values of the map, at a place."""
        ...

    def alias_node(self, alias: Any, args: tuple[Any, ...], place: Place) -> Node:
        """Return the node of a type alias (PEP 695)."""
        ...

    def complain(
        self, place: Place, code: TypeCode, message: str, remedy: str, near: str | None = None
    ) -> Node:
        """Note a complaint, and return the node for an unreadable annotation."""
        ...

    def complain_surrogate(self, text: str, place: Place) -> Node:
        """Complain about a description that can't be written as JSON."""
        ...

    def complain_unsupported(self, annotation: object, place: Place) -> Node:
        """Complain about an annotation that has no meaning here."""
        ...
