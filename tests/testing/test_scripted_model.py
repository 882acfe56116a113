"""A model that follows a script: what it answers, whole and in events, and what it says of mistakes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_traffic import provider_of, unstreamed
from shares import shared

from operator_schema import Executor, RawCall, Toolset, Transcript, providers, tool
from operator_schema.immutable import Value
from operator_schema.providers import (
    NameRule,
    Namespace,
    groq,
    openai_chat,
    openai_compatible,
    openai_responses,
)
from operator_schema.rounds import ToolSearch
from operator_schema.testing import CutOff, Refusal, ScriptedModel


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS = Toolset(add, add.with_(name="add_again"))


def answer_of(model: Any, provider: Any, body: dict[str, Any], tools: Any, *, stream: bool) -> Any:
    """Send a request, and read the answer as a whole or as a stream."""
    if not stream:
        return provider.answer(model(**body), tools)
    growing = provider.stream(tools)
    for event in model(stream=True, **body):
        growing.feed(event)
    return growing.close()


def talk(model: Any, messages: list[dict[str, Any]], *, stream: bool = False) -> str:
    """Run the loop that a program has, to the first answer without calls."""
    executor = Executor(TOOLS)
    while True:
        body = {"model": "m", "messages": messages, **openai_chat.request(TOOLS)}
        answer = answer_of(model, openai_chat, body, TOOLS, stream=stream)
        if not answer.calls:
            return answer.text
        results = executor.run_sync(answer.calls)
        messages += [*answer.message, *openai_chat.results(results, TOOLS)]


@pytest.mark.needs_threads
@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_follows_its_script(stream):
    model = ScriptedModel(
        openai_chat,
        [
            ["I add them.", RawCall("c1", "add", {"a": 20, "b": "x"})],
            [RawCall("c2", "add", {"a": 20, "b": 22}), RawCall("c3", "add_again", '{"a": 1, "b": 2}')],
            "It is 42.",
        ],
    )
    assert talk(model, [{"role": "user", "content": "20 + 22?"}], stream=stream) == "It is 42."
    assert model.left == 0
    first, second, third = [request["messages"] for request in model.requests]
    assert len(first) == 1
    assert "\n- b: " in second[-1]["content"]
    assert [message["content"] for message in third[-2:]] == ["42", "3"]
    assert third[1]["content"] == "I add them."


def test_requests_are_kept_as_they_were():
    model = ScriptedModel(openai_chat, ["one", "two"])
    messages = [{"role": "user", "content": "a"}]
    model(messages=messages)
    messages.append({"role": "user", "content": "b"})
    model(messages=messages)
    assert [len(request["messages"]) for request in model.requests] == [1, 2]


def test_a_function_sees_the_request_and_an_exception_is_raised():
    model = ScriptedModel(
        openai_chat, [lambda body: body["messages"][-1]["content"], ConnectionError("gone")]
    )
    assert openai_chat.answer(model(messages=[{"role": "user", "content": "Say yes"}]), []).text == "Say yes"
    with pytest.raises(ConnectionError, match="gone"):
        model(messages=[])


def test_a_whole_response_goes_through():
    response = {"choices": [{"message": {"role": "assistant", "content": "cut"}, "finish_reason": "length"}]}
    model = ScriptedModel(openai_chat, [response])
    given = model()
    assert given == response
    assert given is not response
    assert openai_chat.answer(given, []).stop == "length"


def test_the_end_of_the_script_fails_the_test():
    model = ScriptedModel(groq, ["done"])
    model()
    with pytest.raises(AssertionError, match="the script has 1 answer, and this is request 2"):
        model()


@pytest.mark.parametrize("line", [3, [], [3], [None, "x"], lambda _: 3])
def test_other_lines_are_refused(line):
    with pytest.raises(TypeError, match="an answer of a script must be a string"):
        ScriptedModel(openai_chat, [line])()


@pytest.mark.parametrize("script", ["hello", b"hello", {"choices": []}, RawCall("1", "add", {}), 5, None])
def test_one_answer_is_not_a_script(script):
    with pytest.raises(TypeError, match=r"^a script must be a list of answers, not .*: write \[answer\]"):
        ScriptedModel(openai_chat, script)


@pytest.mark.parametrize("provider", ["openai", None, "openai_chat"])
def test_the_name_of_a_provider_is_not_a_provider(provider):
    with pytest.raises(
        TypeError, match=r"^ScriptedModel takes a provider, not .*: from operator_schema\.providers"
    ):
        ScriptedModel(provider, ["x"])


def test_a_wire_form_of_your_own_is_refused():
    class OwnWire(Value):
        pass

    own = openai_chat.replace(name="Own", wire=OwnWire())
    with pytest.raises(TypeError, match="doesn't know the wire form of Own: give whole responses"):
        ScriptedModel(own, ["x"])


@pytest.mark.needs_threads
def test_an_async_program_gets_the_same():
    async def run() -> tuple[str, str]:
        model = ScriptedModel(openai_chat, ["plain", "streamed text"])
        plain = openai_chat.answer(await model.acall(), []).text
        growing = openai_chat.stream([])
        async for event in await model.acall(stream=True):
            growing.feed(event)
        return plain, growing.close().text

    assert asyncio.run(run()) == ("plain", "streamed text")


def test_names_are_the_providers_on_the_wire():
    provider = openai_compatible("short", names=NameRule(longest=12))
    long = add.with_(name="add_two_whole_numbers")
    model = ScriptedModel(provider, [RawCall("c1", long.name, {"a": 1, "b": 2})])
    (offered,) = provider.request([long])["tools"]
    response = model()
    (sent,) = response["choices"][0]["message"]["tool_calls"]
    assert sent["function"]["name"] == offered["function"]["name"] != long.name
    assert provider.answer(response, [long]).calls[0].name == long.name


# --- the law: each provider reads what the script says --------------------------------------------

EACH = pytest.mark.parametrize("name", providers.provider_names())
FEWER = shared(len(providers.provider_names()))
OBJECTS = {"anthropic", "bedrock", "gemini", "gemini_parameters", "ollama"}
"""The providers whose arguments are an object in a whole response."""

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
VALUES = st.dictionaries(
    st.sampled_from(["a", "b", "größe", "x y"]),
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | TEXTS
    | st.lists(st.integers(0, 9), max_size=3),
    max_size=3,
)
IDS = st.integers(0, 2**32).map("call_{:x}".format)
NAMES = st.sampled_from(["add", "add_again", "nobody_knows_it"])
CALLS = st.builds(RawCall, IDS, NAMES, VALUES | VALUES.map(json.dumps))


@st.composite
def broken_calls(draw):
    """Draw a call whose arguments break off."""
    text = json.dumps(draw(VALUES))
    return RawCall(draw(IDS), draw(NAMES), text[: draw(st.integers(1, len(text) - 1))])


PARTS = st.lists(TEXTS | CALLS, min_size=1, max_size=4)


def read(name, line):
    """Return how a provider reads a line of the script: whole, and streamed, with the text that was shown."""
    provider = getattr(providers, name)
    whole = provider.answer(ScriptedModel(provider, [line])(model="m"), TOOLS)
    stream = provider.stream(TOOLS)
    shown = "".join([stream.feed(event).text for event in ScriptedModel(provider, [line])(stream=True)])
    streamed = stream.close()
    assert shown == streamed.text
    return whole, streamed


def value(arguments):
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def same(found, wanted):
    assert [(call.id, call.name, value(call.arguments)) for call in found.calls] == [
        (call.id, call.name, value(call.arguments)) for call in wanted
    ]
    assert not any(call.is_cut_off for call in found.calls)


def unmarked(answer):
    whole = {"is_cut_off": False, "is_malformed": False}
    return answer.replace(calls=tuple([call.replace(**whole) for call in answer.calls]))


def text_of(parts):
    return "".join([part for part in parts if isinstance(part, str)])


def calls_of(parts):
    return [part for part in parts if isinstance(part, RawCall)]


@EACH
@FEWER
@given(parts=PARTS, call=broken_calls())
def test_each_provider_reads_what_the_script_says(name, parts, call):
    """The laws of whole, broken and cut off answers together, since drawing them takes most of the time."""
    check_whole(name, parts)
    check_broken(name, parts, call)
    check_cut_off(name, parts, call)


def check_whole(name, parts):
    for found in read(name, parts):
        assert found.text == text_of(parts)
        assert found.stop == ("calls" if calls_of(parts) else "end")
        same(found, calls_of(parts))


def check_broken(name, parts, call):
    """Broken arguments come in the provider's own form."""
    whole, streamed = read(name, [*parts, call])
    before = calls_of(parts)
    if name in {"gemini", "gemini_parameters"}:
        for found in (whole, streamed):
            same(unmarked(found), before)  # after another reason to stop, the last call may lack its end
            assert (found.stop, found.raw_stop) == ("other", "MALFORMED_FUNCTION_CALL")
            assert found.stop_message == f"Malformed function call: {call.name}({call.arguments})"
    elif name == "ollama":
        for found in (whole, streamed):
            same(found, before)
            assert found.text == f'{text_of(parts)}{{"name": "{call.name}", "arguments": {call.arguments}'
    else:
        for found in (whole, streamed):
            *others, last = found.calls
            same(found.replace(calls=tuple(others)), before)
            assert (found.stop, last.id, last.name) == ("calls", call.id, call.name)
            if found is streamed or name not in OBJECTS:
                assert last.arguments == call.arguments
            else:
                check_members(last.arguments, call.arguments)


