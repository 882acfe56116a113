"""Calls that a server left in the text are calls, and prose that shows one stays prose."""

import json
import logging
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import assert_linear
from prose_texts import TEXTS
from provider_traffic import provider_of, unstreamed
from splitting import pieces
from test_provider_laws import response_of
from written_forms import FORMS, WRAPPERS, texts

from operator_schema import Executor, RawCall, Toolset, providers, tool
from operator_schema.providers import NameRule, Rules, ollama, openai_compatible, provider_names
from operator_schema.providers.text_calls import may_become_calls
from operator_schema.providers.written_calls import calls_in_text
from operator_schema.tools import document_tool

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


def parsed(arguments):
    """Return arguments as JSON; text that isn't stays text."""
    try:
        return json.loads(arguments or "{}") if type(arguments) is str else arguments
    except ValueError:
        return arguments


def said(calls):
    return [(call.name, parsed(call.arguments)) for call in calls]


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


@pytest.mark.parametrize("form", PROVIDERS)
@pytest.mark.parametrize(
    ("start", "end", "call"),
    [
        ("\n<think>", "</think>", "Hermes and Qwen"),
        ("", "</think>", "Hermes and Qwen"),
        ("[THINK]", "[/THINK]", "Mistral"),
        ("<seed:think>", "</seed:think>", "Seed"),
        ("<|channel|>analysis<|message|>", "<|end|>", "gpt-oss"),
        ("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>", "gpt-oss"),
    ],
)
def test_a_thought_before_the_calls_is_shown_and_stays_the_text(form, start, end, call):
    thought = f"{start}\nThe user asks for <tool_call>, {{}} and Oslo. \U0001f600{end}"
    text = f"{thought}\n\n{FORMS[call](CALL)}"
    answer = PROVIDERS[form].answer(whole(form, text), OFFER)
    assert (said(answer.calls), answer.text, answer.stop) == (CALL, thought, "calls")
    assert [message["content"] for message in answer.message] == [thought]
    for place in range(len(text)):
        stream, shown = streamed(form, [text[:place], text[place:]])
        assert "".join(shown) == stream.text == stream.close().text == thought
        assert said(stream.close().calls) == CALL
    _, shown = streamed(form, text)
    for place in range(len(start) + 1, len(thought)):
        assert len("".join(shown[: place + 1])) > place - len(end)
    stream, shown = streamed(form, pieces(f"{thought} It rains.", Random(1)))  # noqa: S311  # not a secret
    assert "".join(shown) == stream.close().text == f"{thought} It rains."
    assert PROVIDERS[form].answer(whole(form, f"{start}{BLOCK}"), OFFER).calls == () or not start


@tool(repair=True)
def run_code(code: str, options: dict[str, int] | None = None) -> str:
    """Run code."""
    return f"{code} {options}"


@pytest.mark.parametrize("arguments", ['{"code": "a}" /* b */}', '{"code": "a}", "options": {"x": 1,},}'])
@pytest.mark.parametrize("braces", ["", "}", "}}", " }\n}"])
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ('<tool_call>{"name": "run_code", "arguments": ', "</tool_call>"),
        ('[TOOL_CALLS]{"name": "run_code", "arguments": ', "</s>"),
        ("<function=run_code>", "</function>"),
    ],
)
def test_repair_reads_a_broken_call_however_many_braces_close_it(arguments, braces, start, end):
    offer = Toolset(run_code).offer()
    answer = openai_compatible("vLLM").answer(whole("chat", start + arguments + braces + end), offer)
    (call,) = offer.round(answer).calls
    assert call.state == "pending", call.content
    assert call.input.code == "a}"


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


