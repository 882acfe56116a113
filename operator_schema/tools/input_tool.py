"""A tool without a function, for a host that runs the calls itself."""

from __future__ import annotations

from typing import Any, ParamSpec, TypeVar

from ..introspect.nodes import ObjectNode, UnionNode
from .tool import Tool

__all__ = ["InputTool"]

P = ParamSpec("P")
R = TypeVar("R", covariant=True)  # noqa: PLC0105  # as short as `P`


class InputTool(Tool[P, R]):
    """A tool without a function: its input is built by calling it, and the host runs the call."""

    def decode(self, arguments: object) -> R:
        """Turn a model's arguments into an input.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`.

        Raises:
            DecodeError: with every problem.
        """
        decoded: R = super().decode(arguments)
        return decoded

    def __or__(self, other: Any) -> Any:
        return self.input_type | other

    def __ror__(self, other: Any) -> Any:
        return other | self.input_type

    def __instancecheck__(self, instance: object) -> bool:
        root = self._codec.graph.resolve_root()
        members = root.members if isinstance(root, UnionNode) else (root,)
        return isinstance(instance, tuple([node.type for node in members if isinstance(node, ObjectNode)]))
