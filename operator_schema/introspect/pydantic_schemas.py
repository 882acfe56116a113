"""What does the schema that pydantic makes of a model say, as far as messages and unions need it?"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final, cast

from ..json_values import JSON_TYPES, choice_key, copy_json
from ..schema.references import resolve
from .nodes import ANY, ArrayNode, Field, LiteralNode, ObjectNode, ScalarNode, UnionNode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .nodes import Node

_Schema = dict[str, Any]


def types_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """Return the JSON types that a schema allows; all of them if it has no restriction."""
    named = schema.get("type")
    if named is not None:
        return [named] if isinstance(named, str) else list(named)
    if "$ref" in schema:
        return types_of(resolve(root, schema["$ref"]), root)
    members = schema.get("anyOf") or schema.get("oneOf")
    found = [name for member in members or () for name in types_of(member, root)]
    return list(dict.fromkeys(found)) or list(JSON_TYPES)


def shape_of_model(cls: Any, schema: _Schema, root: _Schema, levels: int) -> ObjectNode | None:
    """Return the fields of a model from its schema; None if it isn't an object with fields."""
    if "$ref" in schema:
        return shape_of_model(cls, resolve(root, schema["$ref"]), root, levels)
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        return None
    properties: _Schema = schema["properties"]
    required = frozenset(schema.get("required", ()))
    fields = [
        _field(key, node_of_schema(cls, inner, root, levels - 1), required=key in required)
        for key, inner in properties.items()
    ]
    is_closed = schema.get("additionalProperties") is False
    return ObjectNode(cls, cls.__name__, "dataclass", tuple(fields), is_closed, None, None)


def _field(key: str, node: Node, *, required: bool) -> Field:
    return Field(
        name=key,
        key=key,
        node=node,
        required=required,
        default=MISSING,
        absent_is_none=False,
        init_only=False,
        description=None,
        examples=(),
    )


def node_of_schema(cls: Any, schema: Any, root: _Schema, levels: int) -> Node:
    """Return a node for a part of a model's schema, only as exact as messages need it."""
    if not isinstance(schema, dict) or levels < 0:
        return ANY
    part = cast("_Schema", schema)
    if "$ref" in part:
        return node_of_schema(cls, resolve(root, part["$ref"]), root, levels - 1)
    choices = [part["const"]] if "const" in part else part.get("enum")
    if choices is not None:
        return _choice(choices)
    members = part.get("anyOf") or part.get("oneOf")
    if members:
        return UnionNode(tuple([node_of_schema(cls, member, root, levels - 1) for member in members]), None)
    named = part.get("type")
    if named == "array":
        return ArrayNode(node_of_schema(cls, part.get("items"), root, levels - 1), list, list, None, None)
    if isinstance(named, str) and named in _SCALARS:
        return ScalarNode(named)  # type: ignore[arg-type]  # one of them, as just checked
    shape = shape_of_model(cls, part, root, levels)
    return ANY if shape is None else shape.replace(name=part.get("title", shape.name))


def parts_of_schema(part: _Schema) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the direct parts of a schema, each with the steps that lead to its values."""
    for key, inner in part.get("properties", {}).items():
        yield (key,), inner
    for keyword in ("items", "additionalProperties"):
        yield ("*",), part.get(keyword)
    for inner in (*part.get("prefixItems", ()), *part.get("patternProperties", {}).values()):
        yield ("*",), inner
    for keyword in ("anyOf", "oneOf", "allOf"):
        for inner in part.get(keyword, ()):
            yield (), inner


def _choice(values: Sequence[Any]) -> Node:
    if not all(value is None or isinstance(value, (str, int, float)) for value in values):
        return ANY
    table = {choice_key(value): value for value in values}
    return LiteralNode(tuple(table.values()), tuple(table.values()), table, None)


LEVELS: Final = 4
"""How many levels of a model messages name."""
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


def sample_of(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    """Return a small value that probably fits a schema; the model itself checks it later."""
    if depth > _FOLLOWED:
        message = "no small value is known"
        raise ValueError(message)
    if "$ref" in schema:
        return sample_of(resolve(root, schema["$ref"]), root, depth + 1)
    for keyword in ("const", "default"):
        if keyword in schema:
            return copy_json(schema[keyword])
    choices = schema.get("examples") or schema.get("enum")
    if choices:
        return copy_json(choices[0])
    members = schema.get("anyOf") or schema.get("oneOf")
    if members:
        return sample_of(members[0], root, depth + 1)
    named = schema.get("type", "object")
    name = named if isinstance(named, str) else named[0]
    if name == "object":
        properties = schema.get("properties", {})
        return {key: sample_of(properties[key], root, depth + 1) for key in schema.get("required", ())}
    if name == "array":
        return [sample_of(schema.get("items", {}), root, depth + 1)] * schema.get("minItems", 0)
    return _sample_scalar(name, schema)


def _sample_scalar(name: str, schema: Mapping[str, Any]) -> Any:
    if name == "string":
        return _FORMATS.get(schema.get("format", ""), "x" * max(schema.get("minLength", 1), 1))
    if name in {"integer", "number"}:
        return schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    return False if name == "boolean" else None


_FOLLOWED: Final = 50
_FORMATS: Final = {
    "date-time": "2026-01-31T09:30:00Z",
    "date": "2026-01-31",
    "time": "09:30:00",
    "duration": "PT1H",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uri": "https://example.com/",
    "email": "ada@example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
