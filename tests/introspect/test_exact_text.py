"""Names, keys and values in the graph are exact `str`, `int` and `float`, whatever the user gave."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field, make_dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal, NamedTuple, TypedDict

import pytest

from operator_schema import Codec, SchemaError
from operator_schema.engine import EnumNode, LiteralNode, ObjectNode
from operator_schema.introspect.node_kinds import parts_of

RAN: list[str] = []


class Hostile(str):
    """Text that writes something else than it holds, and would run as code if it were pasted into source."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "RAN.append('repr') or 'other'"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)


class HostileInt(int):
    def __repr__(self) -> str:
        return "RAN.append('repr') or 7"


class HostileFloat(float):
    def __repr__(self) -> str:
        return "RAN.append('repr') or 7.5"


class Key(StrEnum):
    A = "aa"


class Level(IntEnum):
    LOW = 1


class Choice(Enum):
    TEXT = Hostile("text")
    NUMBER = HostileInt(3)
    FLOAT = HostileFloat(2.5)


def texts_of(node: Any) -> list[Any]:
    """Return every name, key and value in a node and those inside it."""
    found: list[Any] = []
    if isinstance(node, ObjectNode):
        found = [node.name, *[text for field in node.fields for text in (field.name, field.key)]]
    elif isinstance(node, LiteralNode):
        found = [*node.values, *[member for member in node.members if not isinstance(member, Enum)]]
    elif isinstance(node, EnumNode):
        found = [*node.values]
    return found + [text for _, inner in parts_of(node) for text in texts_of(inner)]


@pytest.mark.parametrize("text", [Key.A, Hostile("aa")])
def test_an_alias_that_is_a_subclass_of_str_is_read_as_its_text(text):
    @dataclass
    class Aliased:
        x: int = field(metadata={"alias": text})

    check(Codec(Aliased), {"aa": 1})


@pytest.mark.parametrize("text", [Key.A, Hostile("aa")])
@pytest.mark.parametrize("total", [True, False])
def test_a_key_of_a_typed_dict_that_is_a_subclass_of_str_is_read_as_its_text(text, total):
    made = TypedDict("made", {text: int}, total=total)  # type: ignore[misc]
    check(Codec(made), {"aa": 1})


def test_a_field_named_by_a_member_of_an_enum_has_its_text_as_name():
    check(Codec(make_dataclass("Made", [(Key.A, int)])), {"aa": 1})


def test_a_class_with_a_hostile_name_is_called_by_its_text():
    made = make_dataclass("Made", [("aa", int)])
    made.__name__ = Hostile("Renamed")
    codec = Codec(made)
    check(codec, {"aa": 1})
    assert codec.graph.root.name == "Renamed"


@pytest.mark.parametrize("value", [Hostile("aa"), Hostile(""), HostileInt(3)])
def test_a_literal_decodes_to_the_exact_value(value):
    check(Codec(list[Literal[value]]), [value])


def test_choices_of_an_enum_are_exact():
    check(Codec(list[Choice]), ["text", 3, 2.5])
    check(Codec(list[Level]), [1])
    check(Codec(dict[Level, int]), {"1": 1})


def check(codec: Codec[Any], value: Any) -> None:
    """Decode and encode in both tiers, and look at every text in the graph."""
    assert all(type(text) in {str, int, float} for text in texts_of(codec.graph.root))
    cold = codec.decode(value)
    written = codec.encode(cold)
    codec.compile()
    assert codec.decode(value) == cold
    assert codec.encode(cold) == written == value
    assert RAN == []


@pytest.mark.parametrize("name", ["ª", "ſ"])  # noqa: RUF001  # what looks like another letter is the point
@pytest.mark.parametrize(
    "make",
    [
        lambda name: NamedTuple("Made", [(name, int)]),
        lambda name: namedtuple("Made", [name]),  # noqa: PYI024  # the older spelling is read, too
    ],
)
def test_a_field_name_that_python_normalizes_is_complained_about(name, make):
    with pytest.raises(SchemaError) as caught:
        Codec(make(name))
    assert f'Python reads the field name "{name}" as "{"a" if name == "ª" else "s"}"' in str(caught.value)
    assert f'Name the field "{"a" if name == "ª" else "s"}".' in str(caught.value)


def test_a_field_name_outside_of_ascii_is_fine():
    check(Codec(NamedTuple("Made", [("größe", int)])), {"größe": 1})
    check(Codec(TypedDict("Made", {"ª": int})), {"ª": 1})
