"""What no longer fits when a plan is restored, and what was changed."""

from __future__ import annotations

import json
import logging
import pickle
from dataclasses import InitVar, dataclass
from functools import partial
from typing import Annotated, Any

import pytest
from patience import assert_linear, assert_takes
from saving_samples import (
    TOOLS,
    cancel,
    choose,
    executed,
    mixed,
    planned,
    problems,
    ran,
    refused,
    restored,
    saved,
)

from operator_schema import EncodeError, NeedsInput, RawCall, Toolset, skip, tool, tool_input
from operator_schema.rounds import Question, RestoreError
from operator_schema.rounds.serialization import FORMAT

pytestmark = pytest.mark.needs_threads


# --- tools that changed meanwhile ----------------------------------------------------------------


def test_a_tool_that_is_gone_is_named_and_the_other_calls_stay_usable():
    plan = mixed()
    error = refused(saved(plan), TOOLS.without("choose"))
    assert problems(error) == [("tool_gone", "c6")]
    assert str(error) == (
        "the saved round doesn't fit any more\n"
        '- choose (call "c6"): ToolNotFoundError: tool "choose" not found'
    )
    assert error.round.calls[:6] == plan.calls[:6]
    assert error.round.calls[7] == plan.calls[7]
    issue = error.round.issues[-1]
    assert (issue.code, issue.index) == ("tool_not_found", 6)
    assert issue.content.startswith('tool "choose" not found; the tools are ')


def test_a_plan_that_lost_a_tool_can_go_on_and_be_committed():
    error = refused(saved(mixed()), TOOLS.without("choose"))
    plan = executed(error.round.approve("c2"))
    turn = plan.commit([])
    assert [result.call_id for result in turn.results] == [f"c{index}" for index in range(8)]
    assert turn.results[2].content == "cancelled 9XB"
    assert (
        turn.results[7].content == 'A person changed note to "by hand" before it ran.\ncancelled 2AA by hand'
    )


def test_results_and_rejections_stay_although_their_tool_is_gone():
    plan = mixed()
    inputs = [plan.handled[0].input, plan.rejected[0].input]
    inputs[0].seats, inputs[1].note = 3, "changed"
    smaller = Toolset(choose)
    error = refused(saved(plan), smaller)
    assert problems(error) == [("tool_gone", "c2"), ("tool_gone", "c7")]
    assert not any(call.has_input for call in (*error.round.handled, *error.round.rejected))
    assert [call.result.content for call in error.round.handled] == ["1 from MUC", '[1,2.5,null,{"a":"ü"}]']
    again = smaller.restore_round(saved(error.round))
    assert again == error.round
    # Where the tools are, what was saved of the calls is still there.
    back = TOOLS.restore_round(saved(error.round))
    assert [back.handled[0].input, back.rejected[0].input] == inputs


def test_approvals_and_answers_of_decided_calls_are_kept_where_their_tool_is_gone():
    plan = executed(mixed().answer("c6", "12A").approve("c2"))
    elsewhere = Toolset().restore_round(saved(plan))
    assert not elsewhere.handled[-1].has_input
    back = TOOLS.restore_round(saved(elsewhere))
    assert back == plan
    assert [call.approved for call in back.handled] == [False, True, False, True, True]
    assert back.handled[3].answers == {"seat": "12A"}


@tool(name="cancel")
def other_cancel(booking: int, reason: str) -> str:
    return f"{booking} {reason}"


def test_an_input_that_no_longer_decodes_is_an_issue_with_the_full_report():
    error = refused(saved(mixed()), TOOLS.without("cancel") | Toolset(other_cancel))
    assert problems(error) == [("input_does_not_fit", "c2"), ("input_does_not_fit", "c7")]
    issue = error.round.calls[2]
    assert issue.code == "invalid_params"
    assert "booking: expected integer" in issue.content
    assert "reason: missing" in issue.content
    assert "booking: expected integer" in str(error)
    assert r"\u000a" not in str(error)
    lines = str(error).splitlines()
    assert all(line.startswith(("- cancel", "  ")) for line in lines[1:])
    assert any(line.startswith("  - reason: missing") for line in lines)
    assert [problem.code for problem in issue.error.findings] == ["wrong_type", "missing"]


@tool_input(name="cancel")
@dataclass
class FailingCancel:
    booking: str
    note: str = ""

    def __post_init__(self) -> None:
        message = "no connection"
        raise OSError(message)


def test_an_input_whose_own_code_fails_is_an_issue():
    error = refused(saved(mixed()), TOOLS.without("cancel") | Toolset(FailingCancel))
    assert problems(error) == [("input_does_not_fit", "c2"), ("input_does_not_fit", "c7")]
    assert "OSError: no connection" in str(error)
    assert error.round.calls[2].code == "execution_failed"
    assert "no connection" not in error.round.calls[2].content


def test_what_a_call_was_decided_with_is_not_logged_as_a_failure(caplog):
    with caplog.at_level(logging.DEBUG):
        plan = mixed().reject("c2").reject("c6").reject("c7")
        caplog.clear()
        Toolset(choose).restore_round(saved(plan))
    assert caplog.records == []


