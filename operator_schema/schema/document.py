"""How are values checked against a JSON Schema document that you didn't write?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..codec.codec import DEFAULTS, ResultCodec
from ..codec.fitting import Fitting
from ..codec.options import checked_options
from ..codec.problems import Problems
from ..errors import EncodeError, SchemaError
from ..findings import DecodeReport, Finding, about_type
from ..immutable import Value, set_once
from ..json_values import JSON_TYPES, copy_json, is_array, is_object
from ..message_text import quote, received
from ..similar_names import nearest
from .document_reader import MAX_LEVELS, read_document
from .linear_regex import Patterns
from .references import resolve_pointer
from .style import restyled, style_of
from .validator import Judge
from .written import schema_fault

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self, Unpack

    from ..codec.options import CodecOptions
    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import Graph, Node
    from .style import StyleOptions


class SchemaDocument(Value):
    """A JSON Schema document that stands in place of an annotation.

    Attributes:
        name: its name in messages.
        schema: a copy of the document; don't change it.
        is_arguments: whether it describes the arguments of a tool.
        leaves: by the name of a `format`, the leaf that reads its texts; None to leave all texts unchanged.

    Raises:
        SchemaError: the document isn't made of JSON values, is too large, or describes arguments that aren't
            objects.
    """

    name: str
    schema: dict[str, Any]
    is_arguments: bool
    leaves: Mapping[str, SchemaLeaf[Any]] | None

    def __init__(
        self,
        name: str,
        schema: Mapping[str, Any],
        is_arguments: bool = True,
        leaves: Mapping[str, SchemaLeaf[Any]] | None = None,
    ) -> None:
        fault = schema_fault(schema)
        if fault is None and is_arguments and schema.get("type", "object") != "object":
            fault = f'"type" is {received(schema["type"])}, and arguments are an object'
        if fault is not None:
            message = f"its JSON Schema can't be used: {fault}"
            raise SchemaError(
                name, [about_type((), "unsupported", name, message, "Fix it where it is written")], "tool"
            )
        super().__init__(name, copy_json(schema), is_arguments, leaves)

    def __hash__(self) -> int:
        return hash((self.name, self.is_arguments, len(self.schema)))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __repr__(self) -> str:
        return f"SchemaDocument({self.name!r})"

    def with_descriptions(self, descriptions: Mapping[str, str]) -> SchemaDocument:
        """Return a copy with other descriptions for some of the properties."""
        schema = copy_json(self.schema)
        properties = schema.get("properties", {})
        for name, text in descriptions.items():
            if is_object(properties.get(name)):
                properties[name]["description"] = text
        return self.replace(schema=schema)


def _complain_descriptions(document: SchemaDocument, descriptions: Mapping[str, str]) -> list[Finding]:
    known: Mapping[str, Any] = document.schema.get("properties", {})
    complaints: list[Finding] = []
    for name in descriptions:
        if name not in known:
            near = nearest(name, known)
            message = f"param_descriptions describe {quote(name)}, which it doesn't have"
            suggestion = None if near is None else quote(near)
            complaints.append(
                about_type((), "unknown_description", document.name, message, "Leave it out", suggestion)
            )
    return complaints


class _Whole(NamedTuple):
    """A document that was read.

    Attributes:
        asked: the document, other descriptions, and whether unknown keys are refused.
        shown: the schema, with other descriptions.
        graph: a graph that takes every value that the document takes.
        beyond: the keywords that the graph doesn't express.
        judge: checks these keywords; None if there are none.
        complaints: about descriptions of unknown properties.
    """

    asked: tuple[SchemaDocument, Mapping[str, str], bool]
    shown: dict[str, Any]
    graph: Graph
    beyond: tuple[Finding, ...]
    judge: Judge | None
    complaints: list[Finding]


def _read_whole(document: SchemaDocument, descriptions: Mapping[str, str], is_closed: bool) -> _Whole:
    shown = document.with_descriptions(descriptions) if descriptions else document
    patterns = Patterns()
    reading = read_document(
        shown.schema,
        document.name,
        is_closed=is_closed,
        is_arguments=document.is_arguments,
        patterns=patterns,
        fits=_fits,
        leaves=document.leaves,
    )
    return _Whole(
        (document, descriptions, is_closed),
        shown.schema,
        reading.graph,
        tuple(reading.left),
        Judge(document.schema, patterns) if reading.left else None,
        _complain_descriptions(document, descriptions),
    )


def _fits(node: Node, value: object) -> bool:
    """Return whether a default or an example fits; False if the node refers to a definition not yet read."""
    try:
        return Fitting({}, MAX_LEVELS).fits(node, value, 1)
    except (KeyError, RecursionError):
        return False


def _whole_of(
    document: SchemaDocument, options: CodecOptions, known: _Whole | None
) -> tuple[dict[str, Any], _Whole]:
    """Return the value of every option, and the document read with these options.

    Raises:
        SchemaError: a description is for a property that doesn't exist.
    """
    checked = {**DEFAULTS, **checked_options({"name": document.name, **options})}
    descriptions: Mapping[str, str] = checked["param_descriptions"] or {}
    asked = (document, descriptions, checked["unknown_fields"] == "reject")
    whole = known if known is not None and known.asked == asked else _read_whole(*asked)
    if whole.complaints:
        raise SchemaError(document.name, whole.complaints)
    return checked, whole


def _mistake(left: Finding, place: tuple[str, Any] | None) -> Finding | None:
    """Return a finding about an unchecked keyword as a warning, if its author made a mistake; else None."""
    value = place[1].get(left.keyword) if place is not None and is_object(place[1]) else None
    if left.keyword == "$ref" and isinstance(value, str) and value.startswith("#"):
        message = f'its "$ref" {quote(value)} leads nowhere'
        return left.replace(message=message, severity="warning", remedy="Refer to a schema of the document")
    if left.keyword != "type":
        return None
    names: list[Any] = value if is_array(value) else [value]
    wrong = next((name for name in names if name not in JSON_TYPES), None)
    if not isinstance(wrong, str):
        return left.replace(message=f'its "type" is {received(value)}', severity="warning", remedy=_TYPES)
    near = nearest(wrong, JSON_TYPES)
    meant = None if near is None else quote(near)
    message = f"{quote(wrong)} isn't a type"
    return left.replace(message=message, severity="warning", suggestion=meant, remedy=_TYPES)


_TYPES: Final = f"The types are {', '.join(JSON_TYPES)}"


class DocumentCodec(ResultCodec[Any]):
    """A codec that checks values against a JSON Schema document that you didn't write.

    Decoding returns a copy of a value that fits, with its repairs, and with keys that the document doesn't
    name. `Judge` checks the keywords that the graph of the document doesn't express.

    Args:
        document: the document; `json_schema` returns its `schema`.
        options: as `Codec` takes them; those about Python types have no effect. With
            `unknown_fields="reject"`, objects refuse keys that they don't name unless the schema allows them
            explicitly.

    Raises:
        SchemaError: a description is of a property that there isn't.
    """

    _whole: _Whole

    def __init__(self, document: SchemaDocument, /, **options: Unpack[CodecOptions]) -> None:
        checked, whole = _whole_of(document, options, None)
        self._hold(whole.graph, document, document.name, checked)
        set_once(self, "_whole", whole)

    def again(self, annotation: Any, /, **options: Unpack[CodecOptions]) -> Self:
        """Return a codec with other options, which shares the document that was read if possible."""
        checked, whole = _whole_of(annotation, options, self._whole)
        made = self.from_graph(whole.graph, annotation, annotation.name, checked)
        set_once(made, "_whole", whole)
        return made

    @property
    def left(self) -> tuple[Finding, ...]:
        """The keywords that aren't checked, in the order of the document; 100 at most."""
        return () if self._whole.judge is None else self._whole.judge.left

    @property
    def mistakes(self) -> tuple[Finding, ...]:
        """The mistakes among `left`, as warnings: an unknown type, a reference that leads nowhere."""
        schema = self._whole.shown
        found = [_mistake(each, resolve_pointer(schema, each.where)) for each in self.left]
        return tuple([each for each in found if each is not None])

    @property
    def beyond(self) -> tuple[Finding, ...]:
        """The keywords that the graph doesn't express, in the order of the document; 100 at most.

        They are checked when values are decoded, except those that `left` lists.
        """
        return self._whole.beyond

    @property
    def decoded_type(self) -> Any:
        """The type of decoded values: dict if the document describes arguments, else Any."""
        return dict[str, Any] if self.type.is_arguments else Any

    def json_schema(self, **options: Unpack[StyleOptions]) -> dict[str, Any]:
        """Return the document itself, with as few changes as the options ask for.

        With `inline`, the schema is rendered from the graph, without the keywords that the graph doesn't
        express.
        """
        style = style_of(options) if options else None
        if style is not None and style.inline:
            return super().json_schema(**options)
        document: dict[str, Any] = copy_json(self._whole.shown)
        if style is None:
            return document
        styled: dict[str, Any] = restyled(document, style)
        return styled

    def decode(self, value: object) -> Any:
        """Return a copy of a JSON value that fits, repaired if need be.

        Raises:
            DecodeError: with every problem.
        """
        return self._made(self._checked(self._repaired(value)[0]))

    def report(self, value: object) -> tuple[Finding, ...]:
        """Return the problems of a JSON value; empty if it decodes."""
        return super().report(value) or self._judged(self._repaired(value)[0])

    def encode(self, instance: Any) -> Any:
        """Return a copy of JSON values that fit.

        Raises:
            EncodeError: with every problem.
        """
        value = self._written(instance)
        problems = super().report(value) or self._judged(value)
        if problems:
            raise EncodeError(self._name, problems)
        return copy_json(value)

    def encode_leniently(self, instance: object) -> tuple[Any, tuple[Finding, ...]]:
        """Return a copy of JSON values, and a note for each that doesn't fit."""
        value = self._written(instance)
        return copy_json(value), super().report(value) or self._judged(value)

    def _made(self, value: Any) -> Any:
        """Return the result of `decode` for JSON values that fit."""
        return value

    def _written(self, instance: Any) -> Any:
        """Return the JSON values for a result of `decode`."""
        return instance

    def _checked(self, value: Any) -> Any:
        super().decode(value)
        found = self._judged(value)
        if found:
            problems = Problems()
            problems.found.extend(found)
            raise self._error(problems, value)
        return copy_json(value)

    def _judged(self, value: object) -> tuple[Finding, ...]:
        judge = self._whole.judge
        return () if judge is None else tuple(judge.problems(value))

    def _report(self, value: object, repairs: tuple[Finding, ...]) -> DecodeReport[Any]:
        repaired, more = self._repaired(value)
        return DecodeReport(self._made(self._checked(repaired)), (*repairs, *more))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.type, dict(self._options))


def _restore(cls: type[DocumentCodec], document: SchemaDocument, options: dict[str, Any]) -> DocumentCodec:
    return cls(document, **options)
