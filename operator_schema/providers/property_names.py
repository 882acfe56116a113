"""Names of properties as providers take them, in schemas and arguments, and back."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as quoted
from urllib.parse import unquote

from ..introspect.schema_references import rebuilt
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
    steps = reference.split("/")
    for place in range(1, len(steps) - 1):
        own = unquote(steps[place + 1]).replace("~1", "/").replace("~0", "~")
        if steps[place] == "properties" and own in names:
            steps[place + 1] = quoted(names[own].replace("~", "~0").replace("/", "~1"))
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
    from json import dumps

    if not names:
        return text
    return _pattern(tuple(names)).sub(lambda found: dumps(names[found[1]], ensure_ascii=False), text)


@lru_cache(maxsize=64)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f'(?<!\\\\)"({"|".join(map(re.escape, names))})"(?=\\s*:)')


class KeysInText:
    """JSON text that arrives in pieces, whose keys get other names.

    Args:
        names: of keys, to those that they get.
    """

    __slots__ = ("_names", "held")

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self.held = ""  # what might become one of the keys

    def feed(self, piece: str) -> str:
        """Return the text that is certain now."""
        text = self.held + piece
        start = self._start_of_key(text)
        self.held = text[start:]
        return text_with_keys(text[:start], self._names)

    def _start_of_key(self, text: str) -> int:
        """Return where a key may begin whose end hasn't come; the length of the text if there is none."""
        start = end = len(text)
        for _ in range(2):  # a quote may be the one at its end
            end = text.rfind('"', 0, end)
            if end < 0:
                break
            rest = text[end:]
            if any(f'"{name}"'.startswith(rest) or rest.rstrip() == f'"{name}"' for name in self._names):
                start = end
        return start
