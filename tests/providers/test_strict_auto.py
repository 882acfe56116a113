"""`strict="auto"`: each tool is strict where the strict mode of the provider takes it."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from offers import offer_of
from provider_traffic import OWN

from operator_schema import RawCall, SchemaError, Toolset, providers, tool, tool_input
from operator_schema.providers import Provider

ALL = {name: found for name in providers.__all__ if isinstance(found := getattr(providers, name), Provider)}
WHOLE = {"gemini", "gemini_parameters", "deepseek", "cohere"}
"""Providers whose strictness is of a whole request."""
FREE_KEYS = {"gemini", "xai"}
"""Providers whose strict modes take maps."""
ANYTHING = {"llama_cpp"}
"""Providers whose strict modes take maps, and values of any type."""


@tool
def book(city: str, nights: int = 1) -> str:
    """Book a room."""
    return f"{city} {nights}"


@tool
def label(labels: dict[str, int], note: str = "") -> str:
    """Label something."""
    return f"{labels} {note}"


@tool
def save(value: Any, note: str = "") -> str:
    """Save any value."""
    return f"{value} {note}"


def test_each_provider_is_there():
    assert set(ALL.values()) >= set(OWN.values())
    assert {name for name, one in ALL.items() if one.dialect and one.dialect.whole_request} == WHOLE


def expected(name, *tools):
    """Return which of the tools are strict."""
    if ALL[name].dialect is None:
        return [False] * len(tools)
    taken = [book] + [label] * (name in FREE_KEYS | ANYTHING) + [save] * (name in ANYTHING)
    fits = [one in taken for one in tools]
    return [all(fits)] * len(tools) if name in WHOLE else fits


@pytest.mark.parametrize("tools", [(book,), (book, label), (label, book, save), (save,), ()])
@pytest.mark.parametrize("name", ALL)
def test_each_tool_is_sent_as_alone(name, tools):
    provider = ALL[name]
    modes = expected(name, *tools)
    report = provider.report(tools, strict="auto")
    assert [one.strict for one in report.tools] == modes
    assert report.strict == "auto"
    assert report.is_accepted
    for one in report.tools:
        assert bool(one.not_strict) is not one.strict
    alone = [provider.request(offer_of([one], strict=mode)) for one, mode in zip(tools, modes, strict=True)]
    body = provider.request(offer_of(tools, strict="auto"))
    listed = [one for part in alone for one in declared(part)]
    assert declared(body) == listed
    if tools and name in WHOLE:
        body.pop("tools")
        alone[0].pop("tools")
        assert body == alone[0]  # such as the mode of the request


def declared(body):
    """List the tools of a request."""
    found = body.get("tools") or body.get("toolConfig", {}).get("tools", [])
    return found[0]["functionDeclarations"] if found and "functionDeclarations" in found[0] else found


def answer_with(provider, *calls):
    """Return a response with calls in Chat's or in Responses' form, or None for other forms."""
    wire = type(provider.wire).__name__
    if wire in {"ChatWire", "CohereWire", "OllamaWire"}:
        function = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
        message = {"role": "assistant", "tool_calls": function}
        if wire == "ChatWire":
            return {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        return {"message": message, "finish_reason": "TOOL_CALL", "done": True, "done_reason": "stop"}
    given = [json.loads(call.arguments) for call in calls]
    if wire == "ResponsesWire":
        items = [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
            for call in calls
        ]
        return {"status": "completed", "output": items}
    if wire == "MessagesWire":
        blocks = [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": value}
            for call, value in zip(calls, given, strict=True)
        ]
        return {"content": blocks, "stop_reason": "tool_use"}
    if wire == "ConverseWire":
        blocks = [
            {"toolUse": {"toolUseId": call.id, "name": call.name, "input": value}}
            for call, value in zip(calls, given, strict=True)
        ]
        return {
            "output": {"message": {"role": "assistant", "content": blocks}},
            "stopReason": "tool_use",
        }
    parts = [
        {"functionCall": {"name": call.name, "args": value}} for call, value in zip(calls, given, strict=True)
    ]
    return {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}


@pytest.mark.parametrize("tools", [[book], [book, label], [label, book, save]])
@pytest.mark.parametrize("name", ALL)
def test_nulls_are_left_out_of_the_calls_of_strict_tools_alone(name, tools):
    provider = ALL[name]
    arguments = {
        "book": {"city": "Oslo", "nights": None},
        "label": {"labels": {"a": 1}, "note": None},
        "save": {"value": 1, "note": None},
    }
    made = [
        RawCall(str(number), one.name, json.dumps(arguments[one.name])) for number, one in enumerate(tools)
    ]
    response = answer_with(provider, *made)
    read = provider.calls(response, offer_of(tools, strict="auto"))
    assert [call.name for call in read] == [one.name for one in tools]
    for call, one, mode in zip(read, tools, expected(name, *tools), strict=True):
        value = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
        is_nullable = mode and provider.dialect.required != "any"
        left = {key: given for key, given in arguments[one.name].items() if given is not None}
        assert value == (left if is_nullable else arguments[one.name])
    alone = provider.calls(response, offer_of(tools[:1], strict="auto"))
    assert len(alone) == len(tools)  # calls of tools that weren't offered stay as they are


def test_a_streamed_answer_is_read_the_same():
    chunk = {"index": 0, "id": "1", "type": "function"}
    function = {"name": "book", "arguments": '{"city": "Oslo", "nights": null}'}
    stream = providers.openai_chat.stream(offer_of([book, save], strict="auto"))
    stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [{**chunk, "function": function}]}}]})
    stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    assert stream.close().calls[0].arguments == {"city": "Oslo"}


def test_why_a_tool_isnt_strict():
    report = providers.openai_chat.report([book, label], strict="auto")
    (reason,) = report.tools[1].not_strict
    assert reason.path == ("labels",)
    assert report.tools[1].refused == ()
    assert report.tools[1].losses == ()
    assert str(report).startswith("OpenAI Chat Completions, strict where possible: ")
    assert (
        "    not strict: labels (in label): it is an object with free keys, which the strict mode of "
        "OpenAI Chat Completions doesn't take. "
    ) in str(report)
    (found,) = [one for one in report.as_dict()["tools"] if one["name"] == "label"]
    assert (found["strict"], found["not_strict"][0]["path"]) == (False, ["labels"])
    assert report.as_dict()["strict"] == "auto"

    whole = providers.cohere.report([book, label], strict="auto")
    first, second = [str(one.not_strict[0]) for one in whole.tools]
    assert first.startswith(
        'book: the strict mode of Cohere applies to all tools of a request, and "label" doesn\'t fit. '
    )
    assert second == str(providers.cohere.report([label], strict=True).tools[0].refused[0])
    (none,) = providers.mistral.report([book], strict="auto").tools
    assert str(none.not_strict[0]).startswith("book: no strict mode of Mistral is known. ")


def test_a_request_that_says_so_is_strict_or_isnt():
    (strict,) = providers.openai_chat.report([book], strict=True).tools
    (other,) = providers.openai_chat.report([book]).tools
    assert (strict.strict, strict.not_strict, other.strict, other.not_strict) == (True, (), False, ())


@dataclass
class Wide:
    """Ten places of several types."""

    a: int | str
    b: int | str
    c: int | str
    d: int | str
    e: int | str
    f: int | str
    g: int | str
    h: int | str
    i: int | str
    j: int | str


def test_tools_are_strict_in_their_order_as_long_as_the_request_takes_them():
    wide = [tool_input(Wide, name=f"wide_{number}") for number in range(2)]
    with pytest.raises(SchemaError, match="there are 20 unions"):
        providers.anthropic.request(offer_of(wide, strict=True))
    report = providers.anthropic.report([*wide, book], strict="auto")
    assert [one.strict for one in report.tools] == [True, False, True]
    assert str(report.tools[1].not_strict[0]).startswith(
        "wide_1: with it there are 20 unions, but a request takes only 16. "
    )
    sent = providers.anthropic.request(offer_of([*wide, book], strict="auto"))["tools"]
    assert ["strict" in one for one in sent] == [True, False, True]
    many = [book.with_(name=f"book_{number}") for number in range(25)]
    assert (
        sum("strict" in one for one in providers.anthropic.request(offer_of(many, strict="auto"))["tools"])
        == 20
    )


def test_descriptions_of_an_offer_keep_each_tool_as_strict_as_it_is():
    offer = Toolset(book, label).offer(descriptions={"label": "Label it.", "book": "Book it."})
    sent = [one["function"] for one in providers.openai_chat.request(offer_of(offer, strict="auto"))["tools"]]
    assert [(one["description"], "strict" in one) for one in sent] == [
        ("Book it.", True),
        ("Label it.", False),
    ]


def test_a_union_is_not_strict():
    kind = tool_input(Wide | Other, name="either", description="Either.")
    sent, other = providers.anthropic.request(offer_of([kind, book], strict="auto"))["tools"]
    assert "strict" not in sent
    assert other["strict"] is True


@dataclass
class Other:
    """Something else."""

    kind: Literal["other"]


@pytest.mark.parametrize("wrong", ["yes", "AUTO", 1, None])
def test_only_auto_is_another_word(wrong):
    for call in (
        lambda: providers.openai_chat.request(offer_of([book], strict=wrong)),
        lambda: providers.openai_chat.report(offer_of([book], strict=wrong)),
        lambda: providers.openai_chat.report([book], strict=wrong or 0),
        lambda: providers.openai_chat.answers({"choices": []}, offer_of([], strict=wrong)),
        lambda: providers.openai_chat.answers({"choices": []}, offer_of([book], strict=wrong)),
    ):
        with pytest.raises(TypeError, match='strict must be True, False or "auto", not '):
            call()


def test_forms_are_kept_for_each_mode():
    first = providers.openai_chat.request(offer_of([book, label], strict="auto"))
    assert providers.openai_chat.request([book, label]) != first
    assert providers.openai_chat.request(offer_of([book, label], strict="auto")) == first
    gateway = providers.openai_compatible("OpenAI Chat Completions")  # another provider of the same name
    assert gateway.request(offer_of([book, label], strict="auto")) == gateway.request([book, label])
    assert providers.openai_chat.request(offer_of([book, label], strict="auto")) == first


def test_providers_of_one_name_each_have_their_own_fits():
    narrow = providers.openai_chat
    wide = narrow.replace(dialect=narrow.dialect.replace(takes_maps=True))
    takes = {narrow: [True, False], wide: [True, True]}
    tools = [book, label.with_(name="label_anew")]
    for provider in (narrow, wide, narrow, wide, wide):
        sent = provider.request(offer_of(tools, strict="auto"))["tools"]
        assert [one["function"].get("strict", False) for one in sent] == takes[provider]
