"""The documentation of a tool for people has the fields inside of parameters, that for a model has not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

from operator_schema import tool
from operator_schema.tools import documentation_of


@dataclass
class Line:
    sku: Annotated[str, "The article. As on its label."]
    count: Annotated[int, "How many."] = 1


@dataclass
class Cash:
    kind: Annotated[Literal["cash"], "How."]
    note: str = ""


@dataclass
class Card:
    kind: Annotated[Literal["card"], "How."]
    number: Annotated[str, "Of the card."]


@dataclass
class Node:
    name: Annotated[str, "Of the node."]
    children: list[Node]


HEADINGS = [
    (list[Line], ["p[].sku", "p[].count"]),
    (dict[str, Line], ["p.*.sku", "p.*.count"]),
    (dict[str, list[Line]], ["p.*[].sku", "p.*[].count"]),
    (tuple[Line, int, Cash], ["p[0].sku", "p[0].count", "p[2].kind"]),
    (Line | None, ["p.sku", "p.count"]),
    (Cash | Card, ["p.kind", "p.number"]),
    (list[Cash | Card] | Line, ["p[].kind", "p[].number", "p.sku", "p.count"]),
    (list[Node], ["p[].name"]),
    (int, []),
]


@pytest.mark.parametrize(("annotation", "inside"), HEADINGS)
def test_each_described_field_inside_of_a_parameter_has_a_heading(annotation, inside):
    def send(p, other):
        """Send it."""

    send.__annotations__ = {"p": annotation, "other": Annotated[int, "Another. More."], "return": None}
    headings = [f"#### `{name}`" for name in [*inside, "other"]]
    text = documentation_of(tool(send), with_summaries=True)
    assert [line for line in text.splitlines() if line.startswith("#### ")] == headings
    assert [line for line in documentation_of(tool(send)).splitlines() if line.startswith("#### ")] == [
        "#### `other`"
    ]
