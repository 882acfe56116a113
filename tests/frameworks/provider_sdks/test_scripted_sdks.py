"""One script, served to the real SDKs of providers: each reads it whole and as a stream."""

from __future__ import annotations

import anthropic
import boto3
import cohere
import ollama
import pytest
from google import genai
from google.genai import types
from mistralai.client import Mistral
from openai import BadRequestError, OpenAI

from operator_schema import RawCall, Toolset, providers, tool
from operator_schema.rounds import ToolSearch
from operator_schema.testing import CutOff, Refusal, ScriptedModel


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ASKED = [{"role": "user", "content": "20 + 22?"}]


def chat(address, *, stream):
    client = OpenAI(api_key="none", base_url=f"{address}/v1")
    return client.chat.completions.create(
        model="m", messages=ASKED, stream=stream, **providers.openai_chat.request([add])
    )


def responses(address, *, stream):
    client = OpenAI(api_key="none", base_url=f"{address}/v1")
    return client.responses.create(
        model="m", input=ASKED, stream=stream, **providers.openai_responses.request([add])
    )


def messages(address, *, stream):
    client = anthropic.Anthropic(api_key="none", base_url=address)
    body = providers.anthropic.request([add])
    return client.messages.create(model="m", max_tokens=9, messages=ASKED, stream=stream, **body)


def generate_content(address, *, stream):
    client = genai.Client(api_key="none", http_options={"base_url": address})
    config = types.GenerateContentConfig(
        tools=[types.Tool.model_validate(entry) for entry in providers.gemini.request([add])["tools"]]
    )
    models = client.models
    create = models.generate_content_stream if stream else models.generate_content
    found = create(model="m", contents="20 + 22?", config=config)
    return list(found) if stream else found  # before the client is closed


def converse(address, *, stream):
    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=address,
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106  # nobody checks it here
    )
    asked = [{"role": "user", "content": [{"text": "20 + 22?"}]}]
    body = providers.bedrock.request([add])
    if stream:
        return client.converse_stream(modelId="m", messages=asked, **body)["stream"]
    return client.converse(modelId="m", messages=asked, **body)


def mistral(address, *, stream):
    client = Mistral(api_key="none", server_url=address)
    body = providers.mistral.request([add])
    create = client.chat.stream if stream else client.chat.complete
    found = create(model="m", messages=ASKED, **body)
    return list(found) if stream else found


def cohere_chat(address, *, stream):
    client = cohere.ClientV2(api_key="none", base_url=address)
    create = client.chat_stream if stream else client.chat
    found = create(model="m", messages=ASKED, **providers.cohere.request([add]))
    return list(found) if stream else found


def ollama_chat(address, *, stream):
    client = ollama.Client(host=address)
    found = client.chat(model="m", messages=ASKED, stream=stream, **providers.ollama.request([add]))
    return list(found) if stream else found


SDKS = {
    "openai_chat": chat,
    "openai_responses": responses,
    "anthropic": messages,
    "gemini": generate_content,
    "bedrock": converse,
    "mistral": mistral,
    "cohere": cohere_chat,
    "ollama": ollama_chat,
}
EACH = pytest.mark.parametrize("name", SDKS)
STREAM = pytest.mark.parametrize("stream", [False, True])


