"""Run the program of docs/approvals.md, and look what is left if its process is killed at a line.

For `test_killed_processes.py`. At each line of the page and of the store the process is stopped: a kill would
leave the files that it has then. What a later process makes of these files is written as one JSON value for
each line. Some processes are killed in earnest.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forks import fork, import_what_is_needed

from operator_schema.rounds import stored_transcripts, stores

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[2] / "docs" / "approvals.md"
EFFECTS = ("get_booking", "cancel_booking", "send_voucher")
TRACED = {stores.__file__: {"claim", "keep", "run"}, stored_transcripts.__file__: {"commit_turn"}}
"""The functions at whose lines the process is killed, beside those of the page."""
KILLED = range(5, 160, 30)
"""Places where a process is killed in earnest."""


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


def halt(place: int) -> None:
    """Kill this process at a line, the first being 1, or stop it at each for 0; in whatever thread it is."""
    seen = [0]

    def trace(frame: Any, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename != "the page" and code.co_name not in TRACED.get(code.co_filename, ()):
            return None
        if event in {"line", "return"}:
            seen[0] += 1
            if seen[0] == place or not place:
                os.kill(os.getpid(), signal.SIGKILL if place else signal.SIGSTOP)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)


def a_day(names: dict[str, Any], place: int | None) -> None:
    """Begin a turn and decide about it, until the process is killed at a place, or stopped; see `halt`."""
    raw = names["RawCall"]
    if place is not None:
        halt(place)
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
    waiting, stuck = [one.id for one in store.waiting()], [one.id for one in store.stuck()]
    turns = len(store.transcript("customer 1"))
    for round_id in [*waiting, *stuck]:
        for call_id, approved in [("2", True), ("3", False)]:
            names["decide"]("desk.db", round_id, call_id, approved=approved)
    after = ran.read_text(encoding="utf-8").split() if ran.exists() else []
    states = ["waiting" for _ in waiting] + ["stuck" for _ in stuck]
    turns_after = len(store.transcript("customer 1"))
    return {"ran": found, "states": states, "turns": turns, "ran after": after, "turns after": turns_after}


def in_child(folder: Path, run: Callable[[], object]) -> int:
    """Run a function in a child process, whose number is returned."""

    def run_there() -> None:
        os.chdir(folder)
        run()

    return fork(run_there)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def left_at_each_line(folder: Path, names: dict[str, Any]) -> list[dict[str, bytes]]:
    """Run the program, and return the files that it has at each line."""
    found: list[dict[str, bytes]] = []
    child = in_child(folder, lambda: a_day(names, 0))
    while os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]):
        found.append(files_of(folder))
        os.kill(child, signal.SIGCONT)
    return [*found, files_of(folder)]


def left_by_killed(folder: Path, names: dict[str, Any], place: int) -> dict[str, bytes]:
    """Kill a process at a line, and return the files that it leaves."""
    os.waitpid(in_child(folder, lambda: a_day(names, place)), 0)
    return files_of(folder)


def made_of(folder: Path, files: dict[str, bytes], names: dict[str, Any]) -> str:
    """Return what a process makes of some files that another one left: no process does the work of two."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    found = folder / "found"
    os.waitpid(in_child(folder, lambda: found.write_text(json.dumps(the_day_after(names)))), 0)
    return found.read_text()


def main(root: Path) -> None:
    """Write what comes of each place, the last one being that where the program has ended."""
    names = page()
    import_what_is_needed(root / "whole", lambda: (a_day(names, None), the_day_after(names)))

    def folder(name: str) -> Path:
        made = root / name
        made.mkdir()
        return made

    left = left_at_each_line(folder("stopped"), names)
    killed = [left_by_killed(folder(f"killed at {place}"), names, place) for place in KILLED]
    known: dict[tuple[tuple[str, bytes], ...], str] = {}
    for files in [*killed, *left]:
        key = tuple(sorted(files.items()))
        if key not in known:
            known[key] = made_of(folder(f"left {len(known)}"), files, names)
        sys.stdout.write(f"{known[key]}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
