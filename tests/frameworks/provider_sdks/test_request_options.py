"""What only some providers take in a request, checked by the types of the providers' SDKs."""

from __future__ import annotations

from base64 import urlsafe_b64decode

import pytest
from anthropic.types import Message
from anthropic.types.message_create_params_container_param import MessageCreateParamsContainerParam
from google import genai
from google.genai import types as google
from local_server import serving
from openai.types.responses import Response as OpenAIResponse
from pydantic import TypeAdapter
from sdk_judges import JUDGES

from operator_schema import Executor, RawCall, Toolset, providers, tool
from operator_schema.providers import Grammar, Namespace
from operator_schema.rounds import ToolSearch


@tool(examples=[{"city": "Oslo"}])
def weather(city: str, days: int = 1) -> str:
    """Say what the weather will be."""
    return city * days


@tool
def run_sql(query: str) -> str:
    """Run a query."""
    return query


@tool
def pay(cents: int) -> str:
    """Pay a bill."""
    return str(cents)


TOOLS = Toolset(weather, run_sql, pay)
SOME = TOOLS.offer(only=[weather, run_sql], strict=True)
DEFERRED = TOOLS.offer(deferred=[run_sql, pay])

REQUESTS = [
    ("anthropic", DEFERRED, {}),
    ("anthropic", DEFERRED, {"search": "regex", "cache": True}),
    ("anthropic", TOOLS, {"cache": "1h", "parallel": False, "examples": True}),
    ("anthropic", TOOLS, {"allowed_callers": {pay: ["direct", "code_execution_20250825"]}}),
    ("anthropic", TOOLS, {"allowed_callers": {pay: ["code_execution_20260120"]}}),
    ("anthropic", TOOLS.offer(required="any"), {"parallel": True, "cache": "5m"}),
    ("anthropic", TOOLS.offer(required=pay), {"parallel": False}),
    ("anthropic", TOOLS.offer(required="none"), {"parallel": False}),
    ("bedrock", TOOLS, {"cache": True}),
    ("bedrock", TOOLS, {"cache": "1h"}),
    ("gemini", SOME, {"listed": TOOLS}),
    ("gemini", TOOLS.offer(only=pay, required="any"), {"listed": TOOLS}),
    ("gemini_parameters", SOME, {"listed": TOOLS}),
    ("groq", TOOLS, {"parallel": False}),
    ("mistral", TOOLS, {"parallel": False}),
    ("openai_chat", SOME, {"listed": TOOLS, "parallel": False}),
    ("openai_chat", SOME, {"listed": TOOLS, "custom": [run_sql]}),
    ("openai_chat", TOOLS.offer(required=run_sql), {"custom": {run_sql: Grammar("regex", "SELECT .*")}}),
    ("openai_responses", SOME, {"listed": TOOLS, "parallel": True, "custom": {"run_sql": None}}),
    (
        "openai_responses",
        TOOLS.offer(required=run_sql),
        {"custom": {run_sql: Grammar("lark", "start: WORD")}},
    ),
    ("openai_responses", TOOLS, {"late": [pay, run_sql], "custom": [run_sql]}),
    ("openai_responses", DEFERRED, {"late": [pay], "namespaces": [Namespace("bank", "Money.", [pay])]}),
    ("openai_responses", DEFERRED, {"namespaces": [Namespace("bank", "Money.", [pay])], "custom": [run_sql]}),
    ("openai_responses", TOOLS, {"allowed_callers": {pay: ["programmatic"], "run_sql": ["direct"]}}),
    ("xai", TOOLS, {"parallel": False}),
]


@pytest.mark.parametrize(("name", "offer", "options"), REQUESTS)
def test_the_types_of_the_sdk_take_it(name, offer, options):
    body = getattr(providers, name).request(offer, **options)
    JUDGES[name].request(body)


def test_each_feature_is_among_these_requests():
    taken = {(name, option) for name, _, options in REQUESTS for option in options}
    for name in JUDGES:
        features = getattr(providers, name).features
        assert features.allowed == ((name, "listed") in taken)
        assert features.cache == ((name, "cache") in taken)
        assert features.parallel == ((name, "parallel") in taken)
        assert features.custom == ((name, "custom") in taken)
        assert features.examples == ((name, "examples") in taken)
        assert bool(features.callers) == ((name, "allowed_callers") in taken)
        assert bool(features.searches) == any(offer is DEFERRED for own, offer, _ in REQUESTS if own == name)


def test_references_to_found_tools_are_content_of_a_result():
    search = ToolSearch(TOOLS)
    history = ["Pay 5 cents."]
    offer = search.offer(history, deferred=True)
    call = RawCall("toolu_1", "search_tools", {"query": "pay a bill"})
    Executor(search).run_sync(offer.round([call])).commit(history)
    body = providers.anthropic.request(search.offer(history, deferred=True), history)
    JUDGES["anthropic"].messages(body.pop("messages"))
    JUDGES["anthropic"].request(body)


