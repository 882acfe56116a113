"""A conversation goes on with another provider: what it gets keeps its rules, and loses no text."""

import copy
import json
import re
from itertools import product

import pytest
from provider_traffic import events_of, provider_of, streamed, unstreamed
from test_provider_laws import response_of
from wire_rules import faults

from operator_schema import Executor, RawCall, Toolset, Transcript, tool
from operator_schema.providers import (
    anthropic,
    bedrock,
    cohere,
    deepseek,
    gemini,
    groq,
    llama_cpp,
    mistral,
    ollama,
    openai_chat,
    openai_compatible,
    openai_responses,
    xai,
)

PROVIDERS = [
    *(
        anthropic,
        bedrock,
        cohere,
        deepseek,
        gemini,
        groq,
        llama_cpp,
        mistral,
        ollama,
        openai_chat,
        openai_responses,
        xai,
    ),
    openai_compatible("vLLM"),
]
PAIRS = [(giver, taker) for giver, taker in product(PROVIDERS, PROVIDERS) if giver is not taker]
TEXT = "I look for it."


@tool
def find(query: str) -> str:
    """Find it."""
    return query


TOOLS = Toolset(find)

IDS = {
    "its own": ["call_abcDEF123", "call_abcDEF124"],
    "Kimi's": ["functions.find:0", "functions.find:1"],
    "a gateway's": ["x" * 75, "x" * 74 + "y"],
    "Mistral's": ["abcDEF123", "abcDEF124"],
    "none": ["", ""],
}


def answered(provider, ids, name="find"):
    """Return an answer of a provider with a text and two calls; one without ids has none in its message."""
    calls = [
        RawCall(call_id or f"operator_schema_{number}", name, {"query": "x"})
        for number, call_id in enumerate(ids)
    ]
    messages = provider.wire.calls_message(calls, TEXT)
    if provider.wire.HISTORY == "input":
        return provider.answer({"status": "completed", "output": [said_item(messages[0]), *messages[1:]]}, [])
    return provider.answer(response_of(provider, messages[0]), [])


def said_item(message):
    part = {"type": "output_text", "text": message["content"], "annotations": []}
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}


def turn_of(answer):
    return Executor(TOOLS).run_sync(TOOLS.offer().round(answer)).commit(Transcript())


@pytest.mark.needs_threads
@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
def test_another_provider_takes_a_turn(ids):
    refused = {}
    for giver, taker in PAIRS:
        if not ids[0] and giver.name in {"OpenAI Responses", "xAI", "Anthropic", "Bedrock Converse"}:
            continue  # without an id, it is no answer of theirs
        turn = turn_of(answered(giver, ids))
        assert turn.provider == giver.name
        body = taker.request(TOOLS, ["Find x.", turn])
        if found := faults(taker, body):
            refused[giver.name, taker.name] = found
        assert json.dumps(body).count(TEXT) == 1
        assert taker.request(TOOLS, ["Find x.", turn]) == body
    assert refused == {}


@pytest.mark.needs_threads
@pytest.mark.parametrize("provider", PROVIDERS, ids=repr)
def test_every_order_of_a_history_is_taken(provider):
    texts = {role: provider.wire.text_message(role, f"Said by the {role}.") for role in ("user", "assistant")}
    turn = turn_of(answered(provider, IDS["Mistral's"]))
    for history in product(["Hi", *texts.values()], repeat=3):
        check_order(provider, [*history, turn])
        check_order(provider, [turn, *history])


def check_order(provider, history):
    before = copy.deepcopy([item for item in history if isinstance(item, dict)])
    body = provider.request(TOOLS, history)
    assert [fault for fault in faults(provider, body) if not fault.startswith(OF_OTHERS)] == []
    assert [item for item in history if isinstance(item, dict)] == before
    alone = [
        message for item in history for message in provider.request(TOOLS, [item])[provider.wire.HISTORY]
    ]
    assert [*texts_in(body[provider.wire.HISTORY], {"role"})] == [*texts_in(alone, {"role"})]


