"""The texts for each kind of problem: a message, and the expected, received and probably meant values.

Each kind is a function, which takes the path and the facts for its words. The method of `Problems` with the
same name calls it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from ..findings import Finding
from ..immutable import instead_of
from ..introspect.node_kinds import received_types, shape_of, spread_members
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
from ..introspect.union_plans import tag_of
from ..json_values import JSON_TYPES, MAX_INTEGER_DIGITS, fits_types, is_array, is_object, type_of
from ..message_text import (
    EXCERPT_LENGTH,
    class_name,
    class_name_of,
    clip,
    excerpt,
    key_step,
    kind,
    message_of,
    one_line,
    quote,
    received,
    said_by,
)
from ..schema.keywords import INTEGER_KEY, SIGNS, LimitError
from .ambiguity_texts import ambiguous as ambiguous  # noqa: PLC0414  # `problems` asks for it by name
from .ambiguity_texts import read_as_another as read_as_another  # noqa: PLC0414  # likewise
from .spellings import graph_of_schema, quoted_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..findings import ValueCode
    from ..introspect.nodes import Field, Node, Target

    Definitions = Mapping[Target, Node]
    Steps = tuple[str | int, ...]
    from collections.abc import Callable, Sequence

    from ..introspect.nodes import Graph
    from ..schema.keywords import Constraints

    Renamed = Callable[[ObjectNode, dict[Any, Any]], Mapping[str, str]]
    T = TypeVar("T")


EXPECTED_LENGTH = 160
"""The most characters of the expected value in a problem."""

_FIELD_LENGTH = 200
_LINE_LENGTH = 560
_LEAF_LENGTH = 60
_KEY_LENGTH = 100
_CHOICE_LENGTH = 100
_LEAST_ROOM = 8
_MORE_LENGTH = len("… (999999 more)")
_LISTED = 8
_LISTED_KEYS = 12
_DESCRIBED_OBJECTS = 4
_OWN_KEYS = 2


def expected(
    node: Node,
    levels: int = 1,
    room: int = EXPECTED_LENGTH,
    definitions: Mapping[Target, Node] | None = None,
) -> str:
    """Describe the values of a node in a few words: `integer`, `"write" | "append"`, `array of string`.

    Args:
        node: the node of the value.
        levels: how many levels of objects list their keys: `object {latitude: number, altitude?: number}`,
            where a key with `?` is optional.
        room: the most characters.
        definitions: the definitions of the graph; without them, recursive types are described by kind or
            name.
    """
    return _Describer(definitions or {}).describe(node, levels, room)


def fitted(
    parts: Sequence[T],
    describe: Callable[[T, int], str],
    room: int,
    separator: str = ", ",
    most: int = _LISTED,
) -> str:
    """Join the words for as many parts as fit into the room, and count the rest.

    Args:
        parts: any number of parts.
        describe: takes a part and the room for it, returns its words.
        room: the most characters; the first part may have more.
        separator: the text between two parts.
        most: the most parts, however much room there is.
    """
    shown: list[str] = []
    room -= _MORE_LENGTH if len(parts) > 1 else 0
    for part in parts[:most]:
        text = describe(part, room)
        if shown and (len(text) > room or text.endswith("…")):
            break
        shown.append(text)
        room -= len(text) + len(separator)
    rest = len(parts) - len(shown)
    return separator.join([*shown, f"… ({rest} more)"] if rest else shown)


def show_choice(value: object, _room: int = _CHOICE_LENGTH) -> str:
    """Show one of a fixed set of values as the model must write it, uncut if it isn't very long."""
    return excerpt(value, _CHOICE_LENGTH)


