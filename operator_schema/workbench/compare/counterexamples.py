"""Is there a value that fits an old document and not a new one? A search case by case, as in a tableau.

A schema is taken apart until only keywords are left that apply to one type of value: `anyOf` becomes one case
for each member, and a schema that a value must not fit becomes one case for each of its keywords. A case ends
if its keywords contradict each other, for the value itself or for one of its keys or items. If all cases end,
it is proven that there is no such value. Otherwise an example is built from the keywords of a case.

A keyword that isn't understood counts as satisfiable, so it never ends a case.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...engine import KEYWORDS, LIMITS, Judge, Patterns, References, is_old, mapped, subschemas
from ...json_values import is_array, is_object
from ...sameness import same_text
from .case_values import (
    ABSENT_KEY,
    ENDS,
    EVERY_TYPE,
    FORMATS,
    IN_PLACE,
    NO_OBJECT,
    NO_VALUE_EXISTS,
    PRESENT_KEY,
    UNDECIDED,
    CasePart,
    about,
    limits_of_contains,
    named,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_MOST_STEPS = 6_000
_MOST_DEPTH = 12
_MOST_MEMBERS = 60

_BESIDE: Final = frozenset({"then", "else", "minContains", "maxContains"})
_UNREADABLE: Final = frozenset({"nullable", "$dynamicRef", "$recursiveRef", "dependencies", "discriminator"})
"""Keywords that different readers interpret differently."""

_MAY_BE_UNREAD: Final = frozenset({"$ref", *[name for limit in LIMITS for name in limit.keywords.values()]})
"""Keywords that never end a case, even if their argument isn't understood."""

_EACH: Final = ("properties", "patternProperties", "prefixItems")
"""Keywords that are broken by one of their keys or indexes."""


class Case(NamedTuple):
    """The requirements for a value in one case.

    Attributes:
        types: the JSON types that the value may have.
        parts: the requirements by keywords that apply to one type of value.
        met: the texts of the schemas that the value fits.
        broken: the texts of the schemas that the value breaks.
        seen: the requirements that were taken apart.
    """

    types: frozenset[str]
    parts: list[CasePart]
    met: set[str]
    broken: set[str]
    seen: set[tuple[Any, ...]]

    def copy(self) -> Case:
        """Return a copy of the case that can be changed separately."""
        return Case(self.types, [*self.parts], {*self.met}, {*self.broken}, {*self.seen})


def difference(old: Mapping[str, Any], new: Mapping[str, Any], *, is_object_only: bool = False) -> Any:
    """Look for a value that fits one document and not another one.

    Args:
        old: the document that the value fits.
        new: the other document.
        is_object_only: whether only objects count.

    Returns:
        A value, which the caller has to check; `NO_VALUE_EXISTS`; or `UNDECIDED`.
    """
    try:
        search = _Search((old, new))
        if not all(map(search.is_readable, (0, 1))):
            return UNDECIDED
        asked = [CasePart(0, search.documents[0]), CasePart(1, search.documents[1], is_met=False)]
        return search.solve(asked, frozenset({"object"}) if is_object_only else EVERY_TYPE)
    except RecursionError:
        return UNDECIDED


def _keywords_in(schema: Any) -> frozenset[str]:
    if not is_object(schema):
        return frozenset()
    return frozenset(schema).union(*[_keywords_in(inner) for _, inner in subschemas(schema)])


