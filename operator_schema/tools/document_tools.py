"""How does a JSON Schema document describe a tool, such as one that another program runs?"""

from __future__ import annotations

import sys
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..errors import SchemaError
from ..findings import about_type
from ..introspect.hints import Scope
from ..json_values import is_object, to_json_text
from ..schema.document import DocumentCodec, SchemaDocument
from ..schema.written import malformed_parts, schema_fault
from .function import make_tool
from .output import NO_OUTPUT, OutputType, WrittenOutput
from .signature import name_of_callee

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self, Unpack

    from ..introspect.leaves import SchemaLeaf
    from .options import DocumentToolOptions
    from .tool import Tool

P = ParamSpec("P")
R = TypeVar("R")


class DocumentOutput(OutputType):
    """The result of a tool, described by a JSON Schema document.

    The document is parsed when the first result is written, because most tools of a large server never run.

    Args:
        document: None if the results aren't described.
    """

    __slots__ = ("_document", "_of_document")

    def __init__(self, document: SchemaDocument | None) -> None:
        super().__init__(MISSING, MISSING, Scope(None, {}))
        self._document = document
        self._of_document: DocumentCodec | None = None

    @classmethod
    def of_schema(cls, schema: Any, name: str) -> Self:
        """Make the output for a foreign schema; if it can't be used, results count as not described.

        Args:
            schema: the schema as it arrived; anything but an object means none.
            name: name of the tool.
        """
        try:
            return cls(SchemaDocument(name, schema, is_arguments=False) if is_object(schema) else None)
        except SchemaError:
            return cls(None)

    @property
    def is_declared(self) -> bool:
        """Whether the results are described."""
        return self._document is not None

    @property
    def type(self) -> Any:
        """The document; None if the results aren't described."""
        return self._document

    def codec(self) -> DocumentCodec | None:
        """Return the codec of the document; None if the results aren't described."""
        if self._of_document is None and self._document is not None:
            self._of_document = DocumentCodec(self._document)
        return self._of_document

    def with_leaves(self, leaves: Iterable[SchemaLeaf[Any]]) -> OutputType:  # noqa: ARG002  # a document has no types
        """Return the same object."""
        return self

    def write(self, value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
        """Write a JSON value."""
        codec = self.codec()
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

    The model gets the document unchanged. The function gets a copy of the arguments as JSON values, repaired
    if you asked for that, including keys that the document doesn't name.

    Args:
        function: its only parameter that isn't injected takes all arguments: as a dict
            (`arguments: dict[str, Any]`), by name (`**arguments: Any`), or as `RawArguments`.
        schema: the document, with `"type": "object"`.
        output_schema: a document of the results; the annotation of the function describes them unless given.
        options: as `tool` takes them.

    Raises:
        SchemaError: with everything that is wrong with the function, the documents and the options.
    """
    output = None
    name = options.get("name") or name_of_callee(function) or "tool"
    _check_written(name, {"schema": schema, "output_schema": output_schema})
    if output_schema is not None:
        output = document_output(name, output_schema)
    frame = sys._getframe(1)  # names that text may use
    made: Any = make_tool(function, dict(options), frame, schema=schema, output=output)
    found: Tool[P, R] = made
    return found


def _check_written(name: object, schemas: Mapping[str, object]) -> None:
    """Check that documents have no uncheckable keywords: the model would see a rule that isn't enforced.

    Raises:
        SchemaError: with each keyword that can't be checked.
    """
    complaints = [
        about_type((), "unsupported", str(name), f"{parameter} {message}", _CORRECT)
        for parameter, schema in schemas.items()
        if is_object(schema) and schema_fault(schema) is None
        for message in malformed_parts(schema)
    ]
    if complaints:
        raise SchemaError(str(name), complaints, "function")


_CORRECT = "Correct it, or leave it out: the model would be shown what isn't kept"


def document_output(name: object, schema: Mapping[str, Any]) -> DocumentOutput:
    """Return the output of a tool that checks and writes its results by a document.

    Raises:
        SchemaError: the document can't be used.
    """
    return DocumentOutput(SchemaDocument(f"result of {name}", schema, is_arguments=False))


def tool_of_document(
    function: Callable[..., Any],
    schema: Mapping[str, Any],
    output: OutputType | None,
    **options: Unpack[DocumentToolOptions],
) -> Tool[..., Any]:
    """Make a tool like `document_tool` from a foreign document, in which uncheckable keywords are allowed.

    Args:
        function: as for `document_tool`.
        schema: as for `document_tool`.
        output: writes its results; None for the annotation of the function.
        options: as for `document_tool`.
    """
    frame = sys._getframe(1)  # whose tool it is
    return make_tool(function, dict(options), frame, schema=schema, output=output)