class _Describer:
    """Describes the nodes of one graph."""

    __slots__ = ("definitions",)

    def __init__(self, definitions: Mapping[Target, Node]) -> None:
        self.definitions = definitions

    def describe(self, node: Node, levels: int, room: int) -> str:
        return clip(self._describe(node, levels, room), room) if room >= _LEAST_ROOM else "…"

    def _describe(self, node: Node, levels: int, room: int) -> str:
        match node:
            case ScalarNode():
                return f"{node.type}{_limits(node.constraints)}"
            case LeafNode() if node.leaf.json_schema.__class__ is not dict:
                graph = graph_of_schema(node.leaf)
                return _Describer(graph.definitions).describe(graph.root, levels, room)
            case LeafNode():
                return self._describe(shape, levels, room) if (shape := shape_of(node)) else _leaf(node)
            case LiteralNode() | EnumNode():
                return fitted(node.values, show_choice, room, " | ")
            case ArrayNode():
                return self._array(node, levels, room)
            case TupleNode():
                items = fitted(node.items, lambda item, left: self.describe(item, levels, left), room - 8)
                return f"array [{items}]"
            case ObjectNode():
                return f"object {self._keys(_tag_first(node), levels - 1, room - 7)}" if levels else "object"
            case RefNode():
                return self._reference(node, levels, room)
            case MapNode():
                return self._map(node, levels, room)
            case UnionNode():
                return self._union(node, levels, room)
            case _:
                types = received_types(node)
                return "any value" if len(types) == len(JSON_TYPES) else " | ".join(sorted(types))

    def _array(self, node: ArrayNode, levels: int, room: int) -> str:
        limits = _limits(node.constraints)
        if isinstance(node.items, AnyNode):
            return f"array{limits}"
        opening = f"array of {'distinct ' if node.unique else ''}"
        return f"{opening}{self._grouped(node.items, levels, room - len(opening) - len(limits))}{limits}"

    def _map(self, node: MapNode, levels: int, room: int) -> str:
        limits = _limits(node.constraints)
        keys = (
            "" if node.keys == ScalarNode("string") else f" keyed by {self._grouped(node.keys, 0, room // 3)}"
        )
        if isinstance(node.values, AnyNode):
            return f"object{keys}{limits}"
        left = room - len(f"object of  values{keys}{limits}")
        return f"object of {self._grouped(node.values, levels, left)} values{keys}{limits}"

    def _grouped(self, node: Node, levels: int, room: int) -> str:
        text = self.describe(node, levels, room - 2)
        return f"({text})" if " | " in text or text.startswith("object of ") else text

    def _keys(self, fields: Sequence[Field], levels: int, room: int, rest: str = "") -> str:
        def describe(field: Field, left: int) -> str:
            key = f"{_show_key(field)}{'' if field.required else '?'}: "
            return f"{key}{self.describe(field.node, levels, left - len(key))}"

        return f"{{{fitted(fields, describe, room - 2 - len(rest), most=_LISTED_KEYS)}{rest}}}"

    def _reference(self, node: RefNode, levels: int, room: int) -> str:
        meant = self.definitions.get(node.target) if levels else None
        if node.target.is_object:
            return "object" if meant is None else self._describe(meant, levels, room)
        name = one_line(node.target.name, _LEAF_LENGTH)
        if meant is None:
            return name
        return f"{name} = {self.describe(meant, levels - 1, room - len(name) - 3)}"

    # --- unions ----------------------------------------------------------------------------------

    def _union(self, node: UnionNode, levels: int, room: int) -> str:
        members = spread_members(node, self.definitions)
        shapes = [(member, shape_of(member)) for member in members]
        objects = [shape for _, shape in shapes if shape is not None]
        others = [member for member, shape in shapes if shape is None]
        if levels and len(objects) > _DESCRIBED_OBJECTS:
            scalars = fitted(
                others, lambda member, left: self.describe(member, levels, left), room // 2, " | "
            )
            left = room - len(scalars) - 3
            return " | ".join([*([scalars] if others else []), self._distinguished(objects, left)])
        share = room // len(objects) if levels and objects else room

        def describe(member: Node, left: int) -> str:
            return self.describe(member, levels, min(left, share) if isinstance(member, ObjectNode) else left)

        # Without keys all objects are one.
        return fitted([*others, *(objects if levels else objects[:1])], describe, room, " | ")

    def _distinguished(self, objects: list[ObjectNode], room: int) -> str:
        """Describe many objects by their distinguishing tags or keys."""
        tag = tag_of(objects)
        if tag is not None:
            key = _show_key(next(field for field in objects[0].fields if field.key == tag.key))
            return f"object {{{key}: {self.describe(tag.choices, 0, room - len(key) - 14)}, …}}"
        count = Counter([field.key for node in objects for field in node.fields])

        def describe(node: ObjectNode, left: int) -> str:
            own = [field for field in node.fields if field.required and count[field.key] < len(objects)]
            shown = own[:_OWN_KEYS]
            rest = ", …" if len(node.fields) > len(shown) else ""
            return f"object {self._keys(shown, 0, left - 7, rest)}"

        return fitted(objects, describe, room, " | ")


def _tag_first(node: ObjectNode) -> list[Field]:
    return sorted(node.fields, key=lambda field: not _is_tag(field.node))


def _is_tag(node: Node) -> bool:
    return isinstance(node, LiteralNode) and len(node.values) == 1


def _show_key(field: Field) -> str:
    key = field.key
    return key if key.isidentifier() and len(key) <= _KEY_LENGTH else quote(key, _KEY_LENGTH)


