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


def model_node(reader: Reader, cls: Any, place: Place) -> Node | None:
    """Return the node of a pydantic model, None for any other class."""
    if "pydantic" not in sys.modules:
        return None
    from .pydantic_models import fault_of_model, is_model, model_leaf  # only where pydantic is loaded

    if not is_model(cls):
        return None
    fault = fault_of_model(cls)
    if fault is None:
        leaf = model_leaf(cls, of_results=reader.of_results)
        if isinstance(leaf, SchemaLeaf):
            reader.leaves[cls] = leaf  # where the model is met again, it is the same leaf
            return new_leaf(LeafNode, leaf)
        fault = leaf
    return reader.complain(place, "unsupported", f"{name_of(cls)} can't be used: {fault[0]}", fault[1])
