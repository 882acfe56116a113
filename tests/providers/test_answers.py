"""Answers of providers: every recorded one, and what goes wrong."""

import json
import re
from collections import Counter
from doctest import DocTestParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from provider_traffic import exchanges, provider_of, streamed, unstreamed

from operator_schema import Executor, RawCall, ToolResult, Toolset, tool
from operator_schema.providers import (
    Delta,
    ResponseError,
    anthropic,
    bedrock,
    cohere,
    gemini,
    groq,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)
from operator_schema.providers.response_json import parsed_arguments


def parsed(arguments):
    """Return arguments as a JSON value; text that was cut off stays text."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def calls_anywhere(value):
    """Find the calls in a response by what they look like, wherever they are: (name, arguments)."""
    if isinstance(value, list):
        return [call for item in value for call in calls_anywhere(item)]
    if not isinstance(value, dict):
        return []
    kind = value.get("type")
    if kind == "function_call":
        return [(value["name"], parsed(value["arguments"]))]
    if kind == "tool_use":
        return [(value["name"], value["input"])]
    for key, arguments in (("functionCall", "args"), ("toolUse", "input")):
        if key in value:
            return [(value[key]["name"], value[key].get(arguments, {}))]
    if isinstance(value.get("function"), dict) and "arguments" in value["function"]:
        return [(value["function"]["name"], parsed(value["function"]["arguments"]))]
    return [call for inner in value.values() for call in calls_anywhere(inner)]


def without_tools(body):
    """Return a response without what it repeats of the request."""
    return {key: value for key, value in body.items() if key not in {"tools", "tool_choice", "input"}}


@pytest.mark.parametrize("name", sorted({exchange["provider"] for exchange in unstreamed()}))
def test_the_calls_of_every_recorded_answer_are_read(name):
    read = 0
    for exchange in unstreamed():
        if exchange["provider"] != name:
            continue
        body = json.loads(exchange["response"])
        answers = provider_of(exchange).answers(exchange["response"], [])
        found = [(call.name, parsed(call.arguments)) for answer in answers for call in answer.calls]
        if any(isinstance(arguments, str) for _, arguments in found):
            assert any(answer.is_cut_off for answer in answers)
        assert found == calls_anywhere(without_tools(body)), exchange["cassette"]
        read += len(found)
        for answer in answers:
            assert len({call.id for call in answer.calls}) == len(answer.calls)
            assert (answer.stop == "calls") <= bool(answer.calls)
    assert read


def test_the_message_of_an_answer_is_what_the_provider_sent():
    for exchange in unstreamed():
        body = json.loads(exchange["response"])
        (answer, *_) = provider_of(exchange).answers(body, [])
        sent = json.dumps(body)
        for item in answer.message:
            content = item["content"] if "content" in item and item.get("role") == "assistant" else item
            for part in content if isinstance(content, list) else [content]:  # some parts can't go back
                assert json.dumps(part) in sent or json.dumps(item) in sent


def test_an_answer_that_is_cut_off_says_so():
    found = [
        answer
        for exchange in unstreamed()
        for answer in provider_of(exchange).answers(exchange["response"], [])
        if answer.is_cut_off
    ]
    assert len(found) > 20
    assert {answer.raw_stop for answer in found} == {"length", "max_tokens", "max_output_tokens"}


def test_every_recorded_exchange_is_read_somewhere():
    """What isn't an answer: Gemini's other endpoints, and what providers refused."""
    others = Counter()
    for exchange in exchanges():
        if provider_of(exchange) is None:
            others[exchange["path"]] += 1
        elif exchange["status"] != 200:
            others[exchange["status"]] += 1
            said = json.loads(exchange["response"])["error"]["message"]
            with pytest.raises(ResponseError, match="the response is an error") as caught:
                provider_of(exchange).answers(exchange["response"], [])
            assert said[:100] in str(caught.value)
    assert others == {"/v1beta/cachedContents": 3, "/v1beta/interactions": 3, 400: 8, 500: 1}
    assert len(exchanges()) == 842
    assert len(unstreamed()) + len(streamed()) + sum(others.values()) == 842
    assert len({exchange["provider"] for exchange in exchanges()}) == 17


def test_text_beside_calls_is_kept():
    response = {
        "content": [
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}},
        ],
        "stop_reason": "tool_use",
    }
    answer = anthropic.answer(response, [])
    assert (answer.text, answer.stop, answer.calls[0].arguments) == ("I look it up.", "calls", {"q": "x"})
    assert answer.message == [{"role": "assistant", "content": response["content"]}]


def test_a_refusal_is_told():
    message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    answer = openai_chat.answer({"choices": [{"message": message, "finish_reason": "stop"}]}, [])
    assert (answer.refusal, answer.stop, answer.calls) == ("I can't help with that.", "refused", ())
    part = {"type": "refusal", "refusal": "No."}
    response = {"status": "completed", "output": [{"type": "message", "content": [part]}]}
    assert openai_responses.answer(response, []).refusal == "No."
    response = {"content": [{"type": "text", "text": "No."}], "stop_reason": "refusal"}
    assert anthropic.answer(response, []).stop == "refused"


def test_a_blocked_prompt_is_told():
    answer = gemini.answer({"promptFeedback": {"blockReason": "SAFETY"}}, [])
    assert (answer.stop, answer.raw_stop, answer.calls) == ("filtered", "SAFETY", ())


def test_an_incomplete_response_is_told():
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"q": "x'}
    response = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [call],
    }
    answer = openai_responses.answer(response, [])
    assert (answer.is_cut_off, answer.calls[0].arguments) == (True, '{"q": "x')


def test_ollama_says_that_an_answer_was_cut_off():
    assert ollama.answer({"message": {"content": "so"}, "done_reason": "length"}, []).is_cut_off


def test_several_choices_are_several_answers():
    choice = {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    other = {"message": {"role": "assistant", "content": "y"}, "finish_reason": "stop"}
    answers = openai_chat.answers({"choices": [choice, other]}, [])
    assert [answer.text for answer in answers] == ["x", "y"]
    assert openai_chat.calls({"choices": [choice]}, []) == []


def test_calls_without_an_id_get_one_that_is_never_sent():
    response = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "now"}}] * 2}}]}
    one, other = gemini.calls(response, [])
    assert one.id != other.id
    (message,) = gemini.wire.calls_message([one, other])
    assert [list(part["functionCall"]) for part in message["parts"]] == [["name", "args"]] * 2
    call = {"function": {"name": "now", "arguments": {}}}
    message = {"tool_calls": [call]}
    assert openai_chat.calls({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, [])[0].id
    assert ollama.calls({"message": {"tool_calls": [call]}}, [])[0].id


def test_arguments_may_be_absent_or_an_object():
    call = {"id": "c", "function": {"name": "now", "arguments": {"q": 1}}}
    message = {"tool_calls": [call], "content": [{"type": "text", "text": "ab"}, {"type": "thinking"}]}
    answer = mistral.answer({"choices": [{"message": message, "finish_reason": "stop"}]}, [])
    assert (answer.calls[0].arguments, answer.text, answer.stop) == ({"q": 1}, "ab", "calls")


class SdkResponse:
    """What the objects of SDKs have in common."""

    def __init__(self, body):
        self.body = body

    def model_dump(self, **options):
        assert options["by_alias"]
        return self.body


class FailingResponse:
    """An object of an SDK that can't be written as JSON."""

    def model_dump(self, **_):
        raise RuntimeError


