"""The airline example in which a person decides about calls: over several real processes, through SQLite."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import warm_processes
from patience import LONGEST_WAIT

from operator_schema import RawCall
from operator_schema.rounds import RestoreError, rejection_reason

pytestmark = [pytest.mark.needs_process, pytest.mark.slow("starts processes that end and come back")]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "airline"
PROGRAM = EXAMPLE / "approval.py"
NAMES = ("approval", "desk", "policy", "airline_functions", "airline", "airline_tools", "layout")


@pytest.fixture
def modules():
    """The modules of the example, imported anew, but for what other tests use."""
    before = set(sys.modules)
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in set(NAMES) - before:
            sys.modules.pop(name, None)


def start(folder, *arguments, cold=False):
    # -S leaves site-packages out: the standard library and this package are all that is there.
    program = [sys.executable, "-S", "-W", "error", str(PROGRAM)] if cold else warm_processes.script(PROGRAM)
    command = [*program, *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, encoding="utf-8")


def output(process):
    out, err = process.communicate(timeout=LONGEST_WAIT)
    assert (process.returncode, err) == (0, "")
    return out


def run(folder, *arguments, cold=False):
    return output(start(folder, *arguments, cold=cold))


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A folder with a conversation in which calls 6 and 7 wait."""
    folder = tmp_path_factory.mktemp("begun")
    run(folder, "begin", "desk.db", cold=True)
    return folder


@pytest.fixture
def folder(begun, tmp_path):
    """A copy of that folder: the process that wrote it has ended."""
    return shutil.copytree(begun, tmp_path, dirs_exist_ok=True)


def rows(folder, query):
    db = sqlite3.connect(folder / "desk.db")
    try:
        with db:
            return db.execute(query).fetchall()
    finally:
        db.close()


def turns(folder):
    return [json.loads(text) for (text,) in rows(folder, "SELECT turn FROM turns ORDER BY rowid")]


def airline(folder):
    return json.loads(rows(folder, "SELECT airline FROM airlines")[0][0])


def test_the_conversation_has_one_result_for_each_call_in_order(folder, modules):
    run(folder, "decide", "desk.db", "7", "yes")
    run(folder, "decide", "desk.db", "6", "no")
    first, second = turns(folder)
    sent = modules["approval"].SCRIPT[0]
    assert [RawCall(**call) for call in first["calls"]] == sent.calls
    assert first["assistant"] == sent.text
    results = first["results"]
    assert [result["call_id"] for result in results] == [call.id for call in sent.calls]
    codes = [result.get("code") for result in results]
    assert codes == [None, "rejected", "tool_not_found", "invalid_params", "rejected", "rejected", None]
    assert rejection_reason(results[5]["content"]) == "A person said no."
    assert results[0]["json"]["reservation_id"] == "HAT001"
    assert [result["name"] for result in second["results"]] == ["search_direct_flight"]
    assert rows(folder, "SELECT * FROM rounds") == []


def test_nothing_is_done_before_somebody_decides(folder):
    assert turns(folder) == []
    assert airline(folder)["reservations"]["HAT001"]["status"] == "booked"
    assert len(airline(folder)["users"]["ada_moss_1815"]["payment_methods"]) == 3


def test_a_rejected_cancellation_cancels_nothing(folder):
    assert "rejected: A person said no." in run(folder, "decide", "desk.db", "7", "no")
    assert airline(folder)["reservations"]["HAT001"]["status"] == "booked"


def test_two_clicks_at_the_same_time_cancel_once(folder):
    both = [
        output(each) for each in [start(folder, "decide", "desk.db", "7", "yes", cold=True) for _ in range(2)]
    ]
    assert sorted("handled: " in each for each in both) == [False, True]
    loser = next(each for each in both if "handled: " not in each)
    assert loser in {
        "no call waits: somebody has decided already\n",
        'cancel_reservation (call "7") was run already; these wait: send_certificate\n    (call "6")\n',
    }
    payments = airline(folder)["reservations"]["HAT001"]["payment_history"]
    assert [payment["amount"] for payment in payments] == [140, -140]


def test_a_person_can_not_give_what_the_rules_forbid(folder):
    shown = run(folder, "decide", "desk.db", "6", "yes", "--change", '{"amount": 5000}')
    assert "rejected: A certificate may be worth at most 100 USD." in shown


def test_a_change_that_does_not_fit_leaves_the_call_waiting(folder):
    shown = run(folder, "decide", "desk.db", "6", "yes", "--change", '{"amount": "much"}')
    assert 'amount: expected number, got string "much"' in shown
    assert "worth 80" in run(folder, "decide", "desk.db", "6", "yes")


def test_a_changed_database_runs_nothing(folder):
    ((saved,),) = rows(folder, "SELECT round FROM rounds")
    changed = saved.replace('"amount": 80', '"amount": 99')
    assert changed != saved
    rows(folder, f"UPDATE rounds SET round = '{changed.replace(chr(39), chr(39) * 2)}'")  # noqa: S608  # our own data
    process = start(folder, "decide", "desk.db", "6", "yes")
    _, err = process.communicate(timeout=LONGEST_WAIT)
    assert process.returncode == 1
    assert 'send_certificate (call "6"): ' in err
    assert RestoreError.__name__ in err
    assert len(airline(folder)["users"]["ada_moss_1815"]["payment_methods"]) == 3


def test_after_a_crash_nothing_runs_a_second_time(folder, modules):
    with modules["desk"].Desk(folder / "desk.db") as desk:
        assert desk.claim() is not None  # and the process ends here
    assert run(folder, "decide", "desk.db", "7", "yes") == "no call waits: somebody has decided already\n"
    assert airline(folder)["reservations"]["HAT001"]["status"] == "booked"


def test_a_turn_goes_into_the_conversation_once(folder, modules):
    async def twice():
        with modules["desk"].Desk(folder / "desk.db") as desk:
            work = desk.claim().reject("6").reject("7")
            again = modules["policy"].TOOLSET.restore_round(work.as_dict())
            work.commit(desk)
            with pytest.raises(sqlite3.IntegrityError):
                again.commit(desk)

    asyncio.run(twice())
    assert len(turns(folder)) == 1


def test_the_policy_names_tools_that_are_there(modules):
    policy = modules["policy"]
    assert {name for _, names in policy.POLICY.for_calls(policy.TOOLSET).before for name in names or ()} == {
        "get_reservation_details",
        "send_certificate",
    }
    assert policy.TOOLSET["cancel_reservation"].annotations.confirm
