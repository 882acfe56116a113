"""Compare two JSON Schema documents: does the new one take every value that the old one takes?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..immutable import Value
from ..json_values import is_array, is_object
from ..schema.document import SchemaDocument
from ..schema.document_codec import DocumentCodec
from ..schema.subschemas import resolve_pointer
from ..schema.value_check import same_text
from .containment import NEW_KEY, NO_VALUE, escapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..findings import Finding
    from .containment import Escape

__all__ = ["NO_VALUE", "Narrowing", "Verdict", "narrowings"]

Verdict: TypeAlias = Literal["breaking", "undecided", "unasked"]

_MOST_TRIED = 500
"""Smaller values that are tried for one witness."""


class Narrowing(Value):
    """A place where a value that an old schema takes may not be taken by a new one.

    Attributes:
        path: keys and indexes that lead to the place.
        code: what differs there, such as `required` or `minimum`.
        before: what the old schema says, in words.
        after: what the new one says.
        verdict: `breaking` if there is a witness · `unasked` if every witness has a key that the old schema
            doesn't name, and ignores · otherwise `undecided`.
        witness: a smallest value that the old schema takes and the new one refuses, or `NO_VALUE`.
    """

    path: tuple[str | int, ...]
    code: str
    before: str
    after: str
    verdict: Verdict
    witness: Any


class Judged:
    """A document, read, with a judge of values.

    Args:
        schema: the document.
        is_arguments: whether it describes the arguments of a tool.

    Attributes:
        schema: the document.
        codec: decides whether a value fits.
    """

    __slots__ = ("codec", "schema")

    def __init__(self, schema: Mapping[str, Any], *, is_arguments: bool) -> None:
        self.schema = schema
        self.codec = DocumentCodec(SchemaDocument("schema", schema, is_arguments))

    def takes(self, value: Any) -> bool:
        """Return whether a value fits."""
        return not self.codec.report(value)


def narrowings(
    old: Mapping[str, Any], new: Mapping[str, Any], *, is_arguments: bool = True
) -> tuple[Narrowing, ...]:
    """List the places where the new schema may refuse a value that the old one takes.

    Args:
        old: a JSON Schema document.
        new: the document that takes its place.
        is_arguments: whether they describe the arguments of a tool, which are objects.

    Returns:
        Nothing if the new schema takes every value of the old one, which is then proven. Each place that
        is `breaking` has a witness, a value that the old document takes and the new one refuses. A place is
        `undecided` if neither is known.

    Raises:
        SchemaError: one of them isn't a document that can be read.
    """
    if same_text(old) == same_text(new):
        return ()
    before, after = (Judged(schema, is_arguments=is_arguments) for schema in (old, new))
    found = [_narrowing(escape, before, after) for escape in escapes(before.codec.graph, after.codec.graph)]
    found += [_unread(left) for left in after.codec.beyond if not _is_unchanged(left, old, new)]
    known = {each.path for each in found if each.code == "format"}
    found += [each for each in _formats_added(old, new) if each.path not in known]
    return tuple(found)


def _narrowing(escape: Escape, before: Judged, after: Judged) -> Narrowing:
    witness = escape.value
    if witness is NO_VALUE or not _flips(witness, before, after):
        return Narrowing(escape.path, escape.code, escape.before, escape.after, "undecided", NO_VALUE)
    is_shown = _shower(escape, witness, before, after)
    smallest = _smallest(witness, is_shown)
    verdict: Verdict = "unasked" if escape.code == NEW_KEY else "breaking"
    return Narrowing(escape.path, escape.code, escape.before, escape.after, verdict, smallest)


def _flips(value: Any, before: Judged, after: Judged) -> bool:
    return before.takes(value) and not after.takes(value)


def _shower(escape: Escape, witness: Any, before: Judged, after: Judged) -> Callable[[Any], bool]:
    """Return what decides whether a value shows an escape, rather than another one of the same schemas."""

    def is_shown(value: Any) -> bool:
        if not before.takes(value):
            return False
        return any(_is_about(finding, escape) for finding in after.codec.report(value))

    # A judge of the whole document may see the fault at a place above.
    return is_shown if is_shown(witness) else lambda value: _flips(value, before, after)


def _is_about(finding: Finding, escape: Escape) -> bool:
    if escape.code in _UNKNOWN:
        return finding.code == "unknown" and (not escape.path or finding.path == escape.path)
    steps = finding.path[: len(escape.path)]
    return len(steps) == len(escape.path) and all(
        wanted in ("*", step) for wanted, step in zip(escape.path, steps, strict=True)
    )


_UNKNOWN: Final = frozenset({"closed", "unknown"})


def _smallest(witness: Any, is_shown: Callable[[Any], bool]) -> Any:
    """Leave out of a witness what isn't needed."""
    tried = 0
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _without_one(witness):
            tried += 1
            if tried > _MOST_TRIED:
                return witness
            if is_shown(candidate):
                witness, is_smaller = candidate, True
                break
    return witness


