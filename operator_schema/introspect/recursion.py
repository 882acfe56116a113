"""Classes and aliases during the walk: what identifies one, which are recursive, how deep they nest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .names import class_name, name_of, show_annotation
from .nodes import RefNode, Target, UnionNode

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .equality import Distinct
    from .hints import Bindings, Path
    from .nodes import Node

__all__ = ["Known", "Recursion", "identity_of", "short_name", "target_of"]


class Known:
    """A class or alias that has been met: open while it is walked, then with its node.

    Args:
        path: where it is met first.
        around: levels of arrays and objects of the deepest place met before.

    Attributes:
        node: None while it is open.
        path: where it was met first.
        around: as above.
        height: levels of arrays and objects below it.
        target: what identifies it, if it is used again while it is open.
    """

    __slots__ = ("around", "height", "node", "path", "target")

    def __init__(self, path: Path, around: int) -> None:
        self.node: Node | None = None
        self.path = path
        self.around = around
        self.height = 0
        self.target: Target | None = None


class Recursion:
    """The classes and aliases that a walk has met, and how deep arrays and objects nest.

    Args:
        max_depth: levels of arrays and objects that may nest.

    Attributes:
        max_depth: as given.
        definitions: the nodes of the recursive ones.
        aliases: the nodes of the type aliases.
        known: the classes and aliases that have been met, by `identity_of`.
    """

    __slots__ = ("_deepest", "_distinct", "aliases", "definitions", "known", "max_depth")

    def __init__(self, max_depth: int) -> None:
        self.max_depth = max_depth
        self.definitions: dict[Target, Node] = {}
        self.aliases: dict[Target, Node] = {}
        self.known: dict[Hashable, Known] = {}
        self._deepest = 0
        self._distinct: Distinct | None = None

    def reach(self, depth: int) -> bool:
        """Note a level of arrays and objects; return whether it may be there."""
        if depth > self._deepest:  # noqa: PLR1730  # calling `max` costs more than the rest of this
            self._deepest = depth
        return depth <= self.max_depth

    def open(self, identity: Hashable, path: Path, levels: int) -> Known:
        """Begin to read a class or alias that is met for the first time.

        Args:
            identity: what only the same class or alias shares.
            path: where it is met.
            levels: of arrays and objects that it is itself.
        """
        known = self.known[identity] = Known(path, self._deepest)
        self._deepest = len(path) + levels
        return known

    @property
    def distinct(self) -> Distinct:
        """What finds equal nodes, made when it is first needed: most types have no such question."""
        if self._distinct is None:
            from .equality import Distinct

            self._distinct = Distinct()
        return self._distinct

    def close(self, known: Known, node: Node) -> Node:
        """Keep the node of a class or alias, and define it if it is recursive."""
        known.height = self._deepest - len(known.path)
        if known.around > self._deepest:  # noqa: PLR1730  # as above
            self._deepest = known.around
        if known.target is not None:
            equal = self.distinct
            self.definitions[known.target] = equal.node(
                equal.union(node) if isinstance(node, UnionNode) else node
            )
            node = RefNode(known.target)
        known.node = node
        return node

    def use_again(self, known: Known, path: Path, make_target: Callable[[], Target]) -> Node | None:
        """Return the node of a class or alias that has been met; None where it would nest too deep."""
        if known.node is not None:
            return known.node if self.reach(len(path) + known.height) else None
        if known.target is None:
            known.target = make_target()
        return RefNode(known.target)


def identity_of(generic: Any, bindings: Bindings) -> Hashable:
    """Return a key of a class or alias and its arguments; None if the arguments can't be compared."""
    if not bindings:
        return id(generic)
    from .equality import bindings_key

    try:
        identity = (id(generic), bindings_key(bindings))
        hash(identity)
    except TypeError:
        return None
    return identity


def short_name(generic: Any, bindings: Bindings) -> str:
    """Return the name of a class or alias for messages and definitions, such as `Page[User]`."""
    name: str = class_name(generic) if isinstance(generic, type) else generic.__name__
    return f"{name}[{', '.join(map(name_of, bindings.values()))}]" if bindings else name


def target_of(generic: Any, bindings: Bindings, identity: Hashable, *, is_object: bool) -> Target:
    """Return the target of a recursive class or alias."""
    name = short_name(generic, {})
    qualified = f"{generic.__module__}.{getattr(generic, '__qualname__', name)}"
    if bindings:
        qualified = f"{qualified}[{', '.join(map(show_annotation, bindings.values()))}]"
    return Target(identity, short_name(generic, bindings), qualified, is_object)