class _Search:
    """The search in two documents.

    Attributes:
        steps: the number of steps that are left.
        above: the requirements for the values around the present one, and for this value itself.
        reach: the outermost of these values whose nonexistence was assumed.
        known: earlier results.
    """

    def __init__(self, documents: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
        self.documents = [dict(each) for each in documents]
        self.patterns = Patterns()
        self.judges = [Judge(each, self.patterns) for each in self.documents]
        self.references = [References(each) for each in self.documents]
        self.steps = _MOST_STEPS
        self.above: list[frozenset[Any]] = []
        self.reach = math.inf
        self.known: dict[frozenset[Any], Any] = {}
        self.texts: dict[tuple[int, int], str | None] = {}
        self.formatted: dict[tuple[int, int], bool] = {}

    def is_readable(self, number: int) -> bool:
        """Return whether everything in a document is understood, as far as it can end a case."""
        document = self.documents[number]
        is_known = all(note.keyword in _MAY_BE_UNREAD for note in self.judges[number].left)
        return is_known and not is_old(document) and _keywords_in(document).isdisjoint(_UNREADABLE)

    def solve(self, asked: list[CasePart], types: frozenset[str] = EVERY_TYPE) -> Any:
        """Return a value that meets or breaks some schemas, or why there is none.

        Args:
            asked: whole schemas.
            types: the types that the value may have.
        """
        mark = frozenset([types, *[part.mark() for part in asked]])
        if mark in self.known:
            return self.known[mark]
        if mark in self.above:
            # Values are finite: a value that needs a nested value of the same kind can't exist.
            self.reach = min(self.reach, self.above.index(mark))
            return NO_VALUE_EXISTS
        if len(self.above) >= _MOST_DEPTH:
            return UNDECIDED
        outer, self.reach = self.reach, math.inf
        self.above.append(mark)
        start = Case(types, [], set(), set(), set())
        found = self._case(asked, start, [*asked], [])
        self.above.pop()
        if found is not NO_VALUE_EXISTS or self.reach >= len(self.above):
            self.known[mark] = found
            self.reach = math.inf
        self.reach = min(outer, self.reach)
        return found

    def _case(
        self, asked: list[CasePart], case: Case, pending: list[CasePart], choices: list[list[list[CasePart]]]
    ) -> Any:
        """Return a value of a case, or why there is none.

        Args:
            asked: whole schemas; the case is one way to meet or break them.
            case: the requirements so far.
            pending: the requirements that have to be taken apart.
            choices: alternatives; one of each has to be chosen.
        """
        choices = [*choices]
        while pending:
            self.steps -= 1
            if self.steps < 0:
                return UNDECIDED
            part = pending.pop()
            if part.mark() in case.seen:
                continue
            case.seen.add(part.mark())
            if part.keyword in ("const", "enum") and part.is_met:
                return self._one_of(asked, part)
            narrowed = self._with(case, part)
            ways = self._ways(part)
            if narrowed is None or ways == []:
                return NO_VALUE_EXISTS
            case = narrowed
            if ways is None:
                case.parts.append(part)
            elif len(ways) == 1:
                pending += ways[0]
            else:
                choices.append(ways)
        return self._in_any_way(asked, case, choices) if choices else self._end(asked, case)

    def _in_any_way(self, asked: list[CasePart], case: Case, choices: list[list[list[CasePart]]]) -> Any:
        ways = min(choices, key=len)
        others = [each for each in choices if each is not ways]
        return _first_found(self._case(asked, case.copy(), [*way], others) for way in ways)

    def _end(self, asked: list[CasePart], case: Case) -> Any:
        """Return a value of a case whose requirements all apply to one type of value."""
        kinds = sorted(case.types)
        return _first_found(ENDS[kind](self, asked, about(case.parts, kind)) for kind in kinds)

    def _one_of(self, asked: list[CasePart], part: CasePart) -> Any:
        values = [part.argument] if part.keyword == "const" else part.argument
        return self.first(asked, values, is_all=True) if is_array(values) else UNDECIDED

    def first(self, asked: list[CasePart], values: Iterable[Any], *, is_all: bool) -> Any:
        """Return the first of some values that meets all requirements, or why there is none.

        Args:
            asked: whole schemas.
            values: JSON values.
            is_all: whether there can't be other values.
        """
        found = NO_VALUE_EXISTS if is_all else UNDECIDED
        for value in values:
            self.steps -= 1
            if self.steps < 0:
                return UNDECIDED
            verdicts = [self._is_as_asked(part, value) for part in asked]
            if all(verdicts):
                return value
            if False not in verdicts:
                found = UNDECIDED
        return found

    def _is_as_asked(self, part: CasePart, value: Any) -> bool | None:
        if self._has_format(part):
            return None
        verdict = self.judges[part.document].fits(part.schema, value)
        return None if verdict is None else verdict is part.is_met

    def _has_format(self, part: CasePart) -> bool:
        """Return whether a schema has a format, which not every judge checks."""
        key = (part.document, id(part.schema))
        if key not in self.formatted:
            words = _keywords_in(part.schema)
            words |= _keywords_in(self.documents[part.document]) if "$ref" in words else frozenset()
            self.formatted[key] = not words.isdisjoint(FORMATS)
        return self.formatted[key]

    # --- taking apart ------------------------------------------------------------------------------

    def _with(self, case: Case, part: CasePart) -> Case | None:
        """Return a case with a requirement for types and whole schemas; None if they are contradictory."""
        types = case.types & self._types(part)
        if not types:
            return None
        if not part.keyword:
            text = self.text(part)
            mine, theirs = (case.met, case.broken) if part.is_met else (case.broken, case.met)
            if text is not None:
                if text in theirs:
                    return None
                mine.add(text)
        return case if types == case.types else case._replace(types=types)

    def _types(self, part: CasePart) -> frozenset[str]:
        """Return the types of the values that meet a requirement."""
        if part.keyword == "type":
            said: list[Any] = part.argument if is_array(part.argument) else [part.argument]
            names = {*said, "integer"} if "number" in said else {*said}
            return EVERY_TYPE & names if part.is_met else EVERY_TYPE - names
        if part.keyword in (PRESENT_KEY, ABSENT_KEY):
            return frozenset({"object"})
        if part.keyword == NO_OBJECT:
            return EVERY_TYPE - {"object"}
        row = KEYWORDS.get(part.keyword)
        if row is None or part.is_met or not row.of:
            return EVERY_TYPE
        return frozenset(row.of)

    def text(self, part: CasePart) -> str | None:
        """Return a text that is equal for equivalent schemas; None if they may depend on their documents."""
        key = (part.document, id(part.schema))
        if key not in self.texts:
            is_alone = _keywords_in(part.schema).isdisjoint(("$ref", "$id", "$anchor"))
            self.texts[key] = same_text(_without_notes(part.schema)) if is_alone else None
        return self.texts[key]

    def _ways(self, part: CasePart) -> list[list[CasePart]] | None:
        """Return the ways to meet a requirement, each a list of simpler ones; None if it can't be split."""
        if not part.keyword:
            return self._ways_of_schema(part)
        make = _WAYS.get(part.keyword)
        if make is not None:
            return make(self, part)
        if part.keyword in _EACH and not part.is_met and part.key is None:
            keys = range(len(part.argument)) if is_array(part.argument) else [*part.argument]
            return [[part._replace(key=key)] for key in keys]
        return [[]] if part.keyword == "type" else None

    def _ways_of_schema(self, part: CasePart) -> list[list[CasePart]]:
        schema = part.schema
        if not is_object(schema):
            return [[]] if not isinstance(schema, bool) or schema is part.is_met else []
        names = [
            name
            for name in schema
            if name in KEYWORDS and KEYWORDS[name].says in ("values", "format") and name not in _BESIDE
        ]
        parts = [part._replace(keyword=name) for name in names]
        return [parts] if part.is_met else [[each] for each in parts]

    def of_reference(self, part: CasePart) -> list[list[CasePart]] | None:
        try:
            target = self.references[part.document].find(part.schema)
        except LookupError:
            return None
        return [[CasePart(part.document, target, is_met=part.is_met)]]

    def of_all(self, part: CasePart) -> list[list[CasePart]]:
        members = self._members(part)
        return [members] if part.is_met else [[each] for each in members]

    def of_any(self, part: CasePart) -> list[list[CasePart]]:
        members = self._members(part)
        return [[each] for each in members] if part.is_met else [members]

    def of_one(self, part: CasePart) -> list[list[CasePart]] | None:
        if len(part.argument) > _MOST_MEMBERS:
            return None
        members = [each._replace(is_met=True) for each in self._members(part)]
        broken = [each._replace(is_met=False) for each in members]
        if not part.is_met:
            return [broken, *[[*pair] for pair in combinations(members, 2)]]
        return [[each, *broken[:i], *broken[i + 1 :]] for i, each in enumerate(members)]

    def _members(self, part: CasePart) -> list[CasePart]:
        return [CasePart(part.document, each, is_met=part.is_met) for each in part.argument]

    def of_not(self, part: CasePart) -> list[list[CasePart]]:
        return [[CasePart(part.document, part.argument, is_met=not part.is_met)]]

    def of_condition(self, part: CasePart) -> list[list[CasePart]]:
        condition = CasePart(part.document, part.argument)
        then, otherwise = (
            CasePart(part.document, part.schema.get(name, True), is_met=part.is_met)
            for name in ("then", "else")
        )
        return [[condition, then], [condition._replace(is_met=False), otherwise]]

    def of_dependent(self, part: CasePart) -> list[list[CasePart]]:
        """Split a `dependentSchemas` or `dependentRequired` requirement, first by its keys."""
        if part.key is None:
            each = [part._replace(key=key) for key in part.argument]
            return [each] if part.is_met else [[one] for one in each]
        is_there = CasePart(part.document, part.schema, PRESENT_KEY, key=part.key)
        asked = part.argument[part.key]
        if part.keyword == "dependentSchemas":
            ways = [[CasePart(part.document, asked, is_met=part.is_met)]]
        else:
            ways = self._keys(part, asked)
        more = [[is_there, *way] for way in ways]
        if not part.is_met:
            return more
        is_away = is_there._replace(keyword=ABSENT_KEY)
        return [[is_away], *more, [is_there._replace(keyword=NO_OBJECT, key=None)]]

    def of_required(self, part: CasePart) -> list[list[CasePart]] | None:
        return None if part.is_met else self._keys(part, part.argument)

    def of_contains(self, part: CasePart) -> list[list[CasePart]] | None:
        if part.is_met or part.key is not None:
            return None
        least, most = limits_of_contains(part.schema)
        ways = [[part._replace(key="few")]] if least > 0 else []
        return [*ways, [part._replace(key="many")]] if most < math.inf else ways

    def of_other_items(self, part: CasePart) -> list[list[CasePart]] | None:
        # If there is `items`, it applies to all remaining items.
        return [] if "items" in part.schema and not part.is_met else None

    def evaluated(self, part: CasePart, *, is_sure: bool) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return the keys that other keywords evaluate, for `unevaluatedProperties`.

        Args:
            part: the requirement with that keyword.
            is_sure: whether to include only keys that are evaluated in each value; otherwise all that may be.

        Returns:
            Names and expressions; None if the keywords evaluate every key, or may do so.
        """
        names: set[str] = set()
        patterns: set[str] = set()
        pending = [part.schema]
        met: set[int] = set()
        while pending:
            schema = pending.pop()
            if not is_object(schema) or id(schema) in met:
                continue
            met.add(id(schema))
            is_other = schema is not part.schema and "unevaluatedProperties" in schema
            if "additionalProperties" in schema or is_other:
                return None
            names |= named(schema, "properties")
            patterns |= named(schema, "patternProperties")
            pending += self._in_place(part.document, schema, is_sure=is_sure)
        return frozenset(names), frozenset(patterns)

    def _in_place(self, document: int, schema: dict[str, Any], *, is_sure: bool) -> list[Any]:
        found: list[Any] = []
        if "$ref" in schema:
            try:
                found.append(self.references[document].find(schema))
            except LookupError:
                found.append({} if is_sure else {"additionalProperties": True})
        kept = ("allOf",) if is_sure else IN_PLACE
        return found + [inner for steps, inner in subschemas(schema) if steps[0] in kept]

    def _keys(self, part: CasePart, keys: Iterable[Any]) -> list[list[CasePart]]:
        """Return two kinds of ways: all of some keys are there, or not all of them."""
        word = PRESENT_KEY if part.is_met else ABSENT_KEY
        parts = [CasePart(part.document, part.schema, word, key=key) for key in keys]
        return [parts] if part.is_met else [[each] for each in parts]


def _first_found(results: Iterable[Any]) -> Any:
    """Return the first value; if there is none, return whether that is proven."""
    found = NO_VALUE_EXISTS
    for result in results:
        if result is not NO_VALUE_EXISTS:
            found = result
            if result is not UNDECIDED:
                break
    return found


_WAYS: Final[Mapping[str, Callable[[_Search, CasePart], list[list[CasePart]] | None]]] = {
    "$ref": _Search.of_reference,
    "allOf": _Search.of_all,
    "anyOf": _Search.of_any,
    "oneOf": _Search.of_one,
    "not": _Search.of_not,
    "if": _Search.of_condition,
    "required": _Search.of_required,
    "contains": _Search.of_contains,
    "unevaluatedItems": _Search.of_other_items,
    "dependentRequired": _Search.of_dependent,
    "dependentSchemas": _Search.of_dependent,
}
"""The functions that split each keyword."""


def _without_notes(schema: Any) -> Any:
    """Return a schema with only the keywords that decide which values fit."""
    if not is_object(schema):
        return schema
    kept = {
        name: value
        for name, value in schema.items()
        if name not in KEYWORDS or KEYWORDS[name].says not in ("note", "name")
    }
    return mapped(kept, _without_notes)
