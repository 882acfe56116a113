"""A conversation in a request, and answers that aren't finished."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace

import pytest

from operator_schema import Executor, RawCall, Registry, ToolResult, Toolset, Turn, tool
from operator_schema.providers import (
    Answer,
    AnswerError,
    Delta,
    anthropic,
    bedrock,
    cohere,
    gemini,
    groq,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
    xai,
)
from operator_schema.testing import ScriptedModel

ALL = [anthropic, bedrock, cohere, gemini, groq, mistral, ollama, openai_chat, openai_responses, xai]


@tool
def weather(city: str) -> str:
    """Get the weather of a city."""
    return f"sunny in {city}"


TOOLS = Toolset(weather)
CALL = RawCall("call_1", "weather", {"city": "Oslo"})
RESULT = ToolResult("call_1", "weather", "sunny in Oslo")
SAID = {
    "OpenAI Chat Completions": {"choices": [{"message": {"role": "assistant", "content": "It rains."}}]},
    "Anthropic": {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
    "Bedrock Converse": {
        "output": {"message": {"role": "assistant", "content": [{"text": "It rains."}]}},
        "stopReason": "end_turn",
    },
    "Gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "It rains."}]}}]},
    "OpenAI Responses": {
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {
                "type": "message",
                "content": [{"type": "output_text", "text": "It rains."}],
                "role": "assistant",
            },
        ]
    },
    "Cohere": {"message": {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]}},
    "Ollama": {"message": {"role": "assistant", "content": "It rains."}},
}
SPEAKERS = [provider for provider in ALL if provider.name in SAID]


def messages(provider, history, offer=TOOLS):
    """Return the messages of a request."""
    return provider.request(offer, history)[provider.wire.HISTORY]


@pytest.mark.parametrize("provider", ALL)
def test_a_history_becomes_messages(provider):
    turn = Turn("t", (CALL,), (RESULT,))
    own = provider.wire.text_message("user", "Be short.")
    first, *rest = messages(provider, [own, turn])
    assert first is own
    assert rest == provider.turn(turn, TOOLS)
    (user,) = messages(provider, ["How is Oslo?"])
    assert user["role"] == "user"
    said = user.get("content", user.get("parts"))
    assert said == "How is Oslo?" or [part["text"] for part in said] == ["How is Oslo?"]


@pytest.mark.parametrize("giver", ALL)
@pytest.mark.parametrize("taker", ALL)
def test_a_call_in_another_providers_form_is_refused(giver, taker):
    (*_, sent) = giver.wire.calls_message([CALL])
    (*_, own) = taker.wire.calls_message([CALL])
    if sent.keys() & {"tool_calls", "call_id"} - own.keys():
        with pytest.raises(TypeError, match="put the answer or the committed turn there"):
            messages(taker, ["How is Oslo?", sent])
    assert messages(giver, [sent]) == [sent]


@pytest.mark.parametrize("provider", ALL)
def test_a_history_stands_beside_the_tools(provider):
    body = provider.request(TOOLS, iter(["Hi"]))
    where = body.keys() - provider.request(TOOLS).keys()
    assert where == {provider.wire.HISTORY}
    assert {key: body[key] for key in body.keys() - where} == provider.request(TOOLS)
    assert provider.request([], []) == {provider.wire.HISTORY: []}
    assert provider.request([]) == {}


def test_where_the_messages_stand():
    assert {provider.name: provider.wire.HISTORY for provider in ALL} == {
        "Anthropic": "messages",
        "Bedrock Converse": "messages",
        "Cohere": "messages",
        "Gemini": "contents",
        "Groq": "messages",
        "Mistral": "messages",
        "Ollama": "messages",
        "OpenAI Chat Completions": "messages",
        "OpenAI Responses": "input",
        "xAI": "input",
    }


@pytest.mark.parametrize("provider", SPEAKERS)
def test_an_answer_stands_for_its_own_messages(provider):
    answer = provider.answer(SAID[provider.name], TOOLS)
    assert messages(provider, ["Hi", answer])[1:] == answer.message
    turn = Turn("t", (), (), answer.message)  # of an answer without calls
    assert messages(provider, ["Hi", turn])[1:] == answer.message


@pytest.mark.parametrize("speaker", SPEAKERS)
@pytest.mark.parametrize("provider", SPEAKERS)
def test_another_providers_answer_is_told_by_its_text(provider, speaker):
    answer = speaker.answer(SAID[speaker.name], TOOLS)
    told = messages(provider, [answer])
    assert told == messages(provider, [Turn("t", (), (), answer.message, speaker.name)])
    if provider is not speaker:
        assert told == [provider.wire.text_message("assistant", "It rains.")]


def test_another_providers_calls_are_made_anew():
    block = {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Oslo"}}
    answer = anthropic.answer({"content": [block], "stop_reason": "tool_use"}, TOOLS)
    assert messages(gemini, [answer]) == gemini.wire.with_stand_ins(gemini.wire.calls_message(answer.calls))
    assert messages(anthropic, [answer]) == answer.message


@pytest.mark.parametrize("said", ["It rains.", [{"role": "assistant", "content": "It rains."}]])
def test_the_text_of_a_turn_without_calls_is_kept(said):
    assert messages(bedrock, [Turn("t", (), (), said)]) == [
        {"role": "assistant", "content": [{"text": "It rains."}]}
    ]


@pytest.mark.parametrize(
    "said", [None, [], [3], [{"role": "model", "parts": [{"text": "x", "thought": True}]}]]
)
def test_a_turn_that_says_nothing_is_no_message(said):
    assert messages(openai_chat, [Turn("t", (), (), said)]) == []


def test_citations_are_told_by_their_text():
    cited = {"citationsContent": {"content": [{"text": "It rains."}], "citations": []}}
    turn = Turn("t", (), (), [{"role": "assistant", "content": [cited, {"odd": 1}]}])
    assert messages(openai_chat, [turn]) == [{"role": "assistant", "content": "It rains."}]


@pytest.mark.parametrize("history", ["Hi", {"role": "user"}, 3])
def test_a_history_is_a_list(history):
    with pytest.raises(
        TypeError, match="a history must be a list of strings, messages, turns and answers, not"
    ):
        openai_chat.request(TOOLS, history)


@pytest.mark.parametrize(
    ("provider", "wrong", "form"),
    [
        (gemini, {"role": "user", "content": "x"}, '{"role":"user","parts":[{"text":"…"}]}'),
        (gemini, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}, '"parts":[{"text":"…"}]'),
        (gemini, {"content": "x"}, '"parts":[{"text":"…"}]'),
        (openai_chat, {"role": "user", "parts": [{"text": "x"}]}, '{"role":"user","content":"…"}'),
        (openai_responses, {"role": "user", "parts": [{"text": "x"}]}, '{"role":"user","content":"…"}'),
        (anthropic, {"role": "user", "parts": []}, '"content":[{"type":"text","text":"…"}]'),
        (bedrock, {"role": "model", "parts": []}, '"content":[{"text":"…"}]'),
        (bedrock, {"role": "user", "content": "x"}, '"content":[{"text":"…"}]'),
        (gemini, {"role": "user", "parts": "x"}, '"parts":[{"text":"…"}]'),
    ],
)
def test_a_message_in_another_providers_form_is_refused_with_the_form_that_is_wanted(provider, wrong, form):
    with pytest.raises(TypeError, match="which is another provider's form: for ") as caught:
        provider.request(TOOLS, ["Hi", wrong])
    assert f"for {provider.name}, write " in str(caught.value)
    assert form in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "own"),
    [
        (gemini, {"role": "user", "parts": [{"text": "x"}]}),
        (gemini, {"parts": [{"text": "x"}], "content": "x"}),
        (openai_chat, {"role": "assistant", "tool_calls": []}),
        (anthropic, {"role": "user", "content": "x"}),
        (openai_responses, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}),
        (bedrock, {"role": "user", "content": [{"text": "x"}]}),
    ],
)
def test_a_message_in_a_form_that_may_be_the_providers_own_goes_along_unchanged(provider, own):
    assert messages(provider, [own]) == [own]


HALF = "\ud83d"
"""The first half of an emoji, as a text has it that JavaScript cut: no encoding can write it."""


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    "said",
    [
        f"Hm {HALF}",
        [f"I look {HALF}", RawCall("1", "weather", {"city": HALF})],
        RawCall("1", "weather", '{"city": "\\ud83d"}'),
        RawCall("1", "weather", {"city": "Oslo", HALF: [HALF]}),
    ],
    ids=["text", "text and call", "call as text", "key"],
)
@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("provider", ALL)
def test_a_conversation_goes_on_after_a_text_that_no_encoding_can_write(provider, is_streamed, said):
    """The SDKs of OpenAI and Anthropic raise `UnicodeEncodeError`, at this request and at all later ones."""
    model, history, offer = ScriptedModel(provider, [said]), [f"Hi {HALF}"], TOOLS.offer()
    body = provider.request(offer, history)
    if is_streamed:
        stream = provider.stream(offer)
        for event in model(stream=True, **body):
            stream.feed(event)
        answer = stream.close()
    else:
        answer = provider.answer(model(**body), offer)
    executor = Executor(TOOLS, report=lambda error: f"{error} {HALF}")
    turn = executor.run_sync(offer.round(answer)).commit(history)
    for sent in (
        body,
        provider.request(offer, history),
        provider.request(offer, ["Hi", answer]),
        provider.turn(turn, offer),
        provider.results(turn.results, offer),
    ):
        assert json.dumps(sent, ensure_ascii=False).encode()
    assert history[0] == f"Hi {HALF}"


def test_a_message_that_nests_without_end_goes_along_unchanged():
    endless = {"role": "user", "content": "a"}
    endless["more"] = endless
    assert messages(openai_chat, [endless])[0] is endless


def test_what_doesnt_belong_in_a_history():
    with pytest.raises(TypeError, match="a history must have only strings, messages, turns and answers, not"):
        openai_chat.request(TOOLS, ["Hi", RESULT])
    for response in (SimpleNamespace(choices=[]), SimpleNamespace(role="assistant", content="Hi")):
        with pytest.raises(TypeError, match=r": answer\(response, offer\) makes an answer of a response$"):
            openai_chat.request(TOOLS, ["Hi", response])


@pytest.mark.parametrize("offer", [TOOLS, TOOLS.offer(), Registry([weather]), [weather], (weather,), weather])
def test_what_is_offered_by_default(offer):
    assert openai_chat.request(offer) == openai_chat.request(TOOLS)


# --- how an answer ended ---------------------------------------------------------------------------


def answer_of(stop, raw=None, refusal=None, stop_message=None):
    """Return an answer that ended for a reason."""
    return Answer((), "It", refusal, stop, raw, (), stop_message=stop_message)


def test_a_finished_answer_is_returned():
    answer = answer_of("end")
    assert answer.raise_for_stop() is answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answer_of("length", "max_tokens"), "it reached the limit on tokens (max_tokens)"),
        (answer_of("refused", "refusal", "I can't."), "it refused (refusal): I can't."),
        (answer_of("filtered", "SAFETY"), "the provider held the answer back (SAFETY)"),
        (answer_of("interrupted"), "the stream ended first"),
        (
            answer_of("paused"),
            "the provider paused the turn; a request that ends with the answer's message continues it",
        ),
        (answer_of("calls"), "it waits for the results of its calls"),
        (answer_of("other", "ODD", None, "Odd."), "it stopped for another reason (ODD): Odd."),
    ],
)
def test_an_answer_that_isnt_finished_is_an_error(answer, said):
    with pytest.raises(AnswerError) as caught:
        answer.raise_for_stop()
    assert str(caught.value) == f"the model didn't finish its answer: {said}"
    assert caught.value.answer is answer
    assert pickle.loads(pickle.dumps(caught.value)).answer == answer  # our own


def test_a_stream_gives_what_is_new():
    stream = openai_chat.stream(TOOLS)
    said = stream.feed({"choices": [{"index": 0, "delta": {"content": "It "}}]})
    assert said == Delta("It ", ())
    function = {"name": "weather", "arguments": '{"city": "Os'}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    grown = stream.feed({"choices": [{"index": 0, "delta": {"content": "rains", "tool_calls": [call]}}]})
    assert (grown.text, [(one.name, one.arguments) for one in grown.calls]) == (
        "rains",
        [("weather", '{"city": "Os')],
    )
    with pytest.raises(AnswerError, match="the stream ended first"):
        stream.close().raise_for_stop()


@pytest.mark.parametrize(("name", "limit"), [("refusal", 300), ("stop_message", 300), ("raw", 100)])
def test_a_reason_is_shown_up_to_its_limit(name, limit):
    whole, longer = (
        str(AnswerError(answer_of("refused", **{name: "x" * size}))) for size in (limit, limit + 1)
    )
    assert "x" * limit in whole
    assert f"{'x' * (limit - 1)}…" in longer
    assert "x" * limit not in longer
