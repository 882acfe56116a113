"""Where does a new schema refuse a value that the old one accepts?

Three ways to decide this follow each other. Both graphs are compared, and so are the keywords that no graph
contains. If only undecided places are left, both documents are taken apart into cases. If that doesn't decide
it either, random values are tried.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ...engine import DocumentCodec, SchemaDocument, in_current_draft, is_old, unsaid_parts
from ...immutable import Value
from ...json_values import is_array, is_object
from ...sameness import is_same_json
from .containment import NEW_KEY, NO_VALUE, escapes
from .decoder_marks import is_leaf_format, text_leaves
from .drawn_values import drawn_values
from .unread_keywords import unkept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...engine import SchemaLeaf
    from ...findings import Finding

Verdict: TypeAlias = Literal["breaking", "undecided", "unasked"]

_MOST_DRAWN = 100
"""The maximum number of random values that are tried if there is no proof."""

_MOST_TRIED = 500
"""The maximum number of smaller values that are tried for one witness."""


class Narrowing(Value):
    """A place where the new schema may refuse a value that the old one accepts.

    Attributes:
        path: keys and indexes that lead to the place.
        code: the kind of difference, such as `required` or `minimum`.
        before: the old schema there, in words.
        after: the new schema there, in words.
        verdict: `breaking` if there is a witness · `unasked` if every witness has a key that the old schema
            doesn't name, and ignores · otherwise `undecided`.
        witness: a smallest value that the old schema accepts and the new one refuses, or `NO_VALUE`.
    """

    path: tuple[str | int, ...]
    code: str
    before: str
    after: str
    verdict: Verdict = "undecided"
    witness: Any = NO_VALUE

    @property
    def is_open(self) -> bool:
        """Whether a value may still decide it; servers differ in the formats that they check."""
        return self.verdict == "undecided" and self.code != "format"


class JudgedDocument:
    """A parsed document, with a judge of values.

    Args:
        schema: the document.
        is_arguments: whether it describes the arguments of a tool.
        leaves: the types that read texts, by format; None for the types of marked schemas.

    Attributes:
        schema: the document, in the current draft if it was of an old one.
        is_arguments: the given value.
        codec: decides whether a value fits.
    """

    __slots__ = ("codec", "is_arguments", "schema")

    def __init__(
        self,
        schema: Mapping[str, Any],
        *,
        is_arguments: bool,
        leaves: Mapping[str, SchemaLeaf[Any]] | None = None,
    ) -> None:
        self.is_arguments = is_arguments
        document = SchemaDocument("schema", schema, is_arguments, leaves or text_leaves())
        if is_old(document.schema):
            current = _in_current_draft(document.schema)
            document = SchemaDocument("schema", current, is_arguments, document.leaves)
        self.schema: Mapping[str, Any] = document.schema
        self.codec = DocumentCodec(document)

    def takes(self, value: Any) -> bool:
        """Return whether a value fits the document."""
        return not self.codec.report(value)


def _in_current_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a document in the current draft; unchanged if a part of it would become words."""
    return schema if unsaid_parts(schema) else in_current_draft(schema)


def narrowings(
    old: Mapping[str, Any], new: Mapping[str, Any], *, is_arguments: bool = True
) -> tuple[Narrowing, ...]:
    """List the places where the new schema may refuse a value that the old one accepts.

    Args:
        old: a JSON Schema document.
        new: the document that replaces it.
        is_arguments: whether they describe the arguments of a tool, which are objects.

    Returns:
        An empty list if it is proven that the new schema accepts every value of the old one. Each `breaking`
        place has a witness: a value that the old document accepts and the new one refuses. A place is
        `undecided` if there is neither a witness nor a proof.

    Raises:
        SchemaError: one of the documents can't be read.
    """
    if is_same_json(old, new):
        return ()
    before, after = (JudgedDocument(schema, is_arguments=is_arguments) for schema in (old, new))
    return narrowings_of(before, after)


def narrowings_of(
    before: JudgedDocument, after: JudgedDocument, *, is_all: bool = True
) -> tuple[Narrowing, ...]:
    """List the places as `narrowings` does, for parsed documents.

    Args:
        before: the old document.
        after: the new one.
        is_all: whether each place matters. If not, fewer values are tried once one place is breaking, and
            none if there seem to be no places.
    """
    found = [*_in_graphs(before, after)]
    found += _in_other_keywords(before, after, {each.path for each in found if each.code == "format"})
    is_undecided = [each.verdict == "undecided" for each in found]
    if found:
        is_decided = not (any(is_undecided) if is_all else all(is_undecided))
    else:  # keywords that no graph contains are checked in two ways, so that nothing is proven wrongly
        is_decided = not (is_all and after.codec.beyond)
    if is_decided:
        return tuple(found)
    shown: list[Any] = []
    if all(is_undecided):
        from .case_values import NO_VALUE_EXISTS, UNDECIDED
        from .counterexamples import difference  # most comparisons need no search

        value = difference(before.schema, after.schema, is_object_only=before.is_arguments)
        if value is NO_VALUE_EXISTS:
            return ()
        shown += [] if value is UNDECIDED else [value]
    if shown and not any(each.is_open for each in found):
        found.append(Narrowing((), "schema", "a value fits", "it doesn't fit"))
    return tuple(_with_witnesses(found, before, after, shown))


