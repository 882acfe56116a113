"""pydantic models: leaves with their own schema, validator and serializer. Nothing is imported.

A model stays pydantic's: `model_json_schema` describes it, `model_validate_json` reads it (so that
strict models and formats mean what they mean for JSON), its serializer writes it. What it writes is
read again before it counts: an instance can be changed, or made without validation.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ..errors import DecodeError, Problem
from ..immutable import Value
from ..json_values import JSON_TYPES, copy_json, is_array, is_object
from ..wording import excerpt, quote
from .leaves import CheckedEncoder, SchemaLeaf, trusted_leaf
from .schema_references import describe_reference_fault, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..errors import ProblemCode

__all__ = ["fault_of_model", "is_model", "model_leaf"]


def is_model(cls: Any) -> bool:
    """Return whether a class is a model of pydantic, of whatever version."""
    return hasattr(cls, "model_json_schema") or (hasattr(cls, "__fields__") and hasattr(cls, "parse_obj"))


def fault_of_model(cls: Any) -> tuple[str, str] | None:
    """Return why a model can't be used, and what to do; None where it can."""
    if not hasattr(cls, "model_json_schema"):
        return (
            "it is a model of pydantic 1",
            "Derive it from pydantic 2's BaseModel, or make it a dataclass",
        )
    schema = cls.model_json_schema()
    return describe_reference_fault(schema) or _fault_of_aliases(cls, schema)


def _fault_of_aliases(cls: Any, schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return what is wrong where a model writes a key that it doesn't read."""
    written = cls.model_json_schema(mode="serialization")
    definitions = schema.get("$defs", {})
    parts = [(schema, written), *[(definitions.get(n, {}), p) for n, p in written.get("$defs", {}).items()]]
    for read, part in parts:
        for key, field in part.get("properties", {}).items():
            # Computed fields are `readOnly`.
            if key not in read.get("properties", {}) and not field.get("readOnly"):
                message = f"it writes the key {quote(key)}, but reads the value from another one"
                return message, "Give the field one alias for both: Field(alias=…)"
    return None


def model_leaf(cls: Any) -> SchemaLeaf[Any]:
    """Return the leaf of a model of pydantic 2."""
    schema: dict[str, Any] = cls.model_json_schema()
    types = _types_of(schema, schema)
    document = {"type": types[0] if len(types) == 1 else types, **schema}
    model = _Model(cls, document)
    return trusted_leaf(cls, document, _Decoder(model), _Encoder(model), model)


def _types_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """Return the JSON types that a schema allows, all of them where it does not say."""
    named = schema.get("type")
    if named is not None:
        return [named] if isinstance(named, str) else list(named)
    if "$ref" in schema:
        return _types_of(resolve(root, schema["$ref"]), root)
    members = schema.get("anyOf") or schema.get("oneOf")
    found = [name for member in members or () for name in _types_of(member, root)]
    return list(dict.fromkeys(found)) or list(JSON_TYPES)


class _Model(Value):
    """A model with its schema; also the placeholder of its leaf, as making an instance takes long."""

    cls: Any
    schema: Mapping[str, Any]


class _Decoder(Value):
    """Read the values of a model."""

    model: _Model

    def __call__(self, value: Any) -> Any:
        """Return the instance for a JSON value.

        Raises:
            DecodeError: with a problem for each error of pydantic.
        """
        return _read(self.model.cls, json.dumps(value, allow_nan=False), value)


def _read(cls: Any, text: str | bytes, value: Any) -> Any:
    """Return the instance for a JSON value and its text."""
    try:
        return cls.model_validate_json(text)
    except ValueError as error:
        if not hasattr(error, "errors"):
            raise
        raise DecodeError(cls.__name__, _problems(error, value)) from None


class _Encoder(CheckedEncoder):
    """Write the values of a model."""

    model: _Model

    def __call__(self, value: Any) -> Any:
        """Return the JSON value of an instance; for the placeholder, a small valid one.

        Raises:
            ValueError: the instance doesn't fit its model.
        """
        if isinstance(value, _Model):
            value = _Decoder(value)(_sample_of(value.schema, value.schema, 0))
        try:
            text = _write(self.model.cls, value, warnings="error")
        except ValueError as error:
            raise ValueError(_reason_of(error)) from None
        written = json.loads(text)
        _read(self.model.cls, text, written)
        return written

    def write_unchecked(self, value: Any) -> Any:
        """Return the JSON value of an instance that doesn't fit its model."""
        return json.loads(_write(self.model.cls, value, warnings="none"))


def _write(cls: Any, value: Any, *, warnings: str) -> bytes:
    """Return the JSON text of an instance: the fields of `cls`, not those of its own class.

    `round_trip` leaves computed fields out, which can't be read, and writes a `Json` as it is read.
    """
    text: bytes = cls.__pydantic_serializer__.to_json(
        value, by_alias=True, round_trip=True, warnings=warnings
    )
    return text


def _reason_of(error: ValueError) -> str:
    """Return what pydantic's serializer says about the first value that it warns about."""
    lines = [line.strip() for line in str(error).splitlines()]
    found = [line.removeprefix(_WARNING).removesuffix(")") for line in lines if line.startswith(_WARNING)]
    return found[0].replace(_DOUBT, "") if found else " ".join(lines)


_WARNING: Final = "PydanticSerializationUnexpectedValue("
_DOUBT: Final = " - serialized value may not be as expected"


def _problems(error: Any, value: Any) -> list[Problem]:
    return [_problem(entry, value) for entry in error.errors(include_url=False, include_context=False)]


def _problem(entry: Mapping[str, Any], value: Any) -> Problem:
    kind: str = entry["type"]
    path = _path(entry["loc"], value, is_absent=kind in _ABSENT)
    if kind == "missing":
        return Problem(path, "missing", "missing (required)")
    received = excerpt(entry["input"])
    return Problem(path, _code(kind), f"{entry['msg']}, got {received}", None, received)


def _path(loc: Sequence[Any], value: Any, *, is_absent: bool) -> tuple[str | int, ...]:
    """Return the steps of a location that lead through a value; others name members of unions."""
    path: list[str | int] = []
    for number, step in enumerate(loc, 1):
        is_item = is_array(value) and isinstance(step, int) and step < len(value)
        if is_item or (is_object(value) and step in value):
            path.append(step)
            value = value[step]
        elif is_absent and number == len(loc):
            path.append(step)
    return tuple(path)


_ABSENT: Final = frozenset({"missing"})
_CODES: Final[dict[str, ProblemCode]] = {
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
"""By pydantic's type of error."""


def _code(kind: str) -> ProblemCode:
    if kind in _CODES:
        return _CODES[kind]
    if kind.endswith("_type") or kind in {"int_parsing", "float_parsing", "bool_parsing", "int_from_float"}:
        return "wrong_type"
    return "bad_format" if kind.endswith("_parsing") else "rejected"


def _sample_of(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    """Return a small value that probably fits a schema; the model itself says whether it does."""
    if depth > _FOLLOWED:
        message = "there is no small value"
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
