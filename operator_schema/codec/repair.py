"""Repair: corrects what a model sent, if it can be meant in only one way.

It walks over graph and value together, as decoding does, and replaces JSON values by other JSON values before
they are decoded. Values that fit stay unchanged, and so do values that can be read in two ways.
"""

from __future__ import annotations

from functools import cached_property
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..findings import repaired
from ..introspect.node_kinds import flat_members, json_types_of
from ..introspect.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    resolve,
)
from ..json_values import is_array, is_object
from ..message_text import excerpt
from ..sameness import is_same_json
from .constraint_checks import check_length
from .fitting import Fitting
from .interpret import SCALARS
from .json_text import read_json
from .problems import INVALID, Trial, Trials, document_reader
from .spellings import (
    NOTHING,
    has_separators,
    is_rounded,
    meant_choice,
    meant_time,
    quoted_scalar,
    sent_keys,
)
from .wrapped_arguments import wrapped_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..findings import Finding, RepairKind
    from ..introspect.nodes import Field, Graph, Node, Target


def repair_value(graph: Graph, value: object, max_depth: int) -> tuple[Any, tuple[Finding, ...]]:
    """Correct a value that doesn't fit a type, if exactly one reading fits.

    Returns:
        The value to decode, which may share parts with the given one, and the corrections. A value that can't
        be repaired as a whole still comes with the repairs of its parts.
    """
    try:
        reading = Repairer(graph.definitions, graph.root, max_depth).read(graph.root, value, 1)
    except RecursionError:  # decoding reports it
        return value, ()
    return reading.value, tuple(_flatten(reading.changes, ()))


def repair_field(graph: Graph, node: ObjectNode, field: Field, value: object, max_depth: int) -> Any:
    """Return the value to decode for one field of the root; `NOTHING` for its default."""
    try:
        return Repairer(graph.definitions, node, max_depth).field(node, field, value, 2).value
    except RecursionError:  # decoding reports it
        return value


class _ValueRepair(NamedTuple):
    """One repair of a value as a whole."""

    kind: RepairKind
    before: str
    after: str


Changes: TypeAlias = "tuple[_ValueRepair | tuple[str | int, Changes], ...]"
"""The corrections of a value itself, and of its parts, each with its step."""


class Reading(NamedTuple):
    """One way to read a value.

    Attributes:
        value: the value to decode.
        fits: whether it fits the node; a class's own check isn't run.
        unused: whether some keys name no field.
        changes: the corrections.
        wrong_length: whether it is an array or a map that would fit if any length did, or equal items.
    """

    value: Any
    fits: bool
    unused: bool = False
    changes: Changes = ()
    wrong_length: bool = False

    def after(self, kind: RepairKind, before: object) -> Reading:
        """Return this reading for the original value, from which another repair made its value."""
        change = _ValueRepair(kind, excerpt(before), excerpt(self.value))
        return self._replace(changes=(change, *self.changes))


def _flatten(changes: Changes, path: tuple[str | int, ...]) -> Iterator[Finding]:
    for change in changes:
        if isinstance(change, _ValueRepair):
            yield repaired(path, *change)
        else:
            step, inner = change
            yield from _flatten(inner, (*path, step))


