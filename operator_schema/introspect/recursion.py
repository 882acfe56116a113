"""What identifies a class or alias during the walk, so that a recursive one is recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .equality import bindings_key
from .names import class_name, name_of, show_annotation
from .nodes import Target

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .hints import Bindings, Path
    from .nodes import Node

__all__ = ["Known", "identity_of", "short_name", "target_of"]


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


def identity_of(generic: Any, bindings: Bindings) -> Hashable:
    """Return what only the same class or alias shares; None where what it is given can't be compared."""
    if not bindings:
        return id(generic)
    try:
        identity = (id(generic), bindings_key(bindings))
        hash(identity)
    except TypeError:
        return None
    return identity


def short_name(generic: Any, bindings: Bindings) -> str:
    """Return what messages and definitions call a class or alias, such as `Page[User]`."""
    name: str = class_name(generic) if isinstance(generic, type) else generic.__name__
    return f"{name}[{', '.join(map(name_of, bindings.values()))}]" if bindings else name


def target_of(generic: Any, bindings: Bindings, identity: Hashable, *, is_object: bool) -> Target:
    """Return what identifies a class or alias."""
    name = short_name(generic, {})
    qualified = f"{generic.__module__}.{getattr(generic, '__qualname__', name)}"
    if bindings:
        qualified = f"{qualified}[{', '.join(map(show_annotation, bindings.values()))}]"
    return Target(identity, short_name(generic, bindings), qualified, is_object)
