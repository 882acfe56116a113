"""What only some providers take in a request: deferred tools, cache points, allowed tools, and so on."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from operator_schema import (
    AnswerError,
    Executor,
    RawCall,
    SchemaError,
    Toolset,
    Transcript,
    providers,
    tool,
)
from operator_schema.errors import ToolNotFoundError
from operator_schema.providers import (
    Dialect,
    Features,
    Grammar,
    HostedTool,
    NameRule,
    Namespace,
    Provider,
    ResponseError,
    Rules,
    anthropic,
    bedrock,
    cohere,
    gemini,
    groq,
    mistral,
    openai_chat,
    openai_compatible,
    openai_responses,
    provider_names,
)
from operator_schema.providers.request_options import OPTIONS
from operator_schema.rounds import RestoreError, ToolSearch
from operator_schema.tools import document_tool

ALL = [getattr(providers, name) for name in provider_names()]


@tool(examples=[{"city": "Oslo"}, {"city": "Rome", "days": 3}])
def weather(city: str, days: int = 1) -> str:
    """Say what the weather will be."""
    return f"{days} days of sun in {city}"


@tool
def run_sql(query: str) -> str:
    """Run a query.

    Args:
        query: in the dialect of SQLite.
    """
    return f"ran {query}"


@tool
def pay(cents: int) -> str:
    """Pay a bill."""
    return f"paid {cents}"


@dataclass
class Money:
    """Some money."""

    cents: int


TOOLS = Toolset(weather, run_sql, pay)
DEFERRED = TOOLS.offer(deferred=[pay])


def listing(body):
    """Return the list of tools in a request."""
    tools = body["toolConfig"]["tools"] if "tools" not in body else body["tools"]
    return tools[0].get("functionDeclarations", tools)


def refusal(provider, offer, **options):
    """Return the words of a refusal."""
    with pytest.raises(ValueError, match=r"\w") as caught:
        provider.request(offer, **options)
    return str(caught.value)


# --- which provider takes what ---------------------------------------------------------------------

GIVEN = {
    "deferred": (DEFERRED, {}),
    "listed": (TOOLS.offer(only=pay, required="any"), {"listed": TOOLS}),
    "cache": (TOOLS, {"cache": True}),
    "parallel": (TOOLS, {"parallel": False}),
    "examples": (TOOLS, {"examples": True}),
    "custom": (TOOLS, {"custom": [run_sql]}),
    "allowed_callers": (TOOLS, {"allowed_callers": {pay: ["direct"]}}),
    "search": (DEFERRED, {"search": "bm25"}),
    "namespaces": (TOOLS, {"namespaces": [Namespace("bank", "Money.", [pay])]}),
    "late": (TOOLS, {"late": [pay]}),
}


def takes(provider, option):
    """Return whether a request goes through with an option, and not as it would without."""
    offer, options = GIVEN[option]
    try:
        body = provider.request(offer, **options)
    except ValueError as error:
        assert str(error).startswith(f"{provider.name} has no ")
        return False
    if option == "allowed_callers":
        assert body != provider.request(TOOLS)
    return True


@pytest.mark.parametrize("provider", ALL, ids=lambda provider: provider.name)
def test_a_request_takes_what_the_features_say_and_refuses_the_rest(provider):
    features = provider.features
    assert {option: takes(provider, option) for option in GIVEN} == {
        "deferred": bool(features.searches),
        "listed": features.allowed,
        "cache": features.cache,
        "parallel": features.parallel,
        "examples": features.examples,
        "custom": features.custom,
        "allowed_callers": bool(features.callers),
        "search": "bm25" in dict(features.searches),
        "namespaces": features.namespaces,
        "late": features.late,
    }


def test_the_table_in_the_docs_says_the_same():
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text(encoding="utf-8")
    lines = page.split("<!-- request-options -->")[1].strip().splitlines()
    options = [cell.strip(" `") for cell in lines[0].strip("|").split("|")[1:]]
    assert sorted(options) == sorted(GIVEN.keys() - {"search"})
    told = {}
    for line in lines[2:]:
        name, *ticks = [cell.strip() for cell in line.strip("|").split("|")]
        for provider in name.replace("`", "").split(", "):
            told[provider] = [tick == "✓" for tick in ticks]
    taking = {
        name: [takes(getattr(providers, name), option) for option in options] for name in provider_names()
    }
    assert told == {name: ticks for name, ticks in taking.items() if any(ticks)}


@pytest.mark.parametrize("provider", ALL, ids=lambda provider: provider.name)
def test_options_that_are_off_change_no_byte(provider):
    off = dict.fromkeys(OPTIONS) | {"cache": False, "examples": False, "custom": (), "namespaces": []}
    for offer in (TOOLS, TOOLS.offer(required=pay), TOOLS.offer(required="none")):
        assert json.dumps(provider.request(offer, ["Hi"], **off)) == json.dumps(
            provider.request(offer, ["Hi"])
        )
    assert provider.request([], **off) == provider.request([]) == {}


@pytest.mark.parametrize(
    ("option", "value", "error", "said"),
    [
        ("cach", True, TypeError, r'unexpected option "cach"; did you mean cache\?'),
        ("colour", True, TypeError, 'unexpected option "colour"; it takes listed, cache, parallel'),
        ("model", "m", TypeError, r"the rest of the body is yours: create\(model=…, \*\*request\(…\)\)"),
        ("strict", True, TypeError, r'option "strict"; set it in the offer: toolset.offer\(strict=True\)'),
        ("tool_choice", "any", TypeError, r"set it in the offer: toolset.offer\(required=…\)"),
        ("messages", [], TypeError, r"the history comes second: request\(offer, history\)"),
        ("cache", "2h", ValueError, 'cache must be True, "5m" or "1h", not "2h"'),
        ("cache", [], TypeError, 'cache must be True, "5m" or "1h", not'),
        ("cache", 5, TypeError, 'cache must be True, "5m" or "1h", not 5'),
        ("parallel", "no", TypeError, 'parallel must be True or False, not "no"'),
        ("examples", 1, TypeError, "examples must be True or False, not 1"),
        ("allowed_callers", [pay], TypeError, "a dict of names or tools to lists of callers, not"),
        ("allowed_callers", pay, TypeError, r"not Tool: for one, write \{tool: \[caller\]\}"),
        ("allowed_callers", {pay: [["direct"]]}, ValueError, 'has no caller \\["direct"\\]: it has direct'),
        ("allowed_callers", {pay: "direct"}, TypeError, 'the callers of "pay" must be a list of names'),
        ("allowed_callers", {pay: ["program"]}, ValueError, 'has no caller "program"'),
        ("allowed_callers", {pay: []}, TypeError, 'the callers of "pay" must be a list of names'),
        ("allowed_callers", {"payy": ["direct"]}, ToolNotFoundError, 'did you mean "pay"'),
        (
            "allowed_callers",
            {5: ["direct"]},
            TypeError,
            "by its name or by the tool itself, not by integer 5",
        ),
        ("search", "bm26", ValueError, "search is for deferred tools: name them in offer"),
        ("search", 5, TypeError, "search must be the name of a search, not integer 5"),
        ("listed", [5], TypeError, "isn't a Tool"),
    ],
)
def test_what_is_given_is_checked(option, value, error, said):
    provider = openai_chat if option == "listed" else anthropic
    with pytest.raises(error, match=said):
        provider.request(TOOLS, **{option: value})


@pytest.mark.parametrize(
    ("option", "value", "error", "said"),
    [
        ("custom", "run_sql", TypeError, "custom must be a list of names or tools, or a dict"),
        ("custom", b"run_sql", TypeError, "custom must be a list of names or tools, or a dict"),
        ("custom", [["run_sql"]], TypeError, "by its name or by the tool itself, not by array"),
        ("custom", 5, TypeError, "custom must be a list of names or tools, or a dict"),
        ("custom", run_sql, TypeError, r"not Tool: for one, write \[tool\]"),
        ("namespaces", Namespace("a", "b", [pay]), TypeError, r"for one, write \[Namespace\(…\)\]"),
        (
            "namespaces",
            [Namespace("a", "b", [5])],
            TypeError,
            "by its name or by the tool itself, not by integer",
        ),
        ("custom", {run_sql: "SELECT"}, TypeError, 'the grammar of "run_sql" must be a Grammar or None'),
        ("custom", [weather], SchemaError, "takes one parameter, which is any text"),
        ("custom", [pay], SchemaError, "takes one parameter, which is any text"),
        ("custom", ["sql"], ToolNotFoundError, 'did you mean "run_sql"'),
        ("late", pay, TypeError, r"late must be a list of names or tools, not Tool: for one, write \[tool\]"),
        ("late", ["payy"], ToolNotFoundError, 'did you mean "pay"'),
        ("namespaces", [pay], TypeError, r"a list of Namespace\(name, description, tools\)"),
        ("namespaces", "bank", TypeError, "namespaces must be a list of Namespace, not"),
        ("namespaces", [Namespace("a", "b", [pay]), Namespace("c", "d", ["pay"])], ValueError, '"pay" twice'),
        ("namespaces", [Namespace("a", "b", [pay]), Namespace("a", "d", [weather])], ValueError, '"a" twice'),
        ("namespaces", [Namespace("pay", "b", [weather])], ValueError, '"pay" is a namespace and a tool'),
        ("namespaces", [Namespace("a b", "b", [pay])], ValueError, 'take "a b" as a name: give another'),
        ("namespaces", [Namespace("a", "b", ["payy"])], ToolNotFoundError, 'did you mean "pay"'),
    ],
)
def test_what_is_given_to_openai_is_checked(option, value, error, said):
    with pytest.raises(error, match=said):
        openai_responses.request(TOOLS, **{option: value})


def test_grammars_and_namespaces_are_checked():
    with pytest.raises(ValueError, match='the syntax of a grammar must be "lark" or "regex", not "ebnf"'):
        Grammar("ebnf", "a")
    with pytest.raises(ValueError, match=r'must be "lark" or "regex", not \["lark"\]'):
        Grammar(["lark"], "a")
    with pytest.raises(TypeError, match="the definition of a grammar must be a string"):
        Grammar("lark", None)
    with pytest.raises(ValueError, match="the definition of a grammar is empty"):
        Grammar("lark", " ")
    with pytest.raises(ValueError, match="a namespace needs a name, a description and tools"):
        Namespace("bank", "Money.", [])
    with pytest.raises(TypeError, match="the tools of a namespace must be a list"):
        Namespace("bank", "Money.", "pay")
    with pytest.raises(TypeError, match="the name of a namespace must be a string"):
        Namespace(5, "Money.", [pay])
    # What no request can hold is replaced.
    assert Grammar("lark", "\ud800").definition == Namespace("a", "\ud800", [pay]).description == "\ufffd"
    assert Grammar("lark", "a") == Grammar("lark", "a") == pickle.loads(pickle.dumps(Grammar("lark", "a")))
    assert Namespace("a", "b", ["c"]).replace(name="d") == Namespace("d", "b", ("c",))


@pytest.mark.needs_process
def test_a_request_without_options_loads_none_of_this():
    code = """
