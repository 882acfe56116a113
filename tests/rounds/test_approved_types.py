"""A tool that changed after a call was approved: the same input runs, or the call is refused."""

from __future__ import annotations

import json
from dataclasses import InitVar, dataclass, field, fields, is_dataclass, make_dataclass
from typing import Annotated, Any, Optional, TypedDict, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import LONGEST_WAIT
from saving_samples import problems, refused, saved
from strategies import DATACLASSES

from operator_schema import (
    DecodeError,
    EncodeError,
    NeedsInput,
    RawCall,
    SchemaError,
    ToolError,
    Toolset,
    skip,
    tool,
    tool_input,
)
from operator_schema.rounds import RestoreError
from operator_schema.rounds.signatures import canonical_text
from operator_schema.testing import arguments
from operator_schema.tools import document_tool


def toolset_of(cls: type) -> Toolset[Any]:
    return Toolset(tool_input(name="run", confirm=True)(cls))


def same_or_refused(approved: Any, toolset: Toolset[Any]) -> bool:
    """Check the law for the one call of a plan; return whether the call was restored."""
    written = saved(approved)["calls"][0]["input"]
    try:
        (call,) = toolset.restore_round(saved(approved)).pending
    except RestoreError as error:
        assert problems(error) == [("input_does_not_fit", "c0")]
        assert not error.round.pending
        return False
    assert canonical_text(call.arguments) == canonical_text(written)
    return True


# --- types that are changed at random ------------------------------------------------------------


def changed(annotation: Any, draw: Any) -> Any:
    """Return a type in which fields have other names, are gone or are new, at any depth."""
    if isinstance(annotation, type) and is_dataclass(annotation):
        kept: list[Any] = []
        for part in fields(annotation):
            name, wanted = part.name, changed(part.type, draw) if draw(st.booleans()) else part.type
            match draw(st.sampled_from(["keep", "keep", "keep", "rename", "remove", "default"])):
                case "keep":
                    kept.append(
                        (name, wanted, field(default=part.default, default_factory=part.default_factory))
                    )
                case "rename":
                    kept.append((f"{name}_new", Optional[wanted], field(default=None)))
                case "default":
                    kept.append((name, Optional[wanted], field(default=None)))
        if draw(st.booleans()):
            kept.append(("more", bool, field(default=True)))
        try:
            return make_dataclass(annotation.__name__, kept, kw_only=True)
        except TypeError:  # a default that can't be one
            return annotation
    inner = get_args(annotation)
    if get_origin(annotation) in {list, set, frozenset} and len(inner) == 1:
        return get_origin(annotation)[changed(inner[0], draw)]
    if get_origin(annotation) is dict:
        return dict[inner[0], changed(inner[1], draw)]
    return annotation


@pytest.mark.slow("draws many types")
@settings(deadline=None)
@given(DATACLASSES, DATACLASSES, st.data())
def test_of_any_type_that_changed_the_same_input_runs_or_none(cls, other, data):
    sent = data.draw(arguments(cls))
    plan = toolset_of(cls).offer().round([RawCall("c0", "run", sent)]).confirmed().approve("c0")
    if "input" not in saved(plan)["calls"][0]:
        return  # it can't be written
    assert same_or_refused(plan, toolset_of(cls))
    for again in (changed(cls, data.draw), other):
        try:
            toolset = toolset_of(again)
        except (SchemaError, TypeError):  # some changes make no type
            continue
        same_or_refused(plan, toolset)


# --- changes that were found in the wild ---------------------------------------------------------


@dataclass
class Dry:
    dry: bool = False


@dataclass
class DryRun:
    dry_run: bool = False


@dataclass
class Nothing:
    pass


@dataclass
class All:
    dry: bool = False
    all: bool = True


@dataclass
class OtherDefault:
    dry: bool = True


class DryMap(TypedDict, total=False):
    dry: bool


class OtherMap(TypedDict, total=False):
    dry_run: bool


AROUND = {
    "alone": (lambda cls: cls, lambda value: value),
    "in a list": (lambda cls: list[cls], lambda value: [value]),
    "in a map": (lambda cls: dict[str, cls], lambda value: {"x": value}),
    "in a tuple": (lambda cls: tuple[int, cls], lambda value: [1, value]),
    "in a union": (lambda cls: cls | int | None, lambda value: value),
    "deep": (lambda cls: dict[str, list[cls | None]], lambda value: {"x": [None, value]}),
}


