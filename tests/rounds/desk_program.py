"""A desk whose calls wait for a person, in a file; each command is another process.

Run `desk_program.py begin`, then `desk_program.py decide ROUND CALL yes`; `die` dies while a call runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from operator_schema import Executor, RawCall, Round, RoundError, Toolset, Turn, tool
from operator_schema.rounds import SqliteStore, StoredTranscript


@tool
def look(order: str) -> str:
    """Look up an order."""
    return f"{order}: 6 USD"


@tool(confirm=True)
def refund(order: str, amount: float) -> str:
    """Pay money back."""
    with Path("paid.txt").open("a", encoding="utf-8") as file:
        file.write(f"{order} {amount}\n")
    if "die" in sys.argv:
        os._exit(3)
    return "it is on its way"


toolset = Toolset(look, refund)
store = SqliteStore("desk.db", secret=b"0123456789abcdef", name="desk")
executor = Executor(toolset, store=store)
ANSWERS = [
    [RawCall("1", "look", {"order": "A7"}), RawCall("2", "refund", {"order": "A7", "amount": 6})],
    [],
]


def converse(history: StoredTranscript) -> Round[Any] | Turn:
    turns = [item for item in history if isinstance(item, Turn)]
    return go_on(toolset.offer().round(ANSWERS[len(turns)]), history)


def go_on(work: Round[Any], history: StoredTranscript) -> Round[Any] | Turn:
    work = executor.run_sync(work)  # a stored round runs in one process only
    if not work.is_complete:
        return work
    turn = work.commit(history)
    return converse(history) if turn.calls else turn


def decide(round_id: str, call_id: str, history: StoredTranscript, *, yes: bool) -> Round[Any] | Turn:
    work = store.load(round_id, toolset)
    return go_on(work.approve(call_id) if yes else work.reject(call_id, "No."), history)


def main() -> None:
    history = store.transcript("order A7")
    command, *rest = sys.argv[1:]
    try:
        if command == "begin":
            history.append("My order A7 is broken.")
            done = converse(history)
        else:
            done = decide(rest[0], rest[1], history, yes=rest[2] != "no")
    except RoundError as error:  # of the store, or the round has run and isn't committed yet
        sys.stdout.write(f"not now: {error}\n")
        return
    sys.stdout.write(f"{done.id if isinstance(done, Round) else 'done'}\n")


if __name__ == "__main__":
    main()
