"""Words of the command line as JSON values: what their parameter takes decides how they are read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import ObjectNode
from ..json_values import type_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..tools.tool import Tool

__all__ = ["json_types", "value_of"]


def json_types(tool: Tool[..., Any]) -> dict[str, Collection[str]]:
    """Return the JSON types that each parameter takes; of a union's parameters nothing is known."""
    graph = tool.codec.graph
    root = graph.resolve_root()
    fields = root.fields if isinstance(root, ObjectNode) else ()
    return {field.key: json_types_of(field.node, graph.definitions) for field in fields}


def value_of(text: str, types: Collection[str]) -> Any:
    """Read a value as JSON, unless the parameter takes text but nothing of this kind."""
    with suppress(ValueError):
        value = json.loads(text)
        if "string" not in types or type_of(value) in types:
            return value
    return text
