"""A call of a tool that isn't offered: the text shows the call that is meant, and `repair=True` reads it."""

from __future__ import annotations

import json
import logging
import pickle
import re
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_schema import (
    DecodeError,
    Defer,
    Executor,
    NeedsInput,
    RawCall,
    Registry,
    Toolset,
    Transcript,
    hook,
    skip,
    tool,
)
from operator_schema.providers import anthropic, gemini, ollama, openai_chat, openai_responses
from operator_schema.rounds import SqliteStore, stored_records
from operator_schema.rounds.near_tools import _nearest, meant_tool, near_names
from operator_schema.testing import ScriptedModel, playback, record
from operator_schema.tools import document_tool

pytestmark = pytest.mark.needs_threads

ran: list[object] = []


@pytest.fixture(autouse=True)
def nothing_ran():
    ran.clear()


@tool
def stock_price(symbol: str, days: int = 1) -> str:
    """Get a price."""
    ran.append((symbol, days))
    return f"{symbol}: {days}"


@tool
def cancel_order(order_id: int) -> str:
    """Cancel an order."""
    ran.append(order_id)
    return "cancelled"


CALL = {"symbol": "ACME"}
SEND = '\nsend: {"name": "stock_price", "arguments": {"symbol": "ACME"}}'
plain = Toolset(stock_price, cancel_order)
repairing = plain.with_(repair=True)


def decided(toolset, name, arguments, **options):
    """Return the one call of a round."""
    (call,) = toolset.offer().round([RawCall("1", name, arguments, **options)]).calls
    return call


def run(toolset, name, arguments):
    return Executor(toolset).run_sync(RawCall("1", name, arguments))


# --- which names are near ------------------------------------------------------------------------

NEAR = [
    *("functions.stock_price", "functions/stock_price", "default_api.stock_price", "mcp__maths__stock_price"),
    *(
        "maths:stock_price",
        "stock_price_tool",
        "tool_stock_price",
        "functionStockPrice",
        "StockPrice",
        "STOCK_PRICE",
    ),
    *(
        "stock-price",
        "stock.price",
        "stock price",
        "stockprice",
        "stock/price",
        "stock__price",
        "Stock Price",
    ),
    *("functions.stock_price<|channel|>commentary", "functions.stock_price:0", "tools/stockPrice_tool"),
]
"""The name of the tool, written in another way."""

ONLY_SHOWN = [
    *("stok_price", "stock_prcie", "stocks_price", "stock_proce", "sotck_price", "functions.stok_price"),
    *("get_stock_price", "getStockPrice", "call_stock_price", "api_stock_price", "functions.get_stock_price"),
    *("get.stock_price", "call/stock_price", "functions.get.stock_price"),
]
"""Names that may be slips, or those of other tools."""


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("arguments", [CALL, json.dumps(CALL), json.dumps(CALL).encode()])
def test_the_text_shows_the_whole_call_and_repair_reads_it(name, arguments):
    for found in (decided(plain, name, arguments), run(plain, name, arguments)):
        assert found.code == "tool_not_found"
        assert found.content == f'tool "{name}" not found; did you mean "stock_price"?{SEND}'
    call, result = decided(repairing, name, arguments), run(repairing, name, arguments)
    assert (call.name, call.raw.sent_name, call.state) == ("stock_price", name, "pending")
    assert (result.name, result.content) == (name, "ACME: 1")
    for details in (call.details, result.details):
        assert [str(note) for note in details["repairs"]] == [f'"{name}" read as "stock_price" (name)']
    assert ran == [("ACME", 1)]


@pytest.mark.parametrize("name", ONLY_SHOWN)
@pytest.mark.parametrize("tools", [plain, repairing])
def test_a_name_that_may_be_another_word_is_shown_and_never_read(name, tools):
    for found in (decided(tools, name, CALL), run(tools, name, CALL)):
        assert found.code == "tool_not_found"
        assert found.content == f'tool "{name}" not found; did you mean "stock_price"?{SEND}'
    assert not ran


HISTORIES = Path(__file__).parents[1] / "workbench" / "compare" / "histories"
RECORDED = sorted(
    {
        one["name"]
        for path in HISTORIES.glob("*/*.json")
        for one in json.loads(path.read_text(encoding="utf-8"))["tools"]
    }
)
ANOTHER_WORD = ["get_", "call_", "api_", "un", "re", "no_", "dry_run_", "set_"]