class Hostile:
    """An object that says nothing of itself."""

    @property
    def __class__(self):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize("kind", [dict, json.dumps, SdkResponse, lambda body: json.dumps(body).encode()])
def test_a_response_may_be_a_dict_text_or_an_object_of_an_sdk(kind):
    body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert openai_chat.answer(kind(body), []).text == "hi"


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ({"error": {"message": "Invalid key"}}, 'the response is an error: "Invalid key"'),
        ({"error": "Overloaded"}, 'the response is an error: "Overloaded"'),
        ({"choices": 5}, 'the response isn\'t in the expected form: {"choices": 5}'),
        ({"choices": [None]}, "the response isn't in the expected form"),
        ({"id": "1"}, 'the response isn\'t in the expected form: there is no "choices" in it: {"id": "1"}'),
        ({"candidates": []}, 'there is no "choices" in it (it looks like an answer of Gemini)'),
        ({"choices": []}, "there is no answer in the response"),
        ("[" * 100_000, "a response must be a JSON object, not"),
        (b"\xff", "a response must be a JSON object, not"),
        (FailingResponse(), "a response must be a JSON object, not"),
        ("no JSON", "a response must be a JSON object, not"),
        ("[1]", "a response must be a JSON object, not"),
        (SimpleNamespace(), "a response must be a JSON object, not"),
        (None, "a response must be a JSON object, not null"),
    ],
)
def test_what_isnt_a_response_is_an_error_of_its_own(response, message):
    with pytest.raises(ResponseError, match="OpenAI Chat Completions: ") as caught:
        openai_chat.answer(response, [])
    assert message in str(caught.value)
    assert caught.value.provider == "OpenAI Chat Completions"


