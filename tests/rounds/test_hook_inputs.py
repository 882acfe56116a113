"""What functions that decide about a call may do to its input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Annotated, Any

import pytest
from annotated_types import Gt
from hypothesis import given, settings
from hypothesis import strategies as st
from round_samples import done
from strategies import DATACLASSES

from operator_schema import (
    Complete,
    DecodeError,
    Defer,
    EncodeError,
    Executor,
    RawCall,
    Reject,
    RunNormally,
    SchemaLeaf,
    ToolError,
    Toolset,
    tool,
    tool_input,
)
from operator_schema.rounds import HookError, Hooks
from operator_schema.testing import arguments


@dataclass
class Account:
    owner: str
    tags: list[str] = field(default_factory=list)


@tool
def pay(amount: Annotated[int, Gt(0)], to: Account) -> str:
    """Pay somebody."""
    return f"{amount!r} to {to.owner} {to.tags}"


TOOLS = Toolset(pay)


def a_round() -> Any:
    return TOOLS.offer().round([RawCall("1", "pay", {"amount": 5, "to": {"owner": "Ada"}})])


def ran(plan: Any) -> str:
    return Executor(TOOLS).run_sync(plan).handled[0].result.json


def lots(call: Any) -> None:
    call.input.amount = "lots"


def tag(call: Any) -> None:
    call.input.to.tags.append("x")


def raise_it(call: Any) -> None:
    call.input.amount += 1


EDITS = [lots, tag, raise_it]
DECISIONS = [None, RunNormally(), RunNormally(approved=True), Defer("wait")]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("decision", DECISIONS)
def test_an_edit_in_place_that_is_not_returned_is_refused_and_leaves_no_trace(edit, decision):
    def hook(call):
        edit(call)
        return decision

    sent = a_round()
    with pytest.raises(HookError, match=r"return RunNormally\(input=call\.input\)") as caught:
        done(sent.apply(hook))
    assert caught.value.round.pending == sent.calls == a_round().calls
    assert done(sent.apply()).pending[0].input == pay.input_type(5, Account("Ada"))


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("decision", [Complete("done"), Reject("no")])
def test_where_the_call_does_not_run_an_edit_leaves_no_trace(edit, decision):
    def hook(call):
        edit(call)
        return decision

    sent = a_round()
    (state,) = done(sent.apply(hook)).calls
    assert state.input == sent.calls[0].input == a_round().calls[0].input


@pytest.mark.needs_threads
def test_an_edit_in_place_that_is_returned_counts():
    def hook(call):
        tag(call)
        raise_it(call)
        return RunNormally(call.input)

    sent = a_round()
    plan = done(sent.apply(Hooks(hook, hook)))
    assert sent.calls == a_round().calls
    assert ran(plan) == "7 to Ada ['x', 'x']"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda given: setattr(given, "amount", "lots"), "amount"),
        (lambda given: setattr(given, "amount", 0), "amount"),
        (lambda given: setattr(given.to, "owner", 5), "to.owner"),
        (lambda given: given.to.tags.append(None), "to.tags[0]"),
        (lambda given: delattr(given, "to"), "to"),
    ],
)
@pytest.mark.parametrize("is_copy", [True, False])
def test_a_returned_input_is_checked_and_the_path_is_said(change, path, is_copy):
    def hook(call):
        given = pay.decode({"amount": 5, "to": {"owner": "Ada"}}) if is_copy else call.input
        change(given)
        return RunNormally(given)

    with pytest.raises(HookError) as caught:
        done(a_round().apply(hook))
    assert path in str(caught.value)
    assert isinstance(caught.value.__cause__, (DecodeError, EncodeError))


@pytest.mark.parametrize("how", ["hook", "with_input", "approve"])
def test_what_is_done_to_an_input_after_it_was_given_changes_nothing(how):
    given = pay.decode({"amount": 6, "to": {"owner": "Bob"}})
    match how:
        case "hook":
            (call,) = done(a_round().apply(lambda _: RunNormally(given))).pending
        case "with_input":
            call = a_round().calls[0].with_input(given)
        case _:
            (call,) = done(a_round().apply(lambda _: Defer())).approve("1", input=given).pending
    lots_of = given.to.tags
    lots_of.append(None)
    given.amount = "lots"
    assert call.input == pay.input_type(6, Account("Bob"))


def test_a_wrong_input_is_refused_wherever_it_is_given():
    wrong = pay.input_type(0, Account("Ada"))
    deferred = done(a_round().apply(lambda _: Defer()))
    for give in (a_round().calls[0].with_input, lambda given: deferred.approve("1", input=given)):
        with pytest.raises((DecodeError, EncodeError), match="amount"):
            give(wrong)


def test_each_hook_sees_what_the_one_before_returned_and_not_what_it_did():
    seen: list[Any] = []

    def look(call):
        seen.append((call.input.amount, list(call.input.to.tags)))

    def change(call):
        return RunNormally(pay.input_type(call.input.amount + 1, call.input.to))

    done(a_round().apply(Hooks(look, change, look, change, look)))
    assert seen == [(5, []), (6, []), (7, [])]


def test_what_a_person_approved_is_not_edited_in_place_either():
    plan = done(a_round().apply(lambda _: Defer())).approve("1")
    with pytest.raises(HookError, match="edited in place"):
        done(plan.apply(lots))
    assert plan.pending[0].input == a_round().calls[0].input


RETURNED = {"the same": lambda call: call.input, "another": lambda call: replace(call.input)}


@pytest.mark.needs_threads
@pytest.mark.parametrize("returned", RETURNED.values(), ids=RETURNED.keys())
def test_no_hook_sees_an_edit_of_what_a_person_approved(returned):
    seen: list[Any] = []

    def edit(call):
        call.input.amount += 1
        call.input.to.tags.append("x")
        return RunNormally(returned(call))

    def look(call):
        seen.append((call.input.amount, list(call.input.to.tags)))

    plan = done(a_round().apply(lambda _: Defer())).approve("1")
    approved = done(plan.apply(Hooks(edit, look, edit, look)))
    assert seen == [(5, []), (5, [])]
    assert ran(approved) == "5 to Ada []"


@pytest.mark.needs_threads
@pytest.mark.parametrize("edit", EDITS)
def test_the_function_that_asks_owns_its_input_too(edit):
    @tool(name="pay", confirm=True)
    def guarded(amount: int, to: Account) -> str:
        """Pay somebody."""
        return f"{amount!r} to {to.owner} {to.tags}"

    def ask(call):
        edit(call)
        return True

    def ask_and_return(call):
        edit(call)
        return RunNormally(call.input)

    toolset = Toolset(guarded)
    for asked in (ask, ask_and_return):
        sent = toolset.offer().round([RawCall("1", "pay", {"amount": 5, "to": {"owner": "Ada"}})])
        if asked is ask or edit is lots:
            with pytest.raises(HookError):
                Executor(toolset, confirm=asked).run_sync(sent)
        else:
            plan = Executor(toolset, confirm=asked).run_sync(sent)
            assert plan.handled[0].result.json in {"6 to Ada []", "5 to Ada ['x']"}
        assert sent.calls[0].input == guarded.input_type(5, Account("Ada"))


# --- inputs that are hard to copy ----------------------------------------------------------------


class Locked:
    """Holds what can't be copied."""

    def __init__(self, name: str) -> None:
        self.name, self.lock = name, Lock()


