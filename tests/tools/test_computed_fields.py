"""Fields that a dataclass computes (`init=False`) are part of results, and not of arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from operator_schema import Codec, tool


@dataclass
class Line:
    price: int
    total: int = field(init=False)
    note: str = field(init=False, default="none", metadata={"alias": "remark"})
    kind: ClassVar[str] = "line"

    def __post_init__(self):
        self.total = 2 * self.price


@dataclass
class Order(Line):
    lines: list[Line] = field(default_factory=list)


WRITTEN = '{"price":1,"total":2,"remark":"none"}'


def returning(annotation, value):
    def give(x: int):
        return value

    if annotation is not None:
        give.__annotations__["return"] = annotation
    return tool(give)


@pytest.mark.parametrize(
    ("annotation", "value", "text"),
    [
        (Line, Line(1), WRITTEN),
        (None, Line(1), WRITTEN),
        (Any, Line(1), WRITTEN),
        (None, [Line(1)], f"[{WRITTEN}]"),
        (dict[str, Line], {"a": Line(1)}, f'{{"a":{WRITTEN}}}'),
        (Line | None, Line(1), WRITTEN),
        (Order, Order(1, [Line(1)]), WRITTEN[:-1] + f',"lines":[{WRITTEN}]}}'),
    ],
)
def test_a_result_contains_them(annotation, value, text):
    made = returning(annotation, value)
    for _ in range(300):
        assert made.run({"x": 1}) == text


def test_the_output_schema_contains_them():
    schema = returning(Order, None).output_schema()
    assert list(schema["properties"]) == ["price", "total", "remark", "lines"]
    assert schema["required"] == ["price", "total"]


def test_arguments_do_not():
    assert list(Codec(Line).json_schema()["properties"]) == ["price"]
    assert Codec(Line).encode(Line(1)) == {"price": 1}

    @tool
    def add(line: Line, times: int) -> str:
        return f"{line.total * times}"

    assert add.run({"line": {"price": 2}, "times": 3}) == "12"
