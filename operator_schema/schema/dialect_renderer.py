"""How is a type described to a provider? Keywords that its dialect can't express become words."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..findings import Finding, about_type
from ..immutable import Value
from ..introspect.node_kinds import json_types_of
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
)
from ..json_values import copy_json, is_array, is_object, type_of
from ..message_text import quote
from .dialect_writing import CannotSay, leaf_schema, or_null, says_null, types_in
from .openapi_form import openapi_schema
from .references import as_path, subschemas, unescaped
from .render import Renderer
from .schema_words import WITH_WORDS, WORDS, said_of, short_json, with_words, written_out
from .style import every_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

    from ..codec.codec import Codec
    from ..introspect.nodes import Field, Graph, Node, Target
    from .dialect import Dialect


LossCode = Literal["described", "null", "weakened", "renamed"]
_LOSSES: dict[LossCode, str] = {
    "described": "{provider} doesn't take {keyword}, which moves to the description",
    "null": "{provider} requires it, so null stands for leaving it out",
    "weakened": "{provider} can't express all of its type, so its schema accepts more",
    "renamed": "{provider} doesn't take the name of this property, and gets {new_name} instead",
}


def lost(
    path: tuple[str | int, ...],
    code: LossCode,
    keyword: str | None,
    tool: str,
    provider: str,
    new_name: str | None = None,
) -> Finding:
    """Make a finding about a part of a schema that a provider gets in an unusual form.

    Args:
        path: attribute names that lead to the part; `*` stands for the items of an array.
        code: `described`: a keyword became words in the description · `null`: an optional property is
            required, and takes null instead · `weakened`: the schema takes more values than the type, and
            words say so · `renamed`: the provider doesn't take the name of a property.
        keyword: the keyword of JSON Schema; None for a renamed property.
        tool: name of the tool.
        provider: name of the provider.
        new_name: new name of the property, which becomes the finding's `received`.
    """
    message = _LOSSES[code].format(provider=provider, keyword=keyword, new_name=new_name)
    remedy = "Decoding still checks it" if new_name is None else GIVE_TOOLS
    return Finding(
        path,
        code,
        message,
        received=new_name,
        remedy=remedy,
        severity="warning" if code == "weakened" else "note",
        tool=tool,
        provider=provider,
        keyword=keyword,
    )


GIVE_TOOLS = "Give the same tools to `answer` and `results` too"
"""The remedy for property names that a request renamed."""


class DialectSchema(Value):
    """The input of a tool in a dialect.

    Attributes:
        schema: a document that the caller may change.
        losses: the parts in an unusual form, in order; see `lost`.
        complaints: the parts that the dialect can't express at all; if there are any, the schema can't be
            used.
    """

    schema: dict[str, Any]
    losses: tuple[Finding, ...]
    complaints: tuple[Finding, ...]

    __hash__ = None  # type: ignore[assignment]  # a dict is in it


def dialect_schema(codec: Codec[Any], dialect: Dialect, name: str, provider: str) -> DialectSchema:
    """Render the input of a tool in a dialect.

    Args:
        codec: the codec of the input.
        dialect: the provider's dialect.
        name: name of the tool, for complaints.
        provider: name of the provider, for complaints; `the strict mode of …` for its strict dialect.
    """
    is_union = isinstance(codec.graph.resolve_root(), UnionNode)
    found = _Findings(name, provider, codec.graph)
    if is_union and not dialect.lenient:
        return _refused_union(found)
    make = partial(DialectRenderer, dialect, found)
    document = codec.json_schema_by(make, inline=not dialect.takes_references)
    if found.renderer is not None and found.renderer.left < 0:
        message = f"its schema is too large without references, which {provider} doesn't take"
        found.complain((), message, "Use fewer types inside each other, or shorter defaults")
    if found.complaints:
        return DialectSchema({}, tuple(found.losses), tuple(found.complaints))
    if is_union:
        try:
            document = _as_object(document, found)
        except CannotSay:
            return _refused_union(found)
    if found.renderer is not None and not (dialect.takes_references and dialect.takes_recursion):
        _drop_definitions(document, [found.renderer.names[target] for target in codec.graph.definitions])
    _describe_beyond(document, codec)
    document = written_out(document)
    for path, what in strange_parts(document, dialect):
        found.complain(path, f"{what}, which {provider} doesn't take", "Write this part as a dataclass")
    if found.complaints:
        return DialectSchema({}, tuple(found.losses), tuple(found.complaints))
    if dialect.openapi:
        document = openapi_schema(document)
    return DialectSchema(document, (*found.losses, *_losses_of_document(codec, name, provider)), ())


def _refused_union(found: _Findings) -> DialectSchema:
    message = f"the arguments are a union, which {found.provider} doesn't take"
    found.complain((), message, "Give the union to one parameter: a dataclass with a field of this type")
    return DialectSchema({}, (), tuple(found.complaints))


def _as_object(document: dict[str, Any], found: _Findings) -> dict[str, Any]:
    """Turn a union of objects into one object that takes all their values, and more.

    Raises:
        CannotSay: no alternative is an object.
    """
    from .root_composition import uncomposed

    left = uncomposed(document)
    assert left is not None  # noqa: S101  # a union has alternatives, at its root or where that refers to
    for keyword in left.keywords:
        found.lose((), "weakened", keyword)
    return with_words(left.schema, left.words)


class _Findings:
    """The findings of a renderer while it renders.

    Args:
        tool: name of the tool, for complaints.
        provider: name of the provider, for complaints.
        graph: the graph of the input.
    """

    def __init__(self, tool: str, provider: str, graph: Graph) -> None:
        self.tool = tool
        self.provider = provider
        self.graph = graph
        self.losses: list[Finding] = []
        self.complaints: list[Finding] = []
        self.renderer: DialectRenderer | None = None

    def lose(self, path: Sequence[str], code: LossCode, keyword: str) -> None:
        """Note a keyword that is expressed in another way."""
        self.losses.append(lost(tuple(path), code, keyword, self.tool, self.provider))

    def complain(self, path: Sequence[str], message: str, remedy: str) -> None:
        """Note a part that can't be expressed."""
        self.complaints.append(about_type(tuple(path), "unsupported", self.tool, message, remedy))


