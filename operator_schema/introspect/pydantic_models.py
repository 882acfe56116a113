"""pydantic models and types: leaves with their own schema, validator and serializer. Nothing is imported.

pydantic itself does the work: `model_json_schema` describes a model, `model_validate_json` reads it (so that
strict models and formats follow the rules for JSON), its serializer writes it. Written text is read again as
a check, because an instance can be changed, or made without validation.

The result of a tool is only written. Its schema is the one for writing, with computed fields and the written
keys, which may differ from those that are read.
"""

from __future__ import annotations

import json
import sys
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, Final, cast

from ..errors import DecodeError
from ..findings import Finding
from ..immutable import Value
from ..json_values import JSON_TYPES, choice_key, copy_json, is_array, is_object
from ..message_text import excerpt, one_line, quote
from ..sameness import is_same_state
from ..schema.moved_definitions import describe_reference_fault
from ..schema.references import resolve
from .leaves import CheckedEncoder, SchemaLeaf, trusted_leaf
from .node_kinds import ShapedDecoder
from .nodes import ANY, ArrayNode, Field, LeafNode, LiteralNode, ObjectNode, ScalarNode, UnionNode
from .shipped_leaves import shipped_leaf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..findings import ValueCode
    from .nodes import Node

_Schema = dict[str, Any]


def is_model(cls: Any) -> bool:
    """Return whether a class is a pydantic model, of any version of pydantic."""
    return hasattr(cls, "model_json_schema") or (hasattr(cls, "__fields__") and hasattr(cls, "parse_obj"))


def model_leaf(cls: Any, *, of_results: bool) -> SchemaLeaf[Any] | tuple[str, str]:
    """Return the leaf of a model, or message and remedy if it can't be used.

    Args:
        cls: the model.
        of_results: whether values are only written, so that the leaf has the schema for writing.
    """
    if not hasattr(cls, "model_json_schema"):
        return "it is a model of pydantic 1", "Derive it from pydantic 2's BaseModel, or make it a dataclass"
    return _leaf_of(cls, cls, cls, of_results=of_results)


def _leaf_of(cls: type, values: type, model: Any, *, of_results: bool) -> SchemaLeaf[Any] | tuple[str, str]:
    schema: _Schema = model.model_json_schema(mode="serialization" if of_results else "validation")
    fault = describe_reference_fault(schema)
    if fault is not None:
        return fault
    if not of_results and "discriminator" in str(schema):
        from .pydantic_discriminators import with_required_discriminators  # most models have none

        schema = with_required_discriminators(schema)
    types = _types_of(schema, schema)
    document = {"type": types[0] if len(types) == 1 else types, **schema}
    known = _Model(model, document, _shape_of(cls, schema, schema, _LEVELS))
    write = _ResultEncoder(known) if of_results else _ModelEncoder(known)
    return trusted_leaf(values, document, _ModelDecoder(known), write, known)


def type_leaf(cls: Any, *, of_results: bool) -> SchemaLeaf[Any] | tuple[str, str] | None:
    """Return the leaf of a class with its own pydantic schema, such as `HttpUrl`; None for any other.

    Args:
        cls: a class that isn't a model, and that this package doesn't read by itself.
        of_results: whether values are only written.
    """
    if not hasattr(cls, "__get_pydantic_core_schema__"):
        return None
    name = cls.__name__ if cls.__module__.startswith("pydantic.") else ""
    if name in _REFUSED:
        return _REFUSED[name]
    module, values = _VALUES.get(name, ("", ""))
    made: Any = getattr(sys.modules.get(module), values, cls)
    if name == "AwareDatetime":
        return shipped_leaf(made)
    return _leaf_of(cls, made, _AsModel(cls), of_results=of_results)


_REFUSED: Final = {
    "ImportString": (
        "it imports any module that a model names",
        "Use a Literal, and do the import in your function",
    ),
    "NaiveDatetime": (
        "its schema requires a UTC offset, but it accepts none",
        "Write datetime, with the leaf for local times",
    ),
}
"""By name of a pydantic type: why it can't be used, and the remedy."""