def with_options(annotation: Any) -> Toolset[Any]:
    return toolset_of(make_dataclass("Run", [("path", str), ("options", annotation)]))


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("state", ["pending", "deferred", "approved"])
@pytest.mark.parametrize(
    ("before", "after", "fits"),
    [
        (Dry, Dry, True),
        (Dry, OtherDefault, True),
        (Dry, DryRun, False),
        (Dry, Nothing, False),
        (Dry, All, False),
        (DryMap, OtherMap, False),
        (DryMap, DryMap, True),
    ],
)
def test_a_parameter_that_was_renamed_removed_or_added_refuses_the_call(around, state, before, after, fits):
    wrapped, value = AROUND[around]
    earlier, later = with_options(wrapped(before)), with_options(wrapped(after))
    sent = earlier.offer().round([RawCall("c0", "run", {"path": "/x", "options": value({"dry": True})})])
    plan = sent.confirmed()
    if state == "pending":
        plan = plan.replace(calls=tuple(sent.calls))
    if state == "approved":
        plan = plan.approve("c0")
    if fits:
        assert later.restore_round(saved(plan)).as_dict() == plan.as_dict()
        return
    error = refused(saved(plan), later)
    assert problems(error) == [("input_does_not_fit", "c0")]
    (issue,) = error.round.issues
    assert issue.code == "invalid_params"
    key = "dry_run" if after in {DryRun, OtherMap} else "all"
    if after in {DryRun, All}:
        assert key in str(error)
        assert "wasn't part of the call" in issue.content
    if after is not All:
        assert "the tool doesn't take it any more" in issue.content


@dataclass
class MaybeDry:
    dry: bool | None = None


@dataclass
class MaybeWet:
    wet: bool | None = None


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("after", [MaybeDry, MaybeWet, Nothing])
def test_a_parameter_that_was_left_out_and_is_none_counts_only_where_it_was_given(around, after):
    wrapped, value = AROUND[around]
    earlier, later = with_options(wrapped(MaybeDry)), with_options(wrapped(after))
    for options in ({}, {"dry": True}):
        sent = (
            earlier.offer()
            .round([RawCall("c0", "run", {"path": "/x", "options": value(options)})])
            .confirmed()
        )
        if options and after is not MaybeDry:
            assert problems(refused(saved(sent), later)) == [("input_does_not_fit", "c0")]
        else:
            assert later.restore_round(saved(sent)).deferred[0].arguments == sent.deferred[0].arguments


def test_another_default_in_a_document_changes_nothing_about_what_runs():
    def documented(default: int) -> Toolset[Any]:
        schema = {"type": "object", "properties": {"a": {"type": "integer", "default": default}}}

        def run(arguments: dict[str, Any]) -> str:
            return repr(arguments)

        return Toolset(document_tool(run, schema, description="Run it.", confirm=True))

    plan = documented(1).offer().round([RawCall("c0", "run", {})]).confirmed()
    (call,) = documented(2).restore_round(saved(plan.approve("c0"))).pending
    assert call.tool.call(call.input) == "{}"


def test_what_the_model_sent_and_the_tool_ignored_does_not_count():
    toolset = toolset_of(Dry)
    plan = toolset.offer().round([RawCall("c0", "run", {"dry": True, "why": "because"})]).confirmed()
    assert toolset.restore_round(saved(plan)) == plan


def test_a_value_that_would_be_read_as_another_one_is_named():
    plan = (
        toolset_of(make_dataclass("Run", [("amount", int | str)]))
        .offer()
        .round([RawCall("c0", "run", '{"amount": "5"}')])
        .confirmed()
    )
    changed = Toolset(tool_input(name="run", repair=True)(make_dataclass("Run", [("amount", int)])))
    error = refused(saved(plan), changed)
    assert 'amount: this was "5" in the call, but would now be 5' in str(error)
    lists = toolset_of(make_dataclass("Run", [("names", list[str])]))
    sets = toolset_of(make_dataclass("Run", [("names", set[str])]))
    plan = lists.offer().round([RawCall("c0", "run", {"names": ["b", "a"]})]).confirmed()
    assert "names[0]" in str(refused(saved(plan), sets))


def test_what_a_database_does_to_numbers_and_keys_is_not_a_change():
    toolset = toolset_of(make_dataclass("Run", [("x", float), ("y", Any)]))
    plan = toolset.offer().round([RawCall("c0", "run", {"x": 1.0, "y": {"b": 2.0, "a": 1e20}})]).confirmed()
    text = json.dumps(plan.as_dict(), sort_keys=True).replace("1.0", "1").replace("2.0", "2")
    assert toolset.restore_round(text).deferred[0].input.x == 1


@pytest.mark.needs_process
def test_sets_of_texts_fit_in_whatever_order_another_process_writes_them():
    import subprocess
    import sys

    program = """
import json, sys
from dataclasses import make_dataclass
from operator_schema import RawCall, Toolset, tool_input
T = Toolset(tool_input(name="run", confirm=True)(make_dataclass("Run", [("names", set[str])])))
if sys.argv[1] == "save":
    names = [str(n) for n in range(50)]
    print(json.dumps(T.offer().round([RawCall("c0", "run", {"names": names})]).confirmed().as_dict()))
else:
    print(len(T.restore_round(sys.stdin.read()).deferred[0].input.names))
"""

    def ran(how: str, seed: str, text: str = "") -> str:
        found = subprocess.run(
            [sys.executable, "-c", program, how],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            timeout=LONGEST_WAIT,
            env={"PYTHONHASHSEED": seed},
        )
        return found.stdout

    assert ran("restore", "2", ran("save", "1")).strip() == "50"