@tool(name="3d_render")
def render(path: str) -> str:
    """Render a file."""
    return path


def test_calls_come_back_under_the_tools_own_name():
    body = gemini.request([render])
    name = body["tools"][0]["functionDeclarations"][0]["name"]
    part = {"functionCall": {"id": "1", "name": name, "args": {}}}
    response = {"candidates": [{"content": {"parts": [part]}}]}
    assert gemini.calls(response, [])[0].name == name != "3d_render"
    assert gemini.calls(response, [render])[0].name == "3d_render"
    assert gemini.answer(response, [render]).message == [{"parts": [part]}]


def test_an_object_that_says_nothing_of_itself_isnt_a_response():
    with pytest.raises(ResponseError, match="a response must be a JSON object, not Hostile"):
        openai_chat.answer(Hostile(), [])


# --- older and rarer forms -------------------------------------------------------------------------


def test_the_old_function_call_is_read_and_answered():
    function = {"name": "search", "arguments": '{"q": 1}'}
    message = {"role": "assistant", "content": None, "function_call": function}
    answer = openai_chat.answer({"choices": [{"message": message, "finish_reason": "function_call"}]}, [])
    (call,) = answer.calls
    assert (call.name, call.arguments, answer.stop) == ("search", '{"q": 1}', "calls")
    assert answer.message == [message]
    (sent,) = openai_chat.results([ToolResult(call.id, call.name, "found")])
    assert sent == {"role": "function", "name": "search", "content": "found"}
    assert openai_chat.wire.calls_message([call]) == [message]


def test_the_old_function_call_is_read_from_a_stream():
    stream = openai_chat.stream([])
    for delta in (
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": ""}},
        {"function_call": {"arguments": '{"q"'}},
        {"function_call": {"arguments": ": 1}"}},
    ):
        stream.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "function_call"}]})
    answer = stream.close()
    assert [(call.name, call.arguments) for call in stream.calls] == [("search", '{"q": 1}')]
    assert [(call.name, call.arguments) for call in answer.calls] == [("search", '{"q": 1}')]
    function = {"name": "search", "arguments": '{"q": 1}'}
    assert answer.message == [{"role": "assistant", "content": None, "function_call": function}]


def test_results_of_calls_without_an_id_are_told_by_name():
    message = {"tool_calls": [{"function": {"name": "now", "arguments": "{}"}}]}
    (call,) = openai_chat.calls({"choices": [{"message": message}]}, [])
    (sent,) = openai_chat.results([ToolResult(call.id, call.name, "noon")])
    assert sent == {"role": "tool", "name": "now", "content": "noon"}
    assert "operator_schema" not in repr(openai_chat.wire.calls_message([call]))


def test_null_as_arguments_is_none():
    """Models of Groq write it for a tool without parameters."""
    call = {"id": "c", "function": {"name": "now", "arguments": "null"}}
    assert openai_chat.calls({"choices": [{"message": {"tool_calls": [call]}}]}, [])[0].arguments is None


