"""Where do the definitions of a schema go when it becomes a part of another one?

A leaf's schema is a document of its own, in which `#/$defs/Address` starts at its own root. Inside the schema
of a larger type, its definitions must move to the root of that schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import is_object
from ..message_text import excerpt
from .keywords import DEFINITIONS, KEYWORDS
from .references import rebuilt, resolve, resolve_pointer, steps_of, written_step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping

    Rename = Callable[[str], str]
    Place = tuple[str, str]  # which of the two keywords, and the name below it
    Schema = dict[str, Any]


_UNSUPPORTED: Final = frozenset({"$dynamicRef", "$recursiveRef", "$id"})
_REMEDY: Final = 'Define what is referred to under "$defs" at the root, and refer to it as "#/$defs/Name"'


def describe_reference_fault(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return message and remedy for a reference that can't be followed; None where there is none.

    Args:
        schema: the schema of a leaf.
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

    _with_new_references(schema, note)
    return found


def _keywords(schema: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()

    def note(inner: Mapping[str, Any]) -> Schema:
        found.update(inner)
        return rebuilt(inner, note)

    note(schema)
    return found


def _with_new_references(schema: Schema, rename: Rename) -> Schema:
    """Return a copy of a schema in which `rename` has replaced each reference."""
    copy = rebuilt(schema, lambda inner: _with_new_references(inner, rename))
    if isinstance(copy.get("$ref"), str):
        copy["$ref"] = rename(copy["$ref"])
    mapping = _mapping_of_discriminator(copy)
    if mapping:
        renamed = {
            tag: rename(text) if isinstance(text, str) and text.startswith("#") else text
            for tag, text in mapping.items()
        }
        copy["discriminator"] = {**copy["discriminator"], "mapping": renamed}
    return copy


def _mapping_of_discriminator(schema: Schema) -> dict[str, Any]:
    """Return the schema for each tag from OpenAPI's `discriminator`; pydantic writes nested ones too."""
    discriminator: Any = schema.get("discriminator")
    return discriminator.get("mapping", {}) if isinstance(discriminator, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # of whatever items


def _definitions_of(schema: Mapping[str, Any]) -> dict[Place, Schema]:
    """Return the definitions at the root of a schema, by their place."""
    return {
        (keyword, name): inner for keyword in DEFINITIONS for name, inner in schema.get(keyword, {}).items()
    }


def place_of(reference: str) -> Place:
    """Return the place of the definition that a reference leads to, or into."""
    keyword, name, *_ = steps_of(reference)
    return keyword, name


class HoistedDefinitions:
    """The definitions of leaves, moved to the root of one document.

    Args:
        taken: names that the document uses for its own definitions.

    Attributes:
        found: name to definition; equal definitions share a name, different ones of the same name get a
            number.
    """

    __slots__ = ("_names", "_taken", "found")

    def __init__(self, taken: Collection[str]) -> None:
        self.found: dict[str, Schema] = {}
        self._taken = set(taken)
        self._names: dict[Hashable, str] = {}

    def move(self, schema: Schema) -> Schema:
        """Return the schema of a leaf without its definitions, which move here.

        Args:
            schema: a schema with definitions, and references to them.
        """
        definitions = _definitions_of(schema)
        document = {key: value for key, value in schema.items() if key not in DEFINITIONS}
        if "$ref" in document:
            document.pop("type", None)  # the target states the type
        used = _reached_from(definitions, document)
        definitions = {place: inner for place, inner in definitions.items() if place in used}
        reached = {place: _reached_from(definitions, inner) for place, inner in definitions.items()}
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
            keyword, name, *_ = steps_of(reference)
            return "/".join(["#/$defs", names[keyword, name], *reference.split("/", 3)[3:]])

        for place in new:
            self.found[names[place]] = _with_new_references(definitions[place], rename)
        return _with_new_references(document, rename)

    def _free_name(self, name: str) -> str:
        safe = (
            "".join([c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name]) or "Definition"
        )
        free, number = safe, 1
        while free in self._taken:
            number += 1
            free = f"{safe}_{number}"
        self._taken.add(free)
        return free


def _reached_from(definitions: Mapping[Place, Schema], schema: Schema) -> set[Place]:
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
    """Return the schema of a leaf with each reference replaced by its target.

    Args:
        schema: the schema of a leaf; not kept.
        most: how many references are followed. Beyond that, and in recursive definitions, only the `type` is
            written.
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
            own = {key: meant[key] for key in ("type",) if key in meant}
        else:
            own = resolved(meant, (*above, reference))
        return {**own, **resolved(others, above)}

    return resolved(schema, ())


_LEFT_OUT: Final = frozenset({*DEFINITIONS, "discriminator"})
"""Keywords to leave out: definitions, and OpenAPI's `discriminator`, which only repeats the schemas."""

_NOTES: Final = frozenset([name for name, row in KEYWORDS.items() if row.says == "note"])
"""Annotations beside a reference, which may replace those of its target because they restrict no values."""


def with_references_inlined(schema: Schema, may_write: Callable[[], bool]) -> Schema:
    """Return the schema of a leaf with each reference replaced by its target; recursive ones stay.

    Args:
        schema: the schema of a leaf.
        may_write: called before each schema; if it returns False, the schema stays empty.
    """
    definitions = _definitions_of(schema)
    recursive = [place for place, inner in definitions.items() if place in _reached_from(definitions, inner)]

    def inlined(inner: Schema) -> Schema:
        if not may_write():
            return {}
        kept = rebuilt(
            {key: value for key, value in inner.items() if key not in _LEFT_OUT and key != "$ref"}, inlined
        )
        reference = inner.get("$ref")
        if not isinstance(reference, str):
            return kept
        if place_of(reference) in recursive:
            return {"$ref": reference, **kept}
        return _join_siblings(inlined(resolve(schema, reference)), kept)

    document = inlined(schema)
    for keyword, name in recursive:
        document.setdefault(keyword, {})[name] = inlined(definitions[keyword, name])
    return document


def _join_siblings(meant: Schema, beside: Schema) -> Schema:
    """Merge a reference's target with its sibling keywords."""
    if "type" in beside and beside["type"] == meant.get("type"):
        beside = {key: value for key, value in beside.items() if key != "type"}
    if beside.keys() <= _NOTES:
        return {**meant, **beside}
    return {**beside, "allOf": [*beside.get("allOf", ()), meant]}


def with_own_definitions(schema: Schema, whole: Schema) -> Schema:
    """Return a schema with the definitions that its references need, and no others.

    Args:
        schema: a document with some parts left out.
        whole: the complete document. A reference into a left-out part makes that part a definition.
    """
    kept = {key: value for key, value in schema.items() if key not in DEFINITIONS}
    definitions: dict[Place, Any] = {
        (keyword, name): inner
        for keyword in DEFINITIONS
        if is_object(whole.get(keyword))
        for name, inner in whole[keyword].items()
    }
    new: dict[str, str] = {}
    needed: dict[Place, None] = {}

    def lead(reference: str) -> str:
        steps = steps_of(reference)
        if len(steps) > 1 and (steps[0], steps[1]) in definitions:
            needed[steps[0], steps[1]] = None
        elif not steps and reference != "#":
            needed.update(dict.fromkeys(definitions))  # an identifier or an anchor may be in any of them
        elif resolve_pointer(kept, reference) is None and (found := resolve_pointer(whole, reference)):
            if reference not in new:
                place = "$defs", f"{steps[-1]}-{len(definitions)}"
                definitions[place] = found[1]
                new[reference] = f"#/$defs/{written_step(place[1])}"
                needed[place] = None
            return new[reference]
        return reference

    document = _with_new_references(kept, lead)
    done: dict[Place, Any] = {}
    while needed.keys() - done.keys():
        for place in [each for each in needed if each not in done]:
            inner = definitions[place]
            done[place] = _with_new_references(inner, lead) if is_object(inner) else inner
    for keyword, name in definitions:
        if (keyword, name) in done:
            document.setdefault(keyword, {})[name] = done[keyword, name]
    return document
