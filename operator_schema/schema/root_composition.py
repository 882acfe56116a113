"""What is left of a schema for models whose API takes only one object with a list of properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .dialect_writing import short_json

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNIONS", "Uncomposed", "uncomposed"]

UNIONS = frozenset({"anyOf", "oneOf", "allOf"})
"""Without properties beside it, such a keyword at the root makes the arguments a union."""

_COMPOSED = UNIONS | {"if", "then", "else"}


class Uncomposed(NamedTuple):
    """A schema without what composes other schemas at its root.

    Attributes:
        schema: takes all that the whole schema takes, and more.
        sentence: tells the model what is left out.
        keywords: what is left out, in order.
    """

    schema: dict[str, Any]
    sentence: str
    keywords: tuple[str, ...]

    def described(self, description: str) -> str:
        """Return the description of a tool with the sentence."""
        return "\n\n".join(filter(None, (description, self.sentence)))


def uncomposed(schema: Mapping[str, Any]) -> Uncomposed | None:
    """Leave out what composes other schemas at the root; None if there is nothing, or nothing would be left.

    The decoder checks it anyway.

    Args:
        schema: of the arguments of a tool; it isn't changed.
    """
    if not schema.get("properties") or _COMPOSED.isdisjoint(schema):
        return None
    # This one looks at the properties of what is composed, which are unknown without that.
    left_out = {key: schema[key] for key in schema if key in _COMPOSED or key == "unevaluatedProperties"}
    kept = {key: value for key, value in schema.items() if key not in left_out}
    sentence = f"The arguments must also fit the JSON Schema {short_json(left_out)}."
    return Uncomposed(kept, sentence, tuple(left_out))
