"""The options of a codec that are not the usual ones, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..introspect.leaves import SchemaLeaf
from ..wording import nearest, received

__all__ = ["checked_options"]


def checked_options(
    name: Any,
    param_descriptions: Any,
    unknown_fields: Any,
    repair: Any,
    leaves: Any,
    namespace: Any,
    max_depth: Any,
    attribute_docs: Any,
    json_loads: Any,
) -> dict[str, Any]:
    """Return the options of a codec by name; the walk is still to say whether the descriptions are any.

    Raises:
        ValueError: one of them is not of its kind, or out of range.
    """
    own_leaves = _checked_leaves(leaves)
    _check_options(name, unknown_fields, repair, namespace, max_depth, attribute_docs, json_loads)
    return {
        "name": name,
        "param_descriptions": param_descriptions,
        "unknown_fields": unknown_fields,
        "repair": repair,
        "leaves": own_leaves,
        "namespace": None if namespace is None else dict(namespace),
        "max_depth": max_depth,
        "attribute_docs": attribute_docs,
        "json_loads": json_loads,
    }


_UNKNOWN_FIELDS = ("ignore", "reject")


def _check_options(
    name: object,
    unknown_fields: object,
    repair: object,
    namespace: object,
    max_depth: object,
    attribute_docs: object,
    json_loads: object,
) -> None:
    if name is not None and not isinstance(name, str):
        message = f"name is a string, not {received(name)}"
        raise ValueError(message)
    if namespace is not None and not isinstance(namespace, Mapping):
        message = f"namespace maps names to types, it is not {received(namespace)}"
        raise ValueError(message)
    if not isinstance(repair, bool):
        message = f"repair is True or False, not {received(repair)}"
        raise ValueError(message)  # noqa: TRY004  # one exception for every option
    if unknown_fields not in _UNKNOWN_FIELDS:
        near = nearest(unknown_fields, _UNKNOWN_FIELDS) if isinstance(unknown_fields, str) else None
        hint = f"; did you mean {near!r}?" if near else ""
        message = f"unknown_fields is 'ignore' or 'reject', not {received(unknown_fields)}{hint}"
        raise ValueError(message)
    if not isinstance(max_depth, int) or isinstance(max_depth, bool) or max_depth < 1:
        message = f"max_depth is an integer of at least 1, not {received(max_depth)}"
        raise ValueError(message)
    if not isinstance(attribute_docs, bool):
        message = f"attribute_docs is True or False, not {received(attribute_docs)}"
        raise ValueError(message)  # noqa: TRY004  # one exception for every option
    if json_loads is not None and not callable(json_loads):
        message = f"json_loads is a function such as orjson.loads, not {received(json_loads)}"
        raise ValueError(message)


def _checked_leaves(leaves: Iterable[Any]) -> tuple[SchemaLeaf[Any], ...]:
    given: tuple[Any, ...] = tuple(leaves) if hasattr(leaves, "__iter__") else (leaves,)
    for leaf in given:
        if not isinstance(leaf, SchemaLeaf):
            message = f"leaves are SchemaLeaf values, not {received(leaf)}"
            raise ValueError(message)  # noqa: TRY004  # one exception for every option
    return given
