"""The names of properties that a provider gets, and the way back to the own names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..json_values import is_array, is_object, to_json_text
from ..schema.references import rebuilt, unescaped, written_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_LISTS = frozenset({"required", "propertyOrdering"})
_BY_NAME = frozenset({"properties", "dependentRequired", "dependentSchemas"})


def property_names(schema: Mapping[str, Any]) -> list[str]:
    """List the names of all properties in a schema, each once, in their order."""
    return list(dict.fromkeys(_names(schema)))


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    inside: list[Mapping[str, Any]] = []

    def note(inner: dict[str, Any]) -> dict[str, Any]:
        inside.append(inner)
        return inner

    rebuilt(schema, note)
    if is_object(schema.get("properties")):
        yield from schema["properties"]
    for inner in inside:
        yield from _names(inner)


def schema_with_keys(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return a copy of a schema with other names of properties, wherever the schema mentions them."""
    copy = rebuilt(schema, lambda inner: schema_with_keys(inner, names))
    for keyword, value in copy.items():
        if keyword in _LISTS and is_array(value):
            copy[keyword] = _replaced(value, names)
        elif keyword in _BY_NAME and is_object(value):
            copy[keyword] = {names.get(key, key): _replaced(inner, names) for key, inner in value.items()}
    reference = copy.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        copy["$ref"] = _pointer_with_keys(reference, names)
    about: Any = copy.get("discriminator")
    if is_object(about) and isinstance(about.get("propertyName"), str):
        copy["discriminator"] = {
            **about,
            "propertyName": names.get(about["propertyName"], about["propertyName"]),
        }
    return copy


def _replaced(found: Any, names: Mapping[str, str]) -> Any:
    if not is_array(found):
        return found
    return [names.get(name, name) if isinstance(name, str) else name for name in found]


def _pointer_with_keys(reference: str, names: Mapping[str, str]) -> str:
    """Return a JSON pointer in a fragment (RFC 6901, section 6) with the new names."""
    steps = reference.split("/")
    for place in range(1, len(steps) - 1):
        own = unescaped(unquote(steps[place + 1]))
        if steps[place] == "properties" and own in names:
            steps[place + 1] = written_step(names[own])
    return "/".join(steps)


def value_with_keys(value: Any, names: Mapping[str, str], levels: int = 1000) -> Any:
    """Return arguments with other names of keys, at every depth.

    Args:
        value: a JSON value; it isn't changed.
        names: the new names of keys. A key stays if its new name exists already.
        levels: how many levels of arrays and objects are searched.
    """
    if levels == 0:
        return value
    if is_array(value):
        return [value_with_keys(item, names, levels - 1) for item in value]
    if not is_object(value):
        return value
    return {
        names[key] if key in names and names[key] not in value else key: value_with_keys(
            inner, names, levels - 1
        )
        for key, inner in value.items()
    }


def text_with_keys(text: str, names: Mapping[str, str]) -> str:
    """Return JSON text, which may lack its end, with other names of keys.

    Args:
        text: the text of arguments.
        names: the new names of keys; a text in quotes before a colon is always a key.
    """
    if not names:
        return text
    keys = KeysInText(names)
    return keys.feed(text) + keys.held


class KeysInText:
    """JSON text that arrives in pieces, and whose keys get other names.

    Each piece is read once, and the result doesn't depend on where the text was cut.

    Args:
        names: the new names of keys. The keys need no escapes in JSON.
    """

    __slots__ = ("_in_value", "_names", "_starts", "held")

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._starts = frozenset(name[:end] for name in names for end in range(len(name) + 1))
        self._in_value = False  # whether the text ends inside a string that isn't a key
        self.held = ""  # the text that might become one of the keys

    def feed(self, piece: str) -> str:
        """Return the text that can't change any more."""
        text, self.held = self.held + piece, ""
        made: list[str] = []
        at = 0
        while at < len(text):
            step = self._rest_of_value(text, at) if self._in_value else self._up_to_value(text, at)
            if step is None:
                self.held = text[at:]
                break
            at, certain = step
            made.append(certain)
        return "".join(made)

    def _rest_of_value(self, text: str, at: int) -> tuple[int, str] | None:
        """Return the end and the text of a string that began before; None if an escape isn't complete."""
        end = _past(_IN_STRING, text, at)
        if end < len(text) and text[end] == '"':
            self._in_value = False
            end += 1
        return None if end == at else (end, text[at:end])

    def _up_to_value(self, text: str, at: int) -> tuple[int, str] | None:
        """Return where the next string begins, or where this key ends; None if that is still open."""
        if text[at] != '"':
            end = _past(_NO_STRING, text, at)
            return end, text[at:end]
        if text[at + 1 :] in self._starts:
            return None
        for name, new in self._names.items():
            if text.startswith(f'{name}"', at + 1):
                return self._key(text, at, at + len(name) + 2, new)
        self._in_value = True
        return at + 1, '"'

    def _key(self, text: str, at: int, end: int, new: str) -> tuple[int, str] | None:
        colon = _past(_SPACE, text, end)
        if colon == len(text) and colon - end < _MOST_SPACE:
            return None
        return end, to_json_text(new) if text[colon : colon + 1] == ":" else text[at:end]


_MOST_SPACE = 100
"""The most characters between a key and its colon; if there are more, the text isn't a key."""

_SPACE = re.compile(rf"\s{{0,{_MOST_SPACE}}}")
_NO_STRING = re.compile(r'[^"]+')
_IN_STRING = re.compile(r'(?:[^"\\]+|\\.)*', re.DOTALL)


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where a match of a pattern ends; `at` if nothing matches there."""
    found = pattern.match(text, at)
    return at if found is None else found.end()