def test_an_empty_message_of_anthropic_is_not_sent():
    answer = anthropic.answer({"role": "assistant", "content": [], "stop_reason": "end_turn"}, [])
    assert (answer.text, answer.stop, answer.message) == ("", "end", [])


def converse(*blocks, stop="end_turn"):
    return {"output": {"message": {"role": "assistant", "content": [*blocks]}}, "stopReason": stop}


CITED = {
    "citationsContent": {
        "content": [{"text": "It rains."}],
        "citations": [{"title": "News", "sourceContent": [{"text": "rain"}]}],
    }
}


def test_the_text_with_citations_of_bedrock_is_read():
    answer = bedrock.answer(converse({"text": "Well: "}, CITED), [])
    assert (answer.text, answer.message[0]["content"][1]) == ("Well: It rains.", CITED)


def test_citations_of_bedrock_are_read_from_a_stream():
    stream = bedrock.stream([])
    stream.feed({"messageStart": {"role": "assistant"}})
    for delta in (
        {"text": "It "},
        {"text": "rains."},
        {"citation": CITED["citationsContent"]["citations"][0]},
    ):
        stream.feed({"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}})
    stream.feed({"messageStop": {"stopReason": "end_turn"}})
    answer = stream.close()
    assert (answer.text, answer.message[0]["content"]) == ("It rains.", [CITED])


def test_a_call_of_bedrock_may_have_no_input():
    stream = bedrock.stream([])
    stream.feed({"messageStart": {"role": "assistant"}})
    start = {"toolUseId": "t1", "name": "now"}
    stream.feed({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": start}}})
    stream.feed({"messageStop": {"stopReason": "tool_use"}})
    assert stream.close().calls[0].arguments == {}


def test_what_bedrock_runs_itself_is_no_call():
    use = {"toolUseId": "s1", "name": "web", "type": "server_tool_use", "input": {"q": "x"}}
    answer = bedrock.answer(converse({"toolUse": use}, {"text": "Found."}), [])
    assert (answer.calls, answer.stop) == ((), "end")
    stream = bedrock.stream([])
    stream.feed({"messageStart": {"role": "assistant"}})
    start = {key: use[key] for key in ("toolUseId", "name", "type")}
    stream.feed({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": start}}})
    for piece in ('{"q": ', '"x"}'):
        delta = {"contentBlockIndex": 0, "delta": {"toolUse": {"input": piece}}}
        assert stream.feed({"contentBlockDelta": delta}) == Delta("", ())
    stream.feed({"messageStop": {"stopReason": "end_turn"}})
    assert (stream.close().calls, stream.close().message[0]["content"]) == ((), [{"toolUse": use}])


# --- a provider of one's own -----------------------------------------------------------------------


def test_a_new_provider_is_one_table():
    """The tables of the page read what that provider answered, and have at most 30 lines."""
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page.partition("## Another provider")[2], re.DOTALL)
    examples = [example.source for block in blocks for example in DocTestParser().get_examples(block)]
    tables = [source for source in examples if "= openai_compatible(" in source]
    assert len(tables) == 2
    for table in tables:
        assert table.count("\n") <= 30
        names = {}
        exec("from operator_schema.providers import Dialect, NameRule, openai_compatible", names)  # noqa: S102  # the page's own code
        exec(table, names)  # noqa: S102  # the same
        provider = names[table.partition(" ")[0]]
        read = 0
        for exchange in unstreamed():
            if exchange["provider"] in {"venice", "doubleword"}:
                calls = [call for found in provider.answers(exchange["response"], []) for call in found.calls]
                found = [(call.name, parsed(call.arguments)) for call in calls]
                assert found == calls_anywhere(json.loads(exchange["response"]))
                read += 1
        assert read == 34


@tool
def wipe(path: str = "/") -> str:
    """Wipe a folder."""
    return f"wiped {path}"


def chat_answer(*arguments, stop="length"):
    calls = [
        {"id": f"c{place}", "type": "function", "function": {"name": "wipe", "arguments": text}}
        for place, text in enumerate(arguments)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return openai_chat.answer({"choices": [{"message": message, "finish_reason": stop}]}, [])


@pytest.mark.parametrize(
    ("arguments", "cut"),
    [
        ([""], [True]),
        (["  "], [True]),
        (['{"path": "/h'], [True]),
        (['{"path": "/home"}'], [False]),
        (['{"path": "/home"}', ""], [False, True]),
        (["", '{"path": "/h'], [False, True]),
        (['{"path": "/h', '{"path": "/home"}'], [True, False]),
        (["5"], [True]),
        ([], []),
    ],
)
def test_a_call_that_the_limit_cut_off_is_marked(arguments, cut):
    assert [call.is_cut_off for call in chat_answer(*arguments).calls] == cut
    whole = chat_answer(*arguments, stop="tool_calls")
    assert not any(call.is_cut_off for call in whole.calls)


WIPE = {"name": "wipe"}
CUT_OBJECTS = [
    (
        anthropic,
        {
            "content": [{"type": "tool_use", "id": "1", "name": "wipe", "input": {}}],
            "stop_reason": "max_tokens",
        },
    ),
    (
        bedrock,
        {
            "output": {
                "message": {"content": [{"toolUse": {"toolUseId": "1", "name": "wipe", "input": {}}}]}
            },
            "stopReason": "max_tokens",
        },
    ),
    (
        gemini,
        {
            "candidates": [
                {
                    "content": {"parts": [{"functionCall": {"name": "wipe", "args": {}}}]},
                    "finishReason": "MAX_TOKENS",
                }
            ]
        },
    ),
    (
        ollama,
        {
            "message": {"tool_calls": [{"function": {"name": "wipe", "arguments": {}}}]},
            "done_reason": "length",
        },
    ),
    (
        openai_responses,
        {
            "output": [{"type": "function_call", "call_id": "1", "name": "wipe", "arguments": ""}],
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        },
    ),
]


def chat_ending(word, **native):
    message = {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "wipe", "arguments": ""}}]}
    return {"choices": [{"message": message, "finish_reason": word, **native}]}


def responses_ending(status, of_the_item):
    item = {"type": "function_call", "call_id": "1", "name": "wipe", "arguments": "", "status": of_the_item}
    return {"output": [item], "status": status}


def bedrock_ending(word):
    content = [{"toolUse": {"toolUseId": "1", "name": "wipe", "input": {}}}]
    return {"output": {"message": {"content": content}}, "stopReason": word}


def gemini_ending(word, **call):
    content = {"parts": [{"functionCall": {"name": "wipe", **call}}]}
    return {"candidates": [{"content": content, "finishReason": word}]}


UNKNOWN_ENDS = [
    *[(openai_chat, chat_ending(word)) for word in ("error", "abort", "", "null", None, "no such word")],
    (openai_chat, chat_ending("tool_calls", native_finish_reason="max_output_tokens")),
    *[
        (cohere, {"message": chat_ending("")["choices"][0]["message"], "finish_reason": word})
        for word in ("ERROR", "TIMEOUT", None)
    ],
    *[(bedrock, bedrock_ending(word)) for word in ("malformed_tool_use", "malformed_model_output", None)],
    *[(openai_responses, responses_ending(status, "completed")) for status in ("cancelled", "in_progress")],
    *[(openai_responses, responses_ending("completed", status)) for status in ("incomplete", "in_progress")],
    (anthropic, {"content": [{"type": "tool_use", "id": "1", "name": "wipe", "input": {}}]}),
    *[(gemini, gemini_ending(word)) for word in ("OTHER", "MALFORMED_FUNCTION_CALL", None)],
    (gemini, gemini_ending("STOP", willContinue=True)),
]


@pytest.mark.needs_threads
@pytest.mark.parametrize(("provider", "response"), UNKNOWN_ENDS)
def test_a_call_never_runs_with_its_defaults_after_an_end_that_nobody_knows(provider, response):
    (call,) = provider.calls(response, [])
    assert Executor([wipe]).run_sync(call).code == "cut_off"


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("provider", "response"),
    [
        (provider, ending(word))
        for provider, ending in ((bedrock, bedrock_ending), (gemini, gemini_ending))
        for word in [*provider.wire.STOPS, "no such word"]
    ],
)
def test_the_model_reads_that_its_call_was_not_well_formed_only_where_the_provider_says_so(
    provider, response
):
    answer = provider.answer(response, [])
    read = Executor([wipe]).run_sync(answer.calls[0]).content
    (issue,) = Toolset(wipe).offer().round(answer.calls).calls
    is_malformed = "malformed" in answer.raw_stop.lower()
    assert answer.calls[0].is_malformed == is_malformed
    assert ("wasn't well-formed" in read) == is_malformed
    assert ("shorter arguments" in read) == (answer.calls[0].is_cut_off and not is_malformed)
    assert issue.state != "issue" or issue.result.content == read


def test_a_call_with_all_of_its_text_runs_after_whatever_end():
    body = chat_ending("no such word")
    body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = "{}"
    assert not openai_chat.calls(body, [])[0].is_cut_off


@pytest.mark.needs_threads
@pytest.mark.parametrize(("provider", "response"), CUT_OBJECTS, ids=[one.name for one, _ in CUT_OBJECTS])
def test_a_call_whose_arguments_may_lack_their_end_never_runs_with_its_defaults(provider, response):
    answer = provider.answer(response, [])
    (call,) = answer.calls
    assert (answer.is_cut_off, call.is_cut_off) == (True, True)
    assert Executor([wipe]).run_sync(call).code == "cut_off"
    assert [issue.code for issue in Toolset(wipe).offer().round(answer.calls).issues] == ["cut_off"]


def test_an_empty_function_call_is_no_call():
    message = {"role": "assistant", "content": "Done.", "function_call": {"name": "", "arguments": ""}}
    answer = openai_chat.answer({"choices": [{"message": message, "finish_reason": ""}]}, [])
    assert (answer.calls, answer.text) == ((), "Done.")


def test_a_failed_response_is_an_error():
    with pytest.raises(ResponseError, match='the response is an error: "boom"'):
        openai_responses.answer({"status": "failed", "error": {"message": "boom"}, "output": []}, [])
    with pytest.raises(ResponseError, match='the response is an error: "too many tokens"'):
        bedrock.answer({"message": "too many tokens"}, [])
    with pytest.raises(ResponseError, match="the response failed"):
        openai_responses.answer({"status": "failed", "error": None, "output": []}, [])


def test_a_paused_turn_says_that_it_goes_on():
    answer = anthropic.answer(
        {"content": [{"type": "text", "text": "Let me see."}], "stop_reason": "pause_turn"}, []
    )
    assert (answer.stop, answer.raw_stop, answer.is_cut_off) == ("paused", "pause_turn", False)


def test_a_refusal_says_why():
    body = {"content": [], "stop_reason": "refusal", "stop_details": {"explanation": "not that"}}
    assert anthropic.answer(body, []).refusal == "not that"
    assert anthropic.answer({"content": [], "stop_reason": "refusal"}, []).refusal is None


CUSTOM = [
    (
        openai_chat,
        {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "tool_calls": [
                            {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
                        ],
                    },
                    "finish_reason": "tool_calls",
                }
            ]
        },
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ),
    (
        openai_responses,
        {
            "status": "completed",
            "output": [{"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"}],
        },
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    ),
]


