"""Whatever the data are: there is a plan or a `RestoreError`, and nothing runs."""

from __future__ import annotations

import json
import random
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saving_samples import SECRET, TOOLS, mixed, ran, resealed, saved

from operator_schema import Finding
from operator_schema.rounds import RestoreError
from operator_schema.rounds.serialization import SavedCall, SavedHead, SavedPart, SavedQuestion, SavedResult

pytestmark = pytest.mark.needs_threads

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(
        ["pending", "handled", "rejected", "deferred", "issue", "executor", "book", "cancel", "c2", 1]
    )
)
FORMS = (SavedHead, SavedCall, SavedResult, SavedPart, SavedQuestion)
NAMES = sorted({"texts", *[field.name for form in FORMS for field in fields(form)]})
KEYS = st.text() | st.sampled_from(NAMES)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=8,
)

PLAIN = saved(mixed())
SIGNED = saved(mixed(), SECRET)


def check(data: Any, secret: bytes | None = None) -> None:
    ran.clear()
    try:
        plan = TOOLS.restore_round(data, secret=secret)
    except RestoreError as error:
        assert error.findings
        assert all(type(problem) is Finding for problem in error.findings)
        assert len(str(error)) < 10_000
        str(error).encode()
        plan = error.round
    if plan is not None:
        json.dumps(plan.as_dict(), allow_nan=False, ensure_ascii=False).encode()
        assert [state.index for state in plan.calls] == list(range(len(plan.calls)))
    assert ran == []


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the paths of all values inside a JSON value."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    return [found for key, item in pairs for found in ((*path, key), *places(item, (*path, key)))]


PLACES = places(PLAIN)


def damaged(data: Any, steps: list[tuple[tuple[Any, ...], str, Any]]) -> Any:
    """Return a copy of data in which values are replaced, removed, or doubled."""
    copy = json.loads(json.dumps(data))
    for path, how, value in steps:
        try:
            inner = copy
            for key in path[:-1]:
                inner = inner[key]
            if how == "remove":
                del inner[path[-1]]
            elif how == "double" and isinstance(inner, list):
                inner.append(inner[path[-1]])
            else:
                inner[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier step took it away
    return copy


STEPS = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(["replace", "remove", "double"]), JSON),
    min_size=1,
    max_size=4,
)


def resealed_if_possible(data: Any) -> Any:
    try:
        return resealed(data)
    except (LookupError, TypeError, AttributeError, ValueError):  # damage that leaves nothing to seal
        return data


@given(JSON)
def test_any_json_is_refused(data):
    check(data)


@given(STEPS)
def test_plans_with_damage_are_restored_or_refused_sealed_again_or_not(steps):
    data = damaged(PLAIN, steps)
    check(data)
    check(resealed_if_possible(data))


@given(STEPS)
def test_no_change_of_a_signed_plan_makes_another_plan(steps):
    data = damaged(SIGNED, steps)
    if data == SIGNED:
        return
    try:
        plan = TOOLS.restore_round(data, secret=SECRET)
    except RestoreError as error:
        plan = error.round
    if plan is not None:
        before = {state.index: state for state in TOOLS.restore_round(SIGNED, secret=SECRET).calls}
        changed = [state for state in plan.calls if state != before[state.index]]
        assert {state.code for state in changed} <= {"execution_failed"}


def test_text_that_was_cut_anywhere_is_restored_or_refused():
    text = json.dumps(PLAIN)
    for position in range(len(text)):
        check(text[:position])


@given(st.integers(0, 10_000), st.binary(max_size=3))
def test_text_that_was_overwritten_is_restored_or_refused(position, put):
    raw = json.dumps(PLAIN).encode()
    start = position % len(raw)
    check(raw[:start] + put + raw[start + len(put) :])


@given(st.randoms(use_true_random=False))
def test_characters_that_change_places_are_noticed(source: random.Random):
    text = list(json.dumps(PLAIN))
    one, other = source.randrange(len(text)), source.randrange(len(text))
    text[one], text[other] = text[other], text[one]
    check("".join(text))