@pytest.fixture(autouse=True)
def _no_metadata_of_aws(monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def read(name, line, *, stream):
    """Return the answer that our provider reads from what the SDK gives for a line of a script."""
    provider = getattr(providers, name)
    # Mistral's path is OpenAI's, and its streams aren't.
    model = ScriptedModel(provider, [line]) if name == "mistral" else ScriptedModel([line])
    with model.serve() as address:
        found = SDKS[name](address, stream=stream)
        if not stream:
            return provider.answer(found, [add])
        growing = provider.stream([add])
        for event in found:
            growing.feed(event)
        return growing.close()


@EACH
@STREAM
def test_text_and_calls_arrive_through_the_sdk(name, stream):
    calls = [RawCall("call_0001", "add", {"a": 20, "b": 22}), RawCall("call_0002", "unknown_tool", {})]
    answer = read(name, ["I add them.", *calls], stream=stream)
    assert (answer.text, answer.stop) == ("I add them.", "calls")
    assert [call.name for call in answer.calls] == ["add", "unknown_tool"]
    assert add.decode(answer.calls[0].arguments) == add.input_type(20, 22)
    if name != "ollama":  # its SDK leaves ids out
        assert [call.id for call in answer.calls] == ["call_0001", "call_0002"]


@EACH
@STREAM
def test_a_text_arrives_through_the_sdk(name, stream):
    answer = read(name, "It is 42, as everybody knows.", stream=stream)
    assert (answer.text, answer.stop) == ("It is 42, as everybody knows.", "end")


@EACH
@STREAM
def test_a_cut_answer_arrives_through_the_sdk(name, stream):
    answer = read(name, CutOff("I ad"), stream=stream)
    assert (answer.text, answer.stop) == ("I ad", "length")


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic"])
@STREAM
def test_a_refusal_arrives_through_the_sdk(name, stream):
    answer = read(name, Refusal("Not this."), stream=stream)
    assert (answer.stop, answer.refusal) == ("refused", "Not this.")


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic", "mistral", "cohere"])
def test_arguments_that_were_cut_arrive_through_the_sdk(name):
    call = RawCall("call_0001", "add", '{"a": 1, "b')
    for line, stop in ((CutOff(call), "length"), (call, "calls")):
        answer = read(name, line, stream=True)
        assert answer.stop == stop
        assert answer.calls[0].arguments == '{"a": 1, "b'


@tool
def run_sql(query: str) -> str:
    """Run a query."""
    return query


def openai_event_or_answer(name, client, body, *, stream):
    if name == "openai_chat":
        return client.chat.completions.create(model="m", messages=ASKED, stream=stream, **body)
    return client.responses.create(model="m", input=ASKED, stream=stream, **body)


def read_openai(name, line, tools, body, *, stream):
    """Return the answer that our provider reads from what OpenAI's SDK gives for a request."""
    provider = getattr(providers, name)
    with ScriptedModel([line]).serve() as address:
        client = OpenAI(api_key="none", base_url=f"{address}/v1")
        found = openai_event_or_answer(name, client, body, stream=stream)
        if not stream:
            return provider.answer(found, tools)
        growing = provider.stream(tools)
        for event in found:
            growing.feed(event)
        return growing.close()


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])
@STREAM
def test_a_call_of_a_custom_tool_arrives_through_the_sdk(name, stream):
    body = getattr(providers, name).request([run_sql], custom=[run_sql])
    line = RawCall("call_0001", "run_sql", {"query": 'SELECT "x"'})
    answer = read_openai(name, line, [run_sql], body, stream=stream)
    assert answer.calls[0].arguments == {"query": 'SELECT "x"'}
    assert "custom" in str(answer.message)


@STREAM
def test_a_search_that_your_program_runs_arrives_through_the_sdk(stream):
    search = ToolSearch(Toolset(add, run_sql))
    offer = search.offer([], deferred=True)
    body = providers.openai_responses.request(offer)
    line = RawCall("call_0001", "search_tools", {"query": "add numbers"})
    answer = read_openai("openai_responses", line, offer, body, stream=stream)
    assert answer.message[0]["type"] == "tool_search_call"
    assert (answer.calls[0].name, answer.calls[0].arguments) == ("search_tools", {"query": "add numbers"})


def test_arguments_in_parts_arrive_through_the_sdk_of_google():
    line = RawCall(
        "call_0001", "add", {"a": 20, "b": "a long text that comes in parts", "c": [None, True, {}]}
    )
    body = providers.gemini.request([add])
    body["toolConfig"]["functionCallingConfig"]["streamFunctionCallArguments"] = True
    config = types.GenerateContentConfig(
        tools=[types.Tool.model_validate(entry) for entry in body["tools"]],
        tool_config=types.ToolConfig.model_validate(body["toolConfig"]),
    )
    growing = providers.gemini.stream([add])
    with ScriptedModel([line]).serve() as address:
        client = genai.Client(vertexai=True, api_key="none", http_options={"base_url": address})
        events = [*client.models.generate_content_stream(model="m", contents="20 + 22?", config=config)]
    assert len(events) > 4
    for event in events:
        growing.feed(event)
    answer = growing.close()
    assert (answer.stop, answer.calls) == ("calls", (line,))


def test_the_helper_of_anthropic_that_collects_a_stream_takes_it():
    with ScriptedModel([["I add.", RawCall("c1", "add", {"a": 1, "b": 2})]]).serve() as address:
        client = anthropic.Anthropic(api_key="none", base_url=address)
        with client.messages.stream(model="m", max_tokens=9, messages=ASKED) as stream:
            message = stream.get_final_message()
    assert [block.type for block in message.content] == ["text", "tool_use"]
    assert message.content[1].input == {"a": 1, "b": 2}


def test_the_helper_of_openai_that_collects_a_stream_takes_it():
    with ScriptedModel(["It is 42."]).serve() as address:
        client = OpenAI(api_key="none", base_url=address)
        with client.responses.stream(model="m", input="x") as stream:
            assert stream.get_final_response().output_text == "It is 42."


def test_an_exception_of_the_script_is_raised_by_the_sdk_once():
    model = ScriptedModel([ConnectionError("gone"), "never asked for"])
    with model.serve() as address, pytest.raises(BadRequestError, match="ConnectionError: gone"):
        chat(address, stream=False)
    assert model.left == 1