class Repairer:
    """One repair of one value.

    Attributes:
        read_texts: the arrays and objects inside strings, by the string.
        readings: the readings of arrays and unions, for each set of arrays around them that were added.
        wrapped_lists: number of lists around the current value that are read as the only item of an array.
        wrapped_in: identities of the array nodes whose only item is being read.
        ignores_misfits: whether a key in another convention stays unused if its value doesn't fit.
    """

    ignores_misfits = True

    def __init__(self, definitions: Mapping[Target, Node], root: Node, max_depth: int) -> None:
        self.definitions = definitions
        self.root = resolve(root, definitions)
        self.max_depth = max_depth
        self.read_texts: dict[str, Any] = {}
        self.readings: dict[tuple[int, tuple[int, ...]], Trials[Reading]] = {}
        self.wrapped_lists = 0
        self.wrapped_in: tuple[int, ...] = ()

    @cached_property
    def fitting(self) -> Fitting:
        """The test whether values fit, made at first use; a scalar alone doesn't need it."""
        return Fitting(self.definitions, self.max_depth)

    def fits(self, node: Node, value: object, depth: int) -> bool:
        """Return whether a value decodes unchanged."""
        if type(node) is ScalarNode:
            return SCALARS[node.type](Trial(), node, value, None) is not INVALID
        return self.fitting.fits(node, value, depth)

    def read(self, node: Node, value: Any, depth: int) -> Reading:
        """Return the reading of a value for a node."""
        match node:
            case ObjectNode():
                return self._read_as(dict, self._object, node, value, depth)
            case MapNode():
                return self._read_as(dict, self._map, node, value, depth)
            case TupleNode():
                return self._read_as(list, self._tuple, node, value, depth)
            case ArrayNode():
                return self._read_once(self._array_or_item, node, value, depth)
            case UnionNode():
                return self._read_once(self._member, node, value, depth)
            case RefNode():
                return self.read(self.definitions[node.target], value, depth)
            case AnyNode():
                return Reading(value, fits=True)
            case LeafNode() if node.leaf.json_schema.__class__ is not dict:
                return self._read_by_schema(node, value, depth)
            case _:
                return self._read_whole(node, value, depth)

    def _read_part(self, node: Node, value: Any, depth: int) -> Reading:
        """Return the reading of a part of the current value, which may become the only item of any array."""
        wrapped_in, self.wrapped_in = self.wrapped_in, ()
        reading = self.read(node, value, depth)
        self.wrapped_in = wrapped_in
        return reading

    def _read_once(
        self, read: Callable[[Any, Any, int], Reading], node: Node, value: Any, depth: int
    ) -> Reading:
        key = self.wrapped_lists, self.wrapped_in
        readings = self.readings.get(key)
        if readings is None:
            readings = self.readings[key] = Trials()
        return readings.ask(read, node, value, depth)

    # --- strings that hold an array or an object -------------------------------------------------

    def _read_as(
        self, kind: type, read: Callable[..., Reading], node: Node, value: Any, depth: int
    ) -> Reading:
        if depth > self.max_depth:
            return Reading(value, fits=False)
        if isinstance(value, kind):
            return read(node, value, depth)
        held = self._json_in_text(value) if isinstance(value, str) else NOTHING
        if not isinstance(held, kind):
            return Reading(value, fits=False)
        return read(node, held, depth).after("json_text", value)

    def _json_in_text(self, text: str) -> Any:
        """Return the array or object that a string contains as JSON, even if it is quoted twice."""
        if text not in self.read_texts:
            self.read_texts[text] = NOTHING
            if text.lstrip()[:1] in {"{", "[", '"'}:
                held, problems = read_json(text)
                held = NOTHING if problems.found else held
                self.read_texts[text] = self._json_in_text(held) if isinstance(held, str) else held
        return self.read_texts[text]

    # --- arrays ----------------------------------------------------------------------------------

    def _array_or_item(self, node: ArrayNode, value: Any, depth: int) -> Reading:
        reading = self._read_as(list, self._array, node, value, depth)
        is_possible = reading.fits or reading.wrong_length
        if is_possible and not any(_is_wrapped(inner) for _, inner in _parts(reading.changes)):
            return reading  # even a list of the wrong length isn't a single item instead
        wrapped = self._read_as_only_item(node, value, depth)
        if is_possible and wrapped.fits:
            # Each item may be an array of its own, or the whole may be one item: ambiguous.
            return Reading(value, fits=False, wrong_length=reading.wrong_length)
        return wrapped if wrapped.fits else reading

    def _array(self, node: ArrayNode, value: list[Any], depth: int) -> Reading:
        reading = _with_length_checked(node, self._read_items([node.items] * len(value), value, depth))
        if reading.fits and node.unique and not self.fits(node, reading.value, depth):
            return reading._replace(fits=False, wrong_length=True)  # equal items
        return reading

    def _tuple(self, node: TupleNode, value: list[Any], depth: int) -> Reading:
        if len(value) != len(node.items):
            return Reading(value, fits=False)
        return self._read_items(node.items, value, depth)

    def _read_items(self, nodes: Any, value: list[Any], depth: int) -> Reading:
        pairs = zip(nodes, value, strict=True)
        readings = [self._read_part(node, item, depth + 1) for node, item in pairs]
        changes = tuple([(index, each.changes) for index, each in enumerate(readings) if each.changes])
        made = [reading.value for reading in readings]
        return Reading(
            value if all(map(is_, made, value)) else made,
            all(reading.fits for reading in readings),
            any(reading.unused for reading in readings),
            changes,
        )

    def _read_as_only_item(self, node: ArrayNode, value: Any, depth: int) -> Reading:
        """Read a value as an array with this one item."""
        missed = Reading(value, fits=False)
        if value is None or depth >= self.max_depth or not self._may_wrap(node, value):
            return missed
        if isinstance(value, str) and not value.strip():  # it may also mean an empty array
            return missed
        if isinstance(value, str) and self._takes_text(node.items) and self._is_unclear(node.items, value):
            return missed
        wrapped_in = self.wrapped_in
        self.wrapped_in = (*wrapped_in, id(node))
        self.wrapped_lists += is_array(value)
        item = self.read(node.items, value, depth + 1)
        self.wrapped_lists -= is_array(value)
        self.wrapped_in = wrapped_in
        if not item.fits or not _has_length(node, [item.value]):
            return missed
        inner = ((0, item.changes),) if item.changes else ()
        return Reading([item.value], fits=True, unused=item.unused, changes=inner).after("array", value)

    def _may_wrap(self, node: ArrayNode, value: Any) -> bool:
        """Return whether a value may be read as the one item of an array.

        In a recursive type, wrapping would never end, because an item could be wrapped in the same array
        again. And a list can be read in two ways, so that its content is read again for each list around it.
        """
        if id(node) in self.wrapped_in or len(self.wrapped_in) >= _MAX_WRAPPINGS:
            return False
        return not is_array(value) or self.wrapped_lists < _MAX_WRAPPED_LISTS

    def _is_unclear(self, items: Node, text: str) -> bool:
        """Return whether a text may be JSON, or several items, rather than one item."""
        inner = text.strip()
        if inner.startswith(("{", "[", '"', "```")) or quoted_scalar(inner) is not NOTHING:
            return True
        is_choice = isinstance(resolve(items, self.definitions), (LiteralNode, EnumNode))
        return not is_choice and has_separators(inner)

    # --- objects ---------------------------------------------------------------------------------

    def _map(self, node: MapNode, value: dict[Any, Any], depth: int) -> Reading:
        readings = {key: self._read_part(node.values, item, depth + 1) for key, item in value.items()}
        fits = all(reading.fits for reading in readings.values())
        changes = tuple([(key, reading.changes) for key, reading in readings.items() if reading.changes])
        made = {key: reading.value for key, reading in readings.items()}
        reading = Reading(
            value if all(map(is_, made.values(), value.values())) else made,
            fits and all(self.fitting.fits_key(node.keys, key) for key in value),
            any(reading.unused for reading in readings.values()),
            changes,
        )
        return _with_length_checked(node, reading)

    def _object(self, node: ObjectNode, value: dict[Any, Any], depth: int) -> Reading:
        unwrapped = self._read_in_wrapper(node, value) if depth == 1 and node is self.root else None
        if unwrapped is not None:
            return unwrapped
        sent = self.keys(node, value)
        rest = dict(value)
        read: dict[Any, Any] = {}
        fits, unused, changes = True, False, list[Any]()
        for field in node.fields:
            key = field.key if field.key in value else sent.get(field.key)
            reading = None if key is None else self.field(node, field, value[key], depth + 1)
            if key is None or reading is None or (key != field.key and not reading.fits):
                fits = fits and not field.required and (key is None or self.ignores_misfits)
                continue
            del rest[key]
            if key != field.key:
                renamed = _ValueRepair("key", excerpt(key), excerpt(field.key))
                reading = reading._replace(changes=(renamed, *reading.changes))
            fits, unused = fits and reading.fits, unused or reading.unused
            if reading.value is not NOTHING:
                read[field.key] = reading.value
            if reading.changes:
                changes.append((field.key, reading.changes))
        read.update(rest)
        return Reading(
            read if changes or not _is_unchanged(read, value) else value,
            fits and not (rest and node.closed),
            unused or bool(rest),
            tuple(changes),
        )

    def _read_in_wrapper(self, node: ObjectNode, value: dict[Any, Any]) -> Reading | None:
        """Read the arguments that the only key of the whole value wraps; return None if it wraps none."""
        wrapped = wrapped_arguments(node, value, self.definitions) if len(value) == 1 else None
        if wrapped is None:
            return None
        inside = self._object(node, wrapped[1], 1).after("wrapper", value)
        # With nothing but a misspelt key, the call would run with the defaults.
        is_used = any(field.key in inside.value for field in node.fields)
        return inside if is_used else Reading(value, fits=False)

    def keys(self, node: ObjectNode, value: dict[Any, Any]) -> dict[str, str]:
        """Find the keys in another convention: return a map from the field's key to the sent key."""
        return sent_keys(node, value)

    def field(self, node: ObjectNode, field: Field, value: Any, depth: int) -> Reading:
        """Read the value of a field; `NOTHING` means that the key is left out."""
        if value is None and field.absent_is_none:
            return Reading(None, fits=True)
        reading = self._read_part(field.node, value, depth)
        if reading.fits or not (value is None or isinstance(value, str)):
            return reading
        is_null = value is None or value in _NULLS
        if isinstance(value, str) and self._takes_strings(field.node):
            return reading
        if (is_null or value == "") and field.absent_is_none:
            return Reading(None, fits=True).after("scalar", value)
        is_nothing = is_null or (value == "" and not self.fits(field.node, None, depth))
        if is_nothing and _has_default(node, field):
            change = _ValueRepair("default", excerpt(value), "default")
            return Reading(NOTHING, fits=True, changes=(change,))
        return reading

    # --- values without parts --------------------------------------------------------------------

    def _read_whole(self, node: Node, value: Any, depth: int) -> Reading:
        """Read a value as a whole, without reading its parts."""
        if self.fits(node, value, depth):
            return Reading(value, fits=True)
        if isinstance(value, str):
            for kind, meant in self._meanings(node, value):
                if meant is not NOTHING and self.fits(node, meant, depth):
                    return Reading(meant, fits=True).after(kind, value)
        return Reading(value, fits=False)

    def _meanings(self, node: Node, text: str) -> Iterator[tuple[RepairKind, Any]]:
        if isinstance(node, (LiteralNode, EnumNode)):
            yield "choice", meant_choice(node, text)
        if isinstance(node, LeafNode):
            yield "scalar", meant_time(node, text)
        if not self._takes_text(node):
            scalar = quoted_scalar(text)
            if not is_rounded(node, text, scalar):
                yield "scalar", scalar
            if type(node) is not ScalarNode:
                yield "json_text", self._json_in_text(text)

    def _read_by_schema(self, node: LeafNode, value: Any, depth: int) -> Reading:
        """Read a value by the schema of its leaf; use the result if the leaf takes it."""
        graph = document_reader().reading_of(node.leaf).graph
        reading = type(self)(graph.definitions, graph.root, self.max_depth).read(graph.root, value, 1)
        if reading.changes and reading.fits and self.fits(node, reading.value, depth):
            return reading._replace(unused=False)
        return self._read_whole(node, value, depth)

    def _takes_text(self, node: Node) -> bool:
        if type(node) is ScalarNode:  # most values that don't fit are scalars
            return node.type == "string"
        return "string" in json_types_of(node, self.definitions)

    def _takes_strings(self, node: Node) -> bool:
        """Return whether a node has plain strings; a date is only written as a string."""
        members = flat_members(node, self.definitions)
        return any(self._takes_text(member) for member in members if not isinstance(member, LeafNode))

    # --- unions ----------------------------------------------------------------------------------

    def _member(self, node: UnionNode, value: Any, depth: int) -> Reading:
        members = flat_members(node, self.definitions)
        if isinstance(value, str) and self._takes_text(node):
            texts = [member for member in members if self._takes_text(member)]
            of_a_kind = any(all(isinstance(each, kinds) for each in texts) for kinds in _KINDS_OF_TEXT)
            # A string that a type takes may be meant as it is.
            members = texts if of_a_kind or self.fits(node, value, depth) else []
        if is_object(value):
            members = self.fitting.tagged(node, value) or members
        needless = self._needless(members) if is_object(value) else set[int]()
        missed = Reading(value, fits=False)
        readings = [missed if id(each) in needless else self.read(each, value, depth) for each in members]
        wrong_length = any(reading.wrong_length for reading in readings)
        if wrong_length:  # a list that is too long for one member isn't an item of another
            readings = [missed if _is_wrapped(reading.changes) else reading for reading in readings]
        made = only_reading(readings) or missed
        return made if made.fits else made._replace(wrong_length=wrong_length)

    def _needless(self, members: Sequence[Node]) -> set[int]:
        """Return the identities of arrays that needn't be tried, because their items are members too.

        Reading an object as an item of such an array too would multiply the time at each level.
        """
        direct = {id(resolve(member, self.definitions)) for member in members}
        return {
            id(member)
            for member in members
            if isinstance(member, ArrayNode)
            and all(id(item) in direct for item in flat_members(member.items, self.definitions))
        }


