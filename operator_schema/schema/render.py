"""How is a type described to a model? Renders the node graph as JSON Schema 2020-12."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import MISSING
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

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
    Target,
    TupleNode,
    UnionNode,
)
from ..json_values import copy_json, count_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
    from types import ModuleType

    from ..introspect.nodes import Field, Graph, Node
    from .moved_definitions import HoistedDefinitions

    EncodeValue = Callable[[Node, Any], Any]
    Names = Mapping[Target, str]
    MakeRenderer = Callable[[Names, Mapping[Hashable, str], EncodeValue, int], "Renderer"]

MAX_INLINED = 1000
"""The most schemas in a document without shared definitions; in a larger one, types used twice share one."""

MAX_WITHOUT_REFERENCES = 10_000
"""The most schemas in a document that writes out each type wherever it is used."""

MAX_VALUES = 100_000
"""The most values of defaults, examples, literals and enums in a document that repeats a class."""


def render(
    graph: Graph, encode_value: EncodeValue, make: MakeRenderer | None = None, *, inline: bool = False
) -> dict[str, Any]:
    """Render a graph as a JSON Schema document.

    Args:
        graph: the graph of a registered type.
        encode_value: turns a Python value of a node into its JSON value, for defaults.
        make: makes the renderer of a dialect; takes the arguments of `Renderer`.
        inline: whether to write out a type each time it is used. If the document would then hold more than
            `MAX_WITHOUT_REFERENCES` schemas or `MAX_VALUES` values, it is incomplete and `left` of the
            renderer is below zero.

    Returns:
        A fresh document: the root is inline, so that a dataclass has `"type": "object"` there; recursive
        types under `$defs`; everything else inlined where it is used, unless the document would then hold
        more than `MAX_INLINED` schemas or `MAX_VALUES` values: classes and aliases that are used more than
        once are under `$defs` too.
    """
    make = make or Renderer
    definitions = graph.definitions
    most = MAX_WITHOUT_REFERENCES if inline else MAX_INLINED
    document, renderer = write(graph, definitions, {}, encode_value, most, make)
    if renderer.left >= 0 or inline:
        return document
    shared = _shared_nodes(graph)
    return write(graph, {**definitions, **shared}, shared, encode_value, sys.maxsize, make)[0]


def write(
    graph: Graph,
    definitions: Mapping[Target, Node],
    shared: Collection[Target],
    encode_value: EncodeValue,
    most: int,
    make: MakeRenderer,
) -> tuple[dict[str, Any], Renderer]:
    """Write a document, and return it with the renderer that did so.

    Args:
        graph: the graph of a registered type.
        definitions: the types under `$defs`.
        shared: those of them that aren't recursive.
        encode_value: as `render` takes it.
        most: how many schemas the document may hold; if `left` of the renderer is below zero, it lacks some.
        make: makes the renderer.
    """
    names = _definition_names(definitions) if definitions else {}
    by_identity = {target.identity: names[target] for target in shared} if shared else {}
    renderer = make(names, by_identity, encode_value, most)
    root = graph.resolve_root()
    # What the class says of itself is the tool's description, not its parameters'.
    document = renderer.object(root) if isinstance(root, ObjectNode) else renderer.schema(root)
    if root.description is not None:
        document = _with_description(document, root.description)
    if root is not graph.root:
        document = _with_description(document, graph.root.description)
    if definitions:
        document["$defs"] = {
            renderer.names[target]: renderer.definition(node) for target, node in definitions.items()
        }
    if renderer.hoisted is not None:
        document["$defs"] = {**document.get("$defs", {}), **renderer.hoisted.found}
    return document, renderer


class Renderer:
    """Renders nodes, with one method for each kind; the renderer of a dialect overrides some of them.

    Args:
        names: names of the definitions.
        shared: identity of a node that isn't recursive to the name of its definition.
        encode_value: as `render` takes it.
        most: schemas that the document may hold.

    Attributes:
        names: the names of the definitions.
        left: how many more schemas the document may hold; below zero if there were too many and it lacks
            some.
        values_left: the same for values of defaults, examples, literals and enums: below zero, so is `left`.
        hoisted: the definitions of leaves; None as long as there are none.
    """

    __slots__ = ("_arms", "_shared", "encode_value", "hoisted", "left", "names", "values_left")

    ARMS: ClassVar[Mapping[type[Any], str]] = {
        ScalarNode: "scalar",
        AnyNode: "any",
        LeafNode: "leaf",
        LiteralNode: "literal",
        EnumNode: "enum",
        ArrayNode: "array",
        TupleNode: "tuple",
        MapNode: "map",
        ObjectNode: "inner_object",
        UnionNode: "union",
        RefNode: "ref",
    }
    """By kind of node, the name of the method that renders it."""

    _methods: ClassVar[Mapping[type[Any], Callable[[Any, Any], dict[str, Any]]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._methods = {kind: getattr(cls, name) for kind, name in cls.ARMS.items()}

    def __init__(
        self, names: Names, shared: Mapping[Hashable, str], encode_value: EncodeValue, most: int
    ) -> None:
        self.names = names
        self.left: int = most
        self.values_left: int = sys.maxsize if most == sys.maxsize else MAX_VALUES
        self.hoisted: HoistedDefinitions | None = None
        self._shared = shared
        self._arms = self._methods  # an attribute of the class takes longer to find
        self.encode_value = encode_value

    def definition(self, node: Node) -> dict[str, Any]:
        """Render a node as a definition."""
        if isinstance(node, ObjectNode):
            return _with_description(_with_description(self.object(node), node.doc), node.description)
        return self.inlined(node)

    def schema(self, node: Node) -> dict[str, Any]:
        """Render a node where it is used."""
        self.left -= 1
        if self.left < 0:
            return {}
        if self._shared and id(node) in self._shared:
            return {"$ref": f"#/$defs/{self._shared[id(node)]}"}
        document = self._arms[node.__class__](self, node)  # as `inlined`, spared a call
        description = node.description
        return document if description is None else _with_description(document, description)

    def inlined(self, node: Node) -> dict[str, Any]:
        """Render a node in full, even if it has a shared definition."""
        document = self._arms[node.__class__](self, node)
        description = node.description
        return document if description is None else _with_description(document, description)

    def scalar(self, node: ScalarNode) -> dict[str, Any]:
        """Render a string, number, boolean or null."""
        if node.constraints is None:
            return {"type": node.type}
        return {"type": node.type, **_keywords().keywords_of(node.constraints, node.type)}

    def any(self, _node: AnyNode) -> dict[str, Any]:
        """Render a node that takes every value."""
        return {}

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        """Render a leaf, and move its definitions to the root."""
        return self.hoist(copy_json(node.leaf.json_schema))

    def hoist(self, document: dict[str, Any]) -> dict[str, Any]:
        """Move the definitions of a leaf's schema to the root; return the rest of the schema."""
        if "$defs" in document or "definitions" in document:
            from .moved_definitions import HoistedDefinitions

            if self.hoisted is None:
                self.hoisted = HoistedDefinitions([*self.names.values(), *self._shared.values()])
            return self.hoisted.move(document)
        return document

    def literal(self, node: LiteralNode) -> dict[str, Any]:
        """Render a fixed set of values."""
        self._count_values(len(node.values))
        return _choice(node.values)

    def enum(self, node: EnumNode) -> dict[str, Any]:
        """Render the values of an Enum."""
        self._count_values(len(node.values))
        document = _choice(node.values)
        return document if node.doc is None else _with_description(document, node.doc)

    def union(self, node: UnionNode) -> dict[str, Any]:
        """Render the members of a union, each once."""
        documents = [self.schema(member) for member in node.members]
        if LeafNode in map(type, node.members):  # two types may have one schema, such as a path and a string
            documents = [document for i, document in enumerate(documents) if document not in documents[:i]]
        return {"anyOf": documents} if len(documents) > 1 else documents[0]

    def ref(self, node: RefNode) -> dict[str, Any]:
        """Render a reference to a definition."""
        return {"$ref": f"#/$defs/{self.names[node.target]}"}

    def inner_object(self, node: ObjectNode) -> dict[str, Any]:
        """Render an object that is not the root."""
        name = self._shared.get(_identity(node)) if self._shared else None
        if name is not None:
            return {"$ref": f"#/$defs/{name}"}
        return _with_description(self.object(node), node.doc)

    def array(self, node: ArrayNode) -> dict[str, Any]:
        """Render an array of any length."""
        document: dict[str, Any] = {"type": "array", "items": self.schema(node.items)}
        if node.unique:
            document["uniqueItems"] = True
        return (
            {**document, **_keywords().keywords_of(node.constraints, "array")}
            if node.constraints
            else document
        )

    def tuple(self, node: TupleNode) -> dict[str, Any]:
        """Render an array of fixed length."""
        if not node.items:  # an empty prefixItems isn't a valid schema
            return {"type": "array", "maxItems": 0}
        items = [self.schema(item) for item in node.items]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}

    def map(self, node: MapNode) -> dict[str, Any]:
        """Render an object with free keys."""
        document: dict[str, Any] = {"type": "object"}
        keys = self.key_schema(node.keys)
        if keys:
            document["propertyNames"] = keys
        document["additionalProperties"] = self.schema(node.values)
        return (
            {**document, **_keywords().keywords_of(node.constraints, "object")}
            if node.constraints
            else document
        )

    def key_schema(self, node: Node) -> dict[str, Any]:
        """Render the restrictions on the keys of a map; empty if every string is a key."""
        if isinstance(node, ScalarNode) and node.type == "integer":
            return {"pattern": _keywords().INTEGER_KEY}
        document = self.inlined(node)
        document.pop("type", None)  # a key is a string in any case
        return document

    def object(self, node: ObjectNode) -> dict[str, Any]:
        """Render an object with its fields."""
        properties: dict[str, Any] = {}
        required: list[str] = []
        for field in node.fields:
            properties[field.key] = self.field(field)
            if field.required:
                required.append(field.key)
        document: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            document["required"] = required
        if node.closed:
            document["additionalProperties"] = False
        return document

    def field(self, field: Field) -> dict[str, Any]:
        """Render a field of an object."""
        document, default = self.schema(field.node), field.default
        description = field.description
        if description and "description" not in document:
            document["description"] = description  # as `_with_description`, spared a call
        elif description is not None:
            document = _with_description(document, description)
        if default is not MISSING and default is not None:
            document["default"] = self._value(field.node, default)
        if field.examples:
            document["examples"] = [self._count_copy(copy_json(example)) for example in field.examples]
        return document

    def _value(self, node: Node, value: Any) -> Any:
        """Encode a default; return None if there were too many values."""
        return None if self.values_left < 0 else self._count_copy(self.encode_value(node, value))

    def _count_copy(self, written: Any) -> Any:
        """Count the values of a copy, and return it; return None if there were too many."""
        if self.values_left < 0:
            return None
        if written.__class__ is dict or written.__class__ is list:
            self._count_values(count_values(written))
        return written

    def _count_values(self, number: int) -> None:
        self.values_left -= number
        if self.values_left < 0:
            self.left = -1


