"""How much the strict mode of a provider takes in one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .dialect import Dialect

__all__ = ["over_limits"]


def over_limits(dialect: Dialect, schemas: Sequence[Mapping[str, Any]]) -> list[str]:
    """List what is too much for one request.

    Args:
        dialect: of the provider.
        schemas: of the inputs of all strict tools of the request.
    """
    objects = [part for schema in schemas for part, _ in _parts(schema) if "properties" in part]
    parts = [part for schema in schemas for part, _ in _parts(schema)]
    counted = (
        ("strict tools", len(schemas), dialect.most_tools),
        ("properties", sum(len(part["properties"]) for part in objects), dialect.most_properties),
        ("levels inside each other", _deepest(schemas), dialect.most_levels),
        ("values of enums", sum(len(part.get("enum", ())) for part in parts), dialect.most_choices),
        ("properties that may be left out", sum(map(_optional, objects)), dialect.most_optional),
        ("unions", sum(map(_is_union, parts)), dialect.most_unions),
    )
    return [
        f"{number} {what}, of which a request takes {most}"
        for what, number, most in counted
        if most is not None and number > most
    ]


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Walk through a schema, and give each schema in it with its level: a definition begins at 1."""
    waiting: list[tuple[Mapping[str, Any], int]] = [(schema, 1)]
    while waiting:
        part, level = waiting.pop()
        yield part, level
        waiting += [(inner, 1) for inner in part.get("$defs", {}).values()]
        waiting += [(inner, level + 1) for inner in part.get("properties", {}).values()]
        waiting += [(inner, level) for inner in part.get("anyOf", ())]
        if "items" in part:
            waiting.append((part["items"], level + 1))


def _deepest(schemas: Sequence[Mapping[str, Any]]) -> int:
    levels = [
        level
        for schema in schemas
        for part, level in _parts(schema)
        if "properties" in part or "items" in part
    ]
    return max(levels, default=0)


def _optional(part: Mapping[str, Any]) -> int:
    return len(part["properties"].keys() - set(part.get("required", ())))


def _is_union(part: Mapping[str, Any]) -> bool:
    return "anyOf" in part or isinstance(part.get("type"), list)
