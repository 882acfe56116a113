"""`Annotated`: constraints, descriptions, leaves and the metadata of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..complaints import UnfitError
from ..json_values import has_surrogate
from ..wording import excerpt
from .hints import FieldPlace
from .leaves import as_leaf
from .names import is_annotation, is_type, name_of
from .nodes import UNKNOWN, LeafNode, UnionNode

if TYPE_CHECKING:
    from .hints import Place
    from .nodes import Node
    from .reader import Reader

__all__ = ["read_annotated"]


def read_annotated(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read `Annotated[X, …]`: X, or the leaf in the metadata, with its constraints and description."""
    from .constraints import constrained, read_constraints
    from .foreign_metadata import is_foreign

    if not args:
        return reader.complain_unsupported(annotation, place)
    inner, *metadata = args
    leaf = next((item for item in map(as_leaf, reversed(metadata)) if item is not None), None)
    if leaf is None and type(inner) is not type and not is_annotation(inner):
        after = next(filter(is_type, metadata), None)
        if after is not None:
            message = f"{name_of(inner)} comes before the type in Annotated"
            remedy = f"Write the type first: Annotated[{name_of(after)}, …]"
            return reader.complain(place, "unsupported", message, remedy)
    node = reader.node(inner, place) if leaf is None else LeafNode(leaf)
    if node is UNKNOWN:
        return node
    try:
        if any(map(is_foreign, metadata)):
            metadata = _translated(metadata, place)
        constraints = read_constraints(metadata)
        node = node if constraints is None else constrained(node, constraints)
    except UnfitError as unfit:
        return reader.complain(place, "bad_constraint", unfit.message, unfit.remedy)
    for text in map(_text, metadata):
        if text is not None:
            if has_surrogate(text):
                return reader.complain_surrogate(text, place)
            node = node.replace(description=text)
    return reader.distinct.union(node) if isinstance(node, UnionNode) else node


def _translated(metadata: list[Any], place: Place) -> list[Any]:
    """Return metadata with that of other libraries translated; what is for the field goes to its place."""
    from .foreign_metadata import translate

    translation = translate(metadata)
    if isinstance(place, FieldPlace):
        place.metadata = {**(place.metadata or {}), **translation.of_field}
        if translation.default is not None:
            place.metadata["default"] = translation.default
        return translation.metadata
    if translation.default is not None:
        raise translation.default
    for name, value in translation.of_field.items():
        message = f"{name}={excerpt(value)} is for a field, but this annotation isn't the annotation of one"
        raise UnfitError(message, f"Give the {name} in the annotation of the field itself, or leave it out")
    return translation.metadata


def _text(item: object) -> str | None:
    """Return the text of a description: a string, or the `Doc` of PEP 727."""
    text = item if isinstance(item, str) else getattr(item, "documentation", None)
    return text if isinstance(text, str) else None
