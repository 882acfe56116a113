"""A call that runs: with an agreement where one is needed, and with all that happens on the way."""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import Annotated

import help_desk
import pytest

from operator_schema import Defer, Executor, Reject, RunNormally, skip, tool
from operator_schema.content import File, Image, Resource
from operator_schema.workbench.inspector import run_call as running
from operator_schema.workbench.inspector import subject_of
from operator_schema.workbench.inspector.call_records import records_of_call
from operator_schema.workbench.inspector.run_call import Agreements, run_call

pytestmark = pytest.mark.needs_threads


def run(subject, name, arguments, *, agreed=False, **options):
    def agrees(text):
        return agreed if isinstance(agreed, bool) else text == agreed

    return asyncio.run(run_call(subject, subject.tool(name), arguments, agreed=agrees, **options))


def test_a_result_comes_with_its_time_and_what_was_logged(subject):
    done = run(subject, "find_articles", '{"text": "rye", "limit": 1}')
    assert done["result"]["json"] == ["How to rye"]
    assert done["result"]["content"] == '["How to rye"]'
    assert {"level": "INFO", "logger": "desk", "text": "looking for rye"} in done["records"]
    assert 0 < done["seconds"] < 10


@pytest.mark.parametrize("name", ["confirm", "destructive"])
def test_such_a_call_does_not_run_without_an_agreement(name):
    ran = []

    @tool(**{name: True})
    def act(size: int) -> None:
        """Act."""
        ran.append(size)

    subject = subject_of("x", [act])
    asked = run(subject, "act", '{"size": 3}')
    assert asked == {"question": "Run act?\nsize: 3"}
    assert ran == []
    assert "question" not in run(subject, "act", '{"size": 3}', agreed=True)
    assert ran == [3]


def test_a_wrong_call_is_answered_without_asking_anybody(subject):
    done = run(subject, "refund", '{"order_id": "x"}')
    assert done["result"]["code"] == "invalid_params"
    assert "amount" in done["result"]["content"]
    assert help_desk.PAID == []


def test_an_agreement_is_for_one_call_once(monkeypatch):
    agreements = Agreements()
    given = agreements.offer("refund", "{}")
    assert not agreements.take(given, "refund", '{"a": 1}')
    assert not agreements.take("x", "refund", "{}")
    assert not agreements.take(None, "refund", "{}")
    assert not agreements.take("é:é", "refund", "{}")
    assert not Agreements().take(given, "refund", "{}")
    assert agreements.take(given, "refund", "{}")
    assert not agreements.take(given, "refund", "{}")
    late = agreements.offer("refund", "{}")
    monkeypatch.setattr(running.time, "monotonic", lambda: 1e12)
    assert not agreements.take(late, "refund", "{}")


def test_whoever_an_executor_asks_is_not_asked_here():
    @tool(read_only=True)
    def look(size: int) -> int:
        """Look."""
        return size

    def on_the_terminal(call):
        raise AssertionError

    executor = Executor([look], confirm=on_the_terminal, hooks=lambda call: Defer("a person decides"))
    subject = subject_of("x", executor)
    assert run(subject, "look", '{"size": 3}') == {"question": "Run look?\n(a person decides)\nsize: 3"}
    assert run(subject, "look", '{"size": 3}', agreed=True)["result"]["content"] == "3"


def test_progress_and_a_picture(subject):
    told = []
    done = run(subject, "export", '{"rows": 2}', tell=told.append)
    assert [step["message"] for step in done["progress"]] == ["row 1", "row 2"]
    assert [event["progress"]["done"] for event in told if "progress" in event] == [1, 2]
    text, picture = done["result"]["parts"]
    assert text["text"] == "The orders:"
    assert picture["media_type"] == "image/png"
    assert base64.b64decode(picture["data"]) == help_desk.PIXEL


