"""Answers with a type: each provider is asked for one in its own way, and gives an instance back."""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import assert_linear
from splitting import FORMS
from strategies import TYPES, misses
from wire_rules import faults

from operator_schema import (
    AnswerError,
    Codec,
    DecodeError,
    Executor,
    RawCall,
    SchemaError,
    Toolset,
    Transcript,
    tool,
)
from operator_schema import providers as all_providers
from operator_schema.providers import (
    Provider,
    anthropic,
    bedrock,
    deepseek,
    gemini,
    gemini_parameters,
    mistral,
    ollama,
    openai_chat,
    openai_compatible,
)
from operator_schema.providers.nulls import without_nulls
from operator_schema.testing import ScriptedModel, instances

PROVIDERS = [
    found for name in dir(all_providers) if isinstance(found := getattr(all_providers, name), Provider)
]
VLLM = openai_compatible("vLLM")
each_provider = pytest.mark.parametrize("provider", [*PROVIDERS, VLLM], ids=lambda provider: provider.name)
FINAL = "final_answer"


@dataclass
class Booking:
    """A booking of a flight."""

    name: str
    seats: int = 1
    price: Decimal | None = None
    stops: list[str] = field(default_factory=list)


@tool
def add(x: int, y: int) -> int:
    """Add two numbers."""
    return x + y


OFFERS = [[], Toolset(add).offer()]


def is_by_tool(body):
    return f'"name": "{FINAL}"' in json.dumps(body.get("tools") or body.get("toolConfig") or [])


def is_wrapped(output):
    codec = output if isinstance(output, Codec) else Codec(output)
    return not isinstance(codec.graph.resolve_root(), type(Codec(Booking).graph.root))


def sent(body, value, annotation):
    """Return what a model says that follows a request: a text, or a call of the final tool."""
    value = {"value": value} if is_wrapped(annotation) else value
    return RawCall("call_1", FINAL, value) if is_by_tool(body) else json.dumps(value)


def answered(provider, offer, annotation, value):
    """Return the response in which a model gives a value, in the provider's form."""
    body = provider.request(offer, ["Hello"], output=annotation)
    return ScriptedModel(provider, [sent(body, value, annotation)])(**body)


def problems_of(decode):
    try:
        decode()
    except DecodeError as error:
        return error.as_dict()
    return None


def check_reading(provider, offer, codec, value, wrong):
    """Check that a value comes back as it was, and that a wrong one has the problems of the decoder."""
    try:
        body = provider.request(offer, output=codec)
    except SchemaError:  # as for the arguments of a tool
        return
    response = answered(provider, offer, codec, value)
    answer = provider.answer(response, offer, output=codec)
    assert (answer.calls, answer.stop, answer.output_error) == ((), "end", None)
    assert codec.encode(answer.output) == value
    stream = provider.stream(offer, output=codec)
    for event in FORMS[type(provider.wire).__name__](response, Random(1)):  # noqa: S311  # as below
        stream.feed(event)
        _ = stream.partial_output
    assert stream.partial_output.is_complete or type(value) in {int, float}
    assert codec.encode(stream.close().output) == value
    if is_by_tool(body) and not isinstance(wrong, dict):  # arguments are objects
        return
    answer = provider.answer(answered(provider, offer, codec, wrong), offer, output=codec)
    # A strict mode may send null for what is left out.
    possible = (wrong, without_nulls(codec.graph, wrong) if isinstance(wrong, dict) else wrong)
    assert problems_of(lambda: answer.output) in [problems_of(partial(codec.decode, one)) for one in possible]


