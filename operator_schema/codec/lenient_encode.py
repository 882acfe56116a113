"""Encodes results that don't fit their declared type, because the tool has already done its work.

A part that fits is written by its declared type, any other part in its own obvious JSON form, with a note
about place and reason. A part without any JSON form is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from io import IOBase
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from ..errors import EncodeError
from ..introspect.leaves import CheckedEncoder
from ..introspect.node_kinds import flat_members
from ..introspect.nodes import (
    ANY,
    NULL,
    AnyNode,
    ArrayNode,
    LeafNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    resolve,
)
from ..json_values import MAX_LENIENT_VALUES, has_surrogate, without_surrogates
from ..message_text import count_of, excerpt, key_step
from .constraint_checks import check_length
from .encode import CountedState, EncodeRun, LongEncodeError, is_array_of
from .interpret import SCALARS
from .problems import INVALID, Problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..findings import Finding
    from ..introspect.nodes import Graph, Node
    from ..message_text import Path
    from .encode import GraphOf, Iterators

    Entries = list[tuple[Any, Any]]


def encode_refused(
    graph: Graph, value: object, refused: Exception, name: str, max_depth: int, graph_of: GraphOf
) -> tuple[Any, tuple[Finding, ...]]:
    """Encode a value that the strict encode has refused.

    Returns:
        The JSON value, and one note for each part that doesn't fit.

    Raises:
        EncodeError: with the parts that have no JSON form.
    """
    # Iterators that the strict encode has read can't be read again.
    read = refused.run.iterators if isinstance(refused, EncodeError) and refused.run else None
    state = _LenientState(max_depth, graph_of, read)
    notes = Problems(graph.definitions)
    try:
        encoded = _LenientRun(state, graph.definitions, notes).encode(graph.root, value, None, 1)
    except RecursionError:
        encoded = state.refused.too_deep_for_stack()
    except LongEncodeError:
        encoded = state.refused.too_many_values(None, MAX_LENIENT_VALUES)
    if state.refused.found:
        raise EncodeError(name, state.refused.found, state.refused.omitted)
    first_of_path: dict[Any, Finding] = {}
    for note in notes.found:
        # A lost entry is reported even if it has other problems.
        first_of_path.setdefault((note.path, note.code == "duplicate"), note)
    return encoded, tuple(first_of_path.values())


class _LenientState(CountedState):
    """The state of a lenient encode.

    Attributes:
        refused: the parts that have no JSON form.
        inside: identities of the arrays and objects that are being written.
    """

    __slots__ = ("inside", "refused")

    def __init__(self, max_depth: int, graph_of: GraphOf, iterators: Iterators | None) -> None:
        super().__init__(max_depth, graph_of, iterators=iterators)
        self.refused = Problems()
        self.inside: set[int] = set()
        self.room = MAX_LENIENT_VALUES


class _LenientRun(EncodeRun):
    """A lenient encode within one graph; its problems are notes."""

    __slots__ = ()

    shared: _LenientState

    def encode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        try:
            self.shared.count()
            encoded = super().encode(resolve(node, self.definitions), value, path, depth)
            if encoded is INVALID and not self.shared.refused.found:
                encoded = self._own_form(value, path, depth)
        except (RecursionError, LongEncodeError):
            raise
        except Exception:  # noqa: BLE001  # the value's own code may raise anything
            return self._refuse(path, value)
        return encoded

    def _refuse(self, path: Path, value: object) -> Any:
        refused = self.shared.refused
        try:
            return refused.no_json_form(path, value)
        except Exception:  # noqa: BLE001  # even its class can't be read
            return refused.no_json_form(path, object())

    def _too_deep(self, path: Path, depth: int) -> bool:
        if depth <= self.shared.max_depth:
            return False
        self.shared.refused.too_deep(path, self.shared.max_depth)
        return True

    # --- by the declared type --------------------------------------------------------------------

    def _array(self, node: ArrayNode, value: Any, path: Path, depth: int) -> Any:
        items = self._items_of(value)
        if items is None:
            return self.problems.wrong_type(path, node, value)
        if not is_array_of(node, value):
            self._not_that_array(node, node.accepts, value, path)
        check_length(node.constraints, self.problems, items, path, "items")
        return self._inside(value, path, lambda: self._items([node.items] * len(items), items, path, depth))

    def _tuple(self, node: TupleNode, value: Any, path: Path, depth: int) -> Any:
        items = self._items_of(value)
        if items is None:
            return self.problems.wrong_type(path, node, value)
        if len(items) != len(node.items):
            message = f"{count_of(len(items), 'items')}, exactly {len(node.items)} expected"
            return self.problems.bad_length(path, items, message)
        if not _is_a(value, tuple):
            self._not_that_array(node, tuple, value, path)
        return self._inside(value, path, lambda: self._items(node.items, items, path, depth))

    def _map(self, node: MapNode, value: Any, path: Path, depth: int) -> Any:
        entries = _entries_of(value)
        if entries is None:
            return self.problems.wrong_type(path, node, value)
        if not _is_a(value, node.accepts):
            self.problems.wrong_type(path, node, value)
        check_length(node.constraints, self.problems, entries, path, "keys")
        return self._entries(value, entries, node.keys, lambda _: node.values, path, depth)

    def _object(self, node: ObjectNode, value: Any, path: Path, depth: int) -> Any:
        by_fields = super()._object
        encoded = self._inside(value, path, lambda: by_fields(node, value, path, depth))
        entries = _entries_of(value) if encoded is INVALID and not self.shared.refused.found else None
        if entries is None:
            return encoded
        nodes = {field.key: field.node for field in node.fields}
        return self._entries(value, entries, None, lambda key: nodes.get(key, ANY), path, depth)

    def _union(self, node: UnionNode, value: Any, path: Path, depth: int) -> Any:
        members = [member for member in flat_members(node, self.definitions) if member != NULL]
        if len(members) == 1 and value is not None:
            return self.encode(members[0], value, path, depth)
        return super()._union(node, value, path, depth)

    def _leaf(self, node: LeafNode, value: Any, path: Path, depth: int) -> Any:
        encoded = super()._leaf(node, value, path, depth)
        write = node.leaf.encode
        if encoded is INVALID and isinstance(write, CheckedEncoder) and _is_a(value, node.leaf.type):
            return self.encode(ANY, write.write_unchecked(value), path, depth)
        return encoded

    def _keeps_schema(self, node: LeafNode, encoded: Any, path: Path) -> bool:
        super()._keeps_schema(node, encoded, path)
        return True

    def _undeclared(self, _node: AnyNode, _value: Any, _path: Path, _depth: int) -> Any:
        return INVALID  # its own form is the declared one

    ARMS = {  # noqa: RUF012  # as in the base
        **EncodeRun.ARMS,
        AnyNode: _undeclared,
        ArrayNode: _array,
        TupleNode: _tuple,
        MapNode: _map,
        ObjectNode: _object,
        UnionNode: _union,
        LeafNode: _leaf,
    }

    # --- by its own form -------------------------------------------------------------------------

    def _own_form(self, value: Any, path: Path, depth: int) -> Any:
        if _is_a(value, Enum):
            return self.encode(ANY, value.value, path, depth)
        if value is None or _is_a(value, str, int, float):
            return self._own_scalar(value, path)
        by_class = self._by_class(value, path, depth)
        if by_class is not INVALID or self.shared.refused.found:
            return by_class
        entries = _entries_of(value)
        if entries is None:
            entries = _attributes_of(value)
        if entries is not None:
            return self._entries(value, entries, None, lambda _: ANY, path, depth)
        items = self._items_of(value)
        if items is not None:
            return self._inside(value, path, lambda: self._items([ANY] * len(items), items, path, depth))
        cls = _class_of(value)
        if hasattr(cls, "__index__"):  # an integer of a library's own
            return self._own_scalar(cls.__index__(value), path)
        if hasattr(cls, "is_finite") and not value.is_finite():  # a Decimal
            return None
        if hasattr(cls, "isoformat"):  # a date or time that its leaf refuses
            return self._own_scalar(str(value.isoformat()), path)
        return self._refuse(path, value)

    def _own_scalar(self, value: Any, path: Path) -> Any:
        if _is_a(value, str):
            text = str.__str__(value)
            if not has_surrogate(text):
                return text
            self.problems.bad_text(path, text)
            return without_surrogates(text)
        if value is None or _is_a(value, bool):
            return value
        if _is_a(value, int):
            return SCALARS["integer"](self.shared.refused, _INTEGER, value, path)
        number = float(value)
        if isfinite(number):
            return number
        self.problems.out_of_range(path, number, "is not finite")
        return None

    def _by_class(self, value: Any, path: Path, depth: int) -> Any:
        """Encode a value by its own class: by its leaf, or its fields."""
        cls = _class_of(value)
        if cls in _CONTAINERS:
            return INVALID
        if _is_a(value, bytearray, memoryview):
            cls, value = bytes, bytes(value)
        try:
            graph = self.shared.graph_of(cls)
        except Exception:  # noqa: BLE001  # a class that can't be registered has attributes nevertheless
            graph = None
        if graph is None:
            return INVALID
        run, root = _LenientRun(self.shared, graph.definitions, self.problems), graph.root
        if isinstance(root, ObjectNode):
            return run._object(root, value, path, depth)
        if isinstance(root, LeafNode):
            return run._leaf(root, value, path, depth)
        return EncodeRun(self.shared, graph.definitions, self.problems).encode(graph.root, value, path, depth)

    # --- arrays and objects of any kind ----------------------------------------------------------

    def _items_of(self, value: Any) -> list[Any] | None:
        if _is_a(value, IOBase) or not _is_a(value, Collection, Iterator):
            return None
        if _is_a(value, str, bytes, bytearray, memoryview) or _entries_of(value) is not None:
            return None
        known = self.shared.items_known(value)
        if known is not None:
            return known
        items = list[Any](islice(value, self.shared.room + 1))
        if len(items) > self.shared.room:
            raise LongEncodeError
        return self.shared.keep_items(value, items)

    def _entries(
        self,
        value: Any,
        entries: Entries,
        keys: Node | None,
        node_of: Callable[[str], Node],
        path: Path,
        depth: int,
    ) -> Any:
        return self._inside(value, path, lambda: self._write(entries, keys, node_of, path, depth))

    def _write(
        self, entries: Entries, keys: Node | None, node_of: Callable[[str], Node], path: Path, depth: int
    ) -> Any:
        if self._too_deep(path, depth):
            return INVALID
        valid = True
        encoded: dict[str, Any] = {}
        for key, item in entries:
            name = self._name_of(keys, key, path, depth)
            step = name if isinstance(name, str) else key_step(key)
            result = self.encode(node_of(step), item, (path, step), depth + 1)
            if name is INVALID or result is INVALID:
                valid = False
                continue
            if name in encoded:
                self.problems.lost_entry((path, name), name)
            encoded[name] = result
        return encoded if valid else INVALID

    def _name_of(self, keys: Node | None, key: Any, path: Path, depth: int) -> Any:
        if keys is None and type(key) is str and not has_surrogate(key):
            return key
        step = (path, key_step(key))
        written = self.encode(ANY if keys is None else keys, key, step, depth)
        if isinstance(written, (dict, list)):
            return self._refuse(step, key)
        if written is INVALID or isinstance(written, str):
            return written
        return excerpt(written) if written is None or isinstance(written, bool) else repr(written)

    def _inside(self, value: Any, path: Path, write: Callable[[], Any]) -> Any:
        """Write an array or object; refuse one that contains itself."""
        inside = self.shared.inside
        if id(value) in inside:
            return self.shared.refused.too_deep(path, self.shared.max_depth)
        inside.add(id(value))
        try:
            return write()
        finally:
            inside.discard(id(value))


_INTEGER = ScalarNode("integer")
_CONTAINERS = frozenset({list, dict, tuple, set, frozenset})


def _class_of(value: object) -> Any:
    return type(value)


def _is_a(value: object, *classes: type) -> bool:
    return issubclass(type(value), classes)


def _entries_of(value: Any) -> Entries | None:
    """Return the keys and values of a map or a database row; None for everything else."""
    cls = _class_of(value)
    if _is_a(value, Mapping) or (hasattr(cls, "keys") and hasattr(cls, "__getitem__")):
        return [(key, value[key]) for key in value.keys()]  # noqa: SIM118  # a row iterates over its values
    return None


def _attributes_of(value: Any) -> Entries | None:
    """Return the fields of a named tuple or dataclass that can't be registered; None for everything else."""
    cls = _class_of(value)
    if _is_a(value, tuple) and hasattr(cls, "_fields"):
        return list(zip(cls._fields, value, strict=False))
    if hasattr(cls, "__dataclass_fields__"):
        return [(name, getattr(value, name)) for name in cls.__dataclass_fields__ if hasattr(value, name)]
    return None