import sys
from operator_schema import Toolset, providers, tool

@tool
def pay(cents: int) -> str:
    "Pay."
    return ""

for name in providers.provider_names():
    getattr(providers, name).request(Toolset(pay), ["Hi"])
print(any(name.endswith(("request_options", "special_calls")) for name in sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


# --- deferred tools --------------------------------------------------------------------------------


def test_deferred_tools_come_with_a_search_of_the_provider():
    first, *_, last = anthropic.request(DEFERRED)["tools"]
    assert first == {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
    plain = anthropic.request(TOOLS)["tools"]
    assert last == {**plain[-1], "defer_loading": True}
    assert anthropic.request(DEFERRED)["tools"][1:-1] == plain[:-1]
    first = anthropic.request(DEFERRED, search="regex")["tools"][0]
    assert first == {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
    assert openai_responses.request(DEFERRED)["tools"] == [
        {"type": "tool_search"},
        *openai_responses.request(TOOLS)["tools"][:-1],
        {**openai_responses.request(TOOLS)["tools"][-1], "defer_loading": True},
    ]


def test_a_provider_without_a_search_refuses_deferred_tools():
    said = refusal(gemini, DEFERRED)
    assert said.startswith("Gemini has no search for deferred tools: leave deferred out; operator_schema.rou")
    report = gemini.report(DEFERRED)
    assert not report.is_accepted
    assert "no search for deferred tools" in str(report)
    assert anthropic.report(DEFERRED).is_accepted


def test_the_searches_of_a_provider_are_named():
    assert refusal(openai_responses, DEFERRED, search="regex") == (
        'OpenAI Responses has no search "regex": give "hosted", or leave search out'
    )
    assert openai_responses.request(DEFERRED, search="hosted") == openai_responses.request(DEFERRED)


def test_a_tool_with_the_name_of_a_hosted_one_is_refused():
    for name, options in (
        ("tool_search_tool_bm25", {}),
        ("code_execution", {"allowed_callers": {pay: ["code_execution_20260120"]}}),
    ):
        tools = Toolset(weather.with_(name=name), pay)
        offer = tools.offer(deferred=[] if options else [pay])
        assert refusal(anthropic, offer, **options) == f'Anthropic has a tool "{name}" itself: rename yours'


def test_namespaces_hold_tools_at_the_place_of_the_first_one():
    bank = Namespace("bank", "Money.", ["pay", weather])
    grouped, alone = openai_responses.request(DEFERRED, namespaces=[bank])["tools"][1:]
    assert grouped.pop("tools") == [
        entry
        for entry in openai_responses.request(DEFERRED)["tools"]
        if entry.get("name") in {"pay", "weather"}
    ]
    assert grouped == {"type": "namespace", "name": "bank", "description": "Money."}
    assert alone["name"] == "run_sql"
    said = refusal(openai_responses, TOOLS.offer(required=pay), namespaces=[bank])
    assert said == 'the required tool "pay" is in a namespace: require none, or leave it out there'
    said = refusal(openai_responses, TOOLS.offer(only=pay), listed=TOOLS, namespaces=[bank])
    assert said.startswith("listed and namespaces exclude each other")


CALL = {"type": "tool_use", "id": "toolu_2", "name": "pay", "input": {"cents": 5}}
FOUND = [
    {"type": "text", "text": "I search."},
    {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "tool_search_tool_bm25",
        "input": {"query": "pay"},
    },
    {
        "type": "tool_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "pay"}],
        },
    },
]


def message_events(blocks, stop="tool_use", **about):
    """Yield the events of a streamed message."""
    yield {"type": "message_start", "message": {"role": "assistant", "content": [], **about}}
    for index, block in enumerate(blocks):
        text = json.dumps(block["input"]) if "input" in block else None
        first = {**block, "input": {}} if text else block
        yield {"type": "content_block_start", "index": index, "content_block": first}
        for piece in [text[:4], text[4:]] if text else []:
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def answers_both_ways(provider, response, events, offer):
    """Read a response whole and streamed; both are the same."""
    stream = provider.stream(offer)
    for event in events:
        stream.feed(event)
    streamed = stream.close()
    assert streamed.calls == provider.answer(response, offer).calls
    assert streamed.message == provider.answer(response, offer).message
    return streamed, stream


@pytest.mark.needs_threads
def test_what_a_search_of_the_provider_found_goes_back_as_it_came():
    blocks = [*FOUND, CALL]
    response = {"role": "assistant", "content": blocks, "stop_reason": "tool_use"}
    answer, _ = answers_both_ways(anthropic, response, message_events(blocks), DEFERRED)
    assert [call.name for call in answer.calls] == ["pay"]
    transcript = Transcript(["Pay 5 cents."])
    Executor(TOOLS).run_sync(DEFERRED.round(answer)).commit(transcript)
    kept = json.loads(json.dumps(transcript[-1].as_dict()))
    assert kept["assistant"][0]["content"] == blocks
    sent = anthropic.request(DEFERRED, transcript)["messages"]
    assert sent[1]["content"] == blocks
    assert [block["tool_use_id"] for block in sent[2]["content"]] == ["toolu_2"]


def test_the_search_of_openai_goes_back_as_it_came():
    items = [
        {"type": "tool_search_call", "id": "tsc_1", "execution": "server", "call_id": None,
         "status": "completed", "arguments": {"paths": ["bank"]}},
        {"type": "tool_search_output", "id": "tso_1", "execution": "server", "call_id": None,
         "status": "completed", "tools": []},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "pay", "namespace": "bank",
         "arguments": '{"cents": 5}', "status": "completed"},
    ]  # fmt: skip
    answer = openai_responses.answer({"status": "completed", "output": items}, DEFERRED)
    assert (answer.stop, [call.name for call in answer.calls]) == ("calls", ["pay"])
    assert openai_responses.request(DEFERRED, [answer])["input"] == items


# --- a search of your own, whose findings the provider loads ---------------------------------------


@pytest.fixture
def search():
    return ToolSearch(TOOLS, always=weather)


@pytest.mark.needs_threads
def test_what_tool_search_found_is_loaded_without_a_change_of_the_tools(search):
    transcript = Transcript(["Pay 5 cents."])
    offer = search.offer(transcript, deferred=True)
    assert offer.names == ("search_tools", "weather", "pay", "run_sql")
    assert offer.deferred == ("pay", "run_sql")
    before = anthropic.request(offer, transcript)
    assert [entry["name"] for entry in before["tools"]] == list(offer.names)
    call = RawCall("toolu_1", "search_tools", {"query": "pay a bill"})
    turn = Executor(search).run_sync(offer.round([call])).commit(transcript)
    again = search.offer(transcript, deferred=True)
    after = anthropic.request(again, transcript)
    assert json.dumps(after["tools"]) == json.dumps(before["tools"])
    assert after["messages"][: len(before["messages"])] == before["messages"]
    (result,) = after["messages"][-1]["content"]
    assert result["content"] == [{"type": "tool_reference", "tool_name": "pay"}]
    assert anthropic.results(turn.results, again) == after["messages"][-1:]
    assert again.round([RawCall("2", "pay", {"cents": 5})]).calls[0].state == "pending"
    # For a request that doesn't defer, a result is its text.
    (plain,) = anthropic.request(search.offer(transcript), transcript)["messages"][-1]["content"]
    assert plain["content"][0]["type"] == "text"


@pytest.mark.needs_threads
def test_a_search_that_found_nothing_or_failed_is_text(search):
    offer = search.offer([], deferred=True)
    calls = [RawCall("1", "search_tools", {"query": "zebra"}), RawCall("2", "search_tools", {})]
    turn = Executor(search).run_sync(offer.round(calls)).commit([])
    for block in anthropic.results(turn.results, offer)[0]["content"]:
        assert block["content"][0]["type"] == "text"


@pytest.mark.needs_threads
def test_a_tool_that_is_gone_is_no_reference(search):
    history = []
    offer = search.offer(history, deferred=True)
    call = RawCall("1", "search_tools", {"query": "pay a bill"})
    Executor(search).run_sync(offer.round([call])).commit(history)
    search.unregister("pay")
    (result,) = anthropic.request(search.offer(history, deferred=True), history)["messages"][-1]["content"]
    assert result["content"][0]["type"] == "text"


def test_a_search_of_the_provider_takes_the_place_of_yours(search):
    offer = search.offer([], deferred=True)
    for provider, name in ((openai_responses, "hosted"), (anthropic, "regex")):
        names = [entry.get("name") for entry in provider.request(offer, search=name)["tools"]]
        assert names[1:] == ["weather", "pay", "run_sql"]
    required = search.offer([], deferred=True, required="search_tools")
    assert refusal(openai_responses, required, search="hosted") == (
        'the required tool "search_tools" is replaced by the provider\'s own search: require none'
    )
    assert anthropic.request(required)["tool_choice"] == {"type": "tool", "name": "search_tools"}


# --- the search of OpenAI that your program runs ---------------------------------------------------

SEARCH_CALL = {
    "type": "tool_search_call",
    "id": "tsc_1",
    "call_id": "call_s",
    "execution": "client",
    "status": "completed",
    "arguments": {"query": "pay a bill"},
}


def search_events(item, *, whole=True):
    """Yield the events of a streamed response with one search."""
    begun = {**item, "status": "in_progress", "arguments": {}}
    yield {"type": "response.created", "response": {"output": []}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
    if whole:
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": {"status": "completed", "output": [item]}}


def test_openai_gets_a_tool_search_without_the_deferred_tools(search):
    offer = search.offer([], deferred=True)
    own, weather_entry = openai_responses.request(offer)["tools"]
    definition = search["search_tools"].definition()
    assert own == {
        "type": "tool_search",
        "execution": "client",
        "description": definition["description"],
        "parameters": definition["input_schema"],
    }
    assert weather_entry == openai_responses.request(TOOLS)["tools"][0]
    assert openai_responses.request(search.offer([]))["tools"][0]["type"] == "function"


@pytest.mark.needs_threads
def test_a_search_that_openai_leaves_to_you_is_answered_with_tools(search):
    transcript = Transcript(["Pay 5 cents."])
    offer = search.offer(transcript, deferred=True)
    before = openai_responses.request(offer, transcript)
    response = {"status": "completed", "output": [SEARCH_CALL]}
    answer, stream = answers_both_ways(openai_responses, response, search_events(SEARCH_CALL), offer)
    assert (answer.stop, answer.calls[0].name) == ("calls", "search_tools")
    assert (stream.calls[0].name, stream.calls[0].partial.fields) == (
        "search_tools",
        SEARCH_CALL["arguments"],
    )
    # A round that is saved and resumed knows what the call was.
    restored = search.toolset.restore_round(json.loads(json.dumps(offer.round(answer).as_dict())))
    Executor(search).run_sync(restored).commit(transcript)
    again = search.offer(transcript, deferred=True)
    after = openai_responses.request(again, transcript)
    assert json.dumps(after["tools"]) == json.dumps(before["tools"])
    assert after["input"][:-1] == [*before["input"], SEARCH_CALL]
    entry = {**openai_responses.request(TOOLS)["tools"][-1], "defer_loading": True}
    assert after["input"][-1] == {
        "type": "tool_search_output",
        "execution": "client",
        "call_id": "call_s",
        "status": "completed",
        "tools": [entry],
    }
    assert openai_responses.turn(transcript[-1], again) == after["input"][1:]
    assert search.found_in(transcript) == ("pay",)
    # Without the model's own items, the call is a search again.
    bare = openai_responses.turn(transcript[-1].replace(assistant=None), again)
    assert bare[0] == {key: value for key, value in SEARCH_CALL.items() if key != "id"}
    # Once the tool is gone, its definition isn't sent any more.
    search.unregister("pay")
    gone = openai_responses.request(search.offer(transcript, deferred=True), transcript)["input"]
    assert gone[-1]["tools"] == []


@pytest.mark.needs_threads
def test_a_search_that_found_nothing_or_failed_loads_nothing(search):
    offer = search.offer([], deferred=True)
    items = [
        {**SEARCH_CALL, "arguments": {"query": "zebra"}},
        {**SEARCH_CALL, "call_id": "call_t", "arguments": {}},
    ]
    answer = openai_responses.answer({"status": "completed", "output": items}, offer)
    turn = Executor(search).run_sync(offer.round(answer)).commit([])
    assert [result.is_error for result in turn.results] == [False, True]
    sent = openai_responses.turn(turn, offer)[2:]
    assert [(item["call_id"], item["tools"]) for item in sent] == [("call_s", []), ("call_t", [])]


def test_a_search_without_a_tool_search_or_its_end_is_told():
    response = {"status": "completed", "output": [SEARCH_CALL]}
    answer = openai_responses.answer(response, DEFERRED)
    assert answer.calls[0].name == "tool_search"
    assert TOOLS.offer().round(answer).calls[0].code == "tool_not_found"
    stream = openai_responses.stream(DEFERRED)
    for event in search_events(SEARCH_CALL, whole=False):
        stream.feed(event)
    assert (stream.calls[0].name, stream.close().calls[0].is_cut_off) == ("tool_search", True)
    # OpenAI's own searches, and one without an id, are no calls.
    for item in ({**SEARCH_CALL, "execution": "server", "call_id": None}, {**SEARCH_CALL, "call_id": None}):
        assert openai_responses.calls({"status": "completed", "output": [item]}, DEFERRED) == []


@pytest.mark.needs_threads
def test_what_a_search_of_another_provider_found_is_added_for_openai(search):
    offer = search.offer([], deferred=True)
    call = RawCall("toolu_1", "search_tools", {"query": "pay a bill"})
    turn = Executor(search).run_sync(offer.round([call])).commit([])
    said, result, added = openai_responses.request(offer, [turn])["input"]
    assert (said["type"], result["type"]) == ("function_call", "function_call_output")
    entry = openai_responses.request(TOOLS)["tools"][-1]
    assert added == {"type": "additional_tools", "role": "developer", "tools": [entry]}


@pytest.mark.needs_threads
def test_a_search_and_a_custom_call_of_openai_are_calls_for_others(search):
    offer = search.offer([], deferred=True)
    items = [SEARCH_CALL, ITEM]
    answer = openai_responses.answer(
        {"status": "completed", "output": items}, search.offer([], also=[run_sql])
    )
    turn = Executor(search).run_sync(search.offer([], also=[run_sql]).round(answer.calls)).commit([])
    assert [call.name for call in turn.calls] == ["search_tools", "run_sql"]
    said, *results = groq.turn(turn, offer)
    assert [(call["type"], call["id"]) for call in said["tool_calls"]] == [
        ("function", "call_s"),
        ("function", "call_1"),
    ]
    assert [result["tool_call_id"] for result in results] == ["call_s", "call_1"]
    calls, results = anthropic.turn(turn, offer)
    assert [block["id"] for block in calls["content"]] == [
        block["tool_use_id"] for block in results["content"]
    ]


@pytest.mark.needs_threads
def test_namespaces_and_options_hold_for_what_a_search_finds(search):
    offer = search.offer([], deferred=True)
    options = {"namespaces": [Namespace("bank", "Money.", [pay])], "custom": [run_sql]}
    before = openai_responses.request(offer, **options)
    assert [entry["type"] for entry in before["tools"]] == ["tool_search", "function"]
    items = [
        SEARCH_CALL,
        {**SEARCH_CALL, "call_id": "call_t", "arguments": {"query": "run a query"}},
    ]
    answer = openai_responses.answer({"status": "completed", "output": items}, offer)
    turn = Executor(search).run_sync(offer.round(answer)).commit([])
    *_, first, second = openai_responses.request(offer, [turn], **options)["input"]
    (bank,) = first["tools"]
    assert (bank["type"], bank["name"], [one["name"] for one in bank["tools"]]) == (
        "namespace",
        "bank",
        ["pay"],
    )
    assert [one["type"] for one in second["tools"]] == ["custom"]


def test_what_excludes_a_search_of_yours_at_openai_is_refused(search):
    offer = search.offer([], deferred=True)
    said = refusal(openai_responses, search.offer([], deferred=True, required="search_tools"))
    assert said.startswith('OpenAI Responses can\'t require a search, such as "search_tools": require none')
    said = refusal(openai_responses, offer, namespaces=[Namespace("find", "x", ["search_tools"])])
    assert said == '"find" has the search for tools in it: leave that out there'
    said = refusal(openai_responses, offer, allowed_callers={"search_tools": ["programmatic"]})
    assert said == '"search_tools" finds tools for the model alone: leave it out of allowed_callers'
    named = ToolSearch(TOOLS, weather.with_(name="tool_search"))
    said = refusal(openai_responses, named.offer([], deferred=True))
    assert said == 'OpenAI Responses calls its search "tool_search": give your tool another name'
    own = ToolSearch(TOOLS, name="tool_search").offer([], deferred=True)
    assert openai_responses.answer({"status": "completed", "output": [SEARCH_CALL]}, own).calls[0].name == (
        "tool_search"
    )
    for provider in ALL:
        if not provider.features.searches:
            assert "operator_schema.rounds.ToolSearch finds tools" in refusal(provider, offer)


# --- cache points ----------------------------------------------------------------------------------


def test_a_cache_point_follows_the_tools():
    plain = anthropic.request(TOOLS)["tools"]
    marked = {**plain[-1], "cache_control": {"type": "ephemeral"}}
    assert anthropic.request(TOOLS, cache=True)["tools"] == [*plain[:-1], marked]
    hour = anthropic.request(TOOLS, cache="1h")["tools"][-1]["cache_control"]
    assert hour == {"type": "ephemeral", "ttl": "1h"}
    plain = bedrock.request(TOOLS)["toolConfig"]
    sent = bedrock.request(TOOLS, cache=True)["toolConfig"]
    assert sent == {**plain, "tools": [*plain["tools"], {"cachePoint": {"type": "default"}}]}
    point = bedrock.request(TOOLS, cache="5m")["toolConfig"]["tools"][-1]
    assert point == {"cachePoint": {"type": "default", "ttl": "5m"}}
    assert bedrock.request([], cache=True) == anthropic.request([], cache=True) == {}


def test_a_deferred_tool_has_no_cache_mark():
    tools = anthropic.request(DEFERRED, cache=True)["tools"]
    assert ["cache_control" in entry for entry in tools] == [False, False, True, False]
    tools = anthropic.request(TOOLS.offer(deferred=TOOLS), cache=True)["tools"]
    assert ["cache_control" in entry for entry in tools] == [True, False, False, False]


# --- allowed tools ---------------------------------------------------------------------------------

LISTING = [openai_chat, openai_responses, gemini]


@pytest.mark.parametrize("provider", LISTING, ids=lambda provider: provider.name)
def test_the_list_of_tools_stays_the_same_while_an_offer_narrows(provider):
    whole = json.dumps(listing(provider.request(TOOLS.offer(strict=True))))
    offers = [
        TOOLS.offer(only=[weather, pay], strict=True),
        TOOLS.offer(only=pay, required="any", strict=True),
        TOOLS.offer(required=pay, strict=True),
        TOOLS.offer(only=[], strict=True),
        TOOLS.offer(strict=True),
    ]
    choices = set()
    for offer in offers:
        body = provider.request(offer, listed=TOOLS)
        assert json.dumps(listing(body)) == whole
        choices.add(json.dumps(body.get("tool_choice", body.get("toolConfig"))))
    assert len(choices) >= len(offers) - 1  # Gemini requires one tool as it requires any of one


def test_the_choice_names_the_allowed_tools():
    some, must = TOOLS.offer(only=[weather, run_sql], strict=True), TOOLS.offer(only=pay, required="any")
    assert openai_chat.request(some, listed=TOOLS)["tool_choice"] == {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "auto",
            "tools": [
                {"type": "function", "function": {"name": "weather"}},
                {"type": "function", "function": {"name": "run_sql"}},
            ],
        },
    }
    assert openai_responses.request(must, listed=TOOLS)["tool_choice"] == {
        "type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "pay"}],
    }  # fmt: skip
    config = gemini.request(some, listed=TOOLS)["toolConfig"]["functionCallingConfig"]
    assert config == {"mode": "VALIDATED", "allowedFunctionNames": ["weather", "run_sql"]}
    config = gemini.request(must, listed=TOOLS)["toolConfig"]["functionCallingConfig"]
    assert config == {"mode": "ANY", "allowedFunctionNames": ["pay"]}
    none = TOOLS.offer(only=[])
    assert openai_chat.request(none, listed=TOOLS)["tool_choice"] == "none"
    assert openai_chat.request(TOOLS, listed=TOOLS) == openai_chat.request(TOOLS)
    assert openai_chat.request(some, listed=TOOLS)["tools"][0]["function"]["strict"] is True


def test_a_round_knows_what_was_allowed():
    offer = TOOLS.offer(only=weather)
    (call,) = offer.round([RawCall("1", "pay", {"cents": 5})]).calls
    assert (call.state, call.code) == ("issue", "not_available")


def test_listed_has_to_hold_what_is_offered():
    offer = TOOLS.offer(only=[weather, pay], strict=True)
    said = refusal(openai_chat, offer, listed=[weather, run_sql])
    assert said.startswith('"pay" is offered, but isn\'t among the tools that are listed')
    said = refusal(openai_chat, offer, listed=[weather.with_(name="pay"), weather])
    assert said.startswith('"pay" is offered, but isn\'t among the tools that are listed')
    assert refusal(openai_chat, offer, listed=DEFERRED).startswith("listed has deferred tools")
    assert refusal(openai_responses, DEFERRED, listed=TOOLS).startswith("listed and deferred exclude")
    programs = {"allowed_callers": {pay: ["programmatic"]}}
    said = refusal(openai_responses, TOOLS.offer(only=pay), listed=TOOLS, **programs)
    assert said.startswith("listed and allowed_callers exclude each other")
    said = refusal(openai_chat, TOOLS.offer(only=pay, strict="auto"), listed=TOOLS)
    assert said.startswith("listed needs strict=True or False")
    said = refusal(gemini, TOOLS.offer(only=pay), listed=TOOLS)
    assert said.endswith(
        "only in its strict mode: offer with strict=True, require a call, or leave listed out"
    )


def test_descriptions_of_the_request_are_in_the_list():
    offer = TOOLS.offer(only=pay, descriptions={"pay": "Pay now."})
    sent = openai_chat.request(offer, listed=TOOLS)["tools"]
    assert [entry["function"]["description"] for entry in sent][1:] == ["Run a query.", "Pay now."]


# --- parallel calls --------------------------------------------------------------------------------


def test_parallel_calls_may_be_switched():
    for provider in (openai_chat, openai_responses, mistral):
        assert provider.request(TOOLS, parallel=False) == {
            **provider.request(TOOLS),
            "parallel_tool_calls": False,
        }
        assert provider.request(TOOLS, parallel=True)["parallel_tool_calls"] is True
    choice = anthropic.request(TOOLS, parallel=False)["tool_choice"]
    assert choice == {"type": "auto", "disable_parallel_tool_use": True}
    choice = anthropic.request(TOOLS.offer(required=pay), parallel=True)["tool_choice"]
    assert choice == {"type": "tool", "name": "pay", "disable_parallel_tool_use": False}
    assert anthropic.request(TOOLS.offer(required="none"), parallel=False)["tool_choice"] == {"type": "none"}
    assert refusal(cohere, TOOLS, parallel=True) == (
        "Cohere has no switch for parallel calls: leave parallel out"
    )


# --- examples --------------------------------------------------------------------------------------


def test_examples_of_inputs_go_along():
    sent = anthropic.request(TOOLS, examples=True)["tools"]
    assert sent[0]["input_examples"] == [{"city": "Oslo"}, {"city": "Rome", "days": 3}]
    assert sent[1:] == anthropic.request(TOOLS)["tools"][1:]
    sent[0]["input_examples"].clear()
    assert anthropic.request(TOOLS.offer(strict=True), examples=True)["tools"][0]["input_examples"]
    said = refusal(openai_chat, TOOLS, examples=True)
    assert said.endswith("leave examples out, or write them into the description")
    assert refusal(anthropic, DEFERRED, examples=True).startswith(
        "Anthropic takes no examples where tools are"
    )


def test_an_example_has_to_fit_the_schema_that_is_sent():
    @tool(examples=[{"cents": "5"}, {"cents": 5}], repair=True)
    def lenient(cents: int) -> str:
        """Pay."""
        return str(cents)

    for _ in range(2):  # what is checked is remembered only where it fits
        with pytest.raises(SchemaError, match="example 1 doesn't fit the schema for Anthropic") as caught:
            anthropic.request([lenient], examples=True)
        assert len(caught.value.findings) == 1


def test_examples_have_the_names_on_the_wire():
    schema = {"type": "object", "properties": {"filter[id]": {"type": "string"}}, "required": ["filter[id]"]}

    def apps(arguments: dict[str, object]) -> str:
        return str(arguments)

    listed = document_tool(apps, schema, name="apps", examples=[{"filter[id]": "7"}])
    (sent,) = anthropic.request([listed], examples=True)["tools"]
    assert sent["input_examples"] == [{"filter_id__665d001d": "7"}]


# --- programs that call tools ----------------------------------------------------------------------

PROGRAM = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}


def test_the_tool_that_runs_programs_comes_along():
    sent = anthropic.request(TOOLS, allowed_callers={pay: ["code_execution_20260120"]})["tools"]
    assert sent[0] == {"type": "code_execution_20260120", "name": "code_execution"}
    assert sent[-1]["allowed_callers"] == ["code_execution_20260120"]
    assert sent[1:-1] == anthropic.request(TOOLS)["tools"][:-1]
    sent = openai_responses.request(TOOLS, allowed_callers={"pay": ("direct", "programmatic")})["tools"]
    assert sent[0] == {"type": "programmatic_tool_calling"}
    assert sent[-1]["allowed_callers"] == ["direct", "programmatic"]
    sent = anthropic.request(TOOLS, allowed_callers={pay: ["direct"]})["tools"]
    assert [entry["name"] for entry in sent] == ["weather", "run_sql", "pay"]


def test_what_excludes_programs_is_refused():
    code = {"allowed_callers": {pay: ["code_execution_20260120"]}}
    said = refusal(anthropic, TOOLS.offer(strict=True), **code)
    assert said.startswith('Anthropic lets no program call a strict tool, "pay": offer it without strict')
    assert refusal(anthropic, TOOLS, parallel=False, **code).startswith(
        "Anthropic runs no programs with parallel="
    )
    said = refusal(anthropic, TOOLS.offer(required=pay), **code)
    assert said == 'the required tool "pay" is for programs: require none, or leave it out of allowed_callers'
    both = {"allowed_callers": {pay: ["direct", "code_execution_20260120"]}}
    assert "is for programs" in refusal(anthropic, TOOLS.offer(required=pay), **both)
    assert anthropic.request(TOOLS.offer(required=weather), **code)["tool_choice"]["name"] == "weather"
    strict = {weather: ["direct"], pay: ["code_execution_20260120"]}
    only_weather = TOOLS.offer(only=[weather, pay], strict="auto")
    assert "strict tool" in refusal(anthropic, only_weather, allowed_callers=strict)
    two = {weather: ["code_execution_20250825"], **code["allowed_callers"]}
    said = refusal(anthropic, TOOLS, allowed_callers=two)
    assert said.startswith(
        "a request has one tool that runs programs: name one of code_execution_20250825, code"
    )
    programs = {"allowed_callers": {pay: ["programmatic"]}}
    assert "is for programs" in refusal(openai_responses, TOOLS.offer(required=pay), **programs)
    both = {"allowed_callers": {pay: ["programmatic", "direct"]}}
    assert openai_responses.request(TOOLS.offer(required=pay, strict=True), parallel=False, **both)


@pytest.mark.needs_threads
def test_a_call_says_which_program_made_it():
    blocks = [{**CALL, "caller": PROGRAM}, {**CALL, "id": "toolu_3", "caller": {"type": "direct"}}]
    about = {"container": {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}}
    response = {"role": "assistant", "content": blocks, "stop_reason": "tool_use", **about}
    answer, stream = answers_both_ways(anthropic, response, message_events(blocks, **about), TOOLS)
    assert [call.caller for call in answer.calls] == [PROGRAM, None]
    assert stream.response["container"] == about["container"]
    offer = TOOLS.offer()
    saved = json.loads(json.dumps(offer.round(answer).as_dict()))
    restored = TOOLS.restore_round(saved)
    assert [call.raw.caller for call in restored.calls] == [PROGRAM, None]
    turn = Executor(TOOLS).run_sync(restored).commit([])
    assert [call.get("caller") for call in turn.as_dict()["calls"]] == [PROGRAM, None]
    sent = anthropic.turn(turn, offer)
    assert sent[0]["content"] == blocks
    # Other providers know nothing of that program.
    assert "caller" not in json.dumps(openai_responses.turn(turn, offer))


CONTAINER = {"container": {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}}


def container_events(blocks, stop, place):
    """Yield the events of a message whose sandbox is named at its start, or at its end."""
    *events, last, end = message_events(blocks, stop, **(CONTAINER if place == "start" else {}))
    if place == "end":
        last["delta"] |= CONTAINER
    yield from [*events, last, end]


@pytest.mark.needs_threads
@pytest.mark.parametrize("place", ["start", "end"])
def test_a_round_that_is_resumed_names_the_sandbox_of_its_program(place):
    blocks = [{**CALL, "caller": PROGRAM}]
    response = {"role": "assistant", "content": blocks, "stop_reason": "tool_use", **CONTAINER}
    events = container_events(blocks, "tool_use", place)
    answer, _ = answers_both_ways(anthropic, response, events, TOOLS)
    assert answer.container == "container_1"
    assert answer.message == [{"role": "assistant", "content": blocks}]
    offer = TOOLS.offer()
    saved = json.loads(json.dumps(offer.round(answer).as_dict()))
    history = Transcript(["Pay."])
    turn = Executor(TOOLS).run_sync(TOOLS.restore_round(saved)).commit(history)
    body = anthropic.request(offer, history)
    assert body["container"] == "container_1"
    assert body["messages"][1] == answer.message[0]
    assert anthropic.turn(turn, offer) == body["messages"][1:]
    # Also from a generator, and where the user says something after it.
    assert anthropic.request(offer, (item for item in [*history, "Go on."]))["container"] == "container_1"
    # Nobody else is told of it.
    for provider in ALL:
        if provider is not anthropic:
            assert "container" not in json.dumps(provider.request(offer, history))
    # Once an answer needs none, it isn't sent any more.
    done = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}
    history.append(anthropic.answer({**done, **CONTAINER}, offer))
    assert "container" not in anthropic.request(offer, history)