def test_repair_reads_no_name_of_other_words():
    """Each name of the recorded tools, as a call of each other one, and with slips and words more."""
    assert len(RECORDED) > 50

    def is_read(written, other):
        return _nearest(written, [other], {})[0]

    def letters(text):
        return re.sub("[^a-z0-9]", "", text.lower())

    for name in RECORDED:
        slips = [name[:at] + name[at + 1 :] for at, letter in enumerate(name) if letter.isalnum()]
        slips += [name[:at] + "q" + name[at:] for at in range(1, len(name))]
        slips += [before + name for before in ANOTHER_WORD] + [f"{name}_all", f"{name}_v2"]
        others = [other for other in RECORDED if letters(other) != letters(name)]
        assert [one for one in [*others, *slips] if is_read(one, name)] == []


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("unlock_door", ["lock_door"]),
        ("lock_door", ["unlock_door"]),
        ("mark_unread", ["mark_read"]),
        ("markunread", ["markread"]),
        ("get_item", ["set_item"]),
        ("import_file", ["export_file"]),
        ("heal_box", ["seal_box"]),
        ("enable_user", ["disable_user"]),
        ("switch_light_on", ["switch_light_off"]),
        ("include_all", ["exclude_all"]),
        ("dry_run_deploy", ["deploy"]),
        ("undo_transfer", ["transfer"]),
        ("delete_file_lock", ["delete_file"]),
        ("read_v1", ["read_v2"]),
        ("read_v1_2", ["read_v12"]),
        ("shop.order", ["bank.order"]),
        ("gitlab__create_issue", ["github__create_issue"]),
        ("ad", ["add"]),
        ("get_tool", ["call"]),
        ("price", ["stock_price"]),
        ("stock_price" + "x" * 200, ["stock_price"]),
        ("", ["add"]),
        ("...", ["add", "___"]),
        ("<|channel|>", ["channel"]),
        ("stock_price", []),
    ],
)
def test_another_word_is_never_near(name, names):
    """`dry_run_deploy` isn't `deploy`, whatever the arguments."""
    assert near_names(name, names) == []


@pytest.mark.parametrize(
    ("name", "names", "near"),
    [
        ("getUser", ["get_user", "user", "get_users"], ["get_user"]),
        ("get_usr", ["get_user", "user", "get_users"], ["get_user", "user"]),
        ("add", ["one__add", "two__add"], ["one__add", "two__add"]),
        ("one.add", ["one__add", "two__add"], ["one__add"]),
        ("functions.get_user", ["get_user", "user", "get_users"], ["get_user"]),
        ("functions.get_usr", ["get_user", "user", "get_users"], ["get_user", "user"]),
        ("USER", ["user", "User"], ["User", "user"]),
        ("größe_lesen", ["groesse_lesen", "Größe-lesen"], ["Größe-lesen"]),
    ],
)  # fmt: skip
def test_a_name_that_differs_only_in_its_writing_is_the_nearest(name, names, near):
    for order in permutations(names):
        assert near_names(name, order) == near


# --- which tool is meant -------------------------------------------------------------------------


def test_two_near_tools_that_take_the_arguments_are_neither():
    two = Toolset(stock_price, stock_price.with_(name="stockPrice")).with_(repair=True)
    for found in (decided(two, "StockPrice", CALL), run(two, "StockPrice", CALL)):
        assert found.content == 'tool "StockPrice" not found; did you mean "stockPrice" or "stock_price"?'
    assert not ran


def test_the_arguments_say_which_of_two_near_tools_is_meant():
    two = Toolset(stock_price, cancel_order.with_(name="stockPrice"))
    assert decided(two, "StockPrice", CALL).content.endswith(SEND)
    assert run(two.with_(repair=True), "StockPrice", CALL).content == "ACME: 1"
    (call,) = two.with_(repair=True).offer().round([RawCall("1", "StockPrice", {"order_id": "5"})]).calls
    assert (call.name, call.input.order_id) == ("stockPrice", 5)
    assert [note.code for note in call.details["repairs"]] == ["name", "scalar"]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"days": 3}, {**CALL, "currency": "USD"}, {"symbol": {}}, [], "5", "{", None, {"x": {}}],
)
def test_a_tool_that_does_not_take_the_arguments_is_not_meant(arguments):
    """Also not where it would ignore some of them."""
    for tools in (plain, repairing):
        for ask in (decided, run):
            found = ask(tools, "functions.stock_price", arguments)
            assert found.content == 'tool "functions.stock_price" not found; did you mean "stock_price"?'
    assert not ran


