"""Compile a graph to one straight-line Python function that encodes valid values.

The inverse of `decoder`: for every other value it calls the interpreter, which encodes the same instance from
the beginning, or reports its problems.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import MISSING
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from ...introspect.node_kinds import TRAITS, flat_members, is_exactly, shape_of
from ...introspect.nodes import (
    TAG,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from ...introspect.overlaps import Objects
from ...introspect.union_plans import tag_of
from ...json_values import copy_json, fits_types
from ..encode import EncodeRun, EncodeState, encode_with, in_order
from ..problems import INVALID, GiveUp, Trial
from .writer import MAX_PLACES, Writer, nodes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...introspect.nodes import Field, Graph, Node
    from .writer import Method

    Encode = Callable[[Any], Any]
    GraphOf = Callable[[type], Graph | None]


def compile_encoder(
    graph: Graph, max_depth: int, fallback: Method, graph_of: GraphOf, *, is_decoded: bool = True
) -> Method | None:
    """Compile the encoder of a graph.

    Returns:
        A method that takes an instance and returns its JSON value; None if the graph stays interpreted.
    """
    if _is_too_large(graph):
        return None
    writer = _Encoder(graph, max_depth, fallback, graph_of, is_decoded=is_decoded)
    return writer.source.link(writer.main(graph.root))


def encoder_source(
    graph: Graph, max_depth: int, fallback: Method, graph_of: GraphOf, *, is_decoded: bool
) -> str:
    """Return the source that `compile_encoder` compiles, or a comment with the reason why there is none."""
    if _is_too_large(graph):
        return f"# The encoder stays interpreted: the type has more than {MAX_PLACES} parts.\n"
    writer = _Encoder(graph, max_depth, fallback, graph_of, is_decoded=is_decoded)
    return writer.source.text(writer.main(graph.root))


def _is_too_large(graph: Graph) -> bool:
    return nodes_of(graph).places > MAX_PLACES


class _Encoder(Writer):
    """Writes the encoder of one graph."""

    verb = "encode"
    subject = "instance"

    def __init__(
        self, graph: Graph, max_depth: int, fallback: Method, graph_of: GraphOf, *, is_decoded: bool
    ) -> None:
        super().__init__(graph, max_depth, fallback)
        self._graph_of = graph_of
        self._is_decoded = is_decoded

    def needs_depth(self, node: Node) -> bool:
        return isinstance(node, UnionNode) or super().needs_depth(node)

    def interpreter_of(self, node: Node) -> Callable[[Any, int], Any]:
        definitions, max_depth, graph_of = self.definitions, self.max_depth, self._graph_of
        is_decoded = self._is_decoded

        def encode(part: Any, depth: int) -> Any:
            state = EncodeState(max_depth, graph_of, reads_iterators=False, is_decoded=is_decoded)
            encoded, _ = encode_with(EncodeRun(state, definitions, Trial()), node, part, depth)
            return GiveUp if encoded is INVALID else encoded

        return encode

    # --- objects ---------------------------------------------------------------------------------

    def _object(self, node: ObjectNode, value: str, depth: int, known: str) -> str:
        is_dict = node.form == "typed_dict"
        cls = self.source.class_name(dict if is_dict else node.type)
        self.give_up_unless_class(value, cls, known=known)
        self.enter(depth)
        fields = [field for field in node.fields if not field.init_only]
        if any(field.init_only and field.required for field in node.fields):
            self.leave()
            return value
        names = {field.name: self.source.name(field.name) for field in fields}
        self._read(fields, names, value, is_dict=is_dict)
        if is_dict and node.closed:
            present = [
                f"({self.source.quoted(field.name)} in {value})" for field in fields if not field.required
            ]
            self.give_up_if(f"len({value}) != {' + '.join([str(len(fields) - len(present)), *present])}")
        for field in fields:
            self._encode_field(field, names, depth, is_dict=is_dict)
        return self._make(node, fields, names, is_dict=is_dict)

    def _read(self, fields: list[Field], names: dict[str, str], value: str, *, is_dict: bool) -> None:
        always = [field for field in fields if field.required or not is_dict]
        if always:
            with self.at.block("try:"):
                for field in always:
                    self.at.line(f"{names[field.name]} = {self._reading(field, value, is_dict=is_dict)}")
            with self.at.block(f"except {'KeyError' if is_dict else 'AttributeError'}:"):
                self.leave()
        for field in fields:
            if field not in always:
                missing = self.source.bind(MISSING, "MISSING")
                self.at.line(
                    f"{names[field.name]} = {value}.get({self.source.quoted(field.name)}, {missing})"
                )

    def _reading(self, field: Field, value: str, *, is_dict: bool) -> str:
        if is_dict:
            return f"{value}[{self.source.quoted(field.name)}]"
        if field.name == TAG and isinstance(field.node, LiteralNode):
            return self.source.literal(field.node.values[0])
        attribute = self.source.attribute(field.name)
        return f"{value}.{attribute}" if attribute else f"getattr({value}, {self.source.quoted(field.name)})"

    def _encode_field(self, field: Field, names: dict[str, str], depth: int, *, is_dict: bool) -> None:
        name = names[field.name]
        skipped = self._skipped(field, is_dict=is_dict)
        if skipped is None:
            names[field.name] = self.value(field.node, name, depth + 1)
            return
        with self.at.block(f"if {name} is not {skipped}:"):
            made = self.value(field.node, name, depth + 1)
            if made != name:
                self.at.line(f"{name} = {made}")

    def _skipped(self, field: Field, *, is_dict: bool) -> str | None:
        """Return the value for which a field's key is left out, if there is one."""
        if field.absent_is_none:
            return "None"
        return self.source.bind(MISSING, "MISSING") if is_dict and not field.required else None

    def _make(self, node: ObjectNode, fields: list[Field], names: dict[str, str], *, is_dict: bool) -> str:
        made = self.source.name(node.name)
        skipped = [self._skipped(field, is_dict=is_dict) for field in fields]
        first = next((i for i, skip in enumerate(skipped) if skip), len(fields))
        given = ", ".join(
            [f"{self.source.quoted(field.key)}: {names[field.name]}" for field in fields[:first]]
        )
        self.at.line(f"{made} = {{{given}}}")
        for field, skip in zip(fields[first:], skipped[first:], strict=True):
            store = f"{made}[{self.source.quoted(field.key)}] = {names[field.name]}"
            if skip is None:
                self.at.line(store)
                continue
            with self.at.block(f"if {names[field.name]} is not {skip}:"):
                self.at.line(store)
        return made

    # --- arrays and maps -------------------------------------------------------------------------

    def _array(self, node: ArrayNode, value: str, depth: int, known: str) -> str:
        known_arrays: list[type] = [node.container, *_ARRAYS]
        classes = [cls for cls in dict.fromkeys(known_arrays) if issubclass(cls, node.accepts)]
        names = [self.source.class_name(cls) for cls in classes[:2]]
        self.give_up_unless_class(value, *names, known=known)
        self.enter(depth)
        self.lengths(node.constraints, value)
        made = self._items(node.items, value, depth)
        if classes[0] in {set, frozenset}:
            self.at.line(f"{made} = {self.source.bind(in_order, 'in_order')}({made})")
        return made

    def _items(self, inner: Node, value: str, depth: int) -> str:
        made, item = self.source.name("items"), self.source.name("item")
        self.at.line(f"{made} = []")
        if not (isinstance(inner, ScalarNode) and inner.type != "number"):
            with self.at.block(f"for {item} in {value}:"):
                self.at.line(f"{made}.append({self.value(inner, item, depth + 1)})")
            return made
        # Lists are often empty, and a loop takes long even then.
        with self.at.block(f"if {value}:"):
            with self.at.block(f"for {item} in {value}:"):
                self.value(inner, item, depth + 1)
            self.at.line(f"{made} = [*{value}]")
        return made

    def _tuple(self, node: TupleNode, value: str, depth: int, known: str) -> str:
        self.give_up_unless_class(value, "tuple", known=known)
        results = self.tuple_items(node, value, depth)
        made = self.source.name("items")
        self.at.line(f"{made} = [{', '.join(results)}]")
        return made

    def _map(self, node: MapNode, value: str, depth: int, known: str) -> str:
        known_maps: list[type] = [node.container, dict]
        classes = [cls for cls in dict.fromkeys(known_maps) if issubclass(cls, node.accepts)]
        names = [self.source.class_name(cls) for cls in classes]
        self.give_up_unless_class(value, *names, known=known)
        self.enter(depth)
        self.lengths(node.constraints, value)
        made, key, item = self.source.name("map"), self.source.name("key"), self.source.name("item")
        self.at.line(f"{made} = {{}}")
        with self.at.block(f"for {key}, {item} in {value}.items():"):
            keys = self.resolved(node.keys)
            name = self.value(keys, key, depth)
            if not (isinstance(keys, ScalarNode) and keys.type == "string"):
                text = self.source.name("name")
                self.at.line(f"{text} = str({name}) if {name}.__class__ is int else {name}")
                name = text
            self.at.line(f"{made}[{name}] = {self.value(node.values, item, depth + 1)}")
        if isinstance(self.resolved(node.keys), LeafNode):  # two keys may have the same text
            self.give_up_if(f"len({made}) != len({value})")
        return made

    # --- values without parts --------------------------------------------------------------------

    def _choice(self, node: LiteralNode | EnumNode, value: str, _depth: int, _known: str) -> str:
        made = self.source.name("choice")
        if isinstance(node, EnumNode) and len(node.values) <= _FEW_MEMBERS:
            self._compare(made, node, value)
        elif isinstance(node, EnumNode):
            self.look_up(made, self.source.bind(_by_identity(node), "choices"), f"id({value})")
        elif all(type(member) is str for member in node.members):
            self.give_up_unless_class(value, "str")
            choices = dict(zip(node.members, node.values, strict=True))
            self.look_up(made, self.source.bind(choices, "choices"), value)
        else:
            find = self.source.bind(_literal_finder(node), "find")
            self.at.line(f"{made} = {find}({value})")
            self.give_up_if(f"{made} is {self.give_up}")
        return made

    def _compare(self, made: str, node: EnumNode, value: str) -> None:
        """Write code that compares a value with each member, which is faster than a small table."""
        head = "if"
        for member, encoded in zip(node.table.values(), node.values, strict=True):
            with self.at.block(f"{head} {value} is {self.source.bind(member, 'member')}:"):
                self.at.line(f"{made} = {self.source.literal(encoded, 'choice')}")
            head = "elif"
        with self.at.block("else:"):
            self.leave()

    def _leaf(self, node: LeafNode, value: str, _depth: int, known: str) -> str:
        leaf = node.leaf
        cls = self.source.class_name(leaf.type)
        if known != cls:
            # Most values have exactly this class; that test needs no call.
            self.give_up_if(f"{value}.__class__ is not {cls} and not isinstance({value}, {cls})")
        made = self.source.name("written")
        with self.at.block("try:"):
            self.at.line(f"{made} = {self.source.bind(leaf.encode, 'encode')}({value})")
        with self.at.block("except (ValueError, TypeError, OverflowError):"):
            self.leave()
        finish = self.source.bind(_finisher(leaf.json_types), "finish")
        if "string" in leaf.json_types:
            with self.at.block(f"if {made}.__class__ is not str:"):
                self._finish(made, finish)
        else:
            self._finish(made, finish)
        self.keeps_schema(node, made)
        return made

    def _finish(self, made: str, finish: str) -> None:
        self.at.line(f"{made} = {finish}({made})")
        self.give_up_if(f"{made} is {self.give_up}")

    # --- unions and Any --------------------------------------------------------------------------

    def _union(self, node: UnionNode, value: str, depth: int, _known: str) -> str:
        members = flat_members(node, self.definitions)
        kind, made = self.source.name("kind"), self.source.name("member")
        self.at.line(f"{kind} = {value}.__class__")
        head = "if"
        for cls in classes_of(members):
            known = self.source.class_name(cls)
            with self.at.block(f"{head} {kind} is {known}:"):
                member = the_one(members, cls)
                result = (
                    self.interpreted(node, value, depth)
                    if member is None
                    else self.value(member, value, depth, known)
                )
                self.at.line(f"{made} = {result}")
                for keys in [] if member is None else self._keys_of_others(members, member):
                    self.give_up_if(f"{made}.keys() <= {self.source.bind(keys, 'keys')}")
            head = "elif"
        with self.at.block("else:"):
            if any(isinstance(member, AnyNode) for member in members):
                self.at.line(f"{made} = {self.interpreted(node, value, depth)}")
            else:
                self.leave()
        return made

    def _keys_of_others(self, members: list[Node], member: Node) -> list[frozenset[str]]:
        """Return the keys of each other member of a union that could also read this member's JSON."""
        if not self._is_decoded or shape_of(member) is None or tag_of(members) is not None:
            return []
        objects, own = Objects(members, self.definitions), members.index(member)
        return [
            frozenset([field.key for field in shape.fields])
            for number, shape in objects.shapes.items()
            if number != own and objects.is_read_as(own, number)
        ]

    arms: ClassVar = {
        ScalarNode: Writer.scalar,
        LeafNode: _leaf,
        LiteralNode: _choice,
        EnumNode: _choice,
        ArrayNode: _array,
        TupleNode: _tuple,
        MapNode: _map,
        ObjectNode: _object,
        UnionNode: _union,
    }


