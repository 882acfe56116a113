"""How is a schema written with types in capitals, `nullable` for null, and the order of properties?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .references import rebuilt

if TYPE_CHECKING:
    from collections.abc import Mapping


def openapi_schema(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema in OpenAPI's form: types in capitals, `nullable` for null, and the order of properties.

    Args:
        document: a schema without references and lists of types.
    """
    kept = dict(document)
    members = kept.pop("anyOf", None)
    if members is not None:
        return _write_union(
            [member for member in members if member.get("type") != "null"], len(members), kept
        )
    kept = rebuilt(kept, openapi_schema)
    kept["type"] = kept["type"].upper()
    if "properties" in kept:
        kept["propertyOrdering"] = list(kept["properties"])
    if "enum" in kept:
        kept["enum"] = [value for value in kept["enum"] if value is not None]
        kept["format"] = "enum"
        if not kept["enum"]:
            del kept["enum"], kept["format"]
    return kept


def _write_union(others: list[Any], count: int, about: dict[str, Any]) -> dict[str, Any]:
    """Return a union: OpenAPI allows nothing beside `anyOf`, so shared keywords move into each member."""
    made = [openapi_schema(member) for member in others] or [{"type": "NULL"}]
    first = made[0]
    if about.get("description"):
        _add_description(first, about["description"])
    if len(made) == 1:
        if len(others) < count and others:
            _allow_null(first)
        return first if "anyOf" in first else {**about, **first}
    if len(others) < count:
        for member in made:
            _allow_null(member)
    return {"anyOf": made}


def _add_description(document: dict[str, Any], text: str) -> None:
    """Put a text at the beginning of the description of a schema, or of a union's first member."""
    while "anyOf" in document:
        document = document["anyOf"][0]
    own = document.get("description")
    document["description"] = f"{text} {own}" if own else text


def _allow_null(document: dict[str, Any]) -> None:
    """Make a schema take null; in a union, every member."""
    if "anyOf" not in document:
        document["nullable"] = True
    for member in document.get("anyOf", ()):
        _allow_null(member)