@pytest.mark.parametrize("arguments", [{"orderId": "5"}, {"input": {"order_id": "5"}}, '{"order_id": "5"}'])
def test_arguments_that_need_corrections_are_shown_with_them(arguments):
    for ask in (decided, run):
        found = ask(plain, "cancelOrder", arguments)
        assert found.content.endswith('\nsend: {"name": "cancel_order", "arguments": {"order_id": 5}}')
        assert ask(repairing, "cancelOrder", arguments).code is None


def test_a_call_with_a_misspelt_key_that_is_kept_is_not_shown():
    """A document's object takes any key, so nothing says that this one was meant for a field."""
    schema = {"type": "object", "properties": {"zip_code": {"type": "string"}}}
    search = document_tool(lambda **arguments: "found", schema, name="search", description="Search.")
    for key, is_shown in (("zip_code_value", False), ("zipCod", False), ("zip_code", True), ("other", True)):
        assert ("send:" in run(Toolset(search), "functions.search", {key: "1"}).content) is is_shown


@dataclass
class Address:
    city: str
    zip_code: str | None = None


@tool
def submit(name: str, zip_code: str | None = None, age: int = 0, home: Address | None = None) -> str:
    """Submit a form."""
    return "done"


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("fields", ["ignore", "reject"])
@pytest.mark.parametrize("more", [{}, {"age": "5"}, {"age": 5, "zip_code": None}, {"zzz": 1}])
@pytest.mark.parametrize("key", ["zip_code_value", "zipCode", "zip_cod"])
@pytest.mark.parametrize("wrap", [lambda given: given, lambda given: {"input": given}, json.dumps])
def test_the_call_to_send_has_no_key_that_the_tool_would_ignore(repair, fields, more, key, wrap):
    """A key that is nearly that of a parameter gets its name, or there is no such call."""
    tools = Toolset(submit.with_(repair=repair, unknown_fields=fields))
    for sent_key in ({key: "62701"}, {"home": {"city": "Oslo", key: "62701"}}):
        call = decided(tools, "functions.submit", wrap({"name": "a", **sent_key, **more}))
        _, line, sent = (call.content or "").partition("\nsend: ")
        assert not line or f'"{key}"' not in sent
        assert not line or submit.exact().decode_report(json.loads(sent)["arguments"]).ignored == ()
        assert call.state != "pending" or "62701" in repr(call.input)


def test_a_call_that_was_cut_off_means_no_tool():
    for tools in (plain, repairing):
        found = decided(tools, "functions.stock_price", CALL, is_cut_off=True)
        assert found.content == 'tool "functions.stock_price" not found; did you mean "stock_price"?'
        result = Executor(tools).run_sync(RawCall("1", "functions.stock_price", CALL, is_cut_off=True))
        assert result.code == "cut_off"


def test_a_prefix_may_be_left_out_if_that_is_the_name_of_one_tool_alone():
    one = Toolset(Toolset(stock_price).prefix("bank_"), cancel_order.with_(name="bank_order")).with_(
        repair=True
    )
    assert decided(one, "stockPrice", CALL).name == "bank_stock_price"
    assert run(Registry(one), "functions.bank_stock_price", CALL).content == "ACME: 1"
    assert run(Registry(one), "stock_price", CALL).content == "ACME: 1"
    assert "send:" not in decided(one, "order", {"order_id": 5}).content  # that was never its name
    two = Toolset(one, Toolset(stock_price).prefix("shop_")).with_(repair=True)
    assert '"bank_stock_price" or "shop_stock_price"?' in decided(two, "stock_price", CALL).content


def test_a_tool_that_takes_the_arguments_as_they_are_goes_before_one_that_needs_corrections():
    """Also where no tool repairs calls."""

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return "paid"

    @tool(name="Pay")
    def pay_text(amount: str) -> str:
        """Pay, too."""
        return "paid"

    for tools in (Toolset(pay, pay_text), Toolset(pay_text, pay).with_(repair=True)):
        near = meant_tool(RawCall("1", "PAY", {"amount": 5}), {one.name: one for one in tools}, tools)
        assert near is None or near.tool.name == "pay"
    exact = Toolset(pay, pay_text)
    assert decided(exact, "PAY", {"amount": 5}).content.endswith(
        'send: {"name": "pay", "arguments": {"amount": 5}}'
    )


