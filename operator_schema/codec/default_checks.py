"""Do the defaults and examples of fields fit their types? Checked when a type is registered."""

from __future__ import annotations

from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ..immutable import set_once
from ..introspect.node_kinds import visit
from ..introspect.nodes import ANY, EnumNode, Graph, ObjectNode
from ..json_values import choice_key, is_object
from ..message_text import excerpt
from .encode import CountedState, EncodeRun, LongEncodeError, encode_with
from .interpret import DecodeRun, DecodeState, follow
from .problems import Problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..findings import Finding
    from ..introspect.nodes import Defaulted, Node, Target
    from ..message_text import Path
    from .encode import GraphOf


MAX_DEFAULT_VALUES = 100_000
"""How many values all defaults and examples of a type may have; shared parts count each time."""


class _CountedRun(EncodeRun):
    """An encode that counts the values, including those of its trials."""

    __slots__ = ()

    shared: CountedState

    def encode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        self.shared.count()
        return super().encode(node, value, path, depth)

    def _strict(self, definitions: Mapping[Target, Node], problems: Problems) -> EncodeRun:
        return _CountedRun(self.shared, definitions, problems)


class _ExampleRun(DecodeRun):
    """A decode that calls no constructor.

    Attributes:
        nulls: objects with keys whose null means the same as leaving the key out.
    """

    __slots__ = ("nulls",)

    def __init__(self, shared: DecodeState, problems: Problems) -> None:
        super().__init__(shared, problems)
        self.nulls: list[tuple[dict[str, Any], str]] = []

    def decode(self, node: Node, value: Any, path: Path, depth: int) -> Any:
        """Decode as usual, and note keys whose null means nothing."""
        if isinstance(node, ObjectNode) and is_object(value):
            keys = [field.key for field in node.fields if field.absent_is_none]
            self.nulls += [(value, key) for key in keys if value.get(key, MISSING) is None]
        return super().decode(node, value, path, depth)

    def _build(self, node: ObjectNode, arguments: dict[str, Any], path: Path) -> Any:  # noqa: ARG002
        """Return an object that equals another one made from the same arguments, for the items of a set."""
        values = [arguments.get(field.name, field.default) for field in node.fields]
        made = (node.type, *values)
        return made if _is_hashable(made) else object()


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