@pytest.mark.parametrize("provider", [bedrock, gemini], ids=repr)
@pytest.mark.parametrize("blocks", [None, {"text": "Hi"}])
def test_messages_without_a_list_of_blocks_stay_as_they_are(provider, blocks):
    said = provider.wire.text_message("user", "Hi")
    odd = {"role": "user", provider.wire.BLOCKS: blocks}
    for history in ([said, odd], [odd, said], [odd, odd]):
        assert provider.request([], history)[provider.wire.HISTORY] == history


def with_answers():
    """List the recorded answers with calls: their provider, and the answer."""
    found = []
    for exchange in unstreamed():
        provider = provider_of(exchange)
        answer = provider.answer(exchange["response"], [])
        if answer.calls and not any(call.caller for call in answer.calls):
            found.append((provider, answer))
    return found


@pytest.mark.slow("it moves each recorded answer with calls to 11 providers")
def test_another_provider_takes_each_recorded_turn():
    refused, seen = {}, 0
    for giver, answer in with_answers():
        turn = TOOLS.offer().round(answer).confirmed().commit(Transcript())
        text = re.sub(r"\s", "", answer.text)
        for taker in PROVIDERS:
            if taker.name == giver.name:
                continue
            body = taker.request(TOOLS, ["Go on.", turn])
            seen += 1
            if found := faults(taker, body):
                refused.setdefault((giver.name, taker.name), []).append(found)
            assert text in re.sub(r"\s", "", "".join(texts_in(body[taker.wire.HISTORY])))
    assert seen > 1000
    assert refused == {}


def texts_in(value, without=frozenset()):
    """Yield each text in a JSON value, but those of some keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in without:
                yield from texts_in(inner, without)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner, without)


OF_OTHERS = ("a first call without a signature", "no reasoning_content", "keys")
"""Rules that don't hold for what the provider itself said."""


def cuts(events):
    """Return the numbers of events after which a stream is cut: all of few, some ten of many."""
    step = max(1, len(events) // 10)
    return range(1, len(events), step)


@pytest.mark.slow("it cuts each recorded stream after some ten of its events")
def test_what_is_left_of_a_cut_stream_can_be_sent_back():
    refused, seen = {}, 0
    for exchange in streamed():
        provider, events = provider_of(exchange), events_of(exchange)
        for number in cuts(events):
            stream = provider.stream(TOOLS)
            for event in events[:number]:
                stream.feed(event)
            answer = stream.close()
            if any(call.caller for call in answer.calls):
                continue
            seen += 1
            turn = TOOLS.offer().round(answer).confirmed().commit(Transcript())
            body = provider.request(TOOLS, ["Go on.", turn, "And?"])
            found = [fault for fault in faults(provider, body) if not fault.startswith(OF_OTHERS)]
            text = re.sub(r"\s", "", answer.text)
            if text not in re.sub(r"\s", "", "".join(texts_in(body[provider.wire.HISTORY]))):
                found.append("a text that is lost")
            if found:
                refused.setdefault(provider.name, []).append((exchange["cassette"], number, found))
    assert seen > 2000
    assert refused == {}


def saying_store(events, *, store):
    """Return events of a server that says whether it stores what it sends."""
    return [
        {**event, "response": {**event["response"], "store": store}} if "response" in event else event
        for event in events
    ]


def references(items):
    """List the items that only a server knows that stored them: by an id, or reasoning without content."""
    return [
        item
        for item in items
        if "id" in item or (item.get("type") == "reasoning" and not item.get("encrypted_content"))
    ]


def test_what_a_server_did_not_store_is_not_referred_to():
    kept = 0
    for exchange in unstreamed():
        provider, response = provider_of(exchange), json.loads(exchange["response"])
        if provider.wire.HISTORY == "input":
            answer = provider.answer({**response, "store": False}, TOOLS)
            assert references(answer.message) == []
            assert [call.id for call in answer.calls] == [
                item["call_id"] for item in answer.message if provider.wire.is_call(item)
            ]
            kept += any(item.get("type") == "reasoning" for item in answer.message)
    assert kept


@pytest.mark.parametrize("store", [False, True])
def test_what_a_server_did_not_store_of_a_cut_stream_is_not_referred_to(store):
    """A server stores an answer when it has ended, if at all."""
    seen = 0
    for exchange in streamed():
        provider = provider_of(exchange)
        if provider.wire.HISTORY != "input":
            continue
        events = saying_store(events_of(exchange), store=store)
        for number in {*cuts(events), len(events)}:
            stream = provider.stream(TOOLS)
            for event in events[:number]:
                stream.feed(event)
            answer = stream.close()
            assert references(answer.message) == [] or (store and answer.stop != "interrupted")
            seen += 1
    assert seen > 300


def test_the_id_of_a_question_stays_because_the_answer_names_it():
    asked = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "find",
        "arguments": "{}",
        "server_label": "s",
    }
    answer = openai_responses.answer({"status": "completed", "store": False, "output": [asked]}, [])
    assert answer.message == [asked]


