"""Draw the picture of a replay: the page that `operator-schema replay --html` writes.

Its calls are made up, everything else on it comes from a run. Run this file to draw the picture again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from operator_schema import Toolset, tool
from operator_schema.workbench.compare.recorded_calls import calls_in
from operator_schema.workbench.compare.replay import Replay
from operator_schema.workbench.compare.replay_report import replay_page

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 1000, 1110
"""Pixels."""


@tool
def find_order(customer: str, status: Literal["open", "sent", "returned"] = "open") -> list[int]:
    """Find the orders of a customer."""
    return [len(customer), len(status)]


@tool
def refund(order: int, amount: float, reason: Literal["damaged", "late"]) -> str:
    """Pay money back."""
    return f"{amount} for {order}: {reason}"


@tool
def cancel(order: int) -> str:
    """Cancel an order."""
    return f"{order} is cancelled"


CALLS = [
    *[{"name": "find_order", "arguments": {"customer": f"C{number}"}} for number in range(41)],
    *[{"name": "find_order", "arguments": {"customer": "C7", "status": "Sent"}}] * 9,
    *[{"name": "refund", "arguments": {"order": 7, "amount": 12.5, "reason": "late"}}] * 17,
    *[{"name": "refund", "arguments": {"order": "7", "amount": "12.50", "reason": "damaged"}}] * 8,
    *[{"name": "refund", "arguments": {"order": 7, "amount": 12.5}}] * 12,
    *[{"name": "cancel", "arguments": {"order": 7, "why": "changed my mind"}}] * 6,
    *[{"name": "track_parcel", "arguments": {"order": 7}}] * 2,
]


def pictures() -> dict[str, str]:
    """Return the picture as SVG, with the page inside, by the name of its file."""
    found = Replay(Toolset(find_order, refund, cancel))
    for call in calls_in(CALLS):
        found.add(call)
    page = replay_page(found.as_dict(), "Replay: calls.jsonl → tools")
    style = page.partition("<style>")[2].partition("</style>")[0]
    body = page.partition("<body>")[2].partition("</body>")[0]
    svg, xhtml = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"
    label = "The report of a replay: plots of calls by tool, and an example of each mistake"
    top = f'<svg xmlns="{svg}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
    inside = body.strip().replace("<svg ", f'<svg xmlns="{svg}" ')
    lines = [
        top,
        f"<style>{style}foreignObject {{ background: var(--page); }}</style>",
        f'<foreignObject width="{WIDTH}" height="{HEIGHT}">',
        f'<body xmlns="{xhtml}">{inside}</body>',
        "</foreignObject></svg>",
        "",
    ]
    return {"replay.svg": "\n".join(lines)}


if __name__ == "__main__":
    for name, drawing in pictures().items():
        (FOLDER / name).write_text(drawing, encoding="utf-8")
