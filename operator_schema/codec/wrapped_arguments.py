"""Arguments that came inside an object with one key, such as `{"arguments": {…}}`.

This is a habit of the formats of calls. So only the whole arguments are looked at: deeper in them, a key that
names no field is what it seems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from .spellings import sent_keys

if TYPE_CHECKING:
    from ..introspect.nodes import ObjectNode

__all__ = ["wrapped_arguments"]

_MOST_WRAPPERS = 8


def wrapped_arguments(
    node: ObjectNode, value: dict[Any, Any]
) -> tuple[tuple[str, ...], dict[Any, Any]] | None:
    """Find arguments inside the one key of an object, or of several around each other.

    Args:
        node: of the arguments.
        value: as they came.

    Returns:
        The keys around them, and what is inside; None if they aren't wrapped: the key is a field's, or the
        object in it has none of the fields' keys.
    """
    keys: tuple[str, ...] = ()
    known = {field.key for field in node.fields}
    while len(value) == 1 and len(keys) < _MOST_WRAPPERS:
        ((key, inside),) = value.items()
        if not isinstance(key, str) or key in known or sent_keys(node, value):
            break
        if isinstance(inside, str):
            inside = _held(inside)
        if not is_object(inside):
            return None
        keys, value = (*keys, key), inside
    is_meant = keys and (not known.isdisjoint(value) or sent_keys(node, value))
    return (keys, value) if is_meant else None


def _held(text: str) -> Any:
    """Return the object that a string holds; the text where it isn't JSON."""
    if not text.lstrip().startswith("{"):
        return text
    from .json_text import read_json

    held, problems = read_json(text)
    return text if problems.found else held