def test_a_search_of_openai_that_your_program_runs_is_typed():
    search = ToolSearch(TOOLS, always=weather)
    history = ["Pay 5 cents."]
    offer = search.offer(history, deferred=True)
    call = {"type": "tool_search_call", "id": "tsc_1", "call_id": "call_1", "execution": "client"}
    item = {**call, "status": "completed", "arguments": {"query": "pay a bill"}}
    answer = providers.openai_responses.answer({"status": "completed", "output": [item]}, offer)
    Executor(search).run_sync(offer.round(answer)).commit(history)
    # What another provider's search found goes along, too.
    found = offer.round([RawCall("toolu_1", "search_tools", {"query": "run a query"})])
    Executor(search).run_sync(found).commit(history)
    options = {"namespaces": [Namespace("bank", "Money.", [pay])], "custom": [run_sql]}
    for more in ({}, options):
        body = providers.openai_responses.request(search.offer(history, deferred=True), history, **more)
        items = body.pop("input")
        assert [one["type"] for one in items if one.get("tools")] == [
            "tool_search_output",
            "additional_tools",
        ]
        JUDGES["openai_responses"].messages(items)
        JUDGES["openai_responses"].request(body)


def test_the_sandbox_of_a_program_is_typed():
    program = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
    block = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": {"cents": 5}, "caller": program}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block]}
    usage = {"input_tokens": 1, "output_tokens": 1}
    container = {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}
    about = {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage, "container": container}
    response = Message.model_validate({**message, **about})
    history = ["Pay."]
    answer = providers.anthropic.answer(response, TOOLS)
    Executor(TOOLS).run_sync(TOOLS.offer().round(answer)).commit(history)
    options = {"allowed_callers": {pay: ["code_execution_20260120"]}}
    body = providers.anthropic.request(TOOLS, history, **options)
    TypeAdapter(MessageCreateParamsContainerParam).validate_python(body["container"])
    assert body.pop("container") == response.container.id
    JUDGES["anthropic"].messages(body.pop("messages"))
    JUDGES["anthropic"].request(body)


def test_a_result_names_the_program_that_made_the_call():
    program = {"type": "program", "caller_id": "prog_1"}
    call = {"type": "function_call", "call_id": "call_1", "name": "pay", "arguments": '{"cents": 5}'}
    items = [
        {"type": "program", "id": "p", "call_id": "prog_1", "code": "await pay(5)", "fingerprint": "f"},
        {**call, "caller": program, "id": "fc_1", "status": "completed"},
    ]
    offer = TOOLS.offer()
    answer = providers.openai_responses.answer({"status": "completed", "output": items}, offer)
    assert answer.calls[0].caller == program
    turn = Executor(TOOLS).run_sync(offer.round(answer)).commit([])
    sent = providers.openai_responses.turn(turn, offer)
    assert sent[-1]["caller"] == program
    JUDGES["openai_responses"].messages(sent)


@pytest.mark.parametrize("token", ["Y29udGludWU=", "-_-_"])
def test_gemini_goes_on_as_its_own_sdk_does(token):
    """The SDK goes on by itself: what it sends for that is what we send."""
    parts = [{"text": "Once upon"}, {"text": " a time."}]
    ends = [{"finishReason": "CONTINUATION", "continuationToken": token}, {"finishReason": "STOP"}]
    hops = [
        {"candidates": [{"content": {"role": "model", "parts": [part]}, **end}]}
        for part, end in zip(parts, ends, strict=True)
    ]
    with serving(*hops) as (address, requests):
        client = genai.Client(api_key="none", http_options={"base_url": address})
        whole = client.models.generate_content(model="m", contents="Tell.")
    answer, rest = [providers.gemini.answer(hop, TOOLS) for hop in hops]
    sent = providers.gemini.request(TOOLS, ["Tell.", answer])
    assert sent["contents"] == requests[1]["contents"]
    assert urlsafe_b64decode(sent["continuationToken"]) == urlsafe_b64decode(requests[1]["continuationToken"])
    assert answer.text + rest.text == whole.text
    # An answer that the SDK didn't continue is read in the same way.
    config = google.GenerateContentConfig(automatic_continuation=False)
    with serving(hops[0]) as (address, _):
        client = genai.Client(api_key="none", http_options={"base_url": address})
        first = client.models.generate_content(model="m", contents="Tell.", config=config)
    found = providers.gemini.answer(first, TOOLS)
    assert urlsafe_b64decode(found.container) == urlsafe_b64decode(token)


def test_a_late_call_of_openai_is_read_from_the_object_of_its_sdk():
    """The types say how a tool is offered, how its call comes, and that an output names only the call."""
    item = {
        "type": "function_call",
        "call_id": "c",
        "name": "pay",
        "arguments": '{"cents": 1}',
        "async": True,
    }
    parts = {"created_at": 1, "model": "m", "object": "response", "parallel_tool_calls": True}
    body = {"id": "r", "status": "completed", "output": [item], "tool_choice": "auto", "tools": [], **parts}
    answer = providers.openai_responses.answer(OpenAIResponse.model_validate(body), TOOLS)
    assert answer.late_calls == answer.calls
    judge = JUDGES["openai_responses"]
    turn = Executor(TOOLS).run_sync(TOOLS.offer().round(answer.late_calls)).commit([])
    late = providers.openai_responses.results(turn.results, TOOLS, turn.calls)
    waiting = providers.openai_responses.request(TOOLS, ["Pay.", answer, "And the weather?"])["input"]
    assert [one.get("call_id") for one in late] == ["c"]
    judge.messages(waiting[1:2] + late)