Renderer.__init_subclass__()  # the class renders nodes itself, too


def without_boolean_items(document: dict[str, Any]) -> dict[str, Any]:
    """Replace `"items": false` by the greatest number of items."""
    kept = {keyword: value for keyword, value in document.items() if keyword != "items"}
    allowed = len(document.get("prefixItems", ()))
    kept["maxItems"] = min(allowed, kept.get("maxItems", allowed))
    return kept


@cache
def _keywords() -> ModuleType:
    # Only a type with constraints needs the table of keywords; an import would take longer each time.
    from . import keywords

    return keywords


def _with_description(document: dict[str, Any], description: str | None) -> dict[str, Any]:
    """Set the description as the last key; an empty text removes an existing one."""
    if description is not None:
        if "description" in document:
            del document["description"]  # noqa: RUF051  # most have none, which `pop` takes a call to say
        if description:
            document["description"] = description
    return document


def _choice(values: Iterable[Any]) -> dict[str, Any]:
    values = list(values)
    classes = set(map(type, values))
    if classes == _NUMBERS:
        return {"type": "number", "enum": values}
    return {"type": _JSON_TYPES[classes.pop()], "enum": values} if len(classes) == 1 else {"enum": values}


_NUMBERS = {int, float}
_JSON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _definition_names(definitions: Iterable[Target]) -> dict[Target, str]:
    """Name each definition after its type, with the module if several types share a name.

    The names depend only on the types. Types that share even module and qualified name are numbered, in the
    order of the walk.
    """
    short = {target: _safe(target.name) for target in definitions}
    uses = Counter(short.values())
    names: dict[Target, str] = {}
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for target, name in short.items():
        unique = candidate = name if uses[name] == 1 else _safe(target.qualified)
        while candidate in taken:
            numbers[unique] = numbers.get(unique, 1) + 1
            candidate = f"{unique}_{numbers[unique]}"
        taken.add(candidate)
        names[target] = candidate
    return names


