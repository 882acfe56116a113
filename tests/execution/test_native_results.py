"""Results that are native to the program which runs the calls: they are handed over untouched."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass, field
from typing import Any

import pytest
from executor_samples import both, one

from operator_schema import Executor, tool

pytestmark = pytest.mark.needs_threads


@dataclass
class Block:
    """A content object of a host; its fields have a JSON form."""

    data: list[int] = field(default_factory=list)


class Picture(Block):
    pass


class Marked(ABC):  # noqa: B024  # classes are registered with it
    pass


@Marked.register
class Virtual:
    pass


class Disguised:
    """It says that it is a block."""

    __class__ = Block  # type: ignore[assignment]


class Hostile(type):
    def __getattribute__(cls, name):
        raise RuntimeError

    def __hash__(cls):
        raise RuntimeError

    def __eq__(cls, other):
        raise RuntimeError


def hostile_class():  # pytest would read it in the module
    return Hostile("Unreadable", (), {})


def giving(value, is_async=False):
    if is_async:

        @tool
        async def work() -> Any:
            return value

        return work

    @tool
    def work() -> Any:
        return value

    return work


@both
@pytest.mark.parametrize(
    ("make", "content"),
    [
        (Block, "[native result: Block]"),
        (Picture, "[native result: Picture]"),
        (lambda: ["a", Block(), "b", Picture()], "[native result: str, Block, Picture]"),
        (lambda: (Block(), 1), "[native result: Block, int]"),
    ],
)
def test_a_native_result_is_untouched(caplog, is_async, make, content):
    value = make()
    result = one(giving(value, is_async), native_results=(Block,))
    assert result.value is value
    assert (result.content, result.json, result.is_error, result.details) == (content, None, False, None)
    assert [part.text for part in result.parts] == [content]
    assert caplog.records == []


@pytest.mark.parametrize(
    ("value", "json"), [([1, "a"], [1, "a"]), ({"block": Block()}, {"block": {"data": []}}), ("text", "text")]
)
def test_other_results_are_written_as_ever(value, json):
    result = one(giving(value), native_results=(Block,))
    assert (result.json, result.value is value) == (json, True)


@pytest.mark.parametrize("value", [Virtual(), Disguised()], ids=["registered", "disguised"])
def test_what_a_value_or_a_class_says_of_itself_does_not_count(value):
    result = one(giving(value), native_results=(Block, Marked))
    assert (result.code, result.value) == ("execution_failed", None)


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value]], ids=["alone", "in a list"])
def test_a_class_whose_own_code_fails(wrap):
    cls = hostile_class()
    value = wrap(type.__call__(cls))
    assert one(giving(value), native_results=(Block,)).code == "execution_failed"
    assert one(giving(value), native_results=(cls,)).content == "[native result: Unreadable]"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Block, "native_results must be a tuple of classes, not Block"),
        ("Block", 'native_results must be a tuple of classes, not "Block"'),
        (None, "native_results must be a tuple of classes, not None"),
        ((list[int],), "native_results must be a tuple of classes, not "),
        ((object,), "native_results can't take object: such results are written as JSON"),
        ((str,), "native_results can't take str"),
        ((type(None),), "native_results can't take NoneType"),
    ],
)
def test_the_option_is_checked(given, message):
    with pytest.raises(ValueError, match="^" + message):
        Executor([], native_results=given)
