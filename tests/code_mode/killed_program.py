"""Run a program of some writes, and kill its process at random points.

For `test_killed_programs.py`. Each point is tried in a child of its own, and a second child goes on; both
write to one database. The sandboxes take turns. It prints one JSON value for each point: how often each
write is in the database.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
import threading
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from forks import import_what_is_needed, status_in_a_fork
from warm_sandbox import warm_sandbox

from operator_schema import Complete, Executor, code_mode, tool
from operator_schema.code_mode import CodeSession, Journal, journal, session

WRITES = 20
PROGRAM = f"""
for n in range({WRITES}):
    write(n)
"done"
"""
TRACED = {__file__, journal.__file__, session.__file__}
"""The files at whose lines the process is killed."""


killed_in: list[int | None] = [None]


@tool(confirm=True)
def write(n: int) -> int:
    """Write a number."""
    with closing(sqlite3.connect("writes.db", isolation_level=None)) as db:
        db.execute("INSERT INTO writes VALUES (?)", (n,))
    if n == killed_in[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


def opened(sandbox: str) -> CodeSession:
    made = warm_sandbox() if sandbox == "ProcessSandbox" else getattr(code_mode, sandbox)()
    return CodeSession(Executor(write), sandbox=made, journal=Journal("journal.db"))


def counted() -> dict[int, int]:
    with closing(sqlite3.connect("writes.db")) as db:
        return dict(db.execute("SELECT n, COUNT(*) FROM writes GROUP BY n").fetchall())


def watch(place: int | None) -> list[int]:
    """Kill this process at a line, the first being 1, in whatever thread it is; return the count of lines."""
    seen = [0]

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in TRACED:
            return None
        if event == "line":
            seen[0] += 1
            if seen[0] == place:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    return seen


def approved_once(sandbox: str, place: int | None, call: int | None = None) -> None:
    """Begin the program, and approve its only plan, until the process is killed at a line or in a call."""
    killed_in[0] = call
    one = opened(sandbox)
    waiting = one.run_sync(PROGRAM)
    assert len(waiting.plan) == WRITES
    seen = watch(place)
    one.resume_sync(waiting, "approve_plan")
    sys.settrace(None)
    threading.settrace(None)
    Path("lines").write_text(str(seen[0]))


def go_on(sandbox: str) -> None:
    """Let the program end as a person would who looks at the database."""
    one = opened(sandbox)
    for stuck in one.journal.stuck():
        one.journal.take_back(stuck)
    interrupted = 0
    for program_id in one.journal.waiting():
        run = one.load(program_id)
        while run.state == "waiting":
            call = run.waiting
            if call is None:
                run = one.resume_sync(run)
            elif call.is_interrupted and counted().get(call.arguments["n"]):
                interrupted += 1
                run = one.resume_sync(run, Complete(call.arguments["n"]))
            else:
                interrupted += call.is_interrupted
                run = one.resume_sync(run, "approve" if call.is_interrupted else "approve_plan")
    Path("interrupted").write_text(str(interrupted))


def in_child(folder: Path, run: Any, *args: Any) -> int:
    """Run a function in a child process; return its status."""

    def run_there() -> None:
        os.chdir(folder)
        run(*args)

    return status_in_a_fork(run_there)


def create_table(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "writes.db", isolation_level=None)) as db:
        db.execute("CREATE TABLE writes (n INTEGER)")


def warmed_up(sandboxes: list[str]) -> None:
    for sandbox in sandboxes:
        folder = Path.cwd() / sandbox
        folder.mkdir()
        os.chdir(folder)
        create_table(folder)
        approved_once(sandbox, None)
        go_on(sandbox)
        os.chdir(folder.parent)


def tried(folder: Path, sandbox: str, place: int | None, call: int | None = None) -> dict[str, Any]:
    folder.mkdir()
    create_table(folder)
    status = in_child(folder, approved_once, sandbox, place, call)
    os.chdir(folder)
    before = counted()
    after_status = in_child(folder, go_on, sandbox)
    interrupted = int((folder / "interrupted").read_text())
    found = {"killed": status < 0, "status": after_status, "interrupted": interrupted}
    return {**found, "sandbox": sandbox, "before": sum(before.values()), "after": counted()}


def places_among(lines: int, points: int, source: random.Random) -> list[int]:
    """Return places at random, one in each of so many equal parts of the lines."""
    bounds = [1 + lines * number // points for number in range(points + 1)]
    return [source.randrange(first, after) for first, after in pairwise(bounds)]


def main(folder: Path, points: int, seed: int, sandboxes: list[str]) -> None:
    import_what_is_needed(folder / "imports", lambda: warmed_up(sandboxes))
    lines = []
    for sandbox in sandboxes:
        whole = folder / f"whole in {sandbox}"
        print(json.dumps(tried(whole, sandbox, None)))
        lines.append(int((whole / "lines").read_text()))
    source = random.Random(seed)  # noqa: S311  # points to try
    places: list[int | None] = [*places_among(min(lines), points - len(sandboxes), source)]
    places += [None for _ in sandboxes]  # the middle of a call
    for number, place in enumerate(places):
        sandbox = sandboxes[number % len(sandboxes)]
        call = source.randrange(WRITES) if place is None else None
        print(json.dumps({"place": place, **tried(folder / str(number), sandbox, place, call)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
