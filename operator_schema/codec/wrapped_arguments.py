"""Finds arguments inside an object with one key, such as `{"arguments": {…}}`.

Models do this because formats of calls look like it. So only the whole arguments are tested; deeper inside, a
key that names no field is just unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..introspect.node_kinds import flat_members, json_types_of
from ..introspect.nodes import MapNode
from ..json_values import is_object, type_of
from .spellings import sent_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import Node, ObjectNode, Target

_MOST_WRAPPERS = 8


def wrapped_arguments(
    node: ObjectNode, value: dict[Any, Any], definitions: Mapping[Target, Node]
) -> tuple[tuple[str, ...], dict[Any, Any]] | None:
    """Find arguments wrapped in one or several nested objects with one key each.

    Returns:
        The keys around them, and the arguments; None if they aren't wrapped: the key is a field's or may be
        meant for one, or the inner object has no key that is or resembles a field's.
    """
    keys: tuple[str, ...] = ()
    known = {field.key for field in node.fields}
    while len(value) == 1 and len(keys) < _MOST_WRAPPERS:
        ((key, sent),) = value.items()
        if not isinstance(key, str) or key in known or sent_keys(node, value):
            break
        inside = _json_in_text(sent) if isinstance(sent, str) else sent
        if not is_object(inside):
            break
        if _may_be_a_field(node, key, sent, definitions) or (keys and _has_map(node, definitions)):
            break
        keys, value = (*keys, key), inside
    return (keys, value) if keys and _has_key_of(node, value) else None


def _has_key_of(node: ObjectNode, value: dict[Any, Any]) -> bool:
    """Return whether an object has a field's key, or a key that is meant for a field."""
    if any(field.key in value for field in node.fields):
        return True
    from .likely_keys import meant_keys

    found, may_be_several = meant_keys(node, value)
    return bool(found) or may_be_several


def _may_be_a_field(node: ObjectNode, key: str, sent: Any, definitions: Mapping[Target, Node]) -> bool:
    """Return whether a key may be a misspelt field that takes the sent value, or an array of it."""
    from .likely_keys import is_near_key

    taken = {type_of(sent), "object", "array"}
    return any(
        is_near_key(key, field.key) and not taken.isdisjoint(json_types_of(field.node, definitions))
        for field in node.fields
    )


def _has_map(node: ObjectNode, definitions: Mapping[Target, Node]) -> bool:
    """Return whether a field is a map, whose keys look like wrappers inside a misspelt field."""
    return any(
        isinstance(member, MapNode)
        for field in node.fields
        for member in flat_members(field.node, definitions)
    )


def _json_in_text(text: str) -> Any:
    """Return the JSON value in a string; the string itself if it isn't JSON."""
    if not text.lstrip().startswith("{"):
        return text
    from .json_text import read_json

    held, problems = read_json(text)
    return text if problems.found else held
