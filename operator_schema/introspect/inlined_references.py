"""References inside the JSON Schema of a leaf, written out where they are not recursive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .schema_references import DEFINITIONS, definitions_of, place_of, reached_from, rebuilt, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    Schema = dict[str, Any]

__all__ = ["with_references_inlined"]

_LEFT_OUT: Final = frozenset({*DEFINITIONS, "discriminator", "$ref"})
"""OpenAPI's `discriminator` names schemas, and only repeats what they say."""

_BESIDE: Final = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
"""What may stand in a schema in place of its own, as it allows no other values."""


def with_references_inlined(schema: Schema, may_write: Callable[[], bool]) -> Schema:
    """Return the schema of a leaf with each reference replaced by what it means; recursive ones stay.

    Args:
        schema: of a leaf.
        may_write: asked before each schema; False leaves it empty.
    """
    definitions = definitions_of(schema)
    recursive = [place for place, inner in definitions.items() if place in reached_from(definitions, inner)]

    def inlined(inner: Schema) -> Schema:
        if not may_write():
            return {}
        kept = rebuilt({key: value for key, value in inner.items() if key not in _LEFT_OUT}, inlined)
        reference = inner.get("$ref")
        if not isinstance(reference, str):
            return kept
        if place_of(reference) in recursive:
            return {"$ref": reference, **kept}
        return _joined(inlined(resolve(schema, reference)), kept)

    document = inlined(schema)
    for keyword, name in recursive:
        document.setdefault(keyword, {})[name] = inlined(definitions[keyword, name])
    return document


def _joined(meant: Schema, beside: Schema) -> Schema:
    """Return what a reference means, and what stands beside it."""
    if "type" in beside and beside["type"] == meant.get("type"):
        beside = {key: value for key, value in beside.items() if key != "type"}
    if beside.keys() <= _BESIDE:
        return {**meant, **beside}
    return {**beside, "allOf": [*beside.get("allOf", ()), meant]}
