"""A schema as the APIs of providers take it in any mode: valid in draft 2020-12, with items in each array."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..json_values import is_array, is_object
from .dialect_writing import with_words, written_out
from .keywords import EXCLUSIVE, KEYWORDS
from .references import References, as_path, is_old, mapped, subschemas
from .style import without_boolean_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["foreign_references", "in_current_draft"]


def in_current_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema as draft 2020-12 writes it; each array says what its items are, if only `{}`.

    Anthropic, Mistral and xAI refuse older drafts, and OpenAI refuses an array without `items`: one such
    schema fails the whole request.

    Args:
        schema: JSON values, of any draft since the fourth; it isn't changed.

    Returns:
        A schema that takes the same values, but for references that lead to other documents.
    """
    foreign = {id(part) for _, part in foreign_references(schema)}
    written: dict[str, Any] = _written(schema, is_from_before=is_old(schema), foreign=foreign)
    return written


def foreign_references(schema: dict[str, Any]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """List the parts of a schema that refer to another document, each with its path in a value."""
    found = [(path, part) for path, part in _parts(schema, ()) if _is_foreign(part.get("$ref"))]
    if not found:
        return []
    references = References(schema)
    return [(path, part) for path, part in found if not _leads_somewhere(references, part)]


def _parts(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    if is_object(schema):
        yield path, schema
        for steps, inner in subschemas(schema):
            yield from _parts(inner, (*path, *as_path(steps)))


def _is_foreign(reference: object) -> bool:
    return isinstance(reference, str) and not reference.startswith("#")


def _leads_somewhere(references: References, part: dict[str, Any]) -> bool:
    try:
        references.find(part)
    except LookupError:
        return False
    return True


def _written(schema: Any, *, is_from_before: bool, foreign: set[int]) -> Any:
    if not is_object(schema):
        return schema
    found = _fitting(schema)
    if is_from_before:
        found = _renewed(found)
    if id(schema) in foreign:
        found = written_out(with_words(found, f"fits the JSON Schema at {found.pop('$ref')}"))
    _renew_limits(found)
    found = _renew_items(found)
    _renew_dependencies(found)
    kinds = found.get("type")
    if kinds == "array" or (is_array(kinds) and "array" in kinds):
        found.setdefault("items", {})
    return mapped(found, partial(_written, is_from_before=is_from_before, foreign=foreign))


_TEXTS: Final = ("title", "description", "$comment", "$schema", "$id", "$anchor", "format")
_FLAGS: Final = ("deprecated", "readOnly", "writeOnly")
_SHAPES: Final[Mapping[str, type[Any]]] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(_FLAGS, bool),
    "examples": list,
    "contentEncoding": str,
    "contentMediaType": str,
}
"""Keywords that limit no values, and what draft 2020-12 lets each of them be."""


def _fitting(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy without notes that the draft doesn't allow, and without repetitions in lists of names."""
    found = {
        key: value for key, value in schema.items() if key not in _SHAPES or isinstance(value, _SHAPES[key])
    }
    for key in ("type", "required"):
        if is_array(found.get(key)):
            found[key] = list(dict.fromkeys(found[key]))
    return found


def _renewed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of draft 7 or before: nothing beside a reference counts, anchors are identifiers."""
    found = {key: value for key, value in schema.items() if key != "$schema"}
    if "$ref" in found:
        return {
            key: value
            for key, value in found.items()
            if key == "$ref" or (key in KEYWORDS and KEYWORDS[key].says in {"note", "name"} and key != "$id")
        }
    name = found.pop("id", None)
    if isinstance(name, str):
        found.setdefault("$id", name)
    if str(found.get("$id", "")).startswith("#"):
        found["$anchor"] = found.pop("$id")[1:]
    return found


def _renew_limits(schema: dict[str, Any]) -> None:
    """Write an exclusive limit of draft 4, which says that another keyword is exclusive, as the limit."""
    for inclusive, exclusive in EXCLUSIVE.items():
        is_exclusive = schema.get(exclusive)
        if isinstance(is_exclusive, bool):
            del schema[exclusive]
            if is_exclusive and inclusive in schema:
                schema[exclusive] = schema.pop(inclusive)


def _renew_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Write a list of items, of draft 2019-09 and before, as `prefixItems`."""
    places = schema.get("items")
    if not is_array(places):
        return schema
    found = {key: value for key, value in schema.items() if key not in {"items", "additionalItems"}}
    if places:
        found.setdefault("prefixItems", places)
    rest = schema.get("additionalItems")
    if rest is False or rest == {"not": {}}:
        return without_boolean_items(found)
    return found if rest is None else {**found, "items": rest}


def _renew_dependencies(schema: dict[str, Any]) -> None:
    both = schema.pop("dependencies", None)
    if is_object(both):
        names = {key: list(dict.fromkeys(value)) for key, value in both.items() if is_array(value)}
        schemas = {key: value for key, value in both.items() if not is_array(value)}
        for keyword, found in (("dependentRequired", names), ("dependentSchemas", schemas)):
            if found:
                schema[keyword] = {**found, **schema.get(keyword, {})}
