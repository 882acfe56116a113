"""What does a JSON Schema document that others wrote mean as a node graph?

The graph takes every value that the document takes. Keywords that the graph can't express are noted, so that
`Judge` can check them: none is ignored silently. Documents are not trusted: whatever they contain, reading
them ends soon and raises no error.
"""

from __future__ import annotations

from dataclasses import MISSING
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from ..immutable import Value
from ..introspect.leaves import trusted_leaf
from ..introspect.node_kinds import flat_members, received_types
from ..introspect.nodes import (
    ANY,
    NULL,
    STRING,
    TAG,
    AnyNode,
    ArrayNode,
    Field,
    Graph,
    LeafNode,
    LiteralNode,
    MapNode,
    ObjectNode,
    RefNode,
    ScalarNode,
    Target,
    TupleNode,
    UnionNode,
    resolve,
)
from ..json_values import JSON_TYPES, choice_key, copy_json, fits_types, is_array, is_object
from .keywords import KEYWORDS, Constraints, about, limit_of
from .linear_regex import Patterns, why_unread
from .references import resolve_pointer, step
from .value_check import unchecked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..findings import Finding
    from ..introspect.leaves import SchemaLeaf
    from ..introspect.nodes import Node, ScalarType


class DocumentReading(Value):
    """The meaning of a document.

    Attributes:
        graph: takes every value that the document takes.
        left: the keywords that the graph doesn't express; none if both take the same values.
    """

    graph: Graph
    left: tuple[Finding, ...]


def read_document(
    schema: Any,
    name: str,
    *,
    is_closed: bool = False,
    is_arguments: bool = True,
    patterns: Patterns | None = None,
    fits: Callable[[Node, Any], bool] | None = None,
    leaves: Mapping[str, SchemaLeaf[Any]] | None = None,
) -> DocumentReading:
    """Read a document.

    Args:
        schema: JSON values; a JSON Schema document of draft 6 or later.
        name: its name in messages.
        is_closed: whether an object refuses unknown keys if the schema doesn't decide.
        is_arguments: whether only objects matter, as for the arguments of a tool.
        patterns: the regular expressions of the document.
        fits: decides which defaults and examples the graph gets; None leaves all of them out.
        leaves: by the name of a `format`, the leaf that reads its texts.
    """
    banned: set[str] = set()
    patterns = patterns or Patterns()
    for _ in range(_MAX_ATTEMPTS):
        reader = _Attempt(schema, patterns, fits, leaves or {}, is_closed=is_closed, banned=banned)
        graph = reader.graph(name, is_arguments=is_arguments)
        if not reader.find_unclear(graph):
            return DocumentReading(graph, tuple(reader.left.values()))
    root = _open_object(name) if is_arguments else ANY
    return DocumentReading(Graph(root, {}), (unchecked("", "", "its alternatives can't be told apart"),))


def reading_of(leaf: SchemaLeaf[Any]) -> DocumentReading:
    """Return the meaning of a leaf's schema, which is read at first use."""
    schema: Any = leaf.json_schema
    if schema.reading is None:
        name = leaf.type.__name__
        schema.reading = read_document(schema, name, is_arguments=False, patterns=schema.patterns)
    known: DocumentReading = schema.reading
    return known


MAX_SCHEMAS = 10_000
"""The most schemas that are read in one document."""

MAX_LEVELS = 50
"""The most levels of nested schemas that are read."""

_MAX_NOTES = 100
_MAX_CHOICES = 10_000
_MAX_EXAMPLES = 5
_MAX_ATTEMPTS = 5
_MOST_COMPARED = 100
MOST_TRIED = 200  # alternatives that are arrays or objects: a decoder may go through all of a value for each
_EVERY: Final = frozenset(JSON_TYPES)
_OBJECT: Final = frozenset({"object"})
_COMBINED: Final = ("anyOf", "oneOf", "allOf")
_TYPES: Final = ("string", "number", "array", "object")
_OF_TYPE: Final = {
    json_type: tuple([name for name in about(json_type) if KEYWORDS[name].in_graph]) for json_type in _TYPES
}
_PLAIN: Final = tuple([keyword for json_type in JSON_TYPES for keyword in _OF_TYPE.get(json_type, ())])
_UNREADABLE: Final = tuple([name for name, row in KEYWORDS.items() if not row.in_graph])
"""The keywords that no node can express."""
_BESIDE: Final = tuple([name for name, row in KEYWORDS.items() if row.says == "values" and name != "$ref"])
_LIMITS: Final = {
    json_type: {
        name: row.limit.slot
        for name, row in KEYWORDS.items()
        if json_type in row.of and row.limit is not None and row.limit.of != "text"
    }
    for json_type in (*_TYPES, "integer")
}
"""By JSON type: keyword to attribute of `Constraints`, without patterns."""
_NO_LIMITS: Final = Constraints()


