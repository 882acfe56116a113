"""A program of 50 writes whose process is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

SANDBOXES = ["ProcessSandbox", *(["Monty"] if find_spec("pydantic_monty") else [])]
"""Monty has no wheels for every platform."""

pytestmark = [
    pytest.mark.needs_threads,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


@pytest.fixture
def folder():
    """Return a folder in memory, where there is one: a disk would take most of the time."""
    memory = Path("/dev/shm")  # noqa: S108  # for a folder of its own
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.slow("kills 20 processes, and lets each program end in another one")
def test_a_program_that_is_killed_at_20_random_points_writes_each_number_exactly_once(folder, sandbox):
    program = Path(__file__).with_name("killed_program.py")
    command = [sys.executable, str(program), str(folder), "20", "28", sandbox]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    whole, *killed = [json.loads(line) for line in ended.stdout.splitlines()]
    once = {str(number): 1 for number in range(50)}
    assert (whole["killed"], whole["after"]) == (False, once)
    assert len(killed) == 20
    for one in killed:
        assert (one["killed"], one["status"], one["after"]) == (True, 0, once), (one, ended.stderr)
    # The points are in different writes, and some are in the middle of a call.
    assert len({one["before"] for one in killed}) > 10
    assert any(one["interrupted"] for one in killed)