def _limits(constraints: Constraints | None) -> str:
    if constraints is None:
        return ""
    found = {slot: getattr(constraints, slot) for slot in SIGNS}
    said = [f"{SIGNS[slot]} {_show_limit(value)}" for slot, value in found.items() if value is not None]
    return f" ({', '.join(said)})"


def _show_limit(value: Any) -> str:
    pattern = getattr(value, "pattern", None)
    return excerpt(value) if pattern is None else one_line(pattern, _LEAF_LENGTH)


def _leaf(node: LeafNode) -> str:
    schema = node.leaf.json_schema
    types = " | ".join(node.leaf.json_types)
    hint = schema.get("description") or schema.get("format")
    if not isinstance(hint, str):
        return types
    return hint if types in hint else f"{types} <{one_line(hint, _LEAF_LENGTH)}>"


def expected_field(
    field: Field, definitions: Mapping[Target, Node] | None = None, room: int = EXPECTED_LENGTH
) -> str:
    """Describe the values of a field, and whether it is required: `string, required`."""
    required = ", required" if field.required else ""
    return expected(field.node, 1, room - len(required), definitions) + required


def expected_fields(name: str, graph: Graph) -> str:
    """Describe the fields or values of a type on one line.

    If there isn't room for all fields, required ones come first, the others only with their names, and the
    rest is counted.

    Args:
        name: the name of the type, or of the tool.
        graph: the graph of the type.

    Returns:
        Such as `write_file expects: path (string, required), mode ("write" | "append")`.
    """
    root = graph.resolve_root()
    name = one_line(name, _KEY_LENGTH)
    room = _LINE_LENGTH - len(name)
    if not isinstance(root, ObjectNode):
        return f"{name} expects: {expected(root, 1, room, graph.definitions)}"
    if not root.fields:
        return f"{name} expects: an object without keys"
    return f"{name} expects: {_listed_fields(root.fields, graph, room)}"


