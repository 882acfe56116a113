"""A tool that is made inside a function keeps alive only what its annotations still mention."""

from __future__ import annotations

import gc
import sys
import types
import weakref

import pytest

from operator_schema import tool, tool_input

FUTURE = "from __future__ import annotations\n"


class Handle:
    """Something that should be freed, such as a connection."""


def run(code, *, future):
    """Run the text of a module, which makes `result`."""
    module = types.ModuleType("made_in_a_function")
    module.Handle, module.tool, module.tool_input, module.weakref = Handle, tool, tool_input, weakref
    source = (FUTURE if future else "") + code
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, "made_in_a_function", "exec", dont_inherit=True), vars(module))  # noqa: S102  # our own text
    finally:
        del sys.modules[module.__name__]
    gc.collect()
    return module.result


CLOSURE = """
def make():
    handle = Handle()
    @tool
    def greet(name: str, times: int | None = None) -> str:
        return name
    return greet, weakref.ref(handle)
result = make()
"""

LOCAL_TYPES = """
from dataclasses import dataclass
def make():
    handle = Handle()
    @dataclass
    class Point:
        x: int
    @tool
    def move(to: list[Point], at: Point | None = None) -> list[Point]:
        return to
    return move, weakref.ref(handle)
result = make()
"""

FORWARD_REFERENCES = """
from dataclasses import dataclass
def make():
    handle = Handle()
    @dataclass
    class Point:
        x: int
    @tool
    def move(to: list["Point"], at: "Point | None" = None) -> dict[str, "Point"]:
        return {"a": to[0]}
    return move, weakref.ref(handle)
result = make()
"""

METHOD = """
def make():
    handle = Handle()
    class Service:
        @tool
        def find(self, x: int) -> int:
            return x
    return Service.find, weakref.ref(handle)
result = make()
"""

NESTED = """
def make():
    def inner():
        @tool(tags=["a"])
        def find(x: int) -> int:
            return x
        return find
    handle = Handle()
    return inner(), weakref.ref(handle)
result = make()
"""

INPUT = """
from dataclasses import dataclass
def make():
    handle = Handle()
    @tool_input(output=int)
    @dataclass
    class Ask:
        x: int
    return Ask, weakref.ref(handle)
result = make()
"""

UNKNOWN_RESULT = """
def make():
    handle = Handle()
    @tool
    def find(x: int) -> "Later":
        return x
    return find, weakref.ref(handle)
result = make()
"""

CASES = {
    "closure": CLOSURE,
    "local types": LOCAL_TYPES,
    "forward references": FORWARD_REFERENCES,
    "method": METHOD,
    "nested functions": NESTED,
    "tool_input": INPUT,
    "result type that is not known yet": UNKNOWN_RESULT,
}


@pytest.mark.slow("collects garbage many times")
@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_other_locals_are_freed(code, future):
    made, handle = run(code, future=future)
    assert made.name
    assert handle() is None


@pytest.mark.parametrize("future", [False, True])
def test_local_types_are_still_known(future):
    move, _ = run(LOCAL_TYPES, future=future)
    assert move.run({"to": [{"x": 1}]}) == '[{"x":1}]'
    move, _ = run(FORWARD_REFERENCES, future=future)
    assert move.run({"to": [{"x": 1}]}) == '{"a":{"x":1}}'
    assert move.input_type(to=[]).at is None


TEXT_OF_TEXT = """
from dataclasses import dataclass
def make():
    handle = Handle()
    @dataclass
    class Row:
        x: int
    Rows = list["Row"]
    Alias = "Rows"
    @tool
    def count(x: int) -> "Alias":
        return [Row(x)]
    return count, weakref.ref(handle)
result = make()
"""


def test_text_may_mean_text_again():
    count, handle = run(TEXT_OF_TEXT, future=False)
    assert handle() is None
    assert count.run({"x": 1}) == '[{"x":1}]'
    assert count.output_schema()["items"]["properties"] == {"x": {"type": "integer"}}


def test_a_closure_keeps_what_it_uses():
    def make():
        handle = Handle()

        @tool
        def use(x: int) -> str:
            return type(handle).__name__

        return use, weakref.ref(handle)

    use, handle = make()
    gc.collect()
    assert handle() is not None
    assert use.run({"x": 1}) == "Handle"
