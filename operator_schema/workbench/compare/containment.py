"""Is every value of one graph a value of another one, and which values aren't?

Both graphs are followed together. Each place where a value of the first graph may not fit the second is an
`Escape`, with the smallest value that shows it, if one is known. If there are no escapes, it is proven that
the second graph accepts every value of the first.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...engine import (
    NO_EXAMPLE,
    AnyNode,
    ArrayNode,
    Constraints,
    EnumNode,
    Graph,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
    bounds_of,
    example_of,
    expected,
    flat_members,
    json_types_of,
)
from ...json_values import choice_key
from ...message_text import excerpt, quote
from .scalar_samples import is_inside, is_value, limits_on, numbers_near, range_of, samples, step_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ...engine import Field, Node

    Path = tuple[str | int, ...]

NEW_KEY: Final = "new_key"
"""The code for a key that the first graph doesn't name and ignores, and the second one names."""


class _NoValue:
    """The class of `NO_VALUE`, which stays one object in copies and pickles."""

    def __reduce__(self) -> str:
        return "NO_VALUE"

    def __repr__(self) -> str:
        return "no value"


NO_VALUE: Final[Any] = _NoValue()
"""Stands for the value of an escape if no example is known."""

ABSENT: Final = "not there"
"""The text for a key that a graph doesn't name."""

UNKNOWN_KEY: Final = "unknown_key"
"""The unknown key in a witness, if unknown keys are refused."""

_MOST_SPLIT = 20
_MOST_ITEMS = 100
_MOST_PAIRS = 100_000
_MOST_LENGTHS = 10
_LONGEST = 10_000
_UNUSUAL_TEXTS: Final = ("\0", "(", "http://a", "A:1", "2025-01-31", "2025-01-31T12:00:00Z", "12:00:00Z")
"""Texts that few types accept."""

_OTHER_VALUES: Final[tuple[Any, ...]] = ("text", 0, 0.5, True, None, [], {})
"""One value of each JSON type."""


class Escape(NamedTuple):
    """A place where a value of the first graph may not be a value of the second.

    Attributes:
        path: keys and indexes that lead to the place.
        code: the kind of difference, such as `required` or `minimum`.
        before: the first graph there, in words.
        after: the second graph there, in words.
        value: a value of the whole that shows the difference, or `NO_VALUE` if none is known.
    """

    path: Path
    code: str
    before: str
    after: str
    value: Any

    def inside(self, step: str | int, value: Any) -> Escape:
        """Return the escape relative to the value around it.

        Args:
            step: the key or index from the outer value to the inner one.
            value: the outer value, with the present one in it; `NO_VALUE` if none is known.
        """
        return self._replace(path=(step, *self.path), value=value)


def escapes(first: Graph, second: Graph) -> list[Escape]:
    """List the places where a value of one graph may not be a value of another one.

    Args:
        first: the graph of the values.
        second: the graph that has to accept them.

    Returns:
        An empty list if the second graph accepts every value of the first. A key that the first graph ignores
        and the second one names is an escape with the code `NEW_KEY`.
    """
    return _Comparison(first, second).compare(first.root, second.root)


