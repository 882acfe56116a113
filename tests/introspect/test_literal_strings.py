"""`LiteralString` is a string: which ones are literals, only a type checker knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, LiteralString

import pytest
import typing_extensions

from operator_schema import Codec, DecodeError


@dataclass
class Query:
    sql: LiteralString
    tags: list[LiteralString]
    note: Annotated[LiteralString, "What for"] | None = None


def test_it_is_a_string_wherever_it_stands():
    codec = Codec(Query)
    properties = codec.json_schema()["properties"]
    assert properties["sql"] == {"type": "string"}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["note"] == {"type": "string", "description": "What for"}
    query = codec.decode({"sql": "select 1", "tags": ["a"]})
    assert codec.encode(query) == {"sql": "select 1", "tags": ["a"]}
    with pytest.raises(DecodeError):
        codec.decode({"sql": 1, "tags": []})


def test_that_of_typing_extensions_is_the_same():
    assert Codec(typing_extensions.LiteralString).graph == Codec(str).graph
