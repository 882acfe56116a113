"""Smallest values, checked by trying everything that could be left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_domains import sequences_of

from operator_schema.workbench.probe.shrinking import shrunk, shrunk_sequence, smaller

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-50, 50) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


def without_one(value):
    """Every value that lacks one key, item or character, written on its own as a judge."""
    if isinstance(value, dict):
        for key in value:
            yield {other: value[other] for other in value if other != key}
            for inner in without_one(value[key]):
                yield {**value, key: inner}
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
            for inner in without_one(value[index]):
                yield [*value[:index], inner, *value[index + 1 :]]
    elif isinstance(value, str):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value]


PREDICATES = [
    lambda value: len(str(value)) > 5,
    lambda value: any(isinstance(leaf, str) and len(leaf) > 1 for leaf in leaves(value)),
    lambda value: sum(isinstance(leaf, int) for leaf in leaves(value)) > 1,
    lambda value: isinstance(value, dict) and len(value) > 1,
    lambda value: any(leaf is None for leaf in leaves(value)),
]


@given(JSON, st.sampled_from(PREDICATES))
def test_nothing_can_be_left_out_of_a_shrunk_value(value, shows):
    if not shows(value):
        return
    found = shrunk(value, shows)
    assert shows(found)
    assert not any(shows(candidate) for candidate in without_one(found))


@given(JSON)
def test_every_value_with_one_part_less_is_tried(value):
    tried = list(smaller(value))
    assert all(candidate in tried for candidate in without_one(value))


@pytest.mark.parametrize(
    ("value", "shows", "smallest"),
    [
        ("hello world", lambda text: "o" in text, "o"),
        ("hello", lambda text: len(text) > 2, "000"),
        ({"a": 917, "b": "x"}, lambda value: value.get("a", 0) > 99, {"a": 100}),
        (-917, lambda number: number < -99, -100),
        (2.66e-65, lambda number: number % 1 != 0, 0.5),
        ([3, [1, 2], "x"], lambda items: [1] in items or [1, 2] in items, [[1]]),
    ],
)
def test_the_smallest_value_is_found(value, shows, smallest):
    assert shrunk(value, shows) == smallest


def test_no_step_can_be_left_out_of_a_shrunk_sequence():
    def shows(candidate):
        return sum(candidate) >= 6

    def without(candidate, index):
        return candidate[:index] + candidate[index + 1 :]

    for steps in filter(shows, sequences_of(range(6), 5)):
        found = shrunk_sequence(steps, shows, without)
        assert shows(found)
        assert not any(shows(without(found, index)) for index in range(len(found)))