def test_a_paused_turn_goes_on_in_its_sandbox():
    blocks = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "1"}}
    ]
    response = {"role": "assistant", "content": blocks, "stop_reason": "pause_turn", **CONTAINER}
    answer = anthropic.answer(response, TOOLS)
    assert (answer.stop, answer.container) == ("paused", "container_1")
    offer, turns = TOOLS.offer(), Transcript(["Compute it."])
    offer.round(answer).commit(turns)
    for history in (["Compute it.", answer], turns):
        body = anthropic.request(offer, history)
        assert (body["container"], body["messages"][1]) == ("container_1", answer.message[0])
    # Others read its text, as of any answer.
    assert "container" not in json.dumps(openai_chat.request(offer, turns))


TOKEN = "Y29udGludWU="  # noqa: S105  # it opens nothing


def part_of_gemini(text, **candidate):
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, **candidate}]}


@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_answer_of_gemini_goes_on_with_its_token(is_streamed):
    """The request is the same again, with the token in place of the answer so far."""
    paused = part_of_gemini("Once upon", finishReason="CONTINUATION", continuationToken=TOKEN)
    offer, turns, stream = TOOLS.offer(), Transcript(["Tell."]), gemini.stream(TOOLS)
    pieces = [
        part_of_gemini("Once "),
        {
            **paused,
            **part_of_gemini(
                "upon",
                **paused["candidates"][0] | {"content": {"role": "model", "parts": [{"text": "upon"}]}},
            ),
        },
    ]
    for piece in pieces:
        stream.feed(piece)
    answer = stream.close() if is_streamed else gemini.answer(paused, offer)
    assert (answer.text, answer.stop, answer.container, TOKEN in json.dumps(answer.message)) == (
        "Once upon",
        "paused",
        TOKEN,
        False,
    )
    first = gemini.request(offer, ["Tell."])
    offer.round(answer).commit(turns)
    for history in (["Tell.", answer], turns, ["Tell.", *answer.assistant]):
        assert gemini.request(offer, history) == {**first, "continuationToken": TOKEN}
    # Once it has gone on, or the user says something else, all of it is sent, and no token.
    rest = gemini.answer(part_of_gemini(" a time.", finishReason="STOP"), offer)
    for last, role in ((rest, "model"), ("Stop.", "user")):
        body = gemini.request(offer, ["Tell.", answer, last])
        assert TOKEN not in json.dumps(body)
        assert "Once upon" in json.dumps(body["contents"][1])
        assert body["contents"][-1]["role"] == role
    # Nobody else is told of it, and Gemini isn't told of the sandbox of another.
    for provider in ALL:
        if provider is not gemini:
            assert TOKEN not in json.dumps(provider.request(offer, turns))
    other = anthropic.answer(
        {"content": [{"type": "text", "text": "Hm."}], "stop_reason": "pause_turn", **CONTAINER}, offer
    )
    assert "container_1" not in json.dumps(gemini.request(offer, ["Tell.", other]))