@pytest.mark.needs_threads
@pytest.mark.parametrize(("provider", "response", "told"), CUSTOM, ids=["chat", "responses"])
def test_a_custom_tool_is_called_with_its_text(provider, response, told):
    @tool
    def sql(input: str) -> str:  # noqa: A002  # the name that the text of a custom tool gets
        """Run SQL."""
        return input.removeprefix("SELECT ")

    answer = provider.answer(response, [])
    assert answer.stop == "calls"
    results = Executor([sql]).run_sync(answer.calls)
    assert provider.results(results) == [told]
    (sent,) = provider.wire.calls_message(answer.calls)
    assert (sent["tool_calls"][0] if "tool_calls" in sent else sent) == (
        answer.message[0]["tool_calls"][0] if "tool_calls" in sent else answer.message[0]
    )


@pytest.mark.parametrize(
    "item",
    [
        {"type": "tool_search_call", "execution": "client", "arguments": {}},
        {"type": "mcp_approval_request", "id": "1", "name": "x", "arguments": "{}"},
        {"type": "local_shell_call", "call_id": "1"},
    ],
)
def test_what_else_waits_for_the_program_is_no_end(item):
    answer = openai_responses.answer({"status": "completed", "output": [item]}, [])
    assert (answer.stop, answer.raw_stop) == ("other", item["type"])


