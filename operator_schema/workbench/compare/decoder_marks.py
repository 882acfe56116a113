"""Which values does a decoder accept or refuse, unlike the published schema? Marks in a schema say so.

A published schema doesn't mention that null is accepted for a key with the default None. About a text it
states only the `format`, or nothing, although the decoder reads it as a date, a path or a URL. Marks add both
facts. They can be stored in a file and applied to the schema, so that decoders are compared instead of
schemas.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from ...engine import LOCAL_DATETIME, LOCAL_TIME, DocumentCodec, Renderer, shipped_leaf, step
from ...json_values import is_array, is_object
from ...sameness import same_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...engine import Codec, Field, LeafNode, SchemaLeaf, UnionNode

    Marks = dict[str, list[str]]

NULL_MARK: Final = "null"
"""The mark of a schema whose place also accepts null."""

_FORMAT: Final = "python:"
_MARK: Final = "operator_schema:mark"
"""The key of the marks in a schema while it is rendered: a tuple, which no JSON value is."""

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
"""The types that read a text more strictly than their schema states, with their modules."""

_LOCAL: Final[Mapping[str, SchemaLeaf[Any]]] = {"LocalDateTime": LOCAL_DATETIME, "LocalTime": LOCAL_TIME}
"""Such types that aren't classes, with their leaves."""


@cache
def text_leaves() -> Mapping[str, SchemaLeaf[Any]]:
    """Return the leaves that read a text more strictly than their schema states, by the format for each."""
    made = {name: shipped_leaf(getattr(import_module(module), name)) for name, module in _MODULES.items()}
    return {f"{_FORMAT}{name}": leaf for name, leaf in {**made, **_LOCAL}.items() if leaf is not None}


@cache
def format_leaves() -> Mapping[str, SchemaLeaf[Any]]:
    """Return the leaves that read the texts of a JSON Schema `format`, by its name."""
    said = {str(leaf.json_schema.get("format")): leaf for leaf in text_leaves().values()}
    return {name: leaf for name, leaf in said.items() if name != "None"}


def is_leaf_format(name: object) -> bool:
    """Return whether a format represents a leaf in `text_leaves`."""
    return isinstance(name, str) and name.startswith(_FORMAT)


class _MarkingRenderer(Renderer):
    """Renders the schema of a codec with marks."""

    __slots__ = ()

    def field(self, field: Field) -> dict[str, Any]:
        document = super().field(field)
        return _with_mark(document, NULL_MARK) if field.absent_is_none else document

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        document, leaves = super().leaf(node), text_leaves().items()
        name = next((name for name, known in leaves if known.decode is node.leaf.decode), None)
        return document if name is None else _with_mark(document, name.removeprefix(_FORMAT))

    def union(self, node: UnionNode) -> dict[str, Any]:
        documents = [self.schema(member) for member in node.members]
        bare = [_without_marks(document) for document in documents]
        # If several types share a schema, one of them may accept a value that another one refuses.
        kept = [
            document if bare.count(bare[i]) == 1 else bare[i]
            for i, document in enumerate(documents)
            if bare[i] not in bare[:i]
        ]
        return {"anyOf": kept} if len(kept) > 1 else kept[0]


def _with_mark(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {**document, _MARK: (*document.get(_MARK, ()), name)}


def _without_marks(value: Any) -> Any:
    if is_array(value):
        return [_without_marks(item) for item in value]
    if not is_object(value):
        return value
    return {key: _without_marks(inner) for key, inner in value.items() if not isinstance(inner, tuple)}


def marks_of(codec: Codec[Any], schema: Mapping[str, Any]) -> Marks:
    """Return the marks of a codec.

    Args:
        codec: a codec of this package.
        schema: its published document.

    Returns:
        The marks of each schema by its JSON pointer: `null`, and the name of the type that reads its texts.
        Empty for a codec of a document, which does exactly what the document states.
    """
    if isinstance(codec, DocumentCodec):
        return {}
    rendered = codec.json_schema_by(_MarkingRenderer)
    published = {key: value for key, value in schema.items() if key in rendered}
    if same_text(_without_marks(rendered)) != same_text(published):
        return {}  # it is written in another form, to which no pointer leads
    return dict(_marks_in(rendered, ""))


def text_marks_of(codec: Codec[Any], schema: Mapping[str, Any]) -> Marks:
    """Return the marks of results: the types that write texts.

    Args:
        codec: the codec of the results.
        schema: its published document.
    """
    found = marks_of(codec, schema)
    texts = {where: [name for name in names if name != NULL_MARK] for where, names in found.items()}
    return {where: names for where, names in texts.items() if names}


def _marks_in(value: Any, where: str) -> Iterator[tuple[str, list[str]]]:
    if is_array(value):
        for index, item in enumerate(value):
            yield from _marks_in(item, step(where, str(index)))
    elif is_object(value):
        for key, inner in value.items():
            if isinstance(inner, tuple):
                yield where, [*cast("tuple[str, ...]", inner)]
            else:
                yield from _marks_in(inner, step(where, key))


def marked(schema: Mapping[str, Any], marks: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the schema of the values that a decoder accepts.

    Args:
        schema: the published document.
        marks: the return value of `marks_of`; unknown marks, and pointers to missing schemas, have no effect.
    """
    applied: dict[str, Any] = _apply_marks(schema, "", marks)
    return applied


def _apply_marks(value: Any, where: str, marks: Mapping[str, list[str]]) -> Any:
    if is_array(value):
        return [_apply_marks(item, step(where, str(index)), marks) for index, item in enumerate(value)]
    if not is_object(value):
        return value
    schema: dict[str, Any] = {
        key: _apply_marks(inner, step(where, key), marks) for key, inner in value.items()
    }
    names = marks.get(where, ())
    formats = [found for name in names if (found := f"{_FORMAT}{name}") in text_leaves()]
    if formats:
        schema = {"type": _TEXT, "format": formats[0]}
    return {"anyOf": [schema, {"type": "null"}]} if NULL_MARK in names else schema
