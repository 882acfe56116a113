"""Which calls does the schema of a tool allow, and which does it refuse?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ...engine import DocumentCodec, SchemaDocument
from ...errors import SchemaError
from ...json_values import (
    MAX_TEXT_DEPTH,
    choice_key,
    copy_json,
    is_array,
    is_object,
    nests_deeper,
    to_json_text,
    writable_json,
)
from ...message_text import show_path
from .drawing import near_misses_of, valid_arguments_of
from .parts import FORMATS, choices_of, example_of, is_number, paths_in, placed, removed, type_names, value_at
from .sample_values import (
    FEW_HOSTILE,
    FEW_SAMPLES,
    HOSTILE,
    SAMPLES,
    edge_lists,
    edge_maps,
    edge_values,
    meaningful_values,
    plain_value,
    values_beyond,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...findings import Finding
    from .parts import ArgumentPart, Path

CallKind: TypeAlias = Literal["valid", "invalid", "hostile"]
"""`valid`: the schema allows it · `invalid`: it does not · `hostile`: allowed, but a server may refuse it."""

_ABSENT: Final = object()
_GENERATED: Final = "what the schema allows"
_UNKNOWN_KEY: Final = "probe_unknown_key"
_LARGE: Final = 10_000
"""The least number that may be too large for a server."""


@dataclass(frozen=True)
class Call:
    """A call of a tool.

    Attributes:
        tool: the name of the tool.
        arguments: JSON values.
        kind: whether the schema allows the arguments.
        why: the purpose of the call, such as `wrong type of count`.
        varied: the part in which it differs from a plain call; None if it wasn't made from a plain call.
    """

    tool: str
    arguments: Any
    kind: CallKind
    why: str
    varied: Path | None = None

    @property
    def is_readable(self) -> bool:
        """Whether every program can read its texts: they have no lone surrogates (RFC 7493)."""
        return bool(readable(self.arguments) == self.arguments)

    @property
    def is_generated(self) -> bool:
        """Whether Hypothesis generated it from the whole schema."""
        return self.why == _GENERATED

    def magnitude(self) -> int:
        """Return the size of its largest number; 0 if every server can handle numbers of that size."""
        sizes = [abs(value) for _, value in paths_in(self.arguments) if is_number(value)]
        return int(max([0, *[size for size in sizes if size > _LARGE]]))

    def key(self) -> str:
        """Return a text that is equal for equal calls."""
        return f"{self.tool} {choice_key(to_json_text(self.arguments))}"


@dataclass
class ProbedTool:
    """A tool of a server, read from its definition.

    Attributes:
        name: the name of the tool.
        described: the definition, as the server wrote it.
        codec: checks arguments by its schema; None if that can't be read.
        strict: takes only what every server has to take: no unknown keys, few samples of each format.
        output: checks structured results; None if no schema promises anything.
        values: parameter to values that may mean something to the server.
    """

    name: str
    described: Mapping[str, Any]
    codec: DocumentCodec | None = None
    strict: DocumentCodec | None = None
    output: DocumentCodec | None = None
    values: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    _generated: list[Any] = field(default_factory=list[Any])

    @classmethod
    def of(cls, described: Mapping[str, Any], work: str | None = None) -> ProbedTool:
        """Read the definition of a tool.

        Args:
            described: an item of the result of `tools/list`.
            work: the working directory of the server, if it is known.
        """
        name = described["name"]
        made = cls(name, described)
        schema, output = described.get("inputSchema"), described.get("outputSchema")
        made.codec = _codec_of(name, schema, is_arguments=True) if is_object(schema) else None
        closed = _codec_of(name, _with_samples(schema), is_arguments=True, is_closed=True)
        made.strict = made.codec if closed is None else closed
        made.output = _codec_of(name, output, is_arguments=False) if is_object(output) else None
        for parameter, inner in made.properties.items():
            made.values[parameter] = list(meaningful_values(parameter, inner, work, made.properties))
        return made

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of the arguments; empty if there is none."""
        found = self.described.get("inputSchema")
        return found if is_object(found) else {}

    @property
    def properties(self) -> dict[str, Any]:
        """The schemas of the parameters, by name."""
        found = self.schema.get("properties")
        return {name: inner for name, inner in found.items() if is_object(inner)} if is_object(found) else {}

    @property
    def required(self) -> list[str]:
        """The names of the required parameters."""
        found = self.schema.get("required")
        return [name for name in found if isinstance(name, str)] if is_array(found) else []

    @property
    def promises_output(self) -> bool:
        """Whether it has an output schema."""
        return is_object(self.described.get("outputSchema"))

    def hint(self, name: str) -> bool | None:
        """Return the value of an annotation, such as `readOnlyHint`; None if the tool doesn't have it."""
        found = self.described.get("annotations")
        value = found.get(name) if is_object(found) else None
        return value if isinstance(value, bool) else None

    @property
    def is_read_only(self) -> bool:
        """Whether it says that it changes nothing; the protocol assumes that a tool changes something."""
        return self.hint("readOnlyHint") is True

    def problems(self, arguments: Any) -> tuple[Finding, ...]:
        """Return the problems of arguments, as the schema sees them."""
        return () if self.codec is None else self.codec.report(arguments)

    def allows(self, arguments: Any) -> bool:
        """Return whether every server with this schema has to accept some arguments."""
        return self.strict is not None and not self.strict.report(arguments)

    def fits(self, call: Call) -> bool:
        """Return whether the schema agrees with the kind of a call."""
        if call.kind == "invalid":
            return bool(self.problems(call.arguments))
        return self.allows(readable(call.arguments) if call.kind == "hostile" else call.arguments)

    # --- calls ---------------------------------------------------------------------------------------

    def calls(self, number: int, chance: int) -> list[Call]:
        """Return calls of all kinds, each once.

        Args:
            number: the number of generated calls of each kind.
            chance: equal numbers give equal calls.
        """
        if self.codec is None or self.strict is None:
            return []
        random = Random(f"{chance} {self.name}")  # noqa: S311  # repeatable, not secret
        valid = self._generated = self._valid(number, random)
        found = [Call(self.name, each, "valid", _GENERATED) for each in valid]
        if valid:
            found += self.variations(self.full_call(valid[0]))
        near = near_misses_of(self.codec, number, random.randrange(2**32), self.name)
        found += [Call(self.name, each, "invalid", "a near miss") for each in near]
        return _once(found)

    def full_call(self, base: Any) -> Any:
        """Add as many optional parts as possible to the arguments of a call.

        Args:
            base: arguments that the schema allows.
        """
        found = base
        for name in self.properties:
            value = self._example.get(name)
            if name in base and not (is_object(value) or is_array(value)):
                continue
            drawn = [each[name] for each in self._generated if name in each]
            for other in [value, *sorted(drawn, key=bool, reverse=True)]:
                changed = {**found, name: other}
                if self.allows(changed):
                    found = changed
                    break
        return {**{name: found[name] for name in self.properties if name in found}, **found}

    @cached_property
    def _built(self) -> tuple[Any, list[ArgumentPart]]:
        return example_of(self.schema)

    @property
    def _example(self) -> dict[str, Any]:
        found = self._built[0]
        return found if is_object(found) else {}

    @property
    def parts(self) -> list[ArgumentPart]:
        """The parts of the arguments, at all depths."""
        return self._built[1]

    def variations(self, base: Any) -> list[Call]:
        """Return wrong, right and hostile calls that each differ from a plain one in one part.

        Large numbers come last, in rising order, since small numbers may show the same fault.

        Args:
            base: arguments that the schema allows.
        """
        mistakes = [call for call in self._mistakes(base) if len(self.problems(call.arguments)) == 1]
        others = [call for call in (*self._edges(base), *self._hostile(base)) if self.fits(call)]
        return sorted(_once([*mistakes, *others]), key=Call.magnitude)

    def _valid(self, number: int, random: Random) -> list[Any]:
        """Return arguments that the schema allows, the smallest first, many with meaningful values."""
        if self.strict is None:
            return []
        chance = random.randrange(2**32)
        plain = [plain_value(each) for each in valid_arguments_of(self.strict, number, chance, self.name)]
        found = [*[self._with_meaning(each, random) for each in plain], *plain]
        by_text = {to_json_text(each): each for each in found if self.allows(each)}
        return [by_text[text] for text in sorted(by_text, key=len)[:number]]

    def _with_meaning(self, arguments: Any, random: Random) -> Any:
        """Replace random values by values that may mean something to the server."""
        found = dict(arguments)
        for name, values in self.values.items():
            if values and (name in found or name in self.required):
                changed = {**found, name: copy_json(random.choice(values))}
                if self.allows(changed):
                    found = changed
        return found

    def _mistakes(self, base: Any) -> Iterator[Call]:
        """Yield calls that may have one mistake each."""
        yield Call(self.name, {**base, _UNKNOWN_KEY: 1}, "invalid", "an unknown key", ())
        for part, place in self._parts_in(base):
            path, inner = part.path, value_at(base, part.path, _ABSENT)
            if part.is_required and isinstance(path[-1], str) and inner is not _ABSENT:
                yield Call(self.name, removed(base, path), "invalid", f"{place} is missing", path)
            changed = [(value, f"wrong type of {place}") for value in _of_depth(path, SAMPLES, FEW_SAMPLES)]
            beyond = values_beyond(part.schema, None if inner is _ABSENT else inner)
            changed += [(value, f"{place} beyond a limit") for value in beyond]
            if is_object(inner):
                changed.append(({**inner, _UNKNOWN_KEY: 1}, f"an unknown key in {place}"))
            for value, why in changed:
                yield Call(self.name, placed(base, path, value), "invalid", why, path)

    def _edges(self, base: Any) -> Iterator[Call]:
        """Yield calls at the limits of each part; some may not be valid."""
        for part, place in self._parts_in(base):
            path, inner = part.path, value_at(base, part.path, _ABSENT)
            own = None if inner is _ABSENT else inner
            large = [*edge_lists(part.schema, own), *edge_maps(part.schema, own)]
            for value in [*edge_values(part.schema), *large, *part.forms]:
                yield Call(self.name, placed(base, path, value), "valid", f"{place} at a limit", path)
            if not part.is_required and inner is not _ABSENT:
                yield Call(self.name, removed(base, path), "valid", f"{place} left out", path)
        required = {name: base[name] for name in self.required if name in base}
        yield Call(self.name, required, "valid", "optional parameters left out", ())

    def _hostile(self, base: Any) -> Iterator[Call]:
        """Yield calls with hostile texts; some may not be allowed by the schema."""
        for part, place in self._parts_in(base):
            if "string" in type_names(part.schema) and not choices_of(part.schema):
                for value in _of_depth(part.path, HOSTILE, FEW_HOSTILE):
                    changed = placed(base, part.path, value)
                    yield Call(self.name, changed, "hostile", f"hostile text for {place}", part.path)

    def _parts_in(self, base: Any) -> list[tuple[ArgumentPart, str]]:
        """Return the parts that can be set in some arguments, each with its place in words."""
        return [(part, show_path(part.path)) for part in self.parts if has_place(base, part.path)]