def test_groq_gets_back_only_what_it_takes():
    message = {"role": "assistant", "content": "hi", "reasoning": "hm", "channel": "final"}
    answer = groq.answer({"choices": [{"message": message, "finish_reason": "stop"}]}, [])
    assert answer.message == [{"role": "assistant", "content": "hi"}]


def test_ids_of_ollama_are_kept():
    call = {"id": "call_1", "function": {"name": "wipe", "arguments": {}}}
    answer = ollama.answer(
        {"message": {"role": "assistant", "tool_calls": [call]}, "done_reason": "stop"}, []
    )
    assert answer.calls[0].id == "call_1"


@pytest.mark.parametrize("number", [0, 1, 300])
def test_arguments_may_have_many_keys_but_each_only_once(number):
    arguments = {f"key{i}": i for i in range(number)}
    assert parsed_arguments(RawCall("c1", "f", json.dumps(arguments))) == arguments
    twice = json.dumps(arguments)[:-1] + (", " if number else "") + '"a": 1, "a": 2}'
    assert parsed_arguments(RawCall("c1", "f", twice)) == twice


# --- what the newest forms say -------------------------------------------------------------------

ENVELOPES = {
    "OpenAI and Mistral": lambda body: {
        "custom_id": "1",
        "response": {"status_code": 200, "body": body},
        "error": None,
    },
    "Anthropic": lambda body: {"custom_id": "1", "result": {"type": "succeeded", "message": body}},
    "Gemini": lambda body: {"key": "1", "response": body},
    "Bedrock": lambda body: {"recordId": "1", "modelInput": {}, "modelOutput": body},
}


