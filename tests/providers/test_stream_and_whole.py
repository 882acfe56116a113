"""A streamed answer is the one that comes as a whole: its message, texts, id and cost."""

import copy
import json
from random import Random

import pytest
from patience import assert_linear
from provider_traffic import provider_of, unstreamed
from splitting import FORMS, NEW, pieces

from operator_schema import RawCall
from operator_schema.providers import (
    ResponseError,
    Usage,
    anthropic,
    bedrock,
    cohere,
    deepseek,
    gemini,
    groq,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)
from operator_schema.testing import ScriptedModel


def form_of(exchange):
    return type(provider_of(exchange).wire).__name__


def whole_answers(form):
    """List the recorded answers of a form: their provider, and the response."""
    found = [
        (provider_of(exchange), json.loads(exchange["response"]))
        for exchange in unstreamed()
        if form_of(exchange) == form
    ]
    for _, response in found:
        for choice in response.get("choices", ()):
            for call in choice["message"].get("tool_calls") or ():
                call.pop("index", None)  # a stream says by it which call continues
    return found


def parsed(arguments):
    """Return arguments as a JSON value; text that was cut off stays text."""
    try:
        return json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def said_in(answer):
    """Return all that an answer says, without the ids that are drawn at random."""
    calls = [(call.name, parsed(call.arguments)) for call in answer.calls]
    return (calls, answer.text, answer.refusal, answer.stop, answer.raw_stop, answer.reasoning, answer.id)


def lacking(whole, found):
    """List what a whole has that what was found lacks, at every depth: nulls and nothing count as one."""
    if isinstance(whole, dict) and isinstance(found, dict):
        return [
            (key, *rest)
            for key, value in whole.items()
            if value not in (None, "", [], {})
            for rest in lacking(value, found.get(key))
        ]
    if isinstance(whole, list) and isinstance(found, list) and len(whole) == len(found):
        return [
            (number, *rest)
            for number, (one, other) in enumerate(zip(whole, found, strict=True))
            for rest in lacking(one, other)
        ]
    return [] if whole == found else [(whole, found)]


def check_equal(provider, response, draw):
    """Check that the events of a response make it again."""
    before = copy.deepcopy(response)
    events = list(FORMS[type(provider.wire).__name__](response, draw))
    stream, shown = provider.stream([]), ""
    for event in events:
        stream.feed(event if draw.random() < 0.5 else f"data: {json.dumps(event)}\n\n")
        shown += stream.new_text
    assert stream.response == stream.response
    assert lacking(response, stream.response) == []
    streamed, whole = stream.close(), provider.answer(response, [])
    assert (stream.text, shown, stream.reasoning) == (streamed.text, streamed.text, streamed.reasoning)
    assert said_in(streamed) == said_in(whole)
    assert streamed.usage == whole.usage
    assert lacking(whole.message, streamed.message) == []
    assert response == before


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_recorded_answer_is_the_same_when_it_is_streamed(form):
    found = whole_answers(form)
    assert found
    draw = Random(form)  # noqa: S311  # not a secret
    for provider, response in found:
        check_equal(provider, response, draw)


def growing_places(form, response):
    """List the objects in a response that grow in a stream of the form."""
    match form:
        case "ChatWire":
            return [choice["message"] for choice in response["choices"]]
        case "MessagesWire":
            return response["content"]
        case "ConverseWire":
            return [block for block in response["output"]["message"]["content"] if "text" in block]
        case "CohereWire":
            return response["message"].get("content") or []
        case "OllamaWire":
            return [response["message"]]
        case _:
            return []


@pytest.mark.parametrize("form", sorted(FORMS))
def test_what_nobody_knows_yet_is_kept_by_its_form(form):
    draw = Random(form)  # noqa: S311  # not a secret
    for provider, response in whole_answers(form)[:20]:
        response["new"] = NEW
        for place in growing_places(form, response):
            place.update(copy.deepcopy(NEW))
        check_equal(provider, response, draw)


def chunk(delta, **ends):
    return {"choices": [{"index": 0, "delta": delta, **ends}]}


def test_a_loop_prints_text_while_it_comes():
    stream = openai_chat.stream([])
    printed = []
    for delta in ({"role": "assistant", "content": ""}, {"content": "It "}, {}, {"content": "rains."}):
        stream.feed(chunk(delta))
        printed.append(stream.new_text)
    assert printed == ["", "It ", "", "rains."]
    assert stream.text == "It rains."
    assert stream.close().text == stream.text


