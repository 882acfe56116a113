"""A JSON Schema document that you didn't write, copied and bounded."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from ..errors import SchemaError
from ..findings import Finding, about_type
from ..immutable import Value
from ..json_values import copy_json, has_surrogate, is_array, is_object
from ..message_text import received
from .subschemas import path_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_DOCUMENT", "SchemaDocument", "unchecked"]

MAX_DOCUMENT = 1_000_000
"""Characters and values of a document, a value counting for ten."""

_MAX_DEPTH = 200
_TEXT = frozenset({str})
_VALUE = 10


class SchemaDocument(Value):
    """A JSON Schema document, in the place of an annotation.

    Attributes:
        name: what messages call it.
        schema: the document, a copy that nobody may change.
        is_arguments: whether it describes the arguments of a tool.

    Raises:
        SchemaError: it isn't made of JSON values, is too large, or doesn't describe objects where it
            describes arguments.
    """

    name: str
    schema: dict[str, Any]
    is_arguments: bool

    def __init__(self, name: str, schema: Mapping[str, Any], is_arguments: bool = True) -> None:
        fault = _fault(schema)
        if fault is None and is_arguments and schema.get("type", "object") != "object":
            fault = f'"type" is {received(schema["type"])}, and arguments are an object'
        if fault is not None:
            message = f"its JSON Schema can't be used: {fault}"
            raise SchemaError(
                name, [about_type((), "unsupported", name, message, "Fix it where it is written")], "tool"
            )
        super().__init__(name, copy_json(schema), is_arguments)

    def __hash__(self) -> int:
        return hash((self.name, self.is_arguments, len(self.schema)))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __repr__(self) -> str:
        return f"SchemaDocument({self.name!r})"

    def with_descriptions(self, descriptions: Mapping[str, str]) -> SchemaDocument:
        """Return a copy in which some of the properties are described in other words."""
        schema = copy_json(self.schema)
        properties = schema.get("properties", {})
        for name, text in descriptions.items():
            if is_object(properties.get(name)):
                properties[name]["description"] = text
        return self.replace(schema=schema)


def _fault(schema: object) -> str | None:
    """Return the problem of a document, None if there is none."""
    if not is_object(schema):
        return f"it is {received(schema)}, not an object"
    left = MAX_DOCUMENT
    level: list[Any] = [schema]
    for _ in range(_MAX_DEPTH):
        left -= _VALUE * len(level) + sum([len(value) for value in level if isinstance(value, str)])
        if left < 0:
            return "it is too large"
        inside: list[Any] = []
        fault = _level_fault(level, inside)
        if fault is not None or not inside:
            return fault
        level = inside
    return "it nests too deep"


def _level_fault(level: list[Any], inside: list[Any]) -> str | None:
    """Return the first problem of some values, None if there is none; add their items to `inside`."""
    for value in level:
        if isinstance(value, str):
            if has_surrogate(value):
                return "a text in it has a lone surrogate"
        elif is_object(value):
            if not _TEXT.issuperset(map(type, value)) and not all(isinstance(key, str) for key in value):
                return "a key in it isn't a text"
            inside += value
            inside += value.values()
        elif is_array(value):
            inside += value
        else:
            fault = _scalar_fault(value)
            if fault is not None:
                return fault
    return None


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, float):
        return None if isfinite(value) else "a number in it isn't finite"
    return None if value is None or isinstance(value, int) else f"{received(value)} isn't a value of JSON"


def unchecked(where: str, keyword: str, reason: str) -> Finding:
    """Make a finding about a keyword of a document that isn't checked.

    Args:
        where: JSON pointer (RFC 6901) to its schema.
        keyword: name of the keyword; empty for the schema as a whole.
        reason: why it isn't checked.
    """
    return Finding(path_of(where), "unchecked", reason, severity="note", where=f"#{where}", keyword=keyword)