def test_only_plain_pictures_are_shown():
    @tool
    def parts() -> list[object]:
        """Return parts."""
        svg = Image(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml")
        return [svg, File(b"x", "text/html", "a.html"), Resource("https://example.com/x")]

    found = run(subject_of("x", [parts]), "parts", "{}")["result"]["parts"]
    assert [part["kind"] for part in found] == ["image", "file", "resource"]
    assert [part["data"] for part in found] == [None] * 3


def test_an_error_of_the_tool_is_shown_to_its_author():
    @tool
    def fail() -> None:
        """Fail."""
        message = "no more paper"
        raise OSError(message)

    result = run(subject_of("x", [fail]), "fail", "{}")["result"]
    assert result["code"] == "execution_failed"
    assert result["exception"] == "OSError: no more paper"


def test_a_question_of_a_tool_is_answered_here(subject):
    done = run(subject, "choose_seat", '{"train": "IC 712"}')
    asks = done["asks"]
    assert (asks["text"], asks["parameter"]) == ("Window or aisle?", "place")
    assert asks["form"]["root"]["choices"] == ["window", "aisle"]
    done = run(subject, "choose_seat", '{"train": "IC 712"}', answers={"place": "aisle"})
    assert done["result"]["content"] == "IC 712: a seat at the aisle"
    assert (
        "corridor" in run(subject, "choose_seat", '{"train": "1"}', answers={"place": "corridor"})["problem"]
    )
    assert "problem" in run(subject, "choose_seat", '{"train": "1"}', answers={"train": "x"})


@pytest.mark.parametrize(
    "context", [None, {"place": "window"}, lambda _own: {"other": 1}], ids=["none", "a mapping", "a function"]
)
def test_an_answer_comes_before_the_context(context):
    executor = Executor(help_desk.toolset, context=context)
    done = run(subject_of("x", executor), "choose_seat", '{"train": "1"}', answers={"place": "aisle"})
    assert done["result"]["content"] == "1: a seat at the aisle"


def test_what_the_program_has_to_give_is_named_and_given():
    class Database:
        name = "orders"

    @tool
    def look(db: Annotated[Database, skip]) -> str:
        """Look."""
        return db.name

    missing = run(subject_of("x", [look]), "look", "{}")
    assert missing["missing"] == "look needs db from your program: start with --context MODULE:NAME"
    assert (
        run(subject_of("x", [look], context={Database: Database()}), "look", "{}")["result"]["content"]
        == "orders"
    )
    executor = Executor([look], context={"db": Database()})
    assert run(subject_of("x", executor), "look", "{}")["result"]["content"] == "orders"


def test_the_hooks_of_an_executor_decide_here_too():
    ran = []

    @tool
    def pay(amount: int) -> str:
        """Pay.

        Args:
            amount: In dollars.
        """
        ran.append(amount)
        return "paid"

    def limits(call):
        if call.input.amount > 100:
            return Reject("too much")
        return Defer("a person decides") if call.input.amount > 10 else None

    subject = subject_of("x", Executor([pay], hooks=limits))
    assert run(subject, "pay", '{"amount": 5}')["result"]["content"] == "paid"
    asked = run(subject, "pay", '{"amount": 50}')
    assert asked == {"question": "Run pay?\n(a person decides)\namount: 50"}
    assert run(subject, "pay", '{"amount": 50}', agreed=True)["result"]["content"] == "paid"
    refused = run(subject, "pay", '{"amount": 500}', agreed=True)["result"]
    assert refused["content"] == "This call was rejected: too much"
    assert ran == [5, 50]


@pytest.mark.parametrize("needs", ["confirm", "destructive", "hook"])
def test_a_person_agrees_to_the_call_that_runs(needs):
    """With what hooks have made of it, and to no other one."""
    ran, factor = [], [2]

    @tool(**{} if needs == "hook" else {needs: True})
    def pay(amount: int, to: str = "me") -> str:
        """Pay."""
        ran.append((amount, to))
        return "paid"

    def more(call):
        return RunNormally(call.tool.decode({"amount": call.input.amount * factor[0], "to": "you"}))

    hooks = [more, lambda call: Defer("large")] if needs == "hook" else [more]
    subject = subject_of("x", Executor([pay], hooks=hooks))
    shown = run(subject, "pay", '{"amount": 5}')["question"]
    why = "\n(large)" if needs == "hook" else ""
    assert shown == f'Run pay?{why}\namount: 10\nto: "you"'
    told = "The program changed amount to 10, to before it ran.\npaid"
    assert run(subject, "pay", '{"amount": 5}', agreed=shown)["result"]["content"] == told
    assert ran == [(10, "you")]
    factor[0] = 100
    asked = run(subject, "pay", '{"amount": 5}', agreed=shown)
    assert asked == {"question": f'Run pay?{why}\namount: 500\nto: "you"'}
    assert ran == [(10, "you")]


@pytest.mark.parametrize("needs", ["confirm", "destructive"])
def test_a_hook_agrees_in_no_place_of_a_person_at_the_page(needs):
    ran = []

    @tool(**{needs: True})
    def act(size: int) -> None:
        """Act."""
        ran.append(size)

    subject = subject_of("x", Executor([act], hooks=lambda call: RunNormally(approved=True)))
    shown = run(subject, "act", '{"size": 3}')["question"]
    assert (shown, ran) == ("Run act?\nsize: 3", [])
    assert run(subject, "act", '{"size": 4}', agreed=shown)["question"] == "Run act?\nsize: 4"
    assert "result" in run(subject, "act", '{"size": 3}', agreed=shown)
    assert ran == [3]


def test_nobody_is_asked_at_the_page_about_what_a_hook_refuses():
    @tool(confirm=True)
    def act(size: int) -> None:
        """Act."""

    refused = run(subject_of("x", Executor([act], hooks=lambda call: Reject("no"))), "act", '{"size": 3}')
    assert refused["result"]["content"] == "This call was rejected: no"


def test_an_executor_keeps_its_rules():
    @tool
    def slow() -> None:
        """Be slow."""

    executor = Executor([slow], max_content=300, timeout=1)
    assert subject_of("x", executor).executor is executor


def test_records_of_other_calls_and_levels_are_kept_apart():
    @tool
    async def talk(name: str) -> None:
        """Talk."""
        logging.getLogger("talk").info("I am %s", name)
        logging.getLogger("talk").debug("not this")
        await asyncio.sleep(0.01)
        logging.getLogger("talk").warning("%s again", name)

    subject = subject_of("x", [talk])
    level = logging.getLogger().level

    async def both():
        calls = [run_call(subject, talk, '{"name": "%s"}' % name, agreed=bool) for name in "ab"]
        return await asyncio.gather(*calls)

    one, other = asyncio.run(both())
    assert [record["text"] for record in one["records"]] == ["I am a", "a again"]
    assert other["records"][0]["text"] == "I am b"
    assert logging.getLogger().level == level


def test_a_record_that_cannot_be_written_says_so():
    record = logging.LogRecord("talk", logging.INFO, __file__, 1, "%d", ("x",), None)
    with records_of_call(lambda _: None) as kept:
        handler = logging.getLogger().handlers[-1]
        handler.emit(record)
    handler.emit(record)  # nobody listens
    assert [one["text"] for one in kept] == ["(a record that can't be written: TypeError)"]


def test_there_is_a_limit_on_what_is_told():
    from operator_schema.types import Progress

    @tool
    async def chatter(progress: Annotated[Progress, skip]) -> str:
        """Talk without end."""
        for step in range(500):
            logging.getLogger("chatter").info("x" * 5_000)
            progress(step)
            await asyncio.sleep(0)  # whoever listens gets it now
        return "x" * 150_000

    done = run(subject_of("x", [chatter]), "chatter", "{}")
    assert (len(done["records"]), len(done["progress"])) == (200, 200)
    assert len(done["records"][0]["text"]) == 2_000


def test_a_large_result_is_text_alone():
    @tool
    def many() -> list[int]:
        """Return many."""
        return list(range(60_000))

    executor = Executor([many], max_content=None)
    result = run(subject_of("x", executor), "many", "{}")["result"]
    assert result["json"] is None
    assert len(result["content"]) == 200_000
