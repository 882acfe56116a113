"""Tools on their way to providers."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offers import offer_of
from provider_traffic import exchanges, provider_of

from operator_schema import (
    Executor,
    RawCall,
    Registry,
    SchemaError,
    ToolResult,
    Toolset,
    Transcript,
    tool,
    tool_input,
)
from operator_schema import providers as all_providers
from operator_schema.providers import (
    NameRule,
    ToolChoice,
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
from operator_schema.testing import ScriptedModel

PROVIDERS = [
    anthropic, bedrock, cohere, deepseek, gemini, groq, mistral, ollama, openai_chat, openai_responses, xai,
]  # fmt: skip


@tool
def search(query: str, limit: int = 5) -> list[str]:
    """Search the web."""
    return [query] * limit


@tool
def now() -> str:
    """Tell the time."""
    return "noon"


SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
    "required": ["query"],
}
TOOLS = Toolset(search, now).hide(now)


def test_each_provider_has_its_envelope():
    function = {"name": "search", "description": "Search the web.", "parameters": SCHEMA}
    chat = {"tools": [{"type": "function", "function": function}], "tool_choice": "auto"}
    assert openai_chat.request(TOOLS) == chat
    assert cohere.request(TOOLS) == {"tools": chat["tools"]}
    assert ollama.request(TOOLS)["tools"][0]["function"].keys() == function.keys()
    assert openai_responses.request(TOOLS)["tools"] == [{"type": "function", **function, "strict": False}]
    own = {"name": "search", "description": "Search the web.", "input_schema": SCHEMA}
    assert anthropic.request(TOOLS) == {"tools": [own], "tool_choice": {"type": "auto"}}
    declaration = {"name": "search", "description": "Search the web.", "parametersJsonSchema": SCHEMA}
    assert gemini.request(TOOLS) == {
        "tools": [{"functionDeclarations": [declaration]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    }
    spec = {"name": "search", "description": "Search the web.", "inputSchema": {"json": SCHEMA}}
    assert bedrock.request(TOOLS) == {
        "toolConfig": {"tools": [{"toolSpec": spec}], "toolChoice": {"auto": {}}},
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tools_may_be_an_offer_a_toolset_a_registry_or_a_list(provider):
    sent = provider.request([search])
    assert (
        provider.request(TOOLS)
        == provider.request(TOOLS.offer())
        == provider.request(Registry([search]))
        == sent
    )
    sent.clear()
    assert provider.request([search])
    assert provider.request([]) == provider.request(Toolset(now).hide(now)) == {}


@pytest.mark.parametrize(
    ("provider", "required", "named"),
    [
        (openai_chat, "required", {"type": "function", "function": {"name": "now"}}),
        (groq, "required", {"type": "function", "function": {"name": "now"}}),
        (deepseek, "required", {"type": "function", "function": {"name": "now"}}),
        (llama_cpp, "required", "required"),
        (mistral, "any", {"type": "function", "function": {"name": "now"}}),
        (openai_responses, "required", {"type": "function", "name": "now"}),
        (xai, "required", {"type": "function", "name": "now"}),
        (anthropic, {"type": "any"}, {"type": "tool", "name": "now"}),
    ],
)
def test_the_choice_of_an_offer_is_in_the_request(provider, required, named):
    assert provider.request(TOOLS.offer(only=TOOLS, required="any"))["tool_choice"] == required
    assert provider.request(TOOLS.offer(only=TOOLS, required=now))["tool_choice"] == named


def test_the_choice_where_it_has_another_place():
    required, named = TOOLS.offer(only=TOOLS, required="any"), TOOLS.offer(only=TOOLS, required=now)
    assert gemini.request(required)["toolConfig"]["functionCallingConfig"] == {"mode": "ANY"}
    assert gemini.request(named)["toolConfig"]["functionCallingConfig"] == {
        "mode": "ANY",
        "allowedFunctionNames": ["now"],
    }
    assert bedrock.request(required)["toolConfig"]["toolChoice"] == {"any": {}}
    assert bedrock.request(named)["toolConfig"]["toolChoice"] == {"tool": {"name": "now"}}
    assert cohere.request(required)["tool_choice"] == cohere.request(named)["tool_choice"] == "REQUIRED"


@pytest.mark.parametrize("provider", [cohere, llama_cpp, ollama])
def test_one_tool_alone_is_offered_where_none_can_be_named(provider):
    (sent,) = provider.request(TOOLS.offer(only=TOOLS, required=now))["tools"]
    assert sent["function"]["name"] == "now"


def test_no_call_may_be_wanted():
    none = ToolChoice("none")
    assert cohere.request(offer_of(TOOLS, choice=none))["tool_choice"] == "NONE"
    assert ollama.request(offer_of(TOOLS, choice=none)) == {}
    assert gemini.request(offer_of(TOOLS, choice=none))["toolConfig"] == {
        "functionCallingConfig": {"mode": "NONE"}
    }


def test_a_choice_may_be_given():
    assert openai_chat.request(offer_of([search], choice=ToolChoice("none")))["tool_choice"] == "none"
    assert anthropic.request(offer_of(TOOLS, choice=ToolChoice("none")))["tool_choice"] == {"type": "none"}
    # A conversation with calls in it is refused where there are no tools.
    assert bedrock.request(offer_of(TOOLS, choice=ToolChoice("none"))) == {
        "toolConfig": {"tools": bedrock.request(TOOLS)["toolConfig"]["tools"]}
    }


def test_the_choices_are_those_of_recorded_requests():
    recorded: dict[str, set[str]] = {}
    for exchange in exchanges():
        choice = (exchange["request"] or {}).get("tool_choice")
        if exchange["status"] == 200 and isinstance(choice, str):
            recorded.setdefault(exchange["provider"], set()).add(choice)
    assert {"any", "auto", "none"} == recorded["mistral"]
    assert "required" in recorded["openai"] & recorded["deepseek"] & recorded["groq"] & recorded["xai"]
    assert "REQUIRED" in recorded["cohere"]


def keys_of(value):
    if isinstance(value, list):
        return {key for inner in value for key in keys_of(inner)}
    return set(value) if isinstance(value, dict) else set()


def test_tools_have_the_keys_of_recorded_requests():
    compared = set()
    for exchange in exchanges():
        provider, body = provider_of(exchange), exchange["request"] or {}
        sent = body.get("tools") or (body.get("toolConfig") or {}).get("tools")
        if exchange["status"] != 200 or provider is None or not sent:
            continue
        own = provider.request(TOOLS)
        mine = own.get("tools") or own["toolConfig"]["tools"]
        wanted = [entry for entry in sent if entry.get("type", "function") == "function"]
        if not wanted or exchange["provider"] == "gemini":
            continue  # its recordings have the older `parameters`
        assert keys_of(mine) <= keys_of(wanted) | {"strict"} or keys_of(wanted) <= keys_of(mine) | {
            "type", "cache_control", "strict", "description",
        }  # fmt: skip
        compared.add(exchange["provider"])
    assert len(compared) > 10


# --- what a provider can't take --------------------------------------------------------------------


@dataclass
class Circle:
    """A circle."""

    radius: float


@dataclass
class Square:
    """A square."""

    side: float


draw = tool_input(Circle | Square, name="draw", description="Draw a shape.")


def test_a_union_as_arguments_is_sent_whole_where_the_provider_takes_it():
    declared = gemini.request([draw])["tools"][0]["functionDeclarations"][0]
    assert len(declared["parametersJsonSchema"]["anyOf"]) == 2


def test_no_schema_is_a_boolean():
    @tool
    def point(at: tuple[int, int]) -> str:
        """Point at a place."""
        return str(at)

    schema = anthropic.request([point])["tools"][0]["input_schema"]
    assert schema["properties"]["at"]["maxItems"] == 2
    assert schema["properties"]["at"]["items"] == {}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_isnt_a_tool_is_refused(provider):
    with pytest.raises(TypeError, match="isn't a Tool"):
        provider.request([5])


MESSAGE = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize("history", [["Hi"], MESSAGE, [MESSAGE], Transcript(["Hi"]), "Hi"])
def test_a_history_in_place_of_the_offer(history):
    with pytest.raises(TypeError, match=r"the offer comes first: request\(offer, history\)$"):
        openai_chat.request(history, Toolset(search))


def test_an_offer_in_place_of_the_response():
    for provider in PROVIDERS:
        response = ScriptedModel(provider, ["Hi"])()
        with pytest.raises(TypeError, match=r"the response comes first: answer\(response, offer\)$"):
            provider.answer(Toolset(search), response)


@pytest.mark.parametrize("given", [[ToolResult("1", "search", "x")], ToolResult("1", "search", "x")])
def test_an_offer_in_place_of_the_results(given):
    for provider in PROVIDERS:
        with pytest.raises(TypeError, match=r"the results come first: results\(results, offer\)$"):
            provider.results(Toolset(search), given)


@pytest.mark.needs_threads
def test_arguments_of_another_kind_are_refused():
    result = Executor(TOOLS).run_sync(RawCall("1", "now", {}))
    turn_round = TOOLS.offer().round([RawCall("1", "now", {})])
    with pytest.raises(TypeError, match='strict must be True, False or "auto", not string "yes"'):
        openai_chat.request(offer_of(TOOLS, strict="yes"))
    with pytest.raises(TypeError, match=r"results takes a list: write \[result\]"):
        openai_chat.results(result)
    with pytest.raises(TypeError, match='ToolResults, not string "noon"'):
        openai_chat.results(["noon"])
    with pytest.raises(TypeError, match=r"what round.commit\(…\) returns, a Turn, not Round"):
        openai_chat.turn(turn_round)
    with pytest.raises(TypeError, match="the name of a provider must be a string, not integer 5"):
        openai_compatible(5)
    with pytest.raises(ValueError, match="no strict mode of Mistral is known"):
        mistral.request(offer_of([], strict=True))


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (lambda plan: plan, r"not Round: turn\(round\.commit\(…\)\) writes a round$"),
        (lambda plan: plan.commit([]), r"not Turn: turn\(…\) writes it$"),
        (lambda plan: plan.handled, "not ToolCall: give its result$"),
        (lambda plan: plan.handled[0], "not ToolCall: give its result$"),
        (lambda _: None, "not null$"),
        (lambda _: 5, "not integer 5$"),
    ],
    ids=["plan", "turn", "handled", "one handled", "null", "number"],
)
def test_results_of_a_round_are_told_from_what_holds_them(given, said):
    tools = Toolset(now)
    plan = Executor(tools).run_sync(tools.offer().round([RawCall("1", "now", {})]))
    with pytest.raises(TypeError, match=f"^results takes what an executor returns, ToolResults, {said}"):
        openai_chat.results(given(plan))


# --- names -----------------------------------------------------------------------------------------

NAMES = st.text(
    st.characters(codec="ascii", categories=["L", "N"], include_characters="_-"), min_size=1, max_size=64
)


@given(st.lists(NAMES, unique=True, max_size=20))
def test_names_on_the_wire_are_taken_and_lead_back(names):
    rule = gemini.names
    wire = rule.wire_names(names, "Gemini")
    assert all(rule.takes(name) for name in wire.values())
    assert {other: name for name, other in wire.items()} == {wire[name]: name for name in names}
    assert all(wire[name] == name for name in names if rule.takes(name))


def test_names_that_would_be_equal_are_refused():
    rule = NameRule(20, "", starts_with_letter=True)
    changed = rule.wire_names(["3d"], "X")["3d"]
    with pytest.raises(SchemaError, match=f'"{changed}" and "3d" would both be "{changed}" for X'):
        rule.wire_names(["3d", changed], "X")


def test_a_long_name_is_cut_and_stays_unique():
    rule = NameRule(10)
    wire = rule.wire_names(["a" * 20, "a" * 21], "X")
    assert len(set(wire.values())) == 2
    assert {len(name) for name in wire.values()} == {10}


# --- the whole way ---------------------------------------------------------------------------------

RESPONSES: dict[str, Any] = {
    "chat": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"query": "x", "limit": 2}'},
                        }
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ]
    },
    "responses": {
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "r1", "encrypted_content": "…"},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "search",
                "arguments": '{"query": "x", "limit": 2}',
            },
        ],
    },
    "messages": {
        "content": [
            {"type": "thinking", "thinking": "", "signature": "s"},
            {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "x", "limit": 2}},
        ],
        "stop_reason": "tool_use",
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {
                            "functionCall": {
                                "id": "c1",
                                "name": "search",
                                "args": {"query": "x", "limit": 2},
                            },
                            "thoughtSignature": "s",
                        }
                    ],
                },
                "finishReason": "STOP",
            }
        ]
    },
    "converse": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "c1", "name": "search", "input": {"query": "x", "limit": 2}}}
                ],
            }
        },
        "stopReason": "tool_use",
    },
}


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("provider", "response"),
    [
        (openai_chat, RESPONSES["chat"]),
        (mistral, json.loads(json.dumps(RESPONSES["chat"]).replace('"c1"', '"abcdefg12"'))),
        (openai_compatible("vLLM"), RESPONSES["chat"]),
        (openai_responses, RESPONSES["responses"]),
        (xai, RESPONSES["responses"]),
        (anthropic, RESPONSES["messages"]),
        (gemini, RESPONSES["gemini"]),
        (bedrock, RESPONSES["converse"]),
    ],
)
def test_one_turn_goes_round(provider, response):
    offer = TOOLS.offer()
    assert provider.request(offer)
    answer = provider.answer(response, offer)
    assert answer.stop == "calls"
    turn_round = offer.round(answer.calls, assistant=answer.message)
    plan = Executor(TOOLS).run_sync(turn_round)
    transcript = Transcript()
    turn = plan.commit(transcript)
    sent = provider.turn(turn, offer)
    assert sent == [*answer.message, *provider.results(turn.results)]
    assert '[\\"x\\",\\"x\\"]' in repr(sent).replace('"', '\\"')
    assert provider.turn(turn) == sent
    # Without the model's own message, one is made of the calls.
    bare = provider.turn(turn.replace(assistant=None), offer)
    assert provider.results(turn.results) == bare[-1:]
    assert len(bare) == 2


@pytest.mark.needs_threads
def test_calls_and_results_have_the_name_on_the_wire():
    @tool(name="3d_render")
    def render(path: str) -> str:
        """Render a file."""
        return path

    tools = Toolset(render)
    plan = Executor(tools).run_sync(tools.offer().round([RawCall("1", "3d_render", {"path": "x"})]))
    call, result = gemini.turn(plan.commit([]), tools)
    name = gemini.request(tools)["tools"][0]["functionDeclarations"][0]["name"]
    assert call["parts"][0]["functionCall"]["name"] == name
    assert result["parts"][0]["functionResponse"]["name"] == name


def test_every_provider_is_found_by_its_name():
    assert set(PROVIDERS) <= {getattr(all_providers, name) for name in dir(all_providers)}
    assert repr(anthropic) == "<Provider Anthropic>"
    with pytest.raises(AttributeError, match=r"no attribute 'antropic'; did you mean anthropic\?"):
        all_providers.antropic  # noqa: B018  # what is tested
    with pytest.raises(AttributeError, match="did you mean openai_chat or openai_compatible"):
        all_providers.openai  # noqa: B018  # as above
    with pytest.raises(AttributeError, match=r"has no attribute 'zzz'$"):
        all_providers.zzz  # noqa: B018  # as above


# --- requests are made once ------------------------------------------------------------------------


@pytest.mark.parametrize("strict", [False, True])
def test_the_form_of_a_tool_is_made_once_and_copied(monkeypatch, strict):
    kept = search.with_(name="kept")
    first = openai_chat.request(offer_of([kept], strict=strict))
    monkeypatch.setattr(type(kept), "new_definition", None)
    for _ in range(30):
        sent = openai_chat.request(offer_of(Toolset(kept), strict=strict))
        assert sent == first
        sent["tools"][0]["function"]["parameters"]["properties"].clear()
        sent["tools"][0]["function"]["name"] = "other"
    same = {
        name: getattr(openai_chat, name) for name in ("dialect", "rules", "features", "calls_in_text")
    } | {"takes_images": True}
    equal = openai_compatible(openai_chat.name, **same)
    assert equal.request(offer_of([kept], strict=strict))


def test_providers_of_the_same_name_have_their_own_forms():
    ours = openai_compatible("OpenAI Chat Completions", names=NameRule(8))
    kept = search.with_(name="kept_for_several")
    for _ in range(3):
        names = [each.request([kept])["tools"][0]["function"]["name"] for each in (openai_chat, ours)]
        assert names == ["kept_for_several", ours.names.wire_name("kept_for_several")]


def test_a_description_may_be_for_one_request():
    offer = TOOLS.offer(descriptions={"search": "Search our shop.", "now": "Unused."})
    for provider in (openai_chat, deepseek):
        for strict in (False, True):
            changed = provider.request(offer_of(offer, strict=strict))["tools"][0]["function"]
            usual = provider.request(offer_of(TOOLS, strict=strict))["tools"][0]["function"]
            assert changed == {**usual, "description": "Search our shop."}
            assert usual["description"] == "Search the web."
    both = openai_chat.request(TOOLS.offer(only=TOOLS, descriptions={"now": "Look at the clock."}))["tools"]
    assert [each["function"]["description"] for each in both] == ["Search the web.", "Look at the clock."]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_two_tools_of_one_name_are_refused(provider):
    with pytest.raises(SchemaError, match='two tools have the name "search"'):
        provider.request([search, now.with_(name="search")])


def test_tools_that_may_not_be_called_are_shown_all_the_same():
    offer = Toolset(search).offer(required="none")
    assert openai_chat.request(offer)["tool_choice"] == "none"
    assert anthropic.request(offer)["tool_choice"] == {"type": "none"}
    # Converse has no word for it, but refuses a conversation with calls in it if the request has no tools.
    assert list(bedrock.request(offer)["toolConfig"]) == ["tools"]
