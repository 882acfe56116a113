"""The node graph rendered for a strict mode: what the dialect can't say moves to the description."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ..complaints import Complaint
from ..immutable import Value
from ..introspect.nodes import UnionNode
from ..json_values import copy_json, to_json_text
from ..schema import Renderer
from ..wording import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from ..codec.codec import Codec
    from ..introspect.nodes import (
        AnyNode,
        ArrayNode,
        EnumNode,
        Field,
        LeafNode,
        LiteralNode,
        MapNode,
        Node,
        ObjectNode,
        RefNode,
        ScalarNode,
        Target,
        TupleNode,
    )
    from .dialect import Dialect

__all__ = ["Loss", "StrictSchema", "strict_schema"]

_TOLD = "<told>"
"""The key under which a schema keeps what moves to its description, until it is written out."""

_TEXT_LENGTH = 200

_SAID: Mapping[str, str] = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matching the pattern {}",
    "format": "in the format {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "uniqueItems": "no two items the same",
    "default": "default {}",
    "examples": "for example {}",
    "contentEncoding": "in {}",
    "contentMediaType": "of the type {}",
}
"""Keyword to the words that say the same in a description."""


class Loss(Value):
    """One thing that a strict schema says in another way than the usual one.

    Attributes:
        path: attribute names that lead to it; `*` stands for the items of an array.
        kind: `told`: a keyword became words in the description · `null`: a property that may be left out
            has to be there, and takes null instead.
        keyword: that it is about; `required` for a property.
    """

    path: tuple[str, ...]
    kind: Literal["told", "null"]
    keyword: str


class StrictSchema(Value):
    """The input of a tool for a strict mode.

    Attributes:
        schema: a document of the caller's own.
        losses: what it says in another way than the usual one, in order.
        complaints: what the dialect can't say at all; then the schema can't be used.
    """

    schema: dict[str, Any]
    losses: tuple[Loss, ...]
    complaints: tuple[Complaint, ...]

    __hash__ = None  # type: ignore[assignment]  # a dict is in it


def strict_schema(codec: Codec[Any], dialect: Dialect, name: str, provider: str) -> StrictSchema:
    """Render the input of a tool for a strict mode.

    Args:
        codec: of the input.
        dialect: of the provider.
        name: of the tool, for complaints.
        provider: its name, for complaints.
    """
    losses: list[Loss] = []
    complaints: list[Complaint] = []
    make = partial(StrictRenderer, dialect, name, provider, losses, complaints)
    if isinstance(codec.graph.resolve_root(), UnionNode):
        message = f"the arguments are a union, which the strict mode of {provider} doesn't take"
        remedy = "Give the union to one parameter: a dataclass with a field of this type"
        return StrictSchema({}, (), (Complaint((), "unsupported", name, message, remedy),))
    document = _written_out(codec.json_schema_by(make))
    return StrictSchema(document, tuple(losses), tuple(complaints))


class StrictRenderer(Renderer):
    """Renders for a strict mode.

    Args:
        dialect: what it takes.
        tool: name of the tool, for complaints.
        provider: its name, for complaints.
        losses: gets what is said in another way.
        complaints: gets what can't be said.
        names, shared, encode_value, most: as `Renderer` takes them.
    """

    __slots__ = ("_complaints", "_dialect", "_losses", "_path", "_provider", "_tool")

    def __init__(
        self,
        dialect: Dialect,
        tool: str,
        provider: str,
        losses: list[Loss],
        complaints: list[Complaint],
        names: Mapping[Target, str],
        shared: Mapping[Hashable, str],
        encode_value: Callable[[Node, Any], Any],
        most: int,
    ) -> None:
        super().__init__(names, shared, encode_value, most)
        self._dialect = dialect
        self._tool = tool
        self._provider = provider
        self._losses = losses
        self._complaints = complaints
        self._path: list[str] = []

    def scalar(self, node: ScalarNode) -> dict[str, Any]:
        """Render a string, number, boolean or null."""
        return self._fitted(super().scalar(node))

    def any(self, _node: AnyNode) -> dict[str, Any]:
        """Refuse a value of any type."""
        remedy = "Name the type; for JSON of any form take a string, and parse it"
        return self._refused("it takes a value of any type", remedy)

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        """Render a leaf whose schema is one string, number or boolean."""
        document: dict[str, Any] = copy_json(node.leaf.json_schema)
        is_scalar = isinstance(document.get("type"), str) and document["type"] not in {"object", "array"}
        if is_scalar and document.keys() <= _SAID.keys() | {"type", "enum", "description", "title"}:
            return self._fitted(document)
        remedy = "Write its fields as a dataclass, or leave strict out for this tool"
        return self._refused("its schema is one of your own, or of another library", remedy)

    def literal(self, node: LiteralNode) -> dict[str, Any]:
        """Render a fixed set of values."""
        return _with_types(super().literal(node))

    def enum(self, node: EnumNode) -> dict[str, Any]:
        """Render the values of an Enum."""
        return _with_types(super().enum(node))

    def array(self, node: ArrayNode) -> dict[str, Any]:
        """Render an array of any length."""
        self._path.append("*")
        document = super().array(node)
        self._path.pop()
        return self._fitted(document)

    def tuple(self, node: TupleNode) -> dict[str, Any]:
        """Render an array of fixed length, where all its places have one type."""
        if not node.items or any(item != node.items[0] for item in node.items):
            remedy = "Write a dataclass with a field for each place"
            return self._refused("it is an array whose places have different types", remedy)
        self._path.append("*")
        items = self.schema(node.items[0])
        self._path.pop()
        length = len(node.items)
        return self._fitted({"type": "array", "items": items, "minItems": length, "maxItems": length})

    def map(self, node: MapNode) -> dict[str, Any]:  # noqa: ARG002  # as it is overridden
        """Refuse an object with free keys."""
        remedy = "Write a list of a dataclass with a field for the key and one for the value"
        return self._refused("it is an object with free keys", remedy)

    def ref(self, node: RefNode) -> dict[str, Any]:
        """Render a reference to a recursive type."""
        if not self._dialect.takes_recursion:
            remedy = "Write the levels that you need as types of their own, or leave strict out for this tool"
            return self._refused("its type contains itself", remedy)
        return super().ref(node)

    def object(self, node: ObjectNode) -> dict[str, Any]:
        """Render an object with its fields, closed."""
        document = super().object(node)
        document["additionalProperties"] = False
        if self._dialect.all_required and node.fields:
            document["required"] = [field.key for field in node.fields]
        return document

    def field(self, field: Field) -> dict[str, Any]:
        """Render a field of an object."""
        self._path.append(field.name)
        document = self._fitted(super().field(field))
        if self._dialect.all_required and not field.required and not _says_null(document):
            document = _or_null(document)
            self._losses.append(Loss(tuple(self._path), "null", "required"))
        self._path.pop()
        return document

    def _fitted(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a schema in which the dialect takes each keyword; the others are kept as words."""
        told: list[str] = list(document.get(_TOLD, ()))
        kept: dict[str, Any] = {}
        for keyword, value in document.items():
            if keyword == _TOLD:
                continue
            if keyword not in _SAID or self._takes(keyword, value):
                kept[keyword] = value
                continue
            told.append(_SAID[keyword].format(_shown(keyword, value)))
            self._losses.append(Loss(tuple(self._path), "told", keyword))
        return {**kept, _TOLD: told} if told else kept

    def _takes(self, keyword: str, value: Any) -> bool:
        dialect = self._dialect
        if keyword == "format":
            return value in dialect.formats
        if keyword == "minItems" and dialect.least_items is not None:
            return value in dialect.least_items
        if keyword == "pattern" and "(?" in value:  # no dialect takes lookaround, and few take flags
            return False
        return keyword in dialect.keywords

    def _refused(self, what: str, remedy: str) -> dict[str, Any]:
        message = f"{what}, which the strict mode of {self._provider} doesn't take"
        self._complaints.append(Complaint(tuple(self._path), "unsupported", self._tool, message, remedy))
        return {"type": "string"}


