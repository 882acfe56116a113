"""Which tags are required inside unions, although their fields have defaults?

An object without its tag could be any member of its union, and decoding never guesses. So a class has one
node as a member of a union, and another node elsewhere, where the field with a default may be left out. A
recursive class that is used in both ways has two definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import Finding
from ..json_values import is_object
from .leaves import trusted_leaf
from .node_kinds import ShapedDecoder, are_same, flat_members, shape_of, with_parts
from .nodes import NULL, Field, Graph, LeafNode, ObjectNode, RefNode, Target, UnionNode, resolve
from .overlaps import is_always_written
from .union_plans import field_choices, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .nodes import Defaulted, Node

    Keys = frozenset[str]

_NONE: Keys = frozenset()


def with_required_tags(graph: Graph, defaulted: Iterable[Defaulted], *, of_results: bool) -> Graph:
    """Return a graph in which the members of each union require their tag.

    Args:
        graph: the graph of the whole type.
        defaulted: the fields whose defaults are checked later; they get their new nodes.
        of_results: whether values are only written, so that only tags that are always written are required.
    """
    made = _TaggedGraph(graph, of_results=of_results)
    root = graph.root if isinstance(graph.root, RefNode) else made.node(graph.root)
    definitions = made.definitions()
    if root is graph.root and all(node is graph.definitions[target] for target, node in definitions.items()):
        return graph
    for entry in defaulted:
        node = made.node(entry.field.node)
        entry.field = entry.field if node is entry.field.node else entry.field.replace(node=node)
    # Defaults may be of parts that nothing else refers to any more.
    definitions = {**made.definitions(), **definitions}
    if isinstance(root, RefNode) and root.target not in made.referred:
        inlined = definitions.pop(root.target)
        root = inlined if root.description is None else inlined.replace(description=root.description)
    aliases = {target: made.node(node) for target, node in graph.aliases.items() if made.has_met(node)}
    return Graph(root, definitions, aliases)


class _TaggedGraph:
    """Rebuilds the nodes of a graph so that they require tags; each node is made once for the same tags.

    Attributes:
        referred: the definitions that nodes other than the root refer to.
    """

    def __init__(self, graph: Graph, *, of_results: bool) -> None:
        self._graph = graph
        self._of_results = of_results
        # All are kept, because a new node could get the identity of a deleted one.
        self._nodes: dict[tuple[int, Keys | None], tuple[Node, Node]] = {}
        self._fields: dict[tuple[int, Keys], tuple[tuple[Field, ...], tuple[Field, ...]]] = {}
        self._definitions: dict[Target, Node] = {}
        self._waiting: dict[Target, tuple[Node, Keys | None]] = {}
        self.referred: set[Target] = set()
        if isinstance(graph.root, RefNode):
            self._refer(graph.root, None)

    def definitions(self) -> dict[Target, Node]:
        """Return the definitions that the nodes made so far refer to."""
        while self._waiting:
            target, (node, keys) = self._waiting.popitem()
            self._definitions[target] = self.node(node, keys)
        return self._definitions

    def has_met(self, node: Node) -> bool:
        """Return whether a node was rebuilt as one outside of unions."""
        return (id(node), None) in self._nodes

    def node(self, node: Node, keys: Keys | None = None) -> Node:
        """Return the node that replaces a node.

        Args:
            node: a node of the graph.
            keys: keys of the tags that it requires as a member of a union; None if it isn't a member.
        """
        known = self._nodes.get((id(node), keys))
        if known is None:
            known = self._nodes[id(node), keys] = (node, self._make(node, keys))
        return known[1]

    def _make(self, node: Node, keys: Keys | None) -> Node:
        if isinstance(node, UnionNode):
            keys = self._keys_inside(node, keys)
            members = tuple([self.node(member, keys) for member in node.members])
            return node if are_same(members, node.members) else node.replace(members=members)
        if isinstance(node, RefNode):
            return self._reference(node, keys)
        if isinstance(node, ObjectNode):
            fields = self._fields_of(node, self._lacking(node, keys or _NONE))
            return node if fields is node.fields else node.replace(fields=fields)
        if isinstance(node, LeafNode):
            lacking = self._lacking(node, keys or _NONE)
            return _requiring(node, lacking) if lacking else node
        return with_parts(node, self.node, self._field)

    # --- objects ---------------------------------------------------------------------------------

    def _fields_of(self, node: ObjectNode, keys: Keys) -> tuple[Field, ...]:
        """Return the new fields of an object: the same tuple for copies with other descriptions."""
        known = self._fields.get((id(node.fields), keys))
        if known is None:
            fields = tuple([self._field(field, is_required=field.key in keys) for field in node.fields])
            made = node.fields if are_same(fields, node.fields) else fields
            known = self._fields[id(node.fields), keys] = (node.fields, made)
        return known[1]

    def _field(self, field: Field, *, is_required: bool = False) -> Field:
        node = self.node(field.node)
        if is_required:
            return field.replace(
                node=_or_null(node) if field.absent_is_none else node, required=True, absent_is_none=False
            )
        return field if node is field.node else field.replace(node=node)

    # --- references ------------------------------------------------------------------------------

    def _reference(self, node: RefNode, keys: Keys | None) -> RefNode:
        target = self._refer(node, keys)
        self.referred.add(target)
        return node if target is node.target else node.replace(target=target)

    def _refer(self, node: RefNode, keys: Keys | None) -> Target:
        target, meant = node.target, self._graph.definitions[node.target]
        own = self._keys_inside(meant, None) if isinstance(meant, UnionNode) else _NONE
        lacking = self._lacking(meant, own if keys is None else keys)
        if lacking == self._lacking(meant, own):
            keys = None
        else:
            words = " and ".join(sorted(lacking))
            keys, identity = lacking, (target.identity, lacking)
            target = target.replace(identity=identity, qualified=f"{target.qualified} with {words}")
        if target not in self._definitions:
            self._waiting[target] = (meant, keys)
        return target

    # --- tags ------------------------------------------------------------------------------------

    def _keys_inside(self, node: UnionNode, around: Keys | None) -> Keys:
        """Return the keys of the tags that the members of a union require.

        Args:
            node: the union.
            around: keys that it requires as a member of another union, including its own keys; None if it
                isn't a member.
        """
        if around is not None:
            return around
        unions = self._unions_in(node)
        named = [
            (self._flat(each), key)
            for each in unions
            if (key := self._key_of_discriminator(each)) is not None
        ]
        found = {key for _, key in named}
        for each in unions:
            members = self._flat(each)
            # Where a union names its discriminator, its members need no other tag.
            found |= {
                tag.key
                for tag in tags_of(members, of_all=False)
                if not any(_are_among(tag.members.values(), chosen) for chosen, _ in named)
            }
        return frozenset(found)

    def _unions_in(self, node: UnionNode) -> list[UnionNode]:
        """Return a union and the unions that are members of it."""
        found: dict[int, UnionNode] = {}
        pending: list[Node] = [node]
        while pending:
            each = resolve(pending.pop(), self._graph.definitions)
            if isinstance(each, UnionNode) and id(each) not in found:
                found[id(each)] = each
                pending += each.members
        return list(found.values())

    def _key_of_discriminator(self, node: UnionNode) -> str | None:
        """Return the key of the field that pydantic's discriminator names, if all members have it."""
        name = node.discriminator
        if name is None:
            return None
        members = [each for each in self._flat(node) if shape_of(each) is not None]
        fields = [
            next((each for each in _fields_of(member) if name in {each.name, each.key}), None)
            for member in members
        ]
        keys = {None if each is None else each.key for each in fields}
        return keys.pop() if len(keys) == 1 else None

    def _lacking(self, node: Node, keys: Keys) -> Keys:
        """Return the keys that a node's objects have but don't require yet."""
        if not keys:
            return keys
        return frozenset(
            [
                field.key
                for member in self._flat(node)
                for field in _fields_of(member)
                if field.key in keys
                and not field.required
                and field_choices(field)
                and self._may_require(member, field)
            ]
        )

    def _may_require(self, member: Node, field: Field) -> bool:
        """Return whether a tag can be required; in results, it must always be written."""
        return not self._of_results or (isinstance(member, ObjectNode) and is_always_written(member, field))

    def _flat(self, node: Node) -> list[Node]:
        return flat_members(node, self._graph.definitions)


