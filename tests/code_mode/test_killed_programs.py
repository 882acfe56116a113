"""A program of some writes whose process is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from killed_program import WRITES

SANDBOXES = ["ProcessSandbox", *(["Monty"] if find_spec("pydantic_monty") else [])]
"""Monty has no wheels for every platform."""

pytestmark = [
    pytest.mark.needs_threads,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


@pytest.mark.slow("kills 12 processes, and lets each program end in another one")
def test_a_program_that_is_killed_at_12_random_points_writes_each_number_exactly_once(memory_folder):
    program = Path(__file__).with_name("killed_program.py")
    command = [sys.executable, str(program), str(memory_folder), "12", "28", *SANDBOXES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    whole, killed = found[: len(SANDBOXES)], found[len(SANDBOXES) :]
    once = {str(number): 1 for number in range(WRITES)}
    assert [(one["sandbox"], one["killed"], one["after"]) for one in whole] == [
        (sandbox, False, once) for sandbox in SANDBOXES
    ]
    assert len(killed) == 12
    for one in killed:
        assert (one["killed"], one["status"], one["after"]) == (True, 0, once), (one, ended.stderr)
    # Each sandbox is killed in different writes, and in the middle of calls.
    for sandbox in SANDBOXES:
        points = [one for one in killed if one["sandbox"] == sandbox]
        assert len({one["before"] for one in points}) > len(points) / 2
        assert any(one["interrupted"] for one in points)
