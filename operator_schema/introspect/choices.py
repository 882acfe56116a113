"""`Literal` and Enum: one of a fixed set of JSON scalars."""

from __future__ import annotations

from dataclasses import MISSING
from enum import Enum, EnumType
from math import isfinite
from typing import TYPE_CHECKING, Any

from ..json_values import LONGEST_BITS, choice_key, has_surrogate
from ..wording import clip, escape, excerpt
from .leaves import has_attribute
from .names import name_of, show_annotation, show_value
from .nodes import EnumNode, LiteralNode

if TYPE_CHECKING:
    from collections.abc import Hashable
    from enum import Flag

    from .hints import Place
    from .nodes import Node
    from .reader import Reader

__all__ = ["read_enum", "read_flag", "read_literal"]


def read_literal(reader: Reader, annotation: Any, args: tuple[Any, ...], place: Place) -> Node:
    """Read `Literal[…]`."""
    values = tuple([_plain(arg.value if isinstance(arg, Enum) else arg) for arg in args])
    if not args:
        return reader.complain(place, "unsupported", "Literal[()] has no values", "Give it some")
    if MISSING in values:
        message = (
            f"{show_annotation(annotation)} has {excerpt(args[values.index(MISSING)])}, which JSON can't hold"
        )
        return reader.complain(place, "unsupported", message, "Use strings, numbers, booleans and None")
    members = [arg if isinstance(arg, Enum) else value for value, arg in zip(values, args, strict=True)]
    table = dict(zip(map(choice_key, values), members, strict=True))
    if len(table) < len(values):
        message = f"two values of {show_annotation(annotation)} are the same in JSON"
        return reader.complain(place, "ambiguous", message, "Leave one of them out")
    return LiteralNode(values, tuple(table.values()), table)


def read_enum(reader: Reader, cls: type[Enum], _args: tuple[Any, ...], place: Place) -> Node:
    """Read an Enum."""
    # `_value_` is what `value` returns, unless an Enum overrides that, and takes a fifth of the time.
    is_usual = type(cls) is EnumType and not has_attribute(cls, "value")
    values: list[Any] = []
    table: dict[Hashable, Enum] = {}
    for member in cls.__members__.values() if is_usual else cls:
        written: Any = member._value_ if is_usual else member.value
        value = written if type(written) is str and written.isascii() else _plain(written)
        if value is MISSING:
            shown, what = (clip(escape(show_value(part)), 60) for part in (member, written))
            message = f"{shown} has the value {what}, which isn't a JSON scalar"
            return reader.complain(place, "bad_enum", message, "Use strings, numbers, booleans and None")
        key = choice_key(value)
        if key not in table:
            table[key] = member
            values.append(value)
        elif table[key] is not member:  # an alias would be the same member
            message = f"two members of {name_of(cls)} are the same in JSON"
            return reader.complain(place, "ambiguous", message, "Give each a value of its own")
    if not values:
        return reader.complain(place, "bad_enum", f"{name_of(cls)} has no members", "Give it some")
    doc = None
    if cls.__dict__.get("__doc__") is not None:
        doc = _prose_of(cls, reader, place)
    return EnumNode(cls, tuple(values), table, doc)


def _prose_of(cls: type[Enum], reader: Reader, place: Place) -> str | None:
    from .descriptions import own_docstring
    from .docstrings import parse_docstring

    text = parse_docstring(own_docstring(cls)).text
    if has_surrogate(text):
        reader.complain_surrogate(text, place)
    return text or None


def read_flag(reader: Reader, cls: type[Flag], _args: tuple[Any, ...], place: Place) -> Node:
    """Refuse a Flag."""
    message = f"{name_of(cls)} is a Flag, whose values are sums of members"
    return reader.complain(place, "bad_enum", message, "Use list[…] of an Enum, or a SchemaLeaf")


def _plain(value: object) -> Any:
    """Return a JSON scalar as its built-in type; `dataclasses.MISSING` for what JSON can't hold."""
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
