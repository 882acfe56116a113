"""Where the classes in a graph are written, for complaints about them."""

from __future__ import annotations

import linecache
import re
import sys
from typing import TYPE_CHECKING, Any

from ..wording import clip, escape
from .names import class_name
from .nodes import ObjectNode
from .traits import visit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..complaints import Complaint
    from .nodes import Graph

__all__ = ["place_of", "with_places"]

_SHOWN_LENGTH = 200


def with_places(complaints: Sequence[Complaint], graph: Graph) -> list[Complaint]:
    """Add file and line to complaints about the classes inside a registered type.

    Args:
        complaints: about the type.
        graph: of the type, with `UNKNOWN` in the places that could not be read.
    """
    root = graph.resolve_root()
    wanted = {complaint.type for complaint in complaints}
    classes: dict[str, set[type]] = {}
    for node in visit([graph.root, *graph.definitions.values()]):
        if isinstance(node, ObjectNode) and node is not root and node.name in wanted:
            classes.setdefault(node.name, set()).add(node.type)
    places = {name: place_of(*several) for name, several in classes.items() if len(several) == 1}
    return [complaint.replace(where=places.get(complaint.type)) for complaint in complaints]


def place_of(cls: type) -> str | None:
    """Return file and line of a class; None where a class statement of its name isn't found, or several."""
    module = sys.modules.get(cls.__module__)
    file: Any = getattr(module, "__dict__", {}).get("__file__")
    if not isinstance(file, str):
        return None
    statement = re.compile(rf"\s*class\s+{re.escape(class_name(cls))}\b")
    lines = [i for i, line in enumerate(linecache.getlines(file), 1) if statement.match(line)]
    return f"{clip(escape(file), _SHOWN_LENGTH)}:{lines[0]}" if len(lines) == 1 else None
