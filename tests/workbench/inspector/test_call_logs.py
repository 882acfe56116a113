"""Logs of calls, and calls that were tried: which fail, why, and what a change of the tools changes."""

from __future__ import annotations

import gzip
import json
from errno import ENOSPC
from pathlib import Path

import pytest

from operator_schema import tool
from operator_schema.workbench.inspector import call_logs, subject_of, tried_calls
from operator_schema.workbench.inspector.call_logs import read_log, replayed_log
from operator_schema.workbench.inspector.tried_calls import TriedCalls

NO_TRIED_CALLS = ["x", "[]", "{}", '{"name": "a", "arguments": {}, "outcome": {}}', "[" * 100_000]


def log(tmp_path, *lines):
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join([line if isinstance(line, str) else json.dumps(line) for line in lines]))
    return path


def test_a_failing_call_of_a_log_says_why(subject, tmp_path):
    path = log(
        tmp_path,
        {"name": "find_articles", "arguments": {"text": "a"}},
        {"name": "refund", "arguments": '{"orderId": "7", "amount": 2}'},
        "",
        {"name": "refund", "arguments": '{"order_id": 7, "amount": "ten"}', "result": {"content": "wrong"}},
        {"name": "refund", "arguments": {"order_id": 8, "amount": "six"}},
        {"name": "refnd", "arguments": {}},
        "not JSON",
    )
    found = replayed_log(read_log(path), subject.tool)
    assert found["counts"] == {
        "calls": 6,
        "fit": 2,
        "repaired": 1,
        "failing": 3,
        "redacted": 0,
        "unreadable": 1,
    }
    first = found["failing"][0]
    assert (first["record"], first["tool"]) == (3, "refund")
    assert json.loads(first["arguments"])["order_id"] == 7
    assert "amount: " in first["text"]
    assert found["reasons"][0] == {"tool": "refund", "path": "amount", "code": "bad_format", "calls": 2}
    assert "did you mean refund" in found["failing"][2]["text"]
    assert found["failing"][3]["tool"] is None
    assert found["failing"][3]["text"].startswith("it isn't JSON")


def test_redacted_values_are_no_reason_to_fail(subject, tmp_path):
    path = log(
        tmp_path,
        {"name": "refund", "arguments": {"order_id": "[redacted]", "amount": 2}},
        {"name": "refund", "arguments": "[redacted]"},
        {"name": "refund", "arguments": {"order_id": "[redacted]", "amount": "ten"}},
    )
    found = replayed_log(read_log(path), subject.tool)
    assert found["counts"] == {
        "calls": 3, "fit": 0, "repaired": 0, "failing": 1, "redacted": 2, "unreadable": 0,
    }  # fmt: skip
    assert found["reasons"] == [{"tool": "refund", "path": "amount", "code": "bad_format", "calls": 1}]


def test_other_forms_of_a_log_are_read_too(subject, tmp_path):
    call = {"type": "tool_use", "id": "1", "name": "refund", "input": {"order_id": 1}}
    path = log(tmp_path, {"role": "assistant", "content": [call, call]}, {"role": "user", "content": "hello"})
    assert [(one.record, one.name) for one in read_log(path)] == [(1, "refund"), (1, "refund"), (2, None)]
    packed = tmp_path / "calls.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_log(packed) == read_log(path)
    failing = replayed_log(read_log(path), subject.tool)["failing"]
    assert (failing[2]["text"], failing[2]["tool"]) == ("there is no call in it", None)


def test_a_log_is_bounded(subject, tmp_path, monkeypatch):
    call = {"name": "refund", "arguments": {}}
    path = log(tmp_path, *[call] * 400, {"name": "refund", "arguments": "x" * 1_100_000})
    calls = read_log(path)
    assert len(calls) == 401
    found = replayed_log(calls, subject.tool)
    assert found["counts"]["failing"] == 401
    assert len(found["failing"]) == 300
    monkeypatch.setattr(call_logs, "_MOST_CHARACTERS", 10)
    assert len(replayed_log(calls, subject.tool)["failing"]) == 5  # two characters each
    monkeypatch.setattr(call_logs, "_MOST_CALLS", 10)
    assert len(read_log(path)) == 10
    monkeypatch.setattr(call_logs, "LARGEST_LOG", 2**20)
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        read_log(path)


