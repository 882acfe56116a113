"""A program of 50 writes whose process is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SANDBOXES = ["ProcessSandbox", *(["Monty"] if find_spec("pydantic_monty") else [])]
"""Monty has no wheels for every platform."""

pytestmark = [
    pytest.mark.needs_threads,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.slow("kills 20 processes, and lets each program end in another one")
def test_a_program_that_is_killed_at_20_random_points_writes_each_number_exactly_once(memory_folder, sandbox):
    program = Path(__file__).with_name("killed_program.py")
    command = [sys.executable, str(program), str(memory_folder), "20", "28", sandbox]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    whole, *killed = [json.loads(line) for line in ended.stdout.splitlines()]
    once = {str(number): 1 for number in range(50)}
    assert (whole["killed"], whole["after"]) == (False, once)
    assert len(killed) == 20
    for one in killed:
        assert (one["killed"], one["status"], one["after"]) == (True, 0, once), (one, ended.stderr)
    # The points are in different writes, and some are in the middle of a call.
    assert len({one["before"] for one in killed}) > 10
    assert any(one["interrupted"] for one in killed)
