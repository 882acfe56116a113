"""Draw the two pictures of the first page: a function, what the model gets, sends and reads, and who decides.

What stands in their boxes comes from a run of the tool below; only the two buttons are drawn by hand. One
picture has two columns, and the other has one, for telephones. Run this file to draw them again; it needs
annotated-types.
"""

from __future__ import annotations

import inspect
import json
from html import escape
from pathlib import Path
from textwrap import fill
from typing import Annotated, Literal, NamedTuple

from annotated_types import Gt

from operator_schema import Executor, RawCall, Toolset, skip, tool

FOLDER = Path(__file__).parent


class Shop:
    """What your program gives to the tool, and the model never sees."""

    def pay_back(self, order_id: int, amount: float, reason: str) -> None:
        """Pay back a part of an order."""


@tool(confirm=True)
def refund(
    order_id: int,
    amount: Annotated[float, Gt(0)],
    reason: Literal["damaged", "late"],
    *,
    shop: Annotated[Shop, skip],
) -> str:
    """Pay money back to a customer."""
    shop.pay_back(order_id, amount, reason)
    return f"{amount:.2f} USD are on the way"


WIDE, NARROW = 78, 46
"""Characters in a line of a picture with two columns, and with one."""
WRONG = {"orderId": 7, "amount": "12.50", "reason": "Damage"}
RIGHT = {"order_id": 7, "amount": 12.5, "reason": "damaged"}


class Box(NamedTuple):
    """A part of the picture.

    Attributes:
        title: what it shows.
        lines: the text, monospaced.
        colour: of its edge: `model` for what a model sends and reads, `you` for what is yours.
    """

    title: str
    lines: list[str]
    colour: str


class Run(NamedTuple):
    """What came out of one conversation.

    Attributes:
        refusal: what the model reads after a wrong call.
        question: what the person is asked.
        result: what the model reads at the end.
    """

    refusal: str
    question: str
    result: str


def converse() -> Run:
    """Call the tool wrongly, then rightly, and let a person agree."""
    asked = []

    def ask(call: RawCall) -> bool:
        asked.append(f"{call.name} {json.dumps(call.arguments)}")
        return True

    executor = Executor(Toolset(refund), context={"shop": Shop()}, confirm=ask)
    first, last = (executor.run_sync(RawCall("1", "refund", sent)) for sent in (WRONG, RIGHT))
    return Run(first.content, *asked, last.content)


def schema_lines() -> list[str]:
    """Return the definition with one line for each property."""
    definition = refund.definition()
    schema = definition["input_schema"]
    properties = [f'  "{name}": {json.dumps(value)}' for name, value in schema["properties"].items()]
    return [
        f'"name": "{definition["name"]}", "description": "{definition["description"]}",',
        '"properties": {',
        *[line + "," for line in properties[:-1]],
        properties[-1] + "},",
        f'"required": {json.dumps(schema["required"])}',
    ]


def indent_of(line: str) -> str:
    """Return the spaces that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def wrapped(text: str, longest: int) -> list[str]:
    """Return the lines of a text, of which none is too long for its box."""
    lines = (
        fill(line, longest, subsequent_indent=indent_of(line) + "  ", break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join(lines).split("\n")


def boxes() -> tuple[list[Box], list[Box]]:
    """Return what stands on the left and on the right."""
    run = converse()
    source = inspect.getsource(refund).rstrip().split("\n")
    left = [
        Box("1 You write", source, "you"),
        Box(
            "6 A person decides, now or in three days",
            [run.question, "", "[ approve ]  [ reject ]"],
            "person",
        ),
        Box("7 It runs once, and the model reads", [run.result], "you"),
    ]
    right = [
        Box("2 The model gets", schema_lines(), "model"),
        Box("3 The model sends a wrong call", [json.dumps(WRONG)], "model"),
        Box("4 and reads what to do", wrapped(run.refusal, WIDE), "model"),
        Box("5 so that it sends", [json.dumps(RIGHT)], "model"),
    ]
    return left, right


LINE, TITLE, PADDING, GAP = 18, 28, 12, 14
"""Pixels: the height of a line and of a title, the space inside a box, and between two boxes."""
CHARACTER = 7.3
"""Pixels: the width of a character."""
STYLE = """
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }
.title { font: 600 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
rect { fill: #f6f8fa; stroke-width: 1.5; }
.you { stroke: #0969da; } .model { stroke: #8250df; } .person { stroke: #1a7f37; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  rect { fill: #161b22; }
  .you { stroke: #58a6ff; } .model { stroke: #a371f7; } .person { stroke: #3fb950; }
}
"""


def width_of(column: list[Box]) -> int:
    """Return how wide a column must be, in pixels."""
    longest = max(len(line) for box in column for line in box.lines)
    return round(longest * CHARACTER) + 2 * PADDING


def height_of(box: Box) -> int:
    """Return how high a box is, in pixels."""
    return TITLE + len(box.lines) * LINE + PADDING


def drawn(column: list[Box], x: int, width: int) -> tuple[list[str], int]:
    """Return the elements of a column, and where it ends."""
    elements, y = [], 1
    for box in column:
        elements.append(
            f'<rect class="{box.colour}" x="{x}" y="{y}" width="{width}" height="{height_of(box)}" rx="6"/>'
        )
        elements.append(f'<text class="title" x="{x + PADDING}" y="{y + 20}">{escape(box.title)}</text>')
        for number, line in enumerate(box.lines):
            place = y + TITLE + (number + 1) * LINE - 6
            elements.append(f'<text x="{x + PADDING}" y="{place}" xml:space="preserve">{escape(line)}</text>')
        y += height_of(box) + GAP
    return elements, y - GAP + 1


def picture(columns: list[list[Box]]) -> str:
    """Return the columns side by side, as SVG."""
    elements, x, bottom = [], 1, 0
    for column in columns:
        drawn_column, end = drawn(column, x, width_of(column))
        elements += drawn_column
        x, bottom = x + width_of(column) + GAP, max(bottom, end)
    label = "A function, its schema, a wrong call, its error, and a person who agrees"
    space = 'xmlns="http://www.w3.org/2000/svg"'
    top = f'<svg {space} viewBox="0 0 {x - GAP + 1} {bottom}" role="img" aria-label="{label}">'
    return "\n".join([top, f"<style>{STYLE}</style>", *elements, "</svg>", ""])


def pictures() -> dict[str, str]:
    """Return the pictures as SVG, by the names of their files."""
    left, right = boxes()
    in_order = sorted(left + right, key=lambda box: box.title)
    narrow = [box._replace(lines=wrapped("\n".join(box.lines), NARROW)) for box in in_order]
    return {"refund.svg": picture([left, right]), "refund-narrow.svg": picture([narrow])}


if __name__ == "__main__":
    for name, drawing in pictures().items():
        (FOLDER / name).write_text(drawing, encoding="utf-8")
