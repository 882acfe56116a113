"""Which keywords that no graph can contain, such as `not`, are stricter in a new document?

Both documents are followed together, from their roots. For each schema of the new document there are schemas
of the old one that every value of its place fits. A keyword is kept if one of these says the same, or if it
is proven that their values fit it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...engine import (
    DEFINITIONS,
    KEYWORDS,
    is_old,
    resolve_pointer,
    step,
    subschemas,
)
from ...json_values import is_array, is_object
from ...sameness import is_same_json
from .containment import NO_VALUE, Escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...findings import Finding

    Path = tuple[str | int, ...]

_MOST_NOTED = 100
_MOST_STEPS = 20_000
_MOST_IMPOSED = 50
_MOST_DEPTH = 60
_NAMES: Final = ("properties", "patternProperties")
_ITEMS: Final = ("items", "prefixItems", "additionalItems")
_TOGETHER: Final[Mapping[str, tuple[str, ...]]] = {
    "if": ("if", "then", "else"),
    "contains": ("contains", "minContains", "maxContains"),
    "items": _ITEMS,
    "prefixItems": _ITEMS,
    "additionalItems": _ITEMS,
    "minimum": ("minimum", "exclusiveMinimum"),
    "maximum": ("maximum", "exclusiveMaximum"),
}
"""Keywords that only have a meaning together."""

_AS_A_WHOLE: Final = frozenset({"", "$id", "$ref", "type", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords whose meaning depends on everything beside them, or isn't known."""

_UNREAD: Final = frozenset(
    name
    for name, row in KEYWORDS.items()
    if row.holds != "value" and (not row.in_graph or row.says in ("beside", "format"))
)
"""Keywords whose schemas aren't read: they are noted at their place."""

_FAR: Final = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"})
"""Keywords by which a reference has another meaning in another document."""

_STEPS_OF_PROOF = 200
_MOST_PROOFS = 30

_MEMBERS: Final = ("anyOf", "oneOf")


def unkept(old: Mapping[str, Any], new: Mapping[str, Any], left: Iterable[Finding]) -> list[Escape]:
    """List the rules of the new document that its graph doesn't contain, and that the old one doesn't have.

    Args:
        old: a JSON Schema document.
        new: the document that replaces it.
        left: the keywords that the graph of the new document doesn't contain.

    Returns:
        Keywords, and formats, which no graph checks, all without a value. If there are none, each value of
        the old document that the graph of the new one accepts is a value of the new document.
    """
    notes = list(left)
    if not notes and not _has_format(new):
        return []
    walk = _KeywordComparison(old, new, notes)
    try:
        # A document of an old draft, which can't be rewritten, is read in another way.
        walk.at(new, "", (), [] if is_old(dict(old)) or is_old(dict(new)) else [old])
    except RecursionError:
        walk.steps = -1
    return walk.result()


def _has_format(schema: Any) -> bool:
    if is_array(schema):
        return any(map(_has_format, schema))
    return is_object(schema) and ("format" in schema or any(map(_has_format, schema.values())))


