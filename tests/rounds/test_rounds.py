"""From the calls that a model sent to calls with inputs, and to issues."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from round_samples import Odd, Remember, ask, done, fetch, ids, names, pay, raw, remember, search, toolset
from saving_samples import nested

from operator_schema import (
    DecodeError,
    RawCall,
    RoundError,
    ToolResult,
    Toolset,
    Transcript,
    describe_tools,
    tool,
)
from operator_schema.errors import ToolNotFoundError
from operator_schema.providers import anthropic


def codes(found):
    return [issue.code for issue in found.issues]


# --- decoding ------------------------------------------------------------------------------------


def test_calls_are_decoded_in_their_order():
    found = toolset.offer().round([raw("fetch", "b", url="u"), raw("search", "a", query="q")])
    assert (ids(found.calls), names(found.calls)) == (["b", "a"], ["fetch", "search"])
    assert [call.index for call in found.calls] == [0, 1]
    first, second = found.calls
    assert first.input == fetch.input_type(url="u")
    assert second.input == search.input_type(query="q", limit=10)
    assert (first.tool, second.tool) == (fetch, search)
    assert (found.issues, found.continue_suggestion) == ((), None)
    assert found.toolset is toolset
    assert found.offered == toolset.offer().names


def test_no_calls_are_a_round_too():
    found = toolset.offer().round([])
    assert (found.calls, found.issues) == ((), ())
    assert found.confirmed().is_complete
    assert found.commit(Transcript()).results == ()


def test_any_iterable_of_calls_will_do():
    assert ids(toolset.offer().round(raw("pay", str(i), amount=i) for i in range(3)).calls) == [
        "0",
        "1",
        "2",
    ]


def test_json_text_and_bytes_are_decoded_and_kept():
    texts = ['{"url": "u"}', b'{"url": "u"}', bytearray(b'{"url": "u"}'), ' {"url":"u"}\n']
    found = toolset.offer().round([RawCall(str(i), "fetch", text) for i, text in enumerate(texts)])
    assert [call.input.url for call in found.calls] == ["u"] * 4
    assert [call.raw.arguments for call in found.calls] == [
        '{"url": "u"}',
        '{"url": "u"}',
        '{"url": "u"}',
        ' {"url":"u"}\n',
    ]


@pytest.mark.parametrize("blank", [None, "", "  \n", b"", bytearray(b" "), {}])
def test_blank_arguments_are_no_arguments(blank):
    @tool
    def ping(times: int = 1) -> str:
        """Answer."""
        return "pong" * times

    (call,) = Toolset(ping).offer().round([RawCall("1", "ping", blank)]).calls
    assert call.input == ping.input_type(times=1)


def test_the_tool_of_a_call_is_that_of_the_toolset_beside_a_describing_tool_too():
    inner = Toolset(search)
    described = Toolset(inner, describe_tools(inner))
    found = described.offer().round([raw("search", query="q"), raw("search", limit=1)])
    (call,) = found.pending
    assert call.tool is search
    assert described[call.tool] is search
    assert described.only(call.tool).names == ("search",)
    assert "describe_tools" in found.issues[0].content


def test_a_tool_input_is_its_own_class():
    (call,) = Toolset(remember).offer().round([raw("remember", note="n", tags=["a"])]).calls
    assert call.input == Remember("n", ["a"])


# --- issues --------------------------------------------------------------------------------------


def test_each_kind_of_issue_says_what_is_wrong():
    inner = Toolset(search, fetch).hide(fetch)
    found = (
        Toolset(inner, pay)
        .offer()
        .round(
            [
                raw("fetch", "1", url="u"),
                raw("serch", "2", query="q"),
                raw("search", "3", query=5, limit="x"),
                raw("search", "4", query="q"),
            ]
        )
    )
    hidden, unknown, invalid = found.issues
    assert codes(found) == ["not_available", "tool_not_found", "invalid_params"]
    assert [issue.index for issue in found.issues] == [0, 1, 2]
    assert ids(found.pending) == ["4"]
    assert hidden.content == ('tool "fetch" is not available in this turn; the tools are "search", "pay"')
    assert hidden.error is None
    assert 'did you mean "search"' in unknown.content
    assert isinstance(unknown.error, ToolNotFoundError)
    assert isinstance(invalid.error, DecodeError)
    assert [problem.path for problem in invalid.error.findings] == [("query",), ("limit",)]
    assert invalid.content == str(invalid.error)
    assert found.continue_suggestion == (
        "3 calls could not be used: fetch (not_available), serch (tool_not_found), search (invalid_params). "
        "Commit the turn and ask the model again"
    )
    assert repr(found) == "<Round: 1 pending, 3 issues>"


def test_what_is_checked_first_is_reported():
    inner = Toolset(search).hide(search)
    found = Toolset(inner, fetch).offer().round([raw("search", "1", query=5), raw("unknown", "2", query=5)])
    assert codes(found) == ["not_available", "tool_not_found"]


def test_arguments_are_checked_inside_a_nested_toolset_too():
    outer = Toolset(pay, Toolset(Toolset(search).prefix("a_")).prefix("b_"))
    found = outer.offer().round([raw("b_a_search", limit="many")])
    (issue,) = found.issues
    assert (issue.code, issue.name) == ("invalid_params", "b_a_search")
    assert [problem.path for problem in issue.error.findings] == [("query",), ("limit",)]
    assert "b_a_search" in issue.content
    assert codes(outer.offer().round([raw("search", query="q")])) == ["tool_not_found"]


def test_unknown_names_are_compared_with_what_was_offered():
    found = Toolset(search, fetch).hide(fetch).offer().round([raw("fetsh"), raw("seach")])
    assert '"fetch"' not in found.issues[0].content
    assert 'the tools are "search"' in found.issues[0].content
    assert 'did you mean "search"' in found.issues[1].content


def test_where_nothing_is_offered_nothing_can_be_called():
    found = toolset.offer(only=[]).round([raw("search"), raw("x")])
    assert codes(found) == ["not_available", "tool_not_found"]
    assert found.issues[0].content.endswith("the tools are none")
    assert "there are no tools" in found.issues[1].content


@pytest.mark.parametrize(
    "arguments",
    [
        "{",
        "[]",
        "5",
        "null",
        b"\xff",
        '{"url": 1e999}',
        [],
        5,
        "[" * 10_000,
        {"url": ["u"]},
        {5: 5},
        object(),
    ],
)
def test_arguments_that_can_not_be_read_are_an_issue(arguments):
    (issue,) = toolset.offer().round([RawCall("1", "fetch", arguments)]).issues
    assert issue.code == "invalid_params"
    assert len(issue.content) < 2000
    assert issue.result.is_error
    assert issue.raw.id == "1"


def test_code_of_a_class_that_raises_is_an_issue_of_its_call_alone(caplog):
    @dataclass
    class Secret:
        key: str

        def __post_init__(self):
            raise RuntimeError(self.key)

    @tool
    def open_it(secret: Secret) -> str:
        """Open."""
        return secret.key

    found = (
        Toolset(open_it, fetch).offer().round([raw("open_it", "1", key="hidden"), raw("fetch", "2", url="u")])
    )
    (issue,) = found.issues
    assert (issue.code, issue.content) == ("execution_failed", "open_it failed: RuntimeError")
    assert isinstance(issue.error, RuntimeError)
    assert ids(found.pending) == ["2"]
    assert "open_it (call 1)" in caplog.text


def test_code_of_the_arguments_that_raises_is_an_issue_too():
    class Bytes(bytes):
        def strip(self):
            raise ZeroDivisionError

        decode = strip

    class Array(bytearray):
        decode = Bytes.strip

    class Lazy(dict):
        def get(self, *key):
            raise ZeroDivisionError

        items = keys = __iter__ = __getitem__ = get

    sent = [Bytes(b"{}"), Array(b"{}"), Lazy(url="u"), Odd(), {"url": Odd()}, {"url": "u", "x": Odd()}]
    calls = [
        RawCall(str(i), name, arguments) for name in ("fetch", "unknown") for i, arguments in enumerate(sent)
    ]
    found = toolset.offer().round(calls)
    assert len(found.issues) == len(calls)
    assert set(codes(found)) <= {"invalid_params", "execution_failed", "tool_not_found"}
    assert len(found.commit([]).results) == len(calls)


def test_an_issue_has_its_result():
    (issue,) = toolset.offer().round([raw("nothing", "7")]).issues
    result = issue.result
    assert (result.call_id, result.name, result.is_error, result.code) == (
        "7",
        "nothing",
        True,
        "tool_not_found",
    )
    assert (result.content, result.details) == (issue.content, {"exception": issue.error})
    (hidden,) = toolset.offer(only=[search]).round([raw("pay")]).issues
    assert hidden.result.details is None


def test_issues_are_compared_by_what_the_model_reads():
    one, other = (toolset.offer().round([raw("x")]).issues[0] for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != toolset.offer().round([raw("y")]).issues[0]
    assert one != 5
    assert repr(one).startswith("ToolCall('c1', 'x', 'issue', ")


def test_a_long_list_of_issues_gives_a_short_suggestion():
    found = toolset.offer().round([raw(f"tool{i}" * 1000, str(i)) for i in range(500)])
    assert len(found.issues) == 500
    assert len(found.continue_suggestion) < 20_000
    assert found.continue_suggestion.startswith("500 calls could not be used")
    assert toolset.offer().round([raw("x")]).continue_suggestion.startswith("1 call could")


# --- one call ------------------------------------------------------------------------------------


def test_expect_one_and_at_most_one_give_the_call():
    found = toolset.offer().round([raw("pay", amount=1)])
    assert found.expect_one() is found.expect_at_most_one() is found.calls[0]
    assert toolset.offer().round([]).expect_at_most_one() is None
    assert toolset.offer().round([raw("x")]).expect_at_most_one() is None


@pytest.mark.parametrize(
    ("calls", "count", "said"),
    [
        ([], 0, "expected one call, and there is none"),
        ([raw("x"), raw("y")], 0, r"there is none \(and 2 that can't be run: see issues\)"),
        ([raw("pay", amount=1), raw("pay", amount=2)], 2, "there are 2$"),
        ([raw("pay", amount=1), raw("x"), raw("pay", amount=2)], 2, r"there are 2 \(and 1 that can't"),
    ],
)
def test_expect_one_says_how_many_there_are(calls, count, said):
    found = toolset.offer().round(calls)
    with pytest.raises(RoundError, match=said) as caught:
        found.expect_one()
    assert caught.value.count == count
    if count:
        with pytest.raises(RoundError, match=said) as caught:
            found.expect_at_most_one()
        assert caught.value.count == count


# --- the end of a round --------------------------------------------------------------------------


def test_a_discarded_round_is_over():
    found = toolset.offer().round([raw("fetch", url="u")])
    plan = done(found.apply())
    found.discard()
    uses = [
        found.discard,
        plan.discard,
        found.confirmed,
        lambda: done(found.apply()),
        lambda: done(found.apply(lambda _: None)),
        lambda: found.commit(Transcript()),
        lambda: plan.commit(Transcript(), results=[plan.pending[0].complete("")]),
        lambda: plan.with_results([]),
        lambda: plan.reject("c1"),
    ]
    for use in uses:
        with pytest.raises(RoundError, match="discarded already"):
            use()
    assert ids(found.calls) == ["c1"]


def test_each_round_has_its_own_id():
    rounds = [toolset.offer().round([]) for _ in range(100)]
    assert len({found.id for found in rounds}) == 100
    assert all(found.id == found.id == found.confirmed().id for found in rounds)


# --- what is given -------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [raw("pay"), [5], [raw("pay"), None], 5, [search]])
def test_other_things_than_calls_are_refused(calls):
    with pytest.raises(TypeError):
        toolset.offer().round(calls)


def test_a_round_is_one_of_its_offer():
    offer = Toolset(search, fetch, pay, ask).offer(only=[pay])
    assert offer.round([]).offered == ("pay",)
    assert offer.round([raw("pay", amount=1)]).calls[0].input.amount == 1
    assert offer.round([raw("search", query="q")]).issues[0].code == "not_available"


@pytest.mark.parametrize("assistant", [None, "text", 5, {"content": [{"text": "x"}], "role": None}, [], ""])
def test_the_rest_of_the_turn_comes_back(assistant):
    found = toolset.offer().round([], assistant=assistant)
    assert found.confirmed().assistant == assistant
    assert found.commit([]).assistant == assistant


def test_the_rest_of_the_turn_is_a_copy():
    message = {"content": ["a"]}
    found = toolset.offer().round([], assistant=message)
    message["content"].append("b")
    found.confirmed().assistant["content"].append("c")
    assert found.commit([]).assistant == {"content": ["a"]}


@pytest.mark.parametrize("assistant", [object(), {5: 5}, b"x", (1,), {"a": {1, 2}}])
def test_the_rest_of_the_turn_has_to_be_json(assistant):
    with pytest.raises(TypeError, match="assistant has to be JSON"):
        toolset.offer().round([], assistant=assistant)
    with pytest.raises(TypeError, match="assistant has to be JSON"):
        toolset.offer().round([], assistant=assistant)


ENDLESS = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize("assistant", [{"a": float("nan")}, nested(201), nested(100_000), ENDLESS])
def test_what_a_model_can_write_into_its_message_is_an_error_of_the_round(assistant):
    with pytest.raises(RoundError, match=r"the message of the model \(assistant\) can't be kept: "):
        toolset.offer().round([], assistant=assistant)


@pytest.mark.parametrize("levels", [95, 100, 101, 190])
def test_the_message_may_nest_deeper_than_the_arguments_in_it(levels):
    arguments = {"query": nested(levels)}
    message = {"content": [{"type": "tool_use", "id": "1", "name": "search", "input": arguments}]}
    found = toolset.offer().round([RawCall("1", "search", arguments)], assistant=message)
    assert [issue.code for issue in found.issues] == ["invalid_params"]
    restored = toolset.restore_round(json.dumps(found.confirmed().as_dict()))
    assert restored.commit([]).assistant == message


# --- the answer of a provider --------------------------------------------------------------------


RESPONSE = {
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "text", "text": "I search."},
        {"type": "tool_use", "id": "1", "name": "search", "input": {"query": "q"}},
    ],
    "stop_reason": "tool_use",
}


def test_an_answer_brings_its_calls_and_its_message():
    """Otherwise it is easy to forget what the model said and thought, and providers refuse the next turn."""
    answer = anthropic.answer(RESPONSE, toolset)
    found = toolset.offer().round(answer)
    assert [call.input.query for call in found.calls] == ["q"]
    assert found.confirmed().assistant == answer.message
    turn = toolset.offer().round(answer).commit([], results=[ToolResult("1", "search", "r")])
    assistant, _ = anthropic.turn(turn)
    assert assistant["content"] == RESPONSE["content"]
    with pytest.raises(TypeError, match="an answer includes its message: leave assistant out"):
        toolset.offer().round(answer, assistant="I search.")
    assert toolset.offer().round(answer.calls).confirmed().assistant is None


def test_an_answer_that_was_cut_off_is_an_issue():
    cut = {**RESPONSE, "stop_reason": "max_tokens"}
    assert codes(toolset.offer().round(anthropic.answer(cut, toolset))) == ["cut_off"]


def test_arguments_that_are_not_json_and_fit_all_the_same_are_an_issue_about_arguments():
    found = toolset.offer().round([raw("fetch", url="u", more=object())])
    [issue] = found.issues
    assert issue.code == "invalid_params"
    assert "the arguments have to be JSON: object isn't JSON" in issue.content


def test_three_tools_are_suggested_for_a_name_that_none_has():
    tools = Toolset(*[fetch.with_(name=f"fetch{number}") for number in range(4)])
    [issue] = tools.offer().round([raw("fetch", url="u")]).issues
    suggested = issue.content.partition("did you mean")[2].partition("?")[0]
    assert suggested.count("fetch") == 3, issue.content
