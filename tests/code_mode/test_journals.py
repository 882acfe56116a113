"""A journal that keeps a number of programs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from time import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema.code_mode import Journal
from operator_schema.code_mode import journal as journal_module
from operator_schema.code_mode.journal import JournalEntry
from operator_schema.rounds import StoreError

CALL = JournalEntry("pay", "{}", "waiting", {"reason": ""})


def begun(journal, number):
    program = journal.add(f"program_{number}", "pay()")
    journal.write(program, {0: CALL})
    return program


def kept(journal, numbers):
    """Return which programs are there."""
    found = []
    for number in range(numbers):
        try:
            journal.load(f"program_{number}")
        except StoreError:
            assert journal.entries(f"program_{number}") == {}
        else:
            found.append(number)
    return found


@given(st.lists(st.sampled_from(["done", "failed", "waiting", "running"]), max_size=12), st.integers(1, 5))
def test_the_oldest_programs_are_forgotten_first_those_that_have_ended(states, most):
    journal = Journal(most=most)
    expected = []
    for number, state in enumerate(states):
        program = begun(journal, number)
        expected.append((number, "running"))
        by_age = [
            *[one for one in expected if one[1] in {"done", "failed"}],
            *[one for one in expected if one[1] == "waiting"],
        ]
        too_many = by_age[: max(0, len(expected) - most)]
        expected = [one for one in expected if one not in too_many]
        assert kept(journal, number + 1) == [one for one, _ in expected]
        if state != "running":
            ended = None if state == "waiting" else {"output": "", "value": 1, "error": None}
            journal.end(program, state, ended)
            expected[-1] = (number, state)


def test_the_calls_of_a_program_that_waits_are_kept_and_of_one_that_has_ended_are_not():
    journal = Journal(most=2)
    journal.end(begun(journal, 0), "waiting", None)
    assert journal.entries("program_0") == {0: CALL}
    claimed = journal.claim("program_0", None, approved=False)
    journal.end(claimed, "done", {"output": "", "value": 1, "error": None})
    assert journal.entries("program_0") == {}
    assert journal.load("program_0").ended["value"] == 1


def test_a_file_keeps_as_many_and_all_if_nothing_is_said(tmp_path):
    for most, left in ((3, 3), (None, 23)):
        for number in range(20):
            journal = Journal(tmp_path / "j.db", most=most)
            name = f"{most}_{number}"
            journal.end(begun(journal, name), "done", None)
        with sqlite3.connect(tmp_path / "j.db") as db:
            assert db.execute("SELECT count(*) FROM programs").fetchone() == (left,)
            calls = db.execute("SELECT count(*) FROM program_calls").fetchone()
        assert calls == (0 if most else 20,)
        db.close()


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "3"])
def test_a_wrong_number_is_refused(most):
    with pytest.raises(ValueError, match="most must be an integer above 0"):
        Journal(most=most)


@pytest.mark.parametrize(
    ("name", "arguments", "is_same"),
    [
        ("pay", '{"a": {"c": 1, "d": 2}, "b": true}', True),
        ("pay", '{"b": true, "a": {"d": 2, "c": 1}}', True),
        ("pay", '{"a": {"c": 1, "d": 2}, "b": 1}', False),
        ("pay", '{"a": {"c": 1.0, "d": 2}, "b": true}', False),
        ("add", '{"a": {"c": 1, "d": 2}, "b": true}', False),
    ],
)
def test_a_call_is_the_same_in_whatever_order_its_arguments_are(name, arguments, is_same):
    entry = CALL.replace(arguments='{"a": {"c": 1, "d": 2}, "b": true}')
    assert entry.is_call(name, arguments) is is_same


@pytest.mark.parametrize("path", [5, True, b"a.db", ["a.db"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(TypeError, match="the path of a journal must be a string or a Path, not"):
        Journal(path)


@pytest.mark.parametrize("path", ["", ":memory:"])
def test_a_journal_in_memory_is_one_without_a_path(path):
    with pytest.raises(ValueError, match=r"a journal in memory has no path: write Journal\(\)"):
        Journal(path)


ENDED = {"output": "", "value": 1, "error": None}


@pytest.mark.parametrize("file", [None, "j.db"])
def test_who_lost_a_program_changes_nothing_any_more(tmp_path, file):
    journal = Journal(None if file is None else tmp_path / file)
    before = begun(journal, 0)
    journal.take_back("program_0")
    for is_claimed in (False, True):
        claimed = journal.claim("program_0", None, approved=False) if is_claimed else None
        saved = journal.load("program_0")
        for late in (
            lambda: journal.write(before, {0: CALL.replace(state="done"), 1: CALL}),
            lambda: journal.forget(before, [0]),
            lambda: journal.end(before, "done", ENDED),
        ):
            with pytest.raises(StoreError, match="was taken back in the meantime"):
                late()
        journal.put_back(before, {})
        assert (journal.load("program_0"), journal.entries("program_0")) == (saved, {0: CALL})
    assert journal.end(claimed, "done", ENDED).state == "done"


@pytest.mark.parametrize("jump", [-100_000.0, 0.0, 100_000.0])
def test_a_program_that_died_is_found_whatever_the_clock_says(monkeypatch, jump):
    journal = Journal()
    begun(journal, 0)
    then = time()
    monkeypatch.setattr(journal_module, "time", lambda: then + jump)
    assert journal.stuck() == ["program_0"]
    assert journal.stuck(seconds=3600) == ["program_0"] * (jump != 0)
    assert journal.stuck(seconds=10**30) == []


@pytest.mark.parametrize("file", [None, "j.db"])
def test_what_can_not_be_written_as_a_whole_is_not_written(tmp_path, file):
    journal = Journal(None if file is None else tmp_path / file)
    program = begun(journal, 0)
    with pytest.raises(StoreError, match="can't be used"):
        journal.write(program, {1: CALL, 2: CALL.replace(name=None)})
    assert journal.entries("program_0") == {0: CALL}
    journal.write(program, {1: CALL})
    assert len(journal.entries("program_0")) == 2


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda path: path.write_text("name,age\n" * 100),
            "file is not a database; give the path of another",
        ),
        (lambda path: path.mkdir(), "unable to open database file; it is a folder: give the path of a file"),
        (lambda path: path / "gone", "unable to open database file; create its folder"),
    ],
    ids=["something else", "a folder", "no folder"],
)
def test_a_file_that_can_not_be_a_journal_is_named_with_a_remedy(tmp_path, spoil, message):
    path = tmp_path / "programs.db"
    made = spoil(path)
    path = made if isinstance(made, Path) else path
    with pytest.raises(StoreError) as raised:
        Journal(path)
    assert str(raised.value).startswith(f"the journal {path} can't be used: {message}")


def test_an_id_that_nobody_could_have_got_is_unknown():
    journal = Journal()
    for use in (journal.load, journal.take_back):
        with pytest.raises(StoreError, match="isn't in the journal"):
            use("\ud800")
        with pytest.raises(StoreError, match=r'^the program "" isn.t in the journal'):
            use("")
        with pytest.raises(TypeError, match="the id of a program must be a string"):
            use(None)


def test_a_journal_that_may_only_be_read_is_read(tmp_path, monkeypatch):
    path = tmp_path / "j.db"
    Journal(path).add("p1", "1 + 1")
    connect = sqlite3.connect

    def only_reading(name, **options):
        return connect(f"{Path(name).absolute().as_uri()}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", only_reading)
    journal = Journal(path)
    assert journal.stuck() == ["p1"]
    assert journal.load("p1").code == "1 + 1"
    assert journal.entries("p1") == {}
    with pytest.raises(StoreError, match="readonly"):
        journal.take_back("p1")
