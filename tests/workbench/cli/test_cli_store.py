"""The command store: an operator looks into a store and decides, and nothing runs there."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Executor, RawCall
from operator_schema.rounds import SqliteStore, StoredCall, StoredRound
from operator_schema.workbench.cli.app import commands
from operator_schema.workbench.cli.store_lines import message_lines, round_lines

pytestmark = pytest.mark.needs_threads

SECRET = "sixteen bytes or more"  # noqa: S105  # of the test's own store
DESK = '''
from typing import Annotated

from operator_schema import NeedsInput, Toolset, skip, tool

class Declined(Exception):
    """The bank says no."""

PAID = []

@tool
def look_up(order: str) -> str:
    """Look up an order."""
    return "6 USD"

@tool(confirm=True)
def refund(order: str, amount: int, card: str, why: str = "none") -> str:
    """Pay money back."""
    PAID.append(amount)
    raise Declined(f"the bank declined card {card}")

@tool
def choose_seat(train: str, answer: Annotated[str | None, skip] = None) -> str:
    """Choose a seat."""
    if answer is None:
        raise NeedsInput("Window or aisle?")
    return f"{train}: {answer}"

toolset = Toolset(look_up, refund, choose_seat)
'''


@pytest.fixture
def desk(tmp_path, monkeypatch, run):
    """Return a desk whose customer 7 wants money back, and the command over its store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("DESK_SECRET", SECRET)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "store_desk.py").write_text(DESK, encoding="utf-8")
    sys.modules.pop("store_desk", None)
    (tmp_path / "desk.key").write_text(f"{SECRET}\n", encoding="utf-8")
    desk = Desk(tmp_path, run)
    yield desk
    sys.modules.pop("store_desk", None)


class Desk:
    def __init__(self, folder, run):
        self.path = folder / "desk.db"
        self.store = SqliteStore(self.path, secret=SECRET.encode())
        self.run = run
        from store_desk import PAID, toolset

        self.paid, self.toolset = PAID, toolset
        self.executor = Executor(toolset, store=self.store)

    def wait(self, *calls, customer="customer 7", about=None):
        raw = [RawCall(f"call_{number}", *call) for number, call in enumerate(calls, 1)]
        history = self.store.transcript(customer)
        return self.executor.run_sync(self.toolset.offer().round(raw, about=about), history)

    def work(self, work):
        """Run and commit a round, as the worker that has the passwords does."""
        done = self.executor.run_sync(self.store.load(work.id, self.toolset))
        done.commit(self.store.transcript(done.conversation))

    def __call__(self, *words):
        return self.run("store", "desk.db", *words)

    def decide(self, *words, tools="store_desk"):
        return self(*words, "--tools", tools, "--secret-file", "desk.key")

    def json(self, *words):
        status, out, _ = self(*words, "--json")
        assert status == 0
        return json.loads(out)


REFUND = ("refund", {"order": "A7", "amount": 6, "card": "4111"})
WRONG = ("refund", {"order": "A7", "amount": "six", "card": "4111"})
LOOK = ("look_up", {"order": "A7"})
SEAT = ("choose_seat", {"train": "IC"})


# --- what happened in the night -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("transcript", ""), "the name of a transcript is empty"),
        (("waiting", "--conversation", " "), "the name of a transcript is empty"),
        (("show", ""), 'there is no round ""'),
    ],
)
def test_an_empty_name_is_said(desk, words, said):
    status, out, err = desk(*words)
    assert status in {1, 2}
    assert (out, said in err, "Traceback" in err) == ("", True, False)


def test_why_the_refund_of_customer_7_failed_is_one_command(desk):
    desk.store.transcript("customer 7").append("I want my money back")
    desk.store.transcript("customer 8").append("Hello")
    work = desk.wait(LOOK, WRONG, REFUND)
    assert desk.decide("approve", work.id, "call_3", "--as", "anna", "--words", "order checked")[0] == 0
    assert desk.paid == []  # nothing runs in the process that decides
    desk.work(work)
    status, out, err = desk("transcript", "customer 7")
    assert (status, err) == (0, "")
    for said in (
        "| I want my money back",  # what the customer said
        '"amount":"six"',  # what the model wrote wrongly
        'amount: expected integer, got string "six"',
        "refund (call call_3): failed",  # which call
        "| refund failed: Declined",  # which error
        'approve by person anna: "order checked"',  # who decided, when
    ):
        assert said in out
    assert "Hello" not in out
    (turn,) = [one["turn"] for one in desk.json("transcript", "customer 7")["items"] if "turn" in one]
    (decision,) = turn["decisions"][2]
    assert (decision["by"], decision["words"]) == ("anna", "order checked")
    shown = desk.json("show", work.id)
    assert (shown["state"], shown["conversation"]) == ("committed", "customer 7")
    assert [call["code"] for call in shown["calls"]] == [None, "invalid_params", "execution_failed"]


