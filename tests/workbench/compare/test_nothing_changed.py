"""A comparison says "nothing changed" only of two equal texts: whatever else differs is a line of its own."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from schema_edits import Documents

from operator_schema.json_values import copy_json
from operator_schema.sameness import same_text
from operator_schema.workbench.compare import Snapshot, ToolSnapshot, compare, read_snapshot

HISTORIES = Path(__file__).parent / "histories"
NEWEST = [max(folder.glob("*.json")) for folder in sorted(HISTORIES.iterdir()) if folder.is_dir()]
TOOLS = [tool for path in NEWEST for tool in read_snapshot(json.loads(path.read_text())).tools]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """List the places of all keys and items in JSON values."""
    pairs = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def other(value: Any, chance: random.Random) -> Any:
    """Return another value of the same JSON type, as far as there is one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value}!"
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, list):
        return value[::-1] if value[::-1] != value else [*value, "more"]
    if isinstance(value, dict):
        return {**value, chance.choice(["title", "examples", "x-more", "deprecated"]): ["more"]}
    return "null"


def changed(data: dict[str, Any], path: tuple[Any, ...], chance: random.Random) -> dict[str, Any]:
    """Return JSON values with another one at a place, or without it."""
    copy = copy_json(data)
    around = copy
    for key in path[:-1]:
        around = around[key]
    if isinstance(around, dict) and chance.random() < 0.3:
        del around[path[-1]]
    else:
        around[path[-1]] = other(around[path[-1]], chance)
    return copy


PARTS = ("input_schema", "output_schema")
SEED = 1
SHARE = 20
"""Of so many places one is changed, in each run another one for each tool."""


def edits(tool: ToolSnapshot) -> Iterator[tuple[tuple[Any, ...], ToolSnapshot]]:
    chance = random.Random(SEED)  # noqa: S311  # a sample that can be drawn again
    data = {part: getattr(tool, part) for part in PARTS if getattr(tool, part) is not None}
    for path in places(data):
        is_edited = len(path) > 1 and path != ("input_schema", "type")  # arguments are objects
        if is_edited and chance.random() < settings().max_examples / 50 / SHARE:
            yield path, tool.replace(**changed(data, path, chance))


def test_one_changed_keyword_of_a_recorded_tool_is_said():
    silent = [
        (tool.name, path)
        for tool in TOOLS
        for path, new in edits(tool)
        if not compare(Snapshot([tool]), Snapshot([new])).changes
    ]
    assert silent == []


def test_an_edit_of_a_generated_document_is_said():
    documents = Documents(random.Random(SEED))  # noqa: S311  # as above
    for _ in range(settings().max_examples):
        old = documents.arguments()
        new = documents.edited(old)
        sides = [Snapshot([ToolSnapshot("t", "", each, None, {})]) for each in (old, new)]
        is_same = same_text(old) == same_text(new)
        assert (compare(*sides).changes == ()) is is_same


def nested(inside: dict[str, Any]) -> list[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Return schemas with another one in them, each with the place of its values."""
    return [
        ((), inside),
        ((), {"anyOf": [inside, {"type": "null"}]}),
        ((), {"oneOf": [{"type": "null"}, {"allOf": [inside]}]}),
        ((), {"if": {"type": "string"}, "then": inside}),
        (("*",), {"type": "array", "items": inside}),
        ((0,), {"type": "array", "prefixItems": [inside]}),
        (("*",), {"type": "object", "additionalProperties": inside}),
        (("key",), {"type": "object", "properties": {"key": {"anyOf": [{"type": "null"}, inside]}}}),
    ]


@pytest.mark.parametrize("side", PARTS)
@pytest.mark.parametrize("outer", range(8))
@pytest.mark.parametrize(
    ("keyword", "level"),
    [
        ("description", "text"),
        ("default", "meaning"),
        ("title", "text"),
        ("examples", "text"),
        ("x-of", "text"),
    ],
)
def test_a_note_is_said_at_its_place_wherever_it_stands(keyword, level, outer, side):
    for inner in range(8):
        said = []
        for text in ("a", "b"):
            path, schema = nested({"type": "string", keyword: [text] if keyword == "examples" else text})[
                inner
            ]
            around, whole = nested(schema)[outer]
            document = {"type": "object", "properties": {"p": whole}}
            said.append(
                Snapshot([ToolSnapshot("t", "", {"type": "object"}, None, {}).replace(**{side: document})])
            )
        found = [(change.level, change.path) for change in compare(*said).changes]
        assert found == [(level, ("p", *around, *path))]