class _AsModel:
    """A type with the methods of a model; pydantic's `TypeAdapter` has them under other names."""

    def __init__(self, cls: type) -> None:
        adapter = sys.modules["pydantic"].TypeAdapter(cls)
        self.__name__ = cls.__name__
        self.__pydantic_serializer__ = adapter.serializer
        self.model_json_schema = adapter.json_schema
        self.model_validate_json = adapter.validate_json


_VALUES: Final = {
    "EmailStr": ("builtins", "str"),
    **dict.fromkeys(("AwareDatetime", "FutureDatetime", "PastDatetime"), ("datetime", "datetime")),
    **dict.fromkeys(("FutureDate", "PastDate"), ("datetime", "date")),
    **dict.fromkeys(("IPvAnyAddress", "IPvAnyInterface"), ("ipaddress", "_BaseAddress")),
    "IPvAnyNetwork": ("ipaddress", "_BaseNetwork"),
}
"""By name of a pydantic type: module and class of its values, if they aren't instances of the type."""


def _lost_key(cls: Any) -> str | None:
    """Return a message about a key that a model writes but doesn't read, None if none is known."""
    try:
        read: _Schema = cls.model_json_schema()
        written: _Schema = cls.model_json_schema(mode="serialization")
    except Exception:  # noqa: BLE001  # one of both can't be made, for whatever reason
        return None
    definitions = read.get("$defs", {})
    parts = [(read, written), *[(definitions.get(n, {}), p) for n, p in written.get("$defs", {}).items()]]
    for reads, writes in parts:
        for key, field in writes.get("properties", {}).items():
            # Computed fields are `readOnly`.
            if key not in reads.get("properties", {}) and not field.get("readOnly"):
                return f"it writes the key {quote(key)}, but reads the value from another one"
    return None


def _types_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """Return the JSON types that a schema allows; all of them if it has no restriction."""
    named = schema.get("type")
    if named is not None:
        return [named] if isinstance(named, str) else list(named)
    if "$ref" in schema:
        return _types_of(resolve(root, schema["$ref"]), root)
    members = schema.get("anyOf") or schema.get("oneOf")
    found = [name for member in members or () for name in _types_of(member, root)]
    return list(dict.fromkeys(found)) or list(JSON_TYPES)


# --- the fields of a model, for unions and messages -----------------------------------------------


