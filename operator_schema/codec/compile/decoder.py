"""Compile a graph to one straight-line Python function that decodes valid values.

For every other value the function calls the interpreter, which decodes the same value from the beginning, or
reports its problems. So generated code has no paths, messages or options, and never runs user code that would
then run twice: no `__post_init__`, no default factory. Only the functions of a leaf may run again, as they do
when a union tries its members.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, ClassVar

from ...introspect.nodes import (
    AnyNode,
    ArrayNode,
    EnumNode,
    Graph,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from ...introspect.overlaps import Objects
from ...introspect.union_plans import make_plan
from ...json_values import MAX_COLLISIONS, MAX_KEY_DIGITS, copy_json
from ...message_text import class_name
from ..construction import HARMLESS, NEW_TUPLE, way_of
from ..interpret import constructor_of, interpret, is_integer_key
from ..problems import GiveUp
from .choosing import chooser_of
from .writer import MAX_PLACES, Writer, nodes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...introspect.nodes import Field, Node
    from ...introspect.union_plans import Tag, UnionPlan
    from ..construction import Way
    from .generated_source import Function, GeneratedSource
    from .writer import Method, Refusal

    Decode = Callable[[Any], Any]


_DISPLAYS: Mapping[object, str] = {list: "[]", dict: "{}", tuple: "()"}

_NEW: Any = object.__new__


def factory_of(node: ObjectNode, field: Field) -> Any:
    """Return the default factory of a field of a dataclass."""
    cls: Any = node.type
    return cls.__dataclass_fields__[field.name].default_factory


# --- written -------------------------------------------------------------------------------------


def write_empty(source: GeneratedSource, factory: Any) -> str:
    """Return the expression for the result of a harmless default factory."""
    return _DISPLAYS.get(factory) or f"{source.class_name(factory)}()"


def write_instance(
    source: GeneratedSource, at: Function, node: ObjectNode, way: Way, names: Mapping[str, str]
) -> str:
    """Write the code that makes an instance.

    Args:
        source: the source that the code is added to.
        at: the function that the code is written in.
        node: the node of the class.
        way: the way of making it; for a dict, fields that are `MISSING` are left out.
        names: variables that hold the fields, by name of the field.

    Returns:
        The name of the variable that holds the instance.
    """
    made = source.name(node.name)
    if way == "dict":
        _write_dict(source, at, node, made, names)
        return made
    cls = source.class_name(node.type)
    stored = {field.name: names[field.name] for field in node.fields if not field.init_only}
    if way == "tuple":
        new = source.bind(NEW_TUPLE, "new_tuple")
        at.line(f"{made} = {new}({cls}, ({''.join([f'{name}, ' for name in stored.values()])}))")
    elif way == "call" or (way == "attributes" and None in map(source.attribute, stored)):
        given = ", ".join([f"{source.quoted(field)}: {name}" for field, name in names.items()])
        at.line(f"{made} = {cls}(**{{{given}}})")
    else:
        at.line(f"{made} = {source.bind(_NEW, 'new')}({cls})")
        _write_stores(source, at, node.type, way, made, stored)
    return made


def _write_stores(
    source: GeneratedSource, at: Function, cls: type, way: Way, made: str, stored: Mapping[str, str]
) -> None:
    inside = source.name("inside")
    if way == "dictionary":
        at.line(f"{inside} = {made}.__dict__")
    for field, name in stored.items():
        if way == "attributes":
            at.line(f"{made}.{source.attribute(field)} = {name}")
        elif way == "dictionary":
            at.line(f"{inside}[{source.quoted(field)}] = {name}")
        else:
            store = source.bind(getattr(cls, field).__set__, f"set_{field}")
            at.line(f"{store}({made}, {name})")


def _write_dict(
    source: GeneratedSource, at: Function, node: ObjectNode, made: str, names: Mapping[str, str]
) -> None:
    first = next((i for i, field in enumerate(node.fields) if not field.required), len(node.fields))
    given = ", ".join([f"{source.quoted(field.name)}: {names[field.name]}" for field in node.fields[:first]])
    at.line(f"{made} = {{{given}}}")
    for field in node.fields[first:]:
        store = f"{made}[{source.quoted(field.name)}] = {names[field.name]}"
        if field.required:
            at.line(store)
            continue
        with at.block(f"if {names[field.name]} is not {source.bind(MISSING, 'MISSING')}:"):
            at.line(store)


JSON_SCALARS = frozenset({str, int, float, bool, type(None)})


def building(cls: Any, gather: Method, fallback: Method, refusal: Refusal) -> Method:
    """Return a decoder whose last step is to call a class, because that may run the user's code.

    Args:
        cls: the class to call.
        gather: returns its arguments, or `GiveUp`.
        fallback: decodes the value if `gather` gives up.
        refusal: turns an exception of the class into the error to raise.
    """

    def decode(codec: Any, value: Any) -> Any:
        arguments = gather(codec, value)
        if arguments is GiveUp:
            return fallback(codec, value)
        try:
            return cls(**arguments)
        except (ValueError, TypeError) as error:
            refused = refusal(codec, error, value)
        try:
            raise refused  # outside of the handler, so that the error of the class isn't its context
        finally:
            del refused  # frame and error would keep each other until the collector comes

    return decode


def integer_of_key(key: str) -> int | None:
    """Return the integer that a key spells; None for any other text."""
    return int(key) if len(key) <= MAX_KEY_DIGITS and is_integer_key(key) else None


_CLASSES = {
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "integer": "int",
    "number": "float",
    "array": "list",
    "object": "dict",
}
"""JSON types and the classes that their values have, or None for null."""


def compile_decoder(
    graph: Graph, max_depth: int, fallback: Method, refusal: Refusal, *, exact: bool = False
) -> Method | None:
    """Compile the decoder of a graph.

    Args:
        graph: the graph of the type.
        max_depth: levels of arrays and objects that are followed.
        fallback: decodes the values that the compiled function gives up on.
        refusal: returns the error to raise if the class of the root refuses its fields.
        exact: whether to also give up if an object has an unused key.

    Returns:
        A method that takes a JSON value and returns the instance; None if the graph stays interpreted.
    """
    if why_interpreted(graph) is not None:
        return None
    writer = Decoder(graph, max_depth, fallback, exact=exact)
    decode = writer.source.link(writer.main(graph.root))
    root = writer.user_root
    return building(constructor_of(root), decode, fallback, refusal) if root else decode


def decoder_source(graph: Graph, max_depth: int, fallback: Method, *, exact: bool = False) -> str:
    """Return the source that `compile_decoder` compiles, or a comment with the reason why there is none."""
    why = why_interpreted(graph)
    if why is not None:
        return f"# The decoder stays interpreted: {why}.\n"
    writer = Decoder(graph, max_depth, fallback, exact=exact)
    return writer.source.text(writer.main(graph.root))


def why_interpreted(graph: Graph) -> str | None:
    """Return the reason why a graph is not compiled; None if it is.

    If making an instance runs the user's code, this code must run only once, and only when the whole value is
    valid. Only the root is made after everything else was checked.
    """
    nodes, repeated, places = nodes_of(graph)
    if places > MAX_PLACES:
        return f"the type has more than {MAX_PLACES} parts"
    root = graph.root
    for node in nodes:
        is_root = node is root and id(node) not in repeated
        if isinstance(node, ObjectNode) and not is_root and way_of(node) == "user":
            return f"making a {node.name!a} inside another value runs its own code"
    return None


class Decoder(Writer):
    """Writes the decoder of one graph.

    Attributes:
        user_root: the class of the root, if making it runs the user's code; the main function then returns
            its arguments.
    """

    verb = "decode"
    subject = "value"

    def __init__(self, graph: Graph, max_depth: int, fallback: Method | None, *, exact: bool) -> None:
        root = graph.root
        is_users = isinstance(root, ObjectNode) and way_of(root) == "user"
        self.user_root: ObjectNode | None = root if is_users and isinstance(root, ObjectNode) else None
        super().__init__(graph, max_depth, None if is_users else fallback)
        self._exact = exact
        self._root = graph.resolve_root()

    def interpreter_of(self, node: Node) -> Callable[[Any, int], Any]:
        """Return a function that decodes a value of a node at a depth, or returns `GiveUp`."""
        graph, max_depth, exact = Graph(node, self.definitions), self.max_depth, self._exact

        def decode(part: Any, depth: int) -> Any:
            decoded, problems = interpret(graph, part, max_depth, depth=depth)
            return GiveUp if problems.found or (exact and problems.ignored) else decoded

        return decode

    def _as_it_is(self, _node: AnyNode, value: str, _depth: int, _known: str) -> str:
        return value

    # --- objects ---------------------------------------------------------------------------------

    def _object(self, node: ObjectNode, value: str, depth: int, known: str) -> str:
        self.give_up_unless_class(value, "dict", known=known)
        self.enter(depth)
        names = {field.name: self.source.name(field.name) for field in node.fields}
        self._read_required(node, value, names)
        counted = self._count(node, value)
        if node is self._root and not counted and not any(field.required for field in node.fields):
            self._give_up_if_wrapped(node, value)
        for field in node.fields:
            name = names[field.name]
            if field.required:
                names[field.name] = self.value(field.node, name, depth + 1)
            else:
                self._optional(node, field, value, name, depth, counted)
        if counted:
            self.give_up_if(f"{counted} != len({value})")
        way = "dict" if node is self.user_root else way_of(node)
        return write_instance(self.source, self.at, node, way, names)

    def _read_required(self, node: ObjectNode, value: str, names: dict[str, str]) -> None:
        required = [field for field in node.fields if field.required]
        if not required:
            return
        with self.at.block("try:"):
            for field in required:
                self.at.line(f"{names[field.name]} = {value}[{self.source.quoted(field.key)}]")
        with self.at.block("except KeyError:"):
            self.leave()

    def _give_up_if_wrapped(self, node: ObjectNode, value: str) -> None:
        """Give up on an object with one key, which may wrap the arguments; the interpreter decides."""
        keys = self.source.bind(frozenset([field.key for field in node.fields]), "keys")
        self.give_up_if(f"len({value}) == 1 and {keys}.isdisjoint({value})")

    def _count(self, node: ObjectNode, value: str) -> str:
        """Begin to count the used keys if an unused key matters."""
        if not (node.closed or self._exact):
            return ""
        required = sum([field.required for field in node.fields])
        if required == len(node.fields):
            self.give_up_if(f"len({value}) != {required}")
            return ""
        counter = self.source.name("used")
        self.at.line(f"{counter} = {required}")
        return counter

    def _optional(
        self, node: ObjectNode, field: Field, value: str, name: str, depth: int, counted: str
    ) -> None:
        absent = self._absent(node, field)
        key = self.source.quoted(field.key)
        with self.at.block(f"if {key} not in {value}:"):
            if absent is None:
                self.leave()
            else:
                self.at.line(f"{name} = {absent}")
        with self.at.block("else:"):
            self.at.line(f"{name} = {value}[{key}]")
            if counted:
                self.at.line(f"{counted} += 1")
            if field.absent_is_none:
                with self.at.block(f"if {name} is not None:"):
                    self._decode_into(name, field.node, depth)
            else:
                self._decode_into(name, field.node, depth)

    def _decode_into(self, name: str, node: Node, depth: int) -> None:
        before = len(self.at.lines)
        made = self.value(node, name, depth + 1)
        if made != name:
            self.at.line(f"{name} = {made}")
        elif len(self.at.lines) == before:
            self.at.line("pass")

    def _absent(self, node: ObjectNode, field: Field) -> str | None:
        """Return the expression for a field whose key is missing; None if user code makes that value."""
        if node is self.user_root and field.absent_is_none and field.default is MISSING:
            return "None"
        if node.form == "typed_dict" or node is self.user_root:
            return self.source.bind(MISSING, "MISSING")
        if field.default is not MISSING:
            return self.source.literal(field.default, "default")
        if field.absent_is_none:
            return "None"
        factory = factory_of(node, field)
        return write_empty(self.source, factory) if factory in HARMLESS else None

    # --- arrays ----------------------------------------------------------------------------------

    def _array(self, node: ArrayNode, value: str, depth: int, known: str) -> str:
        self.give_up_unless_class(value, "list", known=known)
        self.enter(depth)
        self.lengths(node.constraints, value)
        if node.unique:
            self._give_up_on_crowds(node.items, value)
        made, item = self.source.name("items"), self.source.name("item")
        start = len(self.at.lines)
        with self.at.block(f"for {item} in {value}:"):
            result = self.value(node.items, item, depth + 1)
            is_same = _is_handed_through(self.resolved(node.items))
            if not is_same:
                self.at.line(f"{made}.append({result})")
        if not is_same:
            self.at.insert(start, f"{made} = []")
        elif len(self.at.lines) == start + 1:
            del self.at.lines[start]
        self._contain(node, made, value if is_same else made)
        if node.unique:
            self.give_up_if(f"len({made}) != len({value})")
        return made

    def _give_up_on_crowds(self, items: Node, value: str) -> None:
        # Values chosen to share a hash slow a set down: the interpreter watches for them. The
        # hashes of strings can't be chosen.
        items = self.resolved(items)
        if not (isinstance(items, ScalarNode) and items.type == "string"):
            self.give_up_if(f"len({value}) > {MAX_COLLISIONS}")

    def _contain(self, node: ArrayNode, made: str, items: str) -> None:
        if node.container is list:
            if items != made:
                self.at.line(f"{made} = [*{items}]")
            return
        container = self.source.class_name(node.container)
        self.at.line(f"{made} = {container}({items})")

    def _tuple(self, node: TupleNode, value: str, depth: int, known: str) -> str:
        self.give_up_unless_class(value, "list", known=known)
        results = self.tuple_items(node, value, depth)
        made = self.source.name("items")
        self.at.line(f"{made} = ({''.join([f'{result}, ' for result in results])})")
        return made

    # --- maps ------------------------------------------------------------------------------------

    def _map(self, node: MapNode, value: str, depth: int, known: str) -> str:
        self.give_up_unless_class(value, "dict", known=known)
        self.enter(depth)
        self.lengths(node.constraints, value)
        made, key, item = self.source.name("map"), self.source.name("key"), self.source.name("item")
        container = self.source.class_name(node.container)
        self.at.line(f"{made} = {container}()" if node.container is not dict else f"{made} = {{}}")
        keys = self.resolved(node.keys)
        self._give_up_on_crowds(keys, value)
        with self.at.block(f"for {key}, {item} in {value}.items():"):
            name = self._key(keys, key, depth)
            self.at.line(f"{made}[{name}] = {self.value(node.values, item, depth + 1)}")
        if not _is_handed_through(keys):
            self.give_up_if(f"len({made}) != len({value})")
        return made

    def _key(self, node: Node, key: str, depth: int) -> str:
        if isinstance(node, ScalarNode) and node.type == "string":
            return self.value(node, key, depth)
        self.give_up_unless_class(key, "str")
        if not isinstance(node, ScalarNode):
            return self.value(node, key, depth, "str")
        name = self.source.name("name")
        self.at.line(f"{name} = {self.source.bind(integer_of_key, 'integer_of_key')}({key})")
        self.give_up_if(f"{name} is None")
        return name

    # --- values without parts --------------------------------------------------------------------

    def _choice(self, node: LiteralNode | EnumNode, value: str, _depth: int, known: str) -> str:
        made = self.source.name("choice")
        table: Mapping[Any, Any] = node.table  # by what `choice_key` gives, a pair
        if all(type(key) is str for _, key in table):
            choices = self.source.bind({key: member for (_, key), member in table.items()}, "choices")
            self.give_up_unless_class(value, "str", known=known)
            key = value
        else:
            choices = self.source.bind(table, "choices")
            self._give_up_unless_scalar(value)
            key = f"{value}.__class__ is bool, {value}"
        self.look_up(made, choices, key)
        return made

    def _give_up_unless_scalar(self, value: str) -> None:
        scalars = self.source.bind(JSON_SCALARS, "scalars")
        self.give_up_if(f"{value}.__class__ not in {scalars}")

    def _leaf(self, node: LeafNode, value: str, _depth: int, known: str) -> str:
        types = node.leaf.json_types
        takes_numbers = "number" in types or "integer" in types
        classes = [_CLASSES[name] for name in types if name not in {"number", "integer", "null"}]
        classes += ["int", "float"] if takes_numbers else []
        classes += [self.source.bind(type(None), "NoneType")] if "null" in types else []
        self.give_up_unless_class(value, *classes, known=known)
        if takes_numbers:
            unfit = f"{value} - {value}" if "number" in types else f"not {value}.is_integer()"
            self.give_up_if(f"{value}.__class__ is float and {unfit}")
        self.keeps_schema(node, value)
        made = self.source.name(class_name(node.leaf.type))
        # The result must not share the caller's own array or object.
        given = f"{self.source.bind(copy_json, 'copy')}({value})" if {"array", "object"} & {*types} else value
        with self.at.block("try:"):
            self.at.line(f"{made} = {self.source.bind(node.leaf.decode, 'decode')}({given})")
        with self.at.block("except (ValueError, TypeError, OverflowError):"):
            self.leave()
        return made

    # --- unions ----------------------------------------------------------------------------------

    def _union(self, node: UnionNode, value: str, depth: int, _known: str) -> str:
        plan = make_plan(node, self.definitions)
        kind, made = self.source.name("kind"), self.source.name("member")
        self.at.line(f"{kind} = {value}.__class__")
        head = "if"
        for json_type, known in _CLASSES.items():
            candidates = plan.candidates[json_type]
            if not candidates:
                continue
            is_it = f"{value} is None" if known == "None" else f"{kind} is {known}"
            with self.at.block(f"{head} {is_it}:"):
                self.at.line(f"{made} = {self._member(plan, candidates, value, depth, known)}")
            head = "elif"
        with self.at.block("else:"):
            self.leave()
        return made

    def _member(
        self, plan: UnionPlan, candidates: tuple[Node, ...], value: str, depth: int, known: str
    ) -> str:
        first = candidates[0]
        # What a number without limits does not take, nothing that comes after it takes either.
        is_plain = isinstance(first, ScalarNode) and first.constraints is None
        if len(candidates) == 1 or is_plain:
            return self.value(first, value, depth, known)
        if known == "dict":
            return self._one_of_objects(plan, candidates, value, depth)
        # Where the class of a value without parts is known, code gives up exactly where the
        # interpreter finds that the value does not fit; but for the last, which takes numbers of
        # the other kind.
        made = self.source.name("member")
        self.at.line(f"{made} = {self.call(first, value, depth)}")
        for candidate in candidates[1:]:
            with self.at.block(f"if {made} is {self.give_up}:"):
                self.at.line(f"{made} = {self.call(candidate, value, depth)}")
        self.give_up_if(f"{made} is {self.give_up}")
        return made

    def _one_of_objects(self, plan: UnionPlan, candidates: tuple[Node, ...], value: str, depth: int) -> str:
        chosen, made = self.source.name("chosen"), self.source.name("member")
        if plan.tag is None:
            self.at.line(f"{chosen} = {self._chooser(candidates)}({value})")
        else:
            self._choose_by_tag(plan.tag, candidates, value, chosen)
        self.give_up_if(f"{chosen} is None")
        self.at.line(f"{made} = {chosen}({', '.join([value, *self.depth(depth)])})")
        self.give_up_if(f"{made} is {self.give_up}")
        return made

    def _choose_by_tag(self, known: Tag, candidates: tuple[Node, ...], value: str, chosen: str) -> None:
        tag, missing = self.source.name(known.key), self.source.bind(MISSING, "MISSING")
        by_tag = self.source.name("by_tag")
        # By what `choice_key` gives, a pair.
        members: list[tuple[Any, Node]] = list(known.members.items())
        functions = [
            f"({key[0]}, {self.source.literal(key[1])}): {self.function(node)}" for key, node in members
        ]
        self.source.close_with(f"{by_tag} = {{{', '.join(functions)}}}.get")
        self.at.line(f"{tag} = {value}.get({self.source.quoted(known.key)}, {missing})")
        with self.at.block(f"if {tag} is {missing}:"):
            if known.required:
                self.leave()
            else:
                self.at.line(f"{chosen} = {self._chooser(candidates)}({value})")
        with self.at.block("else:"):
            self._give_up_unless_scalar(tag)
            self.at.line(f"{chosen} = {by_tag}(({tag}.__class__ is bool, {tag}))")

    def _chooser(self, candidates: tuple[Node, ...]) -> str:
        """Return the name of a function that chooses among objects by their keys."""
        choose = self.source.name("choose")
        objects = self.source.bind(Objects(candidates, self.definitions), "objects")
        rows = [f"({self.source.bind(node, 'node')}, {self.function(node)})" for node in candidates]
        chooser = self.source.bind(chooser_of, "chooser")
        self.source.close_with(f"{choose} = {chooser}({', '.join([objects, *rows])})")
        return choose

    arms: ClassVar = {
        ScalarNode: Writer.scalar,
        AnyNode: _as_it_is,
        LeafNode: _leaf,
        LiteralNode: _choice,
        EnumNode: _choice,
        ArrayNode: _array,
        TupleNode: _tuple,
        MapNode: _map,
        ObjectNode: _object,
        UnionNode: _union,
    }


def _is_handed_through(node: Node) -> bool:
    """Return whether valid values of a node decode to themselves."""
    return isinstance(node, AnyNode) or (isinstance(node, ScalarNode) and node.type != "number")
