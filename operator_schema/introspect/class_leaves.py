"""Leaves of classes: the user's, their own, registered or shipped ones, those of pydantic models."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from ..wording import received
from .leaves import SchemaLeaf, as_leaf, own_leaf, registered_leaf
from .names import name_of, show_error
from .nodes import LeafNode, new_leaf
from .shipped_leaves import shipped_leaf

if TYPE_CHECKING:
    from .hints import Place
    from .nodes import Node
    from .reader import Reader

__all__ = ["leaf_node", "model_node"]

_LEAF_METHOD: Final = "Make it a class method that returns SchemaLeaf(cls, …)"


def leaf_node(reader: Reader, cls: type, place: Place) -> Node | None:
    """Return the node of a class that has a leaf, None for any other class."""
    if reader.leaves and cls in reader.leaves:  # met as the origin of a generic
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
    message = f"__schema_leaf__ gives {_describe_leaf(own)}, not a SchemaLeaf for {name_of(cls)}"
    return reader.complain(place, "bad_leaf", message, _LEAF_METHOD)


def _describe_leaf(own: object) -> str:
    leaf = as_leaf(own)
    return received(own) if leaf is None else f"a SchemaLeaf for {name_of(leaf.type)}"


def model_node(reader: Reader, cls: Any, args: tuple[Any, ...], place: Place) -> Node | None:
    """Return the node of a model or another type of pydantic, None for any other class."""
    if "pydantic" not in sys.modules:
        return None
    from . import pydantic_models  # only where pydantic is loaded

    leaf: SchemaLeaf[Any] | tuple[str, str] | None = None
    if pydantic_models.is_model(cls):
        fault = pydantic_models.fault_of_model(cls)
        leaf = fault or pydantic_models.model_leaf(cls, of_results=reader.of_results)
    elif not args:
        leaf = pydantic_models.type_leaf(cls, of_results=reader.of_results)
    if isinstance(leaf, SchemaLeaf):
        reader.leaves[cls] = leaf  # where the class is met again, it is the same leaf
        return new_leaf(LeafNode, leaf)
    if leaf is None:
        return None
    return reader.complain(place, "unsupported", f"{name_of(cls)} can't be used: {leaf[0]}", leaf[1])
