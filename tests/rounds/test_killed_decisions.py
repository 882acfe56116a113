"""A crash is no approval: what a person reads and what runs, wherever the process of a round is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from operator_schema.rounds import CONFIRM, INTERRUPTED

pytestmark = [
    pytest.mark.needs_threads,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]

REASONS = {("refund", CONFIRM), ("voucher", "the manager has to agree")}
"""Which calls wait for an approval, and what a person reads of them."""


def check_nothing_runs_unapproved(left: dict[str, Any]) -> None:
    anew = left["ran after"][len(left["ran"]) :]
    agreed = left["agreed after"][len(left["agreed"]) :]
    for name in ("refund", "voucher"):
        if any(line.startswith(name) for line in left["ran after"]):
            assert f"{name} first" in left["agreed after"], left
        if any(line.startswith(name) for line in anew):
            # It was agreed to before the crash, and that is known; or it was asked about now.
            was_known = left["pending"].get(name) or (name, INTERRUPTED) in map(tuple, left["shown"])
            assert f"{name} first" in (left["agreed"] if was_known else agreed), left


def check_nothing_runs_twice_without_a_person(left: dict[str, Any]) -> None:
    ran, agreed = Counter(line.split()[0] for line in left["ran after"]), Counter(left["agreed after"])
    assert all(number <= 1 + agreed[f"{name} again"] for name, number in ran.items()), left
    # Whoever changes an input changes it once, and a person's yes is about that very input.
    assert all(line.endswith(" a!") for line in left["ran after"]), left


def check_what_is_said(left: dict[str, Any]) -> None:
    ran = {line.split()[0] for line in left["ran"]}
    if left["has begun"] == [False]:
        assert not ran & {*left["pending"]}, left
    for name, reason in left["shown"]:
        if reason == INTERRUPTED:
            assert left["has begun"] == [True], left
            assert name == "look" or f"{name} first" in left["agreed"], left
            assert Counter(left["asked"])["look"] == 1, left
        else:
            assert (name, reason) in REASONS, left
    # Somebody knows of everything that ran: its result is in the turn, or a person was asked.
    assert not ran or left["turns"] == 1, left


@pytest.mark.slow("kills a process at each of its steps")
def test_wherever_the_process_is_killed_a_crash_is_no_approval(memory_folder):
    program = Path(__file__).with_name("killed_decisions.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(program), str(memory_folder)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(found) > 300
    for answers in found:
        for left in answers.values():
            check_nothing_runs_unapproved(left)
            check_nothing_runs_twice_without_a_person(left)
            check_what_is_said(left)
        no = answers["no"]
        assert "refund again" not in no["agreed after"]
        assert {line for line in no["ran after"] if line not in no["ran"]} <= {
            f"{name} a!" for name in no["pending"]
        }, no
    begun = {tuple(answers["yes"]["has begun"]) for answers in found}
    assert begun == {(), (False,), (True,)}
    texts = {reason for answers in found for _, reason in answers["yes"]["shown"]}
    assert texts == {INTERRUPTED, CONFIRM, "the manager has to agree"}
