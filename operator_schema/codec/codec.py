"""The codec: a registered type that describes itself to a model and decodes the model's arguments."""

from __future__ import annotations

from dataclasses import MISSING
from functools import cache, partial
from typing import TYPE_CHECKING, Any, overload

from ..immutable import Generic, T, refuse_change, refuse_deletion, set_once
from ..introspect.classes import form_of
from ..introspect.hints import annotation_key
from ..introspect.leaves import SchemaLeaf, leaf_generation
from ..introspect.nodes import UNKNOWN, AnyNode, Field, ObjectNode
from ..introspect.shown_annotations import name_of
from ..introspect.walk import ResultWalk, Walk
from ..json_values import MAX_DEPTH, copy_json, to_json_text
from .interpret import encoded_at_sight, fits_at_sight, interpret
from .problems import (
    INVALID,
    GiveUp,
    LazyCorrection,
    Problems,
    decode_error,
    encode_error,
    errors,
    ignored_keys,
)
from .tiered_compilation import Tiers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping
    from types import ModuleType
    from typing import Self, Unpack

    from ..errors import DecodeError
    from ..findings import DecodeReport, Finding
    from ..introspect.nodes import Defaulted, Graph, Node
    from ..schema.render import MakeRenderer
    from ..schema.style import StyleOptions
    from .options import CodecOptions
    from .partial import ArgumentStream, Partial

DEFAULTS: Mapping[str, Any] = {
    "name": None,
    "param_descriptions": None,
    "unknown_fields": "ignore",
    "repair": False,
    "leaves": (),
    "namespace": None,
    "max_depth": MAX_DEPTH,
    "attribute_docs": False,
    "json_loads": None,
}
"""The default options of a codec."""


