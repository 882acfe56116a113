"""The random documents that judge comparisons have everything that the reader of foreign documents knows."""

from __future__ import annotations

import ast
import inspect
import random
from typing import Any

import pytest
from patience import assert_linear
from schema_edits import Documents, places_in

from operator_schema.engine import KEYWORDS
from operator_schema.schema import document_reader
from operator_schema.workbench.compare import Snapshot, compare, read_snapshot

NEVER_DRAWN = {
    "dependencies": "validators of draft 2020-12 pass over it",
    "additionalItems": "validators of draft 2020-12 pass over it",
    "$dynamicRef": "it leads to an anchor, which no graph follows",
    "$recursiveRef": "validators of draft 2020-12 pass over it",
    "discriminator": "it is no keyword of JSON Schema",
    "nullable": "it is no keyword of JSON Schema",
}
"""Keywords that no document has, and why."""

NOTES_NEVER_DRAWN = {
    "its alternatives can't be told apart": "of a whole document; of a part it is drawn",
    "what it says of keys and values in general isn't checked": "arguments always have properties",
    "the document is too large, or nests too deep": "no judge reads it in time",
    "it isn't a type of JSON": "no judge reads such a document",
    "it isn't a schema": "no judge reads such a document",
    "it isn't a list of schemas": "no judge reads such a document",
    "it isn't an object of schemas": "no judge reads such a document",
    "it isn't a list of keys": "no judge reads such a document",
    "it refers to another document, or to nothing": "no judge can follow it",
    "it leads back to itself": "judges never end",
    "propertyNames": "keys are texts, so that all that fits is one of the two kinds that are read",
}
"""What is noted of documents that can't be judged, and why."""


@pytest.fixture(scope="module")
def drawn() -> list[dict[str, Any]]:
    documents = Documents(random.Random(1))  # noqa: S311  # a sample that can be drawn again
    return [documents.arguments() for _ in range(3000)]


@pytest.fixture(scope="module")
def readings(drawn) -> list[Any]:
    return [document_reader.read_document(document, "document") for document in drawn[:1500]]


def test_every_keyword_about_values_is_drawn(drawn):
    known = {name for name, row in KEYWORDS.items() if row.says in ("values", "beside")}
    used = {name for document in drawn for place in places_in(document) for name in place}
    assert known - used == NEVER_DRAWN.keys()


def test_every_kind_of_node_is_drawn(readings):
    texts = [repr(reading.graph) for reading in readings[:200]]
    kinds = {name for name in KINDS if any(f"{name}(" in text for text in texts)}
    assert kinds == set(KINDS)


KINDS = (
    "AnyNode",
    "ArrayNode",
    "LeafNode",
    "LiteralNode",
    "MapNode",
    "ObjectNode",
    "RefNode",
    "ScalarNode",
    "TupleNode",
    "UnionNode",
)


def reasons() -> set[str]:
    """List all that the reader may note, as its source has it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(document_reader))):
        is_note = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("note", "_note_all")
        if is_note:
            texts = [each.value for each in ast.walk(node.args[-1]) if isinstance(each, ast.Constant)]
            found |= {text for text in texts if isinstance(text, str) and " " in text.strip()}
    return found


def test_everything_that_is_noted_is_drawn(readings):
    notes = {note.message for reading in readings for note in reading.left}
    missing = {reason for reason in reasons() if not any(reason in note for note in notes)}
    assert missing <= NOTES_NEVER_DRAWN.keys()
    assert "its alternatives can't be told apart" in notes


def test_the_time_grows_with_the_number_of_tools():
    documents = Documents(random.Random(2))  # noqa: S311  # a sample that can be drawn again
    schemas = [documents.arguments() for _ in range(10)]
    edited = [documents.edited(schema) for schema in schemas]

    def versions(times: int) -> list[Snapshot]:
        return [
            read_snapshot(
                {"tools": [{"name": f"t{i}", "input_schema": each} for i, each in enumerate(sample * times)]}
            )
            for sample in (schemas, edited)
        ]

    assert_linear(lambda both: compare(*both), 1, setup=versions, slack=4)