class _KeywordComparison:
    """One comparison.

    Attributes:
        found: the keywords that aren't kept, by place and keyword.
        steps: the number of steps that are left.
        proofs: the number of proofs that may still be tried.
    """

    def __init__(self, old: Mapping[str, Any], new: Mapping[str, Any], notes: list[Finding]) -> None:
        self.old = old
        self.new = new
        self.notes = notes
        self.by_place: dict[str, list[Finding]] = {}
        for note in notes:
            self.by_place.setdefault(str(note.where).removeprefix("#"), []).append(note)
        self.found: dict[tuple[str, str], Escape] = {}
        self.steps = _MOST_STEPS
        self.proofs = _MOST_PROOFS
        self.met: set[tuple[int, tuple[int, ...]]] = set()
        self.same: dict[tuple[int, int], tuple[Any, Any, bool]] = {}

    def result(self) -> list[Escape]:
        """Return the keywords that aren't kept."""
        if self.steps < 0 or len(self.notes) >= _MOST_NOTED:
            self._add((), "", "", "there is too much in it to be compared")
        return list(self.found.values())

    def _add(self, path: Path, where: str, keyword: str, after: str, before: str = "not the same") -> None:
        """Note a keyword that isn't kept, once for each of its places in the document."""
        escape = Escape(path, keyword or "schema", before, after, NO_VALUE)
        self.found.setdefault((where, keyword), escape)

    # --- a schema of the new document --------------------------------------------------------------

    def at(self, schema: Any, where: str, path: Path, imposed: list[Any]) -> None:
        """Compare a schema of the new document.

        Args:
            schema: a schema of the new document.
            where: the JSON pointer to it.
            path: the path of its values.
            imposed: the schemas of the old document that each of its values fits.
        """
        self.steps -= 1
        known = (id(schema), tuple(map(id, imposed)))
        if len(path) > _MOST_DEPTH:
            self.steps = -1
        if self.steps < 0 or known in self.met:
            return
        self.met.add(known)
        before = self.spread(imposed)
        if any(self.are_same(each, schema) for each in before):
            return
        for note in self.by_place.get(where, ()):
            if not any(self.is_kept(note.keyword or "", each, schema) for each in before):
                self._add(path, where, note.keyword or "", note.message)
        if is_object(schema):
            self._format(schema, where, path, before)
            self._nested_schemas(schema, where, path, before)

    def _format(self, schema: dict[str, Any], where: str, path: Path, before: list[Any]) -> None:
        said = schema.get("format")
        formats = [each.get("format") for each in before if is_object(each)]
        if isinstance(said, str) and said not in formats:
            former = next((str(each) for each in formats if each is not None), "none")
            self._add(path, where, "format", said, former)

    def _nested_schemas(self, schema: dict[str, Any], where: str, path: Path, before: list[Any]) -> None:
        """Compare the schemas inside a schema."""
        found = _referred(self.new, schema)
        if found is not None:
            self.at(found[1], found[0], path, before)
        for keyword in _MEMBERS:
            if keyword in schema and keyword not in _UNREAD:
                self._union(keyword, schema, where, path, before)
        for steps, inner in subschemas(schema):
            keyword = steps[0]
            place = step(where, *steps)
            if keyword in _UNREAD or keyword in DEFINITIONS or keyword in _MEMBERS:
                continue
            if keyword == "allOf":
                self.at(inner, place, path, before)
            elif keyword in KEYWORDS:
                below = [found for each in before for found in _below(steps, schema, each)]
                self.at(inner, place, (*path, *_value_step(steps)), below[:_MOST_IMPOSED])

    def _union(self, keyword: str, schema: dict[str, Any], where: str, path: Path, before: list[Any]) -> None:
        """Compare alternatives, unless the new document has each alternative of an old schema, too."""
        members: list[Any] = schema[keyword] if is_array(schema[keyword]) else []
        unions = [each.get(name) for each in before if is_object(each) for name in _MEMBERS]
        if not any(is_array(union) and self._has_each(members, union) for union in unions):
            for index, member in enumerate(members):
                self.at(member, step(where, keyword, str(index)), path, before)

    def _has_each(self, members: list[Any], union: list[Any]) -> bool:
        return bool(union) and all(any(self.are_same(each, member) for member in members) for each in union)

    # --- schemas of the old document ---------------------------------------------------------------

    def spread(self, schemas: list[Any]) -> list[Any]:
        """Return schemas with all schemas that they refer to and that have to fit as well."""
        found: dict[int, Any] = {}
        pending = list(schemas)
        while pending and len(found) < _MOST_IMPOSED:
            each = pending.pop(0)
            if id(each) in found:
                continue
            found[id(each)] = each
            if is_object(each):
                pending += self._also(each)
        return [each for each in found.values() if is_object(each) or each is False]

    def _also(self, schema: dict[str, Any]) -> Iterator[Any]:
        target = _referred(self.old, schema)
        if target is not None:
            yield target[1]
        if is_array(schema.get("allOf")):
            yield from schema["allOf"]

    # --- equal meaning -------------------------------------------------------------------------------

    def is_kept(self, keyword: str, before: Any, after: Any) -> bool:
        """Return whether a keyword in a schema of the old document is equally strict, or stricter."""
        if not is_object(before) or not is_object(after):
            return False
        if keyword == "$id":
            before, after = ({name: each[name] for name in each if name != "$id"} for each in (before, after))
            return not _references([before, after]) and self.is_within(before, after)
        if keyword in _AS_A_WHOLE:
            return self.is_within(before, after)
        names = _TOGETHER.get(keyword, (keyword,))
        mine, theirs = ({name: each[name] for name in names if name in each} for each in (before, after))
        is_about_others = keyword == "additionalProperties"
        if (
            mine
            and (not is_about_others or _names_less(before, after))
            and self._are_same(mine, theirs, set())
        ):
            return True
        if is_about_others:  # the schemas of its names are compared elsewhere
            named = {name: after[name] for name in _NAMES if is_object(after.get(name))}
            theirs |= {name: dict.fromkeys(each, True) for name, each in named.items()}
        return self.is_within(before, theirs)

    def are_same(self, before: Any, after: Any) -> bool:
        """Return whether a schema of the old document and one of the new one mean the same, as written."""
        key = (id(before), id(after))
        if key not in self.same:
            self.same[key] = (before, after, self._are_same(before, after, set()))
        return self.same[key][2]

    def _are_same(self, before: Any, after: Any, assumed: set[tuple[int, int]]) -> bool:
        before, after = _target(self.old, before), _target(self.new, after)
        key = (id(before), id(after))
        if key in assumed:
            return True
        assumed.add(key)
        self.steps -= 1
        if self.steps < 0 or not is_object(before) or not is_object(after):
            return self.steps >= 0 and is_same_json(before, after)
        names = [{name for name in each if _says(name)} for each in (before, after)]
        if names[0] != names[1]:
            return False
        if names[0] & _FAR:
            return is_same_json(before, after) and not _references(before)
        return all(self._say_the_same(name, before[name], after[name], assumed) for name in names[0])

    def _say_the_same(self, name: str, before: Any, after: Any, assumed: set[tuple[int, int]]) -> bool:
        if name == "$ref":
            targets = [resolve_pointer(*each) for each in ((self.old, before), (self.new, after))]
            if targets[0] is None or targets[1] is None:
                return False
            return self._are_same(targets[0][1], targets[1][1], assumed)
        holds = KEYWORDS[name].holds if name in KEYWORDS else "value"
        if holds in ("schemas", "either") and is_array(before) and is_array(after):
            pairs = list(zip(before, after, strict=False))
            return len(before) == len(after) and all(self._are_same(*each, assumed) for each in pairs)
        if holds == "named" and is_object(before) and is_object(after) and before.keys() == after.keys():
            return all(self._are_same(before[key], after[key], assumed) for key in before)
        if holds in ("schema", "either"):
            return self._are_same(before, after, assumed)
        return is_same_json(before, after)

    def is_within(self, before: Any, after: Any) -> bool:
        """Return whether it is proven that every value of an old schema fits a new one."""
        if self.are_same(before, after):
            return True
        one, other = _part(self.old, before), _part(self.new, after)
        self.proofs -= 1
        self.steps -= _STEPS_OF_PROOF
        if one is None or other is None or self.steps < 0 or self.proofs < 0:
            return False
        from .case_values import NO_VALUE_EXISTS
        from .counterexamples import difference  # most comparisons need no proof

        return difference(one, other) is NO_VALUE_EXISTS


