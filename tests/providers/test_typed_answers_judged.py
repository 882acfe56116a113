"""Answers with a type as models write them: in code blocks, after thoughts, broken off, and odd JSON."""

import json
import pickle
from dataclasses import dataclass, field
from itertools import product
from random import Random

import pytest
from splitting import FORMS

from operator_schema import AnswerError, Codec, DecodeError, RawCall, Toolset, tool
from operator_schema import providers as all_providers
from operator_schema.providers import Provider, mistral, openai_compatible
from operator_schema.testing import ScriptedModel

PROVIDERS = [
    found for name in dir(all_providers) if isinstance(found := getattr(all_providers, name), Provider)
]
VLLM = openai_compatible("vLLM")
READER = VLLM.replace(calls_in_text=False)


@dataclass
class Review:
    """A review of a change."""

    title: str
    stars: int = 3
    files: list[str] = field(default_factory=list)


@tool
def look(x: int) -> int:
    """Look something up."""
    return x


OFFERS = [[], Toolset(look).offer()]


def is_by_tool(body):
    return '"name": "final_answer"' in json.dumps(body.get("tools") or body.get("toolConfig") or [])


def said_by(provider, offer, what, output=Review):
    """Return the response of a model that says a text, or writes these arguments where a tool is asked."""
    body = provider.request(offer, ["Hello"], output=output)
    says = RawCall("call_1", "final_answer", what) if is_by_tool(body) else what
    return ScriptedModel(provider, [says])(**body)


def streamed(provider, offer, response, output=Review, seed=1):
    """Return the stream of a response after its last event."""
    stream = provider.stream(offer, output=output)
    for event in FORMS[type(provider.wire).__name__](response, Random(seed)):  # noqa: S311  # the same pieces each time
        stream.feed(event)
    return stream


TITLES = [
    "plain",
    "Run ```make``` first",
    "```python\nprint(1)\n```\nfails",
    "```",
    "{} and {}```",
    "a </think> 1",
    'é "quoted" 😀',
]
WRITERS = [json.dumps, lambda value: json.dumps(value, indent=2, ensure_ascii=False)]
BEFORE = ["", "\n", "Here it is:\n\n", "<think>what {now}?</think>\n", "So a code block.</think>\n\n"]
FENCES = [
    "{}",
    "```json\n{}\n```",
    "```\n{}\n```",
    "```json\r\n{}\r\n```\n",
    "```JSON\n{}```",
    "```json {}\n```",
    "```json\n{}",
]
AFTER = ["", "\n\nThat is all."]


def ways_of_writing(value):
    """Yield the texts in which models wrap JSON: all combinations where it's clear what the JSON is."""
    for write, before, fence, after in product(WRITERS, BEFORE, FENCES, AFTER):
        has_end = "`" in fence[-4:] and not fence.endswith("}```")
        is_alone = fence == "{}"
        if not ((after and not has_end) or (is_alone and before.startswith("Here"))):
            yield before + fence.replace("{}", write(value)) + after


@pytest.mark.parametrize("title", TITLES)
def test_a_wrapped_answer_is_read_in_a_stream_too(title):
    value = {"title": title, "stars": 5, "files": ["a.py"]}
    for text in ways_of_writing(value):
        response = said_by(mistral, [], text)
        assert mistral.answer(response, [], output=Review).output == Review(**value), text
        stream = streamed(mistral, [], response)
        assert stream.close().output == Review(**value), text
        found = stream.partial_output
        if found is None:  # only the whole text tells that this is a code block
            assert "```json {" in text
        else:
            assert (dict(found.fields), found.is_complete, found.findings) == (value, True, ()), text


@pytest.mark.parametrize("provider", [*PROVIDERS, VLLM], ids=lambda provider: provider.name)
def test_what_came_at_last_agrees_with_the_answer(provider):
    items = [{"title": "a", "stars": 1, "files": []}, {"title": "b", "stars": 2, "files": []}]
    expected = [Review(**item) for item in items]
    for offer in OFFERS:
        response = said_by(provider, offer, json.dumps({"value": items}), list[Review])
        stream = streamed(provider, offer, response, list[Review])
        assert stream.close().output == expected
        found = stream.partial_output
        assert (dict(found.fields), found.is_complete, found.findings) == ({"value": expected}, True, ())


@pytest.mark.parametrize("provider", [*PROVIDERS, VLLM, READER], ids=lambda provider: provider.name)
def test_a_text_in_place_of_the_call_that_was_asked_for_shows_what_came(provider):
    value = {"title": "a </think> ``` b", "stars": 5, "files": ["a.py"]}
    for offer, before, after in product(OFFERS, ["", "<think>so</think>\n", "```json\n"], ["", "\n```\n"]):
        body = provider.request(offer, ["Hello"], output=Review)
        response = ScriptedModel(provider, [before + json.dumps(value) + after])(**body)
        if provider.answer(response, offer, output=Review).output_error is not None:
            continue
        stream = streamed(provider, offer, response)
        assert stream.close().output == Review(**value)
        found = stream.partial_output
        assert (dict(found.fields), found.is_complete, found.findings) == (value, True, ())


