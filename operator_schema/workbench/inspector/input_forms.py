"""Which form in a browser is for the values of a JSON Schema?"""

from __future__ import annotations

from typing import Any

from ...engine import resolve_pointer
from ...json_values import is_array, is_object
from ...message_text import clip

_MOST_FIELDS = 5_000
"""The maximum number of fields of a form; further parts are written as JSON."""

_LONGEST_TEXT = 2_000
_KEPT = ("description", "default", "format", "minimum", "maximum", "multipleOf", "maxLength", "title")
_ABOUT_ALL = ("description", "title", "default")
_COMBINED = ("anyOf", "oneOf")
_SIMPLE = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "null": "null"}


def form_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Describe the form for a JSON Schema.

    Args:
        schema: a document, our own or a foreign one.

    Returns:
        `root`, a field, and `definitions`, the fields that others refer to by name. Each field has a `kind`:
        `object` (with `fields`, each with its `key` and whether it is `required`, and `others`, the field of
        other keys) · `list` (`item`) · `map` (`value`) · `union` (`members`) · `choice` (`choices`) ·
        `constant` (`value`) · `text`, `integer`, `number`, `boolean`, `null` · `reference` (`name`) · `json`
        for everything else. A definition that isn't there is `json`.
    """
    return _Forms(schema).whole()


class _Forms:
    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._room = _MOST_FIELDS
        self._names: dict[str, Any] = {}

    def whole(self) -> dict[str, Any]:
        root = self._field(self._document)
        definitions: dict[str, Any] = {}
        waiting = list(self._names)
        while waiting:
            name = waiting.pop()
            definitions[name] = self._field(self._names[name])
            waiting += [other for other in self._names if other not in definitions and other not in waiting]
        return {"root": root, "definitions": definitions}

    def _field(self, schema: Any) -> dict[str, Any]:
        self._room -= 1
        if self._room < 0 or not is_object(schema):
            return {"kind": "json"}
        kept = {name: schema[name] for name in _KEPT if name in schema}
        texts = {name: clip(text, _LONGEST_TEXT) for name, text in kept.items() if isinstance(text, str)}
        return {**self._shape(schema), **kept, **texts}

    def _shape(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "$ref" in schema:
            return self._reference(schema["$ref"])
        if "const" in schema:
            return {"kind": "constant", "value": schema["const"]}
        if is_array(schema.get("enum")):
            return {"kind": "choice", "choices": schema["enum"]}
        for keyword in _COMBINED:
            if is_array(schema.get(keyword)):
                return {"kind": "union", "members": [self._field(member) for member in schema[keyword]]}
        kinds = schema.get("type")
        if is_array(kinds):
            rest = {key: value for key, value in schema.items() if key not in _ABOUT_ALL}
            return {"kind": "union", "members": [self._field({**rest, "type": kind}) for kind in kinds]}
        if kinds == "array":
            item = schema.get("items")
            return {"kind": "list", "item": self._field(item)} if is_object(item) else {"kind": "json"}
        if kinds == "object" or is_object(schema.get("properties")):
            return self._object(schema)
        return {"kind": _SIMPLE.get(kinds, "json") if isinstance(kinds, str) else "json"}

    def _object(self, schema: dict[str, Any]) -> dict[str, Any]:
        properties, others = schema.get("properties"), schema.get("additionalProperties")
        if not is_object(properties) or not properties:
            if is_object(others):
                return {"kind": "map", "value": self._field(others)}
            return {"kind": "object", "fields": []} if others is False else {"kind": "json"}
        required = schema.get("required")
        needed = {key for key in required if isinstance(key, str)} if is_array(required) else set[str]()
        fields = [
            {**self._field(member), "key": str(key), "required": key in needed}
            for key, member in properties.items()
        ]
        return {"kind": "object", "fields": fields} | (
            {"others": self._field(others)} if is_object(others) else {}
        )

    def _reference(self, target: Any) -> dict[str, Any]:
        if not isinstance(target, str) or not target.startswith("#"):
            return {"kind": "json"}
        found = resolve_pointer(self._document, target)
        self._names.setdefault(target, None if found is None else found[1])
        return {"kind": "reference", "name": target}