# --- the places ----------------------------------------------------------------------------------


def _in_graphs(before: JudgedDocument, after: JudgedDocument) -> Iterator[Narrowing]:
    for escape in escapes(before.codec.graph, after.codec.graph):
        place = Narrowing(escape.path, escape.code, escape.before, escape.after)
        value = escape.value
        if value is NO_VALUE or not before.takes(value) or after.takes(value):
            yield place
        else:
            is_unasked = escape.code == NEW_KEY and not _says_of_other_keys(before, escape.path[:-1])
            yield _with_witness(place, value, before, after, "unasked" if is_unasked else "breaking")


def _says_of_other_keys(judged: JudgedDocument, path: tuple[str | int, ...]) -> bool:
    """Return whether a document restricts the keys of an object that it doesn't name."""
    place = tuple("*" if isinstance(step, int) else step for step in path)
    return any(note.keyword in _OTHER_KEYS and note.path == place for note in judged.codec.beyond)


_OTHER_KEYS: Final = frozenset({"additionalProperties", "patternProperties", "unevaluatedProperties"})


def _in_other_keywords(
    before: JudgedDocument, after: JudgedDocument, known: set[tuple[str | int, ...]]
) -> Iterator[Narrowing]:
    """Yield the places of keywords that no graph contains.

    Args:
        before: the old document.
        after: the new one.
        known: the places where the graphs show another format.
    """
    for escape in unkept(before.schema, after.schema, after.codec.beyond):
        is_in_graph = escape.path in known or is_leaf_format(escape.after)  # the types that read texts
        if escape.code != "format" or not is_in_graph:
            yield Narrowing(escape.path, escape.code, escape.before, escape.after)


# --- witnesses -----------------------------------------------------------------------------------


def _with_witnesses(
    found: list[Narrowing], before: JudgedDocument, after: JudgedDocument, shown: list[Any]
) -> list[Narrowing]:
    """Return the places, with witnesses for undecided ones if a value shows the difference.

    Args:
        found: the places.
        before: the old document.
        after: the new one.
        shown: values that are tried before random ones.
    """
    places = list(found)
    kept = {str(name) for each in places if each.verdict == "undecided" for name in each.path}
    for value in chain(shown, drawn_values(before.schema, after.schema, _MOST_DRAWN, kept)):
        left = [index for index, each in enumerate(places) if each.is_open]
        if not left:
            break
        findings = after.codec.report(value) if before.takes(value) else ()
        index = next((index for index in left if _is_at(findings, places[index])), None)
        if index is None and findings and all(each.verdict == "undecided" for each in places):
            # A judge's verdict about an outer place has no meaning for the others.
            index = left[0]
        if index is not None:
            places[index] = _with_witness(places[index], value, before, after, "breaking")
    return places


def _with_witness(
    place: Narrowing, witness: Any, before: JudgedDocument, after: JudgedDocument, verdict: Verdict
) -> Narrowing:
    """Return a place with a smallest witness, made from a larger one."""

    def is_shown(value: Any) -> bool:
        findings = after.codec.report(value) if before.takes(value) else ()
        return _is_at(findings, place) if is_exact else bool(findings)

    # A judge of the whole document may find the fault at an outer place.
    is_exact = _is_at(after.codec.report(witness), place)
    return place.replace(verdict=verdict, witness=_smallest(witness, is_shown))


def _is_at(findings: tuple[Finding, ...], place: Narrowing) -> bool:
    """Return whether one of the findings about a value is about a place."""
    if place.code in _UNKNOWN:
        return any(each.code == "unknown" and place.path in ((), each.path) for each in findings)
    return any(_starts_with(each.path, place.path) for each in findings)


_UNKNOWN: Final = frozenset({"closed", "unknown"})


def _starts_with(path: tuple[str | int, ...], start: tuple[str | int, ...]) -> bool:
    steps = path[: len(start)]
    return len(steps) == len(start) and all(
        wanted in ("*", step) for wanted, step in zip(start, steps, strict=True)
    )


def _smallest(witness: Any, is_shown: Callable[[Any], bool]) -> Any:
    """Remove everything from a witness that isn't needed."""
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
            yield {other: each for other, each in value.items() if other != key}
            yield from ({**value, key: smaller} for smaller in _without_one(inner))
    elif is_array(value):
        for index, inner in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            yield from ([*value[:index], smaller, *value[index + 1 :]] for smaller in _without_one(inner))