class DefaultChecks:
    """The checks of the defaults and examples of one type, with one bound on all of them."""

    def __init__(self, graph: Graph, max_depth: int, graph_of: GraphOf, *, is_decoded: bool) -> None:
        self._graph = graph
        self._max_depth = max_depth
        self._make_state = partial(CountedState, max_depth, graph_of, is_decoded=is_decoded)
        self._room = MAX_DEFAULT_VALUES
        self._written: dict[int, tuple[Any, ...]] = {}  # by identity of the examples of a field

    def complaints(self, entry: Defaulted) -> Iterable[Finding]:
        """Yield the faults of a field's examples and default; store the examples as JSON values.

        An example that is a JSON value and decodes stays unchanged; any other one is encoded.
        """
        found: list[Any] = []
        for value in entry.field.examples:
            if self._room < 0:  # it was reported already
                break
            written, problems = self._example(entry, value)
            found.append(written)
            yield from self._misfits(entry, "example", problems)
        if entry.has_default and self._room >= 0:
            problems = self._encoded(entry, entry.field.node, entry.field.default)[1]
            yield from self._misfits(entry, "default", problems)
        if found:
            self._written[id(entry.field.examples)] = tuple(found)

    def keep_examples(self, entries: Iterable[Defaulted]) -> None:
        """Store the examples as JSON values in the fields of the graph, which nobody else has yet.

        Fields that were copied from the same field share its examples.
        """
        graph = self._graph
        nodes = visit([graph.root, *graph.definitions.values(), *graph.aliases.values()])
        fields = [field for node in nodes if isinstance(node, ObjectNode) for field in node.fields]
        fields += [entry.field for entry in entries]
        known = [(field, self._written.get(id(field.examples))) for field in fields]
        for field, written in known:
            if written is not None:
                set_once(field, "examples", written)

    def _example(self, entry: Defaulted, value: object) -> tuple[Any, Sequence[Finding]]:
        """Return the JSON form of an example, and its faults."""
        node = entry.field.node
        if not _is_json(value, self._room):
            return self._encoded(entry, node, value)
        written, refused = self._encoded(entry, ANY, value)
        refused = refused or self._refused(node, written)
        if not refused:
            return written, ()
        written, problems = self._encoded(entry, node, value)
        return written, refused if problems else ()

    def _refused(self, node: Node, value: object) -> Sequence[Finding]:
        """Return why a JSON value doesn't decode; if it decodes, remove nulls that the schema doesn't have.

        No constructor is called.
        """
        definitions = self._graph.definitions
        run = _ExampleRun(DecodeState(definitions, self._max_depth), Problems(definitions))
        found = _found_in(follow(run, node, value)[1])
        for each, key in run.nulls if not found else ():
            each.pop(key, None)
        return found

    def _encoded(self, entry: Defaulted, node: Node, value: object) -> tuple[Any, Sequence[Finding]]:
        definitions, state = self._graph.definitions, self._make_state()
        state.room = self._room
        try:
            run = _CountedRun(state, definitions, Problems(definitions))
            written, problems = encode_with(run, node, value)
        except LongEncodeError:
            return None, [_too_large(entry)]
        finally:
            self._room = state.room
        return written, _found_in(problems)

    def _misfits(
        self, entry: Defaulted, what: Literal["default", "example"], problems: Sequence[Finding]
    ) -> Iterable[Finding]:
        if not problems or problems[0].remedy is not None:  # the problem is about the type already
            yield from problems
            return
        from ..findings import about_type  # only what is wrong pays for it
        from ..introspect.foreign_metadata import fault_of_default

        default = entry.field.default if what == "default" else MISSING
        fault = fault_of_default(default)
        if fault is not None:
            yield about_type(entry.path, "bad_default", entry.owner, *fault)
            return
        remedy = self._remedy(entry) if what == "example" else "Change the default or the annotation"
        for problem in problems:
            message = f"its {what} does not fit: {problem}"
            meant = _member_of_value(entry, default)
            yield about_type(entry.path, "bad_default", entry.owner, message, remedy, meant)

    def _remedy(self, entry: Defaulted) -> str:
        """Return the remedy for an example: the kind of value to write."""
        from .example import NO_EXAMPLE, example_of

        made = example_of(Graph(entry.field.node, self._graph.definitions))
        fits = made is not NO_EXAMPLE and not self._refused(entry.field.node, made)
        shown = f", such as {excerpt(made)}" if fits else ""
        return f"Give it as JSON{shown}, or as an instance; or change the annotation"


def _is_json(value: Any, most: int) -> bool:
    """Return whether a value consists of JSON classes only, and has at most `most` values."""
    level: list[Any] = [value]
    while level and most > 0:
        most -= len(level)
        inside: list[Any] = []
        for each in level:
            if each.__class__ is dict:
                if not _TEXTS.issuperset(map(type, each)):
                    return False
                inside += each.values()
            elif each.__class__ is list:
                inside += each
            elif each.__class__ not in _SCALARS:
                return False
        level = inside
    return most >= 0


_TEXTS = frozenset({str})
_SCALARS = frozenset({str, int, float, bool, type(None)})


def _too_large(entry: Defaulted) -> Finding:
    from ..findings import about_type

    message = f"the defaults and examples of the type have more than {MAX_DEFAULT_VALUES:,} values in them"
    remedy = "Make large ones when they are needed: with default_factory, or in the function"
    return about_type(entry.path, "too_large", entry.owner, message, remedy)


def _member_of_value(entry: Defaulted, value: object) -> str | None:
    """Return the Enum member whose JSON value was given in place of the member."""
    node = entry.field.node
    if not isinstance(node, EnumNode) or not isinstance(value, (str, int, float)):
        return None
    member = node.table.get(choice_key(value))
    return None if member is None else f"{node.type.__name__}.{member.name}"


def _found_in(problems: Problems) -> Sequence[Finding]:
    from .corrections import add_suggestions  # only a wrong default pays for it

    add_suggestions(problems)
    return problems.found
