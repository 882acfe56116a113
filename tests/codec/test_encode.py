"""Encode: the inverse of decode, and clear about what does not fit."""

from __future__ import annotations

import enum
import json
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

import pytest

from operator_schema import Codec, EncodeError, SchemaError, SchemaLeaf, encode, encode_json
from operator_schema.codec.encode import encode_node
from operator_schema.codec.problems import INVALID


class Suit(enum.Enum):
    HEARTS = "hearts"
    SPADES = "spades"


@dataclass
class Card:
    suit: Suit
    rank: int = field(metadata={"alias": "Rank"})
    note: str | None = None
    limit: int | None = 10
    tags: list[str] = field(default_factory=list)
    table: dict[str, float] = field(default_factory=dict)
    kind: Literal["a", 1] = "a"
    anything: Any = None


def test_an_instance():
    card = Card(Suit.HEARTS, 3, None, None, ["x"], {"k": 1}, 1, (Suit.SPADES, {"at": UUID(int=1)}))
    encoded = encode(card)
    assert encoded == {
        "suit": "hearts",
        "Rank": 3,
        "limit": None,
        "tags": ["x"],
        "table": {"k": 1.0},
        "kind": 1,
        "anything": ["spades", {"at": "00000000-0000-0000-0000-000000000001"}],
    }
    assert json.loads(json.dumps(encoded)) == encoded
    encoded["tags"].append("y")
    assert card.tags == ["x"]


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (1.5, 1.5),
        ("x", "x"),
        ([1, (2, 3)], [1, [2, 3]]),
        ({"a": {"b": Suit.HEARTS}}, {"a": {"b": "hearts"}}),
        (Suit.SPADES, "spades"),
        (datetime(2026, 1, 31, tzinfo=UTC), "2026-01-31T00:00:00+00:00"),
        (type("Name", (str,), {})("x"), "x"),
        (type("Number", (int,), {})(3), 3),
        (type("Real", (float,), {})(0.5), 0.5),
        (type("Items", (list,), {})([1]), [1]),
    ],
)
def test_any_value_goes_by_what_it_is(value, encoded):
    made = encode(value)
    assert made == encoded
    assert type(made) is type(encoded)


@pytest.mark.parametrize(
    ("card", "problems"),
    [
        (Card("hearts", 3), [(("suit",), "wrong_type")]),
        (Card(Suit.HEARTS, "3"), [(("Rank",), "wrong_type")]),
        (Card(Suit.HEARTS, True), [(("Rank",), "wrong_type")]),
        (Card(Suit.HEARTS, 1, 5), [(("note",), "wrong_type")]),
        (Card(Suit.HEARTS, 1, tags="abc"), [(("tags",), "wrong_type")]),
        (Card(Suit.HEARTS, 1, tags=["a", 1, 2]), [(("tags", 1), "wrong_type"), (("tags", 2), "wrong_type")]),
        (Card(Suit.HEARTS, 1, table={"a": float("nan")}), [(("table", "a"), "out_of_range")]),
        (Card(Suit.HEARTS, 1, table={1: 1.0}), [(("table", "1"), "wrong_type")]),
        (Card(Suit.HEARTS, 1, table=[1]), [(("table",), "wrong_type")]),
        (Card(Suit.HEARTS, 1, kind=True), [(("kind",), "not_one_of")]),
        (Card(Suit.HEARTS, 1, anything=object()), [(("anything",), "wrong_type")]),
        (Card(Suit.HEARTS, 1, anything=[threading.Lock()]), [(("anything", 0), "wrong_type")]),
        (Card(Suit.HEARTS, 1, anything=float("inf")), [(("anything",), "out_of_range")]),
    ],
)
def test_what_does_not_fit_is_named(card, problems):
    with pytest.raises(EncodeError) as caught:
        encode(card)
    assert [(p.path, p.code) for p in caught.value.findings] == problems
    assert str(caught.value).startswith("Card: ")
    assert "with the value" in str(caught.value)


def test_an_integer_past_the_limit():
    with pytest.raises(EncodeError) as caught:
        encode(Card(Suit.HEARTS, 10**5000))
    assert caught.value.findings[0].code == "too_large"


def test_an_attribute_that_is_gone():
    card = Card(Suit.HEARTS, 1)
    del card.rank
    with pytest.raises(EncodeError) as caught:
        encode(card)
    assert [(p.path, p.code) for p in caught.value.findings] == [(("Rank",), "missing")]


def test_another_class_is_refused_and_a_subclass_goes():
    class Better(Card):
        pass

    assert Codec(Card).encode(Better(Suit.HEARTS, 1))["Rank"] == 1
    with pytest.raises(EncodeError, match="expected Card, got object"):
        Codec(Card).encode({"suit": "hearts"})


