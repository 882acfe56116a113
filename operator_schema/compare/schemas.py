"""Compare two JSON Schema documents: does the new one take every value that the old one takes?"""

from __future__ import annotations

import re
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..codec.example import matching_text
from ..immutable import Value
from ..json_values import JSON_TYPES, is_array, is_object
from ..schema.document import SchemaDocument
from ..schema.document_codec import DocumentCodec
from ..schema.keywords import KEYWORDS, limit_of
from ..schema.subschemas import resolve_pointer
from ..schema.value_check import same_text
from .containment import NEW_KEY, NO_VALUE, escapes
from .unread import unkept

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from ..findings import Finding
    from .containment import Escape
    from .unread import Unkept

    Known = tuple[Mapping[str, Any], Any]  # a document, and a schema in it

__all__ = ["NO_VALUE", "Narrowing", "Verdict", "narrowings"]

Verdict: TypeAlias = Literal["breaking", "undecided", "unasked"]

_MOST_PARTS = 30
"""Parts of a document that are compared by themselves."""

_DEEPEST_PART = 3

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
    found = _narrowings(old, new, is_arguments=is_arguments, parts=count(1), depth=0)
    if all(each.verdict != "undecided" or each.code == "format" for each in found):
        return found
    before, after = (Judged(schema, is_arguments=is_arguments) for schema in (old, new))
    return tuple(_refuted(found, before, after))


def _refuted(found: tuple[Narrowing, ...], before: Judged, after: Judged) -> list[Narrowing]:
    """Return places with witnesses for what is undecided, as far as values by chance show it."""
    places = list(found)
    kept = {str(name) for each in places if each.verdict == "undecided" for name in each.path}
    for value in _drawn_values(before.schema, after.schema, _MOST_DRAWN, kept):
        open_ = [i for i, each in enumerate(places) if each.verdict == "undecided" and each.code != "format"]
        if not open_:
            break
        if not before.takes(value):
            continue
        findings = after.codec.report(value)
        if not findings:
            continue
        shown = next((i for i in open_ if _is_at(findings, places[i])), None)
        if shown is None and all(each.verdict == "undecided" for each in places):
            # What a judge says of a place above it is about nothing else.
            shown = open_[0]
        if shown is not None:
            places[shown] = _with_witness(places[shown], value, before, after)
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


def _narrowings(
    old: Mapping[str, Any], new: Mapping[str, Any], *, is_arguments: bool, parts: Iterator[int], depth: int
) -> tuple[Narrowing, ...]:
    if same_text(old) == same_text(new):
        return ()
    before, after = (Judged(schema, is_arguments=is_arguments) for schema in (old, new))
    found = [_narrowing(escape, before, after) for escape in escapes(before.codec.graph, after.codec.graph)]
    known = {each.path for each in found if each.code == "format"}

    def prove(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        if depth == _DEEPEST_PART or next(parts) > _MOST_PARTS:
            return False
        return not _narrowings(one, other, is_arguments=False, parts=parts, depth=depth + 1)

    def fit(values: list[Any], document: Mapping[str, Any]) -> bool:
        judged = Judged(document, is_arguments=False)
        return not judged.codec.left and all(map(judged.takes, values))

    more = map(_not_kept, unkept(old, new, after.codec.beyond, prove, fit))
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


def _drawn_values(
    old: Mapping[str, Any], new: Mapping[str, Any], tries: int, kept: Collection[str] = ()
) -> Iterator[Any]:
    """Yield JSON values near two documents, the same ones each time; whoever asks has each value judged.

    Args:
        old: a JSON Schema document, which most of the values fit.
        new: what takes its place.
        tries: how many values.
        kept: keys that every object has that may have them.
    """
    drawing = _Drawing(Random(0), frozenset(kept))  # noqa: S311  # the same values each time
    for _ in range(tries):
        try:
            yield drawing.value([(old, old), (new, new)], 0)
        except RecursionError:  # pragma: no cover  # only where the stack is nearly full already
            return


class _Drawing:
    """Draws values.

    Args:
        chance: what decides.
        kept: keys that are never left out.
    """

    def __init__(self, chance: Random, kept: frozenset[str]) -> None:
        self.chance = chance
        self.kept = kept

    def is_likely(self, share: float) -> bool:
        return self.chance.random() < share

    def value(self, known: list[Known], depth: int) -> Any:
        """Draw a value of a place, of which the first schema counts the most."""
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
        """Return the schemas of a place with those inside them that hold for the same value."""
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
            pending[:0] = [(document, each) for each in self._inside(schema)]
        return found

    def _inside(self, schema: dict[str, Any]) -> list[Any]:
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
        texts = [*_TEXTS, *[found for each in patterns if (found := _matching(each)) is not None] * 3]
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
        required = {str(key) for _, schema in known[:1] for key in _listed(schema.get("required"))}
        required |= {
            str(key)
            for _, schema in known[1:]
            for key in _listed(schema.get("required"))
            if self.is_likely(0.8)
        }
        names = {key for _, schema in known for key in _named(schema.get("properties"))}
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
        patterns = [each for _, schema in known for each in _named(schema.get("patternProperties"))]
        texts = [*_KEYS, *[text for each in patterns if (text := _matching(each)) is not None]]
        names = [(document, each["propertyNames"]) for document, each in known if "propertyNames" in each]
        for _ in range(2 if names else 0):
            drawn = self.value(names, _MOST_DEPTH)
            texts += [drawn] * 3 if isinstance(drawn, str) else []
        size = self._size(known, "minProperties", "maxProperties")
        return [self.chance.choice(texts) for _ in range(size)]


def _matching(pattern: str) -> str | None:
    try:
        return matching_text(re.compile(pattern))
    except (re.error, RecursionError, OverflowError):
        return None


def _listed(value: Any) -> list[Any]:
    return value if is_array(value) else []


def _named(value: Any) -> dict[str, Any]:
    return value if is_object(value) else {}


def _first_items(schema: dict[str, Any]) -> list[Any]:
    return schema["items"] if is_array(schema.get("items")) else _listed(schema.get("prefixItems"))


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
        properties = _named(schema.get("properties"))
        if key in properties:
            found.append((document, properties[key]))
        found += [(document, each) for each in _named(schema.get("patternProperties")).values()]
        if key not in properties:
            rest = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
            found.append((document, rest))
    return found