def _without_one(value: Any) -> Iterator[Any]:
    """Yield a value without one of the keys and items in it."""
    if is_object(value):
        for key, inner in value.items():
            rest = {other: each for other, each in value.items() if other != key}
            yield rest
            yield from ({**value, key: smaller} for smaller in _without_one(inner))
    elif is_array(value):
        for index, inner in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            yield from ([*value[:index], smaller, *value[index + 1 :]] for smaller in _without_one(inner))


_NAMED_STEPS: Final = frozenset({"properties", "prefixItems"})
_PLAIN_STEPS: Final = frozenset({"items", "additionalProperties"})
_DEFINITIONS: Final = ("$defs", "definitions")


def _value_path(place: str) -> tuple[str | int, ...] | None:
    """Return where the values of a schema are; None unless each step leads to one place of a value."""
    found: list[str | int] = []
    steps = iter(place.split("/")[1:])
    for step in steps:
        if step in _PLAIN_STEPS:
            found.append("*")
        elif step in _NAMED_STEPS:
            found.append(next(steps, "").replace("~1", "/").replace("~0", "~"))
        else:
            return None
    return tuple(found)


def _is_unchanged(left: Finding, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether what no graph holds stands in both documents, at the same place of a value."""
    place = str(left.where)
    if _value_path(place) is None:
        return False
    before, after = (resolve_pointer(document, place) for document in (old, new))
    if before is None or after is None or same_text(before[1]) != same_text(after[1]):
        return False
    return not _references(before[1]) or _have_same_definitions(old, new, before[1])


def _have_same_definitions(old: Mapping[str, Any], new: Mapping[str, Any], schema: Any) -> bool:
    """Return whether all that a schema refers to, at any depth, is the same in both documents."""
    definitions = [{name: document.get(name) for name in _DEFINITIONS} for document in (old, new)]
    if same_text(definitions[0]) != same_text(definitions[1]):
        return False
    references = [*_references(schema), *_references(definitions[0])]
    return all(each.startswith(tuple(f"#/{name}/" for name in _DEFINITIONS)) for each in references)


def _references(value: Any) -> list[str]:
    """List the references in a schema."""
    if is_array(value):
        return [each for inner in value for each in _references(inner)]
    if not is_object(value):
        return []
    own = [str(value[name]) for name in ("$ref", "$dynamicRef", "$recursiveRef") if name in value]
    return [*own, *[each for inner in value.values() for each in _references(inner)]]


def _formats_added(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Narrowing]:
    """Yield the formats that a place hadn't before: who enforces them is a server's own matter."""
    before = dict(_formats_in(old, "#"))
    for place, said in _formats_in(new, "#"):
        if before.get(place) != said:
            path = _value_path(place) or ()
            yield Narrowing(path, "format", before.get(place, "none"), said, "undecided", NO_VALUE)


def _formats_in(schema: Any, place: str) -> Iterator[tuple[str, str]]:
    if is_array(schema):
        for index, inner in enumerate(schema):
            yield from _formats_in(inner, f"{place}/{index}")
    elif is_object(schema):
        if isinstance(schema.get("format"), str):
            yield place, schema["format"]
        for key, inner in schema.items():
            yield from _formats_in(inner, f"{place}/{key.replace('~', '~0').replace('/', '~1')}")


def _unread(left: Finding) -> Narrowing:
    path = _value_path(str(left.where)) or ()
    return Narrowing(path, left.keyword or "schema", "?", left.message, "undecided", NO_VALUE)
