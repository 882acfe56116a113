"""Run the program of docs/approvals.md, and kill the process at each line of it and of the store.

For `test_killed_processes.py`. Each place is tried in a child of its own, which writes one JSON value.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from forks import import_what_is_needed

from operator_schema.rounds import stores

PAGE = Path(__file__).parents[2] / "docs" / "approvals.md"
EFFECTS = ("get_booking", "cancel_booking", "send_voucher")
TRACED = {stores.__file__: {"claim", "keep", "commit_turn", "_write", "run"}}
"""The functions at whose lines the process is killed, beside those of the page."""


def code_of_the_page() -> str:
    """Return the code of the page, without its examples of use."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return "\n".join([block for block in blocks if not block.startswith(">>>")])


def page() -> dict[str, Any]:
    """Run the code of the page, with tools that write down each run in the folder of the process."""
    names: dict[str, Any] = {"SECRET": b"a key of more than 16 bytes"}
    source = code_of_the_page()
    for name in EFFECTS:
        head = rf"(def {name}\(.*?\"\"\"\n)"
        source, found = re.subn(head, rf"\1    note({name!r})\n", source, count=1, flags=re.DOTALL)
        if not found:
            raise LookupError(name)

    def note(name: str) -> None:
        with Path("ran").open("a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    names["note"] = note
    exec(compile(source, "the page", "exec"), names)  # noqa: S102  # the page itself is tested
    return names


def kill_at(place: int) -> None:
    """Kill this process at a line of the page, the first being 1, in whatever thread it is."""
    seen = [0]

    def trace(frame: Any, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename != "the page" and code.co_name not in TRACED.get(code.co_filename, ()):
            return None
        if event in {"line", "return"}:
            seen[0] += 1
            if seen[0] == place:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


def a_day(names: dict[str, Any], place: int | None) -> None:
    """Begin a turn and decide about it, until the process is killed at a place, if there is one."""
    raw = names["RawCall"]
    if place is not None:
        kill_at(place)
    calls = [
        raw("1", "get_booking", {"booking": "7KQ"}),
        raw("2", "cancel_booking", {"booking": "7KQ", "reason": "ill"}),
        raw("3", "send_voucher", {"amount": 80}),
        raw("4", "send_voucher", {"amount": 5}),
    ]
    round_id = names["begin"]("desk.db", calls).split()[0]
    names["decide"]("desk.db", round_id, "2", approved=True)
    names["decide"]("desk.db", round_id, "3", approved=False)
    sys.settrace(None)


def the_day_after(names: dict[str, Any]) -> dict[str, Any]:
    """Decide again about all that is left, and return what was found and what is there afterwards."""
    ran = Path("ran")
    found = ran.read_text(encoding="utf-8").split() if ran.exists() else []
    store, _ = names["opened"]("desk.db")
    waiting, stuck = store.waiting(), [one.id for one in store.stuck()]
    turns = len(store.transcript("customer 1"))
    for round_id in [*waiting, *stuck]:
        for call_id, approved in [("2", True), ("3", False)]:
            names["decide"]("desk.db", round_id, call_id, approved=approved)
    after = ran.read_text(encoding="utf-8").split() if ran.exists() else []
    states = ["waiting" for _ in waiting] + ["stuck" for _ in stuck]
    turns_after = len(store.transcript("customer 1"))
    return {"ran": found, "states": states, "turns": turns, "ran after": after, "turns after": turns_after}


def main(root: Path) -> None:
    """Kill a process at each place, and write what is left."""
    names = page()
    import_what_is_needed(root / "whole", lambda: (a_day(names, None), the_day_after(names)))
    for place in range(1, 1000):
        folder = root / str(place)
        folder.mkdir()
        os.chdir(folder)
        child = os.fork()
        if child == 0:
            a_day(names, place)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        child = os.fork()  # no process does the work of two
        if child == 0:
            sys.stdout.write(json.dumps(the_day_after(names)) + "\n")
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