def test_half_a_character_is_never_printed():
    stream = openai_chat.stream([])
    printed = []
    for piece in ("a", "\ud83d", "\ude00!", "\ud83d"):
        stream.feed(chunk({"content": piece}))
        printed.append(stream.new_text)
    assert printed == ["a", "", "\U0001f600!", ""]
    assert stream.text == stream.close().text == "a\U0001f600!\ud83d"


def test_what_came_with_the_last_line_is_new_when_the_stream_is_closed():
    stream = openai_chat.stream([])
    stream.feed(f"data: {json.dumps(chunk({'content': 'a'}))}\n\ndata: {json.dumps(chunk({'content': 'b'}))}")
    assert stream.new_text == "a"
    stream.close()
    assert (stream.new_text, stream.text) == ("b", "ab")


def test_a_server_that_says_the_same_thoughts_twice_says_them_once():
    stream = openai_chat.stream([])
    stream.feed(chunk({"reasoning": "Hm", "reasoning_content": "Hm"}))
    stream.feed(chunk({"reasoning": ".", "reasoning_content": "."}))
    assert stream.reasoning == stream.close().reasoning == "Hm."
    assert stream.response["choices"][0]["message"]["reasoning"] == "Hm."


def test_thoughts_in_several_parts_are_told_apart():
    blocks = [
        {"type": "thinking", "thinking": "One.", "signature": "s"},
        {"type": "thinking", "thinking": ""},
    ]
    blocks += [{"type": "redacted_thinking", "data": "x"}, {"type": "thinking", "thinking": "Two."}]
    whole = anthropic.answer({"content": blocks, "stop_reason": "end_turn"}, [])
    assert whole.reasoning == "One.\n\nTwo."
    parts = [{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]
    items = [
        {"type": "reasoning", "summary": parts, "content": [{"type": "reasoning_text", "text": "Three."}]}
    ]
    items.append({"type": "reasoning", "summary": []})
    response = {"status": "completed", "output": items, "id": "r"}
    assert openai_responses.answer(response, []).reasoning == "One.\n\nTwo.\n\nThree."
    check_equal(openai_responses, response, Random(0))  # noqa: S311  # not a secret


def test_thoughts_of_mistral_and_cohere_are_parts_of_the_content():
    thought = {
        "type": "thinking",
        "thinking": [{"type": "text", "text": "Hm."}, {"type": "reference", "id": 1}],
    }
    message = {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}]}
    answer = mistral.answer({"choices": [{"message": message, "finish_reason": "stop"}]}, [])
    assert (answer.reasoning, answer.text) == ("Hm.", "Yes.")
    stream = mistral.stream([])
    stream.feed(chunk({"role": "assistant", "content": [thought]}))
    stream.feed(chunk({"content": "Yes"}))
    stream.feed(chunk({"content": "."}, finish_reason="stop"))
    assert (stream.reasoning, stream.text) == ("Hm.", "Yes.")
    assert stream.close() == answer
    message = {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}
    assert cohere.answer({"message": message, "finish_reason": "COMPLETE"}, []).reasoning == "Hm."


def test_items_that_arrive_whole_are_said_as_well():
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "content": None}
    stream = openai_responses.stream([])
    stream.feed({"type": "response.created", "response": {"status": "in_progress", "output": []}})
    stream.feed({"type": "response.output_item.done", "output_index": 0, "item": thought})
    stream.feed({"type": "response.output_item.done", "output_index": 1, "item": item})
    assert (stream.text, stream.reasoning) == ("Yes.", "Hm.")
    answer = stream.close()
    assert (answer.text, answer.reasoning, answer.stop) == ("Yes.", "Hm.", "interrupted")


def test_a_server_that_does_not_stream_after_all_says_its_text():
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    stream = deepseek.stream([])
    stream.feed({"id": "r", "choices": [{"message": message, "finish_reason": "stop"}]})
    assert (stream.text, stream.reasoning) == ("Yes.", "Hm.")
    assert stream.close().id == "r"


