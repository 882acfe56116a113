"""How a type is told to a model: the node graph rendered as JSON Schema 2020-12."""

from __future__ import annotations

from collections import Counter
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from .introspect.graph import nodes_inside
from .introspect.nodes import (
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
from .json_values import copy_json

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from .introspect.graph import Graph
    from .introspect.nodes import Constraints, Field, Node

    EncodeValue = Callable[[Node, Any], Any]
    Names = Mapping[Target, str]

__all__ = ["INTEGER_KEY", "MAX_INLINED", "render"]

MAX_INLINED = 1000
"""Schemas in a document, past which what is used more than once shares a definition."""

INTEGER_KEY = "^(0|-?[1-9][0-9]*)$"
"""How an integer is written as a JSON key."""


def render(graph: Graph, encode_value: EncodeValue) -> dict[str, Any]:
    """Render a graph as a JSON Schema document.

    Args:
        graph: of a registered type.
        encode_value: turns a Python value of a node into its JSON value, for defaults and examples.

    Returns:
        A fresh document: the root inline, so that it says `"type": "object"` for a dataclass;
        recursive types under `$defs`; everything else inlined where it is used, unless the document
        would then hold more than `MAX_INLINED` schemas: classes and aliases that are used more than
        once stand under `$defs` too.
    """
    shared = {} if _inlined_size(graph) <= MAX_INLINED else _shared_nodes(graph)
    definitions = {**graph.definitions, **shared}
    names = _definition_names(definitions) if definitions else {}
    writer = _Writer(names, {target.identity: names[target] for target in shared}, encode_value)
    root = graph.resolve_root()
    # What the class says of itself is the tool's description, not its parameters'.
    document = writer.object(root) if isinstance(root, ObjectNode) else writer.schema(root)
    document = _described(document, root.description)
    if isinstance(graph.root, RefNode):
        document = _described(document, graph.root.description)
    if names:
        document["$defs"] = {names[target]: writer.definition(node) for target, node in definitions.items()}
    return document


class _Writer:
    """What every arm needs: the names of definitions, and the way to write a value.

    Args:
        names: of the definitions.
        shared: identity of a node that is no recursive type to the name of its definition.
        encode_value: as `render` takes it.
    """

    __slots__ = ("_encode_value", "_names", "_shared")

    def __init__(self, names: Names, shared: Mapping[Hashable, str], encode_value: EncodeValue) -> None:
        self._names = names
        self._shared = shared
        self._encode_value = encode_value

    def definition(self, node: Node) -> dict[str, Any]:
        if isinstance(node, ObjectNode):
            return _described(_described(self.object(node), node.doc), node.description)
        return _described(self._bare(node), node.description)

    def schema(self, node: Node) -> dict[str, Any]:
        name = self._shared.get(id(node)) if self._shared else None
        if name is not None:
            return {"$ref": f"#/$defs/{name}"}
        description = node.description
        return self._bare(node) if description is None else _described(self._bare(node), description)

    def _bare(self, node: Node) -> dict[str, Any]:
        match node:
            case ScalarNode():
                return _scalar(node)
            case ObjectNode():
                return self._inner_object(node)
            case ArrayNode():
                return self._array(node)
            case TupleNode():
                return self._tuple(node)
            case MapNode():
                return self._map(node)
            case LiteralNode() | EnumNode():
                return _choice(node.values)
            case LeafNode():
                document: dict[str, Any] = copy_json(node.leaf.json_schema)
                return document
            case UnionNode():
                return {"anyOf": [self.schema(member) for member in node.members]}
            case RefNode():
                return {"$ref": f"#/$defs/{self._names[node.target]}"}
            case AnyNode():  # pragma: no branch  # the type checker knows that it is the last
                return {}

    def _inner_object(self, node: ObjectNode) -> dict[str, Any]:
        name = self._shared.get(_identity(node)) if self._shared else None
        if name is not None:
            return {"$ref": f"#/$defs/{name}"}
        return _described(self.object(node), node.doc)

    def _array(self, node: ArrayNode) -> dict[str, Any]:
        document: dict[str, Any] = {"type": "array", "items": self.schema(node.items)}
        if node.unique:
            document["uniqueItems"] = True
        return {**document, **_constraints(node.constraints, _ARRAY_WORDS)} if node.constraints else document

    def _tuple(self, node: TupleNode) -> dict[str, Any]:
        if not node.items:  # an empty prefixItems is no valid schema
            return {"type": "array", "maxItems": 0}
        items = [self.schema(item) for item in node.items]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}

    def _map(self, node: MapNode) -> dict[str, Any]:
        document: dict[str, Any] = {"type": "object"}
        keys = self._keys(node.keys)
        if keys:
            document["propertyNames"] = keys
        document["additionalProperties"] = self.schema(node.values)
        return {**document, **_constraints(node.constraints, _MAP_WORDS)} if node.constraints else document

    def _keys(self, node: Node) -> dict[str, Any]:
        if isinstance(node, ScalarNode) and node.type == "integer":
            return {"pattern": INTEGER_KEY}
        document = self.schema(node)
        document.pop("type", None)  # a key is a string in any case
        return document

    def object(self, node: ObjectNode) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": "object",
            "properties": {field.key: self._property(field) for field in node.fields},
        }
        required = [field.key for field in node.fields if field.required]
        if required:
            document["required"] = required
        if node.closed:
            document["additionalProperties"] = False
        return document

    def _property(self, field: Field) -> dict[str, Any]:
        document, default = self.schema(field.node), field.default
        if field.description is not None:
            document = _described(document, field.description)
        if default is not MISSING and default is not None:
            document["default"] = self._encode_value(field.node, default)
        if field.examples:
            document["examples"] = [self._encode_value(field.node, example) for example in field.examples]
        return document