def check_members(found, text):
    """Check that an object has the members that are complete in a text that breaks off."""
    keys = list(found)
    for place, key in enumerate(keys):
        written = json.dumps({one: found[one] for one in keys[: place + 1]})[:-1]
        assert text.startswith(written), key


def check_cut_off(name, parts, call):
    """An answer that was cut off is read as one."""
    for found in read(name, CutOff(*parts, call)):
        assert found.stop == "length"
        assert found.is_cut_off
        if name == "ollama":
            same(unmarked(found), calls_of(parts))
            continue
        *others, last = found.calls
        same(found.replace(calls=tuple(others)), calls_of(parts))
        assert (last.id, last.name, last.is_cut_off) == (call.id, call.name, True)
        assert found.text == text_of(parts)
        if isinstance(last.arguments, str):
            assert last.arguments == call.arguments
        else:
            check_members(last.arguments, call.arguments)


@EACH
@FEWER
@given(text=TEXTS)
def test_a_text_that_was_cut_off_keeps_what_came_and_a_refusal_has_the_providers_own_form(name, text):
    for found in read(name, CutOff(text)):
        assert (found.text, found.stop) == (text, "length")
    for found in read(name, Refusal(text)):
        if name in {"gemini", "gemini_parameters"}:
            assert (found.stop, found.raw_stop, found.stop_message) == ("filtered", "SAFETY", text)
        elif name == "bedrock":
            assert (found.stop, found.text) == ("filtered", text)
        elif name in {"cohere", "ollama"}:
            assert (found.stop, found.text) == ("end", text)
        else:
            assert (found.stop, found.refusal, found.text) == ("refused", text, "")


