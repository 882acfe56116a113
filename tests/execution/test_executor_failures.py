"""Calls that fail, and what the model reads."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from executor_samples import Db, add, both, greet, one, raising, say

from operator_schema import (
    CallError,
    DecodeError,
    Executor,
    RawCall,
    Registry,
    describe_tools,
    tool,
    tool_input,
)
from operator_schema.errors import MissingContextError, ToolError, ToolNotFoundError

pytestmark = pytest.mark.needs_threads


def test_no_such_tool():
    result = asyncio.run(Executor([add, say]).run(RawCall("1", "ad", {})))
    assert (result.code, result.is_error) == ("tool_not_found", True)
    assert result.content == 'tool "ad" not found; did you mean "add"?'
    assert isinstance(result.details["exception"], ToolNotFoundError)
    result = asyncio.run(Executor([add, say]).run(RawCall("1", "teleport" + "y" * 10**5, {})))
    assert result.content.endswith('" not found; the tools are "add", "say"')
    assert len(result.content) < 300
    assert asyncio.run(Executor([]).run(RawCall("1", "x", {}))).content.endswith("there are no tools")


def test_arguments_that_do_not_fit():
    result = one(add, {"x": "two", "z": 3})
    assert result.code == "invalid_params"
    assert result.content.startswith("add: 1 problem with the arguments\n- x: expected integer, got string")
    assert result.details["findings"][0]["path"] == "x"
    assert result.details["error"] == "DecodeError"
    assert isinstance(result.details["exception"], DecodeError)
    assert one(add, ["x"]).code == one(add, 5).code == "invalid_params"


@pytest.mark.parametrize(("text", "where"), [('{"x": 1', "column 8"), ('{\n"x" 1}', "line 2 column 5")])
def test_bad_json_has_its_position(text, where):
    result = one(add, text)
    assert result.code == "invalid_params"
    assert "not valid JSON" in result.content
    assert where in result.content


def test_a_registry_that_describes_points_there():
    registry = Registry([add.with_(description="Add two numbers. It can also add negative ones.")])
    registry.register(describe_tools(registry))
    results = asyncio.run(
        Executor(registry).run([RawCall("1", "add", {}), RawCall("2", "describe_tools", {"tools": ["add"]})])
    )
    assert 'call describe_tools with {"tools": ["add"]}' in results[0].content
    assert "It can also add negative ones." in results[1].content


def test_a_tool_that_is_off_says_so():
    registry = Registry([add, say])
    registry.switch(add, enabled=False)
    calls = [RawCall("1", "add", {"x": 1}), RawCall("2", "say", {"text": "a"})]
    off, on = asyncio.run(Executor(registry).run(calls))
    assert (off.code, off.is_error) == ("disabled", True)
    assert off.content == 'tool "add" is disabled: it can\'t be called now'
    assert on.content == "a"
    registry.switch(add, enabled=None)
    assert asyncio.run(Executor(registry).run(calls[0])).content == "2"


def test_a_switch_that_fails_is_a_result():
    asked = []

    def broken() -> bool:
        asked.append(1)
        if len(asked) < 3:
            return True
        raise ZeroDivisionError("secret")

    executor = Executor([add.with_(enabled=broken)])
    for name, code in (
        ("add", None),
        ("add", None),
        ("nothing", "tool_not_found"),
        ("add", "execution_failed"),
    ):
        result = asyncio.run(executor.run(RawCall("1", name, {"x": 1})))
        assert result.code == code
        assert "secret" not in result.content


@both
def test_what_a_function_raises_is_told(is_async):
    error = ValueError("no such user: 5\x1b")
    result = one(raising(error, is_async), {}, show_errors="message")
    assert (result.code, result.is_error) == ("execution_failed", True)
    assert result.content == "work failed: ValueError: no such user: 5\\u001b"
    assert result.details["exception"] is error
    assert "Traceback" not in result.content


@both
@pytest.mark.parametrize(
    ("show", "content"),
    [("type", "work failed: ValueError"), ("message", "work failed: ValueError: secret")],
)
def test_the_host_says_how_much_is_told(is_async, show, content):
    assert one(raising(ValueError("secret"), is_async), {}, show_errors=show).content == content


def test_a_traceback_is_told_when_asked_for():
    result = one(raising(ValueError("no")), {}, show_errors="traceback")
    assert result.content.startswith("work failed: ValueError: no\n\nTraceback")
    assert "raise error" in result.content
    assert len(one(raising(ValueError("x" * 10**6)), {}, show_errors="traceback").content) < 12_000


@both
@pytest.mark.parametrize("show", ["type", "message", "traceback"])
def test_a_call_error_is_for_the_model(is_async, show):
    error = CallError("There is no user 5.\nAsk for the user id.")
    result = one(raising(error, is_async), {}, show_errors=show)
    assert result.content == "There is no user 5.\nAsk for the user id."
    assert (result.code, result.details) == ("execution_failed", {"exception": error})


class MuteCallError(CallError):
    def __init__(self):
        pass


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ExceptionGroup("g", [CallError("one"), ExceptionGroup("h", [CallError("two")])]), "one\ntwo"),
        (
            ExceptionGroup("g", [CallError("one"), KeyError("k")]),
            "work failed: CallError: one; KeyError: 'k'",
        ),
        (
            ExceptionGroup("g", [KeyError(n) for n in range(9)]),
            "work failed: KeyError: 0; KeyError: 1; KeyError: 2; KeyError: 3; KeyError: 4; … (4 more)",
        ),
        (StopIteration(5), "work failed: StopIteration: 5"),
        (MuteCallError(), "MuteCallError"),
        (RecursionError(), "work failed: RecursionError"),
        (MemoryError(), "work failed: MemoryError"),
        (TimeoutError("from the database"), "work failed: TimeoutError: from the database"),
        (RuntimeError("of its own"), "work failed: RuntimeError: of its own"),
        (DecodeError("other", []), "work failed: DecodeError: other: 0 problems with the arguments"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_exception_has_a_result(error, content):
    result = one(raising(error), {}, show_errors="message")
    assert (result.code, result.content) == ("execution_failed", content)


def test_what_the_host_does_wrong_is_for_the_host():
    result = one(greet, {"name": "Ada"})
    assert result.code == "execution_failed"
    assert result.content == "greet can't be run here; calling it again will not help"
    assert isinstance(result.details["exception"], MissingContextError)

    @tool_input(name="move", description="Move.")
    @dataclass
    class Move:
        to: str

    assert one(Move, {"to": "a1"}).content == "move can't be run here; calling it again will not help"
    assert one(Move, {}).code == "invalid_params"


def test_a_context_that_is_none_is_for_the_host():
    call = RawCall("c", "greet", {"name": "Ada"})
    with pytest.raises(TypeError, match=r"must be a mapping, as in \{Db: db\}, not Db"):
        Executor([greet]).run_sync(call, context=Db())
    with pytest.raises(ToolError, match=r"must map types and names to values, as in \{Db: db\}, not Db"):
        greet.check_context(Db())


def test_what_is_no_call_is_refused_before_any_runs():
    db = Db()
    executor = Executor([greet])
    calls = [RawCall("c", "greet", {"name": "Ada"}), {"id": "d", "name": "greet", "arguments": "{}"}]
    with pytest.raises(
        TypeError, match=r"a call must be a RawCall\(id, name, arguments\), not object \{\"id\""
    ):
        executor.run_sync(calls, context={Db: db})
    with pytest.raises(TypeError, match="a call must be a RawCall"):
        executor.run_sync(("d", "greet", "{}"))
    assert db.rows == []


def test_a_result_that_can_not_be_told():
    @tool
    def wrong() -> int:
        return "five" and object()

    result = one(wrong, {})
    assert result.code == "execution_failed"
    assert (
        result.content == "wrong did its work, but its result can't be shown; calling it again will not help"
    )
    assert result.details["error"] == "EncodeError"
    assert "object" not in result.content


def test_a_bug_in_an_input_class_is_a_failure_of_the_tool():
    @dataclass
    class Point:
        x: int

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("negative")
            raise KeyError("a bug")

    @tool(namespace={"Point": Point})
    def draw(point: Point) -> None: ...

    assert one(draw, {"x": -1}).code == "invalid_params"
    result = one(draw, {"x": 1}, show_errors="message")
    assert (result.code, result.content) == ("execution_failed", "draw failed: KeyError: 'a bug'")


@both
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, type("Own", (BaseException,), {})])
def test_what_ends_the_program_passes_through(is_async, error):
    executor = Executor([raising(error(), is_async)])

    async def run():
        with pytest.raises(error):
            await executor.run(RawCall("1", "work", {}))
        with pytest.raises(error):
            await executor.run([RawCall("1", "work", {}), RawCall("2", "nothing", {})])
        return "the loop lives"

    assert asyncio.run(run()) == "the loop lives"
    with pytest.raises(error):
        executor.run_sync(RawCall("1", "work", {}))


def test_only_the_type_of_an_exception_is_shown_unless_asked_for():
    assert one(raising(ValueError("secret")), {}).content == "work failed: ValueError"
    group = ExceptionGroup("g", [CallError("ask again"), ValueError("secret")])
    assert one(raising(group), {}).content == "work failed: CallError: ask again; ValueError"
