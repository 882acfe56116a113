"""How are tools declared with types, for a model that calls them from a program?"""

from __future__ import annotations

import re
from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ..codec.encode import encode_node
from ..errors import SchemaError
from ..immutable import Value
from ..introspect.docstrings import split_summary
from ..introspect.node_kinds import flat_members, shape_of
from ..introspect.nodes import (
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
from ..json_values import MAX_DEPTH, choice_key
from ..message_text import quote, received
from ..schema.document import DocumentCodec, SchemaDocument
from ..schema.keywords import keywords_of
from ..schema.schema_words import WITH_WORDS, said_of, short_json
from ..tools import tools_of
from .declaration_syntax import LANGUAGES, DeclaredEntry, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from ..codec.codec import Codec
    from ..introspect.nodes import Field, Graph, Node, Target
    from ..tools import Tool
    from .declaration_syntax import Syntax

    Language = Literal["python", "typescript"]


class StubFunction(Value):
    """One declared function.

    Attributes:
        tool: the name of its tool.
        parameters: names of its parameters, in their order, to the keys of the arguments; None if it takes
            the arguments as one object.
    """

    tool: str
    parameters: Mapping[str, str] | None


class Stubs(Value):
    """The declarations of several tools.

    Attributes:
        text: the whole file.
        functions: the functions, by the name that a program calls.
    """

    text: str
    functions: Mapping[str, StubFunction]


def stubs(tools: Any, language: Language = "python", /) -> str:
    """Write the declarations of tools, for a model that calls them from a program.

    Args:
        tools: a toolset, a registry, an executor, a tool, or a list of tools. For a toolset or a registry,
            only tools that are offered now are declared.
        language: `"python"` gives a stub file (`.pyi`) of plain functions; `"typescript"` a module of async
            functions that take one object.

    Returns:
        The text of the file: types, descriptions, constraints, defaults and examples. The same tools give the
        same text.

    Raises:
        TypeError: something isn't a tool.
        ValueError: there is no such language.
    """
    return stubs_of(tools, language).text


def stubs_of(tools: Any, language: Language = "python", /, *, only: Collection[str] | None = None) -> Stubs:
    """Write declarations as `stubs` does, and return them with the tool of each function.

    Args:
        tools: as for `stubs`.
        language: as for `stubs`.
        only: names of the tools to declare, with the same function names as if all were declared; None for
            all.

    Raises:
        TypeError: something isn't a tool.
        ValueError: there is no such language.
    """
    if language not in [*LANGUAGES]:
        message = f"there are stubs for {', '.join(map(quote, LANGUAGES))}, not for {received(language)}"
        raise ValueError(message)
    source = getattr(tools, "registry", tools)  # of an executor
    offered: list[Tool[..., Any]] = source.offered() if hasattr(source, "offered") else tools_of(source)
    return _FileWriter(LANGUAGES[language]).write(offered, only)


class _Names:
    """Gives names that nothing else has."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def give(self, name: str) -> str:
        """Return the name, or the next free one that begins with it."""
        number, given = self._last.get(name, 1), name
        while given in self._taken:
            number += 1
            given = f"{name}_{number}"
        self._last[name] = number
        self._taken.add(given)
        return given


def _function_name(name: str, syntax: Syntax) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    plain = plain if plain.isidentifier() or plain[:1].isalpha() else f"_{plain}"
    return f"{plain}_" if plain in syntax.reserved else plain


class _FileWriter:
    """Writes one file.

    Attributes:
        syntax: the syntax of the language.
        declarations: declarations of types, in the order in which they were found.
    """

    def __init__(self, syntax: Syntax) -> None:
        self.syntax = syntax
        self.declarations: list[str] = []
        self.names = _Names(syntax.reserved)
        self._shared: dict[str, str] = {}

    def write(self, tools: Iterable[Tool[..., Any]], only: Collection[str] | None) -> Stubs:
        named = [(self.names.give(_function_name(tool.name, self.syntax)), tool) for tool in tools]
        named = [(name, tool) for name, tool in named if only is None or tool.name in only]
        written = [self._function(name, tool) for name, tool in named]
        text = self.syntax.module(self.declarations, [each for each, _ in written])
        functions = {name: found for (name, _), (_, found) in zip(named, written, strict=True)}
        return Stubs(text, functions)

    def declare(self, base: str, declare: Callable[[str], str]) -> str:
        """Declare a type, unless there is one with the same content; return its name."""
        content = declare(base)
        if content not in self._shared:
            name = self._shared[content] = self.names.give(base)
            self.declarations.append(declare(name))
        return self._shared[content]

    def declare_recursive(self, name: str, declare: Callable[[str], str], before: int) -> str:
        """Declare a recursive type under a name chosen before; return its final name.

        Args:
            name: the chosen name, which nothing else has.
            declare: writes the declaration under a name.
            before: number of declarations before those of its inner types.
        """
        own = re.compile(rf"\b{name}\b")
        content = own.sub("<itself>", declare(name))
        is_alone = not any(own.search(text) for text in self.declarations[before:])
        if is_alone and content in self._shared:
            return self._shared[content]
        self.declarations.append(declare(name))
        if is_alone:
            self._shared[content] = name
        return name

    def _function(self, name: str, tool: Tool[..., Any]) -> tuple[str, StubFunction]:
        arguments = self._types(tool.codec)
        short = tool.described_by is not None
        text = tool.definition()["description"]
        result = self._result(tool)
        shape = shape_of(arguments.root)
        if shape is None:
            input_type = arguments.type(arguments.root)
            written = self.syntax.function_of_input(name, text, input_type, result)
            return written, StubFunction(tool.name, None)
        entries = [arguments.entry(field, is_short=short) for field in shape.fields]
        names = _Names(())
        entries = [
            entry.replace(name=names.give(self.syntax.entry_name(entry.key)))
            for entry in sorted(entries, key=lambda entry: not entry.required)
        ]
        parameters = {entry.name: entry.key for entry in entries}
        return self.syntax.function(name, text, entries, result), StubFunction(tool.name, parameters)

    def _result(self, tool: Tool[..., Any]) -> str:
        codec = tool.result_codec()
        if codec is None:
            return self.syntax.any
        types = self._types(codec)
        return types.type(types.root)

    def _types(self, codec: Codec[Any]) -> _Types:
        return _Types(self, codec.graph)


class _Types:
    """Writes the types of one graph.

    Attributes:
        root: the node of the type itself.
    """

    def __init__(self, writer: _FileWriter, graph: Graph) -> None:
        self.writer, self.syntax = writer, writer.syntax
        leaf = graph.root.leaf if isinstance(graph.root, LeafNode) else None
        if leaf is not None and shape_of(graph.root) is None and "properties" in leaf.json_schema:
            graph = _graph_of(leaf.json_schema)  # raw arguments, described by a schema
        self.definitions = graph.definitions
        self.root = graph.resolve_root()
        self._objects: dict[Any, str] = {}
        self._open: dict[Any, str | None] = {}
        self._aliases: dict[Target, str] = {}

    def type(self, node: Node) -> str:
        """Return the type of a node as an expression."""
        syntax = self.syntax
        match node:
            case ScalarNode():
                return syntax.scalars[node.type]
            case LiteralNode() | EnumNode():
                return syntax.literal(node.values) if node.values else syntax.any
            case ArrayNode():
                return syntax.array(self.type(node.items))
            case TupleNode():
                return syntax.tuple([self.type(item) for item in node.items])
            case MapNode():
                return syntax.map(self.type(node.values))
            case ObjectNode():
                return self._object(node)
            case UnionNode():
                members = [self.type(member) for member in flat_members(node, self.definitions)]
                return syntax.union(list(dict.fromkeys(members)))
            case RefNode():
                return self._reference(node)
            case LeafNode():
                return self._leaf(node)
            case _:
                return syntax.any

    def entry(self, field: Field, *, is_short: bool = False) -> DeclaredEntry:
        """Return a field as a parameter, or as a field of an object."""
        node = field.node
        written = self.type(node)
        default = field.default
        if default is not MISSING and default is not None:
            default = self._json(node, default)
        if default is None and field.absent_is_none:
            written = self.syntax.union(list(dict.fromkeys([written, self.syntax.scalars["null"]])))
        elif default is not MISSING and not _fits(node, default, self.definitions):
            default = MISSING
        about = node.description if field.description is None else field.description
        # The docstring of a class is written once, at its declaration.
        about = about if about is not None or not isinstance(node, EnumNode) else node.doc
        about = split_summary(about)[0] if about and is_short else about
        words = self._words(node)
        if field.default is not MISSING and field.default is not None and default is MISSING:
            words.append(f"default {short_json(self._json(node, field.default))}")
        if field.examples:
            words.append(f"e.g. {', '.join([short_json(each) for each in field.examples])}")
        return DeclaredEntry(field.key, field.key, written, field.required, default, _joined(about, words))

    def _json(self, node: Node, value: Any) -> Any:
        return encode_node(node, self.definitions, value, MAX_DEPTH, lambda _: None)[0]

    def _words(self, node: Node) -> list[str]:
        """Describe the constraints of a node that its type doesn't express."""
        match node:
            case ScalarNode() if node.constraints is not None:
                return said_of(keywords_of(node.constraints, node.type))
            case LiteralNode() | EnumNode() if any(type(value) is float for value in node.values):
                return [f"one of {', '.join([short_json(value) for value in node.values])}"]
            case ArrayNode():
                own = [] if node.constraints is None else said_of(keywords_of(node.constraints, "array"))
                unique = ["no item twice"] if node.unique else []
                return [*own, *unique, *[f"each {word}" for word in self._inner_words(node.items)]]
            case MapNode():
                own = [] if node.constraints is None else said_of(keywords_of(node.constraints, "object"))
                keys = [f"keys {word}" for word in self._key_words(node.keys)]
                return [*own, *keys, *[f"each {word}" for word in self._inner_words(node.values)]]
            case TupleNode():
                return [word for item in node.items for word in self._inner_words(item)]
            case LeafNode():
                return said_of({key: said for key, said in node.leaf.json_schema.items() if _is_word(key)})
            case UnionNode():
                members = flat_members(node, self.definitions)
                said = [word for member in members for word in self._inner_words(member)]
                return list(dict.fromkeys(said))
            case _:
                return []

    def _inner_words(self, node: Node) -> list[str]:
        """Describe an item or union member beyond its type, because its description has no other place."""
        about = node.description
        if isinstance(node, (ObjectNode, RefNode)) or shape_of(node) is not None:
            return []
        return [*([one_line(about)] if about else []), *self._words(node)]

    def _key_words(self, node: Node) -> list[str]:
        if isinstance(node, (LiteralNode, EnumNode)):
            return [f"of {', '.join([short_json(value) for value in node.values])}"]
        if isinstance(node, ScalarNode) and node.type == "integer":
            return ["are integers"]
        return self._inner_words(node)

    def _object(self, node: ObjectNode) -> str:
        if not node.fields:
            return self.syntax.map(self.syntax.any)
        # A copy with another description has the very same fields.
        key = (id(node.type), node.name, id(node.fields))
        if key in self._objects:
            return self._objects[key]
        if key in self._open:  # it contains itself
            self._open[key] = self._open[key] or self.writer.names.give(_class_name(node.name))
            return self._open[key] or ""
        self._open[key] = None
        before = len(self.writer.declarations)
        entries = [self.entry(field) for field in node.fields]
        about = node.doc if node.description is None or node.form != "typed_dict" else node.description
        record = partial(self.syntax.record, text=one_line(about or node.description or ""), entries=entries)
        given = self._open.pop(key)
        if given is None:
            name = self.writer.declare(_class_name(node.name), record)
        else:
            name = self.writer.declare_recursive(given, record, before)
        self._objects[key] = name
        return name

    def _reference(self, node: RefNode) -> str:
        target = self.definitions[node.target]
        if isinstance(target, ObjectNode):
            return self._object(target)
        if node.target not in self._aliases:
            name = self._aliases[node.target] = self.writer.names.give(_class_name(node.target.name))
            self.writer.declarations.append(self.syntax.alias(name, self.type(target)))
        return self._aliases[node.target]

    def _leaf(self, node: LeafNode) -> str:
        shape = shape_of(node)
        if shape is not None:
            return self._object(shape)
        document = node.leaf.json_schema
        kinds: Any = document.get("type")
        kinds = [kinds] if isinstance(kinds, str) else list(kinds or ())
        if (
            "enum" not in document
            and "const" not in document
            and all(k in self.syntax.scalars for k in kinds)
        ):
            return self.syntax.union(list(dict.fromkeys([self.syntax.scalars[kind] for kind in kinds])))
        try:
            inner = _Types(self.writer, _graph_of(document))
        except SchemaError:
            return self.syntax.any
        return inner.type(inner.root)


def _graph_of(document: Mapping[str, Any]) -> Graph:
    return DocumentCodec(SchemaDocument("value", document)).graph


def _is_word(keyword: str) -> bool:
    return keyword not in {"type", "enum", "const", "title", "default", "examples"} and keyword in WITH_WORDS


def _joined(about: str | None, words: list[str]) -> str:
    text = one_line(about or "")
    more = one_line("; ".join(words))
    return f"{text} ({more})" if text and more else text or more


def _class_name(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", " ", name).split()
    joined = "".join([word[0].upper() + word[1:] for word in words])
    return joined if joined[:1].isalpha() else f"Type{joined}"


_CLASSES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def _fits(node: Node, value: Any, definitions: Mapping[Target, Node]) -> bool:
    """Return whether a checker surely accepts a default for its type; foreign documents may have any."""
    for member in flat_members(node, definitions):
        match member:
            case ScalarNode() if type(value) in _CLASSES[member.type]:
                return True
            case LiteralNode() | EnumNode() if choice_key(value) in member.table:
                return True
            case ArrayNode() if value == []:
                return True
            case MapNode() if value == {}:
                return True
            case ObjectNode() if value == {}:
                return not any(field.required for field in member.fields)
            case _:
                pass
    return False