# --- inputs that JSON alone doesn't give back ----------------------------------------------------


@dataclass
class Doubled:
    amount: int

    def __post_init__(self) -> None:
        self.amount *= 2


def test_an_input_that_is_another_one_after_writing_comes_back_from_its_arguments():
    toolset = toolset_of(Doubled)
    plan = toolset.offer().round([RawCall("c0", "run", {"amount": 1})]).confirmed()
    assert toolset.restore_round(saved(plan)).deferred[0].input.amount == 2
    later = toolset_of(make_dataclass("Doubled", [("amount", int)]))
    assert problems(refused(saved(plan), later)) == [("input_does_not_fit", "c0")]
    with pytest.raises(DecodeError, match="this was 4 in the call, but would now be 8"):
        plan.approve("c0", input=Doubled(2))


@dataclass
class Seeded:
    path: str
    dry: InitVar[bool] = False
    is_dry: bool = field(init=False, default=False)

    def __post_init__(self, dry: bool) -> None:
        self.is_dry = dry


@dataclass
class SeededOtherwise:
    path: str
    dry_run: InitVar[bool] = False
    is_dry: bool = field(init=False, default=False)

    def __post_init__(self, dry_run: bool) -> None:
        self.is_dry = dry_run


def test_an_input_that_can_not_be_written_needs_a_tool_with_the_same_schema():
    toolset = toolset_of(Seeded)
    plan = toolset.offer().round([RawCall("c0", "run", {"path": "/x", "dry": True})]).confirmed()
    assert toolset.restore_round(saved(plan)) == plan
    error = refused(saved(plan), toolset_of(SeededOtherwise))
    assert problems(error) == [("input_does_not_fit", "c0")]
    assert "its schema has changed" in str(error)


def test_an_input_of_arguments_that_no_text_can_hold_may_be_replaced_and_saved():
    toolset = toolset_of(make_dataclass("Run", [("x", Any)]))
    plan = toolset.offer().round([RawCall("c0", "run", {"x": "\ud800"})]).confirmed()
    assert toolset.restore_round(saved(plan)) == plan
    approved = plan.approve("c0", arguments={"x": "b"})
    assert toolset.restore_round(saved(approved)).pending[0].input.x == "b"


# --- answers -------------------------------------------------------------------------------------


def asking(annotation: Any) -> Toolset[Any]:
    def run(path: str, answer: Any = None) -> str:
        if answer is None:
            raise NeedsInput("How?")
        return f"{path} {answer}"

    run.__annotations__["answer"] = Annotated[annotation | None, skip]
    return Toolset(tool(run))


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("after", "fits"), [(Dry, True), (OtherDefault, True), (DryRun, False), (Nothing, False), (All, False)]
)
def test_an_answer_that_would_be_read_as_another_one_refuses_the_call(after, fits):
    from operator_schema import Executor

    toolset = asking(Dry)
    plan = Executor(toolset).run_sync(toolset.offer().round([RawCall("c0", "run", {"path": "/x"})]))
    for answer in ({"dry": True}, {}, {"dry": True, "ignored": 1}):
        answered = plan.answer("c0", answer)
        if fits:
            again = asking(after).restore_round(saved(answered))
            assert again.pending[0].answers == {"answer": {"dry": answer.get("dry", False)}}
        else:
            assert problems(refused(saved(answered), asking(after))) == [("input_does_not_fit", "c0")]


def test_an_answer_that_can_not_be_written_is_kept_as_it_came():
    toolset = asking(Seeded)
    (call,) = toolset.offer().round([RawCall("c0", "run", {"path": "/x"})]).calls
    from operator_schema.rounds import Question
    from operator_schema.rounds.people import answered
    from operator_schema.rounds.questions import check_answer

    waiting = call.defer("How?", Question("How?", "answer", {}))
    ready = answered(waiting, waiting.question, {"path": "/y", "dry": True})
    assert ready.answers == {"answer": {"path": "/y", "dry": True}}
    check_answer(call.tool, "answer", ready.answers["answer"])


def test_what_cannot_be_written_is_refused_when_it_is_given():
    toolset = toolset_of(make_dataclass("Run", [("x", Any)]))
    plan = toolset.offer().round([RawCall("c0", "run", {"x": 1})]).confirmed()
    for value in (float("nan"), object(), {1: 2}):
        with pytest.raises((EncodeError, ToolError)):
            plan.approve("c0", input=type(plan.deferred[0].input)(value))


def test_a_pending_call_without_its_input_is_not_restored():
    from saving_samples import resealed

    plan = toolset_of(Dry).offer().round([RawCall("c0", "run", {"dry": True})]).confirmed()
    data = saved(plan)
    del data["calls"][0]["input"]
    error = refused(resealed(data), toolset_of(Dry))
    assert problems(error) == [("data_changed", "c0")]
    assert "it has no input" in str(error)
