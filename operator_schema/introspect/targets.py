"""What classes and aliases are known by during the walk, so that one that comes round is recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .hints import bindings_key
from .identity import class_name, name_of, show_annotation
from .nodes import Target

if TYPE_CHECKING:
    from .hints import Bindings, Path
    from .nodes import Node

__all__ = ["Known", "target_of"]


class Known:
    """A class or alias that has been met: open while it is walked, then with its node.

    Attributes:
        node: None while it is open.
        path: where it was met first.
        height: levels of arrays and objects below it.
        recursive: whether it came round while it was open.
    """

    __slots__ = ("height", "node", "path", "recursive")

    def __init__(self, path: Path) -> None:
        self.node: Node | None = None
        self.path = path
        self.height = 0
        self.recursive = False


def target_of(generic: Any, bindings: Bindings, *, is_object: bool) -> Target | None:
    """Return what a class or alias is known by; None where what it is given can't be compared."""
    name: str = class_name(generic) if isinstance(generic, type) else generic.__name__
    qualified = f"{generic.__module__}.{getattr(generic, '__qualname__', name)}"
    if not bindings:
        return Target(id(generic), name, qualified, is_object)
    name = f"{name}[{', '.join(map(name_of, bindings.values()))}]"
    qualified = f"{qualified}[{', '.join(map(show_annotation, bindings.values()))}]"
    try:
        identity = (id(generic), bindings_key(bindings))
        hash(identity)
    except TypeError:
        return None
    return Target(identity, name, qualified, is_object)