# --- what only some providers can say --------------------------------------------------------------


@tool
def run_sql(query: str) -> str:
    """Run a query."""
    return query


MORE = Toolset(add, run_sql)
SEARCH = ToolSearch(MORE, always=add)
PROGRAMS = {
    "anthropic": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"},
    "openai_responses": {"type": "program", "caller_id": "prog_1"},
}


def read_for(name, line, offer, body):
    """Return how a provider reads the answer to a request: whole, streamed, and the stream."""
    provider = getattr(providers, name)
    whole = provider.answer(ScriptedModel(provider, [line])(model="m", **body), offer)
    stream = provider.stream(offer)
    for event in ScriptedModel(provider, [line])(stream=True, **body):
        stream.feed(event)
    streamed = stream.close()
    assert [(call.name, call.id) for call in stream.calls] == [
        (call.name, call.id) for call in streamed.calls
    ]
    return whole, streamed, stream


CUSTOM = pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])


@CUSTOM
@given(text=TEXTS)
def test_a_call_of_a_custom_tool_has_the_form_that_the_request_lists(name, text):
    provider = getattr(providers, name)
    body = provider.request(MORE, ["Ask."], custom=[run_sql])
    line = [RawCall("call_1", "run_sql", {"query": text}), RawCall("call_2", "add", {"a": 1, "b": 2})]
    whole, streamed, stream = read_for(name, line, MORE, body)
    for answer in (whole, streamed):
        assert [call.name for call in answer.calls] == ["run_sql", "add"]
        assert answer.calls[0].arguments == {"query": text}
        assert "custom" in str(answer.message[0])
    told = [{**answer.message[0], "content": None} for answer in (whole, streamed)]
    assert told[0] == told[1]
    assert json.loads(stream.calls[0].arguments) == {"query": text}