def _open_object(name: str) -> ObjectNode:
    return ObjectNode(dict, name, "typed_dict", (), False, None, None)


class _Attempt:
    """One attempt to read a document.

    Attributes:
        left: the noted findings, by place and keyword.
    """

    def __init__(
        self,
        document: Any,
        patterns: Patterns,
        fits: Callable[[Node, Any], bool] | None,
        leaves: Mapping[str, SchemaLeaf[Any]],
        *,
        is_closed: bool,
        banned: set[str],
    ) -> None:
        self.document = document
        self.fits = fits
        self.leaves = leaves
        self.patterns = patterns
        self.is_closed = is_closed
        self.banned = banned
        self.left: dict[tuple[str, str], Finding] = {}
        self.definitions: dict[Target, Node] = {}
        self.unions: list[tuple[str, str, UnionNode]] = []
        self.done: dict[Target, Node] = {}
        self.open: dict[Target, int] = {}
        self.again: set[Target] = set()
        self.count = 0
        self.depth = 0
        self.levels = 0

    def graph(self, name: str, *, is_arguments: bool) -> Graph:
        root = self.read(self.document, "", name, _OBJECT if is_arguments else _EVERY)
        if is_arguments:
            root = self._as_arguments(root, name)
        return Graph(root, self.definitions)

    def note(self, where: str, keyword: str, reason: str) -> None:
        if len(self.left) < _MAX_NOTES:
            self.left.setdefault((where, keyword), unchecked(where, keyword, reason))

    def find_unclear(self, graph: Graph) -> bool:
        """Ban the unions that a decoder couldn't decide; note each `oneOf` in which two members may fit."""
        unclear: set[str] = set()
        tried: dict[str, int] = {}
        for where, keyword, node in self.unions:
            if not _are_alternatives(node, graph.definitions):
                unclear.add(where)
            elif not _are_disjoint(node, graph.definitions):
                tried[where] = _count_containers(node, graph.definitions)
                if keyword == "oneOf":
                    self.note(where, keyword, "it isn't checked that no second one fits")
        if sum(tried.values()) > MOST_TRIED:
            unclear.update(where for where, number in tried.items() if number > 1)
        self.banned |= unclear
        return bool(unclear)

    def _as_arguments(self, node: Node, name: str) -> Node:
        """Return a node whose values are all objects with known keys."""
        known = node if not isinstance(node, RefNode) else self.definitions.get(node.target, node)
        if isinstance(known, ObjectNode):
            return node
        if isinstance(known, UnionNode) and all(isinstance(member, ObjectNode) for member in known.members):
            return node
        if not isinstance(known, MapNode) or known != MapNode(
            STRING, ANY, dict, dict, None, known.description
        ):
            self.note("", "", "what it says of keys and values in general isn't checked")
        return _open_object(name)

    # --- one schema ------------------------------------------------------------------------------

    def read(self, schema: Any, where: str, name: str, within: frozenset[str] = _EVERY) -> Node:
        """Return the node of a schema, for values of these JSON types."""
        node, description = self._described(schema, where, name, within)
        return node if description is None else node.replace(description=description)

    def _described(
        self, schema: Any, where: str, name: str, within: frozenset[str] = _EVERY
    ) -> tuple[Node, str | None]:
        """Return the node of a schema, and its description separately."""
        self.count += 1
        if self.count > MAX_SCHEMAS or self.depth >= MAX_LEVELS:
            self.note(where, "", "the document is too large, or nests too deep")
            return ANY, None
        if schema is True:
            return self._of_types({}, within, where, name), None
        if not is_object(schema):
            self.note(where, "", "nothing fits" if schema is False else "it isn't a schema")
            return ANY, None
        self.depth += 1
        node = self._assertions(schema, where, name, within)
        self.depth -= 1
        if isinstance(node, UnionNode):
            keyword = "oneOf" if "oneOf" in schema else "anyOf"
            self.unions.append((where, keyword, node))
        description = schema.get("description")
        return node, description if isinstance(description, str) and description.strip() else None

    def _assertions(self, schema: dict[str, Any], where: str, name: str, within: frozenset[str]) -> Node:
        if where in self.banned:
            self.note(where, "", "its alternatives can't be told apart")
            return ANY
        if where and "$id" in schema:
            self.note(where, "$id", "a document inside of a document isn't read")
            return ANY
        if "$ref" in schema:
            self._note_all(schema, _BESIDE, where, "it stands beside a reference")
            return self._reference(schema["$ref"], where, within)
        self._note_all(schema, _UNREADABLE, where, "it can't be decoded")
        types = self._types(schema, where) & within
        if not types:
            self.note(where, "type", "no value fits")
            return ANY
        if "enum" in schema or "const" in schema:
            found = self._choice(schema, where, types)
            if found is not None:
                self._note_all(schema, [*_PLAIN, *_COMBINED], where, "it stands beside choices")
                return found
        combined = [keyword for keyword in _COMBINED if keyword in schema]
        if combined and schema.keys().isdisjoint(_PLAIN):
            self._note_all(schema, combined[1:], where, "it stands beside other alternatives")
            return self._combined(schema[combined[0]], combined[0], where, name, types)
        self._note_all(schema, combined, where, "it stands beside other keywords")
        return self._of_types(schema, types, where, name)

    def _note_all(self, schema: dict[str, Any], keywords: Iterable[str], where: str, reason: str) -> None:
        for keyword in keywords:
            if keyword in schema:
                self.note(where, keyword, reason)

    def _types(self, schema: dict[str, Any], where: str) -> frozenset[str]:
        if "type" not in schema:
            return _EVERY
        declared = schema["type"]
        names: list[Any] = declared if is_array(declared) else [declared]
        found = frozenset([str(name) for name in names if name in JSON_TYPES])
        if found and len(found) == len(names):
            return found | {"integer"} if "number" in found else found
        self.note(where, "type", "it isn't a type of JSON")
        return _EVERY

    # --- references ------------------------------------------------------------------------------

    def _reference(self, reference: Any, where: str, within: frozenset[str]) -> Node:
        found = resolve_pointer(self.document, reference)
        if found is None:
            self.note(where, "$ref", "it refers to another document, or to nothing")
            return ANY
        pointer, schema = found
        name = pointer.rpartition("/")[2] or "Root"
        target = Target((pointer, within), name, name, is_object=True)
        if target in self.done:
            return self.done[target]
        if target in self.open:
            if self.open[target] == self.levels:
                self.note(where, "$ref", "it leads back to itself")
                return ANY
            self.again.add(target)
            return RefNode(target)
        self.open[target] = self.levels
        node = self.read(schema, pointer, name, within)
        del self.open[target]
        if target in self.again:
            self.definitions[target] = node
            node = RefNode(target)
        self.done[target] = node
        return node

    # --- choices and alternatives ----------------------------------------------------------------

    def _choice(self, schema: dict[str, Any], where: str, types: frozenset[str]) -> LiteralNode | None:
        """Return the node of `enum` and `const`; None if they hold more than scalars."""
        table: dict[Any, Any] | None = None
        for keyword in ("const", "enum"):
            if keyword not in schema:
                continue
            values = schema[keyword] if keyword == "enum" else [schema[keyword]]
            if not is_array(values) or len(values) > _MAX_CHOICES or not all(map(_is_choice, values)):
                self._note_all(
                    schema,
                    ("const", "enum"),
                    where,
                    "it contains more than texts, numbers, true, false and null",
                )
                return None
            found = {choice_key(value): value for value in values if fits_types(value, types)}
            table = found if table is None else {key: table[key] for key in table if key in found}
        if not table:
            self._note_all(schema, ("const", "enum"), where, "no value fits")
            return None
        values = tuple(table.values())
        return LiteralNode(values, values, table, None)

    def _combined(self, members: Any, keyword: str, where: str, name: str, types: frozenset[str]) -> Node:
        if not is_array(members) or not members:
            self.note(where, keyword, "it isn't a list of schemas")
            return self._of_types({}, types, where, name)
        found = [
            self.read(member, step(where, keyword, str(index)), _title(member) or f"{name}{index + 1}", types)
            for index, member in enumerate(members)
        ]
        if len(found) == 1:
            return found[0]
        if keyword == "allOf":
            return self._merged(found, where, name)
        if any(isinstance(node, AnyNode) for node in found):
            if keyword == "oneOf":
                self.note(where, keyword, "it isn't checked that no second one fits")
            return ANY
        distinct = found
        if len(found) < _MOST_COMPARED:
            distinct = [node for i, node in enumerate(found) if node not in found[:i]]
        if keyword == "oneOf" and len(distinct) < len(found):
            self.note(where, keyword, "it isn't checked that no second one fits")
        return UnionNode(tuple(distinct), None) if len(distinct) > 1 else distinct[0]

    def _merged(self, found: list[Node], where: str, name: str) -> Node:
        """Return one node for several schemas that must all fit."""
        nodes = [node for node in found if not isinstance(node, AnyNode)]
        nodes.sort(key=lambda node: not isinstance(node, LiteralNode))  # the most restrictive nodes first
        fields: dict[str, Field] = {}
        for node in nodes:
            is_plain = isinstance(node, ObjectNode) and not node.closed
            if not isinstance(node, ObjectNode) or not is_plain or any(f.key in fields for f in node.fields):
                self.note(where, "allOf", "only one of several schemas is read")
                return nodes[0]
            fields.update({field.key: field for field in node.fields})
        return _open_object(name).replace(fields=tuple(fields.values())) if nodes else ANY

    # --- types -----------------------------------------------------------------------------------

    def _of_types(self, schema: dict[str, Any], types: frozenset[str], where: str, name: str) -> Node:
        if types == _EVERY:
            for keywords in _OF_TYPE.values():
                self._note_all(schema, keywords, where, "there is no type beside it")
            return ANY
        if "number" in types:
            types -= {"integer"}
        names = types if len(types) == 1 else [json_type for json_type in JSON_TYPES if json_type in types]
        found = [self._of_type(json_type, schema, where, name) for json_type in names]
        return UnionNode(tuple(found), None) if len(found) > 1 else found[0]

    def _of_type(self, json_type: str, schema: dict[str, Any], where: str, name: str) -> Node:
        match json_type:
            case "null":
                return NULL
            case "boolean":
                return _SCALARS["boolean"]
            case "integer" | "number":
                return _scalar(json_type, self._limits(schema, json_type, where))
            case "string":
                return self._string(schema, where)
            case "array":
                return self._array(schema, where)
            case _:
                return self._object(schema, where, name)

    def _string(self, schema: dict[str, Any], where: str) -> Node:
        limits = self._limits(schema, "string", where)
        if "pattern" in schema:
            pattern = self.patterns.get(schema["pattern"])
            if pattern is None:
                self.note(where, "pattern", why_unread([schema["pattern"]]))
            elif pattern.is_slow:
                self.note(where, "pattern", "it is checked where steps are counted")
            else:
                limits = (limits or Constraints()).replace(pattern=pattern)
        said = schema.get("format")
        leaf = self._leaf(said) if limits is None and isinstance(said, str) else None
        return _scalar("string", limits) if leaf is None else LeafNode(leaf, None)

    def _leaf(self, said: str) -> SchemaLeaf[Any] | None:
        """Return the leaf that reads the texts of a format; None if the format isn't known."""
        if said in self.leaves or said not in _PLACEHOLDERS:
            return self.leaves.get(said)
        document = {"type": "string", "format": said}
        return trusted_leaf(str, document, _as_it_is, _as_it_is, _PLACEHOLDERS[said])

    def _limits(self, schema: dict[str, Any], json_type: str, where: str) -> Constraints | None:
        found: dict[str, Any] = {}
        rows = _LIMITS[json_type]
        if rows.keys().isdisjoint(schema):
            return None
        for keyword, slot in rows.items():
            if keyword in schema:
                limit = limit_of(keyword, schema[keyword])
                if limit is None:
                    self.note(where, keyword, f"its value can't be a limit of {json_type}")
                else:
                    found[slot] = limit
        found = {slot: limit for slot, limit in found.items() if (slot, limit) != ("min_length", 0)}
        return Constraints(**found) if found else None

    # --- arrays ----------------------------------------------------------------------------------

    def _array(self, schema: dict[str, Any], where: str) -> Node:
        limits = self._limits(schema, "array", where) or _NO_LIMITS
        if schema.get("uniqueItems", False) is not False:
            self.note(where, "uniqueItems", "it isn't checked")
        first, rest, keyword = schema.get("prefixItems"), schema.get("items", True), "prefixItems"
        if is_array(rest):  # until draft 2019-09
            first, rest, keyword = rest, schema.get("additionalItems", True), "items"
        if first is not None and not is_array(first):
            self.note(where, keyword, "it isn't a list of schemas")
            first = None
        if first:
            size = len(first)
            most = size if rest is False else limits.max_length
            if limits.min_length == most == size:
                return TupleNode(
                    tuple([self._item(each, where, keyword, str(i)) for i, each in enumerate(first)])
                )
            self.note(where, keyword, "the number of items isn't fixed")
            rest = True
            limits = limits.replace(max_length=most)
        if rest is False:
            limits = limits.replace(max_length=0)
        items = ANY if rest is False else self._item(rest, where, "items")
        return ArrayNode(
            items, list, list, None if limits is _NO_LIMITS or limits == _NO_LIMITS else limits, None
        )

    def _item(self, schema: Any, where: str, *steps: str) -> Node:
        self.levels += 1
        node = self.read(schema, step(where, *steps), _title(schema) or "Item")
        self.levels -= 1
        return node

    # --- objects ---------------------------------------------------------------------------------

    def _object(self, schema: dict[str, Any], where: str, name: str) -> Node:
        rest = schema.get("additionalProperties", not self.is_closed)
        if "patternProperties" in schema:
            self.note(where, "patternProperties", "keys are known by their names alone")
            if rest is not True:
                self.note(where, "additionalProperties", "it stands beside patternProperties")
            rest = True
        fields = self._fields(schema, where)
        if not fields and rest is not False:
            return self._map(schema, rest, where)
        self._note_all(schema, ("minProperties", "maxProperties", "propertyNames"), where, "it isn't checked")
        if not isinstance(rest, bool) and rest != {}:
            self.note(where, "additionalProperties", "the values of keys that have no name aren't checked")
        is_closed = rest is False and (where, "properties") not in self.left
        return ObjectNode(dict, _title(schema) or name, "typed_dict", fields, is_closed, None, None)

    def _map(self, schema: dict[str, Any], rest: Any, where: str) -> Node:
        limits = self._limits(schema, "object", where)
        keys: Node = STRING
        if "propertyNames" in schema:
            keys = self.read(
                schema["propertyNames"], step(where, "propertyNames"), "Key", frozenset({"string"})
            )
            is_read = isinstance(keys, LeafNode) and keys.leaf in self.leaves.values()
            if not is_read and not isinstance(keys, (ScalarNode, LiteralNode)):
                self.note(where, "propertyNames", "it isn't checked")
                keys = STRING
        return MapNode(keys, self._item(rest, where, "additionalProperties"), dict, dict, limits, None)

    def _fields(self, schema: dict[str, Any], where: str) -> tuple[Field, ...]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if not is_object(properties) or not all(map(_is_key, properties)):
            self.note(where, "properties", "it isn't an object of schemas")
            properties = {}
        if not is_array(required) or not all(map(_is_key, required)):
            self.note(where, "required", "it isn't a list of keys")
            required = []
        needed = frozenset(required)
        rest = True if "patternProperties" in schema else schema.get("additionalProperties", True)
        fields = [
            self._field(key, properties.get(key, rest), key in needed, where)
            for key in dict.fromkeys([*properties, *required])
        ]
        return tuple(fields)

    def _field(self, key: str, schema: Any, is_required: bool, where: str) -> Field:
        self.levels += 1
        node, description = self._described(schema, step(where, "properties", key), _title(schema) or key)
        self.levels -= 1
        if node.description is not None:  # of what it refers to, or of its only alternative
            description = description or node.description
            node = node.replace(description=None)
        known: Mapping[str, Any] = schema if is_object(schema) else {}
        default = self._fitting(node, [known["default"]] if "default" in known else [])
        examples = known.get("examples")
        shown = self._fitting(node, examples[:_MAX_EXAMPLES]) if is_array(examples) else []
        return Field(
            key,
            key,
            node,
            is_required,
            default[0] if default else MISSING,
            False,
            False,
            description,
            tuple(shown),
        )

    def _fitting(self, node: Node, values: list[Any]) -> list[Any]:
        """Return copies of the values that fit a node."""
        fits = self.fits
        return [] if fits is None else [copy_json(value) for value in values if fits(node, value)]


