"""The desk that every engine runs: it looks up an order, and pays back after a person has agreed."""

from __future__ import annotations

import os
from pathlib import Path

from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.adapters.durable import saved_round
from operator_schema.rounds import SqliteStore

FOLDER = Path(os.environ["DESK"])
YES = {"call": "2", "approve": True, "by": "anna"}


def note(name):
    with (FOLDER / "ran").open("a") as file:
        file.write(f"{name}\n")
    dies = FOLDER / f"dies in {name}"
    if dies.exists():
        dies.unlink()
        os._exit(9)


@tool
async def look(order: str) -> str:
    """Look up an order."""
    note("look")
    return f"{order}: 6 USD"


@tool(confirm=True)
async def pay(order: str) -> str:
    """Pay an order back."""
    note("pay")
    return f"{order}: paid"


toolset = Toolset(look, pay)
executor = Executor(
    toolset, store=SqliteStore(FOLDER / "rounds.db", lease=1) if os.environ.get("STORED") else None
)


def asked(order):
    """Stand for the answer of a model: the round that it becomes, as text."""
    calls = [RawCall("1", "look", {"order": order}), RawCall("2", "pay", {"order": order})]
    return saved_round(toolset.offer().round(calls))