@CUSTOM
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("SELECT 1", "SELECT 1"),
        ('{"q": "SELECT"}', "SELECT"),
        ({"a": 1}, '{"a":1}'),
        ({}, "{}"),
        (None, "null"),
    ],
)
def test_a_custom_tool_gets_what_the_script_says_as_text(name, arguments, text):
    provider = getattr(providers, name)
    body = provider.request(MORE, custom=[run_sql])
    for answer in read_for(name, RawCall("call_1", "run_sql", arguments), MORE, body)[:2]:
        assert answer.calls[0].arguments == {"query": text}


def test_a_custom_tool_of_a_namespace_or_of_a_search_is_one():
    groups = [Namespace("db", "Queries.", [run_sql])]
    body = openai_responses.request(MORE, custom=[run_sql], namespaces=groups)
    line = RawCall("call_1", "run_sql", {"query": "SELECT"})
    assert read_for("openai_responses", line, MORE, body)[0].message[0]["type"] == "custom_tool_call"
    output = {"type": "tool_search_output", "tools": [{"type": "custom", "name": "run_sql"}]}
    body = {"tools": [], "input": [output, "x", {"tools": "none"}]}
    assert read_for("openai_responses", line, MORE, body)[0].message[0]["type"] == "custom_tool_call"


@pytest.mark.needs_threads
@pytest.mark.parametrize("name", ["anthropic", "openai_responses"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_search_of_a_script_is_answered_like_that_of_a_model(name, stream):
    provider = getattr(providers, name)
    model = ScriptedModel(
        provider,
        [
            RawCall("call_1", "search_tools", {"query": "run a query"}),
            RawCall("call_2", "run_sql", {"query": "SELECT"}),
            "Done.",
        ],
    )
    history, executor, said = Transcript(["Ask the database."]), Executor(SEARCH), None
    while said is None or said.calls:
        offer = SEARCH.offer(history, deferred=True)
        said = answer_of(model, provider, provider.request(offer, history), offer, stream=stream)
        turn = executor.run_sync(offer.round(said)).commit(history)
        assert not any(result.is_error for result in turn.results)
    assert (said.text, [turn.calls[0].name for turn in history[1:3]]) == (
        "Done.",
        ["search_tools", "run_sql"],
    )
    loading = {"anthropic": "tool_reference", "openai_responses": "tool_search_output"}[name]
    assert loading in json.dumps(model.requests[1])


def test_what_no_search_takes_is_a_call_of_a_tool():
    offer = SEARCH.offer([], deferred=True)
    body = openai_responses.request(offer)
    for call in (
        RawCall("c", "search_tools", {"words": "x"}),
        RawCall("c", "search_tools", '{"query": "x'),
        RawCall("c", "add", {"query": "x"}),
    ):
        for answer in read_for("openai_responses", call, offer, body)[:2]:
            assert answer.message[0]["type"] == "function_call"


@pytest.mark.parametrize(
    "body",
    [
        {"tools": 5},
        {"tools": [5, {"type": ["custom"]}, {"type": "custom", "name": None}], "input": "x"},
        {"tools": [{"type": "tool_search", "execution": "client"}]},
        {"tools": [{"type": "tool_search", "execution": "client", "parameters": {"properties": 5}}]},
        {"tools": [{"type": "tool_search", "parameters": {"properties": {"a": {}}}}]},
        {"toolConfig": [{}]},
        {"toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": "yes"}}},
    ],
)
@EACH
def test_a_request_of_another_form_gets_plain_calls(name, body):
    for answer in read_for(name, RawCall("call_1", "nobody", {"a": 1}), MORE, body)[:2]:
        assert value(answer.calls[0].arguments) == {"a": 1}
        assert answer.calls[0].id == "call_1"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_call_of_a_script_may_come_from_a_program(name):
    line = [RawCall("c1", "add", {"a": 1, "b": 2}, caller=PROGRAMS[name]), RawCall("c2", "add", {})]
    for answer in read_for(name, line, MORE, {})[:2]:
        assert [call.caller for call in answer.calls] == [PROGRAMS[name], None]