def _fields_of(node: Node) -> tuple[Field, ...]:
    shape = shape_of(node)
    return () if shape is None else shape.fields


def _are_among(nodes: Iterable[Node], others: list[Node]) -> bool:
    known = set(map(id, others))
    return all(id(node) in known for node in nodes)


def _or_null(node: Node) -> Node:
    members = node.members if isinstance(node, UnionNode) else (node,)
    return UnionNode((*members, NULL), node.description)


# --- leaves whose fields are known ----------------------------------------------------------------


class _Requiring(ShapedDecoder):
    """Reads objects like another decoder, but requires some keys.

    Attributes:
        inner: the other decoder.
        keys: the required keys.
    """

    inner: ShapedDecoder
    keys: Keys

    @property
    def shape(self) -> ObjectNode | None:
        """The fields of the other decoder, with those keys required."""
        shape = self.inner.shape
        assert shape is not None  # noqa: S101  # only fields that are known are required
        fields = [field.replace(required=field.required or field.key in self.keys) for field in shape.fields]
        return shape.replace(fields=tuple(fields))

    def __call__(self, value: Any) -> Any:
        """Return the instance for a JSON value.

        Raises:
            DecodeError: a key is missing; with the problems of the other decoder.
        """
        missing = sorted(self.keys - value.keys()) if is_object(value) else []
        if not missing:
            return self.inner(value)
        from ..errors import DecodeError  # only errors need it

        problems = [Finding((key,), "missing", "missing (required)") for key in missing]
        try:
            self.inner(value)
        except DecodeError as error:
            known = [problem.path for problem in problems]
            problems += [problem for problem in error.findings if problem.path not in known]
        raise DecodeError(type(self.inner).__name__, problems)


def _requiring(node: LeafNode, keys: Keys) -> LeafNode:
    leaf, decode = node.leaf, node.leaf.decode
    assert isinstance(decode, ShapedDecoder)  # noqa: S101  # as its fields are known
    schema = _object_schema(leaf.json_schema)
    required = {"required": [*schema.get("required", ()), *sorted(keys)]}
    made = trusted_leaf(
        leaf.type, {**schema, **required}, _Requiring(decode, keys), leaf.encode, leaf.placeholder, leaf.rank
    )
    return node.replace(leaf=made)


def _object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a schema with the object's keywords, which may be one of its definitions."""
    from ..schema.references import resolve

    found = dict(schema)
    while "$ref" in found:
        reference = found.pop("$ref")
        found = {**resolve(schema, reference), **{key: found[key] for key in found if key != "type"}}
    return found
