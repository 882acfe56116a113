"""A leaf says itself where it stands among the leaves of a union."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated, Any, Union
from urllib.parse import ParseResult, SplitResult
from uuid import UUID

import pytest

from operator_schema import Codec, SchemaError, SchemaLeaf
from operator_schema.engine import shipped_leaf
from operator_schema.introspect.leaves import LAST_RANK, trusted_leaf


def test_the_leaf_of_a_user_for_a_shipped_type_comes_before_every_shipped_one():
    def decode(text: str) -> datetime:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)

    own = SchemaLeaf(datetime, {"type": "string"}, decode, str, datetime(2026, 1, 31, tzinfo=UTC))
    decoded = Codec(Union[date, Annotated[datetime, own]]).decode("2026-01-31")
    assert decoded == datetime(2026, 1, 31, tzinfo=UTC)
    assert own.rank == 0


def test_a_shipped_leaf_that_is_given_no_rank_comes_last():
    leaf = trusted_leaf(str, {"type": "string"}, str, str, "x")
    assert leaf.rank == LAST_RANK
    assert 0 < shipped_leaf(UUID).rank < shipped_leaf(date).rank < LAST_RANK


def test_leaves_of_one_rank_are_ambiguous_and_others_are_tried_by_rank():
    @dataclass
    class Name:
        text: str

    @dataclass
    class Number:
        text: str

    def digits(text: str) -> Number:
        if not text.isdigit():
            raise ValueError(text)
        return Number(text)

    def leaf(cls: Any, decode: Any, rank: int) -> Any:
        made = SchemaLeaf(cls, {"type": "string"}, decode, lambda value: value.text, cls("1"), rank)
        return Annotated[cls, made]

    with pytest.raises(SchemaError, match="Name and Number"):
        Codec(Union[leaf(Name, Name, 0), leaf(Number, digits, 0)])
    codec = Codec(Union[leaf(Name, Name, 2), leaf(Number, digits, 1)])
    assert [codec.decode("12"), codec.decode("x")] == [Number("12"), Name("x")]


def test_types_that_read_the_same_texts_have_one_rank():
    with pytest.raises(SchemaError, match="SplitResult"):
        Codec(Union[SplitResult, ParseResult])


def test_a_rank_is_an_integer():
    with pytest.raises(SchemaError, match="rank is string, not an integer"):
        SchemaLeaf(str, {"type": "string"}, str, str, "x", "first")