PARTIAL = {"toolConfig": {"functionCallingConfig": {"streamFunctionCallArguments": True}}}
NESTED = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXTS | st.just(""),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.sampled_from(["it's", "\\"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(arguments=st.dictionaries(TEXTS | st.just("a b"), NESTED, max_size=3), text=TEXTS)
def test_gemini_streams_arguments_in_parts_if_the_request_wants_it(arguments, text):
    line = [text, RawCall("c1", "add", arguments), RawCall("c2", "add", {"a": 1})]
    whole, streamed, _ = read_for("gemini", line, MORE, PARTIAL)
    assert [call.arguments for call in whole.calls] == [arguments, {"a": 1}]
    assert (streamed.calls, streamed.message) == (whole.calls, whole.message)
    events = [*ScriptedModel(providers.gemini, [line])(stream=True, **PARTIAL)]
    assert "partialArgs" in json.dumps(events)
    assert "partialArgs" not in json.dumps([*ScriptedModel(providers.gemini, [line])(stream=True)])
    assert "partialArgs" not in json.dumps(ScriptedModel(providers.gemini, [line])(**PARTIAL))


def test_arguments_of_gemini_in_parts_may_be_cut_off():
    line = CutOff(RawCall("c1", "add", '{"a": 1, "b'))
    whole, streamed, stream = read_for("gemini", line, MORE, PARTIAL)
    assert (whole.stop, streamed.stop) == ("length", "length")
    assert streamed.calls[0].is_cut_off
    assert stream.calls[0].arguments == '{"a":1'


@EACH
def test_a_recorded_answer_as_a_dict_is_streamed_too(name):
    provider = getattr(providers, name)
    response = ScriptedModel(provider, [["I add.", RawCall("c1", "add", {"a": 1, "b": 2})]])(model="m")
    whole, streamed = read(name, response)
    assert whole.text == streamed.text == "I add."
    assert [whole.calls, whole.stop] == [streamed.calls, streamed.stop]


@EACH
def test_an_error_of_the_provider_goes_through(name):
    provider = getattr(providers, name)
    error = {"error": {"message": "too many requests"}}
    with pytest.raises(providers.ResponseError, match="too many requests"):
        provider.answer(ScriptedModel(provider, [error])(), TOOLS)
    (event,) = ScriptedModel(provider, [error])(stream=True)
    with pytest.raises(providers.ResponseError, match="too many requests"):
        provider.stream(TOOLS).feed(event)


def test_recorded_answers_are_streamed_as_they_would_be_read_whole():
    for exchange in unstreamed():
        provider, body = provider_of(exchange), json.loads(exchange["response"])
        model = ScriptedModel(provider, [body, body])
        whole = provider.answer(model(), [])
        stream = provider.stream([])
        for event in model(stream=True):
            stream.feed(event)
        streamed = stream.close()
        for key in ("text", "refusal", "stop", "raw_stop", "reasoning", "id", "stop_message"):
            assert getattr(streamed, key) == getattr(whole, key), (exchange["cassette"], key)
        for call, wanted in zip(streamed.calls, whole.calls, strict=True):
            assert call.name == wanted.name
            assert call.arguments == wanted.arguments or value(call.arguments) == value(wanted.arguments)


def test_a_dict_of_another_form_cannot_be_streamed():
    with pytest.raises(TypeError, match="can't be streamed: it has another form"):
        ScriptedModel(openai_chat, [{"choices": [{"text": "x"}]}])(stream=True)


def test_a_script_alone_says_no_form():
    with pytest.raises(TypeError, match=r"has no provider: write ScriptedModel\(anthropic, script\)"):
        ScriptedModel(["x"])()


@pytest.mark.parametrize("parts", [(), (3,), (["x"],)])
def test_cut_off_takes_texts_and_calls(parts):
    with pytest.raises(TypeError, match="CutOff takes texts and calls"):
        CutOff(*parts)


def test_a_refusal_has_a_text():
    with pytest.raises(TypeError, match="the text of a Refusal"):
        Refusal(3)
