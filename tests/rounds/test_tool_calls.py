"""One call of a turn: its input, its results, and what it says when it is refused."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass

import pytest
from round_samples import Odd, Remember, Text, ask, fetch, pay, raw, remember, search

from operator_schema import (
    EncodeError,
    RawCall,
    RoundError,
    ToolError,
    ToolResult,
    Toolset,
    Transcript,
    tool,
    tool_input,
)
from operator_schema.content import Image
from operator_schema.rounds import Question, rejection_reason

PIXEL = Image(b"\x89PNG\r\n\x1a\n", "image/png")

toolset = Toolset(search, fetch, pay, ask, remember)


def one(entry=search, **arguments):
    """Return a call that is pending."""
    given = arguments or {search: {"query": "q"}, fetch: {"url": "u"}, pay: {"amount": 1}}[entry]
    return toolset.offer().round([raw(entry.name, **given)]).expect_one()


def test_a_call_knows_its_arguments_before_the_first_change():
    call = one(pay)
    assert call.arguments_before is None
    changed = call.with_input(pay.input_type(amount=2)).with_input(pay.input_type(amount=3))
    assert (changed.arguments_before, changed.arguments) == ({"amount": 1}, {"amount": 3})


# --- dispatch ------------------------------------------------------------------------------------


def test_match_dispatches_on_the_input():
    def described(call):
        match call.input:
            case Remember(note=note, tags=None):
                return f"note {note}"
            case Remember(note=note, tags=tags):
                return f"note {note} with {len(tags)} tags"
            case search.input_type(query=query, limit=limit):
                return f"{limit} of {query}"
        return "other"

    found = toolset.offer().round(
        [
            raw("remember", note="a"),
            raw("remember", note="a", tags=["x"]),
            raw("search", query="q", limit=3),
            raw("fetch", url="u"),
        ]
    )
    assert [described(call) for call in found.calls] == ["note a", "note a with 1 tags", "3 of q", "other"]


def test_inputs_made_of_classes_are_of_these_classes():
    @dataclass
    class Up:
        steps: int

    @dataclass
    class Down:
        steps: int
        fast: bool

    tools = Toolset(tool_input(Up), tool_input(Down))
    found = tools.offer().round([raw("down", steps=1, fast=True), raw("up", steps=2)])
    assert [type(call.input) for call in found.calls] == [Down, Up]


# --- the call ------------------------------------------------------------------------------------


def test_metadata_is_the_call_as_the_model_sent_it():
    call = toolset.offer().round([raw("search", "x", query="q")]).expect_one()
    assert call.raw == RawCall("x", "search", {"query": "q"})
    assert (call.id, call.name, call.index, call.tool) == ("x", "search", 0, search)
    assert call.arguments == {"query": "q", "limit": 10}
    assert (call.approved, call.answers) == (False, {})


def test_nobody_else_can_change_it():
    arguments = {"note": "n", "tags": ["a"]}
    call = toolset.offer().round([RawCall("1", "remember", arguments)]).expect_one()
    arguments["tags"].append("b")
    arguments["note"] = "changed"
    call.raw.arguments["tags"].append("c")
    call.raw.arguments.clear()
    call.arguments.clear()
    assert call.raw.arguments == {"note": "n", "tags": ["a"]}
    assert call.arguments == {"note": "n", "tags": ["a"]}
    for name in ("input", "index", "tool", "approved", "other"):
        with pytest.raises(AttributeError):
            setattr(call, name, 1)


def test_with_input_changes_the_input_alone():
    call = one()
    other = call.with_input(search.input_type(query="other", limit=2))
    assert other.input.query == "other"
    assert other.arguments == {"query": "other", "limit": 2}
    assert other.raw == call.raw
    assert call.input.query == "q"
    assert other != call
    assert other.with_input(call.input) == call


@pytest.mark.parametrize("given", [None, {"query": "q"}, fetch.decode({"url": "u"}), Odd(), Odd, 5])
def test_an_input_of_another_kind_is_refused(given):
    with pytest.raises(ToolError):
        one().with_input(given)


def test_an_input_that_is_not_json_is_refused():
    with pytest.raises(EncodeError):
        one().with_input(search.input_type(query=5))
    with pytest.raises(EncodeError):
        one().with_input(search.input_type(query=Odd()))


def test_a_call_is_compared_shown_copied_and_pickled():
    call = one()
    assert call == one()
    assert repr(call) == "ToolCall('c1', 'search', SearchInput(query='q', limit=10))"
    again = pickle.loads(pickle.dumps(call))
    assert again == call == copy.deepcopy(call)
    assert repr(call.handled(["a"])) == """ToolCall('c1', 'search', 'handled', "[\\"a\\"]")"""
    plan = (
        toolset.offer().round([raw("search", query="q")]).confirmed().with_results([call.fail("x" * 10_000)])
    )
    assert repr(plan.handled[0]).startswith("ToolCall('c1', 'search', 'handled', \"xxx")
    assert repr(plan.handled[0]).endswith("…\", code='execution_failed')")
    assert len(repr(plan.handled[0])) < 150
    assert repr(plan) == "<Round: 1 handled (1 failed)>"
    asked = call.defer("Sure?", Question("Sure?", "answer", {"type": "boolean"}))
    assert repr(asked).endswith("'Sure?', Question('Sure?', 'answer'))")
    assert repr(call.reject("no")) == "ToolCall('c1', 'search', 'rejected', 'no')"
    assert repr(call.defer("wait")) == (
        "ToolCall('c1', 'search', 'deferred', SearchInput(query='q', limit=10), 'wait')"
    )


# --- results -------------------------------------------------------------------------------------


def test_complete_writes_the_output_as_the_executor_would():
    result = one().complete(["a", "b"])
    assert result == ToolResult("c1", "search", '["a","b"]')
    assert (result.json, result.value, result.is_error) == (["a", "b"], ["a", "b"], False)
    assert one(fetch).complete("as it is").content == "as it is"


@pytest.mark.parametrize("output", [5, "text", [5], None, Odd(), [Odd()]])
def test_an_output_that_does_not_fit_is_refused(output):
    with pytest.raises(EncodeError):
        one().complete(output)
    with pytest.raises(EncodeError):
        one().handled(output)


def test_where_no_type_is_declared_any_json_will_do():
    call = one(remember, note="n")
    assert call.complete({"id": 5}).content == '{"id":5}'
    assert call.complete(None).json is None
    with pytest.raises(EncodeError):
        call.complete(object())


def test_content_parts_stay_parts():
    @tool
    def draw() -> Image:
        """Draw."""
        return PIXEL

    call = Toolset(draw).offer().round([raw("draw")]).expect_one()
    assert call.complete(PIXEL).parts == (PIXEL,)


def test_a_deferred_call_has_its_arguments():
    """What a person sees: with the defaults, and with what hooks changed."""
    call = one()
    waiting = call.defer("wait")
    assert waiting.arguments == {"query": "q", "limit": 10}
    changed = one().with_input(search.input_type(query="z", limit=1)).defer("wait")
    assert changed.arguments == {"query": "z", "limit": 1}
    assert changed.raw.arguments == {"query": "q"}
    assert (waiting.input, waiting.tool) == (call.input, call.tool)


def test_handled_keeps_the_call():
    call = one()
    handled = call.handled(["a"])
    assert (handled.input, handled.index, handled.by) == (call.input, 0, "host")
    assert handled.result == call.complete(["a"])
    assert handled.raw == call.raw
    assert (handled.id, handled.name) == ("c1", "search")


def test_fail_is_a_result_too():
    result = one().fail("the server is down")
    assert (result.content, result.is_error, result.code) == ("the server is down", True, "execution_failed")
    assert rejection_reason(result) is None
    with pytest.raises(TypeError, match="the message must be a string"):
        one().fail(ValueError("x"))


def test_texts_of_a_subclass_keep_their_text_alone():
    call = one()
    assert type(call.fail(Text("a")).content) is str
    assert type(call.reject(Text("a")).reason) is str
    assert type(call.defer(Text("a")).reason) is str
    for refuse in (call.reject, call.defer):
        with pytest.raises(TypeError, match="the reason must be a string"):
            refuse(5)


# --- rejections ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reason", ["too expensive", "", " ", ".", "a: b", "This call was rejected: x", "ü\n"]
)
def test_the_reason_is_read_back_from_result_and_text(reason):
    rejected = one().reject(reason)
    assert (rejected.reason, rejected.by) == (reason, "host")
    result = rejected.result
    assert (result.is_error, result.code) == (True, "rejected")
    assert result.content.startswith("This call was rejected")
    assert rejection_reason(result) == reason
    assert rejection_reason(result.content) == reason


@pytest.mark.parametrize(
    "other",
    [
        "",
        "rejected",
        "This call was rejected",
        "This call was rejected by us: x",
        "this call was rejected: x",
        " This call was rejected: x",
        ToolResult("1", "a", "This call was rejected: x"),
        ToolResult("1", "a", "failed", is_error=True, code="execution_failed"),
    ],
)
def test_other_results_have_no_reason(other):
    assert rejection_reason(other) is None


def test_a_result_of_another_code_was_not_rejected():
    result = one().fail("This call was rejected: not really")
    assert rejection_reason(result) is None


def test_issues_and_outputs_have_no_reason():
    (issue,) = toolset.offer().round([raw("x")]).issues
    assert rejection_reason(issue.result) is None
    assert rejection_reason(one(fetch).complete("This call was rejected: page")) is None


def test_a_rejection_that_was_stored_can_be_told_from_a_failure():
    """By what is saved of a turn: whatever its text says, each result has its code."""
    text = "This call was rejected: not really"
    sent = toolset.offer().round(
        [
            raw("search", "1", query="q"),
            raw("search", "2", query="q"),
            raw("x", "3"),
            raw("fetch", "4", url="u"),
        ]
    )
    first, second, page = sent.pending
    turn = sent.commit([], results=[first.reject("no"), second.fail(text), page.complete(text)])
    stored = json.loads(json.dumps(turn.as_dict()))["results"]
    assert [rejection_reason(result) for result in stored] == ["no", None, None, None]
    assert [rejection_reason(result) for result in turn.results] == ["no", None, None, None]
    assert [result.get("code") for result in stored] == [
        "rejected",
        "execution_failed",
        "tool_not_found",
        None,
    ]
    with pytest.raises(TypeError, match="a result must be a string"):
        rejection_reason({"is_error": True})


@pytest.mark.parametrize("other", [None, 5, b"This call was rejected: x", Odd()])
def test_something_else_is_not_a_result(other):
    with pytest.raises(TypeError):
        rejection_reason(other)


# --- size ----------------------------------------------------------------------------------------


def test_ids_may_be_anything_that_is_text():
    for call_id in ("", " ", "a" * 10**6, "\ud800", "\x00\n"):
        found = toolset.offer().round([raw("fetch", call_id, url="u")])
        turn = found.commit(Transcript(), results=[found.calls[0].complete("p")])
        assert turn.results[0].call_id == call_id


# --- states --------------------------------------------------------------------------------------


def test_what_a_call_does_not_have_is_none_and_an_input_that_is_not_there_raises():
    found = toolset.offer().round([raw("search", "1", query=5), raw("fetch", "2", url="u")])
    issue, call = found.calls
    assert (issue.state, issue.has_input, issue.reason, issue.question, issue.by) == (
        "issue",
        False,
        None,
        None,
        None,
    )
    assert [problem.path for problem in issue.findings] == [("query",)]
    for read in ("input", "tool", "arguments"):
        with pytest.raises(RoundError, match="can't be run, so it has no input"):
            getattr(issue, read)
    with pytest.raises(RoundError, match="so it has no input"):
        issue.defer("wait")
    assert (call.result, call.code, call.content, call.error, call.findings) == (None, None, None, None, ())
    assert call.as_pending() is call
    gone = Toolset(search).restore_round(found.with_results([call.complete("page")]).as_dict()).handled[0]
    with pytest.raises(RoundError, match="doesn't fit its tool, so it has no input"):
        gone.input  # noqa: B018  # it is asked for


def test_calls_are_compared_by_what_is_decided():
    call = one()
    assert call == one().replace(_raw=call.raw)
    assert call != call.reject()
    assert call != call.raw
    assert hash(call) == hash(one())
    assert call.handled(["a"]) == call.with_result(call.complete(["a"]))
