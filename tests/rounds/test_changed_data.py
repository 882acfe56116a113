"""Saved plans that were damaged, or changed on purpose."""

from __future__ import annotations

import pytest
from saving_samples import SECRET, mixed, problems, refused, resealed, saved

from operator_schema.rounds.signatures import digests_with, what_is_signed

pytestmark = pytest.mark.needs_threads


CHANGES = [
    (2, "state", "pending"),
    (2, "state", "issue"),
    (2, "approved", True),
    (2, "arguments", {"booking": "other"}),
    (2, "input", {"booking": "other"}),
    (2, "name", "choose"),
    (2, "answers", {"seat": "1"}),
    (2, "reason", ""),
    (2, "question", {"text": "?", "parameter": "p", "answer_schema": {}}),
    (2, "unknown", None),
    (2, "digest", None),
    (2, "digest", "é\ud800"),
    (0, "result", {"content": "other"}),
    (0, "by", "host"),
    (0, "state", "pending"),
    (1, "state", "pending"),
    (1, "reason", "other"),
    (4, "content", "other"),
    (4, "code", "disabled"),
    (7, "approved", False),
    (7, "input", None),
]


@pytest.mark.parametrize("secret", [None, SECRET])
@pytest.mark.parametrize(("index", "field_name", "value"), CHANGES, ids=lambda value: ascii(value)[:20])
def test_a_call_that_was_changed_is_an_issue_and_the_others_stay(index, field_name, value, secret):
    plan = mixed()
    data = saved(plan, secret)
    data["calls"][index][field_name] = value
    error = refused(data, secret=secret)
    # With a digest of its own, a call is bound to the whole.
    if field_name == "digest":
        assert problems(error) == [("data_changed", None)]
        return
    assert problems(error) == [("data_changed", f"c{index}")]
    others = [state for state in error.round.calls if state.index != index]
    assert others == [state for state in plan.calls if state.index != index]
    issue = error.round.calls[index]
    assert (issue.code, issue.id) == ("execution_failed", f"c{index}")
    assert issue.content == "this call can't be restored: its saved data were changed"


@pytest.mark.parametrize("digest", [None, 5, ["a"]])
def test_a_call_whose_digest_is_no_text_is_an_issue_though_the_whole_is_signed_anew(digest):
    data = saved(mixed())
    data["calls"][2]["digest"] = digest
    whole = {key: value for key, value in data.items() if key != "digest"}
    data["digest"] = digests_with(None)[0](what_is_signed(whole))
    assert problems(refused(data)) == [("data_changed", "c2")]


def test_an_id_that_was_changed_makes_the_whole_unusable():
    # A result with another id would make a provider refuse the conversation.
    data = saved(mixed())
    data["calls"][0]["id"] = "c9"
    assert problems(refused(data)) == [("data_changed", None)]


def without_key(data):
    return resealed(data)


def call_left_out(data):
    del data["calls"][2]
    return data


def call_doubled(data):
    data["calls"].append(data["calls"][7])
    return data


def calls_reordered(data):
    data["calls"].reverse()
    return data


def call_of_another_plan(data):
    data["calls"][2] = saved(mixed().approve("c2"), SECRET)["calls"][2]
    return data


def deferred_made_pending(data):
    data["calls"][2]["state"] = "pending"
    data["calls"][2]["approved"] = True
    return resealed(data)


@pytest.mark.parametrize(
    "change",
    [
        without_key,
        call_left_out,
        call_doubled,
        calls_reordered,
        call_of_another_plan,
        deferred_made_pending,
        lambda data: resealed(data, b"another key of 32 bytes or so"),
        lambda data: {**data, "offered": [*data["offered"], "more"]},
    ],
)
def test_with_a_secret_changes_on_purpose_are_noticed(change):
    error = refused(change(saved(mixed(), SECRET)), secret=SECRET)
    assert problems(error) == [("data_changed", None)]
    assert error.round is None
    assert "(or they were saved with another secret, or without one)" in str(error)


def test_a_plan_without_signature_is_refused_where_one_is_wanted_and_the_other_way_round():
    plan = mixed()
    assert problems(refused(saved(plan), secret=SECRET)) == [("data_changed", None)]
    assert problems(refused(saved(plan, SECRET))) == [("data_changed", None)]


@pytest.mark.parametrize(
    ("index", "changes", "complaint"),
    [
        (0, {"result": None}, "it has no result"),
        (0, {"result": None, "by": None}, "it has no result and no by"),
        (0, {"state": "done"}, "state: "),
        (0, {"result": {"content": 5}}, "result.content: expected string"),
        (0, {"result": {"content": "x", "parts": [{"type": "image"}]}}, "bytes"),
        (0, {"result": {"content": "x", "parts": [{"type": "text"}]}}, "string"),
        (0, {"result": {"content": "x", "parts": [{"type": "resource", "uri": "x"}]}}, "absolute"),
        (1, {"by": None}, "it has no by"),
        (2, {"more": 1}, "more: unknown"),
        (4, {"content": None}, "it has no content"),
    ],
)
def test_a_call_of_another_form_is_an_issue_also_with_right_digests(index, changes, complaint):
    data = saved(mixed())
    data["calls"][index].update(changes)
    error = refused(resealed(data))
    assert problems(error) == [("data_changed", f"c{index}")]
    assert complaint in str(error)
    assert len(error.round.calls) == 8
