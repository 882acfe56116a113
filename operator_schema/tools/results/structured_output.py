"""What is the result of a tool for those who take JSON objects only?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...immutable import Value
from ...introspect.node_kinds import json_types_of
from ...introspect.nodes import AnyNode, ScalarNode
from ...json_values import is_object

if TYPE_CHECKING:
    from ...codec.codec import ResultCodec

__all__ = ["RESULT_KEY", "StructuredOutput", "structured_output_of"]

RESULT_KEY = "result"
"""Under which a result stands that isn't an object."""


class StructuredOutput(Value):
    """The declared result of a tool as a JSON object, as the Model Context Protocol and others want it.

    Attributes:
        codec: of the declared type.
        is_wrapped: whether the result stands under the key `result`, because it may be something other
            than an object.
    """

    codec: ResultCodec[Any]
    is_wrapped: bool

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the object, a fresh dict: `"type": "object"` and definitions are at the root."""
        document = self.codec.json_schema_under(RESULT_KEY) if self.is_wrapped else self.codec.json_schema()
        return {"type": "object", **document}  # a union of objects doesn't say it

    def of(self, json: Any) -> dict[str, Any] | None:
        """Return a result as the object that the schema describes.

        Args:
            json: the JSON value of the result, as in `ToolResult.json`. It is not copied.

        Returns:
            The object; None if there isn't one, because the function returned something else than it
            declares. What is wrapped doesn't show that: see `ToolResult.details["mismatches"]`.
        """
        if self.is_wrapped:
            return {RESULT_KEY: json}
        return json if is_object(json) else None


def structured_output_of(codec: ResultCodec[Any] | None) -> StructuredOutput | None:
    """Return how results of a type become objects; None for text, and for a type that says nothing.

    Args:
        codec: of the type; None if it has no schema.
    """
    root = None if codec is None else codec.graph.resolve_root()
    if codec is None or root is None or isinstance(root, AnyNode):
        return None
    if isinstance(root, ScalarNode) and root.type == "string":
        return None
    types = json_types_of(root, codec.graph.definitions)
    return StructuredOutput(codec, types != _OBJECT)


_OBJECT = frozenset({"object"})