class _Comparison:
    """One comparison.

    Attributes:
        assumed: pairs of nodes for which it is assumed that the second accepts every value of the first,
            since their comparison is under way. Values are finite, so the assumption is sound one level
            below.
        failed: the other pairs that were compared, with their escapes.
        left: the number of pairs that may still be compared.
    """

    def __init__(self, first: Graph, second: Graph) -> None:
        self.first = first
        self.second = second
        self.assumed: dict[tuple[int, int], tuple[Node, Node]] = {}
        self.failed: dict[tuple[int, int], tuple[Node, Node, list[Escape]]] = {}
        self.left = _MOST_PAIRS

    def fits(self, other: Node, value: Any) -> bool:
        """Return whether a JSON value is a value of a node of the second graph."""
        return value is NO_VALUE or is_value(other, self.second.definitions, value)

    def compare(self, one: Node, other: Node) -> list[Escape]:
        """List where a value of the first node may not be one of the second."""
        found: list[Escape] = []
        others = flat_members(other, self.second.definitions)
        for member in flat_members(one, self.first.definitions):
            found += self._of_member(member, others)
        return found

    def _of_member(self, one: Node, others: list[Node]) -> list[Escape]:
        if any(isinstance(other, AnyNode) for other in others):
            return []
        choices = _values_of(one)
        if choices is not None:
            return self._of_choices(choices, others)
        if len(others) == 1:
            return self._of_pair(one, others[0])
        attempts = [self._attempt(one, other) for other in others if self._may_meet(one, other)]
        enough = [attempt for attempt in attempts if _is_within(attempt)]
        if enough:
            return min(enough, key=len)
        parts = _split(one, others)
        if parts:
            return list(chain.from_iterable(self._of_member(part, others) for part in parts))
        if not attempts:
            return self._refused(one, others)
        return self._beyond_all(min(attempts, key=len), one, others)

    def _beyond_all(self, found: list[Escape], one: Node, others: list[Node]) -> list[Escape]:
        """Return the escapes from one of several nodes, without the values that another node accepts."""
        kept = [
            escape._replace(value=NO_VALUE)
            if any(self.fits(other, escape.value) for other in others)
            else escape
            for escape in found
        ]
        if isinstance(one, ScalarNode) and all(escape.value is NO_VALUE for escape in kept):
            scalars = [node for node in others if isinstance(node, ScalarNode)]
            values = samples(one, *[node for node in scalars if node.type != "string" != one.type])
            outside = (each for each in values if not any(self.fits(other, each) for other in others))
            kept[0] = kept[0]._replace(value=next(outside, NO_VALUE))
        return kept

    def _attempt(self, one: Node, other: Node) -> list[Escape]:
        """Compare with one of several nodes; assumptions on the way are only kept if this succeeds."""
        before = dict(self.assumed)
        found = self._of_pair(one, other)
        if not _is_within(found):
            # A result under an assumption that fails may be wrong.
            self.assumed = before
        return found

    def _may_meet(self, one: Node, other: Node) -> bool:
        mine = json_types_of(one, self.first.definitions)
        return not mine.isdisjoint(json_types_of(other, self.second.definitions))

    def _of_choices(self, values: Iterable[Any], others: list[Node]) -> list[Escape]:
        refused = [value for value in values if not any(self.fits(other, value) for other in others)]
        after = _words(others, self.second)
        return [Escape((), "not_one_of", excerpt(value), after, value) for value in refused]

    def _refused(self, one: Node, others: list[Node]) -> list[Escape]:
        """Return an escape for a node without a suitable value, from its JSON type."""
        if isinstance(one, ArrayNode):
            value = self._array_of(one, limits_on(one).min_length or 0)
        else:
            value = self._example(one)
        return [self._escape("type", one, others, value)]

    def _escape(self, code: str, one: Node, others: list[Node], value: Any = NO_VALUE) -> Escape:
        return Escape((), code, _words([one], self.first), _words(others, self.second), value)

    def _example(self, node: Node) -> Any:
        value = example_of(Graph(node, self.first.definitions))
        return NO_VALUE if value is NO_EXAMPLE else value

    def _refused_by(self, other: Node, values: Iterable[Any]) -> Any:
        """Return the first of some values that a node of the second graph refuses, or `NO_VALUE`."""
        return next((value for value in values if not self.fits(other, value)), NO_VALUE)

    def _of_pair(self, one: Node, other: Node) -> list[Escape]:
        pair = (id(one), id(other))
        if pair in self.assumed:
            return []
        if pair in self.failed:
            return self.failed[pair][2]
        self.left -= 1
        if self.left < 0:
            return [self._escape("too_large", one, [other])]
        self.assumed[pair] = (one, other)
        found = self._between(one, other)
        if found:
            del self.assumed[pair]
            self.failed[pair] = (one, other, found)
        return found

    def _between(self, one: Node, other: Node) -> list[Escape]:
        """Compare two nodes that were not compared together before."""
        if isinstance(one, AnyNode):
            value = self._refused_by(other, _OTHER_VALUES)
            return [Escape((), "type", "any value", _words([other], self.second), value)]
        if not self._may_meet(one, other):
            return self._refused(one, [other])
        if isinstance(other, (LiteralNode, EnumNode)):
            value = self._refused_by(other, [self._example(one), *samples(one)])
            return [self._escape("not_one_of", one, [other], value)]
        compare = _PAIRS.get((type(one), type(other)))
        return [self._escape("type", one, [other])] if compare is None else compare(self, one, other)

    # --- scalars ---------------------------------------------------------------------------------

    def of_scalars(self, one: ScalarNode, other: ScalarNode) -> list[Escape]:
        return self._texts(one, other) if one.type == "string" else self._numbers(one, other)

    def _texts(self, one: ScalarNode, other: ScalarNode) -> list[Escape]:
        mine, theirs = limits_on(one), limits_on(other)
        found = self._lengths(mine, theirs, lambda size: self._text_of(one, size))
        if theirs.pattern is not None and theirs.pattern != mine.pattern:
            value = self._refused_by(other, [self._example(one), *samples(one)])
            before = "any text" if mine.pattern is None else f"pattern {quote(mine.pattern.pattern)}"
            found.append(Escape((), "pattern", before, f"pattern {quote(theirs.pattern.pattern)}", value))
        return found

    def _text_of(self, one: ScalarNode, size: int) -> Any:
        """Return a text with a length; if there is a pattern, the caller has to check the text."""
        limits = limits_on(one).replace(min_length=size, max_length=size)
        return self._example(one.replace(constraints=limits)) if size <= _LONGEST else NO_VALUE

    def _lengths(self, mine: Constraints, theirs: Constraints, make: Callable[[int], Any]) -> list[Escape]:
        """Compare limits on lengths.

        Args:
            mine: the limits of the first node.
            theirs: the limits of the second node.
            make: a function that makes a value of the first node with a length, or `NO_VALUE`.
        """
        found: list[Escape] = []
        least, most = mine.min_length or 0, mine.max_length
        if theirs.min_length is not None and theirs.min_length > least:
            value = _first(make, range(least, theirs.min_length))
            found.append(Escape((), "min_length", str(least), str(theirs.min_length), value))
        if theirs.max_length is not None and (most is None or most > theirs.max_length):
            start = max(theirs.max_length + 1, least)
            value = _first(make, range(start, start + _MOST_LENGTHS if most is None else most + 1))
            before = "any" if most is None else str(most)
            found.append(Escape((), "max_length", before, str(theirs.max_length), value))
        return found

    def _numbers(self, one: ScalarNode, other: ScalarNode) -> list[Escape]:
        codes: list[tuple[str, str]] = []
        step, wanted = step_of(one), step_of(other)
        if wanted is not None and (step is None or (step / wanted).denominator != 1):
            codes.append(("type" if other.type == "integer" and one.type == "number" else "multiple_of", ""))
        low, high = range_of(one)
        limits = bounds_of(limits_on(other))
        if limits.low is not None and (low is None or not is_inside(low, limits.low, 1)):
            codes.append(("minimum", "minimum"))
        if limits.high is not None and (high is None or not is_inside(high, limits.high, -1)):
            codes.append(("maximum", "maximum"))
        return [
            self._escape(code, one, [other], self._number_outside(one, other, end)) for code, end in codes
        ]

    def _number_outside(self, one: ScalarNode, other: ScalarNode, end: str) -> Any:
        """Return a number of the first node that isn't a value of the second, near the bounds of both.

        Args:
            one: the first node.
            other: the second node.
            end: `minimum` or `maximum` for a number beyond this bound of the second node; empty for any.
        """
        limits = bounds_of(limits_on(other))
        candidates = [number for number in numbers_near(one, other) if is_value(one, {}, number)]
        if end == "minimum" and limits.low is not None:
            candidates = [number for number in candidates if number <= limits.low.limit]
        if end == "maximum" and limits.high is not None:
            candidates = [number for number in candidates if number >= limits.high.limit]
        return self._refused_by(other, candidates)

    def of_leaves(self, one: LeafNode, other: LeafNode) -> list[Escape]:
        return [] if one.leaf == other.leaf else self._in_other_format(one, other)

    def of_text_as_leaf(self, one: ScalarNode, other: LeafNode) -> list[Escape]:
        return self._in_other_format(one, other)

    def of_leaf_as_text(self, one: LeafNode, other: ScalarNode) -> list[Escape]:
        return [] if other.constraints is None else self._in_other_format(one, other)

    def _in_other_format(self, one: LeafNode | ScalarNode, other: LeafNode | ScalarNode) -> list[Escape]:
        """Return an escape with a text that the second node's type refuses, if a type reads its texts."""
        candidates = [self._example(one), *samples(one), *_UNUSUAL_TEXTS]
        value = self._refused_by(other, [each for each in candidates if is_value(one, {}, each)])
        found = self._escape("format", one, [other], value)
        if found.before == found.after:
            found = found._replace(before=_read_as(one, found.before), after=_read_as(other, found.after))
        return [found]

    # --- arrays ----------------------------------------------------------------------------------

    def of_arrays(self, one: ArrayNode, other: ArrayNode) -> list[Escape]:
        mine = limits_on(one)
        found = self._lengths(mine, limits_on(other), lambda size: self._array_of(one, size))
        if other.unique and not one.unique:
            item = self._example(one.items)
            value = NO_VALUE if item is NO_VALUE else [item] * max(2, mine.min_length or 0)
            found.append(Escape((), "unique", "items may come twice", "no item twice", value))
        if mine.max_length == 0:
            return found
        size = max(mine.min_length or 0, 1)
        return found + [
            escape.inside(0, _with_item(self._array_of(one, size), 0, escape.value))
            for escape in self.compare(one.items, other.items)
        ]

    def _array_of(self, one: ArrayNode, size: int) -> Any:
        if size > _MOST_ITEMS:
            return NO_VALUE
        limits = limits_on(one).replace(min_length=size, max_length=size)
        # No item appears twice, if possible: the graph doesn't contain a document's rule about that.
        distinct = self._example(one.replace(constraints=limits, container=set))
        return self._example(one.replace(constraints=limits)) if distinct is NO_VALUE else distinct

    def of_tuples(self, one: TupleNode, other: TupleNode) -> list[Escape]:
        if len(one.items) != len(other.items):
            code = "min_length" if len(one.items) < len(other.items) else "max_length"
            before, after = f"{len(one.items)} items", f"{len(other.items)} items"
            return [Escape((), code, before, after, self._example(one))]
        return self._positions(self._example(one), one.items, other.items)

    def of_tuple_as_array(self, one: TupleNode, other: ArrayNode) -> list[Escape]:
        size, value = len(one.items), self._example(one)
        limits = Constraints(min_length=size, max_length=size)
        found = self._lengths(limits, limits_on(other), lambda _size: value)
        if other.unique and size > 1:
            found.append(self._escape("unique", one, [other]))
        return found + self._positions(value, one.items, [other.items] * size)

    def of_array_as_tuple(self, one: ArrayNode, other: TupleNode) -> list[Escape]:
        size = len(other.items)
        limits = Constraints(min_length=size, max_length=size)
        found = self._lengths(limits_on(one), limits, lambda length: self._array_of(one, length))
        return found or self._positions(self._array_of(one, size), [one.items] * size, other.items)

    def _positions(self, value: Any, ones: Iterable[Node], others: Iterable[Node]) -> list[Escape]:
        """Compare the items at each position.

        Args:
            value: an array of the first graph, or `NO_VALUE`.
            ones: the nodes of its items.
            others: the nodes that have to accept these items.
        """
        return [
            escape.inside(index, _with_item(value, index, escape.value))
            for index, pair in enumerate(zip(ones, others, strict=True))
            for escape in self.compare(*pair)
        ]

    # --- objects ---------------------------------------------------------------------------------

    def of_objects(self, one: ObjectNode, other: ObjectNode) -> list[Escape]:
        mine = {field.key: field for field in one.fields}
        theirs = {field.key: field for field in other.fields}
        found: list[Escape] = []
        for key, field in theirs.items():
            if field.required and not (key in mine and mine[key].required):
                before = "optional" if key in mine else ABSENT
                value = self._object_with(one, {}, theirs, without=key)
                found.append(Escape((key,), "required", before, "required", value))
            elif key not in mine and not one.closed:
                found += self._new_key(one, field, theirs)
        for key, field in mine.items():
            if key in theirs:
                found += self._field(one, field, theirs[key].node, theirs)
            elif other.closed:
                value = self._object_with(one, {key: self._example(field.node)}, theirs)
                found.append(Escape((key,), "unknown", "allowed", "refused", value))
        if other.closed and not one.closed:
            value = self._object_with(one, {_free_key(mine, theirs): None}, theirs)
            found.append(Escape((), "closed", "ignored", "refused", value))
        return found

    def _new_key(self, one: ObjectNode, field: Field, theirs: Mapping[str, Field]) -> list[Escape]:
        bad = self._refused_by(field.node, _OTHER_VALUES)
        if bad is NO_VALUE:
            return []
        value = self._object_with(one, {field.key: bad}, theirs)
        after = _words([field.node], self.second)
        return [Escape((field.key,), NEW_KEY, "ignored as unknown", after, value)]

    def _field(self, one: ObjectNode, field: Field, other: Node, theirs: Mapping[str, Field]) -> list[Escape]:
        """Compare the values of a field with a node of the second graph."""
        return [
            escape.inside(field.key, self._object_with(one, {field.key: escape.value}, theirs))
            for escape in self.compare(field.node, other)
        ]

    def _object_with(
        self, one: ObjectNode, given: Mapping[str, Any], theirs: Mapping[str, Field], without: str = ""
    ) -> Any:
        """Return a smallest object of the first node, with the given values and keys for the second one.

        Args:
            one: the node of the first graph.
            given: the values of some keys.
            theirs: the fields of the second node, by key.
            without: the key to leave out, if the first node allows that.
        """
        found: dict[str, Any] = {}
        for field in one.fields:
            is_asked = field.key in theirs and theirs[field.key].required and field.key != without
            if field.key in given:
                found[field.key] = given[field.key]
            elif field.required or is_asked:
                found[field.key] = self._common(field, theirs.get(field.key))
        found.update({key: value for key, value in given.items() if key not in found})
        return NO_VALUE if any(value is NO_VALUE for value in found.values()) else found

    def _common(self, field: Field, other: Field | None) -> Any:
        """Return a value of a field; if possible, one that fits both fields."""
        mine = self._example(field.node)
        if other is None or self.fits(other.node, mine):
            return mine
        theirs = example_of(Graph(other.node, self.second.definitions))
        is_mine = theirs is not NO_EXAMPLE and is_value(field.node, self.first.definitions, theirs)
        return theirs if is_mine else mine

    # --- maps ------------------------------------------------------------------------------------

    def of_maps(self, one: MapNode, other: MapNode) -> list[Escape]:
        mine = limits_on(one)
        found = self._lengths(mine, limits_on(other), lambda size: self._map_of(one, size))
        if mine.max_length == 0:
            return found
        for escape in self.compare(one.keys, other.keys):
            value = self._map_with(one, escape.value, self._example(one.values))
            found.append(escape._replace(path=("*",), code="key", value=value))
        for escape in self.compare(one.values, other.values):
            found.append(escape.inside("*", self._map_with(one, None, escape.value)))
        return found

    def _map_of(self, one: MapNode, size: int) -> Any:
        if size > _MOST_ITEMS:
            return NO_VALUE
        limits = limits_on(one).replace(min_length=size, max_length=size)
        return self._example(one.replace(constraints=limits))

    def _map_with(self, one: MapNode, key: Any, value: Any) -> Any:
        """Return a smallest map with a value, and with a key if it isn't None."""
        found = self._map_of(one, max(limits_on(one).min_length or 0, 1))
        if any(each is NO_VALUE for each in (found, key, value)):
            return NO_VALUE
        first, *rest = found
        return {first if key is None else key: value, **{other: found[other] for other in rest}}

    def of_object_as_map(self, one: ObjectNode, other: MapNode) -> list[Escape]:
        found: list[Escape] = []
        if other.constraints is not None:
            found.append(self._escape("length", one, [other]))
        for field in one.fields:
            if not self.fits(other.keys, field.key):
                value = self._object_with(one, {field.key: self._example(field.node)}, {})
                found.append(Escape((field.key,), "key", "allowed", "refused", value))
            found += self._field(one, field, other.values, {})
        is_free = isinstance(other.values, AnyNode) and other.keys == ScalarNode("string")
        if not one.closed and not is_free:
            key = _free_key({field.key: field for field in one.fields})
            value = self._object_with(one, {key: self._refused_by(other.values, _OTHER_VALUES)}, {})
            found.append(Escape((), "closed", "ignored", "each has to fit", value))
        return found

    def of_map_as_object(self, one: MapNode, other: ObjectNode) -> list[Escape]:
        found: list[Escape] = []
        for field in other.fields:
            if field.required:
                value = self._map_of(one, limits_on(one).min_length or 0)
                found.append(Escape((field.key,), "required", "any keys", "required", value))
            for escape in self.compare(one.values, field.node):
                value = NO_VALUE if escape.value is NO_VALUE else {field.key: escape.value}
                found.append(escape.inside(field.key, value))
        if other.closed:
            found.append(Escape((), "closed", "allowed", "refused", self._map_of(one, 1)))
        return found


