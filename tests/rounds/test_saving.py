"""Saved plans: JSON that holds the whole turn, and comes back as an equal plan."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections import OrderedDict
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import pytest
from saving_samples import (
    EXECUTOR,
    PNG,
    SECRET,
    TOOLS,
    calls,
    executed,
    mixed,
    planned,
    ran,
    restored,
    through_text,
)

from operator_schema import (
    Complete,
    Defer,
    EncodeError,
    Executor,
    NeedsInput,
    RawCall,
    Reject,
    ToolResult,
    Toolset,
    skip,
    tool,
)
from operator_schema.content import Image, Resource, Text
from operator_schema.providers import openai_chat
from operator_schema.rounds import Hooks, RestoreError
from operator_schema.rounds.serialization import FORMAT

pytestmark = pytest.mark.needs_threads


def test_a_plan_with_every_kind_of_call_comes_back_equal():
    plan = mixed()
    again = restored(plan)
    assert again == plan
    assert again.calls == plan.calls
    assert (again.id, again.offered, again.assistant) == (plan.id, plan.offered, None)
    assert repr(again) == "<Round: 1 pending, 2 handled, 1 rejected, 2 deferred, 2 issues>"


def test_a_plan_that_was_restored_is_saved_as_the_same_data():
    plan = mixed()
    assert restored(restored(plan)).as_dict() == plan.as_dict()


def test_nothing_is_run_and_nothing_is_decided_by_restoring():
    plan = mixed()
    ran.clear()
    again = restored(plan)
    assert ran == []
    assert [call.approved for call in again.pending] == [True]
    assert [(call.reason, call.by) for call in again.rejected] == [("too late", "host")]
    assert [call.by for call in again.handled] == ["executor", "executor"]


def test_an_issue_keeps_its_text_although_the_tool_exists_by_now():
    plan = planned(("book", {"leg": {"origin": "X"}}), toolset=TOOLS.without("book"))
    again = TOOLS.restore_round(through_text(plan.as_dict()))
    assert [(issue.code, issue.error) for issue in again.issues] == [("tool_not_found", None)]
    assert again.issues[0].content == plan.issues[0].content


def test_a_plan_without_calls_comes_back():
    plan = planned()
    assert restored(plan) == plan
    assert restored(plan).is_complete


def test_where_a_call_was_found_comes_back():
    raw = [RawCall("1", "anything", {"value": 1}, is_from_text=True), RawCall("2", "anything", {"value": 1})]
    plan = TOOLS.offer().round(raw)
    assert [call.raw.is_from_text for call in restored(plan).calls] == [True, False]
    data = plan.as_dict()
    assert ["is_from_text" in call for call in data["calls"]] == [True, False]
    del data["calls"][0]["is_from_text"]
    with pytest.raises(RestoreError, match="its data were changed after they were saved"):
        TOOLS.restore_round(data)


def test_that_a_call_was_not_well_formed_comes_back():
    plan = TOOLS.offer().round(
        [RawCall("1", "anything", {}, is_malformed=True), RawCall("2", "anything", {})]
    )
    assert [call.raw.is_malformed for call in restored(plan).calls] == [True, False]
    assert restored(plan).issues == plan.issues


def test_the_program_that_made_a_call_comes_back():
    program = {"type": "program", "caller_id": "p"}
    raw = [RawCall("1", "anything", {"value": 1}, caller=program), RawCall("2", "anything", {"value": 1})]
    plan = TOOLS.offer().round(raw)
    assert [call.raw.caller for call in restored(plan).calls] == [program, None]
    data = plan.as_dict()
    assert ["caller" in call for call in data["calls"]] == [True, False]
    data["calls"][0]["caller"]["caller_id"] = "q"
    with pytest.raises(RestoreError, match="its data were changed after they were saved"):
        TOOLS.restore_round(data)
    plan.calls[0].raw.caller.clear()
    assert plan.calls[0].raw.caller == program


def test_the_message_of_the_model_comes_back():
    said = {"role": "assistant", "content": ["text", 1.5, None, {"ü": True}]}
    plan = TOOLS.offer().round([], assistant=said).confirmed()
    assert restored(plan).assistant == said


def test_the_data_share_nothing_with_the_plan():
    plan = planned(("anything", {"value": [1]}))
    before = plan.as_dict()
    data = plan.as_dict()
    data["calls"][0]["arguments"]["value"].append(2)
    again = TOOLS.restore_round(before)
    before["calls"][0]["arguments"]["value"].append(3)
    assert plan == again
    assert again.pending[0].input.value == [1]


def test_the_context_of_a_program_is_never_saved():
    plan = executed(mixed(), context={"seat": "secret of the host"})
    assert "secret of the host" not in json.dumps(plan.as_dict())


# --- stores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [None, SECRET])
def test_a_plan_goes_through_a_column_of_text(secret):
    plan = mixed()
    store = sqlite3.connect(":memory:")
    store.execute("CREATE TABLE plans (plan TEXT)")
    store.execute("INSERT INTO plans VALUES (?)", (json.dumps(plan.as_dict(secret=secret), allow_nan=False),))
    [(text,)] = store.execute("SELECT plan FROM plans").fetchall()
    store.close()
    assert TOOLS.restore_round(json.loads(text), secret=secret) == plan
    assert TOOLS.restore_round(text, secret=secret) == plan
    assert TOOLS.restore_round(text.encode(), secret=secret) == plan


def reordered(value, of_number=lambda number: number):
    """Return what a database makes of JSON that keeps neither the order of keys nor the kind of numbers."""
    if isinstance(value, dict):
        return {key: reordered(value[key], of_number) for key in sorted(value, reverse=True)}
    if isinstance(value, list):
        return [reordered(item, of_number) for item in value]
    return of_number(value) if type(value) in {int, float} else value


NUMBERS = [1.0, 3, -0.0, 0.5, 1e15, 1e16, 2.0**60, -1e22, 1.5e300, 123456789012345678]


def without_fraction(number):
    """Write numbers as `jsonb` of PostgreSQL does: in full, as decimal digits."""
    exact = Decimal(repr(number))
    return int(exact) if exact == exact.to_integral_value() else number


def as_float(number):
    """Write numbers as a store does that has floats alone."""
    return float(number) if float(number) == number else number


@pytest.mark.parametrize("of_number", [without_fraction, as_float])
@pytest.mark.parametrize("secret", [None, SECRET])
def test_a_store_may_reorder_keys_and_write_numbers_in_another_way(of_number, secret):
    plan = planned(("anything", {"value": NUMBERS}), ("book", {"leg": {"origin": "X"}, "seats": 2.0}))
    data = reordered(through_text(plan.as_dict(secret=secret)), of_number)
    again = TOOLS.restore_round(data, secret=secret)
    assert again.pending[1] == plan.pending[1]
    assert [float(number) for number in again.pending[0].input.value] == [float(n) for n in NUMBERS]


def test_data_may_be_of_subclasses_of_dict_and_list():
    plan = mixed()
    text = json.dumps(plan.as_dict())
    assert TOOLS.restore_round(json.loads(text, object_pairs_hook=OrderedDict)) == plan


SECOND_PROCESS = """
import json, sys
from saving_samples import SECRET, TOOLS, executed, ran
plan = TOOLS.restore_round(json.load(sys.stdin), secret=SECRET)
assert ran == []
json.dump(plan.as_dict(secret=SECRET), sys.stdout)
"""


@pytest.mark.needs_process
def test_another_process_gives_an_equal_plan():
    plan = mixed()
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent.parent)])
    done = subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS],
        input=json.dumps(plan.as_dict(secret=SECRET)),
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert TOOLS.restore_round(json.loads(done.stdout), secret=SECRET) == plan
    assert json.loads(done.stdout) == plan.as_dict(secret=SECRET)


# --- results -------------------------------------------------------------------------------------


def test_results_with_all_kinds_of_parts_come_back_with_their_data():
    plan = executed(planned(("parts", {})))
    result = plan.handled[0].result
    again = restored(plan).handled[0].result
    assert again.parts == result.parts
    assert len(again.parts) == 9
    assert (again.content, again.json) == (result.content, result.json)


@pytest.mark.parametrize("part", [Text("only this"), Image(PNG, "image/png"), Resource("file:///a")])
def test_a_result_of_one_part_comes_back_with_it(part):
    plan = planned(("parts", {}))
    plan = plan.with_results([plan.pending[0].complete(part)])
    assert restored(plan).handled[0].result.parts == (part,)


@pytest.mark.parametrize("output", ["", "text", 0, False, None, [], {}, {"a": [1.5]}])
def test_results_come_back_with_their_json(output):
    plan = executed(planned(("anything", {"value": output})))
    again = restored(plan).handled[0].result
    assert again == plan.handled[0].result
    assert again.json == output
    assert type(again.json) is type(output)


def test_the_name_of_the_provider_comes_back():
    response = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}}]}
    plan = TOOLS.offer().round(openai_chat.answer(response, TOOLS.offer()))
    assert plan.as_dict()["provider"] == restored(plan).provider == openai_chat.name
    assert "provider" not in planned().as_dict()


def test_results_of_the_host_and_of_hooks_come_back():
    def complete(call):
        return Complete("by a hook") if call.input.value == 1 else Reject("not this")

    asked = [("anything", {"value": number}) for number in (1, 2)]
    plan = planned(*asked, ("no tool", None), hooks=Hooks(complete))
    failed = ToolResult("c2", "no tool", "explained", is_error=True, code="tool_not_found")
    plan = plan.with_results([failed])
    again = restored(plan)
    assert again == plan
    assert again.calls == plan.calls
    assert [state.by for state in again.calls] == ["hook", "hook", "host"]
    assert not again.handled[1].has_input


def test_a_result_for_a_tool_that_was_not_offered_stays_one_without_a_call():
    narrow = TOOLS.offer(only=["cancel"])
    plan = narrow.round(calls(("book", {"leg": {"origin": "X"}}))).confirmed()
    assert plan.issues[0].code == "not_available"
    plan = plan.with_results([ToolResult("c0", "book", "not now", is_error=True)])
    again = restored(plan)
    assert again.calls == plan.calls
    assert again.offered == ("cancel",)
    assert restored(again) == plan


def test_a_result_that_is_not_json_is_refused():
    plan = planned(("anything", {"value": 1}))
    with pytest.raises(EncodeError, match="json"):
        plan.with_results([ToolResult("c0", "anything", "x", json=object())]).as_dict()


def test_a_turn_as_data_has_its_results():
    plan = mixed()
    plan = plan.answer("c6", "12A").approve("c2")
    plan = asyncio.run(EXECUTOR.run(plan))
    turn = restored(plan).commit([])
    data = turn.as_dict()
    assert [result["call_id"] for result in data["results"]] == [f"c{index}" for index in range(8)]
    assert data["results"][6]["content"] == "1: 12A"
    assert json.loads(json.dumps(data, allow_nan=False)) == data


# --- what is saved -------------------------------------------------------------------------------


def test_what_says_nothing_is_left_out():
    plan = planned(("book", {"leg": {"origin": "MUC"}}))
    data = plan.as_dict()
    digests = [data.pop("digest"), data["calls"][0].pop("digest")]
    assert [len(digest) for digest in digests] == [64, 64]
    assert data == {
        "format": FORMAT,
        "round": plan.id,
        "offered": list(TOOLS.names),
        "assistant": None,
        "calls": [
            {
                "state": "pending",
                "id": "c0",
                "name": "book",
                "arguments": {"leg": {"origin": "MUC"}},
                "input": {"leg": {"origin": "MUC", "stops": []}, "seats": 1},
            }
        ],
    }


@pytest.mark.parametrize(
    ("secret", "error", "complaint"),
    [
        ("text", TypeError, "the secret must be bytes, such as secrets.token_bytes(32), not str"),
        (b"", ValueError, "the secret is empty"),
        (b"x" * 15, ValueError, "the secret has 15 bytes, and must have at least 16"),
    ],
)
def test_a_secret_that_protects_nothing_is_refused(secret, error, complaint):
    plan = planned()
    with pytest.raises(error) as caught:
        plan.as_dict(secret=secret)
    assert complaint in str(caught.value)
    with pytest.raises(error):
        TOOLS.restore_round(plan.as_dict(), secret=secret)


def test_ids_may_repeat():
    raw = [RawCall("same", "book", {"leg": {"origin": origin}}) for origin in "AB"]
    plan = TOOLS.offer().round(raw).confirmed()
    assert restored(plan) == plan
    assert [call.input.leg.origin for call in restored(plan).pending] == ["A", "B"]


def paying(default):
    @tool(confirm=True, name="pay")
    def pay(amount: int = default) -> str:
        return f"paid {amount}"

    return Toolset(pay)


def test_a_default_that_changes_later_does_not_change_what_somebody_decides_about():
    waiting = paying(1).offer().round([RawCall("a", "pay", {})]).confirmed()
    for plan in (waiting, waiting.approve("a")):
        data = json.loads(json.dumps(plan.as_dict()))
        again = paying(1000).restore_round(data)
        (call,) = [*again.pending, *again.deferred]
        assert call.input.amount == 1
        assert call.raw.arguments == {}
        assert again.as_dict() == data


HALF = "\ud83d"  # of an emoji that a model began


@pytest.mark.parametrize(
    "plan",
    [
        lambda: planned(("anything", {"value": HALF})),
        lambda: planned(("anything", f'{{"value": "{HALF}"}}')),
        lambda: planned((HALF, {HALF: 1})),
        lambda: (
            TOOLS.offer()
            .round([RawCall(HALF, "anything", {"value": 1})], assistant={"text": HALF})
            .confirmed()
        ),
        lambda: planned(("cancel", {"booking": "a"}), hooks=lambda _: Reject(HALF)),
        lambda: planned(("cancel", {"booking": "a"}), hooks=lambda _: Defer(HALF)),
        lambda: planned(("cancel", {"booking": "a"})).reject("c0", HALF),
        lambda: Executor(WONDERS).run_sync(planned(("wonder", {}), toolset=WONDERS)),
        lambda: failed(planned(("anything", {"value": 1})), HALF),
    ],
)
def test_characters_that_no_encoding_can_write_lose_no_plan(plan):
    plan = plan()
    for data in (plan.as_dict(), json.dumps(plan.as_dict()), json.dumps(plan.as_dict()).encode()):
        assert plan.toolset.restore_round(data) == plan


def failed(plan, message):
    return plan.with_results([call.fail(message) for call in plan.pending])


@tool
def wonder(answer: Annotated[str | None, skip] = None) -> str:
    raise NeedsInput(f"What is {HALF}?")


WONDERS = Toolset(wonder)


@pytest.mark.parametrize("given", ["ok", "", "é", None, 3, {"a": 1}, ["é"], True], ids=repr)
def test_a_result_is_saved_with_its_text_and_its_value(given):
    @tool
    def give() -> Any:
        """Give."""
        return given

    toolset = Toolset(give)
    done = Executor(toolset).run_sync(toolset.offer().round([RawCall("1", "give", {})]))
    saved = done.as_dict()
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    assert saved["calls"][0]["result"] == {"content": text} | ({} if given is None else {"json": given})
    assert toolset.restore_round(saved).calls[0].result == done.calls[0].result