def _shape_of(cls: Any, schema: _Schema, root: _Schema, levels: int) -> ObjectNode | None:
    """Return the fields of a model from its schema; None if it isn't an object with fields."""
    if "$ref" in schema:
        return _shape_of(cls, resolve(root, schema["$ref"]), root, levels)
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        return None
    properties: _Schema = schema["properties"]
    required = frozenset(schema.get("required", ()))
    fields = [
        _field(key, _node_of(cls, inner, root, levels - 1), required=key in required)
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


def _node_of(cls: Any, schema: Any, root: _Schema, levels: int) -> Node:
    """Return a node for a part of a model's schema, only as exact as messages need it."""
    if not isinstance(schema, dict) or levels < 0:
        return ANY
    part = cast("_Schema", schema)
    if "$ref" in part:
        return _node_of(cls, resolve(root, part["$ref"]), root, levels - 1)
    choices = [part["const"]] if "const" in part else part.get("enum")
    if choices is not None:
        return _choice(choices)
    members = part.get("anyOf") or part.get("oneOf")
    if members:
        return UnionNode(tuple([_node_of(cls, member, root, levels - 1) for member in members]), None)
    named = part.get("type")
    if named == "array":
        return ArrayNode(_node_of(cls, part.get("items"), root, levels - 1), list, list, None, None)
    if isinstance(named, str) and named in _SCALARS:
        return ScalarNode(named)  # type: ignore[arg-type]  # one of them, as just checked
    shape = _shape_of(cls, part, root, levels)
    return ANY if shape is None else shape.replace(name=part.get("title", shape.name))


def guessed_unions(node: Node) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the unions inside a model whose member pydantic guesses, each with its path.

    If a discriminator or a function chooses the member, the schema has `oneOf` instead.

    Args:
        node: any node; only a pydantic model has such unions.
    """
    model = node.leaf.placeholder if isinstance(node, LeafNode) else None
    if not isinstance(model, _Model):
        return
    root = dict(model.schema)
    waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
    seen: set[str] = set()
    while waiting:
        path, part = waiting.pop()
        if not is_object(part):
            continue
        members = [each for each in part.get("anyOf", ()) if "oneOf" not in each]
        if members:
            yield path, _node_of(model.cls, {"anyOf": members}, root, _LEVELS)
        reference = part.get("$ref")
        if reference is not None and reference not in seen:
            seen.add(reference)
            waiting.append((path, resolve(root, reference)))
        waiting += reversed([((*path, *steps), inner) for steps, inner in _inside(part)])


def _inside(part: _Schema) -> Iterator[tuple[tuple[str, ...], Any]]:
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


_LEVELS: Final = 4
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


# --- reading and writing --------------------------------------------------------------------------


class _Model(Value):
    """A model with its schema; also the placeholder of its leaf, because making an instance takes long."""

    cls: Any
    schema: Mapping[str, Any]
    shape: ObjectNode | None


class _ModelDecoder(ShapedDecoder):
    """Reads the values of a model."""

    model: _Model

    @property
    def shape(self) -> ObjectNode | None:
        """The fields of the model."""
        return self.model.shape

    def __call__(self, value: Any) -> Any:
        """Return the instance for a JSON value.

        Raises:
            DecodeError: with a problem for each error of pydantic.
        """
        return _read(self.model.cls, json.dumps(value, allow_nan=False), value)


def _read(cls: Any, text: str | bytes, value: Any, **names: bool) -> Any:
    """Return the instance for a JSON value and its text."""
    try:
        return cls.model_validate_json(text, **names)
    except ValueError as error:
        if not hasattr(error, "errors"):
            raise
        raise DecodeError(cls.__name__, problems_of(error, value)) from None


class _ModelEncoder(CheckedEncoder):
    """Writes the values of a model so that they can be read again."""

    model: _Model

    def __call__(self, value: Any) -> Any:
        """Return the JSON value of an instance; for the placeholder, a small valid one.

        Raises:
            ValueError: the instance doesn't fit its model, or its JSON would be read as another value.
        """
        if isinstance(value, _Model):
            value = _ModelDecoder(value)(_sample_of(value.schema, value.schema, 0))
        cls = self.model.cls
        text = _write_checked(cls, value)
        written = json.loads(text)
        try:
            again = _read(cls, text, written)
        except DecodeError as error:
            lost = _lost_key(cls)
            raise error if lost is None else ValueError(lost) from None
        is_hidden = _HIDDEN in text and _write(cls, again, warnings="none") == text
        if not is_same_state(again, value):
            raise ValueError(_lost_key(cls) or (_NOT_WRITTEN if is_hidden else _READ_AS_ANOTHER))
        return written

    def write_unchecked(self, value: Any) -> Any:
        """Return the JSON value of an instance that doesn't fit its model."""
        return json.loads(_write(self.model.cls, value, warnings="none"))


class _ResultEncoder(CheckedEncoder):
    """Writes the values of a model as results, with computed fields."""

    model: _Model

    def __call__(self, value: Any) -> Any:
        """Return the JSON value of an instance.

        Raises:
            ValueError: the instance doesn't fit its model.
        """
        if isinstance(value, _Model):
            return _sample_of(value.schema, value.schema, 0)
        cls = self.model.cls
        _write_checked(cls, value)
        try:
            # By names, as the key that is read may be another than the one that is written.
            named = _write(cls, value, warnings="none", by_alias=False)
            _read(cls, named, json.loads(named), by_alias=False, by_name=True)
        except TypeError:  # pydantic 2.10 and before take no such options
            text = _write(cls, value, warnings="none")
            _read(cls, text, json.loads(text))
        return self.write_unchecked(value)

    def write_unchecked(self, value: Any) -> Any:
        """Return the JSON value of an instance that doesn't fit its model."""
        return json.loads(_write(self.model.cls, value, warnings="none", round_trip=False))


def _write_checked(cls: Any, value: Any) -> bytes:
    try:
        return _write(cls, value, warnings="error")
    except ValueError as error:
        raise ValueError(_reason_of(error)) from None


def _write(cls: Any, value: Any, *, warnings: str, by_alias: bool = True, round_trip: bool = True) -> bytes:
    """Return the JSON text of an instance with the fields of `cls`, not those of a subclass.

    `round_trip` leaves out computed fields, which can't be read, and writes a `Json` in the form in which it
    is read.
    """
    text: bytes = cls.__pydantic_serializer__.to_json(
        value, by_alias=by_alias, round_trip=round_trip, warnings=warnings
    )
    return text


def _reason_of(error: ValueError) -> str:
    """Return the first warning of pydantic's serializer, on one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    found = [line.removeprefix(_WARNING).removesuffix(")") for line in lines if line.startswith(_WARNING)]
    return found[0].replace(_DOUBT, "") if found else " ".join(lines)


_READ_AS_ANOTHER: Final = "what it writes would be read back as another value"
_NOT_WRITTEN: Final = "it holds a secret, which is never written"
_HIDDEN: Final = b'"**********"'
"""The text that pydantic writes in place of any secret."""
_WARNING: Final = "PydanticSerializationUnexpectedValue("
_DOUBT: Final = " - serialized value may not be as expected"


def problems_of(error: Any, value: Any) -> list[Finding]:
    """Return a problem for each error of pydantic.

    Args:
        error: a `ValidationError`.
        value: the JSON value with the errors, for paths.
    """
    return [_problem(entry, value) for entry in error.errors(include_url=False, include_context=False)]


def _problem(entry: Mapping[str, Any], value: Any) -> Finding:
    kind: str = entry["type"]
    path = _path(entry["loc"], value, is_absent=kind == "missing")
    if kind == "missing":
        return Finding(path, "missing", "missing (required)")
    received = excerpt(entry["input"])
    # The message of a validator may contain anything that the model sent.
    said = one_line(entry["msg"], _SAID_LENGTH)
    return Finding(path, _code(kind), f"{said}, got {received}", None, received)


_SAID_LENGTH: Final = 180


def _path(loc: Sequence[Any], value: Any, *, is_absent: bool) -> tuple[str | int, ...]:
    """Return the steps of a location that lead through a value, without names of union members."""
    path: list[str | int] = []
    for number, step in enumerate(loc, 1):
        is_item = is_array(value) and isinstance(step, int) and step < len(value)
        if is_item or (is_object(value) and step in value):
            path.append(step)
            value = value[step]
        elif is_absent and number == len(loc):
            path.append(step)
    return tuple(path)


_CODES: Final[dict[str, ValueCode]] = {
    "extra_forbidden": "unknown",
    "literal_error": "not_one_of",
    "enum": "not_one_of",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "multiple_of": "out_of_range",
    "finite_number": "out_of_range",
    "too_short": "bad_length",
    "too_long": "bad_length",
    "string_too_short": "bad_length",
    "string_too_long": "bad_length",
    "string_pattern_mismatch": "bad_format",
    "union_tag_invalid": "no_match",
    "union_tag_not_found": "no_match",
    "recursion_loop": "too_deep",
    "json_invalid": "bad_format",
    "value_error": "rejected",
    "assertion_error": "rejected",
}
"""Our code for each type of pydantic error."""


def _code(kind: str) -> ValueCode:
    if kind in _CODES:
        return _CODES[kind]
    if kind.endswith("_type") or kind in {"int_parsing", "float_parsing", "bool_parsing", "int_from_float"}:
        return "wrong_type"
    return "bad_format" if kind.endswith("_parsing") else "rejected"


def _sample_of(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    """Return a small value that probably fits a schema; the model itself checks it later."""
    if depth > _FOLLOWED:
        message = "no small value is known"
        raise ValueError(message)
    if "$ref" in schema:
        return _sample_of(resolve(root, schema["$ref"]), root, depth + 1)
    for keyword in ("const", "default"):
        if keyword in schema:
            return copy_json(schema[keyword])
    choices = schema.get("examples") or schema.get("enum")
    if choices:
        return copy_json(choices[0])
    members = schema.get("anyOf") or schema.get("oneOf")
    if members:
        return _sample_of(members[0], root, depth + 1)
    named = schema.get("type", "object")
    name = named if isinstance(named, str) else named[0]
    if name == "object":
        properties = schema.get("properties", {})
        return {key: _sample_of(properties[key], root, depth + 1) for key in schema.get("required", ())}
    if name == "array":
        return [_sample_of(schema.get("items", {}), root, depth + 1)] * schema.get("minItems", 0)
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