def test_too_many_near_tools_are_none():
    names = [f"server{number}__stock_price" for number in range(9)]
    many = Toolset(*[stock_price.with_(name=name, repair=True) for name in names])
    assert "send:" not in decided(many, "stock_price", CALL).content


def test_only_tools_that_the_request_offers_are_meant():
    hidden = repairing.hide(stock_price)
    assert "send:" not in decided(hidden, "functions.stock_price", CALL).content
    off = repairing.switch(stock_price, enabled=False)
    assert "send:" not in run(off, "functions.stock_price", CALL).content
    assert decided(hidden, "stock_price", CALL).code == "not_available"
    assert run(off, "stock_price", CALL).code == "disabled"
    assert not ran


def test_a_long_call_is_not_shown():
    long = {"symbol": "x" * 3_000}
    found = decided(plain, "functions.stock_price", long)
    assert found.content == 'tool "functions.stock_price" not found; did you mean "stock_price"?'
    assert decided(repairing, "functions.stock_price", long).state == "pending"


def test_an_executor_reads_nothing_into_calls_with_arguments_that_take_long():
    long = {"symbol": "x" * 100_000}
    assert run(repairing, "functions.stock_price", long).code == "tool_not_found"
    assert run(repairing, "stock_price", long).code is None


def test_a_class_that_fails_does_not_fit():
    class Failing:
        def __init__(self, x: int) -> None:
            raise ZeroDivisionError

    @tool
    def take(x: int) -> int:
        """Take it."""
        return x

    class Odd(dict):
        def items(self):
            raise ZeroDivisionError

    assert "send:" not in run(Toolset(take.with_(repair=True)), "take_tool", Odd(x=1)).content


# --- whose call has to be the model's own ---------------------------------------------------------

GUARDED = [{"destructive": True}, {"confirm": True}, {"destructive": True, "confirm": True}]


@pytest.mark.parametrize("said", GUARDED)
@pytest.mark.parametrize("confirm", [None, "run", lambda call: True])
def test_a_tool_that_is_destructive_or_asks_is_never_read(said, confirm):
    guarded = Toolset(stock_price.with_(repair=True, **said))
    executor = Executor(guarded, confirm=confirm)
    raw = RawCall("1", "functions.stock_price", CALL)
    work = executor.run_sync(guarded.offer().round([raw]))
    for found in (executor.run_sync(raw), executor.run_sync([raw])[0], work.calls[0]):
        assert found.code == "tool_not_found"
        assert found.content.endswith(SEND)
    assert not ran


def asks(call):
    return Defer("a person has to look at it")


@pytest.mark.parametrize("hooks", [asks, [asks, lambda call: None], hook(stock_price)(asks)])
@pytest.mark.parametrize("confirm", [None, "run", lambda call: True])
def test_nobody_is_asked_about_a_call_that_the_model_did_not_send(hooks, confirm):
    executor = Executor(repairing, hooks=hooks, confirm=confirm)
    raw = RawCall("1", "functions.stock_price", CALL)
    work = executor.run_sync(repairing.offer().round([raw]))
    assert (work.calls[0].state, work.calls[0].name) == ("issue", "functions.stock_price")
    for found in (executor.run_sync(raw), work.calls[0]):
        assert found.code == "tool_not_found"
        assert found.content == f'tool "functions.stock_price" not found; did you mean "stock_price"?{SEND}'
    assert not ran
    own = executor.run_sync(repairing.offer().round([RawCall("1", "stock_price", CALL)]))
    assert own.calls[0].state == ("handled" if callable(confirm) else "deferred")


def test_a_question_of_the_function_is_not_asked_either():
    @tool(repair=True)
    def pay(amount: int, sure: Annotated[bool | None, skip] = None) -> str:
        """Pay."""
        if sure is None:
            raise NeedsInput("Really?", parameter="sure")
        return "paid"

    tools = Toolset(pay)
    work = Executor(tools).run_sync(tools.offer().round([RawCall("1", "functions.pay", {"amount": 5})]))
    assert (work.calls[0].state, work.calls[0].code) == ("issue", "tool_not_found")
    assert work.calls[0].content.endswith('send: {"name": "pay", "arguments": {"amount": 5}}')
    own = Executor(tools).run_sync(tools.offer().round([RawCall("1", "pay", {"amount": 5})]))
    assert own.deferred[0].question.text == "Really?"


