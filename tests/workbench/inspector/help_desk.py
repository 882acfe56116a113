"""A support desk, whose tools the tests of the inspector show, read and run."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MaxLen, MinLen

from operator_schema import CallError, NeedsInput, Toolset, skip, tool
from operator_schema.content import Image
from operator_schema.types import Progress

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63a8f86f0500"
    "03d50194ec1b1aab0000000049454e44ae426082"
)
LOG = logging.getLogger("desk")
PAID: list[tuple[int, Decimal]] = []


@dataclass
class Card:
    """A payment by card."""

    number: Annotated[str, MinLen(4), MaxLen(19)]
    kind: Literal["card"] = "card"


@dataclass
class Invoice:
    """A payment by invoice."""

    address: str
    due: date | None = None
    kind: Literal["invoice"] = "invoice"


@dataclass
class Line:
    """One line of an order."""

    sku: str
    count: Annotated[int, Ge(1), Le(99)] = 1
    options: dict[str, str] = field(default_factory=dict)


@tool(read_only=True)
def find_articles(text: str, limit: Annotated[int, Ge(1), Le(50)] = 10) -> list[str]:
    """Find articles of the help pages.

    Args:
        text: What to look for, in plain words.
        limit: How many articles to return at most.
    """
    LOG.info("looking for %s", text)
    return [f"How to {text}", "Opening hours"][:limit]


@tool
def create_order(
    lines: Annotated[list[Line], MinLen(1)],
    payment: Card | Invoice,
    note: str | None = None,
    discount: Annotated[float, Ge(0), Le(0.5)] = 0.0,
) -> str:
    """Create an order.

    Args:
        lines: What is ordered, a line for each article.
        payment: How the customer pays.
        note: Anything that the warehouse has to know, in the customer's own words, such as where to leave it.
        discount: Share of the price that is taken off.
    """
    return f"{sum(line.count for line in lines)} articles, {type(payment).__name__}, {note}, {discount}"


@tool(confirm=True, destructive=True, repair=True)
def refund(order_id: int, amount: Annotated[Decimal, Gt(0)], reason: str = "goodwill") -> str:
    """Pay money back.

    Args:
        order_id: Number of the order.
        amount: In dollars.
        reason: Why it is paid back.
    """
    PAID.append((order_id, amount))
    return f"paid {amount} for order {order_id}: {reason}"


@tool
def choose_seat(train: str, place: Annotated[Literal["window", "aisle"] | None, skip] = None) -> str:
    """Reserve a seat.

    Args:
        train: Number of the train, such as IC 712.
    """
    if place is None:
        raise NeedsInput("Window or aisle?", parameter="place")
    return f"{train}: a seat at the {place}"


@tool
async def export(rows: int, progress: Annotated[Progress | None, skip] = None) -> list[object]:
    """Export the orders as a picture.

    Args:
        rows: How many orders to draw.
    """
    for row in range(min(rows, 3)):
        await asyncio.sleep(0.01)
        if progress is not None:
            progress(row + 1, rows, f"row {row + 1}")
    if rows > 100:
        raise CallError("Too many rows: ask for at most 100.")
    return ["The orders:", Image(PIXEL, "image/png")]


toolset = Toolset(find_articles, create_order, refund, choose_seat, export)