class Codec(Generic[T]):
    """A registered type, walked and checked once, which describes, decodes and encodes its values.

    A codec is immutable, may be used from any number of threads, and pickles as its type and
    options.

    Args:
        annotation: a dataclass, or any other supported annotation.
        name: the name of the type in errors; by default the type's own name.
        param_descriptions: field name to description, for the fields of the type itself; overrides the
            descriptions in the type.
        unknown_fields: `"ignore"` drops keys that name no field; `"reject"` makes each a problem,
            at every depth, and closes the objects in the schema.
        repair: whether to correct values that don't fit, and keys that would be unused, if they can be read
            in only one way: JSON inside strings, numbers in quotes, keys in another convention, text that is
            nearly JSON. Valid input is never changed.
        leaves: leaves for this codec only.
        namespace: names that annotations written as text may use in addition to those of their module,
            such as the local variables of the function that defines the class.
        max_depth: levels of arrays and objects that a value may nest, the root being the first.
        attribute_docs: whether strings below the fields of a class describe them; this reads the source,
            which takes far longer than the rest of the registration.
        json_loads: a parser to use instead of this package's own reader, such as `orjson.loads`: it takes the
            argument of `decode_json` and returns the value. If it raises ValueError, that becomes an
            `invalid_json` problem. The parser decides about repeated keys, large numbers and `NaN`.

    Raises:
        SchemaError: with every complaint about the type.
        ValueError: an option has the wrong type or is out of range.
    """

    __setattr__ = refuse_change
    __delattr__ = refuse_deletion
    _walk_class = Walk

    _annotation: Any
    _graph: Graph
    _name: str
    _options: Mapping[str, Any]
    _parse: Callable[[Any], Any] | None
    _tiers: Tiers

    @overload
    def __init__(self, annotation: type[T], /, **options: Unpack[CodecOptions]) -> None: ...
    @overload
    def __init__(self: Codec[Any], annotation: Any, /, **options: Unpack[CodecOptions]) -> None: ...
    def __init__(self, annotation: Any, /, **options: Unpack[CodecOptions]) -> None:
        checked = DEFAULTS
        if options:
            given: dict[str, Any] = {**options}
            # Most tools only have a name: they don't load the checks of the other options.
            if len(given) > 1 or not isinstance(given.get("name"), str):
                given = _options().checked_options(given)
            checked = {**DEFAULTS, **given}
        own_name = name_of(annotation)
        walk = self._walk_class(
            checked["leaves"],
            checked["unknown_fields"] == "reject",
            checked["namespace"] or {},
            checked["max_depth"],
            checked["attribute_docs"],
        )
        try:
            graph = walk.checked_graph(annotation, own_name, checked["param_descriptions"], _default_faults)
        except Exception as error:  # noqa: BLE001  # a class may do anything when it is read
            from ..introspect.registration_errors import raise_for

            raise_for(error, own_name, "type")
        self._hold(graph, annotation, own_name, checked)

    @classmethod
    def from_graph(cls, graph: Graph, annotation: Any, name: str, options: Mapping[str, Any], /) -> Self:
        """Make a codec from an existing graph; for this package only, because it may change at any time.

        Args:
            graph: the meaning of the type.
            annotation: the annotation that `type` returns.
            name: name of the type in errors, unless the options have one.
            options: the value of every option: `DEFAULTS` updated by the result of `checked_options`.
        """
        made = object.__new__(cls)
        made._hold(graph, annotation, name, options)
        return made

    def _hold(self, graph: Graph, annotation: Any, own_name: str, checked: Mapping[str, Any]) -> None:
        loads = checked["json_loads"]
        parse = None if loads is None else _json_text().parser_of(loads)
        leaves: tuple[SchemaLeaf[Any], ...] = checked["leaves"]
        is_usual = not leaves and self._walk_class is Walk
        graph_of: Any = _graph_of if is_usual else partial(_graph_of, leaves=leaves, codec=type(self))
        # Asking for `__dict__` would make one, of 272 bytes.
        set_once(self, "_annotation", annotation)
        set_once(self, "_name", checked["name"] or own_name)
        set_once(self, "_graph", graph)
        set_once(self, "_options", checked)
        set_once(self, "_parse", parse)
        asked = {"exact": checked["repair"], "is_decoded": not self._walk_class.of_results}
        set_once(self, "_tiers", Tiers(graph, checked["max_depth"], graph_of, **asked))

    @property
    def type(self) -> Any:
        """The registered annotation."""
        return self._annotation

    @property
    def decoded_type(self) -> Any:
        """The type of the results of `decode`: the registered annotation, unless a subclass overrides it."""
        return self._annotation

    @property
    def name(self) -> str:
        """The name of the type in errors."""
        return self._name

    @property
    def graph(self) -> Graph:
        """The meaning of the type, as a graph of nodes."""
        return self._graph

    def again(self, annotation: Any, /, **options: Unpack[CodecOptions]) -> Self:
        """Make a codec of the same class with other options, for the same type or one that replaces it."""
        return type(self)(annotation, **options)

    def under(self, key: str) -> Self:
        """Return the codec of an object with a value of the type under one key; for this package only."""
        field = Field(key, key, self._graph.root, True, MISSING, False, False, None, ())
        root = ObjectNode(dict, key, "typed_dict", (field,), closed=False)
        return self.from_graph(self._graph.replace(root=root), Any, self._name, self._options)

    def json_schema(self, **options: Unpack[StyleOptions]) -> dict[str, Any]:
        """Return the JSON Schema 2020-12 document of the type.

        Args:
            inline: whether only recursive types are under `$defs`; for hosts that follow no references.
            boolean_schemas: whether `true` and `false` may be schemas, as in `"items": false`.
            empty_schemas: whether a schema may leave out the type of a value, as `{}` does.

        Returns:
            A fresh dict, which the caller may change; it has `"type": "object"` at the root for a dataclass.
            It takes the same values with all options.

        Raises:
            SchemaError: with `inline`, the document would hold more than 10,000 schemas.
            TypeError: an option doesn't exist, or is neither True nor False.
        """
        if options:
            from ..schema.style import render_in_style, style_of

            style = style_of(options)
            if style is not None:
                return render_in_style(self._graph, self._encode_default, style, self._name)
        return _renderer()(self._graph, self._encode_default)

    def json_schema_by(self, make: MakeRenderer, *, inline: bool = False) -> dict[str, Any]:
        """Return the JSON Schema of the type in a dialect.

        Args:
            make: makes the renderer of the dialect; takes the arguments of `Renderer`.
            inline: as `render` takes it.
        """
        return _renderer()(self._graph, self._encode_default, make, inline=inline)

    def decode(self, value: object) -> T:
        """Turn a JSON value into an instance.

        Args:
            value: the model's arguments: dict, list, str, int, float, bool and None. It is not
                changed.

        Returns:
            An instance of the type.

        Raises:
            DecodeError: with every problem.
        """
        compiled = self._tiers.decode
        if compiled is None:
            self._tiers.count("decode", self._compile_decoder)
            return self._decode_interpreted(value)
        decoded: T = compiled(value)
        return decoded

    def _decode_interpreted(self, value: object) -> T:
        options = self._options
        if options["repair"]:
            value, _ = self._repaired(value)
        tiers = self._tiers
        decoded, problems = interpret(
            self._graph, value, options["max_depth"], tiers.plans, filler_of=tiers.filler_of
        )
        # The error is raised here and not further down: each frame that it passes takes time. It has no
        # variable, because the frame and the error would keep each other until the collector comes.
        if problems.found:
            raise self._error_of_value(problems, value)
        instance: T = decoded
        return instance

    def decode_json(self, text: str | bytes | bytearray) -> T:
        """Turn the JSON text of a model's arguments into an instance.

        Args:
            text: one JSON value (RFC 8259), as a string or as UTF-8.

        Returns:
            An instance of the type.

        Raises:
            DecodeError: the text isn't valid JSON, with line and column; or every problem of its value.
            TypeError: text is neither a string nor bytes.
        """
        value = self._tiers.read(text)
        return self.decode(self._read(text)[0] if value is GiveUp else value)

    def decode_report(self, value: object) -> DecodeReport[T]:
        """Turn a JSON value into an instance, and report repairs and ignored keys.

        Args:
            value: the model's arguments, as `decode` takes them.

        Returns:
            The instance, the repairs that were made and the keys that were ignored.

        Raises:
            DecodeError: with every problem.
        """
        return self._report(value, ())

    def decode_json_report(self, text: str | bytes | bytearray) -> DecodeReport[T]:
        """Turn the JSON text of a model's arguments into an instance, and report repairs and ignored keys.

        Args:
            text: one JSON value (RFC 8259), as a string or as UTF-8.

        Returns:
            The instance, the repairs that were made and the keys that were ignored.

        Raises:
            DecodeError: the text isn't valid JSON, with line and column; or every problem of its value.
            TypeError: text is neither a string nor bytes.
        """
        return self._report(*self._read(text))

    def fits_exactly(self, value: object) -> bool:
        """Return whether it is clear at once that `decode_report` has no findings; for this package only.

        Raises:
            DecodeError: the class of the root refuses the value.
        """
        exact = self._tiers.exact
        return exact is not None and exact(value) is not GiveUp

    def report(self, value: object) -> tuple[Finding, ...]:
        """Return the problems of a JSON value, in the order of the fields; empty if it decodes."""
        repaired, _ = self._repaired(value)
        _, problems = interpret(self._graph, repaired, self._options["max_depth"])
        return tuple(_suggesting(problems).found)

    def _repaired(self, value: object) -> tuple[Any, tuple[Finding, ...]]:
        if not self._options["repair"]:
            return value, ()
        from .repair import repair_value

        return repair_value(self._graph, value, self._options["max_depth"])

    def read_json(self, text: str | bytes | bytearray) -> Any:
        """Return the value that `decode_json` would decode; for this package only."""
        return self._read(text)[0]

    def _read(self, text: str | bytes | bytearray) -> tuple[Any, tuple[Finding, ...]]:
        value = self._tiers.read(text)
        if value is not GiveUp:
            return value, ()
        reader = _json_text()
        decimals = self._tiers.decimals() if self._parse is None else None
        if decimals is None:
            self._tiers.read = reader.quick_reader(self._parse)
        value, repairs, problems = reader.read_text(text, self._parse, self._options["repair"], decimals)
        if problems is not None:
            raise self._error(problems, text)
        return value, repairs

    def _report(self, value: object, repairs: tuple[Finding, ...]) -> DecodeReport[T]:
        exact = self._tiers.exact
        if exact is not None:
            made = exact(value)
            if made is not GiveUp:
                report: DecodeReport[T] = _findings().DecodeReport(made, repairs)
                return report
        else:
            self._tiers.count("report", self._compile_exact)
        repaired, more = self._repaired(value)
        tiers, max_depth = self._tiers, self._options["max_depth"]
        instance, problems = interpret(
            self._graph, repaired, max_depth, tiers.plans, filler_of=tiers.filler_of
        )
        if problems.found:
            raise self._error(problems, repaired)
        findings = _findings()
        keys = [findings.ignored(*key) for key in ignored_keys(problems)]
        found: DecodeReport[T] = findings.DecodeReport(instance, (*repairs, *more, *keys))
        return found

    def encode(self, instance: T) -> Any:
        """Turn an instance into JSON values.

        Args:
            instance: an instance of the type.

        Returns:
            JSON values that share nothing with the instance, and that `decode` turns back into an equal one.

        Raises:
            EncodeError: with every value that does not fit its field.
        """
        compiled = self._tiers.encode
        if compiled is None:
            self._tiers.count("encode", self._compile_encoder)
            return self._encode_interpreted(instance)
        return compiled(instance)

    def encode_json(self, instance: T) -> str:
        """Turn an instance into JSON text.

        Args:
            instance: an instance of the type.

        Returns:
            Compact JSON (RFC 8259) that every encoding can write: without lone surrogates; other characters
            than ASCII aren't escaped. `decode_json` turns it back into an equal instance.

        Raises:
            EncodeError: with every value that does not fit its field.
        """
        return to_json_text(self.encode(instance))

    def encode_leniently(self, instance: object) -> tuple[Any, tuple[Finding, ...]]:
        """Turn a value into JSON values even if it doesn't fit the type, for results of work already done.

        A part that fits is written as `encode` writes it. Any other part is written in its obvious JSON form,
        if it has one: any iterable as an array; a map, a database row or an instance of another class as
        an object, its keys as text; an Enum's member as its value; a datetime without a UTC offset as
        ISO 8601; numbers that aren't finite as null.

        Args:
            instance: anything.

        Returns:
            The JSON value, and a note for each part that doesn't fit: its place, the declared type, the
            value. No notes means that `encode` returns the same value.

        Raises:
            EncodeError: with every part that has no JSON form, such as a function; also if the value contains
                itself, nests deeper than `max_depth` or holds more than 1,000,000 values.
        """
        try:
            return self.encode(instance), ()  # type: ignore[arg-type]  # whether it is a T is the question
        except Exception as error:  # noqa: BLE001  # the value's own code may raise anything
            refused = error
        from .lenient_encode import encode_refused

        max_depth = self._options["max_depth"]
        return encode_refused(self._graph, instance, refused, self._name, max_depth, self._graph_of)

    def _encode_interpreted(self, instance: T) -> Any:
        return self._encode_node(self._graph.root, instance)

    def decode_partial(self, text: str | bytes | bytearray) -> Partial:
        """Return the decoded part of arguments whose text is incomplete.

        Args:
            text: the beginning of one JSON value, or all of it. For a growing text, use `stream`, which reads
                each chunk only once.

        Returns:
            The complete fields, the field that is being received, and the missing fields.

        Raises:
            TypeError: text is neither a string nor bytes.
        """
        return self.stream().feed(text)

    def stream(self, *, clean: Callable[[Graph, Any], Any] | None = None) -> ArgumentStream[T]:
        """Return a stream that takes the text of a model's arguments chunk by chunk.

        Args:
            clean: changes the arguments before they are decoded, given the type's graph and some or all of
                their members; None if they stay as the model wrote them.
        """
        from .partial import ArgumentStream

        repairs, has_parser = self._options["repair"], self._options["json_loads"] is not None
        read = self._read_whole if repairs or has_parser else None
        return ArgumentStream(
            self._graph,
            self._options["max_depth"],
            self.decode_json if clean is None else partial(self._decode_cleaned, clean),
            read,
            repairs=repairs,
            has_parser=has_parser,
            clean=clean,
        )

    def _decode_cleaned(self, clean: Callable[[Graph, Any], Any], text: str | bytes) -> T:
        return self.decode(clean(self._graph, self.read_json(text)))

    def _read_whole(self, text: str | bytes) -> Any:
        return self._repaired(self._read(text)[0])[0]

    def compile(self) -> Self:
        """Compile decoder and encoder now, instead of after the first calls.

        A codec compiles itself after a number of calls. Call this if you prefer to wait at start-up. The
        results are the same. A type that can't be compiled stays interpreted; `source` shows the reason.

        Returns:
            The codec.
        """
        if self._tiers.decode is None:
            self._compile_decoder()
        if self._tiers.encode is None:
            self._compile_encoder()
        self._tiers.warm_items()
        return self

    @property
    def compiled(self) -> frozenset[str]:
        """Names of the methods that are compiled so far: `"decode"`, `"encode"`.

        The others are interpreted, with the same results. For tests and benchmarks.
        """
        return self._tiers.compiled

    def _compile_decoder(self) -> None:
        tiers, cls = self._tiers, _Codec
        tiers.compile_decoder(self, cls._decode_interpreted, cls._refusal)
        tiers.publish(self, cls.decode)

    def _compile_exact(self) -> None:
        cls = _Codec
        self._tiers.compile_exact(self, cls._refusal)

    def _compile_encoder(self) -> None:
        tiers, cls = self._tiers, _Codec
        tiers.compile_encoder(self, cls._encode_interpreted)
        tiers.publish(self, cls.encode)

    def source(self) -> str:
        """Return the Python source of the compiled decoder and encoder, for reading."""
        cls = _Codec
        return self._tiers.source(cls._decode_interpreted, cls._encode_interpreted)

    def _encode_node(self, node: Node, value: object) -> Any:
        from .encode import encode_node

        about = self._graph.definitions, value, self._options["max_depth"], self._graph_of
        encoded, problems = encode_node(node, *about, is_decoded=not self._walk_class.of_results)
        if problems.found:
            raise encode_error(self._name, _suggesting(problems))
        return encoded

    def _encode_default(self, node: Node, value: object) -> Any:
        encoded = encoded_at_sight(node, value)
        return self._encode_node(node, value) if encoded is INVALID else encoded

    def _graph_of(self, cls: Any) -> Graph | None:
        codec = type(self) if self._walk_class is not Walk else Codec
        return _graph_of(cls, self._options["leaves"], codec)

    def _refusal(self, reason: Exception, value: Any) -> DecodeError:
        problems = Problems()
        root: Any = self._graph.root  # an ObjectNode: only a class refuses
        problems.rejected(None, root, reason, value)
        problems.ignore(None, root, value)
        return self._error(problems)

    def _error(self, problems: Problems, value: object = None) -> DecodeError:
        found = _suggesting(problems)
        correction = None if found.is_hopeless else LazyCorrection.of(self._correction, found, value)
        example = lambda: next(iter(self._example()), None)  # noqa: E731  # beside its like
        return decode_error(self._name, found, self._expects, example, correction)

    def _error_of_value(self, problems: Problems, value: object) -> DecodeError:
        error = self._error(problems, value)
        first = problems.found[0]
        if isinstance(value, (str, bytes, bytearray)) and (first.path, first.code) == ((), "wrong_type"):
            # A note for readers of the traceback; the report itself is for the model.
            error.add_note("decode takes a parsed value; decode_json takes JSON text")
        return error

    def _correction(self, problems: Problems, value: object) -> Any:
        """Return the value that was probably meant by one that doesn't fit, or None."""
        max_depth = self._options["max_depth"]
        return _corrections().corrected(self._graph, problems, value, max_depth, self.decode_report)

    def _expects(self) -> str:
        # A call that fails is seldom the last one: the line is made once.
        tiers = self._tiers
        if tiers.expects is None:
            from .expected_values import expected_fields

            tiers.expects = expected_fields(self._name, self._graph)
        return tiers.expects

    def example(self) -> Any:
        """Return a minimal valid value of the type, for docs, tests and prompts.

        Optional fields are left out; the others have their first example, the placeholder
        of their leaf, their first choice, or the smallest value that fits. The class's own checks are run.

        Returns:
            JSON values that decode; the caller may change them.

        Raises:
            ValueError: none was found, because a class's own check or a pattern refuses every value that was
                tried, or because every value is too large.
        """
        found = self._example()
        if not found:
            message = f"{self._name}: no valid example was found; give its fields examples"
            raise ValueError(message)
        return copy_json(found[0])

    def _example(self) -> tuple[Any, ...]:
        from .example import checked_example

        return checked_example(self._graph, self._options["max_depth"])

    def __repr__(self) -> str:
        return f"Codec({self._name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._annotation, dict(self._options))