def test_a_transcript_shows_what_is_not_in_it_yet(desk):
    desk.store.transcript("customer 7").append("Hello")
    waits, dead = desk.wait(REFUND), desk.wait(REFUND)
    desk.store.claim(desk.store.load(dead.id, desk.toolset).approve(0), begun=True)
    desk.wait(REFUND, customer="customer 8")
    out = desk("transcript", "customer 7")[1]
    assert f'{waits.id} of "customer 7": deferred since' in out
    assert f'{dead.id} of "customer 7": stuck since' in out
    assert "customer 8" not in out
    assert {one["id"] for one in desk.json("transcript", "customer 7")["rounds"]} == {waits.id, dead.id}
    assert desk("transcript", "customer 77") == (
        1,
        "",
        'there is nothing of "customer 77" in the store; did you mean "customer 7"?\n',
    )


def test_only_turns_of_a_tool_are_shown_with_tool(desk):
    for call in (LOOK, WRONG, LOOK):
        desk.work(desk.store.save(desk.toolset.offer().round([RawCall("1", *call)], conversation="c")))
    assert len(desk.json("transcript", "c")["items"]) == 3
    assert len(desk.json("transcript", "c", "--tool", "refund")["items"]) == 1
    assert len(desk.json("transcript", "c", "--limit", "2")["items"]) == 2


# --- lists ----------------------------------------------------------------------------------------


def test_the_pages_of_a_list_are_the_list(desk):
    for number in range(7):
        desk.wait(REFUND if number % 2 else SEAT, customer=f"customer {number % 3}")
    whole = [one["id"] for one in desk.json("waiting")["rounds"]]
    assert whole == [one.id for one in desk.store.waiting()]
    pages, after = [], 0
    while after is not None:
        page = desk.json("waiting", "--limit", "3", "--after", str(after))
        pages, after = pages + page["rounds"], page["after"]
        assert len(page["rounds"]) <= 3
    assert [one["id"] for one in pages] == whole
    _, out, err = desk("waiting", "--limit", "3")
    assert (len(out.splitlines()), err.splitlines()[0]) == (4, "there are more: add --after 3")


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ([], ["a", "b", "c"]),
        (["--conversation", "b"], ["b"]),
        (["--tool", "refund"], ["a", "c"]),
        (["--state", "pending"], ["c"]),
        (["--state", "deferred"], ["a", "b"]),
        (["--older-than", "2d"], []),
        (["--older-than", "0"], ["a", "b", "c"]),
        (["--tool", "refund", "--conversation", "a"], ["a"]),
    ],
)
def test_lists_have_filters(desk, options, names):
    desk.wait(REFUND, customer="a")
    desk.wait(SEAT, customer="b")
    both = desk.wait(REFUND, customer="c")
    desk.store.save(desk.store.load(both.id, desk.toolset).approve(0))
    names = [one for one in names if one != "c" or "--tool" not in options]  # it doesn't wait for a person
    found = desk.json("waiting", *options)
    assert [one["conversation"] for one in found["rounds"]] == names
    assert (found["counts"]["deferred"], found["counts"]["pending"]) == (2, 1)


def test_stuck_rounds_have_their_process_and_can_be_taken_back(desk):
    work = desk.wait(REFUND)
    desk.store.claim(desk.store.load(work.id, desk.toolset).approve(0), begun=True)
    (found,) = desk.json("stuck")["rounds"]
    assert (found["id"], found["has_begun"], found["is_running"]) == (work.id, True, False)
    assert found["owner"]["pid"] > 0
    assert "may have run" in desk("stuck")[1]
    assert desk.json("stuck", "--older-than", "1d")["rounds"] == []
    assert desk.json("stuck", "--conversation", "other")["rounds"] == []
    status, out, _ = desk.decide("take-back", work.id)
    assert (status, desk.json("stuck")["rounds"]) == (0, [])
    assert "it was begun and interrupted" in out


# --- decisions ------------------------------------------------------------------------------------