@dataclass
class Ring:
    next: Ring | None = None
    many: list[Ring] = field(default_factory=list)
    table: dict[str, Ring] = field(default_factory=dict)
    anything: Any = None


@pytest.mark.parametrize("how", ["next", "many", "table", "anything"])
def test_an_instance_that_contains_itself(how):
    ring = Ring()
    setattr(ring, how, {"next": ring, "many": [ring], "table": {"k": ring}, "anything": ring}[how])
    for codec in (Codec(Ring), Codec(Ring, max_depth=10**6)):
        with pytest.raises(EncodeError) as caught:
            codec.encode(ring)
        assert caught.value.findings[0].code == "too_deep"


def test_a_bug_in_a_leaf_is_not_swallowed():
    from operator_schema import SchemaLeaf

    ready = []

    class Odd:
        pass

    def encode_odd(_):
        if ready:
            raise ready[0]
        return "x"

    codec = Codec(Any)
    leaf = SchemaLeaf(Odd, {"type": "string"}, lambda _: Odd(), encode_odd, Odd())
    Odd.__schema_leaf__ = leaf
    for bug in (KeyError(), RecursionError()):
        ready[:] = [bug]
        with pytest.raises(type(bug)):
            codec.encode([Odd()])
        with pytest.raises(type(bug)):
            Codec(Odd).encode(Odd())
    ready[:] = [ValueError("no")]
    with pytest.raises(EncodeError, match="no"):
        codec.encode([Odd()])


def test_a_dataclass_that_cannot_be_registered():
    @dataclass
    class Wrong:
        a: complex

    with pytest.raises(SchemaError):
        encode(Wrong(1j))
    with pytest.raises(SchemaError):
        encode([Wrong(1j)])


class Name(str):
    __slots__ = ()


NAME = SchemaLeaf(Name, {"type": "string"}, Name, lambda name: name.lower(), placeholder=Name("a"))


@pytest.mark.parametrize("is_compiled", [False, True])
def test_keys_that_are_written_alike_are_not_lost(is_compiled):
    codec = Codec(dict[Name, int], leaves=[NAME])
    codec = codec.compile() if is_compiled else codec
    assert codec.encode({Name("A"): 1, Name("b"): 2}) == {"a": 1, "b": 2}
    with pytest.raises(EncodeError) as caught:
        codec.encode({Name("a"): 1, Name("A"): 2})
    assert [(p.path, p.code) for p in caught.value.findings] == [(("a",), "duplicate")]


def test_json_text_is_compact_and_keeps_characters():
    card = Card(Suit.HEARTS, 3, "größer 🂱", tags=["x"], table={"k": 0.5}, anything=2**64)
    assert encode_json(card) == Codec(Card).encode_json(card)
    assert encode_json(card).startswith('{"suit":"hearts","Rank":3,"note":"größer 🂱"')
    assert json.loads(encode_json(card)) == encode(card)
    assert [encode_json(value) for value in ("a\n", 1.5, None, [1, (2, 3)], {"a": True})] == [
        '"a\\n"',
        "1.5",
        "null",
        "[1,[2,3]]",
        '{"a":true}',
    ]


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), "\ud800", {"\ud800": 1}, object()])
def test_what_is_no_json_has_no_text(value):
    with pytest.raises(EncodeError):
        encode_json(value)
    with pytest.raises(EncodeError):
        Codec(list[Any]).encode_json([value])


def test_an_integer_of_thousands_of_digits_has_no_text():
    assert encode_json(10**4000) == "1" + "0" * 4000
    with pytest.raises(EncodeError):
        encode_json(10**5000)


def test_an_instance_is_followed_down_to_the_last_level():
    codec = Codec(Any, max_depth=2)
    assert codec.encode([[1]]) == [[1]]
    with pytest.raises(EncodeError) as caught:
        codec.encode([[[1]]])
    assert [(problem.path, problem.code) for problem in caught.value.findings] == [((0, 0), "too_deep")]


def test_each_key_of_a_closed_typed_dict_is_looked_up_once():
    class Fields(tuple):
        __slots__ = ()
        reads = 0

        def __iter__(self):
            Fields.reads += 1
            return tuple.__iter__(self)

    closed = TypedDict("closed", {f"key {n}": int for n in range(100)})  # type: ignore[misc]
    root = Codec(closed, unknown_fields="reject").graph.root
    encoded, problems = encode_node(
        root.replace(fields=Fields(root.fields)), {}, {f"key {n}": n for n in range(101)}, 100, lambda _: None
    )
    assert encoded is INVALID
    assert [problem.path for problem in problems.found] == [("key 100",)]
    assert Fields.reads <= 10


def test_items_of_a_set_without_an_order_of_their_own_are_in_that_of_their_texts():
    assert Codec(set[tuple[int, int]]).encode({(2, 1), (1, 2)}) == [[1, 2], [2, 1]]