def order(limit):
    @tool(name="order")
    def made(count: int) -> None:
        """Order.

        Args:
            count: How many.
        """

    if limit is None:
        return made

    @tool(name="order")
    def other(count: int, limit: int = 3) -> None:
        """Order."""

    return other


@pytest.mark.parametrize("in_file", [False, True])
def test_a_change_shows_which_tried_calls_are_read_differently(tmp_path, in_file):
    path = tmp_path / "tried.jsonl" if in_file else None
    tried, before = TriedCalls(path), subject_of("x", [order(None)])
    for arguments in ('{"count": 1}', '{"count": "x"}', '{"count": 1}', '{"count": 2, "limit": 4}'):
        tried.keep(before.tool("order"), arguments)
    assert len(tried) == 3  # each call once
    found = tried.replayed(before.tool)
    assert (found["changed"], found["summary"]) == (0, "0 of 3 read differently now")
    if in_file:
        tried = TriedCalls(path)
        assert path.stat().st_mode & 0o077 == 0
        assert found["file"] == str(path)
    after = subject_of("x", [order(3)])
    found = tried.replayed(after.tool)
    assert found["changed"] == 3  # all have a limit now, and the text names it
    changed = next(call for call in found["calls"] if call["arguments"] == '{"count": 1}')
    assert changed["before"] == {"arguments": {"count": 1}}
    assert changed["now"] == {"arguments": {"count": 1, "limit": 3}}
    tried.accept(after.tool)
    assert tried.replayed(after.tool)["changed"] == 0
    tried.forget(0)
    tried.forget(99)
    tried.forget(-1)
    assert len(tried) == 2
    gone = tried.replayed(subject_of("x", []).tool)
    assert gone["summary"] == "2 of 2 read differently now"
    assert "there is no tool 'order'" in gone["calls"][0]["now"]["text"]


def test_words_for_none_and_for_one(subject):
    tried = TriedCalls()
    assert tried.replayed(subject.tool)["summary"] == "no calls are kept yet"
    tried.keep(subject.tool("export"), "{}")
    assert tried.replayed(subject_of("x", []).tool)["summary"] == "1 of 1 reads differently now"


def test_tried_calls_are_bounded(subject, monkeypatch):
    with pytest.raises(ValueError, match="at most 100,000 characters"):
        TriedCalls().keep(subject.tool("export"), " " * 100_001)
    monkeypatch.setattr(tried_calls, "_MOST_TRIED", 1)
    tried = TriedCalls()
    tried.keep(subject.tool("export"), "{}")
    with pytest.raises(ValueError, match="forget some first"):
        tried.keep(subject.tool("refund"), "{}")


@pytest.mark.parametrize("line", NO_TRIED_CALLS, ids=lambda line: line[:40])
def test_a_file_of_something_else_is_refused(tmp_path, line):
    path = log(tmp_path, {"name": "a", "arguments": "{}", "outcome": {}}, line)
    with pytest.raises(ValueError, match="line 2 isn't a tried call"):
        TriedCalls(path)


def test_what_can_not_be_written_is_not_kept_either(subject, tmp_path, monkeypatch):
    path = tmp_path / "tried.jsonl"
    tried = TriedCalls(path)
    tried.keep(subject.tool("export"), "{}")
    before = path.read_text()

    def is_full(*_, **__):
        raise OSError(ENOSPC, "no space")

    monkeypatch.setattr(Path, "write_text", is_full)
    for change in (
        lambda: tried.keep(subject.tool("refund"), "{}"),
        lambda: tried.forget(0),
        lambda: tried.accept(subject.tool),
    ):
        with pytest.raises(OSError, match="no space"):
            change()
        assert (len(tried), path.read_text(), [*tmp_path.iterdir()]) == (1, before, [path])