@pytest.mark.parametrize("of", ENVELOPES)
def test_the_line_of_a_batch_says_where_its_answer_is(of):
    """Each recorded answer: the error names the keys, and what they lead to is the answer."""
    told = 0
    for exchange in unstreamed():
        body, provider = json.loads(exchange["response"]), provider_of(exchange)
        if of == "Anthropic" and provider is not anthropic:
            continue
        line = ENVELOPES[of](body)
        with pytest.raises(ResponseError, match="has the answer inside, as a line of a batch has") as caught:
            provider.answers(line, [])
        path = caught.value.message.partition("give response")[2].partition(": ")[0]
        for key in path.strip('[]"').split('"]["'):
            line = line[key]
        assert line == body
        told += 1
    assert told


@pytest.mark.parametrize("of", ENVELOPES)
@pytest.mark.parametrize(
    "provider", [anthropic, bedrock, cohere, gemini, mistral, openai_chat, openai_responses]
)
def test_the_line_of_a_batch_that_failed_is_an_error(provider, of):
    with pytest.raises(ResponseError, match='the response is an error: "overloaded"'):
        provider.answer(ENVELOPES[of]({"error": {"type": "overloaded", "message": "overloaded"}}), [])


@pytest.mark.parametrize(
    "body",
    [
        {"object": "batch", "id": "b"},
        {"type": "message_batch", "id": "b"},
        {"name": "batches/1", "metadata": {}},
    ],
)
@pytest.mark.parametrize("provider", [anthropic, gemini, openai_chat, openai_responses])
def test_a_batch_is_no_answer(provider, body):
    with pytest.raises(ResponseError, match="the response is a batch"):
        provider.answer(body, [])


