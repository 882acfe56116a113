"""Mistakes of new users with rounds: each message says what to write."""

from __future__ import annotations

import pytest
from round_samples import done, pay, raw, search

from operator_schema import (
    Complete,
    Defer,
    Executor,
    RawCall,
    Registry,
    Reject,
    RunNormally,
    ToolError,
    Toolset,
    Transcript,
)
from operator_schema.rounds import HookError, Hooks, RestoreError

SECRET = b"thirty-two bytes that tests keep"
toolset = Toolset(search, pay)


def waiting():
    return toolset.offer().round([raw("pay", amount=1)]).confirmed()


@pytest.mark.parametrize("transcript", [None, "turns.json", {"turns": []}, Transcript])
def test_what_is_no_transcript_is_told_what_one_is(transcript):
    plan = waiting().reject("c1")
    given = None if transcript is Transcript else transcript
    with pytest.raises(
        TypeError, match="a transcript must be a Transcript, a list, or anything else with append"
    ):
        plan.commit(given)
    plan.commit([])  # the round is still open


def test_signed_data_without_the_secret_are_told_that_it_is_missing():
    with pytest.raises(RestoreError, match="they were signed, and secret= is missing"):
        toolset.restore_round(waiting().as_dict(secret=SECRET))


@pytest.mark.parametrize("saved_with", [None, SECRET[::-1]])
def test_data_with_another_secret_are_told_so(saved_with):
    with pytest.raises(RestoreError, match="saved with another secret, or without one"):
        toolset.restore_round(waiting().as_dict(secret=saved_with), secret=SECRET)


@pytest.mark.needs_threads
def test_a_plan_in_place_of_its_data_and_the_other_way_round_name_what_to_write():
    with pytest.raises(RestoreError, match=r"round\.as_dict\(\)"):
        toolset.restore_round(waiting())
    with pytest.raises(TypeError, match=r"toolset\.restore_round\(data\)"):
        Executor(toolset).run_sync(waiting().as_dict())


@pytest.mark.parametrize("given", [{"amount": 2}, '{"amount": 2}'])
def test_json_in_place_of_an_input_names_what_takes_json(given):
    with pytest.raises(ToolError, match="arguments=") as caught:
        waiting().approve("c1", input=given)
    assert "encode_input" not in str(caught.value)

    def edit(call):
        return RunNormally(given)

    with pytest.raises(HookError, match=r"RunNormally\(input=call\.tool\.decode") as failed:
        done(toolset.offer().round([raw("search", query="a")]).apply(edit))
    assert "encode_input" not in str(failed.value)


def test_another_wrong_input_is_still_told_what_it_has_to_be():
    with pytest.raises(ToolError, match="takes an input"):
        waiting().approve("c1", input=5)


@pytest.mark.parametrize("decision", [RunNormally, Complete, Reject, Defer])
def test_the_class_of_a_decision_is_told_to_be_called(decision):
    with pytest.raises(
        HookError, match=rf"not the class {decision.__name__}: write {decision.__name__}\(…\)"
    ):
        done(toolset.offer().round([raw("search", query="a")]).apply(lambda _: decision))
    with pytest.raises(HookError, match=r"or None, not \S+$"):
        done(toolset.offer().round([raw("search", query="a")]).apply(lambda _: Toolset))


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list_of_hooks_is_told_to_be_unpacked(kind):
    with pytest.raises(TypeError, match=r"write Hooks\(\*…\)"):
        Hooks(kind([lambda _: None]))


@pytest.mark.parametrize("taker", [Registry, lambda tools: Toolset(*tools)])
def test_a_plain_function_among_tools_is_named(taker):
    def lookup():
        pass

    with pytest.raises(TypeError, match="the function lookup isn't a Tool; decorate it with @tool"):
        taker([search, lookup])


def test_a_call_whose_id_was_forgotten_is_told_that_it_comes_first():
    with pytest.raises(TypeError, match=r"the id comes first: RawCall\(id, name, arguments\)"):
        RawCall("search", {"query": "a"})
