"""How does a schema of any draft become one that APIs take: draft 2020-12, with `items` in each array?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ..json_values import is_array, is_object
from .keywords import EXCLUSIVE, KEYWORDS
from .references import References, as_path, is_old, mapped, step, steps_of, subschemas
from .render import without_boolean_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def in_current_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema rewritten as draft 2020-12, in which each array has `items`, even if only `{}`.

    Anthropic, Mistral and xAI refuse older drafts, and OpenAI refuses an array without `items`: one such
    schema fails the whole request.

    Args:
        schema: JSON values, of any draft since the fourth; it isn't changed.

    Returns:
        A schema that takes the same values, except that `unsaid_parts` become words. A reference at the root
        stays.
    """
    if _is_current(schema):
        return schema
    unsaid = {id(part): keyword for _, keyword, part in unsaid_parts(schema)}
    written: dict[str, Any] = _Writer(schema, unsaid).written(schema)
    return written


def _is_current(value: Any) -> bool:
    """Return whether a quick look shows that nothing in a value has to be rewritten.

    That is so for most tools. For simplicity, names and values that look like schemas count as schemas.
    """
    if is_array(value):
        return all(map(_is_current, value))
    if not is_object(value):
        return True
    if _is_array(value) and not is_object(value.get("items")):
        return False
    for key, inner in value.items():
        if key in _REWRITTEN or (key == "$ref" and not str(inner).startswith("#")):
            return False
        if key in _SHAPES and not isinstance(inner, _SHAPES[key]):
            return False
        if key in _NAMES and is_array(inner) and len(set(map(str, inner))) < len(inner):
            return False
        if isinstance(inner, bool) and key in _FLAGGED:
            return False
        if isinstance(inner, (dict, list)) and not _is_current(inner):
            return False
    return True


_REWRITTEN: Final = frozenset({"$schema", "$id", "id", "dependencies", "additionalItems", "unevaluatedItems"})
_FLAGGED: Final = frozenset(EXCLUSIVE.values())
_NAMES: Final = ("type", "required")


def unsaid_parts(schema: dict[str, Any]) -> list[tuple[tuple[str, ...], str, dict[str, Any]]]:
    """List outside references, and `unevaluatedItems` without `items`: path, keyword and schema of each."""
    found = [one for one in _find_unsaid(schema, ()) if one[1] != "$ref" or one[2] is not schema]
    if all(keyword != "$ref" for _, keyword, _ in found):
        return found
    references = References(schema)
    return [one for one in found if one[1] != "$ref" or not _leads_somewhere(references, one[2])]


def _find_unsaid(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, dict[str, Any]]]:
    if not is_object(schema):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        yield path, "$ref", schema
    elif "unevaluatedItems" in schema and _is_array(schema) and "items" not in schema:
        yield path, "unevaluatedItems", schema
    for steps, inner in subschemas(schema):
        yield from _find_unsaid(inner, (*path, *as_path(steps)))


def _leads_somewhere(references: References, part: dict[str, Any]) -> bool:
    try:
        references.find(part)
    except LookupError:
        return False
    return True


def _is_array(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    return kinds == "array" or (is_array(kinds) and "array" in kinds)


class _Writer:
    """Rewrites the schemas of a document, from the outside to the inside.

    Args:
        document: the document that references lead into.
        unsaid: identity of a schema to its keyword that becomes words.
    """

    __slots__ = ("_document", "_is_from_before", "_find_unsaid")

    def __init__(self, document: dict[str, Any], unsaid: Mapping[int, str]) -> None:
        self._document = document
        self._find_unsaid = unsaid
        self._is_from_before = is_old(document)

    def written(self, schema: Any) -> Any:
        """Rewrite a schema."""
        if not is_object(schema):
            return schema
        found = _with_allowed_notes(schema)
        if self._is_from_before:
            found = _without_old_keywords(found)
        unsaid = self._find_unsaid.get(id(schema))
        if unsaid is not None:
            from .schema_words import short_json, with_words, written_out

            words = f"fits the JSON Schema {short_json({unsaid: found.pop(unsaid)})}"
            found = written_out(with_words(found, words))
        if "$ref" in found:
            found["$ref"] = _renewed_pointer(self._document, found["$ref"])
        _renew_limits(found)
        found = _renew_items(found)
        _renew_dependencies(found)
        if _is_array(found):
            found.setdefault("items", {})
        return mapped(found, self.written)


def _renewed_pointer(document: Any, reference: Any) -> Any:
    """Return a reference that leads to the same schema in the rewritten document."""
    found, steps = document, steps_of(reference)
    for place, written in enumerate(steps):
        if is_object(found):
            steps[place] = _renewed_step(found, written)
            found = found.get(written)
        else:
            found = found[int(written)] if is_array(found) and written.isdecimal() else None
    same = steps == steps_of(reference)
    return reference if same else f"#{step('', *[quote(each, '/$') for each in steps])}"


def _renewed_step(schema: Mapping[str, Any], keyword: str) -> str:
    if is_array(schema.get("items")):
        return {"items": "prefixItems", "additionalItems": "items"}.get(keyword, keyword)
    return "dependentSchemas" if keyword == "dependencies" else keyword


_TEXTS: Final = ("title", "description", "$comment", "$schema", "$id", "$anchor", "format")
_FLAGS: Final = ("deprecated", "readOnly", "writeOnly")
_SHAPES: Final[Mapping[str, type[Any]]] = {
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(_FLAGS, bool),
    "examples": list,
    "contentEncoding": str,
    "contentMediaType": str,
}
"""Keywords that restrict no values, and the types that draft 2020-12 allows for each."""


def _with_allowed_notes(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy without annotations that the draft doesn't allow, and without repeated names in lists."""
    found = {
        key: value for key, value in schema.items() if key not in _SHAPES or isinstance(value, _SHAPES[key])
    }
    for key in _NAMES:
        if is_array(found.get(key)):
            found[key] = list(dict.fromkeys(found[key]))
    return found


def _without_old_keywords(schema: dict[str, Any]) -> dict[str, Any]:
    """Rewrite a schema of draft 7 or before: nothing beside a reference counts, anchors are identifiers."""
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
    """Rewrite the exclusive limits of draft 4, where `true` makes another keyword exclusive, as numbers."""
    for inclusive, exclusive in EXCLUSIVE.items():
        is_exclusive = schema.get(exclusive)
        if isinstance(is_exclusive, bool):
            del schema[exclusive]
            if is_exclusive and inclusive in schema:
                schema[exclusive] = schema.pop(inclusive)


def _renew_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Rewrite a list of `items`, from draft 2019-09 and before, as `prefixItems`."""
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