def _listed_fields(fields: Sequence[Field], graph: Graph, room: int) -> str:
    def describe(field: Field) -> str:
        key = _show_key(field)
        return f"{key} ({expected_field(field, graph.definitions, min(room - len(key) - 3, _FIELD_LENGTH))})"

    texts = [describe(field) for field in fields[:_LINE_LENGTH]]
    if sum(map(len, texts)) + 2 * len(fields) <= room:
        return ", ".join(texts)
    first = [field for field in fields if field.required] or list(fields)
    others = [field for field in fields if not field.required and field not in first]
    described = [describe(field) for field in first[:_LINE_LENGTH]]
    ends = list(accumulate([len(text) + 2 for text in described]))
    shown = max(bisect_right(ends, room * 2 // 3), 1)
    line = ", ".join(described[:shown])
    also = "also required" if first[0].required else "also"
    for words, rest in ((also, first[shown:]), ("not required", others)):
        if rest:
            left = (room - len(line) - len(words) - 4) // (2 if rest is not others and others else 1)
            line += f"; {words}: {fitted(rest, _named, left, most=len(rest))}"
    return line


def _named(field: Field, _room: int) -> str:
    return _show_key(field)


MESSAGE_LENGTH = 300
"""The most characters of a problem's message."""

_SAID_LENGTH = 180
_CHOICES_LENGTH = 200
_NAME_LENGTH = 60
_SUGGESTED_LENGTH = 100
_LISTED_CHOICES = 20


def missing(
    steps: Steps,
    field: Field,
    node: ObjectNode,
    sent: dict[Any, Any],
    renamed: Renamed,
    definitions: Definitions,
) -> Finding:
    what = expected_field(field, definitions)
    key = renamed(node, sent).get(field.key)
    rename = "" if key is None else f"; {_rename(key, field.key)}"
    return Finding(steps, "missing", f"missing ({what}){rename}", what)


def _rename(key: str, name: str) -> str:
    return f"rename {quote(key)} to {quote(name)}"


def missing_tag(steps: Steps, choices: LiteralNode) -> Finding:
    what = f"{expected(choices)}, required"
    return Finding(steps, "missing", f"missing ({what}); it says which object this is", what)


def unknown(steps: Steps, key: object, node: ObjectNode, sent: dict[Any, Any], renamed: Renamed) -> Finding:
    names = [known.key for known in node.fields]
    name = key_step(key)
    near = next((meant for meant, known in renamed(node, sent).items() if known == name), None)
    fields = fitted(names, show_choice, _CHOICES_LENGTH, most=_LISTED_CHOICES) if names else "none"
    message = f"unknown key; the keys are {fields}" if names else "unknown key; this object takes no keys"
    return Finding((*steps, name), "unknown", message, fields, None, near and quote(near, _SUGGESTED_LENGTH))


def wrapped(steps: Steps, key: str) -> Finding:
    message = f"the arguments are inside {quote(key)}; send its keys directly"
    return Finding(steps, "unknown", message)


def wrong_type(steps: Steps, node: Node, value: object, definitions: Definitions) -> Finding:
    # For the root, the keys are in the line below the problems.
    what, came = expected(node, 1 if steps else 0, EXPECTED_LENGTH, definitions), received(value)
    types = _types_of(node, definitions)
    if isinstance(value, str):
        held, begun = quoted_type(value), _BEGINNINGS.get(value.lstrip()[:1])
        if begun in types:
            which = "contains JSON" if held == begun else "looks like incomplete JSON"
            details = "" if what == begun else f": expected {what}"
            message = f"got a string that {which}; send the {begun} itself, not a string{details}"
            return Finding(steps, "wrong_type", clip(message, MESSAGE_LENGTH), what, came)
    message = f"expected {what}{_sample(node, what)}, got {came}{_out_of_array(types, value)}"
    return Finding(steps, "wrong_type", clip(message, MESSAGE_LENGTH), what, came)


_BEGINNINGS = {"[": "array", "{": "object"}


def _types_of(node: Node, definitions: Definitions) -> set[str]:
    if isinstance(node, ScalarNode):
        return {node.type}
    return {name for member in spread_members(node, definitions) for name in received_types(member)}


def _sample(node: Node, what: str) -> str:
    """Show a valid value of a leaf, unless its description already does."""
    if not isinstance(node, LeafNode) or " such as " in what:
        return ""
    try:
        sample = node.leaf.encode(node.leaf.placeholder)
    except Exception:  # noqa: BLE001  # the leaf's own code: its failure isn't part of this report
        return ""
    return f" such as {excerpt(sample)}" if fits_types(sample, node.leaf.json_types) else ""


def _out_of_array(types: set[str], value: object) -> str:
    if not is_array(value) or len(value) != 1 or type_of(value[0]) not in types:
        return ""
    return "; send the item alone, not in an array"


def not_one_of(steps: Steps, node: LiteralNode | EnumNode, value: object) -> Finding:
    what = fitted(node.values, show_choice, _CHOICES_LENGTH, most=_LISTED_CHOICES)
    near = None
    shown = excerpt(value) if kind(value) in _SCALAR_KINDS else received(value)
    if isinstance(value, (str, int, float)) and type(value) not in _SCALAR_CLASSES:
        # Only its class may be wrong: a member of an Enum isn't the text that it equals.
        shown = f"{shown} of the class {one_line(class_name_of(value), EXCERPT_LENGTH)}"
        near = next((show_choice(choice) for choice in node.values if choice == value), None)
    return Finding(steps, "not_one_of", f"{shown} is not one of {what}", what, received(value), near)


_SCALAR_KINDS = frozenset({"string", "integer", "number", "boolean", "null"})
_SCALAR_CLASSES = frozenset({str, int, float, bool})


def out_of_range(steps: Steps, value: object, message: str, what: str | None) -> Finding:
    return Finding(steps, "out_of_range", f"{excerpt(value)} {message}", what, received(value))


def too_large(steps: Steps, value: object) -> Finding:
    message = f"{excerpt(value)} has more than {MAX_INTEGER_DIGITS} digits"
    return Finding(steps, "too_large", message, None, received(value))


def bad_length(steps: Steps, value: object, message: str, what: str | None) -> Finding:
    return Finding(steps, "bad_length", message, what, received(value))


def bad_content(steps: Steps, value: str, said: str, limit: str) -> Finding:
    what = one_line(limit, _SAID_LENGTH)
    message = f"{excerpt(value)} {said} {what}"
    return Finding(steps, "bad_format", message, what, received(value))


def bad_integer_key(steps: Steps, key: str) -> Finding:
    message = f"the key {excerpt(key)} isn't an integer in plain digits, such as 42"
    return Finding(steps, "bad_format", message, INTEGER_KEY, received(key))


def bad_text(steps: Steps, value: str) -> Finding:
    message = f"{excerpt(value)} has a lone surrogate, which isn't a character"
    return Finding(steps, "bad_format", message, "string", received(value))


def duplicate(steps: Steps, value: object, what: str) -> Finding:
    message = f"{excerpt(value)} equals an earlier one; {what} must differ"
    return Finding(steps, "duplicate", message, f"different {what.removeprefix('the ')}", received(value))


def lost_entry(steps: Steps, name: str) -> Finding:
    shown = excerpt(name)
    message = f"several keys are written as {shown}: only the value of the last one is kept"
    return Finding(steps, "duplicate", message, None, received(name))


def colliding_hashes(steps: Steps, what: str) -> Finding:
    message = f"too many of {what} have the same hash, so comparing them would take too long; send fewer"
    return Finding(steps, "too_large", message)


def repeated_key(steps: Steps) -> Finding:
    return Finding(steps, "duplicate", "the key occurs more than once")


def no_match(
    steps: Steps, node: UnionNode, value: object, renamed: Renamed, definitions: Definitions
) -> Finding:
    what, came = expected(node, 1, EXPECTED_LENGTH, definitions), received(value)
    rename = ""
    if is_object(value):
        shapes = map(shape_of, spread_members(node, definitions))
        pairs = [pair for shape in shapes if shape for pair in renamed(shape, value).items()]
        rename = "".join([f"; {_rename(key, name)}" for name, key in pairs[:1]])
    return Finding(steps, "no_match", f"{came} fits none of {what}{rename}", what, came)


def wrong_class(steps: Steps, cls: type, value: object) -> Finding:
    came, name = received(value), _class(cls)
    if isinstance(value, type):
        came = f"the class {_class(value)}, not an instance"
    return Finding(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def wrong_container(steps: Steps, cls: type, value: object) -> Finding:
    name, came = _class(cls), _class(type(value))
    return Finding(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def no_json_form(steps: Steps, value: object) -> Finding:
    if isinstance(value, type):
        came = f"the class {_class(value)}"
        return Finding(steps, "wrong_type", f"got {came}, not an instance", "a JSON value", came)
    instead = instead_of(type(value)) or "Give its type a SchemaLeaf or make it a dataclass"
    message = f"{kind(value)} has no JSON form; {instead[0].lower()}{instead[1:]}"
    return Finding(steps, "wrong_type", message, "a JSON value", received(value))


def bad_format(steps: Steps, node: LeafNode, value: object, reason: Exception) -> Finding:
    what = expected(node)
    message = f"{excerpt(value)} is not accepted: {_said(reason)}"
    code: ValueCode = "out_of_range" if isinstance(reason, LimitError) else "bad_format"
    return Finding(steps, code, message, what, received(value))


def rejected(steps: Steps, type_name: str, reason: Exception) -> Finding:
    is_silent = not message_of(reason)
    why = (
        f"refused it without a message ({_class(type(reason))})"
        if is_silent
        else f"refused it: {_said(reason)}"
    )
    return Finding(steps, "rejected", f"{_name(type_name)} {why}")


def of_leaf(steps: Steps, node: LeafNode, value: Any, problem: Finding, renamed: Renamed) -> Finding:
    """Return a problem that a leaf has found, rewritten in the words of this module if its field is known."""
    path = (*steps, *problem.path)
    if shape_of(node) is None:
        return problem.replace(path=path)
    owner: Node | None = node
    sent = value
    for step in problem.path[:-1]:
        # Only the last step may lead to what isn't there; an instance that is encoded has no keys.
        inside: Any = sent if is_object(sent) or is_array(sent) else {step: None}
        sent = inside[step]
        owner = _part_at(owner, step)
    shape = None if owner is None else shape_of(owner)
    key = problem.path[-1] if problem.path else None
    field = next((each for each in shape.fields if each.key == key), None) if shape else None
    if problem.code == "missing" and field is not None and shape is not None:
        return missing(path, field, shape, sent or {}, renamed, {})
    if problem.code == "unknown" and shape is not None:
        return unknown(path[:-1], key, shape, sent or {}, renamed)
    what = problem.expected if field is None else expected(field.node)
    return problem.replace(path=path, expected=what)


def _part_at(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, ArrayNode):
        return node.items
    shape = None if node is None else shape_of(node)
    return next((each.node for each in shape.fields if each.key == step), None) if shape else None


def _class(cls: type) -> str:
    return _name(class_name(cls))


def _name(text: str) -> str:
    return one_line(text, _NAME_LENGTH)


def too_deep(steps: Steps, max_depth: int) -> Finding:
    return Finding(steps, "too_deep", f"nested deeper than {max_depth} levels")


def too_deep_for_stack(steps: Steps) -> Finding:
    return Finding(steps, "too_deep", "nested deeper than this process can follow")


def too_many_values(steps: Steps, most: int) -> Finding:
    return Finding(steps, "too_large", f"contains more than {most} values")


def _said(reason: Exception) -> str:
    return said_by(reason, _SAID_LENGTH)
