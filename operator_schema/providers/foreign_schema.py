"""Schemas of leaves, which may hold anything, as far as a dialect takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dialect import Dialect

__all__ = ["foreign_schema"]

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})
_ABOUT = frozenset({"description", "title"})
_LEVELS = 50


def foreign_schema(
    document: Any, dialect: Dialect, fitted: Callable[[dict[str, Any]], dict[str, Any]], levels: int = _LEVELS
) -> dict[str, Any] | None:
    """Write the schema of a leaf in a dialect.

    Args:
        document: the schema.
        dialect: that it has to be in.
        fitted: tells the keywords that the dialect doesn't take.
        levels: of schemas inside each other that may follow.

    Returns:
        A copy that takes the same values, but for keys that aren't named; None if the dialect can't say it.
    """
    if not is_object(document) or levels == 0:
        return None
    about = {key: document[key] for key in _ABOUT if key in document}
    rest = {key: value for key, value in document.items() if key not in _ABOUT}

    def inner(one: Any) -> dict[str, Any] | None:
        return foreign_schema(one, dialect, fitted, levels - 1)

    match rest:
        case {"anyOf": members, **others} if not others and is_array(members):
            made = [inner(member) for member in members]
            return None if None in made else {"anyOf": made, **about}
        case {"type": "array", "items": items, **others}:
            item = inner(items)
            is_plain = others.keys() <= {"minItems", "maxItems", "uniqueItems", "default"}
            return fitted({"type": "array", "items": item, **others, **about}) if item and is_plain else None
        case {"type": "object", "properties": properties, **others} if is_object(properties):
            return _object(properties, others, about, dialect, inner)
        case {"type": str(kind), **others} if kind in _SCALARS:
            return fitted({"type": kind, **others, **about}) if "$ref" not in others else None
        case _:
            return None


def _object(
    properties: dict[str, Any],
    others: dict[str, Any],
    about: dict[str, Any],
    dialect: Dialect,
    inner: Callable[[Any], dict[str, Any] | None],
) -> dict[str, Any] | None:
    """Write an object. What may be left out can't be required: null would reach the leaf."""
    required = others.pop("required", [])
    open_to = others.pop("additionalProperties", False)
    if others or open_to is not False or (dialect.required == "all" and set(required) != set(properties)):
        return None
    if dialect.required == "one" and properties and not required:
        return None
    made = {key: inner(value) for key, value in properties.items()}
    if None in made.values():
        return None
    document: dict[str, Any] = {"type": "object", "properties": made}
    if required:
        document["required"] = list(required)
    if dialect.closed == "always":
        document["additionalProperties"] = False
    return {**document, **about}
