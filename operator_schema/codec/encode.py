"""Encodes by walking graph and instance together: the inverse of decoding.

There is one function for each kind of node. It returns a JSON value that shares nothing with the instance, or
notes every problem that it finds and returns `INVALID`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, cast

from ..introspect.leaves import SchemaLeaf
from ..introspect.node_kinds import NO_ARRAYS, flat_members, is_exactly, may_be, shape_of
from ..introspect.nodes import (
    ANY,
    NULL,
    STRING,
    TAG,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from ..json_values import MAX_PROBLEMS, choice_key, copy_json, fits_types, is_object, to_json_text
from ..message_text import count_of, key_step
from .interpret import SCALARS, DecodeRun, DecodeState, constraint_checks, keeps_schema
from .problems import INVALID, Problems, Trial, Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sized

    from ..introspect.nodes import Field, Graph, Node, Target
    from ..message_text import Path
    from ..schema.keywords import Constraints

    GraphOf = Callable[[type], Graph | None]
    Iterators = dict[int, tuple[Any, list[Any]]]


_PLAIN = {
    str: STRING,
    bool: ScalarNode("boolean"),
    int: ScalarNode("integer"),
    float: ScalarNode("number"),
    type(None): NULL,
}
_ARRAYS = (list, tuple, set, frozenset)
_ANY_MAP = MapNode(STRING, ANY)


def encode_node(
    node: Node,
    definitions: Mapping[Target, Node],
    value: object,
    max_depth: int,
    graph_of: GraphOf,
    *,
    is_decoded: bool = False,
) -> tuple[Any, Problems]:
    """Encode a value by a node.

    Args:
        node: the node to encode it by.
        definitions: the definitions of the graph that the node belongs to.
        value: an instance.
        max_depth: levels of arrays and objects that are followed.
        graph_of: gives the graph of a class found where the annotation is `Any`, or None.
        is_decoded: whether the JSON value will be decoded again, so that members of unions must be
            distinguishable.

    Returns:
        The JSON value and no problems, or `INVALID` and at least one.
    """
    state = EncodeState(max_depth, graph_of, is_decoded=is_decoded)
    return encode_with(EncodeRun(state, definitions, Problems(definitions)), node, value)


def encode_with(run: EncodeRun, node: Node, value: object, depth: int = 1) -> tuple[Any, Problems]:
    """Encode a value with a run that was made for it."""
    shared, problems = run.shared, run.problems
    problems.iterators = shared.iterators
    try:
        return run.encode(node, value, None, depth), problems
    except RecursionError as error:
        if error is shared.raised_by_user:
            raise
        return problems.too_deep_for_stack(), problems


class EncodeState:
    """The state of an encode and of its trials.

    Attributes:
        max_depth: levels of arrays and objects that are followed.
        graph_of: gives the graph of a class found where the annotation is `Any`, or None.
        is_decoded: whether the JSON value will be decoded again.
        trials: whether values fit members of unions.
        raised_by_user: the RecursionError that the user's code raised, which isn't a problem of the value.
        iterators: the iterators read so far, each with its items, by identity.

    Args:
        reads_iterators: whether iterators may be read; only the encode of the whole value may, because they
            can't be read again.
    """

    __slots__ = (
        "_reads_iterators",
        "_too_deep",
        "graph_of",
        "is_decoded",
        "iterators",
        "max_depth",
        "raised_by_user",
        "trials",
    )

    def __init__(
        self,
        max_depth: int,
        graph_of: GraphOf,
        *,
        iterators: Iterators | None = None,
        reads_iterators: bool = True,
        is_decoded: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.is_decoded = is_decoded
        self.graph_of = graph_of
        self.trials: Trials[bool] = Trials()  # subscripting it at run time takes 1 µs
        self.raised_by_user: RecursionError | None = None
        self.iterators: Iterators = {} if iterators is None else iterators
        self._reads_iterators = reads_iterators
        self._too_deep = 0

    def count_too_deep(self) -> None:
        """Count a part that nests too deeply; end the encode at the hundredth.

        A list that holds itself twice has 2**100 of them.
        """
        self._too_deep += 1
        if self._too_deep >= MAX_PROBLEMS:
            raise RecursionError

    def items_of(self, value: Any) -> list[Any] | None:
        """Return the items of an iterable; None for an iterator that may not be read here.

        The items of an iterator are remembered, so that a trial doesn't use them up.
        """
        if not _is_iterator(value):
            return list(value)
        if not self._reads_iterators:
            return None
        return self.items_known(value) or self.keep_items(value, list(value))

    def items_known(self, value: object) -> list[Any] | None:
        """Return the items of an iterator that was read before."""
        known = self.iterators.get(id(value))
        return None if known is None else known[1]

    def keep_items(self, value: object, items: list[Any]) -> list[Any]:
        """Remember the items of an iterator, which can't be read again; return them."""
        if _is_iterator(value):
            self.iterators[id(value)] = value, items
        return items


