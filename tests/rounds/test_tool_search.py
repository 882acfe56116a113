"""Tool search: what is found, what a request then offers, and where it is remembered."""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from collections import ChainMap
from copy import copy, deepcopy
from itertools import product
from threading import Barrier, Thread
from typing import Annotated, Literal

import pytest

from operator_schema import Executor, RawCall, Registry, Reject, RunNormally, Toolset, Transcript, hook, tool
from operator_schema.errors import DuplicateToolError, ToolNotFoundError
from operator_schema.providers import (
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
from operator_schema.rounds import FoundTools, OfferError, ToolSearch, tool_index
from operator_schema.rounds.ranking import TermReader
from operator_schema.tools import Image, document_tool

pytestmark = pytest.mark.needs_threads

EVERY = [
    *(anthropic, bedrock, cohere, deepseek, gemini, groq, llama_cpp, mistral, ollama, openai_chat),
    *(openai_responses, xai, openai_compatible("vLLM", takes_images=True)),
]


@tool(tags=["accounting"])
def pay_invoice(invoice_id: str) -> str:
    """Settle a bill of a supplier."""
    return f"paid {invoice_id}"


@tool(name="getForecast")
def get_forecast(
    city: str, unit: Annotated[Literal["celsius", "fahrenheit"], "Of the degrees."] = "celsius"
) -> str:
    """Say what the weather will be."""
    return f"sun in {city}, {unit}"


@tool
def cancel_flight(booking: Annotated[str, "Six letters, the record locator."]) -> str:
    """Cancel a journey."""
    return booking


@tool
def who_am_i() -> str:
    """Say who the user is."""
    return "Ada"


TOOLS = [pay_invoice, get_forecast, cancel_flight, who_am_i]


def searched(search, history, query, call_id="1", **more):
    """Let the model search in a conversation, and commit the turn."""
    call = RawCall(call_id, "search_tools", {"query": query, **more})
    done = Executor(search).run_sync(search.offer(history).round([call]))
    done.commit(history)
    return done.calls[0].result


def names(tools):
    return [one.name for one in tools]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("forecasts", "getForecast"),  # a part of the name, in another form
        ("settling bills", "pay_invoice"),  # the description
        ("accounting", "pay_invoice"),  # a tag
        ("city", "getForecast"),  # a parameter
        ("record locator", "cancel_flight"),  # what a parameter says
        ("fahrenheit", "getForecast"),  # a value of an enum
        ("degrees", "getForecast"),
        ("INVOICES", "pay_invoice"),
    ],
)
def test_a_search_reads_all_that_a_tool_says(query, found):
    assert names(ToolSearch(TOOLS).search(query))[:1] == [found]


def test_words_that_no_tool_has_find_nothing_and_say_so():
    search, history = ToolSearch(TOOLS), Transcript()
    result = searched(search, history, "zzz")
    assert result.json == {
        "tools": [],
        "note": "No tool fits these words. Try others: say what has to be done, and with what.",
    }
    assert search.offer(history).names == ("search_tools",)


def test_what_was_found_is_offered_from_the_next_request_on_after_all_that_was_there():
    search, history = ToolSearch(TOOLS, always=who_am_i), Transcript(["pay the bill"])
    first = search.offer(history)
    assert first.names == ("search_tools", "who_am_i")
    result = searched(search, history, "settle a bill")
    assert result.json["tools"] == [{"name": "pay_invoice", "description": "Settle a bill of a supplier."}]
    assert search.offer(history).names == ("search_tools", "who_am_i", "pay_invoice")
    searched(search, history, "weather", "2")
    searched(search, history, "bill", "3")
    assert search.offer(history).names == ("search_tools", "who_am_i", "pay_invoice", "getForecast")


def test_a_call_before_its_tool_is_found_does_not_run_in_a_round():
    search = ToolSearch(TOOLS)
    done = search.offer([]).round([RawCall("1", "pay_invoice", {"invoice_id": "7"})])
    assert done.issues[0].result.code == "not_available"


def test_conversations_over_one_search_see_nothing_of_each_other():
    search, mine, yours = ToolSearch(TOOLS), Transcript(), Transcript()
    searched(search, mine, "weather")
    searched(search, yours, "flight")
    assert search.offer(mine).names == ("search_tools", "getForecast")
    assert search.offer(yours).names == ("search_tools", "cancel_flight")