def test_reasoning_that_can_be_read_stays_without_its_id():
    thought = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "So."}]}
    said = {"status": "completed", "store": False, "output": [{**thought, "id": "rs_1"}]}
    assert openai_responses.answer(said, []).message == [thought]


@pytest.mark.needs_threads
@pytest.mark.parametrize("start", range(len(PROVIDERS)))
def test_four_providers_hold_one_conversation(start):
    chain = [PROVIDERS[(start + step) % len(PROVIDERS)] for step in (0, 5, 7, 10)]
    history, known = Transcript(["Find x."]), 0
    for number, provider in enumerate(chain):
        assert faults(provider, provider.request(TOOLS, history)) == []
        ids = list(IDS.values())[number]
        Executor(TOOLS).run_sync(TOOLS.offer().round(answered(provider, ids))).commit(history)
        known += 1
    for provider in PROVIDERS:
        body = provider.request(TOOLS, history)
        if provider not in chain:
            assert faults(provider, body) == []
        assert json.dumps(body).count(TEXT) == known


@pytest.mark.needs_threads
def test_the_same_provider_gets_its_own_message():
    for provider in PROVIDERS:
        answer = answered(provider, IDS["its own"])
        turn = turn_of(answer)
        assert provider.turn(turn)[: len(answer.message)] == answer.message
        assert provider.request(TOOLS, [answer])[provider.wire.HISTORY] == answer.message


@pytest.mark.needs_threads
@pytest.mark.parametrize("name", ["find", "functions.find", "fnd"])
def test_results_have_the_names_that_the_model_wrote(name):
    toolset = Toolset(tool(repair=True)(find.__wrapped__))
    for provider in PROVIDERS:
        answer = answered(provider, IDS["Mistral's"], name)
        turn = Executor(toolset).run_sync(toolset.offer().round(answer)).commit(Transcript())
        sent = provider.turn(turn, toolset)[len(answer.message) :]
        assert provider.results(turn.results, toolset, answer.calls) == sent
        assert provider.results(turn.results, toolset, turn.calls) == sent
        if provider.name in {"Gemini", "Ollama"}:
            assert json.dumps(sent).count(f'"{name}"') == 2


@pytest.mark.needs_threads
def test_a_saved_turn_still_knows_who_said_it():
    for provider in PROVIDERS:
        plan = TOOLS.offer().round(answered(provider, IDS["its own"]))
        restored = TOOLS.restore_round(json.loads(json.dumps(plan.as_dict())))
        assert restored == plan
        turn = Executor(TOOLS).run_sync(restored).commit(Transcript())
        assert turn.provider == turn.as_dict()["provider"] == provider.name