@tool_input(
    name="take", leaves=[SchemaLeaf(Locked, {"type": "string"}, Locked, lambda it: it.name, Locked("a"))]
)
@dataclass
class Take:
    """Take it."""

    it: Locked


class Bare:
    def __init__(self, name: str) -> None:
        self.name, self.lock = name, Lock()


def unwritable(bare: Bare) -> str:
    if bare.name == "b":
        message = "it can't be written"
        raise ValueError(message)
    return bare.name


@tool_input(name="take", leaves=[SchemaLeaf(Bare, {"type": "string"}, Bare, unwritable, Bare("a"))])
@dataclass
class TakeBare:
    """Take it."""

    it: Bare


def test_what_can_not_be_copied_is_made_again():
    toolset = Toolset(Take)

    def rename(call):
        call.input.it.name = "other"

    sent = toolset.offer().round([RawCall("1", "take", {"it": "a"})])
    with pytest.raises(HookError, match="edited in place"):
        done(sent.apply(rename))
    assert sent.calls[0].input.it.name == "a"
    assert done(sent.apply(lambda _: None)).pending[0].input.it is sent.calls[0].input.it


def test_what_can_be_neither_copied_nor_made_again_is_shown_to_no_function():
    sent = Toolset(TakeBare).offer().round([RawCall("1", "take", {"it": "b"})])
    with pytest.raises(HookError, match="its input can't be copied"):
        done(sent.apply(lambda _: None))
    assert len(done(sent.apply()).pending) == 1


@dataclass(eq=False)
class NoEq:
    x: int


class Raising:
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = None


@pytest.mark.parametrize("annotation", [NoEq, Raising])
def test_inputs_that_can_not_be_compared_are_compared_as_json(annotation):
    if annotation is Raising:
        leaf = SchemaLeaf(Raising, {"type": "integer"}, Raising, lambda it: it.x, Raising(1))
        made = tool_input(name="take", leaves=[leaf])(
            dataclass(type("Take", (), {"__annotations__": {"it": Raising}}))
        )
    else:
        made = tool_input(name="take")(NoEq)
    sent = (
        Toolset(made).offer().round([RawCall("1", "take", {"it": 1} if annotation is Raising else {"x": 1})])
    )
    assert len(done(sent.apply(Hooks(lambda _: None, lambda _: None))).pending) == 1

    def edit(call):
        (call.input.it if annotation is Raising else call.input).x = 2

    with pytest.raises(HookError, match="edited in place"):
        done(sent.apply(edit))


@settings(max_examples=4 * settings().max_examples // 5, deadline=None)  # making a random type is slow
@given(DATACLASSES, st.data())
def test_of_any_type_hooks_get_an_equal_input_of_their_own(cls, data):
    toolset = Toolset(tool_input(name="run")(cls))
    seen: list[Any] = []
    sent = toolset.offer().round([RawCall("1", "run", data.draw(arguments(cls)))])

    def look(call):
        seen.append(call.input)

    def give(call):
        return RunNormally(sent.calls[0].input)

    plan = done(sent.apply(look))
    assert plan.pending == sent.calls
    try:
        assert repr(toolset["run"].encode_input(seen[0])) == repr(sent.calls[0].arguments)
    except (EncodeError, ToolError):  # it can't be written
        return
    (call,) = done(sent.apply(give)).pending
    assert repr(call.arguments) == repr(sent.calls[0].arguments)