@tool(name="choose")
def choose_number(booking: str, seat: Annotated[int | None, skip] = None) -> str:
    return f"{booking}: {seat}"


@tool(name="choose")
def choose_by_answer(booking: str, answer: Annotated[str | None, skip] = None) -> str:
    return f"{booking}: {answer}"


def test_an_answer_that_no_longer_fits_is_said():
    plan = mixed().answer("c6", "12A")
    changed = TOOLS.without("choose")
    error = refused(saved(plan), changed | Toolset(choose_number))
    assert problems(error) == [("input_does_not_fit", "c6")]
    assert "expected integer" in str(error)
    error = refused(saved(plan), changed | Toolset(choose_by_answer))
    assert problems(error) == [("input_does_not_fit", "c6")]
    assert "seat" in str(error)


def test_a_question_that_can_no_longer_be_answered_is_said():
    plan = mixed()
    error = refused(saved(plan), TOOLS.without("choose") | Toolset(choose_by_answer))
    assert problems(error) == [("input_does_not_fit", "c6")]
    assert "seat" in str(error)


def test_errors_can_be_pickled():
    error = refused(saved(mixed()), TOOLS.without("choose"))
    problem = refused({"format": FORMAT + 1})
    again = pickle.loads(pickle.dumps(problem))
    assert (again.findings, again.round, str(again)) == (problem.findings, None, str(problem))
    assert isinstance(error, ValueError)


# --- data that can't be used at all --------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "a saved round must be a JSON object, not null"),
        ([], "a saved round must be a JSON object, not array []"),
        ("", "is empty"),
        ('{"format": 1, "calls": [', "the text ends early"),
        (b"\xff", "UTF-8"),
        ("[]", "a saved round must be a JSON object, not array []"),
        ({}, "format: missing"),
        ({"format": True}, "format: expected integer"),
        ({"format": 0}, "round: missing"),
        ({"format": FORMAT}, "round: missing"),
        ({"format": float("inf")}, "inf is not finite"),
        ({1: 2}, "an object has a key that isn't a string"),
        ({"format": object()}, "object isn't JSON"),
        ({"format": 10**5000}, "an integer of about 5001 digits is too long"),
        ('{"format": NaN}', "nan is not finite"),
        ("[" * 1000, "deeper than 500 levels"),
    ],
)
def test_data_of_another_form_are_not_a_round(data, complaint):
    error = refused(data)
    assert problems(error) == [("not_a_round", None)]
    assert error.round is None
    assert complaint in str(error)


def test_data_that_nest_too_deep_are_not_a_round():
    deep: Any = []
    for _ in range(1000):
        deep = [deep]
    assert "it nests deeper than 210 levels" in str(refused({"format": deep}))
    around: list[Any] = []
    around.extend([around, around])
    assert problems(refused(around)) == [("not_a_round", None)]


def changed_head(**changes):
    return {**saved(mixed()), **changes}


@pytest.mark.parametrize(
    ("data", "code", "complaint"),
    [
        (
            changed_head(format=FORMAT + 1),
            "newer_format",
            f"it has format {FORMAT + 1}, and this version of operator_schema reads up to {FORMAT}",
        ),
        (changed_head(format=FORMAT + 0.5), "newer_format", f"format {FORMAT}.5"),
        (changed_head(format=0), "not_a_round", "there is no format 0"),
        (changed_head(offered="book"), "not_a_round", "offered: expected array"),
        (changed_head(more=1), "not_a_round", "more: unknown"),
        (changed_head(calls=[{}]), "not_a_round", "calls[0] isn't an object with id and name"),
        (
            changed_head(calls=[{"id": "c0", "name": None}]),
            "not_a_round",
            "calls[0] isn't an object with id and name",
        ),
        (changed_head(calls=[5]), "not_a_round", "calls[0] isn't an object with id and name"),
        (
            changed_head(digest=""),
            "data_changed",
            "the data were changed after they were saved (or they were",
        ),
        (changed_head(calls=[]), "data_changed", "changed"),
        (changed_head(offered=[]), "data_changed", "changed"),
        (changed_head(round="x"), "data_changed", "changed"),
        (changed_head(assistant={}), "data_changed", "changed"),
    ],
)
def test_a_head_of_another_form_can_not_be_used(data, code, complaint):
    error = refused(data)
    assert problems(error) == [(code, None)]
    assert error.round is None
    assert complaint in str(error)


# --- hostile objects -----------------------------------------------------------------------------


class Hostile:
    def _raise(self, *_: object) -> Any:
        message = "code of the data was run"
        raise RuntimeError(message)

    __class__ = property(_raise)  # type: ignore[assignment]  # the attack itself
    __eq__ = __hash__ = __str__ = __repr__ = __len__ = __iter__ = __bool__ = __getattr__ = _raise  # type: ignore[assignment]  # as above


def _raise(*_: object) -> Any:
    message = "code of the data was run"
    raise RuntimeError(message)


