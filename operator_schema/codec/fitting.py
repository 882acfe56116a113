"""Which values fit a node? Finds out without building anything."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..json_values import choice_key
from .interpret import DecodeRun, DecodeState
from .problems import INVALID, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import Node, Target, UnionNode


class Fitting:
    """Decides whether values fit, without building anything."""

    __slots__ = ("_trial",)

    def __init__(self, definitions: Mapping[Target, Node], max_depth: int) -> None:
        self._trial = DecodeRun(DecodeState(definitions, max_depth), Trial())

    def fits(self, node: Node, value: object, depth: int) -> bool:
        """Return whether a value at a depth decodes, apart from the class's own check."""
        return self._trial.decode(node, value, None, depth) is not INVALID

    def fits_key(self, node: Node, key: object) -> bool:
        """Return whether a key of a map decodes."""
        return self._trial.decode_key(node, key, None) is not INVALID

    def tagged(self, node: UnionNode, value: dict[Any, Any]) -> list[Node]:
        """Return the member of a union that an object's discriminator names, in a list; empty if none."""
        tag = self._trial.shared.plan(node).tag
        if tag is None or not isinstance(value.get(tag.key, MISSING), (str, int, float, type(None))):
            return []
        member = tag.members.get(choice_key(value[tag.key]))
        return [] if member is None else [member]