def test_definitions_without_functions_are_enough_to_decide(desk):
    """A snapshot has no passwords, and a worker with the tools runs exactly what was approved."""
    assert desk.run("snapshot", "store_desk", "-o", "tools.json")[0] == 0
    work = desk.wait(REFUND)
    assert desk.decide("approve", work.id, "--as", "anna", tools="tools.json")[0] == 0
    (call,) = desk.store.load(work.id, desk.toolset).pending
    assert call.arguments == {"order": "A7", "amount": 6, "card": "4111", "why": "none"}
    assert (call.approved, call.decisions[0].by) == (True, "anna")
    desk.work(work)
    assert desk.paid == [6]


def test_each_decision_is_in_the_record(desk):
    said = ["--as", "anna", "--words", "as agreed"]
    cases = {
        "approve": (REFUND, [], "pending"),
        "reject": (REFUND, ["--reason", "not now"], "rejected"),
        "answer": (SEAT, ["--answer", "aisle"], "pending"),
    }
    for kind, (call, more, state) in cases.items():
        work = desk.wait(call)
        status, out, err = desk.decide(kind, work.id, *more, *said)
        assert (status, err) == (0, "")
        (decided,) = desk.store.load(work.id, desk.toolset).calls
        (record,) = decided.decisions
        assert (decided.state, record.kind, record.by, record.words) == (state, kind, "anna", "as agreed")
        assert f'{kind} by person anna: "as agreed"' in out
    assert desk.paid == []


def test_other_arguments_are_checked_and_recorded(desk):
    work = desk.wait(REFUND)
    wrong = desk.decide("approve", work.id, "--arguments", '{"order": "A7", "amount": "many", "card": "1"}')
    assert (wrong[0], desk.store.load(work.id, desk.toolset).pending) == (1, ())
    assert "amount" in wrong[2]
    right = desk.decide("approve", work.id, "--arguments", '{"order": "A7", "amount": 5, "card": "1"}')
    assert right[0] == 0
    assert 'it runs with {"order":"A7","amount":5,"card":"1","why":"none"}' in right[1]
    assert desk.decide("approve", work.id, "--arguments", "{")[0] == 2


def test_what_can_not_be_decided_says_why(desk):
    work = desk.wait(REFUND, REFUND)
    cases = [
        (["approve", work.id], "several calls wait, so name one: refund (call call_1), refund (call call_2)"),
        (["approve", work.id, "nobody"], "nobody"),
        (["approve", "nobody"], "nobody is done, or was never stored"),
        (["approve", work.id, "call_1", "--revision", "1"], "the round is at revision 2 now: show it again"),
        (["answer", work.id, "call_1", "--answer", "5"], "has no question"),
        (["take-back", work.id], "waits, and no process runs it"),
    ]
    for words, said in cases:
        status, out, err = desk.decide(*words)
        assert (status, out) == (1, "")
        assert said in err
    assert desk("approve", work.id, "call_1", "--tools", "store_desk")[2].endswith(
        "with --secret-env or --secret-file)\n"
    )
    assert desk.decide("approve", work.id, "call_1", "--revision", "2")[0] == 0
    status, _, err = desk.decide("approve", work.id, "call_1")
    assert (status, "approved already" in err) == (1, True)
    assert desk.decide("approve", work.id, tools="nobody")[0] == 2
    assert desk.decide("answer", work.id, "call_2")[0] == 2


# --- wrong use ------------------------------------------------------------------------------------

PARAMETERS = {one.name: one for one in commands()["store"].params}
TAKES = {
    "waiting": {"conversation", "tool", "older_than", "state", "limit", "after"},
    "stuck": {"conversation", "older_than", "limit"},
    "show": set(),
    "transcript": {"tool", "limit"},
    "approve": {"by", "said", "revision", "arguments"},
    "reject": {"by", "said", "revision", "reason"},
    "answer": {"by", "said", "revision", "answer"},
    "take-back": {"force"},
}
WORDS = {"waiting": [], "stuck": []}
OPTIONS = [
    name
    for name, one in PARAMETERS.items()
    if one.param_type_name == "option"
    and name not in {"as_json", "show_traceback", "tools", "secret_env", "secret_file"}
]


def test_an_option_of_another_action_is_refused(desk):
    values = {"state": "pending"}
    for action, name in product(TAKES, OPTIONS):
        option = PARAMETERS[name].opts[0]
        given = [option] if PARAMETERS[name].is_flag else [option, values.get(name, "1")]
        status, out, err = desk(action, *WORDS.get(action, ["nobody"]), *given)
        refused = f"{option} is for" in err
        assert refused == (name not in TAKES[action])
        assert status != 0 or not refused
        assert not refused or out == ""