@pytest.mark.parametrize(
    ("provider", "response", "expected"),
    [
        (openai_chat, {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}, (3, 2)),
        (
            openai_chat,
            {"choices": [], "usage": {"prompt_tokens": "3", "completion_tokens": True}},
            (None, None),
        ),
        (
            gemini,
            {"candidates": [], "usageMetadata": {"promptTokenCount": 3, "thoughtsTokenCount": 2}},
            (3, 2),
        ),
        (anthropic, {"content": [], "usage": {"input_tokens": 3, "output_tokens": 2}}, (3, 2)),
        (cohere, {"message": {}, "usage": {"tokens": {"input_tokens": 3, "output_tokens": 2.0}}}, (3, 2)),
        (ollama, {"message": {}, "prompt_eval_count": 3, "eval_count": 2}, (3, 2)),
        (bedrock, {"output": {"message": {}}, "usage": {"inputTokens": 3, "outputTokens": 2}}, (3, 2)),
        (openai_responses, {"output": [], "usage": {"input_tokens": 3, "output_tokens": 2}}, (3, 2)),
    ],
    ids=[
        *("OpenAI", "OpenAI says something else", "Gemini", "Anthropic", "Cohere", "Ollama", "Bedrock"),
        "Responses",
    ],
)
def test_what_an_answer_cost_is_said_in_one_way(provider, response, expected):
    if "choices" in response:
        response["choices"].append({"message": {"content": "a"}})
    if "candidates" in response:
        response["candidates"].append({"content": {"parts": [{"text": "a"}]}})
    usage = provider.answer(response, []).usage
    assert (usage.input_tokens, usage.output_tokens) == expected
    usage.raw.clear()
    assert usage.raw


@pytest.mark.parametrize("usage", [None, {}, [], "much"])
def test_an_answer_may_say_no_cost_and_no_id(usage):
    answer = openai_chat.answer({"id": 5, "choices": [{"message": {"content": "a"}}], "usage": usage}, [])
    assert (answer.usage, answer.id) == (None, None)


def test_groq_says_the_cost_of_a_stream_in_a_place_of_its_own():
    stream = groq.stream([])
    stream.feed({"id": "c", **chunk({"content": "a"}), "x_groq": {"id": "q"}})
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    stream.feed({"id": "c", **chunk({}, finish_reason="stop"), "x_groq": {"id": "q", "usage": usage}})
    answer = stream.close()
    assert (answer.usage, answer.id) == (Usage(3, 2, usage), "c")


def test_the_cost_of_anthropic_is_known_in_two_parts():
    stream = anthropic.stream([])
    usage = {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 7}
    stream.feed({"type": "message_start", "message": {"id": "m", "role": "assistant", "usage": usage}})
    assert stream.response["usage"] == usage
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    stream.feed({**end, "usage": {"output_tokens": 9, "cache_read_input_tokens": None}, "more": {"a": 1}})
    answer = stream.close()
    assert answer.usage == Usage(3, 9, {**usage, "output_tokens": 9})
    assert (answer.id, stream.response["more"]) == ("m", {"a": 1})


