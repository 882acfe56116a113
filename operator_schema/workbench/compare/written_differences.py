"""Where do two schemas differ in their written form, even if the same values fit?

Both documents are followed together, through their references, and each keyword that differs is listed with
the path of its values. There is no difference only if both have the same text.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...engine import DEFINITIONS, KEYWORDS, resolve_pointer
from ...json_values import is_array, is_object
from ...sameness import same_text
from .containment import NO_VALUE

if TYPE_CHECKING:
    from collections.abc import Mapping

    Path = tuple[str | int, ...]

_MOST_STEPS = 20_000
_MOST_REFERENCES = 20
_MEMBERS: Final = frozenset(name for name, row in KEYWORDS.items() if row.holds in ("schemas", "either"))
_PLACED: Final = frozenset({"items", "prefixItems"})
_OF_OBJECTS: Final = ("patternProperties", "additionalProperties", "unevaluatedProperties")
_EACH: Final = frozenset({*_OF_OBJECTS, "items", "additionalItems", "unevaluatedItems", "contains"})


class Difference(NamedTuple):
    """A keyword that two documents write differently.

    Attributes:
        path: the path of its values; `*` for any key or index.
        keyword: the name of the keyword; empty if only the documents as a whole differ, such as in names of
            definitions.
        before: its value in the old document, or `NO_VALUE`.
        after: its value in the new one, or `NO_VALUE`.
    """

    path: Path
    keyword: str
    before: Any
    after: Any

    @property
    def is_order(self) -> bool:
        """Whether only the order of a list differs."""
        if not is_array(self.before) or not is_array(self.after):
            return False
        return sorted(map(same_text, self.before)) == sorted(map(same_text, self.after))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """List where two documents differ as they are written.

    Args:
        old: a JSON Schema document.
        new: the document that replaces it.

    Returns:
        An empty list only if both have the same text; the order of keys doesn't matter. For documents that
        are too large, only the first differences.
    """
    if same_text(old) == same_text(new):
        return []
    walk = _Walk(old, new)
    with suppress(RecursionError):  # the differences so far are correct
        walk.at(old, new, ())
    return walk.found or [Difference((), "", NO_VALUE, NO_VALUE)]


class _Walk:
    """One walk through two documents.

    Attributes:
        found: the differences.
        met: the pairs of schemas that were compared.
    """

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self.documents = (old, new)
        self.found: list[Difference] = []
        self.met: dict[tuple[int, int], tuple[Any, Any]] = {}

    def at(self, one: Any, other: Any, path: Path) -> None:
        """Compare a schema of each document."""
        pair = (id(one), id(other))
        if pair in self.met or len(self.met) >= _MOST_STEPS:
            return
        self.met[pair] = (one, other)
        if not is_object(one) or not is_object(other):
            self._value(path, "", one, other)
            return
        before, after = (_whole(*each) for each in zip(self.documents, (one, other), strict=True))
        for keyword in dict.fromkeys([*before, *after]):
            if keyword not in DEFINITIONS:
                self._keyword(path, keyword, before.get(keyword, NO_VALUE), after.get(keyword, NO_VALUE))

    def _keyword(self, path: Path, keyword: str, before: Any, after: Any) -> None:
        holds = KEYWORDS[keyword].holds if keyword in KEYWORDS else "value"
        if keyword == "required":
            self._required(path, before, after)
        elif holds == "value":
            self._value(path, keyword, before, after)
        elif is_object(before) and is_object(after):
            if holds == "named":
                self._by_name(path, keyword, before, after)
            else:
                self.at(before, after, (*path, *_step(keyword)))
        elif keyword in _MEMBERS and is_array(before) and is_array(after):
            self._members(path, keyword, before, after)
        else:
            self._value(path, keyword, before, after)

    def _required(self, path: Path, before: Any, after: Any) -> None:
        """Compare the lists of required keys, key by key."""
        lists: list[list[Any]] = [each if is_array(each) else [] for each in (before, after)]
        keys = list(dict.fromkeys(map(str, (*lists[0], *lists[1]))))
        odd = [key for key in keys if (key in lists[0]) != (key in lists[1])]
        for key in odd:
            self._value((*path, key), "required", key in lists[0], key in lists[1])
        if not odd:
            self._value(path, "required", before, after)

    def _by_name(self, path: Path, keyword: str, before: dict[str, Any], after: dict[str, Any]) -> None:
        for name in dict.fromkeys([*before, *after]):
            place = (*path, *_step(keyword, name))
            if name in before and name in after:
                self.at(before[name], after[name], place)
            else:
                self._value(place, keyword, before.get(name, NO_VALUE), after.get(name, NO_VALUE))

    def _members(self, path: Path, keyword: str, before: list[Any], after: list[Any]) -> None:
        """Compare lists of schemas: first pair schemas with equal texts, then the others by their order."""
        is_placed = keyword in _PLACED
        mine, theirs = list(before), list(after)
        if not is_placed:
            if Difference(path, keyword, before, after).is_order:
                self._value(path, keyword, before, after)
                mine, theirs = sorted(mine, key=same_text), sorted(theirs, key=same_text)
            else:
                mine, theirs = _left_out(before, after), _left_out(after, before)
        for index, pair in enumerate(zip(mine, theirs, strict=False)):
            self.at(*pair, (*path, index) if is_placed else path)
        for index in range(min(len(mine), len(theirs)), max(len(mine), len(theirs))):
            place = (*path, index) if is_placed else path
            sides = [each[index] if index < len(each) else NO_VALUE for each in (mine, theirs)]
            self._value(place, keyword, *sides)
        if not is_placed:  # the schemas that they refer to may differ
            texts = {same_text(each): each for each in after}
            for each in before:
                if same_text(each) in texts:
                    self.at(each, texts[same_text(each)], path)

    def _value(self, path: Path, keyword: str, before: Any, after: Any) -> None:
        if before is after or (NO_VALUE not in (before, after) and same_text(before) == same_text(after)):
            return
        self.found.append(Difference(path, keyword, before, after))


def _step(keyword: str, name: str = "") -> Path:
    """Return the place of the values that the schemas under a keyword apply to."""
    return (name,) if keyword == "properties" else ("*",) if keyword in _EACH else ()


def _left_out(schemas: list[Any], others: list[Any]) -> list[Any]:
    """Return the schemas whose text is not among some others."""
    texts = {same_text(each) for each in others}
    return [each for each in schemas if same_text(each) not in texts]


def _whole(document: Mapping[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the schema that it refers to in place of the reference."""
    for _ in range(_MOST_REFERENCES):
        target = resolve_pointer(document, schema["$ref"]) if "$ref" in schema else None
        if target is None or not is_object(target[1]):
            break
        schema = {**target[1], **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema
