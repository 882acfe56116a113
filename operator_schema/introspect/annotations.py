"""What each annotation means: one row in a table, and one small function, for each kind.

Each function takes the walk, the annotation, its arguments and its place, and returns a
node; where it can't, it lets the walk complain.
"""

from __future__ import annotations

import collections
import collections.abc
import types
import typing
from dataclasses import MISSING
from enum import Enum, EnumType, Flag
from math import isfinite
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    Union,
    Unpack,
    get_origin,
)

from ..complaints import UnfitError
from ..json_values import LONGEST_BITS, choice_key, has_surrogate
from ..wording import clip, escape, excerpt, quote
from .hints import FieldPlace, Place, evaluate_forward
from .leaves import as_leaf, has_attribute
from .names import name_of, show_annotation, show_value
from .nodes import (
    ANY,
    NULL,
    STRING,
    UNKNOWN,
    AnyNode,
    ArrayNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    MapNode,
    Node,
    ObjectNode,
    ScalarNode,
    TupleNode,
    UnionNode,
)
from .type_parameters import declares

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from .walk import Walk

    Arm = Callable[[Walk, Any, tuple[Any, ...], Place], Node]

__all__ = ["CLASSES", "NAMED", "ORIGINS"]


def _inner(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read a qualifier, which says nothing about the values, as the annotation inside it."""
    return walk.node(args[0], place) if args else walk.complain_unsupported(annotation, place)


def _annotated(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    from .constraints import constrained, read_constraints
    from .foreign_metadata import is_foreign

    if not args:
        return walk.complain_unsupported(annotation, place)
    inner, *metadata = args
    leaf = next((item for item in map(as_leaf, reversed(metadata)) if item is not None), None)
    node = walk.node(inner, place) if leaf is None else LeafNode(leaf)
    if node is UNKNOWN:
        return node
    try:
        if any(map(is_foreign, metadata)):
            metadata = _translated(metadata, place)
        constraints = read_constraints(metadata)
        node = node if constraints is None else constrained(node, constraints)
    except UnfitError as unfit:
        return walk.complain(place, "bad_constraint", unfit.message, unfit.remedy)
    for text in map(_text, metadata):
        if text is not None:
            if has_surrogate(text):
                return walk.complain(place, "bad_description", _SURROGATE.format(quote(text)), "Take it out")
            node = node.replace(description=text)
    return walk.distinct.union(node) if isinstance(node, UnionNode) else node


def _translated(metadata: list[Any], place: Place) -> list[Any]:
    """Return the metadata of other libraries in our own vocabulary; the place keeps what is for its field."""
    from .foreign_metadata import translate

    translation = translate(metadata)
    if isinstance(place, FieldPlace):
        place.metadata = {**(place.metadata or {}), **translation.of_field}
        if translation.default is not None:
            place.metadata["default"] = translation.default
        return translation.metadata
    if translation.default is not None:
        raise translation.default
    for name, value in translation.of_field.items():
        message = f"{name}={excerpt(value)} is for a field, but this annotation isn't the annotation of one"
        raise UnfitError(message, f"Give the {name} in the annotation of the field itself, or leave it out")
    return translation.metadata


def _text(item: object) -> str | None:
    """Return what a description says: a string, or the `Doc` of PEP 727."""
    text = item if isinstance(item, str) else getattr(item, "documentation", None)
    return text if isinstance(text, str) else None


_SETS = (set, frozenset)


def _array_of(container: type[Any], accepts: type[Any] | None = None) -> Arm:
    def read(walk: Walk, _annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
        if container in _SETS:
            walk.has_choices = True
        items = walk.item_node(args[0] if args else Any, place)
        return ArrayNode(items, container, accepts or container)

    return read


def _tuple(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    if args and args[-1] is Ellipsis:
        args = (args[0],) if len(args) == 2 else (args,)  # noqa: PLR2004  # the item and the ellipsis
        return _array_of(tuple)(walk, annotation, args, place)
    if any(getattr(arg, "__unpacked__", False) or get_origin(arg) is Unpack for arg in args):
        return walk.complain_unsupported(annotation, place)
    # `tuple[()]` has no arguments either, but `tuple` alone is any tuple.
    if not args and annotation in {tuple, typing.Tuple}:  # noqa: UP006  # the older spelling
        return _array_of(tuple)(walk, annotation, args, place)
    if not args:
        walk.item_node(Any, place)  # it has no items, but it is a level itself
    return TupleNode(tuple([walk.item_node(arg, place) for arg in args]))


def _map_of(container: type[Any], accepts: type[Any] | None = None) -> Arm:
    def read(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
        keys, values = args or (str, Any)
        read_keys = walk.node(keys, place)
        key_node = _key_node(read_keys)
        if key_node is None:
            key_node = _complain_keys(walk, annotation, read_keys, place)
        return MapNode(key_node, walk.item_node(values, place), container, accepts or container)

    return read


def _complain_keys(walk: Walk, annotation: Any, keys: Node, place: Place) -> Node:
    if isinstance(keys, ScalarNode) and keys.type == "integer":
        message = f"the keys of {show_annotation(annotation)} have limits, which no schema can put on keys"
        return walk.complain(
            place, "bad_constraint", message, "Use int keys, and check them in __post_init__"
        )
    message = f"the keys of {show_annotation(annotation)} aren't text, as keys in JSON are"
    remedy = "Make them str, int, an Enum or Literal of texts or ints, or a type whose leaf is a string"
    return walk.complain(place, "unsupported", message, remedy)


def _key_node(node: Node) -> Node | None:
    """Return the node of a JSON key, which is a string whatever it decodes to; None if it has none."""
    match node:
        case ScalarNode(type="string") | ScalarNode(type="integer", constraints=None):
            return node
        case AnyNode():
            return node if node is UNKNOWN else STRING
        case LeafNode(leaf=leaf) if leaf.json_types == ("string",) and leaf.type.__hash__ is not None:
            return node
        case LiteralNode() | EnumNode():
            texts = tuple([_key_text(value) for value in node.values])
            if None in texts or len(set(texts)) < len(texts):
                return None
            table = dict(zip(map(choice_key, texts), node.table.values(), strict=True))
            return node.replace(values=texts, table=table)
        case _:
            return None


def _key_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _union(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    if not args:
        return walk.complain_unsupported(annotation, place)
    found: list[Node] = []
    for arg in args:
        node = walk.node(arg, place)
        if isinstance(node, UnionNode) and node.description is None:
            found += node.members
        else:
            found.append(node)
    if len(found) == 2 and found[1] is NULL and found[0] is not NULL:  # noqa: PLR2004  # `X | None`, most often
        members = tuple(found)
    else:
        members = walk.distinct.members(found)
    if len(members) == 1:
        return members[0]
    walk.has_choices = walk.has_choices or not _differ_at_sight(members)
    return UnionNode(members)


def _differ_at_sight(members: tuple[Node, ...]) -> bool:
    """Return whether each member has a JSON type of its own, so that there is nothing to check."""
    seen: list[str] = []
    for member in members:
        json_type = member.type if isinstance(member, ScalarNode) else _JSON_TYPES.get(member.__class__)
        if json_type is None or json_type in seen:
            return False
        seen.append(json_type)
    return True


_JSON_TYPES: Final[dict[type, str]] = {
    ObjectNode: "object",
    MapNode: "object",
    ArrayNode: "array",
    TupleNode: "array",
}


def _literal(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    values = tuple([_plain(arg.value if isinstance(arg, Enum) else arg) for arg in args])
    if not args:
        return walk.complain(place, "unsupported", "Literal[()] has no values", "Give it some")
    if MISSING in values:
        message = (
            f"{show_annotation(annotation)} has {excerpt(args[values.index(MISSING)])}, which JSON can't hold"
        )
        return walk.complain(place, "unsupported", message, "Use strings, numbers, booleans and None")
    members = [arg if isinstance(arg, Enum) else value for value, arg in zip(values, args, strict=True)]
    table = dict(zip(map(choice_key, values), members, strict=True))
    if len(table) < len(values):
        message = f"two values of {show_annotation(annotation)} are the same in JSON"
        return walk.complain(place, "ambiguous", message, "Leave one of them out")
    return LiteralNode(values, tuple(table.values()), table)


def _enum(walk: Walk, cls: type[Enum], _args: tuple[Any, ...], place: Place) -> Node:
    # What `value` gives, unless an Enum says otherwise, is in `_value_`, and takes a fifth of the time.
    is_usual = type(cls) is EnumType and not has_attribute(cls, "value")
    values: list[Any] = []
    table: dict[Hashable, Enum] = {}
    for member in cls.__members__.values() if is_usual else cls:
        written: Any = member._value_ if is_usual else member.value
        value = written if type(written) is str and written.isascii() else _plain(written)
        if value is MISSING:
            shown, what = (clip(escape(show_value(part)), 60) for part in (member, written))
            message = f"{shown} has the value {what}, which isn't a JSON scalar"
            return walk.complain(place, "bad_enum", message, "Use strings, numbers, booleans and None")
        key = choice_key(value)
        if key not in table:
            table[key] = member
            values.append(value)
        elif table[key] is not member:  # no alias, which is the same member
            message = f"two members of {name_of(cls)} are the same in JSON"
            return walk.complain(place, "ambiguous", message, "Give each a value of its own")
    if not values:
        return walk.complain(place, "bad_enum", f"{name_of(cls)} has no members", "Give it some")
    doc = None
    if cls.__dict__.get("__doc__") is not None:
        doc = _prose_of(cls, walk, place)
    return EnumNode(cls, tuple(values), table, doc)


def _prose_of(cls: type[Enum], walk: Walk, place: Place) -> str | None:
    from .descriptions import own_docstring
    from .docstrings import parse_docstring

    text = parse_docstring(own_docstring(cls)).text
    if has_surrogate(text):
        walk.complain(place, "bad_description", _SURROGATE.format(quote(text)), "Take it out")
    return text or None


_SURROGATE: Final = "the description {} has a lone surrogate, which JSON can't hold"


def _flag(walk: Walk, cls: type[Flag], _args: tuple[Any, ...], place: Place) -> Node:
    message = f"{name_of(cls)} is a Flag, whose values are sums of members"
    return walk.complain(place, "bad_enum", message, "Use list[…] of an Enum, or a SchemaLeaf")


def _plain(value: object) -> Any:
    """Return a JSON scalar as its own built-in type, `dataclasses.MISSING` for what JSON can't hold."""
    if value is None or value is True or value is False or (type(value) is str and value.isascii()):
        return value
    if isinstance(value, str):
        text = str.__str__(value)
        return MISSING if has_surrogate(text) else text
    if isinstance(value, int):
        number = int.__int__(value)
        return MISSING if number.bit_length() > LONGEST_BITS else number
    if isinstance(value, float) and isfinite(value):
        return float.__float__(value)
    return MISSING


def _self(walk: Walk, annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    meant = place.scope.self_type
    return walk.complain_unsupported(annotation, place) if meant is None else walk.node(meant, place)


def _type_variable(walk: Walk, variable: Any, _args: tuple[Any, ...], place: Place) -> Node:
    """Read a type parameter: what was given for it, else its default, its bound or its constraints."""
    bindings = place.scope.bindings
    if variable in bindings:
        return walk.node(bindings[variable], Place(place.path, place.owner, place.scope.outside()))
    if not declares(place.scope, variable):
        name = variable.__name__
        message = f"{show_annotation(variable)} isn't a type parameter of {place.owner}"
        remedy = f"Write the type, or add Generic[{name}] to the bases of the class"
        if place.scope.forgets_bases:
            remedy = "Write the type: before Python 3.12 a TypedDict forgets its bases"
        return walk.complain(place, "unresolved", message, remedy)
    default: Any = getattr(variable, "__default__", MISSING)
    if default is not MISSING and type(default).__name__ != "NoDefaultType":
        return walk.node(evaluate_forward(default, place.scope), place)
    if variable.__bound__ is not None:
        return walk.node(variable.__bound__, place)
    if variable.__constraints__:
        return _union(walk, variable, variable.__constraints__, place)
    return ANY


def _new_type(walk: Walk, annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    return walk.node(annotation.__supertype__, place)


def _literal_string(walk: Walk, _annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    return walk.node(str, place)


def _alias(walk: Walk, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    return walk.alias_node(getattr(annotation, "__origin__", annotation), args, place)


def _input_tool(walk: Walk, annotation: Any, _args: tuple[Any, ...], place: Place) -> Node:
    """Read a class under `@tool_input`, whose name is that of the tool, as the class."""
    meant: Any = getattr(annotation, "input_type", None)
    return walk.complain_unsupported(annotation, place) if meant is None else walk.node(meant, place)


ORIGINS: Final[dict[object, tuple[Arm, int | None]]] = {
    Annotated: (_annotated, None),
    Literal: (_literal, None),
    Union: (_union, None),
    types.UnionType: (_union, None),
    Required: (_inner, 1),
    NotRequired: (_inner, 1),
    Final: (_inner, 1),
    list: (_array_of(list), 1),
    set: (_array_of(set), 1),
    frozenset: (_array_of(frozenset), 1),
    tuple: (_tuple, None),
    collections.deque: (_array_of(collections.deque), 1),
    collections.abc.Iterable: (_array_of(list, collections.abc.Iterable), 1),
    collections.abc.Collection: (_array_of(list, collections.abc.Collection), 1),
    collections.abc.Sequence: (_array_of(list, collections.abc.Sequence), 1),
    collections.abc.MutableSequence: (_array_of(list, collections.abc.MutableSequence), 1),
    collections.abc.Set: (_array_of(set, collections.abc.Set), 1),
    collections.abc.MutableSet: (_array_of(set, collections.abc.MutableSet), 1),
    dict: (_map_of(dict), 2),
    collections.OrderedDict: (_map_of(collections.OrderedDict), 2),
    collections.abc.Mapping: (_map_of(dict, collections.abc.Mapping), 2),
    collections.abc.MutableMapping: (_map_of(dict, collections.abc.MutableMapping), 2),
}
"""By what `typing.get_origin` returns: the function, and how many arguments it takes, if any."""

CLASSES: Final[tuple[tuple[type, Arm], ...]] = (
    (Flag, _flag),
    (Enum, _enum),
)
"""By base class; the first that fits counts."""

NAMED: Final[dict[str, Arm]] = {
    "Self": _self,
    "LiteralString": _literal_string,
    "ReadOnly": _inner,
    "TypeVar": _type_variable,
    "NewType": _new_type,
    "TypeAliasType": _alias,
    "InputTool": _input_tool,
}
"""By the name of a special form, or of the class of the annotation."""