_PAIRS: Final[Mapping[tuple[type, type], Callable[[_Comparison, Any, Any], list[Escape]]]] = {
    (ScalarNode, ScalarNode): _Comparison.of_scalars,
    (LeafNode, LeafNode): _Comparison.of_leaves,
    (LeafNode, ScalarNode): _Comparison.of_leaf_as_text,
    (ScalarNode, LeafNode): _Comparison.of_text_as_leaf,
    (ArrayNode, ArrayNode): _Comparison.of_arrays,
    (ArrayNode, TupleNode): _Comparison.of_array_as_tuple,
    (TupleNode, ArrayNode): _Comparison.of_tuple_as_array,
    (TupleNode, TupleNode): _Comparison.of_tuples,
    (MapNode, MapNode): _Comparison.of_maps,
    (MapNode, ObjectNode): _Comparison.of_map_as_object,
    (ObjectNode, MapNode): _Comparison.of_object_as_map,
    (ObjectNode, ObjectNode): _Comparison.of_objects,
}
"""The functions that compare two nodes whose values may have the same JSON type."""


def _with_item(items: Any, index: int, value: Any) -> Any:
    """Return an array with another item at an index; `NO_VALUE` if one of both isn't known."""
    if items is NO_VALUE or value is NO_VALUE:
        return NO_VALUE
    return [*items[:index], value, *items[index + 1 :]]


