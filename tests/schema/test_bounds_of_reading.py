"""How many schemas of a document are read, and which looks ahead are."""

from __future__ import annotations

from typing import Any

import pytest
from patience import assert_linear

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.schema.document_reader import MAX_SCHEMAS, read_document
from operator_schema.schema.linear_regex import linear_pattern


@pytest.mark.parametrize(("beyond", "is_read"), [(0, True), (1, False)])
def test_so_many_schemas_are_read(beyond: int, is_read: bool) -> None:
    """The document itself is one of them."""
    schema: dict[str, Any] = {f"p{n}": {"type": "null"} for n in range(MAX_SCHEMAS - 1 + beyond)}
    codec = DocumentCodec(SchemaDocument("tool", {"type": "object", "properties": schema}))
    assert (codec.beyond == ()) is is_read
    assert all("too large" in each.message for each in codec.beyond)


def test_many_required_keys_take_linear_time() -> None:
    def of(number: int) -> dict[str, Any]:
        keys = [f"key {n}" for n in range(number)]
        # Not the same objects: that two texts are one is seen at once.
        properties: dict[str, Any] = {key: {} for key in keys}
        return {"type": "object", "properties": properties, "required": [*map("".join, keys)]}

    def read(schema: dict[str, Any]) -> None:
        fields = read_document(schema, "tool").graph.resolve_root().fields
        assert len(fields) == len(schema["required"])

    assert_linear(read, 500, times=16, setup=of)


@pytest.mark.parametrize(
    "expression", ["^a(?=b)c", "^a(?=b)", "^(?=a)a(?!b)", "^(?!a)b(?=c)c", "a(?=b)", "(?=a)b", "^(a(?=b))"]
)
def test_a_look_ahead_behind_something_else_is_not_taken_for_a_leading_one(expression: str) -> None:
    assert linear_pattern(expression) is None