def test_an_answer_of_gemini_with_calls_waits_for_their_results():
    call = {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}
    paused = part_of_gemini("", finishReason="CONTINUATION", continuationToken=TOKEN)
    paused["candidates"][0]["content"]["parts"] = [call]
    assert gemini.answer(paused, TOOLS).container is None


def outputs_in(body):
    return [item["call_id"] for item in body["input"] if item.get("type", "").endswith("_call_output")]


@pytest.mark.needs_threads
@pytest.mark.parametrize("late", [some for n in range(4) for some in combinations("abc", n)], ids="".join)
@pytest.mark.parametrize("is_streamed", [False, True])
def test_late_calls_are_answered_when_their_results_are_there(late, is_streamed):
    """Whichever calls are late: each of the others has its output at once, and these have theirs later."""
    items = [
        {"type": "function_call", "call_id": "a", "name": "weather", "arguments": '{"city": "Oslo"}'},
        {"type": "custom_tool_call", "call_id": "b", "name": "run_sql", "input": "SELECT 1"},
        {"type": "function_call", "call_id": "c", "name": "pay", "arguments": '{"cents": 5}'},
    ]
    items = [item | ({"async": True} if item["call_id"] in late else {}) for item in items]
    offer, body = TOOLS.offer(), {"status": "completed", "output": items}
    stream = openai_responses.stream(offer)
    stream.feed({"type": "response.created", "response": {"status": "in_progress", "output": []}})
    for place, item in enumerate(items):
        stream.feed({"type": "response.output_item.done", "output_index": place, "item": item})
    stream.feed({"type": "response.completed", "response": body | {"output": []}})
    answer = stream.close() if is_streamed else openai_responses.answer(body, offer)
    assert "".join([call.id[-1] for call in answer.late_calls]) == "".join(late)
    history, executor = Transcript(["Do it."]), Executor(TOOLS)
    now = executor.run_sync(offer.round(answer.without_late_calls()))
    later = TOOLS.restore_round(json.loads(json.dumps(offer.round(answer.late_calls).as_dict())))
    now.commit(history)
    sent = openai_responses.request(offer, [*history, "And then?"], late=[pay])
    assert sent["input"][1:4] == items
    assert outputs_in(sent) == [one for one in "abc" if one not in late]
    turn = executor.run_sync(later).commit([])
    for item in openai_responses.results(turn.results, offer, turn.calls):
        history.append(item)
    sent = openai_responses.request(offer, history)
    assert sorted(outputs_in(sent)) == ["a", "b", "c"]
    assert outputs_in(sent)[3 - len(late) :] == [*late]
    # Nobody else has late calls, and the rest goes along.
    assert json.dumps(openai_chat.request(offer, [*history][:2])).count('"tool_call_id"') == 3 - len(late)