def test_lists_with_an_index_continue_their_items():
    stream = openai_chat.stream([])
    stream.feed(chunk({"parts": [{"index": 1, "text": "a"}, "x"]}, logprobs={"content": [{"token": "a"}]}))
    stream.feed(chunk({"parts": [{"index": 1, "text": "b"}, "y"]}, logprobs={"content": [{"token": "b"}]}))
    stream.feed(chunk({"parts": "other"}, finish_reason="stop"))
    (choice,) = stream.response["choices"]
    assert choice["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}]}
    assert choice["message"]["parts"] == "other"  # what comes in another form stands for what came before
    stream = openai_chat.stream([])
    stream.feed(chunk({"parts": [{"index": 1, "text": "a"}, "x"]}))
    stream.feed(chunk({"parts": [{"index": 1, "text": "b"}, "y"]}))
    assert stream.response["choices"][0]["message"]["parts"] == [{"index": 1, "text": "ab"}, "x", "y"]


def test_the_result_of_a_tool_that_bedrock_runs_is_kept():
    result = {"toolUseId": "t", "type": "web_search", "content": [{"text": "a"}, {"json": {"b": 1}}]}
    message = {"role": "assistant", "content": [{"toolResult": result}, {"text": "Yes."}]}
    response = {"output": {"message": message}, "stopReason": "end_turn", "usage": {"inputTokens": 1}}
    check_equal(bedrock, response, Random(0))  # noqa: S311  # not a secret


def test_the_response_so_far_belongs_to_who_reads_it():
    stream = openai_chat.stream([])
    assert stream.response is None
    stream.feed(chunk({"content": "a", "new": {"b": []}}))
    stream.response["choices"][0]["message"]["new"]["b"].append(1)
    assert stream.close().message[0] == {"role": "assistant", "content": "a", "new": {"b": []}}
    assert stream.response["choices"][0]["message"]["content"] == "a"


@pytest.mark.parametrize("provider", [openai_chat, openai_responses], ids=["chat", "responses"])
def test_the_text_that_a_custom_tool_takes_is_shown_while_it_comes(provider):
    text = 'SELECT "\U0001f600"\n'
    if provider is openai_chat:
        first = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": ""}}
        events = [chunk({"tool_calls": [first]})]
        events += [chunk({"tool_calls": [{"index": 0, "custom": {"input": piece}}]}) for piece in text]
        events += [chunk({}, finish_reason="tool_calls"), chunk({}, finish_reason="tool_calls")]
    else:
        item = {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": text}
        response = {"status": "completed", "output": [item]}
        events = list(FORMS["ResponsesWire"](response, Random(0)))  # noqa: S311  # not a secret
    stream = provider.stream([])
    for event in events:
        grown = stream.feed(event).calls
        assert all(call.name == "sql" and call.arguments.startswith('{"input":"') for call in grown)
    answer = stream.close()
    (shown,), (call,) = stream.calls, answer.calls
    assert json.loads(shown.arguments) == call.arguments == {"input": text}
    assert shown.id == call.id


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("is_text", [False, True])
def test_a_number_that_json_lacks_is_an_error_of_the_response(number, is_text):
    block = {"type": "tool_use", "id": "1", "name": "f", "input": {"x": [number]}}
    response = {"content": [block], "stop_reason": "tool_use"}
    with pytest.raises(ResponseError, match="a number in it isn't finite"):
        anthropic.answer(json.dumps(response) if is_text else response, [])
    stream = anthropic.stream([])
    stream.feed({"type": "message_start", "message": {"role": "assistant", "content": []}})
    stream.feed({"type": "content_block_start", "index": 0, "content_block": block})
    with pytest.raises(ResponseError, match="a number in it isn't finite"):
        stream.close()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("provider", [anthropic, bedrock, cohere, openai_chat, openai_responses])
def test_a_number_that_json_lacks_in_streamed_arguments_is_for_the_model(provider, number):
    said = f'{{"x": [{number}]}}'
    response = ScriptedModel(provider, [RawCall("call_1", "f", said)])(**provider.request([], ["Hello"]))
    stream = provider.stream([])
    for event in FORMS[type(provider.wire).__name__](response, Random(0)):  # noqa: S311  # not a secret
        stream.feed(event)
    answer = stream.close()
    assert (answer.stop, [call.arguments for call in answer.calls]) == ("calls", [said])
    provider.request([], ["Hello", answer])


def test_numbers_beside_the_message_may_be_anything():
    """Some servers write the logarithm of nothing."""
    response = {"choices": [{"message": {"content": "a"}, "logprobs": {"content": [-float("inf")]}}]}
    assert openai_chat.answer(response, []).text == "a"


def test_a_response_that_nests_too_deep_is_an_error_of_the_response():
    value = []
    for _ in range(20_000):
        value = [value]
    block = {"type": "tool_use", "id": "1", "name": "f", "input": {"x": value}}
    with pytest.raises(ResponseError, match="it nests deeper than 500 levels"):
        anthropic.answer({"content": [block], "stop_reason": "tool_use"}, [])


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize("count", [1, 40])
def test_reading_a_stream_at_every_event_takes_linear_time(count):
    """Of one answer, and of many answers side by side."""

    def read(number):
        stream = openai_chat.stream([])
        for place in range(number):
            choice = {"index": place % count, "delta": {"content": "word ", "reasoning": "hm "}}
            stream.feed({"choices": [choice]})
            assert not stream.is_complete
            assert len(stream.text) == 5 * (place // count + 1)
            assert stream.reasoning.startswith("hm ")

    assert_linear(read, 800, slack=4)


def list_text(events, draw):
    """Return events as one JSON list, as Gemini streams them by default."""
    texts = [json.dumps(event, ensure_ascii=draw.random() < 0.5) for event in events]
    between = draw.choice([",", " , ", "\n,\r\n"])
    return draw.choice(["[", "\n [", "\ufeff["]) + between.join(texts) + draw.choice(["]", "\n]\n"])


@pytest.mark.parametrize("form", ["GenerateContentWire", "ChatWire"])
def test_a_stream_may_be_one_json_list_of_events(form):
    draw = Random(form)  # noqa: S311  # not a secret
    for provider, response in whole_answers(form)[:40:2]:
        events = list(FORMS[form](copy.deepcopy(response), draw))
        stream = provider.stream([])
        for piece in pieces(list_text(events, draw), draw):
            stream.feed(piece if draw.random() < 0.5 else piece.encode())
        assert said_in(stream.close()) == said_in(provider.answer(response, []))


def test_an_object_of_a_list_is_read_as_soon_as_it_ends():
    stream = gemini.stream([])
    said = {"candidates": [{"content": {"parts": [{"text": 'a "quoted" }] \\ bracket'}]}}]}
    stream.feed("[" + json.dumps(said))
    assert stream.text == 'a "quoted" }] \\ bracket'
    assert stream.close().stop == "interrupted"


@pytest.mark.parametrize("text", ["[5]", "[[]]", '["a"]', "[{}] more", "[]]", "[error] the upstream is gone"])
def test_a_list_holds_objects_and_nothing_else(text):
    stream = gemini.stream([])
    with pytest.raises(ResponseError, match=r"there is .* in a JSON list of events"):
        stream.feed(text.replace("{}", json.dumps({"candidates": []})))


def test_an_error_in_a_list_is_told():
    with pytest.raises(ResponseError, match='the response is an error: "Quota"'):
        gemini.stream([]).feed('[{"error": {"code": 429, "message": "Quota"}}\n]')


def test_a_list_has_events_of_a_limited_length():
    stream = gemini.stream([])
    stream.feed('[{"a": "')
    for _ in range(15):
        stream.feed("x" * 2**20)
    with pytest.raises(ResponseError, match="an event is longer than"):
        stream.feed("x" * 2**20)


@pytest.mark.slow("measures how time grows with the text")
@pytest.mark.parametrize("piece", ["\\\\", "{", "[{", "x"])
def test_a_list_is_read_in_linear_time(piece):
    def read(count):
        stream = gemini.stream([])
        stream.feed('[{"a": "')
        for _ in range(count):
            stream.feed(piece)

    assert_linear(read, 5_000, slack=4)


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"ConverseWire"}))
def test_an_answer_of_a_server_that_does_not_stream_may_be_printed_over_lines(form):
    draw = Random(form)  # noqa: S311  # not a secret
    if form in {"ChatWire", "GenerateContentWire"}:
        for provider, response in whole_answers(form)[:20]:
            stream = provider.stream([])
            for piece in pieces(json.dumps(response, indent=2) + "\n", draw):
                stream.feed(piece)
            assert said_in(stream.close()) == said_in(provider.answer(response, []))
    error = {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}
    with pytest.raises(ResponseError, match="Incorrect API key provided"):
        whole_answers(form)[0][0].stream([]).feed(json.dumps(error, indent=2))


def lines_of(events, is_named):
    for event in events:
        if is_named:
            yield f"event: {event['type']}"
        yield f"data: {json.dumps(event)}"
        yield ""


@pytest.mark.parametrize("form", ["ChatWire", "MessagesWire", "ResponsesWire"])
def test_lines_without_their_ends_are_an_error_and_not_an_empty_answer(form):
    provider, response = whole_answers(form)[0]
    stream = provider.stream([])
    for line in lines_of(FORMS[form](response, Random(1)), form != "ChatWire"):  # noqa: S311  # not a secret
        stream.feed(line)
    with pytest.raises(ResponseError, match="its lines have no line breaks: add a line feed to each line"):
        stream.close()


def test_objects_need_no_ends_of_lines():
    provider, response = whole_answers("OllamaWire")[0]
    stream = provider.stream([])
    for event in FORMS["OllamaWire"](response, Random(1)):  # noqa: S311  # not a secret
        stream.feed(json.dumps(event))
    assert said_in(stream.close()) == said_in(provider.answer(response, []))
