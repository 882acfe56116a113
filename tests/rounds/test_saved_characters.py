"""Whatever characters a model writes: every encoding and database takes what is saved, and it comes back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_samples import done
from saving_samples import SECRET, TOOLS, nested, problems, refused, resealed

from operator_schema import EncodeError, RawCall, Reject, ToolResult, Transcript
from operator_schema.json_values import has_surrogate
from operator_schema.rounds import Question, RestoreError

LONE = "\ud800"


def joined(text):
    """Return a text in which two halves of a character, side by side, are it: JSON can't tell them apart."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


LETTERS = st.characters() | st.sampled_from([LONE, "\udfff", "\ude00", "\U0001f600", "\0"])
TEXTS = st.text(LETTERS, max_size=4).map(joined)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["anything", "anything", "cancel", "choose", "parts"]) | TEXTS
ARGUMENTS = st.fixed_dictionaries({"value": VALUES}) | VALUES | st.builds(json.dumps, VALUES) | TEXTS
CALLS = st.builds(RawCall, TEXTS, NAMES, ARGUMENTS)


def written(data):
    """Return data as UTF-8, and as a database that knows Unicode reads them."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    assert not has_surrogate(text)
    return text.encode()


@given(st.lists(CALLS, max_size=4), VALUES, st.sampled_from([None, SECRET]), st.data())
def test_a_plan_comes_back_whatever_characters_are_in_it(calls, message, secret, data):
    plan = TOOLS.offer().round(calls, assistant=message).confirmed()
    for state in plan.calls:
        step = data.draw(st.sampled_from(["leave it", "reject", "ask", "answer", "complete"]))
        is_open = state in plan.pending or state in plan.deferred
        if step == "reject" and is_open:
            plan = plan.reject(state.index, data.draw(TEXTS))
        elif step in {"ask", "answer"} and state in plan.pending and state.name == "choose":
            asked = state.defer("?", Question("?", "seat", {"type": "string"}))
            plan = plan.replace(calls=tuple(asked if each is state else each for each in plan.calls))
            plan = plan if step == "ask" else plan.answer(state.index, "window")
        elif step == "complete" and state in plan.pending and state.name == "anything":
            plan = plan.with_results([state.handled("done")])
    saved = plan.as_dict(secret=secret)
    restored = TOOLS.restore_round(written(saved), secret=secret)
    assert restored == plan
    assert restored.calls == plan.calls
    assert [state.raw for state in restored.calls] == [state.raw for state in plan.calls]
    assert restored.assistant == message
    assert restored.as_dict(secret=secret) == saved
    written(restored.reject_open().commit(Transcript()).as_dict())


def test_halves_of_a_character_side_by_side_are_saved_as_the_character():
    plan = TOOLS.offer().round([RawCall("a", "anything", {})], assistant=LONE + "\udfff").confirmed()
    assert TOOLS.restore_round(written(plan.as_dict())).assistant == "\U000103ff"


def test_only_what_needs_it_is_written_as_a_text():
    calls = [
        RawCall("a", "anything", {"value": LONE}),
        RawCall(LONE, "x" + LONE, {}),
        RawCall("b", "anything", {"value": "\U0001f600"}),
    ]
    saved = TOOLS.offer().round(calls, assistant=[LONE]).confirmed().as_dict()
    first, second, third = saved["calls"]
    assert (first["texts"], first["arguments"]) == (["arguments"], '{"value": "\\ud800"}')
    assert first["id"] == "a"
    assert (second["texts"], second["id"], second["name"]) == (["id", "name"], '"\\ud800"', '"x\\ud800"')
    assert "texts" not in third
    assert (saved["texts"], saved["assistant"]) == (["assistant"], '["\\ud800"]')


def test_a_turn_as_data_has_replacement_characters():
    turn = (
        TOOLS.offer().round([RawCall(LONE, "x", {LONE: [LONE, 1]})], assistant={"a" + LONE: LONE}).commit([])
    )
    data = turn.as_dict()
    assert data["assistant"] == {"a\ufffd": "\ufffd"}
    assert data["calls"] == [{"id": "\ufffd", "name": "x", "arguments": {"\ufffd": ["\ufffd", 1]}}]
    assert data["results"][0]["call_id"] == "\ufffd"
    assert turn.calls[0].id == LONE  # the turn itself is what the model sent


@pytest.mark.parametrize(
    "result",
    [
        ToolResult("a", "anything", LONE),
        ToolResult("a", "anything", "x", json={"a": LONE}),
        ToolResult("a", "anything", "x", json=object()),
    ],
)
def test_a_result_that_can_not_be_saved_is_refused_at_once(result):
    plan = TOOLS.offer().round([RawCall("a", "anything", {"value": 1})]).confirmed()
    with pytest.raises(EncodeError, match="the result of anything"):
        plan.with_results([result])


# --- texts that somebody else has written ----------------------------------------------------------


def call_with(texts, **changes):
    """Return a plan as data, in which one call has other texts, with right digests."""
    plan = done(
        TOOLS.offer().round([RawCall("a", "cancel", {"booking": "1"})]).apply(lambda call: Reject("no"))
    )
    saved = plan.as_dict()
    saved["calls"][0].update(texts=texts, **changes)
    return resealed(saved)


@pytest.mark.parametrize(
    "data",
    [
        call_with(5),
        call_with(None),
        call_with("abc"),
        call_with([[]]),
        call_with([5]),
        call_with(["more"]),
        call_with(["answers"]),
        call_with(["state"]),
        call_with(["arguments"]),
        call_with(["arguments"], arguments="{"),
        call_with(["arguments"], arguments="NaN"),
        call_with(["arguments"], arguments="9" * 5_000),
        call_with(["arguments"], arguments="[" * 211 + "]" * 211),
        call_with(["arguments"], arguments="[" * 100_000),
        call_with(["id"], id="5"),
        call_with(["name"], name="null"),
    ],
)
def test_a_call_with_texts_that_are_none_is_an_issue(data):
    error = refused(data)
    assert [code for code, _ in problems(error)] == ["data_changed"]
    assert len(str(error)) < 1_000
    assert [issue.code for issue in error.round.issues] == ["execution_failed"]
    written(error.round.as_dict())


@pytest.mark.parametrize(
    "changes",
    [
        {"texts": 5},
        {"texts": ["calls"], "calls": "[]"},
        {"texts": ["assistant"], "assistant": "{"},
        {"texts": ["assistant"], "assistant": json.dumps(nested(211))},
        {"texts": ["assistant"]},
        {"texts": ["format"], "format": "2"},
    ],
)
def test_a_plan_with_texts_that_are_none_is_refused(changes):
    saved = {**TOOLS.offer().round([]).confirmed().as_dict(), **changes}
    saved = resealed(saved) if isinstance(saved["calls"], list) else saved
    with pytest.raises(RestoreError) as caught:
        TOOLS.restore_round(saved)
    assert [problem.code for problem in caught.value.findings] == ["not_a_round"]


def test_a_text_may_also_hold_what_needs_none():
    restored = TOOLS.restore_round(call_with(["arguments", "id"], arguments='{"booking": "2"}', id='"b"'))
    assert restored.calls[0].raw == RawCall("b", "cancel", {"booking": "2"})