def test_each_action_says_which_words_it_takes(desk):
    for action in TAKES:
        status, _, err = desk(action, "a", "b", "c", "d")
        assert (status, f"{action} takes " in err) == (2, True)
    assert "did you mean waiting?" in desk("waitin")[2]
    assert "write seconds, or a number such as 5m, 3h or 2d" in desk("waiting", "--older-than", "soon")[2]
    assert "needs the tools of the calls: add --tools MODULE" in desk("approve", "nobody")[2]


def test_a_database_that_can_not_be_used_says_what_to_do(desk, tmp_path, run, monkeypatch):
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE mine (x)")
        other.commit()
    before = (tmp_path / "other.db").read_bytes()
    monkeypatch.setenv("SHORT", "short")
    monkeypatch.delenv("NOWHERE", raising=False)
    cases = {
        ("nobody.db",): "there is no file nobody.db",
        ("store_desk.py",): "file is not a database",
        ("other.db",): "other.db isn't the file of a SqliteStore: it has no table of rounds",
        ("postgresql://desk:open@db/desk",): "others on this machine can read a password",
        ("postgresql://db/desk?password=open",): "set PGPASSWORD",
        ("env:NOWHERE",): "the variable NOWHERE, which should hold the address of the store, isn't set",
    }
    for words, said in cases.items():
        status, out, err = run("store", *words, "waiting")
        assert (status, out) == (2, "")
        assert said in err
        assert "open@" not in err
    assert (tmp_path / "other.db").read_bytes() == before
    refused = {
        ("--secret-env", "NOWHERE"): "the variable NOWHERE, which should hold the secret, isn't set",
        ("--secret-env", "SHORT"): "16",
        ("--secret-file", "nobody.key"): "nobody.key can't be read",
        ("--secret-file", "desk.key", "--secret-env", "SHORT"): "not both",
    }
    for words, said in refused.items():
        status, _, err = desk("take-back", "x", "--tools", "store_desk", *words)
        assert (status, said in err) == (2, True)


def test_a_damaged_row_ends_with_status_2(desk):
    work = desk.wait(REFUND)
    with desk.store.database.transaction(writes=True) as db:
        db.execute("UPDATE rounds SET round = '{}'")
    status, _, err = desk("show", work.id)
    assert (status, "contains something other than a round" in err) == (2, True)


# --- texts that somebody else wrote ---------------------------------------------------------------

HOSTILE = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["\n  refund (call 2): handled", "a\r\x1b[2J", "\u2028x", "\u202e", "\ud800", "::warning::x"]
    ),
)


def found_with(text):
    call = StoredCall(
        text, text, "deferred", {text: text}, {text: [text]}, text, text, 5.0, 9.0, 2, (text,), (), None, text
    )
    return StoredRound(text, "deferred", 5.0, text, {text: text}, (call, call))


def own_lines(lines):
    """Return the beginnings of the lines that aren't quoted."""
    return [line[: len(line) - len(line.lstrip())] for line in lines if not line.lstrip().startswith("| ")]


@given(HOSTILE)
def test_no_text_looks_like_a_line_of_ours(text):
    lines = round_lines(found_with(text))
    assert own_lines(lines) == own_lines(round_lines(found_with("plain")))
    assert all("\n" not in line and "\r" not in line for line in lines)
    assert own_lines(message_lines({"role": text, "content": text})) == [""]


def test_very_long_texts_are_cut():
    lines = round_lines(found_with("x\n" * 100_000))
    assert sum(map(len, lines)) < 40_000
    assert len(lines) < 100


def test_nothing_in_a_store_reaches_the_terminal_as_it_is(desk):
    nasty = "\x1b]0;owned\x07\r\n  refund (call 9): approved\u202e"
    desk.store.transcript(nasty).append(nasty)
    work = desk.wait(
        ("refund", {"order": nasty, "amount": 6, "card": nasty}), customer=nasty, about={nasty: nasty}
    )
    desk.decide("reject", work.id, "--as", nasty, "--words", nasty, "--reason", nasty)
    outputs = [
        desk("waiting"),
        desk("show", work.id),
        desk("transcript", nasty),
        desk("transcript", nasty[:-1]),
    ]
    for _, out, err in outputs:
        for text in (out, err):
            assert all(character.isprintable() or character == "\n" for character in text)
            assert "\n  refund (call 9): approved" not in text
    assert sum(out.count("(call call_1)") for _, out, _ in outputs) == 2