@pytest.mark.parametrize("status", openai_responses.wire.STOPS)
@pytest.mark.parametrize("output", [[], [{"type": "message", "content": "Hi."}]])
def test_a_response_in_the_background_is_no_empty_answer(status, output):
    body = {"id": "r", "status": status, "background": True, "output": output}
    if status in {"queued", "in_progress"}:
        with pytest.raises(ResponseError, match=f"it isn't finished: its status is '{status}'"):
            openai_responses.answer(body, [])
    elif status != "failed":
        assert openai_responses.answer(body, []).message == output


def test_a_steered_answer_says_so():
    item = {"type": "function_call", "call_id": "1", "name": "wipe", "arguments": "{}"}
    body = {"status": "incomplete", "incomplete_details": {"reason": "steered"}, "output": [item]}
    answer = openai_responses.answer(body, [])
    assert (answer.stop, answer.raw_stop, answer.is_cut_off) == ("other", "steered", False)
    assert not answer.calls[0].is_cut_off
    assert "new input came meanwhile" in answer.stop_message


DROPPED = [
    {"type": "thinking_dropped", "path": "messages.1.content.0", "reason": "prefix_binding_mismatch"},
    {"type": "thinking_mismatch_allowed", "path": "messages.3.content.0"},
    {"type": "no_such_change", "path": "messages.5.content.0"},
]
NOTES = (
    "the model didn't see the thinking at messages.1.content.0 (prefix_binding_mismatch)",
    "the model saw thinking that belongs to another conversation, at messages.3.content.0",
)


def test_thinking_that_the_model_did_not_see_is_told():
    block = {"type": "text", "text": "Hi."}
    body = {"content": [block], "stop_reason": "end_turn", "input_transformations": DROPPED}
    assert anthropic.answer(body, []).notes == NOTES
    for first, last in ((DROPPED, []), ([], DROPPED), (DROPPED, DROPPED)):
        stream = anthropic.stream([])
        for event in (
            {"type": "message_start", "message": {"content": [], "input_transformations": first}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "input_transformations": last},
        ):
            stream.feed(event)
        assert stream.close().notes == NOTES
    change = {"id": "rs_1", "action": "removed", "reason": "prefix_mismatch", "type": "reasoning"}
    body = {"status": "completed", "output": [], "input_transformations": [change]}
    assert openai_responses.answer(body, []).notes == (
        "the model didn't see the reasoning rs_1 (prefix_mismatch)",
    )
    for nothing in ([], None):
        for provider in (anthropic, openai_responses):
            whole = {"content": [], "output": [], "input_transformations": nothing}
            assert provider.answer(whole, []).notes == ()


def test_a_compaction_goes_back_where_it_was():
    block = {"type": "compaction", "content": "They greeted.", "signature": "s", "encrypted_content": "e"}
    answer = anthropic.answer({"content": [block], "stop_reason": "compaction"}, [])
    assert (answer.stop, answer.message) == ("paused", [{"role": "assistant", "content": [block]}])
    sent = anthropic.request([], [answer, "Go on."])["messages"]
    assert sent == [*answer.message, {"role": "user", "content": [{"type": "text", "text": "Go on."}]}]
    failed = {"type": "compaction", "content": None}  # the API takes it for nothing
    answer = anthropic.answer({"content": [failed], "stop_reason": "end_turn"}, [])
    assert answer.message == [{"role": "assistant", "content": [failed]}]
    # An empty text is refused.
    answer = anthropic.answer({"content": [{"type": "compaction", "content": ""}], "stop_reason": None}, [])
    assert answer.message == []


def test_a_compacted_conversation_goes_on_with_its_items():
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "e"},
    ]
    answer = openai_responses.answer({"id": "r", "object": "response.compaction", "output": items}, [])
    assert (answer.stop, answer.raw_stop, answer.text, answer.message) == ("paused", "compaction", "", items)
    assert openai_responses.request([], [answer, "Go on."])["input"][:-1] == items
    # Beside a text, it stays where it was.
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
    answer = openai_responses.answer({"status": "completed", "output": [items[1], said]}, [])
    assert (answer.stop, answer.message) == ("end", [items[1], said])