def _is_within(found: list[Escape]) -> bool:
    """Return whether all values fit that have only keys named in the first graph."""
    return all(escape.code == NEW_KEY for escape in found)


def _first(make: Callable[[int], Any], sizes: Iterable[int]) -> Any:
    """Return a value of the first possible size, or `NO_VALUE`."""
    made = (make(size) for size in islice(sizes, _MOST_LENGTHS))
    return next((value for value in made if value is not NO_VALUE), NO_VALUE)


# --- one node ------------------------------------------------------------------------------------


def _values_of(node: Node) -> tuple[Any, ...] | None:
    """Return all values of a node if it has only a few."""
    if isinstance(node, (LiteralNode, EnumNode)):
        return node.values
    kind = node.type if isinstance(node, ScalarNode) else ""
    return {"boolean": (False, True), "null": (None,)}.get(kind)


def _split(node: Node, others: Iterable[Node]) -> list[Node]:
    """Split an object into several, one for each value of a key that distinguishes the others."""
    if not isinstance(node, ObjectNode):
        return []
    tags = {
        field.key
        for other in others
        if isinstance(other, ObjectNode)
        for field in other.fields
        if field.required and isinstance(field.node, LiteralNode)
    }
    for number, field in enumerate(node.fields):
        values = _values_of(field.node)
        if field.required and field.key in tags and values and 1 < len(values) <= _MOST_SPLIT:
            return [_with_choice(node, number, value) for value in values]
    return []


def _with_choice(node: ObjectNode, number: int, value: Any) -> ObjectNode:
    choice = LiteralNode((value,), (value,), {choice_key(value): value}, None)
    fields = [*node.fields]
    fields[number] = fields[number].replace(node=choice)
    return node.replace(fields=tuple(fields))


def _free_key(*known: Mapping[str, Any]) -> str:
    """Return a key that no object among several has."""
    key = UNKNOWN_KEY
    while any(key in names for names in known):
        key += "_"
    return key


# --- words ---------------------------------------------------------------------------------------


def _words(nodes: list[Node], graph: Graph) -> str:
    """Return the description of nodes for a model."""
    return " | ".join(dict.fromkeys([expected(node, definitions=graph.definitions) for node in nodes]))


def _read_as(node: LeafNode | ScalarNode, words: str) -> str:
    """Return the description of a text node with the type that reads its texts, if there is one."""
    kind = node.leaf.type if isinstance(node, LeafNode) else str
    return words if kind is str else f"{words} read as {kind.__name__}"