class LongEncodeError(Exception):
    """The encode has written as many values as it may."""


class CountedState(EncodeState):
    """The state of an encode that may write only a limited number of values.

    Attributes:
        room: number of values that may still be written.
    """

    __slots__ = ("room",)

    room: int

    def count(self) -> None:
        """Count a value before it is written.

        Raises:
            LongEncodeError: there are too many.
        """
        self.room -= 1
        if self.room < 0:
            raise LongEncodeError


class EncodeRun:
    """One encode within one graph, or one trial, which reports nothing."""

    __slots__ = ("definitions", "problems", "shared")

    def __init__(self, shared: EncodeState, definitions: Mapping[Target, Node], problems: Problems) -> None:
        self.shared = shared
        self.definitions = definitions
        self.problems = problems

    def encode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        """Return the JSON value of a value, or note its problems and return `INVALID`."""
        return self.ARMS[node.__class__](self, node, value, path, depth)

    def _strict(self, definitions: Mapping[Target, Node], problems: Problems) -> EncodeRun:
        """Return a run with the same state, for a trial or within another graph."""
        return EncodeRun(self.shared, definitions, problems)

    def _scalar(self, node: ScalarNode, value: Any, path: Path, _depth: int) -> Any:
        return SCALARS[node.type](self.problems, node, value, path)

    def _reference(self, node: RefNode, value: Any, path: Path, depth: int) -> Any:
        return self.encode(self.definitions[node.target], value, path, depth)

    def _too_deep(self, path: Path, depth: int) -> bool:
        if depth <= self.shared.max_depth:
            return False
        self.problems.too_deep(path, self.shared.max_depth)
        self.shared.count_too_deep()
        return True

    def _object(self, node: ObjectNode, value: Any, path: Path, depth: int) -> Any:
        if not _is_instance(node, value):
            return self.problems.wrong_class(path, node.type, value)
        if self._too_deep(path, depth):
            return INVALID
        valid = True
        encoded: dict[str, Any] = {}
        for field in node.fields:
            item = _value_of(node, field, value)
            if item is MISSING:
                if not field.required and (field.init_only or node.form == "typed_dict"):
                    continue
                valid = False
                self.problems.missing(path, field, node, {})
                continue
            if item is None and field.absent_is_none:
                continue
            result = self.encode(field.node, item, (path, field.key), depth + 1)
            if result is INVALID:
                valid = False
            else:
                encoded[field.key] = result
        if node.closed and node.form == "typed_dict":
            valid = self._has_only_fields(node, value, path) and valid
        return encoded if valid else INVALID

    def _has_only_fields(self, node: ObjectNode, value: dict[Any, Any], path: Path) -> bool:
        known = {field.key for field in node.fields}
        unknown = [key for key in value if key not in known]
        for key in unknown:
            self.problems.unknown(path, key, node, value)
        return not unknown

    def _array(self, node: ArrayNode, value: Any, path: Path, depth: int) -> Any:
        if not is_array_of(node, value):
            return self._not_that_array(node, node.accepts, value, path)
        items = self.shared.items_of(value)
        if items is None:
            return INVALID
        limits = node.constraints
        if limits is not None and not self._has_length(limits, items, path, "items"):
            return INVALID
        return self._of_set(value, self._items([node.items] * len(items), items, path, depth))

    def _of_set(self, value: object, encoded: Any) -> Any:
        return (
            in_order(encoded) if isinstance(value, (set, frozenset)) and encoded is not INVALID else encoded
        )

    def _not_that_array(self, node: ArrayNode | TupleNode, cls: type, value: Any, path: Path) -> Any:
        if isinstance(value, _ARRAYS):  # only the Python class is wrong
            return self.problems.wrong_container(path, cls, cast("object", value))
        return self.problems.wrong_type(path, node, value)

    def _tuple(self, node: TupleNode, value: Any, path: Path, depth: int) -> Any:
        if not isinstance(value, tuple):
            return self._not_that_array(node, tuple, value, path)
        items = cast("tuple[Any, ...]", value)  # type: ignore[redundant-cast]  # pyright needs it
        if len(items) != len(node.items):
            message = f"{count_of(len(items), 'items')}, exactly {len(node.items)} expected"
            return self.problems.bad_length(path, list(items), message)
        return self._items(node.items, items, path, depth)

    def _has_length(self, limits: Constraints, value: Sized, path: Path, unit: str) -> bool:
        return constraint_checks().check_length(limits, self.problems, value, path, unit) is not INVALID

    def _items(self, nodes: Iterable[Node], items: Iterable[Any], path: Path, depth: int) -> Any:
        if self._too_deep(path, depth):
            return INVALID
        valid = True
        encoded: list[Any] = []
        for index, (inner, item) in enumerate(zip(nodes, items, strict=True)):
            result = self.encode(inner, item, (path, index), depth + 1)
            if result is INVALID:
                valid = False
            else:
                encoded.append(result)
        return encoded if valid else INVALID

    def _map(self, node: MapNode, value: Any, path: Path, depth: int) -> Any:
        if not isinstance(value, node.accepts):
            return self.problems.wrong_type(path, node, value)
        if self._too_deep(path, depth):
            return INVALID
        entries = cast("Mapping[Any, Any]", value)
        limits = node.constraints
        valid = limits is None or self._has_length(limits, entries, path, "keys")
        encoded: dict[str, Any] = {}
        for key, item in entries.items():
            name = self._key(node.keys, key, (path, key_step(key)))
            step = name if isinstance(name, str) else key_step(key)
            result = self.encode(node.values, item, (path, step), depth + 1)
            if name is INVALID or result is INVALID:
                valid = False
            elif name in encoded:
                valid = False
                self.problems.duplicate((path, name), name, "the keys")
            else:
                encoded[name] = result
        return encoded if valid else INVALID

    def _key(self, node: Node, key: Any, path: Path) -> Any:
        encoded = self.encode(node, key, path, 1)
        return str(encoded) if type(encoded) is int else encoded

    def _literal(self, node: LiteralNode, value: Any, path: Path, _depth: int) -> Any:
        for member, encoded in zip(node.members, node.values, strict=True):
            if member is value or (type(member) is type(value) and member == value):
                return encoded
        return self.problems.not_one_of(path, node, value)

    def _enum(self, node: EnumNode, value: Any, path: Path, _depth: int) -> Any:
        for member, encoded in zip(node.table.values(), node.values, strict=True):
            if member is value:
                return encoded
        return self.problems.wrong_class(path, node.type, value)

    def _leaf(self, node: LeafNode, value: Any, path: Path, _depth: int) -> Any:
        leaf = node.leaf
        if not isinstance(value, leaf.type):
            return self.problems.wrong_class(path, leaf.type, value)
        try:
            encoded = leaf.encode(value)
        except (ValueError, TypeError, OverflowError) as error:
            return self.problems.refused_by_leaf(path, node, value, error)
        except RecursionError as error:
            self.shared.raised_by_user = error
            raise
        if leaf.json_schema.__class__ is not dict and not self._keeps_schema(node, encoded, path):
            return INVALID
        if not fits_types(encoded, leaf.json_types):
            return self.problems.wrong_type(path, node, encoded)
        if isinstance(encoded, float) and not isfinite(encoded):
            return self.problems.out_of_range(path, encoded, "is not finite")
        return copy_json(encoded)

    def _keeps_schema(self, node: LeafNode, encoded: Any, path: Path) -> bool:
        return keeps_schema(node.leaf, encoded, self.problems, path, self.shared.max_depth)

    # --- unions and Any --------------------------------------------------------------------------

    def _union(self, node: UnionNode, value: Any, path: Path, depth: int) -> Any:
        members = [m for m in flat_members(node, self.definitions) if may_be(m, value)]
        exact = [member for member in members if is_exactly(member, value.__class__)]
        candidates = exact or members
        if len(candidates) > 1:
            candidates = [member for member in candidates if self._fits(member, value, depth)]
            candidates.sort(key=lambda member: _distance(member, value))
        if not candidates:
            return self.problems.no_match(path, node, value)
        encoded = self.encode(candidates[0], value, path, depth)
        if encoded.__class__ is dict and self.shared.is_decoded:
            others = self._also_fitting(node, candidates[0], encoded, depth)
            if others:
                return self.problems.read_as_another(path, candidates[0], others)
        return encoded

    def _also_fitting(self, node: UnionNode, member: Node, encoded: dict[str, Any], depth: int) -> list[Node]:
        """Return the other members of a union that take a member's JSON value without unused keys."""
        from ..introspect.union_plans import tag_of  # values of most types are never compared so

        members = flat_members(node, self.definitions)
        if tag_of(members) is not None:
            return []
        shapes = [(other, shape_of(other)) for other in members]
        trial = DecodeRun(DecodeState(self.definitions, self.shared.max_depth), Trial())
        return [
            other
            for other, shape in shapes
            if shape is not None
            and other is not member
            and encoded.keys() <= {field.key for field in shape.fields}
            and not (other is shape and any(_is_no_choice(field, encoded) for field in shape.fields))
            and trial.decode(other, encoded, None, depth) is not INVALID
        ]

    def _fits(self, node: Node, value: Any, depth: int) -> bool:
        return self.shared.trials.ask(self._try, node, value, depth)

    def _try(self, node: Node, value: Any, depth: int) -> bool:
        trial = self._strict(self.definitions, Trial())
        return trial.encode(node, value, None, depth) is not INVALID

    def _any(self, _node: AnyNode, value: Any, path: Path, depth: int) -> Any:
        scalar = _PLAIN.get(value.__class__)
        if scalar is not None:
            return SCALARS[scalar.type](self.problems, scalar, value, path)
        graph = None if value.__class__ in {list, dict, tuple} else self.shared.graph_of(value.__class__)
        if graph is not None:
            inner = self._strict(graph.definitions, self.problems)
            return inner.encode(graph.root, value, path, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            items = cast("Collection[Any]", value)
            return self._of_set(items, self._items([ANY] * len(items), items, path, depth))
        if is_object(value):
            return self._map(_ANY_MAP, value, path, depth)
        for cls in (str, int, float):
            if isinstance(value, cls):
                return SCALARS[_PLAIN[cls].type](self.problems, _PLAIN[cls], value, path)
        return self.problems.no_json_form(path, value)

    ARMS: ClassVar[Mapping[type, Callable[[Any, Any, Any, Path, int], Any]]] = {
        ScalarNode: _scalar,
        AnyNode: _any,
        LeafNode: _leaf,
        LiteralNode: _literal,
        EnumNode: _enum,
        ArrayNode: _array,
        TupleNode: _tuple,
        MapNode: _map,
        ObjectNode: _object,
        UnionNode: _union,
        RefNode: _reference,
    }
    """By kind of node, the method that encodes a value of it."""


def _is_no_choice(field: Field, encoded: dict[str, Any]) -> bool:
    """Return whether a field's choices exclude its value in an object, as for the tag of another member."""
    node, value = field.node, encoded.get(field.key)
    if not isinstance(node, (LiteralNode, EnumNode)) or not isinstance(value, (str, int)):
        return False
    return choice_key(value) not in node.table


def _is_instance(node: ObjectNode, value: object) -> bool:
    # A TypedDict is a dict, and refuses isinstance.
    return isinstance(value, dict if node.form == "typed_dict" else node.type)


def is_array_of(node: ArrayNode, value: object) -> bool:
    """Return whether a value is encoded as an array by a node."""
    return isinstance(value, node.accepts) and not isinstance(value, NO_ARRAYS)


def in_order(items: list[Any]) -> list[Any]:
    """Return the JSON values of a set in an order that is the same in every process."""
    kinds = {item.__class__ for item in items}
    if kinds <= {str} or kinds <= {int, float}:
        return sorted(items)
    return sorted(items, key=to_json_text)


def _is_iterator(value: object) -> bool:
    return not isinstance(value, (list, tuple)) and isinstance(value, Iterator)


def _value_of(node: ObjectNode, field: Field, value: Any) -> Any:
    if field.init_only:
        return MISSING
    if field.name == TAG and isinstance(field.node, LiteralNode):
        return field.node.members[0]
    if node.form == "typed_dict":
        return value.get(field.name, MISSING)
    return getattr(value, field.name, MISSING)


def _distance(node: Node, value: Any) -> int:
    """Return the distance of a value from a member that it fits; the nearest member is meant.

    For a dict, the number of keys that a TypedDict doesn't know; for an instance, the number of classes
    between its own and the member's.
    """
    match node:
        case ObjectNode(form="typed_dict"):
            return len(value.keys() - {field.key for field in node.fields})
        case ObjectNode(type=cls) | LeafNode(leaf=SchemaLeaf(type=cls)):
            mro = type(value).__mro__
            return mro.index(cls) if cls in mro else len(mro)
        case _:
            return 0
