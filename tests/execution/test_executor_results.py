"""What a call gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
from executor_samples import Db, add, greet, one, ping, say

from operator_schema import skip, tool
from operator_schema.types import RawArguments

pytestmark = pytest.mark.needs_threads


"""Seconds after which a call that takes too long is ended here."""


def test_a_result_is_text_or_compact_json():
    assert one(add, {"x": 2}).content == "3"
    assert one(say, {"text": 'a "b"\n'}).content == 'a "b"\n'
    result = one(greet, '{"name": "Ada"}', {Db: Db()})
    assert result.content == '{"hello":"Ada"}'
    assert (result.call_id, result.name) == ("c1", "greet")
    assert (result.is_error, result.code, result.details) == (False, None, None)


def test_the_context_reaches_sync_and_async_tools_and_the_function_is_still_one():
    db = Db()

    @tool
    def store(name: str, db: Annotated[Db, skip]) -> int:
        db.rows.append(name)
        return len(db.rows)

    assert one(greet, {"name": "a"}, {Db: db}).content == '{"hello":"a"}'
    assert one(store, {"name": "b"}, {"db": db}).content == "2"
    assert db.rows == ["a", "b"]
    assert store("c", db) == 3
    assert add(1) == 2


@pytest.mark.parametrize("blank", [None, "", "  \n", b"", {}, "{}"])
def test_a_call_without_arguments(blank):
    assert one(ping, blank).content == "pong"


def test_a_tool_may_take_its_arguments_raw():
    @tool
    def legacy(arguments: RawArguments) -> int:
        return arguments.require("count", int) * (arguments.optional("times", int) or 1)

    assert one(legacy, {"count": 3, "times": 2}).content == "6"
    missing = one(legacy, {"cuont": 3})
    assert missing.code == "invalid_params"
    assert "Missing argument 'count' for tool 'legacy'" in missing.content
    assert one(legacy, {"count": "3"}).code == "invalid_params"


def test_repair_defaults_validate_run():
    seen = []

    @dataclass
    class Pattern:
        count: int

    @tool(repair=True, namespace={"Pattern": Pattern})
    def read(
        path: str,
        start_line: int,
        enabled: bool,
        string_or_integer: str | int,
        patterns: list[Pattern],
        end_line: int = 9,
    ) -> None:
        seen.append((path, start_line, enabled, string_or_integer, patterns, end_line))

    text = (
        '{"path":"README.md","start_line":"1","enabled":"true","string_or_integer":"3",'
        '"patterns":"[{\\"count\\":\\"2\\"}]"}'
    )
    assert one(read, text).content == "null"
    assert seen == [("README.md", 1, True, "3", [Pattern(2)], 9)]
    assert one(read, text.replace('"1"', '"one"')).code == "invalid_params"
    assert len(seen) == 1  # what is refused does not run
