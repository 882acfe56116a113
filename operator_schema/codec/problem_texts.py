"""The words for each kind of problem: what is wrong, what was expected, what came, what was probably meant.

Each kind is a function of the path and of what its words need. The method of `Problems` with the same
name calls it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ..findings import Finding
from ..immutable import instead_of
from ..introspect.node_kinds import received_types, shape_of, spread_members
from ..introspect.nodes import ArrayNode, EnumNode, LeafNode, LiteralNode, ObjectNode, ScalarNode, UnionNode
from ..json_values import fits_types, is_array, is_object, type_of
from ..schema.keywords import INTEGER_KEY, LimitError
from ..wording import EXCERPT_LENGTH, clip, escape, excerpt, key_step, kind, nearest, quote, received
from .expected import EXPECTED_LENGTH, expected, expected_field, fitted, show_choice
from .limits import MAX_INTEGER_DIGITS
from .spellings import quoted_scalar, quoted_type

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..findings import ValueCode
    from ..introspect.nodes import Field, Node, Target

    Definitions = Mapping[Target, Node]
    Steps = tuple[str | int, ...]

__all__ = [
    "MESSAGE_LENGTH",
    "bad_content",
    "bad_format",
    "bad_integer_key",
    "bad_length",
    "bad_text",
    "colliding_hashes",
    "duplicate",
    "lost_entry",
    "missing",
    "missing_tag",
    "no_json_form",
    "no_match",
    "not_one_of",
    "out_of_range",
    "rejected",
    "repeated_key",
    "too_deep",
    "too_deep_for_stack",
    "too_large",
    "too_many_values",
    "unknown",
    "wrong_class",
    "wrong_container",
    "wrong_type",
]

MESSAGE_LENGTH = 300
"""Characters of a problem's message, at most."""

_SAID_LENGTH = 180
_CHOICES_LENGTH = 200
_NAME_LENGTH = 60
_SUGGESTED_LENGTH = 100
_LISTED_CHOICES = 20
_COMPARED_KEYS = 500


def missing(
    steps: Steps, field: Field, node: ObjectNode, sent: Iterable[object], definitions: Definitions
) -> Finding:
    what = expected_field(field, definitions)
    keys = {known.key for known in node.fields}
    unused = [key for key in islice(sent, _COMPARED_KEYS) if isinstance(key, str) and key not in keys]
    near = (nearest(field.key, unused) or nearest(field.name, unused)) if unused else None
    instead = f"; you sent {quote(near)} instead" if near else ""
    return Finding(steps, "missing", f"missing ({what}){instead}", what)


def missing_tag(steps: Steps, choices: LiteralNode) -> Finding:
    what = f"{expected(choices)}, required"
    return Finding(steps, "missing", f"missing ({what}); it says which object this is", what)


def unknown(steps: Steps, key: object, node: ObjectNode, sent: Collection[object]) -> Finding:
    names = [known.key for known in node.fields]
    name = key_step(key)
    near = nearest(name, [known for known in names if known not in sent])
    fields = fitted(names, show_choice, _CHOICES_LENGTH, most=_LISTED_CHOICES) if names else "none"
    message = f"unknown key; the keys are {fields}" if names else "unknown key; this object takes no keys"
    return Finding((*steps, name), "unknown", message, fields, None, _suggested(near))


def _suggested(value: Any) -> str | None:
    return None if value is None else excerpt(value, _SUGGESTED_LENGTH)


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
        near = _in_array(node, value) if held is None else _without_quotes(types, value)
    else:
        near = _in_array(node, value)
    message = f"expected {what}{_sample(node, what)}, got {came}{_out_of_array(types, value)}"
    return Finding(steps, "wrong_type", clip(message, MESSAGE_LENGTH), what, came, near)


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


def _without_quotes(types: set[str], text: str) -> str | None:
    """Show the number, boolean or null that a string contains, if that was wanted."""
    scalar = quoted_scalar(text)
    is_rounded = isinstance(scalar, float) and "number" not in types and float.__repr__(scalar) != text
    if is_rounded or not fits_types(scalar, types) or len(text) > EXCERPT_LENGTH:
        return None
    return excerpt(scalar) if scalar is None or isinstance(scalar, bool) else text


def _in_array(node: Node, value: object) -> str | None:
    """Return one item as the array that was wanted, where it is short enough to be shown whole."""
    if not isinstance(node, ArrayNode) or type_of(value) not in received_types(node.items):
        return None
    if isinstance(value, str) and value.lstrip()[:1] == '"':  # JSON in a string, rather than an item
        return None
    shown = excerpt(value)
    return None if "…" in shown else f"[{shown}]"


def not_one_of(steps: Steps, node: LiteralNode | EnumNode, value: object) -> Finding:
    what = fitted(node.values, show_choice, _CHOICES_LENGTH, most=_LISTED_CHOICES)
    near = _nearest_choice(node.values, value) or _nearest_member(node, value)
    shown = excerpt(value) if kind(value) in _SCALAR_KINDS else received(value)
    if isinstance(value, (str, int, float)) and type(value) not in _SCALAR_CLASSES:
        # Only its class may be wrong: a member of an Enum isn't the text that it equals.
        shown = f"{shown} of the class {clip(escape(type(value).__name__), EXCERPT_LENGTH)}"
    return Finding(steps, "not_one_of", f"{shown} is not one of {what}", what, received(value), near)


_SCALAR_KINDS = frozenset({"string", "integer", "number", "boolean", "null"})
_SCALAR_CLASSES = frozenset({str, int, float, bool})


