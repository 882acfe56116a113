"""What do `Self`, type variables, `NewType` and aliases mean?"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final

from .annotations import read_inner, read_union
from .hints import Place, evaluate_forward
from .nodes import ANY
from .shown_annotations import show_annotation
from .type_parameters import declares

if TYPE_CHECKING:
    from .annotations import Arm
    from .nodes import Node
    from .protocols import Reader


def _self(reader: Reader, annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    meant = place.scope.self_type
    return reader.complain_unsupported(annotation, place) if meant is None else reader.node(meant, place)


def _type_variable(reader: Reader, variable: Any, _args: tuple[Any, ...], place: Place) -> Node:
    """Read a type parameter: its argument, else its default, its bound or its constraints."""
    bindings = place.scope.bindings
    if variable in bindings:
        return reader.node(bindings[variable], Place(place.path, place.owner, place.scope.outside()))
    if not declares(place.scope, variable):
        name = variable.__name__
        message = f"{show_annotation(variable)} isn't a type parameter of {place.owner}"
        remedy = f"Write the type, or add Generic[{name}] to the bases of the class"
        if place.scope.forgets_bases:
            remedy = "Write the type: before Python 3.12 a TypedDict forgets its bases"
        return reader.complain(place, "unresolved", message, remedy)
    default: Any = getattr(variable, "__default__", MISSING)
    if default is not MISSING and type(default).__name__ != "NoDefaultType":
        return reader.node(evaluate_forward(default, place.scope), place)
    if variable.__bound__ is not None:
        return reader.node(variable.__bound__, place)
    if variable.__constraints__:
        return read_union(reader, variable, variable.__constraints__, place)
    return ANY


def _alias(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    alias = getattr(annotation, "__origin__", annotation)
    if alias.__name__ == "JsonValue" and getattr(alias, "__module__", "") == "pydantic.types":
        return ANY  # its own tags aren't JSON keys
    return reader.alias_node(alias, args, place)


NAMED: Final[dict[str, Arm]] = {
    "Self": _self,
    "LiteralString": lambda reader, _annotation, _args, place: reader.node(str, place),
    "ReadOnly": read_inner,
    "TypeVar": _type_variable,
    "NewType": lambda reader, annotation, _args, place: reader.node(annotation.__supertype__, place),
    "TypeAliasType": _alias,
}
"""By the name of a special form, or of the class of the annotation."""