def _referred(document: Mapping[str, Any], schema: Any) -> tuple[str, Any] | None:
    """Return the schema that a reference leads to, after its pointer; None if there is none."""
    return resolve_pointer(document, schema["$ref"]) if is_object(schema) and "$ref" in schema else None


def _target(document: Mapping[str, Any], schema: Any) -> Any:
    """Return the target of a schema that is only a reference."""
    for _ in range(_MOST_IMPOSED):
        found = _referred(document, schema)
        if found is None or any(_says(name) for name in schema if name != "$ref"):
            break
        schema = found[1]
    return schema


def _says(keyword: str) -> bool:
    """Return whether a keyword decides which values fit, or may do so."""
    row = KEYWORDS.get(keyword)
    return row is None or (row.says not in ("note", "name") or keyword in _FAR)


def _part(document: Mapping[str, Any], schema: Any) -> dict[str, Any] | None:
    """Return a schema of a document as a separate document; None if it refers to more than definitions."""
    found: dict[str, Any] = schema if is_object(schema) else {} if schema is True else {"not": {}}
    if any(name in found for name in (*DEFINITIONS, *_FAR)):
        return None
    definitions = {name: document[name] for name in DEFINITIONS if name in document}
    starts = tuple(f"#/{name}/" for name in definitions)
    if not all(starts and each.startswith(starts) for each in _references([found, definitions])):
        return None
    return {**found, **definitions}


