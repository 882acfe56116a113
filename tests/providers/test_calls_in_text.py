"""Calls that a server left in the text are calls, and prose that shows one stays prose."""

import json
from random import Random

import pytest
from prose_texts import TEXTS
from splitting import pieces
from written_forms import FORMS, texts

from operator_schema import Toolset, tool
from operator_schema.providers import ollama, openai_compatible
from operator_schema.providers.written_calls import may_become_calls

PROVIDERS = {"chat": openai_compatible("llama.cpp"), "ollama": ollama}


@tool
def get_weather(city: str, days: int = 1, tags: list[str] | None = None, is_new: bool = False) -> str:
    """Get the weather."""
    return f"{city} {days} {tags} {is_new}"


@tool
def get_weather_of(place: str) -> str:
    """Get the weather of a place: its name begins as another one does."""
    return place


@tool
def now() -> str:
    """Get the time."""
    return "noon"


TOOLS = Toolset(get_weather, get_weather_of, now)
OFFER = TOOLS.offer()


def said(calls):
    return [
        (call.name, json.loads(call.arguments) if type(call.arguments) is str else call.arguments)
        for call in calls
    ]


def whole(form, text, **more):
    """Return a response whose text is this."""
    message = {"role": "assistant", "content": text}
    if form == "ollama":
        return {"model": "m", "message": message, "done": True, "done_reason": "stop", **more}
    return {
        "id": "chatcmpl-1",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        **more,
    }


def events(form, pieces):
    """Yield the events of a stream whose text comes in these pieces."""
    for piece in pieces:
        message = {"role": "assistant", "content": piece}
        yield (
            {"message": message, "done": False}
            if form == "ollama"
            else {"choices": [{"index": 0, "delta": message}]}
        )
    if form == "ollama":
        yield {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    else:
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def streamed(form, pieces, offer=OFFER):
    """Return the closed stream of a text, and what each event showed of it."""
    stream = PROVIDERS[form].stream(offer)
    shown = [stream.feed(event).text for event in events(form, pieces)]
    stream.close()
    return stream, [*shown, stream.new_text]


WORDS = [
    "Köln",
    "",
    "a b",
    'say "hi"',
    "it's",
    "\\ \n\t",
    "{}",
    "[1, 2]",
    "3",
    "null",
    "🌧",
    "a: b, c; d",
    "</b>",
    "```",
]


def drawn_calls(draw, number):
    """Return calls with arguments of each type."""
    found = []
    for _ in range(number):
        values = {"city": draw.choice(WORDS)}
        if draw.random() < 0.5:
            values |= {"days": draw.randrange(-3, 40), "is_new": draw.random() < 0.5}
        if draw.random() < 0.5:
            values["tags"] = draw.sample(["a", "b'c", 'd"e'], 2)
        found.append(
            draw.choice([("get_weather", values), ("now", {}), ("get_weather_of", {"place": "Oslo"})])
        )
    return found


@pytest.mark.parametrize(("name", "write"), list(texts()), ids=[name for name, _ in texts()])
def test_every_form_is_read_in_each_wrapper_whole_and_streamed(name, write):
    draw = Random(name)  # noqa: S311  # not a secret
    for number, form in ((1, "chat"), (3, "ollama")):
        calls = drawn_calls(draw, number)
        text = write(calls)
        answer = PROVIDERS[form].answer(whole(form, text), OFFER)
        assert said(answer.calls) == calls, text
        assert (answer.text, answer.stop, answer.raw_stop) == ("", "calls", "stop")
        assert all(call.is_from_text for call in answer.calls)
        stream, shown = streamed(form, pieces(text, draw))
        assert (stream.text, set(shown)) == ("", {""})
        assert said(stream.calls) == said(stream.close().calls) == calls


@pytest.mark.parametrize("name", FORMS)
def test_whatever_a_call_begins_with_is_held_back(name):
    text = FORMS[name]([("get_weather", {"city": "Köln"}), ("now", {})])
    names = [one.name for one in OFFER.tools]
    assert all(may_become_calls(text[:place], names) for place in range(len(text) + 1))


@pytest.mark.parametrize("name", FORMS)
def test_a_call_of_a_tool_that_is_not_offered_is_text(name):
    text = FORMS[name]([("get_weather", {"city": "Oslo"}), ("send_email", {"to": "a"})])
    for offer in (OFFER, TOOLS.offer(required="none"), []):
        answer = PROVIDERS["chat"].answer(whole("chat", text), offer)
        assert (answer.calls, answer.text, answer.stop) == ((), text, "end")
        stream, shown = streamed("chat", text, offer)
        assert "".join(shown) == stream.text == stream.close().text == text


@tool
def send_email(to: str, subject: str = "", is_draft: bool = False) -> str:
    """Send an email."""
    return f"{to} {subject} {is_draft}"


@tool
def search(query: str = "*", most: int = 10) -> str:
    """Search."""
    return query * most


TALKED_OF = Toolset(get_weather, send_email, search).offer()


def test_of_the_texts_that_are_no_calls_at_most_one_in_sixty_is_read_as_one():
    read = [text for text in TEXTS if openai_compatible("vLLM").calls(whole("chat", text), TALKED_OF)]
    assert len(read) * 60 <= len(TEXTS), read


@pytest.mark.parametrize("form", PROVIDERS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_shown_of_a_stream_is_its_text(form, text):
    draw = Random(text)  # noqa: S311  # not a secret
    stream, shown = streamed(form, pieces(text, draw), TALKED_OF)
    assert "".join(shown) == stream.text == stream.close().text


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("The weather in Oslo is sunny.", 0),
        ("I can't send emails.", 0),
        ("get_weather is a tool.", len("get_weather ")),
        ("Search results: 1. Oslo", len("Search")),
        ("[1] See the documentation.", 1),
        ("{city} stands for a city.", 1),
        ("<b>Oslo</b> is cold today.", 1),
        ("analysis shows that", len("analysis ")),
        ("```python\nprint(1)\n```", 4),
        ('{"city": "Oslo", "days": 3}', 3),
        ('{"name": "John Doe", "age": 3}', len('{"name": "')),
        ('{"name": "search", "arguments": {}}' + " is a call." * 20, 60),
        ('```json\n{"name": "search", "arguments": {}}\n```\nThat is a call.', 60),
    ],
)
def test_a_text_is_shown_as_soon_as_it_cant_be_a_call(text, held):
    _, shown = streamed("chat", text, TALKED_OF)
    first = next(place for place, piece in enumerate(shown) if piece)
    assert first <= held