@pytest.mark.parametrize("provider", [*PROVIDERS, VLLM], ids=lambda provider: provider.name)
def test_a_call_that_the_model_copies_from_a_moved_history_is_read(provider):
    """Another provider may have been asked by a tool, so that the history has calls of it."""
    by_tool = provider.replace(features=provider.features.replace(outputs=False))
    for arguments in ({"title": "a", "stars": 5}, {"stars": 5}):
        body = by_tool.request(OFFERS[1], ["Hello"], output=Review)
        response = ScriptedModel(provider, [RawCall("call00001", "final_answer", arguments)])(**body)
        answer = provider.answer(response, OFFERS[1], output=Review)
        expected = by_tool.answer(response, OFFERS[1], output=Review)
        assert (answer.stop, answer.calls, answer.message) == ("end", (), expected.message)
        assert outcome(lambda answer=answer: answer.output) == outcome(
            lambda expected=expected: expected.output
        )
        stream = streamed(provider, OFFERS[1], response)
        assert stream.calls == []
        assert dict(stream.partial_output.fields) == arguments
        assert str(stream.close().output_error) == str(answer.output_error)
    own = [look.with_(name="final_answer")]
    if (
        not is_by_tool(provider.request([], ["Hello"], output=Review))
        and provider.features.outputs_beside_tools
    ):
        assert provider.answer(response, own, output=Review).calls != ()


CALLS_IN_TEXT = [
    '{"name": "final_answer", "arguments": %s}',
    '<tool_call>\n{"name": "final_answer", "arguments": %s}\n</tool_call>',
    '[TOOL_CALLS][{"name": "final_answer", "arguments": %s}]',
]


@pytest.mark.parametrize("text", CALLS_IN_TEXT)
@pytest.mark.parametrize("value", [{"title": "a", "stars": 5}, {"stars": "many"}], ids=["right", "wrong"])
def test_a_final_call_in_a_text_is_no_text(text, value):
    for provider in [VLLM, *(provider for provider in PROVIDERS if provider.calls_in_text)]:
        response = ScriptedModel(provider, [text % json.dumps(value)])(
            **provider.request(OFFERS[1], ["Hello"], output=Review)
        )
        expected = provider.answer(response, OFFERS[1], output=Review)
        stream = provider.stream(OFFERS[1], output=Review)
        shown = ""
        for event in FORMS[type(provider.wire).__name__](response, Random(1)):  # noqa: S311  # as above
            shown += stream.feed(event).text
        answer = stream.close()
        assert outcome(lambda answer=answer: answer.output) == outcome(
            lambda expected=expected: expected.output
        )
        assert (shown + stream.new_text, stream.calls) == ("", [])
        assert stream.partial_output.is_complete
        assert stream.partial_output.fields.get("title") == value.get("title")


@pytest.mark.parametrize("provider", [*PROVIDERS, VLLM], ids=lambda provider: provider.name)
def test_an_answer_that_broke_off_is_none_wherever_it_did(provider):
    value = {"title": "a long title", "stars": 5, "files": ["a.py", "b.py"]}
    for offer in OFFERS:
        response = said_by(provider, offer, json.dumps(value))
        events = [*FORMS[type(provider.wire).__name__](response, Random(1))]  # noqa: S311  # as above
        outputs = []
        for end in range(len(events) + 1):
            stream = provider.stream(offer, output=Review)
            for event in events[:end]:
                stream.feed(event)
            answer = stream.close()
            assert answer.output_error is None
            try:
                outputs.append(answer.output)
            except AnswerError:
                assert outputs == []
        assert outputs[-1:] == [Review(**value)]


ODD = [
    "",
    " \n ",
    "null",
    "[]",
    "true",
    "{}",
    '{"title": "a", "title": "a"}',
    '{"title": "a", "title": "b"}',
    '{"title": "a", "stars": NaN}',
    '{"title": "a", "stars": ' + "9" * 5000 + "}",
    '{"title": "a", "stars": 1e400}',
    '{"title": "a", "stars": 5,}',
    '{"title": "a"}{"title": "b"}',
    '{"title": "a"} That is all.',
    "{'title': 'a'}",
    '{"title": "\\ud800"}',
    '{"title": "a\nb"}',
    '{"title": "a", "sta',
    '{"Title": "a"}',
    '[{"title": "a"}]',
    '{"Review": {"title": "a"}}',
    '{"title":' * 3_000,
    "[" * 3_000 + "]" * 3_000,
    '{"title": "' + "x" * 100_000 + '"}',
]


@pytest.mark.parametrize("repair", [False, True], ids=["as it is", "repaired"])
@pytest.mark.parametrize("text", ODD, ids=lambda text: text[:24].encode("unicode_escape").decode())
def test_odd_json_is_read_as_by_the_codec(text, repair):
    codec = Codec(Review, repair=repair)
    expected = outcome(lambda: codec.decode_json(text))
    for provider, offer in product([mistral, VLLM], OFFERS):
        if is_by_tool(provider.request(offer, output=codec)) and text.strip() in {"", "null"}:
            continue  # such a call has no arguments
        answer = provider.answer(said_by(provider, offer, text, codec), offer, output=codec)
        assert outcome(lambda answer=answer: answer.output) == expected


def outcome(decode):
    """Return what is decoded, or where the problems are and what they are."""
    try:
        return decode()
    except DecodeError as error:
        return [(finding.path, finding.code) for finding in error.findings]


@pytest.mark.parametrize("provider", [*PROVIDERS, VLLM], ids=lambda provider: provider.name)
def test_an_answer_with_a_type_can_go_to_another_process(provider):
    for offer in OFFERS:
        answer = provider.answer(
            said_by(provider, offer, '{"title": "a", "stars": null}'), offer, output=Review
        )
        sent = pickle.loads(pickle.dumps(answer))  # our own bytes
        assert outcome(lambda sent=sent: sent.output) == outcome(lambda answer=answer: answer.output)