def names_in(value):
    """Return every name in a recorded request, also those of its tools."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = {value["name"]} if isinstance(value, dict) and isinstance(value.get("name"), str) else set()
    return own.union(*map(names_in, inner))


def test_no_recorded_text_is_read_as_a_call_and_each_is_shown_from_its_first_words_on():
    found = []
    for exchange in unstreamed():
        offered = dict.fromkeys(names_in(exchange["request"]), now)
        for answer in provider_of(exchange).answers(json.loads(exchange["response"]), []):
            if answer.text and not answer.calls:
                found.append(answer.text)
                assert calls_in_text(answer.text, offered, {}) == []
                assert not may_become_calls(answer.text[:12], offered)
    assert len(found) > 100


@pytest.mark.parametrize("form", PROVIDERS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_shown_of_a_stream_is_its_text(form, text):
    draw = Random(text)  # noqa: S311  # not a secret
    stream, shown = streamed(form, pieces(text, draw), TALKED_OF)
    assert "".join(shown) == stream.text == stream.close().text


BITS = [
    *("<tool_call>", "</tool_call>", "```json\n", "```", "\n", "[TOOL_CALLS]", "<|python_tag|>", ";", ","),
    *(
        "<function=",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "(",
        ")",
        "<think>",
        "</think>",
        "print(",
        "now",
        "\\",
        "#",
    ),
    *(
        "[THINK]",
        "[/THINK]",
        "get_weather",
        "to=",
        "<arg_key>",
        "[ARGS]",
        "<\uff5ctool▁sep\uff5c>",
        "It rains.",
        "call:",
    ),
]


@st.composite
def mixtures(draw):
    """Draw a text of calls in several forms, whole or not, and of parts of forms."""
    forms = st.builds(
        lambda write, seed: write(drawn_calls(seed, 1)), st.sampled_from([*FORMS.values()]), st.randoms()
    )
    wrapped = st.builds(lambda wrap, text: wrap(text), st.sampled_from([*WRAPPERS.values()]), forms)
    parts = draw(st.lists(forms | wrapped | st.sampled_from([*BITS, *TEXTS]), min_size=1, max_size=3))
    text = draw(st.sampled_from(["", "\n", " "])).join(parts)
    cut = draw(st.integers(0, len(text)))
    return draw(st.sampled_from([text, text, text[:cut], text[cut:]]))


@settings(deadline=None, max_examples=settings().max_examples // 2)
@given(mixtures(), st.sampled_from([*PROVIDERS]), st.integers(1, 9))
def test_a_stream_shows_and_says_what_the_whole_answer_says_however_calls_are_mixed(text, form, size):
    answer = PROVIDERS[form].answer(whole(form, text), OFFER)
    stream, shown = streamed(form, [text[place : place + size] for place in range(0, len(text), size)])
    assert "".join(shown) == stream.text == stream.close().text == answer.text
    assert said(stream.close().calls) == said(answer.calls)
    if answer.calls:
        begin = len(answer.text)
        names = [one.name for one in OFFER.tools]
        assert all(may_become_calls(text[begin:place], names) for place in range(begin, len(text) + 1))
        assert [name for name, _ in said(answer.calls) if name not in names] == []


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
    ],
)
def test_a_text_is_shown_as_soon_as_it_cant_be_a_call(text, held):
    _, shown = streamed("chat", text, TALKED_OF)
    first = next(place for place, piece in enumerate(shown) if piece)
    assert first <= held


# --- what becomes of such a call -----------------------------------------------------------------

CALL = [("get_weather", {"city": "Oslo"})]
BLOCK = '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```'
ASKED = {name: getattr(providers, name).replace(calls_in_text=True) for name in provider_names()}


@pytest.mark.parametrize("name", ASKED)
def test_hosted_providers_read_calls_in_the_text_only_if_asked(name):
    provider = ASKED[name]
    message = provider.wire.text_message("assistant", BLOCK)
    if provider.wire.HISTORY == "input":
        message |= {"type": "message", "content": [{"type": "output_text", "text": BLOCK}]}
    response = response_of(provider, message)
    usual = getattr(providers, name)
    assert usual.calls_in_text == (name in {"llama_cpp", "ollama"})
    assert usual.replace(calls_in_text=False).answer(response, OFFER).text == BLOCK
    answer = provider.answer(response, OFFER)
    assert (said(answer.calls), answer.text, answer.stop) == (CALL, "", "calls")
    assert sum(map(provider.wire.calls_in, answer.message)) == 1


@pytest.mark.needs_threads
@pytest.mark.parametrize("taker", ASKED)
@pytest.mark.parametrize("giver", PROVIDERS)
def test_the_history_has_the_call_for_every_provider(giver, taker):
    answer = PROVIDERS[giver].answer(whole(giver, BLOCK), OFFER)
    history = ["How is Oslo?"]
    turn = Executor(TOOLS).run_sync(OFFER.round(answer)).commit(history)
    provider = getattr(providers, taker)
    _, *sent = provider.request(OFFER, history)[provider.wire.HISTORY]
    calls = [message for message in sent if provider.wire.calls_in(message)]
    assert sent == provider.turn(turn, OFFER)
    assert len(calls) == 1
    assert "```" not in json.dumps(sent)
    if not taker.startswith("gemini"):
        assert json.dumps(sent).count(answer.calls[0].id) == 2


def test_the_rest_of_the_message_stays():
    response = whole("chat", BLOCK)
    response["choices"][0]["message"] |= {"reasoning_content": "Hm.", "refusal": None}
    (message,) = PROVIDERS["chat"].answer(response, OFFER).message
    (call,) = message.pop("tool_calls")
    assert message == {"role": "assistant", "content": None, "reasoning_content": "Hm.", "refusal": None}
    assert call["function"] == {"name": "get_weather", "arguments": '{"city":"Oslo"}'}


def test_a_call_has_one_id_that_every_template_takes():
    ids = [PROVIDERS["chat"].answer(whole("chat", BLOCK), OFFER).calls[0].id for _ in range(300)]
    assert len(set(ids)) == 300
    assert all(len(one) == 9 and one.isascii() and one.isalnum() for one in ids)
    stream, _ = streamed("chat", [FORMS["a list"]([*CALL, *CALL])])
    answer = stream.close()
    (message,) = answer.message
    assert [call.id for call in stream.calls] == [call.id for call in answer.calls]
    assert [call["id"] for call in message["tool_calls"]] == [call.id for call in answer.calls]
    assert stream.answers() == stream.answers()


def test_each_choice_of_a_response_has_its_own_calls():
    response = whole("chat", BLOCK)
    response["choices"] += whole("chat", "It rains.")["choices"] + whole("chat", BLOCK)["choices"]
    answers = PROVIDERS["chat"].answers(response, OFFER)
    assert [said(answer.calls) for answer in answers] == [CALL, [], CALL]
    assert answers[1].text == "It rains."
    assert answers[0].calls[0].id != answers[2].calls[0].id


@pytest.mark.needs_threads
def test_the_mark_is_kept_in_rounds_and_transcripts():
    answer = PROVIDERS["chat"].answer(whole("chat", BLOCK), OFFER)
    plan = TOOLS.restore_round(json.loads(json.dumps(OFFER.round(answer).as_dict())))
    assert plan.calls[0].raw.is_from_text
    turn = Executor(TOOLS).run_sync(plan).commit([])
    assert turn.calls[0].is_from_text
    assert turn.as_dict()["calls"][0]["is_from_text"] is True
    assert eval(repr(answer.calls[0]), {"RawCall": RawCall}) == answer.calls[0]  # noqa: S307  # its own
    assert "is_from_text" not in OFFER.round([RawCall("1", "now")]).as_dict()["calls"][0]


def test_the_log_says_it_once_for_each_provider(caplog):
    first, second = openai_compatible("a server"), openai_compatible("another server")
    with caplog.at_level(logging.INFO, logger="operator_schema"):
        for provider in (first, second, first):
            provider.answer(whole("chat", BLOCK), OFFER)
            provider.answer(whole("chat", "It rains."), OFFER)
    told = [record.getMessage() for record in caplog.records]
    assert [message.partition(": ")[0] for message in told] == ["a server", "another server"]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    raise AssertionError(amount)


@pytest.mark.needs_threads
def test_a_tool_that_a_person_has_to_agree_to_still_asks():
    offer = Toolset(pay).offer()
    answer = PROVIDERS["chat"].answer(whole("chat", FORMS["Gemma"]([("pay", {"amount": 5})])), offer)
    plan = Executor(Toolset(pay)).run_sync(offer.round(answer))
    assert not plan.is_complete
    assert [call.state for call in plan.calls] == ["deferred"]


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"name": "get_weather", "arguments": {"town": "Oslo"}}', "city: missing"),
        ('{"name": "get_weather", "arguments": {"city": "Oslo", "days": "many"}}', "days: expected integer"),
        ('{"name": "get_weather", "arguments": "{\\"city\\": "}', "not valid JSON"),
        ("<tool_call>get_weather</tool_call>", "city: missing"),
        ('<function=get_weather>{"city": "Oslo",}</function>', "not valid JSON"),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo}}</tool_call>', "not valid JSON"),
        ('[TOOL_CALLS]{"name": "get_weather", "arguments": {"city" = 1}}', "not valid JSON"),
    ],
)
def test_wrong_arguments_are_still_a_call_which_the_model_can_correct(text, says):
    answer = PROVIDERS["chat"].answer(whole("chat", text), OFFER)
    (result,) = Executor(TOOLS).run_sync(answer.calls)
    assert result.code == "invalid_params"
    assert says in result.content


@pytest.mark.parametrize("braces", ["", "}}", "\n}\n}"])
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_brace_too_few_or_too_many_at_the_end_hides_no_call(wrap, braces):
    text = wrap(f'{{"name": "get_weather", "arguments": {{"city": "Oslo"}}{braces}')
    assert said(PROVIDERS["chat"].calls(whole("chat", text), OFFER)) == CALL
    stream, shown = streamed("chat", text)
    assert (said(stream.close().calls), set(shown)) == (CALL, {""})


@tool
def describe(type: str, shape: dict[str, str] | None = None) -> str:  # noqa: A002  # what is tested
    """Describe a type."""
    return f"{type} {shape}"


def test_arguments_that_look_like_a_schema_are_arguments_if_the_tool_takes_them():
    def calls(arguments):
        text = json.dumps({"name": "describe", "arguments": arguments})
        return said(openai_compatible("vLLM").calls(whole("chat", text), [describe]))

    for arguments in (
        {"type": "object"},
        {"type": "a", "shape": {"type": "object"}},
        {"shape": {"type": "string"}},
    ):
        assert calls(arguments) == [("describe", arguments)]
    assert calls({"type": "object", "properties": {"type": {"type": "string"}}}) == []
    assert calls({"type": {"type": "string"}}) == []


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_stopped_is_text(reason):
    response = whole("chat", BLOCK)
    response["choices"][0]["finish_reason"] = reason
    answer = PROVIDERS["chat"].answer(response, OFFER)
    assert (answer.calls, answer.text) == ((), BLOCK)


def test_calls_that_the_server_read_count_alone():
    native = {"id": "c", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    response = whole("chat", BLOCK)
    response["choices"][0]["message"]["tool_calls"] = [native]
    answer = PROVIDERS["chat"].answer(response, OFFER)
    assert (said(answer.calls), answer.text, answer.calls[0].is_from_text) == ([("now", {})], BLOCK, False)
    stream = PROVIDERS["chat"].stream(OFFER)
    assert stream.feed({"choices": [{"index": 0, "delta": {"content": BLOCK}}]}).text == ""
    assert (
        stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [{**native, "index": 0}]}}]}).text
        == BLOCK
    )
    assert stream.close().text == BLOCK


def test_a_stream_that_breaks_off_shows_its_text_or_a_call_that_never_runs():
    stream = PROVIDERS["chat"].stream(OFFER)
    stream.feed({"choices": [{"index": 0, "delta": {"content": BLOCK[:40]}}]})
    answer = stream.close()
    assert (stream.new_text, answer.text, answer.stop) == (BLOCK[:40], BLOCK[:40], "interrupted")
    stream = PROVIDERS["chat"].stream(OFFER)
    stream.feed({"choices": [{"index": 0, "delta": {"content": BLOCK}}]})
    answer = stream.close()
    assert (answer.text, answer.stop, [call.is_cut_off for call in answer.calls]) == (
        "",
        "interrupted",
        [True],
    )


def test_names_and_keys_on_the_wire_become_the_tools_own():
    keys = NameRule(20, "_")
    short = openai_compatible("short", names=NameRule(longest=20, others="_"), rules=Rules(keys=keys))

    def found(arguments):
        return str(arguments)

    properties = {"filter[id]": {"type": "string"}, "most": {"type": "integer"}}
    by_filter = document_tool(
        found, {"type": "object", "properties": properties}, name="find_what_fits_by_filter"
    )
    function = short.request([by_filter])["tools"][0]["function"]
    filter_key, most = function["parameters"]["properties"]
    calls = [(function["name"], {filter_key: "7", most: 3})]
    for form in ("an object", "Qwen3-Coder"):
        text = FORMS[form](calls)
        answer = short.answer(whole("chat", text), [by_filter])
        assert said(answer.calls) == [("find_what_fits_by_filter", {"filter[id]": "7", "most": 3})]
        stream = short.stream([by_filter])
        for event in events("chat", text):
            stream.feed(event)
        assert said(stream.close().calls) == said(stream.calls) == said(answer.calls)


def test_calls_in_text_is_a_switch():
    with pytest.raises(TypeError, match="calls_in_text must be True or False, not integer 0"):
        openai_compatible("x", calls_in_text=0)
    off = openai_compatible("x", calls_in_text=False)
    assert off.answer(whole("chat", BLOCK), OFFER).text == BLOCK
    assert off.stream(OFFER).feed({"choices": [{"index": 0, "delta": {"content": "{"}}]}).text == "{"


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize("piece", ["a", "{", '", "', "get_weather(", "<tool_call>", "<arg_key>", "x(a=1)\n"])
@pytest.mark.parametrize("start", ['{"name": "search", "arguments": {"query": "', "search("])
def test_a_stream_that_may_be_calls_is_read_in_linear_time(start, piece):
    def read(count):
        stream = PROVIDERS["chat"].stream(TALKED_OF)
        for text in (start, *[piece] * count):
            stream.feed({"choices": [{"index": 0, "delta": {"content": text}}]})
        stream.close()

    assert_linear(read, 400, slack=4)