OVERRIDDEN = dict.fromkeys(
    [
        "__iter__",
        "__len__",
        "__getitem__",
        "__contains__",
        "__eq__",
        "__str__",
        "__repr__",
        "__bool__",
        "items",
        "keys",
        "get",
    ],
    _raise,
)


def hostile(value):
    """Return a JSON value as objects of subclasses whose methods raise."""
    if isinstance(value, dict):
        return type("HostileDict", (dict,), OVERRIDDEN)([(key, hostile(item)) for key, item in value.items()])
    if isinstance(value, list):
        return type("HostileList", (list,), OVERRIDDEN)([hostile(item) for item in value])
    if isinstance(value, str):
        return type("HostileText", (str,), {**OVERRIDDEN, "encode": _raise})(value)
    if type(value) in {int, float}:
        return type(
            "HostileNumber", (type(value),), {"__repr__": _raise, "__eq__": _raise, "is_integer": _raise}
        )(value)
    return value


def test_methods_of_the_data_are_never_called():
    plan = mixed()
    assert TOOLS.restore_round(hostile(saved(plan))) == plan


@pytest.mark.parametrize("place", ["root", "head", "call", "key", "arguments", "bytes"])
def test_objects_that_are_no_json_are_refused_without_running_their_code(place):
    data: Any = saved(mixed())
    match place:
        case "root":
            data = Hostile()
        case "head":
            data["format"] = Hostile()
        case "call":
            data["calls"][0] = Hostile()
        case "key":
            data[(1, 2)] = 5
        case "arguments":
            data["calls"][0]["arguments"] = [Hostile()]
        case _:
            data = type("HostileBytes", (bytes,), OVERRIDDEN)(b"{}")
    error = refused(data)
    assert problems(error) == [("not_a_round", None)]
    assert "code of the data" not in str(error)


# --- time ----------------------------------------------------------------------------------------


@pytest.mark.slow("measures growth")
def test_time_is_linear_in_the_number_of_calls():
    def saved_round(number):
        return planned(*[("book", {"leg": {"origin": "X"}})] * number).as_dict()

    assert len(TOOLS.restore_round(saved_round(1000)).pending) == 1000
    assert_linear(TOOLS.restore_round, 100, times=10, setup=saved_round, slack=4)


def test_many_calls_of_tools_that_are_gone_take_no_longer():
    data = planned(*[("book", {"leg": {"origin": "X"}})] * 1000).as_dict()
    assert len(refused(data, TOOLS.without("book")).findings) == 1000


@pytest.mark.slow("saves an argument of megabytes")
def test_a_large_argument_is_saved_and_restored():
    texts = {"value": ["x" * 1000] * 1000}
    numbers = {"value": list(range(50_000))}
    for arguments in (texts, numbers, json.dumps(texts)):
        plan = planned(("anything", arguments))
        assert_takes(5, partial(TOOLS.restore_round, plan.as_dict()))
        assert TOOLS.restore_round(plan.as_dict()).pending[0].raw.arguments == arguments


def test_restoring_what_is_refused_runs_nothing():
    plan = mixed()
    ran.clear()
    refused(saved(plan), TOOLS.without("choose"))
    assert ran == []
    assert cancel.name == "cancel"
    with pytest.raises(RestoreError):
        Toolset().restore_round(saved(plan))


# --- calls that can't be compared ----------------------------------------------------------------


def test_a_rejected_call_whose_tool_is_gone_is_committed_as_it_was():
    plan = planned(("cancel", {"booking": "1"})).reject("c0", "no")
    smaller = TOOLS.without("cancel")
    again = restored(plan, smaller)
    assert not again.rejected[0].has_input
    assert again.commit([]).results == plan.commit([]).results


def test_an_answer_that_can_not_be_written_comes_back_as_it_was_given():
    @dataclass
    class Seat:
        """An answer that keeps no seed."""

        row: int
        seed: InitVar[int]

    @tool
    def sit(seat: Annotated[Seat | None, skip] = None) -> str:
        if seat is None:
            message = "Where?"
            raise NeedsInput(message, parameter="seat")
        return str(seat.row)

    tools = Toolset(sit)
    plan = tools.offer().round([RawCall("c0", "sit", {})]).confirmed()
    asked = plan.replace(
        calls=(plan.pending[0].defer("Where?", Question("Where?", "seat", {"type": "object"})),)
    )
    answered = asked.answer("c0", {"row": 5, "seed": 1})
    assert answered.pending[0].answers == {"seat": {"row": 5, "seed": 1}}
    assert restored(answered, tools) == answered


def test_an_input_that_can_not_be_written_and_whose_arguments_fit_no_more_is_not_saved():
    """Nobody could say after a restart what was approved."""
    taken = []

    @tool_input
    @dataclass
    class Book:
        x: int
        seed: InitVar[int]

        def __post_init__(self, seed):
            if taken:
                message = "this booking is taken"
                raise ValueError(message)

    tools = Toolset(Book)
    plan = tools.offer().round([RawCall("c0", "book", {"x": 1, "seed": 2})]).confirmed()
    assert plan.as_dict()["calls"][0]["schema"]
    taken.append(1)
    with pytest.raises(EncodeError, match="seed: missing"):
        plan.as_dict()