@pytest.mark.parametrize("text", ["", " ", '{"cents": 5}', '{"cents": "five"}', "I pay."])
def test_an_answer_beside_calls_that_are_all_late_is_final(text):
    content = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    for late in (some for n in range(3) for some in combinations("ab", n)):
        calls = [
            {"type": "function_call", "call_id": name, "name": "pay", "arguments": '{"cents": 5}'}
            | ({"async": True} if name in late else {})
            for name in "ab"
        ]
        body = {"status": "completed", "output": [content, *calls]}
        answer = openai_responses.answer(body, TOOLS, output=Money).without_late_calls()
        is_final = late == ("a", "b") and text.strip() != ""
        assert (answer.stop, len(answer.calls)) == ("end" if is_final else "calls", 2 - len(late))
        assert bool(answer.unfit_outputs) == (is_final and text != '{"cents": 5}')
        if not is_final:
            with pytest.raises(AnswerError):
                _ = answer.output
        elif not answer.unfit_outputs:
            assert answer.output == Money(5)


@pytest.mark.parametrize("container", [None, {}, {"id": 5}, {"id": ""}, "container_1", []])
def test_a_sandbox_without_an_id_is_none(container):
    blocks = [{**CALL, "caller": PROGRAM}]
    response = {"role": "assistant", "content": blocks, "stop_reason": "tool_use", "container": container}
    answer = anthropic.answer(response, TOOLS)
    assert (answer.container, answer.assistant) == (None, answer.message)


