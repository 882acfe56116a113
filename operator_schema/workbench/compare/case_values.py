"""Which value of one JSON type meets some keywords and breaks others, or is it proven that there is none?

`cases` takes schemas apart until only such keywords are left.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ...engine import KEYWORDS
from ...json_values import is_array, is_object, plain_number
from ...sameness import same_text
from .drawn_values import matching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ...engine import Judge, Patterns

NO_VALUE_EXISTS: Final[Any] = object()
"""The result if it is proven that there is no value."""

UNDECIDED: Final[Any] = object()
"""The result if neither a value nor a proof was found."""

_MOST_VALUES = 60
_MOST_PATTERNS = 4
_MOST_BUILT = 20
_MOST_CHARACTERS = 1000
_TEXTS: Final = ("", "a", "A1", "text", "!")
_LONGEST = 2**53  # no text or list in a computer is that long

EVERY_TYPE: Final = frozenset({"null", "boolean", "string", "array", "object", "integer", "number"})
"""The types of JSON; here, a `number` isn't an integer."""

PRESENT_KEY: Final = "(a key that is there)"
ABSENT_KEY: Final = "(a key that isn't there)"
NO_OBJECT: Final = "(no object)"
_FREE_KEYS: Final = ("other", "z", "key", "p", "k", "a1")
_CHOICES: Final = ("const", "enum")
FORMATS: Final = frozenset({"format", "contentEncoding", "contentMediaType", "contentSchema"})
_REST_ITEMS: Final = ("items", "unevaluatedItems")
_REST_KEYS: Final = ("additionalProperties", "unevaluatedProperties")
_OTHER_KEYS: Final = ("patternProperties", "propertyNames", *_REST_KEYS)
IN_PLACE: Final = ("$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas apply to the same value."""


class CasePart(NamedTuple):
    """One requirement for a value: to meet or to break a keyword or a schema.

    Attributes:
        document: 0 for the old document, 1 for the new one.
        schema: the schema in the document.
        keyword: the keyword of the schema; empty for the schema as a whole.
        is_met: whether the value has to fit it; otherwise it has to break it.
        key: the key, item or member of the keyword, if only one of them is meant.
    """

    document: int
    schema: Any
    keyword: str = ""
    is_met: bool = True
    key: Any = None

    @property
    def argument(self) -> Any:
        """The argument of the keyword."""
        return self.schema[self.keyword]

    def mark(self) -> tuple[Any, ...]:
        """Return a key that is equal for equal requirements."""
        return (self.document, id(self.schema), self.keyword, self.is_met, self.key)


class Search(Protocol):
    """The search for nested values.

    Attributes:
        judges: the judges of both documents.
        patterns: regular expressions that were prepared.
    """

    judges: list[Judge]
    patterns: Patterns

    def solve(self, asked: list[CasePart], types: frozenset[str] = ...) -> Any:
        """Return a value that meets or breaks some whole schemas, or why there is none."""

    def first(self, asked: list[CasePart], values: Iterable[Any], *, is_all: bool) -> Any:
        """Return the first of some values that meets all requirements, or why there is none."""

    def text(self, part: CasePart) -> str | None:
        """Return a text that is equal for equivalent schemas; None if they may depend on their documents."""

    def evaluated(self, part: CasePart, *, is_sure: bool) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return the keys that other keywords evaluate, for `unevaluatedProperties`."""


# --- values without nested values -----------------------------------------------------------------


def _one_of(values: list[Any]) -> Callable[[Search, list[CasePart], list[CasePart]], Any]:
    """Return a function that looks for a value of a type with only these values."""
    return lambda search, asked, _parts: search.first(asked, values, is_all=True)


def _end_number(search: Search, asked: list[CasePart], parts: list[CasePart], *, is_integer: bool) -> Any:
    span = _Span(parts)
    step = _common_step([Fraction(1)] if is_integer else [], parts)
    if span.is_empty or (not is_integer and step is not None and step.denominator == 1):
        return NO_VALUE_EXISTS
    broken = [_fraction(part.argument) for part in parts if part.keyword == "multipleOf" and not part.is_met]
    if step is not None and any(each and (step / each).denominator == 1 for each in broken):
        return NO_VALUE_EXISTS
    every = span.multiples(step)
    if every is not None:
        return search.first(asked, every, is_all=True)
    return search.first(asked, span.near(step), is_all=False)


def _end_string(search: Search, asked: list[CasePart], parts: list[CasePart]) -> Any:
    low, high = _size(parts, "minLength", "maxLength")
    if low > high or _contradict(parts, ("pattern", "format", "contentEncoding", "contentMediaType")):
        return NO_VALUE_EXISTS
    if high == 0:
        return search.first(asked, [""], is_all=True)
    found = [matching(part.argument) for part in parts if part.keyword == "pattern" and part.is_met]
    texts = [*[text for text in found if text is not None], *_TEXTS]
    if low < _MOST_CHARACTERS:
        sizes = [int(low), int(low) + 1, *([int(high)] if high < _MOST_CHARACTERS else [])]
        texts += [(text + (text[-1:] or "a") * size)[:size] for text in texts for size in sizes]
    return search.first(asked, texts, is_all=False)


# --- arrays ------------------------------------------------------------------------------------


def _end_array(search: Search, asked: list[CasePart], parts: list[CasePart]) -> Any:
    low, high = _size(parts, "minItems", "maxItems")
    if _contradict(parts, ("uniqueItems",)) or _repeats_contains(search, parts):
        return NO_VALUE_EXISTS
    wanted = [each for part in parts for each in _wanted_items(part)]
    rules = [part for part in parts if part.is_met]
    rules += [each for part in parts for each in _never(part)]
    low = max([low, *[each.least for each in wanted]])
    rest = max(
        [each.start for each in wanted] + [len(_first_items(part.schema)) for part in parts], default=0
    )
    places = [search.solve(_items_at(rules, index)) if index < high else None for index in range(rest + 1)]
    high = min([high, *[i for i, found in enumerate(places) if found is NO_VALUE_EXISTS]])
    if low > high:
        return NO_VALUE_EXISTS
    items: dict[int, Any] = {}
    for each in wanted:
        if each.item is not None and not _place_item(search, each, rules, rest, high, items):
            return NO_VALUE_EXISTS
    size = int(max([low, *[index + 1 for index in items]]))
    if size > _MOST_BUILT:
        return UNDECIDED
    made = [items.get(index, places[min(index, rest)]) for index in range(size)]
    if any(part.keyword == "uniqueItems" and not part.is_met for part in parts):
        made[1:2] = made[:1]
    is_made = not any(item is UNDECIDED for item in made)
    return search.first(asked, [made] if is_made else [], is_all=False)


def _place_item(
    search: Search, each: _Item, rules: list[CasePart], rest: int, high: float, items: dict[int, Any]
) -> bool:
    """Choose an index for an item, and note the item there; return whether this is possible."""
    assert each.item is not None  # noqa: S101  # whoever calls looks
    last = each.start if each.is_there else max(rest, each.start) + len(items)
    is_possible = False
    for index in range(each.start, last + 1):
        if index >= high:
            break
        found = search.solve([each.item, *_items_at(rules, index)])
        if found is NO_VALUE_EXISTS:
            continue
        is_possible = True
        if index not in items:
            items[index] = found
            break
    return is_possible


def _repeats_contains(search: Search, parts: list[CasePart]) -> bool:
    """Return whether `contains` has to be both met and broken."""
    texts: tuple[set[str], set[str]] = (set(), set())
    for part in parts:
        if part.keyword == "contains":
            text = search.text(CasePart(part.document, part.argument))
            limits = limits_of_contains(part.schema)
            texts[part.is_met].update([] if text is None else [f"{limits} {text}"])
    return bool(texts[0] & texts[1])


class _Item(NamedTuple):
    """An item that an array must contain.

    Attributes:
        start: the first possible index.
        least: the minimum number of items of the array with this item.
        item: the requirement for the item; None if only the number of items matters.
        is_there: whether the item must have exactly that index.
    """

    start: int
    least: int
    item: CasePart | None = None
    is_there: bool = False


def _wanted_items(part: CasePart) -> list[_Item]:
    """Return the items that an array needs to meet a requirement."""
    if part.keyword == "contains":
        least, most = limits_of_contains(part.schema)
        number = least if part.is_met else most + 1 if part.key == "many" else 0
        if number > _MOST_BUILT:
            return [_Item(0, _MOST_BUILT)]
        return [_Item(0, int(number), CasePart(part.document, part.argument))] * int(number)
    if part.is_met:
        return []
    if part.keyword == "uniqueItems":
        return [_Item(0, 2)]
    if part.keyword == "prefixItems":
        item = CasePart(part.document, part.argument[part.key], is_met=False)
        return [_Item(part.key, part.key + 1, item, is_there=True)]
    if part.keyword in _REST_ITEMS:
        start = len(_first_items(part.schema))
        return [_Item(start, start + 1, CasePart(part.document, part.argument, is_met=False))]
    return []


def _never(part: CasePart) -> list[CasePart]:
    """Return the requirements that no item may meet, so that `contains` is met or broken."""
    if part.keyword != "contains":
        return []
    least, most = limits_of_contains(part.schema)
    is_none = most == 0 if part.is_met else part.key == "few" and least == 1
    return [CasePart(part.document, part.schema, "contains", is_met=False, key="none")] if is_none else []


def limits_of_contains(schema: dict[str, Any]) -> tuple[float, float]:
    """Return the minimum and the maximum number of items that fit `contains`."""
    least, most = _fraction(schema.get("minContains", 1)), _fraction(schema.get("maxContains"))
    return 1 if least is None else math.ceil(least), math.inf if most is None else math.floor(most)


def _items_at(rules: list[CasePart], index: int) -> list[CasePart]:
    """Return the requirements for an item of an array."""
    found: list[CasePart] = []
    for part in rules:
        first = _first_items(part.schema)
        if part.keyword == "prefixItems" and index < len(first):
            found.append(CasePart(part.document, first[index]))
        elif part.keyword in _REST_ITEMS and index >= len(first) and _is_for_rest(part):
            found.append(CasePart(part.document, part.argument))
        elif part.key == "none":
            found.append(CasePart(part.document, part.argument, is_met=False))
    return found


def _is_for_rest(part: CasePart) -> bool:
    return part.keyword == "items" or part.schema.keys().isdisjoint((*IN_PLACE, "items", "contains"))


def _first_items(schema: dict[str, Any]) -> list[Any]:
    first = schema.get("prefixItems")
    return first if is_array(first) else []


# --- objects -----------------------------------------------------------------------------------


def _end_object(search: Search, asked: list[CasePart], parts: list[CasePart]) -> Any:
    keys = _Keys(search, parts)
    if keys.is_unreadable:
        return UNDECIDED
    low, high = _size(parts, "minProperties", "maxProperties")
    if not keys.present.isdisjoint(keys.absent) or max(low, len(keys.present)) > high:
        return NO_VALUE_EXISTS
    values = {key: search.solve(keys.rules(key)) for key in sorted(keys.names - keys.absent)}
    possible = {key: value for key, value in values.items() if value is not NO_VALUE_EXISTS}
    if not keys.present <= possible.keys():
        return NO_VALUE_EXISTS
    free = keys.free()
    if low > len(possible) and not free:
        return NO_VALUE_EXISTS
    found = {key: possible[key] for key in sorted(keys.present)}
    for part in parts:
        if not part.is_met and part.keyword in _OTHER_KEYS:
            options = [each for each in keys.options(part, possible) if len({*keys.present, each[0]}) <= high]
            if not options:
                return NO_VALUE_EXISTS
            found.update([min(options, key=lambda option: option[1] is UNDECIDED)])
    more = [*possible.items(), *[(key, value) for key, value in free if key is not None]]
    for key, value in more:
        if len(found) < low:
            found.setdefault(key, value)
    is_made = not any(key is None or value is UNDECIDED for key, value in found.items())
    return search.first(asked, [found] if is_made else [], is_all=False)


class _Keys:
    """The requirements for the keys of an object.

    Attributes:
        names: the keys that are named somewhere.
        present: the keys that the object must have.
        absent: the keys that it can't have.
        patterns: the expressions that keys are compared with.
        is_unreadable: whether there are too many expressions, or one can't be run.
    """

    def __init__(self, search: Search, parts: list[CasePart]) -> None:
        self.search = search
        self.parts = parts
        self.present = {part.key for part in parts if part.keyword == PRESENT_KEY}
        self.absent = {part.key for part in parts if part.keyword == ABSENT_KEY}
        self.names: set[str] = set()
        self.patterns: set[str] = set()
        for part in parts:
            self._note(part)
        self.names |= self.present | self.absent
        self.is_unreadable = len(self.patterns) > _MOST_PATTERNS or any(
            search.patterns.get(text) is None for text in self.patterns
        )
        self.limits = [part for part in parts if part.keyword == "propertyNames" and part.is_met]
        self.absent |= {key for key in self.names if not self._may_be_named(key)}

    def _note(self, part: CasePart) -> None:
        if part.keyword == "required" and part.is_met:
            self.present.update(part.argument if is_array(part.argument) else [])
        if part.keyword == "properties" and not part.is_met:
            self.present.add(part.key)
        if part.keyword in ("properties", *_OTHER_KEYS):
            names, patterns = self._own(part)
            self.names |= names
            self.patterns |= patterns
        if part.keyword == "propertyNames" and is_object(part.argument):
            choices = [part.argument["const"]] if "const" in part.argument else part.argument.get("enum")
            self.names |= {key for key in choices or () if isinstance(key, str)}

    def _own(self, part: CasePart) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names and expressions in a requirement itself."""
        if part.keyword == "unevaluatedProperties":
            found = self.search.evaluated(part, is_sure=not part.is_met)
            return (frozenset(), frozenset()) if found is None else found
        return named(part.schema, "properties"), named(part.schema, "patternProperties")

    def _may_be_named(self, key: str) -> bool:
        judges = self.search.judges
        return all(judges[part.document].fits(part.argument, key) is not False for part in self.limits)

    def matched(self, key: str) -> frozenset[str]:
        """Return the expressions that a key matches."""
        found = [(text, self.search.patterns.get(text)) for text in self.patterns]
        return frozenset([text for text, pattern in found if pattern is not None and pattern.search(key)])

    def rules(self, key: str | None, matched: frozenset[str] | None = None) -> list[CasePart]:
        """Return the requirements for the value of a key; None stands for a key without a name."""
        met = self.matched(key or "") if matched is None else matched
        found: list[CasePart] = []
        for part in self.parts:
            if part.keyword == "properties" and key is not None and key in part.argument:
                if part.is_met or part.key == key:
                    found.append(CasePart(part.document, part.argument[key], is_met=part.is_met))
            elif part.is_met and part.keyword == "patternProperties":
                found += [
                    CasePart(part.document, part.argument[text])
                    for text in sorted(met & part.argument.keys())
                ]
            elif part.is_met and part.keyword in _REST_KEYS and self._is_for(part, key, met):
                found.append(CasePart(part.document, part.argument))
        return found

    def _is_for(self, part: CasePart, key: str | None, matched: frozenset[str]) -> bool:
        """Return whether a requirement applies to a key because no other keyword does."""
        if (
            part.keyword == "unevaluatedProperties"
            and self.search.evaluated(part, is_sure=not part.is_met) is None
        ):
            return False
        names, patterns = self._own(part)
        return key not in names and matched.isdisjoint(patterns)

    def free(self, wanted: CasePart | None = None) -> list[tuple[str | None, Any]]:
        """Return keys without a name that an object may have, with their values.

        Args:
            wanted: the requirements that such a key has to break.

        Returns:
            None in place of a key if nothing is known about it except that it may exist.
        """
        names = self._free_names(wanted)
        found: list[tuple[str | None, Any]] = []
        for size in range(len(self.patterns) + 1) if names is not None else ():
            for matched in map(frozenset, combinations(sorted(self.patterns), size)):
                rules = self.rules(None, matched)
                if wanted is not None and wanted.keyword != "propertyNames":
                    if not self._is_option(wanted, None, matched):
                        continue
                    rules.append(_broken(wanted))
                value = self.search.solve(rules)
                if value is not NO_VALUE_EXISTS:
                    key = next((each for each in names or () if self.matched(each) == matched), None)
                    found.append((key, UNDECIDED if key is None else value))
        return found

    def _free_names(self, wanted: CasePart | None) -> list[str] | None:
        """Return some keys that no schema names; None if an object can't have such a key."""
        arguments = [part.argument for part in self.limits]
        if any(is_object(each) and not each.keys().isdisjoint(_CHOICES) for each in arguments):
            return None
        asked = [CasePart(part.document, part.argument) for part in self.limits]
        if wanted is not None and wanted.keyword == "propertyNames":
            asked.append(CasePart(wanted.document, wanted.argument, is_met=False))
        known = self.search.solve(asked, frozenset({"string"}))
        if known is NO_VALUE_EXISTS:
            return None
        candidates = [known, *_FREE_KEYS, *map(matching, self.patterns)]
        judges = self.search.judges
        return [
            key
            for key in candidates
            if isinstance(key, str)
            and key not in self.names
            and all(judges[each.document].fits(each.schema, key) is each.is_met for each in asked)
        ]

    def _is_option(self, part: CasePart, key: str | None, matched: frozenset[str]) -> bool:
        if part.keyword == "patternProperties":
            return part.key in matched
        return self._is_for(part, key, matched)

    def options(self, part: CasePart, possible: Mapping[str, Any]) -> list[tuple[str | None, Any]]:
        """Return keys, with their values, that break a requirement."""
        found: list[tuple[str | None, Any]] = []
        judge = self.search.judges[part.document]
        for key, value in possible.items():
            if part.keyword == "propertyNames":
                if judge.fits(part.argument, key) is not True:
                    found.append((key, value))
            elif self._is_option(part, key, self.matched(key)):
                found.append((key, self.search.solve([_broken(part), *self.rules(key)])))
        return [each for each in found if each[1] is not NO_VALUE_EXISTS] + self.free(part)


def _broken(part: CasePart) -> CasePart:
    """Return the requirements for the value of a key that breaks a requirement."""
    inner = part.argument if part.key is None else part.argument[part.key]
    return CasePart(part.document, inner, is_met=False)


def named(schema: dict[str, Any], keyword: str) -> frozenset[str]:
    """Return the names for which a keyword has schemas."""
    found = schema.get(keyword)
    return frozenset(found) if is_object(found) else frozenset()


ENDS: Final[Mapping[str, Callable[[Search, list[CasePart], list[CasePart]], Any]]] = {
    "null": _one_of([None]),
    "boolean": _one_of([True, False]),
    "integer": partial(_end_number, is_integer=True),
    "number": partial(_end_number, is_integer=False),
    "string": _end_string,
    "array": _end_array,
    "object": _end_object,
}
"""The functions that look for values of each type."""


# --- requirements ---------------------------------------------------------------------------------


def about(parts: list[CasePart], json_type: str) -> list[CasePart]:
    """Return the requirements that apply to values of a type."""
    marked = (PRESENT_KEY, ABSENT_KEY) if json_type == "object" else ()
    return [
        part
        for part in parts
        if part.keyword in marked or (part.keyword in KEYWORDS and json_type in KEYWORDS[part.keyword].of)
    ]


def _contradict(parts: list[CasePart], keywords: tuple[str, ...]) -> bool:
    """Return whether a keyword has to be both met and broken with the same argument."""
    texts: tuple[set[str], set[str]] = (set(), set())
    for part in parts:
        if part.keyword in keywords:
            texts[part.is_met].add(f"{part.keyword} {same_text(part.argument)}")
    return bool(texts[0] & texts[1]) or "uniqueItems False" in texts[0]


def _fraction(value: Any) -> Fraction | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    # In decimal form: the float 0.3 isn't exactly three times the float 0.1.
    return Fraction(repr(value)) if isinstance(value, float) and math.isfinite(value) else None


def _size(parts: list[CasePart], least: str, most: str) -> tuple[float, float]:
    """Return the minimum and the maximum length that some requirements allow."""
    low, high = 0, _LONGEST
    for part in parts:
        limit = _fraction(part.argument) if part.keyword in (least, most) else None
        if limit is None:
            continue
        if (part.keyword == least) is part.is_met:
            low = max(low, math.ceil(limit) if part.is_met else math.floor(limit) + 1)
        else:
            high = min(high, math.floor(limit) if part.is_met else math.ceil(limit) - 1)
    return low, high


def _common_step(steps: list[Fraction], parts: list[CasePart]) -> Fraction | None:
    """Return the least common multiple of the steps of numbers; None if there are none."""
    for part in parts:
        step = _fraction(part.argument) if part.keyword == "multipleOf" and part.is_met else None
        if step is not None and step > 0:
            steps.append(step)
    if not steps:
        return None
    return Fraction(
        math.lcm(*[each.numerator for each in steps]), math.gcd(*[each.denominator for each in steps])
    )


class _Span:
    """The range of a number.

    Args:
        parts: the keywords that limit the number.
    """

    def __init__(self, parts: list[CasePart]) -> None:
        self.low: tuple[Fraction, bool] | None = None
        self.high: tuple[Fraction, bool] | None = None
        for part in parts:
            limit = _fraction(part.argument) if part.keyword in _BOUNDS else None
            if limit is not None:
                is_low, is_open = _BOUNDS[part.keyword]
                self._narrow(limit, is_low=is_low is part.is_met, is_open=is_open is part.is_met)

    def _narrow(self, limit: Fraction, *, is_low: bool, is_open: bool) -> None:
        if is_low and (self.low is None or (limit, is_open) > self.low):
            self.low = (limit, is_open)
        if not is_low and (self.high is None or (limit, not is_open) < (self.high[0], not self.high[1])):
            self.high = (limit, is_open)

    @property
    def is_empty(self) -> bool:
        """Whether the range contains no number."""
        if self.low is None or self.high is None:
            return False
        is_point = self.low[0] == self.high[0]
        return self.low[0] > self.high[0] or (is_point and (self.low[1] or self.high[1]))

    def has(self, number: Fraction) -> bool:
        """Return whether the range contains a number."""
        is_above = self.low is None or number > self.low[0] or (number == self.low[0] and not self.low[1])
        is_below = self.high is None or number < self.high[0] or (number == self.high[0] and not self.high[1])
        return is_above and is_below

    def multiples(self, step: Fraction | None) -> list[float] | None:
        """Return all multiples in the range; None if there are too many."""
        if self.low is None or self.high is None:
            return None
        if self.low[0] == self.high[0]:
            return [plain_number(self.low[0])]
        if step is None or (self.high[0] - self.low[0]) / step > _MOST_VALUES:
            return None
        first = math.ceil(self.low[0] / step)
        last = math.floor(self.high[0] / step)
        return [plain_number(step * count) for count in range(first, last + 1) if self.has(step * count)]

    def near(self, step: Fraction | None) -> list[float]:
        """Return numbers in the range that are near its ends, and near 0."""
        unit = step or Fraction(1, 2)
        ends = [end[0] for end in (self.low, self.high) if end is not None]
        middle = [(ends[0] + ends[1]) / 2] if len(ends) == 2 and step is None else []  # noqa: PLR2004  # both ends
        near: list[Fraction] = [*middle, *ends] if step is None else []
        near += [(end // unit + count) * unit for end in [*ends, Fraction(0)] for count in (0, 1, -1, 2, -2)]
        return [plain_number(number) for number in dict.fromkeys(near) if self.has(number)]


_BOUNDS: Final = {
    "minimum": (True, False),
    "exclusiveMinimum": (True, True),
    "maximum": (False, False),
    "exclusiveMaximum": (False, True),
}
"""For each keyword of a bound: whether it is a lower bound, and whether it excludes the bound itself."""
