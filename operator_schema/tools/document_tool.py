"""A tool whose arguments a JSON Schema document describes, and another program runs."""

from __future__ import annotations

import sys
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..documents.codec import DocumentCodec
from ..documents.document import SchemaDocument
from ..introspect.hints import Scope
from ..json_values import to_json_text
from .function import make_tool
from .options import codec_options
from .results.output_type import NO_OUTPUT, OutputType, WrittenOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import FrameType
    from typing import Unpack

    from ..introspect.leaves import SchemaLeaf
    from .options import DocumentToolOptions
    from .tool import Tool

__all__ = ["DocumentOutput", "document_tool", "tool_of_document"]

P = ParamSpec("P")
R = TypeVar("R")


class DocumentOutput(OutputType):
    """The result of a tool, as a JSON Schema document describes it.

    Args:
        codec: of the document; None if the results aren't described.
    """

    __slots__ = ("_of_document",)

    def __init__(self, codec: DocumentCodec | None) -> None:
        super().__init__(MISSING, MISSING, Scope(None, {}))
        self._of_document = codec

    @property
    def is_declared(self) -> bool:
        """Whether the results are described."""
        return self._of_document is not None

    @property
    def type(self) -> Any:
        """The document; None if the results aren't described."""
        return None if self._of_document is None else self._of_document.type

    def codec(self) -> DocumentCodec | None:
        """Return the codec of the document; None if the results aren't described."""
        return self._of_document

    def with_leaves(self, leaves: Iterable[SchemaLeaf[Any]]) -> OutputType:  # noqa: ARG002  # a document has no types
        """Return the same."""
        return self

    def write(self, value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
        """Write a JSON value."""
        codec = self._of_document
        if codec is None:
            return NO_OUTPUT.write(value, name, is_lenient=is_lenient)
        json, notes = codec.encode_leniently(value) if is_lenient else (codec.encode(value), ())
        return WrittenOutput(json if isinstance(json, str) else to_json_text(json), json, notes)


def document_tool(
    function: Callable[P, R],
    schema: Mapping[str, Any],
    /,
    *,
    output_schema: Mapping[str, Any] | None = None,
    **options: Unpack[DocumentToolOptions],
) -> Tool[P, R]:
    """Make a tool whose arguments are checked against a JSON Schema document.

    The model gets the document as it is. The function gets the arguments as a dict of JSON values: a
    copy, repaired if that is asked for, with the keys that the document doesn't name.

    Args:
        function: takes the arguments in its only parameter that isn't injected: `arguments: dict[str, Any]`.
        schema: the document, with `"type": "object"`.
        output_schema: a document of the results; the annotation of the function describes them unless given.
        options: as `tool` takes them.

    Raises:
        SchemaError: a document can't be used, or an option is wrong.
        ToolError: the function doesn't have one such parameter.
    """
    frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # names that text may use
    made: Any = _of_document(function, schema, frame, options)
    if output_schema is not None:
        document = SchemaDocument(f"result of {made.name}", output_schema, is_arguments=False)
        made = made.with_output(DocumentOutput(DocumentCodec(document)))
    found: Tool[P, R] = made
    return found


def tool_of_document(
    function: Callable[..., Any],
    schema: Mapping[str, Any],
    output: OutputType,
    **options: Unpack[DocumentToolOptions],
) -> Tool[..., Any]:
    """Make a tool as `document_tool` does, for a maker of tools.

    Args:
        function: as there.
        schema: as there.
        output: writes its results.
        options: as there.
    """
    frame = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # whose tool it is
    return _of_document(function, schema, frame, options).with_output(output)


def _of_document(
    function: Callable[..., Any], schema: Mapping[str, Any], frame: FrameType, options: DocumentToolOptions
) -> Tool[..., Any]:
    of_codec = codec_options(options)
    later = {"examples", *of_codec}
    now: dict[str, Any] = {key: value for key, value in options.items() if key not in later}
    made = make_tool(function, now, frame)
    codec = DocumentCodec(SchemaDocument(made.name, schema), **of_codec)
    made = made.with_input(codec, of_codec)
    return made.with_(examples=options["examples"]) if "examples" in options else made
