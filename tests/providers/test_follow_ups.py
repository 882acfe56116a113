"""The next request after an answer with calls: what was sent and accepted, against what we would send."""

from collections import Counter
from functools import cache

import pytest
from provider_traffic import exchanges, provider_of, sent_messages
from test_answers import calls_anywhere, parsed
from test_results_for_providers import is_result, results_in

from operator_schema import RawCall


def answer_of(exchange):
    """Read the answer of an exchange, streamed or not; None where that needs botocore."""
    provider = provider_of(exchange)
    if (exchange["content_type"] or "").startswith("application/json"):
        return provider.answers(exchange["response"], [])[0]
    if exchange["response_encoding"] != "text":
        return None
    stream = provider.stream([])
    stream.feed(exchange["response"])
    return stream.close()


def turns_in(messages):
    """Find the turns in a request: the messages with the model's calls, then those with the results."""
    found, calls, results = [], [], []
    for message in messages:
        if is_result(message):
            results.append(message)
            continue
        if results:
            found.append((calls, results))
            calls, results = [], []
        # Items of one answer follow each other; a message of the user begins something else.
        is_model = message.get("role") in {"assistant", "model"} or message.get("type") in {
            "function_call",
            "reasoning",
        }
        calls = [*calls, message] if is_model else []
    return [*found, (calls, results)] if results else found


@cache
def accepted():
    """List the turns in all requests that were accepted: exchange, calls, results, answers before it."""
    conversations = {}
    for exchange in exchanges():
        conversations.setdefault((exchange["provider"], exchange["cassette"]), []).append(exchange)
    found = []
    for conversation in conversations.values():
        answers = []
        for exchange in sorted(conversation, key=lambda exchange: exchange["turn"]):
            if exchange["status"] != 200 or provider_of(exchange) is None:
                continue
            found += [
                (exchange, calls, results, list(answers))
                for calls, results in turns_in(sent_messages(exchange))
            ]
            answer = answer_of(exchange)
            if answer is not None and answer.calls:
                answers.append(answer)
    return found


def with_sent_turns():
    """List the providers that accepted a turn."""
    sent = (one for one in exchanges() if one["status"] == 200 and provider_of(one) is not None)
    return sorted({one["provider"] for one in sent if turns_in(sent_messages(one))})


SENT_OTHERWISE = {
    "chatgpt": {("id",)},
    "doubleword": {("reasoning_content",), ("content", "*", "text"), ("content", "*", "type")},
    "ollama": {("thinking",), ("tool_calls", "*", "type")},
}
"""What others' requests said beside what we send: the provider calls it `reasoning` itself, or needs
none, as a server that stores nothing needs no id."""

UNANSWERED = 7
"""Turns whose calls were changed before they were sent back, or made up."""


def paths_of(value):
    """Return where something is in a message; empty values and arguments count as nothing."""
    if isinstance(value, dict):
        return {
            (key, *path)
            for key, inner in value.items()
            if inner not in (None, False, [])
            for path in ({()} if key in {"input", "args", "response"} else paths_of(inner) or {()})
        }
    return {("*", *path) for inner in value for path in paths_of(inner)} if isinstance(value, list) else {()}


def all_paths(messages):
    return {path for message in messages for path in paths_of(message)}


def answered(exchange_answers, calls):
    """Return the answer that had these calls, or None."""
    said = [(name, parsed(arguments)) for name, arguments in calls_anywhere(calls)]
    for answer in reversed(exchange_answers):
        if [(call.name, parsed(call.arguments)) for call in answer.calls] == said:
            return answer
    return None


@pytest.mark.parametrize("name", with_sent_turns())
def test_a_turn_is_sent_as_the_provider_took_it(name):
    compared = 0
    for exchange, calls, results, answers in accepted():
        answer = answered(answers, calls) if exchange["provider"] == name else None
        if answer is None:
            continue
        provider = provider_of(exchange)
        given = [result for message in results for result in results_in(message)]
        sent = provider.results(given)
        assert len(sent) == len(results)
        if name != "ollama" and not answer.calls[0].id.startswith("operator_schema_"):
            assert {call.id for call in answer.calls} == {result.call_id for result in given}
        # Nothing of what was sent is lacking in the answer's own message.
        others = SENT_OTHERWISE.get(name, set())
        assert all_paths(calls) - others <= all_paths(answer.message), exchange["cassette"]
        # A message made of the calls alone says nothing that was not sent.
        ours = all_paths(provider.wire.calls_message(answer.calls))
        if name == "ollama":  # it takes the id since 0.12.10, and the recorded client left it out
            ours.discard(("tool_calls", "*", "id"))
        assert ours <= all_paths(calls)
        compared += 1
    assert compared


def test_nearly_every_turn_that_was_sent_has_its_recorded_answer():
    found = [answered(answers, calls) for _, calls, _, answers in accepted()]
    assert (len(found), found.count(None)) == (287, UNANSWERED)


def test_calls_without_a_message_are_sent_as_the_provider_took_them():
    """Calls that your program made up need no answer of a model."""
    counted = Counter()
    for exchange, calls, _, _ in accepted():
        said = [
            (name, parsed(arguments) or {}) for name, arguments in calls_anywhere(calls)
        ]  # Groq sent null
        made = provider_of(exchange).wire.calls_message([RawCall("call_1", *call) for call in said])
        assert [(name, parsed(arguments)) for name, arguments in calls_anywhere(made)] == said
        counted[exchange["provider"]] += 1
    assert len(counted) == 15
