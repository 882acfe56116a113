"""What does a decoder take beyond the schema that it publishes, and what does it refuse within it?

A published schema leaves out the null of a key that is None if it isn't there, and says of a text only its
`format`, or nothing at all, although the decoder reads it as a date, a path or a URL. Marks say both:
they can be kept in a file and applied to the schema, so that decoders are compared instead of schemas.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...engine import LOCAL_DATETIME, LOCAL_TIME, DocumentCodec, Renderer, shipped_leaf, step
from ...json_values import is_array, is_object
from ...sameness import same_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...engine import Codec, Field, LeafNode, SchemaLeaf, UnionNode

    Marks = dict[str, list[str]]

__all__ = [
    "NULL_MARK",
    "format_leaves",
    "is_leaf_format",
    "marked",
    "marks_of",
    "text_leaves",
    "text_marks_of",
]

NULL_MARK: Final = "null"
"""The mark of a schema whose place also takes null."""

_FORMAT: Final = "python:"
_MARK: Final = "operator_schema:mark"
_TEXT: Final = "string"
_PATHS: Final = ("PurePath", "PurePosixPath", "PureWindowsPath", "Path", "PosixPath", "WindowsPath")
_ADDRESSES: Final = ("IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network")
_MODULES: Final[Mapping[str, str]] = {
    "UUID": "uuid",
    **dict.fromkeys(("datetime", "date", "time", "timedelta"), "datetime"),
    **dict.fromkeys((*_ADDRESSES, "IPv4Interface", "IPv6Interface"), "ipaddress"),
    **dict.fromkeys(("SplitResult", "ParseResult"), "urllib.parse"),
    "ZoneInfo": "zoneinfo",
    "bytes": "builtins",
    "Pattern": "re",
    **dict.fromkeys(_PATHS, "pathlib"),
}
"""The types that read a text more strictly than their schema says, with their modules."""

_LOCAL: Final[Mapping[str, SchemaLeaf[Any]]] = {"LocalDateTime": LOCAL_DATETIME, "LocalTime": LOCAL_TIME}
"""Those that are no classes, with their leaves."""


@cache
def text_leaves() -> Mapping[str, SchemaLeaf[Any]]:
    """Return the leaves that read a text more strictly than their schema says, by the format for each."""
    made = {name: shipped_leaf(getattr(import_module(module), name)) for name, module in _MODULES.items()}
    return {f"{_FORMAT}{name}": leaf for name, leaf in {**made, **_LOCAL}.items() if leaf is not None}


@cache
def format_leaves() -> Mapping[str, SchemaLeaf[Any]]:
    """Return the leaves that read the texts of a `format` of JSON Schema, by its name."""
    said = {str(leaf.json_schema.get("format")): leaf for leaf in text_leaves().values()}
    return {name: leaf for name, leaf in said.items() if name != "None"}


def _format_of(leaf: SchemaLeaf[Any]) -> str | None:
    """Return the format that stands for a leaf, if it is one of `text_leaves`."""
    return next((name for name, known in text_leaves().items() if known.decode is leaf.decode), None)


def is_leaf_format(name: object) -> bool:
    """Return whether a format stands for one of `text_leaves`."""
    return isinstance(name, str) and name.startswith(_FORMAT)


class _Mark(NamedTuple):
    """What stands in a schema while it is rendered, and never leaves this module.

    Attributes:
        names: the marks of the schema around it.
    """

    names: tuple[str, ...]


class _MarkingRenderer(Renderer):
    """Renders the schema of a codec with marks in it."""

    __slots__ = ()

    def field(self, field: Field) -> dict[str, Any]:
        document = super().field(field)
        return _with_mark(document, NULL_MARK) if field.absent_is_none else document

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        document, name = super().leaf(node), _format_of(node.leaf)
        return document if name is None else _with_mark(document, name.removeprefix(_FORMAT))

    def union(self, node: UnionNode) -> dict[str, Any]:
        documents = [self.schema(member) for member in node.members]
        bare = [_without_marks(document) for document in documents]
        # Where several types have one schema, what one of them refuses another may take.
        kept = [
            document if bare.count(bare[i]) == 1 else bare[i]
            for i, document in enumerate(documents)
            if bare[i] not in bare[:i]
        ]
        return {"anyOf": kept} if len(kept) > 1 else kept[0]


def _with_mark(document: dict[str, Any], name: str) -> dict[str, Any]:
    known = document.get(_MARK)
    names = known.names if isinstance(known, _Mark) else ()
    return {**document, _MARK: _Mark((*names, name))}


def _without_marks(value: Any) -> Any:
    if is_array(value):
        return [_without_marks(item) for item in value]
    if not is_object(value):
        return value
    return {key: _without_marks(inner) for key, inner in value.items() if not isinstance(inner, _Mark)}


def marks_of(codec: Codec[Any], schema: Mapping[str, Any]) -> Marks:
    """Return the marks of a codec.

    Args:
        codec: of our own.
        schema: the document that it publishes.

    Returns:
        By the JSON pointer to a schema, its marks: `null`, and the name of the type that reads its texts.
        Nothing for a codec of a document, which does what the document says.
    """
    if isinstance(codec, DocumentCodec):
        return {}
    rendered = codec.json_schema_by(_MarkingRenderer)
    published = {key: value for key, value in schema.items() if key in rendered}
    if same_text(_without_marks(rendered)) != same_text(published):
        return {}  # it is shown in another form, to which no pointer leads
    return dict(_found(rendered, ""))


def text_marks_of(codec: Codec[Any], schema: Mapping[str, Any]) -> Marks:
    """Return the marks of results: the types that write texts.

    Args:
        codec: of results.
        schema: the document that it publishes.
    """
    found = marks_of(codec, schema)
    texts = {where: [name for name in names if name != NULL_MARK] for where, names in found.items()}
    return {where: names for where, names in texts.items() if names}


def _found(value: Any, where: str) -> Iterator[tuple[str, list[str]]]:
    if is_array(value):
        for index, item in enumerate(value):
            yield from _found(item, step(where, str(index)))
    elif is_object(value):
        for key, inner in value.items():
            if isinstance(inner, _Mark):
                yield where, list(inner.names)
            else:
                yield from _found(inner, step(where, key))


def marked(schema: Mapping[str, Any], marks: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the schema of what a decoder takes.

    Args:
        schema: the document that it publishes.
        marks: as `marks_of` returns them; what leads nowhere, or isn't known here, has no effect.
    """
    applied: dict[str, Any] = _applied(schema, "", marks)
    return applied


def _applied(value: Any, where: str, marks: Mapping[str, list[str]]) -> Any:
    if is_array(value):
        return [_applied(item, step(where, str(index)), marks) for index, item in enumerate(value)]
    if not is_object(value):
        return value
    schema: dict[str, Any] = {key: _applied(inner, step(where, key), marks) for key, inner in value.items()}
    names = marks.get(where, ())
    formats = [found for name in names if (found := f"{_FORMAT}{name}") in text_leaves()]
    if formats:
        schema = {"type": _TEXT, "format": formats[0]}
    return {"anyOf": [schema, {"type": "null"}]} if NULL_MARK in names else schema