def test_hooks_of_the_tool_decide_about_a_call_that_is_read_as_one_of_it():
    seen = []

    @hook(stock_price)
    def look(call):
        seen.append((call.name, call.raw.sent_name))

    @hook.around(stock_price)
    def around(execution):
        seen.append(execution.work.name)

    executor = Executor(repairing, hooks=[look, around])
    raw = RawCall("1", "functions.stock_price", CALL)
    results = []
    executor.run_sync(raw, on_result=lambda call, result: results.append(call.name))
    executor.run_sync(repairing.offer().round([raw]))
    named = ("stock_price", "functions.stock_price")
    assert seen == ["stock_price", named, named, "stock_price"]
    assert results == ["stock_price"]


# --- arguments inside a wrapper -------------------------------------------------------------------

WRAPPED = [{"arguments": CALL}, {"input": json.dumps(CALL)}, {"stock_price": {"arguments": CALL}}]


@pytest.mark.parametrize("said", GUARDED)
@pytest.mark.parametrize("arguments", [*WRAPPED, json.dumps(WRAPPED[0])])
def test_a_tool_that_is_destructive_or_asks_takes_no_arguments_out_of_a_wrapper(said, arguments):
    guarded = stock_price.with_(repair=True, **said)
    executor = Executor(guarded, confirm="run")
    raw = RawCall("1", "stock_price", arguments)
    work = executor.run_sync(Toolset(guarded).offer().round([raw]))
    for found in (executor.run_sync(raw), work.calls[0]):
        assert found.code == "invalid_params"
        assert found.content.endswith('\nsend: {"symbol": "ACME"}')
    with pytest.raises(DecodeError):
        guarded.run(arguments)
    assert not ran
    assert executor.run_sync(RawCall("1", "stock_price", {"symbol": "A", "days": "2"})).content == "A: 2"
    assert guarded.run(CALL) == "ACME: 1"


def test_any_other_tool_does():
    for arguments in WRAPPED:
        assert run(repairing, "stock_price", arguments).content == "ACME: 1"
        assert run(repairing, "functions.stock_price", arguments).content == "ACME: 1"
        assert stock_price.with_(repair=True).run(arguments) == "ACME: 1"
        for ask in (decided, run):
            assert ask(plain, "functions.stock_price", arguments).content.endswith(SEND)


@pytest.mark.parametrize("arguments", WRAPPED)
@pytest.mark.parametrize("is_saved", [False, True])
def test_nobody_is_asked_about_arguments_in_a_wrapper(arguments, is_saved):
    executor = Executor(repairing, hooks=asks, confirm=lambda call: True)
    raw = RawCall("1", "stock_price", arguments)
    work = repairing.offer().round([raw])
    work = executor.run_sync(repairing.restore_round(work.as_dict()) if is_saved else work)
    for found in (work.calls[0], executor.run_sync(raw)):
        assert found.code == "invalid_params"
        assert found.content.endswith('\nsend: {"symbol": "ACME"}')
    assert not ran
    named = executor.run_sync(RawCall("1", "functions.stock_price", arguments))
    assert named.content.endswith(SEND)


# --- what is kept --------------------------------------------------------------------------------


def test_a_round_keeps_both_names():
    work = repairing.offer().round([RawCall("1", "functions.stock_price", CALL)])
    (call,) = repairing.restore_round(work.as_dict()).calls
    assert (call.name, call.raw.sent_name) == ("stock_price", "functions.stock_price")
    history = Transcript()
    turn = Executor(repairing).run_sync(work).commit(history)
    assert turn.calls == (RawCall("1", "stock_price", CALL, sent_name="functions.stock_price"),)
    assert turn.results[0].name == "stock_price"
    assert turn.as_dict()["calls"][0]["sent_name"] == "functions.stock_price"
    assert pickle.loads(pickle.dumps(turn)) == turn


