"""Trials: what was found by trying a value against a node, kept so that each is tried once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..introspect.nodes import Node

__all__ = ["Trials"]

T = TypeVar("T")


class Trials(dict[tuple[int, int, int], tuple["Node", Any, T]]):
    """The answers of one run, by identity of node and value and by depth.

    Unions inside unions would otherwise try a value again at each level, which takes exponential time.
    Node and value are kept alive with the answer: identities of objects that are gone are given to
    new ones, which must not get the old answer.
    """

    __slots__ = ()

    def ask(self, attempt: Callable[[Any, Any, int], T], node: Node, value: Any, depth: int) -> T:
        """Return what `attempt(node, value, depth)` returns; it is called once for the three."""
        key = (id(node), id(value), depth)
        known = self.get(key)
        if known is None:
            known = self[key] = node, value, attempt(node, value, depth)
        return known[2]