_Codec: type[Codec[Any]] = Codec


@cache  # asking for the import each time would take as long as rendering a small schema
def _renderer() -> Callable[..., dict[str, Any]]:
    from ..schema.render import render

    return render


@cache  # most codecs have no options; an import takes as long as checking one
def _options() -> ModuleType:
    from . import options

    return options


@cache  # an import takes longer than a compiled decode, even where the module is loaded
def _findings() -> ModuleType:
    from .. import findings

    return findings


@cache  # programs whose calls all fit don't need it
def _corrections() -> ModuleType:
    from . import corrections

    return corrections


def _suggesting(problems: Problems) -> Problems:
    """Add suggestions to problems: the values that were probably meant."""
    if problems.asked:
        _corrections().add_suggestions(problems)
    return problems


@cache  # a program that decodes parsed values alone does not pay for the json module
def _json_text() -> ModuleType:
    from . import json_text

    return json_text


def _restore(annotation: Any, options: dict[str, Any]) -> Codec[Any]:
    return Codec(annotation, **options)


def _default_faults(
    entries: Iterable[Defaulted], graph: Graph, max_depth: int, *, is_decoded: bool
) -> Iterable[Finding]:
    """Yield the faults of the defaults and examples of fields, and turn the examples into JSON values."""
    checks: Any = None  # most types need none
    for entry in entries:
        field, node = entry.field, entry.field.node
        plain = [encoded_at_sight(node, each) is each for each in field.examples]
        plain.append(not entry.has_default or fits_at_sight(node, field.default))
        if node is not UNKNOWN and not all(plain):
            from .default_checks import DefaultChecks

            checks = checks or DefaultChecks(graph, max_depth, _graph_of, is_decoded=is_decoded)
            yield from checks.complaints(entry)
    if checks is not None:
        checks.keep_examples(entries)