def test_after_a_restart_the_history_tells_what_was_found():
    history = Transcript()
    searched(ToolSearch(TOOLS), history, "weather")
    saved = [item.as_dict() for item in history]
    again = ToolSearch(TOOLS)
    assert again.offer(history).names == again.offer(saved).names == ("search_tools", "getForecast")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"tools": 3}',
        '{"tools": [3, {"name": ["x"]}, {"name": "no_such"}]}',
        "[" * 100_000,
        None,
        7,
    ],
)
def test_a_history_may_say_anything(content):
    saved = {"results": [{"name": "search_tools", "is_error": False, "content": content}, None, 3]}
    assert ToolSearch(TOOLS).found_in([saved, None, 3, "hi", {"results": 3}]) == ()


def test_results_of_other_tools_and_failures_find_nothing():
    told = '{"tools": [{"name": "pay_invoice"}]}'
    other = {"results": [{"name": "fetch", "is_error": False, "content": told}]}
    failed = {"results": [{"name": "search_tools", "is_error": True, "content": told}]}
    found = {"results": [{"name": "search_tools", "is_error": False, "content": told}]}
    search = ToolSearch(TOOLS)
    assert search.found_in([other, failed]) == ()
    assert search.found_in([found]) == ("pay_invoice",)


@pytest.mark.parametrize("history", ["hi", 3, {}, None])
def test_a_history_is_a_list(history):
    with pytest.raises(TypeError, match="a history must be a transcript or a list of turns, not"):
        ToolSearch(TOOLS).offer(history)


# --- the message of the user beside the query ------------------------------------------------------

