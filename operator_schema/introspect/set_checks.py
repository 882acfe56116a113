"""Which items of sets can't be in a Python set?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .node_kinds import TRAITS, visit
from .nodes import EnumNode, LeafNode, LiteralNode, ObjectNode, ScalarNode, UnionNode
from .shipped_leaves import shipped_leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..findings import TypeCode
    from .nodes import Node, Target

    Fault = tuple[TypeCode, str, str]


class SetChecker:
    """Checks the sets of one graph, and looks into each node once.

    Args:
        definitions: the definitions of the graph.
        members_of: returns the members of a union, as `flat_members` does.
    """

    __slots__ = ("_definitions", "_faults", "_fine", "_members_of")

    def __init__(
        self, definitions: Mapping[Target, Node], members_of: Callable[[UnionNode], Sequence[Node]]
    ) -> None:
        self._definitions = definitions
        self._members_of = members_of
        self._fine: set[int] = set()
        self._faults: dict[int, Fault | None] = {}

    def fault_of(self, items: Node) -> Fault | None:
        """Return why the items of a set can't be in one: code, message with a gap for their name, remedy."""
        if id(items) not in self._faults:
            self._faults[id(items)] = self._find_fault(items)
        return self._faults[id(items)]

    def _find_fault(self, node: Node) -> Fault | None:
        found: Fault | None = None
        seen: set[int] = set()
        for inner in visit([node], self._definitions, self._fine):
            seen.add(id(inner))
            fault = self._own_fault(inner)
            if fault is _NO_HASH:
                return fault
            found = found or fault
        if found is None:
            self._fine |= seen
        return found

    def _own_fault(self, node: Node) -> Fault | None:
        if not TRAITS[node.__class__].can_hash(node):
            return _NO_HASH
        if isinstance(node, ObjectNode):
            return None if _compares(node.type) else _BY_IDENTITY
        if isinstance(node, LeafNode):
            # `ZoneInfo` has no `__eq__`, and one object for each name.
            cls = node.leaf.type
            return None if _compares(cls) or shipped_leaf(cls) else _BY_IDENTITY
        members = self._members_of(node) if isinstance(node, UnionNode) else (node,)
        numbers = {isinstance(value, bool) for member in members for value in _numbers_of(member)}
        return _BOOLEANS if len(numbers) > 1 else None


_NO_HASH: Fault = (
    "unsupported",
    "the items of the set, {}, can't be in a Python set",
    "Make the set a list, or make its items hashable, such as tuples or frozen dataclasses",
)
_BY_IDENTITY: Fault = (
    "unsupported",
    "the items of the set, {}, compare by identity, so that no two are ever equal",
    "Make the set a list, or give their class an __eq__ and a __hash__, as @dataclass(frozen=True) does",
)
_BOOLEANS: Fault = (
    "ambiguous",
    "in a set of {} True and 1 are one item, but two in JSON",
    "Make the set a list",
)


def _compares(cls: type[Any]) -> bool:
    equal: object = cls.__eq__
    return equal is not object.__eq__


def _numbers_of(node: Node) -> list[float]:
    """Return sample values of a node that are numbers or booleans in Python."""
    match node:
        case ScalarNode(type=name):
            return _SAMPLES.get(name, [])
        case LiteralNode(members=members):
            values = list(members)
        case EnumNode(table=table):
            values = list(table.values())
        case _:
            return []
    return [value for value in values if isinstance(value, (int, float))]


_SAMPLES: Mapping[str, list[float]] = {"boolean": [True], "integer": [1], "number": [1.0]}