def _shared_nodes(graph: Graph) -> dict[Target, Node]:
    """Return the nodes that are used more than once and contain other nodes."""
    from ..introspect.node_kinds import visit_places  # few documents are so large

    uses: dict[Target, int] = {}
    shared: dict[Target, Node] = {}
    aliases = {id(node): target for target, node in reversed(tuple(graph.aliases.items()))}

    for node, _ in visit_places([graph.root, *graph.definitions.values()]):
        target = _target_of(node, aliases)
        if target is not None:
            shared.setdefault(
                target, node.replace(description=None) if isinstance(node, ObjectNode) else node
            )
            uses[target] = uses.get(target, 0) + 1
    # A type that is defined already is used by its reference.
    defined = {_target_of(node, aliases) for node in graph.definitions.values()}
    return {target: shared[target] for target, count in uses.items() if count > 1 and target not in defined}


def _target_of(node: Node, aliases: Mapping[int, Target]) -> Target | None:
    """Return the identity of a node that contains other nodes; None for other nodes."""
    if isinstance(node, ObjectNode):
        return Target(_identity(node), node.name, f"{node.type.__module__}.{node.name}", is_object=True)
    kind = _KINDS.get(type(node))
    if kind is None:
        return None
    alias = aliases.get(id(node))
    name, qualified = (kind, kind) if alias is None else (alias.name, alias.qualified)
    return Target(id(node), name, qualified, is_object=False)


def _identity(node: ObjectNode) -> Hashable:
    # A copy with another description has the very same fields.
    return (id(node.type), node.name, id(node.fields))


_KINDS: Mapping[type, str] = {ArrayNode: "Array", TupleNode: "Tuple", MapNode: "Map", UnionNode: "Union"}


def _safe(name: str) -> str:
    # Providers take letters, digits and these two in a reference; `~` and `/` mean something there.
    kept = [c if (c.isascii() and c.isalnum()) or c in "_-" else "_" for c in name]
    return "".join(kept).strip("_") or "Definition"
