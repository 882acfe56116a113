"""What does the report of each kind of problem say: message, expected, received and probably meant value?

Each kind is a function, which takes the path and the facts for its words. The method of `Problems` with the
same name calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..findings import Finding
from ..immutable import instead_of
from ..introspect.node_kinds import received_types, shape_of, spread_members
from ..introspect.nodes import (
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    ObjectNode,
    ScalarNode,
    UnionNode,
)
from ..json_values import MAX_INTEGER_DIGITS, fits_types, is_array, is_object, type_of
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
from ..schema.keywords import INTEGER_KEY, LimitError
from .ambiguity_texts import ambiguous as ambiguous  # noqa: PLC0414  # `problems` asks for it by name
from .ambiguity_texts import read_as_another as read_as_another  # noqa: PLC0414  # likewise
from .expected_values import EXPECTED_LENGTH, expected, expected_field, fitted, show_choice
from .spellings import quoted_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..findings import ValueCode
    from ..introspect.nodes import Field, Node, ObjectNode, Target, UnionNode

    Definitions = Mapping[Target, Node]
    Steps = tuple[str | int, ...]
    Renamed = Callable[[ObjectNode, dict[Any, Any]], Mapping[str, str]]


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
    rename = "" if key is None else f"; {_rename_text(key, field.key)}"
    return Finding(steps, "missing", f"missing ({what}){rename}", what)


def _rename_text(key: str, name: str) -> str:
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
    message = f"expected {what}{_sample_text(node, what)}, got {came}{_out_of_array(types, value)}"
    return Finding(steps, "wrong_type", clip(message, MESSAGE_LENGTH), what, came)


_BEGINNINGS = {"[": "array", "{": "object"}


def _types_of(node: Node, definitions: Definitions) -> set[str]:
    if isinstance(node, ScalarNode):
        return {node.type}
    return {name for member in spread_members(node, definitions) for name in received_types(member)}


def _sample_text(node: Node, what: str) -> str:
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
        rename = "".join([f"; {_rename_text(key, name)}" for name, key in pairs[:1]])
    return Finding(steps, "no_match", f"{came} fits none of {what}{rename}", what, came)


def wrong_class(steps: Steps, cls: type, value: object) -> Finding:
    came, name = received(value), _class_text(cls)
    if isinstance(value, type):
        came = f"the class {_class_text(value)}, not an instance"
    return Finding(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def wrong_container(steps: Steps, cls: type, value: object) -> Finding:
    name, came = _class_text(cls), _class_text(type(value))
    return Finding(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def no_json_form(steps: Steps, value: object) -> Finding:
    if isinstance(value, type):
        came = f"the class {_class_text(value)}"
        return Finding(steps, "wrong_type", f"got {came}, not an instance", "a JSON value", came)
    instead = instead_of(type(value)) or "Give its type a SchemaLeaf or make it a dataclass"
    message = f"{kind(value)} has no JSON form; {instead[0].lower()}{instead[1:]}"
    return Finding(steps, "wrong_type", message, "a JSON value", received(value))


def bad_format(steps: Steps, node: LeafNode, value: object, reason: Exception) -> Finding:
    what = expected(node)
    message = f"{excerpt(value)} is not accepted: {_reason_text(reason)}"
    code: ValueCode = "out_of_range" if isinstance(reason, LimitError) else "bad_format"
    return Finding(steps, code, message, what, received(value))


def rejected(steps: Steps, type_name: str, reason: Exception) -> Finding:
    is_silent = not message_of(reason)
    why = (
        f"refused it without a message ({_class_text(type(reason))})"
        if is_silent
        else f"refused it: {_reason_text(reason)}"
    )
    return Finding(steps, "rejected", f"{_short_name(type_name)} {why}")


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


def _class_text(cls: type) -> str:
    return _short_name(class_name(cls))


def _short_name(text: str) -> str:
    return one_line(text, _NAME_LENGTH)


def too_deep(steps: Steps, max_depth: int) -> Finding:
    return Finding(steps, "too_deep", f"nested deeper than {max_depth} levels")


def too_deep_for_stack(steps: Steps) -> Finding:
    return Finding(steps, "too_deep", "nested deeper than this process can follow")


def too_many_values(steps: Steps, most: int) -> Finding:
    return Finding(steps, "too_large", f"contains more than {most} values")


def _reason_text(reason: Exception) -> str:
    return said_by(reason, _SAID_LENGTH)