def only_reading(readings: list[Reading]) -> Reading | None:
    """Return the only reading that fits; if none fits, the reading if there is only one; else None."""
    fitting = [reading for reading in readings if reading.fits]
    whole = [reading for reading in fitting if not reading.unused]
    for group in (whole, fitting):
        unchanged = [reading for reading in group if not reading.changes]
        # A value is wrapped in an array only if nothing else can be meant.
        single = [reading for reading in group if not _is_wrapped(reading.changes)] or group
        if unchanged:
            return unchanged[0]
        if single and all(is_same_json(reading.value, single[0].value) for reading in single):
            return single[0]
        if len(single) > 1 and group is whole and not any(not reading.changes for reading in fitting):
            return None
    return readings[0] if len(readings) == 1 else None


def _is_wrapped(changes: Changes) -> bool:
    return any(isinstance(change, _ValueRepair) and change.kind == "array" for change in changes)


def _parts(changes: Changes) -> list[tuple[str | int, Changes]]:
    return [change for change in changes if not isinstance(change, _ValueRepair)]


_MAX_WRAPPINGS = 4
"""The most arrays that one value is wrapped in."""

_MAX_WRAPPED_LISTS = 2
"""The most wrapped lists around a value, including itself."""

_KINDS_OF_TEXT = ((LiteralNode, EnumNode), LeafNode)
"""If all members that take strings have one of these kinds, other spellings may mean them."""

_NULLS = frozenset({"null", "None"})


def _is_unchanged(read: dict[Any, Any], value: dict[Any, Any]) -> bool:
    return len(read) == len(value) and all(map(is_, read.values(), map(value.get, read)))


def _with_length_checked(node: ArrayNode | MapNode, reading: Reading) -> Reading:
    """Mark a reading of all items as unfit if there are too many or too few."""
    if not reading.fits or _has_length(node, reading.value):
        return reading
    return reading._replace(fits=False, wrong_length=True)


def _has_length(node: ArrayNode | MapNode, value: Any) -> bool:
    return check_length(node.constraints, Trial(), value, None, "") is not INVALID


def _has_default(node: ObjectNode, field: Field) -> bool:
    # An object of a JSON Schema document is a plain dict, which gets its defaults elsewhere.
    has_defaults = node.form != "typed_dict" or node.type is dict
    return not field.required and not field.absent_is_none and has_defaults