@pytest.mark.needs_threads
def test_openai_gets_the_program_of_a_call_with_its_result():
    program = {"type": "program", "caller_id": "prog_1"}
    items = [
        {"type": "program", "id": "p", "call_id": "prog_1", "code": "…", "fingerprint": "f"},
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "pay",
            "arguments": '{"cents": 5}',
            "caller": program,
        },
        {"type": "function_call", "call_id": "call_2", "name": "pay", "arguments": '{"cents": 6}'},
    ]
    events = [{"type": "response.created", "response": {"output": []}}]
    for index, item in enumerate(items):
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": item},
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": {"status": "completed", "output": items}})
    response = {"status": "completed", "output": items}
    answer, _ = answers_both_ways(openai_responses, response, events, TOOLS)
    assert [call.caller for call in answer.calls] == [program, None]
    turn = Executor(TOOLS).run_sync(TOOLS.offer().round(answer)).commit([])
    sent = openai_responses.turn(turn, TOOLS)
    assert sent[:3] == items
    assert [item.get("caller") for item in sent[3:]] == [program, None]
    assert openai_responses.results(turn.results, TOOLS, answer.calls) == sent[3:]
    assert "caller" not in json.dumps(openai_responses.results(turn.results))
    for calls, said in ((5, "integer 5"), (["x"], 'string "x"'), (None, "null")):
        with pytest.raises(
            TypeError, match=f"calls must be a list of RawCalls, such as answer.calls, not {said}"
        ):
            openai_responses.results(turn.results, TOOLS, calls)
    with pytest.raises(TypeError, match="there are 2 calls and 1 results"):
        openai_responses.results(turn.results[:1], TOOLS, answer.calls)
    # Without the items of the program, its calls are calls like all others.
    assert "caller" not in json.dumps(openai_responses.turn(turn.replace(assistant=None), TOOLS))


