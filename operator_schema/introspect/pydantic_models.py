"""How does a pydantic model or type become a leaf? Nothing is imported.

pydantic itself does the work: `model_json_schema` describes a model, `model_validate_json` reads it (so that
strict models and formats follow the rules for JSON), its serializer writes it. Written text is read again as
a check, because an instance can be changed, or made without validation.

The result of a tool is only written. Its schema is the one for writing, with computed fields and the written
keys, which may differ from those that are read.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from ..errors import DecodeError
from ..immutable import Value
from ..json_values import is_object
from ..message_text import quote
from ..sameness import is_same_state
from ..schema.moved_definitions import describe_reference_fault
from ..schema.references import resolve
from .leaves import CheckedEncoder, SchemaLeaf, trusted_leaf
from .node_kinds import ShapedDecoder
from .nodes import LeafNode
from .pydantic_problems import problems_of
from .pydantic_schemas import LEVELS, node_of_schema, parts_of_schema, sample_of, shape_of_model, types_of
from .shipped_leaves import shipped_leaf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .nodes import Node, ObjectNode

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
    types = types_of(schema, schema)
    document = {"type": types[0] if len(types) == 1 else types, **schema}
    known = _Model(model, document, shape_of_model(cls, schema, schema, LEVELS))
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
            value = _ModelDecoder(value)(sample_of(value.schema, value.schema, 0))
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
            return sample_of(value.schema, value.schema, 0)
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
            yield path, node_of_schema(model.cls, {"anyOf": members}, root, LEVELS)
        reference = part.get("$ref")
        if reference is not None and reference not in seen:
            seen.add(reference)
            waiting.append((path, resolve(root, reference)))
        waiting += reversed([((*path, *steps), inner) for steps, inner in parts_of_schema(part)])
