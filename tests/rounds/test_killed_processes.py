"""The program of docs/approvals.md when its process is killed, at each line of it and of its store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.needs_threads,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

EFFECTS = {"get_booking": 1, "send_voucher": 1, "cancel_booking": 1}


@pytest.mark.slow("kills a process at each of its steps")
def test_wherever_the_process_is_killed_nothing_runs_twice_and_nothing_that_ran_is_forgotten(memory_folder):
    program = Path(__file__).with_name("killed_store.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(program), str(memory_folder)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    *killed, finished = [json.loads(line) for line in ended.stdout.splitlines()]
    assert (finished["ran"], finished["states"], finished["turns"]) == (finished["ran after"], [], 1)
    assert Counter(finished["ran"]) == EFFECTS
    assert len(killed) > 30
    states: Counter[str] = Counter()
    for left in killed:
        assert all(number == 1 for number in Counter(left["ran after"]).values()), left
        # What ran is known: by a round that waits or that a person has to look at, or by the turn.
        assert not left["ran"] or len(left["states"]) + left["turns"] == 1, left
        # What may have run isn't run again; what waits goes on.
        if left["states"] == ["stuck"]:
            assert left["ran after"] == left["ran"], left
        if left["states"] == ["waiting"]:
            assert Counter(left["ran after"]) == EFFECTS, left
            assert left["turns after"] == 1, left
        states[" ".join(left["states"])] += 1
    assert set(states) == {"", "waiting", "stuck"}