def _below(steps: tuple[str, ...], schema: dict[str, Any], before: Any) -> list[Any]:
    """Return the schemas in an old schema that apply to all values of a nested schema of the new document.

    Args:
        steps: the steps from the schema of the new document to the nested one.
        schema: the schema of the new document.
        before: the schema of the old document.
    """
    if not is_object(before):
        return []
    keyword = steps[0]
    if keyword in _ITEMS:
        return _below_items(steps, schema, before)
    if keyword == "additionalProperties":
        return [before[keyword]] if keyword in before and _names_less(before, schema) else []
    if keyword in _NAMES:
        named = before.get(keyword)
        if is_object(named) and steps[1] in named:
            return [named[steps[1]]]
        is_rest = keyword == "properties" and "patternProperties" not in before
        return [before["additionalProperties"]] if is_rest and "additionalProperties" in before else []
    return [before[keyword]] if keyword in before else []


def _below_items(steps: tuple[str, ...], schema: dict[str, Any], before: dict[str, Any]) -> list[Any]:
    mine, theirs = _first_items(schema), _first_items(before)
    rest = before.get("additionalItems" if is_array(before.get("items")) else "items")
    if len(steps) > 1:
        index = int(steps[1])
        if index < len(theirs):
            return [theirs[index]]
        return [] if rest is None else [rest]
    return [] if rest is None or len(theirs) > len(mine) else [rest]


def _first_items(schema: dict[str, Any]) -> list[Any]:
    first = schema["items"] if is_array(schema.get("items")) else schema.get("prefixItems")
    return first if is_array(first) else []


def _names_less(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether each key that an old schema names has a name in the new one."""
    for keyword in _NAMES:
        mine, theirs = (each.get(keyword, {}) for each in (before, after))
        if not is_object(mine) or not is_object(theirs) or not mine.keys() <= theirs.keys():
            return False
    return True


def _value_step(steps: tuple[str, ...]) -> Path:
    """Return the place of the values for some steps inside a schema."""
    keyword = steps[0]
    if keyword == "properties":
        return steps[1:]
    if keyword in _ITEMS and len(steps) > 1:
        return tuple(map(int, steps[1:]))
    return () if keyword == "propertyNames" else ("*",)


def _references(value: Any) -> list[str]:
    """List the references in a schema."""
    if is_array(value):
        return [each for inner in value for each in _references(inner)]
    if not is_object(value):
        return []
    own = [str(value[name]) for name in ("$ref", "$dynamicRef", "$recursiveRef") if name in value]
    return [*own, *[each for inner in value.values() for each in _references(inner)]]
