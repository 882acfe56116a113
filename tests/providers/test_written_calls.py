"""Calls that a provider couldn't read, or refused, are calls: repair and the tool's errors see them."""

import asyncio
import json

import pytest
from patience import assert_linear

from operator_schema import Executor, RawCall, tool
from operator_schema.providers import ResponseError, gemini, groq, openai_chat
from operator_schema.providers.written_calls import written_calls

CITY = {"city": "Köln"}
BEFORE_TEXT = '<|tool_call_argument_begin|>{"city": "Köln"}'
OBJECT = json.dumps({"name": "weather", "arguments": CITY})
TWO = [("weather", CITY), ("weather", {"city": "Bonn"})]


def said(calls):
    return [(call.name, call.arguments) for call in calls]


@tool(repair=True)
def weather(city: str, days: int = 1) -> str:
    """Tell the weather.

    Args:
        city: its name.
        days: how many.
    """
    return f"{city}: sun for {days}"


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f" \n{OBJECT}\n",
        f"[{OBJECT}]",
        json.dumps({"tool_calls": [{"id": "a", "type": "function", "function": json.loads(OBJECT)}]}),
        json.dumps({"name": "weather", "parameters": CITY}),
        json.dumps({"name": "weather", "args": CITY}),
        json.dumps({"type": "tool_use", "name": "weather", "input": CITY}),
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}```",
        f"<tool_call>\n{OBJECT}\n</tool_call>",
        f"<tool-use>{OBJECT}</tool-use>",
        f"<tool_call>{OBJECT}",
        "print(default_api.weather(city='Köln'))",
        'default_api.weather(city="Köln")',
        "[weather(city='Köln')]",
        "Malformed function call: print(default_api.weather(city='Köln'))",
    ],
)
def test_a_text_that_is_one_call_is_this_call(text):
    assert said(written_calls(text)) == [("weather", CITY)]


@pytest.mark.parametrize(
    "text",
    [
        '<function=weather>{"city": "Köln"}</function>',
        '<function=weather{"city": "Köln"}</function>',
        '<function=weather,{"city": "Köln"}<function>',
        '<function=weather [{"city": "Köln"}]\n</function>',
        '<function=weather({"city": "Köln"})</function>',
        '<function=weather>{"city": "Köln"}',
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:48{BEFORE_TEXT}<|tool_call_end|>",
        f"<|tool_call_begin|>functions.weather:0{BEFORE_TEXT}<|tool_call_end|><|tool_calls_section_end|>",
        '<|tool_call_begin|>weather<|tool_call_argument_begin|> {"city": "Köln"}',
    ],
)
def test_arguments_between_tags_stay_text_that_repair_can_read(text):
    assert said(written_calls(text)) == [("weather", '{"city": "Köln"}')]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"name": name, "arguments": arguments} for name, arguments in TWO]),
        "".join(
            f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>\n"
            for name, arguments in TWO
        ),
        "print(api.weather(city='Köln'), api.weather(city='Bonn'))",
        "api.weather(city='Köln')\napi.weather(city='Bonn')",
    ],
)
def test_several_calls_are_read_in_order(text):
    calls = written_calls(text)
    assert said(calls) == TWO
    assert len({call.id for call in calls}) == 2


def test_objects_that_gemini_writes_as_calls_are_objects():
    text = (
        "api.order(items=[api.Item(name='tea', count=-2, price=1.5)], gift=True, note=None, more={'a': (1,)})"
    )
    items = [{"name": "tea", "count": -2, "price": 1.5}]
    assert said(written_calls(text)) == [
        ("order", {"items": items, "gift": True, "note": None, "more": {"a": [1]}})
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would call weather.",
        f"I call it: {OBJECT}",
        f"{OBJECT} as you wished",
        f"<tool_call>{OBJECT}</tool_call> and then",
        "<tool_call></tool_call>",
        "5",
        "[]",
        "null",
        "[5]",
        "{}",
        '{"name": 5}',
        '{"name": ""}',
        '{"city": "Köln"}',
        "weather",
        "weather('Köln')",
        "weather(city=os.environ)",
        "weather(city=load_city())",
        "weather(city=load_city(of='Ann'))",
        "weather(city=City())",
        "weather(city=[api.find(name='Ann')])",
        "weather(city=api.city.City(name='a'))",
        "weather(city=b'x')",
        "weather(city=1j)",
        "weather(city=f'{x}')",
        "weather(city={1: 2})",
        "weather(city={**x})",
        "weather(**x)",
        "weather(*x)",
        "weather(city='a', city='b')",
        "x = weather(city='a')",
        "import os",
        "print(1)",
        "print()",
        "(" * 3000,
        "-" * 30_000 + "1",
        "f(a=" + "[" * 90 + "]" * 90 + "," + "-" * 20_000 + "1)",
        "a" + ".b" * 20_000 + "()",
        "[" * 100_000,
        "\0",
        "\ud800",
        "x" * 2**21,
    ],
    ids=range(42),
)
def test_a_text_that_says_anything_else_is_no_call(text):
    assert written_calls(text) == []


@pytest.mark.slow("measures how time grows with the text")
@pytest.mark.parametrize(
    "piece",
    [
        *("<tool_call>", "<tool_call>{}", "<function=a>{", "<function=a", "<function=a{ ", "<function=a>{} "),
        *("<|tool_call_begin|>a", "<|tool_call_begin|>1:1", "<|tool_calls_section_begin|>", "```\n", "`"),
        *("Malformed call: ", "A b ", "a ", "a(", "(", "{", '"', "1", "\n", " ) "),
    ],
)
@pytest.mark.parametrize("start", ["", "<function=a>{", "<tool_call>", "A", "```\n", "<|tool_call_begin|>a:"])
def test_long_texts_are_read_in_linear_time(piece, start):
    few = 20_000 // len(piece)
    assert_linear(written_calls, few, setup=lambda count: start + piece * count, least=0.02)


