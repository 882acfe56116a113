"""Results that are longer than a model should read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from operator_schema import CallError, Executor, Image, RawCall, SchemaError, Text, Toolset, tool

pytestmark = pytest.mark.needs_threads

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@tool
def say(times: int) -> str:
    """Say a lot."""
    return "x" * times


@tool
async def listing(times: int) -> list[int]:
    """List a lot."""
    return list(range(times))


@tool
def mixed(times: int) -> Any:
    """Show and say."""
    return [Text("a" * times), Image.from_bytes(PNG), Text("b" * times)]


@tool
def fail(times: int) -> str:
    """Fail in many words."""
    raise CallError("no" * times)


def run(tested, times, **options):
    return Executor([tested], **options).execute_sync(RawCall("1", tested.name, {"times": times}))


@pytest.mark.parametrize("tested", [say, listing, mixed, fail], ids=lambda one: one.name)
def test_a_long_result_is_cut_with_a_sentence(tested, caplog):
    result = run(tested, 5000, max_content=1000)
    assert len(result.content) == 1000
    assert "[cut: the whole result has " in result.content[-80:]
    assert result.content.endswith(" characters; ask for less of it]")
    assert result.details["characters"] >= 5000
    assert result.json is None
    assert "the model reads 1,000" in caplog.text
    assert result.is_error == (tested is fail)


def test_the_value_stays_whole_for_the_program():
    assert run(listing, 5000, max_content=1000).value == list(range(5000))


def test_a_result_of_just_the_limit_is_whole():
    for times, is_cut in [(999, False), (1000, False), (1001, True)]:
        result = run(say, times, max_content=1000)
        assert len(result.content) == min(times, 1000)
        assert ("[cut: " in result.content) == is_cut
        assert (result.json is None) == is_cut


def test_of_parts_texts_are_cut_and_images_stay():
    result = run(mixed, 900, max_content=1000)
    kinds = [type(part).__name__ for part in result.parts]
    assert kinds == ["Text", "Image", "Text", "Text"]
    assert sum(len(part.text) for part in result.parts if isinstance(part, Text)) <= 1000
    assert result.parts[-1].text.endswith("ask for less of it]")


def test_the_limit_of_a_tool_wins():
    assert len(run(say.with_(max_content=300), 5000, max_content=1000).content) == 300
    assert len(run(say.with_(max_content=math.inf), 5000, max_content=1000).content) == 5000
    assert len(run(tool(max_content=400)(say.__wrapped__), 5000).content) == 400


def test_without_a_word_the_limit_is_generous_and_none_means_no_limit():
    assert len(run(say, 200_000).content) == 200_000
    assert len(run(say, 200_001).content) == 200_000
    assert len(run(say, 1_300_000, max_content=None).content) == 1_300_000


def test_a_round_has_the_limit_too():
    sent = Toolset(say).round([RawCall("1", "say", {"times": 5000})])
    plan = Executor([say], max_content=1000).execute_round_sync(sent)
    assert len(plan.handled[0].result.content) == 1000


@pytest.mark.parametrize("limit", [0, 199, -1, "many", True, 1.5])
def test_the_option_of_a_tool_is_checked(limit):
    with pytest.raises(SchemaError, match=r"max_content is .*, not an integer of at least 200"):
        tool(max_content=limit)(say.__wrapped__)
