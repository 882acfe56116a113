"""Can a handwritten JSON Schema be used?"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from ..json_values import has_surrogate, is_array, is_object
from ..message_text import excerpt, quote, received
from ..similar_names import nearest
from .keywords import KEYWORDS
from .linear_regex import Patterns
from .references import resolve_pointer, step, subschemas
from .validator import NO_SCHEMA, NOT_READ, Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


MAX_DOCUMENT = 1_000_000
"""The size limit of a document: characters, plus ten for each value."""

_MAX_DEPTH = 200
_TEXT = frozenset({str})
_VALUE = 10


def schema_fault(schema: object) -> str | None:
    """Return the problem of a document, None if there is none."""
    if not is_object(schema):
        return f"it is {received(schema)}, not an object"
    left = MAX_DOCUMENT
    level: list[Any] = [schema]
    for _ in range(_MAX_DEPTH):
        left -= _VALUE * len(level) + sum([len(value) for value in level if isinstance(value, str)])
        if left < 0:
            return "it is too large"
        inside: list[Any] = []
        fault = _level_fault(level, inside)
        if fault is not None or not inside:
            return fault
        level = inside
    return "it nests too deep"


def _level_fault(level: list[Any], inside: list[Any]) -> str | None:
    """Return the first problem of some values, None if there is none; add their items to `inside`."""
    for value in level:
        if isinstance(value, str):
            if has_surrogate(value):
                return "a text in it has a lone surrogate"
        elif is_object(value):
            if not _TEXT.issuperset(map(type, value)) and not all(isinstance(key, str) for key in value):
                return "a key in it isn't a text"
            inside += value
            inside += value.values()
        elif is_array(value):
            inside += value
        else:
            fault = _scalar_fault(value)
            if fault is not None:
                return fault
    return None


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, float):
        return None if isfinite(value) else "a number in it isn't finite"
    return None if value is None or isinstance(value, int) else f"{received(value)} isn't a value of JSON"


_LIMITING: Final = frozenset([name for name, row in KEYWORDS.items() if row.says == "values"]) - {"type"}


def says_more(keywords: Iterable[str]) -> bool:
    """Return whether keywords restrict values by more than their JSON type."""
    return not _LIMITING.isdisjoint(keywords)


class WrittenSchema(dict[str, Any]):
    """A leaf's schema that restricts more than the JSON type, together with its check.

    It is a dict, like every schema, and `copy_json` copies it to a plain dict.

    Args:
        schema: JSON values without a `schema_fault`; don't change them.

    Attributes:
        judge: checks values against the whole schema.
        patterns: its regular expressions.
        reading: its meaning as a graph; None until the codec reads the first value.
    """

    __slots__ = ("judge", "patterns", "reading")

    def __init__(self, schema: dict[str, Any]) -> None:
        super().__init__(schema)
        self.patterns = Patterns()
        self.judge = Judge(self, self.patterns)
        self.reading: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return WrittenSchema, (dict(self),)


def describe_unfit_parts(schema: dict[str, Any]) -> tuple[str, str] | None:
    """Return message and remedy for a part of a leaf's schema that can't be used, or None."""
    written = schema if isinstance(schema, WrittenSchema) else WrittenSchema(schema)
    for left in written.judge.left:
        place = str(left).removeprefix("# ")
        return f"json_schema can't be checked: {place}", "Leave that out, or write it in another way"
    misspelt = _describe_misspelt_keyword(written)
    if misspelt is not None:
        return misspelt
    for keyword, value, inner in _shown_values(written):
        if written.judge.fits(inner, value) is False:
            return f"a value under {keyword} in json_schema doesn't fit: {excerpt(value)}", "Change it"
    return None


def malformed_parts(schema: dict[str, Any]) -> list[str]:
    """List the problems of a document's keywords whose values have no meaning.

    Some other keywords aren't checked either, such as a reference to another document, but they have a
    meaning.

    Args:
        schema: a schema without a `schema_fault`.
    """
    found: list[str] = []
    for left in WrittenSchema(schema).judge.left:
        place = resolve_pointer(schema, left.where or "#")
        value = place[1].get(left.keyword) if place is not None and is_object(place[1]) else None
        at = f"{quote(left.keyword or '')} at {left.where}"
        is_no_text = left.keyword == "pattern" and not isinstance(value, str)
        if left.message == NO_SCHEMA:
            found.append(f"has something at {left.where} that isn't a schema")
        elif left.message == NOT_READ or is_no_text:
            found.append(f"has {at} that can't be read: {received(value)}")
        elif left.keyword == "$ref" and (not isinstance(value, str) or value.startswith("#")):
            found.append(f"has {at} that leads nowhere: {received(value)}")
    found += [f"has a list at #{place}, where a schema has to be" for place in _lists_for_schemas(schema)]
    return found


def _lists_for_schemas(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the JSON pointers to lists that stand in place of a schema, so that their items aren't read."""
    for pointer, inner in _schemas_in(schema):
        for keyword, value in inner.items():
            holds = KEYWORDS[keyword].holds if keyword in KEYWORDS else "value"
            if holds == "schema" and is_array(value):
                yield step(pointer, keyword)
            elif holds == "named" and is_object(value) and keyword != "dependencies":
                yield from [step(pointer, keyword, name) for name, one in value.items() if is_array(one)]


def _schemas_in(schema: dict[str, Any], pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and each schema inside it, with the JSON pointer to it."""
    yield pointer, schema
    for steps, inner in subschemas(schema):
        if is_object(inner):
            yield from _schemas_in(inner, step(pointer, *steps))


def _describe_misspelt_keyword(schema: dict[str, Any]) -> tuple[str, str] | None:
    """Return message and remedy for a keyword that was probably misspelt, or None."""
    for pointer, inner in _schemas_in(schema):
        for keyword in inner:
            meant = _meant_keyword(keyword)
            if meant is not None:
                place = f" at #{pointer}" if pointer else ""
                message = f"json_schema has {quote(keyword)}{place}, which isn't a keyword of JSON Schema"
                return f"{message}; did you mean {quote(meant)}?", f"Correct it, or write x-{keyword}"
    return None


def _meant_keyword(name: str) -> str | None:
    """Return the keyword that a name misspells; None for a keyword, and for a name that isn't similar to any.

    The first letter must be right. Names that contain a keyword, such as `enumDescriptions`, are allowed.
    """
    if name in KEYWORDS:
        return None
    known = [keyword for keyword in KEYWORDS if keyword[0] == name[:1].lower() and keyword not in _SHORTEST]
    return nearest(name, known, _LIKENESS)


_SHORTEST: Final = frozenset({"if", "not"})
"""Keywords that are never suggested, because too many words are similar to them, such as `note`."""

_LIKENESS = 0.75


def _shown_values(schema: dict[str, Any]) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield each default and example in a schema, with its keyword and the schema that it stands in."""
    for _, inner in _schemas_in(schema):
        if "default" in inner:
            yield "default", inner["default"], inner
        examples = inner.get("examples")
        for example in examples if is_array(examples) else ():
            yield "examples", example, inner