MESSAGES = [
    "Please settle the bill of Acme.",
    {"role": "user", "content": "Please settle the bill of Acme."},
    {"role": "user", "content": [{"type": "text", "text": "Please settle the bill of Acme."}]},
    {
        "role": "user",
        "content": [{"type": "image", "source": {}}, {"text": "Settle it:"}, {"text": "a bill"}],
    },
    {"role": "user", "parts": [{"text": "Please settle the bill of Acme."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Settle a bill."}]},
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_search_in_a_round_looks_for_what_the_user_said_last(message):
    search = ToolSearch(TOOLS)
    later = [{"role": "assistant", "content": "The weather? One moment."}, {"role": "user", "content": []}]
    history = Transcript(["What about the flight?", message, *later])
    assert [one["name"] for one in searched(search, history, "Acme").json["tools"]] == ["pay_invoice"]
    assert searched(search, history, "Acme again", "2").json["tools"]  # after the turn of the first search
    assert search.search("Acme") == []


def test_a_round_that_was_saved_still_knows_what_the_user_said():
    search, history = ToolSearch(TOOLS), Transcript(["Settle a bill of Acme."])
    sent = search.offer(iter(history)).round([RawCall("1", "search_tools", {"query": "Acme"})])
    again = ToolSearch(TOOLS)
    restored = again.toolset.restore_round(json.loads(json.dumps(sent.as_dict())))
    done = Executor(again).run_sync(restored)
    assert [one["name"] for one in done.calls[0].result.json["tools"]] == ["pay_invoice"]
    assert done.calls[0].arguments == {"query": "Acme", "prefix": ""}
    assert "Settle" not in str(again["search_tools"].input_schema())


def test_a_search_may_leave_the_message_alone():
    history = Transcript(["Settle a bill of Acme."])
    assert searched(ToolSearch(TOOLS, with_message=False), history, "Acme").json["tools"] == []
    copied = copy(ToolSearch(TOOLS, with_message=False))
    assert searched(copied, Transcript(history), "Acme").json["tools"] == []
    with pytest.raises(TypeError, match='with_message must be True or False, not "no"'):
        ToolSearch(TOOLS, with_message="no")


@pytest.mark.parametrize(
    "history",
    [
        [],
        [{"role": "assistant", "content": "Settle a bill."}],
        [{"role": "user", "content": [{"type": "tool_result", "content": "Settle a bill."}]}],
        [{"role": "user", "content": {"text": 3}}, {"role": "user"}, {"role": ["user"]}, 3, None, object()],
        [{"role": "user", "content": [{"functionResponse": {"name": "bill"}}, None, 3]}],
    ],
)
def test_what_the_user_has_not_said_is_not_searched(history):
    search = ToolSearch(TOOLS)
    sent = search.offer(history).round([RawCall("1", "search_tools", {"query": "Acme"})])
    assert Executor(search).run_sync(sent).calls[0].result.json["tools"] == []


@tool
def photo_of(place: str) -> Image:
    """Say what the weather will be, as a photo."""
    return Image(b"\x89PNG\r\n\x1a\n", media_type="image/png")


@pytest.mark.parametrize("provider", EVERY, ids=repr)
def test_results_in_messages_of_the_user_are_not_said_by_the_user(provider):
    call = RawCall("abcDEF123", "photo_of", {"place": "returned"})
    with_photo = Toolset(photo_of)
    turn = Executor(with_photo).run_sync(with_photo.offer().round([call])).commit(Transcript())
    search = ToolSearch(TOOLS)
    for said in ("Settle a bill.", provider.wire.text_message("user", "Settle a bill.")):
        history = [said, *provider.turn(turn, with_photo)]
        sent = search.offer(history).round([RawCall("1", "search_tools", {"query": "Acme"})])
        found = Executor(search).run_sync(sent).calls[0].result.json["tools"]
        assert [one["name"] for one in found] == ["pay_invoice"]


VERBS = ("delete", "send", "print", "sign", "archive")


@pytest.mark.parametrize("most", range(1, 6))
def test_the_message_decides_between_tools_that_fit_the_query_equally_well(most):
    for shift, verb in product(range(len(VERBS)), VERBS):
        named = [f"{'abcde'[(place + shift) % 5]}_tool" for place in range(len(VERBS))]
        tools = [
            document_tool(echo, {"type": "object"}, name=name, summary=f"{one.capitalize()} an invoice.")
            for name, one in zip(named, VERBS, strict=True)
        ]
        found = names(ToolSearch(tools, most=most).search("invoice", message=f"Please {verb} it"))
        assert found[0] == named[VERBS.index(verb)]
        assert len(found) == most


@pytest.mark.parametrize("form", ["{ask} {text}", "{text} {ask}", "{text}{ask}"])
@pytest.mark.parametrize("length", [1_980, 2_000, 2_010, 200_000])
def test_a_request_before_or_after_a_long_text_is_read(form, length):
    message = form.format(ask=" Settle a bill.", text=("lorem ipsum " * length)[:length])
    assert names(ToolSearch(TOOLS).search("Acme", message=message)) == ["pay_invoice"]
    assert searched(ToolSearch(TOOLS), Transcript([message]), "Acme").json["tools"]


def test_the_message_goes_to_the_search_alone_also_where_it_has_another_name():
    search = ToolSearch(TOOLS, always=who_am_i, name="find_tools")
    offer = search.offer(["Settle a bill of Acme."])
    calls = [
        RawCall("1", "find_tools", {"query": "Acme"}),
        RawCall("2", "who_am_i", {}),
        RawCall("3", "find_tools", {"query": 3}),
        RawCall("4", "no_such_tool", {}),
    ]
    found, who, *issues = Executor(search).run_sync(offer.round(calls)).calls
    assert found.result.json["tools"][0]["name"] == "pay_invoice"
    assert who.result.content == "Ada"
    assert [one.state for one in issues] == ["issue", "issue"]
    assert search.offer(["Settle a bill."]) != search.offer(["Cancel the flight."])


@pytest.mark.parametrize("context", [None, {"role": "clerk"}, {FoundTools: FoundTools()}])
def test_switches_get_the_context_without_the_message(context):
    seen = []
    search = ToolSearch(Toolset(TOOLS).switch(pay_invoice, enabled=lambda given: seen.append(given) or True))
    sent = search.offer(["Settle a bill."]).round([RawCall("1", "search_tools", {"query": "bill"})])
    Executor(search).run_sync(sent, context=context)
    assert seen
    assert all(given == (context or {}) and type(given) is not ChainMap for given in seen)


def test_a_message_fits_in_the_words_of_a_query_and_beside_them():
    search = ToolSearch(TOOLS, most=2)
    assert names(search.search("flight", message="What will the weather be in the city of my flight?")) == [
        "getForecast",
        "cancel_flight",
    ]
    assert names(search.search("bill", message="What will the weather be?")) == ["pay_invoice", "getForecast"]
    with pytest.raises(TypeError, match="message must be a string, not"):
        search.search("bill", message=3)


def test_vectors_are_asked_about_the_message_too():
    asked = []

    def embed(texts):
        asked.append(texts[0])
        return by_topic(texts)

    found = ToolSearch(TOOLS, embed=embed).search("Acme", message="I have no umbrella")
    assert "getForecast" in names(found)[:2]
    assert asked == ["Acme\nI have no umbrella", "Acme"]


# --- switches, hidden tools, hooks --------------------------------------------------------------


def test_a_tool_that_is_switched_off_is_neither_found_nor_offered_nor_run():
    search, history = ToolSearch(TOOLS), Transcript()
    searched(search, history, "bill")
    search.switch(pay_invoice, enabled=False)
    assert search.search("bill") == []
    assert search.offer(history).names == ("search_tools",)
    assert Executor(search).run_sync(RawCall("1", "pay_invoice", {"invoice_id": "7"})).code == "disabled"
    search.switch(pay_invoice, enabled=True)
    assert search.offer(history).names == ("search_tools", "pay_invoice")


def test_a_switch_gets_the_context_of_the_search():
    search = ToolSearch(
        Toolset(TOOLS).switch(pay_invoice, enabled=lambda context: context.get("role") == "clerk")
    )
    call = RawCall("1", "search_tools", {"query": "bill"})
    executor = Executor(search)
    assert executor.run_sync(call, context={"role": "guest"}).json["tools"] == []
    assert executor.run_sync(call, context={"role": "clerk"}).json["tools"][0]["name"] == "pay_invoice"
    assert names(search.search("bill", context={"role": "clerk"})) == ["pay_invoice"]


def test_a_tool_that_the_toolset_hides_is_not_found():
    search = ToolSearch(Toolset(TOOLS).hide(pay_invoice))
    assert search.search("bill") == []
    assert search.offer([], also=pay_invoice).names == ("search_tools", "pay_invoice")


def test_hooks_hold_for_the_search_and_for_what_it_found():
    @hook("pay_invoice")
    def no_payments(_):
        return Reject("not today")

    @hook("search_tools")
    def no_secrets(call):
        return Reject("not that") if "secret" in call.input.query else None

    search, history = ToolSearch(Toolset(TOOLS, hooks=no_payments)), Transcript()
    executor = Executor(search, hooks=no_secrets)
    assert executor.run_sync(RawCall("1", "search_tools", {"query": "secret"})).code == "rejected"
    searched(search, history, "bill")
    done = executor.run_sync(search.offer(history).round([RawCall("2", "pay_invoice", {"invoice_id": "7"})]))
    assert done.rejected[0].reason == "not today"


def test_a_search_whose_query_a_hook_changed_finds_tools_too():
    @hook("search_tools")
    def for_bills(call):
        return RunNormally(call.tool.decode({"query": "bill"}))

    search, history = ToolSearch(Toolset(TOOLS)), Transcript()
    executor = Executor(search, hooks=for_bills)
    sent = search.offer(history).round([RawCall("1", "search_tools", {"query": "invoice?"})])
    turn = executor.run_sync(sent).commit(history)
    assert turn.results[0].content.startswith("The program changed query before it ran.\n{")
    assert "pay_invoice" in search.offer(history).names


# --- a catalogue that changes -------------------------------------------------------------------


def test_a_tool_that_changes_after_it_was_found_is_offered_as_it_is_now():
    search, history = ToolSearch(TOOLS), Transcript()
    searched(search, history, "bill")
    search.unregister(pay_invoice)
    assert search.offer(history).names == ("search_tools",)

    @tool(name="pay_invoice")
    def newer(invoice_id: str, amount: int) -> str:
        """Settle a bill, or a part of it."""
        return f"{invoice_id}: {amount}"

    search.register(newer)
    (_, definition) = search.offer(history).definitions()
    assert list(definition["input_schema"]["properties"]) == ["invoice_id", "amount"]
    assert names(search.offered()) == ["search_tools", "pay_invoice"]  # found it stays
    assert names(search.search("part")) == ["pay_invoice"]


def test_tools_that_come_later_have_to_be_found():
    search = ToolSearch(who_am_i, always=who_am_i)
    search.register(pay_invoice)
    search.update(lambda tools: Toolset(tools, cancel_flight))
    assert names(search.offered()) == ["search_tools", "who_am_i"]
    assert names(search.search("journey")) == ["cancel_flight"]


def test_an_update_keeps_what_is_always_there_and_what_was_found():
    search = ToolSearch(TOOLS, always=who_am_i)
    Executor(search).run_sync(RawCall("1", "search_tools", {"query": "bill"}))
    search.update(lambda tools: tools.prefix("x_"))
    assert names(search.offered()) == ["x_search_tools", "x_who_am_i", "x_pay_invoice"]
    result = Executor(search).run_sync(RawCall("1", "x_search_tools", {"query": "weather"}))
    assert result.json["tools"][0]["name"] == "x_getForecast"


def test_adding_a_tool_or_a_switch_changes_no_byte_of_the_tools_before_it():
    search, history = ToolSearch(TOOLS, always=who_am_i), Transcript()
    searched(search, history, "weather")
    searched(search, history, "bill", "2")

    def sent():
        offer = search.offer(history)
        return [repr(one) for name in (openai_chat, anthropic) for one in name.request(offer)["tools"]]

    before, half = sent(), len(sent()) // 2

    @tool
    def aaa_newest(weather: str) -> str:
        """Say something about the weather, the bill and the flight."""
        return weather

    search.register(aaa_newest)
    assert sent() == before
    search.switch(cancel_flight, enabled=False)
    assert sent() == before
    searched(search, history, "flight", "3")  # finds the newest
    after = sent()
    middle = len(after) // 2
    assert middle > half
    assert (after[:half], after[middle : middle + half]) == (before[:half], before[half:])
    search.switch(get_forecast, enabled=False)
    assert sent()[:2] == before[:2]


# --- without rounds -----------------------------------------------------------------------------


def test_what_takes_a_registry_lists_what_was_found_and_hears_of_it():
    search = ToolSearch(TOOLS, always=who_am_i)
    changes = []
    search.on_change(changes.append)
    executor = Executor(search)
    assert names(search.offered()) == ["search_tools", "who_am_i"]
    executor.run_sync(RawCall("1", "search_tools", {"query": "bill"}))
    assert names(search.offered()) == ["search_tools", "who_am_i", "pay_invoice"]
    assert [change.switched for change in changes] == [("pay_invoice",)]
    executor.run_sync(RawCall("1", "search_tools", {"query": "bill"}))
    assert len(changes) == 1  # nothing new
    assert search.found == ("pay_invoice",)
    assert openai_chat.request(search)["tools"][-1]["function"]["name"] == "pay_invoice"


def test_a_tool_is_hidden_until_it_is_found():
    search = ToolSearch(TOOLS, always=who_am_i)
    hidden = [search.is_hidden(name) for name in ("who_am_i", "pay_invoice", "getForecast")]
    assert hidden == [False, True, True]
    Executor(search).run_sync(RawCall("1", "search_tools", {"query": "bill"}))
    hidden = [search.is_hidden(name) for name in ("who_am_i", "pay_invoice", "getForecast")]
    assert hidden == [False, False, True]


def test_a_search_decides_what_is_listed_and_not_what_may_be_called():
    search = ToolSearch(TOOLS)
    assert not search.is_offered("pay_invoice")
    assert search.is_enabled("pay_invoice")
    assert Executor(search).run_sync(RawCall("1", "pay_invoice", {"invoice_id": "7"})).content == "paid 7"


def test_each_conversation_may_have_a_registry_of_its_own():
    search, history = ToolSearch(TOOLS), Transcript()
    searched(search, history, "bill")
    mine, yours = search.for_conversation(history), search.for_conversation()
    Executor(yours).run_sync(RawCall("1", "search_tools", {"query": "weather"}))
    assert (mine.found, yours.found, search.found) == (("pay_invoice",), ("getForecast",), ("pay_invoice",))


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda search: pickle.loads(pickle.dumps(search))])
def test_a_copy_searches_for_itself(copied):
    search = ToolSearch(TOOLS, about="bills and weather")
    Executor(search).run_sync(RawCall("1", "search_tools", {"query": "bill"}))
    other = copied(search)
    assert (other.names[0], other.found) == ("search_tools", ("pay_invoice",))
    assert other["search_tools"].description == search["search_tools"].description
    Executor(other).run_sync(RawCall("1", "search_tools", {"query": "weather"}))
    assert (other.found, search.found) == (("pay_invoice", "getForecast"), ("pay_invoice",))


def test_a_copy_keeps_the_switch_of_the_search_tool_and_that_it_is_gone():
    search = ToolSearch(TOOLS)
    search.switch("search_tools", enabled=False)
    assert names(copy(search).offered()) == []
    search.unregister("search_tools")
    assert "search_tools" not in copy(search)


def test_in_another_set_of_tools_it_is_its_tools_alone():
    search = ToolSearch(TOOLS, always=who_am_i)
    assert set(Toolset(search).names) == set(names(TOOLS))
    assert names(Registry(search).offered()) == list(Toolset(search).names)


def test_many_threads_may_search_at_once():
    many = [who_am_i.with_(name=f"tool_{number}", summary=f"Do thing{number:03d}.") for number in range(64)]
    search, start = ToolSearch(many), Barrier(8)
    executor = Executor(search)

    def work(first):
        start.wait()
        for number in range(first, 64, 8):
            executor.run_sync(RawCall("1", "search_tools", {"query": f"thing{number:03d} {number:03d}"}))

    threads = [Thread(target=work, args=(first,)) for first in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(search.found) == len(set(search.found)) >= 5
    assert len(search) == 65
    assert names(search.offered()) == ["search_tools", *search.found]


def test_a_prefix_looks_in_one_namespace():
    search = ToolSearch(Toolset(pay_invoice).prefix("a_"), Toolset(pay_invoice).prefix("b_"))
    result = searched(search, Transcript(), "bill", prefix="b_")
    assert [one["name"] for one in result.json["tools"]] == ["b_pay_invoice"]


NAMES = 'Names begin with "github_", "slack_". Without a prefix, all are searched.'


@pytest.mark.parametrize(
    ("prefix", "note"),
    [
        ("githb_", f'No name of a tool begins with "githb_": did you mean "github_"? {NAMES}'),
        ("zzz", f'No name of a tool begins with "zzz". {NAMES}'),
        ("github_", "No tool fits these words. Try others: say what has to be done, and with what."),
        ("", "No tool fits these words. Try others: say what has to be done, and with what."),
    ],
)
def test_a_search_with_an_unknown_prefix_is_told_which_there_are(prefix, note):
    two = Toolset(pay_invoice, who_am_i)
    hidden = two.prefix("secret_").with_(enabled=False)
    search = ToolSearch(two.prefix("github_"), Toolset(who_am_i).prefix("slack_"), hidden)
    result = searched(search, Transcript(), "zebra", prefix=prefix)
    assert result.json == {"tools": [], "note": note}


def test_a_search_among_names_without_prefixes_says_that_none_begins_so():
    found = searched(ToolSearch(who_am_i.with_(name="whoami")), Transcript(), "user", prefix="x" * 500)
    assert found.json["note"].startswith('No name of a tool begins with "xxx')
    assert found.json["note"].endswith('…". Without a prefix, all are searched.')
    assert len(found.json["note"]) < 250


@pytest.mark.parametrize("wrong", [5, None, b"user", ["user"]])
def test_a_query_and_a_prefix_are_strings(wrong):
    search = ToolSearch(who_am_i)
    with pytest.raises(TypeError, match="a query must be a string, not "):
        search.search(wrong)
    with pytest.raises(TypeError, match="prefix must be a string, not "):
        search.search("user", prefix=wrong)


def test_a_search_finds_so_many_at_most():
    many = [who_am_i.with_(name=f"tool_{number}") for number in range(9)]
    assert names(ToolSearch(many, most=3).search("user")) == ["tool_0", "tool_1", "tool_2"]
    assert len(ToolSearch(many).search("user")) == 5


def test_a_query_is_bounded():
    for query in ("", "x" * 2001):
        result = Executor(ToolSearch(TOOLS)).run_sync(RawCall("1", "search_tools", {"query": query}))
        assert result.code == "invalid_params"
    assert searched(ToolSearch(TOOLS), Transcript(), "weather".ljust(2000)).json["tools"]


# --- vectors ------------------------------------------------------------------------------------


def by_topic(texts):
    """Give texts about money, weather and travel a direction each; a model would do it better."""
    topics = (("money", "bill"), ("weather", "umbrella"), ("journey", "trip"))
    return [[float(any(word in text.lower() for word in words)) for words in topics] for text in texts]


def test_vectors_find_what_words_do_not():
    asked = []

    def embed(texts):
        asked.append(len(texts))
        return by_topic(texts)

    search = ToolSearch(TOOLS, embed=embed)
    assert ToolSearch(TOOLS).search("umbrella") == []
    assert names(search.search("umbrella"))[0] == "getForecast"
    assert names(search.search("money"))[0] == "pay_invoice"
    assert asked == [5, 1]  # the vectors of the tools are made once
    search.register(who_am_i.with_(name="other", summary="Plan a trip."))
    search.search("journey")
    assert asked == [5, 1, 2]


def test_a_tool_that_fits_by_words_and_by_vectors_is_first():
    search = ToolSearch(TOOLS, embed=by_topic)
    assert names(search.search("trip with the booking of a weather journey"))[0] == "cancel_flight"


@pytest.mark.parametrize(
    "embed",
    [
        lambda _: 1 / 0,
        lambda _: [],
        lambda texts: [[1.0]] * (len(texts) - 1),
        lambda texts: [[1.0] * (1 + number % 2) for number, _ in enumerate(texts)],
        lambda texts: ["x" for _ in texts],
        lambda _: None,
    ],
)
def test_if_embed_fails_words_alone_decide(embed, caplog):
    with caplog.at_level(logging.WARNING, "operator_schema"):
        assert names(ToolSearch(TOOLS, embed=embed).search("bill")) == ["pay_invoice"]
    assert "embed failed" in caplog.text


# --- wrong use ----------------------------------------------------------------------------------


def test_options_are_checked():
    async def later(texts):
        return texts

    for embed in (later, 3):
        with pytest.raises(TypeError, match="embed must be a plain function"):
            ToolSearch(TOOLS, embed=embed)
    for most in (0, True, 1.5):
        with pytest.raises(ValueError, match="most must be a positive integer, not"):
            ToolSearch(TOOLS, most=most)
    with pytest.raises(ToolNotFoundError, match="who_am_i"):
        ToolSearch(TOOLS, always="who_am_y")
    with pytest.raises(DuplicateToolError, match="search_tools"):
        ToolSearch(who_am_i.with_(name="search_tools"))
    assert ToolSearch(who_am_i.with_(name="search_tools"), name="find_tools").names == (
        "find_tools",
        "search_tools",
    )


def test_what_is_there_to_find_goes_to_the_description():
    assert "tools of GitHub" in ToolSearch(TOOLS, about="tools of GitHub")["search_tools"].description


# --- budgets ------------------------------------------------------------------------------------


def test_an_offer_keeps_within_a_number_of_tokens_and_says_what_is_left_out():
    toolset = Toolset(TOOLS)
    every = toolset.offer(max_tokens=100_000)
    assert (every.names, every.left_out) == (toolset.names, ())
    assert every == toolset.offer()
    few = toolset.offer(max_tokens=110)
    assert few.left_out
    assert set(few.names) | set(few.left_out) == set(toolset.names)
    assert [name for name in toolset.names if name in few.names] == list(few.names)
    none = toolset.offer(max_tokens=1)
    assert (none.names, none.left_out, none.choice.mode) == ((), toolset.names, "none")


def test_the_tool_that_is_required_has_room_first():
    toolset = Toolset(TOOLS)
    for room in range(40, 200, 20):
        try:
            offer = toolset.offer(max_tokens=room, required="who_am_i")
        except OfferError as error:
            assert "alone takes more than max_tokens" in str(error)
            continue
        assert "who_am_i" in offer.names
    with pytest.raises(OfferError, match="max_tokens has room for none"):
        toolset.offer(max_tokens=1, required="any")
    with pytest.raises(OfferError, match="alone takes more than max_tokens"):
        toolset.offer(max_tokens=1, required="who_am_i")


def test_a_call_of_a_tool_that_is_left_out_is_an_issue():
    offer = Toolset(TOOLS).offer(max_tokens=1)
    assert offer.round([RawCall("1", "who_am_i", {})]).issues[0].result.code == "not_available"


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "9"])
def test_a_number_of_tokens_is_a_positive_integer(most):
    with pytest.raises(ValueError, match="max_tokens must be a positive integer or None, not"):
        Toolset(TOOLS).offer(max_tokens=most)


def test_descriptions_of_the_request_count():
    toolset = Toolset(who_am_i)
    assert toolset.offer(max_tokens=60).names == ("who_am_i",)
    assert toolset.offer(max_tokens=60, descriptions={"who_am_i": "word " * 100}).left_out == ("who_am_i",)


def test_of_what_was_found_the_last_has_room_first():
    search, history = ToolSearch(TOOLS), Transcript()
    searched(search, history, "weather")
    searched(search, history, "bill", "2")
    whole = search.offer(history)
    assert whole.names == ("search_tools", "getForecast", "pay_invoice")
    tight = [search.offer(history, max_tokens=room) for room in range(1, 400)]
    both = [offer.names for offer in tight]
    assert ("search_tools", "pay_invoice") in both
    assert ("search_tools", "getForecast") not in both
    assert both[-1] == whole.names


def test_an_offer_with_things_left_out_is_a_value():
    offer = Toolset(TOOLS).offer(max_tokens=60)
    assert offer == Toolset(TOOLS).offer(max_tokens=60) != Toolset(TOOLS).offer()
    assert deepcopy(offer).left_out == offer.left_out


def test_rounds_of_a_search_can_be_saved_and_restored():
    search, history = ToolSearch(TOOLS), Transcript()
    searched(search, history, "bill")
    sent = search.offer(history).round([RawCall("2", "pay_invoice", {"invoice_id": "7"})])
    again = ToolSearch(TOOLS).toolset.restore_round(sent.as_dict())
    done = asyncio.run(Executor(search).run(again))
    assert done.handled[0].content == "paid 7"


def test_it_says_how_many_tools_it_has_and_found():
    search = ToolSearch(TOOLS)
    assert repr(search) == "<ToolSearch of 5, 0 found>"
    assert repr(ToolSearch()) == "<ToolSearch of 1, 0 found>"
    assert ToolSearch().search("anything") == []


def test_of_a_huge_schema_only_a_part_is_read(monkeypatch):
    def never(**_: object) -> None:
        """Do it."""

    words = [first + second for first in "bdfgjkmp" for second in "bdfgjkmp"]
    parts = {f"p{word}": {"description": f"x{word}x"} for word in words}
    made = document_tool(never, {"type": "object", "properties": parts}, name="huge", summary="Huge.")
    monkeypatch.setattr(tool_index, "_MOST_PARTS", 10)
    search = ToolSearch(made)
    assert 0 < sum(bool(search.search(f"x{word}x")) for word in words) < len(words)
    assert names(search.search("huge")) == ["huge"]


# --- all of them offered, for a provider that loads what is found ---------------------------------


def test_all_tools_are_offered_deferred_and_nothing_moves_when_one_is_found():
    search = ToolSearch(Toolset(pay_invoice, get_forecast, cancel_flight), always=get_forecast)
    transcript = Transcript(["Pay invoice 17."])
    offer = search.offer(transcript, deferred=True)
    assert offer.names == ("search_tools", "getForecast", "cancel_flight", "pay_invoice")
    assert offer.deferred == ("cancel_flight", "pay_invoice")
    call = RawCall("1", "search_tools", {"query": "settle a bill"})
    Executor(search).run_sync(offer.round([call])).commit(transcript)
    assert search.offer(transcript).names == ("search_tools", "getForecast", "pay_invoice")
    again = search.offer(transcript, deferred=True)
    assert (again.names, again.deferred) == (offer.names, offer.deferred)
    search.switch(pay_invoice, enabled=False)
    assert search.offer(transcript, deferred=True).names == ("search_tools", "getForecast", "cancel_flight")


def test_hidden_tools_are_not_deferred():
    search = ToolSearch(Toolset(pay_invoice, cancel_flight).hide(cancel_flight))
    assert search.offer([], deferred=True).deferred == ("pay_invoice",)


def test_a_required_tool_is_never_deferred():
    search = ToolSearch(Toolset(pay_invoice, cancel_flight))
    offer = search.offer([], deferred=True, required=pay_invoice)
    assert (offer.deferred, offer.choice.name) == (("cancel_flight",), "pay_invoice")
    assert search.offer([], deferred=True, required="any").deferred == ("cancel_flight", "pay_invoice")


def test_deferred_says_whether():
    with pytest.raises(TypeError, match='deferred must be True or False, not "pay_invoice"'):
        ToolSearch(Toolset(pay_invoice)).offer([], deferred="pay_invoice")


# --- one set of tools, and several conversations without history -------------------------------------


def test_what_a_conversation_finds_is_listed_for_it_alone():
    search, told = ToolSearch(TOOLS, always=who_am_i), []
    mine, others = FoundTools(lambda: told.append(mine.names)), FoundTools()
    executor = Executor(search)
    call = RawCall("1", "search_tools", {"query": "bill"})
    executor.run_sync(call, context={FoundTools: mine})
    assert told == [("pay_invoice",)]
    executor.run_sync(call, context={FoundTools: mine})
    assert told == [("pay_invoice",)]  # the second search found nothing new
    assert names(search.offered(context={FoundTools: mine})) == ["search_tools", "who_am_i", "pay_invoice"]
    assert names(search.offered(context={FoundTools: others})) == ["search_tools", "who_am_i"]
    assert names(search.offered()) == ["search_tools", "who_am_i"]
    assert search.found == ()


def test_what_a_conversation_has_found_may_be_gone_or_switched_off_by_now():
    search, mine = ToolSearch(TOOLS, always=who_am_i), FoundTools()
    mine.add(["pay_invoice", "getForecast", "who_am_i", "no_such_tool"])
    search.switch(get_forecast, enabled=False)
    assert names(search.offered(context={FoundTools: mine})) == ["search_tools", "who_am_i", "pay_invoice"]


LONG = 1_000_000


def echo(given):
    return str(given)


@pytest.mark.parametrize(
    "description",
    [
        "x" * LONG,
        "Pay a bill. " * (LONG // 12),
        "pay bill " * (LONG // 9),
        "pay\nbill\n" * (LONG // 9),
        "é." * LONG,
    ],
)
@pytest.mark.parametrize("place", ["description", "parameters"])
def test_a_description_of_a_megabyte_takes_no_hit_from_the_others(description, place):
    about = description if place == "description" else "Pay a bill."
    properties = {
        "bill": {"type": "string", "description": description[:50_000] if place == "parameters" else "A bill"}
    }
    huge = document_tool(
        echo,
        {"type": "object", "properties": properties},
        name="huge_bill",
        description=about,
    )
    others = [
        document_tool(
            echo,
            {"type": "object"},
            name=f"bill_{number}",
            description="Pay a bill of a supplier.",
        )
        for number in range(9)
    ]
    search = ToolSearch(huge, *others, most=10)
    answer = Executor(search).run_sync(RawCall("1", "search_tools", {"query": "huge bill"})).content
    shown = json.loads(answer)["tools"]
    assert {one["name"] for one in shown} == {"huge_bill", *(other.name for other in others)}
    assert max(len(one["description"]) for one in shown) <= 500
    assert len(answer) < 10_000
    read = tool_index.read_tool(huge, TermReader())
    kept = [read.name, read.about, read.sentences, read.others, read.text]
    assert sum(map(len, kept)) <= 3 * tool_index._MOST_CHARACTERS
    assert tool_index.read_tool(huge, TermReader()) is read
    assert len(tool_index.text_for_vector(huge)) <= tool_index._MOST_CHARACTERS + 100
