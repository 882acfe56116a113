"""References inside the JSON Schema of a leaf: checked, moved to the root of a document, or written out.

A leaf's schema is a document of its own, whose `#/$defs/Address` means its own root. Inside the
schema of a larger type the definitions have to be at the root of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from ..wording import excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping

    Schema = dict[str, Any]
    Rename = Callable[[str], str]
    Place = tuple[str, str]  # which of the two keywords, and the name below it

__all__ = [
    "DEFINITIONS",
    "HoistedDefinitions",
    "definitions_of",
    "describe_reference_fault",
    "place_of",
    "reached_from",
    "rebuilt",
    "resolve",
    "with_references_resolved",
]

DEFINITIONS: Final = ("$defs", "definitions")
"""The keywords under which a schema has its definitions."""

_DATA: Final = frozenset({"const", "enum", "default", "examples", "example"})
_NAMED_SCHEMAS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", *DEFINITIONS})
_UNSUPPORTED: Final = frozenset({"$dynamicRef", "$recursiveRef", "$id"})
_REMEDY: Final = 'Define what is referred to under "$defs" at the root, and refer to it as "#/$defs/Name"'


def describe_reference_fault(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return message and remedy for a reference that can't be followed; None where there is none.

    Args:
        schema: of a leaf.
    """
    found = _references(schema)
    for reference in found:
        if resolve(schema, reference) is None:
            return f"json_schema refers to {excerpt(reference)}, which isn't one of its definitions", _REMEDY
    keywords = _keywords(schema) & _UNSUPPORTED
    if "$id" in keywords and not found:
        keywords -= {"$id"}
    if keywords:
        return f"json_schema uses {min(keywords)}, which can't be part of another document", _REMEDY
    return None


def _references(schema: Any) -> list[str]:
    found: list[str] = []

    def note(reference: str) -> str:
        found.append(reference)
        return reference

    _renamed(schema, note)
    return found


