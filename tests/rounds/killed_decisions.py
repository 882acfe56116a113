"""Approve calls that need it, and look what a person reads and what runs if the process is killed at a line.

For `test_killed_decisions.py`. A process is stopped at each line of the store, of the decisions and of the
tools, from taking a round to keeping it: a kill would leave the files that it has then. A later process takes
back what is left, answers every question the same way, and writes what came of it as one JSON value for each
place and each answer. Some processes are killed in earnest.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from forks import import_what_is_needed
from killed_store import files_of, in_child

from operator_schema import Defer, Executor, RawCall, RunNormally, Toolset, hook, tool
from operator_schema.rounds import INTERRUPTED, SqliteStore, deciding, people, stores
from operator_schema.rounds import round as rounds

TRACED = {
    stores.__file__: {"claim", "begin", "keep", "run", "_let_wait", "take_back"},
    deciding.__file__: {"decide", "unless_confirmed"},
    people.__file__: {"asked_about"},
    rounds.__file__: {"execute_with", "_decided", "_run", "settle"},
    __file__: {"refund", "voucher", "look", "large", "capitals"},
}
KILLED = range(3, 250, 60)
"""Places where a process is killed in earnest."""
KINDS = {"refund": "confirm", "voucher": "defer", "look": "plain"}


def note(file: str, *words: str) -> None:
    with Path(file).open("a", encoding="utf-8") as out:
        out.write(f"{' '.join(words)}\n")


def noted(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").splitlines() if Path(file).exists() else []


@tool(confirm=True)
def refund(order: str) -> str:
    """Pay money back."""
    note("ran", "refund", order)
    return "paid"


@tool
def voucher(order: str) -> str:
    """Send a voucher."""
    note("ran", "voucher", order)
    return "sent"


@tool
def look(order: str) -> str:
    """Look up an order."""
    note("ran", "look", order)
    return "it is there"


@hook(voucher)
def large(call: Any) -> Any:
    return Defer("the manager has to agree")


@hook(refund, voucher, look)
def capitals(call: Any) -> Any:
    note("asked", call.name)
    return RunNormally(call.tool.decode({"order": call.input.order + "!"}))


TOOLS = Toolset(refund, voucher, look)


def desk() -> tuple[SqliteStore, Executor]:
    store = SqliteStore("desk.db", secret=b"a key of more than 16 bytes")
    return store, Executor(TOOLS, hooks=[large, capitals], store=store, threads=False)


def approved(work: Any) -> Any:
    """Return a round in which a person, who reads why each call waits, agrees to all that wait."""
    for call in work.deferred:
        note("agreed", call.name, "again" if call.reason == INTERRUPTED else "first")
        work = work.approve(call)
    return work


def a_day() -> None:
    """Run a round whose calls wait for different reasons, agree to them, and run them."""
    store, executor = desk()
    calls = [RawCall(name, name, {"order": "a"}) for name in KINDS]
    work = executor.run_sync(TOOLS.offer().round(calls))
    executor.run_sync(approved(work)).commit(store.transcript("customer 1"))


def the_day_after(*, yes: bool) -> dict[str, Any]:
    """Take back what is left, and answer what a person is asked until nothing waits any more."""
    store, executor = desk()
    before = {name: noted(name) for name in ("ran", "asked", "agreed")}
    shown: list[tuple[str, str]] = []
    stuck = store.stuck()
    has_begun = [one.has_begun for one in stuck]
    left = [store.take_back(one.id, TOOLS, force=True) for one in stuck]
    left += [store.load(one.id, TOOLS) for one in store.waiting() if not stuck]
    pending = {call.name: call.approved for work in left for call in work.pending}
    for work in left:
        now = executor.run_sync(work)
        while not now.is_complete:
            shown += [(call.name, call.reason or "") for call in now.deferred]
            now = executor.run_sync(approved(now) if yes else now.reject_open("no"))
        now.commit(store.transcript("customer 1"))
    after = {f"{name} after": noted(name) for name in before}
    turns = len(store.transcript("customer 1"))
    return {**before, **after, "has begun": has_begun, "pending": pending, "shown": shown, "turns": turns}


def traced(place: int) -> None:
    """Run the program; kill this process at a line, the first being 1, or stop it at each for 0."""
    seen = [0]

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_name not in TRACED.get(frame.f_code.co_filename, ()):
            return None
        if event in {"line", "return"}:
            seen[0] += 1
            if seen[0] == place or not place:
                os.kill(os.getpid(), signal.SIGKILL if place else signal.SIGSTOP)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    a_day()
    sys.settrace(None)


def left_at_each_line(folder: Path) -> list[dict[str, bytes]]:
    """Run the program, and return the files that it has at each line."""
    found: list[dict[str, bytes]] = []
    child = in_child(folder, lambda: traced(0))
    while os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]):
        found.append(files_of(folder))
        os.kill(child, signal.SIGCONT)
    return [*found, files_of(folder)]


def left_by_killed(folder: Path, place: int) -> dict[str, bytes]:
    """Kill a process at a line, and return the files that it leaves."""
    os.waitpid(in_child(folder, lambda: traced(place)), 0)
    return files_of(folder)


def made_of(folder: Path, files: dict[str, bytes], *, yes: bool) -> dict[str, Any]:
    """Return what a process makes of some files that another one left."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    found = folder / "found"
    os.waitpid(in_child(folder, lambda: found.write_text(json.dumps(the_day_after(yes=yes)))), 0)
    return json.loads(found.read_text())


def main(root: Path) -> None:
    """Write what comes of each place and each answer; at the last place, the program has ended."""
    import_what_is_needed(root / "whole", lambda: (a_day(), the_day_after(yes=True)))

    def folder(name: str) -> Path:
        made = root / name
        made.mkdir()
        return made

    left = left_at_each_line(folder("stopped"))
    killed = [left_by_killed(folder(f"killed at {place}"), place) for place in KILLED]
    known: dict[tuple[tuple[str, bytes], ...], str] = {}
    for files in [*killed, *left]:
        key = tuple(sorted(files.items()))
        if key not in known:
            answers = {
                answer: made_of(folder(f"left {len(known)} {answer}"), files, yes=answer == "yes")
                for answer in ("yes", "no")
            }
            known[key] = json.dumps(answers)
        sys.stdout.write(f"{known[key]}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