_KINDS = (
    *(ScalarNode, AnyNode, LeafNode, LiteralNode, EnumNode, ArrayNode),
    *(TupleNode, MapNode, ObjectNode, UnionNode, RefNode),
)
"""The kinds of nodes that dialects know."""


class DialectRenderer(Renderer):
    """Renders nodes in a dialect.

    Args:
        dialect: the dialect.
        found: collects parts that are expressed in another way, or can't be expressed.
        names, shared, encode_value, most: as `Renderer` takes them.
    """

    __slots__ = ("_dialect", "_first", "_found", "_open", "_path")

    ARMS: ClassVar[Mapping[type[Any], str]] = {kind: Renderer.ARMS[kind] for kind in _KINDS}
    """By kind of node, the name of the method that renders it; other nodes are never sent."""

    def __init__(
        self,
        dialect: Dialect,
        found: _Findings,
        names: Mapping[Target, str],
        shared: Mapping[Hashable, str],
        encode_value: Callable[[Node, Any], Any],
        most: int,
    ) -> None:
        if dialect.plain_definitions:
            names = {target: _plain_name(name) for target, name in names.items()}
            shared = {key: _plain_name(name) for key, name in shared.items()}
        super().__init__(names, shared, encode_value, most)
        self._dialect = dialect
        self._found = found
        self._path: list[str] = []
        # Where a definition is first used, by its identity: the graph lives longer.
        self._first: dict[int, tuple[str, ...]] = {}
        root = found.graph.root
        self._open: list[Target] = [root.target] if isinstance(root, RefNode) else []
        # A document that is too large is rendered again, with shared definitions.
        found.losses.clear()
        found.complaints.clear()
        found.renderer = self

    def definition(self, node: Node) -> dict[str, Any]:
        """Render a node as a definition; return an empty schema if the dialect allows no such definition."""
        dialect = self._dialect
        recursive = any(node is found for found in self._found.graph.definitions.values())
        if not dialect.takes_references or (recursive and not dialect.takes_recursion):
            return {}  # it is written out, or refused, where it is used
        self._path = list(self._first.get(id(node), ()))
        document = super().definition(node)
        self._path = []
        return document

    def schema(self, node: Node) -> dict[str, Any]:
        """Render a node where it is used."""
        if self._shared:
            self._first.setdefault(id(node), tuple(self._path))
        return super().schema(node) if type(node) in self.ARMS else self._refuse_kind(node)

    def inlined(self, node: Node) -> dict[str, Any]:
        """Render a node in full, even if it has a shared definition."""
        return super().inlined(node) if type(node) in self.ARMS else self._refuse_kind(node)

    def _refuse_kind(self, node: Node) -> dict[str, Any]:
        """Refuse a node whose kind isn't in the table, or render only its types."""
        kinds = sorted(json_types_of(node, self._found.graph.definitions))
        what = f"it is a {type(node).__name__}"
        return self._refuse_or_weaken(what, "Write it in another way", self._types_alone({"type": kinds}), "")

    def scalar(self, node: ScalarNode) -> dict[str, Any]:
        """Render a string, number, boolean or null."""
        return self._with_known_keywords(super().scalar(node))

    def any(self, node: AnyNode) -> dict[str, Any]:
        """Render a value of any type."""
        if self._dialect.takes_anything:
            return super().any(node)
        if self._dialect.takes_open_arrays:
            return every_type()
        if self._dialect.lenient:
            self._found.lose(self._path, "weakened", "type")
            return with_words(self._any_type(), "any JSON value")
        remedy = "Name the type; for any JSON, use a string and parse it"
        return self._refuse_or_weaken(
            "it takes a value of any type", remedy, {"type": "string"}, "any JSON value"
        )

    def leaf(self, node: LeafNode) -> dict[str, Any]:
        """Render a leaf whose schema the dialect takes."""
        schema = node.leaf.json_schema
        try:
            return leaf_schema(copy_json(schema), self._dialect, self._fitted_scalar)
        except CannotSay as error:
            remedy = "Write its fields as a dataclass, or leave strict out for this tool"
            if not self._dialect.lenient:
                return self._refuse(error.what, remedy, (*self._path, *error.path))
            return self._refuse_or_weaken(
                error.what, remedy, self._types_alone(schema), f"with the schema {short_json(schema)}"
            )

    def _types_alone(self, schema: Any) -> dict[str, Any]:
        """Return a schema with only the types of another one."""
        known = types_in(schema)
        made: list[dict[str, Any]] = [
            {"type": kind, "items": self._any_type()} if kind == "array" else {"type": kind} for kind in known
        ]
        if len(made) == 1:
            return made[0]
        return {"anyOf": made} if made else self._any_type()

    def _fitted_scalar(self, document: dict[str, Any]) -> dict[str, Any]:
        return self._with_known_keywords(self._with_types(document) if "enum" in document else document)

    def literal(self, node: LiteralNode) -> dict[str, Any]:
        """Render a fixed set of values."""
        return self._with_types(super().literal(node))

    def enum(self, node: EnumNode) -> dict[str, Any]:
        """Render the values of an Enum."""
        return self._with_types(super().enum(node))

    def array(self, node: ArrayNode) -> dict[str, Any]:
        """Render an array of any length."""
        self._path.append("*")
        document = super().array(node)
        self._path.pop()
        return self._with_known_keywords(document)

    def tuple(self, node: TupleNode) -> dict[str, Any]:
        """Render an array of fixed length."""
        if self._dialect.takes_tuples and node.items:
            self._path.append("*")
            places = [self.schema(item) for item in node.items]
            self._path.pop()
            length = len(node.items)
            return self._with_known_keywords(
                {"type": "array", "prefixItems": places, "minItems": length, "maxItems": length}
            )
        different = not node.items or any(item != node.items[0] for item in node.items)
        if different and not self._dialect.lenient:
            remedy = "Write a dataclass with a field for each place"
            return self._refuse_or_weaken("it is an array whose places have different types", remedy, {}, "")
        self._path.append("*")
        members = [self.schema(item) for item in node.items] or [{"type": "string"}]
        self._path.pop()
        once = [member for place, member in enumerate(members) if member not in members[:place]]
        length = len(node.items)
        items = once[0] if len(once) == 1 else {"anyOf": once}
        document = self._with_known_keywords(
            {"type": "array", "items": items, "minItems": length, "maxItems": length}
        )
        if not different:
            return document
        self._found.lose(self._path, "weakened", "prefixItems")
        return with_words(document, "each place has its own type") if node.items else document

    def map(self, node: MapNode) -> dict[str, Any]:
        """Render an object with free keys."""
        if self._dialect.takes_maps:
            self._path.append("*")
            document = super().map(node)
            self._path.pop()
            return self._with_known_keywords(document)
        remedy = "Write a list of a dataclass with a field for the key and one for the value"
        inner = self._found.complaints[:], self._found.losses[:]
        values = self.schema(node.values)
        self._found.complaints[:], self._found.losses[:] = inner  # the values only become words
        words = f"any keys, each with a value like {short_json(written_out(values))}"
        return self._refuse_or_weaken("it is an object with free keys", remedy, {"type": "object"}, words)

    def ref(self, node: RefNode) -> dict[str, Any]:
        """Render a reference to a recursive type."""
        if self._dialect.takes_recursion and self._dialect.takes_references:
            self._first.setdefault(id(self._found.graph.definitions[node.target]), tuple(self._path))
            return super().ref(node)
        # Not those inside of it: types that contain each other would be written out in every order.
        if self._dialect.lenient and not self._open:
            self._open.append(node.target)
            document = self.schema(self._found.graph.definitions[node.target])
            self._open.pop()
            return document
        remedy = "Write the levels that you need as types of their own, or leave strict out for this tool"
        words = f"a {node.target.name}, which may be inside itself"
        return self._refuse_or_weaken("its type contains itself", remedy, {"type": "object"}, words)

    def object(self, node: ObjectNode) -> dict[str, Any]:
        """Render an object with its fields."""
        document = super().object(node)
        if self._dialect.closed == "always":
            document["additionalProperties"] = False
        elif self._dialect.closed == "none":
            document.pop("additionalProperties", None)
        if not self._dialect.lenient:
            # A member of a union whose tag was left out couldn't be distinguished from the others.
            needed = [field.key for field in node.fields if field.required or self._is_tag(field)]
            document.update({"required": needed} if needed else {})
        if self._dialect.required == "all":
            document["required"] = [field.key for field in node.fields]
        elif self._dialect.required == "one" and node.fields and "required" not in document:
            first = node.fields[0]
            document["required"] = [first.key]
            self._path.append(first.name)
            document["properties"][first.key] = self._nullable(document["properties"][first.key])
            self._path.pop()
        return document

    def field(self, field: Field) -> dict[str, Any]:
        """Render a field of an object."""
        self._path.append(field.name)
        document = super().field(field)
        if self._is_tag(field):
            document.pop("default", None)  # the only choice says the same
        document = self._with_known_keywords(document)
        if self._dialect.required == "all" and not field.required and not self._is_tag(field):
            document = self._nullable(document)
        self._path.pop()
        return document

    def _is_tag(self, field: Field) -> bool:
        """Return whether a field's default is its only value; null would hide the member of a union."""
        node = self._found.graph.resolve(field.node)
        return isinstance(node, LiteralNode) and node.values == (field.default,)

    def _any_type(self) -> dict[str, Any]:
        """Return a schema for any value, as far as this dialect has one."""
        if self._dialect.takes_open_arrays:
            return every_type()
        flat: list[dict[str, Any]] = [{"type": kind} for kind in ("string", "number", "boolean", "object")]
        if self._dialect.takes_maps:
            flat[-1]["additionalProperties"] = True
        return {"anyOf": [*flat, {"type": "array", "items": {"anyOf": flat}}]}

    def _nullable(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a schema that takes null as well, for a property that may be left out."""
        if says_null(document):
            return document
        self._found.lose(self._path, "null", "required")
        return or_null(document, as_list=self._dialect.takes_type_lists)

    def _with_known_keywords(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a schema with only the dialect's keywords; sentences for its description say the rest."""
        kept: dict[str, Any] = {}
        moved: dict[str, Any] = {}
        for keyword, value in document.items():
            if keyword == WORDS:
                continue
            if keyword not in WITH_WORDS:
                kept[keyword] = value
                continue
            written = _argument_for(self._dialect, keyword, value)
            if written is not None and takes(self._dialect, keyword, written):
                kept[keyword] = written
                continue
            moved[keyword] = value
            self._found.lose(self._path, "described", keyword)
        words = [*document.get(WORDS, ()), *said_of(moved)]
        return {**kept, WORDS: words} if words else kept

    def _with_types(self, document: dict[str, Any]) -> dict[str, Any]:
        """Add the types of choices of several types; turn types that the dialect doesn't take into words."""
        values = document["enum"]
        by_type: dict[str, list[Any]] = {}
        for value in values:
            by_type.setdefault(type_of(value) or "", []).append(value)
        rest = {key: value for key, value in document.items() if key not in {"type", "enum"}}
        if self._dialect.text_choices and by_type.keys() - {"string", "null"}:
            words = f"one of {short_json(values)}"
            self._found.lose(self._path, "described", "enum")
            kinds: list[dict[str, Any]] = [{"type": kind} for kind in by_type]
            found = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
            return with_words({**found, **rest}, words)
        if "type" in document:
            return document
        if self._dialect.takes_type_lists and len(by_type) == 2 and "null" in by_type:  # noqa: PLR2004  # a type and null
            return {"type": list(by_type), "enum": values, **rest}
        return {"anyOf": [{"type": kind, "enum": each} for kind, each in by_type.items()], **rest}

    def _refuse_or_weaken(self, what: str, remedy: str, weak: dict[str, Any], words: str) -> dict[str, Any]:
        """Refuse a part that the dialect can't express, or use a weaker schema."""
        if self._dialect.lenient:
            keyword = next(iter(weak))
            self._found.lose(self._path, "weakened", keyword)
            return with_words(weak, words) if words else weak
        return self._refuse(what, remedy, self._path)

    def _refuse(self, what: str, remedy: str, path: Sequence[str]) -> dict[str, Any]:
        """Note a part that can't be expressed, and return a placeholder that is never sent."""
        self._found.complain(path, f"{what}, which {self._found.provider} doesn't take", remedy)
        return {"type": "string"}


def _losses_of_document(codec: Codec[Any], tool: str, provider: str) -> list[Finding]:
    """List the keywords of a foreign document that its graph doesn't express; decoding checks them."""
    return [lost(one.path, "weakened", one.keyword, tool, provider) for one in getattr(codec, "beyond", ())]


def _describe_beyond(document: dict[str, Any], codec: Codec[Any]) -> None:
    """Describe the keywords of a foreign document that its graph doesn't express."""
    beyond: Sequence[Finding] = getattr(codec, "beyond", ())
    if not beyond:
        return
    whole = codec.json_schema()
    places = [str(part.where) for part in beyond]
    for place, part in zip(places, beyond, strict=True):
        # Inner keywords have their own description.
        if not any(other.startswith(f"{place}/{part.keyword}/") for other in places):
            _describe(document, whole, place.removeprefix("#"), part.keyword or "")


def _describe(document: dict[str, Any], whole: Any, where: str, keyword: str) -> None:
    """Describe one keyword of a foreign document that its graph doesn't express.

    Args:
        document: the rendered schema; it gets the words at the same place, or at the nearest one around it.
        whole: the foreign document.
        where: JSON pointer (RFC 6901) to the schema in the foreign document.
        keyword: the keyword of that schema; empty for all of it.
    """
    holder, place = whole, document
    steps = iter(where.split("/")[1:])
    for step in steps:
        holder = holder[int(step) if is_array(holder) else unescaped(step)]
        if step == "properties":
            name = unescaped(next(steps))
            holder = holder[name]
            place = _argument_inside(place, "properties").get(name, place)
        elif step == "items" and is_object(holder):
            place = _argument_inside(place, "items") or place
    kept = {keyword: holder[keyword]} if keyword else holder
    words = said_of(kept) if keyword in WITH_WORDS else [f"fits the JSON Schema {short_json(kept)}"]
    if place is document and where:  # a definition, or what the graph doesn't have
        words = [f"{unescaped(where.rpartition('/')[2])}: {said}" for said in words]
    place[WORDS] = [*place.get(WORDS, ()), *words]


def _argument_inside(place: dict[str, Any], keyword: str) -> dict[str, Any]:
    """Return a keyword's argument in a schema, or in the only alternative that has it; else an empty dict."""
    found = [one[keyword] for one in (place, *place.get("anyOf", ())) if is_object(one.get(keyword))]
    return found[0] if len(found) == 1 else {}


def takes(dialect: Dialect, keyword: str, value: Any) -> bool:
    """Return whether a dialect takes a keyword that words can replace, with this value."""
    if keyword == "format":
        return value in dialect.formats
    if keyword == "pattern" and not _takes_pattern(dialect, value):
        return False
    most = dict(dialect.most).get(keyword)
    return keyword in dialect.keywords and (most is None or abs(value) <= most)


def _takes_pattern(dialect: Dialect, pattern: str) -> bool:
    if dialect.plain_patterns:
        return bool(_argument_for(dialect, "pattern", pattern) == pattern)
    return "(?" not in pattern or dialect.takes_lookaround


def _argument_for(dialect: Dialect, keyword: str, value: Any) -> Any:
    """Return the value of a keyword in the form that a dialect needs; None if there is no such form."""
    if keyword != "pattern" or not dialect.plain_patterns:
        return value
    from .plain_patterns import plain_pattern  # most schemas need no such form

    return plain_pattern(value)


def _plain_name(name: str) -> str:
    """Return a name for a definition that can't clash with a rule of a grammar."""
    return "def-" + "".join([c if c.isalnum() else f"-{ord(c):x}-" for c in name])


_ALWAYS = frozenset(
    {"type", "properties", "required", "items", "enum", "anyOf", "description", "title", "$defs"}
    | {"additionalProperties"}
)


def strange_parts(document: Any, dialect: Dialect) -> list[tuple[tuple[str, ...], str]]:
    """List the parts of a finished document that the dialect isn't known to take, each with its place.

    This is the last check: nothing that a renderer, a class or a leaf added is sent without it.
    """
    references = ["$ref"] if dialect.takes_references else []
    wordless = {*dialect.keywords} - WITH_WORDS
    known = _ALWAYS.union(wordless, references, ["prefixItems"] if dialect.takes_tuples else [])
    found: list[tuple[tuple[str, ...], str]] = []
    waiting: list[tuple[Any, tuple[str, ...]]] = [(document, ())]
    while waiting:
        part, path = waiting.pop()
        if not is_object(part):
            found.append((path, f"its schema is {short_json(part)}"))
            continue
        found += [
            (path, f"its schema has the keyword {quote(key)}")
            for key, value in part.items()
            if key not in known and not (key in WITH_WORDS and takes(dialect, key, value))
        ]
        if is_object(part.get("additionalProperties")) and not dialect.takes_maps:
            found.append((path, "its schema is an object with free keys"))
        if not (dialect.takes_anything or part.keys() & {"type", "anyOf", "$ref"}):
            found.append((path, "its schema leaves open what type a value has"))
        waiting += [
            (inner, (*path, *as_path(steps)))
            for steps, inner in subschemas(part)
            if steps[0] in known | dialect.keywords
            and not (steps == ("additionalProperties",) and isinstance(inner, bool))
        ]
    return found


def _drop_definitions(document: dict[str, Any], names: Collection[str]) -> None:
    """Remove the definitions of recursive types, which are written out, or refused, where they are used."""
    kept = {name: inner for name, inner in document.pop("$defs", {}).items() if name not in names}
    if kept:
        document["$defs"] = kept