def refused(written):
    """Return the body with which Groq refuses a call."""
    error = {
        "message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": written,
    }
    return {"error": error}


@pytest.mark.needs_threads
def test_a_call_that_groq_refused_runs_with_repair_and_goes_back_as_any_other():
    body = refused('<function=weather>{"city": "Köln", "days": "3",}</function>')
    answer = groq.answer(body, [weather])
    assert (answer.stop, answer.raw_stop) == ("calls", "tool_use_failed")
    assert answer.stop_message == "Failed to call a function. Please adjust your prompt."
    (result,) = asyncio.run(Executor([weather]).run(answer.calls))
    assert result.content == "Köln: sun for 3"
    (message,), (back,) = answer.message, groq.results([result])
    assert message["tool_calls"][0]["id"] == back["tool_call_id"]
    assert message["tool_calls"][0]["function"]["name"] == "weather"


@pytest.mark.needs_threads
def test_the_model_reads_what_is_wrong_with_a_call_that_groq_refused():
    answer = groq.answer(refused(json.dumps({"name": "weather", "arguments": {"days": 3}})), [weather])
    (result,) = asyncio.run(Executor([weather]).run(answer.calls))
    assert result.code == "invalid_params"
    assert "city" in result.content


@pytest.mark.parametrize("form", ["dict", "text"])
def test_a_stream_may_end_with_a_call_that_groq_refused(form):
    stream = groq.stream([weather])
    stream.feed({"choices": [{"index": 0, "delta": {"content": "I look."}}]})
    body = refused(OBJECT)
    grown = stream.feed(body if form == "dict" else f"event: error\ndata: {json.dumps(body)}\n\n")
    assert [(call.name, json.loads(call.arguments)) for call in grown.calls] == [("weather", CITY)]
    answer = stream.close()
    assert grown.calls[0].id == answer.calls[0].id
    assert (answer.stop, answer.text, json.loads(answer.calls[0].arguments)) == ("calls", "I look.", CITY)
    assert [call.id for call in answer.calls] == [call["id"] for call in answer.message[0]["tool_calls"]]
    assert answer.message[0]["content"] == "I look."


@pytest.mark.parametrize("written", ["I can't do that", "", "{"])
def test_what_groq_refused_and_nobody_can_read_is_an_error_with_these_words(written):
    for read in (lambda body: groq.answer(body, []), lambda body: groq.stream([]).feed(body)):
        with pytest.raises(ResponseError) as caught:
            read(refused(written))
        assert "Failed to call a function" in str(caught.value)
        assert str(caught.value).count(f"It is: {written}") == 1


def test_an_error_without_a_call_is_an_error():
    with pytest.raises(ResponseError, match="No such model"):
        openai_chat.answer({"error": {"message": "No such model", "code": "x"}}, [])


def malformed(reason, message):
    return {"candidates": [{"content": {}, "finishReason": reason, "finishMessage": message}]}


@pytest.mark.needs_threads
@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_call_that_gemini_could_not_read_is_a_call(reason, is_streamed):
    body = malformed(reason, "Malformed function call: print(default_api.weather(city='Köln'))")
    if is_streamed:
        stream = gemini.stream([weather])
        stream.feed(body)
        answer = stream.close()
    else:
        answer = gemini.answer(body, [weather])
    assert (answer.stop, answer.raw_stop, said(answer.calls)) == ("calls", reason, [("weather", CITY)])
    assert answer.stop_message == body["candidates"][0]["finishMessage"]
    (part,) = answer.message[0]["parts"]
    (result,) = asyncio.run(Executor([weather]).run(answer.calls))
    assert result.content == "Köln: sun for 1"
    (back,) = gemini.results([result])[0]["parts"]
    assert part["functionCall"] == {"id": answer.calls[0].id, "name": "weather", "args": CITY}
    assert back["functionResponse"]["id"] == answer.calls[0].id


@pytest.mark.parametrize(
    ("reason", "message"), [("MALFORMED_FUNCTION_CALL", "Malformed"), ("SAFETY", OBJECT)]
)
def test_why_gemini_stopped_is_told_in_its_words(reason, message):
    answer = gemini.answer(malformed(reason, message), [])
    assert (answer.calls, answer.stop_message) == ((), message)
    assert answer.stop != "calls"


def test_calls_of_other_answers_have_no_such_message():
    body = {"choices": [{"message": {"content": OBJECT}, "finish_reason": "stop"}]}
    assert openai_chat.answer(body, []).calls == ()
    assert openai_chat.answer(body, []).stop_message is None
    assert RawCall(None, "weather").id.startswith("call_")
