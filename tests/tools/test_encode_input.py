"""`tool.encode_input`: what an input is as arguments."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shares import shared

from operator_schema import EncodeError, ToolError, tool, tool_input
from operator_schema.testing import arguments as valid_arguments
from operator_schema.types import RawArguments


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Person:
    name: str
    mail: str | None = field(default=None, metadata={"alias": "eMail"})
    tags: set[str] = field(default_factory=set)


@dataclass
class Node:
    value: float
    children: list[Node] = field(default_factory=list)


class Options(TypedDict):
    depth: int
    wide: NotRequired[bool]


class Pair(NamedTuple):
    a: int
    b: str | None = "b"


@dataclass
class Create:
    kind: Literal["create"]
    at: datetime
    level: Level = Level.LOW


@dataclass
class Remove:
    kind: Literal["remove"]
    pairs: dict[str, Pair]


def book(
    title: str,
    /,
    people: list[Person],
    *rest: int,
    when: datetime = datetime(2026, 1, 31, tzinfo=UTC),
    level: Level | None = None,
    limit: int | None = 5,
    anything: Any = None,
    **more: float | Literal["x"],
) -> None: ...


def single(person: Person) -> None: ...


def single_dict(options: Options) -> None: ...


def tree(node: Node, other: Node | None = None) -> None: ...


def unpacked(x: int, **options: Unpack[Options]) -> None: ...


def raw(arguments: RawArguments) -> None: ...


def nothing() -> None: ...


TOOLS = [
    *map(tool, (book, single, single_dict, tree, unpacked, raw, nothing)),
    tool(flatten=False)(single),
    tool(repair=True)(book),
    tool(unknown_fields="reject")(book),
    tool_input(Person),
    tool_input(Options),
    tool_input(Pair),
    tool_input(name="edit", description="Edit files.")(Create | Remove),
]


@pytest.mark.slow("draws many inputs of each kind of tool")
@pytest.mark.parametrize("each", TOOLS)
@given(data=st.data())
@shared(len(TOOLS))
def test_decode_is_the_inverse(each, data):
    arguments = data.draw(valid_arguments(each.codec))
    decoded = each.decode(arguments)
    encoded = each.encode_input(decoded)
    assert type(encoded) is dict
    assert each.decode(encoded) == decoded


def test_defaults_are_filled_in_and_repairs_are_made():
    made = tool(repair=True)(book)
    decoded = made.decode({"title": "a", "people": [{"name": "b", "eMail": "c"}], "limit": "7", "unknown": 1})
    assert made.encode_input(decoded) == {
        "title": "a",
        "people": [{"name": "b", "eMail": "c", "tags": []}],
        "rest": [],
        "when": "2026-01-31T00:00:00+00:00",
        "limit": 7,
        "anything": None,
        "more": {},
    }


def test_the_arguments_are_the_callers_own():
    sent = {"a": [1]}
    made = tool(raw)
    decoded = made.decode(sent)
    encoded = made.encode_input(decoded)
    encoded["a"].append(2)
    assert (decoded.arguments, sent) == ({"a": [1]}, {"a": [1]})
    assert made.encode_input(made.decode({})) == {}


@pytest.mark.parametrize("wrong", [None, 5, {"title": "a"}, Person("a")])
def test_something_else_is_not_an_input(wrong):
    with pytest.raises(
        ToolError, match=r"encode_input takes an input \(BookInput\), not .*; decode makes one"
    ):
        tool(book).encode_input(wrong)


def test_something_else_for_a_union():
    with pytest.raises(EncodeError):
        TOOLS[-1].encode_input(Person("a"))


def test_an_input_with_a_wrong_field():
    made = tool(single)
    with pytest.raises(EncodeError, match="name"):
        made.encode_input(Person(5))  # type: ignore[arg-type]  # the mistake


@dataclass
class Scaled:
    value: int
    scale: InitVar[int] = 1

    def __post_init__(self, scale: int) -> None:
        self.value *= scale


@dataclass
class Seeded:
    seed: InitVar[int]
    value: int = 0


def test_an_init_var():
    made = tool_input(Scaled)
    assert made.encode_input(made.decode({"value": 3})) == {"value": 3}
    # Decoding [3, scale 2] makes 6, which is what 6 alone makes too.
    assert made.encode_input(made.decode({"value": 3, "scale": 2})) == {"value": 6}
    with pytest.raises(EncodeError, match="seed"):
        tool_input(Seeded).encode_input(Seeded(1))


@dataclass
class Counted:
    value: int
    start: InitVar[int] = 1
    total: int = field(init=False)

    def __post_init__(self, start: int) -> None:
        self.total = start + self.value


def test_an_init_var_that_the_instance_depends_on():
    made = tool_input(Counted)
    assert made.encode_input(made.decode({"value": 3})) == {"value": 3}
    with pytest.raises(ToolError, match="InitVar"):
        made.encode_input(made.decode({"value": 3, "start": 2}))