class ResultCodec(Codec[T]):
    """The codec of results, which are only encoded, including fields that the constructor doesn't take."""

    _walk_class = ResultWalk

    def json_schema_under(self, key: str) -> dict[str, Any]:
        """Return the JSON Schema of an object with a value of the type under one key.

        Its definitions are at the root, as in every document.
        """
        return self.under(key).json_schema()


_CACHED_CODECS = 1024
"""How many codecs the functions keep before they drop all: about 18 MB for types with 30 fields."""

_codecs: dict[Hashable, Codec[Any]] = {}


def codec_of(annotation: Any, *, repair: bool = False, codec: type[Codec[Any]] = Codec) -> Codec[Any]:
    """Return the codec of a type, registered at first use and cached.

    After `_CACHED_CODECS` types, all codecs are dropped, so that types made at run time don't fill the
    memory.

    Raises:
        SchemaError: with every complaint about the type.
    """
    try:
        same = id(annotation) if type(annotation) is type else annotation_key(annotation)
        key = (codec, repair, leaf_generation(), same)
        known = _codecs.get(key)
    except (TypeError, RecursionError):  # no hash, or nested too deep: `Codec` says what is wrong
        return _registered(codec, annotation, repair=repair)
    if known is not None:
        return known
    made = _registered(codec, annotation, repair=repair)
    if len(_codecs) >= _CACHED_CODECS:
        _codecs.clear()
    return _codecs.setdefault(key, made)


def _registered(codec: type[Codec[Any]], annotation: Any, *, repair: bool) -> Codec[Any]:
    return codec(annotation, repair=True) if repair else codec(annotation)


def _graph_of(
    cls: type, leaves: tuple[SchemaLeaf[Any], ...] = (), codec: type[Codec[Any]] = Codec
) -> Graph | None:
    try:
        graph = codec(cls, leaves=leaves).graph if leaves else codec_of(cls, codec=codec).graph
    except errors().SchemaError:
        if form_of(cls) is None:
            return None  # a class of another library, which needs a leaf to be encoded
        raise
    return None if isinstance(graph.root, AnyNode) else graph