# --- parts of schemas ----------------------------------------------------------------------------


_SCALARS: Final[Mapping[str, ScalarNode]] = {
    "boolean": ScalarNode("boolean"),
    "integer": ScalarNode("integer"),
    "number": ScalarNode("number"),
    "string": STRING,
}


def _scalar(json_type: ScalarType, limits: Constraints | None) -> ScalarNode:
    return _SCALARS[json_type] if limits is None else ScalarNode(json_type, limits)


def _as_it_is(value: Any) -> Any:
    return value


def _title(schema: Any) -> str | None:
    title = schema.get("title") if is_object(schema) else None
    return title if isinstance(title, str) and title.strip() else None


def _is_key(key: object) -> bool:
    return isinstance(key, str) and key != TAG


def _is_choice(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


_PLACEHOLDERS: Final = {
    "date-time": "2025-01-31T12:00:00Z",
    "date": "2025-01-31",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "name@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "/path",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
"""A sample for each known format; the server decides which texts fit."""


# --- alternatives --------------------------------------------------------------------------------


def _are_alternatives(node: UnionNode, definitions: Mapping[Target, Node]) -> bool:
    """Return whether decoding can choose a member: if several take objects, each must have known keys."""
    members = flat_members(node, definitions)
    objects = [member for member in members if "object" in received_types(member)]
    if any(isinstance(member, AnyNode) for member in members):
        return False
    return len(objects) < 2 or all(isinstance(member, ObjectNode) for member in objects)  # noqa: PLR2004  # several


def _count_containers(node: UnionNode, definitions: Mapping[Target, Node]) -> int:
    """Return the number of alternatives that take an array or an object."""
    members = flat_members(node, definitions)
    return sum(not received_types(member).isdisjoint({"array", "object"}) for member in members)


def _are_disjoint(node: UnionNode, definitions: Mapping[Target, Node]) -> bool:
    """Return whether a quick look shows that no value fits two of the alternatives."""
    members = [resolve(member, definitions) for member in node.members]
    if len(members) > _MOST_COMPARED:
        return False
    return all(_differ(one, other, definitions) for one, other in combinations(members, 2))


def _differ(one: Node, other: Node, definitions: Mapping[Target, Node]) -> bool:
    if not _types(one, definitions) & _types(other, definitions) or _are_tags(one, other):
        return True
    if not isinstance(one, ObjectNode) or not isinstance(other, ObjectNode):
        return False
    tags = {field.key: field.node for field in one.fields if field.required}
    return any(
        field.required and field.key in tags and _are_tags(tags[field.key], field.node)
        for field in other.fields
    )


def _are_tags(one: Node, other: Node) -> bool:
    return (
        isinstance(one, LiteralNode)
        and isinstance(other, LiteralNode)
        and one.table.keys().isdisjoint(other.table)
    )


def _types(node: Node, definitions: Mapping[Target, Node]) -> frozenset[str]:
    assert not isinstance(node, RefNode)  # noqa: S101  # they are resolved
    return frozenset[str]().union(*[received_types(member) for member in flat_members(node, definitions)])
