"""Which random values of an old document may show a breaking change, if there is no proof?

The same documents give the same values each time. Nothing is decided here: the caller judges each value.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any, Final

from ...engine import KEYWORDS, limit_of, matching_text, resolve_pointer
from ...json_values import JSON_TYPES, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    Known = tuple[Mapping[str, Any], Any]

_OTHERS: Final[tuple[Any, ...]] = ("text", "", 0, 1, -1, 0.5, True, False, None, [], {})
_TEXTS: Final = ("", "a", "text", "A1", "0", "other")
_KEYS: Final = ("other", "a", "b")
_MOST_DEPTH = 6
_MOST_SCHEMAS = 8
_MOST_FOLLOWED = 40
_MOST_ITEMS = 6
_LONGEST = 200
_TO_FIT: Final = ("anyOf", "oneOf")
_HINTS: Final = ("not", "if", "then", "else")


def drawn_values(
    old: Mapping[str, Any], new: Mapping[str, Any], tries: int, kept: Collection[str]
) -> Iterator[Any]:
    """Yield random JSON values that fit, or nearly fit, two documents.

    Args:
        old: a JSON Schema document, which most of the values fit.
        new: the document that replaces it.
        tries: the number of values.
        kept: keys that every object has, if it may have them.
    """
    drawing = _Drawing(Random(0), frozenset(kept))  # noqa: S311  # the same values each time
    for _ in range(tries):
        try:
            yield drawing.value([(old, old), (new, new)], 0)
        except RecursionError:  # pragma: no cover  # only where the stack is nearly full already
            return


class _Drawing:
    """Draws random values.

    Args:
        chance: the source of random numbers.
        kept: keys that are never left out.
    """

    def __init__(self, chance: Random, kept: frozenset[str]) -> None:
        self.chance = chance
        self.kept = kept

    def is_likely(self, share: float) -> bool:
        return self.chance.random() < share

    def value(self, known: list[Known], depth: int) -> Any:
        """Draw a value for several schemas of a place; the first one counts most."""
        schemas = self._chosen(known)
        if not schemas or depth > _MOST_DEPTH or self.is_likely(0.04):
            return self.chance.choice(_OTHERS)
        choices = self._choices(schemas)
        if choices and self.is_likely(0.9):
            return self.chance.choice(choices)
        kind = self._kind(schemas)
        if kind == "object":
            return self._object(schemas, depth)
        if kind == "array":
            return self._array(schemas, depth)
        if kind == "string":
            return self._text(schemas)
        if kind in ("integer", "number"):
            return self._number(schemas, kind)
        return self.chance.choice((True, False)) if kind == "boolean" else None

    # --- schemas -----------------------------------------------------------------------------------

    def _chosen(self, known: list[Known]) -> list[Known]:
        """Return the schemas of a place with the nested schemas that apply to the same value."""
        found: list[Known] = []
        pending = list(known)
        for _ in range(_MOST_FOLLOWED):  # references may lead back to themselves
            if not pending or len(found) >= _MOST_SCHEMAS:
                break
            document, schema = pending.pop(0)
            if not is_object(schema):
                continue
            target = resolve_pointer(document, schema["$ref"]) if "$ref" in schema else None
            if target is not None:
                pending.insert(0, (document, target[1]))
            if len(schema) > (target is not None):
                found.append((document, schema))
            pending[:0] = [(document, each) for each in self._schemas_beside(schema)]
        return found

    def _schemas_beside(self, schema: dict[str, Any]) -> list[Any]:
        inside = list(schema["allOf"]) if is_array(schema.get("allOf")) else []
        for name in _TO_FIT:
            if is_array(schema.get(name)) and schema[name]:
                inside.insert(0, self.chance.choice(schema[name]))
        hints = [schema[name] for name in _HINTS if name in schema]
        named = schema.get("dependentSchemas")
        hints += named.values() if is_object(named) else []
        if hints and self.is_likely(0.6):
            inside.insert(0, self.chance.choice(hints))
        return inside

    def _choices(self, known: list[Known]) -> list[Any]:
        for _, schema in known:
            if "const" in schema:
                return [schema["const"]]
            if is_array(schema.get("enum")) and schema["enum"]:
                return list(schema["enum"])
        return []

    def _kind(self, known: list[Known]) -> str:
        for _, schema in known:
            declared = schema.get("type")
            names = [name for name in (declared if is_array(declared) else [declared]) if name in JSON_TYPES]
            if names:
                return str(self.chance.choice(names))
        about = [
            kind for _, schema in known for name in schema if name in KEYWORDS for kind in KEYWORDS[name].of
        ]
        return str(self.chance.choice(about or list(JSON_TYPES)))

    def _numbers(self, known: list[Known], keyword: str) -> list[Any]:
        found = [limit_of(keyword, schema[keyword]) for _, schema in known if keyword in schema]
        return [limit for limit in found if limit is not None]

    # --- values ------------------------------------------------------------------------------------

    def _number(self, known: list[Known], kind: str) -> float:
        names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        ends = [0, *[limit for name in names for limit in self._numbers(known, name)]]
        steps = [1, *self._numbers(known, "multipleOf")]
        number: float = self.chance.choice(ends) + self.chance.choice(steps) * self.chance.randrange(-3, 4)
        if kind == "number" and self.is_likely(0.3):
            return number + 0.5
        return int(number) if number == int(number) or kind == "integer" else number

    def _text(self, known: list[Known]) -> str:
        patterns = [each["pattern"] for _, each in known if isinstance(each.get("pattern"), str)]
        sizes = self._numbers(known, "minLength") + self._numbers(known, "maxLength")
        texts = [*_TEXTS, *[found for each in patterns if (found := matching(each)) is not None] * 3]
        text: str = self.chance.choice(texts)
        if sizes and self.is_likely(0.7):
            size = int(max(0, self.chance.choice(sizes) + self.chance.randrange(-1, 2)))
            return (text + (text[-1:] or "a") * min(size, _LONGEST))[: min(size, _LONGEST)]
        return text

    def _size(self, known: list[Known], least: str, most: str) -> int:
        sizes = [*self._numbers(known, least), *self._numbers(known, most), 1, 2]
        return int(min(_MOST_ITEMS, max(0, self.chance.choice(sizes) + self.chance.randrange(-1, 2))))

    def _array(self, known: list[Known], depth: int) -> list[Any]:
        size = self._size(known, "minItems", "maxItems")
        first = max((len(_first_items(schema)) for _, schema in known), default=0)
        if first and self.is_likely(0.6):
            size = first
        items = [self.value(_items(known, index), depth + 1) for index in range(size)]
        if items and self.is_likely(0.3):
            items[-1] = items[0]
        contained = [(document, each["contains"]) for document, each in known if "contains" in each]
        if items and contained and self.is_likely(0.6):
            items[self.chance.randrange(len(items))] = self.value(contained, depth + 1)
        return items

    def _object(self, known: list[Known], depth: int) -> dict[str, Any]:
        required = {str(key) for _, schema in known[:1] for key in _as_list(schema.get("required"))}
        required |= {
            str(key)
            for _, schema in known[1:]
            for key in _as_list(schema.get("required"))
            if self.is_likely(0.8)
        }
        names = {key for _, schema in known for key in _as_object(schema.get("properties"))}
        share = self.chance.choice((0, 0.2, 0.8))
        keys = [
            key
            for key in sorted(names | required)
            if key in required or key in self.kept or self.is_likely(share)
        ]
        keys += self._more_keys(known) if self.is_likely(0.5) else []
        return {key: self.value(_of_key(known, key), depth + 1) for key in keys}

    def _more_keys(self, known: list[Known]) -> list[str]:
        """Draw keys that no schema names."""
        patterns = [each for _, schema in known for each in _as_object(schema.get("patternProperties"))]
        texts = [*_KEYS, *[text for each in patterns if (text := matching(each)) is not None]]
        names = [(document, each["propertyNames"]) for document, each in known if "propertyNames" in each]
        for _ in range(2 if names else 0):
            drawn = self.value(names, _MOST_DEPTH)
            texts += [drawn] * 3 if isinstance(drawn, str) else []
        size = self._size(known, "minProperties", "maxProperties")
        return [self.chance.choice(texts) for _ in range(size)]


def matching(pattern: str) -> str | None:
    """Return a text that matches an expression, None if none is found."""
    try:
        return matching_text(re.compile(pattern))
    except (re.error, RecursionError, OverflowError):
        return None


def _as_list(value: Any) -> list[Any]:
    return value if is_array(value) else []


def _as_object(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}


def _first_items(schema: dict[str, Any]) -> list[Any]:
    return schema["items"] if is_array(schema.get("items")) else _as_list(schema.get("prefixItems"))


def _items(known: list[Known], index: int) -> list[Known]:
    """Return the schemas of an item of an array."""
    found: list[Known] = []
    for document, schema in known:
        first = _first_items(schema)
        rest = schema.get("additionalItems" if is_array(schema.get("items")) else "items", True)
        found.append((document, first[index] if index < len(first) else rest))
    return found


def _of_key(known: list[Known], key: str) -> list[Known]:
    """Return the schemas of a key of an object."""
    found: list[Known] = []
    for document, schema in known:
        properties = _as_object(schema.get("properties"))
        if key in properties:
            found.append((document, properties[key]))
        found += [(document, each) for each in _as_object(schema.get("patternProperties")).values()]
        if key not in properties:
            rest = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
            found.append((document, rest))
    return found
