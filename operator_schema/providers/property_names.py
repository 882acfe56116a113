"""Names of properties as providers take them, in schemas and arguments, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["KeysInText", "property_names", "schema_with_keys", "text_with_keys", "value_with_keys"]

_LISTS = frozenset({"required", "propertyOrdering"})
_BY_NAME = frozenset({"properties", "dependentRequired", "dependentSchemas"})


def property_names(schema: Mapping[str, Any]) -> list[str]:
    """List the names of all properties in a schema, each once, in their order."""
    return list(dict.fromkeys(_names(schema)))


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    from ..schema.subschemas import rebuilt

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
    """Return a copy of a schema whose properties have other names, wherever it says them.

    Args:
        schema: in any dialect.
        names: of properties, to those that they get.
    """
    from ..schema.subschemas import rebuilt

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
    """Return a JSON pointer in a fragment (RFC 6901, section 6) that goes through the new names."""
    from ..schema.subschemas import unescaped, written_step

    steps = reference.split("/")
    for place in range(1, len(steps) - 1):
        own = unescaped(unquote(steps[place + 1]))
        if steps[place] == "properties" and own in names:
            steps[place + 1] = written_step(names[own])
    return "/".join(steps)


def value_with_keys(value: Any, names: Mapping[str, str], levels: int = 1000) -> Any:
    """Return arguments whose keys have other names, at every depth.

    Args:
        value: JSON; it isn't changed.
        names: of keys, to those that they get. A key whose new name is there already stays.
        levels: of arrays and objects that are looked through.
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
    """Return JSON text, which may lack its end, whose keys have other names.

    Args:
        text: of arguments.
        names: of keys, to those that they get; a text in quotes before a colon is always a key.
    """
    if not names:
        return text
    keys = KeysInText(names)
    return keys.feed(text) + keys.held


class KeysInText:
    """JSON text that arrives in pieces, whose keys get other names.

    Each piece is read once, and what comes out doesn't depend on where the text was cut.

    Args:
        names: of keys, to those that they get. The keys need no escapes in JSON.
    """

    __slots__ = ("_in_value", "_names", "_starts", "held")

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._starts = frozenset(name[:end] for name in names for end in range(len(name) + 1))
        self._in_value = False  # whether the text ends in a string that is no key
        self.held = ""  # what might become one of the keys

    def feed(self, piece: str) -> str:
        """Return the text that is certain now."""
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
        """Return where a string that began before ends, and its text; None if an escape isn't complete."""
        end = _past(_IN_STRING, text, at)
        if end < len(text) and text[end] == '"':
            self._in_value = False
            end += 1
        return None if end == at else (end, text[at:end])

    def _up_to_value(self, text: str, at: int) -> tuple[int, str] | None:
        """Return where the next string begins, or the key that stands here ends; None if it isn't certain."""
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
        from json import dumps

        colon = _past(_SPACE, text, end)
        if colon == len(text) and colon - end < _MOST_SPACE:
            return None
        return end, dumps(new, ensure_ascii=False) if text[colon : colon + 1] == ":" else text[at:end]


_MOST_SPACE = 100
"""Characters between a key and its colon; where more come, it isn't taken for a key."""

_SPACE = re.compile(rf"\s{{0,{_MOST_SPACE}}}")
_NO_STRING = re.compile(r'[^"]+')
_IN_STRING = re.compile(r'(?:[^"\\]+|\\.)*', re.DOTALL)


def _past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where what fits a pattern ends; `at` where nothing does."""
    found = pattern.match(text, at)
    return at if found is None else found.end()
