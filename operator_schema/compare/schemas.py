"""Compare two JSON Schema documents: does the new one take every value that the old one takes?"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..immutable import Value
from ..json_values import is_array, is_object
from ..schema.document import SchemaDocument
from ..schema.document_codec import DocumentCodec
from ..schema.value_check import same_text
from .cases import NO_VALUE_EXISTS, UNDECIDED, difference
from .containment import NEW_KEY, NO_VALUE, escapes
from .sampling import drawn_values
from .unread import unkept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..findings import Finding
    from .containment import Escape
    from .unread import Unkept

__all__ = ["NO_VALUE", "Judged", "Narrowing", "Verdict", "narrowings", "narrowings_of"]

Verdict: TypeAlias = Literal["breaking", "undecided", "unasked"]

_MOST_PARTS = 30
"""Parts of a document that are compared by themselves."""

_MOST_DRAWN = 100
"""Values by chance that are looked at for what nothing proves."""

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
        is_arguments: as it was given.
        codec: decides whether a value fits.
    """

    __slots__ = ("codec", "is_arguments", "schema")

    def __init__(self, schema: Mapping[str, Any], *, is_arguments: bool) -> None:
        self.schema = schema
        self.is_arguments = is_arguments
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
    return narrowings_of(before, after)


def narrowings_of(before: Judged, after: Judged, *, is_all: bool = True) -> tuple[Narrowing, ...]:
    """List the places as `narrowings` does, of documents that are read already.

    Args:
        before: the old document.
        after: the new one.
        is_all: whether each place counts. Otherwise less is tried for places beside one that is breaking, and
            nothing where there seem to be none.
    """
    found = _narrowings(before, after)
    # What no graph holds is looked at in two ways: nothing may be proven wrongly.
    is_open = is_all and bool(after.codec.beyond) and not found
    is_undecided = [each.verdict == "undecided" for each in found]
    if not is_open and not (any(is_undecided) if is_all else found and all(is_undecided)):
        return found
    shown: list[Any] = []
    if all(is_undecided):
        value = difference(before.schema, after.schema, is_object_only=before.is_arguments)
        if value is NO_VALUE_EXISTS:
            return ()
        shown += [] if value is UNDECIDED else [value]
    if shown and all(each.code == "format" for each in found):
        found = (*found, Narrowing((), "schema", "a value fits", "it doesn't fit", "undecided", NO_VALUE))
    if all(each.verdict != "undecided" or each.code == "format" for each in found):
        return found
    return tuple(_refuted(found, before, after, shown))


def _refuted(
    found: tuple[Narrowing, ...], before: Judged, after: Judged, shown: list[Any]
) -> list[Narrowing]:
    """Return places with witnesses for what is undecided, as far as a value shows it.

    Args:
        found: the places.
        before: the old document.
        after: the new one.
        shown: values that are tried before others by chance.
    """
    places = list(found)
    kept = {str(name) for each in places if each.verdict == "undecided" for name in each.path}
    for value in chain(shown, drawn_values(before.schema, after.schema, _MOST_DRAWN, kept)):
        open_ = [i for i, each in enumerate(places) if each.verdict == "undecided" and each.code != "format"]
        if not open_:
            break
        if not before.takes(value):
            continue
        findings = after.codec.report(value)
        if not findings:
            continue
        place = next((i for i in open_ if _is_at(findings, places[i])), None)
        if place is None and all(each.verdict == "undecided" for each in places):
            # What a judge says of a place above it is about nothing else.
            place = open_[0]
        if place is not None:
            places[place] = _with_witness(places[place], value, before, after)
    return places


def _is_at(findings: Iterable[Finding], place: Narrowing) -> bool:
    return any(_starts_with(finding.path, place.path) for finding in findings)


def _with_witness(place: Narrowing, witness: Any, before: Judged, after: Judged) -> Narrowing:
    def is_shown(value: Any) -> bool:
        if not before.takes(value):
            return False
        findings = after.codec.report(value)
        return bool(findings) and (not is_exact or _is_at(findings, place))

    is_exact = _is_at(after.codec.report(witness), place)
    return place.replace(verdict="breaking", witness=_smallest(witness, is_shown))


def _narrowings(before: Judged, after: Judged) -> tuple[Narrowing, ...]:
    """List the places as far as both documents can be followed at once."""
    found = [_narrowing(escape, before, after) for escape in escapes(before.codec.graph, after.codec.graph)]
    known = {each.path for each in found if each.code == "format"}
    parts = 0

    def prove(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        nonlocal parts
        parts += 1
        return parts <= _MOST_PARTS and difference(one, other) is NO_VALUE_EXISTS

    def fit(values: list[Any], document: Mapping[str, Any]) -> bool:
        judged = Judged(document, is_arguments=False)
        return not judged.codec.left and all(map(judged.takes, values))

    more = map(_not_kept, unkept(before.schema, after.schema, after.codec.beyond, prove, fit))
    found += [each for each in more if each.code != "format" or each.path not in known]
    return tuple(found)


def _narrowing(escape: Escape, before: Judged, after: Judged) -> Narrowing:
    witness = escape.value
    if witness is NO_VALUE or not _flips(witness, before, after):
        return Narrowing(escape.path, escape.code, escape.before, escape.after, "undecided", NO_VALUE)
    is_shown = _shower(escape, witness, before, after)
    smallest = _smallest(witness, is_shown)
    is_unasked = escape.code == NEW_KEY and not _says_of_other_keys(before, escape.path[:-1])
    verdict: Verdict = "unasked" if is_unasked else "breaking"
    return Narrowing(escape.path, escape.code, escape.before, escape.after, verdict, smallest)


def _says_of_other_keys(judged: Judged, path: tuple[str | int, ...]) -> bool:
    """Return whether a document says which values fit the keys of an object that it doesn't name."""
    place = tuple("*" if isinstance(step, int) else step for step in path)
    return any(note.keyword in _OTHER_KEYS and note.path == place for note in judged.codec.beyond)


_OTHER_KEYS: Final = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})


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
    return _starts_with(finding.path, escape.path)


def _starts_with(path: tuple[str | int, ...], start: tuple[str | int, ...]) -> bool:
    steps = path[: len(start)]
    return len(steps) == len(start) and all(
        wanted in ("*", step) for wanted, step in zip(start, steps, strict=True)
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


def _not_kept(each: Unkept) -> Narrowing:
    if each.keyword == "format":
        before = "none" if each.before is None else str(each.before)
        return Narrowing(each.path, "format", before, str(each.after), "undecided", NO_VALUE)
    code = each.keyword or "schema"
    return Narrowing(each.path, code, "not the same", str(each.after), "undecided", NO_VALUE)