_FEW_MEMBERS = 8
_ARRAYS: tuple[type, ...] = (list, tuple, set, frozenset, deque)


def _by_identity(node: EnumNode) -> dict[int, Any]:
    pairs = list(zip(node.table.values(), node.values, strict=True))
    return {id(member): encoded for member, encoded in reversed(pairs)}


def _literal_finder(node: LiteralNode) -> Encode:
    """Return a function that finds the JSON value of a literal, as `encode` does."""
    pairs = list(zip(node.members, node.values, strict=True))

    def find(value: Any) -> Any:
        for member, encoded in pairs:
            if member is value or (type(member) is type(value) and member == value):
                return encoded
        return GiveUp

    return find


@cache
def _finisher(types: tuple[str, ...]) -> Encode:
    """Return a function that checks and copies the JSON value of a leaf."""

    def finish(encoded: Any) -> Any:
        is_odd = isinstance(encoded, float) and not isfinite(encoded)
        return GiveUp if is_odd or not fits_types(encoded, types) else copy_json(encoded)

    return finish


_BUILT_IN: tuple[type, ...] = (
    str,
    int,
    float,
    bool,
    type(None),
    list,
    tuple,
    set,
    frozenset,
    deque,
    dict,
    OrderedDict,
)


def classes_of(members: list[Node]) -> list[type]:
    """Return the classes that values of a union usually have."""
    own = [cls for member in members for cls in TRAITS[member.__class__].classes(member)]
    known = dict.fromkeys([cls for cls in own if cls not in _BUILT_IN]) | dict.fromkeys(_BUILT_IN)
    return [cls for cls in known if any(_takes(member, cls) for member in members)]


def _takes(node: Node, cls: type) -> bool:
    return TRAITS[node.__class__].takes(node, cls)


def the_one(members: list[Node], cls: type) -> Node | None:
    """Return the member of a union that `encode` takes for values of exactly this class.

    None if the class alone doesn't decide.
    """
    members = [member for member in members if _takes(member, cls)]
    if len(members) == 1:
        return members[0]
    if any(isinstance(member, LiteralNode) for member in members):
        return None
    exact = [member for member in members if is_exactly(member, cls)]
    return exact[0] if len(exact) == 1 else None