def _nearest_choice(values: tuple[Any, ...], value: object) -> str | None:
    if not isinstance(value, str):
        return next((_suggested(v) for v in values if isinstance(v, str) and v == excerpt(value)), None)
    texts = {v if isinstance(v, str) else excerpt(v): v for v in values}
    if None in texts.values():
        texts.setdefault("none", None)
    near = nearest(value, texts)
    return None if near is None else excerpt(texts[near], _SUGGESTED_LENGTH)


def _nearest_member(node: LiteralNode | EnumNode, value: object) -> str | None:
    """Return the value of the Enum's member whose name was sent."""
    if not isinstance(node, EnumNode) or not isinstance(value, str):
        return None
    name = nearest(value, node.type.__members__)
    return None if name is None else _suggested(node.type.__members__[name].value)


def out_of_range(steps: Steps, value: object, message: str) -> Finding:
    return Finding(steps, "out_of_range", f"{excerpt(value)} {message}", None, received(value))


def too_large(steps: Steps, value: object) -> Finding:
    message = f"{excerpt(value)} has more than {MAX_INTEGER_DIGITS} digits"
    return Finding(steps, "too_large", message, None, received(value))


def bad_length(steps: Steps, value: object, message: str) -> Finding:
    return Finding(steps, "bad_length", message, None, received(value))


def bad_content(steps: Steps, value: str, said: str, limit: str) -> Finding:
    what = clip(escape(limit), _SAID_LENGTH)
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
    return Finding(steps, "duplicate", message, None, received(value))


def lost_entry(steps: Steps, name: str) -> Finding:
    shown = excerpt(name)
    message = f"several keys are written as {shown}: only the value of the last one is kept"
    return Finding(steps, "duplicate", message, None, received(name))


def colliding_hashes(steps: Steps, what: str) -> Finding:
    message = f"too many of {what} have the same hash, so comparing them would take too long; send fewer"
    return Finding(steps, "too_large", message)


def repeated_key(steps: Steps) -> Finding:
    return Finding(steps, "duplicate", "the key is there more than once")


def no_match(steps: Steps, node: UnionNode, value: object, definitions: Definitions) -> Finding:
    what, came = expected(node, 1, EXPECTED_LENGTH, definitions), received(value)
    members = spread_members(node, definitions)
    if is_object(value):
        near = _nearest_key([shape for member in members if (shape := shape_of(member))], value)
    else:
        choices = [member.values for member in members if isinstance(member, (LiteralNode, EnumNode))]
        near = _nearest_choice(sum(choices, ()), value)
    return Finding(steps, "no_match", f"{came} fits none of {what}", what, came, near)


def _nearest_key(members: list[ObjectNode], value: dict[Any, Any]) -> str | None:
    """Return the key that was probably meant by an unknown key, of any of these objects."""
    keys = list(dict.fromkeys([field.key for member in members for field in member.fields]))
    unknown = [key for key in islice(value, _COMPARED_KEYS) if isinstance(key, str) and key not in keys]
    return next((f"{quote(near)} for {quote(key)}" for key in unknown if (near := nearest(key, keys))), None)


def wrong_class(steps: Steps, cls: type, value: object) -> Finding:
    came, name = received(value), _name(cls.__name__)
    if isinstance(value, type):
        came = f"the class {_name(value.__name__)}, not an instance"
    return Finding(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def wrong_container(steps: Steps, cls: type, value: object) -> Finding:
    name, came = _name(cls.__name__), _name(type(value).__name__)
    return Finding(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def no_json_form(steps: Steps, value: object) -> Finding:
    if isinstance(value, type):
        came = f"the class {_name(value.__name__)}"
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
    said = clip(escape(str(reason)[: _SAID_LENGTH + 1]), _SAID_LENGTH)
    why = f"refused it: {said}" if said else f"refused it without a message ({_name(type(reason).__name__)})"
    return Finding(steps, "rejected", f"{_name(type_name)} {why}")


def of_leaf(steps: Steps, node: LeafNode, value: Any, problem: Finding) -> Finding:
    """Return a problem that a leaf has found, in the words of this module as far as its fields are known."""
    path = (*steps, *problem.path)
    if shape_of(node) is None:
        return problem.replace(path=path)
    owner: Node | None = node
    sent = value
    for step in problem.path[:-1]:
        sent = sent[step]  # only the last step may lead to what is not there
        owner = _part_at(owner, step)
    shape = None if owner is None else shape_of(owner)
    key = problem.path[-1] if problem.path else None
    field = next((each for each in shape.fields if each.key == key), None) if shape else None
    if problem.code == "missing" and field is not None and shape is not None:
        return missing(path, field, shape, sent or (), {})
    if problem.code == "unknown" and shape is not None:
        return unknown(path[:-1], key, shape, sent or ())
    what = problem.expected if field is None else expected(field.node)
    return problem.replace(path=path, expected=what)


def _part_at(node: Node | None, step: str | int) -> Node | None:
    if isinstance(node, ArrayNode):
        return node.items
    shape = None if node is None else shape_of(node)
    return next((each.node for each in shape.fields if each.key == step), None) if shape else None


def _name(text: str) -> str:
    return clip(escape(text), _NAME_LENGTH)


def too_deep(steps: Steps, max_depth: int) -> Finding:
    return Finding(steps, "too_deep", f"nested deeper than {max_depth} levels")


def too_deep_for_stack(steps: Steps) -> Finding:
    return Finding(steps, "too_deep", "nested deeper than this process can follow")


def too_many_values(steps: Steps, most: int) -> Finding:
    return Finding(steps, "too_large", f"contains more than {most} values")


def _said(reason: Exception) -> str:
    return clip(escape(str(reason)[: _SAID_LENGTH + 1]), _SAID_LENGTH) or type(reason).__name__