def _scalar(node: ScalarNode) -> dict[str, Any]:
    if node.constraints is None:
        return {"type": node.type}
    return {"type": node.type, **_constraints(node.constraints, _SCALAR_WORDS)}


def _described(document: dict[str, Any], description: str | None) -> dict[str, Any]:
    """Set the description, last among the keys; the empty text takes away what is there."""
    if description is not None:
        document.pop("description", None)
        if description:
            document["description"] = description
    return document


_SCALAR_WORDS = {
    "minimum": "minimum",
    "exclusive_minimum": "exclusiveMinimum",
    "maximum": "maximum",
    "exclusive_maximum": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}
_ARRAY_WORDS = {"min_length": "minItems", "max_length": "maxItems"}
_MAP_WORDS = {"min_length": "minProperties", "max_length": "maxProperties"}


def _constraints(constraints: Constraints, words: Mapping[str, str]) -> dict[str, Any]:
    found = {word: getattr(constraints, slot) for slot, word in words.items()}
    return {word: getattr(value, "pattern", value) for word, value in found.items() if value is not None}


def _choice(values: Iterable[Any]) -> dict[str, Any]:
    values = list(values)
    types = set(map(_JSON_TYPES.__getitem__, map(type, values)))
    if types == {"integer", "number"}:
        types = {"number"}
    return {**({"type": types.pop()} if len(types) == 1 else {}), "enum": values}


_JSON_TYPES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


def _definition_names(definitions: Iterable[Target]) -> dict[Target, str]:
    """Name each definition by its type, with module where several share a name.

    The names follow from the types alone; only types that share even their module and qualified
    name are numbered, in the order in which the walk met them.
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


def _inlined_size(graph: Graph) -> int:
    """Count the schemas of the document if what is no recursive type is inlined wherever it is used."""
    sizes: dict[int, int] = {}

    def size(node: Node) -> int:
        known = sizes.get(id(node))
        if known is None:
            known = 1
            for inner in nodes_inside(node):
                known += 1 if inner.__class__ is ScalarNode else size(inner)
            sizes[id(node)] = known
        return known

    return sum([size(node) for node in (graph.root, *graph.definitions.values())])


def _shared_nodes(graph: Graph) -> dict[Target, Node]:
    """Return the nodes that are used more than once and have others inside."""
    met: set[int] = set()
    uses: dict[Target, int] = {}
    shared: dict[Target, Node] = {}
    aliases = {id(node): target for target, node in reversed(tuple(graph.aliases.items()))}

    def meet(node: Node) -> None:
        target = _target_of(node, aliases)
        if target is not None:
            shared.setdefault(
                target, node.replace(description=None) if isinstance(node, ObjectNode) else node
            )
            uses[target] = uses.get(target, 0) + 1
        if id(node) not in met:
            met.add(id(node))
            for inner in nodes_inside(node):
                meet(inner)

    for node in (graph.root, *graph.definitions.values()):
        meet(node)
    # What is defined already is used by its reference.
    defined = {_target_of(node, aliases) for node in graph.definitions.values()}
    return {target: shared[target] for target, count in uses.items() if count > 1 and target not in defined}


def _target_of(node: Node, aliases: Mapping[int, Target]) -> Target | None:
    """Return what a node that has others inside is known by; None for one that has not."""
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