def _keywords(schema: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()

    def note(inner: Mapping[str, Any]) -> Schema:
        found.update(inner)
        return rebuilt(inner, note)

    note(schema)
    return found


def _renamed(schema: Schema, rename: Rename) -> Schema:
    """Return a copy of a schema in which each reference is what `rename` makes of it."""
    copy = rebuilt(schema, lambda inner: _renamed(inner, rename))
    if isinstance(copy.get("$ref"), str):
        copy["$ref"] = rename(copy["$ref"])
    mapping = _mapping(copy)
    if mapping:
        renamed = {
            tag: rename(text) if isinstance(text, str) and text.startswith("#") else text
            for tag, text in mapping.items()
        }
        copy["discriminator"] = {**copy["discriminator"], "mapping": renamed}
    return copy


def _mapping(schema: Schema) -> dict[str, Any]:
    """Return the schema for each tag, as OpenAPI's `discriminator` has it; pydantic nests them as well."""
    discriminator: Any = schema.get("discriminator")
    return discriminator.get("mapping", {}) if isinstance(discriminator, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # of whatever items


def rebuilt(schema: Mapping[str, Any], visit: Callable[[Schema], Any]) -> Schema:
    """Return a copy of a schema with what `visit` makes of each schema right inside it."""
    copy: Schema = {}
    for keyword, value in schema.items():
        if keyword in _DATA:
            copy[keyword] = value
        elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            copy[keyword] = {name: _visited(inner, visit) for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        else:
            copy[keyword] = _visited(value, visit)
    return copy


def _visited(value: Any, visit: Callable[[Schema], Any]) -> Any:
    if isinstance(value, list):
        return [_visited(item, visit) for item in value]  # pyright: ignore[reportUnknownVariableType]  # of whatever items
    return visit(value) if isinstance(value, dict) else value  # pyright: ignore[reportUnknownArgumentType]  # of whatever items


def resolve(schema: Mapping[str, Any], reference: str) -> Any:
    """Return what a reference below the definitions of a schema points to, None where nothing is there."""
    steps = _steps(reference)
    if len(steps) < 2 or steps[0] not in DEFINITIONS:  # noqa: PLR2004  # the keyword and the name
        return None
    found: Any = schema
    for step in steps:
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):  # pyright: ignore[reportUnknownArgumentType]  # of whatever items
            found = found[int(step)]  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        elif isinstance(found, dict) and step in found:
            found = found[step]  # pyright: ignore[reportUnknownVariableType]  # of whatever items
        else:
            return None
    return found  # pyright: ignore[reportUnknownVariableType]  # of whatever items


def _steps(reference: str) -> list[str]:
    """Return the steps of a JSON pointer in a fragment (RFC 6901, section 6); none for anything else."""
    if not reference.startswith("#/"):
        return []
    return [unquote(step).replace("~1", "/").replace("~0", "~") for step in reference[2:].split("/")]


def definitions_of(schema: Mapping[str, Any]) -> dict[Place, Schema]:
    """Return the definitions at the root of a schema, by where they are."""
    return {
        (keyword, name): inner for keyword in DEFINITIONS for name, inner in schema.get(keyword, {}).items()
    }


def place_of(reference: str) -> Place:
    """Return the definition that a reference leads to, or into."""
    keyword, name, *_ = _steps(reference)
    return keyword, name


class HoistedDefinitions:
    """The definitions of leaves, moved to the root of one document.

    Args:
        taken: names that the document uses for its own definitions.

    Attributes:
        found: name to definition; equal definitions share one, others of the same name get a number.
    """

    __slots__ = ("_names", "_taken", "found")

    def __init__(self, taken: Collection[str]) -> None:
        self.found: dict[str, Schema] = {}
        self._taken = set(taken)
        self._names: dict[Hashable, str] = {}

    def move(self, schema: Schema) -> Schema:
        """Return the schema of a leaf without its definitions, which are kept here.

        Args:
            schema: with definitions, and references that lead to them.
        """
        definitions = definitions_of(schema)
        document = {key: value for key, value in schema.items() if key not in DEFINITIONS}
        if "$ref" in document:
            document.pop("type", None)  # what is referred to says it
        used = reached_from(definitions, document)
        definitions = {place: inner for place, inner in definitions.items() if place in used}
        reached = {place: reached_from(definitions, inner) for place, inner in definitions.items()}
        texts = {place: repr(inner) for place, inner in definitions.items()}
        names: dict[Place, str] = {}
        new: list[Place] = []
        for place in definitions:
            meant = tuple([(other, texts[other]) for other in definitions if other in reached[place]])
            key = (place[1], texts[place], meant)
            if key not in self._names:
                self._names[key] = self._free_name(place[1])
                new.append(place)
            names[place] = self._names[key]

        def rename(reference: str) -> str:
            keyword, name, *_ = _steps(reference)
            return "/".join(["#/$defs", names[keyword, name], *reference.split("/", 3)[3:]])

        for place in new:
            self.found[names[place]] = _renamed(definitions[place], rename)
        return _renamed(document, rename)

    def _free_name(self, name: str) -> str:
        safe = (
            "".join([c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name]) or "Definition"
        )
        free, number = safe or "Definition", 1
        while free in self._taken:
            number += 1
            free = f"{safe}_{number}"
        self._taken.add(free)
        return free


def reached_from(definitions: Mapping[Place, Schema], schema: Schema) -> set[Place]:
    """Return the definitions that a schema refers to, directly or not."""
    reached: set[Place] = set()
    pending = [schema]
    while pending:
        for reference in _references(pending.pop()):
            place = place_of(reference)
            if place not in reached:
                reached.add(place)
                pending.append(definitions[place])
    return reached


def with_references_resolved(schema: Schema, most: int) -> Schema:
    """Return the schema of a leaf with each reference replaced by what it means.

    Args:
        schema: of a leaf; not kept.
        most: references that are followed. Past them, and where a definition is inside itself, only its
            `type` is written.
    """
    left = most

    def resolved(inner: Schema, above: tuple[str, ...]) -> Schema:
        nonlocal left
        reference = inner.get("$ref")
        if not isinstance(reference, str):
            kept = {key: value for key, value in inner.items() if key not in _LEFT_OUT}
            return rebuilt(kept, lambda part: resolved(part, above))
        left -= 1
        meant: Schema = resolve(schema, reference)
        others = {key: value for key, value in inner.items() if key != "$ref"}
        if reference in above or left < 0:
            return {**{key: meant[key] for key in ("type",) if key in meant}, **others}
        return {**resolved(meant, (*above, reference)), **resolved(others, above)}

    return resolved(schema, ())


_LEFT_OUT: Final = frozenset({*DEFINITIONS, "discriminator"})