def test_a_caller_is_a_dict():
    with pytest.raises(TypeError, match='caller must be a dict of JSON values or None, not string "code"'):
        RawCall("1", "pay", {}, caller="code")
    for caller in ({"type": {1}}, {"type": float("nan")}):
        with pytest.raises(TypeError, match="caller must be a dict of JSON values or None: O"):
            RawCall("1", "pay", {}, caller=caller)
    call = RawCall("1", "pay", {}, caller=PROGRAM)
    assert call == pickle.loads(pickle.dumps(call)) != RawCall("1", "pay", {})
    assert (call.replace(name="x").caller, RawCall("1", "pay").caller) == (PROGRAM, None)
    assert "caller" in repr(call)
    assert "caller" not in repr(RawCall("1", "pay"))


def test_a_changed_caller_in_a_saved_round_is_damage():
    saved = TOOLS.offer().round([RawCall("1", "pay", {"cents": 5}, caller=PROGRAM)]).as_dict()
    saved["calls"][0]["caller"] = "direct"
    with pytest.raises(RestoreError, match="its data were changed after they were saved"):
        TOOLS.restore_round(saved)


# --- custom tools ----------------------------------------------------------------------------------


def test_a_tool_that_takes_a_text_may_be_custom():
    about = "Run a query.\n\nin the dialect of SQLite."
    grammar = Grammar("regex", "SELECT .*")
    sent = openai_chat.request(TOOLS, custom={run_sql: grammar})["tools"]
    form = {"type": "grammar", "grammar": {"syntax": "regex", "definition": "SELECT .*"}}
    assert sent[1] == {"type": "custom", "custom": {"name": "run_sql", "description": about, "format": form}}
    assert [sent[0], sent[2]] == openai_chat.request([weather, pay])["tools"]
    sent = openai_responses.request(TOOLS, custom={"run_sql": grammar})["tools"][1]
    form = {"type": "grammar", "syntax": "regex", "definition": "SELECT .*"}
    assert sent == {"type": "custom", "name": "run_sql", "description": about, "format": form}
    assert "format" not in openai_responses.request(TOOLS, custom=[run_sql])["tools"][1]
    strict = openai_responses.request(TOOLS.offer(strict=True), custom=[run_sql])["tools"]
    assert ["strict" in entry for entry in strict] == [True, False, True]


def test_choices_name_a_custom_tool_as_one():
    required, some = TOOLS.offer(required=run_sql), TOOLS.offer(only=[run_sql, pay])
    options = {"custom": [run_sql]}
    assert openai_chat.request(required, **options)["tool_choice"] == {
        "type": "custom",
        "custom": {"name": "run_sql"},
    }
    assert openai_responses.request(required, **options)["tool_choice"] == {
        "type": "custom",
        "name": "run_sql",
    }
    choice = openai_chat.request(some, listed=TOOLS, **options)["tool_choice"]["allowed_tools"]["tools"]
    assert choice[0] == {"type": "custom", "custom": {"name": "run_sql"}}
    choice = openai_responses.request(some, listed=TOOLS, **options)["tool_choice"]["tools"]
    assert choice == [{"type": "custom", "name": "run_sql"}, {"type": "function", "name": "pay"}]


QUERY = 'SELECT "ä" -- \\ end'
CHAT_CALL = {"id": "call_1", "type": "custom", "custom": {"name": "run_sql", "input": QUERY}}
CHAT = {
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            "finish_reason": "tool_calls",
        }
    ]
}
ITEM = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "run_sql", "input": QUERY}


def chat_events():
    first = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "run_sql", "input": ""}}
    deltas = [first, *[{"index": 0, "custom": {"input": piece}} for piece in (QUERY[:5], QUERY[5:])]]
    for delta in deltas:
        yield {"choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": None}]}
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def item_events():
    yield {"type": "response.created", "response": {"output": []}}
    yield {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "input": ""}}
    for piece in (QUERY[:5], QUERY[5:]):
        yield {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": piece}
    yield {"type": "response.custom_tool_call_input.done", "output_index": 0, "input": QUERY}
    yield {"type": "response.output_item.done", "output_index": 0, "item": ITEM}
    yield {"type": "response.completed", "response": {"status": "completed", "output": [ITEM]}}


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("provider", "response", "events", "sent"),
    [
        (openai_chat, CHAT, chat_events, CHAT_CALL),
        (openai_responses, {"status": "completed", "output": [ITEM]}, item_events, ITEM),
    ],
    ids=["chat", "responses"],
)
def test_a_custom_call_is_decoded_run_and_answered(provider, response, events, sent):
    answer, stream = answers_both_ways(provider, response, events(), TOOLS)
    (call,) = answer.calls
    assert call.arguments == {"query": QUERY}
    assert json.loads(stream.calls[0].arguments) == {"query": QUERY}
    assert stream.calls[0].partial.fields == {"query": QUERY}
    offer = TOOLS.offer()
    restored = TOOLS.restore_round(json.loads(json.dumps(offer.round(answer).as_dict())))
    turn = Executor(TOOLS).run_sync(restored).commit([])
    assert turn.results[0].content == f"ran {QUERY}"
    said, result = provider.turn(turn, offer)
    assert said == answer.message[0]
    if provider is openai_chat:
        assert result == {"role": "tool", "tool_call_id": "call_1", "content": f"ran {QUERY}"}
    else:
        assert result == {"type": "custom_tool_call_output", "call_id": "call_1", "output": f"ran {QUERY}"}
    # Without the model's own message, the call is a custom one again.
    bare = provider.turn(turn.replace(assistant=None), offer)[0]
    own = bare["tool_calls"][0] if provider is openai_chat else bare
    assert own == {key: value for key, value in sent.items() if key != "id" or provider is openai_chat}


