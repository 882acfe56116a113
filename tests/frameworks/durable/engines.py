"""Starts what an engine needs, beside a test, and ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from patience import LONGEST_WAIT

HERE = Path(__file__).parent


def environment_of(folder, *, is_stored, **more):
    """Return the environment of a program that runs the desk in a folder."""
    path = os.pathsep.join([str(HERE.parents[2]), str(HERE)])
    stored = {"STORED": "yes"} if is_stored else {}
    return {**os.environ, "DESK": str(folder), "PYTHONPATH": path, "DO_NOT_TRACK": "1", **stored, **more}


def ran(folder):
    return (folder / "ran").read_text().split()


def finished(name, *words, environment, status=0):
    """Run a program beside this file to its end, and return what it printed."""
    command = [sys.executable, str(HERE / name), *words]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LONGEST_WAIT, check=False
    )
    assert done.returncode == status, done.stderr
    return done.stdout


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(command, folder, environment):
    """Run a program while the block runs; what it prints is in a file of the folder."""
    with (folder / f"{Path(command[0]).name}.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait(LONGEST_WAIT)