@pytest.mark.parametrize("name", ["functions.\ud800stock_price", "functions.stock_price\x1b", "a" * 100])
def test_a_round_with_any_name_is_restored(name):
    raw = RawCall("1", "stock_price", CALL, sent_name=name)
    work = repairing.offer().round([raw])
    assert repairing.restore_round(json.loads(json.dumps(work.as_dict()))).calls[0].raw.sent_name == name


def test_a_changed_name_of_a_saved_round_is_noticed():
    saved = repairing.offer().round([RawCall("1", "functions.stock_price", CALL)]).as_dict()
    saved["calls"][0]["sent_name"] = 5
    with pytest.raises(ValueError, match="were changed"):
        repairing.restore_round(saved)


def test_the_issue_of_a_tool_that_is_gone_shows_the_near_one():
    saved = Toolset(stock_price.with_(name="stockPrice")).offer().round([RawCall("1", "stockPrice", CALL)])
    with pytest.raises(ValueError, match='tool "stockPrice" not found; did you mean "stock_price"') as caught:
        plain.restore_round(saved.as_dict())
    assert "ACME" not in str(caught.value)
    assert caught.value.round.issues[0].content.endswith(SEND)


def test_a_sent_name_is_text():
    assert repr(RawCall("1", "add", {}, sent_name="a")).endswith("arguments={}, sent_name='a')")
    with pytest.raises(TypeError, match="sent_name must be a string"):
        RawCall("1", "add", {}, sent_name=5)


# --- what is recorded ----------------------------------------------------------------------------


@dataclass
class Account:
    user: str
    password: str = field(metadata={"alias": "pin"})


@tool
def log_in(account: Account) -> str:
    """Log in."""
    return "welcome"


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("is_round", [False, True])
def test_a_recording_has_both_names_and_no_secret(tmp_path, repair, is_round):
    tools = Toolset(log_in).with_(repair=repair)
    executor = record(Executor(tools), tmp_path / "calls.jsonl", redact=["password"])
    raw = RawCall("1", "functions.log_in", {"account": {"user": "ann", "pin": "4711-secret"}})
    executor.run_sync(tools.offer().round([raw]) if is_round else raw)
    text = (tmp_path / "calls.jsonl").read_text()
    line = json.loads(text)
    assert "4711-secret" not in text
    names = ("log_in", "functions.log_in") if repair else ("functions.log_in", None)
    assert (line["name"], line.get("sent_name")) == names
    if repair:
        again = playback(tools, tmp_path / "calls.jsonl").run_sync(raw)
        assert (again.name, again.content) == ("functions.log_in", "welcome")


def test_a_name_that_is_read_is_logged(caplog):
    caplog.set_level(logging.INFO, "operator_schema")
    run(repairing, "functions.stock_price", CALL)
    (line,) = [one.getMessage() for one in caplog.records]
    assert line == (
        "functions.stock_price (call 1): there is no such tool, but one is meant; "
        'repairs: "functions.stock_price" read as "stock_price" (name)'
    )


def test_a_store_keeps_both_names(tmp_path):
    store = SqliteStore(tmp_path / "calls.db")
    history = store.transcript("ann")
    work = repairing.offer().round([RawCall("1", "functions.stock_price", CALL)])
    Executor(repairing, store=store).run_sync(work).commit(history)
    (turn,) = store.transcript("ann")
    assert (turn.calls[0].name, turn.calls[0].sent_name) == ("stock_price", "functions.stock_price")
    ((call,),) = stored_records(tmp_path / "calls.db")
    assert call == {"name": "stock_price", "sent_name": "functions.stock_price", "arguments": CALL}


@pytest.mark.parametrize("provider", [gemini, ollama, anthropic, openai_chat, openai_responses])
def test_the_message_of_the_model_stays_as_it_wrote_it_and_the_result_has_its_name(provider):
    """Gemini and Ollama find the call of a result by its name."""
    offer = repairing.offer()
    model = ScriptedModel(provider, [RawCall("c1", "stock_price_tool", CALL)])
    answer = provider.answer(model(**provider.request(offer, ["What does ACME cost?"])), offer)
    turn = Executor(repairing).run_sync(offer.round(answer)).commit([])
    sent = json.dumps(provider.turn(turn, offer))
    assert "stock_price_tool" in sent
    assert '"stock_price"' not in sent
    other = anthropic if provider is gemini else gemini
    translated = json.dumps(other.turn(turn, offer))
    assert "stock_price_tool" not in translated