def test_an_id_that_is_no_string_is_an_error():
    for item in ({**ITEM, "call_id": 5}, {**SEARCH_CALL, "call_id": 5}):
        with pytest.raises(ResponseError, match="isn't in the expected form"):
            openai_responses.answer({"status": "completed", "output": [item]}, TOOLS)
        stream = openai_responses.stream(TOOLS)
        stream.feed({"type": "response.created", "response": {"output": []}})
        with pytest.raises(ResponseError, match="isn't in the expected form"):
            stream.feed({"type": "response.output_item.added", "output_index": 0, "item": item})


def test_the_text_of_a_custom_tool_that_takes_more_is_its_input():
    item = {**ITEM, "name": "weather"}
    for tools in ([weather], []):
        answer = openai_responses.answer({"status": "completed", "output": [item]}, tools)
        assert answer.calls[0].arguments == {"input": QUERY}


# --- another provider ------------------------------------------------------------------------------


def test_the_features_of_another_provider_are_a_table():
    vllm = openai_compatible("vLLM", features=Features(parallel=True, allowed=True))
    body = vllm.request(TOOLS.offer(only=pay), listed=TOOLS, parallel=False)
    assert (body["parallel_tool_calls"], body["tool_choice"]["type"]) == (False, "allowed_tools")
    assert refusal(vllm, TOOLS, cache=True) == "vLLM has no cache point after tools: leave cache out"
    with pytest.raises(ValueError, match="Chat Completions has no form for cache: leave it out of features"):
        openai_compatible("mine", features=Features(cache=True))
    with pytest.raises(TypeError, match=r"features must be a Features\(…\), not string"):
        openai_compatible("mine", features="parallel")
    for features in (
        {"parallel": "yes"},
        {"searches": "bm25"},
        {"searches": ("bm25",)},
        {"searches": (("bm25", None),)},
        {"callers": {"direct": None}},
        {"callers": (("program", "python"),)},
    ):
        with pytest.raises(TypeError, match=f"the feature {next(iter(features))} (is|must be)"):
            openai_compatible("mine", features=Features(**features))
    for option, kind in (("names", "NameRule"), ("dialect", "Dialect"), ("rules", "Rules")):
        with pytest.raises(
            TypeError, match=rf"{option} must be a {kind}\(…\),( or None,)? not string \"strict\""
        ):
            openai_compatible("mine", **{option: "strict"})
    assert openai_compatible("mine", features=Features(callers=(("direct", None),)))
    searching = openai_compatible("mine", features=Features(searches=(("own", HostedTool("find")),)))
    assert searching.request(DEFERRED)["tools"][0] == {"type": "find"}


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ({"required": 5}, TypeError, "required must be a string, not integer 5"),
        ({"takes_unions": "no"}, TypeError, 'takes_unions must be True or False, not string "no"'),
        ({"takes_images": 1}, TypeError, "takes_images must be True or False, not integer 1"),
        ({"sent_keys": ["role"]}, TypeError, "sent_keys must be a frozenset of strings, or None, not array"),
        ({"names": NameRule("x")}, TypeError, "names.longest must be a number of at least 0, not string"),
        ({"names": NameRule(others=None)}, TypeError, "names.others must be a string, not null"),
        (
            {"rules": Rules(most_tools=-1)},
            TypeError,
            "rules.most_tools must be a number of at least 0, or None",
        ),
        ({"rules": Rules(keys="x")}, TypeError, r"rules.keys must be a NameRule\(…\), or None, not string"),
        ({"rules": Rules(keys=NameRule("x"))}, TypeError, "rules.keys.longest must be a number"),
    ],
)
def test_the_table_of_another_provider_is_checked(table, error, said):
    with pytest.raises(error, match=f"^{said}"):
        openai_compatible("mine", **table)


@pytest.mark.parametrize("provider", ALL)
def test_each_attribute_of_each_provider_is_replaced_only_by_its_kind(provider):
    assert provider.replace(**{each: getattr(provider, each) for each in Provider.__slots__}) == provider
    for attribute in {*Provider.__slots__} - {"wire"}:
        with pytest.raises(TypeError, match=rf"^(the )?{attribute} .*must be "):
            provider.replace(**{attribute: 3 if attribute == "name" else "x"})


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ({"keywords": ["maximum"]}, TypeError, "dialect.keywords must be a frozenset of strings, not array"),
        ({"keywords": "maximum"}, TypeError, "dialect.keywords must be a frozenset of strings, not string"),
        ({"formats": None}, TypeError, "dialect.formats must be a frozenset of strings, not null"),
        ({"lenient": "no"}, TypeError, "dialect.lenient must be True or False, not string"),
        (
            {"required": "al"},
            ValueError,
            "dialect.required must be 'all' or 'one' or 'any', not string \"al\"",
        ),
        ({"required": []}, ValueError, "dialect.required must be 'all' or 'one' or 'any', not array"),
        (
            {"most_tools": "9"},
            TypeError,
            "dialect.most_tools must be a number of at least 0, or None, not string",
        ),
        (
            {"most": {"maximum": 9}},
            TypeError,
            r"dialect.most must be a tuple of pairs \(keyword, number\), not",
        ),
        (
            {"keywords": frozenset({"maximun"})},
            ValueError,
            'dialect: JSON Schema has no keyword "maximun"; did you mean "maximum"?',
        ),
        ({"most": (("zzz", 1),)}, ValueError, 'dialect: JSON Schema has no keyword "zzz"$'),
    ],
)
def test_the_dialect_of_another_provider_is_checked(table, error, said):
    dialect = Dialect(**{"keywords": frozenset(), "formats": frozenset(), **table})
    with pytest.raises(error, match=f"^{said}"):
        openai_compatible("mine", dialect=dialect)


def test_the_tables_of_our_providers_pass_the_check_for_others():
    for provider in ALL:
        for dialect in (provider.dialect, provider.always):
            openai_compatible("mine", names=provider.names, rules=provider.rules, dialect=dialect)


# --- prompt caches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ALL, ids=lambda provider: provider.name)
def test_a_tool_that_is_added_or_switched_changes_nothing_before_its_place(provider):
    def written(toolset, **more):
        return [json.dumps(entry) for entry in listing(provider.request(toolset.offer(**more)))]

    @tool
    def added(place: str) -> str:
        """Say where something is."""
        return place

    before = written(TOOLS)
    assert written(Toolset(TOOLS, added))[:3] == before
    assert written(Toolset(weather, added, run_sql, pay))[0] == before[0]
    assert written(Toolset(TOOLS, added.with_(enabled=False))) == before
    assert written(TOOLS.hide(run_sql)) == [before[0], before[2]]
    assert written(TOOLS, descriptions={"pay": "Pay now."})[:2] == before[:2]
    assert written(Toolset(weather, run_sql.with_(timeout=5), pay)) == before
    assert (
        provider.request(TOOLS, ["Hi"])[provider.wire.HISTORY]
        == (provider.request(Toolset(TOOLS, added), ["Hi"])[provider.wire.HISTORY])
    )


@pytest.mark.parametrize("provider", [anthropic, openai_responses], ids=["anthropic", "openai"])
def test_a_deferred_tool_that_is_added_changes_nothing_before_its_place(provider):
    @tool
    def added(place: str) -> str:
        """Say where something is."""
        return place

    more = Toolset(TOOLS, added)
    before = provider.request(TOOLS.offer(deferred=[pay]))["tools"]
    assert provider.request(more.offer(deferred=[pay, added]))["tools"][: len(before)] == before


def test_what_a_turn_keeps_beside_its_messages_is_never_sent():
    message = {"role": "assistant", "content": [{"type": "text", "text": "…"}]}
    kept = {**message, "operator_schema_container": "container_1"}
    said = anthropic.request(TOOLS, ["Hi", kept, {"role": "user", "content": "…"}])
    assert said["messages"][1] == message
    assert said["container"] == "container_1"