def _of_depth(path: Path, many: tuple[Any, ...], few: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return many values for a parameter, and few for a part inside one."""
    return many if len(path) == 1 else few


def has_place(base: Any, path: Path) -> bool:
    """Return whether a part of some arguments can be set: the object or list around it is there."""
    around = value_at(base, path[:-1])
    return is_object(around) or (is_array(around) and isinstance(path[-1], int) and path[-1] < len(around))


def readable(value: Any) -> Any:
    """Replace lone surrogates in JSON values, since schemas don't mention them."""
    return value if nests_deeper(value, MAX_TEXT_DEPTH) else writable_json(value)


def _once(calls: Iterable[Call]) -> list[Call]:
    return list({call.key(): call for call in reversed(list(calls))}.values())[::-1]


def _codec_of(name: str, schema: Any, *, is_arguments: bool, is_closed: bool = False) -> DocumentCodec | None:
    """Return a codec for a document; None if it can't be read, or leaves a keyword unchecked."""
    try:
        options: dict[str, Any] = {"unknown_fields": "reject"} if is_closed else {}
        codec = DocumentCodec(SchemaDocument(name, schema, is_arguments), **options)
    except SchemaError:
        return None
    return None if codec.left else codec


def _with_samples(schema: Any) -> Any:
    """Replace each format of texts in a schema by a list of samples."""
    if is_array(schema):
        return [_with_samples(inner) for inner in schema]
    if not is_object(schema):
        return schema
    samples = FORMATS.get(str(schema.get("format")))
    named = schema.get("type")
    types = named if is_array(named) else [named]
    if samples is not None and "string" in types:
        others = [each for each in types if each != "string"]
        return {"anyOf": [{"enum": samples}, {**schema, "type": others}]} if others else {"enum": samples}
    return {key: _with_samples(inner) for key, inner in schema.items()}