@pytest.mark.slow("draws types and values, for all providers")
@settings(deadline=None, max_examples=settings().max_examples // 5)
@given(st.data())
def test_a_value_comes_back_and_a_wrong_one_has_the_problems_of_the_decoder(data):
    annotation = data.draw(TYPES)
    codec = Codec(annotation)
    value, wrong = codec.encode(data.draw(instances(annotation))), data.draw(misses(codec))
    for provider in [*PROVIDERS, VLLM]:
        for offer in OFFERS:
            check_reading(provider, offer, codec, value, wrong)


@each_provider
@pytest.mark.parametrize("offer", OFFERS, ids=["alone", "with tools"])
@pytest.mark.parametrize("annotation", [Booking, list[Booking]])
def test_a_stream_gives_the_same_answer_and_what_came_so_far(provider, offer, annotation):
    whole = {"name": "Ann", "seats": 2, "price": "12.50", "stops": ["FRA"]}
    value = whole if annotation is Booking else [whole, whole]
    response = answered(provider, offer, annotation, value)
    stream = provider.stream(offer, output=annotation)
    assert stream.partial_output is None
    seen = []
    for event in FORMS[type(provider.wire).__name__](response, Random(1)):  # noqa: S311  # the same pieces each time
        assert stream.feed(event).calls == ()
        found = stream.partial_output
        seen += [] if found is None else [(dict(found.fields), found.is_complete)]
    expected = provider.answer(response, offer, output=annotation)
    assert stream.close().output == expected.output
    key = "name" if annotation is Booking else "value"
    wanted = "Ann" if annotation is Booking else expected.output
    assert seen[-1] == (seen[-1][0], True)
    assert seen[-1][0][key] == wanted
    assert [len(fields) for fields, _ in seen] == sorted(len(fields) for fields, _ in seen)
    assert stream.calls == []


@each_provider
@pytest.mark.parametrize("offer", OFFERS, ids=["alone", "with tools"])
def test_a_stream_that_is_cut_anywhere_has_no_output(provider, offer):
    body = provider.request(offer, ["Hello"], output=Booking)
    response = answered(provider, offer, Booking, {"name": "Ann", "seats": 2})
    told = []
    events = [*FORMS[type(provider.wire).__name__](response, Random(3))]  # noqa: S311  # as above
    for end in range(len(events)):
        stream = provider.stream(offer, output=Booking)
        for event in events[:end]:
            stream.feed(event)
        answer = stream.close()
        assert answer.stop == "interrupted" or stream.is_complete
        if answer.stop != "end":
            assert answer.output_error is None
            with pytest.raises(AnswerError):
                _ = answer.output
            told += [(call.name, call.code) for call in Toolset(add).offer().round(answer).calls]
    assert set(told) == ({(FINAL, "cut_off")} if is_by_tool(body) else set())


def conversation(provider, offer, script, tries=3):
    """Ask until the answer fits; return the history, the requests and the last answer."""
    history, model = Transcript(["Book a flight for Ann."]), ScriptedModel(provider, script)
    for _ in range(tries):
        body = provider.request(offer, history, output=Booking)
        answer = provider.answer(model(**body), offer, output=Booking)
        turn = Executor(offer.toolset).run_sync(offer.round(answer)).commit(history)
        if not turn.calls:
            break
    return history, model.requests, answer


@pytest.mark.needs_threads
@each_provider
@pytest.mark.parametrize("offer", [Toolset().offer(), Toolset(add).offer()], ids=["alone", "with tools"])
def test_a_wrong_answer_is_asked_again(provider, offer):
    body = provider.request(offer, ["x"], output=Booking)
    script = [sent(body, {"name": 5}, Booking), sent(body, {"name": "Ann"}, Booking)]
    history, requests, answer = conversation(provider, offer, script)
    assert answer.output == Booking("Ann")
    wrong = history[1]
    assert [(result.name, result.code) for result in wrong.results] == [(FINAL, "invalid_params")]
    told = str(problems_text({"name": 5}))
    assert wrong.results[0].content == told
    assert json.dumps(told)[1:-1] in json.dumps(requests[1])
    results = provider.results(wrong.results, offer, wrong.calls)
    assert provider.turn(wrong, offer)[-len(results) :] == results
    assert faults(provider, {**requests[1]}) == [] or provider in {deepseek, VLLM, gemini, gemini_parameters}
    for other in PROVIDERS:  # the turns can be moved
        moved = other.request(offer, history)
        assert json.dumps(told)[1:-1] in json.dumps(moved)
        assert faults(other, moved) == [] or other is provider
    assert "operator_schema_" not in json.dumps(provider.request(offer, history))


def problems_text(value):
    with pytest.raises(DecodeError) as caught:
        Codec(Booking).decode(value)
    return caught.value


@each_provider
def test_an_answer_itself_tells_its_fault_in_a_history(provider):
    body = provider.request([], ["x"], output=Booking)
    answer = provider.answer(
        ScriptedModel(provider, [sent(body, {"name": 5}, Booking)])(**body), [], output=Booking
    )
    assert str(answer.output_error) == str(problems_text({"name": 5}))
    body = provider.request([], ["x", answer], output=Booking)
    assert json.dumps(str(answer.output_error))[1:-1] in json.dumps(body)
    right = provider.answer(
        ScriptedModel(provider, [sent(body, {"name": "Ann"}, Booking)])(**body), [], output=Booking
    )
    messages = provider.request([], ["x", right])[provider.wire.HISTORY]
    assert "Ann" in json.dumps(messages)
    assert FINAL not in json.dumps(messages)


AROUND = [
    "{}",
    "\n {}\n",
    "```json\n{}\n```",
    "Here it is:\n\n```\n{}\n```\nBye",
    "```json\n{}```",
    "<think>hm ```json\n{{}}\n```</think>\n{}",
    "the template began it</think>\n\n{}",
    "[THINK]hm[/THINK]{}",
    "<think>hm</think>\n```json\r\n{}\r\n```\n",
]
MARKS = ["</think>", "```", "```json\n", "<think>", "{", "[THINK]", "\n```\n", "[/THINK]"]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("provider", [VLLM, ollama], ids=lambda provider: provider.name)
def test_a_text_around_the_json_is_left_out(provider, around):
    for mark in MARKS:
        value = {"name": f"a {mark} b", "stops": [mark]}
        for indent in (None, 2):
            text = around.format(json.dumps(value, indent=indent))
            body = provider.request([], output=Booking)
            response = ScriptedModel(provider, [text])(**body)
            assert provider.answer(response, [], output=Booking).output == Booking(**value)
            stream = provider.stream([], output=Booking)
            for event in FORMS[type(provider.wire).__name__](response, Random(2)):  # noqa: S311  # as above
                stream.feed(event)
                _ = stream.partial_output
            assert stream.partial_output.fields == value


@pytest.mark.parametrize("text", ['I am done: {"name": "Ann"}', 'Done.{"name": "Ann"}\nBye.'])
def test_an_object_in_a_sentence_is_read(text):
    response = ScriptedModel(openai_chat, [text])(**openai_chat.request([], output=Booking))
    assert openai_chat.answer(response, [], output=Booking).output == Booking("Ann")


def test_a_long_text_before_the_json_is_looked_at_once():
    def read(size):
        stream = mistral.stream([], output=Booking)
        for _ in range(size):
            stream.feed({"choices": [{"index": 0, "delta": {"content": "so many words ` and { "}}]})
            assert stream.partial_output is None

    assert_linear(read, 200)


def test_a_codec_with_repair_repairs_an_answer():
    codec = Codec(Booking, repair=True)
    response = ScriptedModel(mistral, ["{'name': 'Ann', 'seats': '2',}"])(**mistral.request([], output=codec))
    assert mistral.answer(response, [], output=codec).output == Booking("Ann", 2)


def test_a_required_call_comes_before_the_answer():
    offer = Toolset(add).offer(required="any")
    body = gemini.request(offer, ["x"], output=Booking)
    assert not is_by_tool(body)
    assert "generationConfig" not in body


def test_answers_that_are_no_outputs():
    response = answered(openai_chat, [], Booking, {"name": "Ann"})
    with pytest.raises(ValueError, match="no output was asked for"):
        _ = openai_chat.answer(response, []).output
    with pytest.raises(ValueError, match="no output was asked for"):
        _ = openai_chat.stream([]).partial_output
    response["choices"][0]["finish_reason"] = "length"
    with pytest.raises(AnswerError, match="limit on tokens"):
        _ = openai_chat.answer(response, [], output=Booking).output


def test_a_tool_may_not_have_the_name_of_the_final_one():
    with pytest.raises(ValueError, match="rename yours"):
        deepseek.request([add.with_(name=FINAL)], output=Booking)


def test_a_type_that_the_strict_mode_does_not_take_is_asked_for_by_a_tool_where_there_is_no_other_mode():
    @dataclass
    class Part:
        parts: "list[Part]"

    codec = Codec(Part, namespace={"Part": Part})
    for provider in (anthropic, bedrock):
        assert is_by_tool(provider.request([], output=codec))
    assert openai_chat.request([], output=codec)["response_format"]["json_schema"]["strict"] is True