# --- laws ----------------------------------------------------------------------------------------

WORDS = ["stock", "price", "user", "order", "read", "unread", "lock", "unlock", "get", "set", "api", "github"]


@tool
def no_arguments() -> str:
    """Take nothing."""
    ran.append(None)
    return "done"


@tool
def optional(symbol: str = "", days: int = 0) -> str:
    """Take anything."""
    ran.append((symbol, days))
    return "done"


FITTING = {
    stock_price: [CALL, {"symbol": "A", "days": "2"}],
    cancel_order: [{"order_id": 5}, {"order_id": "5"}, {"orderId": 5}],
    no_arguments: [{}],
    optional: [{}, CALL, {"days": 1}],
}
"""Samples of tools, and arguments that they take, some only with repair."""
names = st.builds(
    lambda words, separator: separator.join(words),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
    st.sampled_from(["_", "__", "-"]),
)


def camel(name):
    first, *rest = re.split("[_-]+", name)
    return first + "".join(map(str.capitalize, rest))


RENAMED = [
    *(str.upper, camel, lambda name: name.replace("_", "."), lambda name: name.replace("-", " ")),
    *(lambda name: f"functions.{name}", lambda name: f"mcp__maths__{name}", lambda name: f"{name}_tool"),
    *(lambda name: f"get_{name}", lambda name: f"un{name}", lambda name: f"dry_run_{name}"),
    *(lambda name: name[:2] + name[3:], lambda name: name[:-1], lambda name: name[:1] + "z" + name[1:]),
    *(lambda name: name.partition("_")[2], lambda name: name[::-1]),
]


@st.composite
def mistaken(draw):
    """Draw tools of random names, the name of one of them in another form, and arguments, mostly its own."""
    made = []
    for name in draw(st.lists(names, min_size=1, max_size=5, unique=True)):
        said = draw(st.sampled_from([{}, {}, {}, {}, *GUARDED]))
        repair = draw(st.sampled_from([True, True, False]))
        sample = draw(st.sampled_from([*FITTING]))
        made.append((sample, sample.with_(name=name, repair=repair, **said)))
    sample, one = draw(st.sampled_from(made))
    others = [{"x": 1}, *[given for arguments in FITTING.values() for given in arguments]]
    arguments = draw(st.sampled_from(FITTING[sample]) | st.sampled_from(others))
    return [one for _, one in made], draw(st.sampled_from(RENAMED))(one.name), arguments


def takes(one, arguments):
    """Return whether a tool takes arguments and uses all of them."""
    try:
        return not one.decode_report(arguments).ignored
    except ValueError:
        return False


@settings(max_examples=3 * settings().max_examples)
@given(mistaken(), st.randoms(use_true_random=False))
def test_a_call_of_another_name_runs_the_one_tool_that_it_means_or_none(drawn, random):
    """Whatever the order of the tools; never one that is destructive or asks."""
    tools, name, arguments = drawn
    if not name or name in [one.name for one in tools]:
        return
    is_same, near = _nearest(name, [one.name for one in tools], {})
    fitting = [one for one in tools if one.name in near and takes(one, arguments)]
    found = set()
    for order in (tools, random.sample(tools, len(tools))):
        toolset = Toolset(order)
        call, before = decided(toolset, name, arguments), len(ran)
        result = Executor(toolset, threads=False).run_sync(RawCall("1", name, arguments))
        text = call.content or ""
        found.add((call.name, call.state, text.partition("; the tools are ")[0]))
        if call.state == "pending":
            assert is_same
            assert [call.name] == [one.name for one in fitting]
            assert call.tool.repairs
            assert not call.tool.annotations.destructive
            assert not call.tool.annotations.confirm
            assert call.input == call.tool.decode(arguments)
            assert (result.code, result.content) == (None, call.tool.call(call.input))
        else:
            assert (result.code, result.content) == (call.code, text)
            assert len(ran) == before
            readable = [one for one in fitting if one.repairs and not one.annotations.needs_exact_calls]
            assert not is_same or len(fitting) != 1 or not readable
        _, line, sent = text.partition("\nsend: ")
        if line:
            other = json.loads(sent)
            assert len(fitting) <= 1
            assert toolset[other["name"]].exact().decode_report(other["arguments"]).findings == ()
    assert len(found) == 1