def _shown(keyword: str, value: Any) -> str:
    if keyword == "examples":
        return clip(", ".join([to_json_text(example) for example in value]), _TEXT_LENGTH)
    return clip(value if isinstance(value, str) else to_json_text(value), _TEXT_LENGTH)


def _with_types(document: dict[str, Any]) -> dict[str, Any]:
    """State the types of choices of several types."""
    if "type" in document:
        return document
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    types = dict.fromkeys([kinds[type(value)] for value in document["enum"]])
    return {"type": list(types), **document}


def _says_null(document: Mapping[str, Any]) -> bool:
    kind = document.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    return any(_says_null(member) for member in document.get("anyOf", ()))


def _or_null(document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that takes null too; what is told about it stays at the top."""
    null = {"type": "null"}
    about = {key: document[key] for key in (_TOLD, "description") if key in document}
    rest = {key: value for key, value in document.items() if key not in about}
    if rest.keys() == {"anyOf"}:
        return {"anyOf": [*rest["anyOf"], null], **about}
    if isinstance(rest.get("type"), str) and rest.keys().isdisjoint({"enum", "properties", "items"}):
        return {**rest, "type": [rest["type"], "null"], **about}
    return {"anyOf": [rest, null], **about}


def _written_out(document: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose words are in its descriptions, and whose references stand alone."""
    kept: dict[str, Any] = {}
    for keyword, value in document.items():
        if keyword in {"properties", "$defs"}:
            kept[keyword] = {name: _written_out(inner) for name, inner in value.items()}
        elif keyword == "anyOf":
            kept[keyword] = [_written_out(inner) for inner in value]
        elif keyword == "items":
            kept[keyword] = _written_out(value)
        elif keyword != _TOLD:
            kept[keyword] = value
    if _TOLD in document:
        kept["description"] = _with_words(kept.pop("description", None), document[_TOLD])
    if "$ref" in kept and len(kept) > 1:
        return {"anyOf": [{"$ref": kept.pop("$ref")}], **kept}
    return kept


def _with_words(description: Any, told: list[str]) -> str:
    words = "; ".join(told)
    if not isinstance(description, str):
        return f"{words[0].upper()}{words[1:]}."
    return f"{description} ({words})"
